//! Atomic operations of the llvm dialect other than loads and stores.

use sutura_interp::num::{CmpI, NumOp, Overflow};
use sutura_interp::{Fault, Flow, Frame, InterpError, Interpret, Value};
use sutura_ir::constraints::*;
use sutura_ir::interfaces::{Effect, EffectKind, Effects, MemoryEffects};
use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Diagnostic, Diagnostics, DialectBuilder, OpRef, Reported, Type, TypeData, op};

use super::attrs::AtomicOrdering;
use super::interp::{Aggregate, next};
use super::interp_memory::{check_alignment, nothing, read, write};
use super::ops::{LlvmPointer, LlvmType};
use super::types::{StructType, is_pointer};
use super::verify::is_atomic_type;

sutura_ir::keyword_attrs! {
    /// What [`AtomicRMWOp`] makes of the old value and the operand.
    pub enum AtomicBinOp(Type::I64) = "llvm.atomicrmw binary operations";
    {
        /// The operand.
        Xchg = 0 => "xchg",
        /// Sum.
        Add = 1 => "add",
        /// Difference.
        Sub = 2 => "sub",
        /// Bitwise and.
        And = 3 => "_and",
        /// Complement of the bitwise and.
        Nand = 4 => "nand",
        /// Bitwise or.
        Or = 5 => "_or",
        /// Bitwise exclusive or.
        Xor = 6 => "_xor",
        /// Signed maximum.
        Max = 7 => "max",
        /// Signed minimum.
        Min = 8 => "min",
        /// Unsigned maximum.
        UMax = 9 => "umax",
        /// Unsigned minimum.
        UMin = 10 => "umin",
        /// Floating-point sum.
        FAdd = 11 => "fadd",
        /// Floating-point difference.
        FSub = 12 => "fsub",
        /// The larger number; NaN counts as missing.
        FMax = 13 => "fmax",
        /// The smaller number; NaN counts as missing.
        FMin = 14 => "fmin",
        /// One more, 0 after the operand.
        UIncWrap = 15 => "uinc_wrap",
        /// One less, the operand after 0 and from above it.
        UDecWrap = 16 => "udec_wrap",
        /// Difference unless the operand is larger.
        USubCond = 17 => "usub_cond",
        /// Difference, at least 0.
        USubSat = 18 => "usub_sat",
        /// The larger number, NaN when one is.
        FMaximum = 19 => "fmaximum",
        /// The smaller number, NaN when one is.
        FMinimum = 20 => "fminimum",
    }
}

sutura_ir::type_constraints! {
    /// A signless integer or a pointer.
    pub IntegerOrPointer = "signless integer or LLVM pointer type",
        |cx, ty| ty.is_signless_integer(cx) || is_pointer(cx, ty);
    /// A struct.
    pub LlvmStruct = "LLVM structure type", |cx, ty| cx.type_as::<StructType>(ty).is_some();
}

/// Orders memory accesses before and after it.
#[op("llvm.fence", format = "(`syncscope` `(` $syncscope^ `)`)? $ordering attr-dict", verify)]
pub struct FenceOp {
    ordering: Attr<AtomicOrdering>,
    syncscope: OptAttr<StrAttr>,
}

/// Replaces a value in memory by what an operation makes of it, and gives the old one.
///
/// ```mlir
/// %old = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr, i32
/// ```
#[op(
    "llvm.atomicrmw",
    format = "(`volatile` $volatile_^)? $bin_op $ptr `,` $val (`syncscope` `(` $syncscope^ `)`)? $ordering attr-dict `:` \
              type($ptr) `,` type($val)",
    verify
)]
pub struct AtomicRMWOp<T: LlvmType> {
    bin_op: Attr<AtomicBinOp>,
    ptr: Operand<LlvmPointer>,
    val: Operand<T>,
    ordering: Attr<AtomicOrdering>,
    syncscope: OptAttr<StrAttr>,
    /// In bytes.
    alignment: OptAttr<I64Attr>,
    /// Must happen.
    #[name("volatile_")]
    #[absent]
    volatile: Flag,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    res: Res<T>,
}

