//! Operations in generic form, and the driver for both forms.
//!
//! An op that has regions waits on a stack of frames while they are printed, so that nesting costs no machine stack.

use std::sync::Arc;

use super::alias;
use super::names::Names;
use super::numbering::number_all;
use super::{Printer, write_quoted};
use crate::asm::layout::Part;
use crate::asm::{Resource, TextInfo};
use crate::attrs::{Attr, AttrData};
use crate::body::{Block, Body, Module, Op, Region};
use crate::interfaces::CustomForm;
use crate::location::Loc;
use crate::op_def::Traits;
use crate::op_ref::{OpRef, RegionRef};

const INDENT: usize = 2;

/// What waits for something inside it.
pub(super) enum Frame<'p> {
    Op(OpFrame<'p>),
    Region(RegionFrame<'p>),
}

/// An op whose regions are being printed.
pub(super) struct OpFrame<'p> {
    pub(super) op: OpRef<'p>,
    /// Next region to print.
    pub(super) next_region: usize,
    /// Next element of the format; `None` in generic form.
    pub(super) next_item: Option<usize>,
    /// Regions that the element at `next_item` still has to print end here.
    pub(super) regions_until: usize,
    /// Regions that have been begun; a format may have them in another order than the op.
    pub(super) begun: u32,
}

/// A region whose ops are being printed.
pub(super) struct RegionFrame<'p> {
    pub(super) body: &'p Body,
    block: Option<Block>,
    op: Option<Op>,
    /// The last op of the region, when it is left out.
    pub(super) skipped: Option<Op>,
    predecessors: Predecessors,
}

/// How a region is printed.
#[derive(Clone, Copy)]
pub(super) struct RegionStyle {
    /// The entry block's arguments stand in its header.
    pub(super) entry_args: bool,
    /// An entry block without ops gets a header.
    pub(super) header_if_empty: bool,
    /// The terminator is left out.
    pub(super) skip_terminator: bool,
}

impl RegionStyle {
    const GENERIC: Self = Self { entry_args: true, header_if_empty: true, skip_terminator: false };
}

