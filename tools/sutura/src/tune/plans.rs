//! Other plans are measured before schedules: regions that become one, and regions that become two.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use sutura_ir::diagnostics::{Diagnostics, RemarkKind};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Loc, Op, OpRef};
use sutura_passes::graph_to_gir::plan_file::Step;
use sutura_passes::stitch::alternatives::{Change, Plan, Site, sites};
use sutura_passes::stitch::replan::model_of;

use super::problem::{Make, Problem};
use super::{Decision, On, Tuner, Way, remark};
use crate::failure::{Failure, Kind};
use crate::pipeline::{Compilation, Level, Program};
use crate::talk::Talk;

/// Sites of a program that are measured, those that compute the same as another one not counted.
const MOST_SITES: usize = 48;
/// Rounds over all sites, each of which begins with what the one before has made.
const ROUNDS: usize = 3;

/// The search for a faster plan. Regions are joined first, and cut then, so that it ends.
pub(super) struct Search<'s> {
    tuner: &'s Tuner,
    compilation: &'s Compilation,
    on: &'s On<'s>,
    sizes: &'s HashMap<String, i64>,
    talk: &'s Talk,
    /// Keys of what was measured, or known.
    seen: HashSet<String>,
    /// Functions and regions that were decided on.
    decided: HashSet<(Op, Vec<Op>)>,
    measured: usize,
    known: usize,
    left: usize,
}

impl<'s> Search<'s> {
    pub(super) fn new(
        tuner: &'s Tuner,
        compilation: &'s Compilation,
        (on, sizes): (&'s On<'s>, &'s HashMap<String, i64>),
        talk: &'s Talk,
    ) -> Self {
        let (seen, decided) = (HashSet::new(), HashSet::new());
        Self { tuner, compilation, on, sizes, talk, seen, decided, measured: 0, known: 0, left: 0 }
    }

    /// The program with the fastest plan; the steps to it are added to `steps`.
    pub(super) fn run(mut self, mut program: Program, steps: &mut Vec<Step>) -> Result<Program, Failure> {
        let (start, before) = (Instant::now(), steps.len());
        for change in [Change::Join, Change::Cut] {
            for _ in 0..ROUNDS {
                if !self.round(&mut program, change, steps)? {
                    break;
                }
            }
        }
        let Self { measured, known, left, .. } = self;
        let taken = steps.len() - before;
        if measured + known > 0 {
            let more = if left == 0 { String::new() } else { format!(", {left} less promising ones left out") };
            let words = format!("{measured} measured, {known} known before, {taken} changed{more}");
            self.talk.stage("plans", &words, start.elapsed());
        }
        if taken == 0 {
            return Ok(program);
        }
        let program = self.compilation.program(program.module).at(Level::Fusion);
        let verified = verify(
            program.module.op_ref(&self.compilation.cx),
            VerifyOptions { allow_unregistered: true },
            &mut Diagnostics::default(),
        );
        verified.map_err(|_| Failure::internal("the plan that was measured to be fastest is not valid"))?;
        Ok(program)
    }

    /// Decides on all sites; true when regions were changed.
    fn round(&mut self, program: &mut Program, change: Change, steps: &mut Vec<Step>) -> Result<bool, Failure> {
        let cx = &self.compilation.cx;
        let sites = sites(cx, program.module.body(), change).map_err(Failure::input)?;
        let model = model_of(cx, program.module.body()).map_err(Failure::input)?;
        let mut gone: HashSet<(Op, Op)> = HashSet::new();
        for site in sites {
            let at = (site.function, site.regions.clone());
            if site.regions.iter().any(|region| gone.contains(&(site.function, *region))) || !self.decided.insert(at) {
                continue;
            }
            let Some(loc) = loc(cx, program, &site) else { continue };
            let Some(plan) = self.decide(program, &site)? else { continue };
            let regions = (site.function, &site.regions[..]);
            match Step::take(cx, program.module.body_mut(), regions, &plan.kernels, &model) {
                Ok(step) => steps.push(step),
                // Two joins of a round may each be fine alone, and not together: then each would wait for the other.
                Err(why) => {
                    let words = format!("keeps its plan after all, beside those that were changed: {why}");
                    remark(self.compilation, loc, RemarkKind::Missed, &words, self.talk);
                    continue;
                }
            }
            gone.extend(site.regions.iter().map(|region| (site.function, *region)));
        }
        Ok(!gone.is_empty())
    }

    /// The plan that a site gets, if it is another one.
    fn decide<'p>(&mut self, program: &Program, site: &'p Site) -> Result<Option<&'p Plan>, Failure> {
        let cx = &self.compilation.cx;
        let Some(inside) = program.module.body().nested(site.function) else { return Ok(None) };
        let regions: Vec<OpRef<'_>> = site.regions.iter().map(|region| OpRef::new(cx, inside, *region)).collect();
        let Some(loc) = loc(cx, program, site) else { return Ok(None) };
        let plans: Vec<&Plan> = std::iter::once(&site.now).chain(&site.others).collect();
        let way = |(number, plan): (usize, &&'p Plan)| Way {
            name: plan.to_string(),
            predicted_ns: Some(plan.predicted_ns),
            make: if number == 0 { Make::AsIs } else { Make::Plan(&plan.kernels) },
        };
        let ways: Vec<Way<'p>> = plans.iter().enumerate().map(way).collect();
        let decision = match Problem::of(cx, &regions, self.sizes) {
            Ok(problem) => {
                let key = format!("plan {}", problem.key);
                if !self.seen.contains(&key) && self.seen.len() >= MOST_SITES {
                    self.left += 1;
                    return Ok(None);
                }
                self.seen.insert(key.clone());
                let program = (self.compilation, program);
                self.tuner.decide(program, &problem, ("plan", &key), &ways, self.on, self.talk)
            }
            Err(why) => Err(Failure::internal(why)),
        };
        match decision {
            Ok(Decision { taken, words, measured }) => {
                let count = if measured { &mut self.measured } else { &mut self.known };
                *count += 1;
                remark(self.compilation, loc, RemarkKind::Passed, &words, self.talk);
                Ok((taken > 0).then(|| plans[taken]))
            }
            Err(failure) if failure.kind == Kind::System => Err(failure),
            Err(failure) => {
                let words = format!("keeps its plan, since it cannot be measured: {}", failure.message);
                remark(self.compilation, loc, RemarkKind::Missed, &words, self.talk);
                Ok(None)
            }
        }
    }
}

/// Where the first region of a site comes from.
fn loc(cx: &Context, program: &Program, site: &Site) -> Option<Loc> {
    Some(OpRef::new(cx, program.module.body().nested(site.function)?, *site.regions.first()?).loc())
}
