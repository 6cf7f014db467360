//! Attributes of the gpu dialect, which upstream writes `#gpu<kind word>`.

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::{Attr, Reported};

crate::words::words! { "gpu", parse;
    /// An axis of blocks and threads.
    Dimension = "dim", "a dimension, either 'x', 'y', or 'z'";
    {
        /// The fastest.
        X => "x",
        /// The second.
        Y => "y",
        /// The slowest.
        Z => "z",
    }
}

crate::words::words! { "gpu", parse;
    /// From which lane `gpu.shuffle` takes the value.
    ShuffleMode = "shuffle_mode", "Indexing modes supported by gpu.shuffle.";
    {
        /// The lane whose number differs in the bits of the offset.
        Xor => "xor",
        /// The lane so many below.
        Up => "up",
        /// The lane so many above.
        Down => "down",
        /// The lane of this number.
        Idx => "idx",
    }
}

/// Reads what follows `#gpu`.
pub(super) fn parse(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
    p.punct("<")?;
    let loc = p.loc();
    let kind = p.any_keyword()?;
    let word_loc = p.loc();
    let word = p.enum_word()?;
    let found = match kind.as_str() {
        "dim" => Dimension::from_keyword(&word).map(|d| p.cx().ext_attr(d)),
        "shuffle_mode" => ShuffleMode::from_keyword(&word).map(|m| p.cx().ext_attr(m)),
        _ => return Err(p.beyond_subset(loc, &format!("unknown attribute `{kind}` in dialect `gpu`"))),
    };
    let Some(attr) = found else {
        return Err(p.error_at(word_loc, &format!("`{word}` is no case of `{kind}`")));
    };
    p.punct(">")?;
    Ok(attr)
}
