// Recurrent operators: a loop over S steps of B samples, each of I numbers, whose state is H numbers a sample. A layer may run in D
// directions, side by side: direction d goes from the last step to the first where d + reverse is more than 0, so `reverse` turns
// the first direction, and the second one is always turned. What the input adds to the gates is one product for all steps, before
// the loop. A sample that has fewer steps than S, as `lengths` says, keeps its state in the others, and its outputs there are 0.

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#one2 = affine_map<(d, b) -> ()>
#sample = affine_map<(d, b) -> (b)>
#live = affine_map<(d, b, h) -> (d, b)>
#unit = affine_map<(d, b, h) -> (d, h)>
#gate0 = affine_map<(d, b, h) -> (d, b, 0, h)>
#gate1 = affine_map<(d, b, h) -> (d, b, 1, h)>
#gate2 = affine_map<(d, b, h) -> (d, b, 2, h)>
#gate3 = affine_map<(d, b, h) -> (d, b, 3, h)>
#weight0 = affine_map<(d, b, h) -> (d, 0, h)>
#weight1 = affine_map<(d, b, h) -> (d, 1, h)>
#weight2 = affine_map<(d, b, h) -> (d, 2, h)>
#bias0 = affine_map<(d, g, h) -> (d, 0, g, h)>
#bias1 = affine_map<(d, g, h) -> (d, 1, g, h)>
#rows = affine_map<(d, n, j, k) -> (d, n, k)>
#columns = affine_map<(d, n, j, k) -> (d, j, k)>
#products = affine_map<(d, n, j, k) -> (d, n, j)>
#of_column = affine_map<(d, n, j) -> (d, j)>
#forward_x = affine_map<(d, s, b, k) -> (s, b, k)>
#backward_x = affine_map<(d, s, b, k)[n] -> (n - s - 1, b, k)>
#backward_y = affine_map<(s, d, b, h)[n] -> (n - s - 1, d, b, h)>

// Which directions an attribute of ONNX means, and the functions that another one names.
#directions = {forward = {num_directions = 1 : i64, reverse = 0 : i64}, reverse = {num_directions = 1 : i64, reverse = 1 : i64},
               bidirectional = {num_directions = 2 : i64, reverse = 0 : i64}}
#coupled = {input_forget = array<i64: 0, 1>}
#functions = ["Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu", "Softsign", "Softplus"]
// Which of them take a number more; ONNX has no default for some, or runtimes have another one than its text.
#numbers = {activation_alpha = {suffix = "_alpha", words = ["Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"],
                                needed = ["Affine", "ThresholdedRelu", "ScaledTanh"]},
            activation_beta = {suffix = "_beta", words = ["Affine", "ScaledTanh", "HardSigmoid"], needed = ["Affine", "ScaledTanh"]}}

!x = tensor<?x?x?xf16, #dyn.shape<[S, B, I]>>
!h = tensor<?x?x?xf16, #dyn.shape<[D, B, H]>>
!c = tensor<?x?x?xf32, #dyn.shape<[D, B, H]>>
!y = tensor<?x?x?x?xf16, #dyn.shape<[S, D, B, H]>>
!live = tensor<?x?xi1, #dyn.shape<[D, B]>>
!lengths = tensor<?xi32, #dyn.shape<[B]>>

!ordered = tensor<?x?x?x?xf16, #dyn.shape<[D, S, B, I]>>
!inputs = tensor<?x?x?xf16, #dyn.shape<[D, S*B, I]>>
!weights = tensor<?x?x?xf16, #dyn.shape<[D, J, I]>>
!biases = tensor<?x?xf32, #dyn.shape<[D, J]>>
!added = tensor<?x?x?xf32, #dyn.shape<[D, S*B, J]>>
!gate = tensor<?x?xf32, #dyn.shape<[D, A]>>
!steps = tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, J]>>

