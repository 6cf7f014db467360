//! Row regions: kernels over rows, over tiles of columns, or over blocks whose parts another kernel combines.

mod choices;
mod columns;

use std::cell::RefCell;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Kernel, Launch, Version};

use super::blocks::{Block, FEW, ROWS};
use super::parts::Shares;
use super::share::{Share, Width};
use super::turned::Turned;
use super::{Scheduled, with_likely_sizes};
use crate::graph_to_gir::kernel::Built;
use crate::graph_to_gir::region::{FusedRegion, Lowered};
use crate::region::rows::Sharing;
use crate::region::{Access, Misfit, Nest, RowPlan, Stage};

/// Columns of a tile of a region that combines nothing along them.
const ELEMENTWISE_COLUMNS: i64 = 4096;

/// Columns of a tile of a long row.
const LONG_COLUMNS: i64 = 16384;

pub(in crate::graph_to_gir) use choices::{Thresholds, axes};

/// Lowers a row region, with versions for likely sizes.
pub(in crate::graph_to_gir) fn lower(region: &FusedRegion<'_>, thresholds: Thresholds) -> Built<Lowered> {
    with_likely_sizes(region, &|region| {
        let no_rows = |misfit: Misfit| Box::new(region.op.error(format!("is no region of rows: {misfit}")));
        let (nest, plan) = normal_form(region).map_err(no_rows)?;
        let (versions, remarks) = Rows::new(region, &nest, &plan, thresholds).versions();
        Ok(Scheduled { nest, versions, remarks })
    })
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
    Version { guard, launches: kernels.into_iter().map(launch).collect(), ..Version::default() }
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

    /// The versions, and what is said of them.
    fn versions(self) -> (Vec<Version>, Vec<String>) {
        let versions = match self.plan.sharing {
            Sharing::Rows => self.rows(),
            Sharing::Columns => self.columns(),
            Sharing::Blocks => self.blocks(),
        };
        (versions, self.remarks.into_inner())
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
}
