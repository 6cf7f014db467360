//! The verifier: one case per invariant that text alone cannot break, or that is easier to break by hand.

use sutura_ir::constraints::*;
use sutura_ir::interfaces::SymbolUser;
use sutura_ir::op_def::{InferInput, InferTypes};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::symbols::SymbolScope;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::*;

/// A function.
#[op("test.func", traits(IsolatedFromAbove, Symbol))]
struct FuncOp {
    sym_name: Attr<SymbolNameAttr>,
    sym_visibility: OptAttr<StrAttr>,
    body: Region,
}

/// Adds.
#[op("test.add", traits(Pure))]
struct AddOp<T: SignlessIntegerOrIndexLike> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    sum: Res<T>,
}

/// Makes a value.
#[op("test.value", traits(Pure))]
struct ValueOp {
    number: OptAttr<I64Attr>,
    out: Res<AnyType>,
}

/// Makes two values, of the operand's type, or of any types when that is `index`.
#[op("test.twice", traits(Pure), infer)]
struct TwiceOp {
    given: Operand<AnyType>,
    out: Results<AnyType>,
}

impl InferTypes for TwiceOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        match input.operands {
            [Type::F32] => Err("floats are not made twice".to_string()),
            [ty] => Ok(smallvec![*ty; 2]),
            _ => Err("there is no operand".to_string()),
        }
    }

    fn are_compatible(_: &Context, inferred: &[Type], found: &[Type]) -> bool {
        inferred == found || (inferred.contains(&Type::INDEX) && found.len() == 2)
    }
}

/// Ends a function.
#[op("test.ret", traits(Terminator), parents("test.func"))]
struct RetOp {
    values: Operands<AnyType>,
}

/// Branches.
#[op("test.br", traits(Terminator))]
struct BrOp {
    to: Successors,
}

/// Holds ops.
#[op("test.wrap", traits(SingleBlock), implicit_terminator = "test.yield")]
struct WrapOp {
    body: Region,
}

/// Ends a region.
#[op("test.yield", traits(Terminator))]
struct YieldOp {}

/// Refers to a function.
#[op("test.call")]
struct CallOp {
    callee: Attr<FlatSymbolRefAttr>,
}

struct CallSymbols;
impl SymbolUser for CallSymbols {
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        let callee = op.prop("callee").expect("verified");
        match symbols.lookup(op.op, callee) {
            Some(_) => Ok(()),
            None => Err(diags.report(op.error("does not reference a valid function"))),
        }
    }
}

struct TestDialect;
impl Dialect for TestDialect {
    const NAME: &'static str = "test";
    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<FuncOp<'_>>().op::<AddOp<'_>>().op::<ValueOp<'_>>().op::<RetOp<'_>>().op::<BrOp<'_>>();
        d.op::<WrapOp<'_>>().op::<YieldOp<'_>>().op::<CallOp<'_>>().op::<TwiceOp<'_>>();
        d.interface::<dyn SymbolUser>("test.call", &CallSymbols);
    }
}

fn context() -> Context {
    Context::new(Registry::default().with::<TestDialect>())
}

fn messages(cx: &Context, module: &Module) -> Vec<String> {
    let mut diags = Diagnostics::default();
    let result = verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    assert_eq!(result.is_err(), diags.errors() > 0);
    diags.take().into_iter().map(|d| d.message).collect()
}

