//! On random kernels rewrites keep the meaning and never raise the traffic.

use std::fmt::Write;

use sutura_dialects::gir::interp::{Counters, run_kernel};
use sutura_dialects::gir::ops::KernelOp;
use sutura_dialects::target::machine_in;
use sutura_dialects::text::parse_text;
use sutura_interp::Buffer;
use sutura_interp::random::Random;
use sutura_ir::{Context, Module, OpRef};

use crate::gir::cost::KernelCost;
use crate::testing::{context, run, text};

const TILE: &str = "!gir.tile<vec, f32, [1, 8]>";
const ROWS: i64 = 4;

/// A kernel with memory of its own in l1 that is stored to and loaded from in loops, by one unit or two.
struct Source<'r> {
    random: &'r mut Random,
    text: String,
    tiles: Vec<String>,
    /// Rows of the own memory that are in scope, and those that were written on every path.
    names: usize,
    units: i64,
}

impl Source<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn tile(&mut self) -> String {
        let at = self.random.range(0, self.tiles.len() as i64 - 1) as usize;
        self.tiles[at].clone()
    }

    /// A slice of row `row` of own memory `which`.
    fn slice(&mut self, which: i64, row: i64) -> String {
        let name = self.name();
        // Each unit has rows of its own in memory of the group.
        let at = if which == 2 && self.units > 1 { "%mine".to_owned() } else { format!("%c{row}") };
        let _ = writeln!(
            self.text,
            "{name} = gir.slice %a{which}[{at}, %c0] cols(1) : !gir.view<l1, f32, [4, 8]> -> !gir.slice<l1, f32, [1, 8]>"
        );
        name
    }

    fn statements(&mut self, count: i64, depth: usize, written: &mut Vec<(i64, i64)>) {
        for _ in 0..count {
            match self.random.range(0, 9) {
                0..=2 => {
                    let (which, row, tile) = (self.random.range(0, 2), self.random.range(0, 1), self.tile());
                    let slice = self.slice(which, row);
                    let _ = writeln!(self.text, "gir.store {tile}, {slice} : {TILE}, !gir.slice<l1, f32, [1, 8]>");
                    written.push((which, row));
                }
                3..=5 if !written.is_empty() => {
                    let at = self.random.range(0, written.len() as i64 - 1) as usize;
                    let (slice, name) = (self.slice(written[at].0, written[at].1), self.name());
                    let _ = writeln!(self.text, "{name} = gir.load {slice} : !gir.slice<l1, f32, [1, 8]> -> {TILE}");
                    self.tiles.push(name);
                }
                6 => self.text.push_str("gir.sync\n"),
                7 if depth < 2 => self.repeat(depth, written),
                _ => {
                    let (a, b, name) = (self.tile(), self.tile(), self.name());
                    let _ = writeln!(self.text, "{name} = gir.binary \"add\" {a}, {b} : {TILE}");
                    self.tiles.push(name);
                }
            }
        }
    }

    fn repeat(&mut self, depth: usize, written: &[(i64, i64)]) {
        let (result, index, carried, init) = (self.name(), self.name(), self.name(), self.tile());
        let trips = self.random.range(0, 3);
        let _ =
            writeln!(self.text, "{result} = gir.for {index} = %c0 to %c{trips} carry({carried} = {init}) : {TILE} {{");
        let outside = self.tiles.len();
        self.tiles.push(carried);
        let count = self.random.range(1, 6);
        self.statements(count, depth + 1, &mut written.to_vec());
        let last = self.tile();
        let _ = writeln!(self.text, "gir.yield {last} : {TILE}\n}}");
        self.tiles.truncate(outside);
        self.tiles.push(result);
    }
}

fn random_kernel(random: &mut Random) -> String {
    let units = random.range(1, 2);
    let mut source = Source { random, text: String::new(), tiles: vec!["%t".to_owned()], names: 0, units };
    let count = source.random.range(3, 16);
    source.statements(count, 0, &mut Vec::new());
    let last = source.tile();
    let (unit, mine) = if units > 1 { ("units(%u, 2)", "%u") } else { ("units(1)", "%c0") };
    let owners = ["unit", "unit", "group"];
    let allocs: String =
        (0..3).map(|i| format!("%a{i} = gir.alloc owner(\"{}\") : !gir.view<l1, f32, [4, 8]>\n", owners[i])).collect();
    let out = if units > 1 { "%row" } else { "%i" };
    let views = "!gir.view<dram, f32, [ROWS, 8]>".replace("ROWS", &(ROWS * units).to_string());
    format!(
        "gir.kernel @k(%x : {views} in, %y : {views} out) dims() grid(%i = {ROWS}) {unit} {{\n\
         %c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n\
         %c3 = arith.constant 3 : index\n{allocs}\
         %mine = gir.index affine_map<(d0) -> (d0)>({mine})\n\
         %row = gir.index affine_map<(d0, d1) -> (d0 * {units} + d1)>(%i, {mine})\n\
         %xs = gir.slice %x[{out}, %c0] cols(1) : {views} -> !gir.slice<dram, f32, [1, 8]>\n\
         %t = gir.load %xs : !gir.slice<dram, f32, [1, 8]> -> {TILE}\n{}\
         %ys = gir.slice %y[{out}, %c0] cols(1) : {views} -> !gir.slice<dram, f32, [1, 8]>\n\
         gir.store {last}, %ys : {TILE}, !gir.slice<dram, f32, [1, 8]>\n}}\n",
        source.text
    )
}

