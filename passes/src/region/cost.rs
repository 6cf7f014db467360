//! Rough prices: of scalar functions in cheap vector operations, of tensors in bytes at likely sizes.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_ir::{BlockRef, Context, Type, Value};

/// Size that is assumed of a dimension about which nothing is stated.
const LIKELY: i64 = 128;

/// Price of one scalar op, by its name.
pub fn op_cost(name: &str) -> u32 {
    match name {
        "graph.yield" | "arith.constant" | "graph.size" | "graph.index" => 0,
        "arith.divf" | "arith.divsi" | "arith.divui" | "arith.floordivsi" | "arith.remsi" | "arith.remui"
        | "math.sqrt" | "math.rsqrt" => 8,
        "math.absf" | "math.absi" | "math.floor" | "math.ceil" | "math.round" | "math.roundeven" | "math.trunc"
        | "math.fma" => 1,
        "arith.remf" => 20,
        name if name.starts_with("math.") => 20,
        _ => 1,
    }
}

/// Price of a scalar function at one point; a copy is free.
pub fn body_cost<'a>(body: impl Into<Option<BlockRef<'a>>>) -> u32 {
    body.into().map_or(0, |body| body.ops().map(|op| op_cost(op.name_str())).sum())
}

/// Number that a size is expected to be.
pub fn likely_size(facts: &Facts, size: &Poly) -> i64 {
    let value_of = |name: &str| {
        let info = facts.info(name);
        Some(info.likely.first().copied().unwrap_or_else(|| LIKELY.clamp(info.min, info.max)))
    };
    facts.canonical(size).eval(&value_of).unwrap_or(i64::MAX).max(0)
}

/// Number that a size is where `given` says those of symbols, and is expected to be where it does not; it may be negative.
/// `None` for one that overflows.
pub fn size_at(facts: &Facts, given: &HashMap<String, i64>, size: &Poly) -> Option<i64> {
    let likely = |name: &str| likely_size(facts, &Poly::symbol(name));
    facts.canonical(size).eval(&|name| Some(given.get(name).copied().unwrap_or_else(|| likely(name))))
}

/// Bytes of one element in memory.
pub fn element_bytes(cx: &Context, elem: Type) -> i64 {
    cx.bit_width(elem).map_or(8, |bits| i64::from(bits.div_ceil(8)))
}

/// Bytes that a tensor is expected to take; an unknown size counts as any other about which nothing is stated.
pub fn likely_bytes(cx: &Context, facts: &Facts, ty: Type) -> u64 {
    let sizes = symbolic_shape(cx, ty).unwrap_or_default();
    let elements = sizes.iter().fold(1u64, |product, size| {
        let size = size.as_ref().map_or(LIKELY, |s| likely_size(facts, s));
        product.saturating_mul(size.unsigned_abs())
    });
    elements.saturating_mul(element_bytes(cx, cx.element_type(ty)).unsigned_abs())
}

/// Name by which messages speak of a value.
pub fn value_text(cx: &Context, body: &sutura_ir::Body, value: Value) -> String {
    match body.value_name(value) {
        Some(name) => format!("%{}", cx.str(name)),
        None => format!("a value of type {}", sutura_ir::asm::print::type_text(cx, body.ty(value))),
    }
}
