//! Programs run on candidates: a user's command, and this program itself where a crash is looked for.

use std::io::{Read, Seek, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::Exit;
use sutura_ir::{Context, Module};
use sutura_output::TemporaryFile;

/// A command that gets a file with the candidate as its last argument.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) timeout: Duration,
}

/// How a command ended.
pub(crate) enum Ended {
    With(ExitStatus),
    TooLate,
    NotStarted(String),
}

/// How a program crashed; what is said holds without its numbers, which change as programs become smaller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Crash {
    /// It did not end in time.
    TooLate,
    /// A panic, with what it said.
    Panic(String),
    /// A signal, and whether the stack had overflowed.
    Signal(Option<i32>, bool),
}

/// What a program ends with that panicked: one of this project, and any in Rust that does not look after it.
const PANICKED: [i32; 2] = [Exit::Internal as i32, 101];

impl Child {
    /// Runs the command on a file with `text`.
    pub(crate) fn run(&self, more: &[String], text: &str) -> Ended {
        self.run_with(more, text, Stdio::null())
    }

    fn run_with(&self, more: &[String], text: &str, stderr: Stdio) -> Ended {
        match self.try_run(more, text, stderr) {
            Ok(ended) => ended,
            Err(error) => Ended::NotStarted(format!("`{}` cannot be run: {error}", self.program.display())),
        }
    }

    fn try_run(&self, more: &[String], text: &str, stderr: Stdio) -> std::io::Result<Ended> {
        let mut file = TemporaryFile::new("sutura-reduce-", ".mlir")?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        let mut command = Command::new(&self.program);
        command.args(&self.args).args(more).arg(file.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let mut child = command.spawn()?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Ended::With(status));
            }
            if start.elapsed() > self.timeout {
                // It may have ended meanwhile; there is nothing to do about that.
                let _ = child.kill();
                child.wait()?;
                return Ok(Ended::TooLate);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Whether the command ends with status 0 on the module.
    pub(crate) fn succeeds(&self, cx: &Context, module: &Module) -> bool {
        let text = module_text(cx, module, &PrintOptions::default());
        matches!(self.run(&[], &text), Ended::With(status) if status.success())
    }

    /// How this program crashes when it runs `pipeline` on the module, if it does.
    pub(crate) fn crash(&self, cx: &Context, module: &Module, pipeline: &str) -> Option<Crash> {
        // The generic form says all that there is, whatever the printers of a broken module do.
        let text = module_text(cx, module, &PrintOptions::generic());
        let mut file = tempfile::tempfile().ok()?;
        let stderr = file.try_clone().ok()?;
        let ended = self.run_with(&[format!("--pass-pipeline={pipeline}")], &text, stderr.into());
        let mut said = Vec::new();
        file.rewind().and_then(|()| file.take(MOST_SAID).read_to_end(&mut said)).ok()?;
        let said = String::from_utf8_lossy(&said);
        match ended {
            Ended::With(status) if status.code().is_none() => {
                Some(Crash::Signal(signal(status), said.contains("has overflowed its stack")))
            }
            Ended::With(status) if status.code().is_some_and(|code| PANICKED.contains(&code)) => {
                Some(Crash::Panic(message(&said)))
            }
            Ended::TooLate => Some(Crash::TooLate),
            Ended::With(_) | Ended::NotStarted(_) => None,
        }
    }
}

/// Of what a program said before it ended, so much is looked at.
const MOST_SAID: u64 = 1 << 20;

/// The last line without its numbers.
fn message(said: &str) -> String {
    let last = said.trim_end().lines().next_back().unwrap_or_default();
    let mut message = String::new();
    for c in last.chars() {
        match c.is_ascii_digit() {
            true if message.ends_with('#') => {}
            true => message.push('#'),
            false => message.push(c),
        }
    }
    message
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn numbers_of_messages_do_not_matter() {
        let said = "thread panicked\nerror: pass 'a' panicked: index 12 of 7\n";
        assert_eq!(message(said), "error: pass 'a' panicked: index # of #");
        assert_eq!(message(""), "");
    }
}
