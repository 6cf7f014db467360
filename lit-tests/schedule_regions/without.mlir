// No rule writes schedules of attention yet.
// RUN: sutura-opt %S/../graph_to_gir/attention_units.mlir --raise-attention --expand-operators --stitch --schedule-regions --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s
// CHECK: remark: gets no schedule: the scheme 'attention' writes none
