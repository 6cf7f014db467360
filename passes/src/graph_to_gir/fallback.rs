//! What is done where the kernels of a rule are not proved.
//!
//! The verifier of `gir` proves that indices lie inside and that outputs are written once. A rule may make kernels for which
//! it cannot, as where a bound follows from sizes in a way that it does not see. Then the region's ops become kernels one by
//! one, each by the first rule whose kernels are proved; the last one, plain loops, reads and writes at what the loops run
//! over. Where a proof of those lacks only that sizes are equal or large enough, the host checks that before it runs them.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::types::ViewType;
use sutura_dialects::gir::{missing_conditions, prove_kernel};
use sutura_dialects::graph::ComputeOp;
use sutura_dialects::schedule::TreeAttr;
use sutura_dialects::target::machine_in;
use sutura_ir::affine::AffineExprData;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostic, OpRef, Value};

use super::kernel::Built;
use super::region::{Arg, FusedRegion, Launch, Lowered, Step};
use super::rules::variant::Variant;
use super::schedule::{self, REFUSED};
use super::search::Found;
use super::{Config, rules};
use crate::region::Family;
use crate::region::nest::{Nest, sizes};
use crate::region::products::Part;

/// The families whose rules take one op, the most special one first.
const OF_AN_OP: [Family; 4] = [Family::Contract, Family::Window, Family::Row, Family::Loop];

/// Where kernels will stand.
pub(super) struct At<'m> {
    cx: &'m Context,
    /// The module's machine, whose spaces bound what a kernel may keep.
    machine: Option<OpRef<'m>>,
}

impl<'m> At<'m> {
    /// In the module that `function` is in.
    pub(super) fn of(function: OpRef<'m>) -> Self {
        // A module with several machines was refused before.
        Self { cx: function.cx, machine: machine_in(function.cx, function.body).ok().flatten() }
    }

    fn proves(&self, kernel: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify(kernel, VerifyOptions::default(), diags)?;
        prove_kernel(kernel, self.machine, diags)
    }
}

/// The lowering that was found, or one whose kernels are proved, with what is to be said of that.
///
/// # Errors
/// When no rule has kernels that are proved.
pub(super) fn proved<'a>(at: &At<'_>, found: Found<'a>, config: &'a Config) -> Built<(Found<'a>, Vec<String>)> {
    let Found { region, mut lowered, remark } = found;
    let Err(why) = check(at, &mut lowered) else { return Ok((Found { region, lowered, remark }, vec![])) };
    let rule = region.family().map_or("", Family::name);
    let mut missed = vec![format!("is not lowered by the rule '{rule}', whose kernels are not proved: {why}")];
    // What the search took may be special; what is usual may be proved.
    if let Ok(mut usual) = rules::lower(&region, config, &Variant::default())
        && check(at, &mut usual).is_ok()
    {
        return Ok((Found { region, lowered: usual, remark: None }, missed));
    }
    let lowered = one_by_one(at, &region, config, &mut missed)?;
    Ok((Found { region, lowered, remark: None }, missed))
}

/// The lowering that a region's schedule says.
///
/// # Errors
/// When the schedule does not fit the region, would compute something else, or has kernels that are not proved.
pub(super) fn followed<'a>(
    at: &At<'_>,
    op: OpRef<'a>,
    tree: &TreeAttr,
    config: &'a Config,
) -> Built<(Found<'a>, Vec<String>)> {
    let region = FusedRegion::read(op, &config.machine)?;
    let named = |mut error: Box<Diagnostic>| {
        if !error.message.contains(REFUSED) {
            error.message = format!("'{}' op {REFUSED}: {}", op.name_str(), error.message);
        }
        error
    };
    let mut lowered = schedule::follow(&region, tree).map_err(named)?;
    if let Err(why) = check(at, &mut lowered) {
        return Err(Box::new(op.error(format!("has a schedule whose kernels are not proved: {why}"))));
    }
    Ok((Found { region, lowered, remark: Some("runs as its schedule says".to_owned()) }, vec![]))
}

