// RUN: sutura-opt %s --propagate-shapes --verify-diagnostics --split-input-file

func.func @contradiction(%a: tensor<?x4xf32, #dyn.shape<[batch, 4]>>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %eight = graph.constant dense<8> : tensor<1xi64>
  // expected-note @below {{4*batch and 8 are equal: graph.reshape: numbers of elements of input and result}}
  %0 = graph.reshape %a, %eight : tensor<?x4xf32, #dyn.shape<[batch, 4]>>, tensor<1xi64> -> tensor<?xf32>
  %nine = graph.constant dense<9> : tensor<1xi64>
  // expected-error @below {{'graph.reshape' op numbers of elements of input and result must be equal, they are 4*batch and 9}}
  // expected-note @below {{by what else is known they are 8 and 9}}
  %1 = graph.reshape %a, %nine : tensor<?x4xf32, #dyn.shape<[batch, 4]>>, tensor<1xi64> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @fresh(%x: tensor<?xf32>, %n: tensor<1xi64>) -> tensor<?x?xf32> {
  %one = graph.constant dense<1> : tensor<1xi64>
  %shape = graph.concat %n, %one {axis = 0} : tensor<1xi64>, tensor<1xi64> -> tensor<2xi64>
  %start = graph.constant dense<0> : tensor<1xi64>
  // expected-remark @below {{dimension 0 of the result of 'graph.slice' follows from nothing that is known; it is called `slice_0`}}
  %y = graph.slice %x[%start, %n] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<?xf32>
  %z = graph.reshape %y, %shape : tensor<?xf32>, tensor<2xi64> -> tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}

// -----

func.func @contradicts(%x: tensor<?x?xf32, #dyn.shape<[A, B]>>, %w: tensor<5xf32>) -> (tensor<?x6xf32, #dyn.shape<[A, 6]>>, tensor<5xf32>) {
  %A = dyn.symbol "A" {range = [1, 50]} : index
  // expected-note @+1 {{B is 0 to 50}}
  %B = dyn.symbol "B" {range = [0, 50]} : index
  // expected-note @+1 {{A*B and 6*A are equal: graph.reshape: numbers of elements of input and result}}
  %y = graph.reshape %x : tensor<?x?xf32, #dyn.shape<[A, B]>> -> tensor<?x6xf32, #dyn.shape<[A, 6]>>
  // expected-error @+2 {{must be equal, they are 5 and B}}
  // expected-note @+1 {{by what else is known they are 5 and 6}}
  %z = graph.compute ins(%x, %w : tensor<?x?xf32, #dyn.shape<[A, B]>>, tensor<5xf32>) -> tensor<5xf32>
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[reduce, parallel]>,
       maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>]} {
  ^bb0(%a: f32, %b: f32):
    graph.yield %a : f32
  }
  return %y, %z : tensor<?x6xf32, #dyn.shape<[A, 6]>>, tensor<5xf32>
}
