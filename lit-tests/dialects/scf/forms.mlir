// Each form as upstream writes it, which is read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --allow-unregistered-dialect --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  func.func @f(%arg0: index, %arg1: tensor<8xf32>, %arg2: f32, %arg3: i1) -> f32 {
    %0:2 = scf.parallel (%arg4) = (%arg0) to (%arg0) step (%arg0) init (%arg2, %arg2) -> (f32, f32) {
      scf.reduce(%arg2, %arg2 : f32, f32) {
      ^bb0(%arg5: f32, %arg6: f32):
        %4 = arith.addf %arg5, %arg6 : f32
        scf.reduce.return %4 : f32
      }, {
      ^bb0(%arg5: f32, %arg6: f32):
        scf.reduce.return %arg5 : f32
      }
    }
    %1 = scf.forall (%arg4, %arg5) in (%arg0, 4) shared_outs(%arg6 = %arg1) -> (tensor<8xf32>) {
      %extracted_slice = tensor.extract_slice %arg6[%arg4] [1] [1] : tensor<8xf32> to tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %extracted_slice into %arg6[%arg4] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
    scf.forall (%arg4) in (4) {
    }
    scf.forall (%arg4) = (0) to (%arg0) step (2) {
    } {foo}
    %2 = scf.execute_region -> f32 {
      scf.yield %arg2 : f32
    } {foo}
    scf.execute_region no_inline {
      cf.br ^bb1
    ^bb1:  // pred: ^bb0
      scf.yield
    }
    %3 = scf.if %arg3 -> (f32) {
      scf.yield %arg2 : f32
    } else {
      scf.yield %arg2 : f32
    }
    return %arg2 : f32
  }
}
