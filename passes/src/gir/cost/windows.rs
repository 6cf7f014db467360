//! What of tiles and slices exists, for rewrites that put one in the place of another.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::types::Space;
use sutura_ir::{OpRef, Type, Value};

use super::count::{Tile, walked};
use super::sum::Span;

/// Where a slice lies.
pub(super) struct Place {
    pub(super) view: Value,
    pub(super) offsets: Vec<Poly>,
    /// Dimensions and steps along which rows and columns lie.
    pub(super) along: [(Option<i64>, i64); 2],
    pub(super) rows: Span,
    pub(super) cols: Span,
    pub(super) space: Space,
    pub(super) elem: Type,
}

/// Windows of a kernel's tiles and slices.
pub struct Windows {
    pub(super) tiles: HashMap<Value, Tile>,
    pub(super) slices: HashMap<Value, Place>,
}

impl Windows {
    /// Windows of a kernel; `machine` gives intrinsics their meaning.
    ///
    /// # Errors
    /// Says what of the kernel is not known.
    pub fn of<'a>(kernel: OpRef<'a>, machine: Option<OpRef<'a>>) -> Result<Self, String> {
        let info = KernelInfo::read(kernel)?;
        walked(&info, &mut Bounds::of_kernel(&info), machine).map(|(_, windows)| windows)
    }

    /// True when storing the tile to the slice writes all of the slice that exists, and the tile exists nowhere else: so
    /// the tile is what a load of the slice would give.
    pub fn gives(&self, tile: Value, slice: Value) -> bool {
        let (Some(tile), Some(slice)) = (self.tiles.get(&tile), self.slices.get(&slice)) else { return false };
        if tile.everywhere {
            return slice.rows.is_whole() && slice.cols.is_whole();
        }
        let window = (&tile.rows, &tile.cols) == (&slice.rows, &slice.cols);
        window && (&tile.defined.0, &tile.defined.1) == (&slice.rows, &slice.cols)
    }

    /// True when two slices are the same window of the same memory.
    pub fn same_place(&self, a: Value, b: Value) -> bool {
        let (Some(a), Some(b)) = (self.slices.get(&a), self.slices.get(&b)) else { return false };
        let place = |p: &Place| (p.view, p.along, p.elem);
        place(a) == place(b) && (&a.offsets, &a.rows, &a.cols) == (&b.offsets, &b.rows, &b.cols)
    }

    /// True when all of the slice exists.
    pub fn is_whole(&self, slice: Value) -> bool {
        self.slices.get(&slice).is_some_and(|s| s.rows.is_whole() && s.cols.is_whole())
    }

    /// The space in which a slice lies.
    pub fn space_of(&self, slice: Value) -> Option<Space> {
        self.slices.get(&slice).map(|s| s.space.clone())
    }
}
