// RUN: sutura-opt %s --convert-scf-to-cf | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(func.func(convert-scf-to-cf))' | FileCheck %s

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[LB:.*]]: index, %[[UB:.*]]: index, %[[STEP:.*]]: index, %[[X:.*]]: f32
// CHECK-NEXT:    cf.br ^[[COND:.*]](%[[LB]], %[[X]] : index, f32)
// CHECK-NEXT:  ^[[COND]](%[[I:.*]]: index, %[[A:.*]]: f32):
// CHECK-NEXT:    %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[UB]] : index
// CHECK-NEXT:    cf.cond_br %[[MORE]], ^[[BODY:.*]], ^[[END:.*]]
// CHECK:       ^[[BODY]]:
// CHECK-NEXT:    %[[Y:.*]] = arith.addf %[[A]], %[[A]] : f32
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[I]], %[[STEP]] : index
// CHECK-NEXT:    cf.br ^[[COND]](%[[NEXT]], %[[Y]] : index, f32)
// CHECK:       ^[[END]]:
// CHECK-NEXT:    return %[[A]] : f32
func.func @loop(%lb: index, %ub: index, %step: index, %x: f32) -> f32 {
  %r = scf.for %i = %lb to %ub step %step iter_args(%a = %x) -> (f32) {
    %y = arith.addf %a, %a : f32
    scf.yield %y : f32
  }
  return %r : f32
}

// CHECK-LABEL: func.func @unsigned(
// CHECK:         arith.cmpi ult
func.func @unsigned(%lb: i8, %ub: i8, %step: i8) {
  scf.for unsigned %i = %lb to %ub step %step : i8 {
  }
  return
}

// Without results there is no block of arguments, and without `else` the condition leads on.

// CHECK-LABEL: func.func @sides(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: i32
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[YES:.*]], ^[[REST:.*]]
// CHECK:       ^[[YES]]:
// CHECK-NEXT:    call @effect()
// CHECK-NEXT:    cf.br ^[[REST]]
// CHECK:       ^[[REST]]:
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[YES2:.*]], ^[[NO2:.*]]
// CHECK:       ^[[YES2]]:
// CHECK-NEXT:    %[[Y:.*]] = arith.addi
// CHECK-NEXT:    cf.br ^[[JOIN:.*]](%[[Y]] : i32)
// CHECK:       ^[[NO2]]:
// CHECK-NEXT:    cf.br ^[[JOIN]](%[[X]] : i32)
// CHECK:       ^[[JOIN]](%[[R:.*]]: i32):
// CHECK-NEXT:    cf.br ^[[LAST:.*]]
// CHECK:       ^[[LAST]]:
// CHECK-NEXT:    return %[[R]] : i32
func.func @sides(%c: i1, %x: i32) -> i32 {
  scf.if %c {
    func.call @effect() : () -> ()
  }
  %r = scf.if %c -> (i32) {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  } else {
    scf.yield %x : i32
  }
  return %r : i32
}
func.func private @effect()

// CHECK-LABEL: func.func @while(
// CHECK-SAME:    %[[X:.*]]: i32, %[[L:.*]]: i32
// CHECK-NEXT:    cf.br ^[[BEFORE:.*]](%[[X]] : i32)
// CHECK-NEXT:  ^[[BEFORE]](%[[A:.*]]: i32):
// CHECK-NEXT:    %[[GO:.*]] = arith.cmpi ult, %[[A]], %[[L]] : i32
// CHECK-NEXT:    cf.cond_br %[[GO]], ^[[AFTER:.*]](%[[A]] : i32), ^[[REST:.*]]
// CHECK:       ^[[AFTER]](%[[B:.*]]: i32):
// CHECK-NEXT:    %[[N:.*]] = arith.addi %[[B]], %[[B]] : i32
// CHECK-NEXT:    cf.br ^[[BEFORE]](%[[N]] : i32)
// CHECK:       ^[[REST]]:
// CHECK-NEXT:    return %[[A]] : i32
func.func @while(%x: i32, %l: i32) -> i32 {
  %r = scf.while (%a = %x) : (i32) -> i32 {
    %go = arith.cmpi ult, %a, %l : i32
    scf.condition(%go) %a : i32
  } do {
  ^bb0(%b: i32):
    %n = arith.addi %b, %b : i32
    scf.yield %n : i32
  }
  return %r : i32
}

// A second region that does nothing gets no block.

// CHECK-LABEL: func.func @do_while(
// CHECK:         cf.br ^[[BEFORE:.*]](%{{.*}} : i32)
// CHECK:       ^[[BEFORE]](
// CHECK:         cf.cond_br %{{.*}}, ^[[BEFORE]](%[[N:.*]] : i32), ^[[REST:.*]]
// CHECK:       ^[[REST]]:
// CHECK-NEXT:    return %[[N]]
func.func @do_while(%x: i32, %l: i32) -> i32 {
  %r = scf.while (%a = %x) : (i32) -> i32 {
    %n = arith.addi %a, %a : i32
    %go = arith.cmpi ult, %n, %l : i32
    scf.condition(%go) %n : i32
  } do {
  ^bb0(%b: i32):
    scf.yield %b : i32
  }
  return %r : i32
}

// CHECK-LABEL: func.func @nested(
// CHECK-NOT:     scf.
// CHECK:         return
func.func @nested(%n: index, %c: i1, %m: memref<?xf32>, %x: f32) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  scf.for %i = %0 to %n step %1 {
    scf.if %c {
      scf.for %j = %0 to %i step %1 {
        memref.store %x, %m[%j] : memref<?xf32>
      }
    } else {
      scf.while : () -> () {
        scf.condition(%c)
      } do {
        scf.yield
      }
    }
  }
  return
}

// Nothing to do.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    return
func.func @none() {
  return
}
