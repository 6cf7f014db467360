//! `cargo xtask fuzz --coverage`: AFL++ on the harnesses of `sutura-fuzz`, with coverage as its guide.

mod afl;
mod stats;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Failure, process};
pub(crate) use stats::Stats;

/// A harness as the fuzzer sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Harness {
    pub(crate) name: &'static str,
    /// Text or binary: changes are made in another way.
    kind: &'static str,
    /// The program that holds it.
    program: &'static str,
}

const fn of(name: &'static str, kind: &'static str, program: &'static str) -> Harness {
    Harness { name, kind, program }
}

pub(crate) const HARNESSES: [Harness; 6] = [
    of("parser", "text", "programs"),
    of("onnx", "binary", "programs"),
    of("artifact", "binary", "files"),
    of("manifest", "text", "files"),
    of("npy", "binary", "files"),
    of("filecheck", "text", "files"),
];

/// Seconds for each harness, unless it is said otherwise.
const SECONDS: u64 = 60;
/// Seconds in which a planted fault must be found.
const PLANTED_SECONDS: u64 = 600;
/// What an input may take, as of the fuzzer without coverage: processor time, since others use the machine too.
const HANG: Duration = Duration::from_secs(5);
/// Time after which an input is given up that does not even use the processor.
const STUCK: Duration = Duration::from_secs(100);

/// What is to be done.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) harnesses: Vec<Harness>,
    pub(crate) seconds: u64,
    pub(crate) seed: u64,
    pub(crate) planted: bool,
}

impl Plan {
    /// Reads the arguments behind `--coverage`.
    pub(crate) fn of(arguments: &[String]) -> Result<Self, Failure> {
        let mut plan = Self { harnesses: Vec::new(), seconds: 0, seed: 1, planted: false };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--planted" {
                plan.planted = true;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("`{argument}` is unknown, or needs a value"))?;
            let digits = Some(value).filter(|value| !value.starts_with('+'));
            let number = || {
                let number = digits.and_then(|digits| digits.parse::<u64>().ok());
                number.ok_or_else(|| format!("`{argument}` takes a whole number"))
            };
            match argument.as_str() {
                "--target" => plan.harnesses.push(harness(value)?),
                "--seconds" => plan.seconds = number()?.max(1),
                "--seed" => plan.seed = number()?,
                _ => return Err(format!("`fuzz --coverage` knows no `{argument}`")),
            }
        }
        if plan.harnesses.is_empty() {
            plan.harnesses = HARNESSES.to_vec();
        }
        if plan.seconds == 0 {
            plan.seconds = if plan.planted { PLANTED_SECONDS } else { SECONDS };
        }
        Ok(plan)
    }
}

fn harness(name: &str) -> Result<Harness, Failure> {
    let found = HARNESSES.into_iter().find(|known| known.name == name);
    let known = HARNESSES.map(|known| known.name).join(", ");
    found.ok_or_else(|| format!("there is no target `{name}`; with --coverage there are {known}"))
}

/// What a campaign on one harness gave.
#[derive(Debug)]
pub(crate) struct Campaign {
    pub(crate) harness: &'static str,
    pub(crate) stats: Stats,
    /// Inputs that fail again when they run alone.
    pub(crate) findings: Vec<PathBuf>,
}

/// Runs a plan; an error after findings, or where a planted fault was not found.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let plan = Plan::of(arguments)?;
    let campaigns = campaigns(&plan)?;
    println!("{}", stats::HEADER);
    campaigns.iter().for_each(|campaign| println!("{}", campaign.stats.row(campaign.harness, campaign.findings.len())));
    let (with, without): (Vec<&Campaign>, Vec<&Campaign>) = campaigns.iter().partition(|c| !c.findings.is_empty());
    let names = |list: &[&Campaign]| list.iter().map(|campaign| campaign.harness).collect::<Vec<_>>().join(", ");
    match plan.planted {
        true if without.is_empty() => Ok(()),
        true => Err(format!("the planted fault was not found in {} s: {}", plan.seconds, names(&without))),
        false if with.is_empty() => Ok(()),
        false => Err(format!("findings: {}", names(&with))),
    }
}

/// Builds what is needed and runs the harnesses one after the other.
pub(crate) fn campaigns(plan: &Plan) -> Result<Vec<Campaign>, Failure> {
    let tools = afl::provide()?;
    let programs = tools.build()?;
    plan.harnesses.iter().map(|harness| campaign(&tools, &programs, *harness, plan)).collect()
}

fn campaign(tools: &afl::Tools, programs: &Path, harness: Harness, plan: &Plan) -> Result<Campaign, Failure> {
    let Harness { name: harness, kind, program } = harness;
    let program = &programs.join(program);
    let out = process::target_folder().join("fuzz").join("coverage").join(harness);
    // What an earlier campaign found is copied elsewhere; AFL++ wants an empty folder.
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    }
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let mut command = tools.fuzz();
    command.arg("-i").arg(Path::new("fuzz/corpus").join(harness)).arg("-o").arg(&out);
    command.arg("-x").arg(format!("fuzz/dictionaries/{harness}.dict")).args(["-a", kind, "-m", "4096", "-t", "5000"]);
    // Without the deterministic stage, which takes minutes for each of the first inputs of a slow harness.
    command.args(["-z", "-s", &plan.seed.to_string(), "-V", &plan.seconds.to_string(), "--"]);
    command.arg(program).arg(harness);
    if plan.planted {
        command.env("SUTURA_FUZZ_PLANTED", "1").env("AFL_BENCH_UNTIL_CRASH", "1");
    }
    println!("$ {}", process::shown(&command));
    let log = out.join("log");
    let file = fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let copy = file.try_clone().map_err(|e| format!("{}: {e}", log.display()))?;
    let status = command.stdin(Stdio::null()).stdout(file).stderr(copy).status();
    let status = status.map_err(|e| format!("AFL++ cannot be run: {e}"))?;
    let stats = fs::read_to_string(out.join("default/fuzzer_stats")).ok().and_then(|text| Stats::of(&text));
    let Some(stats) = stats else {
        return Err(format!("AFL++ ended with {status} before it ran {harness}; see {}", log.display()));
    };
    let mut findings = Vec::new();
    for kind in ["crashes", "hangs"] {
        for input in inputs(&out.join("default").join(kind))? {
            findings.extend(confirm(program, harness, kind, &input, plan.planted)?);
        }
    }
    Ok(Campaign { harness, stats, findings })
}

