//! Type constraints.

use crate::context::Context;
use crate::type_constraints;
use crate::types::{Signedness, Type, TypeData};

/// True for a vector or tensor whose elements fulfil `elem`.
pub fn is_value_container_of(cx: &Context, ty: Type, elem: impl Fn(&Context, Type) -> bool) -> bool {
    matches!(cx.type_data(ty), TypeData::Vector { .. } | TypeData::RankedTensor { .. } | TypeData::UnrankedTensor(_))
        && elem(cx, cx.element_type(ty))
}

/// True for a type that fulfils `elem`, or a vector or tensor of such.
pub fn is_like(cx: &Context, ty: Type, elem: impl Fn(&Context, Type) -> bool) -> bool {
    elem(cx, ty) || is_value_container_of(cx, ty, elem)
}

/// True for a signless integer or `index`.
pub fn is_signless_integer_or_index(cx: &Context, ty: Type) -> bool {
    ty == Type::INDEX || ty.is_signless_integer(cx)
}

fn is_vector(cx: &Context, ty: Type) -> bool {
    matches!(cx.type_data(ty), TypeData::Vector { .. })
}

fn is_memref(cx: &Context, ty: Type) -> bool {
    matches!(cx.type_data(ty), TypeData::MemRef { .. })
}

fn is_ranked_tensor(cx: &Context, ty: Type) -> bool {
    matches!(cx.type_data(ty), TypeData::RankedTensor { .. })
}

fn is_signed(cx: &Context, ty: Type, sign: Signedness) -> bool {
    matches!(cx.type_data(ty), TypeData::Integer { sign: s, .. } if s == sign)
}

type_constraints! {
    /// Any type.
    pub AnyType = "any type", |_, _| true;
    /// `none`
    pub NoneType = "none type", |_, ty| ty == Type::NONE, only Type::NONE;
    /// `index`
    pub Index = "index", |_, ty| ty == Type::INDEX, only Type::INDEX;
    /// `i1`
    pub I1 = "1-bit signless integer", |_, ty| ty == Type::I1, only Type::I1;
    /// `i8`
    pub I8 = "8-bit signless integer", |_, ty| ty == Type::I8, only Type::I8;
    /// `i16`
    pub I16 = "16-bit signless integer", |_, ty| ty == Type::I16, only Type::I16;
    /// `i32`
    pub I32 = "32-bit signless integer", |_, ty| ty == Type::I32, only Type::I32;
    /// `i64`
    pub I64 = "64-bit signless integer", |_, ty| ty == Type::I64, only Type::I64;
    /// `f16`
    pub F16 = "16-bit float", |_, ty| ty == Type::F16, only Type::F16;
    /// `bf16`
    pub BF16 = "bfloat16 type", |_, ty| ty == Type::BF16, only Type::BF16;
    /// `f32`
    pub F32 = "32-bit float", |_, ty| ty == Type::F32, only Type::F32;
    /// `f64`
    pub F64 = "64-bit float", |_, ty| ty == Type::F64, only Type::F64;

    /// Integer of any width and signedness.
    pub AnyInteger = "integer", |cx, ty| ty.is_integer(cx);
    /// `iN`
    pub AnySignlessInteger = "signless integer", |cx, ty| ty.is_signless_integer(cx);
    /// `siN`
    pub AnySignedInteger = "signed integer", |cx, ty| is_signed(cx, ty, Signedness::Signed);
    /// `uiN`
    pub AnyUnsignedInteger = "unsigned integer", |cx, ty| is_signed(cx, ty, Signedness::Unsigned);
    /// `iN` or `index`
    pub AnySignlessIntegerOrIndex = "signless integer or index", |cx, ty| is_signless_integer_or_index(cx, ty);
    /// Any floating-point type.
    pub AnyFloat = "floating-point", |cx, ty| ty.is_float(cx);
    /// `complex<T>`
    pub AnyComplex = "complex-type", |cx, ty| matches!(cx.type_data(ty), TypeData::Complex(_));
    /// `(inputs) -> results`
    pub FunctionType = "function type", |cx, ty| matches!(cx.type_data(ty), TypeData::Function { .. });

    /// `i1`, or a vector or tensor of it.
    pub BoolLike = "bool-like", |cx, ty| is_like(cx, ty, |_, e| e == Type::I1);
    /// `iN`, or a vector or tensor of it.
    pub SignlessIntegerLike = "signless-integer", |cx, ty| is_like(cx, ty, |cx, e| e.is_signless_integer(cx));
    /// `iN` or `index`, or a vector or tensor of it.
    pub SignlessIntegerOrIndexLike = "signless-integer-like", |cx, ty| is_like(cx, ty, is_signless_integer_or_index);
    /// A floating-point type, or a vector or tensor of it.
    pub FloatLike = "floating-point-like", |cx, ty| is_like(cx, ty, |cx, e| e.is_float(cx));

    /// A ranked or unranked tensor.
    pub AnyTensor = "tensor of any type values", |cx, ty| ty.is_tensor(cx);
    /// A ranked tensor.
    pub AnyRankedTensor = "ranked tensor of any type values", |cx, ty| is_ranked_tensor(cx, ty);
    /// A ranked memref.
    pub AnyMemRef = "memref of any type values", |cx, ty| is_memref(cx, ty);
    /// A ranked or unranked memref.
    pub AnyRankedOrUnrankedMemRef = "ranked or unranked memref of any type values",
        |cx, ty| is_memref(cx, ty) || matches!(cx.type_data(ty), TypeData::UnrankedMemRef { .. });
    /// A vector.
    pub AnyVectorOfAnyRank = "vector of any type values", |cx, ty| is_vector(cx, ty);
    /// A vector of at least one dimension.
    pub AnyVectorOfNonZeroRank = "vector of any type values",
        |cx, ty| is_vector(cx, ty) && cx.shape(ty).is_some_and(|s| !s.is_empty());
    /// A tensor, memref or vector.
    pub AnyShaped = "shaped of any type values", |cx, ty| ty.is_shaped(cx);
}
