//! `non_max_suppression` beside its definition.

use proptest::prelude::*;

use super::{Data, few, random, run, try_run};
use crate::element::ElementType;

/// Rows that `non_max_suppression` selects.
fn selected(scores: &Data, boxes: &Data, (most, overlap, least): (i64, f32, Option<f32>), centers: bool) -> Vec<i64> {
    let inputs = [
        scores.clone(),
        boxes.clone(),
        Data::i64(&[1], &[most]),
        Data::f32(&[], &[overlap]),
        Data::f32(&[1], &[least.unwrap_or(0.0)]),
    ];
    let places = scores.dims.iter().product::<i64>();
    let params: [&[i64]; 3] = [&[i64::from(centers)], &[i64::from(least.is_some())], &[places]];
    let outputs = run("non_max_suppression/1", &inputs, &params, ElementType::F32);
    outputs[0].to_i64()[..3 * outputs[1].to_i64()[0] as usize].to_vec()
}

#[test]
fn boxes_that_overlap_better_ones_are_left_out() {
    // The example of the operator's specification.
    let corners = [
        [0.0, 0.0, 1.0, 1.0],
        [0.0, 0.1, 1.0, 1.1],
        [0.0, -0.1, 1.0, 0.9],
        [0.0, 10.0, 1.0, 11.0],
        [0.0, 10.1, 1.0, 11.1],
        [0.0, 100.0, 1.0, 101.0],
    ];
    let boxes = Data::f32(&[1, 6, 4], corners.as_flattened());
    let scores = Data::f32(&[1, 1, 6], &[0.9, 0.75, 0.6, 0.95, 0.5, 0.3]);
    assert_eq!(selected(&scores, &boxes, (3, 0.5, Some(0.0)), false), [0, 0, 3, 0, 0, 0, 0, 0, 5]);
    assert_eq!(selected(&scores, &boxes, (2, 0.5, Some(0.0)), false), [0, 0, 3, 0, 0, 0]);
    assert_eq!(selected(&scores, &boxes, (3, 0.5, Some(0.4)), false), [0, 0, 3, 0, 0, 0]);
    assert!(selected(&scores, &boxes, (0, 0.5, None), false).is_empty());
    assert!(selected(&scores, &boxes, (-1, 0.5, None), false).is_empty());
    // Corners in any order are the same box, and so are a center and sizes.
    let turned: Vec<f32> = corners.iter().flat_map(|[a, b, c, d]| [*c, *d, *a, *b]).collect();
    let turned = Data::f32(&[1, 6, 4], &turned);
    assert_eq!(selected(&scores, &turned, (3, 0.5, None), false), [0, 0, 3, 0, 0, 0, 0, 0, 5]);
    let middle: Vec<f32> =
        corners.iter().flat_map(|[a, b, c, d]| [(a + c) / 2.0, (b + d) / 2.0, c - a, d - b]).collect();
    let middle = Data::f32(&[1, 6, 4], &middle);
    assert_eq!(selected(&scores, &middle, (3, 0.5, None), true), [0, 0, 3, 0, 0, 0, 0, 0, 5]);
    // Of equal scores the lower number comes first; batches and classes are looked at one by one.
    let same = Data::f32(&[2, 2, 2], &[1.0; 8]);
    let two = Data::f32(&[2, 2, 4], [corners[0], corners[1], corners[0], corners[3]].as_flattened());
    let rows = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]];
    assert_eq!(selected(&same, &two, (9, 0.5, None), false), rows.as_flattened());
    let wrong = [same, two, Data::f32(&[1], &[1.0]), Data::f32(&[1], &[1.0]), Data::f32(&[1], &[1.0])];
    let error = try_run("non_max_suppression/1", &wrong, &[&[0], &[0], &[8]], ElementType::F32, 1).unwrap_err();
    assert!(error.contains("takes one number of type i64 and two floats as limits"), "{error}");
    assert!(selected(&Data::f32(&[0, 2, 2], &[]), &Data::f32(&[0, 2, 4], &[]), (1, 0.5, None), false).is_empty());
}

/// The least and the greatest coordinates of a box along each dimension.
fn corners([a, b, c, d]: [f32; 4], centers: bool) -> [(f32, f32); 2] {
    if centers {
        let span = |middle: f32, size: f32| (middle - size / 2.0, middle + size / 2.0);
        return [span(a, c), span(b, d)];
    }
    let span = |a: f32, b: f32| if a > b { (b, a) } else { (a, b) };
    [span(a, c), span(b, d)]
}

