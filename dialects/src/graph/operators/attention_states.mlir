// Attention with all that ONNX says of it: keys and values of steps before, how many keys of a sample are there, windows, what the
// scores were, and how they are rounded. What needs none of it is in attention.mlir and attention_heads.mlir, which are one kernel.
// P samples; N heads of keys and values, G heads of queries for each, M in all; L queries, T keys: S new ones behind W of before.

#id0 = affine_map<() -> ()>
#id1 = affine_map<(d0) -> (d0)>
#id4 = affine_map<(p, h, l, t) -> (p, h, l, t)>
#id5 = affine_map<(p, n, g, l, t) -> (p, n, g, l, t)>
#number = affine_map<(p, h, l, t) -> ()>
#sample = affine_map<(p, h, l, t) -> (p)>
#row5 = affine_map<(p, n, g, l, t) -> (p, n, g, l)>
#products_q = affine_map<(p, n, g, l, t, d) -> (p, n, g, l, d)>
#products_k = affine_map<(p, n, g, l, t, d) -> (p, n, t, d)>
#products = affine_map<(p, n, g, l, t, d) -> (p, n, g, l, t)>
#sums_w = affine_map<(p, n, g, l, e, t) -> (p, n, g, l, t)>
#sums_v = affine_map<(p, n, g, l, e, t) -> (p, n, t, e)>
#sums = affine_map<(p, n, g, l, e, t) -> (p, n, g, l, e)>
#heads_of_rows = affine_map<(p, n, s, d) -> (p, s, n, d)>
#queries_of_rows = affine_map<(p, n, g, l, d) -> (p, l, n, g, d)>
#rows_of_queries = affine_map<(p, l, n, g, e) -> (p, n, g, l, e)>

// What attributes of ONNX may be.
#kinds = {qk_matmul_output_mode = array<i64: 0, 1, 2, 3>, softmax_precision = array<i64: 1, 10, 11, 16>}
#windows = {left_window_size = -1 : i64, right_window_size = -1 : i64}
#nothing = {attn_mask = 0.0 : f32, past_key = 0.0 : f32, past_value = 0.0 : f32}
#nothing_masked = {past_key = 0.0 : f32, past_value = 0.0 : f32}
#no_lengths = {attn_mask = 0.0 : f32, past_key = 0.0 : f32, past_value = 0.0 : f32, nonpad_kv_seqlen = 0 : i64}
#no_lengths_masked = {past_key = 0.0 : f32, past_value = 0.0 : f32, nonpad_kv_seqlen = 0 : i64}

!number = tensor<i64>
!lengths = tensor<?xi64, #dyn.shape<[P]>>
!q5 = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, D]>>
!y5 = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, E]>>
!y5_wide = tensor<?x?x?x?x?xf32, #dyn.shape<[P, N, G, L, E]>>
!k4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, T, D]>>
!v4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, T, E]>>
!s5 = tensor<?x?x?x?x?xf32, #dyn.shape<[P, N, G, L, T]>>
!s5_narrow = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, T]>>
!rows = tensor<?x?x?x?xf32, #dyn.shape<[P, N, G, L]>>
!bias4 = tensor<?x?x?x?xf16, #dyn.shape<[P, H, L, T]>>
!limits4 = tensor<?x?x?x?xf32, #dyn.shape<[P, H, L, T]>>

graph.operator @rounded {
  summary = "x, rounded to f16 where precision is 10, and to bf16 where it is 16: ONNX's numbers of these types",
  elements = [f32, f64], groups = {A}, attributes = {precision = 1 : i64}
} {
^bb0(%x: tensor<?xf32, #dyn.shape<[A]>>):
  %y = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[A]>>) -> tensor<?xf32, #dyn.shape<[A]>>
      {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: f32):
    %half = arith.truncf %e : f32 to f16
    %of_half = arith.extf %half : f16 to f32
    %short = arith.truncf %e : f32 to bf16
    %of_short = arith.extf %short : bf16 to f32
    %precision = graph.param "precision" : i64
    %c10 = arith.constant 10 : i64
    %c16 = arith.constant 16 : i64
    %is_half = arith.cmpi eq, %precision, %c10 : i64
    %is_short = arith.cmpi eq, %precision, %c16 : i64
    %other = arith.select %is_short, %of_short, %e : f32
    %r = arith.select %is_half, %of_half, %other : f32
    graph.yield %r : f32
  }
  graph.yield %y : tensor<?xf32, #dyn.shape<[A]>>
}

