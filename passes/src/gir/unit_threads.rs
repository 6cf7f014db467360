//! `gir-unit-threads`: how many threads of a device the units of a kernel are.
//!
//! A unit is as many threads as its longest row is worth, so that each has some columns of it, and a subgroup at least.

use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::{KernelOp, SliceOp};
use sutura_dialects::gir::types::TileType;
use sutura_dialects::target::constraints::Class;
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type};

use crate::row_threads::threads_for;

/// `gir-unit-threads`
pub static GIR_UNIT_THREADS: PassInfo = PassInfo {
    name: "GirUnitThreads",
    argument: "gir-unit-threads",
    summary: "Say of gir kernels how many threads of a device a unit is",
    description: "Looks up the module's `target.machine`; does nothing where a unit is not made of threads. A kernel gets `threads(T)`: \
                  as many as its longest row is worth, a subgroup at least; a subgroup where a group has several units, or \
                  computes no rows. Kernels that say it already stay.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "subgroup",
        kind: OptionKind::Int(0, 128),
        default: "0",
        help: "threads that run in lockstep, a power of two; 0 takes those of the module's machine",
    }],
    statistics: &[StatisticInfo { name: "num-kernels", description: "kernels that got a number of threads" }],
    create,
};

struct GirUnitThreads {
    subgroup: i64,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let subgroup = options.int("subgroup");
    if subgroup != 0 && !(subgroup as u64).is_power_of_two() {
        return Err(format!("option `subgroup` takes a power of two, not `{subgroup}`"));
    }
    Ok(Box::new(GirUnitThreads { subgroup }))
}

impl Pass for GirUnitThreads {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let device = match Device::of_module(cx, run.body, self.subgroup) {
            Ok(Ok(device)) => device,
            Ok(Err(why)) => {
                run.missed(run.header.loc, why);
                return Ok(PreservedAnalyses::all());
            }
            Err(message) => {
                run.diags.report(Diagnostic::error(run.header.loc, message));
                return Err(PassError::Unsupported);
            }
        };
        let is_kernel = |op: &Op| OpRef::new(cx, run.body, *op).is::<KernelOp<'_>>();
        let kernels: Vec<Op> = run.body.preorder().filter(is_kernel).collect();
        let mut changed = false;
        for op in kernels {
            let kernel = OpRef::new(cx, run.body, op);
            let Some(info) = KernelInfo::read(kernel).ok().filter(|info| info.threads.is_none()) else { continue };
            let (threads, why) = device.threads(&info);
            let said = format!("a unit of @{} is {threads} threads: {why}", kernel.symbol_name().unwrap_or("?"));
            let loc = kernel.loc();
            let mut rewriter = Rewriter::new(cx, run.body);
            rewriter.set_prop(op, "threads", Some(cx.int_attr(threads, Type::I64)));
            run.count("num-kernels", 1);
            run.passed(loc, said);
            changed = true;
        }
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// A machine whose units are made of threads.
struct Device {
    subgroup: i64,
    /// Names of the spaces that are registers.
    registers: Vec<String>,
}

impl Device {
    /// The module's machine, with another subgroup unless that is 0; or why its units are not made of threads.
    fn of_module(cx: &Context, module: &Body, subgroup: i64) -> Result<Result<Self, String>, String> {
        let desc = machine_in(cx, module)?.map(TargetDesc::from_op).transpose()?;
        let own = desc.as_ref().and_then(|desc| desc.subgroup).map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let Some(subgroup) = Some(subgroup).filter(|n| *n != 0).or(own) else {
            return Ok(Err(match desc {
                None => "no kernel gets threads: the module describes no machine".to_owned(),
                Some(desc) => format!("no kernel gets threads: a unit of '{}' is not made of threads", desc.name),
            }));
        };
        let registers = match &desc {
            Some(desc) => desc.of_class(Class::Reg).map(|space| space.name.clone()).collect(),
            None => vec!["vec".to_owned(), "reg".to_owned()],
        };
        Ok(Ok(Self { subgroup, registers }))
    }

    /// Threads of a unit, and why.
    fn threads(&self, kernel: &KernelInfo<'_>) -> (i64, String) {
        if kernel.units > 1 {
            return (self.subgroup, "units of one group are subgroups".to_owned());
        }
        match self.longest_row(kernel) {
            None => (self.subgroup, "it computes no rows".to_owned()),
            Some(columns) => {
                (threads_for(columns, self.subgroup), format!("its longest row has at most {columns} columns"))
            }
        }
    }

    /// Columns of the longest rows of a kernel that it computes in loops, at most; `None` where it has none.
    fn longest_row(&self, kernel: &KernelInfo<'_>) -> Option<i128> {
        let (cx, body, facts) = (kernel.op.cx, kernel.op.inside(), Bounds::of_kernel(kernel).facts);
        let ops = body.preorder().map(|op| OpRef::new(cx, body, op)).filter(|op| !op.is::<SliceOp<'_>>());
        let tiles = ops.flat_map(|op| op.results().filter_map(move |value| cx.type_as::<TileType>(op.ty(value))));
        let held = |ty: &&TileType| ty.cols.as_const() == Some(1) || self.registers.iter().any(|r| **r == *ty.space);
        tiles.filter(|ty| !held(ty)).map(|ty| facts.range(&ty.cols).1).max()
    }
}
