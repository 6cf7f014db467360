//! `legalize-elements`: tensors of elements that machines do not load become tensors of integers with the same bits.
//!
//! What each type of element becomes says [`sutura_dialects::elements`]. Integers without sign become signless ones: functions
//! of elements take them as such already. Floats of at most one byte become bytes, and functions of elements decode and encode them;
//! in between they are computed as `f32` and rounded once, where they are stored, as other narrow floats are. Arguments and
//! results of functions keep their types, `graph.bitcast` stands between.

mod floats;
mod narrow;
mod powers;
mod refused;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::complex::part_type;
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::elements::{is_unsigned, policy, stored};
use sutura_dialects::graph::{
    BitcastOp, ComputeForm, ComputeOp, ConcatOp, ConstantOp, GatherElementsOp, GatherNdOp, GatherOp, IteratorKind,
    IteratorsAttr, ReshapeOp, ScanOp, ScatterOp, ShapeOfOp, SliceOp, StateAttr, YieldOp,
};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::op_def::Traits;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::types::{FloatKind, TypeData};
use sutura_ir::{Attr, AttrData, Block, Body, Context, Loc, Op, OpRef, Rewriter, Type, Value};

use crate::arithmetic::Arithmetic;
use crate::functions::of_each_function;
use narrow::Narrow;

/// `legalize-elements`
pub static LEGALIZE_ELEMENTS: PassInfo = PassInfo {
    name: "LegalizeElements",
    argument: "legalize-elements",
    summary: "Put integers in the place of elements that machines do not load",
    description: "Tensors of integers without sign become tensors of signless ones. Tensors of floats of at most one byte become tensors \
                  of bytes; functions of elements decode what they read to `f32`, compute with that, and round to nearest even \
                  where they yield. What only moves elements moves the integers. Arguments and results of functions keep \
                  their types, with a `graph.bitcast` between; constants keep their bytes. Integers of 2 and 4 bits \
                  have a byte each, of which the low bits count: bytes that come from outside may have anything above them, \
                  those that leave have the sign, or zeros. Elements for which nothing is compiled are refused; complex ones are no \
                  matter of this pass, see `split-complex`.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-tensors", description: "tensors whose elements became integers" }],
    create,
};

struct LegalizeElements;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(LegalizeElements))
}

impl Pass for LegalizeElements {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, header, body| (header.loc, function(cx, body)));
        let (mut count, mut refused) = (0, false);
        for (loc, outcome) in outcomes {
            match outcome {
                Ok(Made { count: 0, .. }) => {}
                Ok(made) => {
                    count += made.count;
                    run.passed(loc, format!("{} tensors hold integers in the place of {}", made.count, made.elements));
                    for (loc, name) in made.left {
                        run.missed(loc, format!("'{name}' keeps its elements: it is not known what it does with them"));
                    }
                }
                Err(diagnostic) => {
                    refused = true;
                    run.diags.report(*diagnostic);
                }
            }
        }
        run.count("num-tensors", count);
        if refused { Err(PassError::Unsupported) } else { Ok(PreservedAnalyses::unless(count > 0)) }
    }
}

/// What became of a function.
#[derive(Default)]
struct Made {
    /// Tensors that hold integers now.
    count: u64,
    /// Types of the elements that they had, in words.
    elements: String,
    /// Ops whose operands are turned back, with their names.
    left: Vec<(Loc, String)>,
}

