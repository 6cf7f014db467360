//! `memref.extract_strided_metadata`: the parts of which a memref is made.

use std::borrow::Cow;

use sutura_interp::{Flow, Frame, InterpError, Interpret, Layout, Shape, Value};
use sutura_ir::constraints::*;
use sutura_ir::interfaces::{ResultNames, ViewLike};
use sutura_ir::op_def::{InferInput, InferTypes};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{DialectBuilder, OpRef, Type, TypeData, op};

use crate::effects::FirstOperand;

sutura_ir::type_constraints! {
    /// A memref without dimensions.
    pub ScalarMemRef = "strided memref of any type values of ranks 0",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { shape, .. } if cx.ints(shape).is_empty());
}

/// The memory that a memref lies in, the offset of its first element, its sizes and its strides.
///
/// ```mlir
/// %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %m
///     : memref<?x4xf32> -> memref<f32>, index, index, index, index, index
/// ```
#[op(
    "memref.extract_strided_metadata",
    traits(Pure),
    format = "$source `:` type($source) `->` type(results) attr-dict",
    infer
)]
pub struct ExtractStridedMetadataOp {
    source: Operand<AnyMemRef>,
    base_buffer: Res<ScalarMemRef>,
    offset: Res<Index>,
    /// As many sizes as strides.
    sizes_and_strides: Results<Index>,
}

/// Attaches the operation and its hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op::<ExtractStridedMetadataOp<'_>>();
    d.op_interface::<crate::memref::ExtractStridedMetadataOp<'_>, dyn ViewLike>(&FirstOperand::Part)
        .op_interface::<crate::memref::ExtractStridedMetadataOp<'_>, dyn ResultNames>(&Names)
        .op_interface::<crate::memref::ExtractStridedMetadataOp<'_>, dyn Interpret>(&run);
}

impl InferTypes for ExtractStridedMetadataOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let source = input.operands.first().map(|ty| input.cx.type_data(*ty));
        let Some(TypeData::MemRef { shape, elem, space, .. }) = source else {
            return Err("the operand is no ranked memref".to_string());
        };
        let rank = input.cx.ints(shape).len();
        let mut types: SmallVec<[Type; 2]> = smallvec![input.cx.memref_type(&[], elem, None, space)];
        types.extend(std::iter::repeat_n(Type::INDEX, 1 + 2 * rank));
        Ok(types)
    }
}

struct Names;

impl ResultNames for Names {
    fn names(&self, op: OpRef<'_>) -> SmallVec<[(usize, Cow<'static, str>); 1]> {
        let rank = (op.num_results() - 2) / 2;
        let all = [(0, "base_buffer"), (1, "offset"), (2, "sizes"), (2 + rank, "strides")];
        // Without dimensions there are no sizes and strides.
        all.into_iter().filter(|(at, _)| *at < op.num_results()).map(|(at, name)| (at, name.into())).collect()
    }
}

fn run(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let memref = frame.memref(0)?;
    let base = memref.with_layout(Layout { offset: 0, sizes: Shape::new(), strides: SmallVec::new() });
    frame.set(0, base)?;
    let layout = &memref.layout;
    let sizes = layout.sizes.iter().map(|size| *size as i64);
    let numbers = std::iter::once(layout.offset).chain(sizes).chain(layout.strides.iter().copied());
    for (at, number) in numbers.enumerate() {
        frame.set(1 + at, Value::index(number))?;
    }
    Ok(Flow::Next)
}
