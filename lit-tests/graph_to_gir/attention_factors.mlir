// What queries, keys and values are made from runs where a kernel of attention brings them near: halves are widened there, numbers scaled.
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},raise-attention,expand-operators,narrow-products,stitch,convert-graph-to-gir)' --split-input-file | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},raise-attention,expand-operators,narrow-products,stitch,convert-graph-to-gir)' --split-input-file | FileCheck %s --check-prefix=UNITS
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},raise-attention,expand-operators,narrow-products,stitch,convert-graph-to-gir)' --split-input-file --check-passes=2 -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},raise-attention,expand-operators,narrow-products,stitch,convert-graph-to-gir)' --split-input-file --check-passes=2 -o /dev/null
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},raise-attention,expand-operators,narrow-products,stitch)' --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},raise-attention,expand-operators,narrow-products,stitch)' --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=SHARED

#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>
#last = affine_map<(b, q, k) -> (k)>

// Halves in memory, panels and queries of f32 near. A few queries read keys as they lie.
// CHECK-LABEL: gir.kernel @halves_attention0(
// CHECK-SAME: !gir.view<dram, f16
// CHECK: gir.cast "extf"
// CHECK-LABEL: gir.kernel @halves_attention1(
// CHECK: gir.alloc owner("unit") : !gir.view<l1, f32, [{{[0-9]+}}, 40, 32]>
// CHECK: gir.load {{.*}} -> !gir.tile<vec, f16, [32, 16]>
// CHECK: gir.transpose
// CHECK: gir.cast "extf" {{.*}} -> !gir.tile<vec, f32, [16, 32]>
// CHECK-NOT: gir.kernel @halves_row
// CHECK-NOT: gir.kernel @halves_contract
// UNITS-LABEL: gir.kernel @halves_attention0(
// UNITS: %[[FIRST:.*]] = gir.load {{.*}} -> !gir.tile<vec, f16, [8, 40]>
// UNITS: gir.for {{.*}} = %[[FIRST]]) : {{.*}}!gir.tile<vec, f16, [8, 40]>
// UNITS: gir.cast "extf" {{.*}} -> !gir.tile<vec, f32, [8, 40]>
// UNITS: gir.store {{.*}} !gir.slice<shared, f32, [8, 40]>
func.func @halves(%q: tensor<?x?x40xf16, #dyn.shape<[B, Q, 40]>>, %k: tensor<?x?x40xf16, #dyn.shape<[B, K, 40]>>, %v: tensor<?x?x40xf16, #dyn.shape<[B, K, 40]>>) -> tensor<?x?x40xf32, #dyn.shape<[B, Q, 40]>> {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %s = graph.compute ins(%q, %k : tensor<?x?x40xf16, #dyn.shape<[B, Q, 40]>>, tensor<?x?x40xf16, #dyn.shape<[B, K, 40]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f16, %b: f16):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %v : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?x40xf16, #dyn.shape<[B, K, 40]>>) -> tensor<?x?x40xf32, #dyn.shape<[B, Q, 40]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f16):
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %a, %1 : f32
    graph.yield %2 : f32
  }
  return %y : tensor<?x?x40xf32, #dyn.shape<[B, Q, 40]>>
}

// -----

#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>
#last = affine_map<(b, q, k) -> (k)>

