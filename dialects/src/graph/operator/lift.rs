//! The decomposition of an operator at the rank at which it is applied.

use std::ops::Range;

use rustc_hash::FxHashMap;
use sutura_ir::affine::AffineExpr;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, Context, Loc, OpRef, OpView, Traits, Value};

use super::super::build::{BuildError, Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, fail, unsupported};
use super::super::combine::{Joint, StateAttr};
use super::super::maps;
use super::super::ops::ReshapeOp;
use super::super::structured::{ComputeForm, IteratorKind};
use super::bind::{Binding, Number};
use super::nested::{Find, Inner, check_depth};
use super::numbers::{Numbers, number_attr};
use super::{ApplyOp, LEFT_NAME, Operator, from_operator};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;
use crate::scf::ForOp;

/// Builds the decomposition of `operator`, whose body is `entry`, on `inputs`, and returns the results: an iterator over a
/// group becomes one for each of its dimensions. Operators that the body applies are built in their place; `find` has them. The
/// locations of what is built are `origin`, in all operators that it stood in.
///
/// # Errors
/// When it needs a size that is not known, or an op has no meaning on the element type.
pub fn lift(
    g: &mut GraphBuilder<'_, '_>,
    operator: &Operator,
    entry: BlockRef<'_>,
    binding: &Binding,
    inputs: &[Value],
    (origin, find): (Loc, Find<'_, '_>),
) -> Built<Vec<Value>> {
    let site = Site { origin, find, within: vec![&operator.name], ops: &mut 0 };
    let around = g.loc;
    let made = lift_within(g, operator, entry, binding, inputs, site);
    g.loc = around;
    made
}

/// Most ops that an operator stands for.
const MOST_OPS: usize = 10_000;

/// Where an operator is lifted.
pub(super) struct Site<'s, 'f, 'l> {
    /// What is lifted to this place.
    origin: Loc,
    find: Find<'f, 'l>,
    /// Operators around, and the one that is lifted.
    within: Vec<&'s str>,
    /// How many ops have been lifted.
    ops: &'s mut usize,
}

impl Site<'_, '_, '_> {
    fn loc(&self, cx: &Context) -> Loc {
        self.within.iter().rev().fold(self.origin, |loc, name| from_operator(cx, loc, name))
    }

    fn count(&mut self) -> Built<()> {
        *self.ops += 1;
        if *self.ops > MOST_OPS {
            return unsupported(format!("stands for more than {MOST_OPS} ops"));
        }
        Ok(())
    }
}

fn lift_within(
    g: &mut GraphBuilder<'_, '_>,
    operator: &Operator,
    entry: BlockRef<'_>,
    binding: &Binding,
    inputs: &[Value],
    mut site: Site<'_, '_, '_>,
) -> Built<Vec<Value>> {
    let values = entry.args().iter().copied().zip(inputs.iter().copied()).collect();
    g.loc = site.loc(g.cx());
    let made = Lifter { operator, entry, binding, values }.block(g, entry, &mut site)?;
    leave_name(g, operator, inputs, &made);
    Ok(made)
}

/// Leaves the name of an operator that wants it on the op that makes its first result, if that is its own.
fn leave_name(g: &mut GraphBuilder<'_, '_>, operator: &Operator, inputs: &[Value], made: &[Value]) {
    let first = made.first().filter(|value| operator.leaves_name && !inputs.contains(value));
    if let Some(op) = first.and_then(|value| g.b.body().defining_op(*value)) {
        let name = g.cx().string_attr(&operator.name);
        g.b.set_attr(op, LEFT_NAME, Some(name));
    }
}

/// Sizes of a tensor of a declaration, all of which are known.
pub(super) fn sizes(op: OpRef<'_>, value: Value) -> Vec<Poly> {
    symbolic_shape(op.cx, op.ty(value)).unwrap_or_default().into_iter().flatten().collect()
}

/// The group over which an iterator runs.
pub(super) fn group_of(operator: &Operator, form: &ComputeForm<'_>, iterator: usize) -> Option<String> {
    let size = |(value, dim): (Value, usize)| sizes(form.op, value).get(dim).cloned();
    let group = |size: Poly| operator.group_of(&size).map(str::to_string);
    form.extent_sources(iterator).filter_map(size).find_map(group)
}

pub(super) struct Lifter<'l> {
    pub(super) operator: &'l Operator,
    entry: BlockRef<'l>,
    pub(super) binding: &'l Binding,
    /// What values of the body became.
    pub(super) values: FxHashMap<Value, Value>,
}

