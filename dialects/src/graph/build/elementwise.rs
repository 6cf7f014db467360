//! Elementwise ops on operands that are broadcast together.

use sutura_ir::affine::AffineExpr;
use sutura_ir::{Type, Value};

use super::super::shape_fn::{Requirement, SymShape};
use super::super::structured::IteratorKind;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, unify};
use crate::r#dyn::{Facts, Poly};

/// Shapes broadcast together as NumPy does it.
#[derive(Clone, Debug)]
pub struct Broadcast {
    /// The common shape.
    pub shape: SymShape,
    /// For each operand and each of its dimensions whether that is stretched.
    pub stretched: Vec<Vec<bool>>,
}

/// Broadcasts shapes together. A size that is not known to be 1 is taken to be that of the others; what is taken to be equal
/// goes to `assumed`, and is a fact from then on. `called` names operands.
///
/// # Errors
/// When sizes cannot be equal.
pub fn broadcast(
    facts: &mut Facts,
    shapes: &[SymShape],
    called: &dyn Fn(usize) -> String,
    assumed: &mut Vec<Requirement>,
) -> Built<Broadcast> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let one = Poly::constant(1);
    let mut common = Vec::with_capacity(rank);
    for dim in 0..rank {
        let sizes: Vec<(usize, Option<Poly>)> = shapes
            .iter()
            .enumerate()
            .filter_map(|(i, s)| Some((i, s.get((dim + s.len()).checked_sub(rank)?)?.clone())))
            .map(|(i, size)| (i, size.map(|p| facts.canonical(&p))))
            .collect();
        let long = |size: &Option<Poly>| size.as_ref().is_none_or(|s| !at_most_one(facts, s));
        // Those that may be longer than 1 say how long the result is; where there is none, those that may be empty do.
        let says: Vec<&(usize, Option<Poly>)> = match sizes.iter().any(|(_, s)| long(s)) {
            true => sizes.iter().filter(|(_, s)| long(s)).collect(),
            false => sizes.iter().filter(|(_, s)| s.as_ref() != Some(&one)).collect(),
        };
        let Some(((first, size), rest)) = says.split_first() else {
            common.push(Some(one.clone()));
            continue;
        };
        let mut size = size.clone();
        for (i, other) in rest {
            let what = || format!("dimension {dim} of the broadcast operands {} and {}", called(*first), called(*i));
            size = unify(facts, &size, other, what, assumed)?;
        }
        for (i, short) in &sizes {
            let what = || format!("dimension {dim} of the broadcast operand {}, which is stretched, and 1", called(*i));
            stretch(facts, short, &size, what, assumed)?;
        }
        common.push(size);
    }
    let stretched = |shape: &SymShape| {
        let offset = rank - shape.len();
        let stretch = |(i, size): (usize, &Option<Poly>)| {
            let (Some(size), common) = (size.as_ref(), common[i + offset].as_ref()) else { return false };
            let longer = common.is_none_or(|c| !at_most_one(facts, c));
            (*size == one && common != Some(&one)) || (at_most_one(facts, size) && longer)
        };
        shape.iter().enumerate().map(stretch).collect()
    };
    let stretched = shapes.iter().map(stretched).collect();
    Ok(Broadcast { shape: common, stretched })
}

/// 0 or 1, but not surely 0.
fn at_most_one(facts: &Facts, size: &Poly) -> bool {
    facts.range(size).1 == 1
}

/// A size of at most 1 beside a longer one is 1, unless it is empty exactly where that is.
fn stretch(
    facts: &mut Facts,
    short: &Option<Poly>,
    long: &Option<Poly>,
    what: impl FnOnce() -> String,
    assumed: &mut Vec<Requirement>,
) -> Built<()> {
    let (Some(short), Some(long)) = (short, long) else { return Ok(()) };
    let one = Poly::constant(1);
    if !at_most_one(facts, short) || at_most_one(facts, long) || facts.prove_equal(short, &long.lesser(&one)) {
        return Ok(());
    }
    unify(facts, &Some(short.clone()), &Some(one), what, assumed)?;
    Ok(())
}

impl<'b> GraphBuilder<'_, 'b> {
    /// Broadcasts shapes together; see [`broadcast`].
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn broadcast(&mut self, shapes: &[SymShape]) -> Built<Broadcast> {
        broadcast(&mut self.env.facts, shapes, &|i| i.to_string(), &mut self.assumed)
    }

    /// Index of a broadcast operand: iterators `0..rank`, 0 where it is stretched.
    pub fn broadcast_index(&self, rank: usize, stretched: &[bool]) -> Vec<AffineExpr> {
        let offset = rank - stretched.len();
        let expr = |(i, stretched): (usize, &bool)| {
            if *stretched { self.cx().affine_const(0) } else { self.dim(i + offset) }
        };
        stretched.iter().enumerate().map(expr).collect()
    }

    /// `function` applied to the elements of operands that are broadcast together; a result of element type `elem`.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn elementwise(
        &mut self,
        operands: &[Value],
        elem: Type,
        function: impl FnOnce(&mut Scalars<'_, 'b>, &[Value]) -> Value,
    ) -> Built {
        let shapes: Vec<SymShape> = operands.iter().map(|v| self.shape(*v)).collect();
        let broadcast = self.broadcast(&shapes)?;
        let rank = broadcast.shape.len();
        let input = |(value, stretched): (&Value, &Vec<bool>)| ComputeInput {
            value: *value,
            index: self.broadcast_index(rank, stretched),
            oob: None,
        };
        let inputs = operands.iter().zip(&broadcast.stretched).map(input).collect();
        let result = ComputeResult { shape: broadcast.shape, elem, index: self.dims(0..rank), combiner: None };
        let op =
            self.compute(&vec![IteratorKind::Parallel; rank], inputs, vec![result], |s, args| vec![function(s, args)]);
        Ok(self.b.body().result(op, 0))
    }

    /// `function` applied to every element of one tensor, with a result of the same element type.
    pub fn map(&mut self, x: Value, function: impl FnOnce(&mut Scalars<'_, 'b>, Value) -> Value) -> Built {
        let elem = self.elem(x);
        self.elementwise(&[x], elem, |s, args| function(s, args[0]))
    }

    /// `function` applied to the elements of two tensors, with a result of the first one's element type.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn zip(
        &mut self,
        a: Value,
        b: Value,
        function: impl FnOnce(&mut Scalars<'_, 'b>, Value, Value) -> Value,
    ) -> Built {
        let elem = self.elem(a);
        self.elementwise(&[a, b], elem, |s, args| function(s, args[0], args[1]))
    }

    /// Every element converted to `to`.
    pub fn cast(&mut self, x: Value, to: Type) -> Built {
        if self.elem(x) == to {
            return Ok(x);
        }
        self.elementwise(&[x], to, |s, args| s.cast(args[0], to))
    }
}
