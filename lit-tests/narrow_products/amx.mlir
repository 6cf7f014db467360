// Products of narrow numbers on AMX: sums lie in registers of matrices, and go on from memory near.

// DEFINE: %{attach} = attach-target{name=x86_amx}
// DEFINE: %{gir} = %{attach},narrow-products,split-products,func.func(stitch),convert-graph-to-gir,tensorize
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products,split-products,func.func(stitch),schedule-regions)' | FileCheck %s --check-prefix=SCHEDULE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{gir})' -o %t.direct
// RUN: FileCheck %s --input-file=%t.direct
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{attach},narrow-products,split-products,func.func(stitch),schedule-regions,convert-graph-to-gir,tensorize)' -o %t.scheduled
// RUN: diff %t.direct %t.scheduled
// RUN: sutura-opt %s --pass-pipeline='builtin.module(%{gir},convert-gir-to-cpu)' --check-passes=2 --strict | FileCheck %s --check-prefix=CPU

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// A sum of 60 places becomes one of 64. Panels have words of four places, of which a contraction takes 16.
// REMARK: remark: a product becomes one of factors of i8, 64 places at a time, by @tdpbssd
// SCHEDULE-LABEL: func.func @followed
// SCHEDULE: loop d2 by 4 { pack p:0.1 rows d2 cols d1 in vec padded }
// SCHEDULE: cache y:1.0 cols d1 in l1 padded {
// SCHEDULE-NEXT: loop d2 by 64 { contract p:0 rows d0 cols d1 in tmm padded }
// SCHEDULE: loop d0 by 8 { place y:1 rows d0 cols d1 in vec }
// CHECK-LABEL: gir.kernel @followed_contract3
// CHECK: %[[NEAR:.*]] = gir.alloc owner("unit") : !gir.view<l1, i32, [32, 32]>
// CHECK: gir.load {{.*}} pad(0 : i8) : !gir.slice<dram, i8, [32, 64]> -> !gir.tile<tmm, i8, [32, 64]>
// CHECK: gir.load {{.*}} : !gir.slice<dram, i8, [16, 128]> -> !gir.tile<tmm, i8, [16, 128]>
// CHECK: %[[SUMS:.*]] = gir.intrinsic @tdpbssd({{.*}} -> !gir.tile<tmm, i32, [32, 32]>
// CHECK: gir.store {{.*}} : !gir.tile<tmm, i32, [32, 32]>, !gir.slice<l1, i32, [32, 32]>
// CHECK: gir.load {{.*}} : !gir.slice<l1, i32, [8, 32]> -> !gir.tile<vec, i32, [8, 32]>
// CPU: llvm.call_intrinsic "llvm.x86.tdpbssd.internal"
func.func @followed(%a: tensor<45x60xi8>, %b: tensor<60x40xi8>, %c: tensor<40xi32>) -> tensor<45x40xi32> {
  %p = graph.compute ins(%a, %b : tensor<45x60xi8>, tensor<60x40xi8>) -> tensor<45x40xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%x: i8, %w: i8):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %w : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  %y = graph.compute ins(%p, %c : tensor<45x40xi32>, tensor<40xi32>) -> tensor<45x40xi32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #col, #id]} {
  ^bb0(%x: i32, %w: i32):
    %0 = arith.addi %x, %w : i32
    graph.yield %0 : i32
  }
  return %y : tensor<45x40xi32>
}

// Sums that nothing follows are stored as they are. One row takes a register of one row.
// REMARK: 64 places at a time, by @tdpbusd
// CHECK-LABEL: gir.kernel @row_contract
// CHECK: gir.intrinsic @tdpbusd({{.*}} -> !gir.tile<tmm, i32, [1, 32]>
// CHECK-NEXT: gir.yield
// CHECK: gir.store {{.*}} : !gir.tile<tmm, i32, [1, 32]>, !gir.slice<dram, i32, [1, 32]>
func.func @row(%a: tensor<1x64xi8>, %b: tensor<64x40xi8>) -> tensor<1x40xi32> {
  %p = graph.compute ins(%a, %b : tensor<1x64xi8>, tensor<64x40xi8>) -> tensor<1x40xi32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
  ^bb0(%x: i8, %w: i8):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %w : i8 to i32
    %2 = arith.muli %0, %1 : i32
    graph.yield %2 : i32
  }
  return %p : tensor<1x40xi32>
}
