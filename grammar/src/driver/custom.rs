//! Operations in custom form: the interpreter of assembly formats, reading side.
//!
//! The format drives. It reads the op's text through a cursor and ends where it is satisfied, whatever the units say;
//! the stream of units then goes on there. A region inside a format is left to the driver: the op waits in the region's
//! frame with its place in the format.

use smallvec::SmallVec;

use sutura_ir::asm::format::{Element, Format, Optional, TypeTarget};
use sutura_ir::asm::parse::{AsmParser, OpParts, TokenParser, UnresolvedOperand};
use sutura_ir::attrs::{Attr, NamedAttr};
use sutura_ir::body::{Block, Value};
use sutura_ir::builder::infer_result_types;
use sutura_ir::diagnostics::{Diagnostic, Reported, codes, did_you_mean};
use sutura_ir::interfaces::RegionSyntax;
use sutura_ir::location::Loc;
use sutura_ir::op_def::{Arity, AttrSyntax, InferInput, OpDef, Traits, ValueDef};
use sutura_ir::types::Type;

use super::{Completion, Driver, Frame, OpStart, OpenOp, ResultName};
use crate::cursor::Cursor;
use crate::rules::{Node, Rule, Span};
use crate::scan::{bracket_end, skip_blank, word_end};
use crate::units::Unit;

/// An op in custom form up to one of its regions.
pub(super) struct CustomOp<'t> {
    pub(super) start: OpStart<'t>,
    def: &'static OpDef,
    format: &'t Format,
    /// Index of the next element.
    next: usize,
    /// Clauses of `oilist`s that have been read.
    clauses: SmallVec<[usize; 2]>,
    parts: OpParts,
    /// What `operands`, `type(operands)` and `type(results)` gave.
    all_operands: Option<Vec<UnresolvedOperand>>,
    all_operand_types: Option<Vec<Type>>,
    all_result_types: Option<Vec<Type>>,
    all_successors: Option<Vec<(sutura_ir::Ident, Loc)>>,
    /// Blocks of the regions that have been read, by group.
    regions: Vec<Vec<Vec<Block>>>,
    /// Where the text says the op comes from.
    loc: Option<Loc>,
}

/// Why reading a format stops.
enum Stop {
    /// A region begins, with its brace at this offset.
    Region(usize),
    /// The op is complete; the text goes on at this offset.
    Done(usize),
}

