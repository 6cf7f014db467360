// RUN: sutura-opt %s --verify-diagnostics --split-input-file

func.func @operator() {
  // expected-error @below {{'dyn.symbol' op name 'mod' cannot be used in sizes}}
  %0 = dyn.symbol "mod" : index
  return
}

// -----

func.func @empty() {
  // expected-error @below {{'dyn.symbol' op range [5, 4] of 'N' is empty}}
  %0 = dyn.symbol "N" {range = [5, 4]} : index
  return
}

// -----

func.func @unlikely() {
  // expected-error @below {{'dyn.symbol' op likely value 12 of 'N' is none of its values}}
  %0 = dyn.symbol "N" {div = 8, likely = [16, 12]} : index
  return
}

// -----

func.func @divisor() {
  // expected-error @below {{attribute 'div' failed to satisfy constraint: positive 64-bit integer}}
  %0 = dyn.symbol "N" {div = 0} : index
  return
}

// -----

func.func @least() {
  // expected-error @below {{expected ','}}
  dyn.equal [min(N)], [4]
  return
}

// -----

func.func @unknown() {
  // expected-error @below {{expected a symbol, a number or '('}}
  dyn.equal [N], [?]
  return
}
