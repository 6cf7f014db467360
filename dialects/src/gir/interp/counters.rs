//! What a kernel moved and computed.

use std::sync::Arc;

use indexmap::IndexMap;

/// Traffic of one space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Bytes that moves took out of the space.
    pub read: u64,
    /// Bytes that moves put into the space.
    pub written: u64,
    /// The most bytes that one owner of the space held at once in tiles and allocations.
    pub peak: u64,
}

/// Counts of one launch, or of several added up. Only elements that exist count: what a window cuts off moves nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Kernels run.
    pub launches: u64,
    /// Groups run.
    pub groups: u64,
    /// Float operations: one for each element of a unary or binary operation or a reduction, two for each product that
    /// a contraction or `fma` adds.
    pub flops: u64,
    pub(super) spaces: IndexMap<Arc<str>, Traffic>,
}

impl Counters {
    /// Traffic of the space called `name`; nothing for one that no tile or view lies in.
    pub fn space(&self, name: &str) -> Traffic {
        self.spaces.get(name).copied().unwrap_or_default()
    }

    /// Spaces in the order in which kernels mention them.
    pub fn spaces(&self) -> impl Iterator<Item = (&str, Traffic)> {
        self.spaces.iter().map(|(name, traffic)| (&**name, *traffic))
    }

    /// Bytes moved into and out of a space.
    pub fn moved(&self, space: &str) -> u64 {
        let traffic = self.space(space);
        traffic.read + traffic.written
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.groups += other.groups;
        self.flops += other.flops;
        for (name, more) in &other.spaces {
            let traffic = self.spaces.entry(name.clone()).or_default();
            traffic.read += more.read;
            traffic.written += more.written;
            traffic.peak = traffic.peak.max(more.peak);
        }
    }
}

impl std::fmt::Display for Counters {
    /// One line: `2 launches, 16 groups, 320 flops; dram 1024 read 512 written; vec …`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} launches, {} groups, {} flops", self.launches, self.groups, self.flops)?;
        for (name, t) in self.spaces() {
            write!(f, "; {name} {} read {} written {} held", t.read, t.written, t.peak)?;
        }
        Ok(())
    }
}
