//! The programs that the probe runs: their kernels are upstream operations, so that nothing is between them and the machine.

use std::fmt::Write;

/// Sums that are added to at once: enough to hide the latency of the addition, few enough for 16 registers.
pub(super) const SUMS: usize = 12;
/// Additions to each sum for an element of the input.
pub(super) const ROUNDS: u64 = 1000;

/// Multiplies and adds, without touching memory: [`ROUNDS`] times [`SUMS`] vectors of so many elements for each element of the
/// input, fused where the machine can.
pub(super) fn arithmetic(lanes: u64, fused: bool) -> String {
    let vector = format!("vector<{lanes}xf32>");
    let types = [vector.as_str(); SUMS].join(", ");
    let names = |prefix: &str| (0..SUMS).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let mut body = String::new();
    let _ = writeln!(body, "%rounds = \"arith.constant\"() <{{value = {ROUNDS} : i64}}> : () -> i64");
    let _ = writeln!(body, "%trips = \"arith.muli\"(%n, %rounds) : (i64, i64) -> i64");
    for (name, value) in [("half", "5.000000e-01"), ("start", "1.000000e+00")] {
        let _ =
            writeln!(body, "%{name} = \"arith.constant\"() <{{value = dense<{value}> : {vector}}}> : () -> {vector}");
    }
    let start = ["%start"; SUMS].join(", ");
    let _ = writeln!(body, "%r:{SUMS} = \"scf.for\"(%zero, %trips, %one, {start}) ({{");
    let arguments: Vec<String> = (0..SUMS).map(|i| format!("%s{i}: {vector}")).collect();
    let _ = writeln!(body, "^bb0(%i: i64, {}):", arguments.join(", "));
    for i in 0..SUMS {
        let _ = if fused {
            writeln!(body, "%t{i} = \"vector.fma\"(%s{i}, %half, %start) : ({vector}, {vector}, {vector}) -> {vector}")
        } else {
            let operands = format!("({vector}, {vector}) -> {vector}");
            writeln!(
                body,
                "%p{i} = \"arith.mulf\"(%s{i}, %half) : {operands}\n%t{i} = \"arith.addf\"(%p{i}, %start) : {operands}"
            )
        };
    }
    let _ = writeln!(body, "\"scf.yield\"({}) : ({types}) -> ()", names("t"));
    let _ = writeln!(body, "}}) : (i64, i64, i64, {types}) -> ({types})");
    // All sums are used, or they would not be made.
    let mut sum = "%r#0".to_owned();
    for i in 1..SUMS {
        let _ = writeln!(body, "%u{i} = \"arith.addf\"({sum}, %r#{i}) : ({vector}, {vector}) -> {vector}");
        sum = format!("%u{i}");
    }
    let _ = writeln!(body, "%all = \"vector.reduction\"({sum}) <{{kind = #vector.kind<add>}}> : ({vector}) -> f32");
    program(&body, "%all", 1, "[1]", None)
}

/// So many launches that do nothing but write a number.
pub(super) fn launches(count: usize) -> String {
    program("", "%nothing", count, "[1]", None)
}

/// A launch of as many groups as the input has elements, which is split among all threads and does nothing.
pub(super) fn split() -> String {
    program("", "%nothing", 1, "[N]", Some("[4294967296*N]"))
}

/// A program that launches one kernel, whose `body` makes `value`.
fn program(body: &str, value: &str, launches: usize, grid: &str, work: Option<&str>) -> String {
    let work = work.map(|w| format!(", work = #dyn.shape<{w}>")).unwrap_or_default();
    let buffers = "!rt.buffer<f32, [N]>, !rt.buffer<f32, [1]>";
    let launch =
        format!("\"rt.launch\"(%x, %y) <{{callee = @probe, dims = #dyn.shape<[N]>{work}}}> : ({buffers}) -> ()\n");
    format!(
        "\"builtin.module\"() ({{
  \"func.func\"() <{{function_type = (!llvm.ptr, !llvm.ptr, i64, i64) -> (), sym_name = \"probe\"}}> ({{
  ^bb0(%bufs: !llvm.ptr, %dims: !llvm.ptr, %begin: i64, %end: i64):
    %zero = \"arith.constant\"() <{{value = 0 : i64}}> : () -> i64
    %one = \"arith.constant\"() <{{value = 1 : i64}}> : () -> i64
    %nothing = \"arith.constant\"() <{{value = 0.000000e+00 : f32}}> : () -> f32
    %n = \"llvm.load\"(%dims) <{{ordering = 0 : i64}}> : (!llvm.ptr) -> i64
    %p1 = \"llvm.getelementptr\"(%bufs) <{{elem_type = !llvm.ptr, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: 1>}}> : (!llvm.ptr) -> !llvm.ptr
    %y = \"llvm.load\"(%p1) <{{ordering = 0 : i64}}> : (!llvm.ptr) -> !llvm.ptr
    {body}
    \"llvm.store\"({value}, %y) <{{ordering = 0 : i64}}> : (f32, !llvm.ptr) -> ()
    \"func.return\"() : () -> ()
  }}) {{rt.kernel = {{
    params = [!rt.buffer<f32, [N]>, !rt.buffer<f32, [1]>], modes = [\"in\", \"out\"],
    dims = [{{name = \"N\"}}], grid = #dyn.shape<{grid}>, ops = []
  }}}} : () -> ()
  \"rt.program\"() <{{sym_name = \"main\", input_names = [\"x\"], output_names = [\"y\"],
    symbols = [{{name = \"N\", max = 1000000}}]}}> ({{
  ^bb0(%x: !rt.buffer<f32, [N]>, %y: !rt.buffer<f32, [1]>):
    {launches}\"rt.return\"() : () -> ()
  }}) : () -> ()
}}) : () -> ()
",
        launches = launch.repeat(launches)
    )
}