// Beyond the last key 1 / 0 would be no number: rows that units share are 0 there.
// CHECK-LABEL: gir.kernel @made_attention0(
// CHECK-NOT: gir.kernel @made_row
// UNITS-LABEL: gir.kernel @made_attention0(
// UNITS: %[[VALUES:.*]] = gir.binary "div" {{.*}} : !gir.tile<vec, f32, [8, 32]>
// UNITS: %[[SHARE:.*]] = gir.ternary "select" %{{.*}}, %[[VALUES]], %{{.*}} : !gir.tile<vec, i1, [8, 32]>
// UNITS: gir.store %[[SHARE]]
func.func @made(%q: tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>, %k: tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>, %v: tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>, %bias: tensor<16xf32>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %qs = graph.compute ins(%q : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 2.5e-01 : f32
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  %ks = graph.compute ins(%k, %bias : tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>, tensor<16xf32>) -> tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #last, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    graph.yield %0 : f32
  }
  %vs = graph.compute ins(%v : tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 1.0 : f32
    %0 = arith.divf %c, %a : f32
    graph.yield %0 : f32
  }
  %s = graph.compute ins(%qs, %ks : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>, tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %vs : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  return %y : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
}

// -----

#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>
#last = affine_map<(b, q, k) -> (k)>

// What is a part of two factors is made in memory, once.
// SAID: not stitched with {{.*}}: %x is a part of several factors, so it is kept in memory
func.func @of_both(%q: tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>, %k: tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>, %v: tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %x = graph.compute ins(%k : tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %c = arith.constant 2.5e-01 : f32
    %0 = arith.mulf %a, %c : f32
    graph.yield %0 : f32
  }
  %s = graph.compute ins(%q, %x : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>, tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %x : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  return %y : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
}

// -----

#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>
#last = affine_map<(b, q, k) -> (k)>

// What is dear is not computed anew for each group.
// SAID: not stitched with {{.*}}: %x is read many times, so it is kept in memory
func.func @dear(%q: tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>, %k: tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>, %v: tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %x = graph.compute ins(%k : tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%a: f32):
    %1 = math.exp %a : f32
    %2 = math.exp %1 : f32
    %3 = math.exp %2 : f32
    %4 = math.exp %3 : f32
    graph.yield %4 : f32
  }
  %s = graph.compute ins(%q, %x : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>, tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %v : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?x16xf32, #dyn.shape<[B, K, 16]>>) -> tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  return %y : tensor<?x?x16xf32, #dyn.shape<[B, Q, 16]>>
}

// -----

#qd = affine_map<(b, q, k, d) -> (b, q, d)>
#kd = affine_map<(b, q, k, d) -> (b, k, d)>
#qk = affine_map<(b, q, k, d) -> (b, q, k)>
#pk = affine_map<(b, q, v, k) -> (b, q, k)>
#kv = affine_map<(b, q, v, k) -> (b, k, v)>
#qv = affine_map<(b, q, v, k) -> (b, q, v)>
#id = affine_map<(b, q, k) -> (b, q, k)>
#row = affine_map<(b, q, k) -> (b, q)>
#last = affine_map<(b, q, k) -> (k)>

// Keys of 256 numbers do not fit what units share, so that the products are two kernels.
// SHARED: queries and keys of 256 numbers and values of 256 do not fit the memory that units share
func.func @wide(%q: tensor<?x?x256xf32, #dyn.shape<[B, Q, 256]>>, %k: tensor<?x?x256xf32, #dyn.shape<[B, K, 256]>>, %v: tensor<?x?x256xf32, #dyn.shape<[B, K, 256]>>) -> tensor<?x?x256xf32, #dyn.shape<[B, Q, 256]>> {
  %B = dyn.symbol "B" : index
  %Q = dyn.symbol "Q" : index
  %K = dyn.symbol "K" : index
  %s = graph.compute ins(%q, %k : tensor<?x?x256xf32, #dyn.shape<[B, Q, 256]>>, tensor<?x?x256xf32, #dyn.shape<[B, K, 256]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#qd, #kd, #qk]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  %m = graph.compute ins(%s : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %e = graph.compute ins(%s, %m : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    graph.yield %1 : f32
  }
  %t = graph.compute ins(%e : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>) -> tensor<?x?xf32, #dyn.shape<[B, Q]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#id, #row]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %w = graph.compute ins(%e, %t : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?xf32, #dyn.shape<[B, Q]>>) -> tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>> {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#id, #row, #id]} {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.divf %a, %b : f32
    graph.yield %0 : f32
  }
  %y = graph.compute ins(%w, %v : tensor<?x?x?xf32, #dyn.shape<[B, Q, K]>>, tensor<?x?x256xf32, #dyn.shape<[B, K, 256]>>) -> tensor<?x?x256xf32, #dyn.shape<[B, Q, 256]>> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, parallel, reduce]>, maps = [#pk, #kv, #qv]} {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.mulf %a, %b : f32
    graph.yield %2 : f32
  }
  return %y : tensor<?x?x256xf32, #dyn.shape<[B, Q, 256]>>
}
