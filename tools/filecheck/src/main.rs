//! `sutura-filecheck`: see `--help`.

#![forbid(unsafe_code)]

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use sutura_filecheck::tool::{Invocation, run};

fn main() -> ExitCode {
    let mut args = Vec::new();
    for arg in std::env::args_os().skip(1) {
        match arg.into_string() {
            Ok(arg) => args.push(arg),
            Err(arg) => {
                let _ = writeln!(io::stderr(), "error: argument {arg:?} is not UTF-8");
                return ExitCode::from(2);
            }
        }
    }
    let options = std::env::var("FILECHECK_OPTS").ok();
    let mut stderr = BufWriter::new(io::stderr().lock());
    let status = run(Invocation {
        args: &args,
        environment_options: options.as_deref(),
        directory: std::path::Path::new(""),
        stdin: &mut io::stdin().lock(),
        stdout: &mut io::stdout().lock(),
        stderr: &mut stderr,
    });
    if stderr.flush().is_err() {
        return ExitCode::from(2);
    }
    ExitCode::from(u8::try_from(status).unwrap_or(2))
}
