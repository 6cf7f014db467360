// RUN: sutura-opt %s --propagate-shapes --verify-diagnostics --split-input-file

func.func @contradiction(%a: tensor<?x4xf32, #dyn.shape<[batch, 4]>>, %s: tensor<1xi64>) -> tensor<?xf32> {
  %eight = graph.constant dense<8> : tensor<1xi64>
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
