//! What has to be known of a SPIR-V module before a driver gets it: what it needs, its kernels, and their sizes.
//!
//! This reads declarations and checks that the module keeps to the kernel ABI. That its code is valid is left to those who
//! made it.

use std::collections::{HashMap, HashSet};

use crate::device::KernelInfo;

const MAGIC: u32 = 0x0723_0203;
/// Words before the first instruction.
const HEADER: usize = 5;

/// Numbers from the SPIR-V specification.
mod op {
    pub(super) const MEMORY_MODEL: u32 = 14;
    pub(super) const ENTRY_POINT: u32 = 15;
    pub(super) const EXECUTION_MODE: u32 = 16;
    pub(super) const CAPABILITY: u32 = 17;
    pub(super) const TYPE_BOOL: u32 = 20;
    pub(super) const TYPE_INT: u32 = 21;
    pub(super) const TYPE_FLOAT: u32 = 22;
    pub(super) const TYPE_VECTOR: u32 = 23;
    pub(super) const TYPE_MATRIX: u32 = 24;
    pub(super) const TYPE_ARRAY: u32 = 28;
    pub(super) const TYPE_STRUCT: u32 = 30;
    pub(super) const TYPE_POINTER: u32 = 32;
    pub(super) const CONSTANT: u32 = 43;
    pub(super) const SPEC_CONSTANT: u32 = 50;
    pub(super) const FUNCTION: u32 = 54;
    pub(super) const FUNCTION_END: u32 = 56;
    pub(super) const FUNCTION_CALL: u32 = 57;
    pub(super) const VARIABLE: u32 = 59;
    pub(super) const DECORATE: u32 = 71;
    pub(super) const EXECUTION_MODE_ID: u32 = 331;
}
const GL_COMPUTE: u32 = 5;
const PHYSICAL_STORAGE_BUFFER_64: u32 = 5348;
const LOCAL_SIZE: u32 = 17;
const LOCAL_SIZE_ID: u32 = 38;
const BUILT_IN: u32 = 11;
const WORKGROUP_SIZE: u32 = 25;
/// Storage classes.
const INPUT: u32 = 1;
const WORKGROUP: u32 = 4;
const PRIVATE: u32 = 6;
const FUNCTION: u32 = 7;
const PUSH_CONSTANT: u32 = 9;
/// Bytes that the ABI pushes: the address of the argument block.
const PUSHED_BYTES: u64 = 8;
/// From this version on, entry points list all variables that they use.
const LISTS_ALL_VARIABLES: (u8, u8) = (1, 4);

/// Execution modes about floats; each has a width.
pub(super) const FLOAT_MODES: std::ops::RangeInclusive<u32> = 4459..=4463;

/// What a module says about itself.
#[derive(Debug)]
pub(super) struct Declarations {
    pub(super) version: (u8, u8),
    pub(super) capabilities: Vec<u32>,
    /// Execution modes of [`FLOAT_MODES`] and their widths.
    pub(super) float_modes: Vec<(u32, u32)>,
    pub(super) kernels: Vec<KernelInfo>,
    /// Threads of the kernels' groups in x, y and z.
    pub(super) sizes: Vec<[u32; 3]>,
}

/// The words of a binary; an error says what is wrong with it.
pub(super) fn words(binary: &[u8]) -> Result<Vec<u32>, String> {
    if !binary.len().is_multiple_of(4) {
        return Err(format!("its {} bytes are no whole number of 4-byte words; is it cut off?", binary.len()));
    }
    let words: Vec<u32> =
        binary.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    match words.first() {
        None => Err("it is empty".to_owned()),
        Some(&MAGIC) if words.len() < HEADER => Err("it ends within the header of SPIR-V".to_owned()),
        Some(&MAGIC) => Ok(words),
        Some(first) if first.swap_bytes() == MAGIC => {
            Err("it is SPIR-V in the wrong byte order; write it as little endian".to_owned())
        }
        Some(first) => Err(format!("it is no SPIR-V: it begins with {first:#010x}, not with {MAGIC:#010x}")),
    }
}

