// Each form is read and written again byte for byte; upstream reads what is written.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic | FileCheck %s
// CHECK: "rocdl.workitem.id.x"() : () -> i32
// CHECK: "rocdl.ds_bpermute"({{.*}}) : (i32, i32) -> i32
//--- in.mlir
module {
  llvm.func @k(%arg0: !llvm.ptr<1>, %arg1: i32) attributes {rocdl.flat_work_group_size = "256,256", rocdl.kernel, rocdl.reqd_work_group_size = array<i32: 256, 1, 1>} {
    %0 = rocdl.workitem.id.x : i32
    %1 = rocdl.workgroup.id.z : i32
    %2 = rocdl.mbcnt.lo %arg1, %0 : (i32, i32) -> i32
    %3 = rocdl.mbcnt.hi %arg1, %2 : (i32, i32) -> i32
    %4 = rocdl.ds_bpermute %3, %1 : (i32, i32) -> i32
    %5 = rocdl.ds_swizzle %4, %3 : (i32, i32) -> i32
    rocdl.s.barrier
    llvm.return
  }
}
