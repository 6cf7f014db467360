//! How many blocks of a kernel a multiprocessor of a GPU holds at a time.

use std::fmt;

use super::ops::ProcessorOp;

/// What blocks share that run at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessorDesc {
    /// How many the machine has.
    pub count: u64,
    /// Parts of its registers, of which a subgroup takes one's.
    pub parts: u64,
    /// 32-bit registers of all threads.
    pub registers: u64,
    /// Registers of a subgroup are a multiple of this.
    pub granule: u64,
    /// Most threads.
    pub threads: u64,
    /// Most blocks.
    pub blocks: u64,
    /// Most blocks of several subgroups.
    pub barriers: u64,
    /// Bytes of the memory of all blocks.
    pub bytes: u64,
    /// Bytes of it that a block takes beside its own.
    pub reserved: u64,
}

/// What a block of a kernel takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockNeeds {
    /// Threads of a block.
    pub threads: u64,
    /// Registers of a thread.
    pub registers: u64,
    /// Bytes of the block's own memory.
    pub bytes: u64,
    /// Threads that run in lockstep.
    pub subgroup: u64,
}

/// What bounds the number of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// How many threads it runs.
    Threads,
    /// How many blocks it runs.
    Blocks,
    /// The threads' registers.
    Registers,
    /// The blocks' memory.
    Memory,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Threads => "threads",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::Memory => "the block's memory",
        })
    }
}

/// How full a processor can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Occupancy {
    /// Blocks that it holds.
    pub blocks: u64,
    /// Their threads, and those that it could hold.
    pub threads: u64,
    /// Most threads of any kernel.
    pub most: u64,
    /// What allows no more.
    pub bound: Bound,
}

impl ProcessorDesc {
    /// Reads a verified `target.processor`; `None` for numbers that make no sense.
    pub(super) fn read(op: ProcessorOp<'_>) -> Option<Self> {
        let number = |value: i64| u64::try_from(value).ok().filter(|v| *v > 0);
        let blocks = number(op.blocks())?;
        Some(Self {
            count: number(op.count())?,
            parts: number(op.parts())?,
            registers: number(op.registers())?,
            granule: number(op.granule())?,
            threads: number(op.threads())?,
            blocks,
            barriers: op.barriers().and_then(number).unwrap_or(blocks),
            bytes: number(op.bytes())?,
            reserved: op.reserved().and_then(number).unwrap_or(0),
        })
    }

    /// Blocks that a processor holds at a time; of several bounds the first.
    pub fn occupancy(&self, block: BlockNeeds) -> Occupancy {
        let subgroup = block.subgroup.max(1);
        let subgroups = block.threads.div_ceil(subgroup).max(1);
        let registers = (block.registers * subgroup).next_multiple_of(self.granule).max(1);
        let held = self.registers / self.parts / registers * self.parts;
        let bounds = [
            (self.threads / (subgroups * subgroup), Bound::Threads),
            (if subgroups > 1 { self.barriers } else { self.blocks }, Bound::Blocks),
            (held / subgroups, Bound::Registers),
            (self.bytes / (block.bytes + self.reserved).max(1), Bound::Memory),
        ];
        let (blocks, bound) = bounds.into_iter().min_by_key(|(blocks, _)| *blocks).expect("there are four");
        Occupancy { blocks, threads: blocks * block.threads, most: self.threads, bound }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An A100.
    const NVIDIA: ProcessorDesc = ProcessorDesc {
        count: 108,
        parts: 4,
        registers: 65536,
        granule: 256,
        threads: 2048,
        blocks: 32,
        barriers: 32,
        bytes: 167_936,
        reserved: 1024,
    };

    fn blocks(threads: u64, registers: u64, bytes: u64) -> (u64, Bound) {
        let found = NVIDIA.occupancy(BlockNeeds { threads, registers, bytes, subgroup: 32 });
        assert_eq!((found.threads, found.most), (found.blocks * threads, 2048));
        (found.blocks, found.bound)
    }

    /// As NVIDIA's tables say it.
    #[test]
    fn each_resource_can_be_the_one_that_bounds() {
        assert_eq!(blocks(512, 32, 256), (4, Bound::Threads));
        assert_eq!(blocks(32, 16, 0), (32, Bound::Blocks));
        assert_eq!(blocks(512, 40, 256), (3, Bound::Registers));
        assert_eq!(blocks(32, 252, 0), (8, Bound::Registers));
        assert_eq!(blocks(32, 64, 43136), (3, Bound::Memory));
        // 12 warps of 40 registers fit a quarter, and not 51 the whole.
        assert_eq!(blocks(32, 40, 0), (32, Bound::Blocks));
        assert_eq!(blocks(64, 40, 0), (24, Bound::Registers));
        assert_eq!(blocks(1024, 255, 0), (0, Bound::Registers));
    }
}