/// Reads what a module declares, and checks that it keeps to the ABI.
pub(super) fn declarations(words: &[u32]) -> Result<Declarations, String> {
    let mut reader = Reader { version: version_of(words[1]), ..Reader::default() };
    let mut at = HEADER;
    while at < words.len() {
        let (count, code) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        let operands = words
            .get(at + 1..at + count)
            .filter(|_| count > 0)
            .ok_or_else(|| format!("its instruction at word {at} is cut off"))?;
        reader.instruction(code, operands).ok_or_else(|| format!("its instruction at word {at} lacks operands"))??;
        at += count;
    }
    reader.finish()
}

fn version_of(word: u32) -> (u8, u8) {
    let [_, minor, major, _] = word.to_le_bytes();
    (major, minor)
}

#[derive(Default)]
struct Entry {
    id: u32,
    name: String,
    variables: HashSet<u32>,
    size: Option<[u32; 3]>,
}

#[derive(Default)]
struct Reader {
    version: (u8, u8),
    capabilities: Vec<u32>,
    physical: bool,
    float_modes: Vec<(u32, u32)>,
    entries: Vec<Entry>,
    /// Bytes and alignment of types, as far as they have any.
    sizes: HashMap<u32, (u64, u64)>,
    /// What pointer types point to.
    pointees: HashMap<u32, u32>,
    constants: HashMap<u32, u64>,
    /// Functions that are there, and those that are called.
    functions: HashSet<u32>,
    called: HashSet<u32>,
    in_function: bool,
    /// Variables in workgroup memory, and their bytes.
    shared: Vec<(u32, u64)>,
}

impl Reader {
    /// None for too few operands; an error says what the ABI has not.
    fn instruction(&mut self, code: u32, operands: &[u32]) -> Option<Result<(), String>> {
        let at = |index: usize| operands.get(index).copied();
        match code {
            op::CAPABILITY => self.capabilities.push(at(0)?),
            op::MEMORY_MODEL => self.physical = at(0)? == PHYSICAL_STORAGE_BUFFER_64,
            op::ENTRY_POINT => return self.entry_point(at(0)?, at(1)?, operands.get(2..)?),
            op::EXECUTION_MODE | op::EXECUTION_MODE_ID => return self.execution_mode(at(0)?, at(1)?, &operands[2..]),
            op::DECORATE if at(1)? == BUILT_IN && at(2)? == WORKGROUP_SIZE => {
                return Some(Err("it has a constant WorkgroupSize; give groups their size by LocalSize".to_owned()));
            }
            op::TYPE_BOOL => self.scalar(at(0)?, 4),
            op::TYPE_INT | op::TYPE_FLOAT => self.scalar(at(0)?, u64::from(at(1)?) / 8),
            op::TYPE_VECTOR | op::TYPE_MATRIX => self.array(at(0)?, at(1)?, u64::from(at(2)?)),
            op::TYPE_ARRAY => {
                let length = self.constants.get(&at(2)?).copied();
                if let Some(length) = length {
                    self.array(at(0)?, at(1)?, length);
                }
            }
            op::TYPE_STRUCT => self.structure(at(0)?, operands.get(1..)?),
            op::TYPE_POINTER => {
                self.scalar(at(0)?, 8);
                self.pointees.insert(at(0)?, at(2)?);
            }
            op::CONSTANT | op::SPEC_CONSTANT => {
                let value = u64::from(at(2)?) | (u64::from(at(3).unwrap_or(0)) << 32);
                self.constants.insert(at(1)?, value);
            }
            op::FUNCTION => {
                self.functions.insert(at(1)?);
                self.in_function = true;
            }
            op::FUNCTION_END => self.in_function = false,
            op::FUNCTION_CALL => {
                self.called.insert(at(2)?);
            }
            op::VARIABLE => return self.variable(at(0)?, at(1)?, at(2)?),
            _ => {}
        }
        Some(Ok(()))
    }

