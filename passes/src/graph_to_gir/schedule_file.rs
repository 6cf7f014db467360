//! Files of schedules: `sutura compile --emit=schedule` writes one, `--schedule` takes it.
//!
//! A file holds schedules by the algorithm of their regions, so that it serves all regions that compute the same, those of other
//! models too.

use std::collections::HashMap;
use std::fmt::Write;

use indexmap::IndexMap;
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::schedule::{RegionOp, TreeAttr};
use sutura_ir::asm::print::attr_text;
use sutura_ir::{Body, Context, Diagnostic, Loc, Op, OpRef, OpView, Rewriter};

use super::Machine;
use super::region::FusedRegion;
use super::schedule::{algorithm, describe};

/// A region of a function, and what it computes.
struct Region<'a> {
    function: Op,
    op: OpRef<'a>,
    /// Function and number in it.
    place: String,
    algorithm: String,
}

fn regions<'a>(cx: &'a Context, module: &'a Body) -> Vec<Region<'a>> {
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
/// schedule are named at the end.
///
/// # Errors
/// When what the module says of its machine is wrong.
pub fn text(cx: &Context, module: &Body) -> Result<String, String> {
    let machine = Machine::of_module(cx, module, 0, 0)?;
    let (mut scheduled, mut without) = (IndexMap::<(String, &TreeAttr), Vec<Region<'_>>>::new(), Vec::new());
    for region in regions(cx, module) {
        match region.op.as_::<FusionOp<'_>>().and_then(|fusion| fusion.schedule()) {
            Some(tree) => scheduled.entry((region.algorithm.clone(), tree)).or_default().push(region),
            None => without.push(region.place),
        }
    }
    let mut out = String::from("// Schedules of regions. Change them, and compile with --schedule FILE.\nmodule {\n");
    for ((algorithm, tree), regions) in &scheduled {
        let places: Vec<&str> = regions.iter().map(|region| region.place.as_str()).collect();
        comment(&mut out, &format!("Regions {}", places.join(", ")));
        let read = FusedRegion::read(regions[0].op, &machine).map_err(|error| error.message.clone())?;
        let lines = describe(&read, tree).map_err(|misfit| misfit.0)?;
        lines.iter().for_each(|line| comment(&mut out, line));
        let tree = attr_text(cx, cx.ext_attr((*tree).clone())).replace('\n', "\n  ");
        // Writing to a string does not fail.
        let _ = writeln!(out, "  schedule.region \"{algorithm}\" = {tree}\n");
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
    /// Regions that have a schedule of the file now.
    pub regions: usize,
    /// Algorithms of the file that no region has, with their places.
    pub unused: Vec<(Loc, String)>,
}

/// Gives the regions of a module the schedules of a file; those that have one already keep no other.
///
/// # Errors
/// When the file holds something else, or two schedules of one algorithm.
pub fn attach(cx: &Context, module: &mut Body, file: &Body) -> Result<Attached, Box<Diagnostic>> {
    let mut schedules: IndexMap<&str, (RegionOp<'_>, usize)> = IndexMap::new();
    for op in file.entry_block().into_iter().flat_map(|block| file.ops(block)) {
        let view = OpRef::new(cx, file, op);
        let Some(region) = view.as_::<RegionOp<'_>>() else {
            let error = view.error("is no schedule, and the file is to hold nothing else");
            return Err(Box::new(
                error.help("a file of schedules holds 'schedule.region', as '--emit=schedule' writes it"),
            ));
        };
        if schedules.insert(region.algorithm(), (region, 0)).is_some() {
            return Err(Box::new(
                view.error(format!("is a second schedule of the algorithm '{}'", region.algorithm())),
            ));
        }
    }
    let mut found: HashMap<Op, Vec<(Op, TreeAttr)>> = HashMap::new();
    for region in regions(cx, module) {
        if let Some((schedule, uses)) = schedules.get_mut(region.algorithm.as_str()) {
            *uses += 1;
            found.entry(region.function).or_default().push((region.op.op, schedule.tree().clone()));
        }
    }
    let mut attached = Attached::default();
    for (function, fusions) in found {
        let Some(inside) = module.nested_mut(function) else { continue };
        let mut rewriter = Rewriter::new(cx, inside);
        for (fusion, tree) in fusions {
            rewriter.set_prop(fusion, "schedule", Some(cx.ext_attr(tree)));
            attached.regions += 1;
        }
    }
    let unused = schedules.into_iter().filter(|(_, (_, uses))| *uses == 0);
    attached.unused = unused.map(|(algorithm, (op, _))| (op.op_ref().loc(), algorithm.to_owned())).collect();
    Ok(attached)
}
