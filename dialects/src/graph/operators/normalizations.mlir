// What is normalised by its own statistics. O holds the dimensions before the normalised ones, N those, I the ones behind.

#oni = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#oi_of_oni = affine_map<(d0, d1, d2) -> (d0, d2)>
#oi = affine_map<(d0, d1) -> (d0, d1)>
#on = affine_map<(d0, d1) -> (d0, d1)>
#o = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
#ok_of_on = affine_map<(d0, d1) -> (d0, 0)>
#c_of_bcs = affine_map<(d0, d1, d2) -> (d1)>
#bgks = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#g_of_bgks = affine_map<(d0, d1, d2, d3) -> (d1)>
#c_of_bchw = affine_map<(d0, d1, d2, d3) -> (d1)>

!oni = tensor<?x?x?xf32, #dyn.shape<[O, N, I]>>
!oi = tensor<?x?xf32, #dyn.shape<[O, I]>>
!on = tensor<?x?xf32, #dyn.shape<[O, N]>>
!o = tensor<?xf32, #dyn.shape<[O]>>
!on16 = tensor<?x?xf16, #dyn.shape<[O, N]>>
!o32 = tensor<?xf32, #dyn.shape<[O]>>
!ok = tensor<?x?xf32, #dyn.shape<[O, K]>>
!bcs16 = tensor<?x?x?xf16, #dyn.shape<[B, C, S]>>
!c16 = tensor<?xf16, #dyn.shape<[C]>>
!c32 = tensor<?xf32, #dyn.shape<[C]>>
!bchw16 = tensor<?x?x?x?xf16, #dyn.shape<[B, C, H, W]>>
!bgks16 = tensor<?x?x?xf16, #dyn.shape<[B, G * K, S]>>
!parts16 = tensor<?x?x?x?xf16, #dyn.shape<[B, G, K, S]>>
!gk16 = tensor<?xf16, #dyn.shape<[G * K]>>
!g16 = tensor<?xf16, #dyn.shape<[G]>>
!bcs = tensor<?x?x?xf32, #dyn.shape<[B, C, S]>>
!c = tensor<?xf32, #dyn.shape<[C]>>

// One term of each sum is 1, so that its reciprocal loses nothing but a rounding, and takes the place of a division for each
// element.
graph.operator @softmax {
  summary = "exp(x) / sum(exp(x)) along a dimension, shifted by the maximum",
  leaves_name, laws = ["shift invariant"],
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", I},
  attributes = {axis = -1 : i64},
  onnx = [{op = "Softmax", since = 13 : i64}]
} {
^bb0(%x: !oni):
  %max = graph.compute ins(%x : !oni) -> !oi
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %exp = graph.compute ins(%x, %max : !oni, !oi) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f32, %m: f32):
    %shifted = arith.subf %e, %m : f32
    %r = math.exp %shifted : f32
    graph.yield %r : f32
  }
  %sum = graph.compute ins(%exp : !oni) -> !oi
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %factor = graph.compute ins(%sum : !oi) -> !oi {iterators = #graph.iterators<[parallel, parallel]>, maps = [#oi, #oi]} {
  ^bb0(%s: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.divf %one, %s : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%exp, %factor : !oni, !oi) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f32, %f: f32):
    %r = arith.mulf %e, %f : f32
    graph.yield %r : f32
  }
  graph.yield %y : !oni
}

// As programs write it that have no operator for it.
graph.operator @softmax_by_division {
  summary = "exp(x) / sum(exp(x)) along a dimension, shifted by the maximum, with a division for each element",
  leaves_name, laws = ["shift invariant"],
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", I},
  attributes = {axis = -1 : i64}
} {
^bb0(%x: !oni):
  %max = graph.compute ins(%x : !oni) -> !oi
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %exp = graph.compute ins(%x, %max : !oni, !oi) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f32, %m: f32):
    %shifted = arith.subf %e, %m : f32
    %r = math.exp %shifted : f32
    graph.yield %r : f32
  }
  %sum = graph.compute ins(%exp : !oni) -> !oi
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %y = graph.compute ins(%exp, %sum : !oni, !oi) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.divf %e, %s : f32
    graph.yield %r : f32
  }
  graph.yield %y : !oni
}