/// Edges into each block, by the number of the block.
#[derive(Default)]
struct Predecessors {
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl<'p> Printer<'p> {
    pub(super) fn module(&mut self, module: &'p Module) {
        let root = module.op_ref(self.cx);
        if let (true, Some(layout)) = (self.options.as_written, module.text().layout.as_deref()) {
            return self.module_as_written(root, module.text(), layout);
        }
        self.tree(root, module.text());
        self.text("\n");
        self.alias_definitions(true);
        if !module.text().resources.is_empty() {
            self.text("\n");
            self.resources(module.text());
        }
    }

    /// Prints an op with all that is in it, and the aliases before it.
    pub(super) fn tree(&mut self, root: OpRef<'p>, text: &'p TextInfo) {
        self.names = Names::new(number_all(root, &self.options, None));
        if !self.options.local_scope {
            self.aliases = Arc::new(self.find_aliases(root, text));
        }
        self.alias_definitions(false);
        self.write_tree(root);
    }

    /// In custom form only what the formats write gets an alias, in the order in which they write it; so the ops that
    /// hold something with an alias are written once for this alone.
    fn find_aliases(&mut self, root: OpRef<'p>, text: &'p TextInfo) -> alias::Aliases {
        let mut collector = alias::collector(self.cx, text, &self.options);
        collector.walk(root);
        if self.options.generic || !collector.found_any() {
            return collector.name_all();
        }
        let written = std::mem::take(&mut self.out);
        let again = alias::collector(self.cx, text, &self.options);
        self.noting = Some(Box::new(collector.note_with(again)));
        self.write_tree(root);
        self.out = written;
        self.noting.take().map(|noting| noting.name_all()).unwrap_or_default()
    }

    fn write_tree(&mut self, root: OpRef<'p>) {
        self.names.enter_body(root.body);
        let mut frames = Vec::new();
        self.begin_op(root, &mut frames);
        while let Some(frame) = frames.pop() {
            match frame {
                Frame::Op(op) => self.resume_op(op, &mut frames),
                Frame::Region(region) => self.resume_region(region, &mut frames),
            }
            self.flush(super::FLUSH_AT);
        }
        self.names.leave_body();
    }

    /// Writes an op with its regions but without its results.
    pub(super) fn write_alone(&mut self, op: OpRef<'p>) {
        let mut frames = Vec::new();
        self.begin_unnamed(op, &mut frames);
        self.write_frames(frames);
    }

    /// Writes an op as a line of its own.
    pub(super) fn write_line(&mut self, op: OpRef<'p>) {
        self.write_indent();
        let mut frames = Vec::new();
        self.begin_op(op, &mut frames);
        self.write_frames(frames);
        self.op_users(op);
        self.text("\n");
    }

    fn write_frames(&mut self, mut frames: Vec<Frame<'p>>) {
        while let Some(frame) = frames.pop() {
            match frame {
                Frame::Op(op) => self.resume_op(op, &mut frames),
                Frame::Region(region) => self.resume_region(region, &mut frames),
            }
        }
    }

    /// Prints an op up to its first region, or all of it.
    fn begin_op(&mut self, op: OpRef<'p>, frames: &mut Vec<Frame<'p>>) {
        if self.noting.as_ref().is_some_and(|noting| noting.may_skip(op)) {
            return;
        }
        self.record(Part::Op { body: op.body.family(), op: op.op }, || op.loc());
        self.names.write_results(&mut self.out, self.cx, op.op);
        self.begin_unnamed(op, frames);
    }

    fn begin_unnamed(&mut self, op: OpRef<'p>, frames: &mut Vec<Frame<'p>>) {
        if self.options.debug_info {
            self.only_notes(alias::Key::Loc(op.loc()), true);
        }
        // A custom form of a subset has no words for what is beyond it.
        let says_all = || op.interface::<dyn CustomForm>().is_none_or(|form| form.says_all(op));
        let custom = !self.options.generic && !op.is_beyond_subset() && one_type_says_all(op) && says_all();
        let format = op.info().filter(|_| custom).and_then(|info| info.format(self.cx));
        let mut frame = OpFrame { op, next_region: 0, next_item: None, regions_until: 0, begun: 0 };
        match format {
            Some(_) => {
                frame.next_item = Some(0);
                self.begin_custom(op);
                self.resume_op(frame, frames);
            }
            None => {
                self.generic_head(op);
                frame.regions_until = op.regions().len();
                if frame.regions_until != 0 {
                    self.enter_nested(op);
                    self.text(" (");
                }
                self.resume_op(frame, frames);
            }
        }
    }

    /// Makes the names inside an isolated op known.
    pub(super) fn enter_nested(&mut self, op: OpRef<'p>) {
        if let Some(nested) = op.body.nested(op.op) {
            self.names.enter_body(nested);
        }
    }

    pub(super) fn leave_nested(&mut self, op: OpRef<'p>) {
        if op.body.nested(op.op).is_some() {
            self.names.leave_body();
        }
    }

    fn resume_op(&mut self, mut frame: OpFrame<'p>, frames: &mut Vec<Frame<'p>>) {
        if frame.next_item.is_some() {
            return self.resume_custom(frame, frames);
        }
        let op = frame.op;
        while self.options.skip_regions && frame.next_region < frame.regions_until {
            self.text(if frame.next_region == 0 { "{...}" } else { ", {...}" });
            frame.next_region += 1;
        }
        if frame.next_region < frame.regions_until {
            let region = op.region(frame.next_region).expect("counted");
            if frame.next_region != 0 {
                self.text(", ");
            }
            frame.next_region += 1;
            frames.push(Frame::Op(frame));
            return self.begin_region(region, RegionStyle::GENERIC, "", frames);
        }
        if frame.regions_until != 0 {
            self.leave_nested(op);
            self.text(")");
        }
        self.generic_tail(op);
        self.trailing_loc(op);
    }

    fn generic_head(&mut self, op: OpRef<'p>) {
        write_quoted(&mut self.out, op.name_str());
        self.text("(");
        self.operands(op, 0..op.num_operands());
        self.text(")");
        if !op.successors().is_empty() {
            self.text("[");
            self.list(op.successors().iter().copied(), |p, b| p.successor(op.body, b));
            self.text("]");
        }
        self.generic_props(op);
    }

    /// Writes ` <{…}>`, with the values that absent attributes stand for.
    fn generic_props(&mut self, op: OpRef<'p>) {
        let props = op.body.props(op.op);
        let defaults = op.info().map_or(&[][..], |info| info.generic_defaults());
        let is_dict = matches!(self.cx.attr_data(props), AttrData::Dict(_));
        if !is_dict || defaults.is_empty() {
            if props != Attr::EMPTY_DICT {
                self.text(" <");
                self.attr(props);
                self.text(">");
            }
            return;
        }
        self.text(" <{");
        self.list(alias::merged(self.cx, self.cx.entries(props), defaults), Self::named_attr);
        self.text("}>");
    }

    fn generic_tail(&mut self, op: OpRef<'p>) {
        self.attr_dict(self.cx.entries(op.body.attrs(op.op)).iter().copied());
        self.text(" : ");
        self.function_type(op.operand_types(), op.result_types());
    }

    /// Writes `^bbN` for a block of `body`.
    pub fn successor(&mut self, body: &Body, block: Block) {
        self.names.write_block(&mut self.out, body, block);
    }

    pub(super) fn trailing_loc(&mut self, op: OpRef<'p>) {
        if self.noting.is_none() && self.writes_loc(op.loc()) {
            self.text(" ");
            self.loc(op.loc());
        }
    }

    // ---- regions

    /// Opens a region and leaves its ops to a frame.
    pub(super) fn begin_region(
        &mut self,
        region: RegionRef<'p>,
        style: RegionStyle,
        default_dialect: &'p str,
        frames: &mut Vec<Frame<'p>>,
    ) {
        self.text("{\n");
        if let Some(Frame::Op(frame)) = frames.last_mut() {
            frame.begun += 1;
        }
        let body = region.body;
        self.default_dialects.push(default_dialect);
        self.indent += INDENT;
        let entry = body.region_entry(region.region);
        let mut frame = RegionFrame {
            body,
            block: entry,
            op: entry.and_then(|b| body.first_op(b)),
            skipped: None,
            predecessors: self.predecessors(body, region.region),
        };
        if let Some(entry) = entry {
            let empty = body.first_op(entry).is_none();
            let has_args = style.entry_args && !body.block_args(entry).is_empty();
            // An entry block with predecessors is wrong, but must be told from others to be read back.
            let is_target = !frame.predecessors.of(0).is_empty();
            if (style.header_if_empty && empty) || has_args || is_target {
                self.block_header(&frame, entry);
            }
            self.arg_users(body, entry);
            if style.skip_terminator {
                frame.skipped = body.last_op(entry).filter(|last| !self.writes_written_loc(body.loc(*last)));
            }
        }
        frames.push(Frame::Region(frame));
    }

    fn resume_region(&mut self, mut frame: RegionFrame<'p>, frames: &mut Vec<Frame<'p>>) {
        while let Some(block) = frame.block {
            if let Some(op) = frame.op.filter(|op| Some(*op) != frame.skipped) {
                let body = frame.body;
                if let Some(next) = self.write_isolated(body, op, frame.skipped) {
                    frame.op = next;
                    self.flush(super::FLUSH_AT);
                    continue;
                }
                frame.op = body.next_op(op);
                self.write_indent();
                let depth = frames.len();
                frames.push(Frame::Region(frame));
                self.begin_op(OpRef::new(self.cx, body, op), frames);
                // An op without regions is done; its region goes on here.
                if frames.len() > depth + 1 {
                    return;
                }
                self.op_users(OpRef::new(self.cx, body, op));
                self.text("\n");
                let Some(Frame::Region(same)) = frames.pop() else { unreachable!("pushed above") };
                frame = same;
                self.flush(super::FLUSH_AT);
                continue;
            }
            frame.block = frame.body.next_block(block);
            if let Some(next) = frame.block {
                frame.op = frame.body.first_op(next);
                self.block_header(&frame, next);
                self.arg_users(frame.body, next);
            }
        }
        self.record_end(&frame, frames);
        self.end_region(frames);
    }

    fn end_region(&mut self, frames: &mut Vec<Frame<'p>>) {
        self.indent -= INDENT;
        self.default_dialects.pop();
        self.write_indent();
        self.text("}");
        // The op around goes on; when it is done its line ends.
        let Some(Frame::Op(frame)) = frames.pop() else { return };
        let (op, depth) = (frame.op, frames.len());
        self.resume_op(frame, frames);
        if frames.len() == depth && depth != 0 {
            self.op_users(op);
            self.text("\n");
        }
    }

    fn block_header(&mut self, frame: &RegionFrame<'p>, block: Block) {
        let body = frame.body;
        self.indent -= INDENT;
        self.write_indent();
        self.indent += INDENT;
        self.record(Part::Label { body: body.family(), block }, || Loc::UNKNOWN);
        self.successor(body, block);
        let args = body.block_args(block);
        if !args.is_empty() {
            self.text("(");
            self.list(args.iter().copied(), |p, arg| p.block_arg(body, arg));
            self.text(")");
        }
        self.text(":");
        let number = self.names.block_number(block);
        let sources = frame.predecessors.of(number);
        match sources {
            _ if self.written.is_some() => {}
            [] if number == 0 => {}
            [] => self.text("  // no predecessors"),
            [one] => {
                self.text("  // pred: ^bb");
                self.int((*one).into());
            }
            _ => {
                self.text("  // ");
                self.int(sources.len() as i64);
                self.text(" preds: ");
                self.list(sources, |p, source| {
                    p.text("^bb");
                    p.int((*source).into());
                });
            }
        }
        self.text("\n");
    }

    /// Edges into the blocks of a region, which has been numbered.
    fn predecessors(&self, body: &Body, region: Region) -> Predecessors {
        if body.region_entry(region) == body.region_last(region)
            && body.region_entry(region).is_none_or(|b| body.last_op(b).is_none_or(|o| body.successors(o).is_empty()))
        {
            return Predecessors::default();
        }
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for block in body.blocks(region) {
            for op in body.ops(block) {
                for &target in body.successors(op) {
                    edges.push((self.names.block_number(target), self.names.block_number(block)));
                }
            }
        }
        edges.sort_unstable();
        let count = body.region_last(region).map_or(0, |b| self.names.block_number(b) + 1);
        let starts = (0..=count).map(|b| edges.partition_point(|e| e.0 < b) as u32).collect();
        Predecessors { starts, sources: edges.into_iter().map(|e| e.1).collect() }
    }

    // ---- resources

    /// The resource section.
    pub(super) fn resources(&mut self, text: &TextInfo) {
        self.record(Part::Resources, || Loc::UNKNOWN);
        self.text("{-#\n");
        let mut first = true;
        for (external, title) in [(false, "dialect_resources"), (true, "external_resources")] {
            let mut sections = text.resources.iter().filter(|s| s.external == external).peekable();
            if sections.peek().is_none() {
                continue;
            }
            if !std::mem::replace(&mut first, false) {
                self.text(",\n");
            }
            self.text("  ");
            self.text(title);
            self.text(": {\n");
            for (i, section) in sections.enumerate() {
                self.text(if i == 0 { "    " } else { ",\n    " });
                self.keyword_or_string(&section.name);
                self.text(": {\n");
                for (i, entry) in section.entries.iter().enumerate() {
                    self.text(if i == 0 { "      " } else { ",\n      " });
                    self.keyword_or_string(&entry.key);
                    self.text(": ");
                    self.resource(&entry.value);
                }
                self.text("\n    }");
            }
            self.text("\n  }");
        }
        self.text("\n#-}\n");
    }

    fn resource(&mut self, value: &Resource) {
        match value {
            Resource::Bool(value) => self.text(if *value { "true" } else { "false" }),
            Resource::String(text) => {
                let limit = self.options.elide_resource_strings_larger_than;
                self.string(if limit.is_some_and(|l| text.len() > l) { super::ELIDED } else { text });
            }
        }
    }
}

impl Predecessors {
    fn of(&self, block: u32) -> &[u32] {
        match self.starts.get(block as usize..block as usize + 2) {
            Some(&[from, to]) => &self.sources[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// False where a custom form would write one type for values whose types differ: in what is known of sizes, or in properties.
fn one_type_says_all(op: OpRef<'_>) -> bool {
    if !op.has_trait(Traits::SameOperandsAndResultType) {
        return true;
    }
    let mut types = op.operand_types().chain(op.result_types());
    let first = types.next();
    types.all(|ty| Some(ty) == first)
}
