// Intrinsics with parameters: what is well formed is printed as it was read, and what is not is refused.

// RUN: sutura-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: target.intrinsic @dot(%a : !gir.tile<vec, i8, [M, 4]>, %b : !gir.tile<vec, i8, [4, 8*N]>, %c : !gir.tile<vec, i32, [M, 8*N]>) emit("x") order("acc, rhs, lhs") numerics("exact") extents({M = array<i64: 4, 2>, N = array<i64: 1>}) {
// CHECK: gir.contract %a, %b, %c {unsigned_rhs}
target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [M, 4]>, %b : !gir.tile<vec, i8, [4, 8*N]>, %c : !gir.tile<vec, i32, [M, 8*N]>)
      emit("x") order("acc, rhs, lhs") numerics("exact") extents({M = array<i64: 4, 2>, N = array<i64: 1>}) {
    %r = gir.contract %a, %b, %c {unsigned_rhs} : !gir.tile<vec, i8, [M, 4]>, !gir.tile<vec, i8, [4, 8*N]>, !gir.tile<vec, i32, [M, 8*N]>
    gir.yield %r : !gir.tile<vec, i32, [M, 8*N]>
  }
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @dram {class = "dram", owner = "all"}
  // expected-error @+1 {{operand 1 must be a tile of constant extents, or of such that 'extents' lists values for}}
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [M, 4]>, %b : !gir.tile<vec, i8, [4, 8*N]>, %c : !gir.tile<vec, i32, [M, 8*N]>)
      emit("x") extents({M = array<i64: 4, 2>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, i8, [M, 4]>, !gir.tile<vec, i8, [4, 8*N]>, !gir.tile<vec, i32, [M, 8*N]>
    gir.yield %r : !gir.tile<vec, i32, [M, 8*N]>
  }
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @dram {class = "dram", owner = "all"}
  // expected-error @+1 {{'extents' lists positive values for each parameter}}
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [M, 4]>, %b : !gir.tile<vec, i8, [4, 8]>, %c : !gir.tile<vec, i32, [M, 8]>)
      emit("x") extents({M = array<i64: 0>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, i8, [M, 4]>, !gir.tile<vec, i8, [4, 8]>, !gir.tile<vec, i32, [M, 8]>
    gir.yield %r : !gir.tile<vec, i32, [M, 8]>
  }
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 512, vector = 32}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @dot(%a : !gir.tile<vec, i8, [M, 4]>, %b : !gir.tile<vec, i8, [4, 8]>, %c : !gir.tile<vec, i32, [M, 8]>)
      emit("x") extents({M = array<i64: 4, 2>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, i8, [M, 4]>, !gir.tile<vec, i8, [4, 8]>, !gir.tile<vec, i32, [M, 8]>
    gir.yield %r : !gir.tile<vec, i32, [M, 8]>
  }
}
// Three rows are no choice.
gir.kernel @k(%y : !gir.view<dram, i32, [3, 8]> out) dims() grid(%i = 1) units(1) {
  %zero = arith.constant 0 : index
  %a = gir.fill 1 : i8 : !gir.tile<vec, i8, [3, 4]>
  %b = gir.fill 1 : i8 : !gir.tile<vec, i8, [4, 8]>
  %c = gir.fill 1 : i32 : !gir.tile<vec, i32, [3, 8]>
  // expected-error @+1 {{does not fit @dot}}
  %r = gir.intrinsic @dot(%a, %b, %c) : (!gir.tile<vec, i8, [3, 4]>, !gir.tile<vec, i8, [4, 8]>, !gir.tile<vec, i32, [3, 8]>) -> !gir.tile<vec, i32, [3, 8]>
  %out = gir.slice %y[%zero, %zero] rows(0) cols(1) : !gir.view<dram, i32, [3, 8]> -> !gir.slice<dram, i32, [3, 8]>
  gir.store %r, %out : !gir.tile<vec, i32, [3, 8]>, !gir.slice<dram, i32, [3, 8]>
}

// -----

// Tiles of every choice have room in their space.
target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @acc {class = "reg", owner = "unit", bytes = 128}
  target.space @dram {class = "dram", owner = "all"}
  // expected-error @+1 {{takes tiles of 256 bytes in space 'acc', which has room for 128}}
  target.intrinsic @dot(%a : !gir.tile<dram, i8, [M, 4]>, %b : !gir.tile<dram, i8, [4, 8]>, %c : !gir.tile<acc, i32, [M, 8]>)
      emit("x") extents({M = array<i64: 4, 8>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<dram, i8, [M, 4]>, !gir.tile<dram, i8, [4, 8]>, !gir.tile<acc, i32, [M, 8]>
    gir.yield %r : !gir.tile<acc, i32, [M, 8]>
  }
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
  // expected-error @+1 {{takes tiles of 18446744073709551615 bytes in space 'dram', which has room for 1073741824}}
  target.intrinsic @dot(%a : !gir.tile<dram, i8, [M, 4]>, %b : !gir.tile<dram, i8, [4, 8]>, %c : !gir.tile<dram, i32, [M, 8]>)
      emit("x") extents({M = array<i64: 4, 4611686018427387904>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<dram, i8, [M, 4]>, !gir.tile<dram, i8, [4, 8]>, !gir.tile<dram, i32, [M, 8]>
    gir.yield %r : !gir.tile<dram, i32, [M, 8]>
  }
}

// -----

// Multiplications of vectors take places of a sum in turn: of each factor one lies in registers.
target.machine @in_turn {triple = "x86_64-linux-gnu", features = ""} {
  target.space @vec {class = "reg", owner = "unit", bytes = 1024, vector = 32}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @fits(%a : !gir.tile<vec, f32, [4, K]>, %b : !gir.tile<vec, f32, [K, 32]>, %c : !gir.tile<vec, f32, [4, 32]>)
      emit("vector.fma") extents({K = array<i64: 64, 1>}) {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [4, K]>, !gir.tile<vec, f32, [K, 32]>, !gir.tile<vec, f32, [4, 32]>
    gir.yield %r : !gir.tile<vec, f32, [4, 32]>
  }
  // expected-error @+1 {{takes tiles of 1184 bytes in space 'vec', which has room for 1024}}
  target.intrinsic @crowded(%a : !gir.tile<vec, f32, [8, 4]>, %b : !gir.tile<vec, f32, [4, 32]>, %c : !gir.tile<vec, f32, [8, 32]>) emit("vector.fma") {
    %r = gir.contract %a, %b, %c : !gir.tile<vec, f32, [8, 4]>, !gir.tile<vec, f32, [4, 32]>, !gir.tile<vec, f32, [8, 32]>
    gir.yield %r : !gir.tile<vec, f32, [8, 32]>
  }
}
