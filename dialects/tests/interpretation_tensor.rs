//! What tensor and math ops do when a program runs.

mod common;
use common::{AT, context, int, run};
use sutura_dialects::{arith, math, tensor};
use sutura_interp::{DType, FaultKind, InterpError, Scalar, Tensor, Value};
use sutura_ir::{Attr, Builder, Context, DYNAMIC, OpState, Type, Value as Ssa};

fn f32s(values: impl IntoIterator<Item = i32>, shape: &[usize]) -> Value {
    Value::tensor_f32(values.into_iter().map(|v| v as f32).collect(), shape).unwrap()
}

/// Runs one op on arguments; `static_lists` are its lists of numbers, [`DYNAMIC`] where the next operand stands.
struct Case<'c> {
    cx: &'c Context,
    name: &'static str,
    args: Vec<(Type, Value)>,
    lists: Vec<(&'static str, Vec<i64>)>,
    segments: Vec<i32>,
    props: Vec<(&'static str, Attr)>,
    result: Type,
}

impl<'c> Case<'c> {
    fn new(cx: &'c Context, name: &'static str, args: Vec<(Type, Value)>, result: Type) -> Self {
        Self { cx, name, args, lists: vec![], segments: vec![], props: vec![], result }
    }

    fn list(mut self, name: &'static str, numbers: &[i64]) -> Self {
        self.lists.push((name, numbers.to_vec()));
        self
    }

    fn segments(mut self, sizes: &[i32]) -> Self {
        self.segments = sizes.to_vec();
        self
    }

    fn groups(mut self, groups: &[&[i64]]) -> Self {
        let group = |g: &&[i64]| {
            let dims: Vec<Attr> = g.iter().map(|&d| self.cx.int_attr(d, Type::I64)).collect();
            self.cx.array_attr(&dims)
        };
        let groups: Vec<Attr> = groups.iter().map(group).collect();
        self.props.push(("reassociation", self.cx.array_attr(&groups)));
        self
    }

    fn run(self) -> Result<Value, InterpError> {
        self.run_with(|_, _| {})
    }

    /// `fill` builds the op's region.
    fn run_with(self, fill: impl FnOnce(&mut Builder<'_>, sutura_ir::Region)) -> Result<Value, InterpError> {
        let cx = self.cx;
        let (types, values): (Vec<Type>, Vec<Value>) = self.args.into_iter().unzip();
        let out = run(cx, &types, &[self.result], &values, |b, args| {
            let mut state = OpState::new(cx.op_name(self.name), AT).operands(args.iter().copied());
            state = state.results([self.result]);
            for (name, numbers) in &self.lists {
                state = state.prop(cx.ident(name), cx.i64_array(numbers));
            }
            if !self.segments.is_empty() {
                state = state.prop(cx.ident("operandSegmentSizes"), cx.i32_array(&self.segments));
            }
            for (name, attr) in &self.props {
                state = state.prop(cx.ident(name), *attr);
            }
            let has_region = !cx.op_name(self.name).def(cx).unwrap().regions.is_empty();
            let op = b.create(state.regions(usize::from(has_region)));
            if has_region {
                let region = b.body().regions(op).next().unwrap();
                fill(b, region);
                b.set_after(op);
            }
            vec![b.body().result(op, 0)]
        });
        out.map(|mut values| values.remove(0))
    }
}

fn numbers(value: &Value) -> Vec<f32> {
    value.to_f32().unwrap().0
}

#[test]
fn sizes() {
    let cx = context();
    let ty = cx.tensor_type(&[DYNAMIC, 3], Type::F32, None);
    let t = || f32s(0..6, &[2, 3]);
    let dim = |i| Case::new(&cx, "tensor.dim", vec![(ty, t()), (Type::INDEX, Value::index(i))], Type::INDEX).run();
    assert_eq!([dim(0), dim(1)].map(|d| d.unwrap().as_int().unwrap()), [2, 3]);
    let error = dim(2).unwrap_err();
    assert_eq!(error.to_string(), "'tensor.dim' op asks for dimension 2 of a value of rank 2");
    assert_eq!(dim(-1).unwrap_err().kind(), FaultKind::OutOfBounds);
    let rank = Case::new(&cx, "tensor.rank", vec![(ty, t())], Type::INDEX).run();
    assert_eq!(rank.unwrap().as_int().unwrap(), 2);
    let cast = |to: &[i64]| Case::new(&cx, "tensor.cast", vec![(ty, t())], cx.tensor_type(to, Type::F32, None)).run();
    assert!(cast(&[2, DYNAMIC]).is_ok());
    let error = cast(&[4, 3]).unwrap_err();
    assert_eq!(error.to_string(), "'tensor.cast' op dimension 0 has size 2 where the type says 4");
}

#[test]
fn elements() {
    let cx = context();
    let ty = cx.tensor_type(&[2, 3], Type::F32, None);
    let ix = |i| (Type::INDEX, Value::index(i));
    let extract =
        |i, j| Case::new(&cx, "tensor.extract", vec![(ty, f32s(0..6, &[2, 3])), ix(i), ix(j)], Type::F32).run();
    assert_eq!(extract(1, 2).unwrap().scalar().unwrap(), Scalar::f32(5.0));
    let error = extract(1, 3).unwrap_err();
    assert_eq!(error.to_string(), "'tensor.extract' op index 3 is out of bounds for dimension 1 with size 3");

    let args = vec![(Type::F32, Value::from(9f32)), (ty, f32s(0..6, &[2, 3])), ix(0), ix(1)];
    let inserted = Case::new(&cx, "tensor.insert", args, ty).run().unwrap();
    assert_eq!(numbers(&inserted), [0., 9., 2., 3., 4., 5.]);

    let two = cx.tensor_type(&[2], Type::F32, None);
    let args = vec![(Type::F32, Value::from(1f32)), (Type::F32, Value::from(2f32))];
    assert_eq!(numbers(&Case::new(&cx, "tensor.from_elements", args, two).run().unwrap()), [1., 2.]);

    let any = cx.tensor_type(&[DYNAMIC, 2], Type::F32, None);
    let splat = |n| Case::new(&cx, "tensor.splat", vec![(Type::F32, Value::from(7f32)), ix(n)], any).run();
    assert_eq!(numbers(&splat(2).unwrap()), [7.; 4]);
    assert_eq!(splat(-1).unwrap_err().to_string(), "'tensor.splat' op size -1 is negative");
    let huge = splat(1 << 60).unwrap_err();
    assert_eq!(huge.kind(), FaultKind::Limit);
}

#[test]
fn empty_tensors_must_be_written_before_they_are_read() {
    let cx = context();
    let ty = cx.tensor_type(&[2], Type::F32, None);
    let read = |at: i64| {
        run(&cx, &[], &[Type::F32], &[], |b, _| {
            let t = tensor::EmptyOp::value(b, AT, &[], ty);
            let (zero, at) = (int(b, 0, Type::INDEX), int(b, at, Type::INDEX));
            let value = b.cx().f32_attr(3.0);
            let value = arith::ConstantOp::value(b, AT, value);
            let t = tensor::InsertOp::value(b, AT, value, t, &[zero]);
            vec![tensor::ExtractOp::value(b, AT, t, &[at])]
        })
    };
    assert_eq!(read(0).unwrap()[0].scalar().unwrap(), Scalar::f32(3.0));
    assert_eq!(read(1).unwrap_err().kind(), FaultKind::Uninitialised);
}

#[test]
fn slices() {
    let cx = context();
    let ty = cx.tensor_type(&[3, 4], Type::F32, None);
    let t = || f32s(0..12, &[3, 4]);
    let ix = |i| (Type::INDEX, Value::index(i));
    let take = |args: Vec<(Type, Value)>, lists: [&[i64]; 3], segments: [i32; 3], to: &[i64]| {
        let mut all = vec![(ty, t())];
        all.extend(args);
        let [offsets, sizes, strides] = lists;
        Case::new(&cx, "tensor.extract_slice", all, cx.tensor_type(to, Type::F32, None))
            .list("static_offsets", offsets)
            .list("static_sizes", sizes)
            .list("static_strides", strides)
            .segments(&[1, segments[0], segments[1], segments[2]])
            .run()
    };
    let plain = take(vec![], [&[1, 0], &[2, 2], &[1, 2]], [0; 3], &[2, 2]).unwrap();
    assert_eq!(numbers(&plain), [4., 6., 8., 10.]);
    let dynamic =
        |offset, size| take(vec![ix(offset), ix(size)], [&[DYNAMIC, 1], &[1, DYNAMIC], &[1, 1]], [1, 1, 0], &[DYNAMIC]);
    let row = dynamic(2, 3).unwrap();
    assert_eq!((numbers(&row), row.tensor().unwrap().shape()), (vec![9., 10., 11.], &[3][..]));
    assert_eq!(dynamic(3, 3).unwrap_err().kind(), FaultKind::OutOfBounds);
    assert_eq!(dynamic(2, 4).unwrap_err().kind(), FaultKind::OutOfBounds);
    assert_eq!(dynamic(2, -1).unwrap_err().to_string(), "'tensor.extract_slice' op slice size -1 is negative");
    assert_eq!(numbers(&dynamic(2, 0).unwrap()), []);

    let source = cx.tensor_type(&[2], Type::F32, None);
    let put = |offset| {
        let args = vec![(source, f32s([-1, -2], &[2])), (ty, t()), ix(offset)];
        Case::new(&cx, "tensor.insert_slice", args, ty)
            .list("static_offsets", &[0, DYNAMIC])
            .list("static_sizes", &[2, 1])
            .list("static_strides", &[2, 1])
            .segments(&[1, 1, 1, 0, 0])
            .run()
    };
    assert_eq!(numbers(&put(3).unwrap()), [0., 1., 2., -1., 4., 5., 6., 7., 8., 9., 10., -2.]);
    assert_eq!(put(4).unwrap_err().kind(), FaultKind::OutOfBounds);
}

#[test]
fn reshapes() {
    let cx = context();
    let any = |rank: usize| cx.tensor_type(&vec![DYNAMIC; rank], Type::F32, None);
    let collapse = Case::new(&cx, "tensor.collapse_shape", vec![(any(3), f32s(0..12, &[2, 3, 2]))], any(2));
    let out = collapse.groups(&[&[0, 1], &[2]]).run().unwrap();
    assert_eq!(out.tensor().unwrap().shape(), [6, 2]);
    let expand = |m, n| {
        let args = vec![(any(1), f32s(0..6, &[6])), (Type::INDEX, Value::index(m)), (Type::INDEX, Value::index(n))];
        Case::new(&cx, "tensor.expand_shape", args, any(2))
            .groups(&[&[0, 1]])
            .list("static_output_shape", &[DYNAMIC, DYNAMIC])
            .run()
    };
    assert_eq!(expand(2, 3).unwrap().tensor().unwrap().shape(), [2, 3]);
    let error = expand(2, 4).unwrap_err();
    assert_eq!(error.to_string(), "'tensor.expand_shape' op dimensions of sizes [2, 4] are no dimension 0 of size 6");
}

/// Fills a region whose block takes `rank` indices.
fn region_of(
    b: &mut Builder<'_>,
    region: sutura_ir::Region,
    rank: usize,
    fill: impl FnOnce(&mut Builder<'_>, &[Ssa]) -> Ssa,
) {
    let block = b.create_block(region, &vec![(Type::INDEX, AT); rank]);
    b.set_to_end(block);
    let args = b.body().block_args(block).to_vec();
    let value = fill(b, &args);
    tensor::YieldOp::build(b, AT, value);
}

#[test]
fn generation_and_padding() {
    let cx = context();
    let ty = cx.tensor_type(&[DYNAMIC, 3], Type::INDEX, None);
    let out = Case::new(&cx, "tensor.generate", vec![(Type::INDEX, Value::index(2))], ty).run_with(|b, region| {
        region_of(b, region, 2, |b, index| {
            let ten = int(b, 10, Type::INDEX);
            let tens = arith::MulIOp::value(b, AT, index[0], ten);
            arith::AddIOp::value(b, AT, tens, index[1])
        });
    });
    assert_eq!(out.unwrap().tensor().unwrap().data().as_i64().unwrap(), [0, 1, 2, 10, 11, 12]);

    let (from, to) = (cx.tensor_type(&[1, 2], Type::INDEX, None), cx.tensor_type(&[DYNAMIC, 4], Type::INDEX, None));
    let pad = |low: i64, constant: bool| {
        let source = Tensor::from_scalars(DType::Index, &[1, 2], [7, 8].map(Scalar::index)).unwrap();
        let args = vec![(from, Value::Tensor(source)), (Type::INDEX, Value::index(low))];
        Case::new(&cx, "tensor.pad", args, to)
            .list("static_low", &[DYNAMIC, 0])
            .list("static_high", &[0, 2])
            .segments(&[1, 1, 0])
            .run_with(|b, region| {
                region_of(b, region, 2, |b, index| if constant { int(b, -1, Type::INDEX) } else { index[1] });
            })
    };
    let elements = |v: Value| v.tensor().unwrap().data().as_i64().unwrap().to_vec();
    assert_eq!(elements(pad(1, true).unwrap()), [-1, -1, -1, -1, 7, 8, -1, -1]);
    assert_eq!(elements(pad(1, false).unwrap()), [0, 1, 2, 3, 7, 8, 2, 3]);
    assert_eq!(elements(pad(0, false).unwrap()), [7, 8, 2, 3]);
    assert_eq!(pad(-1, true).unwrap_err().to_string(), "'tensor.pad' op size -1 is negative");
}

#[test]
fn math_works_on_scalars_vectors_and_tensors() {
    let cx = context();
    let one = |name: &'static str, ty, value| Case::new(&cx, name, vec![(ty, value)], ty).run();
    let exp = one("math.exp", Type::F32, Value::from(1f32)).unwrap();
    assert_eq!(exp.scalar().unwrap(), Scalar::f32(std::f32::consts::E));
    let ty = cx.tensor_type(&[2], Type::F32, None);
    assert_eq!(numbers(&one("math.sqrt", ty, f32s([4, 9], &[2])).unwrap()), [2., 3.]);
    let v = cx.vector_type(&[2], Type::F32);
    let value = Value::Vector(f32s([1, -2], &[2]).tensor().unwrap().clone());
    let out = one("math.absf", v, value).unwrap();
    assert_eq!(out.vector().unwrap().data().as_f32().unwrap(), [1., 2.]);
    let fma = run(&cx, &[Type::F32; 3], &[Type::F32], &[2f32, 3., 4.].map(Value::from), |b, args| {
        vec![math::FmaOp::value(b, AT, args[0], args[1], args[2])]
    });
    assert_eq!(fma.unwrap()[0].scalar().unwrap(), Scalar::f32(10.0));
}