graph.operator @log_softmax {
  summary = "the logarithm of softmax: x - max - log(sum(exp(x - max)))",
  laws = ["shift invariant"],
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", I},
  attributes = {axis = -1 : i64},
  onnx = [{op = "LogSoftmax", since = 13 : i64}]
} {
^bb0(%x: !oni):
  %max = graph.compute ins(%x : !oni) -> !oi
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %sum = graph.compute ins(%x, %max : !oni, !oi) -> !oi
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi_of_oni, #oi_of_oni]} {
  ^bb0(%e: f32, %m: f32):
    %shifted = arith.subf %e, %m : f32
    %r = math.exp %shifted : f32
    graph.yield %r : f32
  }
  %log = graph.compute ins(%sum : !oi) -> !oi {iterators = #graph.iterators<[parallel, parallel]>, maps = [#oi, #oi]} {
  ^bb0(%s: f32):
    %r = math.log %s : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %max, %log : !oni, !oi, !oi) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #oi_of_oni, #oi_of_oni, #oni]} {
  ^bb0(%e: f32, %m: f32, %l: f32):
    %shifted = arith.subf %e, %m : f32
    %r = arith.subf %shifted, %l : f32
    graph.yield %r : f32
  }
  graph.yield %y : !oni
}

graph.operator @softmax_from {
  summary = "softmax over all dimensions from the axis on",
  leaves_name, laws = ["shift invariant"],
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", N},
  attributes = {axis = 1 : i64},
  onnx = [{op = "Softmax", until = 12 : i64}]
} {
^bb0(%x: !on):
  %max = graph.compute ins(%x : !on) -> !o
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %exp = graph.compute ins(%x, %max : !on, !o) -> !on
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #o, #on]} {
  ^bb0(%e: f32, %m: f32):
    %shifted = arith.subf %e, %m : f32
    %r = math.exp %shifted : f32
    graph.yield %r : f32
  }
  %sum = graph.compute ins(%exp : !on) -> !o
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %factor = graph.compute ins(%sum : !o) -> !o {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.divf %one, %s : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%exp, %factor : !on, !o) -> !on
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #o, #on]} {
  ^bb0(%e: f32, %f: f32):
    %r = arith.mulf %e, %f : f32
    graph.yield %r : f32
  }
  graph.yield %y : !on
}

graph.operator @log_softmax_from {
  summary = "the logarithm of softmax over all dimensions from the axis on",
  laws = ["shift invariant"],
  elements = [f32, bf16, f16, f64], groups = {O = "before axis", N},
  attributes = {axis = 1 : i64},
  onnx = [{op = "LogSoftmax", until = 12 : i64}]
} {
^bb0(%x: !on):
  %max = graph.compute ins(%x : !on) -> !o
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %sum = graph.compute ins(%x, %max : !on, !o) -> !o
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o, #o]} {
  ^bb0(%e: f32, %m: f32):
    %shifted = arith.subf %e, %m : f32
    %r = math.exp %shifted : f32
    graph.yield %r : f32
  }
  %log = graph.compute ins(%sum : !o) -> !o {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %r = math.log %s : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %max, %log : !on, !o, !o) -> !on
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #o, #o, #on]} {
  ^bb0(%e: f32, %m: f32, %l: f32):
    %shifted = arith.subf %e, %m : f32
    %r = arith.subf %shifted, %l : f32
    graph.yield %r : f32
  }
  graph.yield %y : !on
}

