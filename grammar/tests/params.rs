//! Types and attributes declared by their parameters: parsed, printed, built, checked, refused.

mod common;

use sutura_grammar::ParseOptions;
use sutura_ir::asm::print::{attr_text, type_text};
use sutura_ir::ext::VerifyParams;
use sutura_ir::*;

use common::{custom, errors, parse_with};

sutura_ir::enum_attr! {
    /// Orders of elements.
    enum Order = "p.order", "order of elements"; {
        /// Row by row.
        Row => "row",
        /// Column by column.
        Column => "column",
    }
}

sutura_ir::bit_enum_attr! {
    /// What may be done.
    struct Access = "p.access", "|", "access"; {
        /// Reading.
        READ = 0 => "read",
        /// Writing.
        WRITE = 1 => "write",
    } all "any"
}

/// Nothing to say.
#[ty("p.unit")]
struct UnitType;

/// All parameters, with the default format.
#[ty("p.plain")]
struct PlainType {
    elem: Type,
    count: u32,
}

/// Every kind of parameter and of element.
#[ty(
    "p.list",
    format = "`<` $elem `x` $count (`in` $space^)? (`[` `order` `=` $order^ `]`)? (`,` `tags` $tags^)? `>`",
    verify
)]
struct ListType {
    /// Type of the elements.
    elem: Type,
    /// How many.
    count: i64,
    space: Option<String>,
    #[default(Order::Row)]
    order: Order,
    tags: Vec<Attr>,
}

impl VerifyParams for ListType {
    fn verify_params(&self, cx: &Context) -> Result<(), String> {
        if self.count < 0 {
            return Err(format!("a list of {} elements has {} of them", type_text(cx, self.elem), self.count));
        }
        Ok(())
    }
}

/// Named parameters in any order.
#[attr("p.config", format = "`<` $name `,` struct($rows, $cols, $exact) `>`")]
struct ConfigAttr {
    name: String,
    rows: i64,
    cols: Vec<i64>,
    #[default(false)]
    exact: bool,
}

/// Uses them as constraints.
#[op("p.make", format = "attr-dict `:` type($list) `by` $config")]
struct MakeOp {
    config: Attr<ConfigAttr>,
    list: Res<ListType>,
}

struct ParamDialect;

impl Dialect for ParamDialect {
    const NAME: &'static str = "p";
    fn register(d: &mut DialectBuilder<'_>) {
        d.define_type::<UnitType>().define_type::<PlainType>().define_type::<ListType>();
        d.define_attr::<ConfigAttr>().define_attr::<Order>().define_attr::<Access>();
        d.op::<MakeOp<'_>>();
    }
}

fn context() -> Context {
    Context::new(Registry::default().with::<ParamDialect>().with::<common::TestDialect>())
}

/// Parses `text` as an attribute and prints it; an error is its message.
fn attr(text: &str) -> Result<String, String> {
    let cx = context();
    let source = format!("\"t.end\"() {{a = {text}}} : () -> ()");
    let module = parse_with(&cx, &source, &ParseOptions { allow_unregistered: false, ..ParseOptions::default() })
        .map_err(|e| e.join("\n"))?;
    let op = module.body().preorder().next().expect("one op");
    let value = OpRef::new(&cx, module.body(), op).attr("a").expect("the attribute");
    let printed = attr_text(&cx, value);
    let again = format!("\"t.end\"() {{a = {printed}}} : () -> ()");
    let module = parse_with(&cx, &again, &ParseOptions { allow_unregistered: false, ..ParseOptions::default() })
        .expect("what was printed");
    let op = module.body().preorder().next().expect("one op");
    assert_eq!(OpRef::new(&cx, module.body(), op).attr("a"), Some(value), "{printed}");
    Ok(printed)
}

fn refused(text: &str, message: &str) {
    let said = attr(text).expect_err(text);
    assert!(said.contains(message), "{text}: {said}");
}

