//! Products of one row: the right factor goes by once, in wide tiles of its rows, as it lies.

use sutura_dialects::schedule::{Dim, Kernel, Node, Split, Tile};

use super::narrow::sums;
use super::product::Product;
use super::{in_grid, place};

/// Vectors of a row of the right factor that go by together: as many sums hide what one waits for the one before.
pub(super) const STREAMED: i64 = 8;

impl Product<'_, '_> {
    /// True when one row of it need not wait for a packed right factor: that lies in rows, and nothing is made of it.
    pub(super) fn streams(&self) -> bool {
        let last = self.rhs().index.last().and_then(|e| self.nest.plain(*e));
        let made = !self.plan.left.is_empty() || !self.plan.right.is_empty();
        self.keeps_near()
            && self.step == 1
            && last == Some(self.plan.col())
            && !made
            && !self.region.is_constant(self.rhs().value)
    }
}

pub(super) fn kernel(product: &Product<'_, '_>) -> Kernel {
    let (nest, plan, machine) = (product.nest, product.plan, product.region.machine);
    let tile = Tile { rows: None, cols: Some(Dim(plan.col())), space: machine.registers.to_string(), padded: true };
    let mut body = sums(product, product.step, vec![Node::Place(place(nest, plan.stage, &tile))]);
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    let ones = product.panel_dims().into_iter().chain(plan.rows.iter().copied()).filter(|dim| !nest.is_unit(*dim));
    let columns = (plan.col(), Split::By(STREAMED * machine.vectors.1.max(1)));
    Kernel::new(in_grid(ones.map(|dim| (dim, Split::One)).chain([columns]).collect(), body))
}
