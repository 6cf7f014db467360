//! What one kernel has of a region of rows: some of its stages, mapped to a grid.

use std::collections::HashSet;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Dim, Kernel, Node, Split, Tile};
use sutura_ir::Value;

use super::super::machine::Machine;
use super::blocks::Block;
use super::numbers::Numbers;
use super::order::{Made, Order};
use super::{each, in_grid, place};
use crate::region::Nest;

/// Columns of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Width {
    /// All.
    Whole,
    /// A tile in the cache.
    Tiles(i64),
    /// A tile in registers.
    Registers(i64),
}

/// A stage and one of its results.
pub(super) type Key = (usize, usize);

/// What one kernel does of a region.
#[derive(Clone, Default, Debug)]
pub(super) struct Share {
    /// Stages that it computes, in order.
    pub(super) stages: Vec<usize>,
    /// Dims with one index per group.
    pub(super) grid: Vec<usize>,
    /// A dim of the grid of which a group has several indices.
    pub(super) block: Option<Block>,
    /// Dims that a group loops over, outermost first.
    pub(super) loops: Vec<usize>,
    /// The column dim, and how much of it a group has.
    pub(super) col: Option<(usize, Width)>,
    /// A dim of the loops of which a group has one part, or the tiled column; and the number of parts or tiles.
    pub(super) parts: Option<(usize, Poly)>,
    /// Values that it writes.
    pub(super) writes: Vec<Value>,
    /// Results that it writes as parts.
    pub(super) partial: Vec<Key>,
    /// Results that it combines of parts.
    pub(super) combines: Vec<Key>,
    /// Values of the region that earlier kernels have written.
    pub(super) stored: HashSet<Value>,
}

impl Share {
    /// The kernel.
    pub(super) fn kernel(&self, nest: &Nest<'_>, machine: &Machine) -> Kernel {
        let in_registers = matches!(self.col, Some((_, Width::Registers(_))));
        let space = if in_registers { &machine.registers } else { &machine.cache };
        let cols = self.col.map(|(col, _)| Dim(col));
        let tile = Tile { rows: None, cols, space: space.to_string(), padded: in_registers };
        let (tile, stored) = (&tile, &self.stored);
        let order = Order { nest, tile, stored, writes: &self.writes, partial: &self.partial };
        let (mut body, mut made) = (Vec::new(), Made::default());
        for key in &self.combines {
            let join = Node::Join(place(nest, key.0, tile));
            if !body.contains(&join) {
                body.push(join);
            }
            order.joined(*key, &mut made);
        }
        match self.block {
            Some(block) => {
                body.extend(block.shared(nest, (&self.stages, &self.loops), tile));
                if let Some(numbers) = Numbers::of(nest, self, block) {
                    body.extend(numbers.nodes(nest, block, tile));
                    return Kernel::new(in_grid(self.grid_loops(nest), body));
                }
                body.push(each(block.dim, order.nodes(&self.stages, &self.loops, &mut made)));
            }
            None => body.extend(order.nodes(&self.stages, &self.loops, &mut made)),
        }
        Kernel::new(in_grid(self.grid_loops(nest), body))
    }

    fn grid_loops(&self, nest: &Nest<'_>) -> Vec<(usize, Split)> {
        let tiled = |dim: usize| self.col.is_some_and(|(col, _)| col == dim);
        let divided = self.parts.as_ref().filter(|(dim, _)| self.combines.is_empty() && !tiled(*dim));
        let parts = divided.and_then(|(dim, count)| Some((*dim, Split::Even(count.as_const()?))));
        let split = |d: usize| match self.block.filter(|block| block.dim == d) {
            Some(block) => Split::By(block.rows),
            None => Split::One,
        };
        let dims = self.grid.iter().copied().filter(|d| !nest.is_unit(*d)).map(|d| (d, split(d)));
        let columns = self.col.and_then(|(col, width)| match width {
            Width::Tiles(tile) | Width::Registers(tile) => Some((col, Split::By(tile))),
            Width::Whole => None,
        });
        parts.into_iter().chain(dims).chain(columns).collect()
    }
}
