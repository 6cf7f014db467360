// RUN: sutura-opt %s --cse | FileCheck %s

// Two loads are one as long as nothing can have written in between.

// CHECK-LABEL: func.func @loads(
// CHECK:         %[[A:.*]] = memref.load
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    %[[B:.*]] = memref.load
// CHECK-NEXT:    call @opaque
// CHECK-NEXT:    %[[C:.*]] = memref.load
// CHECK-NEXT:    return %[[A]], %[[A]], %[[B]], %[[C]]
func.func @loads(%m: memref<4xi32>, %i: index) -> (i32, i32, i32, i32) {
  %a = memref.load %m[%i] : memref<4xi32>
  %b = memref.load %m[%i] : memref<4xi32>
  memref.store %a, %m[%i] : memref<4xi32>
  %c = memref.load %m[%i] : memref<4xi32>
  call @opaque() : () -> ()
  %d = memref.load %m[%i] : memref<4xi32>
  return %a, %b, %c, %d : i32, i32, i32, i32
}
func.func private @opaque()

// Each allocation is another one.

// CHECK-LABEL: func.func @allocations(
// CHECK-NEXT:    %[[A:.*]] = memref.alloc
// CHECK-NEXT:    %[[B:.*]] = memref.alloc
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @allocations() -> (memref<4xi32>, memref<4xi32>) {
  %a = memref.alloc() : memref<4xi32>
  %b = memref.alloc() : memref<4xi32>
  return %a, %b : memref<4xi32>, memref<4xi32>
}
