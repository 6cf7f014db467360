// Nesting has a limit; what is beyond it is an error with a place, however deep it is.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func private @deepest() attributes {tree = #schedule.tree<version { kernel {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} }>}

// -----

func.func private @too_deep() attributes {tree = #schedule.tree<version { kernel {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
loop d0 by 2 { loop d1 by 2 { loop d2 by 2 { loop d3 by 2 { loop d4 by 2 { loop d5 by 2 { loop d6 by 2 { loop d7 by 2 {
// expected-error @+1 {{nesting is too deep: at most 64 loops lie in each other}}
loop d0 by 2 {
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
} } } } } } } }
}
} }>}
