//! Prologues of products: what a factor is computed from, in the product's region.
//!
//! The right factor is packed into panels before the product, so what makes it runs there, once. The left factor is
//! otherwise read as it lies; one that the region makes is packed by the groups that read it: whole rows at a time, so
//! that numbers which are combined from a row (those of a layer norm or a softmax) are known when its elements are made.
//! It is never written to main memory, and made once for all columns of a group. After the prologues of FusionStitching
//! (arXiv 2009.10924), with the packing of Goto and van de Geijn as the place to stitch them in.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_ir::Value;

use super::contract::is_contraction;
use super::cost::{body_cost, value_text};
use super::rows::check_column_access;
use super::{Access, ContractPlan, Fit, Nest, Stage, misfit};

/// Longest rows of a left factor that a group packs, in elements.
const LONGEST: i128 = 8192;

/// A left factor is made anew at most for so many columns of the product per unit of its price: making it then takes a
/// sixteenth of the time of multiplying by it.
const COLUMNS_PER_PRICE: u64 = 16;

/// Makes dims along which a left factor's rows are combined the dim that the product sums over.
fn join_rows(nest: &mut Nest<'_>, facts: &Facts) {
    while let Some((keep, gone)) = row_of_another(nest, facts) {
        nest.merge(keep, gone);
    }
}

fn row_of_another(nest: &Nest<'_>, facts: &Facts) -> Option<(usize, usize)> {
    let stage = (0..nest.stages.len()).find(|i| is_contraction(nest, &nest.stages[*i]))?;
    let plan = ContractPlan::of_stage(nest, stage).ok()?;
    let [sum] = plan.sums[..] else { return None };
    let left = nest.needed(nest.maker(&nest.stages[stage].inputs[plan.lhs]));
    let same = |d: &usize| *d != sum && facts.prove_equal(&nest.extents[*d], &nest.extents[sum]) && !nest.meet(*d, sum);
    left.iter().flat_map(|i| &nest.stages[*i].reduced).copied().find(same).map(|gone| (sum, gone))
}

impl ContractPlan {
    /// Fits a region that has one contraction; makes dims along which a factor's rows are combined that of its sum.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn joined(nest: &mut Nest<'_>, facts: &Facts) -> Fit<Self> {
        join_rows(nest, facts);
        Self::of(nest, facts)
    }

    /// Tensors that are read where the right factor is packed.
    pub fn packed(&self, nest: &Nest<'_>) -> Vec<Value> {
        let mut tensors = Vec::new();
        for access in self.read_for(nest, self.rhs) {
            if !tensors.contains(&access.value) {
                tensors.push(access.value);
            }
        }
        tensors
    }

    /// How tensors are read of which a factor is, or is made.
    pub fn read_for<'n, 'a>(&'n self, nest: &'n Nest<'a>, input: usize) -> impl Iterator<Item = &'n Access> {
        let makers = if input == self.rhs { &self.right } else { &self.left };
        let factor = &nest.stages[self.stage].inputs[input];
        makers.iter().flat_map(|i| nest.stages[*i].reads()).chain([factor]).filter(|access| access.slot.is_none())
    }

    /// Whether the numbers along a dim lie side by side in each tensor that a factor is made of, but in those that are the same along it.
    pub fn lies_along(&self, nest: &Nest<'_>, input: usize, dim: usize) -> bool {
        let along = |access: &Access| access.index.last().and_then(|e| nest.plain(*e)) == Some(dim);
        self.read_for(nest, input).all(|access| access.oob.is_none() && (along(access) || !nest.mentions(access, dim)))
            && self.read_for(nest, input).any(along)
    }

    /// Numbers of a row of the left factor.
    pub fn row_length(&self, nest: &Nest<'_>) -> Poly {
        Poly::product(self.sums.iter().map(|d| &nest.extents[*d]))
    }

    /// Columns of the product for which a group packs its rows of the left factor at least.
    pub fn columns_per_packing(&self, nest: &Nest<'_>) -> u64 {
        let price: u64 = self.left.iter().map(|i| u64::from(body_cost(nest.stages[*i].body)).max(1)).sum();
        price.saturating_mul(COLUMNS_PER_PRICE)
    }

    pub(super) fn check_prologue(&self, nest: &Nest<'_>, facts: &Facts) -> Fit<()> {
        let parallel = |of: &[usize]| [&self.batch[..], of, &self.sums].concat();
        let along = |dims: Option<usize>| dims.into_iter().chain(self.sums.last().copied()).collect::<Vec<_>>();
        if !self.left.is_empty() {
            let length = self.row_length(nest);
            if self.sums.is_empty() || facts.range(&length).1 > LONGEST {
                let name = self.factor_name(nest, self.lhs);
                return misfit(format!("rows of {name} have {length} elements, not known to be at most {LONGEST}"));
            }
        }
        let (rows, cols) = (parallel(&self.rows), parallel(&self.cols));
        for i in &self.left {
            self.check_producer(nest, &nest.stages[*i], (&rows, &along(self.row())))?;
        }
        for i in &self.right {
            let stage = &nest.stages[*i];
            if stage.reduces() {
                let name = value_text(nest.cx, nest.body, stage.results[0].value);
                return misfit(format!("{name} is combined before the product's right factor is packed"));
            }
            self.check_producer(nest, stage, (&cols, &[self.col()]))?;
        }
        Ok(())
    }

    fn factor_name(&self, nest: &Nest<'_>, input: usize) -> String {
        value_text(nest.cx, nest.body, nest.stages[self.stage].inputs[input].value)
    }

    /// A stage of a factor runs through the factor's `dims`, and is read and written along `tiled` ones in tiles.
    pub(super) fn check_producer(
        &self,
        nest: &Nest<'_>,
        stage: &Stage<'_>,
        (dims, tiled): (&[usize], &[usize]),
    ) -> Fit<()> {
        let name = || value_text(nest.cx, nest.body, stage.results[0].value);
        if let Some(dim) = stage.dims.iter().find(|d| !dims.contains(d) && !nest.is_unit(**d)) {
            return misfit(format!("{} runs over {}, which the factor does not", name(), nest.extents[*dim]));
        }
        if stage.reduces() && (self.sums.len() != 1 || stage.reduced != self.sums) {
            return misfit(format!("{} is not combined along the rows of the left factor", name()));
        }
        if !stage.copy && stage.results.iter().any(|r| nest.outputs.contains(&r.value)) {
            return misfit(format!("{} is used outside too, so it is made in memory", name()));
        }
        // Beyond the end of a tensor a tile holds zeros.
        if stage.body.is_some_and(|body| body.ops().any(|op| divides_integers(op.name_str()))) {
            return misfit(format!("{} divides integers, also where the factor has none", name()));
        }
        nest.check_indices(tiled)?;
        for read in stage.inputs.iter().filter(|a| a.slot.is_none()) {
            if read.oob.is_some() {
                return misfit(format!("{} reads outside a tensor", name()));
            }
            tiled.iter().try_for_each(|dim| check_column_access(nest, read, *dim))?;
        }
        Ok(())
    }
}

fn divides_integers(name: &str) -> bool {
    let rest = name.strip_prefix("arith.").unwrap_or_default();
    ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"].contains(&rest)
}
