//! The operations of the dialect: declarations of symbols and of what is known of them.

use sutura_ir::constraints::{Index, StrAttr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::op_def::{AttrConstraintDef as _, AttrSyntax, Verify};
use sutura_ir::registry::{Dialect, DialectBuilder};
use sutura_ir::{Attr, AttrData, BlockRef, Op, OpRef, Rewriter, Type, attr_constraints, op};

use super::attr::{self, ShapeAttr};
use super::facts::{Contradiction, Facts, MAX_DIM, SymbolInfo};
use super::poly::Poly;

/// The `dyn` dialect.
#[derive(Clone, Copy, Debug)]
pub struct DynDialect;

impl Dialect for DynDialect {
    const NAME: &'static str = "dyn";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Symbolic sizes: symbols with what is known of them, and equalities between sizes.");
        d.attr("shape", attr::parse_shape);
        d.directive("Name", super::asm::NAME).directive("Size", super::asm::SIZE);
        d.op::<SymbolOp<'_>>().op::<EqualOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        super::interp::register(d);
    }
}

/// Elements of `[1, 2]`, an array of 64-bit integers.
fn ints(cx: &sutura_ir::Context, attr: Attr) -> Option<Vec<i64>> {
    let int = |a: &Attr| match cx.attr_data(*a) {
        AttrData::Integer { ty: Type::I64, value } => Some(value),
        _ => None,
    };
    cx.array(attr)?.iter().map(int).collect()
}

fn int_array(cx: &sutura_ir::Context, values: &[i64]) -> Attr {
    let elements: Vec<Attr> = values.iter().map(|v| cx.int_attr(*v, Type::I64)).collect();
    cx.array_attr(&elements)
}

attr_constraints! {
    /// `[low, high]`, both included.
    pub RangeAttr = "array of two 64-bit integers, the smallest and the largest value", AttrSyntax::Plain;
    get |cx, attr| -> (i64, i64) {
        match ints(cx, attr)?[..] {
            [low, high] => Some((low, high)),
            _ => None,
        }
    }
    set |cx, value: (i64, i64)| { int_array(cx, &[value.0, value.1]) }

    /// `[128, 256]`
    pub ValuesAttr = "array of 64-bit integers", AttrSyntax::Plain;
    get |cx, attr| -> Vec<i64> { ints(cx, attr) }
    set |cx, value: &'a [i64]| { int_array(cx, value) }

    /// A positive 64-bit integer.
    pub DivisorAttr = "positive 64-bit integer", AttrSyntax::Untyped(Type::I64);
    get |cx, attr| -> i64 {
        match cx.attr_data(attr) {
            AttrData::Integer { ty: Type::I64, value: value @ 1.. } => Some(value),
            _ => None,
        }
    }
    set |cx, value: i64| { cx.int_attr(value, Type::I64) }

    /// `#dyn.shape<[size]>`
    pub SizeAttr = "#dyn.shape of one known size", AttrSyntax::Plain;
    get |cx, attr| -> &'a Poly {
        match &cx.attr_as::<ShapeAttr>(attr)?.dims[..] {
            [Some(size)] => Some(size),
            _ => None,
        }
    }
    set |cx, value: &'a Poly| { attr::shape_attr(cx, std::slice::from_ref(value)) }

    /// `#dyn.shape<[a, b]>` without `?`
    pub SizesAttr = "#dyn.shape of known sizes", AttrSyntax::Plain;
    get |cx, attr| -> Vec<Poly> { attr::known_dims(cx, attr) }
    set |cx, value: &'a [Poly]| { attr::shape_attr(cx, value) }
}

/// A symbolic size, with what is known of its values.
///
/// Stands at the entry of a function or region of its own; the sizes of tensor types around it (`#dyn.shape`) refer to
/// the symbol by name, and the result is its value. Every value lies in `range` (both ends included) and is a multiple
/// of `div`; `likely` lists values to expect, most likely first. What is stated is checked at run time.
///
/// ```mlir
/// %S = dyn.symbol "S" {div = 8, likely = [128], range = [8, 512]} : index
/// ```
#[op("dyn.symbol", format = "custom<Name>($name) attr-dict `:` type($result)", verify)]
pub struct SymbolOp {
    /// Name that sizes use.
    name: Attr<StrAttr>,
    /// Smallest and largest value.
    #[default((0, MAX_DIM))]
    range: Attr<RangeAttr>,
    /// Every value is a multiple of it.
    #[default(1)]
    div: Attr<DivisorAttr>,
    /// Values to expect.
    #[default(&[])]
    likely: Attr<ValuesAttr>,
    /// The symbol's value.
    result: Res<Index>,
}

