//! A parsed check file.

use std::collections::HashSet;

use crate::config::Config;
use crate::diag::{Diagnostic, Severity};
use crate::directive::{Directive, Found, Kind, Scanner};
use crate::expr::{self, Context, EvalError, ParseError};
use crate::lint;
use crate::pattern::{Pattern, Request};
use crate::source::{Slice, Source, canonicalize};
use crate::vars::{Symbols, Values};

/// The checks of a check file, ready to be run on any number of inputs.
#[derive(Debug)]
pub struct Checks {
    pub(crate) config: Config,
    /// The check file, then one text for each `--implicit-check-not`.
    pub(crate) sources: Vec<Source>,
    pub(crate) checks: Vec<Check>,
    pub(crate) steps: Vec<Step>,
    pub(crate) symbols: Symbols,
    /// The variables from the command line.
    pub(crate) values: Values,
}

/// A directive with its pattern.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) kind: Kind,
    pub(crate) count: u32,
    pub(crate) literal: bool,
    pub(crate) prefix: String,
    pub(crate) pattern: Pattern,
    /// Which of [`Checks::sources`] it is from, and where its pattern starts.
    pub(crate) source: usize,
    pub(crate) at: usize,
}

impl Check {
    /// How messages name it: `CHECK-NEXT`, `CHECK-COUNT{LITERAL}`.
    pub(crate) fn name(&self) -> String {
        let suffix = match self.kind {
            Kind::Plain if self.count > 1 => "-COUNT",
            kind => kind.suffix(),
        };
        let literal = if self.literal { "{LITERAL}" } else { "" };
        format!("{}{suffix}{literal}", self.prefix)
    }
}

/// A check that moves on in the input, with the `-DAG` and `-NOT` ones before it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Indices into [`Checks::checks`].
    pub(crate) check: usize,
    pub(crate) before: Vec<usize>,
}

impl Checks {
    /// Parses a check file. All errors found are returned, in order.
    ///
    /// `file_name` is what messages call the file; nothing is opened.
    pub fn parse(text: impl AsRef<[u8]>, file_name: &str, config: &Config) -> Result<Self, Vec<Diagnostic>> {
        if let Some(error) = config.prefix_error() {
            return Err(vec![Diagnostic::error(error)]);
        }
        let text = canonicalize(text.as_ref(), config.strict_whitespace);
        let mut parser = Parser {
            config,
            errors: Vec::new(),
            symbols: Symbols::default(),
            values: Values::default(),
            checks: Vec::new(),
            steps: Vec::new(),
            pending: Vec::new(),
            implicit: Vec::new(),
            unused: Vec::new(),
            directives: Vec::new(),
        };
        parser.defines();
        let mut sources = vec![Source::new(file_name, text)];
        for pattern in &config.implicit_check_not {
            let source = parser.implicit_check_not(pattern, sources.len());
            sources.push(source);
        }
        parser.file(&sources[0]);
        if !parser.errors.is_empty() {
            return Err(parser.errors);
        }
        Ok(Self {
            config: config.clone(),
            sources,
            checks: parser.checks,
            steps: parser.steps,
            symbols: parser.symbols,
            values: parser.values,
        })
    }

    /// How many directives there are, not counting comments.
    pub fn len(&self) -> usize {
        let written = self.checks.iter().filter(|check| check.kind != Kind::Eof);
        written.count()
    }

    /// Whether there is nothing to check (only possible with
    /// `--implicit-check-not`, which is a check of its own).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

struct Parser<'a> {
    config: &'a Config,
    errors: Vec<Diagnostic>,
    symbols: Symbols,
    values: Values,
    checks: Vec<Check>,
    steps: Vec<Step>,
    /// The `-DAG` and `-NOT` checks since the last step.
    pending: Vec<usize>,
    /// The checks of `--implicit-check-not`, repeated before each step.
    implicit: Vec<usize>,
    unused: Vec<&'a str>,
    /// Where directives start, for the search for misspelt ones.
    directives: Vec<usize>,
}

impl<'a> Parser<'a> {
    fn error(&mut self, source: &Source, error: ParseError) {
        self.errors.push(Diagnostic::error_at(source, error.at, error.message));
    }

    fn defines(&mut self) {
        for define in &self.config.defines {
            let source = Source::new("command line", format!("-D{define}").into_bytes());
            let result = match define.strip_prefix('#') {
                Some(_) => self.define_number(define),
                None => self.define_string(define),
            };
            if let Err(error) = result {
                self.error(&source, error);
            }
        }
    }