impl<'t> Driver<'t> {
    pub(super) fn custom_op(
        &mut self,
        name: &Node<'t>,
        results: SmallVec<[ResultName<'t>; 1]>,
    ) -> Result<(), Reported> {
        let (def, full) = self.resolve_custom(name)?;
        let start = self.op_start(full, name.start(), results)?;
        let cx = self.cx();
        let Some(format) = start.name.info(cx).and_then(|info| info.format(cx)) else {
            let message = format!("'{full}' has no custom form: write it as \"{full}\"(…) : (…) -> (…)");
            return Err(self.reader.error(name.start(), message));
        };
        let op = CustomOp {
            start,
            def,
            format,
            next: 0,
            clauses: SmallVec::new(),
            parts: OpParts::new(def),
            all_operands: None,
            all_operand_types: None,
            all_result_types: None,
            all_successors: None,
            regions: vec![Vec::new(); def.regions.len()],
            loc: None,
        };
        self.run_format(Box::new(op), name.span().end)
    }

    /// The op that a bare word names: dotted as it stands, undotted in the dialect of the op around, `builtin` or
    /// `func`.
    fn resolve_custom(&mut self, name: &Node<'t>) -> Result<(&'static OpDef, &'static str), Reported> {
        let cx = self.cx();
        let word = name.text();
        let found = if word.contains('.') {
            cx.registry().op_def(word)
        } else {
            let default = self.frames.last().expect("the file is a region").region.default_dialect;
            let dialects = [default, "builtin", "func"].into_iter().filter(|d| !d.is_empty());
            dialects.into_iter().find_map(|d| cx.registry().op_def(&format!("{d}.{word}")))
        };
        if let Some(def) = found {
            return Ok((def, def.name));
        }
        let tried =
            if word.contains('.') { String::new() } else { format!(" (tried '{}.{word}' as well)", self.tried()) };
        let error = Diagnostic::error(self.reader.loc(name.start()), format!("custom op '{word}' is unknown{tried}"));
        let error = self.with_op_hint(error, word).code(codes::UNKNOWN_OP);
        Err(self.reader.report(error))
    }

    /// The dialect in which upstream looks for undotted names: that of the innermost op in custom form.
    fn tried(&self) -> &'static str {
        let custom = |frame: &Frame<'t>| match &frame.op {
            OpenOp::Custom(op) => Some(op.def.default_dialect.unwrap_or_default()),
            _ => None,
        };
        self.frames[1..].iter().rev().find_map(custom).unwrap_or(self.frames[0].region.default_dialect)
    }

    /// Reads on from offset `at` until a region begins or the op is complete.
    fn run_format(&mut self, mut op: Box<CustomOp<'t>>, at: usize) -> Result<(), Reported> {
        let text = self.reader.text;
        let stop = {
            let span = Span::new(at, text.len());
            let mut cursor = Cursor::new(&mut self.reader, span, op.start.at);
            op.read(&mut cursor)?
        };
        match stop {
            Stop::Region(brace) => self.open_custom_region(op, brace),
            Stop::Done(end) => {
                self.complete_custom(op)?;
                self.units.resume_at(end);
                Ok(())
            }
        }
    }

    fn open_custom_region(&mut self, mut op: Box<CustomOp<'t>>, brace: usize) -> Result<(), Reported> {
        let group = op.region_group();
        let args = op.parts.region_args.get_mut(group).and_then(Option::take);
        self.enter_op_body(&mut op.start);
        let default = op.def.default_dialect.unwrap_or_default();
        self.open_region(OpenOp::Custom(op), brace, default);
        self.units.resume_at(brace + 1);
        match args {
            Some(args) => self.enter_with_args(&args),
            None => Ok(()),
        }
    }

    /// After a region: the rest of the format.
    pub(super) fn resume_custom(
        &mut self,
        mut op: Box<CustomOp<'t>>,
        mut blocks: Vec<Block>,
        unit: &Unit<'t>,
    ) -> Result<(), Reported> {
        self.finish_region(&op, &mut blocks);
        let group = op.region_group();
        op.regions[group].push(blocks);
        let levels = self.levels.len() - usize::from(op.start.entered);
        let results = op.start.results.clone();
        let done = self.run_format(op, unit.start + 1);
        if done.is_err() {
            self.levels.truncate(levels);
            for result in &results {
                self.define_unknown(result.name, result.at);
            }
            if let Some(node) = unit.node.clone().children().filter(|n| n.rule() == Rule::copen).last() {
                self.open_broken(node.start());
            }
        }
        done
    }

    /// Adds what the custom form leaves out of a region: its only block, and the implicit terminator. As upstream,
    /// regions with a directive before each are taken as they are written.
    fn finish_region(&mut self, op: &CustomOp<'t>, blocks: &mut Vec<Block>) {
        if op.head_of_region_read().is_some() {
            return;
        }
        let cx = self.cx();
        let level = self.levels.last_mut().expect("the file has a level");
        let mut builder = sutura_ir::Builder::new(cx, &mut level.body);
        if blocks.is_empty() && (op.def.traits.has(Traits::SingleBlock) || op.def.implicit_terminator.is_some()) {
            blocks.push(builder.create_detached_block());
        }
        let (Some(name), [block]) = (op.def.implicit_terminator, &blocks[..]) else { return };
        let last = builder.body().last_op(*block);
        let terminated = last.is_some_and(|last| builder.op_ref(last).has_trait(Traits::Terminator));
        if !terminated {
            builder.set_to_end(*block);
            let mut state = sutura_ir::OpState::new(cx.op_name(name), self.reader.loc(op.start.at));
            let syntax = cx.registry().interface::<dyn RegionSyntax>(op.def.name);
            if let (true, Some(last)) = (syntax.is_some_and(RegionSyntax::inline), last) {
                state.operands = builder.body().results(last).collect();
            }
            state.n_regions = state.name.info(cx).map_or(0, |info| info.def.regions.len());
            let terminator = builder.create(state);
            let regions: Vec<_> = builder.body().regions(terminator).collect();
            for region in regions {
                builder.create_block(region, &[]);
            }
        }
    }

    fn complete_custom(&mut self, op: Box<CustomOp<'t>>) -> Result<(), Reported> {
        let mut op = *op;
        let cx = self.cx();
        for (def, regions) in op.def.regions.iter().zip(&mut op.regions) {
            if def.arity == Arity::Single && regions.is_empty() {
                regions.push(Vec::new());
            }
        }
        op.start.regions = op.regions.drain(..).flatten().collect();
        let props = op.props(&mut self.reader)?;
        let operands = match op.all_operands.take() {
            Some(all) => op.distribute(&mut self.reader, all)?,
            None => std::mem::take(&mut op.parts.operands),
        };
        let operand_types = op.operand_types(&mut self.reader, &operands)?;
        // The operands of an isolated op are outside its body.
        let inside = if op.start.entered { self.levels.pop() } else { None };
        let values = self.custom_operands(&operands, &operand_types);
        self.levels.extend(inside);
        let values = values?;
        let props = op.with_segments(cx, props, &operands);
        let types = op.result_types(&mut self.reader, &operand_types, props)?;
        let props = op.with_result_segments(cx, props);
        let names = match op.all_successors.take() {
            Some(all) => all,
            None => op.parts.successors.iter().flatten().copied().collect(),
        };
        let successors: SmallVec<[Block; 2]> = names
            .into_iter()
            .map(|(name, loc)| {
                let at = self.reader.offset(loc).unwrap_or_default();
                self.successor(cx.str(name), at)
            })
            .collect();
        let attrs = cx.dict(&op.parts.attrs);
        let loc = op.loc.unwrap_or_else(|| self.reader.loc(op.start.at));
        let parts = Completion { operands: &values, types: &types, successors: &successors, props, attrs, loc };
        self.complete(op.start, parts).map(|_| ())
    }

    fn custom_operands(
        &mut self,
        operands: &[Vec<UnresolvedOperand>],
        types: &[Type],
    ) -> Result<SmallVec<[Value; 4]>, Reported> {
        let cx = self.cx();
        let flat = operands.iter().flatten();
        flat.zip(types)
            .map(|(o, ty)| {
                let at = self.reader.offset(o.loc).unwrap_or_default();
                self.value(cx.str(o.name), o.number, *ty, at)
            })
            .collect()
    }
}

