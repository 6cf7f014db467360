//! What a group has of a product whose left factor it makes.

use super::product::Product;
use crate::region::cost::likely_size;

/// Most tiles of rows that share a pass over the columns of a group.
const MOST_TILES: i64 = 4;

/// Fewest groups that are left for threads where rows are shared among them.
const GROUPS: i64 = 4;

/// What a group has of a product whose left factor it packs.
#[derive(Clone, Copy, Default)]
pub(super) struct Blocks {
    /// Tiles of rows.
    pub(super) tiles: i64,
    /// Panels of columns; `None` for all of an unknown number.
    pub(super) panels: Option<i64>,
}

impl Product<'_, '_> {
    /// Bytes of a packed row at most, or none where the left factor is not packed.
    fn row_bytes(&self) -> Option<i64> {
        let facts = &self.region.facts;
        let most = facts.range(&self.plan.row_length(self.nest)).1;
        (!self.plan.left.is_empty()).then(|| i64::try_from(most).unwrap_or(i64::MAX).saturating_mul(4).max(1))
    }

    /// Rows that the group can keep near.
    pub(super) fn rows_near(&self) -> i64 {
        self.row_bytes().map_or(i64::MAX, |bytes| (self.region.machine.near_bytes / bytes).max(1))
    }

    /// Few tiles where there are few rows, so that threads share them; and panels enough that making a row pays.
    pub(super) fn usual_blocks(&self) -> Blocks {
        let region = self.region;
        let rows = self.plan.row().map_or(1, |row| likely_size(&region.facts, &self.extent(row)));
        let shared = (rows / (GROUPS * self.tile.0)).max(1);
        let tiles = MOST_TILES.min(self.rows_near() / self.tile.0).min(shared).max(1);
        let least = i64::try_from(self.plan.columns_per_packing(self.nest)).unwrap_or(i64::MAX);
        let panels = self.panels().as_const().map(|all| {
            let enough = |n: &i64| all % n == 0 && n.saturating_mul(self.tile.1) >= least;
            (1..=all).find(enough).unwrap_or(all).max(1)
        });
        Blocks { tiles, panels }
    }

    /// Parts into which the columns are cut.
    pub(super) fn column_parts(&self) -> i64 {
        let all = self.panels().as_const();
        all.zip(self.blocks.panels).map_or(1, |(all, of_group)| all / of_group)
    }
}
