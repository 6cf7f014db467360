//! Text of the IR.

use std::cell::Cell;

use sutura_ir::Context;

use super::{Planted, Verdict};
use crate::targets::ir;

/// Larger texts say nothing new and cost time.
const MAX_TEXT: usize = 16 << 10;

/// What is refused has a reason; what is right prints, in both forms, as what reads back as the same; what can be formatted stays when
/// it is formatted again.
pub(super) fn run(input: &[u8], planted: Planted) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    if text.len() > MAX_TEXT {
        return Ok(());
    }
    in_context(|cx| {
        ir::parse(cx, text)?;
        ir::round_trip(cx, text)?;
        if planted == Planted::Yes {
            pointed_at(cx, text)?;
        }
        formatted(cx, text)
    })
}

/// Inputs that share a context: with a new one for each input, AFL++ made 39 runs a second instead of 230. The context keeps what
/// earlier inputs interned, so a finding is run again alone.
const INPUTS: u32 = 128;

thread_local! {
    static KEPT: Cell<Option<(Context, u32)>> = const { Cell::new(None) };
}

fn in_context(look: impl FnOnce(&Context) -> Verdict) -> Verdict {
    let kept = KEPT.take().filter(|(_, served)| *served < INPUTS);
    let (cx, served) = kept.unwrap_or_else(|| (Context::new(sutura_dialects::all()), 0));
    // A context in which something panicked is not kept.
    let verdict = look(&cx);
    KEPT.set(Some((cx, served + 1)));
    verdict
}

fn formatted(cx: &Context, text: &str) -> Verdict {
    let format = |text: &str| sutura_fmt::format(cx, "input.mlir", text);
    let once = match format(text) {
        Ok(formatted) => formatted.text,
        Err(sutura_fmt::Refusal::Invalid(_)) => return Ok(()),
        Err(sutura_fmt::Refusal::Internal(what)) => return Err(format!("the formatter failed: {what}")),
    };
    match format(&once) {
        Ok(twice) if twice.text == once => Ok(()),
        Ok(twice) => Err(format!("formatted text is formatted again as something else:\n{once}\nthen\n{}", twice.text)),
        Err(_) => Err(format!("formatted text is refused:\n{once}")),
    }
}

/// The planted fault: what an error points at, and the character behind it, are taken for a byte each.
fn pointed_at(cx: &Context, text: &str) -> Verdict {
    for error in ir::errors(cx, text) {
        let place = error.split(':').skip(1).map_while(|part| part.parse::<usize>().ok());
        let [line, column] = place.take(2).collect::<Vec<_>>()[..] else { continue };
        let Some(line) = text.lines().nth(line - 1) else { continue };
        if line.len() > column {
            std::hint::black_box(&line[column - 1..=column]);
        }
    }
    Ok(())
}
