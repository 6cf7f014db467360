//! Results of built ops, by the interpreter.

use sutura_interp::Tensor;
use sutura_ir::{Context, Type, Value};

use super::super::build::{Built, GraphBuilder, PadKind, Padding, SliceBounds, Window};
use super::super::combine::Combiner;
use super::{context, count, floats, ints, module, run, tensor};

/// Builds one op over arguments of the given types and runs it.
fn result(
    types: impl Fn(&Context) -> Vec<Type>,
    args: &[Tensor],
    fill: impl FnOnce(&mut GraphBuilder<'_, '_>, &[Value]) -> Built,
) -> Tensor {
    let cx = context();
    let module = module(&cx, &types(&cx), |g, args| Ok(vec![fill(g, args)?]));
    run(&cx, &module, args).remove(0)
}

fn f32s(sizes: &'static [&'static str]) -> impl Fn(&Context) -> Vec<Type> {
    move |cx| vec![tensor(cx, sizes, Type::F32)]
}

#[test]
fn broadcasts_and_adds() {
    let types = |cx: &Context| vec![tensor(cx, &["B", "3"], Type::F32), tensor(cx, &["2", "1", "3"], Type::F32)];
    let sum = result(types, &[count(&[2, 3]), count(&[2, 1, 3])], |g, a| g.zip(a[0], a[1], |s, x, y| s.add(x, y)));
    assert_eq!(sum, floats(&[2, 2, 3], &[0., 2., 4., 3., 5., 7., 3., 5., 7., 6., 8., 10.]));
}

#[test]
fn multiplies_batches_of_matrices() {
    let types = |cx: &Context| vec![tensor(cx, &["B", "2", "K"], Type::F32), tensor(cx, &["K", "2"], Type::F32)];
    let product = result(types, &[count(&[2, 2, 3]), count(&[3, 2])], |g, a| g.matmul(a[0], a[1]));
    assert_eq!(product, floats(&[2, 2, 2], &[10., 13., 28., 40., 46., 67., 64., 94.]));
    let types = |cx: &Context| vec![tensor(cx, &["K"], Type::F32), tensor(cx, &["K", "2"], Type::F32)];
    let product = result(types, &[count(&[3]), count(&[3, 2])], |g, a| g.matmul(a[0], a[1]));
    assert_eq!(product, floats(&[2], &[10., 13.]));
}

#[test]
fn gemm_scales_and_adds() {
    let types = |cx: &Context| {
        vec![tensor(cx, &["3", "2"], Type::F32), tensor(cx, &["2", "3"], Type::F32), tensor(cx, &["1"], Type::F32)]
    };
    let args = [count(&[3, 2]), count(&[2, 3]), floats(&[1], &[10.])];
    let product = result(types, &args, |g, a| g.gemm((a[0], true), (a[1], true), Some(a[2]), 2.0, 0.5));
    // a' * b' = [[0,2,4],[1,3,5]] * [[0,3],[1,4],[2,5]]
    assert_eq!(product, floats(&[2, 2], &[25., 61., 31., 85.]));
}

#[test]
fn reduces_with_every_combiner() {
    for (combiner, want) in
        [(Combiner::Add, [3., 12.]), (Combiner::Mul, [0., 60.]), (Combiner::Max, [2., 5.]), (Combiner::Min, [0., 3.])]
    {
        let reduced = result(f32s(&["B", "3"]), &[count(&[2, 3])], |g, a| {
            Ok(g.reduce(a[0], &[1], false, combiner, Type::F32, |_, x| x))
        });
        assert_eq!(reduced, floats(&[2], &want), "{combiner:?}");
    }
    let mean = result(f32s(&["B", "N"]), &[count(&[2, 4])], |g, a| g.mean(a[0], &[1], true));
    assert_eq!(mean, floats(&[2, 1], &[1.5, 5.5]));
    let empty = result(f32s(&["B", "N"]), &[count(&[2, 0])], |g, a| {
        Ok(g.reduce(a[0], &[1], false, Combiner::Max, Type::F32, |_, x| x))
    });
    assert_eq!(empty, floats(&[2], &[f32::NEG_INFINITY; 2]));
}

