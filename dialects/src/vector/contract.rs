//! Contractions of vectors, reductions along dimensions, and ops under a mask.

use sutura_ir::affine::{AffineExprData, AffineMap};
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::constraints::*;
use sutura_ir::op_def::{OpView, Verify};
use sutura_ir::{Attr, Context, Diagnostic, Diagnostics, NamedAttr, OpRef, Reported, Type, op};

use super::attrs::{CombiningKind, IteratorType};
use super::ops::MaskVector;
use super::types::VectorShape;
use crate::show;

/// The products of elements of two vectors, summed along the dimensions that the result lacks, and combined with an
/// accumulator. Maps say which iterators index which operand.
///
/// ```mlir
/// %d = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"],
///        kind = #vector.kind<add>} %a, %b, %c : vector<4x3xf32>, vector<3x7xf32> into vector<4x7xf32>
/// ```
#[op(
    "vector.contract",
    traits(Pure),
    format = "custom<ContractTraits>($indexing_maps, $iterator_types, $kind) $lhs `,` $rhs `,` $acc attr-dict `:` \
              type($lhs) `,` type($rhs) `into` custom<AccumulatedType>(type($acc), type($result))",
    verify
)]
pub struct ContractionOp {
    lhs: Operand<AnyVectorOfNonZeroRank>,
    rhs: Operand<AnyVectorOfNonZeroRank>,
    acc: Operand<AnyType>,
    /// From iterators to indices of the operands.
    indexing_maps: Attr<ArrayAttr>,
    /// For each iterator whether the result has it.
    iterator_types: Attr<ArrayAttr>,
    /// How products are combined.
    #[default(CombiningKind::Add)]
    kind: Attr<CombiningKind>,
    result: Res<AnyType>,
}

/// `{indexing_maps = […], iterator_types = ["parallel", …], kind = #vector.kind<add>}`
pub(super) const CONTRACT_TRAITS: DirectiveDef = DirectiveDef { parse: parse_traits, print: print_traits };

/// The type of the accumulator, which is that of the result.
pub(super) const ACCUMULATED_TYPE: DirectiveDef =
    DirectiveDef { parse: parse_accumulated, print: |p, op, _| p.types(op.result_types()) };

fn parse_accumulated(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let ty = p.ty()?;
    parts.operand_types[2] = Some(vec![ty]);
    parts.result_types = vec![Some(vec![ty])];
    Ok(())
}

fn parse_traits(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let Some(mut entries) = p.opt_attr_dict()? else { return Err(p.error("expected '{' in attribute dictionary")) };
    for entry in &mut entries {
        if p.cx().str(entry.name) == "iterator_types" {
            let words = p.cx().array(entry.value).unwrap_or_default().to_vec();
            let types = words.iter().map(|w| IteratorType::from_keyword(p.cx().as_str(*w).unwrap_or_default()));
            let Some(types) = types.collect::<Option<Vec<_>>>() else {
                return Err(p.error_at(loc, "unexpected iterator_type: they are parallel and reduction"));
            };
            let types: Vec<Attr> = types.into_iter().map(|ty| p.cx().ext_attr(ty)).collect();
            entry.value = p.cx().array_attr(&types);
        }
    }
    parts.add_entries(p.cx(), entries);
    Ok(())
}

fn print_traits(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let cx = op.cx;
    let contract = ContractionOp::from_ref(op);
    let words = contract.iterator_types().iter().map(|a| match cx.attr_as::<IteratorType>(*a) {
        Some(ty) => cx.string_attr(ty.keyword()),
        None => *a,
    });
    let words: Vec<Attr> = words.collect();
    let entry = |name, value| NamedAttr { name: cx.ident(name), value };
    p.attr_dict([
        entry("indexing_maps", cx.array_attr(contract.indexing_maps())),
        entry("iterator_types", cx.array_attr(&words)),
        entry("kind", cx.ext_attr(contract.kind())),
    ]);
}

/// The iterators that index an operand.
fn indices(cx: &Context, map: AffineMap) -> Option<Vec<usize>> {
    let index = |expr: &_| match cx.affine_data(*expr) {
        AffineExprData::Dim(d) => Some(d as usize),
        _ => None,
    };
    cx.map_results(map).iter().map(index).collect()
}

