//! `cargo xtask soak --minutes N`: everything that looks for faults for as long as one lets it, each for its share of the time.

use std::env;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::{Failure, coverage, memcheck, process, setup, test};

/// One kind of search.
struct Part {
    name: &'static str,
    /// Its share of the time, of [`SHARES`].
    share: u64,
    run: fn(&Job) -> Result<Outcome, Failure>,
}

/// Parts that follow a clock share it; the others take what they take.
const PARTS: &[Part] = &[
    Part { name: "coverage", share: 40, run: with_coverage },
    Part { name: "random", share: 20, run: at_random },
    Part { name: "onnxruntime", share: 20, run: beside_onnxruntime },
    Part { name: "programs", share: 15, run: programs },
    Part { name: "control", share: 5, run: control },
    Part { name: "corpus", share: 0, run: corpus },
    Part { name: "shapes", share: 0, run: shapes },
    Part { name: "schedules", share: 0, run: schedules },
    Part { name: "pool", share: 0, run: pool },
    Part { name: "memcheck", share: 0, run: memcheck },
];
const SHARES: u64 = 100;

/// What a part is told.
struct Job {
    /// Of this part.
    time: Duration,
    /// Of all parts.
    whole: Duration,
    seed: u64,
}

/// What a part did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Outcome {
    lines: Vec<Line>,
}

/// A line of the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    what: String,
    executions: u64,
    /// Edges reached, where they are counted.
    edges: Option<u64>,
    findings: u64,
    /// Why it did not run.
    skipped: Option<String>,
}

impl Outcome {
    fn skipped(what: &str, why: &str) -> Self {
        Self { lines: vec![Line { what: what.to_owned(), skipped: Some(why.to_owned()), ..Line::default() }] }
    }

    fn one(what: &str, executions: u64, findings: u64) -> Self {
        Self { lines: vec![Line { what: what.to_owned(), executions, findings, ..Line::default() }] }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    minutes: u64,
    seed: Option<u64>,
    parts: Vec<String>,
}

impl Request {
    fn of(arguments: &[String]) -> Result<Self, Failure> {
        let mut request = Self { minutes: 0, seed: None, parts: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let value = rest.next().ok_or_else(|| format!("`{argument}` is unknown, or needs a value"))?;
            let digits = Some(value).filter(|value| !value.starts_with('+'));
            let number = || {
                let number = digits.and_then(|digits| digits.parse::<u64>().ok());
                number.ok_or_else(|| format!("`{argument}` takes a whole number"))
            };
            match argument.as_str() {
                "--minutes" => request.minutes = number()?,
                "--seed" => request.seed = Some(number()?),
                "--part" if PARTS.iter().any(|part| part.name == value) => request.parts.push(value.clone()),
                "--part" => {
                    let names = PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
                    return Err(format!("there is no part `{value}`; there are {names}"));
                }
                _ => return Err(format!("`soak` knows no `{argument}`")),
            }
        }
        if request.minutes == 0 {
            return Err("`soak` needs `--minutes N`: how long to look".to_owned());
        }
        Ok(request)
    }

    fn wants(&self, part: &Part) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|name| name == part.name)
    }

    /// The time of each part: shares of those that are wanted make up the whole.
    fn time_of(&self, part: &Part) -> Duration {
        let all: u64 = PARTS.iter().filter(|part| self.wants(part)).map(|part| part.share).sum();
        Duration::from_secs(self.minutes * 60 * part.share / all.clamp(1, SHARES))
    }
}

/// Runs every part, also after one that found something. A finding, and a part that could not run, are failures.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let request = Request::of(arguments)?;
    setup::run()?;
    let seed = request.seed.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |t| t.as_secs()));
    println!("soak: seed {seed}; `--seed {seed}` makes the same inputs");
    let mut table = format!("{:<34}{:>8}{:>12}{:>8}{:>10}\n", "what", "seconds", "executions", "edges", "findings");
    let mut bad = false;
    for part in PARTS.iter().filter(|part| request.wants(part)) {
        let start = Instant::now();
        println!("soak: {}", part.name);
        let outcome =
            (part.run)(&Job { time: request.time_of(part), whole: Duration::from_secs(request.minutes * 60), seed });
        let seconds = start.elapsed().as_secs();
        match outcome {
            Ok(outcome) => {
                bad |= outcome.lines.iter().any(|line| line.findings > 0);
                outcome.lines.iter().for_each(|line| table += &row(part.name, seconds, line));
            }
            Err(failure) => {
                bad = true;
                let _ = writeln!(table, "{:<34}{seconds:>8}  failed: {failure}", part.name);
            }
        }
    }
    print!("{table}");
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn row(part: &str, seconds: u64, line: &Line) -> String {
    let name = format!("{part}: {}", line.what);
    match &line.skipped {
        Some(why) => format!("{name:<34}{:>8}  SKIPPED: {why}\n", 0),
        None => {
            let edges = line.edges.map_or("-".to_owned(), |edges| edges.to_string());
            format!("{name:<34}{seconds:>8}{:>12}{edges:>8}{:>10}\n", line.executions, line.findings)
        }
    }
}

