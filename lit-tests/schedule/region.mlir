// Schedules apart from their regions.
// RUN: split-file %s %t
// RUN: sutura-opt %t/in.mlir > %t/out.mlir
// RUN: diff %t/in.mlir %t/out.mlir
//--- in.mlir
module {
  schedule.region "5f0c8d7be1a94d20" = #schedule.tree<
    version {
      kernel {
        loop d0 grid { place max:0 cols d1 in l1 }
      }
    }
  >
  schedule.region "5f0c8d7be1a94d20" of "@main 3" = #schedule.tree<
    version {
      kernel {
        loop d0 by 4 grid {
          loop d0 { place max:0 cols d1 in l1 }
        }
      }
    }
  >
}
