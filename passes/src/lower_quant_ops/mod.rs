//! `lower-quant-ops`: numbers that are stored as integers become the integers, and casts arithmetic.

mod arithmetic;
mod tensors;

use sutura_dialects::elements::{policy, stored};
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::ConstantOp;
use sutura_dialects::quant::{DequantizeCastOp, QuantizeCastOp, StorageCastOp, UniformType, is_quantized};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::{Attr, AttrData, Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::functions::functions;

/// `lower-quant-ops`
pub static LOWER_QUANT_OPS: PassInfo = PassInfo {
    name: "LowerQuantOps",
    argument: "lower-quant-ops",
    summary: "Put stored integers and arithmetic in the place of quantized numbers and casts",
    description: "`quant.dcast` and `quant.qcast` of tensors become `graph.compute` of the integers that are stored, those of scalars \
                  `arith`; `quant.scast` becomes nothing, or a `graph.bitcast`. All that has a quantized type has the integers \
                  instead, arguments and results of functions too: those that are stored without sign are `uiN` in tensors. Scales of \
                  a dimension are constants beside the elements; a dimension of blocks is two. The sizes of dimensions that have \
                  scales must be known, as `propagate-shapes` makes them. What is not known to only move stored integers is refused.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-casts", description: "casts that became arithmetic" }],
    create,
};

struct LowerQuantOps;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(LowerQuantOps))
}

impl Pass for LowerQuantOps {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let mut refused = false;
        let mut found = Vec::new();
        for function in functions(cx, run.body) {
            match mentions(cx, run.body, function) {
                Ok(false) => {}
                Ok(true) => found.push(function),
                Err(diagnostic) => {
                    refused = true;
                    run.diags.report(*diagnostic);
                }
            }
        }
        // Functions call each other: all change, or none.
        if refused {
            return Err(PassError::Unsupported);
        }
        let mut count = 0;
        for function in &found {
            let loc = run.body.loc(*function);
            let made = run.body.nested_mut(*function).map_or(Ok(0), |body| lower(cx, body));
            match made {
                Ok(made) => {
                    count += made;
                    run.passed(loc, format!("{made} casts of quantized numbers became arithmetic"));
                }
                Err(diagnostic) => {
                    run.diags.report(*diagnostic);
                    return Err(PassError::Unsupported);
                }
            }
            signature(cx, run.body, *function);
        }
        run.count("num-casts", count);
        Ok(PreservedAnalyses::unless(!found.is_empty()))
    }
}

/// The type that takes the place of `ty`; `None` where it stays.
///
/// # Errors
/// In words, when none can.
fn lowered(cx: &Context, ty: Type) -> Result<Option<Type>, String> {
    let elem = cx.element_type(ty);
    if !is_quantized(cx, elem) {
        let inside = |ty: &Type| !matches!(lowered(cx, *ty), Ok(None));
        let nested = match cx.type_data(ty) {
            TypeData::Function { inputs, results } => cx.types(inputs).iter().chain(cx.types(results)).any(inside),
            TypeData::Tuple(types) => cx.types(types).iter().any(inside),
            _ => elem != ty && inside(&elem),
        };
        return if nested { Err(refusal(cx, ty)) } else { Ok(None) };
    }
    let stored = stored(cx, elem);
    if stored == elem {
        return Err(format!("is of {}, which says not as what numbers are stored", type_text(cx, elem)));
    };
    if policy(cx, stored).is_none() {
        let (elem, stored) = (type_text(cx, elem), type_text(cx, stored));
        return Err(format!("is of {elem}, stored as {stored}, for which nothing is compiled"));
    }
    if ty == elem {
        return Ok(Some(signless(cx, stored)));
    }
    if ty.is_tensor(cx) { Ok(Some(cx.with_element_type(ty, stored))) } else { Err(refusal(cx, ty)) }
}

fn refusal(cx: &Context, ty: Type) -> String {
    format!("is of type {}, for which nothing is compiled", type_text(cx, ty))
}

/// An integer as scalars are.
fn signless(cx: &Context, ty: Type) -> Type {
    match cx.type_data(ty) {
        TypeData::Integer { width, .. } => cx.ty(TypeData::Integer { width, sign: Signedness::Signless }),
        _ => ty,
    }
}

/// Whether a function has to do with quantized numbers; refuses what is not known to do with them.
fn mentions(cx: &Context, module: &Body, function: Op) -> Result<bool, Box<Diagnostic>> {
    let view = OpRef::new(cx, module, function);
    let Some(func) = view.as_::<FuncOp<'_>>() else { return Ok(false) };
    let (inputs, results) = cx.signature(func.function_type()).unwrap_or_default();
    let mut found = false;
    for ty in inputs.iter().chain(results) {
        found |= lowered(cx, *ty).map_err(|message| Box::new(view.error(message)))?.is_some();
    }
    let Some(body) = module.nested(function) else { return Ok(found) };
    for op in body.preorder().map(|op| OpRef::new(cx, body, op)) {
        let blocks = op.regions().flat_map(|region| region.blocks());
        let args = blocks.flat_map(|block| block.args().iter().map(|arg| block.body.ty(*arg)).collect::<Vec<_>>());
        let types: Vec<Type> = op.operand_types().chain(op.result_types()).chain(args).collect();
        let mut here = false;
        for ty in types {
            here |= lowered(cx, ty).map_err(|message| Box::new(op.error(message)))?.is_some();
        }
        if here && body.nested(op.op).is_some() {
            let error = op.error("has quantized numbers in a body of its own");
            return Err(Box::new(error.help("run 'lower-quant-ops' before regions are formed")));
        }
        if here {
            check(op)?;
        }
        found |= here;
    }
    Ok(found)
}

