// Words of enumerations may stand in quotes, and strings hold any bytes; mlir-opt takes all of this too.
// RUN: sutura-opt %s --split-input-file --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @words(
// CHECK: arith.cmpi slt, %a, %a : i32
// CHECK: arith.addi %a, %a overflow<nsw, nuw> : i32
// CHECK: arith.mulf %b, %b fastmath<nnan,ninf> : f32
// CHECK: gpu.thread_id  x
// CHECK: gpu.shuffle  xor %a, %a, %a : i32
// CHECK: nvvm.shfl.sync  bfly %a, %a, %a, %a : i32 -> i32
// CHECK: llvm.fence seq_cst
// CHECK: vector.reduction <add>
func.func @words(%a: i32, %b: f32, %v: vector<4xf32>) attributes {x = #gpu<dim "y">, y = #arith.fastmath<"fast">} {
  %0 = arith.cmpi "slt", %a, %a : i32
  %1 = arith.addi %a, %a overflow<"nsw", nuw> : i32
  %2 = arith.mulf %b, %b fastmath<"nnan", ninf> : f32
  %3 = gpu.thread_id "x"
  %4, %5 = gpu.shuffle "xor" %a, %a, %a : i32
  %6 = nvvm.shfl.sync "bfly" %a, %a, %a, %a : i32 -> i32
  llvm.fence "seq_cst"
  %7 = vector.reduction <"add">, %v : vector<4xf32> into f32
  return
}

// -----

// A string's type follows from its bytes, which are no characters here.
// CHECK: llvm.mlir.global internal constant @bytes("\FF\80a")
// CHECK-SAME: {addr_space = 0 : i32}
// CHECK: llvm.mlir.global internal constant @"\FE"("\C3\A9")
llvm.mlir.global internal constant @bytes("\FF\80a")
llvm.mlir.global internal constant @"\FE"("\C3\A9") : !llvm.array<2 x i8>
