//! Contraction regions: panels of the right factor, packed; tiles of the product in registers, with what follows
//! computed on them. What the factors are computed from is the matter of [`super::prologue`].
//!
//! The register tile and the panels are those of Goto and van de Geijn, "Anatomy of high-performance matrix
//! multiplication" (ACM TOMS 2008), with as many batch, row and column dims as the region has.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{ContractOp, LoadOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::{SliceType, TileType, ViewType};
use sutura_dialects::graph::PlanAttr;
use sutura_ir::{Type, Value};

use super::kernel::{Built, Emit, Header, Kernel, build};
use super::machine::{GroupTile, LowerTile};
use super::prologue::Blocks;
use super::region::{Arg, FusedRegion, Launch, Lowered, Step};
use super::schedule::{self, Group};
use super::stages::{Known, Walk};
use super::tiles::{Axis, Covers, Frame, Number, Shape, Tile, zero};
use super::{loops, rules};
use crate::region::{Access, ContractPlan, Fit, Nest, Stage};

/// Lowers a contraction region: one product, or several that are one launch.
pub(super) fn lower(region: &FusedRegion<'_>) -> Built<Lowered> {
    if let Some(lowered) = convolution(region) {
        return lowered;
    }
    let parts = region.parts();
    let forms: Fit<Vec<_>> = parts.iter().map(normal_form).collect();
    let forms = forms.map_err(|misfit| {
        let message = format!("is marked as a region with a contraction, but: {misfit}");
        Box::new(region.op.error(message))
    })?;
    let product = |(part, (nest, plan))| Product::new(part, nest, plan);
    let products: Vec<_> = parts.iter().zip(forms.iter().map(|(nest, plan)| (nest, plan))).map(product).collect();
    if products.iter().any(|product| !product.plan.left.is_empty() || product.group_tile.is_some()) {
        return together(&products);
    }
    let parts: Vec<schedule::Part<'_, '_>> = products.iter().map(|p| (p.walk.region, p.nest)).collect();
    let versions = rules::product::schedule(&products, &parts);
    let lowered = schedule::emit(&[Group::by_rule(&parts, versions)])?;
    Ok(Lowered { remarks: said_of(&products), ..lowered })
}

/// Lowers the region of a convolution; nothing of any other.
fn convolution(region: &FusedRegion<'_>) -> Option<Built<Lowered>> {
    let nest = Nest::of(&region.facts, &region.ops, &region.outputs).ok()?;
    let plan = ContractPlan::windowed(&nest, &region.facts).ok()?;
    if !region.machine.keeps_near() {
        const WHY: &str = "is a convolution, of which groups of this machine keep nothing near";
        // The ops of a larger region become loops and rows one by one.
        return Some(match region.ops.len() {
            1 => loops::lower(region, &PlanAttr::default())
                .map(|lowered| Lowered { remarks: vec![format!("{WHY}: it is a loop")], ..lowered }),
            _ => Emit::unsupported(region.op, WHY),
        });
    }
    let versions = rules::convolution::schedule(region, &nest, &plan);
    let lowered = schedule::emit(&[Group::by_rule(&[(region, &nest)], versions)]);
    let said = rules::convolution::said(region, &nest, &plan);
    Some(lowered.map(|lowered| Lowered { remarks: vec![said], ..lowered }))
}

/// What is said of how the groups of products share their factors.
fn said_of(products: &[Product<'_, '_>]) -> Vec<String> {
    let mut remarks: Vec<String> = products.iter().filter_map(Product::said_of_sharing).collect();
    remarks.dedup();
    remarks
}

