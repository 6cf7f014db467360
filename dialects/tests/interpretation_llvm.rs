//! What the llvm dialect's ops do when a program runs.

use sutura_dialects::text::parse_text;
use sutura_interp::{FaultKind, InterpError, Interpreter, MemRef, Scalar, Tensor, Value};
use sutura_ir::{Context, Module};

fn context() -> Context {
    Context::new(sutura_dialects::all())
}

/// The module of functions as text.
fn parse(cx: &Context, text: &str) -> Module {
    parse_text(cx, "<text>", text).unwrap_or_else(|e| panic!("{e}"))
}

fn pointer(interpreter: &mut Interpreter<'_>, memref: &MemRef) -> Value {
    Value::int(interpreter.memory().address(memref).unwrap(), 64)
}

fn f32_memory(interpreter: &mut Interpreter<'_>, values: &[f32]) -> (MemRef, Value) {
    let tensor = Tensor::from_f32(values.to_vec(), &[values.len()]).unwrap();
    let memref = interpreter.memory().alloc_from(&tensor, None).unwrap();
    let address = pointer(interpreter, &memref);
    (memref, address)
}

fn f32s(interpreter: &mut Interpreter<'_>, memref: &MemRef) -> Vec<f32> {
    interpreter.memory().read(memref).unwrap().data().as_f32().unwrap().to_vec()
}

/// `c = a + b` over `begin..end`, through a table of pointers, as kernels are called.
const KERNEL: &str = r#"
func.func @k(%bufs: !llvm.ptr, %begin: i64, %end: i64) {
  %one = arith.constant 1 : i64
  %pb = "llvm.getelementptr"(%bufs) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr
  %pc = "llvm.getelementptr"(%bufs) <{elem_type = !llvm.ptr, rawConstantIndices = array<i32: 2>}> : (!llvm.ptr) -> !llvm.ptr
  %a = llvm.load %bufs : !llvm.ptr -> !llvm.ptr
  %b = llvm.load %pb : !llvm.ptr -> !llvm.ptr
  %c = llvm.load %pc : !llvm.ptr -> !llvm.ptr
  scf.for %i = %begin to %end step %one : i64 {
    %ai = "llvm.getelementptr"(%a, %i) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
    %bi = "llvm.getelementptr"(%b, %i) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
    %ci = "llvm.getelementptr"(%c, %i) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
    %x = llvm.load %ai {alignment = 4 : i64} : !llvm.ptr -> f32
    %y = llvm.load %bi {alignment = 4 : i64} : !llvm.ptr -> f32
    %z = arith.addf %x, %y : f32
    llvm.store %z, %ci {alignment = 4 : i64} : f32, !llvm.ptr
  }
  return
}
"#;

#[test]
fn kernels_reach_their_buffers_through_pointers() {
    let cx = context();
    let m = parse(&cx, KERNEL);
    let mut interpreter = Interpreter::new(&cx, &m);
    let (_, a) = f32_memory(&mut interpreter, &[1., 2., 3., 4.]);
    let (_, b) = f32_memory(&mut interpreter, &[10., 20., 30., 40.]);
    let (c, pc) = f32_memory(&mut interpreter, &[0.; 4]);
    let table = [&a, &b, &pc].map(|p| p.as_int().unwrap()).to_vec();
    let table = Tensor::from_i64(table, &[3]).unwrap();
    let table = interpreter.memory().alloc_from(&table, None).unwrap();
    let bufs = pointer(&mut interpreter, &table);
    interpreter.call("k", &[bufs.clone(), Value::int(1, 64), Value::int(4, 64)]).unwrap();
    assert_eq!(f32s(&mut interpreter, &c), [0., 22., 33., 44.]);
    let error = interpreter.call("k", &[bufs, Value::int(1, 64), Value::int(5, 64)]).unwrap_err();
    assert_eq!((error.kind(), error.op_name()), (FaultKind::OutOfBounds, Some("llvm.load")));
}

