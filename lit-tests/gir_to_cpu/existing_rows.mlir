// Rows of a tile that do not exist are not computed: each row stands behind the question whether it exists, within the one before. What
// these programs compute is compared by a test beside the lowering.

// RUN: sutura-opt %s --convert-gir-to-cpu | FileCheck %s

// The left factor is read row by row. Where all rows exist nothing is asked.
// CHECK-LABEL: func.func @product(
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: } else {
// CHECK: %[[COUNT:.*]] = arith.subi
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> f32
// CHECK: %[[TWO:.*]] = arith.cmpi slt, %{{.*}}, %[[COUNT]]
// CHECK-NEXT: scf.if %[[TWO]] -> (vector<16xf32>, vector<16xf32>) {
// CHECK: llvm.load {{.*}} -> f32
// CHECK: %[[THREE:.*]] = arith.cmpi slt, %{{.*}}, %[[COUNT]]
// CHECK-NEXT: scf.if %[[THREE]] -> (vector<16xf32>) {
// CHECK: llvm.load {{.*}} -> f32
// CHECK-NOT: llvm.load {{.*}} -> f32
gir.kernel @product(%x : !gir.view<dram, f32, [M, K]> in, %w : !gir.view<dram, f32, [K, 16]> in, %y : !gir.view<dram, f32, [M, 16]> out)
    dims(%M : [0, 9], %K : [0, 9]) grid(%i = (M + 2) floordiv 3) units(1) {
  %zero = arith.constant 0 : index
  %row = gir.index affine_map<(d0) -> (d0 * 3)>(%i)
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [3, 16]>
  %sum = gir.for %k = %zero to %K carry(%acc = %init) : !gir.tile<vec, f32, [3, 16]> {
    %xs = gir.slice %x[%row, %k] rows(0) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [3, 1]>
    %a = gir.load %xs : !gir.slice<dram, f32, [3, 1]> -> !gir.tile<vec, f32, [3, 1]>
    %ws = gir.slice %w[%k, %zero] cols(1) : !gir.view<dram, f32, [K, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %b = gir.load %ws : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, f32, [3, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [3, 16]>
    gir.yield %next : !gir.tile<vec, f32, [3, 16]>
  }
  %ys = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [3, 16]>
  gir.store %sum, %ys : !gir.tile<vec, f32, [3, 16]>, !gir.slice<dram, f32, [3, 16]>
}
rt.program @p(%x : !rt.buffer<f32, [M, K]> in "x", %w : !rt.buffer<f32, [K, 16]> in "w", %y : !rt.buffer<f32, [M, 16]> out "y")
    symbols(M : [0, 9], K : [0, 9]) {
  launch @product(%x, %w, %y) dims [M, K] work [M*K*32] : !rt.buffer<f32, [M, K]>, !rt.buffer<f32, [K, 16]>, !rt.buffer<f32, [M, 16]>
}

// Rows that go on each for itself, and are columns where they are stored.
// CHECK-LABEL: func.func @transposed(
// CHECK: scf.if %{{.*}} -> (vector<16xf32>, vector<16xf32>) {
// CHECK: scf.if %{{.*}} -> (vector<16xf32>) {
gir.kernel @transposed(%x : !gir.view<dram, f32, [M, K]> in, %w : !gir.view<dram, f32, [K, 16]> in, %y : !gir.view<dram, f32, [16, M]> out)
    dims(%M : [0, 9], %K : [0, 9]) grid(%i = (M + 2) floordiv 3) units(1) {
  %zero = arith.constant 0 : index
  %row = gir.index affine_map<(d0) -> (d0 * 3)>(%i)
  %init = gir.fill 1.0 : f32 : !gir.tile<vec, f32, [3, 16]>
  %sum = gir.for %k = %zero to %K carry(%acc = %init) : !gir.tile<vec, f32, [3, 16]> {
    %xs = gir.slice %x[%row, %k] rows(0) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [3, 1]>
    %a = gir.load %xs : !gir.slice<dram, f32, [3, 1]> -> !gir.tile<vec, f32, [3, 1]>
    %ws = gir.slice %w[%k, %zero] cols(1) : !gir.view<dram, f32, [K, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %b = gir.load %ws : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, f32, [3, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [3, 16]>
    gir.yield %next : !gir.tile<vec, f32, [3, 16]>
  }
  %largest = gir.reduce "max" "cols" %sum : !gir.tile<vec, f32, [3, 16]>
  %wide = gir.broadcast %largest like %sum : !gir.tile<vec, f32, [3, 1]>, !gir.tile<vec, f32, [3, 16]>
  %less = gir.binary "sub" %sum, %wide : !gir.tile<vec, f32, [3, 16]>
  %turned = gir.transpose %less : !gir.tile<vec, f32, [3, 16]>
  %ys = gir.slice %y[%zero, %row] rows(0) cols(1) : !gir.view<dram, f32, [16, M]> -> !gir.slice<dram, f32, [16, 3]>
  gir.store %turned, %ys : !gir.tile<vec, f32, [16, 3]>, !gir.slice<dram, f32, [16, 3]>
}
rt.program @t(%x : !rt.buffer<f32, [M, K]> in "x", %w : !rt.buffer<f32, [K, 16]> in "w", %y : !rt.buffer<f32, [16, M]> out "y")
    symbols(M : [0, 9], K : [0, 9]) {
  launch @transposed(%x, %w, %y) dims [M, K] work [M*K*32] : !rt.buffer<f32, [M, K]>, !rt.buffer<f32, [K, 16]>, !rt.buffer<f32, [16, M]>
}

// Rows meet in the sum of columns: all of them are computed.
// CHECK-LABEL: func.func @meet(
// CHECK-NOT: scf.if %{{.*}} -> (vector
gir.kernel @meet(%x : !gir.view<dram, f32, [M, K]> in, %w : !gir.view<dram, f32, [K, 16]> in, %y : !gir.view<dram, f32, [M, 16]> out)
    dims(%M : [0, 9], %K : [0, 9]) grid(%i = (M + 2) floordiv 3) units(1) {
  %zero = arith.constant 0 : index
  %row = gir.index affine_map<(d0) -> (d0 * 3)>(%i)
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [3, 16]>
  %sum = gir.for %k = %zero to %K carry(%acc = %init) : !gir.tile<vec, f32, [3, 16]> {
    %xs = gir.slice %x[%row, %k] rows(0) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [3, 1]>
    %a = gir.load %xs : !gir.slice<dram, f32, [3, 1]> -> !gir.tile<vec, f32, [3, 1]>
    %ws = gir.slice %w[%k, %zero] cols(1) : !gir.view<dram, f32, [K, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %b = gir.load %ws : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, f32, [3, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [3, 16]>
    gir.yield %next : !gir.tile<vec, f32, [3, 16]>
  }
  %most = gir.reduce "max" "rows" %sum : !gir.tile<vec, f32, [3, 16]>
  %like = gir.broadcast %most like %sum : !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [3, 16]>
  %ys = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [3, 16]>
  gir.store %like, %ys : !gir.tile<vec, f32, [3, 16]>, !gir.slice<dram, f32, [3, 16]>
}
rt.program @m(%x : !rt.buffer<f32, [M, K]> in "x", %w : !rt.buffer<f32, [K, 16]> in "w", %y : !rt.buffer<f32, [M, 16]> out "y")
    symbols(M : [0, 9], K : [0, 9]) {
  launch @meet(%x, %w, %y) dims [M, K] work [M*K*32] : !rt.buffer<f32, [M, K]>, !rt.buffer<f32, [K, 16]>, !rt.buffer<f32, [M, 16]>
}

// A divisor is checked, and that of a row that does not exist would be zero.
// CHECK-LABEL: func.func @checked(
// CHECK-NOT: scf.if %{{.*}} -> (vector
gir.kernel @checked(%x : !gir.view<dram, i32, [M, K]> in, %w : !gir.view<dram, i32, [K, 16]> in, %y : !gir.view<dram, i32, [M, 16]> out)
    dims(%M : [0, 9], %K : [0, 9]) grid(%i = (M + 2) floordiv 3) units(1) {
  %zero = arith.constant 0 : index
  %row = gir.index affine_map<(d0) -> (d0 * 3)>(%i)
  %init = gir.fill 0 : i32 : !gir.tile<vec, i32, [3, 16]>
  %sum = gir.for %k = %zero to %K carry(%acc = %init) : !gir.tile<vec, i32, [3, 16]> {
    %xs = gir.slice %x[%row, %k] rows(0) : !gir.view<dram, i32, [M, K]> -> !gir.slice<dram, i32, [3, 1]>
    %a = gir.load %xs : !gir.slice<dram, i32, [3, 1]> -> !gir.tile<vec, i32, [3, 1]>
    %ws = gir.slice %w[%k, %zero] cols(1) : !gir.view<dram, i32, [K, 16]> -> !gir.slice<dram, i32, [1, 16]>
    %b = gir.load %ws : !gir.slice<dram, i32, [1, 16]> -> !gir.tile<vec, i32, [1, 16]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, i32, [3, 1]>, !gir.tile<vec, i32, [1, 16]>, !gir.tile<vec, i32, [3, 16]>
    gir.yield %next : !gir.tile<vec, i32, [3, 16]>
  }
  %ones = gir.fill 1 : i32 : !gir.tile<vec, i32, [3, 16]>
  %odd = gir.binary "maxsi" %sum, %ones : !gir.tile<vec, i32, [3, 16]>
  %by = gir.divisor "ratio" %odd : !gir.tile<vec, i32, [3, 16]>
  %q = gir.binary "divsi" %ones, %by : !gir.tile<vec, i32, [3, 16]>
  %ys = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, i32, [M, 16]> -> !gir.slice<dram, i32, [3, 16]>
  gir.store %q, %ys : !gir.tile<vec, i32, [3, 16]>, !gir.slice<dram, i32, [3, 16]>
}
rt.program @c(%x : !rt.buffer<i32, [M, K]> in "x", %w : !rt.buffer<i32, [K, 16]> in "w", %y : !rt.buffer<i32, [M, 16]> out "y")
    symbols(M : [0, 9], K : [0, 9]) {
  launch @checked(%x, %w, %y) dims [M, K] work [M*K*32] : !rt.buffer<i32, [M, K]>, !rt.buffer<i32, [K, 16]>, !rt.buffer<i32, [M, 16]>
}

// What is written between the reading and the contraction may be what was read: the left factor is read at once, and those of its rows
// that exist are multiplied.
// CHECK-LABEL: func.func @written(
// CHECK: scf.if
// CHECK: scf.for
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load {{.*}} -> f32
// CHECK: llvm.store
// CHECK: scf.if %{{.*}} -> (vector<16xf32>) {
// CHECK-NOT: llvm.load {{.*}} -> f32
// CHECK-LABEL: func.func @copy(
gir.kernel @written(%x : !gir.view<dram, f32, [M, K]> inout, %w : !gir.view<dram, f32, [K, 16]> in, %y : !gir.view<dram, f32, [M, 16]> out)
    dims(%M : [0, 9], %K : [0, 9]) grid(%i = (M + 1) floordiv 2) units(1) {
  %zero = arith.constant 0 : index
  %row = gir.index affine_map<(d0) -> (d0 * 2)>(%i)
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [2, 16]>
  %none = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [2, 1]>
  %sum = gir.for %k = %zero to %K carry(%acc = %init) : !gir.tile<vec, f32, [2, 16]> {
    %xs = gir.slice %x[%row, %k] rows(0) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [2, 1]>
    %a = gir.load %xs : !gir.slice<dram, f32, [2, 1]> -> !gir.tile<vec, f32, [2, 1]>
    gir.store %none, %xs : !gir.tile<vec, f32, [2, 1]>, !gir.slice<dram, f32, [2, 1]>
    %ws = gir.slice %w[%k, %zero] cols(1) : !gir.view<dram, f32, [K, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %b = gir.load %ws : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 16]>, !gir.tile<vec, f32, [2, 16]>
    gir.yield %next : !gir.tile<vec, f32, [2, 16]>
  }
  %ys = gir.slice %y[%row, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [2, 16]>
  gir.store %sum, %ys : !gir.tile<vec, f32, [2, 16]>, !gir.slice<dram, f32, [2, 16]>
}
rt.program @w(%x : !rt.buffer<f32, [M, K]> in "x", %w : !rt.buffer<f32, [K, 16]> in "w", %y : !rt.buffer<f32, [M, 16]> out "y")
    symbols(M : [0, 9], K : [0, 9]) {
  %t = alloc : !rt.buffer<f32, [M, K]>
  launch @copy(%x, %t) dims [M, K] work [M*K] : !rt.buffer<f32, [M, K]>, !rt.buffer<f32, [M, K]>
  launch @written(%t, %w, %y) dims [M, K] work [M*K*32] : !rt.buffer<f32, [M, K]>, !rt.buffer<f32, [K, 16]>, !rt.buffer<f32, [M, 16]>
}
gir.kernel @copy(%x : !gir.view<dram, f32, [M, K]> in, %y : !gir.view<dram, f32, [M, K]> out) dims(%M : [0, 9], %K : [0, 9]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %xs = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [1, K]>
  %t = gir.load %xs : !gir.slice<dram, f32, [1, K]> -> !gir.tile<l1, f32, [1, K]>
  %ys = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, K]> -> !gir.slice<dram, f32, [1, K]>
  gir.store %t, %ys : !gir.tile<l1, f32, [1, K]>, !gir.slice<dram, f32, [1, K]>
}

// Two vectors of sums: where no column of the second one exists, the first one alone is computed. As many rows as the tile has exist.
// CHECK-LABEL: func.func @columns(
// CHECK: } else {
// CHECK: %[[LEFT:.*]] = arith.subi
// CHECK: scf.for
// CHECK: %[[LAST:.*]] = arith.cmpi slt, %{{.*}}, %[[LEFT]]
// CHECK-NEXT: scf.if %[[LAST]] -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK-NOT: scf.if
// CHECK: } else {
gir.kernel @columns(%x : !gir.view<dram, f32, [2, K]> in, %w : !gir.view<dram, f32, [K, N]> in, %y : !gir.view<dram, f32, [2, N]> out)
    dims(%K : [0, 9], %N : [0, 99]) grid(%j = (N + 31) floordiv 32) units(1) {
  %zero = arith.constant 0 : index
  %col = gir.index affine_map<(d0) -> (d0 * 32)>(%j)
  %init = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [2, 32]>
  %sum = gir.for %k = %zero to %K carry(%acc = %init) : !gir.tile<vec, f32, [2, 32]> {
    %xs = gir.slice %x[%zero, %k] rows(0) : !gir.view<dram, f32, [2, K]> -> !gir.slice<dram, f32, [2, 1]>
    %a = gir.load %xs : !gir.slice<dram, f32, [2, 1]> -> !gir.tile<vec, f32, [2, 1]>
    %ws = gir.slice %w[%k, %col] cols(1) : !gir.view<dram, f32, [K, N]> -> !gir.slice<dram, f32, [1, 32]>
    %b = gir.load %ws : !gir.slice<dram, f32, [1, 32]> -> !gir.tile<vec, f32, [1, 32]>
    %next = gir.contract %a, %b, %acc : !gir.tile<vec, f32, [2, 1]>, !gir.tile<vec, f32, [1, 32]>, !gir.tile<vec, f32, [2, 32]>
    gir.yield %next : !gir.tile<vec, f32, [2, 32]>
  }
  %ys = gir.slice %y[%zero, %col] rows(0) cols(1) : !gir.view<dram, f32, [2, N]> -> !gir.slice<dram, f32, [2, 32]>
  gir.store %sum, %ys : !gir.tile<vec, f32, [2, 32]>, !gir.slice<dram, f32, [2, 32]>
}
rt.program @n(%x : !rt.buffer<f32, [2, K]> in "x", %w : !rt.buffer<f32, [K, N]> in "w", %y : !rt.buffer<f32, [2, N]> out "y")
    symbols(K : [0, 9], N : [0, 99]) {
  launch @columns(%x, %w, %y) dims [K, N] work [N*K*4] : !rt.buffer<f32, [2, K]>, !rt.buffer<f32, [K, N]>, !rt.buffer<f32, [2, N]>
}
