//! Runs every artifact of a folder at several sizes, on one thread and on several at once, and compares the results bit by
//! bit: `run_artifacts FOLDER`. `cargo xtask memcheck` runs it under valgrind.

#![forbid(unsafe_code)]
// A program that talks to a person at a terminal.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use sutura_runtime::manifest::{Dim, Manifest, Symbol, Value};
use sutura_runtime::{ElementType, Error, ErrorKind, Model, Options, Result, Tensor};

/// What all named dims are, as far as their ranges allow it.
const SIZES: [i64; 3] = [1, 2, 9];

/// Threads that run a model at the same time.
const CALLERS: usize = 2;

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: run_artifacts FOLDER");
        return ExitCode::from(2);
    };
    match run_all(Path::new(&folder)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether there are artifacts, and all ran with equal results.
fn run_all(folder: &Path) -> std::io::Result<bool> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "sutura"));
    paths.sort();
    let mut fine = !paths.is_empty();
    for path in &paths {
        let outcome = run(path);
        match &outcome {
            Ok(runs) => println!("{}: {runs} runs", path.display()),
            Err(why) => println!("{}: {why}", path.display()),
        }
        fine &= outcome.is_ok();
    }
    Ok(fine)
}

/// Runs an artifact. Returns how often.
fn run(path: &Path) -> Result<usize, String> {
    let load = |threads| Model::load_with(path, Options::new().threads(threads)).map_err(|e| e.to_string());
    let (one, several) = (load(1)?, load(3)?);
    let mut runs = 0;
    for size in SIZES {
        let inputs = inputs(one.manifest(), size)?;
        let expected = match one.run(&inputs) {
            Ok(outputs) => outputs,
            // The model does not take these sizes, or these data.
            Err(error) if error.kind() == ErrorKind::Input => continue,
            Err(error) => return Err(error.to_string()),
        };
        let same = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(|| several.run(&inputs))).collect();
            callers.into_iter().all(|caller| caller.join().is_ok_and(|outputs| is_same(outputs, &expected)))
        });
        if !same {
            return Err(format!("other results on several threads, at size {size}"));
        }
        runs += 1 + CALLERS;
    }
    if runs == 0 { Err("it takes none of the sizes".to_owned()) } else { Ok(runs) }
}

fn is_same(outputs: Result<Vec<Tensor>, Error>, expected: &[Tensor]) -> bool {
    outputs.is_ok_and(|outputs| outputs.iter().zip(expected).all(|(a, b)| a.bytes() == b.bytes()))
}

fn inputs(manifest: &Manifest, size: i64) -> Result<Vec<Tensor>, String> {
    let tensor = |input: &Value| {
        let dims = input.dims.iter().map(|dim| match dim {
            Dim::Const(n) => Ok(*n),
            Dim::Symbol(name) => Ok(manifest.symbols.iter().find(|s| s.name == *name).map_or(size, |s| value(s, size))),
            Dim::Expr(text) => Err(format!("input `{}` has the computed dimension {text}", input.name)),
        });
        let dims = dims.collect::<Result<Vec<_>, String>>()?;
        filled(input.element_type, &dims).map_err(|e| e.to_string())
    };
    manifest.inputs.iter().map(tensor).collect()
}

/// A value that the symbol may have, close to `size`.
fn value(symbol: &Symbol, size: i64) -> i64 {
    let wanted = size.clamp(symbol.min, symbol.max);
    // Up to the next multiple; one above the range is refused by the model.
    (wanted + symbol.div - 1) / symbol.div * symbol.div
}

/// Numbers that are different from each other, and ones, which are valid indices of most models.
fn filled(ty: ElementType, dims: &[i64]) -> Result<Tensor> {
    let mut tensor = Tensor::zeros(ty, dims)?;
    let size = ty.bytes();
    if let Some(elements) = tensor.as_mut_slice::<f32>() {
        (0..97u8).cycle().zip(elements).for_each(|(i, element)| *element = f32::from(i) / 16.0 - 3.0);
        return Ok(tensor);
    }
    // The number 1 of integers; of small floats a tiny one.
    tensor.bytes_mut().chunks_exact_mut(size).for_each(|element| element[0] = 1);
    Ok(tensor)
}
