//! The command line of a formatter.

use std::ffi::OsString;

use sutura_ir::diagnostics::exit;

use crate::{EXITS, Request};

/// `--help`
const HELP: &str = "\
Formats programs: MLIR text in the form in which it is printed, with all comments and names.

Usage: sutura-fmt [--check] [--diff] [FILE | FOLDER]…      stdin to stdout without a file, or for `-`

  --check      Write nothing; list files that are not formatted, and end with code 1 if there are any
  --diff       Write nothing; show what would change
  --max-input SIZE  Refuse texts of more bytes, as 2G; 512M if not given
  --help       This text
  --version    The version

Of a folder all `*.mlir` files are formatted. Files that `// -----` splits are formatted part by part; parts with
`expected-error` that are no valid program stay as they are. Line numbers in comments, such as `@+2`, are not changed.
A file is written only if it still holds the same program and the same comments.

Examples:
  sutura-fmt model.mlir
  sutura-fmt --check lit-tests
  sutura-opt in.mlir --canonicalize --keep-comments | sutura-fmt
";

const FLAGS: [&str; 5] = ["check", "diff", "help", "max-input", "version"];

/// What a command line asks for.
pub(crate) enum Wanted {
    Work(Request),
    /// A text to print.
    Text(String),
}

/// Reads the command line.
///
/// # Errors
/// One sentence.
pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Wanted, String> {
    let mut request = Request::default();
    let mut only_files = false;
    let mut args = args;
    while let Some(arg) = args.next() {
        let flag = arg.to_str().filter(|text| !only_files && text.starts_with('-') && *text != "-");
        let Some(flag) = flag else {
            request.files.push(arg.into());
            continue;
        };
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (flag, None),
        };
        if name.trim_start_matches('-') == "max-input" {
            let next = || args.next().map(|value| value.to_string_lossy().into_owned());
            let value = value.or_else(next).ok_or("`--max-input` needs a value")?;
            request.max_input = Some(sutura_input::parse_size(&value)?);
            continue;
        }
        match flag.trim_start_matches('-') {
            "" if flag == "--" => only_files = true,
            "check" => request.check = true,
            "diff" => request.diff = true,
            "help" | "h" => return Ok(Wanted::Text(format!("{HELP}\n{}\n", exit::help(&EXITS)))),
            "version" => return Ok(Wanted::Text(format!("sutura-fmt {}\n", env!("CARGO_PKG_VERSION")))),
            name => {
                return Err(match sutura_ir::diagnostics::did_you_mean(name, FLAGS) {
                    Some(meant) => format!("unknown flag `{flag}`; did you mean `--{meant}`?"),
                    None => format!("unknown flag `{flag}`; `--help` lists the flags"),
                });
            }
        }
    }
    Ok(Wanted::Work(request))
}
