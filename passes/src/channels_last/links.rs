//! Which dimension of a tensor has its channels, and which tensors may have it last.

use std::collections::{HashMap, HashSet, VecDeque};

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{ComputeForm, ComputeOp, IteratorKind, ReshapeOp, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::op_def::Traits;
use sutura_ir::registry::constant_of;
use sutura_ir::{BlockRef, OpRef, Value};

use super::classes::{Classes, Layouts};
use crate::region::groups::Grouped;
use crate::winograd::sums_products;

/// Channels from which on vectors of them are worth it.
const LEAST_CHANNELS: i64 = 8;

/// Tensors of a block, with the dimensions that have their channels.
pub(super) struct Links<'a> {
    block: BlockRef<'a>,
    forms: Vec<ComputeForm<'a>>,
    reshapes: Vec<ReshapeOp<'a>>,
    channels: HashMap<Value, usize>,
    /// Why a tensor stays as it is.
    held: HashMap<Value, String>,
    /// Tensors of which the readers and makers have not been looked at.
    open: VecDeque<Value>,
}

/// A product with constant weights.
pub(super) struct Product {
    /// The factor that is no constant, and the weights.
    pub(super) factors: (usize, usize),
    /// The iterators that have the channels of that factor, and of the result; both are one where groups of channels make groups.
    sums: Option<usize>,
    makes: Option<usize>,
}

impl<'a> Links<'a> {
    pub(super) fn of(block: BlockRef<'a>) -> Self {
        let compute = |op: &OpRef<'a>| op.is::<ComputeOp<'_>>();
        let forms = block.ops().filter(compute).filter_map(ComputeForm::of).collect();
        let reshape = |op: OpRef<'a>| op.as_::<ReshapeOp<'a>>().filter(|reshape| reshape.shape().is_none());
        let reshapes = block.ops().filter_map(reshape).collect();
        Self { block, forms, reshapes, channels: HashMap::new(), held: HashMap::new(), open: VecDeque::new() }
    }

    /// Begins with convolutions; whether there are any.
    pub(super) fn seed(&mut self) -> bool {
        for number in 0..self.forms.len() {
            let form = self.forms[number].clone();
            let Some(product) = product(&form) else { continue };
            if !moves_a_window(&form, product.factors.0) {
                continue;
            }
            let along = match (product.sums, product.makes) {
                (Some(sums), Some(makes)) => vec![sums, makes],
                (None, None) => along_channels(&form, product.factors.1).into_iter().collect(),
                _ => continue,
            };
            for iterator in along {
                self.found_along(&form, iterator);
            }
        }
        !self.open.is_empty()
    }

    /// Follows channels from op to op.
    pub(super) fn follow(&mut self, facts: &Facts) {
        let mut users: HashMap<Value, Vec<usize>> = HashMap::new();
        for (number, form) in self.forms.iter().enumerate() {
            let of_form: HashSet<Value> = form.inputs().chain(form.results()).collect();
            of_form.into_iter().for_each(|value| users.entry(value).or_default().push(number));
        }
        let mut reshaped: HashMap<Value, Vec<Value>> = HashMap::new();
        for reshape in &self.reshapes {
            reshaped.entry(reshape.input()).or_default().push(reshape.result());
            reshaped.entry(reshape.result()).or_default().push(reshape.input());
        }
        while let Some(value) = self.open.pop_front() {
            let last = self.channels[&value];
            for number in users.get(&value).into_iter().flatten() {
                let form = self.forms[*number].clone();
                self.through(&form, (value, last));
            }
            for other in reshaped.get(&value).into_iter().flatten() {
                match self.same_place(facts, (value, last), *other) {
                    Some(place) => self.found(*other, place),
                    None => self.hold(value, "a reshape splits its channels, or joins them with others"),
                }
            }
        }
    }

    /// From one tensor of an op to the others.
    fn through(&mut self, form: &ComputeForm<'a>, (value, last): (Value, usize)) {
        let cx = self.block.cx;
        let found: Vec<AffineExpr> = slots(form).filter(|(of, _)| *of == value).map(|(_, exprs)| exprs[last]).collect();
        for expr in found {
            let Some(iterator) = moved(form, expr) else {
                if (0..form.iterators.len()).any(|i| maps::mentions(cx, expr, i)) {
                    self.hold(value, "channels are read in groups or steps, or at places that are computed");
                }
                continue;
            };
            if form.iterators[iterator] == IteratorKind::Parallel {
                self.found_along(form, iterator);
            }
            let Some(product) = product(form) else { continue };
            let ends = [product.sums, product.makes];
            if ends.contains(&Some(iterator)) {
                ends.into_iter().flatten().for_each(|other| self.found_along(form, other));
            }
        }
    }

    /// The dimension of a reshaped tensor that is a dimension as it was.
    fn same_place(&self, facts: &Facts, (value, last): (Value, usize), other: Value) -> Option<usize> {
        let sizes = |value| -> Option<Vec<Poly>> {
            let shape = symbolic_shape(self.block.cx, self.block.body.ty(value))?;
            shape.into_iter().map(|size| Some(facts.canonical(&size?))).collect()
        };
        let (from, to) = (sizes(value)?, sizes(other)?);
        let before = facts.canonical(&Poly::product(&from[..last]));
        let is = |place: &usize| to[*place] == from[last] && facts.canonical(&Poly::product(&to[..*place])) == before;
        (0..to.len()).find(is)
    }

