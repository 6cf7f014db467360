//! Parts of an input file.

/// A part, with the line of the file at which it begins, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    /// Offset in the file.
    pub(crate) start: usize,
    pub(crate) first_line: u32,
}

/// Parts, and the lines that look as if they should be between some.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Split<'t> {
    pub(crate) parts: Vec<Part<'t>>,
    pub(crate) near_misses: Vec<u32>,
}

/// Splits `text` at the lines that end with `marker`; the whole text is one part without a marker.
pub(crate) fn split<'t>(text: &'t str, marker: Option<&str>) -> Split<'t> {
    let (mut parts, mut near_misses) = (Vec::new(), Vec::new());
    let (mut start, mut first_line, mut offset) = (0, 1, 0);
    for (line, content) in (1..).zip(text.split_inclusive('\n')) {
        let trimmed = content.trim_end();
        match marker {
            Some(marker) if trimmed.ends_with(marker) => {
                let text = &text[start..offset + trimmed.len() - marker.len()];
                parts.push(Part { text, start, first_line });
                start = offset + content.len();
                first_line = line + 1;
            }
            Some(marker) if is_near(trimmed.trim_start(), marker) => near_misses.push(line),
            _ => {}
        }
        offset += content.len();
    }
    parts.push(Part { text: &text[start..], start, first_line });
    Split { parts, near_misses }
}

/// True for the beginning of a marker, or more than a marker; two characters, which begin a comment, are no beginning.
fn is_near(line: &str, marker: &str) -> bool {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let (close, marker) = (squeezed(line), squeezed(marker));
    let least = marker.chars().count().saturating_sub(2).max(3);
    close.starts_with(&marker) || marker.starts_with(&close) && close.chars().count() >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_know_their_lines() {
        let found = split("a\n// -----\nb\nc // -----\n  // -----  \n", Some("// -----"));
        let expected = [("a\n", 0, 1), ("b\nc ", 11, 3), ("  ", 24, 5), ("", 37, 6)];
        assert_eq!(found.parts, expected.map(|(text, start, first_line)| Part { text, start, first_line }));
        assert!(found.near_misses.is_empty());
        assert_eq!(split("// -----\n", None).parts.len(), 1);
    }

    #[test]
    fn near_misses_are_told() {
        let near = |text: &str| split(text, Some("// -----")).near_misses;
        assert_eq!(near("// ----\n//-----\n// ------\n// ----- next\n// -----\n"), [1, 2, 3, 4]);
        assert!(near("//\n// -\n// --\na // ----\n\n").is_empty());
        assert!(split("//\n// ####\n", Some("// ####")).near_misses.is_empty());
    }
}
