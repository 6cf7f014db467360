//! Sizes that are measured at, where the command line gives them.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::func::FuncOp;
use sutura_dialects::rt::Symbol;
use sutura_ir::{Context, Module};

use crate::failure::Failure;
use crate::sizes;

/// The sizes that are given, by name.
///
/// # Errors
/// When the functions do not have one, or do not allow its value.
pub(super) fn given(cx: &Context, module: &Module, given: &[(String, i64)]) -> Result<HashMap<String, i64>, Failure> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let functions = module.op_ref(cx).region(0).and_then(|r| r.entry()).into_iter().flat_map(|e| e.ops());
    for function in functions.filter(|op| op.is::<FuncOp<'_>>()) {
        let Some(entry) = function.region(0).and_then(|r| r.entry()) else { continue };
        let Ok(facts) = Facts::of_block(entry) else { continue };
        for (name, info) in facts.symbols() {
            if symbols.iter().all(|known| known.name != **name) {
                symbols.push(Symbol { name: name.to_string(), info: info.clone() });
            }
        }
    }
    sizes::of(&symbols, ("--tune-sizes", given))?;
    Ok(given.iter().cloned().collect())
}
