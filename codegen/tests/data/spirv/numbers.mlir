// Numbers that are made of several operations, of each width: what 64 invocations find goes side by side.
module attributes {gpu.container_module} {
  gpu.module @numbers {
    gpu.func @k(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: i64) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %g = gpu.block_id x
      %d = gpu.block_dim x
      %gd = arith.muli %g, %d : index
      %ii = arith.addi %gd, %t : index
      %i = arith.index_cast %ii : index to i64
      %in = arith.cmpi slt, %i, %n : i64
      scf.if %in {
      %pa = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
      %pb = llvm.getelementptr %b[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
      %po = llvm.getelementptr %o[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<32 x i64>
      %x = llvm.load %pa : !llvm.ptr<1> -> i64
      %y = llvm.load %pb : !llvm.ptr<1> -> i64
      %c63 = arith.constant 63 : i64
      %z = arith.constant 0 : i64
      %m1 = arith.constant -1 : i64
      %c3 = arith.constant 3 : i64
      %lo = arith.constant -9223372036854775808 : i64
      %e0 = arith.cmpi eq, %y, %z : i64
      %e1 = arith.cmpi eq, %y, %m1 : i64
      %e2 = arith.cmpi eq, %x, %lo : i64
      %e3 = arith.andi %e1, %e2 : i1
      %e4 = arith.ori %e0, %e3 : i1
      %dv = arith.select %e4, %c3, %y : i64
      %s:2 = arith.mulsi_extended %x, %y : i64
      %u:2 = arith.mului_extended %x, %y : i64
      %r1 = math.ctlz %x : i64
      %r2 = math.cttz %x : i64
      %r3 = math.ctpop %x : i64
      %r4 = arith.floordivsi %x, %dv : i64
      %r5 = arith.ceildivsi %x, %dv : i64
      %r6 = arith.remsi %x, %dv : i64
      %r7 = arith.ceildivui %x, %dv : i64
      %r8 = arith.remui %x, %dv : i64
      %xs = arith.trunci %x : i64 to i32
      %ys = arith.trunci %y : i64 to i32
      %s3:2 = arith.mulsi_extended %xs, %ys : i32
      %r9 = arith.extsi %s3#1 : i32 to i64
      %u3:2 = arith.mului_extended %xs, %ys : i32
      %r10 = arith.extui %u3#1 : i32 to i64
      %r11 = arith.trunci %x : i64 to i16
      %r12 = math.ctlz %r11 : i16
      %r13 = arith.extui %r12 : i16 to i64
      %r14 = math.cttz %r11 : i16
      %r15 = arith.extui %r14 : i16 to i64
      %r16 = arith.trunci %x : i64 to i8
      %r17 = math.ctlz %r16 : i8
      %r18 = arith.extui %r17 : i8 to i64
      %r19 = math.cttz %r16 : i8
      %r20 = arith.extui %r19 : i8 to i64
      %r21 = arith.trunci %x : i64 to i16
      %r22 = arith.trunci %y : i64 to i16
      %s16:2 = arith.mulsi_extended %r21, %r22 : i16
      %r23 = arith.extsi %s16#1 : i16 to i64
      %r24 = math.absi %x : i64
      %sum, %carry = arith.addui_extended %x, %y : i64, i1
      %r25 = arith.extui %carry : i1 to i64
      %r26 = math.ctlz %xs : i32
      %r27 = arith.extui %r26 : i32 to i64
      %r28 = math.cttz %xs : i32
      %r29 = arith.extui %r28 : i32 to i64
      %r30 = math.ctpop %xs : i32
      %r31 = arith.extui %r30 : i32 to i64
      %r32 = arith.maxsi %x, %y : i64
      %r33 = arith.minui %x, %y : i64
      %r34 = arith.trunci %x : i64 to i1
      %r35 = arith.trunci %y : i64 to i1
      %r36 = arith.cmpi ult, %r34, %r35 : i1
      %r37 = arith.extui %r36 : i1 to i64
      %r38 = arith.cmpi sle, %r34, %r35 : i1
      %r39 = arith.extui %r38 : i1 to i64
      %r40 = arith.andi %y, %c63 : i64
      %r41 = arith.shrsi %x, %r40 : i64
      %r42 = arith.shrui %x, %r40 : i64
      %r43 = arith.shli %x, %r40 : i64
      %p0 = llvm.getelementptr %po[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %s#1, %p0 : i64, !llvm.ptr<1>
      %p1 = llvm.getelementptr %po[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %u#1, %p1 : i64, !llvm.ptr<1>
      %p2 = llvm.getelementptr %po[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r1, %p2 : i64, !llvm.ptr<1>
      %p3 = llvm.getelementptr %po[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r2, %p3 : i64, !llvm.ptr<1>
      %p4 = llvm.getelementptr %po[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r3, %p4 : i64, !llvm.ptr<1>
      %p5 = llvm.getelementptr %po[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r4, %p5 : i64, !llvm.ptr<1>
      %p6 = llvm.getelementptr %po[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r5, %p6 : i64, !llvm.ptr<1>
      %p7 = llvm.getelementptr %po[7] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r6, %p7 : i64, !llvm.ptr<1>
      %p8 = llvm.getelementptr %po[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r7, %p8 : i64, !llvm.ptr<1>
      %p9 = llvm.getelementptr %po[9] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r8, %p9 : i64, !llvm.ptr<1>
      %p10 = llvm.getelementptr %po[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r9, %p10 : i64, !llvm.ptr<1>
      %p11 = llvm.getelementptr %po[11] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r10, %p11 : i64, !llvm.ptr<1>
      %p12 = llvm.getelementptr %po[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r13, %p12 : i64, !llvm.ptr<1>
      %p13 = llvm.getelementptr %po[13] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r15, %p13 : i64, !llvm.ptr<1>
      %p14 = llvm.getelementptr %po[14] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r18, %p14 : i64, !llvm.ptr<1>
      %p15 = llvm.getelementptr %po[15] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r20, %p15 : i64, !llvm.ptr<1>
      %p16 = llvm.getelementptr %po[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r23, %p16 : i64, !llvm.ptr<1>
      %p17 = llvm.getelementptr %po[17] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r24, %p17 : i64, !llvm.ptr<1>
      %p18 = llvm.getelementptr %po[18] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %sum, %p18 : i64, !llvm.ptr<1>
      %p19 = llvm.getelementptr %po[19] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r25, %p19 : i64, !llvm.ptr<1>
      %p20 = llvm.getelementptr %po[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r27, %p20 : i64, !llvm.ptr<1>
      %p21 = llvm.getelementptr %po[21] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r29, %p21 : i64, !llvm.ptr<1>
      %p22 = llvm.getelementptr %po[22] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r31, %p22 : i64, !llvm.ptr<1>
      %p23 = llvm.getelementptr %po[23] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r32, %p23 : i64, !llvm.ptr<1>
      %p24 = llvm.getelementptr %po[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r33, %p24 : i64, !llvm.ptr<1>
      %p25 = llvm.getelementptr %po[25] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r37, %p25 : i64, !llvm.ptr<1>
      %p26 = llvm.getelementptr %po[26] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r39, %p26 : i64, !llvm.ptr<1>
      %p27 = llvm.getelementptr %po[27] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r41, %p27 : i64, !llvm.ptr<1>
      %p28 = llvm.getelementptr %po[28] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r42, %p28 : i64, !llvm.ptr<1>
      %p29 = llvm.getelementptr %po[29] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
      llvm.store %r43, %p29 : i64, !llvm.ptr<1>
      }
      gpu.return
    }
    gpu.func @f(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: i64) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %g = gpu.block_id x
      %d = gpu.block_dim x
      %gd = arith.muli %g, %d : index
      %ii = arith.addi %gd, %t : index
      %i = arith.index_cast %ii : index to i64
      %in = arith.cmpi slt, %i, %n : i64
      scf.if %in {
      %pa = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb = llvm.getelementptr %b[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %po = llvm.getelementptr %o[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<32 x f32>
      %x = llvm.load %pa : !llvm.ptr<1> -> f32
      %y = llvm.load %pb : !llvm.ptr<1> -> f32
      %r44 = arith.maximumf %x, %y : f32
      %r45 = arith.minimumf %x, %y : f32
      %r46 = arith.maxnumf %x, %y : f32
      %r47 = arith.minnumf %x, %y : f32
      %r48 = math.trunc %x : f32
      %r49 = math.round %x : f32
      %r50 = math.copysign %x, %y : f32
      %r51 = math.roundeven %x : f32
      %r52 = math.floor %x : f32
      %r53 = math.ceil %x : f32
      %r54 = arith.truncf %x : f32 to bf16
      %r55 = arith.extf %r54 : bf16 to f32
      %r56 = arith.cmpf oeq, %x, %y : f32
      %r57 = arith.uitofp %r56 : i1 to f32
      %r58 = arith.cmpf une, %x, %y : f32
      %r59 = arith.uitofp %r58 : i1 to f32
      %r60 = arith.cmpf olt, %x, %y : f32
      %r61 = arith.uitofp %r60 : i1 to f32
      %r62 = arith.cmpf ult, %x, %y : f32
      %r63 = arith.uitofp %r62 : i1 to f32
      %r64 = arith.cmpf uno, %x, %y : f32
      %r65 = arith.uitofp %r64 : i1 to f32
      %r66 = arith.cmpf ord, %x, %y : f32
      %r67 = arith.uitofp %r66 : i1 to f32
      %r68 = arith.cmpf one, %x, %y : f32
      %r69 = arith.uitofp %r68 : i1 to f32
      %r70 = arith.cmpf ueq, %x, %y : f32
      %r71 = arith.uitofp %r70 : i1 to f32
      %r72 = math.isfinite %x : f32
      %r73 = arith.uitofp %r72 : i1 to f32
      %r74 = math.isinf %x : f32
      %r75 = arith.uitofp %r74 : i1 to f32
      %r76 = arith.mulf %x, %y : f32
      %r77 = arith.addf %r76, %x : f32
      %r78 = math.fma %x, %y, %x : f32
      %r79 = arith.negf %x : f32
      %r80 = math.absf %x : f32
      %p0 = llvm.getelementptr %po[0] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r44, %p0 : f32, !llvm.ptr<1>
      %p1 = llvm.getelementptr %po[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r45, %p1 : f32, !llvm.ptr<1>
      %p2 = llvm.getelementptr %po[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r46, %p2 : f32, !llvm.ptr<1>
      %p3 = llvm.getelementptr %po[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r47, %p3 : f32, !llvm.ptr<1>
      %p4 = llvm.getelementptr %po[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r48, %p4 : f32, !llvm.ptr<1>
      %p5 = llvm.getelementptr %po[5] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r49, %p5 : f32, !llvm.ptr<1>
      %p6 = llvm.getelementptr %po[6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r50, %p6 : f32, !llvm.ptr<1>
      %p7 = llvm.getelementptr %po[7] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r51, %p7 : f32, !llvm.ptr<1>
      %p8 = llvm.getelementptr %po[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r52, %p8 : f32, !llvm.ptr<1>
      %p9 = llvm.getelementptr %po[9] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r53, %p9 : f32, !llvm.ptr<1>
      %p10 = llvm.getelementptr %po[10] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r55, %p10 : f32, !llvm.ptr<1>
      %p11 = llvm.getelementptr %po[11] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r57, %p11 : f32, !llvm.ptr<1>
      %p12 = llvm.getelementptr %po[12] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r59, %p12 : f32, !llvm.ptr<1>
      %p13 = llvm.getelementptr %po[13] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r61, %p13 : f32, !llvm.ptr<1>
      %p14 = llvm.getelementptr %po[14] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r63, %p14 : f32, !llvm.ptr<1>
      %p15 = llvm.getelementptr %po[15] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r65, %p15 : f32, !llvm.ptr<1>
      %p16 = llvm.getelementptr %po[16] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r67, %p16 : f32, !llvm.ptr<1>
      %p17 = llvm.getelementptr %po[17] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r69, %p17 : f32, !llvm.ptr<1>
      %p18 = llvm.getelementptr %po[18] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r71, %p18 : f32, !llvm.ptr<1>
      %p19 = llvm.getelementptr %po[19] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r73, %p19 : f32, !llvm.ptr<1>
      %p20 = llvm.getelementptr %po[20] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r75, %p20 : f32, !llvm.ptr<1>
      %p21 = llvm.getelementptr %po[21] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r77, %p21 : f32, !llvm.ptr<1>
      %p22 = llvm.getelementptr %po[22] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r78, %p22 : f32, !llvm.ptr<1>
      %p23 = llvm.getelementptr %po[23] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r79, %p23 : f32, !llvm.ptr<1>
      %p24 = llvm.getelementptr %po[24] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      llvm.store %r80, %p24 : f32, !llvm.ptr<1>
      }
      gpu.return
    }
  }
}
