// RUN: sutura-opt %s --split-input-file --verify-diagnostics

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.fence' op can be given only acquire, release, acq_rel, and seq_cst orderings}}
  llvm.fence monotonic
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.atomicrmw' op expected LLVM IR floating point type}}
  %0 = llvm.atomicrmw fadd %p, %i monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.atomicrmw' op expected LLVM IR integer type}}
  %0 = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr, f32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.atomicrmw' op expected LLVM IR integer type}}
  %0 = llvm.atomicrmw add %p, %w monotonic : !llvm.ptr, i37
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.atomicrmw' op unexpected LLVM IR type for 'xchg' bin_op}}
  %0 = llvm.atomicrmw xchg %p, %o monotonic : !llvm.ptr, i1
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.atomicrmw' op expected at least 'monotonic' ordering}}
  %0 = llvm.atomicrmw add %p, %i unordered : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{but found 'umox'}}
  %0 = llvm.atomicrmw umox %p, %i monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.cmpxchg' op ordering must be at least 'monotonic'}}
  %0 = llvm.cmpxchg %p, %i, %i unordered monotonic : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.cmpxchg' op failure ordering cannot be 'release' or 'acq_rel'}}
  %0 = llvm.cmpxchg %p, %i, %i seq_cst acq_rel : !llvm.ptr, i32
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.cmpxchg' op unexpected LLVM IR type}}
  %0 = llvm.cmpxchg %p, %o, %o seq_cst monotonic : !llvm.ptr, i1
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.cmpxchg' op failed to verify that result #0 has an LLVM struct type consisting of the type of operand #2 and a bool}}
  %0 = "llvm.cmpxchg"(%p, %i, %i) <{failure_ordering = 2 : i64, success_ordering = 6 : i64}> : (!llvm.ptr, i32, i32) -> !llvm.struct<(i64, i1)>
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{'llvm.intr.memset.inline' op requires attribute 'len'}}
  "llvm.intr.memset.inline"(%p, %b) <{isVolatile = false}> : (!llvm.ptr, i8) -> ()
  llvm.return
}

// -----

llvm.func @f(%p: !llvm.ptr, %i: i32, %x: f32, %b: i8, %o: i1, %w: i37) {
  // expected-error@+1 {{operand #1 must be 8-bit signless integer, but got 'i32'}}
  "llvm.intr.memset.inline"(%p, %i) <{isVolatile = false, len = 10 : i64}> : (!llvm.ptr, i32) -> ()
  llvm.return
}
