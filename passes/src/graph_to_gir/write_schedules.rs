//! `schedule-regions`: the schedules that rules write become attributes of their regions.

use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::schedule::TreeAttr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Loc, Op, OpRef, Rewriter};

use super::{CONVERT_OPTIONS, ConvertGraphToGir, fallback, from_options, traces};

/// `schedule-regions`
pub static SCHEDULE_REGIONS: PassInfo = PassInfo {
    name: "ScheduleRegions",
    argument: "schedule-regions",
    summary: "Write the schedule of each region as its attribute",
    description: "Each `graph.fusion` gets the attribute `schedule` that a rule writes for it: what `convert-graph-to-gir` with the \
                  same options would follow. A region that has a schedule keeps it. A `trace` becomes the schedule that its edits make. One \
                  whose kernels are not proved is lowered op by op: it gets none, with a remark.",
    anchor: Anchor::Op("builtin.module"),
    options: CONVERT_OPTIONS,
    statistics: &[
        StatisticInfo { name: "num-scheduled", description: "schedules written" },
        StatisticInfo { name: "num-without", description: "regions that are lowered without a schedule" },
    ],
    create,
};

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ScheduleRegions(from_options(options))))
}

struct ScheduleRegions(ConvertGraphToGir);

/// What was found for a region.
struct Written {
    function: Op,
    fusion: Op,
    loc: Loc,
    /// The schedule, or why there is none.
    schedule: Result<TreeAttr, String>,
}

impl Pass for ScheduleRegions {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let all = self.written(run)?;
        let cx = run.cx;
        for Written { function, fusion, loc, schedule } in all {
            let tree = match schedule {
                Ok(tree) => tree,
                Err(why) => {
                    run.count("num-without", 1);
                    run.missed(loc, format!("gets no schedule: {why}"));
                    continue;
                }
            };
            let Some(inside) = run.body.nested_mut(function) else { continue };
            let mut rewriter = Rewriter::new(cx, inside);
            rewriter.set_prop(fusion, "schedule", Some(cx.ext_attr(tree)));
            rewriter.set_prop(fusion, "trace", None);
            run.count("num-scheduled", 1);
            run.passed(loc, "has its schedule as attribute".to_owned());
        }
        Ok(PreservedAnalyses::none())
    }
}

impl ScheduleRegions {
    /// The schedules of all regions that have none yet, or edits of one.
    fn written(&self, run: &mut PassRun<'_>) -> Result<Vec<Written>, sutura_ir::pass::PassError> {
        let (cx, body) = (run.cx, &*run.body);
        let config = self.0.config(cx, body).map_err(|message| run.diags.error(run.header.loc, message))?;
        let (mut all, mut refused) = (Vec::new(), None);
        for function in body.entry_block().into_iter().flat_map(|block| body.ops(block)) {
            let view = OpRef::new(cx, body, function);
            let Some(entry) = view.as_::<FuncOp<'_>>().and_then(|_| view.region(0)?.entry()) else { continue };
            let at = fallback::At::of(view);
            for op in entry.ops() {
                let Some(fusion) = op.as_::<FusionOp<'_>>() else { continue };
                let schedule = match (fusion.trace(), fusion.schedule()) {
                    (Some(trace), _) => match traces::followed(&at, op, trace, &config) {
                        Ok((tree, _)) => Ok(tree),
                        Err(error) => {
                            refused = Some(run.diags.report(*error));
                            continue;
                        }
                    },
                    (None, Some(_)) => continue,
                    (None, None) => traces::by_rule(&at, op, &config),
                };
                all.push(Written { function, fusion: op.op, loc: op.loc(), schedule });
            }
        }
        refused.map_or(Ok(all), |reported| Err(reported.into()))
    }
}
