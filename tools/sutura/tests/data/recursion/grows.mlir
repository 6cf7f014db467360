// The result has a row for each call: its size is none of the argument's.
func.func private @rows(%x: tensor<?xf32, #dyn.shape<[N]>>, %n: tensor<i64>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %i = tensor.extract %n[] : tensor<i64>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %go = arith.cmpi sgt, %i, %zero : i64
  %y = scf.if %go -> (tensor<?xf32>) {
    %j = arith.subi %i, %one : i64
    %m = tensor.from_elements %j : tensor<i64>
    %r = func.call @rows(%x, %m) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<i64>) -> tensor<?xf32, #dyn.shape<[M]>>
    %l = graph.concat %r, %x {axis = 0} : tensor<?xf32, #dyn.shape<[M]>>, tensor<?xf32, #dyn.shape<[N]>> -> tensor<?xf32, #dyn.shape<[M + N]>>
    %c = tensor.cast %l : tensor<?xf32, #dyn.shape<[M + N]>> to tensor<?xf32>
    scf.yield %c : tensor<?xf32>
  } else {
    %c = tensor.cast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?xf32>
    scf.yield %c : tensor<?xf32>
  }
  %z = tensor.cast %y : tensor<?xf32> to tensor<?xf32, #dyn.shape<[M]>>
  return %z : tensor<?xf32, #dyn.shape<[M]>>
}
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %n: tensor<i64>) -> tensor<?xf32> {
  %r = func.call @rows(%x, %n) : (tensor<?xf32, #dyn.shape<[N]>>, tensor<i64>) -> tensor<?xf32, #dyn.shape<[K]>>
  %c = tensor.cast %r : tensor<?xf32, #dyn.shape<[K]>> to tensor<?xf32>
  return %c : tensor<?xf32>
}