// The first query stands behind `past` keys or, where samples say how many keys they have, behind those that are not of its block. A
// length below 0 is none, and one that no sum would hold is as good as any that is larger than all places.
graph.operator @attention_limits {
  summary = "what is added to scores: the bias, or -inf for keys that a query must not see",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  attributes = {is_causal = 0 : i64, left_window_size = -1 : i64, right_window_size = -1 : i64, padded = 0 : i64}
} {
^bb0(%bias: !bias4, %past: !number, %lengths: !lengths):
  %y = graph.compute ins(%bias, %past, %lengths : !bias4, !number, !lengths) -> !limits4
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #number, #sample, #id4]} {
  ^bb0(%e: f16, %before: i64, %given: i64):
    %none = arith.constant 0 : i64
    %far = arith.constant 4611686018427387904 : i64
    %some = arith.maxsi %given, %none : i64
    %length = arith.minsi %some, %far : i64
    %padded = graph.param "padded" : i64
    %is_padded = arith.cmpi ne, %padded, %none : i64
    %n = graph.size [L] : index
    %queries = arith.index_cast %n : index to i64
    %own = arith.subi %length, %queries : i64
    %offset = arith.select %is_padded, %own, %before : i64
    %l = graph.index 2 : index
    %query = arith.index_cast %l : index to i64
    %t = graph.index 3 : index
    %key = arith.index_cast %t : index to i64
    %place = arith.addi %offset, %query : i64
    %ahead = arith.subi %key, %place : i64
    %behind = arith.subi %place, %key : i64
    %causal = graph.param "is_causal" : i64
    %is_causal = arith.cmpi ne, %causal, %none : i64
    %is_ahead = arith.cmpi sgt, %ahead, %none : i64
    %not_yet = arith.andi %is_causal, %is_ahead : i1
    %right = graph.param "right_window_size" : i64
    %has_right = arith.cmpi sge, %right, %none : i64
    %is_right = arith.cmpi sgt, %ahead, %right : i64
    %too_right = arith.andi %has_right, %is_right : i1
    %left = graph.param "left_window_size" : i64
    %has_left = arith.cmpi sge, %left, %none : i64
    %is_left = arith.cmpi sgt, %behind, %left : i64
    %too_left = arith.andi %has_left, %is_left : i1
    %is_beyond = arith.cmpi sge, %key, %length : i64
    %beyond = arith.andi %is_padded, %is_beyond : i1
    %outside = arith.ori %too_left, %too_right : i1
    %absent = arith.ori %not_yet, %beyond : i1
    %unseen = arith.ori %outside, %absent : i1
    %wide = arith.extf %e : f16 to f32
    %least = arith.constant 0xFF800000 : f32
    %r = arith.select %unseen, %least, %wide : f32
    graph.yield %r : f32
  }
  graph.yield %y : !limits4
}

