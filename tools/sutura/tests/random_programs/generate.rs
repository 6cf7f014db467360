//! Random programs: several independent ones side by side in one function, each over its own symbols, so that one compilation
//! serves many.

use std::fmt::Write as _;

use sutura_interp::Random;

use super::complex::is_complex;
use super::elements::{Elem, Kind};
use super::scalars::{Number, Scalars, limit, rounding};

/// Symbols of a part.
const SYMBOLS: usize = 3;
/// Sizes that symbols have in runs.
const SIZES: [i64; 10] = [1, 2, 3, 4, 7, 16, 17, 33, 64, 70];
/// Runs of a program, at sizes of their own.
pub(crate) const RUNS: usize = 3;

/// An input.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) elem: Elem,
    /// Numbers of symbols.
    pub(crate) dims: Vec<usize>,
    /// The symbol into whose range it points, if it has indices.
    pub(crate) indices_of: Option<usize>,
}

/// A program.
pub(crate) struct Program {
    pub(crate) text: String,
    pub(crate) inputs: Vec<Input>,
    /// How far each output may be from that of another right implementation.
    pub(crate) outputs: Vec<f64>,
    /// Sizes of symbols, run by run.
    pub(crate) sizes: [Vec<i64>; RUNS],
    /// Names of the forms in it.
    pub(crate) forms: Vec<&'static str>,
}

/// A tensor of a part.
#[derive(Clone, Debug)]
struct Tensor {
    name: String,
    elem: Elem,
    dims: Vec<usize>,
    bound: f64,
    error: f64,
}

/// A part that grows.
struct Part<'r> {
    random: &'r mut Random,
    program: &'r mut Program,
    /// Number of its first symbol.
    first: usize,
    body: String,
    tensors: Vec<Tensor>,
    outputs: Vec<(String, String)>,
}

/// A form: its name, and what adds one; false where nothing fits.
type Form = (&'static str, fn(&mut Part<'_>) -> bool);

const FORMS: [Form; 12] = [
    ("map", |part| part.map()),
    ("map", |part| part.map()),
    ("reduce", |part| part.reduce()),
    ("contract", |part| part.contract()),
    ("scan", |part| part.scan()),
    ("recurrence", |part| part.recurrence()),
    ("gather", |part| part.gather()),
    ("scatter", |part| part.scatter()),
    ("window", |part| part.window()),
    ("extreme", |part| part.extreme()),
    ("sort", |part| part.sort()),
    ("move", |part| part.move_elements()),
];

/// The program of a seed, of that many parts.
pub(crate) fn program(seed: u64, parts: usize) -> Program {
    let mut random = Random::new(seed);
    let mut program = Program {
        text: String::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        sizes: Default::default(),
        forms: Vec::new(),
    };
    let (mut bodies, mut outputs) = (String::new(), Vec::new());
    for _ in 0..parts {
        let (body, made) = part(&mut random, &mut program);
        bodies.push_str(&body);
        outputs.extend(made);
    }
    let input = |(i, input): (usize, &Input)| format!("%x{i}: {}", tensor_type(input.elem, &input.dims));
    let inputs: Vec<String> = program.inputs.iter().enumerate().map(input).collect();
    let names: Vec<&str> = outputs.iter().map(|(name, _)| &**name).collect();
    let types: Vec<&str> = outputs.iter().map(|(_, ty)| &**ty).collect();
    program.text = format!(
        "func.func @main({}) -> ({}) {{\n{bodies}  return {} : {}\n}}\n",
        inputs.join(", "),
        types.join(", "),
        names.join(", "),
        types.join(", ")
    );
    program
}

fn part(random: &mut Random, program: &mut Program) -> (String, Vec<(String, String)>) {
    let first = program.sizes[0].len();
    // A part without elements has nothing to index.
    let empty = random.range(0, 7) == 0;
    for run in 0..RUNS {
        for symbol in 0..SYMBOLS {
            let size = SIZES[random.range(0, SIZES.len() as i64 - 1) as usize];
            let size = if empty && run == 0 && symbol == 0 { 0 } else { size };
            program.sizes[run].push(size);
        }
    }
    let mut part = Part { random, program, first, body: String::new(), tensors: Vec::new(), outputs: Vec::new() };
    part.input();
    part.input();
    let wanted = part.below(3) + 2;
    let mut made = 0;
    for _ in 0..20 {
        let (name, add) = FORMS[part.below(FORMS.len())];
        let indexes = matches!(name, "gather" | "scatter");
        if !(empty && indexes) && add(&mut part) {
            part.program.forms.push(name);
            made += 1;
        }
        if made == wanted {
            break;
        }
    }
    let last = part.tensors.last().expect("there are inputs").clone();
    part.output(&last);
    (part.body, part.outputs)
}

