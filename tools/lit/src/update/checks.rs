//! FileCheck directives that a line of the output nearly matches.

/// A directive that did not match, and the line that may have been meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Failure {
    /// Line of the check file.
    line: usize,
    /// The line of the output.
    actual: String,
    /// Values of the variables that the directive uses.
    variables: Vec<(String, String)>,
}

/// The first failed directive of the file in what FileCheck said.
pub(super) fn failure(said: &[&str], file: &str) -> Option<Failure> {
    let start = said.iter().position(|line| {
        line.starts_with(file) && line.contains(": error: ") && line.contains("expected string not found in input")
    })?;
    let mut found =
        Failure { line: said[start][file.len() + 1..].split(':').next()?.parse().ok()?, ..Failure::default() };
    for (i, line) in said.iter().enumerate().skip(start + 1) {
        if line.contains(": error: ") || line.starts_with("Input file: ") {
            break;
        }
        if let Some((_, rest)) = line.split_once(": note: with \"")
            && let Some((name, value)) = rest.split_once("\" equal to \"")
        {
            found.variables.push((name.to_string(), value.trim_end_matches('"').to_string()));
        }
        if line.contains(": note: possible intended match here") {
            found.actual = said.get(i + 1)?.trim().to_string();
        }
    }
    Some(found)
}

/// The file with the directive's text as the line is now. Definitions of variables at its beginning and uses of
/// variables stay.
pub(super) fn rewrite(text: &str, failure: &Failure) -> Result<String, String> {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(ToString::to_string).collect();
    let at = failure.line.checked_sub(1).filter(|at| *at < lines.len()).ok_or("the directive is not in the file")?;
    let unsafe_ = |why: &str| format!("line {}: {why}", failure.line);
    if failure.actual.is_empty() {
        return Err(unsafe_("no line of the output is like what the directive wants"));
    }
    let line = &lines[at];
    let (head, pattern, end) = split(line).ok_or_else(|| unsafe_("this is no directive that can be rewritten"))?;
    let new = new_pattern(pattern, failure).map_err(|why| unsafe_(&why))?;
    if new == pattern {
        return Err(unsafe_("the directive says already what the line says"));
    }
    lines[at] = format!("{head}{new}{end}");
    Ok(lines.concat())
}

/// The directive with its colon and blanks, its text, and what ends the line.
fn split(line: &str) -> Option<(&str, &str, &str)> {
    let body = line.trim_end_matches(['\n', '\r']);
    let end = &line[body.len()..];
    let colon = body.find(": ")?;
    let word = body[..colon].rsplit(|c: char| c.is_whitespace() || c == '/').next()?;
    // The others say what is not there, how often, where, or literally.
    let kind = word.strip_suffix("-NEXT").or_else(|| word.strip_suffix("-SAME")).unwrap_or(word);
    let plain = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let pattern = body[colon + 2..].trim_start();
    plain.then(|| (&body[..body.len() - pattern.len()], pattern, end))
}

fn new_pattern(pattern: &str, failure: &Failure) -> Result<String, String> {
    let actual = &*failure.actual;
    if ["[[", "{{", "…"].iter().any(|odd| actual.contains(odd)) {
        return Err("the line has brackets that mean something in a directive, or is too long to be shown".to_string());
    }
    // `%[[X:.*]] = ` stays as it is.
    let (defined, pattern) = definition(pattern);
    let (result, rest) = match defined.is_empty() {
        true => ("", actual),
        false => actual.split_once(" = ").ok_or("the line defines nothing any more")?,
    };
    if pattern.contains("{{") || pattern.contains("[[#") || pattern.matches("[[").any(|_| has_definition(pattern)) {
        return Err(
            "the directive has regular expressions or definitions that cannot be put into a new line".to_string()
        );
    }
    if result.contains([',', ' ']) {
        return Err("the line defines several values".to_string());
    }
    let word = |text: &str| text.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default().to_string();
    if word(pattern) != word(rest) {
        return Err(format!("`{}` stands where `{}` is wanted", word(rest), word(pattern)));
    }
    let mut new = rest.to_string();
    for (name, value) in &failure.variables {
        new = with_use(&new, name, value);
    }
    for (name, _) in &failure.variables {
        if pattern.contains(&format!("[[{name}]]")) && !new.contains(&format!("[[{name}]]")) {
            return Err(format!("the line does not use what is in `{name}` any more"));
        }
    }
    Ok(format!("{defined}{new}"))
}

/// `%[[X:.*]] = ` or `%{{.*}} = ` at the beginning, and what follows.
fn definition(pattern: &str) -> (&str, &str) {
    let defines = (pattern.starts_with("%[[") && pattern.contains(":")) || pattern.starts_with("%{{");
    match pattern.find(" = ").filter(|at| defines && !pattern[..*at].contains(' ')) {
        Some(at) => pattern.split_at(at + 3),
        None => ("", pattern),
    }
}

/// True when some `[[…]]` is more than the use of a variable.
fn has_definition(pattern: &str) -> bool {
    pattern.split("[[").skip(1).any(|part| part.split("]]").next().is_none_or(|name| name.contains(':')))
}

/// The text with `%value`, as a whole word, as `%[[name]]`.
fn with_use(text: &str, name: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let wanted = format!("%{value}");
    while let Some(at) = rest.find(&wanted) {
        let after = rest[at + wanted.len()..].chars().next();
        let whole = after.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '.' || c == '-'));
        out.push_str(&rest[..at]);
        out.push_str(&if whole { format!("%[[{name}]]") } else { wanted.clone() });
        rest = &rest[at + wanted.len()..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(check: &str, actual: &str, variables: &[(&str, &str)]) -> Result<String, String> {
        let variables = variables.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        rewrite(check, &Failure { line: 1, actual: actual.to_string(), variables })
    }

    #[test]
    fn the_text_follows_the_line_and_variables_stay() {
        let check = "  // CHECK-NEXT: %[[Y:.*]] = arith.addi %[[X]], %[[X]] : i32\n";
        let new = rewritten(check, "%3 = arith.addi %1, %1 overflow<nsw> : i64", &[("X", "1")]);
        assert_eq!(new.unwrap(), "  // CHECK-NEXT: %[[Y:.*]] = arith.addi %[[X]], %[[X]] overflow<nsw> : i64\n");
        assert_eq!(rewritten("CHECK: return %0\n", "return %10", &[]).unwrap(), "CHECK: return %10\n");
    }

    #[test]
    fn what_is_not_safe_is_left() {
        for (check, actual, variables) in [
            ("CHECK: arith.addi %0\n", "arith.subi %0", &[][..]),
            ("CHECK-NOT: arith.addi\n", "arith.addi %0", &[]),
            ("CHECK-DAG: a b\n", "a c", &[]),
            ("CHECK: a {{b|c}} d\n", "a e d", &[]),
            ("CHECK: a %[[X:.*]] d\n", "a e d", &[]),
            ("CHECK: a %[[X]] d\n", "a %2 d", &[("X", "1")]),
            ("CHECK: a\n", "a dense<[[1]]>", &[]),
            ("CHECK: a\n", "", &[]),
        ] {
            assert!(rewritten(check, actual, variables).is_err(), "{check} {actual}");
        }
    }
}
