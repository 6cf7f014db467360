//! The programs that the probe runs: their kernels are upstream operations, so that nothing is between them and the machine.

use std::fmt::Write;

/// Numbers that are computed at once: enough to hide the latency of an operation, few enough for 16 registers.
pub(super) const SUMS: usize = 12;
/// Rounds of all steps for an element of the input.
pub(super) const ROUNDS: u64 = 1000;

/// An operation on each number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// It is multiplied and added to, fused where the machine can.
    MultiplyAdd,
    Add,
    Multiply,
    /// It is compared, and the larger number taken.
    Larger,
}

/// What products consist of.
pub(super) const PRODUCTS: [Step; 1] = [Step::MultiplyAdd];
/// What functions, sums and extremes consist of: two thirds of what `exp` takes are multiplications.
pub(super) const MIXED: [Step; 6] =
    [Step::MultiplyAdd, Step::Add, Step::MultiplyAdd, Step::Multiply, Step::Larger, Step::MultiplyAdd];

/// Computes without touching memory: these steps, [`ROUNDS`] times on [`SUMS`] vectors of so many elements for each element of the
/// input.
pub(super) fn arithmetic(lanes: u64, steps: &[Step], fused: bool) -> String {
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
    let mut last = names("s");
    for (number, one) in steps.iter().enumerate() {
        let prefix = format!("t{number}_");
        let before: Vec<&str> = last.split(", ").collect();
        before.iter().enumerate().for_each(|(i, x)| step(&mut body, *one, (x, &format!("%{prefix}{i}")), lanes, fused));
        last = names(&prefix);
    }
    let _ = writeln!(body, "\"scf.yield\"({last}) : ({types}) -> ()");
    let _ = writeln!(body, "}}) : (i64, i64, i64, {types}) -> ({types})");
    all_of(&mut body, SUMS, &vector);
    program(&body, "%all", 1, "[1]", None)
}

/// Writes the operations that make `made` of `x`.
fn step(body: &mut String, step: Step, (x, made): (&str, &str), lanes: u64, fused: bool) {
    let (vector, truth) = (format!("vector<{lanes}xf32>"), format!("vector<{lanes}xi1>"));
    let two = format!("({vector}, {vector}) -> {vector}");
    let _ = match step {
        Step::MultiplyAdd if fused => {
            writeln!(body, "{made} = \"vector.fma\"({x}, %half, %start) : ({vector}, {vector}, {vector}) -> {vector}")
        }
        Step::MultiplyAdd => writeln!(
            body,
            "{made}p = \"arith.mulf\"({x}, %half) : {two}\n{made} = \"arith.addf\"({made}p, %start) : {two}"
        ),
        Step::Add => writeln!(body, "{made} = \"arith.addf\"({x}, %start) : {two}"),
        Step::Multiply => writeln!(body, "{made} = \"arith.mulf\"({x}, %half) : {two}"),
        Step::Larger => writeln!(
            body,
            "{made}c = \"arith.cmpf\"({x}, %half) <{{predicate = 2 : i64}}> : ({vector}, {vector}) -> {truth}\n\
             {made} = \"arith.select\"({made}c, {x}, %half) : ({truth}, {vector}, {vector}) -> {vector}"
        ),
    };
}

/// Elements of a page, beyond which nothing reads ahead.
const APART: usize = 1024;
/// Elements side by side of what lies apart: a few lines, as a group that sums columns reads of each row.
const PIECE: usize = 64;
/// Pages that such a group goes through for each piece: more than the nearest cache holds, and less than the next one.
const PAGES: usize = 64;

