// Functions of single numbers and of pairs of them.

#id = affine_map<(d0) -> (d0)>
!f16 = tensor<?xf16, #dyn.shape<[A]>>
!f32 = tensor<?xf32, #dyn.shape<[A]>>
!i1 = tensor<?xi1, #dyn.shape<[A]>>
!i32 = tensor<?xi32, #dyn.shape<[A]>>
!i64 = tensor<i64>

graph.operator @sign {
  summary = "-1, 0 or 1; NaN where x is",
  laws = ["idempotent"],
  elements = [f32, bf16, f16, f64, i8, i16, i32, i64], groups = {A},
  onnx = [{op = "Sign"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %minus = arith.constant -1.0 : f32
    %high = arith.cmpf ogt, %e, %zero : f32
    %low = arith.cmpf olt, %e, %zero : f32
    %none = arith.cmpf oeq, %e, %zero : f32
    %rest = arith.select %none, %zero, %e : f32
    %below = arith.select %low, %minus, %rest : f32
    %r = arith.select %high, %one, %below : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @is_nan {
  summary = "whether x is no number",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "IsNaN"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !i1 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %r = arith.cmpf uno, %e, %e : f32
    graph.yield %r : i1
  }
  graph.yield %y : !i1
}

graph.operator @is_inf {
  summary = "whether x is infinite, of one of the signs that are asked for",
  elements = [f32, bf16, f16, f64], groups = {A},
  attributes = {detect_negative = 1 : i64, detect_positive = 1 : i64},
  onnx = [{op = "IsInf"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !i1 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %zero = arith.constant 0.0 : f32
    %infinity = arith.constant 0x7F800000 : f32
    %none = arith.constant 0 : i64
    %negative = graph.param "detect_negative" : i64
    %positive = graph.param "detect_positive" : i64
    %below = arith.cmpi ne, %negative, %none : i64
    %above = arith.cmpi ne, %positive, %none : i64
    %size = math.absf %e : f32
    %infinite = arith.cmpf oeq, %size, %infinity : f32
    %low = arith.cmpf olt, %e, %zero : f32
    %asked = arith.select %low, %below, %above : i1
    %r = arith.andi %infinite, %asked : i1
    graph.yield %r : i1
  }
  graph.yield %y : !i1
}

graph.operator @tan {
  summary = "the tangent",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "Tan"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %r = math.tan %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @atan {
  summary = "the arctangent",
  elements = [f32, bf16, f16, f64], groups = {A},
  onnx = [{op = "Atan"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins(%x : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %r = math.atan %e : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @asin {
  summary = "the arcsine, as the angle of the point (sqrt((1 - x) * (1 + x)), x)",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Asin"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %e : f16 to f32
    %below = arith.subf %one, %wide : f32
    %above = arith.addf %one, %wide : f32
    %square = arith.mulf %below, %above : f32
    %other = math.sqrt %square : f32
    %angle = math.atan2 %wide, %other : f32
    %r = arith.truncf %angle : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @acos {
  summary = "the arccosine, as the angle of the point (x, sqrt((1 - x) * (1 + x)))",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Acos"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %e : f16 to f32
    %below = arith.subf %one, %wide : f32
    %above = arith.addf %one, %wide : f32
    %square = arith.mulf %below, %above : f32
    %other = math.sqrt %square : f32
    %angle = math.atan2 %other, %wide : f32
    %r = arith.truncf %angle : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @sinh {
  summary = "the hyperbolic sine, as (y + y / (y + 1)) / 2 with y = exp(|x|) - 1, in halves of the exponent where that overflows",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Sinh"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %far = arith.constant 40.0 : f32
    %wide = arith.extf %e : f16 to f32
    %size = math.absf %wide : f32
    %less = math.expm1 %size : f32
    %more = arith.addf %less, %one : f32
    %part = arith.divf %less, %more : f32
    %sum = arith.addf %less, %part : f32
    %near = arith.mulf %half, %sum : f32
    %halved = arith.mulf %half, %size : f32
    %root = math.exp %halved : f32
    %first = arith.mulf %half, %root : f32
    %beyond = arith.mulf %first, %root : f32
    %large = arith.cmpf ogt, %size, %far : f32
    %magnitude = arith.select %large, %beyond, %near : f32
    %signed = math.copysign %magnitude, %wide : f32
    %r = arith.truncf %signed : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @cosh {
  summary = "the hyperbolic cosine, as (y * y + 1 / (y * y)) / 2 with y = exp(|x| / 2)",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Cosh"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %half = arith.constant 0.5 : f32
    %wide = arith.extf %e : f16 to f32
    %size = math.absf %wide : f32
    %halved = arith.mulf %half, %size : f32
    %root = math.exp %halved : f32
    %first = arith.mulf %half, %root : f32
    %grown = arith.mulf %first, %root : f32
    %shrunk = arith.divf %half, %root : f32
    %small = arith.divf %shrunk, %root : f32
    %sum = arith.addf %grown, %small : f32
    %r = arith.truncf %sum : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @asinh {
  summary = "the inverse of sinh, as log1p(y + y * y / (1 + sqrt(y * y + 1))) with y = |x|, and log(2) + log(y) where that is the same",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Asinh"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %far = arith.constant 1.0e+9 : f32
    %wide = arith.extf %e : f16 to f32
    %size = math.absf %wide : f32
    %square = arith.mulf %size, %size : f32
    %more = arith.addf %square, %one : f32
    %root = math.sqrt %more : f32
    %divisor = arith.addf %one, %root : f32
    %part = arith.divf %square, %divisor : f32
    %whole = arith.addf %size, %part : f32
    %near = math.log1p %whole : f32
    %first = math.log %two : f32
    %second = math.log %size : f32
    %beyond = arith.addf %first, %second : f32
    %large = arith.cmpf ogt, %size, %far : f32
    %magnitude = arith.select %large, %beyond, %near : f32
    %signed = math.copysign %magnitude, %wide : f32
    %r = arith.truncf %signed : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @acosh {
  summary = "the inverse of cosh, as log1p(y + sqrt(2 * y + y * y)) with y = x - 1, and log(2) + log(x) where that is the same",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Acosh"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %far = arith.constant 1.0e+9 : f32
    %wide = arith.extf %e : f16 to f32
    %less = arith.subf %wide, %one : f32
    %square = arith.mulf %less, %less : f32
    %double = arith.mulf %two, %less : f32
    %sum = arith.addf %double, %square : f32
    %root = math.sqrt %sum : f32
    %whole = arith.addf %less, %root : f32
    %near = math.log1p %whole : f32
    %first = math.log %two : f32
    %second = math.log %wide : f32
    %beyond = arith.addf %first, %second : f32
    %large = arith.cmpf ogt, %wide, %far : f32
    %chosen = arith.select %large, %beyond, %near : f32
    %r = arith.truncf %chosen : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @atanh {
  summary = "the inverse of tanh, as log1p(2 * y / (1 - y)) / 2 with y = |x|",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {A},
  onnx = [{op = "Atanh"}]
} {
^bb0(%x: !f16):
  %y = graph.compute ins(%x : !f16) -> !f16 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f16):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %wide = arith.extf %e : f16 to f32
    %size = math.absf %wide : f32
    %double = arith.mulf %two, %size : f32
    %rest = arith.subf %one, %size : f32
    %quotient = arith.divf %double, %rest : f32
    %log = math.log1p %quotient : f32
    %magnitude = arith.mulf %half, %log : f32
    %signed = math.copysign %magnitude, %wide : f32
    %r = arith.truncf %signed : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !f16
}

graph.operator @bitwise_not {
  summary = "every bit inverted",
  laws = ["involution"],
  elements = [i32, i8, i16, i64], groups = {A},
  onnx = [{op = "BitwiseNot", unsigned = "bits"}]
} {
^bb0(%x: !i32):
  %y = graph.compute ins(%x : !i32) -> !i32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%e: i32):
    %ones = arith.constant -1 : i32
    %r = arith.xori %e, %ones : i32
    graph.yield %r : i32
  }
  graph.yield %y : !i32
}

graph.operator @bitwise_and {
  summary = "the bits of both",
  elements = [i32, i8, i16, i64], groups = {A}, broadcast = array<i64: 0, 1>,
  onnx = [{op = "BitwiseAnd", unsigned = "bits"}]
} {
^bb0(%a: !i32, %b: !i32):
  %y = graph.compute ins(%a, %b : !i32, !i32) -> !i32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: i32, %z: i32):
    %r = arith.andi %x, %z : i32
    graph.yield %r : i32
  }
  graph.yield %y : !i32
}

graph.operator @bitwise_or {
  summary = "the bits of either",
  elements = [i32, i8, i16, i64], groups = {A}, broadcast = array<i64: 0, 1>,
  onnx = [{op = "BitwiseOr", unsigned = "bits"}]
} {
^bb0(%a: !i32, %b: !i32):
  %y = graph.compute ins(%a, %b : !i32, !i32) -> !i32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: i32, %z: i32):
    %r = arith.ori %x, %z : i32
    graph.yield %r : i32
  }
  graph.yield %y : !i32
}

graph.operator @bitwise_xor {
  summary = "the bits of just one",
  elements = [i32, i8, i16, i64], groups = {A}, broadcast = array<i64: 0, 1>,
  onnx = [{op = "BitwiseXor", unsigned = "bits"}]
} {
^bb0(%a: !i32, %b: !i32):
  %y = graph.compute ins(%a, %b : !i32, !i32) -> !i32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: i32, %z: i32):
    %r = arith.xori %x, %z : i32
    graph.yield %r : i32
  }
  graph.yield %y : !i32
}

graph.operator @xor {
  summary = "whether just one is true",
  elements = [i1], groups = {A}, broadcast = array<i64: 0, 1>,
  onnx = [{op = "Xor", since = 7 : i64}]
} {
^bb0(%a: !i1, %b: !i1):
  %y = graph.compute ins(%a, %b : !i1, !i1) -> !i1 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: i1, %z: i1):
    %r = arith.xori %x, %z : i1
    graph.yield %r : i1
  }
  graph.yield %y : !i1
}

graph.operator @sum {
  summary = "a + b",
  elements = [f32, bf16, f16, f64], groups = {A}, broadcast = array<i64: 0, 1>,
  onnx = [{op = "Sum", variadic}]
} {
^bb0(%a: !f32, %b: !f32):
  %y = graph.compute ins(%a, %b : !f32, !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%x: f32, %z: f32):
    %r = arith.addf %x, %z : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @mean {
  summary = "a sum of `count` tensors divided by their number",
  elements = [f32, bf16, f16, f64], groups = {A}, attributes = {count = i64},
  onnx = [{op = "Mean", variadic = "sum"}]
} {
^bb0(%a: !f32):
  %y = graph.compute ins(%a : !f32) -> !f32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%x: f32):
    %count = graph.param "count" : f32
    %r = arith.divf %x, %count : f32
    graph.yield %r : f32
  }
  graph.yield %y : !f32
}

graph.operator @size {
  summary = "the number of elements",
  elements = [f32, bf16, f16, f64, i1, i8, i16, i32, i64], groups = {A},
  onnx = [{op = "Size"}]
} {
^bb0(%x: !f32):
  %y = graph.compute ins() -> !i64 {iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>]} {
    %n = graph.size [A] : index
    %r = arith.index_cast %n : index to i64
    graph.yield %r : i64
  }
  graph.yield %y : !i64
}
