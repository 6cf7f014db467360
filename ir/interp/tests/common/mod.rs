//! A small dialect for tests, and how to build with it.
#![allow(dead_code)]

use sutura_interp::*;
use sutura_ir::op_def::{OpDef, Traits};
use sutura_ir::{Block, Body, Builder, Context, Dialect, DialectBuilder, Loc, Module, OpRef, OpState, Registry, Type};

const fn op(name: &'static str, traits: Traits) -> OpDef {
    OpDef {
        name,
        summary: "",
        description: "",
        type_vars: &[],
        operands: &[],
        results: &[],
        attrs: &[],
        regions: &[],
        successors: &[],
        traits,
        parents: &[],
        default_dialect: None,
        implicit_terminator: None,
        format: None,
        verify: None,
        verify_regions: None,
        fold: None,
        infer: None,
        canonicalize: None,
    }
}

pub(crate) static FUNC: OpDef = op("t.func", Traits::IsolatedFromAbove.with(Traits::Symbol));
pub(crate) static RETURN: OpDef = op("t.return", Traits::Terminator);
pub(crate) static CONST: OpDef = op("t.const", Traits::ConstantLike);
pub(crate) static ADD: OpDef = op("t.add", Traits::Pure);
pub(crate) static DIV: OpDef = op("t.div", Traits::NONE);
pub(crate) static CALL: OpDef = op("t.call", Traits::NONE);
pub(crate) static BR: OpDef = op("t.br", Traits::Terminator);
pub(crate) static COND_BR: OpDef = op("t.cond_br", Traits::Terminator);
pub(crate) static REPEAT: OpDef = op("t.repeat", Traits::NONE);
pub(crate) static INSERT: OpDef = op("t.insert", Traits::NONE);
pub(crate) static MUTE: OpDef = op("t.mute", Traits::NONE);
pub(crate) static ADDF: OpDef = op("t.addf", Traits::Pure);
pub(crate) static MULF: OpDef = op("t.mulf", Traits::Pure);
pub(crate) static INDEX: OpDef = op("t.index", Traits::Pure);
pub(crate) static STORE: OpDef = op("t.store", Traits::NONE);

fn call(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let args = frame.take_operands()?;
    let callee = op.prop("callee").ok_or_else(|| Fault::invalid_ir("no callee"))?;
    let results = frame.call_ref(callee, args)?;
    frame.set_results(results)?;
    Ok(Flow::Next)
}

fn br(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    Ok(Flow::Branch(op.successors()[0], frame.take_operands()?))
}

/// Operand 0 is the condition; the others go to the block chosen.
fn cond_br(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let taken = usize::from(!frame.operand(0)?.as_bool()?);
    Ok(Flow::Branch(op.successors()[taken], frame.take_range(1..op.num_operands())?))
}

/// Runs its region operand 0 times, carrying operand 1; counts the trips in an extension.
fn repeat(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let times = frame.int(0)?;
    let mut carried: Values = frame.take_range(1..op.num_operands())?;
    let body = op.region(0).ok_or_else(|| Fault::invalid_ir("no region"))?;
    for _ in 0..times {
        carried = frame.run_region(body, carried)?;
        frame.extension::<Trips>().0 += 1;
    }
    frame.set_results(carried)?;
    Ok(Flow::Next)
}

#[derive(Default)]
pub(crate) struct Trips(pub u64);

/// How often [`insert`] found its tensor shared.
#[derive(Default)]
pub(crate) struct Copies(pub u64);

/// Writes operand 1 to the first element of tensor operand 0; counts how often the elements had to be copied.
fn insert(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let value = frame.operand(1)?.scalar()?;
    let mut tensor = frame.take_tensor(0)?;
    let before = std::ptr::from_ref(tensor.data());
    tensor.data_mut().set(0, Some(value));
    frame.extension::<Copies>().0 += u64::from(!std::ptr::eq(before, tensor.data()));
    frame.set(0, Value::Tensor(tensor))?;
    Ok(Flow::Next)
}

/// Writes operand 0 to the first element of memref operand 1.
fn store(_: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (value, memref) = (frame.operand(0)?.scalar()?, frame.memref(1)?);
    frame.memory().store(&memref, &[0], Some(value))?;
    Ok(Flow::Next)
}

