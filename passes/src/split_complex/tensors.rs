//! Tensors of complex elements as pairs of tensors of their parts.

use rustc_hash::FxHashMap;
use sutura_dialects::complex::parts;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::{symbolic_shape, tensor_of};
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::graph::build::scalar::constant;
use sutura_dialects::graph::{
    BitcastOp, Combiner, CombinersAttr, ComputeForm, ComputeOp, ConstantOp, IndexOp, IteratorKind, IteratorsAttr, Law,
    ScanOp, ShapeOfOp, StateAttr, YieldOp,
};
use sutura_interp::ComplexFn;
use sutura_interp::num::CmpI;
use sutura_ir::affine::AffineMap;
use sutura_ir::{Attr, AttrData, Body, Context, Loc, Op, OpRef, OpState, Rewriter, Type, Value};

use super::scalar::{self, Ops};
use super::{Way, part_of};

/// Splits the tensors of a function whose ops are all known, and counts them.
pub(super) fn split(cx: &Context, body: &mut Body, ops: &[Op]) -> u64 {
    let states = |op: &&Op| {
        let view = OpRef::new(cx, body, **op);
        view.is::<SymbolOp<'_>>() || view.is::<EqualOp<'_>>() || view.is::<ConstantOp<'_>>()
    };
    let first = ops.iter().find(|op| !states(op)).copied();
    let (parts, read) = (FxHashMap::default(), FxHashMap::default());
    let mut splitter = Splitter { rw: Rewriter::new(cx, body), parts, read, first, gone: Vec::new() };
    for op in ops {
        splitter.op(*op);
    }
    let count = splitter.parts.len() + splitter.read.len();
    let Splitter { mut rw, gone, .. } = splitter;
    gone.into_iter().rev().for_each(|op| rw.erase_op(op));
    count as u64
}

struct Splitter<'b> {
    rw: Rewriter<'b>,
    /// What stands in the place of tensors that will be gone.
    parts: FxHashMap<Value, [Value; 2]>,
    /// The parts of tensors that stay.
    read: FxHashMap<Value, [Value; 2]>,
    /// The first op behind what is stated of sizes, which stands before all that has some, and constants.
    first: Option<Op>,
    /// Ops that have been replaced.
    gone: Vec<Op>,
}

