//! Families of models by size, and how much more each stage may do for twice the size.

use crate::measure::{MOST, compilation, grown, taken};
use crate::models::{Maker, int, list};
use crate::proto::ModelProto;

/// Compiles a family at `n` and at `2 * n`. `open` names stages that are known to do more, and how much.
fn check(family: fn(usize) -> ModelProto, n: usize, machine: &str, open: &[(&str, f64)]) {
    let pipeline = compilation(machine);
    let (small, large) = (taken(&family(n), &pipeline, &[]), taken(&family(2 * n), &pipeline, &[]));
    let known = |stage: &str| open.iter().find(|(name, _)| *name == stage).map(|(_, most)| *most);
    let grown = grown(&small, &large, &|stage| known(stage).unwrap_or(MOST));
    assert!(grown.is_empty(), "twice the size, and more than {MOST} times the work:\n{}", grown.join("\n"));
}

/// The same for sizes of tensors. Loops are looked at in halves where their trips differ, which grows with the logarithm; other
/// versions of kernels may be made below the sizes that 32 bits count.
fn check_size(model: fn(&str) -> ModelProto) {
    for machine in [PROCESSOR, DEVICE] {
        let pipeline = compilation(machine);
        let takes = |bits: u32| taken(&model(&(1u64 << bits).to_string()), &pipeline, &[]);
        for (small, large, most) in [(20, 28, 4.0), (33, 40, 1.3)] {
            let grown = grown(&takes(small), &takes(large), &|_| most);
            assert!(grown.is_empty(), "a larger tensor, and more work on {machine}:\n{}", grown.join("\n"));
        }
    }
}

const PROCESSOR: &str = "x86_avx512";
const DEVICE: &str = "sm_90";

