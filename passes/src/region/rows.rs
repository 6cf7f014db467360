//! Row regions: ops that share outer dims, the rows, and one column dim: elementwise ops, values that are repeated, and
//! reductions, one after another. Dims along which something is combined beside the column are loops inside a group.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::maps;
use sutura_ir::affine::AffineExpr;

use super::cost::{body_cost, value_text};
use super::nest::{Access, Nest, Stage};
use super::{Fit, Misfit, misfit};

/// What may be computed again for every row: a copy, a conversion.
const CHEAP: u32 = 1;

/// How a region is shared among groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// A group has whole columns; every combination is along them, or none is.
    Rows,
    /// A group has a tile of columns, and combines along dims that it loops over.
    Columns,
    /// Some combinations are along the columns, others along the one dim of the loops: a group has a block of the latter,
    /// of which another kernel combines the parts.
    Blocks,
}

/// How a region runs: dims of the grid, dims that a group loops over, and the dim of its vectors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowPlan {
    /// Dims that have one index in a group, outermost first.
    pub rows: Vec<usize>,
    /// Dims that a group loops over, outermost first: something is combined along each.
    pub loops: Vec<usize>,
    /// The column dim, along which vectors lie; absent when the region has no dims.
    pub col: Option<usize>,
    /// True when a stage combines along the column.
    pub reduces: bool,
    /// What a group has of it.
    pub sharing: Sharing,
}

impl RowPlan {
    /// Fits a region; makes dims of `nest` one where that makes them one column.
    ///
    /// # Errors
    /// Says why the ops are not row-compatible.
    pub fn of(nest: &mut Nest<'_>, facts: &Facts) -> Fit<Self> {
        nest.check_no_joint()?;
        let mut first = nest.clone();
        let misfit = match Self::of_rows(&mut first, facts) {
            Ok(plan) => {
                *nest = first;
                return Ok(plan);
            }
            Err(misfit) => misfit,
        };
        let mut other = nest.clone();
        let joined = join_reads(&mut other, facts);
        if other.collapse(facts, &|_, _, _| true) > 0 || joined {
            let mut collapsed = other.clone();
            if let Ok(plan) = Self::of_rows(&mut collapsed, facts) {
                *nest = collapsed;
                return Ok(plan);
            }
        }
        match Self::of_loops(&other) {
            Ok(plan) => {
                *nest = other;
                Ok(plan)
            }
            // What only loops could do, and do not, is said in their words.
            Err(Some(why)) => Err(why),
            Err(None) => Err(misfit),
        }
    }

    /// Every combination is along one dim, the last of what is read.
    fn of_rows(nest: &mut Nest<'_>, facts: &Facts) -> Fit<Self> {
        let col = column(nest, facts)?;
        let reduces = nest.stages.iter().any(|s| s.reduces() || nest.scanned(s).is_some());
        check_scans(nest, col)?;
        let plan = Self { rows: row_order(nest, col), loops: vec![], col, reduces, sharing: Sharing::Rows };
        plan.check_repeats(nest)?;
        plan.check_outputs(nest)?;
        plan.check_reads(nest)?;
        Ok(plan)
    }

    /// Combinations along any dims. `Err(None)` where this is no question of loops.
    fn of_loops(nest: &Nest<'_>) -> Result<Self, Option<Misfit>> {
        let plain = |a: &Access| a.oob.is_none() && a.index.iter().all(|e| is_plain(nest, *e));
        let combines = nest.stages.iter().any(|s| s.reduces() || nest.scanned(s).is_some());
        if !combines
            || nest.picks_any()
            || nest.stages.iter().any(|s| super::contract::is_contraction(nest, s))
            || nest.stages.iter().any(|s| s.copy || s.inputs.iter().any(|a| a.oob.is_some()))
            || !nest.external_reads().all(|(_, a)| plain(a))
        {
            return Err(None);
        }
        let Some(order) = memory_order(nest) else { return Err(None) };
        let Some(col) = order.iter().rev().copied().find(|d| !nest.is_unit(*d)) else { return Err(None) };
        let reduced = |d: usize| nest.stages.iter().any(|s| s.combines_along(d));
        let rest = || order.iter().copied().chain((0..nest.extents.len()).filter(|d| !order.contains(d)));
        let loops: Vec<usize> = rest().filter(|d| *d != col && reduced(*d) && !nest.is_unit(*d)).collect();
        let rows = rest().filter(|d| *d != col && !loops.contains(d)).collect();
        // A loop that combines what has no columns would go from number to number.
        let scalar = |s: &Stage<'_>| !s.dims.contains(&col) && loops.iter().any(|l| s.combines_along(*l));
        if nest.stages.iter().any(scalar) {
            return Err(None);
        }
        if loops.is_empty() && nest.stages.iter().any(|s| nest.scanned(s).is_some()) {
            return Err(None);
        }
        let sharing = sharing(nest, &loops, col).map_err(Some)?;
        let plan = Self { rows, loops, col: Some(col), reduces: reduced(col), sharing };
        plan.check_repeats(nest).map_err(Some)?;
        plan.check_outputs(nest).map_err(Some)?;
        Ok(plan)
    }

