// Attention: what is looked up in V, with weights that say how well queries fit keys. B leading dimensions (samples, heads), L queries,
// S keys; queries and keys have D numbers, values E.

#products_q = affine_map<(b, l, s, d) -> (b, l, d)>
#products_k = affine_map<(b, l, s, d) -> (b, s, d)>
#products = affine_map<(b, l, s, d) -> (b, l, s)>
#sums_w = affine_map<(b, l, e, s) -> (b, l, s)>
#sums_v = affine_map<(b, l, e, s) -> (b, s, e)>
#sums = affine_map<(b, l, e, s) -> (b, l, e)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#row3 = affine_map<(d0, d1, d2) -> (d0, d1)>

!q = tensor<?x?x?xf16, #dyn.shape<[B, L, D]>>
!k = tensor<?x?x?xf16, #dyn.shape<[B, S, D]>>
!v = tensor<?x?x?xf16, #dyn.shape<[B, S, E]>>
!scores16 = tensor<?x?x?xf16, #dyn.shape<[B, L, S]>>
!mask = tensor<?x?x?xi1, #dyn.shape<[B, L, S]>>
!scores32 = tensor<?x?x?xf32, #dyn.shape<[B, L, S]>>
!rows32 = tensor<?x?xf32, #dyn.shape<[B, L]>>
!y32 = tensor<?x?x?xf32, #dyn.shape<[B, L, E]>>
!y16 = tensor<?x?x?xf16, #dyn.shape<[B, L, E]>>

// A scale that is not given is no number: then it is 1 / sqrt(D). A divisor of 0 is none; others are for programs that divide where the
// reciprocal is rounded. A query sees no key behind its own place where it is causal.
graph.operator @attention_scores {
  summary = "scale * q * k^T / divisor, bounded by the softcap if there is one; -inf for keys that a query must not see",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {B},
  attributes = {scale = 0x7FC00000 : f32, divisor = 0.0 : f32, is_causal = 0 : i64, softcap = 0.0 : f32}
} {
^bb0(%q: !q, %k: !k):
  %product = graph.compute ins(%q, %k : !q, !k) -> !scores32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#products_q, #products_k, #products]} {
  ^bb0(%a: f16, %b: f16):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %r = arith.mulf %wide_a, %wide_b : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%product : !scores32) -> !scores32
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f32):
    %given = graph.param "scale" : f32
    %absent = arith.cmpf uno, %given, %given : f32
    %n = graph.size [D] : index
    %i = arith.index_cast %n : index to i64
    %count = arith.sitofp %i : i64 to f32
    %root = math.sqrt %count : f32
    %one = arith.constant 1.0 : f32
    %usual = arith.divf %one, %root : f32
    %scale = arith.select %absent, %usual, %given : f32
    %multiple = arith.mulf %e, %scale : f32
    %divisor = graph.param "divisor" : f32
    %nothing = arith.constant 0.0 : f32
    %is_divided = arith.cmpf une, %divisor, %nothing : f32
    %quotient = arith.divf %multiple, %divisor : f32
    %scaled = arith.select %is_divided, %quotient, %multiple : f32
    %cap = graph.param "softcap" : f32
    %is_capped = arith.cmpf ogt, %cap, %nothing : f32
    %ratio = arith.divf %scaled, %cap : f32
    %bounded = math.tanh %ratio : f32
    %soft = arith.mulf %bounded, %cap : f32
    %capped = arith.select %is_capped, %soft, %scaled : f32
    %causal = graph.param "is_causal" : i64
    %none = arith.constant 0 : i64
    %is_causal = arith.cmpi ne, %causal, %none : i64
    %query = graph.index 1 : index
    %key = graph.index 2 : index
    %behind = arith.cmpi sgt, %key, %query : index
    %unseen = arith.andi %is_causal, %behind : i1
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %unseen, %least, %capped : f32
    graph.yield %r : f32
  }
  graph.yield %y : !scores32
}

graph.operator @attention {
  summary = "softmax(scale * q * k^T) * v for each head",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {B},
  attributes = {scale = 0x7FC00000 : f32, divisor = 0.0 : f32, is_causal = 0 : i64, softcap = 0.0 : f32},
  onnx = [{op = "Attention", rank = 4 : i64, with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                     left_window_size = -1 : i64, right_window_size = -1 : i64},
           ignore = ["q_num_heads", "kv_num_heads"]}]
} {
^bb0(%q: !q, %k: !k, %v: !v):
  %scores = graph.apply @attention_scores(%q, %k) {scale = "scale", divisor = "divisor", is_causal = "is_causal", softcap = "softcap"} : (!q, !k) -> !scores32
  %weights = graph.apply @softmax(%scores) {axis = 2 : i64} : (!scores32) -> !scores32
  %sum = graph.compute ins(%weights, %v : !scores32, !v) -> !y32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#sums_w, #sums_v, #sums]} {
  ^bb0(%w: f32, %e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %w, %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%sum : !y32) -> !y16 {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f32):
    %r = arith.truncf %e : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !y16
}

