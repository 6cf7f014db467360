//! The search over mappings: a region is lowered in every way that its kind offers, each is priced for the module's machine
//! at likely sizes, and the fastest is taken. Where the region has a plan, that is taken.
//!
//! After IntelliGen (arXiv 2307.04995), whose search also branches only over how work is mapped: rewrites need none.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{FusionOp, PlanAttr, Setting};
use sutura_dialects::target::TargetDesc;
use sutura_ir::work::Counter;
use sutura_ir::{Context, OpRef};

use super::Config;
use super::kernel::{Built, Kernel};
use super::mapping::{self, Axis};
use super::program::lower;
use super::region::{Arg, FusedRegion, Launch, Lowered};
use super::rules::{loops, rows};
use crate::gir::cost::KernelCost;
use crate::region::cost::size_at;

/// A way to lower a region.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its settings.
    pub plan: PlanAttr,
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

/// Most ways of one region that are looked at.
const MOST: usize = 96;

/// Mappings that a remark mentions.
const SAID: usize = 3;

/// What can be chosen of a region by its kind; each axis has several values.
pub(super) fn axes(region: &FusedRegion<'_>, config: &Config) -> Vec<Axis> {
    let tiles = || config.machine.tiles().iter().map(|tile| Setting::Tile(tile.0, tile.1)).collect();
    let all: Vec<Axis> = match region.op.as_::<FusionOp<'_>>().map_or("", |f| f.kind()) {
        "contract" => vec![tiles()],
        "attention" => vec![tiles(), [0, 256].map(Setting::Keys).into()],
        "row" => rows::axes(region, config.thresholds),
        "loop" => loops::axes(region),
        _ => vec![],
    };
    all.into_iter().filter(|axis| axis.len() > 1).collect()
}

static LOWERED: Counter = Counter::new("mappings: ways lowered");

/// A region as a mapping has it.
fn mapped<'a>(op: OpRef<'a>, config: &'a Config, plan: &PlanAttr) -> Built<(FusedRegion<'a>, Lowered)> {
    LOWERED.add(1);
    let region = FusedRegion::read(op, config.machine_of(plan))?;
    let lowered = lower(&region, config, plan)?;
    Ok((region, lowered))
}

/// Lowers a region as its attribute says, or as the search finds best.
///
/// # Errors
/// When the plan has a setting that the region does not have, or when the usual mapping cannot be lowered; others that cannot are
/// left out.
pub(super) fn best<'a>(op: OpRef<'a>, config: &'a Config) -> Built<Found<'a>> {
    if let Some(plan) = op.as_::<FusionOp<'_>>().and_then(|fusion| fusion.plan()) {
        let axes = axes(&FusedRegion::read(op, &config.machine)?, config);
        let (region, lowered) = mapped(op, config, &mapping::checked(op, plan, &axes)?)?;
        return Ok(Found { region, lowered, remark: None });
    }
    let usual = PlanAttr::default();
    let (region, mut lowered) = mapped(op, config, &usual)?;
    let Some(desc) = &config.desc else { return Ok(Found { region, lowered, remark: None }) };
    let (ways, count) = mapping::all(&axes(&region, config), MOST);
    if ways.len() < 2 {
        return Ok(Found { region, lowered, remark: None });
    }
    let Some(usual_ns) = price(op.cx, &region, &mut lowered, config, desc) else {
        let remark = Some("the usual mapping is taken: its cost is not known".to_owned());
        return Ok(Found { region, lowered, remark });
    };
    let mut seen = vec![texts(op.cx, &region, &mut lowered, config)];
    let mut tried = vec![(usual, usual_ns)];
    let mut found = (usual_ns, region, lowered);
    for plan in &ways[1..] {
        let Ok((region, mut lowered)) = mapped(op, config, plan) else { continue };
        let text = texts(op.cx, &region, &mut lowered, config);
        if seen.contains(&text) {
            continue;
        }
        seen.push(text);
        let Some(ns) = price(op.cx, &region, &mut lowered, config, desc) else { continue };
        tried.push((plan.clone(), ns));
        // What is usual stays where nothing is clearly better.
        if ns < found.0 && ns < usual_ns * (1.0 - config.least_saving) {
            found = (ns, region, lowered);
        }
    }
    let (ns, region, lowered) = found;
    Ok(Found { region, lowered, remark: said(tried, ns, config.least_saving, (count, ways.len())) })
}

