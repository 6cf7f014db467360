//! A script in a Python process that answers requests: a line of JSON for each.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value as Json;

/// The process.
pub struct Python {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
}

impl Python {
    /// Starts a script, which says hello with a line; that line.
    ///
    /// # Errors
    /// Why there is no such process, in words: the last ones of Python if it ended.
    pub fn start(command: &Path, script: &str) -> Result<(Self, Json), String> {
        let mut process = Command::new(command);
        process.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = process.spawn().map_err(|e| format!("`{}`: {e}", command.display()))?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("its pipes are not there".to_owned());
        };
        let mut python = Self { child, requests, replies: BufReader::new(replies) };
        match python.reply() {
            Ok(hello) => Ok((python, hello)),
            Err(_) => Err(python.last_words()),
        }
    }

    /// Sends a request, and waits for the reply.
    ///
    /// # Errors
    /// What the script says under `error`, or why there is no reply.
    pub fn ask(&mut self, request: &Json) -> Result<Json, String> {
        writeln!(self.requests, "{request}").map_err(|e| e.to_string())?;
        let reply = self.reply()?;
        match reply["error"].as_str() {
            Some(error) => Err(error.lines().next().unwrap_or_default().to_owned()),
            None => Ok(reply),
        }
    }

    fn reply(&mut self) -> Result<Json, String> {
        let mut line = String::new();
        match self.replies.read_line(&mut line) {
            Ok(0) => Err("it ended".to_owned()),
            Ok(_) => serde_json::from_str(&line).map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The last line that it wrote to stderr, when it has ended.
    fn last_words(&mut self) -> String {
        let _ = self.child.wait();
        let lines = self.child.stderr.take().map(|stderr| BufReader::new(stderr).lines().map_while(Result::ok));
        lines.and_then(Iterator::last).unwrap_or_else(|| "Python ended without a word".to_owned())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It may be in the middle of a request.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
