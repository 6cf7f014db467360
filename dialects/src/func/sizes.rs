//! Sizes of functions where they are called: the symbols of a function stand for other sizes at each call.

use std::sync::Arc;

use indexmap::IndexMap;
use sutura_ir::{Body, Context, OpRef, OpView, Type};

use super::ops::{CallOp, FuncOp};
use crate::r#dyn::attr::{SIZES, encoded_sizes, symbolic_shape, with_sizes};
use crate::r#dyn::facts::MAX_DIM;
use crate::r#dyn::{EqualOp, Facts, Instance, Poly, SymbolInfo, SymbolOp};
use crate::show;

/// Sizes of a ranked tensor, `None` where unknown.
pub type Shape = Vec<Option<Poly>>;

/// What a function says of sizes, over its own symbols.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// Sizes of each parameter that is a ranked tensor.
    pub inputs: Vec<Option<Shape>>,
    /// Sizes of each result that is a ranked tensor.
    pub results: Vec<Option<Shape>>,
    /// What is known of the symbols.
    pub symbols: Vec<(String, SymbolInfo)>,
    /// Sizes that are equal in every run, with where that comes from.
    pub equalities: Vec<(Poly, Poly, Option<String>)>,
    /// A call looks at the sizes itself when it begins, so that its caller need not.
    pub checked_by_calls: bool,
}

/// Signatures of the functions of a module, by name.
pub type Signatures = Arc<IndexMap<String, Arc<Signature>>>;

impl Signature {
    /// Reads the type of a function, and what its entry states of sizes.
    pub fn of(func: FuncOp<'_>) -> Self {
        let cx = func.op_ref().cx;
        let shapes = |types: &[Type]| types.iter().map(|ty| symbolic_shape(cx, *ty)).collect();
        let entry = func.body().entry();
        let stated = || entry.into_iter().flat_map(|block| block.ops());
        let symbol = |op: OpRef<'_>| op.as_::<SymbolOp<'_>>().map(|s| (s.name().to_owned(), s.info()));
        let equality = |op: OpRef<'_>| {
            let equal = op.as_::<EqualOp<'_>>()?;
            Some((equal.lhs().clone(), equal.rhs().clone(), equal.source().map(str::to_owned)))
        };
        Self {
            inputs: shapes(func.inputs()),
            results: shapes(func.results()),
            symbols: stated().filter_map(symbol).collect(),
            equalities: stated().filter_map(equality).collect(),
            checked_by_calls: false,
        }
    }

    /// Whether it says anything but what types without symbols do.
    pub fn states_sizes(&self) -> bool {
        let sizes = self.inputs.iter().chain(&self.results).flatten().flatten().flatten();
        sizes.into_iter().any(|size| size.as_const().is_none())
    }

    /// Whether it has symbols, or states anything of them.
    pub fn says_anything(&self) -> bool {
        self.states_sizes() || !self.symbols.is_empty() || !self.equalities.is_empty()
    }

    /// What the symbols stand for where the arguments have these sizes.
    pub fn instance(&self, arguments: &[Option<Shape>]) -> Instance {
        let shapes =
            self.inputs.iter().zip(arguments).filter_map(|(formal, actual)| Some((formal.as_ref()?, actual.as_ref()?)));
        let sizes = shapes.flat_map(|(formal, actual)| formal.iter().zip(actual));
        let pairs: Vec<(&Poly, &Poly)> = sizes.filter_map(|(f, a)| Some((f.as_ref()?, a.as_ref()?))).collect();
        let zeros: Vec<Poly> = self.equalities.iter().map(|(lhs, rhs, _)| lhs.sub(rhs)).collect();
        Instance::of(&pairs, &zeros)
    }
}

/// Two sizes that a call needs to be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Need {
    /// One size.
    pub lhs: Poly,
    /// The other.
    pub rhs: Poly,
    /// What they are sizes of, in words.
    pub what: String,
}

impl Signature {
    /// What a call of `name` needs of the caller's sizes, but what `facts` say anyhow: arguments that share a symbol have one
    /// size, what the function states holds, and symbols stand for sizes in their ranges.
    pub fn needs(&self, name: &str, instance: &Instance, arguments: &[Option<Shape>], facts: &Facts) -> Vec<Need> {
        let mut needs = Vec::new();
        if self.checked_by_calls {
            return needs;
        }
        for (i, (formal, actual)) in self.inputs.iter().zip(arguments).enumerate() {
            let (Some(formal), Some(actual)) = (formal, actual) else { continue };
            for (dim, (formal, actual)) in formal.iter().zip(actual).enumerate() {
                let size = formal.as_ref().and_then(|formal| instance.size(formal));
                if let (Some(lhs), Some(rhs)) = (size, actual.clone()) {
                    needs.push(Need {
                        lhs,
                        rhs,
                        what: format!("dimension {dim} of argument {i} and what @{name} takes"),
                    });
                }
            }
        }
        for (lhs, rhs, source) in &self.equalities {
            if let (Some(lhs), Some(rhs)) = (instance.size(lhs), instance.size(rhs)) {
                let what = source.as_ref().map_or_else(|| format!("sizes of @{name}"), |s| format!("{s} in @{name}"));
                needs.push(Need { lhs, rhs, what });
            }
        }
        for (symbol, info) in &self.symbols {
            if let Some(value) = instance.symbol(symbol) {
                bounds(value, info, &format!("`{symbol}` of @{name}"), facts, &mut needs);
            }
        }
        needs.retain(|need| !facts.prove_equal(&need.lhs, &need.rhs));
        needs
    }
}

