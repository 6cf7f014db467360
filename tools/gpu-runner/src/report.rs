//! `gpu-runner report`: one table of what the runner and its peers measured.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::args::{Args, all_names};
use crate::results::{Checked, PeerTiming, Peers, Timed, Timing, write_bytes};
use crate::{Failure, Result};

/// Whether all that was measured was right.
pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<bool> {
    let mut text = String::new();
    let (mut right, mut any) = (true, false);
    let mut totals: Vec<(String, Vec<f64>)> = Vec::new();
    for name in all_names() {
        let checked: Option<Checked> = read(&args.out, &format!("{name}.check.json"))?;
        let timed: Option<Timed> = read(&args.out, &format!("{name}.sutura.json"))?;
        let peers: Option<Peers> = read(&args.out, &format!("{name}.peers.json"))?;
        right &= checked.as_ref().is_none_or(|checked| checked.ok);
        right &= timed.as_ref().is_none_or(|timed| timed.problems.is_empty());
        if checked.is_none() && timed.is_none() && peers.is_none() {
            continue;
        }
        if !any {
            head(&mut text, checked.as_ref(), timed.as_ref());
        }
        any = true;
        section(&mut text, &name, (checked.as_ref(), timed.as_ref(), peers.as_ref()), &mut totals);
    }
    if !any {
        let folder = args.out.display();
        return Err(Failure::File(format!("`{folder}` has no results; `gpu-runner check` and `time` make some")));
    }
    if !totals.is_empty() {
        text.push_str("\n## All workloads of rows\n\n");
        text.push_str(
            "| peer | sizes | its time as a multiple of Sutura's, geometric mean | least |\n|---|---|---|---|\n",
        );
        for (peer, ratios) in &totals {
            let _ = writeln!(text, "| {peer} | {} | {:.2} | {:.2} |", ratios.len(), mean(ratios), least(ratios));
        }
    }
    write_bytes(&args.out, "results.md", text.as_bytes())?;
    writeln!(out, "{}", args.out.join("results.md").display())?;
    Ok(right)
}

fn read<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Option<T>> {
    let path = folder.join(name);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::File(format!("cannot read `{}`: {error}", path.display()))),
    };
    let damaged = |error| Failure::File(format!("`{}` is no such result: {error}", path.display()));
    serde_json::from_slice(&bytes).map(Some).map_err(damaged)
}

fn head(text: &mut String, checked: Option<&Checked>, timed: Option<&Timed>) {
    let of = timed.map(|t| (&t.device, &t.date)).or(checked.map(|c| (&c.device, &c.date)));
    if let Some((device, date)) = of {
        let _ = writeln!(text, "# {}, {date}\n", device.name);
        let _ = writeln!(text, "Device {} ({}), {}, {}.", device.name, device.target, device.driver, device.api);
    }
    text.push_str(
        "Times are medians by the device's events. GB/s count every tensor once, read or written; percent are of what \
         a copy on the device reaches in the same run (by default of 1 GiB to another 1 GiB). Numbers behind peers' \
         times are multiples of Sutura's: above 1 Sutura is faster.\n",
    );
}

type Found<'a> = (Option<&'a Checked>, Option<&'a Timed>, Option<&'a Peers>);

fn section(text: &mut String, name: &str, (checked, timed, peers): Found<'_>, totals: &mut Vec<(String, Vec<f64>)>) {
    let _ = writeln!(text, "\n## {name}\n");
    match checked {
        Some(Checked { ok: true, shapes, worst, allowed, .. }) => {
            let _ = writeln!(
                text,
                "Right at {shapes} sizes; the largest error is {worst:.3} of what is allowed ({allowed})."
            );
        }
        Some(Checked { problems, .. }) => {
            let _ = writeln!(text, "**Wrong.** {}", problems.join("; "));
        }
        None => text.push_str("Not checked.\n"),
    }
    if let Some(peers) = peers {
        let copy = peers.copy_gbps.map_or_else(String::new, |gbps| format!(", copies {gbps:.0} GB/s"));
        let _ = writeln!(text, "Peers: {} on {}{copy}. {}", peers.versions, peers.device, peers.problems.join("; "));
        if peers.workload != name {
            let _ = writeln!(text, "These are peers' times of `{}`.", peers.workload);
        }
    }
    let Some(timed) = timed else { return };
    let _ = writeln!(text, "Compiled for {}; copies {:.0} GB/s.", timed.target, timed.copy_gbps);
    for problem in timed.problems.iter().chain(&timed.skipped) {
        let _ = writeln!(text, "- {problem}");
    }
    table(text, timed, peers, totals);
}

