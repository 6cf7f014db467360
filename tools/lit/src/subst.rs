//! Substitutions: `%s`, `%t`, `%{name}`.

use std::collections::BTreeMap;

use strsim::osa_distance;

use crate::script::is_name;

/// How deep values may refer to other values.
const MAX_DEPTH: u32 = 32;

/// How long a line may get.
const MAX_LENGTH: usize = 1 << 20;

#[derive(Debug, Clone)]
struct Value {
    text: String,
    /// Whether it may contain substitutions itself.
    nested: bool,
}

/// What stands for what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Substitutions {
    values: BTreeMap<String, Value>,
}

impl Substitutions {
    /// Adds a fixed text; `name` has its `%`.
    pub(crate) fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.values.insert(name.into(), Value { text: text.into(), nested: false });
    }

    /// Adds a text in which substitutions are replaced when it is used.
    pub(crate) fn add_nested(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.values.insert(name.into(), Value { text: text.into(), nested: true });
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The text with every substitution replaced; `line` is the number of its
    /// line. The error is a sentence.
    pub(crate) fn expand(&self, text: &str, line: usize) -> Result<String, String> {
        let mut out = String::new();
        self.expand_into(text, line, 0, &mut out)?;
        Ok(out)
    }

    fn expand_into(&self, text: &str, line: usize, depth: u32, out: &mut String) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("substitutions are nested more than {MAX_DEPTH} deep; does one contain itself?"));
        }
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if out.len() > MAX_LENGTH {
                return Err(format!("substitution makes the line longer than {MAX_LENGTH} bytes"));
            }
            if let Some(after) = rest.strip_prefix("%%") {
                out.push('%');
                rest = after;
            } else if let Some((number, after)) = line_number(rest, line) {
                out.push_str(&number);
                rest = after;
            } else if let Some((name, value)) = self.longest(rest) {
                match value.nested {
                    true => self.expand_into(&value.text, line, depth + 1, out)?,
                    false => out.push_str(&value.text),
                }
                rest = &rest[name.len()..];
            } else {
                self.check_unknown(rest)?;
                out.push('%');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        Ok(())
    }

    /// The longest name that `text` starts with.
    fn longest(&self, text: &str) -> Option<(&String, &Value)> {
        self.values.iter().filter(|(name, _)| text.starts_with(name.as_str())).max_by_key(|(name, _)| name.len())
    }

    /// An error if `text` starts with what can only be a substitution.
    fn check_unknown(&self, text: &str) -> Result<(), String> {
        if text.starts_with("%{readfile:") {
            return Ok(());
        }
        let name = text.strip_prefix("%{").and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
        let Some(name) = name.filter(|name| is_name(name)) else {
            return Ok(());
        };
        let name = format!("%{{{name}}}");
        let similar = self.values.keys().map(|known| (osa_distance(known, &name), known)).min();
        let hint = match similar {
            Some((distance, known)) if distance <= 2 && known.len() > 4 => format!("; did you mean '{known}'?"),
            _ => "; write '%%{' if it is meant as text".into(),
        };
        Err(format!("unknown substitution '{name}'{hint}"))
    }
}

/// `%(line)`, `%(line+1)`, `%(line-1)`
fn line_number(text: &str, line: usize) -> Option<(String, &str)> {
    let (inner, after) = text.strip_prefix("%(line")?.split_once(')')?;
    let inner = inner.trim();
    let offset: i64 = match inner.is_empty() {
        true => 0,
        false if inner.starts_with(['+', '-']) => inner.replace(' ', "").parse().ok()?,
        false => return None,
    };
    let number = i64::try_from(line).ok()?.checked_add(offset)?;
    Some((number.to_string(), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Substitutions {
        let mut known = Substitutions::default();
        known.add("%s", "/a%t/s.mlir");
        known.add("%t", "/tmp/t");
        known.add("%{long-name}", "L");
        known.add_nested("%{opt}", "opt %s %{more}");
        known.add_nested("%{more}", "-x %(line+1) %%s");
        known.add_nested("%{loop}", "a %{loop}");
        known
    }

    #[test]
    fn replaces() {
        let expand = |text: &str| known().expand(text, 7).expect(text);
        assert_eq!(expand("a %s %t.x %%s 100%"), "a /a%t/s.mlir /tmp/t.x %s 100%");
        assert_eq!(expand("%{opt}"), "opt /a%t/s.mlir -x 8 %s");
        assert_eq!(expand("%(line) %(line-2) %(line + 3) %(lines)"), "7 5 10 %(lines)");
        assert_eq!(expand("%0 %{{.*}} %arg0 %"), "%0 %{{.*}} %arg0 %");
    }

    #[test]
    fn errors() {
        let error = |text: &str| known().expand(text, 1).expect_err(text);
        assert!(error("%{lon-name}").contains("did you mean '%{long-name}'"));
        assert!(error("%{nothing}").contains("unknown substitution '%{nothing}'"));
        assert!(error("%{loop}").contains("contain itself"));
    }
}
