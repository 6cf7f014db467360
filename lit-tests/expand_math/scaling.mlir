// Powers of two are put back by an instruction where the machine has it for vectors of that many lanes.
//
// RUN: sutura-opt %s --expand-math | FileCheck %s

target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f"} {
  target.space @dram {class = "dram", owner = "all", gbps = 12 : i64}
}

// CHECK-LABEL: @whole
func.func @whole(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: %[[SCALED:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
  // CHECK-NEXT: return %[[SCALED]]
  %y = math.exp2 %x : vector<16xf32>
  return %y : vector<16xf32>
}

// Shorter vectors need another feature, and numbers and other shapes have no such instruction.
// CHECK-LABEL: @others
// CHECK-NOT: llvm.call_intrinsic
func.func @others(%x: vector<8xf32>, %y: f32, %z: vector<2x16xf32>) -> (vector<8xf32>, f32, vector<2x16xf32>) {
  %0 = math.exp2 %x : vector<8xf32>
  %1 = math.exp2 %y : f32
  %2 = math.exp2 %z : vector<2x16xf32>
  return %0, %1, %2 : vector<8xf32>, f32, vector<2x16xf32>
}