/// Runs `@f` of a body of generic llvm ops on a pointer to these numbers; gives the results and the numbers after.
fn with_memory(body: &str, results: &str, values: &[f32]) -> Result<(Vec<Value>, Vec<f32>), InterpError> {
    let cx = context();
    let m = parse(&cx, &format!("func.func @f(%p: !llvm.ptr) -> ({results}) {{\n{body}\n}}\n"));
    let mut interpreter = Interpreter::new(&cx, &m);
    let (memref, p) = f32_memory(&mut interpreter, values);
    let out = interpreter.call("f", &[p])?;
    Ok((out, f32s(&mut interpreter, &memref)))
}

#[test]
fn vectors_in_memory() {
    let whole = "%v = llvm.load %p : !llvm.ptr -> vector<4xf32>\n%s = arith.addf %v, %v : vector<4xf32>\n\
                 llvm.store %s, %p : vector<4xf32>, !llvm.ptr\nreturn %v : vector<4xf32>";
    let (out, after) = with_memory(whole, "vector<4xf32>", &[1., 2., 3., 4., 5.]).unwrap();
    assert_eq!(out[0].to_f32().unwrap().0, [1., 2., 3., 4.]);
    assert_eq!(after, [2., 4., 6., 8., 5.]);
    let error = with_memory(whole, "vector<4xf32>", &[1., 2., 3.]).unwrap_err();
    assert_eq!(error.kind(), FaultKind::OutOfBounds);
    let misaligned = "%q = \"llvm.getelementptr\"(%p) <{elem_type = i8, rawConstantIndices = array<i32: 2>}> : \
                      (!llvm.ptr) -> !llvm.ptr\n\
                      %x = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> f32\nreturn %x : f32";
    let error = with_memory(misaligned, "f32", &[1., 2.]).unwrap_err();
    assert_eq!((error.kind(), error.op_name()), (FaultKind::Poison, Some("llvm.load")));
}

#[test]
fn masked_lanes_are_left_alone() {
    let load = "%m = arith.constant dense<[true, false, true, false]> : vector<4xi1>\n\
                %z = arith.constant dense<9.0> : vector<4xf32>\n\
                %v = \"llvm.intr.masked.load\"(%p, %m, %z) <{alignment = 4 : i32}> : \
                (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>\n\
                \"llvm.intr.masked.store\"(%z, %p, %m) <{alignment = 4 : i32}> : \
                (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()\nreturn %v : vector<4xf32>";
    let (out, after) = with_memory(load, "vector<4xf32>", &[1., 2., 3.]).unwrap();
    assert_eq!((out[0].to_f32().unwrap().0, after), (vec![1., 9., 3., 9.], vec![9., 2., 9.]));
    let gather = "%i = arith.constant dense<[4, 0, 7, 1]> : vector<4xi64>\n\
                  %m = arith.constant dense<[true, true, false, true]> : vector<4xi1>\n\
                  %z = arith.constant dense<0.0> : vector<4xf32>\n\
                  %ps = \"llvm.getelementptr\"(%p, %i) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : \
                  (!llvm.ptr, vector<4xi64>) -> vector<4x!llvm.ptr>\n\
                  %v = \"llvm.intr.masked.gather\"(%ps, %m, %z) <{alignment = 4 : i32}> : \
                  (vector<4x!llvm.ptr>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>\n\
                  %n = arith.negf %v : vector<4xf32>\n\
                  \"llvm.intr.masked.scatter\"(%n, %ps, %m) <{alignment = 4 : i32}> : \
                  (vector<4xf32>, vector<4x!llvm.ptr>, vector<4xi1>) -> ()\nreturn %v : vector<4xf32>";
    let (out, after) = with_memory(gather, "vector<4xf32>", &[1., 2., 3., 4., 5.]).unwrap();
    assert_eq!((out[0].to_f32().unwrap().0, after), (vec![5., 1., 0., 2.], vec![-1., -2., 3., 4., -5.]));
}

