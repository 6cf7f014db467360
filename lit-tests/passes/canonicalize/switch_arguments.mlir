// RUN: sutura-opt %s --canonicalize | FileCheck %s

// An argument that nobody needs leaves the cases of a switch as well.

// CHECK-LABEL: func.func @unused(
// CHECK:         default: ^[[E:.*]](%{{.*}} : i32),
// CHECK:         2: ^[[E]](%{{.*}} : i32)
// CHECK:       ^[[E]](%[[P:.*]]: i32):
// CHECK-NEXT:    return %[[P]]
func.func @unused(%c: i32, %x: i32, %y: i32) -> i32 {
  cf.switch %c : i32, [ default: ^e(%x, %x : i32, i32), 1: ^o, 2: ^e(%y, %x : i32, i32) ]
^o:
  cf.br ^e(%y, %y : i32, i32)
^e(%p: i32, %q: i32):
  return %p : i32
}
