// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @f(%arg0: vector<4x3xf32>, %arg1: vector<3x7xf32>, %arg2: vector<4x7xf32>, %arg3: vector<16xf32>, %arg4: vector<16xi1>, %arg5: f32, %arg6: index, %arg7: memref<?x?xf32>, %arg8: vector<16xindex>, %arg9: tensor<?xf32>, %arg10: vector<[4]xf32>, %arg11: vector<4xf32>, %arg12: memref<16xf32>) {
    %0 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %arg0, %arg1, %arg2 : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
    %1 = vector.contract {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<mul>} %arg0, %arg1, %arg2 {bar, foo} : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
    vector.print %arg3 : vector<16xf32>
    vector.print str "abc"
    vector.print
    vector.print %arg5 : f32 punctuation <comma>
    vector.print
    vector.mask %arg4 { vector.transfer_write %arg3, %arg7[%arg6, %arg6] : vector<16xf32>, memref<?x?xf32> } : vector<16xi1>
    vector.mask %arg4 { vector.yield } : vector<16xi1>
    %2 = vector.mask %arg4 { vector.yield %arg3 : vector<16xf32> } : vector<16xi1> -> vector<16xf32>
    %3:16 = vector.to_elements %arg3 : vector<16xf32>
    %4 = vector.gather %arg7[%arg6, %arg6] [%arg8], %arg4, %arg3 : memref<?x?xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.scatter %arg7[%arg6, %arg6] [%arg8], %arg4, %arg3 : memref<?x?xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32>
    %5 = vector.interleave %arg3, %arg3 : vector<16xf32> -> vector<32xf32>
    %res1, %res2 = vector.deinterleave %arg3 : vector<16xf32> -> vector<8xf32>
    %6 = vector.expandload %arg7[%arg6, %arg6], %arg4, %arg3 : memref<?x?xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    vector.compressstore %arg7[%arg6, %arg6], %arg4, %arg3 {alignment = 8 : i64} : memref<?x?xf32>, vector<16xi1>, vector<16xf32>
    %7 = vector.scalable.insert %arg3, %arg10[0] : vector<16xf32> into vector<[4]xf32>
    %8 = vector.scalable.extract %arg10[4] : vector<4xf32> from vector<[4]xf32>
    %vscale = vector.vscale
    %9 = vector.multi_reduction <add>, %arg0, %arg5 [0, 1] : vector<4x3xf32> to f32
    return
  }
  func.func @elements_that_are_vectors(%arg0: memref<8x8xvector<2x4xf32>>, %arg1: index, %arg2: vector<2x4xf32>) {
    %0 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<8x8xvector<2x4xf32>>, vector<2x4xf32>
    %1 = vector.transfer_read %arg0[%arg1, %arg1], %arg2 : memref<8x8xvector<2x4xf32>>, vector<1x2x4xf32>
    vector.transfer_write %0, %arg0[%arg1, %arg1] : vector<2x4xf32>, memref<8x8xvector<2x4xf32>>
    return
  }
}
