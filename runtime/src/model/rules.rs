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
    /// Of each symbol whether data decide it.
    decided: Vec<bool>,
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
        let decided = manifest.symbols.iter().map(|symbol| manifest.decided.contains(&symbol.name)).collect();
        let inputs = rules(&[&manifest.inputs[..], &manifest.reserves].concat());
        let outputs = rules(&manifest.outputs);
        Self { inputs, outputs, symbols: manifest.symbols.len(), decided }
    }

    pub(crate) fn symbols(&self) -> usize {
        self.symbols
    }

    pub(crate) fn output_dims(&self) -> usize {
        self.outputs.len()
    }

    /// Whether data decide sizes.
    pub(crate) fn decides(&self) -> bool {
        self.decided.contains(&true)
    }

    /// Checks what a run has decided against what was planned.
    pub(crate) fn check_decided(
        &self,
        manifest: &Manifest,
        symbols: &[i64],
        planned_dims: &[i64],
        output_dims: &[i64],
    ) -> Result<()> {
        check_symbols(manifest, symbols, |_| true)?;
        let beyond = output_dims.iter().zip(planned_dims).position(|(dim, most)| dim < &0 || dim > most);
        let beyond = beyond.map(|at| (at, output_dims[at]));
        match beyond.or_else(|| disagreeing(&self.outputs, output_dims, symbols)) {
            Some((at, value)) => {
                let (value_name, axis) = place(&manifest.outputs, at);
                contract(format!("it decided {value} as dimension {axis} of output `{value_name}`"))
            }
            None => Ok(()),
        }
    }

    /// Checks what the code accepted and computed. Of what data decide it has told the most.
    pub(crate) fn check(
        &self,
        manifest: &Manifest,
        input_dims: &[i64],
        symbols: &[i64],
        output_dims: &[i64],
    ) -> Result<()> {
        check_symbols(manifest, symbols, |at| !self.decided[at])?;
        let told = |rule: &Rule| match rule {
            Rule::Symbol(at) if self.decided[*at] => Rule::Computed,
            rule => *rule,
        };
        let inputs = disagreeing(&self.inputs, input_dims, symbols);
        if let Some((at, value)) = inputs {
            let (value_name, axis) = place(&manifest.inputs, at);
            return contract(format!("it accepted {value} as dimension {axis} of input `{value_name}`"));
        }
        let negative = output_dims.iter().position(|d| *d < 0).map(|at| (at, output_dims[at]));
        if let Some((at, value)) = negative.or_else(|| {
            let outputs: Vec<Rule>;
            let rules = match self.decides() {
                true => {
                    outputs = self.outputs.iter().map(told).collect();
                    &outputs
                }
                false => &self.outputs,
            };
            disagreeing(rules, output_dims, symbols)
        }) {
            let (value_name, axis) = place(&manifest.outputs, at);
            return contract(format!("it computed {value} as dimension {axis} of output `{value_name}`"));
        }
        Ok(())
    }
}

/// Checks those of the symbols for which `is_known` says so.
fn check_symbols(manifest: &Manifest, symbols: &[i64], is_known: impl Fn(usize) -> bool) -> Result<()> {
    for (at, (symbol, &value)) in manifest.symbols.iter().zip(symbols).enumerate() {
        let fits = value >= symbol.min && value <= symbol.max && value % symbol.div == 0;
        if is_known(at) && !fits {
            return contract(format!("it accepted the value {value} for the dimension `{}`", symbol.name));
        }
    }
    Ok(())
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
