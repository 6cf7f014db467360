//! Functions of complex elements as functions of their parts, in place.

use rustc_hash::FxHashMap;
use sutura_dialects::complex::{ConstantOp, CreateOp, function, part_type, parts};
use sutura_dialects::graph::build::scalar::constant;
use sutura_interp::complex::Parts;
use sutura_interp::num::NumOp;
use sutura_interp::{ComplexFn, Fault};
use sutura_ir::op_def::Traits;
use sutura_ir::{Block, Body, Context, Loc, Op, OpRef, OpState, Rewriter, Type, Value};

use crate::arithmetic::number_op;

/// Builds ops on parts.
pub(super) struct Ops<'s, 'b> {
    pub(super) rw: &'s mut Rewriter<'b>,
    pub(super) loc: Loc,
    /// The type of the parts.
    pub(super) part: Type,
}

impl Parts for Ops<'_, '_> {
    type Number = Value;

    fn op(&mut self, op: NumOp, args: &[&Value]) -> Result<Value, Fault> {
        let cx = self.rw.cx();
        let ty = match op {
            NumOp::CmpF(_) | NumOp::AndI | NumOp::OrI => Type::I1,
            _ => self.part,
        };
        let args: Vec<Value> = args.iter().map(|value| **value).collect();
        let state = number_op(cx, self.loc, op, &args, ty)?;
        let made = self.rw.create(state);
        Ok(self.rw.body().result(made, 0))
    }

    fn constant(&mut self, value: f64) -> Result<Value, Fault> {
        let value = self.rw.cx().float_attr(value, self.part);
        Ok(constant(self.rw, self.loc, value, self.part))
    }
}

/// True where a type is complex.
fn is_complex(cx: &Context, ty: Type) -> bool {
    part_type(cx, ty).is_some()
}

/// The first op of a block that does with complex numbers what is not known.
pub(super) fn unknown<'b>(cx: &'b Context, block: Block, body: &'b Body) -> Option<OpRef<'b>> {
    let unknown = |op: &OpRef<'_>| {
        let complex = op.operand_types().chain(op.result_types()).any(|ty| is_complex(cx, ty));
        let known = function(op.name_str()).is_some()
            || op.is::<ConstantOp<'_>>()
            || op.name_str() == "arith.select"
            || op.has_trait(Traits::Terminator);
        complex && !known
    };
    body.ops(block).map(|op| OpRef::new(cx, body, op)).find(unknown)
}

/// Puts a block that takes parts in the place of one that takes complex numbers, and computes with parts in it.
pub(super) fn split(rw: &mut Rewriter<'_>, block: Block) -> Result<(), Fault> {
    let cx = rw.cx();
    let args: Vec<(Type, Loc)> =
        rw.body().block_args(block).iter().map(|arg| (rw.body().ty(*arg), rw.body().value_loc(*arg))).collect();
    if args.iter().any(|(ty, _)| is_complex(cx, *ty)) {
        let flat = |(ty, loc): &(Type, Loc)| match part_type(cx, *ty) {
            Some(part) => vec![(part, *loc); 2],
            None => vec![(*ty, *loc)],
        };
        let types: Vec<(Type, Loc)> = args.iter().flat_map(flat).collect();
        let region = rw.body().block_region(block).ok_or_else(|| Fault::invalid_ir("is in no region"))?;
        let taken = rw.create_block_before(region, Some(block), &types);
        let mut numbers = rw.body().block_args(taken).to_vec().into_iter();
        let mut values = Vec::new();
        rw.set_to_end(taken);
        for (ty, loc) in &args {
            let Some(first) = numbers.next() else { break };
            values.push(match (is_complex(cx, *ty), is_complex(cx, *ty).then(|| numbers.next()).flatten()) {
                (true, Some(second)) => {
                    let made = rw.create(
                        OpState::new(cx.op_name("complex.create"), *loc).operands([first, second]).results([*ty]),
                    );
                    rw.body().result(made, 0)
                }
                _ => first,
            });
        }
        rw.merge_block(block, taken, &values);
        return numbers_of_parts(rw, taken);
    }
    numbers_of_parts(rw, block)
}

/// Computes with parts in a block that takes no complex numbers.
fn numbers_of_parts(rw: &mut Rewriter<'_>, block: Block) -> Result<(), Fault> {
    let mut splitter = Splitter { rw, parts: FxHashMap::default(), split: Vec::new() };
    let ops: Vec<Op> = splitter.rw.body().ops(block).collect();
    for op in ops {
        splitter.op(op)?;
    }
    let Splitter { rw, split, .. } = splitter;
    split.into_iter().rev().for_each(|op| rw.erase_op(op));
    Ok(())
}

struct Splitter<'s, 'b> {
    rw: &'s mut Rewriter<'b>,
    parts: FxHashMap<Value, [Value; 2]>,
    /// Ops whose results nothing will use.
    split: Vec<Op>,
}

impl Splitter<'_, '_> {
    fn op(&mut self, op: Op) -> Result<(), Fault> {
        let cx = self.rw.cx();
        let view = self.rw.op_ref(op);
        let (loc, operands): (Loc, Vec<Value>) = (view.loc(), view.operands().collect());
        if !view.operand_types().chain(view.result_types()).any(|ty| is_complex(cx, ty)) {
            return Ok(());
        }
        if view.has_trait(Traits::Terminator) {
            let flat: Vec<Value> = operands.iter().flat_map(|value| self.numbers(*value)).collect();
            self.rw.set_operands(op, &flat);
            return Ok(());
        }
        let result = view.result(0);
        let part = part_type(cx, view.ty(result)).or_else(|| part_type(cx, view.ty(*operands.last()?)));
        let part = part.ok_or_else(|| Fault::invalid_ir("computes with no complex number"))?;
        if view.is::<CreateOp<'_>>() {
            self.made(op, result, [operands[0], operands[1]]);
            return Ok(());
        }
        if view.is::<ConstantOp<'_>>() {
            let value = view.prop("value").and_then(|value| parts(cx, value));
            let value = value.ok_or_else(|| Fault::invalid_ir("holds no complex number"))?;
            self.rw.set_before(op);
            let made = value.map(|value| constant(self.rw, loc, value, part));
            self.made(op, result, made);
            return Ok(());
        }
        let function = function(view.name_str());
        self.rw.set_before(op);
        let Some(function) = function else {
            let (a, b) = (self.numbers(operands[1]), self.numbers(operands[2]));
            let mut ops = Ops { rw: self.rw, loc, part };
            let re = ops.op(NumOp::Select, &[&operands[0], &a[0], &b[0]])?;
            let im = ops.op(NumOp::Select, &[&operands[0], &a[1], &b[1]])?;
            self.made(op, result, [re, im]);
            return Ok(());
        };
        let args: Vec<Value> = operands.iter().flat_map(|value| self.numbers(*value)).collect();
        let made = ComplexFn::apply(function, &mut Ops { rw: self.rw, loc, part }, &args)?;
        match made[..] {
            [re, im] => self.made(op, result, [re, im]),
            [number] => self.rw.replace_op(op, &[number]),
            _ => return Err(Fault::invalid_ir("makes no number")),
        }
        Ok(())
    }

    fn made(&mut self, op: Op, result: Value, parts: [Value; 2]) {
        self.parts.insert(result, parts);
        self.split.push(op);
    }

    /// The parts of a complex number, or the number itself.
    fn numbers(&self, value: Value) -> Vec<Value> {
        self.parts.get(&value).map_or(vec![value], |parts| parts.to_vec())
    }
}
