//! What operations do that have several results, or take lanes and shapes apart and together.

use sutura_dialects::text::parse_text;
use sutura_interp::{FaultKind, InterpError, Interpreter, Value};
use sutura_ir::Context;

/// What `main`, which takes nothing, returns.
fn run(text: &str) -> Result<Vec<Value>, InterpError> {
    let cx = Context::new(sutura_dialects::all());
    let module = parse_text(&cx, "<text>", text).unwrap_or_else(|e| panic!("{e}"));
    Interpreter::new(&cx, &module).call("main", &[])
}

fn ints(text: &str) -> Vec<i64> {
    run(text).unwrap_or_else(|e| panic!("{e}\n{text}")).iter().map(|v| v.as_int().unwrap()).collect()
}

#[test]
fn wide_products() {
    let product = |name: &str| {
        ints(&format!(
            "func.func @main() -> (i8, i8) {{
               %a = arith.constant -128 : i8
               %b = arith.constant 3 : i8
               %low, %high = arith.{name} %a, %b : i8
               return %low, %high : i8, i8
             }}"
        ))
    };
    assert_eq!(product("mulsi_extended"), [-128, -2]);
    assert_eq!(product("mului_extended"), [-128, 1]);
}

#[test]
fn lanes_apart_and_together() {
    let found = ints(
        "func.func @main() -> (i32, i32, i32, i32, i32, i32, i32, i32) {
           %a = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
           %b = arith.constant dense<[[5, 6], [7, 8]]> : vector<2x2xi32>
           %v = vector.interleave %a, %b : vector<2x2xi32> -> vector<2x4xi32>
           %even, %odd = vector.deinterleave %v : vector<2x4xi32> -> vector<2x2xi32>
           %w = vector.interleave %odd, %even : vector<2x2xi32> -> vector<2x4xi32>
           %0:8 = vector.to_elements %w : vector<2x4xi32>
           return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7 : i32, i32, i32, i32, i32, i32, i32, i32
         }",
    );
    assert_eq!(found, [5, 1, 6, 2, 7, 3, 8, 4]);
}

#[test]
fn packed_lanes_in_memory() {
    let found = ints(
        "func.func @main() -> (i32, i32, i32, i32, i32, i32, i32) {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           %m = memref.alloc() : memref<3xi32>
           %zero = arith.constant 0 : i32
           memref.store %zero, %m[%c0] : memref<3xi32>
           %mask = arith.constant dense<[true, false, true, false]> : vector<4xi1>
           %v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
           vector.compressstore %m[%c1], %mask, %v : memref<3xi32>, vector<4xi1>, vector<4xi32>
           %w = vector.expandload %m[%c0], %mask, %v : memref<3xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
           %0:4 = vector.to_elements %w : vector<4xi32>
           %x = memref.load %m[%c0] : memref<3xi32>
           %y = memref.load %m[%c1] : memref<3xi32>
           %z = memref.load %m[%c2] : memref<3xi32>
           return %0#0, %0#1, %0#2, %0#3, %x, %y, %z : i32, i32, i32, i32, i32, i32, i32
         }",
    );
    assert_eq!(found, [0, 2, 1, 4, 0, 1, 3]);
}

#[test]
fn tensors_joined_and_reshaped() {
    let found = ints(
        "func.func @main() -> (i32, i32, i32) {
           %a = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
           %b = arith.constant dense<[[5], [6]]> : tensor<2x1xi32>
           %c = tensor.concat dim(1) %a, %b : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
           %shape = arith.constant dense<[3, 2]> : tensor<2xindex>
           %r = tensor.reshape %c(%shape) : (tensor<2x3xi32>, tensor<2xindex>) -> tensor<?x?xi32>
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           %x = tensor.extract %c[%c1, %c2] : tensor<2x3xi32>
           %y = tensor.extract %r[%c1, %c0] : tensor<?x?xi32>
           %z = tensor.extract %r[%c2, %c0] : tensor<?x?xi32>
           return %x, %y, %z : i32, i32, i32
         }",
    );
    assert_eq!(found, [6, 5, 4]);
}

#[test]
fn objects_that_are_said_to_be_distinct() {
    let text = |second: &str| {
        format!(
            "func.func @main() -> index {{
               %m = memref.alloc() : memref<3xi32>
               %n = memref.alloc() : memref<3xi32>
               %0:2 = memref.distinct_objects %m, {second} : memref<3xi32>, memref<3xi32>
               %c0 = arith.constant 0 : index
               %d = memref.dim %0#1, %c0 : memref<3xi32>
               return %d : index
             }}"
        )
    };
    assert_eq!(ints(&text("%n")), [3]);
    assert_eq!(run(&text("%m")).unwrap_err().kind(), FaultKind::Poison);
}
