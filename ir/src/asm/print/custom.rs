//! Operations in custom form: the interpreter of assembly formats, printing side.

use smallvec::SmallVec;

use super::Printer;
use super::op::{Frame, OpFrame, RegionStyle};
use crate::asm::format::{Custom, Element, Format, TypeTarget};
use crate::asm::parse::DirectiveArg;
use crate::attrs::{Attr, AttrData, NamedAttr};
use crate::interfaces::RegionSyntax;
use crate::op_def::{Arity, AttrSyntax, OpDef, Traits};
use crate::op_ref::{OpRef, RegionRef};
use crate::types::Type;

impl<'p> Printer<'p> {
    /// Writes the name, and enters what is inside: a directive may write the arguments of a region.
    pub(super) fn begin_custom(&mut self, op: OpRef<'p>) {
        let name = op.name_str();
        let default = self.default_dialects.last().copied().unwrap_or_default();
        let short = name.strip_prefix(default).and_then(|rest| rest.strip_prefix('.'));
        self.text(short.filter(|rest| !default.is_empty() && !rest.contains('.')).unwrap_or(name));
        self.enter_nested(op);
    }

    /// Goes on with the format's elements until a region is to be printed or all is done.
    pub(super) fn resume_custom(&mut self, mut frame: OpFrame<'p>, frames: &mut Vec<Frame<'p>>) {
        let op = frame.op;
        let info = op.info().expect("only a registered op has a format");
        let format = info.format(self.cx).expect("checked when the op was begun");
        loop {
            if frame.next_region < frame.regions_until {
                if region_syntax(op).is_some_and(RegionSyntax::inline) {
                    self.inline_region(op, frame.next_region);
                    frame.next_region += 1;
                    continue;
                }
                match self.custom_region(format, frame, frames) {
                    Some(same) => frame = same,
                    None => return,
                }
                continue;
            }
            let at = frame.next_item.unwrap_or_default();
            let Some(item) = format.items.get(at) else { break };
            frame.next_item = Some(at + 1);
            let before = self.out.len();
            let def = info.def;
            if format.head_of_regions(def, at + 1).is_some() {
                // Written before each region.
                self.text(" ");
                continue;
            }
            let headed = format.head_of_regions(def, at).is_some();
            if item.blank && !item.implied && !headed && self.element_is_written(op, &item.element) {
                self.text(" ");
            }
            match &item.element {
                Element::Optional(group) => {
                    if !self.group_present(op, format, at + 1 + group.anchor) {
                        frame.next_item = Some(at + 1 + group.then);
                    }
                }
                Element::Skip(n) => frame.next_item = Some(at + 1 + n),
                Element::Region(i) => {
                    let range = region_range(op, *i);
                    (frame.next_region, frame.regions_until) = (range.start, range.end);
                }
                Element::Regions => (frame.next_region, frame.regions_until) = (0, op.regions().len()),
                Element::Attr(_) if item.implied => {}
                Element::Custom(custom) => {
                    self.directive(op, custom);
                    self.drop_blank(before, item.blank);
                }
                element => self.format_element(op, format, element),
            }
        }
        self.leave_nested(op);
        self.trailing_loc(op);
    }

