// RUN: sutura-opt %s --verify-diagnostics --split-input-file

// expected-error@+1 {{dimension 1 is 4, but #dyn.shape says 5}}
func.func private @f(tensor<?x4xf32, {shard = "x", sizes = #dyn.shape<[N, 5]>}>)

// -----

// expected-error@+1 {{#dyn.shape is the property 'sizes', not 'size'}}
func.func private @f(tensor<?x4xf32, {size = #dyn.shape<[N, 4]>}>)

// -----

func.func @f(%x: tensor<?xf32, {sizes = 5 : i64}>) -> tensor<?xf32> {
  // expected-error@+1 {{has a tensor whose property 'sizes' is no #dyn.shape}}
  %y = graph.reshape %x : tensor<?xf32, {sizes = 5 : i64}> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<4xf32, {a = 1, b = 1}>, %y: tensor<4xf32, {a = 2, c = 1}>) {
  // expected-error@+1 {{requires the same encoding for all operands and results: 'a' differs}}
  %z = "arith.addf"(%x, %y) : (tensor<4xf32, {a = 1, b = 1}>, tensor<4xf32, {a = 2, c = 1}>) -> tensor<4xf32>
  return
}
