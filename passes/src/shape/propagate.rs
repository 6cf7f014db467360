//! `propagate-shapes`: every size of a function as a polynomial in the sizes of its arguments.
//!
//! Ops say what they know of their results' shapes and which sizes they need to be equal ([`ShapeFn`]); small integer
//! tensors are followed symbolically, so that a shape computed by the program is one. Equalities are collected as facts
//! and solved, which carries knowledge backward; the walk is repeated until nothing new is learnt.
//!
//! [`ShapeFn`]: sutura_dialects::graph::ShapeFn

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::facts::{Contradiction, MAX_DIM};
use sutura_dialects::r#dyn::poly::Excess;
use sutura_dialects::r#dyn::{EqualOp, Facts, Poly, SymbolInfo};
use sutura_dialects::func::{CallOp, ConstantOp, FuncOp, Signature, Signatures, signatures};
use sutura_dialects::graph::operator::declared;
use sutura_dialects::graph::shape_fn::told_in_run;
use sutura_dialects::graph::{Decided, Operators, Quotient, Requirement, ShapeEnv, ShapeFn, SymShape};
use sutura_ir::analysis::{CallGraph, PreservedAnalyses};
use sutura_ir::diagnostics::{Reported, codes};
use sutura_ir::interfaces::RegionBranchOp;
use sutura_ir::location::LocData;
use sutura_ir::op_ref::{BlockRef, RegionRef};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Diagnostic, Diagnostics, Loc, Op, OpRef, Value};

use super::control::Carried;
use super::symbols::{Origin, Symbols, argument_name};
use super::{reasons, rewrite};

/// The pass.
pub static PROPAGATE_SHAPES: PassInfo = PassInfo {
    name: "PropagateShapes",
    argument: "propagate-shapes",
    summary: "Propagate symbolic shapes through functions",
    description: "Gives every tensor of a function a symbolic shape (`#dyn.shape`). Sizes of arguments that have no \
                  name get one; sizes of results follow from the ops, contents of small integer tensors included; \
                  equalities that ops need are assumed, solved, and kept as `dyn.equal` ops for a check at run time, \
                  unless the types say them already. A slice takes no more than there is, so its size may be the lesser of \
                  two. A size that follows from nothing becomes a fresh symbol, with a remark, and is taken to be equal to \
                  no other: the ops that meet it compare it when they run. Operands that only computed a shape are \
                  dropped; concatenations, slices that are proved to lie inside, and lists of sizes become \
                  `graph.compute`. A contradiction is an error. Functions are followed before those that call them: the \
                  symbols of a function stand for sizes of the caller at each call, and what it states of them is needed \
                  there. Recursive functions, and those that are not only called, keep their signature. Ops that pass \
                  control through their regions keep sizes that every way into a region, or out of it, agrees on; inside \
                  nothing is assumed, since it may never run. Where sides of a condition make different sizes, the result has \
                  one that data decide; what a loop carries with another size each time has a symbol of its own.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-refined", description: "values whose type was refined" },
        StatisticInfo { name: "num-fresh", description: "sizes that follow from nothing" },
        StatisticInfo { name: "num-equalities", description: "equalities left to be checked at run time" },
    ],
    create,
};

struct PropagateShapes;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(PropagateShapes))
}

