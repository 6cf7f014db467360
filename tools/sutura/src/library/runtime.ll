; What a model's code needs of a runtime, for one thread and a C library: the table that it is run with, the checks of a call, and
; the words of errors. `glue.rs` puts the model's own part behind it: types and tables that are named here and defined there.
;
; The functions are those of runtime/src/model/run.rs, in the same order and with the same words. Sizes are signed 64 bits wide, so
; the text holds for every 64-bit processor.

; An input or an output: what messages call it, its rank, bytes of an element, what its address must be a multiple of.
%sutura.Value = type { ptr, i64, i64, i64 }
; A check of sizes: what is said where a value is too large or just wrong, where it is too small, where it left 63 bits, and where a
; size is negative; null where that is not told apart.
%sutura.Check = type { ptr, ptr, ptr, ptr }
; A check of data: what is said usually, and what where the number that `decides` (0: position, 1: size, 2: none) is not positive
; (of a position: negative).
%sutura.DataCheck = type { ptr, ptr, i64 }
; What was reported first: whether anything was, check, position, index, size; and the table's word that says that something was.
%sutura.Report = type { i64, i64, i64, i64, i64, ptr }
; `SuturaRt` of runtime/src/abi.rs.
%sutura.Table = type { i32, i32, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }

declare i32 @sutura.code.shapes(ptr, ptr, ptr, ptr, ptr)
declare i32 @sutura.code.run(ptr, ptr, ptr, ptr, ptr, ptr)
declare noalias ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.uadd.sat.i64(i64, i64)

; The address of tensors without elements.
@sutura.empty = internal global [64 x i8] zeroinitializer, align 64

; `SuturaRt::parallel_for` on this thread.
define internal void @sutura.for(ptr %context, ptr %kernel, ptr %buffers, ptr %dims, i64 %groups, i64 %grain) {
  %some = icmp sgt i64 %groups, 0
  br i1 %some, label %all, label %done
all:
  call void %kernel(ptr %buffers, ptr %dims, i64 0, i64 %groups)
  br label %done
done:
  ret void
}

; `SuturaRt::report`: the least report is kept.
define internal void @sutura.report(ptr %context, i64 %check, i64 %position, i64 %index, i64 %size) {
entry:
  %reported.slot = getelementptr %sutura.Report, ptr %context, i64 0, i32 5
  %reported = load ptr, ptr %reported.slot
  store atomic i32 1, ptr %reported monotonic, align 4
  %any = load i64, ptr %context
  %none = icmp eq i64 %any, 0
  %check.slot = getelementptr %sutura.Report, ptr %context, i64 0, i32 1
  %position.slot = getelementptr %sutura.Report, ptr %context, i64 0, i32 2
  %index.slot = getelementptr %sutura.Report, ptr %context, i64 0, i32 3
  %size.slot = getelementptr %sutura.Report, ptr %context, i64 0, i32 4
  %old.check = load i64, ptr %check.slot
  %old.position = load i64, ptr %position.slot
  %old.index = load i64, ptr %index.slot
  %old.size = load i64, ptr %size.slot
  %less.size = icmp slt i64 %size, %old.size
  %same.index = icmp eq i64 %index, %old.index
  %less.index = icmp slt i64 %index, %old.index
  %and.size = and i1 %same.index, %less.size
  %from.index = or i1 %less.index, %and.size
  %same.position = icmp eq i64 %position, %old.position
  %less.position = icmp slt i64 %position, %old.position
  %and.index = and i1 %same.position, %from.index
  %from.position = or i1 %less.position, %and.index
  %same.check = icmp eq i64 %check, %old.check
  %less.check = icmp slt i64 %check, %old.check
  %and.position = and i1 %same.check, %from.position
  %less = or i1 %less.check, %and.position
  %first = or i1 %none, %less
  br i1 %first, label %keep, label %done
keep:
  store i64 1, ptr %context
  store i64 %check, ptr %check.slot
  store i64 %position, ptr %position.slot
  store i64 %index, ptr %index.slot
  store i64 %size, ptr %size.slot
  br label %done
done:
  ret void
}

