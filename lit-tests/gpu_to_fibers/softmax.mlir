// RUN: sutura-opt %S/../gir_to_gpu/softmax.mlir --pass-pipeline='builtin.module(convert-gir-to-gpu{threads=256 subgroup=64},gpu.module(gpu.func(expand-math,canonicalize,cse)),convert-gpu-to-fibers{subgroup=64},canonicalize,cse)' | FileCheck %s

// What is left is upstream's, and no access is without its check.
// CHECK: \22name\22:\22softmax\22,\22block\22:[256,1,1],\22arguments\22:4,
// CHECK-LABEL: llvm.func @softmax(
// CHECK-NOT: gpu.
// CHECK-NOT: !llvm.ptr<
// CHECK: scf.for
// CHECK: llvm.call
// CHECK-NEXT: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.call %{{.*}}, %c259_i32) : !llvm.ptr, (!llvm.ptr, i64, i32, i32, i32, i32) -> ()
// CHECK-NEXT: llvm.store {{.*}} : f32, !llvm.ptr
// CHECK: llvm.call %{{.*}}, %c257_i32) : !llvm.ptr, (!llvm.ptr, i64, i32, i32, i32, i32) -> ()
// CHECK-NEXT: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
