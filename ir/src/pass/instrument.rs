//! The IR around passes, for those who want to see it.

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

/// Prints an op.
pub type PrintOp = Arc<dyn Fn(OpRef<'_>) -> String + Send + Sync>;

/// When the IR is shown, and how.
#[derive(Clone)]
pub struct IrPrinting {
    /// Passes before which it is shown.
    pub before: PassFilter,
    /// Passes after which it is shown.
    pub after: PassFilter,
    /// After a pass only when the text has changed.
    pub only_changed: bool,
    /// After passes that fail.
    pub on_failure: bool,
    /// The whole program, not only the op that the pass ran on. Nested ops are then worked on one after the other.
    pub module_scope: bool,
    /// What [`Dump::old_text`] is wanted for.
    pub with_old_text: bool,
    /// Prints an op.
    pub print: PrintOp,
}

impl IrPrinting {
    /// True when the text before `pass` is needed once it has run.
    pub(super) fn wants_old_text(&self, pass: &PassInfo) -> bool {
        (self.only_changed || self.with_old_text) && self.after.matches(pass.argument)
    }
}

/// The moment of a dump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Before a pass.
    Before,
    /// After a pass.
    After,
    /// After a pass that failed.
    Failed,
}

/// The IR before or after a pass on one op.
#[derive(Clone, Debug)]
pub struct Dump {
    /// The moment.
    pub when: When,
    /// The pass.
    pub pass: &'static PassInfo,
    /// The op that the pass runs on and those around it, outermost first.
    pub path: Vec<OpLabel>,
    /// Number of the pass among those that have run on the op and, before that, among those on each op around it.
    pub number: Vec<usize>,
    /// Text of the op, or of the program.
    pub text: String,
    /// The text before the pass, if it is asked for.
    pub old_text: Option<String>,
}

/// What an op is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLabel {
    /// Name of the operation.
    pub op: String,
    /// Name of the symbol that it defines.
    pub symbol: Option<String>,
}

impl std::fmt::Display for OpLabel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "'{}'", self.op)?;
        self.symbol.iter().try_for_each(|symbol| write!(f, " @{symbol}"))
    }
}

impl Dump {
    /// The heading in the form that viewers of MLIR's dumps know.
    pub fn heading(&self, module_scope: bool) -> String {
        let (place, failed) = match self.when {
            When::Before => ("Before", ""),
            When::After => ("After", ""),
            When::Failed => ("After", " Failed"),
        };
        let (name, argument) = (self.pass.name, self.pass.argument);
        let op = match (module_scope, self.path.last()) {
            (true, Some(OpLabel { op, symbol: Some(symbol) })) => format!(" ('{op}' operation: @{symbol})"),
            (true, Some(OpLabel { op, symbol: None })) => format!(" ('{op}' operation)"),
            _ => String::new(),
        };
        format!("// -----// IR Dump {place} {name}{failed} ({argument}){op} //----- //")
    }

    /// Heading and text.
    pub fn whole(&self, module_scope: bool) -> String {
        format!("{}\n{}\n\n", self.heading(module_scope), self.text.trim_end())
    }
}
