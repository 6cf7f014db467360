//! `GroupQueryAttention` of the domain `com.microsoft`: heads of queries share keys and values, which the operator appends to those
//! of before.
//!
//! Each sample has a length of its own: `seqlens_k` says how many keys it has behind the step, less one. Its new rows begin where
//! those of before end. Keys and values lie in tensors of one length for all samples; what lies behind a sample's end is not seen.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{Joined, PadKind, Scalars, zero};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::model::Attribute;
use super::super::named::NamedNumber;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::microsoft_attention::{beside, by_heads, part, rotated};
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("GroupQueryAttention", group_query_attention)];

#[derive(Debug)]
struct Grouped<'m> {
    query: &'m str,
    /// Absent where `query` holds all three.
    rest: Option<(&'m str, &'m str)>,
    past: Option<(&'m str, &'m str)>,
    /// How many keys each sample has, less one.
    last: &'m str,
    /// How many keys the longest has.
    total: &'m str,
    /// Cosines and sines, where heads are turned.
    tables: Option<(&'m str, &'m str)>,
    added: Option<&'m str>,
    /// How many rows of each sample are new; else all, or as many as the sample has.
    valid: Option<&'m str>,
    heads: i64,
    shared: i64,
    scale: Option<f32>,
    softcap: f32,
    interleaved: bool,
    causal: bool,
    window: Option<i64>,
}

/// Inputs that change what is computed, and are not read.
const UNREAD: [(usize, &str); 6] = [
    (9, "position_ids"),
    (11, "head_sink"),
    (12, "k_scale"),
    (13, "v_scale"),
    (14, "q_norm_weight"),
    (15, "k_norm_weight"),
];

fn group_query_attention<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    refuse(r)?;
    let (heads, shared) = (r.int("num_heads")?, r.int("kv_num_heads")?);
    if heads < 1 || shared < 1 || heads % shared != 0 {
        return Err(format!("shares {shared} heads of keys among {heads} of queries").into());
    }
    let pair = |first: usize, words: &str| match (r.optional(first), r.optional(first + 1)) {
        (Some(a), Some(b)) => Ok(Some((a, b))),
        (None, None) => Ok(None),
        _ => Err(Reason::from(format!("has only one of {words}"))),
    };
    let (rest, past) = (pair(1, "`key` and `value`")?, pair(3, "`past_key` and `past_value`")?);
    let turns = r.optional_int("do_rotary").unwrap_or(0) != 0;
    let tables = pair(7, "`cos_cache` and `sin_cache`")?.filter(|_| turns);
    if turns && tables.is_none() {
        return Err("has `do_rotary`, and neither `cos_cache` nor `sin_cache`".into());
    }
    let causal = r.optional_int("causal").unwrap_or(1) != 0;
    let window = r.optional_int("local_window_size").filter(|size| *size != -1);
    if window.is_some_and(|size| size < 1 || !causal) {
        return Err("has a `local_window_size` that is not positive, or without `causal`".into());
    }
    let float = |name: &str| match r.attribute(name) {
        Some(Attribute::Float(value)) if *value != 0.0 => Some(*value),
        _ => None,
    };
    Ok(Conversion::op(Grouped {
        query: r.input(0)?,
        rest,
        past,
        last: r.input(5)?,
        total: r.input(6)?,
        tables,
        added: r.optional(10),
        valid: r.optional(16),
        heads,
        shared,
        scale: float("scale"),
        softcap: float("softcap").unwrap_or(0.0),
        interleaved: r.optional_int("rotary_interleaved").unwrap_or(0) != 0,
        causal,
        window,
    }))
}

