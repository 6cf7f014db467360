// RUN: sutura-opt %s | FileCheck %s

// White space is free, braces of one kernel may stand, and an empty guard is none.

// CHECK: version when [N] {
// CHECK-NEXT: kernel {}
// CHECK-NEXT: }
// CHECK-NEXT: version {
// CHECK-NEXT: kernel {
// CHECK-NEXT: loop d10 by 16 grid { place max:0 rows d1 cols d2 in l1 padded }
// CHECK-NEXT: }
// CHECK-NEXT: kernel { operand max:0.2 }
func.func private @narrow() attributes {tree = #schedule.tree<version when[N]{kernel{}}version when[]{together{kernel{loop d10 by 0x10
  grid{place "max" : 0 // A comment.
  rows d1 cols d2 in"l1"padded}}}kernel{operand max:0 .2}}>}
