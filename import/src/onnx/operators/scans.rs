//! Loops over tensors, and `Scan`, whose iterations go through slices.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::SymShape;
use sutura_dialects::graph::build::Joined;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::scf::{ConditionOp, WhileOp, YieldOp};
use sutura_ir::{Op as IrOp, Region, Type, Value};

use super::super::convert::{Importer, Item, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::support::TypedGraph;
use super::control::move_regions;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("Scan", scan)];

/// Loops in each other. An iteration may be converted twice, so that deeper ones would take long.
const MOST_LOOPS: usize = 8;
/// Iterations whose rows are kept: more than a dimension may have.
const MOST_ROWS: i64 = i32::MAX as i64;

/// How long a loop runs.
pub(super) struct Rounds {
    /// The number of iterations, a tensor without dimensions; with a condition, the most.
    pub(super) limit: Option<Value>,
    /// Whether there is a first iteration; without it only the number counts.
    pub(super) condition: Option<Value>,
    /// The limit, where it follows from constants and shapes. It may be negative.
    pub(super) most: Option<Poly>,
}

/// What one iteration makes.
pub(super) struct Turn {
    /// Whether there is a next one; looked at only where the loop has a condition.
    pub(super) condition: Option<Value>,
    pub(super) carried: Vec<Value>,
    /// Rows, and the number of the place of each.
    pub(super) rows: Vec<(Value, Value)>,
}

/// What a loop makes.
pub(super) struct Looped {
    pub(super) carried: Vec<Value>,
    /// The rows of all iterations, stacked.
    pub(super) rows: Vec<Value>,
}

/// Makes an iteration of its number, the condition if the loop has one, and what is carried.
type Iteration<'a, 'm> =
    &'a mut dyn for<'g, 'b> FnMut(&mut Importer<'m, 'g, 'b>, Value, Option<Value>, &[Value]) -> Made<Turn>;

/// An iteration in a region, of an op that has no results yet.
struct Filled {
    op: IrOp,
    block: sutura_ir::Block,
    turn: Turn,
    /// What is carried, as its types are in the loop.
    types: Vec<Type>,
}

/// A dimension of something carried that an iteration changes, and by how much, if it grows.
struct Change {
    carried: usize,
    dim: usize,
    /// The size that it gets.
    next: Option<Poly>,
    step: Option<Poly>,
}

/// Dimensions that grow by the same number in each iteration, and have one size at all times.
struct Growth {
    /// Name of the size.
    name: String,
    at: Vec<(usize, usize)>,
    start: Poly,
    step: Poly,
    /// The numbers of all places that there are after the last iteration.
    places: Value,
}

/// Whether a size needs one of these.
fn mentions(size: &Poly, names: &[String]) -> bool {
    let mut found = false;
    size.each_symbol(&mut |name| found |= names.iter().any(|own| own[..] == **name));
    found
}

impl<'m> Importer<'m, '_, '_> {
    /// A loop that starts with these tensors.
    pub(super) fn looped(&mut self, rounds: &Rounds, starts: &[Value], turn: Iteration<'_, 'm>) -> Made<Looped> {
        if self.loops >= MOST_LOOPS {
            return fail(format!("is in {MOST_LOOPS} loops; more are not supported"));
        }
        self.loops += 1;
        let filled = self.filled(rounds, starts, turn);
        self.loops -= 1;
        let (filled, own) = filled?;
        let count = match rounds.most.as_ref().map(|most| most.greater(&Poly::default())) {
            Some(most) => Some(self.g.env.facts.canonical(&most)),
            None => None,
        };
        let mut shapes = Vec::new();
        for (row, _) in &filled.turn.rows {
            shapes.push(self.stacked(*row, count.as_ref(), &own)?);
        }
        let results = self.close(rounds, starts, filled, &shapes)?;
        let (last, rest) = results.split_first().expect("the number of iterations is one");
        let rest = if rounds.condition.is_some() { &rest[1..] } else { rest };
        let (carried, rows) = rest.split_at(starts.len());
        // A condition may have ended it before all places were filled.
        let rows = match rounds.condition {
            Some(_) => self.first_rows(rows, *last)?,
            None => rows.to_vec(),
        };
        Ok(Looped { carried: carried.to_vec(), rows })
    }

