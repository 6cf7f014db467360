#one = affine_map<(d0) -> (d0)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A product of matrices, the product along its rows, and quotients of what comes in by it.
func.func @main(%x: tensor<?x?xcomplex<f64>, #dyn.shape<[N, K]>>, %y: tensor<?x?xcomplex<f64>, #dyn.shape<[K, M]>>) -> (tensor<?x?xcomplex<f64>, #dyn.shape<[N, M]>>, tensor<?xcomplex<f64>, #dyn.shape<[N]>>, tensor<?xf64, #dyn.shape<[N]>>) {
  %0 = graph.compute ins(%x, %y : tensor<?x?xcomplex<f64>, #dyn.shape<[N, K]>>, tensor<?x?xcomplex<f64>, #dyn.shape<[K, M]>>) -> tensor<?x?xcomplex<f64>, #dyn.shape<[N, M]>> {iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#a, #b, #c], combiners = #graph.combiners<[add]>} {
  ^bb0(%p: complex<f64>, %q: complex<f64>):
    %m = complex.mul %p, %q : complex<f64>
    graph.yield %m : complex<f64>
  }
  %1 = graph.compute ins(%0 : tensor<?x?xcomplex<f64>, #dyn.shape<[N, M]>>) -> tensor<?xcomplex<f64>, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row], combiners = #graph.combiners<[mul]>} {
  ^bb0(%p: complex<f64>):
    graph.yield %p : complex<f64>
  }
  %2, %3 = graph.compute ins(%1 : tensor<?xcomplex<f64>, #dyn.shape<[N]>>) -> tensor<?xcomplex<f64>, #dyn.shape<[N]>>, tensor<?xf64, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one]} {
  ^bb0(%p: complex<f64>):
    %one = complex.constant [1.0, 0.0] : complex<f64>
    %q = complex.div %one, %p : complex<f64>
    %r = complex.abs %p : complex<f64>
    graph.yield %q, %r : complex<f64>, f64
  }
  return %0, %2, %3 : tensor<?x?xcomplex<f64>, #dyn.shape<[N, M]>>, tensor<?xcomplex<f64>, #dyn.shape<[N]>>, tensor<?xf64, #dyn.shape<[N]>>
}
