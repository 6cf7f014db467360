//! What `#[op]` generates: the table, the accessors and the constructors.

use sutura_ir::constraints::*;
use sutura_ir::op_def::{Arity, OpDef, OpView, Traits};
use sutura_ir::{Attr, Builder, Context, Dialect, DialectBuilder, Loc, Module, Registry, Type, Value, op};

sutura_ir::keyword_attrs! {
    /// Directions.
    enum Way(Type::I64) = "allowed 64-bit signless integer cases: 0, 1";
    {
        /// Upwards.
        Up = 0 => "up",
        /// Downwards.
        Down = 1 => "down",
    }
}

/// Adds two numbers.
///
/// And keeps the way.
#[op("test.add", traits(Pure, Commutative))]
struct AddOp<T: SignlessIntegerOrIndexLike> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    #[default(Way::Up)]
    way: Attr<Way>,
    sum: Res<T>,
}

/// Every kind of operand and attribute.
#[op("test.many", traits(AttrSizedOperandSegments, AttrSizedResultSegments))]
struct ManyOp {
    first: OptOperand<AnyType>,
    rest: Operands<Index>,
    last: Operand<AnyType>,
    #[name("symName")]
    name: Attr<StrAttr>,
    sizes: OptAttr<DenseI64ArrayAttr>,
    fast: Flag,
    one: OptRes<AnyType>,
    more: Results<AnyType>,
}

/// Compares.
#[op("test.less")]
struct LessOp {
    lhs: Operand<AnyType>,
    rhs: Operand<AnyType>,
    #[name("result")]
    less: Res<I1>,
}

/// Names its operands as generated code names its variables.
#[op("test.names")]
struct NamesOp<T: AnyType> {
    b: Operand<T>,
    loc: Operand<T>,
    cx: Operand<T>,
    sizes: Operands<AnyType>,
    op: Flag,
    res: Res<T>,
}

/// Branches.
#[op("test.switch", traits(Terminator))]
struct SwitchOp {
    otherwise: Successor,
    cases: Successors,
    head: Region,
    arms: Regions,
}

struct TestDialect;

impl Dialect for TestDialect {
    const NAME: &'static str = "test";
    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<AddOp<'_>>().op::<ManyOp<'_>>().op::<LessOp<'_>>().op::<NamesOp<'_>>().op::<SwitchOp<'_>>();
    }
}

fn def<T: OpView<'static>>() -> &'static OpDef {
    T::def()
}

