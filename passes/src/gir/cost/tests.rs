//! Static counts are those of the interpreter.

use std::fmt::Write;

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::gir::interp::{Options, run_kernel_op};
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::target::machine_of;
use sutura_dialects::text::parse_text;
use sutura_interp::random::Random;
use sutura_interp::{Buffer, DType, Scalar};
use sutura_ir::{Context, Module, OpRef, Type};

use super::*;
use crate::testing::{any, context, function, run, tensor, text};

/// A buffer of numbers that every kernel can read: small floats, and zero where indices may be meant.
fn buffer(dtype: DType, len: usize, mode: Mode) -> Buffer {
    if dtype == DType::F32 {
        return Buffer::from_f32((0..len).map(|i| (i % 7) as f32 * 0.25 + 0.5).collect());
    }
    let mut buffer = Buffer::undefined(dtype, len);
    if mode != Mode::Out {
        (0..len).for_each(|i| buffer.set(i, Some(Scalar::zero(dtype))));
    }
    buffer
}

/// Runs a kernel and compares what it did with what is counted. Returns the counts.
fn agree(kernel: OpRef<'_>, machine: Option<OpRef<'_>>, size: &SizeOf<'_>) -> Counts {
    let name = kernel.symbol_name().unwrap_or("?");
    let info = KernelInfo::read(kernel).unwrap();
    let cost = KernelCost::of(kernel, machine).unwrap_or_else(|e| panic!("@{name}: {e}"));
    let counted = cost.at(size).unwrap_or_else(|e| panic!("@{name}: {e}"));
    let dims: Vec<i64> = info.dims.iter().map(|(_, d)| size(&d.name).unwrap()).collect();
    let mut buffers: Vec<Buffer> = info
        .views
        .iter()
        .map(|(_, view, mode)| {
            let len = view.elements().eval(size).unwrap() as usize;
            buffer(DType::of(kernel.cx, view.elem).unwrap(), len, *mode)
        })
        .collect();
    let (counters, _) = run_kernel_op(kernel, machine, &mut buffers, &dims, &Options::default())
        .unwrap_or_else(|e| panic!("@{name}: {e}"));
    let what = |what: &str| format!("{what} of @{name} at {dims:?}");
    assert_eq!(counted.groups, counters.groups, "{}", what("groups"));
    assert_eq!(counted.flops, counters.flops, "{}", what("flops"));
    for (space, traffic) in counters.spaces() {
        let moved = counted.spaces.get(space).copied().unwrap_or_default();
        assert_eq!((moved.read, moved.written), (traffic.read, traffic.written), "{}", what(space));
    }
    // Polynomials say the same.
    for (space, read, written) in cost.moved() {
        let moved = counted.spaces[space];
        for (poly, value) in [(read, moved.read), (written, moved.written)] {
            assert!(poly.is_none_or(|p| p.eval(size) == Some(value as i64)), "{}: {poly:?}", what(space));
        }
    }
    assert!(cost.flops().is_none_or(|p| p.eval(size) == Some(counted.flops as i64)), "{}", what("flops"));
    counted
}

/// All kernels of a module, at sizes that fit what each requires.
fn agree_all(cx: &Context, module: &Module, sizes: &[(&str, i64)]) -> usize {
    let root = module.op_ref(cx);
    let machine = machine_of(root).unwrap();
    let size = |name: &str| sizes.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    let mut agreed = 0;
    let inside = root.inside();
    for op in inside.preorder() {
        let kernel = OpRef::new(cx, inside, op);
        if !kernel.is::<KernelOp<'_>>() {
            continue;
        }
        let info = KernelInfo::read(kernel).unwrap();
        if info.requires.iter().all(|r| r.eval(&size).unwrap() >= 0) {
            agree(kernel, machine, &size);
            agreed += 1;
        }
    }
    agreed
}

