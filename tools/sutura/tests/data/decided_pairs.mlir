// A loop that carries two lists which get shorter together, and a table with as many rows; they are used together in it and behind it.
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %limit: tensor<i64>) -> (tensor<?xi64>, tensor<?x?xi64>, tensor<i64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %p = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64>
  %start = graph.reshape %p : tensor<1x?xi64> -> tensor<?xi64>
  %twice = graph.compute ins(%start : tensor<?xi64>) -> tensor<?xi64> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%e: i64):
    %0 = arith.addi %e, %e : i64
    graph.yield %0 : i64
  }
  %a, %b, %n = scf.while (%a = %start, %b = %twice, %n = %zero) : (tensor<?xi64>, tensor<?xi64>, tensor<i64>) -> (tensor<?xi64>, tensor<?xi64>, tensor<i64>) {
    %more = arith.cmpi slt, %n, %limit : tensor<i64>
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %a, %b, %n : tensor<?xi64>, tensor<?xi64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<?xi64>, %b: tensor<?xi64>, %n: tensor<i64>):
    // Places where their sum is no multiple of 2.
    %odd = graph.compute ins(%a, %b : tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%e: i64, %f: i64):
      %0 = arith.addi %e, %f : i64
      %1 = arith.constant 1 : i64
      %2 = arith.andi %0, %1 : i64
      graph.yield %2 : i64
    }
    %q = graph.non_zero %odd : tensor<?xi64> -> tensor<1x?xi64>
    %c = graph.reshape %q : tensor<1x?xi64> -> tensor<?xi64>
    %d = graph.compute ins(%c : tensor<?xi64>) -> tensor<?xi64> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%e: i64):
      %0 = arith.constant 4 : i64
      %1 = arith.muli %e, %0 : i64
      graph.yield %1 : i64
    }
    %one = graph.constant dense<1> : tensor<i64>
    %m = arith.addi %n, %one : tensor<i64>
    scf.yield %c, %d, %m : tensor<?xi64>, tensor<?xi64>, tensor<i64>
  }
  %sum = graph.compute ins(%a, %b : tensor<?xi64>, tensor<?xi64>) -> tensor<?xi64> {
    iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
  } {
  ^bb0(%e: i64, %f: i64):
    %0 = arith.addi %e, %f : i64
    graph.yield %0 : i64
  }
  // Each with each.
  %table = graph.compute ins(%a, %sum : tensor<?xi64>, tensor<?xi64>) -> tensor<?x?xi64> {
    iterators = #graph.iterators<[parallel, parallel]>, maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>]
  } {
  ^bb0(%e: i64, %f: i64):
    %0 = arith.muli %e, %f : i64
    graph.yield %0 : i64
  }
  return %sum, %table, %n : tensor<?xi64>, tensor<?x?xi64>, tensor<i64>
}
