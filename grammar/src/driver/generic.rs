//! Operations in generic form.

use smallvec::SmallVec;

use sutura_ir::attrs::Attr;
use sutura_ir::body::{Block, Value};
use sutura_ir::diagnostics::{Reported, codes};
use sutura_ir::types::Type;

use super::{Completion, Driver, OpStart, OpenOp, ResultName};
use crate::reader::is_plain;
use crate::rules::{Node, Nodes, Rule, Span};
use crate::units::Unit;

const OPERANDS_END: &str = "expected ')' to end operand list";
pub(super) const NO_OPERAND: &str = "expected SSA operand";
const NO_NUMBER: &str = "invalid SSA value result number";
const NO_BLOCK: &str = "expected block name";

/// An operand as written.
#[derive(Clone, Copy)]
struct Operand<'t> {
    name: &'t str,
    number: u32,
    at: usize,
}

/// An op in generic form up to its first region.
pub(super) struct GenericOp<'t> {
    pub(super) start: OpStart<'t>,
    operands: SmallVec<[Operand<'t>; 4]>,
    successors: SmallVec<[Block; 2]>,
    props: Attr,
}

impl<'t> Driver<'t> {
    pub(super) fn generic_op(
        &mut self,
        name: &Node<'t>,
        results: SmallVec<[ResultName<'t>; 1]>,
        mut children: Nodes<'t>,
    ) -> Result<(), Reported> {
        let text = self.generic_name(name)?;
        let start = self.op_start(text, name.start() - 1, results)?;
        let mut op =
            GenericOp { start, operands: SmallVec::new(), successors: SmallVec::new(), props: Attr::EMPTY_DICT };
        let mut end = name.span().end + 1;
        while let Some(value) = children.take_rule(Rule::value) {
            if self.reader.text.as_bytes()[value.start() - 1] == b'#' {
                self.result_number(&value, end, &mut op.operands)?;
            } else {
                let operand = self.operand(&value)?;
                match op.operands.is_empty() {
                    true => self.check_no_comma(end, operand.at, OPERANDS_END)?,
                    false => self.check_comma(end, operand.at, OPERANDS_END)?,
                }
                op.operands.push(operand);
            }
            end = value.span().end;
        }
        self.check_list_end(end, op.operands.is_empty())?;
        let mut seen_props = false;
        while let Some(rule) = children.peek_rule() {
            let Some(node) = children.take_rule(rule) else { break };
            match rule {
                Rule::succs => self.successors(node, &mut op.successors)?,
                Rule::props | Rule::any_props => {
                    if std::mem::replace(&mut seen_props, true) {
                        return Err(self.reader.error(node.start(), "properties are written twice"));
                    }
                    op.props = match rule {
                        Rule::props => self.reader.props(node.span())?,
                        _ => self.reader.any_props(node.span())?,
                    };
                }
                Rule::gopen => {
                    let at = node.span().end - 1;
                    self.enter_op_body(&mut op.start);
                    self.open_generic_region(op, at);
                    return Ok(());
                }
                _ => return self.generic_tail(op, node, children),
            }
        }
        unreachable!("the rule ends in a region or a type")
    }

    /// The name of an op without quotes and escapes.
    fn generic_name(&mut self, node: &Node<'t>) -> Result<&'t str, Reported> {
        let text = node.text();
        if text.is_empty() {
            return Err(self.reader.error(node.start() - 1, "empty operation name is invalid"));
        }
        if is_plain(text) {
            return Ok(text);
        }
        let quoted = Span::new(node.start() - 1, node.span().end + 1);
        let name = self.reader.unescape(quoted)?;
        let cx = self.cx();
        Ok(cx.str(cx.ident(&name)))
    }

    fn open_generic_region(&mut self, op: GenericOp<'t>, at: usize) {
        let default = op.start.name.def(self.cx()).and_then(|d| d.default_dialect).unwrap_or_default();
        self.open_region(OpenOp::Generic(Box::new(op)), at, default);
    }

    fn operand(&mut self, node: &Node<'t>) -> Result<Operand<'t>, Reported> {
        let (text, at) = (node.text(), node.start() - 1);
        let Some((name, number)) = text.split_once('#') else { return Ok(Operand { name: text, number: 0, at }) };
        match number.parse() {
            Ok(number) if !name.is_empty() => Ok(Operand { name, number, at }),
            _ => Err(self.reader.error(at, NO_NUMBER)),
        }
    }

    /// `#1` behind blanks after the operand that ends at `end`: which result that is.
    fn result_number(
        &mut self,
        node: &Node<'t>,
        end: usize,
        operands: &mut SmallVec<[Operand<'t>; 4]>,
    ) -> Result<(), Reported> {
        let at = node.start() - 1;
        self.check_no_comma(end, at, NO_OPERAND)?;
        // An operand has one number at most.
        let last = operands.last_mut().filter(|last| last.at + 1 + last.name.len() == end);
        let Some(last) = last else { return Err(self.reader.missing(at, OPERANDS_END)) };
        match node.text().parse() {
            Ok(number) => last.number = number,
            Err(_) => return Err(self.reader.error(at, NO_NUMBER)),
        }
        Ok(())
    }

    /// Checks that a list of operands, read up to `end`, is closed without a further comma.
    fn check_list_end(&mut self, end: usize, is_empty: bool) -> Result<(), Reported> {
        let bytes = self.reader.text.as_bytes();
        if bytes[end] == b')' {
            return Ok(());
        }
        if !is_empty {
            return self.check_last(Span::new(end, bytes.len()), b')', NO_OPERAND);
        }
        let close = memchr::memchr(b')', &bytes[end..]).map_or(bytes.len(), |n| end + n);
        self.check_no_comma(end, close, OPERANDS_END)
    }

    fn successors(&mut self, node: Node<'t>, into: &mut SmallVec<[Block; 2]>) -> Result<(), Reported> {
        let (mut end, close) = (node.start(), node.span().end);
        for block in node.children() {
            let at = block.start() - 1;
            match into.is_empty() {
                true => self.check_no_comma(end, at, NO_BLOCK)?,
                false => self.check_comma(end, at, "expected ',' or ']'")?,
            }
            let target = self.successor(block.text(), at);
            into.push(target);
            end = block.span().end;
        }
        if into.is_empty() {
            return Err(self.reader.error(end, "expected list element"));
        }
        self.check_last(Span::new(end, close), b']', NO_BLOCK)
    }

    /// Attributes, type and location, beginning with `node`.
    fn generic_tail(&mut self, op: GenericOp<'t>, node: Node<'t>, rest: Nodes<'t>) -> Result<(), Reported> {
        let mut attrs = Attr::EMPTY_DICT;
        let mut loc = self.reader.loc(op.start.at);
        let mut function = None;
        for node in std::iter::once(node).chain(rest) {
            match node.rule() {
                Rule::dict => attrs = self.reader.dict(node.span())?,
                Rule::fn_type => function = Some(node.span()),
                Rule::loc_rest => {
                    let span = node.span();
                    loc = self.reader.location(Span::new(span.start - "loc".len(), span.end))?;
                }
                _ => {}
            }
        }
        let function = function.expect("the rule ends in a type");
        self.complete_generic(op, attrs, function, loc)
    }

    fn complete_generic(
        &mut self,
        op: GenericOp<'t>,
        attrs: Attr,
        function: Span,
        loc: sutura_ir::Loc,
    ) -> Result<(), Reported> {
        let (inputs, results) = self.reader.function(function)?;
        let cx = self.cx();
        let (inputs, results) = (cx.types(inputs), cx.types(results));
        if inputs.len() != op.operands.len() {
            let message = format!("expected {} operand types but had {}", op.operands.len(), inputs.len());
            return Err(self.reader.coded(codes::OPERAND_TYPES, function.start, message));
        }
        // The operands of an isolated op are outside its body.
        let inside = if op.start.entered { self.levels.pop() } else { None };
        let operands = self.operands(&op.operands, inputs);
        self.levels.extend(inside);
        let operands = operands?;
        let (props, attrs) = self.split_props(op.start.name, op.props, attrs);
        let parts = Completion { operands: &operands, types: results, successors: &op.successors, props, attrs, loc };
        self.complete(op.start, parts).map(|_| ())
    }

    fn operands(&mut self, operands: &[Operand<'t>], types: &[Type]) -> Result<SmallVec<[Value; 4]>, Reported> {
        operands.iter().zip(types).map(|(o, ty)| self.value(o.name, o.number, *ty, o.at)).collect()
    }

    /// After a region: the next one, or the rest of the op.
    pub(super) fn resume_generic(
        &mut self,
        op: Box<GenericOp<'t>>,
        blocks: Vec<Block>,
        unit: Unit<'t>,
    ) -> Result<(), Reported> {
        let mut op = *op;
        op.start.regions.push(blocks);
        let mut children = unit.node.clone().children();
        match children.peek_rule() {
            Some(Rule::gnext) => {
                let at = unit.node.span().end;
                self.open_generic_region(op, at);
                Ok(())
            }
            Some(Rule::dict | Rule::fn_type) => {
                let node = children.next().expect("peeked");
                let levels = self.levels.len() - usize::from(op.start.entered);
                let results = op.start.results.clone();
                let done = self.generic_tail(op, node, children);
                if done.is_err() {
                    self.levels.truncate(levels);
                    results.iter().for_each(|r| self.define_unknown(r.name, r.at));
                }
                done
            }
            _ => {
                // The unit ends where its rule stopped; what is wrong stands behind that.
                let span = Span::new(unit.start + 1, self.units.next_line(unit.node.span().end));
                let levels = self.levels.len() - usize::from(op.start.entered);
                self.levels.truncate(levels);
                for result in &op.start.results {
                    self.define_unknown(result.name, result.at);
                }
                Err(self.reader.syntax_error(Rule::generic_end, span))
            }
        }
    }
}