/// What must hold of a size for a symbol of which `info` is known to stand for it.
fn bounds(value: &Poly, info: &SymbolInfo, what: &str, facts: &Facts, needs: &mut Vec<Need>) {
    let mut at_least_0 = |difference: Poly, words: String| {
        if !facts.prove_non_negative(&difference) {
            let lhs = difference.lesser(&Poly::default());
            needs.push(Need { lhs, rhs: Poly::default(), what: format!("{what}, {words}") });
        }
    };
    // A size of a tensor is never below 0.
    if info.min > 0 {
        at_least_0(value.sub(&info.min.into()), format!("at least {}", info.min));
    }
    if info.max < MAX_DIM {
        at_least_0(Poly::constant(info.max).sub(value), format!("at most {}", info.max));
    }
    if info.div > 1 && !facts.divisible(value, info.div) {
        let rhs = value.floordiv(info.div).scale(info.div);
        needs.push(Need { lhs: value.clone(), rhs, what: format!("{what}, a multiple of {}", info.div) });
    }
}

/// The signatures of the functions that a module holds.
pub fn signatures(cx: &Context, module: &Body) -> Signatures {
    let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
    let functions = ops.filter_map(|op| OpRef::new(cx, module, op).as_::<FuncOp<'_>>());
    Arc::new(functions.map(|func| (func.sym_name().to_owned(), Arc::new(Signature::of(func)))).collect())
}

/// Whether a type states sizes that stand for others where the function is called.
pub fn states_sizes(cx: &Context, ty: Type) -> bool {
    encoded_sizes(cx, ty).is_some()
}

/// Checks the types of a call against the function's, whose symbols stand for other sizes.
///
/// # Errors
/// Says which operand or result does not fit, and why.
pub(super) fn check_call(call: CallOp<'_>, callee: FuncOp<'_>) -> Result<(), String> {
    let op = call.op_ref();
    let arguments: Vec<Type> = op.operand_types().collect();
    let shapes: Vec<Option<Shape>> = arguments.iter().map(|ty| symbolic_shape(op.cx, *ty)).collect();
    let instance = Signature::of(callee).instance(&shapes);
    let results: Vec<Type> = op.result_types().collect();
    for (what, found, formal) in [("operand", &arguments, callee.inputs()), ("result", &results, callee.results())] {
        for (i, (found, formal)) in found.iter().zip(formal).enumerate() {
            fits(op.cx, *found, *formal, what == "result", &instance).map_err(|why| {
                let (found, formal) = (show::ty(op.cx, *found), show::ty(op.cx, *formal));
                format!("{what} type mismatch: '{found}' is no instance of '{formal}' for {what} number {i}{why}")
            })?;
        }
    }
    Ok(())
}

/// Whether a type of a call is an instance of the function's: the same but for sizes, and those where both are known. What a
/// call is given has other sizes only where the function's type states some.
fn fits(cx: &Context, found: Type, formal: Type, result: bool, instance: &Instance) -> Result<(), String> {
    if found == formal {
        return Ok(());
    }
    let (Some(actual), Some(sizes)) = (symbolic_shape(cx, found), symbolic_shape(cx, formal)) else {
        return Err(String::new());
    };
    let plain = |ty: Type, rank: usize| with_sizes(cx, cx.with_property(ty, SIZES, None), &vec![None; rank]);
    if plain(found, actual.len()) != plain(formal, sizes.len()) || !(result || states_sizes(cx, formal)) {
        return Err(String::new());
    }
    let is_static = |ty: Type, dim: usize| cx.shape(ty).is_some_and(|shape| shape[dim] != sutura_ir::DYNAMIC);
    for (dim, (actual, size)) in actual.iter().zip(&sizes).enumerate() {
        if is_static(formal, dim) && !is_static(found, dim) {
            return Err(format!(": dimension {dim} must be static"));
        }
        let size = size.as_ref().and_then(|size| instance.size(size));
        if let (Some(size), Some(actual)) = (size.and_then(|s| s.as_const()), actual.as_ref().and_then(Poly::as_const))
            && size != actual
        {
            return Err(format!(": dimension {dim} is {actual} and must be {size}"));
        }
    }
    Ok(())
}
