// Traces apart from their regions: all primitives are written as they are read.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  schedule.trace "5f0c8d7be1a94d20" roles "91b7e20fd1c3a846" = #schedule.trace<
    split d1 of p:0 by 16
    retile d0 of p:0 by 8
    fuse d0 d1
    join d0 d2
    reorder d1 d0 of p:0
    bind d0 of p:0 to grid
    vectorize d1.1 of p:0
    tile_rows d0.1 of p:0
    compute_at e:0 in d1 of q:2
    cache_read p:0.0 cols d2 in l1 padded at d0 of p:0
    pack p:0.1 cols d1 in vec padded over d1 d2 of p:0
    set_space e:0 to l1
    set_layout p:0.1 pitch 36
    stream q:2 when [8*M*N - 65536]
    stream q:2
    defer q:2
    home e:0 in q:2
    prefetch e:0.0 (4096, next when [-N + 65536])
    prefetch e:0.0 (next)
    hoist p:4 out:5
    online most:1 in d1 of exp:2
    split_reduction s:1 along d1 by 16384
    tensorize p:0
    pipeline p:0.1
    pipeline p:0.1 async
    together p:0 q:1
    version when [-N + 16384]
    split d1 of p:0.1 kernel 0 even 4
    fuse d1 d1.1 of p:0
    bind d0 of p:0 to turn
    bind d0 of join s:1 to units
    compute_at "a b":0 in d1.2 of "":2 again
    set_space e:0 to "a b"
    set_layout e:0 padded
    set_layout e:0 unpadded
    split_reduction s:1 along d1 even 64
    split_reduction s:1 columnwise
    reorder d1 d0.1 d0 of join:0
    cache_read p:0.0 at d0 of p:0
    version when [-N + 16384, M]
    version 0 {
      set_space e:0 to l1
      version when [N]
    }
    version 9223372036854775807 {
      retile d9223372036854775807.3 of p:9223372036854775807 by -1
    }
  >
  schedule.trace "" roles "" = #schedule.trace<>
}
