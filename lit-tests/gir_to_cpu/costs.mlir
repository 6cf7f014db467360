// A value that doubles itself many times costs more to make anew than any number says; so do two of them together.

// RUN: sutura-opt %s --convert-gir-to-cpu=vector-bytes=32 | FileCheck %s

// CHECK-LABEL: func.func @doubled
// CHECK: arith.addf
gir.kernel @doubled(%x : !gir.view<dram, f32, [N]> in, %y : !gir.view<dram, f32, [N]> out, %z : !gir.view<dram, f32, [N]> out) dims(%N : [0, 1000]) grid() units(1) {
  %c0 = arith.constant 0 : index
  %s = gir.slice %x[%c0] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  %v0 = gir.load %s : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %v1 = gir.binary "add" %v0, %v0 : !gir.tile<l1, f32, [1, N]>
  %v2 = gir.binary "add" %v1, %v1 : !gir.tile<l1, f32, [1, N]>
  %v3 = gir.binary "add" %v2, %v2 : !gir.tile<l1, f32, [1, N]>
  %v4 = gir.binary "add" %v3, %v3 : !gir.tile<l1, f32, [1, N]>
  %v5 = gir.binary "add" %v4, %v4 : !gir.tile<l1, f32, [1, N]>
  %v6 = gir.binary "add" %v5, %v5 : !gir.tile<l1, f32, [1, N]>
  %v7 = gir.binary "add" %v6, %v6 : !gir.tile<l1, f32, [1, N]>
  %v8 = gir.binary "add" %v7, %v7 : !gir.tile<l1, f32, [1, N]>
  %v9 = gir.binary "add" %v8, %v8 : !gir.tile<l1, f32, [1, N]>
  %v10 = gir.binary "add" %v9, %v9 : !gir.tile<l1, f32, [1, N]>
  %v11 = gir.binary "add" %v10, %v10 : !gir.tile<l1, f32, [1, N]>
  %v12 = gir.binary "add" %v11, %v11 : !gir.tile<l1, f32, [1, N]>
  %v13 = gir.binary "add" %v12, %v12 : !gir.tile<l1, f32, [1, N]>
  %v14 = gir.binary "add" %v13, %v13 : !gir.tile<l1, f32, [1, N]>
  %v15 = gir.binary "add" %v14, %v14 : !gir.tile<l1, f32, [1, N]>
  %v16 = gir.binary "add" %v15, %v15 : !gir.tile<l1, f32, [1, N]>
  %v17 = gir.binary "add" %v16, %v16 : !gir.tile<l1, f32, [1, N]>
  %v18 = gir.binary "add" %v17, %v17 : !gir.tile<l1, f32, [1, N]>
  %v19 = gir.binary "add" %v18, %v18 : !gir.tile<l1, f32, [1, N]>
  %v20 = gir.binary "add" %v19, %v19 : !gir.tile<l1, f32, [1, N]>
  %v21 = gir.binary "add" %v20, %v20 : !gir.tile<l1, f32, [1, N]>
  %v22 = gir.binary "add" %v21, %v21 : !gir.tile<l1, f32, [1, N]>
  %v23 = gir.binary "add" %v22, %v22 : !gir.tile<l1, f32, [1, N]>
  %v24 = gir.binary "add" %v23, %v23 : !gir.tile<l1, f32, [1, N]>
  %v25 = gir.binary "add" %v24, %v24 : !gir.tile<l1, f32, [1, N]>
  %v26 = gir.binary "add" %v25, %v25 : !gir.tile<l1, f32, [1, N]>
  %v27 = gir.binary "add" %v26, %v26 : !gir.tile<l1, f32, [1, N]>
  %v28 = gir.binary "add" %v27, %v27 : !gir.tile<l1, f32, [1, N]>
  %v29 = gir.binary "add" %v28, %v28 : !gir.tile<l1, f32, [1, N]>
  %v30 = gir.binary "add" %v29, %v29 : !gir.tile<l1, f32, [1, N]>
  %v31 = gir.binary "add" %v30, %v30 : !gir.tile<l1, f32, [1, N]>
  %v32 = gir.binary "add" %v31, %v31 : !gir.tile<l1, f32, [1, N]>
  %v33 = gir.binary "add" %v32, %v32 : !gir.tile<l1, f32, [1, N]>
  %v34 = gir.binary "add" %v33, %v33 : !gir.tile<l1, f32, [1, N]>
  %v35 = gir.binary "add" %v34, %v34 : !gir.tile<l1, f32, [1, N]>
  %v36 = gir.binary "add" %v35, %v35 : !gir.tile<l1, f32, [1, N]>
  %n = gir.unary "neg" %v36 : !gir.tile<l1, f32, [1, N]>
  %t = gir.slice %y[%c0] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %v36, %t : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
  %u = gir.slice %z[%c0] cols(0) : !gir.view<dram, f32, [N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %n, %u : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
