//! Running programs: as processes, or as tools on a thread.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::tool::{Call, Tool};

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) code: i32,
    /// Ended by a signal, or by a panic if it was a tool.
    pub(crate) crashed: bool,
    /// There was no such program: no test can want that, whatever stands around the command.
    pub(crate) missing: bool,
}

impl Status {
    pub(crate) const SUCCESS: Self = Self { code: 0, crashed: false, missing: false };
    pub(crate) const MISSING: Self = Self { code: 127, crashed: false, missing: true };

    pub(crate) fn exit(code: i32) -> Self {
        Self { code, ..Self::SUCCESS }
    }

    pub(crate) fn success(self) -> bool {
        self.code == 0 && !self.crashed
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.crashed {
            true => write!(f, "{} (crashed)", self.code),
            false => write!(f, "{}", self.code),
        }
    }
}

/// The time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimedOut;

/// What a program wrote, in the order written: descriptor and bytes.
pub(crate) type Chunks = Vec<(u8, Vec<u8>)>;

/// What a program is started with.
pub(crate) struct Start<'a> {
    pub(crate) args: &'a [String],
    pub(crate) stdin: Vec<u8>,
    pub(crate) cwd: &'a Path,
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Whether both outputs go to one place, so that their order matters.
    pub(crate) merged: bool,
    pub(crate) deadline: Option<Instant>,
    /// Bytes that each output may have.
    pub(crate) limit: u64,
}

/// The stack of a thread that runs a tool.
const TOOL_STACK: usize = 16 << 20;

/// Runs a tool on a thread; after the deadline the thread is left to itself.
pub(crate) fn run_tool(tool: &Arc<dyn Tool>, start: Start<'_>) -> Result<(Status, Chunks), TimedOut> {
    let chunks = Arc::new(Mutex::new(Chunks::new()));
    let (sender, receiver) = mpsc::channel();
    let job = {
        let (tool, chunks) = (Arc::clone(tool), Arc::clone(&chunks));
        let (args, env) = (start.args.to_vec(), start.env.clone());
        let (cwd, stdin, limit) = (start.cwd.to_path_buf(), start.stdin, start.limit);
        let stream = move |descriptor, chunks: &Arc<Mutex<Chunks>>| Stream {
            descriptor,
            chunks: Arc::clone(chunks),
            left: limit,
        };
        move || {
            let status = catch_unwind(AssertUnwindSafe(|| {
                tool.run(&mut Call {
                    args: &args,
                    stdin: &stdin,
                    cwd: &cwd,
                    env: &env,
                    stdout: &mut stream(1, &chunks),
                    stderr: &mut stream(2, &chunks),
                })
            }));
            let status = match status {
                Ok(code) => Status::exit(code),
                Err(panic) => {
                    let message = format!("panicked: {}\n", panic_message(panic.as_ref()));
                    let _ = stream(2, &chunks).write_all(message.as_bytes());
                    Status { code: 134, crashed: true, missing: false }
                }
            };
            // The receiver is gone if the time was up.
            let _ = sender.send(status);
        }
    };
    let thread = std::thread::Builder::new().name("tool".into()).stack_size(TOOL_STACK);
    if let Err(error) = thread.spawn(job) {
        let message = format!("could not start a thread: {error}\n");
        return Ok((Status::exit(126), vec![(2, message.into_bytes())]));
    }
    let status = receive(&receiver, start.deadline)?;
    let status = status.unwrap_or(Status { code: 134, crashed: true, missing: false });
    let mut chunks = chunks.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((status, std::mem::take(&mut chunks)))
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// What was sent, or `None` if the sender is gone.
fn receive<T>(receiver: &Receiver<T>, deadline: Option<Instant>) -> Result<Option<T>, TimedOut> {
    let Some(deadline) = deadline else {
        return Ok(receiver.recv().ok());
    };
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(value) => Ok(Some(value)),
        Err(RecvTimeoutError::Disconnected) => Ok(None),
        Err(RecvTimeoutError::Timeout) => Err(TimedOut),
    }
}

