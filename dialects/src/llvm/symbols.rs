//! Symbols of the llvm dialect: functions, variables, and what refers to them.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::attrs::{CConv, FastmathFlags, FramePointerKind, Linkage, TailCallKind, VScaleRange};
use super::ops::{LlvmPointer, LlvmType};
use super::types::FunctionType as LlvmFunctionType;

sutura_ir::attr_constraints! {
    /// A function type of LLVM.
    pub LlvmFunctionTypeAttr = "type attribute of LLVM function type", sutura_ir::op_def::AttrSyntax::Type;
    get |cx, attr| -> sutura_ir::Type {
        cx.as_type(attr).filter(|ty| cx.type_as::<LlvmFunctionType>(*ty).is_some())
    }
    set |cx, value: sutura_ir::Type| { cx.type_attr(value) }
}

/// A function; without a body, one that is defined elsewhere.
///
/// The attributes without description are passed on to LLVM as they are.
#[op(
    "llvm.func",
    traits(IsolatedFromAbove, Symbol, AffineScope),
    format = "custom<FuncHead>($linkage, $visibility_, $unnamed_addr, $CConv, $sym_name, $function_type, $arg_attrs, \
              $res_attrs, $vscale_range, $comdat, $body) attr-dict-with-keyword ($body^)?",
    verify,
    verify_regions
)]
pub struct FuncOp {
    sym_name: Attr<StrAttr>,
    #[absent]
    sym_visibility: OptAttr<StrAttr>,
    function_type: Attr<LlvmFunctionTypeAttr>,
    /// Who sees it.
    #[default(Linkage::External)]
    linkage: Attr<Linkage>,
    /// It is resolved within the same shared object.
    #[absent]
    dso_local: Flag,
    /// Where arguments and results are passed.
    #[name("CConv")]
    #[default(CConv::C)]
    cconv: Attr<CConv>,
    /// 0 default, 1 hidden, 2 protected.
    #[name("visibility_")]
    #[default(0)]
    visibility: Attr<I64Attr>,
    #[absent]
    comdat: OptAttr<SymbolRefAttr>,
    #[absent]
    convergent: Flag,
    #[absent]
    personality: OptAttr<FlatSymbolRefAttr>,
    #[absent]
    #[name("garbageCollector")]
    garbage_collector: OptAttr<StrAttr>,
    #[absent]
    passthrough: OptAttr<ArrayAttr>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    function_entry_count: OptAttr<I64Attr>,
    #[absent]
    memory_effects: OptAttr<AnyAttr>,
    #[absent]
    arm_streaming: Flag,
    #[absent]
    arm_locally_streaming: Flag,
    #[absent]
    arm_streaming_compatible: Flag,
    #[absent]
    arm_new_za: Flag,
    #[absent]
    arm_in_za: Flag,
    #[absent]
    arm_out_za: Flag,
    #[absent]
    arm_inout_za: Flag,
    #[absent]
    arm_preserves_za: Flag,
    #[absent]
    section: OptAttr<StrAttr>,
    #[absent]
    unnamed_addr: OptAttr<I64Attr>,
    #[absent]
    alignment: OptAttr<I64Attr>,
    #[absent]
    vscale_range: OptAttr<VScaleRange>,
    #[absent]
    frame_pointer: OptAttr<FramePointerKind>,
    #[absent]
    target_cpu: OptAttr<StrAttr>,
    #[absent]
    tune_cpu: OptAttr<StrAttr>,
    #[absent]
    reciprocal_estimates: OptAttr<StrAttr>,
    #[absent]
    prefer_vector_width: OptAttr<StrAttr>,
    #[absent]
    target_features: OptAttr<AnyAttr>,
    #[absent]
    no_infs_fp_math: OptAttr<BoolAttr>,
    #[absent]
    no_nans_fp_math: OptAttr<BoolAttr>,
    #[absent]
    no_signed_zeros_fp_math: OptAttr<BoolAttr>,
    #[absent]
    denormal_fp_math: OptAttr<StrAttr>,
    #[absent]
    denormal_fp_math_f32: OptAttr<StrAttr>,
    #[absent]
    fp_contract: OptAttr<StrAttr>,
    #[absent]
    instrument_function_entry: OptAttr<StrAttr>,
    #[absent]
    instrument_function_exit: OptAttr<StrAttr>,
    #[absent]
    no_inline: Flag,
    #[absent]
    always_inline: Flag,
    #[absent]
    inline_hint: Flag,
    #[absent]
    no_unwind: Flag,
    #[absent]
    will_return: Flag,
    #[absent]
    optimize_none: Flag,
    #[absent]
    vec_type_hint: OptAttr<AnyAttr>,
    #[absent]
    work_group_size_hint: OptAttr<DenseI32ArrayAttr>,
    #[absent]
    reqd_work_group_size: OptAttr<DenseI32ArrayAttr>,
    #[absent]
    intel_reqd_sub_group_size: OptAttr<I32Attr>,
    #[absent]
    uwtable_kind: OptAttr<AnyAttr>,
    body: Region,
}

