//! `convert-graph-to-gir`: regions become kernels, functions become host programs.

mod control;
mod divide;
mod fallback;
mod kernel;
mod likely;
mod machine;
mod pick;
pub mod plan_file;
mod program;
mod region;
mod rules;
mod scalars;
mod schedule;
pub mod schedule_file;
mod search;
mod stages;
#[cfg(test)]
mod tests;
mod tiles;
mod traces;
mod write_schedules;

use std::collections::{HashMap, HashSet};

use machine::Machine;
pub use program::NAME_ATTR;
use rules::variant::{Setting, Variant};
pub use search::{Candidate, Prices};
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::facts::MAX_DIM;
use sutura_dialects::r#dyn::{Facts, Poly, SymbolInfo, SymbolOp};
use sutura_dialects::func::{CallOp, FuncOp};
use sutura_dialects::graph::FusionOp;
use sutura_dialects::rt::{ProgramInfo, Solution, Unsolvable};
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{BlockRef, Body, Context, Diagnostic, Op, OpRef, OpView};
pub use write_schedules::SCHEDULE_REGIONS;

use crate::region::Family;

/// The options of `convert-graph-to-gir`; that for tests comes last.
const OPTIONS: [OptionInfo; 9] = [
    OptionInfo {
        name: "resident-columns",
        kind: OptionKind::Int(0, 1 << 40),
        default: "0",
        help: "longest row, in elements, that is kept in the cache between passes over it; 0 takes what fits the \
               machine's, or 16384 without one",
    },
    OptionInfo {
        name: "parts",
        kind: OptionKind::Int(1, 1 << 16),
        default: "64",
        help: "parts in which sums along many rows are made, each by a group of its own; their number makes the order",
    },
    OptionInfo { name: "part-rows", kind: OptionKind::Int(1, 1 << 30), default: "16", help: "fewest rows of a part" },
    OptionInfo {
        name: "resident-keys",
        kind: OptionKind::Int(0, 1 << 20),
        default: "0",
        help: "most keys of an attention that are kept in the cache together; 0 takes what half of it holds",
    },
    OptionInfo {
        name: "tile-rows",
        kind: OptionKind::Int(0, 64),
        default: "0",
        help: "rows of a register tile of a product; 0 takes the machine's, or 12 without one",
    },
    OptionInfo {
        name: "tile-columns",
        kind: OptionKind::Int(0, 1024),
        default: "0",
        help: "columns of a register tile of a product; 0 takes the machine's, or 32 without one",
    },
    OptionInfo {
        name: "search",
        kind: OptionKind::Choice(&["off", "predict"]),
        default: "off",
        help: "`predict` looks at every schedule that the rule for a region can write, and takes the one that is fastest by the \
               module's machine at likely sizes",
    },
    OptionInfo {
        name: "least-saving",
        kind: OptionKind::Int(0, 99),
        default: "5",
        help: "percent of the usual way's time that `search=predict` must predict another one to save, to take it",
    },
    OptionInfo {
        name: "plant-fault",
        kind: OptionKind::Choice(&["none", "row", "contract", "attention", "window", "loop", "all"]),
        default: "none",
        help: "for tests: leaves a store out of the kernels of this rule, or of all, which are then not proved, so that another \
               rule takes its place",
    },
];

/// Those that say how regions are lowered.
const CONVERT_OPTIONS: &[OptionInfo] = OPTIONS.split_at(8).0;

/// `convert-graph-to-gir`
pub static CONVERT_GRAPH_TO_GIR: PassInfo = PassInfo {
    name: "ConvertGraphToGir",
    argument: "convert-graph-to-gir",
    summary: "Lower regions of the graph to gir kernels and functions to rt programs",
    description: "Each `graph.fusion` becomes one `gir.kernel` or several, each `func.func` around them an `rt.program` \
                  that allocates, launches, calls routines and selects versions. What a function returns is written in place. Spaces \
                  and register tiles are those of the module's `target.machine`, if there is one. A region with a \
                  `schedule` runs as that says, and one with a `trace` as the edits make of it; else it is an error. Others run as the \
                  rule for their family says. Where the kernels \
                  of a rule are not proved, the ops of the region become kernels one by one, with a remark; where a proof lacks only the equality of \
                  two sizes, the kernel requires it and the program checks it. Run `stitch` first.",
    anchor: Anchor::Op("builtin.module"),
    options: &OPTIONS,
    statistics: &[
        StatisticInfo { name: "num-kernels", description: "kernels made" },
        StatisticInfo { name: "num-launches", description: "launches made" },
        StatisticInfo { name: "num-shared", description: "kernels that were made before" },
        StatisticInfo { name: "num-calls", description: "calls of the runtime's routines made" },
    ],
    create,
};