graph.operator @standardize {
  summary = "(x - mean) / sqrt(variance + epsilon) over the dimensions from the axis on",
  laws = ["shift invariant"],
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {O = "before axis", N},
  attributes = {axis = -1 : i64, epsilon = 1.0e-5 : f32}
} {
^bb0(%x: !on16):
  %sum = graph.compute ins(%x : !on16) -> !o32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o]} {
  ^bb0(%e: f16):
    %r = arith.extf %e : f16 to f32
    graph.yield %r : f32
  }
  %mean = graph.compute ins(%sum : !o32) -> !o32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %r = arith.divf %s, %count : f32
    graph.yield %r : f32
  }
  %squares = graph.compute ins(%x, %mean : !on16, !o32) -> !o32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o, #o]} {
  ^bb0(%e: f16, %m: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %r = arith.mulf %centred, %centred : f32
    graph.yield %r : f32
  }
  %factor = graph.compute ins(%squares : !o32) -> !o32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %variance = arith.divf %s, %count : f32
    %epsilon = graph.param "epsilon" : f32
    %shifted = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %shifted : f32
    graph.yield %r : f32
  }
  %normal = graph.compute ins(%x, %mean, %factor : !on16, !o32, !o32) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #o, #o, #on]} {
  ^bb0(%e: f16, %m: f32, %f: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %scaled = arith.mulf %centred, %f : f32
    %r = arith.truncf %scaled : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %normal : !on16
}

graph.operator @layer_norm {
  summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias over the dimensions from the axis on",
  laws = ["shift invariant"],
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {O = "before axis", N},
  broadcast = array<i64: 1, 2>,
  attributes = {axis = -1 : i64, epsilon = 1.0e-5 : f32},
  onnx = [{op = "LayerNormalization", with = {stash_type = 1 : i64}}]
} {
^bb0(%x: !on16, %scale: !on16, %bias: !on16):
  %normal = graph.apply @standardize(%x) {axis = 1 : i64, epsilon = "epsilon"} : (!on16) -> !on16
  %scaled = graph.compute ins(%normal, %scale : !on16, !on16) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on, #on]} {
  ^bb0(%e: f16, %s: f16):
    %r = arith.mulf %e, %s : f16
    graph.yield %r : f16
  }
  %y = graph.compute ins(%scaled, %bias : !on16, !on16) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on, #on]} {
  ^bb0(%e: f16, %b: f16):
    %r = arith.addf %e, %b : f16
    graph.yield %r : f16
  }
  graph.yield %y : !on16
}

graph.operator @layer_norm_unbiased {
  summary = "(x - mean) / sqrt(variance + epsilon) * scale over the dimensions from the axis on",
  laws = ["shift invariant"],
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {O = "before axis", N},
  broadcast = array<i64: 1>,
  attributes = {axis = -1 : i64, epsilon = 1.0e-5 : f32},
  onnx = [{op = "LayerNormalization", with = {stash_type = 1 : i64}}]
} {
^bb0(%x: !on16, %scale: !on16):
  %normal = graph.apply @standardize(%x) {axis = 1 : i64, epsilon = "epsilon"} : (!on16) -> !on16
  %scaled = graph.compute ins(%normal, %scale : !on16, !on16) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on, #on]} {
  ^bb0(%e: f16, %s: f16):
    %r = arith.mulf %e, %s : f16
    graph.yield %r : f16
  }
  graph.yield %scaled : !on16
}

graph.operator @layer_norm_statistics {
  summary = "layer_norm, and the mean and 1 / sqrt(variance + epsilon) of each row",
  elements = [f16, bf16, f32], accumulator = f32, groups = {O = "before axis", K = "ones of N", N},
  broadcast = array<i64: 1, 2>,
  attributes = {axis = -1 : i64, epsilon = 1.0e-5 : f32},
  onnx = [{op = "LayerNormalization", with = {stash_type = 1 : i64}, absent = {B = 0.0 : f32}}]
} {
^bb0(%x: !on16, %scale: !on16, %bias: !on16):
  %sum = graph.compute ins(%x : !on16) -> !ok
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #ok_of_on]} {
  ^bb0(%e: f16):
    %r = arith.extf %e : f16 to f32
    graph.yield %r : f32
  }
  %mean = graph.compute ins(%sum : !ok) -> !ok {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on]} {
  ^bb0(%s: f32):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %r = arith.divf %s, %count : f32
    graph.yield %r : f32
  }
  %squares = graph.compute ins(%x, %mean : !on16, !ok) -> !ok
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #ok_of_on, #ok_of_on]} {
  ^bb0(%e: f16, %m: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %r = arith.mulf %centred, %centred : f32
    graph.yield %r : f32
  }
  %factor = graph.compute ins(%squares : !ok) -> !ok {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on]} {
  ^bb0(%s: f32):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %variance = arith.divf %s, %count : f32
    %epsilon = graph.param "epsilon" : f32
    %shifted = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %shifted : f32
    graph.yield %r : f32
  }
  %normal = graph.compute ins(%x, %mean, %factor : !on16, !ok, !ok) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #ok_of_on, #ok_of_on, #on]} {
  ^bb0(%e: f16, %m: f32, %f: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %scaled = arith.mulf %centred, %f : f32
    %r = arith.truncf %scaled : f32 to f16
    graph.yield %r : f16
  }
  %y = graph.compute ins(%normal, %scale, %bias : !on16, !on16, !on16) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on, #on, #on]} {
  ^bb0(%e: f16, %s: f16, %b: f16):
    %product = arith.mulf %e, %s : f16
    %r = arith.addf %product, %b : f16
    graph.yield %r : f16
  }
  graph.yield %y, %mean, %factor : !on16, !ok, !ok
}

