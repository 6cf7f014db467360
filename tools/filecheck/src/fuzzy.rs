//! Guessing which part of the input a failed pattern was meant for.

/// How far the guess looks.
const WINDOW: usize = 4096;

/// How many table cells a guess may take; longer patterns are compared at the
/// starts of lines only, or not at all.
const MAX_CELLS: usize = 20_000_000;

/// Edits beyond which a text is no candidate.
const MAX_DISTANCE: usize = 50;

/// The offset of the text that is the fewest edits away from `example`, if it is
/// close and not simply the start; of equals, the one on the earliest line.
pub(crate) fn closest(text: &[u8], example: &[u8]) -> Option<usize> {
    let window = &text[..text.len().min(WINDOW)];
    let cells = example.len().saturating_mul(example.len());
    let lines_only = cells.saturating_mul(window.len()) > MAX_CELLS;
    if example.is_empty() || cells.saturating_mul(window.len() / 20 + 1) > MAX_CELLS {
        return None;
    }
    let mut best: Option<(usize, usize)> = None;
    let mut lines = 0;
    let mut line_start = true;
    for (at, &byte) in window.iter().enumerate() {
        if byte == b'\n' {
            lines += 1;
            line_start = true;
        }
        if matches!(byte, b' ' | b'\t') {
            continue;
        }
        if lines_only && !line_start {
            continue;
        }
        line_start = byte == b'\n';
        let rest = &text[at..text.len().min(at + example.len())];
        let line = rest.split(|&b| b == b'\n').next().unwrap_or_default();
        // A line costs a hundredth of an edit.
        let limit = best.map_or(MAX_DISTANCE * 100, |(cost, _)| cost);
        let Some(distance) = distance(line, example, limit / 100) else {
            continue;
        };
        let cost = distance * 100 + lines;
        if cost < limit {
            best = Some((cost, at));
        }
    }
    best.map(|(_, at)| at).filter(|&at| at != 0)
}

/// The number of edits from `a` to `b`, or `None` if above `limit`.
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, &y) in b.iter().enumerate() {
            let replace = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
            least = least.min(row[j + 1]);
        }
        if least > limit {
            return None;
        }
    }
    let distance = row[b.len()];
    (distance <= limit).then_some(distance)
}
