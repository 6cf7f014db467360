//! Integers of 2 and 4 bits as bytes: of a byte in a tensor the low bits count, and a number in a function is a byte that holds
//! them with their sign. What takes numbers without sign gets the low bits alone.

use sutura_dialects::elements::policy;
use sutura_ir::op_def::Traits;
use sutura_ir::types::TypeData;
use sutura_ir::{Block, Builder, Context, Op, OpRef, Rewriter, Type, Value};

use crate::arithmetic::Arithmetic;

/// Bits of a byte.
const BYTE: u32 = 8;

/// The width of an integer that a byte takes the place of.
pub(super) fn width(cx: &Context, elem: Type) -> Option<u32> {
    match cx.type_data(elem) {
        TypeData::Integer { width, .. } if width < BYTE => {
            policy(cx, elem).filter(|p| p.memory.is_some_and(|memory| memory != p.scalar)).map(|_| width)
        }
        _ => None,
    }
}

/// How an op of functions treats such integers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Takes and makes what the sign says, and may leave the range.
    Wraps,
    /// Takes and makes what the sign says, within the range.
    Stays,
    /// Takes and makes numbers without sign.
    Unsigned,
    /// A shift: its distance has no sign.
    Shift,
    Compare,
    Extend,
    ExtendUnsigned,
    /// Makes one of another type.
    Make,
    Constant,
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "arith.addi" | "arith.subi" | "arith.muli" | "arith.divsi" => Kind::Wraps,
        "arith.remsi" | "arith.andi" | "arith.ori" | "arith.xori" | "arith.maxsi" | "arith.minsi" | "arith.select" => {
            Kind::Stays
        }
        "arith.divui" | "arith.remui" | "arith.maxui" | "arith.minui" | "arith.shrui" => Kind::Unsigned,
        "arith.shli" | "arith.shrsi" => Kind::Shift,
        "arith.cmpi" => Kind::Compare,
        "arith.extsi" | "arith.sitofp" => Kind::Extend,
        "arith.extui" | "arith.uitofp" => Kind::ExtendUnsigned,
        "arith.trunci" | "arith.fptosi" | "arith.fptoui" => Kind::Make,
        "arith.constant" => Kind::Constant,
        _ => return None,
    })
}

/// The first op of a block that does with such an integer what no byte can do for it.
pub(super) fn unknown<'b>(cx: &'b Context, block: Block, body: &'b sutura_ir::Body) -> Option<OpRef<'b>> {
    let is_narrow = |ty: Type| width(cx, ty).is_some();
    let ops = body.ops(block).map(|op| OpRef::new(cx, body, op));
    ops.filter(|view| view.operand_types().chain(view.result_types()).any(is_narrow))
        .find(|view| !view.has_trait(Traits::Terminator) && kind(view.name_str()).is_none())
}

/// Puts bytes in the place of such integers in a function of elements.
pub(super) struct Narrow<'r, 'b> {
    rw: &'r mut Rewriter<'b>,
}

/// An op of a function, with the widths of such integers that it takes and makes. They are those of the types that it had: once
/// numbers are bytes, one that was extended to a byte is the same value as the one that was not.
struct Typed {
    op: Op,
    taken: Option<u32>,
    made: Option<u32>,
}

impl<'r, 'b> Narrow<'r, 'b> {
    pub(super) fn new(rw: &'r mut Rewriter<'b>) -> Self {
        Self { rw }
    }

    pub(super) fn block(&mut self, block: Block) {
        let ops: Vec<Op> = self.rw.body().ops(block).collect();
        let ops: Vec<Typed> = ops.into_iter().map(|op| self.typed(op)).collect();
        for arg in self.rw.body().block_args(block).to_vec() {
            let Some(width) = width(self.rw.cx(), self.rw.body().ty(arg)) else { continue };
            self.rw.set_type(arg, Type::I8);
            if self.rw.body().is_unused(arg) {
                continue;
            }
            let loc = self.rw.body().value_loc(arg);
            self.rw.set_to_start(block);
            let mut bytes = Arithmetic::of_scalars(self.rw, loc);
            let shifted = bytes.shifted_byte("arith.shli", arg, BYTE - width);
            let number = bytes.shifted_byte("arith.shrsi", shifted, BYTE - width);
            let reader = self.rw.body().defining_op(shifted).expect("just made");
            self.rw.replace_all_uses(arg, number);
            self.rw.set_operand(reader, 0, arg);
        }
        ops.into_iter().for_each(|op| self.op(op));
    }

    fn typed(&self, op: Op) -> Typed {
        let view = self.rw.op_ref(op);
        let of = |ty: Type| width(view.cx, ty);
        Typed { op, taken: view.operand_types().find_map(of), made: view.result_types().next().and_then(of) }
    }