/// One output of a tool.
struct Stream {
    descriptor: u8,
    chunks: Arc<Mutex<Chunks>>,
    /// Bytes that may still be written.
    left: u64,
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left =
            self.left.checked_sub(bytes.len() as u64).ok_or_else(|| io::Error::other("too much was written"))?;
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        match chunks.last_mut() {
            Some((descriptor, chunk)) if *descriptor == self.descriptor => chunk.extend_from_slice(bytes),
            _ => chunks.push((self.descriptor, bytes.to_vec())),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a program as a process; after the deadline it is killed.
pub(crate) fn run_process(program: &Path, start: Start<'_>) -> Result<(Status, Chunks), TimedOut> {
    let mut command = Command::new(program);
    command.args(start.args).current_dir(start.cwd).env_clear().envs(start.env).stdin(Stdio::piped());
    match spawn(command, start.merged) {
        Ok((child, outputs)) => supervise(child, outputs, start.stdin, (start.deadline, start.limit)),
        Err(error) => {
            let message = format!("could not start '{}': {error}\n", program.display());
            Ok((Status::exit(126), vec![(2, message.into_bytes())]))
        }
    }
}

/// The processes that run, each the first of a group of its own.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

/// A process that an interrupt ends, with those that it started.
struct Running {
    process: Child,
    pid: Pid,
}

impl Running {
    fn start(command: &mut Command) -> io::Result<Self> {
        // Held until the process is known: none is started unseen.
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let process = command.process_group(0).spawn()?;
        let pid = Pid::from_child(&process);
        running.push(pid);
        Ok(Self { process, pid })
    }

    fn end(&self) {
        // It may have ended just now.
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|pid| *pid != self.pid);
    }
}

/// Ends every process that runs; afterwards none is started.
pub(crate) fn end_processes() {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for pid in running.iter() {
        let _ = kill_process_group(*pid, Signal::KILL);
    }
    // The process ends now.
    std::mem::forget(running);
}

type Output = (u8, Box<dyn Read + Send>);

fn spawn(mut command: Command, merged: bool) -> io::Result<(Running, Vec<Output>)> {
    if merged {
        let (reader, writer) = io::pipe()?;
        command.stdout(writer.try_clone()?).stderr(writer);
        let child = Running::start(&mut command)?;
        // `command` holds the writing end and must go, or reading never ends.
        drop(command);
        return Ok((child, vec![(1, Box::new(reader))]));
    }
    let mut child = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
    let mut outputs: Vec<Output> = Vec::new();
    outputs.extend(child.process.stdout.take().map(|pipe| (1, Box::new(pipe) as Box<dyn Read + Send>)));
    outputs.extend(child.process.stderr.take().map(|pipe| (2, Box::new(pipe) as Box<dyn Read + Send>)));
    Ok((child, outputs))
}

fn supervise(
    mut child: Running,
    outputs: Vec<Output>,
    stdin: Vec<u8>,
    (deadline, limit): (Option<Instant>, u64),
) -> Result<(Status, Chunks), TimedOut> {
    let readers = outputs.len();
    let (sender, receiver) = mpsc::channel();
    for (descriptor, pipe) in outputs {
        let sender = sender.clone();
        std::thread::spawn(move || read(descriptor, pipe, limit, &sender));
    }
    if let Some(mut pipe) = child.process.stdin.take() {
        // A program need not read its input to the end.
        std::thread::spawn(move || pipe.write_all(&stdin));
    }
    let mut chunks = Chunks::new();
    for _ in 0..readers {
        match receive(&receiver, deadline) {
            Ok(Some((_, bytes))) if bytes.len() as u64 > limit => {
                kill(child);
                let message = format!("it wrote more than {} and was stopped\n", sutura_input::in_words(limit));
                return Ok((Status::exit(126), vec![(2, message.into_bytes())]));
            }
            Ok(Some(chunk)) => chunks.push(chunk),
            Ok(None) => break,
            Err(TimedOut) => return Err(kill(child)),
        }
    }
    chunks.sort_by_key(|(descriptor, _)| *descriptor);
    wait(child, deadline).map(|status| (status, chunks))
}

/// Reads an output to its end, or to one byte more than it may have.
fn read(descriptor: u8, pipe: Box<dyn Read + Send>, limit: u64, sender: &Sender<(u8, Vec<u8>)>) {
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _ = pipe.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    let _ = sender.send((descriptor, bytes));
}

fn kill(mut child: Running) -> TimedOut {
    child.end();
    let _ = child.process.wait();
    TimedOut
}

/// Waits for a program that has closed its outputs, so usually not for long.
fn wait(mut child: Running, deadline: Option<Instant>) -> Result<Status, TimedOut> {
    let Some(deadline) = deadline else {
        return Ok(child.process.wait().map_or(Status::exit(126), status));
    };
    let mut pause = Duration::from_micros(50);
    loop {
        match child.process.try_wait() {
            Ok(Some(ended)) => return Ok(status(ended)),
            Ok(None) if Instant::now() >= deadline => return Err(kill(child)),
            Ok(None) => std::thread::sleep(pause),
            Err(_) => return Ok(Status::exit(126)),
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn status(ended: std::process::ExitStatus) -> Status {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&ended) {
        return Status { code: 128 + signal, crashed: true, missing: false };
    }
    Status::exit(ended.code().unwrap_or(126))
}

/// Finds a program: a path as it is, a name in `folders`.
pub(crate) fn find_program(name: &str, cwd: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    if name.contains(std::path::MAIN_SEPARATOR) {
        return Some(cwd.join(name)).filter(|path| is_executable(path));
    }
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    folders.iter().map(|folder| folder.join(&file)).find(|path| is_executable(path))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    metadata.is_file() && executable
}
