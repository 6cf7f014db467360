// No rule writes how the units of a GPU's group share blocks of attention yet.
// RUN: sutura-opt %S/../graph_to_gir/attention_units.mlir --attach-target="name=sm_80" --raise-attention --expand-operators --stitch --schedule-regions --split-input-file --remarks 2>&1 >/dev/null | FileCheck %s
// CHECK: remark: gets no schedule: the scheme 'attention' writes none
