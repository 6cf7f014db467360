//! What `non_max_suppression` does.

use std::cmp::Ordering;

use sutura_interp::{DType, Fault, Scalar, Tensor};

use super::sort::compare;
use super::{Run, integers};

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let [scores, boxes, most, overlap, least] = call.inputs else { return Err(Fault::invalid_ir("takes five inputs")) };
    let [batches, classes, spots] = scores.shape() else { return Err(Fault::shape("takes scores of rank 3")) };
    let number =
        |tensor: &Tensor, at: usize| -> Result<f32, Fault> { Ok(tensor.data().read(at)?.to_f64_lossy() as f32) };
    let most = most.data().read(0)?.as_i64().unwrap_or(0).max(0) as usize;
    let (overlap, least) = (number(overlap, 0)?, number(least, 0)?);
    let (filtered, centers) = (call.param("filtered") == [1], call.param("centers") == [1]);
    let mut rows: Vec<i64> = Vec::new();
    for part in 0..batches * classes {
        let mut order = Vec::new();
        for spot in 0..*spots {
            let score = scores.data().read(part * spots + spot)?;
            if !filtered || number(scores, part * spots + spot)? > least {
                order.push((score, spot));
            }
        }
        order.sort_by(|a, b| compare(b.0, a.0));
        let mut selected: Vec<[f32; 4]> = Vec::new();
        for (_, spot) in order {
            if selected.len() == most {
                break;
            }
            let first = (part / classes * spots + spot) * 4;
            let place = [0, 1, 2, 3].map(|i| number(boxes, first + i));
            let [a, b, c, d] = place;
            let own = ends([a?, b?, c?, d?], centers);
            if !selected.iter().any(|other| share(own, *other) > overlap) {
                selected.push(own);
                rows.extend([part / classes, part % classes, spot].map(|index| index as i64));
            }
        }
    }
    let count = rows.len() / 3;
    let rows = rows.into_iter().map(|index| Scalar::int(index, DType::I64));
    Ok(vec![Tensor::from_scalars(DType::I64, &[count, 3], rows)?, integers(&[count as i64])?])
}

/// The least and the greatest coordinates of a box.
fn ends([a, b, c, d]: [f32; 4], centers: bool) -> [f32; 4] {
    match centers {
        true => [a - c / 2.0, b - d / 2.0, a + c / 2.0, b + d / 2.0],
        false => {
            let sorted = |a: f32, b: f32| if a.partial_cmp(&b) == Some(Ordering::Greater) { (b, a) } else { (a, b) };
            let ((a, c), (b, d)) = (sorted(a, c), sorted(b, d));
            [a, b, c, d]
        }
    }
}

/// The part of what two boxes cover that both do, below zero where they share nothing.
fn share(a: [f32; 4], b: [f32; 4]) -> f32 {
    let (low, high) = ([a[0].max(b[0]), a[1].max(b[1])], [a[2].min(b[2]), a[3].min(b[3])]);
    let area = |c: [f32; 4]| (c[2] - c[0]) * (c[3] - c[1]);
    let (common, one, other) = (area([low[0], low[1], high[0], high[1]]), area(a), area(b));
    let whole = one + other - common;
    let none = high[0] <= low[0] || high[1] <= low[1] || common <= 0.0 || one <= 0.0 || other <= 0.0 || whole <= 0.0;
    if none { f32::NEG_INFINITY } else { common / whole }
}
