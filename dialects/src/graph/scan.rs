//! Running combinations: their sizes, what may join, how they are run and what they fold to.

use sutura_interp::num::{Kernel, Overflow, Rounding};
use sutura_interp::{DType, Fault, Flow, Frame, InterpError, Interpret, NumOp, Program, Scalar, Tensor};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Fold, FoldValue, Verify, VerifyRegions};
use sutura_ir::{Attr, Context, OpRef, Type};

use super::combine::Combiner;
use super::interp::{
    Ran, broken, captured, combine, complex_product, parts, product, set_parts, state_numbers, symbols,
};
use super::ops::ScanOp;
use super::rule::{self, SizeRule};
use super::shape_fn::{Inferred, ShapeEnv, SymShape};
use super::verify::{check_joint, element, fail};
use crate::complex::{number_type, part_type};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::interp::SymbolValues;
use crate::elements::{accumulator_type, scalar_type};

pub(super) struct ScanRule;

impl SizeRule for ScanRule {
    fn sizes(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<Inferred, String> {
        let this = op.as_::<ScanOp<'_>>().ok_or("is no 'graph.scan'")?;
        let mut required = Vec::new();
        let inputs: Vec<SymShape> = op.operands().map(|v| env.shape(op, v).unwrap_or_default()).collect();
        let shape = rule::alike(&inputs, "tensor", &mut required)?.ok_or("combines no tensor")?;
        rule::axis(this.axis(), shape.len())?;
        let count = inputs.len();
        let (shapes, contents) = (vec![shape; count], vec![None; count]);
        Ok(Inferred { shapes, contents, required, ..Inferred::default() })
    }
}

impl Verify for ScanOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<ScanOp<'_>>() else { return Ok(()) };
        let (inputs, results) = (op.num_operands(), op.num_results());
        if inputs != results {
            return fail(op, diags, format_args!("has {inputs} inputs and {results} results, as many are needed"));
        }
        rule::verify(op, diags)?;
        for (input, result) in op.operands().zip(op.results()) {
            let elem = element(op, input);
            if elem != element(op, result) {
                return fail(op, diags, "input and result differ in element type");
            }
            let is_complex = part_type(op.cx, elem).is_some();
            if !is_complex && !elem.is_float(op.cx) && (!elem.is_signless_integer(op.cx) || elem == Type::I1) {
                return fail(op, diags, "combines floats, complex numbers, or signless integers of more than one bit");
            }
        }
        let regions = this.combine().count();
        if regions > 1 {
            return fail(op, diags, format_args!("has {regions} regions that join, at most one is allowed"));
        }
        if this.combine_state().is_some() != (regions == 1) {
            return fail(op, diags, "must have `state` and a region `combine` together, or neither");
        }
        match (this.combiner(), regions) {
            (Some(_), 1) => fail(op, diags, "has a `combiner` beside a region that joins"),
            (None, 1) => check_widths(op, diags),
            (None, _) => {
                let error = op.error("says not how elements are joined");
                Err(diags.report(error.help("give it a `combiner`, or a `state` and a region `combine`")))
            }
            (Some(_), _) if inputs > 1 => fail(op, diags, format_args!("has {inputs} inputs, a combiner joins one")),
            (Some(combiner), _) => {
                let elem = element(op, op.operand(0));
                if combiner.op_name(op.cx, accumulator_type(op.cx, elem)).is_some() {
                    return Ok(());
                }
                let word = combiner.keyword();
                fail(op, diags, format_args!("combiner '{word}' joins no numbers of this element type"))
            }
        }
    }
}

/// A state is rounded to elements at each place, which those of one byte are not made for.
fn check_widths(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let short = |elem: Type| elem.is_float(op.cx) && op.cx.bit_width(elem).is_some_and(|bits| bits <= 8);
    if op.operands().any(|input| short(element(op, input))) {
        let error = op.error("joins floats of one byte, each of which would be rounded to that");
        return Err(diags.report(error.help("convert the inputs to a wider type")));
    }
    Ok(())
}

impl VerifyRegions for ScanOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<ScanOp<'_>>() else { return Ok(()) };
        if this.combine().count() == 0 {
            return Ok(());
        }
        let Some(joint) = this.joint() else { return fail(op, diags, "has an empty region `combine`") };
        check_joint(op, joint, diags)?;
        for (i, (number, result)) in joint.state.identity.iter().zip(op.results()).enumerate() {
            if number_type(op.cx, *number) != Some(scalar_type(op.cx, element(op, result))) {
                let message = format!("number {i} of the state must have the element type of result {i}");
                return fail(op, diags, message);
            }
        }
        Ok(())
    }
}

