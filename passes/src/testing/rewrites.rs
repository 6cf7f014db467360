//! Every canonicalization pattern of the upstream dialects, applied alone, keeps the program valid and its meaning: on the
//! programs of the table of differential tests, and those of the arith dialect on random programs as well.

use std::collections::BTreeMap;
use std::fmt::Write;

use rayon::prelude::*;
use sutura_dialects::text::parse_text;
use sutura_interp::equivalence::{Difference, Trials, equivalent};
use sutura_interp::random::Random;
use sutura_interp::{DType, Flow, Frame, InterpError, Interpret, Limits, Scalar};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::pattern::PatternSet;
use sutura_ir::rewrite::{FrozenPatterns, GreedyConfig, RegionSimplify, apply_patterns_greedily};
use sutura_ir::trace::Trace;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Module, Op, OpRef, Type};

use super::{copy, text};

const INTS: [&str; 5] = ["i1", "i8", "i32", "i64", "index"];
/// Bits of [`INTS`]; none for `index`.
const WIDTHS: [Option<u32>; 5] = [Some(1), Some(8), Some(32), Some(64), None];

/// Writes a program of integer and float operations, with many constants and many uses of recent values.
struct Writer {
    random: Random,
    text: String,
    next: usize,
    ints: [Vec<String>; 5],
    floats: Vec<String>,
}

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.random.range(0, n as i64 - 1) as usize
    }

    fn define(&mut self, what: &str) -> String {
        self.next += 1;
        let name = format!("%v{}", self.next);
        let _ = writeln!(self.text, "{name} = {what}");
        name
    }

    fn recent(&mut self, values: &[String]) -> String {
        let window = if self.below(4) == 0 { values.len() } else { values.len().min(3) };
        values[values.len() - 1 - self.below(window)].clone()
    }

    /// An integer of type `t`: a constant, or one that is there.
    fn int(&mut self, t: usize) -> String {
        if self.below(3) == 0 {
            let value = [0, -1, 1, 3, -7, 100][self.below(6)];
            let value = if t == 0 {
                i64::from(value != 0).to_string().replace('1', "true").replace('0', "false")
            } else {
                value.to_string()
            };
            let ty = if t == 0 { String::new() } else { format!(" : {}", INTS[t]) };
            return self.define(&format!("arith.constant {value}{ty}"));
        }
        let values = self.ints[t].clone();
        self.recent(&values)
    }

    fn statement(&mut self) {
        let t = self.below(5);
        match self.below(12) {
            0..=3 => {
                let (op, a, b) = (["addi", "subi", "subi", "muli", "xori"][self.below(5)], self.int(t), self.int(t));
                let value = self.define(&format!("arith.{op} {a}, {b} : {}", INTS[t]));
                self.ints[t].push(value);
            }
            4 => {
                let (p, a, b) = (["eq", "slt", "uge", "sle"][self.below(4)], self.int(t), self.int(t));
                let value = self.define(&format!("arith.cmpi {p}, {a}, {b} : {}", INTS[t]));
                self.ints[0].push(value);
            }
            5..=6 => {
                let (c, a, b) = (self.int(0), self.int(t), self.int(t));
                let value = self.define(&format!("arith.select {c}, {a}, {b} : {}", INTS[t]));
                self.ints[t].push(value);
            }
            7 => {
                let (x, ones) = (self.int(0), "arith.constant true");
                let ones = self.define(ones);
                let value = self.define(&format!("arith.xori {x}, {ones} : i1"));
                self.ints[0].push(value);
            }
            8..=9 => self.cast(t),
            _ => {
                let floats = self.floats.clone();
                let (a, b) = (self.recent(&floats), self.recent(&floats));
                let value = match self.below(4) {
                    0 => self.define(&format!("arith.divf {a}, {b} : f32")),
                    1 => self.define(&format!("arith.mulf {a}, {b} : f32")),
                    _ => self.define(&format!("arith.negf {a} : f32")),
                };
                self.floats.push(value);
            }
        }
    }

    /// A chain of casts.
    fn cast(&mut self, from: usize) {
        let (mut from, mut x) = (from, self.int(from));
        for _ in 0..=self.below(3) {
            let (to, signed) = (self.below(5), self.below(2) == 0);
            let op = match (WIDTHS[from], WIDTHS[to]) {
                (Some(a), Some(b)) if a < b && signed => "extsi",
                (Some(a), Some(b)) if a < b => "extui",
                (Some(a), Some(b)) if a > b => "trunci",
                (Some(_), None) | (None, Some(_)) if signed => "index_cast",
                (Some(_), None) | (None, Some(_)) => "index_castui",
                _ => continue,
            };
            x = self.define(&format!("arith.{op} {x} : {} to {}", INTS[from], INTS[to]));
            self.ints[to].push(x.clone());
            from = to;
        }
    }
}

fn program(seed: u64) -> String {
    let args = "%a: i1, %b: i8, %c: i32, %d: i64, %e: index, %f: f32, %g: f32";
    let named = |name: &str| vec![name.to_string()];
    let mut writer = Writer {
        random: Random::new(seed),
        text: String::new(),
        next: 0,
        ints: [named("%a"), named("%b"), named("%c"), named("%d"), named("%e")],
        floats: vec!["%f".to_string(), "%g".to_string()],
    };
    for _ in 0..24 {
        writer.statement();
    }
    let last: Vec<String> = writer.ints.iter().map(|v| v[v.len() - 1].clone()).collect();
    let (body, float) = (writer.text, &writer.floats[writer.floats.len() - 1]);
    let types = "i1, i8, i32, i64, index, f32";
    format!("func.func @main({args}) -> ({types}) {{\n{body}return {}, {float} : {types}\n}}", last.join(", "))
}