/// Name of a symbol.
fn symbol(number: usize) -> String {
    format!("S{number}")
}

fn tensor_type(elem: Elem, dims: &[usize]) -> String {
    if dims.is_empty() {
        return format!("tensor<{}>", elem.name());
    }
    let names: Vec<String> = dims.iter().map(|dim| symbol(*dim)).collect();
    format!("tensor<{}{}, #dyn.shape<[{}]>>", "?x".repeat(dims.len()), elem.name(), names.join(", "))
}

impl Tensor {
    fn ty(&self) -> String {
        tensor_type(self.elem, &self.dims)
    }

    fn number(&self, name: &str) -> Number {
        Number { name: name.to_owned(), bound: self.bound, error: self.error }
    }
}

/// Where an iterator of each of `dims` stands among `all`.
fn map_of(dims: &[usize], all: &[usize]) -> String {
    let place = |dim: &usize| format!("d{}", all.iter().position(|d| d == dim).expect("it is one of them"));
    affine(all.len(), &dims.iter().map(place).collect::<Vec<_>>())
}

fn affine(iterators: usize, results: &[String]) -> String {
    let names: Vec<String> = (0..iterators).map(|i| format!("d{i}")).collect();
    format!("affine_map<({}) -> ({})>", names.join(", "), results.join(", "))
}

