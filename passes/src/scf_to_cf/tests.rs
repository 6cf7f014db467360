//! Random structured programs mean the same with blocks and branches.

use std::fmt::Write;

use proptest::prelude::*;
use sutura_dialects::text::parse_text;
use sutura_interp::Tolerance;

use crate::testing::{agree, context, copy, run};

/// A statement on `i32` values; numbers pick operands among the values in sight.
#[derive(Clone, Debug)]
enum Statement {
    Add(usize, usize),
    If { condition: usize, results: bool, then: Vec<Statement>, otherwise: Vec<Statement> },
    For { trips: u8, carried: usize, unsigned: bool, body: Vec<Statement> },
    While { trips: u8, carried: usize, bare: bool, body: Vec<Statement> },
    Switch { on: usize, cases: Vec<(u8, Vec<Statement>)>, default: Vec<Statement> },
    Parallel { trips: [u8; 2], reduced: usize, body: Vec<Statement> },
    Forall { trips: [u8; 2], stored: usize },
    ExecuteRegion { body: Vec<Statement> },
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Statement::Add(a, b));
    let one = leaf.prop_recursive(3, 24, 4, |inner| {
        let block = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (any::<usize>(), any::<bool>(), block(), block()).prop_map(|(condition, results, then, otherwise)| {
                Statement::If { condition, results, then, otherwise }
            }),
            (0u8..4, any::<usize>(), any::<bool>(), block())
                .prop_map(|(trips, carried, unsigned, body)| Statement::For { trips, carried, unsigned, body }),
            (0u8..4, any::<usize>(), any::<bool>(), block())
                .prop_map(|(trips, carried, bare, body)| Statement::While { trips, carried, bare, body }),
            (any::<usize>(), prop::collection::vec((0u8..8, block()), 0..4), block())
                .prop_map(|(on, cases, default)| Statement::Switch { on, cases, default }),
            ([0u8..3, 0u8..3], any::<usize>(), block()).prop_map(|(trips, reduced, body)| Statement::Parallel {
                trips,
                reduced,
                body
            }),
            ([0u8..3, 0u8..3], any::<usize>()).prop_map(|(trips, stored)| Statement::Forall { trips, stored }),
            block().prop_map(|body| Statement::ExecuteRegion { body }),
        ]
    });
    prop::collection::vec(one, 1..5)
}

