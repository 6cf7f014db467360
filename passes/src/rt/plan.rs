//! `plan-buffers`: places the temporaries of a program in one workspace, for all sizes at once.
//!
//! Temporaries that are in use together must not overlap. Where their sizes are symbolic, an order is all that is needed:
//! if of any two such buffers one lies after the other, then every buffer begins where the last of those before it ends,
//! and nothing overlaps at any sizes. So a plan is an acyclic orientation of the interference graph, and the workspace is
//! as large as its longest path. The orientation is read off a packing at the likely sizes: buffers by decreasing size,
//! each in the lowest gap among those that are in use with it. `rt.alloc`'s `after` holds the transitive reduction.

use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::facts::SymbolInfo;
use sutura_dialects::rt::{
    ALIGNMENT, BufferType, BufferUses, Interval, ProgramInfo, ProgramOp, Quantity, Solution, Step,
};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Attr, Op, OpRef, Rewriter, Value};

/// `plan-buffers`
pub static PLAN_BUFFERS: PassInfo = PassInfo {
    name: "PlanBuffers",
    argument: "plan-buffers",
    summary: "Place the temporaries of host programs in one workspace",
    description: "Orders the `rt.alloc` operations of each `rt.program` by `after`, so that temporaries that are in use \
                  together lie apart at all sizes and those that are not share memory; the order is chosen for the likely \
                  values of the symbols. Temporaries that nothing uses are erased.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-buffers", description: "temporaries placed" },
        StatisticInfo { name: "bytes-separate", description: "bytes of all temporaries at the likely sizes" },
        StatisticInfo { name: "bytes-planned", description: "bytes of the workspace at the likely sizes" },
    ],
    create,
};

/// Bytes of a buffer that is larger at the likely values, which is as large as any: sums of these do not overflow.
const LARGEST: i64 = 1 << 40;

/// What a buffer takes at the likely values, up to [`LARGEST`].
fn likely_bytes(bytes: &Poly, value_of: &dyn Fn(&str) -> Option<i64>) -> Option<u64> {
    let at_likely = match bytes.eval(value_of) {
        // Likely values are a guess: at those of a run the sizes may be small.
        None if !bytes.symbols().is_empty() && bytes.excess().is_none() => LARGEST,
        at_likely => at_likely?,
    };
    u64::try_from(at_likely.clamp(0, LARGEST)).ok()?.checked_next_multiple_of(ALIGNMENT as u64)
}

struct PlanBuffers;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(PlanBuffers))
}

impl Pass for PlanBuffers {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let programs = run.body.preorder().filter(|op| OpRef::new(cx, run.body, *op).is::<ProgramOp<'_>>());
        let programs: Vec<Op> = programs.collect();
        for &op in &programs {
            let program = OpRef::new(cx, run.body, op);
            let plan = match Plan::of(program) {
                Ok(plan) => plan,
                Err(diagnostic) => {
                    run.diags.report(diagnostic);
                    return Err(PassError::Failed);
                }
            };
            let remark = plan.remark(program.symbol_name().unwrap_or_default());
            let loc = program.loc();
            run.count("num-buffers", plan.buffers.len() as u64);
            run.count("bytes-separate", plan.separate());
            run.count("bytes-planned", plan.workspace());
            run.remark(loc, remark);
            plan.apply(cx, run.body, op);
        }
        Ok(PreservedAnalyses::unless(!programs.is_empty()))
    }
}

/// A temporary with its place at the likely sizes.
struct Placed {
    op: Op,
    buffer: Value,
    interval: Interval,
    bytes: u64,
    offset: u64,
    /// Numbers of the buffers that it must come after.
    after: Vec<usize>,
}

struct Plan {
    /// By offset; what a buffer comes after stands before it.
    buffers: Vec<Placed>,
    unused: Vec<Op>,
    /// The sizes that the order was chosen for.
    likely: Vec<(String, i64)>,
}

/// The value that a symbol is planned for.
fn likely_value(info: &SymbolInfo) -> i64 {
    /// Where nothing is known: enough that sizes differ as they do at large values.
    const TYPICAL: i64 = 128;
    let value = info.likely.first().copied().unwrap_or_else(|| TYPICAL.clamp(info.min, info.max));
    (value - value.rem_euclid(info.div)).max(info.min)
}

/// The values that symbols are planned for, with what follows from others made of theirs.
fn likely_values(program: &ProgramInfo<'_>) -> Vec<(String, i64)> {
    let symbols = &program.symbols;
    let mut values: Vec<i64> = symbols.iter().map(|symbol| likely_value(&symbol.info)).collect();
    let places: FxHashMap<&str, usize> = symbols.iter().enumerate().map(|(i, s)| (s.name.as_str(), i)).collect();
    let steps = Solution::of(program).map(|solution| [solution.steps, solution.late.concat()].concat());
    for step in steps.unwrap_or_default() {
        let Step::Solve { symbol, quantity: Quantity { dim: None, plus }, factor } = step else { continue };
        let value_of = |name: &str| places.get(name).map(|i| values[*i]);
        let value = plus.eval(&value_of).zip(factor.eval(&value_of));
        if let Some(value) = value.and_then(|(value, factor)| value.checked_div(factor)) {
            values[symbol] = value.clamp(symbols[symbol].info.min, symbols[symbol].info.max);
        }
    }
    symbols.iter().map(|symbol| symbol.name.clone()).zip(values).collect()
}

