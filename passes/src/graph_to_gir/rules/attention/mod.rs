//! Attention: scores, softmax and weighted sum of a tile of queries without a trip to memory.
//!
//! A group copies what it reads many times into panels in the cache: keys transposed, values, the queries of its tiles. Then
//! everything else runs from there. Where all keys fit, a row of scores is complete before its softmax is taken. Where they do
//! not, keys come in blocks, and what is summed so far is rescaled for each, after the online softmax of Milakov and Gimelshein
//! (arXiv 1805.02867) and its use in FlashAttention (arXiv 2205.14135). On GPUs units of a group share such blocks: see [`units`].

mod kernels;
mod units;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::Combiner;
use sutura_dialects::schedule::{Kernel, Launch, Version};

use self::units::Blocks;
use super::super::kernel::{Built, Emit};
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, Reach, emit};
use super::stage_name;
use super::stream::STREAMED;
use crate::region::{AttentionPlan, ContractPlan, Fit, Misfit, Nest, Windows};

/// Most keys of a block where not all are resident.
const BLOCK_KEYS: i64 = 256;

/// Most keys of a block, of which those are left out that a mask hides.
const REACH_KEYS: i64 = 64;

/// Most queries that read keys and values as they lie, each for itself: packing them takes longer than what packed ones save.
const STREAMED_QUERIES: i64 = 8;

/// Most keys of such queries, of each of which a few numbers are kept near.
const STREAMED_KEYS: i64 = 1 << 16;

/// Most bytes of keys and values that a group packs at once: what a thread's scratch has, less tiles of queries, scores and sums.
const MOST_PACKED: i64 = (1 << 20) - (1 << 17);

/// Most tiles of queries that share what a group packs of a block of keys.
const BLOCK_TILES: i64 = 8;

/// Lowers an attention region; at most `resident` keys are kept in the cache together, or with 0 what it holds.
pub(in super::super) fn lower(region: &FusedRegion<'_>, resident: i64) -> Built<Lowered> {
    let misfit = |misfit: Misfit| {
        let message = format!("is no region of attention: {misfit}");
        Box::new(region.op.error(message))
    };
    let nest = Nest::of(&region.facts, &region.ops, &region.outputs).map_err(misfit)?;
    let plan = AttentionPlan::of(&nest).map_err(misfit)?;
    let (hoisted, weighted) = hoisted(region, &nest, &plan).map_err(misfit)?;
    let softmax = Softmax::of(&hoisted, &plan, weighted);
    let (parts, hoisted_parts) = ([(region, &nest)], [(region, &hoisted)]);
    let chain = |tile| Chain::new((region, &nest, &plan), (&hoisted, &softmax), tile, resident);
    let alone = region.machine.tiles().iter().any(|tile| chain(*tile).fits());
    let blocks = Blocks::of(region, (&nest, &plan), alone);
    if let Some(Ok(blocks)) = &blocks {
        let launches = vec![Launch { kernels: vec![blocks.kernel(&hoisted, &plan, &softmax)] }];
        let group = Group::by_rule(&hoisted_parts, vec![Version { launches, ..Version::default() }]);
        return Ok(Lowered { remarks: vec![blocks.said()], ..emit(&[group])? });
    }
    if !alone {
        let why = blocks.and_then(Result::err).unwrap_or_default();
        return Emit::unsupported(region.op, &format!("has no block of keys that fits a group's memory: {why}"));
    }
    let groups = versions(&chain, region, &nest, &plan)
        .into_iter()
        .map(|(version, streams)| Group::by_rule(if streams { &hoisted_parts } else { &parts }, vec![version]));
    let lowered = emit(&groups.collect::<Vec<_>>())?;
    let alone = blocks.and_then(Result::err).map(|why| format!("a group has one unit: {why}"));
    Ok(Lowered { remarks: alone.into_iter().collect(), ..lowered })
}

/// The form in which weighted sums are scaled when they are complete, and the number of their stage.
fn hoisted<'a>(region: &FusedRegion<'_>, nest: &Nest<'a>, plan: &AttentionPlan) -> Fit<(Nest<'a>, usize)> {
    let (mut nest, mut sum) = (nest.clone(), plan.values.stage);
    loop {
        let scale = nest.maker(&nest.stages[sum].inputs[plan.values.lhs]).expect("the weights are the region's");
        if extreme(&nest, scale).is_some() {
            return Ok((nest, sum));
        }
        nest.hoist(&region.facts, &stage_name(&nest, scale), &stage_name(&nest, sum))?;
        sum = scale;
    }
}