    /// Notes the channels of all tensors of an op that has them along an iterator.
    fn found_along(&mut self, form: &ComputeForm<'a>, iterator: usize) {
        let found: Vec<(Value, usize)> = slots(form)
            .filter_map(|(value, exprs)| Some((value, exprs.iter().position(|e| moved(form, *e) == Some(iterator))?)))
            .collect();
        for (value, last) in found {
            self.found(value, last);
        }
    }

    fn found(&mut self, value: Value, last: usize) {
        if constant_of(self.block.body, self.block.cx, value).is_some() {
            return;
        }
        match self.channels.insert(value, last) {
            None => self.open.push_back(value),
            Some(before) if before != last => {
                self.channels.insert(value, before);
                self.hold(value, "operations have its channels along several dimensions");
            }
            Some(_) => {}
        }
    }

    fn hold(&mut self, value: Value, why: &str) {
        self.held.entry(value).or_insert_with(|| why.to_owned());
    }

    /// What becomes of the tensors that have channels.
    pub(super) fn decided(mut self) -> Layouts {
        let made = self.block.ops().flat_map(|op| op.results());
        let known: Vec<(Value, usize)> = made.filter_map(|value| Some((value, *self.channels.get(&value)?))).collect();
        let moves: Vec<(Value, usize)> =
            known.into_iter().filter(|(value, last)| self.would_move(*value, *last)).collect();
        let classes = Classes::of(&self, &moves);
        let mut leaving = Vec::new();
        for (value, last) in &moves {
            if let Some(why) = self.why_not(*value, *last) {
                self.hold(*value, &why);
            } else if let Some(why) = self.leaves(*value) {
                // What a window makes has the layout of what it reads: it is turned when it leaves.
                match classes.has_window(*value) {
                    true => leaving.push(*value),
                    false => self.hold(*value, &why),
                }
            }
        }
        classes.settle(&mut self.held);
        let (kept, turned): (Vec<_>, Vec<_>) = moves.into_iter().partition(|(value, _)| self.held.contains_key(value));
        let kept = kept.into_iter().map(|(value, _)| (value, self.held[&value].clone())).collect();
        leaving.retain(|value| !self.held.contains_key(value));
        Layouts { turned, kept, leaving }
    }

    /// Pairs of tensors that an op reads and makes through a window, and makes no channels of its own.
    pub(super) fn windows(&self) -> impl Iterator<Item = (Value, Value)> + '_ {
        self.forms.iter().filter(|form| product(form).is_none_or(|product| !product.has_features())).flat_map(|form| {
            let through = (0..form.input_maps.len()).filter(|input| moves_a_window(form, *input));
            through.flat_map(move |input| form.results().map(move |result| (form.op.operand(input), result)))
        })
    }

    /// Pairs of tensors that one kernel has, or, if so, a reshape.
    pub(super) fn together(&self) -> impl Iterator<Item = (Value, Value, bool)> + '_ {
        let elementwise = self.forms.iter().filter(|form| !form.has_reduction());
        let pairs = elementwise.flat_map(|form| {
            let alone = form.inputs().filter(|input| form.op.body.has_one_use(*input));
            alone.flat_map(|input| form.results().map(move |result| (input, result, false)))
        });
        pairs.chain(self.reshapes.iter().map(|reshape| (reshape.input(), reshape.result(), true)))
    }

    /// Whether elements move when a dimension becomes the last.
    fn would_move(&self, value: Value, last: usize) -> bool {
        let sizes = symbolic_shape(self.block.cx, self.block.body.ty(value)).unwrap_or_default();
        sizes.iter().skip(last + 1).any(|size| size.as_ref().and_then(Poly::as_const) != Some(1))
    }

    /// Why a tensor stays for what it is.
    fn why_not(&self, value: Value, last: usize) -> Option<String> {
        let BlockRef { cx, body, .. } = self.block;
        let sizes = symbolic_shape(cx, body.ty(value))?;
        if sizes.iter().any(Option::is_none) {
            return Some("its sizes are not known".to_owned());
        }
        let channels = sizes[last].as_ref().and_then(Poly::as_const);
        if channels.is_none_or(|channels| channels < LEAST_CHANNELS) {
            return Some(format!("it has less than {LEAST_CHANNELS} channels, or a number that is open"));
        }
        let maker = OpRef::new(cx, body, body.defining_op(value)?);
        (!is_structured(maker)).then(|| format!("'{}' makes it", maker.name_str()))
    }

    /// Why somebody needs a tensor as it was.
    fn leaves(&self, value: Value) -> Option<String> {
        let BlockRef { cx, body, .. } = self.block;
        let mut readers = body.uses(value).map(|u| OpRef::new(cx, body, u.owner));
        let op = readers.find(|op| !is_structured(*op))?;
        Some(match op.has_trait(Traits::Terminator) {
            true => "the function returns it".to_owned(),
            false => format!("'{}' reads it", op.name_str()),
        })
    }
}

