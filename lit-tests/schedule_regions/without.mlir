// A region whose kernels are not proved is lowered op by op, and no schedule says so.
// RUN: sutura-opt %S/../graph_to_gir/conditions.mlir --split-input-file --schedule-regions --remarks 2>&1 >/dev/null | FileCheck %s
// CHECK: remark: gets no schedule: it is not lowered by the rule 'row', whose kernels are not proved
