// Each form is read and written again byte for byte; upstream reads what is written.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic | FileCheck %s
// CHECK: "nvvm.read.ptx.sreg.tid.x"() : () -> i32
// CHECK: "nvvm.shfl.sync"({{.*}}) <{kind = #nvvm<shfl_kind bfly>}> : (i32, f32, i32, i32) -> f32
// CHECK: "nvvm.shfl.sync"({{.*}}) <{kind = #nvvm<shfl_kind up>, return_value_and_is_valid}> : (i32, i32, i32, i32) -> !llvm.struct<(i32, i1)>
// CHECK: "nvvm.cp.async.shared.global"({{.*}}) <{modifier = #nvvm<load_cache_modifier cg>, size = 16 : i32}> : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
// CHECK: "nvvm.cp.async.wait.group"() <{n = 1 : i32}> : () -> ()
//--- in.mlir
module {
  llvm.func @k(%arg0: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %arg1: f32, %arg2: i32, %arg3: !llvm.ptr<3>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
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
    nvvm.cp.async.shared.global %arg3, %arg0, 16, cache =  cg, %arg2 : !llvm.ptr<3>, !llvm.ptr<1>, i32
    nvvm.cp.async.shared.global %arg3, %arg0, 4, cache =  ca : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    llvm.return
  }
}
