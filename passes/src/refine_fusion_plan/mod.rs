//! `refine-fusion-plan`: regions that `stitch` has found near to each other become other ones where their kernels say so.
//!
//! The planner asks for the prices of thousands of sets of ops, which closed forms answer. Where these find two plans near to each
//! other, the regions of both become kernels here, and the cost model of gir prices those: so what decides is what reports show and
//! what schedules are chosen by (docs/rationale/price-of-schedules.md).

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Reported;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Body, Context, Loc, Op, OpRef};

use crate::graph_to_gir::Prices;
use crate::stitch::alone::Alone;
use crate::stitch::alternatives::{Change, Plan, Site, sites};
use crate::stitch::cost::CostModel;
use crate::stitch::replan::{Replaced, model_of, replan_all};

/// `refine-fusion-plan`
pub static REFINE_FUSION_PLAN: PassInfo = PassInfo {
    name: "RefineFusionPlan",
    argument: "refine-fusion-plan",
    summary: "Join and cut regions where their kernels are predicted to be faster",
    description: "`stitch` prices sets of operations in closed form. Here pairs of regions that could be one, and regions that could be \
                  two, are priced by the kernels that they become, on the module's `target.machine` at likely sizes, if \
                  the closed form says that the other plan takes at most twice as long. The geometric mean of both \
                  predictions decides: a plan that saves enough by it is taken. Regions with a schedule or a trace stay as they are. Without a machine, and for devices, nothing changes. Run \
                  `stitch` first.",
    anchor: Anchor::Op("builtin.module"),
    options: &[
        OptionInfo {
            name: "least-saving",
            kind: OptionKind::Int(0, 99),
            default: "5",
            help: "percent of the time of regions that other ones must be predicted to save, in the geometric mean of both \
                   predictions, to be taken",
        },
        OptionInfo {
            name: "max-sites",
            kind: OptionKind::Int(0, 1 << 20),
            default: "48",
            help: "most different regions, or pairs of regions, that are priced, those first that are nearest by the closed form",
        },
    ],
    statistics: &[
        StatisticInfo { name: "num-priced", description: "different regions, or pairs, that were priced" },
        StatisticInfo { name: "num-left", description: "regions and pairs that were not, beyond max-sites" },
        StatisticInfo { name: "num-joined", description: "pairs of regions that became one" },
        StatisticInfo { name: "num-cut", description: "regions that became two" },
    ],
    create,
};

struct RefineFusionPlan {
    least_saving: f64,
    max_sites: usize,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let max_sites = usize::try_from(options.int("max-sites")).unwrap_or(usize::MAX);
    Ok(Box::new(RefineFusionPlan { least_saving: options.int("least-saving") as f64 / 100.0, max_sites }))
}

impl Pass for RefineFusionPlan {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let prices = Prices::of(cx, run.body).map_err(|why| run.diags.error(run.header.loc, why))?;
        let Some(prices) = prices else {
            run.missed(run.header.loc, "no plan is refined: the module describes no machine");
            return Ok(PreservedAnalyses::all());
        };
        if let Some(device) = prices.machine().filter(|machine| machine.subgroup.is_some()) {
            let why = format!(
                "predictions for '{}', whose units are threads, were never compared with its times",
                device.name
            );
            run.missed(run.header.loc, format!("no plan is refined: {why}"));
            return Ok(PreservedAnalyses::all());
        }
        let model = model_of(cx, run.body).map_err(|why| run.diags.error(run.header.loc, why))?;
        let mut refining = Refining { pass: self, cx, prices, model, known: HashMap::new(), left: 0 };
        let mut changed = 0;
        // Joins take regions away and cuts add some, so that one after the other ends.
        for (change, name) in [(Change::Join, "num-joined"), (Change::Cut, "num-cut")] {
            let n = refining.all(run, change)?;
            run.count(name, n);
            changed += n;
        }
        run.count("num-priced", refining.known.len() as u64);
        run.count("num-left", refining.left);
        if refining.left > 0 {
            let (left, most) = (refining.left, self.max_sites);
            run.missed(
                run.header.loc,
                format!("{left} less promising plans are not priced, beyond max-sites = {most}"),
            );
        }
        Ok(if changed == 0 { PreservedAnalyses::all() } else { PreservedAnalyses::none() })
    }
}

/// What was found of a site: the kernels of the plan that is taken, if it is another one, and what is said.
#[derive(Clone)]
struct Verdict {
    taken: Option<Vec<Vec<usize>>>,
    words: String,
}

/// A site that gets another plan.
struct Taken {
    regions: Vec<Op>,
    kernels: Vec<Vec<usize>>,
    loc: Loc,
    words: String,
}

struct Refining<'p> {
    pass: &'p RefineFusionPlan,
    cx: &'p Context,
    prices: Prices,
    model: CostModel,
    /// By the text of the regions alone: layers of a network are alike.
    known: HashMap<String, Verdict>,
    left: u64,
}

