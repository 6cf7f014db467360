// What is refused.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

llvm.func @k(%x: f32, %i: i32) {
  // expected-error@+1 {{must be 32-bit signless integer}}
  %0 = rocdl.ds_bpermute %i, %x : (i32, f32) -> i32
  llvm.return
}

// -----

llvm.func @k() {
  // expected-error@+1 {{must be 32-bit signless integer}}
  %0 = rocdl.workitem.id.x : index
  llvm.return
}
