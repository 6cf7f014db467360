// RUN: sutura-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-note@below {{see existing symbol definition here}}
func.func private @f()
// expected-error@below {{redefinition of symbol named 'f'}}
func.func private @f()

// -----

func.func @caller() {
  // expected-error@below {{'missing' does not reference a valid function}}
  call @missing() : () -> ()
  return
}

// -----

// The name is looked up in the nearest symbol table, not further out.
func.func private @outer()
module {
  func.func @caller() {
    // expected-error@below {{'outer' does not reference a valid function}}
    call @outer() : () -> ()
    return
  }
}

// -----

module {
  module @inner {
    func.func private @f()
  }
  func.func @caller() {
    return
  }
}
