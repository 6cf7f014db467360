//! Attention of the domain `com.microsoft`, and rotations of queries and keys.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::SliceBounds;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::model::Attribute;
use super::super::named::NamedNumber;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family =
    &[("Attention", attention), ("MultiHeadAttention", multi_head_attention), ("RotaryEmbedding", rotary_embedding)];

/// What is added to the scores of keys that are hidden, where nothing else is said.
const HIDDEN: f32 = -10000.0;

/// What all attention has in common.
#[derive(Debug)]
struct Common<'m> {
    heads: i64,
    scale: Option<f32>,
    /// What is added to scores of keys that a mask hides.
    hidden: f32,
    causal: bool,
    mask: Option<&'m str>,
    /// A tensor that is added to the scores.
    added: Option<&'m str>,
}

impl<'m> Common<'m> {
    fn read(r: &NodeReader<'m, '_>, mask: usize, added: usize) -> Result<Self, Reason> {
        let heads = r.int("num_heads")?;
        if heads < 1 {
            return Err(format!("attribute `num_heads` is {heads}, it must be positive").into());
        }
        let float = |name: &str| match r.attribute(name) {
            Some(Attribute::Float(value)) => Some(*value),
            _ => None,
        };
        Ok(Self {
            heads,
            // 0 says nothing.
            scale: float("scale").filter(|scale| *scale != 0.0),
            hidden: float("mask_filter_value").unwrap_or(HIDDEN),
            causal: r.flag("unidirectional")?,
            mask: r.optional(mask),
            added: r.optional(added),
        })
    }

    /// What queries look up, with heads beside each other in rows again. The last causal query sees all keys.
    fn looked_up(&self, importer: &mut Importer<'m, '_, '_>, [queries, keys, values]: [Value; 3]) -> Made {
        let bias = self.bias(importer, queries, keys)?;
        let mut attributes = Vec::new();
        attributes.extend(self.scale.map(|scale| ("scale".to_owned(), NamedNumber::Float(scale))));
        let made = match bias {
            Some(bias) => {
                attributes.push(("unseen_is_zero".to_owned(), NamedNumber::Int(0)));
                importer.applied("attention_biased", &[queries, keys, values, bias], &attributes)?
            }
            None => {
                attributes.push(("is_causal".to_owned(), NamedNumber::Int(self.causal.into())));
                importer.applied("attention", &[queries, keys, values], &attributes)?
            }
        };
        beside(importer, made)
    }

    /// What is added to the scores: by the masks, and by the order of keys, where there are others or more keys than queries.
    fn bias(&self, importer: &mut Importer<'m, '_, '_>, queries: Value, keys: Value) -> Made<Option<Value>> {
        let elem = importer.g.elem(queries);
        let (rows, columns) = (importer.g.shape(queries)[2].clone(), importer.g.shape(keys)[2].clone());
        let mut parts = Vec::new();
        if let Some(mask) = self.mask {
            parts.push(self.mask_bias(importer, mask, queries, keys)?);
        }
        if let Some(added) = self.added {
            let value = importer.value(added)?;
            if importer.g.rank(value) != 4 {
                return wrong(format!("has `{added}` of rank {}, it must have 4", importer.g.rank(value)));
            }
            parts.push(value);
        }
        let Some(before) = columns.as_ref().zip(rows.as_ref()).map(|(columns, rows)| columns.sub(rows)) else {
            return fail("has numbers of queries or keys that data decide");
        };
        if self.causal && (!parts.is_empty() || !before.is_zero()) {
            importer.not_negative(&vec![Some(before.clone())], "number of keys before the first query")?;
            parts.push(importer.g.generate(&[rows, columns], elem, |s| {
                let (row, column, before) = (s.index(0), s.index(1), s.size(&before));
                let last = s.add(row, before);
                let hides = s.compare(Comparison::Greater, column, last);
                let (seen, hidden) = (s.number(0.0, elem), s.number(f64::NEG_INFINITY, elem));
                s.select(hides, hidden, seen)
            })?);
        }
        let mut parts = parts.into_iter();
        let Some(mut all) = parts.next() else { return Ok(None) };
        for part in parts {
            all = importer.g.zip(all, part, |s, a, b| s.add(a, b))?;
        }
        Ok(Some(all))
    }

