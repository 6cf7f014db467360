//! What functions cost: float operations as the interpreter counts them, and vector instructions.

use sutura_dialects::gir::kinds::{BinaryKind, TernaryKind, UnaryKind};
use sutura_dialects::gir::ops::*;
use sutura_ir::OpRef;

/// Float operations for one element; `float` says whether the operands are floats.
pub(super) fn flops_of(op: OpRef<'_>, float: bool) -> u64 {
    if op.is::<UnaryOp<'_>>() || op.is::<BinaryOp<'_>>() || op.is::<ReduceOp<'_>>() || op.is::<ScanOp<'_>>() {
        return u64::from(float);
    }
    match op.as_::<TernaryOp<'_>>().map(|this| this.kind()) {
        Some(TernaryKind::Fma) => 2,
        _ => 0,
    }
}

/// Vector instructions for one vector of elements, weighted by how long each occupies its port.
///
/// Expansions are those of `expand-math`; division and square root occupy a port for about ten cycles on x86-64 cores
/// with vectors of 64 bytes.
pub(super) fn slots_of(op: OpRef<'_>) -> u64 {
    const DIVIDE: u64 = 10;
    if let Some(this) = op.as_::<UnaryOp<'_>>() {
        return match this.kind() {
            UnaryKind::Exp | UnaryKind::Exp2 => 12,
            UnaryKind::Expm1 => 20,
            UnaryKind::Log | UnaryKind::Log2 | UnaryKind::Log10 => 18,
            UnaryKind::Log1p => 30,
            UnaryKind::Tanh => 14 + DIVIDE,
            UnaryKind::Erf => 24,
            UnaryKind::Sqrt => DIVIDE,
            UnaryKind::Rsqrt => 2 * DIVIDE,
            UnaryKind::Sin | UnaryKind::Cos => 24,
            UnaryKind::Tan => 30 + DIVIDE,
            UnaryKind::Cbrt => 20 + DIVIDE,
            UnaryKind::Atan => 24 + DIVIDE,
            _ => 1,
        };
    }
    if let Some(this) = op.as_::<BinaryOp<'_>>() {
        return match this.kind() {
            BinaryKind::Div => DIVIDE,
            BinaryKind::Rem => 3 * DIVIDE,
            BinaryKind::Pow => 50,
            BinaryKind::Atan2 => 24 + DIVIDE,
            kind if kind.divides_integers() => 4 * DIVIDE,
            _ => 1,
        };
    }
    // Within a vector neighbours are combined at distances of 1, 2, 4 and 8, each with a permutation.
    if op.is::<ScanOp<'_>>() { 11 } else { 1 }
}
