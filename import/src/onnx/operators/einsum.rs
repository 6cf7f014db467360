//! Sums of products by Einstein's convention.
//!
//! An equation gives every dimension a label. Several factors are multiplied two by two: next the pair with the fewest products.
//! What only one factor has and the result lacks is summed before.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::{accumulator_type, scalar_type};
use sutura_dialects::graph::build::Factor;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("Einsum", einsum)];

/// What a size counts that is not known, where orders are compared.
const TYPICAL: f64 = 128.0;

/// Labels of dimensions: letters, and `None` once for those that an ellipsis stands for.
type Term = Vec<Option<char>>;

#[derive(Debug)]
struct Einsum<'m> {
    inputs: Vec<&'m str>,
    terms: Vec<Term>,
    result: Term,
}

fn einsum<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let equation: String = r.string("equation")?.unwrap_or_default().chars().filter(|c| *c != ' ').collect();
    let inputs = r.inputs();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (&equation[..], None),
    };
    let terms = left.split(',').map(term).collect::<Result<Vec<Term>, Reason>>()?;
    if terms.len() != inputs.len() {
        return Err(format!("has {} inputs, and {} terms in its equation", inputs.len(), terms.len()).into());
    }
    let result = match right {
        Some(right) => explicit(right, &terms)?,
        None => implicit(&terms),
    };
    Ok(Conversion::op(Einsum { inputs, terms, result }))
}

fn term(text: &str) -> Result<Term, Reason> {
    let (before, after) = text.split_once("...").map_or((text, None), |(before, after)| (before, Some(after)));
    let letters = |part: &str| -> Result<Vec<Option<char>>, Reason> {
        match part.chars().find(|c| !c.is_ascii_alphabetic()) {
            Some(other) => Err(format!("has an equation with {other:?} where a letter must be").into()),
            None => Ok(part.chars().map(Some).collect()),
        }
    };
    let mut term = letters(before)?;
    if let Some(after) = after {
        term.push(None);
        term.extend(letters(after)?);
    }
    Ok(term)
}

fn explicit(text: &str, terms: &[Term]) -> Result<Term, Reason> {
    let result = term(text)?;
    for (i, label) in result.iter().enumerate() {
        let shown = label.map_or("...".to_owned(), String::from);
        if result[..i].contains(label) {
            return Err(format!("has an equation whose result has `{shown}` twice").into());
        }
        // An ellipsis may stand for no dimension.
        if label.is_some() && !terms.iter().flatten().any(|known| known == label) {
            return Err(format!("has an equation whose result has `{shown}`, which no input has").into());
        }
    }
    Ok(result)
}

/// The ellipsis, then the letters that occur once, in the order of ASCII.
fn implicit(terms: &[Term]) -> Term {
    let all = || terms.iter().flatten();
    let mut once: Vec<char> = all().copied().flatten().collect();
    once.retain(|letter| all().filter(|label| **label == Some(*letter)).count() == 1);
    once.sort_unstable();
    all().any(Option::is_none).then_some(None).into_iter().chain(once.into_iter().map(Some)).collect()
}

impl<'m> Convert<'m> for Einsum<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let mut values = importer.values(&self.inputs)?;
        let Some(elem) = values.first().map(|value| importer.g.elem(*value)) else { return wrong("has no input") };
        if elem == Type::I1 {
            return wrong("multiplies truth values, which have no product");
        }
        let cx = importer.cx();
        // Sums and products of integers without sign are those of signless ones.
        let inner = scalar_type(cx, elem);
        for value in &mut values {
            *value = importer.g.bitcast(*value, inner);
        }
        let ranks: Vec<usize> = values.iter().map(|value| importer.g.rank(*value)).collect();
        let (labels, result) = self.labels(&ranks)?;
        let factors = values.into_iter().zip(labels).map(|(value, labels)| Factor { value, labels }).collect();
        let made = product(importer, factors, &result, inner)?;
        Ok(vec![importer.g.bitcast(made, elem)])
    }
}