// An alpha or beta that is NaN is not given. The second direction has functions of its own where `second` is not -1.
graph.operator @gate {
  summary = "a function, by its number in the list of ONNX's, of x, which is cut off at -clip and clip before",
  elements = [f32, f64], groups = {A},
  attributes = {function = i64, alpha = 0x7FC00000 : f32, beta = 0x7FC00000 : f32, second = -1 : i64, second_alpha = 0x7FC00000 : f32,
                second_beta = 0x7FC00000 : f32, clip = 0x7F800000 : f32, leak = 0.01 : f32, slope = 0.2 : f32}
} {
^bb0(%x: !gate):
  %y = graph.compute ins(%x : !gate) -> !gate {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #id2]} {
  ^bb0(%given: f32):
    %clip = graph.param "clip" : f32
    %floor = arith.negf %clip : f32
    %above = arith.maximumf %given, %floor : f32
    %e = arith.minimumf %above, %clip : f32
    %first_function = graph.param "function" : i64
    %second_function = graph.param "second" : i64
    %c0 = arith.constant 0 : i64
    %differs = arith.cmpi sge, %second_function, %c0 : i64
    %d = graph.index 0 : index
    %direction = arith.index_cast %d : index to i64
    %is_second = arith.cmpi sgt, %direction, %c0 : i64
    %takes_second = arith.andi %differs, %is_second : i1
    %function = arith.select %takes_second, %second_function, %first_function : i64
    %first_alpha = graph.param "alpha" : f32
    %second_alpha = graph.param "second_alpha" : f32
    %given_alpha = arith.select %takes_second, %second_alpha, %first_alpha : f32
    %first_beta = graph.param "beta" : f32
    %second_beta = graph.param "second_beta" : f32
    %given_beta = arith.select %takes_second, %second_beta, %first_beta : f32
    %no_alpha = arith.cmpf uno, %given_alpha, %given_alpha : f32
    %no_beta = arith.cmpf uno, %given_beta, %given_beta : f32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %negative = arith.negf %e : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %one, %exp : f32
    %sigmoid = arith.divf %one, %sum : f32
    %tanh = math.tanh %e : f32
    %relu = arith.maximumf %e, %zero : f32
    %times = arith.mulf %given_alpha, %e : f32
    %affine = arith.addf %times, %given_beta : f32
    %is_negative = arith.cmpf olt, %e, %zero : f32
    %usual_leak = graph.param "leak" : f32
    %leak = arith.select %no_alpha, %usual_leak, %given_alpha : f32
    %leaked = arith.mulf %leak, %e : f32
    %leaky = arith.select %is_negative, %leaked, %e : f32
    %is_over = arith.cmpf oge, %e, %given_alpha : f32
    %thresholded = arith.select %is_over, %e, %zero : f32
    %inside = arith.mulf %given_beta, %e : f32
    %tanh_inside = math.tanh %inside : f32
    %scaled_tanh = arith.mulf %given_alpha, %tanh_inside : f32
    %usual_slope = graph.param "slope" : f32
    %slope = arith.select %no_alpha, %usual_slope, %given_alpha : f32
    %half = arith.constant 0.5 : f32
    %shift = arith.select %no_beta, %half, %given_beta : f32
    %sloped = arith.mulf %slope, %e : f32
    %line = arith.addf %sloped, %shift : f32
    %below = arith.minimumf %line, %one : f32
    %hard = arith.maximumf %below, %zero : f32
    %weight = arith.select %no_alpha, %one, %given_alpha : f32
    %exp_e = math.exp %e : f32
    %less = arith.subf %exp_e, %one : f32
    %weighted = arith.mulf %weight, %less : f32
    %elu = arith.select %is_negative, %weighted, %e : f32
    %size = math.absf %e : f32
    %size_1 = arith.addf %one, %size : f32
    %softsign = arith.divf %e, %size_1 : f32
    %minus_size = arith.negf %size : f32
    %exp_size = math.exp %minus_size : f32
    %exp_size_1 = arith.addf %one, %exp_size : f32
    %log = math.log %exp_size_1 : f32
    %softplus = arith.addf %relu, %log : f32
    %c9 = arith.constant 9 : i64
    %is_9 = arith.cmpi eq, %function, %c9 : i64
    %from_9 = arith.select %is_9, %softsign, %softplus : f32
    %c8 = arith.constant 8 : i64
    %is_8 = arith.cmpi eq, %function, %c8 : i64
    %from_8 = arith.select %is_8, %elu, %from_9 : f32
    %c7 = arith.constant 7 : i64
    %is_7 = arith.cmpi eq, %function, %c7 : i64
    %from_7 = arith.select %is_7, %hard, %from_8 : f32
    %c6 = arith.constant 6 : i64
    %is_6 = arith.cmpi eq, %function, %c6 : i64
    %from_6 = arith.select %is_6, %scaled_tanh, %from_7 : f32
    %c5 = arith.constant 5 : i64
    %is_5 = arith.cmpi eq, %function, %c5 : i64
    %from_5 = arith.select %is_5, %thresholded, %from_6 : f32
    %c4 = arith.constant 4 : i64
    %is_4 = arith.cmpi eq, %function, %c4 : i64
    %from_4 = arith.select %is_4, %leaky, %from_5 : f32
    %c3 = arith.constant 3 : i64
    %is_3 = arith.cmpi eq, %function, %c3 : i64
    %from_3 = arith.select %is_3, %affine, %from_4 : f32
    %c2 = arith.constant 2 : i64
    %is_2 = arith.cmpi eq, %function, %c2 : i64
    %from_2 = arith.select %is_2, %relu, %from_3 : f32
    %c1 = arith.constant 1 : i64
    %is_1 = arith.cmpi eq, %function, %c1 : i64
    %from_1 = arith.select %is_1, %tanh, %from_2 : f32
    %is_0 = arith.cmpi eq, %function, %c0 : i64
    %r = arith.select %is_0, %sigmoid, %from_1 : f32
    graph.yield %r : f32
  }
  graph.yield %y : !gate
}

// In the order in which the loop takes the steps: those of a direction that is turned from the last one to the first.
graph.operator @recurrent_inputs {
  summary = "x * w^T + bias for each step, in the order in which each direction takes them",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  attributes = {reverse = 0 : i64}
} {
^bb0(%x: !x, %w: !weights, %bias: !biases):
  %ordered = graph.compute ins(%x, %x : !x, !x) -> !ordered
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#forward_x, #backward_x, #id4], sizes = #dyn.shape<[S]>} {
  ^bb0(%forward: f16, %backward: f16):
    %reverse = graph.param "reverse" : i64
    %d = graph.index 0 : index
    %direction = arith.index_cast %d : index to i64
    %turns = arith.addi %direction, %reverse : i64
    %none = arith.constant 0 : i64
    %is_turned = arith.cmpi sgt, %turns, %none : i64
    %r = arith.select %is_turned, %backward, %forward : f16
    graph.yield %r : f16
  }
  %rows = graph.reshape %ordered : !ordered -> !inputs
  %products = graph.compute ins(%rows, %w : !inputs, !weights) -> !added
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#rows, #columns, #products]} {
  ^bb0(%a: f16, %b: f16):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %r = arith.mulf %wide_a, %wide_b : f32
    graph.yield %r : f32
  }
  %sums = graph.compute ins(%products, %bias : !added, !biases) -> !added
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #of_column, #id3]} {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    graph.yield %r : f32
  }
  %y = graph.reshape %sums : !added -> !steps
  graph.yield %y : !steps
}

