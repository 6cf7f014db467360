//! The table of flags. MLIR's spellings: one dash or two, with or without `mlir-`.

use sutura_ir::Severity;
use sutura_ir::pass::PassFilter;

use crate::args::{Config, Expectations, MARKER, Request};
use crate::fill::Fill;
use crate::remarks::{Category, RemarkFormat};
use crate::say::MessageFormat;
use crate::timing::Display;

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

/// What a flag is about; the order is that of `--help-all`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Group {
    Work,
    Checks,
    Printing,
    Watching,
    Reports,
    Failures,
    Requests,
}

impl Group {
    pub(crate) const ALL: [(Self, &'static str); 7] = [
        (Self::Work, "What is done"),
        (Self::Checks, "What is checked"),
        (Self::Printing, "How the result is printed"),
        (Self::Watching, "Seeing what passes do"),
        (Self::Reports, "Reports"),
        (Self::Failures, "When something fails"),
        (Self::Requests, "Asking the tool"),
    ];
}

type Set = fn(&mut Config, &str) -> Result<(), String>;

/// A flag: name, value, what it does, documentation.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// Placeholder of the value in the help.
    pub(crate) value: &'static str,
    pub(crate) help: &'static str,
    pub(crate) group: Group,
    pub(crate) set: Set,
}

const fn flag(
    group: Group,
    name: &'static str,
    takes: Takes,
    value: &'static str,
    help: &'static str,
    set: Set,
) -> Flag {
    Flag { name, takes, value, help, group, set }
}

macro_rules! switch {
    ($group:ident, $name:literal, $field:ident, $help:literal) => {
        flag(Group::$group, $name, Takes::Bool, "", $help, |c, v| {
            c.$field = truth(v)?;
            Ok(())
        })
    };
    ($group:ident, $name:literal, request = $request:ident, $help:literal) => {
        flag(Group::$group, $name, Takes::Bool, "", $help, |c, _| {
            c.request = Request::$request;
            Ok(())
        })
    };
}

macro_rules! value {
    ($group:ident, $name:literal, $value:literal, $help:literal, |$c:ident, $v:ident| $set:expr) => {
        flag(Group::$group, $name, Takes::Value, $value, $help, |$c, $v| {
            $set;
            Ok(())
        })
    };
}

/// Flags of MLIR's drivers that cannot be served, with the reason.
pub(crate) const REFUSED: &[(&str, &str)] = &[
    ("load-dialect-plugin", "there are no plugins: link your dialect into a tool of your own, see docs/extending.md"),
    ("load-pass-plugin", "there are no plugins: link your pass into a tool of your own, see docs/extending.md"),
    ("irdl-file", "IRDL is not read: declare the dialect in Rust, see docs/extending.md"),
    ("emit-bytecode", "bytecode is not written: text is"),
    ("emit-bytecode-version", "bytecode is not written: text is"),
    ("print-stacktrace-on-diagnostic", "diagnostics carry no stack trace"),
    ("print-op-on-diagnostic", "messages show the source, not the operation; `--print-ir-after-failure` prints it"),
    (
        "log-actions-to",
        "actions are not logged; `--profile-actions-to` says when each pass ran, `--print-ir-diff` what it did",
    ),
    ("log-mlir-actions-filter", "actions are not logged"),
    ("enable-debugger-hook", "there are no actions to stop at"),
    ("debug-counter", "rewrites are not counted; `sutura-reduce` finds what a failure needs"),
    ("print-debug-counter", "rewrites are not counted"),
    ("elide-resource-data-from-bytecode", "bytecode is not written: text is"),
];