impl Fold for ScanOp<'_> {
    /// Along a single element every element is its own combination.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Option<smallvec::SmallVec<[FoldValue; 1]>> {
        let scan = op.as_::<ScanOp<'_>>()?;
        let sizes = symbolic_shape(op.cx, op.operand_types().next()?)?;
        let single = sizes.get(scan.axis() as usize)?.as_ref().and_then(Poly::as_const) == Some(1);
        let same = op.operand_types().eq(op.result_types()) && sizes.iter().all(Option::is_some);
        (single && same && !scan.exclusive()).then(|| op.operands().map(FoldValue::Value).collect())
    }
}

/// How numbers are joined, and how they come to the accumulator's type and back.
pub(super) struct Joining {
    kernel: Kernel,
    identity: Scalar,
    widen: Option<Kernel>,
    narrow: Option<Kernel>,
}

impl Joining {
    /// By a combiner, of elements of that type.
    pub(super) fn of(cx: &Context, combiner: Combiner, elem: Type) -> Result<Self, Fault> {
        let combine = combine(cx, combiner, elem)?;
        let (held, dtype) = (combine.identity.dtype(), DType::expect(cx, elem)?);
        let (extend, round) = match held.is_float() {
            true => (NumOp::ExtF, NumOp::TruncF(Rounding::ToNearestEven)),
            false => (NumOp::ExtSI, NumOp::TruncI(Overflow::WRAP)),
        };
        Ok(Self {
            kernel: combine.op.with_types(&[held, held], held)?,
            identity: combine.identity,
            widen: (held != dtype).then(|| extend.with_types(&[dtype], held)).transpose()?,
            narrow: (held != dtype).then(|| round.with_types(&[held], dtype)).transpose()?,
        })
    }

    /// Elements joined with others, each rounded to an element.
    pub(super) fn joined(&self, a: &[u64], b: &[u64]) -> Result<Vec<u64>, Fault> {
        let (a, b) = (converted(self.widen.as_ref(), a)?, converted(self.widen.as_ref(), b)?);
        let mut made = vec![0; a.len()];
        self.kernel.eval_many(&[&a, &b], &mut made)?;
        converted(self.narrow.as_ref(), &made)
    }
}

fn converted(kernel: Option<&Kernel>, lanes: &[u64]) -> Result<Vec<u64>, Fault> {
    let Some(kernel) = kernel else { return Ok(lanes.to_vec()) };
    let mut out = vec![0; lanes.len()];
    kernel.eval_many(&[lanes], &mut out)?;
    Ok(out)
}

/// How the elements of all tensors at one place are joined to a state.
enum Join {
    /// Each number by itself.
    Numbers(Joining),
    /// All at once, from an identity on.
    State { join: Program, captured: Vec<Scalar>, identity: Vec<Scalar> },
}

impl Join {
    fn of(op: OpRef<'_>, scan: ScanOp<'_>, symbols: &SymbolValues) -> Result<Self, InterpError> {
        if let (Some(joint), Some(region)) = (scan.joint(), scan.combine().next()) {
            let join = Program::compile(region)?.wrapping();
            let captured = captured(op, &join, symbols)?;
            return Ok(Self::State { join, captured, identity: state_numbers(op.cx, joint.state)? });
        }
        let (Some(combiner), Some(elem)) = (scan.combiner(), op.operands().next().map(|v| element(op, v))) else {
            return broken().map_err(Into::into);
        };
        Ok(match complex_product(op.cx, combiner, elem)? {
            Some((join, identity)) => Self::State { join, captured: Vec::new(), identity },
            None => Self::Numbers(Joining::of(op.cx, combiner, part_type(op.cx, elem).unwrap_or(elem))?),
        })
    }
}

pub(super) struct ScanHook;

