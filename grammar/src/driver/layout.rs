//! What is kept of the text beside the program, where that is asked for.

use sutura_ir::asm::layout::{Layout, Part, Place};
use sutura_ir::body::{Block, Op};
use sutura_ir::location::Loc;

use super::{Driver, OpenOp};
use crate::KeepLayout;

/// An empty layout, if one is to be kept.
pub(super) fn begin(keep: KeepLayout) -> Option<Box<Layout>> {
    (keep != KeepLayout::No).then(Box::default)
}

impl<'t> Driver<'t> {
    pub(super) fn keeps_all(&self) -> bool {
        self.reader.options.layout == KeepLayout::All
    }

    /// Notes that a part begins at `at`; returns which one it is.
    pub(super) fn place(&mut self, at: usize, part: Part) -> Option<usize> {
        let layout = self.text_info.layout.as_deref_mut()?;
        layout.places.push(Place { at: at as u32, part, loc: Loc::UNKNOWN });
        Some(layout.places.len() - 1)
    }

    /// Notes the end of a region of `op`, whose brace is at `at`.
    pub(super) fn place_close(&mut self, at: usize, op: &mut OpenOp<'t>) {
        let Some(place) = self.place(at, Part::Unknown) else { return };
        match op {
            OpenOp::Generic(op) => op.start.places.push(place),
            OpenOp::Custom(op) => op.start.places.push(place),
            OpenOp::Broken => {}
        }
    }

    /// Notes the label of a block.
    pub(super) fn place_label(&mut self, at: usize, block: Block, name: &str) {
        if self.text_info.layout.is_none() {
            return;
        }
        let (body, keeps_all) = (self.level().body.family(), self.keeps_all());
        self.place(at, Part::Label { body, block });
        let name = self.cx().ident(name);
        if let (Some(layout), true) = (&mut self.text_info.layout, keeps_all) {
            layout.block_names.insert((body, block), name);
        }
    }

    /// Says which op the places of one that is complete now belong to.
    pub(super) fn name_places(&mut self, op: Op, loc: Loc, places: &[usize]) {
        let Some((&first, ends)) = places.split_first() else { return };
        let body = self.level().body.family();
        let Some(layout) = &mut self.text_info.layout else { return };
        layout.places[first].part = Part::Op { body, op };
        layout.places[first].loc = loc;
        for (region, &end) in ends.iter().enumerate() {
            layout.places[end].part = Part::Close { body, op, region: region as u32 };
        }
    }

    pub(super) fn finish_layout(&mut self) {
        if let Some(layout) = &mut self.text_info.layout {
            layout.hex = std::mem::take(&mut self.reader.hex);
        }
    }
}
