// Sizes that data decide on a side of a condition, and in each iteration of a loop anew; what leaves has sizes that are known.
!list = tensor<?xf32, #dyn.shape<[N]>>

func.func @main(%c: tensor<i1>, %x: !list) -> (tensor<i64>, tensor<i64>, !list) {
  %K = dyn.symbol "K" : index
  %zero = graph.constant dense<0> : tensor<i64>
  %f = tensor.extract %c[] : tensor<i1>
  // The sum of the places of what is not zero.
  %side = scf.if %f -> (tensor<i64>) {
    %p = graph.non_zero %x : !list -> tensor<1x?xi64, #dyn.shape<[1, K]>>
    %s = graph.compute ins(%p : tensor<1x?xi64, #dyn.shape<[1, K]>>) -> tensor<i64> {
      iterators = #graph.iterators<[reduce, reduce]>, combiners = #graph.combiners<[add]>,
      maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>]
    } {
    ^bb0(%e: i64):
      graph.yield %e : i64
    }
    scf.yield %s : tensor<i64>
  } else {
    scf.yield %zero : tensor<i64>
  }
  // One is taken from what is not zero, until nothing is left; how many there were, all together.
  %left, %count = scf.while (%a = %x, %n = %zero) : (!list, tensor<i64>) -> (!list, tensor<i64>) {
    %most = graph.compute ins(%a : !list) -> tensor<f32> {
      iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[max]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
    } {
    ^bb0(%e: f32):
      graph.yield %e : f32
    }
    %number = tensor.extract %most[] : tensor<f32>
    %none = arith.constant 0.0 : f32
    %more = arith.cmpf ogt, %number, %none : f32
    scf.condition(%more) %a, %n : !list, tensor<i64>
  } do {
  ^bb0(%a: !list, %n: tensor<i64>):
    %p = graph.non_zero %a : !list -> tensor<1x?xi64, #dyn.shape<[1, K]>>
    %s = graph.compute ins(%p : tensor<1x?xi64, #dyn.shape<[1, K]>>) -> tensor<i64> {
      iterators = #graph.iterators<[reduce, reduce]>, combiners = #graph.combiners<[add]>,
      maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>]
    } {
    ^bb0(%e: i64):
      %one = arith.constant 1 : i64
      graph.yield %one : i64
    }
    %m = arith.addi %n, %s : tensor<i64>
    %less = graph.compute ins(%a : !list) -> !list {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%e: f32):
      %one = arith.constant 1.0 : f32
      %none = arith.constant 0.0 : f32
      %0 = arith.subf %e, %one : f32
      %1 = arith.maximumf %0, %none : f32
      graph.yield %1 : f32
    }
    scf.yield %less, %m : !list, tensor<i64>
  }
  return %side, %count, %left : tensor<i64>, tensor<i64>, !list
}
