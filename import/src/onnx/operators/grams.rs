//! Counts of sequences of words.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult};
use sutura_dialects::graph::{Combiner, IteratorKind};
use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::model::Attribute;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::super::tensor::Tensor;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("TfIdfVectorizer", tf_idf)];

/// How often each of some sequences of numbers occurs in a row, in so many places that lie `skip + 1` apart.
#[derive(Debug)]
struct TfIdf<'m> {
    x: &'m str,
    /// By length: the sequences one behind the other, and which they are of all.
    pools: Vec<Pool>,
    /// Where in the result each sequence is counted.
    places: Vec<i64>,
    /// The most places that are skipped.
    skips: i64,
    /// What each sequence counts, if that matters.
    weights: Option<Vec<f32>>,
    /// Whether it counts once.
    once: bool,
}

#[derive(Debug)]
struct Pool {
    length: usize,
    words: Vec<i64>,
}

fn tf_idf<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let Some(words) = r.ints("pool_int64s") else {
        return Err(unsupported("counts strings, which are not supported; `pool_int64s` is"));
    };
    let list = |name: &str| r.ints(name).ok_or_else(|| Reason::from(format!("has no attribute `{name}`")));
    let (starts, places) = (list("ngram_counts")?, list("ngram_indexes")?);
    let (least, most) = (r.int("min_gram_length")?, r.int("max_gram_length")?);
    let skips = r.int("max_skip_count")?;
    if least < 1 || most < least || skips < 0 {
        return Err(format!("counts sequences of {least} to {most} words with {skips} skips").into());
    }
    let mut pools = Vec::new();
    let mut sequences = 0;
    for (i, start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(words.len() as i64);
        let part = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
        let Some(part) = part.and_then(|(start, end)| words.get(start..end)) else {
            return Err(format!("has `ngram_counts` {starts:?}, which are no starts in {} words", words.len()).into());
        };
        if part.len() % (i + 1) > 0 {
            return Err(format!("has {} words for sequences of {}", part.len(), i + 1).into());
        }
        sequences += part.len() / (i + 1);
        pools.push(Pool { length: i + 1, words: part.to_vec() });
    }
    if places.len() != sequences || places.iter().any(|place| !(0..1 << 31).contains(place)) {
        return Err(format!("has {} `ngram_indexes` for {sequences} sequences, or negative ones", places.len()).into());
    }
    let (once, weighs) = match r.string("mode")? {
        Some("TF") => (false, false),
        Some("IDF") => (true, true),
        Some("TFIDF") => (false, true),
        other => return Err(format!("has unknown `mode` {}", other.unwrap_or_default()).into()),
    };
    let weights = match r.attribute("weights") {
        Some(Attribute::Floats(weights)) if weighs && weights.len() != sequences => {
            return Err(format!("has {} `weights` for {sequences} sequences", weights.len()).into());
        }
        Some(Attribute::Floats(weights)) if weighs => Some(weights.clone()),
        _ => None,
    };
    // Sequences of other lengths are in the result, and never found.
    for pool in &mut pools {
        if !(least..=most).contains(&(pool.length as i64)) {
            pool.length = 0;
        }
    }
    Ok(Conversion::op(TfIdf { x: r.input(0)?, pools, places: places.to_vec(), skips, weights, once }))
}

impl<'m> Convert<'m> for TfIdf<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let shape = importer.g.shape(x);
        let rows = match &shape[..] {
            [Some(_)] => importer.g.unsqueeze(x, &[0])?,
            [Some(_), Some(_)] => x,
            [_] | [_, _] => return fail("counts in rows of a size that depends on data"),
            _ => return wrong(format!("takes a row or rows, not a tensor of rank {}", shape.len())),
        };
        let rows = importer.g.cast(rows, Type::I64)?;
        let mut columns =
            vec![importer.g.generate(&[importer.g.shape(rows)[0].clone(), Some(1.into())], Type::F32, |s| {
                s.number(0.0, Type::F32)
            })?];
        // Column 0 has nothing; which column each element of the result is.
        let size = self.places.iter().max().map_or(0, |most| most + 1);
        let mut sources = vec![0_i64; usize::try_from(size).unwrap_or(0)];
        let (mut next, mut sequence) = (1_i64, 0_usize);
        for (i, pool) in self.pools.iter().enumerate() {
            let count = pool.words.len() / (i + 1);
            if pool.length > 0 && count > 0 {
                columns.push(self.counts(importer, rows, pool, sequence)?);
                for at in 0..count {
                    sources[self.places[sequence + at] as usize] = next + at as i64;
                }
                next += count as i64;
            }
            sequence += count;
        }
        let all = if columns.len() == 1 { columns[0] } else { importer.g.concat(&columns, 1)? };
        if sources.is_empty() {
            return fail("counts no sequence at all");
        }
        let sources = importer.g.int_list(&sources)?;
        let made = importer.g.gather(all, sources, 1);
        Ok(vec![if shape.len() == 1 { importer.g.squeeze(made, &[0])? } else { made }])
    }
}

