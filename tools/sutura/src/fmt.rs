//! `sutura fmt`: `sutura-fmt`, with this tool's messages and statuses.

use std::path::Path;

use sutura_fmt::{Io, Request, Said, Status};

use crate::cli::FmtArgs;
use crate::failure::{Failure, Kind};
use crate::talk::Talk;

pub(crate) fn fmt(args: &FmtArgs, talk: &Talk) -> Result<(), Failure> {
    let request = Request { files: args.files.clone(), check: args.check, diff: args.diff, max_input: args.max_input };
    // The last error ends the command and is told by that.
    let mut last: Option<String> = None;
    let mut say = |said: Said<'_>| match said {
        Said::Diagnostic(cx, diagnostic) => talk.diagnostic(cx, diagnostic),
        Said::Note(message) => talk.note(&message),
        Said::Error(message) => {
            if let Some(earlier) = last.replace(message) {
                talk.error(&earlier);
            }
        }
    };
    let io = Io {
        cwd: Path::new(""),
        stdin: &mut std::io::stdin(),
        stdout: &mut std::io::stdout(),
        say: &mut say,
        replace: &sutura_fmt::replace,
    };
    let status = sutura_fmt::run(&sutura_dialects::all, &request, io);
    let kind = match status {
        Status::Ok => return Ok(()),
        Status::Input => Kind::Input,
        Status::Usage => Kind::Usage,
        Status::System => Kind::System,
        _ => Kind::Internal,
    };
    Err(Failure::new(kind, last.unwrap_or_else(|| "not everything is formatted".to_string())))
}
