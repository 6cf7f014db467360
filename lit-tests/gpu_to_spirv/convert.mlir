// RUN: sutura-opt %s --convert-gpu-to-spirv | FileCheck %s
// RUN: sutura-opt %s --convert-gpu-to-spirv=float-controls=false | FileCheck %s --check-prefix=PLAIN

// Arguments are read at the address in the push constants, buffers are accessed at numbers, and what is not contracted in
// the source is not contracted later.
// CHECK-LABEL: spirv.module @axpy PhysicalStorageBuffer64 GLSL450
// CHECK-SAME:    requires #spirv.vce<v1.5, [Int64, PhysicalStorageBufferAddresses, RoundingModeRTE, Shader, SignedZeroInfNanPreserve], []>
// CHECK-NEXT:    spirv.GlobalVariable @__push_constant__ : !spirv.ptr<!spirv.struct<(i64 [0]), Block>, PushConstant>
// CHECK-NEXT:    spirv.GlobalVariable @__builtin__LocalInvocationId__ built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
// CHECK-NEXT:    spirv.func @k() "None" {
// CHECK-DAG:       %[[C0:.*]] = spirv.Constant 0 : i32
// CHECK-DAG:       %[[C8:.*]] = spirv.Constant 8 : i64
// CHECK-DAG:       %[[C16:.*]] = spirv.Constant 16 : i64
// CHECK:           %[[PUSH:.*]] = spirv.mlir.addressof @__push_constant__
// CHECK-NEXT:      %[[MEMBER:.*]] = spirv.AccessChain %[[PUSH]][%[[C0]]]
// CHECK-NEXT:      %[[ARGS:.*]] = spirv.Load "PushConstant" %[[MEMBER]] : i64
// CHECK-NEXT:      %[[FIRST:.*]] = spirv.ConvertUToPtr %[[ARGS]] : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
// CHECK-NEXT:      %[[X:.*]] = spirv.Load "PhysicalStorageBuffer" %[[FIRST]] ["Aligned", 8] : i64
// CHECK-NEXT:      %[[AT:.*]] = spirv.IAdd %[[ARGS]], %[[C8]] : i64
// CHECK-NEXT:      %[[SECOND:.*]] = spirv.ConvertUToPtr %[[AT]] : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
// CHECK-NEXT:      %[[Y:.*]] = spirv.Load "PhysicalStorageBuffer" %[[SECOND]] ["Aligned", 8] : i64
// CHECK:           %[[T:.*]] = spirv.CompositeExtract %{{.*}}[0 : i32] : vector<3xi32>
// CHECK-NEXT:      %[[I:.*]] = spirv.UConvert %[[T]] : i32 to i64
// CHECK-NEXT:      %[[BYTES:.*]] = spirv.IMul %[[I]], %[[C16]] : i64
// CHECK-NEXT:      %[[P:.*]] = spirv.IAdd %[[X]], %[[BYTES]] : i64
// CHECK-NEXT:      %[[PTR:.*]] = spirv.ConvertUToPtr %[[P]] : i64 to !spirv.ptr<vector<4xf32>, PhysicalStorageBuffer>
// CHECK-NEXT:      %[[A:.*]] = spirv.Load "PhysicalStorageBuffer" %[[PTR]] ["Aligned", 16] : vector<4xf32>
// CHECK-NEXT:      %[[M:.*]] = spirv.FMul %[[A]], %[[A]] {no_contraction} : vector<4xf32>
// CHECK-NEXT:      %[[S:.*]] = spirv.FAdd %[[M]], %[[A]] : vector<4xf32>
// CHECK-NEXT:      %[[OUT:.*]] = spirv.ConvertUToPtr %[[Y]] : i64 to !spirv.ptr<vector<4xf32>, PhysicalStorageBuffer>
// CHECK-NEXT:      spirv.Store "PhysicalStorageBuffer" %[[OUT]], %[[S]] ["Aligned", 4] : vector<4xf32>
// CHECK-NEXT:      spirv.Return
// CHECK-NEXT:    }
// CHECK-NEXT:    spirv.EntryPoint "GLCompute" @k, @__push_constant__, @__builtin__LocalInvocationId__
// CHECK-NEXT:    spirv.ExecutionMode @k "LocalSize", 64, 2, 1
// CHECK-NEXT:    spirv.ExecutionMode @k "SignedZeroInfNanPreserve", 32
// CHECK-NEXT:    spirv.ExecutionMode @k "RoundingModeRTE", 32
// PLAIN-LABEL: spirv.module @axpy
// PLAIN-SAME:    [Int64, PhysicalStorageBufferAddresses, Shader]
// PLAIN:         spirv.ExecutionMode @k "LocalSize", 64, 2, 1
// PLAIN-NEXT:  }
gpu.module @axpy {
  gpu.func @k(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %unused: i64) kernel
      attributes {known_block_size = array<i32: 64, 2, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, vector<4xf32>
    %a = llvm.load %p : !llvm.ptr<1> -> vector<4xf32>
    %m = arith.mulf %a, %a : vector<4xf32>
    %s = arith.addf %m, %a fastmath<contract> : vector<4xf32>
    llvm.store %s, %y {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }
}

// What a workgroup shares is an array of scalars; a vector in it is accessed one by one, truth values are bytes.
// CHECK-LABEL: spirv.module @shared
// CHECK:         spirv.GlobalVariable @tile : !spirv.ptr<!spirv.array<32 x f32>, Workgroup>
// CHECK-NEXT:    spirv.GlobalVariable @flag : !spirv.ptr<!spirv.array<1 x i8>, Workgroup>
// CHECK:         spirv.func @k() "None" {
// CHECK-DAG:       %[[FOUR:.*]] = spirv.Constant 4 : i32
// CHECK-DAG:       %[[ONE:.*]] = spirv.Constant 1 : i32
// CHECK:           %[[NARROW:.*]] = spirv.SConvert %{{.*}} : i64 to i32
// CHECK-NEXT:      %[[ROW:.*]] = spirv.IMul %[[NARROW]], %[[FOUR]] : i32
// CHECK-NEXT:      %[[BASE:.*]] = spirv.mlir.addressof @tile
// CHECK-NEXT:      %[[CELL:.*]] = spirv.AccessChain %[[BASE]][%[[ROW]]]
// CHECK-SAME:        -> !spirv.ptr<f32, Workgroup>
// CHECK-NEXT:      %[[NEXT:.*]] = spirv.IAdd %[[ROW]], %[[ONE]] : i32
// CHECK:           %[[OTHER:.*]] = spirv.AccessChain %{{.*}}[%[[NEXT]]]
// CHECK:           %[[V0:.*]] = spirv.Load "Workgroup" %[[CELL]] : f32
// CHECK-NEXT:      %[[V1:.*]] = spirv.Load "Workgroup" %[[OTHER]] : f32
// CHECK-NEXT:      %[[V:.*]] = spirv.CompositeConstruct %[[V0]], %[[V1]] : (f32, f32) -> vector<2xf32>
// CHECK:           spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
// CHECK:           %[[BYTE:.*]] = spirv.Load "Workgroup" %{{.*}} : i8
// CHECK-NEXT:      spirv.INotEqual %[[BYTE]], %{{.*}} : i8
gpu.module @shared {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32} : !llvm.array<8 x array<4 x f32>>
  llvm.mlir.global internal @flag() {addr_space = 3 : i32} : i1
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i64
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %flag = llvm.mlir.addressof @flag : !llvm.ptr<3>
    %p = llvm.getelementptr %tile[0, %i] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, !llvm.array<8 x array<4 x f32>>
    %v = llvm.load %p : !llvm.ptr<3> -> vector<2xf32>
    gpu.barrier
    %b = llvm.load %flag : !llvm.ptr<3> -> i1
    scf.if %b {
      llvm.store %v, %y : vector<2xf32>, !llvm.ptr<1>
    }
    gpu.return
  }
}