fn parse(cx: &Context, source: &str) -> Module {
    parse_text(cx, "random.mlir", source).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

const ROW: &str = "!gir.tile<vec, f32, [4, 8]>";

/// A kernel over tiles of 4 by 8 of an M by N view, whose edges do not divide, with loops, reductions, padding.
fn random_kernel(random: &mut Random) -> String {
    let mut out = String::new();
    let mut tiles = vec!["%t".to_owned()];
    let pick = |random: &mut Random, from: &[String]| from[random.range(0, from.len() as i64 - 1) as usize].clone();
    for i in 0..random.range(1, 8) {
        let a = pick(random, &tiles);
        let _ = match random.range(0, 6) {
            0 => writeln!(out, "%u{i} = gir.unary \"exp\" {a} : {ROW}"),
            1 => {
                let b = pick(random, &tiles);
                writeln!(out, "%u{i} = gir.binary \"add\" {a}, {b} : {ROW}")
            }
            2 => writeln!(
                out,
                "%s{i} = gir.reduce \"max\" \"cols\" {a} : {ROW}\n\
                 %u{i} = gir.broadcast %s{i} like {a} : !gir.tile<vec, f32, [4, 1]>, {ROW}"
            ),
            3 => writeln!(
                out,
                "%s{i} = gir.reduce \"add\" \"rows\" {a} : {ROW}\n\
                 %u{i} = gir.broadcast %s{i} like {a} : !gir.tile<vec, f32, [1, 8]>, {ROW}"
            ),
            4 => writeln!(
                out,
                "%f{i} = gir.fill 1.0 : f32 : {ROW}\n\
                 %u{i} = gir.binary \"mul\" %f{i}, {a} : {ROW}"
            ),
            5 => writeln!(out, "%u{i} = gir.move {a} : {ROW} -> {ROW}"),
            _ => writeln!(
                out,
                "%u{i} = gir.for %k{i} = %c0 to %K carry(%c{i}c = {a}) : {ROW} {{\n\
                 %n{i} = gir.binary \"add\" %c{i}c, %t : {ROW}\n gir.yield %n{i} : {ROW}\n}}"
            ),
        };
        tiles.push(format!("%u{i}"));
    }
    let last = pick(random, &tiles);
    let grid = ["(M + 3) floordiv 4", "(N + 7) floordiv 8"];
    format!(
        "gir.kernel @k(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)\n\
         dims(%M : [0, 1000], %N : [0, 1000], %K : [0, 9]) grid(%i = {}, %j = {}) units(1) {{\n\
         %c0 = arith.constant 0 : index\n\
         %r = gir.index affine_map<(d0) -> (d0 * 4)>(%i)\n%q = gir.index affine_map<(d0) -> (d0 * 8)>(%j)\n\
         %s = gir.slice %x[%r, %q] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [4, 8]>\n\
         %t = gir.load %s : !gir.slice<dram, f32, [4, 8]> -> {ROW}\n{out}\
         %to = gir.slice %y[%r, %q] rows(0) cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [4, 8]>\n\
         gir.store {last}, %to : {ROW}, !gir.slice<dram, f32, [4, 8]>\n}}\n",
        grid[0], grid[1]
    )
}

#[test]
fn random_kernels_are_counted_as_they_run() {
    let mut random = Random::new(11);
    let cx = context();
    for _ in 0..60 {
        let source = random_kernel(&mut random);
        let module = parse(&cx, &source);
        for (m, n, k) in [(8, 16, 2), (9, 17, 3), (3, 7, 1), (0, 5, 2), (5, 0, 2), (13, 8, 0)] {
            assert_eq!(agree_all(&cx, &module, &[("M", m), ("N", n), ("K", k)]), 1, "{source}");
        }
    }
}

#[test]
fn asynchronous_copies_are_counted_as_they_run() {
    let cx = context();
    let sources = [
        include_str!("../../../../lit-tests/gir_to_cpu/async.mlir"),
        include_str!("../../../../lit-tests/gir_to_gpu/async.mlir"),
    ];
    for (source, kernels) in sources.into_iter().zip([2, 3]) {
        for (m, n, k) in [(8, 32, 8), (9, 100, 20), (3, 7, 4), (0, 0, 12)] {
            assert_eq!(agree_all(&cx, &parse(&cx, source), &[("M", m), ("N", n), ("K", k)]), kernels);
        }
    }
}

const TILED: &[&[(&str, i64)]] =
    &[&[("M", 5), ("N", 33)], &[("M", 1), ("N", 1)], &[("M", 0), ("N", 5)], &[("M", 3), ("N", 9000)]];

const PIPELINE: &str = "builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir,tensorize,canonicalize,cse)";

fn lowered(cx: &Context, mut module: Module, machine: &str) -> Module {
    let pipeline = PIPELINE.replace("(func", &format!("(attach-target{{name={machine}}},func"));
    run(cx, &mut module, &pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &module)));
    module
}

