// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func @f(%arg0: f32, %arg1: f8E8M0FNU, %arg2: f4E2M1FN, %arg3: i32, %arg4: i1, %arg5: vector<4xi32>, %arg6: vector<4xi1>) {
    %0 = arith.scaling_extf %arg2, %arg1 : f4E2M1FN, f8E8M0FNU to f32
    %1 = arith.scaling_truncf %arg0, %arg1 to_nearest_even fastmath<nnan> : f32, f8E8M0FNU to f4E2M1FN
    %sum, %overflow = arith.addui_extended %arg3, %arg3 : i32, i1
    %sum_0, %overflow_1 = arith.addui_extended %arg5, %arg5 {a} : vector<4xi32>, vector<4xi1>
    %low, %high = arith.mulsi_extended %arg3, %arg3 : i32
    %low_2, %high_3 = arith.mului_extended %arg3, %arg3 : i32
    %2 = arith.truncf %arg0 to_nearest_even : f32 to bf16
    %3 = arith.truncf %arg0 downward fastmath<fast> {q} : f32 to bf16
    %4 = arith.select %arg6, %arg5, %arg5 : vector<4xi1>, vector<4xi32>
    %5 = arith.select %arg4, %arg5, %arg5 : vector<4xi32>
    %6 = arith.extf %2 fastmath<contract> : bf16 to f32
    %7 = arith.trunci %arg3 overflow<nsw, nuw> : i32 to i8
    %8 = arith.divui %arg3, %arg3 exact : i32
    %9 = arith.shrsi %arg3, %arg3 exact : i32
    %10 = builtin.unrealized_conversion_cast %arg3 : i32 to f32 {a}
    %11:2 = builtin.unrealized_conversion_cast to f32, i8
    return
  }
  func.func private @g(i32) -> i32
}
