//! The search over mappings: a region is lowered in every way that its kind offers, each is priced for the module's machine
//! at likely sizes, and the fastest is taken. Where [`TILE_ATTR`] names one, that is taken.
//!
//! After IntelliGen (arXiv 2307.04995), whose search also branches only over how work is mapped: rewrites need none.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::target::TargetDesc;
use sutura_ir::{Attr, Context, OpRef};

use super::Config;
use super::kernel::{Built, Kernel};
use super::program::lower;
use super::region::{Arg, FusedRegion, Lowered, Step};
use crate::gir::cost::KernelCost;
use crate::region::cost::likely_size;

/// Discardable attribute of a region with products: the register tile to lower it with, one of the machine's, as `"12x32"`
/// (rows and columns). It stands above what predictions say.
pub const TILE_ATTR: &str = "graph.tile";

/// One way to map regions.
#[derive(Clone, Debug)]
pub(super) struct Mapping {
    /// Rows and columns of the register tile that comes before all others.
    tile: (i64, i64),
    config: Config,
}

/// A way to lower a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its register tile, as [`TILE_ATTR`] has it.
    pub tile: String,
    /// Predicted nanoseconds of one thread at likely sizes, if the costs of its kernels are known.
    pub predicted_ns: Option<f64>,
}

/// What was found for a region.
pub(super) struct Found<'a> {
    pub(super) region: FusedRegion<'a>,
    pub(super) lowered: Lowered,
    /// What the search says; `None` where there was nothing to choose.
    pub(super) remark: Option<String>,
}

/// Ways to map a region of this kind other than the usual one.
pub(super) fn mappings(config: &Config) -> HashMap<&'static str, Vec<Mapping>> {
    let products = config.machine.tiles().iter().skip(1).map(|tile| {
        let machine = config.machine.with_tile(*tile);
        Mapping { tile: *tile, config: Config { machine, mappings: HashMap::new(), ..config.clone() } }
    });
    HashMap::from([("contract", products.collect())])
}

/// Lowers a region as its attribute says, or as the search finds best.
///
/// # Errors
/// When the attribute names no mapping of the region, or when the usual mapping cannot be lowered; others that cannot are
/// left out.
pub(super) fn best<'a>(op: OpRef<'a>, config: &'a Config) -> Built<Found<'a>> {
    if let Some(attr) = op.attr(TILE_ATTR) {
        let config = ordered(op, attr, config)?;
        let region = FusedRegion::read(op, &config.machine)?;
        let lowered = lower(&region, config)?;
        return Ok(Found { region, lowered, remark: None });
    }
    let region = FusedRegion::read(op, &config.machine)?;
    let mut lowered = lower(&region, config)?;
    let others = others(op, config);
    let (Some(desc), false) = (&config.desc, others.is_empty()) else {
        return Ok(Found { region, lowered, remark: None });
    };
    let Some(usual) = price(op.cx, &region, &mut lowered, desc) else {
        let remark = Some("the usual mapping is taken: its cost is not known".to_owned());
        return Ok(Found { region, lowered, remark });
    };
    let mut tried = vec![("the usual one".to_owned(), usual)];
    let mut found = (usual, region, lowered);
    for mapping in others {
        let Ok(region) = FusedRegion::read(op, &mapping.config.machine) else { continue };
        let Ok(mut lowered) = lower(&region, &mapping.config) else { continue };
        let Some(ns) = price(op.cx, &region, &mut lowered, desc) else { continue };
        tried.push((format!("register tiles of {} x {}", mapping.tile.0, mapping.tile.1), ns));
        // What is usual stays where nothing is clearly better.
        if ns < found.0 * MARGIN {
            found = (ns, region, lowered);
        }
    }
    let chosen = tried.iter().find(|(_, ns)| *ns == found.0).map_or("", |(words, _)| words).to_owned();
    let number = tried.len();
    tried.sort_by(|a, b| a.1.total_cmp(&b.1));
    let list: Vec<String> =
        tried.iter().take(SAID).map(|(words, ns)| format!("{words} {:.2} us", ns / 1000.0)).collect();
    let remark = Some(format!("{number} mappings tried, taken is {chosen}; predicted: {}", list.join(", ")));
    Ok(Found { region: found.1, lowered: found.2, remark })
}

fn others<'a>(op: OpRef<'_>, config: &'a Config) -> &'a [Mapping] {
    let kind = op.as_::<FusionOp<'_>>().map_or("", |f| f.kind());
    config.mappings.get(kind).map_or(&[][..], Vec::as_slice)
}

