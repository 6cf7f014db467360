//! A dialect of its own: saturating arithmetic, with a pattern, a meaning for the interpreter, and a pass that lowers it; and an
//! op on tensors with a form of its own, which is fused and compiled as those of `graph` are.

mod rule;

use sutura_dialects::arith;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_dialects::graph::form::Symbols;
use sutura_dialects::graph::{Form, FormOp, Inferred, ShapeEnv, ShapeFn};
use sutura_interp::{Flow, Frame, InterpError, Interpret, Scalar, Tensor, Value};
use sutura_ir::affine::AffineOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::constraints::*;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Canonicalize, Verify};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassRegistry, PassResult, PassRun};
use sutura_ir::pattern::PatternSet;
use sutura_ir::rewrite::conversion::*;
use sutura_ir::{Context, Dialect, DialectBuilder, Op, OpRef, Registry, Type, op, rewrite};

/// Signed sum that stops at the ends of its type's range instead of wrapping.
#[op("sat.add", traits(Pure, Commutative), format = "$lhs `,` $rhs attr-dict `:` type($sum)", canonicalize)]
pub struct AddOp<T: AnySignlessInteger> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    sum: Res<T>,
}

rewrite! {
    /// `x + 0` is `x`. Constants stand on the right, as the operation commutes.
    fn add_of_zero(rw) {
        AddOp(x, #c)
        if rw.cx().as_int(c) == Some(0)
        => x
    }
}

impl Canonicalize for AddOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<AddOp<'_>>("add-of-zero", add_of_zero);
    }
}

/// Smallest and largest number of an integer type of at most 64 bits.
fn range(cx: &Context, ty: Type) -> Option<(i64, i64)> {
    let unused = 64u32.checked_sub(cx.bit_width(ty)?)?;
    Some((i64::MIN.checked_shr(unused)?, i64::MAX.checked_shr(unused)?))
}

/// What `sat.add` computes.
fn interpret_add(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let dtype = frame.operand(0)?.scalar()?.dtype();
    let (low, high) = range(frame.cx(), dtype.to_type(frame.cx())).unwrap_or((i64::MIN, i64::MAX));
    let sum = frame.int(0)?.saturating_add(frame.int(1)?).clamp(low, high);
    frame.set(0, Scalar::int(sum, dtype))?;
    Ok(Flow::Next)
}

/// The rows of a tensor, the parts along its first dimension, in the opposite order.
#[op("sat.flip", traits(Pure), format = "$input attr-dict `:` type($input)", verify)]
pub struct FlipOp<T: AnyRankedTensor> {
    input: Operand<T>,
    flipped: Res<T>,
}

impl Verify for FlipOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        match op.cx.shape(op.ty(op.operand(0))) {
            Some([]) => Err(diags.report(op.error("needs a tensor that has rows"))),
            _ => Ok(()),
        }
    }
}

/// What fusion and compilation need to know of `sat.flip`: element `i, j…` of the result is element `size - 1 - i, j…` of the
/// input. What its neighbours compute is computed in one kernel with it.
struct FlipForm;

impl FormOp for FlipForm {
    fn form<'a>(&self, op: OpRef<'a>, facts: &Facts, symbols: &mut Symbols) -> Option<Form<'a>> {
        let (cx, input) = (op.cx, op.as_::<FlipOp<'a>>()?.input());
        let sizes = symbolic_shape(cx, op.ty(input))?;
        let last = facts.canonical(&sizes.first()?.as_ref()?.sub(&Poly::constant(1)));
        let back = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), cx.affine_const(-1));
        let mut index = vec![cx.affine_binary(AffineOp::Add, back, symbols.expr(cx, &last))];
        index.extend((1..sizes.len()).map(|d| cx.affine_dim(d as u32)));
        Form::of_move(op, input, &index)
    }
}

/// The shape stays.
struct FlipShape;

