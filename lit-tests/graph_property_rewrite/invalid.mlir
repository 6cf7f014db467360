// RUN: sutura-opt %s --graph-property-rewrite --split-input-file --verify-diagnostics
// RUN: not sutura-opt %s --graph-property-rewrite=fast-math=quick 2>&1 | FileCheck %s

// CHECK: option `fast-math` takes flags out of `reassoc`, {{.*}}, not `quick`

// Sizes cannot be compared under facts that exclude each other.
func.func @contradiction(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" {range = [8, 16]} : index
  // expected-error @below {{'dyn.equal' op N and 4 cannot be equal}}
  dyn.equal [N], [4]
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}
