// Each form is read and written again byte for byte; upstream reads what is written.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic | FileCheck %s
// CHECK: "spirv.module"() <{addressing_model = #spirv.addressing_model<PhysicalStorageBuffer64>, memory_model = #spirv.memory_model<GLSL450>, sym_name = "m", vce_triple = #spirv.vce<v1.5, [Shader], []>}> ({
// CHECK: "spirv.GlobalVariable"() <{built_in = "LocalInvocationId", sym_name = "lid", type = !spirv.ptr<vector<3xi32>, Input>}> : () -> ()
// CHECK: "spirv.func"() <{function_control = #spirv.function_control<Inline|Pure>, function_type = (f32, i32) -> f32, sym_name = "g"}> ({
// CHECK: "spirv.GL.Fma"({{.*}}) {no_contraction} : (f32, f32, f32) -> f32
// CHECK: "spirv.Load"({{.*}}) <{alignment = 4 : i32, memory_access = #spirv.memory_access<Volatile|Aligned>}> {x = 1 : i64} : (!spirv.ptr<f32, PhysicalStorageBuffer>) -> f32
// CHECK: "spirv.ControlBarrier"() <{execution_scope = #spirv.scope<Workgroup>, memory_scope = #spirv.scope<Workgroup>, memory_semantics = #spirv.memory_semantics<AcquireRelease|UniformMemory|WorkgroupMemory>}> : () -> ()
// CHECK: "spirv.EntryPoint"() <{execution_model = #spirv.execution_model<GLCompute>, fn = @k, interface = [@lid, @sm]}> : () -> ()
// CHECK: "spirv.ExecutionMode"() <{execution_mode = #spirv.execution_mode<LocalSize>, fn = @k, values = [64 : i32, 1 : i32, 1 : i32]}> : () -> ()
//--- in.mlir
module {
  spirv.module @m PhysicalStorageBuffer64 GLSL450 requires #spirv.vce<v1.5, [Shader], []> attributes {a = 1 : i64} {
    spirv.GlobalVariable @pc : !spirv.ptr<!spirv.struct<(i64 [0], f32 [8]), Block>, PushConstant>
    spirv.GlobalVariable @st : !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
    spirv.GlobalVariable @st2 bind(1, 2) : !spirv.ptr<!spirv.struct<(!spirv.array<4 x f32, stride=4> [0, NonWritable], f32 [16])>, StorageBuffer>
    spirv.GlobalVariable @lid built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
    spirv.GlobalVariable @sm : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>
    spirv.func @g(%arg0: f32, %arg1: i32) -> f32 "Inline|Pure" attributes {x = 1 : i64} {
      spirv.ReturnValue %arg0 : f32
    }
    spirv.func @k(%arg0: !spirv.struct<(i32, i32)>, %arg1: vector<4xf32>, %arg2: f32, %arg3: i32, %arg4: !spirv.ptr<f32, Workgroup>, %arg5: i64) "None" {
      %cst_vec_2xf32 = spirv.Constant dense<[1.000000e+00, 2.000000e+00]> : vector<2xf32>
      %cst0_i32 = spirv.Constant 0 : i32
      %false = spirv.Constant false
      %cst = spirv.Constant [1 : i32, 2 : i32] : !spirv.array<2 x i32>
      %0 = spirv.CompositeExtract %arg0[0 : i32] : !spirv.struct<(i32, i32)>
      %1 = spirv.CompositeInsert %arg2, %arg1[1 : i32] : f32 into vector<4xf32>
      %2 = spirv.CompositeConstruct %arg2, %arg2 : (f32, f32) -> vector<2xf32>
      %3 = spirv.VectorShuffle [0 : i32, -1 : i32] %arg1, %arg1 : vector<4xf32>, vector<4xf32> -> vector<2xf32>
      %4 = spirv.UMulExtended %arg3, %arg3 : !spirv.struct<(i32, i32)>
      %5 = spirv.GroupNonUniformShuffleXor <Subgroup> %arg2, %arg3 : f32, i32
      %6 = spirv.GL.Fma %arg2, %arg2, %arg2 {no_contraction} : f32
      %7 = spirv.GL.Floor %arg2 : f32
      %8 = spirv.FOrdLessThan %arg2, %arg2 : f32
      %9 = spirv.ConvertUToPtr %arg5 : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
      %10 = spirv.Load "Workgroup" %arg4 : f32
      %11 = spirv.Load "PhysicalStorageBuffer" %9 ["Volatile|Aligned", 4] {x = 1 : i64} : f32
      spirv.Store "PhysicalStorageBuffer" %9, %arg2 ["Aligned", 4] : f32
      spirv.Store "Workgroup" %arg4, %arg2 : f32
      %12 = spirv.BitCount %arg3 : i32
      %13 = spirv.ShiftLeftLogical %arg3, %arg3 : i32, i32
      %14 = spirv.Select %false, %arg2, %arg2 : i1, f32
      %15 = spirv.VectorExtractDynamic %arg1[%arg3] : vector<4xf32>, i32
      %16 = spirv.VectorInsertDynamic %arg2, %arg1[%arg3] : vector<4xf32>, i32
      %17 = spirv.FAdd %arg1, %arg1 : vector<4xf32>
      %18 = spirv.FSub %arg1, %arg1 : vector<4xf32>
      %19 = spirv.FMul %arg1, %arg1 : vector<4xf32>
      %20 = spirv.FDiv %arg1, %arg1 : vector<4xf32>
      %21 = spirv.FRem %arg1, %arg1 : vector<4xf32>
      %22 = spirv.FNegate %arg1 : vector<4xf32>
      %23 = spirv.IAdd %arg3, %arg3 : i32
      %24 = spirv.ISub %arg3, %arg3 : i32
      %25 = spirv.IMul %arg3, %arg3 : i32
      %26 = spirv.SDiv %arg3, %arg3 : i32
      %27 = spirv.SRem %arg3, %arg3 : i32
      %28 = spirv.UDiv %arg3, %arg3 : i32
      %29 = spirv.UMod %arg3, %arg3 : i32
      %30 = spirv.SNegate %arg3 : i32
      %31 = spirv.BitwiseAnd %arg3, %arg3 : i32
      %32 = spirv.BitwiseOr %arg3, %arg3 : i32
      %33 = spirv.BitwiseXor %arg3, %arg3 : i32
      %34 = spirv.Not %arg3 : i32
      %35 = spirv.BitCount %arg3 : i32
      %36 = spirv.BitReverse %arg3 : i32
      %37 = spirv.LogicalAnd %false, %false : i1
      %38 = spirv.LogicalOr %false, %false : i1
      %39 = spirv.LogicalEqual %false, %false : i1
      %40 = spirv.LogicalNotEqual %false, %false : i1
      %41 = spirv.LogicalNot %false : i1
      %42 = spirv.GL.FAbs %arg1 : vector<4xf32>
      %43 = spirv.GL.Floor %arg1 : vector<4xf32>
      %44 = spirv.GL.Ceil %arg1 : vector<4xf32>
      %45 = spirv.GL.RoundEven %arg1 : vector<4xf32>
      %46 = spirv.GL.Sqrt %arg1 : vector<4xf32>
      %47 = spirv.GL.InverseSqrt %arg1 : vector<4xf32>
      %48 = spirv.GL.Fma %arg1, %arg1, %arg1 : vector<4xf32>
      %49 = spirv.GL.SAbs %arg3 : i32
      %50 = spirv.GL.FindUMsb %arg3 : i32
      %51 = spirv.GL.FindILsb %arg3 : i32
      %52 = spirv.FOrdEqual %arg1, %arg1 : vector<4xf32>
      %53 = spirv.FOrdNotEqual %arg1, %arg1 : vector<4xf32>
      %54 = spirv.FOrdLessThan %arg1, %arg1 : vector<4xf32>
      %55 = spirv.FOrdLessThanEqual %arg1, %arg1 : vector<4xf32>
      %56 = spirv.FOrdGreaterThan %arg1, %arg1 : vector<4xf32>
      %57 = spirv.FOrdGreaterThanEqual %arg1, %arg1 : vector<4xf32>
      %58 = spirv.FUnordEqual %arg1, %arg1 : vector<4xf32>
      %59 = spirv.FUnordNotEqual %arg1, %arg1 : vector<4xf32>
      %60 = spirv.FUnordLessThan %arg1, %arg1 : vector<4xf32>
      %61 = spirv.FUnordLessThanEqual %arg1, %arg1 : vector<4xf32>
      %62 = spirv.FUnordGreaterThan %arg1, %arg1 : vector<4xf32>
      %63 = spirv.FUnordGreaterThanEqual %arg1, %arg1 : vector<4xf32>
      %64 = spirv.IEqual %arg3, %arg3 : i32
      %65 = spirv.INotEqual %arg3, %arg3 : i32
      %66 = spirv.SLessThan %arg3, %arg3 : i32
      %67 = spirv.SLessThanEqual %arg3, %arg3 : i32
      %68 = spirv.SGreaterThan %arg3, %arg3 : i32
      %69 = spirv.SGreaterThanEqual %arg3, %arg3 : i32
      %70 = spirv.ULessThan %arg3, %arg3 : i32
      %71 = spirv.ULessThanEqual %arg3, %arg3 : i32
      %72 = spirv.UGreaterThan %arg3, %arg3 : i32
      %73 = spirv.UGreaterThanEqual %arg3, %arg3 : i32
      %74 = spirv.IsNan %arg1 : vector<4xf32>
      %75 = spirv.IsInf %arg1 : vector<4xf32>
      %76 = spirv.IAddCarry %arg3, %arg3 : !spirv.struct<(i32, i32)>
      %77 = spirv.ISubBorrow %arg3, %arg3 : !spirv.struct<(i32, i32)>
      %78 = spirv.UMulExtended %arg3, %arg3 : !spirv.struct<(i32, i32)>
      %79 = spirv.SMulExtended %arg3, %arg3 : !spirv.struct<(i32, i32)>
      %80 = spirv.ShiftRightLogical %arg3, %arg3 : i32, i32
      %81 = spirv.ShiftRightArithmetic %arg3, %arg3 : i32, i32
      %82 = spirv.Bitcast %arg2 : f32 to i32
      %83 = spirv.Bitcast %arg1 : vector<4xf32> to vector<2xi64>
      %84 = spirv.ConvertFToS %arg1 : vector<4xf32> to vector<4xi8>
      %85 = spirv.ConvertFToU %arg2 : f32 to i64
      %86 = spirv.ConvertSToF %arg3 : i32 to f16
      %87 = spirv.ConvertUToF %arg3 : i32 to f64
      %88 = spirv.FConvert %arg2 : f32 to f16
      %89 = spirv.SConvert %arg3 : i32 to i64
      %90 = spirv.UConvert %arg3 : i32 to i8
      %91 = spirv.ConvertPtrToU %9 : !spirv.ptr<f32, PhysicalStorageBuffer> to i64
      %92 = spirv.GroupNonUniformShuffle <Subgroup> %arg2, %arg3 : f32, i32
      %93 = spirv.GroupNonUniformShuffleXor <Subgroup> %arg2, %arg3 : f32, i32
      %94 = spirv.GroupNonUniformShuffleUp <Subgroup> %arg2, %arg3 : f32, i32
      %95 = spirv.GroupNonUniformShuffleDown <Subgroup> %arg2, %arg3 : f32, i32
      %sm_addr = spirv.mlir.addressof @sm : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>
      %96 = spirv.AccessChain %sm_addr[%arg3] : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>, i32 -> !spirv.ptr<f32, Workgroup>
      %97 = spirv.Variable : !spirv.ptr<f32, Function>
      %98 = spirv.Variable init(%cst0_i32) : !spirv.ptr<i32, Function>
      spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
      %99:2 = spirv.mlir.selection -> i32, f32 {
        spirv.BranchConditional %false, ^bb1, ^bb2(%arg3, %arg2 : i32, f32)
      ^bb1:  // pred: ^bb0
        spirv.Branch ^bb2(%cst0_i32, %arg2 : i32, f32)
      ^bb2(%108: i32, %109: f32):  // 2 preds: ^bb0, ^bb1
        spirv.mlir.merge %108, %109 : i32, f32
      }
      %cst_f32 = spirv.Constant 1.500000e+00 : f32
      %cst-3_i64 = spirv.Constant -3 : i64
      %100 = spirv.Undef : f32
      %101 = spirv.FunctionCall @g(%arg2, %arg3) : (f32, i32) -> f32
      spirv.mlir.selection control(Flatten) {
        spirv.BranchConditional %false [3, 4], ^bb1, ^bb2
      ^bb1:  // pred: ^bb0
        spirv.Branch ^bb2
      ^bb2:  // 2 preds: ^bb0, ^bb1
        spirv.mlir.merge
      }
      spirv.mlir.loop control(Unroll) {
        spirv.Branch ^bb1
      ^bb1:  // 2 preds: ^bb0, ^bb3
        spirv.BranchConditional %false, ^bb2, ^bb4
      ^bb2:  // pred: ^bb1
        spirv.Branch ^bb3
      ^bb3:  // pred: ^bb2
        spirv.Branch ^bb1
      ^bb4:  // pred: ^bb1
        spirv.mlir.merge
      }
      %102 = spirv.mlir.selection control(Flatten) -> f32 {
        spirv.Branch ^bb1(%arg2 : f32)
      ^bb1(%108: f32):  // pred: ^bb0
        spirv.mlir.merge %108 : f32
      }
      %103 = spirv.IsNan %arg2 : f32
      %104 = spirv.GL.FindUMsb %arg3 : i32
      spirv.MemoryBarrier <Workgroup>, <AcquireRelease|WorkgroupMemory>
      %105 = spirv.ConvertUToPtr %arg5 : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
      %106 = spirv.AtomicUMin <Device> <None> %105, %arg5 : !spirv.ptr<i64, PhysicalStorageBuffer>
      %107 = spirv.AtomicExchange <Device> <AcquireRelease|UniformMemory> %105, %106 : !spirv.ptr<i64, PhysicalStorageBuffer>
      spirv.Return
    }
    spirv.EntryPoint "GLCompute" @k, @lid, @sm
    spirv.ExecutionMode @k "LocalSize", 64, 1, 1
    spirv.ExecutionMode @k "ContractionOff"
  }
}