// Loops and conditionals hand their values over as arguments of blocks. What a loop carries goes through the block before the
// header, too.
// CHECK-LABEL: spirv.module @control
// CHECK:         %[[R:.*]]:2 = spirv.mlir.loop -> f32, i32 {
// CHECK-NEXT:      spirv.Branch ^[[HEADER:.*]](%[[LB:.*]], %[[F0:.*]], %[[C1:.*]] : i64, f32, i32)
// CHECK-NEXT:    ^[[HEADER]](%[[I:.*]]: i64, %[[A:.*]]: f32, %[[K:.*]]: i32):
// CHECK-NEXT:      %[[MORE:.*]] = spirv.SLessThan %[[I]], %{{.*}} : i64
// CHECK-NEXT:      spirv.BranchConditional %[[MORE]], ^[[BODY:.*]], ^[[MERGE:.*]]
// CHECK-NEXT:    ^[[BODY]]:
// CHECK:           %[[S:.*]] = spirv.mlir.selection -> f32 {
// CHECK-NEXT:        spirv.BranchConditional %{{.*}}, ^[[THEN:.*]], ^[[ELSE:.*]]
// CHECK-NEXT:      ^[[THEN]]:
// CHECK-NEXT:        spirv.Branch ^[[END:.*]](%{{.*}} : f32)
// CHECK-NEXT:      ^[[ELSE]]:
// CHECK-NEXT:        spirv.Branch ^[[END]](%[[A]] : f32)
// CHECK-NEXT:      ^[[END]](%[[M:.*]]: f32):
// CHECK-NEXT:        spirv.mlir.merge %[[M]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      spirv.Branch ^[[NEXT:.*]](%[[S]], %[[K]] : f32, i32)
// CHECK-NEXT:    ^[[NEXT]](%[[NS:.*]]: f32, %[[NK:.*]]: i32):
// CHECK-NEXT:      %[[NI:.*]] = spirv.IAdd %[[I]], %{{.*}} : i64
// CHECK-NEXT:      spirv.Branch ^[[HEADER]](%[[NI]], %[[NS]], %[[NK]] : i64, f32, i32)
// CHECK-NEXT:    ^[[MERGE]]:
// CHECK-NEXT:      spirv.mlir.merge %[[A]], %[[K]] : f32, i32
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[W:.*]] = spirv.mlir.loop -> f32 {
// CHECK-NEXT:      spirv.Branch ^[[WHEADER:.*]](%[[R]]#0 : f32)
// CHECK-NEXT:    ^[[WHEADER]](%[[X:.*]]: f32):
// CHECK-NEXT:      spirv.Branch ^[[BEFORE:.*]]
// CHECK-NEXT:    ^[[BEFORE]]:
// CHECK-NEXT:      %[[GO:.*]] = spirv.FUnordLessThan %[[X]], %{{.*}} : f32
// CHECK-NEXT:      spirv.BranchConditional %[[GO]], ^[[AFTER:.*]], ^[[WMERGE:.*]]
// CHECK-NEXT:    ^[[AFTER]]:
// CHECK-NEXT:      %[[N:.*]] = spirv.FAdd %[[X]], %[[X]]
// CHECK-NEXT:      spirv.Branch ^[[WNEXT:.*]](%[[N]] : f32)
// CHECK-NEXT:    ^[[WNEXT]](%[[WN:.*]]: f32):
// CHECK-NEXT:      spirv.Branch ^[[WHEADER]](%[[WN]] : f32)
// CHECK-NEXT:    ^[[WMERGE]]:
// CHECK-NEXT:      spirv.mlir.merge %[[X]] : f32
// CHECK-NEXT:    }
// CHECK:         spirv.Store "PhysicalStorageBuffer" %{{.*}}, %[[W]]
gpu.module @control {
  gpu.func @k(%y: !llvm.ptr<1>, %n: i64, %limit: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %k = arith.constant 1 : i32
    %f = arith.constant 0.0 : f32
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f, %b = %k) -> (f32, i32) : i64 {
      %odd = arith.cmpi eq, %i, %c1 : i64
      %s = scf.if %odd -> (f32) {
        scf.yield %limit : f32
      } else {
        scf.yield %a : f32
      }
      scf.yield %s, %b : f32, i32
    }
    %w = scf.while (%x = %r#0) : (f32) -> f32 {
      %go = arith.cmpf ult, %x, %limit : f32
      scf.condition(%go) %x : f32
    } do {
    ^bb0(%x: f32):
      %d = arith.addf %x, %x : f32
      scf.yield %d : f32
    }
    llvm.store %w, %y : f32, !llvm.ptr<1>
    gpu.return
  }
}

