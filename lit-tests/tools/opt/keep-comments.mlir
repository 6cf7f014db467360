// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir --keep-comments | FileCheck %s --match-full-lines --strict-whitespace --check-prefix=KEPT
// RUN: sutura-opt %t/in.mlir --keep-comments --canonicalize --cse 2>%t/err | FileCheck %s --check-prefix=OPT
// RUN: FileCheck %s --check-prefix=WARN --input-file=%t/err
// RUN: sutura-opt %t/in.mlir | FileCheck %s --check-prefix=PLAIN
// RUN: sutura-opt %t/in.mlir --keep-comments --print-op-generic -o %t/generic.mlir
// RUN: sutura-opt %t/generic.mlir --keep-comments -o %t/back.mlir
// RUN: sutura-opt %t/in.mlir --keep-comments -o %t/kept.mlir
// RUN: diff %t/kept.mlir %t/back.mlir
// RUN: not sutura-opt %t/in.mlir --keep-comments --cse --strict -o %t/strict.mlir

// KEPT:// Of the whole file.
// KEPT-EMPTY:
// KEPT-NEXT:module {
// KEPT-NEXT:  // About f.
// KEPT-NEXT:  func.func @f(%size: i32, %c: i1) -> i32 { // opens
// KEPT-NEXT:    // Twice the size.
// KEPT-NEXT:    %twice = arith.addi %size, %size : i32 // doubled
// KEPT-EMPTY:
// KEPT-NEXT:    // No reader.
// KEPT-NEXT:    %dead = arith.muli %size, %size : i32
// KEPT-NEXT:    cf.cond_br %c, ^bb1(%twice : i32), ^bb2
// KEPT-NEXT:  // Reached from above.
// KEPT-NEXT:  ^bb1(%value: i32):  // pred: ^bb0
// KEPT-NEXT:    // Within an operation.
// KEPT-NEXT:    %sum = arith.addi %value, %size : i32
// KEPT-NEXT:    return %sum : i32 // from here
// KEPT-NEXT:  ^bb2:  // pred: ^bb0
// KEPT-NEXT:    return %twice : i32
// KEPT-NEXT:    // Before the brace.
// KEPT-NEXT:  } // end of f
// KEPT-NEXT:}
// KEPT-EMPTY:
// KEPT-NEXT:// At the end.

// OPT:      // About f.
// OPT-NEXT: func.func @f(%size: i32, %c: i1) -> i32 { // opens
// OPT-NEXT:   // Twice the size.
// OPT-NEXT:   %twice = arith.addi %size, %size : i32 // doubled
// OPT-NEXT:   cf.cond_br %c, ^bb1, ^bb2
// OPT-NEXT: // Reached from above.
// OPT-NEXT: ^bb1:  // pred: ^bb0
// OPT-NEXT:   // Within an operation.
// OPT-NEXT:   %sum = arith.addi %twice, %size : i32

// WARN: in.mlir:9:3: warning: a comment is gone with what it stood beside [W0106]

// PLAIN:     module {
// PLAIN-NOT: // opens

//--- in.mlir
// Of the whole file.

// About f.
func.func @f(%size: i32, %c: i1) -> i32 { // opens
  // Twice the size.
  %twice = arith.addi %size, %size : i32 // doubled


  // No reader.
  %dead = arith.muli %size, %size : i32
  cf.cond_br %c, ^there(%twice : i32), ^done
// Reached from above.
^there(%value: i32): // pred: ^bb0
  %sum = arith.addi %value, // Within an operation.
                    %size : i32
  return %sum : i32 // from here
^done:
  return %twice : i32
  // Before the brace.
} // end of f

// At the end.
