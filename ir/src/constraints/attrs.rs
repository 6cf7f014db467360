//! Attribute constraints.

use crate::affine::AffineMap;
use crate::attr_constraints;
use crate::attrs::{Attr, AttrData};
use crate::context::Context;
use crate::op_def::AttrSyntax::{DenseArray, Plain, SymbolName, Type as BareType, Unit, Untyped};
use crate::types::{Type, TypeData};

/// Value of an integer attribute of type `ty`.
fn int_of(cx: &Context, attr: Attr, of: Type) -> Option<i64> {
    match cx.attr_data(attr) {
        AttrData::Integer { ty, value } if ty == of => Some(value),
        _ => None,
    }
}

/// Elements of `array<elem: …>`, read by `read` from their bytes.
fn dense_array<const N: usize, T>(cx: &Context, attr: Attr, of: Type, read: fn([u8; N]) -> T) -> Option<Vec<T>> {
    match cx.attr_data(attr) {
        AttrData::DenseArray { elem, data } if elem == of => {
            Some(cx.bytes(data).as_chunks::<N>().0.iter().map(|c| read(*c)).collect())
        }
        _ => None,
    }
}

/// True when the attribute is an array whose elements fulfil `element`.
fn array_of(cx: &Context, attr: Attr, element: impl Fn(Attr) -> bool) -> bool {
    cx.array(attr).is_some_and(|list| list.iter().all(|a| element(*a)))
}

fn is_elements(cx: &Context, attr: Attr) -> bool {
    matches!(
        cx.attr_data(attr),
        AttrData::Dense { .. }
            | AttrData::DenseStrings { .. }
            | AttrData::DenseResource { .. }
            | AttrData::Sparse { .. }
    )
}

