//! Emitting upstream operations: short names for what the lowering needs of `arith`, `math`, `scf`, `vector`, `llvm`.

use smallvec::SmallVec;
use sutura_dialects::arith::{CmpFPredicate, CmpIPredicate};
use sutura_dialects::r#dyn::poly::{Atom, Poly};
use sutura_dialects::gir::kinds::{BinaryKind, CastKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use sutura_dialects::llvm::{LoopAnnotation, LoopUnroll};
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineOp};
use sutura_ir::registry::constant_of;
use sutura_ir::{Attr, AttrData, Block, Builder, Context, Loc, Op, OpState, Type, TypeData, Value};

use super::gpu::threads::Spread;
use super::machine::Lanes;
use crate::expand_math::NONPOSITIVE;

/// From so many operations on LLVM does not unroll a loop of the kernel.
const LONG_LOOP: usize = 12;

/// Most trips of a loop over a dim of a window.
const WINDOW_TRIPS: i64 = 8;

/// Emits operations at the builder's insertion point.
pub(super) struct Emit<'e> {
    pub(super) b: &'e mut Builder<'e>,
    pub(super) loc: Loc,
    /// Elements of the vectors that are emitted now, whatever their type.
    pub(super) lanes: i64,
    /// Widths that vectors may have.
    pub(super) widths: Lanes,
    /// On a GPU, the threads over which a unit's vectors are spread: each has `lanes` neighbouring columns.
    pub(super) spread: Option<Spread>,
}

/// Predicates of `arith.cmpi`, as numbers.
#[derive(Clone, Copy)]
pub(super) enum Pred {
    Eq = 0,
    Slt = 2,
    Sge = 5,
    Ult = 6,
}