    /// The iteration in a region, and names of sizes that may differ in each. A size that an iteration changes is such a one, so it
    /// is converted until no more are found.
    fn filled(&mut self, rounds: &Rounds, starts: &[Value], turn: Iteration<'_, 'm>) -> Made<(Filled, Vec<String>)> {
        let mut shapes: Vec<SymShape> = starts.iter().map(|start| self.g.shape(*start)).collect();
        let mut varying: Vec<String> = Vec::new();
        let mut growing: Vec<Growth> = Vec::new();
        // Dimensions that have a varying size.
        let mut groups: Vec<(String, Vec<(usize, usize)>)> = Vec::new();
        for (i, shape) in shapes.iter_mut().enumerate() {
            for (dim, size) in shape.iter_mut().enumerate().filter(|(_, size)| size.is_none()) {
                let name = self.new_size(&format!("carried_{i}_{dim}"), (0, MOST_ROWS));
                *size = Some(Poly::symbol(&name));
                varying.push(name);
            }
        }
        loop {
            let elems = starts.iter().map(|start| self.g.elem(*start));
            let types: Vec<Type> = elems.zip(&shapes).map(|(elem, shape)| self.type_of(shape, elem)).collect();
            let saved = self.saved();
            let op = WhileOp::build(self.g.b, self.g.loc, &[], &[]);
            let region: Region = self.g.b.body().regions(op).nth(1).expect("a loop has two regions");
            let scalars = [self.type_of(&vec![], Type::I64), self.type_of(&vec![], Type::I1)];
            let scalars = &scalars[..1 + usize::from(rounds.condition.is_some())];
            let args: Vec<Type> = scalars.iter().chain(&types).copied().collect();
            let (block, (made, changed)) = self.region(region, &args, |of, args| {
                let condition = rounds.condition.map(|_| args[1]);
                let mut made = turn(of, args[0], condition, &args[scalars.len()..])?;
                let changed = of.changed(&shapes, &types, &made.carried, &varying)?;
                of.check_groups(&groups, &made.carried)?;
                of.bounded(&growing, &mut made.carried)?;
                Ok((made, changed))
            })?;
            let own = self.made_since(&saved);
            if changed.is_empty() {
                return Ok((Filled { op, block, turn: made, types }, own.into_iter().chain(varying).collect()));
            }
            self.g.b.erase_op(op);
            self.restore(saved);
            let mut fresh: Vec<(Option<Poly>, Option<Poly>, usize)> = Vec::new();
            for change in changed {
                let start = shapes[change.carried][change.dim].clone();
                let place = (change.carried, change.dim);
                let step = change.step.filter(|step| !mentions(step, &own) && !mentions(step, &varying));
                let growth = start.clone().zip(step).zip(rounds.most.clone());
                let together = growth.as_ref().and_then(|((start, step), _)| {
                    growing.iter_mut().find(|growth| growth.start == *start && growth.step == *step)
                });
                // What starts with one size and gets one size changes together.
                let alike = fresh
                    .iter()
                    .find(|(s, next, _)| s.is_some() && next.is_some() && *s == start && *next == change.next);
                let name = match (together, alike) {
                    (Some(growth), _) => {
                        growth.at.push(place);
                        growth.name.clone()
                    }
                    (None, Some((_, _, group))) => {
                        groups[*group].1.push(place);
                        groups[*group].0.clone()
                    }
                    (None, None) => {
                        let hint = format!("carried_{}_{}", change.carried, change.dim);
                        let name = self.new_size(&hint, (0, MOST_ROWS));
                        groups.push((name.clone(), vec![place]));
                        if growth.is_none() {
                            fresh.push((start, change.next, groups.len() - 1));
                        }
                        if let Some(((start, step), most)) = growth {
                            let most = most.greater(&Poly::default()).mul(&step).add(&start);
                            let most = self.g.env.facts.canonical(&most);
                            let at = vec![place];
                            // Made before the loop, where the sizes that say how many there are are known.
                            let places = self.counted(most)?;
                            growing.push(Growth { name: name.clone(), at, start, step, places });
                        }
                        varying.push(name.clone());
                        name
                    }
                };
                shapes[change.carried][change.dim] = Some(Poly::symbol(&name));
            }
        }
    }

