//! The command line of `sutura-lit`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use regex_lite::Regex;
use sutura_input::{parse_number, whole_number};
use sutura_output::command_line;
use sutura_visible as visible;

use crate::outcome::{Code, Outcome};
use crate::report::{self, Reported};
use crate::runner;
use crate::shell::end_processes;
use crate::suite::{Overrides, Suite, Test};
use crate::tool::Tools;
use crate::update::{Updated, restore, update};

/// Runs lit tests: files with RUN lines, in folders with a lit.toml.
///
/// Exit status: 0 nothing failed, 1 a test failed, 2 nothing could be run, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "sutura-lit", version)]
struct Arguments {
    /// Tests, or folders of tests
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How many tests run at once (default: one per processor)
    #[arg(short, long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<usize>,
    /// Only tests whose "suite :: path" this regular expression matches; LIT_FILTER otherwise
    #[arg(long, value_name = "REGEX")]
    filter: Option<Regex>,
    /// No tests whose "suite :: path" this regular expression matches; LIT_FILTER_OUT otherwise
    #[arg(long, value_name = "REGEX")]
    filter_out: Option<Regex>,
    /// Set a parameter of the suites
    #[arg(short = 'D', long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Features that are there besides those of the suites
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    features: Vec<String>,
    /// Seconds a test may take; 0 for any time
    #[arg(long, value_name = "SECONDS", value_parser = parse_number::<u64>)]
    timeout: Option<u64>,
    /// Bytes at most of a test, and of what a command writes, as 2G (default: 512M)
    #[arg(long, value_name = "SIZE", value_parser = sutura_input::parse_size)]
    max_input: Option<u64>,
    /// So many tests at most
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>)]
    max_tests: Option<usize>,
    /// Cut the tests into so many shards; LIT_NUM_SHARDS otherwise
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>)]
    num_shards: Option<usize>,
    /// Run only this one of the shards, from 1; LIT_RUN_SHARD otherwise
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>)]
    run_shard: Option<usize>,
    /// In the order of names, or in one that is different each time
    #[arg(long, value_name = "ORDER", default_value = "lexical")]
    order: Order,
    /// Tests that must fail, by their paths in the suite, separated by semicolons; LIT_XFAIL otherwise
    #[arg(long, value_name = "LIST", value_delimiter = ';')]
    xfail: Vec<String>,
    /// Tests that need not fail, whatever they and --xfail say; LIT_XFAIL_NOT otherwise
    #[arg(long, value_name = "LIST", value_delimiter = ';')]
    xfail_not: Vec<String>,
    /// Exit status 0 where the filters leave no test
    #[arg(long)]
    allow_empty_runs: bool,
    /// Exit status 0 where tests fail
    #[arg(long)]
    ignore_fail: bool,
    /// Stop after this many failures
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>)]
    max_failures: Option<usize>,
    /// Where tests write
    #[arg(long, value_name = "FOLDER")]
    output_dir: Option<PathBuf>,
    /// Where programs are looked for first
    #[arg(long, value_name = "FOLDER")]
    tool_dir: Vec<PathBuf>,
    /// A line for every test, not only for failures
    #[arg(short, long)]
    verbose: bool,
    /// What every test wrote, not only failures
    #[arg(short = 'a', long)]
    show_all: bool,
    /// Only the summary
    #[arg(short, long, conflicts_with_all = ["verbose", "show_all"])]
    quiet: bool,
    /// Print the names of the tests and run none
    #[arg(long)]
    show_tests: bool,
    /// Rewrite what failing tests expect, where that is safe, and show what changed
    #[arg(long)]
    update: bool,
    /// With --update: show the changes and leave the files as they are
    #[arg(long, requires = "update")]
    dry_run: bool,
    /// Write the results as JSON
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the results as xunit XML
    #[arg(long, value_name = "FILE")]
    xunit_xml_output: Option<PathBuf>,
    /// Of the tests, only the failed ones in the files of results
    #[arg(long)]
    report_failures_only: bool,
}

/// Without a job nothing would run.
fn parse_jobs(text: &str) -> Result<usize, String> {
    whole_number(text).filter(|n| *n >= 1).ok_or_else(|| "expected a whole number from 1".to_owned())
}

