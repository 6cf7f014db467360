//! Rows that are combined along what groups loop over: tiles of columns, or blocks of rows, whose parts another kernel joins.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::elements::{accumulator_type, scalar_type};
use sutura_dialects::schedule::Version;
use sutura_ir::Type;

use super::super::share::Width;
use super::{Rows, version};

/// Bytes of a group's memory for what is combined along its rows.
const KEPT_BYTES: i64 = 1 << 19;

impl Rows<'_, '_> {
    /// Widths of tiles in registers, the narrowest first, and for each but the last the most columns that it serves: a
    /// tile that reaches beyond the last column masks all that it reads.
    fn widths(&self, extent: &Poly, sums: i64) -> Vec<(i64, Option<Poly>)> {
        let wide = self.thresholds.columns.unwrap_or_else(|| self.shares.tile_columns(sums));
        let mut narrow = vec![self.shares.vector_columns(), wide / 2];
        narrow.retain(|width| *width < wide);
        narrow.dedup();
        let (low, high) = self.facts.range(extent);
        let mut widths: Vec<(i64, Option<Poly>)> = Vec::new();
        for width in narrow.into_iter().filter(|width| low <= i128::from(*width)) {
            if high <= i128::from(width) {
                widths.push((width, None));
                return widths;
            }
            widths.push((width, Some(Poly::constant(width).sub(extent))));
        }
        widths.push((wide, None));
        widths
    }

    /// Tiles of columns: parts of many rows, or all of few.
    pub(super) fn columns(&self) -> Vec<Version> {
        let col = self.plan.col.expect("there is a column where columns are shared");
        let sums = self.carried();
        let mut versions: Vec<Version> = Vec::new();
        let dim = self.plan.loops[0];
        let parts = Poly::constant(self.thresholds.parts);
        let split = self.divided(dim);
        for (width, guard) in self.widths(&self.nest.extents[col], sums) {
            let guard: Vec<Poly> = guard.into_iter().collect();
            let width = Width::Registers(width);
            if let Some(many) = &split {
                let guards = [many.clone(), guard.clone()].concat();
                versions.push(version(guards, self.shares.in_parts(&self.whole(width), (dim, &parts))));
            }
            if split.as_ref().is_none_or(|many| !many.is_empty()) {
                versions.push(version(guard, vec![self.shares.kernel(&self.whole(width))]));
            }
        }
        versions
    }

    /// Bytes of a group's memory for each sum of a column: the sum and a copy of it, and numbers on the way to the type in which
    /// it is accumulated.
    fn bytes_kept(&self, sums: Type) -> i64 {
        let cx = self.nest.cx;
        let elem = cx.element_type(sums);
        let accumulated = accumulator_type(cx, scalar_type(cx, elem));
        let bytes = cx.bit_width(accumulated).map_or(8, |bits| i64::from(bits.div_ceil(8)));
        bytes * if accumulated == elem { 2 } else { 4 }
    }

    /// Blocks of rows, with sums of each column kept in the group; where they do not fit, rows and columns one after another.
    pub(super) fn blocks(&self) -> Vec<Version> {
        let dim = self.plan.loops[0];
        let kept = self
            .nest
            .stages
            .iter()
            .filter(|s| s.reduced.contains(&dim))
            .flat_map(|s| s.results.iter().map(|result| s.op.body.ty(result.value)));
        let bytes: i64 = kept.map(|ty| self.bytes_kept(ty)).sum();
        let most = self.thresholds.resident.min(KEPT_BYTES / bytes.max(8));
        let fits = self.fits(most);
        let mut versions: Vec<Version> = Vec::new();
        let parts = self.thresholds.parts;
        let few = (parts / 8).max(1);
        for (parts, least) in [(parts, self.many(parts)), (few, 0)] {
            let Some(many) = (if least == 0 { Some(vec![]) } else { self.at_least(dim, least) }) else { continue };
            let guards = [many, fits.clone().into_iter().collect()].concat();
            let last = guards.is_empty();
            versions.push(version(guards, self.shares.in_parts(&self.whole(Width::Whole), (dim, &parts.into()))));
            if last {
                return versions;
            }
        }
        let width = Width::Registers(self.shares.tile_columns(2));
        versions.push(version(vec![], self.shares.apart(&self.whole(width), dim)));
        versions
    }
}
