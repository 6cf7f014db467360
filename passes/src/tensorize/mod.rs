//! `tensorize`: contractions of register tiles become the target's tensor intrinsics.
//!
//! After TensorIR: an intrinsic is described by its meaning, here a `gir` body. A contraction whose extents and element
//! types are exactly those of an intrinsic's meaning, for one choice of its parameters, becomes a call of it; the loops around it, the
//! packing and the edges are windows and moves that are there already. What the intrinsic wants in another space is loaded into that, or
//! moved there.

#[cfg(test)]
mod tests;

use sutura_dialects::gir::ops::{ContractOp, IntrinsicOp, KernelOp, LoadOp, MoveOp};
use sutura_dialects::gir::types::TileType;
use sutura_dialects::target::instances::signatures;
use sutura_dialects::target::{Contracts, contracts, ops as target};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Loc, Op, OpRef, Rewriter, Type, Value};

/// `tensorize`
pub static TENSORIZE: PassInfo = PassInfo {
    name: "Tensorize",
    argument: "tensorize",
    summary: "Turn contractions of register tiles into the target's tensor intrinsics",
    description: "Looks up the module's `target.machine`. A `gir.contract` whose operand types are those of an intrinsic \
                  that means one contraction, for a choice of the values of its extents' parameters, becomes a `gir.intrinsic`; \
                  operands that it has in other spaces are loaded into these or moved there. Any other is left as it is, with a \
                  remark.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-intrinsics", description: "contractions that became intrinsics" },
        StatisticInfo { name: "num-missed", description: "contractions that fit no intrinsic" },
    ],
    create,
};

struct Tensorize;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(Tensorize))
}

/// An intrinsic whose meaning is one contraction.
struct Contraction {
    name: String,
    /// Types of left operand, right operand and accumulator, for each choice of its extents.
    types: Vec<Vec<Type>>,
    /// Which contraction it is.
    means: Contracts,
}

impl Pass for Tensorize {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let of = |run: &PassRun<'_>, wanted: fn(OpRef<'_>) -> bool| -> Vec<Op> {
            run.body.preorder().filter(|op| wanted(OpRef::new(cx, run.body, *op))).collect()
        };
        let machines = of(run, |op| op.is::<target::MachineOp>());
        let kernels = of(run, |op| op.is::<KernelOp>());
        let intrinsics: Vec<Contraction> =
            machines.iter().flat_map(|op| contractions(OpRef::new(cx, run.body, *op))).collect();
        for kernel in kernels {
            let body = run.body.nested(kernel).expect("a kernel is isolated");
            let contracts: Vec<Op> =
                body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<ContractOp>()).collect();
            for op in contracts {
                replace(run, kernel, op, &intrinsics, machines.is_empty());
            }
        }
        Ok(PreservedAnalyses::none())
    }
}

/// The machine's intrinsics that mean `acc + a . b`.
fn contractions(machine: OpRef<'_>) -> Vec<Contraction> {
    let entry = machine.region(0).and_then(|r| r.entry());
    let ops = entry.into_iter().flat_map(|block| block.ops());
    ops.filter_map(|op| {
        let means = contracts(op.as_::<target::IntrinsicOp>()?)?;
        let types = signatures(op).into_iter().map(|(operands, _)| operands).collect();
        Some(Contraction { name: op.symbol_name()?.to_string(), types, means })
    })
    .collect()
}

fn replace(run: &mut PassRun<'_>, kernel: Op, op: Op, intrinsics: &[Contraction], no_machine: bool) {
    let cx = run.cx;
    let body = run.body.nested_mut(kernel).expect("a kernel is isolated");
    let operands: Vec<Value> = body.operands(op).collect();
    let types: Vec<Type> = operands.iter().map(|v| body.ty(*v)).collect();
    let (loc, this) = (body.loc(op), OpRef::new(cx, body, op));
    let means = this.as_::<ContractOp>().map(Contracts::of);
    let elsewhere = |own: &Vec<Type>| own.iter().zip(&types).all(|(own, ty)| in_space_of(cx, *ty, *own) == *own);
    let fitting = intrinsics.iter().filter(|i| Some(i.means) == means);
    let here = |i: &&Contraction| i.types.contains(&types);
    let found = fitting.clone().find(here).map(|i| (i, &types));
    let found = found.or_else(|| fitting.clone().find_map(|i| Some((i, i.types.iter().find(|own| elsewhere(own))?))));
    match found {
        Some((intrinsic, own)) => {
            call(cx, body, op, &intrinsic.name, own);
            run.passed(loc, format!("'gir.contract' becomes the intrinsic @{}", intrinsic.name));
            run.count("num-intrinsics", 1);
        }
        None => {
            let why = if no_machine {
                "the module describes no machine".to_string()
            } else {
                format!("no intrinsic of the machine contracts {}", extents(cx, &types))
            };
            run.missed(loc, format!("'gir.contract' stays: {why}"));
            run.count("num-missed", 1);
        }
    }
}

/// A tile's type, in the space of another one.
fn in_space_of(cx: &Context, ty: Type, other: Type) -> Type {
    match (cx.type_as::<TileType>(ty), cx.type_as::<TileType>(other)) {
        (Some(tile), Some(other)) => cx.ext_type(TileType { space: other.space.clone(), ..tile.clone() }),
        _ => ty,
    }
}

/// Puts a call of an intrinsic in the place of a contraction; `types` are those of the intrinsic's operands, which may lie elsewhere.
fn call(cx: &Context, body: &mut Body, op: Op, name: &str, types: &[Type]) {
    let mut rewriter = Rewriter::new(cx, body);
    rewriter.set_before(op);
    let (loc, result) = (rewriter.body().loc(op), rewriter.body().ty(rewriter.body().result(op, 0)));
    let operands: Vec<Value> = rewriter.body().operands(op).collect();
    let operands: Vec<Value> =
        operands.iter().zip(types).map(|(value, ty)| brought(&mut rewriter, loc, *value, *ty)).collect();
    let new = IntrinsicOp::build(&mut rewriter, loc, name, &operands, &types[2..3]);
    let made = rewriter.body().result(new, 0);
    let value = if types[2] == result { made } else { MoveOp::value(&mut rewriter, loc, made, result) };
    rewriter.replace_op(op, &[value]);
}

/// A tile in the space of `ty`: loaded into it, where it is loaded for nothing else, or moved there.
fn brought(rewriter: &mut Rewriter<'_>, loc: Loc, value: Value, ty: Type) -> Value {
    if rewriter.body().ty(value) == ty {
        return value;
    }
    let (cx, body) = (rewriter.cx(), rewriter.body());
    let loaded = body.defining_op(value).is_some_and(|def| OpRef::new(cx, body, def).is::<LoadOp>());
    if loaded && body.uses(value).count() == 1 {
        rewriter.set_type(value, ty);
        return value;
    }
    MoveOp::value(rewriter, loc, value, ty)
}

/// `[M, K] by [K, N]`
fn extents(cx: &Context, types: &[Type]) -> String {
    let tile = |ty: Type| cx.type_as::<TileType>(ty).map_or("?".to_string(), |t| format!("[{}, {}]", t.rows, t.cols));
    format!("{} by {}", tile(types[0]), tile(types[1]))
}
