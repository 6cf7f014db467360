//! Loops whose iterations may run in any order.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg, UnresolvedOperand};
use sutura_ir::asm::print::Printer;
use sutura_ir::constraints::*;
use sutura_ir::interfaces::RegionSyntax;
use sutura_ir::op_def::{OpView, Verify, VerifyRegions};
use sutura_ir::{Diagnostic, Diagnostics, OpRef, Reported, Type, Value, op};

use super::asm::{parse_assignments, parse_type_list, region_args};
use crate::show;
use crate::slices::{Mixed, mixed};

/// A nest of counted loops, with reductions over all iterations.
///
/// ```mlir
/// %sum = scf.parallel (%i) = (%lb) to (%ub) step (%step) init (%zero) -> f32 {
///   scf.reduce(%x : f32) {
///   ^bb0(%l: f32, %r: f32):
///     %s = arith.addf %l, %r : f32
///     scf.reduce.return %s : f32
///   }
/// }
/// ```
#[op(
    "scf.parallel",
    traits(SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments),
    format = "custom<ParallelHeader>($lowerBound, $upperBound, $step, $initVals, type($initVals), type($results), \
              $region) $region attr-dict",
    implicit_terminator = "scf.reduce",
    verify,
    verify_regions
)]
pub struct ParallelOp {
    #[name("lowerBound")]
    lower_bound: Operands<Index>,
    #[name("upperBound")]
    upper_bound: Operands<Index>,
    step: Operands<Index>,
    /// What the reductions begin with.
    #[name("initVals")]
    init_vals: Operands<AnyType>,
    results: Results<AnyType>,
    /// Takes the induction variables.
    region: Region,
}

/// Ends an iteration of `scf.parallel`: each operand is combined with those of the other iterations by its region.
#[op(
    "scf.reduce",
    traits(Terminator, RecursiveMemoryEffects),
    format = "`` custom<ReduceOperands>($operands, type($operands)) $reductions attr-dict",
    parents("scf.parallel"),
    verify_regions
)]
pub struct ReduceOp {
    operands: Operands<AnyType>,
    /// One per operand; takes two values and returns them combined.
    reductions: Regions,
}

/// Ends a reduction.
#[op(
    "scf.reduce.return",
    traits(Pure, Terminator, ReturnLike),
    format = "$result attr-dict `:` type($result)",
    parents("scf.reduce")
)]
pub struct ReduceReturnOp {
    result: Operand<AnyType>,
}

/// A nest of counted loops over tensors by value: each iteration inserts its part into the shared outputs.
///
/// ```mlir
/// %r = scf.forall (%i) in (%n) shared_outs(%o = %t) -> (tensor<?xf32>) {
///   scf.forall.in_parallel {
///     tensor.parallel_insert_slice %x into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
///   }
/// }
/// ```
#[op(
    "scf.forall",
    traits(SingleBlock, RecursiveMemoryEffects, AttrSizedOperandSegments),
    format = "custom<ForallHeader>($dynamicLowerBound, $dynamicUpperBound, $dynamicStep, $staticLowerBound, \
              $staticUpperBound, $staticStep, $outputs, type($outputs), type($results), $region) $region attr-dict",
    implicit_terminator = "scf.forall.in_parallel",
    verify
)]
pub struct ForallOp {
    #[name("dynamicLowerBound")]
    dynamic_lower_bound: Operands<Index>,
    #[name("dynamicUpperBound")]
    dynamic_upper_bound: Operands<Index>,
    #[name("dynamicStep")]
    dynamic_step: Operands<Index>,
    #[name("staticLowerBound")]
    static_lower_bound: Attr<DenseI64ArrayAttr>,
    #[name("staticUpperBound")]
    static_upper_bound: Attr<DenseI64ArrayAttr>,
    #[name("staticStep")]
    static_step: Attr<DenseI64ArrayAttr>,
    /// Tensors that iterations insert into.
    outputs: Operands<AnyRankedTensor>,
    /// What runs the iterations, per induction variable.
    #[absent]
    mapping: OptAttr<ArrayAttr>,
    results: Results<AnyType>,
    /// Takes the induction variables and the outputs.
    region: Region,
}

