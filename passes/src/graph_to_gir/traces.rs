//! Traces of regions: what edits make of a schedule, which is checked like one that a text gives.

use sutura_dialects::graph::FusionOp;
use sutura_dialects::schedule::{TraceAttr, TreeAttr};
use sutura_ir::OpRef;

use super::Config;
use super::fallback::{self, At};
use super::kernel::Built;
use super::search::{self, Found};

/// The schedule that a rule writes for a region.
///
/// # Errors
/// Why the region is lowered without one.
pub(super) fn by_rule(at: &At<'_>, op: OpRef<'_>, config: &Config) -> Result<TreeAttr, String> {
    let found = search::best(op, config).and_then(|found| fallback::proved(at, found, config));
    match found {
        Ok((found, missed)) => match (found.lowered.schedule, missed.first()) {
            (Some(tree), _) => Ok(tree),
            (None, Some(why)) => Err(format!("it {why}")),
            (None, None) => Err("its ops are lowered one by one".to_owned()),
        },
        Err(error) => Err(error.message.clone()),
    }
}

/// What a region's trace makes of the schedule that it has, or of the one that a rule writes, and the lowering that this says.
///
/// # Errors
/// When there is no schedule to edit, when the trace is refused, or when what it makes is.
pub(super) fn followed<'a>(
    at: &At<'_>,
    op: OpRef<'a>,
    trace: &TraceAttr,
    config: &'a Config,
) -> Built<(TreeAttr, (Found<'a>, Vec<String>))> {
    let refused = |why: String| {
        let error = op.error(format!("has a trace that is refused: {why}"));
        Box::new(error.help("`sutura compile --emit=schedule` without the trace shows the schedule that it edits"))
    };
    let tree = match op.as_::<FusionOp<'_>>().and_then(|fusion| fusion.schedule()) {
        Some(tree) => tree.clone(),
        None => by_rule(at, op, config).map_err(|why| refused(format!("the region gets no schedule: {why}")))?,
    };
    let edited = trace.apply(op.cx, &tree).map_err(refused)?;
    let found = fallback::followed(at, op, &edited, config).map_err(|mut error| {
        error.message = error.message.replacen("has a schedule", "has a trace that makes a schedule", 1);
        error
    })?;
    Ok((edited, found))
}