; Computes the bytes of a tensor with these dims; refuses dims that no tensor has.
define internal i32 @sutura.measure(ptr %value, ptr %dims, ptr %bytes) {
entry:
  %name = load ptr, ptr %value
  %name.word = ptrtoint ptr %name to i64
  %rank.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 1
  %rank = load i64, ptr %rank.slot
  %element.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 2
  %element = load i64, ptr %element.slot
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %good ]
  %size = phi i64 [ %element, %entry ], [ %product, %good ]
  %empty = phi i1 [ false, %entry ], [ %empty.next, %good ]
  %over = phi i1 [ false, %entry ], [ %over.next, %good ]
  %ended = icmp eq i64 %i, %rank
  br i1 %ended, label %end, label %one
one:
  %slot = getelementptr i64, ptr %dims, i64 %i
  %dim = load i64, ptr %slot
  %is.negative = icmp slt i64 %dim, 0
  br i1 %is.negative, label %negative, label %good
negative:
  call void @sutura.say2(ptr @sutura.says.negative, i64 %name.word, i64 %dim)
  ret i32 1
good:
  %is.zero = icmp eq i64 %dim, 0
  %empty.next = or i1 %empty, %is.zero
  %both = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 %size, i64 %dim)
  %product = extractvalue { i64, i1 } %both, 0
  %overflows = extractvalue { i64, i1 } %both, 1
  %top = icmp slt i64 %product, 0
  %beyond = or i1 %overflows, %top
  %over.next = or i1 %over, %beyond
  %i.next = add i64 %i, 1
  br label %next
end:
  %no.room = select i1 %empty, i1 false, i1 %over
  br i1 %no.room, label %huge, label %done
huge:
  %arguments = alloca [3 x i64]
  store i64 %name.word, ptr %arguments
  %second = getelementptr i64, ptr %arguments, i64 1
  store ptr %dims, ptr %second
  %third = getelementptr i64, ptr %arguments, i64 2
  store i64 %rank, ptr %third
  call void @sutura.say(ptr @sutura.says.huge, ptr %arguments)
  ret i32 1
done:
  %all = select i1 %empty, i64 0, i64 %size
  store i64 %all, ptr %bytes
  ret i32 0
}

; Refuses where dims of a tensor that has some are null.
define internal i32 @sutura.dims.given(ptr %value, ptr %dims) {
entry:
  %rank.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 1
  %rank = load i64, ptr %rank.slot
  %has.dims = icmp ne i64 %rank, 0
  %is.null = icmp eq ptr %dims, null
  %missing = and i1 %has.dims, %is.null
  br i1 %missing, label %null, label %good
null:
  %name = load ptr, ptr %value
  %name.word = ptrtoint ptr %name to i64
  call void @sutura.say1(ptr @sutura.says.null.dims, i64 %name.word)
  ret i32 2
good:
  ret i32 0
}

; From the dims of the inputs, those of the outputs, the symbols and the bytes of the workspace.
define internal i32 @sutura.solve(ptr %input.dims, ptr %input.bytes, ptr %symbols, ptr %output.dims, ptr %workspace) {
entry:
  %flat = alloca %sutura.InputDims
  %detail = alloca [2 x i64]
  store [2 x i64] zeroinitializer, ptr %detail
  %n = load i64, ptr @sutura.n.inputs
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %copied ]
  %to = phi ptr [ %flat, %entry ], [ %to.next, %copied ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %all, label %one
one:
  %value = getelementptr %sutura.Value, ptr @sutura.inputs, i64 %i
  %slot = getelementptr ptr, ptr %input.dims, i64 %i
  %dims = load ptr, ptr %slot
  %given = call i32 @sutura.dims.given(ptr %value, ptr %dims)
  %is.given = icmp eq i32 %given, 0
  br i1 %is.given, label %measure, label %refuse
measure:
  %bytes = getelementptr i64, ptr %input.bytes, i64 %i
  %measured = call i32 @sutura.measure(ptr %value, ptr %dims, ptr %bytes)
  %is.measured = icmp eq i32 %measured, 0
  br i1 %is.measured, label %copied, label %refuse
copied:
  %rank.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 1
  %rank = load i64, ptr %rank.slot
  %length = mul i64 %rank, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %dims, i64 %length, i1 false)
  %to.next = getelementptr i64, ptr %to, i64 %rank
  %i.next = add i64 %i, 1
  br label %next
