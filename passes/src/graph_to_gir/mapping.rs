//! How a region is mapped to groups and tiles: settings that stand apart from what is usual, and their text.

use std::fmt;

use sutura_ir::{Attr, OpRef};

use super::kernel::Built;

/// Discardable attribute of a region: how to lower it, as settings such as `"tile=12x32"` or `"columns=1024, parts=32"`, or
/// `"usual"`. It stands above what predictions say.
pub const MAPPING_ATTR: &str = "graph.mapping";

/// What says that all is as usual.
const USUAL: &str = "usual";

/// One choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Setting {
    /// Rows and columns of the register tile of products that comes before all others.
    Tile(i64, i64),
    /// Most keys of an attention that are kept in the cache together; with 0 what half of it holds.
    Keys(i64),
    /// Columns of a group's tile; with 0 all.
    Columns(i64),
    /// Longest row that is kept in the cache between passes over it.
    Resident(i64),
    /// Most rows of a group.
    Rows(i64),
    /// Parts in which sums along many rows are made; with 0 they are not divided.
    Parts(i64),
    /// Square tiles along a side of a group's block; with 0 there are none.
    Block(i64),
    /// Dims of what is made that a group loops over, of those that could be of the grid, the innermost ones.
    Inner(i64),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tile(rows, columns) => write!(f, "tile={rows}x{columns}"),
            Self::Keys(0) => write!(f, "keys=fit"),
            Self::Keys(n) => write!(f, "keys={n}"),
            Self::Columns(0) => write!(f, "columns=all"),
            Self::Columns(n) => write!(f, "columns={n}"),
            Self::Resident(n) => write!(f, "resident={n}"),
            Self::Rows(n) => write!(f, "rows={n}"),
            Self::Parts(0) => write!(f, "parts=none"),
            Self::Parts(n) => write!(f, "parts={n}"),
            Self::Block(0) => write!(f, "block=none"),
            Self::Block(n) => write!(f, "block={n}"),
            Self::Inner(n) => write!(f, "inner={n}"),
        }
    }
}

/// Values of what can be chosen, the usual one first.
pub(super) type Axis = Vec<Setting>;

/// Settings of a region; what has none is as usual.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Mapping(Vec<Setting>);

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str(USUAL);
        }
        self.0.iter().enumerate().try_for_each(|(i, setting)| write!(f, "{}{setting}", if i > 0 { ", " } else { "" }))
    }
}

impl Mapping {
    /// What differs from the usual.
    pub(super) fn settings(&self) -> &[Setting] {
        &self.0
    }

    /// The first register tile, if one is set.
    pub(super) fn tile(&self) -> Option<(i64, i64)> {
        self.0.iter().find_map(|setting| match setting {
            Setting::Tile(rows, columns) => Some((*rows, *columns)),
            _ => None,
        })
    }

    /// Most keys of an attention that are kept together, if that is set.
    pub(super) fn keys(&self) -> Option<i64> {
        self.0.iter().find_map(|setting| match setting {
            Setting::Keys(keys) => Some(*keys),
            _ => None,
        })
    }

    /// All ways to choose along the axes, the usual one first, at most `most`; and how many there are.
    pub(super) fn all(axes: &[Axis], most: usize) -> (Vec<Self>, usize) {
        let count = axes.iter().map(Vec::len).fold(1, usize::saturating_mul);
        let of = |mut at: usize| {
            let mut settings = Vec::new();
            for axis in axes {
                let chosen = at % axis.len();
                at /= axis.len();
                settings.extend((chosen > 0).then(|| axis[chosen]));
            }
            Self(settings)
        };
        ((0..count.min(most)).map(of).collect(), count)
    }

    /// What the attribute of a region says.
    ///
    /// # Errors
    /// When it names what the region does not have, or something twice.
    pub(super) fn read(op: OpRef<'_>, attr: Attr, axes: &[Axis]) -> Built<Self> {
        let Some(text) = op.cx.as_str(attr) else {
            let message = format!("has an attribute `{MAPPING_ATTR}` that is no string");
            return Err(Box::new(op.error(message).help(hint(axes))));
        };
        let mut settings = Vec::new();
        let mut seen: Vec<usize> = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| *word != USUAL) {
            let named = |(at, axis): (usize, &Axis)| {
                let place = axis.iter().position(|setting| setting.to_string() == word)?;
                Some((at, place))
            };
            let Some((at, place)) = axes.iter().enumerate().find_map(named) else {
                let message = format!("asks for the mapping \"{word}\", which this region does not have");
                return Err(Box::new(op.error(message).help(hint(axes))));
            };
            if seen.contains(&at) {
                let message = format!("asks for \"{word}\" beside another setting of the same");
                return Err(Box::new(op.error(message).help(hint(axes))));
            }
            seen.push(at);
            settings.extend((place > 0).then(|| (at, axes[at][place])));
        }
        settings.sort_by_key(|(at, _)| *at);
        Ok(Self(settings.into_iter().map(|(_, setting)| setting).collect()))
    }
}

/// What can be chosen.
fn hint(axes: &[Axis]) -> String {
    if axes.is_empty() {
        return format!("it has nothing to choose: remove the attribute, or say \"{USUAL}\"");
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
            let (all, count) = Mapping::all(&axes, most);
            (all.iter().map(ToString::to_string).collect::<Vec<_>>(), count)
        };
        let four = ["usual", "columns=64", "parts=none", "columns=64, parts=none"];
        assert_eq!(text(9), (four.map(str::to_owned).into(), 4));
        assert_eq!(text(2), (four[..2].iter().map(|s| (*s).to_owned()).collect(), 4));
        assert_eq!(Mapping::all(&[], 9), (vec![Mapping::default()], 1));
    }
}
