//! The engine on a small dialect of its own: control flow, calls, limits, errors.

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

static FUNC: OpDef = op("t.func", Traits::IsolatedFromAbove.with(Traits::Symbol));
static RETURN: OpDef = op("t.return", Traits::Terminator);
static CONST: OpDef = op("t.const", Traits::ConstantLike);
static ADD: OpDef = op("t.add", Traits::Pure);
static DIV: OpDef = op("t.div", Traits::NONE);
static CALL: OpDef = op("t.call", Traits::NONE);
static BR: OpDef = op("t.br", Traits::Terminator);
static COND_BR: OpDef = op("t.cond_br", Traits::Terminator);
static REPEAT: OpDef = op("t.repeat", Traits::NONE);
static INSERT: OpDef = op("t.insert", Traits::NONE);
static MUTE: OpDef = op("t.mute", Traits::NONE);

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
struct Trips(u64);

/// How often [`insert`] found its tensor shared.
#[derive(Default)]
struct Copies(u64);

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

struct TestDialect;
impl Dialect for TestDialect {
    const NAME: &'static str = "t";
    fn register(d: &mut DialectBuilder<'_>) {
        for def in [&FUNC, &RETURN, &CONST, &ADD, &DIV, &CALL, &BR, &COND_BR, &REPEAT, &INSERT, &MUTE] {
            d.op_def(def);
        }
        d.interface::<dyn Interpret>("t.return", &YieldOp);
        d.interface::<dyn Interpret>("t.const", &ConstantOp);
        d.interface::<dyn Interpret>("t.add", &Elementwise(|_| Ok(NumOp::AddI(num::Overflow::WRAP))));
        d.interface::<dyn Interpret>("t.div", &Elementwise(|_| Ok(NumOp::DivSI { exact: false })));
        d.interface::<dyn Interpret>("t.call", &call);
        d.interface::<dyn Interpret>("t.br", &br);
        d.interface::<dyn Interpret>("t.cond_br", &cond_br);
        d.interface::<dyn Interpret>("t.repeat", &repeat);
        d.interface::<dyn Interpret>("t.insert", &insert);
    }
}

fn context() -> Context {
    Context::new(Registry::default().with::<TestDialect>())
}

/// Adds `t.func @name`, whose entry block has arguments of the given types, and lets `build` fill it.
fn add_func(
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

fn emit(b: &mut Builder<'_>, def: &'static OpDef, args: &[sutura_ir::Value], types: &[Type]) -> Vec<sutura_ir::Value> {
    let state = OpState::of(b.cx(), def, Loc::UNKNOWN).operands(args.iter().copied()).results(types.iter().copied());
    let op = b.create(state);
    b.body().results(op).collect()
}

fn constant(b: &mut Builder<'_>, value: i64, ty: Type) -> sutura_ir::Value {
    let (cx, name) = (b.cx(), b.cx().ident("value"));
    let state = OpState::of(cx, &CONST, Loc::UNKNOWN).results([ty]).prop(name, cx.int_attr(value, ty));
    let op = b.create(state);
    b.body().result(op, 0)
}

fn module(cx: &Context) -> Module {
    Module::new(cx, Loc::UNKNOWN)
}

#[test]
fn runs_blocks_and_calls() {
    let cx = context();
    let mut m = module(&cx);
    add_func(&cx, &mut m, "twice", &[Type::I32], |b, _, args| {
        let sum = emit(b, &ADD, &[args[0], args[0]], &[Type::I32]);
        emit(b, &RETURN, &sum, &[]);
    });
    // Branches to one of two blocks, both of which call @twice, on another number.
    add_func(&cx, &mut m, "main", &[Type::I1, Type::I32], |b, entry, args| {
        let region = b.body().block_region(entry).unwrap();
        let left = b.create_block(region, &[(Type::I32, Loc::UNKNOWN)]);
        let right = b.create_block(region, &[(Type::I32, Loc::UNKNOWN)]);
        let state = OpState::of(&cx, &COND_BR, Loc::UNKNOWN).operands(args.iter().copied()).successors([left, right]);
        b.create(state);
        for (block, add) in [(left, 1), (right, 100)] {
            b.set_to_end(block);
            let arg = b.body().block_args(block)[0];
            let n = constant(b, add, Type::I32);
            let sum = emit(b, &ADD, &[arg, n], &[Type::I32]);
            let state = OpState::of(&cx, &CALL, Loc::UNKNOWN)
                .operands(sum)
                .results([Type::I32])
                .prop(cx.ident("callee"), cx.symbol_ref("twice"));
            let op = b.create(state);
            let result = b.body().result(op, 0);
            emit(b, &RETURN, &[result], &[]);
        }
    });
    let mut interp = Interpreter::new(&cx, &m);
    let run = |interp: &mut Interpreter<'_>, c| {
        interp.call("main", &[Value::bool(c), Value::int(5, 32)]).unwrap()[0].as_int().unwrap()
    };
    assert_eq!(run(&mut interp, true), 12);
    assert_eq!(run(&mut interp, false), 210);
    let error = interp.call("main", &[Value::bool(true)]).unwrap_err();
    assert_eq!(error.message(), "@main takes 2 arguments and got 1");
    let error = interp.call("main", &[Value::bool(true), Value::index(5)]).unwrap_err();
    assert!(error.message().starts_with("argument 1 of @main"), "{error}");
    let error = interp.call("absent", &[]).unwrap_err();
    assert_eq!((error.kind(), error.message()), (FaultKind::Call, "no symbol @absent is defined"));
}