    /// The dimensions of carried tensors that an iteration changes, beside those that are known to vary.
    fn changed(
        &mut self,
        shapes: &[SymShape],
        types: &[Type],
        carried: &[Value],
        varying: &[String],
    ) -> Made<Vec<Change>> {
        let mut changed = Vec::new();
        for (i, (value, shape)) in carried.iter().zip(shapes).enumerate() {
            let (elem, wanted) = (self.g.elem(*value), self.cx().element_type(types[i]));
            if elem != wanted {
                let (elem, wanted) = (self.name_of(elem), self.name_of(wanted));
                return wrong(format!("carries a tensor of {wanted}, and makes one of {elem} of it"));
            }
            let next = self.g.shape(*value);
            if next.len() != shape.len() {
                let (rank, next) = (shape.len(), next.len());
                return fail(format!("carries a tensor of rank {rank}, and makes one of rank {next} of it"));
            }
            for (dim, sizes) in shape.iter().zip(&next).enumerate() {
                let is_varying = sizes.0.as_ref().and_then(Poly::as_symbol);
                let is_varying = is_varying.is_some_and(|name| varying.iter().any(|own| own[..] == *name));
                let same = match sizes {
                    (Some(a), Some(b)) => self.g.env.facts.prove_equal(a, b),
                    _ => false,
                };
                if !same && !is_varying {
                    let facts = &self.g.env.facts;
                    let step = match sizes {
                        (Some(a), Some(b)) => Some(facts.canonical(&b.sub(a))).filter(|s| facts.range(s).0 >= 0),
                        _ => None,
                    };
                    let next = sizes.1.as_ref().map(|next| facts.canonical(next));
                    changed.push(Change { carried: i, dim, next, step });
                }
            }
        }
        Ok(changed)
    }

    /// That what has one varying size gets one again.
    fn check_groups(&self, groups: &[(String, Vec<(usize, usize)>)], carried: &[Value]) -> Made<()> {
        for (_, at) in groups {
            let mut sizes = at.iter().map(|(i, dim)| self.g.shape(carried[*i]).get(*dim).cloned().flatten());
            let first = sizes.next().flatten();
            let same = |size: Option<Poly>| match (&first, &size) {
                (Some(first), Some(size)) => self.g.env.facts.prove_equal(first, size),
                _ => false,
            };
            if at.len() > 1 && !sizes.all(same) {
                return fail("carries tensors whose sizes are equal at first and may differ later");
            }
        }
        Ok(())
    }

    /// What grows is no larger than its size after the last iteration, which memory is planned for: its elements are taken at as
    /// many places.
    fn bounded(&mut self, growing: &[Growth], carried: &mut [Value]) -> Made<()> {
        for Growth { name, at, step, places, .. } in growing {
            let next = Poly::symbol(name).add(step);
            let grows = |(i, dim): &(usize, usize)| {
                let size = self.g.shape(carried[*i])[*dim].clone();
                size.is_some_and(|size| self.g.env.facts.prove_equal(&size, &next))
            };
            if !at.iter().all(grows) {
                return fail(format!(
                    "carries a tensor that grows by {step} in its first iteration, and by another number in others"
                ));
            }
            let count = self.size_as_number(&next)?;
            let places = self.first_places(*places, count)?;
            for (i, dim) in at {
                carried[*i] = self.g.gather(carried[*i], places, *dim);
            }
        }
        Ok(())
    }

