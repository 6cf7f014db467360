//! What the manifest says about dims, in a form that is quick to check on every run.
//!
//! The generated code checks the caller's dims and reports them by the manifest's words. What it then claims (symbols
//! and output dims) is checked here against the manifest again, because buffers are sized by it.

use crate::error::{Error, Result, ShapeProblem};
use crate::manifest::{CheckKind, Dim, Manifest, Value};

/// The dims of all inputs and outputs, concatenated, and the symbols' ranges.
pub(crate) struct Rules {
    inputs: Vec<Rule>,
    outputs: Vec<Rule>,
    symbols: usize,
}

/// What is known about one dim.
#[derive(Clone, Copy)]
enum Rule {
    Const(i64),
    Symbol(usize),
    Computed,
}

impl Rules {
    /// From a manifest that has been validated.
    pub(crate) fn new(manifest: &Manifest) -> Self {
        let rule = |dim: &Dim| match dim {
            Dim::Const(n) => Rule::Const(*n),
            Dim::Symbol(name) => {
                manifest.symbols.iter().position(|s| s.name == *name).map_or(Rule::Computed, Rule::Symbol)
            }
            Dim::Expr(_) => Rule::Computed,
        };
        let rules = |values: &[Value]| values.iter().flat_map(|v| &v.dims).map(rule).collect();
        Self { inputs: rules(&manifest.inputs), outputs: rules(&manifest.outputs), symbols: manifest.symbols.len() }
    }

    pub(crate) fn symbols(&self) -> usize {
        self.symbols
    }

    pub(crate) fn output_dims(&self) -> usize {
        self.outputs.len()
    }

    /// Checks what the code accepted and computed.
    pub(crate) fn check(
        &self,
        manifest: &Manifest,
        input_dims: &[i64],
        symbols: &[i64],
        output_dims: &[i64],
    ) -> Result<()> {
        for (symbol, &value) in manifest.symbols.iter().zip(symbols) {
            if value < symbol.min || value > symbol.max || value % symbol.div != 0 {
                return contract(format!("it accepted the value {value} for the dimension `{}`", symbol.name));
            }
        }
        let inputs = disagreeing(&self.inputs, input_dims, symbols);
        if let Some((at, value)) = inputs {
            let (value_name, axis) = place(&manifest.inputs, at);
            return contract(format!("it accepted {value} as dimension {axis} of input `{value_name}`"));
        }
        let negative = output_dims.iter().position(|d| *d < 0).map(|at| (at, output_dims[at]));
        if let Some((at, value)) = negative.or_else(|| disagreeing(&self.outputs, output_dims, symbols)) {
            let (value_name, axis) = place(&manifest.outputs, at);
            return contract(format!("it computed {value} as dimension {axis} of output `{value_name}`"));
        }
        Ok(())
    }
}

/// The first dim that is not what its rule says, and its value.
fn disagreeing(rules: &[Rule], dims: &[i64], symbols: &[i64]) -> Option<(usize, i64)> {
    let holds = |(rule, dim): (&Rule, &i64)| match rule {
        Rule::Const(n) => n == dim,
        Rule::Symbol(index) => symbols[*index] == *dim,
        Rule::Computed => true,
    };
    let at = rules.iter().zip(dims).position(|pair| !holds(pair))?;
    Some((at, dims[at]))
}

/// The value and its axis of a concatenated dim.
fn place(values: &[Value], mut at: usize) -> (&str, usize) {
    for value in values {
        if at < value.dims.len() {
            return (&value.name, at);
        }
        at -= value.dims.len();
    }
    ("?", at)
}

fn contract<T>(what: String) -> Result<T> {
    Err(Error::Contract(what))
}

/// The error for a result of `sutura_shapes` other than 0.
pub(crate) fn failed_check(manifest: &Manifest, result: i32, detail: [i64; 2]) -> Error {
    let index = usize::try_from(result).ok().and_then(|r| r.checked_sub(1));
    let Some(check) = index.and_then(|index| manifest.checks.get(index)) else {
        return Error::Contract(format!(
            "`sutura_shapes` returned {result}, but the manifest has {} checks",
            manifest.checks.len()
        ));
    };
    let (dim, left, right) = (check.dim.clone(), check.left.clone(), check.right.clone());
    let [first, second] = detail;
    Error::Shape(match check.kind {
        CheckKind::Equal => ShapeProblem::Inconsistent { dim, left, left_value: first, right, right_value: second },
        CheckKind::Range => ShapeProblem::OutOfRange { dim, left, value: first, range: right, bound: second },
        CheckKind::Divisible => ShapeProblem::NotDivisible { dim, left, value: first, divisor: second },
        CheckKind::Constraint => ShapeProblem::Constraint { left, left_value: first, right, right_value: second },
    })
}