impl ShapeFn for FlipShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let shape = env.shape(op, op.operand(0)).unwrap_or_default();
        Inferred { shapes: vec![shape], contents: vec![None], ..Inferred::default() }
    }
}

/// What `sat.flip` computes.
fn interpret_flip(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let input = frame.tensor(0)?.clone();
    let mut flipped = Tensor::zeros(input.dtype(), input.shape())?;
    let (rows, row) = (input.shape()[0], input.shape()[1..].iter().product::<usize>());
    for i in 0..rows {
        flipped.data_mut().copy_range(i * row, input.data(), (rows - 1 - i) * row, row);
    }
    frame.set(0, Value::Tensor(flipped))?;
    Ok(Flow::Next)
}

struct SatDialect;

impl Dialect for SatDialect {
    const NAME: &'static str = "sat";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Saturating arithmetic.").op::<AddOp<'_>>().op::<FlipOp<'_>>();
        d.op_interface::<AddOp<'_>, dyn Interpret>(&interpret_add);
        d.op_interface::<FlipOp<'_>, dyn FormOp>(&FlipForm)
            .op_interface::<FlipOp<'_>, dyn ShapeFn>(&FlipShape)
            .op_interface::<FlipOp<'_>, dyn Interpret>(&interpret_flip);
    }
}

static LOWER_SAT: PassInfo = PassInfo {
    name: "LowerSat",
    argument: "lower-sat",
    summary: "Turn saturating arithmetic into arith",
    description: "Sums of integers of at most 64 bits wrap, and are replaced by an end of the range where they did.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[],
    create: |_| Ok(Box::new(LowerSat)),
};

struct LowerSat;

impl Pass for LowerSat {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let mut target = ConversionTarget::new();
        target.illegal_dialect("sat").legal_dialect("arith");
        let mut patterns = ConversionPatterns::new();
        patterns.add::<AddOp<'_>>("lower-add", lower_add);
        let outcome = apply_partial_conversion(run.cx, run.body, &target, &patterns, run.diags, run.trace)?;
        Ok(PreservedAnalyses::unless(outcome.changed))
    }
}

/// It wrapped when both operands have the sign that the wrapping sum has not.
fn lower_add(op: Op, operands: &Adaptor, rw: &mut ConversionRewriter<'_>) -> Option<()> {
    let add = rw.view::<AddOp<'_>>(op)?;
    let (x, y, ty) = (operands.one(add.lhs())?, operands.one(add.rhs())?, rw.body().ty(add.sum()));
    let (cx, loc) = (rw.cx(), rw.body().loc(op));
    let Some((low, high)) = range(cx, ty) else {
        return rw.notify_match_failure(op, || "only integers of at most 64 bits are lowered".to_string());
    };
    let number = |rw: &mut ConversionRewriter<'_>, n| arith::ConstantOp::value(rw, loc, cx.int_attr(n, ty));
    let (zero, low, high) = (number(rw, 0), number(rw, low), number(rw, high));
    let sum = arith::AddIOp::value(rw, loc, x, y);
    let (a, b) = (arith::XOrIOp::value(rw, loc, x, sum), arith::XOrIOp::value(rw, loc, y, sum));
    let both = arith::AndIOp::value(rw, loc, a, b);
    let wrapped = arith::CmpIOp::value(rw, loc, arith::CmpIPredicate::Slt, both, zero);
    let negative = arith::CmpIOp::value(rw, loc, arith::CmpIPredicate::Slt, x, zero);
    let end = arith::SelectOp::value(rw, loc, negative, low, high);
    let result = arith::SelectOp::value(rw, loc, wrapped, end, sum);
    rw.replace_op(op, &[result]);
    Some(())
}

/// Sutura's dialects and this one.
pub fn registry() -> Registry {
    sutura_dialects::all().with::<SatDialect>()
}

/// Sutura's passes and those of this crate.
pub fn passes() -> PassRegistry {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    passes.add(&LOWER_SAT);
    passes.add(&rule::FOUR_ROWS);
    passes
}
