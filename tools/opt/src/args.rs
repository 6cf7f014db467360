//! The command line. MLIR's spellings: one dash or two, with or without `mlir-`.

use sutura_ir::pass::{PassFilter, PassInstance, PassOptions, PassRegistry};

/// Which diagnostics `--verify-diagnostics` compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expectations {
    /// Every diagnostic must be expected.
    All,
    /// Every expected diagnostic must come; others do not matter.
    OnlyExpected,
}

/// What the command line says.
pub(crate) struct Config {
    pub(crate) input: Option<String>,
    pub(crate) output: Option<String>,
    pub(crate) pipeline: Option<String>,
    /// Passes given as flags, in order.
    pub(crate) passes: Vec<PassInstance>,
    pub(crate) split: Option<String>,
    pub(crate) output_marker: Option<String>,
    pub(crate) expectations: Option<Expectations>,
    pub(crate) verify_each: bool,
    pub(crate) verify_roundtrip: bool,
    pub(crate) allow_unregistered: bool,
    pub(crate) generic: bool,
    pub(crate) debug_info: bool,
    pub(crate) local_scope: bool,
    pub(crate) discard_names: bool,
    pub(crate) elide_elements: Option<usize>,
    pub(crate) hex_elements: Option<usize>,
    pub(crate) elide_resources: Option<usize>,
    pub(crate) print_before: PassFilter,
    pub(crate) print_after: PassFilter,
    pub(crate) print_changed: bool,
    pub(crate) print_failed: bool,
    pub(crate) timing: bool,
    pub(crate) statistics: bool,
    pub(crate) remarks: bool,
    pub(crate) strict: bool,
    pub(crate) dump_pipeline: bool,
    /// Seeds per function with `--check-passes`.
    pub(crate) check_passes: Option<u64>,
    pub(crate) check_reproducer: Option<String>,
    pub(crate) threads: usize,
    pub(crate) request: Request,
}

/// What is asked for instead of work on an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Request {
    /// Nothing else: work.
    #[default]
    Work,
    /// `--help`
    Help,
    /// `--version`
    Version,
    /// `--list-passes`
    ListPasses,
    /// `--show-dialects`
    ShowDialects,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            input: None,
            output: None,
            pipeline: None,
            passes: Vec::new(),
            split: None,
            output_marker: None,
            expectations: None,
            verify_each: true,
            verify_roundtrip: false,
            allow_unregistered: false,
            generic: false,
            debug_info: false,
            local_scope: false,
            discard_names: false,
            elide_elements: None,
            hex_elements: Some(100),
            elide_resources: None,
            print_before: PassFilter::None,
            print_after: PassFilter::None,
            print_changed: false,
            print_failed: false,
            timing: false,
            statistics: false,
            remarks: false,
            strict: false,
            dump_pipeline: false,
            check_passes: None,
            check_reproducer: None,
            threads: 0,
            request: Request::Work,
        }
    }
}

/// How a flag takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// `--flag`, `--flag=true`, `--flag=false`
    Bool,
    /// `--flag` or `--flag=value`
    Optional,
    /// `--flag=value` or `--flag value`
    Value,
}

type Set = fn(&mut Config, &str) -> Result<(), String>;

/// A flag: name, value, what it does, documentation.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// Placeholder of the value in the help.
    pub(crate) value: &'static str,
    pub(crate) help: &'static str,
    set: Set,
}

const fn flag(name: &'static str, takes: Takes, value: &'static str, help: &'static str, set: Set) -> Flag {
    Flag { name, takes, value, help, set }
}

/// Where chunks of a file are separated unless told otherwise.
pub(crate) const MARKER: &str = "// -----";

macro_rules! switch {
    ($name:literal, $field:ident, $help:literal) => {
        flag($name, Takes::Bool, "", $help, |c, v| {
            c.$field = truth(v)?;
            Ok(())
        })
    };
    ($name:literal, request = $request:ident, $help:literal) => {
        flag($name, Takes::Bool, "", $help, |c, _| {
            c.request = Request::$request;
            Ok(())
        })
    };
}

