//! Running checks over an input.
//!
//! Labels split the input into regions first; then, region by region, every
//! step matches its `-DAG` group, itself, and looks that no `-NOT` pattern is
//! in what it skipped.

use std::ops::Range;

use crate::checks::{Check, Checks, Step};
use crate::config::Verbosity;
use crate::dag::Taken;
use crate::diag::{Diagnostic, Severity};
use crate::directive::Kind;
use crate::expr::ParseError;
use crate::fuzzy;
use crate::matcher::Matcher;
use crate::pattern::Target;
use crate::regex::{Haystack, Match, Scratch};
use crate::report::{Event, EventKind, Matches, Report};
use crate::source::{Source, canonicalize};
use crate::vars::{Capture, Values};

impl Checks {
    /// Runs the checks over `input`. On failure, the diagnostics say which
    /// directive failed and where; [`Self::report`] also has the input dump.
    pub fn run(&self, input: impl AsRef<[u8]>) -> Result<Matches, Vec<Diagnostic>> {
        self.report(input, "<stdin>").into_result()
    }

    /// Runs the checks over `input`, which messages call `input_name`.
    pub fn report(&self, input: impl AsRef<[u8]>, input_name: &str) -> Report<'_> {
        let text = canonicalize(input.as_ref(), self.config.strict_whitespace);
        let source = Source::new(input_name, text);
        let mut report = Report::new(self, source);
        if input.as_ref().is_empty() && !self.config.allow_empty {
            report.fail(Diagnostic::error(format!("'{input_name}' is empty (--allow-empty permits that)")));
            report.empty_input = true;
            return report;
        }
        let folded = self.config.ignore_case.then(|| report.input.text.to_ascii_lowercase());
        let mut run = Run { folded, checks: self, values: self.values.clone(), scratch: Scratch::default(), report };
        run.all();
        run.report.values = run.values;
        run.report
    }
}

struct Run<'a> {
    checks: &'a Checks,
    values: Values,
    scratch: Scratch,
    report: Report<'a>,
    /// The text in lower case, where cases do not matter.
    folded: Option<Vec<u8>>,
}

/// The outcome of one search.
enum Search {
    Found(Match),
    Missing,
    Invalid(Vec<ParseError>),
}

/// A check that failed; what there is to say has been reported.
struct Failed;

impl<'a> Run<'a> {
    fn all(&mut self) {
        let steps = &self.checks.steps;
        let mut rest = 0..self.report.input.text.len();
        let mut done = 0;
        loop {
            let is_label = |step: &Step| self.checks.checks[step.check].kind == Kind::Label;
            let label = steps[done..].iter().position(is_label).map(|i| done + i);
            let mut region = rest.clone();
            let end = match label {
                None => steps.len(),
                Some(label) => {
                    let Ok(found) = self.label(&steps[label], rest.clone()) else {
                        return;
                    };
                    region.end = found.end;
                    rest.start = found.end;
                    label + 1
                }
            };
            if done != 0 && self.checks.config.enable_var_scope {
                self.values.clear_locals(&self.checks.symbols);
            }
            for step in &steps[done..end] {
                match self.step(step, region.clone()) {
                    Ok(found) => region.start = found.end,
                    Err(Failed) => break,
                }
            }
            done = end;
            if label.is_none() {
                return;
            }
        }
    }

    fn text(&self, range: Range<usize>) -> &[u8] {
        &self.report.input.text[range]
    }

    /// Finds the next label, before anything in front of it is checked.
    fn label(&mut self, step: &Step, region: Range<usize>) -> Result<Range<usize>, Failed> {
        let check = &self.checks.checks[step.check];
        match self.search(check, region.clone()) {
            Search::Found(found) => Ok(found.start..found.end),
            other => {
                self.report_missing(step.check, region, other, (1, true));
                Err(Failed)
            }
        }
    }

    fn step(&mut self, step: &Step, region: Range<usize>) -> Result<Range<usize>, Failed> {
        let check = &self.checks.checks[step.check];
        let mut nots = Vec::new();
        let from = self.dags(step, region.clone(), &mut nots)?;
        let mut found = from..from;
        for number in 1..=check.count {
            let here = found.end..region.end;
            let Search::Found(matched) = self.expect(step.check, here, number)? else {
                return Err(Failed);
            };
            if number == 1 {
                found.start = matched.start;
            }
            found.end = matched.end;
        }
        let skipped = from..found.start;
        if self.wrong_line(check, skipped.clone()) {
            self.report.event(step.check, EventKind::WrongLine, found, String::new());
            return Err(Failed);
        }
        self.absent(&nots, skipped)?;
        Ok(found)
    }

