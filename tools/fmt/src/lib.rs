//! Formats programs: the custom form as the printer writes it, with every comment, every name, and blank lines, of several
//! one.
//!
//! A crate of its own, because three tools need it and LLVM needs none of it: `sutura fmt`, `sutura-fmt`, which is the
//! same without LLVM and, by [`main`], for tools with other dialects, and `sutura-opt --keep-comments`, which ties comments
//! to what passes leave with [`Comments`].
#![forbid(unsafe_code)]

mod args;
mod comments;
mod files;
mod format;

use std::io::{self, IsTerminal, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rayon::prelude::*;
use sutura_input::{text_of, utf8};
use sutura_ir::diagnostics::{Diagnostic, RenderStyle, render};
use sutura_ir::{Context, Registry, RegistryError};
use sutura_visible as visible;

pub use comments::{Comments, Woven};
pub use files::replace;
pub use format::{Formatted, Refusal, format};

pub use sutura_ir::diagnostics::Exit as Status;

/// The codes that the tool ends with.
pub const EXITS: [Status; 6] =
    [Status::Ok, Status::Input, Status::Usage, Status::System, Status::Internal, Status::Interrupted];

/// What is to be formatted, and how that is shown.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files and folders; none, and `-`, stand for stdin, whose text goes to stdout.
    pub files: Vec<PathBuf>,
    /// Nothing is written; files that differ are listed and make the run fail.
    pub check: bool,
    /// Nothing is written; what would change is shown.
    pub diff: bool,
    /// Bytes of a text at most; 512 MiB where nothing is said.
    pub max_input: Option<u64>,
}

impl Request {
    fn limit(&self) -> u64 {
        self.max_input.unwrap_or(sutura_input::TEXT_LIMIT)
    }
}

/// Something to tell the user.
#[allow(missing_debug_implementations)]
pub enum Said<'s> {
    /// A message about a text.
    Diagnostic(&'s Context, &'s Diagnostic),
    /// An error that has no place in a text.
    Error(String),
    /// What was done, or not.
    Note(String),
}

/// What a run reads and writes.
#[allow(missing_debug_implementations)]
pub struct Io<'a> {
    /// What relative names are relative to.
    pub cwd: &'a Path,
    /// Standard input; read only if it is asked for.
    pub stdin: &'a mut dyn Read,
    /// Standard output.
    pub stdout: &'a mut dyn Write,
    /// Gets what is to be said.
    pub say: &'a mut dyn FnMut(Said<'_>),
    /// Replaces the text of a file: [`replace`], or that under some lock.
    pub replace: &'a dyn Fn(&Path, &str) -> io::Result<()>,
}

/// What became of a file.
enum Outcome {
    /// Its text, and the formatted one if that differs; lines of parts that are left as they are.
    Done {
        formatted: Option<(String, String)>,
        left: Vec<u32>,
    },
    Invalid(Box<Context>, Vec<Diagnostic>),
    /// Why it cannot be read, and whether the system is to blame or the text.
    Unreadable(Status, String),
    Internal(String),
}

/// Stack of each thread: nesting that the parser lets pass fits well.
const STACK_BYTES: usize = 64 << 20;

