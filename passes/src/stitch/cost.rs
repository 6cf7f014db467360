//! What a kernel costs, predicted before it exists: bytes per space, launches, synchronisation and computation at likely
//! sizes, in the time that the machine's numbers say.
//!
//! A tensor is read and written at the speed of the nearest cache of which it fills at most half, so what one kernel makes
//! and the next reads need not come from main memory; a row that is needed several times costs cache traffic where it
//! stays near, and is read again where it does not. Memory and computation overlap, launches and barriers do not.
//!
//! Prices are whole picoseconds, so that sums and comparisons are exact and the same everywhere.

use sutura_dialects::target::TargetDesc;
use sutura_dialects::target::constraints::{Class, Owner};

use crate::region::{Scheme, Windows};

/// Nanoseconds of a call where no machine says.
const CALL_NS: u64 = 150;
/// Nanoseconds of a barrier between the units of a group.
const SYNC_NS: u64 = 100;

/// A cache: bytes, and bytes per nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cache {
    bytes: u64,
    gbps: u64,
}

/// The machine's numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostModel {
    /// Caches, nearest first.
    caches: Vec<Cache>,
    /// Bytes of the largest cache that a unit has to itself.
    near_bytes: u64,
    /// Bytes per nanosecond of main memory.
    dram_gbps: u64,
    /// Cheap operations per nanosecond.
    ops_per_ns: u64,
    /// Nanoseconds until several threads work on a kernel.
    launch_ns: u64,
    /// Nanoseconds that a launch takes even if one thread does all the work.
    call_ns: u64,
    /// Whether convolutions are products.
    pub(super) windows: Windows,
}

impl Default for CostModel {
    /// A common core, for programs that name no machine: two caches of its own and a shared one, vectors of 32 bytes.
    fn default() -> Self {
        let caches = [(32 << 10, 200), (1 << 20, 80), (32 << 20, 30)];
        let caches = caches.map(|(bytes, gbps)| Cache { bytes, gbps }).to_vec();
        Self {
            caches,
            near_bytes: 1 << 20,
            dram_gbps: 12,
            ops_per_ns: 24,
            launch_ns: 5000,
            call_ns: CALL_NS,
            windows: Windows::Near,
        }
    }
}

/// Where bytes go, and how long it takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    /// Bytes of tensors that are read and written, whatever space they are in.
    pub bytes: u64,
    /// Bytes that stay in a cache between the stages of a group.
    pub near: u64,
    /// Cheap operations.
    pub work: u64,
    /// Launches.
    pub launches: u64,
    /// Picoseconds.
    pub time: u64,
}

impl Cost {
    /// Both, one after the other.
    pub fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            near: self.near.saturating_add(other.near),
            work: self.work.saturating_add(other.work),
            launches: self.launches.saturating_add(other.launches),
            time: self.time.saturating_add(other.time),
        }
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes, {}", self.bytes, Microseconds(self.time))
    }
}

/// Picoseconds, written as microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Microseconds(pub u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ns = self.0 / 1000 + u64::from(self.0 % 1000 >= 500);
        write!(f, "{}.{:03} us", ns / 1000, ns % 1000)
    }
}

impl CostModel {
    /// The numbers of a machine. Those that its description lacks are those of the default.
    pub fn of(desc: &TargetDesc) -> Self {
        let default = Self::default();
        let numbers = |s: &sutura_dialects::target::SpaceDesc| {
            Some(Cache { bytes: s.bytes?, gbps: s.gbps.unwrap_or(default.dram_gbps).max(1) })
        };
        let caches: Vec<Cache> = desc.of_class(Class::Sram).filter_map(numbers).collect();
        let own = desc.of_class(Class::Sram).filter(|s| s.owner != Owner::All).filter_map(|s| s.bytes).max();
        Self {
            caches,
            near_bytes: own.unwrap_or(0),
            dram_gbps: desc.dram_gbps().max(1),
            // A fused multiplication and addition is two of the operations that are counted there, and one here.
            ops_per_ns: (desc.gflops / 2).max(1),
            launch_ns: desc.launch_ns,
            call_ns: desc.call_ns,
            windows: Windows::of(desc),
        }
    }

    /// Picoseconds to move a tensor of so many bytes.
    fn moved(&self, bytes: u64) -> u64 {
        let near = self.caches.iter().find(|c| bytes <= c.bytes / 2).map(|c| c.gbps);
        picoseconds(bytes, near.unwrap_or(self.dram_gbps))
    }

    /// Picoseconds to move bytes of a group that keeps `resident` of them.
    fn moved_near(&self, bytes: u64, resident: u64) -> u64 {
        let near = self.caches.iter().find(|c| resident <= c.bytes).map(|c| c.gbps);
        picoseconds(bytes, near.unwrap_or(self.dram_gbps))
    }

