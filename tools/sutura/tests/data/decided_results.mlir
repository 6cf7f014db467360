// Results of conditions and loops whose sizes data decide: each side, or iteration, makes another one.
!list = tensor<?xf32, #dyn.shape<[N]>>

func.func @main(%c: tensor<i1>, %x: !list, %w: tensor<?xf32, #dyn.shape<[W]>>)
    -> (tensor<1x?xi64>, tensor<i64>, tensor<?xf32>, tensor<i64>) {
  %f = tensor.extract %c[] : tensor<i1>
  // Places of what is not zero, or one place.
  %places, %twice = scf.if %f -> (tensor<1x?xi64>, tensor<1x?xi64>) {
    %p = graph.non_zero %x : !list -> tensor<1x?xi64>
    %q = graph.compute ins(%p : tensor<1x?xi64>) -> tensor<1x?xi64> {
      iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
    } {
    ^bb0(%e: i64):
      %0 = arith.addi %e, %e : i64
      graph.yield %0 : i64
    }
    scf.yield %p, %q : tensor<1x?xi64>, tensor<1x?xi64>
  } else {
    %one = graph.constant dense<7> : tensor<1x1xi64>
    %any = tensor.cast %one : tensor<1x1xi64> to tensor<1x?xi64>
    scf.yield %any, %any : tensor<1x?xi64>, tensor<1x?xi64>
  }
  // Both have one size.
  %both = graph.compute ins(%places, %twice : tensor<1x?xi64>, tensor<1x?xi64>) -> tensor<1x?xi64> {
    iterators = #graph.iterators<[parallel, parallel]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%a: i64, %b: i64):
    %0 = arith.addi %a, %b : i64
    graph.yield %0 : i64
  }
  %sum = graph.compute ins(%both : tensor<1x?xi64>) -> tensor<i64> {
    iterators = #graph.iterators<[reduce, reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>]
  } {
  ^bb0(%e: i64):
    graph.yield %e : i64
  }
  // Two inputs of sizes of their own.
  %one = scf.if %f -> (tensor<?xf32>) {
    %a = tensor.cast %x : !list to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %a = tensor.cast %w : tensor<?xf32, #dyn.shape<[W]>> to tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  %double = graph.compute ins(%one : tensor<?xf32>) -> tensor<?xf32> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%e: f32):
    %0 = arith.addf %e, %e : f32
    graph.yield %0 : f32
  }
  %size = graph.compute ins(%double : tensor<?xf32>) -> tensor<i64> {
    iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>,
    maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
  } {
  ^bb0(%e: f32):
    %0 = arith.constant 1 : i64
    graph.yield %0 : i64
  }
  return %both, %sum, %double, %size : tensor<1x?xi64>, tensor<i64>, tensor<?xf32>, tensor<i64>
}