/// In which order tests run.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Order {
    Lexical,
    Random,
}

/// Exit status after an interrupt, as a shell has it.
const INTERRUPTED: i32 = 130;

/// The suites of the paths, and their tests, each with the index of its suite.
struct Discovered {
    suites: Vec<Suite>,
    tests: Vec<(usize, Test)>,
}

/// What goes wrong before a test runs, or after.
enum Trouble {
    Usage(String),
    Stream(io::Error),
}

impl From<String> for Trouble {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Stream(error)
    }
}

/// Runs the command with `args` (the first is the name of the program) and
/// returns its exit status. `tools` are there besides programs.
pub fn main(args: impl IntoIterator<Item = std::ffi::OsString>, tools: &Tools) -> i32 {
    let mut arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => {
            let status = if command_line::is_wanted(&error) { 0 } else { 2 };
            return match command_line::print(error) {
                Ok(()) => status,
                Err(error) => failed(&format!("could not write to stdout: {error}")),
            };
        }
    };
    let mut out = io::stdout().lock();
    let done = arguments.add_environment().map_err(Trouble::from).and_then(|()| arguments.run(tools, &mut out));
    match done {
        Ok(status) => status,
        Err(Trouble::Usage(message)) => failed(&message),
        Err(Trouble::Stream(error)) => failed(&format!("could not write results: {error}")),
    }
}

/// Says why nothing could be done; the status of that.
fn failed(message: &str) -> i32 {
    let _ = writeln!(io::stderr(), "sutura-lit: error: {}", visible::message(message));
    2
}

