// What upstream's dialect has and the registered subset does not is kept as it is.
// RUN: sutura-opt %s --allow-unregistered-dialect --verify-roundtrip | FileCheck %s
// RUN: sutura-opt %s --allow-unregistered-dialect --print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: sutura-opt %s --allow-unregistered-dialect --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @attributes(
// CHECK:         "gpu.all_reduce"(%{{.*}}) <{op = #gpu<all_reduce_op add>}>
// CHECK:         "nvvm.prefetch"(%{{.*}}) <{cacheLevel = #nvvm<prefetch_cache_level L1>}>
// CHECK:         "test.use"() {a = #gpu<broadcast first_active_lane>, b = #spirv.entry_point_abi<subgroup_size = 32>}
func.func @attributes(%x: f32, %p: !llvm.ptr) -> f32 {
  %0 = "gpu.all_reduce"(%x) <{op = #gpu<all_reduce_op add>}> ({}) : (f32) -> f32
  "nvvm.prefetch"(%p) <{cacheLevel = #nvvm<prefetch_cache_level L1>}> : (!llvm.ptr) -> ()
  "test.use"() {a = #gpu<broadcast first_active_lane>, b = #spirv.entry_point_abi<subgroup_size = 32>} : () -> ()
  return %0 : f32
}

// An operation of the subset on a type beyond it has no custom form, and only its structure is checked.
// CHECK-LABEL: func.func @types(
// CHECK-SAME:    %[[M:.*]]: !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>
// CHECK:         "spirv.SNegate"(%[[M]])
// CHECK-SAME:      (!spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>) -> !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>
func.func @types(%m: !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>) -> !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA> {
  %0 = spirv.SNegate %m : !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>
  return %0 : !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>
}

// CHECK-LABEL: func.func private @structs(!spirv.struct<named, (i32, f32)>,
// CHECK-SAME:    !spirv.struct<(!spirv.matrix<3 x vector<3xf32>> [0, ColMajor, MatrixStride=16])>,
// CHECK-SAME:    !spirv.ptr<f32, RayPayloadKHR>)
func.func private @structs(!spirv.struct<named, (i32, f32)>,
    !spirv.struct<(!spirv.matrix<3 x vector<3xf32>> [0, ColMajor, MatrixStride=16])>, !spirv.ptr<f32, RayPayloadKHR>)

// Returns may stand in selections, and in functions of other dialects.
// CHECK-LABEL: func.func @return_inside(
// CHECK:         spirv.ReturnValue
// GENERIC:       "spirv.ReturnValue"
func.func @return_inside(%c: i1) -> i32 {
  spirv.mlir.selection {
    spirv.BranchConditional %c, ^then, ^merge
  ^then:
    %0 = spirv.Constant 0 : i32
    spirv.ReturnValue %0 : i32
  ^merge:
    spirv.mlir.merge
  }
  %1 = spirv.Constant 1 : i32
  spirv.ReturnValue %1 : i32
}