    /// Dims of which each group has a part: rows, and columns where they are shared among groups.
    fn shared(&self) -> impl Iterator<Item = &usize> {
        self.rows.iter().chain(self.col.iter().filter(|_| self.sharing == Sharing::Columns))
    }

    /// Every stage runs through all rows, or is cheap enough to be computed again.
    fn check_repeats(&self, nest: &Nest<'_>) -> Fit<()> {
        for stage in &nest.stages {
            let missing = self.shared().filter(|d| !stage.dims.contains(d) && !nest.is_unit(**d));
            let sizes: Vec<String> = missing.map(|d| nest.extents[*d].to_string()).collect();
            if !sizes.is_empty() && (stage.reduces() || stage.scan.is_some() || body_cost(stage.body) > CHEAP) {
                let name = value_text(nest.cx, nest.body, stage.results[0].value);
                return misfit(format!("{name} would be computed ({}) times", sizes.join(") * (")));
            }
        }
        Ok(())
    }

    /// No output is written by several rows.
    fn check_outputs(&self, nest: &Nest<'_>) -> Fit<()> {
        for (_, write) in nest.output_writes() {
            let covered = |d: &usize| nest.is_unit(*d) || write.index.iter().any(|e| nest.plain(*e) == Some(*d));
            if let Some(dim) = self.shared().find(|d| !covered(d)) {
                let name = value_text(nest.cx, nest.body, write.value);
                return misfit(format!("{name} is used outside but is the same for {} rows", nest.extents[*dim]));
            }
        }
        Ok(())
    }

    fn check_reads(&self, nest: &Nest<'_>) -> Fit<()> {
        let Some(col) = self.col else { return Ok(()) };
        nest.check_indices(&[col])?;
        for pick in nest.stages.iter().flat_map(|s| &s.picks) {
            if nest.mentions(&pick.access, col) {
                let name = value_text(nest.cx, nest.body, pick.access.value);
                return misfit(format!("reads each column at an index of its own, from {name}"));
            }
        }
        for (i, read) in nest.external_reads() {
            check_column_access(nest, read, col)?;
            let last = read.index.iter().rev().find_map(|e| nest.plain(*e).filter(|d| !nest.is_unit(*d)));
            let apart = nest.mentions(read, col) && last.is_some_and(|d| d != col);
            if apart && nest.stages[i].reduced.contains(&col) && !nest.is_unit(col) {
                let name = value_text(nest.cx, nest.body, read.value);
                return misfit(format!("combines {name} along a dimension that is not its last"));
            }
        }
        Ok(())
    }
}

/// A tensor is read along the column in one dimension, forward, in equal steps.
pub(crate) fn check_column_access(nest: &Nest<'_>, access: &Access, col: usize) -> Fit<()> {
    let along: Vec<_> = access.index.iter().filter(|e| maps::mentions(nest.cx, **e, col)).collect();
    let name = || value_text(nest.cx, nest.body, access.value);
    match along[..] {
        [] => Ok(()),
        [expr] => match maps::linear(nest.cx, *expr, nest.extents.len()) {
            Some(linear) if linear.factors[col] >= 1 => Ok(()),
            _ => misfit(format!("reads {} backward or in unequal steps", name())),
        },
        _ => misfit(format!("reads {} along a diagonal", name())),
    }
}

/// True for one dim, or a number.
fn is_plain(nest: &Nest<'_>, expr: AffineExpr) -> bool {
    nest.plain(expr).is_some() || (0..nest.extents.len()).all(|d| !nest.mentions_expr(expr, d))
}

