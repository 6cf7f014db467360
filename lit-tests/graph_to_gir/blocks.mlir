// Rows of a group: what is the same for all of them is read once, before them. Few rows are groups of their own.

// RUN: sutura-opt %s --stitch --convert-graph-to-gir | FileCheck %s
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | sutura-opt --verify-roundtrip -o /dev/null
// RUN: sutura-opt %s --stitch --convert-graph-to-gir --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=20000 | FileCheck %s --check-prefix=LONG
// RUN: sutura-opt %s --stitch --convert-graph-to-gir=resident-columns=20000 --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK-LONG
// RUN: sutura-opt %s --stitch --convert-graph-to-gir | sutura-opt --print-gir-cost=sizes=M=128 -o /dev/null 2>&1 | FileCheck %s --check-prefix=COST

!matrix = tensor<?x768xf32, #dyn.shape<[M, 768]>>
!column = tensor<?x1xf32, #dyn.shape<[M, 1]>>
!vec = tensor<768xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (d1)>

// CHECK: #[[START:.*]] = affine_map<(d0) -> (d0 * 16)>
// CHECK: #[[END:.*]] = affine_map<(d0)[s0] -> (d0 * 16 + 16, s0)>
// CHECK-LABEL: gir.kernel @scaled_row0
// CHECK-SAME: requires([-M + 64]) grid(%{{.*}} = M) units(1)
// CHECK-NOT: gir.for
// CHECK-LABEL: gir.kernel @scaled_row1
// CHECK-SAME: grid(%[[G:.*]] = (M + 15) floordiv 16) units(1)
// CHECK: gir.load {{.*}} -> !gir.tile<l1, f32, [1, 768]>
// CHECK: gir.load {{.*}} -> !gir.tile<l1, f32, [1, 768]>
// CHECK: %[[LO:.*]] = gir.index #[[START]](%[[G]])
// CHECK: %[[HI:.*]] = gir.index #[[END]](%[[G]], %M)
// CHECK: gir.for %[[I:.*]] = %[[LO]] to %[[HI]] {
// CHECK-NEXT: gir.slice %{{.*}}[%[[I]], %{{.*}}] cols(1)
// CHECK-NEXT: gir.load
// CHECK-NOT: gir.load
// CHECK: gir.store
// CHECK-NEXT: }
// CHECK: select if [-M + 64] {
// CHECK-NEXT: launch @scaled_row0
// CHECK: launch @scaled_row1
// REMARK: remark: a group has 16 of M rows and reads %scale, %shift once for all of them; up to 64 rows are groups of their own
// COST: @scaled_row1 at M = 128: 8 groups
// COST-NEXT: dram: 442368 bytes read = {{.*}}, 393216 written = 3072*M
// COST: compulsory: 792576 bytes
func.func @scaled(%x: !matrix, %scale: !vec, %shift: !vec) -> !matrix {
  %M = dyn.symbol "M" : index
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %s, %scale, %shift : !matrix, !column, !vec, !vec) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #second, #second, #id]} {
  ^bb0(%a: f32, %b: f32, %c: f32, %d : f32):
    %v = arith.divf %a, %b : f32
    %w = arith.mulf %v, %c : f32
    %z = arith.addf %w, %d : f32
    graph.yield %z : f32
  }
  return %y : !matrix
}

// Rows that fill blocks: no end is cut off.
// CHECK-LABEL: gir.kernel @whole_row0
// CHECK-SAME: grid(%[[G:.*]] = 8) units(1)
// CHECK: gir.index #{{.*}}(%[[G]]){{$}}
!whole = tensor<128x768xf32>
func.func @whole(%x: !whole, %bias: !vec) -> !whole {
  %y = graph.compute ins(%x, %bias : !whole, !vec) -> !whole {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !whole
}

// So few rows that each is a group at every size.
// CHECK-LABEL: gir.kernel @few_row0
// CHECK-SAME: grid(%{{.*}} = 64) units(1)
// CHECK-NOT: gir.kernel
// CHECK: rt.program @few
// REMARK: remark: each row is a group, since there are 64 at most to be shared among threads
!few = tensor<64x768xf32>
func.func @few(%x: !few, %bias: !vec) -> !few {
  %y = graph.compute ins(%x, %bias : !few, !vec) -> !few {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !few
}

// Nothing is the same for several rows: a group has one.
// CHECK-LABEL: gir.kernel @alone_row0
// CHECK-SAME: grid(%{{.*}} = M) units(1)
// CHECK-NOT: gir.for
// CHECK: rt.program @alone
func.func @alone(%x: !matrix) -> !matrix {
  %M = dyn.symbol "M" : index
  %s = graph.compute ins(%x : !matrix) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[add]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  %y = graph.compute ins(%x, %s : !matrix, !column) -> !matrix {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #first, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.divf %a, %b : f32
    graph.yield %v : f32
  }
  return %y : !matrix
}

// Rows so long that two are more than a group should have.
// LONG-LABEL: gir.kernel @long_row0
// LONG-SAME: grid(%{{.*}} = M) units(1)
// LONG-NOT: gir.for
// LONG: rt.program @long
// REMARK-LONG: remark: a group has one of M rows and reads %bias for each: a row of up to 20000 elements is enough for a group
!long = tensor<?x20000xf32, #dyn.shape<[M, 20000]>>
!longvec = tensor<20000xf32>
func.func @long(%x: !long, %bias: !longvec) -> !column {
  %M = dyn.symbol "M" : index
  %y = graph.compute ins(%x, %bias : !long, !longvec) -> !long {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #second, #id]} {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    graph.yield %v : f32
  }
  %s = graph.compute ins(%y : !long) -> !column {iterators = #graph.iterators<[parallel, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #first]} {
  ^bb0(%a: f32):
    graph.yield %a : f32
  }
  return %s : !column
}
