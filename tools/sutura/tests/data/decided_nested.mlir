// Conditions in each other whose results have two sizes that data decide, turned around on one side.
!rows = tensor<?x?xf32, #dyn.shape<[N, M]>>

func.func @main(%c: tensor<i1>, %d: tensor<i1>, %x: !rows, %y: tensor<?x?xf32, #dyn.shape<[P, Q]>>) -> (tensor<?x?xf32>, tensor<f32>) {
  %f = tensor.extract %c[] : tensor<i1>
  %r = scf.if %f -> (tensor<?x?xf32>) {
    %g = tensor.extract %d[] : tensor<i1>
    %s = scf.if %g -> (tensor<?x?xf32>) {
      %t = graph.compute ins(%x : !rows) -> tensor<?x?xf32> {
        iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>]
      } {
      ^bb0(%e: f32):
        graph.yield %e : f32
      }
      scf.yield %t : tensor<?x?xf32>
    } else {
      %a = tensor.cast %x : !rows to tensor<?x?xf32>
      scf.yield %a : tensor<?x?xf32>
    }
    %n = graph.compute ins(%s : tensor<?x?xf32>) -> tensor<?x?xf32> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: f32):
      %0 = arith.negf %e : f32
      graph.yield %0 : f32
    }
    scf.yield %n : tensor<?x?xf32>
  } else {
    %a = tensor.cast %y : tensor<?x?xf32, #dyn.shape<[P, Q]>> to tensor<?x?xf32>
    scf.yield %a : tensor<?x?xf32>
  }
  %most = graph.compute ins(%r : tensor<?x?xf32>) -> tensor<f32> {
    iterators = #graph.iterators<[reduce, reduce]>, combiners = #graph.combiners<[max]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>]
  } {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %r, %most : tensor<?x?xf32>, tensor<f32>
}