/// The tile of every mapping of a region, the usual one first, with what it is lowered with.
fn all<'a>(op: OpRef<'_>, config: &'a Config) -> Vec<(String, &'a Config)> {
    let text = |(rows, columns): (i64, i64)| format!("{rows}x{columns}");
    let usual = std::iter::once((text(config.machine.tiles()[0]), config));
    usual.chain(others(op, config).iter().map(|m| (text(m.tile), &m.config))).collect()
}

/// What a region is lowered with by its attribute.
fn ordered<'a>(op: OpRef<'_>, attr: Attr, config: &'a Config) -> Built<&'a Config> {
    let kind = op.as_::<FusionOp<'_>>().map_or("", |f| f.kind());
    if !config.mappings.contains_key(kind) {
        let message =
            format!("has the attribute `{TILE_ATTR}`, but regions of kind '{kind}' have no register tiles to choose");
        return Err(Box::new(op.error(message).help("remove the attribute")));
    }
    let known = all(op, config);
    let hint = || {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        format!("its tiles are {}", names.join(", "))
    };
    let Some(name) = op.cx.as_str(attr) else {
        let message = format!("has an attribute `{TILE_ATTR}` that is no string");
        return Err(Box::new(op.error(message).help(hint())));
    };
    match known.iter().find(|(tile, _)| tile == name) {
        Some((_, config)) => Ok(config),
        None => {
            let message = format!("asks for register tiles \"{name}\", which the machine does not have");
            Err(Box::new(op.error(message).help(hint())))
        }
    }
}

/// The ways to lower a region that differ in their kernels, the usual one first; others that cannot be lowered are left out.
pub(super) fn candidates(op: OpRef<'_>, config: &Config) -> Vec<Candidate> {
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    for (tile, config) in all(op, config) {
        let Ok(region) = FusedRegion::read(op, &config.machine) else { continue };
        let Ok(mut lowered) = lower(&region, config) else { continue };
        let launches = lowered.steps.iter_mut().flat_map(|s| &mut s.versions).flat_map(|(_, launches)| launches);
        let kernels: Vec<String> = launches.map(|launch| launch.kernel.text(op.cx)).collect();
        if seen.contains(&kernels) {
            continue;
        }
        seen.push(kernels);
        let predicted_ns = config.desc.as_ref().and_then(|desc| price(op.cx, &region, &mut lowered, desc));
        found.push(Candidate { tile, predicted_ns });
    }
    found
}

/// Mappings that a remark mentions.
const SAID: usize = 3;

/// How much of the time another mapping must save to be taken: predictions are not better than that.
const MARGIN: f64 = 0.97;

/// Predicted nanoseconds of all steps at likely sizes.
fn price(cx: &Context, region: &FusedRegion<'_>, lowered: &mut Lowered, desc: &TargetDesc) -> Option<f64> {
    let mut sum = 0.0;
    for step in &mut lowered.steps {
        if is_folded(region, step) {
            continue;
        }
        let likely = |poly: &Poly| likely_size(&region.facts, poly);
        let last = step.versions.len().checked_sub(1)?;
        let at = step.versions.iter().position(|(guard, _)| guard.iter().all(|g| value(region, g) >= Some(0)));
        let (_, launches) = &mut step.versions[at.unwrap_or(last)];
        let size = |name: &str| Some(likely(&Poly::symbol(name)));
        for launch in launches {
            sum += predicted(cx, &mut launch.kernel, desc, &size)?;
        }
    }
    Some(sum)
}

fn predicted(cx: &Context, kernel: &mut Kernel, desc: &TargetDesc, size: &dyn Fn(&str) -> Option<i64>) -> Option<f64> {
    kernel.with_op(cx, |op| Some(KernelCost::of(op, None).ok()?.predict(desc, size).ok()?.ns))
}

/// A polynomial at likely sizes; it may be negative.
fn value(region: &FusedRegion<'_>, poly: &Poly) -> Option<i64> {
    poly.eval(&|name| Some(likely_size(&region.facts, &Poly::symbol(name))))
}

/// True when a step reads only constants, so that it runs at compile time.
fn is_folded(region: &FusedRegion<'_>, step: &Step) -> bool {
    let args = || step.versions.iter().flat_map(|(_, launches)| launches).flat_map(|launch| &launch.args);
    let mut tensors = args().filter_map(|arg| match arg {
        Arg::Tensor(value) => Some(*value),
        Arg::Temporary(_) => None,
    });
    let writes_only_temporaries = args().any(|arg| matches!(arg, Arg::Temporary(_)));
    writes_only_temporaries && tensors.all(|value| region.is_constant(value))
}
