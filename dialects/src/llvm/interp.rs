//! What computations and control flow of the llvm dialect do when a program runs.
//!
//! A pointer is held as a 64-bit integer, the address that [`sutura_interp::Memory::address`] gives; a struct or array
//! as an [`Aggregate`].

use sutura_interp::constant::constant;
use sutura_interp::elementwise::{apply, attach};
use sutura_interp::num::{CmpF, CmpI, NumOp, Overflow, Rounding};
use sutura_interp::{
    ConstantOp, DType, Elementwise, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Scalar, Tensor, Value,
    Values, YieldOp,
};
use sutura_ir::interfaces::BranchOp as _;
use sutura_ir::{Context, DialectBuilder, OpRef, Type, TypeData};

use super::types::{ArrayType, StructType, is_pointer};
use crate::branches::Successors;
use crate::interp::group;
use crate::llvm::{
    AShrOp, AddOp, AddrSpaceCastOp, AndOp, BitcastOp, BrOp, CallOp, CondBrOp, ExtractValueOp, FAddOp, FCmpOp, FDivOp,
    FMulOp, FNegOp, FPExtOp, FPToSIOp, FPToUIOp, FPTruncOp, FRemOp, FSubOp, FreezeOp, ICmpOp, InsertValueOp,
    IntToPtrOp, LShrOp, MulOp, OrOp, PoisonOp, PtrToIntOp, ReturnOp, SDivOp, SExtOp, SIToFPOp, SRemOp, SelectOp, ShlOp,
    SubOp, SwitchOp, TruncOp, UDivOp, UIToFPOp, URemOp, UndefOp, UnreachableOp, XOrOp, ZExtOp, ZeroOp,
};
use crate::vector::interp::{regroup, result_shape, vector};

/// A struct or array; fields that nothing is known of are `None`.
#[derive(Clone, Debug)]
pub(super) struct Aggregate(pub(super) Vec<Option<Value>>);

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    integers(d);
    floats(d);
    casts(d);
    attach::<crate::llvm::ConstantOp<'_>, _>(d, &ConstantOp);
    d.op_interface::<SelectOp<'_>, dyn Interpret>(&crate::arith::interp::Select)
        .op_interface::<OrOp<'_>, dyn Interpret>(&or)
        .op_interface::<ICmpOp<'_>, dyn Interpret>(&icmp)
        .op_interface::<ZeroOp<'_>, dyn Interpret>(&zero)
        .op_interface::<UndefOp<'_>, dyn Interpret>(&undefined)
        .op_interface::<PoisonOp<'_>, dyn Interpret>(&undefined)
        .op_interface::<InsertValueOp<'_>, dyn Interpret>(&insert_value)
        .op_interface::<ExtractValueOp<'_>, dyn Interpret>(&extract_value)
        .op_interface::<BrOp<'_>, dyn Interpret>(&branch)
        .op_interface::<CondBrOp<'_>, dyn Interpret>(&cond_branch)
        .op_interface::<SwitchOp<'_>, dyn Interpret>(&crate::switch::choose)
        .op_interface::<ReturnOp<'_>, dyn Interpret>(&YieldOp)
        .op_interface::<UnreachableOp<'_>, dyn Interpret>(&unreachable)
        .op_interface::<FreezeOp<'_>, dyn Interpret>(&freeze)
        .op_interface::<CallOp<'_>, dyn Interpret>(&call);
}