graph.operator @rms_norm {
  summary = "x / sqrt(mean(x * x) + epsilon) * scale over the dimensions from the axis on",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {O = "before axis", N},
  broadcast = array<i64: 1>,
  attributes = {axis = -1 : i64, epsilon = 1.0e-5 : f32},
  onnx = [{op = "RMSNormalization", with = {stash_type = 1 : i64}}, {op = "SimplifiedLayerNormalization", with = {stash_type = 1 : i64}}]
} {
^bb0(%x: !on16, %scale: !on16):
  %squares = graph.compute ins(%x : !on16) -> !o32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#on, #o]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %wide, %wide : f32
    graph.yield %r : f32
  }
  %factor = graph.compute ins(%squares : !o32) -> !o32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [N] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %variance = arith.divf %s, %count : f32
    %epsilon = graph.param "epsilon" : f32
    %shifted = arith.addf %variance, %epsilon : f32
    %r = math.rsqrt %shifted : f32
    graph.yield %r : f32
  }
  %normal = graph.compute ins(%x, %factor : !on16, !o32) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #o, #on]} {
  ^bb0(%e: f16, %f: f32):
    %wide = arith.extf %e : f16 to f32
    %scaled = arith.mulf %wide, %f : f32
    %r = arith.truncf %scaled : f32 to f16
    graph.yield %r : f16
  }
  %scaled = graph.compute ins(%normal, %scale : !on16, !on16) -> !on16
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#on, #on, #on]} {
  ^bb0(%e: f16, %s: f16):
    %r = arith.mulf %e, %s : f16
    graph.yield %r : f16
  }
  graph.yield %scaled : !on16
}

graph.operator @instance_norm {
  summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias, each channel of each sample by itself",
  elements = [f16, bf16, f32, f64], groups = {S},
  attributes = {epsilon = 1.0e-5 : f32},
  onnx = [{op = "InstanceNormalization"}]
} {
^bb0(%x: !bcs16, %scale: !c16, %bias: !c16):
  %normal = graph.apply @standardize(%x) {axis = 2 : i64, epsilon = "epsilon"} : (!bcs16) -> !bcs16
  %y = graph.compute ins(%normal, %scale, %bias : !bcs16, !c16, !c16) -> !bcs16
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #c_of_bcs, #c_of_bcs, #oni]} {
  ^bb0(%e: f16, %s: f16, %b: f16):
    %product = arith.mulf %e, %s : f16
    %r = arith.addf %product, %b : f16
    graph.yield %r : f16
  }
  graph.yield %y : !bcs16
}

// G groups of K channels each.
graph.operator @group_norm {
  summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias, each group of channels of each sample by itself",
  elements = [f16, bf16, f32, f64], groups = {S}, sizes = {G = "num_groups"},
  attributes = {num_groups = i64, epsilon = 1.0e-5 : f32},
  onnx = [{op = "GroupNormalization", since = 21 : i64, with = {stash_type = 1 : i64}}]
} {
^bb0(%x: !bgks16, %scale: !gk16, %bias: !gk16):
  %parts = graph.reshape %x : !bgks16 -> !parts16
  %standard = graph.apply @standardize(%parts) {axis = 2 : i64, epsilon = "epsilon"} : (!parts16) -> !parts16
  %normal = graph.reshape %standard : !parts16 -> !bgks16
  %y = graph.compute ins(%normal, %scale, %bias : !bgks16, !gk16, !gk16) -> !bgks16
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #c_of_bcs, #c_of_bcs, #oni]} {
  ^bb0(%e: f16, %s: f16, %b: f16):
    %product = arith.mulf %e, %s : f16
    %r = arith.addf %product, %b : f16
    graph.yield %r : f16
  }
  graph.yield %y : !bgks16
}

