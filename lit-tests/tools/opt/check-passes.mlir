// RUN: sutura-opt %s --check-passes --canonicalize --cse 2>%t | FileCheck %s
// RUN: sutura-opt %s --check-passes --remarks --canonicalize --cse -o %t 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --check-passes=5 --canonicalize -o %t --verify-diagnostics=only-expected
// RUN: not sutura-opt %s --check-passes=0 2>&1 | FileCheck %s --check-prefix=USAGE

// USAGE: error: `--check-passes=0` takes a number from 1

// SAID: remark: 2 functions compared, {{[0-9]+}} runs, seeds 1, 2, 3

// CHECK-LABEL: func.func @sums(
// CHECK-NEXT:    dyn.symbol "N"
// CHECK-NEXT:    %[[SUM:.*]] = arith.addf
// CHECK-NEXT:    return %[[SUM]]
func.func @sums(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>, %y: tensor<?x4xf32, #dyn.shape<[N, 4]>>)
    -> tensor<?x4xf32, #dyn.shape<[N, 4]>> {
  %n = dyn.symbol "N" {range = [0, 64], likely = [32]} : index
  %0 = arith.addf %x, %y : tensor<?x4xf32, #dyn.shape<[N, 4]>>
  %1 = arith.addf %x, %y : tensor<?x4xf32, #dyn.shape<[N, 4]>>
  return %0 : tensor<?x4xf32, #dyn.shape<[N, 4]>>
}

func.func @constant() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}

// Private functions are run through those that call them.
func.func private @inside(%x: complex<f16>) { return }

func.func private @declared(i32) -> i32

// expected-warning @below {{@calls is not checked: it has a result on none of 10 inputs}}
func.func @calls(%x: i32) -> i32 {
  %0 = call @declared(%x) : (i32) -> i32
  return %0 : i32
}

// expected-warning @below {{@pair is not checked: argument 0: complex numbers cannot be interpreted unless they are complex<f32> or complex<f64>}}
func.func @pair(%x: complex<f16>) { return }