    /// The sizes of all rows together.
    fn stacked(&mut self, row: Value, count: Option<&Poly>, own: &[String]) -> Made<SymShape> {
        let what = "keeps a row for each of its iterations";
        let count = match count {
            Some(count) if count.as_const().is_none_or(|count| count <= MOST_ROWS) => count.clone(),
            Some(count) => return fail(format!("{what}, which may be {count}")),
            None => {
                return fail(format!("{what}, whose number depends on data; it must follow from constants or shapes"));
            }
        };
        let mut shape = vec![Some(count)];
        for (dim, size) in self.g.shape(row).into_iter().enumerate() {
            let inner = size.as_ref().is_none_or(|size| mentions(size, own));
            if inner {
                return fail(format!("{what}, and dim {dim} of a row has a size that is not known before the loop"));
            }
            shape.push(size);
        }
        Ok(shape)
    }

    /// The whole loop: the number of iterations, the condition, what is carried, and rows of these shapes.
    fn close(&mut self, rounds: &Rounds, starts: &[Value], filled: Filled, shapes: &[SymShape]) -> Made<Vec<Value>> {
        let Filled { op, block, turn, types } = filled;
        let point = self.g.b.insert_point();
        self.g.b.set_before(op);
        let mut inits = vec![self.integer(0)?];
        inits.extend(rounds.condition);
        for (start, ty) in starts.iter().zip(&types) {
            inits.push(self.as_type(*start, *ty));
        }
        for (shape, (row, _)) in shapes.iter().zip(&turn.rows) {
            let elem = self.g.elem(*row);
            let ty = self.type_of(shape, elem);
            let zeros = self.zeros(shape, elem)?;
            inits.push(self.as_type(zeros, ty));
        }
        let all: Vec<Type> = inits.iter().map(|init| self.g.b.body().ty(*init)).collect();
        // The end of an iteration.
        self.g.b.set_to_end(block);
        let args = self.g.b.body().block_args(block).to_vec();
        let mut next = vec![self.g.map(args[0], |s, number| {
            let one = s.int(1, Type::I64);
            s.add(number, one)
        })?];
        if rounds.condition.is_some() {
            next.push(turn.condition.unwrap_or(args[1]));
        }
        for (value, ty) in turn.carried.iter().zip(&types) {
            next.push(self.as_type(*value, *ty));
        }
        for (row, place) in &turn.rows {
            let ty = all[next.len()];
            let rows = self.g.b.add_block_arg(block, ty, self.g.loc);
            let place = self.g.reshape_to(*place, &[Some(1.into())])?;
            let written = self.g.scatter((rows, place, *row), None, Joined::Replace)?;
            next.push(self.as_type(written, ty));
        }
        YieldOp::build(self.g.b, self.g.loc, &next);
        // Whether there is one.
        let first: Region = self.g.b.body().regions(op).next().expect("a loop has two regions");
        self.region(first, &all, |of, args| {
            let more = match (rounds.limit, rounds.condition.map(|_| args[1])) {
                (None, Some(condition)) => condition,
                (Some(limit), None) => of.g.elementwise(&[args[0], limit], Type::I1, |s, args| {
                    s.compare(Comparison::Less, args[0], args[1])
                })?,
                (Some(limit), Some(condition)) => {
                    of.g.elementwise(&[args[0], limit, condition], Type::I1, |s, args| {
                        let less = s.compare(Comparison::Less, args[0], args[1]);
                        s.bits("arith.andi", less, args[2])
                    })?
                }
                (None, None) => return wrong("never ends"),
            };
            let flag = of.extracted(more);
            ConditionOp::build(of.g.b, of.g.loc, flag, args);
            Ok(())
        })?;
        self.g.b.set_insert_point(point);
        let whole = WhileOp::build(self.g.b, self.g.loc, &inits, &all);
        move_regions(self, op, whole);
        Ok(self.g.b.body().results(whole).collect())
    }
}