#[test]
fn kernels_of_graphs_are_counted_as_they_run() {
    let cx = context();
    for machine in ["x86_avx512", "generic"] {
        let x = tensor(&cx, &["M", "N"], Type::F32);
        let v = tensor(&cx, &["N"], Type::F32);
        let symbols = [("M", any()), ("N", any())];
        let softmax = function(&cx, &symbols, &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
        let chain = function(&cx, &symbols, &[x, v], |g, args| {
            let sum = g.zip(args[0], args[1], |s, a, b| s.add(a, b))?;
            Ok(vec![g.gelu(sum, false)?])
        });
        let narrow = [("M", any()), ("N", SymbolInfo { min: 1, ..any() })];
        let norm = function(&cx, &narrow, &[x, v, v], |g, args| {
            Ok(vec![g.layer_norm(args[0], 1, args[1], Some(args[2]), 1e-5)?])
        });
        let w = tensor(&cx, &["N", "24"], Type::F32);
        let product = function(&cx, &symbols, &[x, w], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
        for (module, least) in [(softmax, 1), (chain, 1), (norm, 1), (product, 1)] {
            let module = lowered(&cx, module, machine);
            for sizes in TILED.iter().filter(|s| s.iter().all(|(_, v)| *v > 0)) {
                assert!(agree_all(&cx, &module, sizes) >= least, "{}", text(&cx, &module));
            }
        }
    }
}

/// Counts and prediction of the only kernel of a lowered function.
fn predicted(cx: &Context, module: &Module, sizes: &[(&str, i64)]) -> (Counts, Prediction) {
    let root = module.op_ref(cx);
    let machine = machine_of(root).unwrap();
    let desc = TargetDesc::from_op(machine.unwrap()).unwrap();
    let size = |name: &str| sizes.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    let inside = root.inside();
    let mut kernels = inside.preorder().map(|op| OpRef::new(cx, inside, op)).filter(|op| op.is::<KernelOp<'_>>());
    let kernel = kernels.next().expect("a kernel");
    let cost = KernelCost::of(kernel, machine).unwrap();
    (cost.at(&size).unwrap(), cost.predict(&desc, &size).unwrap())
}

#[test]
fn a_softmax_moves_what_it_must_and_reads_its_rows_again_from_where_they_fit() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
    let module = lowered(&cx, module, "x86_avx512");
    let (counts, short) = predicted(&cx, &module, &[("M", 65536), ("N", 1024)]);
    let bytes = 2 * 65536 * 1024 * 4;
    assert_eq!(counts.compulsory, bytes);
    assert_eq!(counts.spaces["dram"], Moved { read: bytes / 2, written: bytes / 2 });
    let of = |p: &Prediction, name: &str| p.levels.iter().find(|l| l.space == name).unwrap().bytes;
    assert_eq!(of(&short, "dram"), bytes, "rows of 4 KiB stay in the first cache");
    assert!(of(&short, "l1") > 2 * bytes);
    // Rows of 16 MiB fit only the last cache; they are read again from there.
    let (_, long) = predicted(&cx, &module, &[("M", 16), ("N", 1 << 21)]);
    assert_eq!(of(&long, "dram"), 2 * 16 * 4 * (1 << 21));
    assert!(of(&long, "l3") > of(&long, "dram"));
    // Rows that fit no cache are read from memory by each pass.
    let (_, huge) = predicted(&cx, &module, &[("M", 2), ("N", 1 << 26)]);
    assert!(of(&huge, "dram") >= 4 * 2 * 4 * (1 << 26));
    // What fits a cache as a whole needs no memory at all.
    let (_, warm) = predicted(&cx, &module, &[("M", 4), ("N", 256)]);
    assert_eq!(of(&warm, "dram"), 0);
}

#[test]
fn parts_that_begin_behind_each_other_are_all_different() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module =
        function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.mean(args[0], &[0], false)?]));
    let module = lowered(&cx, module, "x86_avx512");
    // 64 MiB are in no cache: each row lies in one part, and is read once.
    let (counts, prediction) = predicted(&cx, &module, &[("M", 16384), ("N", 1024)]);
    let dram = prediction.levels.last().unwrap();
    assert!(dram.bytes >= 16384 * 1024 * 4 && dram.bytes <= counts.compulsory * 11 / 10, "{prediction:?}");
}

