//! `declare-dims`: what a user knows of sizes, declared as if the program had.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashSet;
use sutura_dialects::r#dyn::facts::MAX_DIM;
use sutura_dialects::r#dyn::ops::is_symbol_name;
use sutura_dialects::r#dyn::{EqualOp, Poly, SymbolInfo, SymbolOp};
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::shape_fn::used_symbols;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::{Body, Context, Diagnostic, Loc, Op, OpRef, Rewriter};

/// The pass.
pub static DECLARE_DIMS: PassInfo = PassInfo {
    name: "DeclareDims",
    argument: "declare-dims",
    summary: "Declare ranges, divisors and values of symbolic sizes",
    description: "Narrows what the `dyn.symbol` ops of functions say of their sizes, and adds such ops where there are none. A \
                  size with one value equals it, by a `dyn.equal`. A size that no function has, and one that would have no \
                  value left, are errors. Every run checks what is declared.",
    anchor: Anchor::Op("builtin.module"),
    options: &[OptionInfo {
        name: "dims",
        kind: OptionKind::List,
        default: "",
        help: "sizes, as `seq=1..512:8` (a range, a divisor) or `batch=4`",
    }],
    statistics: &[],
    create,
};

/// What is declared of a size: `seq=1..512:8`, `seq=1..512`, `seq=8..`, `batch=4`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DimSpec {
    /// The size.
    pub name: String,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Every value is a multiple of it.
    pub div: i64,
}

impl FromStr for DimSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("expected NAME=MIN..MAX:DIVISOR or NAME=VALUE, as `seq=1..512:8` or `batch=4`, found `{text}`");
        let (name, spec) = text.split_once('=').ok_or_else(wrong)?;
        if !is_symbol_name(name) {
            return Err(format!(
                "`{name}` is no name of a size: a letter or `_`, then letters, digits, `_`, `.` and `$`"
            ));
        }
        let number = |digits: &str| match digits.bytes().all(|b| b.is_ascii_digit()) {
            true => digits.parse::<i64>().ok().filter(|number| *number <= MAX_DIM).ok_or_else(wrong),
            false => Err(wrong()),
        };
        let (range, div) = match spec.split_once(':') {
            Some((range, div)) => (range, number(div)?),
            None => (spec, 1),
        };
        let (min, max) = match range.split_once("..") {
            Some((min, "")) => (number(min)?, MAX_DIM),
            Some((min, max)) => (number(min)?, number(max)?),
            None => (number(range)?, number(range)?),
        };
        if div < 1 || min > max {
            return Err(format!("`{text}` allows no value"));
        }
        Ok(Self { name: name.to_owned(), min, max, div })
    }
}

impl fmt::Display for DimSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}..{}:{}", self.name, self.min, self.max, self.div)
    }
}

impl DimSpec {
    /// What is known of a size of which `info` is known already; `None` where no value is left.
    pub fn narrow(&self, mut info: SymbolInfo) -> Option<SymbolInfo> {
        info.divide_by(self.div);
        info.min = next_multiple(info.min.max(self.min), info.div);
        info.max = info.max.min(self.max).div_euclid(info.div) * info.div;
        info.forget_impossible();
        (info.min <= info.max).then_some(info)
    }
}

/// The least multiple of `div` that is at least `number`.
fn next_multiple(number: i64, div: i64) -> i64 {
    number.saturating_add(div - 1).div_euclid(div).saturating_mul(div)
}

struct DeclareDims {
    dims: Vec<DimSpec>,
}

fn create(options: &PassOptions) -> Result<Box<dyn Pass>, String> {
    let dims: Vec<DimSpec> = options.list("dims").iter().map(|item| item.parse()).collect::<Result<_, _>>()?;
    let mut names = FxHashSet::default();
    match dims.iter().find(|dim| !names.insert(&dim.name)) {
        Some(twice) => Err(format!("`{}` is given twice", twice.name)),
        None => Ok(Box::new(DeclareDims { dims })),
    }
}

