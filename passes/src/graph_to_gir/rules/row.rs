//! Row regions: kernels over rows, over tiles of columns, or over blocks whose parts another kernel combines.

use std::cell::RefCell;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::elements::{accumulator_type, scalar_type};
use sutura_dialects::graph::{PlanAttr, Setting};
use sutura_dialects::schedule::{Kernel, Launch, Version};
use sutura_ir::Type;

use super::super::kernel::Built;
use super::super::mapping::Axis;
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule;
use super::blocks::{Block, FEW, ROWS};
use super::parts::Shares;
use super::share::{Share, Width};
use super::turned::Turned;
use crate::region::rows::Sharing;
use crate::region::{Access, Misfit, Nest, RowPlan, Stage};

/// Columns of a tile of a region that combines nothing along them.
const ELEMENTWISE_COLUMNS: i64 = 4096;

/// Columns of a tile of a long row.
const LONG_COLUMNS: i64 = 16384;

/// Columns of tiles that a search tries where nothing is combined along them.
const TILES: [i64; 3] = [1024, 4096, 16384];

/// Rows of a group that a search tries beside the usual ones. More save next to nothing, and leave less to share among threads,
/// of which predictions and measurements on one know nothing.
const FEWER: [i64; 2] = [1, 4];

/// Bytes of a group's memory for what is combined along its rows.
const KEPT_BYTES: i64 = 1 << 19;

/// Sizes from which on other versions serve; see the options of the pass.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Thresholds {
    /// Longest row that is kept in the cache between passes over it.
    pub(in super::super) resident: i64,
    /// Parts of a dim that is combined along.
    pub(in super::super) parts: i64,
    /// Fewest rows of a part.
    pub(in super::super) part_rows: i64,
    /// Columns of a tile, all with 0; `None` for what is usual.
    pub(in super::super) columns: Option<i64>,
    /// Most rows of a group; `None` for what is usual.
    pub(in super::super) rows: Option<i64>,
    /// Square tiles along a side of a block, none with 0; `None` for what is usual.
    pub(in super::super) block: Option<i64>,
}

impl Thresholds {
    /// These, with the settings of a plan.
    pub(in super::super) fn with(mut self, plan: &PlanAttr) -> Self {
        for setting in &plan.settings {
            match *setting {
                Setting::Columns(columns) => self.columns = Some(columns),
                Setting::Resident(columns) => self.resident = columns,
                Setting::Rows(rows) => self.rows = Some(rows),
                Setting::Parts(parts) => self.parts = parts,
                Setting::Block(tiles) => self.block = Some(tiles),
                Setting::Tile(..) | Setting::Keys(_) | Setting::Inner(_) => {}
            }
        }
        self
    }
}

/// What can be chosen of a row region, each with the usual value first; nothing of one that cannot be lowered.
pub(in super::super) fn axes(region: &FusedRegion<'_>, thresholds: Thresholds) -> Vec<Axis> {
    let Ok((nest, plan)) = normal_form(region) else { return vec![] };
    Rows::new(region, &nest, &plan, thresholds).axes()
}

/// Lowers a row region.
pub(in super::super) fn lower(region: &FusedRegion<'_>, thresholds: Thresholds) -> Built<Lowered> {
    let (nest, plan) = normal_form(region).map_err(|misfit| {
        let message = format!("is marked as a region of rows, but: {misfit}");
        Box::new(region.op.error(message))
    })?;
    let rows = Rows::new(region, &nest, &plan, thresholds);
    let versions = match plan.sharing {
        Sharing::Rows => rows.rows(),
        Sharing::Columns => rows.columns(),
        Sharing::Blocks => rows.blocks(),
    };
    let lowered = schedule::emit(&[(region, &nest)], &versions)?;
    Ok(Lowered { remarks: rows.remarks.take(), ..lowered })
}

fn normal_form<'a>(region: &FusedRegion<'a>) -> Result<(Nest<'a>, RowPlan), Misfit> {
    let facts = &region.facts;
    let mut nest = Nest::of(facts, &region.ops, &region.outputs)?;
    let plan = RowPlan::of(&mut nest, facts)?;
    // Pairs of rows become one, and all dims where nothing is combined along the column.
    let reduced = |n: &Nest<'_>, d: usize| n.stages.iter().any(|s| s.reduced.contains(&d));
    if nest.collapse(facts, &|n, a, b| !reduced(n, a) && !reduced(n, b)) == 0 {
        return Ok((nest, plan));
    }
    let plan = RowPlan::of(&mut nest, facts)?;
    Ok((nest, plan))
}