/// Attaches ops that need no attribute.
macro_rules! plain {
    ($d:expr, $($of:ident => $op:expr),+ $(,)?) => {
        $(attach::<$of<'_>, _>($d, &Elementwise(|_| Ok($op)));)+
    };
}

fn integers(d: &mut DialectBuilder<'_>) {
    attach::<AddOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::AddI(overflow(op)))));
    attach::<SubOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::SubI(overflow(op)))));
    attach::<MulOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::MulI(overflow(op)))));
    attach::<ShlOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::ShLI(overflow(op)))));
    attach::<UDivOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::DivUI { exact: flag(op, "isExact") })));
    attach::<SDivOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::DivSI { exact: flag(op, "isExact") })));
    attach::<LShrOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::ShRUI { exact: flag(op, "isExact") })));
    attach::<AShrOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::ShRSI { exact: flag(op, "isExact") })));
    plain! { d,
        URemOp => NumOp::RemUI,
        SRemOp => NumOp::RemSI,
        AndOp => NumOp::AndI,
        XOrOp => NumOp::XOrI,
    }
}

fn floats(d: &mut DialectBuilder<'_>) {
    attach::<FCmpOp<'_>, _>(d, &Elementwise(|op| predicate(op, CmpF::from_number).map(NumOp::CmpF)));
    plain! { d,
        FAddOp => NumOp::AddF,
        FSubOp => NumOp::SubF,
        FMulOp => NumOp::MulF,
        FDivOp => NumOp::DivF,
        FRemOp => NumOp::RemF,
        FNegOp => NumOp::NegF,
    }
}

fn casts(d: &mut DialectBuilder<'_>) {
    attach::<TruncOp<'_>, _>(d, &Elementwise(|op| Ok(NumOp::TruncI(overflow(op)))));
    plain! { d,
        SExtOp => NumOp::ExtSI,
        FPExtOp => NumOp::ExtF,
        FPTruncOp => NumOp::TruncF(Rounding::ToNearestEven),
        SIToFPOp => NumOp::SIToFP,
        FPToSIOp => NumOp::FPToSI,
        FPToUIOp => NumOp::FPToUI,
    }
    d.op_interface::<ZExtOp<'_>, dyn Interpret>(&|op: OpRef<'_>, frame: &mut Frame<'_>| {
        unsigned(op, frame, NumOp::ExtUI)
    })
    .op_interface::<UIToFPOp<'_>, dyn Interpret>(&|op: OpRef<'_>, frame: &mut Frame<'_>| {
        unsigned(op, frame, NumOp::UIToFP)
    })
    .op_interface::<PtrToIntOp<'_>, dyn Interpret>(&resize)
    .op_interface::<IntToPtrOp<'_>, dyn Interpret>(&resize)
    .op_interface::<AddrSpaceCastOp<'_>, dyn Interpret>(&resize)
    .op_interface::<BitcastOp<'_>, dyn Interpret>(&bitcast);
}

fn flag(op: OpRef<'_>, name: &str) -> bool {
    op.prop(name).is_some()
}

fn overflow(op: OpRef<'_>) -> Overflow {
    let bits = op.prop("overflowFlags").and_then(|a| op.cx.as_int(a)).unwrap_or(0);
    Overflow { nsw: bits & 1 != 0, nuw: bits & 2 != 0 }
}

fn predicate<P>(op: OpRef<'_>, from_number: fn(i64) -> Option<P>) -> Result<P, Fault> {
    let number = op.prop("predicate").and_then(|a| op.cx.as_int(a));
    number.and_then(from_number).ok_or_else(|| Fault::invalid_ir("has no valid 'predicate'"))
}

pub(super) fn next(frame: &mut Frame<'_>, result: impl Into<Value>) -> Result<Flow, InterpError> {
    frame.set(0, result)?;
    Ok(Flow::Next)
}

/// The element type in which numbers and pointers of this type are held.
pub(super) fn held(cx: &Context, ty: Type) -> Result<DType, Fault> {
    let elem = cx.element_type(ty);
    if is_pointer(cx, elem) { Ok(DType::I64) } else { DType::expect(cx, elem) }
}

/// True when some element of a scalar or vector is not zero.
pub(super) fn any_set(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Scalar(s) => Ok(s.bits() != 0),
        other => {
            let v = other.vector()?;
            Ok((0..v.len()).any(|i| v.data().get(i).is_some_and(|s| s.bits() != 0)))
        }
    }
}