#[test]
fn the_table_says_what_was_declared() {
    let add = def::<AddOp<'_>>();
    assert_eq!((add.name, add.summary), ("test.add", "Adds two numbers."));
    assert_eq!(add.description, "Adds two numbers.\n\nAnd keeps the way.");
    assert_eq!(add.traits, Traits::Pure.with(Traits::Commutative));
    assert_eq!((add.type_vars.len(), add.operands[1].var, add.results[0].var), (1, Some(0), Some(0)));
    assert_eq!(add.operands[0].constraint.description, "signless-integer-like");
    assert!(add.attrs[0].default.is_some() && !add.attrs[0].optional);

    let many = def::<ManyOp<'_>>();
    let arities: Vec<Arity> = many.operands.iter().map(|o| o.arity).collect();
    assert_eq!(arities, [Arity::Optional, Arity::Variadic, Arity::Single]);
    assert_eq!(many.attrs.iter().map(|a| a.name).collect::<Vec<_>>(), ["symName", "sizes", "fast"]);

    let switch = def::<SwitchOp<'_>>();
    assert_eq!((switch.regions.len(), switch.successors[1].arity), (2, Arity::Variadic));
    assert!(std::ptr::eq(def::<AddOp<'_>>(), add), "one table for every use");
}

fn with_builder<R>(run: impl FnOnce(&mut Builder<'_>) -> R) -> R {
    let cx = Context::new(Registry::default().with::<TestDialect>());
    let mut module = Module::new(&cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    run(&mut Builder::at_end(&cx, module.body_mut(), block))
}

fn argument(b: &mut Builder<'_>, ty: Type) -> Value {
    let block = b.body().entry_block().expect("a block");
    b.add_block_arg(block, ty, Loc::UNKNOWN)
}

#[test]
fn result_types_follow_from_variables_and_single_types() {
    with_builder(|b| {
        let x = argument(b, Type::I32);
        let sum = AddOp::value(b, Loc::UNKNOWN, x, x);
        assert_eq!(b.body().ty(sum), Type::I32);
        let less = LessOp::build(b, Loc::UNKNOWN, sum, x);
        let less = b.op_ref(less).as_::<LessOp<'_>>().expect("the op that was built");
        assert_eq!(b.body().ty(less.less()), Type::I1);
        assert_eq!((less.lhs(), less.rhs()), (sum, x));
    });
}

#[test]
fn an_absent_attribute_reads_as_its_default() {
    with_builder(|b| {
        let x = argument(b, Type::INDEX);
        let op = AddOp::build(b, Loc::UNKNOWN, x, x);
        assert_eq!(b.op_ref(op).as_::<AddOp<'_>>().expect("add").way(), Way::Up);
        let (cx, down) = (b.cx(), Type::I64);
        let state = AddOp::state(b, Loc::UNKNOWN, x, x).prop(cx.ident("way"), cx.int_attr(1, down));
        let op = b.create(state);
        assert_eq!(b.op_ref(op).as_::<AddOp<'_>>().expect("add").way(), Way::Down);
    });
}

#[test]
fn groups_are_found_by_their_segment_sizes() {
    with_builder(|b| {
        let (x, i) = (argument(b, Type::F32), argument(b, Type::INDEX));
        let types = [Type::F32, Type::I1];
        let op = ManyOp::build(b, Loc::UNKNOWN, None, &[i, i], x, "name", Some(&[4, 5]), true, None, &types);
        let many = b.op_ref(op).as_::<ManyOp<'_>>().expect("many");
        assert_eq!((many.first(), many.last(), many.one()), (None, x, None));
        assert_eq!(many.rest().collect::<Vec<_>>(), [i, i]);
        assert_eq!(many.more().map(|v| b.body().ty(v)).collect::<Vec<_>>(), types);
        assert_eq!((many.name(), many.sizes(), many.fast()), ("name", Some(vec![4, 5]), true));
        assert_eq!(b.op_ref(op).prop("operandSegmentSizes"), Some(b.cx().i32_array(&[0, 2, 1])));

        let op = ManyOp::build(b, Loc::UNKNOWN, Some(x), &[], x, "", None, false, Some(Type::I1), &[]);
        let many = b.op_ref(op).as_::<ManyOp<'_>>().expect("many");
        assert_eq!((many.first(), many.rest().len(), many.fast(), many.sizes_attr()), (Some(x), 0, false, None));
        assert_eq!(many.one().map(|v| b.body().ty(v)), Some(Type::I1));
    });
}

#[test]
fn fields_may_be_called_anything() {
    with_builder(|b| {
        let (x, y) = (argument(b, Type::F32), argument(b, Type::F32));
        let value = NamesOp::value(b, Loc::UNKNOWN, x, y, y, &[x], true);
        let names = b.op_ref(b.body().defining_op(value).expect("an op")).as_::<NamesOp<'_>>().expect("names");
        assert_eq!((names.b(), names.loc(), names.cx(), names.op(), names.sizes().len()), (x, y, y, true, 1));
    });
}

#[test]
fn regions_and_successors() {
    with_builder(|b| {
        let region = b.body().region();
        let (one, two) = (b.create_block(region, &[]), b.create_block(region, &[]));
        let op = SwitchOp::build(b, Loc::UNKNOWN, one, &[two, one], 2);
        let switch = b.op_ref(op).as_::<SwitchOp<'_>>().expect("switch");
        assert_eq!((switch.otherwise(), switch.cases()), (one, &[two, one][..]));
        assert_eq!(switch.arms().count(), 2);
        assert!(switch.head().is_empty());
    });
}

#[test]
fn keywords_have_numbers() {
    let cx = Context::new(Registry::default());
    assert_eq!(Way::from_keyword("down"), Some(Way::Down));
    assert_eq!(Way::from_keyword("left"), None);
    let check = <Way as sutura_ir::op_def::AttrConstraintDef>::CONSTRAINT.check;
    assert!(check(&cx, cx.int_attr(1, Type::I64)));
    assert!(
        !check(&cx, cx.int_attr(2, Type::I64)) && !check(&cx, cx.int_attr(1, Type::I32)) && !check(&cx, Attr::UNIT)
    );
}
