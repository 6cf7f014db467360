//! Two products with a softmax between them.

use sutura_dialects::graph::{ApplyOp, Combiner, ComputeForm, IteratorKind, YieldOp, maps};
use sutura_ir::affine::AffineMap;
use sutura_ir::{Context, Op, OpRef, Type, Value};

use crate::region::cost::value_text;

/// The softmaxes of the library, and whether it is that of `@attention`, with every bit.
const SOFTMAXES: [(&str, bool); 3] = [("softmax", true), ("softmax_from", true), ("softmax_by_division", false)];

/// Most ops that are looked at between the first product and the softmax.
const MOST_OPS: usize = 16;

pub(super) fn is_softmax(name: &str) -> bool {
    SOFTMAXES.iter().any(|(softmax, _)| *softmax == name)
}

/// The softmax that an op applies.
pub(super) fn applied(op: OpRef<'_>) -> Option<&str> {
    op.as_::<ApplyOp<'_>>().map(|apply| apply.callee()).filter(|name| is_softmax(name))
}

/// A factor, and which of its dimensions is which of the operator's: leading ones, rows, columns.
#[derive(Debug)]
pub(super) struct Factor {
    pub(super) value: Value,
    pub(super) dims: Vec<usize>,
}

/// Ops that are an attention.
#[derive(Debug)]
pub(super) struct Attention {
    pub(super) queries: Factor,
    pub(super) keys: Factor,
    pub(super) values: Factor,
    /// What scores are multiplied by.
    pub(super) scale: f32,
    /// What they are divided by then.
    pub(super) divisor: Option<f32>,
    /// What is added to them.
    pub(super) bias: Option<Value>,
    /// What says which of them count.
    pub(super) mask: Option<Mask>,
    /// For each dimension of what the ops make, which of the operator's result it is.
    pub(super) result: Vec<usize>,
    /// The ops: the first product, those on scores, the softmax, the second product.
    pub(super) ops: Vec<Op>,
}

/// A choice between scores and a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mask {
    /// The booleans.
    pub(super) value: Value,
    /// The number in the place of a score that is hidden.
    pub(super) other: f32,
    /// Scores are hidden where the mask holds, not where it does not.
    pub(super) hides: bool,
}

impl Attention {
    /// The operator that the ops are.
    pub(super) fn operator(&self) -> &'static str {
        match (self.bias, self.mask) {
            (None, None) => "attention",
            (Some(_), _) => "attention_biased",
            (None, Some(_)) => "attention_chosen",
        }
    }

    /// The tensor that says more of the scores, if there is one.
    pub(super) fn said(&self) -> Option<Value> {
        self.bias.or(self.mask.map(|mask| mask.value))
    }
}

/// Why ops are no attention; nothing is said of a softmax that is not between two products.
type Fit<T> = Result<T, Option<String>>;

fn left<T>(why: impl Into<String>) -> Fit<T> {
    Err(Some(why.into()))
}

/// The attention around an applied softmax.
///
/// # Errors
/// Why there is none.
pub(super) fn between(softmax: OpRef<'_>) -> Fit<Attention> {
    let (cx, body) = (softmax.cx, softmax.body);
    let (scores, weights) = (softmax.operand(0), softmax.result(0));
    if !leads_to_product(softmax, scores, MOST_OPS) {
        return Err(None);
    }
    let readers: Vec<Op> = body.uses(weights).map(|u| u.owner).collect();
    let Some(second) = readers.iter().find_map(|op| Product::of(softmax.at(*op))) else { return Err(None) };
    let name = |value: Value| value_text(cx, body, value);
    if readers.len() != 1 {
        return left(format!("the weights {} are read elsewhere too, so they are needed", name(weights)));
    }
    let rank = cx.shape(softmax.ty(scores)).map_or(0, <[i64]>::len);
    if rank < 2 || axis(softmax, rank) != Some(rank - 1) {
        return left("the softmax is not taken along the last dimension of the scores, the keys");
    }
    let elem = cx.element_type(softmax.ty(scores));
    if elem != Type::F32 && elem != Type::F64 {
        return left(
            "its scores are narrower than f32: they are rounded between the ops, and those of the operator are not",
        );
    }
    match SOFTMAXES.iter().find(|(softmax_, _)| Some(*softmax_) == applied(softmax)) {
        Some((_, true)) => {}
        _ => {
            return left(
                "its softmax divides each power by their sum, and that of the operator multiplies by the reciprocal",
            );
        }
    }
    let mut found = Scores::default();
    let first = found.product(softmax, scores)?;
    let (queries, keys) = first.queries_and_keys(rank)?;
    let (values, result) = second.values(weights, rank)?;
    let all = [queries.value, keys.value, values.value, second.form.op.result(0)];
    if let Some(other) = all.iter().find(|value| cx.element_type(body.ty(**value)) != elem) {
        return left(format!("{} has another element type than the scores", name(*other)));
    }
    let narrow = |number: f64, what: &str| match number as f32 {
        narrow if f64::from(narrow) == number => Ok(narrow),
        _ => left(format!("{what} {number} is no f32")),
    };
    let scale = narrow(found.scale.unwrap_or(1.0), "the scale")?;
    let divisor = found.divisor.map(|divisor| narrow(divisor, "the divisor")).transpose()?;
    let mask = match found.mask {
        None => None,
        Some((value, other, hides)) => {
            Some(Mask { value, other: narrow(other, "the number in the place of hidden scores")?, hides })
        }
    };
    let mut ops = vec![first.form.op.op];
    ops.extend(found.ops.into_iter().rev());
    ops.extend([softmax.op, second.form.op.op]);
    Ok(Attention { queries, keys, values, scale, divisor, bias: found.bias, mask, result, ops })
}

