//! What has not changed since it was verified is not verified again; what has, and what looks into it, is.

use std::sync::atomic::{AtomicUsize, Ordering};

use sutura_ir::constraints::*;
use sutura_ir::op_def::Verify;
use sutura_ir::verify::{Verified, VerifyOptions, verify_changed};
use sutura_ir::*;

/// A function whose result has the type of the first value in it.
#[op("test.func", traits(IsolatedFromAbove, Symbol), verify)]
struct FuncOp {
    sym_name: Attr<SymbolNameAttr>,
    sym_visibility: OptAttr<StrAttr>,
    makes: Attr<TypeAttr>,
    body: Region,
}

/// Makes a value.
#[op("test.value", traits(Pure), verify)]
struct ValueOp {
    wrong: OptAttr<UnitAttr>,
    out: Res<AnyType>,
}

/// Ends a function.
#[op("test.ret", traits(Terminator))]
struct RetOp {}

/// How many values were looked at.
static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

impl Verify for ValueOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        LOOKED_AT.fetch_add(1, Ordering::Relaxed);
        match ValueOp::from_ref(op).wrong() {
            Some(_) => Err(diags.report(op.error("is wrong"))),
            None => Ok(()),
        }
    }
}

impl Verify for FuncOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let inside = op.inside();
        let first = inside.entry_block().and_then(|block| inside.first_op(block)).map(|first| inside.result(first, 0));
        match first.is_none_or(|first| inside.ty(first) == FuncOp::from_ref(op).makes()) {
            true => Ok(()),
            false => Err(diags.report(op.error("makes another type"))),
        }
    }
}

struct TestDialect;
impl Dialect for TestDialect {
    const NAME: &'static str = "test";
    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<FuncOp<'_>>().op::<ValueOp<'_>>().op::<RetOp<'_>>();
    }
}

/// A module with two functions of two values each.
fn module(cx: &Context) -> (Module, [Op; 2]) {
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let top = module.body().entry_block().expect("a block");
    let functions = ["f", "g"].map(|name| {
        let mut inside = Body::with_block(1);
        let entry = inside.entry_block().expect("a block");
        let mut b = Builder::at_end(cx, &mut inside, entry);
        for state in [value(cx), value(cx), OpState::new(cx.op_name("test.ret"), Loc::UNKNOWN)] {
            b.create(state);
        }
        let state = OpState::new(cx.op_name("test.func"), Loc::UNKNOWN)
            .prop(cx.ident("sym_name"), cx.string_attr(name))
            .prop(cx.ident("makes"), cx.type_attr(Type::I32))
            .regions(1);
        Builder::at_end(cx, module.body_mut(), top).create_isolated(state, Box::new(inside))
    });
    (module, functions)
}

fn value(cx: &Context) -> OpState {
    OpState::new(cx.op_name("test.value"), Loc::UNKNOWN).results([Type::I32])
}

/// What is wrong, and how many values were looked at to see it.
fn found(cx: &Context, module: &Module, verified: &mut Verified) -> (Vec<String>, usize) {
    let (before, mut diags) = (LOOKED_AT.load(Ordering::Relaxed), Diagnostics::default());
    let result = verify_changed(module.op_ref(cx), VerifyOptions::default(), verified, &mut diags);
    assert_eq!(result.is_err(), diags.errors() > 0);
    (diags.take().into_iter().map(|d| d.message).collect(), LOOKED_AT.load(Ordering::Relaxed) - before)
}

/// One test, as the count is one.
#[test]
fn what_has_not_changed_is_not_looked_at_again() {
    let cx = Context::new(Registry::default().with::<TestDialect>());
    let (mut module, [f, g]) = module(&cx);
    let mut verified = Verified::default();
    let nothing: Vec<String> = vec![];
    assert_eq!(found(&cx, &module, &mut verified), (nothing.clone(), 4));
    assert_eq!(found(&cx, &module, &mut verified), (nothing.clone(), 0));

    // An operation more in one function.
    let inside = module.body_mut().nested_mut(f).expect("it owns a body");
    let entry = inside.entry_block().expect("a block");
    let end = inside.last_op(entry).expect("an op");
    let mut rw = Rewriter::new(&cx, inside);
    rw.set_before(end);
    let third = rw.create(value(&cx));
    assert_eq!(found(&cx, &module, &mut verified), (nothing.clone(), 3));

    // A fault in what is there, which stays until it is repaired, however often one looks.
    let set = |module: &mut Module, op: Op, name: &str, to: Option<Attr>| {
        let inside = module.body_mut().nested_mut(f).expect("it owns a body");
        Rewriter::new(&cx, inside).set_prop(op, name, to);
    };
    set(&mut module, third, "wrong", Some(Attr::UNIT));
    for _ in 0..2 {
        assert_eq!(found(&cx, &module, &mut verified), (vec!["'test.value' op is wrong".to_owned()], 3));
    }
    set(&mut module, third, "wrong", None);
    assert_eq!(found(&cx, &module, &mut verified), (nothing.clone(), 3));

    // What the op that owns a body makes of it is looked at again, though the body around has not changed.
    let inside = module.body_mut().nested_mut(g).expect("it owns a body");
    let first = inside.entry_block().and_then(|block| inside.first_op(block)).expect("an op");
    let made = inside.result(first, 0);
    Rewriter::new(&cx, inside).set_type(made, Type::F32);
    for _ in 0..2 {
        assert_eq!(found(&cx, &module, &mut verified).0, ["'test.func' op makes another type"]);
    }
    // So is a body whose owner has changed.
    Rewriter::new(&cx, module.body_mut()).set_prop(g, "makes", Some(cx.type_attr(Type::F32)));
    assert_eq!(found(&cx, &module, &mut verified), (nothing, 2));
}
