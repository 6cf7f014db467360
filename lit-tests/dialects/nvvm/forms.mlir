// Each form is read and written again byte for byte; upstream reads what is written.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic | FileCheck %s
// CHECK: "nvvm.read.ptx.sreg.tid.x"() : () -> i32
// CHECK: "nvvm.shfl.sync"({{.*}}) <{kind = #nvvm<shfl_kind bfly>}> : (i32, f32, i32, i32) -> f32
// CHECK: "nvvm.shfl.sync"({{.*}}) <{kind = #nvvm<shfl_kind up>, return_value_and_is_valid}> : (i32, i32, i32, i32) -> !llvm.struct<(i32, i1)>
//--- in.mlir
module {
  llvm.func @k(%arg0: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %arg1: f32, %arg2: i32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = nvvm.read.ptx.sreg.ctaid.y : i32
    %2 = nvvm.read.ptx.sreg.ntid.z : i32
    %3 = nvvm.read.ptx.sreg.nctaid.x : i32
    %4 = nvvm.read.ptx.sreg.laneid : i32
    %5 = nvvm.shfl.sync  bfly %arg2, %arg1, %0, %1 : f32 -> f32
    %6 = nvvm.shfl.sync  up %arg2, %2, %3, %4 {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
    %7 = nvvm.shfl.sync  down %arg2, %2, %3, %4 : i32 -> i32
    %8 = nvvm.shfl.sync  idx %arg2, %2, %3, %4 : i32 -> i32
    nvvm.barrier0
    llvm.return
  }
}
