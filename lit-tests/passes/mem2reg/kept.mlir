// RUN: sutura-opt %s --mem2reg | FileCheck %s
// RUN: sutura-opt %s --mem2reg -o /dev/null --remarks-filter=.* 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @escapes(
// CHECK-NEXT:    memref.alloca()
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    call @use
func.func private @use(memref<i32>)
func.func @escapes(%x: i32) {
  // REMARK: this memory is not promoted: 'func.call' uses its address
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  call @use(%a) : (memref<i32>) -> ()
  return
}

// CHECK-LABEL: func.func @written_inside(
// CHECK:         memref.alloca()
func.func @written_inside(%c: i1, %x: i32, %y: i32) -> i32 {
  // REMARK: this memory is not promoted: it is written in a region of 'scf.if'
  %a = memref.alloca() : memref<i32>
  memref.store %x, %a[] : memref<i32>
  scf.if %c {
    memref.store %y, %a[] : memref<i32>
  }
  %r = memref.load %a[] : memref<i32>
  return %r : i32
}

// Memory of several values is no slot, and nothing is said of it.

// CHECK-LABEL: func.func @array(
// CHECK:         memref.alloca() : memref<2xi32>
func.func @array(%i: index, %x: i32) -> i32 {
  %a = memref.alloca() : memref<2xi32>
  memref.store %x, %a[%i] : memref<2xi32>
  %r = memref.load %a[%i] : memref<2xi32>
  return %r : i32
}

// A block that nothing reaches has no order of stores.

// CHECK-LABEL: func.func @unreached(
// CHECK:         memref.alloca()
func.func @unreached(%x: i32) -> i32 {
  // REMARK: this memory is not promoted: it is used in a block that is not reached
  %a = memref.alloca() : memref<i32>
  return %x : i32
^dead:
  %v = memref.load %a[] : memref<i32>
  return %v : i32
}
