//! A dialect with one op for each thing that a format can do, and helpers to parse and print.

#![allow(dead_code, unreachable_pub)]

use std::fmt;

use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, ParamParser, RegionArg};
use sutura_ir::asm::print::{PrintOptions, Printer, module_text, type_text};
use sutura_ir::constraints::*;
use sutura_ir::ext::ParamValue;
use sutura_ir::{Attr, Context, Diagnostics, Dialect, DialectBuilder, Module, OpRef, Registry, Reported, Type, op};

sutura_ir::keyword_attrs! {
    /// Directions.
    pub enum Way(Type::I64) = "allowed 64-bit signless integer cases: 0, 1";
    {
        /// Upwards.
        Up = 0 => "up",
        /// Downwards.
        Down = 1 => "down",
    }
}

/// Adds.
#[op("t.add", format = "$lhs `,` $rhs attr-dict `:` type($sum)")]
pub struct AddOp<T: AnyType> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    sum: Res<T>,
}

/// A constant.
#[op("t.const", traits(ConstantLike), format = "attr-dict $value")]
pub struct ConstOp {
    #[name("value")]
    constant: Attr<AnyAttr>,
    result: Res<AnyType>,
}

/// A function of sorts.
#[op(
    "t.fn",
    traits(IsolatedFromAbove, Symbol),
    format = "$sym_name attr-dict-with-keyword ($body^)?",
    default_dialect = "t",
    implicit_terminator = "t.end"
)]
pub struct FnOp {
    sym_name: Attr<SymbolNameAttr>,
    body: Region,
}

/// A loop with carried values.
#[op(
    "t.loop",
    traits(SingleBlock),
    format = "custom<Carried>($inits, type($inits), type($outs), $body) $body attr-dict",
    implicit_terminator = "t.end"
)]
pub struct LoopOp {
    inits: Operands<AnyType>,
    outs: Results<AnyType>,
    body: Region,
}

/// A condition.
#[op(
    "t.if",
    traits(SingleBlock),
    format = "$cond (`else_first` $otherwise^)? $then attr-dict",
    implicit_terminator = "t.end"
)]
pub struct IfOp {
    cond: Operand<I1>,
    then: Region,
    otherwise: Region,
}

/// Any number of regions.
#[op("t.arms", format = "attr-dict-with-keyword $arms")]
pub struct ArmsOp {
    arms: Regions,
}

/// Ends a block.
#[op("t.end", traits(Terminator), format = "attr-dict")]
pub struct EndOp {}

/// Goes elsewhere.
#[op("t.br", traits(Terminator), format = "$dest (`(` $args^ `:` type($args) `)`)? attr-dict")]
pub struct BrOp {
    args: Operands<AnyType>,
    dest: Successor,
}

/// Optional parts of every kind.
#[op(
    "t.many",
    traits(AttrSizedOperandSegments),
    format = "$way (`fast` $fast^)? ($sizes^)? (`from` $first^ `:` type($first)) : (`nowhere`)? \
              (`[` $rest^ `]`)? (`as` $elem^)? attr-dict `:` functional-type($rest, $outs)"
)]
pub struct ManyOp {
    first: OptOperand<AnyType>,
    rest: Operands<AnyType>,
    way: Attr<Way>,
    fast: Flag,
    sizes: OptAttr<DenseI64ArrayAttr>,
    elem: OptAttr<TypeAttr>,
    outs: Results<AnyType>,
}

/// Clauses in any order.
#[op(
    "t.clauses",
    format = "oilist(`private` `(` $private `:` type($private) `)` | `nowait` $nowait | `limit` `=` $limit) attr-dict"
)]
pub struct ClausesOp {
    private: Operands<AnyType>,
    nowait: Flag,
    limit: OptAttr<I64Attr>,
}

/// `inits(%a = %x : i32) -> (i32)`
const CARRIED: DirectiveDef = DirectiveDef { parse: parse_carried, print: print_carried };

fn groups(args: &[DirectiveArg]) -> (usize, usize, usize) {
    match args {
        [
            DirectiveArg::Operand(i),
            DirectiveArg::OperandType(_),
            DirectiveArg::ResultType(o),
            DirectiveArg::Region(r),
        ] => (*i, *o, *r),
        _ => panic!("the format names other parts"),
    }
}