// A query whose limits are all -inf sees nothing: its weights are 0, whatever the scores are. `qk_matmul_output_mode` says what the
// second result is: scores (0), after the softcap (1), with limits (2), weights (3).
graph.operator @attention_limited {
  summary = "softmax(scale * q * k^T + limits) * v, and the scores or weights",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  attributes = {scale = 0x7FC00000 : f32, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64}
} {
^bb0(%q: !q5, %k: !k4, %v: !v4, %limits: !s5):
  %product = graph.compute ins(%q, %k : !q5, !k4) -> !s5
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel, reduce]>, maps = [#products_q, #products_k, #products]} {
  ^bb0(%a: f16, %b: f16):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %r = arith.mulf %wide_a, %wide_b : f32
    graph.yield %r : f32
  }
  %scaled = graph.compute ins(%product : !s5) -> !s5
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5, #id5]} {
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
    %r = arith.mulf %e, %scale : f32
    graph.yield %r : f32
  }
  %capped = graph.compute ins(%scaled : !s5) -> !s5
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5, #id5]} {
  ^bb0(%e: f32):
    %cap = graph.param "softcap" : f32
    %nothing = arith.constant 0.0 : f32
    %is_capped = arith.cmpf ogt, %cap, %nothing : f32
    %ratio = arith.divf %e, %cap : f32
    %bounded = math.tanh %ratio : f32
    %soft = arith.mulf %bounded, %cap : f32
    %r = arith.select %is_capped, %soft, %e : f32
    graph.yield %r : f32
  }
  %biased = graph.compute ins(%capped, %limits : !s5, !s5) -> !s5
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5, #id5, #id5]} {
  ^bb0(%e: f32, %limit: f32):
    %r = arith.addf %e, %limit : f32
    graph.yield %r : f32
  }
  %scores = graph.apply @rounded(%biased) {precision = "softmax_precision"} : (!s5) -> !s5
  %whole = graph.apply @softmax(%scores) {axis = 4 : i64} : (!s5) -> !s5
  %parts = graph.apply @rounded(%whole) {precision = "softmax_precision"} : (!s5) -> !s5
  %largest = graph.compute ins(%limits : !s5) -> !rows
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#id5, #row5]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %weights = graph.compute ins(%parts, %largest : !s5, !rows) -> !s5
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5, #row5, #id5]} {
  ^bb0(%e: f32, %m: f32):
    %least = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %is_blind = arith.cmpf oeq, %m, %least : f32
    %r = arith.select %is_blind, %zero, %e : f32
    graph.yield %r : f32
  }
  %sum = graph.compute ins(%weights, %v : !s5, !v4) -> !y5_wide
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel, reduce]>, maps = [#sums_w, #sums_v, #sums]} {
  ^bb0(%w: f32, %e: f16):
    %wide = arith.extf %e : f16 to f32
    %r = arith.mulf %w, %wide : f32
    graph.yield %r : f32
  }
  %y = graph.compute ins(%sum : !y5_wide) -> !y5
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5, #id5]} {
  ^bb0(%e: f32):
    %r = arith.truncf %e : f32 to f16
    graph.yield %r : f16
  }
  %seen = graph.compute ins(%scaled, %capped, %biased, %weights : !s5, !s5, !s5, !s5) -> !s5_narrow
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5, #id5, #id5, #id5, #id5]} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %mode = graph.param "qk_matmul_output_mode" : i64
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i64
    %is_0 = arith.cmpi eq, %mode, %c0 : i64
    %is_1 = arith.cmpi eq, %mode, %c1 : i64
    %is_2 = arith.cmpi eq, %mode, %c2 : i64
    %last = arith.select %is_2, %c, %d : f32
    %later = arith.select %is_1, %b, %last : f32
    %e = arith.select %is_0, %a, %later : f32
    %r = arith.truncf %e : f32 to f16
    graph.yield %r : f16
  }
  graph.yield %y, %seen : !y5, !s5_narrow
}

!q4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, D]>>
!y4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, E]>>
!new_k4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, S, D]>>
!new_v4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, S, E]>>
!past_k4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, W, D]>>
!past_v4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, W, E]>>
!all_k4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, W + S, D]>>
!all_v4 = tensor<?x?x?x?xf16, #dyn.shape<[P, N, W + S, E]>>
!q3 = tensor<?x?x?xf16, #dyn.shape<[P, L, M * D]>>
!k3 = tensor<?x?x?xf16, #dyn.shape<[P, S, N * D]>>
!v3 = tensor<?x?x?xf16, #dyn.shape<[P, S, N * E]>>
!y3 = tensor<?x?x?xf16, #dyn.shape<[P, L, M * E]>>
!q3_split = tensor<?x?x?x?x?xf16, #dyn.shape<[P, L, N, G, D]>>
!k3_split = tensor<?x?x?x?xf16, #dyn.shape<[P, S, N, D]>>
!v3_split = tensor<?x?x?x?xf16, #dyn.shape<[P, S, N, E]>>
!y3_split = tensor<?x?x?x?x?xf16, #dyn.shape<[P, L, N, G, E]>>
!bias4d = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, S]>>
!mask4d = tensor<?x?x?x?xi1, #dyn.shape<[P, N * G, L, S]>>
!limits4d = tensor<?x?x?x?xf32, #dyn.shape<[P, N * G, L, S]>>
!bias4d_past = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, W + S]>>
!mask4d_past = tensor<?x?x?x?xi1, #dyn.shape<[P, N * G, L, W + S]>>
!limits4d_past = tensor<?x?x?x?xf32, #dyn.shape<[P, N * G, L, W + S]>>
!bias3d = tensor<?x?x?x?xf16, #dyn.shape<[P, M, L, S]>>
!mask3d = tensor<?x?x?x?xi1, #dyn.shape<[P, M, L, S]>>
!limits3d = tensor<?x?x?x?xf32, #dyn.shape<[P, M, L, S]>>
!bias3d_past = tensor<?x?x?x?xf16, #dyn.shape<[P, M, L, W + S]>>
!mask3d_past = tensor<?x?x?x?xi1, #dyn.shape<[P, M, L, W + S]>>
!limits3d_past = tensor<?x?x?x?xf32, #dyn.shape<[P, M, L, W + S]>>
!scores = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, S]>>
!scores_wide = tensor<?x?x?x?x?xf32, #dyn.shape<[P, N, G, L, S]>>
!scores_past = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, W + S]>>
!scores_wide_past = tensor<?x?x?x?x?xf32, #dyn.shape<[P, N, G, L, W + S]>>

