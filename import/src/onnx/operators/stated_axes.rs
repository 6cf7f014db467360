//! Axes that data say, where the model states the sizes of the result: what each choice of axes makes that gives these sizes is
//! computed, and the data pick one. No size is decided in the run, so that it compiles for a device too; axes that give other sizes are an
//! index outside a list, an error at run time.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made};

/// Choices that are computed beside each other.
const MOST_CHOICES: usize = 8;
/// Dims whose choices are gone through.
const MOST_DIMS: usize = 12;

/// What becomes of a dim that is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    /// It has size 1 in the result.
    Kept,
    /// The result lacks it.
    Gone,
    /// The result has it, of size 1, and the tensor lacks it.
    New,
}

/// Which dims `count` axes may be, so that a tensor of these sizes becomes what the model states of the node's result; none where
/// sizes are not all numbers.
pub(super) fn choices(importer: &Importer<'_, '_, '_>, dims: &[Poly], count: usize, chosen: Chosen) -> Vec<Vec<usize>> {
    let sizes: Option<Vec<i64>> = dims.iter().map(Poly::as_const).collect();
    let (Some(sizes), Some(stated)) = (sizes, importer.stated()) else { return Vec::new() };
    let all = if chosen == Chosen::New { sizes.len() + count } else { sizes.len() };
    if all > MOST_DIMS || count > all {
        return Vec::new();
    }
    let axes = |mask: usize| (0..all).filter(|d| mask >> d & 1 == 1).collect::<Vec<usize>>();
    let masks = (0..1usize << all).filter(|mask| mask.count_ones() as usize == count);
    masks.map(axes).filter(|axes| made(&sizes, axes, chosen) == stated).collect()
}

/// The sizes that come out.
fn made(sizes: &[i64], axes: &[usize], chosen: Chosen) -> Vec<i64> {
    let one = |d: usize| axes.contains(&d);
    let own = || sizes.iter().copied().enumerate();
    match chosen {
        Chosen::Kept => own().map(|(d, size)| if one(d) { 1 } else { size }).collect(),
        Chosen::Gone => own().filter(|(d, _)| !one(*d)).map(|(_, size)| size).collect(),
        Chosen::New => {
            let mut rest = sizes.iter().copied();
            (0..sizes.len() + axes.len()).map(|d| if one(d) { 1 } else { rest.next().unwrap_or(1) }).collect()
        }
    }
}

/// Whether it is sensible to compute all that these choices make.
pub(super) fn are_few(choices: &[Vec<usize>]) -> bool {
    (1..=MOST_CHOICES).contains(&choices.len())
}

/// The one of `made` that belongs to the choice that `marks` says, a list with 1 for each axis; one alone belongs to all.
pub(super) fn picked(
    importer: &mut Importer<'_, '_, '_>,
    marks: Value,
    choices: &[Vec<usize>],
    made: &[Value],
) -> Made {
    let rank = importer.g.shape(marks)[0].as_ref().and_then(Poly::as_const).unwrap_or(0);
    let mark = |at: i64| ComputeInput { value: marks, index: vec![importer.cx().affine_const(at)], oob: None };
    let inputs = (0..rank).map(mark).collect();
    let result = ComputeResult { shape: Vec::new(), elem: Type::I64, index: Vec::new(), combiner: None };
    let count = made.len();
    let op = importer.g.compute(&[], inputs, vec![result], |s, marks| {
        let zero = s.int(0, Type::I64);
        let mut place = s.int(count as i64, Type::I64);
        for (number, axes) in choices.iter().enumerate() {
            let mut all = s.int(1, Type::I1);
            for (d, mark) in marks.iter().enumerate() {
                let comparison = if axes.contains(&d) { Comparison::NotEqual } else { Comparison::Equal };
                let holds = s.compare(comparison, *mark, zero);
                all = s.bits("arith.andi", all, holds);
            }
            let number = s.int(if count == 1 { 0 } else { number as i64 }, Type::I64);
            place = s.select(all, number, place);
        }
        vec![place]
    });
    let place = importer.g.b.body().result(op, 0);
    let mut rows = Vec::new();
    for value in made {
        rows.push(importer.g.unsqueeze(*value, &[0])?);
    }
    let all = if let [row] = rows[..] { row } else { importer.g.concat(&rows, 0)? };
    Ok(importer.g.gather(all, place, 0))
}
