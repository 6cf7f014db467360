// RUN: sutura-opt %s --symbol-privatize | FileCheck %s
// RUN: sutura-opt %s --symbol-privatize=exclude=main,kept | FileCheck %s --check-prefix=SOME
// RUN: sutura-opt %s --symbol-privatize=exclude=mian 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: sutura-opt %s --symbol-privatize --remarks 2>&1 | FileCheck %s --check-prefix=STAYS
// RUN: not sutura-opt %s --pass-pipeline='builtin.module(func.func(symbol-privatize))' 2>&1 | FileCheck %s --check-prefix=BAD

// CHECK: func.func private @main(
// CHECK: func.func private @kept(
// CHECK: func.func private @hidden(

// SOME: func.func @main(
// SOME: func.func @kept(
// SOME: func.func private @hidden(

// WARN: warning: option `exclude` names 'mian', which is no symbol of the table

// STAYS: remark: 'target.machine' stays as it is: symbols of its kind have no visibility

// BAD: error: 'symbol-privatize' needs a symbol table, which 'func.func' is not

func.func @main() {
  return
}
func.func @kept() {
  return
}
func.func nested @hidden() {
  return
}
target.machine @m {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}
