//! Values of a program's sizes, for figures and measurements.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::func::FuncOp;
use sutura_dialects::rt::Symbol;
use sutura_ir::diagnostics::did_you_mean;
use sutura_ir::{Context, Module};
use sutura_passes::gir::cost::likely;

use crate::failure::Failure;

/// The sizes that the functions of a program declare, each once.
pub(crate) fn declared(cx: &Context, module: &Module) -> Vec<Symbol> {
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
    symbols
}

/// A size of the program with the value that figures are for.
#[derive(Debug)]
pub(crate) struct Size {
    pub(crate) name: String,
    pub(crate) value: i64,
    /// Why this value.
    pub(crate) origin: String,
    /// What the program allows.
    pub(crate) range: String,
}

/// Values of all sizes of a program, some of which are given with `flag`.
///
/// # Errors
/// When a value is given for a size that the program does not have, or that it does not allow.
pub(crate) fn of(symbols: &[Symbol], (flag, given): (&'static str, &[(String, i64)])) -> Result<Vec<Size>, Failure> {
    for (name, _) in given {
        known(symbols, flag, name)?;
    }
    symbols.iter().map(|symbol| size(symbol, flag, given)).collect()
}

/// The size of this name; fails where there is none.
pub(crate) fn known<'s>(symbols: &'s [Symbol], flag: &str, name: &str) -> Result<&'s Symbol, Failure> {
    let names = || symbols.iter().map(|s| s.name.as_str());
    if let Some(symbol) = symbols.iter().find(|symbol| symbol.name == name) {
        return Ok(symbol);
    }
    let failure = Failure::usage(format!("{flag} gives `{name}`, which is no size of the model"));
    Err(match (did_you_mean(name, names()), symbols.is_empty()) {
        (Some(close), _) => failure.hint(format!("did you mean `{close}`?")),
        (None, true) => failure.hint("all its sizes are fixed"),
        (None, false) => failure.hint(format!("its sizes are `{}`", names().collect::<Vec<_>>().join("`, `"))),
    })
}

fn size(symbol: &Symbol, flag: &'static str, given: &[(String, i64)]) -> Result<Size, Failure> {
    let info = &symbol.info;
    let range = match info.div {
        1 => format!("{} to {}", info.min, info.max),
        div => format!("{} to {}, multiples of {div}", info.min, info.max),
    };
    // As everywhere on a command line, the last one counts.
    let own = given.iter().rev().find(|(name, _)| *name == symbol.name).map(|(_, value)| *value);
    if let Some(value) = own
        && (value < info.min || value > info.max || value % info.div.max(1) != 0)
    {
        return Err(Failure::usage(format!("{flag} gives `{}` as {value}, but it is {range}", symbol.name)));
    }
    let origin = match (own, info.likely.is_empty()) {
        (Some(_), _) => format!("given with {flag}"),
        (None, false) => "the model declares it likely".to_owned(),
        (None, true) => "assumed: nothing is declared".to_owned(),
    };
    Ok(Size { name: symbol.name.clone(), value: own.unwrap_or_else(|| likely(info)), origin, range })
}
