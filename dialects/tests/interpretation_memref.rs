//! What memref ops do when a program runs.

mod common;
use common::{AT, context, define, int, module};
use sutura_dialects::{arith, memref, scf};
use sutura_interp::{DType, FaultKind, InterpError, Interpreter, Scalar, Tensor, Value};
use sutura_ir::{Attr, AttrData, Builder, Context, DYNAMIC, OpState, Type, Value as Ssa};

/// Runs a function of one memref and some indices; gives its results and what the memory holds after.
fn run(
    cx: &Context,
    ty: Type,
    value: &Tensor,
    indices: &[i64],
    results: &[Type],
    fill: impl FnOnce(&mut Builder<'_>, Ssa, &[Ssa]) -> Vec<Ssa>,
) -> Result<(Vec<Value>, Vec<Tensor>, Tensor), InterpError> {
    let mut inputs = vec![ty];
    inputs.extend(indices.iter().map(|_| Type::INDEX));
    let m = module(cx, |b| define(b, "main", &inputs, results, |b, args| fill(b, args[0], &args[1..])));
    let mut interpreter = Interpreter::new(cx, &m);
    let memref = interpreter.memory().alloc_from(value, None).unwrap();
    let mut args = vec![Value::from(memref.clone())];
    args.extend(indices.iter().map(|&i| Value::index(i)));
    let out = interpreter.call("main", &args)?;
    let memory = interpreter.memory();
    let read = out.iter().filter_map(|v| v.memref().ok()).map(|m| memory.read(m).unwrap()).collect();
    let after = memory.read(&memref).unwrap();
    Ok((out, read, after))
}

fn counted(shape: &[usize]) -> Tensor {
    let len: usize = shape.iter().product();
    Tensor::from_f32((0..len).map(|i| i as f32).collect(), shape).unwrap()
}

fn f32s(tensor: &Tensor) -> Vec<f32> {
    tensor.data().as_f32().unwrap().to_vec()
}

fn strided(cx: &Context, offset: i64, strides: &[i64]) -> Option<Attr> {
    Some(cx.attr(AttrData::Strided { offset, strides: cx.int_list(strides) }))
}

/// An op with lists of offsets, sizes and strides.
fn sliced(
    b: &mut Builder<'_>,
    name: &str,
    source: Ssa,
    dynamic: &[&[Ssa]; 3],
    lists: [&[i64]; 3],
    result: Type,
) -> Ssa {
    let cx = b.cx();
    let mut state = OpState::new(cx.op_name(name), AT).operands([source]).results([result]);
    let mut segments = vec![1];
    for values in dynamic {
        state = state.operands(values.iter().copied());
        segments.push(values.len() as i32);
    }
    for (name, list) in ["static_offsets", "static_sizes", "static_strides"].into_iter().zip(lists) {
        state = state.prop(cx.ident(name), cx.i64_array(list));
    }
    let op = b.create(state.prop(cx.ident("operandSegmentSizes"), cx.i32_array(&segments)));
    b.body().result(op, 0)
}

fn groups(cx: &Context, groups: &[&[i64]]) -> Attr {
    let list = |g: &&[i64]| cx.array_attr(&g.iter().map(|&d| cx.int_attr(d, Type::I64)).collect::<Vec<_>>());
    cx.array_attr(&groups.iter().map(list).collect::<Vec<_>>())
}

#[test]
fn loads_stores_and_sizes() {
    let cx = context();
    let ty = cx.memref_type(&[DYNAMIC, 3], Type::F32, None, None);
    let at = |i: i64, j: i64| {
        run(&cx, ty, &counted(&[2, 3]), &[i, j], &[Type::F32], |b, m, index| {
            let old = memref::LoadOp::value(b, AT, m, index, None);
            let new = arith::AddFOp::value(b, AT, old, old);
            memref::StoreOp::build(b, AT, new, m, index, None);
            vec![old]
        })
    };
    let (out, _, after) = at(1, 2).unwrap();
    assert_eq!(out[0].scalar().unwrap(), Scalar::f32(5.0));
    assert_eq!(f32s(&after), [0., 1., 2., 3., 4., 10.]);
    let error = at(2, 0).unwrap_err();
    assert_eq!(error.to_string(), "'memref.load' op index 2 is out of bounds for dimension 0 with size 2");
    let dim = |d: i64| {
        run(&cx, ty, &counted(&[2, 3]), &[d], &[Type::INDEX, Type::INDEX], |b, m, index| {
            vec![memref::DimOp::value(b, AT, m, index[0]), memref::RankOp::value(b, AT, m)]
        })
    };
    assert_eq!(common::ints(dim(0).unwrap().0), [2, 2]);
    assert_eq!(dim(2).unwrap_err().kind(), FaultKind::OutOfBounds);
}

/// `memref.alloc` or `memref.alloca` of a type whose one dynamic size is given.
fn allocate(b: &mut Builder<'_>, name: &str, size: Ssa, ty: Type) -> Ssa {
    let cx = b.cx();
    let state = OpState::new(cx.op_name(name), AT).operands([size]).results([ty]);
    let op = b.create(state.prop(cx.ident("operandSegmentSizes"), cx.i32_array(&[1, 0])));
    b.body().result(op, 0)
}

#[test]
fn memory_has_a_life() {
    let cx = context();
    let ty = cx.memref_type(&[DYNAMIC], Type::F32, None, None);
    // Allocates, writes element 0 if asked to, frees if asked to, reads.
    let life = |name: &'static str, write: bool, free: bool| {
        run(&cx, ty, &counted(&[1]), &[4], &[Type::F32], |b, _, index| {
            let m = allocate(b, name, index[0], ty);
            let zero = int(b, 0, Type::INDEX);
            if write {
                let value = b.cx().f32_attr(2.0);
                let value = arith::ConstantOp::value(b, AT, value);
                memref::StoreOp::build(b, AT, value, m, &[zero], None);
            }
            if free {
                memref::DeallocOp::build(b, AT, m);
            }
            vec![memref::LoadOp::value(b, AT, m, &[zero], None)]
        })
        .map(|out| out.0[0].scalar().unwrap())
    };
    assert_eq!(life("memref.alloc", true, false).unwrap(), Scalar::f32(2.0));
    assert_eq!(life("memref.alloca", true, false).unwrap(), Scalar::f32(2.0));
    assert_eq!(life("memref.alloc", false, false).unwrap_err().kind(), FaultKind::Uninitialised);
    let error = life("memref.alloc", true, true).unwrap_err();
    assert_eq!((error.kind(), error.op_name()), (FaultKind::UseAfterFree, Some("memref.load")));

    // Memory on the stack ends with its function, other memory does not.
    let escape = |name: &'static str| {
        let m = module(&cx, |b| {
            define(b, "main", &[Type::INDEX], &[ty], |b, args| vec![allocate(b, name, args[0], ty)]);
        });
        let mut interpreter = Interpreter::new(&cx, &m);
        let out = interpreter.call("main", &[Value::index(8)]).unwrap();
        let live = interpreter.memory().live_bytes();
        (live, interpreter.memory().read(out[0].memref().unwrap()).map_err(|f| f.kind).map(|t| t.len()))
    };
    assert_eq!(escape("memref.alloc"), (32, Ok(8)));
    assert_eq!(escape("memref.alloca"), (0, Err(FaultKind::UseAfterFree)));
}