impl<'t> CustomOp<'t> {
    /// The region group that the element before `next` stands for.
    fn region_group(&self) -> usize {
        match self.format.items[self.next - 1].element {
            Element::Region(i) => i,
            // `regions`: one group after the other.
            _ => {
                let done = |i: &usize| self.regions[*i].is_empty() || self.def.regions[*i].arity == Arity::Variadic;
                (0..self.regions.len()).find(done).unwrap_or(self.regions.len() - 1)
            }
        }
    }

    fn read(&mut self, cursor: &mut Cursor<'_, 't>) -> Result<Stop, Reported> {
        if let Some(head) = self.head_of_region_read() {
            self.next = head;
        } else if self.another_region(cursor) {
            return region_at(cursor);
        }
        while let Some(item) = self.format.items.get(self.next) {
            let at = self.next;
            self.next += 1;
            match &item.element {
                Element::Optional(group) => self.group(cursor, group, at)?,
                Element::Skip(n) => self.next = at + 1 + n,
                Element::AnyOrder(length) => self.any_order(cursor, at, *length)?,
                Element::Again(back) => self.next = at - back,
                Element::Region(i) => {
                    let headed = self.format.head_of_regions(self.def, at).is_some();
                    let optional = self.def.regions[*i].arity != Arity::Single && !headed;
                    if cursor.peek() == Some(b'{') || !optional {
                        return region_at(cursor);
                    }
                }
                Element::Regions => {
                    if !self.regions.is_empty() {
                        return region_at(cursor);
                    }
                }
                Element::Attr(_) if item.implied => {}
                element => {
                    let before = cursor.at();
                    self.element(cursor, element)?;
                    if cursor.at() == before && self.format.head_of_regions(self.def, at + 1).is_some() {
                        // There is no further region.
                        self.next = at + 2;
                    }
                }
            }
        }
        self.loc = cursor.opt_loc()?;
        Ok(Stop::Done(cursor.at()))
    }

