// Attention of several heads, as ONNX has it: heads of queries share those of keys and values in groups, and may lie beside each other
// in rows. P samples; N heads of keys and values, G heads of queries for each; L queries, S keys; D and E numbers.

#same4 = affine_map<(p, h, l, s) -> (p, h, l, s)>
#same5 = affine_map<(p, n, g, l, d) -> (p, n, g, l, d)>
#shared = affine_map<(p, n, g, s, d) -> (p, n, s, d)>
#shared_rows = affine_map<(p, n, g, s, d) -> (p, s, n, d)>
#from_rows = affine_map<(p, n, g, l, d) -> (p, l, n, g, d)>
#to_rows = affine_map<(p, l, n, g, e) -> (p, n, g, l, e)>

!q = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, D]>>
!k = tensor<?x?x?x?xf16, #dyn.shape<[P, N, S, D]>>
!v = tensor<?x?x?x?xf16, #dyn.shape<[P, N, S, E]>>
!y = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, E]>>
!bias = tensor<?x?x?x?xf16, #dyn.shape<[P, N * G, L, S]>>
!mask = tensor<?x?x?x?xi1, #dyn.shape<[P, N * G, L, S]>>
!q_rows = tensor<?x?x?xf16, #dyn.shape<[P, L, M * D]>>
!k_rows = tensor<?x?x?xf16, #dyn.shape<[P, S, N * D]>>
!v_rows = tensor<?x?x?xf16, #dyn.shape<[P, S, N * E]>>
!y_rows = tensor<?x?x?xf16, #dyn.shape<[P, L, M * E]>>
!bias_rows = tensor<?x?x?x?xf16, #dyn.shape<[P, M, L, S]>>
!mask_rows = tensor<?x?x?x?xi1, #dyn.shape<[P, M, L, S]>>
!q_split = tensor<?x?x?x?x?xf16, #dyn.shape<[P, L, N, G, D]>>
!k_split = tensor<?x?x?x?xf16, #dyn.shape<[P, S, N, D]>>
!v_split = tensor<?x?x?x?xf16, #dyn.shape<[P, S, N, E]>>
!y_split = tensor<?x?x?x?x?xf16, #dyn.shape<[P, L, N, G, E]>>
!queries = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, D]>>
!keys = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, S, D]>>
!values = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, S, E]>>
!scores = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, S]>>
!found = tensor<?x?x?x?x?xf16, #dyn.shape<[P, N, G, L, E]>>

