//! Tensors, memory, comparison, random inputs, equivalence.

mod common;

use common::*;
use sutura_interp::compare::compare_in;
use sutura_interp::*;
use sutura_ir::types::{DYNAMIC, FloatKind};
use sutura_ir::{Context, Module, Type};

#[test]
fn buffers_hold_every_type_exactly() {
    for dtype in [DType::I1, DType::int(4), DType::int(12), DType::int(33), DType::I64, DType::BF16, DType::F64] {
        let values: Vec<Scalar> =
            (0..16u64).map(|i| Scalar::from_bits(dtype, i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let tensor = Tensor::from_scalars(dtype, &[4, 4], values.clone()).unwrap();
        for (i, value) in values.iter().enumerate() {
            assert_eq!(tensor.at(&[i as i64 / 4, i as i64 % 4]).unwrap(), *value);
        }
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.bits().to_le_bytes()[..dtype.bytes()].to_vec()).collect();
        assert_eq!(&Buffer::from_le_bytes(dtype, &bytes).unwrap(), tensor.data());
    }
    assert!(Buffer::from_le_bytes(DType::F32, &[0; 6]).is_err());
}

#[test]
fn tensors_check_bounds_and_definedness() {
    let mut t = Tensor::undefined(DType::F32, &[2, 3]).unwrap();
    assert_eq!(t.at(&[1, 2]).unwrap_err().kind, FaultKind::Uninitialised);
    assert_eq!(t.data().undefined_count(), 6);
    t.data_mut().set(5, Some(Scalar::f32(7.0)));
    assert_eq!(t.at(&[1, 2]).unwrap(), Scalar::f32(7.0));
    for bad in [[2, 0], [-1, 0], [0, 3]] {
        assert_eq!(t.at(&bad).unwrap_err().kind, FaultKind::OutOfBounds);
    }
    assert_eq!(t.at(&[0]).unwrap_err().kind, FaultKind::ShapeMismatch);
    assert!(t.reshape(&[5]).is_err());
    assert_eq!(Tensor::zeros(DType::F64, &[1 << 40, 1 << 40]).unwrap_err().kind, FaultKind::Limit);
    assert_eq!(Tensor::zeros(DType::F64, &[1 << 40, 0, 1 << 40]).unwrap().len(), 0);
    assert!(Tensor::from_f32(vec![0.0; 5], &[2, 3]).is_err());
}

#[test]
fn undefined_elements_stay_undefined_through_elementwise_ops() {
    let mut a = Tensor::undefined(DType::I32, &[3]).unwrap();
    a.data_mut().set(1, Some(Scalar::int(6, DType::I32)));
    let divisor = Value::from(Scalar::int(2, DType::I32));
    let out = elementwise::apply(NumOp::DivSI { exact: false }, &[&Value::Tensor(a), &divisor], None).unwrap();
    let out = out.tensor().unwrap();
    assert_eq!(out.at(&[1]).unwrap().as_i64(), Some(3));
    assert_eq!(out.data().undefined_count(), 2);
}

#[test]
fn memory_is_strided_and_checked() {
    let mut memory = Memory::default();
    let source = Tensor::from_f32((0..12).map(|i| i as f32).collect(), &[3, 4]).unwrap();
    let whole = memory.alloc_from(&source, None).unwrap();
    assert!(whole.layout.is_contiguous());
    // The transpose of columns 1 and 3.
    let window = whole.layout.slice(&[0, 1], &[3, 2], &[1, 2]).unwrap().permute(&[1, 0]).unwrap();
    assert_eq!((window.offset, &window.sizes[..], &window.strides[..]), (1, &[2, 3][..], &[2, 4][..]));
    let window = whole.with_layout(window);
    assert!(!window.layout.is_contiguous());
    assert_eq!(memory.read(&window).unwrap().data().as_f32().unwrap(), [1.0, 5.0, 9.0, 3.0, 7.0, 11.0]);
    memory.write(&window, &Tensor::splat(Scalar::f32(-1.0), &[2, 3]).unwrap()).unwrap();
    let expected = [0.0, -1.0, 2.0, -1.0, 4.0, -1.0, 6.0, -1.0, 8.0, -1.0, 10.0, -1.0];
    assert_eq!(memory.read(&whole).unwrap().data().as_f32().unwrap(), expected);
    assert_eq!(memory.load(&window, &[2, 0]).unwrap_err().kind, FaultKind::OutOfBounds);
    let beyond = window.with_layout(Layout { offset: 4, ..window.layout.clone() });
    assert_eq!(memory.read(&beyond).unwrap_err().kind, FaultKind::OutOfBounds);
    assert_eq!(memory.load(&beyond, &[1, 2]).unwrap_err().kind, FaultKind::OutOfBounds);
    let wrong = memory.store(&whole, &[0, 0], Some(Scalar::f64(0.0)));
    assert_eq!(wrong.unwrap_err().kind, FaultKind::TypeMismatch);

    let fresh = memory.alloc(DType::F32, &[2], None).unwrap();
    assert_eq!(memory.load(&fresh, &[0]).unwrap_err().kind, FaultKind::Uninitialised);
    assert_eq!(memory.live_bytes(), 56);
    memory.free(&whole).unwrap();
    assert_eq!((memory.live_bytes(), memory.peak_bytes()), (8, 56));
    assert_eq!(memory.load(&window, &[0, 0]).unwrap_err().kind, FaultKind::UseAfterFree);
    assert_eq!(memory.free(&whole).unwrap_err().kind, FaultKind::UseAfterFree);
    memory.limit = 100;
    assert_eq!(memory.alloc(DType::F64, &[100], None).unwrap_err().kind, FaultKind::Limit);
}

#[test]
fn slices_are_checked_and_reduced() {
    let layout = Layout::row_major(&[4, 1, 5]);
    let slice = layout.slice(&[3, 0, 4], &[2, 1, 3], &[-3, 1, -2]).unwrap();
    assert_eq!((slice.offset, &slice.strides[..]), (19, &[-15, 5, -2][..]));
    let t = Tensor::from_i64((0..20).collect(), &[4, 1, 5]).unwrap();
    assert_eq!(t.window(&slice).unwrap().data().as_i64().unwrap(), [19, 17, 15, 4, 2, 0]);
    assert_eq!(&slice.drop_unit_dims(&[2, 3]).unwrap().sizes[..], [2, 3]);
    assert_eq!(&slice.drop_unit_dims(&[-1, -1]).unwrap().sizes[..], [2, 3]);
    assert_eq!(slice.drop_unit_dims(&[2]).unwrap_err().kind, FaultKind::ShapeMismatch);
    let unit = Layout::row_major(&[1, 1, 3]);
    assert_eq!(&unit.drop_unit_dims(&[1, 3]).unwrap().sizes[..], [1, 3]);
    assert_eq!(&unit.drop_unit_dims(&[-1, -1]).unwrap().sizes[..], [1, 3]);
    for (offset, size, step) in [(2, 3, 1), (-1, 1, 1), (0, 5, 1), (3, 2, 1), (0, 2, 4)] {
        let bad = layout.slice(&[offset, 0, 0], &[size, 1, 5], &[step, 1, 1]).unwrap_err();
        assert_eq!(bad.kind, FaultKind::OutOfBounds, "{offset} {size} {step}");
    }
    // An empty slice may start at the end.
    assert_eq!(layout.slice(&[4, 0, 0], &[0, 1, 5], &[1, 1, 1]).unwrap().num_elements().unwrap(), 0);
    assert!(layout.slice(&[0, 0, 0], &[-1, 1, 5], &[1, 1, 1]).is_err());
    assert!(layout.permute(&[0, 0, 1]).is_err() && layout.permute(&[0, 1]).is_err());
    let turned = t.transpose(&[2, 1, 0]).unwrap();
    assert_eq!(turned.shape(), [5, 1, 4]);
    assert_eq!(turned.at(&[3, 0, 2]).unwrap(), t.at(&[2, 0, 3]).unwrap());
}

#[test]
fn values_must_fit_their_types() {
    let cx = context();
    let tensor = Value::tensor_f32(vec![0.0; 6], &[2, 3]).unwrap();
    let fits = |v: &Value, ty| v.check_type(&cx, ty).map_err(|f| f.kind);
    assert_eq!(fits(&tensor, cx.tensor_type(&[DYNAMIC, 3], Type::F32, None)), Ok(()));
    assert_eq!(fits(&tensor, cx.tensor_type(&[2, 4], Type::F32, None)), Err(FaultKind::ShapeMismatch));
    assert_eq!(fits(&tensor, cx.tensor_type(&[2], Type::F32, None)), Err(FaultKind::ShapeMismatch));
    assert_eq!(fits(&tensor, cx.tensor_type(&[2, 3], Type::F64, None)), Err(FaultKind::TypeMismatch));
    assert_eq!(fits(&tensor, cx.vector_type(&[2, 3], Type::F32)), Err(FaultKind::TypeMismatch));
    assert_eq!(fits(&Value::index(1), Type::I64), Err(FaultKind::TypeMismatch));
    assert_eq!(fits(&Value::int(1, 64), Type::I64), Ok(()));
}

#[test]
fn comparison_counts_and_locates() {
    let a = Value::tensor_f32(vec![1.0, 2.0, f32::NAN, 0.0], &[2, 2]).unwrap();
    let b = Value::tensor_f32(vec![1.0, 2.5, f32::NAN, -0.0], &[2, 2]).unwrap();
    let mismatch = compare(&a, &b, Tolerance::EXACT).unwrap_err();
    assert_eq!((&mismatch.index[..], mismatch.count, mismatch.max_abs), (&[0, 1][..], 1, Some(0.5)));
    assert_eq!(mismatch.to_string(), "at [0, 1]: 2.0 and 2.5; 1 of 4 elements differ, by at most 5e-1");
    assert!(compare(&a, &b, Tolerance { rel: 0.2, ..Tolerance::EXACT }).is_ok());
    assert!(compare(&a, &b, Tolerance { abs: 0.5, ..Tolerance::EXACT }).is_ok());
    let next = Value::from(f32::from_bits(1f32.to_bits() + 2));
    assert!(compare(&Value::from(1f32), &next, Tolerance { ulp: 2, ..Tolerance::EXACT }).is_ok());
    assert!(compare(&Value::from(1f32), &next, Tolerance { ulp: 1, ..Tolerance::EXACT }).is_err());
    let (tiny, minus) = (Value::from(f32::from_bits(1)), Value::from(-f32::from_bits(1)));
    assert!(compare(&tiny, &minus, Tolerance { ulp: 2, ..Tolerance::EXACT }).is_ok());
    let infinity = Value::from(f32::INFINITY);
    assert!(compare(&infinity, &Value::from(f32::MAX), Tolerance { abs: 1e40, rel: 2.0, ulp: 99 }).is_err());
    assert!(compare(&a, &a.tensor().unwrap().reshape(&[4]).map(Value::Tensor).unwrap(), Tolerance::EXACT).is_err());
    let undefined = Value::Tensor(Tensor::undefined(DType::F32, &[2, 2]).unwrap());
    assert!(compare(&undefined, &a, Tolerance::EXACT).is_ok());
    assert_eq!(compare(&a, &undefined, Tolerance::EXACT).unwrap_err().right, "undefined");
}

#[test]
fn random_arguments_are_deterministic_and_fit() {
    let cx = context();
    let types = [
        cx.tensor_type(&[DYNAMIC, 3], Type::F32, None),
        Type::INDEX,
        Type::I1,
        cx.memref_type(&[4], Type::F16, None, None),
        cx.vector_type(&[2], Type::I8),
    ];
    let dims = vec![vec![2, 3]];
    let make = |seed| {
        let mut memory = Memory::default();
        let args = random_arguments(&cx, &types, &dims, &mut Random::new(seed), &mut memory).unwrap();
        (args, memory)
    };
    let ((a, ma), (b, mb), (c, mc)) = (make(1), make(1), make(2));
    for (x, y) in a.iter().zip(&b) {
        assert_eq!(compare_in((x, &ma), (y, &mb), Tolerance::EXACT), Ok(()));
    }
    assert!(compare(&a[0], &c[0], Tolerance::EXACT).is_err());
    assert!(compare_in((&a[3], &ma), (&c[3], &mc), Tolerance::EXACT).is_err());
    let none: Vec<Vec<usize>> = vec![];
    let error = random_arguments(&cx, &types, &none, &mut Random::new(0), &mut Memory::default()).unwrap_err();
    assert_eq!(error.message, "argument 0: its dynamic dimensions were given no sizes");
    let wrong = vec![vec![2, 4]];
    assert!(random_arguments(&cx, &types, &wrong, &mut Random::new(0), &mut Memory::default()).is_err());
}

/// `@f(t, m)`: stores `value` to m and returns t + t.
fn sample(cx: &Context, value: i64, divide: bool) -> Module {
    let mut m = module(cx);
    let tensor = cx.tensor_type(&[DYNAMIC], Type::F32, None);
    let memref = cx.memref_type(&[2], Type::I32, None, None);
    add_func(cx, &mut m, "f", &[tensor, memref], |b, _, args| {
        let mut number = constant(b, value, Type::I32);
        if divide {
            let zero = constant(b, 0, Type::I32);
            number = emit(b, &DIV, &[number, zero], &[Type::I32])[0];
        }
        emit(b, &STORE, &[number, args[1]], &[]);
        let sum = emit(b, &ADDF, &[args[0], args[0]], &[tensor]);
        emit(b, &RETURN, &sum, &[]);
    });
    m
}

#[test]
fn equivalence_sees_results_memory_and_faults() {
    let cx = context();
    let (m, other, faulty) = (sample(&cx, 1, false), sample(&cx, 2, false), sample(&cx, 1, true));
    let dims = vec![vec![5]];
    let trials = Trials::new(&[1, 2, 3], &dims);
    let agreement = equivalent(&cx, &m, &m, "f", trials).unwrap();
    assert_eq!(agreement, Agreement { compared: 3, undefined: 0 });
    let difference = equivalent(&cx, &m, &other, "f", trials).unwrap_err().to_string();
    assert_eq!(difference, "seed 1: argument 1 differs: at [0]: 1 and 2; 1 of 2 elements differ");
    let difference = equivalent(&cx, &m, &faulty, "f", trials).unwrap_err();
    assert!(matches!(difference, Difference::After { seed: 1, .. }), "{difference}");
    let difference = equivalent(&cx, &faulty, &m, "f", trials).unwrap_err();
    assert!(matches!(difference, Difference::Vacuous { .. }), "{difference}");
    let difference = equivalent(&cx, &m, &m, "g", trials).unwrap_err();
    assert_eq!(difference.to_string(), "no function @g with a body");
    assert!(equivalent(&cx, &m, &m, "f", Trials::new(&[], &dims)).is_err());
}

#[test]
fn constants_become_values() {
    let cx = context();
    let value = |attr| constant::constant(&cx, attr);
    assert_eq!(value(cx.int_attr(-3, Type::I8)).unwrap().as_int().unwrap(), -3);
    let half = value(cx.float_attr(0.5, Type::BF16)).unwrap().scalar().unwrap();
    assert_eq!(half, Scalar::float(0.5, FloatKind::BF16));
    let ty = cx.tensor_type(&[2, 2], Type::I1, None);
    let dense = |data: &[u8], splat| cx.attr(sutura_ir::AttrData::Dense { ty, data: cx.blob(data), splat });
    let t = value(dense(&[1, 0, 0, 1], false)).unwrap();
    assert_eq!(t.tensor().unwrap().at(&[1, 1]).unwrap().as_bool(), Some(true));
    assert_eq!(value(dense(&[1], true)).unwrap().tensor().unwrap().len(), 4);
    assert!(value(dense(&[1, 0], false)).is_err());
    assert!(value(cx.string_attr("no")).is_err());
}

#[test]
fn memory_can_be_read_as_another_type() {
    let mut memory = Memory::default();
    let bytes = memory.alloc(DType::I8, &[16], None).unwrap();
    // f32 elements from byte 4 on, then from byte 2 on, where they are not aligned.
    let floats = MemRef { dtype: DType::F32, base: 4, layout: Layout::row_major(&[3]), ..bytes.clone() };
    assert_eq!(memory.load(&floats, &[0]).unwrap_err().kind, FaultKind::Uninitialised);
    let values = Tensor::from_f32(vec![1.0, -2.5, 1e-40], &[3]).unwrap();
    memory.write(&floats, &values).unwrap();
    assert_eq!(memory.read(&floats).unwrap(), values);
    assert_eq!(memory.load(&bytes, &[7]).unwrap().as_u64(), Some(0x3f));
    let shifted = MemRef { base: 5, ..floats.clone() };
    assert_eq!(memory.get(&shifted, &[0]).unwrap().unwrap().bits(), u64::from(1f32.to_bits() >> 8));
    assert_eq!(memory.get(&shifted, &[2]).unwrap_err().kind, FaultKind::OutOfBounds);
    assert_eq!(memory.read(&MemRef { base: 0, ..floats.clone() }).unwrap().data().undefined_count(), 1);
    memory.store(&floats, &[0], None).unwrap();
    assert_eq!(memory.get(&bytes, &[5]).unwrap(), None);

    // A part of a wider element can be written only where the rest is known.
    let wide = memory.alloc(DType::F64, &[1], None).unwrap();
    let half = MemRef { dtype: DType::F32, ..wide.clone() };
    assert_eq!(memory.store(&half, &[0], Some(Scalar::f32(0.0))).unwrap_err().kind, FaultKind::Uninitialised);
    memory.store(&wide, &[0], Some(Scalar::f64(2.0))).unwrap();
    memory.store(&half, &[0], Some(Scalar::from_bits(DType::F32, 1))).unwrap();
    assert_eq!(memory.load(&wide, &[0]).unwrap().bits(), 2f64.to_bits() | 1);
}

#[test]
fn addresses_lead_back_to_memory() {
    let mut memory = Memory::default();
    let (a, b) = (memory.alloc(DType::F32, &[4], None).unwrap(), memory.alloc(DType::I64, &[2], None).unwrap());
    let (pa, pb) = (memory.address(&a).unwrap(), memory.address(&b).unwrap());
    let third = memory.at_address(pa + 8, DType::F32, 2).unwrap();
    memory.write(&third, &Tensor::from_f32(vec![5.0, 6.0], &[2]).unwrap()).unwrap();
    assert_eq!(memory.load(&a, &[3]).unwrap(), Scalar::f32(6.0));
    assert_eq!(memory.address(&third).unwrap(), pa + 8);
    // Pointers are numbers and can be stored.
    memory.store(&b, &[1], Some(Scalar::int(pa, DType::I64))).unwrap();
    let stored = memory.load(&memory.at_address(pb + 8, DType::I64, 1).unwrap(), &[0]).unwrap().as_i64().unwrap();
    assert_eq!(stored, pa);
    let kind = |r: Result<Tensor, Fault>| r.unwrap_err().kind;
    for bad in [pa + 12, pa - 4] {
        assert_eq!(kind(memory.at_address(bad, DType::F32, 2).and_then(|m| memory.read(&m))), FaultKind::OutOfBounds);
    }
    for nobody in [0, 17, pb + (1 << 40)] {
        assert_eq!(memory.at_address(nobody, DType::F32, 1).unwrap_err().kind, FaultKind::OutOfBounds);
    }
    memory.free(&a).unwrap();
    assert_eq!(kind(memory.at_address(pa, DType::F32, 1).and_then(|m| memory.read(&m))), FaultKind::UseAfterFree);
}
