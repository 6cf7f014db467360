// What is refused, with upstream's messages.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

#m0 = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x7xf32>) {
  // expected-error@+1 {{expected an indexing map for each vector operand}}
  %0 = vector.contract {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
  return
}

// -----

#m0 = affine_map<(d0, d1, d2) -> (d0, d2)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#m2 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @f(%a: vector<4x3xf32>, %b: vector<5x7xf32>, %c: vector<4x7xf32>) {
  // expected-error@+1 {{invalid contracting dimension map}}
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x3xf32>, vector<5x7xf32> into vector<4x7xf32>
  return
}

// -----

#m0 = affine_map<(d0, d1, d2) -> (d0, d2)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#m2 = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @f(%a: vector<4x3xf32>, %b: vector<3x7xf32>, %c: vector<4x8xf32>) {
  // expected-error@+1 {{invalid accumulator/result vector shape, expected: 'vector<4x7xf32>'}}
  %0 = vector.contract {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x8xf32>
  return
}

// -----

func.func @f(%v: vector<4x8xf32>, %x: vector<8xf32>) {
  // expected-error@+1 {{destination type 'vector<8xf32>' is incompatible with source type 'vector<4x8xf32>'}}
  %0 = vector.multi_reduction <add>, %v, %x [1] : vector<4x8xf32> to vector<8xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %i: index, %n: vector<8xi32>, %k: vector<8xi1>, %p: vector<16xf32>) {
  // expected-error@+1 {{expected result dim to match indices dim}}
  %0 = vector.gather %m[%i] [%n], %k, %p : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<16xf32> into vector<16xf32>
  return
}

// -----

func.func @f(%m: memref<?xf32>, %n: vector<8xi32>, %k: vector<8xi1>, %p: vector<8xf32>) {
  // expected-error@+1 {{requires 1 indices}}
  vector.scatter %m[] [%n], %k, %p : memref<?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
  return
}

// -----

func.func @f(%v: vector<3xf32>) {
  // expected-error@+1 {{the trailing dimension of the source vector has an even number of elements}}
  %0, %1 = vector.deinterleave %v : vector<3xf32> -> vector<1xf32>
  return
}

// -----

func.func @f(%m: vector<8xi1>, %a: f32) {
  // expected-error@+1 {{expects only one operation to mask}}
  vector.mask %m {
    %0 = arith.addf %a, %a : f32
    %1 = arith.addf %a, %a : f32
    vector.yield
  } : vector<8xi1>
  return
}

// -----

func.func @more_dimensions_than_memory(%m: memref<f32>, %x: f32) {
  // expected-error@+1 {{expected a custom permutation_map when rank(source) != rank(destination)}}
  %0 = vector.transfer_read %m[], %x : memref<f32>, vector<1xf32>
  return
}