    /// The price of a kernel of this scheme that reads and writes tensors of so many bytes.
    pub fn price(&self, scheme: &Scheme, read: &[u64], written: &[u64]) -> Cost {
        let stays = scheme.resident <= self.near_bytes;
        let again = if stays { 0 } else { scheme.again };
        let sum = |of: &mut dyn Iterator<Item = u64>| of.fold(0, u64::saturating_add);
        let twice = [scheme.temporary / 2; 2];
        let bytes = sum(&mut [again, scheme.temporary].iter().chain(read).chain(written).copied());
        let near = if stays { scheme.near } else { 0 };
        let moved = sum(&mut read.iter().chain(written).chain(&twice).chain([&again]).map(|b| self.moved(*b)));
        let memory = moved.saturating_add(self.moved_near(near, scheme.resident));
        let computing = picoseconds(scheme.work, self.ops_per_ns);
        let busy = memory.max(computing);
        let around = scheme.launches.saturating_mul(self.call_ns).saturating_add(scheme.syncs.saturating_mul(SYNC_NS));
        // A kernel that is too short for several threads wakes none.
        let waking = busy.min(self.launch_ns.saturating_mul(2000)) / 2;
        let time = busy.saturating_add(around.saturating_mul(1000)).saturating_add(waking);
        Cost { bytes, near, work: scheme.work, launches: scheme.launches, time }
    }
}

/// Picoseconds for `amount` at so much per nanosecond.
fn picoseconds(amount: u64, per_ns: u64) -> u64 {
    let exact = u128::from(amount) * 1000 / u128::from(per_ns.max(1));
    u64::try_from(exact).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use sutura_dialects::target::Finder;

    use super::*;
    use crate::region::Family;

    fn scheme() -> Scheme {
        Scheme { family: Family::Row, launches: 1, work: 0, temporary: 0, resident: 0, again: 0, near: 0, syncs: 0 }
    }

    #[test]
    fn bytes_take_as_long_as_their_space_says() {
        let model = CostModel::default();
        let time = |bytes| model.price(&scheme(), &[bytes], &[]).time;
        let overhead = CALL_NS * 1000;
        // Half of each cache is the last size that it serves.
        for (bytes, gbps) in [(16 << 10, 200), (512 << 10, 80), (16 << 20, 30), (64 << 20, 12)] {
            let busy = bytes * 1000 / gbps;
            assert_eq!(time(bytes), busy + busy.min(10_000_000) / 2 + overhead, "{bytes}");
        }
    }

    #[test]
    fn rows_that_do_not_stay_near_are_read_again() {
        let model = CostModel::default();
        let mut rows = Scheme { again: 2 << 26, resident: 1 << 20, near: 2 << 26, ..scheme() };
        let near = model.price(&rows, &[1 << 26], &[1 << 26]);
        rows.resident += 1;
        let far = model.price(&rows, &[1 << 26], &[1 << 26]);
        assert_eq!((near.bytes, near.near), (2 << 26, 2 << 26));
        assert_eq!((far.bytes, far.near), (4 << 26, 0));
        assert!(far.time > near.time);
    }

    #[test]
    fn work_again_launches_barriers_and_temporaries_cost() {
        let model = CostModel::default();
        let price = |scheme: &Scheme| model.price(scheme, &[1 << 20], &[1 << 20]).time;
        let plain = price(&scheme());
        assert!(price(&Scheme { work: 1 << 30, ..scheme() }) > plain);
        assert_eq!(price(&Scheme { launches: 2, ..scheme() }), plain + CALL_NS * 1000);
        assert_eq!(price(&Scheme { syncs: 3, ..scheme() }), plain + 3 * SYNC_NS * 1000);
        assert!(price(&Scheme { temporary: 1 << 12, ..scheme() }) > plain);
        // Work hides behind memory as long as it takes less time.
        assert_eq!(price(&Scheme { work: 1 << 10, ..scheme() }), plain);
    }

    #[test]
    fn a_machine_says_its_own_numbers() {
        let cx = crate::testing::context();
        let model = |name: &str| CostModel::of(&Finder::default().find(&cx, name).unwrap().desc);
        let x86 = model("x86_avx512");
        assert_eq!((x86.dram_gbps, x86.ops_per_ns, x86.launch_ns, x86.near_bytes), (12, 48, 5000, 1 << 20));
        assert_eq!(x86.call_ns, CALL_NS, "the description does not say");
        assert_eq!(x86.caches.len(), 3);
        for bytes in [0, 1, 1 << 10, 1 << 22, u64::MAX / 2, u64::MAX] {
            let cost = x86.price(&scheme(), &[bytes, bytes], &[bytes]);
            assert!(cost.time >= CALL_NS * 1000);
        }
    }

    #[test]
    fn costs_are_said_in_bytes_and_microseconds() {
        let cost = Cost { bytes: 4096, time: 1_234_500, ..Cost::default() };
        assert_eq!(cost.to_string(), "4096 bytes, 1.235 us");
    }
}
