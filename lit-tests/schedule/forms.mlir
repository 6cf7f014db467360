// Every node, and names that are no words, which are read and written again byte for byte.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt %t/in.mlir --mlir-print-op-generic | sutura-opt > %t/generic.mlir
// RUN: diff %t/in.mlir %t/generic.mlir
//--- in.mlir
module {
  func.func private @nodes() attributes {all = #schedule.tree<
    version when [-N + 16384, M floordiv 4 - 1] {
      join d0 d2
      fuse d0 d1
      kernel {
        loop d0 grid {
          place max:0 cols d1 in l1
          loop d2 by 16 { place sum:1 cols d1 in l1 }
          loop d3 even 64 {
            operand exp:2.0 cols d1 in l1
            loop d3 {
              loop d4 {}
            }
          }
          operand exp:2.0 cols d1 in l1 prefetch(4096, next when [-N + 65536, M])
          operand exp:2.1 cols d1 in l1 prefetch(64)
          operand exp:2.2 prefetch(next)
          pack prod:3.1 cols d1 in vec padded
          cache prod:3.0 rows d4 cols d1 in shared padded pitch 68 ahead
          cache prod:3.2 rows d4 cols d1 in shared padded async
          cache prod:3.1 rows d4 cols d1 in shared pitch 4 { place exp:4 cols d1 in vec padded columnwise }
          contract prod:3 rows d4 cols d1 in vec
          join sum:1 cols d1 in vec padded
          place exp:4
          place exp:5 rows d4
          place exp:6 padded
          place exp:7 cols d1 in l1 home out:8 kept
          place out:8 cols d1 in l1 stream when [8*M*N - 65536] defer
          place out:9 cols d1 in l1 columnwise home out:10 stream
          join sum:2 stream when [M] defer
        }
      }
    }
    version {
      kernel {
        loop d0 grid {
          loop d1 even 8 grid {
            loop d1 by 32 grid { place max:0 }
          }
        }
      }
      together {
        kernel { place max:1 }
        kernel {}
        kernel {
          place max:2
          join max:2
        }
      }
    }
  >}
  func.func private @names() attributes {list = [4, #schedule.tree<
    version {
      kernel {
        place "":0 in "a space"
        place "4":1
        place "max>":2 in "}"
        place "gr\C3\B6\C3\9Fe\0A\22\\":3
        place a.b_$1:4 in in
        operand "->":5.0 in "<"
        pack rows:6.1 cols d0 in padded padded
        loop d1 { place loop:7 }
        loop d1 { place loop:8 }
      }
    }
  >]}
  func.func @regions(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %y = graph.fusion(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {schedule = #schedule.tree<
      version {
        kernel {
          loop d0 by 4 grid { place max:0 cols d1 in l1 }
        }
      }
    >} {
    ^bb0(%a: tensor<4x8xf32>):
      graph.yield %a : tensor<4x8xf32>
    }
    return %y : tensor<4x8xf32>
  }
}
