//! What loads and stores say of the caches: `stream when(…) defer`, `kept` and `prefetch(…)`; and `gir.home`.
//!
//! They never change what a kernel computes.

use std::collections::HashSet;

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::diagnostics::{Reported, codes};
use sutura_ir::types::MAX_RANK;
use sutura_ir::{Attr, Diagnostic, OpRef, OpView, Type, Value};

use super::asm::parenthesised;
use super::kernel::{KernelInfo, Mode};
use super::ops::{HomeOp, IdentityOp, LoadOp, ReduceOp, SliceOp, StoreOp};
use super::types::{SliceType, ViewType};
use crate::r#dyn::attr::{parse_poly, shape_attr};
use crate::r#dyn::poly::Poly;

/// `stream when(4*M*N - 1048576, …) defer`, `kept`, or nothing.
pub(super) const STREAM: DirectiveDef = DirectiveDef { parse: parse_stream, print: print_stream };

/// `prefetch(4096, next when(65536 - N, …))`, or nothing.
pub(super) const PREFETCH: DirectiveDef = DirectiveDef { parse: parse_prefetch, print: print_prefetch };

/// `when(size, …)`; nothing stands for no size.
fn parse_when(p: &mut dyn AsmParser) -> Result<Attr, Reported> {
    let mut sizes = Vec::new();
    if p.opt_keyword("when") {
        parenthesised(p, &mut |p| {
            if sizes.len() == MAX_RANK {
                let diagnostic = Diagnostic::error(p.loc(), format!("a list of sizes has at most {MAX_RANK}"));
                return Err(p.report(diagnostic.code(codes::RANK)));
            }
            sizes.push(parse_poly(p)?);
            Ok(())
        })?;
    }
    Ok(shape_attr(p.cx(), &sizes))
}

fn print_when(p: &mut Printer<'_>, sizes: &[Poly]) {
    if !sizes.is_empty() {
        let sizes: Vec<String> = sizes.iter().map(Poly::to_string).collect();
        p.text(&format!(" when({})", sizes.join(", ")));
    }
}

fn parse_stream(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_keyword("stream") {
        let sizes = parse_when(p)?;
        parts.set_prop(p.cx(), "stream", sizes);
    }
    if p.opt_keyword("defer") {
        parts.set_prop(p.cx(), "defer", Attr::UNIT);
    }
    if p.opt_keyword("kept") {
        parts.set_prop(p.cx(), "kept", Attr::UNIT);
    }
    Ok(())
}

fn print_stream(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let store = StoreOp::from_ref(op);
    let mut before = "";
    if let Some(sizes) = &store.stream() {
        p.text("stream");
        print_when(p, sizes);
        before = " ";
    }
    for (word, _) in [("defer", store.defer()), ("kept", store.kept())].iter().filter(|(_, said)| *said) {
        p.text(&format!("{before}{word}"));
        before = " ";
    }
}

fn parse_prefetch(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if !p.opt_keyword("prefetch") {
        return Ok(());
    }
    p.punct("(")?;
    let bytes = p.opt_int()?;
    if let Some(bytes) = bytes {
        let bytes = p.cx().int_attr(bytes, Type::I64);
        parts.set_prop(p.cx(), "prefetch", bytes);
    }
    if bytes.is_none() || p.opt_punct(",") {
        p.keyword("next")?;
        let sizes = parse_when(p)?;
        parts.set_prop(p.cx(), "next", sizes);
    }
    p.punct(")")
}

fn print_prefetch(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let load = LoadOp::from_ref(op);
    let (bytes, next) = (load.prefetch(), load.next());
    if bytes.is_none() && next.is_none() {
        return;
    }
    p.text("prefetch(");
    if let Some(bytes) = bytes {
        p.text(&bytes.to_string());
    }
    if let Some(sizes) = &next {
        p.text(if bytes.is_some() { ", next" } else { "next" });
        print_when(p, sizes);
    }
    p.text(")");
}

/// Checks what a store says of the caches. `view` is the view of the kernel that it writes, with its name, if it is one.
///
/// # Errors
/// Says what does not fit.
pub(super) fn check_stream(
    info: &KernelInfo<'_>,
    store: StoreOp<'_>,
    (mode, view): (Option<Mode>, &str),
) -> Result<(), String> {
    let op = store.op_ref();
    let Some(sizes) = store.stream() else {
        let alone = || "says 'defer' without 'stream': only what goes past the caches can wait".to_string();
        return if store.defer() { Err(alone()) } else { Ok(()) };
    };
    if store.kept() {
        return Err("says 'kept' and 'stream': it stays in the caches, or goes past them".to_string());
    }
    info.check_known(&sizes)?;
    if mode != Some(Mode::Out) {
        return Err(format!("goes past the caches into {view}, which is no 'out' view of the kernel"));
    }
    let slice = op.cx.type_as::<SliceType>(op.ty(store.slice())).ok_or("takes a slice")?;
    if slice.elem == Type::I1 {
        return Err(format!("goes past the caches into {view}, whose truth values are widened when they are stored"));
    }
    if !has_contiguous_columns(op, store.slice()) {
        return Err(format!("goes past the caches into {view}, where the slice's columns do not lie side by side"));
    }
    Ok(())
}