macro_rules! families {
    ($($name:ident($n:literal $(, $stage:literal: $most:literal)*);)*) => {
        mod processor {
            $(#[test] fn $name() { super::check(super::$name, $n, super::PROCESSOR, &[$(($stage, $most)),*]); })*
        }
        mod device {
            $(#[test] fn $name() { super::check(super::$name, $n, super::DEVICE, &[$(($stage, $most)),*]); })*
        }
    };
}

// Sizes are such that the same versions of kernels are made of both models, and that planning spends its budget on both: with fewer
// ops it does more for each. Behind some stand stages that are known to do more, with the reason.
families! {
    chain(48);
    fan(40);
    diamonds(24);
    concat(384);
    concat_chain(96);
    residual(6);
    attention(3);
    sizes(24);
    symbols(96);
    // A concatenation of n sizes has n sums of up to n sizes as offsets.
    symbols_joined(24, "import": 4.5, "shapes": 4.5, "stitch": 6.0, "tile": 4.5, "tensorize": 9.0, "lower": 5.5, "in all": 2.5);
    outputs(40);
    inputs(24);
    weights(16);
    large_weight(24);
    // Sizes double with each op, so that about 30 are the most. The smaller model is computed at compile time, the larger one is
    // too large for that: another program.
    doubled_constant(12, "stitch": 3.0, "tensorize": 50.0, "lower": 50.0, "in all": 14.0);
    gathers(12);
    gathered_apart(12);
    slices(16);
    slices_joined(64);
    transposes(24);
    transposed(16);
    long_rows(80);
    softmaxes(16);
    reshaped_rows(64);
    products(12);
    reshapes(24);
    reshaped(16);
    // Kernels that the plan could have are priced: trips of loops that differ are looked at in halves, which grows with the logarithm.
    rearranged(16, "stitch": 2.7);
    pads(384);
    pools(8);
}

macro_rules! tensor_sizes {
    ($($name:ident;)*) => {
        mod tensor_sizes {
            $(#[test] fn $name() { super::check_size(super::$name); })*
        }
    };
}

tensor_sizes! {
    rows_of_a_sum;
    columns_of_a_softmax;
    rows_of_a_product;
    depth_of_a_product;
    keys_of_attention;
    places_of_a_pool;
    rows_that_are_turned;
    rows_that_are_padded;
    rows_that_are_mirrored;
    rows_that_are_gathered;
    columns_that_are_summed_up;
}

/// Names of values along a chain: the one read and the one made at step `i`.
fn step(i: usize) -> (String, String) {
    (if i == 0 { "x".into() } else { format!("t{}", i - 1) }, format!("t{i}"))
}

fn ended(mut maker: Maker, n: usize) -> ModelProto {
    maker.output(&format!("t{}", n - 1)).model()
}

fn rows() -> Maker {
    let mut maker = Maker::default();
    maker.input("x", &["N", "8"]);
    maker
}

const UNARY: [&str; 4] = ["Relu", "Sigmoid", "Tanh", "Neg"];

fn chain(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let (x, y) = step(i);
        maker.node(UNARY[i % 4], &[&x], &y);
    }
    ended(maker, n)
}

fn fan(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.node("Relu", &["x"], "r");
    for i in 0..n {
        let (c, y) = (format!("c{i}"), format!("y{i}"));
        maker.numbers(&c, &[8]).node("Mul", &["r", &c], &y).output(&y);
    }
    maker.model()
}

fn diamonds(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let (x, y) = step(i);
        let (a, b) = (format!("a{i}"), format!("b{i}"));
        maker.node("Relu", &[&x], &a).node("Sigmoid", &[&x], &b).node("Add", &[&a, &b], &y);
    }
    ended(maker, n)
}

fn concat(n: usize) -> ModelProto {
    let mut maker = rows();
    let names: Vec<String> = (0..n).map(|i| format!("r{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        let c = format!("c{i}");
        maker.numbers(&c, &[8]).node("Mul", &["x", &c], name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    maker.node_with("Concat", &names, &["t0"], vec![int("axis", 0)]);
    ended(maker, 1)
}

fn concat_chain(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let (x, y) = step(i);
        maker.node_with("Concat", &[&x, "x"], &[&y], vec![int("axis", 0)]);
    }
    ended(maker, n)
}

fn residual(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.numbers("g", &[8]).numbers("b", &[8]);
    for i in 0..n {
        let (x, y) = step(i);
        let [w, m, r, s] = ["w", "m", "r", "s"].map(|name| format!("{name}{i}"));
        maker.numbers(&w, &[8, 8]).node("MatMul", &[&x, &w], &m).node("Relu", &[&m], &r).node("Add", &[&x, &r], &s);
        maker.node("LayerNormalization", &[&s, "g", "b"], &y);
    }
    ended(maker, n)
}

fn attention(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["B", "S", "8"]);
    for i in 0..n {
        let (x, y) = step(i);
        for factor in ["q", "k", "v"] {
            let (w, m) = (format!("w{factor}{i}"), format!("{factor}{i}"));
            maker.numbers(&w, &[8, 8]).node("MatMul", &[&x, &w], &m);
        }
        let [q, k, v, kt, s, p, o] = ["q", "k", "v", "kt", "s", "p", "o"].map(|name| format!("{name}{i}"));
        maker.node_with("Transpose", &[&k], &[&kt], vec![list("perm", &[0, 2, 1])]).node("MatMul", &[&q, &kt], &s);
        maker.node("Softmax", &[&s], &p).node("MatMul", &[&p, &v], &o).node("Add", &[&x, &o], &y);
    }
    ended(maker, n)
}

fn sizes(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.ints("one", &[1, 0]).numbers("z", &[1]).node("Shape", &["x"], "s0");
    for i in 0..n {
        maker.node("Add", &[&format!("s{i}"), "one"], &format!("s{}", i + 1));
    }
    maker.node("Expand", &["z", &format!("s{n}")], "t0");
    ended(maker, 1)
}

fn symbols(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    for i in 0..n {
        let (x, y) = (format!("x{i}"), format!("y{i}"));
        maker.input(&x, &[&format!("N{i}"), "4"]).node("Relu", &[&x], &y).output(&y);
    }
    maker.model()
}

fn symbols_joined(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        maker.input(name, &[&format!("N{i}"), "4"]);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    maker.node_with("Concat", &names, &["t0"], vec![int("axis", 0)]);
    ended(maker, 1)
}

fn outputs(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let (x, y) = step(i);
        maker.node(UNARY[i % 4], &[&x], &y).output(&y);
    }
    maker.model()
}

fn inputs(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let ((x, y), more) = (step(i), format!("x{i}"));
        maker.input(&more, &["N", "8"]).node("Add", &[&x, &more], &y);
    }
    ended(maker, n)
}