// A query that sees no key looks up 0, as in ONNX, or, without `unseen_is_zero`, NaN, as the ops do when they are written out. A bias with
// fewer keys is not stretched: in ONNX it says nothing of the others.
graph.operator @attention_biased {
  summary = "softmax(scale * q * k^T + bias) * v for each head",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {B}, broadcast = array<i64: 3>, exact = ["S"],
  attributes = {scale = 0x7FC00000 : f32, divisor = 0.0 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, unseen_is_zero = 1 : i64},
  onnx = [{op = "Attention", rank = 4 : i64, with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                     left_window_size = -1 : i64, right_window_size = -1 : i64},
           ignore = ["q_num_heads", "kv_num_heads"]}]
} {
^bb0(%q: !q, %k: !k, %v: !v, %bias: !scores16):
  %plain = graph.apply @attention_scores(%q, %k) {scale = "scale", divisor = "divisor", is_causal = "is_causal", softcap = "softcap"} : (!q, !k) -> !scores32
  %scores = graph.compute ins(%plain, %bias : !scores32, !scores16) -> !scores32
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3]} {
  ^bb0(%e: f32, %b: f16):
    %wide = arith.extf %b : f16 to f32
    %r = arith.addf %e, %wide : f32
    graph.yield %r : f32
  }
  %largest = graph.compute ins(%scores : !scores32) -> !rows32
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id3, #row3]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %weights = graph.apply @softmax(%scores) {axis = 2 : i64} : (!scores32) -> !scores32
  %sum = graph.compute ins(%weights, %v : !scores32, !v) -> !y32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#sums_w, #sums_v, #sums]} {
  ^bb0(%w: f32, %e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %w, %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%sum, %largest : !y32, !rows32) -> !y16
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #row3, #id3]} {
  ^bb0(%e: f32, %m: f32):
    %least = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %asked = graph.param "unseen_is_zero" : i64
    %no = arith.constant 0 : i64
    %is_zero = arith.cmpi ne, %asked, %no : i64
    %blind = arith.cmpf oeq, %m, %least : f32
    %looks_up_zero = arith.andi %is_zero, %blind : i1
    %seen = arith.select %looks_up_zero, %zero, %e : f32
    %r = arith.truncf %seen : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !y16
}

// As programs write a mask with a choice: scores that are hidden are the number `other`, whatever they were. A query that sees nothing
// looks up what that number makes of the softmax, NaN for -inf.
graph.operator @attention_chosen {
  summary = "softmax(mask ? scale * q * k^T / divisor : other) * v for each head, or the other way where the mask hides",
  elements = [f16, bf16, f32, f64], accumulator = f32, groups = {B}, broadcast = array<i64: 3>, exact = ["S"],
  attributes = {scale = 0x7FC00000 : f32, divisor = 0.0 : f32, other = 0xFF800000 : f32, hides = 0 : i64}
} {
^bb0(%q: !q, %k: !k, %v: !v, %mask: !mask):
  %plain = graph.apply @attention_scores(%q, %k) {scale = "scale", divisor = "divisor"} : (!q, !k) -> !scores32
  %scores = graph.compute ins(%plain, %mask : !scores32, !mask) -> !scores32
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3]} {
  ^bb0(%e: f32, %m: i1):
    %hides = graph.param "hides" : i64
    %no = arith.constant 0 : i64
    %is_hidden = arith.cmpi ne, %hides, %no : i64
    %other = graph.param "other" : f32
    %where_true = arith.select %is_hidden, %other, %e : f32
    %where_false = arith.select %is_hidden, %e, %other : f32
    %r = arith.select %m, %where_true, %where_false : f32
    graph.yield %r : f32
  }
  %weights = graph.apply @softmax(%scores) {axis = 2 : i64} : (!scores32) -> !scores32
  %sum = graph.compute ins(%weights, %v : !scores32, !v) -> !y32
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#sums_w, #sums_v, #sums]} {
  ^bb0(%w: f32, %e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %w, %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%sum : !y32) -> !y16 {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f32):
    %r = arith.truncf %e : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y : !y16
}
