// Two kernels of the CPU kernel ABI in generic form.
// vector_add: c[i] = a[i] + b[i] for i < dims[0], in groups of 64 elements; 16 lanes at a time, the last ones masked.
// softmax: y[row, :] = softmax(x[row, :]) with dims = [rows, columns], a row a group; exp is a polynomial, so no libm.
"builtin.module"() ({
  "func.func"() <{function_type = (!llvm.ptr, !llvm.ptr, i64, i64) -> (), sym_name = "vector_add"}> ({
  ^bb0(%arg11: !llvm.ptr, %arg12: !llvm.ptr, %arg13: i64, %arg14: i64):
    %70 = "arith.constant"() <{value = 0 : index}> : () -> index
    %71 = "arith.constant"() <{value = 16 : index}> : () -> index
    %72 = "arith.constant"() <{value = 64 : index}> : () -> index
    %73 = "arith.constant"() <{value = dense<0.000000e+00> : vector<16xf32>}> : () -> vector<16xf32>
    %74 = "vector.step"() : () -> vector<16xindex>
    %75 = "llvm.load"(%arg12) <{ordering = 0 : i64}> : (!llvm.ptr) -> i64
    %76 = "arith.index_cast"(%75) : (i64) -> index
    %77 = "llvm.load"(%arg11) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %78 = "llvm.getelementptr"(%arg11) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %79 = "llvm.load"(%78) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %80 = "llvm.getelementptr"(%arg11) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 2>}> : (!llvm.ptr) -> !llvm.ptr
    %81 = "llvm.load"(%80) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %82 = "arith.index_cast"(%arg13) : (i64) -> index
    %83 = "arith.index_cast"(%arg14) : (i64) -> index
    %84 = "arith.muli"(%82, %72) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    %85 = "arith.muli"(%83, %72) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
    %86 = "arith.minsi"(%85, %76) : (index, index) -> index
    "scf.for"(%84, %86, %71) ({
    ^bb0(%arg15: index):
      %87 = "arith.subi"(%86, %arg15) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %88 = "vector.broadcast"(%87) : (index) -> vector<16xindex>
      %89 = "arith.cmpi"(%74, %88) <{predicate = 2 : i64}> : (vector<16xindex>, vector<16xindex>) -> vector<16xi1>
      %90 = "arith.index_cast"(%arg15) : (index) -> i64
      %91 = "llvm.getelementptr"(%77, %90) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      %92 = "llvm.getelementptr"(%79, %90) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      %93 = "llvm.getelementptr"(%81, %90) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      %94 = "llvm.intr.masked.load"(%91, %89, %73) <{alignment = 4 : i32}> : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
      %95 = "llvm.intr.masked.load"(%92, %89, %73) <{alignment = 4 : i32}> : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
      %96 = "arith.addf"(%94, %95) <{fastmath = #arith.fastmath<none>}> : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
      "llvm.intr.masked.store"(%96, %93, %89) <{alignment = 4 : i32}> : (vector<16xf32>, !llvm.ptr, vector<16xi1>) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (f32) -> f32, sym_name = "exp", sym_visibility = "private"}> ({
  ^bb0(%arg10: f32):
    %35 = "arith.constant"() <{value = 1.44269502 : f32}> : () -> f32
    %36 = "arith.constant"() <{value = 0x4B400000 : f32}> : () -> f32
    %37 = "arith.constant"() <{value = 0.693359375 : f32}> : () -> f32
    %38 = "arith.constant"() <{value = -2.12194442E-4 : f32}> : () -> f32
    %39 = "arith.constant"() <{value = -8.700000e+01 : f32}> : () -> f32
    %40 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
    %41 = "arith.constant"() <{value = 8.333330e-03 : f32}> : () -> f32
    %42 = "arith.constant"() <{value = 4.166660e-02 : f32}> : () -> f32
    %43 = "arith.constant"() <{value = 0.166666657 : f32}> : () -> f32
    %44 = "arith.constant"() <{value = 5.000000e-01 : f32}> : () -> f32
    %45 = "arith.constant"() <{value = 23 : i32}> : () -> i32
    %46 = "arith.constant"() <{value = 127 : i32}> : () -> i32
    %47 = "arith.maximumf"(%arg10, %39) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %48 = "arith.mulf"(%47, %35) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %49 = "arith.addf"(%48, %36) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %50 = "arith.subf"(%49, %36) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %51 = "arith.mulf"(%50, %37) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %52 = "arith.mulf"(%50, %38) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %53 = "arith.subf"(%47, %51) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %54 = "arith.subf"(%53, %52) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %55 = "arith.mulf"(%41, %54) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %56 = "arith.addf"(%55, %42) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %57 = "arith.mulf"(%56, %54) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %58 = "arith.addf"(%57, %43) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %59 = "arith.mulf"(%58, %54) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %60 = "arith.addf"(%59, %44) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %61 = "arith.mulf"(%60, %54) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %62 = "arith.addf"(%61, %40) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %63 = "arith.mulf"(%62, %54) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %64 = "arith.addf"(%63, %40) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    %65 = "arith.fptosi"(%50) : (f32) -> i32
    %66 = "arith.addi"(%65, %46) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %67 = "arith.shli"(%66, %45) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    %68 = "arith.bitcast"(%67) : (i32) -> f32
    %69 = "arith.mulf"(%64, %68) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
    "func.return"(%69) : (f32) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!llvm.ptr, !llvm.ptr, i64, i64) -> (), sym_name = "softmax"}> ({
  ^bb0(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "arith.constant"() <{value = 1 : index}> : () -> index
    %2 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %3 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
    %4 = "arith.constant"() <{value = 0xFF800000 : f32}> : () -> f32
    %5 = "llvm.load"(%arg0) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %6 = "llvm.getelementptr"(%arg0) <{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %7 = "llvm.load"(%6) <{ordering = 0 : i64}> : (!llvm.ptr) -> !llvm.ptr
    %8 = "llvm.getelementptr"(%arg1) <{elem_type = i64, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
    %9 = "llvm.load"(%8) <{ordering = 0 : i64}> : (!llvm.ptr) -> i64
    %10 = "arith.index_cast"(%9) : (i64) -> index
    %11 = "arith.index_cast"(%arg2) : (i64) -> index
    %12 = "arith.index_cast"(%arg3) : (i64) -> index
    "scf.for"(%11, %12, %1) ({
    ^bb0(%arg4: index):
      %13 = "arith.muli"(%arg4, %10) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %14 = "scf.for"(%0, %10, %1, %4) ({
      ^bb0(%arg8: index, %arg9: f32):
        %30 = "arith.addi"(%13, %arg8) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %31 = "arith.index_cast"(%30) : (index) -> i64
        %32 = "llvm.getelementptr"(%5, %31) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %33 = "llvm.load"(%32) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
        %34 = "arith.maximumf"(%arg9, %33) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.yield"(%34) : (f32) -> ()
      }) : (index, index, index, f32) -> f32
      %15 = "scf.for"(%0, %10, %1, %2) ({
      ^bb0(%arg6: index, %arg7: f32):
        %22 = "arith.addi"(%13, %arg6) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %23 = "arith.index_cast"(%22) : (index) -> i64
        %24 = "llvm.getelementptr"(%5, %23) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %25 = "llvm.getelementptr"(%7, %23) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %26 = "llvm.load"(%24) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
        %27 = "arith.subf"(%26, %14) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        %28 = "func.call"(%27) <{callee = @exp}> : (f32) -> f32
        "llvm.store"(%28, %25) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
        %29 = "arith.addf"(%arg7, %28) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "scf.yield"(%29) : (f32) -> ()
      }) : (index, index, index, f32) -> f32
      %16 = "arith.divf"(%3, %15) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "scf.for"(%0, %10, %1) ({
      ^bb0(%arg5: index):
        %17 = "arith.addi"(%13, %arg5) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
        %18 = "arith.index_cast"(%17) : (index) -> i64
        %19 = "llvm.getelementptr"(%7, %18) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
        %20 = "llvm.load"(%19) <{ordering = 0 : i64}> : (!llvm.ptr) -> f32
        %21 = "arith.mulf"(%20, %16) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "llvm.store"(%21, %19) <{ordering = 0 : i64}> : (f32, !llvm.ptr) -> ()
        "scf.yield"() : () -> ()
      }) : (index, index, index) -> ()
      "scf.yield"() : () -> ()
    }) : (index, index, index) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()

