// What has no lowering to a GPU, or a wrong option.
// RUN: not sutura-opt %s --convert-gir-to-gpu="threads=48" 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: sutura-opt %s --split-input-file --verify-diagnostics --convert-gir-to-gpu="shared-bytes=64"
// OPTION: option `threads` takes a power of two, not `48`

// expected-error@+2 {{needs more than the 64 bytes of memory that a block has}}
// expected-note@+1 {{in kernel @softmax}}
gir.kernel @softmax(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 2147483647], %N : [1, 8192]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}

