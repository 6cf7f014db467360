//! Rules: each writes the schedules of regions of one form, from the region's dims and the machine's numbers.

pub(super) mod attention;
pub(super) mod blocks;
pub(super) mod convolution;
pub(super) mod left;
pub(super) mod loops;
pub(super) mod order;
pub(super) mod parts;
pub(super) mod product;
pub(super) mod rows;
pub(super) mod share;
pub(super) mod staged;
pub(super) mod turned;

use sutura_dialects::schedule::{Dim, Loop, Node, Place, Runs, Split, Tile, Version};

use super::kernel::Built;
use super::likely;
use super::region::{FusedRegion, Lowered};
use super::schedule::{self, Group, stage_name};
use crate::region::Nest;

/// A region in normal form, with the schedule that a rule wrote for it.
pub(super) struct Scheduled<'a> {
    pub(super) nest: Nest<'a>,
    pub(super) versions: Vec<Version>,
    /// What is said of them.
    pub(super) remarks: Vec<String>,
}

/// Lowers a region as a rule schedules it, with versions for likely sizes.
pub(super) fn with_likely_sizes<'a>(
    region: &FusedRegion<'a>,
    rule: &dyn Fn(&FusedRegion<'a>) -> Built<Scheduled<'a>>,
) -> Built<Lowered> {
    let general = rule(region)?;
    let sizes = likely::at_sizes(region);
    let mut special = Vec::with_capacity(sizes.len());
    for (guard, region) in &sizes {
        let Scheduled { nest, versions, .. } = rule(region)?;
        special.push(((region, nest), likely::guarded(&region.facts, guard, versions)));
    }
    // Memory between kernels is for any size.
    special.retain(|(_, versions)| versions.iter().all(|version| version.launches.len() == 1));
    let parts: Vec<[schedule::Part<'_, '_>; 1]> = special.iter().map(|((region, nest), _)| [(*region, nest)]).collect();
    let special = parts.iter().zip(&special).map(|(parts, (_, versions))| Group::by_rule(parts, versions.clone()));
    let parts = [(region, &general.nest)];
    let last = Group::by_rule(&parts, general.versions);
    let lowered = schedule::emit(&special.chain([last]).collect::<Vec<_>>())?;
    Ok(Lowered { remarks: general.remarks, ..lowered })
}

/// A stage computed on a tile.
pub(super) fn place(nest: &Nest<'_>, number: usize, tile: &Tile) -> Place {
    Place::new(stage_name(nest, number), tile.clone())
}

/// A loop inside a kernel that takes one index after the other.
pub(super) fn each(dim: usize, body: Vec<Node>) -> Node {
    Node::Loop(Loop::new(Dim(dim), Split::One, Runs::InTurn, body))
}

/// Loops of the grid around a body, the first one outermost.
pub(super) fn in_grid(loops: Vec<(usize, Split)>, body: Vec<Node>) -> Vec<Node> {
    loops
        .into_iter()
        .rev()
        .fold(body, |body, (dim, split)| vec![Node::Loop(Loop::new(Dim(dim), split, Runs::Grid, body))])
}
