//! Memory operations of the llvm dialect.

use sutura_ir::constraints::*;
use sutura_ir::{Builder, Loc, Type, Value, op};

use super::attrs::Dereferenceable;
use super::ops::{LlvmInteger, LlvmPointer, LlvmPointerLike, LlvmType};

/// Stands in [`GEPOp`]'s `rawConstantIndices` for an index that is an operand.
pub const DYNAMIC_INDEX: i32 = i32::MIN;

/// An address computed from a pointer: by whole elements, then into them.
///
/// ```mlir
/// %q = llvm.getelementptr inbounds %p[%i, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i32, f32)>
/// ```
#[op(
    "llvm.getelementptr",
    traits(Pure),
    format = "custom<NoWrapFlags>($noWrapFlags) $base `[` custom<GEPIndices>($dynamicIndices, $rawConstantIndices) `]` \
              attr-dict `:` functional-type(operands, results) `,` $elem_type",
    verify
)]
pub struct GEPOp {
    base: Operand<LlvmPointerLike>,
    #[name("dynamicIndices")]
    dynamic_indices: Operands<LlvmInteger>,
    /// Indices, [`DYNAMIC_INDEX`] for each that is an operand.
    #[name("rawConstantIndices")]
    raw_constant_indices: Attr<DenseI32ArrayAttr>,
    /// Type of the elements that the first index counts.
    elem_type: Attr<TypeAttr>,
    /// 1 in bounds, 2 no signed, 4 no unsigned overflow of the address.
    #[name("noWrapFlags")]
    #[default(0)]
    no_wrap_flags: Attr<I32Attr>,
    res: Res<LlvmPointerLike>,
}

impl GEPOp<'_> {
    /// The address of element `index` after `base`.
    pub fn element(b: &mut Builder<'_>, loc: Loc, base: Value, index: Value, elem: Type) -> Value {
        let ty = b.body().ty(base);
        Self::value(b, loc, base, &[index], &[DYNAMIC_INDEX], elem, ty)
    }
}

/// Reads a value.
///
/// ```mlir
/// %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32
/// ```
#[op(
    "llvm.load",
    format = "(`volatile` $volatile_^)? $addr (`atomic` custom<Ordering>($syncscope, $ordering)^)? (`invariant` $invariant^)? (`invariant_group` $invariantGroup^)? \
              (`dereferenceable` `` custom<Dereferenceable>($dereferenceable)^)? attr-dict \
              `:` type($addr) `->` type($res)",
    verify
)]
pub struct LoadOp {
    addr: Operand<LlvmPointer>,
    /// In bytes.
    alignment: OptAttr<I64Attr>,
    /// Must happen.
    #[name("volatile_")]
    #[absent]
    volatile: Flag,
    /// The value will not be read again soon.
    #[absent]
    nontemporal: Flag,
    /// The memory does not change.
    #[absent]
    invariant: Flag,
    /// The memory does not change within its group.
    #[name("invariantGroup")]
    #[absent]
    invariant_group: Flag,
    /// Atomic ordering, 0 for none.
    #[default(0)]
    ordering: Attr<I64Attr>,
    #[absent]
    syncscope: OptAttr<StrAttr>,
    #[absent]
    dereferenceable: OptAttr<Dereferenceable>,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    res: Res<LlvmType>,
}

/// Writes a value.
///
/// ```mlir
/// llvm.store %x, %p {alignment = 4 : i64} : f32, !llvm.ptr
/// ```
#[op(
    "llvm.store",
    format = "(`volatile` $volatile_^)? $value `,` $addr (`atomic` custom<Ordering>($syncscope, $ordering)^)? \
              (`invariant_group` $invariantGroup^)? attr-dict `:` type($value) `,` type($addr)",
    verify
)]
pub struct StoreOp {
    #[name("value")]
    stored: Operand<LlvmType>,
    addr: Operand<LlvmPointer>,
    /// In bytes.
    alignment: OptAttr<I64Attr>,
    /// Must happen.
    #[name("volatile_")]
    #[absent]
    volatile: Flag,
    /// The value will not be read again soon.
    #[absent]
    nontemporal: Flag,
    /// The memory does not change within its group.
    #[name("invariantGroup")]
    #[absent]
    invariant_group: Flag,
    /// Atomic ordering, 0 for none.
    #[default(0)]
    ordering: Attr<I64Attr>,
    #[absent]
    syncscope: OptAttr<StrAttr>,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
}

/// Memory on the stack, until the function returns.
///
/// ```mlir
/// %p = llvm.alloca %n x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
/// ```
#[op(
    "llvm.alloca",
    format = "custom<Alloca>($arraySize, $elem_type, $inalloca, $alignment, type($arraySize), type($res), attr-dict)",
    verify
)]
pub struct AllocaOp {
    /// Number of elements.
    #[name("arraySize")]
    array_size: Operand<AnySignlessInteger>,
    /// In bytes.
    alignment: OptAttr<I64Attr>,
    elem_type: Attr<TypeAttr>,
    #[absent]
    inalloca: Flag,
    res: Res<LlvmPointer>,
}
