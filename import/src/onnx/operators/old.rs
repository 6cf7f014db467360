//! Operators as opsets before 7 had them, where they said more than that something is ignored (`consumed_inputs`).

use sutura_dialects::r#dyn::Poly;
use sutura_ir::Value;

use super::super::convert::{Importer, Made, wrong};
use super::super::error::{Reason, unsupported};
use super::super::op::{Binary, Compare, Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::{ElementType, Scalar};
use super::{Conversion, Convert};

/// An operator whose second operand is broadcast to the first one if a node says so.
#[derive(Clone, Copy, Debug)]
enum Function {
    Binary(Binary),
    Compare(Compare),
    Xor,
    /// The slopes are one, or one for each channel.
    PRelu,
}

/// The operator that `r` reads, if it is an old version that means something else than the newer ones.
pub(in super::super) fn op<'m>(r: &NodeReader<'m, '_>) -> Option<Result<Op<'m>, Reason>> {
    // PRelu looks the same before and after.
    if r.interface.since >= 7 || r.node.opset.is_some_and(|opset| opset >= 7) {
        return None;
    }
    let function = match r.node.op_type.as_str() {
        "Add" => Function::Binary(Binary::Add),
        "Sub" => Function::Binary(Binary::Sub),
        "Mul" => Function::Binary(Binary::Mul),
        "Div" => Function::Binary(Binary::Div),
        "Pow" => Function::Binary(Binary::Pow),
        "And" => Function::Binary(Binary::And),
        "Or" => Function::Binary(Binary::Or),
        "Equal" => Function::Compare(Compare::Equal),
        "Greater" => Function::Compare(Compare::Greater),
        "Less" => Function::Compare(Compare::Less),
        "Xor" => Function::Xor,
        "PRelu" => Function::PRelu,
        "Tile" if r.interface.since < 6 => return Some(tile(r)),
        "Cast" if r.interface.since < 6 => return Some(cast(r)),
        "Split" if r.interface.since < 2 && r.optional(1).is_some() => {
            return Some(split(r));
        }
        _ => return None,
    };
    Some(binary(r, function))
}

#[derive(Debug)]
struct Old<'m> {
    function: Function,
    a: &'m str,
    b: &'m str,
    broadcast: bool,
    axis: Option<i64>,
}

fn binary<'m>(r: &NodeReader<'m, '_>, function: Function) -> Result<Op<'m>, Reason> {
    let (broadcast, axis) = (r.flag("broadcast")?, r.optional_int("axis"));
    Ok(Conversion::op(Old { function, a: r.input(0)?, b: r.input(1)?, broadcast, axis }))
}

impl<'m> Convert<'m> for Old<'m> {
    fn operators(&self) -> &'static [&'static str] {
        match self.function {
            Function::Xor => &["xor"],
            Function::PRelu => &["prelu"],
            _ => &[],
        }
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (a, b) = importer.pair(self.a, self.b)?;
        let b = self.aligned(importer, a, b)?;
        match self.function {
            Function::Binary(function) => Ok(vec![importer.binary(function, (a, b), self.a)?]),
            Function::Compare(function) => Ok(vec![importer.compared(function, a, b)?]),
            Function::Xor | Function::PRelu => {
                let declared = importer.declared(self.operators()[0])?;
                Ok(importer.g.apply(&declared, &[a, b], &[])?)
            }
        }
    }
}

