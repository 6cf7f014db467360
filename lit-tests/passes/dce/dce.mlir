// RUN: sutura-opt %s --dce --allow-unregistered-dialect | FileCheck %s
// RUN: sutura-opt %s --dce --allow-unregistered-dialect --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATS

// STATS: num-erased
// STATS: (S) 2 num-block-args
// STATS: (S) 1 num-carried

// What only dead operations use goes with them.

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    return
func.func @chain(%x: i32, %m: memref<i32>) {
  %a = arith.addi %x, %x : i32
  %b = arith.muli %a, %a : i32
  %c = memref.load %m[] : memref<i32>
  %d = arith.addi %b, %c : i32
  return
}

// What has effects stays, with all it depends on.

// CHECK-LABEL: func.func @effects(
// CHECK-NEXT:    %[[A:.*]] = arith.addi
// CHECK-NEXT:    memref.store %[[A]]
// CHECK-NEXT:    call @f
// CHECK-NEXT:    return
func.func private @f(i32) -> i32
func.func @effects(%x: i32, %m: memref<i32>) {
  %a = arith.addi %x, %x : i32
  memref.store %a, %m[] : memref<i32>
  %r = call @f(%x) : (i32) -> i32
  return
}

// A value that a loop of blocks only computes from itself.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: i32)
// CHECK-NEXT:    cf.br ^[[H:.*]](%[[X]] : i32)
// CHECK-NEXT:  ^[[H]](%[[A:.*]]: i32):
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[H]](%[[A]] : i32), ^[[E:bb[0-9]+]]
// CHECK:       ^[[E]]:
// CHECK-NEXT:    return %[[A]]
func.func @blocks(%c: i1, %x: i32) -> i32 {
  cf.br ^h(%x, %x : i32, i32)
^h(%dead: i32, %a: i32):
  %next = arith.addi %dead, %x : i32
  cf.cond_br %c, ^h(%next, %a : i32, i32), ^e(%dead : i32)
^e(%also_dead: i32):
  return %a : i32
}

// The second carried value is not needed: the loop passes it on as it is.

// CHECK-LABEL: func.func @carried(
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-NEXT:      %[[S:.*]] = arith.addi %[[A]], %[[A]]
// CHECK-NEXT:      scf.yield %[[S]], %[[B]]
func.func @carried(%n: index, %x: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (i32, i32) {
    %s = arith.addi %a, %a : i32
    %t = arith.muli %b, %s : i32
    scf.yield %s, %t : i32, i32
  }
  return %r#0 : i32
}

// A loop without effects whose results nobody needs goes as a whole.

// CHECK-LABEL: func.func @whole_loop(
// CHECK-NEXT:    return
func.func @whole_loop(%n: index, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i32) {
    %s = arith.addi %a, %a : i32
    scf.yield %s : i32
  }
  return
}

// What must be yielded stays, even if the result is not needed.

// CHECK-LABEL: func.func @yielded(
// CHECK:         scf.if
// CHECK:           arith.addi
// CHECK:           scf.yield
func.func @yielded(%c: i1, %x: i32, %m: memref<i32>) {
  %r = scf.if %c -> (i32) {
    %a = arith.addi %x, %x : i32
    memref.store %x, %m[] : memref<i32>
    scf.yield %a : i32
  } else {
    scf.yield %x : i32
  }
  return
}

// Nothing is known of an operation that is not registered.

// CHECK-LABEL: func.func @unknown(
// CHECK-NEXT:    %[[A:.*]] = arith.addi
// CHECK-NEXT:    "foreign.use"(%[[A]])
func.func @unknown(%x: i32) {
  %a = arith.addi %x, %x : i32
  %r = "foreign.use"(%a) : (i32) -> i32
  return
}
