//! What a model computes from constants while it is read: the arithmetic of its shapes. What has no result there is an error of
//! the model, whatever its inputs are: a division by zero, an index outside a tensor, a negative size, and a number that does
//! not fit its type where it decides a size. Elsewhere such a number wraps around, as it does at run time.

use rustc_hash::FxHashMap;
use sutura_dialects::complex::part_type;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::is_unsigned;
use sutura_dialects::graph::{Contents, MAX_ITERATORS, SymShape};
use sutura_ir::asm::print::type_text;
use sutura_ir::{Context, Type, Value};

use super::super::model::Attribute;
use super::super::op::{Binary, Op, Reduction, Unary};
use super::super::support::TypedNode;
use super::super::tensor::ElementType;
use super::{Importer, Item, Made, fail, literal, wrong};

/// Floats that are looked at one by one.
const MOST_FLOATS: usize = 16;

/// Operators that take complex numbers here: such that move elements, of those that ONNX has for them.
const MOVES_COMPLEX: [&str; 23] = [
    "Compress",
    "Concat",
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Reshape",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Shape",
    "Size",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
];

impl<'m> Importer<'m, '_, '_> {
    /// Refuses operators of complex numbers that do more than move them.
    fn check_complex(&mut self, node: &TypedNode<'m>) -> Made<()> {
        let is_complex = |ty: &Type| part_type(self.cx(), *ty).is_some();
        let names: Vec<&str> = node.node.inputs.iter().flatten().map(String::as_str).collect();
        let Some(elem) = names.into_iter().filter_map(|name| self.elem_of(name)).find(is_complex) else {
            return Ok(());
        };
        let reduces = match node.node.attributes.get("reduction") {
            Some(Attribute::String(how)) => how[..] != *b"none",
            how => how.is_some(),
        };
        if MOVES_COMPLEX.contains(&node.node.op_type.as_str()) && !reduces {
            return Ok(());
        }
        fail(format!("is of tensors of {}, which is not supported", self.name_of(elem)))
    }

    /// The values that a node makes, after a look at what constants say of it.
    pub(super) fn checked(&mut self, node: &TypedNode<'m>) -> Made<Vec<Item>> {
        self.check_types(node)?;
        self.check_complex(node)?;
        self.check_operands(&node.op)?;
        let items: Vec<Item> = match &node.op {
            Op::Converted(conversion) => conversion.items(self)?,
            Op::Identity { x } => vec![self.item(x)?],
            op => self.operator(op)?.into_iter().map(Item::Tensor).collect(),
        };
        let values: Vec<Value> = items.iter().flat_map(Item::tensors).collect();
        if let Some(dims) = self.g.take_too_deep() {
            return fail(format!("needs loops over {dims} dims; at most {MAX_ITERATORS} are supported"));
        }
        values.iter().try_for_each(|value| self.check_result(*value))?;
        self.note_overflow(node, &values);
        Ok(items)
    }

    /// A value that decides sizes.
    ///
    /// # Errors
    /// When it was computed and did not fit its type.
    pub(in super::super) fn deciding(&mut self, name: &'m str) -> Made {
        let value = self.value(name)?;
        match self.overflows.get(&value) {
            Some(overflow) => wrong(format!("has sizes from `{name}`, where {overflow}")),
            None => Ok(value),
        }
    }

    /// That inputs have the element types that the operator says.
    fn check_types(&mut self, node: &TypedNode<'m>) -> Made<()> {
        let mut known: FxHashMap<&str, (&str, Type)> = FxHashMap::default();
        for (name, formal) in node.node.inputs.iter().zip(node.interface.formals_of_inputs()) {
            let Some((name, elem)) = name.as_deref().and_then(|name| Some((name, self.elem_of(name)?))) else {
                continue;
            };
            self.check_type(name, elem, &formal.types)?;
            let Some(variable) = formal.type_variable else { continue };
            let (first, wanted) = *known.entry(variable).or_insert((name, elem));
            if elem != wanted {
                let (elem, wanted) = (self.name_of(elem), self.name_of(wanted));
                return wrong(format!(
                    "`{first}` is of {wanted} and `{name}` of {elem}, but they must have one element type"
                ));
            }
        }
        Ok(())
    }