/// All flags, in the order of the help.
pub(crate) const FLAGS: &[Flag] = &[
    // ---- work
    value!(Work, "o", "FILE", "Write the output to FILE instead of stdout", |c, v| c.output = Some(v.to_string())),
    value!(Work, "pass-pipeline", "TEXT", "Passes to run: 'builtin.module(func.func(cse),canonicalize)'", |c, v| {
        if c.pipeline.replace(v.to_string()).is_some() {
            // mlir-opt takes it so, too, and says nothing.
            c.idle.push("an earlier `--pass-pipeline` does nothing: the last one counts".to_string());
        }
    }),
    flag(
        Group::Work,
        "split-input-file",
        Takes::Optional,
        "MARK",
        "Work on parts of the input one by one, split at '// -----'",
        |c, v| {
            c.split = Some(if v.is_empty() { MARKER.to_string() } else { v.to_string() });
            Ok(())
        },
    ),
    value!(Work, "output-split-marker", "MARK", "What stands between the outputs of parts", |c, v| {
        c.output_marker = Some(v.to_string());
    }),
    switch!(Work, "allow-unregistered-dialect", allow_unregistered, "Accept operations of unknown dialects"),
    switch!(Work, "no-implicit-module", no_implicit_module, "Put no module around a single operation"),
    value!(Work, "threads", "N", "Work on N threads; the output does not depend on it", |c, v| {
        c.threads = number(v)?;
        if !(1..=MOST_THREADS).contains(&c.threads) {
            return Err(format!("takes a number from 1 to {MOST_THREADS}"));
        }
    }),
    flag(Group::Work, "disable-threading", Takes::Bool, "", "The same as --threads=1", |c, v| {
        c.threads = usize::from(truth(v)?);
        Ok(())
    }),
    value!(Work, "max-input", "SIZE", "Refuse inputs of more bytes, as 2G; 512M if not given", |c, v| {
        c.max_input = sutura_input::parse_size(v)?;
    }),
    switch!(Work, "run-reproducer", run_reproducer, "Run the pipeline that the input holds"),
    value!(
        Work,
        "operators",
        "FILE|builtin",
        "Declare the operators of FILE, or of the library, that the input applies and does not declare; repeatable",
        |c, v| c.operators.push(v.to_string())
    ),
    value!(
        Work,
        "fill-elided",
        "zero|rand",
        "Elements of constants that were left out when they were printed",
        |c, v| {
            c.fill_elided = Some(match v {
                "zero" => Fill::Zero,
                "rand" => Fill::Random,
                _ => return Err("takes `zero` or `rand`".to_string()),
            });
        }
    ),
    // ---- checks
    flag(
        Group::Checks,
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
    switch!(Checks, "verify-each", verify_each, "Verify after each pass (on by default)"),
    switch!(Checks, "verify-roundtrip", verify_roundtrip, "Check that what is printed parses back to the same"),
    flag(
        Group::Checks,
        "check-passes",
        Takes::Optional,
        "SEEDS",
        "Compare what functions do before and after each pass (3 seeds; at most 10000)",
        |c, v| {
            c.check_passes = Some(if v.is_empty() { 3 } else { number(v)? as u64 });
            match c.check_passes {
                Some(1..=MOST_SEEDS) => Ok(()),
                _ => Err(format!("takes a number from 1 to {MOST_SEEDS}")),
            }
        },
    ),
    value!(
        Checks,
        "check-passes-reproducer",
        "FILE",
        "Where --check-passes writes the program that a pass broke (sutura-opt-PASS.mlir)",
        |c, v| c.check_reproducer = Some(v.to_string())
    ),
    value!(
        Checks,
        "expect-legal",
        "DIALECTS",
        "Operations of other dialects that are left at the end are errors; names with commas between them",
        |c, v| {
            let names = v.split(',').map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
            c.expect_legal.get_or_insert_default().extend(names);
        }
    ),
    switch!(Checks, "strict", strict, "Warnings are errors"),
    switch!(
        Checks,
        "very-unsafe-disable-verifier-on-parsing",
        skip_first_verifier,
        "Do not verify what was read; passes may then fail in any way"
    ),
    // ---- printing
    switch!(Printing, "print-op-generic", generic, "Print the generic form"),
    switch!(Printing, "print-debuginfo", debug_info, "Print locations"),
    switch!(Printing, "pretty-debuginfo", pretty_locations, "Print locations for people; this does not parse back"),
    switch!(Printing, "use-nameloc-as-prefix", names_from_locations, "Name values after the names in their locations"),
    switch!(Printing, "print-unique-ssa-ids", unique_ids, "Give each value of the program a number of its own"),
    switch!(Printing, "print-value-users", value_users, "Say in comments what uses each value"),
    switch!(Printing, "print-skip-regions", skip_regions, "Print '{...}' for regions; this does not parse back"),
    switch!(Printing, "print-local-scope", local_scope, "Print without aliases"),
    switch!(
        Printing,
        "keep-comments",
        keep_comments,
        "Print the comments of the input beside what is left of what they belong to"
    ),
    switch!(Printing, "discard-value-names", discard_names, "Number values instead of keeping their names"),
    flag(
        Group::Printing,
        "print-assume-verified",
        Takes::Bool,
        "",
        "Accepted: what is printed has been verified, unless verification is turned off",
        |_, v| truth(v).map(drop),
    ),
    value!(Printing, "elide-elementsattrs-if-larger", "N", "Leave out constants of more than N elements", |c, v| {
        c.elide_elements = Some(number(v)?);
    }),
    value!(
        Printing,
        "elide-resource-strings-if-larger",
        "N",
        "Leave out resources of more than N characters",
        |c, v| {
            c.elide_resources = Some(number(v)?);
        }
    ),
    value!(
        Printing,
        "print-elementsattrs-with-hex-if-larger",
        "N",
        "Print constants of more than N elements in hexadecimal; -1 for never",
        |c, v| c.hex_elements = if v == "-1" { None } else { Some(number(v)?) }
    ),
    // ---- watching
    value!(Watching, "print-ir-before", "PASSES", "Print the IR before these passes, separated by commas", |c, v| {
        c.print_before = names(&c.print_before, some(v)?);
    }),
    value!(Watching, "print-ir-after", "PASSES", "Print the IR after these passes", |c, v| {
        c.print_after = names(&c.print_after, some(v)?);
    }),
    flag(Group::Watching, "print-ir-before-all", Takes::Bool, "", "Print the IR before each pass", |c, v| {
        c.print_before = if truth(v)? { PassFilter::All } else { PassFilter::None };
        Ok(())
    }),
    flag(Group::Watching, "print-ir-after-all", Takes::Bool, "", "Print the IR after each pass", |c, v| {
        c.print_after = if truth(v)? { PassFilter::All } else { PassFilter::None };
        Ok(())
    }),
    switch!(Watching, "print-ir-after-change", print_changed, "Print the IR after passes that changed it"),
    switch!(Watching, "print-ir-after-failure", print_failed, "Print the IR after a pass that failed"),
    switch!(Watching, "print-ir-diff", print_diff, "Print what passes changed, as a unified diff"),
    switch!(Watching, "print-ir-module-scope", module_scope, "Print the whole program, not only what a pass ran on"),
    value!(Watching, "print-ir-tree-dir", "DIR", "Write the IR around passes to numbered files under DIR", |c, v| {
        c.tree_dir = Some(some(v)?.to_string());
    }),
    switch!(Watching, "remarks", remarks, "Show what passes remark"),
    value!(Watching, "remarks-filter", "REGEX", "Show remarks whose pass or text matches", |c, v| {
        c.remark_filters.all(v)?;
    }),
    value!(Watching, "remarks-filter-passed", "REGEX", "The same, of what was done", |c, v| {
        c.remark_filters.add(Category::Passed, v)?;
    }),
    value!(Watching, "remarks-filter-missed", "REGEX", "The same, of what was not done", |c, v| {
        c.remark_filters.add(Category::Missed, v)?;
    }),
    value!(Watching, "remarks-filter-failed", "REGEX", "The same, of what was tried and failed", |c, v| {
        c.remark_filters.add(Category::Failed, v)?;
    }),
    value!(Watching, "remarks-filter-analyse", "REGEX", "The same, of what was found out", |c, v| {
        c.remark_filters.add(Category::Analysis, v)?;
    }),
    value!(Watching, "remark-format", "emitRemark|yaml|json", "How remarks are written", |c, v| {
        c.remark_format = match v {
            "emitRemark" => RemarkFormat::Shown,
            "yaml" => RemarkFormat::Yaml,
            "json" => RemarkFormat::Json,
            "bitstream" => return Err("`bitstream` is not written; `yaml` and `json` are".to_string()),
            _ => return Err("takes `emitRemark`, `yaml` or `json`".to_string()),
        };
    }),
    value!(Watching, "remark-policy", "all|final", "All remarks, or of a pass at a place only the last", |c, v| {
        c.final_remarks = match v {
            "all" => false,
            "final" => true,
            _ => return Err("takes `all` or `final`".to_string()),
        };
        c.remarks |= c.final_remarks;
    }),
    value!(Watching, "remarks-output-file", "FILE", "Where remarks in yaml or json go", |c, v| {
        c.remarks_file = Some(some(v)?.to_string());
    }),
    value!(
        Watching,
        "debug-only",
        "COMPONENTS",
        "Write down each step of these, with commas between them: greedy-rewriter, dialect-conversion",
        |c, v| c.debug_only.extend(v.split(',').map(|name| name.trim().to_string()))
    ),
    switch!(Watching, "debug", debug, "Write down each step of all components that `--debug-only` knows"),
    // ---- reports
    flag(Group::Reports, "timing", Takes::Optional, "json:FILE", "Report the time of each step", |c, v| {
        match v.split_once(':') {
            Some(("json", file)) if !file.is_empty() => c.timing_json = Some(file.to_string()),
            None => c.timing = v == "text" || truth(v)?,
            _ => return Err("takes `text` or `json:FILE`".to_string()),
        }
        Ok(())
    }),
    value!(Reports, "timing-display", "tree|list", "As nested pipelines, or sorted by time", |c, v| {
        c.timing_display = match v {
            "tree" => Display::Tree,
            "list" => Display::List,
            _ => return Err("takes `tree` or `list`".to_string()),
        };
        c.timing = true;
    }),
    value!(
        Reports,
        "output-format",
        "text|json",
        "Form of the timing report; json needs --timing=json:FILE",
        |c, v| {
            c.wants_json_timing = match v {
                "text" => false,
                "json" => true,
                _ => return Err("takes `text` or `json`".to_string()),
            };
        }
    ),
    value!(
        Reports,
        "profile-actions-to",
        "FILE",
        "Write when each pass ran on what, for Chrome or Perfetto",
        |c, v| {
            if v == "-" {
                return Err("takes the name of a file: JSON is not mixed with other output".to_string());
            }
            c.profile = Some(some(v)?.to_string());
        }
    ),
    switch!(Reports, "pass-statistics", statistics, "Report what the passes counted"),
    value!(Reports, "pass-statistics-display", "pipeline|list", "As nested pipelines, or merged by pass", |c, v| {
        c.statistics_list = match v {
            "pipeline" => false,
            "list" => true,
            _ => return Err("takes `pipeline` or `list`".to_string()),
        };
        c.statistics = true;
    }),
    switch!(Reports, "dump-pass-pipeline", dump_pipeline, "Print the pipeline that is run, in a form that parses back"),
    // ---- failures
    value!(
        Failures,
        "pass-pipeline-crash-reproducer",
        "FILE",
        "Where to write a reproducer if a pass fails",
        |c, v| c.reproducer = Some(some(v)?.to_string())
    ),
    switch!(
        Failures,
        "pass-pipeline-local-reproducer",
        local_reproducer,
        "Reproducers begin right before the pass that fails"
    ),
    value!(Failures, "generate-reproducer", "FILE", "Write a reproducer in any case", |c, v| {
        c.generate_reproducer = Some(some(v)?.to_string());
    }),
    switch!(Failures, "no-reproducer", no_reproducer, "Write no reproducer when a pass fails"),
    flag(
        Group::Failures,
        "color",
        Takes::Optional,
        "auto|always|never",
        "Colours on stderr (auto: on a terminal, unless NO_COLOR is set)",
        |c, v| {
            c.color = match v {
                "" | "always" | "true" => Some(true),
                "never" | "false" => Some(false),
                "auto" => None,
                _ => return Err("takes `auto`, `always` or `never`".to_string()),
            };
            Ok(())
        },
    ),
    value!(Failures, "message-format", "human|short|json", "How messages are written to stderr", |c, v| {
        c.message_format = match v {
            "human" => MessageFormat::Human,
            "short" => MessageFormat::Short,
            "json" => MessageFormat::Json,
            _ => return Err("takes `human`, `short` or `json`".to_string()),
        };
    }),
    value!(Failures, "diagnostic-verbosity-level", "errors|warnings|remarks", "Show nothing below that", |c, v| {
        c.least_shown = match v {
            "errors" => Some(Severity::Error),
            "warnings" => Some(Severity::Warning),
            "remarks" => None,
            _ => return Err("takes `errors`, `warnings` or `remarks`".to_string()),
        };
    }),
    switch!(Failures, "disable-diagnostic-notes", no_notes, "Show no notes of diagnostics"),
    // ---- requests
    value!(Requests, "explain", "CODE", "Explain a code such as E0003, with examples", |c, v| {
        c.request = Request::Explain(v.to_string());
    }),
    value!(Requests, "doc", "DIALECT", "Print a dialect's documentation, in Markdown", |c, v| {
        c.request = Request::Doc(v.to_string());
    }),
    switch!(Requests, "list-passes", request = ListPasses, "List the passes with their options"),
    switch!(Requests, "show-dialects", request = ShowDialects, "List the registered dialects"),
    value!(Requests, "format", "text|json", "Form of the lists", |c, v| {
        c.lists_as_json = match v {
            "text" => false,
            "json" => true,
            _ => return Err("takes `text` or `json`".to_string()),
        };
    }),
    switch!(Requests, "version", request = Version, "Print the version"),
    switch!(Requests, "help", request = Help, "Print the common flags"),
    switch!(Requests, "help-all", request = HelpAll, "Print all flags"),
];

/// More threads than these are a mistake.
const MOST_THREADS: usize = 1024;

/// More seeds than these are a mistake.
const MOST_SEEDS: u64 = 10_000;

/// A value that is not empty.
fn some(value: &str) -> Result<&str, String> {
    if value.is_empty() { Err("takes a value that is not empty".to_string()) } else { Ok(value) }
}

fn truth(value: &str) -> Result<bool, String> {
    match value {
        "" | "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("takes `true` or `false`".to_string()),
    }
}

fn number(value: &str) -> Result<usize, String> {
    sutura_input::whole_number(value).ok_or_else(|| "takes a whole number".to_string())
}

/// Names separated by commas, added to those given before.
fn names(before: &PassFilter, value: &str) -> PassFilter {
    let mut all = match before {
        PassFilter::Named(names) => names.clone(),
        PassFilter::All => return PassFilter::All,
        PassFilter::None => Vec::new(),
    };
    all.extend(value.split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()));
    PassFilter::Named(all)
}
