//! `gir-cache-hints`: what the loads and stores of kernels say of a processor's caches.
//!
//! A store that goes past the caches does not read the line that it is going to overwrite, but what it wrote is far away for
//! whoever reads it next: it pays in a launch that touches more than the caches hold. Such a store may be deferred to the next
//! group, whose loops compute while memory takes it. What a group reads can be asked for before: by the loop that reads it, a
//! few lines ahead, and for the next group while this one computes on what it has read. A row that waits to be stored lies in
//! the output meanwhile.

mod decide;
mod home;
#[cfg(test)]
mod tests;
mod touched;

use rustc_hash::FxHashSet;
use sutura_dialects::gir::ops::{HomeOp, KernelOp};
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Loc, Op, OpRef, Rewriter};

use self::decide::{Caches, Hint};
use self::home::{Home, Registers, Row};

/// `gir-cache-hints`
pub static GIR_CACHE_HINTS: PassInfo = PassInfo {
    name: "GirCacheHints",
    argument: "gir-cache-hints",
    summary: "Let stores of gir kernels go past the caches, and loads ask for memory ahead",
    description: "Looks up the module's `target.machine`; does nothing where its units are threads. What a loop over a row \
                  computes for a later one, which changes it by numbers of the row and stores it, lives in the output until \
                  then (`gir.home`). Stores of rows to `out` views may go past the caches (`stream`) in \
                  launches that touch at least as many bytes as the machine's main memory says, or as its last cache holds; the \
                  last one of a row that combines something before may wait for the next row (`defer`). Rows that a group \
                  reads, and the next one elsewhere, are asked for ahead (`prefetch`): a few lines, where the row is stored \
                  past the caches, and those of the next group, where a quarter of a unit's own cache holds them. Clauses \
                  and homes that are there already stay; without a machine homes are all that is said.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-homes", description: "rows that live in the output until they are stored there" },
        StatisticInfo { name: "num-streams", description: "stores that may go past the caches" },
        StatisticInfo { name: "num-deferred", description: "stores that may wait for the next group" },
        StatisticInfo { name: "num-prefetches", description: "loads that ask for memory ahead" },
    ],
    create,
};

struct GirCacheHints;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(GirCacheHints))
}

impl Pass for GirCacheHints {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let (caches, registers) = match machine_of(cx, run.body) {
            Ok(Machine::Caches(caches, registers)) => (Some(caches), registers),
            Ok(Machine::None) => (None, Registers::of(None)),
            Ok(Machine::Threads(name)) => {
                run.missed(run.header.loc, format!("nothing is said of caches: units of '{name}' are threads"));
                return Ok(PreservedAnalyses::all());
            }
            Err(message) => {
                run.diags.report(Diagnostic::error(Loc::UNKNOWN, message));
                return Err(PassError::Unsupported);
            }
        };
        let is_kernel = |op: &Op| OpRef::new(cx, run.body, *op).is::<KernelOp<'_>>();
        let kernels: Vec<Op> = run.body.preorder().filter(is_kernel).collect();
        let mut changed = false;
        for kernel in kernels {
            let mut rows = home::rows(OpRef::new(cx, run.body, kernel), &registers);
            let mut taken = FxHashSet::default();
            // The last one is read no more when the store comes.
            for row in rows.iter_mut().rev() {
                if row.home.as_ref().is_ok_and(|home| !taken.insert(home.slice)) {
                    row.home = Err("a later row lives where it is stored".to_owned());
                }
            }
            for row in rows {
                changed |= row.home.is_ok();
                settle(run, kernel, row);
            }
            let op = OpRef::new(cx, run.body, kernel);
            let Some(caches) = &caches else {
                let name = op.symbol_name().unwrap_or("?");
                let message = format!("@{name} says nothing of caches: the module describes no machine");
                run.missed(run.body.loc(kernel), message);
                continue;
            };
            for hint in decide::hints(op, caches) {
                changed |= !hint.clauses.is_empty();
                write(run, kernel, hint);
            }
        }
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// What the module says of its machine.
enum Machine {
    /// Nothing.
    None,
    Caches(Caches, Registers),
    /// One of this name, whose units are threads.
    Threads(String),
}

fn machine_of(cx: &Context, module: &Body) -> Result<Machine, String> {
    let Some(machine) = machine_in(cx, module)? else { return Ok(Machine::None) };
    let desc = TargetDesc::from_op(machine)?;
    Ok(match desc.subgroup {
        Some(_) => Machine::Threads(desc.name),
        None => Machine::Caches(Caches::of(&desc), Registers::of(Some(&desc))),
    })
}

/// Says where a row lives that a loop keeps for a later one.
fn settle(run: &mut PassRun<'_>, kernel: Op, row: Row) {
    let Some(body) = run.body.nested_mut(kernel) else { return };
    let loc = body.loc(row.made);
    match row.home {
        Ok(Home { tile, slice, before, moved, users }) => {
            let mut rewriter = Rewriter::new(run.cx, body);
            moved.iter().for_each(|op| rewriter.move_before(*op, before));
            rewriter.set_before(before);
            let home = HomeOp::value(&mut rewriter, loc, tile, slice);
            rewriter.replace_uses_if(tile, home, |_, user, _| users.contains(&user));
            run.count("num-homes", 1);
            run.passed(loc, "the row lives in the output until it is stored there");
        }
        Err(why) => run.missed(loc, format!("the row lives in scratch until it is stored: {why}")),
    }
}

/// Puts the clauses into the text, and says so.
fn write(run: &mut PassRun<'_>, kernel: Op, hint: Hint) {
    let Some(body) = run.body.nested_mut(kernel) else { return };
    let loc = body.loc(hint.op);
    let mut rewriter = Rewriter::new(run.cx, body);
    for (name, value) in &hint.clauses {
        rewriter.set_prop(hint.op, name, Some(*value));
    }
    let has = |wanted: &str| hint.clauses.iter().any(|(name, _)| *name == wanted);
    for (statistic, is) in [
        ("num-streams", has("stream")),
        ("num-deferred", has("defer")),
        ("num-prefetches", has("prefetch") || has("next")),
    ] {
        run.count(statistic, u64::from(is));
    }
    if hint.clauses.is_empty() { run.missed(loc, hint.why) } else { run.passed(loc, hint.why) }
}