impl ForallOp<'_> {
    /// Where each induction variable begins.
    pub fn lower_bounds(self) -> Vec<Mixed> {
        mixed(self.op_ref(), 0, "staticLowerBound")
    }

    /// What each induction variable does not reach.
    pub fn upper_bounds(self) -> Vec<Mixed> {
        mixed(self.op_ref(), 1, "staticUpperBound")
    }

    /// By what each induction variable grows.
    pub fn steps(self) -> Vec<Mixed> {
        mixed(self.op_ref(), 2, "staticStep")
    }
}

/// Ends an iteration of `scf.forall`: what is inserted into its outputs.
#[op(
    "scf.forall.in_parallel",
    traits(Pure, Terminator, SingleBlock, NoTerminator, NoRegionArguments),
    format = "$region attr-dict",
    parents("scf.forall")
)]
pub struct InParallelOp {
    region: Region,
}

/// Runs a region, which may have several blocks, once.
#[op(
    "scf.execute_region",
    traits(RecursiveMemoryEffects),
    format = "custom<ArrowTypes>(type($results)) (`no_inline` $no_inline^)? $region attr-dict",
    verify,
    canonicalize
)]
pub struct ExecuteRegionOp {
    /// It stays an op of its own.
    #[absent]
    no_inline: Flag,
    results: Results<AnyType>,
    region: Region,
}

/// `-> type`, `-> (types)`, or nothing.
pub(super) const ARROW_TYPES: DirectiveDef = DirectiveDef { parse: parse_arrow, print: print_arrow };

/// `(%i, …) = (lower, …) to (upper, …) step (step, …) [init (values) -> types]`
pub(super) const PARALLEL_HEADER: DirectiveDef = DirectiveDef { parse: parse_parallel, print: print_parallel };

/// `(values : types)`, or a blank before nothing.
pub(super) const REDUCE_OPERANDS: DirectiveDef = DirectiveDef { parse: parse_reduce, print: print_reduce };

/// `(%i, …) in (upper, …)` or `(%i, …) = (lower, …) to (upper, …) step (step, …)`, `[shared_outs(%o = %t) -> (types)]`
pub(super) const FORALL_HEADER: DirectiveDef = DirectiveDef { parse: parse_forall, print: print_forall };

/// The terminator is always written.
pub(super) struct WritesTerminator;

impl RegionSyntax for WritesTerminator {
    fn writes_terminator(&self, _: OpRef<'_>) -> bool {
        true
    }
}

/// The terminator is written when there are results.
pub(super) struct WritesTerminatorOfResults;

impl RegionSyntax for WritesTerminatorOfResults {
    fn writes_terminator(&self, op: OpRef<'_>) -> bool {
        op.num_results() != 0
    }
}

fn parse_arrow(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let types = if p.opt_punct("->") { parse_type_list(p)? } else { Vec::new() };
    parts.result_types = vec![Some(types)];
    Ok(())
}

/// One type may be read without parentheses, and is written in them.
pub(super) const PARENTHESIZED_ARROW_TYPES: DirectiveDef =
    DirectiveDef { parse: parse_arrow, print: print_parenthesized_arrow };

fn print_parenthesized_arrow(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if op.num_results() != 0 {
        p.text("-> (");
        p.types(op.result_types());
        p.text(")");
    }
}

fn print_arrow(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if op.num_results() != 0 {
        p.text("-> ");
        p.result_types(op.result_types());
    }
}

/// `(%a, …)`
fn parse_values(p: &mut dyn AsmParser) -> Result<Vec<UnresolvedOperand>, Reported> {
    let mut values = Vec::new();
    p.punct("(")?;
    while !p.opt_punct(")") {
        if !values.is_empty() {
            p.punct(",")?;
        }
        values.push(p.operand()?);
    }
    Ok(values)
}