    /// That an input's element type is one of `types`, if any are named.
    pub(in super::super) fn check_type(&self, name: &str, elem: Type, types: &[ElementType]) -> Made<()> {
        let of = |ty: &ElementType| literal::element_type(self.cx(), *ty).is_ok_and(|ty| ty == elem);
        if types.is_empty() || types.iter().any(of) {
            return Ok(());
        }
        let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
        wrong(format!("`{name}` is of {}, but it must be of {}", self.name_of(elem), types.join(" or ")))
    }

    /// An element type as ONNX calls it.
    pub(in super::super) fn name_of(&self, elem: Type) -> String {
        if elem == Type::I1 { ElementType::Bool.name().to_owned() } else { type_text(self.cx(), elem) }
    }

    /// The element type of a value that was made, or of a weight.
    pub(super) fn elem_of(&self, name: &str) -> Option<Type> {
        match self.values.get(name) {
            Some(Item::Tensor(value)) => Some(self.g.elem(*value)),
            Some(_) => None,
            None => literal::element_type(self.cx(), self.weight(name)?.element).ok(),
        }
    }

    fn check_operands(&mut self, op: &Op<'m>) -> Made<()> {
        match op {
            Op::Binary { function: Binary::Div | Binary::Mod | Binary::IntegerMod | Binary::Remainder, a, b } => {
                let values = (self.value(a)?, self.value(b)?);
                self.check_divisor(values, (a, b))
            }
            Op::Gather { x, indices, axis } | Op::GatherElements { x, indices, axis } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let axis = self.g.axis(*axis, self.g.rank(x))?;
                self.check_indices(x, indices, |_| axis)
            }
            Op::Scatter { x, indices, axis: Some(axis), .. } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let axis = self.g.axis(*axis, self.g.rank(x))?;
                self.check_indices(x, indices, |_| axis)
            }
            Op::Scatter { x, indices, axis: None, .. } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let last = self.g.shape(indices).last().cloned().flatten();
                match last.and_then(|n| n.as_const()).and_then(|n| usize::try_from(n).ok()) {
                    Some(count @ 1..) => self.check_indices(x, indices, |i| i % count),
                    // Building it says what is wrong.
                    _ => Ok(()),
                }
            }
            Op::GatherNd { x, indices, batch_dims } => {
                let (x, indices) = (self.value(x)?, self.value(indices)?);
                let last = self.g.shape(indices).last().cloned().flatten();
                let count = last.and_then(|n| n.as_const()).and_then(|n| usize::try_from(n).ok());
                match (count, usize::try_from(*batch_dims)) {
                    (Some(count @ 1..), Ok(first)) => self.check_indices(x, indices, |i| first + i % count),
                    // Building it says what is wrong.
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn check_divisor(&self, (a, b): (Value, Value), (dividend, divisor): (&str, &str)) -> Made<()> {
        let nothing = |value| self.g.shape(value).iter().flatten().any(Poly::is_zero);
        if nothing(a) || nothing(b) {
            return Ok(());
        }
        let zero = self.integers(b).and_then(|mut all| all.position(|n| n == Some(0)));
        let Some(at) = zero else { return Ok(()) };
        let single = self.few(a).filter(|all| all.len() == 1).and_then(|all| all[0]);
        match single {
            Some(number) => wrong(format!("divides {number} by 0: `{dividend}` by `{divisor}`")),
            None => wrong(format!("divides `{dividend}` by 0: element {at} of `{divisor}`")),
        }
    }

    /// Constant indices that are outside whatever the inputs are; `axis` says of each which dim of `x` it is for.
    fn check_indices(&self, x: Value, indices: Value, axis: impl Fn(usize) -> usize) -> Made<()> {
        let Some(known) = self.integers(indices) else { return Ok(()) };
        let shape = self.g.shape(x);
        let most: Vec<i128> =
            shape.iter().map(|size| size.as_ref().map_or(i128::MAX, |size| self.g.env.facts.range(size).1)).collect();
        for (i, index) in known.enumerate() {
            let Some(index) = index else { continue };
            let axis = axis(i);
            let Some(most) = most.get(axis) else { return Ok(()) };
            let wide = i128::from(index);
            if wide >= *most || wide < -most {
                let size = shape[axis].as_ref().map_or(String::new(), Poly::to_string);
                return wrong(format!("takes index {index} of dim {axis}, which has size {size}"));
            }
        }
        Ok(())
    }

    /// Every dim is at least 0, and the number of bytes one that there is.
    fn check_result(&self, value: Value) -> Made<()> {
        let (cx, shape, facts) = (self.cx(), self.g.shape(value), &self.g.env.facts);
        for (d, size) in shape.iter().enumerate() {
            let Some(size) = size else { continue };
            let (least, most) = facts.range(size);
            if least > i64::MAX.into() {
                return wrong(format!("makes dim {d} of size {size}, which 64 bits do not hold"));
            }
            if most < 0 {
                return match size.as_const() {
                    Some(size) => wrong(format!("makes dim {d} of size {size}, which is negative")),
                    None => wrong(format!("makes dim {d} of size {size}, which is negative for all inputs")),
                };
            }
        }
        let sizes: Vec<i64> = shape.iter().flatten().filter_map(Poly::as_const).collect();
        fits(&sizes, bytes_of(cx, self.g.elem(value)))
    }

    /// No size that a node computes is negative: those that depend on inputs are looked at in every run, also where what has the
    /// size is not made as a tensor.
    ///
    /// # Errors
    /// When one is negative for all inputs.
    pub(in super::super) fn not_negative(&mut self, sizes: &Contents, what: &str) -> Made<()> {
        for (i, size) in sizes.iter().enumerate() {
            let Some(size) = size else { continue };
            let (least, most) = self.g.env.facts.range(size);
            if most < 0 {
                return match size.as_const() {
                    Some(size) => wrong(format!("has the {what} {size} for dim {i}, which is negative")),
                    None => wrong(format!("has the {what} {size} for dim {i}, which is negative for all inputs")),
                };
            }
            if least < 0 {
                let zero = Poly::default();
                let below = Some(size.lesser(&zero));
                self.g.unify(&below, &Some(zero), || format!("the {what} `{}` for dim {i}", size.brief()))?;
            }
        }
        Ok(())
    }

    /// Integers of a tensor as far as they are known, in order: of a small one, or of a constant, where one may stand for all.
    fn integers(&self, value: Value) -> Option<Box<dyn Iterator<Item = Option<i64>> + '_>> {
        if let Some(few) = self.few(value) {
            return Some(Box::new(few.into_iter()));
        }
        let (cx, bits) = (self.cx(), self.integer_bits(self.g.elem(value))?);
        let dense = cx.dense(sutura_ir::registry::constant_of(self.g.b.body(), cx, value)?)?;
        let signed = move |word: u64| ((word << (64 - bits)) as i64) >> (64 - bits);
        let different = if dense.is_splat() { dense.len().min(1) } else { dense.len() };
        Some(Box::new((0..different).map(move |i| Some(signed(dense.word(i))))))
    }

    /// The integers of a tensor that is small enough to decide sizes.
    fn few(&self, value: Value) -> Option<Vec<Option<i64>>> {
        self.integer_bits(self.g.elem(value))?;
        let contents = self.g.contents(value)?;
        Some(contents.iter().map(|n| n.as_ref().and_then(Poly::as_const)).collect())
    }

    fn integer_bits(&self, elem: Type) -> Option<u32> {
        let cx = self.cx();
        cx.bit_width(elem).filter(|bits| !elem.is_float(cx) && (2..=64).contains(bits))
    }

    /// Remembers that the results of a node do not fit their type, or were made from such numbers.
    fn note_overflow(&mut self, node: &TypedNode<'m>, values: &[Value]) {
        let overflow = self.overflow(&node.op).map(|text| format!("node {} computes {text}", node.node.label()));
        let overflow = overflow.or_else(|| {
            // Sizes of a tensor do not depend on its elements.
            let inputs = node.node.inputs.iter().flatten().filter(|_| !matches!(node.op, Op::Shape { .. }));
            inputs.filter_map(|name| self.overflows.get(&self.tensor_of(name.as_str())?)).next().cloned()
        });
        let Some(overflow) = overflow else { return };
        for value in values {
            self.overflows.entry(*value).or_insert_with(|| overflow.clone());
        }
    }

    /// What an operator computes from constants and does not fit, in words.
    fn overflow(&mut self, op: &Op<'m>) -> Option<String> {
        match op {
            Op::Binary { function, a, b } => {
                let (x, y) = (self.value(a).ok()?, self.value(b).ok()?);
                let fits = self.range_of(self.g.elem(x))?;
                self.pairs(x, y)?.into_iter().find_map(|(x, y)| {
                    let result = exact(*function, x?, y?)?;
                    let sign = symbol(*function);
                    (!fits.contains(&result)).then(|| {
                        format!("{} {sign} {}, which does not fit", x.unwrap_or_default(), y.unwrap_or_default())
                    })
                })
            }
            Op::Unary { function: Unary::Neg | Unary::Abs, x } => {
                let x = self.value(x).ok()?;
                let least = *self.range_of(self.g.elem(x))?.start();
                let found = self.few(x)?.into_iter().flatten().any(|n| i128::from(n) == least);
                found.then(|| format!("the negative of {least}, which does not fit"))
            }
            Op::Reduce { function, x, axes, .. } => {
                let x = self.value(x).ok()?;
                let fits = self.range_of(self.g.elem(x))?;
                let mut total = self.totals(*function, x, axes.as_deref())?.into_iter();
                let found = total.find(|n| n.is_none_or(|n| !fits.contains(&n)))?;
                Some(found.map_or("a number that does not fit".into(), |n| format!("{n}, which does not fit")))
            }
            Op::CumSum { x, .. } => {
                let x = self.value(x).ok()?;
                let fits = self.range_of(self.g.elem(x))?;
                let mut sum = 0_i128;
                let mut sums = self.few(x).filter(|_| self.g.rank(x) == 1)?.into_iter().map_while(|n| {
                    sum += i128::from(n?);
                    Some(sum)
                });
                sums.find(|sum| !fits.contains(sum)).map(|sum| format!("{sum}, which does not fit"))
            }
            Op::Cast { x, to, .. } => {
                let x = self.value(x).ok()?;
                let to = super::literal::element_type(self.cx(), *to).ok()?;
                let (fits, from) = (self.range_of(to)?, self.g.elem(x));
                if from.is_float(self.cx()) {
                    let lost = |x: &f64| !(x.trunc() >= *fits.start() as f64 && x.trunc() < *fits.end() as f64 + 1.0);
                    return self
                        .floats(x)?
                        .into_iter()
                        .find(lost)
                        .map(|x| format!("{x} as an integer, which does not fit"));
                }
                let lost = |n: &i64| !fits.contains(&i128::from(*n));
                let found = self.few(x)?.into_iter().flatten().find(lost)?;
                Some(format!("{found} in fewer bits, which does not fit"))
            }
            _ => None,
        }
    }

    /// What integers of this type can be.
    fn range_of(&self, elem: Type) -> Option<std::ops::RangeInclusive<i128>> {
        let half = 1_i128 << (self.integer_bits(elem)? - 1);
        Some(if is_unsigned(self.cx(), elem) { 0..=2 * half - 1 } else { -half..=half - 1 })
    }

    fn floats(&self, value: Value) -> Option<Vec<f64>> {
        let cx = self.cx();
        let dense = cx.dense(sutura_ir::registry::constant_of(self.g.b.body(), cx, value)?)?;
        let different = if dense.is_splat() { dense.len().min(1) } else { dense.len() };
        (different <= MOST_FLOATS).then(|| (0..different).filter_map(|i| cx.as_f64(dense.attr(i))).collect())
    }

    /// Sizes of a tensor that are all numbers.
    fn fixed(&self, value: Value) -> Option<Vec<usize>> {
        let size = |size: &Option<Poly>| usize::try_from(size.as_ref()?.as_const()?).ok();
        self.g.shape(value).iter().map(size).collect()
    }

    /// Elements of two small tensors that are broadcast together.
    fn pairs(&self, a: Value, b: Value) -> Option<Vec<(Option<i64>, Option<i64>)>> {
        let (x, y) = (self.few(a)?, self.few(b)?);
        let (from, to) = (self.fixed(a)?, self.fixed(b)?);
        let rank = from.len().max(to.len());
        let size = |shape: &[usize], d: usize| (d + shape.len()).checked_sub(rank).map_or(1, |d| shape[d]);
        let sizes: Vec<usize> =
            (0..rank).map(|d| if size(&from, d) == 1 { size(&to, d) } else { size(&from, d) }).collect();
        let at = |shape: &[usize], mut i: usize| {
            let (mut place, mut stride) = (0, 1);
            for d in (0..rank).rev() {
                let (index, own) = (i % sizes[d], size(shape, d));
                i /= sizes[d];
                place += if own == 1 { 0 } else { index * stride };
                stride *= own;
            }
            place
        };
        let count: usize = sizes.iter().product();
        (0..count).map(|i| Some((*x.get(at(&from, i))?, *y.get(at(&to, i))?))).collect()
    }

    /// Sums or products of a small tensor of known integers along axes; `None` for one beyond 128 bits.
    fn totals(&self, function: Reduction, x: Value, axes: Option<&[i64]>) -> Option<Vec<Option<i128>>> {
        let all: Vec<i64> = self.few(x)?.into_iter().collect::<Option<_>>()?;
        let sizes = self.fixed(x).filter(|sizes| sizes.iter().product::<usize>() == all.len())?;
        let axes = match axes {
            Some(axes) => self.g.axes(axes, sizes.len()).ok()?,
            None => (0..sizes.len()).collect(),
        };
        let start = i128::from(function == Reduction::Prod);
        let kept = |mut i: usize| {
            let mut place = 0;
            let mut stride = 1;
            for d in (0..sizes.len()).rev() {
                if !axes.contains(&d) {
                    place += i % sizes[d] * stride;
                    stride *= sizes[d];
                }
                i /= sizes[d];
            }
            place
        };
        let mut totals = vec![Some(start); all.len().max(1)];
        for (i, n) in all.iter().enumerate() {
            let n = i128::from(*n);
            let total = &mut totals[kept(i)];
            *total = total.and_then(|total| match function {
                Reduction::Prod => total.checked_mul(n),
                Reduction::Sum | Reduction::Mean => total.checked_add(n),
                Reduction::L1 => total.checked_add(n.abs()),
                Reduction::SumSquare => total.checked_add(n.checked_mul(n)?),
                _ => Some(0),
            });
        }
        Some(totals)
    }
}