#[test]
fn allocations_follow_static_strides() {
    let cx = context();
    let ty = cx.memref_type(&[DYNAMIC, 2], Type::F32, strided(&cx, 3, &[5, 1]), None);
    let plain = cx.memref_type(&[1], Type::F32, None, None);
    let (out, ..) = run(&cx, plain, &counted(&[1]), &[2], &[ty], |b, _, index| {
        let m = allocate(b, "memref.alloc", index[0], ty);
        let value = b.cx().f32_attr(1.0);
        let value = arith::ConstantOp::value(b, AT, value);
        let (zero, one, two) = (int(b, 0, Type::INDEX), int(b, 1, Type::INDEX), int(b, 2, Type::INDEX));
        for size in [zero, one] {
            scf::ForOp::with_body(b, AT, [zero, two, one], &[], |b, j, _| {
                memref::StoreOp::build(b, AT, value, m, &[size, j], None);
                vec![]
            });
        }
        vec![m]
    })
    .unwrap();
    let memref = out[0].memref().unwrap();
    assert_eq!((memref.layout.offset, &memref.layout.strides[..]), (3, &[5, 1][..]));
}

#[test]
fn views_share_memory() {
    let cx = context();
    let ty = cx.memref_type(&[3, 4], Type::F32, None, None);
    let window = cx.memref_type(&[2, DYNAMIC], Type::F32, strided(&cx, DYNAMIC, &[8, 1]), None);
    let view = |offset: i64, size: i64| {
        run(&cx, ty, &counted(&[3, 4]), &[offset, size], &[window], |b, m, index| {
            let dynamic = [&index[..1], &index[1..], &[]];
            let lists: [&[i64]; 3] = [&[0, DYNAMIC], &[2, DYNAMIC], &[2, 1]];
            let v = sliced(b, "memref.subview", m, &dynamic, lists, window);
            let zero = int(b, 0, Type::INDEX);
            let value = b.cx().f32_attr(-1.0);
            let value = arith::ConstantOp::value(b, AT, value);
            memref::StoreOp::build(b, AT, value, v, &[zero, zero], None);
            vec![v]
        })
    };
    let (_, read, after) = view(1, 2).unwrap();
    assert_eq!((read[0].shape(), f32s(&read[0])), (&[2, 2][..], vec![-1., 2., 9., 10.]));
    assert_eq!(f32s(&after)[1], -1.0);
    assert_eq!(view(3, 2).unwrap_err().kind(), FaultKind::OutOfBounds);
    // A view of nothing has no first element.
    assert_eq!(view(1, 0).unwrap_err().op_name(), Some("memref.store"));

    let flat = cx.memref_type(&[6], Type::F32, strided(&cx, 1, &[2]), None);
    let (_, read, _) = run(&cx, ty, &counted(&[3, 4]), &[], &[flat], |b, m, _| {
        vec![sliced(b, "memref.reinterpret_cast", m, &[&[], &[], &[]], [&[1], &[6], &[2]], flat)]
    })
    .unwrap();
    assert_eq!(f32s(&read[0]), [1., 3., 5., 7., 9., 11.]);
}

