// What is refused of a tree that is well formed.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{#schedule.tree has no version}}
func.func private @empty() attributes {tree = #schedule.tree<>}

// -----

// expected-error @+1 {{'join d1 d1' needs two dims that differ}}
func.func private @joined() attributes {tree = #schedule.tree<version { join d1 d1 kernel {} }>}

// -----

// expected-error @+1 {{'fuse d1 d1' needs two dims that differ}}
func.func private @fused() attributes {tree = #schedule.tree<version { fuse d1 d1 kernel {} }>}

// -----

// expected-error @+1 {{the last version has a guard; it must have none, so that one always runs}}
func.func private @last_guard() attributes {tree = #schedule.tree<version when [N] { kernel {} }>}

// -----

// expected-error @+1 {{version 0 has no guard, so that no version after it ever runs}}
func.func private @first_guard() attributes {tree = #schedule.tree<version { kernel {} } version { kernel {} }>}

// -----

// expected-error @+1 {{version 1 launches nothing}}
func.func private @no_launch() attributes {tree = #schedule.tree<version when [N] { kernel {} } version {}>}

// -----

// expected-error @+1 {{version 0 has a launch without kernels}}
func.func private @no_kernel() attributes {tree = #schedule.tree<version { together {} }>}

// -----

// expected-error @+1 {{the loop over d1 is of the grid, but the loop over d0 around it is not}}
func.func private @grid_inside() attributes {tree = #schedule.tree<version { kernel { loop d0 by 4 { loop d1 grid {} } } }>}

// -----

// expected-error @+1 {{the loop over d1 of the grid is not alone in the loop over d0 around it}}
func.func private @grid_beside() attributes {tree = #schedule.tree<version { kernel { loop d0 grid { place a:0 loop d1 grid {} } } }>}

// -----

// expected-error @+1 {{the loop over d1 of the grid is not alone in its kernel}}
func.func private @grid_after() attributes {tree = #schedule.tree<version { kernel { place a:0 loop d1 grid {} } }>}

// -----

// expected-error @+1 {{the loop over d0 of the grid is not alone in its kernel}}
func.func private @two_grids() attributes {tree = #schedule.tree<version { kernel { loop d0 grid {} loop d1 grid {} } }>}

// -----

// expected-error @+1 {{the loop over d0 is split by 0; it must be at least 1}}
func.func private @by() attributes {tree = #schedule.tree<version { kernel { loop d0 by 0 {} } }>}

// -----

// expected-error @+1 {{the loop over d0 has -4 even parts; it must be at least 1}}
func.func private @even() attributes {tree = #schedule.tree<version { kernel { loop d0 even -4 grid {} } }>}

// -----

// expected-error @+1 {{the loop over d0 lies in a loop that gives one index of d0}}
func.func private @again() attributes {tree = #schedule.tree<version { kernel { loop d0 grid { loop d1 { loop d0 by 2 {} } } } }>}

// -----

// expected-error @+1 {{stage 'a:0' has rows along d0, of which a loop around it gives one index}}
func.func private @rows_of_one() attributes {tree = #schedule.tree<version { kernel { loop d0 { place a:0 rows d0 } } }>}

// -----

// expected-error @+1 {{stage '"a b":0' has columns along d0, of which a loop around it gives one index}}
func.func private @columns_of_one() attributes {tree = #schedule.tree<version { kernel { loop d0 by 4 { loop d0 { join "a b":0 cols d0 } } } }>}

// -----

// expected-error @+1 {{operand 'a:0.1' has columns along d0, of which a loop around it gives one index}}
func.func private @operand_of_one() attributes {tree = #schedule.tree<version { kernel { loop d0 { operand a:0.1 cols d0 } } }>}

// -----

// expected-error @+1 {{stage 'a:0' has rows and columns along the same dim, d1}}
func.func private @same_dim() attributes {tree = #schedule.tree<version { kernel { contract a:0 rows d1 cols d1 } }>}

// -----

// expected-error @+1 {{operand 'a:0.1' has rows and columns along the same dim, d1}}
func.func private @same_dim_of_operand() attributes {tree = #schedule.tree<version { kernel { pack a:0.1 rows d1 cols d1 } }>}

// -----

// expected-error @+1 {{stage 'a:0' is placed twice in one body}}
func.func private @placed_twice() attributes {tree = #schedule.tree<version { kernel { place a:0 contract a:0 cols d0 } }>}

// -----

// expected-error @+1 {{stage 'b:0' is joined twice in one body}}
func.func private @joined_twice() attributes {tree = #schedule.tree<version { kernel { loop d0 { join a:0 join b:0 } } }>}

// -----

// expected-error @+1 {{the contraction of stage 'a:0' has no columns}}
func.func private @no_columns() attributes {tree = #schedule.tree<version { kernel { contract a:0 rows d0 } }>}

// -----

// expected-error @+1 {{the packed operand 'a:0.1' has no columns}}
func.func private @no_packed_columns() attributes {tree = #schedule.tree<version { kernel { pack a:0.1 rows d0 } }>}

// -----

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{attribute 'schedule'}}
  %h = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {schedule = #dyn.shape<[]>} {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  return %h : tensor<4xf32>
}

// -----

// expected-error @+1 {{the loop over d0 has the number 9223372036854775807; no dim is longer than 2147483647}}
func.func private @huge_split() attributes {tree = #schedule.tree<version { kernel { loop d0 by 9223372036854775807 {} } }>}

// -----

// expected-error @+1 {{the loop over d0 has the number 4294967296; no dim is longer than 2147483647}}
func.func private @huge_parts() attributes {tree = #schedule.tree<version { kernel { loop d0 even 4294967296 grid {} } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' has a pitch, which only a cached one has}}
func.func private @pitch_of_a_tile() attributes {tree = #schedule.tree<version { kernel { operand e:0.0 cols d0 pitch 8 } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' is read ahead, which only a cached one is}}
func.func private @ahead_of_later_kernels() attributes {tree = #schedule.tree<version { kernel { pack e:0.0 cols d0 ahead } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' is copied asynchronously, which only a cached one is}}
func.func private @async_of_a_tile() attributes {tree = #schedule.tree<version { kernel { operand e:0.0 cols d0 async } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' is read ahead, and copied asynchronously: it is either}}
func.func private @ahead_and_async() attributes {tree = #schedule.tree<version { kernel { cache e:0.0 cols d0 ahead async } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' is copied asynchronously, and has a body that computes it}}
func.func private @async_body() attributes {tree = #schedule.tree<version { kernel { cache e:0.0 cols d0 async { place d:1 } } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' has a pitch of 0; it must be from 1 to}}
func.func private @no_pitch() attributes {tree = #schedule.tree<version { kernel { cache e:0.0 cols d0 pitch 0 } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' is read ahead, and its body holds more than places}}
func.func private @made_ahead() attributes {tree = #schedule.tree<version { kernel { cache e:0.0 cols d0 ahead { loop d1 { place s:1 } } } }>}

// -----

// expected-error @+1 {{stage 's:1' is placed columnwise, and has no columns}}
func.func private @no_columns() attributes {tree = #schedule.tree<version { kernel { place s:1 rows d0 columnwise } }>}

// -----

// expected-error @+1 {{stage 's:1' is placed columnwise, and is a contraction}}
func.func private @contracted() attributes {tree = #schedule.tree<version { kernel { contract s:1 cols d0 columnwise } }>}

// -----

// expected-error @+1 {{stage 's:1' is joined columnwise, which only a place can be}}
func.func private @joined_columnwise() attributes {tree = #schedule.tree<version { kernel { join s:1 cols d0 columnwise } }>}

// -----

// expected-error @+1 {{'defer' without 'stream': only what goes past the caches can wait}}
func.func private @deferred() attributes {tree = #schedule.tree<version { kernel { place s:1 defer } }>}

// -----

// expected-error @+1 {{stage 's:1' has its home in stage 's:1', which is itself}}
func.func private @own_home() attributes {tree = #schedule.tree<version { kernel { place s:1 cols d0 in l1 home s:1 } }>}

// -----

// expected-error @+1 {{stage 's:1' has its home in stage 'q:2', and it has no columns}}
func.func private @home_of_number() attributes {tree = #schedule.tree<version { kernel { place s:1 home q:2 } }>}

// -----

// expected-error @+1 {{stage 's:1' has its home in stage 'q:2', and a contraction lies in registers}}
func.func private @home_of_contraction() attributes {tree = #schedule.tree<version { kernel { contract s:1 cols d0 home q:2 } }>}

// -----

// expected-error @+1 {{stage 's:1' is joined with a home, which only a place has}}
func.func private @joined_home() attributes {tree = #schedule.tree<version { kernel { join s:1 cols d0 home q:2 } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' is asked for ahead, which only one that is brought into a tile is}}
func.func private @packed_ahead() attributes {tree = #schedule.tree<version { kernel { pack e:0.0 cols d0 prefetch(64) } }>}

// -----

// expected-error @+1 {{operand 'e:0.0' asks for what lies 0 bytes ahead; it must be at least 1}}
func.func private @no_bytes() attributes {tree = #schedule.tree<version { kernel { operand e:0.0 cols d0 prefetch(0) } }>}