/// Goes through slices of tensors, and carries states.
#[derive(Debug)]
struct Scan<'m> {
    states: Vec<&'m str>,
    slices: Vec<Slices<'m>>,
    outputs: Vec<Stack>,
    body: TypedGraph<'m>,
    /// Whether the first dimension of all is one of samples, as version 8 has it.
    by_sample: bool,
    results: usize,
}

/// A tensor that is gone through along an axis.
#[derive(Clone, Copy, Debug)]
struct Slices<'m> {
    name: &'m str,
    axis: i64,
    reverse: bool,
}

/// Where the rows of a result go.
#[derive(Clone, Copy, Debug)]
struct Stack {
    axis: i64,
    reverse: bool,
}

fn scan<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let by_sample = r.interface.since < 9;
    if by_sample && r.optional(0).is_some() {
        return Err(unsupported("has `sequence_lens`, which is not supported"));
    }
    let inputs: Vec<&str> = r.node.inputs.iter().skip(usize::from(by_sample)).flatten().map(String::as_str).collect();
    let (body, number) = (r.graph("body")?, r.int("num_scan_inputs")?);
    let number = usize::try_from(number).ok().filter(|number| (1..=inputs.len()).contains(number));
    let Some(number) = number else {
        let given = r.int("num_scan_inputs")?;
        return Err(format!("has {given} `num_scan_inputs` of {} inputs", inputs.len()).into());
    };
    let states = inputs.len() - number;
    let (formal, made, results) = (body.graph.inputs.len(), body.graph.outputs.len(), r.node.outputs.len());
    if formal != inputs.len() {
        return Err(format!("has {} inputs, and a graph with {formal}", inputs.len()).into());
    }
    if made < states || results > made {
        return Err(format!("has {states} states and {results} outputs, and a graph with {made}").into());
    }
    let list = |name: &str, count: usize| -> Result<Vec<i64>, Reason> {
        let given = r.ints(name).map_or_else(|| vec![0; count], <[i64]>::to_vec);
        if given.len() != count {
            return Err(format!("has {} numbers in `{name}`, it must have {count}", given.len()).into());
        }
        Ok(given)
    };
    let directions = |name: &str, count: usize| -> Result<Vec<bool>, Reason> {
        let given = list(name, count)?;
        match given.iter().find(|way| !(0..=1).contains(*way)) {
            Some(way) => Err(format!("has {way} in `{name}`, it must be 0 or 1").into()),
            None => Ok(given.into_iter().map(|way| way == 1).collect()),
        }
    };
    let stacks = made - states;
    let (ways, axes, out_ways, out_axes) = match by_sample {
        true => (directions("directions", number)?, vec![0; number], vec![false; stacks], vec![0; stacks]),
        false => (
            directions("scan_input_directions", number)?,
            list("scan_input_axes", number)?,
            directions("scan_output_directions", stacks)?,
            list("scan_output_axes", stacks)?,
        ),
    };
    let slices = inputs[states..].iter().zip(axes.into_iter().zip(ways));
    let outputs = out_axes.into_iter().zip(out_ways);
    Ok(Conversion::op(Scan {
        states: inputs[..states].to_vec(),
        slices: slices.map(|(name, (axis, reverse))| Slices { name, axis, reverse }).collect(),
        outputs: outputs.map(|(axis, reverse)| Stack { axis, reverse }).collect(),
        body,
        by_sample,
        results,
    }))
}

impl<'m> Convert<'m> for Scan<'m> {
    fn results(&self) -> usize {
        self.results
    }

    fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        vec![&self.body]
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let mut states = Vec::new();
        for name in &self.states {
            states.push(importer.value(name)?);
        }
        let mut slices = Vec::new();
        for slice in &self.slices {
            slices.push(importer.value(slice.name)?);
        }
        let mut results = match self.by_sample {
            false => self.steps(importer, &states, &slices)?,
            true => self.samples(importer, &states, &slices)?,
        };
        results.truncate(self.results);
        Ok(results)
    }
}