/// The result for unbounded integers; `None` where there is none, or it is found elsewhere.
fn exact(function: Binary, a: i64, b: i64) -> Option<i128> {
    let (a, b) = (i128::from(a), i128::from(b));
    match function {
        Binary::Add => Some(a + b),
        Binary::Sub => Some(a - b),
        Binary::Mul => Some(a * b),
        Binary::Div => a.checked_div(b),
        Binary::Pow => Some(u32::try_from(b).ok().map_or(0, |b| a.saturating_pow(b))),
        _ => None,
    }
}

fn symbol(function: Binary) -> &'static str {
    match function {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Pow => "to the power of",
        _ => "/",
    }
}

fn bytes_of(cx: &Context, elem: Type) -> i64 {
    cx.bit_width(elem).map_or(1, |bits| i64::from(bits.div_ceil(8)))
}

/// The number of bytes of a tensor with these sizes, beside others, fits 64 bits.
fn fits(sizes: &[i64], bytes: i64) -> Made<()> {
    let total = sizes.iter().try_fold(bytes, |product, size| product.checked_mul(*size));
    match total {
        None if !sizes.contains(&0) => {
            wrong(format!("makes a tensor of sizes {sizes:?}, whose bytes 64 bits do not count"))
        }
        _ => Ok(()),
    }
}

