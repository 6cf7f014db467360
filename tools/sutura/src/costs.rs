//! What launches cost, as the manifest of an artifact says it: formulas of the model's sizes.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::{LaunchOp, PackedOp};
use sutura_dialects::target::machine_of;
use sutura_ir::{Context, Module, OpRef};
use sutura_passes::gir::cost::KernelCost;

/// Formulas of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formulas {
    /// Bytes of all tensors, each once.
    pub(crate) bytes: String,
    /// Float operations; `None` where they are no polynomial.
    pub(crate) flops: Option<String>,
}

/// Formulas by the kernels that run together in a launch: one, or those that are packed.
pub(crate) type Costs = HashMap<Vec<String>, Formulas>;

/// Formulas of what a module launches: of those kernels whose cost is known and is the same in every launch.
pub(crate) fn formulas(cx: &Context, module: &Module) -> Costs {
    let root = module.op_ref(cx);
    let machine = machine_of(root).ok().flatten();
    let mut kernels = HashMap::new();
    let ops = root.region(0).and_then(|r| r.entry()).into_iter().flat_map(|entry| entry.ops());
    for kernel in ops.filter(|op| op.is::<KernelOp<'_>>()) {
        if let (Some(name), Ok(cost)) = (kernel.symbol_name(), KernelCost::of(kernel, machine)) {
            kernels.insert(name, cost);
        }
    }
    let mut found: HashMap<Vec<String>, Option<Sum>> = HashMap::new();
    let mut note = |launches: &[LaunchOp<'_>]| {
        let names = launches.iter().map(|launch| launch.callee().to_owned()).collect();
        let cost = sum(&kernels, launches);
        let known = found.entry(names).or_insert_with(|| cost.clone());
        if *known != cost {
            *known = None;
        }
    };
    root.walk(&mut |op| {
        if let Some(launch) = op.as_::<LaunchOp<'_>>() {
            note(&[launch]);
        } else if let Some(packed) = op.as_::<PackedOp<'_>>() {
            note(&launches_of(packed));
        }
    });
    let text = |(names, sum): (Vec<String>, Option<Sum>)| {
        let Sum { bytes, flops } = sum?;
        Some((names, Formulas { bytes: bytes.to_string(), flops: flops.map(|flops| flops.to_string()) }))
    };
    found.into_iter().filter_map(text).collect()
}

fn launches_of(packed: PackedOp<'_>) -> Vec<LaunchOp<'_>> {
    let ops = packed.launches().entry().into_iter().flat_map(|block| block.ops());
    ops.filter_map(|op: OpRef<'_>| op.as_::<LaunchOp<'_>>()).collect()
}

/// What launches move and compute together, in sizes of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    bytes: Poly,
    flops: Option<Poly>,
}

/// The sum of some launches; `None` where the cost of a kernel is not known.
fn sum(kernels: &HashMap<&str, KernelCost>, launches: &[LaunchOp<'_>]) -> Option<Sum> {
    let mut sum = Sum { bytes: Poly::default(), flops: Some(Poly::default()) };
    for launch in launches {
        let (cost, sizes) = (kernels.get(launch.callee())?, launch.dims());
        let own = |name: &str| sizes.get(cost.dims.iter().position(|dim| dim.name == name)?).cloned();
        sum.bytes = sum.bytes.add(&cost.compulsory().substitute(&own));
        sum.flops = sum.flops.zip(cost.flops()).map(|(all, flops)| all.add(&flops.substitute(&own)));
    }
    Some(sum)
}