    /// What a mask adds: one for each key, for each query and key, or how many keys a sample has, and perhaps which is the first.
    fn mask_bias(&self, importer: &mut Importer<'m, '_, '_>, name: &'m str, queries: Value, keys: Value) -> Made {
        let (mask, elem) = (importer.value(name)?, importer.g.elem(queries));
        let hidden = f64::from(self.hidden);
        let chosen = match importer.g.rank(mask) {
            1 => return self.bias_of_lengths(importer, name, queries, keys),
            2 => importer.g.unsqueeze(mask, &[1, 2])?,
            3 => importer.g.unsqueeze(mask, &[1])?,
            rank => return fail(format!("has a mask `{name}` of rank {rank}, which is not supported")),
        };
        let (size, all) = (importer.g.shape(chosen)[3].clone(), importer.g.shape(keys)[2].clone());
        importer.g.unify(&size, &all, || format!("the keys that `{name}` is for, and all keys"))?;
        Ok(importer.g.elementwise(&[chosen], elem, |s, args| {
            let none = s.int(0, s.ty(args[0]));
            let (seen, zero, hidden) =
                (s.compare(Comparison::Greater, args[0], none), s.number(0.0, elem), s.number(hidden, elem));
            s.select(seen, zero, hidden)
        })?)
    }

    fn bias_of_lengths(&self, importer: &mut Importer<'m, '_, '_>, name: &'m str, queries: Value, keys: Value) -> Made {
        let (given, elem, hidden) = (importer.value(name)?, importer.g.elem(queries), f64::from(self.hidden));
        let size = importer.g.shape(given)[0].clone();
        let (batch, columns) = (importer.g.shape(queries)[0].clone(), importer.g.shape(keys)[2].clone());
        let twice = batch.as_ref().map(|batch| batch.scale(2));
        let has_first = size.is_some() && size == twice && size != batch;
        if !has_first {
            importer.g.unify(&size, &batch, || format!("the numbers of `{name}` and the samples"))?;
        }
        let mut bounds = vec![given];
        if has_first {
            let shape = importer.g.reshape_to(given, &[Some(2.into()), batch])?;
            bounds = (0..2)
                .map(|i| {
                    let row = importer.g.slice(shape, &[0], &SliceBounds::Known(vec![i], vec![i + 1]), &[1])?;
                    importer.g.squeeze(row, &[0])
                })
                .collect::<Result<_, _>>()?;
        }
        let places = importer.g.generate(&[columns], Type::I32, |s| {
            let place = s.index(0);
            s.cast(place, Type::I32)
        })?;
        let mut operands = vec![places];
        for bound in bounds {
            operands.push(importer.g.unsqueeze(bound, &[1, 2, 3])?);
        }
        Ok(importer.g.elementwise(&operands, elem, |s, args| {
            let (zero, hidden) = (s.number(0.0, elem), s.number(hidden, elem));
            let before_end = s.compare(Comparison::Less, args[0], args[1]);
            let mut bias = s.select(before_end, zero, hidden);
            if let Some(first) = args.get(2) {
                let begun = s.compare(Comparison::GreaterOrEqual, args[0], *first);
                bias = s.select(begun, bias, hidden);
            }
            bias
        })?)
    }
}

/// `[B, S, heads * D]` as `[B, heads, S, D]`.
pub(super) fn by_heads(importer: &mut Importer<'_, '_, '_>, x: Value, heads: i64) -> Made {
    let shape = importer.g.shape(x);
    let [batch, length, width] = &shape[..] else {
        return wrong(format!("has rows of heads in a tensor of rank {}, it must have 3", shape.len()));
    };
    let Some(width) = width.as_ref().and_then(Poly::as_const) else {
        return fail("has rows whose length is known only when it runs");
    };
    if width % heads != 0 {
        return wrong(format!("has rows of {width} numbers, which are no {heads} heads"));
    }
    let split = [batch.clone(), length.clone(), Some(heads.into()), Some((width / heads).into())];
    let split = importer.g.reshape_to(x, &split)?;
    Ok(importer.g.transpose(split, &[0, 2, 1, 3])?)
}

