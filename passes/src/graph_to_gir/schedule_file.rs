//! Files of schedules: `sutura compile --emit=schedule` writes one, `--schedule` takes it.
//!
//! A file holds schedules by the algorithm of their regions, so that it serves all regions that compute the same, those of other
//! models too. Before them come the steps to the plan that has these regions, if it is another one than that of `stitch`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use indexmap::IndexMap;
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::schedule::{PlanOp, RegionOp, TraceAttr, TraceOp, TreeAttr};
use sutura_ir::asm::print::attr_text;
use sutura_ir::pass::PassOptions;
use sutura_ir::{Attr, Body, Context, Diagnostic, Loc, Op, OpRef, OpView, Rewriter};

use super::plan_file::Step;
use super::region::FusedRegion;
use super::rules::variant::Variant;
use super::schedule::{algorithm, describe, roles};
use super::{CONVERT_GRAPH_TO_GIR, Machine, from_options, rules};
use crate::stitch::replan::model_of;

/// A region of a function, and what it computes.
pub(super) struct Region<'a> {
    pub(super) function: Op,
    pub(super) op: OpRef<'a>,
    /// Function and number in it.
    pub(super) place: String,
    pub(super) algorithm: String,
}

/// The regions of a module, in order.
pub(super) fn regions<'a>(cx: &'a Context, module: &'a Body) -> Vec<Region<'a>> {
    let mut all = Vec::new();
    for function in module.entry_block().into_iter().flat_map(|block| module.ops(block)) {
        let view = OpRef::new(cx, module, function);
        let entry = view.as_::<FuncOp<'_>>().and_then(|_| view.region(0)?.entry());
        let name = view.symbol_name().unwrap_or_default();
        for (i, op) in entry.into_iter().flat_map(|e| e.ops()).filter(|op| op.is::<FusionOp<'_>>()).enumerate() {
            all.push(Region { function, op, place: format!("@{name} {i}"), algorithm: algorithm(op) });
        }
    }
    all
}

/// The schedules of a module's regions as a file, each once, with the dims and stages of its regions as comments. Regions without a
/// schedule are named at the end. Before all come the steps that were taken to get to these regions.
///
/// # Errors
/// When what the module says of its machine is wrong.
pub fn text(cx: &Context, module: &Body, steps: &[Step]) -> Result<String, String> {
    let config = from_options(&PassOptions::new(CONVERT_GRAPH_TO_GIR.options)).config(cx, module)?;
    let (mut scheduled, mut without) = (IndexMap::<(String, &TreeAttr), Vec<Region<'_>>>::new(), Vec::new());
    for region in regions(cx, module) {
        match region.op.as_::<FusionOp<'_>>().and_then(|fusion| fusion.schedule()) {
            Some(tree) => scheduled.entry((region.algorithm.clone(), tree)).or_default().push(region),
            None => without.push(region.place),
        }
    }
    let mut out = String::from("// Schedules of regions. Change them, and compile with --schedule FILE.\nmodule {\n");
    if !steps.is_empty() {
        comment(&mut out, "The regions are those of the plan that these steps lead to");
        steps.iter().for_each(|step| step.write(cx, &mut out));
    }
    let mut written: HashSet<&str> = HashSet::new();
    for ((algorithm, tree), regions) in &scheduled {
        let places: Vec<&str> = regions.iter().map(|region| region.place.as_str()).collect();
        comment(&mut out, &format!("Regions {}", places.join(", ")));
        let read = FusedRegion::read(regions[0].op, &config.machine).map_err(|error| error.message.clone())?;
        let lines = describe(&read, tree).map_err(|misfit| misfit.0)?;
        let roles = roles(&read).map_err(|misfit| misfit.0)?;
        comment(&mut out, &format!("roles \"{roles}\""));
        let usual = rules::lower(&read, &config, &Variant::default()).ok().and_then(|lowered| lowered.schedule);
        if let Some(trace) = usual.and_then(|usual| TraceAttr::between(cx, &usual, tree)) {
            let trace = attr_text(cx, cx.ext_attr(trace));
            comment(&mut out, "By edits of what the rule writes, which serve other regions with these roles too:");
            comment(&mut out, &format!("schedule.trace \"{algorithm}\" roles \"{roles}\" = {trace}"));
        }
        lines.iter().for_each(|line| comment(&mut out, line));
        let tree = attr_text(cx, cx.ext_attr((*tree).clone())).replace('\n', "\n  ");
        // The first schedule of an algorithm is for all regions that have it, others for those that they were chosen for.
        let of: Vec<String> = match written.insert(algorithm) {
            true => vec![String::new()],
            false => places.iter().map(|place| format!(" of \"{place}\"")).collect(),
        };
        for of in of {
            // Writing to a string does not fail.
            let _ = writeln!(out, "  schedule.region \"{algorithm}\"{of} = {tree}\n");
        }
    }
    if !without.is_empty() {
        comment(&mut out, &format!("Regions without a schedule: {}", without.join(", ")));
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n}\n");
    Ok(out)
}

