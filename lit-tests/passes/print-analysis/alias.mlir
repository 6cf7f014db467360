// RUN: sutura-opt %s --print-analysis=analysis=alias -o /dev/null 2>&1 | FileCheck %s
// RUN: not sutura-opt %s --print-analysis=analysis=points-to 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: option `analysis` takes

// Parts of the same memory may or may not overlap; a part overlaps the whole; a cast changes nothing.

// CHECK-LABEL: alias of 'func.func' @views
// CHECK-DAG:     %m and %lower: partial
// CHECK-DAG:     %m and %cast: must
// CHECK-DAG:     %lower and %upper: may
// CHECK-DAG:     %lower and %cast: partial
func.func @views(%m: memref<8xi32>, %x: i32, %i: index) {
  %lower = memref.subview %m[0][4][1] : memref<8xi32> to memref<4xi32, strided<[1]>>
  %upper = memref.subview %m[4][4][1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 4>>
  %cast = memref.cast %m : memref<8xi32> to memref<?xi32>
  memref.store %x, %cast[%i] : memref<?xi32>
  return
}

// Two allocations are different memory, and neither is what the caller gave. What the caller gave may be the same.

// CHECK-LABEL: alias of 'func.func' @allocations
// CHECK-DAG:     %m and %n: may
// CHECK-DAG:     %m and %a: no
// CHECK-DAG:     %a and %b: no
// CHECK:         'memref.store'(%x, %m, %i): mod %m, mod %n
// CHECK:         'memref.store'(%x, %a, %i): mod %a
// CHECK:         'memref.copy'(%a, %b): ref %a, mod %b
func.func @allocations(%m: memref<8xi32>, %n: memref<8xi32>, %x: i32, %i: index) -> memref<8xi32> {
  %a = memref.alloc() : memref<8xi32>
  %b = memref.alloc() : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
  memref.store %x, %n[%i] : memref<8xi32>
  memref.store %x, %a[%i] : memref<8xi32>
  memref.copy %a, %b : memref<8xi32> to memref<8xi32>
  return %b : memref<8xi32>
}

// A call may access what it can know of: not memory whose address it was never given.

// CHECK-LABEL: alias of 'func.func' @calls
// CHECK-DAG:     %given and %own: no
// CHECK-DAG:     %own and %got: no
// CHECK-DAG:     %given and %got: may
// CHECK:         'func.call'(%given): mod-ref %given, mod-ref %got
// CHECK-NOT:     %own
// CHECK:         'memref.store'(%x, %own, %i): mod %own
func.func @calls(%x: i32, %i: index) -> i32 {
  %given = memref.alloc() : memref<8xi32>
  %own = memref.alloc() : memref<8xi32>
  %got = call @f(%given) : (memref<8xi32>) -> memref<8xi32>
  memref.store %x, %own[%i] : memref<8xi32>
  memref.store %x, %got[%i] : memref<8xi32>
  %r = memref.load %own[%i] : memref<8xi32>
  return %r : i32
}
func.func private @f(memref<8xi32>) -> memref<8xi32>

// Values are followed through regions and blocks.

// CHECK-LABEL: alias of 'func.func' @regions
// CHECK-DAG:     %a and %one: must
// CHECK-DAG:     %a and %both: may
// CHECK-DAG:     %b and %one: no
// CHECK-DAG:     %c and %both: no
// CHECK:         'scf.if'(%p): mod %a
func.func @regions(%p: i1, %x: i32, %i: index) {
  %a = memref.alloc() : memref<8xi32>
  %b = memref.alloc() : memref<8xi32>
  %c = memref.alloc() : memref<8xi32>
  %one = scf.if %p -> (memref<8xi32>) {
    scf.yield %a : memref<8xi32>
  } else {
    scf.yield %a : memref<8xi32>
  }
  %both = scf.if %p -> (memref<8xi32>) {
    scf.yield %a : memref<8xi32>
  } else {
    scf.yield %b : memref<8xi32>
  }
  scf.if %p {
    memref.store %x, %one[%i] : memref<8xi32>
  }
  memref.store %x, %both[%i] : memref<8xi32>
  memref.store %x, %c[%i] : memref<8xi32>
  return
}

// CHECK-LABEL: alias of 'func.func' @blocks
// CHECK-DAG:     %m and %p: may
// CHECK-DAG:     %a and %p: may
// CHECK-DAG:     %b and %p: no
func.func @blocks(%c: i1, %m: memref<8xi32>, %x: i32, %i: index) {
  %a = memref.alloc() : memref<8xi32>
  %b = memref.alloc() : memref<8xi32>
  memref.store %x, %m[%i] : memref<8xi32>
  memref.store %x, %b[%i] : memref<8xi32>
  cf.cond_br %c, ^end(%m : memref<8xi32>), ^end(%a : memref<8xi32>)
^end(%p: memref<8xi32>):
  memref.store %x, %p[%i] : memref<8xi32>
  return
}

// What a loop carries may be the allocation of an earlier iteration: another one than this one's.

// CHECK-LABEL: alias of 'func.func' @carried
// CHECK-DAG:     %start and %last: may
// CHECK-DAG:     %start and %now: no
// CHECK-DAG:     %last and %now: may
func.func @carried(%n: index, %x: i32, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = memref.alloc() : memref<8xi32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%last = %start) -> (memref<8xi32>) {
    memref.store %x, %last[%i] : memref<8xi32>
    %now = memref.alloc() : memref<8xi32>
    memref.store %x, %now[%i] : memref<8xi32>
    scf.yield %now : memref<8xi32>
  }
  memref.store %x, %r[%i] : memref<8xi32>
  return
}

// CHECK-LABEL: alias of 'func.func' @distinct
// CHECK-DAG:     %d#0 and %d#1: no
// CHECK-LABEL: alias of 'llvm.func' @pointers
// CHECK-DAG:     %p and %slot: no
// CHECK-DAG:     %slot and %part: partial
func.func @distinct(%m: memref<8xi32>, %n: memref<8xi32>, %x: i32, %i: index) {
  %d:2 = memref.distinct_objects %m, %n : memref<8xi32>, memref<8xi32>
  memref.store %x, %d#0[%i] : memref<8xi32>
  memref.store %x, %d#1[%i] : memref<8xi32>
  return
}

llvm.func @pointers(%p: !llvm.ptr, %x: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  %slot = llvm.alloca %one x !llvm.array<4 x i32> : (i32) -> !llvm.ptr
  %part = llvm.getelementptr %slot[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<4 x i32>
  llvm.store %x, %part : i32, !llvm.ptr
  llvm.store %x, %p : i32, !llvm.ptr
  llvm.return
}
