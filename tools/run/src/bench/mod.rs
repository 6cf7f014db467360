//! `bench`: latencies of a model at many shapes and numbers of threads, beside onnxruntime.

mod peer;
mod plot;
mod times;

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};
use sutura_runtime::{Model, Tensor, TensorView};

use crate::args::BenchArgs;
use crate::artifacts::is_artifact;
use crate::failure::Failure;
use crate::files::{self, TemporaryFolder, say};
use crate::memory;
use crate::run::{Inputs, Models, introduce, options};
use crate::sizes::Sizes;
use crate::talk::Talk;
use crate::tensors::Files;
use peer::Peer;
use times::Times;

/// Turns of each side at a shape.
const TURNS: u32 = 5;

/// What was measured at a shape.
struct Row {
    threads: usize,
    sizes: Sizes,
    own: Times,
    peer: Option<Times>,
    /// Bytes of inputs, outputs and workspace, where formulas tell them.
    memory: Option<memory::Bytes>,
}

/// Does the command.
///
/// # Errors
/// When the model, the call or the data are wrong.
pub fn bench(args: &BenchArgs, models: &dyn Models, talk: &Talk) -> Result<(), Failure> {
    for path in args.output.iter().chain(&args.plot) {
        files::writable(path)?;
    }
    let is_onnx = !is_artifact(&args.model) && args.model.extension().is_some_and(|end| end == "onnx");
    let mut peer = Peer::start(args, is_onnx, talk)?;
    let threads: Vec<Option<u16>> = match &args.threads[..] {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect(),
    };
    let mut rows = Vec::new();
    let ready = models.artifact(&args.model, &args.running.dim, talk)?;
    for threads in threads {
        let model = ready.load(options(&args.model, &args.running, threads, false, talk))?;
        introduce(&model, talk);
        let mut files = Files::new(args.running.max_input);
        let inputs = Inputs::new(&model, &args.inputs, &args.input_files, &args.running, &mut files, false)?;
        let given = inputs.load(&mut files)?;
        for sizes in &inputs.sizes {
            let made = inputs.make(sizes, &talk.muted())?;
            let tensors = given.iter().zip(&made).filter_map(|(a, b)| a.as_ref().or(b.as_ref())).collect::<Vec<_>>();
            rows.push(row(args, &model, &tensors, sizes, &mut peer, talk)?);
        }
    }
    let peer = peer.map(|peer| peer.name());
    write(args, &rows, peer.as_deref(), talk)
}

/// Times a model at a shape, in turns with the peer.
fn row(
    args: &BenchArgs,
    model: &Model,
    tensors: &[&Tensor],
    sizes: &Sizes,
    peer: &mut Option<Peer>,
    talk: &Talk,
) -> Result<Row, Failure> {
    let turn = Duration::from_secs_f64(args.seconds / f64::from(TURNS));
    let (mut own, mut other) = (Times::default(), Times::default());
    let folder = peer.as_ref().map(|_| TemporaryFolder::new()).transpose()?;
    let feed = folder.as_ref().map(|folder| folder.path().join("inputs.npz"));
    let feed = match feed {
        Some(feed) if write_feed(&feed, model, tensors, talk) => Some(feed),
        _ => None,
    };
    let views: Vec<TensorView<'_>> = tensors.iter().map(|tensor| tensor.view()).collect();
    let dims: Vec<&[i64]> = views.iter().map(TensorView::dims).collect();
    // Data may decide how much place outputs need, which a first run finds out.
    drop(model.run_views(&views)?);
    let mut outputs = model.allocate_outputs(&dims)?;
    for _ in 0..TURNS {
        own.add(timed(model, &views, &mut outputs, turn)?);
        let (Some(asked), Some(feed)) = (peer.as_mut(), &feed) else { continue };
        let nanoseconds = u64::try_from(turn.as_nanos()).unwrap_or(u64::MAX);
        match asked.times(feed, model.threads(), nanoseconds) {
            Ok(times) => other.add(times),
            Err(why) => {
                talk.warning(&format!("onnxruntime does not run the model: {why}"));
                *peer = None;
            }
        }
    }
    let memory = memory::bytes_at(model.manifest(), &|name| sizes.get(name));
    let other = Some(other).filter(|times| times.runs() > 0);
    Ok(Row { threads: model.threads(), sizes: sizes.clone(), own, peer: other, memory })
}