// Maximum and minimum propagate NaN, and -0 is below 0; less is said where more may be assumed.
// CHECK-LABEL: spirv.module @extrema
// CHECK:         %[[A:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
// CHECK:         %[[B:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 4] : f32
// CHECK:         %[[GT:.*]] = spirv.FOrdGreaterThan %[[A]], %[[B]] : f32
// CHECK-NEXT:    %[[R0:.*]] = spirv.Select %[[GT]], %[[A]], %[[B]] : i1, f32
// CHECK-NEXT:    %[[BA:.*]] = spirv.Bitcast %[[A]] : f32 to i32
// CHECK-NEXT:    %[[BB:.*]] = spirv.Bitcast %[[B]] : f32 to i32
// CHECK-NEXT:    %[[AND:.*]] = spirv.BitwiseAnd %[[BA]], %[[BB]] : i32
// CHECK-NEXT:    %[[J:.*]] = spirv.Bitcast %[[AND]] : i32 to f32
// CHECK-NEXT:    %[[EQ:.*]] = spirv.FOrdEqual %[[A]], %[[B]] : f32
// CHECK-NEXT:    %[[R1:.*]] = spirv.Select %[[EQ]], %[[J]], %[[R0]] : i1, f32
// CHECK-NEXT:    %[[NAN:.*]] = spirv.IsNan %[[A]] : f32
// CHECK-NEXT:    %[[MAX:.*]] = spirv.Select %[[NAN]], %[[A]], %[[R1]] : i1, f32
// CHECK-NEXT:    %[[LT:.*]] = spirv.FOrdLessThan %[[MAX]], %[[B]] : f32
// CHECK-NEXT:    %[[MIN:.*]] = spirv.Select %[[LT]], %[[MAX]], %[[B]] : i1, f32
// CHECK-NEXT:    %[[GN:.*]] = spirv.FOrdGreaterThan %[[MIN]], %[[B]] : f32
// CHECK-NEXT:    %[[NB:.*]] = spirv.IsNan %[[B]] : f32
// CHECK-NEXT:    %[[OR:.*]] = spirv.LogicalOr %[[GN]], %[[NB]] : i1
// CHECK-NEXT:    spirv.Select %[[OR]], %[[MIN]], %[[B]] : i1, f32
gpu.module @extrema {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %q = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    %a = llvm.load %y : !llvm.ptr<1> -> f32
    %b = llvm.load %q : !llvm.ptr<1> -> f32
    %max = arith.maximumf %a, %b : f32
    %min = arith.minimumf %max, %b fastmath<nnan,nsz> : f32
    %num = arith.maxnumf %min, %b : f32
    llvm.store %num, %y : f32, !llvm.ptr<1>
    gpu.return
  }
}

