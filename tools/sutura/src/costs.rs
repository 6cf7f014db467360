//! What kernels cost, as the manifest of an artifact says it: formulas of the model's sizes.

use std::collections::HashMap;

use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::rt::LaunchOp;
use sutura_dialects::target::machine_of;
use sutura_ir::{Context, Module};
use sutura_passes::gir::cost::KernelCost;

/// Formulas of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Formulas {
    /// Bytes of all tensors, each once.
    pub(crate) bytes: String,
    /// Float operations; `None` where they are no polynomial.
    pub(crate) flops: Option<String>,
}

/// Formulas of the kernels of a module, by name: of those whose sizes are sizes of the model by the same names in every
/// launch, and whose cost is known.
pub(crate) fn formulas(cx: &Context, module: &Module) -> HashMap<String, Formulas> {
    let root = module.op_ref(cx);
    let machine = machine_of(root).ok().flatten();
    let mut found = HashMap::new();
    let mut dims = HashMap::new();
    for op in root.region(0).and_then(|r| r.entry()).into_iter().flat_map(|entry| entry.ops()) {
        if let (true, Some(name), Ok(cost)) = (op.is::<KernelOp<'_>>(), op.symbol_name(), KernelCost::of(op, machine)) {
            let flops = cost.flops().map(ToString::to_string);
            found.insert(name.to_owned(), Formulas { bytes: cost.compulsory().to_string(), flops });
            dims.insert(name.to_owned(), cost.dims.iter().map(|d| d.name.clone()).collect::<Vec<_>>());
        }
    }
    root.walk(&mut |op| {
        let Some(launch) = op.as_::<LaunchOp<'_>>() else { return };
        let own = |own: &Vec<String>| own.iter().zip(launch.dims()).all(|(name, size)| size.as_symbol() == Some(name));
        let own = dims.get(launch.callee()).is_some_and(own);
        if !own {
            found.remove(launch.callee());
        }
    });
    found
}
