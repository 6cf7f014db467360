//! Running parsed lines.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::lex::{Redirect, Word};
use super::parse::{Command, Line, Pipeline, When};
use super::process::{Chunks, Start, Status, TimedOut, find_program, run_process, run_tool};
use crate::glob;
use crate::tool::Tools;

/// The state of the shell during one test.
#[derive(Debug)]
pub(crate) struct Shell<'a> {
    pub(crate) tools: &'a Tools,
    /// Where programs are looked for, in this order.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: PathBuf,
    /// Folders that `popd` goes back to.
    pub(crate) pushed: Vec<PathBuf>,
    pub(crate) deadline: Option<Instant>,
    /// Bytes at most that are read from a file, or that a command writes.
    pub(crate) limit: u64,
    /// What has been run.
    pub(crate) steps: Vec<Step>,
}

/// A command that was run, with the output that went nowhere else.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) command: String,
    /// `None` if the time was up.
    pub(crate) status: Option<Status>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Where an output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sink {
    Stdout,
    Stderr,
    File(usize),
}

/// The redirections of a command, applied.
struct Streams {
    stdin: Vec<u8>,
    stdout: Sink,
    stderr: Sink,
    files: Vec<(String, File)>,
}

/// What a command left behind.
#[derive(Default)]
struct Left {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Shell<'_> {
    /// Runs a line; the status is that of the last pipeline that ran.
    pub(crate) fn run(&mut self, line: &Line) -> Result<Status, TimedOut> {
        let mut last = Status::SUCCESS;
        for (when, pipeline) in &line.pipelines {
            let runs = match when {
                When::Always => true,
                When::AfterSuccess => last.success(),
                When::AfterFailure => !last.success(),
            };
            if runs {
                last = self.pipeline(pipeline)?;
            }
            if last.missing {
                break;
            }
        }
        Ok(last)
    }

    /// The status is that of the first command that failed. As in lit, `!` turns the first one around.
    fn pipeline(&mut self, pipeline: &Pipeline) -> Result<Status, TimedOut> {
        let mut result = Status::SUCCESS;
        let mut stdin = Vec::new();
        let count = pipeline.commands.len();
        for (i, command) in pipeline.commands.iter().enumerate() {
            let last = i + 1 == count;
            let (mut status, stdout) = self.command(command, stdin, last)?;
            if status.missing {
                return Ok(status);
            }
            if i == 0 && pipeline.negated {
                status = Status::exit(i32::from(status.success()));
            }
            if result.success() {
                result = status;
            }
            stdin = stdout;
        }
        Ok(result)
    }

    /// Runs a command and notes it. What it passes on is returned, unless it is
    /// the last of its pipeline.
    fn command(&mut self, command: &Command, stdin: Vec<u8>, last: bool) -> Result<(Status, Vec<u8>), TimedOut> {
        let mut words = self.expand(&command.words);
        let unread = words.iter_mut().try_for_each(|word| self.read_files(word)).err();
        let index = self.steps.len();
        self.steps.push(Step { command: render(&words), status: None, stdout: Vec::new(), stderr: Vec::new() });
        let mut left = Left::default();
        let streams = unread.map_or_else(|| self.streams(&command.redirects, stdin), Err);
        let status = match streams {
            Ok(streams) => self.redirected(&words, streams, &mut left)?,
            Err(message) => {
                left.stderr = message.into_bytes();
                Status::exit(1)
            }
        };
        let step = &mut self.steps[index];
        step.status = Some(status);
        step.stderr = left.stderr;
        if last {
            step.stdout = left.stdout;
            return Ok((status, Vec::new()));
        }
        Ok((status, left.stdout))
    }

