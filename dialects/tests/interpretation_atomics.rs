//! What operations that read and write memory in one step do when a program runs.

use sutura_dialects::text::parse_text;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Value};
use sutura_ir::Context;

/// Calls `main` with a pointer to 32-bit integers, or a memref of them, and with numbers; what it returns and leaves.
fn run(text: &str, memory: &[i32], as_pointer: bool, numbers: &[Value]) -> (Vec<Value>, Vec<i32>) {
    let cx = Context::new(sutura_dialects::all());
    let module = parse_text(&cx, "<text>", text).unwrap_or_else(|e| panic!("{e}"));
    let mut interpreter = Interpreter::new(&cx, &module);
    let numbers_of = memory.iter().map(|n| Scalar::int((*n).into(), DType::I32));
    let tensor = Tensor::from_scalars(DType::I32, &[memory.len()], numbers_of).unwrap();
    let memref = interpreter.memory().alloc_from(&tensor, None).unwrap();
    let first = match as_pointer {
        true => Value::int(interpreter.memory().address(&memref).unwrap(), 64),
        false => Value::from(memref.clone()),
    };
    let args: Vec<Value> = [first].into_iter().chain(numbers.iter().cloned()).collect();
    let results = interpreter.call("main", &args).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let after = interpreter.memory().read(&memref).unwrap();
    let after = (0..memory.len()).map(|i| after.data().read(i).unwrap().as_i64().unwrap() as i32);
    (results, after.collect())
}

#[test]
fn read_modify_write() {
    // Operation, old value, operand, new value.
    let cases: [(&str, i32, i32, i32); 19] = [
        ("xchg", 5, 7, 7),
        ("add", i32::MAX, 1, i32::MIN),
        ("sub", 5, 7, -2),
        ("_and", 6, 3, 2),
        ("nand", 6, 3, !2),
        ("_or", 6, 3, 7),
        ("_xor", 6, 3, 5),
        ("max", -1, 3, 3),
        ("min", -1, 3, -1),
        ("umax", -1, 3, -1),
        ("umin", -1, 3, 3),
        ("uinc_wrap", 6, 7, 7),
        ("uinc_wrap", 7, 7, 0),
        ("udec_wrap", 6, 7, 5),
        ("udec_wrap", 0, 7, 7),
        ("udec_wrap", -1, 7, 7),
        ("usub_cond", 9, 7, 2),
        ("usub_cond", 6, 7, 6),
        ("usub_sat", 6, 7, 0),
    ];
    for (name, old, operand, new) in cases {
        let text = format!(
            "llvm.func @main(%p: !llvm.ptr, %x: i32) -> i32 {{
               llvm.fence syncscope(\"agent\") acquire
               %0 = llvm.atomicrmw {name} %p, %x acq_rel : !llvm.ptr, i32
               llvm.return %0 : i32
             }}"
        );
        let (results, after) = run(&text, &[old], true, &[Value::int(operand.into(), 32)]);
        assert_eq!((results[0].as_int().unwrap(), after[0]), (old.into(), new), "{name} {old} {operand}");
    }
}

#[test]
fn compare_and_exchange() {
    let text = "llvm.func @main(%p: !llvm.ptr, %expected: i32, %new: i32) -> !llvm.struct<(i32, i1)> {
      %0 = llvm.cmpxchg %p, %expected, %new seq_cst monotonic : !llvm.ptr, i32
      %old = llvm.extractvalue %0[0] : !llvm.struct<(i32, i1)>
      %held = llvm.extractvalue %0[1] : !llvm.struct<(i32, i1)>
      %wide = llvm.zext %held : i1 to i32
      %one = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
      %two = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.store %old, %one : i32, !llvm.ptr
      llvm.store %wide, %two : i32, !llvm.ptr
      llvm.return %0 : !llvm.struct<(i32, i1)>
    }";
    let after = |expected| run(text, &[5, 0, 0], true, &[Value::int(expected, 32), Value::int(9, 32)]).1;
    assert_eq!(after(5), [9, 5, 1]);
    assert_eq!(after(6), [5, 5, 0]);
}

#[test]
fn memory_of_a_known_length() {
    let text = r#"llvm.func @main(%p: !llvm.ptr, %b: i8) {
      %q = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, i32
      "llvm.intr.memset.inline"(%p, %b) <{isVolatile = false, len = 6 : i64}> : (!llvm.ptr, i8) -> ()
      "llvm.intr.memcpy.inline"(%q, %p) <{isVolatile = false, len = 4 : i64}> : (!llvm.ptr, !llvm.ptr) -> ()
      llvm.return
    }"#;
    let (_, after) = run(text, &[0, 0, 0], true, &[Value::int(1, 8)]);
    assert_eq!(after, [0x0101_0101, 0x0101, 0x0101_0101]);
}

#[test]
fn a_region_makes_the_new_element() {
    let text = "func.func @main(%m: memref<3xi32>, %i: index, %x: i32) -> i32 {
      %0 = memref.generic_atomic_rmw %m[%i] : memref<3xi32> {
      ^bb0(%old: i32):
        %new = arith.muli %old, %x : i32
        memref.atomic_yield %new : i32
      }
      return %0 : i32
    }";
    let (results, after) = run(text, &[1, 2, 3], false, &[Value::index(1), Value::int(5, 32)]);
    assert_eq!((results[0].as_int().unwrap(), &after[..]), (2, &[1, 10, 3][..]));
}

#[test]
fn parts_of_a_memref_and_scopes() {
    let text = "func.func @main(%m: memref<6xi32>) -> (i32, index, index, index) {
      %v = memref.subview %m[1] [2] [3] : memref<6xi32> to memref<2xi32, strided<[3], offset: 1>>
      %base, %offset, %sizes, %strides = memref.extract_strided_metadata %v
        : memref<2xi32, strided<[3], offset: 1>> -> memref<i32>, index, index, index
      %x = memref.alloca_scope -> (i32) {
        %y = memref.load %base[] : memref<i32>
        memref.alloca_scope.return %y : i32
      }
      return %x, %offset, %sizes, %strides : i32, index, index, index
    }";
    let (results, _) = run(text, &[7, 0, 0, 0, 0, 0], false, &[]);
    let results: Vec<i64> = results.iter().map(|v| v.as_int().unwrap()).collect();
    assert_eq!(results, [7, 1, 2, 3]);
}
