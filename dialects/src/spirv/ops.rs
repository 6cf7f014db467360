//! Structure of a module, memory, control flow and barriers.

use sutura_ir::constraints::*;
use sutura_ir::{Context, Type, TypeData, op};

use super::attrs::{
    AddressingModel, ExecutionMode, ExecutionModel, FunctionControl, LoopControl, MemoryAccess, MemoryModel,
    MemorySemantics, Scope, SelectionControl, StorageClass, VceAttr,
};
use super::types::{ArrayType, PointerType, RuntimeArrayType, StructType};

sutura_ir::type_constraints! {
    /// An integer of a width that SPIR-V has.
    pub SpirvInteger = "8/16/32/64-bit integer", |cx, ty| is_integer(cx, ty);
    /// A float of a width that SPIR-V has.
    pub SpirvFloat = "16/32/64-bit float", |_, ty| [Type::F16, Type::F32, Type::F64].contains(&ty);
    /// The same, or a vector of it.
    pub IntegerLike = "8/16/32/64-bit integer or vector of such", |cx, ty| scalar_or_vector(cx, ty, is_integer);
    /// The same, or a vector of it.
    pub SpirvFloatLike = "16/32/64-bit float or vector of such",
        |cx, ty| scalar_or_vector(cx, ty, |_, ty| [Type::F16, Type::F32, Type::F64].contains(&ty));
    /// `i1`, or a vector of it.
    pub SpirvBoolLike = "bool or vector of bool", |cx, ty| scalar_or_vector(cx, ty, |_, ty| ty == Type::I1);
    /// `i1`, a number, or a vector of such.
    pub ScalarOrVector = "scalar or vector", |cx, ty| scalar_or_vector(cx, ty, is_scalar);
    /// A vector of two, three, four, eight or sixteen elements.
    pub SpirvVector = "vector of 2/3/4/8/16 elements", |cx, ty| is_vector(cx, ty);
    /// A pointer.
    pub SpirvPointer = "any SPIR-V pointer type", |cx, ty| cx.type_as::<PointerType>(ty).is_some();
    /// A struct.
    pub SpirvStruct = "any SPIR-V struct type", |cx, ty| cx.type_as::<StructType>(ty).is_some();
    /// A vector, array or struct.
    pub SpirvComposite = "vector, array or struct", |cx, ty| is_vector(cx, ty) || is_aggregate(cx, ty);
    /// Any type of SPIR-V.
    pub SpirvType = "any SPIR-V type", |cx, ty| is_spirv_type(cx, ty);
}

fn is_integer(cx: &Context, ty: Type) -> bool {
    matches!(cx.type_data(ty), TypeData::Integer { width: 8 | 16 | 32 | 64, .. })
}

fn is_scalar(cx: &Context, ty: Type) -> bool {
    ty == Type::I1 || is_integer(cx, ty) || [Type::F16, Type::BF16, Type::F32, Type::F64].contains(&ty)
}

fn is_vector(cx: &Context, ty: Type) -> bool {
    let TypeData::Vector { elem, scalable, .. } = cx.type_data(ty) else { return false };
    is_scalar(cx, elem) && !cx.ints(scalable).contains(&1) && matches!(cx.shape(ty), Some([2 | 3 | 4 | 8 | 16]))
}

fn scalar_or_vector(cx: &Context, ty: Type, elem: fn(&Context, Type) -> bool) -> bool {
    elem(cx, ty) || is_vector(cx, ty) && elem(cx, cx.element_type(ty))
}

fn is_aggregate(cx: &Context, ty: Type) -> bool {
    cx.type_as::<ArrayType>(ty).is_some()
        || cx.type_as::<RuntimeArrayType>(ty).is_some()
        || cx.type_as::<StructType>(ty).is_some()
}

/// True for a type that values of this dialect may have.
pub fn is_spirv_type(cx: &Context, ty: Type) -> bool {
    is_scalar(cx, ty) || is_vector(cx, ty) || is_aggregate(cx, ty) || cx.type_as::<PointerType>(ty).is_some()
}

// ---- structure of a module

