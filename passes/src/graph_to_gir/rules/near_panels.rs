//! Panels of a right factor that is known at a call, packed by the groups that read them.
//!
//! A group has a panel of columns and a block of rows: it packs its panel near, and multiplies all of its rows by it. So a panel is
//! not written to far memory, no thread waits for another, and none reads what another one has packed. Where a panel
//! would be packed by many groups, or does not fit near, panels are packed once for all of them, by a launch before that of the product.

use indexmap::IndexSet;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Bring, Dim, Kernel, Node, Operand, Place, Split, Tile};

use super::narrow::{followed, sums};
use super::product::{Multiplied, Product, in_turned_tiles, several, turns};
use super::{in_grid, place, stage_name};

/// Tiles of rows that a group multiplies by a panel. Packing a panel takes about the time of half a tile.
const TILES: i64 = 16;

/// Tiles of rows that a group multiplies by a panel where there are panels enough for threads.
const MANY_TILES: i64 = 64;

/// Most blocks of rows, where their number is unknown, that each pack a panel anew.
const BLOCKS: i64 = 2;

/// Groups that leave even work for threads.
pub(super) const GROUPS: i64 = 8;

/// Tiles of rows up to which reading a right factor as it lies takes less time than packing it, where a cache holds a panel as it lies and
/// the last panel may lack columns.
const FEW: i64 = 3;

/// The same where all panels are whole.
const FEW_OF_WHOLE: i64 = 24;

/// The same where groups cannot pack their panels, so that a launch would.
const FEW_OF_PACKED_FAR: i64 = 6;

/// Lines of a cache that have the same place in it.
const WAYS: i64 = 8;

/// How groups pack panels.
struct NearPanels {
    /// Sizes that are at least 0 where they do; nothing where they always do.
    guards: Vec<Poly>,
    /// Tiles of rows of a group.
    tiles: i64,
}

impl Product<'_, '_> {
    /// How groups pack panels of the right factor, where they can and it pays.
    fn near_panels(&self) -> Option<NearPanels> {
        if !self.packs || !self.groups_can_pack() {
            return None;
        }
        let range = |size: &Poly| self.region.facts.range(size);
        let bytes = self.tile.1.saturating_mul(4).max(1);
        let room = Poly::constant(self.region.machine.near_bytes / bytes).sub(&self.places_of_group());
        if range(&room).1 < 0 {
            return None;
        }
        let rows = self.plan.row().map_or_else(|| Poly::constant(1), |row| self.extent(row));
        let panels = self.all_panels();
        let fits = range(&room).0 >= 0;
        let (tiles, guards) = match rows.as_const() {
            Some(rows) => (self.tiles_of_block(rows, panels), vec![room]),
            None if fits => (if panels.is_some_and(|panels| panels < GROUPS) { TILES } else { MANY_TILES }, vec![]),
            // There is another version anyway, which packs panels once.
            None => (TILES, vec![room, Poly::constant(BLOCKS * TILES * self.tile.0).sub(&rows)]),
        };
        let guards = guards.into_iter().filter(|size| range(size).0 < 0).collect();
        Some(NearPanels { guards, tiles })
    }

    /// Whether there is a version for at most one tile of rows, which reads the right factor as it lies. Groups pack it for more rows.
    pub(super) fn reads_few_rows_as_they_lie(&self) -> bool {
        let rows = self.plan.row().map(|row| self.region.facts.range(&self.extent(row)));
        let open = rows.is_some_and(|(least, most)| least < most && least <= i128::from(self.tile.0));
        open && self.lies_in_rows() && self.near_panels().is_some()
    }

    /// What is said of where panels are packed.
    pub(super) fn said_of_panels(&self) -> Option<String> {
        let near = self.near_panels()?;
        let guards: Vec<String> = near.guards.iter().map(|size| format!("{size} >= 0")).collect();
        let when = if guards.is_empty() { String::new() } else { format!(" where {}", guards.join(" and ")) };
        let rows = near.tiles.saturating_mul(self.tile.0);
        Some(format!("groups pack panels near, each for a block of {rows} rows{when}"))
    }

    /// Whether the right factor is a tensor that is known at a call, and nothing but its panels is near.
    fn groups_can_pack(&self) -> bool {
        let rhs = self.rhs();
        let made = !self.plan.left.is_empty() || !self.plan.right.is_empty() || rhs.slot.is_some();
        let plain = self.step == 1 && rhs.oob.is_none() && self.outer_rows().is_empty();
        self.keeps_near() && !made && plain && !self.region.is_constant(rhs.value)
    }

    /// Panels of the whole right factor, where their number is known.
    pub(super) fn all_panels(&self) -> Option<i64> {
        let others: Vec<Poly> = self.panel_dims().into_iter().map(|dim| self.extent(dim)).collect();
        Poly::product(&others).mul(&self.panels()).as_const()
    }

    /// Tiles of a group of so many rows: all, unless there are few panels.
    fn tiles_of_block(&self, rows: i64, panels: Option<i64>) -> i64 {
        let all = (rows.saturating_add(self.tile.0 - 1) / self.tile.0).max(1);
        let blocks = panels.map_or(1, |panels| (GROUPS / panels.max(1)).max(1));
        let even = all.saturating_add(blocks - 1) / blocks;
        even.max(TILES.min(all))
    }