graph.operator @group_norm_by_group {
  summary = "group_norm with one scale and one bias for each group",
  elements = [f16, bf16, f32, f64], groups = {S}, sizes = {G = "num_groups"},
  attributes = {num_groups = i64, epsilon = 1.0e-5 : f32},
  onnx = [{op = "GroupNormalization", until = 20 : i64}]
} {
^bb0(%x: !bgks16, %scale: !g16, %bias: !g16):
  %parts = graph.reshape %x : !bgks16 -> !parts16
  %standard = graph.apply @standardize(%parts) {axis = 2 : i64, epsilon = "epsilon"} : (!parts16) -> !parts16
  %scaled = graph.compute ins(%standard, %scale, %bias : !parts16, !g16, !g16) -> !parts16
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#bgks, #g_of_bgks, #g_of_bgks, #bgks]} {
  ^bb0(%e: f16, %s: f16, %b: f16):
    %product = arith.mulf %e, %s : f16
    %r = arith.addf %product, %b : f16
    graph.yield %r : f16
  }
  %y = graph.reshape %scaled : !parts16 -> !bgks16
  graph.yield %y : !bgks16
}

// ONNX has the number that is added to the deviation as a constant.
graph.operator @mean_variance_norm {
  summary = "(x - mean) / (sqrt(variance) + 1e-9), each channel over samples and pixels",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  onnx = [{op = "MeanVarianceNormalization", with = {axes = array<i64: 0, 2, 3>}}]
} {
^bb0(%x: !bchw16):
  %sum = graph.compute ins(%x : !bchw16) -> !c32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel, reduce, reduce]>, maps = [#bgks, #c_of_bchw]} {
  ^bb0(%e: f16):
    %r = arith.extf %e : f16 to f32
    graph.yield %r : f32
  }
  %mean = graph.compute ins(%sum : !c32) -> !c32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [B * H * W] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %r = arith.divf %s, %count : f32
    graph.yield %r : f32
  }
  %squares = graph.compute ins(%x, %mean : !bchw16, !c32) -> !c32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel, reduce, reduce]>, maps = [#bgks, #c_of_bchw, #c_of_bchw]} {
  ^bb0(%e: f16, %m: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %r = arith.mulf %centred, %centred : f32
    graph.yield %r : f32
  }
  %deviation = graph.compute ins(%squares : !c32) -> !c32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [B * H * W] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %variance = arith.divf %s, %count : f32
    %root = math.sqrt %variance : f32
    %epsilon = arith.constant 1.0e-9 : f32
    %r = arith.addf %root, %epsilon : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %mean, %deviation : !bchw16, !c32, !c32) -> !bchw16
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#bgks, #c_of_bchw, #c_of_bchw, #bgks]} {
  ^bb0(%e: f16, %m: f32, %d: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %scaled = arith.divf %centred, %d : f32
    %r = arith.truncf %scaled : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !bchw16
}

graph.operator @batch_norm {
  summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias, with statistics that are given for each channel",
  elements = [f32, bf16, f16, f64], groups = {S},
  attributes = {epsilon = 1.0e-5 : f32},
  onnx = [{op = "BatchNormalization", with = {spatial = 1 : i64, training_mode = 0 : i64, is_test = 1 : i64}, ignore = ["momentum"]}]
} {
^bb0(%x: !bcs, %scale: !c, %bias: !c, %mean: !c, %variance: !c):
  %factor = graph.compute ins(%scale, %variance : !c, !c) -> !c
      {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%s: f32, %v: f32):
    %epsilon = graph.param "epsilon" : f32
    %sum = arith.addf %v, %epsilon : f32
    %root = math.sqrt %sum : f32
    %r = arith.divf %s, %root : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %mean, %factor, %bias : !bcs, !c, !c, !c) -> !bcs
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #c_of_bcs, #c_of_bcs, #c_of_bcs, #oni]} {
  ^bb0(%e: f32, %m: f32, %f: f32, %b: f32):
    %centred = arith.subf %e, %m : f32
    %scaled = arith.mulf %centred, %f : f32
    %r = arith.addf %scaled, %b : f32
    graph.yield %r : f32
  }
  graph.yield %y : !bcs
}

