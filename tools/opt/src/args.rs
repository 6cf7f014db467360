//! The command line.

use sutura_ir::Severity;
use sutura_ir::diagnostics::codes;
use sutura_ir::pass::{PassFilter, PassInstance, PassOptions, PassRegistry};
use sutura_ir::trace::Component;

use crate::fill::Fill;
use crate::flags::{FLAGS, Flag, REFUSED, Takes};
use crate::remarks::{RemarkFilters, RemarkFormat};
use crate::say::MessageFormat;
use crate::timing::Display;

/// Where chunks of a file are separated unless told otherwise.
pub(crate) const MARKER: &str = "// -----";

/// Which diagnostics `--verify-diagnostics` compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expectations {
    /// Every diagnostic must be expected.
    All,
    /// Every expected diagnostic must come; others do not matter.
    OnlyExpected,
}

/// What is asked for instead of work on an input.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Request {
    /// Nothing else: work.
    #[default]
    Work,
    /// `--help`
    Help,
    /// `--help-all`
    HelpAll,
    /// `--version`
    Version,
    /// `--list-passes`
    ListPasses,
    /// `--show-dialects`
    ShowDialects,
    /// `--explain=CODE`
    Explain(String),
    /// `--doc=DIALECT`
    Doc(String),
}

/// What the command line says.
#[derive(Default)]
pub(crate) struct Config {
    pub(crate) input: Option<String>,
    /// Bytes of the input at most.
    pub(crate) max_input: u64,
    pub(crate) output: Option<String>,
    pub(crate) pipeline: Option<String>,
    /// Passes given as flags, in order.
    pub(crate) passes: Vec<PassInstance>,
    pub(crate) split: Option<String>,
    pub(crate) output_marker: Option<String>,
    pub(crate) expectations: Option<Expectations>,
    pub(crate) verify_each: bool,
    pub(crate) verify_roundtrip: bool,
    pub(crate) skip_first_verifier: bool,
    pub(crate) allow_unregistered: bool,
    pub(crate) no_implicit_module: bool,
    pub(crate) run_reproducer: bool,
    /// Files of declarations that the input may use; `builtin` is the library.
    pub(crate) operators: Vec<String>,
    /// What stands for elements that were left out.
    pub(crate) fill_elided: Option<Fill>,
    // Printing.
    pub(crate) generic: bool,
    pub(crate) debug_info: bool,
    pub(crate) pretty_locations: bool,
    pub(crate) names_from_locations: bool,
    pub(crate) unique_ids: bool,
    pub(crate) value_users: bool,
    pub(crate) skip_regions: bool,
    pub(crate) local_scope: bool,
    pub(crate) discard_names: bool,
    pub(crate) keep_comments: bool,
    pub(crate) elide_elements: Option<usize>,
    pub(crate) hex_elements: Option<usize>,
    pub(crate) elide_resources: Option<usize>,
    // Watching.
    pub(crate) print_before: PassFilter,
    pub(crate) print_after: PassFilter,
    pub(crate) print_changed: bool,
    pub(crate) print_failed: bool,
    pub(crate) print_diff: bool,
    pub(crate) module_scope: bool,
    pub(crate) tree_dir: Option<String>,
    pub(crate) remarks: bool,
    pub(crate) remark_filters: RemarkFilters,
    pub(crate) remark_format: RemarkFormat,
    pub(crate) remarks_file: Option<String>,
    pub(crate) final_remarks: bool,
    pub(crate) debug: bool,
    /// Names of the components that `--debug` is narrowed to.
    pub(crate) debug_only: Vec<String>,
    /// The components that write down what they do.
    pub(crate) traced: Vec<&'static Component>,
    // Reports.
    pub(crate) timing: bool,
    pub(crate) timing_display: Display,
    pub(crate) timing_json: Option<String>,
    pub(crate) wants_json_timing: bool,
    pub(crate) profile: Option<String>,
    pub(crate) statistics: bool,
    pub(crate) statistics_list: bool,
    pub(crate) dump_pipeline: bool,
    pub(crate) strict: bool,
    /// Dialects whose operations may be left.
    pub(crate) expect_legal: Option<Vec<String>>,
    /// Seeds per function with `--check-passes`.
    pub(crate) check_passes: Option<u64>,
    pub(crate) check_reproducer: Option<String>,
    // Failures.
    pub(crate) reproducer: Option<String>,
    pub(crate) local_reproducer: bool,
    pub(crate) generate_reproducer: Option<String>,
    pub(crate) no_reproducer: bool,
    pub(crate) message_format: MessageFormat,
    /// Colours on standard error, whatever it is.
    pub(crate) color: Option<bool>,
    /// Diagnostics below this are not shown.
    pub(crate) least_shown: Option<Severity>,
    pub(crate) no_notes: bool,
    pub(crate) lists_as_json: bool,
    /// 0 for as many as there are processors.
    pub(crate) threads: usize,
    pub(crate) request: Request,
    /// Flags that are given and do nothing.
    pub(crate) idle: Vec<String>,
}

