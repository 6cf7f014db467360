// RUN: sutura-opt %s --legalize-elements --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --pass-pipeline='builtin.module(propagate-shapes,legalize-elements,func.func(stitch),convert-graph-to-gir,convert-gir-to-cpu)' --check-passes=2 --strict -o %t.mlir

#one = affine_map<(d0) -> (d0)>

// Functions of elements take integers without sign as signless ones already.
// CHECK-LABEL: func.func @divide
// CHECK: graph.compute ins({{.*}} : tensor<?xi8, #dyn.shape<[N]>>, tensor<?xi8, #dyn.shape<[N]>>) -> tensor<?xi8, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>>
// CHECK: arith.divui
func.func @divide(%x: tensor<?xui8, #dyn.shape<[N]>>, %y: tensor<?xui8, #dyn.shape<[N]>>) -> (tensor<?xui8, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>>) {
  %0, %1, %2 = graph.compute ins(%x, %y : tensor<?xui8, #dyn.shape<[N]>>, tensor<?xui8, #dyn.shape<[N]>>) -> tensor<?xui8, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one, #one, #one, #one]} {
  ^bb0(%a: i8, %b: i8):
    %one = arith.constant 1 : i8
    %some = arith.ori %b, %one : i8
    %q = arith.divui %a, %some : i8
    %r = arith.remui %a, %some : i8
    %m = arith.maxui %q, %r : i8
    %two = arith.constant 2 : i8
    %s = arith.shrui %m, %two : i8
    %t = arith.shli %s, %one : i8
    %f = arith.uitofp %a : i8 to f32
    %c = arith.cmpi ult, %a, %b : i8
    graph.yield %t, %f, %c : i8, f32, i1
  }
  return %0, %1, %2 : tensor<?xui8, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>, tensor<?xi1, #dyn.shape<[N]>>
}

// CHECK-LABEL: func.func @moves
// CHECK: graph.constant dense<[-1, 7]> : tensor<2xi16>
// CHECK: graph.concat {{.*}} -> tensor<?xi16, #dyn.shape<[N + 2]>>
// CHECK: graph.bitcast {{.*}} -> tensor<?xui16, #dyn.shape<[N + 2]>>
func.func @moves(%x: tensor<?xui16, #dyn.shape<[N]>>) -> tensor<?xui16, #dyn.shape<[N + 2]>> {
  %c = graph.constant dense<[65535, 7]> : tensor<2xui16>
  %0 = graph.concat %c, %x {axis = 0 : i64} : tensor<2xui16>, tensor<?xui16, #dyn.shape<[N]>> -> tensor<?xui16, #dyn.shape<[N + 2]>>
  return %0 : tensor<?xui16, #dyn.shape<[N + 2]>>
}