/// A variable of the program.
#[op(
    "llvm.mlir.global",
    traits(IsolatedFromAbove, Symbol),
    format = "custom<Global>($linkage, $visibility_, $thread_local_, $unnamed_addr, $constant, $sym_name, $value, \
              $comdat, $global_type, attr-dict) ($initializer^)?",
    verify
)]
pub struct GlobalOp {
    global_type: Attr<TypeAttr>,
    /// Never written.
    constant: Flag,
    sym_name: Attr<StrAttr>,
    /// Who sees it.
    linkage: Attr<Linkage>,
    /// It is resolved within the same shared object.
    #[absent]
    dso_local: Flag,
    #[absent]
    #[name("thread_local_")]
    thread_local: Flag,
    #[absent]
    externally_initialized: Flag,
    /// Initial value.
    #[name("value")]
    initial: OptAttr<AnyAttr>,
    /// In bytes.
    alignment: OptAttr<I64Attr>,
    #[default(0)]
    addr_space: Attr<I32Attr>,
    #[absent]
    unnamed_addr: OptAttr<I64Attr>,
    #[absent]
    section: OptAttr<StrAttr>,
    #[absent]
    comdat: OptAttr<SymbolRefAttr>,
    #[absent]
    dbg_exprs: OptAttr<ArrayAttr>,
    /// 0 default, 1 hidden, 2 protected.
    #[name("visibility_")]
    #[default(0)]
    visibility: Attr<I64Attr>,
    #[absent]
    target_specific_attrs: OptAttr<ArrayAttr>,
    /// Computes the initial value when there is no attribute for it.
    initializer: Region,
}

/// The address of a variable or function.
#[op("llvm.mlir.addressof", traits(Pure), format = "$global_name attr-dict `:` type($res)")]
pub struct AddressOfOp {
    global_name: Attr<FlatSymbolRefAttr>,
    res: Res<LlvmPointer>,
}

/// Calls a function by name, or by its address: then the first operand.
#[op(
    "llvm.call",
    traits(AttrSizedOperandSegments),
    format = "custom<Call>($CConv, $TailCallKind, $callee, $callee_operands, $var_callee_type, $op_bundle_operands, \
              $op_bundle_sizes, $op_bundle_tags, $arg_attrs, $res_attrs, type($callee_operands), \
              type($op_bundle_operands), type($result), attr-dict)",
    verify
)]
pub struct CallOp {
    /// Type of a callee with variable arguments.
    #[absent]
    var_callee_type: OptAttr<LlvmFunctionTypeAttr>,
    callee: OptAttr<FlatSymbolRefAttr>,
    callee_operands: Operands<LlvmType>,
    /// What may be assumed.
    #[name("fastmathFlags")]
    #[default(FastmathFlags::NONE)]
    fastmath_flags: Attr<FastmathFlags>,
    /// Where arguments and results are passed.
    #[name("CConv")]
    #[default(CConv::C)]
    cconv: Attr<CConv>,
    /// Whether the caller's frame is reused.
    #[name("TailCallKind")]
    #[default(TailCallKind::None)]
    tail_call_kind: Attr<TailCallKind>,
    #[absent]
    memory_effects: OptAttr<AnyAttr>,
    #[absent]
    convergent: Flag,
    #[absent]
    no_unwind: Flag,
    #[absent]
    will_return: Flag,
    /// Operands of operand bundles, one bundle after the other.
    op_bundle_operands: Operands<LlvmType>,
    /// Number of operands of each bundle.
    op_bundle_sizes: Attr<DenseI32ArrayAttr>,
    #[absent]
    op_bundle_tags: OptAttr<ArrayAttr>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    no_inline: Flag,
    #[absent]
    always_inline: Flag,
    #[absent]
    inline_hint: Flag,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    result: OptRes<LlvmType>,
}

/// `llvm.mlir.global` that is never written, and that a loader finds by its name.
pub fn constant_variable(
    cx: &sutura_ir::Context,
    loc: sutura_ir::Loc,
    name: &str,
    ty: sutura_ir::Type,
    value: sutura_ir::Attr,
) -> sutura_ir::OpState {
    sutura_ir::OpState::new(cx.op_name("llvm.mlir.global"), loc)
        .prop(cx.ident("addr_space"), cx.int_attr(0, sutura_ir::Type::I32))
        .prop(cx.ident("constant"), sutura_ir::Attr::UNIT)
        .prop(cx.ident("global_type"), cx.type_attr(ty))
        .prop(cx.ident("linkage"), cx.ext_attr(Linkage::External))
        .prop(cx.ident("sym_name"), cx.string_attr(name))
        .prop(cx.ident("value"), value)
}
