//! `gir-row-versions`: versions of kernels by the length of their rows, each for as many threads as such rows are worth.
//!
//! How many threads a unit has, and whether a row stays in their registers, is decided when a kernel is lowered, by the longest
//! row that its header allows. A kernel for rows of any length would take a block for each, also for rows that a subgroup has
//! room for in its registers: copies that require shorter rows are lowered for those (docs/rationale/row-versions.md).

use sutura_dialects::r#dyn::attr::shape_attr;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::gpu::MOST_THREADS;
use sutura_dialects::rt::{KernelSignature, Launchable};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::rewriter::clone_body;
use sutura_ir::{Attr, Body, Context, Loc, Op, OpRef, OpView, Rewriter};

use super::kernel::row_lengths;
use super::width::MOST_LANES;
use super::{COLUMNS_OF_THREAD, KEPT_COLUMNS, free_name, subgroup_of};
use crate::gir_lowering::machine::Machine;
use crate::kernel_versions::{self, Version, Versions, version_of};

/// Subgroups that compute a row together before all of a block do.
const FEW_SUBGROUPS: i64 = 8;

/// `gir-row-versions`
pub static GIR_ROW_VERSIONS: PassInfo = PassInfo {
    name: "GirRowVersions",
    argument: "gir-row-versions",
    summary: "Make versions of kernels for GPUs by the length of their rows, chosen by guards",
    description: "Each `gir.kernel` that computes rows of a length that only the launch knows gets copies `@k_cols128`, \
                  which require rows of at most so many columns: a vector for each thread of a subgroup, a few for each, \
                  those of several subgroups, and what a block can keep in registers. A program launches the first whose \
                  guard holds. `convert-gir-to-gpu` then takes as many threads for each as its rows are worth.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "subgroup",
        kind: OptionKind::Int(0, 128),
        default: "0",
        help: "threads that run in lockstep, a power of two; 0 takes those of the module's machine, or 32 without one",
    }],
    statistics: &[
        StatisticInfo { name: "num-kernels", description: "kernels with versions by the length of their rows" },
        StatisticInfo { name: "num-versions", description: "versions made" },
    ],
    create,
};

struct GirRowVersions {
    subgroup: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let subgroup = options.int("subgroup");
    if subgroup != 0 && subgroup & (subgroup - 1) != 0 {
        return Err(format!("option `subgroup` takes a power of two, not `{subgroup}`"));
    }
    Ok(Box::new(GirRowVersions { subgroup }))
}

/// A kernel that gets versions.
struct Candidate {
    kernel: Op,
    loc: Loc,
    name: String,
    /// The launch's name for it.
    symbol: Attr,
    signature: KernelSignature,
    /// The number of columns of its rows, and the most that versions take, the least first.
    columns: Poly,
    limits: Vec<i64>,
}

impl Pass for GirRowVersions {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let machine = Machine::of_gpu(cx, run.body).map_err(|error| run.diags.report(*error))?;
        let subgroup = subgroup_of(self.subgroup, &machine);
        let launched = kernel_versions::launched(cx, run.body);
        let kernels: Vec<Op> =
            run.body.preorder().filter(|op| OpRef::new(cx, run.body, *op).is::<KernelOp<'_>>()).collect();
        let (mut candidates, mut missed) = (Vec::new(), Vec::new());
        for kernel in kernels {
            let view = OpRef::new(cx, run.body, kernel);
            match candidate(view, &machine, subgroup, &launched) {
                Ok(Found::Candidate(candidate)) => candidates.push(*candidate),
                Ok(Found::One) => {}
                Ok(Found::Left(why)) => missed.push((view.loc(), why)),
                Err(message) => return Err(run.diags.report(view.error(message)).into()),
            }
        }
        for (loc, why) in missed {
            run.missed(loc, why);
        }
        if candidates.is_empty() {
            return Ok(PreservedAnalyses::all());
        }
        let most = candidates.iter().map(|candidate| candidate.limits.len()).max().unwrap_or(0);
        for at in 0..most {
            let made = make_versions(cx, run.body, &candidates, at);
            kernel_versions::choose_in_programs(cx, run.body, &made).map_err(|error| run.diags.report(error))?;
            run.count("num-versions", made.len() as u64);
        }
        report(run, candidates);
        Ok(PreservedAnalyses::none())
    }
}

/// What becomes of a kernel.
enum Found {
    Candidate(Box<Candidate>),
    /// One version is enough.
    One,
    /// Versions would be good, but there are none.
    Left(String),
}

