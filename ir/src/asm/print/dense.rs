//! Elements of constants.

use super::{ELIDED, Printer, number, write_quoted};
use crate::attrs::{Attr, AttrData};
use crate::context::AttrList;
use crate::types::{Signedness, Type, TypeData};

/// How one element is written.
#[derive(Clone, Copy)]
enum Element {
    Bool,
    Int { bytes: usize, width: u32, unsigned: bool },
    Float { kind: crate::types::FloatKind, bytes: usize },
}

impl Printer<'_> {
    /// `dense<…>` without the type.
    pub(super) fn dense(&mut self, ty: Type, data: &[u8], splat: bool) {
        if !splat && self.elides(ty) {
            return self.elided();
        }
        self.text("dense<");
        self.dense_elements(ty, data, splat, true);
        self.text(">");
    }

    fn elides(&self, ty: Type) -> bool {
        self.options.elide_elements_larger_than.is_some_and(|limit| self.count(ty) > limit)
    }

    fn elided(&mut self) {
        self.text("dense_resource<");
        self.text(ELIDED);
        self.text(">");
    }

    fn count(&self, ty: Type) -> usize {
        self.cx.shape(ty).map_or(0, |shape| shape.iter().product::<i64>().max(0) as usize)
    }

    fn dense_elements(&mut self, ty: Type, data: &[u8], splat: bool, hex: bool) {
        let cx = self.cx;
        let elem = cx.element_type(ty);
        if hex && !splat && self.options.hex_elements_larger_than.is_some_and(|limit| self.count(ty) > limit) {
            return self.hex_elements(elem, data);
        }
        match cx.type_data(elem) {
            TypeData::Complex(part) => {
                let element = self.element(part);
                self.nested(ty, splat, 2 * element.bytes(), data, |p, bytes| {
                    let (re, im) = bytes.split_at(element.bytes());
                    p.text("(");
                    p.element_value(element, re);
                    p.text(",");
                    p.element_value(element, im);
                    p.text(")");
                });
            }
            _ => {
                let element = self.element(elem);
                self.nested(ty, splat, element.bytes(), data, |p, bytes| p.element_value(element, bytes));
            }
        }
    }

    /// Raw bytes as a hexadecimal string; booleans are packed, eight to a byte, as MLIR has them.
    fn hex_elements(&mut self, elem: Type, data: &[u8]) {
        self.text("\"0x");
        if elem == Type::I1 {
            for bits in data.chunks(8) {
                let byte = bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | (bit & 1) << i);
                self.hex_byte(byte);
            }
        } else {
            self.out.reserve(2 * data.len());
            data.iter().for_each(|byte| self.hex_byte(*byte));
        }
        self.text("\"");
    }

    fn hex_byte(&mut self, byte: u8) {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        self.out.push(HEX[usize::from(byte >> 4)].into());
        self.out.push(HEX[usize::from(byte & 15)].into());
    }

    fn element(&self, ty: Type) -> Element {
        if ty == Type::I1 {
            return Element::Bool;
        }
        let bytes = crate::attrs::element_bytes(self.cx, ty).unwrap_or(1);
        match self.cx.type_data(ty) {
            TypeData::Float(kind) => Element::Float { kind, bytes },
            TypeData::Integer { width, sign } => Element::Int { bytes, width, unsigned: sign == Signedness::Unsigned },
            _ => Element::Int { bytes, width: 64, unsigned: false },
        }
    }

    fn element_value(&mut self, element: Element, bytes: &[u8]) {
        match element {
            Element::Bool => self.text(if bytes.first() == Some(&0) { "false" } else { "true" }),
            Element::Int { width, unsigned, .. } if width <= 64 => {
                let value = number::load_int(bytes, width, unsigned);
                number::write_element_int(&mut self.out, value, unsigned);
            }
            Element::Int { width, unsigned, .. } => {
                let words = number::load_words(bytes, width, unsigned);
                number::write_big_int(&mut self.out, &words, unsigned);
            }
            Element::Float { kind, .. } if kind.bits() <= 64 => {
                let bits = number::load_int(bytes, 64, true) as u64;
                number::write_float(&mut self.out, kind, bits);
            }
            Element::Float { kind, .. } => {
                let words = number::load_words(bytes, kind.bits(), true);
                number::write_big_float(&mut self.out, kind, &words);
            }
        }
    }

    /// Elements in nested brackets by the shape of `ty`; a splat and a rank of zero have none.
    fn nested(&mut self, ty: Type, splat: bool, size: usize, data: &[u8], mut one: impl FnMut(&mut Self, &[u8])) {
        let shape = self.cx.shape(ty).unwrap_or_default();
        if splat || shape.is_empty() {
            return one(self, data.get(..size).unwrap_or_default());
        }
        let mut elements = data.chunks_exact(size.max(1));
        self.nested_items(shape, |p| {
            if let Some(bytes) = elements.next() {
                one(p, bytes);
            }
        });
    }

    /// Calls `one` for each element, with the brackets of the shape around.
    fn nested_items(&mut self, shape: &[i64], mut one: impl FnMut(&mut Self)) {
        let count: i64 = shape.iter().product();
        let mut counter = vec![0i64; shape.len()];
        let mut open = 0;
        for index in 0..count {
            if index != 0 {
                self.text(", ");
            }
            for _ in open..shape.len() {
                self.text("[");
            }
            open = shape.len();
            one(self);
            // Bump the counter; every dimension that is complete closes its bracket.
            for (digit, size) in counter.iter_mut().zip(shape).rev() {
                *digit += 1;
                if *digit < *size {
                    break;
                }
                *digit = 0;
                open -= 1;
                self.text("]");
            }
        }
    }

    pub(super) fn dense_strings(&mut self, ty: Type, values: AttrList, splat: bool) {
        if !splat && self.elides(ty) {
            return self.elided();
        }
        let cx = self.cx;
        let mut values = cx.list_attrs(values).iter().copied();
        let mut one = |p: &mut Self| {
            if let Some(text) = values.next().and_then(|a| cx.as_str(a)) {
                write_quoted(&mut p.out, text);
            }
        };
        self.text("dense<");
        match cx.shape(ty) {
            Some(shape) if !splat && !shape.is_empty() => self.nested_items(shape, one),
            _ => one(self),
        }
        self.text(">");
    }

    pub(super) fn dense_array(&mut self, elem: Type, data: &[u8]) {
        self.text("array<");
        self.ty(elem);
        if !data.is_empty() {
            self.text(": ");
            self.dense_array_elements(elem, data);
        }
        self.text(">");
    }

    /// Elements of a dense array, with `, ` between them.
    pub(super) fn dense_array_elements(&mut self, elem: Type, data: &[u8]) {
        let element = self.element(elem);
        self.list(data.chunks_exact(element.bytes()), |p, bytes| p.element_value(element, bytes));
    }

    pub(super) fn sparse(&mut self, indices: Attr, values: Attr) {
        let cx = self.cx;
        self.text("sparse<");
        if let AttrData::Dense { ty, data, splat } = cx.attr_data(indices)
            && self.count(ty) != 0
        {
            self.dense_elements(ty, cx.bytes(data), splat, false);
            self.text(", ");
            match cx.attr_data(values) {
                AttrData::Dense { ty, data, splat } => self.dense_elements(ty, cx.bytes(data), splat, true),
                AttrData::DenseStrings { ty, values, splat } => {
                    let texts = cx.list_attrs(values);
                    self.text(if splat { "" } else { "[" });
                    self.list(texts.iter().copied(), |p, a| p.attr_untyped(a));
                    self.text(if splat { "" } else { "]" });
                    debug_assert!(cx.shape(ty).is_some());
                }
                _ => {}
            }
        }
        self.text(">");
    }
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int { bytes, .. } | Self::Float { bytes, .. } => bytes,
        }
    }
}
