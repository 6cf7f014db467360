//! Vector ops on whole lanes: elements as values, interleaving, scalable parts, and lane-wise memory accesses.

use sutura_ir::constraints::*;
use sutura_ir::op;
use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Diagnostic, Diagnostics, OpRef, Reported, Type, TypeData};

use super::attrs::Punctuation;
use super::ops::NonZeroRankMaskVector;
use super::types::VectorShape;
use crate::memref::AlignmentAttr;

sutura_ir::type_constraints! {
    /// A vector of integers or indices.
    pub IntegerOrIndexVector = "vector of integer or index values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::Vector { elem, .. }
            if elem == Type::INDEX || elem.is_integer(cx));
    /// A vector of one dimension.
    pub OneDimVector = "of ranks 1 vector of any type values",
        |cx, ty| VectorShape::of(cx, ty).rank() == 1;
    /// A scalable vector of one dimension.
    pub ScalableOneDimVector = "of ranks 1 scalable vector of any type values",
        |cx, ty| VectorShape::of(cx, ty).scalable == [1];
    /// A memref or tensor.
    pub AnyRankedShaped = "Tensor or MemRef of any type values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { .. } | TypeData::RankedTensor { .. });
}

/// All elements of a vector as values.
///
/// ```mlir
/// %0:2 = vector.to_elements %v : vector<2xf32>
/// ```
#[op("vector.to_elements", traits(Pure), format = "$source attr-dict `:` type($source)", verify, infer)]
pub struct ToElementsOp {
    source: Operand<super::ops::AnyFixedVectorOfAnyRank>,
    elements: Results<AnyType>,
}

fn elements_of(cx: &Context, vector: Type) -> Option<Vec<Type>> {
    Some(vec![cx.element_type(vector); cx.num_elements(vector)?])
}

impl InferTypes for ToElementsOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let vector = input.operands.first().ok_or("the op has no operand")?;
        elements_of(input.cx, *vector).map(SmallVec::from_vec).ok_or_else(|| "the operand is no vector".to_string())
    }
}

impl Verify for ToElementsOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let expected = elements_of(op.cx, op.ty(op.operand(0))).unwrap_or_default();
        if op.result_types().eq(expected) {
            return Ok(());
        }
        Err(diags
            .report(op.error("failed to verify that shaped type 'source' matches 'elements' element count and types")))
    }
}

/// The elements of two vectors in turn.
///
/// ```mlir
/// %0 = vector.interleave %a, %b : vector<4xf32> -> vector<8xf32>
/// ```
#[op("vector.interleave", traits(Pure), format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)", verify)]
pub struct InterleaveOp<T: AnyVectorOfAnyRank> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    result: Res<AnyVectorOfNonZeroRank>,
}

impl Verify for InterleaveOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let mut shape = VectorShape::of(op.cx, op.ty(op.operand(0)));
        match shape.sizes.last_mut() {
            Some(last) => *last *= 2,
            None => (shape.sizes, shape.scalable) = (vec![2], vec![0]),
        }
        if op.ty(op.result(0)) == shape.vector(op.cx) {
            return Ok(());
        }
        let message = "failed to verify that type of 'result' is double the width of the inputs";
        Err(diags.report(op.error(message)))
    }
}

/// The even and the odd elements of a vector.
///
/// ```mlir
/// %even, %odd = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>
/// ```
#[op("vector.deinterleave", traits(Pure), format = "$source attr-dict `:` type($source) `->` type($res1)", verify)]
pub struct DeinterleaveOp<T: AnyVectorOfNonZeroRank> {
    source: Operand<AnyVectorOfNonZeroRank>,
    res1: Res<T>,
    res2: Res<T>,
}

impl Verify for DeinterleaveOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (source, mut half) =
            (VectorShape::of(op.cx, op.ty(op.operand(0))), VectorShape::of(op.cx, op.ty(op.result(0))));
        if source.sizes.last().is_some_and(|n| n % 2 != 0) {
            return Err(diags.report(op.error(
                "failed to verify that the trailing dimension of the source vector has an even number of elements",
            )));
        }
        if let Some(last) = half.sizes.last_mut() {
            *last *= 2;
        }
        if half == source {
            return Ok(());
        }
        let message = "failed to verify that type of 'res1' is half the width of the source";
        Err(diags.report(op.error(message)))
    }
}