/// What is not read, by name.
fn refuse(r: &NodeReader<'_, '_>) -> Result<(), Reason> {
    if let Some((_, name)) = UNREAD.iter().find(|(input, _)| r.optional(*input).is_some()) {
        return Err(unsupported(format!("input `{name}` is not supported")));
    }
    let number = |name: &str| r.optional_int(name).unwrap_or(0);
    for name in ["qk_output", "sliding_window_cache", "kv_cache_bit_width"] {
        if number(name) != 0 {
            return Err(unsupported(format!("attribute `{name}` is not supported")));
        }
    }
    if number("smooth_softmax") > 0 {
        return Err(unsupported("attribute `smooth_softmax` is not supported"));
    }
    for name in ["k_quant_type", "v_quant_type"] {
        if r.string(name)?.is_some_and(|kind| kind != "NONE") {
            return Err(unsupported(format!("attribute `{name}` is not supported: keys and values are floats")));
        }
    }
    r.outputs_unused_from(3)
}

/// Where the new rows of each sample begin, `[B]` of i64, how many of them count, and how many keys there are then.
struct Places {
    begin: Value,
    valid: Value,
    end: Value,
}

impl<'m> Convert<'m> for Grouped<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &["attention_grouped_masked", "attention_grouped_biased"]
    }

    fn results(&self) -> usize {
        3
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let [mut queries, mut keys, values] = self.parts(importer)?;
        let places = self.places(importer, queries)?;
        if let Some(tables) = self.tables {
            queries = self.turned(importer, queries, tables, &places)?;
            keys = self.turned(importer, keys, tables, &places)?;
        }
        let keys = self.appended(importer, (self.past.map(|past| past.0), keys), &places)?;
        let values = self.appended(importer, (self.past.map(|past| past.1), values), &places)?;
        let made = self.looked_up(importer, [queries, keys, values], &places)?;
        Ok(vec![beside(importer, made)?, keys, values])
    }
}

impl<'m> Grouped<'m> {
    /// Queries, keys and values by heads.
    fn parts(&self, importer: &mut Importer<'m, '_, '_>) -> Made<[Value; 3]> {
        let query = importer.value(self.query)?;
        if let Some((key, value)) = self.rest {
            let (key, value) = (importer.value(key)?, importer.value(value)?);
            let queries = by_heads(importer, query, self.heads)?;
            let (keys, values) = (by_heads(importer, key, self.shared)?, by_heads(importer, value, self.shared)?);
            let rows = importer.g.shape(queries)[2].clone();
            for (other, name) in [(keys, "`key`"), (values, "`value`")] {
                let own = importer.g.shape(other)[2].clone();
                importer.g.unify(&rows, &own, || format!("the rows of `query` and of {name}"))?;
            }
            return Ok([queries, keys, values]);
        }
        let width = importer.g.shape(query).get(2).cloned().flatten().and_then(|size| size.as_const());
        let all = self.heads + 2 * self.shared;
        let Some(width) = width else { return fail("has rows whose length is known only when it runs") };
        if width % all != 0 {
            return wrong(format!("has rows of {width} numbers, which are no {all} heads"));
        }
        let (size, mut from) = (width / all, 0);
        let mut parts = Vec::new();
        for heads in [self.heads, self.shared, self.shared] {
            let rows = part(importer, query, 2, from, from + heads * size)?;
            parts.push(by_heads(importer, rows, heads)?);
            from += heads * size;
        }
        Ok([parts[0], parts[1], parts[2]])
    }

    fn places(&self, importer: &mut Importer<'m, '_, '_>, queries: Value) -> Made<Places> {
        let (batch, rows) = (importer.g.shape(queries)[0].clone(), importer.g.shape(queries)[2].clone());
        let Some(rows) = rows else { return fail("has a number of rows that data decide") };
        let list = |importer: &mut Importer<'m, '_, '_>, name: &'m str| -> Made {
            let given = importer.value(name)?;
            let shape = importer.g.shape(given);
            // Older exporters write a column.
            let flat = match &shape[..] {
                [_] => given,
                [_, one] if *one == Some(1.into()) => importer.g.squeeze(given, &[1])?,
                _ => return wrong(format!("`{name}` must be a list of a number for each sample")),
            };
            importer.g.unify(&batch, &importer.g.shape(flat)[0].clone(), || format!("the samples of `{name}`"))?;
            Ok(importer.g.cast(flat, Type::I64)?)
        };
        let last = list(importer, self.last)?;
        let end = importer.g.map(last, |s, last| {
            let one = s.int(1, Type::I64);
            s.add(last, one)
        })?;
        let valid = match self.valid {
            Some(name) => list(importer, name)?,
            None => importer.g.map(end, |s, end| {
                let rows = whole(s, &rows);
                s.min(rows, end)
            })?,
        };
        let begin = importer.g.zip(end, valid, |s, end, valid| s.sub(end, valid))?;
        Ok(Places { begin, valid, end })
    }

