//! What the upstream dialects' ops do when a program runs.

use sutura_dialects::{arith, cf, func, scf};
use sutura_interp::{DType, FaultKind, InterpError, Interpreter, Scalar, Tensor, Value};
use sutura_ir::Type;

mod common;
use common::{AT, context, define, int, ints, module, run};

/// Declared, parsed, printed and verified, but not run: a program with one ends with an error that names it. Scalable
/// vectors have no length that could be told and `vector.print` has nowhere to print; the others have not been written.
#[rustfmt::skip]
const NOT_INTERPRETED: [&str; 15] = [
    "arith.scaling_extf", "arith.scaling_truncf", "memref.realloc", "memref.reshape", "tensor.parallel_insert_slice",
    "vector.contract", "vector.gather", "vector.mask", "vector.multi_reduction", "vector.print",
    "vector.scalable.extract", "vector.scalable.insert", "vector.scatter", "vector.vscale", "vector.yield",
];

#[test]
fn every_op_has_a_hook() {
    let cx = context();
    let upstream = ["arith", "math", "cf", "scf", "func", "tensor", "memref", "vector", "llvm"];
    // Symbols, run by being called or read.
    let exempt = ["func.func", "memref.global", "llvm.func", "llvm.mlir.global"];
    let has_hook = |name: &str| {
        let info = cx.op_name(name).info(&cx).unwrap();
        info.interface::<dyn sutura_interp::Interpret>().is_some()
    };
    let names = cx.registry().op_defs().filter(|d| upstream.contains(&d.dialect())).map(|d| d.name);
    let mut missing: Vec<&str> = names.filter(|n| !exempt.contains(n) && !has_hook(n)).collect();
    missing.sort_unstable();
    assert_eq!(missing, NOT_INTERPRETED);
}

#[test]
fn recursion_through_if_and_call() {
    let cx = context();
    let m = module(&cx, |b| {
        define(b, "factorial", &[Type::I64], &[Type::I64], |b, args| {
            let (n, one) = (args[0], int(b, 1, Type::I64));
            let small = arith::CmpIOp::value(b, AT, arith::CmpIPredicate::Sle, n, one);
            let op = scf::IfOp::with_bodies(b, AT, small, &[Type::I64], |b, base| {
                if base {
                    return vec![one];
                }
                let less = arith::SubIOp::value(b, AT, n, one);
                let call = func::CallOp::build(b, AT, "factorial", &[less], None, None, &[Type::I64]);
                let rest = b.body().result(call, 0);
                vec![arith::MulIOp::value(b, AT, n, rest)]
            });
            vec![b.body().result(op, 0)]
        });
    });
    let mut interpreter = Interpreter::new(&cx, &m);
    let out = interpreter.call("factorial", &[Value::int(15, 64)]).unwrap();
    assert_eq!(ints(out), [1_307_674_368_000]);
    // The depth limit holds in an unoptimised build, too.
    let error = interpreter.call("factorial", &[Value::int(1 << 40, 64)]).unwrap_err();
    assert_eq!(error.kind(), FaultKind::Limit);
}

/// Sums the induction variable of a loop.
fn sum_loop(bounds: [i64; 3], ty: Type, unsigned: bool) -> Result<i64, InterpError> {
    let cx = context();
    let out = run(&cx, &[], &[ty], &[], |b, _| {
        let bounds = bounds.map(|v| int(b, v, ty));
        let zero = int(b, 0, ty);
        let [lower, upper, step] = bounds;
        let mut state = scf::ForOp::state(b, AT, lower, upper, step, &[zero], &[ty]);
        if unsigned {
            state = state.prop(b.cx().ident("unsignedCmp"), sutura_ir::Attr::UNIT);
        }
        let op = b.create(state);
        let region = b.body().regions(op).next().unwrap();
        let block = b.create_block(region, &[(ty, AT), (ty, AT)]);
        b.set_to_end(block);
        let (i, carried) = (b.body().block_args(block)[0], b.body().block_args(block)[1]);
        let sum = arith::AddIOp::value(b, AT, carried, i);
        scf::YieldOp::build(b, AT, &[sum]);
        b.set_after(op);
        vec![b.body().result(op, 0)]
    })?;
    Ok(out[0].as_int().unwrap())
}

