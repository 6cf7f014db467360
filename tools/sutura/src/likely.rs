//! `--likely`: sizes that the user expects, declared in the program as if the model had.

use sutura_dialects::r#dyn::ops::SymbolOp;
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type};

use crate::failure::Failure;
use crate::pipeline::{Level, Program};
use crate::sizes;

const FLAG: &str = "--likely";

/// Declares values of sizes as likely, those that are given first as most likely; what the program declares of the same
/// sizes is replaced.
///
/// # Errors
/// When the program has no such size or does not allow a value, or when its kernels are made already.
pub(crate) fn declare(cx: &Context, program: &mut Program, given: &[(String, i64)]) -> Result<(), Failure> {
    if given.is_empty() {
        return Ok(());
    }
    if program.level() > Level::Fusion {
        let failure = Failure::usage(format!("{FLAG} comes too late: the program is made of kernels already"));
        return Err(failure.hint("give it when the model is compiled"));
    }
    let symbols = sizes::declared(cx, &program.module);
    for size in given {
        sizes::of(&symbols, (FLAG, std::slice::from_ref(size)))?;
    }
    set(cx, program.module.body_mut(), given);
    Ok(())
}

/// Declares them at every statement of these sizes, in functions and in the regions within.
fn set(cx: &Context, body: &mut Body, given: &[(String, i64)]) {
    let ops: Vec<Op> = body.preorder().collect();
    for op in ops {
        let values: Vec<i64> = match OpRef::new(cx, body, op).as_::<SymbolOp<'_>>() {
            Some(symbol) => given.iter().filter(|(name, _)| name == symbol.name()).map(|(_, value)| *value).collect(),
            None => vec![],
        };
        if !values.is_empty() {
            let values: Vec<_> = values.iter().map(|value| cx.int_attr(*value, Type::I64)).collect();
            Rewriter::new(cx, body).set_prop(op, "likely", Some(cx.array_attr(&values)));
        }
        if let Some(inside) = body.nested_mut(op) {
            set(cx, inside, given);
        }
    }
}