/// The other way.
pub(super) fn beside(importer: &mut Importer<'_, '_, '_>, x: Value) -> Made {
    let rows = importer.g.transpose(x, &[0, 2, 1, 3])?;
    let shape = importer.g.shape(rows);
    let width = shape[2].as_ref().zip(shape[3].as_ref()).map(|(heads, size)| heads.mul(size));
    Ok(importer.g.reshape_to(rows, &[shape[0].clone(), shape[1].clone(), width])?)
}

/// Part of a tensor along its dimension `axis`.
pub(super) fn part(importer: &mut Importer<'_, '_, '_>, x: Value, axis: usize, from: i64, to: i64) -> Made {
    Ok(importer.g.slice(x, &[axis], &SliceBounds::Known(vec![from], vec![to]), &[1])?)
}

/// Keys or values of before and the new ones, one after the other.
fn joined<'m>(importer: &mut Importer<'m, '_, '_>, past: Option<&'m str>, new: Value) -> Made {
    let Some(name) = past else { return Ok(new) };
    let past = importer.value(name)?;
    if importer.g.rank(past) != 4 {
        return wrong(format!("has `{name}` of rank {}, it must have 4", importer.g.rank(past)));
    }
    Ok(importer.g.concat(&[past, new], 2)?)
}

#[derive(Debug)]
struct MultiHeadAttention<'m> {
    common: Common<'m>,
    query: &'m str,
    key: Option<&'m str>,
    value: Option<&'m str>,
    bias: Option<&'m str>,
    past: Option<(&'m str, &'m str)>,
}

fn multi_head_attention<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    for (input, name) in [(8, "past_sequence_length"), (9, "cache_indirection")] {
        if r.optional(input).is_some() {
            return Err(unsupported(format!("input `{name}` is not supported")));
        }
    }
    r.outputs_unused_from(3)?;
    let past = match (r.optional(6), r.optional(7)) {
        (Some(keys), Some(values)) => Some((keys, values)),
        (None, None) => None,
        _ => return Err("has only one of `past_key` and `past_value`".into()),
    };
    let (key, value) = (r.optional(1), r.optional(2));
    Ok(Conversion::op(MultiHeadAttention {
        common: Common::read(r, 4, 5)?,
        query: r.input(0)?,
        key,
        value,
        bias: r.optional(3),
        past,
    }))
}

