//! Ops that a library routine of the runtime computes: sizes, checks and interpretation from the table of routines.

use std::cell::RefCell;
use std::fmt;

use sutura_interp::{DType, Fault, Flow, Frame, Interpret, Tensor};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::OpView;
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{OpRef, Type, Value};

use super::interp::{Ran, broken, set, size_value, symbols};
use super::shape_fn::{Inferred, Requirement, ShapeEnv, ShapeFn, SymShape};
use super::verify::{check_encodings, differ, fail};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::known_dims;
use crate::routines::table::{Arguments, Elem, Number, Routine, Typed};

/// An op that a routine computes: an interface. Its operands are the routine's inputs and its results the routine's outputs.
pub trait RoutineOp: Send + Sync {
    /// The routine, with what is known of its parameters.
    ///
    /// # Errors
    /// Says what is wrong with the op.
    fn call(&self, op: OpRef<'_>, env: &ShapeEnv) -> Result<RoutineCall, String>;

    /// Equalities of sizes without which the op has no meaning, beyond those of the routine's declaration.
    fn required(&self, _op: OpRef<'_>, _env: &ShapeEnv) -> Vec<Requirement> {
        Vec::new()
    }
}

/// A routine with its parameters.
#[derive(Clone, Debug)]
pub struct RoutineCall {
    /// The routine's declaration.
    pub routine: &'static Routine,
    /// The numbers of each parameter, in the order of the declaration, `None` where unknown.
    pub params: Vec<Vec<Option<Poly>>>,
}

impl RoutineCall {
    /// A routine of the table with these parameters, of which each has one number.
    pub(super) fn new(name: &str, version: i64, params: Vec<Vec<Option<Poly>>>) -> Result<Self, String> {
        Ok(Self { routine: crate::routines::find(name, version)?, params })
    }

    /// The parameters where all are known.
    pub fn known(&self) -> Option<Vec<Vec<Poly>>> {
        self.params.iter().map(|numbers| numbers.iter().cloned().collect()).collect()
    }
}

/// What the size that an op mentions by itself is called in its properties, unless it is one of several (`sizes`).
pub const SIZE: &str = "size";

/// The size that an op which a routine computes mentions, as a list.
pub(super) fn mentioned_size(op: OpRef<'_>) -> Vec<Poly> {
    let size = op.prop(SIZE).filter(|_| op.interface::<dyn RoutineOp>().is_some());
    size.and_then(|size| known_dims(op.cx, size)).unwrap_or_default()
}

/// Numbers as the numbers of a parameter.
pub(super) fn constants(values: &[i64]) -> Vec<Option<Poly>> {
    values.iter().map(|value| Some(Poly::constant(*value))).collect()
}

/// A size of which nothing may be known.
#[derive(Clone)]
struct Maybe(Option<Poly>);

impl fmt::Display for Maybe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(size) => size.fmt(f),
            None => f.write_str("?"),
        }
    }
}

impl Number for Maybe {
    fn constant(value: i64) -> Self {
        Self(Some(Poly::constant(value)))
    }

    fn known(&self) -> Option<i64> {
        self.0.as_ref()?.as_const()
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        let sum = self.0.as_ref().zip(other.0.as_ref()).and_then(|(a, b)| a.plus(b));
        Some(Self(sum))
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let product = self.0.as_ref().zip(other.0.as_ref()).and_then(|(a, b)| a.times(b));
        Some(Self(product))
    }

    fn least(&self, other: &Self) -> Self {
        Self(self.0.as_ref().zip(other.0.as_ref()).map(|(a, b)| a.lesser(b)))
    }
}

/// What is known of an op's operands, and its routine.
struct Known {
    call: RoutineCall,
    inputs: Vec<(Type, bool, Vec<Maybe>)>,
    params: Vec<Vec<Maybe>>,
}

impl Known {
    fn of(op: OpRef<'_>, env: &ShapeEnv) -> Result<Self, String> {
        let function = op.interface::<dyn RoutineOp>().ok_or("is computed by no routine")?;
        let call = function.call(op, env)?;
        let input = |value: Value| {
            let elem = op.cx.element_type(op.ty(value));
            let dims = env.shape(op, value).unwrap_or_default().into_iter().map(Maybe).collect();
            (elem, elem.is_float(op.cx), dims)
        };
        let inputs = op.operands().map(input).collect();
        let params = call.params.iter().map(|numbers| numbers.iter().cloned().map(Maybe).collect()).collect();
        Ok(Self { call, inputs, params })
    }