fn weights(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let ((x, y), c) = (step(i), format!("c{i}"));
        maker.numbers(&c, &[8]).node("Add", &[&x, &c], &y);
    }
    ended(maker, n)
}

fn large_weight(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["N", "1000"]).numbers("w", &[1000, 8 * n as i64]).node("MatMul", &["x", "w"], "t0");
    ended(maker, 1)
}

/// Twice the steps are the square of the elements: nothing of that may be computed.
fn doubled_constant(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["1"]).numbers("c", &[4]);
    for i in 0..n {
        let before = if i == 0 { "c".to_owned() } else { format!("c{i}") };
        maker.node_with("Concat", &[&before, &before], &[&format!("c{}", i + 1)], vec![int("axis", 0)]);
    }
    maker.node("Add", &["x", &format!("c{n}")], "t0");
    ended(maker, 1)
}

fn gathers(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.indices("i", &["N"]);
    for i in 0..n {
        let (x, y) = step(i);
        maker.node("Gather", &[&x, "i"], &y);
    }
    ended(maker, n)
}

fn gathered_apart(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let (index, y) = (format!("i{i}"), format!("y{i}"));
        maker.indices(&index, &["K"]).node("Gather", &["x", &index], &y).output(&y);
    }
    maker.model()
}

fn sliced(maker: &mut Maker, n: usize) -> Vec<String> {
    maker.input("x", &[&(8 * n).to_string(), "4"]).ints("axis", &[0]);
    let names: Vec<String> = (0..n).map(|i| format!("y{i}")).collect();
    for (i, name) in names.iter().enumerate() {
        let (start, end) = (format!("s{i}"), format!("e{i}"));
        maker.ints(&start, &[i as i64]).ints(&end, &[i as i64 + 3]);
        maker.node("Slice", &["x", &start, &end, "axis"], name);
    }
    names
}

fn slices(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    for name in sliced(&mut maker, n) {
        maker.output(&name);
    }
    maker.model()
}

fn slices_joined(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    let names = sliced(&mut maker, n);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    maker.node_with("Concat", &names, &["t0"], vec![int("axis", 0)]);
    ended(maker, 1)
}

fn transposes(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["A", "B", "C"]);
    for i in 0..n {
        let (x, y) = step(i);
        maker.node_with("Transpose", &[&x], &[&y], vec![list("perm", &[1, 2, 0])]);
    }
    ended(maker, n)
}

fn transposed(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["A", "B"]);
    for i in 0..n {
        let ((x, y), u) = (step(i), format!("u{i}"));
        maker.node_with("Transpose", &[&x], &[&u], vec![list("perm", &[1, 0])]).node(UNARY[i % 4], &[&u], &y);
    }
    ended(maker, n)
}

fn long_rows(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["N", "C"]);
    for i in 0..n {
        let ((x, y), m) = (step(i), format!("m{i}"));
        maker.node_with("ReduceMax", &[&x], &[&m], vec![list("axes", &[-1])]).node("Sub", &[&x, &m], &y);
    }
    ended(maker, n)
}

fn softmaxes(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let ((x, y), s) = (step(i), format!("s{i}"));
        maker.node("Softmax", &[&x], &s).node("Add", &[&x, &s], &y);
    }
    ended(maker, n)
}

/// Rows of eight and of four elements in turn.
fn reshaped_rows(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.ints("s0", &[-1, 4]).ints("s1", &[-1, 8]);
    for i in 0..n {
        let ((x, y), r) = (step(i), format!("r{i}"));
        maker.node("Reshape", &[&x, &format!("s{}", i % 2)], &r).node("Softmax", &[&r], &y);
    }
    ended(maker, n)
}

fn products(n: usize) -> ModelProto {
    let mut maker = rows();
    for i in 0..n {
        let ((x, y), w) = (step(i), format!("w{i}"));
        maker.numbers(&w, &[8, 8]).node("MatMul", &[&x, &w], &y);
    }
    ended(maker, n)
}

fn reshapes(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.ints("s0", &[-1, 4]).ints("s1", &[-1, 8]);
    for i in 0..n {
        let (x, y) = step(i);
        maker.node("Reshape", &[&x, &format!("s{}", i % 2)], &y);
    }
    ended(maker, n)
}