    /// The directive that may begin another region, after one of a list whose regions each have one.
    fn head_of_region_read(&self) -> Option<usize> {
        self.format.head_of_regions(self.def, self.next.checked_sub(1)?)
    }

    /// True when the element that was left for a region wants one more, after a comma.
    fn another_region(&self, cursor: &mut Cursor<'_, 't>) -> bool {
        let Some(at) = self.next.checked_sub(1) else { return false };
        let more = match self.format.items[at].element {
            Element::Region(i) => self.def.regions[i].arity == Arity::Variadic && !self.regions[i].is_empty(),
            Element::Regions => self.regions.iter().any(|r| !r.is_empty()),
            _ => false,
        };
        more && cursor.opt_punct(",")
    }

    /// Enters an optional group or its alternative.
    fn group(&mut self, cursor: &mut Cursor<'_, 't>, group: &Optional, at: usize) -> Result<(), Reported> {
        let first = (at + 1..).find(|&i| !matches!(self.format.items[i].element, Element::Space(_)));
        let first = first.expect("a group has elements");
        if self.present(cursor, &self.format.items[first].element) {
            let anchor = &self.format.items[at + 1 + group.anchor];
            if let (true, Element::Attr(i)) = (anchor.implied, &anchor.element) {
                self.parts.set_prop_at(cursor.cx(), *i, Attr::UNIT);
            }
        } else {
            self.next = at + 1 + group.then;
        }
        Ok(())
    }

    /// Enters the clause of an `oilist` with which the text goes on, or leaves the list.
    fn any_order(&mut self, cursor: &mut Cursor<'_, 't>, list: usize, length: usize) -> Result<(), Reported> {
        let end = list + 1 + length;
        let mut at = list + 1;
        while let (true, Element::Optional(group)) = (at < end, &self.format.items[at].element) {
            if let Element::Literal(word) = &self.format.items[at + 1].element
                && cursor.next_is(word)
            {
                if self.clauses.contains(&at) {
                    let message =
                        format!("`{word}` clause can appear at most once in the expansion of the oilist directive");
                    return Err(cursor.error(&message));
                }
                self.clauses.push(at);
                self.next = at + 1;
                return self.group(cursor, group, at);
            }
            at += 1 + group.then;
        }
        self.next = end;
        Ok(())
    }

    /// True when the text goes on with `element`, the first of an optional group. Consumes nothing.
    fn present(&self, cursor: &Cursor<'_, 't>, element: &Element) -> bool {
        match element {
            Element::Literal(text) => cursor.next_is(text),
            Element::Operand(_) | Element::Operands => cursor.peek() == Some(b'%'),
            Element::Successor(_) => cursor.peek() == Some(b'^'),
            Element::Region(_) => cursor.peek() == Some(b'{'),
            Element::PropDict => cursor.rest().starts_with("<{"),
            Element::Attr(i) => match self.def.attrs[*i].constraint.syntax {
                AttrSyntax::SymbolName => cursor.peek() == Some(b'@'),
                AttrSyntax::Keyword(_, words) => words.iter().any(|(word, _)| cursor.next_is(word)),
                AttrSyntax::Type => cursor.at_type(),
                AttrSyntax::DenseArray(_) => cursor.peek() == Some(b'['),
                _ => cursor.at_attr(),
            },
            _ => true,
        }
    }

