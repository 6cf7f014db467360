!x = tensor<?x?xcomplex<f64>, #dyn.shape<[N, K]>>

// Running products along each dimension, and products and differences where updates meet.
func.func @main(%x: !x, %i: tensor<?x1xi64, #dyn.shape<[M, 1]>>, %u: tensor<?x?xcomplex<f64>, #dyn.shape<[M, K]>>) -> (!x, !x, !x, !x) {
  %0 = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<mul>} : !x -> !x
  %1 = graph.scan %x {axis = 0 : i64, combiner = #graph.combiner<mul>, exclusive, reverse} : !x -> !x
  %2 = graph.scatter %x, %i, %u {combiner = #graph.combiner<mul>} : !x, tensor<?x1xi64, #dyn.shape<[M, 1]>>, tensor<?x?xcomplex<f64>, #dyn.shape<[M, K]>> -> !x
  %3 = graph.scatter %x, %i, %u : !x, tensor<?x1xi64, #dyn.shape<[M, 1]>>, tensor<?x?xcomplex<f64>, #dyn.shape<[M, K]>> -> !x combine {
  ^bb0(%old: complex<f64>, %new: complex<f64>):
    %c = complex.conj %old : complex<f64>
    %s = complex.sub %new, %c : complex<f64>
    graph.yield %s : complex<f64>
  }
  return %0, %1, %2, %3 : !x, !x, !x, !x
}
