// RUN: sutura-opt --doc=cf | FileCheck %s
// RUN: sutura-opt --doc=arith | FileCheck %s --check-prefix=ARITH
// RUN: not sutura-opt --doc=arit 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: not sutura-opt --doc=nothing-like-it 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK:      # Dialect `cf`
// CHECK:      Branches between blocks.
// CHECK:      A subset of MLIR's dialect of this name.
// CHECK:      ### `cf.cond_br`
// CHECK:      Goes to one of two blocks.
// CHECK:      Format: ``$condition {{.*}}``
// CHECK:      Traits: Pure, Terminator, AttrSizedOperandSegments
// CHECK:      | operand | `condition` | 1-bit signless integer |
// CHECK-NEXT: | operand | `trueDestOperands` | any number of any type |
// CHECK:      | attribute | `branch_weights` | i32 dense array attribute, may be absent |
// CHECK:      | successor | `falseDest` |

// ARITH:      ### `arith.addi`
// ARITH:      | attribute | `overflowFlags` | Integer overflow arith flags, `#arith.overflow<none>` when absent |

// TYPO: no dialect `arit` is registered; did you mean `arith`?
// NONE: no dialect `nothing-like-it` is registered; `--show-dialects` lists them