    fn element(&mut self, cursor: &mut Cursor<'_, 't>, element: &Element) -> Result<(), Reported> {
        match element {
            Element::Literal(text) => {
                if text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()) {
                    cursor.keyword(text)
                } else {
                    cursor.punct(text)
                }
            }
            Element::Operand(i) => {
                self.parts.operands[*i] = operand_list(cursor, self.def.operands[*i].arity)?;
                Ok(())
            }
            Element::Operands => {
                self.all_operands = Some(operand_list(cursor, Arity::Variadic)?);
                Ok(())
            }
            Element::Attr(i) => self.attr(cursor, *i),
            Element::Successor(i) => {
                self.parts.successors[*i] = successor_list(cursor, self.def.successors[*i].arity)?;
                Ok(())
            }
            Element::Successors => {
                self.all_successors = Some(successor_list(cursor, Arity::Variadic)?);
                Ok(())
            }
            Element::TypeOf(target) => {
                let arity = match target {
                    TypeTarget::Operand(i) => self.def.operands[*i].arity,
                    TypeTarget::Result(i) => self.def.results[*i].arity,
                    _ => Arity::Variadic,
                };
                let types = type_list(cursor, arity)?;
                self.set_types(*target, types);
                Ok(())
            }
            Element::FunctionalType(inputs, results) => {
                let (input_types, result_types) = cursor.function_type()?;
                self.set_types(*inputs, input_types);
                self.set_types(*results, result_types);
                Ok(())
            }
            Element::AttrDict(keyword) => self.attr_dict(cursor, *keyword),
            Element::PropDict => self.prop_dict(cursor),
            Element::Custom(custom) => match custom.def {
                Some(def) => (def.parse)(cursor, &mut self.parts, &custom.args),
                None => Err(cursor.error("the format's directive is not registered")),
            },
            _ => Ok(()),
        }
    }

    fn set_types(&mut self, target: TypeTarget, types: Vec<Type>) {
        match target {
            TypeTarget::Operand(i) => self.parts.operand_types[i] = Some(types),
            TypeTarget::Result(i) => self.parts.result_types[i] = Some(types),
            TypeTarget::Operands => self.all_operand_types = Some(types),
            TypeTarget::Results => self.all_result_types = Some(types),
        }
    }

    fn attr(&mut self, cursor: &mut Cursor<'_, 't>, index: usize) -> Result<(), Reported> {
        let def = &self.def.attrs[index];
        let value = match def.constraint.syntax {
            AttrSyntax::Plain | AttrSyntax::Unit => cursor.attr(None)?,
            AttrSyntax::Untyped(ty) => cursor.attr(Some(ty))?,
            AttrSyntax::SymbolName => {
                let name = cursor.symbol()?;
                let text = cursor.reader.cx.str(name);
                cursor.cx().string_attr(text)
            }
            AttrSyntax::Type => {
                let ty = cursor.ty()?;
                cursor.cx().type_attr(ty)
            }
            AttrSyntax::DenseArray(elem) => cursor.bracketed_array(elem)?,
            AttrSyntax::Keyword(ty, words) => {
                let loc = cursor.loc();
                let word = cursor.enum_word()?;
                let Some((_, value)) = words.iter().find(|(w, _)| *w == word) else {
                    return Err(unknown_keyword(cursor, loc, &word, words));
                };
                cursor.cx().int_attr(*value, ty)
            }
        };
        self.parts.set_prop(cursor.cx(), def.name, value);
        Ok(())
    }

    fn attr_dict(&mut self, cursor: &mut Cursor<'_, 't>, keyword: bool) -> Result<(), Reported> {
        let entries = if keyword {
            if !cursor.opt_keyword("attributes") {
                return Ok(());
            }
            match cursor.opt_attr_dict()? {
                Some(entries) => entries,
                None => return Err(cursor.error("expected '{' in attribute dictionary")),
            }
        } else {
            let region_follows = self.format.items[self.next..]
                .iter()
                .find(|i| !matches!(i.element, Element::Space(_) | Element::Optional(_)))
                .is_some_and(|i| matches!(i.element, Element::Region(_) | Element::Regions));
            if region_follows && !begins_dict(cursor.reader.text, cursor.at()) {
                return Ok(());
            }
            match cursor.opt_attr_dict()? {
                Some(entries) => entries,
                None => return Ok(()),
            }
        };
        self.parts.add_entries(cursor.reader.cx, entries);
        Ok(())
    }

    fn prop_dict(&mut self, cursor: &mut Cursor<'_, 't>) -> Result<(), Reported> {
        if !cursor.rest().starts_with("<{") {
            return Ok(());
        }
        cursor.punct("<")?;
        self.parts.props.extend(cursor.opt_attr_dict()?.unwrap_or_default());
        cursor.punct(">")
    }

    // ---- completing

    /// Inherent attributes, each given once.
    fn props(&mut self, reader: &mut crate::reader::Reader<'t>) -> Result<Vec<NamedAttr>, Reported> {
        let props = std::mem::take(&mut self.parts.props);
        for (i, prop) in props.iter().enumerate() {
            if props[..i].iter().any(|p| p.name == prop.name) {
                let message = format!("attribute '{}' is given twice", reader.cx.str(prop.name));
                return Err(reader.error(self.start.at, message));
            }
        }
        Ok(props)
    }

    /// Operands written as one list, by group.
    fn distribute(
        &self,
        reader: &mut crate::reader::Reader<'t>,
        all: Vec<UnresolvedOperand>,
    ) -> Result<Vec<Vec<UnresolvedOperand>>, Reported> {
        let defs = self.def.operands;
        let singles = defs.iter().filter(|d| d.arity == Arity::Single).count();
        let others = defs.len() - singles;
        let left = all.len().checked_sub(singles).filter(|n| others != 0 || *n == 0);
        let Some(left) = left else {
            let message = format!("expected {singles} operands, but found {}", all.len());
            return Err(reader.coded(codes::COUNT, self.start.at, message));
        };
        // Groups of any size share what is left alike, as the accessors do.
        let each = left.checked_div(others).unwrap_or(0);
        let mut all = all.into_iter();
        Ok(defs.iter().map(|d| all.by_ref().take(if d.arity == Arity::Single { 1 } else { each }).collect()).collect())
    }

    /// Types of all operands, in order.
    fn operand_types(
        &self,
        reader: &mut crate::reader::Reader<'t>,
        operands: &[Vec<UnresolvedOperand>],
    ) -> Result<Vec<Type>, Reported> {
        let count: usize = operands.iter().map(Vec::len).sum();
        if let Some(all) = &self.all_operand_types {
            if all.len() != count {
                return Err(self.wrong_type_count(reader, count, all.len()));
            }
            return Ok(all.clone());
        }
        let mut types = Vec::with_capacity(count);
        for (i, group) in operands.iter().enumerate() {
            match &self.parts.operand_types[i] {
                Some(written) if written.len() != group.len() => {
                    return Err(self.wrong_type_count(reader, group.len(), written.len()));
                }
                Some(written) => types.extend_from_slice(written),
                None if group.is_empty() => {}
                None => match self.derived_type(&self.def.operands[i]) {
                    Some(ty) => types.extend(std::iter::repeat_n(ty, group.len())),
                    None => {
                        let name = self.def.operands[i].name;
                        let message = format!("the type of operand `{name}` cannot be told from the text");
                        return Err(reader.error(self.start.at, message));
                    }
                },
            }
        }
        Ok(types)
    }

    fn wrong_type_count(&self, reader: &mut crate::reader::Reader<'t>, operands: usize, types: usize) -> Reported {
        let message = format!("number of operands and types do not match: got {operands} operands and {types} types");
        reader.coded(codes::OPERAND_TYPES, self.start.at, message)
    }

    /// The type of a value that follows from its declaration and from written types.
    fn derived_type(&self, def: &ValueDef) -> Option<Type> {
        if let Some(only) = def.constraint.only {
            return Some(only);
        }
        let first = |types: &Option<Vec<Type>>| types.as_ref().and_then(|t| t.first().copied());
        let operand_types = || self.def.operands.iter().zip(&self.parts.operand_types);
        let result_types = || self.def.results.iter().zip(&self.parts.result_types);
        if def.var.is_some() {
            let same = |d: &ValueDef| d.var == def.var;
            let written = operand_types().chain(result_types()).filter(|(d, _)| same(d)).find_map(|(_, t)| first(t));
            let by_list = |defs: &[ValueDef], types: &Option<Vec<Type>>| {
                let at = defs.iter().take_while(|d| d.arity == Arity::Single).position(same)?;
                types.as_ref()?.get(at).copied()
            };
            let by_list = by_list(self.def.operands, &self.all_operand_types)
                .or_else(|| by_list(self.def.results, &self.all_result_types));
            if let Some(ty) = written.or(by_list) {
                return Some(ty);
            }
        }
        let traits = self.def.traits;
        if !traits.has(Traits::SameOperandsAndResultType) && !traits.has(Traits::SameTypeOperands) {
            return None;
        }
        let of_operands = operand_types().find_map(|(_, t)| first(t));
        if of_operands.is_some() || !traits.has(Traits::SameOperandsAndResultType) {
            return of_operands;
        }
        result_types().find_map(|(_, t)| first(t)).or_else(|| first(&self.all_result_types))
    }

    /// Types that the format would have written stand for results that are not there.
    fn absent_result_types(&mut self) {
        for (i, def) in self.def.results.iter().enumerate() {
            if def.arity != Arity::Single && self.format.writes_result_types(i) {
                self.parts.result_types[i].get_or_insert_default();
            }
        }
    }

    fn result_types(
        &mut self,
        reader: &mut crate::reader::Reader<'t>,
        operands: &[Type],
        props: Attr,
    ) -> Result<Vec<Type>, Reported> {
        if let Some(all) = &self.all_result_types {
            return Ok(all.clone());
        }
        self.absent_result_types();
        if self.parts.result_types.iter().all(Option::is_some) {
            return Ok(self.parts.result_types.iter().flatten().flatten().copied().collect());
        }
        // A result may share its type with another one that is written.
        let partly: Option<Vec<Vec<Type>>> = self
            .def
            .results
            .iter()
            .zip(&self.parts.result_types)
            .map(|(def, written)| match written {
                Some(types) => Some(types.clone()),
                None if def.arity == Arity::Single => self.derived_type(def).map(|ty| vec![ty]),
                None => None,
            })
            .collect();
        if let (Some(groups), None) = (partly, self.def.infer) {
            return Ok(groups.into_iter().flatten().collect());
        }
        match infer_result_types(InferInput { cx: reader.cx, operands, props }, self.def) {
            Ok(types) => Ok(types.into_vec()),
            Err(message) => {
                let message = format!("'{}' op {message}", self.def.name);
                Err(reader.coded(codes::INFERENCE, self.start.at, message))
            }
        }
    }

    fn with_segments(
        &self,
        cx: &sutura_ir::Context,
        mut props: Vec<NamedAttr>,
        operands: &[Vec<UnresolvedOperand>],
    ) -> Attr {
        if self.def.traits.has(Traits::AttrSizedOperandSegments) {
            let sizes: Vec<i32> = operands.iter().map(|g| g.len() as i32).collect();
            props.push(NamedAttr { name: cx.ident("operandSegmentSizes"), value: cx.i32_array(&sizes) });
        }
        cx.dict(&props)
    }

    fn with_result_segments(&self, cx: &sutura_ir::Context, props: Attr) -> Attr {
        if !self.def.traits.has(Traits::AttrSizedResultSegments) {
            return props;
        }
        let groups = self.parts.result_types.iter().zip(self.def.results);
        let size = |(types, def): (&Option<Vec<Type>>, &ValueDef)| match types {
            Some(types) => types.len() as i32,
            None => i32::from(def.arity == Arity::Single),
        };
        let sizes: Vec<i32> = groups.map(size).collect();
        cx.with_entry(props, cx.ident("resultSegmentSizes"), Some(cx.i32_array(&sizes)))
    }
}