/// The dimension along which an applied softmax of this rank goes, if it is one.
fn axis(softmax: OpRef<'_>, rank: usize) -> Option<usize> {
    let from = applied(softmax)? == "softmax_from";
    let axis = softmax.attr("axis").and_then(|axis| softmax.cx.as_int(axis)).unwrap_or(if from { 1 } else { -1 });
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).ok()
}

/// True if a product makes the scores, through elementwise ops.
fn leads_to_product(at: OpRef<'_>, value: Value, most: usize) -> bool {
    let Some(form) = made(at, value) else { return false };
    if Product::of(form.op).is_some() {
        return true;
    }
    most > 0 && form.is_elementwise() && form.inputs().any(|input| leads_to_product(at, input, most / 2))
}

fn made<'a>(at: OpRef<'a>, value: Value) -> Option<ComputeForm<'a>> {
    ComputeForm::of(at.at(at.body.defining_op(value)?)).filter(|form| form.results().len() == 1)
}

/// Which iterator reads each dimension of a tensor, if each does as it is.
fn iterators(cx: &Context, map: AffineMap) -> Option<Vec<usize>> {
    cx.map_results(map).iter().map(|expr| maps::plain_dim(cx, *expr)).collect()
}

/// Sums of products of the elements of two tensors.
struct Product<'a> {
    form: ComputeForm<'a>,
    sum: usize,
    result: Vec<usize>,
}

impl<'a> Product<'a> {
    fn of(op: OpRef<'a>) -> Option<Self> {
        let form = ComputeForm::of(op)?;
        let sums: Vec<usize> = form.of_kind(IteratorKind::Reduce).collect();
        let ([sum], [Combiner::Add]) = (&sums[..], &form.combiners[..]) else { return None };
        if form.inputs().len() != 2 || form.oob.iter().any(Option::is_some) || !multiplies(&form) {
            return None;
        }
        let result = iterators(op.cx, form.result_maps[0])?;
        Some(Self { sum: *sum, result, form })
    }

    /// Which iterator reads each dimension of a factor.
    fn factor(&self, input: usize) -> Fit<Vec<usize>> {
        let (cx, op) = (self.form.op.cx, self.form.op);
        iterators(cx, self.form.input_maps[input]).ok_or_else(|| {
            Some(format!("{} is read as if it had other dimensions", value_text(cx, op.body, op.operand(input))))
        })
    }

    /// A factor with a dimension for each of these iterators, in this order.
    fn in_order(&self, input: usize, order: &[usize]) -> Fit<Factor> {
        let op = self.form.op;
        let reads = self.factor(input)?;
        let place = |iterator: &usize| reads.iter().position(|read| read == iterator);
        let value = op.operand(input);
        match order.iter().map(place).collect::<Option<Vec<usize>>>() {
            Some(dims) if reads.len() == order.len() => Ok(Factor { value, dims }),
            _ => left(format!(
                "{} does not have exactly the leading dimensions of the scores, and two more",
                value_text(op.cx, op.body, value)
            )),
        }
    }

    /// The factors of scores: what has a row for each query, and what has one for each key.
    fn queries_and_keys(&self, rank: usize) -> Fit<(Factor, Factor)> {
        if self.result.len() != rank {
            return left("the scores are made with other dimensions than the softmax has");
        }
        let (leading, query, key) = (&self.result[..rank - 2], self.result[rank - 2], self.result[rank - 1]);
        let of = |row: usize| leading.iter().copied().chain([row, self.sum]).collect::<Vec<usize>>();
        let first = if self.factor(0)?.contains(&query) { 0 } else { 1 };
        Ok((self.in_order(first, &of(query))?, self.in_order(1 - first, &of(key))?))
    }