    fn entry_point(&mut self, model: u32, id: u32, rest: &[u32]) -> Option<Result<(), String>> {
        let bytes: Vec<u8> = rest.iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let Ok(name) = std::str::from_utf8(&bytes[..end]) else {
            return Some(Err("the name of an entry point is not UTF-8".to_owned()));
        };
        if model != GL_COMPUTE {
            return Some(Err(format!("its entry point `{name}` is no compute shader (GLCompute)")));
        }
        if self.entries.iter().any(|entry| entry.name == name) {
            return Some(Err(format!("two of its entry points are called `{name}`")));
        }
        let variables = rest[end / 4 + 1..].iter().copied().collect();
        self.entries.push(Entry { id, name: name.to_owned(), variables, size: None });
        Some(Ok(()))
    }

    fn execution_mode(&mut self, id: u32, mode: u32, operands: &[u32]) -> Option<Result<(), String>> {
        let entry = self.entries.iter_mut().find(|entry| entry.id == id);
        match mode {
            LOCAL_SIZE => {
                let size = operands.first_chunk::<3>()?;
                if let Some(entry) = entry {
                    entry.size = Some(*size);
                }
            }
            LOCAL_SIZE_ID => {
                return Some(Err("its groups have their size by LocalSizeId; use LocalSize".to_owned()));
            }
            mode if FLOAT_MODES.contains(&mode) => self.float_modes.push((mode, *operands.first()?)),
            _ => {}
        }
        Some(Ok(()))
    }

    fn variable(&mut self, pointer: u32, id: u32, class: u32) -> Option<Result<(), String>> {
        let size = self.pointees.get(&pointer).and_then(|pointee| self.sizes.get(pointee)).map(|(bytes, _)| *bytes);
        match class {
            INPUT | PRIVATE | FUNCTION => {}
            WORKGROUP => match size {
                Some(bytes) => self.shared.push((id, bytes)),
                None => return Some(Err("a variable in workgroup memory has no fixed size".to_owned())),
            },
            PUSH_CONSTANT if size == Some(PUSHED_BYTES) => {}
            PUSH_CONSTANT => {
                let size = size.map_or_else(|| "no fixed size".to_owned(), |bytes| format!("{bytes} bytes"));
                return Some(Err(format!(
                    "its push constants have {size}; the ABI has {PUSHED_BYTES}, the address of the argument block"
                )));
            }
            class => {
                return Some(Err(format!(
                    "it has a variable of storage class {class}, which would need a descriptor; the ABI passes \
                     addresses of buffers"
                )));
            }
        }
        Some(Ok(()))
    }

    fn scalar(&mut self, id: u32, bytes: u64) {
        self.sizes.insert(id, (bytes, bytes.max(1)));
    }

    fn array(&mut self, id: u32, element: u32, length: u64) {
        if let Some(&(bytes, align)) = self.sizes.get(&element) {
            self.sizes.insert(id, (bytes.saturating_mul(length), align));
        }
    }

    fn structure(&mut self, id: u32, members: &[u32]) {
        let (mut bytes, mut align) = (0u64, 1u64);
        for member in members {
            let Some(&(member_bytes, member_align)) = self.sizes.get(member) else { return };
            bytes = bytes.checked_next_multiple_of(member_align).unwrap_or(u64::MAX).saturating_add(member_bytes);
            align = align.max(member_align);
        }
        self.sizes.insert(id, (bytes.checked_next_multiple_of(align).unwrap_or(u64::MAX), align));
    }