impl<'m> Scan<'m> {
    /// A scan of each sample, one after the other.
    fn samples(&self, importer: &mut Importer<'m, '_, '_>, states: &[Value], slices: &[Value]) -> Made<Vec<Value>> {
        let all: Vec<Value> = states.iter().chain(slices).copied().collect();
        let count =
            shared(importer, &all.iter().map(|value| (*value, 0)).collect::<Vec<_>>(), "the number of samples")?;
        let limit = importer.size_as_number(&count)?;
        let rounds = Rounds { limit: Some(limit), condition: None, most: Some(count) };
        let looped = importer.looped(&rounds, &[], &mut |of, number, _, _| {
            let sample = |of: &mut Importer<'m, '_, '_>, value: &Value| of.g.gather(*value, number, 0);
            let states: Vec<Value> = states.iter().map(|state| sample(of, state)).collect();
            let slices: Vec<Value> = slices.iter().map(|slice| sample(of, slice)).collect();
            let made = self.steps(of, &states, &slices)?;
            Ok(Turn { condition: None, carried: Vec::new(), rows: made.into_iter().map(|row| (row, number)).collect() })
        })?;
        Ok(looped.rows)
    }

    fn steps(&self, importer: &mut Importer<'m, '_, '_>, states: &[Value], slices: &[Value]) -> Made<Vec<Value>> {
        let mut along = Vec::new();
        for (value, slice) in slices.iter().zip(&self.slices) {
            along.push((*value, importer.g.axis(slice.axis, importer.g.rank(*value))?));
        }
        let count = shared(importer, &along, "the number of steps")?;
        let limit = importer.size_as_number(&count)?;
        let rounds = Rounds { limit: Some(limit), condition: None, most: Some(count.clone()) };
        let looped = importer.looped(&rounds, states, &mut |of, number, _, carried| {
            let any = self.slices.iter().any(|s| s.reverse) || self.outputs.iter().any(|s| s.reverse);
            let back = match any {
                true => of.g.map(number, |s, number| {
                    let last = s.size(&count.sub(&1.into()));
                    let last = s.cast(last, Type::I64);
                    s.sub(last, number)
                })?,
                false => number,
            };
            let mut inputs: Vec<Item> = carried.iter().map(|value| Item::Tensor(*value)).collect();
            for ((value, axis), slice) in along.iter().zip(&self.slices) {
                let place = if slice.reverse { back } else { number };
                inputs.push(Item::Tensor(of.g.gather(*value, place, *axis)));
            }
            let mut values = Vec::new();
            for (item, info) in of.inlined(&self.body, &inputs)?.iter().zip(&self.body.graph.outputs) {
                match item {
                    Item::Tensor(value) => values.push(*value),
                    item => return fail(format!("has a graph that makes {} as `{}`", item.kind(), info.name)),
                }
            }
            let rows = values.split_off(carried.len());
            let rows = rows.into_iter().zip(&self.outputs);
            let rows = rows.map(|(row, stack)| (row, if stack.reverse { back } else { number })).collect();
            Ok(Turn { condition: None, carried: values, rows })
        })?;
        let mut results = looped.carried;
        for (rows, stack) in looped.rows.into_iter().zip(&self.outputs) {
            let rank = importer.g.rank(rows);
            let axis = importer.g.axis(stack.axis, rank)?;
            let mut order: Vec<usize> = (1..rank).collect();
            order.insert(axis, 0);
            results.push(if axis == 0 { rows } else { importer.g.transpose(rows, &order)? });
        }
        Ok(results)
    }
}

/// The size that dimensions of several tensors share.
fn shared(importer: &mut Importer<'_, '_, '_>, dims: &[(Value, usize)], what: &str) -> Made<Poly> {
    let mut size = None;
    for (value, dim) in dims {
        let Some(own) = importer.g.shape(*value).get(*dim).cloned() else {
            return wrong(format!("has a tensor of rank 0, which has no dimension for {what}"));
        };
        size = match size {
            None => own,
            known => importer.g.unify(&known, &own, || what.to_owned())?,
        };
    }
    match size {
        Some(size) => Ok(size),
        None => fail(format!("does not know {what}")),
    }
}
