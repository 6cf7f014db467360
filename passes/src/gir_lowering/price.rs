//! Rough prices of elements: what is dear and needed again is kept instead of computed anew.

use sutura_dialects::gir::kinds::{BinaryKind, UnaryKind};
use sutura_dialects::gir::ops::*;
use sutura_ir::OpRef;

/// From this price on, elements that are needed again are kept instead of computed anew.
pub(crate) const KEEP: u32 = 12;

/// From this price on, what is computed of one number per row is computed of vectors of rows.
pub(crate) const TURN: u32 = 8;

/// Price of one element divided by what its row repeats.
pub(crate) const DIVIDE: u32 = 4;

/// Price of one element combined with those before it.
const SCAN: u32 = 10;

/// Price of one element that is loaded, from columns side by side or apart.
pub(crate) fn of_load(contiguous: bool) -> u32 {
    if contiguous { 1 } else { 6 }
}

/// Price of one element of what an op computes, without what it reads.
pub(crate) fn of_element(op: OpRef<'_>) -> u32 {
    if let Some(this) = op.as_::<UnaryOp<'_>>() {
        unary(this.kind())
    } else if let Some(this) = op.as_::<BinaryOp<'_>>() {
        binary(this.kind())
    } else if op.is::<IotaOp<'_>>() || op.is::<DivisorOp<'_>>() {
        2
    } else if op.is::<ScanOp<'_>>() {
        SCAN
    } else {
        u32::from(op.is::<TernaryOp<'_>>() || op.is::<CompareOp<'_>>() || op.is::<CastOp<'_>>())
    }
}

fn unary(kind: UnaryKind) -> u32 {
    use UnaryKind::*;
    match kind {
        Neg | Abs | AbsI | Floor | Ceil | RoundEven | Round | Trunc => 1,
        Sqrt | Rsqrt => 8,
        _ => 20,
    }
}

fn binary(kind: BinaryKind) -> u32 {
    use BinaryKind::*;
    match kind {
        Pow => 40,
        Div | Rem => 8,
        kind if kind.divides_integers() => 8,
        _ => 1,
    }
}
