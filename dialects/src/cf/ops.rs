//! Operations of the cf dialect.

use sutura_ir::constraints::*;
use sutura_ir::op;

/// Ends the program with a message when the condition is false.
#[op("cf.assert", format = "$arg `,` $msg attr-dict", canonicalize)]
pub struct AssertOp {
    arg: Operand<I1>,
    /// What the user reads.
    msg: Attr<StrAttr>,
}

/// Goes to a block.
///
/// ```mlir
/// cf.br ^next(%0 : f32)
/// ```
#[op("cf.br", traits(Pure, Terminator), format = "$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict")]
pub struct BranchOp {
    /// Arguments of the block.
    #[name("destOperands")]
    dest_operands: Operands<AnyType>,
    dest: Successor,
}

/// Goes to one of two blocks.
///
/// ```mlir
/// cf.cond_br %c, ^then, ^else(%0 : f32)
/// ```
#[op(
    "cf.cond_br",
    traits(Pure, Terminator, AttrSizedOperandSegments),
    format = "$condition (`weights` `(` $branch_weights^ `)`)? `,` \
              $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` \
              $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict",
    canonicalize
)]
pub struct CondBranchOp {
    condition: Operand<I1>,
    /// Arguments of the block for true.
    #[name("trueDestOperands")]
    true_operands: Operands<AnyType>,
    /// Arguments of the block for false.
    #[name("falseDestOperands")]
    false_operands: Operands<AnyType>,
    /// How often each side is taken.
    branch_weights: OptAttr<DenseI32ArrayAttr>,
    #[name("trueDest")]
    true_dest: Successor,
    #[name("falseDest")]
    false_dest: Successor,
}
