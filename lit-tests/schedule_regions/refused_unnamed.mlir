// A stage whose value has no name is called as schedules call it.
// RUN: sutura-opt %s --convert-graph-to-gir --verify-diagnostics
#id = affine_map<(d0) -> (d0)>
func.func @unnamed(%x: tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %M = dyn.symbol "M" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: stage 's:1' reads stage 's:0', which is not made there, nor by an earlier launch}}
  %y = graph.fusion(%x : tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {schedule = #schedule.tree<
    version { kernel { loop d0 by 64 grid { place s:1 cols d0 in l1 } } }
  >} {
  ^bb0(%a: tensor<?xf32, #dyn.shape<[M]>>):
    %M = dyn.symbol "M" : index
    %0 = graph.compute ins(%a : tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %1 = graph.compute ins(%0 : tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {iterators = #graph.iterators<[parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    graph.yield %1 : tensor<?xf32, #dyn.shape<[M]>>
  }
  return %y : tensor<?xf32, #dyn.shape<[M]>>
}
