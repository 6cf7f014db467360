// RUN: sutura-opt %s --fold-launches | FileCheck %s
// RUN: sutura-opt %s --fold-launches | sutura-opt --fold-launches -o %t.twice
// RUN: sutura-opt %s --fold-launches -o %t.once
// RUN: diff %t.once %t.twice
// RUN: sutura-opt %s --fold-launches --pass-statistics 2>&1 >/dev/null | FileCheck %s --check-prefix=STATS
// RUN: sutura-opt %s --fold-launches --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// STATS: (S) 6 num-folded - launches run
// STATS: (S) 80 num-bytes - bytes of new constants

// A kernel that only folded launches name is gone; one that is launched on an input stays.
// CHECK-NOT: gir.kernel @packs
gir.kernel @packs(%x : !gir.view<dram, f32, [2, 2]> in, %y : !gir.view<dram, f32, [2, 2]> out) dims() grid(%i = 2) units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero, %i] cols(0) : !gir.view<dram, f32, [2, 2]> -> !gir.slice<dram, f32, [1, 2]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, 2]> -> !gir.tile<l1, f32, [1, 2]>
  %to = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [2, 2]> -> !gir.slice<dram, f32, [1, 2]>
  gir.store %t, %to : !gir.tile<l1, f32, [1, 2]>, !gir.slice<dram, f32, [1, 2]>
}

// CHECK: gir.kernel @negates
gir.kernel @negates(%x : !gir.view<dram, f32, [M]> in, %y : !gir.view<dram, f32, [M]> out) dims(%M : [0, 100]) grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, M]>
  %t = gir.load %from : !gir.slice<dram, f32, [1, M]> -> !gir.tile<l1, f32, [1, M]>
  %n = gir.unary "neg" %t : !gir.tile<l1, f32, [1, M]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, M]>
  gir.store %n, %to : !gir.tile<l1, f32, [1, M]>, !gir.slice<dram, f32, [1, M]>
}

// Transposed, then negated through a view: what one launch makes constant the next reads. What led there is gone; a
// name that is taken is not taken again.
// CHECK-LABEL: rt.program @chain(
// CHECK-NEXT: %[[TAKEN:.*]] = constant "folded.0" = dense<7.0{{.*}}> : tensor<4xf32>
// CHECK-NEXT: %[[C:.*]] = constant "folded.2" = dense<[-1.0{{.*}}, -3.0{{.*}}, -2.0{{.*}}, -4.0{{.*}}]> : tensor<4xf32>
// CHECK-NEXT: copy %[[C]], %y
// CHECK-NEXT: copy %[[TAKEN]], %z
// CHECK-NEXT: }
rt.program @chain(%y : !rt.buffer<f32, [4]> out "y", %z : !rt.buffer<f32, [4]> out "z") {
  %taken = constant "folded.0" = dense<7.0> : tensor<4xf32>
  %w = constant "w" = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %t = alloc : !rt.buffer<f32, [2, 2]>
  // REMARK: fold.mlir:[[#@LINE+1]]:3: remark: @packs was run: 16 bytes are constant now
  launch @packs(%w, %t) dims [] : !rt.buffer<f32, [2, 2]>, !rt.buffer<f32, [2, 2]>
  %v = view %t : !rt.buffer<f32, [2, 2]> -> !rt.buffer<f32, [4]>
  %u = alloc : !rt.buffer<f32, [4]>
  // REMARK: fold.mlir:[[#@LINE+1]]:3: remark: @negates was run: 16 bytes are constant now
  launch @negates(%v, %u) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  copy %u, %y : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  copy %taken, %z : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
}

// Of launches that run together those on constants are run; with the last one the op around them goes.
// CHECK-LABEL: rt.program @together(
// CHECK-NEXT: packed {
// CHECK-NEXT: launch @negates(%x, %z)
// CHECK-NEXT: }
// CHECK-COUNT-2: constant "folded
// CHECK-NOT: packed
// CHECK-LABEL: rt.program @stays(
rt.program @together(%x : !rt.buffer<f32, [4]> in "x", %y : !rt.buffer<f32, [4]> out "y", %z : !rt.buffer<f32, [4]> out "z",
                     %a : !rt.buffer<f32, [4]> out "a") {
  %w = constant "w" = dense<1.0> : tensor<4xf32>
  %t = alloc : !rt.buffer<f32, [4]>
  packed {
    launch @negates(%w, %t) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
    launch @negates(%x, %z) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  }
  %u = alloc : !rt.buffer<f32, [4]>
  %v = alloc : !rt.buffer<f32, [4]>
  packed {
    launch @negates(%w, %u) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
    launch @negates(%t, %v) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  }
  copy %u, %y : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  copy %v, %a : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
}

