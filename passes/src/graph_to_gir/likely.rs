//! Versions for likely sizes.
//!
//! Where a model declares that a size is likely some number, a region whose tensors are so long along their last dimension
//! has a version of its own for it, under a guard: loops over columns have constant bounds there, and need neither tails nor
//! masks if the number is a multiple of the machine's vectors. DISC calls this speculation on shapes (arXiv 2103.05288).

use std::sync::Arc;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::Version;
use sutura_ir::Value;

use super::region::FusedRegion;
use crate::region::Family;
use crate::region::nest::sizes;

/// Most versions of one region for likely sizes.
const MOST: usize = 4;

/// Longest size that gets one: what a known bound saves does not grow with the loop.
const LONGEST: i64 = 1024;

/// The region at each of its likely sizes, behind the guard that it has that size.
pub(super) fn at_sizes<'a>(region: &FusedRegion<'a>) -> Vec<(Vec<Poly>, FusedRegion<'a>)> {
    let at = |(name, value): (Arc<str>, i64)| {
        let size = Poly::symbol(&name);
        (vec![size.sub(&value.into()), Poly::from(value).sub(&size)], region.at_size(&name, value))
    };
    values(region).into_iter().map(at).collect()
}

/// Versions of a region at a likely size, under its guard; those that do not run at that size are left out.
pub(super) fn guarded(facts: &Facts, guard: &[Poly], versions: Vec<Version>) -> Vec<Version> {
    let possible = |version: &Version| version.guard.iter().all(|size| facts.range(size).1 >= 0);
    let under = |version: Version| Version { guard: [guard, &version.guard].concat(), ..version };
    versions.into_iter().filter(possible).map(under).collect()
}

/// The sizes that get versions, in the order in which the symbols were declared.
fn values(region: &FusedRegion<'_>) -> Vec<(Arc<str>, i64)> {
    let Some(body) = region.ops.first().map(|op| op.body) else { return vec![] };
    let columns = |value: &Value| {
        let tensors = sizes(region.op.cx, body, &region.facts, *value);
        tensors.ok().and_then(|dims| dims.last().cloned())
    };
    let columns: Vec<Poly> = region.inputs.iter().chain(&region.outputs).filter_map(columns).collect();
    let mut found = Vec::new();
    for (name, info) in region.facts.symbols() {
        let own = Poly::symbol(name);
        let free = region.facts.canonical(&own) == own && info.min < info.max;
        if free && columns.iter().any(|dim| dim.symbols().contains(name)) {
            let possible = |v: &&i64| (info.min..=info.max.min(LONGEST)).contains(*v) && **v % info.div.max(1) == 0;
            found.extend(info.likely.iter().filter(possible).map(|v| (name.clone(), *v)));
        }
    }
    found.truncate(MOST);
    found
}

/// What is done for likely sizes; `None` where there are none.
pub(super) fn said(region: &FusedRegion<'_>) -> Option<String> {
    let list: Vec<String> = values(region).iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match region.family() {
        _ if list.is_empty() => None,
        Some(Family::Row | Family::Loop) => {
            Some(format!("has versions of its own for the likely sizes {}", list.join(", ")))
        }
        _ => Some(format!("has no versions for the likely sizes {}: only rows and loops have", list.join(", "))),
    }
}
