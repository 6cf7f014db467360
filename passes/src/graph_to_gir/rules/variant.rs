//! What a search varies in the schedules that rules write.

use std::fmt;

/// One choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::graph_to_gir) enum Setting {
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

/// As people read it: `tile=12x32`, `columns=all`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tile(rows, columns) => write!(f, "tile={rows}x{columns}"),
            Self::Keys(0) => f.write_str("keys=fit"),
            Self::Keys(keys) => write!(f, "keys={keys}"),
            Self::Columns(0) => f.write_str("columns=all"),
            Self::Columns(columns) => write!(f, "columns={columns}"),
            Self::Resident(columns) => write!(f, "resident={columns}"),
            Self::Rows(rows) => write!(f, "rows={rows}"),
            Self::Parts(0) => f.write_str("parts=none"),
            Self::Parts(parts) => write!(f, "parts={parts}"),
            Self::Block(0) => f.write_str("block=none"),
            Self::Block(tiles) => write!(f, "block={tiles}"),
            Self::Inner(dims) => write!(f, "inner={dims}"),
        }
    }
}

/// Values of what can be chosen, the usual one first.
pub(in crate::graph_to_gir) type Axis = Vec<Setting>;

/// A schedule of a rule, by what differs from the one that it usually writes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::graph_to_gir) struct Variant {
    pub(in crate::graph_to_gir) settings: Vec<Setting>,
}

impl Variant {
    /// What `of` takes from a setting, if there is one.
    pub(in crate::graph_to_gir) fn find<T>(&self, of: impl Fn(&Setting) -> Option<T>) -> Option<T> {
        self.settings.iter().find_map(of)
    }

    /// All ways to choose along the axes, the usual one first, at most `most`; and how many there are.
    pub(in crate::graph_to_gir) fn all(axes: &[Axis], most: usize) -> (Vec<Self>, usize) {
        let count = axes.iter().map(Vec::len).fold(1, usize::saturating_mul);
        let of = |mut at: usize| {
            let mut settings = Vec::new();
            for axis in axes {
                let chosen = at % axis.len();
                at /= axis.len();
                settings.extend((chosen > 0).then(|| axis[chosen]));
            }
            Self { settings }
        };
        ((0..count.min(most)).map(of).collect(), count)
    }
}

/// As people read it: `columns=1024, parts=none`, or `usual`.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.settings.is_empty() {
            return f.write_str("usual");
        }
        let words: Vec<String> = self.settings.iter().map(ToString::to_string).collect();
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_are_products_with_the_usual_first() {
        let axes = [vec![Setting::Columns(0), Setting::Columns(64)], vec![Setting::Parts(4), Setting::Parts(0)]];
        let text = |most| {
            let (all, count) = Variant::all(&axes, most);
            (all.iter().map(ToString::to_string).collect::<Vec<_>>(), count)
        };
        let four = ["usual", "columns=64", "parts=none", "columns=64, parts=none"];
        assert_eq!(text(9), (four.map(str::to_owned).into(), 4));
        assert_eq!(text(2), (four[..2].iter().map(|s| (*s).to_owned()).collect(), 4));
        assert_eq!(Variant::all(&[], 9), (vec![Variant::default()], 1));
    }
}
