//! `gpu-runner check`: every workload at many sizes, every element against the reference.

use std::io::Write;

use sutura_runtime::device::Device;
use sutura_runtime::{Model, Session};

use crate::args::Args;
use crate::results::{self, Checked};
use crate::rows::Rows;
use crate::workloads::{ENCODER, find};
use crate::{Result, encoder};

/// Rows and columns: none, single ones, both sides of powers of two, those that do not divide, vocabularies, long ones,
/// many short ones, and one of a usual size.
const SHAPES: [[u64; 2]; 26] = [
    [0, 5],
    [1, 1],
    [3, 7],
    [1, 31],
    [2, 32],
    [5, 33],
    [3, 128],
    [70, 127],
    [9, 256],
    [5, 1000],
    [2, 1023],
    [2, 1024],
    [2, 1025],
    [7, 2048],
    [33, 4097],
    [4, 8191],
    [3, 16_384],
    [3, 16_385],
    [2, 32_768],
    [5, 32_769],
    [2, 50_257],
    [1, 100_000],
    [3, 131_072],
    [1, 1_048_576],
    [300_000, 12],
    [16_384, 1024],
];

/// Whether everything was right. What fails is told, and the rest goes on.
pub(crate) fn run(args: &Args, device: &Device, out: &mut dyn Write) -> Result<bool> {
    let mut right = true;
    for name in args.names() {
        let mut checked = Checked::new(&name, device.info());
        let done = if name == ENCODER {
            encoder::check(args, device, &mut checked)
        } else {
            rows(args, device, &name, &mut checked)
        };
        if let Err(failure) = done {
            checked.problems.push(failure.to_string());
        }
        checked.ok = checked.problems.is_empty() && checked.shapes > 0;
        for problem in &checked.problems {
            writeln!(out, "WRONG   {name}: {problem}")?;
        }
        let verdict = if checked.ok { "right " } else { "FAILED" };
        writeln!(
            out,
            "{verdict}  {name} ({}): {} sizes, largest error {:.3} of what is allowed ({})",
            checked.target, checked.shapes, checked.worst, checked.allowed
        )?;
        out.flush()?;
        results::write(&args.out, &format!("{name}.check.json"), &checked)?;
        right &= checked.ok;
    }
    Ok(right)
}

fn rows(args: &Args, device: &Device, name: &str, checked: &mut Checked) -> Result<()> {
    let (model, target) = crate::load(args, name, device, args.options())?;
    checked.target = target;
    let mut session = Session::new(device)?;
    let most = SHAPES.map(|[rows, cols]| rows * cols).into_iter().max().unwrap_or(1).min(args.max_elements);
    let Some(known) = find(name) else { unreachable!("names come from the workloads") };
    let rows = Rows::new(&mut session, known, args.seed, most)?;
    checked.allowed = format!("{:e} + {:e} of the value", rows.tolerance.absolute, rows.tolerance.relative);
    for [count, cols] in SHAPES.into_iter().filter(|[rows, cols]| rows.max(&1) * cols <= args.max_elements) {
        shape(&mut session, &model, &rows, [count, cols], checked)?;
    }
    Ok(())
}

fn shape(session: &mut Session, model: &Model, of: &Rows, [rows, cols]: [u64; 2], checked: &mut Checked) -> Result<()> {
    let mut run = of.tensors(session, rows, cols)?;
    // Three times, so that a replay of a graph is among them.
    for _ in 0..3 {
        of.unwrite(session, &mut run)?;
        let inputs: Vec<_> = run.inputs.iter().collect();
        session.run_into(model, &inputs, &mut [&mut run.output])?;
    }
    let all: Vec<u64> = (0..rows).collect();
    let worst = of.compare(session, &run, cols, &all)?;
    checked.shapes += 1;
    checked.worst = checked.worst.max(worst.part);
    if worst.is_wrong() {
        checked.problems.push(results::wrong(&worst, rows * cols, [rows, cols]));
    }
    Ok(())
}
