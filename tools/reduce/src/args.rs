//! The command line.

use std::time::Duration;

use sutura_ir::diagnostics::exit::{self, Exit};

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) input: String,
    pub(crate) output: Option<String>,
    pub(crate) pipeline: Option<String>,
    pub(crate) interest: Interest,
    pub(crate) allow_unregistered: bool,
    pub(crate) allow_invalid: bool,
    pub(crate) max_tests: usize,
    pub(crate) timeout: Duration,
    pub(crate) threads: usize,
    /// Bytes of the input at most.
    pub(crate) max_input: u64,
    pub(crate) quiet: bool,
}

/// What the reduced program must still show.
#[derive(Debug)]
pub(crate) enum Interest {
    /// A command with its arguments ends with status 0.
    Test(Vec<String>),
    /// The pipeline reports an error that matches.
    Diagnostic(String),
    /// The pipeline crashes or does not end.
    Crash,
    /// The pipeline changes the meaning, shown by so many seeds.
    Miscompile(u64),
    /// The pipeline is run once: what the child process of `--crash` does.
    RunOnce,
}

const HELP: &str = "\
Makes an MLIR program smaller that shows something: a crash, an error, a wrong result.

Usage: sutura-reduce PREDICATE [FLAGS] FILE [-o OUT]      FILE may be `-`, stdin

Predicates, one of:
  --test=CMD [--test-arg=ARG]…    `CMD ARG… FILE` ends with exit status 0 on a file with the program (as llvm-reduce
                                  has it; mlir-reduce wants 1)
  --diagnostic=REGEX              the pipeline reports an error whose message matches
  --crash                         the pipeline panics, aborts, overflows the stack or does not end in time; it is run
                                  in a process of its own
  --miscompile[=SEEDS]            a pass of the pipeline changes what a public function does, found by running it in
                                  the interpreter on inputs of so many seeds (3)

Flags:
  --pass-pipeline=TEXT            the pipeline; without it that of the file's `mlir_reproducer` resource
  -o FILE                         where the result is written, stdout if nowhere
  --timeout=SECONDS               time of one run of --test and --crash (10)
  --max-tests=N                   ask the predicate at most N times
  -j N, --threads=N               try N candidates at the same time (1); the result does not depend on it
  --max-input=SIZE                refuse inputs of more bytes, as 2G; 512M if not given
  --allow-unregistered-dialect    accept operations of unknown dialects in generic form
  --allow-invalid                 try candidates that do not verify
  -q                              no progress on stderr

Functions, operations, regions, branches, arguments, results, operands and attributes are taken away in groups and one by
one, uses get other values of the type or constants, sizes shrink in all types at once, constants become 0 or 1, and
passes leave the pipeline, until nothing more can go. The result goes with the pipeline as `mlir_reproducer` resource. The
same input gives the same result. An interrupt (Ctrl-C) ends the work with the best so far; a second one ends it at once.
";

/// `--help`
pub(crate) fn help() -> String {
    let exits = [Exit::Ok, Exit::Input, Exit::Usage, Exit::System, Exit::Internal, Exit::Interrupted];
    format!("{HELP}\n{}\n", exit::help(&exits))
}

/// More seeds than these are a mistake.
const MOST_SEEDS: u64 = 1_000_000;

/// More threads than these are a mistake.
const MOST_THREADS: usize = 1024;

/// Reads the command line; `None` asks for help.
///
/// # Errors
/// One sentence.
pub(crate) fn parse(args: &[String]) -> Result<Option<Args>, String> {
    let (mut test, mut test_args, mut interest) = (None, Vec::new(), None);
    let mut input = None;
    let mut parsed = Args {
        input: String::new(),
        output: None,
        pipeline: None,
        interest: Interest::Crash,
        allow_unregistered: false,
        allow_invalid: false,
        max_tests: usize::MAX,
        timeout: Duration::from_secs(10),
        threads: 1,
        max_input: sutura_input::TEXT_LIMIT,
        quiet: false,
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg == "-" || !arg.starts_with('-') {
            if let Some(first) = input.replace(arg.clone()) {
                return Err(format!("one input is read, not two: `{first}` and `{arg}`"));
            }
            continue;
        }
        let (name, value) = match arg.trim_start_matches('-').split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            // `-j8`
            None => match arg.strip_prefix("-j").filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
                Some(n) => ("j", Some(n.to_string())),
                None => (arg.trim_start_matches('-'), None),
            },
        };
        let mut needed =
            || value.clone().or_else(|| rest.next().cloned()).ok_or_else(|| format!("`{arg}` needs a value"));
        let mut is = |new| match interest.replace(new) {
            None => Ok(()),
            Some(_) => Err("one predicate is needed, not several".to_string()),
        };
        match name {
            "help" | "h" => return Ok(None),
            "test" => test = Some(needed()?),
            "test-arg" => test_args.push(needed()?),
            "diagnostic" => is(Interest::Diagnostic(needed()?))?,
            "crash" => is(Interest::Crash)?,
            "miscompile" => is(Interest::Miscompile(seeds(value.as_deref())?))?,
            "run-once" => {
                is(Interest::RunOnce)?;
                // What the parent writes may be longer than what it read.
                parsed.max_input = u64::MAX;
            }
            "pass-pipeline" => parsed.pipeline = Some(needed()?),
            "o" => parsed.output = Some(needed()?),
            "timeout" => parsed.timeout = Duration::from_secs(number(arg, &needed()?)?),
            "max-tests" => parsed.max_tests = usize::try_from(number(arg, &needed()?)?).unwrap_or(usize::MAX),
            "threads" | "j" => {
                let threads = usize::try_from(number(arg, &needed()?)?).unwrap_or(usize::MAX);
                if threads > MOST_THREADS {
                    return Err(format!("`{arg}` takes a number up to {MOST_THREADS}"));
                }
                parsed.threads = threads;
            }
            "max-input" => parsed.max_input = sutura_input::parse_size(&needed()?)?,
            "allow-unregistered-dialect" => parsed.allow_unregistered = true,
            "allow-invalid" => parsed.allow_invalid = true,
            "q" | "quiet" => parsed.quiet = true,
            _ => return Err(format!("unknown flag `{arg}`; `--help` lists the flags")),
        }
    }
    parsed.interest = match (test, interest) {
        (Some(test), None) => Interest::Test([vec![test], test_args].concat()),
        (None, Some(interest)) if test_args.is_empty() => interest,
        (None, None) => return Err("a predicate is needed; `--help` lists them".to_string()),
        _ => return Err("one predicate is needed, not several".to_string()),
    };
    parsed.input = input.ok_or("an input is needed: a file, or `-` for stdin")?;
    Ok(Some(parsed))
}

fn number(arg: &str, value: &str) -> Result<u64, String> {
    let number = sutura_input::whole_number(value).filter(|n| *n > 0);
    number.ok_or_else(|| format!("`{arg}` takes a number from 1"))
}

fn seeds(value: Option<&str>) -> Result<u64, String> {
    let seeds = value.map_or(Ok(3), |value| number("--miscompile", value))?;
    match seeds {
        0..=MOST_SEEDS => Ok(seeds),
        _ => Err(format!("`--miscompile` takes a number up to {MOST_SEEDS}")),
    }
}