impl<'b> Splitter<'b> {
    fn cx(&self) -> &'b Context {
        self.rw.cx()
    }

    fn is_complex(&self, value: Value) -> bool {
        part_of(self.cx(), self.rw.body().ty(value)).is_some()
    }

    fn op(&mut self, op: Op) {
        let view = self.rw.op_ref(op);
        let values: Vec<Value> = view.operands().chain(view.results()).collect();
        if !values.into_iter().any(|value| self.is_complex(value)) {
            return;
        }
        let view = self.rw.op_ref(op);
        if view.is::<ComputeOp<'_>>() {
            self.compute(op);
        } else if view.is::<ConstantOp<'_>>() {
            self.constant(op);
        } else if view.is::<BitcastOp<'_>>() {
            self.bitcast(op);
        } else if view.is::<ShapeOfOp<'_>>() {
            let input = view.operand(0);
            if let Some([re, _]) = self.parts.get(&input).copied() {
                self.rw.set_operand(op, 0, re);
            }
        } else {
            match Way::of(view) {
                Some(Way::ByPart) => self.in_parts(op),
                Some(Way::Product) => self.at_once(op, true),
                Some(Way::Region) => self.at_once(op, false),
                None => self.leave(op),
            }
        }
    }

    /// The parts of a complex tensor, which are read where it is defined if it stays.
    fn parts(&mut self, value: Value) -> [Value; 2] {
        if let Some(parts) = self.parts.get(&value).or_else(|| self.read.get(&value)) {
            return *parts;
        }
        let point = self.rw.insert_point();
        match (self.rw.body().defining_op(value), self.first) {
            (None, Some(first)) => {
                self.rw.set_before(first);
            }
            _ => {
                self.rw.set_after_value(value);
            }
        }
        let (loc, ty) = (self.rw.body().value_loc(value), self.side_by_side(value));
        let given = self.rw.def::<BitcastOp<'_>>(value).map(|cast| cast.input());
        let bits = given.unwrap_or_else(|| BitcastOp::value(&mut self.rw, loc, value, ty));
        let parts = self.apart(loc, bits);
        self.rw.set_insert_point(point);
        self.read.insert(value, parts);
        parts
    }

    /// The type of the parts of a complex tensor, side by side.
    fn side_by_side(&self, value: Value) -> Type {
        let (cx, ty) = (self.cx(), self.rw.body().ty(value));
        let mut dims = symbolic_shape(cx, ty).unwrap_or_default();
        dims.push(Some(Poly::constant(2)));
        tensor_of(cx, &dims, part_of(cx, ty).unwrap_or(ty))
    }

    /// Real and imaginary parts that lie side by side, each as a tensor.
    fn apart(&mut self, loc: Loc, bits: Value) -> [Value; 2] {
        let (cx, ty) = (self.cx(), self.rw.body().ty(bits));
        let mut dims = symbolic_shape(cx, ty).unwrap_or_default();
        dims.pop();
        let rank = dims.len();
        let elem = cx.element_type(ty);
        let result = tensor_of(cx, &dims, elem);
        [0, 1].map(|part| {
            let mut exprs: Vec<_> = (0..rank).map(|d| cx.affine_dim(d as u32)).collect();
            exprs.push(cx.affine_const(part));
            let maps = [cx.affine_map(rank as u32, 0, &exprs), cx.identity_map(rank as u32)];
            self.elementwise(loc, &[bits], rank, &maps, result, |_, args| args[0])
        })
    }

    /// Parts put side by side.
    fn together(&mut self, loc: Loc, [re, im]: [Value; 2]) -> Value {
        let (cx, ty) = (self.cx(), self.rw.body().ty(re));
        let mut dims = symbolic_shape(cx, ty).unwrap_or_default();
        let rank = dims.len();
        dims.push(Some(Poly::constant(2)));
        let elem = cx.element_type(ty);
        let result = tensor_of(cx, &dims, elem);
        let exprs: Vec<_> = (0..rank).map(|d| cx.affine_dim(d as u32)).collect();
        let each = cx.affine_map(rank as u32 + 1, 0, &exprs);
        let maps = [each, each, cx.identity_map(rank as u32 + 1)];
        self.elementwise(loc, &[re, im], rank + 1, &maps, result, |rw, args| {
            let part = IndexOp::value(rw, loc, rank as i64);
            let zero = constant(rw, loc, cx.int_attr(0, Type::INDEX), Type::INDEX);
            let state = OpState::new(cx.op_name("arith.cmpi"), loc).operands([part, zero]).results([Type::I1]);
            let state = state.prop(cx.ident("predicate"), cx.int_attr(CmpI::Eq as i64, Type::I64));
            let compare = rw.create(state);
            let real = rw.body().result(compare, 0);
            let select =
                OpState::new(cx.op_name("arith.select"), loc).operands([real, args[0], args[1]]).results([elem]);
            let select = rw.create(select);
            rw.body().result(select, 0)
        })
    }

    /// A function of elements.
    fn elementwise(
        &mut self,
        loc: Loc,
        inputs: &[Value],
        rank: usize,
        maps: &[AffineMap],
        result: Type,
        function: impl FnOnce(&mut Rewriter<'b>, &[Value]) -> Value,
    ) -> Value {
        let cx = self.cx();
        let args: Vec<(Type, Loc)> =
            inputs.iter().map(|input| (cx.element_type(self.rw.body().ty(*input)), loc)).collect();
        let iterators = IteratorsAttr { kinds: vec![IteratorKind::Parallel; rank] };
        let state = ComputeOp::state(&self.rw, loc, inputs, iterators, maps, &[result], 0);
        let made = self.rw.create(state);
        let point = self.rw.insert_point();
        let region = self.rw.body().regions(made).next().expect("a computation has a body");
        let block = self.rw.create_block(region, &args);
        self.rw.set_to_end(block);
        let args = self.rw.body().block_args(block).to_vec();
        let yielded = function(&mut self.rw, &args);
        YieldOp::build(&mut self.rw, loc, &[yielded]);
        self.rw.set_insert_point(point);
        self.rw.body().result(made, 0)
    }

    /// An op of which nothing is known takes and makes what it did.
    fn leave(&mut self, op: Op) {
        let view = self.rw.op_ref(op);
        let (loc, operands): (Loc, Vec<Value>) = (view.loc(), view.operands().collect());
        for (i, operand) in operands.into_iter().enumerate() {
            let Some(parts) = self.parts.get(&operand).copied() else { continue };
            let ty = self.rw.body().ty(operand);
            self.rw.set_before(op);
            let bits = self.together(loc, parts);
            let whole = BitcastOp::value(&mut self.rw, loc, bits, ty);
            self.rw.set_operand(op, i, whole);
        }
    }

    /// The parts of a constant are constants where it holds one number, else they are read from its bytes.
    fn constant(&mut self, op: Op) {
        let (cx, view) = (self.cx(), self.rw.op_ref(op));
        let (loc, result) = (view.loc(), view.result(0));
        let value = view.prop("value").map(|value| cx.attr_data(value));
        let (wide, ty) = (self.side_by_side(result), self.rw.body().ty(result));
        self.rw.set_before(op);
        let data = match value {
            Some(AttrData::Dense { data, splat: true, .. }) => {
                let part = part_of(cx, ty).unwrap_or(ty);
                let bytes = cx.bytes(data);
                let (re, im) = bytes.split_at(bytes.len() / 2);
                let ty = cx.with_element_type(ty, part);
                let made = [re, im].map(|bytes| {
                    let data = AttrData::Dense { ty, data: cx.blob(bytes), splat: true };
                    let value = cx.attr(data);
                    ConstantOp::value(&mut self.rw, loc, value)
                });
                return self.replaced(op, result, made);
            }
            Some(AttrData::Dense { data, .. }) => AttrData::Dense { ty: wide, data, splat: false },
            Some(AttrData::DenseResource { key, .. }) => AttrData::DenseResource { ty: wide, key },
            _ => return self.leave(op),
        };
        let bits = ConstantOp::value(&mut self.rw, loc, cx.attr(data));
        let made = self.apart(loc, bits);
        self.replaced(op, result, made);
    }

    fn replaced(&mut self, op: Op, result: Value, made: [Value; 2]) {
        self.parts.insert(result, made);
        self.gone.push(op);
    }

    /// Parts that are asked for are put side by side; such that are given stay what they are.
    fn bitcast(&mut self, op: Op) {
        let view = self.rw.op_ref(op);
        let (loc, input, result) = (view.loc(), view.operand(0), view.result(0));
        self.rw.set_before(op);
        if let Some(parts) = self.parts.get(&input).copied() {
            let bits = self.together(loc, parts);
            let ty = self.rw.body().ty(result);
            self.rw.set_type(bits, ty);
            self.rw.replace_all_uses(result, bits);
            self.gone.push(op);
        }
    }

    /// What moves or adds elements does so with both parts; what is real beside them is made twice, and used once.
    fn in_parts(&mut self, op: Op) {
        let cx = self.cx();
        let view = self.rw.op_ref(op);
        let (name, loc) = (view.name(), view.loc());
        let (operands, results): (Vec<Value>, Vec<Value>) = (view.operands().collect(), view.results().collect());
        let (props, attrs) = (self.rw.body().props(op), self.rw.body().attrs(op));
        let pairs: Vec<[Value; 2]> = operands
            .into_iter()
            .map(|value| if self.is_complex(value) { self.parts(value) } else { [value; 2] })
            .collect();
        let types: Vec<Type> = results.iter().map(|result| self.rw.body().ty(*result)).collect();
        let types = types.into_iter().map(|ty| part_of(cx, ty).map_or(ty, |part| cx.with_element_type(ty, part)));
        let types: Vec<Type> = types.collect();
        self.rw.set_before(op);
        let [real, imaginary] = [0, 1].map(|part| {
            let operands = pairs.iter().map(|pair| pair[part]);
            let mut state = OpState::new(name, loc).operands(operands).results(types.iter().copied());
            state.props.extend(cx.entries(props).iter().copied());
            state.attrs.extend(cx.entries(attrs).iter().copied());
            let made = self.rw.create(state);
            self.rw.body().results(made).collect::<Vec<Value>>()
        });
        for ((result, re), im) in results.into_iter().zip(real).zip(imaginary) {
            match self.is_complex(result) {
                true => drop(self.parts.insert(result, [re, im])),
                false => self.rw.replace_all_uses(result, re),
            }
        }
        self.gone.push(op);
    }

    /// What multiplies elements as it goes or at one place, or joins them by a region, joins both parts at once by a region.
    fn at_once(&mut self, op: Op, product: bool) {
        let cx = self.cx();
        let view = self.rw.op_ref(op);
        let (name, loc, scans) = (view.name(), view.loc(), view.is::<ScanOp<'_>>());
        let (operands, results): (Vec<Value>, Vec<Value>) = (view.operands().collect(), view.results().collect());
        let identity = match view.as_::<ScanOp<'_>>().and_then(|scan| scan.joint()) {
            Some(joint) => Some((joint.state.identity.clone(), joint.state.laws.clone())),
            None if scans => Some(of_product(cx, cx.element_type(view.ty(view.result(0))))),
            None => None,
        };
        let operands: Vec<Value> = operands.into_iter().flat_map(|value| self.numbers(value)).collect();
        let types: Vec<Type> = results.iter().flat_map(|result| flat_types(cx, self.rw.body().ty(*result))).collect();
        let first = types[0];
        let kept =
            |dict: Attr| cx.entries(dict).iter().filter(|entry| !REWRITTEN.contains(&cx.str(entry.name))).copied();
        self.rw.set_before(op);
        let mut state = OpState::new(name, loc).operands(operands).results(types).regions(1);
        state.props.extend(kept(self.rw.body().props(op)));
        state.attrs.extend(kept(self.rw.body().attrs(op)));
        if let Some((identity, laws)) = identity {
            state = state.prop(cx.ident("state"), flat_state(cx, &identity, &laws));
        }
        let made = self.rw.create(state);
        match product {
            true => self.join_product(made, 0, loc, first),
            false => self.take_regions(op, made),
        }
        self.stand_for(op, results, made);
    }

    /// The numbers that stand for a tensor: its parts, or itself.
    fn numbers(&mut self, value: Value) -> Vec<Value> {
        if self.is_complex(value) { self.parts(value).to_vec() } else { vec![value] }
    }

    /// Results of `made`, two for each complex one, take the place of those of `op`.
    fn stand_for(&mut self, op: Op, results: Vec<Value>, made: Op) {
        let mut new = self.rw.body().results(made).collect::<Vec<_>>().into_iter();
        for result in results {
            let Some(first) = new.next() else { break };
            match self.is_complex(result).then(|| new.next()).flatten() {
                Some(second) => drop(self.parts.insert(result, [first, second])),
                None => self.rw.replace_all_uses(result, first),
            }
        }
        self.gone.push(op);
    }

    /// A function of elements takes and makes parts.
    fn compute(&mut self, op: Op) {
        let Some(Flat { operands, maps, oob, types }) = self.flat(op) else { return };
        let (cx, view) = (self.cx(), self.rw.op_ref(op));
        let Some(form) = ComputeForm::of(view) else { return };
        let (loc, kinds, joins) = (view.loc(), form.iterators.clone(), self.joined(&form));
        let results: Vec<Value> = view.results().collect();
        let product = form.joint.is_none() && joins.as_ref().is_some_and(|(name, _)| *name == "state");
        let regions = usize::from(form.joint.is_some() || product);
        let kept =
            |dict: Attr| cx.entries(dict).iter().filter(|entry| !REWRITTEN.contains(&cx.str(entry.name))).copied();
        self.rw.set_before(op);
        let mut made = ComputeOp::state(&self.rw, loc, &operands, IteratorsAttr { kinds }, &maps, &types, regions);
        made.props.extend(kept(self.rw.body().props(op)));
        made.attrs.extend(kept(self.rw.body().attrs(op)));
        if oob.iter().any(|value| *value != Attr::UNIT) {
            made = made.prop(cx.ident("oob"), cx.array_attr(&oob));
        }
        if let Some((name, value)) = joins {
            made = made.prop(cx.ident(name), value);
        }
        let made = self.rw.create(made);
        self.take_regions(op, made);
        if product {
            self.join_product(made, 1, loc, types[0]);
        }
        self.stand_for(op, results, made);
    }

    /// Inputs and results, of which complex ones are two.
    fn flat(&mut self, op: Op) -> Option<Flat> {
        let cx = self.cx();
        let view = self.rw.op_ref(op);
        let form = ComputeForm::of(view)?;
        let given: Vec<(Value, AffineMap, Option<Attr>)> =
            form.inputs().zip(&form.input_maps).zip(&form.oob).map(|((v, map), oob)| (v, *map, *oob)).collect();
        let made: Vec<(Value, AffineMap)> = form.results().zip(form.result_maps.clone()).collect();
        let mut flat = Flat::default();
        for (value, map, oob) in given {
            let both = self.numbers(value);
            let outside = oob.map_or(vec![Attr::UNIT; both.len()], |oob| numbers(cx, oob));
            flat.maps.extend(both.iter().map(|_| map));
            flat.operands.extend(both);
            flat.oob.extend(outside);
        }
        for (value, map) in made {
            let ty = self.rw.body().ty(value);
            let both = flat_types(cx, ty);
            flat.maps.extend(both.iter().map(|_| map));
            flat.types.extend(both);
        }
        Some(flat)
    }

    /// The attribute that says how contributions are joined: a sum of complex numbers is one of each part, and a product, which
    /// no other result stands beside, joins both at once.
    fn joined(&self, form: &ComputeForm<'_>) -> Option<(&'static str, Attr)> {
        let cx = self.cx();
        if let Some(joint) = form.joint {
            return Some(("state", flat_state(cx, &joint.state.identity, &joint.state.laws)));
        }
        let complex: Vec<bool> = form.results().map(|result| self.is_complex(result)).collect();
        if let ([Combiner::Mul], [true]) = (&form.combiners[..], &complex[..]) {
            let elem = cx.element_type(form.op.result_types().next()?);
            let (identity, laws) = of_product(cx, elem);
            return Some(("state", flat_state(cx, &identity, &laws)));
        }
        let both = form.combiners.iter().zip(complex).flat_map(|(c, complex)| vec![*c; if complex { 2 } else { 1 }]);
        let kinds: Vec<Combiner> = both.collect();
        (!kinds.is_empty()).then(|| ("combiners", cx.ext_attr(CombinersAttr { kinds })))
    }

    /// Moves the regions of an op to the one in its place, and computes with parts in them.
    fn take_regions(&mut self, from: Op, to: Op) {
        let regions: Vec<_> = self.rw.body().regions(from).zip(self.rw.body().regions(to)).collect();
        let point = self.rw.insert_point();
        for (old, new) in regions {
            self.rw.take_region(old, new);
            let block = self.rw.body().region_entry(new).expect("has a block, by its verifier");
            scalar::split(&mut self.rw, block).expect("known, as was checked");
        }
        self.rw.set_insert_point(point);
    }

    /// A region, one that `op` was made with, that joins two products.
    fn join_product(&mut self, op: Op, region: usize, loc: Loc, ty: Type) {
        let part = self.cx().element_type(ty);
        let point = self.rw.insert_point();
        let region = self.rw.body().regions(op).nth(region).expect("it was made with as many");
        let block = self.rw.create_block(region, &[(part, loc); 4]);
        self.rw.set_to_end(block);
        let args = self.rw.body().block_args(block).to_vec();
        let mut ops = Ops { rw: &mut self.rw, loc, part };
        let made = ComplexFn::Mul.apply(&mut ops, &args).expect("a product of two numbers");
        YieldOp::build(&mut self.rw, loc, &made);
        self.rw.set_insert_point(point);
    }
}

