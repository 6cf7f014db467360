//! Lowered kernels mean what the kernels mean: each operation on each type, on registers and in the cache, at numbers of
//! columns around those of a vector.

use sutura_dialects::text::parse_text;
use sutura_interp::compare::{Tolerance, compare};
use sutura_interp::random::Random;
use sutura_interp::{Buffer, DType, Interpreter, Scalar, Tensor, Value};
use sutura_ir::{Context, Module, Type};

use crate::testing::{context, copy, run, text};

/// One operation between loads and a store.
#[derive(Clone)]
struct Case {
    /// What stands between the loads of `%a`, `%b`, `%c` and the store of `%r`; `{T}` is the tile's type.
    code: String,
    /// Element types of what is read and of what is written.
    types: (&'static str, &'static str),
    space: &'static str,
    /// Rows and columns of what is read; without a number of columns they are the kernel's `N`.
    tile: (usize, Option<usize>),
    /// Rows and columns of what is written, where they are others.
    out: Option<(usize, Option<usize>)>,
}

fn columns(n: Option<usize>) -> String {
    n.map_or_else(|| "N".to_owned(), |n| n.to_string())
}

impl Case {
    fn source(&self) -> String {
        let (from, to) = self.types;
        let shape = |(rows, cols): (usize, Option<usize>)| format!("{rows}, {}", columns(cols));
        let (read, written) = (shape(self.tile), shape(self.out.unwrap_or(self.tile)));
        let space = self.space;
        let tile = format!("!gir.tile<{space}, {from}, [{read}]>");
        let code = self.code.replace("{T}", &tile).replace("{S}", space);
        let (view, slice) =
            (format!("!gir.view<dram, {from}, [{read}]>"), format!("!gir.slice<dram, {from}, [{read}]>"));
        let buffer = format!("!rt.buffer<{from}, [{read}]>");
        let (out_view, out_slice) = (view_of(to, &written), format!("!gir.slice<dram, {to}, [{written}]>"));
        let out_buffer = format!("!rt.buffer<{to}, [{written}]>");
        let load = |name: &str| {
            format!(
                "  %{name}s = gir.slice %{name}v[%zero, %zero] rows(0) cols(1) : {view} -> {slice}\n\
                 \x20 %{name} = gir.load %{name}s : {slice} -> {tile}\n"
            )
        };
        let loads: String = ["a", "b", "c"].map(load).concat();
        let dynamic = read.contains('N') || written.contains('N');
        let (dims, symbols, passed) =
            if dynamic { ("%N : [0, 100]", " symbols(N : [0, 100])", "N") } else { ("", "", "") };
        format!(
            "gir.kernel @k(%av : {view} in, %bv : {view} in, %cv : {view} in, %y : {out_view} out) dims({dims}) grid() \
             units(1) {{\n  %zero = arith.constant 0 : index\n{loads}  {code}\n  %to = gir.slice %y[%zero, %zero] \
             rows(0) cols(1) : {out_view} -> {out_slice}\n  gir.store %r, %to : !gir.tile<{space}, {to}, [{written}]>, \
             {out_slice}\n}}\n\
             rt.program @main(%a : {buffer} in \"a\", %b : {buffer} in \"b\", %c : {buffer} in \"c\", %y : {out_buffer} \
             out \"y\"){symbols} {{\n  launch @k(%a, %b, %c, %y) dims [{passed}] : {buffer}, {buffer}, {buffer}, \
             {out_buffer}\n}}\n"
        )
    }
}

fn view_of(elem: &str, shape: &str) -> String {
    format!("!gir.view<dram, {elem}, [{shape}]>")
}

fn random_tensor(random: &mut Random, dtype: DType, shape: &[usize]) -> Tensor {
    let mut data = Buffer::undefined(dtype, shape.iter().product());
    (0..data.len()).for_each(|i| data.set(i, Some(random.scalar(dtype))));
    Tensor::new(shape.to_vec(), data).unwrap()
}

fn dtype(cx: &Context, name: &str) -> DType {
    let ty = match name {
        "f16" => Type::F16,
        "bf16" => Type::BF16,
        "f32" => Type::F32,
        "f64" => Type::F64,
        "i1" => Type::I1,
        "i8" => Type::I8,
        "i32" => Type::I32,
        "i64" => Type::I64,
        "index" => Type::INDEX,
        other => panic!("{other} is not in the table"),
    };
    DType::of(cx, ty).unwrap()
}

/// A machine with vectors of so many bytes, on which stores go past the caches from `stream` bytes on.
fn machine(stream: i64, vector: i64) -> String {
    format!(
        "target.machine @m {{triple = \"t\", features = \"\"}} {{\n\
         target.space @vec {{class = \"reg\", owner = \"unit\", bytes = 2048, vector = {vector}}}\n\
         target.space @l1 {{class = \"sram\", owner = \"unit\", bytes = 1024, align = 64, cached}}\n\
         target.space @dram {{class = \"dram\", owner = \"all\", stream = {stream}}}\n}}\n"
    )
}

