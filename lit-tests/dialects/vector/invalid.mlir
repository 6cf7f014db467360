// Shapes, positions and masks that do not fit.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.broadcast' op dimension mismatch (4 vs. 3)}}
  %0 = vector.broadcast %v : vector<4xf32> to vector<2x3xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.broadcast' op source rank higher than destination rank}}
  %0 = vector.broadcast %w : vector<2x4xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.shape_cast' op has different number of elements at source (8) and result (4)}}
  %0 = vector.shape_cast %w : vector<2x4xf32> to vector<4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.extract' op expected position attribute of rank no greater than vector rank}}
  %0 = vector.extract %w[0, 1, 2] : f32 from vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.extract' op expected position attribute #1 to be a non-negative integer smaller than the corresponding vector dimension or poison (-1)}}
  %0 = vector.extract %w[2] : vector<4xf32> from vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.extract' op inferred type(s) 'vector<4xf32>' are incompatible with return type(s) of operation 'vector<2xf32>'}}
  %0 = vector.extract %w[1] : vector<2xf32> from vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.insert' op expected position attribute rank + source rank to match dest vector rank}}
  %0 = vector.insert %v, %w[1, 2] : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.insert' op expected position attribute #1 to be a non-negative integer smaller than the corresponding dest vector dimension}}
  %0 = vector.insert %v, %w[3] : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.reduction' op unsupported reduction type 'f32' for kind 'and'}}
  %0 = vector.reduction <and>, %v : vector<4xf32> into f32
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.transpose' op duplicate position index: 0}}
  %0 = vector.transpose %w, [0, 0] : vector<2x4xf32> to vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.transpose' op dimension size mismatch at: 1}}
  %0 = vector.transpose %w, [1, 0] : vector<2x4xf32> to vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.shuffle' op mask index #2 out of range}}
  %0 = vector.shuffle %v, %v [0, 9] : vector<4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index) {
  // expected-error@+1 {{'vector.load' op requires 2 indices}}
  %0 = vector.load %m[%i] : memref<?x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index) {
  // expected-error@+1 {{'vector.load' op base and result element types should match}}
  %0 = vector.load %m[%i, %i] : memref<?x4xf32>, vector<4xf64>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %k: vector<3xi1>) {
  // expected-error@+1 {{'vector.maskedload' op expected result shape to match mask shape}}
  %0 = vector.maskedload %m[%i, %i], %k, %v : memref<?x4xf32>, vector<3xi1>, vector<4xf32> into vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %k: vector<3xi1>) {
  // expected-error@+1 {{'vector.create_mask' op must specify an operand for each result vector dimension}}
  %0 = vector.create_mask %i, %i : vector<3xi1>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %k: vector<3xi1>) {
  // expected-error@+1 {{'vector.constant_mask' op array attr of size out of bounds of vector result dimension size}}
  %0 = vector.constant_mask [5] : vector<3xi1>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %k: vector<3xi1>) {
  // expected-error@+1 {{'vector.constant_mask' op must specify array attr of size equal vector result rank}}
  %0 = vector.constant_mask [1, 2] : vector<3xi1>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %x: f32) {
  // expected-error@+1 {{'vector.transfer_read' op requires 2 indices}}
  %0 = vector.transfer_read %m[%i], %x : memref<?x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %x: f64) {
  // expected-error@+1 {{'vector.transfer_read' op requires formal padding and source of the same elemental type}}
  %0 = "vector.transfer_read"(%m, %i, %i, %x) <{in_bounds = [true], operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = affine_map<(d0, d1) -> (d1)>}> : (memref<?x4xf32>, index, index, f64) -> vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %x: f32) {
  // expected-error@+1 {{'vector.transfer_read' op expects the in_bounds attr of same rank as permutation_map results: affine_map<(d0, d1) -> (d1)> vs inBounds of size: 2}}
  %0 = vector.transfer_read %m[%i, %i], %x {in_bounds = [true, false]} : memref<?x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%m: memref<?x4xf32>, %v: vector<4xf32>, %i : index, %x: f32) {
  // expected-error@+1 {{'vector.transfer_read' op requires a permutation_map with input dims of the same rank as the source type}}
  %0 = vector.transfer_read %m[%i, %i], %x {permutation_map = affine_map<(d0)->(d0)>} : memref<?x4xf32>, vector<4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.insert_strided_slice' op expected sum(offsets, source vector shape) dimension 1 to be confined to [1, 5)}}
  %0 = vector.insert_strided_slice %v, %w {offsets = [0, 2], strides = [1]} : vector<4xf32> into vector<2x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.extract_strided_slice' op expected sum(offsets, sizes) dimension 1 to be confined to [1, 5)}}
  %0 = vector.extract_strided_slice %w {offsets = [0, 2], strides = [1, 1], sizes = [1, 4]} : vector<2x4xf32> to vector<1x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2x4xf32>) {
  // expected-error@+1 {{'vector.extract_strided_slice' op expected result type to be 'vector<1x2xf32>'}}
  %0 = vector.extract_strided_slice %w {offsets = [0, 2], strides = [1, 1], sizes = [1, 2]} : vector<2x4xf32> to vector<1x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>, %w: vector<2xf32>, %a: vector<2x4xf32>) {
  %0 = vector.outerproduct %w, %v, %a {kind = #vector.kind<add>} : vector<2xf32>, vector<4xf32>
  %1 = vector.outerproduct %w, %v, %a {kind = #vector.kind<maxnumf>} : vector<2xf32>, vector<4xf32>
  %2 = vector.outerproduct %w, %v : vector<2xf32>, vector<4xf32>
  %3 = vector.bitcast %w : vector<2xf32> to vector<4xf16>
  // expected-error@+1 {{'vector.bitcast' op source/result bitwidth of the minor 1-D vectors must be equal}}
  %4 = vector.bitcast %w : vector<2xf32> to vector<2xf16>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %p: f32) {
  // expected-error@+1 {{'vector.transfer_read' op requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the source element type}}
  %0 = vector.transfer_read %m[%i], %p : memref<?xf32>, vector<7xi16>
  return
}

// -----

func.func @f(%m: memref<?xvector<4x3xf32>>, %i: index, %p: vector<4x3xf32>) {
  // expected-error@+1 {{'vector.transfer_read' op requires the bitwidth of the minor 1-D vector to be an integral multiple of the bitwidth of the minor 1-D vector of the source}}
  %0 = "vector.transfer_read"(%m, %i, %p) <{in_bounds = [false], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : (memref<?xvector<4x3xf32>>, index, vector<4x3xf32>) -> vector<8x4x5xf32>
  return
}

// -----

func.func @f(%m: memref<?xvector<4x3xf32>>, %i: index, %p: vector<4x3xf32>) {
  // expected-error@+1 {{'vector.transfer_read' op requires source vector element and vector result ranks to match.}}
  %0 = "vector.transfer_read"(%m, %i, %p) <{in_bounds = [], operandSegmentSizes = array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> ()>}> : (memref<?xvector<4x3xf32>>, index, vector<4x3xf32>) -> vector<3xf32>
  return
}

// -----

// The verifier holds results to the types that an operation infers; an element may be a vector of one, not of none.

func.func @f(%v: vector<4xf32>) {
  %0 = vector.extract %v[0] : vector<1xf32> from vector<4xf32>
  // expected-error@+1 {{expected a scalar instead of a 0-d vector as the result type}}
  %1 = vector.extract %v[0] : vector<f32> from vector<4xf32>
  return
}

// -----

func.func @f(%v: vector<1x4xf32>) {
  // expected-error@+1 {{'vector.extract' op inferred type(s) 'vector<1x4xf32>' are incompatible with return type(s) of operation 'f32'}}
  %0 = vector.extract %v[] : f32 from vector<1x4xf32>
  return
}

// -----

func.func @f(%v: vector<4xi32>) {
  // expected-error@+1 {{'vector.to_elements' op failed to verify that shaped type 'source' matches 'elements' element count and types}}
  %0:3 = "vector.to_elements"(%v) : (vector<4xi32>) -> (i32, i32, i32)
  return
}

// -----

func.func @f(%v: vector<4xi32>) {
  // expected-error@+1 {{'vector.shuffle' op mask length mismatch}}
  %0 = "vector.shuffle"(%v, %v) <{mask = array<i64: 0, 1>}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
  return
}