graph.operator @batch_norm_training {
  summary = "batch_norm with the statistics of the batch, and what is known of them so far mixed with these",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {S},
  attributes = {epsilon = 1.0e-5 : f32, momentum = 0.9 : f32},
  onnx = [{op = "BatchNormalization", since = 14 : i64, with = {training_mode = 1 : i64}}]
} {
^bb0(%x: !bcs16, %scale: !c16, %bias: !c16, %mean: !c16, %variance: !c16):
  %sum = graph.compute ins(%x : !bcs16) -> !c32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel, reduce]>, maps = [#oni, #c_of_bcs]} {
  ^bb0(%e: f16):
    %r = arith.extf %e : f16 to f32
    graph.yield %r : f32
  }
  %centre = graph.compute ins(%sum : !c32) -> !c32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [B * S] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %r = arith.divf %s, %count : f32
    graph.yield %r : f32
  }
  %squares = graph.compute ins(%x, %centre : !bcs16, !c32) -> !c32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel, reduce]>, maps = [#oni, #c_of_bcs, #c_of_bcs]} {
  ^bb0(%e: f16, %m: f32):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %r = arith.mulf %centred, %centred : f32
    graph.yield %r : f32
  }
  %spread = graph.compute ins(%squares : !c32) -> !c32 {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
  ^bb0(%s: f32):
    %n = graph.size [B * S] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %r = arith.divf %s, %count : f32
    graph.yield %r : f32
  }
  %factor = graph.compute ins(%scale, %spread : !c16, !c32) -> !c32
      {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%s: f16, %v: f32):
    %wide = arith.extf %s : f16 to f32
    %epsilon = graph.param "epsilon" : f32
    %shifted = arith.addf %v, %epsilon : f32
    %root = math.sqrt %shifted : f32
    %r = arith.divf %wide, %root : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%x, %centre, %factor, %bias : !bcs16, !c32, !c32, !c16) -> !bcs16
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #c_of_bcs, #c_of_bcs, #c_of_bcs, #oni]} {
  ^bb0(%e: f16, %m: f32, %f: f32, %b: f16):
    %wide = arith.extf %e : f16 to f32
    %centred = arith.subf %wide, %m : f32
    %scaled = arith.mulf %centred, %f : f32
    %added = arith.extf %b : f16 to f32
    %made = arith.addf %scaled, %added : f32
    %r = arith.truncf %made : f32 to f16
    graph.yield %r : f16
  }
  %mixed_mean = graph.compute ins(%mean, %centre : !c16, !c32) -> !c16
      {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%k: f16, %s: f32):
    %one = arith.constant 1.0 : f32
    %momentum = graph.param "momentum" : f32
    %rest = arith.subf %one, %momentum : f32
    %wide = arith.extf %k : f16 to f32
    %before = arith.mulf %wide, %momentum : f32
    %now = arith.mulf %s, %rest : f32
    %made = arith.addf %before, %now : f32
    %r = arith.truncf %made : f32 to f16
    graph.yield %r : f16
  }
  %mixed_variance = graph.compute ins(%variance, %spread : !c16, !c32) -> !c16
      {iterators = #graph.iterators<[parallel]>, maps = [#id, #id, #id]} {
  ^bb0(%k: f16, %s: f32):
    %one = arith.constant 1.0 : f32
    %momentum = graph.param "momentum" : f32
    %rest = arith.subf %one, %momentum : f32
    %wide = arith.extf %k : f16 to f32
    %before = arith.mulf %wide, %momentum : f32
    %now = arith.mulf %s, %rest : f32
    %made = arith.addf %before, %now : f32
    %r = arith.truncf %made : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y, %mixed_mean, %mixed_variance : !bcs16, !c16, !c16
}
