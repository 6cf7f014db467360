//! Launches and kernels of a compiled program, with what they move and compute.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{IfOp, LaunchOp, OPS_ATTR, ProgramInfo, ProgramOp, SelectOp, WhileOp};
use sutura_dialects::target::{TargetDesc, machine_of};
use sutura_ir::{BlockRef, Context, Module, OpRef};
use sutura_passes::gir::cost::KernelCost;

use crate::failure::Failure;
use crate::sizes::{self, Size};

/// A host program with its launches.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) sizes: Vec<Size>,
    pub(crate) launches: Vec<Launch>,
}

/// A launch, in the order of the program.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) kernel: String,
    /// Number of the version it belongs to and of all versions there, from 1; `None` for what always runs.
    pub(crate) version: Option<(usize, usize)>,
    /// What must hold for the version, in words.
    pub(crate) guard: String,
    /// It is one launch with the one before.
    pub(crate) joins: bool,
    /// It runs at the sizes of the report.
    pub(crate) taken: bool,
    /// The kernel's dims, as formulas of the program's sizes, and their values.
    pub(crate) dims: Vec<(String, String, Option<i64>)>,
    /// Why there are no figures, or the figures.
    pub(crate) figures: Result<Figures, String>,
    /// What it takes on this machine, if that was measured.
    pub(crate) measured: Option<Measured>,
}

/// What a launch was seen to take, on one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Nanoseconds of the shortest run.
    pub(crate) least_ns: f64,
    /// Nanoseconds on average.
    pub(crate) mean_ns: f64,
    pub(crate) runs: u64,
    /// It was timed together with the launches that join it.
    pub(crate) together: bool,
    /// The shortest time that the machine allows for what was timed, where all its figures are known.
    pub(crate) limit_ns: Option<f64>,
}

/// What a launch is predicted to do at the sizes of the report, on one unit of the machine.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// Spaces with bytes out of and into them.
    pub(crate) spaces: Vec<(String, u64, u64)>,
    /// Levels of memory with the bytes that they are predicted to serve.
    pub(crate) served: Vec<(String, u64)>,
    pub(crate) compulsory: u64,
    pub(crate) flops: u64,
    pub(crate) groups: u64,
    pub(crate) ns: f64,
    pub(crate) compute_ns: f64,
    /// The shortest time that the machine's bandwidth and arithmetic allow.
    pub(crate) roofline_ns: f64,
    /// What the shortest time is due to.
    pub(crate) limit: &'static str,
    /// What the predicted time is due to.
    pub(crate) bound: String,
}

impl Measured {
    /// How much of the time the machine's limits explain, in percent.
    pub(crate) fn percent(&self) -> Option<f64> {
        self.limit_ns.map(|limit| 100.0 * limit / self.least_ns.max(f64::MIN_POSITIVE))
    }
}

impl Figures {
    /// How much of a time, such as the predicted one, the machine's limits explain, in percent.
    pub(crate) fn percent_of(&self, ns: f64) -> f64 {
        if ns > 0.0 { 100.0 * self.roofline_ns / ns } else { 100.0 }
    }
}

/// A kernel, with formulas of its dims.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) name: String,
    /// Operators of the model that it computes.
    pub(crate) ops: Vec<String>,
    /// Dims with what they may be.
    pub(crate) dims: Vec<(String, String)>,
    /// Why there are no formulas, or the formulas.
    pub(crate) formulas: Result<Formulas, String>,
}

/// Formulas; `None` for what is no polynomial of the dims.
#[derive(Debug)]
pub(crate) struct Formulas {
    pub(crate) spaces: Vec<(String, Option<String>, Option<String>)>,
    pub(crate) flops: Option<String>,
}

/// What the module launches at the given sizes.
///
/// # Errors
/// When sizes are given that no program has, or that it does not allow.
pub(crate) fn read(
    cx: &Context,
    module: &Module,
    desc: &TargetDesc,
    given: &[(String, i64)],
) -> Result<(Vec<Host>, Vec<Kernel>), Failure> {
    let root = module.op_ref(cx);
    let machine = machine_of(root).map_err(Failure::internal)?;
    let (mut kernels, mut costs, mut programs) = (Vec::new(), HashMap::new(), Vec::new());
    for op in root.region(0).and_then(|r| r.entry()).into_iter().flat_map(|entry| entry.ops()) {
        if op.is::<KernelOp<'_>>() {
            let name = op.symbol_name().unwrap_or_default().to_owned();
            let cost = KernelCost::of(op, machine);
            kernels.push(kernel(op, &name, cost.as_ref()));
            costs.insert(name, cost);
        } else if op.is::<ProgramOp<'_>>() {
            programs.push(op);
        }
    }
    let mut hosts = Vec::new();
    for op in programs {
        let info = ProgramInfo::read(op).map_err(Failure::internal)?;
        let sizes = sizes::of(&info.symbols, ("--report-sizes", given))?;
        let launches = Launches { desc, costs: &costs, sizes: &sizes }.of_program(&info);
        hosts.push(Host { name: info.name.to_owned(), sizes, launches });
    }
    Ok((hosts, kernels))
}

