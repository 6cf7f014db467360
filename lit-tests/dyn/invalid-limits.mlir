// What a size may be: every number in it fits 64 bits, and it is neither too long nor too deep. What is read is written
// so that it is read back.

// RUN: sutura-opt %s --verify-diagnostics --split-input-file

func.func @coefficient() {
  // expected-error @below {{a coefficient, a constant or a divisor of the size does not fit 64 bits}}
  dyn.equal [N * 2 * 2 * 9223372036854775807], [M]
  return
}

// -----

// expected-error @below {{dimension 1: a coefficient, a constant or a divisor of the size does not fit 64 bits}}
func.func @sum(%x: tensor<?x?xf32, #dyn.shape<[N, 9223372036854775807*N + N]>>) {
  return
}

// -----

func.func @constant() {
  // expected-error @below {{a coefficient, a constant or a divisor of the size does not fit 64 bits}}
  dyn.equal [(N + 9223372036854775807) * (M + 9223372036854775807)], [M]
  return
}

// -----

func.func @power() {
  // expected-error @+2 {{the size has more than 8192 terms and factors, or 64 factors in one term}}
  dyn.equal [
    (a + b + c + d + e + f + g + h) * (a + b + c + d + e + f + g + h) * (a + b + c + d + e + f + g + h) *
    (a + b + c + d + e + f + g + h) * (a + b + c + d + e + f + g + h) * (a + b + c + d + e + f + g + h) *
    (a + b + c + d + e + f + g + h) * (a + b + c + d + e + f + g + h) * (a + b + c + d + e + f + g + h)], [n]
  return
}