/// True for an op that reads and makes tensors of any layout.
pub(super) fn is_structured(op: OpRef<'_>) -> bool {
    op.is::<ComputeOp<'_>>() || op.as_::<ReshapeOp<'_>>().is_some_and(|reshape| reshape.shape().is_none())
}

impl Product {
    /// Whether the weights make channels: otherwise they run along those that are there.
    pub(super) fn has_features(&self) -> bool {
        self.makes.is_some()
    }
}

/// The tensors of an op, each with the expressions of its map.
pub(super) fn slots<'f>(form: &'f ComputeForm<'_>) -> impl Iterator<Item = (Value, &'f [AffineExpr])> + 'f {
    let cx = form.op.cx;
    let inputs = form.inputs().zip(&form.input_maps);
    inputs.chain(form.results().zip(&form.result_maps)).map(|(value, map)| (value, cx.map_results(*map)))
}

/// The iterator that an expression is, or is some places before or behind; that of features for channels of a product by groups.
pub(super) fn moved(form: &ComputeForm<'_>, expr: AffineExpr) -> Option<usize> {
    if let Some(features) = in_groups(form, expr) {
        return Some(features);
    }
    let linear = maps::linear(form.op.cx, expr, form.iterators.len())?;
    let mut along = linear.factors.iter().enumerate().filter(|(_, factor)| **factor != 0);
    match (along.next(), along.next()) {
        (Some((iterator, 1)), None) if linear.symbols.is_empty() => Some(iterator),
        _ => None,
    }
}

/// The iterator that has the features of all groups, if an expression has the channels of one and that is read as a product.
fn in_groups(form: &ComputeForm<'_>, expr: AffineExpr) -> Option<usize> {
    let grouped = Grouped::of(form.op.cx, expr).filter(Grouped::fills_vectors)?;
    let summed = form.iterators[grouped.place] == IteratorKind::Reduce && sums_products(form);
    summed.then_some(grouped.dim)
}

/// What an op multiplies and sums up, if one of two factors is a constant.
pub(super) fn product(form: &ComputeForm<'_>) -> Option<Product> {
    let (cx, body) = (form.op.cx, form.op.body);
    let reads = |input: usize, iterator: usize| {
        cx.map_results(form.input_maps[input]).iter().any(|e| maps::mentions(cx, *e, iterator))
    };
    let sums: Vec<usize> = form.of_kind(IteratorKind::Reduce).collect();
    let factor = |input: &usize| sums.iter().any(|sum| reads(*input, *sum));
    let factors: Vec<usize> = (0..form.input_maps.len()).filter(factor).collect();
    let [a, b] = factors[..] else { return None };
    let constant = |input: usize| constant_of(body, cx, form.op.operand(input)).is_some();
    let (data, weights) = match (constant(a), constant(b)) {
        (false, true) => (a, b),
        (true, false) => (b, a),
        _ => return None,
    };
    let plain = |input: usize, iterator: usize| {
        cx.map_results(form.input_maps[input]).iter().any(|e| maps::plain_dim(cx, *e) == Some(iterator))
    };
    let of_groups = cx.map_results(form.input_maps[data]).iter().find_map(|e| in_groups(form, *e));
    if let Some(features) = of_groups.filter(|i| plain(weights, *i)) {
        return Some(Product { factors: (data, weights), sums: Some(features), makes: Some(features) });
    }
    let extents = form.extents();
    let longest = |all: &mut dyn Iterator<Item = usize>| {
        all.max_by_key(|i| (extents[*i].as_ref().and_then(Poly::as_const).unwrap_or(i64::MAX), usize::MAX - i))
            .filter(|i| extents[*i].as_ref().and_then(Poly::as_const) != Some(1))
    };
    let summed = longest(&mut sums.iter().copied().filter(|i| plain(data, *i) && plain(weights, *i)));
    let mut made = form.of_kind(IteratorKind::Parallel).filter(|i| plain(weights, *i) && !reads(data, *i));
    Some(Product { factors: (data, weights), sums: summed, makes: longest(&mut made) })
}

/// Whether a factor is read through a window that moves over it.
fn moves_a_window(form: &ComputeForm<'_>, input: usize) -> bool {
    let cx = form.op.cx;
    let mentions = |expr: AffineExpr, kind| form.of_kind(kind).any(|i| maps::mentions(cx, expr, i));
    cx.map_results(form.input_maps[input])
        .iter()
        .any(|e| mentions(*e, IteratorKind::Parallel) && mentions(*e, IteratorKind::Reduce))
}

/// The iterator along which a depthwise convolution has its channels: the one of the result that weights have too.
fn along_channels(form: &ComputeForm<'_>, weights: usize) -> Option<usize> {
    let cx = form.op.cx;
    let own = cx.map_results(form.input_maps[weights]);
    form.of_kind(IteratorKind::Parallel).find(|i| own.iter().any(|e| maps::plain_dim(cx, *e) == Some(*i)))
}