/// All flags, as the help lists them; an empty help hides a flag.
pub(crate) const FLAGS: &[Flag] = &[
    flag("o", Takes::Value, "FILE", "Write the output to FILE instead of stdout", |c, v| {
        c.output = Some(v.to_string());
        Ok(())
    }),
    flag(
        "pass-pipeline",
        Takes::Value,
        "TEXT",
        "Passes to run: 'builtin.module(func.func(cse),canonicalize)'",
        |c, v| {
            c.pipeline = Some(v.to_string());
            Ok(())
        },
    ),
    flag(
        "split-input-file",
        Takes::Optional,
        "MARK",
        "Work on parts of the input one by one, split at '// -----'",
        |c, v| {
            c.split = Some(if v.is_empty() { MARKER.to_string() } else { v.to_string() });
            Ok(())
        },
    ),
    flag("output-split-marker", Takes::Value, "MARK", "What stands between the outputs of parts", |c, v| {
        c.output_marker = Some(v.to_string());
        Ok(())
    }),
    flag(
        "verify-diagnostics",
        Takes::Optional,
        "all|only-expected",
        "Compare diagnostics with 'expected-error {{…}}' comments",
        |c, v| {
            c.expectations = Some(match v {
                "" | "all" => Expectations::All,
                "only-expected" => Expectations::OnlyExpected,
                _ => return Err("takes `all` or `only-expected`".to_string()),
            });
            Ok(())
        },
    ),
    switch!("verify-each", verify_each, "Verify after each pass (on by default)"),
    switch!("verify-roundtrip", verify_roundtrip, "Check that what is printed parses back to the same"),
    switch!("allow-unregistered-dialect", allow_unregistered, "Accept operations of unknown dialects in generic form"),
    switch!("print-op-generic", generic, "Print the generic form"),
    switch!("print-debuginfo", debug_info, "Print locations"),
    switch!("print-local-scope", local_scope, "Print without aliases"),
    switch!("discard-value-names", discard_names, "Number values instead of keeping their names"),
    flag("elide-elementsattrs-if-larger", Takes::Value, "N", "Leave out constants of more than N elements", |c, v| {
        c.elide_elements = Some(number(v)?);
        Ok(())
    }),
    flag("elide-resource-strings-if-larger", Takes::Value, "N", "", |c, v| {
        c.elide_resources = Some(number(v)?);
        Ok(())
    }),
    flag("print-elementsattrs-with-hex-if-larger", Takes::Value, "N", "", |c, v| {
        c.hex_elements = if v == "-1" { None } else { Some(number(v)?) };
        Ok(())
    }),
    flag("print-ir-before", Takes::Value, "PASSES", "Print the IR before these passes, separated by commas", |c, v| {
        c.print_before = names(v);
        Ok(())
    }),
    flag("print-ir-after", Takes::Value, "PASSES", "Print the IR after these passes", |c, v| {
        c.print_after = names(v);
        Ok(())
    }),
    flag("print-ir-before-all", Takes::Bool, "", "Print the IR before each pass", |c, v| {
        c.print_before = if truth(v)? { PassFilter::All } else { PassFilter::None };
        Ok(())
    }),
    flag("print-ir-after-all", Takes::Bool, "", "Print the IR after each pass", |c, v| {
        c.print_after = if truth(v)? { PassFilter::All } else { PassFilter::None };
        Ok(())
    }),
    switch!("print-ir-after-change", print_changed, "Print the IR after passes that changed it"),
    switch!("print-ir-after-failure", print_failed, "Print the IR after a pass that failed"),
    switch!("timing", timing, "Report the time of each step"),
    switch!("pass-statistics", statistics, "Report what the passes counted"),
    switch!("remarks", remarks, "Show what passes remark"),
    switch!("strict", strict, "Warnings are errors"),
    flag(
        "check-passes",
        Takes::Optional,
        "SEEDS",
        "Run public functions in the interpreter before and after each pass, on inputs of so many seeds (3)",
        |c, v| {
            c.check_passes = Some(if v.is_empty() { 3 } else { number(v)? as u64 });
            if c.check_passes == Some(0) { Err("takes a number from 1".to_string()) } else { Ok(()) }
        },
    ),
    flag(
        "check-passes-reproducer",
        Takes::Value,
        "FILE",
        "Where --check-passes writes the program that a pass broke (sutura-opt-PASS.mlir)",
        |c, v| {
            c.check_reproducer = Some(v.to_string());
            Ok(())
        },
    ),
    switch!("dump-pass-pipeline", dump_pipeline, "Print the pipeline that is run, in a form that parses back"),
    flag("threads", Takes::Value, "N", "Work on N threads; the output does not depend on it", |c, v| {
        c.threads = number(v)?;
        if c.threads == 0 { Err("takes a number from 1".to_string()) } else { Ok(()) }
    }),
    flag("disable-threading", Takes::Bool, "", "The same as --threads=1", |c, v| {
        c.threads = usize::from(truth(v)?);
        Ok(())
    }),
    switch!("list-passes", request = ListPasses, "List the passes with their options"),
    switch!("show-dialects", request = ShowDialects, "List the registered dialects"),
    switch!("version", request = Version, "Print the version"),
    switch!("help", request = Help, "Print this"),
];