impl Lifter<'_> {
    /// Lifts the ops of the body, or of a loop in it, and returns what it hands out.
    pub(super) fn block(
        &mut self,
        g: &mut GraphBuilder<'_, '_>,
        block: BlockRef<'_>,
        site: &mut Site<'_, '_, '_>,
    ) -> Built<Vec<Value>> {
        for op in block.ops() {
            if op.has_trait(Traits::Terminator) {
                return op.operands().map(|v| self.value(v)).collect();
            }
            site.count()?;
            if let Some(apply) = op.as_::<ApplyOp<'_>>() {
                self.apply(g, apply, site)?;
                g.loc = site.loc(g.cx());
            } else if op.is::<ReshapeOp<'_>>() {
                let shape = self.binding.shape(self.operator, &sizes(op, op.result(0)));
                let reshaped = g.reshape_to(self.value(op.operand(0))?, &shape)?;
                self.values.insert(op.result(0), reshaped);
            } else if let Some(form) = ComputeForm::of(op) {
                self.compute(g, &form)?;
            } else if let Some(this) = op.as_::<ForOp<'_>>() {
                self.repeat(g, this, site)?;
            } else {
                self.take(g, op)?;
            }
        }
        fail("has a body without end")
    }

    pub(super) fn value(&self, value: Value) -> Built {
        self.values.get(&value).map_or_else(|| fail("uses a tensor from outside its body"), |value| Ok(*value))
    }

    /// Lifts an operator that the body applies.
    fn apply(&mut self, g: &mut GraphBuilder<'_, '_>, apply: ApplyOp<'_>, site: &mut Site<'_, '_, '_>) -> Built<()> {
        let op = apply.op_ref();
        let Some((inner, entry)) = (site.find)(apply.callee()) else {
            return fail(format!("applies @{}, which is not declared", apply.callee()));
        };
        check_depth(&site.within, &inner.name)?;
        let called = |error: BuildError| error.within(&format!("@{}: ", inner.name));
        let bound =
            Inner::bind(op, self.operator, &self.binding.attributes, self.binding.elem, inner).map_err(called)?;
        let mut binding = bound.within(self.operator, self.binding);
        for (flags, value) in binding.stretched.iter_mut().zip(op.operands()) {
            let Some(flags) = flags else { continue };
            let dims = |size: &Poly| self.binding.shape(self.operator, std::slice::from_ref(size)).len();
            let each = flags.iter().zip(sizes(op, value));
            *flags = each.flat_map(|(flag, size)| std::iter::repeat_n(*flag, dims(&size))).collect();
        }
        let inputs = op.operands().map(|v| self.value(v)).collect::<Built<Vec<Value>>>()?;
        let within = site.within.iter().copied().chain([inner.name.as_str()]).collect();
        let site = Site { origin: site.origin, find: site.find, within, ops: site.ops };
        let made = lift_within(g, &bound.operator, entry, &binding, &inputs, site).map_err(called)?;
        self.values.extend(op.results().zip(made));
        Ok(())
    }

    fn compute(&mut self, g: &mut GraphBuilder<'_, '_>, form: &ComputeForm<'_>) -> Built<()> {
        let op = form.op;
        let (cx, elem) = (op.cx, self.binding.elem);
        let (iterators, ranges) = self.iterators(form);
        let became: Vec<Vec<(usize, Option<Poly>)>> =
            ranges.iter().enumerate().map(|(i, range)| self.became(form, i, range.clone())).collect();
        let mut inputs = Vec::new();
        for (i, (value, map)) in form.inputs().zip(&form.input_maps).enumerate() {
            let mut index = self.index(g, op, value, cx.map_results(*map), &ranges);
            if let Some(stretched) = self.stretched(value) {
                index.drain(..index.len() - stretched.len());
                let ones = index.iter_mut().zip(stretched).filter(|(_, stretched)| **stretched);
                ones.for_each(|(expr, _)| *expr = cx.affine_const(0));
            }
            let number = |oob| number_attr(cx, Number::of(cx, oob)?, elem).ok();
            let oob = form.oob[i].and_then(|oob| {
                if cx.attr_type(oob) == Some(self.operator.elements[0]) { number(oob) } else { Some(oob) }
            });
            inputs.push(ComputeInput { value: self.value(value)?, index, oob });
        }
        let mut results = Vec::new();
        let reduces = iterators.contains(&IteratorKind::Reduce);
        for (i, (value, map)) in form.results().zip(&form.result_maps).enumerate() {
            results.push(ComputeResult {
                shape: self.binding.shape(self.operator, &sizes(op, value)),
                elem: self.operator.retyped(cx, cx.element_type(op.ty(value)), elem),
                index: self.index(g, op, value, cx.map_results(*map), &ranges),
                combiner: form.combiners.get(i).copied().filter(|_| reduces),
            });
        }
        let known: Option<Vec<Poly>> = form.sizes.iter().map(|size| self.binding.poly(size)).collect();
        let Some(known) = known else {
            return unsupported("needs a size that depends on data");
        };
        g.sizes = known;
        let numbers = Numbers { cx, operator: self.operator, binding: self.binding, iterators: &became };
        let elems: Vec<_> = results.iter().map(|result| result.elem).collect();
        let mut failed = None;
        let body = |s: &mut Scalars<'_, '_>, args: &[Value]| {
            let mut yielded = numbers.copy(s, form.body, args).unwrap_or_else(|error| {
                failed = Some(error);
                Vec::new()
            });
            // What is accumulated may be wider than what is stored; without an iterator to reduce nothing is accumulated.
            for (value, elem) in yielded.iter_mut().zip(&elems).filter(|_| !reduces) {
                *value = s.cast(*value, *elem);
            }
            yielded
        };
        let (made, failed) = match form.joint.filter(|_| reduces) {
            Some(joint) => {
                let state = self.state(cx, joint)?;
                let mut unjoined = None;
                let made = g.compute_joint(
                    &iterators,
                    inputs,
                    results,
                    body,
                    (state, |s: &mut Scalars<'_, '_>, args| {
                        numbers.copy(s, joint.body, args).unwrap_or_else(|error| {
                            unjoined = Some(error);
                            Vec::new()
                        })
                    }),
                );
                (made, failed.or(unjoined))
            }
            None => (g.compute(&iterators, inputs, results, body), failed),
        };
        for (i, result) in form.results().enumerate() {
            self.values.insert(result, g.b.body().result(made, i));
        }
        failed.map_or(Ok(()), Err)
    }

    /// What a region that joins states starts from, in the element type.
    fn state(&self, cx: &Context, joint: Joint<'_>) -> Built<StateAttr> {
        let number = |value: &Attr| {
            let ty = cx.attr_type(*value).map(|ty| self.operator.retyped(cx, ty, self.binding.elem));
            let number = Number::of(cx, *value).zip(ty).map(|(number, ty)| number_attr(cx, number, ty));
            number.unwrap_or_else(|| fail("has a state that is no number"))
        };
        let identity = joint.state.identity.iter().map(number).collect::<Built<_>>()?;
        Ok(StateAttr { identity, laws: joint.state.laws.clone() })
    }

    /// Kinds of the iterators, and which of them each iterator of the declaration becomes.
    fn iterators(&self, form: &ComputeForm<'_>) -> (Vec<IteratorKind>, Vec<Range<usize>>) {
        let (mut kinds, mut ranges) = (Vec::new(), Vec::new());
        for (i, kind) in form.iterators.iter().enumerate() {
            let group = group_of(self.operator, form, i).and_then(|name| self.binding.groups.get(&name));
            let dims = group.map_or(1, Vec::len);
            ranges.push(kinds.len()..kinds.len() + dims);
            kinds.extend(std::iter::repeat_n(*kind, dims));
        }
        (kinds, ranges)
    }

    /// The iterators that one of the declaration became, and how far each runs; a single one may have no known end.
    fn became(&self, form: &ComputeForm<'_>, iterator: usize, range: Range<usize>) -> Vec<(usize, Option<Poly>)> {
        let group = group_of(self.operator, form, iterator).and_then(|name| self.binding.groups.get(&name));
        let size = |i: usize| group.and_then(|dims| dims.get(i).cloned().flatten());
        let start = range.start;
        range.map(|i| (i, size(i - start))).collect()
    }

    /// The index of a tensor, one expression per dimension.
    fn index(
        &self,
        g: &GraphBuilder<'_, '_>,
        op: OpRef<'_>,
        value: Value,
        exprs: &[AffineExpr],
        ranges: &[Range<usize>],
    ) -> Vec<AffineExpr> {
        let dims =
            |(expr, size): (&AffineExpr, &Poly)| match (self.operator.group_of(size), maps::plain_dim(op.cx, *expr)) {
                (Some(_), Some(iterator)) => g.dims(ranges[iterator].clone()),
                (Some(group), None) => vec![*expr; self.binding.groups.get(group).map_or(0, Vec::len)],
                _ => vec![maps::replace_dims(op.cx, *expr, &|i| g.dim(ranges[i].start))],
            };
        exprs.iter().zip(&sizes(op, value)).flat_map(dims).collect()
    }

    /// Which dimensions of an input are stretched, if the value is one that is.
    fn stretched(&self, value: Value) -> Option<&[bool]> {
        let input = self.entry.args().iter().position(|arg| *arg == value)?;
        self.binding.stretched[input].as_deref()
    }
}
