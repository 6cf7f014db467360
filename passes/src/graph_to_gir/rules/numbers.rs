//! What a kernel makes of one number per row: on vectors of rows.
//!
//! A sum along a row is one number, and so is all that is made of it: a gate of a recurrent layer, or a logarithm. A group that has
//! several rows keeps their sums near, side by side, and computes the rest for all of them at once.

use sutura_dialects::graph::maps;
use sutura_dialects::schedule::{Bring, Dim, Node, Operand, Tile};
use sutura_ir::affine::AffineExpr;

use super::blocks::Block;
use super::share::{Share, Width};
use super::{each, place, stage_name};
use crate::region::cost::body_cost;
use crate::region::rows::check_column_access;
use crate::region::{Access, Nest};

/// Scalar operations for each row from which on they are done on vectors: one power or more.
const MUCH: u32 = 12;

/// What makes one number for each row of a block, and what is made of these.
pub(super) struct Numbers {
    /// The stage that combines a row.
    sum: usize,
    /// An input that reads it.
    reader: (usize, usize),
    /// The other stages, in order.
    others: Vec<usize>,
}

impl Numbers {
    /// `None` where numbers of rows cost little, or where something else than rows is combined.
    pub(super) fn of(nest: &Nest<'_>, share: &Share, block: Block) -> Option<Self> {
        let simple = block.whole && share.loops.is_empty() && share.partial.is_empty() && share.combines.is_empty();
        let Some((col, Width::Whole)) = share.col.filter(|_| simple) else { return None };
        let (sums, others): (Vec<usize>, Vec<usize>) =
            share.stages.iter().partition(|s| nest.stages[**s].dims.contains(&col));
        let [sum] = sums[..] else { return None };
        let stage = &nest.stages[sum];
        let one_by_one = stage.joint.is_none() && stage.scan.is_none() && stage.scatter.is_none() && !stage.copy;
        let alone = stage.inputs.iter().all(|read| nest.maker(read).is_none()) && stage.results.len() == 1;
        let written = |s: usize| nest.stages[s].results.iter().any(|made| share.writes.contains(&made.value));
        if stage.reduced != [col] || !one_by_one || !alone || written(sum) {
            return None;
        }
        let cost: u32 = others.iter().map(|s| body_cost(nest.stages[*s].body)).sum();
        if cost < MUCH || !others.iter().all(|s| Self::fits(nest, share, block, *s)) {
            return None;
        }
        let reads = |s: usize| nest.stages[s].inputs.iter().position(|read| nest.maker(read) == Some(sum));
        let reader = others.iter().find_map(|s| Some((*s, reads(*s)?)))?;
        Some(Self { sum, reader, others })
    }

    /// True for a stage that runs along the rows of a block, side by side in all that it reads and writes.
    fn fits(nest: &Nest<'_>, share: &Share, block: Block, number: usize) -> bool {
        let stage = &nest.stages[number];
        let plain = !stage.reduces() && stage.joint.is_none() && stage.scan.is_none() && stage.scatter.is_none();
        let forward = |read| check_column_access(nest, read, block.dim).is_ok();
        let picked = stage.picks.iter().any(|pick| nest.mentions(&pick.access, block.dim));
        let written = stage.results.iter().filter(|made| share.writes.contains(&made.value));
        // Dimensions of one element behind it change nothing.
        let one = |e: &&AffineExpr| {
            maps::constant(nest.cx, **e).is_some() || nest.plain(**e).is_some_and(|dim| nest.is_unit(dim))
        };
        let last = |made: &Access| made.index.iter().rev().find(|e| !one(e)).and_then(|e| nest.plain(*e));
        let mut ends_with_it = written.map(|made| last(made) == Some(block.dim));
        plain
            && !stage.copy
            && !picked
            && stage.dims.contains(&block.dim)
            && stage.inputs.iter().all(|read| read.oob.is_none() && forward(read))
            && ends_with_it.all(|ends| ends)
    }

    /// The nodes of a group, behind what is the same for all its rows.
    pub(super) fn nodes(&self, nest: &Nest<'_>, block: Block, along: &Tile) -> Vec<Node> {
        let of_rows = Tile { cols: Some(Dim(block.dim)), ..along.clone() };
        let (stage, input) = self.reader;
        let sum = each(block.dim, vec![Node::Place(place(nest, self.sum, along))]);
        let near = Operand::new((stage_name(nest, stage), input), of_rows.clone(), Bring::Cache);
        let near = Node::Operand(Operand { body: vec![sum], ..near });
        let others = self.others.iter().map(|s| Node::Place(place(nest, *s, &of_rows)));
        std::iter::once(near).chain(others).collect()
    }
}
