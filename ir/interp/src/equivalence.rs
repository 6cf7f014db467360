//! Do two programs mean the same? Tried on random inputs.

use sutura_ir::{Context, Module, Type};

use crate::compare::{Mismatch, Tolerance, compare_in};
use crate::engine::{Interpreter, Limits};
use crate::error::{Fault, FaultKind, InterpError};
use crate::random::{Dims, Random, random_arguments};
use crate::value::Value;

/// How to try.
#[derive(Clone, Copy)]
pub struct Trials<'a> {
    /// One run per seed.
    pub seeds: &'a [u64],
    /// Sizes of dynamic dimensions.
    pub dims: &'a dyn Dims,
    /// How far results may lie apart.
    pub tolerance: Tolerance,
    /// What one run may use.
    pub limits: Limits,
}

impl<'a> Trials<'a> {
    /// Exact comparison with the default limits.
    pub fn new(seeds: &'a [u64], dims: &'a dyn Dims) -> Self {
        Self { seeds, dims, tolerance: Tolerance::EXACT, limits: Limits::default() }
    }

    /// Sets the tolerance.
    #[must_use]
    pub fn tolerance(mut self, tolerance: Tolerance) -> Self {
        self.tolerance = tolerance;
        self
    }
}

/// What was tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Inputs on which the results were compared.
    pub compared: usize,
    /// Inputs on which the first program is undefined, so that the second may do anything.
    pub undefined: usize,
}

/// How two programs differ.
#[derive(Clone, Debug)]
pub enum Difference {
    /// No inputs could be made, or the signatures differ.
    Setup(Fault),
    /// The first program fails where it is not undefined.
    Before {
        /// Seed of the inputs.
        seed: u64,
        /// The failure.
        error: InterpError,
    },
    /// Only the second program fails.
    After {
        /// Seed of the inputs.
        seed: u64,
        /// The failure.
        error: InterpError,
    },
    /// Different results, or different contents of a memref argument.
    Values {
        /// Seed of the inputs.
        seed: u64,
        /// `result 0` or `argument 1`.
        what: String,
        /// The first difference.
        mismatch: Box<Mismatch>,
    },
    /// The first program was undefined on every input: nothing was compared.
    Vacuous {
        /// Its fault on the last input.
        error: InterpError,
    },
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Setup(fault) => write!(f, "{fault}"),
            Self::Before { seed, error } => write!(f, "seed {seed}: the program before fails: {error}"),
            Self::After { seed, error } => write!(f, "seed {seed}: only the program after fails: {error}"),
            Self::Values { seed, what, mismatch } => write!(f, "seed {seed}: {what} differs: {mismatch}"),
            Self::Vacuous { error } => {
                write!(f, "nothing was compared: the program before is undefined on every input, lastly: {error}")
            }
        }
    }
}
impl std::error::Error for Difference {}

/// Types of the arguments that the symbol `name` takes: those of its entry block.
///
/// # Errors
/// When the module defines no such symbol with a body.
pub fn argument_types(cx: &Context, module: &Module, name: &str) -> Result<Vec<Type>, Fault> {
    let found = sutura_ir::op_ref::lookup_symbol(module.op_ref(cx), cx.ident(name));
    let entry = found.and_then(|op| op.region(0)).and_then(|region| region.entry());
    let entry = entry.ok_or_else(|| Fault::new(FaultKind::Call, format!("no function @{name} with a body")))?;
    Ok(entry.args().iter().map(|&arg| entry.body.ty(arg)).collect())
}

/// Runs `name` of both modules on the same random inputs and compares results and memref arguments.
///
/// An input on which `before` is undefined (see [`FaultKind::is_undefined_behaviour`]) proves nothing and is counted
/// apart; if there is no other, that is an error.
///
/// # Errors
/// The first difference.
pub fn equivalent(
    cx: &Context,
    before: &Module,
    after: &Module,
    name: &str,
    trials: Trials<'_>,
) -> Result<Agreement, Difference> {
    let types = argument_types(cx, before, name).map_err(Difference::Setup)?;
    if trials.seeds.is_empty() {
        return Err(Difference::Setup(Fault::new(FaultKind::Call, "no seeds were given: nothing would be compared")));
    }
    let mut agreement = Agreement::default();
    let mut undefined = None;
    for &seed in trials.seeds {
        let mut first = Run::new(cx, before, &types, seed, trials)?;
        match first.call(name) {
            Ok(()) => {}
            Err(error) if error.kind().is_undefined_behaviour() => {
                agreement.undefined += 1;
                undefined = Some(error);
                continue;
            }
            Err(error) => return Err(Difference::Before { seed, error }),
        }
        let mut second = Run::new(cx, after, &types, seed, trials)?;
        second.call(name).map_err(|error| Difference::After { seed, error })?;
        first.compare(&mut second, seed, trials.tolerance)?;
        agreement.compared += 1;
    }
    match undefined {
        Some(error) if agreement.compared == 0 => Err(Difference::Vacuous { error }),
        _ => Ok(agreement),
    }
}

/// One program on one input.
struct Run<'m> {
    interpreter: Interpreter<'m>,
    args: Vec<Value>,
    results: Vec<Value>,
}

impl<'m> Run<'m> {
    fn new(
        cx: &'m Context,
        module: &'m Module,
        types: &[Type],
        seed: u64,
        trials: Trials<'_>,
    ) -> Result<Self, Difference> {
        let mut interpreter = Interpreter::new(cx, module);
        interpreter.set_limits(trials.limits);
        let mut random = Random::new(seed);
        let args = random_arguments(cx, types, trials.dims, &mut random, interpreter.memory());
        Ok(Self { interpreter, args: args.map_err(Difference::Setup)?, results: Vec::new() })
    }

    fn call(&mut self, name: &str) -> Result<(), InterpError> {
        self.results = self.interpreter.call(name, &self.args)?;
        Ok(())
    }

    fn compare(&mut self, other: &mut Self, seed: u64, tolerance: Tolerance) -> Result<(), Difference> {
        if self.results.len() != other.results.len() {
            let message = format!("{} results became {}", self.results.len(), other.results.len());
            return Err(Difference::Setup(Fault::new(FaultKind::Call, message)));
        }
        let (left, right) = (self.interpreter.memory(), other.interpreter.memory());
        let pairs = |a: &[Value], b: &[Value], what: &str| {
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                if let Err(mismatch) = compare_in((x, left), (y, right), tolerance) {
                    return Err(Difference::Values { seed, what: format!("{what} {i}"), mismatch: Box::new(mismatch) });
                }
            }
            Ok(())
        };
        pairs(&self.results, &other.results, "result")?;
        pairs(&self.args, &other.args, "argument")
    }
}