/// The stages between two products, in the form in which weighted sums are scaled when they are complete.
struct Softmax {
    /// The largest logit of a row.
    extreme: usize,
    /// What is relative to it.
    relative: usize,
    /// Sums of that along the row.
    sums: Vec<usize>,
    /// The second product.
    weighted: usize,
    /// What follows both.
    rest: Vec<usize>,
}

impl Softmax {
    fn of(nest: &Nest<'_>, plan: &AttentionPlan, weighted: usize) -> Self {
        let relative = nest.maker(&nest.stages[weighted].inputs[plan.values.lhs]).expect("found before");
        let extreme = extreme(nest, relative).expect("found before");
        let reads = |s: &usize| nest.stages[*s].inputs.iter().any(|read| nest.maker(read) == Some(relative));
        let sums: Vec<usize> = between(nest, plan).filter(|s| *s != weighted && reads(s)).collect();
        let known = [&[extreme, relative, weighted], &sums[..]].concat();
        let rest = between(nest, plan).chain([plan.values.stage]).chain(plan.after.iter().copied());
        Self { extreme, relative, weighted, rest: rest.filter(|s| !known.contains(s)).collect(), sums }
    }
}

/// The stages between logits and the second product.
fn between(nest: &Nest<'_>, plan: &AttentionPlan) -> impl Iterator<Item = usize> {
    let other = |s: &usize| *s == plan.scores.stage || *s == plan.values.stage;
    let placed =
        move |s: &usize| other(s) || plan.before.contains(s) || plan.after.contains(s) || plan.makes_factor(*s);
    (0..nest.stages.len()).filter(move |s| !placed(s))
}

/// The stage that combines what a stage is relative to.
fn extreme(nest: &Nest<'_>, stage: usize) -> Option<usize> {
    let makers = nest.stages[stage].inputs.iter().filter_map(|read| nest.maker(read));
    let extreme = |maker: &usize| matches!(nest.stages[*maker].combiners[..], [Combiner::Max] | [Combiner::Min]);
    makers.into_iter().find(extreme)
}

/// Versions for few and for many keys, and for few queries, and whether keys come in blocks.
fn versions<'r, 'a: 'r>(
    chain: &dyn Fn((i64, i64)) -> Chain<'r, 'a>,
    region: &FusedRegion<'_>,
    nest: &Nest<'_>,
    plan: &AttentionPlan,
) -> Vec<(Version, bool)> {
    let range = |dim: usize| {
        let (least, most) = region.facts.range(&nest.extents[dim]);
        (i64::try_from(least).unwrap_or(0), i64::try_from(most).unwrap_or(i64::MAX))
    };
    let streamed = chain(region.machine.tile(1, range(plan.key()).1)).streamed();
    if let Some((version, true)) = streamed {
        return vec![(version, false)];
    }
    let (tile, mut lower) = region.machine.tile_and_lower(range(plan.query()), range(plan.key()).1);
    lower.retain(|lower| streamed.is_none() || lower.most > STREAMED_QUERIES);
    let (tile, lower) = match narrower(chain, region, tile) {
        // Lower tiles are as wide as the one that does not fit.
        Some(narrow) => (narrow, Vec::new()),
        None => (tile, lower),
    };
    // Where there may be more keys than queries each tile has two versions.
    let equal = region.facts.prove_equal(&nest.extents[plan.query()], &nest.extents[plan.key()]);
    let skipped = if equal { 0 } else { lower.len().saturating_sub(1) };
    let low = lower[skipped..].iter().map(|lower| ((lower.rows, tile.1), Some(lower.most)));
    let others = low.chain([(tile, None)]).flat_map(|(tile, queries)| chain(tile).versions(queries));
    let never = |version: &Version| version.guard.iter().any(|size| region.facts.range(size).1 < 0);
    let all = streamed.map(|(version, _)| (version, false)).into_iter().chain(others);
    all.filter(|(version, _)| !never(version)).collect()
}

