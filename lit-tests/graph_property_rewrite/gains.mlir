// One function for each rule; `passes/tests/documented.rs` makes the table of `docs/passes.md` from the remarks.

// RUN: sutura-opt %s --graph-property-rewrite=fast-math=reassoc,nsz,arcp,afn --check-passes -o /dev/null
// RUN: sutura-opt %s --graph-property-rewrite=fast-math=fast --remarks 2>&1 >/dev/null | FileCheck %s
// RUN: sutura-opt %s --graph-property-rewrite=fast-math=fast -o %t.once
// RUN: sutura-opt %t.once --graph-property-rewrite=fast-math=fast -o %t.twice
// RUN: diff %t.once %t.twice

#id = affine_map<(d0) -> (d0)>
!t = tensor<?xf32, #dyn.shape<[N]>>

// CHECK: remark: a * b + a * c = a * (b + c): 3*N operations{{.*}} become 2*N operations{{.*}}
func.func @common_factor(%A: !t, %B: !t, %C: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B, %C : !t, !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id, #id]} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %a, %c : f32
    %2 = arith.addf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: a * b - a * c = a * (b - c): 3*N operations{{.*}} become 2*N operations{{.*}}
func.func @common_factor_of_difference(%A: !t, %B: !t, %C: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B, %C : !t, !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id, #id]} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %a, %c : f32
    %2 = arith.subf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: (x * c) * d = x * (c * d): 2*N operations{{.*}} become N operations{{.*}}
func.func @factors(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %d = arith.constant 0.7 : f32
    %0 = arith.mulf %a, %c : f32
    %1 = arith.mulf %0, %d : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: (x + c) + d = x + (c + d): 2*N operations{{.*}} become N operations{{.*}}
func.func @terms(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %d = arith.constant 0.7 : f32
    %0 = arith.addf %a, %c : f32
    %1 = arith.addf %0, %d : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: (x * c + d) * e = x * (c * e) + d * e: 3*N operations{{.*}} become 2*N operations{{.*}}
func.func @line(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %d = arith.constant 0.7 : f32
    %e = arith.constant 1.1 : f32
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %0, %d : f32
    %2 = arith.mulf %1, %e : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: x / c = x * (1 / c): 8*N operations{{.*}} become N operations{{.*}}
func.func @by_constant(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 3.0 : f32
    %0 = arith.divf %a, %c : f32
    graph.yield %0 : f32
  }
  return %y : !t
}

// CHECK: remark: x * (1 / y) = x / y: 9*N operations{{.*}} become 8*N operations{{.*}}
func.func @by_reciprocal(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.divf %one, %b : f32
    %1 = arith.mulf %a, %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: a + (-b) = a - b: 2*N operations{{.*}} become N operations{{.*}}
func.func @negated_term(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %b : f32
    %1 = arith.addf %a, %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: a - (-b) = a + b: 2*N operations{{.*}} become N operations{{.*}}
func.func @negated_terms(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %b : f32
    %1 = arith.subf %a, %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: (-a) * (-b) = a * b: 3*N operations{{.*}} become N operations{{.*}}
func.func @negated_factors(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    %1 = arith.negf %b : f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: (-a) / (-b) = a / b: 10*N operations{{.*}} become 8*N operations{{.*}}
func.func @negated_quotient(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    %1 = arith.negf %b : f32
    %2 = arith.divf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: exp(a) * exp(b) = exp(a + b): 41*N operations{{.*}} become 21*N operations{{.*}}
func.func @exponentials(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    %1 = math.exp %b : f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: exp(a) / exp(b) = exp(a - b): 48*N operations{{.*}} become 21*N operations{{.*}}
func.func @quotient_of_exponentials(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    %1 = math.exp %b : f32
    %2 = arith.divf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: 1 / exp(x) = exp(-x): 28*N operations{{.*}} become 21*N operations{{.*}}
func.func @reciprocal_of_exponential(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %0 = math.exp %a : f32
    %1 = arith.divf %one, %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: log(a) + log(b) = log(a * b): 41*N operations{{.*}} become 21*N operations{{.*}}
func.func @logarithms(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = math.log %a : f32
    %1 = math.log %b : f32
    %2 = arith.addf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: log(a) - log(b) = log(a / b): 41*N operations{{.*}} become 28*N operations{{.*}}
func.func @difference_of_logarithms(%A: !t, %B: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A, %B : !t, !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = math.log %a : f32
    %1 = math.log %b : f32
    %2 = arith.subf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: log(exp(x)) = x: 40*N operations{{.*}} become 0 operations{{.*}}
func.func @log_of_exp(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.exp %a : f32
    %1 = math.log %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: exp(log(x)) = x: 40*N operations{{.*}} become 0 operations{{.*}}
func.func @exp_of_log(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.log %a : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: sqrt(x) * sqrt(x) = x: 17*N operations{{.*}} become 0 operations{{.*}}
func.func @square_of_root(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.sqrt %a : f32
    %1 = math.sqrt %a : f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: x / sqrt(x) = sqrt(x): 16*N operations{{.*}} become 8*N operations{{.*}}
func.func @by_root(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %0 = math.sqrt %a : f32
    %1 = arith.divf %a, %0 : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: tanh(log(1 + exp(x))) = n / (n + 2), n = exp(x) * (exp(x) + 2): 61*N operations{{.*}} become 32*N operations{{.*}}
func.func @softplus(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %0 = math.exp %a : f32
    %1 = arith.addf %one, %0 : f32
    %2 = math.log %1 : f32
    %3 = math.tanh %2 : f32
    %4 = arith.mulf %a, %3 : f32
    graph.yield %4 : f32
  }
  return %y : !t
}

// CHECK: remark: tanh(log(1 + exp(x))) = n / (n + 2), n = exp(x) * (exp(x) + 2): 65*N operations{{.*}} become 32*N operations{{.*}}
func.func @softplus_without_overflow(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %0 = math.absf %a : f32
    %1 = arith.negf %0 : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = math.log %3 : f32
    %5 = arith.maximumf %a, %zero : f32
    %6 = arith.addf %5, %4 : f32
    %7 = math.tanh %6 : f32
    %8 = arith.mulf %7, %a : f32
    graph.yield %8 : f32
  }
  return %y : !t
}

// CHECK: remark: 2 / (1 + exp(-x)) - 1 = tanh(x / 2): 32*N operations{{.*}} become 21*N operations{{.*}}
func.func @tanh_of_sigmoid(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %one, %1 : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.mulf %3, %two : f32
    %5 = arith.subf %4, %one : f32
    graph.yield %5 : f32
  }
  return %y : !t
}

// CHECK: remark: max(max(x, c), d) = max(x, max(c, d)): 2*N operations{{.*}} become N operations{{.*}}
func.func @largest(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.constant -1.0 : f32
    %0 = arith.maximumf %a, %c : f32
    %1 = arith.maximumf %0, %zero : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: min(min(x, c), d) = min(x, min(c, d)): 2*N operations{{.*}} become N operations{{.*}}
func.func @least(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 6.0 : f32
    %d = arith.constant 1.0 : f32
    %0 = arith.minimumf %a, %d : f32
    %1 = arith.minimumf %0, %c : f32
    graph.yield %1 : f32
  }
  return %y : !t
}

// CHECK: remark: max(min(max(x, c), d), e) = min(max(x, c), d): 3*N operations{{.*}} become 2*N operations{{.*}}
func.func @clamped(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.constant 6.0 : f32
    %0 = arith.maximumf %a, %zero : f32
    %1 = arith.minimumf %0, %c : f32
    %2 = arith.maximumf %1, %zero : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// CHECK: remark: min(max(min(x, c), d), e) = max(min(x, c), d): 3*N operations{{.*}} become 2*N operations{{.*}}
func.func @clamped_from_above(%A: !t) -> !t {
  %N = dyn.symbol "N" : index
  %y = graph.compute ins(%A : !t) -> !t {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %zero = arith.constant 0.0 : f32
    %c = arith.constant 6.0 : f32
    %0 = arith.minimumf %a, %c : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.minimumf %1, %c : f32
    graph.yield %2 : f32
  }
  return %y : !t
}

// A sum over a dimension along which a factor does not vary.
#row = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: remark: sum(x * c) = sum(x) * c: 16*N operations and 192*N bytes become N operations and 72*N bytes
func.func @sum(%A: tensor<?x16xf32, #dyn.shape<[N, 16]>>) -> !t {
  %N = dyn.symbol "N" : index
  %x = graph.compute ins(%A : tensor<?x16xf32, #dyn.shape<[N, 16]>>) -> tensor<?x16xf32, #dyn.shape<[N, 16]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#all, #all]} {
  ^bb0(%a: f32):
    %c = arith.constant 0.7 : f32
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%x : tensor<?x16xf32, #dyn.shape<[N, 16]>>) -> !t {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %y : !t
}
