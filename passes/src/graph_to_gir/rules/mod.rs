//! Rules: each writes the schedules of regions of one form, from the region's dims and the machine's numbers.

mod attention;
mod blocks;
mod chain;
mod convolution;
mod inner_products;
mod left;
pub(super) mod lengths;
mod line_tiles;
mod loops;
mod narrow;
mod near_panels;
mod numbers;
mod order;
mod parts;
mod product;
pub(super) mod rows;
mod share;
mod split_sums;
mod staged;
mod stream;
mod turned;
pub(super) mod variant;
mod window;

use sutura_dialects::schedule::{Dim, Loop, Node, Place, Runs, Split, Tile, Version};

use self::variant::{Axis, Setting, Variant};
use super::Config;
use super::kernel::Built;
use super::likely;
use super::region::{FusedRegion, Lowered};
use super::schedule::{self, Group, stage_name};
use crate::region::{Family, Nest};

/// A rule.
pub(super) struct Rule {
    /// What can be varied in its schedule of a region; nothing of one that it does not take.
    axes: fn(&FusedRegion<'_>, &Config) -> Vec<Axis>,
    lower: fn(&FusedRegion<'_>, &Config, &Variant) -> Built<Lowered>,
}

const ROW: Rule = Rule {
    axes: |region, config| rows::axes(region, config.thresholds),
    lower: |region, config, variant| rows::lower(region, config.thresholds.with(variant)),
};

const CONTRACT: Rule = Rule {
    axes: |_, config| vec![tiles(config)],
    lower: |region, _, _| convolution::lower(region).unwrap_or_else(|| product::lower(region)),
};

const ATTENTION: Rule = Rule {
    axes: |_, config| vec![tiles(config), [0, 256].map(Setting::Keys).into()],
    lower: |region, config, variant| {
        let keys = variant.find(|setting| if let Setting::Keys(keys) = setting { Some(*keys) } else { None });
        attention::lower(region, keys.unwrap_or(config.resident_keys))
    },
};

const WINDOW: Rule = Rule { axes: |_, _| vec![], lower: |region, _, _| window::lower(region) };

const CHAIN: Rule = Rule { axes: |_, _| vec![], lower: |region, _, _| chain::lower(region) };

const LOOP: Rule =
    Rule { axes: |region, _| loops::axes(region), lower: |region, _, variant| loops::lower(region, variant) };

/// The register tiles of the machine: what a region is read for has one of them before all others.
fn tiles(config: &Config) -> Axis {
    config.machine.tiles().iter().map(|tile| Setting::Tile(tile.0, tile.1)).collect()
}

impl Rule {
    /// The rule for a family of regions.
    pub(super) fn of(family: Family) -> &'static Self {
        match family {
            Family::Row => &ROW,
            Family::Contract => &CONTRACT,
            Family::Attention => &ATTENTION,
            Family::Window => &WINDOW,
            Family::Chain => &CHAIN,
            Family::Loop => &LOOP,
        }
    }

    /// What can be varied in its schedule of a region; each axis has several values, the usual one first.
    pub(super) fn axes(&self, region: &FusedRegion<'_>, config: &Config) -> Vec<Axis> {
        (self.axes)(region, config).into_iter().filter(|axis| axis.len() > 1).collect()
    }
}

/// Lowers a region by the rule for its family; register tiles are those of the region's machine.
///
/// # Errors
/// When no rule takes all of it, or the rule cannot schedule it.
pub(super) fn lower(region: &FusedRegion<'_>, config: &Config, variant: &Variant) -> Built<Lowered> {
    if region.ops.is_empty() {
        // It yields what it takes.
        return Ok(Lowered::default());
    }
    match region.family() {
        Some(family) => by_rule(family, region, config, variant),
        None => Err(Box::new(region.op.error(format!("is taken by no rule: {}", region.misfit())))),
    }
}

/// Lowers a region by the rule for a family.
///
/// # Errors
/// When it is not of the family.
pub(super) fn by_rule(family: Family, region: &FusedRegion<'_>, config: &Config, variant: &Variant) -> Built<Lowered> {
    let mut lowered = (Rule::of(family).lower)(region, config, variant)?;
    if config.fault == family.name() || config.fault == "all" {
        let versions = lowered.steps.iter_mut().flat_map(|step| &mut step.versions);
        versions.flat_map(|(_, launches)| launches).for_each(|launch| launch.kernel.leave_out_a_store(region.op.cx));
    }
    Ok(lowered)
}

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