    fn redirected(&mut self, words: &[String], mut streams: Streams, left: &mut Left) -> Result<Status, TimedOut> {
        let merged = streams.stdout == streams.stderr;
        let stdin = std::mem::take(&mut streams.stdin);
        let env = self.env.clone();
        let (mut status, chunks) = self.program(words, stdin, env, merged)?;
        for (descriptor, bytes) in chunks {
            let sink = if descriptor == 1 { streams.stdout } else { streams.stderr };
            match sink {
                Sink::Stdout => left.stdout.extend(bytes),
                Sink::Stderr => left.stderr.extend(bytes),
                Sink::File(index) => {
                    let (name, file) = &mut streams.files[index];
                    if let Err(error) = file.write_all(&bytes) {
                        left.stderr.extend(format!("could not write '{name}': {error}\n").into_bytes());
                        status = Status::exit(1);
                    }
                }
            }
        }
        Ok(status)
    }

    /// The words with file name patterns replaced; one that matches nothing stays.
    fn expand(&self, words: &[Word]) -> Vec<String> {
        let mut expanded = Vec::with_capacity(words.len());
        for word in words {
            let names = match word.is_pattern() {
                true => glob::expand(&word.chars, &self.cwd),
                false => Vec::new(),
            };
            match names.is_empty() {
                true => expanded.push(word.text()),
                false => expanded.extend(names),
            }
        }
        expanded
    }

    /// Puts the text of files in the place of `%{readfile:NAME}`, without blanks around it.
    fn read_files(&self, word: &mut String) -> Result<(), String> {
        const MARK: &str = "%{readfile:";
        while let Some(start) = word.find(MARK) {
            let rest = &word[start + MARK.len()..];
            let name = rest.split_once('}').ok_or_else(|| format!("'{MARK}' has no '}}' behind it\n"))?.0;
            let text = sutura_input::text(&self.cwd.join(name), self.limit).and_then(sutura_input::utf8);
            let text = text.map_err(|error| format!("could not read '{name}': {error}\n"))?;
            if text.contains(MARK) {
                return Err(format!("'{name}' has '{MARK}' in it\n"));
            }
            let end = start + MARK.len() + name.len() + 1;
            word.replace_range(start..end, text.trim());
        }
        Ok(())
    }

    fn streams(&self, redirects: &[(Redirect, Option<Word>)], stdin: Vec<u8>) -> Result<Streams, String> {
        let mut streams = Streams { stdin, stdout: Sink::Stdout, stderr: Sink::Stderr, files: Vec::new() };
        for (redirect, file) in redirects {
            let name = file.as_ref().map(Word::text).unwrap_or_default();
            let path = self.cwd.join(&name);
            match redirect {
                Redirect::Input => {
                    let read = sutura_input::bytes(&path, self.limit);
                    streams.stdin = read.map_err(|error| format!("could not read '{name}': {error}\n"))?;
                }
                Redirect::Output { descriptor, append } => {
                    let sink = streams.open(name, &path, *append)?;
                    match descriptor {
                        1 => streams.stdout = sink,
                        _ => streams.stderr = sink,
                    }
                }
                Redirect::Both => {
                    let sink = streams.open(name, &path, false)?;
                    (streams.stdout, streams.stderr) = (sink, sink);
                }
                Redirect::Duplicate { descriptor: 2, .. } => streams.stderr = streams.stdout,
                Redirect::Duplicate { .. } => streams.stdout = streams.stderr,
            }
        }
        Ok(streams)
    }

