; The words of errors. In them byte 1 stands for a number, 2 for a string, and 3 for a list of numbers with its length; the byte
; behind it is the number of the argument, counted from 1. `words.rs` writes them, under the names `@sutura.says.*`.

declare ptr @llvm.threadlocal.address.p0(ptr)

; The words of the last error on this thread.
@sutura.message = internal thread_local global [1024 x i8] zeroinitializer

; The end of `to` after `value` was written there, in decimal.
define internal ptr @sutura.number(ptr %to, i64 %value) #0 {
entry:
  %negative = icmp slt i64 %value, 0
  br i1 %negative, label %minus, label %count
minus:
  store i8 45, ptr %to
  %behind = getelementptr i8, ptr %to, i64 1
  %flipped = sub i64 0, %value
  br label %count
count:
  %first = phi ptr [ %to, %entry ], [ %behind, %minus ]
  %size = phi i64 [ %value, %entry ], [ %flipped, %minus ]
  br label %longer
longer:
  %rest = phi i64 [ %size, %count ], [ %fewer, %longer ]
  %end = phi ptr [ %first, %count ], [ %next, %longer ]
  %fewer = udiv i64 %rest, 10
  %next = getelementptr i8, ptr %end, i64 1
  %more = icmp ne i64 %fewer, 0
  br i1 %more, label %longer, label %write
write:
  %left = phi i64 [ %size, %longer ], [ %smaller, %write ]
  %behind.it = phi ptr [ %next, %longer ], [ %place, %write ]
  %place = getelementptr i8, ptr %behind.it, i64 -1
  %digit = urem i64 %left, 10
  %smaller = udiv i64 %left, 10
  %byte = trunc i64 %digit to i8
  %char = add i8 %byte, 48
  store i8 %char, ptr %place
  %again = icmp ne ptr %place, %first
  br i1 %again, label %write, label %done
done:
  ret ptr %next
}

; The end of `to` after `text` was written there, as far as it goes before `limit`.
define internal ptr @sutura.text(ptr %to, ptr %text, ptr %limit) #0 {
entry:
  br label %next
next:
  %at = phi ptr [ %to, %entry ], [ %after, %one ]
  %from = phi ptr [ %text, %entry ], [ %behind, %one ]
  %byte = load i8, ptr %from
  %ended = icmp eq i8 %byte, 0
  %full = icmp uge ptr %at, %limit
  %stop = or i1 %ended, %full
  br i1 %stop, label %done, label %one
one:
  store i8 %byte, ptr %at
  %after = getelementptr i8, ptr %at, i64 1
  %behind = getelementptr i8, ptr %from, i64 1
  br label %next
done:
  ret ptr %at
}

; The end of `to` after `[2, 3]` was written there, as far as it goes before `limit`.
define internal ptr @sutura.list(ptr %to, ptr %numbers, i64 %length, ptr %limit) #0 {
entry:
  store i8 91, ptr %to
  %begin = getelementptr i8, ptr %to, i64 1
  br label %next
next:
  %at = phi ptr [ %begin, %entry ], [ %written, %number ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %number ]
  %ended = icmp eq i64 %i, %length
  %full = icmp uge ptr %at, %limit
  %stop = or i1 %ended, %full
  br i1 %stop, label %done, label %one
one:
  %first = icmp eq i64 %i, 0
  br i1 %first, label %number, label %comma
comma:
  store i8 44, ptr %at
  %space = getelementptr i8, ptr %at, i64 1
  store i8 32, ptr %space
  %behind = getelementptr i8, ptr %at, i64 2
  br label %number
number:
  %place = phi ptr [ %at, %one ], [ %behind, %comma ]
  %slot = getelementptr i64, ptr %numbers, i64 %i
  %value = load i64, ptr %slot
  %written = call ptr @sutura.number(ptr %place, i64 %value)
  %i.next = add i64 %i, 1
  br label %next
done:
  store i8 93, ptr %at
  %end = getelementptr i8, ptr %at, i64 1
  ret ptr %end
}

; Keeps `words` with their arguments as the message of this thread; what has no room is cut.
define internal void @sutura.say(ptr %words, ptr %arguments) noinline #0 {
entry:
  %message = call ptr @llvm.threadlocal.address.p0(ptr @sutura.message)
  ; Behind it there is room for a number, its comma and the bracket of its list.
  %limit = getelementptr i8, ptr %message, i64 992
  br label %next
next:
  %at = phi ptr [ %message, %entry ], [ %plain.end, %plain ], [ %number.end, %number ], [ %string.end, %string ], [ %list.end, %list ]
  %from = phi ptr [ %words, %entry ], [ %behind, %plain ], [ %behind.two, %number ], [ %behind.two, %string ], [ %behind.two, %list ]
  %byte = load i8, ptr %from
  %behind = getelementptr i8, ptr %from, i64 1
  %ended = icmp eq i8 %byte, 0
  %full = icmp uge ptr %at, %limit
  %stop = or i1 %ended, %full
  br i1 %stop, label %done, label %one
one:
  %is.text = icmp ugt i8 %byte, 3
  br i1 %is.text, label %plain, label %argument
plain:
  store i8 %byte, ptr %at
  %plain.end = getelementptr i8, ptr %at, i64 1
  br label %next
argument:
  %behind.two = getelementptr i8, ptr %from, i64 2
  %index.byte = load i8, ptr %behind
  %index.wide = zext i8 %index.byte to i64
  %index = sub i64 %index.wide, 1
  %slot = getelementptr i64, ptr %arguments, i64 %index
  switch i8 %byte, label %number [ i8 2, label %string
                                   i8 3, label %list ]