fn comment(out: &mut String, line: &str) {
    // Names of values are text of the model's.
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(out, "  // {line}");
}

/// What a file of schedules did to a module.
#[derive(Debug, Default)]
pub struct Attached {
    /// Steps to another plan that were taken.
    pub steps: Vec<Step>,
    /// Steps whose regions are not there, or compute something else, by their numbers in the file.
    pub unused_steps: Vec<usize>,
    /// Regions that have a schedule of the file now.
    pub regions: usize,
    /// Algorithms of the file that no region has, with their places.
    pub unused: Vec<(Loc, String)>,
    /// Algorithms of traces that fit no region.
    pub unused_traces: Vec<(Loc, String)>,
}

/// What a file holds, and how often each is used.
#[derive(Default)]
struct File<'f> {
    plan: Vec<PlanOp<'f>>,
    /// By algorithm, and region where one names it.
    schedules: IndexMap<(String, Option<String>), (RegionOp<'f>, usize)>,
    traces: IndexMap<&'f str, (TraceOp<'f>, usize)>,
}

impl<'f> File<'f> {
    fn of(cx: &'f Context, file: &'f Body) -> Result<Self, Box<Diagnostic>> {
        let mut all = Self::default();
        for op in file.entry_block().into_iter().flat_map(|block| file.ops(block)) {
            let view = OpRef::new(cx, file, op);
            if let Some(step) = view.as_::<PlanOp<'_>>() {
                all.plan.push(step);
                continue;
            }
            let (twice, algorithm) = match (view.as_::<RegionOp<'_>>(), view.as_::<TraceOp<'_>>()) {
                (Some(region), _) => {
                    let key = (region.algorithm().to_owned(), region.place().map(str::to_owned));
                    let twice = all.schedules.insert(key, (region, 0)).is_some();
                    (twice.then_some("schedule"), region.algorithm())
                }
                (None, Some(trace)) => {
                    let twice = all.traces.insert(trace.algorithm(), (trace, 0)).is_some();
                    (twice.then_some("trace"), trace.algorithm())
                }
                (None, None) => {
                    let error = view.error("is no schedule, and the file is to hold nothing else");
                    let help = "a file of schedules holds 'schedule.region' and 'schedule.plan', as '--emit=schedule' writes them, and \
                                'schedule.trace'";
                    return Err(Box::new(error.help(help)));
                }
            };
            if let Some(what) = twice {
                return Err(Box::new(view.error(format!("is a second {what} of the algorithm '{algorithm}'"))));
            }
        }
        Ok(all)
    }

    /// Makes the regions that the file's plan has.
    fn replan(&self, cx: &Context, module: &mut Body, attached: &mut Attached) -> Result<(), Box<Diagnostic>> {
        if self.plan.is_empty() {
            return Ok(());
        }
        let model = model_of(cx, module).map_err(|message| Diagnostic::error(Loc::UNKNOWN, message))?;
        for (number, step) in self.plan.iter().enumerate() {
            match Step::of_file(cx, module, *step, &model)? {
                Some(step) => attached.steps.push(step),
                None => attached.unused_steps.push(number + 1),
            }
        }
        Ok(())
    }

    /// The trace of a region: the one of its algorithm, or else the one of its roles.
    fn trace(&mut self, region: &Region<'_>, machine: &Machine) -> Result<Option<TraceOp<'f>>, Box<Diagnostic>> {
        if let Some((trace, uses)) = self.traces.get_mut(region.algorithm.as_str()) {
            *uses += 1;
            return Ok(Some(*trace));
        }
        if self.traces.is_empty() {
            return Ok(None);
        }
        let Ok(Ok(roles)) = FusedRegion::read(region.op, machine).map(|read| roles(&read)) else { return Ok(None) };
        let mut alike = self.traces.values_mut().filter(|(trace, _)| trace.roles() == roles);
        let Some((trace, uses)) = alike.next() else { return Ok(None) };
        if let Some((second, _)) = alike.next() {
            let place = &region.place;
            let message =
                format!("is a second trace with the roles '{roles}', and {place} has the algorithm of neither");
            return Err(Box::new(second.op_ref().error(message)));
        }
        *uses += 1;
        Ok(Some(*trace))
    }

    /// What the file has for a region, and the property that it becomes.
    fn found(
        &mut self,
        cx: &Context,
        region: &Region<'_>,
        machine: &Machine,
    ) -> Result<Option<(&'static str, Attr)>, Box<Diagnostic>> {
        let trace = self.trace(region, machine)?;
        let (own, all) = ((region.algorithm.clone(), Some(region.place.clone())), (region.algorithm.clone(), None));
        let key = if self.schedules.contains_key(&own) { own } else { all };
        let schedule = self.schedules.get_mut(&key);
        match (schedule, trace) {
            (Some(_), Some(trace)) => {
                let place = &region.place;
                let error = format!("edits the schedule of {place}, for which the file has a schedule of its own");
                Err(Box::new(trace.op_ref().error(error).help("remove one of the two, or edit the schedule")))
            }
            (Some((schedule, uses)), None) => {
                *uses += 1;
                Ok(Some(("schedule", cx.ext_attr(schedule.tree().clone()))))
            }
            (None, trace) => Ok(trace.map(|trace| ("trace", cx.ext_attr(trace.trace().clone())))),
        }
    }
}

