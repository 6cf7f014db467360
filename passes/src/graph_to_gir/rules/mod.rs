//! Rules: each writes the schedules of regions of one form, from the region's dims and the machine's numbers.

pub(super) mod blocks;
pub(super) mod convolution;
pub(super) mod order;
pub(super) mod parts;
pub(super) mod product;
pub(super) mod rows;
pub(super) mod share;
pub(super) mod turned;

use sutura_dialects::schedule::{Dim, Loop, Node, Place, Split, Tile};

use super::schedule::stage_name;
use crate::region::Nest;

/// A stage computed on a tile.
pub(super) fn place(nest: &Nest<'_>, number: usize, tile: &Tile) -> Place {
    Place { stage: stage_name(nest, number), tile: tile.clone(), contract: false }
}

/// A loop inside a kernel that takes one index after the other.
pub(super) fn each(dim: usize, body: Vec<Node>) -> Node {
    Node::Loop(Loop { dim: Dim(dim), split: Split::One, grid: false, body })
}

/// Loops of the grid around a body, the first one outermost.
pub(super) fn in_grid(loops: Vec<(usize, Split)>, body: Vec<Node>) -> Vec<Node> {
    loops
        .into_iter()
        .rev()
        .fold(body, |body, (dim, split)| vec![Node::Loop(Loop { dim: Dim(dim), split, grid: true, body })])
}
