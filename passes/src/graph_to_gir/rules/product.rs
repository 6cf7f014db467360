//! Products: panels of the right factor, packed; tiles of the product in registers, with what follows computed on them.
//!
//! The register tile and the panels are those of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication"
//! (ACM TOMS 2008), with as many batch, row and column dims as the region has. Several products of one left factor are one
//! launch.
//!
//! What a right factor is made from runs where its panels are packed. A left factor that the region makes is made and kept near
//! by the groups of the product: each has a block of rows and a part of the columns, makes its rows one after another in loops
//! over whole rows, and runs through its panels with them. Rows are made anew for each part of the columns, so parts are wide
//! where rows are dear, see [`ContractPlan::columns_per_packing`](crate::region::ContractPlan).

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::types::Space;
use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Runs, Split, Tile, Version};

use super::super::kernel::Built;
use super::super::machine::{GroupTile, LowerTile};
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, Part, begin_of, emit};
use super::inner_products::InnerProducts;
use super::left::Blocks;
use super::narrow::{followed, sums, sums_of_tile};
use super::{each, in_grid, narrow, near_panels, place, split_sums, stage_name, staged, stream};
use crate::region::contract::{even_height, high_first};
use crate::region::{Access, ContractPlan, Fit, Nest, Stage, Windows};

/// Lowers a region of products: one, or several that are one launch.
pub(in super::super) fn lower(region: &FusedRegion<'_>) -> Built<Lowered> {
    let parts = region.parts();
    let forms: Fit<Vec<_>> = parts.iter().map(normal_form).collect();
    let mut forms = forms.map_err(|misfit| {
        let message = format!("is no region with a contraction: {misfit}");
        Box::new(region.op.error(message))
    })?;
    if let [(nest, plan)] = &mut forms[..]
        && region.machine.windows() == Windows::Near
        && let Some(turned) = plan.turned(nest, &|tensor| region.is_constant(tensor))
    {
        *plan = turned;
    }
    let product = |(part, (nest, plan))| Product::new(part, nest, plan);
    let products: Vec<_> = parts.iter().zip(forms.iter().map(|(nest, plan)| (nest, plan))).map(product).collect();
    let parts: Vec<Part<'_, '_>> = products.iter().map(|p| (p.region, p.nest)).collect();
    let versions = schedule(&products, &parts);
    let lowered = emit(&[Group::by_rule(&parts, versions)])?;
    Ok(Lowered { remarks: said_of(&products), ..lowered })
}

/// What is said of the parts that dims play, and of how groups share factors.
fn said_of(products: &[Product<'_, '_>]) -> Vec<String> {
    let parts = |p: &Product<'_, '_>| format!("is a product: {}", p.plan.roles(p.nest));
    let inner = InnerProducts::of(products);
    if let Some(inner) = inner.as_ref().filter(|inner| inner.always()) {
        return products.iter().map(parts).chain([inner.said()]).collect();
    }
    let tiles = |p: &Product<'_, '_>| format!("{}; tiles of {}x{}", parts(p), p.tile.0, p.tile.1);
    let mut remarks: Vec<String> = products.iter().map(tiles).collect();
    remarks.extend(inner.map(|inner| inner.said()));
    remarks.extend(products.iter().filter_map(Product::said_of_panels));
    remarks.extend(products.iter().filter_map(Product::said_of_parts));
    remarks.extend(products.iter().filter_map(Product::said_of_sharing));
    remarks.dedup();
    remarks
}

fn normal_form<'a>(region: &FusedRegion<'a>) -> Fit<(Nest<'a>, ContractPlan)> {
    let mut nest = Nest::of(&region.facts, &region.ops, &region.outputs)?;
    ContractPlan::joined(&mut nest, &region.facts)?;
    // Dims that play the same part become one where they lie side by side in memory.
    let same_part = |n: &Nest<'_>, a: usize, b: usize| {
        ContractPlan::of(n, &region.facts).is_ok_and(|plan| {
            let parts = [&plan.batch, &plan.rows, &plan.cols, &plan.sums];
            parts.into_iter().any(|part| part.contains(&a) && part.contains(&b))
        })
    };
    nest.collapse(&region.facts, &same_part);
    let plan = ContractPlan::of(&nest, &region.facts)?;
    Ok((nest, plan))
}