impl Verify for ContractionOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_contract(ContractionOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_contract(contract: ContractionOp<'_>) -> Result<(), Diagnostic> {
    let (op, cx) = (contract.op_ref(), contract.op_ref().cx);
    let iterators = contract.iterator_types();
    if contract.indexing_maps().len() != 3 {
        return Err(op.error("expected an indexing map for each vector operand"));
    }
    let mut dims: Vec<Vec<usize>> = Vec::new();
    for (i, attr) in contract.indexing_maps().iter().enumerate() {
        let Some(map) = cx.as_affine_map(*attr) else {
            return Err(op.error("attribute 'indexing_maps' failed to satisfy constraint: AffineMap array attribute"));
        };
        let (data, rank) = (cx.affine_map_data(map), VectorShape::of(cx, op.ty(op.operand(i))).rank());
        if data.symbols != 0 {
            return Err(op.error(format!("expected indexing map {i} to have no symbols")));
        }
        if data.dims as usize != iterators.len() {
            let count = iterators.len();
            return Err(op.error(format!("expected indexing map {i} to have {count} number of inputs")));
        }
        if cx.map_results(map).len() != rank {
            return Err(op.error(format!("expected indexing map {i} to have {rank} number of outputs")));
        }
        let picked = indices(cx, map).filter(|d| (1..d.len()).all(|k| !d[..k].contains(&d[k])));
        let Some(picked) = picked else {
            return Err(op.error(format!("expected indexing map {i} to be a projected permutation of its inputs")));
        };
        dims.push(picked);
    }
    verify_extents(op, iterators, &dims)?;
    let (elem, kind) = (cx.element_type(op.ty(contract.result())), contract.kind());
    let is_integer = elem == Type::INDEX || elem.is_integer(cx);
    if (elem.is_float(cx) && kind.takes_floats()) || (is_integer && kind.takes_integers()) {
        return Ok(());
    }
    Err(op.error("unsupported contraction type"))
}

/// Sizes along each iterator agree, and the result has those along its own.
fn verify_extents(op: OpRef<'_>, iterators: &[Attr], dims: &[Vec<usize>]) -> Result<(), Diagnostic> {
    let cx = op.cx;
    let shapes = [0, 1, 2].map(|i| VectorShape::of(cx, op.ty(op.operand(i))));
    let is_reduction =
        |i: &usize| iterators.get(*i).and_then(|a| cx.attr_as::<IteratorType>(*a)) == Some(&IteratorType::Reduction);
    let contracted = dims[0].iter().filter(|d| is_reduction(d) && dims[1].contains(d)).count();
    if contracted == 0 {
        return Err(op.error("expected at least one contracting dimension pair"));
    }
    let size_in = |operand: usize, iterator: usize| {
        let at = dims[operand].iter().position(|d| *d == iterator)?;
        Some((shapes[operand].sizes[at], shapes[operand].scalable[at]))
    };
    for iterator in &dims[0] {
        if size_in(1, *iterator).is_some_and(|size| Some(size) != size_in(0, *iterator)) {
            let what = if is_reduction(iterator) { "contracting" } else { "batch" };
            return Err(op.error(format!("invalid {what} dimension map")));
        }
    }
    let expected: Option<Vec<_>> = dims[2].iter().map(|i| size_in(0, *i).or_else(|| size_in(1, *i))).collect();
    let found: Vec<_> = shapes[2].sizes.iter().copied().zip(shapes[2].scalable.iter().copied()).collect();
    match expected {
        Some(expected) if expected == found => Ok(()),
        Some(expected) => {
            let (sizes, scalable) = expected.into_iter().unzip();
            let expected = VectorShape { sizes, scalable, elem: shapes[2].elem };
            let expected = show::ty(cx, expected.vector_or_element(cx));
            Err(op.error(format!("invalid accumulator/result vector shape, expected: '{expected}'")))
        }
        None => Err(op.error("expected all dimensions to be either a LHS or a RHS dimension")),
    }
}

/// Combines the elements of a vector along some dimensions, beginning with an accumulator.
///
/// ```mlir
/// %r = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>
/// ```
#[op(
    "vector.multi_reduction",
    traits(Pure),
    format = "custom<Kind>($kind) `,` $source `,` $acc attr-dict $reduction_dims `:` type($source) `to` type($dest)",
    verify
)]
pub struct MultiDimReductionOp<T: AnyType> {
    /// How elements are combined.
    kind: Attr<CombiningKind>,
    source: Operand<AnyVectorOfNonZeroRank>,
    acc: Operand<T>,
    reduction_dims: Attr<DenseI64ArrayAttr>,
    dest: Res<T>,
}