/// A module with a function whose entry block `build` fills.
fn function(cx: &Context, build: impl FnOnce(&mut Builder<'_>, Block)) -> Module {
    functions(cx, &["f"], |_, b, block| build(b, block))
}

/// A module with functions whose entry blocks are filled; `build` runs for the first one only.
fn functions(cx: &Context, names: &[&str], build: impl FnOnce(usize, &mut Builder<'_>, Block)) -> Module {
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let top = module.body().entry_block().expect("a block");
    let mut build = Some(build);
    for (index, name) in names.iter().enumerate() {
        let mut inside = Body::with_block(1);
        let entry = inside.entry_block().expect("a block");
        let mut b = Builder::at_end(cx, &mut inside, entry);
        match build.take() {
            Some(build) => build(index, &mut b, entry),
            None => drop(b.create(OpState::new(cx.op_name("test.ret"), Loc::UNKNOWN))),
        }
        let state = OpState::new(cx.op_name("test.func"), Loc::UNKNOWN)
            .prop(cx.ident("sym_name"), cx.string_attr(name))
            .regions(1);
        Builder::at_end(cx, module.body_mut(), top).create_isolated(state, Box::new(inside));
    }
    module
}

fn op(cx: &Context, name: &str) -> OpState {
    OpState::new(cx.op_name(name), Loc::UNKNOWN)
}

fn value(b: &mut Builder<'_>, ty: Type) -> Value {
    let state = op(b.cx(), "test.value").results([ty]);
    let made = b.create(state);
    b.body().result(made, 0)
}

fn add(b: &mut Builder<'_>, lhs: Value, rhs: Value, ty: Type) -> Op {
    let state = op(b.cx(), "test.add").operands([lhs, rhs]).results([ty]);
    b.create(state)
}

fn ret(b: &mut Builder<'_>) {
    let state = op(b.cx(), "test.ret");
    b.create(state);
}

#[test]
fn a_correct_program_passes() {
    let cx = context();
    let module = function(&cx, |b, _| {
        let v = value(b, Type::I32);
        add(b, v, v, Type::I32);
        ret(b);
    });
    assert_eq!(messages(&cx, &module), Vec::<String>::new());
}

#[test]
fn results_have_the_types_that_are_inferred() {
    let cx = context();
    let cases: [(Type, &[Type], &str); 5] = [
        (Type::I32, &[Type::I32, Type::I32], ""),
        (Type::INDEX, &[Type::I32, Type::F32], ""),
        (
            Type::I32,
            &[Type::I32, Type::F32],
            "inferred type(s) 'i32', 'i32' are incompatible with return type(s) of operation 'i32', 'f32'",
        ),
        (
            Type::I32,
            &[Type::I32],
            "inferred type(s) 'i32', 'i32' are incompatible with return type(s) of operation 'i32'",
        ),
        (Type::F32, &[], "failed to infer returned types: floats are not made twice"),
    ];
    for (given, results, message) in cases {
        let module = function(&cx, |b, _| {
            let given = value(b, given);
            let state = op(b.cx(), "test.twice").operands([given]).results(results.iter().copied());
            b.create(state);
            ret(b);
        });
        let expected: Vec<String> =
            (!message.is_empty()).then(|| format!("'test.twice' op {message}")).into_iter().collect();
        assert_eq!(messages(&cx, &module), expected);
    }
}

#[test]
fn operands_results_and_attributes_fit_the_declaration() {
    let cx = context();
    let module = function(&cx, |b, _| {
        let (int, float) = (value(b, Type::I32), value(b, Type::F32));
        let state = op(b.cx(), "test.add").operands([int]).results([Type::I32]);
        b.create(state);
        add(b, float, float, Type::F32);
        add(b, int, int, Type::I64);
        let text = cx.string_attr("x");
        let state = op(b.cx(), "test.value").results([Type::I32]).prop(cx.ident("number"), text);
        b.create(state);
        let state = op(b.cx(), "test.value").results([Type::I32]).prop(cx.ident("numbr"), text);
        b.create(state);
        let state = op(b.cx(), "test.value").results([Type::I32, Type::I32]);
        b.create(state);
        let state = op(b.cx(), "test.call");
        b.create(state);
        ret(b);
    });
    assert_eq!(
        messages(&cx, &module),
        [
            "'test.add' op expected 2 operands, but found 1",
            "'test.add' op operand #0 must be signless-integer-like, but got 'f32'",
            "'test.add' op failed to verify that all of {lhs, rhs, sum} have same type",
            "'test.value' op attribute 'number' failed to satisfy constraint: 64-bit signless integer attribute",
            "'test.value' op has no inherent attribute 'numbr'",
            "'test.value' op requires one result",
            "'test.call' op requires attribute 'callee'",
        ]
    );
}

#[test]
fn uses_are_dominated_by_definitions() {
    let cx = context();
    let module = function(&cx, |b, _| {
        let late = b.create_placeholder(Type::I32);
        let user = add(b, late, late, Type::I32);
        let v = value(b, Type::I32);
        b.replace_placeholder(late, v);
        ret(b);
        assert_eq!(b.body().operand(user, 0), v);
    });
    assert_eq!(messages(&cx, &module), ["operand #0 does not dominate this use"]);
}

#[test]
fn a_value_of_one_branch_is_not_seen_in_the_other() {
    let cx = context();
    let module = function(&cx, |b, entry| {
        let region = b.body().region();
        let (left, right) = (b.create_block(region, &[]), b.create_block(region, &[]));
        b.set_to_end(entry);
        let state = op(b.cx(), "test.br").successors([left, right]);
        b.create(state);
        b.set_to_end(left);
        let v = value(b, Type::I32);
        ret(b);
        b.set_to_end(right);
        add(b, v, v, Type::I32);
        ret(b);
    });
    let mut diags = Diagnostics::default();
    verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags).expect_err("not dominated");
    let error = &diags.take()[0];
    assert_eq!(error.message, "operand #0 does not dominate this use");
    assert_eq!(error.notes[0].1, "operand defined here (op in the same region)");
}

#[test]
fn blocks_end_in_terminators() {
    let cx = context();
    let module = function(&cx, |b, _| {
        ret(b);
        value(b, Type::I32);
    });
    assert_eq!(
        messages(&cx, &module),
        [
            "block with no terminator, has %0 = \"test.value\"() : () -> i32",
            "'test.ret' op must be the last operation in the parent block"
        ]
    );
    let module = function(&cx, |_, _| {});
    assert_eq!(messages(&cx, &module), ["empty block: expect at least a terminator"]);
    let module = function(&cx, |b, entry| {
        let state = op(b.cx(), "test.br").successors([entry]);
        b.create(state);
    });
    assert_eq!(messages(&cx, &module), ["entry block of region may not have predecessors"]);
}

#[test]
fn regions_end_as_the_op_says() {
    let cx = context();
    let module = function(&cx, |b, entry| {
        let state = op(b.cx(), "test.wrap").regions(1);
        let wrap = b.create(state);
        let region = b.body().regions(wrap).next().expect("a region");
        let block = b.create_block(region, &[]);
        b.set_to_end(block);
        let state = op(b.cx(), "test.br");
        b.create(state);
        b.set_to_end(entry);
        ret(b);
    });
    assert_eq!(messages(&cx, &module), ["'test.wrap' op expects regions to end with 'test.yield', found 'test.br'"]);
}

#[test]
fn ops_lie_where_they_must() {
    let cx = context();
    let mut module = Module::new(&cx, Loc::UNKNOWN);
    let top = module.body().entry_block().expect("a block");
    let mut b = Builder::at_end(&cx, module.body_mut(), top);
    ret(&mut b);
    assert_eq!(messages(&cx, &module), ["'test.ret' op expects parent op 'test.func'"]);
}

#[test]
fn symbols_are_unique_and_found() {
    let cx = context();
    let module = functions(&cx, &["f", "f"], |_, b, _| ret(b));
    assert_eq!(messages(&cx, &module), ["redefinition of symbol named 'f'"]);
    for (callee, expected) in [("g", None), ("h", Some("'test.call' op does not reference a valid function"))] {
        let module = functions(&cx, &["f", "g"], |_, b, _| {
            let state = op(&cx, "test.call").prop(cx.ident("callee"), cx.symbol_ref(callee));
            b.create(state);
            ret(b);
        });
        assert_eq!(messages(&cx, &module), Vec::from_iter(expected));
    }
}

#[test]
fn unregistered_ops_need_leave() {
    let cx = context();
    let module = function(&cx, |b, _| {
        let state = op(b.cx(), "test.ad");
        b.create(state);
        let state = op(b.cx(), "other.op");
        b.create(state);
        ret(b);
    });
    let mut diags = Diagnostics::default();
    verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags).expect_err("not allowed");
    let errors = diags.take();
    assert_eq!(errors.len(), 2);
    assert_eq!(errors[0].help.as_deref(), Some("did you mean `test.add`?"));
    let options = VerifyOptions { allow_unregistered: true };
    verify(module.op_ref(&cx), options, &mut Diagnostics::default()).expect("allowed");
}