pub(super) struct Product<'r, 'a> {
    pub(super) region: &'r FusedRegion<'a>,
    pub(super) nest: &'r Nest<'a>,
    pub(super) plan: &'r ContractPlan,
    /// Rows and columns of a tile.
    pub(super) tile: (i64, i64),
    /// The tiles of versions for few rows, the lowest first.
    pub(super) lower: Vec<LowerTile>,
    /// Places of the sum that a contraction takes: several where the machine multiplies narrow numbers.
    pub(super) step: i64,
    /// Places of the sum that lie side by side in panels.
    pub(super) group: i64,
    /// Where the tiles of the product lie.
    pub(super) space: Space,
    /// The dim whose sum is cut in parts that groups have.
    pub(super) split: Option<usize>,
    /// Panels of the right factor are packed; otherwise it is read as it lies.
    pub(super) packs: bool,
    /// What a group has of a product whose left factor it packs.
    pub(super) blocks: Blocks,
    /// Where a group's units share factors in its memory: what they have.
    pub(super) group_tile: Option<GroupTile>,
}

/// That there are few rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Few {
    rows: Poly,
    pub(super) most: i64,
}

impl Few {
    pub(super) fn guard(&self) -> Poly {
        Poly::constant(self.most).sub(&self.rows)
    }
}

impl<'r, 'a> Product<'r, 'a> {
    fn new(region: &'r FusedRegion<'a>, nest: &'r Nest<'a>, plan: &'r ContractPlan) -> Self {
        let range = |dim: usize| {
            let (least, most) = region.facts.range(&nest.extents[dim]);
            (i64::try_from(least).unwrap_or(0), i64::try_from(most).unwrap_or(i64::MAX))
        };
        let rows = plan.row().map_or((1, 1), range);
        let narrow = plan.narrow.and_then(|factors| region.machine.for_narrow(&factors));
        let machine = narrow.as_ref().map_or(region.machine, |narrow| &narrow.machine);
        let (step, group) = narrow.as_ref().map_or((1, 1), |narrow| (narrow.step, narrow.group));
        let space = narrow.as_ref().map_or_else(|| machine.registers.clone(), |narrow| narrow.space.clone());
        // Where a tile takes the time of those of its rows that exist, few rows need no lower one.
        let row_by_row = machine.windows() == Windows::Near && !region.machine.only_multiplies(&space);
        let columns = range(plan.col()).1;
        let (tile, lower) = match row_by_row {
            true => (machine.even_tile(rows, columns), Vec::new()),
            false => machine.tile_and_lower(rows, columns),
        };
        let blocks = Blocks::default();
        let mut this = Self {
            region,
            nest,
            plan,
            tile,
            lower,
            step,
            group,
            space,
            split: None,
            packs: true,
            blocks,
            group_tile: None,
        };
        this.split = this.split_sum();
        this.packs = !this.lies_in_panels() && !this.sums_nothing();
        this.tile.0 = this.rows_near().min(tile.0);
        if this.keeps_near() && rows.0 == rows.1 && rows.0 > this.tile.0 {
            let most = || this.rows_near().min(machine.tile(rows.0, columns).0);
            this.tile.0 = match this.first_tile_waits() {
                true => high_first(rows.0, most()),
                false => even_height(rows.0, this.tile.0),
            };
        }
        this.lower.retain(|lower| lower.rows < this.tile.0);
        // For one row the right factor goes by once, and is not worth packing.
        let one_apart = this.lower.first().map_or_else(|| this.streams(), |lower| lower.rows > 1);
        if this.keeps_near() && rows.0 <= 1 && this.tile.0 > 1 && one_apart {
            this.lower.insert(0, LowerTile { rows: 1, most: 1 });
        }
        this.take_heights_of_machine();
        if this.reads_few_rows_as_they_lie() {
            this.lower.push(LowerTile { rows: this.tile.0, most: this.tile.0 });
        }
        this.blocks = this.usual_blocks();
        if let Some(Ok((tile, few))) = this.shared_tile() {
            this.lower = few;
            this.tile.0 = tile.rows;
            this.group_tile = Some(tile);
        }
        this
    }

