// Functions of single numbers that a network puts between its layers. A body that needs numbers which f32 would round is
// written in f64, so that each element type rounds them once.

#id = affine_map<(d0) -> (d0)>
!f32 = tensor<?xf32, #dyn.shape<[A]>>
!f64 = tensor<?xf64, #dyn.shape<[A]>>

graph.operator @gelu {
  summary = "x * P(X <= x) of a normal distribution, by the error function",
  elements = [f64, f32, bf16, f16], groups = {A},
  onnx = [{op = "Gelu", with = {approximate = "none"}}, {domain = "com.microsoft", op = "Gelu"}]
} {
^bb0(%x: !f64):
  %y = graph.compute ins(%x : !f64) -> !f64 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f64):
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %root = arith.constant 0.70710678118654752 : f64
    %scaled = arith.mulf %e, %root : f64
    %inner = math.erf %scaled : f64
    %sum = arith.addf %one, %inner : f64
    %halved = arith.mulf %half, %e : f64
    %r = arith.mulf %halved, %sum : f64
    graph.yield %r : f64
  }
  graph.yield %y : !f64
}

graph.operator @gelu_tanh {
  summary = "gelu, with the error function approximated by tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))",
  elements = [f64, f32, bf16, f16], groups = {A},
  onnx = [{op = "Gelu", with = {approximate = "tanh"}}]
} {
^bb0(%x: !f64):
  %y = graph.compute ins(%x : !f64) -> !f64 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f64):
    %half = arith.constant 0.5 : f64
    %one = arith.constant 1.0 : f64
    %cubic = arith.constant 0.044715 : f64
    %root = arith.constant 0.79788456080286536 : f64
    %square = arith.mulf %e, %e : f64
    %cube = arith.mulf %square, %e : f64
    %part = arith.mulf %cubic, %cube : f64
    %whole = arith.addf %e, %part : f64
    %scaled = arith.mulf %root, %whole : f64
    %inner = math.tanh %scaled : f64
    %sum = arith.addf %one, %inner : f64
    %halved = arith.mulf %half, %e : f64
    %r = arith.mulf %halved, %sum : f64
    graph.yield %r : f64
  }
  graph.yield %y : !f64
}

