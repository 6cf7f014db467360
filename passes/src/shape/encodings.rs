//! `materialize-encodings` and `strip-encodings`: symbolic shapes on every type, or on none.

use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::ShapeAttr;
use sutura_dialects::r#dyn::attr::{SIZES, symbolic_shape};
use sutura_dialects::func::{CallOp, FuncOp, ReturnOp};
use sutura_dialects::graph::shape_fn::mentioned_sizes;
use sutura_dialects::graph::{ComputeForm, OperatorOp, ReshapeOp};
use sutura_dialects::tensor::CastOp;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Diagnostic, Op, OpRef, Rewriter, Traits, Type, Value};

const CHANGED: &[StatisticInfo] = &[StatisticInfo { name: "num-changed", description: "types that were changed" }];

/// Makes every encoding explicit.
pub static MATERIALIZE_ENCODINGS: PassInfo = PassInfo {
    name: "MaterializeEncodings",
    argument: "materialize-encodings",
    summary: "Give every ranked tensor type its symbolic shape",
    description: "Adds `#dyn.shape` to every ranked tensor type of values and signatures that has none; a static size is \
                  written as a constant, an unknown one as `?`. Other properties of types stay. Constants other than of \
                  elements keep their types.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: CHANGED,
    create: |_: &PassOptions| Ok(Box::new(Encodings { add: true })),
};

/// Removes every encoding.
pub static STRIP_ENCODINGS: PassInfo = PassInfo {
    name: "StripEncodings",
    argument: "strip-encodings",
    summary: "Remove symbolic shapes from tensor types",
    description: "Removes `#dyn.shape` from the types of values and signatures; other properties stay. A result whose \
                  sizes follow from nothing but its type keeps it, with a remark. Where a call knew more of sizes than the \
                  function, `tensor.cast` stands between them.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: CHANGED,
    create: |_: &PassOptions| Ok(Box::new(Encodings { add: false })),
};

struct Encodings {
    add: bool,
}

impl Pass for Encodings {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let outcomes = run.for_each_body(|at| {
            // The sizes of a declaration are what it declares.
            if at.header.name.is::<OperatorOp<'_>>(cx) {
                return (0, Vec::new());
            }
            let done = self.body(cx, at.body);
            if done.0 > 0 {
                let (count, what) =
                    (done.0, if self.add { "get a symbolic shape" } else { "lose their symbolic shape" });
                at.remarks.passed(at.header.loc, || format!("{count} types {what}"));
            }
            done
        });
        let mut changed = 0;
        for (count, remarks) in outcomes {
            changed += count;
            remarks.into_iter().for_each(|remark| {
                run.diags.report(remark);
            });
        }
        if !self.add && changed > 0 {
            let types = function_types(cx, run.body);
            run.for_each_body(|at| cast_at_calls(cx, at.body, &types));
        }
        run.count("num-changed", changed);
        Ok(PreservedAnalyses::unless(changed > 0))
    }
}

/// Types of what each function takes and gives.
type FunctionTypes = FxHashMap<String, (Vec<Type>, Vec<Type>)>;