/// A module of SPIR-V: what becomes one binary.
///
/// ```mlir
/// spirv.module @m PhysicalStorageBuffer64 GLSL450 requires #spirv.vce<v1.5, [Shader], []> {
/// }
/// ```
#[op(
    "spirv.module",
    traits(IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock, SymbolTable, Symbol),
    format = "custom<ModuleHead>($sym_name, $addressing_model, $memory_model, $vce_triple) attr-dict-with-keyword $body",
    verify_regions
)]
pub struct ModuleOp {
    addressing_model: Attr<AddressingModel>,
    memory_model: Attr<MemoryModel>,
    /// What a device must have to run it.
    vce_triple: OptAttr<VceAttr>,
    sym_name: OptAttr<StrAttr>,
    body: Region,
}

/// A function; without a body, one that is defined elsewhere.
#[op(
    "spirv.func",
    traits(IsolatedFromAbove, Symbol, AffineScope),
    format = "custom<FuncHead>($sym_name, $function_type, $arg_attrs, $res_attrs, $function_control, $body) \
              attr-dict-with-keyword ($body^)?",
    verify
)]
pub struct FuncOp {
    function_type: Attr<FunctionTypeAttr>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    sym_name: Attr<StrAttr>,
    function_control: Attr<FunctionControl>,
    #[absent]
    linkage_attributes: OptAttr<AnyAttr>,
    body: Region,
}

/// A variable of the module.
///
/// ```mlir
/// spirv.GlobalVariable @id built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
/// spirv.GlobalVariable @buffer bind(0, 1) : !spirv.ptr<!spirv.struct<(f32 [0])>, StorageBuffer>
/// ```
#[op("spirv.GlobalVariable", traits(Symbol), format = "custom<Variable>($sym_name, $type, attr-dict)", verify)]
pub struct GlobalVariableOp {
    #[name("type")]
    ty: Attr<TypeAttr>,
    sym_name: Attr<StrAttr>,
    #[absent]
    initializer: OptAttr<FlatSymbolRefAttr>,
    #[absent]
    location: OptAttr<I32Attr>,
    #[absent]
    binding: OptAttr<I32Attr>,
    #[absent]
    descriptor_set: OptAttr<I32Attr>,
    /// What the device keeps there.
    built_in: OptAttr<StrAttr>,
    #[absent]
    linkage_attributes: OptAttr<AnyAttr>,
}

/// A function that the device starts with, and the variables that it uses.
///
/// ```mlir
/// spirv.EntryPoint "GLCompute" @k, @id, @buffer
/// ```
#[op("spirv.EntryPoint", format = "custom<EntryPoint>($execution_model, $fn, $interface) attr-dict")]
pub struct EntryPointOp {
    execution_model: Attr<ExecutionModel>,
    #[name("fn")]
    function: Attr<FlatSymbolRefAttr>,
    interface: Attr<ArrayAttr>,
}

/// What holds for an entry point.
///
/// ```mlir
/// spirv.ExecutionMode @k "LocalSize", 64, 1, 1
/// ```
#[op("spirv.ExecutionMode", format = "custom<ExecutionMode>($fn, $execution_mode, $values) attr-dict")]
pub struct ExecutionModeOp {
    #[name("fn")]
    function: Attr<FlatSymbolRefAttr>,
    execution_mode: Attr<ExecutionMode>,
    values: Attr<ArrayAttr>,
}

// ---- values

/// A constant.
#[op(
    "spirv.Constant",
    traits(Pure, ConstantLike),
    format = "custom<Constant>($value, type($constant)) attr-dict",
    verify
)]
pub struct ConstantOp {
    #[name("value")]
    attr: Attr<AnyAttr>,
    constant: Res<SpirvType>,
}

/// A value of which nothing is known.
#[op("spirv.Undef", format = "attr-dict `:` type($result)")]
pub struct UndefOp {
    result: Res<SpirvType>,
}

/// The address of a variable of the module.
#[op("spirv.mlir.addressof", traits(Pure), format = "$variable attr-dict `:` type($pointer)")]
pub struct AddressOfOp {
    variable: Attr<FlatSymbolRefAttr>,
    pointer: Res<SpirvPointer>,
}

// ---- memory

/// The address of a part of what a pointer points to.
#[op(
    "spirv.AccessChain",
    traits(Pure),
    format = "$base_ptr `[` $indices `]` attr-dict `:` type($base_ptr) `,` type($indices) `->` type($component_ptr)",
    verify
)]
pub struct AccessChainOp {
    base_ptr: Operand<SpirvPointer>,
    indices: Operands<SpirvInteger>,
    component_ptr: Res<SpirvPointer>,
}