impl<'e> Emit<'e> {
    /// Emits with vectors of so many elements.
    pub(super) fn with_lanes<T>(&mut self, lanes: i64, emit: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.lanes, lanes);
        let result = emit(self);
        self.lanes = before;
        result
    }

    pub(super) fn cx(&self) -> &'e Context {
        self.b.cx()
    }

    /// `vector<lanes x elem>`
    pub(super) fn vec_type(&self, elem: Type) -> Type {
        self.cx().vector_type(&[self.lanes], elem)
    }

    pub(super) fn ptr_type(&self) -> Type {
        ptr_type(self.cx())
    }

    pub(super) fn op(&mut self, name: &str, operands: &[Value], results: &[Type], props: &[(&str, Attr)]) -> Op {
        let cx = self.cx();
        let mut state = OpState::new(cx.op_name(name), self.loc);
        state.operands = SmallVec::from_slice(operands);
        state.result_types = SmallVec::from_slice(results);
        for (name, value) in props {
            state = state.prop(cx.ident(name), *value);
        }
        self.b.create(state)
    }

    pub(super) fn op1(&mut self, name: &str, operands: &[Value], result: Type, props: &[(&str, Attr)]) -> Value {
        let op = self.op(name, operands, &[result], props);
        self.b.body().result(op, 0)
    }

    pub(super) fn ty(&self, value: Value) -> Type {
        self.b.body().ty(value)
    }

    // ---- constants

    pub(super) fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let value = self.without_index(value);
        self.op1("arith.constant", &[], without_index(ty), &[("value", value)])
    }

    /// An index as a 64-bit integer; any other number as it is.
    fn without_index(&self, value: Attr) -> Attr {
        let number = self.cx().as_int(value).filter(|_| self.cx().attr_type(value) == Some(Type::INDEX));
        number.map_or(value, |number| self.cx().int_attr(number, Type::I64))
    }

    pub(super) fn i64(&mut self, value: i64) -> Value {
        let attr = self.cx().int_attr(value, Type::I64);
        self.constant(attr, Type::I64)
    }

    /// A vector of equal elements.
    pub(super) fn splat(&mut self, value: Attr) -> Value {
        let value = self.without_index(value);
        let elem = self.cx().attr_type(value).expect("a number");
        let ty = self.vec_type(elem);
        let attr = self.cx().splat_attr(ty, value).expect("a vector of numbers");
        self.constant(attr, ty)
    }

    /// `[0, 1, …, lanes - 1]` as i64.
    pub(super) fn lane_numbers(&mut self) -> Value {
        let bytes: Vec<u8> = (0..self.lanes).flat_map(i64::to_le_bytes).collect();
        self.counted(Type::I64, &bytes)
    }

    /// `[0, 1, …, lanes - 1]` as i32.
    pub(super) fn narrow_lane_numbers(&mut self) -> Value {
        let bytes: Vec<u8> = (0..self.lanes).flat_map(|lane| (lane as i32).to_le_bytes()).collect();
        self.counted(Type::I32, &bytes)
    }

    fn counted(&mut self, elem: Type, bytes: &[u8]) -> Value {
        let ty = self.vec_type(elem);
        let data = self.cx().blob(bytes);
        let attr = self.cx().attr(AttrData::Dense { ty, data, splat: self.lanes == 1 });
        self.constant(attr, ty)
    }

    // ---- integer arithmetic on i64 scalars

    pub(super) fn addi(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op1("arith.addi", &[a, b], ty, &[])
    }

    pub(super) fn subi(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op1("arith.subi", &[a, b], ty, &[])
    }

    pub(super) fn muli(&mut self, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op1("arith.muli", &[a, b], ty, &[])
    }

    pub(super) fn mini(&mut self, a: Value, b: Value) -> Value {
        self.op1("arith.minsi", &[a, b], Type::I64, &[])
    }

    pub(super) fn maxi(&mut self, a: Value, b: Value) -> Value {
        self.op1("arith.maxsi", &[a, b], Type::I64, &[])
    }

    pub(super) fn cmpi(&mut self, pred: Pred, a: Value, b: Value) -> Value {
        let ty = self.cx().with_element_type(self.ty(a), Type::I1);
        let attr = self.cx().int_attr(pred as i64, Type::I64);
        self.op1("arith.cmpi", &[a, b], ty, &[("predicate", attr)])
    }

    /// Either of two truth values.
    pub(super) fn or(&mut self, a: Value, b: Value) -> Value {
        self.op1("arith.ori", &[a, b], Type::I1, &[])
    }

    pub(super) fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.op1("arith.select", &[cond, a, b], ty, &[])
    }

    /// `floor(a / b)` for a constant `b` of at least 1.
    pub(super) fn floordiv(&mut self, a: Value, divisor: i64) -> Value {
        if divisor == 1 {
            return a;
        }
        let d = self.i64(divisor);
        let quotient = self.op1("arith.divsi", &[a, d], Type::I64, &[]);
        let remainder = self.op1("arith.remsi", &[a, d], Type::I64, &[]);
        let zero = self.i64(0);
        let negative = self.cmpi(Pred::Slt, remainder, zero);
        let one = self.i64(1);
        let lower = self.subi(quotient, one);
        self.select(negative, lower, quotient)
    }

    /// Value of a size, with `symbol` giving the values of its symbols.
    pub(super) fn poly(&mut self, poly: &Poly, symbol: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
        if let Some(value) = poly.as_const() {
            return Ok(self.i64(value));
        }
        if let Some(excess) = poly.excess() {
            return Err(format!("needs a size that is too large to be computed: {excess}"));
        }
        let mut sum: Option<Value> = None;
        for (atoms, c) in poly.terms() {
            let c = i64::try_from(c).map_err(|_| format!("a coefficient of `{poly}` does not fit 64 bits"))?;
            let mut product = (c != 1 || atoms.is_empty()).then(|| self.i64(c));
            for atom in atoms {
                let value = match atom {
                    Atom::Symbol(name) => symbol(name).ok_or_else(|| format!("nothing binds the symbol `{name}`"))?,
                    Atom::FloorDiv(inner, divisor) => {
                        let inner = self.poly(inner, symbol)?;
                        self.floordiv(inner, *divisor)
                    }
                    Atom::Min(a, b) => {
                        let (a, b) = (self.poly(a, symbol)?, self.poly(b, symbol)?);
                        self.mini(a, b)
                    }
                };
                product = Some(match product {
                    Some(p) => self.muli(p, value),
                    None => value,
                });
            }
            let product = product.expect("a term has a coefficient or atoms");
            sum = Some(match sum {
                Some(s) => self.addi(s, product),
                None => product,
            });
        }
        Ok(sum.expect("zero is a constant"))
    }

    /// Value of an affine expression.
    pub(super) fn affine(&mut self, expr: AffineExpr, dims: &[Value], symbols: &[Value]) -> Result<Value, String> {
        match self.cx().affine_data(expr) {
            AffineExprData::Const(value) => Ok(self.i64(value)),
            AffineExprData::Dim(i) => Ok(dims[i as usize]),
            AffineExprData::Symbol(i) => Ok(symbols[i as usize]),
            AffineExprData::Binary(op, a, b) => {
                let left = self.affine(a, dims, symbols)?;
                if matches!(op, AffineOp::Add | AffineOp::Mul) {
                    let right = self.affine(b, dims, symbols)?;
                    return Ok(if op == AffineOp::Add { self.addi(left, right) } else { self.muli(left, right) });
                }
                let AffineExprData::Const(divisor @ 1..) = self.cx().affine_data(b) else {
                    return Err("an index is divided by something else than a positive constant".to_string());
                };
                Ok(match op {
                    AffineOp::CeilDiv => {
                        let up = self.i64(divisor - 1);
                        let sum = self.addi(left, up);
                        self.floordiv(sum, divisor)
                    }
                    AffineOp::Mod => {
                        let quotient = self.floordiv(left, divisor);
                        let d = self.i64(divisor);
                        let whole = self.muli(quotient, d);
                        self.subi(left, whole)
                    }
                    _ => self.floordiv(left, divisor),
                })
            }
        }
    }

    // ---- element functions, on scalars and vectors alike

    fn fast_math(&self, name: &str) -> SmallVec<[(&'static str, Attr); 1]> {
        let contracts = matches!(name, "arith.addf" | "arith.subf" | "arith.mulf");
        contracts
            .then(|| ("fastmath", self.cx().ext_attr(sutura_dialects::arith::FastMathFlags::CONTRACT)))
            .into_iter()
            .collect()
    }

    pub(super) fn unary(&mut self, kind: UnaryKind, a: Value) -> Value {
        let ty = self.ty(a);
        self.op1(kind.scalar_op(), &[a], ty, &[])
    }

    /// e^a for an `a` that is not above zero.
    pub(super) fn exp_nonpositive(&mut self, a: Value) -> Value {
        let (ty, loc) = (self.ty(a), self.loc);
        let mut state = OpState::new(self.cx().op_name("math.exp"), loc);
        state.operands.push(a);
        state.result_types.push(ty);
        let op = self.b.create(state.attr(self.cx().ident(NONPOSITIVE), Attr::UNIT));
        self.b.body().result(op, 0)
    }

    pub(super) fn binary(&mut self, kind: BinaryKind, a: Value, b: Value) -> Value {
        if kind.divides_integers() {
            return self.divide_integers(kind, a, b);
        }
        let (ty, props) = (self.ty(a), self.fast_math(kind.scalar_op()));
        self.op1(kind.scalar_op(), &[a, b], ty, &props)
    }

    /// An integer one for each lane of `like`. Machines stop at a division by zero, and lanes that mean nothing are zero.
    pub(super) fn ones_like(&mut self, like: Value) -> Value {
        let ty = self.ty(like);
        let elem = self.cx().element_type(ty);
        let one = self.cx().int_attr(1, elem);
        if ty == elem { self.constant(one, ty) } else { self.splat(one) }
    }

    pub(super) fn combine(&mut self, kind: Combiner, a: Value, b: Value) -> Value {
        // A sum is not contracted: its order is fixed, and so are its bits.
        let ty = self.ty(a);
        self.op1(kind.scalar_op(), &[a, b], ty, &[])
    }

    pub(super) fn ternary(&mut self, kind: TernaryKind, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(c);
        self.op1(kind.scalar_op(), &[a, b, c], ty, &[])
    }

    /// `a * b + c`, of floats with one rounding.
    pub(super) fn multiply_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        if self.cx().element_type(self.ty(c)).is_float(self.cx()) {
            return self.ternary(TernaryKind::Fma, a, b, c);
        }
        let product = self.binary(BinaryKind::MulI, a, b);
        self.binary(BinaryKind::AddI, product, c)
    }

    pub(super) fn compare(&mut self, kind: CompareKind, a: Value, b: Value) -> Value {
        let (op, predicate) = kind.scalar_op().split_once('.').expect("a comparison and its predicate");
        let (op, number) = match op {
            "cmpi" => ("arith.cmpi", CmpIPredicate::from_keyword(predicate).map(|p| p as i64)),
            _ => ("arith.cmpf", CmpFPredicate::from_keyword(predicate).map(|p| p as i64)),
        };
        let number = number.expect("every comparison has a predicate");
        let ty = self.cx().with_element_type(self.ty(a), Type::I1);
        let attr = self.cx().int_attr(number, Type::I64);
        self.op1(op, &[a, b], ty, &[("predicate", attr)])
    }

    pub(super) fn cast(&mut self, kind: CastKind, a: Value, elem: Type) -> Value {
        let elem = without_index(elem);
        let ty = self.cx().with_element_type(self.ty(a), elem);
        // Indices are 64-bit integers here, so what would convert them is a change of width or nothing.
        if kind == CastKind::IndexCast {
            let from = self.cx().bit_width(self.cx().element_type(self.ty(a))).unwrap_or(64);
            let to = self.cx().bit_width(elem).unwrap_or(64);
            return match from.cmp(&to) {
                std::cmp::Ordering::Equal => a,
                std::cmp::Ordering::Less => self.op1("arith.extsi", &[a], ty, &[]),
                std::cmp::Ordering::Greater => self.op1("arith.trunci", &[a], ty, &[]),
            };
        }
        self.op1(kind.scalar_op(), &[a], ty, &[])
    }

    // ---- vectors

    pub(super) fn broadcast(&mut self, scalar: Value) -> Value {
        let ty = self.vec_type(self.ty(scalar));
        self.op1("vector.broadcast", &[scalar], ty, &[])
    }

    /// The lanes of `a`, and behind them those of `b`, that `lanes` names.
    pub(super) fn shuffle(&mut self, a: Value, b: Value, lanes: impl Iterator<Item = i64>) -> Value {
        let lanes: Vec<i64> = lanes.collect();
        let elem = self.cx().element_type(self.ty(a));
        let ty = self.cx().vector_type(&[lanes.len() as i64], elem);
        let mask = self.cx().i64_array(&lanes);
        self.op1("vector.shuffle", &[a, b], ty, &[("mask", mask)])
    }

    // ---- memory

    /// Address of element `index` (in elements) from `ptr`.
    pub(super) fn gep(&mut self, ptr: Value, index: Value, elem: Type) -> Value {
        let indices = self.cx().i32_array(&[i32::MIN]);
        let props = [("rawConstantIndices", indices), ("elem_type", self.cx().type_attr(elem))];
        let ty = match self.cx().type_data(self.ty(index)) {
            TypeData::Vector { shape, .. } => {
                let n = self.cx().ints(shape)[0];
                self.cx().vector_type(&[n], self.ty(ptr))
            }
            _ => self.ty(ptr),
        };
        self.op1("llvm.getelementptr", &[ptr, index], ty, &props)
    }

    pub(super) fn alignment(&self, elem: Type) -> Attr {
        let bytes = self.cx().bit_width(elem).map_or(1, |bits| i64::from(bits.div_ceil(8)));
        self.cx().int_attr(bytes, Type::I64)
    }

    pub(super) fn load(&mut self, ptr: Value, ty: Type) -> Value {
        let align = self.access_alignment(ty);
        self.op1("llvm.load", &[ptr], ty, &[("alignment", align)])
    }

    pub(super) fn store(&mut self, value: Value, ptr: Value) {
        let align = self.access_alignment(self.ty(value));
        self.op("llvm.store", &[value, ptr], &[], &[("alignment", align)]);
    }

    /// Alignment of an access. A thread of a GPU reads neighbours as one, so its vectors are chosen to be aligned whole.
    fn access_alignment(&self, ty: Type) -> Attr {
        let elem = self.cx().element_type(ty);
        let lanes = self.cx().shape(ty).map_or(1, |shape| shape.iter().product());
        match self.spread {
            Some(_) => {
                let bytes = self.cx().bit_width(elem).map_or(1, |bits| i64::from(bits.div_ceil(8)));
                self.cx().int_attr(bytes * lanes, Type::I64)
            }
            None => self.alignment(elem),
        }
    }

    fn alignment32(&self, elem: Type) -> Attr {
        let bytes = self.cx().bit_width(elem).map_or(1, |bits| i64::from(bits.div_ceil(8)));
        self.cx().int_attr(bytes, Type::I32)
    }

    pub(super) fn masked_load(&mut self, ptr: Value, mask: Value, pass: Value) -> Value {
        if self.spread.is_some() {
            return self.load_if(ptr, mask, pass);
        }
        let elem = self.cx().element_type(self.ty(pass));
        let (pass, align) = (self.as_bits(pass), self.alignment32(elem));
        let ty = self.ty(pass);
        let value = self.op1("llvm.intr.masked.load", &[ptr, mask, pass], ty, &[("alignment", align)]);
        self.of_bits(value, elem)
    }

    /// Floats of 16 bits as these: a processor that does not compute with them would convert them to move them one by one.
    pub(super) fn as_bits(&mut self, value: Value) -> Value {
        let elem = self.cx().element_type(self.ty(value));
        match elem.is_float(self.cx()) && self.cx().bit_width(elem) == Some(16) {
            true => self.of_bits(value, Type::I16),
            false => value,
        }
    }

    /// Bits as numbers of a type as wide.
    fn of_bits(&mut self, value: Value, elem: Type) -> Value {
        if self.cx().element_type(self.ty(value)) == elem {
            return value;
        }
        let ty = self.vec_type(elem);
        self.op1("arith.bitcast", &[value], ty, &[])
    }

    pub(super) fn masked_store(&mut self, value: Value, ptr: Value, mask: Value) {
        if self.spread.is_some() {
            return self.store_if(value, ptr, mask);
        }
        let value = self.as_bits(value);
        let align = self.alignment32(self.cx().element_type(self.ty(value)));
        self.op("llvm.intr.masked.store", &[value, ptr, mask], &[], &[("alignment", align)]);
    }

    pub(super) fn gather(&mut self, ptrs: Value, mask: Value, pass: Value) -> Value {
        let elem = self.cx().element_type(self.ty(pass));
        let (pass, align) = (self.as_bits(pass), self.alignment32(elem));
        let ty = self.ty(pass);
        let value = self.op1("llvm.intr.masked.gather", &[ptrs, mask, pass], ty, &[("alignment", align)]);
        self.of_bits(value, elem)
    }

    pub(super) fn scatter(&mut self, value: Value, ptrs: Value, mask: Value) {
        let value = self.as_bits(value);
        let align = self.alignment32(self.cx().element_type(self.ty(value)));
        self.op("llvm.intr.masked.scatter", &[value, ptrs, mask], &[], &[("alignment", align)]);
    }

    // ---- control flow

    /// `scf.for` over i64 with carried values; `body` gets the index and the carried values and returns the next.
    pub(super) fn for_loop(
        &mut self,
        (lo, hi, step): (Value, Value, Value),
        inits: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>, String>,
    ) -> Result<Vec<Value>, String> {
        let types: Vec<Type> = inits.iter().map(|v| self.ty(*v)).collect();
        let mut state = OpState::new(self.cx().op_name("scf.for"), self.loc).regions(1);
        state.operands.extend([lo, hi, step]);
        state.operands.extend_from_slice(inits);
        state.result_types.extend_from_slice(&types);
        let op = self.b.create(state);
        let region = self.b.body().regions(op).next().expect("made with a region");
        let mut args = vec![(Type::I64, self.loc)];
        args.extend(types.iter().map(|t| (*t, self.loc)));
        let block = self.b.create_block(region, &args);
        let point = self.b.set_insert_point(sutura_ir::builder::InsertPoint::End(block));
        let args: Vec<Value> = self.b.body().block_args(block).to_vec();
        let next = body(self, args[0], &args[1..])?;
        self.op("scf.yield", &next, &[], &[]);
        self.b.set_insert_point(point);
        Ok(self.b.body().results(op).collect())
    }

    /// Tells LLVM not to unroll a long loop of a kernel, unless all of it may go, as the windows of convolutions do: to go a few times
    /// round it saves nothing when it runs, and takes long to compile.
    pub(super) fn keep_rolled(&mut self, op: Op) {
        let body = self.b.body();
        if self.spread.is_some() || body.preorder_in(op).take(LONG_LOOP + 1).count() <= LONG_LOOP {
            return;
        }
        let is_loop = |inner: &Op| *inner == op || body.name(*inner).as_str(self.cx()) == "scf.for";
        let stays = |one: Op| self.trips(one).is_none_or(|trips| trips > WINDOW_TRIPS);
        if [op].into_iter().chain(body.preorder_in(op)).filter(is_loop).any(stays) {
            let rolled = self.cx().ext_attr(LoopAnnotation { unroll: LoopUnroll::NONE });
            self.b.set_attr(op, "loop_annotation", Some(rolled));
        }
    }

    /// How often a loop runs, where its bounds are constants.
    fn trips(&self, op: Op) -> Option<i64> {
        let (cx, body) = (self.cx(), self.b.body());
        let bounds = body.operands(op).take(3).map(|bound| cx.as_int(constant_of(body, cx, bound)?));
        let [lo, hi, step] = bounds.collect::<Option<Vec<i64>>>()?[..] else { return None };
        hi.checked_sub(lo)?.checked_div(step)
    }

    /// `scf.if`; both branches return values of `types`.
    pub(super) fn if_else(
        &mut self,
        cond: Value,
        types: &[Type],
        then: impl FnOnce(&mut Self) -> Result<Vec<Value>, String>,
        otherwise: impl FnOnce(&mut Self) -> Result<Vec<Value>, String>,
    ) -> Result<Vec<Value>, String> {
        let mut state = OpState::new(self.cx().op_name("scf.if"), self.loc).regions(2);
        state.operands.push(cond);
        state.result_types.extend_from_slice(types);
        let op = self.b.create(state);
        let regions: Vec<_> = self.b.body().regions(op).collect();
        let enter = |emit: &mut Self, index: usize| -> Block {
            let block = emit.b.create_block(regions[index], &[]);
            emit.b.set_to_end(block);
            block
        };
        let point = self.b.insert_point();
        enter(self, 0);
        let values = then(self)?;
        self.op("scf.yield", &values, &[], &[]);
        enter(self, 1);
        let values = otherwise(self)?;
        self.op("scf.yield", &values, &[], &[]);
        self.b.set_insert_point(point);
        Ok(self.b.body().results(op).collect())
    }
}

