// RUN: sutura-opt %s --cse | FileCheck %s

// Two reads are one where nothing between them may write what they read.

// CHECK-LABEL: func.func @other_memory(
// CHECK:         %[[A:.*]] = memref.load %m
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    return %[[A]], %[[A]]
func.func @other_memory(%m: memref<4xi32>, %i: index, %x: i32) -> (i32, i32) {
  %own = memref.alloc() : memref<4xi32>
  %a = memref.load %m[%i] : memref<4xi32>
  memref.store %x, %own[%i] : memref<4xi32>
  %b = memref.load %m[%i] : memref<4xi32>
  return %a, %b : i32, i32
}

// CHECK-LABEL: func.func @maybe_the_same(
// CHECK-COUNT-2: memref.load
func.func @maybe_the_same(%m: memref<4xi32>, %n: memref<4xi32>, %i: index, %x: i32) -> (i32, i32) {
  %a = memref.load %m[%i] : memref<4xi32>
  memref.store %x, %n[%i] : memref<4xi32>
  %b = memref.load %m[%i] : memref<4xi32>
  return %a, %b : i32, i32
}

// A call cannot write memory that it was never given, but any other.

// CHECK-LABEL: func.func @calls(
// CHECK:         %[[A:.*]] = memref.load
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    call
// CHECK-NEXT:    %[[D:.*]] = memref.load %m
// CHECK-NEXT:    return %[[A]], %{{.*}}, %[[A]], %[[D]]
func.func @calls(%m: memref<4xi32>, %i: index, %x: i32) -> (i32, i32, i32, i32) {
  %own = memref.alloc() : memref<4xi32>
  memref.store %x, %own[%i] : memref<4xi32>
  %a = memref.load %own[%i] : memref<4xi32>
  %b = memref.load %m[%i] : memref<4xi32>
  call @opaque() : () -> ()
  %c = memref.load %own[%i] : memref<4xi32>
  %d = memref.load %m[%i] : memref<4xi32>
  return %a, %b, %c, %d : i32, i32, i32, i32
}
func.func private @opaque()

// In a region that is executed after the first read; a loop may have written what it reads in an earlier iteration.

// CHECK-LABEL: func.func @in_regions(
// CHECK:         %[[A:.*]] = memref.load
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      func.call @take(%[[A]])
// CHECK:         scf.for
// CHECK-NEXT:      %[[B:.*]] = memref.load
// CHECK-NEXT:      func.call @take(%[[B]])
// CHECK-NEXT:      memref.store
func.func @in_regions(%m: memref<4xi32>, %i: index, %x: i32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %own = memref.alloc() : memref<4xi32>
  %a = memref.load %m[%i] : memref<4xi32>
  memref.store %a, %own[%i] : memref<4xi32>
  scf.if %p {
    %b = memref.load %m[%i] : memref<4xi32>
    func.call @take(%b) : (i32) -> ()
  }
  scf.for %k = %c0 to %i step %c1 {
    %b = memref.load %m[%i] : memref<4xi32>
    func.call @take(%b) : (i32) -> ()
    memref.store %x, %m[%i] : memref<4xi32>
  }
  return
}
func.func private @take(i32)

// The write ends the reuse of either kind of memory.

// CHECK-LABEL: func.func @freed(
// CHECK-COUNT-2: memref.load
func.func @freed(%m: memref<4xi32>, %n: memref<4xi32>, %i: index) -> (i32, i32) {
  %a = memref.load %m[%i] : memref<4xi32>
  memref.dealloc %n : memref<4xi32>
  %b = memref.load %m[%i] : memref<4xi32>
  return %a, %b : i32, i32
}