fn table(text: &mut String, timed: &Timed, peers: Option<&Peers>, totals: &mut Vec<(String, Vec<f64>)>) {
    let peer_results = peers.map_or(&[][..], |peers| &peers.results);
    let names: BTreeSet<&str> = peer_results.iter().map(|timing| timing.peer.as_str()).collect();
    let _ = write!(text, "\n| size | us | GB/s | % of copies | launches |");
    names.iter().for_each(|peer| text.push_str(&format!(" {peer} us | | kernels |")));
    let _ = write!(text, "\n|---|---|---|---|---|");
    names.iter().for_each(|_| text.push_str("---|---|---|"));
    text.push('\n');
    let mut ratios: Vec<(&str, Vec<(u64, f64)>)> = names.iter().map(|name| (*name, Vec::new())).collect();
    for timing in &timed.results {
        text.push_str(&row(timing, timed.copy_gbps));
        for (peer, ratios) in &mut ratios {
            let same =
                |other: &&PeerTiming| other.peer == *peer && (other.rows, other.cols) == (timing.rows, timing.cols);
            let Some(other) = peer_results.iter().find(same) else {
                text.push_str(" - | - | - |");
                continue;
            };
            let ratio = other.median_us / timing.median_us;
            ratios.push((timing.cols, ratio));
            let kernels = other.kernels.map_or_else(|| "-".to_owned(), |kernels| kernels.to_string());
            let _ = write!(text, " {:.1} | {ratio:.2} | {kernels} |", other.median_us);
        }
        text.push('\n');
    }
    for timing in &timed.results {
        let of_size = |other: &&PeerTiming| (other.rows, other.cols) == (timing.rows, timing.cols);
        parts(text, timing, "Sutura", &timing.parts);
        peer_results.iter().filter(of_size).for_each(|other| parts(text, timing, &other.peer, &other.parts));
    }
    for (peer, found) in ratios.iter().filter(|(_, found)| !found.is_empty()) {
        let all: Vec<f64> = found.iter().map(|(_, ratio)| *ratio).collect();
        let irregular: Vec<f64> = found.iter().filter(|(cols, _)| !cols.is_power_of_two()).map(|(_, r)| *r).collect();
        let _ = write!(text, "\n{peer}: geometric mean {:.2}, least {:.2}", mean(&all), least(&all));
        if !irregular.is_empty() {
            let _ = write!(text, "; where columns are no power of two {:.2}", mean(&irregular));
        }
        text.push_str(".\n");
        if timed.results.iter().all(|timing| timing.bytes.is_some()) {
            match totals.iter_mut().find(|(name, _)| name == peer) {
                Some((_, total)) => total.extend(all),
                None => totals.push(((*peer).to_owned(), all)),
            }
        }
    }
}

/// A line with what each kernel takes, if that is known.
fn parts(text: &mut String, timing: &Timing, whose: &str, parts: &[(String, f64)]) {
    if parts.is_empty() {
        return;
    }
    let all: Vec<String> = parts.iter().map(|(name, us)| format!("`{name}` {us:.1}")).collect();
    let _ = writeln!(text, "\n{whose}'s kernels at {} x {}, us: {}.", timing.rows, timing.cols, all.join(", "));
}

fn row(timing: &Timing, copy_gbps: f64) -> String {
    let Timing { rows, cols, median_us, launches, .. } = timing;
    let speed = match timing.gbps() {
        Some(gbps) => format!("{gbps:.0} | {:.1}", 100.0 * gbps / copy_gbps),
        None => "- | -".to_owned(),
    };
    let graph = if timing.graph { " (graph)" } else { "" };
    format!("| {rows} x {cols} | {median_us:.1} | {speed} | {launches}{graph} |")
}

fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn least(ratios: &[f64]) -> f64 {
    ratios.iter().copied().fold(f64::INFINITY, f64::min)
}
