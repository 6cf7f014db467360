//! The roles of dims and stages: what a region does apart from sizes, types of elements, constants, scalar functions and names.
//!
//! A trace that fits a region fits others with the same roles: the same dims are kept and combined there, and the same stages read
//! and write along them.

use sutura_ir::Context;
use sutura_ir::affine::{AffineExpr, AffineExprData};

use super::super::region::FusedRegion;
use super::describe::name_of;
use super::follow::form;
use crate::region::{Access, Fit, Nest, Stage};

/// The name of what dims and stages of a region are: regions that are alike but for sizes and scalar functions have equal ones.
///
/// # Errors
/// When the region has no normal form.
pub(in super::super) fn roles(region: &FusedRegion<'_>) -> Fit<String> {
    let form = form(region, &[], &[])?;
    let parts: Vec<String> = form.iter().map(|(_, nest)| part_text(nest)).collect();
    Ok(name_of(&parts.join("part\n")))
}

fn part_text(nest: &Nest<'_>) -> String {
    let tensors = nest.inputs();
    let read = |access: &Access| {
        let tensor = || tensors.iter().position(|value| *value == access.value);
        let from = nest.maker(access).map_or_else(|| format!("t{:?}", tensor()), |maker| format!("s{maker}"));
        let edge = if access.oob.is_some() { "?" } else { "" };
        format!("{from}{edge}{}:{}", index_text(nest.cx, access), access.guard.len())
    };
    let line = |stage: &Stage<'_>| {
        let reads: Vec<String> =
            stage.inputs.iter().chain(stage.picks.iter().map(|pick| &pick.access)).map(read).collect();
        let made = |access: &Access| {
            let output = if nest.outputs.contains(&access.value) { "out" } else { "" };
            format!("{output}{}", index_text(nest.cx, access))
        };
        let makes: Vec<String> = stage.results.iter().map(made).collect();
        let copy = if stage.copy { "copy " } else { "" };
        let (dims, picks) = (&stage.dims, stage.picks.len());
        format!("{copy}{dims:?} {} {picks} {} -> {}\n", combines(stage), reads.join(" "), makes.join(" "))
    };
    nest.stages.iter().map(line).collect()
}

/// How a stage combines, and along which dims.
fn combines(stage: &Stage<'_>) -> String {
    let combiners: Vec<&str> = stage.combiners.iter().map(|combiner| combiner.keyword()).collect();
    let joint = if stage.joint.is_some() { "region" } else { "" };
    let scan = stage.scan.map_or_else(String::new, |scan| format!("{} {} {}", scan.dim, scan.exclusive, scan.reverse));
    let scatter = if stage.scatter.is_some() { "scatter" } else { "" };
    format!("{:?} {}{joint}{scan}{scatter}", stage.reduced, combiners.join(" "))
}

fn index_text(cx: &Context, access: &Access) -> String {
    let index: Vec<String> = access.index.iter().map(|expr| expr_text(cx, *expr)).collect();
    format!("[{}]", index.join(","))
}

/// An index in which constants and sizes have no values.
fn expr_text(cx: &Context, expr: AffineExpr) -> String {
    match cx.affine_data(expr) {
        AffineExprData::Const(_) => "c".to_owned(),
        AffineExprData::Symbol(_) => "s".to_owned(),
        AffineExprData::Dim(dim) => format!("d{dim}"),
        AffineExprData::Binary(op, a, b) => format!("({} {op:?} {})", expr_text(cx, a), expr_text(cx, b)),
    }
}