refuse:
  %status = phi i32 [ %given, %one ], [ %measured, %measure ]
  ret i32 %status
all:
  %result = call i32 @sutura.code.shapes(ptr %flat, ptr %symbols, ptr %output.dims, ptr %workspace, ptr %detail)
  %holds = icmp eq i32 %result, 0
  br i1 %holds, label %done, label %wrong
done:
  ret i32 0
wrong:
  %wide = sext i32 %result to i64
  %check = sub i64 %wide, 1
  %first = load i64, ptr %detail
  %second.slot = getelementptr i64, ptr %detail, i64 1
  %second = load i64, ptr %second.slot
  %said = call i32 @sutura.size.check(i64 %check, i64 %first, i64 %second)
  ret i32 %said
}

; What a caller must give for a workspace of so many bytes: it may lie anywhere, and the code's part of it is aligned.
define internal i64 @sutura.with.room(i64 %bytes) {
  %none = icmp eq i64 %bytes, 0
  %padded = add i64 %bytes, 63
  %all = select i1 %none, i64 0, i64 %padded
  ret i64 %all
}

; M_output_dims.
define internal i32 @sutura.infer(ptr %input.dims, ptr %output.dims) {
entry:
  %symbols = alloca %sutura.Symbols
  %flat = alloca %sutura.OutputDims
  %sizes = alloca %sutura.Inputs
  %workspace = alloca i64
  %solved = call i32 @sutura.solve(ptr %input.dims, ptr %sizes, ptr %symbols, ptr %flat, ptr %workspace)
  %is.solved = icmp eq i32 %solved, 0
  br i1 %is.solved, label %start, label %refuse
start:
  %n = load i64, ptr @sutura.n.outputs
  br label %check
; All are looked at before the first is written to.
check:
  %j = phi i64 [ 0, %start ], [ %j.next, %checked ]
  %all.checked = icmp eq i64 %j, %n
  br i1 %all.checked, label %next, label %check.one
check.one:
  %checked.value = getelementptr %sutura.Value, ptr @sutura.outputs, i64 %j
  %checked.slot = getelementptr ptr, ptr %output.dims, i64 %j
  %checked.dims = load ptr, ptr %checked.slot
  %given = call i32 @sutura.dims.given(ptr %checked.value, ptr %checked.dims)
  %is.given = icmp eq i32 %given, 0
  br i1 %is.given, label %checked, label %refuse
checked:
  %j.next = add i64 %j, 1
  br label %check
next:
  %i = phi i64 [ 0, %check ], [ %i.next, %one ]
  %from = phi ptr [ %flat, %check ], [ %from.next, %one ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %done, label %one
one:
  %value = getelementptr %sutura.Value, ptr @sutura.outputs, i64 %i
  %slot = getelementptr ptr, ptr %output.dims, i64 %i
  %dims = load ptr, ptr %slot
  %rank.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 1
  %rank = load i64, ptr %rank.slot
  %length = mul i64 %rank, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %dims, ptr %from, i64 %length, i1 false)
  %from.next = getelementptr i64, ptr %from, i64 %rank
  %i.next = add i64 %i, 1
  br label %next
refuse:
  %status = phi i32 [ %solved, %entry ], [ %given, %check.one ]
  ret i32 %status
done:
  ret i32 0
}

