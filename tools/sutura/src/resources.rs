//! What kernels take of a GPU: threads, registers, spills, memory of a block, and how many blocks fit a processor then.

use std::collections::HashMap;

use sutura_dialects::gpu::GPUFuncOp;
use sutura_dialects::llvm::types::ArrayType;
use sutura_dialects::target::{BlockNeeds, Occupancy, TargetDesc};
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::{Attr, Context, Loc, Module, OpRef};

/// What remarks say that they are from.
const NAME: &str = "resources";

/// A kernel as device code has it.
#[derive(Clone, Debug)]
pub(crate) struct DeviceKernel {
    pub(crate) name: String,
    loc: Loc,
    /// Threads of a block.
    pub(crate) threads: u64,
    /// Bytes of the block's memory.
    pub(crate) shared_bytes: u64,
    /// Where the host launches it, in words; `None` for always, or for a kernel without a host program.
    pub(crate) guard: Option<String>,
}

/// What the vendor's compiler made of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Compiled {
    /// Registers of a thread.
    pub(crate) registers: u64,
    /// Bytes that a thread stores for want of registers.
    pub(crate) spilled_bytes: u64,
    /// Of AMD: scalar registers of a wavefront, and those kept in lanes of others.
    pub(crate) scalar: Option<(u64, u64)>,
}

/// What is known of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Resources {
    pub(crate) kernel: DeviceKernel,
    /// Why there are no figures, or the figures.
    pub(crate) compiled: Result<Compiled, String>,
    /// Why it is not known, or how many blocks a processor holds.
    pub(crate) occupancy: Result<Occupancy, String>,
}

/// The kernels of a module of device code that no vendor's conversion has seen yet.
pub(crate) fn kernels(cx: &Context, module: &Module) -> Vec<DeviceKernel> {
    let mut found = Vec::new();
    let top = module.body().preorder().map(|op| OpRef::new(cx, module.body(), op));
    for device in top.filter(|op| op.name_str() == "gpu.module") {
        let inside: Vec<OpRef<'_>> =
            device.region(0).and_then(|r| r.entry()).into_iter().flat_map(|b| b.ops()).collect();
        let arrays: HashMap<&str, u64> =
            inside.iter().filter_map(|op| Some((op.symbol_name()?, array_bytes(*op)?))).collect();
        for op in &inside {
            let Some(func) = op.as_::<GPUFuncOp<'_>>().filter(|func| func.is_kernel()) else { continue };
            let size = func.known_block_size().unwrap_or_default();
            let mut used: Vec<String> = Vec::new();
            op.walk(&mut |inner| {
                if let Some(name) = inner.prop("global_name").and_then(|a| cx.as_symbol(a)) {
                    let name = cx.str(name).to_owned();
                    if inner.name_str() == "llvm.mlir.addressof" && !used.contains(&name) {
                        used.push(name);
                    }
                }
            });
            found.push(DeviceKernel {
                name: op.symbol_name().unwrap_or_default().to_owned(),
                loc: op.loc(),
                threads: size.iter().map(|n| u64::try_from(*n).unwrap_or(1)).product(),
                shared_bytes: used.iter().filter_map(|name| arrays.get(name.as_str())).sum(),
                guard: None,
            });
        }
    }
    found
}

/// Bytes of an array of the block, in whole steps of its alignment.
fn array_bytes(op: OpRef<'_>) -> Option<u64> {
    let number = |name: &str| op.prop(name).and_then(|a: Attr| op.cx.as_int(a)).and_then(|n| u64::try_from(n).ok());
    if op.name_str() != "llvm.mlir.global" {
        return None;
    }
    let ty = op.cx.type_as::<ArrayType>(op.cx.as_type(op.prop("global_type")?)?)?;
    let bytes = u64::from(op.cx.bit_width(ty.elem)?.div_ceil(8)) * ty.len;
    Some(bytes.next_multiple_of(number("alignment").unwrap_or(1).max(1)))
}

/// What `ptxas -v` says of each kernel.
pub(crate) fn of_ptxas(said: &str) -> HashMap<String, Compiled> {
    let mut found = HashMap::new();
    let mut current: Option<(String, Compiled)> = None;
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            let name = rest.split('\'').next().unwrap_or_default().to_owned();
            current = Some((name, Compiled::default()));
        } else if let (Some((_, kernel)), Some((before, _))) = (&mut current, line.split_once(" bytes spill stores")) {
            kernel.spilled_bytes = last_number(before);
        } else if let Some((before, _)) = line.split_once(" registers")
            && let Some((name, mut kernel)) = current.take()
        {
            kernel.registers = last_number(before);
            found.insert(name, kernel);
        }
    }
    found
}

