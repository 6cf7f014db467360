//! Attention of ONNX where the declarations of the library do not say all: a mask for fewer keys than there are, and a softmax in
//! doubles of what is none. And attention whose scores and weights graphs change.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::SymShape;
use sutura_dialects::graph::build::PadKind;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Item, Made, fail, literal, wrong};
use super::super::error::{Reason, unsupported};
use super::super::model::Attribute;
use super::super::named::{NamedInput, NamedNumber};
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::support::TypedGraph;
use super::super::tensor::{ElementType, Scalar};
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("FlexAttention", flex_attention)];

/// Which input of Attention is what.
const KEYS: usize = 1;
const MASK: usize = 3;
const PAST_KEYS: usize = 4;

/// What the inputs are called for the operator of the library: names that no node sees, for what they stand for is put back.
const PREPARED: [&str; 7] = ["0", "1", "2", "3", "4", "5", "6"];

/// Attention with inputs that are prepared for the operator of the library.
#[derive(Debug)]
struct Prepared<'m> {
    inputs: Vec<Option<&'m str>>,
    inner: Op<'m>,
    doubles: bool,
}

/// Attention, if its inputs are to be prepared; `named` is the operator of the library that it would be with others.
pub(super) fn attention<'m>(
    r: &NodeReader<'m, '_>,
    named: impl FnOnce() -> Option<Result<Op<'m>, Reason>>,
) -> Option<Result<Op<'m>, Reason>> {
    let doubles = r.optional_int("softmax_precision").and_then(ElementType::from_code) == Some(ElementType::F64);
    if !doubles && r.optional(MASK).is_none() {
        return None;
    }
    let of = |mut inner: Op<'m>| {
        let inputs: Vec<Option<&'m str>> = (0..PREPARED.len()).map(|i| r.optional(i)).collect();
        rename(&mut inner);
        Conversion::op(Prepared { inputs, inner, doubles })
    };
    Some(named()?.map(of))
}

/// Gives the inputs of an operator of the library the names of what is prepared.
fn rename(op: &mut Op<'_>) {
    if let Op::Named { inputs, others, .. } = op {
        for (input, name) in inputs.iter_mut().zip(PREPARED) {
            if let NamedInput::Value(value) = input {
                *value = name;
            }
        }
        others.iter_mut().for_each(rename);
    }
}

impl<'m> Convert<'m> for Prepared<'m> {
    fn results(&self) -> usize {
        match &self.inner {
            Op::Named { results, .. } => *results,
            _ => 1,
        }
    }

    fn inner(&self) -> Option<&Op<'m>> {
        Some(&self.inner)
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let mut given = Vec::new();
        for name in &self.inputs {
            given.push(name.map(|name| importer.value(name)).transpose()?);
        }
        if let Some(mask) = given[MASK] {
            given[MASK] = Some(lengthened(importer, mask, given[KEYS], given[PAST_KEYS])?);
        }
        let cx = importer.cx();
        let elem = given[0].map(|queries| importer.g.elem(queries)).filter(|elem| self.doubles && *elem != Type::F64);
        if elem.is_some() {
            for value in given.iter_mut().flatten() {
                if importer.g.elem(*value).is_float(cx) {
                    *value = importer.g.cast(*value, Type::F64)?;
                }
            }
        }
        let given = PREPARED.into_iter().zip(given).filter_map(|(name, value)| Some((name, value?)));
        let made = importer.with_names(given.collect(), |importer| importer.operator(&self.inner))?;
        match elem {
            Some(elem) => made.into_iter().map(|value| Ok(importer.g.cast(value, elem)?)).collect(),
            None => Ok(made),
        }
    }
}