; M_workspace_bytes.
define internal i32 @sutura.workspace(ptr %input.dims, ptr %bytes) {
entry:
  %symbols = alloca %sutura.Symbols
  %flat = alloca %sutura.OutputDims
  %sizes = alloca %sutura.Inputs
  %workspace = alloca i64
  %is.null = icmp eq ptr %bytes, null
  br i1 %is.null, label %null, label %solve
null:
  call void @sutura.say1(ptr @sutura.says.null.bytes, i64 0)
  ret i32 2
solve:
  %solved = call i32 @sutura.solve(ptr %input.dims, ptr %sizes, ptr %symbols, ptr %flat, ptr %workspace)
  %is.solved = icmp eq i32 %solved, 0
  br i1 %is.solved, label %done, label %refuse
refuse:
  ret i32 %solved
done:
  %needed = load i64, ptr %workspace
  %all = call i64 @sutura.with.room(i64 %needed)
  store i64 %all, ptr %bytes
  ret i32 0
}

; Refuses outputs whose dims are not those that were solved, and measures them.
define internal i32 @sutura.outputs.fit(ptr %output.dims, ptr %flat, ptr %output.bytes) {
entry:
  %n = load i64, ptr @sutura.n.outputs
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %compared ]
  %wanted = phi ptr [ %flat, %entry ], [ %wanted.next, %compared ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %done, label %one
one:
  %value = getelementptr %sutura.Value, ptr @sutura.outputs, i64 %i
  %slot = getelementptr ptr, ptr %output.dims, i64 %i
  %dims = load ptr, ptr %slot
  %given = call i32 @sutura.dims.given(ptr %value, ptr %dims)
  %is.given = icmp eq i32 %given, 0
  br i1 %is.given, label %measure, label %refuse
measure:
  %bytes = getelementptr i64, ptr %output.bytes, i64 %i
  %measured = call i32 @sutura.measure(ptr %value, ptr %wanted, ptr %bytes)
  %is.measured = icmp eq i32 %measured, 0
  br i1 %is.measured, label %compare.start, label %refuse
compare.start:
  %rank.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 1
  %rank = load i64, ptr %rank.slot
  br label %compare
compare:
  %j = phi i64 [ 0, %compare.start ], [ %j.next, %same ]
  %all.same = icmp eq i64 %j, %rank
  br i1 %all.same, label %compared, label %compare.one
compare.one:
  %wanted.slot = getelementptr i64, ptr %wanted, i64 %j
  %wanted.dim = load i64, ptr %wanted.slot
  %dim.slot = getelementptr i64, ptr %dims, i64 %j
  %dim = load i64, ptr %dim.slot
  %is.same = icmp eq i64 %wanted.dim, %dim
  br i1 %is.same, label %same, label %differ
same:
  %j.next = add i64 %j, 1
  br label %compare
differ:
  %arguments = alloca [5 x i64]
  %name = load ptr, ptr %value
  store ptr %name, ptr %arguments
  %second = getelementptr i64, ptr %arguments, i64 1
  store ptr %wanted, ptr %second
  %third = getelementptr i64, ptr %arguments, i64 2
  store i64 %rank, ptr %third
  %fourth = getelementptr i64, ptr %arguments, i64 3
  store ptr %dims, ptr %fourth
  %fifth = getelementptr i64, ptr %arguments, i64 4
  store i64 %rank, ptr %fifth
  call void @sutura.say(ptr @sutura.says.shape, ptr %arguments)
  ret i32 2
compared:
  %wanted.next = getelementptr i64, ptr %wanted, i64 %rank
  %i.next = add i64 %i, 1
  br label %next
refuse:
  %status = phi i32 [ %given, %one ], [ %measured, %measure ]
  ret i32 %status
done:
  ret i32 0
}

