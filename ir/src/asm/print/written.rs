//! A program as its text had it, and where the parts of what is printed are.

use std::sync::Arc;

use super::Printer;
use super::alias::{Aliases, Key};
use super::names::Names;
use super::numbering::number_all;
use super::op::{Frame, RegionFrame};
use crate::asm::layout::{Layout, Part, Place};
use crate::asm::{Aliased, TextInfo};
use crate::attrs::{Attr, AttrData};
use crate::location::Loc;
use crate::op_ref::OpRef;

impl<'p> Printer<'p> {
    /// What stood in the file, in its order: operations, aliases, and at last all resources.
    pub(super) fn module_as_written(&mut self, root: OpRef<'p>, text: &'p TextInfo, layout: &'p Layout) {
        self.written = Some(layout);
        self.options.hex_elements_larger_than = None;
        self.names = Names::new(number_all(root, &self.options, Some(layout)));
        self.names.enter_body(root.body);
        let file = match root.body.nested(root.op).filter(|_| layout.implicit_module) {
            Some(inside) => {
                self.names.enter_body(inside);
                inside
            }
            None => root.body,
        };
        let top = file.entry_block();
        let cx = self.cx;
        let mut aliases = Aliases::default();
        // Only locations may be used before they are defined.
        let locations = text.aliases.iter().filter(|(target, _)| matches!(Key::of(cx, *target), Key::Loc(_)));
        locations.for_each(|&(target, name)| aliases.add(cx, target, cx.str(name)));
        self.aliases = Arc::new(aliases);
        let resources = layout.places.iter().rposition(|place| place.part == Part::Resources);
        for (i, place) in layout.places.iter().enumerate() {
            match place.part {
                Part::Op { body, op } if body == file.family() && file.op_block(op) == top => {
                    self.write_line(OpRef::new(cx, file, op))
                }
                Part::Alias(target, name) => self.alias_as_written(target, cx.str(name)),
                Part::Resources if Some(i) == resources => self.resources(text),
                _ => {}
            }
        }
    }

    fn alias_as_written(&mut self, target: Aliased, name: &str) {
        let cx = self.cx;
        self.alias_definition(Key::of(cx, target), name);
        if let Some(aliases) = Arc::get_mut(&mut self.aliases) {
            aliases.add(cx, target, name);
        }
    }

    /// True for a location that is printed only because it was written.
    pub(super) fn writes_written_loc(&self, loc: Loc) -> bool {
        self.written.is_some() && loc.position().is_none()
    }

    /// True where a location is to be printed.
    pub(super) fn writes_loc(&self, loc: Loc) -> bool {
        self.options.debug_info || self.writes_written_loc(loc)
    }

    /// Elements in hexadecimal if they were written so.
    pub(super) fn hex_as_written(&mut self, attr: Attr) {
        if let Some(layout) = self.written {
            self.options.hex_elements_larger_than = layout.hex.contains(&attr).then_some(0);
        }
    }

    // ---- where parts are

    /// Notes that a part begins here.
    pub(super) fn record(&mut self, part: Part, loc: impl FnOnce() -> Loc) {
        if let (Some(places), true) = (&mut self.places, self.noting.is_none()) {
            places.push(Place { at: self.out.len() as u32, part, loc: loc() });
        }
    }

    pub(super) fn record_alias(&mut self, key: Key, name: &str) {
        if self.places.is_some() {
            let cx = self.cx;
            let target = match key {
                Key::Type(ty) => Aliased::Type(ty),
                Key::Attr(attr) => Aliased::Attr(attr),
                Key::Loc(loc) => Aliased::Attr(cx.attr(AttrData::Location(loc))),
            };
            self.record(Part::Alias(target, cx.ident(name)), || Loc::UNKNOWN);
        }
    }

    /// Notes where a region ends, and the terminator that is left out of it.
    pub(super) fn record_end(&mut self, region: &RegionFrame<'p>, frames: &[Frame<'p>]) {
        if self.places.is_none() {
            return;
        }
        if let Some(op) = region.skipped {
            self.record(Part::Op { body: region.body.family(), op }, || region.body.loc(op));
        }
        if let Some(Frame::Op(frame)) = frames.last() {
            let (body, op, region) = (frame.op.body.family(), frame.op.op, frame.begun - 1);
            self.record(Part::Close { body, op, region }, || Loc::UNKNOWN);
        }
    }
}