impl<'m> Old<'m> {
    /// The second operand with dimensions of size 1 behind its own, so that these stand where those of the first one are that they
    /// are broadcast to.
    fn aligned(&self, importer: &mut Importer<'m, '_, '_>, a: Value, b: Value) -> Made {
        let (shape, own) = (importer.g.shape(a), importer.g.shape(b));
        let (rank, count) = (shape.len(), own.len());
        if matches!(self.function, Function::PRelu) {
            let channels = count == 1 && own[0] != Some(1.into()) && rank > 2;
            let behind: Vec<usize> = if channels { (1..rank - 1).collect() } else { Vec::new() };
            return Ok(importer.g.unsqueeze(b, &behind)?);
        }
        if !self.broadcast {
            if rank != count {
                return wrong(format!("has operands of ranks {rank} and {count}, and no `broadcast`"));
            }
            for (d, (a, b)) in shape.iter().zip(&own).enumerate() {
                importer.g.unify(a, b, || format!("dimension {d} of both operands, without `broadcast`,"))?;
            }
            return Ok(b);
        }
        let Some(before) = rank.checked_sub(count) else {
            return wrong(format!("broadcasts an operand of rank {count} to one of rank {rank}"));
        };
        let Some(axis) = self.axis else { return Ok(b) };
        let first = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        match usize::try_from(first).ok().filter(|first| *first <= before) {
            Some(first) => Ok(importer.g.unsqueeze(b, &(count..count + before - first).collect::<Vec<_>>())?),
            None => wrong(format!("has `axis` {axis} for an operand of rank {count} and one of rank {rank}")),
        }
    }
}

/// The sizes of the parts may be an attribute, or numbers of the type of what is split.
fn split<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (input, parts) = (r.input(1)?, r.node.outputs.len());
    let given = r.values.constant(input).and_then(|tensor| tensor.scalars()?.map(whole).collect::<Option<Vec<i64>>>());
    let sizes = match (r.ints("split"), given) {
        (Some(sizes), _) => sizes.to_vec(),
        (None, Some(sizes)) => sizes,
        (None, None) => return Err(unsupported(format!("`split` is `{input}`, which is no list of constants"))),
    };
    let axis = r.optional_int("axis").unwrap_or(0);
    Ok(Op::Split { x: r.input(0)?, axis, parts, sizes: Some(Param::Known(sizes)) })
}

/// A number that is whole, as an integer.
fn whole(number: Scalar) -> Option<i64> {
    match number {
        Scalar::Int(number) => i64::try_from(number).ok(),
        Scalar::Float(number) => Some(number as i64).filter(|whole| *whole as f64 == number),
        Scalar::Bool(_) => None,
    }
}

/// So many times as long along one dimension.
#[derive(Debug)]
struct Tile<'m> {
    x: &'m str,
    count: Param<'m, Scalar>,
    axis: i64,
}

fn tile<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let axis = match r.scalar_param(2)? {
        Some(Param::Known(Scalar::Int(axis))) => i64::try_from(axis).map_err(|_| "has no sensible `axis`")?,
        Some(Param::Known(Scalar::Float(axis))) => axis as i64,
        _ => return Err(unsupported("`axis` must be a constant")),
    };
    let count = match r.scalar_param(1)?.ok_or("has no `tiles`")? {
        Param::Known(Scalar::Float(count)) => Param::Known(Scalar::Int(count as i128)),
        count => count,
    };
    Ok(Conversion::op(Tile { x: r.input(0)?, count, axis }))
}

impl<'m> Convert<'m> for Tile<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let rank = importer.g.rank(x);
        let axis = importer.g.axis(self.axis, rank)?;
        let count = importer.any_size(&self.count, "tiles")?;
        let mut repeats = vec![Some(Poly::from(1)); rank];
        repeats[axis] = Some(count);
        importer.not_negative(&repeats, "repeat")?;
        Ok(vec![importer.g.tile(x, &repeats)?])
    }
}

/// The names of element types, in the order of ONNX's codes from 1.
const NAMES: [&str; 15] = [
    "FLOAT",
    "UINT8",
    "INT8",
    "UINT16",
    "INT16",
    "INT32",
    "INT64",
    "STRING",
    "BOOL",
    "FLOAT16",
    "DOUBLE",
    "UINT32",
    "UINT64",
    "COMPLEX64",
    "COMPLEX128",
];

fn cast<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let name = r.string("to")?.unwrap_or_default();
    let code = NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|at| at as i64 + 1);
    let to = code.and_then(ElementType::from_code).ok_or_else(|| format!("casts to unknown element type {name}"))?;
    super::super::typing::cast_to(r, to)
}
