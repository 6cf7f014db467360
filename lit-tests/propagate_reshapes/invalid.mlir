// RUN: sutura-opt %s --propagate-reshapes --split-input-file --verify-diagnostics

// Sizes cannot be compared under facts that exclude each other.
func.func @contradiction(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?x1xf32, #dyn.shape<[N, 1]>> {
  %N = dyn.symbol "N" {range = [8, 16]} : index
  // expected-error @below {{'dyn.equal' op N and 4 cannot be equal}}
  dyn.equal [N], [4]
  %y = graph.reshape %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?x1xf32, #dyn.shape<[N, 1]>>
  return %y : tensor<?x1xf32, #dyn.shape<[N, 1]>>
}
