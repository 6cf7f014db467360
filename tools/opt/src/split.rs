//! Parts of an input file.

/// A part, with the line of the file at which it begins, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part<'t> {
    pub(crate) text: &'t str,
    pub(crate) first_line: u32,
}

/// Splits `text` at the lines that begin with `marker`; the whole text is one part without a marker.
pub(crate) fn split<'t>(text: &'t str, marker: Option<&str>) -> Vec<Part<'t>> {
    let Some(marker) = marker else { return vec![Part { text, first_line: 1 }] };
    let mut parts = Vec::new();
    let (mut start, mut first_line, mut offset) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == marker {
            parts.push(Part { text: &text[start..offset], first_line });
            start = offset + line.len();
            first_line = index as u32 + 2;
        }
        offset += line.len();
    }
    parts.push(Part { text: &text[start..], first_line });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_know_their_lines() {
        let parts = split("a\n// -----\nb\nc\n// -----  \n", Some("// -----"));
        let expected = [("a\n", 1), ("b\nc\n", 3), ("", 6)];
        assert_eq!(parts, expected.map(|(text, first_line)| Part { text, first_line }));
        assert_eq!(split("a // -----\n", Some("// -----")).len(), 1);
        assert_eq!(split("// -----\n", None).len(), 1);
    }
}