/// A version whose kernels are launched one after another.
fn version(guard: Vec<Poly>, kernels: Vec<Kernel>) -> Version {
    let launch = |kernel| Launch { kernels: vec![kernel] };
    Version { guard, launches: kernels.into_iter().map(launch).collect() }
}

struct Rows<'r, 'a> {
    nest: &'r Nest<'a>,
    plan: &'r RowPlan,
    facts: &'r Facts,
    shares: Shares<'r, 'a>,
    turned: Option<Turned<'r, 'a>>,
    thresholds: Thresholds,
    /// What is said of the kernels.
    remarks: RefCell<Vec<String>>,
}

impl<'r, 'a> Rows<'r, 'a> {
    fn new(region: &'r FusedRegion<'a>, nest: &'r Nest<'a>, plan: &'r RowPlan, thresholds: Thresholds) -> Self {
        let shares = Shares { nest, machine: region.machine };
        let turned = match thresholds.block {
            Some(0) => None,
            tiles => Turned::of(region, nest, plan, tiles),
        };
        Self { nest, plan, facts: &region.facts, shares, turned, thresholds, remarks: RefCell::default() }
    }

    /// True when something is computed in each column before and used after columns are combined.
    fn keeps_something(&self) -> bool {
        let Some(col) = self.plan.col else { return false };
        let computes = |s: &Stage<'_>| !s.reduces() && s.dims.contains(&col);
        let combined = self.nest.stages.iter().rposition(Stage::reduces);
        combined.is_some_and(|last| self.nest.stages[..last].iter().any(computes))
    }

    /// True when something is combined as it goes: then what comes before a place must be known there.
    fn scans(&self) -> bool {
        self.nest.stages.iter().any(|s| self.nest.scanned(s).is_some())
    }

    /// Tiles that loops carry, where groups have tiles of columns.
    fn carried(&self) -> i64 {
        self.nest.stages.iter().filter(|s| s.reduces() || self.nest.scanned(s).is_some()).count() as i64
    }

    /// Columns of a group where nothing is combined along loops: all, or tiles.
    fn width(&self) -> Width {
        match self.thresholds.columns.unwrap_or_else(|| self.usual_width()) {
            columns if columns > 0 && self.tileable() => Width::Tiles(columns),
            _ => Width::Whole,
        }
    }

    /// Columns of a tile of a region that combines nothing, or 0 for all.
    fn usual_width(&self) -> i64 {
        if self.columns_at_most(2 * ELEMENTWISE_COLUMNS) { 0 } else { ELEMENTWISE_COLUMNS }
    }

    fn columns_at_most(&self, most: i64) -> bool {
        self.plan.col.is_none_or(|col| self.facts.range(&self.nest.extents[col]).1 <= i128::from(most))
    }

    /// Groups may have tiles of columns: nothing is combined, and all that is written lies along them.
    fn tileable(&self) -> bool {
        let Some(col) = self.plan.col else { return false };
        let writes_columns = self.nest.output_writes().all(|(_, write)| self.nest.mentions(write, col));
        !self.plan.reduces && self.plan.loops.is_empty() && writes_columns && self.together()
    }

