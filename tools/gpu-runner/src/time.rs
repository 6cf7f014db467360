//! `gpu-runner time`: medians by the device's events, beside copies on the same device in the same run.

use std::io::Write;
use std::time::Duration;

use sutura_runtime::device::Device;
use sutura_runtime::{DeviceTensor, ElementType, Model, Session};

use crate::args::Args;
use crate::results::{self, On, Timed, Timing};
use crate::rows::Rows;
use crate::workloads::{ENCODER, find};
use crate::{Failure, Result, encoder};

/// Columns of the matrices: powers of two, and those of real models that are none.
const COLUMNS: [u64; 12] = [128, 512, 1000, 1024, 2048, 4096, 4097, 8192, 16_384, 32_768, 50_257, 100_000];
/// Bytes of the tensor that is copied to find out how quickly the device can move memory.
const COPIED: u64 = 1 << 30;
/// Runs before any is timed: the first ones load code, and are captured.
const WARM_UP: usize = 4;
/// How long all timed runs should take together, and how many they are.
const BUDGET: Duration = Duration::from_millis(250);
const RUNS: (usize, usize) = (9, 101);
/// Rows that are compared after they were timed, beside the first and the last.
const COMPARED: u64 = 62;
/// The part of the device's memory that is used at most.
const MEMORY: f64 = 0.85;

/// The sizes that are timed, the smaller first.
pub(crate) fn shapes(args: &Args) -> Vec<[u64; 2]> {
    let totals = args.totals.iter().filter(|total| **total <= args.max_elements);
    let of = |total: &u64| COLUMNS.map(|cols| [total / cols, cols]).into_iter().filter(|[rows, _]| *rows > 0);
    totals.flat_map(of).collect()
}

/// Whether all was measured, and right.
pub(crate) fn run(args: &Args, device: &Device, out: &mut dyn Write) -> Result<bool> {
    if shapes(args).is_empty() && args.names() != [ENCODER] {
        let most = args.max_elements;
        return Err(Failure::Usage(format!("no size is left to be timed: `--totals` are above {most}, or below 128")));
    }
    let mut right = true;
    for name in args.names() {
        let mut timed = Timed {
            workload: name.clone(),
            device: On::new(device.info()),
            date: results::date(),
            target: "nothing loaded".to_owned(),
            copy_bytes: 0,
            copy_gbps: 0.0,
            results: Vec::new(),
            skipped: Vec::new(),
            problems: Vec::new(),
        };
        if let Err(failure) = workload(args, device, &name, &mut timed) {
            timed.problems.push(failure.to_string());
        }
        writeln!(out, "{name} ({}): copies {:.0} GB/s", timed.target, timed.copy_gbps)?;
        timed.results.iter().try_for_each(|timing| writeln!(out, "{}", line(timing, timed.copy_gbps)))?;
        timed.skipped.iter().try_for_each(|why| writeln!(out, "  skipped: {why}"))?;
        timed.problems.iter().try_for_each(|problem| writeln!(out, "WRONG   {name}: {problem}"))?;
        out.flush()?;
        results::write(&args.out, &format!("{name}.sutura.json"), &timed)?;
        right &= timed.problems.is_empty();
    }
    Ok(right)
}

fn line(timing: &Timing, copy_gbps: f64) -> String {
    let Timing { rows, cols, median_us, least_us, runs, launches, .. } = timing;
    let speed = timing
        .gbps()
        .map_or_else(String::new, |gbps| format!("{gbps:>8.1} GB/s {:>5.1} % of copies  ", 100.0 * gbps / copy_gbps));
    let graph = if timing.graph { ", by a graph" } else { "" };
    let how = format!("least {least_us:.1} of {runs}; {launches} launches{graph}");
    format!("  {rows:>8} x {cols:<7} {median_us:>10.1} us  {speed}({how})")
}

fn workload(args: &Args, device: &Device, name: &str, timed: &mut Timed) -> Result<()> {
    let (model, target) = crate::load(args, name, device, args.options())?;
    timed.target = target;
    let mut session = Session::new(device)?;
    (timed.copy_bytes, timed.copy_gbps) = copies(args, &mut session)?;
    if name == ENCODER {
        encoder::time(args, &mut session, &model, timed)?;
    } else {
        rows(args, &mut session, (&model, name), timed)?;
    }
    session.release_memory()?;
    // What may have changed meanwhile: clocks, and who else uses the device.
    let (_, after) = copies(args, &mut session)?;
    timed.copy_gbps = timed.copy_gbps.max(after);
    Ok(())
}

