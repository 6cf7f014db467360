//! How to load a model.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::Arc;

use crate::abi::RoutineFn;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::pool::{MAX_THREADS, available_threads};

/// The environment variable with the number of threads.
const THREADS_VARIABLE: &str = "SUTURA_THREADS";

/// The environment variable with how deep recursion may be.
const DEPTH_VARIABLE: &str = "SUTURA_MAX_DEPTH";
/// Calls of recursive functions that may be in each other, if nothing says another number.
const MOST_CALLS: usize = 10_000;
/// What that number may be.
const MOST_OF_MOST_CALLS: usize = 1_000_000;

/// The name of the processor where a device is asked for.
pub(crate) const PROCESSOR: &str = "cpu";

/// Settings of a model. The default uses every processor.
#[derive(Clone, Debug)]
pub struct Options {
    threads: Option<usize>,
    depth: Option<usize>,
    pub(crate) profile: bool,
    pub(crate) device: Option<String>,
    pub(crate) opened: Option<Device>,
    pub(crate) graphs: bool,
    pub(crate) trusted: bool,
    pub(crate) routines: BTreeMap<CString, RoutineFn>,
    pub(crate) interrupt: Option<Interrupt>,
}

/// Says whether a run is to end.
#[derive(Clone)]
pub(crate) struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    pub(crate) fn wanted(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}

impl Default for Options {
    fn default() -> Self {
        let routines = BTreeMap::new();
        Self {
            threads: None,
            depth: None,
            profile: false,
            device: None,
            opened: None,
            graphs: true,
            trusted: false,
            routines,
            interrupt: None,
        }
    }
}

impl Options {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// The most threads that one run may use, the caller's included. Without this, `SUTURA_THREADS` counts, and
    /// without that the number of processors that the process may use. With 1, no thread is started.
    /// Results are the same bits for every number.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// How many calls of recursive functions may be in each other. A run whose data ask for more is an error. Without this,
    /// `SUTURA_MAX_DEPTH` counts, and without that 10,000.
    #[must_use]
    pub fn max_depth(mut self, calls: usize) -> Self {
        self.depth = Some(calls);
        self
    }

    /// Times every launch, for [`Model::profile`](crate::Model::profile). Without this, launches cost nothing more. On a device
    /// no run is captured as a graph then.
    #[must_use]
    pub fn profile(mut self, profile: bool) -> Self {
        self.profile = profile;
        self
    }

    /// The device to run on, for a model that was compiled for one: a name as of
    /// [`Devices::select`](crate::device::Devices::select), or `cpu` for the processor. Without this it is the first of the kind that the model was
    /// compiled for.
    #[must_use]
    pub fn device(mut self, name: impl Into<String>) -> Self {
        self.device = Some(name.into());
        self
    }

    /// A device that was opened, instead of one by its name. Models on one can share tensors there; see
    /// [`Session`](crate::Session).
    #[must_use]
    pub fn on(mut self, device: &Device) -> Self {
        self.opened = Some(device.clone());
        self
    }

    /// Whether a run on a device that comes again, at the same sizes and with the same memory, is captured as a graph and
    /// replayed from then on, where the device has graphs. It is by default.
    #[must_use]
    pub fn graphs(mut self, graphs: bool) -> Self {
        self.graphs = graphs;
        self
    }

    /// Whether a file is loaded without a look at the hashes of what it holds, as by
    /// [`Artifact::open_trusted`](crate::Artifact::open_trusted). Then damage may give wrong results, or end the process.
    #[must_use]
    pub fn trust_artifact(mut self, trusted: bool) -> Self {
        self.trusted = trusted;
        self
    }

    /// Asks this between the launches of a run, on the thread that called it. Where it says `true`, the run makes no more launches
    /// and ends with [`Error::Interrupted`]; its outputs hold anything. A launch that has begun goes on to its end. Runs on devices
    /// do not ask.
    #[must_use]
    pub fn interrupt(mut self, wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.interrupt = Some(Interrupt(Arc::new(wanted)));
        self
    }

    /// Offers a library routine to the model under a name.
    ///
    /// # Safety
    /// The function must do what models compiled for this name expect: use the buffers and dims that they pass, within
    /// their bounds, from any thread.
    #[must_use]
    pub unsafe fn routine(mut self, name: &CStr, function: RoutineFn) -> Self {
        self.routines.insert(name.to_owned(), function);
        self
    }

    /// The number of threads, from the first that says one: this, the environment, the machine.
    pub(crate) fn thread_count(&self) -> Result<usize> {
        if let Some(threads) = self.threads {
            return check_threads("the number of threads", threads.to_string());
        }
        match std::env::var(THREADS_VARIABLE) {
            Ok(value) => check_threads(THREADS_VARIABLE, value),
            Err(std::env::VarError::NotPresent) => Ok(available_threads()),
            Err(std::env::VarError::NotUnicode(value)) => {
                check_threads(THREADS_VARIABLE, value.to_string_lossy().into_owned())
            }
        }
    }
}

impl Options {
    /// How many calls may be in each other, from the first that says a number: this, the environment.
    pub(crate) fn most_calls(&self) -> Result<usize> {
        let (setting, value) = match (self.depth, std::env::var_os(DEPTH_VARIABLE)) {
            (Some(depth), _) => ("the depth of recursion", depth.to_string()),
            (None, Some(value)) => (DEPTH_VARIABLE, value.to_string_lossy().into_owned()),
            (None, None) => return Ok(MOST_CALLS),
        };
        match whole_number(value.trim()) {
            Some(calls @ 1..=MOST_OF_MOST_CALLS) => Ok(calls),
            _ => Err(Error::Setting { setting, value, expected: "a whole number from 1 to 1000000" }),
        }
    }
}

fn check_threads(setting: &'static str, value: String) -> Result<usize> {
    match whole_number(value.trim()) {
        Some(threads @ 1..=MAX_THREADS) => Ok(threads),
        _ => Err(Error::Setting { setting, value, expected: "a whole number from 1 to 1024" }),
    }
}

/// A number in digits and nothing else: Rust's own reading also takes a plus before them.
pub(crate) fn whole_number(text: &str) -> Option<usize> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_must_make_sense() {
        assert_eq!(check_threads("x", "8".into()).unwrap(), 8);
        for value in ["0", "-1", "1025", "many", "", "1.5", "+4", "0x4"] {
            let error = check_threads(THREADS_VARIABLE, value.into()).unwrap_err().to_string();
            assert_eq!(error, format!("SUTURA_THREADS is `{value}`, but must be a whole number from 1 to 1024"));
        }
        assert!(Options::new().threads(0).thread_count().is_err());
        assert_eq!(Options::new().threads(3).thread_count().unwrap(), 3);
    }
}
