//! `update-in-place`: what is copied to be changed, and copied back or exchanged with the copy, is changed where it lies.
//!
//! A loop that writes one row of a tensor an iteration, by `graph.scatter`, writes it in a copy, because tensors are values. So an
//! iteration would cost as much as the tensor is long, and a loop over all rows the square of that.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::rt::{AllocOp, CopyOp, ExchangeOp, ProgramOp, root_buffer};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Block, Body, Context, Op, OpRef, Rewriter, Value};

/// `update-in-place`
pub static UPDATE_IN_PLACE: PassInfo = PassInfo {
    name: "UpdateInPlace",
    argument: "update-in-place",
    summary: "Change in place what host programs copy, change, and take back",
    description: "Where a temporary is copied to another one, which is then changed and copied back, or changes its memory with \
                  the first one, and nothing uses the first one in between and the second one elsewhere, the second is the \
                  first, and both ops go. Runs behind `inline-programs`, which shows what happens in an iteration of a loop.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-updated", description: "temporaries that are changed in place" }],
    create: |_: &PassOptions| Ok(Box::new(UpdateInPlace)),
};

struct UpdateInPlace;

impl Pass for UpdateInPlace {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let ops: Vec<Op> = run.body.entry_block().into_iter().flat_map(|block| run.body.ops(block)).collect();
        let mut updated = 0;
        for program in ops {
            if !OpRef::new(cx, run.body, program).is::<ProgramOp<'_>>() {
                continue;
            }
            let loc = run.body.loc(program);
            let name = OpRef::new(cx, run.body, program).symbol_name().unwrap_or_default().to_owned();
            let Some(body) = run.body.nested_mut(program) else { continue };
            let count = update(cx, body);
            if count > 0 {
                let them = if count == 1 { "temporary is" } else { "temporaries are" };
                run.passed(loc, format!("@{name}: {count} {them} changed in place"));
                // What is left has no place yet.
                Rewriter::new(cx, run.body).set_prop(program, "planned", None);
            }
            updated += count;
        }
        run.count("num-updated", updated);
        Ok(PreservedAnalyses::unless(updated > 0))
    }
}

/// Rounds that are looked for more: what is copied there and back in another such pair shows when that one is gone.
const ROUNDS: usize = 8;

/// Changes what it can of a program; how many temporaries went.
fn update(cx: &Context, body: &mut Body) -> u64 {
    let mut updated = 0;
    for _ in 0..ROUNDS {
        let trips = Uses::of(cx, body).trips(cx, body);
        if trips.is_empty() {
            break;
        }
        updated += trips.len() as u64;
        let mut rw = Rewriter::new(cx, body);
        for trip in trips {
            rw.erase_op(trip.there);
            rw.erase_op(trip.back);
            rw.replace_all_uses(trip.copy, trip.whole);
            if let Some(alloc) = rw.body().defining_op(trip.copy) {
                rw.erase_op(alloc);
            }
        }
    }
    updated
}

/// A temporary that is copied, and the copy, which is copied back or takes its place.
struct Trip {
    there: Op,
    back: Op,
    whole: Value,
    copy: Value,
}

/// Where temporaries are used.
#[derive(Default)]
struct Uses {
    /// The place of each op in its block.
    places: FxHashMap<Op, usize>,
    /// Places of the ops in a block that use a temporary, or in which it is used, through views too; in order.
    uses: FxHashMap<(Value, Block), Vec<usize>>,
    /// How many operands are a temporary, or a view of it.
    counts: FxHashMap<Value, usize>,
    /// Copies, in the order of the program.
    copies: Vec<Op>,
}

impl Uses {
    fn of(cx: &Context, body: &Body) -> Self {
        let mut found = Self::default();
        let mut next: FxHashMap<Block, usize> = FxHashMap::default();
        for op in body.preorder() {
            let Some(block) = body.op_block(op) else { continue };
            let place = next.entry(block).or_default();
            found.places.insert(op, *place);
            *place += 1;
            let view = OpRef::new(cx, body, op);
            if view.is::<CopyOp<'_>>() {
                found.copies.push(op);
            }
            for operand in view.operands() {
                found.add(body, op, root_buffer(cx, body, operand));
            }
        }
        found
    }

    /// Notes that `op` uses a buffer, in all blocks around it.
    fn add(&mut self, body: &Body, op: Op, buffer: Value) {
        *self.counts.entry(buffer).or_default() += 1;
        let mut at = Some(op);
        while let Some((op, block)) = at.and_then(|op| Some((op, body.op_block(op)?))) {
            self.uses.entry((buffer, block)).or_default().push(self.places[&op]);
            at = body.block_region(block).and_then(|region| body.region_parent(region));
        }
    }

    /// What goes there and back, no temporary being of two such pairs.
    fn trips(&self, cx: &Context, body: &Body) -> Vec<Trip> {
        let mut taken = FxHashSet::default();
        let mut trips = Vec::new();
        for there in &self.copies {
            let Some(trip) = self.trip(cx, body, *there) else { continue };
            if taken.contains(&trip.whole) || taken.contains(&trip.copy) {
                continue;
            }
            taken.extend([trip.whole, trip.copy]);
            trips.push(trip);
        }
        trips
    }

    fn trip(&self, cx: &Context, body: &Body, there: Op) -> Option<Trip> {
        let op = OpRef::new(cx, body, there);
        let (whole, copy) = op.as_::<CopyOp<'_>>().map(|this| (this.from(), this.to()))?;
        let is_temporary =
            |value: Value| body.defining_op(value).is_some_and(|op| OpRef::new(cx, body, op).is::<AllocOp<'_>>());
        let same = body.ty(whole) == body.ty(copy) && whole != copy;
        if !same || !is_temporary(whole) || !is_temporary(copy) {
            return None;
        }
        let block = body.op_block(there)?;
        let returns = |user: &Op| {
            let this = OpRef::new(cx, body, *user);
            let copies = this.as_::<CopyOp<'_>>().is_some_and(|this| (this.from(), this.to()) == (copy, whole));
            let both = [(copy, whole), (whole, copy)];
            let exchanges =
                this.as_::<ExchangeOp<'_>>().is_some_and(|this| both.contains(&(this.first(), this.second())));
            (copies || exchanges) && body.op_block(*user) == Some(block)
        };
        let back = body.uses(copy).map(|user| user.owner).find(returns)?;
        let (first, last) = (self.places[&there], self.places[&back]);
        // The copy is used between both only, its views are made there, and it is written there once as a whole.
        let places = self.uses.get(&(copy, block))?;
        let inside = |place: &usize| (first..=last).contains(place);
        let all_inside = places.len() == self.counts[&copy]
            && places.first().is_some_and(inside)
            && places.last().is_some_and(inside);
        // The whole is not used between both.
        let between = self.uses.get(&(whole, block)).is_some_and(|places| {
            let next = places.partition_point(|place| *place <= first);
            places.get(next).is_some_and(|place| *place < last)
        });
        (first < last && all_inside && !between).then_some(Trip { there, back, whole, copy })
    }
}
