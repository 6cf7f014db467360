//! How a region is lowered: settings that stand apart from what is usual.

use std::fmt;

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::{Param, VerifyParams};
use sutura_ir::{Context, attr};

/// One choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    /// Rows and columns of the register tile of products that comes before all others.
    Tile(i64, i64),
    /// Most keys of an attention that are kept in the cache together; with 0 what half of it holds.
    Keys(i64),
    /// Columns of a group's tile; with 0 all.
    Columns(i64),
    /// Longest row that is kept in the cache between passes over it.
    Resident(i64),
    /// Most rows of a group.
    Rows(i64),
    /// Parts in which sums along many rows are made; with 0 they are not divided.
    Parts(i64),
    /// Square tiles along a side of a group's block; with 0 there are none.
    Block(i64),
    /// Dims of what is made that a group loops over, of those that could be of the grid, the innermost ones.
    Inner(i64),
}

/// What one number says, the word that stands for 0, and how a setting is made of it.
type Kind = (&'static str, Option<&'static str>, fn(i64) -> Setting);

/// Settings of one number.
const KINDS: [Kind; 7] = [
    ("keys", Some("fit"), Setting::Keys),
    ("columns", Some("all"), Setting::Columns),
    ("resident", None, Setting::Resident),
    ("rows", None, Setting::Rows),
    ("parts", Some("none"), Setting::Parts),
    ("block", Some("none"), Setting::Block),
    ("inner", None, Setting::Inner),
];

impl Setting {
    /// What it is of.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tile(..) => "tile",
            Self::Keys(_) => "keys",
            Self::Columns(_) => "columns",
            Self::Resident(_) => "resident",
            Self::Rows(_) => "rows",
            Self::Parts(_) => "parts",
            Self::Block(_) => "block",
            Self::Inner(_) => "inner",
        }
    }

    /// Its numbers.
    fn numbers(self) -> (i64, Option<i64>) {
        match self {
            Self::Tile(rows, columns) => (rows, Some(columns)),
            Self::Keys(n)
            | Self::Columns(n)
            | Self::Resident(n)
            | Self::Rows(n)
            | Self::Parts(n)
            | Self::Block(n)
            | Self::Inner(n) => (n, None),
        }
    }

    /// The word that stands for its number.
    fn word(self) -> Option<&'static str> {
        let of_kind = KINDS.iter().find(|(name, ..)| *name == self.name())?;
        of_kind.1.filter(|_| self.numbers() == (0, None))
    }
}

/// As people read it: `tile=12x32`, `columns=all`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.name())?;
        match (self.word(), self.numbers()) {
            (Some(word), _) => f.write_str(word),
            (None, (rows, Some(columns))) => write!(f, "{rows}x{columns}"),
            (None, (number, None)) => write!(f, "{number}"),
        }
    }
}

impl Param for Setting {
    const WHAT: &'static str = "a setting, such as 'columns = 1024'";

    fn opt_parse(p: &mut dyn ParamParser) -> Result<Option<Self>, Reported> {
        let loc = p.loc();
        let Some(name) = p.opt_any_keyword() else { return Ok(None) };
        if name == "tile" {
            p.punct("=")?;
            p.punct("[")?;
            let rows = p.int()?;
            p.punct(",")?;
            let columns = p.int()?;
            p.punct("]")?;
            return Ok(Some(Self::Tile(rows, columns)));
        }
        let Some((_, word, make)) = KINDS.iter().find(|(known, ..)| *known == name) else {
            let known: Vec<&str> = KINDS.iter().map(|(known, ..)| *known).collect();
            return Err(p.error_at(loc, &format!("expected a setting: tile, {}", known.join(", "))));
        };
        p.punct("=")?;
        let is_zero = word.is_some_and(|word| p.opt_keyword(word));
        Ok(Some(make(if is_zero { 0 } else { p.int()? })))
    }

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        match (self.word(), self.numbers()) {
            (Some(word), _) => write!(out, "{} = {word}", self.name()),
            (None, (rows, Some(columns))) => write!(out, "{} = [{rows}, {columns}]", self.name()),
            (None, (number, None)) => write!(out, "{} = {number}", self.name()),
        }
    }
}

/// How a region is lowered; what has no setting is as usual.
///
/// It stands above what predictions say. Which settings a region has follows from its kind.
///
/// ```mlir
/// #graph.plan<[tile = [12, 32]]>
/// #graph.plan<[columns = 1024, parts = none]>
/// ```
#[attr("graph.plan", verify)]
pub struct PlanAttr {
    /// What differs from the usual.
    settings: Vec<Setting>,
}

impl VerifyParams for PlanAttr {
    fn verify_params(&self, _: &Context) -> Result<(), String> {
        for (i, setting) in self.settings.iter().enumerate() {
            let name = setting.name();
            if self.settings[..i].iter().any(|other| other.name() == name) {
                return Err(format!("#graph.plan sets '{name}' twice"));
            }
            let (first, second) = setting.numbers();
            let least = second.map_or(0, |_| 1);
            if let Some(number) = [Some(first), second].into_iter().flatten().find(|number| *number < least) {
                return Err(format!("#graph.plan sets '{name}' to {number}; it must be at least {least}"));
            }
        }
        Ok(())
    }
}

impl Default for PlanAttr {
    /// All as usual.
    fn default() -> Self {
        Self { settings: Vec::new() }
    }
}

/// As people read it: `columns=1024, parts=none`, or `usual`.
impl fmt::Display for PlanAttr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.settings.is_empty() {
            return f.write_str("usual");
        }
        let words: Vec<String> = self.settings.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(", "))
    }
}
