// RUN: split-file %s %t
// RUN: sutura-opt %t/hold.mlir --check-combiners=seeds=8 --strict --mlir-pass-statistics -o %t.out 2>&1 | FileCheck %t/hold.mlir --check-prefix=HOLD
// RUN: sutura-opt %t/broken.mlir --split-input-file --verify-diagnostics --check-combiners
// RUN: not sutura-opt %t/hold.mlir --check-combiners=seeds=0 2>&1 | FileCheck %s
// CHECK: error: {{.*}}seeds

//--- hold.mlir
// HOLD: 4 num-tested

// log(sum(exp)) in one pass: the largest number, and the sum of powers above it.
func.func @log_sum_exp(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %most, %sum = graph.compute ins(%x : tensor<?x?xf32>) -> tensor<?xf32>, tensor<?xf32> {
    iterators = #graph.iterators<[parallel, reduce]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
    state = #graph.state<[0xFF800000 : f32, 0.0 : f32], laws = [associative, commutative]>
  } {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    graph.yield %e, %one : f32, f32
  } combine {
  ^bb0(%ma: f32, %sa: f32, %mb: f32, %sb: f32):
    %m = arith.maximumf %ma, %mb : f32
    %none = arith.constant 0xFF800000 : f32
    %empty = arith.cmpf oeq, %m, %none : f32
    %zero = arith.constant 0.0 : f32
    %base = arith.select %empty, %zero, %m : f32
    %da = arith.subf %ma, %base : f32
    %db = arith.subf %mb, %base : f32
    %pa = math.exp %da : f32
    %pb = math.exp %db : f32
    %ta = arith.mulf %sa, %pa : f32
    %tb = arith.mulf %sb, %pb : f32
    %s = arith.addf %ta, %tb : f32
    graph.yield %m, %s : f32, f32
  }
  return %most, %sum : tensor<?xf32>, tensor<?xf32>
}

// The product of complex numbers, and of matrices that are no number: associative, and not commutative.
func.func @products(%x: tensor<?xf64>, %y: tensor<?xf64>) -> (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) {
  %re, %im = graph.compute ins(%x, %y : tensor<?xf64>, tensor<?xf64>) -> tensor<f64>, tensor<f64> {
    iterators = #graph.iterators<[reduce]>,
    maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
    state = #graph.state<[1.0 : f64, 0.0 : f64], laws = [associative, commutative]>
  } {
  ^bb0(%a: f64, %b: f64):
    graph.yield %a, %b : f64, f64
  } combine {
  ^bb0(%a: f64, %b: f64, %c: f64, %d: f64):
    %ac = arith.mulf %a, %c : f64
    %bd = arith.mulf %b, %d : f64
    %ad = arith.mulf %a, %d : f64
    %bc = arith.mulf %b, %c : f64
    %r = arith.subf %ac, %bd : f64
    %i = arith.addf %ad, %bc : f64
    graph.yield %r, %i : f64, f64
  }
  // x -> s x + t, one after another.
  %s, %t = graph.compute ins(%x, %y : tensor<?xf64>, tensor<?xf64>) -> tensor<f64>, tensor<f64> {
    iterators = #graph.iterators<[reduce]>,
    maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
    state = #graph.state<[1.0 : f64, 0.0 : f64], laws = [associative]>
  } {
  ^bb0(%a: f64, %b: f64):
    graph.yield %a, %b : f64, f64
  } combine {
  ^bb0(%sa: f64, %ta: f64, %sb: f64, %tb: f64):
    %u = arith.mulf %sa, %sb : f64
    %v = arith.mulf %sb, %ta : f64
    %w = arith.addf %v, %tb : f64
    graph.yield %u, %w : f64, f64
  }
  return %re, %im, %s, %t : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>
}

