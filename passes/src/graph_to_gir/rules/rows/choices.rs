//! What a search varies in the schedules of rows.

use super::super::blocks::ROWS;
use super::super::variant::{Axis, Setting, Variant};
use super::{Rows, normal_form};
use crate::graph_to_gir::region::FusedRegion;
use crate::region::rows::Sharing;

/// Columns of tiles that a search tries where nothing is combined along them.
const TILES: [i64; 3] = [1024, 4096, 16384];

/// Rows of a group that a search tries beside the usual ones. More save next to nothing, and leave less to share among threads,
/// of which predictions and measurements on one know nothing.
const FEWER: [i64; 2] = [1, 4];

/// Sizes from which on other versions serve; see the options of the pass.
#[derive(Clone, Copy, Debug)]
pub(in crate::graph_to_gir) struct Thresholds {
    /// Longest row that is kept in the cache between passes over it.
    pub(in crate::graph_to_gir) resident: i64,
    /// Parts of a dim that is combined along.
    pub(in crate::graph_to_gir) parts: i64,
    /// Fewest rows of a part.
    pub(in crate::graph_to_gir) part_rows: i64,
    /// Columns of a tile, all with 0; `None` for what is usual.
    pub(in crate::graph_to_gir) columns: Option<i64>,
    /// Most rows of a group; `None` for what is usual.
    pub(in crate::graph_to_gir) rows: Option<i64>,
    /// Square tiles along a side of a block, none with 0; `None` for what is usual.
    pub(in crate::graph_to_gir) block: Option<i64>,
}

impl Thresholds {
    /// These, with the settings of a variant.
    pub(in crate::graph_to_gir) fn with(mut self, variant: &Variant) -> Self {
        for setting in &variant.settings {
            match *setting {
                Setting::Columns(columns) => self.columns = Some(columns),
                Setting::Resident(columns) => self.resident = columns,
                Setting::Rows(rows) => self.rows = Some(rows),
                Setting::Parts(parts) => self.parts = parts,
                Setting::Block(tiles) => self.block = Some(tiles),
                Setting::Tile(..) | Setting::Keys(_) | Setting::Inner(_) => {}
            }
        }
        self
    }
}

/// What can be chosen of a row region, each with the usual value first; nothing of one that cannot be lowered.
pub(in crate::graph_to_gir) fn axes(region: &FusedRegion<'_>, thresholds: Thresholds) -> Vec<Axis> {
    let Ok((nest, plan)) = normal_form(region) else { return vec![] };
    Rows::new(region, &nest, &plan, thresholds).axes()
}

impl Rows<'_, '_> {
    /// What can be chosen, each with the usual value first.
    fn axes(&self) -> Vec<Axis> {
        let Thresholds { resident, parts, .. } = self.thresholds;
        let or = |usual: Setting, others: &[Setting]| {
            std::iter::once(usual).chain(others.iter().copied().filter(|other| *other != usual)).collect::<Axis>()
        };
        let mut axes = Vec::new();
        if self.plan.sharing == Sharing::Columns {
            let wide = self.shares.tile_columns(self.carried());
            axes.push(or(Setting::Columns(wide), &[wide / 2, wide * 2].map(Setting::Columns)));
        } else if self.plan.sharing == Sharing::Rows && self.tileable() {
            let narrower = TILES.into_iter().filter(|columns| !self.columns_at_most(*columns));
            let others: Vec<Setting> = [0].into_iter().chain(narrower).map(Setting::Columns).collect();
            axes.push(or(Setting::Columns(self.usual_width()), &others));
        }
        let passes = self.long_tiles().is_some() || self.keeps_something() || self.plan.sharing == Sharing::Blocks;
        if passes && !self.columns_at_most(resident / 4) {
            axes.push(or(Setting::Resident(resident), &[resident / 4, resident * 4].map(Setting::Resident)));
        }
        if self.plan.sharing == Sharing::Rows && matches!(self.block(self.width(), resident), Some((Some(_), _))) {
            axes.push(or(Setting::Rows(ROWS), &FEWER.map(Setting::Rows)));
        }
        if !self.plan.loops.is_empty() && !self.scans() {
            let mut others: Vec<Setting> = [parts / 4, parts * 4].map(|n| Setting::Parts(n.max(1))).into();
            others.extend((self.plan.sharing != Sharing::Blocks).then_some(Setting::Parts(0)));
            axes.push(or(Setting::Parts(parts), &others));
        }
        if let Some(turned) = &self.turned {
            let tiles = turned.tiles_along();
            axes.push(or(Setting::Block(tiles), &[0, 1, tiles / 2, tiles * 2].map(Setting::Block)));
        }
        axes
    }
}
