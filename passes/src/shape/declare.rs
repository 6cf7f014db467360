//! `declare-dims`: what a user knows of sizes, declared as if the program had.

use rustc_hash::FxHashSet;
use sutura_dialects::r#dyn::{DimSpec, EqualOp, Poly, SymbolInfo, SymbolOp};
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
