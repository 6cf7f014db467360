//! What vector ops do when a program runs.

mod common;
use common::{AT, context, define, module};
use sutura_dialects::vector::CombiningKind;
use sutura_interp::{DType, FaultKind, InterpError, Interpreter, Scalar, Tensor, Value};
use sutura_ir::{Attr, Context, DYNAMIC, OpState, Type};

fn counted(shape: &[usize]) -> Tensor {
    let len: usize = shape.iter().product();
    Tensor::from_f32((0..len).map(|i| i as f32).collect(), shape).unwrap()
}

fn vec_of(shape: &[usize]) -> Value {
    Value::Vector(counted(shape))
}

fn f32s(value: &Value) -> Vec<f32> {
    value.to_f32().unwrap().0
}

/// Runs one op. Arguments that are tensors of a memref type are put into memory first.
struct Case<'c> {
    cx: &'c Context,
    name: &'static str,
    args: Vec<(Type, Value)>,
    props: Vec<(&'static str, Attr)>,
}

impl<'c> Case<'c> {
    fn new(cx: &'c Context, name: &'static str, args: Vec<(Type, Value)>) -> Self {
        Self { cx, name, args, props: vec![] }
    }

    fn prop(mut self, name: &'static str, value: Attr) -> Self {
        self.props.push((name, value));
        self
    }

    fn numbers(self, name: &'static str, list: &[i64]) -> Self {
        let attr = self.cx.i64_array(list);
        self.prop(name, attr)
    }

    fn list(self, name: &'static str, list: &[i64]) -> Self {
        let list: Vec<Attr> = list.iter().map(|&n| self.cx.int_attr(n, Type::I64)).collect();
        let attr = self.cx.array_attr(&list);
        self.prop(name, attr)
    }

    fn kind(self, kind: CombiningKind) -> Self {
        let attr = self.cx.ext_attr(kind);
        self.prop("kind", attr)
    }

    fn segments(self, sizes: &[i32]) -> Self {
        let attr = self.cx.i32_array(sizes);
        self.prop("operandSegmentSizes", attr)
    }

    /// The results, and what each memref argument holds after.
    fn run(self, results: &[Type]) -> Result<(Vec<Value>, Vec<Tensor>), InterpError> {
        let cx = self.cx;
        let types: Vec<Type> = self.args.iter().map(|(ty, _)| *ty).collect();
        let m = module(cx, |b| {
            define(b, "main", &types, results, |b, args| {
                let state = OpState::new(cx.op_name(self.name), AT).operands(args.iter().copied());
                let mut state = state.results(results.iter().copied());
                for (name, value) in &self.props {
                    state = state.prop(cx.ident(name), *value);
                }
                let op = b.create(state);
                b.body().results(op).collect()
            });
        });
        let mut interpreter = Interpreter::new(cx, &m);
        let mut args = Vec::new();
        for (ty, value) in self.args {
            let in_memory = matches!(cx.type_data(ty), sutura_ir::TypeData::MemRef { .. });
            args.push(match value {
                Value::Tensor(t) if in_memory => interpreter.memory().alloc_from(&t, None).unwrap().into(),
                value => value,
            });
        }
        let out = interpreter.call("main", &args)?;
        let memory = interpreter.memory();
        let after = args.iter().filter_map(|a| a.memref().ok()).map(|m| memory.read(m).unwrap()).collect();
        Ok((out, after))
    }

    fn one(self, result: Type) -> Result<Value, InterpError> {
        self.run(&[result]).map(|(mut out, _)| out.remove(0))
    }
}

