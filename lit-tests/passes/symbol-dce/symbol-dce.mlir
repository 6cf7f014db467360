// RUN: sutura-opt %s --symbol-dce | FileCheck %s --implicit-check-not=func.func

// CHECK: func.func @public
func.func @public() {
  call @used() : () -> ()
  return
}
// CHECK: func.func private @used
func.func private @used() {
  call @used_by_used() : () -> ()
  return
}
// CHECK: func.func private @used_by_used
func.func private @used_by_used() {
  return
}
// Two that call only each other.
func.func private @ping() {
  call @pong() : () -> ()
  return
}
func.func private @pong() {
  call @ping() : () -> ()
  return
}
func.func private @declared()
