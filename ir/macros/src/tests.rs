//! What the main mistakes in a declaration are told.

use std::str::FromStr;

use proc_macro2::TokenStream;

/// Expands `#[op(args)] item` and returns the error with the source text that it points at.
fn error(args: &str, item: &str) -> (String, String) {
    let args = TokenStream::from_str(args).expect("tokens");
    let item = TokenStream::from_str(item).expect("tokens");
    let error = crate::expand_op(args, item).expect_err("the declaration is wrong");
    (error.to_string(), error.span().source_text().unwrap_or_default())
}

fn check(args: &str, item: &str, at: &str, message: &str) {
    let (text, span) = error(args, item);
    assert!(text.contains(message), "{text}");
    assert_eq!(span, at, "{text}");
}

#[test]
fn names_the_argument_that_is_wrong() {
    check("AddOp", "/// Doc.\nstruct X;", "AddOp", "expected the op's name");
    check("\"add\"", "/// Doc.\nstruct X;", "\"add\"", "expected \"dialect.name\"");
    check("\"a.b\", folds", "/// Doc.\nstruct X;", "folds", "unknown argument `folds`");
    check("\"a.b\", fold, fold", "/// Doc.\nstruct X;", "fold", "given twice");
}

#[test]
fn names_the_field_that_is_wrong() {
    let doc = |fields: &str| format!("/// Doc.\nstruct X {{ {fields} }}");
    check("\"a.b\"", &doc("lhs: Value"), "Value", "unknown kind of field `Value`");
    check("\"a.b\"", &doc("lhs: Operand"), "Operand", "needs a constraint");
    check("\"a.b\"", &doc("lhs: Region<AnyType>"), "AnyType", "takes no constraint");
    check("\"a.b\"", &doc("value: Operand<AnyType>"), "value", "name of a generated function");
    check("\"a.b\"", &doc("x: Res<AnyType>, #[name(\"x\")] y: Flag"), "y", "declared twice");
    check("\"a.b\"", &doc("x: Operands<AnyType>, y: OptOperand<AnyType>"), "y", "AttrSizedOperandSegments");
    check("\"a.b\"", &doc("x: Results<AnyType>, y: Results<AnyType>"), "y", "AttrSizedResultSegments");
    check("\"a.b\"", &doc("x: Regions, y: Region"), "x", "must come last");
    check("\"a.b\"", &doc("#[default(1)] x: Region"), "#[default(1)]", "belongs on an `Attr<…>` field");
    check("\"a.b\"", &doc("#[absent] x: Attr<StrAttr>"), "#[absent]", "belongs on an `OptAttr<…>`, a `Flag` or beside");
}

#[test]
fn constraint_variables_need_a_bound_and_a_use() {
    check("\"a.b\"", "/// Doc.\nstruct X<T> { x: Operand<T> }", "T", "exactly one bound");
    check("\"a.b\"", "/// Doc.\nstruct X<T: AnyType> { }", "T", "no operand or result uses");
}

#[test]
fn documentation_is_required() {
    check("\"a.b\"", "struct X;", "X", "needs a doc comment");
}

/// Expands `#[ty(args)] item` and returns the error.
fn type_error(args: &str, item: &str) -> String {
    let parse = |text| TokenStream::from_str(text).expect("tokens");
    let error = crate::expand_param(crate::param::Kind::Type, parse(args), parse(item));
    error.expect_err("the declaration is wrong").to_string()
}

#[test]
fn formats_of_parameters_are_checked() {
    let item = "/// Doc.\nstruct T { a: i64, b: Option<i64>, c: Vec<Type> }";
    let error = |format: &str| type_error(&format!("\"d.t\", format = \"{format}\""), item);
    assert!(error("`<` $x `>`").contains("there is no parameter `$x` at column 7"));
    assert!(error("`<` $a `>`").contains("parameter `$b` is not written"));
    assert!(error("$a $a").contains("`$a` is written twice"));
    assert!(error("$a $b").contains("may be absent: put it into a group"));
    assert!(error("(`x` $a^)?").contains("cannot be absent"));
    assert!(error("$a (`x`)?").contains("expected an anchor"));
    assert!(error("$a ($c $b^)?").contains("begins with a literal or with its anchor"));
    assert!(error("$a (`x` (`y` $b^)?)?").contains("groups do not nest"));
    assert!(error("$a)").contains("unbalanced"));
    assert!(error("`@`").contains("neither a keyword nor punctuation"));
    assert!(error("`<").contains("unterminated"));
    assert!(error("a").contains("expected a literal"));
    assert!(error("struct($a, $d)").contains("there is no parameter `$d`"));
    assert!(type_error("\"t\"", item).contains("expected \"dialect.name\""));
    assert!(type_error("\"d.t\", verified", item).contains("unknown argument `verified`"));
    assert!(type_error("\"d.t\", property = \"p\"", item).contains("only an attribute can be a property"));
    assert!(type_error("\"d.t\"", "struct T;").contains("needs a doc comment"));
}

#[test]
fn rewrites_say_what_was_expected() {
    let error = |text: &str| {
        let tokens = TokenStream::from_str(text).expect("tokens");
        syn::parse2::<crate::rewrite::Rules>(tokens).err().expect("the rule is wrong").to_string()
    };
    assert!(error("fn f(rw) { AddOp => x }").contains("expected the operands"));
    assert!(error("fn f() { AddOp(x) => x }").contains("expected a name for the rewriter"));
    assert!(error("fn f(rw) { AddOp(.., x) => x }").contains("`..` stands last"));
    assert!(error("fn f(rw) { AddOp(x) => x x }").contains("expected the end of the rule"));
}
