//! Values as words of 32 bits, which is what lanes hand to each other.

use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{OpRef, Type, Value};

use super::emit::{Emit, Pred};

/// The words of a value, low one first.
pub(super) type Words = SmallVec<[Value; 2]>;

/// Bits of a type that lanes can hand over.
///
/// # Errors
/// For a type that is not 1, 8, 16, 32 or 64 bits wide.
pub(super) fn exchangeable(op: OpRef<'_>, ty: Type) -> Result<u32, Diagnostic> {
    match op.cx.bit_width(ty) {
        Some(bits @ (1 | 8 | 16 | 32 | 64)) => Ok(bits),
        Some(bits) => Err(op.error(format!("hands over {bits} bits: expected 1, 8, 16, 32 or 64"))),
        None => Err(op.error("hands over a type whose size is not known")),
    }
}

/// Takes a value of so many bits apart.
pub(super) fn to_words(e: &mut Emit<'_>, value: Value, ty: Type, bits: u32) -> Words {
    let number = e.cx().int_type(bits);
    let value = if ty == number { value } else { e.value("arith.bitcast", &[value], number, &[]) };
    match bits {
        32 => smallvec![value],
        64 => {
            let low = e.value("arith.trunci", &[value], Type::I32, &[]);
            let by = e.cx().int_attr(32, Type::I64);
            let by = e.value("arith.constant", &[], Type::I64, &[("value", by)]);
            let high = e.value("arith.shrui", &[value, by], Type::I64, &[]);
            smallvec![low, e.value("arith.trunci", &[high], Type::I32, &[])]
        }
        _ => smallvec![e.value("arith.extui", &[value], Type::I32, &[])],
    }
}

/// Puts a value of so many bits together again.
pub(super) fn of_words(e: &mut Emit<'_>, words: &[Value], ty: Type, bits: u32) -> Value {
    let number = e.cx().int_type(bits);
    let value = match (bits, words) {
        (64, &[low, high]) => {
            let low = e.value("arith.extui", &[low], Type::I64, &[]);
            let high = e.value("arith.extui", &[high], Type::I64, &[]);
            let by = e.cx().int_attr(32, Type::I64);
            let by = e.value("arith.constant", &[], Type::I64, &[("value", by)]);
            let high = e.value("arith.shli", &[high, by], Type::I64, &[]);
            e.value("arith.ori", &[low, high], Type::I64, &[])
        }
        (32, _) => words[0],
        (1, _) => {
            let zero = e.word(0);
            e.compare(Pred::Ne, words[0], zero)
        }
        _ => e.value("arith.trunci", &[words[0]], number, &[]),
    };
    if ty == number { value } else { e.value("arith.bitcast", &[value], ty, &[]) }
}