/// What options and machine say.
#[derive(Clone, Debug)]
struct Config {
    thresholds: rules::rows::Thresholds,
    resident_keys: i64,
    machine: Machine,
    /// The machine's numbers, where the search takes part.
    desc: Option<TargetDesc>,
    /// The machine with each of its other register tiles before all others.
    other_tiles: Vec<((i64, i64), Machine)>,
    /// The part of the usual schedule's time that another one must save to be taken.
    least_saving: f64,
    /// Sizes that predictions are for, in place of the likely ones.
    sizes: HashMap<String, i64>,
    /// Rule in whose kernels a fault is planted.
    fault: String,
}

impl Config {
    /// The machine with the register tile of a variant.
    fn machine_of(&self, variant: &Variant) -> &Machine {
        let tile = variant.find(|setting| if let Setting::Tile(m, n) = setting { Some((*m, *n)) } else { None });
        let other = tile.and_then(|tile| self.other_tiles.iter().find(|(own, _)| *own == tile));
        other.map_or(&self.machine, |(_, machine)| machine)
    }
}

struct ConvertGraphToGir {
    thresholds: rules::rows::Thresholds,
    resident_keys: i64,
    tile_rows: i64,
    tile_columns: i64,
    search: bool,
    least_saving: i64,
    fault: String,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let fault = options.text("plant-fault").to_owned();
    Ok(Box::new(ConvertGraphToGir { fault, ..from_options(options) }))
}

fn from_options(options: &PassOptions) -> ConvertGraphToGir {
    ConvertGraphToGir {
        thresholds: rules::rows::Thresholds {
            resident: options.int("resident-columns"),
            parts: options.int("parts"),
            part_rows: options.int("part-rows"),
            columns: None,
            rows: None,
            block: None,
        },
        resident_keys: options.int("resident-keys"),
        tile_rows: options.int("tile-rows"),
        tile_columns: options.int("tile-columns"),
        search: options.text("search") == "predict",
        least_saving: options.int("least-saving"),
        fault: String::new(),
    }
}

impl Pass for ConvertGraphToGir {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        crate::elided::refuse_elided(run)?;
        let cx = run.cx;
        let config = self.config(cx, run.body).map_err(|message| run.diags.error(run.header.loc, message))?;
        if self.search && config.desc.is_none() {
            run.missed(run.header.loc, "no schedule is searched: the module describes no machine");
        }
        let functions: Vec<Op> = match run.body.entry_block() {
            Some(block) => run.body.ops(block).filter(|op| OpRef::new(cx, run.body, *op).is::<FuncOp<'_>>()).collect(),
            None => Vec::new(),
        };
        report_contradictions(run, &functions)?;
        let functions = those_called_first(cx, run.body, functions);
        let mut failed = false;
        for op in functions {
            let view = OpRef::new(cx, run.body, op);
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
            match program::convert(cx, view, &config) {
                Ok(mut program) => {
                    for (loc, remark) in std::mem::take(&mut program.remarks) {
                        run.remark(loc, remark);
                    }
                    for (loc, why) in std::mem::take(&mut program.missed) {
                        run.missed(loc, why);
                    }
                    let (made, counts) = program.insert(cx, run.body, op);
                    if let Some(why) = unsolvable(OpRef::new(cx, run.body, made)) {
                        let error = Diagnostic::error(loc, format!("@{name} cannot be a host program: {why}"));
                        run.diags.report(error.help("give each symbol a dimension of its own in some input's type"));
                        failed = true;
                        continue;
                    }
                    let made: Vec<String> =
                        counts.iter().map(|(what, n)| format!("{} {n}", what.trim_start_matches("num-"))).collect();
                    run.passed(loc, format!("@{name} is a host program now: {}", made.join(", ")));
                    for (name, n) in counts {
                        run.count(name, n);
                    }
                }
                Err(errors) => {
                    for error in errors {
                        run.diags.report(error);
                    }
                    failed = true;
                }
            }
        }
        if failed { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::none()) }
    }
}