/// Reads through a pointer.
///
/// ```mlir
/// %x = spirv.Load "PhysicalStorageBuffer" %p ["Aligned", 16] : vector<4xf32>
/// ```
#[op(
    "spirv.Load",
    format = "custom<Load>($ptr, $memory_access, $alignment, type($ptr), type($result), attr-dict)",
    verify
)]
pub struct LoadOp {
    ptr: Operand<SpirvPointer>,
    memory_access: OptAttr<MemoryAccess>,
    /// In bytes.
    alignment: OptAttr<I32Attr>,
    result: Res<SpirvType>,
}

/// Writes through a pointer.
#[op(
    "spirv.Store",
    format = "custom<Store>($ptr, $value, $memory_access, $alignment, type($ptr), type($value), attr-dict)",
    verify
)]
pub struct StoreOp {
    ptr: Operand<SpirvPointer>,
    #[name("value")]
    stored: Operand<SpirvType>,
    memory_access: OptAttr<MemoryAccess>,
    /// In bytes.
    alignment: OptAttr<I32Attr>,
}

/// A variable of one invocation of a function.
#[op(
    "spirv.Variable",
    format = "custom<LocalVariable>($storage_class, $initializer, type($initializer), \
                                 type($pointer)) attr-dict",
    verify
)]
pub struct VariableOp {
    storage_class: Attr<StorageClass>,
    initializer: OptOperand<SpirvType>,
    pointer: Res<SpirvPointer>,
}

// ---- control flow

/// Goes to a block.
#[op(
    "spirv.Branch",
    traits(Pure, Terminator),
    format = "$target (`(` $targetOperands^ `:` type($targetOperands) `)`)? attr-dict"
)]
pub struct BranchOp {
    /// Arguments of the block.
    #[name("targetOperands")]
    target_operands: Operands<SpirvType>,
    target: Successor,
}

/// Goes to one of two blocks.
#[op(
    "spirv.BranchConditional",
    traits(Pure, Terminator, AttrSizedOperandSegments),
    format = "$condition custom<Weights>($branch_weights) `,` \
              $trueTarget (`(` $trueTargetOperands^ `:` type($trueTargetOperands) `)`)? `,` \
              $falseTarget (`(` $falseTargetOperands^ `:` type($falseTargetOperands) `)`)? attr-dict"
)]
pub struct BranchConditionalOp {
    condition: Operand<I1>,
    /// Arguments of the block for true.
    #[name("trueTargetOperands")]
    true_operands: Operands<SpirvType>,
    /// Arguments of the block for false.
    #[name("falseTargetOperands")]
    false_operands: Operands<SpirvType>,
    /// How often each is taken.
    #[absent]
    branch_weights: OptAttr<ArrayAttr>,
    #[name("trueTarget")]
    true_target: Successor,
    #[name("falseTarget")]
    false_target: Successor,
}

/// A conditional with a block where its ways meet, the last one, which ends in `spirv.mlir.merge`.
#[op(
    "spirv.mlir.selection",
    traits(FixedBlocks),
    format = "custom<SelectionHead>($selection_control, type($results)) $body attr-dict",
    verify_regions
)]
pub struct SelectionOp {
    selection_control: Attr<SelectionControl>,
    results: Results<AnyType>,
    body: Region,
}

/// A loop: an entry block, a header, a body, the block that goes on (the last but one), and the block after it (the last).
#[op(
    "spirv.mlir.loop",
    traits(FixedBlocks),
    format = "custom<LoopHead>($loop_control, type($results)) $body attr-dict",
    verify_regions
)]
pub struct LoopOp {
    loop_control: Attr<LoopControl>,
    results: Results<AnyType>,
    body: Region,
}

/// Ends the last block of a loop or conditional and hands values to it.
#[op(
    "spirv.mlir.merge",
    traits(Pure, Terminator, ReturnLike),
    format = "attr-dict ($operands^ `:` type($operands))?",
    parents("spirv.mlir.selection", "spirv.mlir.loop")
)]
pub struct MergeOp {
    #[name("operands")]
    values: Operands<AnyType>,
}

/// Ends a function without result.
#[op("spirv.Return", traits(Pure, Terminator, ReturnLike), format = "attr-dict")]
pub struct ReturnOp;