/// Two sizes that are equal in every run.
///
/// `source` says where the equality comes from, in words for the message of the run-time check.
///
/// ```mlir
/// dyn.equal [T], [S + 1] {source = "past_mask and key"}
/// ```
#[op("dyn.equal", format = "custom<Size>($lhs) `,` custom<Size>($rhs) attr-dict")]
pub struct EqualOp {
    /// One size.
    lhs: Attr<SizeAttr>,
    /// The other.
    rhs: Attr<SizeAttr>,
    /// Where the equality comes from.
    source: OptAttr<StrAttr>,
}

/// Words with a meaning of their own in sizes.
const OPERATORS: [&str; 3] = ["floordiv", "ceildiv", "mod"];

/// True for a name that a symbol may have: a letter or `_`, then letters, digits, `_`, `.` and `$`, and no operator.
pub fn is_symbol_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    first && chars.all(|c| c.is_ascii_alphanumeric() || "_.$".contains(c)) && !OPERATORS.contains(&name)
}

impl SymbolOp<'_> {
    /// Makes the op state this.
    pub fn set_info(rw: &mut Rewriter<'_>, op: Op, info: &SymbolInfo) {
        let (cx, before) = (rw.cx(), rw.view::<SymbolOp<'_>>(op).map(|symbol| symbol.info()).unwrap_or_default());
        if (info.min, info.max) != (before.min, before.max) {
            rw.set_prop(op, "range", Some(RangeAttr::set(cx, (info.min, info.max))));
        }
        if info.div != before.div {
            rw.set_prop(op, "div", Some(DivisorAttr::set(cx, info.div)));
        }
        if info.likely != before.likely {
            rw.set_prop(op, "likely", Some(ValuesAttr::set(cx, &info.likely)));
        }
    }

    /// What the op states.
    pub fn info(&self) -> SymbolInfo {
        let (min, max) = self.range();
        SymbolInfo { min, max, div: self.div(), likely: self.likely() }
    }
}

impl Verify for SymbolOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(symbol) = op.as_::<SymbolOp<'_>>() else { return Ok(()) };
        let name = symbol.name();
        if !is_symbol_name(name) {
            return Err(diags.report(op.error(format_args!("name '{name}' cannot be used in sizes")).help(
                "a name is a letter or '_' followed by letters, digits, '_', '.' and '$', and no operator's name",
            )));
        }
        let (low, high) = symbol.range();
        if low > high {
            return Err(diags.report(op.error(format_args!("range [{low}, {high}] of '{name}' is empty"))));
        }
        let outside = |v: &&i64| **v < low || **v > high || **v % symbol.div() != 0;
        if let Some(value) = symbol.likely().iter().find(outside) {
            let message = format!("likely value {value} of '{name}' is none of its values");
            return Err(diags.report(op.error(message)));
        }
        Ok(())
    }
}

impl Facts {
    /// What the `dyn.symbol` and `dyn.equal` ops directly in the entry block of `function` state; any op with a region
    /// will do.
    ///
    /// # Errors
    /// When equalities contradict each other, with the op that does so.
    pub fn of_function<'a>(function: OpRef<'a>) -> Result<Self, (OpRef<'a>, Contradiction)> {
        function.region(0).and_then(|r| r.entry()).map_or_else(|| Ok(Self::new()), Self::of_block)
    }

    /// What the `dyn.symbol` and `dyn.equal` ops directly in a block state.
    ///
    /// # Errors
    /// When equalities contradict each other, with the op that does so.
    pub fn of_block(entry: BlockRef<'_>) -> Result<Self, (OpRef<'_>, Contradiction)> {
        let mut facts = Self::new();
        for symbol in entry.ops().filter_map(|op| op.as_::<SymbolOp<'_>>()) {
            facts.define(symbol.name(), symbol.info());
        }
        facts.assume_stated(entry)?;
        Ok(facts)
    }

    /// Assumes what the `dyn.equal` ops directly in a block state.
    ///
    /// # Errors
    /// When equalities contradict each other, with the op that does so.
    pub fn assume_stated<'a>(&mut self, entry: BlockRef<'a>) -> Result<(), (OpRef<'a>, Contradiction)> {
        for op in entry.ops() {
            if let Some(equal) = op.as_::<EqualOp<'_>>() {
                self.assume_equal(equal.lhs(), equal.rhs()).map_err(|c| (op, c))?;
            }
        }
        Ok(())
    }
}
