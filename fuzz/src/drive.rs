//! Runs targets: a worker process counts through inputs, and the process that started it notes what it died of.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sutura_ir::Context;

use crate::HANG;
use crate::corpus::Corpus;
use crate::targets::Target;

/// Interned entities are never freed: a context serves so many inputs.
const INPUTS_PER_CONTEXT: u64 = 200;
/// The stack that programs have unless they ask for another.
const STACK: usize = 8 << 20;

/// A run of a target.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is run.
    pub target: Target,
    /// Seed of the inputs.
    pub seed: u64,
    /// Number of the first input.
    pub from: u64,
    /// When to stop, at the latest.
    pub time: Duration,
    /// Number of the input before which to stop.
    pub until: u64,
    /// The project.
    pub root: PathBuf,
    /// Where findings go.
    pub findings: PathBuf,
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Inputs run.
    pub executions: u64,
    /// Findings by what they say, with the first input's number.
    pub findings: BTreeMap<String, u64>,
}

/// A worker ends with this when an input took too long.
const HUNG: i32 = 99;

/// Runs a job in worker processes; one that dies is started again behind the input that it died of.
///
/// # Errors
/// When a worker cannot be started or its notes cannot be read.
pub fn supervise(job: &Job) -> Result<Outcome, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", job.findings.display());
    std::fs::create_dir_all(&job.findings).map_err(fail)?;
    let notes = job.findings.join(format!(".{}-{}", job.target.name(), job.seed));
    let program = std::env::current_exe().map_err(|e| format!("this program does not find itself: {e}"))?;
    let corpus = Corpus::read(&job.root)?;
    let start = Instant::now();
    let (mut from, mut outcome) = (job.from, Outcome::default());
    while let Some(left) = job.time.checked_sub(start.elapsed()).filter(|left| !left.is_zero() && from < job.until) {
        std::fs::write(&notes, "").map_err(fail)?;
        let mut command = Command::new(&program);
        command.arg("--worker").arg(&notes).args(["--target", job.target.name()]);
        command.args(["--seed", &job.seed.to_string(), "--from", &from.to_string()]);
        command.args(["--seconds", &left.as_secs_f64().to_string(), "--inputs", &(job.until - from).to_string()]);
        let status = command.stdin(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.map_err(|e| format!("a worker cannot be started: {e}"))?;
        let text = std::fs::read_to_string(&notes).map_err(fail)?;
        let mut last = from;
        for line in text.lines() {
            if let Some(index) = line.strip_prefix("at ").and_then(|n| n.parse().ok()) {
                last = index;
            } else if let Some((index, what)) = line.split_once(' ').and_then(|(n, w)| Some((n.parse().ok()?, w))) {
                add(job, &corpus, &mut outcome, index, what.to_string())?;
            }
        }
        outcome.executions += last + 1 - from;
        from = last + 1;
        match status.code() {
            Some(0) => break,
            Some(HUNG) => add(job, &corpus, &mut outcome, last, format!("takes longer than {} s", HANG.as_secs()))?,
            code => {
                let how =
                    code.map_or("by a signal, such as of a stack overflow".to_string(), |c| format!("status {c}"));
                add(job, &corpus, &mut outcome, last, format!("the process ended: {how}"))?;
            }
        }
    }
    // It is of no use any more, and no harm.
    let _ = std::fs::remove_file(&notes);
    Ok(outcome)
}

/// Saves the input of a finding that is new.
fn add(job: &Job, corpus: &Corpus, outcome: &mut Outcome, index: u64, what: String) -> Result<(), String> {
    if outcome.findings.contains_key(&what) {
        return Ok(());
    }
    let path = job.findings.join(format!("{}-{}-{index}.mlir", job.target.name(), job.seed));
    let text = job.target.input(corpus, job.seed, index);
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    let line = format!(
        "{}: {what}\n  repeat with: cargo run -p sutura-fuzz -- --target {0} --file {}\n",
        job.target.name(),
        path.display()
    );
    let _ = std::io::stderr().write_all(line.as_bytes());
    outcome.findings.insert(what, index);
    Ok(())
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The number of the input at hand.
static AT: AtomicU64 = AtomicU64::new(0);

/// Ends the process when an input takes too long.
struct Watch {
    at: u64,
    since: Instant,
    work_before: Option<Duration>,
}

impl Watch {
    fn look(&mut self) {
        let at = AT.load(Ordering::Relaxed);
        if at != self.at {
            *self = Self { at, since: Instant::now(), work_before: work_done() };
            return;
        }
        let waited = self.since.elapsed();
        // On a busy machine what counts is work; one that waits for ever does none.
        let worked = self.work_before.zip(work_done()).map_or(waited, |(before, now)| now.saturating_sub(before));
        if worked > HANG || waited > HANG * 20 {
            std::process::exit(HUNG);
        }
    }
}

/// Processor time of this process, where the system says it in Linux's way.
fn work_done() -> Option<Duration> {
    const TICKS_PER_SECOND: u64 = 100;
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold anything; user and system time are 12 and 13 fields behind it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// The worker: runs inputs until the time is over, and notes numbers and findings in `notes`.
///
/// # Errors
/// When the notes cannot be written.
pub fn work(job: &Job, notes: &Path) -> Result<(), String> {
    let corpus = Corpus::read(&job.root)?;
    let mut file = File::create(notes).map_err(|e| e.to_string())?;
    let start = Instant::now();
    AT.store(job.from, Ordering::Relaxed);
    note_panics();
    let run = || -> std::io::Result<()> {
        let mut cx = Context::new(sutura_dialects::all());
        let mut index = job.from;
        while start.elapsed() < job.time && index < job.until {
            if (index - job.from) % INPUTS_PER_CONTEXT == INPUTS_PER_CONTEXT - 1 {
                cx = Context::new(sutura_dialects::all());
            }
            let text = job.target.input(&corpus, job.seed, index);
            AT.store(index, Ordering::Relaxed);
            // A crash leaves the number of its input behind.
            file.write_all(format!("at {index}\n").as_bytes())?;
            if let Err(what) = try_input(job.target, &cx, &text) {
                // Two lines tell findings apart; the text of a program would make each one new.
                let first = what.lines().take(2).collect::<Vec<_>>().join(" ");
                file.write_all(format!("{index} {first}\n").as_bytes())?;
            }
            index += 1;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        let worker = worker.map_err(|e| format!("a thread cannot be started: {e}"))?;
        let mut watch = Watch { at: job.from, since: Instant::now(), work_before: work_done() };
        while !worker.is_finished() {
            std::thread::sleep(Duration::from_millis(20));
            watch.look();
        }
        match worker.join() {
            Ok(result) => result.map_err(|e| format!("{}: {e}", notes.display())),
            Err(_) => Err("the worker itself panicked".to_string()),
        }
    })
}

/// Panics are kept for the finding, with their places.
fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.to_string().replace('\n', " ");
        PANIC.with(|p| *p.borrow_mut() = text);
    }));
}

/// Runs an input; a panic is an error.
///
/// # Errors
/// Says what went wrong, the panic's message and place.
pub fn try_input(target: Target, cx: &Context, text: &str) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| target.run(cx, text))).unwrap_or_else(|payload| {
        // A panic of another thread comes on without its place.
        let noted = PANIC.with(|p| std::mem::take(&mut *p.borrow_mut()));
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(format!("panic: {} {noted}", text.replace('\n', " ")))
    })
}
