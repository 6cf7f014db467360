// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @mask_lanes(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<8xf32>) {
  // expected-error @+1 {{'llvm.intr.masked.load' op the mask 'vector<4xi1>' must have as many elements as 'vector<8xf32>'}}
  %0 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<8xf32>) -> vector<8xf32>
  return
}

// -----

func.func @scalable_mask(%p: !llvm.ptr, %m: vector<[4]xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{the mask 'vector<[4]xi1>' must have as many elements as 'vector<4xf32>'}}
  llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<4xf32>, vector<[4]xi1> into !llvm.ptr
  return
}

// -----

func.func @pass_thru(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xi32>) {
  // expected-error @+1 {{pass_thru has type 'vector<4xi32>', the result 'vector<4xf32>'}}
  %0 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xi32>) -> vector<4xf32>
  return
}

// -----

func.func @alignment(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{alignment must be a power of two, not 3}}
  llvm.intr.masked.store %v, %p, %m {alignment = 3 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  return
}

// -----

func.func @no_alignment(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{requires attribute 'alignment'}}
  llvm.intr.masked.store %v, %p, %m : vector<4xf32>, vector<4xi1> into !llvm.ptr
  return
}

// -----

func.func @pointers(%ps: vector<2x!llvm.ptr>, %m: vector<4xi1>) {
  // expected-error @+1 {{the vector of pointers 'vector<2x!llvm.ptr>' must have as many elements as 'vector<4xf32>'}}
  %0 = llvm.intr.masked.gather %ps, %m {alignment = 4 : i32} : (vector<2x!llvm.ptr>, vector<4xi1>) -> vector<4xf32>
  return
}

// -----

func.func @one_pointer(%p: !llvm.ptr, %m: vector<4xi1>, %v: vector<4xf32>) {
  // expected-error @+1 {{must be LLVM dialect-compatible vector of LLVM pointer type, but got '!llvm.ptr'}}
  llvm.intr.masked.scatter %v, %p, %m {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr
  return
}

// -----

func.func @two_dimensions(%p: !llvm.ptr, %m: vector<2x2xi1>) {
  // expected-error @+1 {{accesses a vector of one dimension, not 'vector<2x2xf32>'}}
  %0 = llvm.intr.masked.load %p, %m {alignment = 4 : i32} : (!llvm.ptr, vector<2x2xi1>) -> vector<2x2xf32>
  return
}

// -----

func.func @shuffle_outside(%v: vector<4xf32>) {
  // expected-error @+1 {{mask has an index outside of [-1, 8)}}
  %0 = llvm.shufflevector %v, %v [0, 8] : vector<4xf32>
  return
}

// -----

func.func @shuffle_result(%v: vector<4xf32>) {
  // expected-error @+1 {{inferred type(s) 'vector<2xf32>' are incompatible with return type(s) of operation 'vector<4xf32>'}}
  %0 = "llvm.shufflevector"(%v, %v) <{mask = array<i32: 0, 1>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

func.func @extract(%v: vector<4xf32>, %i: i32) {
  // expected-error @+1 {{result type matches vector element type}}
  %0 = "llvm.extractelement"(%v, %i) : (vector<4xf32>, i32) -> f64
  return
}

// -----

func.func @insert(%v: vector<4xf32>, %x: f64, %i: i32) {
  // expected-error @+1 {{argument type matches vector element type}}
  %0 = "llvm.insertelement"(%v, %x, %i) : (vector<4xf32>, f64, i32) -> vector<4xf32>
  return
}

// -----

func.func @overflow(%i: i32) {
  // expected-error @+1 {{the result must be '!llvm.struct<(i32, i1)>'}}
  %0 = "llvm.intr.sadd.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i8)>
  return
}

// -----

func.func @types_differ(%x: f32, %y: f64) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "llvm.intr.maximum"(%x, %y) : (f32, f64) -> f32
  return
}

// -----

func.func @near(%p: !llvm.ptr) {
  // expected-error @+1 {{'hint' is 0 to 3, not 4}}
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 4 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  return
}

// -----

// expected-error@+1 {{requires an i8 array type of the length equal to that of the string attribute}}
"llvm.mlir.global"() <{addr_space = 0 : i32, constant, global_type = !llvm.array<3 x i8>, linkage = #llvm.linkage<internal>, sym_name = "longer", value = "ab"}> ({
}) : () -> ()

// -----

// expected-error@+1 {{requires an i8 array type of the length equal to that of the string attribute}}
"llvm.mlir.global"() <{addr_space = 0 : i32, global_type = i16, linkage = #llvm.linkage<internal>, sym_name = "number", value = "ab"}> ({
}) : () -> ()