/// Gives a module the plan of a file, and its regions the schedules and traces; those that have a schedule already keep no other, and a trace
/// edits it.
///
/// # Errors
/// When the file holds something else, or several things for one region.
pub fn attach(cx: &Context, module: &mut Body, file: &Body) -> Result<Attached, Box<Diagnostic>> {
    let (mut file, mut attached) = (File::of(cx, file)?, Attached::default());
    file.replan(cx, module, &mut attached)?;
    let machine = Machine::of_module(cx, module, 0, 0).map_err(|message| Diagnostic::error(Loc::UNKNOWN, message))?;
    let mut found: HashMap<Op, Vec<(Op, &str, Attr)>> = HashMap::new();
    for region in regions(cx, module) {
        if let Some((name, attr)) = file.found(cx, &region, &machine)? {
            found.entry(region.function).or_default().push((region.op.op, name, attr));
        }
    }
    for (function, fusions) in found {
        let Some(inside) = module.nested_mut(function) else { continue };
        let mut rewriter = Rewriter::new(cx, inside);
        for (fusion, name, attr) in fusions {
            rewriter.set_prop(fusion, name, Some(attr));
            attached.regions += 1;
        }
    }
    let unused = file.schedules.into_iter().filter(|(_, (_, uses))| *uses == 0);
    attached.unused = unused.map(|((algorithm, _), (op, _))| (op.op_ref().loc(), algorithm)).collect();
    let unused = file.traces.into_iter().filter(|(_, (_, uses))| *uses == 0);
    attached.unused_traces = unused.map(|(algorithm, (op, _))| (op.op_ref().loc(), algorithm.to_owned())).collect();
    Ok(attached)
}
