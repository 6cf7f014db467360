// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func @g(%arg0: memref<10xf32>, %arg1: index, %arg2: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> f32 {
    %0 = memref.generic_atomic_rmw %arg0[%arg1] : memref<10xf32> {
    ^bb0(%arg3: f32):
      %2 = arith.addf %arg3, %arg3 : f32
      memref.atomic_yield %2 : f32
    }
    %base_buffer, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %arg2 : memref<?x?xf32, strided<[?, ?], offset: ?>> -> memref<f32>, index, index, index, index, index
    memref.alloca_scope  {
      %alloca = memref.alloca() : memref<4xf32>
    }
    %1 = memref.alloca_scope  -> (f32) {
      memref.alloca_scope.return %0 : f32
    }
    return %1 : f32
  }
}