/// Makes dims one that are equally long, that no stage runs through both, and along which one tensor is read or two
/// combinations run: then what is computed along both is computed in one loop. True when there were such.
fn join_reads(nest: &mut Nest<'_>, facts: &Facts) -> bool {
    let mut joined = false;
    loop {
        let reads: Vec<&Access> = nest.external_reads().map(|(_, a)| a).collect();
        let mut pairs = Vec::new();
        for (i, a) in reads.iter().enumerate() {
            for b in reads[i + 1..].iter().filter(|b| b.value == a.value) {
                pairs
                    .extend(a.index.iter().zip(&b.index).filter_map(|(a, b)| Some((nest.plain(*a)?, nest.plain(*b)?))));
            }
        }
        let mut reduced: Vec<usize> = nest.stages.iter().flat_map(|s| s.reduced.iter().copied()).collect();
        reduced.dedup();
        pairs.extend(reduced.windows(2).map(|pair| (pair[0], pair[1])));
        let fits =
            |a: usize, b: usize| a != b && !nest.meet(a, b) && facts.prove_equal(&nest.extents[a], &nest.extents[b]);
        let Some((a, b)) = pairs.into_iter().find(|(a, b)| fits(*a, *b)) else { return joined };
        nest.merge(a.min(b), a.max(b));
        joined = true;
    }
}

/// Dims of the tensor with the most of them, in the order in which they lie in memory.
fn memory_order(nest: &Nest<'_>) -> Option<Vec<usize>> {
    let dims = |a: &Access| a.index.iter().filter_map(|e| nest.plain(*e)).collect::<Vec<_>>();
    let long = |dims: &Vec<usize>| dims.iter().filter(|d| !nest.is_unit(**d)).count();
    let accesses = nest.external_reads().chain(nest.output_writes()).map(|(_, a)| dims(a));
    // The first of those with the most.
    accesses.collect::<Vec<_>>().into_iter().rev().max_by_key(long)
}

/// What a group has where dims are looped over.
fn sharing(nest: &Nest<'_>, loops: &[usize], col: usize) -> Fit<Sharing> {
    let combining = || nest.stages.iter().filter(|s| s.reduces() || nest.scanned(s).is_some());
    let name = |s: &Stage<'_>| value_text(nest.cx, nest.body, s.results[0].value);
    if let Some(stage) = combining().find(|s| nest.scanned(s) == Some(col)) {
        return misfit(format!("{} runs along the columns, and others are combined along rows", name(stage)));
    }
    for dim in loops {
        let runs = |reverse: bool| {
            combining().find(|s| s.scan.is_some_and(|scan| scan.dim == *dim && scan.reverse == reverse))
        };
        if let (Some(forward), Some(backward)) = (runs(false), runs(true)) {
            return misfit(format!("{} runs forward and {} backward along one loop", name(forward), name(backward)));
        }
    }
    for stage in combining() {
        // What is combined along an outer loop and not along an inner one has as many sums as the inner one has trips.
        let inside = loops.iter().skip_while(|d| !stage.combines_along(**d));
        if let Some(dim) = inside.filter(|d| stage.dims.contains(d)).find(|d| !stage.combines_along(**d)) {
            let extent = &nest.extents[*dim];
            return misfit(format!(
                "{} is combined along a loop around one of {extent} trips that stay apart",
                name(stage)
            ));
        }
    }
    let along = |s: &Stage<'_>| s.reduced.contains(&col);
    let apart = |s: &Stage<'_>| !along(s) && s.dims.contains(&col) && loops.iter().any(|l| s.combines_along(*l));
    match (combining().find(|s| along(s)), combining().find(|s| apart(s))) {
        (_, None) => Ok(Sharing::Rows),
        (None, Some(_)) => Ok(Sharing::Columns),
        (Some(_), Some(_)) if in_blocks(nest, loops) => Ok(Sharing::Blocks),
        (Some(row), Some(column)) => {
            misfit(format!("{} combines columns, and {} keeps them apart", name(row), name(column)))
        }
    }
}

/// Blocks of the one loop's rows serve every combination: of columns in a row, or of rows in a column.
fn in_blocks(nest: &Nest<'_>, loops: &[usize]) -> bool {
    let [dim] = loops else { return false };
    let fits = |s: &Stage<'_>| s.reduced.len() == 1 && s.dims.contains(dim);
    nest.stages.iter().filter(|s| s.reduces() || nest.scanned(s).is_some()).all(fits)
}