/// Saved inputs, in their order.
fn inputs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
        if path.file_name().is_some_and(|name| name != "README.txt") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Runs an input alone. One that fails again is kept, and what it shows is said; one that does not was stopped because the machine was
/// busy, which is said too.
fn confirm(program: &Path, harness: &str, kind: &str, input: &Path, planted: bool) -> Result<Option<PathBuf>, Failure> {
    let id: String = input.file_name().unwrap_or_default().to_string_lossy().chars().take(9).collect();
    let mut command = Command::new(program);
    command.arg(harness);
    if planted {
        command.env("SUTURA_FUZZ_PLANTED", "1");
    }
    let Some(shown) = alone(&mut command, input, HANG)? else {
        println!("{harness}: {kind} {id} passes when it runs alone, so it is no finding");
        return Ok(None);
    };
    println!("{harness}: {kind} {id}: {shown}");
    if planted {
        return Ok(Some(input.to_owned()));
    }
    let bytes = fs::read(input).map_err(|e| format!("{}: {e}", input.display()))?;
    let folder = process::target_folder().join("fuzz");
    let kept = folder.join(format!("{harness}-{:016x}", fnv(&bytes)));
    fs::write(&kept, bytes).map_err(|e| format!("{}: {e}", kept.display()))?;
    println!("  repeat with: cargo run -p sutura-fuzz -- --harness {harness} --file {}", kept.display());
    Ok(Some(kept))
}

/// What an input shows: the message of a panic, how the process ended, or that it does not end.
fn alone(command: &mut Command, input: &Path, hang: Duration) -> Result<Option<String>, Failure> {
    let file = fs::File::open(input).map_err(|e| format!("{}: {e}", input.display()))?;
    let program = process::shown(command);
    command.stdin(file).stdout(Stdio::null()).stderr(Stdio::piped()).env("RUST_BACKTRACE", "0");
    let mut child = command.spawn().map_err(|e| format!("cannot run {program}: {e}"))?;
    let mut stderr = child.stderr.take().ok_or("a program has no stderr")?;
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        // What cannot be read is not shown.
        let _ = stderr.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|e| format!("cannot wait for {program}: {e}"))? {
            break Some(status);
        }
        if work_of(child.id()).is_some_and(|work| work > hang) || start.elapsed() > STUCK {
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let said = reader.join().unwrap_or_default();
    let first = said.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join(" ");
    Ok(match status {
        None => Some(format!("takes longer than {} s of processor time", hang.as_secs_f32())),
        Some(status) if status.success() => None,
        Some(status) => Some(format!("{status}: {}", first.chars().take(400).collect::<String>())),
    })
}

/// Processor time of a process, where the system says it in Linux's way.
fn work_of(process: u32) -> Option<Duration> {
    const TICKS_PER_SECOND: u64 = 100;
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name, in parentheses, may hold anything; user and system time are 12 and 13 fields behind it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// A name for bytes: FNV-1a.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(words: &str) -> Result<Plan, Failure> {
        Plan::of(&words.split_whitespace().map(ToOwned::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_plan_is_read_from_arguments() {
        let all = plan("").unwrap();
        assert_eq!((all.harnesses.len(), all.seconds, all.planted), (6, SECONDS, false));
        let some = plan("--target npy --target onnx --seconds 5 --seed 9").unwrap();
        assert_eq!(some.harnesses.iter().map(|harness| harness.name).collect::<Vec<_>>(), ["npy", "onnx"]);
        assert_eq!((some.seconds, some.seed, some.planted), (5, 9, false));
        assert_eq!(plan("--planted").unwrap().seconds, PLANTED_SECONDS);
    }

    #[test]
    fn wrong_arguments_are_named() {
        assert!(plan("--target nyp").unwrap_err().contains("no target `nyp`"));
        assert!(plan("--seconds soon").unwrap_err().contains("whole number"));
        assert!(plan("--seconds").unwrap_err().contains("needs a value"));
        assert!(plan("--inputs 3").unwrap_err().contains("knows no `--inputs`"));
    }

    /// A program that fails is told from one that passes, and from one that does not end.
    #[test]
    fn what_an_input_shows_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (input, program) = (folder.path().join("input"), folder.path().join("program"));
        let shows = |script: &str| {
            fs::write(&input, script).unwrap();
            alone(&mut Command::new("/bin/sh"), &input, Duration::from_millis(100)).unwrap()
        };
        assert_eq!(shows("exit 0"), None);
        let said = shows("echo broken law >&2; exit 3").unwrap();
        assert!(said.contains("3") && said.contains("broken law"), "{said}");
        assert!(shows("while :; do :; done").unwrap().contains("longer than 0.1 s"));
        assert!(alone(&mut Command::new(&program), &input, HANG).unwrap_err().contains("cannot run"));
    }
}