/// A scalable vector with a part replaced by a fixed one.
#[op(
    "vector.scalable.insert",
    traits(Pure),
    format = "$valueToStore `,` $dest `[` $pos `]` attr-dict `:` type($valueToStore) `into` type($dest)",
    verify
)]
pub struct ScalableInsertOp<T: ScalableOneDimVector> {
    #[name("valueToStore")]
    stored: Operand<OneDimVector>,
    dest: Operand<T>,
    /// Where it goes, in units of the scale.
    pos: Attr<I64Attr>,
    res: Res<T>,
}

/// A fixed part of a scalable vector.
#[op(
    "vector.scalable.extract",
    traits(Pure),
    format = "$source `[` $pos `]` attr-dict `:` type($res) `from` type($source)",
    verify
)]
pub struct ScalableExtractOp {
    source: Operand<ScalableOneDimVector>,
    /// Where it begins, in units of the scale.
    pos: Attr<I64Attr>,
    res: Res<OneDimVector>,
}

fn verify_scalable(
    op: OpRef<'_>,
    part: Type,
    whole: Type,
    part_name: &str,
    whole_name: &str,
) -> Result<(), Diagnostic> {
    let (part, whole) = (VectorShape::of(op.cx, part), VectorShape::of(op.cx, whole));
    if part.elem != whole.elem {
        return Err(op.error(format!("failed to verify that {part_name}, {whole_name} have same element type")));
    }
    let pos = op.prop("pos").and_then(|a| op.cx.as_int(a)).unwrap_or_default();
    if part.sizes.first().is_none_or(|size| *size == 0 || pos % size != 0) {
        return Err(op.error(format!("failed to verify that position is a multiple of the {part_name} length.")));
    }
    Ok(())
}

impl Verify for ScalableInsertOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (part, whole) = (op.ty(op.operand(0)), op.ty(op.operand(1)));
        verify_scalable(op, part, whole, "source", "dest").map_err(|d| diags.report(d))
    }
}

impl Verify for ScalableExtractOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (part, whole) = (op.ty(op.result(0)), op.ty(op.operand(0)));
        verify_scalable(op, part, whole, "result", "source").map_err(|d| diags.report(d))
    }
}

/// How many times as long as they say scalable vectors are.
#[op("vector.vscale", traits(Pure), format = "attr-dict")]
pub struct VectorScaleOp {
    res: Res<Index>,
}

/// Prints a value, a text or a punctuation mark when the program runs.
///
/// ```mlir
/// vector.print %v : vector<4xf32>
/// vector.print str "sum: "
/// vector.print punctuation <comma>
/// ```
#[op(
    "vector.print",
    format = "($source^ `:` type($source))? (`str` $stringLiteral^)? \
              (`punctuation` custom<Punctuation>($punctuation)^)? attr-dict",
    verify
)]
pub struct PrintOp {
    source: OptOperand<AnyType>,
    /// Written after the value.
    #[default(Punctuation::NewLine)]
    punctuation: Attr<Punctuation>,
    #[name("stringLiteral")]
    #[absent]
    string_literal: OptAttr<StrAttr>,
}

impl Verify for PrintOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let print = PrintOp::from_ref(op);
        if print.source().is_some() && print.string_literal().is_some() {
            return Err(diags.report(op.error("cannot have both a source and a string literal")));
        }
        Ok(())
    }
}

/// Reads elements at indices that a vector holds; where the mask is false the result is that of `pass_thru`.
#[op(
    "vector.gather",
    format = "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` \
              type($indices) `,` type($mask) `,` type($pass_thru) `into` type($result)",
    verify
)]
pub struct GatherOp<T: AnyVectorOfNonZeroRank> {
    base: Operand<AnyRankedShaped>,
    offsets: Operands<Index>,
    indices: Operand<IntegerOrIndexVector>,
    mask: Operand<NonZeroRankMaskVector>,
    pass_thru: Operand<T>,
    #[absent]
    alignment: OptAttr<AlignmentAttr>,
    result: Res<T>,
}

