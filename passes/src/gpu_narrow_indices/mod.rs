//! `gpu-narrow-indices`: kernels whose index arithmetic has 32 bits, for the sizes at which that is enough.
//!
//! Every 64-bit integer of a kernel whose magnitude an expression of the kernel's sizes bounds becomes a 32-bit one in a copy of
//! the kernel. The sum of all bounds is what a guard of the host program tests (docs/rationale/narrow-indices.md).

mod narrow;
mod ranges;
#[cfg(test)]
mod tests;
mod upper;

use sutura_dialects::r#dyn::facts::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gpu::{GPUFuncOp, GPUModuleOp};
use sutura_dialects::rt::{KERNEL_ATTR, KernelSignature};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::rewriter::clone_body;
use sutura_ir::symbols::symbol_ident;
use sutura_ir::{Attr, Body, Context, Loc, Op, OpRef, Rewriter};

use crate::kernel_versions::{self, Version, Versions, version_of};
use narrow::{Plan, apply};

/// Largest 32-bit integer.
const LIMIT: i64 = i32::MAX as i64;

/// Behind the name of a kernel, that of its version.
pub const NARROW_SUFFIX: &str = "_i32";

/// `gpu-narrow-indices`
pub static GPU_NARROW_INDICES: PassInfo = PassInfo {
    name: "GpuNarrowIndices",
    argument: "gpu-narrow-indices",
    summary: "Make versions of kernels with 32-bit indices, chosen by guards",
    description: "Each kernel in a `gpu.module` that a program launches gets a copy `@k_i32` that computes indices in 32 \
                  bits where an expression of its sizes bounds them. The program launches it where a guard says that all \
                  bounds fit, and the kernel with 64-bit indices elsewhere. Where they fit at all sizes there is no other.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "limit",
        kind: OptionKind::Int(1, LIMIT),
        default: "2147483647",
        help: "what indices may be in 32 bits; less makes small sizes take the kernel with 64 bits, for tests",
    }],
    statistics: &[
        StatisticInfo { name: "num-guarded", description: "kernels with a version for sizes that fit" },
        StatisticInfo { name: "num-always", description: "kernels with 32-bit indices at all sizes" },
    ],
    create,
};

struct GpuNarrowIndices {
    limit: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(GpuNarrowIndices { limit: options.int("limit") }))
}

/// A kernel that could have a version.
struct Candidate {
    module: Op,
    kernel: Op,
    loc: Loc,
    name: String,
    /// The launch's name for it.
    symbol: Attr,
    plan: Plan,
    signature: KernelSignature,
    room: Poly,
}

impl Pass for GpuNarrowIndices {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let (candidates, left) = self.candidates(cx, run.body);
        for (loc, message) in left {
            run.missed(loc, message);
        }
        if candidates.is_empty() {
            return Ok(PreservedAnalyses::all());
        }
        let launched = kernel_versions::launched(cx, run.body);
        let mut versions = Versions::default();
        for candidate in &candidates {
            let name = format!("{}{NARROW_SUFFIX}", candidate.name);
            let message = || format!("kernel @{} keeps 64-bit indices: ", candidate.name);
            if fits_always(candidate) {
                // The kernel itself is changed.
                make_narrow(cx, run.body, candidate, None);
                run.count("num-always", 1);
                run.passed(candidate.loc, format!("kernel @{} has 32-bit indices at all sizes", candidate.name));
            } else if !launched.contains(&candidate.symbol) {
                run.missed(candidate.loc, message() + "no program launches it, so that none could choose");
            } else if taken(cx, run.body, candidate.module, &name) {
                run.missed(candidate.loc, message() + &format!("the name @{name} is taken"));
            } else {
                let symbol = make_narrow(cx, run.body, candidate, Some(&name));
                let version = Version { symbol, signature: candidate.signature.clone(), room: candidate.room.clone() };
                versions.insert(candidate.symbol, version);
            }
        }
        self.programs(run, &candidates, &versions)?;
        Ok(PreservedAnalyses::none())
    }
}

