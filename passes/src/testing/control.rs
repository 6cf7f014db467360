//! Random programs with control flow of all kinds, calls and memory, as text.

use std::fmt::Write;

/// A small generator of numbers; the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }
}

/// What can be used at a place.
#[derive(Clone)]
struct Scope {
    numbers: Vec<String>,
    conditions: Vec<String>,
    /// Initialized memory of one number.
    cells: Vec<String>,
}

struct Writer {
    dice: Dice,
    out: String,
    names: usize,
    /// Functions that may be called: those before this one.
    callable: usize,
    budget: usize,
}

/// A module with `functions` private functions and `main`, which take two numbers, a condition and memory, and return
/// two numbers. Nothing is undefined, and everything ends.
pub(crate) fn module_text(seed: u64, functions: usize, size: usize) -> String {
    let mut writer = Writer { dice: Dice(seed), out: String::new(), names: 0, callable: 0, budget: 0 };
    for index in 0..functions {
        writer.budget = size;
        writer.callable = index;
        writer.function(&format!("private @f{index}"));
    }
    writer.budget = 2 * size;
    writer.callable = functions;
    writer.function("@main");
    writer.out
}

impl Writer {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn block(&mut self) -> String {
        self.names += 1;
        format!("^b{}", self.names)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn number(&mut self, scope: &Scope) -> String {
        scope.numbers[self.dice.roll(scope.numbers.len())].clone()
    }

    fn condition(&mut self, scope: &Scope) -> String {
        scope.conditions[self.dice.roll(scope.conditions.len())].clone()
    }

    fn function(&mut self, head: &str) {
        let _ = writeln!(self.out, "func.func {head}(%x: i32, %y: i32, %c: i1, %m: memref<4xi32>) -> (i32, i32) {{");
        let mut scope =
            Scope { numbers: vec!["%x".into(), "%y".into()], conditions: vec!["%c".into()], cells: Vec::new() };
        while self.budget > 0 {
            match self.dice.roll(6) {
                0 => self.diamond(&mut scope),
                1 => self.block_loop(&mut scope),
                _ => self.statement(&mut scope, 3),
            }
        }
        let (a, b) = (self.number(&scope), self.number(&scope));
        self.line(&format!("return {a}, {b} : i32, i32"));
        self.out.push_str("}\n");
    }

    fn statements(&mut self, scope: &mut Scope, depth: usize) {
        for _ in 0..1 + self.dice.roll(3) {
            self.statement(scope, depth);
        }
    }

    fn statement(&mut self, scope: &mut Scope, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        match self.dice.roll(16) {
            0 | 1 => {
                let (name, value) = (self.name(), [0, 1, 2, -1, 7, 1 << 20][self.dice.roll(6)]);
                self.line(&format!("{name} = arith.constant {value} : i32"));
                scope.numbers.push(name);
            }
            2 => {
                let (name, value) = (self.name(), self.dice.roll(2) == 0);
                self.line(&format!("{name} = arith.constant {value}"));
                scope.conditions.push(name);
            }
            3 => {
                let (name, a, b) = (self.name(), self.number(scope), self.number(scope));
                let predicate = ["eq", "slt", "ult", "sge"][self.dice.roll(4)];
                self.line(&format!("{name} = arith.cmpi {predicate}, {a}, {b} : i32"));
                scope.conditions.push(name);
            }
            4 => {
                let (name, c, a, b) = (self.name(), self.condition(scope), self.number(scope), self.number(scope));
                self.line(&format!("{name} = arith.select {c}, {a}, {b} : i32"));
                scope.numbers.push(name);
            }
            5 => self.division(scope),
            6 => self.new_cell(scope),
            7 | 8 => self.cell_access(scope),
            9 => self.memory_access(scope),
            10 if self.callable > 0 => {
                let (name, callee) = (self.name(), self.dice.roll(self.callable));
                let (a, b, c) = (self.number(scope), self.number(scope), self.condition(scope));
                let ty = "(i32, i32, i1, memref<4xi32>) -> (i32, i32)";
                self.line(&format!("{name}:2 = call @f{callee}({a}, {b}, {c}, %m) : {ty}"));
                scope.numbers.extend([format!("{name}#0"), format!("{name}#1")]);
            }
            11 | 12 if depth > 0 => self.conditional(scope, depth - 1),
            13 if depth > 0 => self.counted_loop(scope, depth - 1),
            14 if depth > 0 => self.while_loop(scope, depth - 1),
            _ => {
                let (name, a, b) = (self.name(), self.number(scope), self.number(scope));
                let op = ["addi", "subi", "muli", "andi", "xori", "maxsi", "minui"][self.dice.roll(7)];
                self.line(&format!("{name} = arith.{op} {a}, {b} : i32"));
                scope.numbers.push(name);
            }
        }
    }

