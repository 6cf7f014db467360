//! What a function does on an input, and whether two such outcomes agree.

use sutura_interp::{FaultKind, InterpError, Interpreter, Limits, Memory, Mismatch, Tolerance, Value, compare};
use sutura_ir::{Context, Module};

use crate::CheckOptions;
use crate::inputs::Input;

/// Results, then arguments as the function left them; memrefs as the tensors that they hold.
#[derive(Debug)]
pub(crate) struct Outcome {
    values: Vec<Value>,
    n_results: usize,
    /// Elements of the largest value: no sum has more terms than a value has elements.
    largest: usize,
}

/// Runs `name` of `module` on an input.
pub(crate) fn run(
    cx: &Context,
    module: &Module,
    name: &str,
    input: &Input,
    options: &CheckOptions,
) -> Result<Outcome, InterpError> {
    let mut interpreter = Interpreter::new(cx, module);
    interpreter.set_limits(Limits { steps: options.steps, ..Limits::default() });
    let args = input.arguments(cx, interpreter.memory())?;
    let results = interpreter.call(name, &args)?;
    let n_results = results.len();
    let memory = interpreter.memory();
    let held = |value: Value| held(value, memory);
    let values = results.into_iter().chain(args).map(held).collect::<Result<Vec<_>, _>>()?;
    let elements = |value: &Value| match value {
        Value::Tensor(t) | Value::Vector(t) => t.len(),
        _ => 1,
    };
    let largest = values.iter().map(elements).max().unwrap_or(1);
    Ok(Outcome { values, n_results, largest })
}

fn held(value: Value, memory: &Memory) -> Result<Value, InterpError> {
    match &value {
        Value::MemRef(memref) => Ok(Value::Tensor(memory.read(memref)?)),
        Value::Opaque(_) => {
            Err(sutura_interp::Fault::unsupported("a value of a dialect's own type cannot be compared").into())
        }
        _ => Ok(value),
    }
}

/// How an outcome relates to one before.
pub(crate) enum Verdict {
    /// The same, up to rounding.
    Same,
    /// Not comparable, for this reason.
    Incomparable(String),
    /// Different: what, and the first difference.
    Different(String, Box<Mismatch>),
}

pub(crate) fn judge(before: &Outcome, after: &Outcome) -> Verdict {
    if before.n_results != after.n_results || before.values.len() != after.values.len() {
        let message = format!("{} results became {}", before.n_results, after.n_results);
        return Verdict::Incomparable(message);
    }
    let terms = before.largest.max(after.largest);
    for (i, (left, right)) in before.values.iter().zip(&after.values).enumerate() {
        let what = match i.checked_sub(before.n_results) {
            None => format!("result {i}"),
            Some(argument) => format!("argument {argument}"),
        };
        if std::mem::discriminant(left) != std::mem::discriminant(right) {
            return Verdict::Incomparable(format!("{what}: {} became {}", left.describe(), right.describe()));
        }
        if let Err(mismatch) = compare(left, right, tolerance(left, terms)) {
            return Verdict::Different(what, Box::new(mismatch));
        }
    }
    Verdict::Same
}

/// What rounding may change in `value`.
fn tolerance(value: &Value, terms: usize) -> Tolerance {
    match value {
        Value::Scalar(scalar) => {
            let scale = Some(scalar.to_f64_lossy()).filter(|x| x.is_finite()).unwrap_or(1.0);
            Tolerance::of_rounding(scalar.dtype(), terms, scale.abs())
        }
        Value::Tensor(tensor) | Value::Vector(tensor) if !tensor.dtype().is_integer() => {
            let numbers = (0..tensor.len()).filter_map(|i| Some(tensor.data().get(i)?.to_f64_lossy()));
            let scale = numbers.filter(|x| x.is_finite()).fold(1.0, |max: f64, x| max.max(x.abs()));
            Tolerance::of_rounding(tensor.dtype(), terms, scale)
        }
        _ => Tolerance::EXACT,
    }
}

/// True for faults that say nothing about a pass: the program, or the input for it, is beyond the interpreter.
pub(crate) fn cannot_run(kind: FaultKind) -> bool {
    use FaultKind::{Call, InvalidIr, Limit, TypeMismatch, Unsupported};
    matches!(kind, Unsupported | Call | InvalidIr | Limit | TypeMismatch)
}
