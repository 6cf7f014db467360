// Steps from one plan to another, apart from their program.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
// RUN: sutura-opt --verify-diagnostics --split-input-file %t/bad.mlir
//--- in.mlir
module {
  schedule.plan ["5f0c8d7be1a94d20"] of ["@main 3"] = [array<i64: 0, 1>, array<i64: 2>]
  schedule.plan ["5f0c8d7be1a94d20", "91b7e20fd1c3a846"] of ["@main 0", "@main 2"] = [array<i64: 0, 1, 2>]
}
//--- bad.mlir
// expected-error@+1 {{names 2 regions and 1 algorithms, not one for each}}
schedule.plan ["5f"] of ["@main 3", "@main 4"] = [array<i64: 0>]

// -----

// expected-error@+1 {{names 0 regions and 0 algorithms, not one for each}}
schedule.plan [] of [] = [array<i64: 0>]

// -----

// expected-error@+1 {{needs a list of numbers for each kernel, such as 'array<i64: 0, 1>'}}
schedule.plan ["5f"] of ["@main 3"] = [array<i64: 0>, "1"]

// -----

// expected-error@+1 {{needs a list of numbers for each kernel, such as 'array<i64: 0, 1>'}}
schedule.plan ["5f"] of ["@main 3"] = [array<i64: 0>, []]

// -----

// expected-error@+1 {{kernels must have each op once, counted from 0, in order}}
schedule.plan ["5f"] of ["@main 3"] = [array<i64: 0, 1>, array<i64: 1>]

// -----

// expected-error@+1 {{kernels must have each op once, counted from 0, in order}}
schedule.plan ["5f"] of ["@main 3"] = [array<i64: 1, 0>]

// -----

// expected-error@+1 {{kernels must have each op once, counted from 0, in order}}
schedule.plan ["5f"] of ["@main 3"] = [array<i64: -1, 0>]

// -----

// expected-error@+1 {{kernels must have each op once, counted from 0, in order}}
schedule.plan ["5f"] of ["@main 3"] = []
