// The llvm dialect; what has no custom form keeps the generic one.
// RUN: sutura-opt %s --split-input-file | sutura-opt --split-input-file | FileCheck %s
// RUN: sutura-opt %s --split-input-file --print-op-generic | sutura-opt --split-input-file | FileCheck %s

// CHECK: llvm.mlir.global private constant @text("abc") {addr_space = 0 : i32, alignment = 8 : i64}
"llvm.mlir.global"() <{alignment = 8 : i64, constant, global_type = !llvm.array<3 x i8>, linkage = #llvm.linkage<private>, sym_name = "text", value = "abc"}> ({
}) : () -> ()
// CHECK: llvm.func @printf(!llvm.ptr, ...) -> i32
"llvm.func"() <{function_type = !llvm.func<i32 (ptr, ...)>, sym_name = "printf"}> ({
}) : () -> ()
// CHECK: llvm.func @plain(!llvm.struct<"a \22b\22", packed (ptr, i64, array<2 x i64>)>, !llvm.struct<"o", opaque>, !llvm.ptr<3>)
"llvm.func"() <{function_type = !llvm.func<void (struct<"a \22b\22", packed (ptr, i64, array<2 x i64>)>, struct<"o", opaque>, ptr<3>)>, sym_name = "plain"}> ({
}) : () -> ()
// CHECK: llvm.func @f(%arg0: !llvm.ptr, %arg1: i64, %arg2: f32, %arg3: vector<8xf32>) -> f32 {
"llvm.func"() <{function_type = !llvm.func<f32 (ptr, i64, f32, vector<8xf32>)>, sym_name = "f"}> ({
^bb0(%arg0: !llvm.ptr, %arg1: i64, %arg2: f32, %arg3: vector<8xf32>):
  // CHECK: %0 = llvm.mlir.constant(4 : i64) : i64
  %0 = llvm.mlir.constant(4 : i64) : i64
  // CHECK: %1 = llvm.mlir.constant(4 : index) : i64
  %1 = llvm.mlir.constant(4 : index) : i64
  // CHECK: %2 = llvm.mlir.zero : !llvm.ptr
  %2 = llvm.mlir.zero : !llvm.ptr
  // CHECK: %3 = llvm.mlir.poison : f32
  %3 = llvm.mlir.poison : f32
  // CHECK: %4 = llvm.mlir.undef : !llvm.struct<(ptr, i64, array<2 x i64>)>
  %4 = llvm.mlir.undef : !llvm.struct<(ptr, i64, array<2 x i64>)>
  // CHECK: %5 = llvm.insertvalue %arg0, %4[0] : !llvm.struct<(ptr, i64, array<2 x i64>)>
  %5 = "llvm.insertvalue"(%4, %arg0) <{position = array<i64: 0>}> : (!llvm.struct<(ptr, i64, array<2 x i64>)>, !llvm.ptr) -> !llvm.struct<(ptr, i64, array<2 x i64>)>
  // CHECK: %6 = llvm.extractvalue %5[2, 1] : !llvm.struct<(ptr, i64, array<2 x i64>)>
  %6 = "llvm.extractvalue"(%5) <{position = array<i64: 2, 1>}> : (!llvm.struct<(ptr, i64, array<2 x i64>)>) -> i64
  // CHECK: %7 = llvm.add %arg1, %0 : i64
  %7 = llvm.add %arg1, %0 : i64
  // CHECK: %8 = llvm.sub %arg1, %0 : i64
  %8 = llvm.sub %arg1, %0 : i64
  // CHECK: %9 = llvm.mul %arg1, %0 : i64
  %9 = llvm.mul %arg1, %0 : i64
  // CHECK: %10 = llvm.shl %arg1, %0 : i64
  %10 = llvm.shl %arg1, %0 : i64
  // CHECK: %11 = llvm.udiv %arg1, %0 : i64
  %11 = llvm.udiv %arg1, %0 : i64
  // CHECK: %12 = llvm.sdiv %arg1, %0 : i64
  %12 = llvm.sdiv %arg1, %0 : i64
  // CHECK: %13 = llvm.lshr %arg1, %0 : i64
  %13 = llvm.lshr %arg1, %0 : i64
  // CHECK: %14 = llvm.ashr %arg1, %0 : i64
  %14 = llvm.ashr %arg1, %0 : i64
  // CHECK: %15 = llvm.urem %arg1, %0 : i64
  %15 = llvm.urem %arg1, %0 : i64
  // CHECK: %16 = llvm.srem %arg1, %0 : i64
  %16 = llvm.srem %arg1, %0 : i64
  // CHECK: %17 = llvm.and %arg1, %0 : i64
  %17 = llvm.and %arg1, %0 : i64
  // CHECK: %18 = llvm.or %arg1, %0 : i64
  %18 = llvm.or %arg1, %0 : i64
  // CHECK: %19 = llvm.xor %arg1, %0 : i64
  %19 = llvm.xor %arg1, %0 : i64
  // CHECK: %20 = llvm.add %arg1, %arg1 overflow<nsw, nuw> : i64
  %20 = llvm.add %arg1, %arg1 overflow<nsw, nuw> : i64
  // CHECK: %21 = llvm.fadd %arg3, %arg3 : vector<8xf32>
  %21 = llvm.fadd %arg3, %arg3 : vector<8xf32>
  // CHECK: %22 = llvm.fsub %arg3, %arg3 : vector<8xf32>
  %22 = llvm.fsub %arg3, %arg3 : vector<8xf32>
  // CHECK: %23 = llvm.fmul %arg3, %arg3 : vector<8xf32>
  %23 = llvm.fmul %arg3, %arg3 : vector<8xf32>
  // CHECK: %24 = llvm.fdiv %arg3, %arg3 : vector<8xf32>
  %24 = llvm.fdiv %arg3, %arg3 : vector<8xf32>
  // CHECK: %25 = llvm.frem %arg3, %arg3 : vector<8xf32>
  %25 = llvm.frem %arg3, %arg3 : vector<8xf32>
  // CHECK: %26 = llvm.fneg %arg2 {fastmathFlags = #llvm.fastmath<nnan, contract>} : f32
  %26 = llvm.fneg %arg2 {fastmathFlags = #llvm.fastmath<nnan, contract>} : f32
  // CHECK: %27 = llvm.icmp "slt" %arg1, %0 : i64
  %27 = llvm.icmp "slt" %arg1, %0 : i64
  // CHECK: %28 = llvm.icmp "eq" %arg0, %arg0 : !llvm.ptr
  %28 = llvm.icmp "eq" %arg0, %arg0 : !llvm.ptr
  // CHECK: %29 = llvm.fcmp "uno" %arg3, %arg3 : vector<8xf32>
  %29 = llvm.fcmp "uno" %arg3, %arg3 : vector<8xf32>
  // CHECK: %30 = llvm.select %27, %arg2, %arg2 : i1, f32
  %30 = llvm.select %27, %arg2, %arg2 : i1, f32
  // CHECK: %31 = llvm.trunc %arg1 : i64 to i8
  %31 = llvm.trunc %arg1 : i64 to i8
  // CHECK: %32 = llvm.sext %31 : i8 to i64
  %32 = llvm.sext %31 : i8 to i64
  // CHECK: %33 = llvm.zext %31 : i8 to i64
  %33 = llvm.zext %31 : i8 to i64
  // CHECK: %34 = llvm.fpext %arg2 : f32 to f64
  %34 = llvm.fpext %arg2 : f32 to f64
  // CHECK: %35 = llvm.fptrunc %arg2 : f32 to f16
  %35 = llvm.fptrunc %arg2 : f32 to f16
  // CHECK: %36 = llvm.sitofp %arg1 : i64 to f32
  %36 = llvm.sitofp %arg1 : i64 to f32
  // CHECK: %37 = llvm.uitofp %arg1 : i64 to f32
  %37 = llvm.uitofp %arg1 : i64 to f32
  // CHECK: %38 = llvm.fptosi %arg2 : f32 to i64
  %38 = llvm.fptosi %arg2 : f32 to i64
  // CHECK: %39 = llvm.fptoui %arg2 : f32 to i64
  %39 = llvm.fptoui %arg2 : f32 to i64
  // CHECK: %40 = llvm.ptrtoint %arg0 : !llvm.ptr to i64
  %40 = llvm.ptrtoint %arg0 : !llvm.ptr to i64
  // CHECK: %41 = llvm.inttoptr %40 : i64 to !llvm.ptr
  %41 = llvm.inttoptr %40 : i64 to !llvm.ptr
  // CHECK: %42 = llvm.bitcast %arg2 : f32 to i32
  %42 = llvm.bitcast %arg2 : f32 to i32
  // CHECK: %43 = llvm.addrspacecast %arg0 : !llvm.ptr to !llvm.ptr<3>
  %43 = llvm.addrspacecast %arg0 : !llvm.ptr to !llvm.ptr<3>
  // CHECK: %44 = llvm.getelementptr %arg0[%arg1] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %44 = "llvm.getelementptr"(%arg0, %arg1) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
  // CHECK: %45 = llvm.getelementptr %arg0[%arg1, 1] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %45 = "llvm.getelementptr"(%arg0, %arg1) <{elem_type = !llvm.array<4 x f32>, rawConstantIndices = array<i32: -2147483648, 1>}> : (!llvm.ptr, i64) -> !llvm.ptr
  // CHECK: %46 = llvm.load %44 {alignment = 4 : i64} : !llvm.ptr -> f32
  %46 = llvm.load %44 {alignment = 4 : i64} : !llvm.ptr -> f32
  // CHECK: llvm.store %46, %44 {alignment = 4 : i64} : f32, !llvm.ptr
  llvm.store %46, %44 {alignment = 4 : i64} : f32, !llvm.ptr
  // CHECK: %47 = llvm.alloca %0 x f32 {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %47 = "llvm.alloca"(%0) <{alignment = 64 : i64, elem_type = f32}> : (i64) -> !llvm.ptr
  // CHECK: %48 = llvm.mlir.addressof @text : !llvm.ptr
  %48 = llvm.mlir.addressof @text : !llvm.ptr
  // CHECK: %49 = llvm.call @printf(%arg0) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr) -> i32
  %49 = "llvm.call"(%arg0) <{callee = @printf, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 1, 0>, var_callee_type = !llvm.func<i32 (ptr, ...)>}> : (!llvm.ptr) -> i32
  // CHECK: %50 = llvm.call @f(%arg0, %arg1, %arg2, %arg3) : (!llvm.ptr, i64, f32, vector<8xf32>) -> f32
  %50 = "llvm.call"(%arg0, %arg1, %arg2, %arg3) <{callee = @f, op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 4, 0>}> : (!llvm.ptr, i64, f32, vector<8xf32>) -> f32
  // CHECK: %51 = llvm.call_intrinsic "llvm.fma.v8f32"(%arg3, %arg3, %arg3) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %51 = "llvm.call_intrinsic"(%arg3, %arg3, %arg3) <{intrin = "llvm.fma.v8f32", op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 3, 0>}> : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  // CHECK: llvm.call_intrinsic "llvm.x86.sse.sfence"() : () -> ()
  "llvm.call_intrinsic"() <{intrin = "llvm.x86.sse.sfence", op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  // CHECK: llvm.cond_br %27, ^bb1(%arg2 : f32), ^bb2
  llvm.cond_br %27, ^bb1(%arg2 : f32), ^bb2
// CHECK: ^bb1(%52: f32):
^bb1(%52: f32):  // pred: ^bb0
  // CHECK: llvm.br ^bb2
  llvm.br ^bb2
// CHECK: ^bb2:
^bb2:  // 2 preds: ^bb0, ^bb1
  // CHECK: llvm.return %arg2 : f32
  llvm.return %arg2 : f32
}) : () -> ()