    /// The divisor is odd, so not zero.
    fn division(&mut self, scope: &mut Scope) {
        let (one, odd, name) = (self.name(), self.name(), self.name());
        let (a, b) = (self.number(scope), self.number(scope));
        self.line(&format!("{one} = arith.constant 1 : i32"));
        self.line(&format!("{odd} = arith.ori {b}, {one} : i32"));
        self.line(&format!("{name} = arith.divui {a}, {odd} : i32"));
        scope.numbers.push(name);
    }

    fn new_cell(&mut self, scope: &mut Scope) {
        let (cell, value) = (self.name(), self.number(scope));
        self.line(&format!("{cell} = memref.alloca() : memref<i32>"));
        self.line(&format!("memref.store {value}, {cell}[] : memref<i32>"));
        scope.cells.push(cell);
    }

    fn cell_access(&mut self, scope: &mut Scope) {
        if scope.cells.is_empty() {
            return self.new_cell(scope);
        }
        let cell = scope.cells[self.dice.roll(scope.cells.len())].clone();
        if self.dice.roll(2) == 0 {
            let value = self.number(scope);
            self.line(&format!("memref.store {value}, {cell}[] : memref<i32>"));
        } else {
            let name = self.name();
            self.line(&format!("{name} = memref.load {cell}[] : memref<i32>"));
            scope.numbers.push(name);
        }
    }

    fn memory_access(&mut self, scope: &mut Scope) {
        let (index, at) = (self.name(), self.dice.roll(4));
        self.line(&format!("{index} = arith.constant {at} : index"));
        if self.dice.roll(2) == 0 {
            let value = self.number(scope);
            self.line(&format!("memref.store {value}, %m[{index}] : memref<4xi32>"));
        } else {
            let name = self.name();
            self.line(&format!("{name} = memref.load %m[{index}] : memref<4xi32>"));
            scope.numbers.push(name);
        }
    }

    // ---- regions

    fn conditional(&mut self, scope: &mut Scope, depth: usize) {
        let (name, c) = (self.name(), self.condition(scope));
        self.line(&format!("{name} = scf.if {c} -> (i32) {{"));
        self.yielding(scope.clone(), depth);
        self.line("} else {");
        self.yielding(scope.clone(), depth);
        self.line("}");
        scope.numbers.push(name);
    }

    fn yielding(&mut self, mut scope: Scope, depth: usize) {
        self.statements(&mut scope, depth);
        let value = self.number(&scope);
        self.line(&format!("scf.yield {value} : i32"));
    }

    /// Runs 0 to 3 times.
    fn counted_loop(&mut self, scope: &mut Scope, depth: usize) {
        let [zero, one, end, name, i, a, b] = [(); 7].map(|()| self.name());
        let trips = self.dice.roll(4);
        self.line(&format!("{zero} = arith.constant 0 : index"));
        self.line(&format!("{one} = arith.constant 1 : index"));
        if self.dice.roll(2) == 0 {
            self.line(&format!("{end} = arith.constant {trips} : index"));
        } else {
            let (c, some) = (self.condition(scope), self.name());
            self.line(&format!("{some} = arith.constant {trips} : index"));
            self.line(&format!("{end} = arith.select {c}, {some}, {one} : index"));
        }
        let (p, q) = (self.number(scope), self.number(scope));
        self.line(&format!(
            "{name}:2 = scf.for {i} = {zero} to {end} step {one} iter_args({a} = {p}, {b} = {q}) -> (i32, i32) {{"
        ));
        let mut inside = scope.clone();
        inside.numbers.extend([a, b]);
        self.statements(&mut inside, depth);
        let (p, q) = (self.number(&inside), self.number(&inside));
        self.line(&format!("scf.yield {p}, {q} : i32, i32"));
        self.line("}");
        scope.numbers.extend([format!("{name}#0"), format!("{name}#1")]);
    }

