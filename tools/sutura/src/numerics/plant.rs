//! A planted error: what one operation makes is changed on its way through the compiler, to see that it is found.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::ShapeEnv;
use sutura_dialects::graph::build::GraphBuilder;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Context, Module, Rewriter, Type, Value};

use crate::failure::Failure;
use crate::graph_function::GraphFunction;

/// Changes elements of `value`, and all that reads it: an eighth of their magnitude and an eighth more for floats, another last bit
/// for integers, the contrary for truths. What takes its place.
pub(super) fn plant(
    cx: &Context,
    module: &mut Module,
    function: &GraphFunction,
    value: Value,
) -> Result<Value, Failure> {
    let body = function.body(module);
    let facts = Facts::of_block(BlockRef { cx, body, block: function.block }).unwrap_or_default();
    let loc = body.value_loc(value);
    let mut made = Err(Failure::internal("the function is gone"));
    Rewriter::new(cx, module.body_mut()).edit_nested(function.op, |inside| {
        let mut rw = Rewriter::new(cx, inside);
        rw.set_after_value(value);
        let mut g = GraphBuilder::new(&mut rw, ShapeEnv::naming(facts), loc);
        let elem = g.elem(value);
        let changed = g.map(value, |s, x| {
            if elem == Type::I1 {
                return s.not(x);
            }
            if elem.is_float(cx) {
                let (size, eighth) = (s.abs(x), s.number(0.125, elem));
                let (part, sum) = (s.mul(size, eighth), s.add(x, eighth));
                return s.add(sum, part);
            }
            let one = s.int(1, s.ty(x));
            s.bits("arith.xori", x, one)
        });
        made = match changed {
            Ok(changed) => {
                let own = rw.body().defining_op(changed);
                rw.replace_uses_if(value, changed, |_, op, _| Some(op) != own);
                Ok(changed)
            }
            Err(_) => Err(Failure::usage("an error can be planted in tensors of numbers alone")),
        };
    });
    made
}