impl ConvertGraphToGir {
    /// What options and the module's machine say.
    fn config(&self, cx: &Context, module: &Body) -> Result<Config, String> {
        let machine = Machine::of_module(cx, module, self.tile_rows, self.tile_columns)?;
        let mut thresholds = self.thresholds;
        if thresholds.resident == 0 {
            thresholds.resident = machine.resident;
        }
        let desc = match self.search {
            true => machine_in(cx, module)?.map(TargetDesc::from_op).transpose()?,
            false => None,
        };
        let other_tiles = machine.tiles().iter().skip(1).map(|tile| (*tile, machine.with_tile(*tile))).collect();
        let (resident_keys, sizes, fault) = (self.resident_keys, HashMap::new(), self.fault.clone());
        let least_saving = self.least_saving as f64 / 100.0;
        Ok(Config { thresholds, resident_keys, machine, desc, other_tiles, least_saving, sizes, fault })
    }
}

/// A region that can run by several schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The function that it is in, an op of the module's body.
    pub function: Op,
    /// The `graph.fusion`, an op of the function's body.
    pub fusion: Op,
    /// Its schedules, the usual one first.
    pub candidates: Vec<Candidate>,
}

/// The regions of a module without a schedule or a trace, for which the pass, with default options, knows several, with
/// the times that are predicted for the module's machine at these sizes, or likely ones where it gives none.
///
/// # Errors
/// When what the module says of its machine is wrong.
pub fn choices(cx: &Context, module: &Body, sizes: &HashMap<String, i64>) -> Result<Vec<Choice>, String> {
    let config = searching(cx, module, sizes)?;
    let mut choices = Vec::new();
    for function in module.entry_block().into_iter().flat_map(|block| module.ops(block)) {
        let view = OpRef::new(cx, module, function);
        let entry = view.as_::<FuncOp<'_>>().and_then(|_| view.region(0)?.entry());
        let at = fallback::At::of(view);
        for fusion in entry.into_iter().flat_map(|e| e.ops()).filter(|op| {
            op.as_::<FusionOp<'_>>().is_some_and(|fusion| fusion.schedule().is_none() && fusion.trace().is_none())
        }) {
            let candidates = search::candidates(&at, fusion, &config);
            if candidates.len() > 1 {
                choices.push(Choice { function, fusion: fusion.op, candidates });
            }
        }
    }
    Ok(choices)
}

/// What the pass does with default options where it searches, at these sizes or likely ones.
fn searching(cx: &Context, module: &Body, sizes: &HashMap<String, i64>) -> Result<Config, String> {
    let pass = ConvertGraphToGir { search: true, ..from_options(&PassOptions::new(CONVERT_GRAPH_TO_GIR.options)) };
    Ok(Config { sizes: sizes.clone(), ..pass.config(cx, module)? })
}

