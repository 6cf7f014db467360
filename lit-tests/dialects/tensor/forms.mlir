// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func @f(%arg0: tensor<3x6xf32>, %arg1: tensor<?xf32>, %arg2: tensor<2xindex>, %arg3: memref<?x6xf32>, %arg4: memref<*xf32>, %arg5: memref<2xindex>, %arg6: f32, %arg7: index, %arg8: i1, %arg9: f8E8M0FNU, %arg10: f4E2M1FN, %arg11: i32, %arg12: tensor<1x2xindex>) {
    %concat = tensor.concat dim(0) %arg0, %arg0 {foo} : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<6x6xf32>
    %reshape = tensor.reshape %arg1(%arg2) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
    %cst = arith.constant 1.000000e+00 : f32
    return
  }
}
