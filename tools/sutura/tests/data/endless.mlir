// A loop whose condition is an element of a table; it would never end where the index lies outside.
func.func @main(%table: tensor<?xi1, #dyn.shape<[N]>>, %at: tensor<i64>) -> tensor<i64> {
  %go = scf.while (%i = %at) : (tensor<i64>) -> tensor<i64> {
    %c = graph.gather %table, %i {axis = 0} : tensor<?xi1, #dyn.shape<[N]>>, tensor<i64> -> tensor<i1>
    %e = tensor.extract %c[] : tensor<i1>
    scf.condition(%e) %i : tensor<i64>
  } do {
  ^bb0(%i: tensor<i64>):
    %n = tensor.extract %i[] : tensor<i64>
    %one = arith.constant 1 : i64
    %m = arith.addi %n, %one : i64
    %j = tensor.from_elements %m : tensor<i64>
    scf.yield %j : tensor<i64>
  }
  return %go : tensor<i64>
}
