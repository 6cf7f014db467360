//! Types of the `gir` dialect: views are memory, slices are windows of views, tiles are values.

use std::fmt::{self, Write};
use std::sync::Arc;

use sutura_ir::asm::parse::ParamParser;
use sutura_ir::diagnostics::Reported;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Context, Type};

use crate::r#dyn::attr::{parse_known_dims, print_dims};
use crate::r#dyn::poly::Poly;

/// Name of a memory space, as a target declares it: `dram`, `l1`, `vec`.
pub type Space = Arc<str>;

/// `!gir.view<space, T, [d0, …]>`: memory, row-major unless strides (in elements) are given.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ViewType {
    /// Where it lies.
    pub space: Space,
    /// Element type.
    pub elem: Type,
    /// Sizes, over the kernel's dims.
    pub dims: Vec<Poly>,
    /// Distance between neighbours along each dimension; `None` for row-major.
    pub strides: Option<Vec<Poly>>,
}

/// `!gir.slice<space, T, [R, C]>`: a window of a view.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SliceType {
    /// Where it lies.
    pub space: Space,
    /// Element type.
    pub elem: Type,
    /// Rows.
    pub rows: Poly,
    /// Columns.
    pub cols: Poly,
}

/// `!gir.tile<space, T, [R, C]>`: an immutable value; a scalar is `[1, 1]`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TileType {
    /// Where it is held.
    pub space: Space,
    /// Element type.
    pub elem: Type,
    /// Rows.
    pub rows: Poly,
    /// Columns.
    pub cols: Poly,
}

impl ViewType {
    /// A row-major view.
    pub fn new(space: &str, elem: Type, dims: Vec<Poly>) -> Self {
        Self { space: space.into(), elem, dims, strides: None }
    }

    /// Number of elements.
    pub fn elements(&self) -> Poly {
        Poly::product(&self.dims)
    }

    /// Distance in elements between neighbours along each dimension.
    pub fn element_strides(&self) -> Vec<Poly> {
        match &self.strides {
            Some(strides) => strides.clone(),
            None => (0..self.dims.len()).map(|i| Poly::product(&self.dims[i + 1..])).collect(),
        }
    }
}

impl TileType {
    /// A tile of constant extents.
    pub fn constant(space: &str, elem: Type, rows: i64, cols: i64) -> Self {
        Self { space: space.into(), elem, rows: rows.into(), cols: cols.into() }
    }

    /// The tile with another element type.
    #[must_use]
    pub fn with_elem(&self, elem: Type) -> Self {
        Self { elem, ..self.clone() }
    }

    /// Constant extents; `None` when one is symbolic.
    pub fn extents(&self) -> Option<(i64, i64)> {
        Some((self.rows.as_const()?, self.cols.as_const()?))
    }

    /// Bytes of a tile of constant extents, or as many as there are numbers for; none where an extent is symbolic.
    pub fn bytes(&self, cx: &Context) -> u64 {
        let (rows, cols) = self.extents().unwrap_or_default();
        let elements = rows.unsigned_abs().saturating_mul(cols.unsigned_abs());
        elements.saturating_mul(u64::from(cx.bit_width(self.elem).unwrap_or(64).div_ceil(8)))
    }
}

/// The type with other sizes, where it has any: `of` gives them.
pub fn with_sizes(cx: &Context, ty: Type, of: &dyn Fn(&Poly) -> Poly) -> Type {
    let all = |sizes: &[Poly]| sizes.iter().map(of).collect::<Vec<_>>();
    if let Some(view) = cx.type_as::<ViewType>(ty) {
        let strides = view.strides.as_deref().map(all);
        return cx.ext_type(ViewType { dims: all(&view.dims), strides, ..view.clone() });
    }
    if let Some(slice) = cx.type_as::<SliceType>(ty) {
        return cx.ext_type(SliceType { rows: of(&slice.rows), cols: of(&slice.cols), ..slice.clone() });
    }
    if let Some(tile) = cx.type_as::<TileType>(ty) {
        return cx.ext_type(TileType { rows: of(&tile.rows), cols: of(&tile.cols), ..tile.clone() });
    }
    ty
}

/// Writes `<space, T, [dims]` without the closing bracket.
fn print_head(cx: &Context, space: &str, elem: Type, dims: &[Poly], out: &mut dyn Write) -> fmt::Result {
    write!(out, "<{space}, {}, ", sutura_ir::asm::print::type_text(cx, elem))?;
    print_dims(&dims.iter().cloned().map(Some).collect::<Vec<_>>(), out)
}

impl ParamValue for ViewType {
    const NAME: &'static str = "gir.view";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        print_head(cx, &self.space, self.elem, &self.dims, out)?;
        if let Some(strides) = &self.strides {
            out.write_str(", strides ")?;
            print_dims(&strides.iter().cloned().map(Some).collect::<Vec<_>>(), out)?;
        }
        out.write_char('>')
    }

    fn verify(&self, _cx: &Context) -> Result<(), String> {
        match &self.strides {
            Some(strides) if strides.len() != self.dims.len() => {
                Err(format!("a view of rank {} has {} strides", self.dims.len(), strides.len()))
            }
            _ => Ok(()),
        }
    }
}

impl ParamValue for SliceType {
    const NAME: &'static str = "gir.slice";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        print_head(cx, &self.space, self.elem, &[self.rows.clone(), self.cols.clone()], out)?;
        out.write_char('>')
    }
}

impl ParamValue for TileType {
    const NAME: &'static str = "gir.tile";

    fn print(&self, cx: &Context, out: &mut dyn Write) -> fmt::Result {
        print_head(cx, &self.space, self.elem, &[self.rows.clone(), self.cols.clone()], out)?;
        out.write_char('>')
    }
}

/// Reads `<space, T, [dims]`.
fn parse_head(p: &mut dyn ParamParser) -> Result<(Space, Type, Vec<Poly>), Reported> {
    p.punct("<")?;
    let space = p.any_keyword()?;
    p.punct(",")?;
    let elem = p.ty()?;
    p.punct(",")?;
    Ok((space.into(), elem, parse_known_dims(p)?))
}

pub(super) fn parse_view(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    let (space, elem, dims) = parse_head(p)?;
    let strides = if p.opt_punct(",") {
        p.keyword("strides")?;
        Some(parse_known_dims(p)?)
    } else {
        None
    };
    p.punct(">")?;
    let view = ViewType { space, elem, dims, strides };
    let start = p.start();
    view.verify(p.cx()).map_err(|message| p.error_at(start, &message))?;
    Ok(p.cx().ext_type(view))
}

/// Reads a two-dimensional type.
fn parse_matrix(p: &mut dyn ParamParser) -> Result<(Space, Type, Poly, Poly), Reported> {
    let loc = p.start();
    let (space, elem, dims) = parse_head(p)?;
    p.punct(">")?;
    match <[Poly; 2]>::try_from(dims) {
        Ok([rows, cols]) => Ok((space, elem, rows, cols)),
        Err(dims) => Err(p.error_at(loc, &format!("expected rows and columns, found {} sizes", dims.len()))),
    }
}

pub(super) fn parse_slice(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    let (space, elem, rows, cols) = parse_matrix(p)?;
    Ok(p.cx().ext_type(SliceType { space, elem, rows, cols }))
}

pub(super) fn parse_tile(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    let (space, elem, rows, cols) = parse_matrix(p)?;
    Ok(p.cx().ext_type(TileType { space, elem, rows, cols }))
}
