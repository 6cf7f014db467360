// A schedule keeps the name that a text gives it.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
#row = #schedule.tree<
  version {
    kernel {
      loop d0 grid { place max:0 cols d1 in l1 }
    }
  }
>
module {
  func.func @regions(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %y = graph.fusion(%x : tensor<4x8xf32>) -> tensor<4x8xf32> {schedule = #row} {
    ^bb0(%a: tensor<4x8xf32>):
      graph.yield %a : tensor<4x8xf32>
    }
    return %y : tensor<4x8xf32>
  }
}