; Refuses null and misaligned data of tensors that have elements; those that have none get an address.
define internal i32 @sutura.place(ptr %values, i64 %n, ptr %data, ptr %sizes) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %placed ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %done, label %one
one:
  %value = getelementptr %sutura.Value, ptr %values, i64 %i
  %slot = getelementptr ptr, ptr %data, i64 %i
  %size.slot = getelementptr i64, ptr %sizes, i64 %i
  %size = load i64, ptr %size.slot
  %is.empty = icmp eq i64 %size, 0
  br i1 %is.empty, label %empty, label %some
empty:
  store ptr @sutura.empty, ptr %slot
  br label %placed
some:
  %address = load ptr, ptr %slot
  %name = load ptr, ptr %value
  %name.word = ptrtoint ptr %name to i64
  %is.null = icmp eq ptr %address, null
  br i1 %is.null, label %null, label %there
null:
  call void @sutura.say1(ptr @sutura.says.null.data, i64 %name.word)
  ret i32 2
there:
  %align.slot = getelementptr %sutura.Value, ptr %value, i64 0, i32 3
  %align = load i64, ptr %align.slot
  %bits = ptrtoint ptr %address to i64
  %rest = urem i64 %bits, %align
  %is.aligned = icmp eq i64 %rest, 0
  br i1 %is.aligned, label %placed, label %misaligned
misaligned:
  call void @sutura.say2(ptr @sutura.says.aligned, i64 %name.word, i64 %align)
  ret i32 2
placed:
  %i.next = add i64 %i, 1
  br label %next
done:
  ret i32 0
}

; Refuses where `size` bytes at `address`, which are called `name`, overlap one of the first `n` tensors.
define internal i32 @sutura.apart(ptr %name, ptr %address, i64 %size, ptr %values, i64 %n, ptr %data, ptr %sizes) {
entry:
  %begin = ptrtoint ptr %address to i64
  %end = call i64 @llvm.uadd.sat.i64(i64 %begin, i64 %size)
  %some = icmp ne i64 %size, 0
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %apart ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %done, label %one
one:
  %slot = getelementptr ptr, ptr %data, i64 %i
  %other = load ptr, ptr %slot
  %size.slot = getelementptr i64, ptr %sizes, i64 %i
  %other.size = load i64, ptr %size.slot
  %other.begin = ptrtoint ptr %other to i64
  %other.end = call i64 @llvm.uadd.sat.i64(i64 %other.begin, i64 %other.size)
  %other.some = icmp ne i64 %other.size, 0
  %before = icmp ult i64 %begin, %other.end
  %behind = icmp ult i64 %other.begin, %end
  %touch = and i1 %before, %behind
  %both.some = and i1 %some, %other.some
  %overlaps = and i1 %touch, %both.some
  br i1 %overlaps, label %refuse, label %apart
refuse:
  %value = getelementptr %sutura.Value, ptr %values, i64 %i
  %other.name = load ptr, ptr %value
  %first = ptrtoint ptr %name to i64
  %second = ptrtoint ptr %other.name to i64
  call void @sutura.say2(ptr @sutura.says.overlap, i64 %first, i64 %second)
  ret i32 2
apart:
  %i.next = add i64 %i, 1
  br label %next
done:
  ret i32 0
}

; Refuses where an output overlaps an input or an output before it.
define internal i32 @sutura.outputs.apart(ptr %inputs, ptr %input.bytes, ptr %outputs, ptr %output.bytes) {
entry:
  %n = load i64, ptr @sutura.n.outputs
  %n.inputs = load i64, ptr @sutura.n.inputs
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %apart ]
  %ended = icmp eq i64 %i, %n
  br i1 %ended, label %done, label %one