/// Whether what two boxes share is more than a part of what they cover together.
fn overlap(a: [(f32, f32); 2], b: [(f32, f32); 2], part: f32) -> bool {
    let shared = [0, 1].map(|dim| (a[dim].0.max(b[dim].0), a[dim].1.min(b[dim].1)));
    let area = |spans: [(f32, f32); 2]| (spans[0].1 - spans[0].0) * (spans[1].1 - spans[1].0);
    let (common, first, second) = (area(shared), area(a), area(b));
    let whole = first + second - common;
    !shared.iter().any(|(low, high)| high <= low)
        && common > 0.0
        && first > 0.0
        && second > 0.0
        && whole > 0.0
        && common / whole > part
}

/// What is to be selected of boxes with scores, as `docs/routines.md` says.
fn defined(scores: &Data, boxes: &Data, (most, part, least): (i64, f32, Option<f32>), centers: bool) -> Vec<i64> {
    let (places, scores, [batches, classes, spots]) =
        (boxes.to_f32(), scores.to_f32(), [0, 1, 2].map(|i| scores.dims[i]));
    let extent = |batch: i64, spot: i64| {
        let first = 4 * (batch * spots + spot) as usize;
        corners([0, 1, 2, 3].map(|i| places[first + i]), centers)
    };
    let mut rows = Vec::new();
    for (batch, class) in (0..batches).flat_map(|batch| (0..classes).map(move |class| (batch, class))) {
        let score = |spot: i64| scores[((batch * classes + class) * spots + spot) as usize];
        let mut order: Vec<i64> = (0..spots).filter(|spot| least.is_none_or(|least| score(*spot) > least)).collect();
        // NaN is before all numbers, and zeros are equal.
        order.sort_by(|a, b| {
            let (a, b) = (score(*a), score(*b));
            b.partial_cmp(&a).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
        });
        let mut chosen: Vec<i64> = Vec::new();
        for spot in order {
            let free = chosen.iter().all(|other| !overlap(extent(batch, spot), extent(batch, *other), part));
            if free && (chosen.len() as i64) < most {
                chosen.push(spot);
            }
        }
        rows.extend(chosen.into_iter().flat_map(|spot| [batch, class, spot]));
    }
    rows
}

/// One of some numbers, or one of `steps` numbers between 0 and 1 in most cases.
fn number(next: u64, special: &[f32], steps: u64) -> f32 {
    match special.get(next as usize % 64) {
        Some(special) => *special,
        None => ((next >> 8) % steps) as f32 / steps as f32,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 150 }, ..ProptestConfig::default() })]

    /// From boxes that hardly overlap to such that lie on one another, with equal scores and without, and what is no box or score.
    #[test]
    fn boxes_are_selected_as_defined(
        (batches, classes, spots) in (0i64..3, 1i64..4, prop_oneof![0i64..80, 80i64..500]),
        (most, part, least) in (prop_oneof![-1i64..20, 0i64..600], 0usize..9, prop::option::of(0usize..6)),
        (steps, spread, centers, seed) in (prop_oneof![1u64..5, Just(1 << 20)], 0usize..4, any::<bool>(), any::<u64>()),
    ) {
        let spots = if few() { spots % 90 } else { spots };
        let mut next = random(seed);
        let part = [0.5, 0.0, 0.1, 0.45, 0.9, 1.0, -1.0, f32::NAN, f32::INFINITY][part];
        let least = least.map(|least| [0.0, 0.3, 0.9, -1.0, f32::NAN, f32::NEG_INFINITY][least]);
        let odd = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, -0.5, 1e-44, f32::MAX];
        let scores: Vec<f32> = (0..batches * classes * spots).map(|_| number(next(), &odd, steps)).collect();
        let scale = [1.0, 4.0, 30.0, 1e4][spread];
        let boxes: Vec<f32> = (0..batches * spots)
            .flat_map(|_| {
                let odd = &odd[..if next().is_multiple_of(4) { odd.len() } else { 0 }];
                let [x, y] = [(); 2].map(|()| number(next(), odd, steps.max(9)) * scale);
                let [w, h] = [(); 2].map(|()| number(next(), odd, steps.max(3)));
                if centers { [x, y, w, h] } else { [x, y, x + w, y + h] }
            })
            .collect();
        let (scores, boxes) = (Data::f32(&[batches, classes, spots], &scores), Data::f32(&[batches, spots, 4], &boxes));
        let wanted = defined(&scores, &boxes, (most, part, least), centers);
        prop_assert_eq!(&selected(&scores, &boxes, (most, part, least), centers), &wanted);
        // Floats of another width take another way, and more of them.
        let wide = |data: &Data| {
            let bytes = data.to_f32().iter().flat_map(|x| f64::from(*x).to_ne_bytes()).collect();
            Data::new(ElementType::F64, &data.dims, bytes)
        };
        prop_assert_eq!(&selected(&wide(&scores), &wide(&boxes), (most, part, least), centers), &wanted);
    }
}