impl Einsum<'_> {
    /// Labels of the dimensions of the factors and of the result, as numbers: first those of the ellipsis.
    fn labels(&self, ranks: &[usize]) -> Made<(Vec<Vec<usize>>, Vec<usize>)> {
        let mut covered = Vec::new();
        for (i, (term, rank)) in self.terms.iter().zip(ranks).enumerate() {
            let letters = term.iter().flatten().count();
            let rest = rank.checked_sub(letters).filter(|rest| *rest == 0 || letters < term.len());
            let Some(rest) = rest else {
                return wrong(format!("has {letters} letters for input {i}, which has rank {rank}"));
            };
            covered.push(rest);
        }
        let most = covered.iter().copied().max().unwrap_or(0);
        if most > 0 && !self.result.contains(&None) {
            return wrong("has an equation with an ellipsis for dimensions that its result leaves out");
        }
        let mut letters: Vec<char> = self.terms.iter().flatten().copied().flatten().collect();
        letters.sort_unstable();
        letters.dedup();
        // An ellipsis stands for the last of the dimensions that one stands for.
        let numbered = |term: &Term, covered: usize| -> Vec<usize> {
            let numbers = |label: &Option<char>| match label {
                None => most - covered..most,
                Some(letter) => {
                    let number = most + letters.iter().position(|l| l == letter).unwrap_or(0);
                    number..number + 1
                }
            };
            term.iter().flat_map(numbers).collect()
        };
        let factors = self.terms.iter().zip(&covered).map(|(term, covered)| numbered(term, *covered)).collect();
        Ok((factors, numbered(&self.result, most)))
    }
}

/// The product of all factors with the dimensions `result`, summed over the others.
fn product(importer: &mut Importer<'_, '_, '_>, mut factors: Vec<Factor>, result: &[usize], elem: Type) -> Made {
    // Sums of floats stay as wide as they were made until the last one.
    let wide = if elem.is_float(importer.cx()) { accumulator_type(importer.cx(), elem) } else { elem };
    while factors.len() > 2 {
        presum(importer, &mut factors, result, wide)?;
        let (a, b) = cheapest(importer, &factors);
        let (second, first) = (factors.remove(b), factors.remove(a));
        let needed = |label: &usize| result.contains(label) || factors.iter().any(|f| f.labels.contains(label));
        let mut kept: Vec<usize> = Vec::new();
        let shared = first.labels.iter().filter(|label| second.labels.contains(label));
        for label in shared.chain(&first.labels).chain(&second.labels) {
            if needed(label) && !kept.contains(label) {
                kept.push(*label);
            }
        }
        let value = importer.g.contract(&first, Some(&second), &kept, wide)?;
        factors.push(Factor { value, labels: kept });
    }
    if factors.len() == 2 {
        presum(importer, &mut factors, result, wide)?;
    }
    match &factors[..] {
        [only] if only.labels == result && importer.g.elem(only.value) == elem => Ok(only.value),
        [first, rest @ ..] => Ok(importer.g.contract(first, rest.first(), result, elem)?),
        [] => wrong("has no input"),
    }
}

/// Sums each factor over what neither another one nor the result has.
fn presum(importer: &mut Importer<'_, '_, '_>, factors: &mut [Factor], result: &[usize], wide: Type) -> Made<()> {
    for i in 0..factors.len() {
        let others = |label: &usize| factors.iter().enumerate().any(|(j, f)| j != i && f.labels.contains(label));
        let mut kept: Vec<usize> = Vec::new();
        for label in &factors[i].labels {
            if (result.contains(label) || others(label)) && !kept.contains(label) {
                kept.push(*label);
            }
        }
        if factors[i].labels.iter().any(|label| !kept.contains(label)) {
            let value = importer.g.contract(&factors[i], None, &kept, wide)?;
            factors[i] = Factor { value, labels: kept };
        }
    }
    Ok(())
}

/// The two factors whose product has the fewest terms; of such the first.
fn cheapest(importer: &Importer<'_, '_, '_>, factors: &[Factor]) -> (usize, usize) {
    let mut best = (f64::INFINITY, (0, 1));
    for a in 0..factors.len() {
        for b in a + 1..factors.len() {
            let terms = terms(importer, &factors[a], &factors[b]);
            if terms < best.0 {
                best = (terms, (a, b));
            }
        }
    }
    best.1
}

fn terms(importer: &Importer<'_, '_, '_>, a: &Factor, b: &Factor) -> f64 {
    let size = |size: &Option<Poly>| size.as_ref().and_then(Poly::as_const).map_or(TYPICAL, |n| n as f64);
    let mut sizes: Vec<(usize, f64)> = Vec::new();
    for factor in [a, b] {
        for (label, found) in factor.labels.iter().zip(importer.g.shape(factor.value)) {
            match sizes.iter_mut().find(|(known, _)| known == label) {
                Some((_, known)) => *known = known.max(size(&found)),
                None => sizes.push((*label, size(&found))),
            }
        }
    }
    sizes.iter().map(|(_, size)| size).product()
}
