//! Products with long sums and small results: groups have parts of a sum, which another launch adds up in their order.
//!
//! A panel of a long sum is no longer near when the next rows need it, rows of the left factor lie far apart, and a small result leaves
//! few groups for threads. How a sum is cut follows from sizes alone, so results are the same for any number of threads.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Dim, Kernel, Node, Split, Tile};

use super::near_panels::GROUPS;
use super::product::{Product, panels};
use super::stream::STREAMED;
use super::{in_grid, place};

/// Places of a part of a sum.
const PART: i64 = 1024;

/// Fewest places of a sum that is cut so that threads have even work.
const LONG: i64 = 2 * PART;

/// Fewest places of a sum that is cut because parts are faster for one thread.
const FAR: i64 = 4 * PART;

/// Fewest products of numbers that are worth another launch.
const MANY: i64 = 1 << 22;

impl Product<'_, '_> {
    /// The dim whose sum is cut in parts, where that pays: all sizes are known, and a cache of a unit holds all parts.
    pub(super) fn split_sum(&self) -> Option<usize> {
        let mut sums = self.plan.sums.iter().copied().filter(|dim| !self.nest.is_unit(*dim));
        let (sum, others) = (sums.next()?, sums.next());
        let places = self.extent(sum).as_const()?;
        let mut results = 1i64;
        for dim in self.plan.parallel() {
            results = results.checked_mul(self.extent(dim).as_const()?)?;
        }
        let made = !self.plan.left.is_empty() || !self.plan.right.is_empty();
        let tiles = self.plan.row().map_or(Some(1), |row| self.extent(row).ceildiv(self.tile.0).as_const())?;
        let few = self.all_panels()?.saturating_mul(tiles) < GROUPS;
        let long = places >= FAR || places >= LONG && few;
        let parts = places.saturating_add(PART - 1) / PART;
        let near = results.saturating_mul(parts).saturating_mul(4) <= self.region.machine.near_bytes;
        let many = results.saturating_mul(places) >= MANY;
        let plain = others.is_none() && !made && self.step == 1 && self.keeps_near() && self.tile.0 > 1;
        (plain && long && near && many).then_some(sum)
    }

    /// Places of the sum that a group has.
    pub(super) fn places_of_group(&self) -> Poly {
        self.split.map_or_else(|| self.plan.row_length(self.nest), |_| Poly::constant(PART))
    }

    /// Loops of the grid over parts of the sum and panels of the right factor.
    pub(super) fn grid_of_panels(&self) -> Vec<(usize, Split)> {
        let parts = self.split.map(|dim| (dim, Split::By(PART)));
        parts.into_iter().chain(panels(self)).collect()
    }

    /// What is said of parts of a sum.
    pub(super) fn said_of_parts(&self) -> Option<String> {
        self.split.map(|dim| {
            format!(
                "groups have {PART} of {} places of a sum each, whose parts are added up in order",
                self.extent(dim)
            )
        })
    }
}

/// The kernel that adds up the parts of a sum, and computes what follows.
pub(super) fn join_kernel(product: &Product<'_, '_>) -> Kernel {
    let (nest, plan, machine) = (product.nest, product.plan, product.region.machine);
    let index = &product.stage().results[0].index;
    let along = index.iter().rev().find_map(|e| nest.plain(*e).filter(|dim| !nest.is_unit(*dim)));
    let col = along.unwrap_or(plan.col());
    let tile = Tile { rows: None, cols: Some(Dim(col)), space: machine.registers.to_string(), padded: false };
    let mut body = vec![Node::Join(place(nest, plan.stage, &tile))];
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    let others = plan.parallel().filter(|dim| *dim != col && !nest.is_unit(*dim)).map(|dim| (dim, Split::One));
    let columns = (col, Split::By(STREAMED * machine.vectors.1.max(1)));
    Kernel::new(in_grid(others.chain([columns]).collect(), body))
}
