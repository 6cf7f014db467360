//! Comments of `--verify-diagnostics`: `// expected-error @+1 {{text}}`.

const KINDS: [&str; 4] = ["error", "warning", "remark", "note"];

/// What a comparison of diagnostics found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Complaint {
    /// A diagnostic at a line of the file that no comment expects.
    Unexpected { line: usize, kind: String, message: String },
    /// One without a place in the file.
    Nowhere { line: usize, kind: String, message: String },
    /// A comment whose diagnostic did not come.
    Missing { line: usize, kind: String, text: String },
}

/// The complaints in what a command said; `None` when there are none.
pub(super) fn complaints(said: &[&str], file: &str) -> Option<Vec<Complaint>> {
    let found: Vec<Complaint> = said.iter().filter_map(|line| complaint(line, file)).collect();
    (!found.is_empty()).then_some(found)
}

fn complaint(said: &str, file: &str) -> Option<Complaint> {
    let rest = said.strip_prefix(file)?.strip_prefix(':')?;
    let (line, rest) = rest.split_once(':')?;
    let line = line.parse().ok()?;
    let rest = without_code(rest.strip_prefix("1: error: ")?);
    if let Some(rest) = rest.strip_prefix("unexpected ") {
        let (head, message) = rest.split_once(": ")?;
        let (kind, nowhere) = match head.strip_suffix(" without a place in the file") {
            Some(kind) => (kind.to_string(), true),
            None => (head.to_string(), false),
        };
        let message = message.to_string();
        return KINDS.contains(&&*kind).then_some(match nowhere {
            true => Complaint::Nowhere { line, kind, message },
            false => Complaint::Unexpected { line, kind, message },
        });
    }
    let (kind, rest) = rest.strip_prefix("expected ")?.split_once(" \"")?;
    let text = rest.strip_suffix("\" was not produced")?.to_string();
    Some(Complaint::Missing { line, kind: kind.to_string(), text })
}

/// A message without the code behind it, ` [E0123]`.
fn without_code(said: &str) -> &str {
    let code = said.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    match code {
        Some((message, code)) if code.starts_with(['E', 'W']) && code[1..].bytes().all(|b| b.is_ascii_digit()) => {
            message
        }
        _ => said,
    }
}

/// A line of the file, with the number it had; a comment with its parts.
#[derive(Debug, Clone)]
struct Line {
    number: Option<usize>,
    text: String,
    comment: Option<Comment>,
}

#[derive(Debug, Clone)]
struct Comment {
    kind: String,
    regex: bool,
    /// What is written behind the `@`.
    place: String,
    text: String,
    /// The line that is meant, by the number it had.
    target: Option<usize>,
    /// Where `//` and the end of `}}` are.
    start: usize,
    end: usize,
}

fn read(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = text
        .split_inclusive('\n')
        .enumerate()
        .map(|(i, text)| Line { number: Some(i + 1), text: text.to_string(), comment: comment(text, i + 1) })
        .collect();
    let plain: Vec<usize> = lines.iter().filter(|l| l.comment.is_none()).filter_map(|l| l.number).collect();
    for (i, line) in lines.iter_mut().enumerate() {
        let Some(comment) = &mut line.comment else { continue };
        match &*comment.place {
            "below" => comment.target = plain.iter().copied().find(|n| *n > i + 1),
            "above" => comment.target = plain.iter().copied().rev().find(|n| *n < i + 1),
            _ => {}
        }
    }
    lines
}

fn comment(text: &str, number: usize) -> Option<Comment> {
    let at = text.find("expected-")?;
    let start = text[..at].rfind("//")?;
    let rest = &text[at + "expected-".len()..];
    let kind = KINDS.into_iter().find(|kind| rest.starts_with(kind))?;
    let rest = &rest[kind.len()..];
    let (regex, rest) = rest.strip_prefix("-re").map_or((false, rest), |rest| (true, rest));
    let rest = rest.trim_start_matches(' ');
    let (place, rest) = match rest.strip_prefix('@') {
        Some(rest) => {
            let end = rest.find([' ', '{'])?;
            (&rest[..end], rest[end..].trim_start_matches(' '))
        }
        None => ("", rest),
    };
    let inside = rest.strip_prefix("{{")?;
    let close = inside.rfind("}}")?;
    let target = match place {
        "" => Some(number),
        "unknown" | "above" | "below" => None,
        offset => number.checked_add_signed(offset.parse().ok()?),
    };
    let end = text.len() - inside.len() + close + 2;
    let (kind, place, text) = (kind.to_string(), place.to_string(), inside[..close].to_string());
    Some(Comment { kind, regex, place, text, target, start, end })
}

/// The file with comments that say what came.
pub(super) fn rewrite(text: &str, complaints: &[Complaint]) -> Result<String, String> {
    let mut lines = read(text);
    let mut stale = Vec::new();
    for complaint in complaints {
        let Complaint::Missing { line, kind, text } = complaint else { continue };
        let found = lines.iter().position(|l| {
            let target = |c: &Comment| c.target == Some(*line) || (c.place == "unknown" && l.number == Some(*line));
            l.comment.as_ref().is_some_and(|c| c.kind == *kind && c.text == *text && target(c))
        });
        let number = found.and_then(|i| lines[i].number);
        let number = number.filter(|n| !stale.contains(n)).ok_or_else(|| format!("no comment expects \"{text}\""))?;
        stale.push(number);
    }
    for complaint in complaints {
        let (line, kind, message, nowhere) = match complaint {
            Complaint::Unexpected { line, kind, message } => (*line, kind, message, false),
            Complaint::Nowhere { line, kind, message } => (*line, kind, message, true),
            Complaint::Missing { .. } => continue,
        };
        if message.contains("}}") || message.is_empty() {
            return Err(format!("no comment can hold the message \"{message}\""));
        }
        place_message(&mut lines, &mut stale, line, kind, message, nowhere)?;
    }
    lines.retain_mut(|line| !line.number.is_some_and(|n| stale.contains(&n)) || cut_comment(line));
    renumber(&mut lines)?;
    if !lines.iter().any(|line| line.comment.is_some()) {
        return Err("no expectation would be left, and the test would check nothing".to_string());
    }
    Ok(lines.into_iter().map(|line| line.text).collect())
}

