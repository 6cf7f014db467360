//! Generic passes on random kernels: they keep what a kernel computes, and never raise what it moves.

use std::fmt::Write;

use sutura_dialects::gir::interp::{Counters, run_kernel};
use sutura_grammar::{ParseOptions, parse_module};
use sutura_interp::Buffer;
use sutura_interp::random::Random;
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module};

const ROWS: i64 = 4;
const COLS: i64 = 8;
const TILE: &str = "!gir.tile<vec, f32, [1, 8]>";
const SLICE: &str = "!gir.slice<dram, f32, [1, 8]>";
const VIEW: &str = "!gir.view<dram, f32, [4, 8]>";

/// The body of a kernel under construction.
struct Source<'r> {
    random: &'r mut Random,
    text: String,
    /// Indices that are in scope.
    indices: Vec<String>,
    /// Tiles that are in scope.
    tiles: Vec<String>,
    names: usize,
}

impl Source<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn pick(&mut self, from: fn(&Self) -> &Vec<String>) -> String {
        let n = from(self).len() as i64;
        let at = self.random.range(0, n - 1) as usize;
        from(self)[at].clone()
    }

    /// Loads, often of the same windows, and computations, some of which nobody uses.
    fn statements(&mut self, count: i64, depth: usize) {
        for _ in 0..count {
            match self.random.range(0, 9) {
                0..=4 => self.load(),
                5 | 6 => self.binary(),
                7 | 8 if depth < 2 => self.repeat(depth),
                _ => self.binary(),
            }
        }
    }

    fn load(&mut self) {
        let (slice, tile, index) = (self.name(), self.name(), self.pick(|s| &s.indices));
        writeln!(self.text, "{slice} = gir.slice %x[{index}, %c0] cols(1) : {VIEW} -> {SLICE}").unwrap();
        writeln!(self.text, "{tile} = gir.load {slice} : {SLICE} -> {TILE}").unwrap();
        self.tiles.push(tile);
    }

    fn binary(&mut self) {
        let (a, b, result) = (self.pick(|s| &s.tiles), self.pick(|s| &s.tiles), self.name());
        let kind = ["add", "sub", "max"][self.random.range(0, 2) as usize];
        writeln!(self.text, "{result} = gir.binary \"{kind}\" {a}, {b} : {TILE}").unwrap();
        self.tiles.push(result);
    }

    /// A loop of no, one or several trips.
    fn repeat(&mut self, depth: usize) {
        let (result, index, carried, init) = (self.name(), self.name(), self.name(), self.pick(|s| &s.tiles));
        let trips = self.random.range(0, 3);
        writeln!(self.text, "{result} = gir.for {index} = %c0 to %c{trips} carry({carried} = {init}) : {TILE} {{")
            .unwrap();
        let outside = (self.indices.len(), self.tiles.len());
        self.indices.push(index);
        self.tiles.push(carried);
        let count = self.random.range(1, 5);
        self.statements(count, depth + 1);
        let last = self.pick(|s| &s.tiles);
        writeln!(self.text, "gir.yield {last} : {TILE}\n}}").unwrap();
        self.indices.truncate(outside.0);
        self.tiles.truncate(outside.1);
        self.tiles.push(result);
    }
}

fn random_kernel(random: &mut Random) -> String {
    let indices = ["%i", "%c0", "%c1"].map(str::to_owned).to_vec();
    let mut source = Source { random, text: String::new(), indices, tiles: vec![], names: 0 };
    for c in 0..4 {
        writeln!(source.text, "%c{c} = arith.constant {c} : index").unwrap();
    }
    source.load();
    let count = source.random.range(2, 14);
    source.statements(count, 0);
    let result = source.pick(|s| &s.tiles);
    format!(
        "gir.kernel @k(%x : {VIEW} in, %y : {VIEW} out) dims() grid(%i = {ROWS}) units(1) {{\n{}\
         %to = gir.slice %y[%i, %c0] cols(1) : {VIEW} -> {SLICE}\ngir.store {result}, %to : {TILE}, {SLICE}\n}}\n",
        source.text
    )
}

fn parse(cx: &Context, text: &str) -> Module {
    let mut diags = Diagnostics::default();
    let source = cx.sources().add("random.mlir", text).unwrap();
    let module = parse_module(cx, &source, &ParseOptions::default(), &mut diags)
        .and_then(|module| verify(module.op_ref(cx), VerifyOptions::default(), &mut diags).map(|()| module));
    module.unwrap_or_else(|_| panic!("{:?}\n{text}", diags.iter().map(|d| &d.message).collect::<Vec<_>>()))
}

fn launch(cx: &Context, module: &Module, x: &[f32]) -> (Vec<f32>, Counters) {
    let mut buffers = [Buffer::from_f32(x.to_vec()), Buffer::from_f32(vec![0.0; x.len()])];
    let counters = run_kernel(cx, module, "k", &mut buffers, &[]).unwrap();
    (buffers[1].as_f32().unwrap().to_vec(), counters)
}

/// What the kernel moves, the most expensive space first.
fn traffic(counters: &Counters) -> [u64; 3] {
    ["dram", "l1", "vec"].map(|space| counters.moved(space))
}

#[test]
fn kernels_keep_their_meaning_and_move_no_more() {
    let mut random = Random::new(7);
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let mut lowered = 0;
    let cx = Context::new(sutura_dialects::all());
    for _ in 0..100 {
        let text = random_kernel(&mut random);
        let mut module = parse(&cx, &text);
        let x: Vec<f32> = (0..ROWS * COLS).map(|_| (random.unit() * 4.0 - 2.0) as f32).collect();
        let (before, moved) = launch(&cx, &module, &x);
        let pipeline = "builtin.module(canonicalize,cse,canonicalize)";
        let mut manager =
            parse_pipeline(&cx, &passes, "test", pipeline, &mut Diagnostics::default()).expect("a pipeline");
        let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |_| ());
        result.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let (after, less) = launch(&cx, &module, &x);
        assert_eq!(before, after, "{text}");
        assert!(traffic(&less) <= traffic(&moved), "{:?} became {:?}\n{text}", traffic(&moved), traffic(&less));
        lowered += usize::from(traffic(&less) < traffic(&moved));
    }
    assert!(lowered > 30, "only {lowered} of 100 kernels move less");
}
