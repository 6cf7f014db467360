//! The memory that a run takes: what is given and made, weights, and the workspace between kernels.

use sutura_dialects::r#dyn::poly::{Atom, Poly};
use sutura_runtime::Manifest;
use sutura_runtime::manifest::{Dim, Function, Temporary, Value};

/// Of a workspace at most so many formulas are followed, of which it is the greatest.
const MOST_FORMULAS: usize = 16;

/// The memory of a run beside the weights, in words, as polynomials of the sizes.
pub fn formulas(manifest: &Manifest) -> Vec<String> {
    let tensors = tensors(manifest).map(|tensors| format!("inputs and outputs: {tensors} bytes"));
    let workspace = format!("workspace at its peak: {}", peak(&manifest.temporaries));
    // How many calls are in each other data tell, and sizes of a function are those of each call.
    let function = |function: &Function| {
        let name = sutura_visible::line(&function.name);
        format!(
            "recursive function `{name}`: {} for each call that has begun and not ended",
            peak(&function.temporaries)
        )
    };
    tensors.into_iter().chain([workspace]).chain(manifest.functions.iter().map(function)).collect()
}

/// The peak of a workspace, in words.
fn peak(temporaries: &[Temporary]) -> String {
    match workspace(temporaries).as_deref() {
        None => "one of more formulas than are shown".to_owned(),
        Some([]) => "none".to_owned(),
        Some([one]) => format!("{one} bytes"),
        Some(several) => {
            let several: Vec<String> = several.iter().map(ToString::to_string).collect();
            format!("max({}) bytes", several.join(", "))
        }
    }
}

/// The memory of a run beside the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    pub inputs: i64,
    pub outputs: i64,
    pub workspace: i64,
    sum: i64,
}

impl Bytes {
    /// All of it.
    pub fn sum(&self) -> i64 {
        self.sum
    }
}

/// The memory of a run at sizes. None where a size is unknown or a number has no place in 64 bits.
pub fn bytes_at(manifest: &Manifest, size: &dyn Fn(&str) -> Option<i64>) -> Option<Bytes> {
    let all = |values: &[Value]| values.iter().try_fold(0i64, |sum, value| sum.checked_add(bytes(value)?.eval(size)?));
    let (inputs, outputs) = (all(&manifest.inputs)?, all(&manifest.outputs)?);
    let workspace = workspace_at(&manifest.temporaries, size)?;
    let sum = inputs.checked_add(outputs)?.checked_add(workspace)?;
    Some(Bytes { inputs, outputs, workspace, sum })
}

/// The same in words.
pub fn at(manifest: &Manifest, size: &dyn Fn(&str) -> Option<i64>) -> Option<String> {
    let Bytes { inputs, outputs, workspace, sum } = bytes_at(manifest, size)?;
    let calls = if manifest.functions.is_empty() { "" } else { ", and what calls of recursive functions take" };
    Some(format!("at these sizes: {inputs} bytes in, {outputs} out, {workspace} of workspace, {sum} together{calls}"))
}

/// The bytes of a tensor as a polynomial.
fn bytes(value: &Value) -> Option<Poly> {
    let bits = i64::from(value.element_type.bits());
    let mut elements = Poly::from(1);
    for dim in &value.dims {
        let dim = match dim {
            Dim::Const(size) => Poly::from(*size),
            Dim::Symbol(name) => Poly::symbol(name),
            Dim::Expr(text) => Poly::parse(text).ok()?,
        };
        elements = elements.mul(&dim);
    }
    Some(elements.scale(bits).ceildiv(8))
}

/// The bytes of inputs and outputs together as a polynomial.
fn tensors(manifest: &Manifest) -> Option<Poly> {
    let values = manifest.inputs.iter().chain(&manifest.outputs);
    values.map(bytes).try_fold(Poly::from(0), |sum, next| Some(sum.add(&next?)))
}

fn workspace_at(temporaries: &[Temporary], size: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let mut ends: Vec<i64> = Vec::with_capacity(temporaries.len());
    for temporary in temporaries {
        let begin = temporary.after.iter().map(|before| ends[*before]).max().unwrap_or(0);
        ends.push(begin.checked_add(Poly::parse(&temporary.bytes).ok()?.eval(size)?)?);
    }
    Some(ends.into_iter().max().unwrap_or(0))
}

/// The bytes of the workspace: the greatest of these polynomials, for sizes that are not negative. None if there are too many.
fn workspace(temporaries: &[Temporary]) -> Option<Vec<Poly>> {
    let mut ends: Vec<Vec<Poly>> = Vec::with_capacity(temporaries.len());
    let mut all = Vec::new();
    for temporary in temporaries {
        let bytes = Poly::parse(&temporary.bytes).ok()?;
        let begins = temporary.after.iter().flat_map(|before| ends[*before].iter());
        let mut of_it = greatest(begins.map(|begin| begin.add(&bytes)).collect())?;
        if of_it.is_empty() {
            of_it.push(bytes);
        }
        all = greatest(all.into_iter().chain(of_it.iter().cloned()).collect())?;
        ends.push(of_it);
    }
    Some(all)
}

/// Those of the formulas that may be the greatest one.
fn greatest(formulas: Vec<Poly>) -> Option<Vec<Poly>> {
    let mut kept: Vec<Poly> = Vec::new();
    for formula in formulas {
        if kept.iter().any(|other| no_less(other, &formula)) {
            continue;
        }
        kept.retain(|other| !no_less(&formula, other));
        kept.push(formula);
    }
    (kept.len() <= MOST_FORMULAS).then_some(kept)
}

/// Whether `a` is at least `b` for all sizes that are not negative, as far as the terms of their difference show it.
fn no_less(a: &Poly, b: &Poly) -> bool {
    not_negative(&a.sub(b))
}

fn not_negative(formula: &Poly) -> bool {
    let atom = |atom: &Atom| match atom {
        Atom::Symbol(_) => true,
        Atom::FloorDiv(inner, divisor) => *divisor > 0 && not_negative(inner),
        Atom::Min(a, b) => not_negative(a) && not_negative(b),
    };
    formula.terms().all(|(atoms, coefficient)| coefficient >= 0 && atoms.iter().all(atom))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(temporaries: &[(&str, &[usize])]) -> Vec<Temporary> {
        let one = |(bytes, after): &(&str, &[usize])| Temporary { bytes: (*bytes).to_owned(), after: after.to_vec() };
        temporaries.iter().map(one).collect()
    }

    fn formulas(temporaries: &[(&str, &[usize])]) -> Vec<String> {
        let found = workspace(&placed(temporaries)).expect("not too many");
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_workspace_is_the_greatest_of_few_formulas() {
        assert_eq!(formulas(&[]), [""; 0]);
        // The third lies behind the first, and the second at the begin.
        let three: [(&str, &[usize]); 3] = [("64*N", &[]), ("128*N", &[]), ("64*M", &[0])];
        assert_eq!(formulas(&three), ["128*N", "64*M + 64*N"]);
        // What is never the greatest is not told.
        assert_eq!(formulas(&[("64*N", &[]), ("128*N + 64", &[])]), ["128*N + 64"]);
        let at = |m: i64| workspace_at(&placed(&three), &|name| Some(if name == "M" { m } else { 2 }));
        assert_eq!((at(1), at(5)), (Some(256), Some(448)));
    }

    #[test]
    fn sizes_that_nobody_told_make_no_number() {
        assert_eq!(workspace_at(&placed(&[("64*N", &[])]), &|_| None), None);
        assert_eq!(workspace_at(&placed(&[("64*N", &[])]), &|_| Some(i64::MAX)), None);
    }
}
