//! Random programs of calls, conditions and loops over tensors of integers, which wrap: all implementations agree on every bit.

use std::fmt::Write as _;

use sutura_interp::Random;

/// Symbols of the program's own sizes.
pub(crate) const SYMBOLS: usize = 2;
/// Sizes that symbols have in runs.
const SIZES: [i64; 8] = [0, 1, 2, 3, 7, 33, 64, 300];
/// Runs of a program, at sizes of their own.
pub(crate) const RUNS: usize = 4;
/// How far conditions and loops lie in each other.
const DEEPEST: usize = 3;

/// What a value is: a tensor of numbers whose size is this symbol's, or one that data decide, one number, or a truth value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    List(usize),
    Varied,
    Number,
    Truth,
}

impl Kind {
    /// The type in a function whose symbols have these names.
    fn ty(self, symbols: &[&str]) -> String {
        match self {
            Self::List(symbol) => format!("tensor<?xi32, #dyn.shape<[{}]>>", symbols[symbol]),
            Self::Varied => "tensor<?xi32>".to_owned(),
            Self::Number => "tensor<i32>".to_owned(),
            Self::Truth => "tensor<i1>".to_owned(),
        }
    }
}

/// A program, with what it takes and how often each form is in it.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) inputs: Vec<Kind>,
    /// Sizes of symbols, run by run.
    pub(crate) sizes: [[i64; SYMBOLS]; RUNS],
    pub(crate) forms: Vec<&'static str>,
}

/// A function that others call: one symbol, a list and a number in, and these out.
struct Function {
    name: String,
    results: Vec<Kind>,
}

#[derive(Clone)]
struct Variable {
    name: String,
    kind: Kind,
}

/// One function while it grows.
struct Writer<'r> {
    random: &'r mut Random,
    symbols: Vec<&'static str>,
    functions: &'r [Function],
    forms: &'r mut Vec<&'static str>,
    next: usize,
    /// Ops that may still be written.
    left: usize,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (mut text, mut functions, mut forms) = (String::new(), Vec::new(), Vec::new());
    for i in 0..random.range(0, 3) {
        let (name, takes) = (format!("f{i}"), [Kind::List(0), Kind::Number]);
        let results = {
            let mut writer = Writer {
                random: &mut random,
                symbols: vec!["N"],
                functions: &functions,
                forms: &mut forms,
                next: 0,
                left: 10,
            };
            writer.function(&mut text, &format!("private @{name}"), &takes, 1)
        };
        functions.push(Function { name, results });
    }
    let inputs = vec![Kind::List(0), Kind::List(1), Kind::List(0), Kind::Number, Kind::Number, Kind::Truth];
    let mut writer = Writer {
        random: &mut random,
        symbols: vec!["S0", "S1"],
        functions: &functions,
        forms: &mut forms,
        next: 0,
        left: 28,
    };
    writer.function(&mut text, "@main", &inputs, 3);
    let size = |random: &mut Random| SIZES[random.range(0, SIZES.len() as i64 - 1) as usize];
    let sizes = [(); RUNS].map(|()| [(); SYMBOLS].map(|()| size(&mut random)));
    Program { text, inputs, sizes, forms }
}