fn parse_parallel(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let ivs = parse_values(p)?;
    let mut bounds = Vec::new();
    for word in ["=", "to", "step"] {
        if word == "=" {
            p.punct(word)?;
        } else {
            p.keyword(word)?;
        }
        let loc = p.loc();
        let values = parse_values(p)?;
        if values.len() != ivs.len() {
            return Err(p.error_at(loc, &format!("expected {} operands", ivs.len())));
        }
        bounds.push(values);
    }
    let mut inits = Vec::new();
    let loc = p.loc();
    if p.opt_keyword("init") {
        inits = parse_values(p)?;
    }
    parse_arrow(p, parts, &[])?;
    let types = parts.result_types[0].clone().unwrap_or_default();
    if types.len() != inits.len() {
        let (types, inits) = (types.len(), inits.len());
        return Err(p.error_at(loc, &format!("expected as many result types as initial values: {types} and {inits}")));
    }
    bounds.push(inits);
    parts.operands = bounds;
    for i in 0..3 {
        parts.operand_types[i] = Some(vec![Type::INDEX; ivs.len()]);
    }
    parts.operand_types[3] = Some(types);
    parts.region_args = vec![Some(region_args(&ivs, &vec![Type::INDEX; ivs.len()]))];
    Ok(())
}

fn print_values(p: &mut Printer<'_>, op: OpRef<'_>, values: impl IntoIterator<Item = Value>) {
    p.text("(");
    p.list(values, |p, v| p.value(op.body, v));
    p.text(")");
}

fn print_parallel(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let parallel = ParallelOp::from_ref(op);
    print_values(p, op, parallel.region().entry().map_or(&[][..], |b| b.args()).iter().copied());
    p.text(" = ");
    print_values(p, op, parallel.lower_bound());
    p.text(" to ");
    print_values(p, op, parallel.upper_bound());
    p.text(" step ");
    print_values(p, op, parallel.step());
    if parallel.init_vals().len() != 0 {
        p.text(" init ");
        print_values(p, op, parallel.init_vals());
        p.text(" ");
    }
    print_arrow(p, op, &[]);
}

fn parse_reduce(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let mut types = Vec::new();
    if p.opt_punct("(") {
        loop {
            parts.operands[0].push(p.operand()?);
            if !p.opt_punct(",") {
                break;
            }
        }
        p.punct(":")?;
        loop {
            types.push(p.ty()?);
            if !p.opt_punct(",") {
                break;
            }
        }
        p.punct(")")?;
    }
    parts.operand_types[0] = Some(types);
    Ok(())
}

fn print_reduce(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if op.num_operands() != 0 {
        p.text("(");
        p.operands(op, 0..op.num_operands());
        p.text(" : ");
        p.types(op.operand_types());
        p.text(")");
    }
    // The blank before the regions, which upstream writes without them too.
    if op.regions().len() == 0 {
        p.text(" ");
    }
}

/// `(%a, 4, …)`, values as operand group `group`.
fn parse_bounds(p: &mut dyn AsmParser, parts: &mut OpParts, group: usize, name: &str) -> Result<usize, Reported> {
    let numbers = crate::asm::parse_mixed(p, parts, group, ["(", ")"])?;
    parts.set_prop(p.cx(), name, p.cx().i64_array(&numbers));
    Ok(numbers.len())
}

fn parse_forall(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let ivs = parse_values(p)?;
    let loc = p.loc();
    let mut counts = Vec::new();
    if p.opt_keyword("in") {
        counts.push(parse_bounds(p, parts, 1, "staticUpperBound")?);
        for (name, number) in [("staticLowerBound", 0), ("staticStep", 1)] {
            parts.set_prop(p.cx(), name, p.cx().i64_array(&vec![number; counts[0]]));
        }
    } else {
        p.punct("=")?;
        counts.push(parse_bounds(p, parts, 0, "staticLowerBound")?);
        p.keyword("to")?;
        counts.push(parse_bounds(p, parts, 1, "staticUpperBound")?);
        p.keyword("step")?;
        counts.push(parse_bounds(p, parts, 2, "staticStep")?);
    }
    if counts.iter().any(|count| *count != ivs.len()) {
        return Err(p.error_at(loc, &format!("expected {} bounds, one for each induction variable", ivs.len())));
    }
    let (mut args, mut outputs, mut types) = (ivs, Vec::new(), Vec::new());
    let loc = p.loc();
    if p.opt_keyword("shared_outs") {
        let (names, first) = parse_assignments(p)?;
        p.punct("->")?;
        types = parse_type_list(p)?;
        if types.len() != first.len() {
            let (types, outs) = (types.len(), first.len());
            return Err(p.error_at(loc, &format!("mismatch between shared_outs and types: {outs} and {types}")));
        }
        args.extend(names);
        outputs = first;
    }
    let mut arg_types = vec![Type::INDEX; args.len() - types.len()];
    arg_types.extend(&types);
    let args: Vec<RegionArg> = region_args(&args, &arg_types);
    parts.region_args = vec![Some(args)];
    parts.operands[3] = outputs;
    parts.operand_types[3] = Some(types.clone());
    parts.result_types = vec![Some(types)];
    Ok(())
}