/// That a tensor of these sizes can be.
pub(super) fn has_a_size(cx: &Context, sizes: &[i64], elem: Type) -> Made<()> {
    fits(sizes, bytes_of(cx, elem))
}

/// The number of elements of a range.
pub(super) fn range_len(start: i64, limit: i64, delta: i64) -> Made<i64> {
    let (start, limit, delta) = (i128::from(start), i128::from(limit), i128::from(delta));
    let distance = if delta > 0 { limit - start } else { start - limit };
    let step = delta.abs().max(1);
    let count = if distance > 0 { (distance + step - 1) / step } else { 0 };
    match i64::try_from(count).ok().filter(|n| n.checked_mul(8).is_some()) {
        Some(count) => Ok(count),
        None => wrong(format!("has {count} numbers, from {start} to {limit} by {delta}, which no tensor holds")),
    }
}

/// The sum of the sizes into which a dim is split.
pub(super) fn sum_of_parts(sizes: &[i64], parts: usize) -> Made<i64> {
    if sizes.len() != parts || sizes.iter().any(|size| *size < 0) {
        return wrong(format!("splits into parts of {sizes:?}, which are not sizes of {parts} outputs"));
    }
    match sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size)) {
        Some(sum) => Ok(sum),
        None => wrong(format!("splits into parts of {sizes:?}, whose sum does not fit 64 bits")),
    }
}

