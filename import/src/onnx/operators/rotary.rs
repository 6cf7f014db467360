//! Rotary position embedding.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::IteratorKind;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, SliceBounds};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("RotaryEmbedding", rotary)];

/// Pairs of elements of each head turned by the angle of their position, whose cosine and sine are given.
#[derive(Debug)]
struct Rotary<'m> {
    x: &'m str,
    cosine: &'m str,
    sine: &'m str,
    positions: Option<&'m str>,
    heads: Option<i64>,
    /// How many elements of a head are turned; 0 for all.
    turned: i64,
    /// The elements of a pair are neighbours; else the second half has the second ones.
    interleaved: bool,
}

fn rotary<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (heads, turned) = (r.optional_int("num_heads").filter(|heads| *heads != 0), r.int("rotary_embedding_dim")?);
    if heads.is_some_and(|heads| heads < 0) || turned < 0 || turned % 2 > 0 {
        return Err("has a negative `num_heads`, or a `rotary_embedding_dim` that is no even size".into());
    }
    Ok(Conversion::op(Rotary {
        x: r.input(0)?,
        cosine: r.input(1)?,
        sine: r.input(2)?,
        positions: r.optional(3),
        heads,
        turned,
        interleaved: r.flag("interleaved")?,
    }))
}

impl<'m> Convert<'m> for Rotary<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let whole = importer.g.shape(x);
        // Which dimension counts positions.
        let (heads, at) = match whole.len() {
            4 => (x, 2),
            3 => (self.by_heads(importer, x)?, 1),
            rank => return wrong(format!("has an input of rank {rank}, it must have 3 or 4")),
        };
        let cosine = self.angles(importer, self.cosine, heads, at)?;
        let sine = self.angles(importer, self.sine, heads, at)?;
        let (half, same) = (importer.g.shape(cosine)[2].clone(), importer.g.shape(sine)[2].clone());
        let half = importer.g.unify(&half, &same, || "the last dimension of cosines and of sines".into())?;
        let Some(half) = half else { return fail("has a number of angles that depends on data") };
        let Some(size) = importer.g.shape(heads)[3].clone() else {
            return fail("has heads of a size that depends on data");
        };
        let (mut part, mut rest) = (heads, None);
        let pairs = Some(half.scale(2));
        if self.turned > 0 && size.as_const() != Some(self.turned) {
            let turned = Poly::from(self.turned);
            importer.g.unify(&Some(turned.clone()), &pairs, || "`rotary_embedding_dim` and twice the angles".into())?;
            importer.not_negative(&vec![Some(size.sub(&turned))], "rest")?;
            let slice = |from, to| SliceBounds::Known(vec![from], vec![to]);
            part = importer.g.slice(heads, &[3], &slice(0, self.turned), &[1])?;
            rest = Some(importer.g.slice(heads, &[3], &slice(self.turned, i64::MAX), &[1])?);
        } else {
            importer.g.unify(&Some(size), &pairs, || "the size of a head and twice the angles".into())?;
        }
        let mut made = self.turn(importer, part, (cosine, sine), (at, &half))?;
        if let Some(rest) = rest {
            made = importer.g.concat(&[made, rest], 3)?;
        }
        Ok(vec![if whole.len() == 3 { importer.g.reshape_to(made, &whole)? } else { made }])
    }
}

impl<'m> Rotary<'m> {
    /// The elements of heads, which lie behind one another, in a dimension of their own.
    fn by_heads(&self, importer: &mut Importer<'m, '_, '_>, x: Value) -> Made {
        let Some(heads) = self.heads else { return wrong("has an input of rank 3, and no `num_heads`") };
        let shape = importer.g.shape(x);
        let Some(all) = shape[2].clone() else { return fail("has heads of a size that depends on data") };
        let size = all.floordiv(heads);
        importer.g.unify(&Some(all), &Some(size.scale(heads)), || "dimension 2 and whole heads".into())?;
        Ok(importer.g.reshape_to(x, &[shape[0].clone(), shape[1].clone(), Some(heads.into()), Some(size)])?)
    }

    /// Cosines or sines for each sample and position.
    fn angles(&self, importer: &mut Importer<'m, '_, '_>, name: &'m str, heads: Value, at: usize) -> Made {
        let mut angles = importer.value(name)?;
        let wanted = if self.positions.is_some() { 2 } else { 3 };
        if importer.g.rank(angles) != wanted {
            return wrong(format!("`{name}` has rank {}, it must have {wanted}", importer.g.rank(angles)));
        }
        if let Some(positions) = self.positions {
            let positions = importer.value(positions)?;
            if importer.g.rank(positions) != 2 {
                return wrong("`position_ids` must have rank 2");
            }
            angles = importer.g.gather(angles, positions, 0);
        }
        let (given, shape) = (importer.g.shape(angles), importer.g.shape(heads));
        importer.g.unify(&shape[0], &given[0], || format!("the number of samples and of those of `{name}`"))?;
        importer.g.unify(&shape[at], &given[1], || format!("the number of positions and of those of `{name}`"))?;
        Ok(angles)
    }

    fn turn(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        x: Value,
        (cosine, sine): (Value, Value),
        (at, half): (usize, &Poly),
    ) -> Made {
        let (shape, elem) = (importer.g.shape(x), importer.g.elem(x));
        // The last two dimensions of the pairs are the pairs and what is of them, or the other way.
        let (pair, of_pair) = if self.interleaved { (3, 4) } else { (4, 3) };
        let mut pairs = shape[..3].to_vec();
        pairs.resize(5, Some(half.clone()));
        pairs[of_pair] = Some(2.into());
        let paired = importer.g.reshape_to(x, &pairs)?;
        let element = |number: i64| {
            let mut index = importer.g.dims(0..5);
            index[of_pair] = importer.cx().affine_const(number);
            ComputeInput { value: paired, index, oob: None }
        };
        let angle = |value: Value| {
            let index = [0, at, pair].map(|d| importer.g.dim(d)).to_vec();
            ComputeInput { value, index, oob: None }
        };
        let inputs = vec![element(0), element(1), angle(cosine), angle(sine)];
        let index = importer.g.dims(0..5);
        let result = ComputeResult { shape: pairs, elem, index, combiner: None };
        let op = importer.g.compute(&[IteratorKind::Parallel; 5], inputs, vec![result], |s, args| {
            let wide = accumulator_type(s.cx(), elem);
            let [x, y, cosine, sine] = [0, 1, 2, 3].map(|i| s.cast(args[i], wide));
            let (number, zero) = (s.index(of_pair), s.int(0, Type::INDEX));
            let is_first = s.compare(Comparison::Equal, number, zero);
            let (along, across) = (s.select(is_first, x, y), s.select(is_first, y, x));
            let (along, across) = (s.mul(along, cosine), s.mul(across, sine));
            let (less, more) = (s.sub(along, across), s.add(along, across));
            let turned = s.select(is_first, less, more);
            vec![s.cast(turned, elem)]
        });
        let made = importer.g.b.body().result(op, 0);
        Ok(importer.g.reshape_to(made, &shape)?)
    }
}