graph.operator @attention_within {
  summary = "attention to keys of a window, or as many as a sample has",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"], or_scalar = array<i64: 6>,
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64, padded = 0 : i64},
  onnx = [{op = "Attention", rank = 4 : i64, one_of = #kinds, least = #windows, ignore = ["q_num_heads", "kv_num_heads"], without = ["past_key", "past_value"], absent = #nothing, set = {padded = 1 : i64}},
          {op = "Attention", rank = 4 : i64, one_of = #kinds, least = #windows, ignore = ["q_num_heads", "kv_num_heads"], without = ["past_key", "past_value"], absent = #no_lengths}]
} {
^bb0(%q: !q4, %k: !new_k4, %v: !new_v4, %bias: !bias4d, %past_key: tensor<f16>, %past_value: tensor<f16>, %nonpad_kv_seqlen: !lengths):
  %lengths = graph.compute ins(%nonpad_kv_seqlen : !lengths) -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  %whole = graph.compute ins(%bias : !bias4d) -> !bias4d {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %before = graph.compute ins() -> !number {iterators = #graph.iterators<[]>, maps = [#id0]} {
    %none = arith.constant 0 : i64
    graph.yield %none : i64
  }
  %bounds = graph.apply @attention_limits(%whole, %before, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size", padded = "padded"} : (!bias4d, !number, !lengths) -> !limits4d
  %limits = graph.reshape %bounds : !limits4d -> !scores_wide
  %queries = graph.reshape %q : !q4 -> !q5
  %found, %scores = graph.apply @attention_limited(%queries, %k, %v, %limits)
      {scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q5, !new_k4, !new_v4, !scores_wide) -> (!y5, !scores)
  %y = graph.reshape %found : !y5 -> !y4
  %seen = graph.reshape %scores : !scores -> !bias4d
  graph.yield %y, %k, %v, %seen : !y4, !new_k4, !new_v4, !bias4d
}

graph.operator @attention_within_masked {
  summary = "attention to keys of a window, or as many as a sample has; the mask holds for those that are seen",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"], or_scalar = array<i64: 6>,
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64, padded = 0 : i64},
  onnx = [{op = "Attention", rank = 4 : i64, one_of = #kinds, least = #windows, ignore = ["q_num_heads", "kv_num_heads"], without = ["past_key", "past_value"], absent = #nothing_masked, set = {padded = 1 : i64}},
          {op = "Attention", rank = 4 : i64, one_of = #kinds, least = #windows, ignore = ["q_num_heads", "kv_num_heads"], without = ["past_key", "past_value"], absent = #no_lengths_masked}]
} {
^bb0(%q: !q4, %k: !new_k4, %v: !new_v4, %mask: !mask4d, %past_key: tensor<f16>, %past_value: tensor<f16>, %nonpad_kv_seqlen: !lengths):
  %whole = graph.compute ins(%mask : !mask4d) -> !bias4d {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: i1):
    %zero = arith.constant 0.0 : f16
    %least = arith.constant 0xFC00 : f16
    %r = arith.select %e, %zero, %least : f16
    graph.yield %r : f16
  }
  %lengths = graph.compute ins(%nonpad_kv_seqlen : !lengths) -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  %y, %keys, %values, %seen = graph.apply @attention_within(%q, %k, %v, %whole, %past_key, %past_value, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size", scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode", padded = "padded"}
      : (!q4, !new_k4, !new_v4, !bias4d, tensor<f16>, tensor<f16>, !lengths) -> (!y4, !new_k4, !new_v4, !bias4d)
  graph.yield %y, %keys, %values, %seen : !y4, !new_k4, !new_v4, !bias4d
}

graph.operator @attention_with_past {
  summary = "attention to keys of before and new ones",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S + W"],
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64},
  onnx = [{op = "Attention", rank = 4 : i64, one_of = #kinds, least = #windows, ignore = ["q_num_heads", "kv_num_heads"], absent = {attn_mask = 0.0 : f32}}]
} {
^bb0(%q: !q4, %k: !new_k4, %v: !new_v4, %bias: !bias4d_past, %past_key: !past_k4, %past_value: !past_v4):
  %whole = graph.compute ins(%bias : !bias4d_past) -> !bias4d_past {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %before = graph.compute ins() -> !number {iterators = #graph.iterators<[]>, maps = [#id0]} {
    %n = graph.size [W] : index
    %r = arith.index_cast %n : index to i64
    graph.yield %r : i64
  }
  %lengths = graph.compute ins() -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1]} {
    %none = arith.constant 0 : i64
    graph.yield %none : i64
  }
  %bounds = graph.apply @attention_limits(%whole, %before, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size"} : (!bias4d_past, !number, !lengths) -> !limits4d_past
  %limits = graph.reshape %bounds : !limits4d_past -> !scores_wide_past
  %queries = graph.reshape %q : !q4 -> !q5
  %keys = graph.concat %past_key, %k {axis = 2 : i64} : !past_k4, !new_k4 -> !all_k4
  %values = graph.concat %past_value, %v {axis = 2 : i64} : !past_v4, !new_v4 -> !all_v4
  %found, %scores = graph.apply @attention_limited(%queries, %keys, %values, %limits)
      {scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q5, !all_k4, !all_v4, !scores_wide_past) -> (!y5, !scores_past)
  %y = graph.reshape %found : !y5 -> !y4
  %seen = graph.reshape %scores : !scores_past -> !bias4d_past
  graph.yield %y, %keys, %values, %seen : !y4, !all_k4, !all_v4, !bias4d_past
}

graph.operator @attention_with_past_masked {
  summary = "attention to keys of before and new ones; the mask holds for those that are seen",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S + W"],
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64},
  onnx = [{op = "Attention", rank = 4 : i64, one_of = #kinds, least = #windows, ignore = ["q_num_heads", "kv_num_heads"]}]
} {
^bb0(%q: !q4, %k: !new_k4, %v: !new_v4, %mask: !mask4d_past, %past_key: !past_k4, %past_value: !past_v4):
  %whole = graph.compute ins(%mask : !mask4d_past) -> !bias4d_past {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: i1):
    %zero = arith.constant 0.0 : f16
    %least = arith.constant 0xFC00 : f16
    %r = arith.select %e, %zero, %least : f16
    graph.yield %r : f16
  }
  %y, %keys, %values, %seen = graph.apply @attention_with_past(%q, %k, %v, %whole, %past_key, %past_value)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size", scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q4, !new_k4, !new_v4, !bias4d_past, !past_k4, !past_v4) -> (!y4, !all_k4, !all_v4, !bias4d_past)
  graph.yield %y, %keys, %values, %seen : !y4, !all_k4, !all_v4, !bias4d_past
}

graph.operator @attention_rows_within {
  summary = "attention to keys of a window, or as many as a sample has, of heads that lie beside each other in rows",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"], or_scalar = array<i64: 6>,
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64, padded = 0 : i64, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64, one_of = #kinds, least = #windows, without = ["past_key", "past_value"], absent = #nothing, set = {padded = 1 : i64}},
          {op = "Attention", rank = 3 : i64, one_of = #kinds, least = #windows, without = ["past_key", "past_value"], absent = #no_lengths}]
} {
^bb0(%q: !q3, %k: !k3, %v: !v3, %bias: !bias3d, %past_key: tensor<f16>, %past_value: tensor<f16>, %nonpad_kv_seqlen: !lengths):
  %lengths = graph.compute ins(%nonpad_kv_seqlen : !lengths) -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  %whole = graph.compute ins(%bias : !bias3d) -> !bias3d {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %before = graph.compute ins() -> !number {iterators = #graph.iterators<[]>, maps = [#id0]} {
    %none = arith.constant 0 : i64
    graph.yield %none : i64
  }
  %bounds = graph.apply @attention_limits(%whole, %before, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size", padded = "padded"} : (!bias3d, !number, !lengths) -> !limits3d
  %limits = graph.reshape %bounds : !limits3d -> !scores_wide
  %q_split = graph.reshape %q : !q3 -> !q3_split
  %queries = graph.compute ins(%q_split : !q3_split) -> !q5 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#queries_of_rows, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k3 -> !k3_split
  %keys = graph.compute ins(%k_split : !k3_split) -> !new_k4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v3 -> !v3_split
  %values = graph.compute ins(%v_split : !v3_split) -> !new_v4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %found, %scores = graph.apply @attention_limited(%queries, %keys, %values, %limits)
      {scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q5, !new_k4, !new_v4, !scores_wide) -> (!y5, !scores)
  %turned = graph.compute ins(%found : !y5) -> !y3_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#rows_of_queries, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y3_split -> !y3
  %seen = graph.reshape %scores : !scores -> !bias3d
  graph.yield %y, %keys, %values, %seen : !y3, !new_k4, !new_v4, !bias3d
}

graph.operator @attention_rows_within_masked {
  summary = "attention to keys of a window, or as many as a sample has, of heads that lie beside each other in rows; the mask holds for those that are seen",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"], or_scalar = array<i64: 6>,
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64, padded = 0 : i64, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64, one_of = #kinds, least = #windows, without = ["past_key", "past_value"], absent = #nothing_masked, set = {padded = 1 : i64}},
          {op = "Attention", rank = 3 : i64, one_of = #kinds, least = #windows, without = ["past_key", "past_value"], absent = #no_lengths_masked}]
} {
^bb0(%q: !q3, %k: !k3, %v: !v3, %mask: !mask3d, %past_key: tensor<f16>, %past_value: tensor<f16>, %nonpad_kv_seqlen: !lengths):
  %whole = graph.compute ins(%mask : !mask3d) -> !bias3d {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: i1):
    %zero = arith.constant 0.0 : f16
    %least = arith.constant 0xFC00 : f16
    %r = arith.select %e, %zero, %least : f16
    graph.yield %r : f16
  }
  %lengths = graph.compute ins(%nonpad_kv_seqlen : !lengths) -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  %before = graph.compute ins() -> !number {iterators = #graph.iterators<[]>, maps = [#id0]} {
    %none = arith.constant 0 : i64
    graph.yield %none : i64
  }
  %bounds = graph.apply @attention_limits(%whole, %before, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size", padded = "padded"} : (!bias3d, !number, !lengths) -> !limits3d
  %limits = graph.reshape %bounds : !limits3d -> !scores_wide
  %q_split = graph.reshape %q : !q3 -> !q3_split
  %queries = graph.compute ins(%q_split : !q3_split) -> !q5 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#queries_of_rows, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k3 -> !k3_split
  %keys = graph.compute ins(%k_split : !k3_split) -> !new_k4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v3 -> !v3_split
  %values = graph.compute ins(%v_split : !v3_split) -> !new_v4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %found, %scores = graph.apply @attention_limited(%queries, %keys, %values, %limits)
      {scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q5, !new_k4, !new_v4, !scores_wide) -> (!y5, !scores)
  %turned = graph.compute ins(%found : !y5) -> !y3_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#rows_of_queries, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y3_split -> !y3
  %seen = graph.reshape %scores : !scores -> !bias3d
  graph.yield %y, %keys, %values, %seen : !y3, !new_k4, !new_v4, !bias3d
}

graph.operator @attention_rows_with_past {
  summary = "attention to keys of before and new ones, of heads that lie beside each other in rows",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S + W"],
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64, one_of = #kinds, least = #windows, absent = {attn_mask = 0.0 : f32}}]
} {
^bb0(%q: !q3, %k: !k3, %v: !v3, %bias: !bias3d_past, %past_key: !past_k4, %past_value: !past_v4):
  %whole = graph.compute ins(%bias : !bias3d_past) -> !bias3d_past {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %before = graph.compute ins() -> !number {iterators = #graph.iterators<[]>, maps = [#id0]} {
    %n = graph.size [W] : index
    %r = arith.index_cast %n : index to i64
    graph.yield %r : i64
  }
  %lengths = graph.compute ins() -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1]} {
    %none = arith.constant 0 : i64
    graph.yield %none : i64
  }
  %bounds = graph.apply @attention_limits(%whole, %before, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size"} : (!bias3d_past, !number, !lengths) -> !limits3d_past
  %limits = graph.reshape %bounds : !limits3d_past -> !scores_wide_past
  %q_split = graph.reshape %q : !q3 -> !q3_split
  %queries = graph.compute ins(%q_split : !q3_split) -> !q5 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#queries_of_rows, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k3 -> !k3_split
  %new_keys = graph.compute ins(%k_split : !k3_split) -> !new_k4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v3 -> !v3_split
  %new_values = graph.compute ins(%v_split : !v3_split) -> !new_v4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %keys = graph.concat %past_key, %new_keys {axis = 2 : i64} : !past_k4, !new_k4 -> !all_k4
  %values = graph.concat %past_value, %new_values {axis = 2 : i64} : !past_v4, !new_v4 -> !all_v4
  %found, %scores = graph.apply @attention_limited(%queries, %keys, %values, %limits)
      {scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q5, !all_k4, !all_v4, !scores_wide_past) -> (!y5, !scores_past)
  %turned = graph.compute ins(%found : !y5) -> !y3_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#rows_of_queries, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y3_split -> !y3
  %seen = graph.reshape %scores : !scores_past -> !bias3d_past
  graph.yield %y, %keys, %values, %seen : !y3, !all_k4, !all_v4, !bias3d_past
}

graph.operator @attention_rows_with_past_masked {
  summary = "attention to keys of before and new ones, of heads that lie beside each other in rows; the mask holds for those that are seen",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S + W"],
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, softmax_precision = 1 : i64, qk_matmul_output_mode = 0 : i64,
                left_window_size = -1 : i64, right_window_size = -1 : i64, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64, one_of = #kinds, least = #windows}]
} {
^bb0(%q: !q3, %k: !k3, %v: !v3, %mask: !mask3d_past, %past_key: !past_k4, %past_value: !past_v4):
  %whole = graph.compute ins(%mask : !mask3d_past) -> !bias3d_past {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: i1):
    %zero = arith.constant 0.0 : f16
    %least = arith.constant 0xFC00 : f16
    %r = arith.select %e, %zero, %least : f16
    graph.yield %r : f16
  }
  %before = graph.compute ins() -> !number {iterators = #graph.iterators<[]>, maps = [#id0]} {
    %n = graph.size [W] : index
    %r = arith.index_cast %n : index to i64
    graph.yield %r : i64
  }
  %lengths = graph.compute ins() -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1]} {
    %none = arith.constant 0 : i64
    graph.yield %none : i64
  }
  %bounds = graph.apply @attention_limits(%whole, %before, %lengths)
      {is_causal = "is_causal", left_window_size = "left_window_size", right_window_size = "right_window_size"} : (!bias3d_past, !number, !lengths) -> !limits3d_past
  %limits = graph.reshape %bounds : !limits3d_past -> !scores_wide_past
  %q_split = graph.reshape %q : !q3 -> !q3_split
  %queries = graph.compute ins(%q_split : !q3_split) -> !q5 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#queries_of_rows, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k3 -> !k3_split
  %new_keys = graph.compute ins(%k_split : !k3_split) -> !new_k4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v3 -> !v3_split
  %new_values = graph.compute ins(%v_split : !v3_split) -> !new_v4 {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#heads_of_rows, #id4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %keys = graph.concat %past_key, %new_keys {axis = 2 : i64} : !past_k4, !new_k4 -> !all_k4
  %values = graph.concat %past_value, %new_values {axis = 2 : i64} : !past_v4, !new_v4 -> !all_v4
  %found, %scores = graph.apply @attention_limited(%queries, %keys, %values, %limits)
      {scale = "scale", softcap = "softcap", softmax_precision = "softmax_precision", qk_matmul_output_mode = "qk_matmul_output_mode"}
      : (!q5, !all_k4, !all_v4, !scores_wide_past) -> (!y5, !scores_past)
  %turned = graph.compute ins(%found : !y5) -> !y3_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#rows_of_queries, #id5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y3_split -> !y3
  %seen = graph.reshape %scores : !scores_past -> !bias3d_past
  graph.yield %y, %keys, %values, %seen : !y3, !all_k4, !all_v4, !bias3d_past
}