/// Puts a message into a stale comment for the same line, else into a new one above the line.
fn place_message(
    lines: &mut Vec<Line>,
    stale: &mut Vec<usize>,
    target: usize,
    kind: &str,
    message: &str,
    nowhere: bool,
) -> Result<(), String> {
    let reused = lines.iter_mut().find(|line| {
        let fits =
            |c: &Comment| c.kind == kind && if nowhere { c.place == "unknown" } else { c.target == Some(target) };
        line.number.is_some_and(|n| stale.contains(&n)) && line.comment.as_ref().is_some_and(fits)
    });
    if let Some(line) = reused {
        let comment = line.comment.as_mut().expect("just found");
        comment.text = message.to_string();
        comment.regex = false;
        stale.retain(|n| Some(*n) != line.number);
        write_comment(line);
        return Ok(());
    }
    let at = lines.iter().position(|l| l.number == Some(target)).ok_or("a diagnostic lies behind the file's end")?;
    let indent: String = lines[at].text.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
    let place = if nowhere { "unknown" } else { "below" };
    let text = format!("{indent}// expected-{kind} @{place} {{{{{message}}}}}\n");
    let mut comment = comment(&text, 0).ok_or("a comment would not be read back")?;
    comment.target = (!nowhere).then_some(target);
    lines.insert(at, Line { number: None, text, comment: Some(comment) });
    Ok(())
}

/// Writes a comment's parts into its line.
fn write_comment(line: &mut Line) {
    let Some(comment) = &mut line.comment else { return };
    let regex = if comment.regex { "-re" } else { "" };
    let place = if comment.place.is_empty() { String::new() } else { format!(" @{}", comment.place) };
    let written = format!("// expected-{}{regex}{place} {{{{{}}}}}", comment.kind, comment.text);
    line.text.replace_range(comment.start..comment.end, &written);
    comment.end = comment.start + written.len();
}

/// Takes the comment from its line; false when nothing else is on the line.
fn cut_comment(line: &mut Line) -> bool {
    let Some(comment) = line.comment.take() else { return true };
    if line.text[..comment.start].trim().is_empty() {
        return false;
    }
    let end = if line.text.ends_with('\n') { "\n" } else { "" };
    line.text.truncate(comment.start);
    line.text.truncate(line.text.trim_end().len());
    line.text.push_str(end);
    true
}

/// Lets comments mean the lines that they meant before others came and went.
fn renumber(lines: &mut [Line]) -> Result<(), String> {
    let now: Vec<Option<usize>> = lines.iter().map(|line| line.number).collect();
    for (at, line) in lines.iter_mut().enumerate() {
        let Some(comment) = &mut line.comment else { continue };
        let numeric = comment.place.starts_with(['+', '-']);
        let Some(target) = comment.target.filter(|_| numeric) else { continue };
        let found = now.iter().position(|n| *n == Some(target)).ok_or("a line that a comment means would go")?;
        let offset = format!("{:+}", found as i64 - at as i64);
        if offset != comment.place {
            comment.place = offset;
            write_comment(line);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unexpected(line: usize, message: &str) -> Complaint {
        Complaint::Unexpected { line, kind: "error".into(), message: message.into() }
    }

    fn missing(line: usize, text: &str) -> Complaint {
        Complaint::Missing { line, kind: "error".into(), text: text.into() }
    }

    #[test]
    fn what_is_said_is_read() {
        let said =
            ["f.mlir:3:1: error: unexpected error: a: b", "f.mlir:3:1: error: expected note \"x\" was not produced"];
        let found = complaints(&said, "f.mlir").expect("two");
        assert_eq!(found[0], unexpected(3, "a: b"));
        assert_eq!(found[1], Complaint::Missing { line: 3, kind: "note".into(), text: "x".into() });
        assert_eq!(complaints(&said, "g.mlir"), None);
    }

    #[test]
    fn messages_change_in_place() {
        let text = "// expected-error @+1 {{old}}\na\nb // expected-error-re {{o{{l}}d}}\n";
        let new = rewrite(text, &[unexpected(2, "new"), missing(2, "old"), unexpected(3, "x"), missing(3, "o{{l}}d")]);
        assert_eq!(new.unwrap(), "// expected-error @+1 {{new}}\na\nb // expected-error {{x}}\n");
    }

    #[test]
    fn comments_come_and_go_and_others_still_mean_their_lines() {
        let text = "// expected-error @+2 {{stays}}\n// expected-error @below {{gone}}\na\n  b\n";
        let new = rewrite(text, &[missing(3, "gone"), unexpected(4, "new")]).unwrap();
        assert_eq!(new, "// expected-error @+1 {{stays}}\na\n  // expected-error @below {{new}}\n  b\n");
    }

    #[test]
    fn a_test_is_not_emptied() {
        assert!(rewrite("a // expected-error {{x}}\n", &[missing(1, "x")]).is_err());
        assert!(rewrite("a\n", &[unexpected(1, "odd }} text")]).is_err());
    }
}
