//! `diff`, with unified output.

use similar::TextDiff;

use super::{USAGE, options, usage};
use crate::tool::Call;

/// `diff [-u] [-q] [-w] [-b] [--strip-trailing-cr] a b`; `-` is standard input.
/// The status is 0 if they are equal, 1 if not, 2 on trouble.
pub(super) fn run(call: &mut Call<'_>) -> i32 {
    let (options, files) = options(call.args);
    let mut how = Comparison::default();
    let mut brief = false;
    for option in &options {
        match option.as_str() {
            "u" => {}
            "q" | "brief" => brief = true,
            "w" => how.no_blanks = true,
            "b" => how.blanks_alike = true,
            "strip-trailing-cr" => how.no_carriage_return = true,
            _ => return usage(call, "diff", format!("unknown option '{option}'")),
        }
    }
    let [left_name, right_name] = files[..] else {
        return usage(call, "diff", "takes two files");
    };
    let (left, right) = match (read(call, left_name), read(call, right_name)) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(message), _) | (_, Err(message)) => return usage(call, "diff", message),
    };
    if left == right {
        return 0;
    }
    let (Ok(left), Ok(right)) = (String::from_utf8(left), String::from_utf8(right)) else {
        let _ = writeln!(call.stdout, "Binary files {left_name} and {right_name} differ");
        return 1;
    };
    let (left_lines, right_lines) = (how.lines(&left), how.lines(&right));
    if left_lines == right_lines {
        return 0;
    }
    if brief {
        let _ = writeln!(call.stdout, "Files {left_name} and {right_name} differ");
        return 1;
    }
    let left: Vec<&str> = left_lines.iter().map(String::as_str).collect();
    let right: Vec<&str> = right_lines.iter().map(String::as_str).collect();
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&left, &right);
    let mut unified = diff.unified_diff();
    let text = unified.context_radius(3).header(left_name, right_name).to_string();
    match call.stdout.write_all(text.as_bytes()) {
        Ok(()) => 1,
        Err(_) => USAGE,
    }
}

fn read(call: &Call<'_>, name: &str) -> Result<Vec<u8>, String> {
    if name == "-" {
        return Ok(call.stdin.to_vec());
    }
    let read = sutura_input::bytes(&call.cwd.join(name), sutura_input::TEXT_LIMIT);
    read.map_err(|error| format!("{name}: {error}"))
}

/// Which differences count.
#[derive(Default)]
struct Comparison {
    no_blanks: bool,
    blanks_alike: bool,
    no_carriage_return: bool,
}

impl Comparison {
    fn lines(&self, text: &str) -> Vec<String> {
        text.split_inclusive('\n').map(|line| self.line(line)).collect()
    }

    fn line(&self, line: &str) -> String {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        let body = match self.no_carriage_return {
            true => body.strip_suffix('\r').unwrap_or(body),
            false => body,
        };
        if self.no_blanks {
            return body.split_whitespace().collect::<String>() + end;
        }
        if self.blanks_alike {
            let start = if body.starts_with(char::is_whitespace) { " " } else { "" };
            return start.to_owned() + &body.split_whitespace().collect::<Vec<_>>().join(" ") + end;
        }
        format!("{body}{end}")
    }
}