impl Verify for MultiDimReductionOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (cx, reduction) = (op.cx, MultiDimReductionOp::from_ref(op));
        let shape = VectorShape::of(cx, op.ty(reduction.source()));
        let dims = reduction.reduction_dims();
        let mut kept = VectorShape { sizes: Vec::new(), scalable: Vec::new(), elem: shape.elem };
        for (i, size) in shape.sizes.iter().enumerate() {
            if !dims.contains(&(i as i64)) {
                kept.sizes.push(*size);
                kept.scalable.push(shape.scalable[i]);
            }
        }
        let (expected, found) = (kept.vector_or_element(cx), op.ty(reduction.dest()));
        if expected != found {
            let (found, source) = (show::ty(cx, found), show::ty(cx, op.ty(reduction.source())));
            let message = format!("destination type '{found}' is incompatible with source type '{source}'");
            return Err(diags.report(op.error(message)));
        }
        Ok(())
    }
}

/// An op that is executed for those lanes only for which the mask is true; the others are those of `passthru`.
///
/// ```mlir
/// %r = vector.mask %m { vector.reduction <add>, %v : vector<8xf32> into f32 } : vector<8xi1> -> f32
/// ```
#[op(
    "vector.mask",
    traits(SingleBlock, NoRegionArguments, RecursiveMemoryEffects),
    format = "$mask (`,` $passthru^)? $maskRegion attr-dict `:` type($mask) \
              custom<MaskResults>(type($passthru), type($results))",
    implicit_terminator = "vector.yield",
    verify
)]
pub struct MaskOp {
    mask: Operand<MaskVector>,
    passthru: OptOperand<AnyType>,
    results: Results<AnyType>,
    #[name("maskRegion")]
    mask_region: Region,
}

/// `-> types`, or nothing without results; the type of `passthru` is that of the first result.
pub(super) const MASK_RESULTS: DirectiveDef = DirectiveDef { parse: parse_mask_results, print: print_mask_results };

fn parse_mask_results(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let mut types = Vec::new();
    if p.opt_punct("->") {
        if p.opt_punct("(") {
            while !p.opt_punct(")") {
                if !types.is_empty() {
                    p.punct(",")?;
                }
                types.push(p.ty()?);
            }
        } else {
            types.push(p.ty()?);
        }
    }
    if !parts.operands[1].is_empty() {
        let Some(first) = types.first() else {
            return Err(p.error("expects a result if passthru operand is provided"));
        };
        parts.operand_types[1] = Some(vec![*first]);
    }
    parts.result_types = vec![Some(types)];
    Ok(())
}

fn print_mask_results(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if op.num_results() != 0 {
        p.text("-> ");
        p.result_types(op.result_types());
    }
}

impl Verify for MaskOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_mask(MaskOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_mask(mask: MaskOp<'_>) -> Result<(), Diagnostic> {
    let op = mask.op_ref();
    let Some(entry) = mask.mask_region().entry() else {
        return Err(op.error("expects a region with one block"));
    };
    let mut ops = entry.ops();
    let (first, second) = (ops.next(), ops.next());
    if ops.next().is_some() {
        return Err(op.error("expects only one operation to mask"));
    }
    let Some(last) = second.or(first).filter(|last| last.is::<YieldOp<'_>>()) else {
        return Err(op.error("expects a terminator within the mask region"));
    };
    if second.is_none() && mask.passthru().is_some() {
        return Err(op.error("expects result when passthru is provided"));
    }
    if last.num_operands() != op.num_results() {
        return Err(op.error("expects number of results to match mask region yielded values"));
    }
    Ok(())
}

/// Ends the region of a vector op with its results.
#[op("vector.yield", traits(Pure, Terminator, ReturnLike), format = "attr-dict ($operands^ `:` type($operands))?")]
pub struct YieldOp {
    operands: Operands<AnyType>,
}

/// The custom form writes the one op on the same line and leaves out that its results are yielded.
pub(super) struct OneLine;

impl sutura_ir::interfaces::RegionSyntax for OneLine {
    fn inline(&self) -> bool {
        true
    }
}
