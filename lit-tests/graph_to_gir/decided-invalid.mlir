// RUN: sutura-opt %s --scf-for-to-while --scalars-to-tensors --outline-regions --propagate-shapes --stitch --convert-graph-to-gir --split-input-file --verify-diagnostics

func.func @grows(%x: tensor<?xf32, #dyn.shape<[N]>>, %limit: tensor<i1>) -> tensor<?xf32> {
  %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
  // expected-remark @+3 {{differs from one time to the next, or follows from nothing that is known; it is called `scf_while_0`}}
  // expected-remark @+2 {{differs from one time to the next, or follows from nothing that is known; it is called `scf_while_0_2`}}
  // expected-error @below {{carries something whose size grows from one iteration to the next: nothing bounds it}}
  %r = scf.while (%p = %a) : (tensor<?xf32>) -> tensor<?xf32> {
    %c = tensor.extract %limit[] : tensor<i1>
    scf.condition(%c) %p : tensor<?xf32>
  } do {
  ^bb0(%p: tensor<?xf32>):
    %y = graph.concat %p, %x {axis = 0} : tensor<?xf32>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// A size of a result that is made of a symbol which no result is.
func.func @unsaid(%f: tensor<i1>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[2*R]>> {
  %c = tensor.extract %f[] : tensor<i1>
  // expected-error @below {{makes something whose size has 'R' in it, which nothing tells}}
  %r = scf.if %c -> (tensor<?xf32, #dyn.shape<[2*R]>>) {
    %a = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32, #dyn.shape<[2*R]>>
    scf.yield %a : tensor<?xf32, #dyn.shape<[2*R]>>
  } else {
    %a = tensor.cast %y : tensor<?xf32, #dyn.shape<[M]>> to tensor<?xf32, #dyn.shape<[2*R]>>
    scf.yield %a : tensor<?xf32, #dyn.shape<[2*R]>>
  }
  return %r : tensor<?xf32, #dyn.shape<[2*R]>>
}

// -----

// What bounds a size is known of functions that were converted before.
func.func private @again(%f: tensor<i1>, %x: tensor<1x?xi64, #dyn.shape<[1, N]>>) -> tensor<1x?xi64, #dyn.shape<[1, K]>> {
  %c = tensor.extract %f[] : tensor<i1>
  %r = scf.if %c -> (tensor<1x?xi64, #dyn.shape<[1, K]>>) {
    // expected-error @below {{calls '@again', of whose sizes nothing is known: it calls, directly or through others, what calls it}}
    %a = func.call @again(%f, %x) : (tensor<i1>, tensor<1x?xi64, #dyn.shape<[1, N]>>) -> tensor<1x?xi64, #dyn.shape<[1, K]>>
    scf.yield %a : tensor<1x?xi64, #dyn.shape<[1, K]>>
  } else {
    %b = tensor.cast %x : tensor<1x?xi64, #dyn.shape<[1, N]>> to tensor<1x?xi64, #dyn.shape<[1, K]>>
    scf.yield %b : tensor<1x?xi64, #dyn.shape<[1, K]>>
  }
  return %r : tensor<1x?xi64, #dyn.shape<[1, K]>>
}
