//! How the host solves the symbols from the dims of the inputs, and what it checks on the way.
//!
//! One list of steps in order, from which both the interpreter and the generated code work, so that they agree.

use std::fmt;

use super::decide::{Phases, timed};
use super::program::{Constraint, ConstraintKind, Port, ProgramInfo, Symbol};
use crate::r#dyn::facts::{Contradiction, Facts};
use crate::r#dyn::poly::{Atom, Poly};

/// A dim of an input, and something added to it; only the sum without a dim. Behind the inputs come the calls of routines that
/// decide sizes, each of which has these as dims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quantity {
    /// Input and axis.
    pub dim: Option<(usize, usize)>,
    /// Over symbols that are solved by then.
    pub plus: Poly,
}

impl Quantity {
    /// A dim of an input.
    pub fn dim(input: usize, axis: usize) -> Self {
        Self { dim: Some((input, axis)), plus: Poly::default() }
    }

    /// A size over the symbols.
    pub fn size(size: Poly) -> Self {
        Self { dim: None, plus: size }
    }

    /// The value, for the inputs' dims and the symbols solved so far; `None` when it does not fit 64 bits.
    pub fn eval(&self, dims: &[&[i64]], symbol: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let plus = self.plus.eval(symbol)?;
        match self.dim {
            Some((input, axis)) => dims.get(input)?.get(axis)?.checked_add(plus),
            None => Some(plus),
        }
    }
}

/// What must hold of a quantity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// It equals another one; two sizes that are one dim.
    Equal(Quantity),
    /// It equals another one; two dims that go together only then.
    Compatible(Quantity),
    /// It is at least another one.
    AtLeast(Quantity),
    /// It lies in the range, both ends included.
    Within(i64, i64),
    /// It is a multiple of a positive size, over symbols that are solved by then.
    MultipleOf(Poly),
    /// Its value fits 64 bits.
    Fits,
}

/// What the two sides of a check are, in words for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Words {
    /// The model's name of the dim.
    pub dim: Option<String>,
    /// The quantity that is checked.
    pub left: String,
    /// What it is compared with.
    pub right: String,
}

/// Something that must hold for a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// What is looked at.
    pub quantity: Quantity,
    /// What must hold of it.
    pub condition: Condition,
    /// For messages.
    pub words: Words,
}

/// One step of the solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The symbol's value is the quantity divided by `factor`; that it is a multiple was checked before.
    Solve {
        /// Number of the symbol.
        symbol: usize,
        /// The dividend.
        quantity: Quantity,
        /// At least 1, which was checked where it is no constant; over symbols that are solved by then.
        factor: Poly,
    },
    /// A check.
    Check(Check),
}

/// How all symbols are solved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The steps before the run, in order.
    pub steps: Vec<Step>,
    /// The steps behind each call that decides sizes, in order.
    pub late: Vec<Vec<Step>>,
    /// For each call that decides sizes for how many of each there is place.
    pub places: Vec<Vec<Poly>>,
    /// When the symbols are known.
    pub phases: Phases,
}

/// Why symbols cannot be solved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsolvable {
    /// No dim of an input tells these symbols.
    Symbols(Vec<String>),
    /// A size names something that is no symbol.
    Undeclared(String),
    /// The constraints contradict each other.
    Contradiction(Contradiction),
    /// A size that data decide cannot be planned for.
    Late(String),
}

impl fmt::Display for Unsolvable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbols(names) => {
                let names: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
                let noun = if names.len() == 1 { "symbol" } else { "symbols" };
                write!(f, "the dims of the inputs do not determine {noun} {}", names.join(", "))
            }
            Self::Undeclared(name) => write!(f, "'{name}' is used in a size but is no symbol of the program"),
            Self::Contradiction(c) => write!(f, "the checks contradict each other: {c}"),
            Self::Late(reason) => write!(f, "cannot be planned before data decide its sizes: {reason}"),
        }
    }
}

impl From<Contradiction> for Unsolvable {
    fn from(contradiction: Contradiction) -> Self {
        Self::Contradiction(contradiction)
    }
}

/// A dim of an input or an equality from which a symbol may be solved: `dim = size`, or `0 = size`.
struct Equation<'a> {
    dim: Option<(usize, usize)>,
    size: Poly,
    constraint: Option<&'a Constraint>,
}