    fn op(&mut self, Typed { op, taken, made }: Typed) {
        let view = self.rw.op_ref(op);
        let operands: Vec<Value> = view.operands().collect();
        let (Some(kind), Some(bits)) = (kind(view.name_str()), made.or(taken)) else { return };
        let (name, loc) = (view.name_str().to_owned(), view.loc());
        let Some(ty) = view.results().next().map(|result| view.ty(result)) else { return };
        self.rw.set_before(op);
        let mut bytes = Arithmetic::of_scalars(self.rw, loc);
        let number = match kind {
            Kind::Constant => {
                let unused = i64::BITS - bits;
                let number = number_of(bytes.builder(), op, "value");
                bytes.byte(number << unused >> unused)
            }
            Kind::Stays => bytes.op(&name, &operands, Type::I8),
            Kind::Wraps => {
                let wide = bytes.op(&name, &operands, Type::I8);
                bytes.wrapped(wide, bits)
            }
            Kind::Unsigned => {
                let operands: Vec<Value> = operands.iter().map(|x| bytes.unsigned(*x, bits)).collect();
                let number = bytes.op(&name, &operands, Type::I8);
                bytes.wrapped(number, bits)
            }
            Kind::Shift => {
                let by = bytes.unsigned(operands[1], bits);
                let wide = bytes.op(&name, &[operands[0], by], Type::I8);
                bytes.wrapped(wide, bits)
            }
            Kind::Compare => {
                let predicate = number_of(bytes.builder(), op, "predicate");
                if predicate < FIRST_UNSIGNED {
                    return;
                }
                let operands: Vec<Value> = operands.iter().map(|x| bytes.unsigned(*x, bits)).collect();
                operands.iter().enumerate().for_each(|(i, operand)| self.rw.set_operand(op, i, *operand));
                return;
            }
            // Of a truth value.
            Kind::Extend | Kind::ExtendUnsigned if taken.is_none() => bytes.op(&name, &operands, Type::I8),
            // What is read is a byte with the sign by now.
            Kind::Extend | Kind::ExtendUnsigned => {
                let from = match kind {
                    Kind::Extend => operands[0],
                    _ => bytes.unsigned(operands[0], taken.unwrap_or(bits)),
                };
                match made {
                    _ if ty == Type::I8 => from,
                    Some(bits) => bytes.wrapped(from, bits),
                    None => bytes.op(&name, &[from], ty),
                }
            }
            Kind::Make => {
                let is_byte = bytes.builder().body().ty(operands[0]) == Type::I8;
                match (made, is_byte) {
                    (Some(bits), true) => bytes.wrapped(operands[0], bits),
                    // Through a wider number, so that one beyond the bounds is the same on every machine: it wraps.
                    (Some(bits), false) if name.starts_with("arith.fpto") => {
                        let wide = bytes.op("arith.fptosi", &operands, Type::I32);
                        let byte = bytes.op("arith.trunci", &[wide], Type::I8);
                        bytes.wrapped(byte, bits)
                    }
                    (Some(bits), false) => {
                        let byte = bytes.op(&name, &operands, Type::I8);
                        bytes.wrapped(byte, bits)
                    }
                    (None, _) => return,
                }
            }
        };
        self.rw.replace_op(op, &[number]);
    }
}

/// The first predicate of `arith.cmpi` that compares numbers without sign.
const FIRST_UNSIGNED: i64 = 6;

fn number_of(b: &Builder<'_>, op: Op, prop: &str) -> i64 {
    let value = OpRef::new(b.cx(), b.body(), op).prop(prop);
    value.and_then(|value| b.cx().as_int(value)).unwrap_or_default()
}

impl Arithmetic<'_, '_> {
    /// A byte, of which `bits` low ones count, with the sign above them, or with zeros.
    pub(super) fn extended(&mut self, byte: Value, bits: u32, signed: bool) -> Value {
        if signed { self.wrapped(byte, bits) } else { self.unsigned(byte, bits) }
    }

    fn byte(&mut self, value: i64) -> Value {
        self.int(value, Type::I8)
    }

    fn shifted_byte(&mut self, name: &str, value: Value, by: u32) -> Value {
        let by = self.byte(by.into());
        self.op(name, &[value, by], Type::I8)
    }

    /// The low bits of a byte with their sign.
    fn wrapped(&mut self, value: Value, bits: u32) -> Value {
        let shifted = self.shifted_byte("arith.shli", value, BYTE - bits);
        self.shifted_byte("arith.shrsi", shifted, BYTE - bits)
    }

    /// The low bits of a byte alone.
    fn unsigned(&mut self, value: Value, bits: u32) -> Value {
        let mask = self.byte((1 << bits) - 1);
        self.op("arith.andi", &[value, mask], Type::I8)
    }
}
