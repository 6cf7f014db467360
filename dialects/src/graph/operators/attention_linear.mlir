// Attention whose keys and values are summed in a state, one step at a time. S steps of B samples; H heads of K by V numbers, each
// of which G heads of queries read. Steps come first, so that one is a row.

#k = affine_map<(b, h, k, v) -> (b, h, k)>
#v = affine_map<(b, h, k, v) -> (b, h, v)>
#kv = affine_map<(b, h, k, v) -> (b, h, k, v)>
#id3 = affine_map<(b, h, v) -> (b, h, v)>
#head = affine_map<(b, h, v) -> (b, h)>
#asked = affine_map<(b, h, g, v, k) -> (b, h, g, k)>
#read = affine_map<(b, h, g, v, k) -> (b, h, k, v)>
#answer = affine_map<(b, h, g, v, k) -> (b, h, g, v)>
#id5 = affine_map<(s, b, h, g, v) -> (s, b, h, g, v)>
#id4 = affine_map<(b, h, k, v) -> (b, h, k, v)>

!q = tensor<?x?x?x?x?xf32, #dyn.shape<[S, B, H, G, K]>>
!q1 = tensor<?x?x?x?xf32, #dyn.shape<[B, H, G, K]>>
!k = tensor<?x?x?x?xf32, #dyn.shape<[S, B, H, K]>>
!k1 = tensor<?x?x?xf32, #dyn.shape<[B, H, K]>>
!v = tensor<?x?x?x?xf32, #dyn.shape<[S, B, H, V]>>
!v1 = tensor<?x?x?xf32, #dyn.shape<[B, H, V]>>
!beta = tensor<?x?x?xf32, #dyn.shape<[S, B, H]>>
!beta1 = tensor<?x?xf32, #dyn.shape<[B, H]>>
!state = tensor<?x?x?x?xf32, #dyn.shape<[B, H, K, V]>>
!y = tensor<?x?x?x?x?xf32, #dyn.shape<[S, B, H, G, V]>>
!y1 = tensor<?x?x?x?xf32, #dyn.shape<[B, H, G, V]>>

graph.operator @linear_attention_read {
  summary = "what queries read of a state of keys and values",
  elements = [f32]
} {
^bb0(%q: !q1, %state: !state):
  %y = graph.compute ins(%q, %state : !q1, !state) -> !y1
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce]>, maps = [#asked, #read, #answer]} {
  ^bb0(%e: f32, %s: f32):
    %r = arith.mulf %e, %s : f32
    graph.yield %r : f32
  }
  graph.yield %y : !y1
}

graph.operator @linear_attention {
  summary = "a state that fades by exp(decay) and takes in each key times its value; what queries read of it, and the last state",
  elements = [f32]
} {
^bb0(%q: !q, %k: !k, %v: !v, %decay: !k, %past: !state):
  %nothing = graph.compute ins() -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5]} {
    %zero = arith.constant 0.0 : f32
    graph.yield %zero : f32
  }
  %first = graph.compute ins(%past : !state) -> !state {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %k, %from : !k
  %read, %last = scf.for %i = %from to %to step %step iter_args(%y = %nothing, %state = %first) -> (!y, !state) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %query = graph.gather %q, %at {axis = 0 : i64} : !q, tensor<i64> -> !q1
    %key = graph.gather %k, %at {axis = 0 : i64} : !k, tensor<i64> -> !k1
    %value = graph.gather %v, %at {axis = 0 : i64} : !v, tensor<i64> -> !v1
    %fading = graph.gather %decay, %at {axis = 0 : i64} : !k, tensor<i64> -> !k1
    %next = graph.compute ins(%state, %fading, %key, %value : !state, !k1, !k1, !v1) -> !state
        {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#kv, #k, #k, #v, #kv]} {
    ^bb0(%s: f32, %d: f32, %a: f32, %b: f32):
      %factor = math.exp %d : f32
      %faded = arith.mulf %s, %factor : f32
      %new = arith.mulf %a, %b : f32
      %r = arith.addf %faded, %new : f32
      graph.yield %r : f32
    }
    %seen = graph.apply @linear_attention_read(%query, %next) : (!q1, !state) -> !y1
    %written = graph.scatter %y, %place, %seen : !y, tensor<1xi64>, !y1 -> !y
    scf.yield %written, %next : !y, !state
  }
  graph.yield %read, %last : !y, !state
}

graph.operator @linear_attention_delta {
  summary = "linear_attention that takes in how far a value is from what its key reads, times beta",
  elements = [f32]
} {
^bb0(%q: !q, %k: !k, %v: !v, %decay: !k, %past: !state, %beta: !beta):
  %nothing = graph.compute ins() -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#id5]} {
    %zero = arith.constant 0.0 : f32
    graph.yield %zero : f32
  }
  %first = graph.compute ins(%past : !state) -> !state {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #id4]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %k, %from : !k
  %read, %last = scf.for %i = %from to %to step %step iter_args(%y = %nothing, %state = %first) -> (!y, !state) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %query = graph.gather %q, %at {axis = 0 : i64} : !q, tensor<i64> -> !q1
    %key = graph.gather %k, %at {axis = 0 : i64} : !k, tensor<i64> -> !k1
    %value = graph.gather %v, %at {axis = 0 : i64} : !v, tensor<i64> -> !v1
    %fading = graph.gather %decay, %at {axis = 0 : i64} : !k, tensor<i64> -> !k1
    %rate = graph.gather %beta, %at {axis = 0 : i64} : !beta, tensor<i64> -> !beta1
    %faded = graph.compute ins(%state, %fading : !state, !k1) -> !state
        {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#kv, #k, #kv]} {
    ^bb0(%s: f32, %d: f32):
      %factor = math.exp %d : f32
      %r = arith.mulf %s, %factor : f32
      graph.yield %r : f32
    }
    %known = graph.compute ins(%faded, %key : !state, !k1) -> !v1
        {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce, parallel]>, maps = [#kv, #k, #v]} {
    ^bb0(%s: f32, %a: f32):
      %r = arith.mulf %s, %a : f32
      graph.yield %r : f32
    }
    %change = graph.compute ins(%value, %known, %rate : !v1, !v1, !beta1) -> !v1
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #head, #id3]} {
    ^bb0(%wanted: f32, %found: f32, %b: f32):
      %far = arith.subf %wanted, %found : f32
      %r = arith.mulf %far, %b : f32
      graph.yield %r : f32
    }
    %next = graph.compute ins(%faded, %key, %change : !state, !k1, !v1) -> !state
        {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#kv, #k, #v, #kv]} {
    ^bb0(%s: f32, %a: f32, %b: f32):
      %new = arith.mulf %a, %b : f32
      %r = arith.addf %s, %new : f32
      graph.yield %r : f32
    }
    %seen = graph.apply @linear_attention_read(%query, %next) : (!q1, !state) -> !y1
    %written = graph.scatter %y, %place, %seen : !y, tensor<1xi64>, !y1 -> !y
    scf.yield %written, %next : !y, !state
  }
  graph.yield %read, %last : !y, !state
}
