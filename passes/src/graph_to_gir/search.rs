//! The search over schedules: a region is lowered by every variant of the schedule that its rule writes, each is priced for the
//! module's machine at likely sizes, and the fastest is taken.
//!
//! After IntelliGen (arXiv 2307.04995), whose search also branches only over how work is mapped: rewrites need none.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::TreeAttr;
use sutura_dialects::target::TargetDesc;
use sutura_ir::work::Counter;
use sutura_ir::{Body, Context, OpRef};

use super::Config;
use super::fallback::{self, At};
use super::kernel::{Built, Kernel};
use super::region::{Arg, FusedRegion, Launch, Lowered};
use super::rules::variant::{Axis, Variant};
use super::rules::{self, Rule};
use crate::gir::cost::KernelCost;
use crate::region::cost::size_at;

/// A schedule that the rule for a region can write.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// What differs from the usual one, as people read it: `columns=1024, parts=none`, or `usual`.
    pub name: String,
    /// The schedule.
    pub schedule: TreeAttr,
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

/// Schedules that a remark mentions.
const SAID: usize = 3;

/// What can be varied in the schedule of a region.
pub(super) fn axes(region: &FusedRegion<'_>, config: &Config) -> Vec<Axis> {
    region.family().map_or_else(Vec::new, |family| Rule::of(family).axes(region, config))
}

static LOWERED: Counter = Counter::new("search: variants lowered");

/// A region as a variant schedules it.
pub(super) fn lowered<'a>(
    region: &FusedRegion<'a>,
    config: &'a Config,
    variant: &Variant,
) -> Built<(FusedRegion<'a>, Lowered)> {
    LOWERED.add(1);
    let region = region.with_tiles_of(config.machine_of(variant));
    let lowered = rules::lower(&region, config, variant)?;
    Ok((region, lowered))
}

/// Lowers a region by the schedule that the search finds best.
///
/// # Errors
/// When the usual schedule cannot be lowered; others that cannot are left out.
pub(super) fn best<'a>(op: OpRef<'a>, config: &'a Config) -> Built<Found<'a>> {
    let usual = Variant::default();
    let read = FusedRegion::read(op, &config.machine)?;
    let (region, mut usually) = lowered(&read, config, &usual)?;
    let Some(desc) = &config.desc else { return Ok(Found { region, lowered: usually, remark: None }) };
    let (variants, count) = Variant::all(&axes(&region, config), MOST);
    if variants.len() < 2 {
        return Ok(Found { region, lowered: usually, remark: None });
    }
    let Some(usual_ns) = price(op.cx, &region, &mut usually, config, desc) else {
        let remark = Some("the usual schedule is taken: its cost is not known".to_owned());
        return Ok(Found { region, lowered: usually, remark });
    };
    let mut seen = vec![texts(op.cx, &region, &mut usually, config)];
    let mut tried = vec![(usual, usual_ns)];
    let mut found = (usual_ns, region, usually);
    for variant in &variants[1..] {
        let Ok((region, mut lowered)) = lowered(&read, config, variant) else { continue };
        let text = texts(op.cx, &region, &mut lowered, config);
        if seen.contains(&text) {
            continue;
        }
        seen.push(text);
        let Some(ns) = price(op.cx, &region, &mut lowered, config, desc) else { continue };
        tried.push((variant.clone(), ns));
        // What is usual stays where nothing is clearly better.
        if ns < found.0 && ns < usual_ns * (1.0 - config.least_saving) {
            found = (ns, region, lowered);
        }
    }
    let (ns, region, lowered) = found;
    Ok(Found { region, lowered, remark: said(tried, ns, config.least_saving, (count, variants.len())) })
}