/// Checks what a load says of the caches. `view` is the view of the kernel that it reads, with its name, if it is one.
///
/// # Errors
/// Says what does not fit.
pub(super) fn check_prefetch(
    info: &KernelInfo<'_>,
    load: LoadOp<'_>,
    (mode, view): (Option<Mode>, &str),
) -> Result<(), String> {
    let (bytes, next) = (load.prefetch(), load.next());
    info.check_known(next.iter().flatten())?;
    if let Some(bytes) = bytes.filter(|bytes| *bytes < 1) {
        return Err(format!("asks for what lies {bytes} bytes ahead: at least 1"));
    }
    if (bytes.is_some() || next.is_some()) && mode != Some(Mode::In) {
        return Err(format!("asks ahead in {view}, which is no 'in' view of the kernel"));
    }
    Ok(())
}

/// Checks where a tile is to lie. `view` is the view of the kernel that the slice is of, with its name, if it is one.
///
/// # Errors
/// Says what does not fit.
pub(super) fn check_home(home: HomeOp<'_>, (mode, view): (Option<Mode>, &str)) -> Result<(), String> {
    let op = home.op_ref();
    let slice = op.cx.type_as::<SliceType>(op.ty(home.slice())).ok_or("takes a slice")?;
    if mode != Some(Mode::Out) {
        return Err(format!("makes a tile live in {view}, which is no 'out' view of the kernel"));
    }
    if slice.elem == Type::I1 {
        return Err(format!("makes a tile live in {view}, whose truth values are widened when they are stored"));
    }
    if !has_contiguous_columns(op, home.slice()) {
        return Err(format!("makes a tile live in {view}, where the slice's columns do not lie side by side"));
    }
    let memory = memory_of(op, home.slice());
    // What is made of the tile may be computed where it is needed.
    let mut made_of_it: HashSet<Value> = HashSet::from([op.result(0)]);
    let (mut stored, mut next) = (false, op.body.next_op(op.op));
    while let Some(other) = next.map(|next| op.at(next)) {
        next = op.body.next_op(other.op);
        let name = other.name_str();
        let (mut uses, mut touches) = (false, false);
        other.walk(&mut |inner| {
            let makes = inner.is::<SliceOp<'_>>() || inner.is::<IdentityOp<'_>>();
            touches |= !makes && inner.operands().any(|value| memory_of(inner, value) == memory);
            uses |= inner.operands().any(|value| made_of_it.contains(&value));
        });
        if stored && uses {
            return Err(format!("makes a tile live in {view}, and '{name}' needs it when another one is stored there"));
        }
        let ends = other.as_::<StoreOp<'_>>().is_some_and(|store| store.slice() == home.slice());
        if touches && !stored && !ends {
            return Err(format!("makes a tile live in {view}, which '{name}' touches before it is stored there"));
        }
        if uses && !other.is::<ReduceOp<'_>>() {
            made_of_it.extend(other.results());
        }
        stored |= ends;
    }
    let stores = op.body.uses(home.slice()).filter(|user| op.at(user.owner).is::<StoreOp<'_>>()).count();
    match (stored, stores) {
        (true, 1) => Ok(()),
        (false, _) => Err(format!("makes a tile live in a slice of {view} to which no store of the block follows")),
        (true, stores) => Err(format!("makes a tile live in a slice of {view} to which {stores} stores are, not one")),
    }
}

/// The value that memory behind a slice or a view comes from; any other value is itself.
fn memory_of(op: OpRef<'_>, mut value: Value) -> Value {
    while let Some(made) = op.body.defining_op(value).map(|made| op.at(made)) {
        value = match (made.as_::<SliceOp<'_>>(), made.as_::<IdentityOp<'_>>()) {
            (Some(slice), _) => slice.view(),
            (_, Some(identity)) => identity.view(),
            _ => break,
        };
    }
    value
}

/// Whether neighbouring columns of a slice are neighbours in memory.
pub fn has_contiguous_columns(op: OpRef<'_>, slice: Value) -> bool {
    let Some(made) = op.body.defining_op(slice).and_then(|made| op.at(made).as_::<SliceOp<'_>>()) else { return false };
    let Some(view) = op.cx.type_as::<ViewType>(op.ty(made.view())) else { return false };
    let unit = view.element_strides().last().is_some_and(|stride| stride.as_const() == Some(1));
    let last = i64::try_from(view.dims.len()).ok().and_then(|rank| rank.checked_sub(1));
    unit && made.col_dim().is_some() && made.col_dim() == last && made.col_step() == 1
}
