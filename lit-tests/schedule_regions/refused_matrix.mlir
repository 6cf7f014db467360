// What a schedule may not do with registers that only multiply.

// RUN: sutura-opt %s --split-input-file --pass-pipeline='builtin.module(convert-graph-to-gir)' --verify-diagnostics

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-int8,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, i8, [16, 64]>, %b : !gir.tile<tmm, i8, [16, 64]>, %c : !gir.tile<tmm, i32, [16, 16]>)
      emit("llvm.x86.tdpbssd.internal") {
    %r = gir.contract %a, %b, %c {interleave = 4} : !gir.tile<tmm, i8, [16, 64]>, !gir.tile<tmm, i8, [16, 64]>, !gir.tile<tmm, i32, [16, 16]>
    gir.yield %r : !gir.tile<tmm, i32, [16, 16]>
  }
}

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @packs(%a: tensor<32x64xi8>, %b: tensor<64x32xi8>) -> tensor<32x32xi32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 0: operand 1 of %y lies in 'tmm', which only a contraction computes with}}
  %z = graph.fusion(%a, %b : tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 16 grid { loop d2 by 4 { pack y:0.1 rows d2 cols d1 in tmm padded } } }
      kernel {
        loop d1 by 16 grid {
          loop d0 by 16 grid {
            cache z:1.0 cols d1 in l1 padded { loop d2 by 64 { contract y:0 rows d0 cols d1 in tmm padded } }
            loop d0 by 8 { place z:1 rows d0 cols d1 in vec }
          }
        }
      }
    }>} {
  ^bb0(%c: tensor<32x64xi8>, %d: tensor<64x32xi8>):
    %y = graph.compute ins(%c, %d : tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32> {combiners = #graph.combiners<[add]>, graph.narrow, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%p: i8, %q: i8):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extsi %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      graph.yield %2 : i32
    }
    %s = graph.compute ins(%y : tensor<32x32xi32>) -> tensor<32x32xi32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: i32):
      %0 = arith.addi %p, %p : i32
      graph.yield %0 : i32
    }
    graph.yield %s : tensor<32x32xi32>
  }
  return %z : tensor<32x32xi32>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-int8,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, i8, [16, 64]>, %b : !gir.tile<tmm, i8, [16, 64]>, %c : !gir.tile<tmm, i32, [16, 16]>)
      emit("llvm.x86.tdpbssd.internal") {
    %r = gir.contract %a, %b, %c {interleave = 4} : !gir.tile<tmm, i8, [16, 64]>, !gir.tile<tmm, i8, [16, 64]>, !gir.tile<tmm, i32, [16, 16]>
    gir.yield %r : !gir.tile<tmm, i32, [16, 16]>
  }
}

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @computes(%a: tensor<32x64xi8>, %b: tensor<64x32xi8>) -> tensor<32x32xi32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: %s lies in 'tmm', which only a contraction computes with}}
  %z = graph.fusion(%a, %b : tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 16 grid { loop d2 by 4 { pack y:0.1 rows d2 cols d1 in vec padded } } }
      kernel {
        loop d1 by 16 grid {
          loop d0 by 16 grid {
            cache z:1.0 cols d1 in l1 padded { loop d2 by 64 { contract y:0 rows d0 cols d1 in tmm padded } }
            loop d0 by 8 { place z:1 rows d0 cols d1 in tmm }
          }
        }
      }
    }>} {
  ^bb0(%c: tensor<32x64xi8>, %d: tensor<64x32xi8>):
    %y = graph.compute ins(%c, %d : tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32> {combiners = #graph.combiners<[add]>, graph.narrow, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%p: i8, %q: i8):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extsi %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      graph.yield %2 : i32
    }
    %s = graph.compute ins(%y : tensor<32x32xi32>) -> tensor<32x32xi32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: i32):
      %0 = arith.addi %p, %p : i32
      graph.yield %0 : i32
    }
    graph.yield %s : tensor<32x32xi32>
  }
  return %z : tensor<32x32xi32>
}

// -----

target.machine @m {triple = "x86_64-linux-gnu", features = "+amx-int8,+avx512f"} {
  target.space @vec {class = "reg", owner = "unit", bytes = 2048, vector = 64}
  target.space @tmm {class = "reg", owner = "unit", bytes = 8192, vector = 1024}
  target.space @l1 {class = "sram", owner = "unit", bytes = 32768, align = 64, cached}
  target.space @dram {class = "dram", owner = "all"}
  target.intrinsic @mul(%a : !gir.tile<tmm, i8, [16, 64]>, %b : !gir.tile<tmm, i8, [16, 64]>, %c : !gir.tile<tmm, i32, [16, 16]>)
      emit("llvm.x86.tdpbssd.internal") {
    %r = gir.contract %a, %b, %c {interleave = 4} : !gir.tile<tmm, i8, [16, 64]>, !gir.tile<tmm, i8, [16, 64]>, !gir.tile<tmm, i32, [16, 16]>
    gir.yield %r : !gir.tile<tmm, i32, [16, 16]>
  }
}

#mk = affine_map<(d0, d1, d2) -> (d0, d2)>
#kn = affine_map<(d0, d1, d2) -> (d2, d1)>
#mn = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @uneven(%a: tensor<32x64xi8>, %b: tensor<64x32xi8>) -> tensor<32x32xi32> {
  // expected-error @below {{'graph.fusion' op has a schedule that is refused: version 0, launch 1: input 1 of %y was packed for each index of d2, and is read where there is more than one}}
  %z = graph.fusion(%a, %b : tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32> {schedule = #schedule.tree<
    version {
      kernel { loop d1 by 16 grid { loop d2 by 32 { pack y:0.1 rows d2 cols d1 in vec padded } } }
      kernel {
        loop d1 by 16 grid {
          loop d0 by 16 grid {
            cache z:1.0 cols d1 in l1 padded { loop d2 by 16 { contract y:0 rows d0 cols d1 in tmm padded } }
            loop d0 by 8 { place z:1 rows d0 cols d1 in vec }
          }
        }
      }
    }>} {
  ^bb0(%c: tensor<32x64xi8>, %d: tensor<64x32xi8>):
    %y = graph.compute ins(%c, %d : tensor<32x64xi8>, tensor<64x32xi8>) -> tensor<32x32xi32> {combiners = #graph.combiners<[add]>, graph.narrow, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#mk, #kn, #mn]} {
    ^bb0(%p: i8, %q: i8):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extsi %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      graph.yield %2 : i32
    }
    %s = graph.compute ins(%y : tensor<32x32xi32>) -> tensor<32x32xi32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%p: i32):
      %0 = arith.addi %p, %p : i32
      graph.yield %0 : i32
    }
    graph.yield %s : tensor<32x32xi32>
  }
  return %z : tensor<32x32xi32>
}
