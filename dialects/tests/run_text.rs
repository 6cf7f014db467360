//! Functions as text, run.

use sutura_dialects::text::{TextError, parse_text, run_function_text};
use sutura_interp::{DType, Difference, Scalar, Tensor, Tolerance, Trials, Value, equivalent};
use sutura_ir::Context;

fn context() -> Context {
    Context::new(sutura_dialects::all())
}

const SOFTMAX: &str = r#"
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %cols = tensor.dim %x, %c1 : tensor<?x?xf32>
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty(%rows, %cols) : tensor<?x?xf32>
  %out = scf.for %i = %c0 to %rows step %c1 iter_args(%acc = %init) -> (tensor<?x?xf32>) {
    %max = scf.for %j = %c0 to %cols step %c1 iter_args(%m = %low) -> (f32) {
      %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %n = arith.maximumf %m, %v : f32
      scf.yield %n : f32
    }
    %sum = scf.for %j = %c0 to %cols step %c1 iter_args(%s = %zero) -> (f32) {
      %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %d = arith.subf %v, %max : f32
      %e = math.exp %d : f32
      %n = arith.addf %s, %e : f32
      scf.yield %n : f32
    }
    %row = scf.for %j = %c0 to %cols step %c1 iter_args(%t = %acc) -> (tensor<?x?xf32>) {
      %v = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %d = arith.subf %v, %max : f32
      %e = math.exp %d : f32
      %q = arith.divf %e, %sum : f32
      %n = tensor.insert %q into %t[%i, %j] : tensor<?x?xf32>
      scf.yield %n : tensor<?x?xf32>
    }
    scf.yield %row : tensor<?x?xf32>
  }
  return %out : tensor<?x?xf32>
}
"#;

#[test]
fn softmax() {
    let cx = context();
    for (rows, cols) in [(1, 1), (3, 17), (0, 4), (40, 100)] {
        let x: Vec<f32> = (0..rows * cols).map(|i| ((i * 37 % 101) as f32 - 50.0) / 9.0).collect();
        let mut want = Vec::new();
        for row in x.chunks(cols) {
            let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let exps: Vec<f32> = row.iter().map(|v| f64::from(v - max).exp() as f32).collect();
            let sum: f32 = exps.iter().fold(0.0, |a, b| a + b);
            want.extend(exps.iter().map(|e| e / sum));
        }
        let args = [Value::tensor_f32(x, &[rows, cols]).unwrap()];
        let out = run_function_text(&cx, SOFTMAX, "softmax", &args).unwrap();
        let want = Value::tensor_f32(want, &[rows, cols]).unwrap();
        sutura_interp::compare(&out[0], &want, Tolerance { ulp: 1, ..Tolerance::EXACT }).unwrap();
    }
}

#[test]
fn errors_have_places() {
    let cx = context();
    let run = |text: &str| run_function_text(&cx, text, "f", &[Value::index(7)]).unwrap_err().to_string();
    let unknown = run("func.func @f(%i: index) -> index {\n  return %j : index\n}\n");
    assert!(unknown.starts_with("<text>:2:10: "), "{unknown}");
    let mistyped = run("func.func @f(%i: index) -> index {\n  %0 = arith.addi %i, %i : i32\n  return %i : index\n}\n");
    assert!(mistyped.starts_with("<text>:"), "{mistyped}");
    let text = "func.func @f(%i: index) -> index {\n  %0 = arith.constant 0 : index\n  %1 = arith.divsi %i, %0 : index\n  \
                return %1 : index\n}\n";
    assert_eq!(run(text), "<text>:3:8: 'arith.divsi' op divides by zero");
    let error = run_function_text(&cx, text, "g", &[]).unwrap_err();
    assert!(matches!(error, TextError::Fault { .. }), "{error}");
    assert_eq!(error.to_string(), "no symbol @g is defined");
}

#[test]
fn programs_are_compared_on_random_inputs() {
    let cx = context();
    let program = |body: &str| {
        let text = format!("func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {{\n{body}\n}}\n");
        parse_text(&cx, "f.mlir", &text).unwrap()
    };
    let before = program(
        "%0 = arith.addf %a, %b : tensor<?xf32>\n%1 = arith.mulf %0, %a : tensor<?xf32>\nreturn %1 : tensor<?xf32>",
    );
    let distributed = program(
        "%0 = arith.mulf %a, %a : tensor<?xf32>\n%1 = arith.mulf %b, %a : tensor<?xf32>\n\
         %2 = arith.addf %0, %1 : tensor<?xf32>\nreturn %2 : tensor<?xf32>",
    );
    let wrong = program(
        "%0 = arith.subf %a, %b : tensor<?xf32>\n%1 = arith.mulf %0, %a : tensor<?xf32>\nreturn %1 : tensor<?xf32>",
    );
    let dims = vec![vec![64], vec![64]];
    let trials = Trials::new(&[1, 2, 3, 4], &dims);
    let near = trials.tolerance(Tolerance { abs: 1e-5, ..Tolerance::EXACT });
    assert_eq!(equivalent(&cx, &before, &distributed, "f", near).unwrap().compared, 4);
    let exact = equivalent(&cx, &before, &distributed, "f", trials).unwrap_err();
    assert!(matches!(exact, Difference::Values { .. }), "{exact}");
    assert!(equivalent(&cx, &before, &wrong, "f", near).is_err());
}