impl<'m> MultiHeadAttention<'m> {
    /// Queries, keys and values by heads.
    fn parts(&self, importer: &mut Importer<'m, '_, '_>) -> Made<[Value; 3]> {
        let (query, heads) = (importer.value(self.query)?, self.common.heads);
        let packed = |importer: &mut Importer<'m, '_, '_>, x: Value, which: i64| -> Made {
            let one = part(importer, x, 3, which, which + 1)?;
            let one = importer.g.squeeze(one, &[3])?;
            Ok(importer.g.transpose(one, &[0, 2, 1, 3])?)
        };
        let ranks = (importer.g.rank(query), self.key.is_some(), self.value.is_some());
        match ranks {
            (5, false, false) if self.bias.is_none() => {
                return Ok([packed(importer, query, 0)?, packed(importer, query, 1)?, packed(importer, query, 2)?]);
            }
            (3, true, _) => {}
            (rank, ..) => {
                return fail(format!(
                    "has a query of rank {rank} with such keys, values and bias, which is not supported"
                ));
            }
        }
        let key = importer.value(self.key.unwrap_or_default())?;
        let biases = self.biases(importer, query)?;
        let query = plus(importer, query, biases[0])?;
        let queries = by_heads(importer, query, heads)?;
        match (self.value, importer.g.rank(key)) {
            (None, 5) if self.bias.is_none() => Ok([queries, packed(importer, key, 0)?, packed(importer, key, 1)?]),
            (Some(value), 4) => Ok([queries, key, importer.value(value)?]),
            (Some(value), 3) => {
                let value = importer.value(value)?;
                let (key, value) = (plus(importer, key, biases[1])?, plus(importer, value, biases[2])?);
                Ok([queries, by_heads(importer, key, heads)?, by_heads(importer, value, heads)?])
            }
            (_, rank) => fail(format!("has keys of rank {rank} with such values and bias, which is not supported")),
        }
    }

    /// Where queries see keys in their order there must be as many new keys as queries: onnxruntime lets the last query see all
    /// keys, and each other one as many as stand before it, which is no order.
    fn check_order(&self, importer: &mut Importer<'m, '_, '_>, queries: Value, keys: Value) -> Made<()> {
        if !self.common.causal {
            return Ok(());
        }
        let [rows, columns] = [queries, keys].map(|x| importer.g.shape(x)[2].clone());
        let known = |size: &Option<Poly>| size.as_ref().and_then(Poly::as_const);
        if let (Some(rows), Some(columns)) = (known(&rows), known(&columns))
            && rows != columns
        {
            return fail(format!("has `unidirectional` with {rows} queries and {columns} keys; as many are supported"));
        }
        importer.g.unify(&columns, &rows, || "the keys and the queries of `unidirectional`".to_owned())?;
        Ok(())
    }

    /// The parts of the bias for queries, keys and values.
    fn biases(&self, importer: &mut Importer<'m, '_, '_>, query: Value) -> Made<[Option<Value>; 3]> {
        let Some(name) = self.bias else { return Ok([None; 3]) };
        let bias = importer.value(name)?;
        let sizes = (importer.g.shape(bias), importer.g.shape(query));
        let known = |size: Option<&Option<Poly>>| size.cloned().flatten().and_then(|size| size.as_const());
        let ([all], Some(width)) = (&sizes.0[..], known(sizes.1.get(2))) else {
            return fail(format!(
                "has a bias `{name}` that is no list, or queries whose size is known only when it runs"
            ));
        };
        let Some(all) = known(Some(all)).filter(|all| *all >= 2 * width) else {
            return wrong(format!("has a bias `{name}` that is too short, or of a size known only when it runs"));
        };
        let bounds = [(0, width), (width, 2 * width), (2 * width, all)];
        let mut parts = [None; 3];
        for (made, (from, to)) in parts.iter_mut().zip(bounds) {
            *made = Some(part(importer, bias, 0, from, to)?);
        }
        Ok(parts)
    }
}

fn plus(importer: &mut Importer<'_, '_, '_>, x: Value, bias: Option<Value>) -> Made {
    match bias {
        Some(bias) => Ok(importer.g.zip(x, bias, |s, x, bias| s.add(x, bias))?),
        None => Ok(x),
    }
}

impl<'m> Convert<'m> for MultiHeadAttention<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &["attention", "attention_biased"]
    }

    fn results(&self) -> usize {
        3
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let [queries, keys, values] = self.parts(importer)?;
        self.check_order(importer, queries, keys)?;
        let keys = joined(importer, self.past.map(|past| past.0), keys)?;
        let values = joined(importer, self.past.map(|past| past.1), values)?;
        let made = self.common.looked_up(importer, [queries, keys, values])?;
        Ok(vec![made, keys, values])
    }
}

/// Attention whose queries, keys and values are one product.
#[derive(Debug)]
struct Attention<'m> {
    common: Common<'m>,
    x: &'m str,
    weights: &'m str,
    bias: Option<&'m str>,
    past: Option<&'m str>,
    sizes: Option<Vec<i64>>,
}

fn attention<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    if r.optional(6).is_some() {
        return Err(unsupported("input `past_sequence_length` is not supported"));
    }
    for name in ["do_rotary", "past_present_share_buffer"] {
        if r.optional_int(name).is_some_and(|value| value != 0) {
            return Err(unsupported(format!("attribute `{name}` is not supported")));
        }
    }
    let sizes = r.optional_ints("qkv_hidden_sizes").filter(|sizes| !sizes.is_empty());
    if sizes.as_ref().is_some_and(|sizes| sizes.len() != 3 || sizes.iter().any(|size| *size < 1)) {
        return Err("attribute `qkv_hidden_sizes` must have three positive numbers".into());
    }
    let common = Common::read(r, 3, 5)?;
    Ok(Conversion::op(Attention {
        common,
        x: r.input(0)?,
        weights: r.input(1)?,
        bias: r.optional(2),
        past: r.optional(4),
        sizes,
    }))
}

