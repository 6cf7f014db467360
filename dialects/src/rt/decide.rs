//! Sizes that data decide: which calls of routines decide them, when each symbol is known, and what bounds it before.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use sutura_ir::{Body, Op, OpRef, OpView, Value};

use super::bind::{Check, Condition, Quantity, Step, Unsolvable, Words};
use super::call::CallOp;
use super::ops::{InvokeOp, ReadSizesOp};
use super::program::ProgramInfo;
use super::types::BufferType;
use crate::r#dyn::Bounds;
use crate::r#dyn::facts::{Facts, MAX_DIM};
use crate::r#dyn::poly::Poly;

/// What decides sizes: a call of a routine, sizes that are read behind a condition or in a loop, or another program whose outputs have
/// sizes that data decide.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The `rt.call`, `rt.read_sizes` or `rt.invoke`.
    pub op: Op,
    /// What messages call it.
    pub what: String,
    /// What it does to sizes.
    verb: &'static str,
    /// The sizes, as the program has them.
    pub sizes: Vec<Poly>,
    /// The most that each of them is.
    pub most: Vec<Poly>,
    /// The parameter of the routine that each of them is.
    pub params: Vec<usize>,
    /// Where they are found; another program tells its own.
    pub list: Option<Value>,
    /// It stands in a condition or a loop, and so do all that use what it decides.
    pub nested: bool,
}

impl Decision {
    /// What an op decides; `None` for one that decides nothing, or is not as the table of routines says.
    pub fn of(op: OpRef<'_>) -> Option<Self> {
        match () {
            () if op.is::<CallOp<'_>>() => Self::of_call(CallOp::from_ref(op)),
            () if op.is::<ReadSizesOp<'_>>() => Some(Self::of_list(ReadSizesOp::from_ref(op))),
            () if op.is::<InvokeOp<'_>>() => Self::of_invoke(InvokeOp::from_ref(op)),
            () => None,
        }
    }

    fn of_list(read: ReadSizesOp<'_>) -> Self {
        let op = read.op_ref();
        let (sizes, most, nested) = (read.sizes(), read.most(), op.body.parent_op(op.op).is_some());
        let (what, list) = (read.what().to_owned(), Some(read.list()));
        Self { op: op.op, what, verb: "makes", sizes, most, params: Vec::new(), list, nested }
    }

    fn of_invoke(invoke: InvokeOp<'_>) -> Option<Self> {
        let (op, most) = (invoke.op_ref(), invoke.most()?);
        let types = invoke.outputs().filter_map(|value| BufferType::of(op.cx, op.ty(value)));
        let sizes: Vec<Poly> = types.flat_map(|ty| ty.dims.iter().cloned()).collect();
        let (what, nested) = (format!("'@{}'", invoke.callee()), op.body.parent_op(op.op).is_some());
        let fits = sizes.len() == most.len();
        fits.then(|| Self { op: op.op, what, verb: "makes", sizes, most, params: Vec::new(), list: None, nested })
    }

    fn of_call(call: CallOp<'_>) -> Option<Self> {
        let (op, routine) = (call.op_ref(), call.declaration().ok()?);
        if !routine.decides() {
            return None;
        }
        let numbers = call.numbers(routine).ok()?;
        let (mut sizes, mut most, mut params) = (Vec::new(), Vec::new(), Vec::new());
        for (param, bound) in call.bounds(routine, &numbers) {
            sizes.push(numbers.get(param)?.first()?.clone());
            most.push(bound?);
            params.push(param);
        }
        let what = call.what().map_or_else(|| format!("the routine '{}'", routine.name), str::to_owned);
        let (list, nested) = (Some(call.outputs().last()?), op.body.parent_op(op.op).is_some());
        Some(Self { op: op.op, what, verb: "finds", sizes, most, params, list, nested })
    }

    /// What messages call one of the sizes.
    pub fn words(&self, index: usize) -> String {
        match self.sizes.len() {
            1 => format!("the size that {} {}", self.what, self.verb),
            _ => format!("size {index} of those that {} {}", self.what, self.verb),
        }
    }
}