impl Config {
    fn new() -> Self {
        Self { verify_each: true, hex_elements: Some(100), max_input: sutura_input::TEXT_LIMIT, ..Self::default() }
    }

    /// True when the IR around passes is wanted.
    pub(crate) fn prints_ir(&self) -> bool {
        self.print_before != PassFilter::None || self.print_after != PassFilter::None || self.print_failed
    }

    /// True when remarks go somewhere.
    pub(crate) fn hears_remarks(&self) -> bool {
        self.remarks || self.remark_format != RemarkFormat::Shown
    }

    /// True when some pass is asked for.
    pub(crate) fn runs_passes(&self) -> bool {
        self.pipeline.is_some() || !self.passes.is_empty() || self.run_reproducer
    }
}

/// Why a command line is wrong.
pub(crate) struct Wrong {
    pub(crate) code: &'static str,
    /// One sentence, with a hint.
    pub(crate) message: String,
    /// How messages are to be written, as far as the arguments were read.
    pub(crate) format: MessageFormat,
}

type Said<T> = Result<T, (&'static str, String)>;

/// Reads the command line.
pub(crate) fn parse(args: &[String], passes: &PassRegistry) -> Result<Config, Wrong> {
    let mut config = Config::new();
    // Errors before the flag are to be written in this form, too.
    let format = args.iter().filter_map(|a| a.trim_start_matches('-').strip_prefix("message-format=")).next_back();
    config.message_format = match format {
        Some("json") => MessageFormat::Json,
        Some("short") => MessageFormat::Short,
        _ => MessageFormat::Human,
    };
    let format = config.message_format;
    match parse_into(&mut config, args, passes).and_then(|()| check(&mut config, passes)) {
        Ok(()) => Ok(config),
        Err((code, message)) => Err(Wrong { code, message, format }),
    }
}

fn parse_into(config: &mut Config, args: &[String], passes: &PassRegistry) -> Said<()> {
    let mut rest = args.iter();
    let mut only_files = false;
    while let Some(arg) = rest.next() {
        if only_files || arg == "-" || !arg.starts_with('-') {
            if let Some(first) = &config.input {
                return Err((codes::FLAG_CLASH, format!("one input is read, not two: `{first}` and `{arg}`")));
            }
            config.input = Some(arg.clone());
            continue;
        }
        if arg == "--" {
            only_files = true;
            continue;
        }
        let text = arg.trim_start_matches('-');
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let plain = name.strip_prefix("mlir-").unwrap_or(name);
        let plain = if plain == "h" { "help" } else { plain };
        match FLAGS.iter().find(|f| f.name == plain) {
            Some(flag) => {
                let next = || rest.next().map(String::as_str);
                set_flag(config, flag, arg, value, next).map_err(|message| (codes::FLAG_VALUE, message))?;
            }
            // What is not there is turned off.
            None if value == Some("false") && REFUSED.iter().any(|(flag, _)| *flag == plain) => {}
            None => add_pass(config, passes, arg, name, value)?,
        }
    }
    Ok(())
}

fn set_flag<'a>(
    config: &mut Config,
    flag: &Flag,
    arg: &str,
    value: Option<&'a str>,
    next: impl FnOnce() -> Option<&'a str>,
) -> Result<(), String> {
    let value = match (flag.takes, value) {
        (_, Some(value)) => value,
        (Takes::Bool | Takes::Optional, None) => "",
        (Takes::Value, None) => next().ok_or_else(|| format!("`{arg}` needs a value: {}", flag.value))?,
    };
    (flag.set)(config, value).map_err(|e| format!("`{arg}` {e}"))
}

