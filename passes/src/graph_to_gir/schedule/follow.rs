//! Schedules that a text gives: they are followed as they stand, or refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Rewrite, TreeAttr, Version, rewrite_text};
use sutura_ir::Diagnostic;

use super::super::kernel::Built;
use super::super::region::{FusedRegion, Lowered};
use super::{Group, REFUSED, check, emit, part_of};
use crate::region::{Fit, Nest, misfit};

/// The parts of a region at the sizes that a guard fixes, in the normal form of a version.
pub(super) type Form<'a> = Vec<(FusedRegion<'a>, Nest<'a>)>;

/// Versions of one form, behind what their guards fix.
struct Formed<'a> {
    sizes: Vec<(String, i64)>,
    form: Form<'a>,
    versions: Vec<Version>,
}

/// Lowers a region as a tree says.
///
/// # Errors
/// When the tree does not fit the region, or would compute something else.
pub(in super::super) fn follow(region: &FusedRegion<'_>, tree: &TreeAttr) -> Built<Lowered> {
    if region.ops.is_empty() {
        return Err(refused(region, "the region computes nothing"));
    }
    let formed = formed(region, tree)?;
    let parts: Vec<Vec<_>> =
        formed.iter().map(|formed| formed.form.iter().map(|(region, nest)| (region, nest)).collect()).collect();
    let mut groups = Vec::with_capacity(formed.len());
    for (parts, Formed { versions, .. }) in parts.iter().zip(&formed) {
        for kernel in versions.iter().flat_map(|version| &version.launches).flat_map(|launch| &launch.kernels) {
            let (part, first) = part_of(parts, kernel);
            check::numbers(kernel, parts[part].1, first).map_err(|why| refused(region, &why))?;
        }
        groups.push(Group { parts, versions: versions.clone(), given: true });
    }
    emit(&groups)
}

/// The versions of a tree, those that follow each other and have the same form together.
fn formed<'a>(region: &FusedRegion<'a>, tree: &TreeAttr) -> Built<Vec<Formed<'a>>> {
    let mut all: Vec<Formed<'_>> = Vec::new();
    for (number, version) in tree.versions.iter().enumerate() {
        let refused = |why: String| refused(region, &format!("version {number}: {why}"));
        let sizes = fixed(region, &version.guard).map_err(refused)?;
        let version = version.clone();
        match all.last_mut() {
            Some(last) if last.sizes == sizes && last.versions[0].rewrites == version.rewrites => {
                last.versions.push(version);
            }
            _ => {
                let form = form(region, &sizes, &version.rewrites).map_err(|misfit| refused(misfit.0))?;
                all.push(Formed { sizes, form, versions: vec![version] });
            }
        }
    }
    Ok(all)
}

fn refused(region: &FusedRegion<'_>, why: &str) -> Box<Diagnostic> {
    let error = region.op.error(format!("{REFUSED}: {why}"));
    Box::new(error.help("`sutura compile --emit=schedule` names the dims and the stages of regions"))
}

/// The sizes that a guard fixes: a symbol is at least and at most a number.
fn fixed(region: &FusedRegion<'_>, guard: &[Poly]) -> Result<Vec<(String, i64)>, String> {
    let (facts, mut sizes) = (&region.facts, Vec::new());
    let tensors = region.inputs.iter().chain(&region.outputs);
    let dims = tensors.flat_map(|v| symbolic_shape(region.op.cx, region.ops[0].body.ty(*v))).flatten().flatten();
    let own: BTreeSet<Arc<str>> = dims.flat_map(|size| size.symbols()).collect();
    for size in guard {
        let unknown = |symbol: &Arc<str>| !facts.is_defined(symbol) && !own.contains(symbol);
        if let Some(symbol) = size.symbols().into_iter().find(unknown) {
            return Err(format!("its guard asks for '{symbol}', which is no size of the region"));
        }
        if facts.range(size).1 < 0 {
            return Err(format!("its guard '{size}' never holds"));
        }
        if !guard.contains(&size.scale(-1)) {
            continue;
        }
        let symbols = size.symbols();
        let (Some(symbol), 1) = (symbols.first(), symbols.len()) else { continue };
        let rest = Poly::symbol(symbol).sub(size).as_const();
        let Some(value) = rest else { continue };
        if value < 0 || value % facts.info(symbol).div.max(1) != 0 {
            return Err(format!("its guard fixes '{symbol}' at {value}, which it never is"));
        }
        sizes.push((symbol.to_string(), value));
    }
    Ok(sizes)
}

/// The normal form of a region at some sizes, rewritten.
pub(super) fn form<'a>(region: &FusedRegion<'a>, sizes: &[(String, i64)], rewrites: &[Rewrite]) -> Fit<Form<'a>> {
    let whole = region.part(crate::region::products::Part { ops: region.ops.clone(), outputs: region.outputs.clone() });
    let region = sizes.iter().fold(whole, |region, (name, value)| region.at_size(name, *value));
    let mut form = Vec::new();
    for part in region.parts() {
        let nest = Nest::of_any(&part.facts, &part.ops, &part.outputs)?;
        form.push((part, nest));
    }
    for rewrite in rewrites {
        let (mut dims, mut stages) = (0, 0);
        let part = form.iter_mut().find(|(_, nest)| {
            let (own_dims, own_stages) = (dims + nest.extents.len(), stages + nest.stages.len());
            let here = match rewrite {
                Rewrite::Join(first, second) | Rewrite::Fuse(first, second) => {
                    (dims..own_dims).contains(&first.0) && second.0 >= dims
                }
                Rewrite::Hoist(scale, sum) => (stages..own_stages).contains(&scale.number) && sum.number >= stages,
            };
            if !here {
                (dims, stages) = (own_dims, own_stages);
            }
            here
        });
        let Some((part, nest)) = part else {
            let text = rewrite_text(region.op.cx, rewrite);
            return misfit(format!("'{text}' names what the region does not have, or not in one product"));
        };
        nest.rewrite(&part.facts, &rewrite.renumbered(-(dims as isize), -(stages as isize)))?;
    }
    Ok(form)
}
