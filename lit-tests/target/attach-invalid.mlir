// RUN: not sutura-opt %s --split-input-file --attach-target=name=x86_avx2 2>&1 | FileCheck %s
// RUN: not sutura-opt %s --attach-target=name=x86_avx3 2>&1 | FileCheck %s --check-prefix=CLOSE
// RUN: not sutura-opt %s --attach-target=name=vax 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not sutura-opt %s --attach-target 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not sutura-opt %s --attach-target=file=x.mlir 2>&1 | FileCheck %s --check-prefix=OPTION

// CLOSE: there is no built-in target `x86_avx3`; did you mean `x86_avx2`?
// FAR: there is no built-in target `vax`; the built-in ones are `x86_avx512`, `x86_avx512_dot`, `x86_amx`, `x86_avx2`, `generic`, `aarch64`
// ABSENT: option `name` must be given: one of `x86_avx512`, `x86_avx512_dot`, `x86_amx`, `x86_avx2`, `generic`, `aarch64`
// OPTION: no option `file`

// CHECK: 'target.machine' op is what the module is for, and @x86_avx2 is asked for
// CHECK: remove it, or do not ask for a machine
target.machine @mine {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}

// -----

// CHECK: 'target.machine' op describes another machine than the @x86_avx2 that is asked for
target.machine @x86_avx2 {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}

// -----

// CHECK: 'func.func' op has the name of the machine that the module is for, @x86_avx2
func.func @x86_avx2() {
  return
}

// -----

// CHECK: the module describes two machines, @a and @b
target.machine @a {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}
target.machine @b {triple = "x86_64-unknown-linux-gnu", features = ""} {
  target.space @dram {class = "dram", owner = "all"}
}