impl Plan {
    fn of(op: OpRef<'_>) -> Result<Self, Diagnostic> {
        let program = ProgramInfo::read(op).map_err(|message| op.error(message))?;
        let likely = likely_values(&program);
        let values: FxHashMap<&str, i64> = likely.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let value_of = |name: &str| values.get(name).copied();
        let (mut buffers, mut unused) = (Vec::new(), Vec::new());
        for (alloc, interval) in BufferUses::of(program.block).allocs {
            let Some(interval) = interval else {
                unused.push(alloc);
                continue;
            };
            let inner = OpRef::new(op.cx, program.block.body, alloc);
            let buffer = inner.result(0);
            let ty = BufferType::of(op.cx, inner.ty(buffer)).expect("the declaration says a buffer");
            let bytes = likely_bytes(&ty.bytes(op.cx), &value_of)
                .ok_or_else(|| inner.error("has no sensible size at the likely values of the symbols"))?;
            buffers.push(Placed { op: alloc, buffer, interval, bytes, offset: 0, after: Vec::new() });
        }
        let mut plan = Self { buffers, unused, likely };
        plan.pack();
        plan.order();
        Ok(plan)
    }

    /// Gives each buffer an offset at the likely sizes: the largest first, each in the lowest gap that holds it.
    fn pack(&mut self) {
        let mut by_size: Vec<usize> = (0..self.buffers.len()).collect();
        by_size.sort_by_key(|&i| (std::cmp::Reverse(self.buffers[i].bytes), self.buffers[i].interval.first, i));
        for (done, &i) in by_size.iter().enumerate() {
            let interval = self.buffers[i].interval;
            let mut taken: Vec<(u64, u64)> = by_size[..done]
                .iter()
                .map(|&j| &self.buffers[j])
                .filter(|other| other.interval.overlaps(interval))
                .map(|other| (other.offset, other.offset + other.bytes))
                .collect();
            taken.sort_unstable();
            let mut offset = 0;
            for (start, end) in taken {
                if offset + self.buffers[i].bytes <= start {
                    break;
                }
                offset = offset.max(end);
            }
            self.buffers[i].offset = offset;
        }
    }

    /// Sorts by offset and finds for each buffer which it must come directly after.
    fn order(&mut self) {
        self.buffers.sort_by_key(|b| (b.offset, b.interval.first, b.op.index()));
        let words = self.buffers.len().div_ceil(64);
        // For each buffer, those that it comes after in any number of steps.
        let mut before: Vec<Vec<u64>> = Vec::with_capacity(self.buffers.len());
        for i in 0..self.buffers.len() {
            let mut row = vec![0u64; words];
            let mut after = Vec::new();
            for j in (0..i).rev() {
                let together = self.buffers[j].interval.overlaps(self.buffers[i].interval);
                if together && row[j / 64] >> (j % 64) & 1 == 0 {
                    row.iter_mut().zip(&before[j]).for_each(|(a, b)| *a |= b);
                    row[j / 64] |= 1 << (j % 64);
                    after.push(j);
                }
            }
            after.reverse();
            self.buffers[i].after = after;
            before.push(row);
        }
    }

    /// Bytes without sharing, at the likely sizes.
    fn separate(&self) -> u64 {
        self.buffers.iter().map(|b| b.bytes).sum()
    }

    /// Bytes of the workspace at the likely sizes: the longest path.
    fn workspace(&self) -> u64 {
        let mut ends: Vec<u64> = Vec::with_capacity(self.buffers.len());
        for buffer in &self.buffers {
            let start = buffer.after.iter().map(|&j| ends[j]).max().unwrap_or(0);
            ends.push(start + buffer.bytes);
        }
        ends.into_iter().max().unwrap_or(0)
    }

    fn remark(&self, name: &str) -> String {
        let at: Vec<String> = self.likely.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        format!(
            "@{name}: {} temporaries of {} bytes in a workspace of {} bytes{at}",
            self.buffers.len(),
            self.separate(),
            self.workspace()
        )
    }

    /// Moves the allocations to the start of the program, in their order.
    fn apply(&self, cx: &sutura_ir::Context, body: &mut sutura_ir::Body, program: Op) {
        let mut outer = Rewriter::new(cx, body);
        outer.set_prop(program, "planned", Some(Attr::UNIT));
        outer.edit_nested(program, |inside| self.apply_inside(cx, inside)).expect("a program is isolated");
    }

    fn apply_inside(&self, cx: &sutura_ir::Context, inside: &mut sutura_ir::Body) {
        let block = inside.entry_block().expect("a program has a block");
        let mut rewriter = Rewriter::new(cx, inside);
        // What an earlier plan said is forgotten first: it may refer to what is erased or moved.
        for op in self.buffers.iter().map(|b| b.op).chain(self.unused.iter().copied()) {
            rewriter.set_operands(op, &[]);
        }
        for buffer in self.buffers.iter().rev() {
            match rewriter.body().first_op(block) {
                Some(first) if first != buffer.op => rewriter.move_before(buffer.op, first),
                _ => {}
            }
        }
        for buffer in &self.buffers {
            let after: Vec<Value> = buffer.after.iter().map(|&j| self.buffers[j].buffer).collect();
            rewriter.set_operands(buffer.op, &after);
        }
        for &op in &self.unused {
            self.erase_with_views(&mut rewriter, op);
        }
    }

    /// Nothing but views uses it.
    fn erase_with_views(&self, rewriter: &mut Rewriter<'_>, op: Op) {
        let mut chain = vec![op];
        let mut at = 0;
        while at < chain.len() {
            let result = rewriter.body().result(chain[at], 0);
            let users: Vec<Op> = rewriter.body().uses(result).map(|u| u.owner).collect();
            chain.extend(users);
            at += 1;
        }
        while let Some(op) = chain.pop() {
            rewriter.erase_op(op);
        }
    }
}
