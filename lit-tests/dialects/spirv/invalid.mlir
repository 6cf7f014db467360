// What is refused.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

spirv.module Logical GLSL450 {
  // expected-error@+1 {{cannot have more than one result}}
  spirv.func @f() -> (i32, i32) "None"
}

// -----

spirv.module Logical GLSL450 {
  // expected-error@+1 {{expected None or some of Inline, DontInline, Pure, Const, OptNoneINTEL, joined by '|'}}
  spirv.func @f() "Always" {
    spirv.Return
  }
}

// -----

// expected-error@+1 {{'Flat' is no addressing model}}
spirv.module Flat GLSL450 {
}

// -----

// expected-error@+1 {{expected a version: one of v1.0, v1.1, v1.2, v1.3, v1.4, v1.5, v1.6}}
spirv.module Logical GLSL450 requires #spirv.vce<v2.0, [Shader], []> {
}

// -----

spirv.module Logical GLSL450 {
  // expected-error@+1 {{is no operation of the spirv dialect, but inside 'spirv.module'}}
  llvm.mlir.global internal @g() : i32
}

// -----

spirv.module Logical GLSL450 {
  // expected-error@+1 {{must have a SPIR-V pointer type, not 'f32'}}
  spirv.GlobalVariable @v : f32
}

// -----

// expected-error@+1 {{unknown storage class 'Nowhere'}}
func.func private @f(!spirv.ptr<f32, Nowhere>)

// -----

// expected-error@+1 {{offset specification must be given for all members}}
func.func @f(%p: !spirv.struct<(f32 [0], i32)>) {
  return
}

// -----

// expected-error@+1 {{a struct with a name is not supported}}
func.func private @f(!spirv.struct<s, (f32)>)

// -----

// expected-error@+1 {{an array has at least one element}}
func.func @f(%p: !spirv.array<0 x f32>) {
  return
}

// -----

// expected-error@+1 {{a stride is above zero; leave it out where there is none}}
func.func private @f(!spirv.rtarray<f32, stride=0>)

// -----

func.func @f(%p: !spirv.ptr<f32, PhysicalStorageBuffer>) {
  // expected-error@+1 {{is 'Aligned' without an alignment}}
  %0 = spirv.Load "PhysicalStorageBuffer" %p ["Aligned"] : f32
  return
}

// -----

func.func @f(%p: !spirv.ptr<f32, PhysicalStorageBuffer>) {
  // expected-error@+1 {{has an alignment that is no power of two: 6}}
  %0 = spirv.Load "PhysicalStorageBuffer" %p ["Aligned", 6] : f32
  return
}

// -----

func.func @f(%p: !spirv.ptr<f32, Workgroup>, %x: i32) {
  // expected-error@+1 {{accesses 'i32' through a pointer to 'f32'}}
  "spirv.Store"(%p, %x) : (!spirv.ptr<f32, Workgroup>, i32) -> ()
  return
}

// -----

func.func @f(%p: !spirv.ptr<!spirv.struct<(f32, i32)>, Workgroup>, %i: i32) {
  // expected-error@+1 {{index does not lead into '!spirv.struct<(f32, i32)>'}}
  %0 = spirv.AccessChain %p[%i] : !spirv.ptr<!spirv.struct<(f32, i32)>, Workgroup>, i32 -> !spirv.ptr<f32, Workgroup>
  return
}

// -----

func.func @f(%p: !spirv.ptr<!spirv.array<4 x f32>, Workgroup>, %i: i32) {
  // expected-error@+1 {{leads to '!spirv.ptr<f32, Workgroup>'}}
  %0 = spirv.AccessChain %p[%i] : !spirv.ptr<!spirv.array<4 x f32>, Workgroup>, i32 -> !spirv.ptr<i32, Workgroup>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{has 2 elements, but its type has 3}}
  %0 = spirv.Constant [1 : i32, 2 : i32] : !spirv.array<3 x i32>
  return
}

// -----

func.func @f(%v: vector<4xf32>) {
  // expected-error@+1 {{index 4 out of bounds for 'vector<4xf32>'}}
  %0 = spirv.CompositeExtract %v[4 : i32] : vector<4xf32>
  return
}

// -----

func.func @f(%v: vector<4xf32>) {
  // expected-error@+1 {{has component 8, but its vectors have 8 elements}}
  %0 = spirv.VectorShuffle [0 : i32, 8 : i32] %v, %v : vector<4xf32>, vector<4xf32> -> vector<2xf32>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{has 2 parts for 3 elements}}
  %0 = spirv.CompositeConstruct %x, %x : (f32, f32) -> vector<3xf32>
  return
}

// -----

func.func @f(%x: i32) {
  // expected-error@+1 {{must return a struct of two 'i32'}}
  %0 = spirv.UMulExtended %x, %x : !spirv.struct<(i32, f32)>
  return
}

// -----

func.func @f(%c: vector<2xi1>, %x: vector<4xf32>) {
  // expected-error@+1 {{has a vector of conditions for values of another shape}}
  %0 = spirv.Select %c, %x, %x : vector<2xi1>, vector<4xf32>
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{must have a last block that ends in 'spirv.mlir.merge'}}
  spirv.mlir.selection {
    spirv.Branch ^bb1
  ^bb1:
    spirv.Unreachable
  }
  return
}

// -----

func.func @f(%c: i1, %x: f32) {
  %0 = spirv.mlir.selection -> f32 {
    spirv.Branch ^bb1
  ^bb1:
    // expected-error@+1 {{must hand over values of the types that the operation returns}}
    spirv.mlir.merge
  }
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{must have a last block but one that only goes back to the header}}
  spirv.mlir.loop {
    spirv.Branch ^bb1
  ^bb1:
    spirv.BranchConditional %c, ^bb2, ^bb3
  ^bb2:
    spirv.Branch ^bb3
  ^bb3:
    spirv.mlir.merge
  }
  return
}

// -----

func.func @f(%c: i1) {
  // expected-error@+1 {{must have an entry block, a header, a block that goes on, and a merge block}}
  spirv.mlir.loop {
    spirv.Branch ^bb1
  ^bb1:
    spirv.mlir.merge
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{must be of storage class 'Function'}}
  %0 = spirv.Variable : !spirv.ptr<f32, Workgroup>
  return
}

// -----

spirv.module PhysicalStorageBuffer64 GLSL450 {
  spirv.func @f(%p: i64) "None" {
    // expected-error@+1 {{expected a pointer type of SPIR-V}}
    %0 = spirv.AtomicUMin <Device> <None> %p, %p : i64
    spirv.Return
  }
}

// -----

spirv.module PhysicalStorageBuffer64 GLSL450 {
  spirv.func @f(%n: i64, %x: i32) "None" {
    %p = spirv.ConvertUToPtr %n : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
    // expected-error@+1 {{has a value of 'i32' for a pointer to 'i64'}}
    %0 = "spirv.AtomicUMin"(%p, %x) <{memory_scope = #spirv.scope<Device>, semantics = #spirv.memory_semantics<None>}> : (!spirv.ptr<i64, PhysicalStorageBuffer>, i32) -> i64
    spirv.Return
  }
}