/// When the symbols of a program are known, and what bounds those that data decide.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Phases {
    /// For each symbol after how many decisions it is known: 0 before the run.
    of: Vec<usize>,
    names: FxHashMap<String, usize>,
    /// Of each symbol that is not known before the run a bound over those that are.
    bounds: Bounds,
    facts: Facts,
    inputs: usize,
}

impl Phases {
    pub(super) fn new(program: &ProgramInfo<'_>, facts: &Facts) -> Self {
        let names = program.symbols.iter().enumerate().map(|(i, symbol)| (symbol.name.clone(), i)).collect();
        let of = vec![0; program.symbols.len()];
        Self { of, names, bounds: Bounds::default(), facts: facts.clone(), inputs: program.inputs.len() }
    }

    /// The numbers of the decisions that tell symbols of a size.
    fn decisions_of(&self, size: &Poly) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        size.each_symbol(&mut |name| {
            found.extend(self.names.get(&**name).and_then(|at| self.of[*at].checked_sub(1)));
        });
        found
    }

    /// The numbers of the decisions that a step looks at.
    fn decisions_of_step(&self, step: &Step) -> BTreeSet<usize> {
        let quantity = |quantity: &Quantity| {
            let mut found = self.decisions_of(&quantity.plus);
            found.extend(quantity.dim.and_then(|(input, _)| input.checked_sub(self.inputs)));
            found
        };
        match step {
            Step::Solve { quantity: from, factor, .. } => &quantity(from) | &self.decisions_of(factor),
            Step::Check(check) => {
                let other = match &check.condition {
                    Condition::Equal(other) | Condition::Compatible(other) | Condition::AtLeast(other) => {
                        quantity(other)
                    }
                    Condition::MultipleOf(size) => self.decisions_of(size),
                    Condition::Within(..) | Condition::Fits => BTreeSet::new(),
                };
                &quantity(&check.quantity) | &other
            }
        }
    }

    /// After how many decisions a size is known.
    pub fn of_size(&self, size: &Poly) -> usize {
        let mut phase = 0;
        size.each_symbol(&mut |name| phase = phase.max(self.names.get(&**name).map_or(0, |at| self.of[*at])));
        phase
    }

    fn of_quantity(&self, quantity: &Quantity) -> usize {
        let dim = quantity.dim.map_or(0, |(input, _)| (input + 1).saturating_sub(self.inputs));
        dim.max(self.of_size(&quantity.plus))
    }

    /// After how many decisions a check can be made.
    pub fn of_check(&self, check: &Check) -> usize {
        let other = match &check.condition {
            Condition::Equal(other) | Condition::Compatible(other) | Condition::AtLeast(other) => {
                self.of_quantity(other)
            }
            Condition::MultipleOf(size) => self.of_size(size),
            Condition::Within(..) | Condition::Fits => 0,
        };
        other.max(self.of_quantity(&check.quantity))
    }

    /// Whether the symbol is known before the run.
    pub fn is_told(&self, symbol: usize) -> bool {
        self.of[symbol] == 0
    }

    /// A size over symbols that are known before the run which is at least this one in every run.
    ///
    /// # Errors
    /// When none can be told.
    pub fn most(&self, size: &Poly) -> Result<Poly, String> {
        if self.of_size(size) == 0 {
            return Ok(size.clone());
        }
        self.bounds.most(&self.facts, size)
    }

    /// A symbol is solved in a step that may come after decisions.
    fn solve(
        &mut self,
        program: &ProgramInfo<'_>,
        symbol: usize,
        quantity: &Quantity,
        factor: &Poly,
    ) -> Result<(), String> {
        let phase = self.of_quantity(quantity).max(self.of_size(factor));
        self.of[symbol] = phase;
        if phase == 0 {
            return Ok(());
        }
        let info = &program.symbols[symbol].info;
        let name = &program.symbols[symbol].name;
        // Until it has a bound, what is made of it has none.
        self.bounds.open(name);
        let bound = |size: &Poly| self.bounds.bound(&self.facts, size, true);
        let whole = match quantity.dim {
            Some((input, axis)) if input >= self.inputs => {
                let most = self.most(&program.decisions[input - self.inputs].most[axis])?;
                most.add(&bound(&quantity.plus)?)
            }
            Some((input, _)) => {
                return Err(format!("data decide a part of a size of input '{}'", program.inputs[input].name));
            }
            None => bound(&quantity.plus)?,
        };
        let mut most = factor.as_const().map_or_else(|| whole.clone(), |factor| whole.floordiv(factor));
        if info.max < MAX_DIM {
            most = most.lesser(&info.max.into());
        }
        if most.excess().is_some() {
            return Err(format!("the bound of `{name}` is too large"));
        }
        self.bounds.define(name, most);
        Ok(())
    }
}

