//! Casts of tensors as functions of elements, and those of scalars.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::{symbolic_shape, tensor_of};
use sutura_dialects::graph::{BitcastOp, ComputeOp, ConstantOp, IteratorKind, IteratorsAttr, YieldOp};
use sutura_dialects::quant::numbers::Kinds;
use sutura_dialects::quant::{Affine, Along, DequantizeCastOp, StorageCastOp, UniformType, along, is_quantized};
use sutura_interp::{DType, Fault, Scalar};
use sutura_ir::affine::AffineMap;
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::{Context, Loc, Op, OpRef, OpState, Rewriter, Type, Value};

use super::arithmetic::Ops;
use super::{lowered, refusal, uniform};

/// Refuses casts for which there is no arithmetic.
pub(super) fn check(op: OpRef<'_>) -> Result<(), Box<Diagnostic>> {
    let cx = op.cx;
    let unranked = |ty: &Type| ty.is_tensor(cx) && cx.shape(*ty).is_none();
    if let Some(ty) = op.operand_types().chain(op.result_types()).find(unranked) {
        return Err(Box::new(op.error(refusal(cx, ty)).help("tensors have a rank where they are compiled")));
    }
    if let Some(ty) = uniform(cx, op) {
        if let Err(fault) = Kinds::of(cx, ty) {
            return Err(Box::new(op.error(fault.message)));
        }
        return sizes(op, ty);
    }
    if op.is::<StorageCastOp<'_>>() {
        return Ok(());
    }
    let elems = op.operand_types().chain(op.result_types()).map(|ty| cx.element_type(ty));
    let name =
        elems.into_iter().find(|elem| is_quantized(cx, *elem)).map(|elem| type_text(cx, elem)).unwrap_or_default();
    Err(Box::new(op.error(format!("casts {name}, which says no scale")).help("'!quant.uniform' does")))
}

/// Refuses a dimension with scales whose size is not known: nothing would check it.
fn sizes(op: OpRef<'_>, ty: &UniformType) -> Result<(), Box<Diagnostic>> {
    let known = |value: Value| symbolic_shape(op.cx, op.ty(value)).unwrap_or_default();
    let (from, to) = (known(op.operand(0)), known(op.result(0)));
    let scales = along(ty, from.len()).map_err(|message| Box::new(op.error(message)))?;
    for (dim, along) in scales.iter().enumerate() {
        let Some(wanted) = along.size() else { continue };
        let is_known =
            |shape: &[Option<Poly>]| shape.get(dim).and_then(Option::as_ref).and_then(Poly::as_const) == Some(wanted);
        if !is_known(&from) && !is_known(&to) {
            let message = format!(
                "dimension {dim} has {} scales, for a size of {wanted}, and its size is not known",
                along.count
            );
            return Err(Box::new(op.error(message).help("run 'propagate-shapes' before, which states and checks it")));
        }
    }
    Ok(())
}

/// What is stored is there already: at most it loses its sign, or gets one.
pub(super) fn storage_cast(rw: &mut Rewriter<'_>, op: Op) {
    let cx = rw.cx();
    let view = rw.op_ref(op);
    let (loc, input, result) = (view.loc(), view.operand(0), view.result(0));
    let of = |ty: Type| lowered(cx, ty).ok().flatten().unwrap_or(ty);
    let (from, to) = (of(rw.body().ty(input)), of(rw.body().ty(result)));
    if from == to {
        return rw.replace_op(op, &[input]);
    }
    rw.set_before(op);
    let cast = BitcastOp::value(rw, loc, input, to);
    rw.replace_op(op, &[cast]);
}

/// Arithmetic in the place of a cast.
pub(super) fn cast(rw: &mut Rewriter<'_>, op: Op, ty: &UniformType) -> Result<(), Fault> {
    let cx = rw.cx();
    let view = rw.op_ref(op);
    let kinds = Kinds::of(cx, ty)?;
    let (loc, input, dequantizes) = (view.loc(), view.operand(0), view.is::<DequantizeCastOp<'_>>());
    let result = view.ty(view.result(0));
    let result = lowered(cx, result).ok().flatten().unwrap_or(result);
    rw.set_before(op);
    let cast = Cast { ty, kinds, loc, dequantizes };
    let made = match cx.shape(result) {
        Some(_) => cast.tensor(rw, input, result)?,
        None => {
            let [affine] = ty.scheme.affine() else { return Err(Fault::invalid_ir("casts a scalar by many scales")) };
            let mut numbers = cast.numbers(rw, affine)?;
            numbers.insert(0, input);
            cast.number(rw, &numbers)?
        }
    };
    rw.replace_op(op, &[made]);
    Ok(())
}

struct Cast<'c> {
    ty: &'c UniformType,
    kinds: Kinds,
    loc: Loc,
    dequantizes: bool,
}

/// A tensor that a function of elements reads, and where.
struct Input {
    value: Value,
    map: AffineMap,
    elem: Type,
}