    /// Opens the next region and leaves the op to a frame, or gives it back where regions are skipped.
    fn custom_region(
        &mut self,
        format: &Format,
        mut frame: OpFrame<'p>,
        frames: &mut Vec<Frame<'p>>,
    ) -> Option<OpFrame<'p>> {
        let op = frame.op;
        let def = op.info().expect("only a registered op has a format").def;
        let index = frame.next_region;
        let element = frame.next_item.unwrap_or(1) - 1;
        let first = match format.items.get(element).map(|i| &i.element) {
            Some(Element::Region(i)) => region_range(op, *i).start,
            _ => 0,
        };
        let head = format.head_of_regions(def, element).map(|head| &format.items[head].element);
        if let Some(Element::Custom(custom)) = head {
            let with_number = |arg: &DirectiveArg| match *arg {
                DirectiveArg::Region(_) => DirectiveArg::Region(index),
                other => other,
            };
            self.directive(op, &Custom { args: custom.args.iter().map(with_number).collect(), ..custom.clone() });
            self.text(" ");
        } else if index != first {
            self.text(", ");
        }
        frame.next_region += 1;
        if self.options.skip_regions {
            self.text("{...}");
            return Some(frame);
        }
        let region = op.region(index).expect("counted");
        let style = RegionStyle {
            entry_args: !format.writes_region_args(index),
            header_if_empty: !def.traits.has(Traits::SingleBlock),
            skip_terminator: head.is_none()
                && elides_terminator(def, region)
                && !region_syntax(op).is_some_and(|syntax| syntax.writes_terminator(op)),
        };
        frames.push(Frame::Op(frame));
        self.begin_region(region, style, def.default_dialect.unwrap_or_default(), frames);
        None
    }

    /// Writes the first op of a region, without its results, on the same line.
    fn inline_region(&mut self, op: OpRef<'p>, index: usize) {
        self.text("{ ");
        let first = op.region(index).and_then(|r| r.entry()).and_then(|b| b.ops().next());
        if let Some(first) = first {
            self.write_alone(first);
        }
        self.text(" }");
    }

    /// False for an element that stands for nothing here, so that no blank is written before it.
    fn element_is_written(&self, op: OpRef<'p>, element: &Element) -> bool {
        match element {
            Element::Operand(i) => op.operand_group(*i).is_none_or(|r| !r.is_empty()),
            Element::TypeOf(target) => !self.target_types(op, *target).is_empty(),
            Element::Attr(i) => op.prop_at(*i).is_some(),
            Element::Operands => op.num_operands() != 0,
            Element::Successors => !op.successors().is_empty(),
            Element::Successor(i) => !successor_range(op, *i).is_empty(),
            Element::Region(i) => !region_range(op, *i).is_empty(),
            Element::Regions => op.regions().len() != 0,
            _ => true,
        }
    }

    fn group_present(&self, op: OpRef<'p>, format: &Format, anchor: usize) -> bool {
        let has_attr = |i: usize| {
            let def = op.info().and_then(|info| info.def.attrs.get(i));
            let default = def.and_then(|d| d.default).map(|d| d(self.cx));
            op.prop_at(i).is_some_and(|a| Some(a) != default)
        };
        let region_written = |i: usize| region_range(op, i).any(|r| op.region(r).is_some_and(|r| !r.is_empty()));
        match &format.items[anchor].element {
            Element::Attr(i) => has_attr(*i),
            Element::Region(i) => region_written(*i),
            Element::FunctionalType(inputs, results) => {
                !self.target_types(op, *inputs).is_empty() || !self.target_types(op, *results).is_empty()
            }
            Element::Custom(custom) => custom.args.iter().any(|arg| match *arg {
                DirectiveArg::Operand(i) | DirectiveArg::OperandType(i) => {
                    op.operand_group(i).is_some_and(|r| !r.is_empty())
                }
                DirectiveArg::ResultType(i) => op.result_group(i).is_some_and(|r| !r.is_empty()),
                DirectiveArg::Attr(i) => has_attr(i),
                DirectiveArg::Region(i) => region_written(i),
                DirectiveArg::Successor(i) => !successor_range(op, i).is_empty(),
                DirectiveArg::AttrDict => false,
            }),
            element => self.element_is_written(op, element),
        }
    }

    fn format_element(&mut self, op: OpRef<'p>, format: &Format, element: &Element) {
        match element {
            Element::Literal(text) => self.text(text),
            Element::Space("\n") => self.new_line(),
            Element::Space(text) => self.text(text),
            Element::Operand(i) => {
                let range = op.operand_group(*i).unwrap_or_default();
                self.operands(op, range);
            }
            Element::Operands => self.operands(op, 0..op.num_operands()),
            Element::Attr(i) => {
                if let Some(attr) = op.prop_at(*i) {
                    let syntax = op.info().map(|info| info.def.attrs[*i].constraint.syntax);
                    self.attr_by_syntax(attr, syntax.unwrap_or(AttrSyntax::Plain));
                }
            }
            Element::Successor(i) => {
                let range = successor_range(op, *i);
                self.list(op.successors()[range].iter().copied(), |p, b| p.successor(op.body, b));
            }
            Element::Successors => self.list(op.successors().iter().copied(), |p, b| p.successor(op.body, b)),
            Element::TypeOf(target) => {
                let types = self.target_types(op, *target);
                self.types(types);
            }
            Element::FunctionalType(inputs, results) => {
                let (inputs, results) = (self.target_types(op, *inputs), self.target_types(op, *results));
                self.function_type(inputs, results.into_iter());
            }
            Element::AttrDict(keyword) => self.unwritten_attrs(op, format, *keyword),
            Element::PropDict => {
                let entries: Vec<NamedAttr> = self.unwritten_props(op, format).collect();
                if !entries.is_empty() {
                    self.text(" <");
                    let dict = self.cx.dict(&entries);
                    self.attr(dict);
                    self.text(">");
                }
            }
            Element::Custom(_) | Element::Region(_) | Element::Regions | Element::Optional(_) | Element::Skip(_) => {}
            // Clauses are written as the groups that they are.
            Element::AnyOrder(_) | Element::Again(_) => {}
        }
    }

    /// Takes the blank before a directive back when it wrote nothing, or one of its own.
    fn drop_blank(&mut self, at: usize, written: bool) {
        let after = &self.out[at..];
        if written && (after == " " || after.starts_with("  ")) {
            self.out.remove(at);
        }
    }

    fn directive(&mut self, op: OpRef<'p>, custom: &Custom) {
        if let Some(def) = custom.def {
            (def.print)(self, op, &custom.args);
        }
    }

    /// Writes an attribute as a format writes one declared with `syntax`.
    pub fn attr_by_syntax(&mut self, attr: Attr, syntax: AttrSyntax) {
        let cx = self.cx;
        match syntax {
            AttrSyntax::Untyped(ty) if cx.attr_type(attr) == Some(ty) => self.attr_untyped(attr),
            AttrSyntax::SymbolName => match cx.as_str(attr) {
                Some(name) => self.symbol_name(name),
                None => self.attr(attr),
            },
            AttrSyntax::Keyword(_, words) => {
                let word = cx.as_int(attr).and_then(|v| words.iter().find(|(_, value)| *value == v));
                match word {
                    Some((word, _)) => self.text(word),
                    None => self.attr(attr),
                }
            }
            AttrSyntax::DenseArray(_) => match cx.attr_data(attr) {
                AttrData::DenseArray { elem, data } => {
                    self.text("[");
                    self.dense_array_elements(elem, cx.bytes(data));
                    self.text("]");
                }
                _ => self.attr(attr),
            },
            AttrSyntax::Type => match cx.as_type(attr) {
                Some(ty) => self.ty(ty),
                None => self.attr(attr),
            },
            AttrSyntax::Plain | AttrSyntax::Untyped(_) | AttrSyntax::Unit => self.attr(attr),
        }
    }

    /// Inherent attributes that the format does not write and that say something.
    fn unwritten_props(&self, op: OpRef<'p>, format: &Format) -> impl Iterator<Item = NamedAttr> + use<'p> {
        let cx = self.cx;
        let def = op.info().expect("only a registered op has a format").def;
        let written = format.written_attrs.clone();
        cx.entries(op.body.props(op.op)).iter().copied().filter(move |entry| {
            let name = cx.str(entry.name);
            match def.attrs.iter().position(|a| a.name == name) {
                Some(i) => !written[i] && def.attrs[i].default.is_none_or(|d| d(cx) != entry.value),
                None => !def.is_segment_sizes(name),
            }
        })
    }

    fn unwritten_attrs(&mut self, op: OpRef<'p>, format: &Format, keyword: bool) {
        let cx = self.cx;
        let has_prop_dict = format.items.iter().any(|i| matches!(i.element, Element::PropDict));
        let mut entries: SmallVec<[NamedAttr; 4]> = SmallVec::new();
        if !has_prop_dict {
            entries.extend(self.unwritten_props(op, format));
        }
        entries.extend(cx.entries(op.body.attrs(op.op)).iter().copied());
        entries.sort_by(|a, b| cx.str(a.name).cmp(cx.str(b.name)));
        if keyword { self.attr_dict_with_keyword(entries) } else { self.attr_dict(entries) }
    }

    /// Writes the attribute dictionary of `op`, inherent attributes with their defaults among the others, but for those
    /// named in `elided`.
    pub fn full_attr_dict(&mut self, op: OpRef<'_>, elided: &[&str]) {
        let entries = full_entries(op, elided);
        self.attr_dict(entries);
    }

    /// Writes the attribute dictionary of `op` but for attributes that have their default value and those named in
    /// `elided`.
    pub fn attr_dict_without(&mut self, op: OpRef<'_>, elided: &[&str]) {
        let set = op.body.props(op.op);
        let entries = full_entries(op, elided);
        let entries = entries.into_iter().filter(|e| {
            op.def().is_none_or(|def| def.attr(op.cx.str(e.name)).is_none()) || op.cx.entries(set).contains(e)
        });
        self.attr_dict(entries);
    }

    fn target_types(&self, op: OpRef<'p>, target: TypeTarget) -> SmallVec<[Type; 4]> {
        match target {
            TypeTarget::Operands => op.operand_types().collect(),
            TypeTarget::Results => op.result_types().collect(),
            TypeTarget::Operand(i) => {
                let range = op.operand_group(i).unwrap_or_default();
                op.operand_types().skip(range.start).take(range.len()).collect()
            }
            TypeTarget::Result(i) => {
                let range = op.result_group(i).unwrap_or_default();
                op.result_types().skip(range.start).take(range.len()).collect()
            }
        }
    }
}