    /// Heads turned by the angles of their rows' places. Rows that do not count have place 0, which any table has.
    fn turned(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        x: Value,
        tables: (&'m str, &'m str),
        places: &Places,
    ) -> Made {
        let shape = importer.g.shape(x);
        let Some(size) = shape[3].as_ref().and_then(Poly::as_const) else {
            return fail("has heads whose size is known only when it runs");
        };
        let steps = importer.g.generate(&[Some(1.into()), shape[2].clone()], Type::I64, |s| {
            let step = s.index(1);
            s.cast(step, Type::I64)
        })?;
        let begin = importer.g.unsqueeze(places.begin, &[1])?;
        let valid = importer.g.unsqueeze(places.valid, &[1])?;
        let at = importer.g.elementwise(&[steps, begin, valid], Type::I64, |s, args| {
            let (place, none) = (s.add(args[0], args[1]), s.int(0, Type::I64));
            let counts = s.compare(Comparison::Less, args[0], args[2]);
            s.select(counts, place, none)
        })?;
        let mut angles = Vec::new();
        let mut half = None;
        for name in [tables.0, tables.1] {
            let table = importer.value(name)?;
            let row = importer.g.shape(table).get(1).cloned().flatten().and_then(|size| size.as_const());
            if importer.g.rank(table) != 2 || row.is_none() || half.is_some_and(|half| Some(half) != row) {
                return wrong(format!("has a table `{name}` that is not two rows of angles of one known length"));
            }
            half = row;
            let rows = importer.g.gather(table, at, 0);
            angles.push(importer.g.unsqueeze(rows, &[1])?);
        }
        let half = half.unwrap_or_default();
        if 2 * half > size {
            return wrong(format!("turns {} of {size} numbers of a head", 2 * half));
        }
        rotated(importer, x, [angles[0], angles[1]], (half, size), self.interleaved)
    }