/// `@loop(n, t)`: inserts n into t, n times, through a loop-carried tensor.
fn loop_module(cx: &Context) -> Module {
    let mut m = module(cx);
    let tensor = cx.tensor_type(&[1000], Type::INDEX, None);
    add_func(cx, &mut m, "loop", &[Type::INDEX, tensor], |b, _, args| {
        let state = OpState::of(cx, &REPEAT, Loc::UNKNOWN).operands(args.iter().copied()).results([tensor]).regions(1);
        let op = b.create(state);
        let result = b.body().result(op, 0);
        let region = b.body().regions(op).next().unwrap();
        let block = b.create_block(region, &[(tensor, Loc::UNKNOWN)]);
        b.set_to_end(block);
        let arg = b.body().block_args(block)[0];
        let inserted = emit(b, &INSERT, &[arg, args[0]], &[tensor]);
        emit(b, &RETURN, &inserted, &[]);
        b.set_after(op);
        emit(b, &RETURN, &[result], &[]);
    });
    m
}

#[test]
fn loop_carried_tensors_change_in_place() {
    let cx = context();
    let m = loop_module(&cx);
    let input = Tensor::zeros(DType::Index, &[1000]).unwrap();
    let mut interp = Interpreter::new(&cx, &m);
    let out = interp.call("loop", &[Value::index(50), Value::Tensor(input.clone())]).unwrap();
    assert_eq!(out[0].tensor().unwrap().at(&[0]).unwrap().as_i64(), Some(50));
    assert_eq!(input.at(&[0]).unwrap().as_i64(), Some(0), "the caller's tensor is untouched");
    assert_eq!(interp.extension::<Copies>().0, 1, "only the caller's tensor is copied");
    assert_eq!(interp.extension::<Trips>().0, 50);
}

#[test]
fn limits_stop_a_run() {
    let cx = context();
    let m = loop_module(&cx);
    let input = Value::Tensor(Tensor::zeros(DType::Index, &[1000]).unwrap());
    let mut interp = Interpreter::new(&cx, &m);
    interp.set_limits(Limits { steps: 1000, ..Limits::default() });
    let error = interp.call("loop", &[Value::index(1 << 60), input]).unwrap_err();
    assert_eq!((error.kind(), error.message()), (FaultKind::Limit, "the limit of 1000 steps was passed"));

    let mut m = module(&cx);
    add_func(&cx, &mut m, "forever", &[], |b, _, _| {
        let state = OpState::of(&cx, &CALL, Loc::UNKNOWN).prop(cx.ident("callee"), cx.symbol_ref("forever"));
        b.create(state);
        emit(b, &RETURN, &[], &[]);
    });
    let error = Interpreter::new(&cx, &m).call("forever", &[]).unwrap_err();
    assert_eq!(error.message(), "more than 1000 regions and calls are active at once");
    assert!(error.to_diagnostic().notes.len() <= 16);
}

#[test]
fn faults_carry_op_place_and_calls() {
    let cx = context();
    let mut m = module(&cx);
    let at = cx.file_loc("f.mlir", 7, 3);
    add_func(&cx, &mut m, "div", &[Type::I32], |b, _, args| {
        let zero = constant(b, 0, Type::I32);
        let op = b.create(OpState::of(&cx, &DIV, at).operands([args[0], zero]).results([Type::I32]));
        let result = b.body().result(op, 0);
        emit(b, &RETURN, &[result], &[]);
    });
    let error = Interpreter::new(&cx, &m).call("div", &[Value::int(1, 32)]).unwrap_err();
    assert_eq!(error.render(&cx), "f.mlir:7:3: 't.div' op divides by zero");
    assert_eq!(error.kind(), FaultKind::DivisionByZero);
    assert_eq!(error.to_diagnostic().notes[0].1, "in the call of @div");
}

#[test]
fn an_op_without_hook_is_named() {
    let cx = context();
    let mut m = module(&cx);
    add_func(&cx, &mut m, "f", &[], |b, _, _| {
        emit(b, &MUTE, &[], &[]);
    });
    add_func(&cx, &mut m, "g", &[], |b, _, _| {
        let name = b.cx().op_name("foreign.op");
        b.create(OpState::new(name, Loc::UNKNOWN));
    });
    let mut interp = Interpreter::new(&cx, &m);
    let error = interp.call("f", &[]).unwrap_err();
    let expected = "'t.mute' op cannot be interpreted: dialect 't' defines no interpretation for it";
    assert_eq!(error.to_string(), expected);
    let error = interp.call("g", &[]).unwrap_err();
    let expected = "'foreign.op' op cannot be interpreted: dialect 'foreign' does not register it";
    assert_eq!((error.kind(), error.to_string().as_str()), (FaultKind::Unsupported, expected));
}

#[test]
fn declarations_can_be_given_a_meaning() {
    let cx = context();
    let mut m = module(&cx);
    let top = m.body().entry_block().unwrap();
    let state = OpState::of(&cx, &FUNC, Loc::UNKNOWN).prop(cx.ident("sym_name"), cx.string_attr("ext"));
    Builder::at_end(&cx, m.body_mut(), top).create_isolated(state, Box::new(Body::new(1)));
    let mut interp = Interpreter::new(&cx, &m);
    let error = interp.call("ext", &[Value::index(3)]).unwrap_err();
    assert!(error.to_string().ends_with("@ext has no body to run"), "{error}");
    interp.define("ext", |_, args| Ok(vec![Value::index(args[0].as_int()? + 1)]));
    assert_eq!(interp.call("ext", &[Value::index(3)]).unwrap()[0].as_int().unwrap(), 4);
}