/// What was looked at, and what is taken; `None` where all ways are the same.
fn said(
    mut tried: Vec<(PlanAttr, f64)>,
    taken_ns: f64,
    least_saving: f64,
    (count, looked_at): (usize, usize),
) -> Option<String> {
    let number = tried.len();
    if number < 2 {
        return None;
    }
    let taken = tried.iter().find(|(_, ns)| *ns == taken_ns).map_or_else(String::new, |(plan, _)| plan.to_string());
    tried.sort_by(|a, b| a.1.total_cmp(&b.1));
    let why = match (taken == PlanAttr::default().to_string(), tried[0].1 < taken_ns) {
        (true, true) => format!(", since others save less than {:.0} %", 100.0 * least_saving),
        _ => ", which is predicted to be fastest".to_owned(),
    };
    let list: Vec<String> = tried.iter().take(SAID).map(|(plan, ns)| format!("{plan} {:.2} us", ns / 1000.0)).collect();
    let cut = if looked_at < count { format!(" (the first {looked_at} of {count} ways)") } else { String::new() };
    Some(format!("{number} mappings tried{cut}, taken is {taken}{why}; predicted: {}", list.join(", ")))
}

/// The ways to lower a region whose kernels differ at likely sizes, the usual one first; others that cannot be lowered are
/// left out.
pub(super) fn candidates(op: OpRef<'_>, config: &Config) -> Vec<Candidate> {
    let Ok(region) = FusedRegion::read(op, &config.machine) else { return vec![] };
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    for plan in mapping::all(&axes(&region, config), MOST).0 {
        let Ok((region, mut lowered)) = mapped(op, config, &plan) else { continue };
        let text = texts(op.cx, &region, &mut lowered, config);
        if seen.contains(&text) {
            continue;
        }
        seen.push(text);
        let predicted_ns = config.desc.as_ref().and_then(|desc| price(op.cx, &region, &mut lowered, config, desc));
        found.push(Candidate { plan, predicted_ns });
    }
    found
}

/// The launches that are made at likely sizes, step by step.
fn taken<'l>(region: &FusedRegion<'_>, lowered: &'l mut Lowered, config: &Config) -> Vec<&'l mut Launch> {
    let mut launches = Vec::new();
    for step in &mut lowered.steps {
        let holds = |size: &Poly| size_at(&region.facts, &config.sizes, size).is_some_and(|value| value >= 0);
        let at = step.versions.iter().position(|(guard, _)| guard.iter().all(holds));
        let at = at.unwrap_or(step.versions.len().saturating_sub(1));
        let version = step.versions.get_mut(at).into_iter().flat_map(|(_, launches)| launches);
        launches.extend(version.filter(|launch| !is_folded(region, launch)));
    }
    launches
}

/// The kernels that run at likely sizes, without the guards that were compiled with them.
fn texts(cx: &Context, region: &FusedRegion<'_>, lowered: &mut Lowered, config: &Config) -> Vec<String> {
    taken(region, lowered, config).into_iter().map(|launch| launch.kernel.body_text(cx)).collect()
}

/// Predicted nanoseconds of all steps at likely sizes.
fn price(
    cx: &Context,
    region: &FusedRegion<'_>,
    lowered: &mut Lowered,
    config: &Config,
    desc: &TargetDesc,
) -> Option<f64> {
    let size = |name: &str| size_at(&region.facts, &config.sizes, &Poly::symbol(name)).map(|value| value.max(0));
    taken(region, lowered, config).into_iter().map(|launch| predicted(cx, &mut launch.kernel, desc, &size)).sum()
}

fn predicted(cx: &Context, kernel: &mut Kernel, desc: &TargetDesc, size: &dyn Fn(&str) -> Option<i64>) -> Option<f64> {
    kernel.with_op(cx, |op| {
        let cost = KernelCost::of(op, None).ok()?;
        // Indices of loops have names too, and are no sizes.
        let size = |name: &str| cost.dims.iter().find(|dim| dim.name == name).and_then(|dim| size(&dim.name));
        Some(cost.predict(desc, &size).ok()?.ns)
    })
}

/// True when a launch reads only constants, so that it runs at compile time.
fn is_folded(region: &FusedRegion<'_>, launch: &Launch) -> bool {
    let mut tensors = launch.args.iter().filter_map(|arg| match arg {
        Arg::Tensor(value) => Some(*value),
        Arg::Temporary(_) => None,
    });
    let writes_only_temporaries = launch.args.iter().any(|arg| matches!(arg, Arg::Temporary(_)));
    writes_only_temporaries && tensors.all(|value| region.is_constant(value))
}
