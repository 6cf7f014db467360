//! Writes what is known of a function's shapes into it.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::attr::{symbolic_shape, with_sizes};
use sutura_dialects::r#dyn::{EqualOp, Poly, SymbolOp};
use sutura_dialects::func::{CallOp, ReturnOp};
use sutura_dialects::graph::shape_fn::{asks_for_its_result, mentioned_sizes, sizes_are_determined, used_symbols};
use sutura_dialects::graph::{ComputeOp, ReshapeOp, SIZE, ShapeFn, needed_definitions, needless_oob};
use sutura_dialects::tensor::CastOp;
use sutura_ir::analysis::effects::is_trivially_dead;
use sutura_ir::interfaces::{RegionBranchOp, RegionTarget, target_values};
use sutura_ir::{Attr, Block, Body, Context, Loc, Op, OpRef, Rewriter, Type, Value};

use super::propagate::Solution;
use super::structure;
use super::symbols::Origin;

/// What was done to a function.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) changed: bool,
    pub(super) refined: u64,
    pub(super) fresh: u64,
    pub(super) equalities: u64,
}

/// Writes types, symbols and equalities into the function `func` of `module`, and drops what they make superfluous.
pub(super) fn apply(cx: &Context, module: &mut Body, func: Op, solution: Solution, keep_signature: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(body) = module.nested_mut(func) else { return outcome };
    let Some(entry) = body.entry_block() else { return outcome };
    let mut writer = Writer { rw: Rewriter::new(cx, body), entry, solution, keep_signature };
    outcome.refined = writer.types();
    outcome.changed |= writer.sizes();
    // First, since they tell sizes.
    outcome.equalities = writer.equalities();
    writer.definitions();
    outcome.changed |= writer.simplify();
    outcome.changed |= writer.erase_dead();
    writer.definitions();
    let symbols = writer.symbols();
    outcome.fresh = symbols.1;
    outcome.changed |= outcome.refined + outcome.equalities + symbols.0 > 0;
    if !keep_signature {
        outcome.changed |= set_signature(cx, module, func);
    }
    outcome
}

/// The function's type follows from its entry block and its returns.
fn set_signature(cx: &Context, module: &mut Body, func: Op) -> bool {
    let Some(body) = module.nested(func) else { return false };
    let Some(entry) = body.entry_block() else { return false };
    let inputs: Vec<Type> = body.block_args(entry).iter().map(|v| body.ty(*v)).collect();
    let returned = body.preorder().map(|op| OpRef::new(cx, body, op)).find(|op| op.is::<ReturnOp<'_>>());
    let Some(results) = returned.map(|r| r.operand_types().collect::<Vec<Type>>()) else { return false };
    let ty = cx.type_attr(cx.function_type(&inputs, &results));
    if module.prop(cx, func, "function_type") == Some(ty) {
        return false;
    }
    Rewriter::new(cx, module).set_prop(func, "function_type", Some(ty));
    true
}

/// The types of what an op, or the terminator of one of its regions, passes on.
fn passed_types(op: OpRef<'_>) -> Vec<(usize, Type)> {
    let mut wanted = Vec::new();
    let mut pass = |around: OpRef<'_>, branch: &dyn RegionBranchOp, target: RegionTarget, operands: Range<usize>| {
        let all = target_values(around, target);
        let inputs = all.get(branch.inputs(around, target)).unwrap_or_default();
        wanted.extend(operands.zip(inputs.iter().map(|value| around.ty(*value))));
    };
    let unknown: Vec<Option<Attr>> = vec![None; op.num_operands()];
    if let Some(branch) = op.interface::<dyn RegionBranchOp>() {
        branch
            .begin(op, &unknown)
            .into_iter()
            .for_each(|target| pass(op, branch, target, branch.begin_operands(op, target)));
    }
    let around = op.parent().and_then(|parent| Some((parent, parent.interface::<dyn RegionBranchOp>()?)));
    if let Some((parent, branch)) = around.filter(|_| op.successors().is_empty()) {
        let block = op.body.op_block(op.op);
        let region = block.and_then(|b| op.body.block_region(b));
        let number = parent.regions().position(|r| Some(r.region) == region);
        let is_end = block.and_then(|b| op.body.last_op(b)) == Some(op.op);
        let targets = number.filter(|_| is_end).map(|number| branch.after(parent, number, op, &unknown));
        for target in targets.into_iter().flatten() {
            pass(parent, branch, target, branch.passed_operands(parent, op, target));
        }
    }
    wanted
}