impl Pass for PropagateShapes {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let mut changed = false;
        let operators = declared(cx, run.body);
        let mut known = signatures(cx, run.body);
        let again = called_again(run);
        for Function { op: func, fixed, recursive } in functions(run) {
            let view = OpRef::new(cx, run.body, func);
            let keep_signature = fixed;
            let given = if recursive { checked_by_calls(&known, &again) } else { known.clone() };
            let Some(solution) = analyse(view, &operators, given, run.diags)? else { continue };
            let (loc, name) = (view.loc(), view.symbol_name().unwrap_or_default().to_string());
            let outcome = rewrite::apply(cx, run.body, func, solution, keep_signature);
            // Functions that call it see what is known now.
            if let Some(func) = OpRef::new(cx, run.body, func).as_::<FuncOp<'_>>() {
                Arc::make_mut(&mut known).insert(name.clone(), Arc::new(Signature::of(func)));
            }
            if outcome.changed {
                let (refined, fresh, checks) = (outcome.refined, outcome.fresh, outcome.equalities);
                let text = format!(
                    "shapes of @{name}: {refined} types refined, {fresh} sizes that follow from nothing, {checks} \
                     equalities left to be checked at run time"
                );
                run.passed(loc, text);
            }
            changed |= outcome.changed;
            run.count("num-refined", outcome.refined);
            run.count("num-fresh", outcome.fresh);
            run.count("num-equalities", outcome.equalities);
        }
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// A function with a body.
struct Function {
    op: Op,
    /// Its type stays as it is.
    fixed: bool,
    /// It may be reached from itself.
    recursive: bool,
}

/// Names of the functions by which recursion comes back to where it was: each is called as a whole in the compiled program
/// (`inline-programs`), and looks at its sizes in each call.
fn called_again(run: &mut PassRun<'_>) -> FxHashSet<String> {
    let graph = run.analysis::<CallGraph>();
    let (cx, module, nodes) = (run.cx, &*run.body, graph.nodes());
    let op = |number: usize| nodes[number].op.filter(|_| nodes[number].around == Some(0));
    let view = |number: usize| op(number).map(|op| OpRef::new(cx, module, op));
    let visibility = |op: OpRef<'_>| op.prop("sym_visibility").and_then(|word| cx.as_str(word)).map(str::to_owned);
    let private = |number: &usize| view(*number).is_none_or(|op| visibility(op).as_deref() == Some("private"));
    let (inner, outer): (Vec<usize>, Vec<usize>) = (0..nodes.len()).partition(private);
    let (mut begun, mut done) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    let mut again = FxHashSet::default();
    for root in outer.into_iter().chain(inner) {
        // What is open, with how many calls were followed.
        let mut path = vec![(root, 0)];
        while let Some((number, followed)) = path.pop() {
            begun[number] = true;
            let mut callees =
                nodes[number].calls[followed..].iter().enumerate().filter_map(|(i, c)| Some((i, c.callee?)));
            let next = callees.find(|(_, callee)| {
                if begun[*callee] && !done[*callee] {
                    again.extend(view(*callee).and_then(|op| op.symbol_name()).map(str::to_owned));
                }
                !begun[*callee]
            });
            match next {
                Some((i, callee)) => path.extend([(number, followed + i + 1), (callee, 0)]),
                None => done[number] = true,
            }
        }
    }
    again
}

/// What is known of functions where some look at their sizes themselves.
fn checked_by_calls(known: &Signatures, again: &FxHashSet<String>) -> Signatures {
    let mut known = known.clone();
    for signature in Arc::make_mut(&mut known).iter_mut().filter(|(name, _)| again.contains(*name)).map(|(_, s)| s) {
        Arc::make_mut(signature).checked_by_calls = true;
    }
    known
}

/// The functions of a module, those that are called before those that call them.
fn functions(run: &mut PassRun<'_>) -> Vec<Function> {
    let graph = run.analysis::<CallGraph>();
    let (cx, module) = (run.cx, &*run.body);
    let named = named_functions(cx, module);
    let function = |number: &usize| {
        let op = graph.nodes()[*number].op.filter(|_| graph.nodes()[*number].around == Some(0))?;
        let view = OpRef::new(cx, module, op);
        view.as_::<FuncOp<'_>>().filter(|f| !f.is_declaration())?;
        let recursive = graph.is_recursive(*number);
        let fixed = recursive || view.symbol_name().is_some_and(|name| named.contains(name));
        Some(Function { op, fixed, recursive })
    };
    graph.components().iter().flat_map(|component| component.iter().filter_map(function)).collect()
}

