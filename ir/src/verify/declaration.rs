//! An op against its declaration: counts, attributes, types, regions.
//!
//! The order is that of MLIR's generated verifiers: structure first, then attributes, operands, results, regions.

use smallvec::SmallVec;

use crate::asm::print::type_text;
use crate::diagnostics::{Diagnostic, codes, did_you_mean};
use crate::op_def::{Arity, InferDef, InferInput, OpDef, Traits, ValueDef};
use crate::op_ref::OpRef;
use crate::registry::OpInfo;
use crate::types::Type;

/// Checks everything that the table of `info` says.
pub(super) fn verify(op: OpRef<'_>, info: &OpInfo) -> Result<(), Diagnostic> {
    let def = info.def;
    verify_structure(op, def)?;
    verify_attrs(op, info)?;
    verify_types(op, def, Side::Operand).map_err(|e| e.code(codes::TYPE_CONSTRAINT))?;
    verify_types(op, def, Side::Result).map_err(|e| e.code(codes::TYPE_CONSTRAINT))?;
    verify_type_vars(op, def).map_err(|e| e.code(codes::TYPES_AGREE))?;
    verify_region_blocks(op, def).map_err(|e| e.code(codes::INTERNAL))
}

/// Checks how many entities the op has, and how they are grouped.
pub(super) fn verify_structure(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    verify_counts(op, def).map_err(|e| e.code(codes::COUNT))?;
    for side in [Side::Operand, Side::Result] {
        if def.traits.has(side.segment_trait()) {
            verify_segments(op, side).map_err(|e| e.code(codes::SEGMENTS))?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Operand,
    Result,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Operand => "operand",
            Self::Result => "result",
        }
    }
    fn segment_trait(self) -> Traits {
        match self {
            Self::Operand => Traits::AttrSizedOperandSegments,
            Self::Result => Traits::AttrSizedResultSegments,
        }
    }
    fn segment_attr(self) -> &'static str {
        match self {
            Self::Operand => "operandSegmentSizes",
            Self::Result => "resultSegmentSizes",
        }
    }
    fn groups(self, def: &OpDef) -> &'static [ValueDef] {
        match self {
            Self::Operand => def.operands,
            Self::Result => def.results,
        }
    }
    fn count(self, op: OpRef<'_>) -> usize {
        match self {
            Self::Operand => op.num_operands(),
            Self::Result => op.num_results(),
        }
    }
    fn ty(self, op: OpRef<'_>, index: usize) -> Type {
        match self {
            Self::Operand => op.ty(op.operand(index)),
            Self::Result => op.ty(op.result(index)),
        }
    }
}

/// Fewest entities that the groups stand for, and whether more are allowed.
fn bounds(arities: impl Iterator<Item = Arity>) -> (usize, bool) {
    arities.fold((0, false), |(least, open), arity| match arity {
        Arity::Single => (least + 1, open),
        Arity::Optional | Arity::Variadic => (least, true),
    })
}

// ---- counts: INV-10

fn verify_counts(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    verify_region_count(op, def)?;
    verify_result_count(op, def)?;
    verify_successor_count(op, def)?;
    verify_operand_count(op, def)
}

fn verify_operand_count(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    let found = op.num_operands();
    match bounds(def.operands.iter().map(|o| o.arity)) {
        (least, true) if found < least => {
            return Err(op.error(format!("expected {least} or more operands, but found {found}")));
        }
        (_, true) => {}
        (exact, false) if found == exact => return Ok(()),
        (0, false) => return Err(op.error("requires zero operands")),
        (1, false) => return Err(op.error("requires a single operand")),
        (exact, false) => return Err(op.error(format!("expected {exact} operands, but found {found}"))),
    }
    verify_group_sizes(op, def, Side::Operand)
}

fn verify_result_count(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    let found = op.num_results();
    match bounds(def.results.iter().map(|r| r.arity)) {
        (least, true) if found < least => return Err(op.error(format!("expected {least} or more results"))),
        (_, true) => {}
        (exact, false) if found == exact => return Ok(()),
        (0, false) => return Err(op.error("requires zero results")),
        (1, false) => return Err(op.error("requires one result")),
        (exact, false) => return Err(op.error(format!("expected {exact} results"))),
    }
    verify_group_sizes(op, def, Side::Result)
}

