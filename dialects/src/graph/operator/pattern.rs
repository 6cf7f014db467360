//! What the decomposition of an operator looks like, read from its declaration: so that an op which says that it makes the
//! result of an operator is believed only where the ops that the declaration lists still stand there.
//!
//! No op is known here by name: a pattern is the body of a declaration, and what is compared with it are ops as they are.

use std::sync::OnceLock;

use sutura_ir::asm::print::{attr_text, type_text};
use sutura_ir::{BlockRef, Body, Context, Op, OpRef, Value};

use super::super::combine::Combiner;
use super::super::ops::YieldOp;
use super::super::structured::ComputeForm;
use super::library::{read_once, with_word};
use super::{Operator, OperatorOp};

/// The attribute of an op that makes the result of an operator which leaves its name.
pub const LEFT_NAME: &str = "graph.operator";

/// The operator whose result `op` says that it makes.
pub fn left_name<'a>(op: OpRef<'a>) -> Option<&'a str> {
    op.attr(LEFT_NAME).and_then(|name| op.cx.as_str(name))
}

/// A number of a decomposition; elementwise ops are seen through.
#[derive(Clone, Debug)]
enum Node {
    /// An element of the operator's input.
    Input,
    /// A scalar op on numbers.
    Scalar(Scalar, Vec<usize>),
    /// What the numbers along the axis are combined to.
    Combined(Combiner, usize),
}

/// What a scalar op is, in text: the declaration lies in another context.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Scalar {
    name: String,
    /// Properties, but for what only says which roundings are allowed.
    properties: Vec<(String, String)>,
    ty: String,
}

impl Scalar {
    fn of(op: OpRef<'_>) -> Self {
        let entries = op.cx.entries(op.body.props(op.op)).iter();
        let mut properties: Vec<(String, String)> = entries
            .map(|entry| (op.cx.str(entry.name).to_string(), attr_text(op.cx, entry.value)))
            .filter(|(name, _)| name != "fastmath")
            .collect();
        properties.sort_unstable();
        Self { name: op.name_str().to_string(), properties, ty: type_text(op.cx, op.ty(op.result(0))) }
    }
}

/// The decomposition of an operator of one input and one result, which combines along one axis.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The operator.
    pub name: String,
    nodes: Vec<Node>,
    /// The number that the operator makes.
    result: usize,
}

/// An op that makes a tensor, as what searches for a pattern sees it.
#[derive(Clone)]
pub struct Made<'a> {
    /// The op.
    pub op: Op,
    /// Its function.
    pub body: BlockRef<'a>,
    /// The number that becomes an element of the tensor.
    pub yielded: Value,
    /// How numbers along the axis are combined; `None` for an elementwise op.
    pub combiner: Option<Combiner>,
    /// What is read, for each argument of the function, and whether all along the axis read one number of it.
    pub inputs: Vec<(Value, bool)>,
}

/// Where a pattern is searched for.
pub trait Site<'a> {
    /// What makes a tensor, read along the axis or, where `row`, once for all along it. `None` for what is not elementwise,
    /// or not read where it is made, and for what comes from elsewhere.
    fn made(&mut self, tensor: Value, row: bool) -> Option<Made<'a>>;
}

/// A decomposition that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The tensor that the operator is applied to.
    pub input: Value,
    /// The ops that it stands for.
    pub ops: Vec<Op>,
    /// Ops between [`Self::input`] and what makes its numbers, that one included.
    pub before: Vec<Op>,
}

impl Pattern {
    /// The decomposition of a declaration; `None` if it is no such operator.
    fn of(op: OpRef<'_>) -> Option<Self> {
        let declared = op.as_::<OperatorOp<'_>>().filter(|declared| declared.leaves_name().is_some())?;
        let operator = Operator::read(op).ok()?;
        let entry = op.region(0)?.entry()?;
        let ([_], [input]) = (&operator.results[..], entry.args()) else { return None };
        let mut pattern = Self { name: declared.sym_name().to_string(), nodes: Vec::new(), result: 0 };
        let end = entry.ops().last().filter(|end| end.is::<YieldOp<'_>>())?;
        pattern.result = pattern.tensor(entry, *input, end.operand(0))?;
        let over_input =
            |node: &Node| matches!(node, Node::Combined(_, of) if matches!(pattern.nodes[*of], Node::Input));
        pattern.nodes.iter().any(over_input).then_some(pattern)
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// The number that an element of a tensor of a declaration is.
    fn tensor(&mut self, entry: BlockRef<'_>, input: Value, value: Value) -> Option<usize> {
        if value == input {
            return Some(self.push(Node::Input));
        }
        let form = ComputeForm::of(OpRef::new(entry.cx, entry.body, entry.body.defining_op(value)?))?;
        let plain = form.joint.is_none() && form.oob.iter().all(Option::is_none) && form.results().len() == 1;
        let yielded = form.yielded().filter(|_| plain)?.operand(0);
        let number = self.scalar(entry, input, &form, yielded)?;
        match form.combiners[..] {
            [] => Some(number),
            [combiner] => Some(self.push(Node::Combined(combiner, number))),
            _ => None,
        }
    }

    fn scalar(&mut self, entry: BlockRef<'_>, input: Value, form: &ComputeForm<'_>, value: Value) -> Option<usize> {
        if let Some(i) = form.body.args().iter().position(|arg| *arg == value) {
            return self.tensor(entry, input, form.op.operand(i));
        }
        let op = form.op.at(form.op.body.defining_op(value)?);
        let operands = op.operands().map(|v| self.scalar(entry, input, form, v)).collect::<Option<_>>()?;
        Some(self.push(Node::Scalar(Scalar::of(op), operands)))
    }

    /// Looks for the decomposition whose result is `tensor`.
    pub fn find<'a>(&self, body: &'a Body, cx: &'a Context, tensor: Value, site: &mut dyn Site<'a>) -> Option<Found> {
        let mut search = Search { pattern: self, cx, body, site, passed: Vec::new(), inputs: Vec::new(), read: None };
        let number = search.tensor(tensor, false);
        if !search.is_node(self.result, &number) {
            return None;
        }
        // All numbers of the input are elements of one tensor: the one that is combined as it is.
        let input = search.read?;
        let mut ops = std::mem::take(&mut search.passed);
        let number = search.tensor(input, false).value;
        let before = std::mem::take(&mut search.passed);
        ops.retain(|op| !before.contains(op));
        search.inputs.iter().all(|found| *found == number).then_some(Found { input, ops, before })
    }
}

/// The patterns of all operators of the library that leave their name.
pub fn patterns() -> &'static [Pattern] {
    static PATTERNS: OnceLock<Vec<Pattern>> = OnceLock::new();
    read_once(&PATTERNS, || {
        let cx = Context::new(crate::all());
        let mut found: Vec<Pattern> = Vec::new();
        for module in with_word(&cx, "leaves_name") {
            let body = module.body();
            for op in body.entry_block().into_iter().flat_map(|block| body.ops(block)) {
                let pattern = Pattern::of(OpRef::new(&cx, body, op));
                found.extend(pattern.filter(|new| found.iter().all(|old| old.name != new.name)));
            }
        }
        found
    })
}

