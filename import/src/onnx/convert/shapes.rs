//! Operators that move elements or compute shapes.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::SymShape;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Joined, PadKind, SliceBounds};
use sutura_dialects::graph::shape_fn::slice_len;
use sutura_dialects::graph::{Contents, IteratorKind};
use sutura_ir::types::MAX_RANK;
use sutura_ir::{Attr, Type, Value};

use super::super::op::{Op, PadMode, Param, Slice};
use super::super::operators::{by_data, sizes_by_data};
use super::super::tensor::{Scalar, Tensor};
use super::{Importer, Made, constants, fail, literal, rank_message, wrong};

impl<'m> Importer<'m, '_, '_> {
    /// The values that an operator of this kind makes.
    pub(super) fn movement(&mut self, op: &Op<'m>) -> Made<Vec<Value>> {
        let value = match op {
            Op::ConstantOfShape { shape, value } => self.fill(shape, value)?,
            Op::Range { start, limit, delta, first } => self.range((start, limit, delta), first)?,
            Op::Shape { x, start, end } => self.shape(x, *start, *end)?,
            Op::Reshape { x, shape, zero_copies } => self.reshape(x, shape, *zero_copies)?,
            Op::Flatten { x, axis } => {
                let x = self.value(x)?;
                let rank = self.g.rank(x);
                // One past the last dim is allowed here.
                let axis = if *axis == rank as i64 { rank } else { self.g.axis(*axis, rank)? };
                self.g.flatten(x, axis)?
            }
            Op::Squeeze { x, axes } => {
                let x = self.value(x)?;
                let shape = self.g.shape(x);
                let axes = match axes {
                    Some(axes) => self.g.axes(axes, shape.len())?,
                    None if shape.iter().any(Option::is_none) => return fail("removes dims that depend on data"),
                    None => {
                        self.g.assume_none_is_one(&shape)?;
                        (0..shape.len()).filter(|d| shape[*d] == Some(1.into())).collect()
                    }
                };
                self.g.squeeze(x, &axes)?
            }
            Op::Unsqueeze { axes, .. } if axes.len() > MAX_RANK => return fail(rank_message(axes.len())),
            Op::Unsqueeze { x, axes } => {
                let x = self.value(x)?;
                let axes = self.g.axes(axes, self.g.rank(x) + axes.len())?;
                self.g.unsqueeze(x, &axes)?
            }
            Op::Expand { x, shape } => {
                let x = self.value(x)?;
                let own = self.g.shape(x);
                let sizes = self.sizes_or_stated(shape, |_, stated, length| {
                    // A 1 is as good as the input's own size.
                    let numbers = stated.get(stated.len().checked_sub(length)?..)?.to_vec();
                    let same = |(i, n): (usize, &i64)| {
                        let own = (i + own.len()).checked_sub(length).and_then(|i| constant(&own[i]));
                        if own == Some(*n) { 1 } else { *n }
                    };
                    let others = numbers.iter().enumerate().map(same).collect();
                    Some((numbers, vec![others]))
                });
                let sizes = match sizes? {
                    Some(sizes) => sizes,
                    None => {
                        let (list, length) = self.known_list(shape)?;
                        sizes_by_data::expanded(self, &own, list, length)?.into_iter().map(Some).collect()
                    }
                };
                self.not_negative(&sizes, "size")?;
                self.g.expand(x, &sizes)?
            }
            Op::Tile { x, repeats } => {
                let x = self.value(x)?;
                let own = self.g.shape(x);
                let repeats = self.stated_or_any(repeats, |stated| {
                    let times = |(stated, own): (&i64, &Option<Poly>)| {
                        let own = constant(own).filter(|own| *own > 0 && stated % own == 0)?;
                        Some(stated / own)
                    };
                    let times: Option<Vec<i64>> = stated.iter().zip(&own).map(times).collect();
                    times
                })?;
                let repeats: Contents = repeats.into_iter().map(Some).collect();
                self.not_negative(&repeats, "repeat")?;
                if repeats.len() != self.g.rank(x) {
                    return wrong(format!("has {} repeats for {} dims", repeats.len(), self.g.rank(x)));
                }
                self.g.tile(x, &repeats)?
            }
            Op::Transpose { x, permutation } => {
                let x = self.value(x)?;
                let rank = self.g.rank(x);
                let permutation: Vec<usize> = match permutation {
                    Some(given) => given.iter().map(|p| self.g.axis(*p, rank)).collect::<Result<_, _>>()?,
                    None => (0..rank).rev().collect(),
                };
                self.g.transpose(x, &permutation)?
            }
            Op::Concat { inputs, axis } => {
                let values = self.values(inputs)?;
                let Some(first) = values.first() else { return wrong("has no input") };
                let axis = self.g.axis(*axis, self.g.rank(*first))?;
                if values.len() == 1 { *first } else { self.g.concat(&values, axis)? }
            }
            Op::Split { x, axis, parts, sizes } => return self.split(x, *axis, *parts, sizes.as_ref()),
            Op::Slice(slice) => self.slice(slice)?,
            Op::Gather { x, indices, axis } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let axis = self.g.axis(*axis, self.g.rank(x))?;
                self.g.gather(x, indices, axis)
            }
            Op::GatherElements { x, indices, axis } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let axis = self.g.axis(*axis, self.g.rank(x))?;
                self.g.gather_elements(x, indices, axis)?
            }
            Op::GatherNd { x, indices, batch_dims } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let Ok(batch_dims) = usize::try_from(*batch_dims) else {
                    return wrong(format!("has batch_dims {batch_dims}"));
                };
                self.g.gather_nd(x, indices, batch_dims)?
            }
            Op::Scatter { x, indices, updates, axis, reduction } => {
                self.scatter((x, indices, updates), *axis, reduction)?
            }
            Op::DepthToSpace { x, block, depth_inner } => {
                let x = self.value(x)?;
                self.g.depth_to_space(x, *block, *depth_inner)?
            }
            Op::SpaceToDepth { x, block, depth_inner } => {
                let x = self.value(x)?;
                self.g.space_to_depth(x, *block, *depth_inner)?
            }
            Op::Pad { x, mode, pads, value, axes } => self.pad(x, *mode, pads, value.as_ref(), axes.as_ref())?,
            Op::Converted(conversion) => return conversion.convert(self),
            other => return fail(format!("is read but not converted: {other:?}")),
        };
        Ok(vec![value])
    }

    fn scatter(
        &mut self,
        (x, indices, updates): (&'m str, &'m str, &'m str),
        axis: Option<i64>,
        reduction: &str,
    ) -> Made {
        let (x, indices, updates) = (self.value(x)?, self.value(indices)?, self.value(updates)?);
        let axis = axis.map(|axis| self.g.axis(axis, self.g.rank(x))).transpose()?;
        let Some(joined) = Joined::of_reduction(reduction, self.g.elem(x)) else {
            return fail(format!("has the `reduction` {reduction}"));
        };
        let written = self.g.scatter((x, indices, updates), axis, joined)?;
        // Without an index nothing is written: PyTorch exports writes into no rows so.
        let none = |value| self.g.shape(value).contains(&Some(0.into()));
        Ok(if none(indices) && none(updates) { x } else { written })
    }

    /// A list of numbers, as far as they are known.
    fn told(&mut self, param: &Param<'m, Vec<i64>>) -> Made<Contents> {
        match param {
            Param::Known(values) => Ok(values.iter().map(|v| Some(Poly::constant(*v))).collect()),
            Param::Value(name) => {
                let value = self.list(name)?;
                match self.g.contents(value) {
                    Some(contents) => Ok(contents),
                    None => fail(format!("`{name}` depends on data; it must follow from shapes")),
                }
            }
        }
    }

    /// A list of sizes, which may be data.
    pub(in super::super) fn sizes(&mut self, param: &Param<'m, Vec<i64>>) -> Made<Contents> {
        match param {
            Param::Value(name) if self.is_data(param)? => {
                let list = self.list(name)?;
                Ok(self.sizes_of_list(list)?.into_iter().map(Some).collect())
            }
            param => self.told(param),
        }
    }

    /// Sizes of the first result of the node, where the model states all as numbers.
    pub(in super::super) fn stated(&self) -> Option<Vec<i64>> {
        self.stated.clone()
    }

    /// A list of sizes; where they are data, those that `of` makes of what the model states of the result, which are compared in
    /// every run. `of` gives the numbers, and others that may stand in their places. Nothing where that does not tell them.
    fn sizes_or_stated(
        &mut self,
        param: &Param<'m, Vec<i64>>,
        of: impl FnOnce(&mut Self, &[i64], usize) -> Option<(Vec<i64>, Vec<Vec<i64>>)>,
    ) -> Made<Option<Contents>> {
        let (true, Param::Value(name)) = (self.is_data(param)?, param) else { return Ok(Some(self.told(param)?)) };
        let (list, length) = self.known_list(param)?;
        let Some(stated) = self.stated.clone() else { return Ok(None) };
        let Some((numbers, others)) = of(self, &stated, length).filter(|(numbers, _)| numbers.len() == length) else {
            return Ok(None);
        };
        if length > 0 {
            let all: Vec<Vec<i64>> = std::iter::once(numbers.clone()).chain(others).collect();
            by_data::check_elements(self, list, &all, &format!("`{name}`"))?;
        }
        Ok(Some(numbers.into_iter().map(|n| Some(Poly::constant(n))).collect()))
    }

    /// A list of sizes, which may be data; those that `of` makes of what the model states of the result are compared in every run.
    pub(in super::super) fn stated_or_any(
        &mut self,
        param: &Param<'m, Vec<i64>>,
        of: impl FnOnce(&[i64]) -> Option<Vec<i64>>,
    ) -> Made<Vec<Poly>> {
        let sizes = match self.sizes_or_stated(param, |_, stated, _| Some((of(stated)?, vec![])))? {
            Some(sizes) => sizes,
            None => self.sizes(param)?,
        };
        Ok(sizes.into_iter().flatten().collect())
    }

    /// A list of known length.
    pub(in super::super) fn known_list(&mut self, param: &Param<'m, Vec<i64>>) -> Made<(Value, usize)> {
        let list = self.as_list(param)?;
        match self.g.shape(list)[0].as_ref().and_then(Poly::as_const).and_then(|n| usize::try_from(n).ok()) {
            Some(length) if length <= MAX_RANK => Ok((list, length)),
            Some(length) => fail(rank_message(length)),
            None => fail("takes sizes from a list of which it is not known how many it has"),
        }
    }

    /// A value that is a list and decides sizes.
    pub(in super::super) fn list(&mut self, name: &'m str) -> Made {
        let value = self.deciding(name)?;
        match self.g.rank(value) {
            1 => Ok(value),
            rank => wrong(format!("takes a list from `{name}`, which has rank {rank}")),
        }
    }

    /// A list of integers, all known.
    pub(in super::super) fn known(&mut self, param: &Param<'m, Vec<i64>>, what: &str) -> Made<Vec<i64>> {
        let sizes = self.told(param)?;
        match sizes.iter().map(|s| s.as_ref().and_then(Poly::as_const)).collect() {
            Some(known) => Ok(known),
            None => fail(format!("`{what}` must be constant")),
        }
    }

    /// A list of sizes, which may be data.
    pub(in super::super) fn all_sizes(&mut self, param: &Param<'m, Vec<i64>>) -> Made<Vec<Poly>> {
        Ok(self.sizes(param)?.into_iter().flatten().collect())
    }

    /// A list of numbers, which may be negative, all of which follow from shapes.
    fn all_told(&mut self, param: &Param<'m, Vec<i64>>, what: &str) -> Made<Vec<Poly>> {
        let sizes = self.told(param)?;
        let Param::Value(name) = param else { return Ok(sizes.into_iter().flatten().collect()) };
        match sizes.iter().position(Option::is_none) {
            Some(i) => fail(format!("number {i} of its {what}, `{name}`, depends on data; it must follow from shapes")),
            None => Ok(sizes.into_iter().flatten().collect()),
        }
    }

    /// One size.
    pub(in super::super) fn size(&mut self, param: &Param<'m, Scalar>) -> Made<Option<Poly>> {
        match param {
            Param::Known(Scalar::Int(v)) => Ok(i64::try_from(*v).ok().map(Poly::from)),
            Param::Known(_) => Ok(None),
            Param::Value(name) => {
                let value = self.deciding(name)?;
                Ok(self.g.contents(value).and_then(|c| c.first().cloned().flatten()))
            }
        }
    }

    fn fill(&mut self, shape: &Param<'m, Vec<i64>>, value: &Tensor) -> Made {
        let sizes = self.stated_or_any(shape, |stated| Some(stated.to_vec()))?.into_iter().map(Some).collect();
        let (cx, elem) = (self.cx(), literal::element_type(self.cx(), value.element)?);
        let Some(number) = value.scalar() else {
            return fail(format!("fills with a number of type {}, which is not supported", value.element));
        };
        let number = literal::number(cx, number, elem);
        self.not_negative(&sizes, "size")?;
        let known: Option<Vec<i64>> = sizes.iter().map(|s| s.as_ref().and_then(Poly::as_const)).collect();
        if let Some(dims) = known {
            constants::has_a_size(cx, &dims, elem)?;
            if let Some(value) = cx.splat_attr(cx.tensor_type(&dims, elem, None), number) {
                return Ok(self.g.constant(value));
            }
        }
        Ok(self.g.generate(&sizes, elem, |s| s.constant(number, elem))?)
    }

    fn range(
        &mut self,
        (start, limit, delta): (&Param<'m, Scalar>, &Param<'m, Scalar>, &Param<'m, Scalar>),
        first: &'m str,
    ) -> Made {
        let elem = self.elem_of(first).unwrap_or(Type::I64);
        let given = [start, limit, delta];
        if elem.is_float(self.cx()) {
            return self.range_by_data(given, elem);
        }
        let (start, limit, delta) = (self.size(start)?, self.size(limit)?, self.size(delta)?);
        if delta.as_ref().is_some_and(Poly::is_zero) {
            return wrong("has a delta of 0");
        }
        let mut exact = None;
        if let (Some(start), Some(limit), Some(delta)) = (constant(&start), constant(&limit), constant(&delta)) {
            exact = Some(constants::range_len(start, limit, delta)?);
        }
        let (Some(start), Some(limit), Some(delta)) = (start, limit, delta) else {
            return self.range_by_data(given, elem);
        };
        let Some(step) = delta.as_const().filter(|d| *d != 0 && *d != i64::MIN) else {
            return self.range_by_data(given, elem);
        };
        let distance = if step > 0 { limit.sub(&start) } else { start.sub(&limit) };
        // A step beyond the limit is as good as one to it, and easier to compute with.
        let farthest = i64::try_from(self.g.env.facts.range(&distance).1).unwrap_or(i64::MAX).max(1);
        let step = step.clamp(-farthest, farthest);
        let symbolic = || self.g.env.facts.canonical(&distance.greater(&0.into()).ceildiv(step.abs()));
        let count = exact.map_or_else(symbolic, Poly::from);
        Ok(self.g.generate(&[Some(count)], elem, |s| {
            let (i, step, start) = (s.index(0), s.int(step, Type::INDEX), s.size(&start));
            let scaled = s.mul(i, step);
            let at = s.add(scaled, start);
            s.cast(at, elem)
        })?)
    }

    fn range_by_data(&mut self, bounds: [&Param<'m, Scalar>; 3], elem: Type) -> Made {
        let mut values = Vec::new();
        for bound in bounds {
            values.push(match bound {
                Param::Value(name) => {
                    let value = self.deciding(name)?;
                    self.number(value, "bound of a range")?
                }
                Param::Known(number) => {
                    let number = literal::number(self.cx(), *number, elem);
                    self.g.generate(&[], elem, |s| s.constant(number, elem))?
                }
            });
        }
        match values[..] {
            [start, limit, delta] => sizes_by_data::range(self, [start, limit, delta]),
            _ => fail("has no bounds"),
        }
    }

    fn shape(&mut self, x: &'m str, start: i64, end: Option<i64>) -> Made {
        let x = self.value(x)?;
        let shape = self.g.shape_of(x);
        if start == 0 && end.is_none() {
            return Ok(shape);
        }
        let bounds = SliceBounds::Known(vec![start], vec![end.unwrap_or(i64::MAX)]);
        Ok(self.g.slice(shape, &[0], &bounds, &[1])?)
    }

    fn reshape(&mut self, x: &'m str, shape: &Param<'m, Vec<i64>>, zero_copies: bool) -> Made {
        let x = self.value(x)?;
        let known = match shape {
            Param::Value(name) => {
                if self.is_data(shape)? {
                    let own = self.g.shape(x);
                    let sizes = self.sizes_or_stated(shape, |_, stated, _| {
                        // -1 is what remains, and 0 may be the input's own size.
                        let copied = |(i, n): (usize, &i64)| {
                            let own = own.get(i).and_then(constant);
                            if zero_copies && own == Some(*n) { 0 } else { *n }
                        };
                        let copies = stated.iter().enumerate().map(copied).collect();
                        Some((stated.to_vec(), vec![vec![-1; stated.len()], copies]))
                    })?;
                    let sizes = match sizes {
                        Some(sizes) => sizes,
                        None => {
                            let list = self.known_list(shape)?;
                            let sizes = sizes_by_data::reshaped(self, &own, list, zero_copies)?;
                            sizes.into_iter().map(Some).collect()
                        }
                    };
                    return Ok(self.g.reshape_to(x, &sizes)?);
                }
                let shape = self.list(name)?;
                if let Some(contents) = self.g.contents(shape) {
                    let asked: Vec<Option<i64>> = contents.iter().map(constant).collect();
                    constants::reshape_fits(&self.g.shape(x), &asked, zero_copies)?;
                }
                return Ok(self.g.reshape(x, shape, !zero_copies)?);
            }
            Param::Known(known) => known,
        };
        if known.len() > MAX_RANK {
            return fail(format!("makes a tensor that {}", rank_message(known.len())));
        }
        let asked: Vec<Option<i64>> = known.iter().copied().map(Some).collect();
        constants::reshape_fits(&self.g.shape(x), &asked, zero_copies)?;
        let input = self.g.shape(x);
        if let Some(i) = known.iter().skip(input.len()).position(|s| *s == 0).filter(|_| zero_copies) {
            let (i, rank) = (i + input.len(), input.len());
            return fail(format!(
                "asks for the shape {known:?}: the 0 at {i} copies a dimension that rank {rank} lacks"
            ));
        }
        let size = |(i, size): (usize, &i64)| match size {
            0 if zero_copies => input.get(i).cloned().flatten(),
            -1 => None,
            size => Some(Poly::constant(*size)),
        };
        let sizes: SymShape = known.iter().enumerate().map(size).collect();
        if sizes.iter().filter(|s| s.is_none()).count() <= 1 {
            let made = self.g.reshape_to(x, &sizes)?;
            if input.iter().all(Option::is_some) && self.g.shape(made).iter().any(Option::is_none) {
                let elements = Poly::product(input.iter().flatten());
                return fail(format!("asks for the shape {known:?} of {elements} elements"));
            }
            return Ok(made);
        }
        let shape = self.g.int_list(known)?;
        Ok(self.g.reshape(x, shape, !zero_copies)?)
    }

    fn split(&mut self, x: &'m str, axis: i64, parts: usize, sizes: Option<&Param<'m, Vec<i64>>>) -> Made<Vec<Value>> {
        let x = self.value(x)?;
        let shape = self.g.shape(x);
        let axis = self.g.axis(axis, shape.len())?;
        let whole = shape[axis].clone();
        if let Some(lengths) = sizes
            && self.is_data(lengths)?
        {
            let lengths = self.as_list(lengths)?;
            let (found, wanted) = (self.g.shape(lengths)[0].clone(), Some(Poly::constant(parts as i64)));
            self.g.unify(&found, &wanted, || "numbers of `split` and of outputs".into())?;
            return by_data::split(self, x, (axis, parts), lengths);
        }
        let sizes = match sizes {
            Some(sizes) => self.known(sizes, "split")?,
            None => match whole.as_ref().and_then(Poly::as_const) {
                Some(whole) => {
                    let count = parts.max(1) as i64;
                    let each = whole / count + i64::from(whole % count > 0);
                    (0..count).map(|i| (whole - i.saturating_mul(each)).clamp(0, each)).collect()
                }
                None => return self.split_evenly(x, axis, parts, whole),
            },
        };
        let sum = constants::sum_of_parts(&sizes, parts)?;
        self.g.unify(&whole, &Some(sum.into()), || format!("dimension {axis} and the sum of the parts"))?;
        let mut start = 0;
        let mut values = Vec::with_capacity(parts);
        for size in sizes {
            let bounds = SliceBounds::Known(vec![start], vec![start + size]);
            values.push(self.g.slice(x, &[axis], &bounds, &[1])?);
            start += size;
        }
        Ok(values)
    }

    /// Equal parts of a size that is not a number: a dimension of parts, and one index of it each.
    fn split_evenly(&mut self, x: Value, axis: usize, parts: usize, whole: Option<Poly>) -> Made<Vec<Value>> {
        let count = parts as i64;
        let each = whole.filter(|w| self.g.env.facts.divisible(w, count)).and_then(|w| w.divide_exact(&count.into()));
        let Some(each) = each else {
            return fail(format!("splits a size that is not known to be a multiple of {parts}"));
        };
        let (mut shape, elem) = (self.g.shape(x), self.g.elem(x));
        shape[axis] = Some(each);
        let rank = shape.len();
        let mut parted = shape.clone();
        parted.insert(axis, Some(count.into()));
        let table = self.g.reshape_to(x, &parted)?;
        let part = |i: i64| {
            let mut index = self.g.dims(0..rank);
            index.insert(axis, self.cx().affine_const(i));
            let inputs = vec![ComputeInput { value: table, index, oob: None }];
            let index = self.g.dims(0..rank);
            let result = ComputeResult { shape: shape.clone(), elem, index, combiner: None };
            let kinds = vec![IteratorKind::Parallel; rank];
            let op = self.g.compute(&kinds, inputs, vec![result], |_, args| vec![args[0]]);
            self.g.b.body().result(op, 0)
        };
        Ok((0..count).map(part).collect())
    }

    /// Whether elements of a list are data.
    pub(in super::super) fn is_data(&mut self, param: &Param<'m, Vec<i64>>) -> Made<bool> {
        let Param::Value(name) = param else { return Ok(false) };
        let list = self.list(name)?;
        Ok(self.g.contents(list).is_none_or(|contents| contents.iter().any(Option::is_none)))
    }

    /// A list as a tensor of integers of 64 bits.
    fn as_list(&mut self, param: &Param<'m, Vec<i64>>) -> Made {
        match param {
            Param::Known(known) => Ok(self.g.int_list(known)?),
            Param::Value(name) => {
                let list = self.list(name)?;
                Ok(self.g.cast(list, Type::I64)?)
            }
        }
    }

    fn slice_by_data(&mut self, x: Value, slice: &Slice<'m>) -> Made {
        let (starts, ends) = (self.as_list(&slice.starts)?, self.as_list(&slice.ends)?);
        let Some(count) = self.g.shape(starts)[0].as_ref().and_then(Poly::as_const).filter(|n| *n < 1 << 16) else {
            return fail("has `starts` of which it is not known how many there are");
        };
        let axes = match &slice.axes {
            Some(axes) => self.as_list(axes)?,
            None => self.g.int_list(&(0..count).collect::<Vec<i64>>())?,
        };
        let steps = match &slice.steps {
            Some(steps) => self.as_list(steps)?,
            None => self.g.int_list(&vec![1; count as usize])?,
        };
        for list in [ends, axes, steps] {
            let (first, other) = (self.g.shape(starts)[0].clone(), self.g.shape(list)[0].clone());
            self.g.unify(&first, &other, || "lengths of `starts`, `ends`, `axes` and `steps`".into())?;
        }
        by_data::slice(self, x, by_data::Bounds { axes, starts, ends, steps })
    }

    fn slice(&mut self, slice: &Slice<'m>) -> Made {
        let x = self.value(slice.x)?;
        let rank = self.g.rank(x);
        let lists = [Some(&slice.starts), Some(&slice.ends), slice.axes.as_ref(), slice.steps.as_ref()];
        for list in lists.into_iter().flatten() {
            if self.is_data(list)? {
                return self.slice_by_data(x, slice);
            }
        }
        let (starts, ends) = (self.bounds(&slice.starts)?, self.bounds(&slice.ends)?);
        let count = starts.0.len();
        let axes = match &slice.axes {
            Some(axes) => {
                let axes = self.known(axes, "axes")?;
                axes.iter().map(|a| self.g.axis(*a, rank)).collect::<Result<Vec<usize>, _>>()?
            }
            None => (0..count).collect(),
        };
        if axes.len() != count || ends.0.len() != count {
            return wrong("`starts`, `ends` and `axes` differ in length");
        }
        if axes.iter().enumerate().any(|(i, a)| axes[..i].contains(a) || *a >= rank) {
            return wrong("names an axis twice, or more axes than there are");
        }
        let steps = match &slice.steps {
            Some(steps) => self.known(steps, "steps")?,
            None => vec![1; axes.len()],
        };
        if self.counts_from_either_end(x, &axes, (&starts.0, &ends.0), &steps) {
            return self.slice_by_data(x, slice);
        }
        let constant = |bounds: &(Contents, Option<Value>)| {
            bounds.0.iter().map(|b| b.as_ref().and_then(Poly::as_const)).collect::<Option<Vec<i64>>>()
        };
        let bounds = match (constant(&starts), constant(&ends)) {
            (Some(starts), Some(ends)) => SliceBounds::Known(starts, ends),
            _ => SliceBounds::Values(self.bound_value(starts)?, self.bound_value(ends)?),
        };
        Ok(self.g.slice(x, &axes, &bounds, &steps)?)
    }

    /// Whether only the run tells from which end a bound counts, in a way that no size says: then the bounds are data.
    fn counts_from_either_end(
        &self,
        x: Value,
        axes: &[usize],
        (starts, ends): (&Contents, &Contents),
        steps: &[i64],
    ) -> bool {
        let (shape, facts) = (self.g.shape(x), &self.g.env.facts);
        // What is wrong with steps is said where the slice is made.
        let step = |i: usize| steps.get(i).filter(|step| **step != 0 && **step != i64::MIN);
        axes.iter().enumerate().any(|(i, axis)| match (&shape[*axis], &starts[i], &ends[i], step(i)) {
            (Some(size), Some(start), Some(end), Some(step)) => slice_len(start, end, *step, size, facts).is_none(),
            _ => false,
        })
    }

    /// Bounds as far as they are known, and their tensor if there is one.
    pub(in super::super) fn bounds(&mut self, param: &Param<'m, Vec<i64>>) -> Made<(Contents, Option<Value>)> {
        match param {
            Param::Known(values) => Ok((values.iter().map(|v| Some(Poly::constant(*v))).collect(), None)),
            Param::Value(name) => {
                let value = self.deciding(name)?;
                let length = match &self.g.shape(value)[..] {
                    [Some(length)] => length.as_const().and_then(|n| usize::try_from(n).ok()),
                    _ => None,
                };
                let Some(length) = length else { return fail(format!("`{name}` must be a list of known length")) };
                Ok((self.g.contents(value).unwrap_or_else(|| vec![None; length]), Some(value)))
            }
        }
    }

    fn bound_value(&mut self, bounds: (Contents, Option<Value>)) -> Made {
        match bounds {
            (_, Some(value)) => Ok(value),
            (known, None) => {
                let known: Vec<i64> = known.iter().flatten().filter_map(Poly::as_const).collect();
                Ok(self.g.int_list(&known)?)
            }
        }
    }

    fn pad(
        &mut self,
        x: &'m str,
        mode: PadMode,
        pads: &Param<'m, Vec<i64>>,
        value: Option<&Param<'m, Scalar>>,
        axes: Option<&Param<'m, Vec<i64>>>,
    ) -> Made {
        let x = self.value(x)?;
        let rank = self.g.rank(x);
        let has_data = axes.map(|axes| self.is_data(axes)).transpose()?.unwrap_or(false) || self.is_data(pads)?;
        if has_data || matches!(value, Some(Param::Value(_))) {
            return self.pad_by_data(x, mode, pads, value, axes);
        }
        let pads = self.all_told(pads, "pads")?;
        let axes = axes.map(|axes| self.known(axes, "axes")).transpose()?;
        let axes = match axes {
            Some(axes) => axes.iter().map(|a| self.g.axis(*a, rank)).collect::<Result<Vec<usize>, _>>()?,
            None => (0..rank).collect(),
        };
        if pads.len() != 2 * axes.len() {
            return wrong(format!("has {} pads for {} axes", pads.len(), axes.len()));
        }
        if let Some(twice) = axes.iter().enumerate().find(|(i, axis)| axes[..*i].contains(axis)) {
            return wrong(format!("names axis {} twice", twice.1));
        }
        let (mut before, mut after) = (vec![Poly::default(); rank], vec![Poly::default(); rank]);
        for (i, axis) in axes.iter().enumerate() {
            (before[*axis], after[*axis]) = (pads[i].clone(), pads[axes.len() + i].clone());
        }
        let kind = match mode {
            PadMode::Constant => PadKind::Constant(self.pad_value(x, value)?),
            PadMode::Edge => PadKind::Edge,
            PadMode::Reflect => PadKind::Reflect,
            PadMode::Wrap => PadKind::Wrap,
        };
        Ok(self.g.pad(x, &before, &after, kind)?)
    }

    /// Padding where something is data. The sizes of the result are those that the model states, or what constant pads make.
    fn pad_by_data(
        &mut self,
        x: Value,
        mode: PadMode,
        pads: &Param<'m, Vec<i64>>,
        value: Option<&Param<'m, Scalar>>,
        axes: Option<&Param<'m, Vec<i64>>>,
    ) -> Made {
        let rank = self.g.rank(x);
        let whole = Param::Known((0..rank as i64).collect());
        let (list, named) = (self.as_list(pads)?, self.as_list(axes.unwrap_or(&whole))?);
        let Some(count) = self.g.shape(named)[0].as_ref().and_then(Poly::as_const) else {
            return fail("has `axes` of which it is not known how many there are");
        };
        let (found, wanted) = (self.g.shape(list)[0].clone(), Some(Poly::constant(2 * count)));
        self.g.unify(&found, &wanted, || "numbers of pads and twice that of the axes".into())?;
        let half = |of: &mut Self, from: i64| {
            let bounds = SliceBounds::Known(vec![from], vec![from + count]);
            let half = of.g.slice(list, &[0], &bounds, &[1])?;
            by_data::scattered(of, rank, named, half, 0)
        };
        let (before, after) = (half(self, 0)?, half(self, count)?);
        let stated = self.stated.clone().filter(|stated| stated.len() == rank);
        let sizes = match stated {
            Some(stated) => stated.into_iter().map(Poly::constant).collect(),
            None if matches!(pads, Param::Known(_)) && axes.is_none_or(|axes| matches!(axes, Param::Known(_))) => {
                let (pads, axes) = (self.known(pads, "pads")?, self.known(axes.unwrap_or(&whole), "axes")?);
                let axes = axes.iter().map(|a| self.g.axis(*a, rank)).collect::<Result<Vec<usize>, _>>()?;
                let own: Option<Vec<Poly>> = self.g.shape(x).into_iter().collect();
                let Some(mut sizes) = own else { return fail("pads a dim whose size depends on data") };
                for (i, axis) in axes.iter().enumerate() {
                    sizes[*axis] = sizes[*axis].add(&pads[i].into()).add(&pads[axes.len() + i].into());
                }
                self.not_negative(&sizes.iter().cloned().map(Some).collect(), "size")?;
                sizes
            }
            None => {
                let own: Option<Vec<Poly>> = self.g.shape(x).into_iter().collect();
                let Some(own) = own else { return fail("pads a dim whose size depends on data") };
                let told = self.told_pads(&own, list, named);
                sizes_by_data::padded(self, &own, &told, (before, after))?
            }
        };
        let value = match (mode, value) {
            (PadMode::Constant, Some(Param::Value(name))) => Some(self.value(name)?),
            (PadMode::Constant, value) => {
                let number = self.pad_value(x, value)?;
                let elem = self.g.elem(x);
                Some(self.g.generate(&[], elem, |s| s.constant(number, elem))?)
            }
            _ => None,
        };
        by_data::pad(self, x, by_data::Pads { before, after, sizes: &sizes, mode, value })
    }

    /// The sizes of padded dims for which the list tells both pads, if it is known of which dims it is.
    fn told_pads(&self, own: &[Poly], list: Value, axes: Value) -> Vec<Option<Poly>> {
        let (rank, unknown) = (own.len() as i64, vec![None; own.len()]);
        let (Some(pads), Some(axes)) = (self.g.contents(list), self.g.contents(axes)) else { return unknown };
        let Some(axes) = axes.iter().map(constant).collect::<Option<Vec<i64>>>() else { return unknown };
        let told = |(d, own): (usize, &Poly)| {
            let is_it = |axis: &i64| *axis == d as i64 || *axis + rank == d as i64;
            match axes.iter().position(is_it) {
                None => Some(own.clone()),
                Some(at) => Some(own.add(pads.get(at)?.as_ref()?).add(pads.get(axes.len() + at)?.as_ref()?)),
            }
        };
        own.iter().enumerate().map(told).collect()
    }

    fn pad_value(&self, x: Value, value: Option<&Param<'m, Scalar>>) -> Made<Attr> {
        match value {
            None => Ok(literal::number(self.cx(), Scalar::Int(0), self.g.elem(x))),
            Some(Param::Known(value)) => Ok(literal::number(self.cx(), *value, self.g.elem(x))),
            Some(Param::Value(name)) => fail(format!("pads with `{name}`, which is no constant")),
        }
    }
}

/// A size that is a number.
fn constant(size: &Option<Poly>) -> Option<i64> {
    size.as_ref().and_then(Poly::as_const)
}
