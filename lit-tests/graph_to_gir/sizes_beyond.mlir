// RUN: sutura-opt %s --split-input-file --convert-graph-to-gir --verify-diagnostics

// expected-error @below {{%x cannot be kept in memory: its size in bytes is too large to be computed}}
func.func @main(%x: tensor<65536x65536x65536x65536x65536xf32>) -> tensor<65536x65536x65536x65536x65536xf32> {
  return %x : tensor<65536x65536x65536x65536x65536xf32>
}

// -----

// The number of elements fits, that of bytes does not.
// expected-error @below {{%x cannot be kept in memory: its size in bytes is too large to be computed}}
func.func @main(%x: tensor<4611686018427387904xf32>) -> tensor<4611686018427387904xf32> {
  return %x : tensor<4611686018427387904xf32>
}

// -----

// A size that is known tells a factor of it only where that stands once.
// expected-error @below {{@main cannot be a host program: the dims of the inputs do not determine symbol 'S'}}
func.func @main(%x: tensor<?xf32, #dyn.shape<[S*S]>>) -> tensor<?xf32, #dyn.shape<[S*S]>> {
  return %x : tensor<?xf32, #dyn.shape<[S*S]>>
}

// -----

// expected-error @below {{@main cannot be a host program: the dims of the inputs do not determine symbols 'S', 'T'}}
func.func @main(%x: tensor<?xf32, #dyn.shape<[max(S, T)]>>) -> tensor<?xf32, #dyn.shape<[max(S, T)]>> {
  return %x : tensor<?xf32, #dyn.shape<[max(S, T)]>>
}
