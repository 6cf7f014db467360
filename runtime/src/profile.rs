//! How long launches take, for whoever asks for it with [`Options::profile`](crate::Options::profile).

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::manifest::Kernel;
use crate::routines::table::{ROUTINES, Routine};

/// Times of one launch of a model, over all runs in which it was the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchProfile {
    /// Which of a run's launches it is, from 0; launches without groups count.
    pub position: usize,
    /// The kernel's symbol; that of the dispatcher for several kernels in one launch; for a call of a routine of the runtime its
    /// name, as `sort/1`. `None` if the code does not say.
    pub kernel: Option<String>,
    /// Groups of the launch; a routine counts as one.
    pub groups: i64,
    /// Parts in which threads took them; on a device the blocks that were launched.
    pub chunks: usize,
    /// How often it was made.
    pub calls: u64,
    /// Time of all calls, from handing out groups until all are done; on a device its own time, by events around each.
    pub total: Duration,
    /// Time of the shortest call.
    pub least: Duration,
}

/// Which kernel was launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Launched {
    /// Its address.
    Host(usize),
    /// Its number in the manifest.
    Device(usize),
    /// A routine, by its number in the table.
    Routine(usize),
}

/// Position, kernel, groups, chunks.
type Key = (usize, Launched, i64, usize);

#[derive(Default, Debug)]
struct Times {
    calls: u64,
    total: Duration,
    least: Duration,
}

/// Launches that were timed.
#[derive(Default, Debug)]
pub(crate) struct Profile {
    seen: Mutex<BTreeMap<Key, Times>>,
}

impl Profile {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Times>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, position: usize, kernel: Launched, groups: i64, chunks: usize, time: Duration) {
        let mut seen = self.lock();
        let times = seen.entry((position, kernel, groups, chunks)).or_default();
        times.least = if times.calls == 0 { time } else { times.least.min(time) };
        times.calls += 1;
        times.total += time;
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// What was timed, in the order of launches.
    pub(crate) fn read(&self, kernels: &[Kernel]) -> Vec<LaunchProfile> {
        let symbol = |kernel| match kernel {
            Launched::Host(address) => symbol(address),
            Launched::Routine(number) => ROUTINES.get(number).map(Routine::symbol),
            Launched::Device(number) => kernels.get(number).map(|kernel| kernel.symbol.clone()),
        };
        let launch = |(&(position, kernel, groups, chunks), times): (&Key, &Times)| LaunchProfile {
            position,
            kernel: symbol(kernel),
            groups,
            chunks,
            calls: times.calls,
            total: times.total,
            least: times.least,
        };
        let mut launches: Vec<LaunchProfile> = self.lock().iter().map(launch).collect();
        // Not by addresses, which differ from load to load.
        launches.sort_by(|a, b| (a.position, &a.kernel, a.groups).cmp(&(b.position, &b.kernel, b.groups)));
        launches
    }
}

/// Name of the exported function at an address.
fn symbol(address: usize) -> Option<String> {
    // SAFETY: all fields are pointers, for which zero is a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for, and `found` is ours to fill.
    let known = unsafe { libc::dladdr(std::ptr::without_provenance(address), &raw mut found) } != 0;
    if !known || found.dli_sname.is_null() || found.dli_saddr.addr() != address {
        return None;
    }
    // SAFETY: what `dladdr` names is a C string of a library that stays loaded while its model, of which this is a part.
    Some(unsafe { CStr::from_ptr(found.dli_sname) }.to_string_lossy().into_owned())
}
