// A dense layer: a product whose factors lie in the memory of a block, a bias, a cut-off.
!x = tensor<?x512xf32, #dyn.shape<[M, 512]>>
!y = tensor<?x2048xf32, #dyn.shape<[M, 2048]>>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @product(%x: !x, %w: tensor<512x2048xf32>, %b: tensor<2048xf32>) -> !y {
  %M = dyn.symbol "M" : index
  %0 = graph.compute ins(%x, %w : !x, tensor<512x2048xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#lhs, #rhs, #out]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.mulf %l, %r : f32
      graph.yield %m : f32
  }
  %1 = graph.compute ins(%0, %b : !y, tensor<2048xf32>) -> !y {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
    ^bb0(%l: f32, %r: f32):
      %m = arith.addf %l, %r : f32
      %z = arith.constant 0.0 : f32
      %n = arith.maximumf %m, %z : f32
      graph.yield %n : f32
  }
  return %1 : !y
}
