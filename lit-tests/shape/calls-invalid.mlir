// RUN: sutura-opt %s --propagate-shapes --split-input-file --verify-diagnostics

// expected-note @below {{function @f is defined here}}
func.func private @f(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?xf32, #dyn.shape<[N]>>
func.func @rank(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{operand type mismatch: 'tensor<?xf32>' is no instance of 'tensor<?x4xf32, #dyn.shape<[N, 4]>>' for operand number 0}}
  %y = call @f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// expected-note @below {{function @f is defined here}}
func.func private @f(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>) -> tensor<?xf32, #dyn.shape<[2*N]>>
func.func @result(%x: tensor<3x4xf32>) -> tensor<5xf32> {
  // expected-error @below {{is no instance of 'tensor<?xf32, #dyn.shape<[2*N]>>' for result number 0: dimension 0 is 5 and must be 6}}
  %y = call @f(%x) : (tensor<3x4xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// expected-note @below {{function @f is defined here}}
func.func private @f(%x: tensor<?x4xf32, #dyn.shape<[N, 4]>>)
func.func @static(%x: tensor<3x?xf32>) {
  // expected-error @below {{for operand number 0: dimension 1 must be static}}
  call @f(%x) : (tensor<3x?xf32>) -> ()
  return
}

// -----

// expected-note @below {{function @f is defined here}}
func.func private @f(%x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[N]>>)
func.func @two(%x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{for operand number 1: dimension 0 is 4 and must be 3}}
  call @f(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> ()
  return
}

// -----

// What the function states cannot hold where it is called.
func.func private @f(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
  %N = dyn.symbol "N" {range = [8, 16]} : index
  return %x : tensor<?xf32, #dyn.shape<[N]>>
}
func.func @small(%x: tensor<3xf32>) -> tensor<?xf32> {
  // expected-error @below {{`N` of @f, at least 8 must be equal, they are -5 and 0}}
  %y = call @f(%x) : (tensor<3xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
