//! How long it takes to open an artifact with large weights, with a look at its hashes and without: `load_time MEGABYTES`.
//! `docs/rationale/artifact-hashes.md` has results.

#![forbid(unsafe_code)]
// A program that talks to a person at a terminal.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use sutura_runtime::artifact::{self, Contents};
use sutura_runtime::manifest::{Constant, FORMAT, Manifest, Math, Target, Tool};
use sutura_runtime::{Artifact, ElementType, Result, abi};

const ROUNDS: usize = 5;

/// A way to open an artifact.
type Open = fn(&Path) -> Result<Artifact>;

fn main() -> ExitCode {
    let megabytes = std::env::args().nth(1).and_then(|text| text.parse::<usize>().ok());
    let Some(bytes) = megabytes.map(|megabytes| megabytes * 1_000_000) else {
        eprintln!("usage: load_time MEGABYTES");
        return ExitCode::from(2);
    };
    match measure(bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(bytes: usize) -> Result<()> {
    // In the folder that it is run in, because the one for temporary files may be in memory.
    let path = Path::new("load-time.sutura");
    write(path, bytes)?;
    let ways: [(&str, Open); 2] =
        [("hashes compared", |path| Artifact::open(path)), ("trusted", |path| Artifact::open_trusted(path))];
    for cold in [false, true] {
        for (name, open) in ways {
            let mut times: Vec<_> = (0..ROUNDS).map(|_| time(path, open, cold)).collect::<Result<_>>()?;
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (opened, used) = times[ROUNDS / 2];
            let state = if cold { "not in memory" } else { "in memory" };
            println!("{state:<14} {name:<16} open {opened:8.1} ms, open and read all weights once {used:8.1} ms");
        }
    }
    // Nothing is left; that it cannot be removed is no reason not to tell the times.
    let _ = std::fs::remove_file(path);
    Ok(())
}

/// Milliseconds until an artifact is open, and until each page of its weights was touched.
fn time(path: &Path, open: Open, cold: bool) -> Result<(f64, f64)> {
    if cold {
        // Without any block to copy, `dd` only tells the system to forget the file.
        let file = format!("of={}", path.display());
        let mut forget = Command::new("dd");
        forget.args([&file, "oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"]);
        forget.output().map_err(|source| sutura_runtime::Error::Io { action: "forget", path: path.into(), source })?;
    }
    let start = Instant::now();
    let artifact = open(path)?;
    let opened = start.elapsed();
    let touched: u64 = artifact.constants().flat_map(|bytes| bytes.iter().step_by(4096)).map(|b| u64::from(*b)).sum();
    black_box(touched);
    Ok((opened.as_secs_f64() * 1e3, start.elapsed().as_secs_f64() * 1e3))
}

fn write(path: &Path, bytes: usize) -> Result<()> {
    let manifest = Manifest {
        format: FORMAT,
        abi: abi::VERSION,
        tool: Tool { name: "load_time".into(), version: "0".into() },
        target: Target {
            triple: String::new(),
            features: String::new(),
            description: String::new(),
            description_hash: String::new(),
        },
        device: None,
        math: Math::default(),
        model: "weights".into(),
        symbols: vec![],
        inputs: vec![],
        reserves: vec![],
        outputs: vec![],
        constants: vec![Constant { name: "w".into(), element_type: ElementType::U8, dims: vec![bytes as i64] }],
        checks: vec![],
        data_checks: vec![],
        routines: vec![],
        decided: vec![],
        functions: vec![],
        temporaries: Vec::new(),
        kernels: vec![],
        source_hash: String::new(),
    };
    let weights: Vec<u8> = (0..bytes).map(|i| (i >> 3) as u8).collect();
    let start = Instant::now();
    artifact::write(path, &Contents { manifest: &manifest, host: b"", device: None, constants: &[&weights] })?;
    println!("written in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
