//! What a schedule says of the caches, written into a kernel: clauses of stores and loads, and tiles that live in an output.

use std::collections::HashMap;

use sutura_dialects::r#dyn::attr::shape_attr;
use sutura_dialects::gir::ops::HomeOp;
use sutura_dialects::schedule::{Kernel, Node, Operand, Prefetch, Stored, walk};
use sutura_ir::{Attr, Context, Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Clauses, Frame, Number, Tile};
use super::REFUSED;
use super::nodes::{Inside, State};
use crate::region::{Nest, Stage};

/// What the places of a kernel say, by the values that are made there.
#[derive(Default)]
pub(super) struct Said {
    /// Clauses of stores.
    stores: HashMap<Value, Clauses>,
    /// The outputs in which tiles live.
    homes: HashMap<Value, Value>,
}

impl Said {
    pub(super) fn of(nest: &Nest<'_>, tree: &Kernel) -> Self {
        let mut said = Self::default();
        walk(&tree.body, &mut |node| {
            let (Node::Place(place) | Node::Join(place)) = node else { return };
            let results = &nest.stages[place.stage.number].results;
            if let Some(store) = &place.store {
                said.stores.extend(results.iter().map(|result| (result.value, clauses(nest.cx, store))));
            }
            let output = place.home.as_ref().and_then(|home| nest.stages[home.number].results.first());
            if let Some((made, output)) = results.first().zip(output) {
                said.homes.insert(made.value, output.value);
            }
        });
        said
    }

    /// What the store of a value says.
    pub(super) fn of_store(&self, value: Value) -> Clauses {
        self.stores.get(&value).cloned().unwrap_or_default()
    }
}

fn clauses(cx: &Context, store: &Stored) -> Clauses {
    match store {
        Stored::Kept => vec![("kept", Attr::UNIT)],
        Stored::Stream { when, defer } => {
            let defer = defer.then_some(("defer", Attr::UNIT));
            [("stream", shape_attr(cx, when))].into_iter().chain(defer).collect()
        }
    }
}

impl Inside<'_, '_> {
    /// A number that was just made, in its home if it has one.
    pub(super) fn at_home(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (stage, value): (&Stage<'_>, Value),
        number: Number,
        (known, state): (&Known, &mut State),
    ) -> Built<Number> {
        let output = self.said.homes.get(&value).filter(|_| !stage.copy);
        let (Some(output), Number::Tile(tile)) = (output, number) else { return Ok(number) };
        let nest = self.nest();
        let written = nest.made.get(output).map(|(s, r)| &nest.stages[*s].results[*r].index);
        let index = written.expect("the output of a stage");
        let view = known.view(stage.op, *output)?;
        let elem = e.view_elem(view);
        let (slice, shape, turned) = e.slice(nest, frame, view, index, &[]);
        if turned || shape != tile.shape || elem != tile.elem {
            let message = format!("{REFUSED}: a tile has its home in an output of other elements or extents");
            return Emit::unsupported(self.of.region.op, &message);
        }
        let value = HomeOp::value(&mut e.b, e.loc, tile.value, slice);
        state.homes.insert(*output, slice);
        Ok(Number::Tile(Tile { value, ..tile }))
    }

    /// A tile of an operand; its load asks for what lies ahead of it, if that is said.
    pub(super) fn brought(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        operand: &Operand,
        known: &mut Known,
    ) -> Built<Number> {
        let stage = &self.nest().stages[operand.stage.number];
        e.asked = operand.prefetch.iter().flat_map(|prefetch| asked(self.nest().cx, prefetch)).collect();
        let number = self.of.arg(e, frame, (stage.op, &stage.inputs[operand.input]), known)?;
        if e.asked.is_empty() {
            return Ok(number);
        }
        let message = format!("{REFUSED}: an operand is asked for ahead that was read before");
        Emit::unsupported(self.of.region.op, &message)
    }
}

fn asked(cx: &Context, prefetch: &Prefetch) -> Clauses {
    let bytes = prefetch.bytes.map(|bytes| ("prefetch", cx.int_attr(bytes, Type::I64)));
    let next = prefetch.next.as_ref().map(|sizes| ("next", shape_attr(cx, sizes)));
    bytes.into_iter().chain(next).collect()
}
