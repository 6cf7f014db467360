// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op region #1 ('caseRegions') failed to verify constraint: region with 1 blocks}}
  scf.index_switch %a
  case 2 {
  }
  default {
  }
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op has duplicate case value: 2}}
  scf.index_switch %a
  case 2 {
    scf.yield
  }
  case 2 {
    scf.yield
  }
  default {
  }
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op has 0 case regions but 1 case values}}
  "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op expected each region to return 1 values, but case region #0 returns 0}}
  %0 = "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    scf.yield %x : i32
  }, {
    scf.yield
  }) : (index) -> (i32)
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op expected each region to return 1 values, but default region returns 0}}
  %0 = "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    scf.yield
  }, {
    scf.yield %x : i32
  }) : (index) -> (i32)
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op expected result #0 of each region to be 'i32'}}
  %0 = "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    scf.yield %x : i32
  }, {
    scf.yield %a : index
  }) : (index) -> (i32)
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op expected region to end with scf.yield, but got llvm.unreachable}}
  "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
    "llvm.unreachable"() : () -> ()
  }, {
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  // expected-error@+1 {{'scf.index_switch' op region #0 ('defaultRegion') failed to verify constraint: region with 1 blocks}}
  "scf.index_switch"(%a) <{cases = array<i64: 1>}> ({
  }, {
    scf.yield
  }) : (index) -> ()
  return
}

// -----

func.func @f(%a: index, %x: i32) {
  scf.index_switch %a
  case 2 {
    scf.yield
  }
  // expected-error@+1 {{expected 'default'}}
  return
}

// -----

// What follows is read as operations.

func.func @f(%a: index, %x: i32) {
  scf.index_switch %a
  // expected-error@+2 {{expected integer value}}
  // expected-error@+1 {{custom op 'case' is unknown}}
  case %a {
  }
  // expected-error@+1 {{custom op 'default' is unknown}}
  default {
  }
  return
}