/// A narrower tile, where a block of keys under tiles as wide as `tile` would not fit into the group's memory; the narrowest where
/// none does.
fn narrower<'r, 'a: 'r>(
    chain: &dyn Fn((i64, i64)) -> Chain<'r, 'a>,
    region: &FusedRegion<'_>,
    tile: (i64, i64),
) -> Option<(i64, i64)> {
    let fits = |tile: &(i64, i64)| chain(*tile).fits();
    if fits(&tile) {
        return None;
    }
    let mut narrower: Vec<(i64, i64)> = region.machine.tiles().iter().copied().filter(|t| t.1 < tile.1).collect();
    narrower.sort_by_key(|(rows, columns)| std::cmp::Reverse((*columns, *rows)));
    narrower.iter().find(|tile| fits(tile)).or(narrower.last()).copied()
}

/// Two products, of which the second takes the softmax of the first as its left factor.
struct Chain<'r, 'a> {
    region: &'r FusedRegion<'a>,
    nest: &'r Nest<'a>,
    plan: &'r AttentionPlan,
    /// The form in which weighted sums are scaled when they are complete, and its softmax.
    hoisted: (&'r Nest<'a>, &'r Softmax),
    /// Rows and columns of a tile.
    tile: (i64, i64),
    /// Most keys that are resident: whole panels.
    resident: i64,
}

impl<'r, 'a> Chain<'r, 'a> {
    fn new(
        (region, nest, plan): (&'r FusedRegion<'a>, &'r Nest<'a>, &'r AttentionPlan),
        hoisted: (&'r Nest<'a>, &'r Softmax),
        tile: (i64, i64),
        resident: i64,
    ) -> Self {
        let mut this = Self { region, nest, plan, hoisted, tile, resident: 0 };
        // For each key its vector, that of its value in whole panels, and a score per row.
        let fit = region.machine.near_bytes.min(region.machine.group_bytes) / this.key_bytes();
        let keys = if resident == 0 { fit } else { resident.min(fit) };
        this.resident = (keys / tile.1).max(1) * tile.1;
        this
    }

    // ---- sizes

    /// Bytes of a key, its value and its scores.
    fn key_bytes(&self) -> i64 {
        let numbers = self.value_panels().saturating_mul(self.tile.1).saturating_add(self.depth());
        numbers.saturating_add(self.tile.0).saturating_mul(4)
    }

    /// Bytes of keys, values and scores of a block of keys.
    fn block_bytes(&self) -> i64 {
        self.block_keys().saturating_mul(self.key_bytes())
    }

    /// Bytes of the queries of a tile and of what is known of their rows.
    fn tile_bytes(&self) -> i64 {
        let panels = self.panels(self.depth()).saturating_add(self.value_panels());
        panels.saturating_mul(self.tile.1).saturating_add(2).saturating_mul(4).saturating_mul(self.tile.0)
    }

    /// Whether a block of keys and a tile of queries fit a group's memory.
    fn fits(&self) -> bool {
        self.block_bytes().saturating_add(self.tile_bytes()) <= self.region.machine.group_bytes
    }

    /// Tiles of queries that share what a group packs of a block of keys.
    fn block_tiles(&self) -> i64 {
        let left = self.region.machine.group_bytes.saturating_sub(self.block_bytes());
        (left / self.tile_bytes()).clamp(1, BLOCK_TILES)
    }

    /// Numbers of a query's vector, which the plan knows.
    fn depth(&self) -> i64 {
        self.nest.extents[self.plan.scores.sums[0]].as_const().expect("checked by the plan")
    }

    /// Panels of a value's vector, at least one.
    fn value_panels(&self) -> i64 {
        let width = self.nest.extents[self.plan.values.col()].as_const().expect("checked by the plan");
        self.panels(width).max(1)
    }

    fn panels(&self, n: i64) -> i64 {
        n.div_euclid(self.tile.1) + i64::from(n.rem_euclid(self.tile.1) != 0)
    }

    fn block_keys(&self) -> i64 {
        self.resident.min(BLOCK_KEYS / self.tile.1 * self.tile.1).max(self.tile.1)
    }

    /// Keys of a block, of which those are left out that a mask hides: panels of which all blocks have as many.
    fn reach_keys(&self) -> i64 {
        let keys = self.nest.extents[self.plan.key()].as_const();
        let even = |panels: &i64| keys.is_some_and(|keys| self.panels(keys) % panels == 0);
        (1..=REACH_KEYS / self.tile.1).rev().find(even).unwrap_or(1) * self.tile.1
    }

    /// True for groups that keep near what they read again and again, in caches.
    fn is_of_processor(&self) -> bool {
        self.region.machine.windows() == Windows::Near
    }

    /// True where a mask shows each query a range of keys.
    fn reaches(&self) -> bool {
        let (nest, softmax) = self.hoisted;
        self.is_of_processor()
            && !self.is_empty()
            && self.most_packed() > 0
            && Reach::of(nest, softmax.extreme, self.plan.key()).is_ok()
    }

    /// Most keys that can be packed near with their values, all at once.
    fn most_packed(&self) -> i64 {
        let numbers = self.value_panels().saturating_mul(self.tile.1).saturating_add(self.depth()).max(1);
        let keys = MOST_PACKED / numbers.saturating_mul(4);
        (keys - self.tile.1).max(0)
    }

    /// Numbers of a value that are summed up together.
    fn streamed_columns(&self) -> i64 {
        STREAMED * self.region.machine.vectors.1.max(1)
    }

    /// True where the numbers of a key, and those of a value, lie side by side.
    fn lies_in_rows(&self) -> bool {
        let in_rows = |plan: &ContractPlan, dim: usize| plan.lies_along(self.nest, plan.rhs, dim);
        in_rows(&self.plan.scores, self.plan.scores.sums[0]) && in_rows(&self.plan.values, self.plan.values.col())
    }

    // ---- versions

    /// The version for a query or a few, if there may be so few, and whether there never are more.
    fn streamed(&self) -> Option<(Version, bool)> {
        let (facts, extents) = (&self.region.facts, &self.nest.extents);
        let (queries, keys) = (&extents[self.plan.query()], &extents[self.plan.key()]);
        let ((few, _), (_, most)) = (facts.range(queries), facts.range(keys));
        let few = few <= i128::from(STREAMED_QUERIES) && self.is_of_processor();
        if !few || !self.lies_in_rows() || self.is_empty() {
            return None;
        }
        let limit = |most: i64, of: &Poly| (facts.range(of).1 > i128::from(most)).then(|| Poly::constant(most).sub(of));
        let guard: Vec<Poly> = [(STREAMED_QUERIES, queries), (STREAMED_KEYS, keys)]
            .into_iter()
            .filter_map(|(most, of)| limit(most, of))
            .collect();
        let (all, launches) = (guard.is_empty(), vec![Launch { kernels: vec![self.streamed_kernel()] }]);
        (most > 0 && facts.range(queries).1 > 0).then(|| (Version { guard, launches, ..Version::default() }, all))
    }

    /// The version for few keys, and, unless keys are always few, the one for many; for at most `queries` if that is given.
    fn versions(&self, queries: Option<i64>) -> Vec<(Version, bool)> {
        let (facts, plan) = (&self.region.facts, self.plan);
        let (query_count, key_count) = (&self.nest.extents[plan.query()], &self.nest.extents[plan.key()]);
        let guard: Vec<Poly> = queries.map(|most| Poly::constant(most).sub(query_count)).into_iter().collect();
        // Where there are as many keys as queries, few queries are few keys.
        let equal = queries.is_some_and(|most| most <= self.resident) && facts.prove_equal(key_count, query_count);
        let few = equal || facts.range(key_count).1 <= i128::from(self.resident);
        let version = |guard: Vec<Poly>, kernel: Kernel| Version {
            guard,
            launches: vec![Launch { kernels: vec![kernel] }],
            ..Version::default()
        };
        let mut all = guard.clone();
        if !few {
            all.push(Poly::constant(self.resident).sub(key_count));
        }
        // A group that runs through all queries never writes a result if there are none.
        let some = facts.range(query_count).1 > 0;
        if some && self.reaches() {
            let fit = self.most_packed();
            let near = facts.range(key_count).1 <= i128::from(fit);
            let mut few = guard.clone();
            few.extend((!near).then(|| Poly::constant(fit).sub(key_count)));
            let reach = (version(few, self.reach_kernel()), true);
            let others = (!near).then(|| (version(guard, self.streaming_kernel()), true));
            return std::iter::once(reach).chain(others).collect();
        }
        let resident = some.then(|| (version(all, self.resident_kernel()), false));
        let streaming = (!few || !some).then(|| (version(guard, self.streaming_kernel()), true));
        resident.into_iter().chain(streaming).collect()
    }
}