fn print_bounds(p: &mut Printer<'_>, op: OpRef<'_>, bounds: Vec<Mixed>) {
    p.text("(");
    p.list(bounds, |p, bound| match bound {
        Mixed::Value(value) => p.value(op.body, value),
        Mixed::Static(number) => p.int(number),
    });
    p.text(")");
}

fn print_forall(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let forall = ForallOp::from_ref(op);
    let (lower, upper, step) = (forall.lower_bounds(), forall.upper_bounds(), forall.steps());
    let args = forall.region().entry().map_or(&[][..], |b| b.args());
    let (ivs, outs) = args.split_at(upper.len().min(args.len()));
    print_values(p, op, ivs.iter().copied());
    let all = |list: &[Mixed], number| list.iter().all(|b| *b == Mixed::Static(number));
    if all(&lower, 0) && all(&step, 1) {
        p.text(" in ");
        print_bounds(p, op, upper);
    } else {
        p.text(" = ");
        print_bounds(p, op, lower);
        p.text(" to ");
        print_bounds(p, op, upper);
        p.text(" step ");
        print_bounds(p, op, step);
    }
    if outs.is_empty() {
        return;
    }
    p.text(" shared_outs(");
    p.list(outs.iter().zip(forall.outputs()), |p, (arg, output)| {
        p.value(op.body, *arg);
        p.text(" = ");
        p.value(op.body, output);
    });
    p.text(") -> (");
    p.types(op.result_types());
    p.text(")");
}

fn arg_types(op: OpRef<'_>) -> Vec<Type> {
    let entry = op.region(0).and_then(|r| r.entry());
    entry.map(|b| b.args().iter().map(|v| b.body.ty(*v)).collect()).unwrap_or_default()
}

impl Verify for ParallelOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_parallel(ParallelOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_parallel(parallel: ParallelOp<'_>) -> Result<(), Diagnostic> {
    let op = parallel.op_ref();
    let count = parallel.step().len();
    if count == 0 {
        return Err(op.error("needs at least one tuple element for lowerBound, upperBound and step"));
    }
    if parallel.lower_bound().len() != count || parallel.upper_bound().len() != count {
        return Err(op.error("expects the same number of lower bounds, upper bounds and steps"));
    }
    if parallel.region().entry().is_none() {
        return Err(op.error("region #0 ('region') failed to verify constraint: region with 1 blocks"));
    }
    let args = arg_types(op);
    if args.len() != count {
        return Err(op.error("expects the same number of induction variables and step values"));
    }
    if args.iter().any(|ty| *ty != Type::INDEX) {
        return Err(op.error("expects arguments for the induction variable to be of index type"));
    }
    if op.num_results() != parallel.init_vals().len() {
        let (results, inits) = (op.num_results(), parallel.init_vals().len());
        return Err(op.error(format!(
            "expects number of results: {results} to be the same as number of initial values: {inits}"
        )));
    }
    Ok(())
}

impl VerifyRegions for ParallelOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let last = op.region(0).and_then(|r| r.entry()).and_then(|b| b.ops().last());
        let Some(reduce) = last.filter(|last| last.is::<ReduceOp<'_>>()) else {
            return Err(diags.report(op.error("expects body to terminate with 'scf.reduce'")));
        };
        let (results, reductions) = (op.num_results(), reduce.num_operands());
        if results != reductions {
            let message =
                format!("expects number of results: {results} to be the same as number of reductions: {reductions}");
            return Err(diags.report(op.error(message)));
        }
        for (i, (result, reduced)) in op.result_types().zip(reduce.operand_types()).enumerate() {
            if result != reduced {
                let message = format!(
                    "expects type of {i}-th result type: '{}' to be the same as the {i}-th reduction type: '{}'",
                    show::ty(op.cx, result),
                    show::ty(op.cx, reduced)
                );
                return Err(diags.report(op.error(message)));
            }
        }
        Ok(())
    }
}