attr_constraints! {
    /// Any attribute.
    pub AnyAttr = "any attribute", Plain;
    get |_, attr| -> Attr { Some(attr) }
    set |_, value: Attr| { value }

    /// An attribute with a type: a number, elements.
    pub TypedAttr = "TypedAttr instance", Plain;
    get |cx, attr| -> Attr { cx.attr_type(attr).map(|_| attr) }
    set |_, value: Attr| { value }

    /// `true` or `false`
    pub BoolAttr = "bool attribute", Plain;
    get |cx, attr| -> bool { cx.as_bool(attr) }
    set |cx, value: bool| { cx.bool_attr(value) }

    /// Present or not.
    pub UnitAttr = "unit attribute", Unit;
    get |_, attr| -> () { (attr == Attr::UNIT).then_some(()) }
    set |_, _value: ()| { Attr::UNIT }

    /// `1 : index`
    pub IndexAttr = "index attribute", Untyped(Type::INDEX);
    get |cx, attr| -> i64 { int_of(cx, attr, Type::INDEX) }
    set |cx, value: i64| { cx.index_attr(value) }

    /// `1 : i32`
    pub I32Attr = "32-bit signless integer attribute", Untyped(Type::I32);
    get |cx, attr| -> i64 { int_of(cx, attr, Type::I32) }
    set |cx, value: i64| { cx.int_attr(value, Type::I32) }

    /// `1 : i64`
    pub I64Attr = "64-bit signless integer attribute", Untyped(Type::I64);
    get |cx, attr| -> i64 { int_of(cx, attr, Type::I64) }
    set |cx, value: i64| { cx.int_attr(value, Type::I64) }

    /// `1.0 : f32`
    pub F32Attr = "32-bit float attribute", Untyped(Type::F32);
    get |cx, attr| -> f32 {
        match cx.attr_data(attr) {
            AttrData::Float { ty: Type::F32, bits } => Some(f32::from_bits(bits as u32)),
            _ => None,
        }
    }
    set |cx, value: f32| { cx.f32_attr(value) }

    /// `1.0 : f64`
    pub F64Attr = "64-bit float attribute", Untyped(Type::F64);
    get |cx, attr| -> f64 {
        match cx.attr_data(attr) {
            AttrData::Float { ty: Type::F64, bits } => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    set |cx, value: f64| { cx.f64_attr(value) }

    /// `"text"`
    pub StrAttr = "string attribute", Plain;
    get |cx, attr| -> &'a str { cx.as_str(attr) }
    set |cx, value: &'a str| { cx.string_attr(value) }

    /// A string, written `@name`, that names the symbol which the op defines.
    pub SymbolNameAttr = "string attribute", SymbolName;
    get |cx, attr| -> &'a str { cx.as_str(attr) }
    set |cx, value: &'a str| { cx.string_attr(value) }

    /// `@name`
    pub FlatSymbolRefAttr = "flat symbol reference attribute", Plain;
    get |cx, attr| -> &'a str { cx.as_symbol(attr).map(|name| cx.str(name)) }
    set |cx, value: &'a str| { cx.symbol_ref(value) }

    /// `@root::@nested`
    pub SymbolRefAttr = "symbol reference attribute", Plain;
    get |cx, attr| -> Attr { matches!(cx.attr_data(attr), AttrData::SymbolRef { .. }).then_some(attr) }
    set |_, value: Attr| { value }

    /// A type.
    pub TypeAttr = "any type attribute", BareType;
    get |cx, attr| -> Type { cx.as_type(attr) }
    set |cx, value: Type| { cx.type_attr(value) }

    /// A function type.
    pub FunctionTypeAttr = "type attribute of function type", BareType;
    get |cx, attr| -> Type {
        cx.as_type(attr).filter(|ty| matches!(cx.type_data(*ty), TypeData::Function { .. }))
    }
    set |cx, value: Type| { cx.type_attr(value) }

    /// `{a = 1}`
    pub DictionaryAttr = "dictionary of named attribute values", Plain;
    get |cx, attr| -> Attr { matches!(cx.attr_data(attr), AttrData::Dict(_)).then_some(attr) }
    set |_, value: Attr| { value }

    /// `[a, b]`
    pub ArrayAttr = "array attribute", Plain;
    get |cx, attr| -> &'a [Attr] { cx.array(attr) }
    set |cx, value: &'a [Attr]| { cx.array_attr(value) }

    /// `[{…}, {…}]`
    pub DictArrayAttr = "Array of dictionary attributes", Plain;
    get |cx, attr| -> &'a [Attr] {
        array_of(cx, attr, |a| matches!(cx.attr_data(a), AttrData::Dict(_))).then(|| cx.array(attr)).flatten()
    }
    set |cx, value: &'a [Attr]| { cx.array_attr(value) }

    /// `["a", "b"]`
    pub StrArrayAttr = "string array attribute", Plain;
    get |cx, attr| -> &'a [Attr] {
        array_of(cx, attr, |a| cx.as_str(a).is_some()).then(|| cx.array(attr)).flatten()
    }
    set |cx, value: &'a [Attr]| { cx.array_attr(value) }

    /// `[1, 2]`, each `i64`
    pub I64ArrayAttr = "64-bit integer array attribute", Plain;
    get |cx, attr| -> Vec<i64> { cx.array(attr)?.iter().map(|a| int_of(cx, *a, Type::I64)).collect() }
    set |cx, value: &'a [i64]| {
        let elements: Vec<Attr> = value.iter().map(|v| cx.int_attr(*v, Type::I64)).collect();
        cx.array_attr(&elements)
    }

    /// `[[0, 1], [2]]`, each `i64`
    pub IndexListArrayAttr = "Array of 64-bit integer array attributes", Plain;
    get |cx, attr| -> Vec<Vec<i64>> {
        cx.array(attr)?.iter().map(|a| <I64ArrayAttr as crate::op_def::AttrConstraintDef>::get(cx, *a)).collect()
    }
    set |cx, value: &'a [Vec<i64>]| {
        let lists: Vec<Attr> =
            value.iter().map(|v| <I64ArrayAttr as crate::op_def::AttrConstraintDef>::set(cx, v)).collect();
        cx.array_attr(&lists)
    }

    /// `[true, false]`
    pub BoolArrayAttr = "1-bit boolean array attribute", Plain;
    get |cx, attr| -> Vec<bool> { cx.array(attr)?.iter().map(|a| cx.as_bool(*a)).collect() }
    set |cx, value: &'a [bool]| {
        let elements: Vec<Attr> = value.iter().map(|v| cx.bool_attr(*v)).collect();
        cx.array_attr(&elements)
    }

    /// `[affine_map<…>, …]`
    pub AffineMapArrayAttr = "AffineMap array attribute", Plain;
    get |cx, attr| -> Vec<AffineMap> { cx.array(attr)?.iter().map(|a| cx.as_affine_map(*a)).collect() }
    set |cx, value: &'a [AffineMap]| {
        let elements: Vec<Attr> = value.iter().map(|m| cx.affine_map_attr(*m)).collect();
        cx.array_attr(&elements)
    }

    /// `array<i1: true, false>`
    pub DenseBoolArrayAttr = "i1 dense array attribute", DenseArray(Type::I1);
    get |cx, attr| -> Vec<bool> { dense_array(cx, attr, Type::I1, |[b]: [u8; 1]| b != 0) }
    set |cx, value: &'a [bool]| {
        let bytes: Vec<u8> = value.iter().map(|b| u8::from(*b)).collect();
        cx.attr(AttrData::DenseArray { elem: Type::I1, data: cx.blob(&bytes) })
    }

    /// `array<i32: 1, 2>`
    pub DenseI32ArrayAttr = "i32 dense array attribute", DenseArray(Type::I32);
    get |cx, attr| -> Vec<i32> { dense_array(cx, attr, Type::I32, i32::from_le_bytes) }
    set |cx, value: &'a [i32]| { cx.i32_array(value) }

    /// `array<i64: 1, 2>`
    pub DenseI64ArrayAttr = "i64 dense array attribute", DenseArray(Type::I64);
    get |cx, attr| -> Vec<i64> { dense_array(cx, attr, Type::I64, i64::from_le_bytes) }
    set |cx, value: &'a [i64]| { cx.i64_array(value) }

    /// `affine_map<…>`
    pub AffineMapAttr = "AffineMap attribute", Plain;
    get |cx, attr| -> AffineMap { cx.as_affine_map(attr) }
    set |cx, value: AffineMap| { cx.affine_map_attr(value) }

    /// `dense<…>` and its kin.
    pub ElementsAttr = "constant vector/tensor attribute", Plain;
    get |cx, attr| -> Attr { is_elements(cx, attr).then_some(attr) }
    set |_, value: Attr| { value }
}
