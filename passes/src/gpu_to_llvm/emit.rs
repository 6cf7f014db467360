//! Emits operations before one that is being replaced.

use sutura_ir::{Attr, Context, Loc, Op, OpState, Rewriter, Type, Value};

/// Emits at the rewriter's insertion point.
pub(super) struct Emit<'r> {
    pub(super) rw: Rewriter<'r>,
    pub(super) loc: Loc,
    /// Threads of a block along each axis, if the kernel says it.
    pub(super) block: Option<[i32; 3]>,
}

/// Predicates of `arith.cmpi`, as numbers.
#[derive(Clone, Copy)]
pub(super) enum Pred {
    Ne = 1,
    Ult = 6,
    Uge = 9,
}

impl<'r> Emit<'r> {
    pub(super) fn cx(&self) -> &'r Context {
        self.rw.cx()
    }

    pub(super) fn op(&mut self, name: &str, operands: &[Value], results: &[Type], props: &[(&str, Attr)]) -> Op {
        let cx = self.cx();
        let state = OpState::new(cx.op_name(name), self.loc);
        let state = state.operands(operands.iter().copied()).results(results.iter().copied());
        let state = props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value));
        self.rw.create(state)
    }

    pub(super) fn value(&mut self, name: &str, operands: &[Value], result: Type, props: &[(&str, Attr)]) -> Value {
        let op = self.op(name, operands, &[result], props);
        self.rw.body().result(op, 0)
    }

    /// An operation on words of 32 bits.
    pub(super) fn word_op(&mut self, name: &str, operands: &[Value]) -> Value {
        self.value(name, operands, Type::I32, &[])
    }

    /// A word of 32 bits.
    pub(super) fn word(&mut self, value: i64) -> Value {
        let attr = self.cx().int_attr(value, Type::I32);
        self.value("arith.constant", &[], Type::I32, &[("value", attr)])
    }

    pub(super) fn compare(&mut self, pred: Pred, a: Value, b: Value) -> Value {
        let pred = self.cx().int_attr(pred as i64, Type::I64);
        self.value("arith.cmpi", &[a, b], Type::I1, &[("predicate", pred)])
    }

    /// The number that `value` always is.
    pub(super) fn known(&self, value: Value) -> Option<i64> {
        let op = self.rw.op_ref(self.rw.body().defining_op(value)?);
        (op.name_str() == "arith.constant").then(|| op.prop("value").and_then(|a| op.cx.as_int(a))).flatten()
    }
}