#[test]
fn transposes_and_reshapes() {
    let swapped = result(f32s(&["A", "B", "2"]), &[count(&[1, 3, 2])], |g, a| g.transpose(a[0], &[1, 2, 0]));
    assert_eq!(swapped, floats(&[3, 2, 1], &[0., 1., 2., 3., 4., 5.]));
    let flat = result(f32s(&["A", "B", "2"]), &[count(&[2, 3, 2])], |g, a| g.flatten(a[0], 1));
    assert_eq!(flat.shape(), [2, 6]);
    let types = |cx: &Context| vec![tensor(cx, &["A", "6"], Type::F32), tensor(cx, &["3"], Type::I64)];
    let asked = result(types, &[count(&[4, 6]), ints(&[0, -1, 3])], |g, a| g.reshape(a[0], a[1], false));
    assert_eq!(asked.shape(), [4, 2, 3]);
}

#[test]
fn convolves_with_padding_strides_and_groups() {
    let window = |stride, pad| Window {
        kernel: vec![3],
        strides: vec![stride],
        dilations: vec![1],
        padding: Padding::Explicit(vec![pad], vec![pad]),
        ceil: false,
    };
    let types = |cx: &Context| vec![tensor(cx, &["N", "1", "W"], Type::F32), tensor(cx, &["1", "1", "3"], Type::F32)];
    let args = [count(&[1, 1, 5]), floats(&[1, 1, 3], &[1., 10., 100.])];
    let plain = result(types, &args, |g, a| g.conv(a[0], a[1], None, 1, &window(1, 0)));
    assert_eq!(plain, floats(&[1, 1, 3], &[210., 321., 432.]));
    let padded = result(types, &args, |g, a| g.conv(a[0], a[1], None, 1, &window(2, 1)));
    assert_eq!(padded, floats(&[1, 1, 3], &[100., 321., 43.]));
    // Two groups of one channel each, two outputs per group.
    let types = |cx: &Context| {
        vec![
            tensor(cx, &["N", "2", "W"], Type::F32),
            tensor(cx, &["4", "1", "3"], Type::F32),
            tensor(cx, &["4"], Type::F32),
        ]
    };
    let weight: Vec<f32> = [[1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 1.]].concat();
    let args = [count(&[1, 2, 3]), floats(&[4, 1, 3], &weight), floats(&[4], &[0., 0., 0., 100.])];
    let grouped = result(types, &args, |g, a| g.conv(a[0], a[1], Some(a[2]), 2, &window(1, 0)));
    assert_eq!(grouped, floats(&[1, 4, 1], &[0., 1., 5., 112.]));
}

/// Windows of one place: what lies between them is left out first, unless they are padded.
#[test]
fn convolves_single_places_in_steps() {
    let types = |cx: &Context| vec![tensor(cx, &["N", "1", "W"], Type::F32), tensor(cx, &["1", "1", "1"], Type::F32)];
    let args = [count(&[1, 1, 5]), floats(&[1, 1, 1], &[10.])];
    for (padding, expected) in [
        (Padding::Explicit(vec![0], vec![0]), &[0., 30.][..]),
        (Padding::Explicit(vec![0], vec![1]), &[0., 30.]),
        (Padding::Explicit(vec![0], vec![2]), &[0., 30., 0.]),
        (Padding::Explicit(vec![1], vec![0]), &[0., 20.]),
    ] {
        let (kernel, strides, dilations) = (vec![1], vec![3], vec![1]);
        let window = Window { kernel, strides, dilations, padding, ceil: false };
        let made = result(types, &args, |g, a| g.conv(a[0], a[1], None, 1, &window));
        assert_eq!(made, floats(&[1, 1, expected.len()], expected), "{window:?}");
    }
}

/// In steps of one a last window never reaches outside.
#[test]
fn pools_in_steps_of_one_that_round_up() {
    let types = |cx: &Context| vec![tensor(cx, &["N", "1", "W"], Type::F32)];
    let padding = Padding::Explicit(vec![0], vec![0]);
    let window = Window { kernel: vec![2], strides: vec![1], dilations: vec![1], padding, ceil: true };
    let made = result(types, &[count(&[1, 1, 3])], |g, a| g.max_pool(a[0], &window));
    assert_eq!(made, floats(&[1, 1, 2], &[1., 2.]));
}