/// `--cse` or `--canonicalize=max-iterations=3 top-down=false`.
fn add_pass(config: &mut Config, passes: &PassRegistry, arg: &str, name: &str, value: Option<&str>) -> Said<()> {
    let Some(info) = passes.pass(name) else {
        if passes.pipeline(name).is_some() {
            let message = format!("`{name}` is a pipeline: write `--pass-pipeline='builtin.module({name})'`");
            return Err((codes::UNKNOWN_FLAG, message));
        }
        return Err((codes::UNKNOWN_FLAG, unknown_flag(passes, arg, name)));
    };
    let wrong = |e: String| (codes::PASS_OPTION, format!("pass '{name}': {e}"));
    let mut options = PassOptions::new(info.options);
    for word in without_braces(value.unwrap_or_default()).map_err(wrong)?.split_whitespace() {
        let (option, value) = word.split_once('=').unwrap_or((word, "true"));
        options.set(option, value).map_err(wrong)?;
    }
    config.passes.push(PassInstance::new(info, options).map_err(wrong)?);
    Ok(())
}

/// What stands in the braces around all options, if there are any.
fn without_braces(text: &str) -> Result<&str, String> {
    let text = text.trim();
    let mut depth = 0usize;
    for c in text.chars() {
        depth = match c {
            '{' => depth + 1,
            '}' => depth.checked_sub(1).ok_or_else(|| format!("no `{{` for a `}}` of `{text}`"))?,
            _ => depth,
        };
    }
    if depth > 0 {
        return Err(format!("no `}}` for a `{{` of `{text}`"));
    }
    Ok(text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text))
}

fn unknown_flag(passes: &PassRegistry, arg: &str, name: &str) -> String {
    let plain = name.strip_prefix("mlir-").unwrap_or(name);
    if let Some((flag, reason)) = REFUSED.iter().find(|(flag, _)| *flag == plain) {
        return format!("`--{flag}` is not supported: {reason}");
    }
    let flags = FLAGS.iter().map(|f| f.name);
    let known: Vec<&str> = flags.chain(passes.passes().into_iter().map(|p| p.argument)).collect();
    match sutura_ir::diagnostics::did_you_mean(plain, known).or_else(|| passes.suggest(plain)) {
        Some(close) => format!("unknown flag or pass `{arg}`; did you mean `--{close}`?"),
        None => format!("unknown flag or pass `{arg}`; `--help-all` lists the flags, `--list-passes` the passes"),
    }
}

/// Flags that do not go together, flags that imply others, and flags that do nothing.
fn check(config: &mut Config, passes: &PassRegistry) -> Said<()> {
    let clash = |message: String| Err((codes::FLAG_CLASH, message));
    if config.pipeline.is_some() && !config.passes.is_empty() {
        let name = config.passes[0].info().argument;
        return clash(format!(
            "`--{name}` and `--pass-pipeline` cannot both be given: write the pass into the pipeline"
        ));
    }
    if config.run_reproducer && (config.pipeline.is_some() || !config.passes.is_empty()) {
        return clash("`--run-reproducer` runs the pipeline of the input: other passes cannot be given".to_string());
    }
    if config.output_marker.is_some() && config.split.is_none() {
        return clash("`--output-split-marker` needs `--split-input-file`".to_string());
    }
    if config.check_reproducer.is_some() && config.check_passes.is_none() {
        return clash("`--check-passes-reproducer` needs `--check-passes`".to_string());
    }
    if config.wants_json_timing && config.timing_json.is_none() {
        return clash("JSON is not mixed with other output: write `--timing=json:FILE`".to_string());
    }
    if config.no_reproducer && (config.reproducer.is_some() || config.local_reproducer) {
        return clash("`--no-reproducer` and a flag that asks for a reproducer cannot both be given".to_string());
    }
    imply(config);
    check_names(config, passes)?;
    config.traced = traced(config, passes)?;
    find_idle(config);
    Ok(())
}

