// Conditions whose sides do nothing, choices between tensors by one truth value and by many, and arithmetic on whole tensors.
!list = tensor<?xf32, #dyn.shape<[N]>>

func.func @main(%c: tensor<i1>, %n: tensor<i64>, %a: !list, %b: !list) -> (!list, !list, !list) {
  %f = tensor.extract %c[] : tensor<i1>
  %same = scf.if %f -> (!list) {
    scf.yield %a : !list
  } else {
    scf.yield %b : !list
  }
  %number = tensor.extract %n[] : tensor<i64>
  %three = arith.constant 3 : i64
  %small = arith.cmpi slt, %number, %three : i64
  %chosen = arith.select %small, %b, %a : !list
  %sum = arith.addf %a, %b : !list
  %greater = arith.cmpf ogt, %a, %sum : !list
  %mixed = arith.select %greater, %a, %sum : tensor<?xi1, #dyn.shape<[N]>>, !list
  return %same, %chosen, %mixed : !list, !list, !list
}
