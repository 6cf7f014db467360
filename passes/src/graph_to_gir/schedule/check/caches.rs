//! What is said of the caches: of stores to outputs, of tiles that live in them, of operands that are asked for ahead.

use std::collections::HashSet;

use sutura_dialects::schedule::{Kernel, Node, Operand, Place, Stored, walk};
use sutura_ir::Type;

use super::{Check, Checked};
use crate::region::{Access, Stage};

impl<'c> Check<'c, '_, '_> {
    /// Sizes of clauses are those of the region, and an output is the home of one tile.
    pub(super) fn clauses(&self, tree: &'c Kernel) -> Checked {
        let (mut checked, mut homes, mut placed) = (Ok(()), Vec::new(), Vec::new());
        walk(&tree.body, &mut |node| {
            let facts = &self.of.region.facts;
            let symbols = node.sizes().iter().flat_map(|size| size.symbols());
            if let Some(symbol) = symbols.into_iter().find(|symbol| !facts.is_defined(symbol)) {
                checked = Err(format!("a clause asks for '{symbol}', which is no size of the region"));
            }
            let Node::Place(place) = node else { return };
            placed.push(place.stage.number);
            homes.extend(place.home.as_ref().map(|home| home.number));
        });
        let count = |list: &[usize], stage: &usize| list.iter().filter(|other| *other == stage).count();
        if let Some(home) = homes.iter().find(|home| count(&homes, home) > 1) {
            return Err(format!("two tiles have their home in {}", self.name(*home)));
        }
        if let Some(home) = homes.iter().find(|home| count(&placed, home) > 1) {
            return Err(format!("a tile has its home in {}, which is placed several times", self.name(*home)));
        }
        checked
    }

    /// What is said of a store is said of one to an output.
    pub(super) fn store(&self, place: &Place) -> Checked {
        let Some(store) = &place.store else { return Ok(()) };
        let name = self.name(place.stage.number);
        let does = if *store == Stored::Kept { "is kept in the caches" } else { "goes past the caches" };
        let output =
            self.output(place.stage.number).map_err(|why| format!("the store of {name} {does}, and {name} {why}"))?;
        let side_by_side = || self.side_by_side(output, place);
        match store {
            Stored::Stream { .. } if !side_by_side() => {
                Err(format!("the store of {name} {does}, where the columns of its tile do not lie side by side"))
            }
            Stored::Stream { .. } if self.is_truth(place.stage.number) => {
                Err(format!("the store of {name} {does}, and truth values are widened when they are stored"))
            }
            _ => Ok(()),
        }
    }

    /// Where a stage is stored as an output of the region, as a whole.
    fn output(&self, stage: usize) -> Result<&'c Access, &'static str> {
        let whole = self.stage(stage);
        if whole.scatter.is_some() {
            return Err("is written at indices, over what is there");
        }
        if whole.reduces() && self.in_parts(stage) {
            return Err("is stored in parts here");
        }
        let output = whole.results.iter().find(|result| self.nest().outputs.contains(&result.value));
        output.filter(|_| !whole.copy).ok_or("is no output of the region")
    }

    /// Whether neighbouring columns of a tile are neighbours in an output.
    fn side_by_side(&self, output: &Access, place: &Place) -> bool {
        let last = output.index.last().and_then(|expr| self.nest().plain(*expr));
        let registers = place.tile.space == self.of.region.machine.registers.to_string();
        let along = place.tile.cols.into_iter().chain(place.tile.rows.filter(|_| registers));
        last.is_some_and(|last| along.into_iter().any(|dim| dim.0 == last))
    }

    fn is_truth(&self, stage: usize) -> bool {
        self.of.keys(stage).any(|key| self.of.elem(key, false) == Type::I1)
    }

    /// A tile lives where an output is stored behind it, in the same loop, and nothing needs it when that is done. `list` holds the
    /// place, which is its number `own`.
    pub(super) fn home(&self, place: &'c Place, (list, own): (&'c [Node], usize)) -> Checked {
        let Some(home) = &place.home else { return Ok(()) };
        let (s, to) = (place.stage.number, home.number);
        let (name, output) = (self.name(s), self.name(to));
        let lives = format!("{name} has its home in {output}");
        let at = self.output(to).map_err(|why| format!("{lives}, which {why}"))?;
        let is_there = |node: &Node| matches!(node, Node::Place(other) if other.stage.number == to);
        let found = list[own + 1..].iter().position(is_there).map(|behind| own + 1 + behind);
        let Some((behind, Node::Place(other))) = found.map(|at| (at, &list[at])) else {
            return Err(format!("{lives}, which is not placed behind it in the same loop"));
        };
        if place.tile != other.tile || place.tile.space != self.of.region.machine.cache.to_string() {
            let cache = &self.of.region.machine.cache;
            return Err(format!("{lives}, and their tiles are not the same one in '{cache}'"));
        }
        if self.stage(s).reduces() || self.stage(to).reduces() {
            return Err(format!("{lives}, and one of them is combined along loops or columns"));
        }
        let elem = |stage: usize| self.of.elem((stage, 0), false);
        if elem(s) != elem(to) || self.is_truth(s) {
            return Err(format!("{lives}, whose elements are others, or truth values"));
        }
        if !self.side_by_side(at, place) {
            return Err(format!("{lives}, where the columns of the tile do not lie side by side"));
        }
        // What is made of the tile element by element may be computed where it is needed.
        let mut made_of_it = HashSet::from([s]);
        let reads = |stage: &Stage<'_>, made: &HashSet<usize>| {
            stage.inputs.iter().any(|read| self.nest().maker(read).is_some_and(|maker| made.contains(&maker)))
        };
        for (number, stage) in self.nest().stages.iter().enumerate() {
            if !stage.reduces() && reads(stage, &made_of_it) {
                made_of_it.insert(number);
            }
        }
        let mut late = None;
        walk(&list[behind + 1..], &mut |node| {
            let Node::Place(reader) = node else { return };
            if reads(self.stage(reader.stage.number), &made_of_it) {
                late = late.or(Some(reader.stage.number));
            }
        });
        match late {
            Some(reader) => Err(format!("{lives}, and {} needs it when that is stored there", self.name(reader))),
            None => Ok(()),
        }
    }

    /// What is asked for ahead is a tensor.
    pub(super) fn asked_ahead(&self, name: &str, operand: &Operand, read: &Access) -> Checked {
        let made = self.nest().maker(read).filter(|maker| self.made.contains_key(maker));
        match (&operand.prefetch, made) {
            (Some(_), Some(_)) => Err(format!("{name} is asked for ahead, and is made there: only a tensor can be")),
            _ => Ok(()),
        }
    }
}
