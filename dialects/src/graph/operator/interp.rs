//! What applying an operator does: its body is run as it is written, at the collapsed rank, on the element type of the inputs.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use sutura_interp::tensor::Shape;
use sutura_interp::{Fault, Flow, Frame, InterpError, Interpret, Tensor, Value};
use sutura_ir::op_ref::RegionRef;
use sutura_ir::{Attr, Body, Context, Loc, OpRef, Rewriter, Type};

use super::super::build::{Built, GraphBuilder};
use super::super::interp::{Ran, broken, product, set, symbols};
use super::super::ops::YieldOp;
use super::super::shape_fn::{ShapeEnv, SymShape};
use super::nested::applied;
use super::{Actual, ApplyOp, Binding, Operator, bind, lift};
use crate::r#dyn::attr::tensor_of;
use crate::r#dyn::{Facts, Poly};

pub(super) struct ApplyHook;

/// Bodies of operators for the element types and attributes that a run met: they live as long as what was decoded from them.
#[derive(Default)]
struct Instances(FxHashMap<(usize, Type, Attr), Arc<Body>>);

impl Interpret for ApplyHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(apply) = op.as_::<ApplyOp<'_>>() else { return broken().map_err(Into::into) };
        let (cx, outer) = (op.cx, symbols(frame)?);
        let declared = frame.lookup(apply.callee_attr())?;
        let operator = Operator::read(declared).map_err(Fault::invalid_ir)?;
        let tensors: Vec<Tensor> =
            (0..op.num_operands()).map(|i| frame.tensor(i).cloned()).collect::<Result<_, Fault>>()?;
        let actual = |(ty, tensor): (Type, &Tensor)| Actual {
            elem: cx.element_type(ty),
            shape: tensor.shape().iter().map(|size| Some(Poly::constant(*size as i64))).collect(),
        };
        let inputs: Vec<Actual> = op.operand_types().zip(&tensors).map(actual).collect();
        let attributes = op.body.attrs(op.op);
        let bound = bind(cx, &operator, &inputs, cx.entries(attributes), &mut Facts::new());
        let binding = bound.map_err(|error| Fault::shape(format!("@{}: {error}", operator.name)))?;
        let body = instance(frame, declared, &operator, &binding, attributes)?;
        let mut args = Vec::new();
        for (i, tensor) in tensors.iter().enumerate() {
            args.push(Value::Tensor(collapsed(&operator, &binding, i, tensor)?));
        }
        let results =
            frame.run_region(RegionRef { cx, body: &body, region: body.region() }, args.into_iter().collect())?;
        for (i, (value, result)) in results.into_iter().zip(&operator.results).enumerate() {
            let shape = constants(&binding.shape(&operator, &result.sizes))?;
            set(frame, i, value.tensor()?.reshape(&shape)?, &outer)?;
        }
        Ok(Flow::Next)
    }
}

/// The body of the operator, with its element type and attributes replaced by those of the application.
fn instance<'f>(
    frame: &mut Frame<'f>,
    declared: OpRef<'f>,
    operator: &Operator,
    binding: &Binding,
    attributes: Attr,
) -> Result<Arc<Body>, InterpError> {
    let key = (std::ptr::from_ref(declared.inside()) as usize, binding.elem, attributes);
    if let Some(body) = frame.extension::<Instances>().0.get(&key) {
        return Ok(body.clone());
    }
    let inner = inner_operators(frame, declared)?;
    let made =
        instantiate(declared, operator, binding, &inner).map_err(|error| Fault::unsupported(error.to_string()))?;
    let made = Arc::new(made);
    frame.extension::<Instances>().0.insert(key, made.clone());
    Ok(made)
}

