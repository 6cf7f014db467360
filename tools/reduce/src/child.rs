//! Programs run on candidates: a user's command, and this program itself where a crash is looked for.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::{Context, Module};

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

/// Exit status of a program of this project that panicked.
pub(crate) const PANICKED: u8 = 101;

impl Child {
    /// Runs the command on a file with `text`.
    pub(crate) fn run(&self, more: &[String], text: &str) -> Ended {
        match self.try_run(more, text) {
            Ok(ended) => ended,
            Err(error) => Ended::NotStarted(error.to_string()),
        }
    }

    fn try_run(&self, more: &[String], text: &str) -> std::io::Result<Ended> {
        let mut file = tempfile::Builder::new().prefix("sutura-reduce-").suffix(".mlir").tempfile()?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        let mut command = Command::new(&self.program);
        command.args(&self.args).args(more).arg(file.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
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

    /// Whether this program crashes, or does not end in time, when it runs `pipeline` on the module.
    pub(crate) fn crashes(&self, cx: &Context, module: &Module, pipeline: &str) -> bool {
        // The generic form says all that there is, whatever the printers of a broken module do.
        let text = module_text(cx, module, &PrintOptions::generic());
        match self.run(&[format!("--pass-pipeline={pipeline}")], &text) {
            Ended::With(status) => status.code().is_none_or(|code| code == i32::from(PANICKED)),
            Ended::TooLate => true,
            Ended::NotStarted(_) => false,
        }
    }
}
