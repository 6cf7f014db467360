// RUN: sutura-opt %s --lower-quant-ops --check-passes --strict | FileCheck %s

!q = !quant.uniform<u8:f32, 0.5:3>

// Scalars are signless.
// CHECK-LABEL: func.func @scalars(%x: f32, %y: i8) -> (i8, f32, i8)
// CHECK-NOT: quant
// CHECK: return %{{.*}}, %{{.*}}, %y : i8, f32, i8
func.func @scalars(%x: f32, %y: !q) -> (!q, f32, i8) {
  %0 = quant.qcast %x : f32 to !q
  %1 = quant.dcast %y : !q to f32
  %2 = quant.scast %y : !q to i8
  return %0, %1, %2 : !q, f32, i8
}

// So has a function of which nothing is there but its name.
// CHECK: func.func private @elsewhere(tensor<4xui8>, i8)
func.func private @elsewhere(tensor<4x!q>, !q)
