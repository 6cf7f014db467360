func.func @f(%x: tensor<?x4xf32, #dyn.shape<[N, 5]>>) {
  return
}