    /// What can be chosen, each with the usual value first.
    fn axes(&self) -> Vec<Axis> {
        let Thresholds { resident, parts, .. } = self.thresholds;
        let or = |usual: Setting, others: &[Setting]| {
            std::iter::once(usual).chain(others.iter().copied().filter(|other| *other != usual)).collect::<Axis>()
        };
        let mut axes = Vec::new();
        if self.plan.sharing == Sharing::Columns {
            let wide = self.shares.tile_columns(self.carried());
            axes.push(or(Setting::Columns(wide), &[wide / 2, wide * 2].map(Setting::Columns)));
        } else if self.plan.sharing == Sharing::Rows && self.tileable() {
            let narrower = TILES.into_iter().filter(|columns| !self.columns_at_most(*columns));
            let others: Vec<Setting> = [0].into_iter().chain(narrower).map(Setting::Columns).collect();
            axes.push(or(Setting::Columns(self.usual_width()), &others));
        }
        let passes = self.long_tiles().is_some() || self.keeps_something() || self.plan.sharing == Sharing::Blocks;
        if passes && !self.columns_at_most(resident / 4) {
            axes.push(or(Setting::Resident(resident), &[resident / 4, resident * 4].map(Setting::Resident)));
        }
        if self.plan.sharing == Sharing::Rows && matches!(self.block(self.width(), resident), Some((Some(_), _))) {
            axes.push(or(Setting::Rows(ROWS), &FEWER.map(Setting::Rows)));
        }
        if !self.plan.loops.is_empty() && !self.scans() {
            let mut others: Vec<Setting> = [parts / 4, parts * 4].map(|n| Setting::Parts(n.max(1))).into();
            others.extend((self.plan.sharing != Sharing::Blocks).then_some(Setting::Parts(0)));
            axes.push(or(Setting::Parts(parts), &others));
        }
        if let Some(turned) = &self.turned {
            let tiles = turned.tiles_along();
            axes.push(or(Setting::Block(tiles), &[0, 1, tiles / 2, tiles * 2].map(Setting::Block)));
        }
        axes
    }

    /// Tiles of columns of all tensors end together.
    fn together(&self) -> bool {
        let Some(col) = self.plan.col else { return false };
        let equal = |a: &Access| {
            let at = a.index.iter().position(|e| self.nest.mentions_expr(*e, col));
            at.is_none_or(|i| {
                let plain = self.nest.plain(a.index[i]) == Some(col);
                plain
                    && a.oob.is_none()
                    && self.facts.prove_equal(&self.nest.shapes[&a.value][i], &self.nest.extents[col])
            })
        };
        self.nest.external_reads().all(|(_, a)| equal(a))
    }

    /// All stages in one kernel.
    fn whole(&self, width: Width) -> Share {
        let outputs = self.nest.output_writes().map(|(_, write)| write.value).collect();
        Share {
            stages: (0..self.nest.stages.len()).collect(),
            grid: self.plan.rows.clone(),
            loops: self.plan.loops.clone(),
            col: self.plan.col.map(|col| (col, width)),
            writes: outputs,
            ..Share::default()
        }
    }

    /// Blocks of rows with `most` columns at most, and what is said of them; nothing where nothing is the same for several
    /// rows.
    fn block(&self, width: Width, most: i64) -> Option<(Option<Block>, String)> {
        let columns = match (width, self.plan.col) {
            (Width::Tiles(tile) | Width::Registers(tile), _) => tile,
            (Width::Whole, None) => 1,
            (Width::Whole, Some(col)) => {
                let known = self.facts.range(&self.nest.extents[col]).1;
                most.min(i64::try_from(known).unwrap_or(i64::MAX))
            }
        };
        let rows = self.thresholds.rows.unwrap_or(ROWS);
        Block::of(self.nest, self.plan, self.facts, (rows, columns))
    }

    /// All stages in one kernel whose groups have blocks of rows with `most` columns at most, behind a version for few rows,
    /// each of which is a group.
    fn in_blocks(&self, guards: Vec<Poly>, width: Width, most: i64) -> Vec<Version> {
        let (block, mut said) = self.block(width, most).unzip();
        let block = block.flatten();
        let of = |block: Option<Block>, guards: Vec<Poly>| {
            version(guards, vec![self.shares.kernel(&Share { block, ..self.whole(width) })])
        };
        let mut versions: Vec<Version> = Vec::new();
        // Tiles of a row are groups as well.
        let few = block.filter(|_| width == Width::Whole).and_then(|block| self.few_rows(&block));
        if let Some((most, few)) = few {
            let always = few.is_empty();
            versions.push(of(None, [&few[..], &guards].concat()));
            said = Some(match said {
                Some(said) if !always => {
                    format!("{said}; up to {most} rows are groups of their own, to be shared by more threads")
                }
                _ => format!("each row is a group, since there are {most} at most to be shared among threads"),
            });
            if always {
                self.remarks.borrow_mut().extend(said);
                return versions;
            }
        }
        self.remarks.borrow_mut().extend(said);
        versions.push(of(block, guards));
        versions
    }

