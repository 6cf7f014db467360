// What cannot become a call.

// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics

// expected-error @+1 {{a size of %x is not known}}
func.func @f(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // expected-error @+1 {{a size of %x is not known}}
  %y = graph.sort %x {axis = 1 : i64, descending = array<i64: 0>} : tensor<?x?xf32> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @f(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[K]>> {
  // expected-error @+1 {{has the size 'K', which depends on data: no dim of an input tells it before the run}}
  %v, %i = graph.top_k %x [K] {axis = 0 : i64}
      : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[K]>>, tensor<?xi64, #dyn.shape<[K]>>
  return %v : tensor<?xf32, #dyn.shape<[K]>>
}

// -----

// expected-error @+1 {{%x cannot be kept in memory: elements of a buffer are integers or floats of 1, 2, 4, 8, 16, 32 or 64 bits}}
func.func @f(%x: tensor<4xi3>) -> tensor<4xi3> {
  // expected-error @+1 {{%x cannot be kept in memory: elements of a buffer are integers or floats of 1, 2, 4, 8, 16, 32 or 64 bits}}
  %y = graph.sort %x {axis = 0 : i64, descending = array<i64: 0>} : tensor<4xi3> -> tensor<4xi3>
  return %y : tensor<4xi3>
}
