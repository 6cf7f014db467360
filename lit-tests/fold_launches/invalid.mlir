// RUN: sutura-opt %s --fold-launches --split-input-file --verify-diagnostics

// What is undefined on these constants cannot be run: the error stands at the launch.
gir.kernel @divides(%x : !gir.view<dram, i32, [4]> in, %y : !gir.view<dram, i32, [4]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %from = gir.slice %x[%zero] cols(0) : !gir.view<dram, i32, [4]> -> !gir.slice<dram, i32, [1, 4]>
  %t = gir.load %from : !gir.slice<dram, i32, [1, 4]> -> !gir.tile<l1, i32, [1, 4]>
  %d = gir.divisor "graph.compute 'ratio'" %t : !gir.tile<l1, i32, [1, 4]>
  %u = gir.binary "divsi" %t, %d : !gir.tile<l1, i32, [1, 4]>
  %to = gir.slice %y[%zero] cols(0) : !gir.view<dram, i32, [4]> -> !gir.slice<dram, i32, [1, 4]>
  gir.store %u, %to : !gir.tile<l1, i32, [1, 4]>, !gir.slice<dram, i32, [1, 4]>
}
rt.program @p(%o : !rt.buffer<i32, [4]> out "y") {
  %w = constant "w" = dense<0> : tensor<4xi32>
  %t = alloc : !rt.buffer<i32, [4]>
  // expected-error @below {{cannot run @divides at compile time: graph.compute 'ratio': divides by zero}}
  launch @divides(%w, %t) dims [] : !rt.buffer<i32, [4]>, !rt.buffer<i32, [4]>
  copy %t, %o : !rt.buffer<i32, [4]>, !rt.buffer<i32, [4]>
}