impl Writer<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.random.range(0, count as i64 - 1) as usize
    }

    fn fresh(&mut self, kind: Kind) -> Variable {
        self.next += 1;
        Variable { name: format!("%v{}", self.next), kind }
    }

    fn ty(&self, kind: Kind) -> String {
        kind.ty(&self.symbols)
    }

    fn types(&self, kinds: impl IntoIterator<Item = Kind>) -> String {
        kinds.into_iter().map(|kind| self.ty(kind)).collect::<Vec<_>>().join(", ")
    }

    /// Some kind, numbers and lists more often.
    fn kind(&mut self) -> Kind {
        match self.below(7) {
            0 => Kind::Truth,
            1 | 2 => Kind::Number,
            3 | 4 => Kind::Varied,
            _ => Kind::List(self.below(self.symbols.len())),
        }
    }

    /// A kind of which two values have one size.
    fn alike(&mut self) -> Kind {
        match self.kind() {
            Kind::Varied => Kind::Number,
            kind => kind,
        }
    }

    fn kinds(&mut self, most: usize) -> Vec<Kind> {
        (0..1 + self.below(most)).map(|_| self.kind()).collect()
    }

    /// One of the variables of a kind, of which there is one for each.
    fn pick(&mut self, scope: &[Variable], kind: Kind) -> String {
        let of_kind: Vec<&Variable> = scope.iter().filter(|variable| variable.kind == kind).collect();
        // Later ones more often.
        let at = self.below(of_kind.len()).max(self.below(of_kind.len()));
        of_kind[at].name.clone()
    }

    /// Writes a function and returns what it gives: at least so many things.
    fn function(&mut self, text: &mut String, name: &str, takes: &[Kind], results: usize) -> Vec<Kind> {
        let mut scope: Vec<Variable> = takes.iter().map(|kind| self.fresh(*kind)).collect();
        let args: Vec<String> = scope.iter().map(|v| format!("{}: {}", v.name, self.ty(v.kind))).collect();
        let mut body = String::new();
        self.first_of_each(&mut scope, &mut body);
        while self.left > 0 {
            self.step(&mut scope, &mut body, 0);
        }
        let kinds: Vec<Kind> = (0..results + self.below(3)).map(|_| self.kind()).collect();
        let given: Vec<String> = kinds.iter().map(|kind| self.pick(&scope, *kind)).collect();
        let types = self.types(kinds.iter().copied());
        let _ = writeln!(text, "func.func {name}({}) -> ({types}) {{", args.join(", "));
        text.push_str(&body);
        let _ = writeln!(text, "return {} : {types}\n}}\n", given.join(", "));
        kinds
    }

    /// A variable of every kind, so that one can be picked.
    fn first_of_each(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let numbers = ["7", "-3"].map(|value| {
            let made = self.fresh(Kind::Number);
            let _ = writeln!(body, "{} = graph.constant dense<{value}> : tensor<i32>", made.name);
            made
        });
        scope.extend(numbers);
        let truth = self.compare(scope);
        body.push_str(&truth.1);
        scope.push(truth.0);
        let list = Kind::List(self.below(self.symbols.len()));
        let (ty, made) = (self.ty(list), self.fresh(Kind::Varied));
        let list = self.pick(scope, list);
        let _ = writeln!(body, "{} = tensor.cast {list} : {ty} to tensor<?xi32>", made.name);
        scope.push(made);
    }

    fn compare(&mut self, scope: &[Variable]) -> (Variable, String) {
        let (a, b) = (self.pick(scope, Kind::Number), self.pick(scope, Kind::Number));
        let made = self.fresh(Kind::Truth);
        let predicate = ["slt", "eq", "sge", "ult"][self.below(4)];
        let text = compute(
            &made.name,
            &[(&a, "tensor<i32>", "() -> ()"), (&b, "tensor<i32>", "() -> ()")],
            "tensor<i1>",
            "",
            "",
            &[format!("%r = arith.cmpi {predicate}, %e0, %e1 : i32"), "graph.yield %r : i1".to_owned()],
        );
        (made, text)
    }

    /// Writes one thing; `depth` conditions and loops are around it.
    fn step(&mut self, scope: &mut Vec<Variable>, body: &mut String, depth: usize) {
        self.left = self.left.saturating_sub(1);
        let deep = depth >= DEEPEST || self.left < 2;
        match self.below(19) {
            0..=2 => self.elementwise(scope, body),
            3 | 4 => self.reduce(scope, body),
            5 => {
                let (made, text) = self.compare(scope);
                body.push_str(&text);
                scope.push(made);
            }
            6 => self.tensors(scope, body),
            7 => self.select(scope, body),
            8 => self.places(scope, body),
            17 | 18 => self.compress(scope, body),
            9 | 10 if !self.functions.is_empty() => self.call(scope, body),
            11 | 12 if !deep => self.condition(scope, body, depth),
            13 | 14 if !deep => self.repeat_while(scope, body, depth),
            15 if !deep => self.repeat_for(scope, body, depth),
            _ => self.elementwise(scope, body),
        }
    }

    /// `graph.compute` of a list, and a list or a number.
    fn elementwise(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let kind = match self.below(6) {
            0 => Kind::Number,
            1 | 2 => Kind::Varied,
            _ => Kind::List(self.below(self.symbols.len())),
        };
        let other = if kind == Kind::Varied || self.below(3) == 0 { Kind::Number } else { kind };
        let (a, b) = (self.pick(scope, kind), self.pick(scope, other));
        let made = self.fresh(kind);
        let op = ["addi", "subi", "muli", "xori", "maxsi", "minsi"][self.below(6)];
        let (dims, iterators) = if kind == Kind::Number { ("", "") } else { ("d0", "parallel") };
        let map = |kind| if kind == Kind::Number { format!("({dims}) -> ()") } else { "(d0) -> (d0)".to_owned() };
        let (ty, other_ty) = (self.ty(kind), self.ty(other));
        let inputs = [(&a[..], &ty[..], &map(kind)[..]), (&b, &other_ty, &map(other))];
        let lines = [format!("%r = arith.{op} %e0, %e1 : i32"), "graph.yield %r : i32".to_owned()];
        body.push_str(&compute(&made.name, &inputs, &ty, &map(kind), iterators, &lines));
        scope.push(made);
    }

    /// The sum of a list.
    fn reduce(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let kind = if self.below(3) == 0 { Kind::Varied } else { Kind::List(self.below(self.symbols.len())) };
        let (list, ty) = (self.pick(scope, kind), self.ty(kind));
        let made = self.fresh(Kind::Number);
        body.push_str(&sum(&made.name, &list, &ty, 1, "i32"));
        scope.push(made);
    }

    /// An op of whole tensors.
    fn tensors(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let kind = if self.below(3) == 0 { Kind::Number } else { Kind::List(self.below(self.symbols.len())) };
        let (a, b, ty) = (self.pick(scope, kind), self.pick(scope, kind), self.ty(kind));
        let made = self.fresh(kind);
        let op = ["addi", "subi", "andi"][self.below(3)];
        self.forms.push("tensors");
        let _ = writeln!(body, "{} = arith.{op} {a}, {b} : {ty}", made.name);
        scope.push(made);
    }

    fn select(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let kind = self.alike();
        let (c, a, b) = (self.pick(scope, Kind::Truth), self.pick(scope, kind), self.pick(scope, kind));
        let (made, ty) = (self.fresh(kind), self.ty(kind));
        self.forms.push("select");
        let _ = writeln!(body, "{0}_c = tensor.extract {c}[] : tensor<i1>", made.name);
        let _ = writeln!(body, "{0} = arith.select {0}_c, {a}, {b} : {ty}", made.name);
        scope.push(made);
    }

    /// Where a list is not zero, of a size that data decide, summed.
    fn places(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let kind = Kind::List(self.below(self.symbols.len()));
        let (list, ty) = (self.pick(scope, kind), self.ty(kind));
        let made = self.fresh(Kind::Number);
        self.forms.push("decided");
        let name = &made.name;
        let places = format!("tensor<1x?xi64, #dyn.shape<[1, K{}]>>", self.next);
        let _ = writeln!(body, "{name}_p = graph.non_zero {list} : {ty} -> {places}");
        body.push_str(&sum(&format!("{name}_s"), &format!("{name}_p"), &places, 2, "i64"));
        let lines = ["%r = arith.trunci %e0 : i64 to i32".to_owned(), "graph.yield %r : i32".to_owned()];
        let inputs = [(&format!("{name}_s")[..], "tensor<i64>", "() -> ()")];
        body.push_str(&compute(name, &inputs, "tensor<i32>", "() -> ()", "", &lines));
        scope.push(made);
    }

    /// Where a list is not zero, as a list of a size that data decide.
    fn compress(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let kind = if self.below(2) == 0 { Kind::Varied } else { Kind::List(self.below(self.symbols.len())) };
        let (list, ty) = (self.pick(scope, kind), self.ty(kind));
        let made = self.fresh(Kind::Varied);
        self.forms.push("varied");
        let name = &made.name;
        let _ = writeln!(body, "{name}_p = graph.non_zero {list} : {ty} -> tensor<1x?xi64>");
        let _ = writeln!(body, "{name}_f = graph.reshape {name}_p : tensor<1x?xi64> -> tensor<?xi64>");
        let lines = ["%r = arith.trunci %e0 : i64 to i32".to_owned(), "graph.yield %r : i32".to_owned()];
        let inputs = [(&format!("{name}_f")[..], "tensor<?xi64>", "(d0) -> (d0)")];
        body.push_str(&compute(name, &inputs, "tensor<?xi32>", "(d0) -> (d0)", "parallel", &lines));
        scope.push(made);
    }

    fn call(&mut self, scope: &mut Vec<Variable>, body: &mut String) {
        let (at, symbol) = (self.below(self.functions.len()), self.below(self.symbols.len()));
        let function = &self.functions[at];
        let (name, results) = (function.name.clone(), function.results.clone());
        // The one symbol of the function stands for this one.
        let here = |kind: &Kind| if matches!(kind, Kind::List(_)) { Kind::List(symbol) } else { *kind };
        let kinds: Vec<Kind> = results.iter().map(here).collect();
        let (list, number) = (self.pick(scope, Kind::List(symbol)), self.pick(scope, Kind::Number));
        let made: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        self.forms.push("call");
        let (ty, types) = (self.ty(Kind::List(symbol)), self.types(kinds));
        let _ =
            writeln!(body, "{} = func.call @{name}({list}, {number}) : ({ty}, tensor<i32>) -> ({types})", names(&made));
        scope.extend(made);
    }

    fn condition(&mut self, scope: &mut Vec<Variable>, body: &mut String, depth: usize) {
        let kinds = self.kinds(3);
        let made: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        let (c, types) = (self.pick(scope, Kind::Truth), self.types(kinds.iter().copied()));
        self.forms.push("if");
        let flag = format!("{}_c", made[0].name);
        let _ = writeln!(body, "{flag} = tensor.extract {c}[] : tensor<i1>");
        let _ = writeln!(body, "{} = scf.if {flag} -> ({types}) {{", names(&made));
        for side in 0..2 {
            let mut inside = scope.clone();
            // Some sides do nothing.
            for _ in 0..self.below(4) {
                self.step(&mut inside, body, depth + 1);
            }
            let given: Vec<String> = kinds.iter().map(|kind| self.pick(&inside, *kind)).collect();
            let _ = writeln!(body, "scf.yield {} : {types}", given.join(", "));
            let _ = writeln!(body, "{}", if side == 0 { "} else {" } else { "}" });
        }
        scope.extend(made);
    }

    /// A loop that a counter, and at times a truth value that it carries, ends.
    fn repeat_while(&mut self, scope: &mut Vec<Variable>, body: &mut String, depth: usize) {
        let mut kinds = vec![Kind::Number];
        kinds.extend(self.kinds(4));
        self.forms.push("while");
        let (types, most) = (self.types(kinds.iter().copied()), self.below(6));
        let start = self.fresh(Kind::Number);
        let _ = writeln!(body, "{} = graph.constant dense<0> : tensor<i32>", start.name);
        let mut inits = vec![start.name];
        inits.extend(kinds[1..].iter().map(|kind| self.pick(scope, *kind)));
        let results: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        let before: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        let given: Vec<String> =
            before.iter().zip(&inits).map(|(arg, init)| format!("{} = {init}", arg.name)).collect();
        let _ = writeln!(body, "{} = scf.while ({}) : ({types}) -> ({types}) {{", names(&results), given.join(", "));
        let mut inside = scope.clone();
        inside.extend(before.clone());
        for _ in 0..self.below(2) {
            self.step(&mut inside, body, depth + 1);
        }
        let goes_on = self.fresh(Kind::Truth).name;
        let mut inputs = vec![(before[0].name.clone(), "tensor<i32>")];
        let mut lines =
            vec![format!("%most = arith.constant {most} : i32"), "%l = arith.cmpi slt, %e0, %most : i32".to_owned()];
        if self.below(3) == 0 {
            inputs.push((self.pick(&inside, Kind::Truth), "tensor<i1>"));
            lines.extend(["%r = arith.andi %l, %e1 : i1".to_owned(), "graph.yield %r : i1".to_owned()]);
        } else {
            lines.push("graph.yield %l : i1".to_owned());
        }
        let inputs: Vec<(&str, &str, &str)> = inputs.iter().map(|(name, ty)| (&name[..], *ty, "() -> ()")).collect();
        body.push_str(&compute(&goes_on, &inputs, "tensor<i1>", "() -> ()", "", &lines));
        let _ = writeln!(body, "{goes_on}_c = tensor.extract {goes_on}[] : tensor<i1>");
        // The counter stays what it is; others may be anything.
        let mut handed = vec![before[0].name.clone()];
        handed.extend(kinds[1..].iter().map(|kind| self.pick(&inside, *kind)));
        let _ = writeln!(body, "scf.condition({goes_on}_c) {} : {types}\n}} do {{", handed.join(", "));
        let args: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        let list: Vec<String> = args.iter().map(|arg| format!("{}: {}", arg.name, self.ty(arg.kind))).collect();
        let _ = writeln!(body, "^bb0({}):", list.join(", "));
        let mut inside = scope.clone();
        inside.extend(args.clone());
        for _ in 0..self.below(4) {
            self.step(&mut inside, body, depth + 1);
        }
        let counter = self.fresh(Kind::Number).name;
        let lines = ["%one = arith.constant 1 : i32", "%r = arith.addi %e0, %one : i32", "graph.yield %r : i32"];
        let inputs = [(&args[0].name[..], "tensor<i32>", "() -> ()")];
        body.push_str(&compute(&counter, &inputs, "tensor<i32>", "() -> ()", "", &lines.map(str::to_owned)));
        let mut handed = vec![counter];
        handed.extend(kinds[1..].iter().map(|kind| self.pick(&inside, *kind)));
        let _ = writeln!(body, "scf.yield {} : {types}\n}}", handed.join(", "));
        scope.extend(results);
    }

    /// A counted loop, whose bound is a constant or comes from data.
    fn repeat_for(&mut self, scope: &mut Vec<Variable>, body: &mut String, depth: usize) {
        let kinds = self.kinds(3);
        self.forms.push("for");
        let types = self.types(kinds.iter().copied());
        let inits: Vec<String> = kinds.iter().map(|kind| self.pick(scope, *kind)).collect();
        let results: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        let args: Vec<Variable> = kinds.iter().map(|kind| self.fresh(*kind)).collect();
        let name = results[0].name.clone();
        let _ = writeln!(body, "{name}_from = arith.constant {} : index", self.below(3));
        let _ = writeln!(body, "{name}_by = arith.constant {} : index", 1 + self.below(2));
        if self.below(2) == 0 {
            let _ = writeln!(body, "{name}_to = arith.constant {} : index", self.below(6));
        } else {
            let number = self.pick(scope, Kind::Number);
            let _ = writeln!(body, "{name}_n = tensor.extract {number}[] : tensor<i32>");
            let _ = writeln!(body, "{name}_m = arith.constant 3 : i32\n{name}_a = arith.andi {name}_n, {name}_m : i32");
            let _ = writeln!(body, "{name}_to = arith.index_cast {name}_a : i32 to index");
        }
        let given: Vec<String> = args.iter().zip(&inits).map(|(arg, init)| format!("{} = {init}", arg.name)).collect();
        let _ = writeln!(
            body,
            "{} = scf.for {name}_i = {name}_from to {name}_to step {name}_by iter_args({}) -> ({types}) {{",
            names(&results),
            given.join(", ")
        );
        let mut inside = scope.clone();
        inside.extend(args);
        for _ in 0..1 + self.below(3) {
            self.step(&mut inside, body, depth + 1);
        }
        let handed: Vec<String> = kinds.iter().map(|kind| self.pick(&inside, *kind)).collect();
        let _ = writeln!(body, "scf.yield {} : {types}\n}}", handed.join(", "));
        scope.extend(results);
    }
}