impl Pass for DeclareDims {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let missing = declare_dims(run.cx, run.body, &self.dims).map_err(|error| run.diags.report(error))?;
        if let Some(dim) = missing.first() {
            let message = format!("no function has a size '{}'", dim.name);
            return Err(run.diags.error(run.header.loc, message).into());
        }
        let (loc, count) = (run.header.loc, self.dims.len());
        if count > 0 {
            run.passed(loc, format!("{count} sizes are declared"));
        }
        Ok(PreservedAnalyses::unless(count > 0))
    }
}

/// Declares sizes in the functions of a module that have them. Returns those that none has.
///
/// # Errors
/// When a size would have no value.
pub fn declare_dims<'d>(cx: &Context, module: &mut Body, dims: &'d [DimSpec]) -> Result<Vec<&'d DimSpec>, Diagnostic> {
    let functions: Vec<Op> = module.entry_block().into_iter().flat_map(|block| module.ops(block)).collect();
    let mut missing: Vec<&DimSpec> = dims.iter().collect();
    for op in functions {
        let view = OpRef::new(cx, module, op);
        let (loc, is_function) = (view.loc(), view.is::<FuncOp<'_>>());
        let Some(body) = module.nested_mut(op).filter(|_| is_function) else { continue };
        let used = used_symbols(cx, body);
        for dim in dims.iter().filter(|dim| used.contains(dim.name.as_str())) {
            declare(cx, body, dim, loc)?;
            missing.retain(|other| other.name != dim.name);
        }
    }
    Ok(missing)
}

/// Declares a size in a function.
fn declare(cx: &Context, body: &mut Body, dim: &DimSpec, loc: Loc) -> Result<(), Diagnostic> {
    let Some(entry) = body.entry_block() else { return Ok(()) };
    let first = body.ops(entry).next();
    let own = |op: &Op| OpRef::new(cx, body, *op).as_::<SymbolOp<'_>>().is_some_and(|s| s.name() == dim.name);
    let known = body.ops(entry).find(own);
    let before =
        known.and_then(|op| OpRef::new(cx, body, op).as_::<SymbolOp<'_>>().map(|s| s.info())).unwrap_or_default();
    let Some(info) = dim.narrow(before.clone()) else {
        let SymbolInfo { min, max, div, .. } = before;
        let message =
            format!("'{}' would have no value: {dim} is declared, and the program says {min}..{max}:{div}", dim.name);
        return Err(Diagnostic::error(loc, message));
    };
    let mut rw = Rewriter::new(cx, body);
    match first {
        Some(op) => rw.set_before(op),
        None => rw.set_to_end(entry),
    }
    let op = known.unwrap_or_else(|| {
        let op = SymbolOp::build(&mut rw, loc, &dim.name);
        let (result, ident) = (rw.body().result(op, 0), cx.ident(&dim.name));
        rw.set_value_name(result, Some(ident));
        op
    });
    SymbolOp::set_info(&mut rw, op, &info);
    if info.min == info.max {
        rw.set_after(op);
        EqualOp::build(&mut rw, loc, &Poly::symbol(&dim.name), &info.min.into(), Some("the size that is declared"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read() {
        let read = |text: &str| text.parse::<DimSpec>().map(|dim| dim.to_string());
        assert_eq!(read("seq=1..512:8").as_deref(), Ok("seq=1..512:8"));
        assert_eq!(read("seq=1..512").as_deref(), Ok("seq=1..512:1"));
        assert_eq!(read("seq=8..").as_deref(), Ok("seq=8..2147483647:1"));
        assert_eq!(read("batch=4").as_deref(), Ok("batch=4..4:1"));
        for wrong in [
            "",
            "seq",
            "=4",
            "2x=4",
            "seq=",
            "seq=-1",
            "seq=+1",
            "seq=..",
            "seq=..8",
            "seq=4:",
            "seq=1..2:0",
            "seq=5..4",
            "seq=a..b",
            "seq=1..512:8:8",
            "seq=99999999999",
            "seq=1 ..2",
            "sëq=1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