#[test]
fn making_and_rearranging() {
    let cx = context();
    let v = |shape: &[i64]| cx.vector_type(shape, Type::F32);
    let one = |name, args, to| Case::new(&cx, name, args).one(to).unwrap();
    let seven = (Type::F32, Value::from(7f32));
    assert_eq!(f32s(&one("vector.broadcast", vec![seven], v(&[2, 2]))), [7.; 4]);
    let out = one("vector.broadcast", vec![(v(&[2, 1]), vec_of(&[2, 1]))], v(&[2, 2, 3]));
    assert_eq!(f32s(&out), [0., 0., 0., 1., 1., 1., 0., 0., 0., 1., 1., 1.]);
    let out = one("vector.shape_cast", vec![(v(&[2, 3]), vec_of(&[2, 3]))], v(&[6]));
    assert_eq!(out.vector().unwrap().shape(), [6]);
    let turned = Case::new(&cx, "vector.transpose", vec![(v(&[2, 3]), vec_of(&[2, 3]))]);
    let out = turned.numbers("permutation", &[1, 0]).one(v(&[3, 2])).unwrap();
    assert_eq!(f32s(&out), [0., 3., 1., 4., 2., 5.]);
    let pair = || vec![(v(&[3]), vec_of(&[3])), (v(&[2]), vec_of(&[2]))];
    let out = Case::new(&cx, "vector.shuffle", pair()).numbers("mask", &[4, 0, 2, 3]).one(v(&[4])).unwrap();
    assert_eq!(f32s(&out), [1., 0., 2., 0.]);
    let out = Case::new(&cx, "vector.shuffle", pair()).numbers("mask", &[0, -1]).one(v(&[2])).unwrap();
    assert_eq!(out.vector().unwrap().data().undefined_count(), 1);
    let rows = vec![(v(&[2, 2]), vec_of(&[2, 2])), (v(&[1, 2]), vec_of(&[1, 2]))];
    let out = Case::new(&cx, "vector.shuffle", rows).numbers("mask", &[2, 1]).one(v(&[2, 2])).unwrap();
    assert_eq!(f32s(&out), [0., 1., 2., 3.]);
    let step = one("vector.step", vec![], cx.vector_type(&[4], Type::INDEX));
    assert_eq!(step.vector().unwrap().data().as_i64().unwrap(), [0, 1, 2, 3]);
    let elements = [1f32, 2.].map(|x| (Type::F32, Value::from(x))).to_vec();
    assert_eq!(f32s(&one("vector.from_elements", elements, v(&[2]))), [1., 2.]);
}

#[test]
fn bitcasts_regroup_bits() {
    let cx = context();
    let bytes = Tensor::from_scalars(DType::I8, &[4], [0, 0, 0x80, 0x3f].map(|b| Scalar::int(b, DType::I8))).unwrap();
    let from = cx.vector_type(&[4], Type::I8);
    let cast = |to| Case::new(&cx, "vector.bitcast", vec![(from, Value::Vector(bytes.clone()))]).one(to);
    assert_eq!(f32s(&cast(cx.vector_type(&[1], Type::F32)).unwrap()), [1.0]);
    let halves = cast(cx.vector_type(&[2], Type::I16)).unwrap();
    assert_eq!(halves.vector().unwrap().at(&[1]).unwrap().as_i64(), Some(0x3f80));
    let same = Case::new(&cx, "vector.bitcast", vec![(cx.vector_type(&[2], Type::F32), vec_of(&[2]))]);
    let same = same.one(cx.vector_type(&[2], Type::I32)).unwrap();
    assert_eq!(same.vector().unwrap().at(&[1]).unwrap().as_i64(), Some(0x3f80_0000));
    assert_eq!(cast(cx.vector_type(&[32], Type::I1)).unwrap_err().kind(), FaultKind::Unsupported);
}

#[test]
fn parts() {
    let cx = context();
    let v = |shape: &[i64]| cx.vector_type(shape, Type::F32);
    let source = || (v(&[2, 3]), vec_of(&[2, 3]));
    let extract = |position: &[i64], to| {
        Case::new(&cx, "vector.extract", vec![source()]).numbers("static_position", position).one(to)
    };
    assert_eq!(extract(&[1, 2], Type::F32).unwrap().scalar().unwrap(), Scalar::f32(5.0));
    assert_eq!(f32s(&extract(&[1], v(&[3])).unwrap()), [3., 4., 5.]);
    assert_eq!(f32s(&extract(&[], v(&[2, 3])).unwrap()).len(), 6);
    assert_eq!(extract(&[-1], v(&[3])).unwrap_err().kind(), FaultKind::Poison);
    let dynamic = |i| {
        Case::new(&cx, "vector.extract", vec![source(), (Type::INDEX, Value::index(i))])
            .numbers("static_position", &[0, DYNAMIC])
            .one(Type::F32)
    };
    assert_eq!(dynamic(1).unwrap().scalar().unwrap(), Scalar::f32(1.0));
    assert_eq!(dynamic(3).unwrap_err().kind(), FaultKind::OutOfBounds);

    let insert = |stored: (Type, Value), position: &[i64]| {
        let case = Case::new(&cx, "vector.insert", vec![stored, source()]);
        f32s(&case.numbers("static_position", position).one(v(&[2, 3])).unwrap())
    };
    assert_eq!(insert((Type::F32, Value::from(9f32)), &[0, 1]), [0., 9., 2., 3., 4., 5.]);
    assert_eq!(insert((v(&[3]), vec_of(&[3])), &[1]), [0., 1., 2., 0., 1., 2.]);

    let slice = Case::new(&cx, "vector.extract_strided_slice", vec![(v(&[3, 2]), vec_of(&[3, 2]))]);
    let slice = slice.list("offsets", &[1]).list("sizes", &[2]).list("strides", &[1]).one(v(&[2, 2])).unwrap();
    assert_eq!(f32s(&slice), [2., 3., 4., 5.]);
    let put =
        Case::new(&cx, "vector.insert_strided_slice", vec![(v(&[2]), vec_of(&[2])), (v(&[2, 3]), vec_of(&[2, 3]))]);
    let put = put.list("offsets", &[0, 1]).list("strides", &[1]).one(v(&[2, 3])).unwrap();
    assert_eq!(f32s(&put), [0., 0., 1., 3., 4., 5.]);
}

