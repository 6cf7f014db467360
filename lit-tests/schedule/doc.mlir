// RUN: sutura-opt --doc=schedule | FileCheck %s

// CHECK:      # Dialect `schedule`
// CHECK:      ### `#schedule.tree`
// CHECK:      Format: ``<version…>``
// CHECK:      | `versions` | `Vec<Version>` | Whole programs; the first one whose guard holds runs. |
// CHECK:      ### `#schedule.trace`
// CHECK:      - `split d1 of p:0 by 16`: two loops for one.
// CHECK:      - `version when [-N + 16384]`: a copy of the version
// CHECK:      Format: ``<edit…>``
// CHECK:      ## Operations
// CHECK:      ### `schedule.region`
// CHECK:      ### `schedule.trace`
// CHECK:      ### `schedule.plan`
