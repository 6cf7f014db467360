//! Check files with inputs.

use super::{Planted, Verdict};
use crate::targets::filecheck;

/// Larger files say nothing new and cost time.
const MAX_TEXT: usize = 16 << 10;

/// There is a verdict, and with every failure a message.
pub(super) fn run(input: &[u8], planted: Planted) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    if text.len() > MAX_TEXT {
        return Ok(());
    }
    let passed = filecheck::check(text)?;
    if planted == Planted::Yes && passed {
        // The mean length of the lines, of which there may be none.
        let (_, checked) = filecheck::parts(text);
        std::hint::black_box(checked.len() / checked.matches('\n').count());
    }
    Ok(())
}