    /// The factor that weights choose from, and which dimension of an attention each of the result is.
    fn values(&self, weights: Value, rank: usize) -> Fit<(Factor, Vec<usize>)> {
        let op = self.form.op;
        let at = if op.operand(0) == weights { 0 } else { 1 };
        let reads = self.factor(at)?;
        if reads[rank - 1] != self.sum {
            return left("the second product does not sum over the keys");
        }
        let other = self.factor(1 - at)?;
        let Some(column) = other.iter().copied().find(|iterator| !reads.contains(iterator)) else {
            return left("the values have no dimension of their own");
        };
        let leading = reads[..rank - 2].iter().copied();
        let values = self.in_order(1 - at, &leading.clone().chain([self.sum, column]).collect::<Vec<usize>>())?;
        let made: Vec<usize> = leading.chain([reads[rank - 2], column]).collect();
        let dims = self.result.iter().map(|iterator| made.iter().position(|m| m == iterator));
        match dims.collect::<Option<Vec<usize>>>() {
            Some(dims) if dims.len() == made.len() => Ok((values, dims)),
            _ => left("the second product has not the dimensions of an attention"),
        }
    }
}

/// True if a function multiplies its two arguments.
fn multiplies(form: &ComputeForm<'_>) -> bool {
    two_arguments(form, "arith.mulf")
}

/// True if all that a function does is this op on its two arguments, in either order.
fn two_arguments(form: &ComputeForm<'_>, name: &str) -> bool {
    let args = form.body.args();
    let mut ops = form.body.ops().filter(|op| !op.is::<YieldOp<'_>>());
    let (Some(op), None, [a, b]) = (ops.next(), ops.next(), args) else { return false };
    let operands: Vec<Value> = op.operands().collect();
    let yielded = form.yielded().is_some_and(|end| end.operands().eq(op.results()));
    op.name_str() == name && yielded && (operands == [*a, *b] || operands == [*b, *a])
}

/// What is done to scores before the softmax.
#[derive(Default)]
struct Scores {
    scale: Option<f64>,
    /// By what they are divided, where the reciprocal is rounded.
    divisor: Option<f64>,
    bias: Option<Value>,
    /// Which of them count, the number in the place of the others, and whether those where it holds are the others.
    mask: Option<(Value, f64, bool)>,
    /// The ops, the last first.
    ops: Vec<Op>,
}

impl Scores {
    /// The product that makes the scores `value`, whose reader is `reader`.
    fn product<'a>(&mut self, reader: OpRef<'a>, mut value: Value) -> Fit<Product<'a>> {
        let (cx, body) = (reader.cx, reader.body);
        loop {
            let name = value_text(cx, body, value);
            if !body.has_one_use(value) {
                return left(format!("{name} is read elsewhere too"));
            }
            let Some(form) = made(reader, value) else { return left(format!("{name} does not come from a product")) };
            if let Some(product) = Product::of(form.op) {
                return Ok(product);
            }
            if !form.is_elementwise() || !is_identity(cx, form.result_maps[0], form.iterators.len()) {
                return left(format!("{name} is not made from the scores of a product one by one"));
            }
            self.ops.push(form.op.op);
            value = match self.scaled(&form) {
                Some(scores) => scores?,
                None => match self.chosen(&form) {
                    Some(scores) => scores?,
                    None => self.biased(&form)?,
                },
            };
        }
    }

    /// What is scaled, if the op multiplies by a number or divides by one.
    fn scaled(&mut self, form: &ComputeForm<'_>) -> Option<Fit<Value>> {
        let (at, scaled) = scale(form)?;
        let name = value_text(form.op.cx, form.op.body, form.op.result(0));
        // What is divided may have been multiplied before; the other way round it would round otherwise.
        if self.scale.is_some() || (self.divisor.is_some() && scaled.is_err()) {
            return Some(left(format!("{name} is scaled twice")));
        }
        match scaled {
            Ok(scale) => self.scale = Some(scale),
            Err(by) if by == 0.0 || by.is_nan() => return Some(left(format!("{name} is divided by {by}"))),
            Err(by) => self.divisor = Some(by),
        }
        Some(Ok(form.op.operand(at)))
    }

    /// What is chosen where a mask says so, if the op chooses between the scores and a number.
    fn chosen(&mut self, form: &ComputeForm<'_>) -> Option<Fit<Value>> {
        let (cx, op) = (form.op.cx, form.op);
        let choice = op.at(op.body.defining_op(form.yielded()?.operand(0))?);
        if choice.name_str() != "arith.select" {
            return None;
        }
        let arg = |value: Value| form.body.args().iter().position(|arg| *arg == value);
        let mask = arg(choice.operand(0))?;
        let (scores, other, hides) = match (number(form, choice.operand(1)), number(form, choice.operand(2))) {
            (None, Some(other)) => (arg(choice.operand(1))?, other, false),
            (Some(other), None) => (arg(choice.operand(2))?, other, true),
            _ => return None,
        };
        let name = || value_text(cx, op.body, op.result(0));
        if self.bias.is_some() || self.mask.is_some() || self.scale.is_some() || self.divisor.is_some() {
            return Some(left(format!(
                "{}, a choice between scores and a number, is not what the softmax is of",
                name()
            )));
        }
        let rank = form.iterators.len();
        if !is_identity(cx, form.input_maps[scores], rank) || !leads_to_product(op, op.operand(scores), MOST_OPS) {
            return Some(left(format!("{} chooses between a number and what is not the scores of a product", name())));
        }
        if !has_each_key(form, mask) {
            let mask = value_text(cx, op.body, op.operand(mask));
            return Some(left(format!("{mask}, which chooses scores, has not a boolean for each key")));
        }
        self.mask = Some((op.operand(mask), other, hides));
        Some(Ok(op.operand(scores)))
    }

    /// What a bias is added to, if the op does that, and nothing else is between it and the softmax.
    fn biased(&mut self, form: &ComputeForm<'_>) -> Fit<Value> {
        let (cx, op) = (form.op.cx, form.op);
        let rank = form.iterators.len();
        let name = value_text(cx, op.body, op.result(0));
        if !two_arguments(form, "arith.addf") {
            return left(format!(
                "{name} is neither a multiple of the scores nor a sum with them, nor a choice of them"
            ));
        }
        if self.bias.is_some() {
            return left(format!("{name} is the second sum with the scores"));
        }
        if self.mask.is_some() {
            return left(format!("{name}, a sum with the scores, is chosen from"));
        }
        if self.scale.is_some() || self.divisor.is_some() {
            return left(format!("{name}, a sum with the scores, is scaled"));
        }
        let whole =
            |i: usize| is_identity(cx, form.input_maps[i], rank) && leads_to_product(op, op.operand(i), MOST_OPS);
        let Some(scores) = (0..2).find(|i| whole(*i)) else {
            return left(format!("{name} is a sum of tensors of which none is the scores of a product"));
        };
        let bias = op.operand(1 - scores);
        if !has_each_key(form, 1 - scores) {
            let bias = value_text(cx, op.body, bias);
            return left(format!("{bias}, which is added to the scores, has not a number for each key"));
        }
        self.bias = Some(bias);
        Ok(op.operand(scores))
    }
}

