//! What people read of a region that they schedule: its dims and its stages, by the names that a tree has for them.

use sutura_dialects::schedule::{TreeAttr, stage_text};
use sutura_ir::affine::{AffineExpr, AffineExprData};
use sutura_ir::asm::print::{PrintOptions, attr_text, op_text};
use sutura_ir::body::ValueKind;
use sutura_ir::{Context, OpRef, Value};

use super::super::region::FusedRegion;
use super::follow::form;
use super::{begin_of, stage_name};
use crate::region::cost::value_text;
use crate::region::nest::substitute;
use crate::region::{Access, Fit, Nest, Stage};

/// A line for all dims and one for each stage, as the last version of a tree has them.
///
/// # Errors
/// When the dims cannot become others as the version says.
pub(in super::super) fn describe(region: &FusedRegion<'_>, tree: &TreeAttr) -> Fit<Vec<String>> {
    let rewrites = tree.versions.last().map_or(&[][..], |version| &version.rewrites);
    let form = form(region, &[], rewrites)?;
    let parts: Vec<_> = form.iter().map(|(region, nest)| (region, nest)).collect();
    let (mut dims, mut stages) = (Vec::new(), Vec::new());
    for (part, (_, nest)) in parts.iter().enumerate() {
        let (first_dim, first_stage) = begin_of(&parts, part);
        dims.extend(nest.extents.iter().enumerate().map(|(i, extent)| format!("d{} = {extent}", first_dim + i)));
        let line = |s| stage_line(nest, s, (first_dim, first_stage));
        stages.extend((0..nest.stages.len()).map(line));
    }
    Ok([vec![dims.join(", ")], stages].concat())
}

/// `max:0 = graph.compute over d0, d1: %x[d0, d1] -> [d0], combined along d1`
fn stage_line(nest: &Nest<'_>, number: usize, (first_dim, first_stage): (usize, usize)) -> String {
    let stage = &nest.stages[number];
    let name = |number: usize| format!("{}:{}", stage_name(nest, number).name, number + first_stage);
    let dims = |list: &[usize]| list.iter().map(|d| format!("d{}", d + first_dim)).collect::<Vec<_>>().join(", ");
    let index = |access: &Access| {
        let index: Vec<String> = access.index.iter().map(|e| expr_text(nest, *e, first_dim)).collect();
        format!("[{}]", index.join(", "))
    };
    let read = |access: &Access| {
        let from = nest.maker(access).map_or_else(|| called(nest, access.value), name);
        format!("{from}{}", index(access))
    };
    let (op, over) = (stage.op.name_str(), dims(&stage.dims));
    let reads: Vec<String> = stage.inputs.iter().map(read).collect();
    let makes: Vec<String> = stage.results.iter().map(index).collect();
    let (reads, makes) = (reads.join(", "), makes.join(", "));
    format!("{} = {op} over {over}: {reads} -> {makes}{}", name(number), combined(stage, &dims))
}

/// A value by its name; else the stage that makes it, as schedules call it, or its number among what the region takes.
pub(super) fn called(nest: &Nest<'_>, value: Value) -> String {
    let makes = |stage: &usize| nest.stages[*stage].results.iter().any(|result| result.value == value);
    let named = nest.body.value_name(value).is_some();
    match (named, (0..nest.stages.len()).find(makes), nest.body.value_kind(value)) {
        (false, Some(stage), _) => format!("stage '{}'", stage_text(nest.cx, &stage_name(nest, stage))),
        (false, None, ValueKind::Arg(_, number)) => format!("input {number}"),
        _ => value_text(nest.cx, nest.body, value),
    }
}

fn combined(stage: &Stage<'_>, dims: &dyn Fn(&[usize]) -> String) -> String {
    match (&stage.reduced[..], stage.scan) {
        ([], None) => String::new(),
        ([], Some(scan)) => format!(", running along {}", dims(&[scan.dim])),
        (reduced, _) => format!(", combined along {}", dims(reduced)),
    }
}

/// An index, with dims that are further by so many.
fn expr_text(nest: &Nest<'_>, expr: AffineExpr, first: usize) -> String {
    let cx = nest.cx;
    let moved = substitute(cx, expr, &|i| cx.affine_dim((i + first) as u32));
    let map = cx.affine_map((nest.extents.len() + first) as u32, symbols(cx, moved), &[moved]);
    let text = attr_text(cx, cx.affine_map_attr(map));
    let index = text.rsplit_once("-> (").and_then(|(_, rest)| rest.strip_suffix(")>"));
    index.map_or(text.clone(), str::to_owned)
}

/// How many symbols an expression needs.
fn symbols(cx: &Context, expr: AffineExpr) -> u32 {
    match cx.affine_data(expr) {
        AffineExprData::Symbol(i) => i + 1,
        AffineExprData::Binary(_, a, b) => symbols(cx, a).max(symbols(cx, b)),
        AffineExprData::Dim(_) | AffineExprData::Const(_) => 0,
    }
}

/// The name of what a region computes: equal regions have equal ones, whatever their values are called.
pub(in super::super) fn algorithm(region: OpRef<'_>) -> String {
    let options = PrintOptions { discard_value_names: true, local_scope: true, ..PrintOptions::default() };
    let text = op_text(region, &options);
    // Before the block come attributes, and operands with numbers of the function.
    let body = text.split_once("^bb0").map_or(&text[..], |(_, body)| body);
    name_of(body)
}

/// A name for a text.
pub(super) fn name_of(text: &str) -> String {
    // FNV-1a, of which files keep what it gives.
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}