#[test]
fn what_is_the_same_for_all_rows_is_read_once_per_block() {
    let cx = context();
    let (x, v) = (tensor(&cx, &["M", "384"], Type::F32), tensor(&cx, &["384"], Type::F32));
    let many = SymbolInfo { min: 65, ..any() };
    let module = function(&cx, &[("M", many)], &[x, x, v, v, v], |g, args| {
        let biased = g.zip(args[0], args[2], |s, a, b| s.add(a, b))?;
        let sum = g.zip(biased, args[1], |s, a, b| s.add(a, b))?;
        Ok(vec![g.layer_norm(sum, 1, args[3], Some(args[4]), 1e-5)?])
    });
    let module = lowered(&cx, module, "x86_avx512");
    for rows in [65, 79, 80, 81, 128] {
        assert_eq!(agree_all(&cx, &module, &[("M", rows)]), 1, "{}", text(&cx, &module));
    }
    for (rows, groups) in [(65, 5), (128, 8), (1_000_000, 62_500)] {
        let (counts, predicted) = predicted(&cx, &module, &[("M", rows)]);
        assert_eq!(counts.groups, groups);
        let dram = counts.spaces["dram"];
        let times = (dram.read + dram.written) as f64 / counts.compulsory as f64;
        assert!(times < 1.07, "{times} times what must be moved, at {rows} rows");
        // Rows of another block are other rows.
        let served = predicted.levels.iter().find(|l| l.space == "dram").unwrap().bytes;
        assert!(rows < 1_000_000 || served >= counts.compulsory, "{served}");
    }
}

#[test]
fn a_product_is_bound_by_arithmetic() {
    let cx = context();
    let (a, b) = (tensor(&cx, &["M", "512"], Type::F32), tensor(&cx, &["512", "512"], Type::F32));
    let module = function(&cx, &[("M", any())], &[a, b], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
    let module = lowered(&cx, module, "x86_avx512");
    let root = module.op_ref(&cx);
    let inside = root.inside();
    let machine = machine_of(root).unwrap();
    let desc = TargetDesc::from_op(machine.unwrap()).unwrap();
    let mut best = None;
    for op in inside.preorder() {
        let kernel = OpRef::new(&cx, inside, op);
        if kernel.is::<KernelOp<'_>>() {
            let cost = KernelCost::of(kernel, machine).unwrap();
            let size = |name: &str| (name == "M").then_some(1020);
            let counts = cost.at(&size).unwrap();
            if counts.flops == 2 * 1020 * 512 * 512 {
                best = Some(cost.predict(&desc, &size).unwrap());
            }
        }
    }
    let best = best.expect("the product's kernel");
    assert_eq!(best.bound(), "compute", "{best:?}");
    let flops_per_ns = 2.0 * 1020.0 * 512.0 * 512.0 / best.ns;
    assert!((80.0..=96.0).contains(&flops_per_ns), "{flops_per_ns}");
}