/// Inherent attributes, with defaults, and discardable ones but for those named in `elided`, by name.
fn full_entries(op: OpRef<'_>, elided: &[&str]) -> Vec<NamedAttr> {
    let cx = op.cx;
    let Some(def) = op.def() else { return Vec::new() };
    let set = cx.entries(op.body.props(op.op));
    let default = |def: &crate::op_def::AttrDef| {
        let name = cx.ident(def.name);
        let absent = set.iter().all(|e| e.name != name);
        def.default.filter(|_| absent).map(|default| NamedAttr { name, value: default(cx) })
    };
    let all = set.iter().copied().chain(def.attrs.iter().filter_map(default));
    let all = all.chain(cx.entries(op.body.attrs(op.op)).iter().copied());
    let wanted = |e: &NamedAttr| !elided.contains(&cx.str(e.name)) && !def.is_segment_sizes(cx.str(e.name));
    let mut entries: Vec<NamedAttr> = all.filter(wanted).collect();
    entries.sort_by(|a, b| cx.str(a.name).cmp(cx.str(b.name)));
    entries
}

fn region_syntax(op: OpRef<'_>) -> Option<&'static dyn RegionSyntax> {
    op.info().and_then(|info| info.interface::<dyn RegionSyntax>())
}

/// The implicit terminator is left out where it says nothing.
fn elides_terminator(def: &OpDef, region: RegionRef<'_>) -> bool {
    let Some(name) = def.implicit_terminator else { return false };
    let Some(last) = region.entry().and_then(|b| b.ops().last()) else { return false };
    last.name_str() == name
        && last.num_operands() == 0
        && last.num_results() == 0
        && last.regions().all(|r| r.blocks().all(|b| b.ops().next().is_none() && b.args().is_empty()))
        && last.body.attrs(last.op) == Attr::EMPTY_DICT
        && last.body.props(last.op) == Attr::EMPTY_DICT
}

/// Regions that belong to declared group `group`.
fn region_range(op: OpRef<'_>, group: usize) -> std::ops::Range<usize> {
    let defs = op.def().map_or(&[][..], |d| d.regions);
    let arities = defs.iter().map(|d| d.arity);
    declared_range(arities, group, op.regions().len())
}

/// Successors that belong to declared group `group`.
fn successor_range(op: OpRef<'_>, group: usize) -> std::ops::Range<usize> {
    let defs = op.def().map_or(&[][..], |d| d.successors);
    declared_range(defs.iter().map(|d| d.arity), group, op.successors().len())
}

/// Groups without segment sizes: at most one is not single and takes what the others leave.
fn declared_range(
    arities: impl ExactSizeIterator<Item = Arity> + Clone,
    group: usize,
    count: usize,
) -> std::ops::Range<usize> {
    let singles = arities.clone().filter(|a| *a == Arity::Single).count();
    let others = arities.len() - singles;
    let each = count.saturating_sub(singles).checked_div(others).unwrap_or(0);
    let size = |a: Arity| if a == Arity::Single { 1 } else { each };
    let start: usize = arities.clone().take(group).map(size).sum();
    let end = start + arities.clone().nth(group).map_or(0, size);
    start.min(count)..end.min(count)
}