fn with_coverage(job: &Job) -> Result<Outcome, Failure> {
    let harnesses = coverage::HARNESSES.to_vec();
    let seconds = (job.time.as_secs() / harnesses.len() as u64).max(1);
    let plan = coverage::Plan { harnesses, seconds, seed: job.seed, planted: false };
    let line = |campaign: coverage::Campaign| Line {
        what: campaign.harness.to_owned(),
        executions: campaign.stats.executions,
        edges: Some(campaign.stats.edges),
        findings: campaign.findings.len() as u64,
        skipped: None,
    };
    Ok(Outcome { lines: coverage::campaigns(&plan)?.into_iter().map(line).collect() })
}

/// Targets of the fuzzer without coverage, `perturb` among them, which is the corpus in other words.
const RANDOM_TARGETS: u64 = 7;

fn at_random(job: &Job) -> Result<Outcome, Failure> {
    let seconds = (job.time.as_secs() / RANDOM_TARGETS).max(1).to_string();
    let mut command = Command::new(process::built("sutura-fuzz")?);
    command.args(["--seconds", &seconds, "--seed", &job.seed.to_string()]);
    let (said, success) = listen(&mut command)?;
    let lines: Vec<Line> = said.lines().filter_map(random_line).collect();
    if lines.len() as u64 != RANDOM_TARGETS || !success && lines.iter().all(|line| line.findings == 0) {
        return Err(format!("`{}` did not run to its end", process::shown(&command)));
    }
    Ok(Outcome { lines })
}

/// `parse: 1200 inputs, 0 findings, seed 1`
fn random_line(text: &str) -> Option<Line> {
    let (what, rest) = text.split_once(": ")?;
    let (executions, rest) = rest.split_once(" inputs, ")?;
    let (findings, _) = rest.split_once(" findings, ")?;
    let (executions, findings) = (executions.parse().ok()?, findings.parse().ok()?);
    Some(Line { what: what.to_owned(), executions, findings, ..Line::default() })
}

/// Runs a command whose output is shown and kept; whether it succeeded.
fn listen(command: &mut Command) -> Result<(String, bool), Failure> {
    let shown = process::shown(command);
    println!("$ {shown}");
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{said}");
    Ok((said, output.status.success()))
}

/// Random models are this many at a time, so that the clock is looked at between.
const MODELS: u64 = 20;

fn beside_onnxruntime(job: &Job) -> Result<Outcome, Failure> {
    let Some(python) = python_with("onnx, onnxruntime, numpy") else {
        return Ok(Outcome::skipped(
            "random models",
            "no Python with onnx, onnxruntime and numpy (`$PYTHON` names one)",
        ));
    };
    let tool = process::built("sutura")?;
    let start = Instant::now();
    let (mut models, mut findings) = (0, 0);
    // Seeds of earlier runs are not run again.
    let first = job.seed % (1 << 20) * 1000;
    while models == 0 || start.elapsed() < job.time {
        let seeds = format!("{}..{}", first + models, first + models + MODELS);
        let mut command = Command::new(&python);
        command.args(["fuzz/beside_onnxruntime/run.py", "--seeds", &seeds, "--sutura"]);
        command.arg(&tool);
        let (_, success) = listen(&mut command)?;
        findings += u64::from(!success);
        models += MODELS;
    }
    Ok(Outcome::one("random models", models, findings))
}

/// Seeds of random programs are this many at a time.
const SEEDS: u64 = 20;

/// Random programs over all types and forms, beside the interpreter.
fn programs(job: &Job) -> Result<Outcome, Failure> {
    seeds(job, "programs, eight a seed", ("random_programs", "SUTURA_PROGRAMS"))
}