impl Refining<'_> {
    /// Decides on all sites; how many were changed.
    fn all(&mut self, run: &mut PassRun<'_>, change: Change) -> Result<u64, Reported> {
        let sites = sites(self.cx, run.body, change).map_err(|why| run.diags.error(run.header.loc, why))?;
        let mut gone: HashSet<(Op, Op)> = HashSet::new();
        let mut taken: IndexMap<Op, Vec<Taken>> = IndexMap::new();
        for site in sites {
            let own: Vec<(Op, Op)> = site.regions.iter().map(|region| (site.function, *region)).collect();
            if own.iter().any(|region| gone.contains(region)) {
                continue;
            }
            let Some(inside) = run.body.nested(site.function) else { continue };
            let loc = inside.loc(site.regions[0]);
            let Verdict { taken: kernels, words } = match self.of_site(run.body, &site) {
                Ok(Some(verdict)) => verdict,
                Ok(None) => continue,
                Err(why) => {
                    run.missed(loc, format!("keeps its plan, which cannot be priced: {why}"));
                    continue;
                }
            };
            let Some(kernels) = kernels else {
                run.remark(loc, words);
                continue;
            };
            gone.extend(own);
            taken.entry(site.function).or_default().push(Taken { regions: site.regions, kernels, loc, words });
        }
        let mut changed = 0;
        for (function, taken) in taken {
            changed += self.change(run, function, &taken);
        }
        Ok(changed)
    }

    /// Changes a function; how many sites were changed.
    fn change(&self, run: &mut PassRun<'_>, function: Op, taken: &[Taken]) -> u64 {
        let Some(inside) = run.body.nested_mut(function) else { return 0 };
        let all: Vec<Replaced<'_>> = taken.iter().map(|taken| (&taken.regions[..], &taken.kernels[..])).collect();
        let why_not = match replan_all(self.cx, inside, &all, (&self.model, "predicted")) {
            Ok(why_not) => why_not,
            Err(why) => vec![Some(why); taken.len()],
        };
        let mut changed = 0;
        for (Taken { loc, words, .. }, why_not) in taken.iter().zip(why_not) {
            match why_not {
                None => {
                    changed += 1;
                    run.passed(*loc, words.clone());
                }
                Some(why) => run.missed(*loc, format!("keeps its plan beside others that were changed: {why}")),
            }
        }
        changed
    }

    /// What becomes of a site of a module; `None` for one beyond those that are priced.
    ///
    /// # Errors
    /// Why its regions cannot stand alone.
    fn of_site(&mut self, module: &Body, site: &Site) -> Result<Option<Verdict>, String> {
        let inside = module.nested(site.function).ok_or("its function has no body")?;
        let regions: Vec<OpRef<'_>> = site.regions.iter().map(|region| OpRef::new(self.cx, inside, *region)).collect();
        let alone = Alone::of(self.cx, &regions)?;
        let key = alone.text(self.cx);
        if let Some(known) = self.known.get(&key) {
            return Ok(Some(known.clone()));
        }
        if self.known.len() >= self.pass.max_sites {
            self.left += 1;
            return Ok(None);
        }
        let verdict = self.verdict(OpRef::new(self.cx, module, site.function), &alone, site);
        self.known.insert(key, verdict.clone());
        Ok(Some(verdict))
    }

    fn verdict(&self, function: OpRef<'_>, alone: &Alone, site: &Site) -> Verdict {
        let now = &site.now;
        let Some(now_ns) = self.price(alone) else {
            return Verdict { taken: None, words: format!("stays {now}: the cost of its kernels is not known") };
        };
        let mut best: Option<(usize, f64, Alone)> = None;
        let ratio = |plan: &Plan, ns: f64| ((ns / now_ns) * (plan.predicted_ns / now.predicted_ns)).sqrt();
        for (number, plan) in site.others.iter().enumerate() {
            let Ok(other) = alone.replanned(self.cx, &plan.kernels, &self.model) else { continue };
            let Some(ns) = self.price(&other) else { continue };
            if best.as_ref().is_none_or(|(best, least, _)| ratio(plan, ns) < ratio(&site.others[*best], *least)) {
                best = Some((number, ns, other));
            }
        }
        let said = |plan: &Plan, ns: f64| {
            format!("{plan} {:.2} us by kernels, {:.2} us in closed form", ns / 1000.0, plan.predicted_ns / 1000.0)
        };
        let Some((number, ns, other)) = best else {
            return Verdict { taken: None, words: format!("stays {now}: the cost of other plans is not known") };
        };
        let plan = &site.others[number];
        let both = format!("predicted: {}; {}", said(now, now_ns), said(plan, ns));
        let ratio = ratio(plan, ns);
        if ratio.is_nan() || ratio > 1.0 - self.pass.least_saving {
            let why = if ratio < 1.0 { "saves too little" } else { "is no faster" };
            return Verdict { taken: None, words: format!("stays {now}, since {plan} {why}; {both}") };
        }
        if !other.regions.iter().all(|op| self.prices.proves(function, OpRef::new(self.cx, other.body(), *op))) {
            return Verdict { taken: None, words: format!("stays {now}: kernels of {plan} are not proved; {both}") };
        }
        Verdict { taken: Some(plan.kernels.clone()), words: format!("becomes {plan}; {both}") }
    }

    /// Nanoseconds of all regions.
    fn price(&self, alone: &Alone) -> Option<f64> {
        let body = alone.body();
        alone.regions.iter().map(|op| self.prices.of_region(OpRef::new(self.cx, body, *op))).sum()
    }
}
