// Loops that carry several values, loops in loops, conditionals with results in each other and at the end of loops.
module attributes {gpu.container_module} {
  gpu.module @control {
    gpu.func @nested(%out: !llvm.ptr<1>, %n: i64, %limit: f32) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %c1i = arith.constant 1 : i32
      %f0 = arith.constant 0.0 : f32
      %f1 = arith.constant 1.0 : f32
      %tid = gpu.thread_id x
      %t = arith.index_cast %tid : index to i64
      %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f0, %b = %f1, %k = %t) -> (f32, f32, i64) : i64 {
        // What is swapped must not be read after it is written.
        %sum = arith.addf %a, %b : f32
        %big = arith.cmpf ogt, %sum, %limit : f32
        %r:2 = scf.if %big -> (f32, i64) {
          %odd = arith.cmpi ne, %k, %c0 : i64
          %inner = scf.if %odd -> (f32) {
            %h = scf.for %j = %c0 to %k step %c1 iter_args(%acc = %sum) -> (f32) : i64 {
              %next = arith.mulf %acc, %b fastmath<contract> : f32
              scf.yield %next : f32
            }
            scf.yield %h : f32
          } else {
            scf.yield %limit : f32
          }
          scf.yield %inner, %i : f32, i64
        } else {
          %w:2 = scf.while (%x = %sum, %cnt = %c1i) : (f32, i32) -> (f32, i32) {
            %small = arith.cmpf ult, %x, %limit : f32
            %go = scf.if %small -> (i1) {
              %few = arith.cmpi slt, %cnt, %cnt : i32
              scf.yield %few : i1
            } else {
              scf.yield %small : i1
            }
            %y = arith.negf %x : f32
            scf.condition(%go) %y, %cnt : f32, i32
          } do {
          ^bb0(%x: f32, %cnt: i32):
            %x2 = arith.addf %x, %f1 : f32
            %cnt2 = arith.addi %cnt, %c1i : i32
            scf.if %big {
              llvm.store %x2, %out : f32, !llvm.ptr<1>
            }
            scf.yield %x2, %cnt2 : f32, i32
          }
          scf.yield %w#0, %k : f32, i64
        }
        scf.yield %b, %r#0, %r#1 : f32, f32, i64
      }
      %only = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f0) -> (f32) : i64 {
        %odd = arith.cmpi eq, %i, %t : i64
        %direct = scf.if %odd -> (f32) {
          scf.yield %f1 : f32
        } else {
          scf.yield %a : f32
        }
        scf.yield %direct : f32
      }
      %s = arith.addf %0#0, %0#1 : f32
      %s1 = arith.addf %s, %only : f32
      %k = arith.uitofp %0#2 : i64 to f32
      %s2 = arith.addf %s1, %k : f32
      %p = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %s2, %p : f32, !llvm.ptr<1>
      gpu.return
    }
  }
}
