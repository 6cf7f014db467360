//! Operations of the func dialect.

use sutura_ir::constraints::*;
use sutura_ir::op_def::Verify;
use sutura_ir::{Body, Builder, Context, Diagnostics, Loc, Op, OpRef, OpState, Reported, Type, op};

/// A function: its name, its signature and, unless it is only declared, its body.
///
/// Isolated from above: what it uses comes in as arguments of its entry block, or by symbol.
///
/// ```mlir
/// func.func @twice(%x: f32) -> f32 {
///   %0 = arith.addf %x, %x : f32
///   return %0 : f32
/// }
/// func.func private @external(i32, tensor<?xf32>) -> index
/// ```
#[op(
    "func.func",
    traits(IsolatedFromAbove, Symbol, AffineScope),
    format = "custom<NameAndVisibility>($sym_visibility, $sym_name) `` \
              custom<Signature>($function_type, $arg_attrs, $res_attrs, $body) attr-dict-with-keyword ($body^)?",
    default_dialect = "func",
    verify,
    verify_regions
)]
pub struct FuncOp {
    /// Name by which it is called.
    sym_name: Attr<SymbolNameAttr>,
    /// Types of arguments and results.
    function_type: Attr<FunctionTypeAttr>,
    /// `public`, `private` or `nested`.
    sym_visibility: OptAttr<StrAttr>,
    /// One dictionary per argument.
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    res_attrs: OptAttr<DictArrayAttr>,
    /// Inlining is not wanted.
    #[absent]
    no_inline: Flag,
    /// Empty for a declaration.
    body: Region,
}

impl<'a> FuncOp<'a> {
    /// Types of the arguments.
    pub fn inputs(self) -> &'a [Type] {
        self.signature().0
    }

    /// Types of the results.
    pub fn results(self) -> &'a [Type] {
        self.signature().1
    }

    fn signature(self) -> (&'a [Type], &'a [Type]) {
        self.0.cx.signature(self.function_type()).expect("a function type")
    }

    /// True without a body.
    pub fn is_declaration(self) -> bool {
        self.body().is_empty()
    }

    /// A function with one block, whose arguments are those of the signature; `fill` builds into the block.
    pub fn define(
        b: &mut Builder<'_>,
        loc: Loc,
        name: &str,
        inputs: &[Type],
        results: &[Type],
        fill: impl FnOnce(&mut Builder<'_>),
    ) -> Op {
        let ty = b.cx().function_type(inputs, results);
        let state = Self::state(b, loc, name, ty, None, None, None);
        Self::with_body(b, loc, state, inputs, fill)
    }

    fn with_body(
        b: &mut Builder<'_>,
        loc: Loc,
        state: OpState,
        inputs: &[Type],
        fill: impl FnOnce(&mut Builder<'_>),
    ) -> Op {
        let cx: &Context = b.cx();
        let mut body = Box::new(Body::new(1));
        let region = body.region();
        let mut inside = Builder::new(cx, &mut body);
        let args: Vec<(Type, Loc)> = inputs.iter().map(|ty| (*ty, loc)).collect();
        let block = inside.create_block(region, &args);
        inside.set_to_end(block);
        fill(&mut inside);
        b.create_isolated(state, body)
    }
}

/// Calls a function that is a value.
///
/// ```mlir
/// %1 = func.call_indirect %f(%0) : (f32) -> f32
/// ```
#[op(
    "func.call_indirect",
    format = "$callee `(` $callee_operands `)` attr-dict `:` \
              custom<CalleeType>(type($callee), type($callee_operands), type($results))",
    verify
)]
pub struct CallIndirectOp {
    callee: Operand<FunctionType>,
    callee_operands: Operands<AnyType>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    results: Results<AnyType>,
}

impl Verify for CallIndirectOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some((inputs, results)) = op.cx.signature(op.ty(op.operand(0))) else { return Ok(()) };
        if op.operand_types().skip(1).ne(inputs.iter().copied()) {
            let message = "failed to verify that callee input types match argument types";
            return Err(diags.report(op.error(message)));
        }
        if op.result_types().ne(results.iter().copied()) {
            let message = "failed to verify that callee result types match result types";
            return Err(diags.report(op.error(message)));
        }
        Ok(())
    }
}

/// Calls the function of this name.
///
/// ```mlir
/// %1 = func.call @twice(%0) : (f32) -> f32
/// ```
#[op("func.call", format = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, results)")]
pub struct CallOp {
    /// The function.
    callee: Attr<FlatSymbolRefAttr>,
    operands: Operands<AnyType>,
    /// One dictionary per argument.
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    res_attrs: OptAttr<DictArrayAttr>,
    /// Inlining is not wanted.
    #[absent]
    no_inline: Flag,
    results: Results<AnyType>,
}

/// A function as a value, such as to be called through a pointer.
///
/// ```mlir
/// %f = func.constant @twice : (f32) -> f32
/// ```
#[op("func.constant", traits(Pure), format = "attr-dict $value `:` type($result)")]
pub struct ConstantOp {
    /// The function.
    #[name("value")]
    callee: Attr<FlatSymbolRefAttr>,
    result: Res<FunctionType>,
}

/// Ends a function and hands its results to the caller.
#[op(
    "func.return",
    traits(Pure, Terminator, ReturnLike),
    format = "attr-dict ($operands^ `:` type($operands))?",
    parents("func.func")
)]
pub struct ReturnOp {
    operands: Operands<AnyType>,
}
