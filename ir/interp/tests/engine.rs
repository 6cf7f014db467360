//! The engine on a small dialect of its own: control flow, calls, limits, errors.

mod common;

use common::*;
use sutura_interp::*;
use sutura_ir::{Body, Builder, Context, Loc, Module, OpState, Type};

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