    /// Searches; a match sets the variables of the pattern. Places are in the
    /// whole input.
    fn search(&mut self, check: &Check, region: Range<usize>) -> Search {
        match check.pattern.matcher(&self.values, &self.checks.symbols) {
            Ok(matcher) => self.search_with(check, &matcher, region),
            Err(errors) => Search::Invalid(errors),
        }
    }

    fn search_with(&mut self, check: &Check, matcher: &Matcher<'_>, region: Range<usize>) -> Search {
        let text = &self.report.input.text[region.clone()];
        let folded = self.folded.as_ref().map_or(text, |folded| &folded[region.clone()]);
        let groups = check.pattern.groups();
        match matcher.find(Haystack { text, folded }, groups, &mut self.scratch) {
            Err(error) => Search::Invalid(vec![ParseError::new(check.at, error.to_string())]),
            Ok(None) => Search::Missing,
            Ok(Some(mut found)) => {
                let shift = |at: usize| at + region.start;
                found.start = shift(found.start);
                found.end = shift(found.end);
                for (start, end) in &mut found.groups {
                    (*start, *end) = (shift(*start), shift(*end));
                }
                self.define(check, &found);
                Search::Found(found)
            }
        }
    }

    fn define(&mut self, check: &Check, found: &Match) {
        for ((_, target), &(start, end)) in check.pattern.captures.iter().zip(&found.groups) {
            let text = &self.report.input.text[start..end];
            match target {
                Target::Text(name) => self.values.set_string(name, text),
                Target::Number(id) => {
                    let format = self.checks.symbols.get(*id).format;
                    if let Some(value) = format.read(text) {
                        self.values.set_number(*id, value);
                    }
                }
            }
        }
    }

    /// Searches for what must be there and reports the outcome.
    fn expect(&mut self, index: usize, region: Range<usize>, number: u32) -> Result<Search, Failed> {
        let check = &self.checks.checks[index];
        match self.search(check, region.clone()) {
            Search::Found(found) => {
                self.report_found(index, &found, number);
                Ok(Search::Found(found))
            }
            other => {
                self.report_missing(index, region, other, (number, true));
                Err(Failed)
            }
        }
    }

    /// Matches the `-DAG` groups of a step; collects in `nots` what must be
    /// absent up to the step's own match. Returns where the last group ends.
    fn dags(&mut self, step: &Step, region: Range<usize>, nots: &mut Vec<usize>) -> Result<usize, Failed> {
        let mut start = region.start;
        let mut taken = Taken::default();
        for (i, &index) in step.before.iter().enumerate() {
            if self.checks.checks[index].kind == Kind::Not {
                nots.push(index);
                continue;
            }
            self.dag(index, start..region.end, &mut taken)?;
            let next = step.before.get(i + 1);
            let group_ends = next.is_none_or(|&next| self.checks.checks[next].kind == Kind::Not);
            if group_ends {
                let first = taken.start().unwrap_or(start);
                self.absent(nots, start..first)?;
                nots.clear();
                start = taken.end().unwrap_or(start);
                taken.clear();
            }
        }
        Ok(start)
    }

    /// Finds a match in `region` that overlaps none in `taken`, which gets the new one.
    fn dag(&mut self, index: usize, region: Range<usize>, taken: &mut Taken) -> Result<(), Failed> {
        let check = &self.checks.checks[index];
        let matcher = match check.pattern.matcher(&self.values, &self.checks.symbols) {
            Ok(matcher) => matcher,
            Err(errors) => {
                self.report_missing(index, region, Search::Invalid(errors), (1, true));
                return Err(Failed);
            }
        };
        // Those who want to see what is discarded see it for each check.
        let shows_all = self.checks.config.verbosity == Verbosity::Everything;
        let sought = if shows_all { None } else { matcher.sought() };
        let mut way = taken.way(sought.as_ref(), region.start);
        loop {
            let here = way.from()..region.end;
            self.report.searches += 1;
            let found = match self.search_with(check, &matcher, here.clone()) {
                Search::Found(found) => found,
                other => {
                    self.report_missing(index, here, other, (1, true));
                    return Err(Failed);
                }
            };
            if self.checks.config.allow_dag_overlap {
                self.report_found(index, &found, 1);
                taken.cover(&(found.start..found.end));
                return Ok(());
            }
            let place = found.start..found.end;
            match taken.overlapped(&place) {
                None => {
                    self.report_found(index, &found, 1);
                    taken.take(sought, way, place);
                    return Ok(());
                }
                Some(range) => {
                    way.pass(&place, &range);
                    if shows_all {
                        self.report.event(index, EventKind::Discarded, place, String::new());
                    }
                }
            }
        }
    }