graph.operator @softplus {
  summary = "log(1 + exp(x)), as max(x, 0) + log(1 + exp(-|x|)), which does not overflow",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "Softplus"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %size = math.absf %e : f32
    %negative = arith.negf %size : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %log = math.log %sum : f32
    %positive = arith.maximumf %e, %zero : f32
    %r = arith.addf %positive, %log : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @hard_sigmoid {
  summary = "max(0, min(1, alpha * x + beta))",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 0.2 : f32, beta = 0.5 : f32},
  onnx = [{op = "HardSigmoid"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %alpha = graph.param "alpha" : f32
    %beta = graph.param "beta" : f32
    %scaled = arith.mulf %alpha, %e : f32
    %line = arith.addf %scaled, %beta : f32
    %below = arith.minimumf %line, %one : f32
    %r = arith.maximumf %zero, %below : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @hard_swish {
  summary = "x * max(0, min(1, x / 6 + 0.5))",
  elements = [f64, f32, bf16, f16], groups = {A},
  onnx = [{op = "HardSwish"}]
} {
^bb0(%x: !f64):
  %y = graph.compute ins(%x : !f64) -> !f64 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f64):
    %zero = arith.constant 0.0 : f64
    %one = arith.constant 1.0 : f64
    %sixth = arith.constant 0.16666666666666666 : f64
    %half = arith.constant 0.5 : f64
    %scaled = arith.mulf %sixth, %e : f64
    %line = arith.addf %scaled, %half : f64
    %below = arith.minimumf %line, %one : f64
    %gate = arith.maximumf %zero, %below : f64
    %r = arith.mulf %e, %gate : f64
    graph.yield %r : f64
  }
  graph.yield %y : !f64
}

graph.operator @elu {
  summary = "x where it is not negative, else alpha * (exp(x) - 1)",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 1.0 : f32},
  onnx = [{op = "Elu"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %alpha = graph.param "alpha" : f32
    %exp = math.exp %e : f32
    %less = arith.subf %exp, %one : f32
    %below = arith.mulf %alpha, %less : f32
    %negative = arith.cmpf olt, %e, %zero : f32
    %r = arith.select %negative, %below, %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @leaky_relu {
  summary = "x where it is not negative, else alpha * x",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 0.01 : f32},
  onnx = [{op = "LeakyRelu"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %alpha = graph.param "alpha" : f32
    %negative = arith.cmpf olt, %e, %zero : f32
    %scaled = arith.mulf %alpha, %e : f32
    %r = arith.select %negative, %scaled, %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @sigmoid {
  summary = "1 / (1 + exp(-x))",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "Sigmoid"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %negative = arith.negf %e : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %r = arith.divf %one, %sum : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @swish {
  summary = "x / (1 + exp(-alpha * x))",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 1.0 : f32},
  onnx = [{op = "Swish"}, {domain = "com.microsoft", op = "QuickGelu"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %alpha = graph.param "alpha" : f32
    %less = arith.negf %alpha : f32
    %negative = arith.mulf %less, %e : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %r = arith.divf %e, %sum : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

// With t = exp(-|x|), tanh(log(1 + exp(x))) is (1 + 2t) / (1 + 2t + 2t^2) where x is not negative, and n / (n + 2) with
// n = t^2 + 2t where it is: neither overflows, and small results keep their digits.
graph.operator @mish {
  summary = "x * tanh(log(1 + exp(x)))",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "Mish"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %size = math.absf %e : f32
    %less = arith.negf %size : f32
    %t = math.exp %less : f32
    %double = arith.mulf %two, %t : f32
    %square = arith.mulf %t, %t : f32
    %n = arith.addf %square, %double : f32
    %high = arith.addf %one, %double : f32
    %squares = arith.mulf %two, %square : f32
    %whole = arith.addf %high, %squares : f32
    %more = arith.addf %n, %two : f32
    %negative = arith.cmpf olt, %e, %zero : f32
    %dividend = arith.select %negative, %n, %high : f32
    %divisor = arith.select %negative, %more, %whole : f32
    %gate = arith.divf %dividend, %divisor : f32
    %r = arith.mulf %e, %gate : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @selu {
  summary = "gamma * x where x is positive, else gamma * alpha * (exp(x) - 1)",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 1.67326319 : f32, gamma = 1.05070102 : f32},
  onnx = [{op = "Selu"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %alpha = graph.param "alpha" : f32
    %gamma = graph.param "gamma" : f32
    %exp = math.exp %e : f32
    %less = arith.subf %exp, %one : f32
    %below = arith.mulf %alpha, %less : f32
    %positive = arith.cmpf ogt, %e, %zero : f32
    %part = arith.select %positive, %e, %below : f32
    %r = arith.mulf %gamma, %part : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @celu {
  summary = "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 1.0 : f32},
  onnx = [{op = "Celu"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %alpha = graph.param "alpha" : f32
    %scaled = arith.divf %e, %alpha : f32
    %exp = math.exp %scaled : f32
    %less = arith.subf %exp, %one : f32
    %below = arith.mulf %alpha, %less : f32
    %negative = arith.minimumf %zero, %below : f32
    %positive = arith.maximumf %zero, %e : f32
    %r = arith.addf %positive, %negative : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @swiglu {
  summary = "swish(a) * b: a gate, and what it lets through",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 1.0 : f32},
  onnx = [{op = "SwiGLU"}]
} {
^bb0(%a: !f32, %b: !f32):
  %gate = graph.apply @swish(%a) {alpha = "alpha"} : (!f32) -> !f32
  %y = graph.compute ins(%gate, %b : !f32, !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%open: f32, %e: f32):
    %r = arith.mulf %open, %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @softsign {
  summary = "x / (1 + |x|)",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "Softsign"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %size = math.absf %e : f32
    %sum = arith.addf %one, %size : f32
    %r = arith.divf %e, %sum : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @thresholded_relu {
  summary = "x where it is greater than alpha, else 0",
  laws = ["idempotent"],
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {alpha = 1.0 : f32},
  onnx = [{op = "ThresholdedRelu"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %alpha = graph.param "alpha" : f32
    %above = arith.cmpf ogt, %e, %alpha : f32
    %r = arith.select %above, %e, %zero : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @shrink {
  summary = "x + bias below -lambd, x - bias above lambd, else 0",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {bias = 0.0 : f32, lambd = 0.5 : f32},
  onnx = [{op = "Shrink"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %bias = graph.param "bias" : f32
    %most = graph.param "lambd" : f32
    %least = arith.negf %most : f32
    %low = arith.cmpf olt, %e, %least : f32
    %high = arith.cmpf ogt, %e, %most : f32
    %raised = arith.addf %e, %bias : f32
    %lowered = arith.subf %e, %bias : f32
    %upper = arith.select %high, %lowered, %zero : f32
    %r = arith.select %low, %raised, %upper : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @prelu {
  summary = "x where it is not negative, else slope * x",
  elements = [f32, bf16, f16, f64, i32, i64], groups = {A}, broadcast = array<i64: 1>,
  onnx = [{op = "PRelu"}]
} {
^bb0(%x: !f32, %slope: !f32):
  %y = graph.compute ins(%x, %slope : !f32, !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%e: f32, %s: f32):
    %zero = arith.constant 0.0 : f32
    %scaled = arith.mulf %s, %e : f32
    %negative = arith.cmpf olt, %e, %zero : f32
    %r = arith.select %negative, %scaled, %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}