/// Replaces a value in memory if it is the expected one; gives the old one, and whether it was.
///
/// ```mlir
/// %r = llvm.cmpxchg %p, %expected, %new acq_rel monotonic : !llvm.ptr, i32
/// ```
#[op(
    "llvm.cmpxchg",
    format = "(`weak` $weak^)? (`volatile` $volatile_^)? $ptr `,` $cmp `,` $val (`syncscope` `(` $syncscope^ `)`)? \
              $success_ordering $failure_ordering attr-dict `:` type($ptr) `,` type($val)",
    verify,
    infer
)]
pub struct AtomicCmpXchgOp<T: IntegerOrPointer> {
    ptr: Operand<LlvmPointer>,
    cmp: Operand<T>,
    val: Operand<T>,
    success_ordering: Attr<AtomicOrdering>,
    failure_ordering: Attr<AtomicOrdering>,
    syncscope: OptAttr<StrAttr>,
    /// In bytes.
    alignment: OptAttr<I64Attr>,
    /// May fail even so.
    #[absent]
    weak: Flag,
    /// Must happen.
    #[name("volatile_")]
    #[absent]
    volatile: Flag,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    res: Res<LlvmStruct>,
}

/// Attaches the operations and their hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op::<FenceOp<'_>>().op::<AtomicRMWOp<'_>>().op::<AtomicCmpXchgOp<'_>>();
    d.op_interface::<crate::llvm::FenceOp<'_>, dyn MemoryEffects>(&Synchronizes)
        .op_interface::<crate::llvm::AtomicRMWOp<'_>, dyn MemoryEffects>(&Synchronizes)
        .op_interface::<crate::llvm::AtomicCmpXchgOp<'_>, dyn MemoryEffects>(&Synchronizes)
        .op_interface::<crate::llvm::FenceOp<'_>, dyn Interpret>(&nothing)
        .op_interface::<crate::llvm::AtomicRMWOp<'_>, dyn Interpret>(&read_modify_write)
        .op_interface::<crate::llvm::AtomicCmpXchgOp<'_>, dyn Interpret>(&compare_exchange);
}

/// Keeps its place among all accesses: what other threads wrote may be seen after it.
struct Synchronizes;

impl MemoryEffects for Synchronizes {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: EffectKind::Read, value: None }, Effect { kind: EffectKind::Write, value: None }]
    }
}

// ---- checks

impl Verify for FenceOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        use AtomicOrdering::{Monotonic, NotAtomic, Unordered};
        if matches!(FenceOp::from_ref(op).ordering(), NotAtomic | Unordered | Monotonic) {
            let message = "can be given only acquire, release, acq_rel, and seq_cst orderings";
            return Err(diags.report(op.error(message)));
        }
        Ok(())
    }
}

impl Verify for AtomicRMWOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_rmw(AtomicRMWOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_rmw(rmw: AtomicRMWOp<'_>) -> Result<(), Diagnostic> {
    use AtomicBinOp::{FAdd, FMax, FMaximum, FMin, FMinimum, FSub, Xchg};
    let op = rmw.op_ref();
    let (cx, ty) = (op.cx, op.ty(rmw.val()));
    match rmw.bin_op() {
        FAdd | FSub | FMin | FMax | FMinimum | FMaximum => {
            let scalable =
                matches!(cx.type_data(ty), TypeData::Vector { scalable, .. } if cx.ints(scalable).contains(&1));
            if scalable {
                return Err(op.error("expected LLVM IR fixed vector type"));
            }
            if !cx.element_type(ty).is_float(cx) {
                return Err(op.error("expected LLVM IR floating point type"));
            }
        }
        Xchg if !is_atomic_type(op, ty, true) => {
            return Err(op.error("unexpected LLVM IR type for 'xchg' bin_op"));
        }
        Xchg => {}
        _ if !(ty.is_signless_integer(cx) && is_atomic_type(op, ty, false)) => {
            return Err(op.error("expected LLVM IR integer type"));
        }
        _ => {}
    }
    if matches!(rmw.ordering(), AtomicOrdering::NotAtomic | AtomicOrdering::Unordered) {
        return Err(op.error("expected at least 'monotonic' ordering"));
    }
    Ok(())
}

/// The old value, and whether it was the expected one.
fn exchanged(cx: &Context, ty: Type) -> Type {
    cx.ext_type(StructType { name: None, fields: Some(vec![ty, Type::I1]), packed: false })
}

impl InferTypes for AtomicCmpXchgOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let value = input.operands.last().ok_or("there is no value")?;
        Ok(smallvec![exchanged(input.cx, *value)])
    }
}