/// Nanoseconds of runs for a while, at least of one.
fn timed(model: &Model, views: &[TensorView<'_>], outputs: &mut [Tensor], turn: Duration) -> Result<Vec<u64>, Failure> {
    let (mut times, end) = (Vec::new(), Instant::now() + turn);
    while times.is_empty() || Instant::now() < end {
        let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        let start = Instant::now();
        model.run_into(views, &mut targets)?;
        times.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(times)
}

/// Writes what the peer reads; false where it has no file format for it.
fn write_feed(path: &Path, model: &Model, tensors: &[&Tensor], talk: &Talk) -> bool {
    let named: Vec<(&str, &Tensor)> =
        model.inputs().iter().map(|value| value.name.as_str()).zip(tensors.iter().copied()).collect();
    match sutura_tensors::write(path, &named) {
        Ok(()) => true,
        Err(error) => {
            talk.warning(&format!("onnxruntime is not timed: {error}"));
            false
        }
    }
}

fn write(args: &BenchArgs, rows: &[Row], peer: Option<&str>, talk: &Talk) -> Result<(), Failure> {
    let fields = object(args, rows, peer);
    if let Some(path) = &args.output {
        let mut whole = Map::from_iter([("result".to_owned(), "bench".into())]);
        whole.extend(fields.clone());
        let text = serde_json::to_string_pretty(&Json::Object(whole)).map_err(Failure::internal)?;
        files::write(path, (sutura_visible::json(&text).into_owned() + "\n").as_bytes())?;
    }
    if let Some(path) = &args.plot {
        files::write(path, plot::svg(&args.model, rows, peer)?.as_bytes())?;
    }
    match talk.is_json() {
        true => talk.result("bench", fields),
        false => table(rows, peer).iter().try_for_each(|line| say(line)),
    }
}

fn object(args: &BenchArgs, rows: &[Row], peer: Option<&str>) -> Map<String, Json> {
    let row = |row: &Row| {
        json!({
            "sizes": row.sizes.json(),
            "threads": row.threads,
            "latency_ns": row.own.json(),
            "peer_latency_ns": row.peer.as_ref().map(Times::json),
            "ratio": row.ratio(),
            "memory_bytes": row.memory.as_ref().map(|memory| json!({
                "inputs": memory.inputs, "outputs": memory.outputs, "workspace": memory.workspace,
            })),
        })
    };
    Map::from_iter(
        [
            ("model", json!(args.model.display().to_string())),
            ("peer", json!(peer)),
            ("resident_peak_bytes", json!(resident_peak())),
            ("rows", rows.iter().map(row).collect()),
        ]
        .map(|(name, value)| (name.to_owned(), value)),
    )
}

impl Row {
    /// The peer's median by the own one: above 1 the model is faster.
    fn ratio(&self) -> Option<f64> {
        let own = self.own.percentile(50.0).max(1) as f64;
        self.peer.as_ref().map(|peer| peer.percentile(50.0) as f64 / own)
    }
}

fn table(rows: &[Row], peer: Option<&str>) -> Vec<String> {
    let width = rows.iter().map(|row| row.sizes.text().chars().count()).max().unwrap_or(0).max(5);
    let mut lines = Vec::new();
    let beside = if peer.is_some() { "   peer p50   peer p99  ratio" } else { "" };
    lines.push(format!(
        "{:width$} threads     runs     p50 us     p90 us     p99 us    most us  memory KiB{beside}",
        "sizes"
    ));
    for row in rows {
        let us = |percent: f64| row.own.percentile(percent) as f64 / 1e3;
        let memory = row.memory.as_ref().map_or("-".to_owned(), |m| (m.sum() / 1024).to_string());
        let mut line = format!(
            "{:width$} {:>7} {:>8} {:>10.2} {:>10.2} {:>10.2} {:>10.2} {memory:>11}",
            row.sizes.text(),
            row.threads,
            row.own.runs(),
            us(50.0),
            us(90.0),
            us(99.0),
            us(100.0)
        );
        if let (Some(peer), Some(ratio)) = (&row.peer, row.ratio()) {
            let us = |percent: f64| peer.percentile(percent) as f64 / 1e3;
            line += &format!(" {:>10.2} {:>10.2} {ratio:>6.2}", us(50.0), us(99.0));
        }
        lines.push(line);
    }
    if let Some(peer) = peer {
        lines.push(format!("the peer is {peer}; a ratio above 1 means that its median is longer"));
    }
    if let Some(peak) = resident_peak() {
        lines.push(format!("resident memory at its peak: {} KiB", peak / 1024));
    }
    lines
}

/// Bytes of memory that the process had at most, where the system tells.
fn resident_peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