/// Flags work alone: what they need is taken as given.
fn imply(config: &mut Config) {
    let shows_after = config.print_changed || config.print_diff;
    let tree_alone = config.tree_dir.is_some() && !config.prints_ir();
    if (shows_after || tree_alone) && config.print_after == PassFilter::None {
        config.print_after = PassFilter::All;
    }
    // Remarks in a file are wanted whether or not they are shown.
    if config.remark_format != RemarkFormat::Shown || config.remarks_file.is_some() {
        config.remark_filters.all_if_none();
    }
    if config.remarks_file.is_some() && config.remark_format == RemarkFormat::Shown {
        config.remark_format = RemarkFormat::Yaml;
    }
    config.remarks |= !config.remark_filters.is_empty();
    config.debug_info |= config.pretty_locations;
}

fn check_names(config: &Config, passes: &PassRegistry) -> Said<()> {
    for filter in [&config.print_before, &config.print_after] {
        let PassFilter::Named(names) = filter else { continue };
        for name in names {
            if passes.pass(name).is_none() {
                let hint = passes.suggest(name).map(|c| format!("; did you mean `{c}`?")).unwrap_or_default();
                return Err((codes::FLAG_VALUE, format!("no pass `{name}` to print the IR around{hint}")));
            }
        }
    }
    Ok(())
}

/// The components that `--debug` and `--debug-only` ask for: as in MLIR's drivers, the second narrows the first.
fn traced(config: &Config, passes: &PassRegistry) -> Said<Vec<&'static Component>> {
    let all = passes.components();
    if config.debug_only.is_empty() {
        return Ok(if config.debug { all } else { Vec::new() });
    }
    let mut found = Vec::new();
    for name in &config.debug_only {
        match all.iter().find(|component| component.name == name) {
            Some(component) => found.push(*component),
            None => return Err((codes::FLAG_VALUE, unknown(name, passes))),
        }
    }
    Ok(found)
}

/// What is said of a component that there is not.
fn unknown(name: &str, passes: &PassRegistry) -> String {
    let known: Vec<&str> = passes.components().iter().map(|component| component.name).collect();
    let hint = match sutura_ir::diagnostics::did_you_mean(name, known.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None if passes.pass(name).is_some() => {
            format!("of that pass, `--remarks-filter={name}` shows what it says; there are {}", known.join(", "))
        }
        None => format!("there are {}", known.join(", ")),
    };
    format!("`--debug-only` knows no component `{name}`; {hint}")
}

fn find_idle(config: &mut Config) {
    let mut idle = Vec::new();
    let mut say = |given: bool, flag: &str, why: &str| {
        if given {
            idle.push(format!("`--{flag}` does nothing: {why}"));
        }
    };
    let no_passes = config.request == Request::Work && !config.runs_passes();
    let none = "no pass is run";
    say(no_passes && config.prints_ir(), "print-ir-…", none);
    say(no_passes && config.statistics, "pass-statistics", none);
    say(no_passes && config.remarks, "remarks", none);
    say(no_passes && config.debug, "debug", none);
    say(no_passes && !config.debug_only.is_empty(), "debug-only", none);
    say(no_passes && config.check_passes.is_some(), "check-passes", none);
    say(no_passes && config.dump_pipeline, "dump-pass-pipeline", none);
    say(no_passes && config.local_reproducer, "pass-pipeline-local-reproducer", none);
    say(config.final_remarks && !config.runs_passes(), "remark-policy", none);
    let compared = config.expectations.is_some();
    let every = "with `--verify-diagnostics`, all diagnostics are compared";
    say(compared && config.least_shown.is_some(), "diagnostic-verbosity-level", every);
    say(compared && config.no_notes, "disable-diagnostic-notes", every);
    let unseen = config.module_scope && !config.prints_ir();
    say(unseen, "print-ir-module-scope", "the IR is not printed around passes; `--print-ir-after-all` does that");
    let lists = matches!(config.request, Request::ListPasses | Request::ShowDialects);
    say(config.lists_as_json && !lists, "format", "it is for `--list-passes` and `--show-dialects`");
    config.idle.extend(idle);
}
