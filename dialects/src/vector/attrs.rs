//! Attributes of the vector dialect.

use std::fmt;

use sutura_ir::asm::parse::{ParamParser, TokenParser};
use sutura_ir::ext::ParamValue;
use sutura_ir::op_def::{AttrConstraint, AttrConstraintDef, AttrSyntax};
use sutura_ir::{Attr, Context, Reported};

/// How values are combined in a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CombiningKind {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// Unsigned minimum.
    MinUI,
    /// Signed minimum.
    MinSI,
    /// Minimum of numbers, NaN ignored.
    MinNumF,
    /// Unsigned maximum.
    MaxUI,
    /// Signed maximum.
    MaxSI,
    /// Maximum of numbers, NaN ignored.
    MaxNumF,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Minimum, NaN when one is.
    MinimumF,
    /// Maximum, NaN when one is.
    MaximumF,
}

impl CombiningKind {
    const WORDS: [(&'static str, Self); 13] = [
        ("add", Self::Add),
        ("mul", Self::Mul),
        ("minui", Self::MinUI),
        ("minsi", Self::MinSI),
        ("minnumf", Self::MinNumF),
        ("maxui", Self::MaxUI),
        ("maxsi", Self::MaxSI),
        ("maxnumf", Self::MaxNumF),
        ("and", Self::And),
        ("or", Self::Or),
        ("xor", Self::Xor),
        ("minimumf", Self::MinimumF),
        ("maximumf", Self::MaximumF),
    ];

    /// How the text writes it.
    pub fn keyword(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// True when floats can be combined so.
    pub fn takes_floats(self) -> bool {
        use CombiningKind::{Add, MaxNumF, MaximumF, MinNumF, MinimumF, Mul};
        matches!(self, Add | Mul | MinNumF | MaxNumF | MinimumF | MaximumF)
    }

    /// True when integers can be combined so.
    pub fn takes_integers(self) -> bool {
        use CombiningKind::{MaxNumF, MaximumF, MinNumF, MinimumF};
        !matches!(self, MinNumF | MaxNumF | MinimumF | MaximumF)
    }

    /// Reads `<word>`.
    pub(super) fn parse(p: &mut dyn TokenParser) -> Result<Self, Reported> {
        p.punct("<")?;
        let loc = p.loc();
        let word = p.any_keyword()?;
        let kind = Self::WORDS.iter().find(|(w, _)| *w == word).map(|(_, kind)| *kind);
        let Some(kind) = kind else {
            let known: Vec<&str> = Self::WORDS.iter().map(|(w, _)| *w).collect();
            return Err(p.error_at(loc, &format!("expected one of: {}", known.join(", "))));
        };
        p.punct(">")?;
        Ok(kind)
    }

    pub(super) fn parse_attr(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
        let kind = Self::parse(p)?;
        Ok(p.cx().ext_attr(kind))
    }
}

impl fmt::Display for CombiningKind {
    /// `<word>`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.keyword())
    }
}

impl ParamValue for CombiningKind {
    const NAME: &'static str = "vector.kind";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl AttrConstraintDef for CombiningKind {
    type Get<'a> = Self;
    type Set<'a> = Self;
    const CONSTRAINT: AttrConstraint = AttrConstraint {
        name: "CombiningKind",
        description: "Kind of combining function for contractions and reductions",
        check: |cx, attr| cx.attr_as::<CombiningKind>(attr).is_some(),
        syntax: AttrSyntax::Plain,
    };
    fn get(cx: &Context, attr: Attr) -> Option<Self> {
        cx.attr_as::<Self>(attr).copied()
    }
    fn set(cx: &Context, value: Self) -> Attr {
        cx.ext_attr(value)
    }
}