/// Writes a program as text.
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

    fn pick(&self, number: usize) -> String {
        self.values[number % self.values.len()].clone()
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// Writes statements that see the values so far and returns the last value.
    fn block(&mut self, statements: &[Statement]) -> String {
        let outside = self.values.len();
        statements.iter().for_each(|s| self.statement(s));
        let last = self.values.last().expect("the function has arguments").clone();
        self.values.truncate(outside);
        last
    }

    fn constant(&mut self, value: u8) -> String {
        let name = self.name();
        self.line(&format!("{name} = arith.constant {value} : i32"));
        name
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Add(a, b) => {
                let (name, a, b) = (self.name(), self.pick(*a), self.pick(*b));
                self.line(&format!("{name} = arith.addi {a}, {b} : i32"));
                self.values.push(name);
            }
            Statement::If { condition, results, then, otherwise } => {
                let (bit, on, zero, name) = (self.name(), self.pick(*condition), self.constant(0), self.name());
                self.line(&format!("{bit} = arith.cmpi sgt, {on}, {zero} : i32"));
                let head =
                    if *results { format!("{name} = scf.if {bit} -> (i32) {{") } else { format!("scf.if {bit} {{") };
                self.line(&head);
                for (i, side) in [then, otherwise].into_iter().enumerate() {
                    if i == 1 {
                        self.line("} else {");
                    }
                    let last = self.block(side);
                    if *results {
                        self.line(&format!("scf.yield {last} : i32"));
                    }
                }
                self.line("}");
                if *results {
                    self.values.push(name);
                }
            }
            Statement::For { trips, carried, unsigned, body } => {
                let (zero, one, trips) = (self.constant(0), self.constant(1), self.constant(*trips));
                let (name, i, arg, init) = (self.name(), self.name(), self.name(), self.pick(*carried));
                let word = if *unsigned { "unsigned " } else { "" };
                self.line(&format!(
                    "{name} = scf.for {word}{i} = {zero} to {trips} step {one} iter_args({arg} = {init}) -> (i32) : i32 {{"
                ));
                self.inside(&[i, arg], body, "scf.yield");
                self.values.push(name);
            }
            Statement::While { trips, carried, bare, body } => self.write_while(*trips, *carried, *bare, body),
            Statement::Switch { on, cases, default } => self.write_switch(*on, cases, default),
            Statement::Parallel { trips, reduced, body } => self.write_parallel(*trips, *reduced, body),
            Statement::Forall { trips, stored } => self.write_forall(*trips, *stored),
            Statement::ExecuteRegion { body } => {
                let name = self.name();
                self.line(&format!("{name} = scf.execute_region -> i32 {{"));
                self.inside(&[], body, "scf.yield");
                self.values.push(name);
            }
        }
    }

    /// Differences, so that the order of iterations and of the two values matters.
    fn write_parallel(&mut self, trips: [u8; 2], reduced: usize, body: &[Statement]) {
        let [zero, one, n, m, name, i, j, k, l, r, d] = std::array::from_fn(|_| self.name());
        let (init, [first, second]) = (self.pick(reduced), trips);
        for (name, value) in [(&zero, 0), (&one, 1), (&n, first), (&m, second)] {
            self.line(&format!("{name} = arith.constant {value} : index"));
        }
        self.line(&format!(
            "{name} = scf.parallel ({i}, {j}) = ({zero}, {zero}) to ({n}, {m}) step ({one}, {one}) init ({init}) -> i32 {{"
        ));
        self.line(&format!("{k} = arith.index_cast {j} : index to i32"));
        let outside = self.values.len();
        self.values.push(k);
        let last = self.block(body);
        self.values.truncate(outside);
        self.line(&format!("scf.reduce({last} : i32) {{\n^bb0({l}: i32, {r}: i32):\n{d} = arith.subi {l}, {r} : i32"));
        self.line(&format!("scf.reduce.return {d} : i32\n}}\n}}"));
        self.values.push(name);
    }

    /// Each iteration changes one number in memory, in a way that shows the order.
    fn write_forall(&mut self, trips: [u8; 2], stored: usize) {
        let [memory, n, i, j, old, at, twice, new, name] = std::array::from_fn(|_| self.name());
        let (init, [first, second]) = (self.pick(stored), trips);
        self.line(&format!("{memory} = memref.alloca() : memref<i32>\nmemref.store {init}, {memory}[] : memref<i32>"));
        self.line(&format!("{n} = arith.constant {second} : index"));
        self.line(&format!("scf.forall ({i}, {j}) = (0, 0) to ({first}, {n}) step (1, 1) {{"));
        self.line(&format!("{old} = memref.load {memory}[] : memref<i32>\n{at} = arith.index_cast {j} : index to i32"));
        self.line(&format!("{twice} = arith.addi {old}, {old} : i32\n{new} = arith.addi {twice}, {at} : i32"));
        self.line(&format!("memref.store {new}, {memory}[] : memref<i32>\n}}"));
        self.line(&format!("{name} = memref.load {memory}[] : memref<i32>"));
        self.values.push(name);
    }

    /// A region's statements after new values, and a terminator that hands the last value on.
    fn inside(&mut self, new: &[String], body: &[Statement], terminator: &str) {
        let outside = self.values.len();
        self.values.extend(new.iter().cloned());
        let last = self.block(body);
        self.values.truncate(outside);
        self.line(&format!("{terminator} {last} : i32\n}}"));
    }

    /// Chooses by the last bits of a value, so that cases are met.
    fn write_switch(&mut self, on: usize, cases: &[(u8, Vec<Statement>)], default: &[Statement]) {
        let (on, seven) = (self.pick(on), self.constant(7));
        let [name, bits, number] = std::array::from_fn(|_| self.name());
        self.line(&format!(
            "{bits} = arith.andi {on}, {seven} : i32\n{number} = arith.index_cast {bits} : i32 to index"
        ));
        self.line(&format!("{name} = scf.index_switch {number} -> i32"));
        let mut seen = Vec::new();
        for (case, body) in cases {
            if !seen.contains(case) {
                seen.push(*case);
                self.line(&format!("case {case} {{"));
                self.inside(&[], body, "scf.yield");
            }
        }
        self.line("default {");
        self.inside(&[], default, "scf.yield");
        self.values.push(name);
    }

    /// Counts in a second carried value, so that it ends.
    fn write_while(&mut self, trips: u8, carried: usize, bare: bool, body: &[Statement]) {
        let (zero, one, trips, init) = (self.constant(0), self.constant(1), self.constant(trips), self.pick(carried));
        let [name, a, n, m, go, b, k] = std::array::from_fn(|_| self.name());
        self.line(&format!("{name}:2 = scf.while ({a} = {init}, {n} = {zero}) : (i32, i32) -> (i32, i32) {{"));
        let outside = self.values.len();
        self.values.extend([a.clone(), n.clone()]);
        let passed = if bare { self.block(body) } else { a };
        self.values.truncate(outside);
        self.line(&format!("{m} = arith.addi {n}, {one} : i32\n{go} = arith.cmpi slt, {n}, {trips} : i32"));
        self.line(&format!("scf.condition({go}) {passed}, {m} : i32, i32\n}} do {{\n^bb0({b}: i32, {k}: i32):"));
        self.values.extend([b.clone(), k.clone()]);
        let last = if bare { b } else { self.block(body) };
        self.values.truncate(outside);
        self.line(&format!("scf.yield {last}, {k} : i32, i32\n}}"));
        self.values.push(format!("{name}#0"));
    }
}

fn program(statements: &[Statement]) -> String {
    let mut writer = Writer {
        text: "func.func @main(%x: i32, %y: i32) -> i32 {\n".to_string(),
        next: 0,
        values: vec!["%x".to_string(), "%y".to_string()],
    };
    let last = writer.block(statements);
    writer.line(&format!("return {last} : i32\n}}"));
    writer.text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn blocks_mean_the_same(statements in statements()) {
        let (cx, text) = (context(), program(&statements));
        let before = parse_text(&cx, "main.mlir", &text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let mut after = copy(&cx, &before);
        run(&cx, &mut after, "builtin.module(func.func(convert-scf-to-cf))").unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        prop_assert!(!crate::testing::text(&cx, &after).contains("scf."));
        agree(&cx, (&before, &after), &[], Tolerance::EXACT, &text);
    }
}
