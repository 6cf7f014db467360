//! What kernels check of data as they run, and report where it does not hold.

use sutura_ir::OpRef;

use super::ops::{DivisorOp, PickOp};

/// What is checked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DataCheckKind {
    /// An element of a tensor of indices names one: `gir.pick`.
    Index,
    /// A divisor is not 0: `gir.divisor`.
    Division,
    /// A list of sizes asks for those of a result. The host checks it, no kernel: `rt.expect`.
    Size,
    /// A size is the one that a program goes on with from there. The host checks it: `rt.view` that is `checked`.
    Dim,
}

impl DataCheckKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Index, Self::Division, Self::Size, Self::Dim];

    /// Spelling in attributes and manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Division => "division",
            Self::Size => "size",
            Self::Dim => "dim",
        }
    }

    /// The kind spelt `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A check of a kernel.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DataCheck {
    /// What is checked.
    pub kind: DataCheckKind,
    /// What messages call the op whose data it is.
    pub what: String,
}

impl DataCheck {
    /// The check that an operation makes.
    pub fn of(op: OpRef<'_>) -> Option<Self> {
        let check = |kind, what: &str| Self { kind, what: what.to_owned() };
        let pick = || op.as_::<PickOp<'_>>().map(|pick| check(DataCheckKind::Index, pick.what()));
        pick().or_else(|| op.as_::<DivisorOp<'_>>().map(|divisor| check(DataCheckKind::Division, divisor.what())))
    }

    /// The checks of a kernel in the order of their first operations. Equal ones are one: what is computed again reports the
    /// same.
    pub fn all_of(kernel: OpRef<'_>) -> Vec<Self> {
        let mut checks = Vec::new();
        kernel.walk(&mut |op| {
            if let Some(check) = Self::of(op).filter(|check| !checks.contains(check)) {
                checks.push(check);
            }
        });
        checks
    }
}
