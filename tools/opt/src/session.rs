//! One run: input, its parts, output, and what is said about them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use sutura_input::{text, text_of, utf8};
use sutura_ir::diagnostics::codes;
use sutura_ir::{Context, Diagnostic, Severity};

use crate::args::{Config, MARKER, Request};
use crate::output::{self, Output};
use crate::remarks::{self, RemarkFormat};
use crate::say::Voice;
use crate::timing::Timing;
use crate::{Io, Opt, Status, expect, help, legal, passes, process, split};

/// What the parts of a run share.
pub(crate) struct Session<'s> {
    pub(crate) cx: &'s Context,
    pub(crate) config: &'s Config,
    /// Name of the input in messages.
    pub(crate) file: &'s str,
    /// The input.
    pub(crate) text: Arc<String>,
    pub(crate) cwd: &'s Path,
    pub(crate) voice: Voice<'s>,
    pub(crate) timing: Timing,
    /// With `--verify-diagnostics`: what the part at hand reported.
    pub(crate) collected: Vec<Diagnostic>,
    /// Warnings, which `--strict` turns into errors.
    pub(crate) warnings: usize,
    /// Remarks for a file.
    remarks: String,
    /// With `--remark-policy=final`: the last remark of each pass at each place.
    last_remarks: Vec<Diagnostic>,
    /// Passes were run on some part.
    pub(crate) has_run: bool,
    /// Names of the components that wrote down what they did.
    pub(crate) traced: BTreeSet<&'static str>,
    /// How many constants `--fill-elided` has filled.
    pub(crate) filled: usize,
    /// First line of the part at hand, if there are several.
    pub(crate) part: Option<u32>,
}

impl Session<'_> {
    /// Shows a diagnostic, or keeps it for comparison.
    pub(crate) fn diagnostic(&mut self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Remark && self.config.final_remarks {
            self.last_remarks.retain(|r| (r.loc, r.pass) != (diagnostic.loc, diagnostic.pass));
            self.last_remarks.push(diagnostic);
            return;
        }
        self.report(diagnostic);
    }

    fn report(&mut self, mut diagnostic: Diagnostic) {
        let (config, cx) = (self.config, self.cx);
        if diagnostic.severity == Severity::Remark && config.remark_format != RemarkFormat::Shown {
            if config.remark_filters.want(&diagnostic) {
                self.remarks.push_str(&remarks::entry(cx, &diagnostic, config.remark_format));
            }
            return;
        }
        let unwanted = !(config.remarks && config.remark_filters.want(&diagnostic));
        if config.expectations.is_some() {
            // What passes say of their work is not compared unless it is asked for.
            if diagnostic.kind.is_none() || !unwanted {
                self.collected.push(diagnostic);
            }
            return;
        }
        if diagnostic.severity == Severity::Remark && unwanted {
            return;
        }
        self.warnings += usize::from(diagnostic.severity == Severity::Warning);
        if config.least_shown.is_some_and(|least| diagnostic.severity > least) {
            return;
        }
        if config.no_notes {
            diagnostic.notes.clear();
        }
        self.voice.diagnostic(cx, &diagnostic);
    }

    /// A warning about the command line.
    fn warn(&mut self, code: &'static str, message: &str) {
        self.warnings += 1;
        self.voice.warning(code, message);
    }

    /// A line that looks like the marker between parts and is none.
    fn near_miss(&mut self, line: u32) {
        let loc = self.cx.file_loc(self.file, line, 1);
        let marker = self.config.split.as_deref().unwrap_or(MARKER);
        let message = format!("this line is close to the marker between parts, `{marker}`, and parts nothing");
        self.warnings += 1;
        let warning = Diagnostic::warning(loc, message).code(codes::SPLIT_MARKER);
        self.voice.diagnostic(self.cx, &warning);
    }

    /// Says that an output cannot be written. A reader that has gone away, such as `head`, knows that it did.
    fn cannot_write(&mut self, message: &str) -> Status {
        self.voice.error(codes::CANNOT_WRITE, message);
        Status::System
    }
}

