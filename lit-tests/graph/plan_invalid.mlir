// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{#graph.plan sets 'columns' twice}}
func.func private @twice() attributes {plan = #graph.plan<[columns = 4096, parts = 2, columns = 1024]>}

// -----

// expected-error @+1 {{#graph.plan sets 'rows' to -1; it must be at least 0}}
func.func private @negative() attributes {plan = #graph.plan<[rows = -1]>}

// -----

// expected-error @+1 {{#graph.plan sets 'tile' to 0; it must be at least 1}}
func.func private @empty_tile() attributes {plan = #graph.plan<[tile = [12, 0]]>}

// -----

// expected-error @+1 {{expected a setting: tile, keys, columns, resident, rows, parts, block, inner}}
func.func private @unknown() attributes {plan = #graph.plan<[colums = 4]>}

// -----

// expected-error @+1 {{expected integer value}}
func.func private @word() attributes {plan = #graph.plan<[resident = all]>}

// -----

// expected-error @+1 {{expected '['}}
func.func private @tile() attributes {plan = #graph.plan<[tile = 12]>}

// -----

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{attribute 'plan'}}
  %h = graph.fusion(%x : tensor<4xf32>) -> tensor<4xf32> {kind = "row", plan = 12 : i64} {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  return %h : tensor<4xf32>
}
