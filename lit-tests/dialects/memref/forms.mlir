// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func @f(%arg0: tensor<3x6xf32>, %arg1: tensor<?xf32>, %arg2: tensor<2xindex>, %arg3: memref<?x6xf32>, %arg4: memref<*xf32>, %arg5: memref<2xindex>, %arg6: f32, %arg7: index, %arg8: i1, %arg9: f8E8M0FNU, %arg10: f4E2M1FN, %arg11: i32, %arg12: tensor<1x2xindex>) {
    %alloc = memref.alloc(%arg7) : memref<?xf32>
    %alloc_0 = memref.alloc() : memref<1xi32>
    %assume_align = memref.assume_alignment %arg3, 16 : memref<?x6xf32>
    %reshape = memref.reshape %arg3(%arg5) : (memref<?x6xf32>, memref<2xindex>) -> memref<?x?xf32>
    %memspacecast = memref.memory_space_cast %arg3 : memref<?x6xf32> to memref<?x6xf32, 1>
    %0 = memref.realloc %alloc : memref<?xf32> to memref<4xf32>
    %1:2 = memref.distinct_objects %arg3, %arg3 : memref<?x6xf32>, memref<?x6xf32>
    %cst = arith.constant 1.000000e+00 : f32
    %intptr = memref.extract_aligned_pointer_as_index %arg3 : memref<?x6xf32> -> index
    %2 = memref.load %arg3[%arg7, %arg7] {nontemporal = true} : memref<?x6xf32>
    %transpose = memref.transpose %arg3 (d0, d1) -> (d1, d0) : memref<?x6xf32> to memref<6x?xf32, strided<[1, 6]>>
    return
  }
}