#[test]
fn pools_with_and_without_padding() {
    let window = |ceil, pad| Window {
        kernel: vec![2, 2],
        strides: vec![2, 2],
        dilations: vec![1, 1],
        padding: Padding::Explicit(vec![pad, pad], vec![pad, pad]),
        ceil,
    };
    let x = [count(&[1, 1, 3, 3])];
    let types = f32s(&["N", "1", "H", "W"]);
    let max = result(&types, &x, |g, a| g.max_pool(a[0], &window(false, 0)));
    assert_eq!(max, floats(&[1, 1, 1, 1], &[4.]));
    let max = result(&types, &x, |g, a| g.max_pool(a[0], &window(true, 0)));
    assert_eq!(max, floats(&[1, 1, 2, 2], &[4., 5., 7., 8.]));
    let mean = result(&types, &x, |g, a| g.average_pool(a[0], &window(false, 1), false));
    assert_eq!(mean, floats(&[1, 1, 2, 2], &[0., 1.5, 4.5, 6.]));
    let mean = result(&types, &x, |g, a| g.average_pool(a[0], &window(false, 1), true));
    assert_eq!(mean, floats(&[1, 1, 2, 2], &[0., 0.75, 2.25, 6.]));
}

#[test]
fn pads_in_every_way() {
    let pad = |kind: fn(&Context) -> PadKind| {
        result(f32s(&["N"]), &[count(&[4])], move |g, a| {
            let kind = kind(g.cx());
            g.pad(a[0], &[2.into()], &[3.into()], kind)
        })
    };
    let constant = pad(|cx| PadKind::Constant(cx.f32_attr(9.0)));
    assert_eq!(constant, floats(&[9], &[9., 9., 0., 1., 2., 3., 9., 9., 9.]));
    assert_eq!(pad(|_| PadKind::Edge), floats(&[9], &[0., 0., 0., 1., 2., 3., 3., 3., 3.]));
    assert_eq!(pad(|_| PadKind::Reflect), floats(&[9], &[2., 1., 0., 1., 2., 3., 2., 1., 0.]));
    assert_eq!(pad(|_| PadKind::Wrap), floats(&[9], &[2., 3., 0., 1., 2., 3., 0., 1., 2.]));
    let cropped = result(f32s(&["N"]), &[count(&[4])], |g, a| {
        let zero = g.cx().f32_attr(0.0);
        g.pad(a[0], &[(-1).into()], &[(-1).into()], PadKind::Constant(zero))
    });
    assert_eq!(cropped, floats(&[2], &[1., 2.]));
    let shortened = result(f32s(&["N"]), &[count(&[4])], |g, a| {
        let zero = g.cx().f32_attr(0.0);
        g.pad(a[0], &[0.into()], &[(-1).into()], PadKind::Constant(zero))
    });
    assert_eq!(shortened, floats(&[3], &[0., 1., 2.]));
}

#[test]
fn slices_gathers_concatenates_and_repeats() {
    let cut = |start, end, step| {
        result(f32s(&["2", "N"]), &[count(&[2, 4])], move |g, a| {
            g.slice(a[0], &[1], &SliceBounds::Known(vec![start], vec![end]), &[step])
        })
    };
    assert_eq!(cut(1, i64::MAX, 1), floats(&[2, 3], &[1., 2., 3., 5., 6., 7.]));
    assert_eq!(cut(-3, -1, 1), floats(&[2, 2], &[1., 2., 5., 6.]));
    assert_eq!(cut(-1, -100, -2), floats(&[2, 2], &[3., 1., 7., 5.]));
    assert_eq!(cut(3, 1, 1).shape(), [2, 0]);
    let types = |cx: &Context| vec![tensor(cx, &["3", "N"], Type::F32), tensor(cx, &["K"], Type::I64)];
    let rows = result(types, &[count(&[3, 2]), ints(&[2, -3])], |g, a| Ok(g.gather(a[0], a[1], 0)));
    assert_eq!(rows, floats(&[2, 2], &[4., 5., 0., 1.]));
    let types = |cx: &Context| vec![tensor(cx, &["2", "N"], Type::F32), tensor(cx, &["2", "K"], Type::I64)];
    let picked = Tensor::new([2, 1].as_slice(), ints(&[1, -3]).data().clone()).unwrap();
    let labels = result(types, &[count(&[2, 3]), picked], |g, a| g.gather_elements(a[0], a[1], 1));
    assert_eq!(labels, floats(&[2, 1], &[1., 3.]));
    let types = |cx: &Context| vec![tensor(cx, &["2", "N"], Type::F32), tensor(cx, &["2", "1"], Type::F32)];
    let both = result(types, &[count(&[2, 2]), count(&[2, 1])], |g, a| g.concat(a, 1));
    assert_eq!(both, floats(&[2, 3], &[0., 1., 0., 2., 3., 1.]));
    let tiled = result(f32s(&["2", "N"]), &[count(&[2, 2])], |g, a| g.tile(a[0], &[Some(1.into()), Some(2.into())]));
    assert_eq!(tiled, floats(&[2, 4], &[0., 1., 0., 1., 2., 3., 2., 3.]));
}

