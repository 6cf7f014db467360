//! Operators that decide and repeat: their graphs become regions of `scf.if` and `scf.while`.

use sutura_dialects::graph::SymShape;
use sutura_dialects::scf::{IfOp, YieldOp};
use sutura_ir::{Block, Op as IrOp, Region, Type, Value};

use super::super::convert::{Importer, Item, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::support::{Origin, TypedGraph};
use super::scans::{Rounds, Turn};
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("If", conditional), ("Loop", repeated)];

/// Iterations of a loop that are written out, because it carries what is no tensor.
const MOST_UNROLLED: i64 = 1024;
/// Nodes that these may have together.
const MOST_NODES: usize = 100_000;

/// ONNX's text says that nothing is asked then; its evaluator and onnxruntime ask.
const LEFT_OUT: &str = "leaves out its condition, and has a graph whose condition is not always true: whether that ends the loop is \
                        not the same everywhere; give `cond`";

/// One of two graphs, which see the names around them.
#[derive(Debug)]
struct If<'m> {
    condition: &'m str,
    sides: [TypedGraph<'m>; 2],
    results: usize,
}

fn conditional<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let sides = [r.graph("then_branch")?, r.graph("else_branch")?];
    for side in &sides {
        let (made, results) = (side.graph.outputs.len(), r.node.outputs.len());
        if made != results {
            return Err(format!("has {results} outputs, and a graph with {made}").into());
        }
        if !side.graph.inputs.is_empty() {
            return Err("has a graph with inputs".into());
        }
    }
    Ok(Conversion::op(If { condition: r.input(0)?, sides, results: r.node.outputs.len() }))
}

impl<'m> Convert<'m> for If<'m> {
    fn results(&self) -> usize {
        self.results
    }

    fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        self.sides.iter().collect()
    }

    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let condition = importer.value(self.condition)?;
        if importer.g.elem(condition) != Type::I1 {
            return wrong(format!("has a condition `{}` that is no truth value", self.condition));
        }
        let condition = importer.number(condition, "condition")?;
        // What is known is no condition: the other side need not even fit.
        if let Some(truth) = importer.truth(condition) {
            return importer.inlined(&self.sides[usize::from(!truth)], &[]);
        }
        let flag = importer.extracted(condition);
        // The types of the results are known when the sides are made, which then move to the op that has them.
        let first = IfOp::build(importer.g.b, importer.g.loc, flag, &[]);
        let regions: Vec<Region> = importer.g.b.body().regions(first).collect();
        let (then, yes) = importer.region(regions[0], &[], |of, _| of.inlined(&self.sides[0], &[]))?;
        let (other, no) = importer.region(regions[1], &[], |of, _| of.inlined(&self.sides[1], &[]))?;
        self.join(importer, (first, flag), [(then, yes), (other, no)])
    }
}

impl<'m> If<'m> {
    /// The op whose sides make `sides`, in the place of `first`, and its results.
    fn join(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        (first, flag): (IrOp, Value),
        [(then, yes), (other, no)]: [(Block, Vec<Item>); 2],
    ) -> Made<Vec<Item>> {
        let mut pairs = Vec::new();
        for (i, (a, b)) in yes.iter().zip(&no).enumerate() {
            if !a.is_like(b) {
                let name = &self.sides[0].graph.outputs[i].name;
                return fail(format!(
                    "has sides that make {} and {} as `{name}`; both must have the same parts",
                    of(a),
                    of(b)
                ));
            }
            pairs.extend(a.tensors().into_iter().zip(b.tensors()));
        }
        let mut types = Vec::new();
        for (a, b) in &pairs {
            types.push(either(importer, *a, *b)?);
        }
        // What both sides hand on as it is does not go through them.
        let through: Vec<usize> = (0..pairs.len()).filter(|i| pairs[*i].0 != pairs[*i].1).collect();
        let point = importer.g.b.insert_point();
        for (block, side) in [(then, 0), (other, 1)] {
            importer.g.b.set_to_end(block);
            let value = |i: &usize| if side == 0 { pairs[*i].0 } else { pairs[*i].1 };
            let values: Vec<Value> = through.iter().map(|i| importer.as_type(value(i), types[*i])).collect();
            YieldOp::build(importer.g.b, importer.g.loc, &values);
        }
        importer.g.b.set_insert_point(point);
        let results: Vec<Type> = through.iter().map(|i| types[*i]).collect();
        let op = IfOp::build(importer.g.b, importer.g.loc, flag, &results);
        move_regions(importer, first, op);
        let mut joined: Vec<Value> = pairs.iter().map(|(a, _)| *a).collect();
        for (number, i) in through.iter().enumerate() {
            joined[*i] = importer.g.b.body().result(op, number);
        }
        let mut joined = joined.into_iter();
        Ok(yes.iter().map(|item| item.with(&mut joined)).collect())
    }
}

