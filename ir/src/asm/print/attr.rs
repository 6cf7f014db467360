//! Attributes, affine maps and integer sets.

use super::alias::Key;
use super::{Printer, number, write_keyword, write_quoted};
use crate::affine::{AffineExpr, AffineExprData, AffineMap, AffineOp, IntegerSet};
use crate::asm::ALIAS_MARK;
use crate::attrs::{Attr, AttrData};
use crate::context::{AttrList, Ident};
use crate::location::Loc;
use crate::types::{DYNAMIC, Signedness, Type, TypeData};

/// Whether the type after a value is written.
#[derive(Clone, Copy, PartialEq)]
enum Typed {
    /// Always.
    Yes,
    /// Unless it is the one that a reader assumes: `i64`, `f64`.
    Short,
    /// Never.
    No,
}

impl Printer<'_> {
    /// Writes an attribute, by its alias where it has one.
    pub fn attr(&mut self, attr: Attr) {
        self.attr_typed(attr, Typed::Yes);
    }

    /// Writes an attribute without the type of a number or string.
    pub fn attr_untyped(&mut self, attr: Attr) {
        self.attr_typed(attr, Typed::No);
    }

    /// Writes an attribute without the type where it is `i64` or `f64`.
    pub(super) fn attr_short(&mut self, attr: Attr) {
        self.attr_typed(attr, Typed::Short);
    }

    fn attr_typed(&mut self, attr: Attr, typed: Typed) {
        if self.only_notes(Key::Attr(attr), false) {
            return;
        }
        let alias = match self.cx.attr_data(attr) {
            AttrData::Location(loc) => self.aliases.of_loc(loc),
            _ => self.aliases.of_attr(attr),
        };
        if let Some(name) = alias {
            self.out.push('#');
            self.out.push_str(name);
        } else {
            self.attr_in_full_typed(attr, typed);
        }
    }

    pub(super) fn attr_in_full(&mut self, attr: Attr) {
        self.attr_in_full_typed(attr, Typed::Yes);
    }

    fn attr_in_full_typed(&mut self, attr: Attr, typed: Typed) {
        let cx = self.cx;
        let mut type_after = Type::NONE;
        match cx.attr_data(attr) {
            AttrData::Unit => self.text("unit"),
            AttrData::Integer { ty: Type::I1, value } => self.text(if value == 0 { "false" } else { "true" }),
            AttrData::Integer { ty, value } => {
                let unsigned = self.is_unsigned(ty);
                number::write_element_int(&mut self.out, value, unsigned);
                if typed == Typed::Yes || ty != Type::I64 {
                    type_after = ty;
                }
            }
            AttrData::BigInteger { ty, words } => {
                let unsigned = self.is_unsigned(ty);
                number::write_big_int(&mut self.out, cx.ints(words), unsigned);
                type_after = ty;
            }
            AttrData::Float { ty, bits } => {
                let kind = cx.float_kind(ty).expect("a float attribute has a float type");
                let hex = number::write_float(&mut self.out, kind, bits);
                if typed == Typed::Yes || ty != Type::F64 || hex {
                    type_after = ty;
                }
            }
            AttrData::BigFloat { ty, words } => {
                let kind = cx.float_kind(ty).expect("a float attribute has a float type");
                number::write_big_float(&mut self.out, kind, cx.ints(words));
                type_after = ty;
            }
            AttrData::String { value, ty } => {
                write_quoted(&mut self.out, cx.str(value));
                type_after = ty;
            }
            AttrData::Type(ty) => self.ty(ty),
            AttrData::Array(list) => {
                self.text("[");
                self.list(cx.list_attrs(list).iter().copied(), |p, a| p.attr_short(a));
                self.text("]");
            }
            AttrData::Dict(_) => {
                self.text("{");
                self.list(cx.entries(attr).iter().copied(), Self::named_attr);
                self.text("}");
            }
            AttrData::SymbolRef { root, nested } => {
                self.symbol_name(cx.str(root));
                for &name in cx.idents(nested) {
                    self.text("::");
                    self.symbol_name(cx.str(name));
                }
            }
            AttrData::Dense { ty, data, splat } => {
                self.hex_as_written(attr);
                self.dense(ty, cx.bytes(data), splat);
                type_after = ty;
            }
            AttrData::DenseStrings { ty, values, splat } => {
                self.dense_strings(ty, values, splat);
                type_after = ty;
            }
            AttrData::DenseArray { elem, data } => self.dense_array(elem, cx.bytes(data)),
            AttrData::DenseResource { ty, key } => {
                self.text("dense_resource<");
                write_keyword(&mut self.out, cx.str(key));
                self.text(">");
                type_after = ty;
            }
            AttrData::Sparse { ty, indices, values } => {
                self.sparse(indices, values);
                type_after = ty;
            }
            AttrData::AffineMap(map) => {
                self.text("affine_map<");
                self.affine_map(map);
                self.text(">");
            }
            AttrData::IntegerSet(set) => {
                self.text("affine_set<");
                self.integer_set(set);
                self.text(">");
            }
            AttrData::Strided { offset, strides } => self.strided(offset, cx.ints(strides)),
            AttrData::Location(loc) => self.location_attr(loc),
            AttrData::Distinct { inner, .. } => self.distinct(attr, inner),
            AttrData::Opaque { dialect, body, refs, ty } => {
                self.text("#");
                self.text(cx.str(dialect));
                self.opaque_body(body, refs);
                type_after = ty;
            }
            AttrData::Ext(id) => {
                let storage = cx.ext_attr_storage(id);
                self.text("#");
                self.text(storage.name());
                let from = self.out.len();
                // Writing to a string does not fail.
                let _ = storage.print(cx, &mut self.out);
                self.indent_lines(from);
            }
        }
        if typed != Typed::No && type_after != Type::NONE {
            self.text(" : ");
            self.ty(type_after);
        }
    }

    /// The text of an unregistered dialect's type or attribute, with its references to aliased entities written out.
    pub(super) fn opaque_body(&mut self, body: Ident, refs: AttrList) {
        let cx = self.cx;
        let mut refs = cx.list_attrs(refs).iter();
        for (i, part) in cx.str(body).split(ALIAS_MARK).enumerate() {
            if i != 0 {
                match refs.next().map(|a| (*a, cx.attr_data(*a))) {
                    Some((_, AttrData::Type(ty))) => self.ty(ty),
                    Some((attr, _)) => self.attr(attr),
                    None => {}
                }
            }
            self.text(part);
        }
    }

    fn is_unsigned(&self, ty: Type) -> bool {
        matches!(self.cx.type_data(ty), TypeData::Integer { sign: Signedness::Unsigned, .. })
    }

    fn strided(&mut self, offset: i64, strides: &[i64]) {
        let number = |p: &mut Self, n| if n == DYNAMIC { p.text("?") } else { p.int(n) };
        self.text("strided<[");
        self.list(strides.iter().copied(), number);
        self.text("]");
        if offset != 0 {
            self.text(", offset: ");
            number(self, offset);
        }
        self.text(">");
    }

    fn location_attr(&mut self, loc: Loc) {
        self.text("loc(");
        self.loc_inner(loc);
        self.text(")");
    }

    fn distinct(&mut self, attr: Attr, inner: Attr) {
        let number = self.distinct.iter().position(|a| *a == attr).unwrap_or_else(|| {
            self.distinct.push(attr);
            self.distinct.len() - 1
        });
        self.text("distinct[");
        self.int(number as i64);
        self.text("]<");
        if inner != Attr::UNIT {
            self.attr(inner);
        }
        self.text(">");
    }

    // ---- affine

    /// Writes `(d0, …)[s0, …] -> (…)`.
    pub fn affine_map(&mut self, map: AffineMap) {
        let data = self.cx.affine_map_data(map);
        self.affine_spaces(data.dims, data.symbols);
        self.text(" -> (");
        let results = self.cx.map_results(map);
        self.list(results.iter().copied(), |p, e| p.affine_expr(e, false));
        self.text(")");
    }

    /// Writes `(d0, …)[s0, …] : (… >= 0, … == 0)`.
    pub fn integer_set(&mut self, set: IntegerSet) {
        let cx = self.cx;
        let data = cx.integer_set_data(set);
        self.affine_spaces(data.dims, data.symbols);
        self.text(" : (");
        let equalities = cx.ints(data.equalities).iter();
        self.list(cx.affine_exprs(data.constraints).iter().zip(equalities), |p, (&e, &equality)| {
            p.affine_expr(e, false);
            p.text(if equality == 1 { " == 0" } else { " >= 0" });
        });
        self.text(")");
    }

    fn affine_spaces(&mut self, dims: u32, symbols: u32) {
        let name = |p: &mut Self, letter: &str, i: u32| {
            p.text(letter);
            p.int(i.into());
        };
        self.text("(");
        self.list(0..dims, |p, i| name(p, "d", i));
        self.text(")");
        if symbols != 0 {
            self.text("[");
            self.list(0..symbols, |p, i| name(p, "s", i));
            self.text("]");
        }
    }

    /// Writes an affine expression; `tight` puts parentheses around an operator.
    ///
    /// Recursive: the depth of expressions is limited where they are built from text.
    fn affine_expr(&mut self, expr: AffineExpr, tight: bool) {
        match self.cx.affine_data(expr) {
            AffineExprData::Const(value) => self.int(value),
            AffineExprData::Dim(i) => {
                self.text("d");
                self.int(i.into());
            }
            AffineExprData::Symbol(i) => {
                self.text("s");
                self.int(i.into());
            }
            AffineExprData::Binary(op, lhs, rhs) => {
                if tight {
                    self.text("(");
                }
                match op {
                    AffineOp::Add => self.affine_sum(lhs, rhs),
                    _ => self.affine_product(op, lhs, rhs),
                }
                if tight {
                    self.text(")");
                }
            }
        }
    }

    fn affine_product(&mut self, op: AffineOp, lhs: AffineExpr, rhs: AffineExpr) {
        if op == AffineOp::Mul && self.cx.affine_data(rhs) == AffineExprData::Const(-1) {
            self.text("-");
            return self.affine_expr(lhs, true);
        }
        self.affine_expr(lhs, true);
        self.text(match op {
            AffineOp::Add => " + ",
            AffineOp::Mul => " * ",
            AffineOp::FloorDiv => " floordiv ",
            AffineOp::CeilDiv => " ceildiv ",
            AffineOp::Mod => " mod ",
        });
        self.affine_expr(rhs, true);
    }

    /// A sum, written as a difference where its right-hand side has a negative factor.
    fn affine_sum(&mut self, lhs: AffineExpr, rhs: AffineExpr) {
        let cx = self.cx;
        self.affine_expr(lhs, false);
        match cx.affine_data(rhs) {
            AffineExprData::Const(value) if value < 0 => {
                self.text(" - ");
                number::write_unsigned(&mut self.out, value.unsigned_abs());
            }
            AffineExprData::Binary(AffineOp::Mul, a, b) => match cx.affine_data(b) {
                AffineExprData::Const(-1) => {
                    self.text(" - ");
                    let tight = matches!(cx.affine_data(a), AffineExprData::Binary(AffineOp::Add, ..));
                    self.affine_expr(a, tight);
                }
                AffineExprData::Const(factor) if factor < -1 => {
                    self.text(" - ");
                    self.affine_expr(a, true);
                    self.text(" * ");
                    number::write_unsigned(&mut self.out, factor.unsigned_abs());
                }
                _ => self.affine_plus(rhs),
            },
            _ => self.affine_plus(rhs),
        }
    }

    fn affine_plus(&mut self, rhs: AffineExpr) {
        self.text(" + ");
        self.affine_expr(rhs, false);
    }
}
