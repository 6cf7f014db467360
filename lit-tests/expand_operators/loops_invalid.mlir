// What a loop in the body of an operator may not do, and sizes that inputs and attributes say twice.
// RUN: sutura-opt %s --verify-diagnostics --split-input-file

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  // expected-error @below {{'scf.for' op has the step 0; it must be greater than 0}}
  %y = scf.for %i = %c0 to %n step %c0 iter_args(%a = %x) -> (tensor<?xf32, #dyn.shape<[N]>>) {
    scf.yield %a : tensor<?xf32, #dyn.shape<[N]>>
  }
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  // expected-error @below {{'scf.for' op has a step that is no constant, so nothing says that it is greater than 0}}
  %y = scf.for %i = %c0 to %n step %n iter_args(%a = %x) -> (tensor<?xf32, #dyn.shape<[N]>>) {
    scf.yield %a : tensor<?xf32, #dyn.shape<[N]>>
  }
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32], groups = {N}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'tensor.dim' op has a tensor with the group 'N'}}
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32, #dyn.shape<[N]>>) {
    scf.yield %a : tensor<?xf32, #dyn.shape<[N]>>
  }
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'arith.constant' op cannot stand in the body of an operator}}
  %z = arith.constant 0.0 : f32
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32, #dyn.shape<[N]>>) {
    %d = arith.constant -1 : index
    // expected-error @below {{'scf.for' op has the step -1; it must be greater than 0}}
    %b = scf.for %j = %c0 to %n step %d iter_args(%e = %a) -> (tensor<?xf32, #dyn.shape<[N]>>) {
      scf.yield %e : tensor<?xf32, #dyn.shape<[N]>>
    }
    scf.yield %a : tensor<?xf32, #dyn.shape<[N]>>
  }
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  // expected-error @below {{'scf.while' op cannot stand in the body of an operator}}
  %y = scf.while (%a = %x) : (tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
    %true = arith.constant true
    scf.condition(%true) %a : tensor<?xf32, #dyn.shape<[N]>>
  } do {
  ^bb0(%a: tensor<?xf32, #dyn.shape<[N]>>):
    scf.yield %a : tensor<?xf32, #dyn.shape<[N]>>
  }
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  %l = arith.index_cast %n : index to i64
  %s = tensor.from_elements %l : tensor<1xi64>
  // expected-error @below {{'graph.slice' op cuts at places that are no attributes, so its size has no name}}
  %y = graph.slice %x[%s, %s] {axes = array<i64: 0>, steps = array<i64: 1>} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>, tensor<1xi64> -> tensor<0xf32>
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

graph.operator @a {summary = "x", elements = [f32]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  %l = arith.index_cast %n : index to i64
  %s = tensor.from_elements %l : tensor<1xi64>
  %e = graph.gather %x, %s {axis = 0 : i64} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64> -> tensor<1xf32>
  // expected-error @below {{'graph.scatter' op has a region, which has no place in the body of an operator}}
  %y = graph.scatter %x, %s, %e {axis = 0 : i64} : tensor<?xf32, #dyn.shape<[N]>>, tensor<1xi64>, tensor<1xf32> -> tensor<?xf32, #dyn.shape<[N]>> combine {
  ^bb0(%old: f32, %new: f32):
    graph.yield %new : f32
  }
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op has no input 2, which 'or_scalar' lists}}
graph.operator @a {summary = "x", elements = [f32], or_scalar = array<i64: 2>} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op input 1 is listed twice, in 'broadcast' or 'or_scalar'}}
graph.operator @a {summary = "x", elements = [f32], or_scalar = array<i64: 1>, broadcast = array<i64: 1>} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op size 'K' is left to inputs where its attribute is 0, and stands in none}}
graph.operator @a {summary = "x", elements = [f32], sizes = {K = "width"}, attributes = {width = 0 : i64}} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'onnx' says the attribute 'turned', which is no integer that the operator has}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", choose = {direction = {reverse = {turned = 1 : i64}}}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'choose' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", choose = {direction = "reverse"}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'words' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", words = {activations = ["Tanh"]}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'one_of' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", one_of = {hidden_size = 3 : i64}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'least' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", least = {hidden_size = "3"}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'without' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", without = [3 : i64]}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'set' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", set = {hidden_size = 0.5 : f32}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'onnx' says the attribute 'turned', which is no integer that the operator has}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", set = {turned = 1 : i64}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'words' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], attributes = {f = 0 : i64, g = 0 : i64, h = 0 : i64}, onnx = [{op = "RNN", words = {activations = {of = ["f"], second = ["g", "h"], words = ["Tanh"]}}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'words' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], attributes = {f = 0 : i64}, onnx = [{op = "RNN", words = {activations = {of = ["f"], words = ["Tanh"], numbers = {activation_alpha = {words = ["Tanh"]}}}}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op 'onnx' says the attribute 'f_alpha', which is no f32 that the operator has}}
graph.operator @a {summary = "x", elements = [f32], attributes = {f = 0 : i64, f_alpha = 0 : i64}, onnx = [{op = "RNN", words = {activations = {of = ["f"], words = ["Tanh"], numbers = {activation_alpha = {suffix = "_alpha", words = ["Tanh"]}}}}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-error @below {{'graph.operator' op entry 'permute' of 'onnx' is not what it must be}}
graph.operator @a {summary = "x", elements = [f32], onnx = [{op = "RNN", permute = {X = array<i64: 1, 1>}}]} {
^bb0(%x: tensor<?xf32, #dyn.shape<[N]>>):
  graph.yield %x : tensor<?xf32, #dyn.shape<[N]>>
}

// -----

// expected-note @below {{operator @a is declared here}}
// expected-note @below {{operator @a is declared here}}
// expected-note @below {{operator @a is declared here}}
// expected-note @below {{operator @a is declared here}}
// expected-note @below {{operator @a is declared here}}
// expected-note @below {{operator @a is declared here}}
graph.operator @a {summary = "x", elements = [f32], sizes = {H = "hidden_size"}, attributes = {hidden_size = 0 : i64}, or_scalar = array<i64: 1>} {
^bb0(%w: tensor<?x?xf32, #dyn.shape<[4*H, I]>>, %h: tensor<?xf32, #dyn.shape<[H]>>):
  %y = graph.compute ins(%h : tensor<?xf32, #dyn.shape<[H]>>) -> tensor<?xf32, #dyn.shape<[H]>> {iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  graph.yield %y : tensor<?xf32, #dyn.shape<[H]>>
}
func.func @f0(%w: tensor<7x3xf32>, %h: tensor<f32>) {
  // expected-error @below {{'graph.apply' op @a: dimension 0 of 'w' is 7, which is no multiple of 4}}
  %0 = graph.apply @a(%w, %h) : (tensor<7x3xf32>, tensor<f32>) -> tensor<1xf32>
  return
}
func.func @f1(%w: tensor<8x3xf32>, %h: tensor<f32>) {
  // expected-error @below {{'graph.apply' op @a: dimension 0 of 'w' and its declaration differ: 20 and 8}}
  %0 = graph.apply @a(%w, %h) {hidden_size = 5 : i64} : (tensor<8x3xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
func.func @f2(%w: tensor<8x3xf32>, %h: tensor<f32>) {
  // expected-error @below {{'graph.apply' op @a: attribute 'hidden_size' must be from 1 to 2147483647: it is a size}}
  %0 = graph.apply @a(%w, %h) {hidden_size = -2 : i64} : (tensor<8x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
func.func @f3(%w: tensor<8x3xf32>, %h: tensor<1x2xf32>) {
  // expected-error @below {{'graph.apply' op @a: 'h' has rank 2, it must have 1, or be one number}}
  %0 = graph.apply @a(%w, %h) : (tensor<8x3xf32>, tensor<1x2xf32>) -> tensor<2xf32>
  return
}
func.func @f4(%w: tensor<8x3xf32>, %h: tensor<1xf32>) {
  // expected-error @below {{'graph.apply' op @a: dimension 0 of 'h' and the size that other inputs say differ: 2 and 1}}
  %0 = graph.apply @a(%w, %h) : (tensor<8x3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}
func.func @f5(%w: tensor<?x3xf32, #dyn.shape<[K, 3]>>, %h: tensor<f32>) {
  // expected-error @below {{'graph.apply' op @a: dimension 0 of 'w' is K, which is not known to be a multiple of 4}}
  %0 = graph.apply @a(%w, %h) : (tensor<?x3xf32, #dyn.shape<[K, 3]>>, tensor<f32>) -> tensor<2xf32>
  return
}
