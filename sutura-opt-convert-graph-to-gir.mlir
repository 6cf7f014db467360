!k = tensor<?x?x2xf32, #dyn.shape<[B, K, 2]>>
!q = tensor<?x?x2xf32, #dyn.shape<[B, Q, 2]>>
!r = tensor<?x?xf32, #dyn.shape<[B, Q]>>
!s = tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#kd = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#kv = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#qd = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#qk = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#row = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @attention(%q: !q, %k: !k) {
    %B = dyn.symbol "B" : index
    %Q = dyn.symbol "Q" : index
    %K = dyn.symbol "K" : index
    %out = graph.fusion(%q, %k, %k : !q, !k, !k) -> !q {kind = "attention"} {
    ^bb0(%q_0: !q, %k_1: !k, %v: !k):
      %scores = graph.compute ins(%q_0, %k_1 : !q, !k) -> !s {combiners = ["add"], iterators = ["parallel", "parallel", "parallel", "reduce"], maps = [#qd, #kd, #qk]} {
      ^bb0(%a: f32, %b: f32):
        %x = arith.mulf %a, %b : f32
        graph.yield %x : f32
      }
      %max = graph.compute ins(%scores : !s) -> !r {combiners = ["max"], iterators = ["parallel", "parallel", "reduce"], maps = [#id, #row]} {
      ^bb0(%a: f32):
        graph.yield %a : f32
      }
      %exp = graph.compute ins(%scores, %max : !s, !r) -> !s {iterators = ["parallel", "parallel", "parallel"], maps = [#id, #row, #id]} {
      ^bb0(%a: f32, %b: f32):
        %x = arith.subf %a, %b : f32
        %y = math.exp %x : f32
        graph.yield %y : f32
      }
      %sum = graph.compute ins(%exp : !s) -> !r {combiners = ["add"], iterators = ["parallel", "parallel", "reduce"], maps = [#id, #row]} {
      ^bb0(%a: f32):
        graph.yield %a : f32
      }
      %p = graph.compute ins(%exp, %sum : !s, !r) -> !s {iterators = ["parallel", "parallel", "parallel"], maps = [#id, #row, #id]} {
      ^bb0(%a: f32, %b: f32):
        %x = arith.divf %a, %b : f32
        graph.yield %x : f32
      }
      %out_2 = graph.compute ins(%p, %v : !s, !k) -> !q {combiners = ["add"], iterators = ["parallel", "parallel", "parallel", "reduce"], maps = [#qd, #kv, #qk]} {
      ^bb0(%a: f32, %b: f32):
        %x = arith.mulf %a, %b : f32
        graph.yield %x : f32
      }
      graph.yield %out_2 : !q
    }
    return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-graph-to-gir{plant-fault=attention})",
      disable_threading: false,
      verify_each: true
    }
  }
#-}