fn kernel(op: OpRef<'_>, name: &str, cost: Result<&KernelCost, &String>) -> Kernel {
    let cx = op.cx;
    let ops = op.attr(OPS_ATTR).and_then(|a| cx.array(a)).unwrap_or_default();
    let ops = ops.iter().filter_map(|a| cx.as_str(*a)).map(str::to_owned).collect();
    let text = |poly: Option<&Poly>| poly.map(ToString::to_string);
    let range = |d: &sutura_dialects::gir::DimDecl| (d.name.clone(), format!("{} to {}", d.min, d.max));
    Kernel {
        name: name.to_owned(),
        ops,
        dims: cost.map(|c| c.dims.iter().map(range).collect()).unwrap_or_default(),
        formulas: cost.map_err(Clone::clone).map(|cost| Formulas {
            spaces: cost.moved().map(|(space, read, written)| (space.to_string(), text(read), text(written))).collect(),
            flops: text(cost.flops()),
        }),
    }
}

/// What launches are looked at with.
struct Launches<'l> {
    desc: &'l TargetDesc,
    costs: &'l HashMap<String, Result<KernelCost, String>>,
    sizes: &'l [Size],
}

impl Launches<'_> {
    fn of_program(&self, program: &ProgramInfo<'_>) -> Vec<Launch> {
        let mut launches = Vec::new();
        self.of_block(program.block, &mut launches);
        launches
    }

    /// Those of a block, once each; what decides and repeats is known in a run only.
    fn of_block(&self, block: BlockRef<'_>, launches: &mut Vec<Launch>) {
        for op in block.ops() {
            if let Some(select) = op.as_::<SelectOp<'_>>() {
                self.versions(select, op, launches);
            } else if op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>() {
                op.regions().filter_map(|region| region.entry()).for_each(|inside| self.of_block(inside, launches));
            } else {
                self.launched(op, None, "", true, launches);
            }
        }
    }

    fn versions(&self, select: SelectOp<'_>, op: OpRef<'_>, launches: &mut Vec<Launch>) {
        let (guards, regions) = (select.guards(), op.regions());
        let count = regions.len();
        let holds = |guard: &Vec<Poly>| guard.iter().all(|size| self.value(size).is_some_and(|v| v >= 0));
        let taken = guards.iter().position(holds).unwrap_or(count.saturating_sub(1));
        for (i, region) in regions.enumerate() {
            let guard = guards.get(i).map_or_else(|| "otherwise".to_owned(), |guard| words(guard));
            for op in region.entry().into_iter().flat_map(|block| block.ops()) {
                self.launched(op, Some((i + 1, count)), &guard, i == taken, launches);
            }
        }
    }

    /// What an operation launches: itself, or what is packed in it, which is one launch.
    fn launched(
        &self,
        op: OpRef<'_>,
        version: Option<(usize, usize)>,
        guard: &str,
        taken: bool,
        launches: &mut Vec<Launch>,
    ) {
        let before = launches.len();
        op.walk(&mut |op| {
            if let Some(launch) = op.as_::<LaunchOp<'_>>() {
                let launch = self.launch(launch, version, guard.to_owned(), taken);
                launches.push(Launch { joins: launches.len() > before, ..launch });
            }
        });
    }

    /// The value of a formula of the program's sizes.
    fn value(&self, size: &Poly) -> Option<i64> {
        size.eval(&|name| self.sizes.iter().find(|s| s.name == name).map(|s| s.value))
    }

    fn launch(&self, launch: LaunchOp<'_>, version: Option<(usize, usize)>, guard: String, taken: bool) -> Launch {
        let kernel = launch.callee().to_owned();
        let cost = match self.costs.get(&kernel) {
            Some(Ok(cost)) => Ok(cost),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it is no tile program".to_owned()),
        };
        let name = |i: usize| cost.as_ref().ok().and_then(|c| Some(c.dims.get(i)?.name.clone()));
        let dim = |(i, size): (usize, &Poly)| {
            (name(i).unwrap_or_else(|| format!("dim {i}")), size.to_string(), self.value(size))
        };
        let dims: Vec<_> = launch.dims().iter().enumerate().map(dim).collect();
        let figures = match cost {
            // A version that is not taken may not be able to run at these sizes.
            _ if !taken => Err("not taken at these sizes".to_owned()),
            Ok(cost) => self.figures(cost, &dims),
            Err(why) => Err(why),
        };
        Launch { kernel, version, guard, joins: false, taken, dims, figures, measured: None }
    }

    fn figures(&self, cost: &KernelCost, dims: &[(String, String, Option<i64>)]) -> Result<Figures, String> {
        let size = |name: &str| dims.iter().find(|(dim, ..)| dim == name).and_then(|(.., value)| *value);
        let (counts, predicted) = (cost.at(&size)?, cost.predict(self.desc, &size)?);
        let arithmetic_ns = counts.flops as f64 / self.desc.gflops.max(1) as f64;
        let limit = if arithmetic_ns > predicted.limit_ns { "arithmetic" } else { "bandwidth" };
        Ok(Figures {
            spaces: counts.spaces.iter().map(|(space, m)| (space.to_string(), m.read, m.written)).collect(),
            served: predicted.levels.iter().map(|l| (l.space.clone(), l.bytes)).collect(),
            compulsory: counts.compulsory,
            flops: counts.flops,
            groups: counts.groups,
            ns: predicted.ns,
            compute_ns: predicted.compute_ns,
            roofline_ns: predicted.limit_ns.max(arithmetic_ns),
            limit,
            bound: predicted.bound().to_owned(),
        })
    }
}

/// A guard as one reads it: every formula must not be negative.
fn words(guard: &[Poly]) -> String {
    guard.iter().map(|size| format!("{size} ≥ 0")).collect::<Vec<_>>().join(" and ")
}