/// One launch for all products, and before it what packs their right factors.
fn together(products: &[Product<'_, '_>]) -> Built<Lowered> {
    let (mut temporaries, mut places) = (Vec::new(), Vec::new());
    let (mut steps, mut packing) = (Vec::new(), Vec::new());
    for product in products {
        let place = product.packs.then_some(temporaries.len());
        places.push(place);
        let Some(place) = place else { continue };
        temporaries.push(product.packed());
        let launch = product.pack_launch(place)?;
        // The compiler runs what packs a constant, so that stays by itself.
        if product.packs_constants() {
            steps.push(Step { versions: vec![(vec![], vec![launch])] });
        } else {
            packing.push(Launch { beside: !packing.is_empty(), ..launch });
        }
    }
    if !packing.is_empty() {
        steps.push(Step { versions: vec![(vec![], packing)] });
    }
    // A version that comes after one for more rows would never run.
    let mut few: Vec<Few> = products.iter().flat_map(Product::lower_versions).collect();
    few.sort_by_key(|few| few.most);
    few.dedup();
    let mut versions = Vec::new();
    for few in few.iter().map(Some).chain([None]) {
        let launches = products
            .iter()
            .zip(&places)
            .enumerate()
            .map(|(i, (product, place))| Ok(Launch { beside: i > 0, ..product.launch(*place, few)? }));
        let launches = launches.collect::<Built<Vec<Launch>>>()?;
        versions.push((few.map(Few::guard).into_iter().collect(), launches));
    }
    steps.push(Step { versions });
    Ok(Lowered { temporaries, steps, remarks: said_of(products), ..Lowered::default() })
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
    pub(super) walk: Walk<'r, 'a>,
    pub(super) nest: &'r Nest<'a>,
    pub(super) plan: &'r ContractPlan,
    /// Rows and columns of a tile.
    pub(super) tile: (i64, i64),
    /// The tiles of versions for few rows, the lowest first.
    pub(super) lower: Vec<LowerTile>,
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

/// Dims with the index of each at a group.
pub(super) type Indices = HashMap<usize, Value>;

/// Where the factors of a product come from in its kernel.
#[derive(Clone, Copy)]
pub(super) struct Factors {
    /// Rows that the group has packed, and the number of the tile among them; otherwise the left factor is a tensor.
    pub(super) near: Option<(Value, Value)>,
    /// The packed right factor; otherwise it is a tensor.
    pub(super) packed: Option<Value>,
}

/// What runs innermost in the loops over the dims that are summed over: from the indices and what is carried to what goes on.
pub(super) type SumBody<'b> = dyn FnMut(&mut Emit<'_>, &Indices, &[Value]) -> Built<Vec<Value>> + 'b;

impl<'r, 'a> Product<'r, 'a> {
    fn new(region: &'r FusedRegion<'a>, nest: &'r Nest<'a>, plan: &'r ContractPlan) -> Self {
        let range = |dim: usize| {
            let (least, most) = region.facts.range(&nest.extents[dim]);
            (i64::try_from(least).unwrap_or(0), i64::try_from(most).unwrap_or(i64::MAX))
        };
        let rows = plan.row().map_or((1, 1), range);
        let (tile, lower) = region.machine.tile_and_lower(rows, range(plan.col()).1);
        let walk = Walk { region, nest };
        let mut this = Self { walk, nest, plan, tile, lower, packs: true, blocks: Blocks::default(), group_tile: None };
        this.packs = !this.lies_in_panels() && !this.sums_nothing();
        this.tile.0 = this.rows_near().min(tile.0);
        this.lower.retain(|lower| lower.rows < this.tile.0);
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
        self.plan.packed(self.nest).into_iter().all(|tensor| self.walk.region.is_constant(tensor))
    }

    pub(super) fn stage(&self) -> &'r Stage<'a> {
        &self.nest.stages[self.plan.stage]
    }

    /// The type of factors and sums.
    pub(super) fn elem(&self) -> Type {
        self.nest.cx.element_type(self.nest.body.ty(self.stage().results[0].value))
    }