#[test]
fn stack_memory_copies_and_structs() {
    let text = r#"
      %n = arith.constant 2 : i64
      %s = "llvm.alloca"(%n) <{elem_type = !llvm.struct<(i8, f32, i64)>}> : (i64) -> !llvm.ptr
      %f = "llvm.getelementptr"(%s) <{elem_type = !llvm.struct<(i8, f32, i64)>, rawConstantIndices = array<i32: 1, 1>}> : (!llvm.ptr) -> !llvm.ptr
      %bytes = arith.constant 4 : i64
      "llvm.intr.memcpy"(%f, %p, %bytes) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
      %start = llvm.ptrtoint %s : !llvm.ptr to i64
      %at = llvm.ptrtoint %f : !llvm.ptr to i64
      %offset = llvm.sub %at, %start : i64
      %x = llvm.load %f : !llvm.ptr -> f32
      %q = llvm.inttoptr %at : i64 to !llvm.ptr
      %same = llvm.icmp "eq" %q, %f : !llvm.ptr
      return %x, %offset, %same : f32, i64, i1"#;
    let (out, _) = with_memory(text, "f32, i64, i1", &[7.5]).unwrap();
    assert_eq!(out[0].scalar().unwrap(), Scalar::f32(7.5));
    // 16 bytes of the first struct, then a byte and three of padding.
    assert_eq!((out[1].as_int().unwrap(), out[2].as_bool().unwrap()), (20, true));
    let unset = text
        .replace("\"llvm.intr.memcpy\"(%f, %p, %bytes) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()", "");
    assert_eq!(with_memory(&unset, "f32, i64, i1", &[7.5]).unwrap_err().kind(), FaultKind::Uninitialised);
}

#[test]
fn scalars_and_aggregates() {
    let cx = context();
    let m = parse(
        &cx,
        r#"
func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %none = llvm.mlir.undef : !llvm.struct<(i32, struct<(i32)>)>
  %s = llvm.add %a, %b overflow<nsw> : i32
  %one = "llvm.insertvalue"(%none, %s) <{position = array<i64: 1, 0>}> : (!llvm.struct<(i32, struct<(i32)>)>, i32) -> !llvm.struct<(i32, struct<(i32)>)>
  %r = "llvm.extractvalue"(%one) <{position = array<i64: 1, 0>}> : (!llvm.struct<(i32, struct<(i32)>)>) -> i32
  %c = llvm.mlir.constant(3 : i32) : i32
  %q = llvm.sdiv %r, %c : i32
  return %r, %q : i32, i32
}
func.func @g() -> i32 {
  %none = llvm.mlir.undef : !llvm.struct<(i32)>
  %r = "llvm.extractvalue"(%none) <{position = array<i64: 0>}> : (!llvm.struct<(i32)>) -> i32
  return %r : i32
}
func.func @h(%x: vector<2xf32>) -> vector<2xf32> {
  %r = "llvm.call_intrinsic"(%x, %x, %x) <{intrin = "llvm.fma.v2f32", op_bundle_sizes = array<i32>, operandSegmentSizes = array<i32: 3, 0>, fastmathFlags = #llvm.fastmath<none>}> : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  return %r : vector<2xf32>
}
"#,
    );
    let mut interpreter = Interpreter::new(&cx, &m);
    let out = interpreter.call("f", &[Value::int(8, 32), Value::int(12, 32)]).unwrap();
    assert_eq!(out.iter().map(|v| v.as_int().unwrap()).collect::<Vec<_>>(), [20, 6]);
    let big = Value::int(i64::from(i32::MAX), 32);
    assert_eq!(interpreter.call("f", &[big.clone(), big]).unwrap_err().kind(), FaultKind::Overflow);
    assert_eq!(interpreter.call("g", &[]).unwrap_err().kind(), FaultKind::Uninitialised);
    let x = Value::Vector(Tensor::from_f32(vec![2., 3.], &[2]).unwrap());
    assert_eq!(interpreter.call("h", &[x]).unwrap()[0].to_f32().unwrap().0, [6., 12.]);
}

