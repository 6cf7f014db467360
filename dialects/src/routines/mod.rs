//! The runtime's library routines as the compiler knows them: their table, which is the runtime's own file, and what they do,
//! plainly, for the interpreter.

mod decide_size;
mod fft;
mod non_max_suppression;
mod non_zero;
mod sort;
/// The table of routines.
#[path = "../../../runtime/src/routines/table.rs"]
pub mod table;
#[cfg(test)]
mod tests;
mod top_k;
mod unique;

use sutura_interp::{DType, Fault, FaultKind, Tensor};

use crate::r#dyn::poly::Poly;
use table::{Arguments, Elem, Number, ROUTINES, Routine, Typed};

impl Number for Poly {
    fn constant(value: i64) -> Self {
        Self::constant(value)
    }

    fn known(&self) -> Option<i64> {
        self.as_const()
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        Some(self.add(other)).filter(|sum| sum.excess().is_none())
    }

    fn times(&self, other: &Self) -> Option<Self> {
        Some(self.mul(other)).filter(|product| product.excess().is_none())
    }

    fn least(&self, other: &Self) -> Self {
        self.lesser(other)
    }
}

/// The routine of this name and version.
///
/// # Errors
/// Says what there is instead.
pub fn find(name: &str, version: i64) -> Result<&'static Routine, String> {
    if let Some(found) = u32::try_from(version).ok().and_then(|version| table::find(name, version)) {
        return Ok(found);
    }
    let versions: Vec<String> =
        ROUTINES.iter().filter(|routine| routine.name == name).map(|routine| routine.version.to_string()).collect();
    match &versions[..] {
        [] => {
            let names: Vec<&str> = ROUTINES.iter().map(|routine| routine.name).collect();
            Err(format!("names the routine '{name}', which the table does not have; it has {}", names.join(", ")))
        }
        versions => Err(format!(
            "names version {version} of the routine '{name}', of which the table has {}",
            versions.join(", ")
        )),
    }
}

/// A call as the interpreter runs it. What it says fits the routine's declaration.
struct Run<'a> {
    routine: &'static Routine,
    inputs: &'a [Tensor],
    params: &'a [Vec<i64>],
    /// Element type and sizes of each output; where the routine decides a size, the most that it may be.
    outputs: Vec<(DType, Vec<usize>)>,
}

impl Run<'_> {
    fn param(&self, name: &str) -> &[i64] {
        self.routine.param(name).map_or(&[], |at| &self.params[at])
    }

    /// The parameter `axis`.
    fn axis(&self) -> usize {
        self.param("axis").first().map_or(0, |axis| *axis as usize)
    }
}

/// A list of integers of 64 bits.
fn integers(values: &[i64]) -> Result<Tensor, Fault> {
    let scalars = values.iter().map(|value| sutura_interp::Scalar::int(*value, DType::I64));
    Tensor::from_scalars(DType::I64, &[values.len()], scalars)
}

/// What a routine does, plainly.
type Reference = fn(&Run<'_>) -> Result<Vec<Tensor>, Fault>;

/// What routines do, by name.
const REFERENCES: &[(&str, Reference)] = &[
    ("sort", sort::run),
    ("top_k", top_k::run),
    ("fft", fft::run),
    ("non_zero", non_zero::run),
    ("unique", unique::run),
    ("non_max_suppression", non_max_suppression::run),
    ("decide_size", decide_size::run),
];

/// What a routine makes of its inputs. `elems` are the element types of its outputs. What it decides itself is not looked at
/// among the parameters.
///
/// # Errors
/// When the arguments are not as the table says, or the data are not what the routine takes.
pub fn interpret(
    routine: &'static Routine,
    inputs: &[Tensor],
    params: &[Vec<i64>],
    elems: &[DType],
) -> Result<Vec<Tensor>, Fault> {
    let wrong = |reason: String| Fault::shape(format!("the routine '{}' {reason}", routine.symbol()));
    let dims: Vec<Vec<i64>> = inputs.iter().map(|t| t.shape().iter().map(|d| *d as i64).collect()).collect();
    let typed = inputs.iter().zip(&dims);
    let typed: Vec<Typed<'_, i64, DType>> =
        typed.map(|(tensor, dims)| Typed { elem: tensor.dtype(), is_float: tensor.dtype().is_float(), dims }).collect();
    let mut params = params.to_vec();
    for (at, bound) in routine.decided() {
        let most = Arguments { inputs: &typed, params: &params }.size(routine, bound);
        params[at] = vec![most.ok_or_else(|| wrong("decides a size without bound".to_owned()))?];
    }
    let arguments = Arguments { inputs: &typed, params: &params };
    arguments.check(routine, &|a, b| a == b).map_err(wrong)?;
    let mut outputs = Vec::with_capacity(elems.len());
    for ((elem, rule), given) in routine.outputs_of(inputs.len()).into_iter().zip(elems) {
        let dims = arguments.dims(routine, rule).flatten();
        let dims = dims.ok_or_else(|| wrong("has an output of no known size".to_owned()))?;
        let dims: Result<Vec<usize>, _> = dims.into_iter().map(usize::try_from).collect();
        let dims = dims.map_err(|_| wrong("has an output of a negative size".to_owned()))?;
        let elem = match elem {
            None => inputs[outputs.len()].dtype(),
            Some(Elem::First) => inputs[0].dtype(),
            Some(Elem::Int64) => DType::I64,
            Some(Elem::Any | Elem::Float) => *given,
        };
        outputs.push((elem, dims));
    }
    let reference = REFERENCES.iter().find(|(name, _)| *name == routine.name);
    let (_, reference) = reference.ok_or_else(|| {
        Fault::new(FaultKind::Unsupported, format!("the routine '{}' cannot be interpreted", routine.symbol()))
    })?;
    reference(&Run { routine, inputs, params: &params, outputs })
}