/// Formats what `request` says. An error in one file does not keep others from being formatted.
pub fn run(registry: &(impl Fn() -> Registry + Sync), request: &Request, mut io: Io<'_>) -> Status {
    let (stdin, names): (Vec<_>, Vec<_>) = request.files.iter().cloned().partition(|f| f.as_os_str() == "-");
    if !stdin.is_empty() && !names.is_empty() {
        let message = "`-` stands for stdin, whose text goes to stdout: give it alone";
        return fail(&mut io, Status::Usage, message.to_string());
    }
    let pool = match rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build() {
        Ok(pool) => pool,
        Err(error) => return fail(&mut io, Status::Internal, format!("threads cannot be started: {error}")),
    };
    if names.is_empty() {
        return format_stdin(registry, &pool, request, &mut io);
    }
    let files = files::find(io.cwd, &names);
    let cwd = io.cwd;
    let limit = request.limit();
    let work = || -> Vec<_> { files.into_par_iter().map(|file| outcome(registry, cwd, file, limit)).collect() };
    let outcomes = pool.install(work);
    let (total, mut differing, mut status) = (outcomes.len(), 0, Status::Ok);
    let mut shown = Vec::new();
    for (name, outcome) in outcomes {
        match finish(&name, outcome, request, &mut io, &mut shown) {
            Ok(differs) => differing += usize::from(differs),
            Err(worse) => status = status.max(worse),
        }
    }
    if let Err(error) = io.stdout.write_all(&shown).and_then(|()| io.stdout.flush()) {
        status = status.max(fail(&mut io, Status::System, format!("cannot write the output: {error}")));
    }
    let writes = !request.check && !request.diff;
    if differing > 0 && (request.check || total > 1) {
        let what = if writes { "formatted" } else { "not formatted" };
        (io.say)(Said::Note(format!("{what}: {differing} of {total} files")));
    }
    if request.check && differing > 0 { status.max(Status::Input) } else { status }
}

fn outcome(
    registry: &(impl Fn() -> Registry + Sync),
    cwd: &Path,
    file: Result<PathBuf, String>,
    limit: u64,
) -> (String, Outcome) {
    let path = match file {
        Ok(path) => path,
        Err(message) => return (String::new(), Outcome::Unreadable(Status::System, message)),
    };
    let name = path.display().to_string();
    match files::read(&cwd.join(&path), &name, limit) {
        Ok(text) => (name.clone(), format_one(registry, &name, text)),
        Err((status, message)) => (name, Outcome::Unreadable(status, message)),
    }
}

fn format_one(registry: &(impl Fn() -> Registry + Sync), name: &str, text: String) -> Outcome {
    let done = catch_unwind(AssertUnwindSafe(|| {
        let cx = Context::try_new(registry())?;
        cx.sources().set_input(name);
        let done = format(&cx, name, &text);
        Ok((cx, done))
    }));
    let done = match done {
        Ok(Err::<_, RegistryError>(error)) => return Outcome::Internal(error.to_string()),
        Ok(Ok(done)) => Ok(done),
        Err(panic) => Err(panic),
    };
    match done {
        Ok((_, Ok(Formatted { text: formatted, left }))) => {
            Outcome::Done { formatted: (formatted != text).then_some((text, formatted)), left }
        }
        Ok((cx, Err(Refusal::Invalid(diagnostics)))) => Outcome::Invalid(Box::new(cx), diagnostics),
        Ok((_, Err(Refusal::Internal(message)))) => Outcome::Internal(message),
        // What it says of itself has gone to stderr.
        Err(_) => Outcome::Internal("a panic".to_string()),
    }
}

/// Writes or shows what became of a file; true when it was not formatted.
fn finish(
    name: &str,
    outcome: Outcome,
    request: &Request,
    io: &mut Io<'_>,
    shown: &mut Vec<u8>,
) -> Result<bool, Status> {
    let formatted = tell(name, outcome, io)?;
    let Some((old, new)) = formatted else { return Ok(false) };
    show(name, &old, &new, request, shown)
        .map_err(|error| fail(io, Status::System, format!("cannot show `{name}`: {error}")))?;
    if !request.check && !request.diff {
        (io.replace)(&io.cwd.join(name), &new)
            .map_err(|error| fail(io, Status::System, format!("cannot write `{name}`: {error}")))?;
    }
    Ok(true)
}

fn fail(io: &mut Io<'_>, status: Status, message: String) -> Status {
    (io.say)(Said::Error(message));
    status
}