/// Lowers for vectors of 16 and of 64 bytes, and for machines whose launches are all large, one of which has lines of two
/// vectors, and compares. Returns on how many inputs.
fn check(cx: &Context, case: &Case) -> usize {
    let elem = dtype(cx, case.types.0);
    let mut compared = 0;
    let machines = [(String::new(), 16), (String::new(), 64), (machine(1, 64), 0), (machine(1, 32), 0)];
    // Tiles in registers are stored alike however large the launch is.
    let machines = machines.into_iter().take(if case.space == "vec" { 2 } else { 4 });
    for (machine, bytes) in machines {
        let source = machine + &case.source();
        let before = parse_text(cx, "case", &source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        let mut after = copy(cx, &before);
        let said =
            run(cx, &mut after, &format!("builtin.module(gir-cache-hints,convert-gir-to-cpu{{vector-bytes={bytes}}})"));
        said.unwrap_or_else(|e| panic!("{e:?}\n{source}\n{}", text(cx, &after)));
        let (rows, cols) = case.tile;
        let all = cols.map_or_else(|| vec![0, 1, 5, 16, 17, 33, 100], |n| vec![n]);
        for (seed, n) in all.into_iter().enumerate() {
            let mut random = Random::new(seed as u64);
            let args: Vec<Value> =
                (0..3).map(|_| Value::Tensor(random_tensor(&mut random, elem, &[rows, n]))).collect();
            let call = |module: &Module| Interpreter::new(cx, module).call("main", &args);
            let expected = match call(&before) {
                Ok(results) => results,
                Err(error) if error.kind().is_undefined_behaviour() => continue,
                Err(error) => panic!("{error}\n{source}"),
            };
            let got = call(&after).unwrap_or_else(|e| panic!("{e}\n{source}\n{}", text(cx, &after)));
            // Sums are made in another order.
            let tolerance = Tolerance { abs: 1e-5, rel: 1e-5, ulp: 2 };
            for (a, b) in expected.iter().zip(&got) {
                let at = |m| panic!("at {n} columns, vectors of {bytes} bytes: {m:?}\n{source}\n{}", text(cx, &after));
                compare(a, b, tolerance).unwrap_or_else(at);
            }
            compared += 1;
        }
    }
    compared
}

/// Tiles in registers have a constant shape, those in the cache may have the kernel's columns.
const PLACES: &[(&str, usize, Option<usize>)] = &[
    ("vec", 1, Some(1)),
    ("vec", 2, Some(5)),
    ("vec", 1, Some(16)),
    ("vec", 3, Some(17)),
    ("l1", 1, None),
    ("l1", 3, None),
    ("l1", 2, Some(7)),
];

/// Tiles of many rows, whose numbers lie in vectors of rows.
const TALL: &[(&str, usize, Option<usize>)] = &[
    ("vec", 4, Some(1)),
    ("vec", 12, Some(1)),
    ("vec", 19, Some(1)),
    ("vec", 5, Some(16)),
    ("vec", 13, Some(33)),
    ("l1", 12, None),
    ("l1", 17, Some(32)),
];

/// Checks the operation that `code` makes `%r` by, wherever tiles may be.
fn everywhere(code: &str, types: (&'static str, &'static str)) {
    at(PLACES, code, types);
}

fn at(places: &[(&'static str, usize, Option<usize>)], code: &str, types: (&'static str, &'static str)) {
    let cx = context();
    let mut compared = 0;
    for &(space, rows, cols) in places {
        compared += check(&cx, &Case { code: code.to_owned(), types, space, tile: (rows, cols), out: None });
    }
    assert!(compared > 0, "{code} on {types:?} is undefined everywhere");
}

#[test]
fn unary_functions() {
    for kind in
        ["neg", "abs", "exp", "exp2", "tanh", "erf", "sin", "cos", "floor", "ceil", "roundeven", "round", "trunc"]
    {
        for ty in ["f32", "f16"] {
            everywhere(&format!("%r = gir.unary \"{kind}\" %a : {{T}}"), (ty, ty));
        }
    }
    for kind in ["log", "sqrt", "rsqrt", "log2", "log1p", "expm1"] {
        everywhere(
            &format!("%p = gir.binary \"mul\" %a, %a : {{T}}\n  %r = gir.unary \"{kind}\" %p : {{T}}"),
            ("f32", "f32"),
        );
    }
    for ty in ["i8", "i32", "i64"] {
        everywhere("%r = gir.unary \"absi\" %a : {T}", (ty, ty));
    }
}

#[test]
fn binary_functions() {
    for kind in ["add", "sub", "mul", "div", "rem", "max", "min", "maxnum", "minnum", "copysign"] {
        for ty in ["f32", "bf16"] {
            everywhere(&format!("%r = gir.binary \"{kind}\" %a, %b : {{T}}"), (ty, ty));
        }
    }
    for kind in ["addi", "subi", "muli", "maxsi", "minsi", "and", "or", "xor"] {
        for ty in ["i8", "index"] {
            everywhere(&format!("%r = gir.binary \"{kind}\" %a, %b : {{T}}"), (ty, ty));
        }
    }
    for ty in ["f64", "f16"] {
        everywhere("%r = gir.binary \"div\" %a, %b : {T}", (ty, ty));
    }
    for ty in ["i32", "i64"] {
        everywhere("%r = gir.binary \"muli\" %a, %b : {T}", (ty, ty));
    }
    for kind in ["and", "or", "xor"] {
        everywhere(&format!("%r = gir.binary \"{kind}\" %a, %b : {{T}}"), ("i1", "i1"));
    }
    // Numbers that may be zero, of which 1 is always one: then nothing is compared.
    for kind in ["divsi", "floordivsi", "remsi"] {
        for ty in ["i8", "i32", "i64", "index"] {
            let odd = format!("%one = gir.fill 1 : {ty} : {{T}}\n  %o = gir.binary \"or\" %b, %one : {{T}}");
            let code = format!(
                "{odd}\n  %d = gir.divisor \"x\" %o at(%zero, %zero, %zero) : {{T}}\n  \
                 %r = gir.binary \"{kind}\" %a, %d : {{T}}"
            );
            everywhere(&code, (ty, ty));
        }
        // The quotient that does not fit, by a constant and by what is not known to be -1.
        for (ty, least) in [("i8", "-128"), ("i32", "-2147483648"), ("i64", "-9223372036854775808")] {
            let fills = format!("%m = gir.fill -1 : {ty} : {{T}}\n  %l = gir.fill {least} : {ty} : {{T}}");
            let minus = "%o = gir.binary \"or\" %b, %m : {T}\n  %d = gir.divisor \"x\" %o : {T}";
            let low = "%s = gir.binary \"minsi\" %a, %l : {T}";
            for divisor in ["%m", "%d"] {
                let code = format!("{fills}\n  {minus}\n  {low}\n  %r = gir.binary \"{kind}\" %s, {divisor} : {{T}}");
                everywhere(&code, (ty, ty));
            }
        }
    }
    // A divisor that is not zero.
    for kind in ["divsi", "floordivsi", "remsi"] {
        for ty in ["i8", "i32", "i64"] {
            let code = format!("%m = gir.fill 3 : {ty} : {{T}}\n  %r = gir.binary \"{kind}\" %a, %m : {{T}}");
            everywhere(&code, (ty, ty));
        }
    }
}

/// A zero that exists fails on both levels: the lowered function tells a runtime that is not there.
#[test]
fn a_divisor_of_zero_is_told() {
    let cx = context();
    for &(space, rows, cols) in PLACES {
        let code = "%d = gir.divisor \"x\" %b at(%zero, %zero, %zero) : {T}\n  %r = gir.binary \"remsi\" %a, %d : {T}";
        let case = Case { code: code.to_owned(), types: ("i32", "i32"), space, tile: (rows, cols), out: None };
        let before = parse_text(&cx, "case", &case.source()).unwrap_or_else(|e| panic!("{e}"));
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, "builtin.module(convert-gir-to-cpu{vector-bytes=16})").unwrap_or_else(|e| panic!("{e:?}"));
        let n = cols.unwrap_or(21);
        for zero in [None, Some(0), Some(rows * n - 1)] {
            let of = |i: usize| Scalar::int(if Some(i) == zero { 0 } else { 3 }, DType::I32);
            let tensor = |f: &dyn Fn(usize) -> Scalar| {
                Value::Tensor(Tensor::from_scalars(DType::I32, &[rows, n], (0..rows * n).map(f)).unwrap())
            };
            let other = tensor(&|_| Scalar::int(7, DType::I32));
            let args = [other.clone(), tensor(&of), other];
            for module in [&before, &after] {
                let result = Interpreter::new(&cx, module).call("main", &args);
                assert_eq!(result.is_err(), zero.is_some(), "{space} {rows}x{n}, zero at {zero:?}: {result:?}");
            }
        }
    }
}

#[test]
fn comparisons_selections_and_conversions() {
    for (ty, kind) in [("f32", "olt"), ("f32", "une"), ("f16", "oge"), ("i8", "slt"), ("i64", "eq"), ("index", "sge")] {
        everywhere(&format!("%r = gir.compare \"{kind}\" %a, %b : {{T}}"), (ty, "i1"));
    }
    for ty in ["f32", "f16", "i1", "i8", "i64"] {
        let kind = if ty.starts_with('f') { "olt" } else { "slt" };
        let code = format!(
            "%p = gir.compare \"{kind}\" %a, %b : {{T}}\n  %r = gir.ternary \"select\" %p, %b, %c : {{P}}, {{T}}"
        );
        let predicate = |space: &str, shape: &str| format!("!gir.tile<{space}, i1, [{shape}]>");
        let cx = context();
        for &(space, rows, cols) in PLACES {
            let code = code.replace("{P}", &predicate(space, &format!("{rows}, {}", columns(cols))));
            check(&cx, &Case { code, types: (ty, ty), space, tile: (rows, cols), out: None });
        }
    }
    everywhere("%r = gir.ternary \"fma\" %a, %b, %c : {T}, {T}", ("f32", "f32"));
    for (from, to, kind) in [
        ("f16", "f32", "extf"),
        ("bf16", "f32", "extf"),
        ("f32", "f16", "truncf"),
        ("f32", "bf16", "truncf"),
        ("f64", "f32", "truncf"),
        ("f32", "f64", "extf"),
        ("i32", "f32", "sitofp"),
        ("i8", "f32", "sitofp"),
        ("i1", "f32", "uitofp"),
        ("f32", "i32", "fptosi"),
        ("f32", "i8", "fptosi"),
        ("i8", "i64", "extsi"),
        ("i1", "i32", "extui"),
        ("i64", "i8", "trunci"),
        ("i64", "index", "index_cast"),
        ("index", "i32", "index_cast"),
        ("f32", "i32", "bitcast"),
    ] {
        let cx = context();
        for &(space, rows, cols) in PLACES {
            let to_tile = format!("!gir.tile<{space}, {to}, [{rows}, {}]>", columns(cols));
            let code = format!("%r = gir.cast \"{kind}\" %a : {{T}} -> {to_tile}");
            check(&cx, &Case { code, types: (from, to), space, tile: (rows, cols), out: None });
        }
    }
}

#[test]
fn reductions_and_repetitions() {
    let cx = context();
    for (kind, ty) in [
        ("add", "f32"),
        ("mul", "f32"),
        ("max", "f32"),
        ("min", "f64"),
        ("addi", "i32"),
        ("muli", "i64"),
        ("maxsi", "i8"),
        ("minsi", "i64"),
    ] {
        for &(space, rows, cols) in PLACES {
            let tile = (rows, cols);
            let along_columns = format!("%r = gir.reduce \"{kind}\" \"cols\" %a : {{T}}");
            check(&cx, &Case { code: along_columns.clone(), types: (ty, ty), space, tile, out: Some((rows, Some(1))) });
            let number = format!("!gir.tile<{space}, {ty}, [{rows}, 1]>");
            let again =
                along_columns.replace("%r", "%s") + &format!("\n  %r = gir.broadcast %s like %b : {number}, {{T}}");
            check(&cx, &Case { code: again, types: (ty, ty), space, tile, out: None });
            if rows > 1 {
                let along_rows = format!("%r = gir.reduce \"{kind}\" \"rows\" %a : {{T}}");
                check(&cx, &Case { code: along_rows.clone(), types: (ty, ty), space, tile, out: Some((1, cols)) });
            }
        }
    }
}

/// Numbers of many rows are combined together and computed as vectors; sums of two of them show whether each is its row's.
#[test]
fn numbers_of_many_rows() {
    let cx = context();
    for kind in ["exp", "tanh", "rsqrt"] {
        at(TALL, &format!("%p = gir.unary \"abs\" %a : {{T}}\n  %r = gir.unary \"{kind}\" %p : {{T}}"), ("f32", "f32"));
    }
    for ty in ["f32", "f64", "f16"] {
        at(TALL, "%r = gir.binary \"div\" %a, %b : {T}", (ty, ty));
    }
    for (kind, ty) in [("add", "f32"), ("max", "f32"), ("min", "f64"), ("maxsi", "i8"), ("addi", "i32")] {
        for &(space, rows, cols) in TALL {
            let (tile, number) = ((rows, cols), format!("!gir.tile<{space}, {ty}, [{rows}, 1]>"));
            let integers = ty.starts_with('i');
            let (sum, function) = if integers { ("addi", "absi") } else { ("add", "exp") };
            let code = format!(
                "%m = gir.reduce \"{kind}\" \"cols\" %a : {{T}}\n  %n = gir.reduce \"{kind}\" \"cols\" %b : {{T}}\n  \
                 %e = gir.unary \"{function}\" %m : {number}\n  %r = gir.binary \"{sum}\" %e, %n : {number}"
            );
            check(&cx, &Case { code, types: (ty, ty), space, tile, out: Some((rows, Some(1))) });
        }
    }
}

/// Rows whose extremes plain comparisons get wrong. One by the result shows a zero's sign.
#[test]
fn extremes_of_nan_zeros_and_infinities() {
    const INF: f32 = f32::INFINITY;
    let cx = context();
    let rows: [&[f32]; 10] = [
        &[],
        &[f32::NAN],
        &[-0.0, 0.0, -0.0],
        &[0.0, -0.0, -0.0],
        &[-0.0],
        &[INF, -INF],
        &[-INF, -INF],
        &[1.0, -INF],
        &[-1.0, f32::NAN],
        &[-3.0, -2.0],
    ];
    for (kind, ordinary) in [("max", -5.0), ("min", 5.0)] {
        let kernel = ROWS
            .replace("\"max\"", &format!("\"{kind}\""))
            .replace("gir.unary \"exp\" %d", "gir.binary \"div\" %o, %mb");
        let kernel = kernel.replace("  %d = ", "  %o = gir.fill 1.0 : f32 : !gir.tile<l1, f32, [1, N]>\n  %d = ");
        let kernel = kernel.replace("gir.store %r", "gir.store %e");
        let before = parse_text(&cx, "rows", &kernel).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, "builtin.module(convert-gir-to-cpu)").unwrap_or_else(|e| panic!("{e:?}"));
        for special in rows {
            for n in [1_usize, 3, 15, 16, 17, 64, 99] {
                for at in [0, n / 2, n.saturating_sub(special.len())] {
                    let fill = if special.contains(&0.0) { special[0] } else { ordinary };
                    let row = (0..n).map(|i| if i < at { fill } else { special.get(i - at).copied().unwrap_or(fill) });
                    let row: Vec<f32> = row.map(|x| if kind == "min" && x != 0.0 { -x } else { x }).collect();
                    let scalars = row.iter().map(|x| Scalar::from_bits(DType::F32, x.to_bits().into()));
                    let args = [Value::Tensor(Tensor::from_scalars(DType::F32, &[1, n], scalars).unwrap())];
                    let call = |module: &Module| Interpreter::new(&cx, module).call("main", &args).unwrap();
                    for (a, b) in call(&before).iter().zip(&call(&after)) {
                        compare(a, b, Tolerance { abs: 0.0, rel: 0.0, ulp: 0 })
                            .unwrap_or_else(|m| panic!("{kind} of {row:?}: {m:?}"));
                    }
                }
            }
        }
    }
}

#[test]
fn transpositions_in_registers() {
    let cx = context();
    for ty in ["f16", "bf16", "f32", "f64", "i1", "i8", "i32", "i64", "index"] {
        for (rows, cols) in [(1, 1), (1, 4), (1, 17), (17, 1), (3, 5), (4, 4), (16, 16), (5, 33), (18, 7)] {
            let code = "%r = gir.transpose %a : {T}".to_owned();
            let (tile, out) = ((rows, Some(cols)), Some((cols, Some(rows))));
            let compared = check(&cx, &Case { code, types: (ty, ty), space: "vec", tile, out });
            assert_eq!(compared, 2, "both widths of vectors");
        }
    }
}

/// Rows of a tile that lie in memory in turns, from the first column and from the second one on, where the last one ends early.
#[test]
fn rows_in_turns() {
    let cx = context();
    for (ty, none, add) in
        [("f16", "0.0", "add"), ("f32", "0.0", "add"), ("f64", "0.0", "add"), ("i8", "0", "addi"), ("i32", "0", "addi")]
    {
        for (rows, cols) in [(2, 16), (2, 33), (3, 5), (3, 64), (4, 17), (5, 31), (8, 40), (9, 20)] {
            let (view, slice) =
                (format!("!gir.view<l1, {ty}, [{cols}, {rows}]>"), format!("!gir.slice<l1, {ty}, [{rows}, {cols}]>"));
            let code = format!(
                "%one = arith.constant 1 : index\n  %near = gir.alloc owner(\"unit\") : {view}\n\
                 \x20 %all = gir.slice %near[%zero, %zero] rows(1) cols(0) : {view} -> {slice}\n\
                 \x20 %late = gir.slice %near[%one, %zero] rows(1) cols(0) : {view} -> {slice}\n\
                 \x20 gir.store %b, %all : {{T}}, {slice}\n  gir.store %a, %late : {{T}}, {slice}\n\
                 \x20 %m = gir.load %all : {slice} -> {{T}}\n\
                 \x20 %l = gir.load %late pad({none} : {ty}) : {slice} -> {{T}}\n\
                 \x20 %r = gir.binary \"{add}\" %m, %l : {{T}}"
            );
            let case = Case { code, types: (ty, ty), space: "vec", tile: (rows, Some(cols)), out: None };
            assert_eq!(check(&cx, &case), 2, "both widths of vectors");
        }
    }
}

#[test]
fn numbers_of_rows_and_columns() {
    for axis in ["rows", "cols"] {
        for ty in ["index", "i32", "i64"] {
            everywhere(&format!("%r = gir.iota \"{axis}\"(%zero) : {{T}}"), (ty, ty));
        }
    }
    for (ty, number) in
        [("f32", "1.5 : f32"), ("f16", "0.25 : f16"), ("i8", "-3 : i8"), ("i1", "true"), ("index", "7 : index")]
    {
        everywhere(&format!("%r = gir.fill {number} : {{T}}"), (ty, ty));
    }
}

/// Blocks of two rows of a tensor that may end before them.
const BLOCKS: &str = r#"
gir.kernel @k(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 6], %N : [0, 100]) grid(%i = 3) units(1) {
  %zero = arith.constant 0 : index
  %at = gir.index affine_map<(d0) -> (d0 * 2)>(%i)
  %in = gir.slice %x[%at, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [2, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [2, N]> -> !gir.tile<l1, f32, [2, N]>
  %r = gir.binary "mul" %t, %t : !gir.tile<l1, f32, [2, N]>
  %out = gir.slice %y[%at, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [2, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [2, N]>, !gir.slice<dram, f32, [2, N]>
}
rt.program @main(%x : !rt.buffer<f32, [M, N]> in "x", %y : !rt.buffer<f32, [M, N]> out "y")
    symbols(M : [0, 6], N : [0, 100]) {
  launch @k(%x, %y) dims [M, N] work [N] : !rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>
}
"#;

/// A copy whose window begins two columns late, over what was there before, and with zeros.
#[test]
fn asynchronous_copies() {
    let cx = context();
    for (rows, cols) in [(1, None), (1, Some(5)), (3, Some(20)), (2, Some(64))] {
        let shape = format!("{rows}, {}", columns(cols));
        let (view, slice) = (format!("!gir.view<l1, f32, [{shape}]>"), format!("!gir.slice<l1, f32, [{shape}]>"));
        let from = format!("!gir.slice<dram, f32, [{shape}]>");
        for zeros in ["", " zeros"] {
            let code = format!(
                "%two = arith.constant 2 : index\n  %near = gir.alloc owner(\"unit\") : {view}\n\
                 \x20 %mine = gir.slice %near[%zero, %zero] rows(0) cols(1) : {view} -> {slice}\n\
                 \x20 gir.store %b, %mine : {{T}}, {slice}\n\
                 \x20 %late = gir.slice %av[%zero, %two] rows(0) cols(1) : {} -> {from}\n\
                 \x20 gir.async_copy %late, %mine{zeros} : {from}, {slice}\n  gir.async_commit\n  gir.async_wait 0\n\
                 \x20 %there = gir.load %mine : {slice} -> {{T}}\n  %r = gir.binary \"add\" %there, %c : {{T}}",
                view_of("f32", &shape)
            );
            for space in ["vec", "l1"].into_iter().filter(|space| cols.is_some() || *space == "l1") {
                let case = Case { code: code.clone(), types: ("f32", "f32"), space, tile: (rows, cols), out: None };
                assert!(check(&cx, &case) > 0);
            }
        }
    }
}

/// Two stores to one memory, the second one a column further on, or of a tile that begins late.
#[test]
fn stores_to_one_memory_come_in_order() {
    let cx = context();
    for cols in [None, Some(20), Some(64)] {
        let shape = format!("1, {}", columns(cols));
        let (view, slice) = (format!("!gir.view<l1, f32, [{shape}]>"), format!("!gir.slice<l1, f32, [{shape}]>"));
        let from = format!("!gir.slice<dram, f32, [{shape}]>");
        let late = format!("%late = gir.slice %av[%zero, %one] cols(1) : {} -> {from}", view_of("f32", &shape));
        for (second, tile, slice_of) in [
            (format!("%further = gir.slice %near[%zero, %one] cols(1) : {view} -> {slice}"), "%c", "%further"),
            (format!("{late}\n  %l = gir.load %late : {from} -> {{T}}"), "%l", "%mine"),
        ] {
            let code = format!(
                "%one = arith.constant 1 : index\n  %near = gir.alloc owner(\"unit\") : {view}\n\
                 \x20 %mine = gir.slice %near[%zero, %zero] cols(1) : {view} -> {slice}\n  {second}\n\
                 \x20 gir.store %b, %mine : {{T}}, {slice}\n  gir.store {tile}, {slice_of} : {{T}}, {slice}\n\
                 \x20 %there = gir.load %mine : {slice} -> {{T}}\n  %r = gir.binary \"add\" %there, %c : {{T}}"
            );
            let case = Case { code, types: ("f32", "f32"), space: "l1", tile: (1, cols), out: None };
            assert!(check(&cx, &case) > 0);
        }
    }
}

/// Rows of a tensor are brought near, changed there, and stored: groups of four, of which the last may end early.
const PIECES: &str = r#"
gir.kernel @k(%x : !gir.view<dram, f32, [M, 16]> in, %y : !gir.view<dram, f32, [M, 16]> out)
    dims(%M : [0, 10]) grid(%i = (M + 3) floordiv 4) units(1) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [4, 16]>
  %other = gir.alloc owner("unit") : !gir.view<l1, f32, [4, 16]>
  %at = gir.index affine_map<(d0) -> (d0 * 4)>(%i)
  %two = gir.fill 2.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %in = gir.slice %x[%at, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [4, 16]>
  %p = gir.load %in pad(0.0 : f32) : !gir.slice<dram, f32, [4, 16]> -> !gir.tile<vec, f32, [4, 16]>
  %sum = gir.reduce "add" "rows" %p : !gir.tile<vec, f32, [4, 16]>
  %all = gir.slice %near[%zero, %zero] rows(0) cols(1) : !gir.view<l1, f32, [4, 16]> -> !gir.slice<l1, f32, [4, 16]>
  gir.store %p, %all : !gir.tile<vec, f32, [4, 16]>, !gir.slice<l1, f32, [4, 16]>
  gir.for %r = %zero to %four {
    %mine = gir.slice %near[%r, %zero] cols(1) : !gir.view<l1, f32, [4, 16]> -> !gir.slice<l1, f32, [1, 16]>
    %t = gir.load %mine : !gir.slice<l1, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %u = gir.binary "mul" %t, %two : !gir.tile<vec, f32, [1, 16]>
    gir.store %u, %mine : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %t = gir.load %all : !gir.slice<l1, f32, [4, 16]> -> !gir.tile<@SPACE, f32, [4, 16]>
  gir.for %r = %zero to %four {
    %mine = gir.slice %other[%r, %zero] cols(1) : !gir.view<l1, f32, [4, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store @ROW, %mine : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %others = gir.slice %other[%zero, %zero] rows(0) cols(1) : !gir.view<l1, f32, [4, 16]> -> !gir.slice<l1, f32, [4, 16]>
  %o = gir.load %others : !gir.slice<l1, f32, [4, 16]> -> !gir.tile<@SPACE, f32, [4, 16]>
  %u = gir.binary "add" %t, %o : !gir.tile<@SPACE, f32, [4, 16]>
  %out = gir.slice %y[%at, %zero] rows(0) cols(1) : !gir.view<dram, f32, [M, 16]> -> !gir.slice<dram, f32, [4, 16]>
  gir.store %u, %out : !gir.tile<@SPACE, f32, [4, 16]>, !gir.slice<dram, f32, [4, 16]>
}
rt.program @main(%x : !rt.buffer<f32, [M, 16]> in "x", %y : !rt.buffer<f32, [M, 16]> out "y") symbols(M : [0, 10]) {
  launch @k(%x, %y) dims [M] : !rt.buffer<f32, [M, 16]>, !rt.buffer<f32, [M, 16]>
}
"#;

/// The two loops of a group are lowered once each. A tile that is computed where it is needed goes past the second: that belongs to
/// the piece of the store then, with a loop over the tile in both copies. A value of the first piece goes into the second loop: then
/// the whole group is lowered twice.
#[test]
fn pieces_of_a_group() {
    let cx = context();
    for (space, row, loops) in [("vec", "%two", 2), ("l1", "%two", 5), ("vec", "%sum", 4)] {
        let source = PIECES.replace("@SPACE", space).replace("@ROW", row);
        let before = parse_text(&cx, "pieces", &source).unwrap_or_else(|e| panic!("{e}"));
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, "builtin.module(convert-gir-to-cpu{vector-bytes=64})").unwrap_or_else(|e| panic!("{e:?}"));
        let lowered = text(&cx, &after);
        let of_tiles = lowered.matches("scf.for ").count() - 1;
        assert_eq!(of_tiles, loops, "{space}, {row}:\n{lowered}");
        for m in 0..=10 {
            let args = [Value::Tensor(random_tensor(&mut Random::new(m as u64), DType::F32, &[m, 16]))];
            let call = |module: &Module| Interpreter::new(&cx, module).call("main", &args);
            let (expected, got) = (call(&before).unwrap(), call(&after));
            let got = got.unwrap_or_else(|e| panic!("{m} rows: {e}\n{lowered}"));
            compare(&expected[0], &got[0], Tolerance { abs: 0.0, rel: 0.0, ulp: 0 })
                .unwrap_or_else(|e| panic!("{e:?}"));
        }
    }
}

/// Programs whose kernels have tiles of two and three rows: those that exist are computed row by row, or all are.
const EXISTING_ROWS: &str = include_str!("../../../../lit-tests/gir_to_cpu/existing_rows.mlir");

#[test]
fn rows_that_exist_are_computed() {
    let cx = context();
    let before = parse_text(&cx, "rows", EXISTING_ROWS).unwrap_or_else(|e| panic!("{e}"));
    for bytes in [16, 64] {
        let mut after = copy(&cx, &before);
        let pipeline = format!("builtin.module(convert-gir-to-cpu{{vector-bytes={bytes}}})");
        run(&cx, &mut after, &pipeline).unwrap_or_else(|e| panic!("{e:?}"));
        for n in [0, 1, 15, 16, 17, 31, 32, 33, 48, 49, 64, 80, 81] {
            let mut random = Random::new(n as u64);
            let args = [[2, 3], [3, n]].map(|shape| Value::Tensor(random_tensor(&mut random, DType::F32, &shape)));
            let call = |module: &Module| Interpreter::new(&cx, module).call("n", &args);
            let (expected, got) = (call(&before).unwrap(), call(&after).unwrap_or_else(|e| panic!("{n} columns: {e}")));
            compare(&expected[0], &got[0], Tolerance { abs: 0.0, rel: 0.0, ulp: 0 })
                .unwrap_or_else(|e| panic!("{n} columns: {e:?}"));
        }
        for (program, m) in ["p", "t", "m", "c", "w"].into_iter().flat_map(|program| (0..=9).map(move |m| (program, m)))
        {
            let dtype = if program == "c" { DType::I32 } else { DType::F32 };
            let mut random = Random::new(m as u64);
            let args = [[m, m % 4], [m % 4, 16]].map(|shape| Value::Tensor(random_tensor(&mut random, dtype, &shape)));
            let call = |module: &Module| Interpreter::new(&cx, module).call(program, &args);
            let (expected, got) = (call(&before).unwrap(), call(&after));
            let got = got.unwrap_or_else(|e| panic!("@{program}, {m} rows: {e}\n{}", text(&cx, &after)));
            compare(&expected[0], &got[0], Tolerance { abs: 0.0, rel: 0.0, ulp: 0 })
                .unwrap_or_else(|e| panic!("@{program}, {m} rows: {e:?}"));
        }
    }
}

#[test]
fn a_window_without_rows_reads_nothing() {
    let cx = context();
    let before = parse_text(&cx, "blocks", BLOCKS).unwrap_or_else(|e| panic!("{e}"));
    let mut after = copy(&cx, &before);
    run(&cx, &mut after, "builtin.module(convert-gir-to-cpu{vector-bytes=16})").unwrap_or_else(|e| panic!("{e:?}"));
    for m in 0..=6 {
        let args = [Value::Tensor(random_tensor(&mut Random::new(m as u64), DType::F32, &[m, 7]))];
        let call = |module: &Module| Interpreter::new(&cx, module).call("main", &args);
        let (expected, got) = (call(&before).unwrap(), call(&after));
        let got = got.unwrap_or_else(|e| panic!("{m} rows: {e}\n{}", text(&cx, &after)));
        compare(&expected[0], &got[0], Tolerance { abs: 0.0, rel: 0.0, ulp: 0 }).unwrap_or_else(|e| panic!("{e:?}"));
    }
}

/// A softmax over rows: its groups ask for the next one's row, and its results go past the caches where `M * N` is large,
/// those of all rows but the last while the next row's are computed.
const ROWS: &str = r#"
gir.kernel @k(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %in = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %t = gir.load %in : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %m = gir.reduce "max" "cols" %t : !gir.tile<l1, f32, [1, N]>
  %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %d = gir.binary "sub" %t, %mb : !gir.tile<l1, f32, [1, N]>
  %e = gir.unary "exp" %d : !gir.tile<l1, f32, [1, N]>
  %s = gir.reduce "add" "cols" %e : !gir.tile<l1, f32, [1, N]>
  %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %e, %sb : !gir.tile<l1, f32, [1, N]>
  %out = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %out : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
rt.program @main(%x : !rt.buffer<f32, [M, N]> in "x", %y : !rt.buffer<f32, [M, N]> out "y")
    symbols(M : [0, 100], N : [0, 100]) {
  launch @k(%x, %y) dims [M, N] work [N] : !rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>
}
"#;

#[test]
fn large_launches_give_the_same_results() {
    let cx = context();
    // Launches of the sizes below touch 640 to 51,200 bytes.
    for stream in [1, 8 * 1024] {
        let source = machine(stream, 64) + ROWS;
        let before = parse_text(&cx, "rows", &source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, "builtin.module(gir-cache-hints,convert-gir-to-cpu)").unwrap_or_else(|e| panic!("{e:?}"));
        let lowered = text(&cx, &after);
        assert!(lowered.contains("nontemporal") && lowered.contains("llvm.intr.prefetch"), "{lowered}");
        assert!(lowered.contains(" x i1 "), "stores are not put off:\n{lowered}");
        for (m, n) in [(0, 16), (1, 80), (5, 16), (5, 17), (7, 33), (64, 96), (64, 100)] {
            let args = [Value::Tensor(random_tensor(&mut Random::new(n as u64), DType::F32, &[m, n]))];
            let call = |module: &Module| Interpreter::new(&cx, module).call("main", &args);
            let (expected, got) = (call(&before).unwrap(), call(&after));
            let got = got.unwrap_or_else(|e| panic!("{m}x{n}, large from {stream} bytes on: {e}\n{lowered}"));
            let tolerance = Tolerance { abs: 1e-6, rel: 1e-5, ulp: 2 };
            for (a, b) in expected.iter().zip(&got) {
                compare(a, b, tolerance).unwrap_or_else(|m| panic!("large from {stream} bytes on: {m:?}\n{lowered}"));
            }
        }
    }
}
