// RUN: sutura-opt --doc=schedule | FileCheck %s

// CHECK:      # Dialect `schedule`
// CHECK:      ### `#schedule.tree`
// CHECK:      Format: ``<version…>``
// CHECK:      | `versions` | `Vec<Version>` | Whole programs; the first one whose guard holds runs. |
// CHECK:      ## Operations
// CHECK:      ### `schedule.region`
