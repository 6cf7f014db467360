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
    check("\"a.b\"", &doc("#[absent] x: Attr<StrAttr>"), "#[absent]", "belongs on an `OptAttr<…>` or `Flag` field");
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
