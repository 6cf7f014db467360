//! Regions as a program of their own.

use std::collections::HashSet;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::tensor_of;
use sutura_dialects::r#dyn::ops::{EqualOp, SymbolOp};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::func::{FuncOp, ReturnOp};
use sutura_dialects::graph::{ConstantOp, FusionOp, ReshapeOp};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::{
    Attr, BlockRef, Body, Builder, Context, IrMapping, Loc, Module, Op, OpRef, OpState, OpView, Rewriter, Type, Value,
};

use super::cost::CostModel;
use super::replan::replan;

/// Regions of a function that were copied into one of their own.
#[derive(Clone, Debug)]
pub struct Alone {
    /// Holds that function and nothing else.
    pub module: Module,
    /// The function.
    pub function: Op,
    /// Types of its arguments.
    pub types: Vec<Type>,
    /// The regions, in order.
    pub regions: Vec<Op>,
}

impl Alone {
    /// Copies `graph.fusion`s, which are in order. Constants that they read become others of their type, since times do not depend
    /// on what they hold, and each size becomes one of an input that nobody reads, so that every size is known.
    ///
    /// # Errors
    /// Says why the regions cannot stand alone.
    pub fn of(cx: &Context, regions: &[OpRef<'_>]) -> Result<Self, String> {
        let declared = facts(regions);
        let mut types: Vec<Type> =
            declared.iter().filter_map(|op| Some(carrier(cx, op.as_::<SymbolOp<'_>>()?.name()))).collect();
        let n_sizes = types.len();
        let read = read_by(regions);
        types.extend(read.iter().filter(|(_, constant)| !constant).map(|(value, _)| regions[0].body.ty(*value)));
        let (module, function, regions) = standalone(regions, &declared, (&types, n_sizes), &read)?;
        Ok(Self { module, function, types, regions })
    }

    /// The body of the function.
    pub fn body(&self) -> &Body {
        self.module.body().nested(self.function).expect("the function has a body")
    }

    /// What is known of the sizes.
    ///
    /// # Errors
    /// When they contradict each other.
    pub fn facts(&self, cx: &Context) -> Result<Facts, String> {
        let block = self.body().entry_block().ok_or("its function has no body")?;
        let facts = Facts::of_block(BlockRef { cx, body: self.body(), block });
        facts.map_err(|(_, contradiction)| contradiction.to_string())
    }

    /// The text without names and places: equal for regions that compute the same.
    pub fn text(&self, cx: &Context) -> String {
        module_text(cx, &self.module, &PrintOptions { discard_value_names: true, ..PrintOptions::default() })
    }

    /// The same with other kernels of the regions' ops, see [`replan`].
    ///
    /// # Errors
    /// Says what cannot be a kernel.
    pub fn replanned(&self, cx: &Context, kernels: &[Vec<usize>], model: &CostModel) -> Result<Self, String> {
        let mut module = self.module.clone();
        let inside = module.body_mut().nested_mut(self.function).ok_or("its function has no body")?;
        replan(cx, inside, (&self.regions, kernels), (model, ""))?;
        let entry = inside.entry_block().ok_or("its function has no body")?;
        let regions = inside.ops(entry).filter(|op| OpRef::new(cx, inside, *op).is::<FusionOp<'_>>()).collect();
        Ok(Self { module, regions, ..self.clone() })
    }
}

/// What regions state of sizes, each once, names of sizes first.
fn facts<'a>(regions: &[OpRef<'a>]) -> Vec<OpRef<'a>> {
    let (mut names, mut equalities, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for op in regions.iter().flat_map(|region| region.region(0).and_then(|r| r.entry())).flat_map(|entry| entry.ops()) {
        if let Some(symbol) = op.as_::<SymbolOp<'a>>() {
            names.extend(seen.insert(symbol.name().to_owned()).then_some(op));
        } else if let Some(equal) = op.as_::<EqualOp<'a>>() {
            equalities.extend(seen.insert(format!("{} = {}", equal.lhs(), equal.rhs())).then_some(op));
        }
    }
    names.extend(equalities);
    names
}

/// The values that regions read and do not make, each once, and whether it is a constant.
fn read_by(regions: &[OpRef<'_>]) -> Vec<(Value, bool)> {
    let made: HashSet<Value> = regions.iter().flat_map(|region| region.results()).collect();
    let mut read: Vec<(Value, bool)> = Vec::new();
    for region in regions {
        for value in region.operands().filter(|value| !made.contains(value)) {
            if !read.iter().any(|(known, _)| *known == value) {
                read.push((value, is_constant(*region, value)));
            }
        }
    }
    read
}

/// What regions make that others use; all of what a single one makes.
fn made_by(regions: &[OpRef<'_>]) -> Vec<Value> {
    let own: HashSet<Op> = regions.iter().map(|region| region.op).collect();
    let results = regions.iter().flat_map(|region| region.results().map(move |value| (region.body, value)));
    let kept = |(body, value): &(&sutura_ir::Body, Value)| {
        body.is_unused(*value) || body.uses(*value).any(|used| !own.contains(&used.owner))
    };
    results.filter(kept).map(|(_, value)| value).collect()
}

/// A tensor with one dim, of this size.
fn carrier(cx: &Context, size: &str) -> Type {
    tensor_of(cx, &[Some(Poly::symbol(size))], Type::I8)
}

/// True for constants, also in another shape: what only they go into is made when the program is compiled.
fn is_constant(fusion: OpRef<'_>, value: Value) -> bool {
    let mut value = value;
    loop {
        let Some(def) = fusion.body.defining_op(value).map(|op| fusion.at(op)) else { return false };
        match def.as_::<ReshapeOp<'_>>() {
            Some(reshape) => value = reshape.input(),
            None => return def.is::<ConstantOp<'_>>(),
        }
    }
}

/// A constant of this type.
fn filled(cx: &Context, ty: Type) -> Option<Attr> {
    let elem = cx.element_type(ty);
    if elem.is_float(cx) { cx.splat_attr(ty, cx.float_attr(0.5, elem)) } else { cx.dense_attr(ty, &[0]) }
}

/// A module with a function of the regions, the function and the regions in it.
fn standalone(
    regions: &[OpRef<'_>],
    facts: &[OpRef<'_>],
    (types, n_sizes): (&[Type], usize),
    read: &[(Value, bool)],
) -> Result<(Module, Op, Vec<Op>), String> {
    let first = regions.first().ok_or("there is no region")?;
    let (cx, made) = (first.cx, made_by(regions));
    if !regions.iter().all(|region| region.is::<FusionOp<'_>>()) {
        return Err("it is no region".to_owned());
    }
    let results: Vec<Type> = made.iter().map(|value| first.body.ty(*value)).collect();
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().ok_or("a module has a block")?;
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    let mut copied = Err("it cannot be copied".to_owned());
    let function = FuncOp::define(&mut b, Loc::UNKNOWN, "region", types, &results, |b| {
        copied = fill(b, regions, facts, n_sizes, read, &made);
    });
    let copied = copied?;
    let inside = module.body_mut().nested_mut(function).ok_or("its function has no body")?;
    // Why neighbours were left out is nothing of the regions' own.
    let mut rewriter = Rewriter::new(cx, inside);
    copied.iter().for_each(|copy| rewriter.set_prop(*copy, "reasons", None));
    Ok((module, function, copied))
}

/// Builds the body of the function, whose arguments after the sizes are what the regions take.
fn fill(
    b: &mut Builder<'_>,
    regions: &[OpRef<'_>],
    facts: &[OpRef<'_>],
    n_sizes: usize,
    read: &[(Value, bool)],
    made: &[Value],
) -> Result<Vec<Op>, String> {
    let cx = b.cx();
    let args = b.body().entry_block().map(|block| b.body().block_args(block).to_vec()).unwrap_or_default();
    let mut args = args.into_iter().skip(n_sizes);
    let mut mapping = IrMapping::new();
    for fact in facts {
        mapping.clone_op(*fact, b).map_err(|e| e.to_string())?;
    }
    for (operand, constant) in read {
        if !constant {
            mapping.map(*operand, args.next().ok_or("an input is missing")?);
            continue;
        }
        let ty = regions[0].body.ty(*operand);
        let value = filled(cx, ty).ok_or("it reads a constant without a fixed size")?;
        let state = OpState::of(cx, ConstantOp::def(), Loc::UNKNOWN).results([ty]).prop(cx.ident("value"), value);
        let constant = b.create(state);
        mapping.map(*operand, b.op_ref(constant).result(0));
    }
    let copies = regions.iter().map(|region| mapping.clone_op(*region, b).map_err(|e| e.to_string()));
    let copies = copies.collect::<Result<_, _>>()?;
    let results: Option<Vec<Value>> = made.iter().map(|value| mapping.get(*value)).collect();
    ReturnOp::build(b, Loc::UNKNOWN, &results.ok_or("a result is missing")?);
    Ok(copies)
}
