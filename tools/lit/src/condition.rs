//! `%if FEATURES %{ text %} %else %{ other text %}` in RUN lines.

use std::collections::BTreeSet;

use crate::boolexpr::Expr;

/// How deep conditions may stand in each other.
const MAX_DEPTH: u32 = 64;

/// The line with the texts that hold in the place of its conditions. The error is a sentence.
pub(crate) fn conditions(line: &str, features: &BTreeSet<String>) -> Result<String, String> {
    if !line.contains("%if ") && !line.contains("%else") {
        return Ok(line.to_owned());
    }
    let mut parser = Parser { rest: line, features };
    parser.text(0)
}

struct Parser<'t> {
    rest: &'t str,
    features: &'t BTreeSet<String>,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Text up to the end of the line, or to a `%}` that closes it.
    fn text(&mut self, depth: u32) -> Result<String, String> {
        if depth > MAX_DEPTH {
            return Err(format!("'%if' is nested more than {MAX_DEPTH} deep"));
        }
        let mut out = String::new();
        while let Some(at) = self.rest.find('%') {
            out.push_str(&self.rest[..at]);
            self.rest = &self.rest[at..];
            if self.rest.starts_with("%}") && depth > 0 {
                return Ok(out);
            }
            if self.eat("%%") {
                out.push_str("%%");
            } else if self.eat("%if ") {
                out.push_str(&self.condition(depth)?);
            } else if self.rest.starts_with("%else") {
                return Err("'%else' without '%if' before it".into());
            } else {
                out.push('%');
                self.rest = &self.rest[1..];
            }
        }
        out.push_str(std::mem::take(&mut self.rest));
        Ok(out)
    }

    /// What stands behind `%if `.
    fn condition(&mut self, depth: u32) -> Result<String, String> {
        let (condition, rest) = self.rest.split_once("%{").ok_or("'%{' is missing behind '%if'")?;
        let holds = Expr::parse(condition.trim())?.eval(self.features);
        self.rest = rest;
        let then = self.branch("%if", depth)?;
        let otherwise = match self.rest.trim_start().strip_prefix("%else") {
            None => String::new(),
            Some(rest) => {
                self.rest = rest.trim_start().strip_prefix("%{").ok_or("'%{' is missing behind '%else'")?;
                self.branch("%else", depth)?
            }
        };
        Ok(if holds { then } else { otherwise })
    }

    fn branch(&mut self, word: &str, depth: u32) -> Result<String, String> {
        let text = self.text(depth + 1)?;
        match self.eat("%}") {
            true => Ok(text),
            false => Err(format!("'%}}' is missing behind '{word}'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(line: &str) -> Result<String, String> {
        conditions(line, &BTreeSet::from(["a".to_owned(), "b".to_owned()]))
    }

    #[test]
    fn branches() {
        for (line, text) in [
            ("x %if a %{y%} z", "x y z"),
            ("x %if c %{y%} z", "x  z"),
            ("%if c %{y%} %else %{n%}", "n"),
            ("%if a && !c %{y%}%else%{n%}.", "y."),
            ("%if a %{%if c %{1%} %else %{2%}%} %else %{3%}", "2"),
            ("%%if a %{x} %t", "%%if a %{x} %t"),
            ("%if a %{%{s:stem} %%} %%}%}", "%{s:stem} %%} %%}"),
        ] {
            assert_eq!(with(line).as_deref(), Ok(text), "{line}");
        }
    }

    #[test]
    fn errors() {
        for (line, part) in [
            ("%if a { y }", "'%{' is missing behind '%if'"),
            ("%if a %{ y", "'%}' is missing behind '%if'"),
            ("%if a %{ y %} %else n", "'%{' is missing behind '%else'"),
            ("%if a %{ y %} %else %{ n", "'%}' is missing behind '%else'"),
            ("x %else %{ n %}", "without '%if'"),
            ("%if && %{ y %}", "expected"),
        ] {
            assert!(with(line).is_err_and(|e| e.contains(part)), "{line}: {:?}", with(line));
        }
        assert!(with(&"%if a %{".repeat(1000)).is_err_and(|e| e.contains("nested")));
    }

    proptest::proptest! {
        #[test]
        fn no_line_panics(line in "(%if |%else|%\\{|%\\}|%%|a|b|é| |&&){0,12}") {
            let _ = with(&line);
        }
    }
}
