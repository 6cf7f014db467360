//! Operations of the cf dialect.

use sutura_ir::constraints::*;
use sutura_ir::op_def::{OpView, Verify};
use sutura_ir::{Diagnostics, OpRef, Reported, op};

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

/// Goes to the block of the case whose number is the value, else to the default one.
///
/// ```mlir
/// cf.switch %x : i32, [
///   default: ^bb1(%a : i32),
///   42: ^bb2
/// ]
/// ```
#[op(
    "cf.switch",
    traits(Pure, Terminator, AttrSizedOperandSegments),
    format = "$flag `:` type($flag) `,` `[` custom<SwitchCases>($case_values, $case_operand_segments, \
              $defaultDestination, $defaultOperands, type($defaultOperands), $caseDestinations, $caseOperands, \
              type($caseOperands)) `]` attr-dict",
    verify,
    canonicalize
)]
pub struct SwitchOp {
    flag: Operand<AnyInteger>,
    /// Arguments of the default block.
    #[name("defaultOperands")]
    default_operands: Operands<AnyType>,
    /// Arguments of the blocks of the cases, one block after the other.
    #[name("caseOperands")]
    case_operands: Operands<AnyType>,
    /// Numbers of the cases, as a vector.
    case_values: OptAttr<AnyAttr>,
    /// For each case how many of `caseOperands` are its.
    case_operand_segments: Attr<DenseI32ArrayAttr>,
    #[name("defaultDestination")]
    default_destination: Successor,
    #[name("caseDestinations")]
    case_destinations: Successors,
}

impl Verify for SwitchOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let switch = SwitchOp::from_ref(op);
        let destinations = op.successors().len().saturating_sub(1);
        let values = switch.case_values().and_then(|a| op.cx.dense(a));
        let flag = op.ty(switch.flag());
        if let Some(elem) = values.as_ref().map(|v| v.element_type()).filter(|elem| *elem != flag) {
            let (flag, elem) = (crate::show::ty(op.cx, flag), crate::show::ty(op.cx, elem));
            let message = format!("'flag' type ('{flag}') should match case value type ('{elem}')");
            return Err(diags.report(op.error(message)));
        }
        let count = values.map_or(0, |v| v.len());
        if count == destinations {
            return Ok(());
        }
        let message =
            format!("number of case values ({count}) should match number of case destinations ({destinations})");
        Err(diags.report(op.error(message)))
    }
}
