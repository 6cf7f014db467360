// A loop that carries less in each iteration: what it carries has the size that the last iteration made.
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %limit: tensor<i64>) -> (tensor<?xi64>, tensor<i64>, tensor<i64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %p = graph.non_zero %x : tensor<?xf32, #dyn.shape<[N]>> -> tensor<1x?xi64>
  %start = graph.reshape %p : tensor<1x?xi64> -> tensor<?xi64>
  %left, %rounds, %all = scf.while (%a = %start, %n = %zero, %s = %zero) : (tensor<?xi64>, tensor<i64>, tensor<i64>) -> (tensor<?xi64>, tensor<i64>, tensor<i64>) {
    %sum = graph.compute ins(%a : tensor<?xi64>) -> tensor<i64> {
      iterators = #graph.iterators<[reduce]>, combiners = #graph.combiners<[add]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>]
    } {
    ^bb0(%e: i64):
      graph.yield %e : i64
    }
    %s2 = arith.addi %s, %sum : tensor<i64>
    %more = arith.cmpi slt, %n, %limit : tensor<i64>
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %a, %n, %s2 : tensor<?xi64>, tensor<i64>, tensor<i64>
  } do {
  ^bb0(%a: tensor<?xi64>, %n: tensor<i64>, %s: tensor<i64>):
    // Places of what is odd, halved.
    %odd = graph.compute ins(%a : tensor<?xi64>) -> tensor<?xi64> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%e: i64):
      %1 = arith.constant 1 : i64
      %2 = arith.andi %e, %1 : i64
      graph.yield %2 : i64
    }
    %q = graph.non_zero %odd : tensor<?xi64> -> tensor<1x?xi64>
    %b = graph.reshape %q : tensor<1x?xi64> -> tensor<?xi64>
    %1 = graph.constant dense<1> : tensor<i64>
    %m = arith.addi %n, %1 : tensor<i64>
    scf.yield %b, %m, %s : tensor<?xi64>, tensor<i64>, tensor<i64>
  }
  return %left, %rounds, %all : tensor<?xi64>, tensor<i64>, tensor<i64>
}
