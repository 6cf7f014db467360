//! The `FileCheck` command, without a process around it.

use std::io::{self, Read, Write};
use std::path::Path;

use sutura_input::{bytes, bytes_of};
use sutura_visible::{line, message as message_of};

use crate::checks::Checks;
use crate::diag::{Diagnostic, Severity};
use crate::options::{DumpInput, Options, split_words};
use crate::report::Report;

/// What the command is run with.
#[allow(missing_debug_implementations)]
pub struct Invocation<'a> {
    /// The arguments, without the name of the program.
    pub args: &'a [String],
    /// The value of `FILECHECK_OPTS`; its options come before the arguments.
    pub environment_options: Option<&'a str>,
    /// What relative file names are relative to.
    pub directory: &'a Path,
    /// The text to check, unless `--input-file` names another.
    pub stdin: &'a mut dyn Read,
    /// Help and version.
    pub stdout: &'a mut dyn Write,
    /// Everything else.
    pub stderr: &'a mut dyn Write,
}

const HELP: &str = "\
Checks that a text contains what the directives of a check file say.

usage: sutura-filecheck [options] <check-file> < input

  --input-file=<file>            text to check (default: standard input)
  --max-input=<size>             refuse texts of more bytes, as 2G (default: 512M)
  --check-prefixes=<a,b,...>     prefixes of directives (default: CHECK)
  --comment-prefixes=<a,b,...>   prefixes of comments (default: COM,RUN)
  --allow-unused-prefixes        a prefix need not occur in the check file
  --implicit-check-not=<pattern> must not occur outside matches; repeatable
  -D<VAR>=<text>  -D#<VAR>=<n>   define a variable
  --enable-var-scope             -LABEL forgets variables without '$'
  --ignore-case                  letters match in both cases
  --match-full-lines             matches cover whole lines
  --strict-whitespace            runs of blanks are not all alike
  --allow-empty                  the text to check may be empty
  --allow-deprecated-dag-overlap -DAG matches may overlap
  --no-lint                      accept misspelt directives and '\\d' as LLVM does
  --dump-input=<mode>            help, always, fail (default), never
  --dump-input-filter=<lines>    all, annotation-full, annotation, error
  --dump-input-context=<n>       lines shown around those (default: 5)
  -v, -vv                        also say what matched, and what was discarded
  --help, --version

Options may start with one dash, and are also read from FILECHECK_OPTS.
Exit status: 0 all checks passed, 1 some failed, 2 they could not be made.
";

const DUMP_HELP: &str = "\
The input dump shows lines of the checked text with what directives did there.

  L:      line L of the text; a blank after it stands for the newline
  T:L     what the directive of type T on line L of the check file did;
          L is impN for the Nth --implicit-check-not
  T:L'N   the Nth thing it did
  ^~~     a match (with -v)
  !~~     a match that should not be: on the wrong line, of an excluded string,
          or (with -vv) discarded because an earlier CHECK-DAG match overlaps
  X~~     where no match was found (for CHECK-NOT: with -vv)
  ?       what may have been meant
  ...     lines left out; see --dump-input-filter and --dump-input-context
";

/// Runs the command and returns its exit status: 0 if all checks passed, 1 if
/// some failed, 2 if they could not be made (usage, files, check file).
pub fn run(mut invocation: Invocation<'_>) -> i32 {
    // If not even the standard streams can be written, nobody is left to be told.
    run_inner(&mut invocation).unwrap_or(2)
}

fn run_inner(invocation: &mut Invocation<'_>) -> io::Result<i32> {
    let words = match invocation.environment_options.map(split_words) {
        None => Vec::new(),
        Some(Ok(words)) => words,
        Some(Err(error)) => return usage(invocation, &error),
    };
    let args = words.into_iter().chain(invocation.args.iter().cloned());
    let options = match Options::parse(args) {
        Ok(options) => options,
        Err(error) => return usage(invocation, &error),
    };
    if options.help {
        invocation.stdout.write_all(HELP.as_bytes())?;
        return Ok(0);
    }
    if options.version {
        writeln!(invocation.stdout, "sutura-filecheck {}, directives as in LLVM 22", env!("CARGO_PKG_VERSION"))?;
        return Ok(0);
    }
    if options.dump_input() == DumpInput::Help {
        invocation.stdout.write_all(DUMP_HELP.as_bytes())?;
        return Ok(0);
    }
    let Some(check_file) = &options.check_file else {
        return usage(invocation, "no check file given");
    };
    let limit = options.max_input.unwrap_or(sutura_input::TEXT_LIMIT);
    let text = match bytes(&invocation.directory.join(check_file), limit) {
        Ok(text) => text,
        Err(error) => {
            writeln!(invocation.stderr, "error: could not read check file '{}': {}", line(check_file), error.told())?;
            return Ok(2);
        }
    };
    let checks = match Checks::parse(&text, check_file, &options.config) {
        Ok(checks) => checks,
        Err(errors) => {
            write_all(invocation.stderr, &errors)?;
            return Ok(2);
        }
    };
    let (name, input) = match read_input(invocation, options.input_file.as_deref(), limit) {
        Ok(input) => input,
        Err(message) => {
            writeln!(invocation.stderr, "error: {}", message_of(&message))?;
            return Ok(2);
        }
    };
    let report = checks.report(&input, &name);
    if report.input_is_empty() {
        write_all(invocation.stderr, report.diagnostics())?;
        return Ok(2);
    }
    print(invocation.stderr, &report, &options, (check_file, &name))?;
    Ok(i32::from(!report.passed()))
}

fn usage(invocation: &mut Invocation<'_>, error: &str) -> io::Result<i32> {
    writeln!(invocation.stderr, "error: {}\nSee --help.", message_of(error))?;
    Ok(2)
}

fn read_input(invocation: &mut Invocation<'_>, file: Option<&str>, limit: u64) -> Result<(String, Vec<u8>), String> {
    match file {
        None | Some("-") => match bytes_of(&mut *invocation.stdin, limit) {
            Ok(input) => Ok(("<stdin>".into(), input)),
            Err(error) => Err(format!("could not read standard input: {}", error.told())),
        },
        Some(file) => match bytes(&invocation.directory.join(file), limit) {
            Ok(input) => Ok((file.to_owned(), input)),
            Err(error) => Err(format!("could not read input file '{file}': {}", error.told())),
        },
    }
}

fn write_all(stderr: &mut dyn Write, diagnostics: &[Diagnostic]) -> io::Result<()> {
    diagnostics.iter().try_for_each(|d| write!(stderr, "{d}"))
}

fn print(
    stderr: &mut dyn Write,
    report: &Report<'_>,
    options: &Options,
    (check_file, input_file): (&str, &str),
) -> io::Result<()> {
    let dump = options.dump_input();
    for diagnostic in report.diagnostics() {
        // Remarks are in the dump, if there can be one.
        if diagnostic.severity != Severity::Remark || dump == DumpInput::Never {
            write!(stderr, "{diagnostic}")?;
        }
    }
    if dump == DumpInput::Always || (dump == DumpInput::Fail && !report.passed()) {
        write!(
            stderr,
            "\nInput file: {input_file}\nCheck file: {check_file}\n\n\
             -dump-input=help explains the following input dump.\n\nInput was:\n{}",
            report.dump(&options.dump_options()),
            input_file = line(input_file),
            check_file = line(check_file),
        )?;
    }
    Ok(())
}