    /// Counts to at most 3, and may end earlier.
    fn while_loop(&mut self, scope: &mut Scope, depth: usize) {
        let [zero, three, one, name, i, a, go, j, b, next] = [(); 10].map(|()| self.name());
        self.line(&format!("{zero} = arith.constant 0 : i32"));
        self.line(&format!("{one} = arith.constant 1 : i32"));
        self.line(&format!("{three} = arith.constant 3 : i32"));
        let start = self.number(scope);
        self.line(&format!("{name}:2 = scf.while ({i} = {zero}, {a} = {start}) : (i32, i32) -> (i32, i32) {{"));
        let mut inside = scope.clone();
        inside.numbers.extend([i.clone(), a]);
        self.statements(&mut inside, depth);
        self.line(&format!("{go} = arith.cmpi slt, {i}, {three} : i32"));
        let (both, c, value) = (self.name(), self.condition(&inside), self.number(&inside));
        self.line(&format!("{both} = arith.andi {go}, {c} : i1"));
        self.line(&format!("scf.condition({both}) {i}, {value} : i32, i32"));
        self.line("} do {");
        self.line(&format!("^bb0({j}: i32, {b}: i32):"));
        let mut inside = scope.clone();
        inside.numbers.extend([j.clone(), b]);
        self.statements(&mut inside, depth);
        self.line(&format!("{next} = arith.addi {j}, {one} : i32"));
        let value = self.number(&inside);
        self.line(&format!("scf.yield {next}, {value} : i32, i32"));
        self.line("}");
        scope.numbers.extend([format!("{name}#0"), format!("{name}#1")]);
    }

    // ---- blocks

    fn diamond(&mut self, scope: &mut Scope) {
        let [yes, no, end] = [(); 3].map(|()| self.block());
        let (c, arg, result, value) = (self.condition(scope), self.name(), self.name(), self.number(scope));
        if self.dice.roll(3) == 0 {
            // One side is the end itself.
            self.line(&format!("cf.cond_br {c}, {yes}({value} : i32), {end}({value} : i32)"));
        } else {
            self.line(&format!("cf.cond_br {c}, {yes}({value} : i32), {no}"));
            self.line(&format!("{no}:"));
            let mut inside = scope.clone();
            self.statements(&mut inside, 1);
            let value = self.number(&inside);
            self.line(&format!("cf.br {end}({value} : i32)"));
        }
        self.line(&format!("{yes}({arg}: i32):"));
        let mut inside = scope.clone();
        inside.numbers.push(arg);
        self.statements(&mut inside, 1);
        let value = self.number(&inside);
        self.line(&format!("cf.br {end}({value} : i32)"));
        self.line(&format!("{end}({result}: i32):"));
        scope.numbers.push(result);
    }

    /// Counts to 3 in blocks.
    fn block_loop(&mut self, scope: &mut Scope) {
        let [zero, one, three, i, a, next, go] = [(); 7].map(|()| self.name());
        let (head, end, start) = (self.block(), self.block(), self.number(scope));
        self.line(&format!("{zero} = arith.constant 0 : i32"));
        self.line(&format!("{one} = arith.constant 1 : i32"));
        self.line(&format!("{three} = arith.constant 3 : i32"));
        self.line(&format!("cf.br {head}({zero}, {start} : i32, i32)"));
        self.line(&format!("{head}({i}: i32, {a}: i32):"));
        scope.numbers.extend([i.clone(), a]);
        self.statements(scope, 1);
        self.line(&format!("{next} = arith.addi {i}, {one} : i32"));
        self.line(&format!("{go} = arith.cmpi ult, {next}, {three} : i32"));
        let value = self.number(scope);
        self.line(&format!("cf.cond_br {go}, {head}({next}, {value} : i32, i32), {end}"));
        self.line(&format!("{end}:"));
    }
}
