//! Kernels of cubins, NVIDIA's ELF files. Their tables are documented nowhere; what is read here was found by comparing
//! what `ptxas` 12.9 writes for sm_75 to sm_100 with what `cuobjdump -elf` and `readelf` show of it.

use super::super::simt::elf::{Elf, u16_at, u32_at};
use super::super::simt::module::Entry;

/// `EM_CUDA`.
const MACHINE: u16 = 190;
/// Of `st_other`: the symbol is a kernel.
const ENTRY: u8 = 0x10;

/// Formats of the entries of `.nv.info`: a 2-byte value in place, or a 2-byte size with so many bytes after it.
const FORMAT_SIZED: u8 = 4;
/// Entries of `.nv.info.KERNEL`.
const MOST_THREADS: u8 = 0x05;
const THREADS: u8 = 0x10;
const PARAMETER: u8 = 0x17;
/// The size of a parameter is in the last word of its entry, from this bit on.
const PARAMETER_SIZE_SHIFT: u32 = 18;

pub(super) fn kernels(binary: &[u8]) -> Result<Vec<Entry>, String> {
    let elf = Elf::parse(binary)?;
    if elf.machine != MACHINE {
        return Err(format!(
            "it is an ELF file for machine {} (flags {:#x}), but a cubin is for machine {MACHINE}",
            elf.machine,
            elf.flags()
        ));
    }
    let symbols = elf.symbols().ok_or("its symbol table is damaged")?;
    let names = symbols.iter().filter(|symbol| symbol.other & ENTRY != 0 && symbol.section != 0);
    let mut kernels = Vec::new();
    for name in names.map(|symbol| symbol.name) {
        let section = elf.sections.iter().find(|section| section.name.strip_prefix(".nv.info.") == Some(name));
        let mut entry = Entry::new(name);
        if let Some(section) = section {
            read(section.content, &mut entry).ok_or_else(|| format!("what it says of kernel `{name}` is damaged"))?;
        }
        kernels.push(entry);
    }
    // The order in the file is the compiler's; by name it is the same for all of them.
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(kernels)
}

fn read(info: &[u8], entry: &mut Entry) -> Option<()> {
    let mut parameters: Vec<(u16, u32)> = Vec::new();
    let mut at = 0;
    while at < info.len() {
        let (format, what, short) = (info[at], *info.get(at + 1)?, u16_at(info, at + 2)?);
        at += 4;
        if format != FORMAT_SIZED {
            continue;
        }
        let content = info.get(at..at + usize::from(short))?;
        at += usize::from(short);
        match what {
            THREADS => entry.threads = Some(three(content)?),
            // Where both are, what is demanded is the first.
            MOST_THREADS => entry.threads = entry.threads.or(Some(three(content)?)),
            PARAMETER => {
                let (ordinal, flags) = (u16_at(content, 4)?, u32_at(content, 8)?);
                parameters.push((ordinal, flags >> PARAMETER_SIZE_SHIFT));
            }
            _ => {}
        }
    }
    parameters.sort_unstable();
    entry.parameters = Some(parameters.into_iter().map(|(_, size)| size).collect());
    Some(())
}

fn three(content: &[u8]) -> Option<[u32; 3]> {
    Some([u32_at(content, 0)?, u32_at(content, 4)?, u32_at(content, 8)?])
}