/// That a shape can be asked for, of a tensor of sizes `input`, as far as both are known.
pub(super) fn reshape_fits(input: &SymShape, asked: &[Option<i64>], zero_copies: bool) -> Made<()> {
    let shown = || {
        let entry = |n: &Option<i64>| n.map_or("?".to_string(), |n| n.to_string());
        format!("asks for the shape [{}]", asked.iter().map(entry).collect::<Vec<_>>().join(", "))
    };
    let number = |n: i64| asked.iter().filter(|a| **a == Some(n)).count();
    if asked.iter().flatten().any(|n| *n < -1) {
        return wrong(format!("{}: a size is at least 0, or -1 for what is left", shown()));
    }
    if number(-1) > 1 {
        return wrong(format!("{}: only one size can be -1", shown()));
    }
    if !zero_copies && number(-1) > 0 && number(0) > 0 {
        return wrong(format!("{}: with a size of 0, -1 may be anything", shown()));
    }
    let copied = |(i, n): (usize, &Option<i64>)| zero_copies && *n == Some(0) && i >= input.len();
    if let Some(i) = asked.iter().enumerate().position(copied) {
        return wrong(format!("{}: it copies dim {i}, and the input has {} dims", shown(), input.len()));
    }
    let size = |size: &Option<Poly>| size.as_ref().and_then(Poly::as_const);
    let wanted = |(i, n): (usize, &Option<i64>)| match n {
        Some(0) if zero_copies => size(&input[i]),
        n => *n,
    };
    let wanted: Option<Vec<i64>> = asked.iter().enumerate().map(wanted).collect();
    let Some(wanted) = wanted else { return Ok(()) };
    let product = |sizes: &mut dyn Iterator<Item = i64>| sizes.fold(1_i128, |p, n| p.saturating_mul(n.into()));
    let to = product(&mut wanted.iter().copied().filter(|n| *n != -1));
    if number(-1) > 0 && to == 0 {
        return wrong(format!("{}: beside a size of 0, -1 may be anything", shown()));
    }
    let Some(from) = input.iter().map(size).collect::<Option<Vec<i64>>>() else { return Ok(()) };
    let from = product(&mut from.into_iter());
    let fits = if number(-1) > 0 { from % to == 0 } else { from == to };
    if fits { Ok(()) } else { wrong(format!("{}, which the {from} elements of the input do not fill", shown())) }
}
