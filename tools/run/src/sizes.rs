//! Sizes that inputs are made at: `--dim batch=4,seq=1..512:8`.

use serde_json::Value as Json;
use sutura_dialects::r#dyn::DimSpec;
use sutura_ir::diagnostics::did_you_mean;
use sutura_runtime::manifest::{Dim, Manifest, Symbol};

use crate::failure::Failure;

/// Most runs that ranges may make.
const MOST: usize = 4096;

/// Values of a model's sizes, in the order of its symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<(String, i64)>);

impl Sizes {
    /// The value of a size.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| *value)
    }

    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// For programs.
    pub fn json(&self) -> Json {
        self.iter().map(|(name, value)| (name.to_owned(), Json::from(value))).collect()
    }

    /// As `--dim` has it.
    pub fn text(&self) -> String {
        self.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    }
}

/// The sizes that are asked for, one after the other: each size of a range with each of the others. Those that `fixed` has, because
/// an input that is given has them, are no choice.
///
/// # Errors
/// When the model has no such size, does not allow a value, or there are too many.
pub fn asked(manifest: &Manifest, dims: &[DimSpec], fixed: &[(String, i64)]) -> Result<Vec<Sizes>, Failure> {
    for (i, dim) in dims.iter().enumerate() {
        known(manifest, &dim.name)?;
        if dims[..i].iter().any(|other| other.name == dim.name) {
            return Err(Failure::usage(format!("--dim gives `{}` twice", dim.name)));
        }
    }
    let mut all = vec![Sizes(Vec::new())];
    for symbol in own(manifest) {
        let given = dims.iter().find(|dim| dim.name == symbol.name);
        let values =
            values(symbol, given, fixed.iter().find(|(name, _)| *name == symbol.name).map(|(_, value)| *value))?;
        if all.len().saturating_mul(values.len()) > MOST {
            return Err(Failure::usage(format!("--dim asks for more than {MOST} runs"))
                .hint("give a divisor, as `seq=1..512:64`, or fewer ranges"));
        }
        let with = |sizes: &Sizes, value: &i64| Sizes([&sizes.0[..], &[(symbol.name.clone(), *value)]].concat());
        all = all.iter().flat_map(|sizes| values.iter().map(move |value| with(sizes, value))).collect();
    }
    Ok(all)
}

/// The sizes that inputs decide, and not data.
fn own(manifest: &Manifest) -> impl Iterator<Item = &Symbol> {
    let reserved = |name: &str| {
        let mut dims = manifest.reserves.iter().filter_map(|value| value.dims.first());
        dims.any(|dim| matches!(dim, Dim::Symbol(own) if own == name))
    };
    manifest.symbols.iter().filter(move |symbol| !manifest.decided.contains(&symbol.name) && !reserved(&symbol.name))
}

fn known(manifest: &Manifest, name: &str) -> Result<(), Failure> {
    let names: Vec<&str> = own(manifest).map(|symbol| symbol.name.as_str()).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let failure = Failure::usage(format!("--dim gives `{name}`, which is no size of the model's inputs"));
    Err(match did_you_mean(name, names.iter().copied()) {
        Some(close) => failure.hint(format!("did you mean `{close}`?")),
        None if names.is_empty() => failure.hint("all its sizes are fixed"),
        None => failure.hint(format!("its sizes are `{}`", names.join("`, `"))),
    })
}

fn values(symbol: &Symbol, given: Option<&DimSpec>, fixed: Option<i64>) -> Result<Vec<i64>, Failure> {
    let div = symbol.div.max(1);
    let Some(dim) = given else { return Ok(vec![fixed.unwrap_or_else(|| usual(symbol))]) };
    let step = common_multiple(div, dim.div);
    let (min, max) = (dim.min.max(symbol.min), dim.max.min(symbol.max));
    let first = min.saturating_add(step - 1) / step * step;
    let values: Vec<i64> = std::iter::successors(Some(first), |value| value.checked_add(step))
        .take_while(|value| *value <= max)
        .take(MOST + 1)
        .collect();
    let of_model = DimSpec { name: symbol.name.clone(), min: symbol.min, max: symbol.max, div };
    match (fixed, &values[..]) {
        (_, []) => Err(Failure::usage(format!("--dim {dim} leaves no value: the model says {of_model}"))),
        (Some(fixed), values) if values != [fixed] => {
            Err(Failure::usage(format!("--dim gives `{}`, which is {fixed} by an input that is given", symbol.name)))
        }
        _ => Ok(values),
    }
}

/// The value of a size that nobody gave.
fn usual(symbol: &Symbol) -> i64 {
    let div = symbol.div.max(1);
    let least = symbol.min.max(1).saturating_add(div - 1) / div * div;
    symbol.likely.first().copied().unwrap_or(if least <= symbol.max { least } else { symbol.min })
}

fn common_multiple(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str, min: i64, max: i64, div: i64, likely: &[i64]) -> Symbol {
        Symbol { name: name.into(), min, max, div, likely: likely.to_vec() }
    }

    fn read(symbol: &Symbol, text: &str, fixed: Option<i64>) -> Result<Vec<i64>, String> {
        values(symbol, Some(&text.parse::<DimSpec>().unwrap()), fixed).map_err(|failure| failure.message)
    }

    #[test]
    fn every_value_of_a_range_that_the_model_allows() {
        let seq = symbol("seq", 0, 64, 4, &[]);
        assert_eq!(read(&seq, "seq=1..30:6", None).unwrap(), [12, 24]);
        assert_eq!(read(&seq, "seq=8", None).unwrap(), [8]);
        assert_eq!(read(&seq, "seq=60..", None).unwrap(), [60, 64]);
        let refused = read(&seq, "seq=7", None).unwrap_err();
        assert_eq!(refused, "--dim seq=7..7:1 leaves no value: the model says seq=0..64:4");
        assert!(read(&seq, "seq=8", Some(12)).unwrap_err().contains("which is 12 by an input"));
        assert_eq!(read(&seq, "seq=8", Some(8)).unwrap(), [8]);
        assert!(read(&symbol("n", 0, i64::MAX, 1, &[]), "n=1..", None).unwrap().len() > MOST);
    }

    #[test]
    fn a_size_that_nobody_gave_is_likely_or_small() {
        assert_eq!(usual(&symbol("n", 0, 64, 4, &[16, 32])), 16);
        assert_eq!(usual(&symbol("n", 0, 64, 4, &[])), 4);
        assert_eq!(usual(&symbol("n", 3, 64, 1, &[])), 3);
        assert_eq!(usual(&symbol("n", 0, 0, 1, &[])), 0);
    }
}
