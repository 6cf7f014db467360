//! Updates at indices which are data.

use sutura_dialects::schedule::{Split, Tile};
use sutura_ir::Value;

use super::super::describe::called;
use super::super::scatter::Written;
use super::{Check, Checked};

impl Check<'_, '_, '_> {
    /// What a stage writes over lies in the result before the first kernel.
    pub(super) fn over_data(&self, number: usize) -> Checked {
        let (nest, stage) = (self.nest(), self.stage(number));
        let Some(scatter) = &stage.scatter else { return Ok(()) };
        let text = |value: &Value| called(nest, *value);
        if let Some(made) = scatter.data.iter().find(|data| nest.made.contains_key(data)) {
            return Err(format!("{} writes over {}, which the region makes", self.name(number), text(made)));
        }
        match stage.results.iter().find(|result| !nest.outputs.contains(&result.value)) {
            Some(inner) => Err(format!("{} writes at indices, and only the region reads it", text(&inner.value))),
            None => Ok(()),
        }
    }

    /// Updates are gone through in order, each once.
    pub(super) fn writes_in_order(&self, number: usize, name: &str, tile: &Tile) -> Checked {
        let (nest, stage, machine) = (self.nest(), self.stage(number), self.of.region.machine);
        if let Some(l) = self.around.iter().find(|l| !stage.dims.contains(&l.dim.0)) {
            return Err(format!("{name} writes at indices, once for each trip of the loop over {}", l.dim));
        }
        let updates = self.around.iter().filter(|l| stage.reduced.contains(&l.dim.0) && !nest.is_unit(l.dim.0));
        let in_order: Vec<(usize, Split, bool)> = updates.map(|l| (l.dim.0, l.split, l.is_grid())).collect();
        let wanted = stage.reduced.iter().filter(|dim| !nest.is_unit(**dim)).map(|dim| (*dim, Split::One, false));
        if !wanted.eq(in_order) {
            let dims: Vec<String> = stage.reduced.iter().map(|dim| format!("d{dim}")).collect();
            let dims = dims.join(", ");
            return Err(format!(
                "{name} writes at indices, which needs a loop inside a group over each index of {dims}, in this order"
            ));
        }
        if tile.cols.is_some() && tile.space != machine.registers.to_string() {
            return Err(format!("{name} writes at indices on a tile in '{}', not in registers", tile.space));
        }
        let col = tile.cols.map(|dim| dim.0);
        Written::of(nest, stage, &self.of.region.facts, col).check().map_err(|why| format!("{name} {why}"))
    }
}
