//! Dialect attributes that hold words: sets of flags, `#dialect.name<a, b>`, and choices, `#dialect.name<word>`. (Those held
//! in integer attributes are [`crate::keyword_attrs`].)

/// Declares a set of flags: a type that is the attribute's value and names its constraint.
///
/// `pub struct Name = "dialect.name", "separator", "description"; { FLAG = bit => "keyword", … } all "keyword";` where
/// the last part, which may be absent, is the keyword for all flags together.
#[macro_export]
macro_rules! bit_enum_attr {
    (
        $(#[$doc:meta])* $vis:vis struct $name:ident = $full_name:literal, $separator:literal, $description:literal;
        { $($(#[$flag_doc:meta])* $flag:ident = $bit:literal => $keyword:literal,)* } $(all $all:literal)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        $vis struct $name(u32);

        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $($(#[$flag_doc])* pub const $flag: Self = Self(1 << $bit);)*
            /// Every flag.
            pub const ALL: Self = Self(0 $(| 1 << $bit)*);

            /// True when every flag of `other` is set.
            pub fn has(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The flags of both.
            #[must_use]
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// The flags that both have.
            #[must_use]
            pub const fn and(self, other: Self) -> Self {
                Self(self.0 & other.0)
            }

            /// True without any flag.
            pub fn is_none(self) -> bool {
                self.0 == 0
            }

            fn from_keyword(keyword: &str) -> Option<Self> {
                match keyword {
                    "none" => Some(Self::NONE),
                    $($keyword => Some(Self::$flag),)*
                    $($all => Some(Self::ALL),)?
                    _ => None,
                }
            }

            /// Reads `<flag, …>`.
            ///
            /// # Errors
            /// When it is malformed, or a flag is unknown.
            pub fn parse(p: &mut dyn $crate::asm::parse::TokenParser) -> Result<Self, $crate::Reported> {
                p.punct("<")?;
                let mut flags = Self::NONE;
                loop {
                    let loc = p.loc();
                    let word = p.enum_word()?;
                    let Some(flag) = Self::from_keyword(&word) else {
                        return Err(p.error_at(loc, concat!("expected one of ", $("'", $keyword, "', ",)* "'none'")));
                    };
                    flags = flags.with(flag);
                    if !p.opt_punct(",") {
                        break;
                    }
                }
                p.punct(">")?;
                Ok(flags)
            }

            /// Reads what follows the attribute's name.
            ///
            /// # Errors
            /// When it is malformed.
            #[allow(dead_code, unreachable_pub)]
            pub fn parse_attr(
                p: &mut dyn $crate::asm::parse::ParamParser,
            ) -> Result<$crate::Attr, $crate::Reported> {
                let flags = Self::parse(p)?;
                Ok(p.cx().ext_attr(flags))
            }
        }

        impl std::fmt::Display for $name {
            /// `<flag, …>`
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut words: Vec<&str> = Vec::new();
                $(if self.has(Self::$flag) { words.push($keyword); })*
                $(if *self == Self::ALL { words = vec![$all]; })?
                if words.is_empty() {
                    words.push("none");
                }
                write!(f, "<{}>", words.join($separator))
            }
        }

        impl $crate::ext::ParamValue for $name {
            const NAME: &'static str = $full_name;

            fn print(&self, _: &$crate::Context, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
                write!(out, "{self}")
            }
        }

        impl $crate::ext::DialectAttr for $name {
            const DEF: $crate::ext::ParamDef = $crate::ext::ParamDef {
                name: $full_name,
                summary: $description,
                description: concat!($("`", $keyword, "` "),*),
                format: "`<` flag, … `>`",
                params: &[],
            };
            fn parse(p: &mut dyn $crate::asm::parse::ParamParser) -> Result<$crate::Attr, $crate::Reported> {
                Self::parse_attr(p)
            }
        }

        $crate::ext_attr_constraint!($name, $description);
    };
}

/// Declares a choice among words: an enumeration that is the attribute's value and names its constraint.
///
/// `pub enum Name = "dialect.name", "description"; { Case => "word", … }`
#[macro_export]
macro_rules! enum_attr {
    (
        $(#[$doc:meta])* $vis:vis enum $name:ident = $full_name:literal, $description:literal;
        { $($(#[$case_doc:meta])* $case:ident => $word:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $vis enum $name {
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
            #[allow(unreachable_pub, dead_code)]
            pub fn from_keyword(keyword: &str) -> Option<Self> {
                match keyword {
                    $($word => Some(Self::$case),)*
                    _ => None,
                }
            }

            /// The word, if one is next, without brackets.
            #[allow(dead_code, reason = "not every choice is written bare")]
            pub(crate) fn opt_keyword(p: &mut dyn $crate::asm::parse::AsmParser) -> Option<Self> {
                [$($word),*].into_iter().find(|word| p.opt_keyword(word)).and_then(Self::from_keyword)
            }

            /// Reads `<word>`.
            ///
            /// # Errors
            /// When it is malformed, or the word is unknown.
            pub fn parse(p: &mut dyn $crate::asm::parse::TokenParser) -> Result<Self, $crate::Reported> {
                p.punct("<")?;
                let loc = p.loc();
                let word = p.enum_word()?;
                let Some(found) = Self::from_keyword(&word) else {
                    let known: &[&str] = &[$($word),*];
                    return Err(p.error_at(loc, &format!("expected one of: {}", known.join(", "))));
                };
                p.punct(">")?;
                Ok(found)
            }

            /// Reads what follows the attribute's name.
            ///
            /// # Errors
            /// When it is malformed.
            #[allow(dead_code, unreachable_pub)]
            pub fn parse_attr(
                p: &mut dyn $crate::asm::parse::ParamParser,
            ) -> Result<$crate::Attr, $crate::Reported> {
                let found = Self::parse(p)?;
                Ok(p.cx().ext_attr(found))
            }
        }

        impl std::fmt::Display for $name {
            /// `<word>`
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "<{}>", self.keyword())
            }
        }

        impl $crate::ext::ParamValue for $name {
            const NAME: &'static str = $full_name;

            fn print(&self, _: &$crate::Context, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
                write!(out, "{self}")
            }
        }

        impl $crate::ext::DialectAttr for $name {
            const DEF: $crate::ext::ParamDef = $crate::ext::ParamDef {
                name: $full_name,
                summary: $description,
                description: concat!($("`", $word, "` "),*),
                format: "`<` word `>`",
                params: &[],
            };
            fn parse(p: &mut dyn $crate::asm::parse::ParamParser) -> Result<$crate::Attr, $crate::Reported> {
                Self::parse_attr(p)
            }
        }

        impl $crate::ext::Param for $name {
            const WHAT: &'static str = concat!("one of:" $(, " '", $word, "'")*);
            fn opt_parse(p: &mut dyn $crate::asm::parse::ParamParser) -> Result<Option<Self>, $crate::Reported> {
                $(if p.opt_keyword($word) { return Ok(Some(Self::$case)); })*
                Ok(None)
            }
            fn print(&self, _: &$crate::Context, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
                out.write_str(self.keyword())
            }
        }

        $crate::ext_attr_constraint!($name, $description);
    };
}

/// Makes a type that is a dialect attribute's value name its constraint.
#[doc(hidden)]
#[macro_export]
macro_rules! ext_attr_constraint {
    ($name:ident, $description:literal) => {
        impl $crate::op_def::AttrConstraintDef for $name {
            type Get<'a> = Self;
            type Set<'a> = Self;
            const CONSTRAINT: $crate::op_def::AttrConstraint = $crate::op_def::AttrConstraint {
                name: stringify!($name),
                description: $description,
                check: |cx, attr| cx.attr_as::<$name>(attr).is_some(),
                syntax: $crate::op_def::AttrSyntax::Plain,
            };
            fn get(cx: &$crate::Context, attr: $crate::Attr) -> Option<Self> {
                cx.attr_as::<Self>(attr).copied()
            }
            fn set(cx: &$crate::Context, value: Self) -> $crate::Attr {
                cx.ext_attr(value)
            }
        }
    };
}
