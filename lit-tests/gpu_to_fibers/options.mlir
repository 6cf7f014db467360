// RUN: not sutura-opt %s --convert-gpu-to-fibers="subgroup=48" 2>&1 | FileCheck %s
// RUN: not sutura-opt %s --convert-gpu-to-fibers="subgroup=256" 2>&1 | FileCheck %s --check-prefix=RANGE

// CHECK: option `subgroup` takes a power of two, not `48`
// RANGE: 256
module {}