fn or(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let operands = [frame.operand(0)?, frame.operand(1)?];
    if flag(op, "isDisjoint") && any_set(&apply(NumOp::AndI, &operands, None)?)? {
        return Err(Fault::new(FaultKind::Poison, "both operands have a bit set despite 'disjoint'").into());
    }
    let result = apply(NumOp::OrI, &operands, None)?;
    next(frame, result)
}

/// Of integers or of pointers.
fn icmp(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let compare = NumOp::CmpI(predicate(op, CmpI::from_number)?);
    let result = apply(compare, &[frame.operand(0)?, frame.operand(1)?], None)?;
    next(frame, result)
}

/// A conversion of an integer read as unsigned.
fn unsigned(op: OpRef<'_>, frame: &mut Frame<'_>, num: NumOp) -> Result<Flow, InterpError> {
    let operand = frame.operand(0)?;
    if flag(op, "nonNeg") {
        let zero = Value::Scalar(Scalar::zero(held(op.cx, op.ty(op.operand(0)))?));
        if any_set(&apply(NumOp::CmpI(CmpI::Slt), &[operand, &zero], None)?)? {
            return Err(Fault::new(FaultKind::Poison, "the operand is negative despite 'nneg'").into());
        }
    }
    let result = apply(num, &[operand], Some(held(op.cx, frame.result_type(0)?)?))?;
    next(frame, result)
}

/// Between pointers and integers of any width.
fn resize(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let to = held(op.cx, frame.result_type(0)?)?;
    let result = apply(NumOp::IndexCastUI, &[frame.operand(0)?], Some(to))?;
    next(frame, result)
}

fn bitcast(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let to = held(op.cx, frame.result_type(0)?)?;
    let result = regroup(&vector(frame, 0)?, to, &result_shape(frame)?)?;
    crate::vector::interp::next(frame, result)
}

// ---- aggregates

/// Types of the fields of a struct or array.
pub(super) fn fields(cx: &Context, ty: Type) -> Result<Option<Vec<Type>>, Fault> {
    /// Fields that one aggregate may have; larger ones belong into memory.
    const MAX_FIELDS: u64 = 1 << 20;
    if let Some(array) = cx.type_as::<ArrayType>(ty) {
        if array.len > MAX_FIELDS {
            return Err(Fault::unsupported(format!("an array of {} elements as a value", array.len)));
        }
        return Ok(Some(vec![array.elem; array.len as usize]));
    }
    match cx.type_as::<StructType>(ty) {
        Some(s) => match &s.fields {
            Some(fields) => Ok(Some(fields.clone())),
            None => Err(Fault::unsupported("a struct whose fields are not known")),
        },
        None => Ok(None),
    }
}

/// Zero bits of any type.
fn zero_of(cx: &Context, ty: Type) -> Result<Value, Fault> {
    if let Some(fields) = fields(cx, ty)? {
        let zeros = fields.into_iter().map(|f| zero_of(cx, f).map(Some)).collect::<Result<_, _>>()?;
        return Ok(Value::opaque(Aggregate(zeros)));
    }
    let zero = Scalar::zero(held(cx, ty)?);
    match cx.type_data(ty) {
        TypeData::Vector { .. } => {
            let shape = sutura_interp::constant::static_shape(cx, ty)?;
            Tensor::splat(zero, &shape).map(Value::Vector)
        }
        _ => Ok(Value::Scalar(zero)),
    }
}

fn zero(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let value = zero_of(op.cx, frame.result_type(0)?)?;
    next(frame, value)
}