/// A region that its rule does not lower, op by op.
///
/// # Errors
/// `why` it is not lowered by its rule, where its ops are not lowered either.
pub(super) fn unfit<'a>(
    at: &At<'_>,
    op: OpRef<'a>,
    config: &'a Config,
    why: Box<Diagnostic>,
) -> Built<(Found<'a>, Vec<String>)> {
    let region = FusedRegion::read(op, &config.machine)?;
    let mut missed = vec![match region.family() {
        Some(family) => format!("is not lowered by the rule '{}': {}", family.name(), why.message),
        None => format!("is lowered op by op: it {}", region.misfit()),
    }];
    if region.ops.len() < 2 {
        return Err(why);
    }
    match one_by_one(at, &region, config, &mut missed) {
        Ok(lowered) => Ok((Found { region, lowered, remark: None }, missed)),
        Err(_) => Err(why),
    }
}

/// Whether all kernels are proved; why not.
pub(super) fn check(at: &At<'_>, lowered: &mut Lowered) -> Result<(), String> {
    let steps = lowered.steps.iter_mut().flat_map(|step| &mut step.versions);
    for launch in steps.flat_map(|(_, launches)| launches) {
        let mut diags = Diagnostics::default();
        if launch.kernel.with_op(at.cx, |op| at.proves(op, &mut diags)).is_err() {
            return Err(first_error(&diags));
        }
    }
    Ok(())
}

fn first_error(diags: &Diagnostics) -> String {
    diags.iter().next().map_or_else(|| "the verifier gives no reason".to_owned(), |error| error.message.clone())
}

/// Lowers the ops of a region one by one, with temporaries between them.
fn one_by_one(at: &At<'_>, region: &FusedRegion<'_>, config: &Config, missed: &mut Vec<String>) -> Built<Lowered> {
    let mut whole = Lowered::default();
    let mut kept: Vec<(Value, usize)> = Vec::new();
    for (i, op) in region.ops.iter().enumerate() {
        let later = |v: &Value| region.ops[i + 1..].iter().any(|user| user.operands().any(|o| o == *v));
        let outputs: Vec<Value> = op.results().filter(|v| region.outputs.contains(v) || later(v)).collect();
        if outputs.is_empty() {
            continue;
        }
        let part = region.part(Part { ops: vec![*op], outputs: outputs.clone() });
        let lowered = by_first_proved(at, &part, config, missed)?;
        for value in outputs.into_iter().filter(|v| !region.outputs.contains(v)) {
            let dims = sizes(at.cx, op.body, &region.facts, value)
                .map_err(|misfit| Box::new(op.error(format!("cannot be lowered by itself: {misfit}"))))?;
            let elem = at.cx.element_type(op.body.ty(value));
            kept.push((value, whole.temporaries.len()));
            whole.temporaries.push(ViewType::new(&region.machine.memory, elem, dims));
        }
        append(&mut whole, lowered, &kept);
    }
    Ok(whole)
}

/// Adds the steps of a part, whose temporaries come behind those that are there.
fn append(whole: &mut Lowered, part: Lowered, kept: &[(Value, usize)]) {
    let before = whole.temporaries.len();
    let place = |arg: Arg| match arg {
        Arg::Tensor(value) => match kept.iter().find(|(v, _)| *v == value) {
            Some((_, at)) => Arg::Temporary(*at),
            None => arg,
        },
        Arg::Temporary(i) => Arg::Temporary(before + i),
    };
    let moved = |launch: Launch| Launch { args: launch.args.into_iter().map(place).collect(), ..launch };
    whole.copies.extend(part.copies.into_iter().map(|(from, to)| (place(from), place(to))));
    for step in part.steps {
        let versions = step.versions.into_iter();
        let versions = versions.map(|(guard, launches)| (guard, launches.into_iter().map(moved).collect())).collect();
        whole.steps.push(Step { versions });
    }
    whole.temporaries.extend(part.temporaries);
    whole.remarks.extend(part.remarks);
    whole.conditions.extend(part.conditions);
}