/// The rule that takes a region of a module: its name in remarks, reports and kernels; nothing where each of its ops is taken alone.
///
/// # Errors
/// When what the module says of its machine, or the region of its sizes, is wrong.
pub fn rule_of(cx: &Context, module: &Body, fusion: OpRef<'_>) -> Result<Option<&'static str>, String> {
    let machine = Machine::of_module(cx, module, 0, 0)?;
    let region = region::FusedRegion::read(fusion, &machine).map_err(|error| error.message.clone())?;
    Ok(region.family().map(Family::name))
}

/// Why the sizes of the inputs do not tell the symbols of a program.
fn unsolvable(program: OpRef<'_>) -> Option<Unsolvable> {
    let info = ProgramInfo::read(program).ok()?;
    Solution::of(&info).err()
}

/// The functions in their order, but those that decide sizes before those that call them, which plan memory by what bounds these.
fn those_called_first(cx: &Context, module: &Body, functions: Vec<Op>) -> Vec<Op> {
    let name_of = |op: Op| OpRef::new(cx, module, op).symbol_name();
    let by_name: HashMap<&str, Op> = functions.iter().filter_map(|op| Some((name_of(*op)?, *op))).collect();
    let callees = |op: Op| {
        let mut called = Vec::new();
        let calls = |inner: OpRef<'_>| inner.as_::<CallOp<'_>>().and_then(|call| by_name.get(call.callee()).copied());
        for block in OpRef::new(cx, module, op).region(0).into_iter().flat_map(|region| region.blocks()) {
            block.ops().for_each(|op| op.walk(&mut |inner| called.extend(calls(inner))));
        }
        called
    };
    let (mut order, mut seen) = (Vec::with_capacity(functions.len()), HashSet::new());
    for function in functions {
        let mut open = vec![(function, false)];
        while let Some((op, called)) = open.pop() {
            if called {
                order.push(op);
            } else if seen.insert(op) {
                open.push((op, true));
                let decides = |callee: &Op| decides_sizes(OpRef::new(cx, module, *callee));
                open.extend(callees(op).into_iter().filter(decides).map(|callee| (callee, false)));
            }
        }
    }
    order
}

/// Whether a function returns something of a size that its arguments do not tell.
fn decides_sizes(function: OpRef<'_>) -> bool {
    let Some(entry) = function.region(0).and_then(|region| region.entry()) else { return false };
    let symbols = |value| symbolic_shape(function.cx, entry.body.ty(value)).into_iter().flatten().flatten();
    let told: HashSet<_> = entry.args().iter().flat_map(|arg| symbols(*arg)).flat_map(|size| size.symbols()).collect();
    let returned = entry.terminator().into_iter().flat_map(OpRef::operands);
    returned.flat_map(symbols).any(|size| size.symbols().iter().any(|name| !told.contains(name)))
}

/// A symbol of a region of which the region says more than is known around it.
fn unfounded(region: BlockRef<'_>, around: &Facts) -> Option<Diagnostic> {
    region.ops().filter_map(|op| op.as_::<SymbolOp<'_>>()).find_map(|symbol| {
        let (SymbolInfo { min, max, div, .. }, size) = (symbol.info(), Poly::symbol(symbol.name()));
        // What is declared around the region is known beside what follows from its definition.
        let (told, (least, most)) = (around.info(symbol.name()), around.range(&size));
        let (least, most) = (least.max(told.min.into()), most.min(told.max.into()));
        let within = least >= min.into() && (max >= MAX_DIM || most <= max.into());
        if within && (around.divisible(&size, div) || told.div % div == 0) {
            return None;
        }
        let name = symbol.name();
        let error = symbol.op_ref().error(format!("says more of '{name}' than what is around the region guarantees"));
        Some(error.help(format!("declare '{name}' alike in the function and in its regions")))
    })
}

/// What sizes are known to be is wrong in itself in some function or region, or a region knows more than what is around it: errors of
/// the program, not a lack of this pass.
fn report_contradictions(run: &mut PassRun<'_>, functions: &[Op]) -> Result<(), PassError> {
    let mut errors = Vec::new();
    for function in functions {
        let Some(entry) = OpRef::new(run.cx, run.body, *function).region(0).and_then(|r| r.entry()) else { continue };
        let around = match Facts::of_block(entry) {
            Ok(facts) => facts,
            Err((op, contradiction)) => {
                errors.push(op.error(contradiction));
                continue;
            }
        };
        for block in entry.ops().filter_map(|op| op.as_::<FusionOp<'_>>()?.body().entry()) {
            match Facts::of_block(block) {
                Ok(_) => errors.extend(unfounded(block, &around)),
                Err((op, contradiction)) => errors.push(op.error(contradiction)),
            }
        }
    }
    match errors.into_iter().map(|error| run.diags.report(error)).last() {
        Some(reported) => Err(reported.into()),
        None => Ok(()),
    }
}