/// Parts of sums of columns lie apart, and nothing reads them ahead; what is side by side does not wait.
#[test]
fn what_lies_apart_in_short_pieces_is_waited_for() {
    let cx = context();
    let x = tensor(&cx, &["4096", "1024"], Type::F32);
    let of = |axis: usize| {
        let sum = sutura_dialects::graph::Combiner::Add;
        let module =
            function(&cx, &[], &[x], |g, args| Ok(vec![g.reduce(args[0], &[axis], false, sum, Type::F32, |_, x| x)]));
        predicted(&cx, &lowered(&cx, module, "x86_avx512"), &[]).1
    };
    let lines = 4096.0 * 1024.0 * 4.0 / 64.0;
    assert!(of(0).latency_ns >= 2.5 * lines && of(0).bound() == "latency", "{:?}", of(0));
    assert!(of(1).latency_ns == 0.0, "{:?}", of(1));
}

/// Products take their time from one number of the machine, and all else from another.
#[test]
fn a_machine_says_how_fast_it_is_at_products_and_at_others() {
    let cx = context();
    let x = tensor(&cx, &["4096", "4096"], Type::F32);
    let product = function(&cx, &[], &[x, x], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
    let rows = function(&cx, &[], &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
    let ns = |module: &Module, change: fn(&mut TargetDesc)| {
        let lowered = lowered(&cx, module.clone(), "x86_avx512");
        let root = lowered.op_ref(&cx);
        let inside = root.inside();
        let machine = machine_of(root).unwrap();
        let mut desc = TargetDesc::from_op(machine.unwrap()).unwrap();
        change(&mut desc);
        let kernels = inside.preorder().map(|op| OpRef::new(&cx, inside, op)).filter(|op| op.is::<KernelOp<'_>>());
        let each = kernels.map(|kernel| KernelCost::of(kernel, machine).unwrap().predict(&desc, &|_| None).unwrap());
        each.map(|prediction| prediction.compute_ns).fold(0.0, f64::max)
    };
    let [product, rows] = [product, rows]
        .map(|module| [ns(&module, |_| ()), ns(&module, |desc| desc.gops *= 2), ns(&module, |desc| desc.gflops *= 2)]);
    assert!(product[0] == product[1] && (product[0] / product[2] - 2.0).abs() < 1e-9, "{product:?}");
    assert!(rows[0] == rows[2] && (rows[0] / rows[1] - 2.0).abs() < 1e-9, "{rows:?}");
}

/// Units of a device wait at the same time, so that sharing factors in a block's memory pays.
#[test]
fn waiting_does_not_add_up_over_the_groups_of_a_device() {
    let cx = context();
    let (a, b) = (tensor(&cx, &["4096", "512"], Type::F32), tensor(&cx, &["512", "512"], Type::F32));
    let module = function(&cx, &[], &[a, b], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
    let module = lowered(&cx, module, "gfx942");
    let (counts, prediction) = predicted(&cx, &module, &[]);
    // 64 groups of rows by 4 of columns, 4 units each, 32 blocks of 16 places: two syncs a block.
    assert_eq!((counts.groups, counts.syncs), (256, 256 * 4 * 32 * 2), "{counts:?}");
    // 1216 parts of 304 processors are more than the 1024 units.
    let rest = CALL_NS + GROUP_NS * 256.0 + TRIP_NS * counts.trips as f64;
    assert!((prediction.overhead_ns - rest - SYNC_NS * 64.0).abs() < 1.0, "{prediction:?}");
}

#[test]
fn what_is_not_known_is_said() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
    let module = lowered(&cx, module, "generic");
    let inside = module.op_ref(&cx).inside();
    let kernel = inside.preorder().map(|op| OpRef::new(&cx, inside, op)).find(|op| op.is::<KernelOp<'_>>()).unwrap();
    let cost = KernelCost::of(kernel, None).unwrap();
    assert_eq!(cost.at(&|name| (name == "M").then_some(1)).unwrap_err(), "the size 'N' has no value");
}
