//! `#dyn.shape<[B, S, 256]>`: a list of sizes.

use std::fmt::{self, Write};

use sutura_ir::asm::parse::{ParamParser, TokenParser};
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Attr, Context, Type};

use super::poly::Poly;

/// A list of sizes; `None` is an unknown one, written `?`.
///
/// As encoding of a ranked tensor it has one entry per dimension, and an entry that is constant agrees with the
/// tensor's static size.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeAttr {
    /// Sizes.
    pub dims: Vec<Option<Poly>>,
}

impl ParamValue for ShapeAttr {
    const NAME: &'static str = "dyn.shape";

    fn print(&self, _cx: &Context, out: &mut dyn Write) -> fmt::Result {
        out.write_char('<')?;
        print_dims(&self.dims, out)?;
        out.write_char('>')
    }

    fn verify_encoding(&self, _: &Context, shape: &[i64], _: Type) -> Result<(), String> {
        if self.dims.len() != shape.len() {
            return Err(format!("#dyn.shape has {} sizes, but the tensor has rank {}", self.dims.len(), shape.len()));
        }
        for (i, (size, dim)) in self.dims.iter().zip(shape).enumerate() {
            let constant = size.as_ref().and_then(Poly::as_const);
            if let Some(constant) = constant.filter(|c| *dim != sutura_ir::DYNAMIC && c != dim) {
                return Err(format!("dimension {i} is {dim}, but #dyn.shape says {constant}"));
            }
        }
        Ok(())
    }
}

/// Writes `[a, ?, 4]`.
pub(crate) fn print_dims(dims: &[Option<Poly>], out: &mut dyn Write) -> fmt::Result {
    out.write_char('[')?;
    for (i, dim) in dims.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        match dim {
            Some(poly) => write!(out, "{comma}{poly}")?,
            None => write!(out, "{comma}?")?,
        }
    }
    out.write_char(']')
}

/// Deepest nesting of parentheses in a size.
const MAX_DEPTH: usize = 64;

/// Reads one size: the tokens of a polynomial.
///
/// # Errors
/// When it is malformed.
pub fn parse_poly(p: &mut dyn TokenParser) -> Result<Poly, Reported> {
    parse_sum(p, 0)
}

/// `depth` parentheses are open.
fn parse_sum(p: &mut dyn TokenParser, depth: usize) -> Result<Poly, Reported> {
    let mut poly = if p.opt_punct("-") { parse_product(p, depth)?.scale(-1) } else { parse_product(p, depth)? };
    loop {
        if p.opt_punct("+") {
            poly = poly.add(&parse_product(p, depth)?);
        } else if p.opt_punct("-") {
            poly = poly.sub(&parse_product(p, depth)?);
        } else {
            return Ok(poly);
        }
    }
}

fn parse_product(p: &mut dyn TokenParser, depth: usize) -> Result<Poly, Reported> {
    let mut product = parse_factor(p, depth)?;
    loop {
        if p.opt_punct("*") {
            product = product.mul(&parse_factor(p, depth)?);
        } else if p.opt_keyword("floordiv") {
            product = product.floordiv(parse_divisor(p)?);
        } else if p.opt_keyword("ceildiv") {
            product = product.ceildiv(parse_divisor(p)?);
        } else if p.opt_keyword("mod") {
            product = product.rem(parse_divisor(p)?);
        } else {
            return Ok(product);
        }
    }
}

fn parse_divisor(p: &mut dyn TokenParser) -> Result<i64, Reported> {
    let loc = p.loc();
    match p.int()? {
        divisor @ 1.. => Ok(divisor),
        _ => Err(p.error_at(loc, "sizes are divided by positive constants")),
    }
}

fn parse_factor(p: &mut dyn TokenParser, depth: usize) -> Result<Poly, Reported> {
    if p.opt_punct("(") {
        if depth == MAX_DEPTH {
            return Err(p.error(&format!("nesting is too deep: at most {MAX_DEPTH} parentheses in a size are read")));
        }
        let inner = parse_sum(p, depth + 1)?;
        p.punct(")")?;
        return Ok(inner);
    }
    if let Some(value) = p.opt_int()? {
        return Ok(Poly::constant(value));
    }
    match p.opt_any_keyword() {
        Some(name) if ["min", "max"].contains(&&*name) && p.opt_punct("(") => parse_extreme(p, name == "min", depth),
        Some(name) => Ok(Poly::symbol(&name)),
        None => Err(p.error("expected a symbol, a number or '('")),
    }
}

