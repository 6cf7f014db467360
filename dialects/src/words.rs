//! Attributes that are one of some words, which upstream writes `#dialect<kind word>`.

/// A choice among words, one of several kinds that a dialect writes under its own name and that `parse` reads.
macro_rules! words {
    ($dialect:literal, $parse:path; $(#[$doc:meta])* $name:ident = $kind:literal, $description:literal;
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

        impl sutura_ir::ext::ParamValue for $name {
            const NAME: &'static str = $dialect;

            fn print(&self, _: &sutura_ir::Context, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
                write!(out, concat!("<", $kind, " {}>"), self.keyword())
            }
        }

        impl sutura_ir::ext::DialectAttr for $name {
            const DEF: sutura_ir::ext::ParamDef = sutura_ir::ext::ParamDef {
                name: $dialect,
                summary: $description,
                description: concat!($("`", $word, "` "),*),
                format: concat!("`<` `", $kind, "` word `>`"),
                params: &[],
            };
            fn parse(p: &mut dyn sutura_ir::asm::parse::ParamParser) -> Result<sutura_ir::Attr, sutura_ir::Reported> {
                $parse(p)
            }
        }

        sutura_ir::ext_attr_constraint!($name, $description);
    };
}

pub(crate) use words;