#[test]
fn reshapes_keep_strides() {
    let cx = context();
    let ty = cx.memref_type(&[2, 6], Type::F32, None, None);
    let expanded = cx.memref_type(&[2, DYNAMIC, 3], Type::F32, None, None);
    let (out, read, _) = run(&cx, ty, &counted(&[2, 6]), &[2], &[expanded], |b, m, index| {
        let cx = b.cx();
        let state = OpState::new(cx.op_name("memref.expand_shape"), AT).operands([m, index[0]]).results([expanded]);
        let state = state.prop(cx.ident("reassociation"), groups(cx, &[&[0], &[1, 2]]));
        let op = b.create(state.prop(cx.ident("static_output_shape"), cx.i64_array(&[2, DYNAMIC, 3])));
        vec![b.body().result(op, 0)]
    })
    .unwrap();
    assert_eq!(&out[0].memref().unwrap().layout.strides[..], [6, 3, 1]);
    assert_eq!(f32s(&read[0]), f32s(&counted(&[12])));

    let collapse = |ty: Type, dims: &[usize], to: Type, gs: Attr| {
        run(&cx, ty, &counted(dims), &[], &[to], |b, m, _| {
            let cx = b.cx();
            let state = OpState::new(cx.op_name("memref.collapse_shape"), AT).operands([m]).results([to]);
            let op = b.create(state.prop(cx.ident("reassociation"), gs));
            vec![b.body().result(op, 0)]
        })
    };
    let (cube, flat) = (cx.memref_type(&[2, 1, 3], Type::F32, None, None), cx.memref_type(&[6], Type::F32, None, None));
    let (_, read, _) = collapse(cube, &[2, 1, 3], flat, groups(&cx, &[&[0, 1, 2]])).unwrap();
    assert_eq!(f32s(&read[0]), f32s(&counted(&[6])));
}

