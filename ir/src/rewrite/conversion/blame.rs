//! Why an op could not be legalized, as a tree, and the diagnostic that shows it.

use super::target::{ConversionTarget, Legality};
use crate::asm::print::type_text;
use crate::diagnostics::Diagnostic;
use crate::location::Loc;
use crate::op_ref::OpRef;

/// An op that could not be legalized.
#[derive(Clone, Debug)]
pub(super) struct Blame {
    name: String,
    /// `(operand types) -> result types`
    types: String,
    loc: Loc,
    legality: Legality,
    tries: Vec<Try>,
}

/// A pattern that was tried.
#[derive(Clone, Debug)]
struct Try {
    pattern: String,
    outcome: Outcome,
}

#[derive(Clone, Debug)]
enum Outcome {
    /// It does not apply, for these reasons.
    Refused(Vec<String>),
    /// It is being applied already: what it made needs it again.
    Recursion,
    /// It applied, and made ops that cannot be legalized.
    LeftBehind(Vec<Blame>),
    /// It applied, and the op is as illegal as before.
    Unchanged,
}

impl Blame {
    pub(super) fn of(op: OpRef<'_>, legality: Legality) -> Self {
        let list =
            |types: Vec<crate::types::Type>| types.iter().map(|t| type_text(op.cx, *t)).collect::<Vec<_>>().join(", ");
        let types = format!("({}) -> ({})", list(op.operand_types().collect()), list(op.result_types().collect()));
        Self { name: op.name_str().to_string(), types, loc: op.loc(), legality, tries: Vec::new() }
    }

    pub(super) fn refused(&mut self, pattern: &str, reasons: Vec<String>) {
        self.tries.push(Try { pattern: pattern.to_string(), outcome: Outcome::Refused(reasons) });
    }

    pub(super) fn recursion(&mut self, pattern: &str) {
        self.tries.push(Try { pattern: pattern.to_string(), outcome: Outcome::Recursion });
    }

    pub(super) fn unchanged(&mut self, pattern: &str) {
        self.tries.push(Try { pattern: pattern.to_string(), outcome: Outcome::Unchanged });
    }

    pub(super) fn left_behind(&mut self, pattern: &str, blames: Vec<Self>) {
        self.tries.push(Try { pattern: pattern.to_string(), outcome: Outcome::LeftBehind(blames) });
    }

    fn why_illegal(&self) -> &'static str {
        match self.legality {
            Legality::Illegal => "explicitly marked illegal",
            Legality::DynamicallyIllegal => "not legal in this form",
            Legality::Unknown => "unknown to the target",
            Legality::Legal { .. } => "legal",
        }
    }

    /// The error, with the tree as notes; deeper ones are indented.
    pub(super) fn diagnostic(&self, target: &ConversionTarget<'_>) -> Diagnostic {
        let why = match self.legality {
            Legality::Illegal => " that was explicitly marked illegal".to_string(),
            _ => format!(", which is {}", self.why_illegal()),
        };
        let message = format!("failed to legalize operation '{}'{why}", self.name);
        let mut diagnostic = Diagnostic::error(self.loc, message);
        self.notes(0, &mut diagnostic);
        diagnostic = diagnostic.note(self.loc, target.describe());
        let culprit = self.culprit();
        let op = format!("'{}' : {}", culprit.name, culprit.types);
        diagnostic.help(if culprit.tries.is_empty() {
            format!("add a pattern that rewrites {op}, or declare it legal")
        } else {
            format!(
                "the patterns for '{}' do not cover {op}: extend one, add another, or declare it legal",
                culprit.name
            )
        })
    }

    /// The deepest op on the first path: what stopped the conversion.
    fn culprit(&self) -> &Self {
        let mut at = self;
        while let Some(Try { outcome: Outcome::LeftBehind(blames), .. }) = at.tries.last()
            && let Some(next) = blames.first()
        {
            at = next;
        }
        at
    }

    fn notes(&self, depth: usize, out: &mut Diagnostic) {
        let indent = "  ".repeat(depth);
        if self.tries.is_empty() {
            out.notes.push((self.loc, format!("{indent}no pattern matches '{}'", self.name)));
        }
        for Try { pattern, outcome } in &self.tries {
            let note = |text: String| (self.loc, format!("{indent}pattern '{pattern}' {text}"));
            match outcome {
                Outcome::Refused(reasons) if reasons.is_empty() => {
                    out.notes.push(note(format!("does not apply to '{}'; it gives no reason", self.name)));
                }
                Outcome::Refused(reasons) => {
                    out.notes.push(note(format!("does not apply to '{}': {}", self.name, reasons.join("; "))));
                }
                Outcome::Recursion => out.notes.push(note(format!(
                    "is not applied to '{}' again: it is being applied to an op that led to this one",
                    self.name
                ))),
                Outcome::Unchanged => {
                    out.notes.push(note(format!("applied to '{}', which is still {}", self.name, self.why_illegal())));
                }
                Outcome::LeftBehind(blames) => {
                    for blame in blames {
                        let (made, why) = (&blame.name, blame.why_illegal());
                        out.notes.push(note(format!("rewrote '{}' to '{made}', which is {why}", self.name)));
                        blame.notes(depth + 1, out);
                    }
                }
            }
        }
    }
}