/// The steps of a solution by the time at which they are made: before the run, and after each decision.
pub(super) struct Timed {
    pub(super) steps: Vec<Step>,
    pub(super) late: Vec<Vec<Step>>,
    pub(super) places: Vec<Vec<Poly>>,
    pub(super) phases: Phases,
}

/// Sorts steps by the time at which what they need is known. The order stays otherwise.
pub(super) fn timed(program: &ProgramInfo<'_>, facts: &Facts, steps: Vec<Step>) -> Result<Timed, Unsolvable> {
    let mut phases = Phases::new(program, facts);
    let mut sorted: Vec<Vec<Step>> = vec![Vec::new(); program.decisions.len() + 1];
    for step in steps {
        let phase = match &step {
            Step::Check(check) => {
                let phase = phases.of_check(check);
                let of_input = check.quantity.dim.filter(|(input, _)| phase > 0 && *input < program.inputs.len());
                if let Some((input, _)) = of_input {
                    let name = &program.inputs[input].name;
                    return Err(Unsolvable::Late(format!("data decide a part of a size of input '{name}'")));
                }
                phase
            }
            Step::Solve { symbol, quantity, factor } => {
                phases.solve(program, *symbol, quantity, factor).map_err(Unsolvable::Late)?;
                phases.of[*symbol]
            }
        };
        sorted[phase].push(step);
    }
    let order = Order::of(program);
    for (i, decision) in program.decisions.iter().enumerate() {
        let known = |other: &usize| *other == i || order.is_before(program.decisions[*other].op, decision.op);
        let needed = sorted[i + 1].iter().flat_map(|step| phases.decisions_of_step(step));
        let needed = needed.chain(decision.most.iter().flat_map(|most| phases.decisions_of(most)));
        if let Some(other) = needed.into_iter().find(|other| !known(other)) {
            let (this, other) = (decision.words(0), program.decisions[other].words(0));
            return Err(Unsolvable::Late(format!("{this} depends on {other}, which may not be known there")));
        }
    }
    // What is stated holds of all runs, and a size that a condition or a loop decides is in some of them.
    for constraint in &program.constraints {
        let decisions = &phases.decisions_of(&constraint.left) | &phases.decisions_of(&constraint.right);
        if let Some(at) = decisions.into_iter().find(|at| program.decisions[*at].nested) {
            let words = program.decisions[at].words(0);
            return Err(Unsolvable::Late(format!("a check of the program is about {words}, in a condition or a loop")));
        }
    }
    let mut places = Vec::with_capacity(program.decisions.len());
    for (i, decision) in program.decisions.iter().enumerate() {
        let mut own = Vec::with_capacity(decision.sizes.len());
        for (axis, (size, most)) in decision.sizes.iter().zip(&decision.most).enumerate() {
            let bounds = phases.most(size).and_then(|size| Ok(phases.most(most)?.lesser(&size)));
            let bound = bounds.map_err(Unsolvable::Late)?;
            if phases.of_size(most) > i {
                return Err(Unsolvable::Late(format!("{} is decided before what bounds it", decision.words(axis))));
            }
            let found = Quantity::dim(program.inputs.len() + i, axis);
            let words = |right: &str| Words { dim: None, left: decision.words(axis), right: right.to_owned() };
            let not_negative = Check {
                quantity: found.clone(),
                condition: Condition::Within(0, i64::MAX),
                words: words("sizes that are not negative"),
            };
            let left = format!("the number of places for {}", decision.words(axis));
            let fits = Check {
                quantity: Quantity::size(bound.clone()),
                condition: Condition::AtLeast(found),
                words: Words { dim: None, left, right: decision.words(axis) },
            };
            let steps = &mut sorted[i + 1];
            steps.insert(0, Step::Check(not_negative));
            // One that should be another one says which, before there is no place.
            let at = if phases.of_size(size) > i { 1 } else { steps.len() };
            steps.insert(at, Step::Check(fits));
            own.push(bound);
        }
        places.push(own);
    }
    let mut sorted = sorted.into_iter();
    let steps = sorted.next().unwrap_or_default();
    Ok(Timed { steps, late: sorted.collect(), places, phases })
}