/// A mask that says of all keys whether they are seen: those that it does not have are not.
fn lengthened(importer: &mut Importer<'_, '_, '_>, mask: Value, keys: Option<Value>, past: Option<Value>) -> Made {
    let shape = importer.g.shape(mask);
    let Some(keys) = keys else { return Ok(mask) };
    // The library's operator says what is wrong with other ranks.
    let (of_keys, rank) = (importer.g.shape(keys), importer.g.rank(keys));
    let (Some(last), true) = (shape.len().checked_sub(1), (3..=4).contains(&rank)) else { return Ok(mask) };
    let before = past.map(|past| importer.g.shape(past).get(2).cloned().flatten());
    let (Some(own), Some(new), Some(before)) =
        (&shape[last], &of_keys[rank - 2], before.unwrap_or_else(|| Some(Poly::default())))
    else {
        return Ok(mask);
    };
    let all = new.add(&before);
    let facts = &importer.g.env.facts;
    if facts.prove_equal(own, &all) {
        return Ok(mask);
    }
    let missing = facts.canonical(&all.sub(own));
    importer.not_negative(&vec![Some(missing.clone())], "number of keys that the mask leaves out")?;
    let (cx, elem) = (importer.cx(), importer.g.elem(mask));
    let hidden = match elem {
        Type::I1 => literal::number(cx, Scalar::Bool(false), elem),
        _ => literal::number(cx, Scalar::Float(f64::NEG_INFINITY), elem),
    };
    let none = vec![Poly::default(); shape.len()];
    let mut after = none.clone();
    after[last] = missing;
    let padded = importer.g.pad(mask, &none, &after, PadKind::Constant(hidden))?;
    let mut whole = shape.clone();
    whole[last] = Some(all);
    Ok(importer.g.reshape_to(padded, &whole)?)
}

/// `weights(scores(scale * q * k^T)) * v`, where graphs change the scores before the softmax and the weights behind it.
#[derive(Debug)]
struct FlexAttention<'m> {
    /// Queries, keys and values.
    inputs: [&'m str; 3],
    scale: Option<f32>,
    precision: Option<ElementType>,
    scores: Option<TypedGraph<'m>>,
    weights: Option<TypedGraph<'m>>,
}

fn flex_attention<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let precision = match r.optional_int("softmax_precision") {
        None => None,
        Some(code) => match ElementType::from_code(code) {
            Some(found @ (ElementType::F32 | ElementType::F16 | ElementType::BF16 | ElementType::F64)) => Some(found),
            _ => return Err(format!("attribute `softmax_precision` is {code}, it must be 1, 10, 11 or 16").into()),
        },
    };
    let graph = |name: &str| -> Result<Option<TypedGraph<'m>>, Reason> {
        if r.attribute(name).is_none() {
            return Ok(None);
        }
        let graph = r.graph(name)?;
        let (inputs, outputs) = (graph.graph.inputs.len(), graph.graph.outputs.len());
        if (inputs, outputs) != (1, 1) {
            return Err(
                format!("has a `{name}` with {inputs} inputs and {outputs} outputs, it must have one of each").into()
            );
        }
        Ok(Some(graph))
    };
    let scale = match r.attribute("scale") {
        Some(Attribute::Float(scale)) => Some(*scale),
        Some(_) => return Err(unsupported("has a `scale` that is no number")),
        None => None,
    };
    let inputs = [r.input(0)?, r.input(1)?, r.input(2)?];
    let (scores, weights) = (graph("score_mod")?, graph("prob_mod")?);
    Ok(Conversion::op(FlexAttention { inputs, scale, precision, scores, weights }))
}

/// Heads of queries in groups that share a head of keys: how many heads and how large groups.
struct Heads {
    shared: Poly,
    group: Poly,
}