/// What follows `min(` or `max(`.
fn parse_extreme(p: &mut dyn TokenParser, least: bool, depth: usize) -> Result<Poly, Reported> {
    if depth == MAX_DEPTH {
        return Err(p.error(&format!("nesting is too deep: at most {MAX_DEPTH} parentheses in a size are read")));
    }
    let first = parse_sum(p, depth + 1)?;
    p.punct(",")?;
    let second = parse_sum(p, depth + 1)?;
    p.punct(")")?;
    Ok(if least { first.lesser(&second) } else { first.greater(&second) })
}

/// Reads `[a, ?, 4]`.
///
/// # Errors
/// When it is malformed.
pub fn parse_dims(p: &mut dyn TokenParser) -> Result<Vec<Option<Poly>>, Reported> {
    let mut dims = Vec::new();
    p.punct("[")?;
    while !p.opt_punct("]") {
        if !dims.is_empty() {
            p.punct(",")?;
        }
        dims.push(if p.opt_punct("?") { None } else { Some(parse_poly(p)?) });
    }
    Ok(dims)
}

/// Reads the sizes of a list none of which may be unknown.
///
/// # Errors
/// When it is malformed or holds `?`.
pub fn parse_known_dims(p: &mut dyn TokenParser) -> Result<Vec<Poly>, Reported> {
    let loc = p.loc();
    let dims = parse_dims(p)?;
    dims.into_iter()
        .collect::<Option<Vec<Poly>>>()
        .ok_or_else(|| p.error_at(loc, "'?' cannot stand here: every size must be known"))
}

/// Parses what follows `#dyn.shape`.
pub(super) fn parse_shape(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
    p.punct("<")?;
    let dims = parse_dims(p)?;
    p.punct(">")?;
    Ok(p.cx().ext_attr(ShapeAttr { dims }))
}

/// `#dyn.shape<[…]>` of known sizes.
pub fn shape_attr(cx: &Context, dims: &[Poly]) -> Attr {
    cx.ext_attr(ShapeAttr { dims: dims.iter().cloned().map(Some).collect() })
}

/// Sizes of an attribute made by [`shape_attr`]; `None` for another attribute or an unknown size.
pub fn known_dims(cx: &Context, attr: Attr) -> Option<Vec<Poly>> {
    cx.attr_as::<ShapeAttr>(attr)?.dims.iter().cloned().collect()
}

/// Symbolic sizes of a ranked tensor: static ones as constants, dynamic ones from the encoding, `None` where neither
/// tells. `None` as a whole for another type.
pub fn symbolic_shape(cx: &Context, ty: Type) -> Option<Vec<Option<Poly>>> {
    let shape = cx.shape(ty).filter(|_| ty.is_tensor(cx))?;
    let encoded = cx.encoding(ty).and_then(|e| cx.attr_as::<ShapeAttr>(e));
    let dim = |(i, &size): (usize, &i64)| match size {
        sutura_ir::DYNAMIC => encoded.and_then(|e| e.dims.get(i).cloned().flatten()),
        size => Some(Poly::constant(size)),
    };
    Some(shape.iter().enumerate().map(dim).collect())
}

/// The ranked tensor type with these sizes; the encoding is left out when every size is constant or unknown.
pub fn tensor_of(cx: &Context, dims: &[Option<Poly>], elem: Type) -> Type {
    let shape: Vec<i64> =
        dims.iter().map(|d| d.as_ref().and_then(Poly::as_const).unwrap_or(sutura_ir::DYNAMIC)).collect();
    let symbolic = dims.iter().flatten().any(|d| d.as_const().is_none());
    let encoding = symbolic.then(|| cx.ext_attr(ShapeAttr { dims: dims.to_vec() }));
    cx.tensor_type(&shape, elem, encoding)
}