// Values of other widths are handed over in pieces of 32 bits.
// CHECK-LABEL: spirv.module @lanes
// CHECK-SAME:    GroupNonUniform, GroupNonUniformShuffle, GroupNonUniformShuffleRelative,
// CHECK:         %[[LANE:.*]] = spirv.Load "Input" %{{.*}} : i32
// CHECK:         %[[PAIR:.*]] = spirv.Bitcast %[[V:.*]] : i64 to vector<2xi32>
// CHECK-NEXT:    %[[GOT:.*]] = spirv.GroupNonUniformShuffleXor <Subgroup> %[[PAIR]], %[[C3:.*]] : vector<2xi32>, i32
// CHECK-NEXT:    spirv.Bitcast %[[GOT]] : vector<2xi32> to i64
// CHECK-NEXT:    %[[T:.*]] = spirv.UConvert %{{.*}} : i16 to i32
// CHECK-NEXT:    %[[UP:.*]] = spirv.GroupNonUniformShuffleUp <Subgroup> %[[T]], %[[C3]] : i32, i32
// CHECK-NEXT:    spirv.UConvert %[[UP]] : i32 to i16
// CHECK-NEXT:    %[[MASK:.*]] = spirv.ISub %[[W:.*]], %{{.*}} : i32
// CHECK-NEXT:    %[[IN:.*]] = spirv.BitwiseAnd %[[LANE]], %[[MASK]] : i32
// CHECK-NEXT:    spirv.UGreaterThanEqual %[[IN]], %[[C3]] : i32
gpu.module @lanes {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c3 = arith.constant 3 : i32
    %w = arith.constant 8 : i32
    %v = llvm.load %y : !llvm.ptr<1> -> i64
    %n = llvm.load %y : !llvm.ptr<1> -> i16
    %x, %xv = gpu.shuffle xor %v, %c3, %w : i64
    %u, %uv = gpu.shuffle up %n, %c3, %w : i16
    llvm.store %x, %y : i64, !llvm.ptr<1>
    llvm.store %u, %y : i16, !llvm.ptr<1>
    llvm.store %uv, %y : i1, !llvm.ptr<1>
    gpu.return
  }
}

