//! `#dyn.shape<[B, S, 256]>`: a list of sizes.

use std::fmt::{self, Write};

use sutura_ir::asm::parse::{ParamParser, TokenParser};
use sutura_ir::diagnostics::{Reported, codes};
use sutura_ir::ext::ParamValue;
use sutura_ir::types::MAX_RANK;
use sutura_ir::{Attr, Context, Diagnostic, Loc, NamedAttr, Type};

use super::poly::{self, Excess, Poly, Tokens};
use crate::schedule::{TraceAttr, TreeAttr};

/// The property of a tensor type that its symbolic sizes are.
pub const SIZES: &str = "sizes";

/// A list of sizes; `None` is an unknown one, written `?`.
///
/// As the property [`SIZES`] of a ranked tensor it has one entry per dimension, and an entry that is constant agrees with the
/// tensor's static size.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ShapeAttr {
    /// Sizes.
    pub dims: Vec<Option<Poly>>,
}

impl ParamValue for ShapeAttr {
    const NAME: &'static str = "dyn.shape";
    const PROPERTY: Option<&'static str> = Some(SIZES);

    fn print(&self, _cx: &Context, out: &mut dyn Write) -> fmt::Result {
        out.write_char('<')?;
        print_dims(&self.dims, out)?;
        out.write_char('>')
    }

    /// No size is beyond what a size may be. What is read is not; a pass may compute one that is.
    fn verify(&self, _: &Context) -> Result<(), String> {
        let beyond = |(i, dim): (usize, &Option<Poly>)| Some((i, dim.as_ref()?.excess()?));
        match self.dims.iter().enumerate().find_map(beyond) {
            Some((i, excess)) => Err(format!("dimension {i}: {excess}")),
            None => Ok(()),
        }
    }

    /// Sizes agree that are the same, or of which one is not known.
    fn agrees(&self, other: &Self) -> bool {
        let agree = |(a, b): (&Option<Poly>, &Option<Poly>)| a.is_none() || b.is_none() || a == b;
        self.dims.len() == other.dims.len() && self.dims.iter().zip(&other.dims).all(agree)
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

/// Reads one size: the tokens of a polynomial.
///
/// # Errors
/// When it is malformed, or exceeds what a size may be.
pub fn parse_poly(p: &mut dyn TokenParser) -> Result<Poly, Reported> {
    poly::read(&mut SizeTokens { p, dim: None })
}

/// The tokens of a program, as those of a size.
struct SizeTokens<'p> {
    p: &'p mut dyn TokenParser,
    /// Number of the dimension that has the size.
    dim: Option<usize>,
}

impl Tokens for SizeTokens<'_> {
    type Place = Loc;
    type Error = Reported;

    fn place(&self) -> Loc {
        self.p.loc()
    }

    fn punctuation(&mut self, text: &str) -> bool {
        self.p.opt_punct(text)
    }

    fn keyword(&mut self, word: &str) -> bool {
        self.p.opt_keyword(word)
    }

    fn word(&mut self) -> Option<String> {
        self.p.opt_any_keyword()
    }

    fn number(&mut self) -> Result<Option<i64>, Reported> {
        self.p.opt_int()
    }

    fn error(&mut self, place: Loc, message: &str) -> Reported {
        self.p.error_at(place, message)
    }

    fn exceeds(&mut self, place: Loc, excess: Excess) -> Reported {
        let dim = self.dim.map(|dim| format!("dimension {dim}: ")).unwrap_or_default();
        self.p.report(Diagnostic::error(place, format!("{dim}{excess}")).code(excess.code()).help(excess.help()))
    }
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
        if dims.len() == MAX_RANK {
            let message = format!("a list of sizes has at most {MAX_RANK}");
            let loc = p.loc();
            return Err(p.report(Diagnostic::error(loc, message).code(codes::RANK)));
        }
        let dim = Some(dims.len());
        dims.push(if p.opt_punct("?") { None } else { Some(poly::read(&mut SizeTokens { p, dim })?) });
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

/// The sizes that a tensor type states as a property.
pub fn encoded_sizes(cx: &Context, ty: Type) -> Option<&ShapeAttr> {
    // Most types have no other property.
    cx.attr_as(cx.encoding(ty)?).or_else(|| cx.attr_as(cx.property(ty, SIZES)?))
}

/// Symbolic sizes of a ranked tensor: static ones as constants, dynamic ones from the encoding, `None` where neither
/// tells. `None` as a whole for another type.
pub fn symbolic_shape(cx: &Context, ty: Type) -> Option<Vec<Option<Poly>>> {
    let shape = cx.shape(ty).filter(|_| ty.is_tensor(cx))?;
    let encoded = encoded_sizes(cx, ty);
    let dim = |(i, &size): (usize, &i64)| match size {
        sutura_ir::DYNAMIC => encoded.and_then(|e| e.dims.get(i).cloned().flatten()),
        size => Some(Poly::constant(size)),
    };
    Some(shape.iter().enumerate().map(dim).collect())
}

/// The ranked tensor type with these sizes, which are no property of it when every one is constant or unknown. A size beyond
/// what a size may be is unknown.
pub fn tensor_of(cx: &Context, dims: &[Option<Poly>], elem: Type) -> Type {
    with_sizes(cx, cx.tensor_type(&[], elem, None), dims)
}

/// The same tensor type with other sizes: its other properties stay.
pub fn with_sizes(cx: &Context, ty: Type, dims: &[Option<Poly>]) -> Type {
    let shape: Vec<i64> =
        dims.iter().map(|d| d.as_ref().and_then(Poly::as_const).unwrap_or(sutura_ir::DYNAMIC)).collect();
    let symbolic = dims.iter().flatten().any(|d| d.as_const().is_none());
    let within = |dim: &Option<Poly>| dim.clone().filter(|size| size.excess().is_none());
    let sizes = symbolic.then(|| cx.ext_attr(ShapeAttr { dims: dims.iter().map(within).collect() }));
    let sized = cx.tensor_type(&shape, cx.element_type(ty), cx.encoding(ty));
    cx.with_property(sized, SIZES, sizes)
}

/// An attribute with every size in it, in lists, dictionaries and guards of schedules too, replaced by what `replace` gives for it.
///
/// # Errors
/// The first that `replace` gives.
pub fn map_sizes<E>(cx: &Context, attr: Attr, replace: &mut dyn FnMut(&Poly) -> Result<Poly, E>) -> Result<Attr, E> {
    if let Some(shape) = cx.attr_as::<ShapeAttr>(attr) {
        let dims = shape.dims.iter().map(|dim| dim.as_ref().map(&mut *replace).transpose());
        return Ok(cx.ext_attr(ShapeAttr { dims: dims.collect::<Result<_, E>>()? }));
    }
    if let Some(tree) = cx.attr_as::<TreeAttr>(attr) {
        return Ok(cx.ext_attr(tree.map_sizes(replace)?));
    }
    if let Some(trace) = cx.attr_as::<TraceAttr>(attr) {
        return Ok(cx.ext_attr(trace.map_sizes(replace)?));
    }
    if let Some(list) = cx.array(attr) {
        let list = list.iter().map(|inner| map_sizes(cx, *inner, replace)).collect::<Result<Vec<_>, E>>()?;
        return Ok(cx.array_attr(&list));
    }
    let entries = cx.entries(attr);
    if entries.is_empty() {
        return Ok(attr);
    }
    let mut mapped = Vec::with_capacity(entries.len());
    for entry in entries {
        mapped.push(NamedAttr { value: map_sizes(cx, entry.value, replace)?, ..*entry });
    }
    Ok(cx.dict(&mapped))
}
