//! How large a size may get, and how much is computed with sizes.
//!
//! The limits keep every operation on sizes, and everything that walks one, near-linear in what is written: a size is at
//! most so long and so deep, whatever it was made from. They lie far beyond what models need.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Atom, Poly};
use sutura_ir::diagnostics::codes;
use sutura_ir::work::Counter;

/// Largest weight of a size: one for each term and each factor of one, at any depth.
pub const MAX_WEIGHT: u32 = 8192;

/// Deepest nesting of `floordiv`, `min` and what is written with them.
pub const MAX_DEPTH: u32 = 24;

/// Most factors of one term. A product of 64 numbers above one exceeds 64 bits.
pub const MAX_FACTORS: usize = 64;

/// Most products of terms that a product of sizes is made of, before equal ones join.
pub(super) const MAX_PRODUCTS: usize = 1 << 16;

/// The limit that an operation on sizes would exceed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// A coefficient, a constant or a divisor leaves 64 bits.
    Number,
    /// There are too many terms and factors.
    Weight,
    /// There are too many `floordiv` and `min` within each other.
    Depth,
}

const ALL: [(Excess, &str); 3] = [(Excess::Number, "?number"), (Excess::Weight, "?terms"), (Excess::Depth, "?depth")];

impl Excess {
    /// Code of the error.
    pub fn code(self) -> &'static str {
        match self {
            Self::Number => codes::SIZE_NUMBER,
            Self::Weight => codes::SIZE_TERMS,
            Self::Depth => codes::SIZE_DEPTH,
        }
    }

    /// What to do about it.
    pub fn help(self) -> &'static str {
        "give a part of the size a name of its own: a 'dyn.symbol', and a 'dyn.equal' that says what it is"
    }

    fn prefix(self) -> &'static str {
        ALL.iter().find(|(excess, _)| *excess == self).map_or("", |(_, prefix)| prefix)
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => f.write_str("a coefficient, a constant or a divisor of the size does not fit 64 bits"),
            Self::Weight => {
                write!(f, "the size has more than {MAX_WEIGHT} terms and factors, or {MAX_FACTORS} factors in one term")
            }
            Self::Depth => write!(f, "the size nests more than {MAX_DEPTH} of 'floordiv' and 'min'"),
        }
    }
}

/// True for the name of a symbol that stands for a result beyond the limits.
pub(in crate::r#dyn) fn is_anonymous(name: &str) -> bool {
    name.starts_with('?')
}

impl Poly {
    /// What stands for a result that exceeds a limit: a symbol of its own, of which nothing is known, and which no text and
    /// no model can name. So whatever is derived from it is right, though nobody can compute it.
    pub(super) fn beyond(excess: Excess) -> Self {
        // Two of them are never equal, unless one is a copy of the other. The number is never shown.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name: Arc<str> = format!("{}{number}", excess.prefix()).into();
        Self::of_atom(Atom::Symbol(name))
    }

    /// The limit that was exceeded where this size, or a part of it, was computed. Such a size can be compared, but neither
    /// written nor computed.
    pub fn excess(&self) -> Option<Excess> {
        if !self.is_anonymous() {
            return None;
        }
        let name = self.symbols().into_iter().find(|name| is_anonymous(name))?;
        ALL.iter().find(|(_, prefix)| name.starts_with(prefix)).map(|(excess, _)| *excess)
    }
}

static SIZES: Counter = Counter::new("sizes: made");
static WEIGHT: Counter = Counter::new("sizes: terms and factors");
static DERIVED: Counter = Counter::new("sizes: ranges and canonical forms derived");

pub(super) fn count_size(weight: u32) {
    SIZES.add(1);
    WEIGHT.add(weight.into());
}

/// Counts a range or a canonical form that was not remembered.
pub(in crate::r#dyn) fn count_derived() {
    DERIVED.add(1);
}
