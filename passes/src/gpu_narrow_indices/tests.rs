//! Random index arithmetic means the same in 32 bits, at all sizes that the guard lets through.

use std::collections::HashMap;
use std::fmt::Write;

use proptest::prelude::*;
use sutura_dialects::gpu::GPUFuncOp;
use sutura_dialects::rt::{KERNEL_ATTR, KernelSignature};
use sutura_dialects::scf::ForOp;
use sutura_dialects::text::parse_text;
use sutura_ir::rewriter::clone_body;
use sutura_ir::{Block, Body, Context, Op, OpRef, Type, Value};

use super::LIMIT;
use super::narrow::{Plan, apply};

/// A statement; numbers pick operands among the values in sight.
#[derive(Clone, Debug)]
enum Statement {
    Binary(&'static str, usize, usize),
    /// Divided by the greater of an operand and one.
    Divide(&'static str, usize, usize),
    Select(usize, usize, usize),
    Address(usize),
    If(usize, usize, Vec<Statement>, Vec<Statement>),
    For(usize, usize, usize, Vec<Statement>),
}

const BINARY: [&str; 6] = ["arith.addi", "arith.subi", "arith.muli", "arith.minsi", "arith.maxsi", "arith.muli"];
const DIVIDE: [&str; 4] = ["arith.divui", "arith.divsi", "arith.remui", "arith.remsi"];

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let at = any::<usize>;
    let leaf = prop_oneof![
        (prop::sample::select(&BINARY[..]), at(), at()).prop_map(|(name, a, b)| Statement::Binary(name, a, b)),
        (prop::sample::select(&DIVIDE[..]), at(), at()).prop_map(|(name, a, b)| Statement::Divide(name, a, b)),
        (at(), at(), at()).prop_map(|(a, b, c)| Statement::Select(a, b, c)),
        at().prop_map(Statement::Address),
    ];
    let one = leaf.prop_recursive(3, 20, 6, move |inner| {
        let block = || prop::collection::vec(inner.clone(), 1..6);
        prop_oneof![
            (at(), at(), block(), block()).prop_map(|(a, b, then, other)| Statement::If(a, b, then, other)),
            (at(), at(), at(), block()).prop_map(|(a, b, c, body)| Statement::For(a, b, c, body)),
        ]
    });
    prop::collection::vec(one, 1..9)
}

#[derive(Default)]
struct Writer {
    text: String,
    next: usize,
    values: Vec<String>,
}

impl Writer {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn value(&self, at: usize) -> String {
        // Late values are more interesting.
        let n = self.values.len();
        self.values[n - 1 - at % n.min(9)].clone()
    }

    fn define(&mut self, line: &str) -> String {
        let name = self.name();
        writeln!(self.text, "{name} = {line}").unwrap();
        name
    }

    fn address(&mut self, value: &str) {
        self.define(&format!("llvm.getelementptr %x[{value}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32"));
    }

    fn block(&mut self, body: &[Statement]) {
        let seen = self.values.len();
        body.iter().for_each(|statement| self.statement(statement));
        let last = self.value(0);
        self.address(&last);
        self.values.truncate(seen);
    }