pub(crate) fn run<R>(opt: &Opt<R>, cx: &Context, config: Config, io: Io<'_>) -> Status {
    let Io { stdin, cwd, stdout, stderr, color, .. } = io;
    let mut voice = Voice::new(stderr, config.message_format, color);
    if let Some(answer) = answer(opt, &config, cx) {
        return answer_request(answer, stdout, &mut voice);
    }
    let timing = Timing::start();
    let (file, text) = match read_input(config.input.as_deref(), cwd, stdin, config.max_input) {
        Ok(input) => input,
        Err((status, code, message)) => {
            voice.error(code, &message);
            return status;
        }
    };
    cx.sources().set_input(&*file);
    let mut session = Session {
        cx,
        config: &config,
        file: &file,
        text: Arc::new(text),
        cwd,
        voice,
        timing,
        collected: Vec::new(),
        warnings: 0,
        remarks: String::new(),
        last_remarks: Vec::new(),
        has_run: false,
        traced: BTreeSet::new(),
        filled: 0,
        part: None,
    };
    for message in &config.idle {
        session.warn(codes::IDLE_FLAG, message);
    }
    let mut status = run_parts(&mut session, opt, stdout);
    status = status.max(write_reports(&mut session));
    if config.strict && session.warnings > 0 {
        let message = format!("{} warnings, which `--strict` does not let pass", session.warnings);
        session.voice.error(codes::STRICT, &message);
        status = status.max(Status::Input);
    }
    status
}

/// The answer to a request that needs no input.
fn answer<R>(opt: &Opt<R>, config: &Config, cx: &Context) -> Option<Result<String, String>> {
    Some(Ok(match &config.request {
        Request::Work => return None,
        Request::Help => help::help(),
        Request::HelpAll => help::help_all(),
        Request::Version => format!("sutura-opt {}\n", env!("CARGO_PKG_VERSION")),
        Request::ListPasses if config.lists_as_json => help::passes_json(&opt.passes),
        Request::ListPasses => help::passes(&opt.passes),
        Request::ShowDialects if config.lists_as_json => help::dialects_json(cx.registry()),
        Request::ShowDialects => help::dialects(cx.registry()),
        Request::Explain(code) => return Some(help::explain(code)),
        Request::Doc(dialect) => return Some(help::dialect(cx, dialect)),
    }))
}

fn answer_request(answer: Result<String, String>, stdout: &mut (dyn Write + Send), voice: &mut Voice<'_>) -> Status {
    let text = match answer {
        Ok(text) => text,
        Err(message) => {
            voice.error(codes::FLAG_VALUE, &message);
            return Status::Usage;
        }
    };
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Status::Ok,
        Err(error) => {
            voice.error(codes::CANNOT_WRITE, &format!("cannot write the output: {error}"));
            Status::System
        }
    }
}

fn run_parts<R>(session: &mut Session<'_>, opt: &Opt<R>, stdout: &mut (dyn Write + Send)) -> Status {
    let (config, text) = (session.config, session.text.clone());
    let given = passes::given_pipeline(session, &opt.passes);
    if let Err(status) = given.and_then(|_| legal::check_names(session)) {
        return status;
    }
    let mut output = match Output::open(config.output.as_deref(), session.cwd, stdout) {
        Ok(output) => output,
        Err(message) => return session.cannot_write(&message),
    };
    let mut status = Status::Ok;
    let split::Split { parts, near_misses } = split::split(&text, config.split.as_deref());
    near_misses.into_iter().for_each(|line| session.near_miss(line));
    let several = parts.len() > 1;
    for (index, part) in parts.into_iter().enumerate() {
        session.part = several.then_some(part.first_line);
        if index > 0 {
            let marker = config.output_marker.as_deref().unwrap_or(MARKER);
            if let Err(error) = writeln!(output, "{marker}") {
                return session.cannot_write(&format!("cannot write the output: {error}"));
            }
        }
        let one = match process::process(session, &opt.passes, part, &mut output) {
            Ok(status) => status,
            Err(error) => return session.cannot_write(&format!("cannot write the output: {error}")),
        };
        // Errors of the tool weigh more than those of the input.
        status = status.max(one);
    }
    std::mem::take(&mut session.last_remarks).into_iter().for_each(|remark| session.report(remark));
    if config.expectations.is_some() {
        status = compare(session, &text, status);
    }
    match session.filled {
        0 if config.fill_elided.is_none() || status != Status::Ok => {}
        0 => session.warn(codes::IDLE_FLAG, "`--fill-elided` does nothing: no elements were left out of the input"),
        n => {
            session.voice.note(&format!("{n} constants whose elements were left out are filled: results mean nothing"))
        }
    }
    if session.has_run && status == Status::Ok {
        warn_of_silent_components(session);
    }
    let fails = status != Status::Ok || config.strict && session.warnings > 0;
    if fails && matches!(output, Output::File(_)) {
        return status;
    }
    if let Err(message) = output.commit() {
        status = status.max(session.cannot_write(&message));
    }
    status
}