/// Says what is wrong or left out; the old and the new text where they differ.
fn tell(name: &str, outcome: Outcome, io: &mut Io<'_>) -> Result<Option<(String, String)>, Status> {
    match outcome {
        Outcome::Done { formatted, left } => {
            if let [first, rest @ ..] = &left[..] {
                let parts = if rest.is_empty() { "a part".to_string() } else { format!("{} parts", left.len()) };
                let message = format!("`{name}`: {parts} with errors left as before, from line {first}");
                (io.say)(Said::Note(message));
            }
            Ok(formatted)
        }
        Outcome::Invalid(cx, diagnostics) => {
            diagnostics.iter().for_each(|diagnostic| (io.say)(Said::Diagnostic(&cx, diagnostic)));
            Err(fail(io, Status::Input, format!("`{name}` is not formatted: it is no valid program")))
        }
        Outcome::Unreadable(status, message) => Err(fail(io, status, message)),
        Outcome::Internal(what) => {
            let message = format!("internal error: `{name}` is left as before: {what}; please report it with the file");
            Err(fail(io, Status::Internal, message))
        }
    }
}

/// The name or the differences of a text, as asked for.
fn show(name: &str, old: &str, new: &str, request: &Request, out: &mut dyn Write) -> io::Result<()> {
    if request.diff {
        let name = visible::line(name);
        let diff = similar::TextDiff::from_lines(old, new);
        write!(out, "{}", diff.unified_diff().header(&name, &format!("{name} (formatted)")))
    } else if request.check {
        writeln!(out, "{}", visible::line(name))
    } else {
        Ok(())
    }
}

fn format_stdin(
    registry: &(impl Fn() -> Registry + Sync),
    pool: &rayon::ThreadPool,
    request: &Request,
    io: &mut Io<'_>,
) -> Status {
    const NAME: &str = "<stdin>";
    let text = match text_of(&mut *io.stdin, request.limit()).and_then(utf8) {
        Ok(text) => text,
        Err(error) => return fail(io, files::status(&error), files::refusal(NAME, &error)),
    };
    let outcome = pool.install(|| format_one(registry, NAME, text.clone()));
    let formatted = match tell(NAME, outcome, io) {
        Ok(formatted) => formatted,
        Err(status) => return status,
    };
    let differs = formatted.is_some();
    let written = match (request.check || request.diff, formatted) {
        (true, Some((old, new))) => show(NAME, &old, &new, request, io.stdout),
        (true, None) => Ok(()),
        (false, formatted) => io.stdout.write_all(formatted.map_or(text, |(_, new)| new).as_bytes()),
    };
    if let Err(error) = written.and_then(|()| io.stdout.flush()) {
        return fail(io, Status::System, format!("cannot write the output: {error}"));
    }
    if request.check && differs { Status::Input } else { Status::Ok }
}

/// The whole `main` of a formatter for some dialects.
pub fn main(registry: impl Fn() -> Registry + Sync) -> ExitCode {
    let request = match args::parse(std::env::args_os().skip(1)) {
        Ok(args::Wanted::Work(request)) => request,
        Ok(args::Wanted::Text(text)) => {
            let mut out = io::stdout();
            let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            return if written.is_ok() { Status::Ok } else { Status::System }.into();
        }
        Err(message) => {
            let _ = writeln!(io::stderr(), "error: {}", visible::message(&message));
            return Status::Usage.into();
        }
    };
    sutura_output::end_cleanly(Status::Interrupted.code());
    let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = if color { RenderStyle::Colored } else { RenderStyle::Plain };
    let mut say = |said: Said<'_>| {
        // Nobody is left to hear of an stderr that cannot be written to.
        let _ = match said {
            Said::Diagnostic(cx, diagnostic) => write!(io::stderr(), "{}", render(cx, diagnostic, style)),
            Said::Error(message) => writeln!(io::stderr(), "error: {}", visible::message(&message)),
            Said::Note(message) => writeln!(io::stderr(), "note: {}", visible::message(&message)),
        };
    };
    let io =
        Io { cwd: Path::new(""), stdin: &mut io::stdin(), stdout: &mut io::stdout(), say: &mut say, replace: &replace };
    run(&registry, &request, io).into()
}