    /// True where reading the right factor as it lies takes less time than packing it at run time.
    pub(super) fn lies_in_panels(&self) -> bool {
        let (region, rhs, col) = (self.region, self.rhs(), self.plan.col());
        if !self.lies_in_rows() || rhs.slot.is_some() || region.is_constant(rhs.value) {
            return false;
        }
        let whole = region.facts.divisible(&self.nest.extents[col], self.tile.1);
        if !self.keeps_near() {
            return whole;
        }
        let (least, rows) = self.plan.row().map_or((1, 1), |row| region.facts.range(&self.nest.extents[row]));
        let open = least < rows;
        let most = |tiles: i64| rows <= i128::from(self.tile.0.saturating_mul(tiles));
        match (self.groups_can_pack(), self.packed_panel_fits()) {
            (true, true) => {
                let near = self.lies_near();
                let whole = whole && near == Some(true) && (open || most(FEW_OF_WHOLE));
                most(1) || most(FEW) && near != Some(false) || whole
            }
            (can_pack, _) => most(FEW_OF_PACKED_FAR) || whole && !can_pack,
        }
    }

    /// Whether the columns of a panel lie side by side in the right factor.
    fn lies_in_rows(&self) -> bool {
        let last = self.rhs().index.last().and_then(|e| self.nest.plain(*e));
        last == Some(self.plan.col()) && self.step == 1
    }

    /// Whether a panel may fit what a group keeps near.
    fn packed_panel_fits(&self) -> bool {
        let least = self.region.facts.range(&self.places_of_group()).0;
        let bytes = least.saturating_mul(i128::from(self.tile.1.saturating_mul(4)));
        bytes <= i128::from(self.region.machine.near_bytes)
    }

    /// Whether the cache of a unit holds a panel as it lies; nothing where sizes are unknown. Rows of a panel are as far from each other as
    /// those of the right factor. The larger the power of two that divides this distance, the fewer places of the cache they share.
    fn lies_near(&self) -> Option<bool> {
        let (cache, width) = (self.region.machine.near_bytes.saturating_mul(2), self.tile.1.saturating_mul(4).max(1));
        let (rows, apart) = (self.places_of_group().as_const()?, self.row_pitch()?);
        let way = (cache / WAYS).max(1);
        let power = 1i64 << apart.saturating_mul(4).trailing_zeros().min(62);
        Some(rows <= way / power.min(way).max(width) * WAYS)
    }

    /// Elements from one row of the right factor to the next, where that is known.
    fn row_pitch(&self) -> Option<i64> {
        let index = &self.rhs().index;
        let last = *self.plan.sums.last()?;
        let at = index.iter().position(|e| self.nest.plain(*e) == Some(last))?;
        let mut inner = index[at + 1..].iter().map(|e| self.extent(self.nest.plain(*e)?).as_const());
        inner.try_fold(1i64, |all, extent| all.checked_mul(extent?))
    }
}

/// The kernels of products where groups pack panels, and the guard of that version; nothing where none of them does.
pub(super) fn version(products: &[Product<'_, '_>]) -> Option<(Vec<Poly>, Vec<Multiplied>)> {
    let near: Vec<Option<NearPanels>> = products.iter().map(Product::near_panels).collect();
    near.iter().any(Option::is_some).then(|| {
        let guard: IndexSet<Poly> = near.iter().flatten().flat_map(|near| near.guards.iter().cloned()).collect();
        let of = |(product, near): (&Product<'_, '_>, &Option<NearPanels>)| match near {
            Some(near) => (kernel(product, near), false),
            None => product.kernel(),
        };
        (guard.into_iter().collect(), products.iter().zip(&near).map(of).collect())
    })
}

/// The kernel of a product whose groups pack their panels.
fn kernel(product: &Product<'_, '_>, near: &NearPanels) -> Kernel {
    let (nest, plan, machine) = (product.nest, product.plan, product.region.machine);
    let space = machine.registers.to_string();
    let turned = turns(product.region, nest, plan);
    let tile = Tile { rows: turned.map(Dim), cols: Some(Dim(plan.col())), space, padded: true };
    let at = (stage_name(nest, plan.stage), plan.rhs);
    let brought = vec![Node::Operand(Operand::new(at.clone(), tile.clone(), Bring::Tile))];
    let fill = match turned {
        Some(_) => in_turned_tiles(product.region, &plan.sums, brought),
        None => sums(product, product.step, brought),
    };
    let panel = Tile { rows: None, space: machine.cache.to_string(), ..tile.clone() };
    let panel = Node::Operand(Operand { body: fill, ..Operand::new(at, panel, Bring::Cache) });
    let tile = Tile { rows: plan.row().map(Dim), padded: false, ..tile };
    let contract = Node::Place(Place { contract: true, ..place(nest, plan.stage, &tile) });
    let mut body = followed(product, product.tile.0, (&tile, sums(product, product.step, vec![contract])));
    let mut grid = product.grid_of_panels();
    if let Some(row) = plan.row().filter(|row| !nest.is_unit(*row)) {
        let rows = product.tile.0.saturating_mul(near.tiles);
        body = several((row, product.tile.0, rows), body);
        grid.push((row, Split::By(rows)));
    }
    body.insert(0, panel);
    Kernel::new(in_grid(grid, body))
}