// Nothing of these is constant: an input is read, an output is written, the memory is written twice.
// CHECK-COUNT-4: launch @negates
// CHECK: }
rt.program @stays(%x : !rt.buffer<f32, [4]> in "x", %y : !rt.buffer<f32, [4]> out "y", %z : !rt.buffer<f32, [4]> out "z") {
  %w = constant "w" = dense<1.0> : tensor<4xf32>
  %t = alloc : !rt.buffer<f32, [4]>
  launch @negates(%x, %t) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  copy %t, %z : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  // REMARK: fold.mlir:[[#@LINE+1]]:3: remark: the launch of @negates reads only constants, but runs at run time: what it writes is written elsewhere too, or has its place in a workspace
  launch @negates(%w, %t) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  launch @negates(%t, %y) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  // REMARK: fold.mlir:[[#@LINE+1]]:3: remark: the launch of @negates reads only constants, but runs at run time: it writes an output of the program
  launch @negates(%w, %z) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
}

// Which version runs is not known.
// CHECK-LABEL: rt.program @versions(
// CHECK-COUNT-4: launch @negates
rt.program @versions(%x : !rt.buffer<f32, [S]> in "x", %y : !rt.buffer<f32, [4]> out "y") symbols(S : [0, 100]) {
  %w = constant "w" = dense<1.0> : tensor<4xf32>
  %t = alloc : !rt.buffer<f32, [4]>
  %u = alloc : !rt.buffer<f32, [S]>
  select if [S - 4] {
    // REMARK: fold.mlir:[[#@LINE+1]]:5: remark: the launch of @negates reads only constants, but runs at run time: what it writes is written elsewhere too
    launch @negates(%w, %t) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  }, {
    // REMARK: fold.mlir:[[#@LINE+1]]:5: remark: the launch of @negates reads only constants, but runs at run time: what it writes is written elsewhere too
    launch @negates(%w, %t) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  }
  // REMARK-NOT: remark
  launch @negates(%x, %u) dims [S] : !rt.buffer<f32, [S]>, !rt.buffer<f32, [S]>
  launch @negates(%t, %y) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
}

// One version makes something for itself.
// CHECK-LABEL: rt.program @version(
// CHECK-COUNT-2: launch @negates
rt.program @version(%x : !rt.buffer<f32, [S]> in "x", %y : !rt.buffer<f32, [4]> out "y") symbols(S : [0, 100]) {
  %w = constant "w" = dense<1.0> : tensor<4xf32>
  %t = alloc : !rt.buffer<f32, [4]>
  select if [S - 4] {
    // REMARK: fold.mlir:[[#@LINE+1]]:5: remark: the launch of @negates reads only constants, but runs at run time: it stands in a version that is chosen at run time
    launch @negates(%w, %t) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
    copy %t, %y : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  }, {
    // REMARK: fold.mlir:[[#@LINE+1]]:5: remark: the launch of @negates reads only constants, but runs at run time: it writes an output of the program
    launch @negates(%w, %y) dims [4] : !rt.buffer<f32, [4]>, !rt.buffer<f32, [4]>
  }
}

// No elements.
// CHECK-LABEL: rt.program @none(
// CHECK-NEXT: %[[C:.*]] = constant "folded.0" = dense<> : tensor<0xf32>
// CHECK-NEXT: copy %[[C]], %y
rt.program @none(%y : !rt.buffer<f32, [0]> out "y") {
  %w = constant "w" = dense<> : tensor<0xf32>
  %t = alloc : !rt.buffer<f32, [0]>
  // REMARK: fold.mlir:[[#@LINE+1]]:3: remark: @negates was run: 0 bytes are constant now
  launch @negates(%w, %t) dims [0] : !rt.buffer<f32, [0]>, !rt.buffer<f32, [0]>
  copy %t, %y : !rt.buffer<f32, [0]>, !rt.buffer<f32, [0]>
}

// CHECK-LABEL: rt.program @empty() {
// CHECK-NEXT: }
rt.program @empty() {
}
