// What is refused.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

llvm.func @k(%x: f32, %i: i32) {
  // expected-error@+1 {{expected `bfly`, `up`, `down` or `idx`, found `xor`}}
  %0 = nvvm.shfl.sync xor %i, %x, %i, %i : f32 -> f32
  llvm.return
}

// -----

llvm.func @k(%x: f64, %i: i32) {
  // expected-error@+1 {{32-bit signless integer or 32-bit float}}
  %0 = nvvm.shfl.sync bfly %i, %x, %i, %i : f64 -> f64
  llvm.return
}

// -----

llvm.func @k(%x: f32, %i: i32) {
  // expected-error@+1 {{expected the result to have the value's type; with 'return_value_and_is_valid' a struct of it and i1}}
  %0 = nvvm.shfl.sync bfly %i, %x, %i, %i : f32 -> i32
  llvm.return
}

// -----

llvm.func @k(%x: f32, %i: i32) {
  // expected-error@+1 {{expected the result to have a struct of the value's type and i1, as 'return_value_and_is_valid' says}}
  %0 = nvvm.shfl.sync bfly %i, %x, %i, %i {return_value_and_is_valid} : f32 -> f32
  llvm.return
}

// -----

llvm.func @k() {
  // expected-error@+1 {{`sideways` is no case of `shfl_kind`}}
  nvvm.barrier0 {kind = #nvvm<shfl_kind sideways>}
  llvm.return
}

// -----

llvm.func @k() {
  // expected-error@+1 {{must be 32-bit signless integer}}
  %0 = nvvm.read.ptx.sreg.tid.x : i64
  llvm.return
}

// -----

llvm.func @k(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>) {
  // expected-error@+1 {{copies 8 bytes: 16, and with 'ca' also 4 or 8}}
  nvvm.cp.async.shared.global %to, %from, 8, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @k(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>) {
  // expected-error@+1 {{must be LLVM pointer in address space 3}}
  nvvm.cp.async.shared.global %from, %from, 16, cache = cg : !llvm.ptr<1>, !llvm.ptr<1>
  llvm.return
}

// -----

llvm.func @k(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>) {
  // expected-error@+1 {{expected `ca` or `cg`, found `cs`}}
  nvvm.cp.async.shared.global %to, %from, 16, cache = cs : !llvm.ptr<3>, !llvm.ptr<1>
  llvm.return
}