    pub(super) fn rhs(&self) -> &'r Access {
        &self.stage().inputs[self.plan.rhs]
    }

    /// True when whole rows of panels can be read from the right factor as it is, and packing it would cost at run time.
    fn lies_in_panels(&self) -> bool {
        let (region, rhs, col) = (self.walk.region, self.rhs(), self.plan.col());
        let last = rhs.index.last().and_then(|e| self.nest.plain(*e));
        let whole = region.facts.divisible(&self.nest.extents[col], self.tile.1);
        last == Some(col) && whole && rhs.slot.is_none() && !region.is_constant(rhs.value)
    }

    /// True when no sum of the product has a place: then it is zero, and no factor is needed.
    fn sums_nothing(&self) -> bool {
        self.plan.sums.iter().any(|dim| self.walk.region.facts.range(&self.extent(*dim)).1 <= 0)
    }

    pub(super) fn extent(&self, dim: usize) -> Poly {
        self.nest.extents[dim].clone()
    }

    pub(super) fn extents(&self, dims: &[usize]) -> Vec<Poly> {
        dims.iter().map(|d| self.extent(*d)).collect()
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

    /// `[batch…, columns…, panels, sums…, columns of a tile]`
    fn packed(&self) -> ViewType {
        let mut dims = self.extents(&self.panel_dims());
        dims.push(self.panels());
        dims.extend(self.extents(&self.plan.sums));
        dims.push(self.tile.1.into());
        ViewType::new(&self.walk.region.machine.memory, self.elem(), dims)
    }

    /// Packs the right factor into temporary `place`.
    fn pack_launch(&self, place: usize) -> Built<Launch> {
        let tensors = self.plan.packed(self.nest).into_iter().map(Arg::Tensor);
        let args = tensors.chain([Arg::Temporary(place)]).collect();
        Ok(Launch { kernel: self.pack_kernel()?, args, work: self.packed().elements(), beside: false })
    }

    /// The product of a factor that is packed in temporary `place`, for all rows or for few.
    fn launch(&self, place: Option<usize>, few: Option<&Few>) -> Built<Launch> {
        let kernel = match few.and_then(|few| Some((few, self.lower_tile(few)?))) {
            Some((few, lower)) => {
                let blocks = Blocks { tiles: 1, ..self.blocks };
                let tile = (lower.rows, self.tile.1);
                let walk = Walk { ..self.walk };
                let lower = Self { walk, tile, blocks, lower: vec![], group_tile: None, ..*self };
                lower.product_kernel(vec![few.guard()])?
            }
            None => self.product_kernel(vec![])?,
        };
        let mut args: Vec<Arg> = self.inputs().into_iter().map(Arg::Tensor).collect();
        args.extend(place.map(Arg::Temporary));
        args.extend(self.outputs().into_iter().map(Arg::Tensor));
        Ok(Launch { kernel, args, work: self.walk.region.work(self.nest), beside: false })
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

    /// Tensors that the product kernel reads: the right factor only if it is not packed, nor what only it is made from.
    fn inputs(&self) -> Vec<Value> {
        let (plan, mut inputs) = (self.plan, Vec::new());
        for (stage, access) in self.nest.external_reads() {
            let factor = self.packs && stage == plan.stage && std::ptr::eq(access, self.rhs());
            let here = stage == plan.stage || plan.left.contains(&stage) || plan.rest.contains(&stage);
            if here && !factor && !inputs.contains(&access.value) {
                inputs.push(access.value);
            }
        }
        inputs
    }

    fn outputs(&self) -> Vec<Value> {
        self.nest.output_writes().map(|(_, write)| write.value).collect()
    }

    pub(super) fn frame(&self, e: &mut Emit<'_>, indices: &Indices) -> Frame {
        let mut index = |d: usize| {
            let known = indices.get(&d).copied();
            known.or_else(|| self.nest.is_unit(d).then(|| e.constant(0)))
        };
        let fixed = (0..self.nest.extents.len()).map(&mut index).collect();
        let registers = &self.walk.region.machine.registers;
        let (space, registers) = (registers.clone(), registers.clone());
        Frame { fixed, row: None, col: None, space, registers, partial: true, padded: false }
    }

    // ---- packing

    fn pack_kernel(&self) -> Built<Kernel> {
        let region = self.walk.region;
        let mut grid = self.extents(&self.panel_dims());
        grid.push(self.panels());
        let tensors = self.plan.packed(self.nest);
        let mut views: Vec<_> = tensors.iter().map(|v| (region.view(self.nest, *v), Mode::In)).collect();
        views.push((self.packed(), Mode::Out));
        let mut extra = self.extents(&self.plan.sums);
        extra.extend(tensors.iter().flat_map(|v| self.nest.shapes[v].iter().cloned()));
        // No other sizes: with known ones the compiler can run the kernel.
        for stage in self.plan.right.iter().map(|i| &self.nest.stages[*i]) {
            extra.extend(self.extents(&stage.dims).into_iter().chain(region.sizes_in(stage.op)));
            extra.extend(self.nest.sizes_in_reads(stage));
        }
        let (loc, symbols) = (self.stage().op.loc(), self.nest.symbols.clone());
        let header = Header { loc, views, grid, units: 1, requires: vec![], extra, symbols };
        build(self.nest.cx, &region.facts, header, |e| {
            let known = self.walk.start(e, &tensors);
            let packed = *e.views.last().expect("what is written is the last view");
            let mut indices: Indices = self.panel_dims().into_iter().zip(e.grid.clone()).collect();
            let panel = *e.grid.last().expect("panels are the last of the grid");
            let base = e.scaled(panel, self.tile.1, None);
            self.sum_loops(e, &mut indices, &self.plan.sums, &[], &mut |e, indices, _| {
                let mut frame = self.frame(e, indices);
                frame.col = Some(Axis { dim: self.plan.col(), base, extent: self.tile.1.into() });
                frame.padded = true;
                let number = self.right_factor(e, &frame, &known)?;
                let tile = e.realise(&frame, number, Shape { rows: false, cols: true }, None);
                let slice = self.packed_slice(e, packed, panel, indices);
                StoreOp::build(&mut e.b, e.loc, tile.value, slice);
                Ok(vec![])
            })?;
            Ok(())
        })
    }

    /// One row of a panel.
    fn packed_slice(&self, e: &mut Emit<'_>, packed: Value, panel: Value, indices: &Indices) -> Value {
        let mut offsets: Vec<Value> = self.panel_dims().iter().map(|d| indices[d]).collect();
        offsets.push(panel);
        offsets.extend(self.plan.sums.iter().map(|d| indices[d]));
        offsets.push(e.constant(0));
        let ty = SliceType {
            space: self.walk.region.machine.memory.clone(),
            elem: self.elem(),
            rows: 1.into(),
            cols: self.tile.1.into(),
        };
        let ty = self.nest.cx.ext_type(ty);
        SliceOp::value(&mut e.b, e.loc, packed, &offsets, None, Some(offsets.len() as i64 - 1), ty)
    }

    /// Loops over dims that are summed over, outermost first.
    pub(super) fn sum_loops(
        &self,
        e: &mut Emit<'_>,
        indices: &mut Indices,
        sums: &[usize],
        carried: &[Value],
        body: &mut SumBody<'_>,
    ) -> Built<Vec<Value>> {
        let Some((&dim, inner)) = sums.split_first() else { return body(e, indices, carried) };
        e.for_loop(&self.extent(dim), carried, &mut |e, index, carried| {
            indices.insert(dim, index);
            self.sum_loops(e, indices, inner, carried, body)
        })
    }

    // ---- the product

    fn product_kernel(&self, requires: Vec<Poly>) -> Built<Kernel> {
        let region = self.walk.region;
        let mut views: Vec<(ViewType, Mode)> =
            self.inputs().iter().map(|v| (region.view(self.nest, *v), Mode::In)).collect();
        if self.packs {
            views.push((self.packed(), Mode::In));
        }
        views.extend(self.outputs().iter().map(|v| (region.view(self.nest, *v), Mode::Out)));
        // Groups that follow each other share a panel, or columns.
        let stitched = !self.plan.left.is_empty();
        let mut grid = self.extents(&self.panel_dims());
        grid.push(if stitched { self.column_parts().into() } else { self.panels() });
        grid.extend(self.extents(self.outer_rows()));
        let units = self.group_tile.as_ref().map_or(1, |tile| tile.units);
        let rows = self.tile.0 * if stitched { self.blocks.tiles } else { units };
        grid.extend(self.plan.row().map(|row| self.extent(row).ceildiv(rows)));
        let extra = self.nest.shapes.values().flatten().cloned().chain(region.sizes());
        let mut extra: Vec<Poly> = extra.chain(self.extents(&self.plan.sums)).collect();
        let others = self.nest.stages.iter().enumerate().filter(|(i, _)| !self.plan.right.contains(i));
        extra.extend(others.flat_map(|(_, stage)| self.nest.sizes_in_reads(stage)));
        if stitched {
            extra.extend(self.nest.extents.iter().cloned());
        }
        let symbols = self.nest.symbols.clone();
        let header = Header { loc: region.op.loc(), views, grid, units, requires, extra, symbols };
        build(self.nest.cx, &region.facts, header, |e| {
            let (known, packed) = self.tensors(e);
            match &self.group_tile {
                Some(tile) => self.staged_body(e, &known, packed, tile),
                None if stitched => self.stitched_body(e, &known, packed),
                None => self.product_body(e, &known, packed),
            }
        })
    }

    /// Memory of the tensors, and of the packed right factor.
    fn tensors(&self, e: &mut Emit<'_>) -> (Known, Option<Value>) {
        // The packed panels stand between inputs and outputs, so the tensors' views are found around them.
        let inputs = self.inputs();
        let packed = e.views.get(inputs.len()).copied().filter(|_| self.packs);
        e.views.retain(|v| Some(*v) != packed);
        let tensors: Vec<Value> = inputs.into_iter().chain(self.outputs()).collect();
        (self.walk.start(e, &tensors), packed)
    }

    fn product_body(&self, e: &mut Emit<'_>, known: &Known, packed: Option<Value>) -> Built<()> {
        let grid = e.grid.clone();
        let panel_dims = self.panel_dims();
        let mut indices: Indices = panel_dims.iter().copied().zip(grid.iter().copied()).collect();
        let panel = grid[panel_dims.len()];
        let rest = &grid[panel_dims.len() + 1..];
        indices.extend(self.outer_rows().iter().copied().zip(rest.iter().copied()));
        let row = self.plan.row().map(|dim| {
            let tile = *grid.last().expect("row tiles are the last of the grid");
            let base = e.scaled(tile, self.tile.0, None);
            Axis { dim, base, extent: self.tile.0.into() }
        });
        self.one_tile(e, (known, &indices), (panel, row), Factors { near: None, packed })
    }

    /// A tile of the product, and what follows it, down to memory.
    pub(super) fn one_tile(
        &self,
        e: &mut Emit<'_>,
        (known, indices): (&Known, &Indices),
        (panel, row): (Value, Option<Axis>),
        factors: Factors,
    ) -> Built<()> {
        let (mut known, mut indices) = (known.of_views(), indices.clone());
        let base = e.scaled(panel, self.tile.1, None);
        let col = Some(Axis { dim: self.plan.col(), base, extent: self.tile.1.into() });
        let shape = Shape { rows: row.is_some(), cols: true };
        let mut frame = self.frame(e, &indices);
        (frame.row, frame.col) = (row, col);
        let init = e.fill(&frame, zero(self.nest.cx, self.elem()), self.elem(), shape);
        let stage = self.stage();
        e.loc = stage.op.loc();
        let mut add = |e: &mut Emit<'_>, indices: &Indices, carried: &[Value]| {
            let a = match factors.near {
                Some(near) => self.near_column(e, near, indices),
                None => self.left_column(e, &known, &frame, indices)?,
            };
            let b = match factors.packed {
                Some(packed) => {
                    let slice = self.packed_slice(e, packed, panel, indices);
                    let registers = &self.walk.region.machine.registers;
                    let ty = self.nest.cx.ext_type(TileType::constant(registers, self.elem(), 1, self.tile.1));
                    LoadOp::value(&mut e.b, e.loc, slice, None, ty)
                }
                None => {
                    let mut right = self.frame(e, indices);
                    right.col.clone_from(&frame.col);
                    let view = known.view(stage.op, self.rhs().value)?;
                    e.load(self.nest, &right, view, &self.rhs().index, None).value
                }
            };
            Ok(vec![ContractOp::value(&mut e.b, e.loc, a, b, carried[0])])
        };
        let sum = match self.sums_nothing() {
            true => vec![init.value],
            false => self.sum_loops(e, &mut indices, &self.plan.sums, &[init.value], &mut add)?,
        };
        // Of what is packed all columns exist, and all rows; of what is read as it lies columns are whole.
        let window = if factors.near.is_some() { Covers::All } else { Covers::Rows };
        let product = Tile { value: sum[0], shape, elem: self.elem(), window, cached: false };
        self.behind_product(e, &frame, product, &mut known)
    }

    /// What follows a tile of the product, down to memory.
    pub(super) fn behind_product(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        product: Tile,
        known: &mut Known,
    ) -> Built<()> {
        self.walk.finish(e, frame, self.stage(), vec![Number::Tile(product)], known)?;
        for i in &self.plan.rest {
            self.walk.elementwise(e, frame, &self.nest.stages[*i], known)?;
        }
        Ok(())
    }

    /// Elements of the rows of a tile at one place of the sum, of a left factor that is a tensor.
    fn left_column(&self, e: &mut Emit<'_>, known: &Known, frame: &Frame, indices: &Indices) -> Built<Value> {
        let lhs = &self.stage().inputs[self.plan.lhs];
        let mut left = self.frame(e, indices);
        left.row.clone_from(&frame.row);
        let a = e.load(self.nest, &left, known.view(self.stage().op, lhs.value)?, &lhs.index, None);
        Ok(e.realise(&left, Number::Tile(a), Shape { rows: left.row.is_some(), cols: false }, None).value)
    }
}