    /// True when the compiler can pack the right factor.
    pub(super) fn packs_constants(&self) -> bool {
        self.plan.packed(self.nest).into_iter().all(|tensor| self.region.is_constant(tensor))
    }

    /// True where the first tile of rows reads a panel from beyond a unit's own cache and leaves it there for the others. Threads then have
    /// panels enough to share.
    fn first_tile_waits(&self) -> bool {
        let as_it_is = !self.packs || self.packs_constants();
        let (sums, panels) = (self.places_of_group().as_const(), self.all_panels());
        let bytes = sums
            .zip(panels)
            .map(|(sums, panels)| sums.saturating_mul(panels).saturating_mul(self.tile.1).saturating_mul(4));
        let far = bytes.is_some_and(|bytes| bytes / 2 > self.region.machine.near_bytes);
        as_it_is
            && self.step == 1
            && self.split.is_none()
            && far
            && panels.is_some_and(|panels| panels >= near_panels::GROUPS)
    }

    pub(super) fn stage(&self) -> &'r Stage<'a> {
        &self.nest.stages[self.plan.stage]
    }

    pub(super) fn rhs(&self) -> &'r Access {
        &self.stage().inputs[self.plan.rhs]
    }

    /// The kernel for any number of rows, whose right factor is read as it lies or was packed.
    pub(super) fn kernel(&self) -> Multiplied {
        let kernel = match &self.group_tile {
            Some(group) => staged::kernel(self, group),
            None => product_kernel(self, (self.tile.0, self.blocks.tiles)),
        };
        (kernel, self.packs)
    }

    /// True where groups keep near what they read, as those of processors do.
    pub(super) fn keeps_near(&self) -> bool {
        self.region.machine.windows() == Windows::Near
    }

    /// True when no sum of the product has a place: then it is zero, and no factor is needed; one that the region makes has its place.
    fn sums_nothing(&self) -> bool {
        self.plan.right.is_empty()
            && self.plan.sums.iter().any(|dim| self.region.facts.range(&self.extent(*dim)).1 <= 0)
    }

    pub(super) fn extent(&self, dim: usize) -> Poly {
        self.nest.extents[dim].clone()
    }

    fn outer_cols(&self) -> &'r [usize] {
        &self.plan.cols[..self.plan.cols.len() - 1]
    }

    pub(super) fn outer_rows(&self) -> &'r [usize] {
        self.plan.rows.split_last().map_or(&[], |(_, outer)| outer)
    }

    pub(super) fn panels(&self) -> Poly {
        self.extent(self.plan.col()).ceildiv(self.tile.1)
    }

    /// Batch and outer column dims of the right factor: a panel for each of their indices.
    pub(super) fn panel_dims(&self) -> Vec<usize> {
        self.plan.batch.iter().chain(self.outer_cols()).copied().collect()
    }

    /// Versions for few rows.
    pub(super) fn lower_versions(&self) -> Vec<Few> {
        let Some(row) = self.plan.row() else { return vec![] };
        self.lower.iter().map(|lower| Few { rows: self.extent(row), most: lower.most }).collect()
    }

    /// The tile for so few rows, if they are this product's: it may have one for more.
    pub(super) fn lower_tile(&self, few: &Few) -> Option<&LowerTile> {
        let own = self.plan.row().is_some_and(|row| self.nest.extents[row] == few.rows);
        self.lower.iter().find(|lower| own && lower.most >= few.most)
    }
}

/// The kernel of a product, and whether a launch before it packs its right factor.
pub(super) type Multiplied = (Kernel, bool);

