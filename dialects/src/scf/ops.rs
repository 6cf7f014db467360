//! Operations of the scf dialect.

use sutura_ir::constraints::*;
use sutura_ir::{Builder, Loc, Op, Region, Type, Value, op};

/// A counted loop from a lower to (not including) an upper bound by a positive step, which may carry values.
///
/// ```mlir
/// %sum = scf.for %i = %lb to %ub step %step iter_args(%acc = %zero) -> (f32) {
///   %next = arith.addf %acc, %x : f32
///   scf.yield %next : f32
/// }
/// ```
#[op(
    "scf.for",
    traits(SingleBlock, RecursiveMemoryEffects),
    format = "custom<ForHeader>($unsignedCmp, $lowerBound, $upperBound, $step, $initArgs, type($lowerBound), \
              type($upperBound), type($step), type($initArgs), type($results), $region) $region attr-dict",
    implicit_terminator = "scf.yield",
    verify,
    verify_regions,
    canonicalize
)]
pub struct ForOp<T: AnySignlessIntegerOrIndex> {
    #[name("lowerBound")]
    lower_bound: Operand<T>,
    #[name("upperBound")]
    upper_bound: Operand<T>,
    step: Operand<T>,
    /// First values of the loop-carried values.
    #[name("initArgs")]
    init_args: Operands<AnyType>,
    /// The bounds are compared as unsigned integers.
    #[name("unsignedCmp")]
    #[absent]
    unsigned_cmp: Flag,
    /// Last values of the loop-carried values.
    results: Results<AnyType>,
    /// Takes the induction variable and the loop-carried values; yields their next ones.
    region: Region,
}

impl<'a> ForOp<'a> {
    /// The induction variable.
    pub fn induction_var(self) -> Value {
        self.block_args()[0]
    }

    /// The loop-carried values inside the loop.
    pub fn iter_args(self) -> &'a [Value] {
        &self.block_args()[1..]
    }

    fn block_args(self) -> &'a [Value] {
        self.region().entry().map_or(&[], |b| b.args())
    }

    /// A loop whose body `fill` builds: it gets the induction variable and the loop-carried values, and returns their
    /// next ones.
    pub fn with_body(
        b: &mut Builder<'_>,
        loc: Loc,
        [lower, upper, step]: [Value; 3],
        inits: &[Value],
        fill: impl FnOnce(&mut Builder<'_>, Value, &[Value]) -> Vec<Value>,
    ) -> Op {
        let types: Vec<Type> = inits.iter().map(|v| b.body().ty(*v)).collect();
        let op = Self::build(b, loc, lower, upper, step, inits, &types);
        let region = b.body().regions(op).next().expect("a loop has a region");
        let mut args = vec![(b.body().ty(lower), loc)];
        args.extend(types.iter().map(|ty| (*ty, loc)));
        let block = b.create_block(region, &args);
        let args = b.body().block_args(block).to_vec();
        let point = b.set_insert_point(sutura_ir::builder::InsertPoint::End(block));
        let next = fill(b, args[0], &args[1..]);
        YieldOp::build(b, loc, &next);
        b.set_insert_point(point);
        op
    }
}

/// A conditional; with results, both sides yield them.
///
/// ```mlir
/// %x = scf.if %c -> (f32) {
///   scf.yield %a : f32
/// } else {
///   scf.yield %b : f32
/// }
/// ```
#[op(
    "scf.if",
    traits(SingleBlock, RecursiveMemoryEffects, NoRegionArguments),
    format = "$condition custom<ParenthesizedArrowTypes>(type($results)) $thenRegion (`else` $elseRegion^)? attr-dict",
    implicit_terminator = "scf.yield",
    verify,
    verify_regions,
    canonicalize
)]
pub struct IfOp {
    condition: Operand<I1>,
    results: Results<AnyType>,
    #[name("thenRegion")]
    then_region: Region,
    /// May be empty when there are no results.
    #[name("elseRegion")]
    else_region: Region,
}

impl IfOp<'_> {
    /// A conditional whose sides `fill` builds: called with true, then with false, it returns what the side yields.
    pub fn with_bodies(
        b: &mut Builder<'_>,
        loc: Loc,
        condition: Value,
        results: &[Type],
        mut fill: impl FnMut(&mut Builder<'_>, bool) -> Vec<Value>,
    ) -> Op {
        let op = Self::build(b, loc, condition, results);
        let regions: Vec<Region> = b.body().regions(op).collect();
        for (region, side) in regions.into_iter().zip([true, false]) {
            let block = b.create_block(region, &[]);
            let point = b.set_insert_point(sutura_ir::builder::InsertPoint::End(block));
            let values = fill(b, side);
            YieldOp::build(b, loc, &values);
            b.set_insert_point(point);
        }
        op
    }
}

/// A loop that runs as long as its first region says so.
///
/// ```mlir
/// %r = scf.while (%a = %init) : (f32) -> f32 {
///   %go = arith.cmpf olt, %a, %limit : f32
///   scf.condition(%go) %a : f32
/// } do {
/// ^bb0(%b: f32):
///   %next = arith.addf %b, %b : f32
///   scf.yield %next : f32
/// }
/// ```
#[op(
    "scf.while",
    traits(SingleBlock, RecursiveMemoryEffects),
    format = "custom<WhileHeader>($inits, type($inits), type($results), $before) $before `do` $after \
              attr-dict-with-keyword",
    verify,
    verify_regions,
    canonicalize
)]
pub struct WhileOp {
    /// Arguments of the first region, the first time.
    inits: Operands<AnyType>,
    /// What `scf.condition` passes on at the end.
    results: Results<AnyType>,
    /// Decides whether to go on.
    before: Region,
    /// The work; yields the next arguments of the first region.
    after: Region,
}

/// Ends the first region of `scf.while`: goes on to the second when the condition is true, else leaves the loop.
#[op(
    "scf.condition",
    traits(Pure, Terminator),
    format = "`(` $condition `)` attr-dict ($args^ `:` type($args))?",
    parents("scf.while")
)]
pub struct ConditionOp {
    condition: Operand<I1>,
    /// Arguments of the second region, or results of the loop.
    args: Operands<AnyType>,
}

/// Ends a region of a structured op and hands values to it.
#[op(
    "scf.yield",
    traits(Pure, Terminator, ReturnLike),
    format = "attr-dict ($results^ `:` type($results))?",
    parents("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while")
)]
pub struct YieldOp {
    results: Operands<AnyType>,
}