/// Reads the input once in vectors of so many elements: of so many pages at a time a piece of each, then the next piece of each. The
/// input has a multiple of these pages.
pub(super) fn columns(lanes: u64) -> String {
    let lanes = usize::try_from(lanes).map_or(1, |lanes| lanes.clamp(1, PIECE));
    let (vector, sums) = (format!("vector<{lanes}xf32>"), PIECE / lanes);
    let types = vec![vector.as_str(); sums].join(", ");
    let names = |prefix: &str| (0..sums).map(|i| format!("%{prefix}{i}")).collect::<Vec<_>>().join(", ");
    let mut body = String::new();
    for (name, value) in [("apart", APART), ("piece", PIECE), ("pages", PAGES * APART)] {
        let _ = writeln!(body, "%{name} = \"arith.constant\"() <{{value = {value} : i64}}> : () -> i64");
    }
    let _ = writeln!(body, "%x = \"llvm.load\"(%bufs) <{{ordering = 0 : i64}}> : (!llvm.ptr) -> !llvm.ptr");
    let _ =
        writeln!(body, "%start = \"arith.constant\"() <{{value = dense<0.000000e+00> : {vector}}}> : () -> {vector}");
    let mut before = vec!["%start"; sums].join(", ");
    // The name of a loop's results, of its index and of what it carries, with where it ends and how far it steps.
    let loops = [
        ("r", "block", "b", "%n", "%pages"),
        ("q", "column", "c", "%apart", "%piece"),
        ("o", "row", "s", "%pages", "%apart"),
    ];
    for (results, index, carried, end, step) in loops {
        let arguments: Vec<String> = (0..sums).map(|i| format!("%{carried}{i}: {vector}")).collect();
        let _ = writeln!(body, "%{results}:{sums} = \"scf.for\"(%zero, {end}, {step}, {before}) ({{");
        let _ = writeln!(body, "^bb0(%{index}: i64, {}):", arguments.join(", "));
        before = names(carried);
    }
    let _ = writeln!(body, "%both = \"arith.addi\"(%row, %column) : (i64, i64) -> i64");
    let _ = writeln!(body, "%at = \"arith.addi\"(%both, %block) : (i64, i64) -> i64");
    for i in 0..sums {
        let _ = writeln!(
            body,
            "%i{i} = \"arith.constant\"() <{{value = {} : i64}}> : () -> i64\n\
             %j{i} = \"arith.addi\"(%at, %i{i}) : (i64, i64) -> i64\n\
             %a{i} = \"llvm.getelementptr\"(%x, %j{i}) <{{elem_type = f32, noWrapFlags = 0 : i32, \
             rawConstantIndices = array<i32: -2147483648>}}> : (!llvm.ptr, i64) -> !llvm.ptr\n\
             %v{i} = \"llvm.load\"(%a{i}) <{{alignment = 4 : i64, ordering = 0 : i64}}> : (!llvm.ptr) -> {vector}\n\
             %t{i} = \"arith.addf\"(%s{i}, %v{i}) : ({vector}, {vector}) -> {vector}",
            i * lanes
        );
    }
    let mut yielded = names("t");
    for (results, ..) in loops.iter().rev() {
        let _ = writeln!(body, "\"scf.yield\"({yielded}) : ({types}) -> ()");
        let _ = writeln!(body, "}}) : (i64, i64, i64, {types}) -> ({types})");
        yielded = (0..sums).map(|i| format!("%{results}#{i}")).collect::<Vec<_>>().join(", ");
    }
    all_of(&mut body, sums, &vector);
    program(&body, "%all", 1, "[1]", None)
}

/// Adds up what a loop called `r` has made: all sums are used, or they would not be made.
fn all_of(body: &mut String, sums: usize, vector: &str) {
    let mut sum = "%r#0".to_owned();
    for i in 1..sums {
        let _ = writeln!(body, "%u{i} = \"arith.addf\"({sum}, %r#{i}) : ({vector}, {vector}) -> {vector}");
        sum = format!("%u{i}");
    }
    let _ = writeln!(body, "%all = \"vector.reduction\"({sum}) <{{kind = #vector.kind<add>}}> : ({vector}) -> f32");
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
    symbols = [{{name = \"N\", max = 2147483647}}]}}> ({{
  ^bb0(%x: !rt.buffer<f32, [N]>, %y: !rt.buffer<f32, [1]>):
    {launches}\"rt.return\"() : () -> ()
  }}) : () -> ()
}}) : () -> ()
",
        launches = launch.repeat(launches)
    )
}
