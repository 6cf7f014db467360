//! The ways in which a region can be mapped to groups and tiles: plans along axes of settings.

use sutura_dialects::graph::{PlanAttr, Setting};
use sutura_ir::OpRef;

use super::kernel::Built;

/// Values of what can be chosen, the usual one first.
pub(super) type Axis = Vec<Setting>;

/// The first register tile, if a plan sets one.
pub(super) fn tile(plan: &PlanAttr) -> Option<(i64, i64)> {
    plan.settings.iter().find_map(|setting| match setting {
        Setting::Tile(rows, columns) => Some((*rows, *columns)),
        _ => None,
    })
}

/// Most keys of an attention that are kept together, if a plan sets that.
pub(super) fn keys(plan: &PlanAttr) -> Option<i64> {
    plan.settings.iter().find_map(|setting| match setting {
        Setting::Keys(keys) => Some(*keys),
        _ => None,
    })
}

/// All ways to choose along the axes, the usual one first, at most `most`; and how many there are.
pub(super) fn all(axes: &[Axis], most: usize) -> (Vec<PlanAttr>, usize) {
    let count = axes.iter().map(Vec::len).fold(1, usize::saturating_mul);
    let of = |mut at: usize| {
        let mut settings = Vec::new();
        for axis in axes {
            let chosen = at % axis.len();
            at /= axis.len();
            settings.extend((chosen > 0).then(|| axis[chosen]));
        }
        PlanAttr { settings }
    };
    ((0..count.min(most)).map(of).collect(), count)
}

/// What the plan of a region says, with its settings in the order of the axes and without usual ones.
///
/// # Errors
/// When it has a setting that the region does not have.
pub(super) fn checked(op: OpRef<'_>, plan: &PlanAttr, axes: &[Axis]) -> Built<PlanAttr> {
    let mut settings = Vec::new();
    for setting in &plan.settings {
        let of_axis = |(at, axis): (usize, &Axis)| Some((at, axis.iter().position(|other| other == setting)?));
        let Some((at, place)) = axes.iter().enumerate().find_map(of_axis) else {
            let message = format!("has a plan with \"{setting}\", which this region does not have");
            return Err(Box::new(op.error(message).help(hint(axes))));
        };
        settings.extend((place > 0).then_some((at, *setting)));
    }
    settings.sort_by_key(|(at, _)| *at);
    Ok(PlanAttr { settings: settings.into_iter().map(|(_, setting)| setting).collect() })
}

/// What can be chosen.
fn hint(axes: &[Axis]) -> String {
    if axes.is_empty() {
        return "it has nothing to choose: remove the plan".to_owned();
    }
    let axis = |axis: &Axis| {
        let (usual, others) = axis.split_first().expect("an axis has a usual value");
        let others: Vec<String> = others.iter().map(|s| format!("\"{s}\"")).collect();
        format!("\"{usual}\" (usual) or {}", others.join(", "))
    };
    format!("it has {}", axes.iter().map(axis).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_are_products_with_the_usual_first() {
        let axes = [vec![Setting::Columns(0), Setting::Columns(64)], vec![Setting::Parts(4), Setting::Parts(0)]];
        let text = |most| {
            let (all, count) = all(&axes, most);
            (all.iter().map(ToString::to_string).collect::<Vec<_>>(), count)
        };
        let four = ["usual", "columns=64", "parts=none", "columns=64, parts=none"];
        assert_eq!(text(9), (four.map(str::to_owned).into(), 4));
        assert_eq!(text(2), (four[..2].iter().map(|s| (*s).to_owned()).collect(), 4));
        assert_eq!(all(&[], 9), (vec![PlanAttr::default()], 1));
    }
}
