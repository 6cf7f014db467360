//! Running combinations: how they are run and what they fold to.

use sutura_interp::num::{Kernel, Overflow, Rounding};
use sutura_interp::{DType, Fault, Flow, Frame, Interpret, NumOp, Scalar, Tensor};
use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::{Attr, Context, OpRef, Type};

use super::combine::Combiner;
use super::interp::{Ran, broken, combine, product, set, symbols};
use super::ops::ScanOp;
use crate::complex::part_type;
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;

impl Fold for ScanOp<'_> {
    /// Along a single element every element is its own combination.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Option<smallvec::SmallVec<[FoldValue; 1]>> {
        let scan = op.as_::<ScanOp<'_>>()?;
        let sizes = symbolic_shape(op.cx, op.ty(scan.input()))?;
        let single = sizes.get(scan.axis() as usize)?.as_ref().and_then(Poly::as_const) == Some(1);
        let same = op.ty(scan.input()) == op.ty(scan.result()) && sizes.iter().all(Option::is_some);
        (single && same && !scan.exclusive()).then(|| smallvec::smallvec![FoldValue::Value(scan.input())])
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

pub(super) struct ScanHook;

impl Interpret for ScanHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(scan) = op.as_::<ScanOp<'_>>() else { return broken().map_err(Into::into) };
        let symbols = symbols(frame)?;
        let (input, elem) = (frame.tensor(0)?.clone(), op.cx.element_type(op.ty(scan.result())));
        let joining = Joining::of(op.cx, scan.combiner(), part_type(op.cx, elem).unwrap_or(elem))?;
        let made = each_part(&[&input], |parts| combined(scan, &joining, parts[0]))?;
        set(frame, 0, made, &symbols)?;
        Ok(Flow::Next)
    }
}

/// What a function makes of tensors; of complex ones, which are only added, what it makes of real and of imaginary parts.
pub(super) fn each_part(
    tensors: &[&Tensor],
    function: impl Fn(&[&Tensor]) -> Result<Tensor, Fault>,
) -> Result<Tensor, Fault> {
    let [real, imaginary] = [0, 1].map(|i| tensors.iter().map(|t| t.part(i)).collect::<Option<Vec<Tensor>>>());
    match (real, imaginary) {
        (Some(real), Some(imaginary)) => {
            let [re, im] = [real, imaginary].map(|parts| function(&parts.iter().collect::<Vec<_>>()));
            Tensor::of_parts(&re?, &im?)
        }
        _ => function(tensors),
    }
}

/// The running combinations of real numbers.
fn combined(scan: ScanOp<'_>, joining: &Joining, input: &Tensor) -> Result<Tensor, Fault> {
    let (axis, shape) = (scan.axis() as usize, input.shape());
    if input.is_empty() {
        return Ok(input.clone());
    }
    let (size, inner) = (shape[axis], product(&shape[axis + 1..]));
    // One lane for each line along the axis, and where the line begins.
    let lines: Vec<usize> =
        (0..product(&shape[..axis]) * inner).map(|line| line / inner * inner * size + line % inner).collect();
    let mut out = Tensor::zeros(input.dtype(), shape)?;
    let mut sums = vec![joining.identity.bits(); lines.len()];
    for step in 0..if lines.is_empty() { 0 } else { size } {
        let at = inner * if scan.reverse() { size - 1 - step } else { step };
        let read = |line: &usize| input.data().read(line + at).map(Scalar::bits);
        let elements = lines.iter().map(read).collect::<Result<Vec<u64>, Fault>>()?;
        let elements = converted(joining.widen.as_ref(), &elements)?;
        let mut next = vec![0; lines.len()];
        joining.kernel.eval_many(&[&sums, &elements], &mut next)?;
        let made = converted(joining.narrow.as_ref(), if scan.exclusive() { &sums } else { &next })?;
        for (line, bits) in lines.iter().zip(made) {
            out.data_mut().set(line + at, Some(Scalar::from_bits(input.dtype(), bits)));
        }
        sums = next;
    }
    Ok(out)
}
