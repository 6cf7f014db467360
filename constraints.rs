//! What operands, results and attributes of `gir` operations must be.

use sutura_ir::{attr_constraints, type_constraints};
use sutura_ir::op_def::AttrSyntax;
use sutura_ir::Type;

use super::kinds::{BinaryKind, CastKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use super::types::{SliceType, TileType, ViewType};
use crate::r#dyn::attr::{ShapeAttr, known_dims, shape_attr};
use crate::r#dyn::poly::Poly;

type_constraints! {
    /// Memory.
    pub AnyView = "view", |cx, ty| cx.type_as::<ViewType>(ty).is_some();
    /// A window of memory.
    pub AnySlice = "slice", |cx, ty| cx.type_as::<SliceType>(ty).is_some();
    /// A value.
    pub AnyTile = "tile", |cx, ty| cx.type_as::<TileType>(ty).is_some();
    /// A value of truth values.
    pub BoolTile = "tile of i1", |cx, ty| cx.type_as::<TileType>(ty).is_some_and(|t| t.elem == Type::I1);
    /// A tile, a slice or an index: what a loop carries and an intrinsic takes.
    pub TileOrView = "tile, slice or view", |cx, ty| {
        cx.type_as::<TileType>(ty).is_some()
            || cx.type_as::<SliceType>(ty).is_some()
            || cx.type_as::<ViewType>(ty).is_some()
    };
}

macro_rules! kind_attrs {
    ($($(#[$doc:meta])* $name:ident($kind:ty) = $description:literal;)*) => {
        attr_constraints! {$(
            $(#[$doc])*
            pub $name = $description, AttrSyntax::Plain;
            get |cx, attr| -> $kind { <$kind>::parse(cx.as_str(attr)?) }
            set |cx, value: $kind| { cx.string_attr(value.as_str()) }
        )*}
    };
}
kind_attrs! {
    /// Function of one element.
    UnaryKindAttr(UnaryKind) = "name of a unary function";
    /// Function of two elements.
    BinaryKindAttr(BinaryKind) = "name of a binary function";
    /// Function of three elements.
    TernaryKindAttr(TernaryKind) = "name of a ternary function";
    /// Conversion.
    CastKindAttr(CastKind) = "name of a conversion";
    /// Comparison.
    CompareKindAttr(CompareKind) = "name of a comparison";
    /// What a reduction combines with.
    CombinerAttr(Combiner) = "name of a combiner";
    /// Direction of a reduction, scan or iota.
    AxisAttr(Axis) = "'rows' or 'cols'";
    /// Whom an operation or an allocation belongs to.
    ScopeAttr(Scope) = "'unit' or 'group'";
}

/// Direction within a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Axis {
    /// Along a column, from row to row: `[R, C]` becomes `[1, C]`.
    Rows,
    /// Along a row, from column to column: `[R, C]` becomes `[R, 1]`.
    Cols,
}

/// Who works together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// Each unit for itself.
    Unit,
    /// All units of a group.
    Group,
}

macro_rules! words {
    ($name:ident { $($variant:ident = $text:literal),* }) => {
        impl $name {
            /// Spelling in the text form.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
            /// The one spelt `text`.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
words!(Axis { Rows = "rows", Cols = "cols" });
words!(Scope { Unit = "unit", Group = "group" });

attr_constraints! {
    /// A list of known sizes.
    pub SizesAttr = "#dyn.shape of known sizes", AttrSyntax::Plain;
    get |cx, attr| -> Vec<Poly> { known_dims(cx, attr) }
    set |cx, value: &'a [Poly]| { shape_attr(cx, value) }

    /// A list of sizes, some of which may be unknown.
    pub ShapeAttrOf = "#dyn.shape", AttrSyntax::Plain;
    get |cx, attr| -> &'a ShapeAttr { cx.attr_as::<ShapeAttr>(attr) }
    set |cx, value: ShapeAttr| { cx.ext_attr(value) }
}