/// The schedule of products: a launch for all of them, and before it what packs right factors that their groups do not pack.
fn schedule(products: &[Product<'_, '_>], parts: &[Part<'_, '_>]) -> Vec<Version> {
    let inner = InnerProducts::of(products);
    if let Some(inner) = inner.as_ref().filter(|inner| inner.always()) {
        return vec![inner.version()];
    }
    // A version that comes after one for more rows would never run.
    let mut few: Vec<Few> = products.iter().flat_map(Product::lower_versions).collect();
    few.sort_by_key(|few| few.most);
    few.dedup();
    let mut versions: Vec<(Vec<Poly>, Vec<Multiplied>)> =
        few.iter().map(|few| (vec![few.guard()], of_rows(products, Some(few)))).collect();
    let near = near_panels::version(products);
    let always = near.as_ref().is_some_and(|(guard, _)| guard.is_empty());
    versions.extend(near);
    versions.extend((!always).then(|| (vec![], of_rows(products, None))));
    let version = |(guard, kernels)| {
        let launches = launches((products, parts), kernels);
        Version { guard, launches, ..Version::default() }
    };
    inner.iter().map(InnerProducts::version).chain(versions.into_iter().map(version)).collect()
}

/// The kernels of products of few rows, or of any number.
fn of_rows(products: &[Product<'_, '_>], few: Option<&Few>) -> Vec<Multiplied> {
    let of = |product: &Product<'_, '_>| {
        let one_row = few.is_some_and(|few| few.most == 1) || product.tile.0 == 1;
        match few.and_then(|few| product.lower_tile(few)) {
            _ if one_row && product.streams() => (stream::kernel(product), false),
            Some(lower) => {
                let packed = product.packs && !product.reads_few_rows_as_they_lie();
                (product_kernel(product, (lower.rows, 1)), packed)
            }
            None => product.kernel(),
        }
    };
    products.iter().map(of).collect()
}

/// The launches of a version: what packs right factors, the kernels of all products, and what adds up parts of sums.
fn launches((products, parts): (&[Product<'_, '_>], &[Part<'_, '_>]), kernels: Vec<Multiplied>) -> Vec<Launch> {
    let numbered = |part: usize, kernel: Kernel| {
        let (dims, stages) = begin_of(parts, part);
        kernel.renumbered(dims as isize, stages as isize)
    };
    let (mut launches, mut packing, mut multiplying, mut joining) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (part, (product, (kernel, packed))) in products.iter().zip(kernels).enumerate() {
        match packed.then(|| numbered(part, pack_kernel(product))) {
            // The compiler runs what packs a constant, so that stays by itself.
            Some(pack) if product.packs_constants() => launches.push(Launch { kernels: vec![pack] }),
            pack => packing.extend(pack),
        }
        multiplying.push(numbered(part, kernel));
        joining.extend(product.split.map(|_| numbered(part, split_sums::join_kernel(product))));
    }
    let rest = [packing, multiplying, joining].into_iter().filter(|kernels| !kernels.is_empty());
    launches.extend(rest.map(|kernels| Launch { kernels }));
    launches
}

/// Grid loops over panels of the right factor.
pub(super) fn panels(product: &Product<'_, '_>) -> Vec<(usize, Split)> {
    let dims = product.panel_dims().into_iter().map(|dim| (dim, Split::One));
    dims.chain([(product.plan.col(), Split::By(product.tile.1))]).collect()
}

fn pack_kernel(product: &Product<'_, '_>) -> Kernel {
    let (nest, plan) = (product.nest, product.plan);
    let space = product.region.machine.registers.to_string();
    let turned = turns(product.region, nest, plan);
    let rows = product.summed_together().or(turned).map(Dim);
    let tile = Tile { rows, cols: Some(Dim(plan.col())), space, padded: true };
    let made = plan.right.iter().map(|s| Node::Place(place(nest, *s, &tile)));
    let (stage, input) = (stage_name(nest, plan.stage), plan.rhs);
    let pack = Node::Operand(Operand::new((stage, input), tile.clone(), Bring::Pack));
    let body = made.chain([pack]).collect();
    let body = match turned {
        Some(_) => in_turned_tiles(product.region, &plan.sums, body),
        None => sums(product, product.group, body),
    };
    Kernel::new(in_grid(panels(product), body))
}