/// An equation as `symbol = (dim + plus) / factor`, with a factor of at least 1.
struct Linear {
    /// Its number.
    symbol: usize,
    factor: Poly,
    plus: Poly,
}

struct Solver<'p, 'a> {
    program: &'p ProgramInfo<'a>,
    facts: &'p Facts,
    /// Where each symbol was solved from, in words; `None` as long as it is not.
    solved: Vec<Option<String>>,
    steps: Vec<Step>,
    /// What is checked of the symbols' values once all are known.
    ranges: Vec<Step>,
}

impl Solution {
    /// Solves the symbols of a program.
    ///
    /// # Errors
    /// When a symbol cannot be solved, a size names no symbol, or the constraints contradict each other.
    pub fn of(program: &ProgramInfo<'_>) -> Result<Self, Unsolvable> {
        let facts = program.facts()?;
        check_declared(program)?;
        let solved = vec![None; program.symbols.len()];
        let mut solver = Solver { program, facts: &facts, solved, steps: Vec::new(), ranges: Vec::new() };
        let mut rest = solver.solve_all(equations(program));
        for (i, decision) in program.decisions.iter().enumerate() {
            let decided = decision.sizes.iter().enumerate();
            let equation = |(axis, size): (usize, &Poly)| {
                let dim = Some((program.inputs.len() + i, axis));
                Equation { dim, size: size.clone(), constraint: None }
            };
            let all = decided.map(equation).chain(rest).collect();
            rest = solver.solve_all(all);
        }
        let missing = program.symbols.iter().zip(&solver.solved).filter(|(_, s)| s.is_none());
        let missing: Vec<String> = missing.map(|(symbol, _)| symbol.name.clone()).collect();
        if !missing.is_empty() {
            return Err(Unsolvable::Symbols(missing));
        }
        // What narrowed a range says more than the range.
        for constraint in program.constraints.iter().filter(|c| c.kind == ConstraintKind::AtLeast) {
            solver.check_constraint(constraint);
        }
        let narrows = |e: &&Equation<'_>| e.constraint.is_some() && e.size.has_min();
        rest.iter().filter(narrows).for_each(|equation| solver.check_equation(equation));
        solver.steps.append(&mut solver.ranges);
        rest.iter().filter(|e| !narrows(e)).for_each(|equation| solver.check_equation(equation));
        for output in &program.outputs {
            for (axis, size) in output.ty.dims.iter().enumerate() {
                if facts.range(size).0 < 0 {
                    solver.check_not_negative(size, format!("output `{}` dimension {axis}", output.name));
                }
            }
        }
        let steps = std::mem::take(&mut solver.steps);
        let timed = timed(program, &facts, steps)?;
        Ok(Self { steps: timed.steps, late: timed.late, places: timed.places, phases: timed.phases })
    }

    /// The checks before the run, in order.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.steps.iter().filter_map(|step| match step {
            Step::Check(check) => Some(check),
            Step::Solve { .. } => None,
        })
    }

    /// Values of the symbols for the inputs' dims, or the check that does not hold with the two values that show it.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn solve(&self, symbols: &[Symbol], dims: &[&[i64]]) -> Result<Vec<Option<i64>>, (&Check, i64, i64)> {
        let mut values = vec![None; symbols.len()];
        Self::make(&self.steps, symbols, dims, &mut values)?;
        Ok(values)
    }

    /// Learns from what call `index` has decided.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn decide(
        &self,
        index: usize,
        (symbols, inputs): (&[Symbol], usize),
        decided: &[i64],
        values: &mut [Option<i64>],
    ) -> Result<(), (&Check, i64, i64)> {
        let mut dims = vec![&[][..]; inputs + index];
        dims.push(decided);
        Self::make(&self.late[index], symbols, &dims, values)
    }

    fn make<'s>(
        steps: &'s [Step],
        symbols: &[Symbol],
        dims: &[&[i64]],
        values: &mut [Option<i64>],
    ) -> Result<(), (&'s Check, i64, i64)> {
        for step in steps {
            let value_of = |name: &str| values[symbols.iter().position(|s| s.name == name)?];
            match step {
                Step::Check(check) => check.evaluate(dims, &value_of)?,
                Step::Solve { symbol, quantity, factor } => {
                    // A factor that does not fit 64 bits, or is none, was checked before.
                    let factor = factor.eval(&value_of).unwrap_or(i64::MAX).max(1);
                    let value = quantity.eval(dims, &value_of).unwrap_or(i64::MAX).div_euclid(factor);
                    values[*symbol] = Some(value);
                }
            }
        }
        Ok(())
    }
}