    /// Checks that none of the patterns is in `region`; reports all that are.
    fn absent(&mut self, nots: &[usize], region: Range<usize>) -> Result<(), Failed> {
        let mut outcome = Ok(());
        for &index in nots {
            let check = &self.checks.checks[index];
            match self.search(check, region.clone()) {
                Search::Found(found) => {
                    self.report_excluded(index, &found);
                    outcome = Err(Failed);
                }
                Search::Missing => {
                    if self.checks.config.verbosity == Verbosity::Everything {
                        self.report_absent(index, region.clone());
                    }
                }
                invalid => {
                    self.report_missing(index, region.clone(), invalid, (1, false));
                    outcome = Err(Failed);
                }
            }
        }
        outcome
    }

    /// Whether a `-NEXT`, `-EMPTY` or `-SAME` match has the wrong number of line
    /// ends between the previous match and itself.
    fn wrong_line(&mut self, check: &Check, skipped: Range<usize>) -> bool {
        let (lines, second_line) = line_ends(self.text(skipped.clone()));
        let problem = match (check.kind, lines) {
            (Kind::Next | Kind::Empty, 0) => "is on the same line as previous match",
            (Kind::Next | Kind::Empty, 2..) => "is not on the line after the previous match",
            (Kind::Same, 1..) => "is not on the same line as the previous match",
            _ => return false,
        };
        let input = &self.report.input;
        let message = format!("{}: {problem}", check.name());
        let source = &self.checks.sources[check.source];
        let matched = if check.kind == Kind::Same { "same" } else { "next" };
        let mut diagnostic = Diagnostic::error_at(source, check.at, message)
            .note(input, skipped.end..skipped.end, format!("'{matched}' match was here"))
            .note(input, skipped.start..skipped.start, "previous match ended here");
        if check.kind != Kind::Same && lines > 1 {
            let line = skipped.start + second_line;
            let message = "non-matching line after previous match is here";
            diagnostic = diagnostic.note(input, line..line, message);
        }
        self.report.fail(diagnostic);
        true
    }

    /// `with "X" equal to "abc"` for every substitution of a pattern.
    fn substitutions(&self, check: &Check) -> Vec<String> {
        let pattern = &check.pattern;
        let symbols = &self.checks.symbols;
        let known = |s| {
            let value = pattern.substitute(s, &self.values, symbols).ok()?;
            Some(format!("with \"{}\" equal to \"{}\"", s.written, value.escape_ascii()))
        };
        pattern.substitutions.iter().filter_map(known).collect()
    }

    fn captures(&self, check: &Check, found: &Match) -> Vec<Capture> {
        let targets = check.pattern.captures.iter();
        targets
            .zip(&found.groups)
            .map(|((_, target), &(start, end))| Capture {
                name: match target {
                    Target::Text(name) => name.clone(),
                    Target::Number(id) => self.checks.symbols.get(*id).name.clone(),
                },
                range: start..end,
            })
            .collect()
    }

    fn report_found(&mut self, index: usize, found: &Match, number: u32) {
        let check = &self.checks.checks[index];
        let place = found.start..found.end;
        self.report.matched(index, place.clone());
        let verbosity = self.checks.config.verbosity;
        let shown = match check.kind {
            Kind::Eof => Verbosity::Everything,
            _ => Verbosity::Matches,
        };
        if verbosity < shown {
            return;
        }
        let mut remark = self.diagnostic(
            Severity::Remark,
            check,
            format!("expected string found in input{}", of_count(check, number)),
        );
        remark = remark.note(&self.report.input, place.clone(), "found here");
        self.describe(index, EventKind::Found, found, &mut remark);
        self.report.diagnostics.push(remark);
    }

    fn report_excluded(&mut self, index: usize, found: &Match) {
        let check = &self.checks.checks[index];
        let place = found.start..found.end;
        let mut error = self.diagnostic(Severity::Error, check, "excluded string found in input".into());
        error = error.note(&self.report.input, place, "found here");
        self.describe(index, EventKind::Excluded, found, &mut error);
        self.report.fail(error);
    }

    fn diagnostic(&self, severity: Severity, check: &Check, what: String) -> Diagnostic {
        let source = &self.checks.sources[check.source];
        let message = format!("{}: {what}", check.name());
        Diagnostic::at(severity, source, check.at..check.at, message)
    }

