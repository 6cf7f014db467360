//! From a failed rule to a message.

use std::collections::BTreeSet;
use std::sync::Mutex;

use pest::Parser;

use crate::rules::{Grammar, Rule};

/// Where a rule failed, and what would have let it go on.
pub(crate) struct Failure {
    /// Offset in the parsed text.
    pub(crate) at: usize,
    pub(crate) message: String,
    /// True when the text was nested too deeply for the parser's stack.
    pub(crate) too_deep: bool,
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
    let Some(attempts) = error.parse_attempts() else {
        return Some(Failure { at: fallback, message: error.variant.message().into_owned(), too_deep });
    };
    let at = attempts.max_position.max(fallback).min(text.len());
    let tokens: BTreeSet<String> = attempts
        .expected_tokens()
        .into_iter()
        .map(|token| token.to_string())
        // Ranges, pest's own classes and further characters of a name say nothing to a reader.
        .filter(|token| !token.trim().is_empty() && !token.contains("..") && token != "BUILTIN_RULE")
        .filter(|token| !matches!(token.as_str(), "$" | "." | "_"))
        .collect();
    Some(Failure { at, message: message(rule, &tokens, &text[at..]), too_deep })
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