impl GpuNarrowIndices {
    /// Kernels whose indices can be narrow at some sizes; the others with the reason.
    fn candidates(&self, cx: &Context, body: &Body) -> (Vec<Candidate>, Vec<(Loc, String)>) {
        let (mut found, mut left) = (Vec::new(), Vec::new());
        for module in body.preorder().filter(|op| OpRef::new(cx, body, *op).is::<GPUModuleOp<'_>>()) {
            let Some(inside) = body.nested(module) else { continue };
            let Some(module_name) = OpRef::new(cx, body, module).symbol_name() else { continue };
            for kernel in inside.preorder() {
                let view = OpRef::new(cx, inside, kernel);
                let Some(func) = view.as_::<GPUFuncOp<'_>>().filter(|func| func.is_kernel()) else { continue };
                let (Some(ident), Some(inner)) = (symbol_ident(view), inside.nested(kernel)) else { continue };
                let name = cx.str(ident).to_owned();
                let signature = view.attr(KERNEL_ATTR).and_then(|attr| KernelSignature::of_attr(cx, attr));
                let mut leave = |why: &str| {
                    left.push((view.loc(), format!("kernel @{name} keeps 64-bit indices: {why}")));
                };
                let Some(signature) = signature else {
                    leave("it does not say what sizes it takes");
                    continue;
                };
                let plan = Plan::of(func, &signature, cx, inner, self.limit);
                let room = plan.as_ref().and_then(|plan| plan.room(&signature, self.limit));
                let (Some(plan), Some(room)) = (plan, room) else {
                    leave("their bounds do not fit 64 bits");
                    continue;
                };
                if !plan.worth {
                    leave("of those that its sizes bound none is multiplied, divided or computed in a loop");
                    continue;
                }
                let symbol = cx.nested_symbol_ref(module_name, &[ident]);
                found.push(Candidate { module, kernel, loc: view.loc(), name, symbol, plan, signature, room });
            }
        }
        (found, left)
    }

    /// Lets programs choose, and drops kernels that nothing launches any more.
    fn programs(&self, run: &mut PassRun<'_>, candidates: &[Candidate], versions: &Versions) -> Result<(), PassError> {
        let cx = run.cx;
        let chosen = kernel_versions::choose_in_programs(cx, run.body, versions);
        let guards = chosen.map_err(|error| run.diags.report(error))?;
        let launched = kernel_versions::launched(cx, run.body);
        for candidate in candidates.iter().filter(|candidate| versions.contains_key(&candidate.symbol)) {
            if launched.contains(&candidate.symbol) {
                run.count("num-guarded", 1);
                let guard = guards.iter().find(|(kernel, _)| *kernel == candidate.symbol);
                let guard = guard.map_or_else(String::new, |(_, room)| format!(" where {room} is at least 0"));
                run.passed(candidate.loc, format!("kernel @{} has 32-bit indices{guard}", candidate.name));
            } else {
                let inside = run.body.nested_mut(candidate.module).expect("a module is isolated");
                Rewriter::new(cx, inside).erase_op(candidate.kernel);
                run.count("num-always", 1);
                let message = format!("kernel @{} has 32-bit indices at all sizes it is launched for", candidate.name);
                run.passed(candidate.loc, message);
            }
        }
        Ok(())
    }
}

/// Whether the ranges that the kernel declares are enough.
fn fits_always(candidate: &Candidate) -> bool {
    let mut facts = Facts::new();
    for (name, info) in &candidate.signature.dims {
        facts.define(name, info.clone());
    }
    facts.range(&candidate.room).0 >= 0
}

fn taken(cx: &Context, body: &Body, module: Op, name: &str) -> bool {
    let inside = body.nested(module).expect("a module is isolated");
    inside.preorder().any(|op| OpRef::new(cx, inside, op).symbol_name() == Some(name))
}

/// Changes the kernel, or a copy called `name` that stands before it; the launch's name for what is changed.
fn make_narrow(cx: &Context, body: &mut Body, candidate: &Candidate, name: Option<&str>) -> Attr {
    let module_name = OpRef::new(cx, body, candidate.module).symbol_name().unwrap_or_default().to_owned();
    let inside = body.nested_mut(candidate.module).expect("a module is isolated");
    let Some(name) = name else {
        let kernel = inside.nested_mut(candidate.kernel).expect("a function is isolated");
        apply(cx, kernel, &candidate.plan);
        return candidate.symbol;
    };
    let view = OpRef::new(cx, inside, candidate.kernel);
    let mut signature = candidate.signature.clone();
    signature.requires.push(candidate.room.clone());
    let changed = [("sym_name", cx.string_attr(name)), (KERNEL_ATTR, signature.to_attr(cx))];
    let state = version_of(view, &candidate.name, &changed);
    // The plan names values of the kernel: a copy takes the place of what is changed.
    let copy = Box::new(clone_body(cx, inside.nested(candidate.kernel).expect("a function is isolated")));
    let mut rewriter = Rewriter::new(cx, inside);
    let mut own = rewriter.replace_nested(candidate.kernel, copy).expect("a function is isolated");
    apply(cx, &mut own, &candidate.plan);
    rewriter.set_before(candidate.kernel);
    rewriter.create_isolated(state, own);
    let ident = cx.ident(name);
    cx.nested_symbol_ref(&module_name, &[ident])
}
