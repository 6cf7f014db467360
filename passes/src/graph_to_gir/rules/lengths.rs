//! Versions by the length of rows, for machines whose units are threads: a row gets as many threads as it is worth, and stays in
//! their registers where it fits. Which that is follows from the longest row that a kernel allows, and of rows of any length
//! that is the worst case of all (docs/rationale/row-versions.md).

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::bounds::tighten;
use sutura_dialects::schedule::{Kernel, Loop, Node, Place, Runs, Split, Tile, Version};

use super::super::schedule::{Part, part_of};
use crate::region::Stage;
use crate::row_threads::{lengths_apart, lengths_of_few_threads};

/// These versions, and before each the same for rows of at most so many columns, where the machine has threads and only the run
/// knows the length of rows.
pub(in crate::graph_to_gir) fn by_length(parts: &[Part<'_, '_>], versions: Vec<Version>) -> Vec<Version> {
    let Some(subgroup) = parts.first().and_then(|(region, _)| region.machine.subgroup()) else {
        return versions;
    };
    versions.into_iter().flat_map(|version| shorter(parts, version, subgroup)).collect()
}

/// A version behind those for shorter rows.
fn shorter(parts: &[Part<'_, '_>], version: Version, subgroup: i64) -> Vec<Version> {
    let mut lengths = Lengths { parts, known: 0, unknown: Vec::new(), combined: false };
    version.launches.iter().flat_map(|launch| &launch.kernels).for_each(|kernel| lengths.kernel(kernel));
    let [columns] = &lengths.unknown[..] else { return vec![version] };
    let mut facts = parts[0].0.facts.clone();
    version.guard.iter().for_each(|size| tighten(&mut facts, size));
    let (least, most) = facts.range(columns);
    let useful = |longest: &i64| (i128::from(lengths.known).max(least)..most).contains(&i128::from(*longest));
    // A kernel that would not know that its rows are short gains nothing.
    let known = |(longest, room): &(i64, Poly)| {
        let mut facts = facts.clone();
        tighten(&mut facts, room);
        facts.range(columns).1 <= i128::from(*longest)
    };
    let longest = match lengths.combined {
        true => lengths_apart(subgroup),
        false => lengths_of_few_threads(subgroup),
    };
    let longest = longest.into_iter().filter(useful);
    let rooms = longest.map(|longest| (longest, Poly::constant(longest).sub(columns))).filter(known);
    let at_most = |(_, room)| Version { guard: [&version.guard[..], &[room]].concat(), ..version.clone() };
    rooms.map(at_most).chain([version.clone()]).collect()
}

/// How long the rows are that kernels compute in loops over their columns.
struct Lengths<'p, 'r, 'a> {
    parts: &'p [Part<'r, 'a>],
    /// The longest of those that are known.
    known: i64,
    /// The others, each once.
    unknown: Vec<Poly>,
    /// Something is combined along one of the others, so that it pays to keep rows.
    combined: bool,
}

impl Lengths<'_, '_, '_> {
    fn kernel(&mut self, kernel: &Kernel) {
        let (part, (dims, stages)) = part_of(self.parts, kernel);
        let own = kernel.renumbered(-(dims as isize), -(stages as isize));
        self.nodes(part, &own.body, &mut Vec::new());
    }

    fn nodes<'t>(&mut self, part: usize, nodes: &'t [Node], around: &mut Vec<&'t Loop>) {
        for node in nodes {
            match node {
                // Units of one group are subgroups, however long rows are.
                Node::Loop(inner) if inner.runs == Runs::Units => {}
                Node::Loop(inner) => {
                    around.push(inner);
                    self.nodes(part, &inner.body, around);
                    around.pop();
                }
                Node::Place(Place { tile, .. }) | Node::Join(Place { tile, .. }) => self.tile(part, tile, around),
                Node::Operand(operand) => {
                    self.tile(part, &operand.tile, around);
                    self.nodes(part, &operand.body, around);
                }
            }
        }
    }

    fn tile(&mut self, part: usize, tile: &Tile, around: &[&Loop]) {
        let (region, nest) = self.parts[part];
        let Some(col) = tile.cols.filter(|_| tile.space != *region.machine.registers) else { return };
        let extent = nest.extents[col.0].clone();
        let length = match around.iter().rev().find(|l| l.dim == col).map(|l| l.split) {
            None => extent,
            Some(Split::One) => return,
            Some(Split::By(columns)) => Poly::constant(columns),
            Some(Split::Even(parts)) => extent.ceildiv(parts),
        };
        let Some(columns) = length.as_const() else {
            let combines = |s: &Stage<'_>| s.reduced.contains(&col.0) || nest.scanned(s).is_some();
            self.combined |= nest.stages.iter().any(combines);
            if !self.unknown.contains(&length) {
                self.unknown.push(length);
            }
            return;
        };
        self.known = self.known.max(columns);
    }
}