/// The dim of a sum along which the numbers of a right factor lie side by side, where it is packed at run time: several places of it
/// are read at once and turned, since columns of a tile lie apart.
pub(super) fn turns(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan) -> Option<usize> {
    let last = *plan.sums.last()?;
    let near = region.machine.windows() == Windows::Near && plan.narrow.is_none();
    let constant = plan.packed(nest).into_iter().all(|tensor| region.is_constant(tensor));
    let known = constant || nest.is_unit(last) || nest.is_unit(plan.col());
    (plan.lies_along(nest, plan.rhs, last) && near && !known).then_some(last)
}

/// Loops over what is summed, the last one over as many places as a vector has elements.
pub(super) fn in_turned_tiles(region: &FusedRegion<'_>, sums: &[usize], body: Vec<Node>) -> Vec<Node> {
    let Some((last, outer)) = sums.split_last() else { return body };
    let by = Split::By(region.machine.vectors.1.max(1));
    let body = vec![Node::Loop(Loop::new(Dim(*last), by, Runs::InTurn, body))];
    outer.iter().rev().fold(body, |body, dim| vec![each(*dim, body)])
}

/// A product in tiles of so many rows; where a group makes its rows of the left factor, it has so many tiles of them.
fn product_kernel(product: &Product<'_, '_>, (rows, tiles): (i64, i64)) -> Kernel {
    let (nest, plan, machine) = (product.nest, product.plan, product.region.machine);
    let space = product.space.to_string();
    let tile =
        Tile { rows: plan.row().map(Dim), cols: Some(Dim(plan.col())), space, padded: product.only_multiplies() };
    let contract = Node::Place(Place { contract: true, ..place(nest, plan.stage, &tile) });
    let body = sums_of_tile(product, rows, vec![contract]);
    let mut body = followed(product, rows, (&tile, body));
    let row = plan.row().filter(|row| !nest.is_unit(*row));
    // Groups that follow each other share a panel.
    let outer = product.outer_rows().iter().map(|dim| (*dim, Split::One));
    let Some((last, outer_sums)) = plan.sums.split_last().filter(|_| !plan.left.is_empty()) else {
        if let Some((row, tiles)) = row.zip(product.tiles_together().filter(|_| rows == product.tile.0)) {
            return narrow::in_blocks(product, (row, tiles), body);
        }
        let row = row.map(|row| (row, Split::By(rows)));
        return Kernel::new(in_grid(product.grid_of_panels().into_iter().chain(outer).chain(row).collect(), body));
    };
    let near = Tile { cols: Some(Dim(*last)), space: machine.cache.to_string(), padded: true, rows: None };
    let made = Tile { rows: row.map(Dim), ..near.clone() };
    let made = plan.left.iter().map(|s| Node::Place(place(nest, *s, &made))).collect();
    let mut fill = outer_sums.iter().rev().fold(made, |body, dim| vec![each(*dim, body)]);
    if let Some(row) = row {
        fill = several((row, 1, rows), fill);
        fill = several((row, rows, rows * tiles), fill);
        body = several((row, rows, rows * tiles), body);
    }
    let (col, width) = (plan.col(), product.tile.1);
    let parted = |panels: &i64| product.column_parts() > 1 || *panels == 1;
    let of_group = product.blocks.panels.filter(parted).map(|panels| panels * width);
    body = several((col, width, of_group.unwrap_or(i64::MAX)), body);
    let (stage, input) = (stage_name(nest, plan.stage), plan.lhs);
    body.insert(0, Node::Operand(Operand { body: fill, ..Operand::new((stage, input), near, Bring::Cache) }));
    let columns = of_group.map(|columns| (col, Split::By(columns)));
    let grid = product.panel_dims().into_iter().map(|dim| (dim, Split::One)).chain(columns).chain(outer);
    Kernel::new(in_grid(grid.chain(row.map(|row| (row, Split::By(rows * tiles)))).collect(), body))
}

/// A loop over `by` of `all` indices that are left of a dim; none where those are all.
pub(super) fn several((dim, by, all): (usize, i64, i64), body: Vec<Node>) -> Vec<Node> {
    match by == all {
        true => body,
        false => vec![Node::Loop(Loop::new(Dim(dim), Split::By(by), Runs::InTurn, body))],
    }
}
