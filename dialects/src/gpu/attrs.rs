//! Attributes of the gpu dialect, which upstream writes `#gpu<kind word>`.

use std::fmt::{self, Write};

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::ext::{DialectAttr, ParamDef, ParamValue};
use sutura_ir::{Attr, Context, Reported};

/// A choice among words, one of several kinds that the dialect writes under its own name.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident = $kind:literal, $description:literal;
     { $($(#[$case_doc:meta])* $case:ident => $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$case_doc])* $case,)*
        }

        impl $name {
            /// How the text writes it.
            pub fn keyword(self) -> &'static str {
                match self {
                    $(Self::$case => $word,)*
                }
            }

            /// The case that the text writes so.
            pub fn from_keyword(keyword: &str) -> Option<Self> {
                match keyword {
                    $($word => Some(Self::$case),)*
                    _ => None,
                }
            }
        }

        impl ParamValue for $name {
            const NAME: &'static str = "gpu";

            fn print(&self, _: &Context, out: &mut dyn Write) -> fmt::Result {
                write!(out, concat!("<", $kind, " {}>"), self.keyword())
            }
        }

        impl DialectAttr for $name {
            const DEF: ParamDef = ParamDef {
                name: "gpu",
                summary: $description,
                description: concat!($("`", $word, "` "),*),
                format: concat!("`<` `", $kind, "` word `>`"),
                params: &[],
            };
            fn parse(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
                parse(p)
            }
        }

        sutura_ir::ext_attr_constraint!($name, $description);
    };
}

words! {
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

words! {
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
    let word = p.any_keyword()?;
    let found = match kind.as_str() {
        "dim" => Dimension::from_keyword(&word).map(|d| p.cx().ext_attr(d)),
        "shuffle_mode" => ShuffleMode::from_keyword(&word).map(|m| p.cx().ext_attr(m)),
        _ => return Err(p.error_at(loc, &format!("unknown attribute `{kind}` in dialect `gpu`"))),
    };
    let Some(attr) = found else {
        return Err(p.error_at(word_loc, &format!("`{word}` is no case of `{kind}`")));
    };
    p.punct(">")?;
    Ok(attr)
}