/// The operators that `declared` applies, and those that these apply, by name.
fn inner_operators<'f>(frame: &mut Frame<'f>, declared: OpRef<'f>) -> Result<Inner<'f>, Fault> {
    let mut found = Inner::default();
    let mut open = applied(declared);
    while let Some(apply) = open.pop() {
        if found.contains_key(apply.callee()) {
            continue;
        }
        let declared = frame.lookup(apply.callee_attr())?;
        let operator = Operator::read(declared).map_err(Fault::invalid_ir)?;
        open.extend(applied(declared));
        found.insert(apply.callee().to_string(), (operator, declared));
    }
    Ok(found)
}

/// Operators that an operator applies.
type Inner<'f> = FxHashMap<String, (Operator, OpRef<'f>)>;

fn instantiate(declared: OpRef<'_>, operator: &Operator, binding: &Binding, inner: &Inner<'_>) -> Built<Body> {
    let cx: &Context = declared.cx;
    let binding = Binding::collapsed(operator, binding.elem, binding.attributes.clone());
    let mut body = Body::new(1);
    let region = body.region();
    let mut rw = Rewriter::new(cx, &mut body);
    let input = |formal: &super::Formal| {
        let elem = operator.retyped(cx, formal.elem, binding.elem);
        (tensor_of(cx, &binding.shape(operator, &formal.sizes), elem), Loc::UNKNOWN)
    };
    let block = rw.create_block(region, &operator.inputs.iter().map(input).collect::<Vec<_>>());
    rw.set_to_end(block);
    let args = rw.body().block_args(block).to_vec();
    let find = |name: &str| {
        let (operator, declared) = inner.get(name)?;
        Some((operator, declared.region(0)?.entry()?))
    };
    if let Some(entry) = declared.region(0).and_then(|r| r.entry()) {
        let mut g = GraphBuilder::new(&mut rw, ShapeEnv::new(Facts::new()), declared.loc());
        let results = lift(&mut g, operator, entry, &binding, &args, (declared.loc(), &find))?;
        YieldOp::build(&mut rw, declared.loc(), &results);
    }
    Ok(body)
}

fn constants(shape: &SymShape) -> Result<Shape, Fault> {
    let size = |size: &Option<Poly>| size.as_ref().and_then(Poly::as_const).and_then(|size| usize::try_from(size).ok());
    let sizes = shape.iter().map(|dim| size(dim).ok_or_else(|| Fault::invalid_ir("has a size that no input tells")));
    sizes.collect()
}

/// An input at the rank of the declaration, stretched where it is.
fn collapsed(operator: &Operator, binding: &Binding, input: usize, tensor: &Tensor) -> Result<Tensor, Fault> {
    let sizes = &operator.inputs[input].sizes;
    let whole = constants(&binding.shape(operator, sizes))?;
    let tensor = match &binding.stretched[input] {
        Some(_) => stretched(tensor, &whole)?,
        None => tensor.clone(),
    };
    let group = |size: &Poly| binding.shape(operator, std::slice::from_ref(size));
    let shape = sizes.iter().map(|size| Ok(product(&constants(&group(size))?)));
    tensor.reshape(&shape.collect::<Result<Shape, Fault>>()?)
}

/// The tensor with dimensions of size 1, and those it lacks before its first, repeated to fill `shape`.
fn stretched(tensor: &Tensor, shape: &[usize]) -> Result<Tensor, Fault> {
    let mut out = Tensor::zeros(tensor.dtype(), shape)?;
    if out.is_empty() || tensor.shape() == shape {
        return Ok(if out.is_empty() { out } else { tensor.clone() });
    }
    let missing = shape.len() - tensor.rank();
    let mut index: Shape = shape.iter().map(|_| 0).collect();
    let (mut at, data) = (0, out.data_mut());
    loop {
        let place = tensor.shape().iter().zip(&index[missing..]);
        let from = place.fold(0, |from, (size, i)| from * size + if *size == 1 { 0 } else { *i });
        data.copy_range(at, tensor.data(), from, 1);
        at += 1;
        if !sutura_interp::tensor::next_index(&mut index, shape) {
            return Ok(out);
        }
    }
}