/// The pattern of an operator of the library.
pub fn pattern(name: &str) -> Option<&'static Pattern> {
    patterns().iter().find(|pattern| pattern.name == name)
}

/// A number of a program: the result of a scalar op in the function of an op, or an element of a tensor.
#[derive(Clone)]
struct Number<'a> {
    value: Value,
    within: Option<Made<'a>>,
}

struct Search<'s, 'a> {
    pattern: &'s Pattern,
    cx: &'a Context,
    body: &'a Body,
    site: &'s mut dyn Site<'a>,
    /// Ops that were seen through.
    passed: Vec<Op>,
    /// Numbers that stand where the input's must.
    inputs: Vec<Value>,
    /// The tensor that is combined as it is.
    read: Option<Value>,
}

impl<'a> Search<'_, 'a> {
    /// Where an element of a tensor comes from, seen through elementwise ops.
    fn tensor(&mut self, value: Value, row: bool) -> Number<'a> {
        match self.site.made(value, row) {
            Some(made) if made.combiner.is_none() => {
                self.pass(made.op);
                let yielded = made.yielded;
                self.scalar(&made, yielded)
            }
            _ => Number { value, within: None },
        }
    }

    fn pass(&mut self, op: Op) {
        if !self.passed.contains(&op) {
            self.passed.push(op);
        }
    }

    fn scalar(&mut self, made: &Made<'a>, value: Value) -> Number<'a> {
        match made.body.args().iter().position(|arg| *arg == value) {
            Some(i) => {
                let (tensor, row) = made.inputs[i];
                self.tensor(tensor, row)
            }
            None => Number { value, within: Some(made.clone()) },
        }
    }

    fn is_node(&mut self, node: usize, number: &Number<'a>) -> bool {
        match &self.pattern.nodes[node] {
            Node::Input => {
                self.inputs.push(number.value);
                true
            }
            Node::Scalar(wanted, operands) => {
                let Some(made) = &number.within else { return false };
                let Some(op) = self.body.defining_op(number.value) else { return false };
                let op = OpRef::new(self.cx, self.body, op);
                if op.name_str() != wanted.name || op.num_operands() != operands.len() || Scalar::of(op) != *wanted {
                    return false;
                }
                operands.iter().zip(op.operands()).all(|(operand, value)| {
                    let number = self.scalar(made, value);
                    self.is_node(*operand, &number)
                })
            }
            Node::Combined(combiner, of) => {
                let (combiner, of) = (*combiner, *of);
                if number.within.is_some() {
                    return false;
                }
                let Some(made) = self.site.made(number.value, true) else { return false };
                if made.combiner != Some(combiner) {
                    return false;
                }
                self.pass(made.op);
                if matches!(self.pattern.nodes[of], Node::Input) {
                    let arg = made.body.args().iter().position(|arg| *arg == made.yielded);
                    // What is combined is the input as it is, every time.
                    let Some((tensor, false)) = arg.map(|i| made.inputs[i]) else { return false };
                    if self.read.is_some_and(|read| read != tensor) {
                        return false;
                    }
                    self.read = Some(tensor);
                }
                let next = self.scalar(&made, made.yielded);
                self.is_node(of, &next)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::library;
    use super::*;

    /// Only texts with the word are read, which no operator of another text has.
    #[test]
    fn every_operator_that_leaves_its_name_has_a_pattern() {
        let cx = Context::new(crate::all());
        let mut leaving: Vec<String> = Vec::new();
        for module in library(&cx, &|_| true) {
            let body = module.body();
            let ops = body.entry_block().into_iter().flat_map(|block| body.ops(block));
            let ops = ops
                .map(|op| OpRef::new(&cx, body, op))
                .filter(|op| op.as_::<OperatorOp<'_>>().is_some_and(|o| o.leaves_name().is_some()));
            leaving.extend(ops.filter_map(|op| op.symbol_name().map(str::to_owned)));
        }
        leaving.sort();
        leaving.dedup();
        let mut found: Vec<&str> = patterns().iter().map(|pattern| &*pattern.name).collect();
        found.sort();
        assert_eq!(found, leaving);
        assert!(!found.is_empty());
    }
}