    fn statement(&mut self, statement: &Statement) {
        let name = match statement {
            Statement::Binary(op, a, b) => {
                let line = format!("{op} {}, {} : i64", self.value(*a), self.value(*b));
                self.define(&line)
            }
            Statement::Divide(op, a, b) => {
                let line = format!("arith.maxsi {}, %c1 : i64", self.value(*b));
                let divisor = self.define(&line);
                let line = format!("{op} {}, {divisor} : i64", self.value(*a));
                self.define(&line)
            }
            Statement::Select(a, b, c) => {
                let line = format!("arith.cmpi slt, {}, {} : i64", self.value(*a), self.value(*b));
                let less = self.define(&line);
                let line = format!("arith.select {less}, {}, {} : i64", self.value(*b), self.value(*c));
                self.define(&line)
            }
            Statement::Address(a) => {
                let value = self.value(*a);
                return self.address(&value);
            }
            Statement::If(a, b, then, other) => {
                let line = format!("arith.cmpi sge, {}, {} : i64", self.value(*a), self.value(*b));
                let condition = self.define(&line);
                let name = self.name();
                writeln!(self.text, "{name} = scf.if {condition} -> (i64) {{").unwrap();
                for (index, body) in [then, other].into_iter().enumerate() {
                    let seen = self.values.len();
                    body.iter().for_each(|statement| self.statement(statement));
                    let last = self.value(0);
                    self.values.truncate(seen);
                    let end = if index == 0 { "} else {" } else { "}" };
                    writeln!(self.text, "scf.yield {last} : i64\n{end}").unwrap();
                }
                name
            }
            Statement::For(a, b, c, body) => {
                let line = format!("arith.maxsi {}, %c1 : i64", self.value(*c));
                let step = self.define(&line);
                let index = self.name();
                let (low, high) = (self.value(*a), self.value(*b));
                writeln!(self.text, "scf.for {index} = {low} to {high} step {step} : i64 {{").unwrap();
                self.values.push(index);
                self.block(body);
                self.values.pop();
                self.text.push_str("}\n");
                return;
            }
        };
        self.values.push(name);
    }
}

/// A kernel of 64 threads a block with these statements in its loop over groups.
fn kernel(body: &[Statement]) -> String {
    let mut writer = Writer { values: ["%t", "%c7", "%K", "%N", "%M"].map(str::to_owned).into(), ..Writer::default() };
    writer.values.push("%g".to_owned());
    writer.block(body);
    let signature = "{params = [!rt.buffer<f32, [M, N, K]>], modes = [\"out\"], dims = [{name = \"M\"}, {name = \"N\"}, \
                     {name = \"K\"}], requires = #dyn.shape<[]>, grid = #dyn.shape<[M]>}";
    format!(
        "gpu.module @kernels {{ gpu.func @k(%x: !llvm.ptr<1>, %M: i64, %N: i64, %K: i64) kernel attributes \
         {{known_block_size = array<i32: 64, 1, 1>, rt.groups_of_block = 1 : i64, rt.kernel = {signature}}} {{\n\
         %c1 = arith.constant 1 : i64\n%c7 = arith.constant 7 : i64\n%thread = gpu.thread_id x\n\
         %t = arith.index_cast %thread : index to i64\n%block = gpu.block_id x\n\
         %b = arith.index_cast %block : index to i64\n%blocks = gpu.grid_dim x\n\
         %s = arith.index_cast %blocks : index to i64\n%up = arith.addi %N, %c7 : i64\n\
         %tiles = arith.divsi %up, %c7 : i64\n%groups = arith.muli %M, %tiles : i64\n\
         scf.for %g = %b to %groups step %s : i64 {{\n{}}}\ngpu.return\n}} }}\n",
        writer.text
    )
}

/// Runs a kernel's body for one thread; what it asks addresses of.
struct Run<'a> {
    cx: &'a Context,
    body: &'a Body,
    values: HashMap<Value, i64>,
    sizes: [i64; 3],
    thread: i64,
    seen: Vec<i64>,
}

impl Run<'_> {
    fn get(&self, value: Value) -> i64 {
        self.values[&value]
    }

    fn set(&mut self, value: Value, number: i64) {
        let number = match self.body.ty(value) {
            Type::I1 => number & 1,
            Type::I32 => i64::from(number as i32),
            _ => number,
        };
        self.values.insert(value, number);
    }

    fn kernel(mut self) -> Vec<i64> {
        let entry = self.body.entry_block().unwrap();
        let args: Vec<Value> = self.body.block_args(entry)[1..].to_vec();
        for (arg, size) in args.into_iter().zip(self.sizes) {
            self.set(arg, size);
        }
        self.block(entry);
        self.seen
    }

    fn block(&mut self, block: Block) {
        let ops: Vec<Op> = self.body.ops(block).collect();
        ops.into_iter().for_each(|op| self.op(OpRef::new(self.cx, self.body, op)));
    }

    fn op(&mut self, op: OpRef<'_>) {
        // One step of work is enough for any of these loops: what they count is bounded, not how often.
        const ITERATIONS: i128 = 3;
        let name = op.name_str();
        let blocks: Vec<Block> = op.body.regions(op.op).filter_map(|r| op.body.region_entry(r)).collect();
        match name {
            "scf.for" => {
                let for_op = op.as_::<ForOp<'_>>().unwrap();
                let [low, high, step] =
                    [for_op.lower_bound(), for_op.upper_bound(), for_op.step()].map(|v| self.get(v));
                let [low, high, step] = [low, high, step].map(i128::from);
                let count = if low < high { (high - low - 1) / step + 1 } else { 0 };
                let first = 0..count.min(ITERATIONS);
                let last = first.end.max(count - ITERATIONS)..count;
                for number in first.chain(last) {
                    self.set(op.body.block_args(blocks[0])[0], (low + number * step) as i64);
                    self.block(blocks[0]);
                }
            }
            "scf.if" => {
                let taken = blocks[usize::from(self.get(op.operand(0)) == 0)];
                self.block(taken);
                let end = OpRef::new(self.cx, self.body, op.body.last_op(taken).unwrap());
                let values: Vec<i64> = end.operands().map(|value| self.get(value)).collect();
                for (result, value) in op.results().collect::<Vec<_>>().into_iter().zip(values) {
                    self.set(result, value);
                }
            }
            "llvm.getelementptr" => self.seen.push(self.get(op.operand(1))),
            "scf.yield" | "gpu.return" => {}
            _ => {
                let value = self.compute(op);
                let promised = op.prop("overflowFlags").is_some_and(|flags| flags != self.no_flags());
                self.set(op.result(0), value);
                assert!(!promised || self.get(op.result(0)) == value, "{name} wraps, and says that it does not");
            }
        }
    }

    fn no_flags(&self) -> sutura_ir::Attr {
        self.cx.ext_attr(sutura_dialects::arith::IntegerOverflowFlags::NONE)
    }

    fn compute(&self, op: OpRef<'_>) -> i64 {
        let at = |index: usize| self.get(op.operand(index));
        let unsigned = |index: usize| match self.body.ty(op.operand(index)) {
            Type::I32 => u64::from(at(index) as u32),
            _ => at(index) as u64,
        };
        match op.name_str() {
            "arith.constant" => self.cx.as_int(op.prop("value").unwrap()).unwrap(),
            "gpu.thread_id" => self.thread,
            "gpu.block_id" => 0,
            "gpu.grid_dim" => 1,
            "arith.index_cast" | "arith.trunci" | "arith.extsi" => at(0),
            "arith.addi" => at(0).wrapping_add(at(1)),
            "arith.subi" => at(0).wrapping_sub(at(1)),
            "arith.muli" => at(0).wrapping_mul(at(1)),
            "arith.minsi" => at(0).min(at(1)),
            "arith.maxsi" => at(0).max(at(1)),
            "arith.divsi" => at(0).wrapping_div(at(1)),
            "arith.remsi" => at(0).wrapping_rem(at(1)),
            "arith.divui" => (unsigned(0) / unsigned(1)) as i64,
            "arith.remui" => (unsigned(0) % unsigned(1)) as i64,
            "arith.select" => at(if at(0) != 0 { 1 } else { 2 }),
            "arith.cmpi" => match self.cx.as_int(op.prop("predicate").unwrap()).unwrap() {
                2 => i64::from(at(0) < at(1)),
                _ => i64::from(at(0) >= at(1)),
            },
            name => panic!("{name} is not written by this test"),
        }
    }
}