    /// Keys or values of before with the new ones behind them, as long as the longest sample needs, and no shorter than before.
    fn appended(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        (past, new): (Option<&'m str>, Value),
        places: &Places,
    ) -> Made {
        let (shape, elem) = (importer.g.shape(new), importer.g.elem(new));
        let Some(rows) = shape[2].clone() else { return fail("has a number of rows that data decide") };
        let total = self.most(importer)?;
        let before = match past {
            None => {
                let mut sizes = shape.clone();
                // Nothing says how long it is: the new rows are all.
                sizes[2] = Some(total.unwrap_or_else(|| rows.clone()));
                importer.zeros(&sizes, elem)?
            }
            Some(name) => self.grown(importer, name, &shape, total)?,
        };
        if importer.g.elem(before) != elem {
            return fail("has keys and values of before in another type than new ones");
        }
        let begin = importer.g.unsqueeze(places.begin, &[1, 2, 3])?;
        let steps = importer.g.generate(&shape, Type::I64, |s| {
            let step = s.index(2);
            s.cast(step, Type::I64)
        })?;
        let at = importer.g.zip(steps, begin, |s, step, begin| {
            let (place, zero, none) = (s.add(step, begin), s.int(0, Type::I64), s.int(i64::MAX, Type::I64));
            // A negative place is none, and not one from the end.
            let negative = s.compare(Comparison::Less, place, zero);
            s.select(negative, none, place)
        })?;
        Ok(importer.g.scatter((before, at, new), Some(2), Joined::Replace)?)
    }

    /// How many keys the longest sample has, where shapes and constants say so.
    fn most(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Option<Poly>> {
        let total = importer.value(self.total)?;
        if importer.g.shape(total).iter().any(|size| *size != Some(1.into())) {
            return wrong(format!("takes one number from `{}`, whose sizes are not all 1", self.total));
        }
        Ok(importer.g.contents(total).and_then(|contents| contents.first().cloned().flatten()))
    }

    /// Keys or values of before, followed by zeros where there will be more keys. Where data say how many there will be, what is
    /// given has place for them, which is checked when they are written.
    fn grown(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        name: &'m str,
        new: &[Option<Poly>],
        total: Option<Poly>,
    ) -> Made {
        let past = importer.value(name)?;
        let shape = importer.g.shape(past);
        if shape.len() != 4 {
            return wrong(format!("has `{name}` of rank {}, it must have 4", shape.len()));
        }
        for d in [0, 1, 3] {
            importer.g.unify(&new[d], &shape[d], || format!("dimension {d} of `{name}` and of what is appended"))?;
        }
        let (Some(length), Some(total)) = (shape[2].clone(), total) else { return Ok(past) };
        let more = importer.g.env.facts.canonical(&length.greater(&total).sub(&length));
        if more.is_zero() {
            return Ok(past);
        }
        let (none, mut after) = (vec![Poly::default(); 4], vec![Poly::default(); 4]);
        after[2] = more;
        let kind = PadKind::Constant(zero(importer.cx(), importer.g.elem(past)));
        Ok(importer.g.pad(past, &none, &after, kind)?)
    }

    /// What queries look up. A query of row `s` stands at `begin + s` and sees what is not behind it, and not too far before.
    fn looked_up(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        [queries, keys, values]: [Value; 3],
        places: &Places,
    ) -> Made {
        let shape = importer.g.shape(queries);
        let (rows, columns) = (shape[2].clone(), importer.g.shape(keys)[2].clone());
        let begin = importer.g.unsqueeze(places.begin, &[1, 2, 3])?;
        let end = importer.g.unsqueeze(places.end, &[1, 2, 3])?;
        let grid = [Some(1.into()), Some(1.into()), rows, columns.clone()];
        let mut offsets = Vec::new();
        for d in [2, 3] {
            let mut sizes = vec![Some(Poly::from(1)); 4];
            sizes[d] = grid[d].clone();
            offsets.push(importer.g.generate(&sizes, Type::I64, |s| {
                let place = s.index(d);
                s.cast(place, Type::I64)
            })?);
        }
        let (causal, window) = (self.causal, self.window);
        let seen = importer.g.elementwise(&[offsets[0], offsets[1], begin, end], Type::I1, |s, args| {
            let (own, key) = (s.add(args[0], args[2]), args[1]);
            if !causal {
                return s.compare(Comparison::Less, key, args[3]);
            }
            let mut seen = s.compare(Comparison::LessOrEqual, key, own);
            if let Some(size) = window {
                let size = s.int(size, Type::I64);
                let first = s.sub(own, size);
                let near = s.compare(Comparison::Greater, key, first);
                seen = s.bits("arith.andi", seen, near);
            }
            seen
        })?;
        let mut attributes = vec![("softcap".to_owned(), NamedNumber::Float(self.softcap))];
        attributes.extend(self.scale.map(|scale| ("scale".to_owned(), NamedNumber::Float(scale))));
        let Some(name) = self.added else {
            return importer.applied("attention_grouped_masked", &[queries, keys, values, seen], &attributes);
        };
        let added = importer.value(name)?;
        let given = importer.g.shape(added);
        if given.len() != 4 {
            return wrong(format!("has `{name}` of rank {}, it must have 4", given.len()));
        }
        importer.g.unify(&given[3], &columns, || format!("the keys that `{name}` is for, and all keys"))?;
        let elem = importer.g.elem(queries);
        let bias = importer.g.elementwise(&[seen, added], elem, |s, args| {
            let hidden = s.number(f64::NEG_INFINITY, elem);
            s.select(args[0], args[1], hidden)
        })?;
        importer.applied("attention_grouped_biased", &[queries, keys, values, bias], &attributes)
    }
}

/// A size as a number of 64 bits.
fn whole(s: &mut Scalars<'_, '_>, size: &Poly) -> Value {
    let size = s.size(size);
    s.cast(size, Type::I64)
}
