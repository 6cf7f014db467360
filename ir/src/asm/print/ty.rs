//! Types.

use super::alias::Key;
use super::{Printer, number};
use crate::attrs::{Attr, AttrData};
use crate::types::{DYNAMIC, Signedness, Type, TypeData};

impl Printer<'_> {
    /// Writes a type, by its alias where it has one.
    pub fn ty(&mut self, ty: Type) {
        if self.only_notes(Key::Type(ty), false) {
            return;
        }
        if let Some(name) = self.aliases.of_type(ty) {
            self.out.push('!');
            self.out.push_str(name);
        } else {
            self.type_in_full(ty);
        }
    }

    pub(super) fn type_in_full(&mut self, ty: Type) {
        let cx = self.cx;
        match cx.type_data(ty) {
            TypeData::None => self.text("none"),
            TypeData::Index => self.text("index"),
            TypeData::Integer { width, sign } => {
                self.text(match sign {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                });
                self.int(width.into());
            }
            TypeData::Float(kind) => self.text(kind.keyword()),
            TypeData::Complex(elem) => {
                self.text("complex<");
                self.ty(elem);
                self.text(">");
            }
            TypeData::Function { inputs, results } => {
                self.function_type(cx.types(inputs).iter().copied(), cx.types(results).iter().copied());
            }
            TypeData::Tuple(types) => {
                self.text("tuple<");
                self.types(cx.types(types).iter().copied());
                self.text(">");
            }
            TypeData::Vector { shape, scalable, elem } => {
                self.text("vector<");
                for (&size, &scalable) in cx.ints(shape).iter().zip(cx.ints(scalable)) {
                    if scalable == 0 {
                        self.dim(size);
                    } else {
                        self.text("[");
                        self.int(size);
                        self.text("]x");
                    }
                }
                self.ty(elem);
                self.text(">");
            }
            TypeData::RankedTensor { shape, elem, encoding } => {
                self.text("tensor<");
                self.shape(cx.ints(shape), elem);
                if let Some(encoding) = encoding {
                    self.text(", ");
                    self.attr(encoding);
                }
                self.text(">");
            }
            TypeData::UnrankedTensor(elem) => {
                self.text("tensor<*x");
                self.ty(elem);
                self.text(">");
            }
            TypeData::MemRef { shape, elem, layout, space } => {
                self.text("memref<");
                self.shape(cx.ints(shape), elem);
                if let Some(layout) = layout.filter(|l| !is_identity(cx, *l)) {
                    self.text(", ");
                    self.attr(layout);
                }
                self.memory_space(space);
            }
            TypeData::UnrankedMemRef { elem, space } => {
                self.text("memref<*x");
                self.ty(elem);
                self.memory_space(space);
            }
            TypeData::Opaque { dialect, body, refs } => {
                self.text("!");
                self.text(cx.str(dialect));
                self.opaque_body(body, refs);
            }
            TypeData::Ext(id) => {
                let storage = cx.ext_type_storage(id);
                self.text("!");
                self.text(storage.name());
                // Writing to a string does not fail.
                let _ = storage.print(cx, &mut self.out);
            }
        }
    }

    fn shape(&mut self, shape: &[i64], elem: Type) {
        for &size in shape {
            self.dim(size);
        }
        self.ty(elem);
    }

    fn dim(&mut self, size: i64) {
        if size == DYNAMIC {
            self.text("?")
        } else {
            number::write_int(&mut self.out, size)
        }
        self.text("x");
    }

    fn memory_space(&mut self, space: Option<Attr>) {
        if let Some(space) = space {
            self.text(", ");
            self.attr_short(space);
        }
        self.text(">");
    }
}

/// True for the map that a memref without layout has.
pub(super) fn is_identity(cx: &crate::context::Context, layout: Attr) -> bool {
    let AttrData::AffineMap(map) = cx.attr_data(layout) else { return false };
    let data = cx.affine_map_data(map);
    data.symbols == 0 && map == cx.identity_map(data.dims)
}
