//! `gpu-runner models`: models with stored inputs and outputs, each run on the device and compared.
//!
//! A folder `models/NAME` of the bundle has `model.sutura` and a folder for each case, in which `input_0.npy`,
//! `input_1.npy` and so on are what the model is given, and `output_0.npy` and so on what it must make of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use sutura_runtime::compare::{all_close, compare};
use sutura_runtime::device::Device;
use sutura_runtime::{ElementType, Model, Session, Tensor, npy};

use crate::args::Args;
use crate::{Failure, Result};

/// The folder in the bundle.
const FOLDER: &str = "models";
/// What a result of floats may be off by: the order of a sum and a function of the device explain no more.
const ABSOLUTE: f64 = 1e-5;

/// Whether everything was right. What fails is told, and the rest goes on.
pub(crate) fn run(args: &Args, device: &Device, out: &mut dyn Write) -> Result<bool> {
    let models = folders(&args.bundle.join(FOLDER))?;
    let mut wrong = 0;
    for folder in &models {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match check(args, device, folder) {
            Ok(cases) => writeln!(out, "right   {name}: {cases} cases")?,
            Err(failure) => {
                wrong += 1;
                writeln!(out, "WRONG   {name}: {failure}")?;
            }
        }
        out.flush()?;
    }
    writeln!(out, "{} models, {wrong} wrong", models.len())?;
    Ok(wrong == 0)
}

/// Runs a model on all its cases.
///
/// # Errors
/// What goes wrong first: a file, the device, or a result.
fn check(args: &Args, device: &Device, folder: &Path) -> Result<usize> {
    let model = Model::load_with(folder.join("model.sutura"), args.options().on(device))?;
    let cases = folders(folder)?;
    for case in &cases {
        let inputs = tensors(case, "input", model.manifest().inputs.len())?;
        let expected = tensors(case, "output", model.manifest().outputs.len())?;
        let mut session = Session::new(device)?;
        let uploaded = inputs.iter().map(|input| session.upload(&input.view())).collect::<Result<Vec<_>, _>>()?;
        // Three times, so that a replay of a graph is among them.
        for _ in 0..3 {
            let made = session.run(&model, &uploaded.iter().collect::<Vec<_>>())?;
            for (at, (made, expected)) in made.iter().zip(&expected).enumerate() {
                let made = session.download(made)?;
                let place = format!("output {at} of {}", case.display());
                differs(&made, expected).map_or(Ok(()), |how| Err(Failure::Wrong(format!("{place}: {how}"))))?;
            }
        }
    }
    Ok(cases.len())
}

/// How a result differs from what it must be by more than is allowed, if it does.
fn differs(made: &Tensor, expected: &Tensor) -> Option<String> {
    // Integers and truth values are the same or wrong; of floats of 16 bits and fewer a unit in the last place is much.
    let (absolute, relative) = match expected.element_type() {
        ElementType::F32 | ElementType::F64 => (ABSOLUTE, 1e-4),
        ty if ty.is_float() => (1e-3, 1e-2),
        _ => (0.0, 0.0),
    };
    let found = match (compare(made, expected), all_close(made, expected, absolute, relative)) {
        (Ok(_), Ok(true)) => return None,
        (Ok(found), Ok(false)) => found,
        (Err(error), _) | (_, Err(error)) => return Some(error.to_string()),
    };
    let worst = &found.max_abs;
    Some(format!(
        "{:e} off at {:?}: {} where {} is right; {} of {} elements differ, {} are no numbers",
        worst.error, worst.index, worst.actual, worst.expected, found.different, found.elements, found.nan_mismatches
    ))
}

/// `NAME_0.npy` and so on, as many as the model has.
fn tensors(case: &Path, name: &str, count: usize) -> Result<Vec<Tensor>> {
    let read = |at: usize| npy::read(case.join(format!("{name}_{at}.npy")));
    (0..count).map(|at| Ok(read(at)?)).collect()
}

/// The folders of a folder, sorted.
fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |error| Failure::File(format!("cannot read `{}`: {error}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(Failure::File(format!("`{}` has nothing to check", folder.display())));
    }
    Ok(found)
}
