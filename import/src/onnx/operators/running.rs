//! Running combinations.

use sutura_dialects::graph::Combiner;
use sutura_ir::Value;

use super::super::convert::{Importer, Made};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

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
    let axes = r.known_ints("axis")?.ok_or("has no `axis`")?;
    let [axis] = axes[..] else { return Err(format!("`axis` must be one number, not {}", axes.len()).into()) };
    let (exclusive, reverse) = (r.flag("exclusive")?, r.flag("reverse")?);
    Ok(Conversion::op(CumProd { x: r.input(0)?, axis, exclusive, reverse }))
}

impl<'m> Convert<'m> for CumProd<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let axis = importer.g.axis(self.axis, importer.g.rank(x))?;
        Ok(vec![importer.g.scan(x, axis, Combiner::Mul, self.exclusive, self.reverse)?])
    }
}
