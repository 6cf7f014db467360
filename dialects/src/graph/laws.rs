//! Laws of the regions that join states, tested by running them on states that random contributions make.

use sutura_interp::nest::{Input, IteratorKind as NestKind, Nest, Output};
use sutura_interp::random::Random;
use sutura_interp::tensor::Shape;
use sutura_interp::{DType, Fault, Program, Scalar, Tensor, Tolerance};
use sutura_ir::{Context, OpRef};

use super::combine::{Joint, Law};
use super::ops::ScanOp;
use super::structured::ComputeForm;
use crate::r#dyn::Poly;

/// Points at which contributions are made, at most.
const POINTS: usize = 256;
/// Sets of states that each law is tested on.
const LANES: usize = 256;
/// What every size is that a scalar function computes with.
const SIZE: i64 = 5;
/// Two sides of a law may differ as sums of so many numbers may.
const TERMS: usize = 1024;
/// Numbers of which half of the random ones are, so that some are equal.
const COMMON: usize = 6;

/// States in lanes: one tensor per number.
type States = Vec<Tensor>;

/// Two sides of a law that differ.
#[derive(Clone, Debug)]
pub struct Broken {
    /// What is declared, in words.
    pub declared: &'static str,
    /// The sides, in words.
    pub sides: &'static str,
    /// The result in which they differ.
    pub result: usize,
    /// The numbers of both sides.
    pub numbers: [Scalar; 2],
    /// The states that were joined, in order.
    pub states: Vec<Vec<Scalar>>,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { declared, sides, result, numbers: [left, right], states } = self;
        write!(f, "is declared to have {declared}, but {sides} differ in result {result}: {left} and {right}")?;
        for (name, state) in ["a", "b", "c"].iter().zip(states) {
            let numbers: Vec<String> = state.iter().map(Scalar::to_string).collect();
            write!(f, ", {name} = ({})", numbers.join(", "))?;
        }
        Ok(())
    }
}

/// The first law that the region which joins the states of `op` declares and breaks, with random contributions; `None` where
/// all hold, or where no region joins.
///
/// # Errors
/// When the scalar functions cannot be run.
pub fn broken_law(op: OpRef<'_>, random: &mut Random) -> Result<Option<Broken>, Fault> {
    let Some(Declared { joint, join, contributions }) = Declared::of(op, random)? else { return Ok(None) };
    let joiner = Joiner { cx: op.cx, join: &join };
    let identity = super::interp::state_numbers(op.cx, joint.state)?;
    let nothing: States = identity.iter().map(|number| Tensor::splat(*number, &[LANES])).collect::<Result<_, _>>()?;
    // States of one contribution, of two, and of one or none.
    let a = shuffled(&contributions, random)?;
    let b = joiner.join(&shuffled(&contributions, random)?, &shuffled(&contributions, random)?)?;
    let c = mixed(&shuffled(&contributions, random)?, &nothing, random)?;
    let has = |law| joint.state.obeys(law);
    let identity = "this identity";
    let mut laws = vec![
        (identity, "the state itself and it behind the identity", c.clone(), joiner.join(&nothing, &c)?, vec![&c]),
        (identity, "the state itself and it before the identity", b.clone(), joiner.join(&b, &nothing)?, vec![&b]),
    ];
    if has(Law::Associative) {
        let (left, right) = (joiner.join(&joiner.join(&a, &b)?, &c)?, joiner.join(&a, &joiner.join(&b, &c)?)?);
        laws.push(("the law 'associative'", "(a b) c and a (b c)", left, right, vec![&a, &b, &c]));
    }
    if has(Law::Commutative) {
        laws.push(("the law 'commutative'", "a b and b a", joiner.join(&a, &b)?, joiner.join(&b, &a)?, vec![&a, &b]));
    }
    for (declared, sides, left, right, states) in laws {
        if let Some((result, lane)) = difference(&left, &right, &states)? {
            let at = |states: &States| states.iter().map(|t| t.data().read(lane)).collect::<Result<Vec<_>, _>>();
            let numbers = [left[result].data().read(lane)?, right[result].data().read(lane)?];
            let states = states.into_iter().map(at).collect::<Result<_, _>>()?;
            return Ok(Some(Broken { declared, sides, result, numbers, states }));
        }
    }
    Ok(None)
}

/// The region of `op` that joins states, if it has one.
pub fn joint(op: OpRef<'_>) -> Option<Joint<'_>> {
    match op.as_::<ScanOp<'_>>() {
        Some(scan) => scan.joint(),
        None => ComputeForm::of(op)?.joint,
    }
}

/// A region that joins states, and states of one contribution each.
struct Declared<'a> {
    joint: Joint<'a>,
    join: Program,
    contributions: States,
}

impl<'a> Declared<'a> {
    fn of(op: OpRef<'a>, random: &mut Random) -> Result<Option<Self>, Fault> {
        let compiled = |region| Program::compile(region).map(Program::wrapping).map_err(|error| error.fault().clone());
        let Some(joint) = joint(op) else { return Ok(None) };
        let (Some(first), form) = (op.region(0), ComputeForm::of(op)) else { return Ok(None) };
        let Some(form) = form else {
            // What a scan joins are the elements themselves.
            let join = compiled(first)?;
            let numbers = join.arg_types()[..join.arg_types().len() / 2].iter();
            let contributions = numbers.map(|dtype| numbers_of(*dtype, &[POINTS], random)).collect::<Result<_, _>>()?;
            return Ok(Some(Self { joint, join, contributions }));
        };
        let Some(region) = op.region(1) else { return Ok(None) };
        let (body, join) = (compiled(first)?, compiled(region)?);
        let contributions = contributions(op.cx, &form, &body, random)?;
        Ok(Some(Self { joint, join, contributions }))
    }
}