/// The index along the first iterator.
struct FirstIndex;
impl ScalarMeaning for FirstIndex {
    fn meaning(&self, _: OpRef<'_>) -> Result<smallvec::SmallVec<[Meaning; 1]>, Fault> {
        Ok(smallvec::smallvec![Meaning::Index(0)])
    }
}

/// Attaches a hook that is also a scalar meaning.
fn attach<T: Interpret + ScalarMeaning>(d: &mut DialectBuilder<'_>, name: &'static str, hook: &'static T) {
    d.interface::<dyn Interpret>(name, hook).interface::<dyn ScalarMeaning>(name, hook);
}

pub(crate) struct TestDialect;
impl Dialect for TestDialect {
    const NAME: &'static str = "t";
    fn register(d: &mut DialectBuilder<'_>) {
        for def in [
            &FUNC, &RETURN, &CONST, &ADD, &DIV, &CALL, &BR, &COND_BR, &REPEAT, &INSERT, &MUTE, &ADDF, &MULF, &INDEX,
            &STORE,
        ] {
            d.op_def(def);
        }
        d.interface::<dyn Interpret>("t.return", &YieldOp);
        attach(d, "t.const", &ConstantOp);
        attach(d, "t.add", &Elementwise(|_| Ok(NumOp::AddI(num::Overflow::WRAP))));
        attach(d, "t.addf", &Elementwise(|_| Ok(NumOp::AddF)));
        attach(d, "t.mulf", &Elementwise(|_| Ok(NumOp::MulF)));
        d.interface::<dyn Interpret>("t.div", &Elementwise(|_| Ok(NumOp::DivSI { exact: false })));
        d.interface::<dyn Interpret>("t.call", &call);
        d.interface::<dyn Interpret>("t.store", &store);
        d.interface::<dyn ScalarMeaning>("t.index", &FirstIndex);
        d.interface::<dyn Interpret>("t.br", &br);
        d.interface::<dyn Interpret>("t.cond_br", &cond_br);
        d.interface::<dyn Interpret>("t.repeat", &repeat);
        d.interface::<dyn Interpret>("t.insert", &insert);
    }
}

pub(crate) fn context() -> Context {
    Context::new(Registry::default().with::<TestDialect>())
}

/// Adds `t.func @name`, whose entry block has arguments of the given types, and lets `build` fill it.
pub(crate) fn add_func(
    cx: &Context,
    module: &mut Module,
    name: &str,
    args: &[Type],
    build: impl FnOnce(&mut Builder<'_>, Block, &[sutura_ir::Value]),
) {
    let mut body = Box::new(Body::with_block(1));
    let entry = body.entry_block().unwrap();
    let mut b = Builder::at_end(cx, &mut body, entry);
    let args: Vec<_> = args.iter().map(|&ty| b.add_block_arg(entry, ty, Loc::UNKNOWN)).collect();
    build(&mut b, entry, &args);
    let top = module.body().entry_block().unwrap();
    let state = OpState::of(cx, &FUNC, Loc::UNKNOWN).prop(cx.ident("sym_name"), cx.string_attr(name));
    Builder::at_end(cx, module.body_mut(), top).create_isolated(state, body);
}

pub(crate) fn emit(
    b: &mut Builder<'_>,
    def: &'static OpDef,
    args: &[sutura_ir::Value],
    types: &[Type],
) -> Vec<sutura_ir::Value> {
    let state = OpState::of(b.cx(), def, Loc::UNKNOWN).operands(args.iter().copied()).results(types.iter().copied());
    let op = b.create(state);
    b.body().results(op).collect()
}

pub(crate) fn constant(b: &mut Builder<'_>, value: i64, ty: Type) -> sutura_ir::Value {
    let (cx, name) = (b.cx(), b.cx().ident("value"));
    let state = OpState::of(cx, &CONST, Loc::UNKNOWN).results([ty]).prop(name, cx.int_attr(value, ty));
    let op = b.create(state);
    b.body().result(op, 0)
}

pub(crate) fn module(cx: &Context) -> Module {
    Module::new(cx, Loc::UNKNOWN)
}