one:
  %value = getelementptr %sutura.Value, ptr @sutura.outputs, i64 %i
  %name = load ptr, ptr %value
  %slot = getelementptr ptr, ptr %outputs, i64 %i
  %address = load ptr, ptr %slot
  %size.slot = getelementptr i64, ptr %output.bytes, i64 %i
  %size = load i64, ptr %size.slot
  %of.inputs = call i32 @sutura.apart(ptr %name, ptr %address, i64 %size, ptr @sutura.inputs, i64 %n.inputs, ptr %inputs, ptr %input.bytes)
  %is.apart = icmp eq i32 %of.inputs, 0
  br i1 %is.apart, label %further, label %refuse
further:
  %of.outputs = call i32 @sutura.apart(ptr %name, ptr %address, i64 %size, ptr @sutura.outputs, i64 %i, ptr %outputs, ptr %output.bytes)
  %is.alone = icmp eq i32 %of.outputs, 0
  br i1 %is.alone, label %apart, label %refuse
apart:
  %i.next = add i64 %i, 1
  br label %next
refuse:
  %status = phi i32 [ %of.inputs, %one ], [ %of.outputs, %further ]
  ret i32 %status
done:
  ret i32 0
}

; Runs the code with everything in its place.
define internal i32 @sutura.execute(ptr %symbols, ptr %inputs, ptr %outputs, ptr %workspace) {
entry:
  %report = alloca %sutura.Report
  %table = alloca %sutura.Table
  store %sutura.Report zeroinitializer, ptr %report
  store %sutura.Table zeroinitializer, ptr %table
  %abi = load i32, ptr @sutura.abi
  store i32 %abi, ptr %table
  %reported = getelementptr %sutura.Table, ptr %table, i64 0, i32 1
  %reported.slot = getelementptr %sutura.Report, ptr %report, i64 0, i32 5
  store ptr %reported, ptr %reported.slot
  %context = getelementptr %sutura.Table, ptr %table, i64 0, i32 2
  store ptr %report, ptr %context
  %for = getelementptr %sutura.Table, ptr %table, i64 0, i32 3
  store ptr @sutura.for, ptr %for
  ; Routines, devices and recursive functions, whose entries stay null, are refused when a library is made.
  %reports = getelementptr %sutura.Table, ptr %table, i64 0, i32 5
  store ptr @sutura.report, ptr %reports
  %result = call i32 @sutura.code.run(ptr %table, ptr %symbols, ptr %inputs, ptr %outputs, ptr @sutura.constants, ptr %workspace)
  %any = load i64, ptr %report
  %is.wrong = icmp ne i64 %any, 0
  br i1 %is.wrong, label %wrong, label %right
wrong:
  %said = call i32 @sutura.wrong.data(ptr %report)
  ret i32 %said
right:
  %failed = icmp ne i32 %result, 0
  br i1 %failed, label %fail, label %done
fail:
  %code = sext i32 %result to i64
  call void @sutura.say1(ptr @sutura.says.code, i64 %code)
  ret i32 70
done:
  ret i32 0
}