fn region_at(cursor: &mut Cursor<'_, '_>) -> Result<Stop, Reported> {
    match cursor.peek() {
        Some(b'{') => Ok(Stop::Region(cursor.at())),
        _ => Err(cursor.error("expected '{' to begin a region")),
    }
}

fn operand_list(cursor: &mut Cursor<'_, '_>, arity: Arity) -> Result<Vec<UnresolvedOperand>, Reported> {
    if arity == Arity::Single {
        return Ok(vec![cursor.operand()?]);
    }
    let mut operands: Vec<UnresolvedOperand> = cursor.opt_operand().into_iter().collect();
    if arity == Arity::Variadic && !operands.is_empty() {
        while cursor.opt_punct(",") {
            operands.push(cursor.operand()?);
        }
    }
    Ok(operands)
}

fn successor_list(cursor: &mut Cursor<'_, '_>, arity: Arity) -> Result<Vec<(sutura_ir::Ident, Loc)>, Reported> {
    let mut successors = Vec::new();
    loop {
        let loc = cursor.loc();
        match cursor.opt_successor() {
            Some(name) => successors.push((name, loc)),
            None if successors.is_empty() && arity != Arity::Single => return Ok(successors),
            None => return Err(cursor.error("expected block name")),
        }
        if arity != Arity::Variadic || !cursor.opt_punct(",") {
            return Ok(successors);
        }
    }
}