/// Names of the functions that are values somewhere.
fn named_functions(cx: &Context, module: &Body) -> FxHashSet<String> {
    let mut named = FxHashSet::default();
    for op in module.preorder() {
        OpRef::new(cx, module, op).walk(&mut |op| {
            if let Some(constant) = op.as_::<ConstantOp<'_>>() {
                named.insert(constant.callee().to_string());
            }
        });
    }
    named
}

/// An equality that was assumed, with the op that needs it.
pub(super) struct Equality {
    pub(super) requirement: Requirement,
    pub(super) source: String,
    /// Where the op stands.
    pub(super) loc: Loc,
}

/// What is known of a function's values.
pub(super) struct Solution {
    pub(super) facts: Facts,
    pub(super) symbols: Symbols,
    /// Sizes of each tensor, canonical.
    pub(super) shapes: Vec<(Value, SymShape)>,
    pub(super) equalities: Vec<Equality>,
    /// Symbols that stand for large sizes, with what they are.
    pub(super) definitions: Vec<(String, Poly)>,
    pub(super) env: ShapeEnv,
}

/// Rounds of the walk; each learns from the equalities of the one before.
const MAX_ROUNDS: usize = 8;

/// Follows the shapes of a function; `None` for one without a block.
///
/// # Errors
/// When sizes contradict each other, after an error that names them.
fn analyse(
    func: OpRef<'_>,
    operators: &Operators,
    functions: Signatures,
    diags: &mut Diagnostics,
) -> Result<Option<Solution>, Reported> {
    let Some(whole) = func.region(0) else { return Ok(None) };
    let Some(entry) = whole.entry() else { return Ok(None) };
    let mut facts = Facts::new();
    let mut symbols = Symbols::collect(entry, &mut facts);
    if let Some(op) = entry.ops().next() {
        symbols.decided(told_in_run(op));
    }
    facts.assume_stated(entry).map_err(|(op, c)| {
        let error = op
            .as_::<EqualOp<'_>>()
            .into_iter()
            .fold(op.error(c), |error, equal| reasons::of(entry, Some(op.op), &[equal.lhs(), equal.rhs()], error));
        diags.report(error)
    })?;
    let mut walk = Walk {
        whole,
        entry,
        env: ShapeEnv::naming(facts),
        symbols,
        assigned: FxHashMap::default(),
        order: Vec::new(),
        equalities: Vec::new(),
        definitions: Vec::new(),
        remarks: Vec::new(),
        learnt: 0,
        carried: Carried::default(),
    };
    walk.env.operators = operators.clone();
    walk.env.functions = functions;
    walk.arguments(func);
    for _ in 0..MAX_ROUNDS {
        let before = walk.learnt;
        walk.ops(diags)?;
        if walk.learnt == before {
            break;
        }
    }
    Ok(Some(walk.finish(diags)))
}

pub(super) struct Walk<'a> {
    /// The function's region.
    whole: RegionRef<'a>,
    pub(super) entry: BlockRef<'a>,
    pub(super) env: ShapeEnv,
    pub(super) symbols: Symbols,
    /// Sizes given to values so far, fresh symbols included.
    pub(super) assigned: FxHashMap<Value, SymShape>,
    /// The keys of `assigned`, in the order of the program.
    order: Vec<Value>,
    equalities: Vec<Equality>,
    definitions: Vec<(String, Poly)>,
    pub(super) remarks: Vec<(String, Diagnostic)>,
    /// Number of facts learnt.
    pub(super) learnt: usize,
    /// What is passed between regions.
    pub(super) carried: Carried,
}

impl<'a> Walk<'a> {
    pub(super) fn assign(&mut self, value: Value, shape: SymShape) {
        self.env.set_shape(value, shape.clone());
        if self.assigned.insert(value, shape).is_none() {
            self.order.push(value);
        }
    }

