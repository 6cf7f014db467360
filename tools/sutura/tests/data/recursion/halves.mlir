// The sum of a list by its halves: every second element, and the others. A call's sizes are half of its caller's, and a list of one
// or none ends the recursion.
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
  %two = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32, #dyn.shape<[N]>>
  %more = arith.cmpi sge, %n, %two : index
  %y = scf.if %more -> (tensor<f32>) {
    %even = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, ends = array<i64: 9223372036854775807>, steps = array<i64: 2>}
        : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[(N + 1) floordiv 2]>>
    %odd = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 1>, ends = array<i64: 9223372036854775807>, steps = array<i64: 2>}
        : tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32>
    %a = func.call @main(%even) : (tensor<?xf32, #dyn.shape<[(N + 1) floordiv 2]>>) -> tensor<f32>
    %b = func.call @main(%odd) : (tensor<?xf32>) -> tensor<f32>
    %s = graph.compute ins(%a, %b : tensor<f32>, tensor<f32>) -> tensor<f32> {
      iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]
    } {
    ^bb0(%p: f32, %q: f32):
      %0 = arith.addf %p, %q : f32
      graph.yield %0 : f32
    }
    scf.yield %s : tensor<f32>
  } else {
    %s = graph.compute ins(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<f32> {
      iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
    } {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}
