//! What was found out, as files.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sutura_runtime::device::DeviceInfo;

use crate::numbers::Worst;
use crate::{Failure, Result};

/// The device that something was found out on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct On {
    pub(crate) name: String,
    pub(crate) target: String,
    pub(crate) driver: String,
    pub(crate) api: String,
}

impl On {
    pub(crate) fn new(info: &DeviceInfo) -> Self {
        let (name, target) = (info.name.clone(), info.target.clone());
        Self { name, target, driver: info.driver.clone(), api: info.api.clone() }
    }
}

/// Whether a workload computes what it should.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Checked {
    pub(crate) workload: String,
    pub(crate) device: On,
    pub(crate) date: String,
    /// What it was compiled for.
    pub(crate) target: String,
    pub(crate) ok: bool,
    pub(crate) shapes: usize,
    /// The largest error as a part of what is allowed.
    #[serde(with = "maybe_infinite")]
    pub(crate) worst: f64,
    pub(crate) allowed: String,
    pub(crate) problems: Vec<String>,
}

/// JSON has no infinity; the error of what is no number is one.
mod maybe_infinite {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}

impl Checked {
    pub(crate) fn new(workload: &str, info: &DeviceInfo) -> Self {
        Self {
            workload: workload.to_owned(),
            device: On::new(info),
            date: date(),
            target: "nothing loaded".to_owned(),
            ok: false,
            shapes: 0,
            worst: 0.0,
            allowed: String::new(),
            problems: Vec::new(),
        }
    }
}

/// How long a workload takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) workload: String,
    pub(crate) device: On,
    pub(crate) date: String,
    /// What it was compiled for.
    pub(crate) target: String,
    /// Bytes read and written by a copy on the device, and how quickly.
    pub(crate) copy_bytes: u64,
    pub(crate) copy_gbps: f64,
    pub(crate) results: Vec<Timing>,
    /// Sizes that were left out, and why.
    pub(crate) skipped: Vec<String>,
    pub(crate) problems: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timing {
    /// Of the encoder the batch.
    pub(crate) rows: u64,
    /// Of the encoder the length of the sequence.
    pub(crate) cols: u64,
    pub(crate) median_us: f64,
    pub(crate) least_us: f64,
    pub(crate) runs: usize,
    /// Bytes that must be moved, each tensor once; none where that is not what takes the time.
    pub(crate) bytes: Option<u64>,
    /// Launches of a run.
    pub(crate) launches: u64,
    /// Runs were replays of a graph.
    pub(crate) graph: bool,
    /// Of a model of many kernels, what each takes of a run in microseconds, by events around each launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<(String, f64)>,
}

impl Timing {
    /// 10^9 bytes a second.
    pub(crate) fn gbps(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / (self.median_us * 1e3))
    }
}

/// What peers take, as `peers.py` writes it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Peers {
    pub(crate) workload: String,
    pub(crate) device: String,
    /// Versions of what was measured.
    pub(crate) versions: String,
    pub(crate) copy_gbps: Option<f64>,
    pub(crate) results: Vec<PeerTiming>,
    #[serde(default)]
    pub(crate) problems: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PeerTiming {
    pub(crate) rows: u64,
    pub(crate) cols: u64,
    pub(crate) peer: String,
    pub(crate) median_us: f64,
    /// Kernels of a run, where the profiler tells.
    pub(crate) kernels: Option<u64>,
    /// What each kernel takes of a run in microseconds, where that is told.
    #[serde(default)]
    pub(crate) parts: Vec<(String, f64)>,
}

/// What is wrong with a result of so many elements.
pub(crate) fn wrong(worst: &Worst, elements: u64, [rows, cols]: [u64; 2]) -> String {
    let Worst { part, at, found, expected, wrong } = worst;
    let (row, col) = (*at as u64 / cols.max(1), *at as u64 % cols.max(1));
    format!(
        "at {rows}x{cols} {wrong} of {elements} elements are off by more than is allowed, most at row {row}, \
         column {col}: {found:e} where {expected:e} is right, {part:.1} times what is allowed"
    )
}

/// Writes a file whole or not at all.
pub(crate) fn write(folder: &Path, name: &str, what: &impl Serialize) -> Result<()> {
    let json = serde_json::to_vec_pretty(what).map_err(|error| Failure::File(format!("{name}: {error}")))?;
    write_bytes(folder, name, &json)
}

pub(crate) fn write_bytes(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let failed = |error: std::io::Error| Failure::File(format!("cannot write `{}`: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let part = folder.join(format!("{name}.part"));
    std::fs::File::create(&part).and_then(|mut file| file.write_all(bytes)).map_err(failed)?;
    std::fs::rename(&part, &path).map_err(failed)
}

/// Today, in UTC.
pub(crate) fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    civil(seconds / 86_400)
}

/// The date of a day since 1970, by the calendar's cycle of 400 years, whose years begin in March.
fn civil(days: u64) -> String {
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{}-{month:02}-{day:02}", 400 * cycle + year + u64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        for (days, date) in [(0, "1970-01-01"), (19_782, "2024-02-29"), (20_454, "2026-01-01"), (11_016, "2000-02-29")]
        {
            assert_eq!(civil(days), date);
        }
    }
}