    fn define_string(&mut self, define: &str) -> Result<(), ParseError> {
        let at = "-D".len();
        let Some((name, value)) = define.split_once('=') else {
            return Err(missing_equal_sign(at, define));
        };
        let mut rest = Slice::new(name.as_bytes(), 0..name.len());
        let valid = expr::parse_name(&mut rest).map_err(|error| ParseError { at: at + error.at, ..error })?;
        if valid.pseudo || !rest.is_empty() {
            return Err(ParseError::new(at, format!("invalid name in string variable definition '{name}'")));
        }
        if self.symbols.number(name).is_some() {
            return Err(ParseError::new(at, format!("numeric variable with name '{name}' already exists")));
        }
        self.symbols.strings.insert(name.to_owned());
        self.values.set_string(name, value.as_bytes());
        Ok(())
    }

    fn define_number(&mut self, define: &str) -> Result<(), ParseError> {
        let at = "-D#".len();
        let Some(equal) = define.find('=') else {
            return Err(missing_equal_sign("-D".len(), define));
        };
        // The parser of blocks wants `NAME:value`; places stay the same.
        let mut text = format!("-D{define}").into_bytes();
        text["-D".len() + equal] = b':';
        let slice = Slice::new(&text, at..text.len());
        let context = Context { line: None, legacy: false };
        let block = expr::parse_block(slice, context, &mut self.symbols)?;
        let (Some(number), Some(expr)) = (block.defines, &block.expr) else {
            return Err(ParseError::new(at, "numeric definition without a value"));
        };
        let value = expr.eval(None, &self.values).map_err(|errors| {
            let error = errors.into_iter().next();
            match error {
                Some(EvalError::Undefined { id, at }) => {
                    ParseError::new(at, format!("undefined variable: {}", self.symbols.get(id).name))
                }
                Some(EvalError::DivisionByZero { at }) => ParseError::new(at, "division by zero in numeric expression"),
                _ => ParseError::new(at, "there is no @LINE outside the check file"),
            }
        })?;
        self.values.set_number(number, value);
        Ok(())
    }

    fn implicit_check_not(&mut self, pattern: &str, source: usize) -> Source {
        let before = "-implicit-check-not='";
        let text = Source::new("command line", format!("{before}{pattern}'").into_bytes());
        let range = before.len()..before.len() + pattern.len();
        let request = Request { kind: Kind::Not, literal: false, line: None, config: self.config };
        let slice = Slice::new(&text.text, range.clone());
        match Pattern::parse(slice, &request, &mut self.symbols) {
            Ok(pattern) => {
                self.implicit.push(self.checks.len());
                self.checks.push(Check {
                    kind: Kind::Not,
                    count: 1,
                    literal: false,
                    prefix: "IMPLICIT-CHECK".into(),
                    pattern,
                    source,
                    at: range.start,
                });
            }
            Err(error) => self.error(&text, error),
        }
        text
    }

    fn file(&mut self, source: &Source) {
        let prefixes = self.config.effective_check_prefixes();
        let comments = self.config.effective_comment_prefixes();
        self.unused.clone_from(&prefixes);
        self.pending.clone_from(&self.implicit);
        let mut scanner = Scanner::new(&source.text, &prefixes, &comments);
        let mut last = 0;
        while let Some(directive) = scanner.next() {
            self.directives.push(directive.start);
            let line_end = self.directive(source, &directive);
            last = line_end;
            scanner.skip_line(line_end);
        }
        if !self.config.no_lint {
            lint::misspelt(source, self.config, &self.directives, &mut self.errors);
        }
        self.report_unused(source);
        // What trails is checked up to the end of the input.
        if !self.pending.is_empty() {
            let before = std::mem::take(&mut self.pending);
            self.steps.push(Step { check: self.checks.len(), before });
            self.checks.push(Check {
                kind: Kind::Eof,
                count: 1,
                literal: false,
                prefix: prefixes[0].to_owned(),
                pattern: Pattern::eof(),
                source: 0,
                at: last.min(source.text.len()),
            });
        }
    }