impl VerifyRegions for ReduceOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let regions: Vec<_> = op.regions().collect();
        if regions.len() != op.num_operands() {
            let (operands, regions) = (op.num_operands(), regions.len());
            let message =
                format!("expects number of operands: {operands} to be the same as number of reductions: {regions}");
            return Err(diags.report(op.error(message)));
        }
        for (i, (region, ty)) in regions.into_iter().zip(op.operand_types()).enumerate() {
            let entry = region.entry();
            let args: Vec<Type> = entry.map(|b| b.args().iter().map(|v| b.body.ty(*v)).collect()).unwrap_or_default();
            if args.len() != 2 || args.iter().any(|arg| *arg != ty) {
                let ty = show::ty(op.cx, ty);
                let message = format!("expected two block arguments with type '{ty}' in the {i}-th reduction region");
                return Err(diags.report(op.error(message)));
            }
            let last = entry.and_then(|b| b.ops().last());
            if !last.is_some_and(|last| last.is::<ReduceReturnOp<'_>>()) {
                let message = "the block inside reduce should not be empty".to_string();
                return Err(diags.report(op.error(message)));
            }
        }
        Ok(())
    }
}

impl Verify for ForallOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_forall(ForallOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_forall(forall: ForallOp<'_>) -> Result<(), Diagnostic> {
    let op = forall.op_ref();
    let rank = forall.static_upper_bound().len();
    if forall.outputs().len() != op.num_results() {
        let (results, outs) = (op.num_results(), forall.outputs().len());
        return Err(op.error(format!("produces {results} results, but has only {outs} outputs")));
    }
    for (i, name) in ["staticLowerBound", "staticUpperBound", "staticStep"].into_iter().enumerate() {
        crate::slices::verify_mixed(op, &name.replacen("static", "", 1).to_lowercase(), i, name, Some(rank))?;
    }
    if forall.region().entry().is_none() {
        return Err(op.error("region #0 ('region') failed to verify constraint: region with 1 blocks"));
    }
    let args = arg_types(op);
    if args.len() != rank + forall.outputs().len() {
        return Err(
            op.error("region expects ".to_string() + &(rank + forall.outputs().len()).to_string() + " arguments")
        );
    }
    if let Some(i) = args[..rank].iter().position(|ty| *ty != Type::INDEX) {
        return Err(op.error(format!("expects {i}-th block argument to be an index")));
    }
    let outputs: Vec<Type> = forall.outputs().map(|v| op.ty(v)).collect();
    let results: Vec<Type> = op.result_types().collect();
    for (i, output) in outputs.iter().enumerate() {
        if results[i] != *output {
            let (output, found) = (show::ty(op.cx, *output), show::ty(op.cx, results[i]));
            return Err(op.error(format!("type mismatch between {i}-th output ('{output}') and result ('{found}')")));
        }
        if args[rank + i] != *output {
            let arg = rank + i;
            return Err(op.error(format!("type mismatch between {i}-th output and corresponding block argument {arg}")));
        }
    }
    if forall.mapping().is_some_and(|mapping| mapping.len() != rank) {
        return Err(op.error("mapping attribute size must match op rank"));
    }
    Ok(())
}

impl Verify for ExecuteRegionOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        match op.region(0).and_then(|r| r.entry()) {
            None => Err(diags.report(op.error("region needs to have at least one block"))),
            Some(entry) if !entry.args().is_empty() => Err(diags.report(op.error("region cannot have any arguments"))),
            Some(_) => Ok(()),
        }
    }
}