// What a scan joins are the elements.
func.func @running(%x: tensor<?xf64>, %y: tensor<?xi32>) -> (tensor<?xf64>, tensor<?xi32>) {
  %0, %1 = graph.scan %x, %y {axis = 0 : i64, state = #graph.state<[1.0, 0 : i32], laws = [associative, commutative]>} : tensor<?xf64>, tensor<?xi32> -> tensor<?xf64>, tensor<?xi32> combine {
  ^bb0(%a: f64, %i: i32, %b: f64, %j: i32):
    %p = arith.mulf %a, %b : f64
    %k = arith.xori %i, %j : i32
    graph.yield %p, %k : f64, i32
  }
  return %0, %1 : tensor<?xf64>, tensor<?xi32>
}

//--- broken.mlir
func.func @running(%x: tensor<?xi32>) -> tensor<?xi32> {
  // expected-error @below {{'graph.scan' op is declared to have the law 'associative', but (a b) c and a (b c) differ in result 0}}
  %y = graph.scan %x {axis = 0 : i64, state = #graph.state<[0 : i32], laws = [associative]>} : tensor<?xi32> -> tensor<?xi32> combine {
  ^bb0(%a: i32, %b: i32):
    %p = arith.muli %a, %b : i32
    %q = arith.muli %p, %p : i32
    %0 = arith.addi %a, %b : i32
    %1 = arith.addi %0, %q : i32
    graph.yield %1 : i32
  }
  return %y : tensor<?xi32>
}

// -----

func.func @difference(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'graph.compute' op is declared to have this identity, but the state itself and it behind the identity differ in result 0}}
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    graph.yield %0 : f32
  }
  return %y : tensor<f32>
}

// -----

// The last place of the largest element wins where it comes second.
func.func @last(%x: tensor<?xf32>) -> (tensor<f32>, tensor<index>) {
  // expected-error @below {{'graph.compute' op is declared to have the law 'commutative', but a b and b a differ in result 1}}
  %y, %i = graph.compute ins(%x : tensor<?xf32>) -> tensor<f32>, tensor<index> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0xFF800000 : f32, 0 : index], laws = [associative, commutative]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    %i = graph.index 0 : index
    graph.yield %e, %i : f32, index
  } combine {
  ^bb0(%a: f32, %i: index, %b: f32, %j: index):
    %0 = arith.cmpf oge, %b, %a : f32
    %1 = arith.select %0, %b, %a : f32
    %2 = arith.select %0, %j, %i : index
    graph.yield %1, %2 : f32, index
  }
  return %y, %i : tensor<f32>, tensor<index>
}

// -----

func.func @mean(%x: tensor<?xf32>) -> tensor<f32> {
  // expected-error @below {{is declared to have}}
  %y = graph.compute ins(%x : tensor<?xf32>) -> tensor<f32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0.0 : f32], laws = [associative]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  } combine {
  ^bb0(%a: f32, %b: f32):
    %half = arith.constant 0.5 : f32
    %0 = arith.addf %a, %b : f32
    %1 = arith.mulf %0, %half : f32
    graph.yield %1 : f32
  }
  return %y : tensor<f32>
}

// -----

// Integers that are joined by a difference and no law but one.
func.func @xor_shift(%x: tensor<?xi32>) -> tensor<i32> {
  // expected-error @below {{'graph.compute' op is declared to have the law 'associative', but (a b) c and a (b c) differ in result 0}}
  %y = graph.compute ins(%x : tensor<?xi32>) -> tensor<i32> {iterators = #graph.iterators<[reduce]>, state = #graph.state<[0 : i32], laws = [associative, commutative]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]} {
  ^bb0(%e: i32):
    graph.yield %e : i32
  } combine {
  ^bb0(%a: i32, %b: i32):
    %p = arith.muli %a, %b : i32
    %q = arith.muli %p, %p : i32
    %0 = arith.addi %a, %b : i32
    %1 = arith.addi %0, %q : i32
    graph.yield %1 : i32
  }
  return %y : tensor<i32>
}
