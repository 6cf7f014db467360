//! `convert-graph-to-gir`: regions become kernels, functions become host programs.

mod attention;
mod contract;
mod group;
mod kernel;
mod loops;
mod machine;
mod program;
mod region;
mod rows;
mod scalars;
mod search;
mod share;
mod stages;
#[cfg(test)]
mod tests;
mod tiles;
mod turned;

use std::collections::HashMap;

use machine::Machine;
pub use program::NAME_ATTR;
use search::Mapping;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Op, OpRef};

/// `convert-graph-to-gir`
pub static CONVERT_GRAPH_TO_GIR: PassInfo = PassInfo {
    name: "ConvertGraphToGir",
    argument: "convert-graph-to-gir",
    summary: "Lower regions of the graph to gir kernels and functions to rt programs",
    description: "Each `graph.fusion` becomes one `gir.kernel` or several, each `func.func` around them an `rt.program` \
                  that allocates, launches and selects versions. What a function returns is written in place. Spaces \
                  and register tiles are those of the module's `target.machine`, if there is one. Run `stitch` first.",
    anchor: Anchor::Op("builtin.module"),
    options: &[
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
        OptionInfo {
            name: "part-rows",
            kind: OptionKind::Int(1, 1 << 30),
            default: "16",
            help: "fewest rows of a part",
        },
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
            help: "`predict` lowers regions in every way that is known and takes the one that is fastest by the module's \
                   machine at likely sizes",
        },
    ],
    statistics: &[
        StatisticInfo { name: "num-kernels", description: "kernels made" },
        StatisticInfo { name: "num-launches", description: "launches made" },
        StatisticInfo { name: "num-shared", description: "kernels that were made before" },
    ],
    create,
};

/// What options and machine say.
#[derive(Clone, Debug)]
struct Config {
    thresholds: rows::Thresholds,
    resident_keys: i64,
    machine: Machine,
    /// The machine's numbers, where the search takes part.
    desc: Option<TargetDesc>,
    /// Other ways to map regions, by their kind.
    mappings: HashMap<&'static str, Vec<Mapping>>,
}

struct ConvertGraphToGir {
    thresholds: rows::Thresholds,
    resident_keys: i64,
    tile_rows: i64,
    tile_columns: i64,
    search: bool,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ConvertGraphToGir {
        thresholds: rows::Thresholds {
            resident: options.int("resident-columns"),
            parts: options.int("parts"),
            part_rows: options.int("part-rows"),
        },
        resident_keys: options.int("resident-keys"),
        tile_rows: options.int("tile-rows"),
        tile_columns: options.int("tile-columns"),
        search: options.text("search") == "predict",
    }))
}

impl Pass for ConvertGraphToGir {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        crate::elided::refuse_elided(run)?;
        let cx = run.cx;
        let machine = Machine::of_module(cx, run.body, self.tile_rows, self.tile_columns);
        let machine = machine.map_err(|message| run.diags.error(run.header.loc, message))?;
        let mut thresholds = self.thresholds;
        if thresholds.resident == 0 {
            thresholds.resident = machine.resident;
        }
        let mut config =
            Config { thresholds, resident_keys: self.resident_keys, machine, desc: None, mappings: HashMap::new() };
        if self.search {
            self.search(run, &mut config)?;
        }
        let functions: Vec<Op> = match run.body.entry_block() {
            Some(block) => run.body.ops(block).filter(|op| OpRef::new(cx, run.body, *op).is::<FuncOp<'_>>()).collect(),
            None => Vec::new(),
        };
        report_contradictions(run, &functions)?;
        let mut failed = false;
        for op in functions {
            let view = OpRef::new(cx, run.body, op);
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
            match program::convert(cx, view, &config) {
                Ok(mut program) => {
                    for (loc, remark) in std::mem::take(&mut program.remarks) {
                        run.remark(loc, remark);
                    }
                    let counts = program.insert(cx, run.body, op);
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
    /// Makes the search take part, if the module has a machine to predict times for.
    fn search(&self, run: &mut PassRun<'_>, config: &mut Config) -> Result<(), PassError> {
        let described = machine_in(run.cx, run.body).and_then(|op| op.map(TargetDesc::from_op).transpose());
        config.desc = described.map_err(|message| run.diags.error(run.header.loc, message))?;
        if config.desc.is_some() {
            config.mappings = search::mappings(config);
        } else {
            run.missed(run.header.loc, "no mapping is searched: the module describes no machine");
        }
        Ok(())
    }
}

/// What sizes are known to be is wrong in itself in some function or region: an error of the program, not a lack of this pass.
fn report_contradictions(run: &mut PassRun<'_>, functions: &[Op]) -> Result<(), PassError> {
    let mut errors = Vec::new();
    for function in functions {
        let Some(entry) = OpRef::new(run.cx, run.body, *function).region(0).and_then(|r| r.entry()) else { continue };
        let regions = entry.ops().filter_map(|op| op.as_::<FusionOp<'_>>()?.body().entry());
        for block in std::iter::once(entry).chain(regions) {
            if let Err((op, contradiction)) = Facts::of_block(block) {
                errors.push(op.error(contradiction));
            }
        }
    }
    match errors.into_iter().map(|error| run.diags.report(error)).last() {
        Some(reported) => Err(reported.into()),
        None => Ok(()),
    }
}