/// What was looked at, and what is taken; `None` where all ways are the same.
fn said(
    mut tried: Vec<(Variant, f64)>,
    taken_ns: f64,
    least_saving: f64,
    (count, looked_at): (usize, usize),
) -> Option<String> {
    let number = tried.len();
    if number < 2 {
        return None;
    }
    let taken =
        tried.iter().find(|(_, ns)| *ns == taken_ns).map_or_else(String::new, |(variant, _)| variant.to_string());
    tried.sort_by(|a, b| a.1.total_cmp(&b.1));
    let why = match (taken == Variant::default().to_string(), tried[0].1 < taken_ns) {
        (true, true) => format!(", since others save less than {:.0} %", 100.0 * least_saving),
        _ => ", which is predicted to be fastest".to_owned(),
    };
    let list: Vec<String> = tried.iter().take(SAID).map(|(name, ns)| format!("{name} {:.2} us", ns / 1000.0)).collect();
    let cut = if looked_at < count { format!(" (the first {looked_at} of {count})") } else { String::new() };
    Some(format!("{number} schedules tried{cut}, taken is {taken}{why}; predicted: {}", list.join(", ")))
}

/// The schedules of a region whose kernels are proved and differ at likely sizes, the usual one first; nothing where that is not
/// among them.
pub(super) fn candidates(at: &At<'_>, op: OpRef<'_>, config: &Config) -> Vec<Candidate> {
    let Ok(region) = FusedRegion::read(op, &config.machine) else { return vec![] };
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    for variant in Variant::all(&axes(&region, config), MOST).0 {
        let way = lowered(&region, config, &variant).ok();
        let proved = way
            .filter(|(_, lowered)| lowered.schedule.is_some())
            .and_then(|(region, mut lowered)| fallback::check(at, &mut lowered).is_ok().then_some((region, lowered)));
        let Some((region, mut lowered)) = proved else {
            // Without the usual one nothing tells what others save.
            if found.is_empty() {
                return found;
            }
            continue;
        };
        let text = texts(op.cx, &region, &mut lowered, config);
        if seen.contains(&text) {
            continue;
        }
        seen.push(text);
        let predicted_ns = config.desc.as_ref().and_then(|desc| price(op.cx, &region, &mut lowered, config, desc));
        let schedule = lowered.schedule.expect("looked at above");
        found.push(Candidate { name: variant.to_string(), schedule, predicted_ns });
    }
    found
}

/// What regions are predicted to take by the kernels that they become, at likely sizes.
pub struct Prices {
    config: Config,
}

impl Prices {
    /// For the machine of a module; `None` where that describes none.
    ///
    /// # Errors
    /// When what the module says of its machine is wrong.
    pub fn of(cx: &Context, module: &Body) -> Result<Option<Self>, String> {
        let config = super::searching(cx, module, &HashMap::new())?;
        Ok(config.desc.is_some().then_some(Self { config }))
    }

    /// The machine.
    pub fn machine(&self) -> Option<&TargetDesc> {
        self.config.desc.as_ref()
    }

    /// Nanoseconds that the kernels of a region's usual schedule take on one thread, and their launches; `None` where no rule
    /// lowers it, or the cost of a kernel is not known.
    pub fn of_region(&self, op: OpRef<'_>) -> Option<f64> {
        let (region, mut lowered) = self.lowered(op)?;
        let desc = self.config.desc.as_ref()?;
        let launches = taken(&region, &mut lowered, &self.config).len() as u64;
        let ns = price(op.cx, &region, &mut lowered, &self.config, desc)?;
        Some(ns + launches.saturating_mul(desc.call_ns) as f64)
    }

    /// True where the kernels of a region's usual schedule are proved, in the module that a function is in.
    pub fn proves(&self, function: OpRef<'_>, op: OpRef<'_>) -> bool {
        let at = At::of(function);
        self.lowered(op).is_some_and(|(_, mut lowered)| fallback::check(&at, &mut lowered).is_ok())
    }

    fn lowered<'a>(&'a self, op: OpRef<'a>) -> Option<(FusedRegion<'a>, Lowered)> {
        let read = FusedRegion::read(op, &self.config.machine).ok()?;
        lowered(&read, &self.config, &Variant::default()).ok()
    }
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
