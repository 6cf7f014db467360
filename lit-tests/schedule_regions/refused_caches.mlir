// What a schedule says of the caches and that cannot be is refused.
// RUN: sutura-opt %s --convert-graph-to-gir --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @no_output(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the store of %e goes past the caches, and %e is no output of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 stream place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @kept_sum(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: the store of %s is kept in the caches, and %s is no output of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 kept place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @size(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: a clause asks for 'K', which is no size of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 stream when [K - 4] } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @next_size(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: a clause asks for 'K', which is no size of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { operand e:0.0 cols d1 in l1 prefetch(next when [K]) place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @inner_home(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %e has its home in %s, which is no output of the region}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home s:1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @no_stage(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: 'q:7' is no stage of the region, or of what else the kernel computes}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home q:7 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @two_loops(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %e has its home in %q, which is not placed behind it in the same loop}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home q:2 place s:1 cols d1 in l1 loop d1 by 16 { place q:2 cols d1 in l1 } } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @other_space(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %e has its home in %q, and their tiles are not the same one in 'l1'}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home q:2 place s:1 cols d1 in l1 place q:2 cols d1 in l1 padded } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @sum_home(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %s has its home in %q, and one of them is combined along loops or columns}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 home q:2 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @made_there(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 0 of %q is asked for ahead, and is made there: only a tensor can be}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 place s:1 cols d1 in l1 operand q:2.0 cols d1 in l1 prefetch(64) place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @read_before(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: an operand is asked for ahead that was read before}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { operand e:0.0 cols d1 in l1 operand e:0.0 cols d1 in l1 prefetch(64) place e:0 cols d1 in l1 place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @two_homes(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: two tiles have their home in %q}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home q:2 loop d1 by 16 { place e:0 cols d1 in l1 home q:2 } place s:1 cols d1 in l1 place q:2 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @two_places(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: a tile has its home in %q, which is placed several times}}
  %y = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home q:2 place s:1 cols d1 in l1 place q:2 cols d1 in l1 loop d1 by 16 { place q:2 cols d1 in l1 } } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%e, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q : tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y : tensor<?x?xf32, #dyn.shape<[M, N]>>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @late(%x: tensor<?x?xf32, #dyn.shape<[M, N]>>) -> (tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[M, N]>>) {
  %M = dyn.symbol "M" : index
  %N = dyn.symbol "N" : index
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: %e has its home in %q, and %r needs it when that is stored there}}
  %y:2 = graph.fusion(%x : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[M, N]>> {schedule = #schedule.tree<
    version { kernel { loop d0 grid { place e:0 cols d1 in l1 home q:3 place f:1 cols d1 in l1 place s:2 cols d1 in l1 place q:3 cols d1 in l1 place r:4 cols d1 in l1 } } }
  >} {
  ^bb0(%a: tensor<?x?xf32, #dyn.shape<[M, N]>>):
    %M = dyn.symbol "M" : index
    %N = dyn.symbol "N" : index
    %e = graph.compute ins(%a : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = math.exp %p : f32
      graph.yield %v : f32
    }
    %f = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: f32):
      %v = arith.negf %p : f32
      graph.yield %v : f32
    }
    %s = graph.compute ins(%e : tensor<?x?xf32, #dyn.shape<[M, N]>>) -> tensor<?xf32, #dyn.shape<[M]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>, maps = [#id, #row]} {
    ^bb0(%p: f32):
      graph.yield %p : f32
    }
    %q = graph.compute ins(%f, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.divf %p, %t : f32
      graph.yield %v : f32
    }
    %r = graph.compute ins(%f, %s : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?xf32, #dyn.shape<[M]>>) -> tensor<?x?xf32, #dyn.shape<[M, N]>> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #row, #id]} {
    ^bb0(%p: f32, %t: f32):
      %v = arith.mulf %p, %t : f32
      graph.yield %v : f32
    }
    graph.yield %q, %r : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[M, N]>>
  }
  return %y#0, %y#1 : tensor<?x?xf32, #dyn.shape<[M, N]>>, tensor<?x?xf32, #dyn.shape<[M, N]>>
}
