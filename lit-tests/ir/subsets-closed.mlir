// Without the flag what is beyond a subset is an error that names it.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{unknown attribute `all_reduce_op` in dialect `gpu`}}
module attributes {test.a = #gpu<all_reduce_op add>} {}

// -----

// expected-error @below {{a struct with a name is not supported: write its members in parentheses}}
func.func private @named(!spirv.struct<named, (i32)>)

// -----

// expected-error @below {{the decoration `MatrixStride` with a value is not supported}}
func.func private @decorated(!spirv.struct<(f32 [0, MatrixStride=16])>)