    /// Adds a directive; returns where its text ends.
    fn directive(&mut self, source: &Source, directive: &Directive<'_>) -> usize {
        let text = &source.text;
        let rest = &text[directive.after..];
        let end = memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |i| directive.after + i);
        let written = String::from_utf8_lossy(&text[directive.start..directive.after]);
        let prefix = directive.prefix;
        if directive.found != Found::Comment {
            self.unused.retain(|&unused| unused != prefix);
        }
        let problem = match directive.found {
            Found::Check { kind, count, literal } => {
                self.check(source, directive, end, (kind, count, literal));
                None
            }
            Found::Comment => None,
            Found::Underscore => {
                let meant = written.replacen('_', "-", prefix.matches('_').count() + 1);
                Some((directive.start, format!("misspelled directive '{written}'; did you mean '{meant}'?")))
            }
            Found::BadNot => {
                Some((directive.start, format!("unsupported -NOT combo on prefix '{prefix}': '{written}'")))
            }
            Found::BadCount => Some((
                directive.start,
                format!(
                    "invalid count in -COUNT specification on prefix '{prefix}'; \
                     the form is '{prefix}-COUNT-<n>:' with n >= 1"
                ),
            )),
        };
        if let Some((at, message)) = problem {
            self.error(source, ParseError::new(at, message));
        }
        end
    }

    fn check(
        &mut self,
        source: &Source,
        directive: &Directive<'_>,
        end: usize,
        (kind, count, literal): (Kind, u32, bool),
    ) {
        let mut slice = Slice::new(&source.text, directive.after..end);
        if !(self.config.strict_whitespace && self.config.match_full_lines) {
            slice.skip_blanks();
        }
        let prefix = directive.prefix;
        let line = source.place(directive.start).line;
        let request = Request { kind, literal, line: Some(line), config: self.config };
        let pattern = match Pattern::parse(slice, &request, &mut self.symbols) {
            Ok(pattern) => pattern,
            Err(mut error) => {
                if error.message.ends_with("check string") || error.message.ends_with("for empty check") {
                    error.message += &format!(" with prefix '{prefix}:'");
                }
                return self.error(source, error);
            }
        };
        if kind == Kind::Label && pattern.has_variables() {
            let message = format!(
                "found '{prefix}-LABEL:' with variable definition or use; \
                 labels are found before any variable has a value"
            );
            return self.error(source, ParseError::new(directive.start, message));
        }
        if matches!(kind, Kind::Next | Kind::Same | Kind::Empty) && self.steps.is_empty() {
            let message = format!("found '{prefix}{}' without previous '{prefix}: line'", kind.suffix());
            return self.error(source, ParseError::new(directive.start, message));
        }
        let index = self.checks.len();
        self.checks.push(Check {
            kind,
            count,
            literal,
            prefix: prefix.to_owned(),
            pattern,
            source: 0,
            at: slice.start,
        });
        if matches!(kind, Kind::Dag | Kind::Not) {
            self.pending.push(index);
        } else {
            let before = std::mem::replace(&mut self.pending, self.implicit.clone());
            self.steps.push(Step { check: index, before });
        }
    }

    fn report_unused(&mut self, source: &Source) {
        let given = self.config.effective_check_prefixes();
        let nothing = self.unused.len() == given.len();
        let some = !self.config.allow_unused_prefixes && !self.unused.is_empty();
        let implicit_only = !self.config.implicit_check_not.is_empty() && self.config.check_prefixes.is_empty();
        if !(nothing || some) || implicit_only {
            return;
        }
        let list: Vec<String> = self.unused.iter().map(|p| format!("'{p}:'")).collect();
        let plural = if list.len() > 1 { "es" } else { "" };
        let mut error = Diagnostic::error(format!(
            "no check strings found with prefix{plural} {} in {}",
            list.join(", "),
            source.name
        ));
        if let Some(similar) = self.prefix_in_use(source) {
            error.notes.push(Diagnostic {
                severity: Severity::Note,
                message: format!("the file has directives with prefix '{similar}'"),
                location: None,
                notes: Vec::new(),
            });
        }
        self.errors.push(error);
    }

    /// A prefix that looks used in the file though it was not asked for.
    fn prefix_in_use(&self, source: &Source) -> Option<String> {
        let given: HashSet<&str> = self.config.effective_check_prefixes().into_iter().collect();
        lint::declared_prefixes(&source.text)
            .names
            .into_iter()
            .chain(std::iter::once("CHECK".to_owned()))
            .filter(|name| !given.contains(name.as_str()))
            .find(|name| Scanner::new(&source.text, &[name], &[]).next().is_some())
    }
}

fn missing_equal_sign(at: usize, define: &str) -> ParseError {
    ParseError::new(at, format!("missing equal sign in command-line definition '-D{define}'"))
}
