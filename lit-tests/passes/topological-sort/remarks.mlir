// RUN: sutura-opt %s --topological-sort --allow-unregistered-dialect -o /dev/null --remarks-filter-passed=sort 2>&1 | FileCheck %s
// RUN: sutura-opt %s --topological-sort --allow-unregistered-dialect -o /dev/null --remarks-filter-missed=sort 2>&1 | FileCheck %s --check-prefix=MISSED

// One remark says from where on operations stand elsewhere; of each cycle the operation that goes first is named.

// CHECK-NOT:  remark:
// CHECK:      :[[#@LINE+7]]:8: remark: 2 operations from here on stand elsewhere, behind what they use
// CHECK-NOT:  remark:
// MISSED-NOT: remark:
// MISSED:     :[[#@LINE+7]]:8: remark: 'x.d' stays before what it uses: the uses are a cycle
// MISSED-NOT: remark:
"builtin.module"() ({
  "x.first"() : () -> ()
  %b = "x.b"(%a) : (i32) -> i32
  %a = "x.a"(%c) : (i32) -> i32
  %c = "x.c"() : () -> i32
  %d = "x.d"(%e) : (i32) -> i32
  %e = "x.e"(%d) : (i32) -> i32
}) : () -> ()