#[test]
fn masks() {
    let cx = context();
    let ty = cx.vector_type(&[2, 3], Type::I1);
    let bits = |v: Value| {
        (0..6).map(|i| v.vector().unwrap().at(&[i / 3, i % 3]).unwrap().as_bool().unwrap()).collect::<Vec<_>>()
    };
    let create = |m, n| {
        let args = [m, n].map(|i| (Type::INDEX, Value::index(i))).to_vec();
        bits(Case::new(&cx, "vector.create_mask", args).one(ty).unwrap())
    };
    assert_eq!(create(1, 2), [true, true, false, false, false, false]);
    assert_eq!(create(5, -1), [false; 6]);
    assert_eq!(create(2, 100), [true; 6]);
    let constant = Case::new(&cx, "vector.constant_mask", vec![]).numbers("mask_dim_sizes", &[2, 1]).one(ty).unwrap();
    assert_eq!(bits(constant), [true, false, false, true, false, false]);
}

#[test]
fn computing() {
    let cx = context();
    let v = cx.vector_type(&[3], Type::F32);
    let reduce = |kind, acc: Option<f32>| {
        let mut args = vec![(v, vec_of(&[3]))];
        args.extend(acc.map(|a| (Type::F32, Value::from(a))));
        Case::new(&cx, "vector.reduction", args).kind(kind).one(Type::F32).unwrap().scalar().unwrap()
    };
    assert_eq!(reduce(CombiningKind::Add, None), Scalar::f32(3.0));
    assert_eq!(reduce(CombiningKind::Add, Some(10.0)), Scalar::f32(13.0));
    assert_eq!(reduce(CombiningKind::MaximumF, Some(1.5)), Scalar::f32(2.0));
    let fma = Case::new(&cx, "vector.fma", vec![(v, vec_of(&[3])), (v, vec_of(&[3])), (v, vec_of(&[3]))]);
    assert_eq!(f32s(&fma.one(v).unwrap()), [0., 2., 6.]);
    let w = cx.vector_type(&[2], Type::F32);
    let m = cx.vector_type(&[2, 3], Type::F32);
    let outer = |acc: bool| {
        let mut args = vec![(w, vec_of(&[2])), (v, vec_of(&[3]))];
        args.extend(acc.then(|| (m, vec_of(&[2, 3]))));
        f32s(&Case::new(&cx, "vector.outerproduct", args).kind(CombiningKind::Add).one(m).unwrap())
    };
    assert_eq!(outer(false), [0., 0., 0., 0., 1., 2.]);
    assert_eq!(outer(true), [0., 1., 2., 3., 5., 7.]);
    let scaled = Case::new(&cx, "vector.outerproduct", vec![(v, vec_of(&[3])), (Type::F32, Value::from(2f32))]);
    assert_eq!(f32s(&scaled.kind(CombiningKind::Add).one(v).unwrap()), [0., 2., 4.]);
}

fn ix(i: i64) -> (Type, Value) {
    (Type::INDEX, Value::index(i))
}

