//! `--expected`: where results differ from what was expected.

use serde_json::{Value as Json, json};
use sutura_runtime::compare::{Comparison, Outside, compare, outside};
use sutura_runtime::manifest::Value;
use sutura_runtime::{Model, Tensor};

use super::{inputs, known_index};
use crate::args::RunArgs;
use crate::failure::{Failure, Kind};
use crate::tensors::Files;

/// Tensors that are expected, each for the output with this number.
pub(super) fn read(args: &RunArgs, model: &Model, files: &mut Files) -> Result<Vec<(usize, Tensor)>, Failure> {
    let outputs: &[Value] = model.outputs();
    let sources = inputs::named(&args.expected, outputs, "expected output")?;
    let sources = inputs::with_files(sources, &args.expected_files, files, outputs, "expected output")?;
    let load = |(name, source)| {
        let at = known_index(outputs, name, "expected output")?;
        Ok((at, files.load(&outputs[at], source)?))
    };
    sources.iter().map(|(name, source)| (name.as_str(), source)).map(load).collect()
}

/// A result beside what was expected.
pub(super) struct Compared {
    name: String,
    comparison: Comparison,
    outside: Outside,
}

pub(super) fn compared(
    args: &RunArgs,
    outputs: &[Value],
    results: &[Tensor],
    expected: &[(usize, Tensor)],
) -> Result<Vec<Compared>, Failure> {
    let one = |(at, expected): &(usize, Tensor)| {
        let (name, result) = (outputs[*at].name.clone(), &results[*at]);
        let outside = outside(result, expected, args.atol, args.rtol)?;
        Ok(Compared { name, comparison: compare(result, expected)?, outside })
    };
    expected.iter().map(one).collect()
}

impl Compared {
    pub(super) fn line(&self) -> String {
        let Comparison { max_abs, max_rel, elements, different, nan_mismatches } = &self.comparison;
        let place = max_abs.index.as_ref().map_or_else(String::new, |index| {
            format!(" at {index:?} ({} where {} was expected)", max_abs.actual, max_abs.expected)
        });
        let nans = match nan_mismatches {
            0 => String::new(),
            n => format!(", NaN against a number in {n}"),
        };
        let (name, abs, rel) = (&self.name, max_abs.error, max_rel.error);
        let mut line = format!(
            "{name}: max abs error {abs:.3e}{place}, max rel error {rel:.3e}, {different} of {elements} elements differ{nans}"
        );
        if let Some(first) = &self.outside.first {
            line.push_str(&format!(
                "; {} beyond the tolerance, the first at {:?} ({} where {} was expected)",
                self.outside.count,
                first.index.as_deref().unwrap_or_default(),
                first.actual,
                first.expected
            ));
        }
        line
    }

    pub(super) fn json(&self) -> Json {
        let Comparison { max_abs, max_rel, elements, different, nan_mismatches } = &self.comparison;
        // JSON has no infinity.
        let number = |value: f64| if value.is_finite() { json!(value) } else { json!(value.to_string()) };
        json!({
            "name": self.name,
            "elements": elements,
            "different": different,
            "nan_mismatches": nan_mismatches,
            "max_abs_error": number(max_abs.error),
            "max_abs_index": max_abs.index,
            "max_rel_error": number(max_rel.error),
            "beyond_tolerance": self.outside.count,
            "first_beyond": self.outside.first.as_ref().map(|first| json!({
                "index": first.index,
                "actual": number(first.actual),
                "expected": number(first.expected),
            })),
        })
    }
}

/// Fails where a result differs by more than is allowed.
pub(super) fn judge(args: &RunArgs, compared: &[Compared]) -> Result<(), Failure> {
    let wrong: Vec<String> =
        compared.iter().filter(|one| one.outside.count > 0).map(|one| format!("`{}`", one.name)).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let limits = format!("atol {:e}, rtol {:e}", args.atol, args.rtol);
    let message = format!("{} differs from what was expected by more than allowed ({limits})", wrong.join(", "));
    Err(Failure::new(Kind::Mismatch, message))
}
