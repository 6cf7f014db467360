// Intrinsics and vector operations of the llvm dialect; what has no custom form in MLIR keeps the generic one.
// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --print-op-generic | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: func.func @intrinsics(
func.func @intrinsics(%x: f32, %v: vector<8xf32>, %i: i32, %iv: vector<8xi32>, %n: i64, %b: i8, %p: !llvm.ptr,
                      %ps: vector<8x!llvm.ptr>, %m: vector<8xi1>) {
  // CHECK: %0 = llvm.intr.acos(%x) : (f32) -> f32
  %0 = llvm.intr.acos(%x) : (f32) -> f32
  // CHECK: %1 = llvm.intr.asin(%x) : (f32) -> f32
  %1 = llvm.intr.asin(%x) : (f32) -> f32
  // CHECK: %2 = llvm.intr.atan(%x) : (f32) -> f32
  %2 = llvm.intr.atan(%x) : (f32) -> f32
  // CHECK: %3 = llvm.intr.ceil(%x) : (f32) -> f32
  %3 = llvm.intr.ceil(%x) : (f32) -> f32
  // CHECK: %4 = llvm.intr.cos(%x) : (f32) -> f32
  %4 = llvm.intr.cos(%x) : (f32) -> f32
  // CHECK: %5 = llvm.intr.cosh(%x) : (f32) -> f32
  %5 = llvm.intr.cosh(%x) : (f32) -> f32
  // CHECK: %6 = llvm.intr.exp(%x) : (f32) -> f32
  %6 = llvm.intr.exp(%x) : (f32) -> f32
  // CHECK: %7 = llvm.intr.exp10(%x) : (f32) -> f32
  %7 = llvm.intr.exp10(%x) : (f32) -> f32
  // CHECK: %8 = llvm.intr.exp2(%x) : (f32) -> f32
  %8 = llvm.intr.exp2(%x) : (f32) -> f32
  // CHECK: %9 = llvm.intr.fabs(%x) : (f32) -> f32
  %9 = llvm.intr.fabs(%x) : (f32) -> f32
  // CHECK: %10 = llvm.intr.floor(%x) : (f32) -> f32
  %10 = llvm.intr.floor(%x) : (f32) -> f32
  // CHECK: %11 = llvm.intr.log(%x) : (f32) -> f32
  %11 = llvm.intr.log(%x) : (f32) -> f32
  // CHECK: %12 = llvm.intr.log10(%x) : (f32) -> f32
  %12 = llvm.intr.log10(%x) : (f32) -> f32
  // CHECK: %13 = llvm.intr.log2(%x) : (f32) -> f32
  %13 = llvm.intr.log2(%x) : (f32) -> f32
  // CHECK: %14 = llvm.intr.nearbyint(%x) : (f32) -> f32
  %14 = llvm.intr.nearbyint(%x) : (f32) -> f32
  // CHECK: %15 = llvm.intr.rint(%x) : (f32) -> f32
  %15 = llvm.intr.rint(%x) : (f32) -> f32
  // CHECK: %16 = llvm.intr.round(%x) : (f32) -> f32
  %16 = llvm.intr.round(%x) : (f32) -> f32
  // CHECK: %17 = llvm.intr.roundeven(%x) : (f32) -> f32
  %17 = llvm.intr.roundeven(%x) : (f32) -> f32
  // CHECK: %18 = llvm.intr.sin(%x) : (f32) -> f32
  %18 = llvm.intr.sin(%x) : (f32) -> f32
  // CHECK: %19 = llvm.intr.sinh(%x) : (f32) -> f32
  %19 = llvm.intr.sinh(%x) : (f32) -> f32
  // CHECK: %20 = llvm.intr.sqrt(%x) : (f32) -> f32
  %20 = llvm.intr.sqrt(%x) : (f32) -> f32
  // CHECK: %21 = llvm.intr.tan(%x) : (f32) -> f32
  %21 = llvm.intr.tan(%x) : (f32) -> f32
  // CHECK: %22 = llvm.intr.tanh(%x) : (f32) -> f32
  %22 = llvm.intr.tanh(%x) : (f32) -> f32
  // CHECK: %23 = llvm.intr.trunc(%x) : (f32) -> f32
  %23 = llvm.intr.trunc(%x) : (f32) -> f32
  // CHECK: %24 = llvm.intr.atan2(%x, %x) : (f32, f32) -> f32
  %24 = llvm.intr.atan2(%x, %x) : (f32, f32) -> f32
  // CHECK: %25 = llvm.intr.copysign(%x, %x) : (f32, f32) -> f32
  %25 = llvm.intr.copysign(%x, %x) : (f32, f32) -> f32
  // CHECK: %26 = llvm.intr.maximum(%x, %x) : (f32, f32) -> f32
  %26 = llvm.intr.maximum(%x, %x) : (f32, f32) -> f32
  // CHECK: %27 = llvm.intr.maxnum(%x, %x) : (f32, f32) -> f32
  %27 = llvm.intr.maxnum(%x, %x) : (f32, f32) -> f32
  // CHECK: %28 = llvm.intr.minimum(%x, %x) : (f32, f32) -> f32
  %28 = llvm.intr.minimum(%x, %x) : (f32, f32) -> f32
  // CHECK: %29 = llvm.intr.minnum(%x, %x) : (f32, f32) -> f32
  %29 = llvm.intr.minnum(%x, %x) : (f32, f32) -> f32
  // CHECK: %30 = llvm.intr.pow(%x, %x) : (f32, f32) -> f32
  %30 = llvm.intr.pow(%x, %x) : (f32, f32) -> f32
  // CHECK: %31 = llvm.intr.fma(%v, %v, %v) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %31 = llvm.intr.fma(%v, %v, %v) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  // CHECK: %32 = llvm.intr.fmuladd(%v, %v, %v) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %32 = llvm.intr.fmuladd(%v, %v, %v) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  // CHECK: %33 = llvm.intr.fma(%x, %x, %x) {fastmathFlags = #llvm.fastmath<nnan, contract>} : (f32, f32, f32) -> f32
  %33 = llvm.intr.fma(%x, %x, %x) {fastmathFlags = #llvm.fastmath<nnan, contract>} : (f32, f32, f32) -> f32
  // CHECK: %34 = llvm.intr.powi(%v, %i) : (vector<8xf32>, i32) -> vector<8xf32>
  %34 = llvm.intr.powi(%v, %i) : (vector<8xf32>, i32) -> vector<8xf32>
  // CHECK: %35 = llvm.intr.bitreverse(%i) : (i32) -> i32
  %35 = llvm.intr.bitreverse(%i) : (i32) -> i32
  // CHECK: %36 = llvm.intr.bswap(%i) : (i32) -> i32
  %36 = llvm.intr.bswap(%i) : (i32) -> i32
  // CHECK: %37 = llvm.intr.ctpop(%i) : (i32) -> i32
  %37 = llvm.intr.ctpop(%i) : (i32) -> i32
  // CHECK: %38 = llvm.intr.smax(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  %38 = llvm.intr.smax(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  // CHECK: %39 = llvm.intr.smin(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  %39 = llvm.intr.smin(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  // CHECK: %40 = llvm.intr.umax(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  %40 = llvm.intr.umax(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  // CHECK: %41 = llvm.intr.umin(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  %41 = llvm.intr.umin(%iv, %iv) : (vector<8xi32>, vector<8xi32>) -> vector<8xi32>
  // CHECK: %42 = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (i32) -> i32
  %42 = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (i32) -> i32
  // CHECK: %43 = "llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i32) -> i32
  %43 = "llvm.intr.ctlz"(%i) <{is_zero_poison = true}> : (i32) -> i32
  // CHECK: %44 = "llvm.intr.cttz"(%i) <{is_zero_poison = true}> : (i32) -> i32
  %44 = "llvm.intr.cttz"(%i) <{is_zero_poison = true}> : (i32) -> i32
  // CHECK: %45 = "llvm.intr.sadd.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %45 = "llvm.intr.sadd.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK: %46 = "llvm.intr.ssub.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %46 = "llvm.intr.ssub.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK: %47 = "llvm.intr.smul.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %47 = "llvm.intr.smul.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK: %48 = "llvm.intr.uadd.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %48 = "llvm.intr.uadd.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK: %49 = "llvm.intr.usub.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %49 = "llvm.intr.usub.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK: %50 = "llvm.intr.umul.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  %50 = "llvm.intr.umul.with.overflow"(%i, %i) : (i32, i32) -> !llvm.struct<(i32, i1)>
  // CHECK: %51 = "llvm.intr.is.fpclass"(%v) <{bit = 504 : i32}> : (vector<8xf32>) -> vector<8xi1>
  %51 = "llvm.intr.is.fpclass"(%v) <{bit = 504 : i32}> : (vector<8xf32>) -> vector<8xi1>
  // CHECK: %52 = "llvm.intr.vector.reduce.add"(%iv) : (vector<8xi32>) -> i32
  %52 = "llvm.intr.vector.reduce.add"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %53 = "llvm.intr.vector.reduce.and"(%iv) : (vector<8xi32>) -> i32
  %53 = "llvm.intr.vector.reduce.and"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %54 = "llvm.intr.vector.reduce.mul"(%iv) : (vector<8xi32>) -> i32
  %54 = "llvm.intr.vector.reduce.mul"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %55 = "llvm.intr.vector.reduce.or"(%iv) : (vector<8xi32>) -> i32
  %55 = "llvm.intr.vector.reduce.or"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %56 = "llvm.intr.vector.reduce.smax"(%iv) : (vector<8xi32>) -> i32
  %56 = "llvm.intr.vector.reduce.smax"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %57 = "llvm.intr.vector.reduce.smin"(%iv) : (vector<8xi32>) -> i32
  %57 = "llvm.intr.vector.reduce.smin"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %58 = "llvm.intr.vector.reduce.umax"(%iv) : (vector<8xi32>) -> i32
  %58 = "llvm.intr.vector.reduce.umax"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %59 = "llvm.intr.vector.reduce.umin"(%iv) : (vector<8xi32>) -> i32
  %59 = "llvm.intr.vector.reduce.umin"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %60 = "llvm.intr.vector.reduce.xor"(%iv) : (vector<8xi32>) -> i32
  %60 = "llvm.intr.vector.reduce.xor"(%iv) : (vector<8xi32>) -> i32
  // CHECK: %61 = llvm.intr.vector.reduce.fmax(%v) : (vector<8xf32>) -> f32
  %61 = llvm.intr.vector.reduce.fmax(%v) : (vector<8xf32>) -> f32
  // CHECK: %62 = llvm.intr.vector.reduce.fmin(%v) : (vector<8xf32>) -> f32
  %62 = llvm.intr.vector.reduce.fmin(%v) : (vector<8xf32>) -> f32
  // CHECK: %63 = llvm.intr.vector.reduce.fmaximum(%v) : (vector<8xf32>) -> f32
  %63 = llvm.intr.vector.reduce.fmaximum(%v) : (vector<8xf32>) -> f32
  // CHECK: %64 = llvm.intr.vector.reduce.fminimum(%v) : (vector<8xf32>) -> f32
  %64 = llvm.intr.vector.reduce.fminimum(%v) : (vector<8xf32>) -> f32
  // CHECK: %65 = "llvm.intr.vector.reduce.fadd"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  %65 = "llvm.intr.vector.reduce.fadd"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  // CHECK: %66 = "llvm.intr.vector.reduce.fmul"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  %66 = "llvm.intr.vector.reduce.fmul"(%x, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  // CHECK: %67 = llvm.insertelement %x, %v[%i : i32] : vector<8xf32>
  %67 = llvm.insertelement %x, %v[%i : i32] : vector<8xf32>
  // CHECK: %68 = llvm.extractelement %v[%i : i32] : vector<8xf32>
  %68 = llvm.extractelement %v[%i : i32] : vector<8xf32>
  // CHECK: %69 = llvm.shufflevector %v, %v [0, -1, 15] : vector<8xf32>
  %69 = llvm.shufflevector %v, %v [0, -1, 15] : vector<8xf32>
  // CHECK: %70 = llvm.freeze %x : f32
  %70 = llvm.freeze %x : f32
  // CHECK: %71 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %71 = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  // CHECK: %72 = llvm.intr.masked.load %p, %m {alignment = 4 : i32, nontemporal} : (!llvm.ptr, vector<8xi1>) -> vector<8xf32>
  %72 = llvm.intr.masked.load %p, %m {alignment = 4 : i32, nontemporal} : (!llvm.ptr, vector<8xi1>) -> vector<8xf32>
  // CHECK: llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  // CHECK: %73 = llvm.intr.masked.gather %ps, %m, %v {alignment = 4 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %73 = llvm.intr.masked.gather %ps, %m, %v {alignment = 4 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  // CHECK: %74 = llvm.intr.masked.gather %ps, %m {alignment = 1 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>) -> vector<8xf32>
  %74 = llvm.intr.masked.gather %ps, %m {alignment = 1 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>) -> vector<8xf32>
  // CHECK: llvm.intr.masked.scatter %v, %ps, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into vector<8x!llvm.ptr>
  llvm.intr.masked.scatter %v, %ps, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into vector<8x!llvm.ptr>
  // CHECK: %75 = "llvm.intr.masked.expandload"(%p, %m, %v) : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %75 = "llvm.intr.masked.expandload"(%p, %m, %v) : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  // CHECK: "llvm.intr.masked.compressstore"(%v, %p, %m) : (vector<8xf32>, !llvm.ptr, vector<8xi1>) -> ()
  "llvm.intr.masked.compressstore"(%v, %p, %m) : (vector<8xf32>, !llvm.ptr, vector<8xi1>) -> ()
  // CHECK: "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%p, %p, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK: "llvm.intr.memmove"(%p, %p, %n) <{isVolatile = true}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memmove"(%p, %p, %n) <{isVolatile = true}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK: "llvm.intr.memset"(%p, %b, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  "llvm.intr.memset"(%p, %b, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  // CHECK: %76 = llvm.intr.stacksave : !llvm.ptr
  %76 = llvm.intr.stacksave : !llvm.ptr
  // CHECK: llvm.intr.stackrestore %76 : !llvm.ptr
  llvm.intr.stackrestore %76 : !llvm.ptr
  // CHECK: llvm.intr.lifetime.start %p : !llvm.ptr
  llvm.intr.lifetime.start %p : !llvm.ptr
  // CHECK: llvm.intr.lifetime.end %p : !llvm.ptr
  llvm.intr.lifetime.end %p : !llvm.ptr
  // CHECK: "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  return
}
