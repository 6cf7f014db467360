// A loop that hands on in every way: made anew (%c), in turn (%a gets %b, %b gets %c), twice (%d gets %a too), as it was (%w), from
// around (%e gets %x), and what is made before the condition decides (%s).

func.func @main(%limit: tensor<i64>, %x: tensor<?xf32, #dyn.shape<[N]>>, %y: tensor<?xf32, #dyn.shape<[N]>>,
                %z: tensor<?xf32, #dyn.shape<[N]>>, %w: tensor<?xf32, #dyn.shape<[N]>>)
    -> (tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
        tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %n, %ra, %rb, %rc, %rd, %rw, %re, %rs = scf.while (%i = %zero, %a = %x, %b = %y, %c = %z, %d = %w, %v = %w, %e = %z, %s = %x)
      : (tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
         tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>)
      -> (tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
          tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
    %more = graph.compute ins(%i, %limit : tensor<i64>, tensor<i64>) -> tensor<i1> {
      iterators = #graph.iterators<[]>, maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>]
    } {
    ^bb0(%p: i64, %q: i64):
      %0 = arith.cmpi slt, %p, %q : i64
      graph.yield %0 : i1
    }
    %t = graph.compute ins(%s, %a : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%p: f32, %q: f32):
      %half = arith.constant 0.5 : f32
      %0 = arith.mulf %p, %half : f32
      %1 = arith.addf %0, %q : f32
      graph.yield %1 : f32
    }
    %go = tensor.extract %more[] : tensor<i1>
    scf.condition(%go) %i, %a, %b, %c, %d, %v, %e, %t : tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
        tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
        tensor<?xf32, #dyn.shape<[N]>>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, #dyn.shape<[N]>>, %b: tensor<?xf32, #dyn.shape<[N]>>, %c: tensor<?xf32, #dyn.shape<[N]>>,
       %d: tensor<?xf32, #dyn.shape<[N]>>, %v: tensor<?xf32, #dyn.shape<[N]>>, %e: tensor<?xf32, #dyn.shape<[N]>>,
       %s: tensor<?xf32, #dyn.shape<[N]>>):
    %next = graph.compute ins(%a, %d, %v, %e : tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
        tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      iterators = #graph.iterators<[parallel]>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
        affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>]
    } {
    ^bb0(%p: f32, %q: f32, %r: f32, %o: f32):
      %half = arith.constant 0.5 : f32
      %0 = arith.mulf %p, %half : f32
      %1 = arith.subf %q, %0 : f32
      %2 = arith.addf %1, %r : f32
      %3 = arith.subf %2, %o : f32
      graph.yield %3 : f32
    }
    %number = tensor.extract %i[] : tensor<i64>
    %one = arith.constant 1 : i64
    %m = arith.addi %number, %one : i64
    %j = tensor.from_elements %m : tensor<i64>
    scf.yield %j, %b, %c, %next, %a, %v, %x, %s : tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
        tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
        tensor<?xf32, #dyn.shape<[N]>>
  }
  return %n, %ra, %rb, %rc, %rd, %rw, %re, %rs : tensor<i64>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
      tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>,
      tensor<?xf32, #dyn.shape<[N]>>
}
