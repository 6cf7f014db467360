use super::*;
use crate::op_def::{Arity, AttrConstraint, AttrDef, AttrSyntax, RegionDef, Traits, TypeConstraint, ValueDef};

const ANY: TypeConstraint = TypeConstraint { name: "AnyType", description: "any type", check: |_, _| true, only: None };
const fn attr(syntax: AttrSyntax) -> AttrConstraint {
    AttrConstraint { name: "AnyAttr", description: "any attribute", check: |_, _| true, syntax }
}
const fn value(name: &'static str, arity: Arity) -> ValueDef {
    ValueDef { name, arity, constraint: ANY, var: None }
}

static OP: OpDef = OpDef {
    name: "t.op",
    summary: "",
    description: "",
    type_vars: &[],
    operands: &[value("lhs", Arity::Single), value("rest", Arity::Variadic)],
    results: &[value("out", Arity::Single)],
    attrs: &[
        AttrDef {
            name: "flag",
            constraint: attr(AttrSyntax::Unit),
            optional: true,
            default: None,
            elide_default: false,
        },
        AttrDef {
            name: "note",
            constraint: attr(AttrSyntax::Plain),
            optional: true,
            default: None,
            elide_default: false,
        },
    ],
    regions: &[RegionDef { name: "body", arity: Arity::Single }],
    successors: &[],
    traits: Traits::NONE,
    parents: &[],
    default_dialect: None,
    implicit_terminator: None,
    format: None,
    verify: None,
    verify_regions: None,
    fold: None,
    infer: None,
    canonicalize: None,
};

fn error(text: &str) -> String {
    Format::compile(&OP, text).expect_err("the format is wrong")
}

/// Element names with `_` before those that a blank precedes.
fn shape(text: &str) -> String {
    let format = Format::compile(&OP, text).expect("the format is right");
    let name = |item: &Item| {
        let name = match &item.element {
            Element::Literal(text) => text.clone(),
            Element::Space(text) => format!("{text:?}"),
            Element::Optional(o) => format!("?{},{},{}", o.then, o.otherwise, o.anchor),
            Element::Skip(n) => format!(">{n}"),
            Element::AnyOrder(n) => format!("*{n}"),
            Element::Again(n) => format!("<{n}"),
            other => format!("{other:?}"),
        };
        if item.blank { format!("_{name}") } else { name }
    };
    format.items.iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn blanks_follow_mlirs_rules() {
    assert_eq!(
        shape("$lhs `(` $rest `)` $body attr-dict `:` functional-type(operands, results)"),
        "_Operand(0) ( Operand(1) ) _Region(0) AttrDict(false) _: _FunctionalType(Operands, Results)"
    );
    assert_eq!(
        shape("$lhs `` `[` `]` `,` $rest $body attr-dict `->` type($out) `` `:` type(operands)"),
        "_Operand(0) \"\" [ ] , _Operand(1) _Region(0) AttrDict(false) _-> _TypeOf(Result(0)) \"\" : \
         _TypeOf(Operands)"
    );
}

#[test]
fn groups_are_flat() {
    let text = "$lhs (`flag` $flag^)? (`note` $note^ `!`)?";
    assert!(error(text).contains("`!` is neither a keyword nor punctuation"));
    let text = "$lhs (`flag` $flag^)? ($rest^ `:` type($rest))? : (`none`)? $body attr-dict `:` type($lhs) type($out)";
    assert!(error(text).contains("unexpected `:`"));
    let text = "$lhs (`flag` $flag^)? ($rest^ `:` type($rest)) : (`none`)? $body attr-dict `:` type($lhs) type($out)";
    assert_eq!(
        shape(text),
        "_Operand(0) ?2,0,1 _flag _Attr(0) ?4,1,0 _Operand(1) _: _TypeOf(Operand(1)) >1 _none _Region(0) \
         AttrDict(false) _: _TypeOf(Operand(0)) _TypeOf(Result(0))"
    );
}

#[test]
fn clauses_are_groups_that_end_where_the_list_is_looked_at_again() {
    let text = "oilist(`flag` $flag | `of` $rest `:` type($rest)) $lhs $body attr-dict `:` type($lhs) type($out)";
    assert_eq!(
        shape(text),
        "*10 ?3,0,1 _flag _Attr(0) <4 ?5,0,1 _of _Operand(1) _: _TypeOf(Operand(1)) <10 _Operand(0) _Region(0) \
         AttrDict(false) _: _TypeOf(Operand(0)) _TypeOf(Result(0))"
    );
    assert!(error("oilist($flag)").contains("begins with a literal"));
    assert!(error("oilist(`a` $flag^)").contains("has no anchor"));
    assert!(error("oilist(`a`)").contains("can be absent"));
    assert!(error("oilist(`a` $lhs)").contains("can be absent"));
    assert!(error("oilist(`a` $flag | `a` $note)").contains("two clauses of `oilist` begin with `a`"));
    assert!(error("(`b` oilist(`a` $note) $flag^)?").contains("stands in no group"));
    assert!(error("oilist(`a` $flag | )").contains("begins with a literal"));
    assert!(error("$lhs | $rest").contains("unexpected `|`") || error("$lhs | $rest").contains("unbalanced"));
}

#[test]
fn says_what_is_wrong_and_where() {
    assert!(error("$lhs $left").contains("the op declares no `$left`"));
    assert!(error("$lhs $res").contains("did you mean `$rest`?"));
    assert!(error("$lhs $res").contains("at column 6"));
    assert!(error("attr-dit").contains("did you mean `attr-dict`?"));
    assert!(error("$lhs $lhs").contains("operand `$lhs` is written twice"));
    assert!(error("$lhs `(").contains("unterminated literal"));
    assert!(error("$lhs $body attr-dict").contains("operand `$rest` is not written"));
    assert!(error("operands attr-dict").contains("region `$body` is not written"));
    assert!(error("operands $body").contains("needs `attr-dict`"));
    assert!(error("operands $body attr-dict `:` type($out)").contains("add `type($lhs)`"));
    assert!(error("operands $body attr-dict `:` type(operands)").contains("add `type($out)`"));
    assert!(error("($lhs^)?").contains("can be absent"));
    assert!(error("(type($rest)^)?").contains("first element"));
    assert!(error("(`a`)?").contains("expected an anchor"));
    assert!(error("$out").contains("may only stand in `type"));
    assert!(error(")").contains("unbalanced"));
    assert!(error(&"(".repeat(100)).contains("nested too deeply"));
}

#[test]
fn directives_are_bound_by_name() {
    let text = "custom<Both>($lhs, $rest, type($lhs), type($rest), type($out)) $body attr-dict";
    let mut format = Format::compile(&OP, text).expect("the format is right");
    let error = format.bind(&IndexMap::new()).expect_err("nothing is registered");
    assert_eq!(error, "no directive `Both` is registered");
}