/// The value with which a combination starts.
pub(super) fn identity(cx: &Context, kind: Combiner, elem: Type) -> Attr {
    let bits = cx.bit_width(elem).unwrap_or(64).min(64);
    match kind {
        Combiner::Add => cx.float_attr(0.0, elem),
        Combiner::Mul => cx.float_attr(1.0, elem),
        Combiner::Max => cx.float_attr(f64::NEG_INFINITY, elem),
        Combiner::Min => cx.float_attr(f64::INFINITY, elem),
        Combiner::AddI | Combiner::Or => cx.int_attr(0, elem),
        Combiner::MulI => cx.int_attr(1, elem),
        Combiner::And => cx.int_attr(-1, elem),
        Combiner::MaxSI => cx.int_attr(i64::MIN >> (64 - bits), elem),
        Combiner::MinSI => cx.int_attr(i64::MAX >> (64 - bits), elem),
    }
}

/// Indices are 64-bit integers in lowered kernels.
pub(super) fn without_index(ty: Type) -> Type {
    if ty == Type::INDEX { Type::I64 } else { ty }
}

/// `!llvm.ptr`
pub(super) fn ptr_type(cx: &Context) -> Type {
    cx.ext_type(sutura_dialects::llvm::types::PointerType { address_space: 0 })
}
