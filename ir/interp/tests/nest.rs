//! Structured iteration against loops written out.

mod common;

use common::*;
use proptest::prelude::*;
use sutura_interp::nest::{Combine, Input, IteratorKind, Nest, Output};
use sutura_interp::num::Overflow;
use sutura_interp::*;
use sutura_ir::affine::{AffineMap, AffineOp};
use sutura_ir::{Builder, Context, Loc, Module, OpDef, OpState, Type};

/// A program whose region has arguments of type `args` and hands back what `build` returns.
fn program(
    cx: &Context,
    args: &[Type],
    build: impl FnOnce(&mut Builder<'_>, &[sutura_ir::Value]) -> Vec<sutura_ir::Value>,
) -> Result<Program, InterpError> {
    let mut m: Module = module(cx);
    add_func(cx, &mut m, "f", args, |b, _, args| {
        let results = build(b, args);
        emit(b, &RETURN, &results, &[]);
    });
    let entry = m.op_ref(cx).region(0).unwrap().entry().unwrap();
    let func = entry.ops().next().unwrap();
    Program::compile(func.region(0).unwrap())
}

fn binary(cx: &Context, def: &'static OpDef, ty: Type) -> Program {
    program(cx, &[ty, ty], |b, args| emit(b, def, args, &[ty])).unwrap()
}

/// Map of `dims` iterators to these of them.
fn pick(cx: &Context, dims: u32, results: &[u32]) -> AffineMap {
    let results: Vec<_> = results.iter().map(|&d| cx.affine_dim(d)).collect();
    cx.affine_map(dims, 0, &results)
}

fn random_f32(seed: u64, shape: &[usize]) -> Tensor {
    let mut random = Random::new(seed);
    let len = shape.iter().product();
    Tensor::from_f32((0..len).map(|_| (random.unit() - 0.5) as f32).collect(), shape).unwrap()
}

fn matmul<'a>(cx: &Context, a: &'a Tensor, b: &'a Tensor, dtype: DType, accumulate: Scalar) -> Nest<'a> {
    let (m, k, n) = (a.shape()[0], a.shape()[1], b.shape()[1]);
    use IteratorKind::{Parallel, Reduce};
    Nest {
        extents: [m, n, k].as_slice().into(),
        kinds: [Parallel, Parallel, Reduce].as_slice().into(),
        inputs: vec![Input { value: a, map: pick(cx, 3, &[0, 2]) }, Input { value: b, map: pick(cx, 3, &[2, 1]) }],
        outputs: vec![Output {
            dtype,
            shape: [m, n].as_slice().into(),
            map: pick(cx, 3, &[0, 1]),
            combine: Some(Combine { op: NumOp::AddF, identity: accumulate }),
        }],
        joint: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn matrix_product(m in 0usize..9, k in 0usize..9, n in 0usize..1500, seed: u64) {
        let cx = context();
        let (a, b) = (random_f32(seed, &[m, k]), random_f32(seed + 1, &[k, n]));
        let multiply = binary(&cx, &MULF, Type::F32);
        let out = matmul(&cx, &a, &b, DType::F32, Scalar::f32(0.0)).run(&cx, &multiply, &[]).unwrap();
        let (x, y) = (a.data().as_f32().unwrap(), b.data().as_f32().unwrap());
        let mut want = vec![0f32; m * n];
        for i in 0..m {
            for j in 0..n {
                for l in 0..k {
                    want[i * n + j] += x[i * k + l] * y[l * n + j];
                }
            }
        }
        prop_assert_eq!(out[0].data().as_f32().unwrap(), &want[..]);
        prop_assert_eq!(out[0].shape(), &[m, n]);
    }
}

#[test]
fn narrow_products_accumulate_wide() {
    let cx = context();
    // 1 + 4096 * 2^-11 in f16 steps would stay at 1: each step is half a place, and ties go to even.
    let ones = |shape: &[usize], x: f64| {
        let value = Scalar::float(x, sutura_ir::types::FloatKind::F16);
        Tensor::splat(value, shape).unwrap()
    };
    let (a, b) = (ones(&[1, 4096], 1.0), ones(&[4096, 1], 1.0 / 2048.0));
    let multiply = binary(&cx, &MULF, Type::F16);
    let one = Scalar::f32(1.0);
    let out = matmul(&cx, &a, &b, DType::F16, one).run(&cx, &multiply, &[]).unwrap();
    assert_eq!(out[0].dtype(), DType::F16);
    assert_eq!(out[0].at(&[0, 0]).unwrap().as_f64(), Some(3.0));
}

/// out[i] = in[e] over `extent` points, with `e` given.
fn gather(cx: &Context, input: &Tensor, extent: usize, map: AffineMap) -> Result<Vec<Tensor>, Fault> {
    let copy = program(cx, &[Type::F32], |_, args| args.to_vec()).unwrap();
    let nest = Nest {
        extents: [extent].as_slice().into(),
        kinds: [IteratorKind::Parallel].as_slice().into(),
        inputs: vec![Input { value: input, map }],
        outputs: vec![Output {
            dtype: DType::F32,
            shape: [extent].as_slice().into(),
            map: pick(cx, 1, &[0]),
            combine: None,
        }],
        joint: None,
    };
    nest.run(cx, &copy, &[])
}

#[test]
fn accesses_are_affine_and_checked() {
    let cx = context();
    let input = Tensor::from_f32((0..10).map(|i| i as f32).collect(), &[10]).unwrap();
    let d0 = cx.affine_dim(0);
    let map = |expr| cx.affine_map(1, 0, &[expr]);
    let c = |n| cx.affine_const(n);
    let twice_plus_1 = cx.affine_binary(AffineOp::Add, cx.affine_binary(AffineOp::Mul, d0, c(2)), c(1));
    let out = gather(&cx, &input, 5, map(twice_plus_1)).unwrap();
    assert_eq!(out[0].data().as_f32().unwrap(), [1.0, 3.0, 5.0, 7.0, 9.0]);
    let wrapped = cx.affine_binary(AffineOp::Mod, d0, c(3));
    let out = gather(&cx, &input, 5, map(wrapped)).unwrap();
    assert_eq!(out[0].data().as_f32().unwrap(), [0.0, 1.0, 2.0, 0.0, 1.0]);
    let error = gather(&cx, &input, 6, map(twice_plus_1)).unwrap_err();
    assert_eq!(error.message, "index 11 is out of bounds for dimension 0 with size 10");
    let far = cx.affine_binary(AffineOp::FloorDiv, cx.affine_binary(AffineOp::Mul, d0, c(20)), c(2));
    let error =
        gather(&cx, &input, 3, map(cx.affine_binary(AffineOp::Add, far, cx.affine_binary(AffineOp::Mod, d0, c(2)))));
    assert_eq!(error.unwrap_err().kind, FaultKind::OutOfBounds);
    assert_eq!(gather(&cx, &input, 0, map(twice_plus_1)).unwrap()[0].len(), 0);
}

#[test]
fn undefined_elements_may_not_be_read() {
    let cx = context();
    let mut input = Tensor::undefined(DType::F32, &[3]).unwrap();
    for i in 0..2 {
        input.data_mut().set(i, Some(Scalar::f32(1.0)));
    }
    let identity = cx.identity_map(1);
    assert!(gather(&cx, &input, 2, identity).is_ok());
    assert_eq!(gather(&cx, &input, 3, identity).unwrap_err().kind, FaultKind::Uninitialised);
}

#[test]
fn indices_constants_and_captured_values() {
    let cx = context();
    let mut m = module(&cx);
    let mut compiled = None;
    // t.repeat's region uses a value from outside it.
    add_func(&cx, &mut m, "f", &[Type::INDEX], |b, _, args| {
        let op = b.create(OpState::of(&cx, &REPEAT, Loc::UNKNOWN).operands([args[0]]).regions(1));
        let region = b.body().regions(op).next().unwrap();
        let block = b.create_block(region, &[]);
        b.set_to_end(block);
        let index = emit(b, &INDEX, &[], &[Type::INDEX])[0];
        let ten = constant(b, 10, Type::INDEX);
        let sum = emit(b, &ADD, &[index, ten], &[Type::INDEX])[0];
        let sum = emit(b, &ADD, &[sum, args[0]], &[Type::INDEX]);
        emit(b, &RETURN, &sum, &[]);
        let region = b.op_ref(op).region(0).unwrap();
        compiled = Some(Program::compile(region).unwrap());
    });
    let program = compiled.unwrap();
    assert_eq!((program.captured().len(), program.num_steps()), (1, 2));
    let nest = Nest {
        extents: [2, 3].as_slice().into(),
        kinds: [IteratorKind::Parallel; 2].as_slice().into(),
        inputs: vec![],
        outputs: vec![Output {
            dtype: DType::Index,
            shape: [2, 3].as_slice().into(),
            map: cx.identity_map(2),
            combine: None,
        }],
        joint: None,
    };
    let out = nest.run(&cx, &program, &[Scalar::index(100)]).unwrap();
    assert_eq!(out[0].data().as_i64().unwrap(), [110, 110, 110, 111, 111, 111]);
    assert!(nest.run(&cx, &program, &[]).is_err());
}

#[test]
fn ops_without_scalar_meaning_are_named() {
    let cx = context();
    let error = program(&cx, &[Type::I32, Type::I32], |b, args| emit(b, &DIV, args, &[Type::I32])).unwrap_err();
    assert_eq!(error.to_string(), "'t.div' op has no meaning on single numbers");
}

#[test]
fn faults_of_scalar_ops_come_through() {
    let nsw = NumOp::AddI(Overflow { nsw: true, nuw: false });
    let big = Value::Tensor(Tensor::splat(Scalar::int(100, DType::I8), &[2000]).unwrap());
    let error = elementwise::apply(nsw, &[&big, &big], None).unwrap_err();
    assert_eq!(error.kind, FaultKind::Overflow);
}