#[test]
fn variables_and_functions() {
    let cx = context();
    let m = parse(
        &cx,
        r#"
"llvm.mlir.global"() <{addr_space = 0 : i32, constant, global_type = !llvm.array<2 x f32>, linkage = #llvm.linkage<internal>, sym_name = "table", value = dense<[1.5, 2.5]> : tensor<2xf32>, visibility_ = 0 : i64}> ({
}) : () -> ()
"llvm.func"() <{CConv = #llvm.cconv<ccc>, function_type = !llvm.func<f32 (i64)>, linkage = #llvm.linkage<external>, sym_name = "pick", visibility_ = 0 : i64}> ({
^bb0(%i: i64):
  %t = llvm.mlir.addressof @table : !llvm.ptr
  %p = "llvm.getelementptr"(%t, %i) <{elem_type = !llvm.array<2 x f32>, rawConstantIndices = array<i32: 0, -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
  %zero = llvm.mlir.constant(0 : i64) : i64
  %c = llvm.icmp "sge" %i, %zero : i64
  llvm.cond_br %c, ^ok, ^bad
^ok:
  %x = llvm.load %p : !llvm.ptr -> f32
  llvm.return %x : f32
^bad:
  llvm.unreachable
}) : () -> ()
"#,
    );
    let mut interpreter = Interpreter::new(&cx, &m);
    let mut pick = |i| interpreter.call("pick", &[Value::int(i, 64)]).map(|v| v[0].scalar().unwrap());
    assert_eq!([pick(0).unwrap(), pick(1).unwrap()], [1.5, 2.5].map(Scalar::f32));
    assert_eq!(pick(2).unwrap_err().kind(), FaultKind::OutOfBounds);
    assert_eq!(pick(-1).unwrap_err().to_string(), "'llvm.unreachable' op is reached");
}

#[test]
fn pointers_to_nothing() {
    let cx = context();
    let m = parse(
        &cx,
        "func.func @f() -> f32 {\n%p = llvm.mlir.zero : !llvm.ptr\n%x = llvm.load %p : !llvm.ptr -> f32\nreturn %x : f32\n}",
    );
    let error = Interpreter::new(&cx, &m).call("f", &[]).unwrap_err();
    assert_eq!(error.to_string(), "'llvm.load' op accesses memory through a null pointer");
}

/// What `@f` with this body gives, as i64 and f64.
fn eval(body: &str, types: &str) -> Result<Vec<Value>, InterpError> {
    let cx = context();
    let m = parse(&cx, &format!("func.func @f() -> ({types}) {{\n{body}\n}}"));
    Interpreter::new(&cx, &m).call("f", &[])
}

#[test]
fn functions_of_integers() {
    let body = "%a = arith.constant -8 : i32\n%b = arith.constant 40 : i32\n\
                %0 = \"llvm.intr.abs\"(%a) <{is_int_min_poison = true}> : (i32) -> i32\n\
                %1 = \"llvm.intr.ctlz\"(%b) <{is_zero_poison = true}> : (i32) -> i32\n\
                %2 = \"llvm.intr.cttz\"(%b) <{is_zero_poison = false}> : (i32) -> i32\n\
                %3 = llvm.intr.ctpop(%a) : (i32) -> i32\n%4 = llvm.intr.smax(%a, %b) : (i32, i32) -> i32\n\
                %5 = llvm.intr.umin(%a, %b) : (i32, i32) -> i32\n%6 = llvm.intr.umax(%a, %b) : (i32, i32) -> i32\n\
                return %0, %1, %2, %3, %4, %5, %6 : i32, i32, i32, i32, i32, i32, i32";
    let out = eval(body, "i32, i32, i32, i32, i32, i32, i32").unwrap();
    let out: Vec<i64> = out.iter().map(|v| v.as_int().unwrap()).collect();
    assert_eq!(out, [8, 26, 3, 29, 40, 40, -8]);
}

#[test]
fn special_cases_are_poison_only_on_request() {
    for (op, flag, value, plain) in
        [("abs", "is_int_min_poison", -128, -128), ("ctlz", "is_zero_poison", 0, 8), ("cttz", "is_zero_poison", 0, 8)]
    {
        let body = |set: bool| {
            format!(
                "%a = arith.constant {value} : i8\n%0 = \"llvm.intr.{op}\"(%a) <{{{flag} = {set}}}> : (i8) -> i8\n\
                 return %0 : i8"
            )
        };
        assert_eq!(eval(&body(false), "i8").unwrap()[0].as_int().unwrap(), plain, "{op}");
        assert_eq!(eval(&body(true), "i8").unwrap_err().kind(), FaultKind::Poison, "{op}");
    }
}