/// Sizes that fit, of which the one with the number `largest` is as large as the others let it be.
fn at_the_edge(mut sizes: [i64; 3], largest: usize, fits: impl Fn([i64; 3]) -> bool) -> Option<[i64; 3]> {
    if let Some(size) = sizes.get_mut(largest) {
        *size = 0;
        let (mut low, mut high) = (0, 1i64 << 31);
        while high - low > 1 {
            let middle = (low + high) / 2;
            sizes[largest] = middle;
            *(if fits(sizes) { &mut low } else { &mut high }) = middle;
        }
        sizes[largest] = low;
    }
    fits(sizes).then_some(sizes)
}

fn sizes() -> impl Strategy<Value = i64> {
    prop_oneof![0i64..4, 0i64..100, 0i64..3000, 0i64..100_000, 0i64..(1 << 31)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn addresses_are_the_same(
        body in statements(),
        sizes in prop::collection::vec(([sizes(), sizes(), sizes()], 0usize..4), 16),
        thread in 0i64..64,
    ) {
        let cx = Context::new(sutura_dialects::all());
        let text = kernel(&body);
        let mut module = parse_text(&cx, "kernel", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let top = module.body().entry_block().and_then(|block| module.body().first_op(block)).unwrap();
        let device = module.body_mut().nested_mut(top).unwrap();
        let op = device.entry_block().and_then(|block| device.first_op(block)).unwrap();
        let view = OpRef::new(&cx, device, op);
        let signature = KernelSignature::of_attr(&cx, view.attr(KERNEL_ATTR).unwrap()).unwrap();
        let inside = device.nested(op).unwrap();
        let plan = Plan::of(view.as_::<GPUFuncOp<'_>>().unwrap(), &signature, &cx, inside, LIMIT);
        let room = plan.as_ref().and_then(|plan| plan.room(&signature, LIMIT));
        let (Some(plan), Some(room)) = (plan, room) else { return Ok(()) };
        let wide = clone_body(&cx, inside);
        apply(&cx, device.nested_mut(op).unwrap(), &plan);
        let narrow = device.nested(op).unwrap();
        let fits = |sizes: [i64; 3]| {
            let value = |name: &str| signature.dims.iter().position(|(dim, _)| dim == name).map(|at| sizes[at]);
            room.eval(&value).is_some_and(|room| room >= 0)
        };
        for (sizes, largest) in sizes {
            let Some(sizes) = at_the_edge(sizes, largest, fits) else { continue };
            let run = |body| Run { cx: &cx, body, values: HashMap::new(), sizes, thread, seen: Vec::new() }.kernel();
            prop_assert_eq!(run(&wide), run(narrow), "at {:?} of\n{}", sizes, text);
        }
    }
}
