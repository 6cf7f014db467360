//! Operators that sort.

use sutura_ir::Value;

use super::super::convert::{Importer, Made, wrong};
use super::super::error::Reason;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("TopK", top_k)];

/// The `k` greatest or least elements along `axis`, sorted, and their positions. `k` is a list of one number.
#[derive(Debug)]
struct TopK<'m> {
    x: &'m str,
    k: Param<'m, Vec<i64>>,
    axis: i64,
    largest: bool,
}

fn top_k<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let k = match r.interface.since {
        ..10 => Param::Known(vec![r.int("k")?]),
        _ => r.required_ints_param("K")?,
    };
    // What need not be sorted may be.
    let largest = r.interface.since < 11 || r.flag("largest")?;
    Ok(Conversion::op(TopK { x: r.input(0)?, k, axis: r.int("axis")?, largest }))
}

impl<'m> Convert<'m> for TopK<'m> {
    fn results(&self) -> usize {
        2
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, sizes) = (importer.value(self.x)?, importer.all_sizes(&self.k)?);
        let axis = importer.g.axis(self.axis, importer.g.rank(x))?;
        let [k] = &sizes[..] else { return wrong(format!("`K` must be one number, not {}", sizes.len())) };
        if k.as_const().is_some_and(|k| k < 0) {
            return wrong(format!("takes {k} elements"));
        }
        Ok(importer.g.top_k(x, k, axis, !self.largest)?)
    }
}
