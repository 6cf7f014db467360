//! What a check run can be told to do differently.

/// How much is said about what went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Errors only.
    #[default]
    Quiet,
    /// Also every match (`-v`).
    Matches,
    /// Also absent `CHECK-NOT` strings and discarded `CHECK-DAG` matches (`-vv`).
    Everything,
}

/// The options of a check run; the fields are FileCheck's options.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// `--check-prefixes`; empty means `CHECK`.
    pub check_prefixes: Vec<String>,
    /// `--comment-prefixes`; empty means `COM` and `RUN`.
    pub comment_prefixes: Vec<String>,
    /// `--allow-unused-prefixes`: a prefix need not occur in the check file.
    pub allow_unused_prefixes: bool,
    /// `--implicit-check-not`: patterns that must not occur outside matches.
    pub implicit_check_not: Vec<String>,
    /// `-D`: `NAME=text`, `#NAME=expression` or `#%x, NAME=expression`.
    pub defines: Vec<String>,
    /// `--ignore-case`.
    pub ignore_case: bool,
    /// `--match-full-lines`: matches must cover whole lines.
    pub match_full_lines: bool,
    /// `--strict-whitespace`: runs of spaces and tabs are not all alike.
    pub strict_whitespace: bool,
    /// `--allow-empty`: the input may be empty.
    pub allow_empty: bool,
    /// `--enable-var-scope`: `CHECK-LABEL` forgets variables without `$`.
    pub enable_var_scope: bool,
    /// `--allow-deprecated-dag-overlap`: `CHECK-DAG` matches may overlap.
    pub allow_dag_overlap: bool,
    /// `--no-lint`: accept what looks like a misspelt directive, and regular
    /// expression escapes that mean a plain letter, as LLVM does.
    pub no_lint: bool,
    /// `-v`, `-vv`.
    pub verbosity: Verbosity,
}

const DEFAULT_CHECK_PREFIXES: [&str; 1] = ["CHECK"];
const DEFAULT_COMMENT_PREFIXES: [&str; 2] = ["COM", "RUN"];

impl Config {
    pub(crate) fn effective_check_prefixes(&self) -> Vec<&str> {
        or_default(&self.check_prefixes, &DEFAULT_CHECK_PREFIXES)
    }

    pub(crate) fn effective_comment_prefixes(&self) -> Vec<&str> {
        or_default(&self.comment_prefixes, &DEFAULT_COMMENT_PREFIXES)
    }

    /// The first thing wrong with the prefixes, if any.
    pub(crate) fn prefix_error(&self) -> Option<String> {
        let mut seen: Vec<&str> = Vec::new();
        if self.check_prefixes.is_empty() {
            seen.extend(DEFAULT_CHECK_PREFIXES);
        }
        if self.comment_prefixes.is_empty() {
            seen.extend(DEFAULT_COMMENT_PREFIXES);
        }
        let check = self.check_prefixes.iter().map(|p| ("check", p));
        let comment = self.comment_prefixes.iter().map(|p| ("comment", p));
        for (kind, prefix) in check.chain(comment) {
            if prefix.is_empty() {
                return Some(format!("supplied {kind} prefix must not be the empty string"));
            }
            let is_part = |b: u8| b == b'-' || b == b'_' || b.is_ascii_alphanumeric();
            if !prefix.bytes().all(is_part) {
                return Some(format!(
                    "supplied {kind} prefix must contain only alphanumeric characters, \
                     hyphens, and underscores: '{prefix}'"
                ));
            }
            if seen.contains(&prefix.as_str()) {
                return Some(format!(
                    "supplied {kind} prefix must be unique among check and comment \
                     prefixes: '{prefix}'"
                ));
            }
            seen.push(prefix);
        }
        None
    }
}

fn or_default<'a>(given: &'a [String], default: &[&'a str]) -> Vec<&'a str> {
    match given {
        [] => default.to_vec(),
        given => given.iter().map(String::as_str).collect(),
    }
}