#[test]
fn errors_of_many_functions_come_in_the_order_of_the_text() {
    let cx = context();
    let mut module = Module::new(&cx, Loc::UNKNOWN);
    let top = module.body().entry_block().expect("a block");
    for index in 0..200 {
        let mut inside = Body::with_block(1);
        let entry = inside.entry_block().expect("a block");
        let mut b = Builder::at_end(&cx, &mut inside, entry);
        let state = op(&cx, &format!("other.op{index}"));
        b.create(state);
        ret(&mut b);
        let state = op(&cx, "test.func").prop(cx.ident("sym_name"), cx.string_attr(&format!("f{index}"))).regions(1);
        Builder::at_end(&cx, module.body_mut(), top).create_isolated(state, Box::new(inside));
    }
    let found = messages(&cx, &module);
    assert_eq!(found.len(), 200);
    for (index, message) in found.iter().enumerate() {
        assert!(message.starts_with(&format!("'other.op{index}' op created")), "{message}");
    }
}

#[test]
fn depth_costs_no_stack() {
    let cx = context();
    let module = function(&cx, |b, entry| {
        let region = b.body().region();
        let mut block = entry;
        for _ in 0..50_000 {
            b.set_to_end(block);
            let state = op(b.cx(), "test.wrap").regions(1);
            let wrap = b.create(state);
            let end = if block == entry { "test.ret" } else { "test.yield" };
            let state = op(b.cx(), end);
            b.create(state);
            let region = b.body().regions(wrap).next().expect("a region");
            block = b.create_block(region, &[]);
        }
        b.set_to_end(block);
        let state = op(b.cx(), "test.yield");
        b.create(state);
        assert_eq!(b.body().region(), region);
    });
    assert_eq!(messages(&cx, &module), Vec::<String>::new());
}