/// Random programs of calls, conditions and loops, beside the interpreter.
fn control(job: &Job) -> Result<Outcome, Failure> {
    seeds(job, "calls, conditions, loops", ("random_control", "SUTURA_CONTROL"))
}

/// Models that are compiled once and run at this many random shapes each.
const SHAPES: u64 = 200;

/// Each model of a list at random shapes, beside the interpreter.
fn shapes(job: &Job) -> Result<Outcome, Failure> {
    let once = Job { time: Duration::ZERO, ..*job };
    let test = ["-p", "sutura", "--test", "random_shapes"];
    batches(&once, "shapes of each model", (&test, "SUTURA_SHAPES"), SHAPES)
}

/// Schedules that are edited at random, each of a random region.
const EDITS: u64 = 10_000;

/// Edited schedules keep the meaning of their regions, or are refused.
fn schedules(job: &Job) -> Result<Outcome, Failure> {
    let once = Job { time: Duration::ZERO, ..*job };
    let test = ["-p", "sutura-passes", "--lib", "--", "edited_schedules_for_as_long_as_one_lets_it"];
    let edited = batches(&once, "edits of schedules", (&test, "SUTURA_EDITS"), EDITS)?;
    let test = ["-p", "sutura-passes", "--lib", "--", "traces_for_as_long_as_one_lets_it"];
    let traced = batches(&once, "traces of schedules", (&test, "SUTURA_TRACES"), EDITS)?;
    Ok(Outcome { lines: [edited.lines, traced.lines].concat() })
}

/// Runs a test that takes a range of seeds from a variable, again and again.
fn seeds(job: &Job, what: &str, (test, variable): (&str, &str)) -> Result<Outcome, Failure> {
    batches(job, what, (&["-p", "sutura", "--test", test], variable), SEEDS)
}

/// The same, with so many seeds at a time.
fn batches(job: &Job, what: &str, (test, variable): (&[&str], &str), count: u64) -> Result<Outcome, Failure> {
    let arguments: Vec<String> =
        std::iter::once("--release").chain(test.iter().copied()).map(ToOwned::to_owned).collect();
    let (start, first) = (Instant::now(), job.seed % (1 << 20) * 1000);
    let (mut done, mut findings) = (0, 0);
    while done == 0 || start.elapsed() < job.time {
        let range = format!("{}..{}", first + done, first + done + count);
        let mut summary = test::Summary::default();
        let result = test::run_counted(&arguments, test::Lacking::Said, &mut summary, &[(variable, &range)]);
        // What does not build is a fault of another kind.
        if summary.failed() == 0 {
            result?;
        }
        findings += summary.failed();
        done += count;
    }
    Ok(Outcome::one(what, done, findings))
}

/// A Python that has some modules.
fn python_with(modules: &str) -> Option<std::ffi::OsString> {
    let named = env::var_os("PYTHON").into_iter().chain(["python3".into(), "python".into()]);
    let has = |python: &std::ffi::OsString| {
        let check = Command::new(python).args(["-c", &format!("import {modules}")]).output();
        check.is_ok_and(|output| output.status.success())
    };
    named.into_iter().find(has)
}

/// What of the corpus of upstream's programs must come back in other words, in percent: the same program, the same bytes.
const SAME_PROGRAM: f64 = 99.9;
const SAME_BYTES: f64 = 99.5;

/// The conformance kit lies outside the repository: its folder holds `roundtrip.py`, and `mlir-corpus` unpacked.
fn corpus(_: &Job) -> Result<Outcome, Failure> {
    const WHAT: &str = "round trips, perturbed";
    let Some(kit) = env::var_os("SUTURA_CONFORMANCE") else {
        return Ok(Outcome::skipped(WHAT, "$SUTURA_CONFORMANCE names no folder of the conformance kit"));
    };
    let Some(python) = python_with("json") else { return Ok(Outcome::skipped(WHAT, "no Python")) };
    let tool = process::built("sutura-opt")?;
    let kit = Path::new(&kit);
    let mut command = Command::new(python);
    let inputs = kit.join("mlir-corpus");
    if !inputs.is_dir() {
        return Err(format!("`{}` is no folder: unpack the corpus of the conformance kit there", inputs.display()));
    }
    command.arg(kit.join("roundtrip.py"));
    // Values are renamed in the inputs, and numbered in what they are compared with.
    let flags = "--allow-unregistered-dialect --mlir-print-op-generic --discard-value-names";
    command.arg(format!("{} {flags} {{}}", tool.display()));
    let (said, success) = listen(command.arg(inputs).arg("--perturb"))?;
    let inputs = said.split_whitespace().nth(1).and_then(|n| n.parse().ok());
    let (Some(inputs), Some(same), Some(bytes), true) =
        (inputs, percent(&said, "pass"), percent(&said, "byte_identical"), success)
    else {
        return Err("roundtrip.py did not run to its end".to_owned());
    };
    Ok(Outcome::one(WHAT, inputs, u64::from(same < SAME_PROGRAM) + u64::from(bytes < SAME_BYTES)))
}

