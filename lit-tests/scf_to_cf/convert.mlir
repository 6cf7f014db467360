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

// Iterations run in order, the last variable the fastest; reductions are carried.
// CHECK-LABEL: func.func @parallel(
// CHECK-SAME:    %[[N:.*]]: index, %[[M:.*]]: memref<?x?xf32>, %[[X:.*]]: f32)
// CHECK:         cf.br ^[[OUTER:.*]](%{{.*}}, %{{.*}}, %[[X]] : index, f32, f32)
// CHECK-NEXT:  ^[[OUTER]](%[[I:[^:]*]]: index, %[[A:[^:]*]]: f32, %[[B:[^:]*]]: f32):
// CHECK-NEXT:    %[[IN:.*]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK-NEXT:    cf.cond_br %[[IN]], ^[[ENTER:.*]], ^[[DONE:.*]]
// CHECK-NEXT:  ^[[ENTER]]:
// CHECK-NEXT:    cf.br ^[[INNER:.*]](%{{.*}}, %[[A]], %[[B]] : index, f32, f32)
// CHECK-NEXT:  ^[[INNER]](%[[J:[^:]*]]: index, %[[C:[^:]*]]: f32, %[[D:[^:]*]]: f32):
// CHECK:         %[[V:.*]] = memref.load %[[M]][%[[I]], %[[J]]]
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[C]], %[[V]]
// CHECK-NEXT:    %[[P:.*]] = arith.maximumf %[[V]], %[[D]]
// CHECK-NEXT:    %[[K:.*]] = arith.addi %[[J]]
// CHECK-NEXT:    cf.br ^[[INNER]](%[[K]], %[[S]], %[[P]] : index, f32, f32)
// CHECK:         cf.br ^[[OUTER]](%{{.*}}, %[[C]], %[[D]] : index, f32, f32)
// CHECK-NEXT:  ^[[DONE]]:
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @parallel(%n: index, %m: memref<?x?xf32>, %x: f32) -> (f32, f32) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r:2 = scf.parallel (%i, %j) = (%0, %1) to (%n, %n) step (%1, %1) init (%z, %x) -> (f32, f32) {
    %v = memref.load %m[%i, %j] : memref<?x?xf32>
    scf.reduce(%v, %v : f32, f32) {
    ^bb0(%l: f32, %q: f32):
      %s = arith.addf %l, %q : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%l: f32, %q: f32):
      %s = arith.maximumf %q, %l : f32
      scf.reduce.return %s : f32
    }
  }
  return %r#0, %r#1 : f32, f32
}

// Bounds that are numbers become constants.
// CHECK-LABEL: func.func @forall(
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK:         arith.cmpi slt, %[[A:.*]], %[[FOUR]]
// CHECK:         memref.store %{{.*}}, %{{.*}}[%[[A]], %{{.*}}]
// CHECK-NOT:     scf.
func.func @forall(%n: index, %m: memref<?x?xf32>, %x: f32) {
  scf.forall (%a, %b) in (4, %n) {
    memref.store %x, %m[%a, %b] : memref<?x?xf32>
  }
  return
}

// CHECK-LABEL: func.func @execute_region(
// CHECK-SAME:    %[[C:.*]]: i1, %[[X:.*]]: i32)
// CHECK-NEXT:    cf.br ^[[FIRST:.*]]
// CHECK-NEXT:  ^[[FIRST]]:
// CHECK-NEXT:    cf.cond_br %[[C]], ^[[A:.*]], ^[[B:.*]]
// CHECK-NEXT:  ^[[A]]:
// CHECK-NEXT:    cf.br ^[[REST:.*]](%[[X]] : i32)
// CHECK-NEXT:  ^[[B]]:
// CHECK-NEXT:    %[[Y:.*]] = arith.addi %[[X]], %[[X]]
// CHECK-NEXT:    cf.br ^[[REST]](%[[Y]] : i32)
// CHECK-NEXT:  ^[[REST]](%[[R:[^:]*]]: i32):
// CHECK-NEXT:    return %[[R]]
func.func @execute_region(%c: i1, %x: i32) -> i32 {
  %r = scf.execute_region -> i32 {
    cf.cond_br %c, ^a, ^b
  ^a:
    scf.yield %x : i32
  ^b:
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  return %r : i32
}

// Nothing to do.
// CHECK-LABEL: func.func @none(
// CHECK-NEXT:    return
func.func @none() {
  return
}