    /// Runs the words as a command: a prefix (`not`, `env`), a change of the
    /// shell's state, a tool or a program.
    fn program(
        &mut self,
        words: &[String],
        stdin: Vec<u8>,
        mut env: BTreeMap<String, String>,
        merged: bool,
    ) -> Result<(Status, Chunks), TimedOut> {
        let failed = |code, message: String| Ok((Status::exit(code), vec![(2, (message + "\n").into_bytes())]));
        let Some((name, args)) = words.split_first() else {
            return failed(127, "no command".into());
        };
        match name.as_str() {
            "not" => {
                let (crash, args) = match args.split_first() {
                    Some((first, rest)) if first == "--crash" => (true, rest),
                    _ => (false, args),
                };
                let (status, chunks) = self.program(args, stdin, env, merged)?;
                return Ok((negate(status, crash), chunks));
            }
            "env" => match set_variables(args, &mut env) {
                Ok([]) => return Ok((Status::SUCCESS, vec![(1, list_variables(&env))])),
                Ok(rest) => return self.program(rest, stdin, env, merged),
                Err(message) => return failed(125, message),
            },
            "export" => {
                return match set_variables(args, &mut self.env) {
                    Ok([]) => Ok((Status::SUCCESS, Chunks::new())),
                    Ok([rest, ..]) => failed(1, format!("export: '{rest}' is not NAME=value")),
                    Err(message) => failed(1, message),
                };
            }
            "cd" | "pushd" | "popd" => {
                return match self.change_folder(name, args) {
                    Ok(()) => Ok((Status::SUCCESS, Chunks::new())),
                    Err(message) => failed(1, message),
                };
            }
            _ => {}
        }
        let (deadline, limit) = (self.deadline, self.limit);
        let start = Start { args, stdin, cwd: &self.cwd, env: &env, merged, deadline, limit };
        if let Some(tool) = self.tools.get(name) {
            return run_tool(tool, start);
        }
        match find_program(name, &self.cwd, &self.folders) {
            Some(program) => run_process(&program, start),
            None => Ok((Status::MISSING, vec![(2, (self.not_found(name) + "\n").into_bytes())])),
        }
    }

    fn change_folder(&mut self, command: &str, args: &[String]) -> Result<(), String> {
        if command == "popd" {
            let to = self.pushed.pop().filter(|_| args.is_empty());
            self.cwd = to.ok_or("popd: takes nothing, and needs a `pushd` before it")?;
            return Ok(());
        }
        let [folder] = args else {
            return Err(format!("{command}: takes one folder"));
        };
        let path = self.cwd.join(folder);
        if !path.is_dir() {
            return Err(format!("{command}: '{folder}' is not a folder"));
        }
        let from = std::mem::replace(&mut self.cwd, path);
        if command == "pushd" {
            self.pushed.push(from);
        }
        Ok(())
    }

    fn not_found(&self, name: &str) -> String {
        let similar = self
            .tools
            .names()
            .map(|known| (strsim::osa_distance(known, name), known))
            .filter(|(distance, known)| *distance <= 2 && *distance < known.len() - 1)
            .min();
        let hint = similar.map_or(String::new(), |(_, known)| format!("; did you mean '{known}'?"));
        format!("'{name}': command not found{hint}")
    }
}

impl Streams {
    fn open(&mut self, name: String, path: &Path, append: bool) -> Result<Sink, String> {
        let file = OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(path);
        let file = file.map_err(|error| format!("could not write '{name}': {error}\n"))?;
        self.files.push((name, file));
        Ok(Sink::File(self.files.len() - 1))
    }
}

/// `not`: a crash is a failure of its own, which only `not --crash` wants.
fn negate(status: Status, crash: bool) -> Status {
    if status.missing {
        return status;
    }
    let good = match crash {
        true => status.crashed,
        false => !status.crashed && status.code != 0,
    };
    Status::exit(i32::from(!good))
}

/// Applies `-i`, `-u NAME` and `NAME=value` from the front; returns the rest.
fn set_variables<'w>(args: &'w [String], env: &mut BTreeMap<String, String>) -> Result<&'w [String], String> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if arg == "-i" {
            env.clear();
        } else if arg == "-u" {
            env.remove(args.get(at).ok_or("env: '-u' needs a name")?);
            at += 1;
        } else if arg.starts_with('-') {
            return Err(format!("env: unknown option '{arg}'; there are -i and -u"));
        } else if let Some((name, value)) = arg.split_once('=') {
            env.insert(name.to_owned(), value.to_owned());
        } else {
            return Ok(&args[at - 1..]);
        }
    }
    Ok(&[])
}

fn list_variables(env: &BTreeMap<String, String>) -> Vec<u8> {
    env.iter().map(|(name, value)| format!("{name}={value}\n")).collect::<String>().into_bytes()
}

/// The words so that a shell would read them back.
fn render(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=./,:+@%^".contains(c);
    let quote = |word: &String| match !word.is_empty() && word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}