impl<'m> Convert<'m> for FlexAttention<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &["softmax"]
    }

    fn graphs(&self) -> Vec<&TypedGraph<'m>> {
        self.scores.iter().chain(&self.weights).collect()
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let cx = importer.cx();
        let mut values = importer.values(&self.inputs)?;
        let elem = importer.g.elem(values[0]);
        let shapes: Vec<SymShape> = values.iter().map(|value| importer.g.shape(*value)).collect();
        if !elem.is_float(cx) || shapes.iter().any(|shape| shape.len() != 4) {
            return wrong("takes queries, keys and values of rank 4, which must be floats");
        }
        for (a, b, dim, what) in [
            (0, 1, 0, "samples of queries and keys"),
            (0, 2, 0, "samples of queries and values"),
            (1, 2, 1, "heads of keys and values"),
            (1, 2, 2, "keys and values"),
            (0, 1, 3, "numbers of a query and of a key"),
        ] {
            importer.g.unify(&shapes[a][dim], &shapes[b][dim], || what.to_owned())?;
        }
        let precision = match self.precision {
            Some(precision) => importer.element(precision)?,
            None => accumulator_type(cx, elem),
        };
        let Some(sizes) =
            shapes.iter().map(|shape| shape.iter().cloned().collect()).collect::<Option<Vec<Vec<Poly>>>>()
        else {
            return fail("has sizes that depend on data");
        };
        let heads = heads(importer, &sizes[0][1], &sizes[1][1])?;
        let wide = accumulator_type(cx, elem);
        for value in &mut values[..2] {
            *value = importer.g.cast(*value, wide)?;
        }
        // Queries of a group stand behind each other: they see the same keys.
        let [samples, count, rows] = [&sizes[0][0], &sizes[0][1], &sizes[0][2]];
        let in_groups =
            |last: &Poly| [samples.clone(), heads.shared.clone(), heads.group.mul(rows), last.clone()].map(Some);
        let apart = |last: &Poly| [samples.clone(), count.clone(), rows.clone(), last.clone()].map(Some);
        let queries = importer.g.reshape_to(values[0], &in_groups(&sizes[0][3]))?;
        let products = importer.g.product(queries, values[1], false, true)?;
        let scores = self.scaled(importer, products, &sizes[0][3], precision)?;
        let scores = importer.g.reshape_to(scores, &apart(&sizes[1][2]))?;
        let scores = changed(importer, scores, self.scores.as_ref(), "score_mod")?;
        let weights = importer.applied("softmax", &[scores], &[("axis".to_owned(), NamedNumber::Int(3))])?;
        let weights = changed(importer, weights, self.weights.as_ref(), "prob_mod")?;
        let weights = importer.g.reshape_to(weights, &in_groups(&sizes[1][2]))?;
        let found = importer.g.cast(values[2], precision)?;
        let made = importer.g.matmul(weights, found)?;
        let made = importer.g.reshape_to(made, &apart(&sizes[2][3]))?;
        Ok(vec![importer.g.cast(made, elem)?])
    }
}

/// How many heads of queries share one of keys.
fn heads(importer: &mut Importer<'_, '_, '_>, queries: &Poly, keys: &Poly) -> Made<Heads> {
    if importer.g.env.facts.prove_equal(queries, keys) {
        return Ok(Heads { shared: queries.clone(), group: 1.into() });
    }
    match keys.as_const() {
        Some(count) if count > 0 => {
            let group = queries.floordiv(count);
            let whole = Some(group.scale(count));
            importer.g.unify(&Some(queries.clone()), &whole, || format!("heads of queries and groups of {count}"))?;
            Ok(Heads { shared: count.into(), group })
        }
        Some(_) => wrong("has no heads of keys"),
        None => {
            importer.g.unify(&Some(queries.clone()), &Some(keys.clone()), || "heads of queries and of keys".into())?;
            Ok(Heads { shared: queries.clone(), group: 1.into() })
        }
    }
}

/// What a graph makes of scores or weights: a tensor of their sizes and type.
fn changed<'m>(importer: &mut Importer<'m, '_, '_>, x: Value, graph: Option<&TypedGraph<'m>>, what: &str) -> Made {
    let Some(graph) = graph else { return Ok(x) };
    let made = importer.inlined(graph, &[Item::Tensor(x)])?;
    let [Item::Tensor(made)] = &made[..] else { return wrong(format!("has a `{what}` that makes no tensor")) };
    let (elem, found) = (importer.g.elem(x), importer.g.elem(*made));
    if elem != found {
        let (elem, found) = (importer.name_of(elem), importer.name_of(found));
        return wrong(format!("has a `{what}` that makes elements of {found}, they must be of {elem}"));
    }
    let (before, after) = (importer.g.shape(x), importer.g.shape(*made));
    if before.len() != after.len() {
        return wrong(format!("has a `{what}` that makes a tensor of rank {}, it must keep rank 4", after.len()));
    }
    for (dim, (a, b)) in before.iter().zip(&after).enumerate() {
        importer.g.unify(a, b, || format!("dimension {dim} of what `{what}` takes and makes"))?;
    }
    Ok(*made)
}

impl FlexAttention<'_> {
    /// Products times the scale, as numbers of the softmax's type.
    fn scaled(&self, importer: &mut Importer<'_, '_, '_>, products: Value, size: &Poly, to: Type) -> Made {
        let wide = importer.g.elem(products);
        Ok(importer.g.elementwise(&[products], to, |s, args| {
            let scale = match self.scale {
                Some(scale) => s.number(scale.into(), wide),
                None => {
                    let size = s.size(size);
                    let size = s.cast(size, wide);
                    let root = s.math("math.sqrt", size);
                    s.reciprocal(root)
                }
            };
            let scaled = s.mul(args[0], scale);
            s.cast(scaled, to)
        })?)
    }
}
