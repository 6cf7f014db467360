// What is malformed, with its place.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected 'version' or '>'}}
func.func private @no_version_yet() attributes {tree = #schedule.tree<kernel {}>}

// -----

func.func private @after_version() attributes {tree = #schedule.tree<version { kernel {} }
// expected-error @+1 {{expected 'version' or '>'}}
join d0 d1>}

// -----

// expected-error @+1 {{expected a dim, such as 'd0'}}
func.func private @no_dim() attributes {tree = #schedule.tree<version { join d0 2 }>}

// -----

// expected-error @+1 {{expected a dim, such as 'd0'}}
func.func private @other_dim() attributes {tree = #schedule.tree<version { join d0 dx }>}

// -----

// expected-error @+1 {{expected a dim, such as 'd0'}}
func.func private @half_a_dim() attributes {tree = #schedule.tree<version { fuse d0 d1.0 }>}

// -----

func.func private @huge_dim() attributes {tree = #schedule.tree<version { fuse d0
// expected-error @+1 {{the number of the dim is too large}}
d99999999999999999999 }>}

// -----

// expected-error @+1 {{expected '['}}
func.func private @guard() attributes {tree = #schedule.tree<version when N {}>}

// -----

func.func private @unknown_size() attributes {tree = #schedule.tree<version when [
// expected-error @+1 {{expected a symbol, a number or '('}}
?] {}>}

// -----

// expected-error @+1 {{a coefficient, a constant or a divisor of the size does not fit 64 bits}}
func.func private @huge_size() attributes {tree = #schedule.tree<version when [9223372036854775807 * N +
N] {}>}

// -----

func.func private @launch() attributes {tree = #schedule.tree<version {
// expected-error @+1 {{expected a launch: kernel or together; 'join', 'fuse' and 'hoist' come before the first one}}
loop d0 {} }>}

// -----

func.func private @together() attributes {tree = #schedule.tree<version { together {
// expected-error @+1 {{expected 'kernel'}}
place a:0 } }>}

// -----

func.func private @no_body() attributes {tree = #schedule.tree<version { kernel
// expected-error @+1 {{expected '{'}}
place a:0 }>}

// -----

func.func private @node() attributes {tree = #schedule.tree<version { kernel {
// expected-error @+1 {{expected a node: loop, place, contract, join, operand, cache or pack}}
loops d0 {} } }>}

// -----

func.func private @not_a_word() attributes {tree = #schedule.tree<version { kernel {
// expected-error @+1 {{expected a node: loop, place, contract, join, operand, cache or pack}}
4 } }>}

// -----

func.func private @kernel_in_kernel() attributes {tree = #schedule.tree<version { kernel { loop d0 {
// expected-error @+1 {{expected a node: loop, place, contract, join, operand, cache or pack}}
kernel {} } } }>}

// -----

func.func private @loop_over_nothing() attributes {tree = #schedule.tree<version { kernel { loop
// expected-error @+1 {{expected a dim, such as 'd0'}}
by 4 {} } }>}

// -----

func.func private @split() attributes {tree = #schedule.tree<version { kernel { loop d0 by
// expected-error @+1 {{expected integer value}}
grid {} } }>}

// -----

func.func private @huge_split() attributes {tree = #schedule.tree<version { kernel { loop d0 by
// expected-error @+1 {{integer value too large}}
9223372036854775808 {} } }>}

// -----

func.func private @order() attributes {tree = #schedule.tree<version { kernel { loop d0 grid
// expected-error @+1 {{expected '{'}}
by 4 {} } }>}

// -----

func.func private @no_stage() attributes {tree = #schedule.tree<version { kernel { place
// expected-error @+1 {{expected a stage, such as 'max:0'}}
4:0 } }>}

// -----

func.func private @no_colon() attributes {tree = #schedule.tree<version { kernel { place max
// expected-error @+1 {{expected ':'}}
0 } }>}

// -----

func.func private @no_number() attributes {tree = #schedule.tree<version { kernel { place max:
// expected-error @+1 {{expected the number of a stage, which is at least 0}}
rows d0 } }>}

// -----

func.func private @negative() attributes {tree = #schedule.tree<version { kernel { place max:
// expected-error @+1 {{expected the number of a stage, which is at least 0}}
-1 } }>}

// -----

func.func private @huge_number() attributes {tree = #schedule.tree<version { kernel { place max:
// expected-error @+1 {{integer value too large}}
9223372036854775808 } }>}

// -----

func.func private @no_input() attributes {tree = #schedule.tree<version { kernel { operand max:0
// expected-error @+1 {{expected '.'}}
} }>}

// -----

func.func private @negative_input() attributes {tree = #schedule.tree<version { kernel { pack max:0.
// expected-error @+1 {{expected the number of an input, which is at least 0}}
-1 } }>}

// -----

func.func private @huge_input() attributes {tree = #schedule.tree<version { kernel { pack max:0.
// expected-error @+1 {{integer value too large}}
9223372036854775808 } }>}

// -----

func.func private @input_of_place() attributes {tree = #schedule.tree<version { kernel { place max:0
// expected-error @+1 {{expected a node: loop, place, contract, join, operand, cache or pack}}
.1 } }>}

// -----

func.func private @space() attributes {tree = #schedule.tree<version { kernel { place max:0 in
// expected-error @+1 {{expected the name of a space}}
4 } }>}

// -----

func.func private @empty_space() attributes {tree = #schedule.tree<version { kernel { place max:0 in
// expected-error @+1 {{expected the name of a space}}
"" } }>}

// -----

func.func private @tile_order() attributes {tree = #schedule.tree<version { kernel { place max:0 cols d0
// expected-error @+1 {{expected a node: loop, place, contract, join, operand, cache or pack}}
rows d1 } }>}