/// Without segment sizes the groups of any length share what the single ones leave, evenly.
fn verify_group_sizes(op: OpRef<'_>, def: &OpDef, side: Side) -> Result<(), Diagnostic> {
    if def.traits.has(side.segment_trait()) {
        return Ok(());
    }
    let groups = side.groups(def);
    let (least, _) = bounds(groups.iter().map(|g| g.arity));
    let open = groups.len() - least;
    let rest = side.count(op) - least;
    if open > 1 && !rest.is_multiple_of(open) {
        let word = side.word();
        return Err(op.error(format!("expects {open} {word} groups of one size, but found {rest} {word}s for them")));
    }
    Ok(())
}

fn verify_region_count(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    let found = op.regions().len();
    match bounds(def.regions.iter().map(|r| r.arity)) {
        (least, true) if found < least => Err(op.error(format!("expected {least} or more regions"))),
        (_, true) => Ok(()),
        (exact, false) if found == exact => Ok(()),
        (0, false) => Err(op.error("requires zero regions")),
        (1, false) => Err(op.error("requires one region")),
        (exact, false) => Err(op.error(format!("expected {exact} regions"))),
    }
}

fn verify_successor_count(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    let found = op.successors().len();
    match bounds(def.successors.iter().map(|s| s.arity)) {
        (least, true) if found < least => {
            Err(op.error(format!("requires at least {least} successors but found {found}")))
        }
        (_, true) => Ok(()),
        (exact, false) if found == exact => Ok(()),
        (1, false) => Err(op.error(format!("requires 1 successor but found {found}"))),
        (exact, false) => Err(op.error(format!("requires {exact} successors but found {found}"))),
    }
}

/// INV-11
fn verify_segments(op: OpRef<'_>, side: Side) -> Result<(), Diagnostic> {
    let (name, word) = (side.segment_attr(), side.word());
    let sizes = op.prop(name).filter(|a| op.cx.is_i32_array(*a)).and_then(|a| op.cx.as_ints(a));
    let Some(sizes) = sizes else {
        return Err(op.error(format!("requires dense i32 array attribute '{name}'")));
    };
    if sizes.iter().any(|s| *s < 0) {
        return Err(op.error(format!("'{name}' attribute cannot have negative elements")));
    }
    let (total, found): (i64, usize) = (sizes.iter().sum(), side.count(op));
    if total != found as i64 {
        return Err(op.error(format!(
            "{word} count ({found}) does not match with the total size ({total}) specified in attribute '{name}'"
        )));
    }
    let groups = side.groups(op.def().expect("declared")).len();
    if sizes.len() != groups {
        let got = sizes.len();
        return Err(op.error(format!(
            "'{name}' attribute for specifying {word} segments must have {groups} elements, but got {got}"
        )));
    }
    Ok(())
}

// ---- attributes: INV-12

fn verify_attrs(op: OpRef<'_>, info: &OpInfo) -> Result<(), Diagnostic> {
    let mut found = 0;
    for (attr, name) in info.def.attrs.iter().zip(&info.attr_names) {
        match op.cx.entry(op.body.props(op.op), *name) {
            None if attr.optional || attr.default.is_some() => {}
            None => {
                return Err(missing_attr(op, info, attr.name));
            }
            Some(value) => {
                found += 1;
                if !(attr.constraint.check)(op.cx, value) {
                    let description = attr.constraint.description;
                    let message = format!("attribute '{}' failed to satisfy constraint: {description}", attr.name);
                    return Err(op.error(message).code(codes::ATTR_CONSTRAINT));
                }
            }
        }
    }
    let entries = op.cx.entries(op.body.props(op.op));
    if found == entries.len() {
        return Ok(());
    }
    let is_segment = |name: &str| {
        [Side::Operand, Side::Result]
            .iter()
            .any(|side| name == side.segment_attr() && info.def.traits.has(side.segment_trait()))
    };
    let unknown = entries.iter().find(|e| !info.attr_names.contains(&e.name) && !is_segment(op.cx.str(e.name)));
    unknown.map_or(Ok(()), |entry| Err(unknown_attr(op, info.def, op.cx.str(entry.name))))
}

/// INV-12: with what may be meant to be the attribute that is missing.
fn missing_attr(op: OpRef<'_>, info: &OpInfo, name: &str) -> Diagnostic {
    let error = op.error(format!("requires attribute '{name}'")).code(codes::MISSING_ATTR);
    let given = op.cx.entries(op.body.props(op.op)).iter().chain(op.cx.entries(op.body.attrs(op.op)));
    let unknown = given.filter(|e| !info.attr_names.contains(&e.name)).map(|e| op.cx.str(e.name));
    match did_you_mean(name, unknown) {
        Some(close) => error.help(format!("`{close}` is no attribute of '{}'; did you mean `{name}`?", info.def.name)),
        None => error,
    }
}

