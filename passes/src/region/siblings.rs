//! Ops that do not read each other but read the same tensor: they run through it together.

use std::collections::HashMap;

use sutura_dialects::graph::form::Form;
use sutura_dialects::graph::maps;
use sutura_ir::Value;

/// An op and one of its iterators.
type Iterator = (usize, usize);

/// Iterators that become one, because two ops between which nothing flows read the same dimension of a tensor with them.
/// Ops that are connected by what they make are not touched: how they run together follows from that.
pub(super) fn pairs(forms: &[Form<'_>]) -> Vec<(Iterator, Iterator)> {
    let mut group: Vec<usize> = (0..forms.len()).collect();
    let mut maker: HashMap<Value, usize> = HashMap::new();
    for (i, form) in forms.iter().enumerate() {
        for from in form.inputs.iter().copied().filter_map(|v| maker.get(&v).copied()) {
            join(&mut group, from, i);
        }
        maker.extend(form.results().map(|v| (v, i)));
    }
    let mut readers: HashMap<Value, Vec<(usize, usize)>> = HashMap::new();
    let mut pairs = Vec::new();
    for (i, form) in forms.iter().enumerate() {
        for (input, value) in form
            .inputs
            .iter()
            .copied()
            .enumerate()
            .filter(|(input, v)| !maker.contains_key(v) && form.oob[*input].is_none())
        {
            let earlier = readers.entry(value).or_default();
            let stranger = earlier.iter().copied().find(|(other, _)| group[*other] != group[i]);
            earlier.push((i, input));
            let Some((other, read)) = stranger else { continue };
            let same = together((&forms[other], read), (&forms[i], input));
            if !same.is_empty() {
                pairs.extend(same.into_iter().map(|(a, b)| ((other, a), (i, b))));
                join(&mut group, other, i);
            }
        }
    }
    pairs
}

fn join(group: &mut [usize], a: usize, b: usize) {
    let (keep, gone) = (group[a].min(group[b]), group[a].max(group[b]));
    group.iter_mut().filter(|g| **g == gone).for_each(|g| *g = keep);
}

/// Iterators by which two ops read the same dimensions.
fn together((a, i): (&Form<'_>, usize), (b, j): (&Form<'_>, usize)) -> Vec<(usize, usize)> {
    let cx = a.op.cx;
    let (first, second) = (cx.map_results(a.input_maps[i]), cx.map_results(b.input_maps[j]));
    let plain = |(x, y): (&_, &_)| Some((maps::plain_dim(cx, *x)?, maps::plain_dim(cx, *y)?));
    first.iter().zip(second).filter_map(plain).collect()
}