#[test]
fn functions_of_floats_and_reductions() {
    let body = "%v = arith.constant dense<[1.5, -2.5, 4.0, 3.0]> : vector<4xf32>\n\
                %s = arith.constant 10.0 : f32\n%two = arith.constant 2 : i32\n\
                %i = arith.constant dense<[5, -1, 7, 2]> : vector<4xi32>\n\
                %0 = llvm.intr.roundeven(%v) : (vector<4xf32>) -> vector<4xf32>\n\
                %1 = llvm.intr.fma(%v, %v, %v) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>\n\
                %2 = llvm.intr.powi(%v, %two) : (vector<4xf32>, i32) -> vector<4xf32>\n\
                %3 = \"llvm.intr.vector.reduce.fadd\"(%s, %v) : (f32, vector<4xf32>) -> f32\n\
                %4 = llvm.intr.vector.reduce.fminimum(%v) : (vector<4xf32>) -> f32\n\
                %5 = \"llvm.intr.vector.reduce.umax\"(%i) : (vector<4xi32>) -> i32\n\
                %6 = \"llvm.intr.vector.reduce.mul\"(%i) : (vector<4xi32>) -> i32\n\
                return %0, %1, %2, %3, %4, %5, %6 : vector<4xf32>, vector<4xf32>, vector<4xf32>, f32, f32, i32, i32";
    let types = "vector<4xf32>, vector<4xf32>, vector<4xf32>, f32, f32, i32, i32";
    let out = eval(body, types).unwrap();
    assert_eq!(out[0].to_f32().unwrap().0, [2., -2., 4., 3.]);
    assert_eq!(out[1].to_f32().unwrap().0, [3.75, 3.75, 20., 12.]);
    assert_eq!(out[2].to_f32().unwrap().0, [2.25, 6.25, 16., 9.]);
    assert_eq!((out[3].scalar().unwrap(), out[4].scalar().unwrap()), (Scalar::f32(16.), Scalar::f32(-2.5)));
    assert_eq!((out[5].as_int().unwrap(), out[6].as_int().unwrap()), (-1, -70));
}

#[test]
fn elements_of_vectors() {
    let body = |at: i64| {
        format!(
            "%v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>\n%x = arith.constant 9.0 : f32\n\
             %at = arith.constant {at} : i64\n%w = llvm.insertelement %x, %v[%at : i64] : vector<4xf32>\n\
             %e = llvm.extractelement %v[%at : i64] : vector<4xf32>\n\
             %s = llvm.shufflevector %v, %w [3, 6, 0] : vector<4xf32>\nreturn %w, %e, %s : vector<4xf32>, f32, vector<3xf32>"
        )
    };
    let out = eval(&body(2), "vector<4xf32>, f32, vector<3xf32>").unwrap();
    assert_eq!(out[0].to_f32().unwrap().0, [1., 2., 9., 4.]);
    assert_eq!(out[1].scalar().unwrap(), Scalar::f32(3.));
    assert_eq!(out[2].to_f32().unwrap().0, [4., 9., 1.]);
    let error = eval(&body(4), "vector<4xf32>, f32, vector<3xf32>").unwrap_err();
    assert_eq!((error.kind(), error.op_name()), (FaultKind::Poison, Some("llvm.insertelement")));
}

#[test]
fn memory_is_set_and_moved() {
    let text = "%zero = arith.constant 0 : i8\n%eight = arith.constant 8 : i64\n%q = \"llvm.getelementptr\"(%p) \
                <{elem_type = f32, rawConstantIndices = array<i32: 1>}> : (!llvm.ptr) -> !llvm.ptr\n\
                \"llvm.intr.memmove\"(%q, %p, %eight) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()\n\
                %four = arith.constant 4 : i64\n\
                \"llvm.intr.memset\"(%p, %zero, %four) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()\n\
                return %four : i64";
    let (_, after) = with_memory(text, "i64", &[1., 2., 3., 4.]).unwrap();
    assert_eq!(after, [0., 1., 2., 4.]);
}

