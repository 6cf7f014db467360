// RUN: sutura-opt %s --stitch --convert-graph-to-gir --split-input-file --verify-diagnostics | FileCheck %s

// A size that no 'dyn.symbol' declares is any size.
// CHECK-LABEL: rt.program @argument(
// CHECK-SAME: symbols(N : [0, 2147483647])
func.func @argument(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

func.func @nowhere() {
  // expected-error@+1 {{has the size 'N', which depends on data: no dim of an input tells it before the run}}
  dyn.equal [N floordiv 2], [0]
  return
}
