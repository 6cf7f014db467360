//! Arithmetic between elements that are read and tensors of one number that are made.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{IteratorKind, ShapeEnv, ShapeOfOp};
use sutura_dialects::tensor::{DimOp, ExtractOp, FromElementsOp};
use sutura_ir::{Attr, Context, DYNAMIC, Loc, Op, OpName, OpRef, OpState, Rewriter, Traits, Type, Value};

/// Where a number comes from.
#[derive(Clone, Copy)]
enum From {
    /// The input of this number.
    Input(usize),
    /// The result of this step.
    Step(usize),
}

/// An op of the arithmetic.
struct Step {
    name: OpName,
    operands: Vec<From>,
    result: Type,
    props: Attr,
    attrs: Attr,
}

/// An element that is read.
#[derive(Clone, PartialEq)]
struct Read {
    tensor: Value,
    index: Vec<i64>,
    /// The size of this dimension is read, and not an element.
    dim: bool,
}

/// How a number is made.
#[derive(Default)]
struct Plan {
    reads: Vec<Read>,
    steps: Vec<Step>,
    known: Vec<(Value, From)>,
}

/// Ops that make one number at most.
const MOST_STEPS: usize = 256;

/// Replaces tensors of one number by what computes them; how many, and why others stay.
pub(super) fn convert(rw: &mut Rewriter<'_>) -> (u64, Vec<(Loc, String)>) {
    let ops: Vec<Op> = rw.body().preorder().filter(|op| rw.op_ref(*op).is::<FromElementsOp<'_>>()).collect();
    let (mut computed, mut left) = (0, Vec::new());
    for op in ops {
        let view = rw.op_ref(op);
        let shape = view.cx.shape(view.ty(view.result(0))).unwrap_or_default().to_vec();
        if view.num_operands() != 1 || shape.len() > 1 {
            continue;
        }
        let mut plan = Plan::default();
        match plan.number(view, view.operand(0)) {
            Ok(number) => {
                let loc = view.loc();
                let made = plan.emit(rw, op, loc, number, shape.len());
                rw.replace_op(op, &[made]);
                computed += 1;
            }
            Err(why) => left.push((view.loc(), format!("a number stays one: {why}"))),
        }
    }
    (computed, left)
}

fn index_of(op: OpRef<'_>, values: impl Iterator<Item = Value>) -> Option<Vec<i64>> {
    values.map(|v| op.constant(v).and_then(|a| op.cx.as_int(a))).collect()
}

/// Refuses indices at which a tensor of these sizes has no element.
fn check_inside(op: OpRef<'_>, tensor: Value, index: &[i64]) -> Result<(), String> {
    let sizes = op.cx.shape(op.ty(tensor)).unwrap_or_default();
    let outside = |(index, size): (&i64, &i64)| *index < 0 || (*size != DYNAMIC && index >= size);
    match index.iter().zip(sizes).position(outside) {
        Some(dim) => {
            Err(format!("an element is read at index {} of dimension {dim}, which has none there", index[dim]))
        }
        None => Ok(()),
    }
}

impl Plan {
    /// Plans how `value` is made, in the order in which it is needed.
    fn number(&mut self, at: OpRef<'_>, value: Value) -> Result<From, String> {
        if let Some((_, from)) = self.known.iter().find(|(known, _)| *known == value) {
            return Ok(*from);
        }
        let op = at.body.defining_op(value).map(|op| at.at(op));
        let op = op.ok_or_else(|| format!("'{}' needs one that is an argument", at.name_str()))?;
        let from = if let Some(extract) = op.as_::<ExtractOp<'_>>() {
            let index = index_of(op, extract.indices());
            let index = index.ok_or("an element is read at an index that is computed")?;
            check_inside(op, extract.tensor(), &index)?;
            self.read(Read { tensor: extract.tensor(), index, dim: false })
        } else if let Some(dim) = op.as_::<DimOp<'_>>() {
            let index = index_of(op, std::iter::once(dim.index()));
            let index = index.ok_or("the size of a dimension is read whose number is computed")?;
            let rank = op.cx.shape(op.ty(dim.source())).map_or(0, <[i64]>::len) as i64;
            if index.iter().any(|index| !(0..rank).contains(index)) {
                return Err("the size of a dimension is read that there is not".to_owned());
            }
            let size = self.read(Read { tensor: dim.source(), index, dim: true });
            // Sizes are read as i64.
            let name = op.cx.op_name("arith.index_cast");
            self.step(Step {
                name,
                operands: vec![size],
                result: Type::INDEX,
                props: Attr::EMPTY_DICT,
                attrs: Attr::EMPTY_DICT,
            })?
        } else {
            if !op.has_trait(Traits::Pure) || op.num_results() != 1 || op.regions().len() > 0 {
                return Err(format!("'{}' is no arithmetic", op.name_str()));
            }
            let operands = op.operands().map(|v| self.number(op, v)).collect::<Result<_, _>>()?;
            let (props, attrs) = (op.body.props(op.op), op.body.attrs(op.op));
            self.step(Step { name: op.name(), operands, result: op.ty(value), props, attrs })?
        };
        self.known.push((value, from));
        Ok(from)
    }

    fn read(&mut self, read: Read) -> From {
        let known = self.reads.iter().position(|known| *known == read);
        From::Input(known.unwrap_or_else(|| {
            self.reads.push(read);
            self.reads.len() - 1
        }))
    }

    fn step(&mut self, step: Step) -> Result<From, String> {
        if self.steps.len() == MOST_STEPS {
            return Err(format!("it takes more than {MOST_STEPS} steps"));
        }
        self.steps.push(step);
        Ok(From::Step(self.steps.len() - 1))
    }

    /// Builds the computation before `op`.
    fn emit(&self, rw: &mut Rewriter<'_>, op: Op, loc: Loc, number: From, rank: usize) -> Value {
        let cx: &Context = rw.cx();
        rw.set_before(op);
        let mut inputs = Vec::new();
        for read in &self.reads {
            let value = if read.dim {
                let rank = cx.shape(rw.body().ty(read.tensor)).map_or(0, <[i64]>::len) as i64;
                ShapeOfOp::value(rw, loc, read.tensor, cx.tensor_type(&[rank], Type::I64, None))
            } else {
                read.tensor
            };
            let index = read.index.iter().map(|i| cx.affine_const(*i)).collect();
            inputs.push(ComputeInput { value, index, oob: None });
        }
        let result = rw.body().ty(rw.body().result(op, 0));
        let elem = cx.element_type(result);
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let (iterators, shape) = (vec![IteratorKind::Parallel; rank], vec![Some(1.into()); rank]);
        let results = vec![ComputeResult { index: g.dims(0..rank), shape, elem, combiner: None }];
        let made = g.compute(&iterators, inputs, results, |s, args| {
            let mut values: Vec<Value> = Vec::new();
            for step in &self.steps {
                let operand = |from: &From| match from {
                    From::Input(i) => args[*i],
                    From::Step(i) => values[*i],
                };
                let mut state = OpState { name: step.name, ..OpState::new(step.name, loc) };
                state = state.operands(step.operands.iter().map(operand)).results([step.result]);
                (state.props, state.attrs) = (cx.entries(step.props).into(), cx.entries(step.attrs).into());
                values.push(s.create(state));
            }
            vec![match number {
                From::Input(i) => args[i],
                From::Step(i) => values[i],
            }]
        });
        rw.body().result(made, 0)
    }
}