#[test]
fn casts_between_types() {
    let types = |cx: &Context| vec![tensor(cx, &["N"], Type::F32)];
    let x = floats(&[4], &[-1.5, 0.0, 1.5, 2.9]);
    let whole = result(types, std::slice::from_ref(&x), |g, a| g.cast(a[0], Type::I64));
    assert_eq!(whole, ints(&[-1, 0, 1, 2]));
    let truth = result(types, std::slice::from_ref(&x), |g, a| {
        let truth = g.cast(a[0], Type::I1)?;
        g.cast(truth, Type::F32)
    });
    assert_eq!(truth, floats(&[4], &[1., 0., 1., 1.]));
}

/// As `numpy.cumsum` and its fellows.
#[test]
fn scans_every_way() {
    let scan = |axis, combiner, exclusive, reverse| {
        result(f32s(&["B", "3"]), &[floats(&[2, 3], &[1., 2., 3., 4., 5., 6.])], |g, a| {
            g.scan(a[0], axis, combiner, exclusive, reverse)
        })
    };
    use Combiner::{Add, Max, Min, Mul};
    assert_eq!(scan(1, Add, false, false), floats(&[2, 3], &[1., 3., 6., 4., 9., 15.]));
    assert_eq!(scan(1, Add, true, false), floats(&[2, 3], &[0., 1., 3., 0., 4., 9.]));
    assert_eq!(scan(1, Add, false, true), floats(&[2, 3], &[6., 5., 3., 15., 11., 6.]));
    assert_eq!(scan(1, Mul, true, true), floats(&[2, 3], &[6., 3., 1., 30., 6., 1.]));
    assert_eq!(scan(0, Add, false, false), floats(&[2, 3], &[1., 2., 3., 5., 7., 9.]));
    let inf = f32::INFINITY;
    assert_eq!(scan(0, Min, true, true), floats(&[2, 3], &[4., 5., 6., inf, inf, inf]));
    assert_eq!(scan(0, Max, true, false), floats(&[2, 3], &[-inf, -inf, -inf, 1., 2., 3.]));
    for shape in [[0, 3], [2, 3]] {
        let types = |cx: &Context| vec![tensor(cx, &["B", "3"], Type::I8)];
        let x = Tensor::splat(sutura_interp::Scalar::int(100, sutura_interp::DType::I8), &shape).expect("a tensor");
        let sum = result(types, &[x], |g, a| g.scan(a[0], 1, Add, false, false));
        assert_eq!(sum.shape(), shape);
        // Accumulated in 32 bits, and cut to 8.
        let got: Vec<i64> = (0..sum.len()).map(|i| sum.data().get(i).unwrap().as_i64().unwrap()).collect();
        assert_eq!(got, [100, -56, 44].repeat(shape[0]));
    }
}

/// Complex numbers are multiplied both parts at once, by a scan in either direction and where updates meet.
#[test]
fn products_of_complex_numbers() {
    let text = "func.func @main(%x: tensor<3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) {
      %i = graph.constant dense<[0, -1, 0]> : tensor<3xi64>
      %u = graph.constant dense<[(1.0, 2.0), (0.0, 3.0), (0.0, 1.0)]> : tensor<3xcomplex<f32>>
      %0 = graph.scan %x {axis = 0, combiner = #graph.combiner<mul>} : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
      %1 = graph.scan %x {axis = 0, combiner = #graph.combiner<mul>, exclusive, reverse} : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
      %2 = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<mul>} : tensor<3xcomplex<f32>>, tensor<3xi64>, tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
      return %0, %1, %2 : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
    }";
    let cx = context();
    let module = crate::text::parse_text(&cx, "complex", text).expect("it parses");
    let numbers = |re: &[f32], im: &[f32]| Tensor::of_parts(&floats(&[3], re), &floats(&[3], im)).expect("as many");
    let results = run(&cx, &module, &[numbers(&[1., 2., 3.], &[-1., 0., 5.])]);
    // (1 - i) 2 = 2 - 2i, (2 - 2i) (3 + 5i) = 16 + 4i; 2 (3 + 5i) = 6 + 10i.
    assert_eq!(results[0], numbers(&[1., 2., 16.], &[-1., -2., 4.]));
    assert_eq!(results[1], numbers(&[6., 3., 1.], &[10., 5., 0.]));
    assert_eq!(results[2], numbers(&[-1., 2., -15.], &[3., 0., 9.]));
}