    fn finish(self) -> Result<Declarations, String> {
        if self.entries.is_empty() {
            return Err("it has no entry point".to_owned());
        }
        if !self.physical {
            return Err("it does not address buffers physically (PhysicalStorageBuffer64), as the ABI wants".to_owned());
        }
        // A file that was cut off between two instructions would not be noticed by their lengths.
        let entries = self.entries.iter().map(|entry| &entry.id);
        if self.in_function || !entries.chain(&self.called).all(|id| self.functions.contains(id)) {
            return Err("it ends before its last function; is it cut off?".to_owned());
        }
        let lists_all = self.version >= LISTS_ALL_VARIABLES;
        let kernel = |entry: &Entry| {
            let size = entry.size.filter(|size| !size.contains(&0));
            let size = size.ok_or_else(|| format!("its entry point `{}` has no LocalSize", entry.name))?;
            let threads = size.iter().try_fold(1u32, |threads, n| threads.checked_mul(*n));
            let used = self.shared.iter().filter(|(id, _)| !lists_all || entry.variables.contains(id));
            let shared = used.fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
            Ok(KernelInfo {
                name: entry.name.clone(),
                // More than these numbers hold is more than any device has.
                threads_per_group: threads.unwrap_or(u32::MAX),
                shared_bytes: u32::try_from(shared).unwrap_or(u32::MAX),
            })
        };
        let kernels = self.entries.iter().map(kernel).collect::<Result<Vec<_>, String>>()?;
        let sizes = self.entries.iter().filter_map(|entry| entry.size).collect();
        let Self { version, capabilities, float_modes, .. } = self;
        Ok(Declarations { version, capabilities, float_modes, kernels, sizes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: &[u8] = include_bytes!("../../../tests/data/device_kernels.spv");

    fn kernels() -> Vec<u32> {
        words(KERNELS).unwrap()
    }

    #[test]
    fn declarations_are_read() {
        let found = declarations(&kernels()).unwrap();
        assert_eq!(found.version, (1, 5));
        assert_eq!(found.capabilities, [1, 5347, 11]);
        let kernel = |name: &str, shared_bytes| KernelInfo { name: name.into(), threads_per_group: 64, shared_bytes };
        // Each has the shared memory that it lists.
        assert_eq!(found.kernels, [kernel("affine", 0), kernel("reverse", 256)]);
        assert_eq!(found.sizes, [[64, 1, 1]; 2]);
    }

    #[test]
    fn older_modules_have_all_shared_memory_in_each_kernel() {
        let mut words = kernels();
        words[1] = 0x0001_0300;
        let found = declarations(&words).unwrap();
        assert_eq!(found.kernels.iter().map(|kernel| kernel.shared_bytes).collect::<Vec<_>>(), [256, 256]);
    }

    /// Changes the first instruction with this code.
    fn changed(code: u32, change: impl FnOnce(&mut [u32])) -> String {
        let mut words = kernels();
        let mut at = HEADER;
        while words[at] & 0xffff != code {
            at += (words[at] >> 16) as usize;
        }
        let count = (words[at] >> 16) as usize;
        change(&mut words[at + 1..at + count]);
        declarations(&words).unwrap_err()
    }

    #[test]
    fn what_the_abi_has_not_is_refused() {
        let text = changed(op::MEMORY_MODEL, |operands| operands[0] = 0);
        assert!(text.starts_with("it does not address buffers physically"), "{text}");
        let text = changed(op::ENTRY_POINT, |operands| operands[0] = 6);
        assert_eq!(text, "its entry point `affine` is no compute shader (GLCompute)");
        let text = changed(op::EXECUTION_MODE, |operands| operands[1] = LOCAL_SIZE_ID);
        assert_eq!(text, "its groups have their size by LocalSizeId; use LocalSize");
        let text = changed(op::EXECUTION_MODE, |operands| operands[3] = 0);
        assert_eq!(text, "its entry point `affine` has no LocalSize");
        let text = changed(op::TYPE_INT, |operands| operands[1] = 32);
        assert_eq!(text, "its push constants have 4 bytes; the ABI has 8, the address of the argument block");
        let text = changed(op::VARIABLE, |operands| operands[2] = 12);
        assert!(text.starts_with("it has a variable of storage class 12, which would need a descriptor"), "{text}");
    }

    #[test]
    fn a_module_that_is_cut_off_is_refused_wherever_that_is() {
        let words = kernels();
        for length in HEADER..words.len() {
            assert!(declarations(&words[..length]).is_err(), "{length} of {} words", words.len());
        }
    }

    /// Nonsense is refused or not, but never a panic.
    #[test]
    fn any_word_may_be_wrong() {
        let words = kernels();
        for at in HEADER..words.len() {
            for wrong in [0, 1, 0xffff, u32::MAX, words[at] ^ 0x1_0000, words[at] ^ 1, words[at] ^ 0x8000_0000] {
                let mut words = words.clone();
                words[at] = wrong;
                let _ = declarations(&words);
            }
        }
    }
}