fn candidate(op: OpRef<'_>, machine: &Machine, subgroup: i64, launched: &[Attr]) -> Result<Found, String> {
    let kernel = KernelInfo::read(op)?;
    // Units of one group are subgroups, however long rows are.
    if kernel.units > 1 {
        return Ok(Found::One);
    }
    let (lengths, facts) = row_lengths(&kernel, machine);
    let known: i128 = lengths.iter().filter_map(Poly::as_const).map(i128::from).max().unwrap_or(0);
    let mut unknown = lengths.into_iter().filter(|length| length.as_const().is_none());
    let (Some(columns), others) = (unknown.next(), unknown.count()) else { return Ok(Found::One) };
    let (least, most) = facts.range(&columns);
    let useful = |limit: &i64| (known.max(least)..most).contains(&i128::from(*limit));
    let limits: Vec<i64> = limits(subgroup).into_iter().filter(useful).collect();
    if limits.is_empty() {
        return Ok(Found::One);
    }
    let name = op.symbol_name().unwrap_or_default().to_owned();
    let left = |why: &str| Ok(Found::Left(format!("kernel @{name} has one version for rows of any length: {why}")));
    if others > 0 {
        return left("it has rows of several lengths that are not known");
    }
    let symbol = op.cx.symbol_ref(&name);
    if !launched.contains(&symbol) {
        return left("no program launches it, so that none could choose");
    }
    let launchable = op.interface::<dyn Launchable>().ok_or("is no kernel that can be launched")?;
    let signature = launchable.signature(op)?;
    let found = Candidate { kernel: op.op, loc: op.loc(), name, symbol, signature, columns, limits };
    Ok(Found::Candidate(Box::new(found)))
}

/// The most columns of the versions of a kernel: a vector for each thread of a subgroup, or as many columns as a thread is
/// wanted for; those of several subgroups; those of a whole block; and what its threads can keep.
fn limits(subgroup: i64) -> Vec<i64> {
    let mut limits = vec![
        subgroup * MOST_LANES,
        subgroup * COLUMNS_OF_THREAD,
        subgroup * FEW_SUBGROUPS * COLUMNS_OF_THREAD,
        MOST_THREADS * COLUMNS_OF_THREAD,
        KEPT_COLUMNS,
    ];
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// Makes the version number `at` of each kernel that has so many.
fn make_versions(cx: &Context, body: &mut Body, candidates: &[Candidate], at: usize) -> Versions {
    let mut made = Versions::default();
    for candidate in candidates {
        let Some(limit) = candidate.limits.get(at) else { continue };
        let room = Poly::constant(*limit).sub(&candidate.columns);
        let symbol = make_version(cx, body, candidate, *limit, &room);
        made.insert(candidate.symbol, Version { symbol, signature: candidate.signature.clone(), room });
    }
    made
}

/// Copies a kernel before itself, for where `room` is not negative; the launch's name for it.
fn make_version(cx: &Context, body: &mut Body, candidate: &Candidate, limit: i64, room: &Poly) -> Attr {
    let name = free_name(cx, body, &format!("{}_cols{limit}", candidate.name));
    let view = OpRef::new(cx, body, candidate.kernel);
    let requires = [&KernelOp::from_ref(view).requires()[..], std::slice::from_ref(room)].concat();
    let changed = [("sym_name", cx.string_attr(&name)), ("requires", shape_attr(cx, &requires))];
    let state = version_of(view, &candidate.name, &changed);
    let copy = clone_body(cx, body.nested(candidate.kernel).expect("a kernel is isolated"));
    let mut rewriter = Rewriter::new(cx, body);
    rewriter.set_before(candidate.kernel);
    rewriter.create_isolated(state, Box::new(copy));
    cx.symbol_ref(&name)
}

/// Says which versions there are; a kernel that no program launches any more is dropped.
fn report(run: &mut PassRun<'_>, candidates: Vec<Candidate>) {
    let launched = kernel_versions::launched(run.cx, run.body);
    for candidate in candidates {
        let limits: Vec<String> = candidate.limits.iter().map(i64::to_string).collect();
        let rest = if launched.contains(&candidate.symbol) {
            ", and for longer rows"
        } else {
            Rewriter::new(run.cx, run.body).erase_op(candidate.kernel);
            ""
        };
        let (name, columns) = (&candidate.name, &candidate.columns);
        let list = limits.join(", ");
        run.passed(
            candidate.loc,
            format!("kernel @{name} has versions for rows of {columns} columns: up to {list}{rest}"),
        );
        run.count("num-kernels", 1);
    }
}
