//! Kernels of code objects for AMD: ELF files with a note of metadata, as LLVM's "User Guide for AMDGPU Backend" has it
//! under "Code Object Metadata", versions 3 to 6.

use super::super::simt::elf::Elf;
use super::super::simt::module::Entry;
use super::msgpack::{self, Value};

/// `EM_AMDGPU`.
const MACHINE: u16 = 224;
/// `NT_AMDGPU_METADATA`, of the owner `AMDGPU`.
const METADATA: u32 = 32;
const OWNER: &[u8] = b"AMDGPU\0";

/// What a code object says of itself.
pub(super) struct CodeObject {
    /// The processor with its settings, such as `gfx942:sramecc+`, where it is said.
    pub(super) target: Option<String>,
    pub(super) kernels: Vec<Entry>,
}

pub(super) fn read(binary: &[u8]) -> Result<CodeObject, String> {
    let elf = Elf::parse(binary)?;
    if elf.machine != MACHINE {
        return Err(format!("it is an ELF file for machine {}, but AMD's GPUs are machine {MACHINE}", elf.machine));
    }
    let notes = elf.notes().ok_or("its notes are damaged")?;
    let note = notes.iter().find(|note| note.owner == OWNER && note.kind == METADATA);
    let note =
        note.ok_or("it has no metadata of kernels; code objects of version 3 and newer have; link it with ld.lld")?;
    let metadata = msgpack::read(note.content).ok_or("its metadata is damaged")?;
    let kernels = metadata.get("amdhsa.kernels").and_then(Value::array).unwrap_or_default();
    let kernels = kernels.iter().map(kernel).collect::<Option<_>>().ok_or("its metadata lacks parts of a kernel")?;
    // The triple and the processor have two dashes between them, as the environment is empty.
    let target = metadata.get("amdhsa.target").and_then(Value::text);
    let target = target.and_then(|target| target.rsplit_once("--")).map(|(_, target)| target.to_owned());
    Ok(CodeObject { target, kernels })
}

fn kernel(kernel: &Value<'_>) -> Option<Entry> {
    let mut entry = Entry::new(kernel.get(".name")?.text()?);
    if let Some(size) = kernel.get(".reqd_workgroup_size") {
        let [x, y, z] = size.array()? else { return None };
        entry.threads = Some([x.u32()?, y.u32()?, z.u32()?]);
    }
    entry.subgroup = kernel.get(".wavefront_size").and_then(Value::u32);
    // A kernel without arguments has no list of them.
    let arguments = kernel.get(".args").map_or(Some(&[][..]), Value::array)?;
    let hidden = |argument: &&Value<'_>| {
        argument.get(".value_kind").and_then(Value::text).is_some_and(|kind| kind.starts_with("hidden_"))
    };
    let sizes = arguments.iter().filter(|argument| !hidden(argument)).map(|argument| argument.get(".size")?.u32());
    entry.parameters = Some(sizes.collect::<Option<_>>()?);
    Some(entry)
}

/// Why code for `target` cannot run on a device of `arch`, both as AMD writes them: `gfx90a:sramecc+:xnack-`.
pub(super) fn mismatch(target: &str, arch: &str) -> Option<String> {
    let processor = |name: &str| name.split(':').next().unwrap_or(name).to_owned();
    let (made, has) = (processor(target), processor(arch));
    // Code for a generic processor, such as `gfx9-generic`, runs on several; the driver knows which.
    if made != has && !made.ends_with("-generic") {
        return Some(format!("it is made for {target}, but the device is {arch}; compile it for {has}"));
    }
    let settings = |name: &str| -> Vec<String> { name.split(':').skip(1).map(str::to_owned).collect() };
    let has = settings(arch);
    let opposite = |setting: &String| match setting.strip_suffix('+') {
        Some(name) => format!("{name}-"),
        None => format!("{}+", setting.trim_end_matches('-')),
    };
    let clash = settings(target).into_iter().find(|setting| has.contains(&opposite(setting)))?;
    Some(format!("it is made for {target}, but the device is {arch}; compile it without {clash}"))
}

#[cfg(test)]
mod tests {
    use super::mismatch;

    #[test]
    fn settings_that_are_open_fit_both() {
        for (target, arch) in [
            ("gfx942", "gfx942:sramecc+:xnack-"),
            ("gfx942:xnack-", "gfx942:sramecc+:xnack-"),
            ("gfx1100", "gfx1100"),
            ("gfx9-generic", "gfx906:sramecc-:xnack-"),
        ] {
            assert_eq!(mismatch(target, arch), None, "{target}");
        }
        assert_eq!(
            mismatch("gfx942:xnack+", "gfx942:sramecc+:xnack-").unwrap(),
            "it is made for gfx942:xnack+, but the device is gfx942:sramecc+:xnack-; compile it without xnack+"
        );
        assert_eq!(
            mismatch("gfx90a", "gfx942").unwrap(),
            "it is made for gfx90a, but the device is gfx942; compile it for gfx942"
        );
    }
}
