//! Short names for the upstream operations that a host program is made of.

use sutura_ir::{Attr, Block, Builder, Context, Loc, Op, OpState, Type, Value};

/// Predicates of `arith.cmpi`.
#[derive(Clone, Copy)]
pub(super) enum Pred {
    Eq = 0,
    Ne = 1,
    Slt = 2,
    Sle = 3,
    Sge = 5,
}

/// `arith.cmpf`'s ordered less-than.
const OLT: i64 = 4;

/// `!llvm.ptr`
pub(super) fn ptr_type(cx: &Context) -> Type {
    cx.ext_type(sutura_dialects::llvm::types::PointerType { address_space: 0 })
}

/// Emits operations at the builder's insertion point.
pub(super) struct Emit<'e, 'b> {
    pub(super) b: &'e mut Builder<'b>,
    pub(super) loc: Loc,
}

impl<'b> Emit<'_, 'b> {
    pub(super) fn cx(&self) -> &'b Context {
        self.b.cx()
    }

    pub(super) fn op(&mut self, name: &str, operands: &[Value], results: &[Type], props: &[(&str, Attr)]) -> Op {
        let cx = self.cx();
        let state = OpState::new(cx.op_name(name), self.loc);
        let state = state.operands(operands.iter().copied()).results(results.iter().copied());
        let state = props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value));
        self.b.create(state)
    }

    pub(super) fn value(&mut self, name: &str, operands: &[Value], result: Type, props: &[(&str, Attr)]) -> Value {
        let op = self.op(name, operands, &[result], props);
        self.b.body().result(op, 0)
    }

    // ---- numbers

    pub(super) fn i64(&mut self, value: i64) -> Value {
        let value = self.cx().int_attr(value, Type::I64);
        self.value("arith.constant", &[], Type::I64, &[("value", value)])
    }

    pub(super) fn i32(&mut self, value: i64) -> Value {
        let value = self.cx().int_attr(value, Type::I32);
        self.value("arith.constant", &[], Type::I32, &[("value", value)])
    }

    pub(super) fn i8(&mut self, value: i64) -> Value {
        let value = self.cx().int_attr(value, Type::I8);
        self.value("arith.constant", &[], Type::I8, &[("value", value)])
    }

    pub(super) fn f64(&mut self, value: f64) -> Value {
        let value = self.cx().f64_attr(value);
        self.value("arith.constant", &[], Type::F64, &[("value", value)])
    }

    /// An integer operation of two operands, such as `arith.addi`.
    pub(super) fn int(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.value(name, &[a, b], Type::I64, &[])
    }

    /// A float operation of two operands, such as `arith.addf`.
    pub(super) fn float(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.value(name, &[a, b], Type::F64, &[])
    }

    pub(super) fn compare(&mut self, pred: Pred, a: Value, b: Value) -> Value {
        let pred = self.cx().int_attr(pred as i64, Type::I64);
        self.value("arith.cmpi", &[a, b], Type::I1, &[("predicate", pred)])
    }

    pub(super) fn float_below(&mut self, a: Value, b: Value) -> Value {
        let pred = self.cx().int_attr(OLT, Type::I64);
        self.value("arith.cmpf", &[a, b], Type::I1, &[("predicate", pred)])
    }

    pub(super) fn and(&mut self, a: Value, b: Value) -> Value {
        self.value("arith.andi", &[a, b], Type::I1, &[])
    }

    pub(super) fn truth(&mut self, value: bool) -> Value {
        let value = self.cx().bool_attr(value);
        self.value("arith.constant", &[], Type::I1, &[("value", value)])
    }

    /// True when two truth values are the same.
    pub(super) fn same(&mut self, a: Value, b: Value) -> Value {
        self.compare(Pred::Eq, a, b)
    }

    /// `a || !b`
    pub(super) fn or_not(&mut self, a: Value, b: Value) -> Value {
        let yes = self.truth(true);
        let not = self.value("arith.xori", &[b, yes], Type::I1, &[]);
        self.value("arith.ori", &[a, not], Type::I1, &[])
    }

    /// `floor(a / divisor)` for a positive divisor.
    pub(super) fn floordiv(&mut self, a: Value, divisor: i64) -> Value {
        if divisor == 1 {
            return a;
        }
        if divisor & (divisor - 1) == 0 {
            let shift = self.i64(i64::from(divisor.trailing_zeros()));
            return self.int("arith.shrsi", a, shift);
        }
        // Division truncates: a negative remainder means that the quotient is one too large.
        let (by, zero, one) = (self.i64(divisor), self.i64(0), self.i64(1));
        let quotient = self.int("arith.divsi", a, by);
        let rest = self.int("arith.remsi", a, by);
        let negative = self.compare(Pred::Slt, rest, zero);
        let lower = self.int("arith.subi", quotient, one);
        self.value("arith.select", &[negative, lower, quotient], Type::I64, &[])
    }

    // ---- memory

    /// `&base[index]` for elements of type `elem`.
    pub(super) fn element(&mut self, base: Value, elem: Type, index: i32) -> Value {
        if index == 0 {
            return base;
        }
        let cx = self.cx();
        let props = [
            ("elem_type", cx.type_attr(elem)),
            ("noWrapFlags", cx.int_attr(0, Type::I32)),
            ("rawConstantIndices", cx.i32_array(&[index])),
        ];
        self.value("llvm.getelementptr", &[base], ptr_type(cx), &props)
    }

    /// `base + bytes`.
    pub(super) fn byte_offset(&mut self, base: Value, bytes: Value) -> Value {
        let cx = self.cx();
        let props = [
            ("elem_type", cx.type_attr(Type::I8)),
            ("noWrapFlags", cx.int_attr(0, Type::I32)),
            ("rawConstantIndices", cx.i32_array(&[i32::MIN])),
        ];
        self.value("llvm.getelementptr", &[base, bytes], ptr_type(cx), &props)
    }

    /// `base[index]`
    pub(super) fn load(&mut self, base: Value, ty: Type, index: i32) -> Value {
        let (at, ordering) = (self.element(base, ty, index), self.cx().int_attr(0, Type::I64));
        self.value("llvm.load", &[at], ty, &[("ordering", ordering)])
    }

    /// `base[index]`, read here and not kept in a register from elsewhere.
    pub(super) fn load_here(&mut self, base: Value, ty: Type, index: i32) -> Value {
        let (at, ordering) = (self.element(base, ty, index), self.cx().int_attr(0, Type::I64));
        self.value("llvm.load", &[at], ty, &[("ordering", ordering), ("volatile_", Attr::UNIT)])
    }

    /// `base[index] = value`
    pub(super) fn store(&mut self, value: Value, base: Value, index: i32) {
        let ty = self.b.body().ty(value);
        let (at, ordering) = (self.element(base, ty, index), self.cx().int_attr(0, Type::I64));
        self.op("llvm.store", &[value, at], &[], &[("ordering", ordering)]);
    }

    /// The address of a variable.
    pub(super) fn address_of(&mut self, name: &str) -> Value {
        let cx = self.cx();
        let symbol = cx.symbol_ref(name);
        self.value("llvm.mlir.addressof", &[], ptr_type(cx), &[("global_name", symbol)])
    }

    /// Room for `count` elements on the stack.
    pub(super) fn alloca(&mut self, elem: Type, count: i64) -> Value {
        let cx = self.cx();
        let count = self.i64(count);
        self.value("llvm.alloca", &[count], ptr_type(cx), &[("elem_type", cx.type_attr(elem))])
    }

    /// Calls a function through a pointer.
    pub(super) fn call_pointer(&mut self, function: Value, args: &[Value]) {
        let cx = self.cx();
        let operands: Vec<Value> = std::iter::once(function).chain(args.iter().copied()).collect();
        let segments = cx.i32_array(&[operands.len() as i32, 0]);
        let props = [("operandSegmentSizes", segments), ("op_bundle_sizes", cx.i32_array(&[]))];
        self.op("llvm.call", &operands, &[], &props);
    }

    /// As [`Self::call_pointer`], of a function that returns a number.
    pub(super) fn call_pointer_for(&mut self, function: Value, args: &[Value], result: Type) -> Value {
        let cx = self.cx();
        let operands: Vec<Value> = std::iter::once(function).chain(args.iter().copied()).collect();
        let segments = cx.i32_array(&[operands.len() as i32, 0]);
        let props = [("operandSegmentSizes", segments), ("op_bundle_sizes", cx.i32_array(&[]))];
        self.value("llvm.call", &operands, result, &props)
    }

    // ---- control

    /// `if condition`: the builder goes on inside, and after it with [`Self::otherwise`] or [`Self::end_if`].
    pub(super) fn begin_if(&mut self, condition: Value) -> Op {
        let cx = self.cx();
        let state = OpState::new(cx.op_name("scf.if"), self.loc).operands([condition]).regions(2);
        let op = self.b.create(state);
        self.enter(op, 0);
        op
    }

    /// Goes on in the else side of a conditional.
    pub(super) fn otherwise(&mut self, op: Op) {
        self.op("scf.yield", &[], &[], &[]);
        self.enter(op, 1);
    }

    /// Goes on after a conditional.
    pub(super) fn end_if(&mut self, op: Op) {
        self.op("scf.yield", &[], &[], &[]);
        self.b.set_after(op);
    }

    fn enter(&mut self, op: Op, region: usize) {
        let region = self.b.body().regions(op).nth(region).expect("created with two regions");
        let block = self.b.create_block(region, &[]);
        self.b.set_to_end(block);
    }

    /// Goes on in a new block where `condition` holds, and to `otherwise` with `args` where it does not.
    pub(super) fn branch_unless(&mut self, condition: Value, otherwise: Block, args: &[Value]) {
        let cx = self.cx();
        let region = self.b.body().region();
        let next = self.b.create_block_before(region, Some(otherwise), &[]);
        let segments = cx.i32_array(&[1, 0, args.len() as i32]);
        let state = OpState::new(cx.op_name("cf.cond_br"), self.loc)
            .operands(std::iter::once(condition).chain(args.iter().copied()))
            .prop(cx.ident("operandSegmentSizes"), segments)
            .successors([next, otherwise]);
        self.b.create(state);
        self.b.set_to_end(next);
    }

    /// A block before `before`, for [`Self::branch`] and [`Self::branch_to`].
    pub(super) fn block(&mut self, before: Option<Block>) -> Block {
        let region = self.b.body().region();
        self.b.create_block_before(region, before, &[])
    }

    /// Ends the block with a jump.
    pub(super) fn branch(&mut self, to: Block) {
        let state = OpState::new(self.cx().op_name("cf.br"), self.loc).successors([to]);
        self.b.create(state);
    }

    /// Ends the block with a jump to the first where `condition` holds, else to the second.
    pub(super) fn branch_to(&mut self, condition: Value, [yes, no]: [Block; 2]) {
        let cx = self.cx();
        let state = OpState::new(cx.op_name("cf.cond_br"), self.loc)
            .operands([condition])
            .prop(cx.ident("operandSegmentSizes"), cx.i32_array(&[1, 0, 0]))
            .successors([yes, no]);
        self.b.create(state);
    }

    pub(super) fn ret(&mut self, values: &[Value]) {
        self.op("func.return", values, &[], &[]);
    }
}