fn launch(cx: &Context, module: &Module, x: &[f32]) -> (Vec<f32>, Counters) {
    let mut buffers = [Buffer::from_f32(x.to_vec()), Buffer::from_f32(vec![0.0; x.len()])];
    let counters =
        run_kernel(cx, module, "k", &mut buffers, &[]).unwrap_or_else(|e| panic!("{e}\n{}", text(cx, module)));
    (buffers[1].as_f32().expect("all is written").to_vec(), counters)
}

/// What is moved, the most expensive space first, and held on the chip.
fn traffic(counters: &Counters) -> [u64; 3] {
    ["dram", "l1", "vec"].map(|space| counters.moved(space))
}

/// Runs the pipeline on random kernels; returns for how many the traffic fell.
fn check(pipeline: &str, seed: u64) -> usize {
    let mut random = Random::new(seed);
    let cx = context();
    let mut lowered = 0;
    for _ in 0..80 {
        let source = random_kernel(&mut random);
        let mut module = match parse_text(&cx, "random.mlir", &source) {
            Ok(module) => module,
            // Some have accesses of two units that nothing orders: those are no kernels.
            Err(error) if error.to_string().contains("gir.sync") => continue,
            Err(error) => panic!("{error}\n{source}"),
        };
        let units = if source.contains("units(1)") { 1 } else { 2 };
        let x: Vec<f32> = (0..ROWS * units * 8).map(|_| (random.unit() * 4.0 - 2.0) as f32).collect();
        let (before, moved) = launch(&cx, &module, &x);
        run(&cx, &mut module, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
        let (after, less) = launch(&cx, &module, &x);
        assert_eq!(before, after, "{source}\n{}", text(&cx, &module));
        let (was, is) = (traffic(&moved), traffic(&less));
        assert!(is <= was, "{was:?} became {is:?}\n{source}\n{}", text(&cx, &module));
        assert!(less.space("l1").peak <= moved.space("l1").peak, "{source}");
        lowered += usize::from(is < was);
        // A fixpoint: once more changes nothing.
        let once = text(&cx, &module);
        run(&cx, &mut module, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
        assert_eq!(once, text(&cx, &module), "{source}");
    }
    lowered
}

#[test]
fn rewrites_keep_the_meaning_and_never_raise_the_traffic() {
    let lowered = check("builtin.module(gir-simplify)", 3);
    assert!(lowered > 30, "only {lowered} kernels move less");
}

/// Bytes that a kernel moves at these sizes, dram before memory on the chip before registers.
fn moved(cx: &Context, module: &Module, of: i64) -> Vec<(String, [u64; 3])> {
    let body = module.body();
    let machine = machine_in(cx, body).ok().flatten();
    let mut all = Vec::new();
    for op in body.entry_block().into_iter().flat_map(|block| body.ops(block)) {
        let kernel = OpRef::new(cx, body, op);
        let Some(name) = kernel.as_::<KernelOp<'_>>().and_then(|_| kernel.symbol_name()) else { continue };
        let Ok(cost) = KernelCost::of(kernel, machine) else { continue };
        let size = |name: &str| {
            let dim = cost.dims.iter().find(|dim| dim.name == name)?;
            Some(of.clamp(dim.min, dim.max.max(dim.min)) / dim.div.max(1) * dim.div.max(1))
        };
        let Ok(counts) = cost.at(&size) else { continue };
        let mut bytes = [0; 3];
        for (space, moved) in &counts.spaces {
            let class = match &**space {
                "dram" | "global" => 0,
                "vec" | "reg" | "registers" => 2,
                _ => 1,
            };
            bytes[class] += moved.read + moved.written;
        }
        all.push((name.to_owned(), bytes));
    }
    all
}

/// The kernels of each part of a lit test that becomes some.
fn kernels_of_lit_tests(cx: &Context, machine: &str) -> Vec<(String, Module)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../lit-tests/graph_to_gir");
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).expect("the folder is in the repository") {
        let path = file.expect("it can be listed").path();
        let source = std::fs::read_to_string(&path).expect("it is text");
        for (part, source) in source.split("// -----").enumerate() {
            let Ok(mut module) = parse_text(cx, "lit.mlir", source) else { continue };
            let pipeline = format!(
                "builtin.module(attach-target{{name={machine}}},raise-attention,expand-operators,func.func(stitch),convert-graph-to-gir)"
            );
            if run(cx, &mut module, &pipeline).is_ok() {
                all.push((format!("{} {part}", path.display()), module));
            }
        }
    }
    all
}

/// As compilations run them, at sizes small and large.
#[test]
fn nor_on_the_kernels_of_lit_tests() {
    const PIPELINE: &str = "builtin.module(canonicalize,cse,gir-simplify,loop-invariant-code-motion)";
    let (cx, mut seen, mut lowered) = (context(), 0, 0);
    for machine in ["x86_avx512", "sm_80"] {
        for (place, mut module) in kernels_of_lit_tests(&cx, machine) {
            let before = [5, 37, 3000].map(|size| moved(&cx, &module, size));
            run(&cx, &mut module, PIPELINE).unwrap_or_else(|e| panic!("{place}: {e:?}"));
            let after = [5, 37, 3000].map(|size| moved(&cx, &module, size));
            for ((name, was), (_, is)) in before.iter().flatten().zip(after.iter().flatten()) {
                assert!(is <= was, "{place}, @{name} for {machine}: {was:?} became {is:?}");
                seen += 1;
                lowered += usize::from(is < was);
            }
        }
    }
    assert!(seen > 600, "only {seen} costs are known");
    assert!(lowered > 0, "no kernel moves less");
}

#[test]
fn nor_do_they_together_with_the_generic_passes() {
    let pipeline = "builtin.module(gir-simplify,canonicalize,loop-invariant-code-motion,cse,gir-simplify,canonicalize)";
    let lowered = check(pipeline, 4);
    assert!(lowered > 30, "only {lowered} kernels move less");
}