/// Inherent attributes that are made anew.
const REWRITTEN: [&str; 6] = ["iterators", "maps", "combiner", "combiners", "state", "oob"];

/// Inputs and results of a function of elements.
#[derive(Default)]
struct Flat {
    operands: Vec<Value>,
    /// Of inputs, then of results.
    maps: Vec<AffineMap>,
    oob: Vec<Attr>,
    types: Vec<Type>,
}

/// The types of the tensors that stand for one of type `ty`.
fn flat_types(cx: &Context, ty: Type) -> Vec<Type> {
    part_of(cx, ty).map_or(vec![ty], |part| vec![cx.with_element_type(ty, part); 2])
}

/// A state of parts.
fn flat_state(cx: &Context, identity: &[Attr], laws: &[Law]) -> Attr {
    let identity = identity.iter().flat_map(|number| numbers(cx, *number)).collect();
    cx.ext_attr(StateAttr { identity, laws: laws.to_vec() })
}

/// Identity and laws of a product of complex numbers.
fn of_product(cx: &Context, elem: Type) -> (Vec<Attr>, Vec<Law>) {
    (vec![Combiner::Mul.identity(cx, elem)], vec![Law::Associative, Law::Commutative])
}

/// The parts of a complex number, or the number itself.
fn numbers(cx: &Context, number: Attr) -> Vec<Attr> {
    parts(cx, number).map_or(vec![number], Vec::from)
}
