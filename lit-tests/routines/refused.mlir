// What cannot become a call: sizes that are not known, and devices.

// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics
// RUN: sutura-opt %s --split-input-file --stitch -o /dev/null --remarks-filter=stitch

func.func @f(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @+1 {{a size of %x is not known}}
  %y = graph.sort %x {axis = 1 : i64, descending = array<i64: 0>} : tensor<?x?xf32> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
