// RUN: sutura-opt %s | sutura-opt | FileCheck %s
// RUN: sutura-opt %s --mlir-print-op-generic | sutura-opt | FileCheck %s

// CHECK-LABEL: @settings
// CHECK-SAME: all = #graph.plan<[tile = [12, 32], keys = 256, columns = 1024, resident = 4096, rows = 4, parts = 16, block = 2, inner = 1]>
// CHECK-SAME: usual = #graph.plan<[]>
// CHECK-SAME: words = #graph.plan<[keys = fit, columns = all, parts = none, block = none]>
func.func private @settings() attributes {
  all = #graph.plan<[tile = [12, 32], keys = 256, columns = 1024, resident = 4096, rows = 4, parts = 16, block = 2, inner = 1]>,
  usual = #graph.plan<[]>,
  words = #graph.plan<[keys = fit, columns = 0, parts = none, block = 0]>
}
