// RUN: sutura-opt %s --split-input-file --lower-quant-ops --verify-diagnostics

// Nothing would check that there are as many elements as scales.
!q = !quant.uniform<i8:f32:0, {1.0, 2.0}>
func.func @unknown(%x: tensor<?xf32>) -> tensor<?x!q> {
  // expected-error @below {{dimension 0 has 2 scales, for a size of 2, and its size is not known}}
  %0 = quant.qcast %x : tensor<?xf32> to tensor<?x!q>
  return %0 : tensor<?x!q>
}

// -----

!q = !quant.uniform<i8:f32, 1.0>
func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @below {{is of type tensor<*xf32>, for which nothing is compiled}}
  %0 = quant.qcast %x : tensor<*xf32> to tensor<*x!q>
  return
}

// -----

func.func @no_scale(%x: tensor<2xf32>) {
  // expected-error @below {{casts !quant.any<i8:f32>, which says no scale}}
  %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.any<i8:f32>>
  return
}

// -----

// expected-error @below {{is of !quant.calibrated<f32<-1.000000e+00:1.000000e+00>>, which says not as what numbers are stored}}
func.func private @no_storage(tensor<2x!quant.calibrated<f32<-1.0:1.0>>>)

// -----

func.func @too_wide(%x: tensor<2xf80>) {
  // expected-error @below {{floats of type f80 cannot be interpreted}}
  %0 = quant.qcast %x : tensor<2xf80> to tensor<2x!quant.uniform<i8:f80, 1.0>>
  return
}

// -----

func.func @no_row(%x: tensor<2xtf32>) {
  // expected-error @below {{numbers that express tf32 are not computed with}}
  %0 = quant.qcast %x : tensor<2xtf32> to tensor<2x!quant.uniform<i8:tf32, 1.0>>
  return
}

// -----

!q = !quant.uniform<i8:f32, 1.0>
// expected-error @below {{is of type (tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>) -> (), for which nothing is compiled}}
func.func private @nested((tensor<2x!q>) -> ())

// -----

!q = !quant.uniform<i8:f32, 1.0>
func.func @other(%x: tensor<2x!q>) -> tensor<?x!q> {
  // expected-error @below {{has to do with quantized numbers, and is not known to only pass them on}}
  %0 = tensor.cast %x : tensor<2x!q> to tensor<?x!q>
  return %0 : tensor<?x!q>
}

// -----

#one = affine_map<(d0) -> (d0)>
!q = !quant.uniform<i8:f32, 1.0>
func.func @region(%x: tensor<4x!q>) -> tensor<4x!q> {
  // expected-error @below {{has quantized numbers in a body of its own}}
  %0 = graph.fusion(%x : tensor<4x!q>) -> tensor<4x!q> {
  ^bb0(%a: tensor<4x!q>):
    %1 = graph.compute ins(%a : tensor<4x!q>) -> tensor<4x!q> {iterators = #graph.iterators<[parallel]>, maps = [#one, #one]} {
    ^bb0(%e: !q):
      graph.yield %e : !q
    }
    graph.yield %1 : tensor<4x!q>
  }
  return %0 : tensor<4x!q>
}

// -----

func.func @odd_storage(%x: tensor<2xf32>) {
  // expected-error @below {{is of !quant.uniform<u1:f32, 1.000000e+00>, stored as ui1, for which nothing is compiled}}
  %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u1:f32, 1.0>>
  return
}

// -----

!q = !quant.uniform<i8:f32, 1.0>
func.func @words() -> tensor<2x!q> {
  // expected-error @below {{has elements that are not written as a dense list of numbers}}
  %0 = graph.constant dense<["a", "b"]> : tensor<2x!q>
  return %0 : tensor<2x!q>
}
