//! Operators whose results have sizes that data decide.

use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[
    ("Compress", compress),
    ("NonMaxSuppression", non_max_suppression),
    ("NonZero", |r| Ok(Conversion::op(NonZero { x: r.input(0)? }))),
    ("Unique", unique),
];

/// Positions of the elements that are not zero, a column for each.
#[derive(Debug)]
struct NonZero<'m> {
    x: &'m str,
}

impl<'m> Convert<'m> for NonZero<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let found = importer.g.non_zero(x, None);
        Ok(vec![importer.decided(found, 1)?])
    }
}

/// The slices of `x` along `axis` for which a list says so; without an axis, the elements.
#[derive(Debug)]
struct Compress<'m> {
    x: &'m str,
    condition: &'m str,
    axis: Option<i64>,
}

fn compress<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Compress { x: r.input(0)?, condition: r.input(1)?, axis: r.optional_int("axis") }))
}

impl<'m> Convert<'m> for Compress<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, condition) = (importer.value(self.x)?, importer.value(self.condition)?);
        let rank = importer.g.rank(condition);
        if rank != 1 {
            return wrong(format!("takes a list of conditions, not a tensor of rank {rank}"));
        }
        let (x, axis) = along(importer, x, self.axis)?;
        let (least, most) = (importer.g.shape(condition)[0].clone(), importer.g.shape(x)[axis].clone());
        let beyond = least.zip(most).is_some_and(|(given, most)| importer.g.env.facts.range(&most.sub(&given)).1 < 0);
        if beyond {
            return wrong("has more conditions than there are slices");
        }
        let found = importer.g.non_zero(condition, None);
        let found = importer.decided(found, 1)?;
        let places = importer.g.squeeze(found, &[0])?;
        Ok(vec![importer.g.gather(x, places, axis)])
    }
}

/// The slices along `axis` without repetition, where they stand first, which each slice is, how often they occur; without an
/// axis, of the elements.
#[derive(Debug)]
struct Unique<'m> {
    x: &'m str,
    axis: Option<i64>,
    sorted: bool,
}

fn unique<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Unique { x: r.input(0)?, axis: r.optional_int("axis"), sorted: r.flag("sorted")? }))
}

impl<'m> Convert<'m> for Unique<'m> {
    fn results(&self) -> usize {
        4
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let (x, axis) = along(importer, x, self.axis)?;
        let results = importer.g.unique(x, axis, self.sorted);
        importer.decided(results[1], 0)?;
        Ok(results)
    }
}

/// Boxes with the greatest scores that do not overlap one another.
#[derive(Debug)]
struct NonMaxSuppression<'m> {
    boxes: &'m str,
    scores: &'m str,
    most: Option<&'m str>,
    overlap: Option<&'m str>,
    least: Option<&'m str>,
    centers: bool,
}

fn non_max_suppression<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(NonMaxSuppression {
        boxes: r.input(0)?,
        scores: r.input(1)?,
        most: r.optional(2),
        overlap: r.optional(3),
        least: r.optional(4),
        centers: r.flag("center_point_box")?,
    }))
}

impl<'m> Convert<'m> for NonMaxSuppression<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (boxes, scores) = (importer.value(self.boxes)?, importer.value(self.scores)?);
        let most = limit(importer, self.most, Type::I64)?;
        let (overlap, least) = (limit(importer, self.overlap, Type::F32)?, limit(importer, self.least, Type::F32)?);
        let inputs = [scores, boxes, most, overlap, least];
        let rows = importer.g.non_max_suppression(inputs, self.centers, self.least.is_some())?;
        Ok(vec![importer.decided(rows, 0)?])
    }
}

/// The value, and the dimension that an axis is; without one, all elements in a row.
fn along(importer: &mut Importer<'_, '_, '_>, x: Value, axis: Option<i64>) -> Made<(Value, usize)> {
    Ok(match axis {
        Some(axis) => (x, importer.g.axis(axis, importer.g.rank(x))?),
        None => {
            let rows = importer.g.flatten(x, 0)?;
            (importer.g.squeeze(rows, &[0])?, 0)
        }
    })
}

/// A number that may be left out, which then is 0.
fn limit<'m>(importer: &mut Importer<'m, '_, '_>, name: Option<&'m str>, elem: Type) -> Made {
    if let Some(name) = name {
        return importer.value(name);
    }
    let dense = importer.cx().dense_attr(importer.cx().tensor_type(&[1], elem, None), &[0]);
    Ok(importer.g.constant(dense.ok_or_else(|| "has no constant of its type".to_owned())?))
}