#[test]
fn counted_loops() {
    assert_eq!(sum_loop([0, 10, 3], Type::INDEX, false).unwrap(), 18);
    assert_eq!(sum_loop([-3, 3, 2], Type::I32, false).unwrap(), -3);
    assert_eq!(sum_loop([5, 5, 1], Type::INDEX, false).unwrap(), 0);
    assert_eq!(sum_loop([5, -5, 1], Type::INDEX, false).unwrap(), 0);
    // The last step leaves the type's range without wrapping around.
    assert_eq!(sum_loop([100, 127, 20], Type::I8, false).unwrap(), i64::from(220u8 as i8));
    // 250..255 as unsigned, which as signed is -6..-1.
    assert_eq!(sum_loop([250, 255, 1], Type::I8, true).unwrap(), i64::from((250 + 251 + 252 + 253 + 254) as u8 as i8));
    let error = sum_loop([0, 10, 0], Type::INDEX, false).unwrap_err();
    assert_eq!(error.to_string(), "'scf.for' op steps by 0, which is not positive");
}

#[test]
fn while_loops() {
    let cx = context();
    // Steps of the Collatz sequence from 27 to 1.
    let types = [Type::I64, Type::I64];
    let out = run(&cx, &[Type::I64], &types, &[Value::int(27, 64)], |b, args| {
        let zero = int(b, 0, Type::I64);
        let op = scf::WhileOp::build(b, AT, &[args[0], zero], &types);
        let point = b.insert_point();
        let regions: Vec<_> = b.body().regions(op).collect();
        let blocks = regions.iter().map(|r| b.create_block(*r, &types.map(|t| (t, AT)))).collect::<Vec<_>>();
        b.set_to_end(blocks[0]);
        let args = b.body().block_args(blocks[0]).to_vec();
        let one = int(b, 1, Type::I64);
        let more = arith::CmpIOp::value(b, AT, arith::CmpIPredicate::Ne, args[0], one);
        scf::ConditionOp::build(b, AT, more, &args);
        b.set_to_end(blocks[1]);
        let args = b.body().block_args(blocks[1]).to_vec();
        let (one, two, three) = (int(b, 1, Type::I64), int(b, 2, Type::I64), int(b, 3, Type::I64));
        let odd = arith::RemSIOp::value(b, AT, args[0], two);
        let odd = arith::TruncIOp::value(b, AT, odd, Type::I1);
        let half = arith::DivSIOp::value(b, AT, args[0], two);
        let up = arith::MulIOp::value(b, AT, args[0], three);
        let up = arith::AddIOp::value(b, AT, up, one);
        let next = arith::SelectOp::value(b, AT, odd, up, half);
        let steps = arith::AddIOp::value(b, AT, args[1], one);
        scf::YieldOp::build(b, AT, &[next, steps]);
        b.set_insert_point(point);
        b.body().results(op).collect()
    });
    assert_eq!(ints(out.unwrap()), [1, 111]);
}

#[test]
fn branches_and_assertions() {
    let cx = context();
    // Halves until odd, in blocks.
    let m = module(&cx, |b| {
        func::FuncOp::define(b, AT, "main", &[Type::I32], &[Type::I32], |b| {
            let entry = b.body().entry_block().unwrap();
            let region = b.body().block_region(entry).unwrap();
            let n = b.body().block_args(entry)[0];
            let zero = int(b, 0, Type::I32);
            let positive = arith::CmpIOp::value(b, AT, arith::CmpIPredicate::Sgt, n, zero);
            cf::AssertOp::build(b, AT, positive, "n must be positive");
            let head = b.create_block(region, &[(Type::I32, AT)]);
            let exit = b.create_block(region, &[(Type::I32, AT)]);
            cf::BranchOp::build(b, AT, &[n], head);
            b.set_to_end(head);
            let n = b.body().block_args(head)[0];
            let two = int(b, 2, Type::I32);
            let odd = arith::RemSIOp::value(b, AT, n, two);
            let odd = arith::TruncIOp::value(b, AT, odd, Type::I1);
            let half = arith::DivSIOp::value(b, AT, n, two);
            cf::CondBranchOp::build(b, AT, odd, &[n], &[half], None, exit, head);
            b.set_to_end(exit);
            let n = b.body().block_args(exit)[0];
            func::ReturnOp::build(b, AT, &[n]);
        });
    });
    let mut interpreter = Interpreter::new(&cx, &m);
    assert_eq!(ints(interpreter.call("main", &[Value::int(96, 32)]).unwrap()), [3]);
    let error = interpreter.call("main", &[Value::int(0, 32)]).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (FaultKind::Assertion, "'cf.assert' op fails: n must be positive")
    );
}