#[test]
fn memory_in_another_order() {
    let cx = context();
    let text = "func.func @f(%m: memref<2x3xf32>) -> (f32, f32) {
      %t = memref.transpose %m (d0, d1) -> (d1, d0) : memref<2x3xf32> to memref<3x2xf32, strided<[1, 3]>>
      %a = memref.assume_alignment %t, 4 : memref<3x2xf32, strided<[1, 3]>>
      %c = memref.memory_space_cast %m : memref<2x3xf32> to memref<2x3xf32, 1>
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %x = memref.load %a[%two, %zero] : memref<3x2xf32, strided<[1, 3]>>
      %y = memref.load %c[%one, %zero] : memref<2x3xf32, 1>
      return %x, %y : f32, f32
    }";
    let source = "func.func @main() -> (f32, f32) {
      %m = memref.get_global @numbers : memref<2x3xf32>
      %r:2 = func.call @f(%m) : (memref<2x3xf32>) -> (f32, f32)
      return %r#0, %r#1 : f32, f32
    }
    memref.global constant @numbers : memref<2x3xf32> = dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]>";
    let out = run_function_text(&cx, &format!("{text}\n{source}"), "main", &[]).unwrap();
    let numbers: Vec<f64> = out.iter().map(|v| v.scalar().unwrap().as_f64().unwrap()).collect();
    assert_eq!(numbers, [2.0, 3.0]);
}

#[test]
fn sums_with_their_overflow() {
    let cx = context();
    let text = "func.func @f(%a: i8, %b: i8) -> (i8, i1) {
      %sum, %overflow = arith.addui_extended %a, %b : i8, i1
      return %sum, %overflow : i8, i1
    }";
    for (a, b, sum, overflow) in [(200, 100, 44, true), (100, 27, 127, false), (255, 1, 0, true), (0, 0, 0, false)] {
        let args = [a, b].map(|v| Value::from(Scalar::int(v, DType::I8)));
        let out = run_function_text(&cx, text, "f", &args).unwrap();
        assert_eq!(out[0].as_int().unwrap(), sum, "{a} + {b}");
        assert_eq!(out[1].as_bool().unwrap(), overflow, "{a} + {b}");
    }
}

#[test]
fn constants_and_vectors_as_text() {
    let cx = context();
    let text = "func.func @f(%t: tensor<4xi32>) -> (tensor<4xi32>, vector<2xf32>, i1) {
      %c = arith.constant dense<[1, 2, 3, -4]> : tensor<4xi32>
      %sum = arith.addi %t, %c overflow<nsw> : tensor<4xi32>
      %v = arith.constant dense<1.5> : vector<2xf32>
      %w = vector.insert %x, %v [1] : f32 into vector<2xf32>
      %x = arith.constant 2.5 : f32
      %true = arith.constant true
      return %sum, %w, %true : tensor<4xi32>, vector<2xf32>, i1
    }";
    // `%x` is used before it is defined.
    let ordered = text
        .replace("      %x = arith.constant 2.5 : f32\n", "")
        .replace("      %v = arith", "      %x = arith.constant 2.5 : f32\n      %v = arith");
    let four = |values: [i64; 4]| {
        Value::Tensor(Tensor::from_scalars(DType::I32, &[4], values.map(|v| Scalar::int(v, DType::I32))).unwrap())
    };
    assert!(run_function_text(&cx, text, "f", &[four([0; 4])]).is_err(), "dominance is verified");
    let out = run_function_text(&cx, &ordered, "f", &[four([10, 20, 30, 40])]).unwrap();
    sutura_interp::compare(&out[0], &four([11, 22, 33, 36]), Tolerance::EXACT).unwrap();
    assert_eq!(out[1].to_f32().unwrap().0, [1.5, 2.5]);
    assert!(out[2].as_bool().unwrap());
    let error = run_function_text(&cx, &ordered, "f", &[four([i64::from(i32::MAX); 4])]).unwrap_err();
    assert!(error.to_string().ends_with("'arith.addi' op overflows as signed despite 'nsw'"), "{error}");
}