impl Part<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.random.range(0, count as i64 - 1) as usize
    }

    /// The largest size of a symbol in any run, at least 1.
    fn longest(&self, symbol: usize) -> f64 {
        self.program.sizes.iter().map(|sizes| sizes[symbol]).max().unwrap_or(1).max(1) as f64
    }

    fn elem(&mut self) -> Elem {
        let all = Elem::all();
        all[self.below(all.len())]
    }

    /// A type that numbers can be computed in.
    fn computable(&mut self) -> Elem {
        let all: Vec<Elem> = Elem::all().into_iter().filter(|elem| !elem.is_power()).collect();
        all[self.below(all.len())]
    }

    /// Some symbols of the part in some order.
    fn some_dims(&mut self, most: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (self.first..self.first + SYMBOLS).collect();
        let count = self.below(most + 1);
        (0..count).map(|_| left.remove(self.below(left.len()))).collect()
    }

    fn tensor(&mut self, fits: impl Fn(&Tensor) -> bool) -> Option<Tensor> {
        let found: Vec<&Tensor> = self.tensors.iter().filter(|t| fits(t)).collect();
        // What came last is taken most often, so that programs become deep.
        let back = self.random.range(0, 3).min(self.random.range(0, 3)) as usize;
        found.get(found.len().checked_sub(1 + back.min(found.len().saturating_sub(1)))?).map(|t| (*t).clone())
    }

    fn new_input(&mut self, elem: Elem, dims: Vec<usize>, indices_of: Option<usize>) -> Tensor {
        let name = format!("%x{}", self.program.inputs.len());
        let bound = if elem.is_power() { 8.0 } else { 2.0 * f64::from(elem.parts()).sqrt() };
        self.program.inputs.push(Input { elem, dims: dims.clone(), indices_of });
        Tensor { name, elem, dims, bound, error: 0.0 }
    }

    fn input(&mut self) {
        let (elem, dims) = (self.elem(), self.some_dims(SYMBOLS));
        let tensor = self.new_input(elem, dims, None);
        self.tensors.push(tensor);
    }

    fn output(&mut self, tensor: &Tensor) {
        self.outputs.push((tensor.name.clone(), tensor.ty()));
        self.program.outputs.push(if tensor.elem.rounds() { tensor.error } else { 0.0 });
    }

    /// A name for what is made next.
    fn name(&self) -> String {
        format!("%t{}_{}", self.first, self.tensors.len())
    }

    fn made(&mut self, name: String, elem: Elem, dims: Vec<usize>, (bound, error): (f64, f64)) -> bool {
        let tensor = Tensor { name, elem, dims, bound, error };
        if self.below(4) == 0 {
            self.output(&tensor);
        }
        self.tensors.push(tensor);
        true
    }

    /// One `graph.compute`. `function` writes what it yields.
    fn compute(
        &mut self,
        inputs: &[&Tensor],
        (elem, dims): (Elem, &[usize]),
        attributes: &str,
        function: impl FnOnce(&mut Scalars<'_>, Vec<Number>) -> Number,
    ) -> (String, Number) {
        let name = self.name();
        let numbers: Vec<Number> = inputs.iter().enumerate().map(|(i, t)| t.number(&format!("%e{i}"))).collect();
        let args: Vec<String> = inputs.iter().enumerate().map(|(i, t)| format!("%e{i}: {}", t.elem.scalar())).collect();
        let mut scalars = Scalars::new(self.random);
        let yielded = function(&mut scalars, numbers);
        let names: Vec<&str> = inputs.iter().map(|t| &*t.name).collect();
        let types: Vec<String> = inputs.iter().map(|t| t.ty()).collect();
        let _ = write!(
            self.body,
            "  {name} = graph.compute ins({} : {}) -> {} {{{attributes}}} {{\n  ^bb0({}):\n{}    graph.yield {} : {}\n  }}\n",
            names.join(", "),
            types.join(", "),
            tensor_type(elem, dims),
            args.join(", "),
            scalars.text,
            yielded.name,
            elem.scalar()
        );
        (name, yielded)
    }

    /// Element by element, of tensors that are broadcast and transposed, in a type of its own.
    fn map(&mut self) -> bool {
        let (elem, mut dims) = (self.computable(), self.some_dims(SYMBOLS));
        let among = dims.clone();
        let fits = |t: &Tensor| t.dims.iter().all(|dim| among.contains(dim));
        let Some(first) = self.tensor(fits) else { return false };
        let mut inputs = vec![first];
        for _ in 0..self.below(2) + 1 {
            inputs.extend(self.tensor(fits));
        }
        // Something must say how far an iterator runs.
        dims.retain(|dim| inputs.iter().any(|t| t.dims.contains(dim)));
        let inputs: Vec<&Tensor> = inputs.iter().collect();
        let mut maps: Vec<String> = inputs.iter().map(|t| map_of(&t.dims, &dims)).collect();
        maps.push(map_of(&dims, &dims));
        let kinds = vec!["parallel"; dims.len()].join(", ");
        let attributes = format!("iterators = #graph.iterators<[{kinds}]>, maps = [{}]", maps.join(", "));
        let elems: Vec<Elem> = inputs.iter().map(|t| t.elem).collect();
        let (name, number) = self.compute(&inputs, (elem, &dims), &attributes, |s, numbers| {
            let mut value: Option<Number> = None;
            for (number, from) in numbers.into_iter().zip(elems) {
                let Some(number) = s.convert(number, from, elem) else { continue };
                let number = s.change(number, elem);
                value = Some(match value {
                    None => number,
                    Some(value) => s.combine(value, number, elem),
                });
            }
            let value = value.unwrap_or_else(|| s.one(elem));
            if elem.rounds() { s.below(value, elem, limit(elem)) } else { value }
        });
        self.made(name, elem, dims, (number.bound, number.error))
    }

    /// A combiner for a type: its name, and whether it adds.
    fn combiner(&mut self, elem: Elem) -> &'static str {
        let known: &[&'static str] = match elem.kind() {
            Kind::Int { width: 1, .. } => &["and", "or"],
            Kind::Int { .. } => &["add", "mul", "max", "min", "and", "or"],
            Kind::Float(_) => &["add", "mul", "max", "min"],
            Kind::Complex(_) => &["add", "mul"],
        };
        known[self.below(known.len())]
    }

    /// Along some dims, by a combiner.
    fn reduce(&mut self) -> bool {
        let Some(x) = self.tensor(|t| !t.dims.is_empty() && !t.elem.is_power()) else { return false };
        let x = self.signless(x);
        let elem = x.elem;
        let combiner = self.combiner(elem);
        let mut reduced: Vec<usize> = x.dims.iter().copied().filter(|_| self.random.range(0, 1) == 1).collect();
        if reduced.is_empty() {
            reduced.push(x.dims[0]);
        }
        // The largest of nothing is no number of every type.
        let may_be_empty = reduced.iter().any(|dim| self.program.sizes.iter().any(|sizes| sizes[*dim] == 0));
        if may_be_empty && matches!(combiner, "max" | "min") {
            return false;
        }
        let dims: Vec<usize> = x.dims.iter().copied().filter(|dim| !reduced.contains(dim)).collect();
        let kind = |dim: &usize| if reduced.contains(dim) { "reduce" } else { "parallel" };
        let kinds: Vec<&str> = x.dims.iter().map(kind).collect();
        let (from, to) = (map_of(&x.dims, &x.dims), map_of(&dims, &x.dims));
        let attributes = format!(
            "combiners = #graph.combiners<[{combiner}]>, iterators = #graph.iterators<[{}]>, maps = [{from}, {to}]",
            kinds.join(", ")
        );
        let length: f64 = reduced.iter().map(|dim| self.longest(*dim)).product();
        let (adds, multiplies) = (elem.rounds() && combiner == "add", elem.rounds() && combiner == "mul");
        let (name, number) = self.compute(&[&x], (elem, &dims), &attributes, |s, numbers| {
            let number = s.change(numbers[0].clone(), elem);
            match (adds, multiplies) {
                (true, _) => s.below(number, elem, limit(elem) / length),
                (_, true) => s.below(number, elem, 1.0),
                _ => number,
            }
        });
        let value = match (adds, multiplies) {
            (true, _) => sum(&number, length, elem),
            (_, true) => product(number.error, length, accumulated(elem), elem),
            _ => (number.bound, number.error + rounding_of(elem, number.bound)),
        };
        self.made(name, elem, dims, value)
    }

    /// A sum of products over what two tensors share.
    fn contract(&mut self) -> bool {
        let Some(a) = self.tensor(|t| !t.dims.is_empty() && !t.elem.is_power() && t.elem.scalar() != "i1") else {
            return false;
        };
        let elem = a.elem;
        let over = a.dims[self.below(a.dims.len())];
        let b = match self.tensor(|t| t.elem == elem && t.dims.contains(&over) && t.name != a.name) {
            Some(b) => b,
            None => {
                let mut dims = self.some_dims(SYMBOLS);
                dims.retain(|dim| *dim != over);
                dims.insert(self.below(dims.len() + 1), over);
                self.new_input(elem, dims, None)
            }
        };
        let (a, b) = (self.signless(a), self.signless(b));
        let elem = a.elem;
        let mut dims: Vec<usize> = a.dims.iter().chain(&b.dims).copied().filter(|dim| *dim != over).collect();
        let mut seen = Vec::new();
        dims.retain(|dim| {
            !seen.contains(dim) && {
                seen.push(*dim);
                true
            }
        });
        let all: Vec<usize> = dims.iter().copied().chain([over]).collect();
        let kinds: Vec<&str> = all.iter().map(|dim| if *dim == over { "reduce" } else { "parallel" }).collect();
        let maps = [&a.dims, &b.dims, &dims].map(|dims| map_of(dims, &all)).join(", ");
        let attributes = format!(
            "combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[{}]>, maps = [{maps}]",
            kinds.join(", ")
        );
        let length = self.longest(over);
        let (name, number) = self.compute(&[&a, &b], (elem, &dims), &attributes, |s, numbers| {
            let mut numbers = numbers.into_iter();
            let (a, b) = (numbers.next().expect("two"), numbers.next().expect("two"));
            s.product(a, b, elem, limit(elem) / length)
        });
        let value = if elem.rounds() { sum(&number, length, elem) } else { (0.0, 0.0) };
        self.made(name, elem, dims, value)
    }

    /// Running combinations.
    fn scan(&mut self) -> bool {
        let fits = |t: &Tensor| !t.dims.is_empty() && !t.elem.is_power() && t.elem.scalar() != "i1";
        let Some(x) = self.tensor(fits) else { return false };
        let mut x = self.signless(x);
        let combiner = self.combiner(x.elem);
        let axis = self.below(x.dims.len());
        let length = self.longest(x.dims[axis]);
        let (adds, multiplies) = (x.elem.rounds() && combiner == "add", x.elem.rounds() && combiner == "mul");
        if adds && x.bound * length > x.elem.most() {
            return false;
        }
        if multiplies {
            x = self.below_one(x);
        }
        // What a combiner does to complex numbers a region does too.
        let region = (is_complex(x.elem) && self.below(2) == 0).then(|| joining_region(combiner, x.elem));
        let (joined, region) = match region {
            Some((state, region)) => (state, region),
            None => (format!("combiner = #graph.combiner<{combiner}>"), String::new()),
        };
        let mut words = format!("axis = {axis} : i64, {joined}");
        if self.below(2) == 0 && !matches!(combiner, "max" | "min") {
            words.push_str(", exclusive");
        }
        if self.below(2) == 0 {
            words.push_str(", reverse");
        }
        let name = self.name();
        let _ = writeln!(self.body, "  {name} = graph.scan {} {{{words}}} : {} -> {}{region}", x.name, x.ty(), x.ty());
        let value = match (adds, multiplies) {
            (true, _) => sum(&x.number(""), length, x.elem),
            (_, true) => product(x.error, length, accumulated(x.elem), x.elem),
            _ => (x.bound, x.error),
        };
        self.made(name, x.elem, x.dims, value)
    }

    /// `y[i] = y[i - 1] * a[i] + b[i]` along a dim, with the product of all `a`: a state of two numbers.
    fn recurrence(&mut self) -> bool {
        let fits = |t: &Tensor| !t.dims.is_empty() && ["f32", "f64"].contains(&t.elem.name());
        let Some(b) = self.tensor(fits) else { return false };
        let (axis, s, ty) = (self.below(b.dims.len()), b.elem.scalar(), b.ty());
        let length = self.longest(b.dims[axis]);
        let bound = b.bound * length;
        if bound > limit(b.elem) * length {
            return false;
        }
        let a = self.below_one(b.clone());
        let reverse = if self.below(2) == 0 { ", reverse" } else { "" };
        let (name, all) = (self.name(), format!("%q{}_{}", self.first, self.tensors.len()));
        let _ = write!(
            self.body,
            "  {all}, {name} = graph.scan {}, {} {{axis = {axis} : i64, state = #graph.state<[1.0 : {s}, 0.0 : {s}], \
             laws = [associative]>{reverse}}} : {ty}, {ty} -> {ty}, {ty} combine {{\n  \
             ^bb0(%p: {s}, %y: {s}, %a: {s}, %b: {s}):\n    %q = arith.mulf %p, %a : {s}\n    \
             %m = arith.mulf %y, %a : {s}\n    %n = arith.addf %m, %b : {s}\n    graph.yield %q, %n : {s}, {s}\n  }}\n",
            a.name, b.name
        );
        let (size, error) = product(a.error, length, b.elem.epsilon(), b.elem);
        self.output(&Tensor { name: all, bound: size, error, ..b.clone() });
        let each = bound * (a.error + 2.0 * b.elem.epsilon()) + b.error;
        let grows = (length * a.error).exp();
        self.made(name, b.elem, b.dims, (bound, each * length * grows + rounding(b.elem, bound)))
    }

    /// The same elements halved until they are at most 1, so that products of many are too.
    fn below_one(&mut self, x: Tensor) -> Tensor {
        if x.bound <= 1.0 {
            return x;
        }
        let (elem, dims) = (x.elem, x.dims.clone());
        let kinds = vec!["parallel"; dims.len()].join(", ");
        let map = map_of(&dims, &dims);
        let attributes = format!("iterators = #graph.iterators<[{kinds}]>, maps = [{map}, {map}]");
        let (name, number) =
            self.compute(&[&x], (elem, &dims), &attributes, |s, numbers| s.below(numbers[0].clone(), elem, 1.0));
        let small = Tensor { name, elem, dims, bound: number.bound, error: number.error };
        self.tensors.push(small.clone());
        small
    }

    /// The same bits as signless integers, which is what combiners of a name take.
    fn signless(&mut self, x: Tensor) -> Tensor {
        if !x.elem.is_unsigned() {
            return x;
        }
        let name = format!("%b{}_{}", self.first, self.body.len());
        let to = Tensor { name, elem: Elem::named(x.elem.scalar()), ..x.clone() };
        let _ = writeln!(self.body, "  {} = graph.bitcast {} : {} -> {}", to.name, x.name, x.ty(), to.ty());
        to
    }

    fn index_elem(&mut self) -> Elem {
        Elem::named(["i32", "i64"][self.below(2)])
    }

    /// Along one dim, by a list.
    fn gather(&mut self) -> bool {
        let Some(x) = self.tensor(|t| !t.dims.is_empty()) else { return false };
        let axis = self.below(x.dims.len());
        let free = |dim: &usize| *dim == x.dims[axis] || !x.dims.contains(dim);
        let free: Vec<usize> = (self.first..self.first + SYMBOLS).filter(free).collect();
        let along = free[self.below(free.len())];
        let elem = self.index_elem();
        let indices = self.new_input(elem, vec![along], Some(x.dims[axis]));
        let mut dims = x.dims.clone();
        dims[axis] = along;
        let name = self.name();
        let _ = writeln!(
            self.body,
            "  {name} = graph.gather {}, {} {{axis = {axis} : i64}} : {}, {} -> {}",
            x.name,
            indices.name,
            x.ty(),
            indices.ty(),
            tensor_type(x.elem, &dims)
        );
        self.made(name, x.elem, dims, (x.bound, x.error))
    }

    /// Updates of elements along one dim, one joined to what is there or in its place.
    fn scatter(&mut self) -> bool {
        let Some(mut x) = self.tensor(|t| !t.dims.is_empty() && !t.elem.is_power()) else { return false };
        let axis = self.below(x.dims.len());
        let free = |dim: &usize| *dim == x.dims[axis] || !x.dims.contains(dim);
        let free: Vec<usize> = (self.first..self.first + SYMBOLS).filter(free).collect();
        let mut dims = x.dims.clone();
        dims[axis] = free[self.below(free.len())];
        let mut updates = match self.tensor(|t| t.elem == x.elem && t.dims == dims) {
            Some(updates) => updates,
            None => self.new_input(x.elem, dims.clone(), None),
        };
        let elem = self.index_elem();
        let length = self.longest(dims[axis]);
        let combiner = match self.below(2) {
            0 => None,
            _ if x.elem.is_unsigned() || x.elem.rounds() && x.elem.dtype().bits() <= 8 => None,
            _ => Some(self.combiner(x.elem)),
        };
        let (adds, multiplies) =
            (x.elem.rounds() && combiner == Some("add"), x.elem.rounds() && combiner == Some("mul"));
        let total = x.bound + length * updates.bound;
        if adds && total > x.elem.most() {
            return false;
        }
        if multiplies {
            (x, updates) = (self.below_one(x), self.below_one(updates));
        }
        let indices = self.new_input(elem, dims, Some(x.dims[axis]));
        let region = combiner.filter(|_| is_complex(x.elem) && self.below(2) == 0);
        let region = region.map_or_else(String::new, |word| joining_region(word, x.elem).1);
        let named = combiner.filter(|_| region.is_empty());
        let joined = named.map_or_else(String::new, |word| format!(", combiner = #graph.combiner<{word}>"));
        let name = self.name();
        let _ = writeln!(
            self.body,
            "  {name} = graph.scatter {}, {}, {} {{axis = {axis} : i64{joined}}} : {}, {}, {} -> {}{region}",
            x.name,
            indices.name,
            updates.name,
            x.ty(),
            indices.ty(),
            updates.ty(),
            x.ty()
        );
        let value = match (adds, multiplies) {
            (true, _) => (total, x.error + length * (updates.error + rounding(x.elem, total))),
            // Each is rounded to an element.
            (_, true) => product(x.error.max(updates.error), length + 1.0, x.elem.epsilon(), x.elem),
            _ => (x.bound.max(updates.bound), x.error.max(updates.error)),
        };
        self.made(name, x.elem, x.dims, value)
    }

    /// Windows of three along one dim, zero outside.
    fn window(&mut self) -> bool {
        let Some(x) = self.tensor(|t| !t.dims.is_empty() && !t.elem.is_power() && t.elem.scalar() != "i1") else {
            return false;
        };
        let x = self.signless(x);
        let (elem, rank) = (x.elem, x.dims.len());
        let axis = self.below(rank);
        let weights = format!("%w{}_{}", self.first, self.tensors.len());
        let (numbers, times) = match elem.kind() {
            Kind::Int { .. } => ("1, 0, 1", "arith.muli"),
            Kind::Float(_) => ("1.0, -0.5, 0.5", "arith.mulf"),
            Kind::Complex(_) => ("(1.0, 0.0), (0.0, -0.5), (0.5, 0.0)", "complex.mul"),
        };
        let ty = format!("tensor<3x{}>", elem.name());
        let _ = writeln!(self.body, "  {weights} = graph.constant dense<[{numbers}]> : {ty}");
        let place = |i: usize| if i == axis { format!("d{i} + d{rank} - 1") } else { format!("d{i}") };
        let from = affine(rank + 1, &(0..rank).map(place).collect::<Vec<_>>());
        let to = affine(rank + 1, &(0..rank).map(|i| format!("d{i}")).collect::<Vec<_>>());
        let kinds = vec!["parallel"; rank].into_iter().chain(["reduce"]).collect::<Vec<_>>().join(", ");
        let name = self.name();
        let (scalar, part) = (elem.scalar(), elem.part().scalar());
        let zero = match elem.kind() {
            Kind::Int { .. } => format!("0 : {scalar}"),
            Kind::Float(_) => format!("0.0 : {scalar}"),
            Kind::Complex(_) => format!("[0.0 : {part}, 0.0 : {part}]"),
        };
        let last = affine(rank + 1, &[format!("d{rank}")]);
        let xt = x.ty();
        let _ = write!(
            self.body,
            "  {name} = graph.compute ins({}, {weights} : {xt}, {ty}) -> {xt} {{combiners = #graph.combiners<[add]>, \
             iterators = #graph.iterators<[{kinds}]>, maps = [{from}, {last}, {to}], oob = [{zero}, unit]}} {{\n  \
             ^bb0(%e: {scalar}, %w: {scalar}):\n    %p = {times} %e, %w : {scalar}\n    graph.yield %p : {scalar}\n  }}\n",
            x.name
        );
        let bound = 2.0 * x.bound;
        if elem.rounds() && bound > elem.most() {
            self.body.truncate(self.body.rfind(&format!("  {weights} = ")).expect("written just now"));
            return false;
        }
        let error = 2.0 * x.error + 4.0 * rounding_of(elem, bound);
        self.made(name, elem, x.dims, (bound, error))
    }

    /// The largest along a dim and its first place: a combiner of two values.
    fn extreme(&mut self) -> bool {
        let known = ["f32", "f64", "i32", "i64", "ui32"];
        let exact = |t: &Tensor| t.error == 0.0 && known.contains(&t.elem.name());
        let positive: Vec<usize> = (self.first..self.first + SYMBOLS)
            .filter(|dim| self.program.sizes.iter().all(|sizes| sizes[*dim] > 0))
            .collect();
        let Some(x) = self.tensor(|t| exact(t) && t.dims.last().is_some_and(|dim| positive.contains(dim))) else {
            return false;
        };
        let rank = x.dims.len();
        let (s, dims) = (x.elem.scalar(), x.dims[..rank - 1].to_vec());
        let (least, more, same) = match x.elem.name() {
            "f32" => ("0xFF800000 : f32", "arith.cmpf ogt,", "arith.cmpf oeq,"),
            "f64" => ("0xFFF0000000000000 : f64", "arith.cmpf ogt,", "arith.cmpf oeq,"),
            "i32" => ("-2147483648 : i32", "arith.cmpi sgt,", "arith.cmpi eq,"),
            "ui32" => ("0 : i32", "arith.cmpi ugt,", "arith.cmpi eq,"),
            _ => ("-9223372036854775808 : i64", "arith.cmpi sgt,", "arith.cmpi eq,"),
        };
        let kinds = vec!["parallel"; rank - 1].into_iter().chain(["reduce"]).collect::<Vec<_>>().join(", ");
        let (from, to) = (map_of(&x.dims, &x.dims), map_of(&dims, &x.dims));
        let (name, place) = (self.name(), format!("%p{}_{}", self.first, self.tensors.len()));
        let at = Elem::named("i64");
        let _ = write!(
            self.body,
            "  {name}, {place} = graph.compute ins({} : {}) -> {}, {} {{iterators = #graph.iterators<[{kinds}]>, \
             maps = [{from}, {to}, {to}], state = #graph.state<[{least}, 9223372036854775807 : i64], \
             laws = [associative, commutative]>}} {{\n  ^bb0(%e: {s}):\n    %i = graph.index {} : index\n    \
             %k = arith.index_cast %i : index to i64\n    graph.yield %e, %k : {s}, i64\n  }} combine {{\n  \
             ^bb0(%a: {s}, %i: i64, %b: {s}, %j: i64):\n    %more = {more} %b, %a : {s}\n    %same = {same} %b, %a : {s}\n    \
             %before = arith.cmpi slt, %j, %i : i64\n    %first = arith.andi %same, %before : i1\n    \
             %second = arith.ori %more, %first : i1\n    %c = arith.select %second, %b, %a : {s}\n    \
             %k = arith.select %second, %j, %i : i64\n    graph.yield %c, %k : {s}, i64\n  }}\n",
            x.name,
            x.ty(),
            tensor_type(x.elem, &dims),
            tensor_type(at, &dims),
            rank - 1
        );
        self.output(&Tensor { name: place, elem: at, dims: dims.clone(), bound: 0.0, error: 0.0 });
        self.made(name, x.elem, dims, (x.bound, 0.0))
    }

    /// Lines in order.
    fn sort(&mut self) -> bool {
        let known = ["f32", "f64", "i32", "i64"];
        let Some(x) = self.tensor(|t| t.error == 0.0 && known.contains(&t.elem.name()) && !t.dims.is_empty()) else {
            return false;
        };
        let (axis, down, name) = (self.below(x.dims.len()), self.below(2), self.name());
        let ty = x.ty();
        let _ = writeln!(
            self.body,
            "  {name} = graph.sort {} {{axis = {axis} : i64, descending = array<i64: {down}>}} : {ty} -> {ty}",
            x.name
        );
        self.made(name, x.elem, x.dims, (x.bound, 0.0))
    }

    /// Elements at other places: backwards, or flat and back.
    fn move_elements(&mut self) -> bool {
        let Some(x) = self.tensor(|t| !t.dims.is_empty()) else { return false };
        let (name, ty) = (self.name(), x.ty());
        if self.below(2) == 0 {
            let axis = self.below(x.dims.len());
            let _ = writeln!(
                self.body,
                "  {name} = graph.slice {} {{axes = array<i64: {axis}>, starts = array<i64: -1>, \
                 ends = array<i64: -9223372036854775808>, steps = array<i64: -1>}} : {ty} -> {ty}",
                x.name
            );
        } else {
            let count: Vec<String> = x.dims.iter().map(|dim| symbol(*dim)).collect();
            let flat = format!("tensor<?x{}, #dyn.shape<[{}]>>", x.elem.name(), count.join("*"));
            let _ = writeln!(self.body, "  %flat{} = graph.reshape {} : {ty} -> {flat}", &name[1..], x.name);
            let _ = writeln!(self.body, "  {name} = graph.reshape %flat{} : {flat} -> {ty}", &name[1..]);
        }
        self.made(name, x.elem, x.dims, (x.bound, x.error))
    }
}