/// Refuses an op that is not known to only pass on what is stored, or to cast it.
fn check(op: OpRef<'_>) -> Result<(), Box<Diagnostic>> {
    const PASS_ON: [&str; 4] = ["graph", "func", "scf", "cf"];
    if constant_elements(op).is_some_and(|elements| retyped(op.cx, elements).is_none()) {
        let error = op.error("has elements that are not written as a dense list of numbers");
        return Err(Box::new(error.help("make a constant of integers, and a 'quant.scast' of it")));
    }
    let name = op.name_str();
    let dialect = name.split('.').next().unwrap_or_default();
    if PASS_ON.contains(&dialect) || name == "arith.select" {
        return Ok(());
    }
    let is_cast = op.is::<DequantizeCastOp<'_>>() || op.is::<QuantizeCastOp<'_>>() || op.is::<StorageCastOp<'_>>();
    if !is_cast {
        let error = op.error("has to do with quantized numbers, and is not known to only pass them on");
        return Err(Box::new(error.help("cast what it takes, and back what it makes, with 'quant.scast'")));
    }
    tensors::check(op)
}

/// Lowers the body of a function that is known in all, and counts casts.
fn lower(cx: &Context, body: &mut Body) -> Result<u64, Box<Diagnostic>> {
    let mut rw = Rewriter::new(cx, body);
    let ops: Vec<Op> = rw.body().preorder().collect();
    // A cast that is lowered makes integers, of which the next one cannot tell what they were.
    let types: Vec<Option<&UniformType>> = ops.iter().map(|op| uniform(cx, rw.op_ref(*op))).collect();
    let mut count = 0;
    for (op, ty) in ops.into_iter().zip(types) {
        let view = rw.op_ref(op);
        if view.is::<StorageCastOp<'_>>() {
            tensors::storage_cast(&mut rw, op);
        } else if view.is::<DequantizeCastOp<'_>>() || view.is::<QuantizeCastOp<'_>>() {
            let Some(ty) = ty else { continue };
            let made = tensors::cast(&mut rw, op, ty);
            made.map_err(|fault| Box::new(rw.op_ref(op).error(fault.message)))?;
            count += 1;
        }
    }
    let ops: Vec<Op> = rw.body().preorder().collect();
    for op in ops {
        retype_constant(&mut rw, op);
        let view = rw.op_ref(op);
        let blocks = view.regions().flat_map(|region| region.blocks());
        let own = blocks.filter(|block| std::ptr::eq(block.body, view.body));
        let values: Vec<Value> = view.results().chain(own.flat_map(|block| block.args().to_vec())).collect();
        values.into_iter().for_each(|value| retype(&mut rw, value));
    }
    let entry = rw.body().owner_regions().flat_map(|region| rw.body().blocks(region)).collect::<Vec<_>>();
    for value in entry.into_iter().flat_map(|block| rw.body().block_args(block).to_vec()).collect::<Vec<_>>() {
        retype(&mut rw, value);
    }
    Ok(count)
}

fn retype(rw: &mut Rewriter<'_>, value: Value) {
    if let Ok(Some(ty)) = lowered(rw.cx(), rw.body().ty(value)) {
        rw.set_type(value, ty);
    }
}

/// The elements of a constant are the integers that are stored.
fn retype_constant(rw: &mut Rewriter<'_>, op: Op) {
    let cx = rw.cx();
    if let Some(value) = constant_elements(rw.op_ref(op)).and_then(|value| retyped(cx, value)) {
        rw.set_prop(op, "value", Some(value));
    }
}

/// The elements of a constant.
fn constant_elements(op: OpRef<'_>) -> Option<Attr> {
    op.as_::<ConstantOp<'_>>()?;
    op.prop("value")
}

/// Elements of a quantized type as the integers that are stored: the same bytes.
fn retyped(cx: &Context, elements: Attr) -> Option<Attr> {
    let ty = lowered(cx, cx.attr_type(elements)?).ok().flatten()?;
    Some(cx.attr(match cx.attr_data(elements) {
        AttrData::Dense { data, splat, .. } => AttrData::Dense { ty, data, splat },
        AttrData::DenseResource { key, .. } => AttrData::DenseResource { ty, key },
        _ => return None,
    }))
}

/// Gives a function the types of what it takes and gives.
fn signature(cx: &Context, module: &mut Body, function: Op) {
    let mut rw = Rewriter::new(cx, module);
    let Some(func) = rw.view::<FuncOp<'_>>(function) else { return };
    let of = |ty: &Type| lowered(cx, *ty).ok().flatten().unwrap_or(*ty);
    let (inputs, results) = cx.signature(func.function_type()).unwrap_or_default();
    let (inputs, results): (Vec<Type>, Vec<Type>) = (inputs.iter().map(of).collect(), results.iter().map(of).collect());
    let ty = cx.type_attr(cx.function_type(&inputs, &results));
    rw.set_prop(function, "function_type", Some(ty));
}

/// The type with scales that one of the types of a cast is.
fn uniform<'c>(cx: &'c Context, op: OpRef<'_>) -> Option<&'c UniformType> {
    op.operand_types().chain(op.result_types()).find_map(|ty| sutura_dialects::quant::uniform(cx, ty))
}
