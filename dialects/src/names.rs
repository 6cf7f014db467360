//! What results are called in custom form where they have no name of their own: upstream's choices.

use std::borrow::Cow;

use sutura_ir::asm::print::attr_text;
use sutura_ir::interfaces::ResultNames;
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{AttrData, OpRef, Type, TypeData};

type Names = SmallVec<[(usize, Cow<'static, str>); 1]>;

/// Gives ops a name for all results together: `result_names!(d, AllocOp => "alloc")`.
macro_rules! result_names {
    ($d:expr, $($op:ident => $name:literal),+ $(,)?) => {
        $($d.op_interface::<$op<'_>, dyn sutura_ir::interfaces::ResultNames>(&$name);)+
    };
}

pub(crate) use result_names;

/// `c4_vscale` for the product of a constant and the factor of scalable vectors.
pub(crate) struct ProductName;

impl ResultNames for ProductName {
    fn names(&self, op: OpRef<'_>) -> Names {
        let definition = |i| op.body.defining_op(op.operand(i)).map(|def| OpRef::new(op.cx, op.body, def));
        let (Some(a), Some(b)) = (definition(0), definition(1)) else { return Names::new() };
        let base = match (a.name_str(), b.name_str()) {
            (_, "vector.vscale") => a,
            ("vector.vscale", _) => b,
            _ => return Names::new(),
        };
        let value = base.prop("value").filter(|_| base.name_str() == "arith.constant");
        match value.and_then(|value| op.cx.as_int(value)) {
            Some(value) => smallvec![(0, format!("c{value}_vscale").into())],
            None => Names::new(),
        }
    }
}

/// `c` and the value for integers, with the type unless it is `index`; `true` and `false`; `cst` for all others.
pub(crate) struct ConstantName;

impl ResultNames for ConstantName {
    fn names(&self, op: OpRef<'_>) -> Names {
        let cx = op.cx;
        let Some(value) = op.prop("value") else { return Names::new() };
        let name = match (cx.attr_data(value), op.result_types().next()) {
            (AttrData::Integer { value, .. }, Some(Type::I1)) => {
                Cow::Borrowed(if value == 0 { "false" } else { "true" })
            }
            (AttrData::Integer { .. } | AttrData::BigInteger { .. }, Some(ty)) => {
                let text = attr_text(cx, value);
                let number = text.split(' ').next().unwrap_or_default();
                match cx.type_data(ty) {
                    TypeData::Integer { width, .. } => format!("c{number}_i{width}").into(),
                    _ => format!("c{number}").into(),
                }
            }
            _ => Cow::Borrowed("cst"),
        };
        smallvec![(0, name)]
    }
}
