//! The builtin dialect: `builtin.module` and `builtin.unrealized_conversion_cast`.

use smallvec::SmallVec;
use sutura_macros::op;

use crate::attrs::Attr;
use crate::body::Value;
use crate::diagnostics::{Diagnostics, Reported};
use crate::interfaces::{InlineCallables, Inliner};
use crate::op_def::{Fold, FoldValue, OpView, Verify};
use crate::op_ref::OpRef;
use crate::registry::{Dialect, DialectBuilder};

/// The builtin dialect.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinDialect;

impl Dialect for BuiltinDialect {
    const NAME: &'static str = "builtin";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("The types, attributes and top-level op that every program uses.");
        d.op::<ModuleOp<'_>>().op::<UnrealizedConversionCastOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
    }
}

/// A container of symbols and top-level operations.
///
/// Its one region holds one block, without terminator, whose ops may stand in any order.
///
/// ```mlir
/// module @program {
///   func.func private @f()
/// }
/// ```
#[op(
    "builtin.module",
    traits(
        AffineScope,
        IsolatedFromAbove,
        NoRegionArguments,
        SymbolTable,
        Symbol,
        SingleBlock,
        NoTerminator,
        GraphRegion
    ),
    format = "($sym_name^)? attr-dict-with-keyword $bodyRegion",
    default_dialect = "builtin",
    verify
)]
pub struct ModuleOp {
    /// Name under which an outer module refers to this one.
    sym_name: OptAttr<crate::constraints::SymbolNameAttr>,
    /// `public`, `private` or `nested`.
    sym_visibility: OptAttr<crate::constraints::StrAttr>,
    /// The container's contents.
    #[name("bodyRegion")]
    body: Region,
}

impl Verify for ModuleOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let discardable = op.cx.entries(op.body.attrs(op.op));
        match discardable.iter().map(|e| op.cx.str(e.name)).find(|name| !name.contains('.')) {
            Some(name) => Err(diags.report(
                op.error(format_args!("can only contain attributes with dialect-prefixed names, found: '{name}'")),
            )),
            None => Ok(()),
        }
    }
}

/// A conversion between sets of types that has no meaning of its own.
///
/// Bridges two type systems while one is being replaced by the other; a finished lowering has none left.
///
/// ```mlir
/// %1 = unrealized_conversion_cast %0 : i64 to index
/// ```
#[op(
    "builtin.unrealized_conversion_cast",
    traits(Pure),
    format = "($inputs^ `:` type($inputs))? `to` type($outputs) attr-dict",
    verify,
    fold
)]
pub struct UnrealizedConversionCastOp {
    /// Values of the old types.
    inputs: Operands<crate::constraints::AnyType>,
    /// The same in the new types.
    outputs: Results<crate::constraints::AnyType>,
}

impl Verify for UnrealizedConversionCastOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        if op.num_results() == 0 {
            return Err(diags.report(op.error("expected at least one result for cast operation")));
        }
        Ok(())
    }
}

impl Fold for UnrealizedConversionCastOp<'_> {
    /// A cast to the types that its inputs have, or back to those that they were cast from, does nothing.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
        if op.operand_types().eq(op.result_types()) {
            return Some(op.operands().map(FoldValue::Value).collect());
        }
        let first = op.operands().next()?;
        let producer = op.at(op.body.defining_op(first)?).as_::<UnrealizedConversionCastOp<'_>>()?;
        let inputs: Vec<Value> = producer.inputs().collect();
        let back = producer.outputs().eq(op.operands()) && producer.op_ref().operand_types().eq(op.result_types());
        back.then(|| inputs.into_iter().map(FoldValue::Value).collect())
    }
}