#[test]
fn plain_and_masked_access() {
    let cx = context();
    let (ty, v) = (cx.memref_type(&[2, 4], Type::F32, None, None), cx.vector_type(&[3], Type::F32));
    let memory = || (ty, Value::Tensor(counted(&[2, 4])));
    let load = |i, j| Case::new(&cx, "vector.load", vec![memory(), ix(i), ix(j)]).one(v);
    assert_eq!(f32s(&load(1, 1).unwrap()), [5., 6., 7.]);
    let error = load(1, 2).unwrap_err();
    assert_eq!(error.to_string(), "'vector.load' op index 4 is out of bounds for dimension 1 with size 4");
    let store = Case::new(&cx, "vector.store", vec![(v, vec_of(&[3])), memory(), ix(0), ix(1)]);
    assert_eq!(store.run(&[]).unwrap().1[0].data().as_f32().unwrap(), [0., 0., 1., 2., 4., 5., 6., 7.]);

    let mask_ty = cx.vector_type(&[3], Type::I1);
    let mask = |bits: [bool; 3]| {
        (mask_ty, Value::Vector(Tensor::from_scalars(DType::I1, &[3], bits.map(Scalar::bool)).unwrap()))
    };
    let masked = |j, bits| {
        Case::new(&cx, "vector.maskedload", vec![memory(), ix(1), ix(j), mask(bits), (v, vec_of(&[3]))]).one(v)
    };
    // Lanes that are masked off may lie outside.
    assert_eq!(f32s(&masked(3, [true, false, false]).unwrap()), [7., 1., 2.]);
    assert_eq!(masked(3, [true, true, false]).unwrap_err().kind(), FaultKind::OutOfBounds);
    let args = vec![memory(), ix(0), ix(2), mask([false, true, false]), (v, vec_of(&[3]))];
    let after = Case::new(&cx, "vector.maskedstore", args).run(&[]).unwrap().1;
    assert_eq!(after[0].data().as_f32().unwrap(), [0., 1., 2., 1., 4., 5., 6., 7.]);
}

#[test]
fn transfers() {
    let cx = context();
    let v = |shape: &[i64]| cx.vector_type(shape, Type::F32);
    let map = |results: &[Option<u32>]| {
        let exprs: Vec<_> =
            results.iter().map(|r| r.map_or_else(|| cx.affine_const(0), |d| cx.affine_dim(d))).collect();
        cx.affine_map_attr(cx.affine_map(2, 0, &exprs))
    };
    let bools = |list: &[bool]| cx.array_attr(&list.iter().map(|&b| cx.bool_attr(b)).collect::<Vec<_>>());
    let tensor_ty = cx.tensor_type(&[2, 3], Type::F32, None);
    let memref_ty = cx.memref_type(&[2, 3], Type::F32, None, None);
    let read = |ty, at: [i64; 2], to, results: &[Option<u32>], inside: &[bool]| {
        let args = vec![(ty, Value::Tensor(counted(&[2, 3]))), ix(at[0]), ix(at[1]), (Type::F32, Value::from(-1f32))];
        Case::new(&cx, "vector.transfer_read", args)
            .prop("permutation_map", map(results))
            .prop("in_bounds", bools(inside))
            .segments(&[1, 2, 1, 0])
            .one(to)
    };
    for ty in [tensor_ty, memref_ty] {
        let plain = read(ty, [1, 1], v(&[4]), &[Some(1)], &[false]).unwrap();
        assert_eq!(f32s(&plain), [4., 5., -1., -1.]);
        let turned = read(ty, [0, 1], v(&[3, 2]), &[Some(1), Some(0)], &[false, true]).unwrap();
        assert_eq!(f32s(&turned), [1., 4., 2., 5., -1., -1.]);
        let repeated = read(ty, [0, 1], v(&[2, 2]), &[None, Some(1)], &[true, true]).unwrap();
        assert_eq!(f32s(&repeated), [1., 2., 1., 2.]);
        let error = read(ty, [1, 1], v(&[4]), &[Some(1)], &[true]).unwrap_err();
        assert_eq!(error.kind(), FaultKind::OutOfBounds);
    }
    let mask_ty = cx.vector_type(&[2], Type::I1);
    let mask = Value::Vector(Tensor::from_scalars(DType::I1, &[2], [true, false].map(Scalar::bool)).unwrap());
    let write = |ty, at: [i64; 2], results: &[Type], mask: Option<Value>| {
        let mut args = vec![(v(&[2]), Value::Vector(Tensor::splat(Scalar::f32(9.0), &[2]).unwrap()))];
        args.extend([(ty, Value::Tensor(counted(&[2, 3]))), ix(at[0]), ix(at[1])]);
        let masks = i32::from(mask.is_some());
        args.extend(mask.map(|m| (mask_ty, m)));
        Case::new(&cx, "vector.transfer_write", args)
            .prop("permutation_map", map(&[Some(1)]))
            .prop("in_bounds", bools(&[false]))
            .segments(&[1, 1, 2, masks])
            .run(results)
    };
    let (out, _) = write(tensor_ty, [0, 2], &[tensor_ty], None).unwrap();
    assert_eq!(f32s(&out[0]), [0., 1., 9., 3., 4., 5.]);
    let (_, after) = write(memref_ty, [1, 0], &[], None).unwrap();
    assert_eq!(after[0].data().as_f32().unwrap(), [0., 1., 2., 9., 9., 5.]);
    let (_, after) = write(memref_ty, [1, 0], &[], Some(mask)).unwrap();
    assert_eq!(after[0].data().as_f32().unwrap(), [0., 1., 2., 9., 4., 5.]);
}