#[test]
fn casts_check_what_they_claim() {
    let cx = context();
    let any = cx.memref_type(&[DYNAMIC, DYNAMIC], Type::F32, strided(&cx, DYNAMIC, &[DYNAMIC, DYNAMIC]), None);
    let cast = |to: Type| {
        run(&cx, any, &counted(&[2, 3]), &[], &[to], |b, m, _| vec![memref::CastOp::value(b, AT, m, to)]).map(|_| ())
    };
    cast(cx.memref_type(&[2, DYNAMIC], Type::F32, strided(&cx, 0, &[3, 1]), None)).unwrap();
    let error = cast(cx.memref_type(&[2, DYNAMIC], Type::F32, strided(&cx, 0, &[4, 1]), None)).unwrap_err();
    assert_eq!(error.to_string(), "'memref.cast' op dimension 0 has stride 3 where the type says 4");
    assert_eq!(cast(cx.memref_type(&[3, 3], Type::F32, None, None)).unwrap_err().kind(), FaultKind::ShapeMismatch);
}

#[test]
fn copies_and_byte_views() {
    let cx = context();
    let ty = cx.memref_type(&[4], Type::F32, None, None);
    let bytes = cx.memref_type(&[DYNAMIC], Type::I8, None, None);
    let copy = |shift: i64| {
        run(&cx, ty, &counted(&[4]), &[20, shift], &[ty], |b, m, index| {
            let buffer = allocate(b, "memref.alloc", index[0], bytes);
            let view = memref::ViewOp::value(b, AT, buffer, index[1], &[], ty);
            memref::CopyOp::build(b, AT, m, view);
            vec![view]
        })
    };
    assert_eq!(f32s(&copy(4).unwrap().1[0]), [0., 1., 2., 3.]);
    assert_eq!(f32s(&copy(1).unwrap().1[0]), [0., 1., 2., 3.]);
    let error = copy(5).unwrap_err();
    assert_eq!(error.to_string(), "'memref.view' op 16 bytes from byte 5 on lie outside a buffer of 20");
}

#[test]
fn globals_are_made_once() {
    let cx = context();
    let ty = cx.memref_type(&[2], Type::F32, None, None);
    let tensor = cx.tensor_type(&[2], Type::F32, None);
    let data: Vec<u8> = [3f32, 4f32].iter().flat_map(|v| v.to_le_bytes()).collect();
    let value = cx.attr(AttrData::Dense { ty: tensor, data: cx.blob(&data), splat: false });
    let m = module(&cx, |b| {
        for (name, value) in [("table", Some(value)), ("scratch", Some(Attr::UNIT)), ("elsewhere", None)] {
            memref::GlobalOp::build(b, AT, name, None, ty, value, false, None);
            define(b, &format!("first_of_{name}"), &[], &[Type::F32], |b, _| {
                let m = memref::GetGlobalOp::value(b, AT, name, ty);
                let zero = int(b, 0, Type::INDEX);
                let old = memref::LoadOp::value(b, AT, m, &[zero], None);
                let new = arith::AddFOp::value(b, AT, old, old);
                memref::StoreOp::build(b, AT, new, m, &[zero], None);
                vec![old]
            });
        }
    });
    let mut interpreter = Interpreter::new(&cx, &m);
    let mut first = |name: &str| interpreter.call(&format!("first_of_{name}"), &[]).map(|v| v[0].scalar().unwrap());
    assert_eq!([first("table").unwrap(), first("table").unwrap()], [3f32, 6f32].map(Scalar::f32));
    assert_eq!(first("scratch").unwrap_err().kind(), FaultKind::Uninitialised);
    let error = first("elsewhere").unwrap_err();
    assert_eq!(error.to_string(), "'memref.get_global' op the global @elsewhere is defined elsewhere");
}

#[test]
fn pointers_are_addresses() {
    let cx = context();
    let ty = cx.memref_type(&[4], Type::F32, None, None);
    let m = module(&cx, |b| {
        define(b, "main", &[ty], &[Type::INDEX], |b, args| {
            vec![memref::ExtractAlignedPointerAsIndexOp::value(b, AT, args[0])]
        });
    });
    let mut interpreter = Interpreter::new(&cx, &m);
    let memref = interpreter.memory().alloc_from(&counted(&[4]), None).unwrap();
    let address = interpreter.call("main", &[Value::from(memref)]).unwrap()[0].as_int().unwrap();
    let memory = interpreter.memory();
    let third = memory.at_address(address + 8, DType::F32, 1).unwrap();
    assert_eq!(memory.load(&third, &[0]).unwrap(), Scalar::f32(2.0));
}