impl Check {
    /// That a size is not negative and fits 64 bits.
    pub fn not_negative(size: &Poly, left: String) -> Self {
        let words = Words { dim: None, left, right: "sizes that are not negative".to_owned() };
        Self { quantity: Quantity::size(size.clone()), condition: Condition::Within(0, i64::MAX), words }
    }

    /// That a size fits 64 bits.
    pub fn fits(size: &Poly, left: String) -> Self {
        let words = Words { dim: None, left, right: "sizes of at most 63 bits".to_owned() };
        Self { quantity: Quantity::size(size.clone()), condition: Condition::Fits, words }
    }

    /// `Err` with the two values that disagree; a value that does not fit 64 bits shows as the largest one.
    fn evaluate(&self, dims: &[&[i64]], symbol: &dyn Fn(&str) -> Option<i64>) -> Result<(), (&Self, i64, i64)> {
        let value = |q: &Quantity| q.eval(dims, symbol);
        let Some(left) = value(&self.quantity) else { return Err((self, i64::MAX, i64::MAX - 1)) };
        let (holds, right) = match &self.condition {
            Condition::Equal(other) | Condition::Compatible(other) => {
                let right = value(other).unwrap_or(i64::MAX);
                (left == right, right)
            }
            Condition::AtLeast(other) => {
                let right = value(other).unwrap_or(i64::MAX);
                (left >= right, right)
            }
            Condition::Within(min, _) if left < *min => (false, *min),
            Condition::Within(_, max) => (left <= *max, *max),
            Condition::MultipleOf(divisor) => {
                let divisor = divisor.eval(symbol).unwrap_or(i64::MAX);
                (divisor > 0 && left.rem_euclid(divisor) == 0, divisor)
            }
            Condition::Fits => (true, 0),
        };
        if holds { Ok(()) } else { Err((self, left, right)) }
    }
}

/// Every size in the header is over declared symbols.
fn check_declared(program: &ProgramInfo<'_>) -> Result<(), Unsolvable> {
    let ports = program.inputs.iter().chain(&program.outputs).flat_map(|p| &p.ty.dims);
    let sides = program.constraints.iter().flat_map(|c| [&c.left, &c.right]);
    for size in ports.chain(sides) {
        if let Some(name) = size.symbols().iter().find(|name| program.symbol_index(name).is_none()) {
            return Err(Unsolvable::Undeclared(name.to_string()));
        }
    }
    Ok(())
}

/// Dims of the inputs in order, then the equalities.
fn equations<'p>(program: &'p ProgramInfo<'_>) -> Vec<Equation<'p>> {
    let ports = program.inputs.iter().enumerate();
    let dims =
        ports.flat_map(|(input, port)| port.ty.dims.iter().enumerate().map(move |(axis, size)| (input, axis, size)));
    let dims =
        dims.map(|(input, axis, size)| Equation { dim: Some((input, axis)), size: size.clone(), constraint: None });
    let equal = program.constraints.iter().filter(|c| c.kind != ConstraintKind::AtLeast);
    let equal = equal.map(|c| Equation { dim: None, size: c.left.sub(&c.right), constraint: Some(c) });
    dims.chain(equal).collect()
}

fn place(port: &Port, axis: usize) -> String {
    format!("input `{}` dimension {axis}", port.name)
}

