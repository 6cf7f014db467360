//! Operators on the bits of numbers, and conversions to the type of another tensor.

use sutura_dialects::complex::part_type;
use sutura_dialects::elements::is_unsigned;
use sutura_dialects::graph::build::Scalars;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Op, Rounding};
use super::super::reader::NodeReader;
use super::super::tensor::ElementType;
use super::super::typing::rounding;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("BitCast", bit_cast), ("BitShift", bit_shift), ("CastLike", cast_like)];

/// The bits of integers moved to the left or to the right.
#[derive(Debug)]
struct BitShift<'m> {
    x: &'m str,
    by: &'m str,
    left: bool,
}

fn bit_shift<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let left = match r.string("direction")? {
        Some("LEFT") => true,
        Some("RIGHT") => false,
        other => return Err(format!("has unknown `direction` {}", other.unwrap_or_default()).into()),
    };
    Ok(Conversion::op(BitShift { x: r.input(0)?, by: r.input(1)?, left }))
}

impl<'m> Convert<'m> for BitShift<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, by) = importer.pair(self.x, self.by)?;
        let elem = importer.g.elem(x);
        if elem.is_float(importer.cx()) || elem == Type::I1 {
            return wrong("shifts the bits of what is no integer");
        }
        let left = self.left;
        Ok(vec![importer.g.zip(x, by, |s, x, by| shifted(s, x, by, left))?])
    }
}

/// `x` shifted by a number that may be negative or too large: then nothing is left but, to the right, the sign.
fn shifted(s: &mut Scalars<'_, '_>, x: Value, by: Value, left: bool) -> Value {
    let (cx, ty) = (s.cx(), s.ty(x));
    let bits = i64::from(cx.bit_width(ty).unwrap_or(64));
    let signed = !is_unsigned(cx, ty);
    let last = s.int(bits - 1, ty);
    // A negative number is a large one without sign.
    let within = s.bits("arith.minui", by, last);
    let name = match (left, signed) {
        (true, _) => "arith.shli",
        (false, true) => "arith.shrsi",
        (false, false) => "arith.shrui",
    };
    let moved = s.bits(name, x, within);
    if !left && signed {
        return moved;
    }
    let (same, zero) = (s.compare(Comparison::Equal, by, within), s.int(0, ty));
    s.select(same, moved, zero)
}

/// The elements of a tensor taken for elements of another type of as many bits.
#[derive(Debug)]
struct BitCast<'m> {
    x: &'m str,
    to: ElementType,
}

fn bit_cast<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let code = r.int("to")?;
    let to = ElementType::from_code(code).ok_or_else(|| format!("is of unknown element type {code}"))?;
    match to {
        ElementType::String => Err("takes bits for strings, which have none of their own".into()),
        _ if to.is_complex() => Err(unsupported(format!("takes bits for {to}, which is not supported"))),
        _ => Ok(Conversion::op(BitCast { x: r.input(0)?, to })),
    }
}

impl<'m> Convert<'m> for BitCast<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, to) = (importer.value(self.x)?, importer.element(self.to)?);
        let (cx, from) = (importer.cx(), importer.g.elem(x));
        if part_type(cx, from).is_some() {
            return fail("takes the bits of complex numbers, which is not supported");
        }
        // A truth value is a byte to ONNX.
        let bits = |ty: Type| if ty == Type::I1 { Some(8) } else { cx.bit_width(ty) };
        if bits(from) != bits(to) {
            let count = |ty| bits(ty).unwrap_or_default();
            return wrong(format!("takes elements of {} bits for elements of {} bits", count(from), count(to)));
        }
        let whole = |ty: Type| !ty.is_float(cx);
        let made = match (from == Type::I1, to == Type::I1) {
            (true, false) if !whole(to) => {
                let bytes = importer.g.cast(x, Type::I8)?;
                importer.g.bitcast(bytes, to)
            }
            (false, true) if !whole(from) => {
                let bytes = importer.g.bitcast(x, Type::I8);
                importer.g.cast(bytes, to)?
            }
            (true, false) | (false, true) => importer.g.cast(x, to)?,
            _ => importer.g.bitcast(x, to),
        };
        Ok(vec![made])
    }
}

/// The elements converted to the type of another tensor's.
#[derive(Debug)]
struct CastLike<'m> {
    x: &'m str,
    like: &'m str,
    saturate: bool,
    round: Rounding,
}

fn cast_like<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (saturate, round) = (r.optional_int("saturate").is_none_or(|v| v != 0), rounding(r)?);
    Ok(Conversion::op(CastLike { x: r.input(0)?, like: r.input(1)?, saturate, round }))
}

impl<'m> Convert<'m> for CastLike<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, like) = importer.pair(self.x, self.like)?;
        let to = importer.g.elem(like);
        Ok(vec![importer.cast(x, to, self.saturate, self.round)?])
    }
}
