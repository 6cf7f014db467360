// Sizes that sides and iterations make, which the host writes to a list and reads.

// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --inline-programs --plan-buffers | FileCheck %s --check-prefix=ONE
// RUN: sutura-opt %s --inline-programs --plan-buffers --convert-rt-to-llvm | FileCheck %s --check-prefix=HOST

// CHECK: invoke @places ins({{.*}}) outs({{.*}}) {most = #dyn.shape<[1, N]>}
// CHECK: read_sizes {{.*}} {most = #dyn.shape<[N + W - min(N, W)]>, sizes = #dyn.shape<[R]>, what = "a condition"}
rt.program @places(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<i64, [1, K]> out "y") symbols(B : [0, 64], K : [0, 64]) attributes {private} {
  %s = alloc : !rt.buffer<i64, [1]>
  call "non_zero" version 1 ins(%x) outs(%y, %s) params(found [K]) : !rt.buffer<f32, [B]>, !rt.buffer<i64, [1, K]>, !rt.buffer<i64, [1]>
}

// The size that the invocation decides is that of the program which it runs.
// ONE-LABEL: rt.program @main(
// ONE-SAME: symbols(N : [0, 64], W : [0, 64], R : [0, 64], K : [0, 64])
// ONE: if
// ONE: call "non_zero" {{.*}} params(found [K])
// ONE-NEXT: write_sizes {{.*}} {sizes = #dyn.shape<[K]>}
// HOST-LABEL: func.func @sutura_run(
// HOST: llvm.alloca
rt.program @main(%c : !rt.buffer<i1, []> in "c", %x : !rt.buffer<f32, [N]> in "x", %w : !rt.buffer<i64, [W]> in "w",
                 %y : !rt.buffer<i64, [R]> out "y") symbols(N : [0, 64], W : [0, 64], R : [0, 64], P : [0, 64]) {
  %sizes = size_list : !rt.buffer<i64, [1]>
  %p = view %y {front} : !rt.buffer<i64, [R]> -> !rt.buffer<i64, [1, P]>
  %q = view %y {front} : !rt.buffer<i64, [R]> -> !rt.buffer<i64, [W]>
  if %c : !rt.buffer<i1, []> {
    invoke @places ins(%x) outs(%p) {most = #dyn.shape<[1, N]>} : !rt.buffer<f32, [N]>, !rt.buffer<i64, [1, P]>
    write_sizes %sizes {sizes = #dyn.shape<[P]>} : !rt.buffer<i64, [1]>
  } else {
    copy %w, %q : !rt.buffer<i64, [W]>, !rt.buffer<i64, [W]>
    write_sizes %sizes {sizes = #dyn.shape<[W]>} : !rt.buffer<i64, [1]>
  }
  read_sizes %sizes {what = "a condition", sizes = #dyn.shape<[R]>, most = #dyn.shape<[N + W - min(N, W)]>} : !rt.buffer<i64, [1]>
}