#[test]
fn what_is_written_is_read() {
    for text in [
        "!p.unit",
        "!p.plain<f32, 4>",
        "!p.plain<!p.plain<tuple<i32>, 0>, 4>",
        "!p.list<f32 x 4>",
        "!p.list<f32 x 4 in \"dr\\22am\">",
        "!p.list<f32 x 4[order = column]>",
        "!p.list<!p.unit x 4 in \"l1\"[order = column], tags [1 : i64, \"x\", #p.order<row>]>",
        "#p.config<\"a\", rows = 1>",
        "#p.config<\"a\", rows = -1, cols = [1, 2], exact = true>",
        "#p.order<column>",
        "#p.access<read>",
        "#p.access<none>",
    ] {
        assert_eq!(attr(text).as_deref(), Ok(text));
    }
}

#[test]
fn there_is_one_way_to_write_a_value() {
    assert_eq!(attr("!p.list<f32 x 4 [order=row], tags []>").as_deref(), Ok("!p.list<f32 x 4>"));
    assert_eq!(
        attr("#p.config<\"a\", exact = false, cols = [3], rows = 2>").as_deref(),
        Ok("#p.config<\"a\", rows = 2, cols = [3]>")
    );
    assert_eq!(attr("#p.access<read,write>").as_deref(), Ok("#p.access<any>"));
}

#[test]
fn what_is_wrong_is_said() {
    refused("!p.list", "expected '<'");
    refused("!p.list<4 x 4>", "expected a type");
    refused("!p.list<f32 x>", "expected an integer");
    refused("!p.list<f32 x -1>", "a list of f32 elements has -1 of them");
    refused("!p.list<f32 x 4 in l1>", "expected a string");
    refused("!p.list<f32 x 4[order = up]>", "expected one of: 'row' 'column'");
    refused("!p.list<f32 x 4, tags 1>", "expected a list in brackets");
    refused("!p.plain<f32, -1>", "the integer does not fit u32");
    refused("#p.config<\"a\", cols = []>", "parameter 'rows' is missing");
    refused("#p.config<\"a\", rows = 1, rows = 1>", "parameter 'rows' is given twice");
    refused("#p.config<\"a\", rows = 1, col = []>", "expected one of the parameters: rows, cols, exact");
    refused("#p.access<exec>", "expected one of 'read', 'write', 'none'");
    refused("!p.other", "unknown type `other` in dialect `p`");
}

#[test]
fn values_are_built_and_read() {
    let cx = context();
    let ty = ListType::get(&cx, Type::F32, 3, None, Order::Column, vec![Attr::UNIT]);
    assert_eq!(type_text(&cx, ty), "!p.list<f32 x 3[order = column], tags [unit]>");
    let list = ListType::of(&cx, ty).expect("a list");
    assert_eq!((list.elem, list.count, list.order), (Type::F32, 3, Order::Column));
    assert!(ListType::of(&cx, Type::F32).is_none());
    assert_eq!(ty, ListType::get(&cx, Type::F32, 3, None, Order::Column, vec![Attr::UNIT]));
    assert!(cx.verify_type(ListType::get(&cx, Type::F32, -3, None, Order::Row, vec![])).is_err());
}

#[test]
fn a_declaration_names_its_constraint() {
    let cx = context();
    let text = "%0 = p.make : !p.list<f32 x 1> by #p.config<\"a\", rows = 1>";
    let module =
        parse_with(&cx, text, &ParseOptions { allow_unregistered: false, ..ParseOptions::default() }).expect("right");
    let op = module.body().preorder().next().expect("one op");
    let make = OpRef::new(&cx, module.body(), op).as_::<MakeOp<'_>>().expect("p.make");
    assert_eq!(make.config().rows, 1);
    let wrong = [
        ("%0 = p.make : !p.list<f32 x 1> by #p.order<row>", "#p.config attribute"),
        ("%0 = p.make : f32 by #p.config<\"a\", rows = 1>", "must be !p.list"),
    ];
    for (text, message) in wrong {
        let module = parse_with(&cx, text, &ParseOptions { allow_unregistered: false, ..ParseOptions::default() });
        let mut diags = Diagnostics::default();
        let said = match module {
            Err(lines) => lines.join("\n"),
            Ok(module) => {
                let options = sutura_ir::verify::VerifyOptions::default();
                sutura_ir::verify::verify(module.op_ref(&cx), options, &mut diags).expect_err("wrong");
                diags.iter().map(|d| d.message.clone()).collect()
            }
        };
        assert!(said.contains(message), "{said}");
    }
    // The helpers of the other tests are not all needed here.
    let _ = (custom as fn(&str) -> String, errors as fn(&str) -> Vec<String>);
}
