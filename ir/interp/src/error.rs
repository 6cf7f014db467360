//! What can go wrong at run time: every fault of an interpreted program is a value of one of these types.

use sutura_ir::{Context, Diagnostic, Loc, OpRef};

/// The class of a run-time fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultKind {
    /// An index outside its bounds.
    OutOfBounds,
    /// Integer division or remainder by zero.
    DivisionByZero,
    /// A signed division whose quotient does not fit, or arithmetic that breaks its `nsw`, `nuw` or `exact` flag.
    Overflow,
    /// Any other result that MLIR defines as poison.
    Poison,
    /// A read of memory or of a tensor element that nothing was written to.
    Uninitialised,
    /// Shapes, or a shape and a type, that do not agree.
    ShapeMismatch,
    /// A value of another kind or element type than the op needs.
    TypeMismatch,
    /// An access to memory after it was freed.
    UseAfterFree,
    /// A failed run-time check of the program itself.
    Assertion,
    /// An op, a type or an attribute that the interpreter has no meaning for.
    Unsupported,
    /// A symbol that names nothing callable, or wrong arguments for it.
    Call,
    /// One of the interpreter's limits: steps, depth, memory.
    Limit,
    /// The IR breaks a rule that the verifier checks.
    InvalidIr,
}

impl FaultKind {
    /// True for what MLIR leaves undefined: after such a fault a program may do anything, so a rewritten program is
    /// not held to it.
    pub fn is_undefined_behaviour(self) -> bool {
        use FaultKind::*;
        matches!(self, OutOfBounds | DivisionByZero | Overflow | Poison | Uninitialised | UseAfterFree)
    }
}

/// A fault without a place: what evaluation of numbers, tensors and memory returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Class.
    pub kind: FaultKind,
    /// What happened, without a full stop.
    pub message: String,
}

impl Fault {
    /// A fault of class `kind`.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Values of kinds or element types that do not fit.
    pub fn type_mismatch(message: impl Into<String>) -> Self {
        Self::new(FaultKind::TypeMismatch, message)
    }

    /// Shapes that do not fit.
    pub fn shape(message: impl Into<String>) -> Self {
        Self::new(FaultKind::ShapeMismatch, message)
    }

    /// Something the interpreter has no meaning for.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Unsupported, message)
    }

    /// IR that the verifier would refuse.
    pub fn invalid_ir(message: impl Into<String>) -> Self {
        Self::new(FaultKind::InvalidIr, message)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
impl std::error::Error for Fault {}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Inner {
    fault: Fault,
    /// Place and name of the op that failed.
    at: Option<(Loc, String)>,
    /// Calls and other ops around it, innermost first.
    trace: Vec<(Loc, String)>,
}

/// A fault with the op at which it happened.
///
/// Hooks return faults with `?`; the engine adds the op and the calls around it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterpError(Box<Inner>);

impl From<Fault> for InterpError {
    fn from(fault: Fault) -> Self {
        Self(Box::new(Inner { fault, at: None, trace: Vec::new() }))
    }
}

impl InterpError {
    /// A fault at `op`.
    pub fn at(op: OpRef<'_>, fault: Fault) -> Self {
        let mut error = Self::from(fault);
        error.locate(op);
        error
    }

    /// Says that the fault happened at `op`, unless an op is known already.
    pub(crate) fn locate(&mut self, op: OpRef<'_>) {
        self.0.at.get_or_insert_with(|| (op.loc(), op.name_str().to_owned()));
    }

    /// Adds an enclosing call.
    pub(crate) fn add_trace(&mut self, loc: Loc, what: String) {
        // A deep recursion would otherwise repeat itself thousands of times.
        const MAX_TRACE: usize = 16;
        if self.0.trace.len() < MAX_TRACE {
            self.0.trace.push((loc, what));
        }
    }

    /// Class of the fault.
    pub fn kind(&self) -> FaultKind {
        self.0.fault.kind
    }

    /// What happened, without the op.
    pub fn message(&self) -> &str {
        &self.0.fault.message
    }

    /// Location of the op that failed; unknown when the fault belongs to no op.
    pub fn loc(&self) -> Loc {
        self.0.at.as_ref().map_or(Loc::UNKNOWN, |(loc, _)| *loc)
    }

    /// Name of the op that failed.
    pub fn op_name(&self) -> Option<&str> {
        self.0.at.as_ref().map(|(_, name)| name.as_str())
    }

    /// The fault without its place.
    pub fn fault(&self) -> &Fault {
        &self.0.fault
    }

    /// The error as a diagnostic; the calls around the op are its notes.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.loc(), self.to_string());
        for (loc, what) in &self.0.trace {
            diagnostic = diagnostic.note(*loc, what.clone());
        }
        diagnostic
    }

    /// `file:line:col: message`, for tests and logs.
    pub fn render(&self, cx: &Context) -> String {
        match cx.file_line_col(self.loc()) {
            Some((file, line, col)) => format!("{}:{line}:{col}: {self}", cx.str(file)),
            None => self.to_string(),
        }
    }
}

impl std::fmt::Display for InterpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0.at {
            Some((_, name)) => write!(f, "'{name}' op {}", self.0.fault),
            None => write!(f, "{}", self.0.fault),
        }
    }
}
impl std::error::Error for InterpError {}
