//! Operations in custom form.

use smallvec::SmallVec;

use sutura_ir::body::Block;
use sutura_ir::diagnostics::Reported;

use super::{Driver, OpStart, ResultName};
use crate::rules::Node;
use crate::units::Unit;

pub(super) struct CustomOp<'t> {
    start: OpStart<'t>,
}

impl<'t> Driver<'t> {
    pub(super) fn custom_op(
        &mut self,
        _unit: &Unit<'t>,
        name: &Node<'t>,
        _results: SmallVec<[ResultName<'t>; 1]>,
    ) -> Result<(), Reported> {
        Err(self.reader.error(name.start(), format!("custom op '{}' is unknown", name.text())))
    }

    pub(super) fn resume_custom(
        &mut self,
        op: Box<CustomOp<'t>>,
        _blocks: Vec<Block>,
        _unit: &Unit<'t>,
    ) -> Result<(), Reported> {
        Err(self.reader.error(op.start.at, "custom"))
    }
}
