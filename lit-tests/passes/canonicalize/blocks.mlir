// RUN: sutura-opt %s --canonicalize | FileCheck %s
// RUN: sutura-opt %s --canonicalize=region-simplify=disabled | FileCheck %s --check-prefix=OFF
// RUN: sutura-opt %s --canonicalize=region-simplify=aggressive | FileCheck %s --check-prefix=MERGED
// RUN: not sutura-opt %s --canonicalize=region-simplify=fierce 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: option `region-simplify` takes

// A chain of blocks is one block.

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %[[B:.*]] = arith.addi %n, %n
// CHECK-NEXT:    return %[[B]]
// OFF-LABEL: func.func @chain(
// OFF-COUNT-2: cf.br
func.func @chain(%n: i32) -> i32 {
  cf.br ^bb1(%n : i32)
^bb1(%a: i32):
  %b = arith.addi %a, %n : i32
  cf.br ^bb2(%b : i32)
^bb2(%d: i32):
  return %d : i32
}

// A block that only goes on is passed by.

// CHECK-LABEL: func.func @pass_by(
// CHECK-NEXT:    %[[S:.*]] = arith.select %c, %n, %m
// CHECK-NEXT:    return %[[S]]
func.func @pass_by(%c: i1, %n: i32, %m: i32) -> i32 {
  cf.cond_br %c, ^bb1(%n : i32), ^bb2(%m : i32)
^bb1(%a: i32):
  cf.br ^bb2(%a : i32)
^bb2(%d: i32):
  return %d : i32
}

// Its argument is needed elsewhere: it stays. So does a loop that does nothing, which never ends.

// CHECK-LABEL: func.func @needed(
// CHECK:         cf.switch
// CHECK-NEXT:      default: ^[[B:bb[0-9]+]](%n : i32)
// CHECK-NEXT:      1: ^[[B]](%m : i32)
// CHECK:       ^[[B]](%[[A:.*]]: i32):
// CHECK-NEXT:    cf.br ^[[C:bb[0-9]+]](%n : i32)
// CHECK:       ^[[C]](%[[I:.*]]: i32):
// CHECK-NEXT:    call @use(%[[A]])
func.func @needed(%c: i1, %n: i32, %m: i32) {
  cf.switch %n : i32, [
    default: ^bb1(%n : i32),
    1: ^bb1(%m : i32)
  ]
^bb1(%a: i32):
  cf.br ^bb2(%n : i32)
^bb2(%i: i32):
  func.call @use(%a) : (i32) -> ()
  func.call @use(%i) : (i32) -> ()
  cf.cond_br %c, ^bb2(%m : i32), ^bb3
^bb3:
  return
}
func.func private @use(i32)

// CHECK-LABEL: func.func @forever(
// CHECK:         cf.br ^[[B:bb[0-9]+]]
// CHECK-NEXT:  ^[[B]]:
// CHECK-NEXT:    cf.br ^[[B]]
func.func @forever() {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}

// What is computed only for the next iteration's argument, which nothing else needs, goes.

// CHECK-LABEL: func.func @cycle(
// CHECK-NEXT:    cf.br ^bb1
// CHECK-NEXT:  ^bb1:
// CHECK-NEXT:    cf.cond_br %c, ^bb1, ^bb2
func.func @cycle(%c: i1, %n: i32) {
  cf.br ^bb1(%n, %n : i32, i32)
^bb1(%a: i32, %b: i32):
  %0 = arith.addi %a, %b : i32
  %1 = arith.muli %0, %b : i32
  cf.cond_br %c, ^bb1(%0, %1 : i32, i32), ^bb2
^bb2:
  return
}

// Blocks that do the same are one, with an argument for what they use differently.

// CHECK-LABEL: func.func @identical(
// CHECK-COUNT-2: return
// MERGED-LABEL: func.func @identical(
// MERGED-NEXT:    %[[S:.*]] = arith.select %c, %n, %m
// MERGED-NEXT:    %[[R:.*]] = arith.addi %[[S]], %n
// MERGED-NEXT:    return %[[R]]
// MERGED-NEXT:  }
func.func @identical(%c: i1, %n: i32, %m: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %b = arith.addi %n, %n : i32
  return %b : i32
^bb2:
  %d = arith.addi %m, %n : i32
  return %d : i32
}

// MERGED-LABEL: func.func @three(
// MERGED:         cf.switch
// MERGED-NEXT:      default: ^[[B:bb[0-9]+]](%n : i32)
// MERGED-NEXT:      1: ^[[B]](%m : i32)
// MERGED-NEXT:      2: ^[[B]](%k : i32)
// MERGED:       ^[[B]](%[[A:.*]]: i32):
// MERGED-NEXT:    call @use(%[[A]])
// MERGED-NEXT:    return
// MERGED-NEXT:  }
func.func @three(%c: i32, %n: i32, %m: i32, %k: i32) {
  cf.switch %c : i32, [
    default: ^bb1,
    1: ^bb2,
    2: ^bb3
  ]
^bb1:
  call @use(%n) : (i32) -> ()
  return
^bb2:
  call @use(%m) : (i32) -> ()
  return
^bb3:
  call @use(%k) : (i32) -> ()
  return
}

// Other attributes, other operations, a value that is used elsewhere: these stay apart.

// MERGED-LABEL: func.func @different(
// MERGED-COUNT-4: return
func.func @different(%c: i32, %n: i32) -> i32 {
  cf.switch %c : i32, [
    default: ^bb1,
    1: ^bb2,
    2: ^bb3,
    3: ^bb4
  ]
^bb1:
  %0 = arith.cmpi slt, %n, %c : i32
  %1 = arith.extui %0 : i1 to i32
  return %1 : i32
^bb2:
  %2 = arith.cmpi sge, %n, %c : i32
  %3 = arith.extui %2 : i1 to i32
  return %3 : i32
^bb3:
  %4 = arith.addi %n, %c : i32
  return %4 : i32
^bb4:
  %5 = arith.muli %n, %c : i32
  return %5 : i32
}