/// Random numbers, some of which are equal.
fn numbers_of(dtype: DType, shape: &[usize], random: &mut Random) -> Result<Tensor, Fault> {
    let count: usize = shape.iter().product();
    let common: Vec<Scalar> = (0..COMMON).map(|_| random.scalar(dtype)).collect();
    let mut number = || match random.range(0, 2 * COMMON as i64 - 1) as usize {
        again @ 0..COMMON => common[again],
        _ => random.scalar(dtype),
    };
    let numbers: Vec<Scalar> = (0..count).map(|_| number()).collect();
    Tensor::from_scalars(dtype, shape, numbers)
}

/// What the body yields at some points, for random numbers.
fn contributions(cx: &Context, form: &ComputeForm<'_>, body: &Program, random: &mut Random) -> Result<States, Fault> {
    let mut left = POINTS;
    let sizes = form.extents();
    let places = |(i, extent): (usize, &Option<Poly>)| {
        // The same for each iterator that is left, as far as it is so long.
        let share = (left as f64).powf(1.0 / (sizes.len() - i) as f64).floor().max(1.0) as usize;
        let longest = extent.as_ref().and_then(Poly::as_const).map_or(share, |size| usize::try_from(size).unwrap_or(0));
        let count = share.min(longest.max(1));
        left = (left / count).max(1);
        count
    };
    let extents: Shape = sizes.iter().enumerate().map(places).collect();
    let numbers = body.arg_types().iter().map(|dtype| numbers_of(*dtype, &extents, random));
    let inputs: Vec<Tensor> = numbers.collect::<Result<_, _>>()?;
    let results = run(cx, body, &inputs, &extents)?;
    let flat = |tensor: Tensor| tensor.reshape(&[tensor.len()]);
    results.into_iter().map(flat).collect()
}

/// Runs a scalar function at every point of a box, on tensors of the box's shape.
fn run(cx: &Context, program: &Program, inputs: &[Tensor], extents: &[usize]) -> Result<Vec<Tensor>, Fault> {
    let map = cx.identity_map(extents.len() as u32);
    let output = |dtype| Output { dtype, shape: extents.into(), map, combine: None };
    let nest = Nest {
        extents: extents.into(),
        kinds: extents.iter().map(|_| NestKind::Parallel).collect(),
        inputs: inputs.iter().map(|value| Input { value, map }).collect(),
        outputs: program.result_types().map(output).collect(),
        joint: None,
    };
    let captured: Vec<Scalar> = program.captured().map(|_| Scalar::index(SIZE)).collect();
    nest.run(cx, program, &captured)
}

struct Joiner<'a> {
    cx: &'a Context,
    join: &'a Program,
}

impl Joiner<'_> {
    fn join(&self, a: &States, b: &States) -> Result<States, Fault> {
        let inputs: Vec<Tensor> = a.iter().chain(b).cloned().collect();
        run(self.cx, self.join, &inputs, &[LANES])
    }
}

/// States each of which is a random one of `states`.
fn shuffled(states: &States, random: &mut Random) -> Result<States, Fault> {
    let count = states.first().map_or(0, Tensor::len) as i64;
    let from: Vec<usize> = (0..LANES).map(|_| random.range(0, count - 1) as usize).collect();
    picked(states, |lane| (states, from[lane]))
}

/// A lane of `a`, or in one of four of `b`.
fn mixed(a: &States, b: &States, random: &mut Random) -> Result<States, Fault> {
    let other: Vec<bool> = (0..LANES).map(|_| random.range(0, 3) == 0).collect();
    picked(a, |lane| (if other[lane] { b } else { a }, lane))
}

fn picked<'s>(like: &States, from: impl Fn(usize) -> (&'s States, usize)) -> Result<States, Fault> {
    let pick = |(i, tensor): (usize, &Tensor)| {
        let read = |lane| {
            let (states, lane) = from(lane);
            states[i].data().read(lane)
        };
        let numbers = (0..LANES).map(read).collect::<Result<Vec<Scalar>, Fault>>()?;
        Tensor::from_scalars(tensor.dtype(), &[LANES], numbers)
    };
    like.iter().enumerate().map(pick).collect()
}

/// Result and lane in which two sides differ by more than roundoff.
fn difference(left: &States, right: &States, joined: &[&States]) -> Result<Option<(usize, usize)>, Fault> {
    for (i, (a, b)) in left.iter().zip(right).enumerate() {
        for lane in 0..a.len() {
            let (x, y) = (a.data().read(lane)?, b.data().read(lane)?);
            let parts = joined.iter().map(|states| states[i].data().read(lane)).collect::<Result<Vec<_>, _>>()?;
            if !agree(x, y, &parts) {
                return Ok(Some((i, lane)));
            }
        }
    }
    Ok(None)
}

fn agree(x: Scalar, y: Scalar, parts: &[Scalar]) -> bool {
    let scale = parts.iter().map(|p| p.to_f64_lossy().abs()).filter(|p| p.is_finite()).fold(0.0, f64::max);
    Tolerance::of_rounding(x.dtype(), TERMS, scale).agrees(x, y)
}
