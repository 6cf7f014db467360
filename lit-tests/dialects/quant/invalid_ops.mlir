// RUN: sutura-opt %s --split-input-file --verify-diagnostics

func.func @scalar_axis(%x: f32) -> !quant.uniform<i8:f32:0, {1.0, 2.0}> {
  // expected-error @below {{scalar types may not use per-axis quantization}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32:0, {1.0, 2.0}>
  return %0 : !quant.uniform<i8:f32:0, {1.0, 2.0}>
}

// -----

func.func @scalar_blocks(%x: f32) -> !quant.uniform<i8:f32:{}, {1.0}> {
  // expected-error @below {{scalar types may not use sub-channel quantization}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f32:{}, {1.0}>
  return %0 : !quant.uniform<i8:f32:{}, {1.0}>
}

// -----

func.func @rank(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>> {
  // expected-error @below {{quantized dimension 1 must be less than tensor rank 1}}
  %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return %0 : tensor<2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
}

// -----

func.func @scales(%x: tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>> {
  // expected-error @below {{quantized dimension size does not match number of scales: dimension 0 has size 3, there are 2 scales}}
  %0 = quant.qcast %x : tensor<3xf32> to tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return %0 : tensor<3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>> {
  // expected-error @below {{tensor containing the sub-channel quantized type must be ranked}}
  %0 = quant.qcast %x : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>
  return %0 : tensor<*x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>
}

// -----

func.func @divide(%x: tensor<5xf32>) -> tensor<5x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>> {
  // expected-error @below {{tensor dimension size 5 at axis 0 must be divisible by the corresponding block size 2}}
  %0 = quant.qcast %x : tensor<5xf32> to tensor<5x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>
  return %0 : tensor<5x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>
}

// -----

func.func @blocks(%x: tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>> {
  // expected-error @below {{there must be 3 scales along dimension 0, of size 6 in blocks of 2, not 2}}
  %0 = quant.qcast %x : tensor<6xf32> to tensor<6x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>
  return %0 : tensor<6x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>
}

// -----

func.func @ranks(%x: tensor<6x2xf32>) -> tensor<6x2x!quant.uniform<i8:f32:{0:3}, {1.0, 2.0}>> {
  // expected-error @below {{Rank of scales 1 must match the rank of the tensor 2}}
  %0 = quant.qcast %x : tensor<6x2xf32> to tensor<6x2x!quant.uniform<i8:f32:{0:3}, {1.0, 2.0}>>
  return %0 : tensor<6x2x!quant.uniform<i8:f32:{0:3}, {1.0, 2.0}>>
}

// -----

func.func @unstated(%x: tensor<6x2xf32>) -> tensor<6x2x!quant.uniform<i8:f32:{0:3}, {{1.0, 1.0}, {2.0, 2.0}}>> {
  // expected-error @below {{there are 2 scales along dimension 1, for which no block size is given}}
  %0 = quant.qcast %x : tensor<6x2xf32> to tensor<6x2x!quant.uniform<i8:f32:{0:3}, {{1.0, 1.0}, {2.0, 2.0}}>>
  return %0 : tensor<6x2x!quant.uniform<i8:f32:{0:3}, {{1.0, 1.0}, {2.0, 2.0}}>>
}

// -----

func.func @outside(%x: tensor<6x2xf32>) -> tensor<6x2x!quant.uniform<i8:f32:{2:3}, {{1.0}, {2.0}}>> {
  // expected-error @below {{quantized dimension 2 must be less than tensor rank 2}}
  %0 = quant.qcast %x : tensor<6x2xf32> to tensor<6x2x!quant.uniform<i8:f32:{2:3}, {{1.0}, {2.0}}>>
  return %0 : tensor<6x2x!quant.uniform<i8:f32:{2:3}, {{1.0}, {2.0}}>>
}

// -----

func.func @expressed(%x: f32) -> !quant.uniform<i8:f16, 0.5> {
  // expected-error @below {{expressed type in quantized type expected to match float type}}
  %0 = quant.qcast %x : f32 to !quant.uniform<i8:f16, 0.5>
  return %0 : !quant.uniform<i8:f16, 0.5>
}

// -----

func.func @expressed_back(%x: !quant.uniform<i8:f32, 0.5>) -> f64 {
  // expected-error @below {{expressed type in quantized type expected to match float type}}
  %0 = quant.dcast %x : !quant.uniform<i8:f32, 0.5> to f64
  return %0 : f64
}

// -----

func.func @unknown(%x: !quant.any<i8>) -> f32 {
  // expected-error @below {{expressed type in quantized type expected to match float type}}
  %0 = quant.dcast %x : !quant.any<i8> to f32
  return %0 : f32
}

// -----

func.func @shapes(%x: tensor<2x3xf32>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5>> {
  // expected-error @below {{failed to verify that input and result are both scalars or both tensors with matching shape}}
  %0 = quant.qcast %x : tensor<2x3xf32> to tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32, 0.5>>
}

// -----

func.func @scalar(%x: f32) -> tensor<3x2x!quant.uniform<i8:f32, 0.5>> {
  // expected-error @below {{failed to verify that input and result are both scalars or both tensors with matching shape}}
  %0 = quant.qcast %x : f32 to tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32, 0.5>>
}

// -----

func.func @sizes(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?x!quant.uniform<i8:f32, 0.5>, #dyn.shape<[N + 1]>> {
  // expected-error @below {{input and result differ in dimension 0}}
  %0 = quant.qcast %x : tensor<?xf32, #dyn.shape<[N]>> to tensor<?x!quant.uniform<i8:f32, 0.5>, #dyn.shape<[N + 1]>>
  return %0 : tensor<?x!quant.uniform<i8:f32, 0.5>, #dyn.shape<[N + 1]>>
}

// -----

func.func @no_float(%x: i8) -> !quant.uniform<i8:f32, 0.5> {
  // expected-error @below {{operand #0 must be scalar or tensor of floating-point}}
  %0 = quant.qcast %x : i8 to !quant.uniform<i8:f32, 0.5>
  return %0 : !quant.uniform<i8:f32, 0.5>
}

// -----

func.func @no_stored(%x: f32) -> i8 {
  // expected-error @below {{result #0 must be scalar or tensor of quantized type}}
  %0 = quant.qcast %x : f32 to i8
  return %0 : i8
}

// -----

func.func @width(%x: !quant.uniform<i8:f32, 0.5>) -> i16 {
  // expected-error @below {{storage type in quantized type expected to match integer type}}
  %0 = quant.scast %x : !quant.uniform<i8:f32, 0.5> to i16
  return %0 : i16
}

// -----

func.func @sign(%x: !quant.uniform<u8:f32, 0.5>) -> ui8 {
  // expected-error @below {{result #0 must be scalar or tensor of signless integer or quantized type}}
  %0 = quant.scast %x : !quant.uniform<u8:f32, 0.5> to ui8
  return %0 : ui8
}

// -----

func.func @integers(%x: i8) -> i8 {
  // expected-error @below {{failed to verify that input must be integer and result must be quantized, or vice versa}}
  %0 = quant.scast %x : i8 to i8
  return %0 : i8
}

// -----

func.func @stored(%x: !quant.uniform<i8:f32, 0.5>) -> !quant.uniform<i8:f32, 0.5> {
  // expected-error @below {{failed to verify that input must be integer and result must be quantized, or vice versa}}
  %0 = quant.scast %x : !quant.uniform<i8:f32, 0.5> to !quant.uniform<i8:f32, 0.5>
  return %0 : !quant.uniform<i8:f32, 0.5>
}

// -----

func.func @unstored(%x: !quant.calibrated<f32<-1.0:1.0>>) -> i8 {
  // expected-error @below {{storage type in quantized type expected to match integer type}}
  %0 = quant.scast %x : !quant.calibrated<f32<-1.0:1.0>> to i8
  return %0 : i8
}
