// RUN: sutura-opt %s --mem2reg | FileCheck %s
// RUN: sutura-opt %s --mem2reg --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=STATS

// STATS: (S) 8 num-promoted
// STATS: (S) 5 num-block-args
// STATS: (S) 0 num-kept

// Two stores meet in an argument.

// CHECK-LABEL: func.func @diamond(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[L:.*]], ^[[R:bb[0-9]+]]
// CHECK:       ^[[L]]:
// CHECK-NEXT:    cf.br ^[[E:.*]](%[[X]] : i32)
// CHECK:       ^[[R]]:
// CHECK-NEXT:    cf.br ^[[E]](%[[Y]] : i32)
// CHECK:       ^[[E]](%[[V:.*]]: i32):
// CHECK-NEXT:    return %[[V]]
func.func @diamond(%c: i1, %x: i32, %y: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  cf.cond_br %c, ^l, ^r
^l:
  memref.store %x, %a[] : memref<i32>
  cf.br ^e
^r:
  memref.store %y, %a[] : memref<i32>
  cf.br ^e
^e:
  %v = memref.load %a[] : memref<i32>
  return %v : i32
}

// What a loop changes goes around in arguments.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[N:.*]]: i32)
// CHECK-NEXT:    %[[Z:.*]] = arith.constant 0
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1
// CHECK-NEXT:    cf.br ^[[H:.*]](%[[Z]], %[[Z]] : i32, i32)
// CHECK-NEXT:  ^[[H]](%[[S:.*]]: i32, %[[I:.*]]: i32):
// CHECK-NEXT:    %[[GO:.*]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK:         %[[S2:.*]] = arith.addi %[[S]], %[[I]]
// CHECK-NEXT:    %[[I2:.*]] = arith.addi %[[I]], %[[ONE]]
// CHECK-NEXT:    cf.br ^[[H]](%[[S2]], %[[I2]] : i32, i32)
// CHECK:         return %[[S]]
func.func @loop(%n: i32) -> i32 {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %a = memref.alloca() : memref<i32>
  %i = memref.alloca() : memref<i32>
  memref.store %z, %a[] : memref<i32>
  memref.store %z, %i[] : memref<i32>
  cf.br ^h
^h:
  %iv = memref.load %i[] : memref<i32>
  %go = arith.cmpi slt, %iv, %n : i32
  cf.cond_br %go, ^b, ^e
^b:
  %av = memref.load %a[] : memref<i32>
  %s = arith.addi %av, %iv : i32
  memref.store %s, %a[] : memref<i32>
  %i2 = arith.addi %iv, %one : i32
  memref.store %i2, %i[] : memref<i32>
  cf.br ^h
^e:
  %r = memref.load %a[] : memref<i32>
  return %r : i32
}

// What was not written is the default value.

// CHECK-LABEL: func.func @uninitialized(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: f32)
// CHECK-NEXT:    %[[D:.*]] = arith.constant 0.0
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[L:.*]], ^[[E:bb[0-9]+]](%[[D]] : f32)
// CHECK:         cf.br ^[[E]](%[[X]] : f32)
func.func @uninitialized(%c: i1, %x: f32) -> f32 {
  %a = memref.alloca() : memref<f32>
  cf.cond_br %c, ^l, ^e
^l:
  memref.store %x, %a[] : memref<f32>
  cf.br ^e
^e:
  %v = memref.load %a[] : memref<f32>
  return %v : f32
}

// Each case passes the value on, beside the arguments that were there.

// CHECK-LABEL: func.func @switch(
// CHECK-SAME:    %[[C:.*]]: i32, %[[X:.*]]: i32, %[[Y:.*]]: i32)
// CHECK:         default: ^[[E:.*]](%[[X]], %[[X]] : i32, i32),
// CHECK-NEXT:    1: ^[[O:[^ ]*]],
// CHECK-NEXT:    2: ^[[E]](%[[Y]], %[[X]] : i32, i32)
// CHECK:       ^[[O]]:
// CHECK-NEXT:    cf.br ^[[E]](%[[Y]], %[[Y]] : i32, i32)
func.func @switch(%c: i32, %x: i32, %y: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  cf.switch %c : i32, [ default: ^e(%x : i32), 1: ^o, 2: ^e(%y : i32) ]
^o:
  memref.store %y, %a[] : memref<i32>
  cf.br ^e(%y : i32)
^e(%p: i32):
  %r = memref.load %a[] : memref<i32>
  %s = arith.addi %r, %p : i32
  return %s : i32
}

// The memory is new each time: no argument at the head of the loop.

// CHECK-LABEL: func.func @allocated_in_loop(
// CHECK:       ^[[H:.*]]:  // 2 preds
// CHECK-NOT:     memref
// CHECK:         cf.cond_br %{{.*}}, ^[[H]], ^
func.func @allocated_in_loop(%c: i1, %x: i32) -> i32 {
  cf.br ^h
^h:
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  %v = memref.load %a[] : memref<i32>
  cf.cond_br %c, ^h, ^e
^e:
  return %v : i32
}

// What is only written goes away, without an argument.

// CHECK-LABEL: func.func @never_read(
// CHECK-NOT:     memref
// CHECK:         cf.br ^[[E:.*]]{{$}}
// CHECK-NEXT:  ^[[E]]:
// CHECK-NEXT:    return
func.func @never_read(%c: i1, %x: i32) {
  %a = memref.alloca() : memref<1xi32>
  %z = arith.constant 0 : index
  cf.cond_br %c, ^l, ^e
^l:
  memref.store %x, %a[%z] : memref<1xi32>
  cf.br ^e
^e:
  return
}

// What is read and written back does not refer to itself.

// CHECK-LABEL: func.func @copies(
// CHECK-SAME:    %[[X:.*]]: i32)
// CHECK-NEXT:    return %[[X]]
func.func @copies(%x: i32) -> i32 {
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  %v = memref.load %a[] : memref<i32>
  memref.store %v, %a[] : memref<i32>
  %w = memref.load %a[] : memref<i32>
  return %w : i32
}
