// RUN: sutura-opt %s --canonicalize --cse --check-passes --strict | FileCheck %s

// An element that is stored without sign is held as a signless integer where it stands alone, and goes back as it was.
!q = !quant.uniform<u8:f32, 0.5:3>
!n = !quant.uniform<u4:f32, 0.5:3>

// CHECK-LABEL: func.func @taken
func.func @taken(%x: tensor<4x!q>) -> (f32, tensor<4x!q>) {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %0 = tensor.extract %x[%one] : tensor<4x!q>
  %1 = tensor.insert %0 into %x[%three] : tensor<4x!q>
  %2 = quant.dcast %0 : !q to f32
  return %2, %1 : f32, tensor<4x!q>
}

// CHECK-LABEL: func.func @made
func.func @made(%x: tensor<4x!n>, %c: i1) -> (tensor<2x!n>, tensor<3x!n>, tensor<4x!n>, tensor<7x!n>, i4) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %0 = tensor.extract %x[%one] : tensor<4x!n>
  %1 = tensor.extract %x[%two] : tensor<4x!n>
  %2 = arith.select %c, %0, %1 : !n
  %3 = tensor.from_elements %2, %0 : tensor<2x!n>
  %4 = tensor.splat %2 : tensor<3x!n>
  %5 = tensor.generate {
  ^bb0(%i: index):
    %8 = tensor.extract %x[%i] : tensor<4x!n>
    tensor.yield %8 : !n
  } : tensor<4x!n>
  %6 = tensor.pad %x low[1] high[2] {
  ^bb0(%i: index):
    tensor.yield %2 : !n
  } : tensor<4x!n> to tensor<7x!n>
  %7 = quant.scast %2 : !n to i4
  return %3, %4, %5, %6, %7 : tensor<2x!n>, tensor<3x!n>, tensor<4x!n>, tensor<7x!n>, i4
}

// CHECK-LABEL: func.func @carried
func.func @carried(%x: tensor<4x!q>) -> tensor<4x!q> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %first = tensor.extract %x[%zero] : tensor<4x!q>
  %0, %1 = scf.for %i = %zero to %four step %one iter_args(%a = %x, %e = %first) -> (tensor<4x!q>, !q) {
    %2 = tensor.extract %a[%i] : tensor<4x!q>
    %3 = tensor.insert %e into %a[%i] : tensor<4x!q>
    scf.yield %3, %2 : tensor<4x!q>, !q
  }
  return %0 : tensor<4x!q>
}