/// A scalar of which nothing is known cannot be gone on with; parts of a vector or aggregate may stay unknown.
fn undefined(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let ty = frame.result_type(0)?;
    if let Some(fields) = fields(op.cx, ty)? {
        return next(frame, Value::opaque(Aggregate(fields.iter().map(|_| None).collect())));
    }
    if !matches!(op.cx.type_data(ty), TypeData::Vector { .. }) {
        return Err(Fault::unsupported("an undefined scalar has no value to go on with").into());
    }
    let vector = Tensor::undefined(held(op.cx, ty)?, &result_shape(frame)?)?;
    next(frame, Value::Vector(vector))
}

fn path(op: OpRef<'_>) -> Result<Vec<usize>, Fault> {
    let path = op.prop("position").and_then(|a| op.cx.as_ints(a)).unwrap_or_default();
    let index = |&i: &i64| usize::try_from(i).map_err(|_| Fault::invalid_ir("a negative position"));
    if path.is_empty() { Err(Fault::invalid_ir("has no 'position'")) } else { path.iter().map(index).collect() }
}

fn no_field(at: usize) -> Fault {
    Fault::invalid_ir(format!("there is no field {at}"))
}

fn extract_value(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let mut value = frame.operand(0)?.clone();
    for at in path(op)? {
        let field = value.as_opaque::<Aggregate>()?.0.get(at).cloned().ok_or_else(|| no_field(at))?;
        value = field.ok_or_else(|| Fault::new(FaultKind::Uninitialised, format!("field {at} is undefined")))?;
    }
    next(frame, value)
}

fn insert_value(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (container, inserted) = (frame.operand(0)?.clone(), frame.operand(1)?.clone());
    let result = insert_at(op.cx, frame.result_type(0)?, Some(&container), &path(op)?, inserted)?;
    next(frame, result)
}

fn insert_at(
    cx: &Context,
    ty: Type,
    container: Option<&Value>,
    path: &[usize],
    inserted: Value,
) -> Result<Value, Fault> {
    let Some((&at, rest)) = path.split_first() else { return Ok(inserted) };
    let types = fields(cx, ty)?.ok_or_else(|| no_field(at))?;
    let field_type = *types.get(at).ok_or_else(|| no_field(at))?;
    let mut parts = match container {
        Some(value) => value.as_opaque::<Aggregate>()?.0.clone(),
        None => types.iter().map(|_| None).collect(),
    };
    let old = parts.get(at).cloned().ok_or_else(|| no_field(at))?;
    parts[at] = Some(insert_at(cx, field_type, old.as_ref(), rest, inserted)?);
    Ok(Value::opaque(Aggregate(parts)))
}

// ---- control flow

fn go(op: OpRef<'_>, frame: &mut Frame<'_>, groups: Successors, side: usize) -> Result<Flow, InterpError> {
    let dest = op.successors().get(side).ok_or_else(|| Fault::invalid_ir(format!("has no successor {side}")))?;
    let args = frame.take_range(groups.successor_operands(op, side))?;
    Ok(Flow::Branch(*dest, args))
}

fn branch(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    go(op, frame, Successors { first_group: 0 }, 0)
}

fn cond_branch(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let side = if frame.operand(0)?.as_bool()? { 0 } else { 1 };
    go(op, frame, Successors { first_group: 1 }, side)
}

/// What is undefined is not chosen here: whatever depended on it would depend on the choice.
fn freeze(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let value = frame.operand(0)?.clone();
    next(frame, value)
}

fn unreachable(_: OpRef<'_>, _: &mut Frame<'_>) -> Result<Flow, InterpError> {
    Err(Fault::new(FaultKind::Poison, "is reached").into())
}

fn call(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let callee = op.prop("callee").ok_or_else(|| Fault::unsupported("calls through a pointer"))?;
    let args = frame.take_range(group(op, 0)?)?;
    let results: Values = frame.call_ref(callee, args)?;
    frame.set_results(results)?;
    Ok(Flow::Next)
}

/// The value of an attribute that initialises a variable.
pub(super) fn initial_value(cx: &Context, attr: sutura_ir::Attr) -> Result<Value, Fault> {
    constant(cx, attr)
}
