//! Stages that write at indices which are data: updates, one after another over what is there.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::gir::ops::BinaryOp;
use sutura_dialects::graph::Combiner;
use sutura_ir::{OpRef, Value};

use super::super::kernel::{Built, Emit};
use super::super::scalars::tile_combiner;
use super::super::stages::Known;
use super::super::tiles::{Frame, Number, Tile, zero};
use super::nodes::Inside;
use crate::region::{Access, Nest, Scatter, Stage};

/// Where writes at indices may leave their tensor.
pub(in super::super) struct Written {
    /// Sizes that are not negative in any run, so that a kernel may require it.
    pub(super) known: Vec<Poly>,
    /// Dimensions along which they may.
    pub(super) edges: Vec<usize>,
    /// How many of them data do not index.
    lengths: usize,
}

impl Written {
    /// The writes of a stage on tiles with columns along `col`.
    pub(in super::super) fn of(nest: &Nest<'_>, stage: &Stage<'_>, facts: &Facts, col: Option<usize>) -> Self {
        let (mut known, mut edges) = (Vec::new(), Vec::new());
        let write = &stage.results[0];
        let Some(sizes) = nest.shapes.get(&write.value).filter(|_| stage.scatter.is_some()) else {
            return Self { known, edges, lengths: 0 };
        };
        for (dim, (expr, size)) in write.index.iter().zip(sizes).enumerate() {
            let Some(own) = nest.plain(*expr) else {
                // An index that is picked of nothing is none.
                edges.extend((facts.range(size).0 < 1).then_some(dim));
                continue;
            };
            let room = facts.canonical(&size.sub(&nest.extents[own]));
            if facts.range(&room).0 >= 0 || col == Some(own) {
                continue;
            }
            match facts.canonical(&room.lesser(&Poly::default())).is_zero() {
                true => known.push(room),
                false => edges.push(dim),
            }
        }
        let lengths = edges.iter().filter(|dim| nest.plain(write.index[**dim]).is_some()).count();
        Self { known, edges, lengths }
    }

    /// Along one dimension at most what is written may be longer than its tensor: no other one is indexed by data then.
    ///
    /// # Errors
    /// Says along how many they do.
    pub(in super::super) fn check(&self) -> Result<(), String> {
        match self.edges.len() {
            edges if edges > 1 && self.lengths > 0 => Err(format!(
                "writes along {edges} dimensions of which nothing says before the run that they are long enough; constant \
                 sizes, or the same ones, would"
            )),
            _ => Ok(()),
        }
    }
}

impl Inside<'_, '_> {
    /// Writes updates at their places.
    pub(super) fn scatter(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (stage, scatter): (&Stage<'_>, &Scatter<'_>),
        updates: Vec<Number>,
        known: &Known,
    ) -> Built<()> {
        let (nest, facts) = (self.nest(), &self.of.region.facts);
        let written = Written::of(nest, stage, facts, frame.col.as_ref().map(|axis| axis.dim));
        written.check().or_else(|why| Emit::unsupported(stage.op, &why))?;
        let views = stage.results.iter().map(|write| known.view(stage.op, write.value));
        let views: Vec<Value> = views.collect::<Built<_>>()?;
        let places: Vec<_> = views.into_iter().zip(&stage.results).collect();
        let mut old = |(view, write): &(Value, &Access)| {
            let pad = zero(nest.cx, e.view_elem(*view));
            e.load(nest, frame, (*view, &write.index), (Some(pad), &written.edges))
        };
        let numbers = match (scatter.combiner, scatter.joins) {
            (None, None) => updates,
            (Some(combiner), _) => {
                let old = old(&places[0]);
                vec![e.update(frame, (stage.op, combiner), old, updates[0])?]
            }
            (None, Some(joins)) => {
                let old: Vec<Number> = places.iter().map(|place| Number::Tile(old(place))).collect();
                let args: Vec<Number> = old.into_iter().chain(updates).collect();
                e.function(frame, facts, (nest, stage), joins, &args)?
            }
        };
        e.loc = stage.op.loc();
        for ((view, write), number) in places.into_iter().zip(numbers) {
            e.store_within(nest, frame, number, (view, &write.index), &written.edges);
        }
        Ok(())
    }
}

impl Emit<'_> {
    /// An update joined to what is at its place.
    fn update(
        &mut self,
        frame: &Frame,
        (op, combiner): (OpRef<'_>, Combiner),
        old: Tile,
        update: Number,
    ) -> Built<Number> {
        let cx = self.b.cx();
        let wide = accumulator_type(cx, old.elem);
        let Some(combiner) = tile_combiner(cx, combiner, wide) else {
            return Self::unsupported(op, "joins numbers in a way that tiles do not");
        };
        let update = self.realise(frame, update, old.shape, Some(old));
        let (a, b) = (self.converted(old, wide), self.converted(update, wide));
        let value = BinaryOp::value(&mut self.b, self.loc, combiner.binary(), a.value, b.value);
        Ok(Number::Tile(self.converted(Tile { value, ..a }, old.elem)))
    }
}
