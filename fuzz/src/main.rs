//! `sutura-fuzz`: looks for inputs that make the project's tools panic, hang or overflow the stack.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use sutura_fuzz::drive::{self, Job};
use sutura_fuzz::harness::{Harness, Planted};
use sutura_fuzz::targets::Target;
use sutura_ir::Context;

const HELP: &str = "\
Looks for inputs that make parser, printer, verifier, passes or FileCheck panic, hang for 5 s, or overflow the stack.

Usage: sutura-fuzz [--target NAME]… [--seconds N] [--inputs N] [--seed N] [--from N] [--findings FOLDER]
       sutura-fuzz --target NAME --file FILE
       sutura-fuzz --harness NAME --file FILE

  --target NAME      parse, roundtrip, verify, pipeline, filecheck, perturb or onnx; all of them without it
  --seconds N        time of each target (60, or as long as it takes with --inputs)
  --inputs N         number of inputs of each target; of onnx a fourth, unless it is the only one
  --seed N           inputs follow from it and their number (1)
  --from N           number of the first input (0)
  --findings FOLDER  where inputs that fail are saved (target/fuzz)
  --file FILE        run one input, such as a saved one
  --harness NAME     what --file is for, of the coverage-guided fuzzer: parser, onnx, artifact, manifest, npy or filecheck

Exit status: 0 nothing found; 1 something found; 2 wrong usage
";

/// Years: an end that no run sees.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(status) => status,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: Vec<String>) -> Result<ExitCode, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_path_buf();
    let findings = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from).join("fuzz");
    let mut job = Job { target: Target::Parse, seed: 1, from: 0, time: FOR_EVER, until: u64::MAX, root, findings };
    let (mut targets, mut file, mut notes, mut time, mut inputs) = (Vec::new(), None, None, None, None);
    let mut harness = None;
    let mut rest = args.into_iter();
    while let Some(flag) = rest.next() {
        if flag == "--help" {
            return say(HELP).map(|()| ExitCode::SUCCESS);
        }
        let value = rest.next().ok_or_else(|| format!("`{flag}` is unknown, or needs a value; see --help"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{flag}` takes a whole number"));
        match &*flag {
            "--target" => targets.push(Target::from_name(&value).ok_or_else(|| format!("no target `{value}`"))?),
            "--seconds" => {
                let seconds = value.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
                time = Some(seconds.ok_or_else(|| format!("`{flag}` takes a number of seconds"))?);
            }
            "--inputs" => inputs = Some(number()?),
            "--seed" => job.seed = number()?,
            "--from" => job.from = number()?,
            "--findings" => job.findings = value.into(),
            "--file" => file = Some(value),
            "--harness" => {
                harness = Some(Harness::from_name(&value).ok_or_else(|| format!("no harness `{value}`"))?);
            }
            "--worker" => notes = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown flag `{flag}`; see --help")),
        }
    }
    job.until = inputs.map_or(u64::MAX, |n| job.from.saturating_add(n));
    job.time = time.unwrap_or(if inputs.is_some() { FOR_EVER } else { Duration::from_secs(60) });
    if let Some(harness) = harness {
        return one_of_any_bytes(harness, file.ok_or("`--harness` needs a `--file`")?.as_ref());
    }
    let alone = targets.len() == 1;
    if targets.is_empty() {
        targets = Target::ALL.to_vec();
    }
    if let Some(file) = file {
        return one(&targets, &file);
    }
    if let Some(notes) = notes {
        job.target = targets[0];
        return drive::work(&job, &notes).map(|()| ExitCode::SUCCESS);
    }
    let mut found = false;
    for target in targets {
        job.target = target;
        job.until =
            inputs.map_or(u64::MAX, |n| job.from.saturating_add(if alone { n } else { n.div_ceil(target.share()) }));
        let outcome = drive::supervise(&job)?;
        found |= !outcome.findings.is_empty();
        let (runs, findings) = (outcome.executions, outcome.findings.len());
        say(&format!("{}: {runs} inputs, {findings} findings, seed {}\n", target.name(), job.seed))?;
    }
    Ok(ExitCode::from(u8::from(found)))
}

/// Runs one input in this process; a panic shows itself.
fn one(targets: &[Target], file: &str) -> Result<ExitCode, String> {
    let [target] = targets else { return Err("`--file` needs one `--target`".to_string()) };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    told(target.run(&Context::new(sutura_dialects::all()), &text))
}

/// The same for a harness of the coverage-guided fuzzer.
fn one_of_any_bytes(harness: Harness, file: &Path) -> Result<ExitCode, String> {
    let bytes = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    told(harness.run(&bytes, Planted::No))
}

fn told(verdict: Result<(), String>) -> Result<ExitCode, String> {
    match verdict {
        Ok(()) => say("nothing was found\n").map(|()| ExitCode::SUCCESS),
        Err(what) => say(&format!("{what}\n")).map(|()| ExitCode::FAILURE),
    }
}

fn say(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| e.to_string())
}