fn function_types(cx: &Context, module: &Body) -> FunctionTypes {
    let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
    let functions = ops.filter_map(|op| OpRef::new(cx, module, op).as_::<FuncOp<'_>>());
    functions.map(|f| (f.sym_name().to_owned(), (f.inputs().to_vec(), f.results().to_vec()))).collect()
}

/// What a call takes and gives has the function's types, which no longer say that sizes are those of the caller.
fn cast_at_calls(cx: &Context, body: &mut Body, types: &FunctionTypes) {
    let ops: Vec<Op> = body.preorder().collect();
    let mut rw = Rewriter::new(cx, body);
    let differs = |ty: Type, of_function: Type| {
        cx.shape(ty) != cx.shape(of_function) && cx.property(of_function, SIZES).is_none()
    };
    for op in ops {
        let Some(call) = rw.view::<CallOp<'_>>(op) else { continue };
        let Some((inputs, results)) = types.get(call.callee()) else { continue };
        let loc = rw.body().loc(op);
        let operands: Vec<Value> = rw.body().operands(op).collect();
        for (i, (operand, ty)) in operands.into_iter().zip(inputs).enumerate() {
            if differs(rw.body().ty(operand), *ty) {
                rw.set_before(op);
                let cast = CastOp::value(&mut rw, loc, operand, *ty);
                rw.set_operand(op, i, cast);
            }
        }
        let made: Vec<Value> = rw.body().results(op).collect();
        for (result, ty) in made.into_iter().zip(results) {
            let wanted = rw.body().ty(result);
            if differs(wanted, *ty) {
                rw.set_type(result, *ty);
                rw.set_after_value(result);
                let cast = CastOp::value(&mut rw, loc, result, wanted);
                rw.replace_all_uses(result, cast);
                let cast = rw.body().defining_op(cast).expect("just made");
                rw.set_operand(cast, 0, result);
            }
        }
    }
}

impl Encodings {
    fn body(&self, cx: &Context, body: &mut Body) -> (u64, Vec<Diagnostic>) {
        let (mut changed, mut remarks, mut constants) = (0, Vec::new(), Vec::new());
        let ops: Vec<Op> = body.preorder().collect();
        let mut values: Vec<Value> = Vec::new();
        // Symbols are known by the arguments' types; what computes with them needs those.
        let mut needs_symbols = false;
        for &op in &ops {
            let view = OpRef::new(cx, body, op);
            let inside = view.regions().flat_map(|r| r.blocks()).filter(|b| std::ptr::eq(b.body, view.body));
            values.extend(inside.flat_map(|b| b.args().to_vec()));
            needs_symbols |= !mentioned_sizes(view).is_empty();
            if view.has_trait(Traits::ConstantLike) {
                constants.push(op);
                continue;
            }
            if !self.add && needs_encoding(view) {
                let message =
                    format!("'{}' keeps its symbolic shape: its sizes follow from nothing else", view.name_str());
                remarks.push(Diagnostic::remark(view.loc(), message));
                needs_symbols = true;
                continue;
            }
            values.extend(view.results());
        }
        if self.add || !needs_symbols {
            let entry = body.owner_regions().flat_map(|r| body.blocks(r)).flat_map(|b| body.block_args(b).to_vec());
            values.extend(entry.collect::<Vec<_>>());
        }
        let mut rw = Rewriter::new(cx, body);
        for value in values {
            let before = rw.body().ty(value);
            let after = self.convert(cx, before);
            if after != before {
                rw.set_type(value, after);
                changed += 1;
            }
        }
        for op in constants {
            changed += u64::from(self.constant(cx, &mut rw, op));
        }
        for op in ops {
            changed += u64::from(self.signature(cx, &mut rw, op));
        }
        (changed, remarks)
    }

    /// A constant's type is also that of what it holds.
    fn constant(&self, cx: &Context, rw: &mut Rewriter<'_>, op: Op) -> bool {
        let result = rw.body().result(op, 0);
        let before = rw.body().ty(result);
        let after = self.convert(cx, before);
        if after == before {
            return false;
        }
        let entries = cx.entries(rw.body().props(op));
        let held = entries.iter().find(|entry| cx.attr_type(entry.value) == Some(before));
        let Some((name, value)) = held.and_then(|e| Some((e.name, cx.with_elements_type(e.value, after)?))) else {
            return false;
        };
        rw.set_prop(op, cx.str(name), Some(value));
        rw.set_type(result, after);
        true
    }

    /// A function's type is that of its body, where it has one.
    fn signature(&self, cx: &Context, rw: &mut Rewriter<'_>, op: Op) -> bool {
        let Some(func) = rw.view::<FuncOp<'_>>(op) else { return false };
        let convert = |types: &[Type]| types.iter().map(|ty| self.convert(cx, *ty)).collect::<Vec<_>>();
        let before = func.function_type();
        let (mut inputs, mut results) = (convert(func.inputs()), convert(func.results()));
        if let Some(inside) = rw.body().nested(op) {
            if let Some(entry) = inside.entry_block() {
                inputs = inside.block_args(entry).iter().map(|v| inside.ty(*v)).collect();
            }
            let end = inside.preorder().map(|o| OpRef::new(cx, inside, o)).find(|o| o.is::<ReturnOp<'_>>());
            results = end.map_or(results, |end| end.operand_types().collect());
        }
        let after = cx.function_type(&inputs, &results);
        if after == before {
            return false;
        }
        rw.set_prop(op, "function_type", Some(cx.type_attr(after)));
        true
    }

    fn convert(&self, cx: &Context, ty: Type) -> Type {
        match (self.add, symbolic_shape(cx, ty)) {
            (_, None) => ty,
            (true, Some(_)) if cx.property(ty, SIZES).is_some() => ty,
            (true, Some(dims)) => cx.with_property(ty, SIZES, Some(cx.ext_attr(ShapeAttr { dims }))),
            (false, Some(_)) => cx.with_property(ty, SIZES, None),
        }
    }
}

/// True for an op whose result sizes only its type tells.
fn needs_encoding(op: OpRef<'_>) -> bool {
    let dynamic =
        |value: Value, dim: usize| op.cx.shape(op.ty(value)).is_some_and(|s| s.get(dim).is_some_and(|d| *d < 0));
    if let Some(form) = ComputeForm::of(op) {
        let results: Vec<Value> = form.results().collect();
        return (0..form.iterators.len())
            .any(|i| form.extent_sources(i).all(|(value, dim)| results.contains(&value) && dynamic(value, dim)));
    }
    let reshape = op.as_::<ReshapeOp<'_>>().filter(|r| r.shape().is_none());
    reshape.is_some_and(|r| {
        let rank = op.cx.shape(op.ty(r.result())).map_or(0, <[i64]>::len);
        (0..rank).filter(|d| dynamic(r.result(), *d)).count() > 1
    })
}