/// Applies `patterns` alone, without folding; how often they applied.
fn apply(cx: &Context, module: &mut Module, patterns: &PatternSet) -> u64 {
    let frozen = FrozenPatterns::new(cx, patterns);
    let config = GreedyConfig { fold: false, simplify_regions: RegionSimplify::Disabled, ..GreedyConfig::default() };
    let functions: Vec<Op> = module.body().preorder().collect();
    let mut applied = 0;
    for function in functions {
        if let Some(inside) = module.body_mut().nested_mut(function) {
            let outcome = apply_patterns_greedily(cx, inside, &frozen, &config, &mut Trace::off());
            applied += outcome.unwrap_or_else(|broken| panic!("{}", broken.message)).rewritten;
        }
    }
    applied
}

/// Applies the pattern `name` alone; how often it applied, and whether the results were compared.
fn check(cx: &Context, before: &Module, patterns: &PatternSet, name: &str, entry: &str) -> (u64, bool) {
    let mut after = copy(cx, before);
    let times = apply(cx, &mut after, &patterns.filtered(|n| n == name));
    if times == 0 {
        return (0, false);
    }
    let mut diags = Diagnostics::default();
    let valid = verify(after.op_ref(cx), VerifyOptions { allow_unregistered: true }, &mut diags);
    assert!(valid.is_ok(), "{name}: {diags:?}\n{}", text(cx, &after));
    let limits = Limits { steps: 1 << 12, ..Limits::default() };
    let sizes = |cx: &Context, _: usize, ty: Type| {
        let shape = cx.shape(ty)?;
        Some(shape.iter().map(|size| usize::try_from(*size).unwrap_or(4)).collect())
    };
    let mut compared = false;
    for seeds in [[1], [2], [3], [4], [5], [6]] {
        let trials = Trials { limits, ..Trials::new(&seeds, &sizes) };
        match equivalent(cx, before, &after, entry, trials) {
            Ok(_) => compared = true,
            // Nothing can be compared where the interpreter does not know an op, or the program does not end.
            Err(Difference::Vacuous { .. } | Difference::Before { .. } | Difference::Setup(_)) => {}
            Err(difference) => panic!("{name}: {difference}\n{}\n{}", text(cx, before), text(cx, &after)),
        }
    }
    (times, compared)
}

/// A number that depends on the operands, for each result: ops of the dialect `foreign` in tests.
fn anything(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let mut hash = op.name_str().len() as u64;
    for index in 0..op.num_operands() {
        let bits = frame.operand(index)?.scalar().map_or(7, |scalar| scalar.bits());
        hash = (hash ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
    for index in 0..op.num_results() {
        let dtype = DType::expect(frame.cx(), frame.result_type(index)?)?;
        hash = hash.rotate_left(11) ^ index as u64;
        let value = match dtype {
            DType::Float(kind) => Scalar::float((hash % 64) as f64, kind),
            _ => Scalar::from_bits(dtype, hash % 64),
        };
        frame.set(index, value)?;
    }
    Ok(Flow::Next)
}

/// The dialects whose patterns are tried on programs of the table of differential tests.
const DIALECTS: [&str; 8] = ["arith", "cf", "func", "math", "memref", "scf", "tensor", "vector"];

fn patterns_of(cx: &Context, dialects: &[&str]) -> PatternSet {
    let mut all = PatternSet::new();
    let defs = cx.registry().op_defs().filter(|def| dialects.contains(&def.dialect()));
    defs.filter_map(|def| def.canonicalize).for_each(|add| add(&mut all));
    all
}

#[test]
fn each_pattern_keeps_the_meaning() {
    let mut registry = sutura_dialects::all();
    for name in ["foreign.op", "foreign.other"] {
        registry.attach_foreign::<dyn Interpret>(name, &anything);
    }
    let cx = Context::new(registry);
    let parsed = |text: &str| parse_text(&cx, "main.mlir", text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let (arith, all) = (patterns_of(&cx, &["arith"]), patterns_of(&cx, &DIALECTS));
    let random = (0..400).into_par_iter().map(|seed| (program(seed), "main", &arith));
    let table: Vec<String> = super::differential::programs();
    let table = table.into_par_iter().map(|text| (text, "f", &all));
    let found: Vec<(String, u64, bool)> = random
        .chain(table)
        .flat_map_iter(|(source, entry, patterns)| {
            let before = parsed(&source);
            let cx = &cx;
            let check = move |name: String| {
                let (times, compared) = check(cx, &before, patterns, &name, entry);
                (name, times, compared)
            };
            patterns.iter().map(|p| p.name().to_string()).map(check).collect::<Vec<_>>()
        })
        .collect();
    let mut applied: BTreeMap<&str, (u64, u64)> = all.iter().map(|p| (p.name(), (0, 0))).collect();
    for (name, times, compared) in &found {
        let entry = applied.get_mut(name.as_str()).expect("a pattern");
        *entry = (entry.0 + times, entry.1 + if *compared { *times } else { 0 });
    }
    let never: Vec<_> = applied.iter().filter(|(_, count)| count.1 == 0).collect();
    assert!(never.is_empty(), "no program has the shape that these match, or none runs: {never:?}");
}