/// What an item is, in words.
fn of(item: &Item) -> String {
    match item {
        Item::Sequence(sequence) => format!("a sequence of {}", sequence.tensors.len()),
        Item::Optional(None) => "nothing".to_owned(),
        item => item.kind().to_owned(),
    }
}

/// Moves the regions of an op without results to another one behind it, and erases the first.
pub(super) fn move_regions(importer: &mut Importer<'_, '_, '_>, from: IrOp, to: IrOp) {
    let body = importer.g.b.body();
    let pairs: Vec<(Region, Region)> = body.regions(from).zip(body.regions(to)).collect();
    for (from, to) in pairs {
        importer.g.b.take_region(from, to);
    }
    importer.g.b.erase_op(from);
}

/// The type of what is one tensor or another. Where their sizes differ, the run decides.
fn either(importer: &mut Importer<'_, '_, '_>, a: Value, b: Value) -> Made<Type> {
    let (elem, other) = (importer.g.elem(a), importer.g.elem(b));
    if elem != other {
        let (elem, other) = (importer.name_of(elem), importer.name_of(other));
        return wrong(format!("has sides that make tensors of {elem} and of {other}"));
    }
    let (first, second) = (importer.g.shape(a), importer.g.shape(b));
    if first.len() != second.len() {
        let (first, second) = (first.len(), second.len());
        return fail(format!(
            "has sides that make tensors of rank {first} and {second}, and its condition depends on data or on sizes that are not \
             numbers; both must have one rank"
        ));
    }
    let mut shape = SymShape::new();
    for (dim, sizes) in first.into_iter().zip(second).enumerate() {
        shape.push(Some(match sizes {
            (Some(a), Some(b)) if importer.g.env.facts.prove_equal(&a, &b) => match b.as_const() {
                Some(_) => b,
                None => a,
            },
            (a, b) => {
                let range = |size: &Option<_>| size.as_ref().map(|size| importer.g.env.facts.range(size));
                let most = range(&a).zip(range(&b)).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
                importer.decided_size(dim, most)
            }
        }));
    }
    Ok(importer.type_of(&shape, elem))
}

/// A graph that is repeated.
#[derive(Debug)]
struct Loop<'m> {
    limit: Option<&'m str>,
    condition: Option<&'m str>,
    starts: Vec<&'m str>,
    body: TypedGraph<'m>,
    results: usize,
}

fn repeated<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let starts: Vec<&str> = r.node.inputs.iter().skip(2).flatten().map(String::as_str).collect();
    let (body, carried) = (r.graph("body")?, starts.len());
    let (inputs, outputs, results) = (body.graph.inputs.len(), body.graph.outputs.len(), r.node.outputs.len());
    if inputs != carried + 2 {
        return Err(
            format!("carries {carried} values, and has a graph with {inputs} inputs, not {}", carried + 2).into()
        );
    }
    if outputs < carried + 1 {
        return Err(format!("carries {carried} values, and has a graph with {outputs} outputs").into());
    }
    if results > outputs - 1 {
        return Err(format!("has {results} outputs, and a graph with {outputs}").into());
    }
    let (limit, condition) = (r.optional(0), r.optional(1));
    if limit.is_none() && condition.is_none() {
        return Err("never ends: it has neither a number of iterations nor a condition".into());
    }
    Ok(Conversion::op(Loop { limit, condition, starts, body, results }))
}

