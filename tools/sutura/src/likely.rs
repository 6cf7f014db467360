//! `--likely`: sizes that the user expects, declared in the program as if the model had.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::r#dyn::ops::SymbolOp;
use sutura_dialects::rt::Symbol;
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
    let mut symbols = Vec::new();
    collect(cx, program.module.body(), &mut symbols);
    for size in given {
        sizes::of(&symbols, (FLAG, std::slice::from_ref(size)))?;
    }
    set(cx, program.module.body_mut(), given);
    Ok(())
}

fn symbol<'a>(cx: &'a Context, body: &'a Body, op: Op) -> Option<SymbolOp<'a>> {
    OpRef::new(cx, body, op).as_::<SymbolOp<'_>>()
}

/// The sizes of a program, each once.
fn collect(cx: &Context, body: &Body, symbols: &mut Vec<Symbol>) {
    for op in body.preorder() {
        if let Some(symbol) = symbol(cx, body, op)
            && symbols.iter().all(|known| known.name != symbol.name())
        {
            let (min, max) = symbol.range();
            let info = SymbolInfo { min, max, div: symbol.div(), likely: symbol.likely() };
            symbols.push(Symbol { name: symbol.name().to_owned(), info });
        }
        if let Some(inside) = body.nested(op) {
            collect(cx, inside, symbols);
        }
    }
}

fn set(cx: &Context, body: &mut Body, given: &[(String, i64)]) {
    let ops: Vec<Op> = body.preorder().collect();
    for op in ops {
        let values: Vec<i64> = match symbol(cx, body, op) {
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
