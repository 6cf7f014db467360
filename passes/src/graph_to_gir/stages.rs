//! The stages of a region, one after another on tiles: what is read from memory once, made, and written.

use std::collections::HashMap;

use sutura_ir::Value;
use sutura_ir::affine::AffineExpr;

use super::kernel::{Built, Emit};
use super::region::FusedRegion;
use super::tiles::{Frame, Number, Tile};
use crate::region::{Nest, Stage};

/// What a kernel has computed and read so far.
#[derive(Default)]
pub(super) struct Known {
    made: HashMap<Value, Number>,
    read: HashMap<(Value, Vec<AffineExpr>), Tile>,
    views: HashMap<Value, Value>,
}

impl Known {
    /// The view of a tensor.
    pub(super) fn view(&self, tensor: Value) -> Option<Value> {
        self.views.get(&tensor).copied()
    }
}

/// A region whose stages are emitted.
#[derive(Clone, Copy)]
pub(super) struct Walk<'r, 'a> {
    pub(super) region: &'r FusedRegion<'a>,
    pub(super) nest: &'r Nest<'a>,
}

impl Walk<'_, '_> {
    /// Starts a kernel whose first views are `tensors`.
    pub(super) fn start(&self, e: &mut Emit<'_>, tensors: &[Value]) -> Known {
        let mut known = Known::default();
        let views = e.views.clone();
        for (value, view) in tensors.iter().zip(views) {
            let view = e.reshaped(view, &self.nest.shapes[value]);
            known.views.insert(*value, view);
        }
        known
    }

    /// The arguments of a stage: what was made before, or is read now.
    pub(super) fn args(&self, e: &mut Emit<'_>, frame: &Frame, stage: &Stage<'_>, known: &mut Known) -> Vec<Number> {
        let mut args = Vec::new();
        for read in &stage.inputs {
            let number = known.made.get(&read.value).copied().unwrap_or_else(|| {
                let view = known.views[&read.value];
                let load = || e.load(self.nest, frame, view, &read.index, None);
                Number::Tile(*known.read.entry((read.value, read.index.clone())).or_insert_with(load))
            });
            args.push(number);
        }
        args
    }

    /// A stage that combines nothing.
    pub(super) fn elementwise(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        stage: &Stage<'_>,
        known: &mut Known,
    ) -> Built<()> {
        e.loc = stage.op.loc();
        let args = self.args(e, frame, stage, known);
        let numbers = e.scalars(frame, &self.region.facts, stage, &args)?;
        self.finish(e, frame, stage, numbers, known);
        Ok(())
    }

    /// Notes what a stage has made, and writes what is used outside.
    pub(super) fn finish(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        stage: &Stage<'_>,
        numbers: Vec<Number>,
        known: &mut Known,
    ) {
        e.loc = stage.op.loc();
        for (write, number) in stage.results.iter().zip(numbers) {
            known.made.insert(write.value, number);
            if self.region.outputs.contains(&write.value) {
                e.store(self.nest, frame, number, known.views[&write.value], &write.index);
            }
        }
    }
}
