// RUN: sutura-opt %s --print-analysis=analysis=dominance -o /dev/null 2>&1 | FileCheck %s --check-prefix=DOM
// RUN: sutura-opt %s --print-analysis=analysis=liveness -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIVE
// RUN: sutura-opt %s --print-analysis=analysis=call-graph -o /dev/null 2>&1 | FileCheck %s --check-prefix=CALLS

// DOM:      dominance of 'builtin.module'
// DOM-NEXT:   ^bb0: entry
// DOM-NEXT: dominance of 'func.func' @diamond
// DOM-NEXT:   ^bb0: entry
// DOM-NEXT:   ^bb1: after ^bb0
// DOM-NEXT:   ^bb2: after ^bb0
// DOM-NEXT:   ^bb3: after ^bb0
// DOM-NEXT:   ^bb4: not reached

// LIVE:      liveness of 'func.func' @diamond
// LIVE-NEXT:   ^bb0: in [], out [%x]
// LIVE-NEXT:   ^bb1: in [%x], out []
// LIVE-NEXT:   ^bb2: in [%x], out []
// LIVE-NEXT:   ^bb3: in [], out []
func.func @diamond(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %a = arith.addi %x, %x : i32
  cf.br ^bb3(%a : i32)
^bb2:
  %b = arith.muli %x, %x : i32
  cf.br ^bb3(%b : i32)
^bb3(%r: i32):
  return %r : i32
^bb4:
  cf.br ^bb3(%x : i32)
}

// What an iteration uses, the next one needs too.

// LIVE:      liveness of 'func.func' @loop
// LIVE-NEXT:   ^bb0: in [], out []
// LIVE-NEXT:     region 0 of 'scf.for', ^bb0: in [%x, %m], out [%x, %m]
func.func @loop(%n: index, %x: i32, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xi32>
  }
  return
}

// CALLS:      call-graph, callees before their callers
// CALLS-NEXT:   @diamond calls nothing
// CALLS-NEXT:   @loop calls nothing
// CALLS-NEXT:   @odd calls @even, recursive
// CALLS-NEXT:   @even calls @odd, recursive
// CALLS-NEXT:   @caller calls @odd, unknown
func.func @odd(%x: i32) {
  call @even(%x) : (i32) -> ()
  return
}
func.func @even(%x: i32) {
  call @odd(%x) : (i32) -> ()
  return
}
func.func @caller(%x: i32) {
  call @odd(%x) : (i32) -> ()
  call @outside() : () -> ()
  return
}
func.func private @outside()