    /// Sizes of arguments: what their types say, else fresh symbols called after the argument.
    fn arguments(&mut self, func: OpRef<'a>) {
        let (cx, body) = (self.entry.cx, self.entry.body);
        for (i, arg) in self.entry.args().iter().enumerate() {
            let Some(mut shape) = symbolic_shape(cx, body.ty(*arg)) else { continue };
            let name = argument_name(self.entry, func.prop("arg_attrs"), i, *arg);
            for (dim, size) in shape.iter_mut().enumerate().filter(|(_, s)| s.is_none()) {
                let hint = format!("{name}_{dim}");
                *size = Some(Poly::symbol(&self.symbols.fresh(&hint, Origin::Argument, &mut self.env.facts)));
            }
            self.assign(*arg, shape);
        }
    }

    fn ops(&mut self, diags: &mut Diagnostics) -> Result<(), Reported> {
        self.region(self.whole, diags)
    }

    pub(super) fn region(&mut self, region: RegionRef<'a>, diags: &mut Diagnostics) -> Result<(), Reported> {
        for op in region.blocks().flat_map(|block| block.ops()) {
            self.op(op, diags)?;
            match op.interface::<dyn RegionBranchOp>() {
                Some(branch) => self.control(op, branch, diags)?,
                // What is isolated is a matter of its own.
                None => {
                    for inner in op.regions().filter(|r| std::ptr::eq(r.body, op.body)) {
                        self.region(inner, diags)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn op(&mut self, op: OpRef<'a>, diags: &mut Diagnostics) -> Result<(), Reported> {
        // Scalars have no shape; ops without shape function keep the types that they have.
        if op.interface::<dyn ShapeFn>().is_none() {
            return Ok(());
        }
        let inferred = self.env.update(op);
        for (name, size) in self.env.take_named() {
            self.symbols.defined(&name);
            self.definitions.push((name, size));
        }
        for requirement in inferred.required {
            self.require(op, requirement, diags)?;
        }
        // A function whose type says nothing of sizes keeps the types of its calls.
        let says_nothing = op.is::<CallOp<'_>>() && inferred.shapes.is_empty();
        for (i, result) in op.results().enumerate().filter(|_| !says_nothing) {
            let quotients: Vec<&Quotient> = inferred.quotients.iter().filter(|q| q.result == i).collect();
            self.result(op, (i, result), &quotients, &inferred.decided, diags)?;
        }
        Ok(())
    }

    fn result(
        &mut self,
        op: OpRef<'a>,
        (number, result): (usize, Value),
        quotients: &[&Quotient],
        decided: &[Decided],
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let Some(mut shape) = self.env.shape(op, result) else { return Ok(()) };
        let before = self.assigned.get(&result).cloned().unwrap_or_else(|| vec![None; shape.len()]);
        for (dim, (size, before)) in shape.iter_mut().zip(before).enumerate() {
            match (&size, before) {
                // The op has got to know what it had no name for.
                (Some(now), Some(before)) if before.as_symbol().is_some_and(|name| self.is_inner(name)) => {
                    let _ = self.env.facts.assume_equal(&before, now);
                }
                (Some(now), Some(before)) if *now != before => {
                    let what = format!("dimension {dim} of the result");
                    let requirement = Requirement { lhs: before, rhs: now.clone(), what };
                    self.require(op, requirement, diags)?;
                }
                (None, Some(before)) => *size = Some(before),
                (None, None) => {
                    let quotient = quotients.iter().find(|quotient| quotient.dim == dim);
                    let decided = decided.iter().find(|decided| decided.places.contains(&(number, dim)));
                    *size = Some(match (quotient, decided) {
                        (Some(quotient), _) => self.quotient(op, quotient, diags)?,
                        (None, Some(decided)) => self.decided(op, dim, decided),
                        (None, None) => self.alike(op, number, dim).unwrap_or_else(|| self.fresh(op, dim)),
                    });
                }
                _ => {}
            }
        }
        self.assign(result, shape);
        Ok(())
    }

    /// A symbol that does not exist yet.
    pub(super) fn fresh_symbol(&mut self, hint: &str, origin: Origin) -> String {
        let name = self.symbols.fresh(hint, origin, &mut self.env.facts);
        if self.carried.depth > 0 {
            self.carried.born.insert(name.clone(), self.carried.depth);
        }
        name
    }

    fn is_inner(&self, name: &str) -> bool {
        self.symbols.origin(name) == Some(Origin::Inner)
    }

    /// A symbol for a size that is a quotient. What it is the quotient of tells it before a run, and is checked.
    fn quotient(&mut self, op: OpRef<'_>, quotient: &Quotient, diags: &mut Diagnostics) -> Result<Poly, Reported> {
        let depends = |size: &Poly| self.env.facts.canonical(size).symbols().iter().any(|name| self.is_inner(name));
        if self.carried.depth > 0 || depends(&quotient.dividend) || depends(&quotient.divisor) {
            return Ok(self.fresh(op, quotient.dim));
        }
        let place = loc_name(op.cx, op.loc()).unwrap_or_else(|| op.name_str().replace("graph.", ""));
        let hint = format!("{place}_{}", quotient.dim);
        let symbol = Poly::symbol(&self.symbols.fresh(&hint, Origin::Named, &mut self.env.facts));
        self.require(op, quotient.requirement(&symbol), diags)?;
        Ok(symbol)
    }

    /// The symbol for a size that the op decides, which several dimensions may have.
    fn decided(&mut self, op: OpRef<'_>, dim: usize, decided: &Decided) -> Poly {
        let known = decided.places.iter().find_map(|(result, dim)| {
            let shape = self.assigned.get(&op.results().nth(*result)?)?;
            shape.get(*dim).cloned().flatten()
        });
        if let Some(known) = known {
            return known;
        }
        let place = loc_name(op.cx, op.loc()).unwrap_or_else(|| op.name_str().replace("graph.", ""));
        let name = self.fresh_symbol(&format!("{place}_{dim}"), Origin::Decided);
        let most = self.env.facts.range(&decided.most).1.clamp(0, MAX_DIM.into()) as i64;
        self.env.facts.define(&name, SymbolInfo { max: most, ..SymbolInfo::default() });
        let message = format!(
            "dimension {dim} of the result of '{}' is decided by its data, at most {}; it is called `{name}`",
            op.name_str(),
            decided.most.brief(),
        );
        self.remarks.push((name.clone(), Diagnostic::remark(op.loc(), message)));
        Poly::symbol(&name)
    }

    /// The size of an earlier result of a call which in the function is this one.
    fn alike(&self, op: OpRef<'_>, number: usize, dim: usize) -> Option<Poly> {
        let signature = self.env.functions.get(op.as_::<CallOp<'_>>()?.callee())?;
        let formal = |number: usize| signature.results.get(number)?.as_ref();
        let own = formal(number)?.get(dim)?.as_ref()?;
        op.results().enumerate().take(number).find_map(|(before, value)| {
            let at = formal(before)?.iter().position(|size| size.as_ref() == Some(own))?;
            self.assigned.get(&value)?.get(at)?.clone()
        })
    }

    /// A symbol for a size that follows from nothing.
    fn fresh(&mut self, op: OpRef<'_>, dim: usize) -> Poly {
        let place = loc_name(op.cx, op.loc());
        let hint = place.clone().unwrap_or_else(|| op.name_str().replace("graph.", ""));
        let name = self.fresh_symbol(&format!("{hint}_{dim}"), Origin::Inner);
        let message = format!(
            "dimension {dim} of the result of '{}' follows from nothing that is known; it is called `{name}`",
            op.name_str()
        );
        self.remarks.push((name.clone(), Diagnostic::remark(op.loc(), message)));
        Poly::symbol(&name)
    }

    fn require(&mut self, op: OpRef<'_>, needed: Requirement, diags: &mut Diagnostics) -> Result<(), Reported> {
        if self.env.facts.prove_equal(&needed.lhs, &needed.rhs) {
            return Ok(());
        }
        // Nobody could compare them when the program runs.
        if let Some(excess) = needed.lhs.excess().or(needed.rhs.excess()) {
            return Err(beyond(op, &needed.what, excess, diags));
        }
        // A size that depends on data is known to no check before the run: the ops that meet it compare it.
        let depends = |size: &Poly| self.env.facts.canonical(size).symbols().iter().any(|name| self.is_inner(name));
        if depends(&needed.lhs) || depends(&needed.rhs) {
            return Ok(());
        }
        // What may never run asks nothing of a run.
        if self.carried.depth > 0 {
            return Ok(());
        }
        if let Err(contradiction) = self.env.facts.assume_equal(&needed.lhs, &needed.rhs) {
            return Err(contradicts(op, self.entry, &needed, (&contradiction, &self.equalities), diags));
        }
        self.learnt += 1;
        let place = loc_name(op.cx, op.loc()).unwrap_or_else(|| op.name_str().to_string());
        let source = format!("{place}: {}", needed.what);
        self.equalities.push(Equality { requirement: needed, source, loc: op.loc() });
        Ok(())
    }

    fn finish(self, diags: &mut Diagnostics) -> Solution {
        let facts = self.env.facts.clone();
        for (name, remark) in self.remarks {
            // Only of those that no equality has solved.
            if facts.canonical(&Poly::symbol(&name)).as_symbol() == Some(&name) {
                diags.report(remark);
            }
        }
        let canonical = |value: &Value| {
            let shape = self.assigned[value].iter().map(|d| d.as_ref().map(|p| facts.canonical(p)));
            let varies = |size: &Poly| {
                let unknown = |name| self.carried.symbols.contains(name) && !self.carried.varying.contains(name);
                size.as_symbol().is_some_and(unknown)
            };
            (
                *value,
                shape.map(|size| size.filter(|size| !(self.carried.values.contains(value) && varies(size)))).collect(),
            )
        };
        let shapes = self.order.iter().map(canonical).collect();
        let (symbols, equalities, definitions) = (self.symbols, self.equalities, self.definitions);
        Solution { shapes, facts, symbols, equalities, definitions, env: self.env }
    }
}

/// Sizes that an op needs to be equal are too large to be compared.
fn beyond(op: OpRef<'_>, what: &str, excess: Excess, diags: &mut Diagnostics) -> Reported {
    let place = loc_name(op.cx, op.loc()).map(|n| format!(" of `{n}`")).unwrap_or_default();
    let error = op.error(format_args!("{what}{place} must be equal, and cannot be compared: {excess}"));
    diags.report(error.code(codes::SIZE_BEYOND))
}

fn contradicts(
    op: OpRef<'_>,
    entry: BlockRef<'_>,
    needed: &Requirement,
    (found, assumed): (&Contradiction, &[Equality]),
    diags: &mut Diagnostics,
) -> Reported {
    let place = loc_name(op.cx, op.loc()).map(|n| format!(" of `{n}`")).unwrap_or_default();
    let mut error =
        op.error(format_args!("{}{place} must be equal, they are {} and {}", needed.what, needed.lhs, needed.rhs));
    if found.lhs != needed.lhs || found.rhs != needed.rhs {
        error = error.note(op.loc(), format!("by what else is known they are {} and {}", found.lhs, found.rhs));
    }
    let sizes = [&needed.lhs, &needed.rhs];
    let error = reasons::of(entry, None, &sizes, error);
    diags.report(reasons::assumed(assumed, &sizes, error))
}

/// The name that a location carries: of the model's node.
pub(super) fn loc_name(cx: &Context, loc: Loc) -> Option<String> {
    match cx.loc_data(loc) {
        LocData::Name { name, .. } => Some(cx.str(name).to_string()),
        LocData::Fused { locs, .. } => cx.fused_locs(locs).find_map(|l| loc_name(cx, l)),
        _ => None,
    }
}