#[test]
fn select_takes_any_value_by_a_scalar_condition() {
    let cx = context();
    let memref = cx.memref_type(&[2], Type::F32, None, None);
    let m = module(&cx, |b| {
        define(b, "main", &[Type::I1, memref, memref], &[memref], |b, args| {
            vec![arith::SelectOp::value(b, AT, args[0], args[1], args[2])]
        });
    });
    let mut interpreter = Interpreter::new(&cx, &m);
    let a = Value::from(interpreter.memory().alloc(DType::F32, &[2], None).unwrap());
    let b = Value::from(interpreter.memory().alloc(DType::F32, &[2], None).unwrap());
    for (c, expected) in [(true, &a), (false, &b)] {
        let out = interpreter.call("main", &[Value::bool(c), a.clone(), b.clone()]).unwrap();
        assert_eq!(out[0].memref().unwrap(), expected.memref().unwrap());
    }
    // An element-wise condition on tensors.
    let (mask, t) = (cx.tensor_type(&[2], Type::I1, None), cx.tensor_type(&[2], Type::F32, None));
    let bits = Tensor::from_scalars(DType::I1, &[2], [true, false].map(Scalar::bool)).unwrap();
    let (x, y) = (Value::tensor_f32(vec![1., 2.], &[2]).unwrap(), Value::tensor_f32(vec![3., 4.], &[2]).unwrap());
    let out = run(&cx, &[mask, t, t], &[t], &[Value::Tensor(bits), x, y], |b, args| {
        vec![arith::SelectOp::value(b, AT, args[0], args[1], args[2])]
    });
    assert_eq!(out.unwrap()[0].to_f32().unwrap().0, [1., 4.]);
}

#[test]
fn faults_name_the_op() {
    let cx = context();
    let divide = |a: i64, b: i64| {
        run(&cx, &[Type::I8; 2], &[Type::I8], &[Value::int(a, 8), Value::int(b, 8)], |b, args| {
            vec![arith::DivSIOp::value(b, AT, args[0], args[1])]
        })
    };
    assert_eq!(ints(divide(-7, 2).unwrap()), [-3]);
    assert_eq!(divide(1, 0).unwrap_err().to_string(), "'arith.divsi' op divides by zero");
    assert_eq!(divide(-128, -1).unwrap_err().kind(), FaultKind::Overflow);
}

#[test]
fn unrealized_casts_pass_values_on() {
    let cx = context();
    let out = run(&cx, &[Type::INDEX], &[Type::I64], &[Value::index(-5)], |b, args| {
        let name = b.cx().op_name("builtin.unrealized_conversion_cast");
        let state = sutura_ir::OpState::new(name, AT).operands(args.iter().copied()).results([Type::I64]);
        let op = b.create(state);
        vec![b.body().result(op, 0)]
    });
    assert_eq!(ints(out.unwrap()), [-5]);
}

#[test]
fn function_constants_name_functions() {
    let cx = context();
    let ty = cx.function_type(&[], &[]);
    let m = module(&cx, |b| {
        define(b, "callee", &[], &[], |_, _| vec![]);
        for name in ["callee", "nobody"] {
            define(b, &format!("get_{name}"), &[], &[ty], |b, _| vec![func::ConstantOp::value(b, AT, name, ty)]);
        }
    });
    let mut interpreter = Interpreter::new(&cx, &m);
    let out = interpreter.call("get_callee", &[]).unwrap();
    assert_eq!(out[0].as_opaque::<func::FunctionValue>().unwrap().0, cx.symbol_ref("callee"));
    let error = interpreter.call("get_nobody", &[]).unwrap_err();
    assert_eq!(error.to_string(), "'func.constant' op no symbol @nobody is defined");
}