/// Ends a function with a result.
#[op("spirv.ReturnValue", traits(Pure, Terminator, ReturnLike), format = "$value attr-dict `:` type($value)")]
pub struct ReturnValueOp {
    #[name("value")]
    returned: Operand<SpirvType>,
}

/// Is never reached.
#[op("spirv.Unreachable", traits(Terminator), format = "attr-dict")]
pub struct UnreachableOp;

/// Calls a function.
#[op("spirv.FunctionCall", format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, results)")]
pub struct FunctionCallOp {
    callee: Attr<FlatSymbolRefAttr>,
    arguments: Operands<SpirvType>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    return_value: OptRes<SpirvType>,
}

// ---- invocations among each other

/// Waits for the other invocations of a scope, and orders accesses to memory.
///
/// ```mlir
/// spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
/// ```
#[op(
    "spirv.ControlBarrier",
    format = "custom<Scope>($execution_scope) `,` custom<Scope>($memory_scope) `,` custom<Semantics>($memory_semantics) \
              attr-dict"
)]
pub struct ControlBarrierOp {
    /// Who waits.
    execution_scope: Attr<Scope>,
    /// Who sees the accesses in order.
    memory_scope: Attr<Scope>,
    /// Which accesses.
    memory_semantics: Attr<MemorySemantics>,
}

/// Orders accesses to memory.
#[op("spirv.MemoryBarrier", format = "custom<Scope>($memory_scope) `,` custom<Semantics>($memory_semantics) attr-dict")]
pub struct MemoryBarrierOp {
    /// Who sees the accesses in order.
    memory_scope: Attr<Scope>,
    /// Which accesses.
    memory_semantics: Attr<MemorySemantics>,
}

/// Replaces a number in memory, in one step, and gives the old one.
macro_rules! atomic {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            format = "custom<Scope>($memory_scope) custom<Semantics>($semantics) $pointer `,` $value attr-dict `:` \
                      custom<Pointee>(type($pointer), type($value), type($result))",
            verify
        )]
        pub struct $ident {
            /// Who sees it as one step.
            memory_scope: Attr<Scope>,
            /// Which other accesses it orders.
            semantics: Attr<MemorySemantics>,
            pointer: Operand<SpirvPointer>,
            #[name("value")]
            operand: Operand<SpirvInteger>,
            result: Res<SpirvInteger>,
        }
    )*};
}

atomic! {
    /// By the operand.
    ///
    /// ```mlir
    /// %old = spirv.AtomicExchange <Device> <None> %p, %x : !spirv.ptr<i64, StorageBuffer>
    /// ```
    AtomicExchangeOp = "spirv.AtomicExchange";
    /// By the smaller of it and the operand, as unsigned numbers.
    AtomicUMinOp = "spirv.AtomicUMin";
}

/// Takes the value of another invocation of the subgroup. Upstream calls these pure; here they stay where they are, since
/// which invocations take part depends on the place.
macro_rules! shuffle {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $other:ident, $format:literal;)*) => {$(
        $(#[$doc])*
        #[op($name, format = $format)]
        pub struct $ident<T: ScalarOrVector> {
            execution_scope: Attr<Scope>,
            #[name("value")]
            exchanged: Operand<T>,
            $other: Operand<SpirvInteger>,
            result: Res<T>,
        }
    )*};
}

shuffle! {
    /// That of the invocation whose number is `id`.
    ShuffleOp = "spirv.GroupNonUniformShuffle", id,
        "custom<Scope>($execution_scope) operands attr-dict `:` type($value) `,` type($id)";
    /// That of the invocation whose number is this one's but for the bits in `mask`.
    ShuffleXorOp = "spirv.GroupNonUniformShuffleXor", mask,
        "custom<Scope>($execution_scope) operands attr-dict `:` type($value) `,` type($mask)";
    /// That of the invocation `delta` before this one.
    ShuffleUpOp = "spirv.GroupNonUniformShuffleUp", delta,
        "custom<Scope>($execution_scope) operands attr-dict `:` type($value) `,` type($delta)";
    /// That of the invocation `delta` after this one.
    ShuffleDownOp = "spirv.GroupNonUniformShuffleDown", delta,
        "custom<Scope>($execution_scope) operands attr-dict `:` type($value) `,` type($delta)";
}