impl<'m> Convert<'m> for Attention<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &["attention", "attention_biased"]
    }

    fn results(&self) -> usize {
        2
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, weights) = (importer.value(self.x)?, importer.value(self.weights)?);
        let width = importer.g.shape(weights).get(1).cloned().flatten().and_then(|size| size.as_const());
        let Some(width) = width else {
            return fail(format!("has weights `{}` of a size known only when it runs", self.weights));
        };
        let sizes = match &self.sizes {
            Some(sizes) => sizes.clone(),
            None if width % 3 == 0 => vec![width / 3; 3],
            None => return wrong(format!("has weights of {width} columns, which are no three equal parts")),
        };
        if sizes.iter().sum::<i64>() != width {
            return wrong(format!("has weights of {width} columns for {sizes:?} of queries, keys and values"));
        }
        let product = importer.g.matmul(x, weights)?;
        let bias = self.bias.map(|bias| importer.value(bias)).transpose()?;
        let product = plus(importer, product, bias)?;
        let (mut from, mut parts) = (0, Vec::new());
        for size in &sizes {
            let rows = part(importer, product, 2, from, from + size)?;
            parts.push(by_heads(importer, rows, self.common.heads)?);
            from += size;
        }
        let (mut keys, mut values) = (parts[1], parts[2]);
        if let Some(name) = self.past {
            let both = importer.value(name)?;
            if importer.g.rank(both) != 5 {
                return wrong(format!("has `{name}` of rank {}, it must have 5", importer.g.rank(both)));
            }
            let mut before = Vec::new();
            for i in 0..2 {
                let one = part(importer, both, 0, i, i + 1)?;
                before.push(importer.g.squeeze(one, &[0])?);
            }
            keys = importer.g.concat(&[before[0], keys], 2)?;
            values = importer.g.concat(&[before[1], values], 2)?;
        }
        let made = self.common.looked_up(importer, [parts[0], keys, values])?;
        if sizes[1] != sizes[2] {
            return Ok(vec![made]);
        }
        let both = [importer.g.unsqueeze(keys, &[0])?, importer.g.unsqueeze(values, &[0])?];
        Ok(vec![made, importer.g.concat(&both, 0)?])
    }
}

/// Pairs of numbers of each head, turned by an angle that depends on their place.
#[derive(Debug)]
struct Rotary<'m> {
    x: &'m str,
    positions: &'m str,
    tables: (&'m str, &'m str),
    heads: i64,
    /// How many numbers of a head are turned; 0 says all.
    turned: i64,
    interleaved: bool,
}

fn rotary_embedding<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    if r.optional_int("is_packed_batching").is_some_and(|value| value != 0) {
        return Err(unsupported("attribute `is_packed_batching` is not supported"));
    }
    if matches!(r.attribute("scale"), Some(Attribute::Float(scale)) if *scale != 1.0) {
        return Err(unsupported("attribute `scale` is not supported"));
    }
    let number = |name: &str| r.optional_int(name).unwrap_or(0);
    let (heads, turned) = (number("num_heads"), number("rotary_embedding_dim"));
    if heads < 0 || turned < 0 || turned % 2 != 0 || (turned > 0 && heads == 0) {
        return Err(format!("turns {turned} numbers of each of {heads} heads").into());
    }
    let tables = (r.input(2)?, r.input(3)?);
    Ok(Conversion::op(Rotary {
        x: r.input(0)?,
        positions: r.input(1)?,
        tables,
        heads,
        turned,
        interleaved: r.flag("interleaved")?,
    }))
}

