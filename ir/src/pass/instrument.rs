//! Printing the IR around passes.

use std::sync::Arc;

use super::PassInfo;
use crate::op_ref::OpRef;

/// Which passes are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PassFilter {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// Those with one of these arguments.
    Named(Vec<String>),
}

impl PassFilter {
    /// True when a pass with this argument is meant.
    pub fn matches(&self, argument: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(names) => names.iter().any(|n| n == argument),
        }
    }
}

/// When the IR is printed, and how.
#[derive(Clone)]
pub struct IrPrinting {
    /// Passes before which it is printed.
    pub before: PassFilter,
    /// Passes after which it is printed.
    pub after: PassFilter,
    /// After a pass only when the text has changed.
    pub only_changed: bool,
    /// After passes that fail.
    pub on_failure: bool,
    /// Prints an op.
    pub print: Arc<dyn Fn(OpRef<'_>) -> String + Send + Sync>,
}

impl IrPrinting {
    pub(super) fn watches_changes(&self, pass: &PassInfo) -> bool {
        self.only_changed && self.after.matches(pass.argument)
    }

    /// Text of a dump in the form that viewers of MLIR's dumps know.
    pub(super) fn dump(&self, when: When, pass: &PassInfo, text: &str) -> String {
        let (place, failed) = match when {
            When::Before => ("Before", ""),
            When::After => ("After", ""),
            When::Failed => ("After", " Failed"),
        };
        let (name, argument, text) = (pass.name, pass.argument, text.trim_end());
        format!("// -----// IR Dump {place} {name}{failed} ({argument}) //----- //\n{text}\n\n")
    }
}

/// The moment of a dump.
#[derive(Clone, Copy)]
pub(super) enum When {
    Before,
    After,
    Failed,
}