/// What is combined as it goes runs along the last dimension of what it makes, and nothing needs both what runs forward and
/// what runs backward before all of its columns are there.
fn check_scans(nest: &Nest<'_>, col: Option<usize>) -> Fit<()> {
    let name = |s: &Stage<'_>| value_text(nest.cx, nest.body, s.results[0].value);
    // For each stage whether what it makes runs forward, and backward.
    let mut runs: Vec<[bool; 2]> = Vec::with_capacity(nest.stages.len());
    for stage in &nest.stages {
        let mut ways = [false; 2];
        for maker in stage.inputs.iter().filter_map(|a| nest.maker(a)) {
            ways = [ways[0] | runs[maker][0], ways[1] | runs[maker][1]];
        }
        if let Some(scan) = stage.scan.filter(|scan| !nest.is_unit(scan.dim)) {
            ways[usize::from(scan.reverse)] = true;
            let last = stage.results[0].index.iter().rev().find_map(|e| nest.plain(*e).filter(|d| !nest.is_unit(*d)));
            if last != col {
                return misfit(format!("combines {} along a dimension that is not its last", name(stage)));
            }
        }
        if ways == [true; 2] {
            return misfit(format!("{} needs what runs forward and what runs backward at once", name(stage)));
        }
        runs.push(if stage.reduces() { [false; 2] } else { ways });
    }
    Ok(())
}

/// The column: what is combined along, else the innermost dim of the largest result.
fn column(nest: &mut Nest<'_>, facts: &Facts) -> Fit<Option<usize>> {
    let reduced = |nest: &Nest<'_>| {
        let along = |s: &Stage<'_>| s.reduced.iter().copied().chain(nest.scanned(s)).collect::<Vec<_>>();
        let mut all: Vec<usize> = nest.stages.iter().flat_map(along).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    if let Some(stage) = nest.stages.iter().find(|s| s.reduced.len() > 1) {
        let sizes: Vec<String> = stage.reduced.iter().map(|d| nest.extents[*d].to_string()).collect();
        return misfit(format!("combines along several dimensions ({})", sizes.join(", ")));
    }
    while let [first, second, ..] = reduced(nest)[..] {
        if nest.meet(first, second) {
            return misfit("combines along the rows of another op");
        }
        let (a, b) = (nest.extents[first].clone(), nest.extents[second].clone());
        if !facts.prove_equal(&a, &b) {
            return misfit(format!("combines along {a} columns here and along {b} there"));
        }
        nest.merge(first, second);
    }
    let Some(&col) = reduced(nest).first() else { return Ok(innermost(nest)) };
    Ok(Some(merge_columns(nest, facts, col)))
}

/// Dims that are innermost in what a stage makes and have nothing to do with the column yet become the column.
fn merge_columns(nest: &mut Nest<'_>, facts: &Facts, mut col: usize) -> usize {
    loop {
        let inner = |s: &Stage<'_>| s.results.first().and_then(|r| last_dim(nest, r));
        let fits =
            |d: &usize| *d != col && !nest.meet(*d, col) && facts.prove_equal(&nest.extents[*d], &nest.extents[col]);
        let lone = nest.stages.iter().filter(|s| !s.dims.contains(&col)).filter_map(inner).find(fits);
        // A dim of the rows that happens to be as long stays one.
        let row = |d: usize| nest.stages.iter().any(|s| (s.reduces() || s.scan.is_some()) && s.dims.contains(&d));
        let Some(dim) = lone.filter(|d| !row(*d)) else { return col };
        let (keep, gone) = (col.min(dim), col.max(dim));
        nest.merge(keep, gone);
        col = keep;
    }
}

fn last_dim(nest: &Nest<'_>, access: &Access) -> Option<usize> {
    access.index.iter().rev().find_map(|e| nest.plain(*e))
}

/// The innermost dim of the result with the most dims, one that is longer than 1 if there is.
fn innermost(nest: &Nest<'_>) -> Option<usize> {
    let dims = |a: &Access| a.index.iter().filter_map(|e| nest.plain(*e)).collect::<Vec<_>>();
    let largest = nest.stages.iter().flat_map(|s| &s.results).map(dims).rev().max_by_key(Vec::len)?;
    largest.iter().rev().find(|d| !nest.is_unit(**d)).or(largest.last()).copied()
}

/// Rows in the order in which the largest result has them, others behind.
fn row_order(nest: &Nest<'_>, col: Option<usize>) -> Vec<usize> {
    let dims = |a: &Access| a.index.iter().filter_map(|e| nest.plain(*e)).collect::<Vec<_>>();
    let mut order: Vec<usize> =
        nest.stages.iter().flat_map(|s| &s.results).map(dims).rev().max_by_key(Vec::len).unwrap_or_default();
    for dim in 0..nest.extents.len() {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    order.retain(|d| Some(*d) != col);
    order
}