    /// Adds a match with its substitutions and captures to the events and notes.
    fn describe(&mut self, index: usize, kind: EventKind, found: &Match, diagnostic: &mut Diagnostic) {
        let check = &self.checks.checks[index];
        let place = found.start..found.end;
        self.report.event(index, kind, place, String::new());
        for text in self.substitutions(check) {
            self.detail(index, kind, found.start..found.start, text, diagnostic);
        }
        for capture in self.captures(check, found) {
            let text = format!("captured var \"{}\"", capture.name);
            self.detail(index, kind, capture.range, text, diagnostic);
        }
    }

    fn detail(
        &mut self,
        index: usize,
        kind: EventKind,
        place: Range<usize>,
        text: String,
        diagnostic: &mut Diagnostic,
    ) {
        let note = Diagnostic::at(Severity::Note, &self.report.input, place.clone(), &text);
        diagnostic.notes.push(note);
        self.report.detail(index, kind, place, text);
    }

    fn report_absent(&mut self, index: usize, region: Range<usize>) {
        let check = &self.checks.checks[index];
        let remark = self.diagnostic(Severity::Remark, check, "excluded string not found in input".into()).note(
            &self.report.input,
            region.start..region.start,
            "scanning from here",
        );
        self.report.diagnostics.push(remark);
        self.report.event(index, EventKind::Absent, region, String::new());
    }

    /// Reports a failed search; `expected` is false for `-NOT` patterns.
    fn report_missing(&mut self, index: usize, region: Range<usize>, outcome: Search, (number, expected): (u32, bool)) {
        let check = &self.checks.checks[index];
        let start = region.start..region.start;
        let errors = match outcome {
            Search::Invalid(errors) => errors,
            _ => Vec::new(),
        };
        let kind = match errors.is_empty() {
            true => EventKind::Missing,
            false => EventKind::Invalid,
        };
        self.report.event(index, kind, region.clone(), String::new());
        let mut error = if errors.is_empty() {
            self.diagnostic(
                Severity::Error,
                check,
                format!("expected string not found in input{}", of_count(check, number)),
            )
            .note(&self.report.input, start.clone(), "scanning from here")
        } else {
            self.invalid(index, &start, &errors)
        };
        for text in self.substitutions(check) {
            self.detail(index, kind, start.clone(), text, &mut error);
        }
        if expected && errors.is_empty() {
            let text = self.text(region.clone());
            if let Some(offset) = fuzzy::closest(text, &check.pattern.example) {
                let at = region.start + offset;
                let message = "possible intended match here";
                error = error.note(&self.report.input, at..at, message);
                self.report.event(index, EventKind::Fuzzy, at..at, String::new());
            }
        }
        self.report.fail(error);
    }

    /// The errors that kept a pattern from being matched; the last is returned.
    fn invalid(&mut self, index: usize, start: &Range<usize>, errors: &[ParseError]) -> Diagnostic {
        let check = &self.checks.checks[index];
        let source = &self.checks.sources[check.source];
        let mut last = None;
        for error in errors {
            let text = error.message.clone();
            self.report.detail(index, EventKind::Invalid, start.clone(), text.clone());
            let next = Diagnostic::error_at(source, error.at, text);
            if let Some(previous) = last.replace(next) {
                self.report.fail(previous);
            }
        }
        last.unwrap_or_else(|| self.diagnostic(Severity::Error, check, "invalid pattern".into()))
    }
}

fn of_count(check: &Check, number: u32) -> String {
    match check.count {
        1 => String::new(),
        count => format!(" ({number} out of {count})"),
    }
}

/// How many line ends there are, and where the text after the first starts.
/// `\r` and `\n` together are one.
fn line_ends(text: &[u8]) -> (usize, usize) {
    let mut count = 0;
    let mut after_first = 0;
    let mut at = 0;
    while let Some(offset) = memchr::memchr2(b'\n', b'\r', &text[at..]) {
        at += offset + 1;
        if let Some(&next @ (b'\n' | b'\r')) = text.get(at)
            && next != text[at - 1]
        {
            at += 1;
        }
        count += 1;
        if count == 1 {
            after_first = at;
        }
    }
    (count, after_first)
}

impl Report<'_> {
    fn detail(&mut self, check: usize, kind: EventKind, range: Range<usize>, note: String) {
        self.events.push(Event { check, kind, range, note, detail: true });
    }

    fn event(&mut self, check: usize, kind: EventKind, range: Range<usize>, note: String) {
        self.events.push(Event { check, kind, range, note, detail: false });
    }
}
