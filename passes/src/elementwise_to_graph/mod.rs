//! `convert-elementwise-to-graph`: ops of scalar dialects that work on tensors element by element, as `graph.compute`.
//!
//! Kernels are made of `graph.compute`. Nothing here knows an op: one that is `Elementwise` computes of elements what it computes
//! of tensors.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{ConstantOp, IteratorKind, MAX_ITERATORS, ShapeEnv, SymShape};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::analysis::effects::{is_memory_effect_free, is_trivially_dead};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Loc, Op, OpRef, OpState, Rewriter, Traits, Type, Value};

use crate::functions::of_each_function;
use crate::scalars_to_tensors::{compute_numbers, tensor_of};

/// The pass.
pub static CONVERT_ELEMENTWISE_TO_GRAPH: PassInfo = PassInfo {
    name: "ConvertElementwiseToGraph",
    argument: "convert-elementwise-to-graph",
    summary: "Convert elementwise ops on ranked tensors to graph.compute",
    description: "In functions: an op that works element by element (`arith.addf`, `math.exp`, `arith.select`) becomes a \
                  `graph.compute` that applies it to elements, and a constant that is a tensor a `graph.constant`. A \
                  condition of `arith.select` that is no tensor becomes one of rank 0. Ops with several results or with \
                  effects stay, with a remark.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-converted", description: "ops and constants converted" }],
    create: |_: &PassOptions| Ok(Box::new(ConvertElementwiseToGraph)),
};

struct ConvertElementwiseToGraph;

impl Pass for ConvertElementwiseToGraph {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let functions = of_each_function(run, |cx, _, body| convert(cx, body));
        let mut converted = 0;
        for done in functions {
            done.passed.into_iter().for_each(|(loc, said)| run.passed(loc, said));
            done.left.into_iter().for_each(|(loc, why)| run.missed(loc, why));
            converted += done.count;
        }
        run.count("num-converted", converted);
        Ok(PreservedAnalyses::unless(converted > 0))
    }
}

/// What was done in a function.
#[derive(Default)]
struct Done {
    count: u64,
    passed: Vec<(Loc, String)>,
    left: Vec<(Loc, String)>,
}

/// True for an op on whole tensors that this pass is about.
fn works_on_tensors(op: OpRef<'_>) -> bool {
    let tensor = |value: Value| op.cx.shape(op.ty(value)).is_some() && symbolic_shape(op.cx, op.ty(value)).is_some();
    op.num_results() > 0 && op.results().all(tensor) && (op.has_trait(Traits::Elementwise) || is_constant(op))
}

fn is_constant(op: OpRef<'_>) -> bool {
    op.has_trait(Traits::ConstantLike) && op.is::<sutura_dialects::arith::ConstantOp<'_>>()
}

/// Why an op stays what it is.
fn why_not(op: OpRef<'_>) -> Option<String> {
    let name = op.name_str();
    let shape = symbolic_shape(op.cx, op.ty(op.result(0))).unwrap_or_default();
    let fits = |value: Value| match symbolic_shape(op.cx, op.ty(value)) {
        Some(other) => other.len() == shape.len(),
        None => op.ty(value) == Type::I1,
    };
    match () {
        () if op.num_results() != 1 => Some(format!("'{name}' stays: it makes several tensors")),
        () if op.regions().len() > 0 || !is_memory_effect_free(op) => Some(format!("'{name}' stays: it has effects")),
        () if !op.operands().all(fits) => {
            Some(format!("'{name}' stays: it takes something else than tensors of one rank"))
        }
        () if shape.len() > MAX_ITERATORS => {
            Some(format!("'{name}' stays: its tensors have more than {MAX_ITERATORS} dimensions"))
        }
        () => None,
    }
}

fn convert(cx: &Context, body: &mut Body) -> Done {
    let mut done = Done::default();
    let ops: Vec<Op> = body.preorder().filter(|op| works_on_tensors(OpRef::new(cx, body, *op))).collect();
    let mut rw = Rewriter::new(cx, body);
    let mut numbers = false;
    for op in ops {
        let view = rw.op_ref(op);
        let (loc, name) = (view.loc(), view.name_str().to_owned());
        if is_constant(view) {
            let Some(value) = view.prop("value") else { continue };
            rw.set_before(op);
            let made = ConstantOp::value(&mut rw, loc, value);
            rw.replace_op(op, &[made]);
        } else if let Some(why) = why_not(view) {
            done.left.push((loc, why));
            continue;
        } else {
            numbers |= view.operands().any(|value| view.ty(value) == Type::I1);
            let made = compute(&mut rw, op, loc);
            rw.replace_op(op, &[made]);
        }
        done.count += 1;
        done.passed.push((loc, format!("'{name}' is a 'graph' op now")));
    }
    if numbers {
        // What the condition was read from, or computed by.
        done.left.extend(compute_numbers(&mut rw));
        let mut ops: Vec<Op> = rw.body().preorder().collect();
        ops.reverse();
        for op in ops {
            if rw.body().is_live(op) && is_trivially_dead(rw.op_ref(op)) {
                rw.erase_op(op);
            }
        }
    }
    done
}

/// The op on elements, for all of them.
fn compute(rw: &mut Rewriter<'_>, op: Op, loc: Loc) -> Value {
    let cx = rw.cx();
    let result = rw.body().result(op, 0);
    let ty = rw.body().ty(result);
    let (elem, shape): (Type, SymShape) = (cx.element_type(ty), symbolic_shape(cx, ty).expect("it is a tensor"));
    let operands: Vec<Value> = rw.body().operands(op).collect();
    rw.set_before(op);
    let index = |rank: usize| (0..rank as u32).map(|d| cx.affine_dim(d)).collect::<Vec<_>>();
    let mut inputs = Vec::with_capacity(operands.len());
    for value in operands {
        let rank = symbolic_shape(cx, rw.body().ty(value)).map(|shape| shape.len());
        let value = if rank.is_some() { value } else { tensor_of(rw, op, value, Type::I1) };
        inputs.push(ComputeInput { value, index: index(rank.unwrap_or(0)), oob: None });
    }
    let (name, props, attrs) = (rw.body().name(op), rw.body().props(op), rw.body().attrs(op));
    let results = vec![ComputeResult { index: index(shape.len()), shape: shape.clone(), elem, combiner: None }];
    let iterators = vec![IteratorKind::Parallel; shape.len()];
    let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
    let made = g.compute(&iterators, inputs, results, |s, args| {
        let mut state = OpState { name, ..OpState::new(name, loc) };
        state = state.operands(args.iter().copied()).results([elem]);
        (state.props, state.attrs) = (cx.entries(props).into(), cx.entries(attrs).into());
        vec![s.create(state)]
    });
    let made = rw.body().result(made, 0);
    // Properties of types besides sizes stay.
    rw.set_type(made, ty);
    made
}
