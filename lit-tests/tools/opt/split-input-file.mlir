// RUN: sutura-opt %s --split-input-file --canonicalize | FileCheck %s
// RUN: sutura-opt %s --split-input-file --output-split-marker='// next' | FileCheck %s --check-prefix=MARK
// RUN: not sutura-opt %s 2>&1 | FileCheck %s --check-prefix=WHOLE

// CHECK:      func.func @f() {
// CHECK:      // -----
// CHECK-NEXT: module {
// CHECK-NEXT:   func.func @f() {

// MARK:      func.func @f() {
// MARK:      // next
// MARK-NEXT: module {

// The name is there twice in the file as a whole.
// WHOLE: split-input-file.mlir:[[#@LINE+7]]:1: error: redefinition of symbol named 'f'
// WHOLE: split-input-file.mlir:[[#@LINE+2]]:1: note: see existing symbol definition here

func.func @f() {
  return
}
// -----
func.func @f() {
  return
}