/// INV-13
fn unknown_attr(op: OpRef<'_>, def: &OpDef, name: &str) -> Diagnostic {
    let error = op.error(format!("has no inherent attribute '{name}'")).code(codes::UNKNOWN_ATTR);
    match did_you_mean(name, def.attrs.iter().map(|a| a.name)) {
        Some(close) => error.help(format!("did you mean `{close}`?")),
        None => error.help("attributes that an op does not declare belong in `{…}`, not in `<{…}>`".to_string()),
    }
}

// ---- types: INV-14

fn verify_types(op: OpRef<'_>, def: &OpDef, side: Side) -> Result<(), Diagnostic> {
    let groups = side.groups(def);
    let simple = groups.iter().all(|g| g.arity == Arity::Single);
    for (index, group) in groups.iter().enumerate() {
        let range = if simple { Some(index..index + 1) } else { group_range(op, side, index) };
        let word = side.word();
        let Some(range) = range else {
            return Err(op.error(format!("has {word}s that do not fall into the groups it declares")));
        };
        if group.arity == Arity::Optional && range.len() > 1 {
            let (start, found) = (range.start, range.len());
            return Err(
                op.error(format!("{word} group starting at #{start} requires 0 or 1 element, but found {found}"))
            );
        }
        for at in range {
            let ty = side.ty(op, at);
            if !(group.constraint.check)(op.cx, ty) {
                let variadic = if group.arity == Arity::Variadic { "variadic of " } else { "" };
                let (must, got) = (group.constraint.description, type_text(op.cx, ty));
                return Err(op.error(format!("{word} #{at} must be {variadic}{must}, but got '{got}'")));
            }
        }
    }
    Ok(())
}

/// INV-15: values declared with one constraint variable have one type.
fn verify_type_vars(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    let agrees = |var: usize| {
        let mut first = None;
        [Side::Operand, Side::Result].iter().all(|&side| {
            let mut groups = side.groups(def).iter().enumerate().filter(|(_, g)| g.var == Some(var));
            groups.all(|(index, _)| {
                let mut range = group_range(op, side, index).into_iter().flatten();
                range.all(|at| {
                    let ty = side.ty(op, at);
                    *first.get_or_insert(ty) == ty
                })
            })
        })
    };
    let Some(var) = (0..def.type_vars.len()).find(|var| !agrees(*var)) else { return Ok(()) };
    let groups = def.operands.iter().chain(def.results);
    let names: Vec<&str> = groups.filter(|g| g.var == Some(var)).map(|g| g.name).collect();
    Err(op.error(format!("failed to verify that all of {{{}}} have same type", names.join(", "))))
}

/// INV-15: results have the types that the op infers.
pub(super) fn verify_inferred(op: OpRef<'_>, infer: InferDef) -> Result<(), Diagnostic> {
    let operands: SmallVec<[Type; 4]> = op.operand_types().collect();
    let found: SmallVec<[Type; 2]> = op.result_types().collect();
    let input = InferInput { cx: op.cx, operands: &operands, props: op.body.props(op.op) };
    let inferred = (infer.types)(input)
        .map_err(|reason| op.error(format!("failed to infer returned types: {reason}")).code(codes::TYPES_AGREE))?;
    if (infer.compatible)(op.cx, &inferred, &found) {
        return Ok(());
    }
    let [inferred, found] = [&inferred, &found].map(|types| {
        let types: Vec<String> = types.iter().map(|ty| format!("'{}'", type_text(op.cx, *ty))).collect();
        types.join(", ")
    });
    let message = format!("inferred type(s) {inferred} are incompatible with return type(s) of operation {found}");
    Err(op.error(message).code(codes::TYPES_AGREE))
}

/// Numbers of the values that belong to the declared group `index`.
fn group_range(op: OpRef<'_>, side: Side, index: usize) -> Option<std::ops::Range<usize>> {
    match side {
        Side::Operand => op.operand_group(index),
        Side::Result => op.result_group(index),
    }
}

// ---- regions: INV-16

fn verify_region_blocks(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    // An op with the trait that lacks a body of its own was put together wrongly.
    let (wants, has) = (def.traits.has(Traits::IsolatedFromAbove), op.body.nested(op.op).is_some());
    if wants != has && op.regions().len() > 0 {
        return Err(op.error("does not own its regions as its trait IsolatedFromAbove says: an internal error"));
    }
    Ok(())
}
