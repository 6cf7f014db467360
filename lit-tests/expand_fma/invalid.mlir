// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=generic},expand-fma)' --verify-diagnostics

func.func @double(%a: f64, %b: f64, %c: f64) -> f64 {
  // expected-error @below {{'math.fma' op needs an instruction that @generic lacks}}
  %d = math.fma %a, %b, %c : f64
  return %d : f64
}