struct Writer<'b> {
    rw: Rewriter<'b>,
    entry: Block,
    solution: Solution,
    keep_signature: bool,
}

impl Writer<'_> {
    fn view(&self, op: Op) -> OpRef<'_> {
        self.rw.op_ref(op)
    }

    /// Sizes of an argument as its type will say them: names that the model gave stay.
    fn argument_shape(&self, value: Value, shape: &[Option<Poly>]) -> Vec<Option<Poly>> {
        let declared = symbolic_shape(self.rw.cx(), self.rw.body().ty(value)).unwrap_or_default();
        let size = |(now, declared): (&Option<Poly>, Option<Poly>)| match (now, declared) {
            (Some(now), _) if now.as_const().is_some() => Some(now.clone()),
            (_, Some(declared)) => Some(declared),
            (now, None) => now.clone(),
        };
        shape.iter().zip(declared).map(size).collect()
    }

    /// Sets the type of every tensor, and converts back where an op that knows nothing of shapes reads it.
    fn types(&mut self) -> u64 {
        let cx = self.rw.cx();
        let args: Vec<Value> = self.rw.body().block_args(self.entry).to_vec();
        let mut old: FxHashMap<Value, Type> = FxHashMap::default();
        for (value, shape) in std::mem::take(&mut self.solution.shapes) {
            let is_arg = args.contains(&value);
            if is_arg && self.keep_signature {
                continue;
            }
            let shape = if is_arg { self.argument_shape(value, &shape) } else { shape };
            let before = self.rw.body().ty(value);
            let ty = with_sizes(cx, before, &shape);
            // A type may say the same in more words: others that must be equal to it do so too.
            let known = symbolic_shape(cx, before).is_some_and(|sizes| sizes == shape);
            self.solution.env.set_shape(value, shape);
            if ty != before && !known {
                old.insert(value, before);
                self.rw.set_type(value, ty);
            }
        }
        self.cast_back(&old);
        old.len() as u64
    }

    fn cast_back(&mut self, old: &FxHashMap<Value, Type>) {
        let ops: Vec<Op> = self.rw.body().preorder().collect();
        for op in ops {
            let view = self.view(op);
            let loc = view.loc();
            for (operand, ty) in self.wanted_types(view, old) {
                let value = self.view(op).operand(operand);
                if self.rw.body().ty(value) == ty {
                    continue;
                }
                self.rw.set_before(op);
                let cast = CastOp::value(&mut self.rw, loc, value, ty);
                self.rw.set_operand(op, operand, cast);
            }
        }
        self.drop_casts();
    }

    /// Casts to the type that there is now.
    fn drop_casts(&mut self) {
        let ops: Vec<Op> = self.rw.body().preorder().collect();
        for op in ops {
            let Some(cast) = self.view(op).as_::<CastOp<'_>>() else { continue };
            let (source, dest) = (cast.source(), cast.dest());
            if self.rw.body().ty(source) == self.rw.body().ty(dest) {
                self.rw.replace_op(op, &[source]);
            }
        }
    }

    /// The types that operands of an op must have, by their numbers: what a region or a result has that gets them, what a
    /// function takes that knows nothing of sizes, and what was there before for ops that know nothing of them.
    fn wanted_types(&self, op: OpRef<'_>, old: &FxHashMap<Value, Type>) -> Vec<(usize, Type)> {
        let end = op.parent().filter(|_| op.body.op_block(op.op).and_then(|b| op.body.last_op(b)) == Some(op.op));
        if op.interface::<dyn RegionBranchOp>().is_some()
            || end.is_some_and(|p| p.interface::<dyn RegionBranchOp>().is_some())
        {
            return passed_types(op);
        }
        let signature = op.as_::<CallOp<'_>>().map(|call| self.solution.env.functions.get(call.callee()));
        let states = |i: usize| {
            let formal = signature.flatten().and_then(|s| s.inputs.get(i)?.as_ref());
            formal.is_some_and(|sizes| sizes.iter().flatten().any(|size| size.as_const().is_none()))
        };
        let returns = op.is::<ReturnOp<'_>>() && !self.keep_signature;
        if returns || (signature.is_none() && op.interface::<dyn ShapeFn>().is_some()) {
            return Vec::new();
        }
        let operands = op.operands().enumerate().filter(|(i, _)| !states(*i));
        operands.filter_map(|(i, v)| Some((i, *old.get(&v)?))).collect()
    }

    /// Symbolic sizes that ops compute with or read at, in canonical form.
    fn sizes(&mut self) -> bool {
        let cx = self.rw.cx();
        let mut changed = false;
        let ops: Vec<Op> = self.rw.body().preorder().collect();
        for op in ops {
            let sizes = mentioned_sizes(self.view(op));
            let canonical: Vec<Poly> = sizes.iter().map(|size| self.solution.facts.canonical(size)).collect();
            if canonical != sizes {
                let attr = sutura_dialects::r#dyn::attr::shape_attr(cx, &canonical);
                let name = if self.view(op).is::<ComputeOp<'_>>() { "sizes" } else { SIZE };
                self.rw.set_prop(op, name, Some(attr));
                changed = true;
            }
        }
        changed
    }

    /// Drops shape operands of reshapes and turns slices that lie inside into structured ops.
    fn simplify(&mut self) -> bool {
        let mut changed = false;
        let ops: Vec<Op> = self.rw.body().preorder().collect();
        for op in ops {
            changed |= self.drop_shape(op) || structure::structured(&mut self.rw, &mut self.solution.env, op);
        }
        // Sizes that have got known may leave nothing outside, as where a part that is joined has turned out to be empty.
        let ops: Vec<Op> = self.rw.body().preorder().collect();
        for op in ops {
            changed |= self.drop_oob(op);
        }
        changed
    }

    fn drop_oob(&mut self, op: Op) -> bool {
        let (cx, needless) = (self.rw.cx(), needless_oob(self.view(op)));
        let Some(compute) = self.view(op).as_::<ComputeOp<'_>>().filter(|_| !needless.is_empty()) else { return false };
        let mut oob = compute.oob().to_vec();
        needless.into_iter().for_each(|i| oob[i] = Attr::UNIT);
        let left = oob.iter().any(|value| *value != Attr::UNIT);
        self.rw.set_prop(op, "oob", left.then(|| cx.array_attr(&oob)));
        true
    }

    fn drop_shape(&mut self, op: Op) -> bool {
        let Some(reshape) = self.view(op).as_::<ReshapeOp<'_>>().filter(|r| r.shape().is_some()) else { return false };
        let (input, result) = (reshape.input(), reshape.result());
        let shape = symbolic_shape(self.rw.cx(), self.rw.body().ty(result)).unwrap_or_default();
        let known = asks_for_its_result(self.view(op), &self.solution.env);
        if !known || !sizes_are_determined(self.view(op), input, &shape) {
            return false;
        }
        self.rw.set_operands(op, &[input]);
        self.rw.set_prop(op, "allowzero", None);
        true
    }

    /// Erases ops that nothing uses any more.
    fn erase_dead(&mut self) -> bool {
        let mut changed = false;
        let mut ops: Vec<Op> = self.rw.body().preorder().collect();
        ops.reverse();
        for op in ops {
            // An op in a region may have gone with the op around it.
            if self.rw.body().is_live(op) && is_trivially_dead(self.view(op)) {
                self.rw.erase_op(op);
                changed = true;
            }
        }
        changed
    }

    /// Adds a `dyn.equal` for each equality that the arguments' types do not say.
    fn equalities(&mut self) -> u64 {
        let mut said: FxHashSet<(Poly, Poly)> = FxHashSet::default();
        for equality in std::mem::take(&mut self.solution.equalities) {
            let (lhs, rhs) = (equality.requirement.lhs, equality.requirement.rhs);
            let (lhs, rhs) = (self.in_named(&lhs), self.in_named(&rhs));
            if lhs == rhs || said.contains(&(lhs.clone(), rhs.clone())) {
                continue;
            }
            self.insert_at_entry();
            let loc = self.entry_loc();
            EqualOp::build(&mut self.rw, loc, &lhs, &rhs, Some(&equality.source));
            said.insert((lhs, rhs));
        }
        said.len() as u64
    }

    /// Adds a `dyn.equal` for each symbol that stands for a large size and is used.
    fn definitions(&mut self) {
        let used = used_symbols(self.rw.cx(), self.rw.body());
        let needed = needed_definitions(&self.solution.definitions, used);
        self.solution.definitions.retain(|definition| !needed.contains(definition));
        for (name, size) in needed {
            // What is solved needs no value of its own when the program runs.
            let named = Some(self.in_named(&size)).filter(|named| named.excess().is_none());
            self.insert_at_entry();
            EqualOp::build(&mut self.rw, Loc::UNKNOWN, &Poly::symbol(&name), &named.unwrap_or(size), None);
        }
    }

    /// The size with every symbol replaced that no argument's type names any more.
    fn in_named(&self, size: &Poly) -> Poly {
        let replace = |name: &str| {
            let solved = self.solution.facts.canonical(&Poly::symbol(name));
            let told =
                matches!(self.solution.symbols.origin(name), Some(Origin::Named | Origin::Defined | Origin::Decided));
            let kept = told && solved.as_const().is_none();
            (!kept).then_some(solved)
        };
        size.substitute(&replace)
    }

    /// New ops go behind the `dyn` ops at the entry.
    fn insert_at_entry(&mut self) {
        let is_fact = |op: &Op| {
            let view = self.view(*op);
            view.is::<SymbolOp<'_>>() || view.is::<EqualOp<'_>>()
        };
        let next = self.rw.body().ops(self.entry).find(|op| !is_fact(op));
        match next {
            Some(op) => self.rw.set_before(op),
            None => self.rw.set_to_end(self.entry),
        }
    }

    /// Declares the symbols that types, sizes and equalities use and no op declares, and writes narrowed ranges to
    /// those that are. Returns the numbers of changes and of symbols that follow from nothing.
    fn symbols(&mut self) -> (u64, u64) {
        let used = used_symbols(self.rw.cx(), self.rw.body());
        let places = self.symbol_places();
        let (mut changes, mut fresh) = (self.set_infos(), 0);
        let names: Vec<(String, Origin)> =
            self.solution.symbols.names().map(|(name, origin)| (name.to_string(), origin)).collect();
        let first = self.rw.body().ops(self.entry).find(|op| !self.view(*op).is::<SymbolOp<'_>>());
        for (name, origin) in names {
            if self.solution.symbols.declared.contains(&name) || !used.contains(name.as_str()) {
                continue;
            }
            let info = self.solution.facts.info(&name);
            match first {
                Some(op) => self.rw.set_before(op),
                None => self.rw.set_to_end(self.entry),
            }
            let loc = places.get(name.as_str()).copied().unwrap_or_else(|| self.entry_loc());
            let op = SymbolOp::build(&mut self.rw, loc, &name);
            SymbolOp::set_info(&mut self.rw, op, &info);
            let (result, ident) = (self.rw.body().result(op, 0), self.rw.cx().ident(&name));
            self.rw.set_value_name(result, Some(ident));
            changes += 1;
            fresh += u64::from(origin == Origin::Inner);
        }
        (changes, fresh)
    }

    /// Where symbols come from: the first argument with each in its type.
    fn symbol_places(&self) -> FxHashMap<Arc<str>, Loc> {
        let (cx, body) = (self.rw.cx(), self.rw.body());
        let mut places = FxHashMap::default();
        for arg in body.block_args(self.entry) {
            for size in symbolic_shape(cx, body.ty(*arg)).unwrap_or_default().iter().flatten() {
                size.each_symbol(&mut |name| {
                    places.entry(name.clone()).or_insert_with(|| body.value_loc(*arg));
                });
            }
        }
        places
    }

    /// The place of what is said of the function as a whole: that of its end.
    fn entry_loc(&self) -> Loc {
        let body = self.rw.body();
        body.ops(self.entry).last().map_or(Loc::UNKNOWN, |op| body.loc(op))
    }

    /// Writes what was learnt of symbols to the ops that declare them; how many.
    fn set_infos(&mut self) -> u64 {
        let learnt = |op: Op| {
            let symbol = self.view(op).as_::<SymbolOp<'_>>()?;
            let info = self.solution.facts.info(symbol.name());
            (symbol.info() != info).then_some((op, info))
        };
        let learnt: Vec<_> = self.rw.body().ops(self.entry).filter_map(learnt).collect();
        learnt.iter().for_each(|(op, info)| SymbolOp::set_info(&mut self.rw, *op, info));
        learnt.len() as u64
    }
}