number:
  %value = load i64, ptr %slot
  %number.end = call ptr @sutura.number(ptr %at, i64 %value)
  br label %next
string:
  %text = load ptr, ptr %slot
  %string.end = call ptr @sutura.text(ptr %at, ptr %text, ptr %limit)
  br label %next
list:
  %numbers = load ptr, ptr %slot
  %length.slot = getelementptr i64, ptr %slot, i64 1
  %length = load i64, ptr %length.slot
  %list.end = call ptr @sutura.list(ptr %at, ptr %numbers, i64 %length, ptr %limit)
  br label %next
done:
  store i8 0, ptr %at
  ret void
}

; Says `words` with one and with two arguments.
define internal void @sutura.say1(ptr %words, i64 %first) #0 {
  %arguments = alloca i64
  store i64 %first, ptr %arguments
  call void @sutura.say(ptr %words, ptr %arguments)
  ret void
}
define internal void @sutura.say2(ptr %words, i64 %first, i64 %second) #0 {
  %arguments = alloca [2 x i64]
  store i64 %first, ptr %arguments
  %slot = getelementptr i64, ptr %arguments, i64 1
  store i64 %second, ptr %slot
  call void @sutura.say(ptr %words, ptr %arguments)
  ret void
}

; Says which check of sizes does not hold, with its two values.
define internal i32 @sutura.size.check(i64 %check, i64 %first, i64 %second) {
entry:
  %slot = getelementptr %sutura.Check, ptr @sutura.checks, i64 %check
  %usual = load ptr, ptr %slot
  %below.slot = getelementptr %sutura.Check, ptr %slot, i64 0, i32 1
  %below = load ptr, ptr %below.slot
  %beyond.slot = getelementptr %sutura.Check, ptr %slot, i64 0, i32 2
  %beyond = load ptr, ptr %beyond.slot
  %negative.slot = getelementptr %sutura.Check, ptr %slot, i64 0, i32 3
  %negative = load ptr, ptr %negative.slot
  %has.below = icmp ne ptr %below, null
  %is.less = icmp sle i64 %first, %second
  %is.below = and i1 %has.below, %is.less
  %side = select i1 %is.below, ptr %below, ptr %usual
  %has.negative = icmp ne ptr %negative, null
  %first.negative = icmp slt i64 %first, 0
  %second.zero = icmp eq i64 %second, 0
  %signs = and i1 %first.negative, %second.zero
  %is.negative = and i1 %has.negative, %signs
  %signed = select i1 %is.negative, ptr %negative, ptr %side
  %has.beyond = icmp ne ptr %beyond, null
  %first.most = icmp eq i64 %first, 9223372036854775807
  %second.most = icmp eq i64 %second, 9223372036854775806
  %both.most = and i1 %first.most, %second.most
  %is.beyond = and i1 %has.beyond, %both.most
  %words = select i1 %is.beyond, ptr %beyond, ptr %signed
  call void @sutura.say2(ptr %words, i64 %first, i64 %second)
  ret i32 1
}

; Says what was reported.
define internal i32 @sutura.wrong.data(ptr %report) {
entry:
  %check.slot = getelementptr %sutura.Report, ptr %report, i64 0, i32 1
  %check = load i64, ptr %check.slot
  %position.slot = getelementptr %sutura.Report, ptr %report, i64 0, i32 2
  %position = load i64, ptr %position.slot
  %index.slot = getelementptr %sutura.Report, ptr %report, i64 0, i32 3
  %index = load i64, ptr %index.slot
  %size.slot = getelementptr %sutura.Report, ptr %report, i64 0, i32 4
  %size = load i64, ptr %size.slot
  %of.sizes = icmp slt i64 %check, 0
  br i1 %of.sizes, label %sizes, label %data
sizes:
  ; Of a check of sizes that data have decided: -(1 + check).
  %size.check = xor i64 %check, -1
  %said = call i32 @sutura.size.check(i64 %size.check, i64 %index, i64 %size)
  ret i32 %said
data:
  %slot = getelementptr %sutura.DataCheck, ptr @sutura.data.checks, i64 %check
  %usual = load ptr, ptr %slot
  %special.slot = getelementptr %sutura.DataCheck, ptr %slot, i64 0, i32 1
  %special = load ptr, ptr %special.slot
  %decides.slot = getelementptr %sutura.DataCheck, ptr %slot, i64 0, i32 2
  %decides = load i64, ptr %decides.slot
  %by.position = icmp eq i64 %decides, 0
  %no.position = icmp slt i64 %position, 0
  %unknown = and i1 %by.position, %no.position
  %by.size = icmp eq i64 %decides, 1
  %no.size = icmp slt i64 %size, 1
  %empty = and i1 %by.size, %no.size
  %is.special = or i1 %unknown, %empty
  %words = select i1 %is.special, ptr %special, ptr %usual
  %arguments = alloca [4 x i64]
  store i64 %position, ptr %arguments
  %second = getelementptr i64, ptr %arguments, i64 1
  store i64 %index, ptr %second
  %third = getelementptr i64, ptr %arguments, i64 2
  store i64 %size, ptr %third
  %last = sub i64 %size, 1
  %fourth = getelementptr i64, ptr %arguments, i64 3
  store i64 %last, ptr %fourth
  call void @sutura.say(ptr %words, ptr %arguments)
  ret i32 1
}