/// Legalizes a function.
fn function(cx: &Context, body: &mut Body) -> Result<Made, Box<Diagnostic>> {
    let Some(entry) = body.entry_block() else { return Ok(Made::default()) };
    let ops: Vec<Op> = body.ops(entry).collect();
    let mut found = false;
    for op in &ops {
        let view = OpRef::new(cx, body, *op);
        check_complex(cx, view)?;
        for ty in view.operand_types().chain(view.result_types()) {
            found |= replaced(cx, ty).map_err(|message| Box::new(view.error(message)))?.is_some();
        }
    }
    if !found {
        return Ok(Made::default());
    }
    ops.iter().try_for_each(|op| refused::check(cx, body, OpRef::new(cx, body, *op)))?;
    let mut asked = FxHashMap::default();
    for op in &ops {
        let top = OpRef::new(cx, body, *op);
        top.walk(&mut |view| {
            // An isolated op has names of its own inside.
            if std::ptr::eq(view.body, top.body) {
                asked.insert(view.op, view.operand_types().collect::<Vec<_>>());
            }
        });
    }
    let mut legalizer = Legalizer {
        rw: Rewriter::new(cx, body),
        kinds: FxHashMap::default(),
        scalars: FxHashMap::default(),
        asked,
        extended: FxHashSet::default(),
        count: 0,
        left: Vec::new(),
    };
    // What is stated of sizes stands before all that has some, but for constants.
    let states = |op: &&Op| {
        let view = legalizer.rw.op_ref(**op);
        view.is::<SymbolOp<'_>>() || view.is::<EqualOp<'_>>() || view.is::<ConstantOp<'_>>()
    };
    let first = ops.iter().find(|op| !states(op)).copied();
    for arg in legalizer.rw.body().block_args(entry).to_vec() {
        match first {
            Some(first) => legalizer.rw.set_before(first),
            None => legalizer.rw.set_to_end(entry),
        }
        legalizer.enter(arg);
    }
    for op in ops {
        legalizer.op(op);
    }
    let elements: BTreeSet<String> = legalizer.kinds.values().map(|ty| type_text(cx, cx.element_type(*ty))).collect();
    let elements = elements.into_iter().collect::<Vec<_>>().join(", ");
    Ok(Made { count: legalizer.count, elements, left: legalizer.left })
}

/// Refuses complex elements but where a function takes and gives them: 'split-complex' leaves no others.
fn check_complex(cx: &Context, view: OpRef<'_>) -> Result<(), Box<Diagnostic>> {
    let is_complex = |ty: &Type| cx.shape(*ty).is_some() && part_type(cx, cx.element_type(*ty)).is_some();
    let Some(ty) = view.operand_types().chain(view.result_types()).find(is_complex) else { return Ok(()) };
    if view.is::<BitcastOp<'_>>() || !view.name_str().starts_with("graph.") {
        return Ok(());
    }
    let elem = type_text(cx, cx.element_type(ty));
    let message = format!("is of tensors of {elem}, for which nothing is compiled");
    Err(Box::new(view.error(message).help("run 'split-complex' before this pass")))
}

/// The type that takes the place of `ty`; `None` where it stays.
///
/// # Errors
/// In words, when nothing is compiled for its elements.
fn replaced(cx: &Context, ty: Type) -> Result<Option<Type>, String> {
    if cx.shape(ty).is_none() {
        return Ok(None);
    }
    let elem = cx.element_type(ty);
    if elem == Type::INDEX || part_type(cx, elem).is_some() {
        return Ok(None);
    }
    let memory = policy(cx, elem).and_then(|policy| policy.memory);
    match memory {
        Some(memory) if cx.ty(memory) == elem => Ok(None),
        Some(memory) => Ok(Some(cx.with_element_type(ty, cx.ty(memory)))),
        None => {
            let how = if stored(cx, elem) == elem { "" } else { "; 'lower-quant-ops' makes integers of them" };
            let elem = type_text(cx, elem);
            Err(format!("is of tensors of {elem}, for which nothing is compiled{how}"))
        }
    }
}

/// Ops that move elements and do not look at them.
fn moves(view: OpRef<'_>) -> bool {
    view.is::<ConcatOp<'_>>()
        || view.is::<SliceOp<'_>>()
        || view.is::<ReshapeOp<'_>>()
        || view.is::<GatherOp<'_>>()
        || view.is::<GatherElementsOp<'_>>()
        || view.is::<GatherNdOp<'_>>()
        || view.is::<ScatterOp<'_>>()
}

/// Whether a scatter joins what it writes with what is there.
fn joins(view: OpRef<'_>) -> bool {
    view.as_::<ScatterOp<'_>>().is_some_and(|scatter| scatter.combiner().is_some())
}

/// Whether bytes for elements of this type have the sign above them, and not zeros.
fn has_sign(cx: &Context, elem: Type) -> bool {
    policy(cx, elem).is_some_and(|policy| !policy.unsigned) && !elem.is_float(cx)
}

