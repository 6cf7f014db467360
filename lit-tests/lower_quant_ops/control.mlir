// RUN: sutura-opt %s --pass-pipeline='builtin.module(scf-for-to-while,scalars-to-tensors,outline-regions,propagate-shapes,lower-quant-ops)' --check-passes --strict | FileCheck %s
// RUN: sutura-opt %s --lower-quant-ops --check-passes --strict -o %t.mlir

// What conditions and calls pass on is what is stored.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %z: tensor<?xui8, #dyn.shape<[N]>>) -> (tensor<?xui8, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>)
// CHECK: scf.if %{{.*}} -> (tensor<?xui8, #dyn.shape<[N]>>)
// CHECK: call @back(%{{.*}}) : (tensor<?xui8, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>>
// CHECK-NOT: quant

!q = !quant.uniform<u8:f32, 0.5:3>
func.func @main(%x: tensor<?xf32, #dyn.shape<[N]>>, %c: tensor<i1>, %z: tensor<?x!q, #dyn.shape<[N]>>) -> (tensor<?x!q, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>) {
  %t = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %t -> tensor<?x!q, #dyn.shape<[N]>> {
    %1 = quant.qcast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?x!q, #dyn.shape<[N]>>
    scf.yield %1 : tensor<?x!q, #dyn.shape<[N]>>
  } else {
    scf.yield %z : tensor<?x!q, #dyn.shape<[N]>>
  }
  %2 = func.call @back(%0) : (tensor<?x!q, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>>
  return %0, %2 : tensor<?x!q, #dyn.shape<[N]>>, tensor<?xf32, #dyn.shape<[N]>>
}
func.func private @back(%q: tensor<?x!q, #dyn.shape<[M]>>) -> tensor<?xf32, #dyn.shape<[M]>> {
  %0 = quant.dcast %q : tensor<?x!q, #dyn.shape<[M]>> to tensor<?xf32, #dyn.shape<[M]>>
  return %0 : tensor<?xf32, #dyn.shape<[M]>>
}