/// The share in a line such as `  pass      2629   99.92%`.
fn percent(said: &str, name: &str) -> Option<f64> {
    let mut lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|words| words.first() == Some(&name))?;
    line.last()?.strip_suffix('%')?.parse().ok()
}

/// The tests of the runtime's pool of threads, whose models are stopped more often than in the gate.
fn pool(_: &Job) -> Result<Outcome, Failure> {
    let mut summary = test::Summary::default();
    let arguments = ["-p", "sutura-runtime", "--lib", "--", "pool"].map(ToOwned::to_owned);
    let result = test::run_counted(&arguments, test::Lacking::Said, &mut summary, &[("SUTURA_POOL_PREEMPTIONS", "3")]);
    let (executions, findings) = (summary.ran(), summary.failed());
    // Tests that do not build are a fault of another kind.
    if findings == 0 {
        result?;
    }
    Ok(Outcome::one("tests of the pool", executions, findings))
}

/// All of it takes a quarter of an hour: shorter soaks run what the gate runs.
fn memcheck(job: &Job) -> Result<Outcome, Failure> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok(Outcome::skipped("valgrind", "valgrind is not installed; `cargo xtask setup` installs it"));
    }
    let short = job.whole < Duration::from_secs(60 * 60);
    memcheck::run(short)?;
    Ok(Outcome::one(if short { "valgrind, short" } else { "valgrind" }, 1, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &str) -> Result<Request, Failure> {
        Request::of(&words.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn time_is_shared_by_those_that_run() {
        let all = request("--minutes 100").unwrap();
        let times: Vec<u64> = PARTS.iter().map(|part| all.time_of(part).as_secs() / 60).collect();
        assert_eq!(times.iter().sum::<u64>(), 100);
        let one = request("--minutes 7 --part random --part pool").unwrap();
        assert_eq!(PARTS.iter().filter(|part| one.wants(part)).count(), 2);
        assert_eq!(one.time_of(&PARTS[1]), Duration::from_secs(7 * 60));
    }

    #[test]
    fn wrong_arguments_are_named() {
        assert!(request("").unwrap_err().contains("needs `--minutes N`"));
        assert!(request("--minutes x").unwrap_err().contains("whole number"));
        assert!(request("--minutes 1 --part all").unwrap_err().contains("there is no part `all`; there are coverage"));
    }

    #[test]
    fn what_fuzzers_say_is_read() {
        let line = random_line("parse: 1200 inputs, 3 findings, seed 1").unwrap();
        assert_eq!((line.what.as_str(), line.executions, line.findings), ("parse", 1200, 3));
        assert_eq!(random_line("  repeat with: cargo run"), None);
    }

    #[test]
    fn shares_of_the_corpus_are_read() {
        let said = "inputs 2631  tool time 31.0s\n  pass       2629   99.92%\n  byte_identical    2620   99.58%\n";
        assert_eq!((percent(said, "pass"), percent(said, "byte_identical")), (Some(99.92), Some(99.58)));
        assert_eq!(percent("inputs", "pass"), None);
    }

    #[test]
    fn what_is_skipped_is_said() {
        let skipped = Outcome::skipped("valgrind", "it is not there");
        assert!(row("memcheck", 0, &skipped.lines[0]).contains("SKIPPED: it is not there"));
        let line = &Outcome::one("x", 12, 1).lines[0];
        assert_eq!(row("p", 3, line).split_whitespace().collect::<Vec<_>>(), ["p:", "x", "3", "12", "-", "1"]);
    }
}