fn reshaped(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.ints("s0", &[-1, 4]).ints("s1", &[-1, 8]);
    for i in 0..n {
        let ((x, y), r) = (step(i), format!("r{i}"));
        maker.node("Reshape", &[&x, &format!("s{}", i % 2)], &r).node(UNARY[i % 4], &[&r], &y);
    }
    ended(maker, n)
}

/// Blocks of elements to channels and back: dims of which each stands in few ops.
fn rearranged(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["N", "4", "8", "8"]);
    let block = || vec![int("blocksize", 2)];
    for i in 0..n {
        let ((x, y), [d, s]) = (step(i), ["d", "s"].map(|name| format!("{name}{i}")));
        maker.node_with("DepthToSpace", &[&x], &[&d], block()).node_with("SpaceToDepth", &[&d], &[&s], block());
        maker.node("Relu", &[&s], &y);
    }
    ended(maker, n)
}

fn pads(n: usize) -> ModelProto {
    let mut maker = rows();
    maker.ints("p", &[1, 1, 1, 1]);
    for i in 0..n {
        let (x, y) = step(i);
        maker.node("Pad", &[&x, "p"], &y);
    }
    ended(maker, n)
}

fn pools(n: usize) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["N", "3", "8", "8"]);
    for i in 0..n {
        let (x, y) = step(i);
        let window = vec![list("kernel_shape", &[3, 3]), list("pads", &[1, 1, 1, 1])];
        maker.node_with("MaxPool", &[&x], &[&y], window);
    }
    ended(maker, n)
}

// ---- sizes of tensors

fn rows_of_a_sum(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &[size, "8"]).input("b", &["8"]).node("Add", &["x", "b"], "t0");
    ended(maker, 1)
}

fn columns_of_a_softmax(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["8", size]).node("Softmax", &["x"], "t0");
    ended(maker, 1)
}

fn rows_of_a_product(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("a", &[size, "16"]).input("b", &["16", "32"]).node("MatMul", &["a", "b"], "t0");
    ended(maker, 1)
}

fn depth_of_a_product(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("a", &["16", size]).input("b", &[size, "16"]).node("MatMul", &["a", "b"], "t0");
    ended(maker, 1)
}

fn keys_of_attention(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("q", &["2", "16", "8"]).input("k", &["2", "8", size]).input("v", &["2", size, "8"]);
    maker.node("MatMul", &["q", "k"], "s").node("Softmax", &["s"], "p").node("MatMul", &["p", "v"], "t0");
    ended(maker, 1)
}

fn places_of_a_pool(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    let window = vec![list("kernel_shape", &[3, 3]), list("pads", &[1, 1, 1, 1])];
    maker.input("x", &["1", "3", size, "8"]).node_with("MaxPool", &["x"], &["t0"], window);
    ended(maker, 1)
}

fn rows_that_are_turned(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &[size, "7", "8"]).node_with("Transpose", &["x"], &["t0"], vec![list("perm", &[2, 0, 1])]);
    ended(maker, 1)
}

fn rows_that_are_padded(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &[size, "8"]).ints("p", &[1, 2, 3, 4]).node("Pad", &["x", "p"], "t0");
    ended(maker, 1)
}

/// What is read where is a tensor of indices as long as the dimension: no constant.
fn rows_that_are_mirrored(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    let mode = crate::proto::AttributeProto {
        name: Some("mode".into()),
        s: Some(b"reflect".as_slice().into()),
        r#type: Some(3),
        ..Default::default()
    };
    maker.input("x", &[size, "8"]).ints("p", &[2, 2, 3, 4]).node_with("Pad", &["x", "p"], &["t0"], vec![mode]);
    ended(maker, 1)
}

fn rows_that_are_gathered(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &[size, "8"]).indices("i", &["K"]).node("Gather", &["x", "i"], "t0");
    ended(maker, 1)
}

fn columns_that_are_summed_up(size: &str) -> ModelProto {
    let mut maker = Maker::default();
    maker.input("x", &["8", size]).ints("axis", &[1]).node("CumSum", &["x", "axis"], "t0");
    ended(maker, 1)
}
