// RUN: sutura-opt %s --convert-gpu-to-fibers | FileCheck %s
// RUN: sutura-opt %s --convert-gpu-to-fibers="subgroup=64" | FileCheck %s --check-prefix=WAVE

// The description: kernels with their blocks and arrays, which lie 64 bytes apart; places with their number in the kernel.
// CHECK:      llvm.mlir.global external constant @sutura_fibers_abi(1 : i32)
// CHECK-NEXT: llvm.mlir.global external constant @sutura_fibers_kernels("{\22subgroup\22:32,\22kernels\22:[{
// CHECK-SAME: \22name\22:\22k\22,\22block\22:[64,2,1],\22arguments\22:4,\22shared_bytes\22:129,\22shared\22:[{{\[}}\22tile\22,0,128],[\22flag\22,192,1]]}
// CHECK-SAME: \22name\22:\22numbers\22
// CHECK-SAME: \22sites\22:[{{\[}}\22llvm.load\22,1,\22{{[^,]*}}convert.mlir\22,{{[0-9]+,[0-9]+}}],[\22llvm.store\22,1,
// CHECK-SAME: [\22gpu.barrier\22,1,
// CHECK-SAME: [\22llvm.load\22,2,
// CHECK-SAME: \00")
// WAVE:       \22subgroup\22:64,

// CHECK-LABEL: llvm.func @k(%arg0: !llvm.ptr, %arg1: !llvm.ptr) {
// Arguments that are used come first, then what is needed of the state.
// CHECK-NEXT:    %[[X:.*]] = llvm.load %arg1 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[AT:.*]] = llvm.getelementptr %arg1[16] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[WORD:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK-NEXT:    %[[BITS:.*]] = arith.trunci %[[WORD]] : i64 to i16
// CHECK-NEXT:    %[[H:.*]] = arith.bitcast %[[BITS]] : i16 to f16
// CHECK-NEXT:    %[[AT:.*]] = llvm.getelementptr %arg0[40] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[TY:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK-NEXT:    %[[INDEX:.*]] = arith.index_cast %[[TY]] : i64 to index
// CHECK-NEXT:    %[[AT:.*]] = llvm.getelementptr %arg0[16] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[CHECK:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[AT:.*]] = llvm.getelementptr %arg0[24] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK-NEXT:    %[[SHARED:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[BARRIER:.*]] = llvm.load %arg0 : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[I:.*]] = arith.index_cast %[[INDEX]] : index to i64
// Promises about addresses and memory are gone, and the check is just before the access.
// CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr %[[X]][%[[I]]] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xf16>
// CHECK-NEXT:    %[[ADDRESS:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr to i64
// CHECK-NEXT:    %[[BYTES:.*]] = arith.constant 8 : i32
// CHECK-NEXT:    %[[ALIGNMENT:.*]] = arith.constant 2 : i32
// CHECK-NEXT:    %[[SITE:.*]] = arith.constant 0 : i32
// CHECK-NEXT:    %[[KIND:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    llvm.call %[[CHECK]](%arg0, %[[ADDRESS]], %[[BYTES]], %[[ALIGNMENT]], %[[SITE]], %[[KIND]]) : !llvm.ptr, (!llvm.ptr, i64, i32, i32, i32, i32) -> ()
// CHECK-NEXT:    %[[V:.*]] = llvm.load %[[P]] {alignment = 2 : i64} : !llvm.ptr -> vector<4xf16>
// CHECK-NEXT:    %[[FLAG:.*]] = llvm.getelementptr %[[SHARED]][192] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         llvm.ptrtoint %[[FLAG]]
// CHECK-NEXT:    arith.constant 1 : i32
// CHECK-NEXT:    arith.constant 1 : i32
// CHECK-NEXT:    arith.constant 1 : i32
// CHECK-NEXT:    arith.constant 259 : i32
// CHECK-NEXT:    llvm.call %[[CHECK]]
// CHECK-NEXT:    llvm.store %{{.*}}, %[[FLAG]] : i1, !llvm.ptr
// CHECK-NEXT:    %[[SITE:.*]] = arith.constant 2 : i32
// CHECK-NEXT:    llvm.call %[[BARRIER]](%arg0, %[[SITE]]) : !llvm.ptr, (!llvm.ptr, i32) -> ()
// The first array has no offset; memory of any kind is space 0.
// CHECK-NEXT:    %[[SAME:.*]] = llvm.ptrtoint %[[SHARED]] : !llvm.ptr to i64
// CHECK-NEXT:    arith.constant 64 : i32
// CHECK-NEXT:    arith.constant 64 : i32
// CHECK-NEXT:    arith.constant 3 : i32
// CHECK-NEXT:    arith.constant 0 : i32
// CHECK-NEXT:    llvm.call %[[CHECK]](%arg0, %[[SAME]],
// CHECK-NEXT:    llvm.load %[[SHARED]] : !llvm.ptr -> vector<16xf32>
// CHECK:         llvm.return
gpu.module @m {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 64 : i64} : !llvm.array<32 x f32>
  llvm.mlir.global internal @unused() {addr_space = 3 : i32} : !llvm.array<1024 x f64>
  llvm.mlir.global internal @flag() {addr_space = 3 : i32, alignment = 4 : i64} : i1
  gpu.func @k(%x: !llvm.ptr<1>, %unused: i64, %h: f16, %none: index) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>, rt.groups_of_block = 1 : i64} {
    %t = gpu.thread_id y
    %i = arith.index_cast %t : index to i64
    %p = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf16>
    %v = llvm.load %p invariant dereferenceable<bytes = 64> {alignment = 2 : i64} : !llvm.ptr<1> -> vector<4xf16>
    %flag = llvm.mlir.addressof @flag : !llvm.ptr<3>
    %e = vector.extract %v[0] : f16 from vector<4xf16>
    %c = arith.cmpf olt, %e, %h : f16
    llvm.store %c, %flag : i1, !llvm.ptr<3>
    gpu.barrier
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %any = llvm.addrspacecast %tile : !llvm.ptr<3> to !llvm.ptr
    %w = llvm.load %any : !llvm.ptr -> vector<16xf32>
    gpu.return
  }

  // Sizes are constants, places are words of the state, each read once.
  // CHECK-LABEL: llvm.func @numbers(
  // CHECK:         llvm.getelementptr %arg0[88]
  // CHECK-NOT:     llvm.getelementptr %arg0[88]
  // CHECK:         llvm.getelementptr %arg0[104]
  // CHECK:         llvm.getelementptr %arg0[112]
  // CHECK:         arith.constant 128 : index
  // CHECK:         arith.constant 32 : index
  // CHECK:         %[[SHUFFLE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
  // WAVE-LABEL:  llvm.func @numbers(
  // WAVE:          arith.constant 64 : index
  // CHECK:         %[[SITE:.*]] = arith.constant 4 : i32
  // CHECK-NEXT:    %[[MODE:.*]] = arith.constant 2 : i32
  // CHECK-NEXT:    %[[BITS:.*]] = arith.bitcast %{{.*}} : bf16 to i16
  // CHECK-NEXT:    %[[WORD:.*]] = arith.extui %[[BITS]] : i16 to i64
  // CHECK-NEXT:    %[[BOTH:.*]] = llvm.call %[[SHUFFLE]](%arg0, %[[SITE]], %[[MODE]], %[[WORD]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32, i32, i64, i32, i32) -> !llvm.struct<(i64, i64)>
  // CHECK-NEXT:    %[[FIRST:.*]] = llvm.extractvalue %[[BOTH]][0]
  // CHECK-NEXT:    %[[SECOND:.*]] = llvm.extractvalue %[[BOTH]][1]
  // CHECK-NEXT:    %[[BITS:.*]] = arith.trunci %[[FIRST]] : i64 to i16
  // CHECK-NEXT:    arith.bitcast %[[BITS]] : i16 to bf16
  // CHECK-NEXT:    arith.trunci %[[SECOND]] : i64 to i1
  gpu.func @numbers(%v: bf16, %y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %g0 = gpu.grid_dim y
    %g1 = gpu.grid_dim y
    %l = gpu.lane_id
    %s = gpu.subgroup_id : index
    %d = gpu.block_dim x
    %z = gpu.subgroup_size : index
    %o = arith.constant 1 : i32
    %w = arith.constant 16 : i32
    %r, %ok = gpu.shuffle down %v, %o, %w : bf16
    gpu.return
  }

  // Nothing is asked of the state where nothing is needed; a kernel may have several blocks.
  // CHECK-LABEL: llvm.func @empty(
  // CHECK-NEXT:    llvm.return
  // CHECK-LABEL: llvm.func @loop(
  // CHECK:         cf.br ^[[LOOP:.*]](%{{.*}} : index)
  // CHECK:       ^[[LOOP]](%{{.*}}: index):
  // CHECK:         llvm.call
  // CHECK:         cf.cond_br
  // CHECK:         llvm.return
  gpu.func @empty() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
  gpu.func @loop(%n: index) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    cf.br ^loop(%zero : index)
  ^loop(%i: index):
    gpu.barrier
    %next = arith.addi %i, %one : index
    %more = arith.cmpi slt, %next, %n : index
    cf.cond_br %more, ^loop(%next : index), ^end
  ^end:
    gpu.return
  }
}

