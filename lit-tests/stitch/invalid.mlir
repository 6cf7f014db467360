// RUN: sutura-opt %s --stitch --split-input-file --verify-diagnostics

// Nothing can be fitted on facts that exclude each other.
func.func @contradiction(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" {range = [8, 16]} : index
  // expected-error @below {{'dyn.equal' op N and 4 cannot be equal}}
  dyn.equal [N], [4]
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'blocks' has several blocks; only straight-line functions are stitched}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.compute ins(%x : tensor<4xf32>) -> tensor<4xf32> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  cf.br ^bb1
^bb1:
  return %y : tensor<4xf32>
}