impl<'m> Convert<'m> for Rotary<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, cos, sin) = (importer.value(self.x)?, importer.value(self.tables.0)?, importer.value(self.tables.1)?);
        let half = importer.g.shape(cos).get(1).cloned().flatten().and_then(|size| size.as_const());
        let Some(half) = half else { return fail("has tables whose rows have a length known only when it runs") };
        let by_rows = importer.g.rank(x) == 3;
        let heads = match (by_rows, importer.g.shape(x).get(2).cloned().flatten().and_then(|size| size.as_const())) {
            (false, _) => 0,
            (true, _) if self.heads > 0 => self.heads,
            (true, Some(width)) if self.turned == 0 && half > 0 && width % (2 * half) == 0 => width / (2 * half),
            _ => return fail("has rows of no known number of heads"),
        };
        let x = if by_rows { by_heads(importer, x, heads)? } else { x };
        let shape = importer.g.shape(x);
        let [batch, _, length, size] = &shape[..] else {
            return wrong(format!("has an input of rank {}", shape.len()));
        };
        let Some(size) = size.as_ref().and_then(Poly::as_const) else {
            return fail("has heads whose size is known only when it runs");
        };
        let turned = if self.turned > 0 { self.turned } else { size };
        if turned > size || 2 * half != turned {
            return wrong(format!("turns {turned} of {size} numbers of a head by tables of {half}"));
        }
        let places = self.places(importer, batch, length)?;
        let mut tables = Vec::new();
        for table in [cos, sin] {
            let rows = importer.g.gather(table, places, 0);
            tables.push(importer.g.unsqueeze(rows, &[1])?);
        }
        let made = rotated(importer, x, [tables[0], tables[1]], (half, size), self.interleaved)?;
        Ok(vec![if by_rows { beside(importer, made)? } else { made }])
    }
}

impl<'m> Rotary<'m> {
    /// The place of each row: as given, or counted from the first.
    fn places(&self, importer: &mut Importer<'m, '_, '_>, batch: &Option<Poly>, length: &Option<Poly>) -> Made {
        let given = importer.value(self.positions)?;
        let (name, sizes) = (self.positions, importer.g.shape(given));
        match &sizes[..] {
            [one] => {
                importer.g.unify(one, &Some(1.into()), || format!("the size of `{name}` and 1"))?;
                let counted = importer.g.generate(&[Some(1.into()), length.clone()], Type::I64, |s| {
                    let place = s.index(1);
                    s.cast(place, Type::I64)
                })?;
                Ok(importer.g.zip(counted, given, |s, place, first| s.add(place, first))?)
            }
            [samples, rows] => {
                importer.g.unify(samples, batch, || format!("the samples of `{name}`"))?;
                importer.g.unify(rows, length, || format!("the rows of `{name}`"))?;
                Ok(given)
            }
            _ => wrong(format!("has `{name}` of rank {}, it must have 1 or 2", sizes.len())),
        }
    }
}

/// The first `2 * half` of `size` numbers of each head turned: those of a pair are neighbours, or half of them apart.
pub(super) fn rotated(
    importer: &mut Importer<'_, '_, '_>,
    x: Value,
    [cos, sin]: [Value; 2],
    (half, size): (i64, i64),
    interleaved: bool,
) -> Made {
    let turned = 2 * half;
    let of = |importer: &mut Importer<'_, '_, '_>, which: i64| -> Made {
        let (from, to, step) = if interleaved { (which, turned, 2) } else { (which * half, (which + 1) * half, 1) };
        Ok(importer.g.slice(x, &[3], &SliceBounds::Known(vec![from], vec![to]), &[step])?)
    };
    let (a, b, elem) = (of(importer, 0)?, of(importer, 1)?, importer.g.elem(x));
    let mut made = Vec::new();
    for minus in [true, false] {
        let (first, second) = if minus { (cos, sin) } else { (sin, cos) };
        made.push(importer.g.elementwise(&[a, b, first, second], elem, |s, args| {
            let (a, b) = (s.mul(args[0], args[2]), s.mul(args[1], args[3]));
            if minus { s.sub(a, b) } else { s.add(a, b) }
        })?);
    }
    let shape = importer.g.shape(x);
    let mut whole = match interleaved {
        false => importer.g.concat(&made, 3)?,
        true => {
            let pairs = [importer.g.unsqueeze(made[0], &[4])?, importer.g.unsqueeze(made[1], &[4])?];
            let pairs = importer.g.concat(&pairs, 4)?;
            let flat = [shape[0].clone(), shape[1].clone(), shape[2].clone(), Some(turned.into())];
            importer.g.reshape_to(pairs, &flat)?
        }
    };
    if turned < size {
        let rest = part(importer, x, 3, turned, size)?;
        whole = importer.g.concat(&[whole, rest], 3)?;
    }
    Ok(whole)
}