impl<'m> Convert<'m> for Loop<'m> {
    fn results(&self) -> usize {
        self.results
    }

    fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        vec![&self.body]
    }

    fn items(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Item>> {
        let mut starts = Vec::new();
        for name in &self.starts {
            starts.push(importer.item(name)?);
        }
        let limit = match self.limit {
            None => None,
            Some(name) => {
                let value = importer.deciding(name)?;
                Some(importer.number(value, "number of iterations")?)
            }
        };
        let condition = match self.condition {
            None => None,
            Some(name) => {
                let value = importer.value(name)?;
                Some(importer.number(value, "condition")?)
            }
        };
        if starts.iter().any(|item| !matches!(item, Item::Tensor(_))) {
            return self.unrolled(importer, starts, limit, condition);
        }
        // A condition that is true and stays so is none.
        let truth = condition.and_then(|condition| importer.truth(condition));
        let stays = matches!(self.body.first, Origin::Input(1) | Origin::Constant(true));
        let condition = condition.filter(|_| truth != Some(true) || !stays);
        let known = limit.and_then(|limit| importer.g.contents(limit)?.first().cloned().flatten());
        let keeps_rows = self.body.graph.outputs.len() > 1 + starts.len();
        let most = match limit {
            Some(limit) if known.is_none() && keeps_rows => {
                let zero = importer.integer(0)?;
                let most = importer.g.elementwise(&[limit, zero], Type::I64, |s, args| s.max(args[0], args[1]))?;
                Some(importer.size_of_number(most)?)
            }
            _ => known,
        };
        let rounds = Rounds { limit, condition, most };
        if limit.is_none() && condition.is_none() {
            return wrong("never ends: its condition is always true");
        }
        let starts: Vec<Value> = starts.iter().flat_map(Item::tensors).collect();
        let looped = importer.looped(&rounds, &starts, &mut |of, number, condition, carried| {
            let condition = match condition {
                Some(condition) => condition,
                None => of.boolean(true)?,
            };
            let inputs = [number, condition].into_iter().chain(carried.iter().copied()).map(Item::Tensor);
            let made = of.inlined(&self.body, &inputs.collect::<Vec<_>>())?;
            let mut values = Vec::new();
            for (item, info) in made.iter().zip(&self.body.graph.outputs) {
                match item {
                    Item::Tensor(value) => values.push(*value),
                    item => return fail(format!("has a graph that makes {} as `{}`", item.kind(), info.name)),
                }
            }
            let condition = of.number(values[0], "condition")?;
            if self.condition.is_none() && of.truth(condition) != Some(true) {
                return fail(LEFT_OUT);
            }
            let rows = values.split_off(1 + carried.len());
            values.remove(0);
            Ok(Turn {
                condition: Some(condition),
                carried: values,
                rows: rows.into_iter().map(|row| (row, number)).collect(),
            })
        })?;
        Ok(looped.carried.into_iter().chain(looped.rows).take(self.results).map(Item::Tensor).collect())
    }
}

impl<'m> Loop<'m> {
    /// The loop written out: an iteration behind the other.
    fn unrolled(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        mut carried: Vec<Item>,
        limit: Option<Value>,
        condition: Option<Value>,
    ) -> Made<Vec<Item>> {
        let why = "carries what is no tensor, so it is written out";
        let known = limit.and_then(|limit| importer.g.contents(limit)?.first()?.as_ref()?.as_const());
        let Some(count) = known else {
            return fail(format!("{why}; the number of its iterations must be a constant"));
        };
        let nodes = size_of(&self.body);
        if count > MOST_UNROLLED || usize::try_from(count).is_ok_and(|count| count.saturating_mul(nodes) > MOST_NODES) {
            return fail(format!("{why}, and {count} iterations are too many for that"));
        }
        let mut rows: Vec<Vec<Value>> = vec![Vec::new(); self.body.graph.outputs.len() - 1 - carried.len()];
        let mut truth = match condition {
            None => Some(true),
            Some(condition) => importer.truth(condition),
        };
        for number in 0..count.max(0) {
            match truth {
                Some(true) => {}
                Some(false) => break,
                None => return fail(format!("{why}; its condition must be known, and depends on data")),
            }
            let (number, goes_on) = (importer.integer(number)?, importer.boolean(true)?);
            let inputs: Vec<Item> = [number, goes_on].map(Item::Tensor).into_iter().chain(carried.clone()).collect();
            let mut made = importer.inlined(&self.body, &inputs)?;
            let made_rows = made.split_off(1 + carried.len());
            for (all, item) in rows.iter_mut().zip(made_rows) {
                let Item::Tensor(row) = item else { return fail(format!("has a graph that stacks {}", item.kind())) };
                all.push(importer.g.unsqueeze(row, &[0])?);
            }
            let Item::Tensor(next) = made[0] else { return wrong("has a graph whose condition is no tensor") };
            let next = importer.number(next, "condition")?;
            truth = importer.truth(next);
            if condition.is_none() && truth != Some(true) {
                return fail(LEFT_OUT);
            }
            made.remove(0);
            carried = made;
        }
        let mut results = carried;
        for (i, all) in rows.into_iter().enumerate() {
            if results.len() >= self.results {
                break;
            }
            let name = &self.body.graph.outputs[self.body.graph.inputs.len() - 1 + i].name;
            results.push(Item::Tensor(match &all[..] {
                [] => return fail(format!("{why}; without iterations `{name}` has no known shape")),
                [one] => *one,
                all => importer.g.concat(all, 0)?,
            }));
        }
        results.truncate(self.results);
        Ok(results)
    }
}

/// How many nodes a graph has, those of graphs in it included.
fn size_of(graph: &TypedGraph<'_>) -> usize {
    let inner = |op: &Op<'_>| match op {
        Op::Converted(conversion) => conversion.graphs().into_iter().map(size_of).sum(),
        _ => 0,
    };
    graph.nodes.iter().map(|node| 1 + inner(&node.op)).sum()
}
