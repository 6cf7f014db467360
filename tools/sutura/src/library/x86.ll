; Whether the processor has what the code was compiled for, on x86-64. These functions, and those that say what is missing, are
; compiled for every x86-64 (attribute group 0).

; A feature: leaf and subleaf of CPUID, which of its four registers, the bits there, those that the system must have enabled in the
; extended control register, and its name.
%sutura.Feature = type { i32, i32, i32, i32, i32, ptr }

; 1 once the processor was looked at and has all.
@sutura.machine.known = internal global i32 0

define internal void @sutura.cpuid(i32 %leaf, i32 %subleaf, ptr %to) #0 {
  %all = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %leaf, i32 %subleaf)
  store { i32, i32, i32, i32 } %all, ptr %to
  ret void
}

; The low half of the extended control register; 0 where the system has not enabled it.
define internal i32 @sutura.enabled(ptr %registers) #0 {
  call void @sutura.cpuid(i32 1, i32 0, ptr %registers)
  %third = getelementptr i32, ptr %registers, i64 2
  %flags = load i32, ptr %third
  %bit = and i32 %flags, 134217728
  %can = icmp ne i32 %bit, 0
  br i1 %can, label %look, label %none
look:
  %both = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)
  %low = extractvalue { i32, i32 } %both, 0
  ret i32 %low
none:
  ret i32 0
}

; 0, or 3 with the first feature that is missing said.
define internal i32 @sutura.machine() #0 {
entry:
  %registers = alloca [4 x i32]
  %known = load atomic i32, ptr @sutura.machine.known monotonic, align 4
  %is.known = icmp eq i32 %known, 1
  br i1 %is.known, label %done, label %look
look:
  %n = load i64, ptr @sutura.n.features
  %enabled = call i32 @sutura.enabled(ptr %registers)
  br label %next
next:
  %i = phi i64 [ 0, %look ], [ %i.next, %there ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %all, label %one
one:
  %feature = getelementptr %sutura.Feature, ptr @sutura.features, i64 %i
  %leaf = load i32, ptr %feature
  %subleaf.slot = getelementptr %sutura.Feature, ptr %feature, i64 0, i32 1
  %subleaf = load i32, ptr %subleaf.slot
  %register.slot = getelementptr %sutura.Feature, ptr %feature, i64 0, i32 2
  %register = load i32, ptr %register.slot
  %bits.slot = getelementptr %sutura.Feature, ptr %feature, i64 0, i32 3
  %bits = load i32, ptr %bits.slot
  %wanted.slot = getelementptr %sutura.Feature, ptr %feature, i64 0, i32 4
  %wanted = load i32, ptr %wanted.slot
  ; The first leaf of a range says which is the last.
  %range = and i32 %leaf, -2147483648
  call void @sutura.cpuid(i32 %range, i32 0, ptr %registers)
  %last = load i32, ptr %registers
  %has.leaf = icmp uge i32 %last, %leaf
  br i1 %has.leaf, label %read, label %missing
read:
  call void @sutura.cpuid(i32 %leaf, i32 %subleaf, ptr %registers)
  %slot = getelementptr i32, ptr %registers, i32 %register
  %found = load i32, ptr %slot
  %of.processor = and i32 %found, %bits
  %has.bits = icmp eq i32 %of.processor, %bits
  %of.system = and i32 %enabled, %wanted
  %is.enabled = icmp eq i32 %of.system, %wanted
  %has = and i1 %has.bits, %is.enabled
  br i1 %has, label %there, label %missing
there:
  %i.next = add i64 %i, 1
  br label %next
missing:
  %name.slot = getelementptr %sutura.Feature, ptr %feature, i64 0, i32 5
  %name = load ptr, ptr %name.slot
  %first = ptrtoint ptr @sutura.name.target to i64
  %second = ptrtoint ptr %name to i64
  call void @sutura.say2(ptr @sutura.says.machine, i64 %first, i64 %second)
  ret i32 3
all:
  %tiles = load i1, ptr @sutura.wants.tiles
  br i1 %tiles, label %ask, label %good
ask:
  ; Linux gives a process the registers of AMX when it asks for them: arch_prctl(ARCH_REQ_XCOMP_PERM, 18).
  %answer = call i64 asm sideeffect "syscall", "={ax},{ax},{di},{si},~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 158, i64 4131, i64 18)
  %given = icmp eq i64 %answer, 0
  br i1 %given, label %good, label %refused
refused:
  %third = ptrtoint ptr @sutura.name.target to i64
  %fourth = ptrtoint ptr @sutura.name.tiles to i64
  call void @sutura.say2(ptr @sutura.says.machine, i64 %third, i64 %fourth)
  ret i32 3
good:
  store atomic i32 1, ptr @sutura.machine.known monotonic, align 4
  br label %done
done:
  ret i32 0
}
