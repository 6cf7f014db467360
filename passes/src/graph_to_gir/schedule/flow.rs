//! What passes between the kernels of a program: values that are kept in memory, parts of what is combined, packed operands.

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::elements::scalar_type;
use sutura_dialects::gir::types::ViewType;
use sutura_dialects::schedule::{Bring, Kernel as KernelTree, Node, Operand, Split, Tile, walk};
use sutura_ir::{Type, Value};

use super::super::region::Arg;
use super::super::scalars::{accumulator, result_elem};
use super::Region;
use crate::region::{Access, Nest};

/// A stage and one of its results.
pub(super) type Key = (usize, usize);

/// What earlier kernels of a version have left.
#[derive(Clone, Default)]
pub(super) struct Flow {
    /// Values that are in memory.
    pub(super) stored: HashSet<Value>,
    /// Results of which the parts are, with their number.
    pub(super) parts: HashMap<Key, Poly>,
    /// Operands that were packed.
    pub(super) packed: HashMap<(usize, usize), Packed>,
}

/// Where a packed operand lies.
#[derive(Clone)]
pub(super) struct Packed {
    pub(super) arg: Arg,
    pub(super) view: ViewType,
    /// The loops that each have a dimension of it, outermost first.
    pub(super) loops: Vec<(usize, Split)>,
    /// The tile that was written.
    pub(super) tile: Tile,
    /// The places of a sum that a tile has lie side by side, column by column.
    pub(super) grouped: bool,
}

/// What a temporary holds.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Holds {
    /// A value, or so many parts of it, in the versions of a group.
    Value(usize, Value, Option<Poly>),
    /// An operand of a stage of a part of a group, packed as its view says.
    Operand((usize, usize), (usize, usize), ViewType),
}

/// Memory between kernels.
#[derive(Default)]
pub(super) struct Temporaries(IndexMap<Holds, ViewType>);

impl Temporaries {
    /// The temporary for what it holds.
    pub(super) fn of(&mut self, holds: Holds, view: ViewType) -> Arg {
        let entry = self.0.entry(holds);
        let at = entry.index();
        entry.or_insert(view);
        Arg::Temporary(at)
    }

    pub(super) fn views(self) -> Vec<ViewType> {
        self.0.into_values().collect()
    }
}

/// What a kernel computes, as its tree says.
#[derive(Default)]
pub(super) struct Contents<'t> {
    /// Stages that it computes, in the region's order.
    pub(super) placed: BTreeSet<usize>,
    /// Stages whose parts it joins, in the order of the tree.
    pub(super) joined: Vec<usize>,
    /// Operands that it brings near or packs.
    pub(super) operands: Vec<&'t Operand>,
    /// Loops of the grid that have several indices of a dim, by the number of the loop.
    pub(super) divided: Vec<(usize, usize)>,
}

impl<'t> Contents<'t> {
    pub(super) fn of(kernel: &'t KernelTree) -> Self {
        let mut contents = Self::default();
        let mut number = 0;
        walk(&kernel.body, &mut |node| match node {
            Node::Place(place) => drop(contents.placed.insert(place.stage.number)),
            Node::Join(place) if contents.joined.contains(&place.stage.number) => {}
            Node::Join(place) => contents.joined.push(place.stage.number),
            Node::Operand(operand) => contents.operands.push(operand),
            Node::Loop(l) if l.is_grid() => {
                contents.divided.push((l.dim.0, number));
                number += 1;
            }
            Node::Loop(_) => {}
        });
        contents
    }

    /// The loop of the grid whose trips each have a part of what a stage combines.
    pub(super) fn part_of(&self, nest: &Nest<'_>, stage: usize) -> Option<usize> {
        let combines = |(dim, _): &&(usize, usize)| nest.stages[stage].reduced.contains(dim);
        self.divided.iter().find(combines).map(|(_, number)| *number)
    }

    /// What it reads from memory, or through a temporary: by the stages that it computes, and as operands.
    pub(super) fn reads<'n>(&self, nest: &'n Nest<'_>, is_packed: &dyn Fn(usize, usize) -> bool) -> Vec<&'n Access> {
        let mut reads: Vec<&Access> = Vec::new();
        for &s in &self.placed {
            let stage = &nest.stages[s];
            let inputs = stage.inputs.iter().enumerate().filter(|(i, _)| !is_packed(s, *i)).map(|(_, read)| read);
            reads.extend(inputs.chain(stage.picks.iter().map(|pick| &pick.access)));
        }
        for operand in self.operands.iter().filter(|operand| !self.placed.contains(&operand.stage.number)) {
            reads.push(&nest.stages[operand.stage.number].inputs[operand.input]);
        }
        reads
    }

    /// True for a value that it computes itself.
    fn makes(&self, nest: &Nest<'_>, value: Value) -> bool {
        nest.made.get(&value).is_some_and(|(s, _)| self.placed.contains(s) || self.joined.contains(s))
    }

    /// True when it reads a value of the region that another kernel has to write.
    pub(super) fn needs(&self, nest: &Nest<'_>, value: Value, is_packed: &dyn Fn(usize, usize) -> bool) -> bool {
        !self.makes(nest, value)
            && self
                .reads(nest, is_packed)
                .iter()
                .any(|read| read.value == value && (read.slot.is_some() || nest.moved_maker(read).is_some()))
    }

    /// True when it packs an input of a stage.
    pub(super) fn packs(&self, stage: usize, input: usize) -> bool {
        self.operands.iter().any(|o| o.to == Bring::Pack && (o.stage.number, o.input) == (stage, input))
    }
}

impl Region<'_, '_> {
    pub(super) fn value(&self, (s, r): Key) -> Value {
        self.nest.stages[s].results[r].value
    }

    pub(super) fn keys(&self, s: usize) -> impl Iterator<Item = Key> + use<> {
        (0..self.nest.stages[s].results.len()).map(move |r| (s, r))
    }

    /// Type of a result, or of parts of it.
    pub(super) fn elem(&self, (s, r): Key, partial: bool) -> Type {
        let stage = &self.nest.stages[s];
        if partial { accumulator(self.nest.cx, stage, r) } else { result_elem(self.nest.cx, stage, r) }
    }

    /// The type of the elements that an input of a stage has.
    pub(super) fn factor_elem(&self, (s, input): (usize, usize)) -> Type {
        let cx = self.nest.cx;
        scalar_type(cx, cx.element_type(self.nest.body.ty(self.nest.stages[s].inputs[input].value)))
    }

    /// Memory for a result, or for `parts` parts of it.
    pub(super) fn place(&self, key: Key, parts: Option<&Poly>) -> (Arg, ViewType) {
        let value = self.value(key);
        if parts.is_none() && self.region.outputs.contains(&value) {
            return (Arg::Tensor(value), self.region.view(self.nest, value));
        }
        let index = &self.nest.stages[key.0].results[key.1].index;
        let extent = |e| self.nest.plain(e).map_or(1.into(), |d| self.nest.extents[d].clone());
        let dims = parts.into_iter().cloned().chain(index.iter().map(|e| extent(*e))).collect();
        let view = ViewType::new(&self.region.machine.memory, self.elem(key, parts.is_some()), dims);
        (self.temporaries.borrow_mut().of(Holds::Value(self.part.0, value, parts.cloned()), view.clone()), view)
    }

    /// Memory of a tensor: one of the region's, or what an earlier kernel has written.
    pub(super) fn tensor(&self, value: Value) -> (Arg, ViewType) {
        match self.nest.made.get(&value) {
            Some(key) => self.place(*key, None),
            None => (Arg::Tensor(value), self.region.view(self.nest, value)),
        }
    }
}