fn type_list(cursor: &mut Cursor<'_, '_>, arity: Arity) -> Result<Vec<Type>, Reported> {
    if arity == Arity::Single {
        return Ok(vec![cursor.ty()?]);
    }
    let mut types: Vec<Type> = cursor.opt_type()?.into_iter().collect();
    if arity == Arity::Variadic && !types.is_empty() {
        while cursor.opt_punct(",") {
            types.push(cursor.ty()?);
        }
    }
    Ok(types)
}

fn unknown_keyword(cursor: &mut Cursor<'_, '_>, loc: Loc, word: &str, words: &[(&str, i64)]) -> Reported {
    let list: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
    let message = format!("expected one of {}, but found '{word}'", list.join(", "));
    let error = Diagnostic::error(loc, message).code(codes::UNKNOWN_WORD);
    cursor.reader.report(match did_you_mean(word, list) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => error,
    })
}

/// Where both an attribute dictionary and a region may come, tells by the first words after the brace.
fn begins_dict(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'{') {
        return false;
    }
    let another = || bracket_end(text, at).is_some_and(|end| bytes.get(skip_blank(text, end)) == Some(&b'{'));
    let first = skip_blank(text, at + 1);
    let after = match bytes.get(first) {
        Some(b'}') => return another(),
        Some(b'"') => crate::blank::string_end(bytes, first),
        _ => word_end(text, first),
    };
    match bytes.get(skip_blank(text, after)) {
        _ if after == first => false,
        Some(b'=') => bytes.get(skip_blank(text, after) + 1) != Some(&b'='),
        Some(b',') => true,
        Some(b'}') => another(),
        _ => false,
    }
}
