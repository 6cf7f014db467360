// Each form as upstream writes it, but for a blank at the ends of lines; that is checked, too.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --discard-value-names > %t/out.mlir
// RUN: diff -b %t/in.mlir %t/out.mlir
// RUN: FileCheck %t/blanks --strict-whitespace < %t/out.mlir
// RUN: sutura-opt %t/constant.mlir --canonicalize | FileCheck %t/constant.mlir
// RUN: sutura-opt %t/blocks.mlir --convert-scf-to-cf | FileCheck %t/blocks.mlir
// RUN: sutura-opt %t/blocks.mlir --convert-scf-to-cf --check-passes -o %t/checked.mlir
// RUN: sutura-opt %t/constant.mlir --sccp --canonicalize --check-passes -o %t/checked.mlir
//--- blanks
CHECK: -> i32{{ $}}
CHECK-NEXT:{{^}}    case 2 {{[{]$}}
//--- in.mlir
module {
  func.func @f(%arg0: index, %arg1: i32) -> i32 {
    %0 = scf.index_switch %arg0 {a = 1 : i64} -> i32
    case 2 {
      %c10_i32 = arith.constant 10 : i32
      scf.yield %c10_i32 : i32
    }
    case -5 {
      scf.yield %arg1 : i32
    }
    default {
      scf.yield %arg1 : i32
    }
    scf.index_switch %arg0
    case 0 {
      scf.yield
    }
    default {
      func.call @g() : () -> ()
    }
    scf.index_switch %arg0
    default {
    }
    return %0 : i32
  }
  func.func private @g()
}
//--- constant.mlir
// The region of a known number takes the place of the switch.

// CHECK-LABEL: func.func @known(
// CHECK-SAME:    %[[X:.*]]: i32, %[[Y:.*]]: i32
// CHECK-NOT:     scf
// CHECK:         %[[S:.*]] = arith.addi %[[X]], %[[X]]
// CHECK-NEXT:    return %[[S]], %[[Y]] : i32, i32
func.func @known(%x: i32, %y: i32) -> (i32, i32) {
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %0 = scf.index_switch %c7 -> i32
  case 1 {
    scf.yield %x : i32
  }
  case 7 {
    %s = arith.addi %x, %x : i32
    scf.yield %s : i32
  }
  default {
    scf.yield %y : i32
  }
  %1 = scf.index_switch %c8 -> i32
  case 1 {
    scf.yield %x : i32
  }
  default {
    scf.yield %y : i32
  }
  return %0, %1 : i32, i32
}
//--- blocks.mlir
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %[[I:.*]]: index, %[[X:.*]]: i32
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    cf.switch %[[N]] : i64, [
// CHECK-NEXT:      default: ^[[DEFAULT:.*]],
// CHECK-NEXT:      2: ^[[TWO:.*]],
// CHECK-NEXT:      18446744073709551611: ^[[NEGATIVE:.*]]
// CHECK:       ^[[TWO]]:
// CHECK-NEXT:    %[[S:.*]] = arith.addi %[[X]], %[[X]]
// CHECK-NEXT:    cf.br ^[[END:.*]](%[[S]] : i32)
// CHECK:       ^[[NEGATIVE]]:
// CHECK-NEXT:    cf.br ^[[END]](%[[X]] : i32)
// CHECK:       ^[[DEFAULT]]:
// CHECK:         cf.br ^[[END]](%{{.*}} : i32)
// CHECK:       ^[[END]](%[[R:.*]]: i32):
func.func @blocks(%i: index, %x: i32) -> i32 {
  %0 = scf.index_switch %i -> i32
  case 2 {
    %s = arith.addi %x, %x : i32
    scf.yield %s : i32
  }
  case -5 {
    scf.yield %x : i32
  }
  default {
    %c3 = arith.constant 3 : i32
    scf.yield %c3 : i32
  }
  // CHECK:         cf.switch %{{.*}} : i64, [
  // CHECK-NEXT:      default: ^[[ONLY:bb[0-9]+]]
  // CHECK:       ^[[ONLY]]:
  // CHECK-NEXT:    cf.br ^[[REST:.*]]
  // CHECK:       ^[[REST]]:
  // CHECK-NEXT:    return %[[R]] : i32
  scf.index_switch %i
  default {
  }
  return %0 : i32
}