// Host code stays, and addresses in vectors become plain.
// CHECK-LABEL: llvm.func @gather(
// CHECK:         vector.from_elements %{{.*}}, %{{.*}} : vector<2x!llvm.ptr>
gpu.module @other {
  gpu.func @gather(%x: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %v = vector.from_elements %x, %x : vector<2x!llvm.ptr<1>>
    %p = vector.extract %v[1] : !llvm.ptr<1> from vector<2x!llvm.ptr<1>>
    %q = llvm.load %p : !llvm.ptr<1> -> !llvm.ptr<1>
    gpu.return
  }
}

// An atomic access is announced, as a read, and stays one.
// CHECK-LABEL: llvm.func @count(
// CHECK:         llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c8_i32{{.*}}, %c8_i32{{.*}}, %{{.*}}, %c1_i32{{.*}}) :
// CHECK-NEXT:    llvm.atomicrmw umin %{{.*}}, %{{.*}} monotonic {alignment = 8 : i64} : !llvm.ptr, i64
gpu.module @counts {
  gpu.func @count(%x: !llvm.ptr<1>, %n: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %old = llvm.atomicrmw umin %x, %n monotonic {alignment = 8 : i64} : !llvm.ptr<1>, i64
    gpu.return
  }
}
// CHECK-LABEL: func.func @host(
func.func @host() {
  return
}