fn truth(value: &str) -> Result<bool, String> {
    match value {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("takes `true` or `false`".to_string()),
    }
}

fn number(value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| "takes a whole number".to_string())
}

fn names(value: &str) -> PassFilter {
    PassFilter::Named(value.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect())
}

/// Reads the command line.
///
/// # Errors
/// One sentence that says what is wrong, with a hint.
pub(crate) fn parse(args: &[String], passes: &PassRegistry) -> Result<Config, String> {
    let mut config = Config::default();
    let mut rest = args.iter();
    let mut only_files = false;
    while let Some(arg) = rest.next() {
        if only_files || arg == "-" || !arg.starts_with('-') {
            if let Some(first) = &config.input {
                return Err(format!("one input is read, not two: `{first}` and `{arg}`"));
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
                set_flag(&mut config, flag, arg, value, next)?;
            }
            None => add_pass(&mut config, passes, arg, name, value)?,
        }
    }
    check(&mut config, passes)?;
    Ok(config)
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
fn add_pass(
    config: &mut Config,
    passes: &PassRegistry,
    arg: &str,
    name: &str,
    value: Option<&str>,
) -> Result<(), String> {
    let Some(info) = passes.pass(name) else {
        if passes.pipeline(name).is_some() {
            return Err(format!("`{name}` is a pipeline: write `--pass-pipeline='builtin.module({name})'`"));
        }
        return Err(unknown_flag(passes, arg, name));
    };
    let mut options = PassOptions::new(info.options);
    for word in value.unwrap_or_default().trim_matches(['{', '}']).split_whitespace() {
        let (option, value) = word.split_once('=').unwrap_or((word, "true"));
        options.set(option, value).map_err(|e| format!("pass '{name}': {e}"))?;
    }
    let pass = PassInstance::new(info, options).map_err(|e| format!("pass '{name}': {e}"))?;
    config.passes.push(pass);
    Ok(())
}

fn unknown_flag(passes: &PassRegistry, arg: &str, name: &str) -> String {
    let plain = name.strip_prefix("mlir-").unwrap_or(name);
    let flags = FLAGS.iter().map(|f| f.name);
    let known: Vec<&str> = flags.chain(passes.passes().into_iter().map(|p| p.argument)).collect();
    match sutura_ir::diagnostics::did_you_mean(plain, known) {
        Some(close) => format!("unknown flag or pass `{arg}`; did you mean `--{close}`?"),
        None => format!("unknown flag or pass `{arg}`; `--help` lists the flags, `--list-passes` the passes"),
    }
}

/// Flags that do not go together, and flags that imply others.
fn check(config: &mut Config, passes: &PassRegistry) -> Result<(), String> {
    if config.pipeline.is_some() && !config.passes.is_empty() {
        let name = config.passes[0].info().argument;
        return Err(format!("`--{name}` and `--pass-pipeline` cannot both be given: write the pass into the pipeline"));
    }
    if config.print_changed && config.print_after == PassFilter::None {
        config.print_after = PassFilter::All;
    }
    for filter in [&config.print_before, &config.print_after] {
        let PassFilter::Named(names) = filter else { continue };
        for name in names {
            if passes.pass(name).is_none() {
                let hint = passes.suggest(name).map(|c| format!("; did you mean `{c}`?")).unwrap_or_default();
                return Err(format!("no pass `{name}` to print the IR around{hint}"));
            }
        }
    }
    if config.check_reproducer.is_some() && config.check_passes.is_none() {
        return Err("`--check-passes-reproducer` needs `--check-passes`".to_string());
    }
    if config.output_marker.is_some() && config.split.is_none() {
        return Err("`--output-split-marker` needs `--split-input-file`".to_string());
    }
    Ok(())
}
