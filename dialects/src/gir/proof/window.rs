//! Windows of tiles as sets of conditions, so that equal windows are equal sets.

use std::collections::BTreeSet;
use std::fmt;

use crate::r#dyn::poly::Poly;
use crate::gir::bounds::Bounds;

/// A condition on the position `i` along one direction of a tile.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Limit {
    /// `offset + i * step` is not negative.
    From { offset: Poly, step: i64 },
    /// `i * step` is below `room`.
    Below { room: Poly, step: i64 },
    /// The position exists only if a single row or column elsewhere did. No two of these are equal.
    Unknown(usize),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = |step: &i64| if *step == 1 { String::new() } else { format!("{step}*") };
        match self {
            Self::From { offset, step } => write!(f, "{}i from {}", times(step), offset.scale(-1)),
            Self::Below { room, step } => write!(f, "{}i below {room}", times(step)),
            Self::Unknown(_) => f.write_str("unknown"),
        }
    }
}

/// What exists along one direction: everything that meets all conditions. No condition means the whole extent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Span(pub(super) BTreeSet<Limit>);

impl Span {
    /// What of `extent` positions, `step` apart from `offset` on, lies within `size`.
    pub(super) fn clip(bounds: &Bounds<'_>, offset: &Poly, step: i64, extent: &Poly, size: &Poly) -> Self {
        let mut limits = BTreeSet::new();
        if !bounds.never_negative(offset) {
            limits.insert(Limit::From { offset: bounds.facts.canonical(offset), step });
        }
        let last = offset.add(&extent.sub(&1.into()).scale(step));
        if !bounds.never_negative(&size.sub(&last).sub(&1.into())) {
            limits.insert(Limit::Below { room: bounds.facts.canonical(&size.sub(offset)), step });
        }
        Self(limits)
    }

    /// What exists in both.
    pub(super) fn and(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// True when everything that exists in `inner` exists here.
    pub(super) fn covers(&self, inner: &Self) -> bool {
        self.0.is_subset(&inner.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("all");
        }
        for (i, limit) in self.0.iter().enumerate() {
            write!(f, "{}{limit}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// Rows and columns that exist.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Rect {
    pub(super) rows: Span,
    pub(super) cols: Span,
}

impl Rect {
    pub(super) fn and(&self, other: &Self) -> Self {
        Self { rows: self.rows.and(&other.rows), cols: self.cols.and(&other.cols) }
    }

    pub(super) fn covers(&self, inner: &Self) -> bool {
        self.rows.covers(&inner.rows) && self.cols.covers(&inner.cols)
    }

    pub(super) fn turned(&self) -> Self {
        Self { rows: self.cols.clone(), cols: self.rows.clone() }
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rows {}; columns {}", self.rows, self.cols)
    }
}

/// What is known of a tile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct TileFacts {
    /// Its window.
    pub(super) window: Rect,
    /// It follows from no memory: it has elements wherever another operand has.
    pub(super) everywhere: bool,
    /// Elements of the window that have a value.
    pub(super) defined: Rect,
}

impl TileFacts {
    /// A tile of which everything in the window has a value.
    pub(super) fn of(window: Rect) -> Self {
        Self { defined: window.clone(), window, everywhere: false }
    }

    /// `fill`, `iota`.
    pub(super) fn everywhere() -> Self {
        Self { everywhere: true, ..Self::default() }
    }

    /// The tile of operands that must have one window.
    ///
    /// # Errors
    /// Says which windows differ.
    pub(super) fn common<'t>(tiles: impl IntoIterator<Item = &'t Self>) -> Result<Self, String> {
        let mut common: Option<Self> = None;
        for tile in tiles {
            let Some(before) = &mut common else {
                common = Some(tile.clone());
                continue;
            };
            if before.everywhere && !tile.everywhere {
                before.window = tile.window.clone();
                before.everywhere = false;
            } else if !tile.everywhere && before.window != tile.window {
                return Err(format!(
                    "takes operands whose windows are not proven equal: ({}) and ({})",
                    before.window, tile.window
                ));
            }
            before.defined = before.defined.and(&tile.defined);
        }
        let mut common = common.unwrap_or_default();
        common.defined = common.defined.and(&common.window);
        Ok(common)
    }

    /// True when a condition depends on the size or index `name`.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let depends = |limit: &Limit| match limit {
            Limit::From { offset: poly, .. } | Limit::Below { room: poly, .. } => poly.symbols().contains(name),
            Limit::Unknown(_) => false,
        };
        [&self.window, &self.defined].iter().any(|r| r.rows.0.iter().chain(&r.cols.0).any(depends))
    }

    /// Fails unless every element of `needed` has a value.
    pub(super) fn need(&self, needed: &Rect, what: &str) -> Result<(), String> {
        if self.defined.covers(needed) {
            return Ok(());
        }
        Err(format!(
            "{what} elements that may not exist: it takes ({needed}), and a broadcast left only ({})",
            self.defined
        ))
    }
}