// Both biases of each gate, that of the input and that of the state, are lists of G * H numbers.
graph.operator @recurrent_biases {
  summary = "the sum of the biases of input and state; of the gates from `apart` on, that of the input",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  attributes = {gates = i64, apart = 16 : i64}, sizes = {G = "gates"}
} {
^bb0(%both: tensor<?x?xf16, #dyn.shape<[D, 2*G*H]>>):
  %lists = graph.reshape %both : tensor<?x?xf16, #dyn.shape<[D, 2*G*H]>> -> tensor<?x?x?x?xf16, #dyn.shape<[D, 2, G, H]>>
  %sums = graph.compute ins(%lists, %lists : tensor<?x?x?x?xf16, #dyn.shape<[D, 2, G, H]>>, tensor<?x?x?x?xf16, #dyn.shape<[D, 2, G, H]>>)
      -> tensor<?x?x?xf32, #dyn.shape<[D, G, H]>>
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#bias0, #bias1, #id3]} {
  ^bb0(%input: f16, %state: f16):
    %a = arith.extf %input : f16 to f32
    %b = arith.extf %state : f16 to f32
    %sum = arith.addf %a, %b : f32
    %apart = graph.param "apart" : i64
    %g = graph.index 1 : index
    %gate = arith.index_cast %g : index to i64
    %is_apart = arith.cmpi sge, %gate, %apart : i64
    %r = arith.select %is_apart, %a, %sum : f32
    graph.yield %r : f32
  }
  %y = graph.reshape %sums : tensor<?x?x?xf32, #dyn.shape<[D, G, H]>> -> tensor<?x?xf32, #dyn.shape<[D, G*H]>>
  graph.yield %y : tensor<?x?xf32, #dyn.shape<[D, G*H]>>
}

graph.operator @recurrent_state {
  summary = "h * r^T: what the state adds to the gates",
  elements = [f16, bf16, f32, f64], accumulator = f32
} {
^bb0(%h: !h, %r: tensor<?x?x?xf16, #dyn.shape<[D, J, H]>>):
  %y = graph.compute ins(%h, %r : !h, tensor<?x?x?xf16, #dyn.shape<[D, J, H]>>) -> tensor<?x?x?xf32, #dyn.shape<[D, B, J]>>
      {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#rows, #columns, #products]} {
  ^bb0(%a: f16, %b: f16):
    %wide_a = arith.extf %a : f16 to f32
    %wide_b = arith.extf %b : f16 to f32
    %p = arith.mulf %wide_a, %wide_b : f32
    graph.yield %p : f32
  }
  graph.yield %y : tensor<?x?x?xf32, #dyn.shape<[D, B, J]>>
}

// The state says what D and S are; `step` counts from the first one that is taken.
graph.operator @recurrent_live {
  summary = "whether a sample has the step that a direction takes",
  elements = [f16, bf16, f32, f64],
  attributes = {reverse = 0 : i64}
} {
^bb0(%y: !y, %lengths: !lengths, %step: tensor<i64>):
  %live = graph.compute ins(%lengths, %step : !lengths, tensor<i64>) -> !live
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#sample, #one2, #id2]} {
  ^bb0(%length: i32, %taken: i64):
    %n = graph.size [S] : index
    %steps = arith.index_cast %n : index to i64
    %one = arith.constant 1 : i64
    %last = arith.subi %steps, %one : i64
    %backward = arith.subi %last, %taken : i64
    %reverse = graph.param "reverse" : i64
    %d = graph.index 0 : index
    %direction = arith.index_cast %d : index to i64
    %turns = arith.addi %direction, %reverse : i64
    %none = arith.constant 0 : i64
    %is_turned = arith.cmpi sgt, %turns, %none : i64
    %time = arith.select %is_turned, %backward, %taken : i64
    %all = arith.extsi %length : i32 to i64
    %r = arith.cmpi slt, %time, %all : i64
    graph.yield %r : i1
  }
  graph.yield %live : !live
}

graph.operator @recurrent_outputs {
  summary = "outputs of steps, from the order in which each direction takes them to that of time",
  elements = [f16, bf16, f32, f64],
  attributes = {reverse = 0 : i64}
} {
^bb0(%taken: !y):
  %y = graph.compute ins(%taken, %taken : !y, !y) -> !y
      {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4, #backward_y, #id4], sizes = #dyn.shape<[S]>} {
  ^bb0(%forward: f16, %backward: f16):
    %reverse = graph.param "reverse" : i64
    %d = graph.index 1 : index
    %direction = arith.index_cast %d : index to i64
    %turns = arith.addi %direction, %reverse : i64
    %none = arith.constant 0 : i64
    %is_turned = arith.cmpi sgt, %turns, %none : i64
    %r = arith.select %is_turned, %backward, %forward : f16
    graph.yield %r : f16
  }
  graph.yield %y : !y
}

// i, o, f and c are the gates 0 to 3, as ONNX orders them; the peepholes of i, o and f look at the cell.
// A `clip` cuts off what goes into the gates, as in onnxruntime; ONNX's text may be read so that it also cuts off the cell before h.
graph.operator @lstm {
  summary = "long short-term memory: c = f * c + i * g(c gate), h = o * h(c)",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  sizes = {D = "num_directions", H = "hidden_size"},
  attributes = {num_directions = 1 : i64, reverse = 0 : i64, hidden_size = 0 : i64, clip = 0x7F800000 : f32, f = 0 : i64, g = 1 : i64, h = 1 : i64, input_forget = 0 : i64,
                f_alpha = 0x7FC00000 : f32, f_beta = 0x7FC00000 : f32, g_alpha = 0x7FC00000 : f32, g_beta = 0x7FC00000 : f32, h_alpha = 0x7FC00000 : f32, h_beta = 0x7FC00000 : f32,
                f2 = -1 : i64, f2_alpha = 0x7FC00000 : f32, f2_beta = 0x7FC00000 : f32,
                g2 = -1 : i64, g2_alpha = 0x7FC00000 : f32, g2_beta = 0x7FC00000 : f32,
                h2 = -1 : i64, h2_alpha = 0x7FC00000 : f32, h2_beta = 0x7FC00000 : f32},
  or_scalar = array<i64: 3, 4, 5, 6, 7>,
  onnx = [{op = "LSTM", with = {layout = 0 : i64}, one_of = #coupled, choose = {direction = #directions},
           words = {activations = {of = ["f", "g", "h"], second = ["f2", "g2", "h2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32, initial_c = 0.0 : f32, P = 0.0 : f32}},
          {op = "LSTM", with = {layout = 1 : i64}, one_of = #coupled, choose = {direction = #directions},
           words = {activations = {of = ["f", "g", "h"], second = ["f2", "g2", "h2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32, initial_c = 0.0 : f32, P = 0.0 : f32},
           permute = {X = array<i64: 1, 0, 2>, initial_h = array<i64: 1, 0, 2>, initial_c = array<i64: 1, 0, 2>, Y = array<i64: 2, 0, 1, 3>, Y_h = array<i64: 1, 0, 2>, Y_c = array<i64: 1, 0, 2>}}]
} {
^bb0(%x: !x, %w: tensor<?x?x?xf16, #dyn.shape<[D, 4*H, I]>>, %r: tensor<?x?x?xf16, #dyn.shape<[D, 4*H, H]>>,
     %bias: tensor<?x?xf16, #dyn.shape<[D, 8*H]>>, %lengths: !lengths, %initial_h: !h, %initial_c: !h,
     %peephole: tensor<?x?xf16, #dyn.shape<[D, 3*H]>>):
  %given_bias = graph.compute ins(%bias : tensor<?x?xf16, #dyn.shape<[D, 8*H]>>) -> tensor<?x?xf16, #dyn.shape<[D, 8*H]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #id2]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %given_lengths = graph.compute ins(%lengths : !lengths) -> !lengths {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i32):
    graph.yield %e : i32
  }
  %first_h = graph.compute ins(%initial_h : !h) -> !h {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %first_c = graph.compute ins(%initial_c : !h) -> !c {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    graph.yield %wide : f32
  }
  %given_peephole = graph.compute ins(%peephole : tensor<?x?xf16, #dyn.shape<[D, 3*H]>>) -> tensor<?x?xf32, #dyn.shape<[D, 3*H]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #id2]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    graph.yield %wide : f32
  }
  %p = graph.reshape %given_peephole : tensor<?x?xf32, #dyn.shape<[D, 3*H]>> -> tensor<?x?x?xf32, #dyn.shape<[D, 3, H]>>
  %biases = graph.apply @recurrent_biases(%given_bias) {gates = 4 : i64} : (tensor<?x?xf16, #dyn.shape<[D, 8*H]>>) -> tensor<?x?xf32, #dyn.shape<[D, 4*H]>>
  %inputs = graph.apply @recurrent_inputs(%x, %w, %biases) {reverse = "reverse"}
      : (!x, tensor<?x?x?xf16, #dyn.shape<[D, 4*H, I]>>, tensor<?x?xf32, #dyn.shape<[D, 4*H]>>) -> tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, 4*H]>>
  %nothing = graph.compute ins() -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4]} {
    %zero = arith.constant 0.0 : f16
    graph.yield %zero : f16
  }
  %of_steps = graph.reshape %inputs : tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, 4*H]>> -> tensor<?x?x?x?x?xf32, #dyn.shape<[D, S, B, 4, H]>>
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %x, %from : !x
  %taken, %last_h, %last_c = scf.for %i = %from to %to step %step iter_args(%y = %nothing, %h = %first_h, %c = %first_c) -> (!y, !h, !c) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %x_gates = graph.gather %of_steps, %at {axis = 1 : i64} : tensor<?x?x?x?x?xf32, #dyn.shape<[D, S, B, 4, H]>>, tensor<i64> -> tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>
    %state = graph.apply @recurrent_state(%h, %r) : (!h, tensor<?x?x?xf16, #dyn.shape<[D, 4*H, H]>>) -> tensor<?x?x?xf32, #dyn.shape<[D, B, 4*H]>>
    %h_gates = graph.reshape %state : tensor<?x?x?xf32, #dyn.shape<[D, B, 4*H]>> -> tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>
    %i_in = graph.compute ins(%x_gates, %h_gates, %p, %c : tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?xf32, #dyn.shape<[D, 3, H]>>, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate0, #gate0, #weight0, #id3, #id3]} {
    ^bb0(%a: f32, %b: f32, %weight: f32, %cell: f32):
      %sum = arith.addf %a, %b : f32
      %seen = arith.mulf %weight, %cell : f32
      %v = arith.addf %sum, %seen : f32
      graph.yield %v : f32
    }
    %f_in = graph.compute ins(%x_gates, %h_gates, %p, %c : tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?xf32, #dyn.shape<[D, 3, H]>>, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate2, #gate2, #weight2, #id3, #id3]} {
    ^bb0(%a: f32, %b: f32, %weight: f32, %cell: f32):
      %sum = arith.addf %a, %b : f32
      %seen = arith.mulf %weight, %cell : f32
      %v = arith.addf %sum, %seen : f32
      graph.yield %v : f32
    }
    %c_in = graph.compute ins(%x_gates, %h_gates : tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate3, #gate3, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %i_gate = graph.apply @gate(%i_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %f_gate = graph.apply @gate(%f_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %c_gate = graph.apply @gate(%c_in) {function = "g", alpha = "g_alpha", beta = "g_beta", second = "g2", second_alpha = "g2_alpha", second_beta = "g2_beta", clip = "clip"} : (!c) -> !c
    %cell = graph.compute ins(%f_gate, %c, %i_gate, %c_gate : !c, !c, !c, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3, #id3, #id3]} {
    ^bb0(%own: f32, %old: f32, %take: f32, %new: f32):
      %forget = graph.param "input_forget" : i64
      %no = arith.constant 0 : i64
      %is_coupled = arith.cmpi ne, %forget, %no : i64
      %one = arith.constant 1.0 : f32
      %rest = arith.subf %one, %take : f32
      %keep = arith.select %is_coupled, %rest, %own : f32
      %kept = arith.mulf %keep, %old : f32
      %taken_in = arith.mulf %take, %new : f32
      %v = arith.addf %kept, %taken_in : f32
      graph.yield %v : f32
    }
    %o_in = graph.compute ins(%x_gates, %h_gates, %p, %cell : tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?x?xf32, #dyn.shape<[D, B, 4, H]>>, tensor<?x?x?xf32, #dyn.shape<[D, 3, H]>>, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate1, #gate1, #weight1, #id3, #id3]} {
    ^bb0(%a: f32, %b: f32, %weight: f32, %new: f32):
      %sum = arith.addf %a, %b : f32
      %seen = arith.mulf %weight, %new : f32
      %v = arith.addf %sum, %seen : f32
      graph.yield %v : f32
    }
    %o_gate = graph.apply @gate(%o_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %shown = graph.apply @gate(%cell) {function = "h", alpha = "h_alpha", beta = "h_beta", second = "h2", second_alpha = "h2_alpha", second_beta = "h2_beta"} : (!c) -> !c
    %live = graph.apply @recurrent_live(%y, %given_lengths, %at) {reverse = "reverse"} : (!y, !lengths, tensor<i64>) -> !live
    %next_c = graph.compute ins(%live, %cell, %c : !live, !c, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f32, %old: f32):
      %v = arith.select %is_live, %new, %old : f32
      graph.yield %v : f32
    }
    %output = graph.compute ins(%live, %o_gate, %shown : !live, !c, !c) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3, #id3]} {
    ^bb0(%is_live: i1, %open: f32, %e: f32):
      %new = arith.mulf %open, %e : f32
      %zero = arith.constant 0.0 : f32
      %v = arith.select %is_live, %new, %zero : f32
      %narrow = arith.truncf %v : f32 to f16
      graph.yield %narrow : f16
    }
    %next_h = graph.compute ins(%live, %output, %h : !live, !h, !h) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f16, %old: f16):
      %v = arith.select %is_live, %new, %old : f16
      graph.yield %v : f16
    }
    %next_y = graph.scatter %y, %place, %output : !y, tensor<1xi64>, !h -> !y
    scf.yield %next_y, %next_h, %next_c : !y, !h, !c
  }
  %in_time = graph.apply @recurrent_outputs(%taken) {reverse = "reverse"} : (!y) -> !y
  %end_c = graph.compute ins(%last_c : !c) -> !h {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f32):
    %narrow = arith.truncf %e : f32 to f16
    graph.yield %narrow : f16
  }
  graph.yield %in_time, %last_h, %end_c : !y, !h, !h
}

// z, r and h are the gates 0 to 2, as ONNX orders them.
graph.operator @gru {
  summary = "gated recurrent unit: h = (1 - z) * g(h gate of r * h) + z * h",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  sizes = {D = "num_directions", H = "hidden_size"},
  attributes = {num_directions = 1 : i64, reverse = 0 : i64, hidden_size = 0 : i64, clip = 0x7F800000 : f32, f = 0 : i64, g = 1 : i64,
                f_alpha = 0x7FC00000 : f32, f_beta = 0x7FC00000 : f32, g_alpha = 0x7FC00000 : f32, g_beta = 0x7FC00000 : f32,
                f2 = -1 : i64, f2_alpha = 0x7FC00000 : f32, f2_beta = 0x7FC00000 : f32,
                g2 = -1 : i64, g2_alpha = 0x7FC00000 : f32, g2_beta = 0x7FC00000 : f32},
  or_scalar = array<i64: 3, 4, 5>,
  onnx = [{op = "GRU", with = {layout = 0 : i64, linear_before_reset = 0 : i64}, choose = {direction = #directions},
           words = {activations = {of = ["f", "g"], second = ["f2", "g2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32}},
          {op = "GRU", with = {layout = 1 : i64, linear_before_reset = 0 : i64}, choose = {direction = #directions},
           words = {activations = {of = ["f", "g"], second = ["f2", "g2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32},
           permute = {X = array<i64: 1, 0, 2>, initial_h = array<i64: 1, 0, 2>, Y = array<i64: 2, 0, 1, 3>, Y_h = array<i64: 1, 0, 2>}}]
} {
^bb0(%x: !x, %w: tensor<?x?x?xf16, #dyn.shape<[D, 3*H, I]>>, %r: tensor<?x?x?xf16, #dyn.shape<[D, 3*H, H]>>,
     %bias: tensor<?x?xf16, #dyn.shape<[D, 6*H]>>, %lengths: !lengths, %initial_h: !h):
  %given_bias = graph.compute ins(%bias : tensor<?x?xf16, #dyn.shape<[D, 6*H]>>) -> tensor<?x?xf16, #dyn.shape<[D, 6*H]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #id2]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %given_lengths = graph.compute ins(%lengths : !lengths) -> !lengths
      {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i32):
    graph.yield %e : i32
  }
  %first_h = graph.compute ins(%initial_h : !h) -> !h
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %biases = graph.apply @recurrent_biases(%given_bias) {gates = 3 : i64} : (tensor<?x?xf16, #dyn.shape<[D, 6*H]>>) -> tensor<?x?xf32, #dyn.shape<[D, 3*H]>>
  %inputs = graph.apply @recurrent_inputs(%x, %w, %biases) {reverse = "reverse"}
      : (!x, tensor<?x?x?xf16, #dyn.shape<[D, 3*H, I]>>, tensor<?x?xf32, #dyn.shape<[D, 3*H]>>) -> tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, 3*H]>>
  %nothing = graph.compute ins() -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4]} {
    %zero = arith.constant 0.0 : f16
    graph.yield %zero : f16
  }
  %of_steps = graph.reshape %inputs : tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, 3*H]>> -> tensor<?x?x?x3x?xf32, #dyn.shape<[D, S, B, 3, H]>>
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %x, %from : !x
  %taken, %last_h = scf.for %i = %from to %to step %step iter_args(%y = %nothing, %h = %first_h) -> (!y, !h) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %x_gates = graph.gather %of_steps, %at {axis = 1 : i64} : tensor<?x?x?x3x?xf32, #dyn.shape<[D, S, B, 3, H]>>, tensor<i64> -> tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>
    // In the loop, where weights that are constants stay such.
    %r_gates = graph.reshape %r : tensor<?x?x?xf16, #dyn.shape<[D, 3*H, H]>> -> tensor<?x3x?x?xf16, #dyn.shape<[D, 3, H, H]>>
    %r_first = graph.slice %r_gates {axes = array<i64: 1>, starts = array<i64: 0>, ends = array<i64: 2>, steps = array<i64: 1>} : tensor<?x3x?x?xf16, #dyn.shape<[D, 3, H, H]>> -> tensor<?x2x?x?xf16, #dyn.shape<[D, 2, H, H]>>
    %r_last = graph.slice %r_gates {axes = array<i64: 1>, starts = array<i64: 2>, ends = array<i64: 3>, steps = array<i64: 1>} : tensor<?x3x?x?xf16, #dyn.shape<[D, 3, H, H]>> -> tensor<?x1x?x?xf16, #dyn.shape<[D, 1, H, H]>>
    %r_zr = graph.reshape %r_first : tensor<?x2x?x?xf16, #dyn.shape<[D, 2, H, H]>> -> tensor<?x?x?xf16, #dyn.shape<[D, 2*H, H]>>
    %r_h = graph.reshape %r_last : tensor<?x1x?x?xf16, #dyn.shape<[D, 1, H, H]>> -> tensor<?x?x?xf16, #dyn.shape<[D, H, H]>>
    %state = graph.apply @recurrent_state(%h, %r_zr) : (!h, tensor<?x?x?xf16, #dyn.shape<[D, 2*H, H]>>) -> tensor<?x?x?xf32, #dyn.shape<[D, B, 2*H]>>
    %h_gates = graph.reshape %state : tensor<?x?x?xf32, #dyn.shape<[D, B, 2*H]>> -> tensor<?x?x2x?xf32, #dyn.shape<[D, B, 2, H]>>
    %z_in = graph.compute ins(%x_gates, %h_gates : tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, tensor<?x?x2x?xf32, #dyn.shape<[D, B, 2, H]>>) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate0, #gate0, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %r_in = graph.compute ins(%x_gates, %h_gates : tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, tensor<?x?x2x?xf32, #dyn.shape<[D, B, 2, H]>>) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate1, #gate1, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %z_gate = graph.apply @gate(%z_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %r_gate = graph.apply @gate(%r_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %reset = graph.compute ins(%r_gate, %h : !c, !h) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3]} {
    ^bb0(%open: f32, %before: f16):
      %old = arith.extf %before : f16 to f32
      %v = arith.mulf %open, %old : f32
      %narrow = arith.truncf %v : f32 to f16
      graph.yield %narrow : f16
    }
    %reset_state = graph.apply @recurrent_state(%reset, %r_h) : (!h, tensor<?x?x?xf16, #dyn.shape<[D, H, H]>>) -> !c
    %h_in = graph.compute ins(%x_gates, %reset_state : tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate2, #id3, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %h_gate = graph.apply @gate(%h_in) {function = "g", alpha = "g_alpha", beta = "g_beta", second = "g2", second_alpha = "g2_alpha", second_beta = "g2_beta", clip = "clip"} : (!c) -> !c
    %new_h = graph.compute ins(%z_gate, %h_gate, %h : !c, !c, !h) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3, #id3]} {
    ^bb0(%keep: f32, %fresh: f32, %before: f16):
      %old = arith.extf %before : f16 to f32
      %one = arith.constant 1.0 : f32
      %take = arith.subf %one, %keep : f32
      %taken_in = arith.mulf %take, %fresh : f32
      %kept = arith.mulf %keep, %old : f32
      %v = arith.addf %taken_in, %kept : f32
      graph.yield %v : f32
    }
    %live = graph.apply @recurrent_live(%y, %given_lengths, %at) {reverse = "reverse"} : (!y, !lengths, tensor<i64>) -> !live
    %output = graph.compute ins(%live, %new_h : !live, !c) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f32):
      %zero = arith.constant 0.0 : f32
      %v = arith.select %is_live, %new, %zero : f32
      %narrow = arith.truncf %v : f32 to f16
      graph.yield %narrow : f16
    }
    %next_h = graph.compute ins(%live, %output, %h : !live, !h, !h) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f16, %old: f16):
      %v = arith.select %is_live, %new, %old : f16
      graph.yield %v : f16
    }
    %next_y = graph.scatter %y, %place, %output : !y, tensor<1xi64>, !h -> !y
    scf.yield %next_y, %next_h : !y, !h
  }
  %in_time = graph.apply @recurrent_outputs(%taken) {reverse = "reverse"} : (!y) -> !y
  graph.yield %in_time, %last_h : !y, !h
}

// The reset gate works on what the state adds, its bias included.
graph.operator @gru_linear_before_reset {
  summary = "gated recurrent unit: h = (1 - z) * g(h gate of r * (h * r^T)) + z * h",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  sizes = {D = "num_directions", H = "hidden_size"},
  attributes = {num_directions = 1 : i64, reverse = 0 : i64, hidden_size = 0 : i64, clip = 0x7F800000 : f32, f = 0 : i64, g = 1 : i64,
                f_alpha = 0x7FC00000 : f32, f_beta = 0x7FC00000 : f32, g_alpha = 0x7FC00000 : f32, g_beta = 0x7FC00000 : f32,
                f2 = -1 : i64, f2_alpha = 0x7FC00000 : f32, f2_beta = 0x7FC00000 : f32,
                g2 = -1 : i64, g2_alpha = 0x7FC00000 : f32, g2_beta = 0x7FC00000 : f32},
  or_scalar = array<i64: 3, 4, 5>,
  onnx = [{op = "GRU", with = {layout = 0 : i64, linear_before_reset = 1 : i64}, choose = {direction = #directions},
           words = {activations = {of = ["f", "g"], second = ["f2", "g2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32}},
          {op = "GRU", with = {layout = 1 : i64, linear_before_reset = 1 : i64}, choose = {direction = #directions},
           words = {activations = {of = ["f", "g"], second = ["f2", "g2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32},
           permute = {X = array<i64: 1, 0, 2>, initial_h = array<i64: 1, 0, 2>, Y = array<i64: 2, 0, 1, 3>, Y_h = array<i64: 1, 0, 2>}}]
} {
^bb0(%x: !x, %w: tensor<?x?x?xf16, #dyn.shape<[D, 3*H, I]>>, %r: tensor<?x?x?xf16, #dyn.shape<[D, 3*H, H]>>,
     %bias: tensor<?x?xf16, #dyn.shape<[D, 6*H]>>, %lengths: !lengths, %initial_h: !h):
  %given_bias = graph.compute ins(%bias : tensor<?x?xf16, #dyn.shape<[D, 6*H]>>) -> tensor<?x?xf16, #dyn.shape<[D, 6*H]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #id2]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %given_lengths = graph.compute ins(%lengths : !lengths) -> !lengths
      {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i32):
    graph.yield %e : i32
  }
  %first_h = graph.compute ins(%initial_h : !h) -> !h
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %biases = graph.apply @recurrent_biases(%given_bias) {gates = 3 : i64, apart = 2 : i64} : (tensor<?x?xf16, #dyn.shape<[D, 6*H]>>) -> tensor<?x?xf32, #dyn.shape<[D, 3*H]>>
  %inputs = graph.apply @recurrent_inputs(%x, %w, %biases) {reverse = "reverse"}
      : (!x, tensor<?x?x?xf16, #dyn.shape<[D, 3*H, I]>>, tensor<?x?xf32, #dyn.shape<[D, 3*H]>>) -> tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, 3*H]>>
  %nothing = graph.compute ins() -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4]} {
    %zero = arith.constant 0.0 : f16
    graph.yield %zero : f16
  }
  %bias_gates = graph.reshape %given_bias : tensor<?x?xf16, #dyn.shape<[D, 6*H]>> -> tensor<?x2x3x?xf16, #dyn.shape<[D, 2, 3, H]>>
  %reset_bias = graph.compute ins(%bias_gates : tensor<?x2x3x?xf16, #dyn.shape<[D, 2, 3, H]>>) -> tensor<?x?xf32, #dyn.shape<[D, H]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d, h) -> (d, 1, 2, h)>, #id2]} {
  ^bb0(%e: f16):
    %wide = arith.extf %e : f16 to f32
    graph.yield %wide : f32
  }
  %of_steps = graph.reshape %inputs : tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, 3*H]>> -> tensor<?x?x?x3x?xf32, #dyn.shape<[D, S, B, 3, H]>>
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %x, %from : !x
  %taken, %last_h = scf.for %i = %from to %to step %step iter_args(%y = %nothing, %h = %first_h) -> (!y, !h) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %x_gates = graph.gather %of_steps, %at {axis = 1 : i64} : tensor<?x?x?x3x?xf32, #dyn.shape<[D, S, B, 3, H]>>, tensor<i64> -> tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>
    %state = graph.apply @recurrent_state(%h, %r) : (!h, tensor<?x?x?xf16, #dyn.shape<[D, 3*H, H]>>) -> tensor<?x?x?xf32, #dyn.shape<[D, B, 3*H]>>
    %h_gates = graph.reshape %state : tensor<?x?x?xf32, #dyn.shape<[D, B, 3*H]>> -> tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>
    %z_in = graph.compute ins(%x_gates, %h_gates : tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate0, #gate0, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %r_in = graph.compute ins(%x_gates, %h_gates : tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate1, #gate1, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %z_gate = graph.apply @gate(%z_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %r_gate = graph.apply @gate(%r_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %h_in = graph.compute ins(%x_gates, %h_gates, %reset_bias, %r_gate : tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, tensor<?x?x3x?xf32, #dyn.shape<[D, B, 3, H]>>, tensor<?x?xf32, #dyn.shape<[D, H]>>, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#gate2, #gate2, #unit, #id3, #id3]} {
    ^bb0(%a: f32, %b: f32, %shift: f32, %open: f32):
      %added = arith.addf %b, %shift : f32
      %reset = arith.mulf %open, %added : f32
      %v = arith.addf %a, %reset : f32
      graph.yield %v : f32
    }
    %h_gate = graph.apply @gate(%h_in) {function = "g", alpha = "g_alpha", beta = "g_beta", second = "g2", second_alpha = "g2_alpha", second_beta = "g2_beta", clip = "clip"} : (!c) -> !c
    %new_h = graph.compute ins(%z_gate, %h_gate, %h : !c, !c, !h) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3, #id3]} {
    ^bb0(%keep: f32, %fresh: f32, %before: f16):
      %old = arith.extf %before : f16 to f32
      %one = arith.constant 1.0 : f32
      %take = arith.subf %one, %keep : f32
      %taken_in = arith.mulf %take, %fresh : f32
      %kept = arith.mulf %keep, %old : f32
      %v = arith.addf %taken_in, %kept : f32
      graph.yield %v : f32
    }
    %live = graph.apply @recurrent_live(%y, %given_lengths, %at) {reverse = "reverse"} : (!y, !lengths, tensor<i64>) -> !live
    %output = graph.compute ins(%live, %new_h : !live, !c) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f32):
      %zero = arith.constant 0.0 : f32
      %v = arith.select %is_live, %new, %zero : f32
      %narrow = arith.truncf %v : f32 to f16
      graph.yield %narrow : f16
    }
    %next_h = graph.compute ins(%live, %output, %h : !live, !h, !h) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f16, %old: f16):
      %v = arith.select %is_live, %new, %old : f16
      graph.yield %v : f16
    }
    %next_y = graph.scatter %y, %place, %output : !y, tensor<1xi64>, !h -> !y
    scf.yield %next_y, %next_h : !y, !h
  }
  %in_time = graph.apply @recurrent_outputs(%taken) {reverse = "reverse"} : (!y) -> !y
  graph.yield %in_time, %last_h : !y, !h
}

graph.operator @rnn {
  summary = "recurrent layer: h = f(x * w^T + h * r^T + bias)",
  elements = [f16, bf16, f32, f64], accumulator = f32,
  sizes = {D = "num_directions", H = "hidden_size"},
  attributes = {num_directions = 1 : i64, reverse = 0 : i64, hidden_size = 0 : i64, clip = 0x7F800000 : f32, f = 1 : i64,
                f_alpha = 0x7FC00000 : f32, f_beta = 0x7FC00000 : f32,
                f2 = -1 : i64, f2_alpha = 0x7FC00000 : f32, f2_beta = 0x7FC00000 : f32},
  or_scalar = array<i64: 3, 4, 5>,
  onnx = [{op = "RNN", with = {layout = 0 : i64}, choose = {direction = #directions},
           words = {activations = {of = ["f"], second = ["f2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32}},
          {op = "RNN", with = {layout = 1 : i64}, choose = {direction = #directions},
           words = {activations = {of = ["f"], second = ["f2"], words = #functions, times = "num_directions", numbers = #numbers}}, absent = {B = 0.0 : f32, sequence_lens = 2147483647 : i32, initial_h = 0.0 : f32},
           permute = {X = array<i64: 1, 0, 2>, initial_h = array<i64: 1, 0, 2>, Y = array<i64: 2, 0, 1, 3>, Y_h = array<i64: 1, 0, 2>}}]
} {
^bb0(%x: !x, %w: tensor<?x?x?xf16, #dyn.shape<[D, H, I]>>, %r: tensor<?x?x?xf16, #dyn.shape<[D, H, H]>>,
     %bias: tensor<?x?xf16, #dyn.shape<[D, 2*H]>>, %lengths: !lengths, %initial_h: !h):
  %given_bias = graph.compute ins(%bias : tensor<?x?xf16, #dyn.shape<[D, 2*H]>>) -> tensor<?x?xf16, #dyn.shape<[D, 2*H]>>
      {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id2, #id2]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %given_lengths = graph.compute ins(%lengths : !lengths) -> !lengths
      {iterators = #graph.iterators<[parallel]>, maps = [#id1, #id1]} {
  ^bb0(%e: i32):
    graph.yield %e : i32
  }
  %first_h = graph.compute ins(%initial_h : !h) -> !h
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3]} {
  ^bb0(%e: f16):
    graph.yield %e : f16
  }
  %biases = graph.apply @recurrent_biases(%given_bias) {gates = 1 : i64} : (tensor<?x?xf16, #dyn.shape<[D, 2*H]>>) -> tensor<?x?xf32, #dyn.shape<[D, H]>>
  %inputs = graph.apply @recurrent_inputs(%x, %w, %biases) {reverse = "reverse"}
      : (!x, tensor<?x?x?xf16, #dyn.shape<[D, H, I]>>, tensor<?x?xf32, #dyn.shape<[D, H]>>) -> tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, H]>>
  %nothing = graph.compute ins() -> !y {iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id4]} {
    %zero = arith.constant 0.0 : f16
    graph.yield %zero : f16
  }
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = tensor.dim %x, %from : !x
  %taken, %last_h = scf.for %i = %from to %to step %step iter_args(%y = %nothing, %h = %first_h) -> (!y, !h) {
    %number = arith.index_cast %i : index to i64
    %at = tensor.from_elements %number : tensor<i64>
    %place = tensor.from_elements %number : tensor<1xi64>
    %input = graph.gather %inputs, %at {axis = 1 : i64} : tensor<?x?x?x?xf32, #dyn.shape<[D, S, B, H]>>, tensor<i64> -> tensor<?x?x?xf32, #dyn.shape<[D, B, H]>>
    %state = graph.apply @recurrent_state(%h, %r) : (!h, tensor<?x?x?xf16, #dyn.shape<[D, H, H]>>) -> !c
    %h_in = graph.compute ins(%input, %state : !c, !c) -> !c
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id3, #id3, #id3]} {
    ^bb0(%a: f32, %b: f32):
      %v = arith.addf %a, %b : f32
      graph.yield %v : f32
    }
    %new_h = graph.apply @gate(%h_in) {function = "f", alpha = "f_alpha", beta = "f_beta", second = "f2", second_alpha = "f2_alpha", second_beta = "f2_beta", clip = "clip"} : (!c) -> !c
    %live = graph.apply @recurrent_live(%y, %given_lengths, %at) {reverse = "reverse"} : (!y, !lengths, tensor<i64>) -> !live
    %output = graph.compute ins(%live, %new_h : !live, !c) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f32):
      %zero = arith.constant 0.0 : f32
      %v = arith.select %is_live, %new, %zero : f32
      %narrow = arith.truncf %v : f32 to f16
      graph.yield %narrow : f16
    }
    %next_h = graph.compute ins(%live, %output, %h : !live, !h, !h) -> !h
        {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#live, #id3, #id3, #id3]} {
    ^bb0(%is_live: i1, %new: f16, %old: f16):
      %v = arith.select %is_live, %new, %old : f16
      graph.yield %v : f16
    }
    %next_y = graph.scatter %y, %place, %output : !y, tensor<1xi64>, !h -> !y
    scf.yield %next_y, %next_h : !y, !h
  }
  %in_time = graph.apply @recurrent_outputs(%taken) {reverse = "reverse"} : (!y) -> !y
  graph.yield %in_time, %last_h : !y, !h
}
