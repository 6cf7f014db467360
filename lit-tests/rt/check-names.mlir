// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-note@+1 {{the kernel}}
gir.kernel @none(%y : !gir.view<dram, f32, [1]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %t = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%zero] : !gir.view<dram, f32, [1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

rt.program @main(%y : !rt.buffer<f32, [1]> out "y") symbols() {
  // expected-error@+1 {{names 1 checks of data where the kernel makes 0}}
  launch @none(%y) dims [] {checks = ["a gather"]} : !rt.buffer<f32, [1]>
}

// -----

gir.kernel @none(%y : !gir.view<dram, f32, [1]> out) dims() grid() units(1) {
  %zero = arith.constant 0 : index
  %t = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 1]>
  %to = gir.slice %y[%zero] : !gir.view<dram, f32, [1]> -> !gir.slice<dram, f32, [1, 1]>
  gir.store %t, %to : !gir.tile<vec, f32, [1, 1]>, !gir.slice<dram, f32, [1, 1]>
}

rt.program @main(%y : !rt.buffer<f32, [1]> out "y") symbols() {
  launch @none(%y) dims [] {checks = []} : !rt.buffer<f32, [1]>
}