graph.operator @attention_grouped {
  summary = "attention in which heads of queries share those of keys and values",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32},
  onnx = [{op = "Attention", rank = 4 : i64, ignore = ["q_num_heads", "kv_num_heads"],
           with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                               left_window_size = -1 : i64, right_window_size = -1 : i64}}]
} {
^bb0(%q: !q, %k: !k, %v: !v):
  %queries = graph.reshape %q : !q -> !queries
  %keys = graph.compute ins(%k : !k) -> !keys {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %values = graph.compute ins(%v : !v) -> !values {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %found = graph.apply @attention(%queries, %keys, %values) {scale = "scale", is_causal = "is_causal", softcap = "softcap"} : (!queries, !keys, !values) -> !found
  %y = graph.reshape %found : !found -> !y
  graph.yield %y : !y
}

graph.operator @attention_grouped_biased {
  summary = "attention with a bias, in which heads of queries share those of keys and values",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"],
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32},
  onnx = [{op = "Attention", rank = 4 : i64, ignore = ["q_num_heads", "kv_num_heads"],
           with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                               left_window_size = -1 : i64, right_window_size = -1 : i64}}]
} {
^bb0(%q: !q, %k: !k, %v: !v, %bias: !bias):
  %queries = graph.reshape %q : !q -> !queries
  %keys = graph.compute ins(%k : !k) -> !keys {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %values = graph.compute ins(%v : !v) -> !values {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %whole = graph.compute ins(%bias : !bias) -> !bias {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#same4, #same4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %scores = graph.reshape %whole : !bias -> !scores
  %found = graph.apply @attention_biased(%queries, %keys, %values, %scores) {scale = "scale", is_causal = "is_causal", softcap = "softcap"} : (!queries, !keys, !values, !scores) -> !found
  %y = graph.reshape %found : !found -> !y
  graph.yield %y : !y
}

graph.operator @attention_grouped_masked {
  summary = "attention to keys for which the mask holds; heads of queries may share those of keys and values",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"],
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32},
  onnx = [{op = "Attention", rank = 4 : i64, ignore = ["q_num_heads", "kv_num_heads"],
           with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                               left_window_size = -1 : i64, right_window_size = -1 : i64}}]
} {
^bb0(%q: !q, %k: !k, %v: !v, %mask: !mask):
  %queries = graph.reshape %q : !q -> !queries
  %keys = graph.compute ins(%k : !k) -> !keys {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %values = graph.compute ins(%v : !v) -> !values {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %whole = graph.compute ins(%mask : !mask) -> !bias {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#same4, #same4]} {
  ^bb0(%e: i1):
    %zero = arith.constant 0.0 : f16
    %least = arith.constant 0xFC00 : f16
    %r = arith.select %e, %zero, %least : f16
    graph.yield %r : f16
  }
  %scores = graph.reshape %whole : !bias -> !scores
  %found = graph.apply @attention_biased(%queries, %keys, %values, %scores) {scale = "scale", is_causal = "is_causal", softcap = "softcap"} : (!queries, !keys, !values, !scores) -> !found
  %y = graph.reshape %found : !found -> !y
  graph.yield %y : !y
}

graph.operator @attention_heads {
  summary = "attention of heads that lie beside each other in rows",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64,
           with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                               left_window_size = -1 : i64, right_window_size = -1 : i64}}]
} {
^bb0(%q: !q_rows, %k: !k_rows, %v: !v_rows):
  %q_split = graph.reshape %q : !q_rows -> !q_split
  %queries = graph.compute ins(%q_split : !q_split) -> !queries {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#from_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k_rows -> !k_split
  %keys = graph.compute ins(%k_split : !k_split) -> !keys {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v_rows -> !v_split
  %values = graph.compute ins(%v_split : !v_split) -> !values {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %found = graph.apply @attention(%queries, %keys, %values) {scale = "scale", is_causal = "is_causal", softcap = "softcap"} : (!queries, !keys, !values) -> !found
  %turned = graph.compute ins(%found : !found) -> !y_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#to_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y_split -> !y_rows
  graph.yield %y : !y_rows
}

graph.operator @attention_heads_biased {
  summary = "attention with a bias, of heads that lie beside each other in rows",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"],
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64,
           with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                               left_window_size = -1 : i64, right_window_size = -1 : i64}}]
} {
^bb0(%q: !q_rows, %k: !k_rows, %v: !v_rows, %bias: !bias_rows):
  %q_split = graph.reshape %q : !q_rows -> !q_split
  %queries = graph.compute ins(%q_split : !q_split) -> !queries {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#from_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k_rows -> !k_split
  %keys = graph.compute ins(%k_split : !k_split) -> !keys {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v_rows -> !v_split
  %values = graph.compute ins(%v_split : !v_split) -> !values {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %whole = graph.compute ins(%bias : !bias_rows) -> !bias_rows {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#same4, #same4]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %scores = graph.reshape %whole : !bias_rows -> !scores
  %found = graph.apply @attention_biased(%queries, %keys, %values, %scores) {scale = "scale", is_causal = "is_causal", softcap = "softcap"} : (!queries, !keys, !values, !scores) -> !found
  %turned = graph.compute ins(%found : !found) -> !y_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#to_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y_split -> !y_rows
  graph.yield %y : !y_rows
}

graph.operator @attention_heads_masked {
  summary = "attention to keys for which the mask holds, of heads that lie beside each other in rows",
  elements = [f16, bf16, f32, f64], accumulator = f32, broadcast = array<i64: 3>, exact = ["S"],
  sizes = {M = "q_num_heads", N = "kv_num_heads", G = "q_num_heads / kv_num_heads"},
  attributes = {scale = 0x7FC00000 : f32, is_causal = 0 : i64, softcap = 0.0 : f32, q_num_heads = i64, kv_num_heads = i64},
  onnx = [{op = "Attention", rank = 3 : i64,
           with = {qk_matmul_output_mode = 0 : i64, softmax_precision = 1 : i64,
                                               left_window_size = -1 : i64, right_window_size = -1 : i64}}]
} {
^bb0(%q: !q_rows, %k: !k_rows, %v: !v_rows, %mask: !mask_rows):
  %q_split = graph.reshape %q : !q_rows -> !q_split
  %queries = graph.compute ins(%q_split : !q_split) -> !queries {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#from_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %k_split = graph.reshape %k : !k_rows -> !k_split
  %keys = graph.compute ins(%k_split : !k_split) -> !keys {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %v_split = graph.reshape %v : !v_rows -> !v_split
  %values = graph.compute ins(%v_split : !v_split) -> !values {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#shared_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %whole = graph.compute ins(%mask : !mask_rows) -> !bias_rows {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#same4, #same4]} {
  ^bb0(%e: i1):
    %zero = arith.constant 0.0 : f16
    %least = arith.constant 0xFC00 : f16
    %r = arith.select %e, %zero, %least : f16
    graph.yield %r : f16
  }
  %scores = graph.reshape %whole : !bias_rows -> !scores
  %found = graph.apply @attention_biased(%queries, %keys, %values, %scores) {scale = "scale", is_causal = "is_causal", softcap = "softcap"} : (!queries, !keys, !values, !scores) -> !found
  %turned = graph.compute ins(%found : !found) -> !y_split {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#to_rows, #same5]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %y = graph.reshape %turned : !y_split -> !y_rows
  graph.yield %y : !y_rows
}