/// Which ops are made before others, whichever way a program takes.
struct Order<'a> {
    body: &'a Body,
    number: FxHashMap<Op, usize>,
}

impl<'a> Order<'a> {
    fn of(program: &ProgramInfo<'a>) -> Self {
        let body = program.block.body;
        let ops = if program.decisions.is_empty() { Vec::new() } else { body.preorder().collect() };
        Self { body, number: ops.into_iter().enumerate().map(|(number, op)| (op, number)).collect() }
    }

    /// True where `first` stands before `op`, or before what `op` lies in, in one block.
    fn is_before(&self, first: Op, op: Op) -> bool {
        let block = self.body.op_block(first);
        let mut around = std::iter::successors(Some(op), |op| self.body.parent_op(*op));
        let beside = around.find(|op| self.body.op_block(*op) == block);
        beside.is_some_and(|op| op != first && self.number[&first] < self.number[&op])
    }
}

/// The first size that an op of the program uses where it is not known, with the op.
pub(super) fn used_too_early<'a>(program: &ProgramInfo<'a>, phases: &Phases) -> Option<(OpRef<'a>, Poly)> {
    if program.decisions.is_empty() {
        return None;
    }
    let (order, block) = (Order::of(program), program.block);
    let ops = block.body.preorder().map(|op| OpRef::new(block.cx, block.body, op));
    for op in ops {
        // What makes no more than a name for memory needs none of its sizes, but all of them must be known somewhere.
        let named = op.result_types().filter_map(|ty| BufferType::of(op.cx, ty)).flat_map(|ty| ty.dims.iter().cloned());
        let named: BTreeSet<usize> = named.flat_map(|size| phases.decisions_of(&size)).collect();
        let at = |index: &usize| program.decisions[*index].op;
        let last = named.iter().next_back().map(at);
        let apart = |index: &usize| last.is_some_and(|last| at(index) != last && !order.is_before(at(index), last));
        if named.iter().any(apart) {
            let ty = op.result_types().find_map(|ty| BufferType::of(op.cx, ty));
            return Some((op, ty.map(BufferType::elements).unwrap_or_default()));
        }
        for size in super::verify::sizes_of(op) {
            let known = |index: &usize| at(index) == op.op || order.is_before(at(index), op.op);
            if !phases.decisions_of(&size).iter().all(known) {
                return Some((op, size));
            }
        }
    }
    None
}

/// An output with a size that a condition or a loop decides, which is not known behind it.
pub(super) fn undecided_output<'p>(program: &'p ProgramInfo<'_>, phases: &Phases) -> Option<(&'p str, &'p Poly)> {
    let sizes = program.outputs.iter().flat_map(|port| port.ty.dims.iter().map(|size| (&port.name[..], size)));
    let nested = |size: &Poly| phases.decisions_of(size).iter().any(|index| program.decisions[*index].nested);
    sizes.into_iter().find(|(_, size)| nested(size))
}

/// A buffer's bytes for the most that its sizes may be.
///
/// # Errors
/// When nothing bounds them.
pub fn planned_bytes(cx: &sutura_ir::Context, ty: &BufferType, phases: &Phases) -> Result<Poly, String> {
    phases.most(&ty.bytes(cx))
}
