// Elements are taken from where they come from; what only rearranges is done once.
// RUN: sutura-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @extract(
// CHECK-DAG:   %[[A:.*]] = vector.extract %v[1, 2] : f32 from vector<2x4xf32>
// CHECK-DAG:   %[[B:.*]] = vector.extract %v[1, 3] : f32 from vector<2x4xf32>
// CHECK-DAG:   %[[C:.*]] = vector.extract %w[3] : f32 from vector<4xf32>
// CHECK-DAG:   %[[D:.*]] = vector.extract %v[0, 3] : f32 from vector<2x4xf32>
// CHECK:       return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @extract(%v: vector<2x4xf32>, %w: vector<4xf32>) -> (f32, f32, f32, f32) {
  %c2 = arith.constant 2 : index
  %row = vector.extract %v[1] : vector<4xf32> from vector<2x4xf32>
  %0 = vector.extract %row[%c2] : f32 from vector<4xf32>
  %t = vector.transpose %v, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %1 = vector.extract %t[3, 1] : f32 from vector<4x2xf32>
  %i = vector.insert %w, %v [1] : vector<4xf32> into vector<2x4xf32>
  %2 = vector.extract %i[1, 3] : f32 from vector<2x4xf32>
  %3 = vector.extract %i[0, 3] : f32 from vector<2x4xf32>
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// Where an index is not known, what is taken may have been inserted; outside the vector nothing is known.
// CHECK-LABEL: func.func @extract_unknown(
// CHECK:       vector.insert
// CHECK:       vector.extract %{{.*}}[1]
// CHECK:       vector.extract %w[%c9]
func.func @extract_unknown(%w: vector<4xf32>, %x: f32, %n: index) -> (f32, f32) {
  %c9 = arith.constant 9 : index
  %i = vector.insert %x, %w [%n] : f32 into vector<4xf32>
  %0 = vector.extract %i[1] : f32 from vector<4xf32>
  %1 = vector.extract %w[%c9] : f32 from vector<4xf32>
  return %0, %1 : f32, f32
}

// CHECK-LABEL: func.func @broadcast(
// CHECK-DAG:   %[[A:.*]] = vector.broadcast %x : f32 to vector<4xf32>
// CHECK-DAG:   %[[B:.*]] = vector.broadcast %x : f32 to vector<4x2xf32>
// CHECK-DAG:   %[[C:.*]] = vector.extract %w[0] : f32 from vector<1xf32>
// CHECK:       return %[[A]], %[[B]], %[[C]]
func.func @broadcast(%x: f32, %w: vector<1xf32>) -> (vector<4xf32>, vector<4x2xf32>, f32) {
  %row = vector.broadcast %x : f32 to vector<4xf32>
  %all = vector.broadcast %row : vector<4xf32> to vector<2x4xf32>
  %0 = vector.extract %all[1] : vector<4xf32> from vector<2x4xf32>
  %1 = vector.transpose %all, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %wide = vector.broadcast %w : vector<1xf32> to vector<2x4xf32>
  %2 = vector.extract %wide[1, 3] : f32 from vector<2x4xf32>
  return %0, %1, %2 : vector<4xf32>, vector<4x2xf32>, f32
}

// CHECK-LABEL: func.func @constants(
// CHECK-DAG:   %[[A:.*]] = arith.constant dense<[3, 4]> : vector<2xi32>
// CHECK-DAG:   %[[B:.*]] = arith.constant dense<[1, 7, 3, 4]> : vector<4xi32>
// CHECK-DAG:   %[[C:.*]] = arith.constant dense<[4, 1]> : vector<2xi32>
// CHECK-DAG:   %[[D:.*]] = arith.constant dense<[2, 3]> : vector<2xi32>
// CHECK-DAG:   %[[E:.*]] = arith.constant dense<[1, 3, 4, 4]> : vector<4xi32>
// CHECK:       return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
func.func @constants() -> (vector<2xi32>, vector<4xi32>, vector<2xi32>, vector<2xi32>, vector<4xi32>) {
  %m = arith.constant dense<[[1, 2], [3, 4]]> : vector<2x2xi32>
  %v = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %x = arith.constant 7 : i32
  %0 = vector.extract %m[1] : vector<2xi32> from vector<2x2xi32>
  %1 = vector.insert %x, %v [1] : i32 into vector<4xi32>
  %2 = vector.shuffle %v, %v [3, 4] : vector<4xi32>, vector<4xi32>
  %3 = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<4xi32> to vector<2xi32>
  %4 = vector.insert_strided_slice %0, %v {offsets = [1], strides = [1]} : vector<2xi32> into vector<4xi32>
  return %0, %1, %2, %3, %4 : vector<2xi32>, vector<4xi32>, vector<2xi32>, vector<2xi32>, vector<4xi32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-NEXT:  %[[A:.*]] = vector.insert %y, %w [2] : f32 into vector<4xf32>
// CHECK-NEXT:  %[[B:.*]] = vector.extract_strided_slice %w {offsets = [2], sizes = [1], strides = [1]}
// CHECK-NEXT:  return %[[A]], %[[B]], %w, %w
func.func @twice(%w: vector<4xf32>, %x: f32, %y: f32) -> (vector<4xf32>, vector<1xf32>, vector<4xf32>, vector<4xf32>) {
  %i = vector.insert %x, %w [2] : f32 into vector<4xf32>
  %0 = vector.insert %y, %i [2] : f32 into vector<4xf32>
  %s = vector.extract_strided_slice %w {offsets = [1], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %1 = vector.extract_strided_slice %s {offsets = [1], sizes = [1], strides = [1]} : vector<2xf32> to vector<1xf32>
  %2 = vector.insert_strided_slice %s, %w {offsets = [1], strides = [1]} : vector<2xf32> into vector<4xf32>
  %3 = vector.shuffle %0, %w [4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
  return %0, %1, %2, %3 : vector<4xf32>, vector<1xf32>, vector<4xf32>, vector<4xf32>
}
