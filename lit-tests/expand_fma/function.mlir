// RUN: not sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=generic},expand-math,expand-fma)' -o /dev/null 2>&1 | FileCheck %s

// A function is expanded into many, of which one is enough to say.
// CHECK-COUNT-1: error: 'math.fma' op needs an instruction that @generic lacks
// CHECK-NOT: error:
func.func @function(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}
