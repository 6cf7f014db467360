// A call goes through the runtime's table; where the routine returns another number than 0, the run ends with it.

// RUN: sutura-opt %s --convert-rt-to-llvm | FileCheck %s
// RUN: sutura-opt %s --convert-rt-to-llvm -o %t && sutura-opt %t -o /dev/null

// CHECK: routines = ["sort/1"]
// CHECK-LABEL: func.func @sutura_run
// CHECK-SAME: (%[[TABLE:[a-z0-9]*]]: !llvm.ptr,
// CHECK: %[[CONTEXT_AT:.*]] = llvm.getelementptr %[[TABLE]][1]
// CHECK: %[[CONTEXT:.*]] = llvm.load %[[CONTEXT_AT]]
// CHECK: %[[NAME:.*]] = llvm.mlir.addressof @sutura_routine_sort_1
// CHECK: %[[CALL_AT:.*]] = llvm.getelementptr %[[TABLE]][3]
// CHECK: %[[CALL:.*]] = llvm.load %[[CALL_AT]]
// CHECK: %[[N_BUFS:.*]] = arith.constant 3 : i32
// CHECK: %[[N_DIMS:.*]] = arith.constant 14 : i32
// CHECK: %[[RESULT:.*]] = llvm.call %[[CALL]](%[[CONTEXT]], %[[NAME]], %{{.*}}, %{{.*}}, %[[N_BUFS]], %[[N_DIMS]])
// CHECK: cf.cond_br %{{.*}}, ^[[NEXT:.*]], ^[[FAIL:.*]](%[[RESULT]] : i32)
// CHECK: ^[[FAIL]](%[[CODE:.*]]: i32):
// CHECK: return %[[CODE]] : i32
// CHECK: llvm.mlir.global external constant @sutura_routine_sort_1("sort/1\00")
rt.program @main(%x : !rt.buffer<f32, [B]> in "x", %y : !rt.buffer<f32, [B]> out "y") symbols(B : [0, 64]) attributes {planned} {
  %w = alloc : !rt.buffer<i8, [48*B]>
  call "sort" version 1 ins(%x) outs(%y) scratch(%w) params(axis [0], descending [0]) : !rt.buffer<f32, [B]>, !rt.buffer<f32, [B]>, !rt.buffer<i8, [48*B]>
}
