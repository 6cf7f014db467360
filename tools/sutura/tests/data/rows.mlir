// Kernels in upstream operations and the host program around them, in generic form.
//
// t = x * w for x: f32[batch, cols]; y = t; s = the sums of t's rows where a row has at most 100 columns, else their length.
"builtin.module"() ({
  // Row r of the third buffer is row r of the first times the one element of the second; dims = [rows, columns].
  "func.func"() <{function_type = (!llvm.ptr, !llvm.ptr, i64, i64) -> (), sym_name = "scale"}> ({
  ^bb0(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64):
    %zero = "arith.constant"() <{value = 0 : i64}> : () -> i64
    %one = "arith.constant"() <{value = 1 : i64}> : () -> i64
    %x = "llvm.load"(%bufs) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %p1 = "llvm.getelementptr"(%bufs) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %w = "llvm.load"(%p1) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %p2 = "llvm.getelementptr"(%bufs) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 2>}> : (!llvm.ptr) -> !llvm.ptr
    %y = "llvm.load"(%p2) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %p3 = "llvm.getelementptr"(%dims) <{elem_type = i64, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %n = "llvm.load"(%p3) <{ordering = 0 : i64}> : (!llvm.ptr) -> i64
    %factor = "llvm.load"(%w) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
    "scf.for"(%begin, %end, %one) ({
    ^bb0(%row: i64):
      %start = "arith.muli"(%row, %n) : (i64, i64) -> i64
      "scf.for"(%zero, %n, %one) ({
      ^bb0(%col: i64):
        %at = "arith.addi"(%start, %col) : (i64, i64) -> i64
        %from = "llvm.getelementptr"(%x, %at) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %to = "llvm.getelementptr"(%y, %at) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %v = "llvm.load"(%from) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
        %p = "arith.mulf"(%v, %factor) : (f32, f32) -> f32
        "llvm.store"(%p, %to) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
        "scf.yield"() : () -> ()
      }) : (i64, i64, i64) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {rt.kernel = {
    params = [!rt.buffer<f32, [M, N]>, !rt.buffer<f32, [1]>, !rt.buffer<f32, [M, N]>], modes = ["in", "in", "out"],
    dims = [{name = "M"}, {name = "N"}], grid = #dyn.shape<[M]>, ops = ["Mul_0"]
  }} : () -> ()
  // Element r of the second buffer is the sum of row r of the first, which has at most 100 columns.
  "func.func"() <{function_type = (!llvm.ptr, !llvm.ptr, i64, i64) -> (), sym_name = "sum"}> ({
  ^bb0(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64):
    %zero = "arith.constant"() <{value = 0 : i64}> : () -> i64
    %one = "arith.constant"() <{value = 1 : i64}> : () -> i64
    %init = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %x = "llvm.load"(%bufs) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %p1 = "llvm.getelementptr"(%bufs) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %s = "llvm.load"(%p1) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %p2 = "llvm.getelementptr"(%dims) <{elem_type = i64, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %n = "llvm.load"(%p2) <{ordering = 0 : i64}> : (!llvm.ptr) -> i64
    "scf.for"(%begin, %end, %one) ({
    ^bb0(%row: i64):
      %start = "arith.muli"(%row, %n) : (i64, i64) -> i64
      %total = "scf.for"(%zero, %n, %one, %init) ({
      ^bb0(%col: i64, %acc: f32):
        %at = "arith.addi"(%start, %col) : (i64, i64) -> i64
        %from = "llvm.getelementptr"(%x, %at) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %v = "llvm.load"(%from) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
        %next = "arith.addf"(%acc, %v) : (f32, f32) -> f32
        "scf.yield"(%next) : (f32) -> ()
      }) : (i64, i64, i64, f32) -> f32
      %to = "llvm.getelementptr"(%s, %row) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      "llvm.store"(%total, %to) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {rt.kernel = {
    params = [!rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}, {name = "N"}], requires = #dyn.shape<[100 - N]>, grid = #dyn.shape<[M]>, ops = ["ReduceSum_1"]
  }} : () -> ()
  // Element r of the second buffer is the number of columns of the first.
  "func.func"() <{function_type = (!llvm.ptr, !llvm.ptr, i64, i64) -> (), sym_name = "length"}> ({
  ^bb0(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64):
    %one = "arith.constant"() <{value = 1 : i64}> : () -> i64
    %p1 = "llvm.getelementptr"(%bufs) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %s = "llvm.load"(%p1) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %p2 = "llvm.getelementptr"(%dims) <{elem_type = i64, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %n = "llvm.load"(%p2) <{ordering = 0 : i64}> : (!llvm.ptr) -> i64
    %length = "arith.sitofp"(%n) : (i64) -> f32
    "scf.for"(%begin, %end, %one) ({
    ^bb0(%row: i64):
      %to = "llvm.getelementptr"(%s, %row) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      "llvm.store"(%length, %to) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) {rt.kernel = {
    params = [!rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M]>], modes = ["in", "out"],
    dims = [{name = "M"}, {name = "N"}], grid = #dyn.shape<[M]>
  }} : () -> ()
  "rt.program"() <{
    sym_name = "rows",
    symbols = [{name = "batch", max = 64, likely = [8]}, {name = "cols", min = 1, max = 300, div = 2}],
    input_names = ["x", "mask"], output_names = ["y", "s"]
  }> ({
  ^bb0(%x: !rt.buffer<f32, [batch, cols]>, %mask: !rt.buffer<f32, [cols]>, %y: !rt.buffer<f32, [batch, cols]>, %s: !rt.buffer<f32, [batch]>):
    %w = "rt.constant"() <{name = "w", value = dense<2.000000e+00> : tensor<1xf32>}> : () -> !rt.buffer<f32, [1]>
    %t = "rt.alloc"() : () -> !rt.buffer<f32, [batch, cols]>
    "rt.launch"(%x, %w, %t) <{callee = @scale, dims = #dyn.shape<[batch, cols]>}> : (!rt.buffer<f32, [batch, cols]>, !rt.buffer<f32, [1]>, !rt.buffer<f32, [batch, cols]>) -> ()
    "rt.select"() <{guards = [#dyn.shape<[100 - cols]>]}> ({
      "rt.launch"(%t, %s) <{callee = @sum, dims = #dyn.shape<[batch, cols]>}> : (!rt.buffer<f32, [batch, cols]>, !rt.buffer<f32, [batch]>) -> ()
    }, {
      "rt.launch"(%t, %s) <{callee = @length, dims = #dyn.shape<[batch, cols]>}> : (!rt.buffer<f32, [batch, cols]>, !rt.buffer<f32, [batch]>) -> ()
    }) : () -> ()
    "rt.copy"(%t, %y) : (!rt.buffer<f32, [batch, cols]>, !rt.buffer<f32, [batch, cols]>) -> ()
    "rt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
