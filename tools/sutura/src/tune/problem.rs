//! A region as a program of its own, which can be compiled and run.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::{symbolic_shape, tensor_of};
use sutura_dialects::r#dyn::ops::SymbolOp;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::func::{FuncOp, ReturnOp};
use sutura_dialects::graph::{ConstantOp, FusionOp, ReshapeOp};
use sutura_dialects::schedule::TreeAttr;
use sutura_dialects::target::machine_in;
use sutura_ir::asm::print::{PrintOptions, module_text, op_text};
use sutura_ir::{
    Attr, BlockRef, Builder, Context, IrMapping, Loc, Module, Op, OpRef, OpState, OpView, Rewriter, Type, Value,
};
use sutura_passes::gir::cost::likely;

use crate::input;

/// What is measured.
pub(super) struct Problem {
    /// Of the text without names and places, and of the sizes: equal regions have equal ones.
    pub(super) key: String,
    /// The sizes that are measured at, in words.
    pub(super) sizes: String,
    /// Dims of all inputs at these sizes.
    pub(super) inputs: Vec<Vec<i64>>,
    /// Holds one function.
    module: Module,
    fusion: Op,
}

impl Problem {
    /// Takes a `graph.fusion` out of its function. Constants that it reads become others of their type, since times do not
    /// depend on what they hold, and each size becomes one of an input that nobody reads, so that every size is known.
    ///
    /// # Errors
    /// Says why the region cannot stand alone.
    pub(super) fn of(cx: &Context, fusion: OpRef<'_>, given: &HashMap<String, i64>) -> Result<Self, String> {
        let entry = fusion.as_::<FusionOp<'_>>().and_then(|f| f.body().entry()).ok_or("it has no body")?;
        let facts = Facts::of_block(entry).map_err(|(_, contradiction)| contradiction.to_string())?;
        let carriers = entry.ops().filter_map(|op| Some(carrier(cx, op.as_::<SymbolOp<'_>>()?.name())));
        let mut types: Vec<Type> = carriers.collect();
        let n_sizes = types.len();
        let taken = |value: &Value| !is_constant(fusion, *value);
        types.extend(fusion.operands().filter(taken).map(|v| fusion.body.ty(v)));
        let own = |free: &str| Some(given.get(free).copied().unwrap_or_else(|| likely(&facts.info(free))));
        let value_of = |name: &str| facts.canonical(&Poly::symbol(name)).eval(&own);
        let inputs = types.iter().map(|ty| dims(cx, *ty, &value_of)).collect::<Result<_, _>>()?;
        let sizes = facts.symbols().map(|(name, _)| {
            let value = value_of(name).ok_or_else(|| format!("the value of its size `{name}` is not known"))?;
            let known = given.contains_key(&**name) || !facts.info(name).likely.is_empty();
            Ok(format!("{name}={value}{}", if known { "" } else { " (assumed)" }))
        });
        let mut sizes = sizes.collect::<Result<Vec<_>, String>>()?.join(", ");
        if sizes.is_empty() {
            sizes.push_str("the fixed sizes");
        }
        let (module, fusion) = standalone(cx, fusion, &types, n_sizes)?;
        let text = module_text(cx, &module, &PrintOptions { discard_value_names: true, ..PrintOptions::default() });
        let key = input::hash(format!("{text}{sizes}").as_bytes());
        Ok(Self { key, sizes, inputs, module, fusion })
    }

    /// The program for a machine, `described` by a module that holds its description, with this schedule.
    pub(super) fn text(&mut self, cx: &Context, described: &Module, schedule: &TreeAttr) -> Result<String, String> {
        let body = self.module.body();
        let function = body.entry_block().and_then(|b| body.ops(b).next()).ok_or("its function is gone")?;
        let inside = self.module.body_mut().nested_mut(function).ok_or("its function has no body")?;
        Rewriter::new(cx, inside).set_prop(self.fusion, "schedule", Some(cx.ext_attr(schedule.clone())));
        let machine = machine_in(cx, described.body())?.ok_or("the module describes no machine")?;
        let function = OpRef::new(cx, self.module.body(), function);
        // Without aliases, so that one text can follow the other.
        let options = PrintOptions { local_scope: true, ..PrintOptions::default() };
        Ok(format!("{}\n{}", op_text(machine, &options), op_text(function, &options)))
    }
}

/// A tensor with one dim, of this size.
fn carrier(cx: &Context, size: &str) -> Type {
    tensor_of(cx, &[Some(Poly::symbol(size))], Type::I8)
}

fn dims(cx: &Context, ty: Type, value_of: &dyn Fn(&str) -> Option<i64>) -> Result<Vec<i64>, String> {
    let shape = symbolic_shape(cx, ty).ok_or("it reads a tensor of unknown rank")?;
    let dim = |size: Option<Poly>| size.and_then(|s| s.eval(value_of)).filter(|n| *n >= 0);
    let dims = shape.into_iter().map(dim).collect::<Option<_>>();
    dims.ok_or_else(|| "a size of a tensor that it reads is not known".to_owned())
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

/// A module with a function of the region, and the region in it.
fn standalone(cx: &Context, fusion: OpRef<'_>, types: &[Type], n_sizes: usize) -> Result<(Module, Op), String> {
    let entry = fusion.as_::<FusionOp<'_>>().and_then(|f| f.body().entry()).ok_or("it has no body")?;
    let results: Vec<Type> = fusion.result_types().collect();
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().ok_or("a module has a block")?;
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    let mut copied = Err("it cannot be copied".to_owned());
    let function = FuncOp::define(&mut b, Loc::UNKNOWN, "region", types, &results, |b| {
        copied = fill(b, fusion, entry, n_sizes);
    });
    let copied = copied?;
    let inside = module.body_mut().nested_mut(function).ok_or("its function has no body")?;
    // Why neighbours were left out is nothing of the region's own.
    Rewriter::new(cx, inside).set_prop(copied, "reasons", None);
    Ok((module, copied))
}

/// Builds the body of the function, whose arguments after the sizes are what the region takes.
fn fill(b: &mut Builder<'_>, fusion: OpRef<'_>, entry: BlockRef<'_>, n_sizes: usize) -> Result<Op, String> {
    let cx = fusion.cx;
    let args = b.body().entry_block().map(|block| b.body().block_args(block).to_vec()).unwrap_or_default();
    let mut args = args.into_iter().skip(n_sizes);
    let mut mapping = IrMapping::new();
    for fact in entry.ops().filter(|op| op.name_str().starts_with("dyn.")) {
        mapping.clone_op(fact, b).map_err(|e| e.to_string())?;
    }
    let mut constants: Vec<Value> = Vec::new();
    for operand in fusion.operands() {
        if !is_constant(fusion, operand) {
            mapping.map(operand, args.next().ok_or("an input is missing")?);
        } else if !constants.contains(&operand) {
            constants.push(operand);
            let ty = fusion.body.ty(operand);
            let value = filled(cx, ty).ok_or("it reads a constant without a fixed size")?;
            let state = OpState::of(cx, ConstantOp::def(), Loc::UNKNOWN).results([ty]).prop(cx.ident("value"), value);
            let constant = b.create(state);
            mapping.map(operand, b.op_ref(constant).result(0));
        }
    }
    let copy = mapping.clone_op(fusion, b).map_err(|e| e.to_string())?;
    let results: Vec<Value> = b.body().results(copy).collect();
    ReturnOp::build(b, Loc::UNKNOWN, &results);
    Ok(copy)
}