    /// How many rows are too few for blocks, and the guard that there are no more; nothing where there always are, or where a
    /// mapping says how many a group has.
    fn few_rows(&self, block: &Block) -> Option<(i64, Vec<Poly>)> {
        let rows = Poly::product(self.plan.rows.iter().map(|d| &self.nest.extents[*d]));
        let most = FEW * block.rows;
        let (low, high) = self.facts.range(&rows);
        if self.thresholds.rows.is_some() || low > i128::from(most) {
            return None;
        }
        Some((most, if high <= i128::from(most) { vec![] } else { vec![Poly::constant(most).sub(&rows)] }))
    }

    /// Whole rows; those that fit the cache in a version of their own where something is kept between passes.
    fn rows(&self) -> Vec<Version> {
        let width = self.width();
        let mut versions: Vec<Version> = Vec::new();
        if let Some(tile) = self.long_tiles() {
            let resident = self.thresholds.resident;
            let Some(fits) = self.fits(resident) else {
                return self.in_blocks(vec![], width, resident);
            };
            let col = self.plan.col.expect("there are tiles of it");
            if self.facts.range(&fits).1 >= 0 {
                versions.extend(self.in_blocks(vec![fits], width, resident));
            }
            let tiles = self.nest.extents[col].ceildiv(tile);
            versions.push(version(vec![], self.shares.in_parts(&self.whole(Width::Tiles(tile)), (col, &tiles))));
            return versions;
        }
        if let [dim, ..] = self.plan.loops[..]
            && let Some(many) = self.divided(dim)
            && self.plan.rows.iter().all(|d| self.nest.is_unit(*d))
        {
            let parts = Poly::constant(self.thresholds.parts);
            let last = many.is_empty();
            versions.push(version(many, self.shares.in_parts(&self.whole(width), (dim, &parts))));
            if last {
                return versions;
            }
        }
        if let Some(turned) = &self.turned
            && let Some(guards) = turned.guards(self.facts)
        {
            let last = guards.is_empty();
            versions.push(version(guards, vec![turned.kernel()]));
            if last {
                return versions;
            }
        }
        if let Some(fits) = self.fits(self.thresholds.resident).filter(|_| self.keeps_something()) {
            versions.extend(self.in_blocks(vec![fits], width, self.thresholds.resident));
        }
        versions.extend(self.in_blocks(vec![], width, i64::MAX));
        versions
    }

    /// Columns of a tile of rows that are too long for one group; `None` where groups have whole rows of any length:
    /// because nothing is combined along them, or combined as it goes, or tiles of what is read would not end together.
    fn long_tiles(&self) -> Option<i64> {
        let simple = self.plan.reduces
            && !self.scans()
            && self.plan.loops.is_empty()
            && self.together()
            && !self.nest.stages.iter().any(|s| s.copy);
        let tile = self.thresholds.resident.min(LONG_COLUMNS);
        simple.then_some(tile)
    }

    /// The guard that a row has at most `most` columns; `None` where that is known.
    fn fits(&self, most: i64) -> Option<Poly> {
        let extent = &self.nest.extents[self.plan.col?];
        (self.facts.range(extent).1 > i128::from(most)).then(|| Poly::constant(most).sub(extent))
    }

    /// The guard that a dim has at least `least` indices; `None` where that never holds.
    fn at_least(&self, dim: usize, least: i64) -> Option<Vec<Poly>> {
        let extent = &self.nest.extents[dim];
        let (low, high) = self.facts.range(extent);
        let least = least.max(1);
        if high < i128::from(least) {
            return None;
        }
        Some(if low >= i128::from(least) { vec![] } else { vec![extent.sub(&least.into())] })
    }

    /// The guard from which on a dim that is combined along is divided; `None` where it never is.
    fn divided(&self, dim: usize) -> Option<Vec<Poly>> {
        let parts = self.thresholds.parts;
        if parts == 0 || self.scans() { None } else { self.at_least(dim, self.many(parts)) }
    }

    /// Rows from which on they are shared among `parts`.
    fn many(&self, parts: i64) -> i64 {
        parts.saturating_mul(self.thresholds.part_rows)
    }

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
    fn columns(&self) -> Vec<Version> {
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
    fn blocks(&self) -> Vec<Version> {
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
