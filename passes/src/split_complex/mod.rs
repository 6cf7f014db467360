//! `split-complex`: tensors of complex numbers become pairs of tensors of their parts.
//!
//! Arguments and results of functions keep their types; what comes in is read as its parts, side by side in a last dimension of
//! size 2 (`graph.bitcast` is a view of the same bytes), and what goes out is put side by side again.

mod scalar;
mod tensors;

use sutura_dialects::complex::{is_computed, part_type};
use sutura_dialects::graph::{BitcastOp, Combiner, ComputeForm, ComputeOp, ConstantOp, ScanOp, ScatterOp, ShapeOfOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Block, Body, Context, Op, OpRef, Type};

use crate::functions::of_each_function;

/// `split-complex`
pub static SPLIT_COMPLEX: PassInfo = PassInfo {
    name: "SplitComplex",
    argument: "split-complex",
    summary: "Put pairs of real tensors in the place of complex ones",
    description: "Tensors of `complex<f32>` and `complex<f64>` become two tensors inside functions, of real and of imaginary \
                  parts, and functions of elements compute with parts. What moves or adds elements does so with both, and what multiplies \
                  them or joins them by a region joins both parts at once. Arguments and \
                  results of functions keep their types: they are read and written as parts side by side in a last dimension \
                  of size 2, by `graph.bitcast`. What is not known to do with complex elements is refused.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-tensors", description: "complex tensors that became two" }],
    create,
};

struct SplitComplex;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(SplitComplex))
}

impl Pass for SplitComplex {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, header, body| (header.loc, function(cx, body)));
        let (mut count, mut refused) = (0, false);
        for (loc, outcome) in outcomes {
            match outcome {
                Ok(0) => {}
                Ok(made) => {
                    count += made;
                    run.passed(loc, format!("{made} tensors of complex numbers became two of their parts"));
                }
                Err(diagnostic) => {
                    refused = true;
                    run.diags.report(*diagnostic);
                }
            }
        }
        run.count("num-tensors", count);
        if refused { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::unless(count > 0)) }
    }
}

/// The type of the parts of a tensor's elements.
fn part_of(cx: &Context, ty: Type) -> Option<Type> {
    cx.shape(ty)?;
    part_type(cx, cx.element_type(ty))
}

/// How an op that is no function of elements works on parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It does to each part what it does to elements: it moves them, or adds them.
    ByPart,
    /// It multiplies elements as it goes, or those at one place.
    Product,
    /// It joins elements by a region.
    Region,
}

impl Way {
    /// That of an op; `None` of one of which nothing is known.
    fn of(op: OpRef<'_>) -> Option<Self> {
        const MOVES: [&str; 6] = [
            "graph.concat",
            "graph.slice",
            "graph.reshape",
            "graph.gather",
            "graph.gather_elements",
            "graph.gather_nd",
        ];
        if MOVES.contains(&op.name_str()) {
            return Some(Self::ByPart);
        }
        let combiner = match (op.as_::<ScanOp<'_>>(), op.as_::<ScatterOp<'_>>()) {
            (Some(scan), _) => scan.combiner(),
            (_, Some(scatter)) => scatter.combiner(),
            _ => return None,
        };
        Some(match combiner {
            _ if op.region(0).is_some() => Self::Region,
            Some(Combiner::Mul) => Self::Product,
            _ => Self::ByPart,
        })
    }
}

/// Splits the tensors of a function, and counts them.
fn function(cx: &Context, body: &mut Body) -> Result<u64, Box<Diagnostic>> {
    let Some(entry) = body.entry_block() else { return Ok(0) };
    let ops: Vec<Op> = body.ops(entry).collect();
    let mut found = false;
    for op in &ops {
        let view = OpRef::new(cx, body, *op);
        let mut types = view.operand_types().chain(view.result_types()).filter(|ty| part_of(cx, *ty).is_some());
        let Some(ty) = types.next() else { continue };
        found = true;
        check(cx, body, view, types.chain([ty]))?;
    }
    if found { Ok(tensors::split(cx, body, &ops)) } else { Ok(0) }
}

/// Refuses what is not known to do with complex numbers.
fn check_block(cx: &Context, body: &Body, block: Block) -> Result<(), Box<Diagnostic>> {
    match scalar::unknown(cx, block, body) {
        Some(op) => Err(Box::new(op.error("computes with complex numbers, and is no op of 'complex'"))),
        None => Ok(()),
    }
}

/// Refuses what is not known to do with complex elements.
fn check(
    cx: &Context,
    body: &Body,
    view: OpRef<'_>,
    mut types: impl Iterator<Item = Type>,
) -> Result<(), Box<Diagnostic>> {
    let refused = |elem: Type| format!("is of tensors of {}, for which nothing is compiled", type_text(cx, elem));
    if let Some(ty) = types.find(|ty| !is_computed(cx, cx.element_type(*ty))) {
        let help = "of complex numbers complex<f32> and complex<f64> are compiled";
        return Err(Box::new(view.error(refused(cx.element_type(ty))).help(help)));
    }
    let Some(ty) = view.operand_types().chain(view.result_types()).find(|ty| part_of(cx, *ty).is_some()) else {
        return Ok(());
    };
    if view.is::<ComputeOp<'_>>() {
        let Some(form) = ComputeForm::of(view) else { return Ok(()) };
        let blocks = [Some(form.body.block), form.joint.map(|joint| joint.body.block)];
        return blocks.into_iter().flatten().try_for_each(|block| check_block(cx, body, block));
    }
    let way = Way::of(view);
    if way == Some(Way::Region) {
        let block = view.region(0).and_then(|region| region.entry());
        return block.map_or(Ok(()), |block| check_block(cx, body, block.block));
    }
    let known = way.is_some()
        || view.is::<ConstantOp<'_>>()
        || view.is::<BitcastOp<'_>>()
        || view.is::<ShapeOfOp<'_>>()
        || !view.name_str().starts_with("graph.");
    if known { Ok(()) } else { Err(Box::new(view.error(refused(cx.element_type(ty))))) }
}