/// An op by the first rule that takes it and whose kernels are proved, or by the last one that is under conditions.
fn by_first_proved(at: &At<'_>, part: &FusedRegion<'_>, config: &Config, missed: &mut Vec<String>) -> Built<Lowered> {
    let name = part.ops.first().map_or("", |op| op.name_str());
    let (mut unfit, mut conditional) = (None, None);
    for family in OF_AN_OP {
        match rules::by_rule(family, part, config, &Variant::default()) {
            Ok(mut lowered) => match check(at, &mut lowered) {
                Ok(()) => return Ok(lowered),
                Err(why) => {
                    let rule = family.name();
                    missed.push(format!(
                        "'{name}' is not lowered by the rule '{rule}', whose kernels are not proved: {why}"
                    ));
                    conditional = under_conditions(at, part, lowered).or(conditional);
                }
            },
            Err(error) => unfit = Some(error),
        }
    }
    if let Some(lowered) = conditional {
        let conditions: Vec<String> = lowered.conditions.iter().map(|size| format!("'{size}'")).collect();
        missed.push(format!("'{name}' runs where {} >= 0, which the host checks", conditions.join(" >= 0 and ")));
        return Ok(lowered);
    }
    let why = missed.last().cloned().or_else(|| unfit.map(|error| error.message.clone())).unwrap_or_default();
    let error = part.op.error(format!("has an op that no rule lowers with a proof: {why}"));
    Err(Box::new(error.help("narrower ranges of the symbols, or constant sizes, may allow a proof")))
}

/// The lowering with kernels that require what their proofs lack: that sizes along one dim are equal, and that indices lie
/// inside. `None` where they lack more.
fn under_conditions(at: &At<'_>, part: &FusedRegion<'_>, mut lowered: Lowered) -> Option<Lowered> {
    let (cx, agree) = (at.cx, sizes_that_agree(part)?);
    let mut conditions = agree.clone();
    let steps = lowered.steps.iter_mut().flat_map(|step| &mut step.versions);
    for launch in steps.flat_map(|(_, launches)| launches) {
        launch.kernel.require(cx, &agree);
        // One condition may hide another.
        const MOST_TURNS: usize = 4;
        for _ in 0..MOST_TURNS {
            if launch.kernel.with_op(cx, |op| at.proves(op, &mut Diagnostics::default())).is_ok() {
                break;
            }
            let missing = launch.kernel.with_op(cx, |op| missing_conditions(op, at.machine));
            launch.kernel.require(cx, &missing);
            conditions.extend(missing);
        }
    }
    // What the program knows need not be checked in a run.
    let known = |size: &Poly| part.facts.prove_non_negative(size) || part.facts.prove_equal(size, &Poly::default());
    conditions.retain(|size| !known(size));
    conditions.sort();
    conditions.dedup();
    lowered.conditions = conditions;
    check(at, &mut lowered).is_ok().then_some(lowered)
}

/// What must be at least 0 for the sizes along each dim of a `graph.compute` to be equal. On other sizes a kernel would read
/// outside a tensor, or only a part of it. `None` for other ops, and where an index is not a plain dim.
fn sizes_that_agree(part: &FusedRegion<'_>) -> Option<Vec<Poly>> {
    let nest = Nest::of(&part.facts, &part.ops, &part.outputs)
        .ok()
        .filter(|_| part.ops.iter().all(|op| op.is::<ComputeOp<'_>>()))?;
    let mut conditions = Vec::new();
    let (reads, writes) = (nest.external_reads(), nest.output_writes());
    for access in reads.map(|(_, read)| read).chain(writes.map(|(_, write)| write)) {
        for (expr, size) in access.index.iter().zip(&nest.shapes[&access.value]) {
            match nest.plain(*expr) {
                // The program may know that they are equal; a kernel knows what it requires.
                Some(dim) if *size != nest.extents[dim] => {
                    let room = size.sub(&nest.extents[dim]);
                    if !conditions.contains(&room) {
                        conditions.extend([room.scale(-1), room]);
                    }
                }
                None if !matches!(nest.cx.affine_data(*expr), AffineExprData::Const(_)) => return None,
                _ => {}
            }
        }
    }
    Some(conditions)
}
