// RUN: sutura-opt %s --refine-fusion-plan --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=sm_80},refine-fusion-plan)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=DEVICE
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},refine-fusion-plan)' --remarks 2>&1 >/dev/null | FileCheck %s --check-prefix=QUIET
// RUN: sutura-opt %s --pass-pipeline='builtin.module(attach-target{name=x86_avx512},refine-fusion-plan)' | FileCheck %s --check-prefix=KEPT

// NONE: remark: no plan is refined: the module describes no machine
// DEVICE: remark: no plan is refined: predictions for 'sm_80', whose units are threads, were never compared with its times
// A region with a schedule of its own stays, and nothing is said of it.
// QUIET: remark: the machine 'x86_avx512' is described
// QUIET-NOT: remark
// KEPT: func.func @kept
// KEPT: graph.fusion
// KEPT-SAME: schedule = #schedule.tree<
// KEPT-NOT: graph.fusion

#row = affine_map<(m, n, k) -> (m, k)>
#col = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

func.func @kept(%a: tensor<4096x64xf32>, %b: tensor<64x4xf32>) -> tensor<4096x4xf32> {
  %r = graph.fusion(%a, %b : tensor<4096x64xf32>, tensor<64x4xf32>) -> tensor<4096x4xf32> {schedule = #schedule.tree<
      version {
        kernel {
          loop d1 by 16 grid {
            loop d2 { pack product:0.1 cols d1 in vec padded }
          }
        }
        kernel {
          loop d1 by 16 grid {
            loop d0 by 12 grid {
              loop d2 { contract product:0 rows d0 cols d1 in vec }
              place power:1 rows d0 cols d1 in vec
            }
          }
        }
      }
    >} {
  ^bb0(%a0: tensor<4096x64xf32>, %b0: tensor<64x4xf32>):
    %product = graph.compute ins(%a0, %b0 : tensor<4096x64xf32>, tensor<64x4xf32>) -> tensor<4096x4xf32> {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, parallel, reduce]>, maps = [#row, #col, #out]} {
    ^bb0(%x: f32, %y: f32):
      %xy = arith.mulf %x, %y : f32
      graph.yield %xy : f32
    }
    %power = graph.compute ins(%product : tensor<4096x4xf32>) -> tensor<4096x4xf32> {iterators = #graph.iterators<[parallel, parallel]>, maps = [#id, #id]} {
    ^bb0(%x: f32):
      %e = math.exp %x : f32
      graph.yield %e : f32
    }
    graph.yield %power : tensor<4096x4xf32>
  }
  return %r : tensor<4096x4xf32>
}
