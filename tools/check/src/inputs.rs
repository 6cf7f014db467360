//! The inputs on which a function is tried.

use std::fmt;

use sutura_interp::random::{Random, random_arguments};
use sutura_interp::{Fault, Memory, Tensor, Value};
use sutura_ir::{Context, OpRef, Type};

use crate::CheckOptions;
use crate::function::argument_types;
use crate::sizes::{Open, Sizes};

/// What numbers an input holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Random ones.
    Random,
    /// Random ones with NaN, infinities and the like among them.
    Edge,
}

/// An input of one function: all that follows from it is the same on every machine.
#[derive(Clone, Debug)]
pub struct Input {
    /// Seed of the numbers.
    pub seed: u64,
    /// What they are.
    pub kind: Kind,
    sizes: Sizes,
    types: Vec<Type>,
}

impl Input {
    /// The arguments; memrefs are allocated in `memory`.
    pub(crate) fn arguments(&self, cx: &Context, memory: &mut Memory) -> Result<Vec<Value>, Fault> {
        let mut random = match self.kind {
            Kind::Random => Random::new(self.seed),
            Kind::Edge => Random::with_edges(self.seed),
        };
        random_arguments(cx, &self.types, &self.sizes, &mut random, memory)
    }

    /// Number of elements of all arguments; `None` when it cannot be told or counted.
    fn elements(&self, cx: &Context) -> Option<usize> {
        let mut all = 0usize;
        for (index, ty) in self.types.iter().enumerate().filter(|(_, ty)| cx.shape(**ty).is_some()) {
            let dims = sutura_interp::Dims::dims(&self.sizes, cx, index, *ty)?;
            let here = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d))?;
            all = all.checked_add(here)?;
        }
        Some(all)
    }

    /// The arguments in short.
    pub(crate) fn describe(&self, cx: &Context) -> Vec<String> {
        let mut memory = Memory::default();
        let Ok(values) = self.arguments(cx, &mut memory) else { return Vec::new() };
        values.iter().enumerate().map(|(i, value)| format!("argument {i}: {}", show(value, &memory))).collect()
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind == Kind::Edge { ", edge values" } else { "" };
        write!(f, "seed {}{kind}", self.seed)?;
        let sizes = self.sizes.to_string();
        if sizes.is_empty() { Ok(()) } else { write!(f, ", {sizes}") }
    }
}

/// A value in short: a number, or the first elements.
fn show(value: &Value, memory: &Memory) -> String {
    match value {
        Value::Scalar(scalar) => scalar.to_string(),
        Value::Tensor(tensor) | Value::Vector(tensor) => show_tensor(tensor),
        Value::MemRef(memref) => memory.read(memref).map_or_else(|fault| fault.message, |t| show_tensor(&t)),
        Value::Opaque(_) => value.describe(),
    }
}

fn show_tensor(tensor: &Tensor) -> String {
    const MOST: usize = 8;
    let first: Vec<String> = (0..tensor.len().min(MOST))
        .map(|i| tensor.data().get(i).map_or_else(|| "undefined".to_string(), |scalar| scalar.to_string()))
        .collect();
    let more = if tensor.len() > MOST { ", …" } else { "" };
    let dims: String = tensor.shape().iter().map(|d| format!("{d}x")).collect();
    format!("{dims}{} [{}{more}]", tensor.dtype(), first.join(", "))
}

/// The inputs of a function, and what is not tried, in words.
pub(crate) struct Plan {
    pub(crate) inputs: Vec<Input>,
    pub(crate) left_out: Option<String>,
}

/// Makes inputs: each seed with random and with edge values, and the edges of all sizes with the first seed.
///
/// # Errors
/// Says why there are none.
pub(crate) fn plan(function: OpRef<'_>, options: &CheckOptions) -> Result<Plan, String> {
    let cx = function.cx;
    let types = argument_types(function);
    let open = Open::of(function)?;
    let input = |seed, kind, sizes| Input { seed, kind, sizes, types: types.clone() };
    let mut wanted = Vec::new();
    for &seed in &options.seeds {
        // Sizes that equalities refuse are drawn again.
        const DRAWS: usize = 64;
        let mut random = Random::new(!seed);
        let Some(sizes) = (0..DRAWS).find_map(|_| open.random(&mut random)) else { continue };
        wanted.push(input(seed, Kind::Random, sizes.clone()));
        if !types.is_empty() {
            wanted.push(input(seed, Kind::Edge, sizes));
        }
    }
    let edges = if open.is_empty() { Vec::new() } else { open.edges() };
    let first = options.seeds.first().copied();
    wanted.extend(
        first
            .into_iter()
            .flat_map(|seed| edges.iter().map(move |s| (seed, s.clone())))
            .map(|(seed, sizes)| input(seed, Kind::Random, sizes)),
    );
    if wanted.is_empty() {
        return Err("no sizes were found that fulfil what the function states of its symbols".to_string());
    }
    let total = wanted.len();
    let fits = |input: &Input| input.elements(cx).is_some_and(|n| n <= options.elements);
    let inputs: Vec<Input> = wanted.into_iter().filter(fits).collect();
    let Some(one) = inputs.first() else {
        return Err(format!("its arguments have more than {} elements at all sizes tried", options.elements));
    };
    one.arguments(cx, &mut Memory::default()).map_err(|fault| fault.message)?;
    let large = total - inputs.len();
    let left_out = (large > 0)
        .then(|| format!("{large} of {total} inputs are not tried: they have more than {} elements", options.elements));
    Ok(Plan { inputs, left_out })
}