    fn with<R>(&self, look: impl FnOnce(&Routine, &Arguments<'_, Maybe, Type>) -> R) -> R {
        let typed = self.inputs.iter().map(|(elem, is_float, dims)| Typed { elem: *elem, is_float: *is_float, dims });
        let typed: Vec<Typed<'_, Maybe, Type>> = typed.collect();
        look(self.call.routine, &Arguments { inputs: &typed, params: &self.params })
    }

    /// Element type, where it follows from the inputs, and sizes of each result. The inputs fit.
    fn results(&self) -> Vec<(Option<Type>, SymShape)> {
        self.with(|routine, arguments| {
            let outputs = routine.outputs_of(self.inputs.len()).into_iter().enumerate();
            let result = |(i, (elem, rule)): (usize, (Option<Elem>, _))| {
                let elem = match elem {
                    None => Some(self.inputs[i].0),
                    Some(Elem::First) => Some(self.inputs[0].0),
                    Some(Elem::Int64) => Some(Type::I64),
                    Some(Elem::Any | Elem::Float) => None,
                };
                let dims = arguments.dims(routine, rule).flatten().unwrap_or_default();
                (elem, dims.into_iter().map(|size| size.0).collect())
            };
            outputs.map(result).collect()
        })
    }
}

/// Checks an op against the routine that computes it.
pub(super) fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    check_encodings(op, diags)?;
    let known = Known::of(op, &ShapeEnv::default()).and_then(|known| {
        let equal = |a: &Maybe, b: &Maybe| !differ(&a.0, &b.0);
        known.with(|routine, arguments| arguments.check(routine, &equal))?;
        Ok(known)
    });
    let known = match known {
        Ok(known) => known,
        Err(reason) => return fail(op, diags, reason),
    };
    let wanted = known.results();
    if wanted.len() != op.num_results() {
        return fail(op, diags, format_args!("makes {} results, not {}", wanted.len(), op.num_results()));
    }
    for (i, ((elem, dims), result)) in wanted.iter().zip(op.results()).enumerate() {
        let found = op.cx.element_type(op.ty(result));
        if let Some(elem) = elem.filter(|elem| *elem != found) {
            let elem = crate::show::ty(op.cx, elem);
            return fail(op, diags, format_args!("result {i} must have elements of type {elem}"));
        }
        let given = crate::r#dyn::attr::symbolic_shape(op.cx, op.ty(result)).unwrap_or_default();
        if given.len() != dims.len() {
            return fail(op, diags, format_args!("result {i} must have rank {}, not {}", dims.len(), given.len()));
        }
        if let Some(dim) = dims.iter().zip(&given).position(|(a, b)| differ(a, b)) {
            let size = dims[dim].clone().unwrap_or_default();
            return fail(op, diags, format_args!("dimension {dim} of result {i} must have size {size}"));
        }
    }
    Ok(())
}

/// The shape function of every op that a routine computes.
struct RoutineShape;

impl ShapeFn for RoutineShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let Ok(known) = Known::of(op, env) else { return Inferred::default() };
        let required = RefCell::new(Vec::new());
        let equal = |a: &Maybe, b: &Maybe| {
            if let (Some(lhs), Some(rhs)) = (&a.0, &b.0)
                && lhs != rhs
            {
                let what = "sizes of inputs that must be the same".to_owned();
                required.borrow_mut().push(Requirement { lhs: lhs.clone(), rhs: rhs.clone(), what });
            }
            true
        };
        if known.with(|routine, arguments| arguments.check(routine, &equal)).is_err() {
            return Inferred::default();
        }
        let shapes: Vec<SymShape> = known.results().into_iter().map(|(_, dims)| dims).collect();
        let contents = vec![None; shapes.len()];
        let mut required = required.into_inner();
        required.extend(op.interface::<dyn RoutineOp>().map(|routine| routine.required(op, env)).unwrap_or_default());
        Inferred { shapes, contents, required, quotients: Vec::new() }
    }
}

/// The interpretation of every op that a routine computes.
struct RoutineHook;

impl Interpret for RoutineHook {
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Ran {
        let Some(function) = op.interface::<dyn RoutineOp>() else { return broken().map_err(Into::into) };
        let symbols = symbols(frame)?;
        let mut env = ShapeEnv::default();
        let mut inputs: Vec<Tensor> = Vec::with_capacity(op.num_operands());
        for (i, value) in op.operands().enumerate() {
            let input = frame.tensor(i)?.clone();
            env.set_shape(value, input.shape().iter().map(|size| Some(Poly::constant(*size as i64))).collect());
            inputs.push(input);
        }
        let call = function.call(op, &env).map_err(Fault::invalid_ir)?;
        let mut params = Vec::with_capacity(call.params.len());
        for numbers in &call.params {
            let number = |size: &Option<Poly>| match size {
                Some(size) => size_value(size, &symbols),
                None => Err(Fault::unsupported("a parameter of the routine is not known")),
            };
            params.push(numbers.iter().map(number).collect::<Result<Vec<i64>, Fault>>()?);
        }
        frame.charge(inputs.iter().map(|input| input.len() as u64).sum())?;
        let elems = op.results().map(|v| DType::expect(op.cx, op.cx.element_type(op.ty(v))));
        let elems: Vec<DType> = elems.collect::<Result<_, Fault>>()?;
        for (i, made) in crate::routines::interpret(call.routine, &inputs, &params, &elems)?.into_iter().enumerate() {
            set(frame, i, made, &symbols)?;
        }
        Ok(Flow::Next)
    }
}

/// Attaches what follows from the table to an op whose routine `function` tells.
pub(super) fn register<'a, T: OpView<'a>>(d: &mut DialectBuilder<'_>, function: &'static dyn RoutineOp) {
    d.op_interface::<T, dyn RoutineOp>(function)
        .op_interface::<T, dyn ShapeFn>(&RoutineShape)
        .op_interface::<T, dyn Interpret>(&RoutineHook);
}