fn names(variables: &[Variable]) -> String {
    variables.iter().map(|variable| variable.name.clone()).collect::<Vec<_>>().join(", ")
}

/// A `graph.compute` of inputs with types and maps; `lines` compute with `%e0` and so on.
fn compute(
    name: &str,
    inputs: &[(&str, &str, &str)],
    ty: &str,
    map: &str,
    iterators: &str,
    lines: &[String],
) -> String {
    let map = if map.is_empty() { "() -> ()" } else { map };
    let list = |part: &dyn Fn(&(&str, &str, &str)) -> String| inputs.iter().map(part).collect::<Vec<_>>().join(", ");
    let (values, types) = (list(&|(value, ..)| (*value).to_owned()), list(&|(_, ty, _)| (*ty).to_owned()));
    let maps = list(&|(.., map)| format!("affine_map<{map}>"));
    let elem = |ty: &str| {
        if ty.contains("i1>") {
            "i1"
        } else if ty.contains("i64") {
            "i64"
        } else {
            "i32"
        }
    };
    let args: Vec<String> = inputs.iter().enumerate().map(|(i, (_, ty, _))| format!("%e{i}: {}", elem(ty))).collect();
    format!(
        "{name} = graph.compute ins({values} : {types}) -> {ty} {{\niterators = #graph.iterators<[{iterators}]>, \
         maps = [{maps}, affine_map<{map}>]\n}} {{\n^bb0({}):\n{}\n}}\n",
        args.join(", "),
        lines.join("\n")
    )
}

/// The sum of a tensor of this rank.
fn sum(name: &str, value: &str, ty: &str, rank: usize, elem: &str) -> String {
    let dims: Vec<String> = (0..rank).map(|i| format!("d{i}")).collect();
    let (dims, iterators) = (dims.join(", "), vec!["reduce"; rank].join(", "));
    format!(
        "{name} = graph.compute ins({value} : {ty}) -> tensor<{elem}> {{\niterators = #graph.iterators<[{iterators}]>, \
         combiners = #graph.combiners<[add]>, maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ()>]\n}} {{\n\
         ^bb0(%e0: {elem}):\ngraph.yield %e0 : {elem}\n}}\n"
    )
}
