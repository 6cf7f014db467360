//! A limit on nesting, since MLIR's parser is recursive and overflows its stack on input that is nested deep enough.

use crate::error::Error;

/// Deeper input is refused. A level costs MLIR's parser at most a few kilobytes of stack; `worker` gives it far more.
const LIMIT: usize = 1000;

/// Checks that brackets of all kinds nest at most [`LIMIT`] deep in `text`, outside strings and comments.
pub(crate) fn check(text: &str, name: &str) -> Result<(), Error> {
    let bytes = text.as_bytes();
    let (mut depth, mut line, mut at) = (0usize, 1usize, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'\n' => line += 1,
            b'"' => at = end_of_string(bytes, at),
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = end_of_line(bytes, at) - 1,
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'(' | b'[' | b'{' | b'<' => {
                depth += 1;
                if depth > LIMIT {
                    return Err(Error::NestedTooDeep { name: name.to_owned(), line, limit: LIMIT });
                }
            }
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    Ok(())
}

/// The closing quote of the string that opens at `open`, or where its line ends: MLIR's strings do not span lines.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at,
            b'\n' => return at - 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_line(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |offset| start + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_comments_and_arrows_do_not_count() {
        let many = "(".repeat(LIMIT + 1);
        assert!(check(&format!("\"{many}\" // {many}\n"), "t").is_ok());
        assert!(check(&"(() -> ())".repeat(LIMIT + 1), "t").is_ok());
        assert!(check(&format!("\"a\\\"{many}\""), "t").is_ok());
    }

    #[test]
    fn the_first_level_over_the_limit_is_named_by_line() {
        assert!(check(&"(".repeat(LIMIT), "t").is_ok());
        let error = check(&format!("\"open\n\n{}", "{".repeat(LIMIT + 1)), "deep.mlir").unwrap_err();
        assert_eq!(error.to_string(), "deep.mlir:3: nested deeper than 1000 levels");
    }
}