impl Solver<'_, '_> {
    /// Solves what can be solved, plain symbols first, and returns the equations that told no symbol.
    fn solve_all<'e>(&mut self, equations: Vec<Equation<'e>>) -> Vec<Equation<'e>> {
        let plain = |s: &Self, e: &Equation<'_>| e.dim.is_some() && s.unsolved_symbol(&e.size).is_some();
        let mut rest = Vec::with_capacity(equations.len());
        for equation in equations {
            if plain(self, &equation) {
                self.solve_one(&equation);
            } else {
                rest.push(equation);
            }
        }
        // Each turn solves at least one symbol.
        while let Some(at) = rest.iter().position(|e| self.linear(e).is_some()) {
            let equation = rest.remove(at);
            self.solve_one(&equation);
        }
        rest
    }

    fn unsolved_symbol(&self, size: &Poly) -> Option<usize> {
        let symbol = self.program.symbol_index(size.as_symbol()?)?;
        self.solved[symbol].is_none().then_some(symbol)
    }

    /// The one unsolved symbol of an equation, if it is a factor of every term in which it stands, as what it is the quotient of.
    fn linear(&self, equation: &Equation<'_>) -> Option<Linear> {
        let unsolved = |name: &str| self.program.symbol_index(name).filter(|s| self.solved[*s].is_none());
        let mut names = equation.size.symbols().into_iter().filter_map(|n| unsolved(&n));
        let symbol = names.next().filter(|_| names.next().is_none())?;
        let name = &self.program.symbols[symbol].name;
        let mut factor = Poly::default();
        for (atoms, c) in equation.size.terms().filter(|(atoms, _)| atoms.iter().any(|a| a.mentions(name))) {
            let at = atoms.iter().position(|a| matches!(a, Atom::Symbol(own) if **own == **name))?;
            let mut rest = atoms.to_vec();
            rest.remove(at);
            if rest.iter().any(|a| a.mentions(name)) {
                return None;
            }
            factor = factor.add(&Poly::of_term(rest, c));
        }
        if factor.as_const().is_some_and(|c| c == 0 || c == i64::MIN) {
            return None;
        }
        // What data decide needs no quotient of others, which may be 0: that both are equal is checked.
        if factor.as_const().is_none() && equation.dim.is_none() && self.is_decided(name) {
            return None;
        }
        let rest = equation.size.sub(&Poly::symbol(name).mul(&factor));
        // `N * factor = 0` tells `N` where the factor is never 0; else it says something of the factor.
        let (low, high) = self.facts.range(&factor);
        if rest.is_zero() && equation.dim.is_none() && low <= 0 && high >= 0 {
            return None;
        }
        // A dim is a multiple of a positive number of the symbol; an equality may be turned around.
        let positive = equation.dim.is_some() || self.is_positive(&factor, &rest)?;
        if equation.dim.is_some() && factor.as_const().is_some_and(|c| c < 0) {
            return None;
        }
        let (factor, plus) = if positive { (factor, rest.scale(-1)) } else { (factor.scale(-1), rest) };
        Some(Linear { symbol, factor, plus })
    }

    /// Whether a call tells the symbol as one of the sizes that it decides.
    fn is_decided(&self, name: &str) -> bool {
        let sizes = self.program.decisions.iter().flat_map(|decision| &decision.sizes);
        sizes.into_iter().any(|size| size.as_symbol() == Some(name))
    }

    /// Whether in `0 = factor * symbol + rest` the factor is positive, where the symbol is not negative; `None` where nothing
    /// tells. That it is at least 1 is checked.
    fn is_positive(&self, factor: &Poly, rest: &Poly) -> Option<bool> {
        if factor.terms().all(|(_, c)| c > 0) {
            return Some(true);
        }
        let ((low, high), (least, most)) = (self.facts.range(factor), self.facts.range(rest));
        match () {
            () if low >= 0 || high > 0 && most <= 0 => Some(true),
            () if high <= 0 || least >= 0 => Some(false),
            () => None,
        }
    }

    fn solve_one(&mut self, equation: &Equation<'_>) {
        let Some(Linear { symbol, factor, plus }) = self.linear(equation) else { return };
        let declared = &self.program.symbols[symbol];
        let (name, info) = (declared.name.clone(), declared.info.clone());
        let quantity = Quantity { dim: equation.dim, plus };
        let source = equation.constraint.and_then(|c| c.left_words.clone());
        let words = source.filter(|_| factor.as_const() != Some(1)).unwrap_or_else(|| self.words_of(&quantity));
        if factor.as_const().is_none() {
            let left = format!("the size `{}`, by which {words} is divided", factor.brief());
            let positive = Words { dim: None, left, right: "sizes of at least 1".to_owned() };
            self.check(Quantity::size(factor.clone()), Condition::Within(1, i64::MAX), positive);
        }
        // A dim is a number that fits; what an equality makes of others need not be.
        let (low, high) = self.facts.range(&quantity.plus);
        if equation.dim.is_none() && low.saturating_abs().max(high.saturating_abs()) >= 1 << 62 {
            self.steps.push(Step::Check(Check::fits(&quantity.plus, format!("the size `{name}`"))));
        }
        if factor.as_const() != Some(1) {
            let words = Words { dim: None, left: words.clone(), right: String::new() };
            self.check(quantity.clone(), Condition::MultipleOf(factor.clone()), words);
        }
        self.steps.push(Step::Solve { symbol, quantity: quantity.clone(), factor: factor.clone() });
        self.solved[symbol] = Some(words.clone());
        let value = Quantity::size(Poly::symbol(&name));
        let left = if factor.as_const() == Some(1) { words } else { format!("`{name}`, from {words},") };
        let words = |right: String| Words { dim: Some(name.clone()), left: left.clone(), right };
        let range = words(format!("[{}, {}]", info.min, info.max));
        let within = Condition::Within(info.min, info.max);
        self.ranges.push(Step::Check(Check { quantity: value.clone(), condition: within, words: range }));
        if info.div > 1 {
            let multiple = Condition::MultipleOf(info.div.into());
            self.ranges.push(Step::Check(Check { quantity: value, condition: multiple, words: words(String::new()) }));
        }
    }

    fn words_of(&self, quantity: &Quantity) -> String {
        let place = |input: usize, axis: usize| match self.program.inputs.get(input) {
            Some(port) => place(port, axis),
            None => self.program.decisions[input - self.program.inputs.len()].words(axis),
        };
        match quantity.dim {
            Some((input, axis)) if quantity.plus.is_zero() => place(input, axis),
            Some((input, axis)) => format!("{} less `{}`", place(input, axis), quantity.plus.scale(-1).brief()),
            None => match quantity.plus.as_symbol().and_then(|n| self.program.symbol_index(n)) {
                Some(symbol) => self.solved[symbol].clone().unwrap_or_default(),
                None => match quantity.plus.as_const() {
                    Some(value) => value.to_string(),
                    None => format!("`{}`", quantity.plus.brief()),
                },
            },
        }
    }

    fn check(&mut self, quantity: Quantity, condition: Condition, words: Words) {
        self.steps.push(Step::Check(Check { quantity, condition, words }));
    }

    fn check_not_negative(&mut self, size: &Poly, left: String) {
        self.steps.push(Step::Check(Check::not_negative(size, left)));
    }

    /// A dim that told no symbol must have the value that the symbols give it.
    fn check_equation(&mut self, equation: &Equation<'_>) {
        match (equation.dim, equation.constraint) {
            (Some((input, axis)), _) => {
                let (left, right) = (Quantity::dim(input, axis), Quantity::size(equation.size.clone()));
                let dim = equation.size.as_symbol().map(str::to_owned);
                let words = Words { dim, left: self.words_of(&left), right: self.words_of(&right) };
                self.check(left, Condition::Equal(right), words);
            }
            (None, Some(constraint)) => self.check_constraint(constraint),
            (None, None) => {}
        }
    }

    fn check_constraint(&mut self, constraint: &Constraint) {
        if constraint.left == constraint.right {
            return;
        }
        let (left, right) = (Quantity::size(constraint.left.clone()), Quantity::size(constraint.right.clone()));
        let words = Words {
            dim: constraint.dim.clone(),
            left: constraint.left_words.clone().unwrap_or_else(|| self.words_of(&left)),
            right: constraint.right_words.clone().unwrap_or_else(|| self.words_of(&right)),
        };
        let condition = match constraint.kind {
            ConstraintKind::Equal => Condition::Equal(right),
            ConstraintKind::Compatible => Condition::Compatible(right),
            ConstraintKind::AtLeast if constraint.right.is_zero() => {
                return self.check_not_negative(&constraint.left, words.left);
            }
            ConstraintKind::AtLeast => Condition::AtLeast(right),
        };
        self.check(left, condition, words);
    }
}
