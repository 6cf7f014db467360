//! `convert-graph-to-gir`: regions become kernels, functions become host programs.

mod contract;
mod kernel;
mod loops;
mod program;
mod region;
mod rows;
mod scalars;
mod stages;
#[cfg(test)]
mod tests;
mod tiles;

pub use program::NAME_ATTR;
use sutura_dialects::func::FuncOp;
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
                  that allocates, launches and selects versions. What a function returns is written in place. Run \
                  `stitch` first.",
    anchor: Anchor::Op("builtin.module"),
    options: &[
        OptionInfo {
            name: "resident-columns",
            kind: OptionKind::Int(1, 1 << 40),
            default: "16384",
            help: "longest row, in elements, that is kept in the cache between passes over it",
        },
        OptionInfo {
            name: "tile-rows",
            kind: OptionKind::Int(1, 64),
            default: "12",
            help: "rows of a register tile of a product",
        },
        OptionInfo {
            name: "tile-columns",
            kind: OptionKind::Int(1, 1024),
            default: "32",
            help: "columns of a register tile of a product",
        },
    ],
    statistics: &[
        StatisticInfo { name: "num-kernels", description: "kernels made" },
        StatisticInfo { name: "num-launches", description: "launches made" },
        StatisticInfo { name: "num-shared", description: "kernels that were made before" },
    ],
    create,
};

/// What the options say.
#[derive(Clone, Debug)]
struct Config {
    resident_columns: i64,
    tile_rows: i64,
    tile_columns: i64,
}

struct ConvertGraphToGir(Config);

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ConvertGraphToGir(Config {
        resident_columns: options.int("resident-columns"),
        tile_rows: options.int("tile-rows"),
        tile_columns: options.int("tile-columns"),
    })))
}

impl Pass for ConvertGraphToGir {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let functions: Vec<Op> = match run.body.entry_block() {
            Some(block) => run.body.ops(block).filter(|op| OpRef::new(cx, run.body, *op).is::<FuncOp<'_>>()).collect(),
            None => Vec::new(),
        };
        let mut failed = false;
        for op in functions {
            match program::convert(cx, OpRef::new(cx, run.body, op), &self.0) {
                Ok(program) => {
                    let counts = program.insert(cx, run.body, op);
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
