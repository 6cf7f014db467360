// RUN: sutura-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected a storage type: iN, or uN for integers without sign}}
func.func private @of_no_type(!quant.uniform<f32:f32, 0.5>)

// -----

// expected-error @below {{expected a storage type: iN, or uN for integers without sign}}
func.func private @of_nothing(!quant.uniform<8:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type 'u': expected iN, or uN without sign}}
func.func private @of_no_width(!quant.uniform<u:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type 'index': expected iN, or uN without sign}}
func.func private @of_a_word(!quant.uniform<index:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type size: 0, it must be 1 to 32}}
func.func private @of_no_bits(!quant.uniform<i0:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type size: 33, it must be 1 to 32}}
func.func private @too_wide(!quant.uniform<u33:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type size: 4294967295, it must be 1 to 32}}
func.func private @huge(!quant.uniform<i99999999999999999999:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type maximum: 256, u8 holds 0 to 255}}
func.func private @above(!quant.uniform<u8<0:256>:f32, 0.5>)

// -----

// expected-error @below {{illegal storage type minimum: -1, u8 holds 0 to 255}}
func.func private @below(!quant.uniform<u8<-1:255>:f32, 0.5>)

// -----

// expected-error @below {{illegal storage min and storage max: (7:-8)}}
func.func private @backward(!quant.uniform<i8<7:-8>:f32, 0.5>)

// -----

// expected-error @below {{illegal storage min and storage max: (7:7)}}
func.func private @one_number(!quant.uniform<i8<7:7>:f32, 0.5>)

// -----

// expected-error @below {{integer value too large}}
func.func private @huge_bound(!quant.uniform<i8<-99999999999999999999:7>:f32, 0.5>)

// -----

// expected-error @below {{expressed type must be a float, not i32}}
func.func private @no_float(!quant.uniform<i8:i32, 0.5>)

// -----

// expected-error @below {{expected ':'}}
func.func private @no_expressed(!quant.uniform<i8, 0.5>)

// -----

// expected-error @below {{unexpected decimal integer literal for a floating point value}}
func.func private @no_dot(!quant.uniform<i8:f32, 1>)

// -----

// expected-error @below {{scale 0e0 out of expressed type range [1.401298464324817e-45, 3.4028234663852886e38] of f32}}
func.func private @zero(!quant.uniform<i8:f32, 0.0>)

// -----

// expected-error @below {{scale -5e-1 out of expressed type range}}
func.func private @negative(!quant.uniform<i8:f32, -0.5>)

// -----

// expected-error @below {{expected floating point literal}}
func.func private @nan(!quant.uniform<i8:f32, nan>)

// -----

// expected-error @below {{scale NaN out of expressed type range}}
func.func private @nan_bits(!quant.uniform<i8:f64, 0x7FF8000000000000>)

// -----

// expected-error @below {{scale inf out of expressed type range}}
func.func private @infinite(!quant.uniform<i8:f64, 0x7FF0000000000000>)

// -----

// expected-error @below {{scale 1e5 out of expressed type range [5.960464477539063e-8, 6.5504e4] of f16}}
func.func private @beyond(!quant.uniform<i8:f16, 100000.0>)

// -----

// expected-error @below {{zero point 256 does not fit u8, 0 to 255}}
func.func private @not_stored(!quant.uniform<u8:f32, 0.5:256>)

// -----

// expected-error @below {{zero point -1 does not fit u8, 0 to 255}}
func.func private @not_stored_either(!quant.uniform<u8:f32, 0.5:-1>)

// -----

// expected-error @below {{integer value too large}}
func.func private @huge_zero(!quant.uniform<i8:f32, 0.5:99999999999999999999>)

// -----

// expected-error @below {{expected floating point literal}}
func.func private @no_scale(!quant.uniform<i8:f32:1, {}>)

// -----

// expected-error @below {{expected '{'}}
func.func private @no_list(!quant.uniform<i8:f32:1, 2.0>)

// -----

// expected-error @below {{expected floating point literal}}
func.func private @list(!quant.uniform<i8:f32, {2.0}>)

// -----

// expected-error @below {{illegal quantized dimension: -1, it must be at least 0 and below 256}}
func.func private @negative_axis(!quant.uniform<i8:f32:-1, {2.0}>)

// -----

// expected-error @below {{illegal quantized dimension: 99999999999, it must be at least 0 and below 256}}
func.func private @huge_axis(!quant.uniform<i8:f32:99999999999, {2.0}>)

// -----

// expected-error @below {{illegal block size: 0}}
func.func private @no_block(!quant.uniform<i8:f32:{0:0}, {2.0}>)

// -----

// expected-error @below {{dimension 0 has two block sizes}}
func.func private @twice(!quant.uniform<i8:f32:{0:2, 0:4}, {2.0}>)

// -----

// expected-error @below {{tensor literal is invalid; ranks are not consistent between elements}}
func.func private @ragged(!quant.uniform<i8:f32:{0:2}, {{2.0}, {3.0, 4.0}}>)

// -----

// expected-error @below {{tensor literal is invalid; ranks are not consistent between elements}}
func.func private @mixed(!quant.uniform<i8:f32:{0:2}, {{2.0}, 3.0}>)

// -----

// expected-error @below {{scale -2e0 out of expressed type range}}
func.func private @block_scale(!quant.uniform<i8:f32:{0:2}, {-2.0}>)

// -----

// expected-error @below {{zero point 200 does not fit i8, -128 to 127}}
func.func private @block_zero(!quant.uniform<i8:f32:{0:2}, {2.0:200}>)

// -----

// expected-error @below {{zero point -129 does not fit u8, 0 to 255}}
func.func private @block_zero_unsigned(!quant.uniform<u8:f32:{0:2}, {2.0:-129}>)

// -----

// expected-error @below {{expected '>'}}
func.func private @more(!quant.uniform<i8:f32, 2.0, 3.0>)

// -----

// expected-error @below {{illegal min and max: (1e0:-1e0)}}
func.func private @calibrated(!quant.calibrated<f32<1.0:-1.0>>)

// -----

// expected-error @below {{illegal min and max: (0e0:inf)}}
func.func private @calibrated_infinite(!quant.calibrated<f32<0.0:0x7FF0000000000000>>)

// -----

// expected-error @below {{unknown type `uniforms` in dialect `quant`}}
func.func private @other(!quant.uniforms<i8:f32, 1.0>)

// -----

// expected-error @below {{invalid memref element type}}
func.func private @memory(memref<4x!quant.uniform<i8:f32, 1.0>>)

// -----

// expected-error @below {{vector elements must be int/index/float type but got '!quant.uniform<i8:f32, 1.000000e+00>'}}
func.func private @vector(vector<4x!quant.uniform<i8:f32, 1.0>>)