impl Arguments {
    /// Takes what is not given from variables, as LLVM's lit does.
    fn add_environment(&mut self) -> Result<(), String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let wrong = |name: &str, value: &str| format!("the variable {name} has a wrong value, '{value}'");
        for (field, name) in [(&mut self.filter, "LIT_FILTER"), (&mut self.filter_out, "LIT_FILTER_OUT")] {
            if let (None, Some(value)) = (&field, variable(name)) {
                *field = Some(Regex::new(&value).map_err(|_| wrong(name, &value))?);
            }
        }
        for (field, name) in [(&mut self.num_shards, "LIT_NUM_SHARDS"), (&mut self.run_shard, "LIT_RUN_SHARD")] {
            if let (None, Some(value)) = (&field, variable(name)) {
                *field = Some(whole_number(&value).ok_or_else(|| wrong(name, &value))?);
            }
        }
        for (field, name) in [(&mut self.xfail, "LIT_XFAIL"), (&mut self.xfail_not, "LIT_XFAIL_NOT")] {
            if let (true, Some(value)) = (field.is_empty(), variable(name)) {
                *field = value.split(';').map(str::to_owned).collect();
            }
        }
        Ok(())
    }

    fn run(&self, tools: &Tools, out: &mut dyn Write) -> Result<i32, Trouble> {
        let Discovered { suites, tests } = self.discover(tools)?;
        if tests.is_empty() {
            return Err(Trouble::Usage("no tests found".into()));
        }
        let tests: Vec<(&Suite, Test)> = tests
            .into_iter()
            .map(|(suite, test)| (&suites[suite], test))
            .filter(|(suite, test)| self.wants(suite, test))
            .collect();
        self.check_lists(&tests)?;
        let tests = self.share(tests)?;
        if tests.is_empty() {
            let message = "the filters leave no test";
            if self.allow_empty_runs {
                writeln!(out, "warning: {message}")?;
                return Ok(0);
            }
            return Err(Trouble::Usage(message.into()));
        }
        if self.show_tests {
            for (suite, test) in &tests {
                writeln!(out, "{}", full_name(suite, test))?;
            }
            return Ok(0);
        }
        if self.update {
            return self.update(&tests, out);
        }
        sutura_output::on_interrupt(|| {
            end_processes();
            sutura_output::remove_leftovers();
            std::process::exit(INTERRUPTED);
        });
        let start = Instant::now();
        let results = self.run_tests(&tests, out)?;
        let elapsed = start.elapsed();
        write!(out, "{}", report::summary(&results, elapsed))?;
        if results.len() < tests.len() {
            writeln!(out, "  Not run            : {}", tests.len() - results.len())?;
        }
        let failed = results.iter().any(|result| result.outcome.code.is_failure());
        let mut told = results;
        told.retain(|result| !self.report_failures_only || result.outcome.code.is_failure());
        if let Some(file) = &self.output {
            write_file(file, &report::json(&told, elapsed))?;
        }
        if let Some(file) = &self.xunit_xml_output {
            write_file(file, &report::xunit(&told, elapsed))?;
        }
        Ok(i32::from(failed && !self.ignore_fail))
    }

    /// What is listed and is no test would expect nothing.
    fn check_lists(&self, tests: &[(&Suite, Test)]) -> Result<(), String> {
        let is_one =
            |name: &&String| tests.iter().any(|(suite, test)| is_listed(std::slice::from_ref(name), suite, test));
        match self.xfail.iter().chain(&self.xfail_not).find(|name| !is_one(name)) {
            Some(name) if self.filter.is_none() && self.filter_out.is_none() => {
                Err(format!("'{name}', which is expected to fail or not to, is no test"))
            }
            _ => Ok(()),
        }
    }

    /// The tests of this shard, in the order to run them.
    fn share<'s>(&self, mut tests: Vec<(&'s Suite, Test)>) -> Result<Vec<(&'s Suite, Test)>, String> {
        if let Order::Random = self.order {
            shuffle(&mut tests);
        }
        match (self.num_shards, self.run_shard) {
            (None, None) => {}
            (Some(count), Some(shard)) if (1..=count).contains(&shard) => {
                let mut index = 0;
                tests.retain(|_| {
                    index += 1;
                    index % count == shard % count
                });
            }
            (Some(count), Some(shard)) => return Err(format!("there is no shard {shard} of {count}")),
            _ => return Err("--num-shards and --run-shard go together".into()),
        }
        tests.truncate(self.max_tests.unwrap_or(usize::MAX));
        Ok(tests)
    }

    /// Updates all tests, one after the other; the status is 1 when some test still fails, or would without a dry run.
    fn update(&self, tests: &[(&Suite, Test)], out: &mut dyn Write) -> Result<i32, Trouble> {
        // Without a handler an interrupt leaves the file as it is then.
        sutura_output::on_interrupt(|| {
            let status = match restore() {
                Ok(()) => INTERRUPTED,
                Err(error) => {
                    let _ = writeln!(io::stderr(), "sutura-lit: error: the test at hand is half updated: {error}");
                    1
                }
            };
            std::process::exit(status);
        });
        let mut left = false;
        let (mut changed, mut refused) = (0, 0);
        for (suite, test) in tests {
            let name = full_name(suite, test);
            // What is wrong with one file does not keep others from being updated.
            match update(suite, test, self.dry_run).unwrap_or_else(Updated::Refused) {
                Updated::NotNeeded => {}
                Updated::Changed(diff) => {
                    changed += 1;
                    left |= self.dry_run;
                    write!(out, "{}: {name}\n{diff}", if self.dry_run { "WOULD UPDATE" } else { "UPDATED" })?;
                }
                Updated::Refused(reason) => {
                    refused += 1;
                    left = true;
                    writeln!(out, "NOT UPDATED: {name}: {}", visible::message(&reason))?;
                }
            }
        }
        writeln!(out, "{changed} tests updated, {refused} failing tests left as they are")?;
        Ok(i32::from(left))
    }

    fn overrides(&self) -> Result<Overrides, String> {
        let mut params = BTreeMap::new();
        for param in &self.params {
            let (name, value) = param
                .split_once('=')
                .ok_or_else(|| format!("the parameter '{param}' is not of the form NAME=VALUE"))?;
            params.insert(name.to_owned(), value.to_owned());
        }
        // Programs built together are found together.
        let beside = std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_path_buf));
        Ok(Overrides {
            features: self.features.clone(),
            params,
            output: self.output_dir.clone(),
            timeout: self.timeout.map(Duration::from_secs),
            tool_folders: self.tool_dir.iter().cloned().chain(beside).collect(),
            max_input: self.max_input,
        })
    }

    fn discover(&self, tools: &Tools) -> Result<Discovered, String> {
        let overrides = self.overrides()?;
        let mut suites: Vec<Suite> = Vec::new();
        let mut tests = Vec::new();
        for path in &self.paths {
            if !path.exists() {
                return Err(format!("{}: no such file or folder", path.display()));
            }
            let root = Suite::root_of(path)
                .ok_or_else(|| format!("{}: no lit.toml in it or in a folder above", path.display()))?;
            let index = match suites.iter().position(|suite| suite.root == root) {
                Some(index) => index,
                None => {
                    suites.push(Suite::load(&root, tools.clone(), &overrides)?);
                    suites.len() - 1
                }
            };
            tests.extend(suites[index].tests(path)?.into_iter().map(|test| (index, test)));
        }
        tests.sort();
        tests.dedup();
        Ok(Discovered { suites, tests })
    }

    fn wants(&self, suite: &Suite, test: &Test) -> bool {
        let name = format!("{} :: {}", suite.name, test.name());
        let matches = |regex: &Option<Regex>| regex.as_ref().map(|regex| regex.is_match(&name));
        matches(&self.filter).unwrap_or(true) && !matches(&self.filter_out).unwrap_or(false)
    }

    fn run_tests(&self, tests: &[(&Suite, Test)], out: &mut dyn Write) -> io::Result<Vec<Reported>> {
        let jobs = self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let mut results: Vec<Reported> = Vec::new();
        let mut failures = 0;
        let mut trouble = None;
        runner::run(tests, jobs, |index, mut outcome| {
            let (suite, test) = &tests[index];
            if is_listed(&self.xfail_not, suite, test) {
                outcome.code = outcome.code.not_expected_to_fail();
            } else if is_listed(&self.xfail, suite, test) {
                outcome.code = outcome.code.expected_to_fail();
            }
            failures += usize::from(outcome.code.is_failure());
            let name = full_name(suite, test);
            if let Err(error) = self.print(out, &name, &outcome, (index + 1, tests.len())) {
                trouble = Some(error);
            }
            results.push(Reported { suite: suite.name.clone(), test: test.name().to_owned(), outcome });
            trouble.is_none() && self.max_failures.is_none_or(|max| failures < max)
        });
        match trouble {
            Some(error) => Err(error),
            None => Ok(results),
        }
    }

    fn print(
        &self,
        out: &mut dyn Write,
        name: &str,
        outcome: &Outcome,
        (number, count): (usize, usize),
    ) -> io::Result<()> {
        let failed = outcome.code.is_failure();
        if self.quiet || !(failed || self.verbose || self.show_all) {
            return Ok(());
        }
        let code = outcome.code.name();
        writeln!(out, "{code}: {name} ({number} of {count})")?;
        let reason = self.verbose && outcome.code == Code::Unsupported;
        if failed || self.show_all || reason {
            writeln!(out, "******************** TEST '{name}' {code} ********************")?;
            write!(out, "{}", outcome.output)?;
            writeln!(out, "********************")?;
        }
        out.flush()
    }
}

/// Whether a list of the command line names the test: its path in the suite, or that behind the suite's name.
fn is_listed<S: AsRef<str>>(list: &[S], suite: &Suite, test: &Test) -> bool {
    let full = format!("{} :: {}", suite.name, test.name());
    list.iter().map(AsRef::as_ref).any(|name| name == test.name() || name == full)
}

/// The name of a test as it is shown.
fn full_name(suite: &Suite, test: &Test) -> String {
    visible::line(&format!("{} :: {}", suite.name, test.name())).into_owned()
}

/// Another order each time.
fn shuffle<T>(items: &mut [T]) {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new();
    for i in (1..items.len()).rev() {
        items.swap(i, random.hash_one(i) as usize % (i + 1));
    }
}

/// Writes a file whole or not at all; a device or pipe is written into.
fn write_file(path: &Path, text: &str) -> Result<(), String> {
    sutura_output::replace(path, text.as_bytes())
        .map_err(|error| format!("could not write '{}': {error}", path.display()))
}