impl Cast<'_> {
    /// Scale and zero point.
    fn numbers(&self, rw: &mut Rewriter<'_>, affine: &Affine) -> Result<Vec<Value>, Fault> {
        use sutura_dialects::quant::numbers::Numbers;
        let mut ops = Ops { rw, loc: self.loc };
        Ok(vec![ops.constant(self.kinds.scale(affine))?, ops.constant(self.kinds.zero(affine))?])
    }

    /// The cast of a number, given with scale and zero point.
    fn number(&self, rw: &mut Rewriter<'_>, args: &[Value]) -> Result<Value, Fault> {
        let [number, scale, zero] = args else { return Err(Fault::invalid_ir("casts no number")) };
        let mut ops = Ops { rw, loc: self.loc };
        match self.dequantizes {
            true => self.kinds.dequantize(&mut ops, number, scale, zero),
            false => self.kinds.quantize(&mut ops, number, scale, zero),
        }
    }

    /// The cast of a tensor: one of which dimensions of blocks are two, in between.
    fn tensor(&self, rw: &mut Rewriter<'_>, input: Value, result: Type) -> Result<Value, Fault> {
        let cx = rw.cx();
        let declared = symbolic_shape(cx, result).unwrap_or_default();
        let scales = along(self.ty, declared.len()).map_err(Fault::shape)?;
        let split = |along: &Along| along.count > 1 && along.block.is_some_and(|block| block > 1);
        let (mut dims, mut at) = (Vec::new(), Vec::new());
        for (along, size) in scales.iter().zip(&declared) {
            at.push(dims.len());
            match along.block.filter(|_| split(along)) {
                Some(block) => dims.extend([Some(Poly::constant(along.count)), Some(Poly::constant(block))]),
                None => dims.push(along.size().map(Poly::constant).or_else(|| size.clone())),
            }
        }
        let is_split = dims.len() > declared.len();
        let elem = cx.element_type(result);
        let (mut input, mut shaped) = (input, result);
        if is_split {
            let given = rw.body().ty(input);
            let from = lowered(cx, given).ok().flatten().unwrap_or(given);
            input = self.reshaped(rw, input, tensor_of(cx, &dims, cx.element_type(from)));
            shaped = tensor_of(cx, &dims, elem);
        }
        let made = self.elementwise(rw, input, &scales, &at, shaped, dims.len())?;
        Ok(if is_split { self.reshaped(rw, made, result) } else { made })
    }

    fn reshaped(&self, rw: &mut Rewriter<'_>, value: Value, ty: Type) -> Value {
        let state = OpState::new(rw.cx().op_name("graph.reshape"), self.loc).operands([value]).results([ty]);
        let made = rw.create(state);
        rw.body().result(made, 0)
    }

    /// A function of elements; scale `i` along dimension `d` is that of elements at `i` along dimension `at[d]`.
    fn elementwise(
        &self,
        rw: &mut Rewriter<'_>,
        input: Value,
        scales: &[Along],
        at: &[usize],
        result: Type,
        rank: usize,
    ) -> Result<Value, Fault> {
        let cx = rw.cx();
        let stored = self.kinds.stored.to_type(cx);
        let elem = if self.dequantizes { stored } else { self.ty.expressed };
        let mut inputs = vec![Input { value: input, map: cx.identity_map(rank as u32), elem }];
        let affine = self.ty.scheme.affine();
        if affine.len() > 1 {
            let counted: Vec<usize> = (0..scales.len()).filter(|dim| scales[*dim].count > 1).collect();
            let sizes: Vec<i64> = counted.iter().map(|dim| scales[*dim].count).collect();
            let exprs: Vec<_> = counted.iter().map(|dim| cx.affine_dim(at[*dim] as u32)).collect();
            let map = cx.affine_map(rank as u32, 0, &exprs);
            let of: [fn(&Kinds, &Affine) -> Scalar; 2] = [Kinds::scale, Kinds::zero];
            for of in of {
                let numbers: Vec<Scalar> = affine.iter().map(|affine| of(&self.kinds, affine)).collect();
                let value = self.constant(rw, &numbers, &sizes)?;
                inputs.push(Input { value, map, elem: numbers[0].dtype().to_type(cx) });
            }
        }
        let values: Vec<Value> = inputs.iter().map(|input| input.value).collect();
        let maps: Vec<AffineMap> = inputs.iter().map(|input| input.map).chain([cx.identity_map(rank as u32)]).collect();
        let iterators = IteratorsAttr { kinds: vec![IteratorKind::Parallel; rank] };
        let state = ComputeOp::state(rw, self.loc, &values, iterators, &maps, &[result], 0);
        let made = rw.create(state);
        let point = rw.insert_point();
        let region = rw.body().regions(made).next().ok_or_else(|| Fault::invalid_ir("has no body"))?;
        let types: Vec<(Type, Loc)> = inputs.iter().map(|input| (input.elem, self.loc)).collect();
        let block = rw.create_block(region, &types);
        rw.set_to_end(block);
        let mut args = rw.body().block_args(block).to_vec();
        if let [affine] = affine {
            args.extend(self.numbers(rw, affine)?);
        }
        let number = self.number(rw, &args)?;
        YieldOp::build(rw, self.loc, &[number]);
        rw.set_insert_point(point);
        Ok(rw.body().result(made, 0))
    }

    /// Numbers, row-major, as a constant.
    fn constant(&self, rw: &mut Rewriter<'_>, numbers: &[Scalar], sizes: &[i64]) -> Result<Value, Fault> {
        let cx: &Context = rw.cx();
        let dtype: DType = numbers[0].dtype();
        let words: Vec<u64> = numbers.iter().map(|number| number.bits()).collect();
        let ty = cx.tensor_type(sizes, dtype.to_type(cx), None);
        let value = cx.dense_attr(ty, &words).ok_or_else(|| Fault::invalid_ir("are no elements of a constant"))?;
        Ok(ConstantOp::value(rw, self.loc, value))
    }
}