/// How quickly the device copies its own memory: bytes read and written, and 10^9 of them a second.
fn copies(args: &Args, session: &mut Session) -> Result<(u64, f64)> {
    let limits = &session.device().info().limits;
    let bytes = COPIED.min(4 * args.max_elements).min(limits.memory_bytes / 4).min(limits.allocation_bytes);
    let dims = [bytes as i64];
    let (from, mut to) = (session.tensor(ElementType::U8, &dims)?, session.tensor(ElementType::U8, &dims)?);
    // What was never written need not be memory yet.
    session.copy(&from, &mut to)?;
    let (median, _, _) = times(session, |session| Ok(session.copy(&from, &mut to)?))?;
    Ok((2 * bytes, 2.0 * bytes as f64 / (median * 1e3)))
}

fn rows(args: &Args, session: &mut Session, (model, name): (&Model, &str), timed: &mut Timed) -> Result<()> {
    let Some(known) = find(name) else { unreachable!("names come from the workloads") };
    let of = Rows::new(session, known, args.seed, args.max_elements)?;
    let limits = session.device().info().limits.clone();
    for [rows, cols] in shapes(args) {
        let (needs, one) = (of.bytes(rows, cols), rows * cols * of.element_bytes());
        if needs as f64 > MEMORY * limits.memory_bytes as f64 || one > limits.allocation_bytes {
            let gib = needs as f64 / f64::from(1 << 30);
            timed.skipped.push(format!("{rows}x{cols}: {gib:.1} GiB are more than the device has"));
            continue;
        }
        let mut run = of.tensors(session, rows, cols)?;
        let inputs: Vec<&DeviceTensor> = run.inputs.iter().collect();
        let measured = measure(session, model, &inputs, std::slice::from_mut(&mut run.output))?;
        timed.results.push(Timing { rows, cols, bytes: Some(needs), ..measured });
        let mut some: Vec<u64> = (0..=COMPARED + 1).map(|part| part * (rows - 1) / (COMPARED + 1)).collect();
        some.dedup();
        let worst = of.compare(session, &run, cols, &some)?;
        if worst.is_wrong() {
            timed.problems.push(results::wrong(&worst, some.len() as u64 * cols, [rows, cols]));
        }
        drop(run);
        // Sizes differ much, and what waits for reuse would be memory that the next one needs.
        session.release_memory()?;
    }
    Ok(())
}

/// Times runs of a model. Sizes are left to the caller.
pub(crate) fn measure(
    session: &mut Session,
    model: &Model,
    inputs: &[&DeviceTensor],
    outputs: &mut [DeviceTensor],
) -> Result<Timing> {
    let run = |session: &mut Session, outputs: &mut [DeviceTensor]| {
        session.run_into(model, inputs, &mut outputs.iter_mut().collect::<Vec<_>>())
    };
    let before = model.stats();
    run(session, outputs)?;
    let launches = model.stats().launches - before.launches;
    let (median_us, least_us, runs) = times(session, |session| Ok(run(session, outputs)?))?;
    let graph = model.stats().replays > before.replays && launches > 1;
    Ok(Timing { rows: 0, cols: 0, median_us, least_us, runs, bytes: None, launches, graph, parts: Vec::new() })
}

/// The median and the least time in microseconds of something that is enqueued, by events around each, and how often it
/// was.
fn times(session: &mut Session, mut enqueue: impl FnMut(&mut Session) -> Result<()>) -> Result<(f64, f64, usize)> {
    let mut rounds = |session: &mut Session, count: usize| -> Result<Vec<f64>> {
        let mut events = vec![session.record()?];
        for _ in 0..count {
            enqueue(session)?;
            events.push(session.record()?);
        }
        session.synchronize()?;
        let between = events.windows(2).filter_map(|pair| pair[1].since(&pair[0]));
        Ok(between.map(|time| time.as_secs_f64() * 1e6).collect())
    };
    let untimed = || Failure::NoDevice("the device's events have no times".to_owned());
    let first = rounds(session, WARM_UP)?;
    let guess = first.last().copied().ok_or_else(untimed)?.max(0.1);
    let count = (BUDGET.as_secs_f64() * 1e6 / guess) as usize;
    let mut all = rounds(session, count.clamp(RUNS.0, RUNS.1))?;
    all.sort_by(f64::total_cmp);
    let least = all.first().copied().ok_or_else(untimed)?;
    Ok((all[all.len() / 2], least, all.len()))
}
