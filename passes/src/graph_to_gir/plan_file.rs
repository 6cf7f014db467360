//! Plans in files of schedules: the steps that lead from the plan of `stitch` to another one.

use std::fmt::Write;

use sutura_dialects::schedule::PlanOp;
use sutura_ir::asm::print::attr_text;
use sutura_ir::{Body, Context, Diagnostic, Op, OpView};

use super::schedule_file::{Region, regions};
use crate::stitch::cost::CostModel;
use crate::stitch::replan::replan;

/// A step that was taken: regions of which others were made.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    algorithms: Vec<String>,
    /// Function and number of each region, before the step.
    places: Vec<String>,
    kernels: Vec<Vec<usize>>,
}

impl Step {
    /// Makes one region of each of `kernels` in place of regions of a function, see [`replan`].
    ///
    /// # Errors
    /// Says why that cannot be; the module stays as it was then.
    pub fn take(
        cx: &Context,
        module: &mut Body,
        (function, taken): (Op, &[Op]),
        kernels: &[Vec<usize>],
        model: &CostModel,
    ) -> Result<Self, String> {
        let all = regions(cx, module);
        let named = |op: &Op| all.iter().find(|region| region.function == function && region.op.op == *op);
        let named =
            taken.iter().map(named).collect::<Option<Vec<&Region<'_>>>>().ok_or("it is no region of the module")?;
        let step = Self {
            algorithms: named.iter().map(|region| region.algorithm.clone()).collect(),
            places: named.iter().map(|region| region.place.clone()).collect(),
            kernels: kernels.to_vec(),
        };
        let inside = module.nested_mut(function).ok_or("a function has lost its body")?;
        replan(cx, inside, (taken, kernels), (model, "measured"))?;
        Ok(step)
    }

    /// Takes the step that a file asks for; none if the regions are not there, or compute something else.
    ///
    /// # Errors
    /// When they are there, and the kernels cannot be made of them.
    pub(super) fn of_file(
        cx: &Context,
        module: &mut Body,
        asked: PlanOp<'_>,
        model: &CostModel,
    ) -> Result<Option<Self>, Box<Diagnostic>> {
        let text = |attr: &_| cx.as_str(*attr).unwrap_or_default().to_owned();
        let wanted: Vec<(String, String)> =
            asked.places().iter().map(text).zip(asked.algorithms().iter().map(text)).collect();
        let found: Vec<(Op, Op)> = {
            let all = regions(cx, module);
            let fits = |(place, algorithm): &(String, String)| {
                let region = all.iter().find(|region| region.place == *place && region.algorithm == *algorithm);
                region.map(|region| (region.function, region.op.op))
            };
            let Some(found) = wanted.iter().map(fits).collect::<Option<_>>() else { return Ok(None) };
            found
        };
        let Some((function, _)) = found.first().copied() else { return Ok(None) };
        let taken: Vec<Op> = found.iter().map(|(_, region)| *region).collect();
        let together = found.iter().all(|(other, _)| *other == function) && in_order(module, function, &taken);
        let made = match together {
            true => Self::take(cx, module, (function, &taken), &asked.groups(), model),
            false => Err("the regions are not in order, or of several functions".to_owned()),
        };
        made.map(Some)
            .map_err(|why| Box::new(asked.op_ref().error(format!("asks for kernels that cannot be made: {why}"))))
    }

    /// The step as a line of a file.
    pub(super) fn write(&self, cx: &Context, out: &mut String) {
        let strings = |all: &[String]| {
            let all: Vec<_> = all.iter().map(|one| cx.string_attr(one)).collect();
            attr_text(cx, cx.array_attr(&all))
        };
        let list = |kernel: &Vec<usize>| cx.i64_array(&kernel.iter().map(|number| *number as i64).collect::<Vec<_>>());
        let kernels: Vec<_> = self.kernels.iter().map(list).collect();
        let kernels = attr_text(cx, cx.array_attr(&kernels));
        let (algorithms, places) = (strings(&self.algorithms), strings(&self.places));
        // Writing to a string does not fail.
        let _ = writeln!(out, "  schedule.plan {algorithms} of {places} = {kernels}\n");
    }
}

fn in_order(module: &Body, function: Op, taken: &[Op]) -> bool {
    let Some(inside) = module.nested(function) else { return false };
    let entry = inside.entry_block().into_iter();
    let there: Vec<Op> = entry.flat_map(|block| inside.ops(block)).filter(|op| taken.contains(op)).collect();
    there == taken
}