impl TfIdf<'_> {
    /// What the sequences of a pool count in each row; `first` is the number of the first one among all.
    fn counts(&self, importer: &mut Importer<'_, '_, '_>, rows: Value, pool: &Pool, first: usize) -> Made {
        let count = pool.words.len() / pool.length;
        let mut words = Tensor::from_ints(&pool.words);
        words.dims = vec![count as u64, pool.length as u64];
        let words = importer.constant(&words)?;
        // One word skips nothing.
        let skips = if pool.length == 1 { 0 } else { self.skips };
        let mut total: Option<Value> = None;
        for skip in 0..=skips {
            let found = matches(importer, rows, words, (pool.length, count, skip + 1));
            total = Some(match total {
                Some(total) => importer.g.zip(total, found, |s, a, b| s.add(a, b))?,
                None => found,
            });
        }
        let Some(total) = total else { return fail("counts nothing") };
        let mut operands = vec![total];
        if let Some(weights) = &self.weights {
            let weights = Tensor::from_floats(&weights[first..first + count]);
            operands.push(importer.constant(&weights)?);
        }
        let once = self.once;
        Ok(importer.g.elementwise(&operands, Type::F32, |s, args| {
            let mut number = s.cast(args[0], Type::F32);
            if once {
                let one = s.number(1.0, Type::F32);
                number = s.min(number, one);
            }
            args.get(1).map_or(number, |weight| s.mul(number, *weight))
        })?)
    }
}

/// How often each sequence stands in each row, its words `distance` apart.
fn matches(
    importer: &mut Importer<'_, '_, '_>,
    rows: Value,
    words: Value,
    (length, count, distance): (usize, usize, i64),
) -> Value {
    let (cx, shape) = (importer.cx(), importer.g.shape(rows));
    let [row, sequence, start] = [0, 1, 2].map(|d| importer.g.dim(d));
    let mut inputs = Vec::new();
    for word in 0..length as i64 {
        let ahead = word.saturating_mul(distance);
        let at = cx.affine_binary(AffineOp::Add, start, cx.affine_const(ahead));
        // Behind the end nothing is found, whatever is read there.
        let oob = (word > 0).then(|| cx.int_attr(0, Type::I64));
        inputs.push(ComputeInput { value: rows, index: vec![row, at], oob });
        inputs.push(ComputeInput { value: words, index: vec![sequence, cx.affine_const(word)], oob: None });
    }
    let ahead = (length as i64 - 1).saturating_mul(distance);
    let last = shape[1].as_ref().map(|size| size.sub(&Poly::from(ahead))).unwrap_or_default();
    let sizes = vec![shape[0].clone(), Some(Poly::from(count as i64))];
    let (index, combiner) = (vec![row, sequence], Some(Combiner::Add));
    let result = ComputeResult { shape: sizes, elem: Type::I64, index, combiner };
    let kinds = [IteratorKind::Parallel, IteratorKind::Parallel, IteratorKind::Reduce];
    let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
        let (at, end) = (s.index(2), s.size(&last));
        let mut found = s.compare(Comparison::Less, at, end);
        for pair in args.chunks_exact(2) {
            let same = s.compare(Comparison::Equal, pair[0], pair[1]);
            found = s.bits("arith.andi", found, same);
        }
        let (one, zero) = (s.int(1, Type::I64), s.int(0, Type::I64));
        vec![s.select(found, one, zero)]
    });
    importer.g.b.body().result(op, 0)
}