fn parse_carried(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let (inits, outs, region) = groups(args);
    let (mut types, mut names) = (Vec::new(), Vec::new());
    if p.opt_keyword("carry") {
        p.punct("(")?;
        loop {
            let name = p.operand()?;
            p.punct("=")?;
            parts.operands[inits].push(p.operand()?);
            p.punct(":")?;
            let ty = p.ty()?;
            types.push(ty);
            names.push(RegionArg { name: Some(name.name), ty, loc: name.loc });
            if !p.opt_punct(",") {
                break;
            }
        }
        p.punct(")")?;
    }
    parts.operand_types[inits] = Some(types.clone());
    parts.result_types[outs] = Some(types);
    parts.region_args[region] = Some(names);
    Ok(())
}

fn print_carried(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let (_, _, region) = groups(args);
    let entry = op.region(region).and_then(|r| r.entry());
    let values: Vec<_> = entry.map(|b| b.args().to_vec()).unwrap_or_default();
    if values.is_empty() {
        return;
    }
    p.text(" carry(");
    let pairs: Vec<_> = values.into_iter().zip(op.operands()).collect();
    p.list(pairs, |p, (arg, init)| {
        p.value(op.inside(), arg);
        p.text(" = ");
        p.value(op.body, init);
        p.text(" : ");
        p.ty(op.ty(init));
    });
    p.text(")");
}

/// `!t.pair<f32, 4>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pair(Type, i64);

impl ParamValue for Pair {
    const NAME: &'static str = "t.pair";

    fn print(&self, cx: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{}, {}>", type_text(cx, self.0), self.1)
    }
}

fn parse_pair(p: &mut dyn ParamParser) -> Result<Type, Reported> {
    p.punct("<")?;
    let ty = p.ty()?;
    p.punct(",")?;
    let n = p.int()?;
    p.punct(">")?;
    let value = Pair(ty, n);
    Ok(p.cx().ext_type(value))
}

/// `#t.note<["a", "b"]>`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Note(Vec<String>);

impl ParamValue for Note {
    const NAME: &'static str = "t.note";

    fn print(&self, _: &Context, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "<{:?}>", self.0)
    }
}

fn parse_note(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
    p.punct("<")?;
    let mut words = Vec::new();
    p.list("[", "]", &mut |p| {
        words.push(p.string()?);
        Ok(())
    })?;
    p.punct(">")?;
    Ok(p.cx().ext_attr(Note(words)))
}

pub struct TestDialect;

impl Dialect for TestDialect {
    const NAME: &'static str = "t";

    fn register(d: &mut DialectBuilder<'_>) {
        d.directive("Carried", CARRIED);
        d.ty("pair", parse_pair).attr("note", parse_note);
        d.op::<AddOp<'_>>().op::<ConstOp<'_>>().op::<FnOp<'_>>().op::<LoopOp<'_>>().op::<IfOp<'_>>();
        d.op::<ArmsOp<'_>>().op::<EndOp<'_>>().op::<BrOp<'_>>().op::<ManyOp<'_>>();
        d.op::<ClausesOp<'_>>();
    }
}

pub fn context() -> Context {
    Context::new(Registry::default().with::<TestDialect>())
}

/// Parses a text; errors come as `line:column: message`, with hints after a bar.
pub fn parse(cx: &Context, text: &str) -> Result<Module, Vec<String>> {
    parse_with(cx, text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() })
}

pub fn parse_with(cx: &Context, text: &str, options: &ParseOptions) -> Result<Module, Vec<String>> {
    let source = cx.sources().add("test.mlir", text).expect("the text is small");
    let mut diags = Diagnostics::default();
    let module = parse_module(cx, &source, options, &mut diags);
    let lines = diags.iter().map(|d| {
        let place = cx.file_line_col(d.loc).map(|(_, l, c)| format!("{l}:{c}: ")).unwrap_or_default();
        let help = d.help.as_ref().map(|h| format!(" | {h}")).unwrap_or_default();
        format!("{place}{}{help}", d.message)
    });
    let lines: Vec<String> = lines.collect();
    assert_eq!(module.is_err(), !lines.is_empty(), "an error is reported exactly when parsing fails: {lines:?}");
    module.map_err(|_| lines)
}

/// Parses, prints, and checks that the print parses to the same.
pub fn round_trip(text: &str, options: &PrintOptions) -> String {
    let cx = context();
    let module = parse(&cx, text).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    let printed = module_text(&cx, &module, options);
    let again = parse(&cx, &printed).unwrap_or_else(|e| panic!("{e:#?}\n{printed}"));
    assert_eq!(module_text(&cx, &again, options), printed);
    printed
}

pub fn generic(text: &str) -> String {
    round_trip(text, &PrintOptions::generic())
}

pub fn custom(text: &str) -> String {
    round_trip(text, &PrintOptions::default())
}

pub fn errors(text: &str) -> Vec<String> {
    let cx = context();
    parse(&cx, text).err().unwrap_or_else(|| panic!("accepted: {text}"))
}
