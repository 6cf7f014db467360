// RUN: sutura-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics

// Malformed text is an error also where the dialect is a subset.
// expected-error @below {{`w` is no case of `dim`}}
"test.use"() {a = #gpu<dim w>} : () -> ()

// -----

// expected-error @below {{expected '>'}}
"test.use"() {a = #gpu<dim x y>} : () -> ()

// -----

// expected-error @below {{unbalanced '(' character in pretty dialect name}}
"test.use"() {a = #gpu<all_reduce_op (add>} : () -> ()

// -----

// expected-error @below {{expected one of: CrossDevice}}
"test.use"() {a = #spirv.scope<Everybody>} : () -> ()

// -----

// The structure of an operation of the subset is checked also where its types are beyond it.
func.func @operands(%m: !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>) {
  // expected-error @below {{requires a single operand}}
  %0 = "spirv.SNegate"(%m, %m) : (!spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>, !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>) -> !spirv.coopmatrix<2x2xi32, Subgroup, MatrixA>
  return
}