/// The float of at most one byte that a type is.
fn byte_float(cx: &Context, elem: Type) -> Option<FloatKind> {
    match cx.type_data(elem) {
        TypeData::Float(kind) => policy(cx, elem).filter(|p| p.memory.is_some_and(|m| m != p.stored)).map(|_| kind),
        _ => None,
    }
}

struct Legalizer<'b> {
    rw: Rewriter<'b>,
    /// Types that tensors had, of those that were changed.
    kinds: FxHashMap<Value, Type>,
    /// Numbers of functions that were floats of one byte, and are `f32`.
    scalars: FxHashMap<Value, FloatKind>,
    /// Types that operands of ops had.
    asked: FxHashMap<Op, Vec<Type>>,
    /// Tensors of bytes for shorter elements, which have the sign above them, or zeros: the same bytes may stand for either.
    extended: FxHashSet<(Value, bool)>,
    count: u64,
    /// Ops that are left alone, with their names.
    left: Vec<(Loc, String)>,
}

impl<'b> Legalizer<'b> {
    fn cx(&self) -> &'b Context {
        self.rw.cx()
    }

    fn legal(&self, ty: Type) -> Option<Type> {
        replaced(self.cx(), ty).ok().flatten()
    }

    /// Everything that used `value`, which keeps its type, uses its bits. They are made at the insertion point.
    fn enter(&mut self, value: Value) {
        let ty = self.rw.body().ty(value);
        let Some(legal) = self.legal(ty) else { return };
        let loc = self.rw.body().value_loc(value);
        let bits = BitcastOp::value(&mut self.rw, loc, value, legal);
        let cast = self.rw.body().defining_op(bits).expect("just made");
        self.rw.replace_all_uses(value, bits);
        self.rw.set_operand(cast, 0, value);
        self.kinds.insert(bits, ty);
        self.count += 1;
    }

    /// A tensor holds integers from here on.
    fn retype(&mut self, value: Value) {
        let ty = self.rw.body().ty(value);
        if let Some(legal) = self.legal(ty) {
            self.rw.set_type(value, legal);
            self.kinds.insert(value, ty);
            self.count += 1;
        }
    }

    fn op(&mut self, op: Op) {
        let view = self.rw.op_ref(op);
        if view.is::<ComputeOp<'_>>() {
            self.compute(op);
        } else if view.is::<ScanOp<'_>>() {
            self.scan(op);
        } else if view.is::<ConstantOp<'_>>() {
            self.constant(op);
        } else if view.is::<BitcastOp<'_>>() {
            self.bitcast(op);
        } else if moves(view) {
            let results: Vec<Value> = view.results().collect();
            let joined = if joins(view) { view.operands().count() } else { 0 };
            (0..joined).for_each(|i| self.extend_operand(op, i));
            results.into_iter().for_each(|result| self.retype(result));
        } else if !view.is::<ShapeOfOp<'_>>() {
            self.leave(op);
            self.leave_inside(op);
        }
    }

    /// What regions of such an op read is what it was.
    fn leave_inside(&mut self, op: Op) {
        let mut inside: Vec<(Op, usize)> = Vec::new();
        let top = self.rw.op_ref(op);
        top.walk(&mut |view| {
            if view.op != op && std::ptr::eq(view.body, top.body) {
                inside.extend((0..view.operands().count()).map(|i| (view.op, i)));
            }
        });
        let mut backs: FxHashMap<(Value, Type), Value> = FxHashMap::default();
        for (reader, i) in inside {
            let Some(ty) = self.was(reader, i).filter(|ty| *ty != self.is(reader, i)) else { continue };
            let operand = self.rw.op_ref(reader).operand(i);
            let back = match backs.get(&(operand, ty)) {
                Some(back) => *back,
                None => {
                    let bytes = self.extended_value(op, operand, ty);
                    self.rw.set_before(op);
                    let loc = self.rw.body().loc(op);
                    *backs.entry((operand, ty)).or_insert(BitcastOp::value(&mut self.rw, loc, bytes, ty))
                }
            };
            self.rw.set_operand(reader, i, back);
        }
    }

    /// An op of which nothing is known takes and makes what it did.
    fn leave(&mut self, op: Op) {
        let view = self.rw.op_ref(op);
        let (operands, terminator) = (view.operands().count(), view.has_trait(Traits::Terminator));
        let (loc, name) = (view.loc(), view.name_str());
        let changed: Vec<usize> = (0..operands).filter(|i| self.was(op, *i) != Some(self.is(op, *i))).collect();
        if !terminator && !changed.is_empty() {
            self.left.push((loc, name.to_owned()));
        }
        for i in changed {
            let Some(ty) = self.was(op, i) else { continue };
            self.extend_operand(op, i);
            let operand = self.rw.op_ref(op).operand(i);
            self.rw.set_before(op);
            let back = BitcastOp::value(&mut self.rw, loc, operand, ty);
            self.rw.set_operand(op, i, back);
        }
        let results: Vec<Value> = self.rw.op_ref(op).results().collect();
        for result in results {
            self.rw.set_after(op);
            self.enter(result);
        }
    }

    fn constant(&mut self, op: Op) {
        let (cx, result) = (self.cx(), self.rw.body().result(op, 0));
        let Some(legal) = self.legal(self.rw.body().ty(result)) else { return };
        let value = self.rw.op_ref(op).prop("value").map(|value| cx.attr_data(value));
        let data = match value {
            Some(AttrData::Dense { data, splat, .. }) => AttrData::Dense { ty: legal, data, splat },
            Some(AttrData::DenseResource { key, .. }) => AttrData::DenseResource { ty: legal, key },
            _ => return self.leave(op),
        };
        let value = cx.attr(data);
        self.rw.set_prop(op, "value", Some(value));
        self.retype(result);
    }

    /// The type that an operand had; `None` of an op that is not from before.
    fn was(&self, op: Op, index: usize) -> Option<Type> {
        self.asked.get(&op).and_then(|types| types.get(index)).copied()
    }

    fn is(&self, op: Op, index: usize) -> Type {
        self.rw.body().ty(self.rw.op_ref(op).operand(index))
    }

    /// Bytes for shorter elements get the sign above them, or zeros, where an operand counts on it.
    fn extend_operand(&mut self, op: Op, index: usize) {
        let operand = self.rw.op_ref(op).operand(index);
        let Some(ty) = self.was(op, index) else { return };
        let bytes = self.extended_value(op, operand, ty);
        if bytes != operand {
            self.rw.set_operand(op, index, bytes);
        }
    }

    /// The bytes of `value`, a tensor that had the type `ty`, with the sign above the elements, or zeros; made before `at`.
    fn extended_value(&mut self, at: Op, value: Value, ty: Type) -> Value {
        let cx = self.cx();
        let elem = cx.element_type(ty);
        let signed = has_sign(cx, elem);
        if cx.shape(ty).is_none() || self.extended.contains(&(value, signed)) {
            return value;
        }
        let Some(bits) = policy(cx, elem).and_then(|_| cx.bit_width(elem)) else { return value };
        let ty = self.rw.body().ty(value);
        if !(2..8).contains(&bits) || cx.element_type(ty) != Type::I8 {
            return value;
        }
        self.rw.set_before(at);
        let bytes = self.elementwise(at, value, ty, |b, x| b.extended(x, bits, signed));
        self.extended.insert((bytes, signed));
        bytes
    }

    /// What takes elements for others may have nothing to do any more.
    fn bitcast(&mut self, op: Op) {
        let bits = |ty: Option<Type>| ty.and_then(|ty| self.cx().bit_width(self.cx().element_type(ty)));
        let result = self.rw.body().result(op, 0);
        if bits(self.was(op, 0)) < bits(Some(self.rw.body().ty(result))) {
            self.extend_operand(op, 0);
        }
        let (input, result) = (self.rw.op_ref(op).operand(0), self.rw.body().result(op, 0));
        let was = self.rw.body().ty(result);
        self.retype(result);
        if self.rw.body().ty(input) == self.rw.body().ty(result) {
            self.rw.replace_op(op, &[input]);
            if self.legal(was).is_some() {
                self.kinds.insert(input, was);
            }
        }
    }

    /// Elements that are combined as they go are decoded before and encoded behind.
    fn scan(&mut self, op: Op) {
        let (cx, view) = (self.cx(), self.rw.op_ref(op));
        // What joins several is made for elements that stay what they are.
        if view.region(0).is_some() {
            return;
        }
        let (input, result) = (view.operand(0), view.result(0));
        let elem = cx.element_type(view.ty(result));
        let Some(kind) = byte_float(cx, elem) else {
            if narrow::width(cx, elem).is_some() {
                self.extend_operand(op, 0);
                self.retype(result);
            }
            return;
        };
        let wide = cx.with_element_type(view.ty(result), Type::F32);
        self.rw.set_before(op);
        let decoded = self.elementwise(op, input, wide, |bits, x| bits.decode(kind, x));
        self.rw.set_operand(op, 0, decoded);
        self.encode_behind(op, 0, kind, wide);
    }

    /// Result `index` of `op` becomes one of type `wide`, and what is encoded of it takes its place.
    fn encode_behind(&mut self, op: Op, index: usize, kind: FloatKind, wide: Type) {
        let result = self.rw.body().result(op, index);
        let ty = self.rw.body().ty(result);
        let Some(legal) = self.legal(ty) else { return };
        self.rw.set_type(result, wide);
        self.rw.set_after(op);
        let encoded = self.elementwise(op, result, legal, |bits, x| bits.encode(kind, x));
        let reader = self.rw.body().defining_op(encoded).expect("just made");
        self.rw.replace_all_uses(result, encoded);
        self.rw.set_operand(reader, 0, result);
        self.kinds.insert(encoded, ty);
        self.count += 1;
    }

    /// A function of each element of a tensor.
    fn elementwise(
        &mut self,
        at: Op,
        input: Value,
        ty: Type,
        function: impl FnOnce(&mut Arithmetic<'_, 'b>, Value) -> Value,
    ) -> Value {
        let (cx, loc) = (self.cx(), self.rw.body().loc(at));
        let from = self.rw.body().ty(input);
        let rank = cx.shape(from).map_or(0, <[i64]>::len);
        let map = cx.identity_map(rank as u32);
        let iterators = IteratorsAttr { kinds: vec![IteratorKind::Parallel; rank] };
        let state = ComputeOp::state(&self.rw, loc, &[input], iterators, &[map, map], &[ty], 0);
        let made = self.rw.create(state);
        let point = self.rw.insert_point();
        let region = self.rw.body().regions(made).next().expect("a computation has a body");
        let block = self.rw.create_block(region, &[(cx.element_type(from), loc)]);
        self.rw.set_to_end(block);
        let arg = self.rw.body().block_args(block)[0];
        let yielded = function(&mut Arithmetic::of_scalars(&mut self.rw, loc), arg);
        YieldOp::build(&mut self.rw, loc, &[yielded]);
        self.rw.set_insert_point(point);
        self.rw.body().result(made, 0)
    }

    fn compute(&mut self, op: Op) {
        let cx = self.cx();
        let view = self.rw.op_ref(op);
        let Some(form) = ComputeForm::of(view) else { return };
        let (block, joint, reduces) = (form.body.block, form.joint.map(|j| j.body.block), form.has_reduction());
        let oob: Vec<Option<Attr>> = form.oob.clone();
        let results: Vec<Value> = view.results().collect();
        let elems: Vec<Type> = results.iter().map(|v| cx.element_type(self.rw.body().ty(*v))).collect();
        let floats: Vec<Option<FloatKind>> = elems.iter().map(|elem| byte_float(cx, *elem)).collect();
        self.outside_values(op, &oob);
        Narrow::new(&mut self.rw).block(block);
        if let Some(joint) = joint {
            Narrow::new(&mut self.rw).block(joint);
        }
        self.decode_arguments(block);
        self.widen_ops(block);
        if let Some(joint) = joint {
            for arg in self.rw.body().block_args(joint).to_vec() {
                if let Some(kind) = byte_float(cx, self.rw.body().ty(arg)) {
                    self.rw.set_type(arg, Type::F32);
                    self.scalars.insert(arg, kind);
                }
            }
            self.widen_ops(joint);
            self.widen_identity(op);
        }
        for (i, result) in results.into_iter().enumerate() {
            match floats[i] {
                Some(kind) if reduces => {
                    let wide = cx.with_element_type(self.rw.body().ty(result), Type::F32);
                    self.encode_behind(op, i, kind, wide);
                }
                Some(kind) => {
                    self.encode_yielded(block, i, kind);
                    self.retype(result);
                    self.extended.insert((result, false));
                }
                None => {
                    if !reduces && narrow::width(cx, elems[i]).is_some() {
                        self.extend_yielded(block, i, elems[i]);
                        self.extended.insert((result, has_sign(cx, elems[i])));
                    }
                    self.retype(result);
                }
            }
        }
    }

    /// Numbers that are read outside tensors are bits too.
    fn outside_values(&mut self, op: Op, oob: &[Option<Attr>]) {
        let cx = self.cx();
        let as_bits = |value: &Option<Attr>| {
            let Some(value) = *value else { return Attr::UNIT };
            match cx.attr_data(value) {
                AttrData::Float { ty, bits } if byte_float(cx, ty).is_some() => {
                    cx.int_attr(i64::from(bits as u8 as i8), Type::I8)
                }
                _ if cx.attr_type(value).is_some_and(|ty| narrow::width(cx, ty).is_some()) => {
                    cx.int_attr(cx.as_int(value).unwrap_or_default(), Type::I8)
                }
                _ => value,
            }
        };
        if oob.iter().any(Option::is_some) {
            let values: Vec<Attr> = oob.iter().map(as_bits).collect();
            self.rw.set_prop(op, "oob", Some(cx.array_attr(&values)));
        }
    }

    /// Arguments of the function that were floats of one byte are bytes, and decoded.
    fn decode_arguments(&mut self, block: Block) {
        let cx = self.cx();
        for arg in self.rw.body().block_args(block).to_vec() {
            let Some(kind) = byte_float(cx, self.rw.body().ty(arg)) else { continue };
            let loc = self.rw.body().value_loc(arg);
            self.rw.set_type(arg, Type::I8);
            if self.rw.body().is_unused(arg) {
                continue;
            }
            self.rw.set_to_start(block);
            let mut bits = Arithmetic::of_scalars(&mut self.rw, loc);
            // A value of its own, so that the uses of the argument can be told from that of the decoder.
            let decoded = bits.decode(kind, arg);
            self.scalars.insert(decoded, kind);
            let reader = self.first_reader(block, arg);
            self.rw.replace_all_uses(arg, decoded);
            self.rw.set_operand(reader, 0, arg);
        }
    }

    /// The first op of the block that reads `value`: what decodes it, which stands at the start.
    fn first_reader(&self, block: Block, value: Value) -> Op {
        let body = self.rw.body();
        let reads = |op: &Op| OpRef::new(self.rw.cx(), body, *op).operands().any(|v| v == value);
        body.ops(block).find(reads).expect("a decoder reads it")
    }

    /// Scalars that were floats of one byte are `f32`.
    fn widen_ops(&mut self, block: Block) {
        let ops: Vec<Op> = self.rw.body().ops(block).collect();
        ops.into_iter().for_each(|op| self.widen_op(op));
    }

    fn widen_op(&mut self, op: Op) {
        let cx = self.cx();
        let view = self.rw.op_ref(op);
        let Some(result) = view.results().next() else { return };
        let kind = byte_float(cx, view.ty(result));
        let operand = view.operands().next();
        self.scalars.extend(kind.map(|kind| (result, kind)));
        match (self.rw.op_ref(op).name_str(), kind, operand) {
            ("arith.constant", Some(_), _) => {
                let number = view.prop("value").and_then(|value| cx.as_f64(value)).unwrap_or_default();
                self.rw.set_prop(op, "value", Some(cx.float_attr(number, Type::F32)));
                self.rw.set_type(result, Type::F32);
            }
            ("arith.truncf" | "arith.extf", Some(kind), Some(from)) => self.round(op, kind, from),
            ("arith.sitofp" | "arith.uitofp", Some(FloatKind::F8E8M0FNU), Some(from)) => {
                let unsigned = view.name_str() == "arith.uitofp";
                let number = self.before(op).integer_to_odd(from, unsigned);
                self.rounded(op, FloatKind::F8E8M0FNU, number);
            }
            ("arith.bitcast", _, Some(from)) => self.bitcast_number(op, kind, from),
            // What it extends is an `f32` by now.
            ("arith.extf", _, Some(from)) if view.ty(from) == view.ty(result) => self.rw.replace_op(op, &[from]),
            ("arith.extf", _, Some(from)) if cx.bit_width(view.ty(from)) > cx.bit_width(view.ty(result)) => {
                let ty = view.ty(result);
                let narrow = self.before(op).op("arith.truncf", &[from], ty);
                self.rw.replace_op(op, &[narrow]);
            }
            (_, Some(_), _) => self.rw.set_type(result, Type::F32),
            _ => {}
        }
    }

    fn before(&mut self, op: Op) -> Arithmetic<'_, 'b> {
        let loc = self.rw.body().loc(op);
        self.rw.set_before(op);
        Arithmetic::of_scalars(&mut self.rw, loc)
    }

    /// A conversion to a float of one byte rounds, though what it makes stays an `f32`.
    fn round(&mut self, op: Op, kind: FloatKind, from: Value) {
        let ty = self.rw.body().ty(from);
        let mut bits = self.before(op);
        let number = match ty {
            Type::F32 => from,
            Type::F64 => bits.rounded_to_odd(from),
            _ => bits.op("arith.extf", &[from], Type::F32),
        };
        self.rounded(op, kind, number);
    }

    /// What `number`, an `f32`, becomes in a float of one byte takes the place of `op`.
    fn rounded(&mut self, op: Op, kind: FloatKind, number: Value) {
        let how = refused::to_power(self.rw.op_ref(op));
        let mut bits = self.before(op);
        let code = match how {
            Some(how) if kind == FloatKind::F8E8M0FNU => bits.encode_power(how, number),
            _ => bits.encode(kind, number),
        };
        let rounded = bits.decode(kind, code);
        self.scalars.insert(rounded, kind);
        self.rw.replace_op(op, &[rounded]);
    }

    /// The bits of a number that is or becomes a float of one byte: of what is an `f32` now they are made first.
    fn bitcast_number(&mut self, op: Op, to: Option<FloatKind>, from: Value) {
        let was = self.scalars.get(&from).copied();
        if was.is_none() && to.is_none() {
            return;
        }
        let mut bits = self.before(op);
        let code = was.map_or(from, |was| bits.encode(was, from));
        let made = to.map_or(code, |to| bits.decode(to, code));
        self.scalars.extend(to.map(|to| (made, to)));
        self.rw.replace_op(op, &[made]);
    }

    /// Number `index` that the function yields has its sign above it; one without sign gets zeros.
    fn extend_yielded(&mut self, block: Block, index: usize, elem: Type) {
        let Some(end) = self.rw.body().last_op(block).filter(|_| is_unsigned(self.cx(), elem)) else { return };
        let (number, bits) = (self.rw.op_ref(end).operand(index), self.cx().bit_width(elem).unwrap_or(8));
        let mut b = self.before(end);
        let byte = b.extended(number, bits, false);
        self.rw.set_operand(end, index, byte);
    }

    /// Number `index` that the function yields is rounded to a byte.
    fn encode_yielded(&mut self, block: Block, index: usize, kind: FloatKind) {
        let Some(end) = self.rw.body().last_op(block) else { return };
        let number = self.rw.op_ref(end).operand(index);
        let code = self.before(end).encode(kind, number);
        self.rw.set_operand(end, index, code);
    }

    /// A state of floats of one byte is one of `f32`.
    fn widen_identity(&mut self, op: Op) {
        let cx = self.cx();
        let Some(state) = self.rw.op_ref(op).as_::<ComputeOp<'_>>().and_then(|compute| compute.combine_state()) else {
            return;
        };
        let wide = |value: &Attr| match cx.attr_type(*value).and_then(|ty| byte_float(cx, ty)) {
            Some(_) => cx.float_attr(cx.as_f64(*value).unwrap_or_default(), Type::F32),
            None => *value,
        };
        let identity = state.identity.iter().map(wide).collect();
        let state = StateAttr { identity, laws: state.laws.clone() };
        self.rw.set_prop(op, "state", Some(cx.ext_attr(state)));
    }
}
