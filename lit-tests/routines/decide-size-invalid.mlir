// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @float(%n: tensor<f32>, %places: tensor<?x0xi1>) -> tensor<?x0xi1> {
  // expected-error @+1 {{needs one number of type i64 as the size}}
  %rows = graph.decide_size %n, %places : tensor<f32>, tensor<?x0xi1> -> tensor<?x0xi1>
  return %rows : tensor<?x0xi1>
}

// -----

func.func @two(%n: tensor<2xi64>, %places: tensor<?x0xi1>) -> tensor<?x0xi1> {
  // expected-error @+1 {{needs one number of type i64 as the size}}
  %rows = graph.decide_size %n, %places : tensor<2xi64>, tensor<?x0xi1> -> tensor<?x0xi1>
  return %rows : tensor<?x0xi1>
}

// -----

func.func @elements(%n: tensor<i64>, %places: tensor<?x1xi1>) -> tensor<?x0xi1> {
  // expected-error @+1 {{needs places of two dimensions, the second of size 0}}
  %rows = graph.decide_size %n, %places : tensor<i64>, tensor<?x1xi1> -> tensor<?x0xi1>
  return %rows : tensor<?x0xi1>
}

// -----

func.func @result(%n: tensor<i64>, %places: tensor<?x0xi1>) -> tensor<?x1xi1> {
  // expected-error @+1 {{dimension 1 of result 0 must have size 0}}
  %rows = graph.decide_size %n, %places : tensor<i64>, tensor<?x0xi1> -> tensor<?x1xi1>
  return %rows : tensor<?x1xi1>
}