#[test]
fn bits_bytes_and_overflow() {
    let body = "%a = arith.constant 305419896 : i32\n%x = arith.constant 127 : i8\n%y = arith.constant 2 : i8\n\
                %0 = llvm.intr.bswap(%a) : (i32) -> i32\n%1 = llvm.intr.bitreverse(%y) : (i8) -> i8\n\
                %s = \"llvm.intr.sadd.with.overflow\"(%x, %y) : (i8, i8) -> !llvm.struct<(i8, i1)>\n\
                %u = \"llvm.intr.uadd.with.overflow\"(%x, %y) : (i8, i8) -> !llvm.struct<(i8, i1)>\n\
                %m = \"llvm.intr.usub.with.overflow\"(%y, %x) : (i8, i8) -> !llvm.struct<(i8, i1)>\n\
                %2 = \"llvm.extractvalue\"(%s) <{position = array<i64: 0>}> : (!llvm.struct<(i8, i1)>) -> i8\n\
                %3 = \"llvm.extractvalue\"(%s) <{position = array<i64: 1>}> : (!llvm.struct<(i8, i1)>) -> i1\n\
                %4 = \"llvm.extractvalue\"(%u) <{position = array<i64: 1>}> : (!llvm.struct<(i8, i1)>) -> i1\n\
                %5 = \"llvm.extractvalue\"(%m) <{position = array<i64: 0>}> : (!llvm.struct<(i8, i1)>) -> i8\n\
                %6 = \"llvm.extractvalue\"(%m) <{position = array<i64: 1>}> : (!llvm.struct<(i8, i1)>) -> i1\n\
                return %0, %1, %2, %3, %4, %5, %6 : i32, i8, i8, i1, i1, i8, i1";
    let out = eval(body, "i32, i8, i8, i1, i1, i8, i1").unwrap();
    let ints: Vec<i64> = [0, 1, 2, 5].iter().map(|&i: &usize| out[i].as_int().unwrap()).collect();
    assert_eq!(ints, [0x7856_3412, 64, -127, -125]);
    let flags: Vec<bool> = [3, 4, 6].iter().map(|&i: &usize| out[i].as_bool().unwrap()).collect();
    assert_eq!(flags, [true, false, true]);
}

#[test]
fn classes_of_floats() {
    let values = "[0x7FC00000, 0xFF800000, -1.5, 0x80000001, -0.0, 0.0, 0x00000001, 2.0, 0x7F800000]";
    for (bits, expected) in [(3, 0b0_0000_0001), (1 << 2, 0b10), (1 << 3, 0b100), (1 << 4, 0b1000), (1 << 5, 0b1_0000)]
        .into_iter()
        .chain([(1 << 6, 0b10_0000), (1 << 7, 0b100_0000), (1 << 8, 0b1000_0000), (1 << 9, 0b1_0000_0000)])
        .chain([(504, 0b0_1111_1100), (0x204, 0b1_0000_0010)])
    {
        let body = format!(
            "%v = arith.constant dense<{values}> : vector<9xf32>\n\
             %0 = \"llvm.intr.is.fpclass\"(%v) <{{bit = {bits} : i32}}> : (vector<9xf32>) -> vector<9xi1>\n\
             return %0 : vector<9xi1>"
        );
        let out = eval(&body, "vector<9xi1>").unwrap();
        let found = out[0].vector().unwrap();
        let lanes = (0..9).map(|i| u32::from(found.data().read(i).unwrap().as_bool().unwrap()) << i).sum::<u32>();
        assert_eq!(lanes, expected, "classes {bits:#b}");
    }
}

#[test]
fn lanes_are_expanded_and_compressed() {
    let text = "%m = arith.constant dense<[false, true, true, false]> : vector<4xi1>\n\
                %z = arith.constant dense<9.0> : vector<4xf32>\n\
                %v = \"llvm.intr.masked.expandload\"(%p, %m, %z) : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> \
                vector<4xf32>\n%n = arith.constant dense<[true, false, true, false]> : vector<4xi1>\n\
                \"llvm.intr.masked.compressstore\"(%v, %p, %n) : (vector<4xf32>, !llvm.ptr, vector<4xi1>) -> ()\n\
                return %v : vector<4xf32>";
    let (out, after) = with_memory(text, "vector<4xf32>", &[1., 2.]).unwrap();
    assert_eq!((out[0].to_f32().unwrap().0, after), (vec![9., 1., 2., 9.], vec![9., 2.]));
}