/// The state from which a region joins complex numbers as a combiner does, and the region.
fn joining_region(combiner: &str, elem: Elem) -> (String, String) {
    let (s, part) = (elem.scalar(), elem.part().scalar());
    let (op, first) = if combiner == "mul" { ("complex.mul", "1.0") } else { ("complex.add", "0.0") };
    let state = format!("state = #graph.state<[[{first} : {part}, 0.0 : {part}]], laws = [associative, commutative]>");
    let region =
        format!(" combine {{\n  ^bb0(%a: {s}, %b: {s}):\n    %c = {op} %a, %b : {s}\n    graph.yield %c : {s}\n  }}");
    (state, region)
}

/// Roundoff of the type in which sums and products are accumulated, `f32` at least.
fn accumulated(elem: Elem) -> f64 {
    elem.epsilon().min(f64::from(f32::EPSILON))
}

/// Bound and error of the product of so many numbers of at most 1, each with this error and rounded to this roundoff, that
/// becomes an element. A product of complex numbers is four of parts.
fn product(error: f64, length: f64, roundoff: f64, elem: Elem) -> (f64, f64) {
    let error = (length * (error + 4.0 * roundoff)).exp_m1();
    (1.0, error + length * rounding(elem, 0.0) + rounding(elem, 1.0))
}

/// Bound and error of the sum of so many numbers, which is accumulated in `f32` at least.
fn sum(number: &Number, length: f64, elem: Elem) -> (f64, f64) {
    let bound = number.bound * length;
    let roundoff = accumulated(elem);
    (bound, number.error * length + roundoff * length * bound + rounding(elem, bound))
}

fn rounding_of(elem: Elem, bound: f64) -> f64 {
    if elem.rounds() { rounding(elem, bound) } else { 0.0 }
}