/// True if an input has an element for each key, the last dimension, and is stretched at most along others.
fn has_each_key(form: &ComputeForm<'_>, input: usize) -> bool {
    let (cx, rank) = (form.op.cx, form.iterators.len());
    let index = cx.map_results(form.input_maps[input]);
    let stretches = |(i, dim): (usize, usize)| match maps::plain_dim(cx, index[i]) {
        Some(iterator) => iterator == dim,
        None => maps::constant(cx, index[i]) == Some(0) && dim + 1 < rank,
    };
    rank.checked_sub(index.len()).is_some_and(|first| !index.is_empty() && (first..rank).enumerate().all(stretches))
}

fn is_identity(cx: &Context, map: AffineMap, rank: usize) -> bool {
    iterators(cx, map).is_some_and(|dims| dims.iter().copied().eq(0..rank))
}

/// Which input an op multiplies, and by what; or by what it divides, where that is no product.
fn scale(form: &ComputeForm<'_>) -> Option<(usize, Result<f64, f64>)> {
    let op = form.op;
    let end = form.yielded()?;
    let scaled = op.at(op.body.defining_op(end.operand(0))?);
    let divides = scaled.name_str() == "arith.divf";
    if !divides && scaled.name_str() != "arith.mulf" {
        return None;
    }
    let whole = |value: Value| {
        let i = form.body.args().iter().position(|arg| *arg == value)?;
        is_identity(op.cx, form.input_maps[i], form.iterators.len()).then_some(i)
    };
    let (a, b) = (scaled.operand(0), scaled.operand(1));
    let (at, by) = match number(form, b) {
        Some(by) => (whole(a)?, by),
        None if !divides => (whole(b)?, number(form, a)?),
        None => return None,
    };
    let factor = match divides {
        false => Ok(by),
        // The reciprocal of a power of two is no rounded one.
        true if by.is_normal() && by.abs().log2().fract() == 0.0 && (1.0 / by).is_normal() => Ok(1.0 / by),
        true => Err(by),
    };
    Some((at, factor))
}

/// The number that a value of a function always is: a constant of it, or a tensor that holds one number.
fn number(form: &ComputeForm<'_>, value: Value) -> Option<f64> {
    let (op, cx) = (form.op, form.op.cx);
    let Some(i) = form.body.args().iter().position(|arg| *arg == value) else {
        return cx.as_f64(op.constant(value)?);
    };
    let dense = cx.dense(op.constant(op.operand(i))?)?;
    (dense.is_splat() && !dense.is_empty()).then(|| cx.as_f64(dense.attr(0))).flatten()
}