// bf16 is its bits: widening is a shift, rounding is to nearest even. A vector of one element is the element.
// CHECK-LABEL: spirv.module @bf16
// CHECK-SAME:    StorageBuffer16BitAccess
// CHECK:         %[[H:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 2] : i16
// CHECK-NEXT:    %[[WIDE:.*]] = spirv.UConvert %[[H]] : i16 to i32
// CHECK-NEXT:    %[[BITS:.*]] = spirv.ShiftLeftLogical %[[WIDE]], %[[C16:.*]] : i32, i32
// CHECK-NEXT:    %[[F:.*]] = spirv.Bitcast %[[BITS]] : i32 to f32
// CHECK-NEXT:    %[[D:.*]] = spirv.FAdd %[[F]], %[[F]] {no_contraction} : f32
// CHECK-NEXT:    %[[DB:.*]] = spirv.Bitcast %[[D]] : f32 to i32
// CHECK-NEXT:    %[[KEPT:.*]] = spirv.ShiftRightLogical %[[DB]], %[[C16]] : i32, i32
// CHECK:         spirv.IsNan %[[D]] : f32
// CHECK:         spirv.UConvert %{{.*}} : i32 to i16
gpu.module @bf16 {
  gpu.func @k(%y: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %h = llvm.load %y : !llvm.ptr<1> -> vector<1xbf16>
    %f = arith.extf %h : vector<1xbf16> to vector<1xf32>
    %d = arith.addf %f, %f : vector<1xf32>
    %r = arith.truncf %d : vector<1xf32> to vector<1xbf16>
    llvm.store %r, %y : vector<1xbf16>, !llvm.ptr<1>
    gpu.return
  }
}

// Words of 64 bits in buffers are replaced in one step.
// CHECK-LABEL: spirv.module @atomics
// CHECK-SAME:    [Int64, Int64Atomics, PhysicalStorageBufferAddresses
// CHECK:         %[[OLD:.+]] = spirv.AtomicUMin <Device> <None> %{{.*}}, %{{.*}} : !spirv.ptr<i64, PhysicalStorageBuffer>
// CHECK:         spirv.AtomicExchange <Device> <None> %{{.*}}, %[[OLD]] : !spirv.ptr<i64, PhysicalStorageBuffer>
gpu.module @atomics {
  gpu.func @k(%p: !llvm.ptr<1>, %x: i64) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %0 = llvm.atomicrmw umin %p, %x monotonic {alignment = 8 : i64} : !llvm.ptr<1>, i64
    %1 = llvm.atomicrmw xchg %p, %0 monotonic {alignment = 8 : i64} : !llvm.ptr<1>, i64
    gpu.return
  }
}

// 32 bits become 64 as two words, and elements are combined one after the other.
// CHECK-LABEL: spirv.module @wide
// CHECK:         %[[X:.+]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : i32
// CHECK:         %[[HIGH:.+]] = spirv.ShiftRightArithmetic %[[X]], %{{.*}} : i32, i32
// CHECK-NEXT:    %[[WORDS:.+]] = spirv.CompositeConstruct %[[X]], %[[HIGH]] : (i32, i32) -> vector<2xi32>
// CHECK-NEXT:    %[[WIDE:.+]] = spirv.Bitcast %[[WORDS]] : vector<2xi32> to i64
// CHECK:         %[[OR:.+]] = spirv.LogicalOr %{{.*}}, %{{.*}} : i1
// CHECK:         spirv.BitwiseXor
// CHECK-NEXT:    spirv.BitwiseXor
gpu.module @wide {
  gpu.func @k(%p: !llvm.ptr<1>, %x: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %w = arith.extsi %x : i32 to i64
    %v = vector.from_elements %w, %w : vector<2xi64>
    %u = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<2xi64>
    %c = arith.cmpi eq, %u, %v : vector<2xi64>
    %any = vector.reduction <or>, %c : vector<2xi1> into i1
    %odd = vector.reduction <xor>, %u, %w : vector<2xi64> into i64
    %r = arith.select %any, %odd, %w : i64
    llvm.store %r, %p {alignment = 8 : i64} : i64, !llvm.ptr<1>
    gpu.return
  }
}