fn last_number(text: &str) -> u64 {
    text.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// What the metadata of AMD's code objects says, which LLVM prints behind the assembly.
pub(crate) fn of_amd_assembly(assembly: &str) -> HashMap<String, Compiled> {
    let mut found = HashMap::new();
    let metadata = assembly.split_once("amdhsa.kernels:").map_or("", |(_, metadata)| metadata);
    for kernel in metadata.split("\n  - ").skip(1) {
        let entry = |name: &str| {
            let line = kernel.lines().map(str::trim).find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(str::trim)
        };
        let number = |name: &str| entry(name).and_then(|n| n.parse::<u64>().ok());
        let (Some(name), Some(registers)) = (entry(".name"), number(".vgpr_count")) else { continue };
        // A spilled register has 4 bytes of a thread.
        let compiled = Compiled {
            registers,
            spilled_bytes: 4 * number(".vgpr_spill_count").unwrap_or(0),
            scalar: number(".sgpr_count").zip(number(".sgpr_spill_count")),
        };
        found.insert(name.trim_matches('\'').to_owned(), compiled);
    }
    found
}

/// Puts together what is known of the kernels.
pub(crate) fn of_kernels(
    kernels: Vec<DeviceKernel>,
    compiled: &Result<HashMap<String, Compiled>, String>,
    desc: &TargetDesc,
) -> Vec<Resources> {
    let each = |kernel: DeviceKernel| {
        let own = compiled.as_ref().map_err(Clone::clone).and_then(|all| {
            all.get(&kernel.name).copied().ok_or_else(|| "the compiler says nothing of this kernel".to_owned())
        });
        let occupancy = own.clone().and_then(|own| {
            let none = || format!("the description of `{}` does not say what a processor holds", desc.name);
            let (processor, subgroup) = desc.processor.zip(desc.subgroup).ok_or_else(none)?;
            let (threads, bytes) = (kernel.threads, kernel.shared_bytes);
            Ok(processor.occupancy(BlockNeeds { threads, registers: own.registers, bytes, subgroup }))
        });
        Resources { kernel, compiled: own, occupancy }
    };
    kernels.into_iter().map(each).collect()
}

impl Compiled {
    /// Spills in words.
    pub(crate) fn spills(&self) -> String {
        let memory = match self.spilled_bytes {
            0 => "no spills".to_owned(),
            bytes => format!("{bytes} bytes spilled"),
        };
        match self.scalar {
            Some((_, spilled @ 1..)) => format!("{memory}, {spilled} scalar registers kept in lanes"),
            _ => memory,
        }
    }
}

/// How full a processor is, in words.
pub(crate) fn filled(occupancy: &Occupancy) -> String {
    let Occupancy { blocks, threads, most, bound } = occupancy;
    let percent = 100 * threads / most.max(&1);
    format!("{blocks} blocks, {threads} of {most} threads ({percent} %), bound by {bound}")
}

impl Resources {
    /// The remark about a kernel.
    pub(crate) fn remark(&self) -> Diagnostic {
        let DeviceKernel { name, loc, threads, shared_bytes, guard } = &self.kernel;
        let compiled = match &self.compiled {
            Ok(own) => format!("{} registers, {}", own.registers, own.spills()),
            Err(why) => format!("registers are not known ({why})"),
        };
        let occupancy = match (&self.occupancy, &self.compiled) {
            (Ok(occupancy), _) => format!("; a processor holds {}", filled(occupancy)),
            (Err(why), Ok(_)) => format!("; {why}"),
            // The reason has been told.
            (Err(_), Err(_)) => String::new(),
        };
        let guard = guard.as_ref().map_or_else(String::new, |guard| format!("; runs where {guard}"));
        let message = format!(
            "kernel @{name}: blocks of {threads} threads, {compiled}, {shared_bytes} bytes of the block's memory{occupancy}{guard}"
        );
        let mut remark = Diagnostic::remark(*loc, message).kind(RemarkKind::Analysis);
        remark.pass = Some(NAME);
        remark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ptxas_says_is_read() {
        let said = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'two' for 'sm_80'\n\
            ptxas info    : Function properties for two\n    \
            16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads\n\
            ptxas info    : Used 40 registers, used 1 barriers, 256 bytes smem, 384 bytes cmem[0]\n\
            ptxas info    : Compiling entry function 'one' for 'sm_80'\n\
            ptxas info    : Used 8 registers, used 0 barriers\n";
        let found = of_ptxas(said);
        assert_eq!(found["two"], Compiled { registers: 40, spilled_bytes: 12, scalar: None });
        assert_eq!(found["one"], Compiled { registers: 8, spilled_bytes: 0, scalar: None });
        assert_eq!(found["two"].spills(), "12 bytes spilled");
    }

    #[test]
    fn the_metadata_of_code_objects_is_read() {
        let assembly = "s_endpgm\namdhsa.kernels:\n  - .agpr_count:     0\n    .args:\n      - .offset: 0\n    \
            .name:           one\n    .sgpr_count:     84\n    .sgpr_spill_count: 2\n    .symbol:  one.kd\n    \
            .vgpr_count:     75\n    .vgpr_spill_count: 3\n  - .agpr_count: 0\n    .name: two\n    .vgpr_count: 9\n";
        let found = of_amd_assembly(assembly);
        assert_eq!(found["one"], Compiled { registers: 75, spilled_bytes: 12, scalar: Some((84, 2)) });
        assert_eq!(found["two"], Compiled { registers: 9, spilled_bytes: 0, scalar: None });
        assert_eq!(found["one"].spills(), "12 bytes spilled, 2 scalar registers kept in lanes");
        assert!(of_amd_assembly("nothing").is_empty());
    }
}