impl Interpret for ScanHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(scan) = op.as_::<ScanOp<'_>>() else { return broken().map_err(Into::into) };
        let symbols = symbols(frame)?;
        let join = Join::of(op, scan, &symbols)?;
        let mut inputs: Vec<Tensor> = Vec::new();
        for i in 0..op.num_operands() {
            let tensor = frame.tensor(i)?;
            if i > 0 && tensor.shape() != frame.tensor(0)?.shape() {
                let (first, shape) = (frame.tensor(0)?.shape(), tensor.shape());
                return Err(Fault::shape(format!("inputs 0 and {i} have shapes {first:?} and {shape:?}")).into());
            }
            inputs.extend(parts(tensor.clone()));
        }
        let made = match &join {
            Join::Numbers(joining) => {
                inputs.iter().map(|part| combined(scan, joining, part)).collect::<Result<_, Fault>>()?
            }
            Join::State { join, captured, identity } => {
                let states = States { join, captured, identity };
                states.combined(scan, &inputs)?
            }
        };
        set_parts(op, frame, made, &symbols)?;
        Ok(Flow::Next)
    }
}

/// Where the lines along an axis begin, and how far apart the elements of one are. A tensor without elements has none, however large
/// its other sizes are.
fn lines(shape: &[usize], axis: usize) -> (Vec<usize>, usize) {
    if shape.contains(&0) {
        return (Vec::new(), 0);
    }
    let (size, inner) = (shape[axis], product(&shape[axis + 1..]));
    let count = product(&shape[..axis]) * inner;
    ((0..count).map(|line| line / inner * inner * size + line % inner).collect(), inner)
}

/// Places along the axis in the order in which they are combined; none where there are no lines.
fn places(scan: ScanOp<'_>, shape: &[usize], lines: &[usize]) -> impl Iterator<Item = usize> + use<> {
    let size = if lines.is_empty() { 0 } else { shape[scan.axis() as usize] };
    let reverse = scan.reverse();
    (0..size).map(move |step| if reverse { size - 1 - step } else { step })
}

/// The bits of the elements at one place of all lines.
fn elements(tensor: &Tensor, lines: &[usize], at: usize) -> Result<Vec<u64>, Fault> {
    lines.iter().map(|line| tensor.data().read(line + at).map(Scalar::bits)).collect()
}

fn set_elements(tensor: &mut Tensor, lines: &[usize], at: usize, made: &[u64]) {
    let dtype = tensor.dtype();
    for (line, bits) in lines.iter().zip(made) {
        tensor.data_mut().set(line + at, Some(Scalar::from_bits(dtype, *bits)));
    }
}

/// The running combinations of real numbers.
fn combined(scan: ScanOp<'_>, joining: &Joining, input: &Tensor) -> Result<Tensor, Fault> {
    let shape = input.shape();
    // One lane for each line along the axis.
    let (lines, inner) = lines(shape, scan.axis() as usize);
    let mut out = Tensor::zeros(input.dtype(), shape)?;
    let mut sums = vec![joining.identity.bits(); lines.len()];
    for place in places(scan, shape, &lines) {
        let at = inner * place;
        let elements = converted(joining.widen.as_ref(), &elements(input, &lines, at)?)?;
        let mut next = vec![0; lines.len()];
        joining.kernel.eval_many(&[&sums, &elements], &mut next)?;
        let made = converted(joining.narrow.as_ref(), if scan.exclusive() { &sums } else { &next })?;
        set_elements(&mut out, &lines, at, &made);
        sums = next;
    }
    Ok(out)
}

/// What joins states.
struct States<'j> {
    join: &'j Program,
    captured: &'j [Scalar],
    identity: &'j [Scalar],
}

impl States<'_> {
    /// The running combinations of several tensors at once.
    fn combined(&self, scan: ScanOp<'_>, inputs: &[Tensor]) -> Result<Vec<Tensor>, Fault> {
        let Some(shape) = inputs.first().map(Tensor::shape) else { return broken() };
        let (lines, inner) = lines(shape, scan.axis() as usize);
        let mut out: Vec<Tensor> =
            inputs.iter().map(|input| Tensor::zeros(input.dtype(), shape)).collect::<Result<_, Fault>>()?;
        let mut state: Vec<Vec<u64>> = self.identity.iter().map(|n| vec![n.bits(); lines.len()]).collect();
        for place in places(scan, shape, &lines) {
            let at = inner * place;
            let here: Vec<Vec<u64>> =
                inputs.iter().map(|input| elements(input, &lines, at)).collect::<Result<_, Fault>>()?;
            let args: Vec<&[u64]> = state.iter().chain(&here).map(Vec::as_slice).collect();
            let next = self.join.call(self.captured, &args)?;
            let made = if scan.exclusive() { &state } else { &next };
            for (out, made) in out.iter_mut().zip(made) {
                set_elements(out, &lines, at, made);
            }
            state = next;
        }
        Ok(out)
    }
}