/// `y[i] = y[i - 1] a[i] + b[i]`, a line for each row; and the larger of what is there and what comes, with a mark.
#[test]
fn several_tensors_are_combined_and_written_at_once() {
    let text = "func.func @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>) {
      %p, %y = graph.scan %a, %b {axis = 1, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>, tensor<2x3xf32> combine {
      ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
        %0 = arith.mulf %f, %c : f32
        %1 = arith.mulf %g, %c : f32
        %2 = arith.addf %1, %d : f32
        graph.yield %0, %2 : f32, f32
      }
      %i = graph.constant dense<[3, 1, 3]> : tensor<3xi64>
      %u = graph.constant dense<[5.0, -1.0, 4.0]> : tensor<3xf32>
      %m = graph.constant dense<[10.0, 11.0, 12.0]> : tensor<3xf32>
      %x = graph.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
      %s, %t = graph.scatter %x, %x, %i, %u, %m {axis = 0 : i64} : tensor<4xf32>, tensor<4xf32>, tensor<3xi64>, tensor<3xf32>, tensor<3xf32> -> tensor<4xf32>, tensor<4xf32> combine {
      ^bb0(%old: f32, %of: f32, %new: f32, %by: f32):
        %more = arith.cmpf ogt, %new, %old : f32
        %0 = arith.select %more, %new, %old : f32
        %1 = arith.select %more, %by, %of : f32
        graph.yield %0, %1 : f32, f32
      }
      return %p, %y, %s, %t : tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>
    }";
    let cx = context();
    let module = crate::text::parse_text(&cx, "states", text).expect("it parses");
    let inputs = [floats(&[2, 3], &[2., 3., 0.5, 1., -1., 2.]), floats(&[2, 3], &[1., 1., 1., 4., 5., 6.])];
    let results = run(&cx, &module, &inputs);
    assert_eq!(results[0], floats(&[2, 3], &[2., 6., 3., 1., -1., -2.]));
    assert_eq!(results[1], floats(&[2, 3], &[1., 4., 3., 4., 1., 8.]));
    assert_eq!(results[2], floats(&[4], &[0., 1., 2., 5.]));
    assert_eq!(results[3], floats(&[4], &[0., 1., 2., 10.]));
}

/// Complex numbers are two: what adds them adds parts, and a region gets both.
#[test]
fn scans_and_scatters_of_complex_numbers() {
    let text = "func.func @main(%x: tensor<3xcomplex<f32>>) -> (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) {
      %i = graph.constant dense<[0, -1, 0]> : tensor<3xi64>
      %u = graph.constant dense<[(1.0, 2.0), (0.0, 3.0), (0.0, 1.0)]> : tensor<3xcomplex<f32>>
      %0 = graph.scan %x {axis = 0, combiner = #graph.combiner<add>, exclusive} : tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
      %1 = graph.scatter %x, %i, %u {axis = 0 : i64, combiner = #graph.combiner<add>} : tensor<3xcomplex<f32>>, tensor<3xi64>, tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>>
      %2 = graph.scatter %x, %i, %u {axis = 0 : i64} : tensor<3xcomplex<f32>>, tensor<3xi64>, tensor<3xcomplex<f32>> -> tensor<3xcomplex<f32>> combine {
      ^bb0(%a: complex<f32>, %b: complex<f32>):
        %p = complex.mul %a, %b : complex<f32>
        graph.yield %p : complex<f32>
      }
      return %0, %1, %2 : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>
    }";
    let cx = context();
    let module = crate::text::parse_text(&cx, "complex", text).expect("it parses");
    let numbers = |re: &[f32], im: &[f32]| Tensor::of_parts(&floats(&[3], re), &floats(&[3], im)).expect("as many");
    let results = run(&cx, &module, &[numbers(&[1., 2., 3.], &[-1., 0., 5.])]);
    assert_eq!(results[0], numbers(&[0., 1., 3.], &[0., -1., -1.]));
    assert_eq!(results[1], numbers(&[2., 2., 3.], &[2., 0., 8.]));
    // (1 - i) (1 + 2i) i = -1 + 3i, (3 + 5i) 3i = -15 + 9i.
    assert_eq!(results[2], numbers(&[-1., 2., -15.], &[3., 0., 9.]));
}