/// Components that were asked for and had nothing to do.
fn warn_of_silent_components(session: &mut Session<'_>) {
    let config = session.config;
    let why = "no pass that was run has steps of it to write down";
    if config.debug_only.is_empty() {
        if config.debug && session.traced.is_empty() {
            session.warn(codes::IDLE_FLAG, "`--debug` does nothing: no pass that was run has steps to write down");
        }
        return;
    }
    for component in &config.traced {
        if !session.traced.contains(component.name) {
            session.warn(codes::IDLE_FLAG, &format!("`--debug-only={}` does nothing: {why}", component.name));
        }
    }
}

/// Compares what was reported with what was expected.
fn compare(session: &mut Session<'_>, text: &str, status: Status) -> Status {
    let which = session.config.expectations.expect("asked for");
    let actual = std::mem::take(&mut session.collected);
    let cwd = session.cwd;
    let limit = session.config.max_input;
    let open = |name: &str| sutura_input::text(&cwd.join(name), limit).and_then(utf8).ok();
    let mut found = expect::compare(session.cx, session.file, text, &open, &actual, which);
    for complaint in &mut found {
        if complaint.message.starts_with("expected remark ") && !session.config.remarks && complaint.help.is_none() {
            complaint.help = Some("what passes say of their work is compared where `--remarks` is given".to_string());
        }
        session.voice.diagnostic(session.cx, complaint);
    }
    match status {
        // No comment makes up for an error of the tool.
        _ if status.is_internal() => status,
        _ if found.is_empty() => Status::Ok,
        _ => Status::Input,
    }
}

/// Writes what was measured and remarked.
fn write_reports(session: &mut Session<'_>) -> Status {
    let config = session.config;
    let mut files = Vec::new();
    if let Some(file) = &config.profile {
        files.push((file.clone(), session.timing.trace()));
    }
    if let Some(file) = &config.timing_json {
        files.push((file.clone(), session.timing.json()));
    }
    if config.remark_format != RemarkFormat::Shown {
        let name = match config.remark_format {
            RemarkFormat::Json => "mlir-remarks.json",
            _ => "mlir-remarks.yaml",
        };
        let file = config.remarks_file.clone().unwrap_or_else(|| name.to_string());
        files.push((file, std::mem::take(&mut session.remarks)));
    }
    let mut status = Status::Ok;
    for (file, text) in files {
        if let Err(message) = output::write_file(&session.cwd.join(file), text.as_bytes()) {
            status = session.cannot_write(&message);
        }
    }
    if config.timing {
        let report = session.timing.report(config.timing_display);
        session.voice.text(&report);
    }
    status
}

/// Name and text of the input, or a code and what is wrong.
fn read_input(
    name: Option<&str>,
    cwd: &Path,
    stdin: &mut (dyn std::io::Read + Send),
    limit: u64,
) -> Result<(String, String), (Status, &'static str, String)> {
    let (name, shown, bytes) = match name.filter(|n| *n != "-") {
        None => ("<stdin>", "stdin".to_string(), text_of(stdin, limit)),
        Some(name) => (name, format!("`{name}`"), text(&cwd.join(name), limit)),
    };
    match bytes.and_then(utf8) {
        Ok(text) => Ok((name.to_string(), text)),
        Err(error) => {
            let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
            let status = if error.is_system() { Status::System } else { Status::Input };
            Err((status, error.code(), format!("cannot read {shown}: {error}{hint}")))
        }
    }
}
