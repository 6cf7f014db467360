// Functions of one float, each on all elements.
#i = affine_map<(d0) -> (d0)>
func.func @functions(%x: tensor<?xf32, #dyn.shape<[n]>>) -> (tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>) {
  %n = dyn.symbol "n" {range = [0, 1000000]} : index
  %cbrt = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.cbrt %e : f32
    graph.yield %y : f32
  }
  %cos = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.cos %e : f32
    graph.yield %y : f32
  }
  %erf = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.erf %e : f32
    graph.yield %y : f32
  }
  %exp = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.exp %e : f32
    graph.yield %y : f32
  }
  %exp2 = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.exp2 %e : f32
    graph.yield %y : f32
  }
  %expm1 = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.expm1 %e : f32
    graph.yield %y : f32
  }
  %log = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.log %e : f32
    graph.yield %y : f32
  }
  %log10 = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.log10 %e : f32
    graph.yield %y : f32
  }
  %log1p = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.log1p %e : f32
    graph.yield %y : f32
  }
  %log2 = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.log2 %e : f32
    graph.yield %y : f32
  }
  %round = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.round %e : f32
    graph.yield %y : f32
  }
  %rsqrt = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.rsqrt %e : f32
    graph.yield %y : f32
  }
  %sin = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.sin %e : f32
    graph.yield %y : f32
  }
  %tan = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.tan %e : f32
    graph.yield %y : f32
  }
  %tanh = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.tanh %e : f32
    graph.yield %y : f32
  }
  %pow = graph.compute ins(%x, %exp2 : tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i, #i]} {
  ^bb0(%e: f32, %p: f32):
    %y = math.powf %e, %p : f32
    graph.yield %y : f32
  }
  %ceil = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.ceil %e : f32
    graph.yield %y : f32
  }
  %floor = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.floor %e : f32
    graph.yield %y : f32
  }
  %roundeven = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.roundeven %e : f32
    graph.yield %y : f32
  }
  %trunc = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[n]>>) -> tensor<?xf32, #dyn.shape<[n]>> {iterators = #graph.iterators<[parallel]>, maps = [#i, #i]} {
  ^bb0(%e: f32):
    %y = math.trunc %e : f32
    graph.yield %y : f32
  }
  return %cbrt, %cos, %erf, %exp, %exp2, %expm1, %log, %log10, %log1p, %log2, %round, %rsqrt, %sin, %tan, %tanh, %pow, %ceil, %floor, %roundeven, %trunc : tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>, tensor<?xf32, #dyn.shape<[n]>>
}
