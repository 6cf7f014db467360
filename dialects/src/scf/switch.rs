//! `scf.index_switch`: one of several regions, by a number.

use std::ops::Range;

use rustc_hash::FxHashSet;
use sutura_interp::{Fault, Flow, Frame, InterpError, Interpret, Values};
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::constraints::*;
use sutura_ir::interfaces::{ConditionallySpeculatable, RegionBranchOp, RegionTarget, RegionTargets, Speculatability};
use sutura_ir::op_def::{Canonicalize, OpView, Verify};
use sutura_ir::pattern::PatternSet;
use sutura_ir::smallvec::smallvec;
use sutura_ir::{Attr, Diagnostic, Diagnostics, DialectBuilder, Op, OpRef, Reported, Rewriter, op};

use super::canonicalize::replace_by_block;
use super::ops::YieldOp;
use super::verify::{entry, last_op, report};
use crate::interp::region;
use crate::show;

/// Runs the region of the case that the number is, or the default one; what it yields are the results.
///
/// ```mlir
/// %r = scf.index_switch %i -> i32
/// case 2 {
///   scf.yield %a : i32
/// }
/// default {
///   scf.yield %b : i32
/// }
/// ```
#[op(
    "scf.index_switch",
    traits(SingleBlock, RecursiveMemoryEffects, NoRegionArguments),
    format = "$arg attr-dict (`->` type($results)^)? custom<SwitchCase>($cases, $caseRegions) $caseRegions `\\n` `` \
              `default` $defaultRegion",
    implicit_terminator = "scf.yield",
    verify,
    canonicalize
)]
pub struct IndexSwitchOp {
    arg: Operand<Index>,
    /// Numbers of the cases, each once.
    cases: Attr<DenseI64ArrayAttr>,
    results: Results<AnyType>,
    #[name("defaultRegion")]
    default_region: Region,
    /// One for each case.
    #[name("caseRegions")]
    case_regions: Regions,
}

impl IndexSwitchOp<'_> {
    /// Number of the region that runs for `number`; the default one is the first.
    pub fn region_for(self, number: i64) -> usize {
        self.cases().iter().position(|case| *case == number).map_or(0, |i| i + 1)
    }
}

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.directive("SwitchCase", CASE).op::<IndexSwitchOp<'_>>();
    d.op_interface::<crate::scf::IndexSwitchOp<'_>, dyn RegionBranchOp>(&Switch)
        .op_interface::<crate::scf::IndexSwitchOp<'_>, dyn ConditionallySpeculatable>(&Switch)
        .op_interface::<crate::scf::IndexSwitchOp<'_>, dyn Interpret>(&run);
}

// ---- text

/// `case 2`, before the region of each case
const CASE: DirectiveDef = DirectiveDef { parse: parse_case, print: print_case };

fn parse_case(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_keyword("case") {
        let loc = p.loc();
        let Some(case) = p.opt_int()? else { return Err(p.error_at(loc, "expected integer value")) };
        parts.set_prop(p.cx(), "cases", p.cx().int_attr(case, sutura_ir::Type::I64));
        return Ok(());
    }
    let cx = p.cx();
    // All have been read: the numbers become one attribute.
    let name = cx.ident("cases");
    let is_case = |e: &sutura_ir::attrs::NamedAttr| e.name == name && cx.as_int(e.value).is_some();
    let cases: Vec<i64> = parts.props.iter().filter(|e| is_case(e)).filter_map(|e| cx.as_int(e.value)).collect();
    parts.props.retain(|e| !is_case(e));
    parts.set_prop(cx, "cases", cx.i64_array(&cases));
    Ok(())
}

fn print_case(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let number = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { i.checked_sub(1) } else { None });
    let case = number.and_then(|i| IndexSwitchOp::from_ref(op).cases().get(i).copied());
    p.new_line();
    p.text(&format!("case {}", case.unwrap_or_default()));
}

// ---- checks

impl Verify for IndexSwitchOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        report(diags, verify_cases(IndexSwitchOp::from_ref(op)))
    }
}

fn verify_cases(switch: IndexSwitchOp<'_>) -> Result<(), Diagnostic> {
    let op = switch.op_ref();
    let regions = op.regions().len() - 1;
    entry(op, 0, "defaultRegion")?;
    (1..=regions).try_for_each(|i| entry(op, i, "caseRegions"))?;
    let cases = switch.cases();
    if cases.len() != regions {
        return Err(op.error(format!("has {regions} case regions but {} case values", cases.len())));
    }
    let mut seen = FxHashSet::default();
    if let Some(case) = cases.iter().find(|case| !seen.insert(**case)) {
        return Err(op.error(format!("has duplicate case value: {case}")));
    }
    (0..=regions).try_for_each(|i| verify_yield(op, i))
}

/// Region `index` ends in a yield of the results.
fn verify_yield(op: OpRef<'_>, index: usize) -> Result<(), Diagnostic> {
    let Some(last) = last_op(op, index) else { return Ok(()) };
    if !last.is::<YieldOp<'_>>() {
        return Err(op.error(format!("expected region to end with scf.yield, but got {}", last.name_str())));
    }
    let (wanted, found) = (op.num_results(), last.num_operands());
    if wanted != found {
        let name = index.checked_sub(1).map_or("default region".to_string(), |case| format!("case region #{case}"));
        return Err(op.error(format!("expected each region to return {wanted} values, but {name} returns {found}")));
    }
    match op.result_types().zip(last.operand_types()).enumerate().find(|(_, (wanted, found))| wanted != found) {
        None => Ok(()),
        Some((i, (wanted, _))) => {
            Err(op.error(format!("expected result #{i} of each region to be '{}'", show::ty(op.cx, wanted))))
        }
    }
}

// ---- meaning

struct Switch;

impl RegionBranchOp for Switch {
    fn begin(&self, op: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets {
        match operands.first().copied().flatten().and_then(|a| op.cx.as_int(a)) {
            Some(number) => smallvec![RegionTarget::Region(IndexSwitchOp::from_ref(op).region_for(number))],
            None => (0..op.regions().len()).map(RegionTarget::Region).collect(),
        }
    }

    fn after(&self, _: OpRef<'_>, _: usize, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        smallvec![RegionTarget::Parent]
    }

    fn begin_operands(&self, _: OpRef<'_>, _: RegionTarget) -> Range<usize> {
        0..0
    }
}

impl ConditionallySpeculatable for Switch {
    fn speculatability(&self, _: OpRef<'_>) -> Speculatability {
        Speculatability::Recursively
    }
}

fn run(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let number =
        frame.operand(0)?.scalar()?.as_i64().ok_or_else(|| Fault::type_mismatch("the number is no integer"))?;
    let values = frame.run_region(region(op, IndexSwitchOp::from_ref(op).region_for(number))?, Values::new())?;
    frame.set_results(values)?;
    Ok(Flow::Next)
}

impl Canonicalize for IndexSwitchOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<IndexSwitchOp<'_>>("switch_on_constant", switch_on_constant);
    }
}

fn switch_on_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let block = {
        let switch = rw.view::<IndexSwitchOp<'_>>(op)?;
        let this = switch.op_ref();
        let number = rw.cx().as_int(this.constant(switch.arg())?)?;
        this.region(switch.region_for(number))?.entry()?.block
    };
    replace_by_block(op, rw, block, &[])
}
