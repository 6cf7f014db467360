//! From a failed rule to a message.

use std::collections::BTreeSet;
use std::sync::Mutex;

use pest::Parser;

use crate::explain::explain;
use crate::rules::{Grammar, Rule};

/// Where a rule failed, and what would have let it go on.
pub(crate) struct Failure {
    /// Offset in the parsed text.
    pub(crate) at: usize,
    /// How far the rule came: what it makes of a text that is cut off is known only up to the cut.
    pub(crate) reached: usize,
    pub(crate) message: String,
    /// True when something is missing before what stands there.
    pub(crate) missing: bool,
    /// True when the text was nested too deeply for the parser's stack.
    pub(crate) too_deep: bool,
}

/// Where it is said that something is missing before offset `at`: after the text before it, as MLIR does.
pub(crate) fn after_previous(text: &str, at: usize) -> usize {
    let before = text[..at].trim_end_matches([' ', '\n']).len();
    if before == 0 { at } else { before }
}

/// Runs a rule that failed once more, this time recording what was expected where. `None` when it does not fail.
pub(crate) fn failure(rule: Rule, text: &str) -> Option<Failure> {
    // The switch is global to the process; a parser on another thread that sees it set is slower and no more.
    static DETAIL: Mutex<()> = Mutex::new(());
    let error = {
        let _guard = DETAIL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        pest::set_error_detail(true);
        let result = Grammar::parse(rule, text);
        pest::set_error_detail(false);
        result.err()?
    };
    let too_deep = error.variant.message().contains("stack limit");
    let fallback = match error.location {
        pest::error::InputLocation::Pos(at) => at,
        pest::error::InputLocation::Span((at, _)) => at,
    };
    let attempts = error.parse_attempts();
    let reached = attempts.as_ref().map_or(0, |a| a.max_position).max(fallback).min(text.len());
    if let Some(fault) = explain(rule, text).filter(|_| !too_deep) {
        return Some(Failure { at: fault.at, reached, message: fault.message, missing: fault.missing, too_deep });
    }
    let Some(attempts) = attempts else {
        let message = error.variant.message().into_owned();
        return Some(Failure { at: fallback, reached, message, missing: false, too_deep });
    };
    let tokens: BTreeSet<String> = attempts
        .expected_tokens()
        .into_iter()
        .map(|token| token.to_string().trim_matches(' ').to_string())
        // Ranges, pest's own classes and further characters of a name say nothing to a reader.
        .filter(|token| !token.trim().is_empty() && !token.contains("..") && token != "BUILTIN_RULE")
        .filter(|token| !matches!(token.as_str(), "$" | "." | "_"))
        .collect();
    let message = message(rule, &tokens, &text[reached..]);
    let missing = message.starts_with("expected ") && !text[reached..].starts_with('"');
    Some(Failure { at: reached, reached, message, missing, too_deep })
}

/// More alternatives than this are summed up in a word.
const MANY: usize = 5;

fn message(rule: Rule, tokens: &BTreeSet<String>, rest: &str) -> String {
    if rest.starts_with('"') && crate::blank::string_end(rest.as_bytes(), 0) != closed_string(rest) {
        return "expected '\"' in string literal".to_string();
    }
    let has = |token: &str| tokens.contains(token);
    if has("dense") && has("affine_map") {
        return "expected attribute value".to_string();
    }
    if has("tensor") && has("memref") {
        return "expected non-function type".to_string();
    }
    if tokens.len() > MANY || tokens.is_empty() {
        return match rule {
            Rule::unit1 => "expected operation name in quotes".to_string(),
            Rule::type_span | Rule::function_span => "expected type".to_string(),
            Rule::loc_span => "expected location instance".to_string(),
            _ => "unexpected text".to_string(),
        };
    }
    let quoted: Vec<String> = tokens.iter().map(|t| format!("'{t}'")).collect();
    match quoted.split_last() {
        Some((last, [])) => format!("expected {last}"),
        Some((last, others)) => format!("expected {} or {last}", others.join(", ")),
        None => "unexpected text".to_string(),
    }
}

/// Length of the string literal at the start of `text` if it is closed; 0 otherwise.
fn closed_string(text: &str) -> usize {
    let end = crate::blank::string_end(text.as_bytes(), 0);
    if end >= 2 && text.as_bytes()[end - 1] == b'"' { end } else { 0 }
}
