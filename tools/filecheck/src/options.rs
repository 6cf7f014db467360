//! FileCheck's command line: options may start with one dash or two, and take
//! their value after `=` or as the next argument.

use strsim::osa_distance;

use crate::config::{Config, Verbosity};
use crate::report::{DumpFilter, DumpOptions};

/// When the input is dumped; of several, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DumpInput {
    Never,
    Fail,
    Always,
    Help,
}

/// A parsed command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) config: Config,
    pub(crate) check_file: Option<String>,
    pub(crate) input_file: Option<String>,
    /// Bytes of a text at most.
    pub(crate) max_input: Option<u64>,
    pub(crate) help: bool,
    pub(crate) version: bool,
    dump_input: Option<DumpInput>,
    dump_filter: Option<DumpFilter>,
    dump_context: Option<usize>,
}

const FLAGS: [&str; 13] = [
    "allow-deprecated-dag-overlap",
    "allow-empty",
    "allow-unused-prefixes",
    "enable-var-scope",
    "help",
    "ignore-case",
    "match-full-lines",
    "no-lint",
    "strict-whitespace",
    "v",
    "version",
    "vv",
    "h",
];

const VALUED: [&str; 9] = [
    "check-prefix",
    "check-prefixes",
    "comment-prefixes",
    "dump-input",
    "dump-input-context",
    "dump-input-filter",
    "implicit-check-not",
    "input-file",
    "max-input",
];

impl Options {
    /// Parses arguments; the error is a sentence.
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let name = match arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')) {
                Some(name) if !name.is_empty() => name,
                _ => {
                    options.positional(arg)?;
                    continue;
                }
            };
            if let Some(define) = name.strip_prefix('D') {
                options.define(define, &arg)?;
                continue;
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, None),
            };
            if FLAGS.contains(&name) {
                options.flag(name, value.as_deref())?;
            } else if VALUED.contains(&name) {
                let value = value.or_else(|| args.next()).ok_or_else(|| format!("option '--{name}' needs a value"))?;
                options.valued(name, value)?;
            } else {
                return Err(unknown(name));
            }
        }
        Ok(options)
    }

    fn positional(&mut self, arg: String) -> Result<(), String> {
        match &self.check_file {
            None => self.check_file = Some(arg),
            Some(first) => {
                return Err(format!(
                    "more than one check file: '{first}' and '{arg}' \
                     (the input is given with --input-file)"
                ));
            }
        }
        Ok(())
    }

    fn define(&mut self, define: &str, arg: &str) -> Result<(), String> {
        let Some((name, _)) = define.split_once('=') else {
            return Err(format!("missing equal sign in command-line definition '{arg}'"));
        };
        if name.is_empty() || name == "#" {
            return Err(format!("empty name in command-line definition '{arg}'"));
        }
        self.config.defines.push(define.to_owned());
        Ok(())
    }

    fn flag(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let on = match value {
            None | Some("true" | "TRUE" | "True" | "1" | "") => true,
            Some("false" | "FALSE" | "False" | "0") => false,
            Some(other) => {
                return Err(format!("'{other}' is not a value for '--{name}'; it takes true or false"));
            }
        };
        let config = &mut self.config;
        match name {
            "allow-deprecated-dag-overlap" => config.allow_dag_overlap = on,
            "allow-empty" => config.allow_empty = on,
            "allow-unused-prefixes" => config.allow_unused_prefixes = on,
            "enable-var-scope" => config.enable_var_scope = on,
            "ignore-case" => config.ignore_case = on,
            "match-full-lines" => config.match_full_lines = on,
            "no-lint" => config.no_lint = on,
            "strict-whitespace" => config.strict_whitespace = on,
            "v" if on => config.verbosity = config.verbosity.max(Verbosity::Matches),
            "vv" if on => config.verbosity = Verbosity::Everything,
            "help" | "h" => self.help = on,
            "version" => self.version = on,
            _ => {}
        }
        Ok(())
    }

    fn valued(&mut self, name: &str, value: String) -> Result<(), String> {
        let list = |value: &str| value.split(',').map(str::to_owned).collect::<Vec<_>>();
        match name {
            "check-prefix" | "check-prefixes" => self.config.check_prefixes.extend(list(&value)),
            "comment-prefixes" => self.config.comment_prefixes.extend(list(&value)),
            "implicit-check-not" => self.config.implicit_check_not.push(value),
            "input-file" => self.input_file = Some(value),
            "max-input" => self.max_input = Some(sutura_input::parse_size(&value)?),
            "dump-input" => {
                let modes = [
                    ("help", DumpInput::Help),
                    ("always", DumpInput::Always),
                    ("fail", DumpInput::Fail),
                    ("never", DumpInput::Never),
                ];
                self.dump_input = self.dump_input.max(Some(choose(name, &value, &modes)?));
            }
            "dump-input-filter" => {
                let filters = [
                    ("all", DumpFilter::All),
                    ("annotation-full", DumpFilter::AnnotationFull),
                    ("annotation", DumpFilter::Annotation),
                    ("error", DumpFilter::Error),
                ];
                self.dump_filter = self.dump_filter.max(Some(choose(name, &value, &filters)?));
            }
            "dump-input-context" => {
                let wrong = || format!("'{value}' is not a value for '--{name}'; it takes a number");
                let lines = sutura_input::whole_number(&value).ok_or_else(wrong)?;
                self.dump_context = self.dump_context.max(Some(lines));
            }
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn dump_input(&self) -> DumpInput {
        self.dump_input.unwrap_or(DumpInput::Fail)
    }

    pub(crate) fn dump_options(&self) -> DumpOptions {
        let default = DumpOptions::default();
        DumpOptions {
            filter: self.dump_filter.unwrap_or(match self.dump_input() {
                DumpInput::Always => DumpFilter::All,
                _ => default.filter,
            }),
            context: self.dump_context.unwrap_or(default.context),
        }
    }
}

fn choose<T: Copy>(option: &str, value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        format!("'{value}' is not a value for '--{option}'; it takes {}", names.join(", "))
    })
}

fn unknown(name: &str) -> String {
    let closest = FLAGS
        .iter()
        .chain(&VALUED)
        .map(|known| (osa_distance(name, known), known))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, known)| *distance <= 2 && *distance < known.len());
    let hint = closest.map_or(String::new(), |(_, known)| format!("; did you mean '--{known}'?"));
    format!("unknown option '--{name}'{hint}")
}

/// Splits the value of `FILECHECK_OPTS` as a shell would: blanks separate,
/// quotes and backslashes protect.
pub(crate) fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("FILECHECK_OPTS has an unclosed {open}"));
    }
    words.extend(word);
    Ok(words)
}
