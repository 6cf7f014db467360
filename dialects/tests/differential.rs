//! Every operation of the upstream dialects, built here and printed in generic form, is accepted by `mlir-opt`.

use std::io::Write;
use std::process::{Command, Stdio};

use sutura_dialects::{arith, cf, func, scf};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::builder::InsertPoint;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Attr, Builder, Context, DYNAMIC, Diagnostics, Loc, Module, NamedAttr, Type, Value};

/// Runs `mlir-opt` on `text`; `None`, with the reason printed, when there is none.
fn mlir_opt(text: &str, args: &[&str]) -> Option<Result<String, String>> {
    let program = std::env::var("SUTURA_MLIR_OPT").unwrap_or_else(|_| "/usr/lib/llvm-22/bin/mlir-opt".to_string());
    let mut command = Command::new(&program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            sutura_skip::skipped(
                sutura_skip::Need::Llvm,
                format!("{program}: {error} (set SUTURA_MLIR_OPT to an mlir-opt 22)"),
            );
            return None;
        }
    };
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("mlir-opt reads its input");
    let output = child.wait_with_output().expect("mlir-opt ends");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Some(if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) })
}

/// What is built passes the verifier and means the same to `mlir-opt` in both forms; the custom form is written as
/// `mlir-opt` writes it.
fn check(build: impl FnOnce(&mut Builder<'_>)) {
    let Some((custom, theirs)) = check_meaning(build) else { return };
    assert_eq!(without_names(&custom), without_names(&theirs), "the custom form is written otherwise");
}

/// The same, but for the way in which the custom form is written; gives ours and theirs.
fn check_meaning(build: impl FnOnce(&mut Builder<'_>)) -> Option<(String, String)> {
    let cx = Context::new(sutura_dialects::all());
    let mut module = Module::new(&cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    build(&mut Builder::at_end(&cx, module.body_mut(), block));
    let mut diags = Diagnostics::default();
    let verified = verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{:#?}", diags.take());
    let text = module_text(&cx, &module, &PrintOptions::generic());
    let custom = module_text(&cx, &module, &PrintOptions::default());
    assert_eq!(reprinted(&text, &PrintOptions::generic()), text);
    assert_eq!(reprinted(&custom, &PrintOptions::default()), custom);
    assert_eq!(without_names(&reprinted(&custom, &PrintOptions::generic())), without_names(&text));
    let theirs = mlir_opt(&text, &[])?;
    let theirs = theirs.unwrap_or_else(|error| panic!("mlir-opt refuses\n{text}\n{error}"));
    // Value names differ; what is left must be the same, byte for byte.
    let ours = mlir_opt(&custom, &[]).expect("it ran before");
    let ours = ours.unwrap_or_else(|error| panic!("mlir-opt refuses\n{custom}\n{error}"));
    assert_eq!(without_names(&ours), without_names(&theirs), "the custom form means something else");
    check_reading(&theirs, &text);
    Some((custom, theirs))
}

/// What `mlir-opt` prints in generic form is read here, and printed so again.
fn check_reading(custom: &str, ours: &str) {
    let generic = mlir_opt(custom, &["--mlir-print-op-generic"]).expect("it ran before").expect("its own output");
    let again = reprinted(&generic, &PrintOptions::generic());
    let back = mlir_opt(&again, &["--mlir-print-op-generic"]).expect("it ran before");
    assert_eq!(back.as_ref(), Ok(&generic), "read as something else than\n{ours}");
}

/// Parses a text and prints it again.
fn reprinted(text: &str, options: &PrintOptions) -> String {
    let cx = Context::new(sutura_dialects::all());
    let source = cx.sources().add("test.mlir".to_string(), text.to_string()).expect("a short text");
    let mut diags = Diagnostics::default();
    let module = sutura_grammar::parse_module(&cx, &source, &sutura_grammar::ParseOptions::default(), &mut diags);
    let module = module.unwrap_or_else(|_| panic!("{text}\n{:#?}", diags.take()));
    let verified = verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{:#?}", diags.take());
    module_text(&cx, &module, options)
}

/// The text with every `%name` replaced by a number in the order of first appearance.
fn without_names(text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let end = rest[at + 1..].find(|c: char| !c.is_ascii_alphanumeric() && !"_$.-".contains(c));
        let end = end.map_or(rest.len(), |e| at + 1 + e);
        let name = &rest[at..end];
        let number = names.iter().position(|n| *n == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        out += &format!("{}%{number}", &rest[..at]);
        rest = &rest[end..];
    }
    (out + rest).trim().to_string()
}

fn constant(b: &mut Builder<'_>, ty: Type) -> Value {
    let elem = b.cx().element_type(ty);
    let scalar = if elem.is_float(b.cx()) { b.cx().float_attr(1.5, elem) } else { b.cx().int_attr(3, elem) };
    let value = b.cx().splat_attr(ty, scalar).expect("a constant");
    arith::ConstantOp::value(b, Loc::UNKNOWN, value)
}

#[test]
fn arith_integers() {
    check(|b| {
        for ty in [Type::I32, Type::INDEX, b.cx().vector_type(&[4], Type::I8)] {
            let x = constant(b, ty);
            let binary = [
                arith::AddIOp::value,
                arith::SubIOp::value,
                arith::MulIOp::value,
                arith::ShLIOp::value,
                arith::DivUIOp::value,
                arith::DivSIOp::value,
                arith::ShRUIOp::value,
                arith::ShRSIOp::value,
                arith::CeilDivUIOp::value,
                arith::CeilDivSIOp::value,
                arith::FloorDivSIOp::value,
                arith::RemUIOp::value,
                arith::RemSIOp::value,
                arith::AndIOp::value,
                arith::OrIOp::value,
                arith::XOrIOp::value,
                arith::MaxSIOp::value,
                arith::MaxUIOp::value,
                arith::MinSIOp::value,
                arith::MinUIOp::value,
            ];
            for op in binary {
                op(b, Loc::UNKNOWN, x, x);
            }
            let condition = arith::CmpIOp::value(b, Loc::UNKNOWN, arith::CmpIPredicate::Slt, x, x);
            arith::SelectOp::value(b, Loc::UNKNOWN, condition, x, x);
        }
    });
}

#[test]
fn arith_floats() {
    check(|b| {
        for ty in [Type::F32, b.cx().tensor_type(&[2, 3], Type::BF16, None)] {
            let x = constant(b, ty);
            let binary = [
                arith::AddFOp::value,
                arith::SubFOp::value,
                arith::MulFOp::value,
                arith::DivFOp::value,
                arith::RemFOp::value,
                arith::MaximumFOp::value,
                arith::MinimumFOp::value,
                arith::MaxNumFOp::value,
                arith::MinNumFOp::value,
            ];
            for op in binary {
                op(b, Loc::UNKNOWN, x, x);
            }
            arith::NegFOp::value(b, Loc::UNKNOWN, x);
            arith::CmpFOp::value(b, Loc::UNKNOWN, arith::CmpFPredicate::Ueq, x, x);
        }
    });
}

#[test]
fn arith_flags() {
    use arith::{FastMathFlags as F, IntegerOverflowFlags as I};
    check(|b| {
        let (x, i) = (constant(b, Type::F32), constant(b, Type::I64));
        for flags in [F::NONE, F::CONTRACT, F::NNAN.with(F::NINF), F::ALL] {
            let state = arith::AddFOp::state(b, Loc::UNKNOWN, x, x);
            let flags = b.cx().ext_attr(flags);
            let state = state.prop(b.cx().ident("fastmath"), flags);
            b.create(state);
        }
        for flags in [I::NONE, I::NSW, I::ALL] {
            let state = arith::MulIOp::state(b, Loc::UNKNOWN, i, i);
            let flags = b.cx().ext_attr(flags);
            let state = state.prop(b.cx().ident("overflowFlags"), flags);
            b.create(state);
        }
        let state = arith::DivUIOp::state(b, Loc::UNKNOWN, i, i).prop(b.cx().ident("isExact"), sutura_ir::Attr::UNIT);
        b.create(state);
    });
}

#[test]
fn arith_casts() {
    use arith::RoundingMode::Upward;
    check(|b| {
        let loc = Loc::UNKNOWN;
        let (i8, i32, index) = (constant(b, Type::I8), constant(b, Type::I32), constant(b, Type::INDEX));
        let (f32, f64) = (constant(b, Type::F32), constant(b, Type::F64));
        arith::ExtUIOp::value(b, loc, i8, Type::I32);
        arith::ExtSIOp::value(b, loc, i8, Type::I32);
        arith::TruncIOp::value(b, loc, i32, Type::I8);
        arith::UIToFPOp::value(b, loc, i8, Type::F32);
        arith::SIToFPOp::value(b, loc, i8, Type::F32);
        arith::FPToUIOp::value(b, loc, f32, Type::I8);
        arith::FPToSIOp::value(b, loc, f32, Type::I8);
        arith::IndexCastOp::value(b, loc, index, Type::I32);
        arith::IndexCastUIOp::value(b, loc, i32, Type::INDEX);
        arith::BitcastOp::value(b, loc, f32, Type::I32);
        arith::ExtFOp::value(b, loc, f32, Type::F64, Some(arith::FastMathFlags::NNAN));
        arith::TruncFOp::value(b, loc, f64, Type::F32, Some(Upward), None);
        arith::TruncFOp::value(b, loc, f64, Type::F16, None, Some(arith::FastMathFlags::NONE));
    });
}

/// A private function `name` with these arguments, for ops that need values.
fn function(b: &mut Builder<'_>, name: &str, inputs: &[Type], fill: impl FnOnce(&mut Builder<'_>, &[Value])) {
    func::FuncOp::define(b, Loc::UNKNOWN, name, inputs, &[], |b| {
        let args = b.body().block_args(b.body().entry_block().expect("a block")).to_vec();
        fill(b, &args);
        func::ReturnOp::build(b, Loc::UNKNOWN, &[]);
    });
}

#[test]
fn func_signatures_and_calls() {
    check(|b| {
        let (cx, loc) = (b.cx(), Loc::UNKNOWN);
        let callback = cx.function_type(&[Type::I32], &[Type::F32]);
        let dict = |name: &str| cx.dict(&[NamedAttr { name: cx.ident(name), value: cx.int_attr(1, Type::I64) }]);
        let declare =
            |b: &mut Builder<'_>, name: &str, results: &[Type], args: Option<&[Attr]>, res: Option<&[Attr]>| {
                let ty = cx.function_type(&[Type::I32, Type::F32], results);
                func::FuncOp::build(b, loc, name, ty, Some("private"), args, res);
            };
        declare(b, "plain", &[], None, None);
        declare(b, "one", &[Type::F32], None, None);
        declare(b, "two words", &[Type::F32, Type::INDEX], None, None);
        declare(b, "closure", &[callback], None, None);
        declare(b, "attrs", &[Type::F32], Some(&[dict("test.a"), Attr::EMPTY_DICT]), Some(&[dict("test.b")]));
        func::FuncOp::define(b, loc, "caller", &[Type::I32, Type::F32], &[Type::F32], |b| {
            let args = b.body().block_args(b.body().entry_block().expect("a block")).to_vec();
            func::CallOp::build(b, loc, "plain", &args, None, None, &[]);
            let call = func::CallOp::build(b, loc, "one", &args, None, None, &[Type::F32]);
            let result = b.body().result(call, 0);
            func::ReturnOp::build(b, loc, &[result]);
        });
    });
}

#[test]
fn cf_branches() {
    check(|b| {
        function(b, "f", &[Type::I1, Type::F32], |b, args| {
            let loc = Loc::UNKNOWN;
            let region = b.body().region();
            let (then, other) = (b.create_block(region, &[(Type::F32, loc)]), b.create_block(region, &[]));
            cf::AssertOp::build(b, loc, args[0], "must hold");
            cf::CondBranchOp::build(b, loc, args[0], &[args[1]], &[], None, then, other);
            b.set_to_end(then);
            cf::CondBranchOp::build(b, loc, args[0], &[], &[], Some(&[3, 1]), other, other);
            b.set_to_end(other);
            let last = b.create_block(region, &[(Type::I1, loc)]);
            cf::BranchOp::build(b, loc, &args[..1], last);
            b.set_to_end(last);
        });
    });
}

#[test]
fn scf_loops_and_conditionals() {
    check(|b| {
        let inputs = [Type::INDEX, Type::INDEX, Type::F32, Type::I1, Type::I32];
        function(b, "f", &inputs, |b, args| {
            let loc = Loc::UNKNOWN;
            let [lb, ub, x, c, i] = args[..] else { panic!("five arguments") };
            scf::ForOp::with_body(b, loc, [lb, ub, lb], &[], |_, _, _| Vec::new());
            scf::ForOp::with_body(b, loc, [lb, ub, lb], &[x, x], |b, _, carried| {
                vec![arith::AddFOp::value(b, Loc::UNKNOWN, carried[0], carried[1]), carried[0]]
            });
            scf::ForOp::with_body(b, loc, [i, i, i], &[], |_, _, _| Vec::new());
            scf::IfOp::with_bodies(b, loc, c, &[Type::F32], |_, _| vec![x]);
            scf::IfOp::with_bodies(b, loc, c, &[], |_, _| Vec::new());
            let bare = scf::IfOp::build(b, loc, c, &[]);
            let region = b.body().regions(bare).next().expect("then");
            let block = b.create_block(region, &[]);
            let point = b.set_insert_point(InsertPoint::End(block));
            scf::YieldOp::build(b, loc, &[]);
            b.set_insert_point(point);
            for (inits, results) in [(&[x][..], &[Type::F32][..]), (&[], &[])] {
                let op = scf::WhileOp::build(b, loc, inits, results);
                let regions: Vec<_> = b.body().regions(op).collect();
                let types: Vec<_> = results.iter().map(|t| (*t, loc)).collect();
                let before = b.create_block(regions[0], &types);
                let after = b.create_block(regions[1], &types);
                let point = b.set_insert_point(InsertPoint::End(before));
                let values = b.body().block_args(before).to_vec();
                scf::ConditionOp::build(b, loc, c, &values);
                b.set_to_end(after);
                let values = b.body().block_args(after).to_vec();
                scf::YieldOp::build(b, loc, &values);
                b.set_insert_point(point);
            }
        });
    });
}

#[test]
fn math_functions() {
    use sutura_dialects::math::*;
    check(|b| {
        let loc = Loc::UNKNOWN;
        for ty in [Type::F32, b.cx().vector_type(&[4], Type::F64)] {
            let x = constant(b, ty);
            let unary = [
                AbsFOp::value,
                AcosOp::value,
                AsinOp::value,
                AtanOp::value,
                CbrtOp::value,
                CeilOp::value,
                CosOp::value,
                CoshOp::value,
                ErfOp::value,
                ErfcOp::value,
                ExpOp::value,
                Exp2Op::value,
                ExpM1Op::value,
                FloorOp::value,
                LogOp::value,
                Log10Op::value,
                Log1pOp::value,
                Log2Op::value,
                RoundOp::value,
                RoundEvenOp::value,
                RsqrtOp::value,
                SinOp::value,
                SinhOp::value,
                SqrtOp::value,
                TanOp::value,
                TanhOp::value,
                TruncOp::value,
                IsFiniteOp::value,
                IsInfOp::value,
                IsNaNOp::value,
            ];
            for op in unary {
                op(b, loc, x);
            }
            for op in [Atan2Op::value, CopySignOp::value, PowFOp::value] {
                op(b, loc, x, x);
            }
            FmaOp::value(b, loc, x, x, x);
        }
        let (x, i) = (constant(b, Type::F32), constant(b, Type::I32));
        for op in [AbsIOp::value, CountLeadingZerosOp::value, CountTrailingZerosOp::value, CtPopOp::value] {
            op(b, loc, i);
        }
        IPowIOp::value(b, loc, i, i);
        FPowIOp::value(b, loc, x, i);
    });
}

#[test]
fn tensor_values() {
    use sutura_dialects::slices::{Mixed, split_mixed};
    use sutura_dialects::tensor::*;
    check(|b| {
        let cx = b.cx();
        let ty = |shape: &[i64]| cx.tensor_type(shape, Type::F32, None);
        let inputs = [ty(&[DYNAMIC, 4]), Type::INDEX, Type::F32];
        function(b, "f", &inputs, |b, args| {
            let loc = Loc::UNKNOWN;
            let [t, i, x] = args[..] else { panic!("three arguments") };
            CastOp::value(b, loc, t, ty(&[8, 4]));
            DimOp::value(b, loc, t, i);
            RankOp::value(b, loc, t);
            EmptyOp::value(b, loc, &[i], ty(&[DYNAMIC, 4]));
            EmptyOp::value(b, loc, &[], ty(&[2]));
            ExtractOp::value(b, loc, t, &[i, i]);
            InsertOp::value(b, loc, x, t, &[i, i]);
            FromElementsOp::value(b, loc, &[x, x], ty(&[2]));
            FromElementsOp::value(b, loc, &[x], ty(&[]));
            SplatOp::value(b, loc, x, &[i], ty(&[DYNAMIC, 4]));
            SplatOp::value(b, loc, x, &[], ty(&[4]));
            let (offsets, static_offsets) = split_mixed(&[Mixed::Value(i), Mixed::Static(0)]);
            let slice =
                ExtractSliceOp::value(b, loc, t, &offsets, &[], &[], &static_offsets, &[1, 4], &[1, 1], ty(&[4]));
            InsertSliceOp::value(b, loc, slice, t, &offsets, &[], &[], &static_offsets, &[1, 4], &[1, 1]);
            let groups = [vec![0, 1], vec![2]];
            let wide = ty(&[DYNAMIC, 2, 4]);
            let expanded = ExpandShapeOp::value(b, loc, t, &groups, &[i], &[DYNAMIC, 2, 4], wide);
            CollapseShapeOp::value(b, loc, expanded, &groups, ty(&[DYNAMIC, 4]));
            let pad = PadOp::build(b, loc, t, &[i], &[], &[0, DYNAMIC], &[2, 1], ty(&[DYNAMIC, DYNAMIC]));
            let generate = GenerateOp::build(b, loc, &[i], ty(&[DYNAMIC, 4]));
            for op in [pad, generate] {
                let region = b.body().regions(op).next().expect("a region");
                let block = b.create_block(region, &[(Type::INDEX, loc), (Type::INDEX, loc)]);
                let point = b.set_insert_point(InsertPoint::End(block));
                YieldOp::build(b, loc, x);
                b.set_insert_point(point);
            }
        });
    });
}

#[test]
fn memref_memory() {
    use sutura_dialects::memref::*;
    use sutura_dialects::slices::{Mixed, Slice, split_mixed};
    check(|b| {
        let (cx, loc) = (b.cx(), Loc::UNKNOWN);
        let ty = |shape: &[i64]| cx.memref_type(shape, Type::F32, None, None);
        let table = cx.dense_attr(cx.tensor_type(&[2], Type::F32, None), &[0x3f80_0000, 0]);
        GlobalOp::build(b, loc, "table", Some("private"), ty(&[2]), table, true, Some(64));
        GlobalOp::build(b, loc, "scratch", None, ty(&[2]), Some(Attr::UNIT), false, None);
        GlobalOp::build(b, loc, "external", None, ty(&[2]), None, false, None);
        let bytes = cx.memref_type(&[DYNAMIC], Type::I8, None, None);
        let inputs = [ty(&[DYNAMIC, 4]), Type::INDEX, Type::F32, bytes];
        function(b, "f", &inputs, |b, args| {
            let [m, i, x, bytes] = args[..] else { panic!("four arguments") };
            let memory = AllocOp::value(b, loc, &[i], &[], Some(64), ty(&[DYNAMIC, 4]));
            AllocaOp::value(b, loc, &[], &[], None, ty(&[4]));
            let symbolic = cx.affine_map(
                1,
                1,
                &[cx.affine_binary(sutura_ir::affine::AffineOp::Add, cx.affine_dim(0), cx.affine_symbol(0))],
            );
            let symbolic = cx.memref_type(&[4], Type::F32, Some(cx.affine_map_attr(symbolic)), None);
            AllocaOp::value(b, loc, &[], &[i], None, symbolic);
            DeallocOp::build(b, loc, memory);
            LoadOp::value(b, loc, m, &[i, i], None);
            StoreOp::build(b, loc, x, m, &[i, i], Some(16));
            DimOp::value(b, loc, m, i);
            RankOp::value(b, loc, m);
            CastOp::value(b, loc, m, ty(&[8, 4]));
            CopyOp::build(b, loc, m, m);
            let slice = Slice {
                offsets: vec![Mixed::Value(i), Mixed::Static(1)],
                sizes: vec![Mixed::Static(2), Mixed::Value(i)],
                strides: vec![Mixed::Static(1), Mixed::Static(2)],
            };
            let (offsets, static_offsets) = split_mixed(&slice.offsets);
            let (sizes, static_sizes) = split_mixed(&slice.sizes);
            let view = SubViewOp::view_type(cx, ty(&[DYNAMIC, 4]), &slice).expect("a strided source");
            SubViewOp::value(b, loc, m, &offsets, &sizes, &[], &static_offsets, &static_sizes, &[1, 2], view);
            let row = StridedLayout { strides: vec![1], offset: DYNAMIC }.memref_type(cx, &[4], Type::F32, None);
            SubViewOp::value(b, loc, m, &[i], &[], &[], &[DYNAMIC, 0], &[1, 4], &[1, 1], row);
            ReinterpretCastOp::value(b, loc, m, &[], &[i], &[], &[0], &[DYNAMIC, 2], &[2, 1], ty(&[DYNAMIC, 2]));
            ViewOp::value(b, loc, bytes, i, &[i], ty(&[DYNAMIC, 2]));
            let groups = [vec![0, 1], vec![2]];
            let wide = ty(&[DYNAMIC, 2, 4]);
            let expanded = ExpandShapeOp::value(b, loc, m, &groups, &[i], &[DYNAMIC, 2, 4], wide);
            CollapseShapeOp::value(b, loc, expanded, &groups, ty(&[DYNAMIC, 4]));
            GetGlobalOp::value(b, loc, "table", ty(&[2]));
            ExtractAlignedPointerAsIndexOp::value(b, loc, m);
        });
    });
}

#[test]
fn vector_operations() {
    use sutura_dialects::vector::*;
    check(|b| {
        let (cx, loc) = (b.cx(), Loc::UNKNOWN);
        let ty = |shape: &[i64]| cx.vector_type(shape, Type::F32);
        let mask = cx.vector_type(&[4], Type::I1);
        let memory = cx.memref_type(&[DYNAMIC, DYNAMIC], Type::F32, None, None);
        let tensor = cx.tensor_type(&[DYNAMIC, DYNAMIC], Type::F32, None);
        let inputs = [ty(&[4]), ty(&[2, 4]), Type::F32, Type::INDEX, mask, memory, tensor];
        function(b, "f", &inputs, |b, args| {
            let [v, w, x, i, k, m, t] = args[..] else { panic!("seven arguments") };
            BroadcastOp::value(b, loc, x, ty(&[4]));
            BroadcastOp::value(b, loc, v, ty(&[2, 4]));
            ShapeCastOp::value(b, loc, w, ty(&[8]));
            BitCastOp::value(b, loc, v, cx.vector_type(&[8], Type::F16));
            TransposeOp::value(b, loc, w, &[1, 0]);
            ShuffleOp::value(b, loc, v, v, &[0, 5, -1]);
            ShuffleOp::value(b, loc, w, w, &[3]);
            ExtractOp::value(b, loc, w, &[i], &[1, DYNAMIC]);
            ExtractOp::value(b, loc, w, &[], &[1]);
            InsertOp::value(b, loc, v, w, &[], &[1]);
            InsertOp::value(b, loc, x, w, &[i], &[DYNAMIC, 2]);
            FromElementsOp::value(b, loc, &[x, x], ty(&[2]));
            let part = ExtractStridedSliceOp::value(b, loc, w, &[0, 2], &[1, 2], &[1, 1]);
            InsertStridedSliceOp::value(b, loc, part, w, &[1, 1], &[1, 1]);
            StepOp::value(b, loc, cx.vector_type(&[4], Type::INDEX));
            CreateMaskOp::value(b, loc, &[i], mask);
            ConstantMaskOp::value(b, loc, &[3], mask);
            FMAOp::value(b, loc, v, v, v);
            ReductionOp::value(b, loc, CombiningKind::MaximumF, v, None, Type::F32);
            ReductionOp::value(b, loc, CombiningKind::Add, v, Some(x), Type::F32);
            let pair = FromElementsOp::value(b, loc, &[x, x], ty(&[2]));
            OuterProductOp::value(b, loc, pair, v, None);
            let state = OuterProductOp::state(b, loc, pair, v, Some(w));
            let kind = cx.ext_attr(CombiningKind::MaxNumF);
            b.create(state.prop(cx.ident("kind"), kind));
            LoadOp::value(b, loc, m, &[i, i], Some(16), ty(&[4]));
            StoreOp::build(b, loc, v, m, &[i, i], None);
            MaskedLoadOp::value(b, loc, m, &[i, i], k, v, None, ty(&[4]));
            MaskedStoreOp::build(b, loc, m, &[i, i], k, v, Some(4));
            // The custom form of these states even what it could leave out, so they differ from the default here.
            let first = cx.affine_map(2, 0, &[cx.affine_dim(0)]);
            TransferReadOp::value(b, loc, m, &[i, i], first, x, None, &[true], ty(&[4]));
            TransferReadOp::value(b, loc, t, &[i, i], first, x, Some(k), &[true], ty(&[4]));
            TransferWriteOp::build(b, loc, v, m, &[i, i], first, Some(k), &[true], None);
            TransferWriteOp::build(b, loc, v, t, &[i, i], first, None, &[true], Some(tensor));
        });
    });
}

#[test]
fn llvm_operations() {
    use sutura_dialects::llvm::types::{ArrayType, FunctionType, PointerType, StructType, function, pointer, void};
    use sutura_dialects::llvm::*;
    // Functions, variables, calls and stack memory are printed in generic form, so only the meaning is compared.
    check_meaning(|b| {
        let (cx, loc) = (b.cx(), Loc::UNKNOWN);
        let (ptr, void, v8) = (pointer(cx), void(cx), cx.vector_type(&[8], Type::F32));
        let fields = Some(vec![ptr, Type::I64, cx.ext_type(ArrayType { len: 2, elem: Type::I64 })]);
        let record = cx.ext_type(StructType { name: None, fields: fields.clone(), packed: false });
        let named = cx.ext_type(StructType { name: Some("a \"b\"".to_string()), fields, packed: true });
        let opaque = cx.ext_type(StructType { name: Some("o".to_string()), fields: None, packed: false });
        let far = cx.ext_type(PointerType { address_space: 3 });
        let text = cx.ext_type(ArrayType { len: 3, elem: Type::I8 });
        let global =
            GlobalOp::build(b, loc, text, true, "text", Linkage::Private, Some(cx.string_attr("abc")), Some(8));
        assert!(b.body().nested(global).is_some());
        let variadic = cx.ext_type(FunctionType { result: Type::I32, params: vec![ptr], var_arg: true });
        FuncOp::build(b, loc, "printf", variadic);
        let plain = function(cx, void, &[named, opaque, far]);
        FuncOp::build(b, loc, "plain", plain);
        let inputs = [ptr, Type::I64, Type::F32, v8];
        let ty = function(cx, Type::F32, &inputs);
        let state = FuncOp::state(b, loc, "f", ty);
        let mut body = Box::new(sutura_ir::Body::new(1));
        let region = body.region();
        let mut inside = Builder::new(cx, &mut body);
        let block = inside.create_block(region, &inputs.map(|t| (t, loc)));
        inside.set_to_end(block);
        fill_llvm(&mut inside, record);
        b.create_isolated(state, body);
    });
}

fn fill_llvm(b: &mut Builder<'_>, record: Type) {
    use sutura_dialects::llvm::*;
    let (cx, loc) = (b.cx(), Loc::UNKNOWN);
    let region = b.body().region();
    let entry = b.body().entry_block().expect("a block");
    let [p, n, x, v] = b.body().block_args(entry)[..] else { panic!("four arguments") };
    let four = ConstantOp::value(b, loc, cx.int_attr(4, Type::I64), Type::I64);
    ConstantOp::value(b, loc, cx.index_attr(4), Type::I64);
    ZeroOp::value(b, loc, types::pointer(cx));
    PoisonOp::value(b, loc, Type::F32);
    let record = UndefOp::value(b, loc, record);
    let record = InsertValueOp::value(b, loc, record, p, &[0]);
    ExtractValueOp::value(b, loc, record, &[2, 1], Type::I64);
    for op in [
        AddOp::value,
        SubOp::value,
        MulOp::value,
        ShlOp::value,
        UDivOp::value,
        SDivOp::value,
        LShrOp::value,
        AShrOp::value,
        URemOp::value,
        SRemOp::value,
        AndOp::value,
        OrOp::value,
        XOrOp::value,
    ] {
        op(b, loc, n, four);
    }
    let state = AddOp::state(b, loc, n, n).prop(cx.ident("overflowFlags"), cx.int_attr(3, Type::I32));
    b.create(state);
    for op in [FAddOp::value, FSubOp::value, FMulOp::value, FDivOp::value, FRemOp::value] {
        op(b, loc, v, v);
    }
    let flags = cx.ext_attr(FastmathFlags::NNAN.with(FastmathFlags::CONTRACT));
    let state = FNegOp::state(b, loc, x).prop(cx.ident("fastmathFlags"), flags);
    b.create(state);
    let less = ICmpOp::value(b, loc, ICmpPredicate::Slt, n, four);
    ICmpOp::value(b, loc, ICmpPredicate::Eq, p, p);
    FCmpOp::value(b, loc, FCmpPredicate::Uno, v, v);
    SelectOp::value(b, loc, less, x, x);
    let narrow = TruncOp::value(b, loc, n, Type::I8);
    SExtOp::value(b, loc, narrow, Type::I64);
    ZExtOp::value(b, loc, narrow, Type::I64);
    FPExtOp::value(b, loc, x, Type::F64);
    FPTruncOp::value(b, loc, x, Type::F16);
    SIToFPOp::value(b, loc, n, Type::F32);
    UIToFPOp::value(b, loc, n, Type::F32);
    FPToSIOp::value(b, loc, x, Type::I64);
    FPToUIOp::value(b, loc, x, Type::I64);
    let address = PtrToIntOp::value(b, loc, p, Type::I64);
    IntToPtrOp::value(b, loc, address, types::pointer(cx));
    BitcastOp::value(b, loc, x, Type::I32);
    let far = cx.ext_type(types::PointerType { address_space: 3 });
    AddrSpaceCastOp::value(b, loc, p, far);
    let q = GEPOp::element(b, loc, p, n, Type::F32);
    GEPOp::value(
        b,
        loc,
        p,
        &[n],
        &[DYNAMIC_INDEX, 1],
        cx.ext_type(types::ArrayType { len: 4, elem: Type::F32 }),
        types::pointer(cx),
    );
    let y = LoadOp::value(b, loc, q, Some(4), Type::F32);
    StoreOp::build(b, loc, y, q, Some(4));
    AllocaOp::value(b, loc, four, Some(64), Type::F32, types::pointer(cx));
    AddressOfOp::value(b, loc, "text", types::pointer(cx));
    let variadic = types::FunctionType { result: Type::I32, params: vec![types::pointer(cx)], var_arg: true };
    let variadic = cx.type_attr(cx.ext_type(variadic));
    let call = CallOp::state(b, loc, Some("printf"), &[p], &[], &[], Some(Type::I32));
    b.create(call.prop(cx.ident("var_callee_type"), variadic));
    CallOp::build(b, loc, Some("f"), &[p, n, x, v], &[], &[], Some(Type::F32));
    CallIntrinsicOp::call(b, loc, "llvm.fma.v8f32", &[v, v, v], Some(cx.vector_type(&[8], Type::F32)));
    CallIntrinsicOp::call(b, loc, "llvm.x86.sse.sfence", &[], None);
    let (then, end) = (b.create_block(region, &[(Type::F32, loc)]), b.create_block(region, &[]));
    CondBrOp::build(b, loc, less, &[x], &[], None, then, end);
    b.set_to_end(then);
    BrOp::build(b, loc, &[], end);
    b.set_to_end(end);
    ReturnOp::build(b, loc, Some(x));
}

#[test]
fn spirv_computations() {
    use sutura_dialects::spirv::*;
    check(|b| {
        let cx = b.cx();
        for (integer, float) in
            [(Type::I32, Type::F32), (cx.vector_type(&[3], Type::I64), cx.vector_type(&[3], Type::F16))]
        {
            let truth = cx.with_element_type(integer, Type::I1);
            let name = if integer == Type::I32 { "scalars" } else { "vectors" };
            function(b, name, &[integer, float, truth], |b, args| {
                let (loc, [i, f, t]) = (Loc::UNKNOWN, [args[0], args[1], args[2]]);
                for op in [FAddOp::value, FSubOp::value, FMulOp::value, FDivOp::value, FRemOp::value] {
                    op(b, loc, f, f);
                }
                for op in [FOrdEqualOp::value, FOrdLessThanOp::value, FUnordNotEqualOp::value] {
                    op(b, loc, f, f);
                }
                for op in [IEqualOp::value, SLessThanOp::value, UGreaterThanEqualOp::value] {
                    op(b, loc, i, i);
                }
                for op in [IAddOp::value, IMulOp::value, SDivOp::value, UModOp::value, BitwiseXorOp::value] {
                    op(b, loc, i, i);
                }
                ShiftLeftLogicalOp::value(b, loc, i, i);
                LogicalNotEqualOp::value(b, loc, t, t);
                GLFmaOp::value(b, loc, f, f, f);
                IsNanOp::value(b, loc, f);
                SelectOp::value(b, loc, t, f, f);
                let pair = b.cx().ext_type(types::StructType::plain(&[integer, integer]));
                let product = UMulExtendedOp::value(b, loc, i, i, pair);
                let zero = [b.cx().int_attr(1, Type::I32)];
                CompositeExtractOp::value(b, loc, product, &zero, integer);
            });
        }
    });
}

#[test]
fn spirv_memory() {
    use sutura_dialects::spirv::*;
    check(|b| {
        function(b, "f", &[Type::I64, Type::I32], |b, args| {
            let (cx, loc) = (b.cx(), Loc::UNKNOWN);
            let vector = cx.vector_type(&[4], Type::F32);
            let address = types::pointer(cx, vector, StorageClass::PhysicalStorageBuffer);
            let pointer = ConvertUToPtrOp::value(b, loc, args[0], address);
            let aligned = Some(MemoryAccess::ALIGNED);
            let value = LoadOp::value(b, loc, pointer, aligned, Some(16), vector);
            let element = VectorExtractDynamicOp::value(b, loc, value, args[1]);
            let other = VectorInsertDynamicOp::value(b, loc, value, element, args[1]);
            StoreOp::build(b, loc, pointer, other, aligned.map(|a| a.with(MemoryAccess::VOLATILE)), Some(4));
            let local = types::pointer(cx, Type::F32, StorageClass::Function);
            let local = VariableOp::value(b, loc, StorageClass::Function, None, local);
            StoreOp::build(b, loc, local, element, None, None);
            let all = MemorySemantics::ACQUIRE_RELEASE.with(MemorySemantics::WORKGROUP_MEMORY);
            ControlBarrierOp::build(b, loc, Scope::Workgroup, Scope::Device, all);
            ShuffleXorOp::value(b, loc, Scope::Subgroup, element, args[1]);
        });
    });
}
