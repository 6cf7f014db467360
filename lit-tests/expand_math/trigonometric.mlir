// RUN: sutura-opt %s --expand-math | FileCheck %s
// RUN: sutura-opt %s --expand-math | sutura-opt --verify-roundtrip -o /dev/null

// Large arguments are reduced only when a lane has one.
// CHECK-LABEL: func.func @vector(
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %{{.*}} : vector<16xi1> into i1
// CHECK: scf.if %[[ALL]] -> (vector<16xf32>, vector<16xi32>) {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } else {
// CHECK: arith.mului_extended
// CHECK: }
// CHECK-NOT: math.sin
// CHECK: return
func.func @vector(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.sin %x : vector<16xf32>
  return %y : vector<16xf32>
}

// CHECK-LABEL: func.func @matrix(
// CHECK: vector.shape_cast %{{.*}} : vector<3x5xi1> to vector<15xi1>
func.func @matrix(%x: vector<3x5xf32>) -> vector<3x5xf32> {
  %y = math.cos %x : vector<3x5xf32>
  return %y : vector<3x5xf32>
}

// CHECK-LABEL: func.func @scalar(
// CHECK-NOT: vector.reduction
// CHECK: scf.if
func.func @scalar(%x: f32) -> f32 {
  %y = math.tan %x : f32
  return %y : f32
}

// A shape that no reduction takes: both ways are computed.
// CHECK-LABEL: func.func @tensor(
// CHECK-NOT: scf.if
// CHECK: arith.mului_extended
// CHECK: return
func.func @tensor(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = math.sin %x : tensor<7xf32>
  return %y : tensor<7xf32>
}