; M_run. Data of tensors without elements are replaced in the arrays.
define internal i32 @sutura.run(ptr %inputs, ptr %input.dims, ptr %outputs, ptr %output.dims, ptr %workspace, i64 %workspace.bytes) {
entry:
  %symbols = alloca %sutura.Symbols
  %flat = alloca %sutura.OutputDims
  %input.bytes = alloca %sutura.Inputs
  %output.bytes = alloca %sutura.Outputs
  %needed.slot = alloca i64
  %solved = call i32 @sutura.solve(ptr %input.dims, ptr %input.bytes, ptr %symbols, ptr %flat, ptr %needed.slot)
  %is.solved = icmp eq i32 %solved, 0
  br i1 %is.solved, label %fit, label %refuse
fit:
  %fits = call i32 @sutura.outputs.fit(ptr %output.dims, ptr %flat, ptr %output.bytes)
  %do.fit = icmp eq i32 %fits, 0
  br i1 %do.fit, label %place, label %refuse
place:
  %n.inputs = load i64, ptr @sutura.n.inputs
  %placed = call i32 @sutura.place(ptr @sutura.inputs, i64 %n.inputs, ptr %inputs, ptr %input.bytes)
  %is.placed = icmp eq i32 %placed, 0
  br i1 %is.placed, label %place.outputs, label %refuse
place.outputs:
  %n.outputs = load i64, ptr @sutura.n.outputs
  %placed.too = call i32 @sutura.place(ptr @sutura.outputs, i64 %n.outputs, ptr %outputs, ptr %output.bytes)
  %are.placed = icmp eq i32 %placed.too, 0
  br i1 %are.placed, label %outputs.apart, label %refuse
outputs.apart:
  %apart = call i32 @sutura.outputs.apart(ptr %inputs, ptr %input.bytes, ptr %outputs, ptr %output.bytes)
  %are.apart = icmp eq i32 %apart, 0
  br i1 %are.apart, label %room, label %refuse
room:
  %needed = load i64, ptr %needed.slot
  %all = call i64 @sutura.with.room(i64 %needed)
  %no.address = icmp eq ptr %workspace, null
  br i1 %no.address, label %none.given, label %given
none.given:
  %no.bytes = icmp eq i64 %workspace.bytes, 0
  br i1 %no.bytes, label %own, label %null
null:
  call void @sutura.say1(ptr @sutura.says.null.workspace, i64 0)
  ret i32 2
own:
  %is.needed = icmp ne i64 %needed, 0
  br i1 %is.needed, label %allocate, label %execute
allocate:
  ; A multiple of the alignment, as the C library wants.
  %rounded = and i64 %all, -64
  %memory = call ptr @aligned_alloc(i64 64, i64 %rounded)
  %is.memory = icmp ne ptr %memory, null
  br i1 %is.memory, label %execute, label %no.memory
no.memory:
  call void @sutura.say1(ptr @sutura.says.memory, i64 %rounded)
  ret i32 5
given:
  %too.few = icmp ult i64 %workspace.bytes, %all
  br i1 %too.few, label %few, label %workspace.apart
few:
  call void @sutura.say2(ptr @sutura.says.workspace, i64 %workspace.bytes, i64 %all)
  ret i32 2
workspace.apart:
  %of.inputs = call i32 @sutura.apart(ptr @sutura.name.workspace, ptr %workspace, i64 %all, ptr @sutura.inputs, i64 %n.inputs, ptr %inputs, ptr %input.bytes)
  %is.apart = icmp eq i32 %of.inputs, 0
  br i1 %is.apart, label %workspace.alone, label %refuse
workspace.alone:
  %of.outputs = call i32 @sutura.apart(ptr @sutura.name.workspace, ptr %workspace, i64 %all, ptr @sutura.outputs, i64 %n.outputs, ptr %outputs, ptr %output.bytes)
  %is.alone = icmp eq i32 %of.outputs, 0
  br i1 %is.alone, label %align, label %refuse
align:
  %bits = ptrtoint ptr %workspace to i64
  %negated = sub i64 0, %bits
  %gap = and i64 %negated, 63
  %aligned = getelementptr i8, ptr %workspace, i64 %gap
  br label %execute
execute:
  %space = phi ptr [ @sutura.empty, %own ], [ %memory, %allocate ], [ %aligned, %align ]
  %to.free = phi ptr [ null, %own ], [ %memory, %allocate ], [ null, %align ]
  %ran = call i32 @sutura.execute(ptr %symbols, ptr %inputs, ptr %outputs, ptr %space)
  call void @free(ptr %to.free)
  %is.ran = icmp eq i32 %ran, 0
  br i1 %is.ran, label %done, label %refuse
refuse:
  %status = phi i32 [ %solved, %entry ], [ %fits, %fit ], [ %placed, %place ], [ %placed.too, %place.outputs ], [ %apart, %outputs.apart ], [ %of.inputs, %workspace.apart ], [ %of.outputs, %workspace.alone ], [ %ran, %execute ]
  ret i32 %status
done:
  ret i32 0
}