impl Verify for AtomicCmpXchgOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        use AtomicOrdering::{AcqRel, NotAtomic, Release, Unordered};
        let exchange = AtomicCmpXchgOp::from_ref(op);
        let ty = op.ty(exchange.val());
        let orderings = [exchange.success_ordering(), exchange.failure_ordering()];
        let message = if op.ty(exchange.res()) != exchanged(op.cx, ty) {
            "failed to verify that result #0 has an LLVM struct type consisting of the type of operand #2 and a bool"
        } else if !is_atomic_type(op, ty, true) {
            "unexpected LLVM IR type"
        } else if orderings.iter().any(|o| matches!(o, NotAtomic | Unordered)) {
            "ordering must be at least 'monotonic'"
        } else if matches!(orderings[1], Release | AcqRel) {
            "failure ordering cannot be 'release' or 'acq_rel'"
        } else {
            return Ok(());
        };
        Err(diags.report(op.error(message)))
    }
}

// ---- meaning: programs run in one thread

fn read_modify_write(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let address = frame.int(0)?;
    check_alignment(op, address)?;
    let (ty, operand) = (frame.result_type(0)?, frame.operand(1)?.clone());
    let old = read(frame, ty, address)?;
    let new = combine(AtomicRMWOp::from_ref(op).bin_op(), &old, &operand)?;
    write(frame, ty, address, &new)?;
    next(frame, old)
}

fn apply(op: NumOp, a: &Value, b: &Value) -> Result<Value, Fault> {
    sutura_interp::elementwise::apply(op, &[a, b], None)
}

fn combine(kind: AtomicBinOp, old: &Value, operand: &Value) -> Result<Value, Fault> {
    let op = match kind {
        AtomicBinOp::Xchg => return Ok(operand.clone()),
        AtomicBinOp::Add => NumOp::AddI(Overflow::WRAP),
        AtomicBinOp::Sub => NumOp::SubI(Overflow::WRAP),
        AtomicBinOp::And => NumOp::AndI,
        AtomicBinOp::Or => NumOp::OrI,
        AtomicBinOp::Xor => NumOp::XOrI,
        AtomicBinOp::Max => NumOp::MaxSI,
        AtomicBinOp::Min => NumOp::MinSI,
        AtomicBinOp::UMax => NumOp::MaxUI,
        AtomicBinOp::UMin => NumOp::MinUI,
        AtomicBinOp::FAdd => NumOp::AddF,
        AtomicBinOp::FSub => NumOp::SubF,
        AtomicBinOp::FMax => NumOp::MaxNumF,
        AtomicBinOp::FMin => NumOp::MinNumF,
        AtomicBinOp::FMaximum => NumOp::MaximumF,
        AtomicBinOp::FMinimum => NumOp::MinimumF,
        AtomicBinOp::Nand
        | AtomicBinOp::UIncWrap
        | AtomicBinOp::UDecWrap
        | AtomicBinOp::USubCond
        | AtomicBinOp::USubSat => return combine_in_steps(kind, old, operand),
    };
    apply(op, old, operand)
}

/// Those that are no single numeric operation; on integers only.
fn combine_in_steps(kind: AtomicBinOp, old: &Value, operand: &Value) -> Result<Value, Fault> {
    let number = |n: i64| Ok::<_, Fault>(Value::Scalar(sutura_interp::Scalar::int(n, old.scalar()?.dtype())));
    let holds = |op: CmpI, a: &Value, b: &Value| apply(NumOp::CmpI(op), a, b)?.as_bool();
    let (zero, one) = (number(0)?, number(1)?);
    let sub = NumOp::SubI(Overflow::WRAP);
    match kind {
        AtomicBinOp::Nand => apply(NumOp::XOrI, &apply(NumOp::AndI, old, operand)?, &number(-1)?),
        AtomicBinOp::UIncWrap if holds(CmpI::Uge, old, operand)? => Ok(zero),
        AtomicBinOp::UIncWrap => apply(NumOp::AddI(Overflow::WRAP), old, &one),
        AtomicBinOp::UDecWrap if holds(CmpI::Eq, old, &zero)? || holds(CmpI::Ugt, old, operand)? => Ok(operand.clone()),
        AtomicBinOp::UDecWrap => apply(sub, old, &one),
        _ if holds(CmpI::Uge, old, operand)? => apply(sub, old, operand),
        AtomicBinOp::USubCond => Ok(old.clone()),
        _ => Ok(zero),
    }
}

fn compare_exchange(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let address = frame.int(0)?;
    check_alignment(op, address)?;
    let (expected, new) = (frame.operand(1)?.clone(), frame.operand(2)?.clone());
    let ty = op.ty(op.operand(2));
    let old = read(frame, ty, address)?;
    let is_expected = apply(NumOp::CmpI(CmpI::Eq), &old, &expected)?;
    if is_expected.as_bool()? {
        write(frame, ty, address, &new)?;
    }
    next(frame, Value::opaque(Aggregate(vec![Some(old), Some(is_expected)])))
}
