//! Running combinations.

use sutura_dialects::graph::Combiner;
use sutura_ir::Value;

use super::super::convert::{Importer, Made};
use super::super::error::Reason;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::Scalar;
use super::{Conversion, Convert, Family, by_data};

pub(super) const OPERATORS: Family = &[("CumProd", cum_prod)];

/// Products up to each element along `axis`; with `exclusive` without it, with `reverse` from the last element on.
#[derive(Debug)]
struct CumProd<'m> {
    x: &'m str,
    axis: i64,
    exclusive: bool,
    reverse: bool,
}

fn cum_prod<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (exclusive, reverse) = (r.flag("exclusive")?, r.flag("reverse")?);
    let axis = match r.scalar_param(1)? {
        Some(Param::Known(Scalar::Int(axis))) => i64::try_from(axis).map_err(|_| "has no sensible `axis`")?,
        Some(Param::Value(axis)) => {
            return Ok(by_data::running((r.input(0)?, axis), Combiner::Mul, exclusive, reverse));
        }
        _ => return Err("has no `axis` that is an integer".into()),
    };
    Ok(Conversion::op(CumProd { x: r.input(0)?, axis, exclusive, reverse }))
}

impl<'m> Convert<'m> for CumProd<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let axis = importer.g.axis(self.axis, importer.g.rank(x))?;
        Ok(vec![importer.g.scan(x, axis, Combiner::Mul, self.exclusive, self.reverse)?])
    }
}
