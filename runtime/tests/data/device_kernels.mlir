// Kernels for tests/device.rs, in the kernel ABI of docs/devices.md. See README.md for the command that makes the .spv.
spirv.module PhysicalStorageBuffer64 GLSL450
    requires #spirv.vce<v1.5, [Shader, PhysicalStorageBufferAddresses, Int64], [SPV_KHR_physical_storage_buffer]> {
  // One push constant of 8 bytes: the address of the argument block.
  spirv.GlobalVariable @args : !spirv.ptr<!spirv.struct<(i64 [0]), Block>, PushConstant>
  spirv.GlobalVariable @thread built_in("LocalInvocationId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @group built_in("WorkgroupId") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @groups built_in("NumWorkgroups") : !spirv.ptr<vector<3xi32>, Input>
  spirv.GlobalVariable @tile : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>

  // Element `at` of the argument block.
  spirv.func @argument(%at : i64) -> i64 "None" {
    %zero = spirv.Constant 0 : i32
    %eight = spirv.Constant 8 : i64
    %block = spirv.mlir.addressof @args : !spirv.ptr<!spirv.struct<(i64 [0]), Block>, PushConstant>
    %place = spirv.AccessChain %block[%zero] : !spirv.ptr<!spirv.struct<(i64 [0]), Block>, PushConstant>, i32 -> !spirv.ptr<i64, PushConstant>
    %base = spirv.Load "PushConstant" %place : i64
    %offset = spirv.IMul %at, %eight : i64
    %address = spirv.IAdd %base, %offset : i64
    %pointer = spirv.ConvertUToPtr %address : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
    %value = spirv.Load "PhysicalStorageBuffer" %pointer ["Aligned", 8] : i64
    spirv.ReturnValue %value : i64
  }
  // Component x of an input, as 64 bits.
  spirv.func @thread_x() -> i64 "None" {
    %variable = spirv.mlir.addressof @thread : !spirv.ptr<vector<3xi32>, Input>
    %all = spirv.Load "Input" %variable : vector<3xi32>
    %x = spirv.CompositeExtract %all[0 : i32] : vector<3xi32>
    %wide = spirv.UConvert %x : i32 to i64
    spirv.ReturnValue %wide : i64
  }
  spirv.func @group_x() -> i64 "None" {
    %variable = spirv.mlir.addressof @group : !spirv.ptr<vector<3xi32>, Input>
    %all = spirv.Load "Input" %variable : vector<3xi32>
    %x = spirv.CompositeExtract %all[0 : i32] : vector<3xi32>
    %wide = spirv.UConvert %x : i32 to i64
    spirv.ReturnValue %wide : i64
  }
  spirv.func @groups_x() -> i64 "None" {
    %variable = spirv.mlir.addressof @groups : !spirv.ptr<vector<3xi32>, Input>
    %all = spirv.Load "Input" %variable : vector<3xi32>
    %x = spirv.CompositeExtract %all[0 : i32] : vector<3xi32>
    %wide = spirv.UConvert %x : i32 to i64
    spirv.ReturnValue %wide : i64
  }
  spirv.func @load(%base : i64, %at : i64) -> f32 "None" {
    %four = spirv.Constant 4 : i64
    %offset = spirv.IMul %at, %four : i64
    %address = spirv.IAdd %base, %offset : i64
    %pointer = spirv.ConvertUToPtr %address : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
    %value = spirv.Load "PhysicalStorageBuffer" %pointer ["Aligned", 4] : f32
    spirv.ReturnValue %value : f32
  }
  spirv.func @store(%base : i64, %at : i64, %value : f32) "None" {
    %four = spirv.Constant 4 : i64
    %offset = spirv.IMul %at, %four : i64
    %address = spirv.IAdd %base, %offset : i64
    %pointer = spirv.ConvertUToPtr %address : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
    spirv.Store "PhysicalStorageBuffer" %pointer, %value ["Aligned", 4] : f32
    spirv.Return
  }

  // y[i] = 2 * x[i] + 1 for i < n; arguments x, y, n; any grid.
  spirv.func @affine() "None" {
    %c0 = spirv.Constant 0 : i64
    %c1 = spirv.Constant 1 : i64
    %c2 = spirv.Constant 2 : i64
    %width = spirv.Constant 64 : i64
    %two = spirv.Constant 2.0 : f32
    %one = spirv.Constant 1.0 : f32
    %x = spirv.FunctionCall @argument(%c0) : (i64) -> i64
    %y = spirv.FunctionCall @argument(%c1) : (i64) -> i64
    %n = spirv.FunctionCall @argument(%c2) : (i64) -> i64
    %thread_x = spirv.FunctionCall @thread_x() : () -> i64
    %group_x = spirv.FunctionCall @group_x() : () -> i64
    %groups_x = spirv.FunctionCall @groups_x() : () -> i64
    %skipped = spirv.IMul %group_x, %width : i64
    %first = spirv.IAdd %skipped, %thread_x : i64
    %step = spirv.IMul %groups_x, %width : i64
    spirv.mlir.loop {
      spirv.Branch ^header(%first : i64)
    ^header(%i : i64):
      %more = spirv.SLessThan %i, %n : i64
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      %old = spirv.FunctionCall @load(%x, %i) : (i64, i64) -> f32
      %twice = spirv.FMul %old, %two : f32
      %new = spirv.FAdd %twice, %one : f32
      spirv.FunctionCall @store(%y, %i, %new) : (i64, i64, f32) -> ()
      spirv.Branch ^continue
    ^continue:
      %next = spirv.IAdd %i, %step : i64
      spirv.Branch ^header(%next : i64)
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }

  // Reverses each run of 64 elements through workgroup memory; arguments x, y, number of runs; any grid.
  spirv.func @reverse() "None" {
    %c0 = spirv.Constant 0 : i64
    %c1 = spirv.Constant 1 : i64
    %c2 = spirv.Constant 2 : i64
    %last = spirv.Constant 63 : i64
    %width = spirv.Constant 64 : i64
    %x = spirv.FunctionCall @argument(%c0) : (i64) -> i64
    %y = spirv.FunctionCall @argument(%c1) : (i64) -> i64
    %n = spirv.FunctionCall @argument(%c2) : (i64) -> i64
    %thread_x = spirv.FunctionCall @thread_x() : () -> i64
    %group_x = spirv.FunctionCall @group_x() : () -> i64
    %groups_x = spirv.FunctionCall @groups_x() : () -> i64
    %mirrored = spirv.ISub %last, %thread_x : i64
    %memory = spirv.mlir.addressof @tile : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>
    %mine = spirv.AccessChain %memory[%thread_x] : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>, i64 -> !spirv.ptr<f32, Workgroup>
    %other = spirv.AccessChain %memory[%mirrored] : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>, i64 -> !spirv.ptr<f32, Workgroup>
    spirv.mlir.loop {
      spirv.Branch ^header(%group_x : i64)
    ^header(%run : i64):
      %more = spirv.SLessThan %run, %n : i64
      spirv.BranchConditional %more, ^body, ^merge
    ^body:
      %skipped = spirv.IMul %run, %width : i64
      %i = spirv.IAdd %skipped, %thread_x : i64
      %old = spirv.FunctionCall @load(%x, %i) : (i64, i64) -> f32
      spirv.Store "Workgroup" %mine, %old : f32
      spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
      %new = spirv.Load "Workgroup" %other : f32
      spirv.FunctionCall @store(%y, %i, %new) : (i64, i64, f32) -> ()
      spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory>
      spirv.Branch ^continue
    ^continue:
      %next = spirv.IAdd %run, %groups_x : i64
      spirv.Branch ^header(%next : i64)
    ^merge:
      spirv.mlir.merge
    }
    spirv.Return
  }

  spirv.EntryPoint "GLCompute" @affine, @args, @thread, @group, @groups
  spirv.ExecutionMode @affine "LocalSize", 64, 1, 1
  spirv.EntryPoint "GLCompute" @reverse, @args, @thread, @group, @groups, @tile
  spirv.ExecutionMode @reverse "LocalSize", 64, 1, 1
}