/// Writes elements to indices that a vector holds, where the mask is true.
#[op(
    "vector.scatter",
    format = "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` \
              type($indices) `,` type($mask) `,` type($valueToStore) (`->` type($result)^)?",
    verify
)]
pub struct ScatterOp {
    base: Operand<AnyRankedShaped>,
    offsets: Operands<Index>,
    indices: Operand<IntegerOrIndexVector>,
    mask: Operand<NonZeroRankMaskVector>,
    #[name("valueToStore")]
    stored: Operand<AnyVectorOfNonZeroRank>,
    #[absent]
    alignment: OptAttr<AlignmentAttr>,
    result: OptRes<AnyRankedTensor>,
}

/// Reads consecutive elements into those lanes for which the mask is true; the others are those of `pass_thru`.
#[op(
    "vector.expandload",
    format = "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` \
              type($pass_thru) `into` type($result)",
    verify
)]
pub struct ExpandLoadOp<T: OneDimVector> {
    base: Operand<AnyMemRef>,
    indices: Operands<Index>,
    mask: Operand<NonZeroRankMaskVector>,
    pass_thru: Operand<T>,
    #[absent]
    alignment: OptAttr<AlignmentAttr>,
    result: Res<T>,
}

/// Writes those lanes for which the mask is true to consecutive elements.
#[op(
    "vector.compressstore",
    format = "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` \
              type($valueToStore)",
    verify
)]
pub struct CompressStoreOp {
    base: Operand<AnyMemRef>,
    indices: Operands<Index>,
    mask: Operand<NonZeroRankMaskVector>,
    #[name("valueToStore")]
    stored: Operand<OneDimVector>,
    #[absent]
    alignment: OptAttr<AlignmentAttr>,
}

/// What lane-wise accesses have in common: the base's elements and rank, and masks of the vector's shape.
fn verify_lanes(op: OpRef<'_>, vector: Type, name: &str, indexed: Option<Type>, mask: Type) -> Result<(), Diagnostic> {
    let (cx, base) = (op.cx, op.ty(op.operand(0)));
    if cx.element_type(base) != cx.element_type(vector) {
        return Err(op.error(format!("base and {name} element type should match")));
    }
    let rank = cx.shape(base).map_or(0, <[i64]>::len);
    if op.operand_group(1).unwrap_or_default().len() != rank {
        return Err(op.error(format!("requires {rank} indices")));
    }
    let lanes = |ty| {
        let shape = VectorShape::of(cx, ty);
        (shape.sizes, shape.scalable)
    };
    if indexed.is_some_and(|indices| lanes(indices) != lanes(vector)) {
        return Err(op.error(format!("expected {name} dim to match indices dim")));
    }
    if lanes(mask) != lanes(vector) {
        return Err(op.error(format!("expected {name} dim to match mask dim")));
    }
    Ok(())
}

impl Verify for GatherOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let gather = GatherOp::from_ref(op);
        let types = [gather.result(), gather.indices(), gather.mask()].map(|v| op.ty(v));
        verify_lanes(op, types[0], "result", Some(types[1]), types[2]).map_err(|d| diags.report(d))
    }
}

impl Verify for ScatterOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let scatter = ScatterOp::from_ref(op);
        let types = [scatter.stored(), scatter.indices(), scatter.mask()].map(|v| op.ty(v));
        verify_lanes(op, types[0], "valueToStore", Some(types[1]), types[2]).map_err(|d| diags.report(d))
    }
}

impl Verify for ExpandLoadOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let load = ExpandLoadOp::from_ref(op);
        let types = [load.result(), load.mask()].map(|v| op.ty(v));
        verify_lanes(op, types[0], "result", None, types[1]).map_err(|d| diags.report(d))
    }
}

impl Verify for CompressStoreOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let store = CompressStoreOp::from_ref(op);
        let types = [store.stored(), store.mask()].map(|v| op.ty(v));
        verify_lanes(op, types[0], "valueToStore", None, types[1]).map_err(|d| diags.report(d))
    }
}

/// The names of the results of `vector.deinterleave`.
pub(super) struct Halves;

impl sutura_ir::interfaces::ResultNames for Halves {
    fn names(&self, _: OpRef<'_>) -> SmallVec<[(usize, std::borrow::Cow<'static, str>); 1]> {
        smallvec![(0, "res1".into()), (1, "res2".into())]
    }
}
