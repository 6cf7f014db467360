//! Any structured op by itself: a grid over what is made, loops over what is combined.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Dim, Kernel, Launch, Node, Split, Tile, Version};

use super::super::kernel::{Built, Emit};
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::Written;
use super::variant::{Axis, Setting, Variant};
use super::{Scheduled, each, in_grid, place, with_likely_sizes};
use crate::region::rows::check_column_access;
use crate::region::{Nest, Stage};

/// Columns of a tile.
const COLUMNS: i64 = 64;

/// Columns of a tile where there are few.
const FEW_COLUMNS: i64 = 16;

/// Columns of tiles that a search tries.
const TILES: [i64; 4] = [COLUMNS, 32, 128, 256];

/// What can be chosen of a region, each with the usual value first; nothing of one that cannot be lowered.
pub(super) fn axes(region: &FusedRegion<'_>) -> Vec<Axis> {
    let Ok(nest) = Nest::of(&region.facts, &region.ops, &region.outputs) else { return vec![] };
    let [stage] = &nest.stages[..] else { return vec![] };
    if stage.scatter.is_some() {
        return vec![];
    }
    let looped = Loops::of(region, &nest, stage);
    let inside = looped.rows.iter().filter(|d| !nest.is_unit(**d)).count();
    let wide = looped.col.is_some_and(|col| region.facts.range(&nest.extents[col]).1 > i128::from(FEW_COLUMNS));
    let columns = TILES.into_iter().filter(|_| wide).map(Setting::Columns).collect();
    vec![columns, (0..=inside.min(2) as i64).map(Setting::Inner).collect()]
}

/// Lowers a region of one op, with versions for likely sizes.
pub(super) fn lower(region: &FusedRegion<'_>, variant: &Variant) -> Built<Lowered> {
    with_likely_sizes(region, &|region| {
        let nest = Nest::of(&region.facts, &region.ops, &region.outputs)
            .map_err(|misfit| Box::new(region.op.error(format!("cannot be lowered: {misfit}"))))?;
        let [stage] = &nest.stages[..] else {
            return Err(Box::new(region.op.error("is no loop: it has several ops")));
        };
        let looped = Loops::of(region, &nest, stage);
        let written = Written::of(&nest, stage, &region.facts, looped.col);
        written.check().or_else(|why| Emit::unsupported(stage.op, &why))?;
        let versions = looped.versions(variant);
        Ok(Scheduled { nest, versions, remarks: vec![] })
    })
}

struct Loops<'r, 'a> {
    region: &'r FusedRegion<'a>,
    nest: &'r Nest<'a>,
    stage: &'r Stage<'a>,
    /// Dims of what is made but the columns, without one along which it is combined as it goes.
    rows: Vec<usize>,
    /// The dim of the tiles' columns.
    col: Option<usize>,
}

impl<'r, 'a> Loops<'r, 'a> {
    fn of(region: &'r FusedRegion<'a>, nest: &'r Nest<'a>, stage: &'r Stage<'a>) -> Self {
        let made = stage.results[0].index.iter().filter_map(|e| nest.plain(*e));
        let parallel: Vec<usize> = made.filter(|dim| stage.scan.is_none_or(|scan| scan.dim != *dim)).collect();
        let col = column(nest, stage, &parallel);
        let rows = parallel.into_iter().filter(|d| Some(*d) != col).collect();
        Self { region, nest, stage, rows, col }
    }

    fn versions(&self, variant: &Variant) -> Vec<Version> {
        let most = variant.find(|setting| if let Setting::Columns(columns) = setting { Some(*columns) } else { None });
        let inner = variant.find(|setting| if let Setting::Inner(dims) = setting { Some(*dims) } else { None });
        let (most, inner) = (most.unwrap_or(COLUMNS), inner.and_then(|dims| usize::try_from(dims).ok()).unwrap_or(0));
        let version = |(columns, guard): (i64, Vec<Poly>)| {
            let launches = vec![Launch { kernels: vec![self.kernel(columns, inner)] }];
            Version { guard, launches, ..Version::default() }
        };
        widths(self.nest, &self.region.facts, self.col, most).into_iter().map(version).collect()
    }

    /// A group has `columns` columns, and loops over so many dims of what is made, the innermost ones.
    fn kernel(&self, columns: i64, inner: usize) -> Kernel {
        let (nest, stage) = (self.nest, self.stage);
        let space = self.region.machine.registers.to_string();
        let tile = Tile { rows: None, cols: self.col.map(Dim), space, padded: true };
        let combined = stage.reduced.iter().copied().chain(stage.scan.map(|scan| scan.dim));
        let looped = combined.collect::<Vec<_>>();
        let body = vec![Node::Place(place(nest, 0, &tile))];
        let body = looped.into_iter().rev().fold(body, |body, dim| vec![each(dim, body)]);
        let long: Vec<usize> = self.rows.iter().copied().filter(|d| !nest.is_unit(*d)).collect();
        let (grid, inner) = long.split_at(long.len() - inner.min(long.len()));
        let body = inner.iter().rev().fold(body, |body, dim| vec![each(*dim, body)]);
        let columns = self.col.filter(|col| !nest.is_unit(*col)).map(|col| (col, Split::By(columns)));
        Kernel::new(in_grid(grid.iter().map(|dim| (*dim, Split::One)).chain(columns).collect(), body))
    }
}

/// Columns of a tile, `most` where there are many, and the guard of the version with that many, the last of which has none:
/// where there are few columns, most of a wide tile would be masked off.
fn widths(nest: &Nest<'_>, facts: &Facts, col: Option<usize>, most: i64) -> Vec<(i64, Vec<Poly>)> {
    let Some(col) = col else { return vec![(1, vec![])] };
    let extent = &nest.extents[col];
    let few = Poly::constant(FEW_COLUMNS).sub(extent);
    match facts.range(extent) {
        (_, high) if high <= i128::from(FEW_COLUMNS) => vec![(FEW_COLUMNS, vec![])],
        (low, _) if low > i128::from(FEW_COLUMNS) => vec![(most, vec![])],
        _ => vec![(FEW_COLUMNS, vec![few]), (most, vec![])],
    }
}

/// The innermost dim along which everything is read forward.
fn column(nest: &Nest<'_>, stage: &Stage<'_>, parallel: &[usize]) -> Option<usize> {
    let forward = |d: &usize| {
        stage.inputs.iter().all(|read| check_column_access(nest, read, *d).is_ok())
            && !stage.picks.iter().any(|pick| nest.mentions(&pick.access, *d))
    };
    let mut inner = parallel.iter().rev().copied().filter(forward);
    let first = inner.next();
    first.into_iter().chain(inner).find(|d| !nest.is_unit(*d)).or(first)
}
