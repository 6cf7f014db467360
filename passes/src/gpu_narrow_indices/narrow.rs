//! The arithmetic of a kernel in 32 bits: what may be, and how it is done.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::arith::IntegerOverflowFlags;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gpu::GPUFuncOp;
use sutura_dialects::rt::KernelSignature;
use sutura_dialects::scf::ForOp;
use sutura_ir::{Attr, Body, Context, Op, OpRef, OpState, Rewriter, Type, Value};

use super::ranges::Ranges;
use super::upper::Upper;

/// What becomes of a kernel's 64-bit integers.
#[derive(Default)]
pub(super) struct Plan {
    /// Those that become 32-bit ones.
    narrow: FxHashSet<Value>,
    /// Operations that take 32-bit integers in place of 64-bit ones.
    takes: FxHashSet<Op>,
    /// Sums, differences and products of what is never negative; quotients and remainders too.
    unsigned: FxHashSet<Op>,
    /// Comparisons that always come out the same.
    known: FxHashMap<Op, bool>,
    /// What bounds the magnitude of all of them.
    pub(super) bound: Upper,
    /// Something that is done often, or slow, takes 32-bit integers.
    pub(super) worth: bool,
}

const ARITHMETIC: [&str; 12] = [
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.divsi",
    "arith.divui",
    "arith.remsi",
    "arith.remui",
    "arith.minsi",
    "arith.maxsi",
    "arith.select",
    "arith.index_cast",
    "arith.index_castui",
];

impl Plan {
    /// Decides by the ranges of a kernel's values; no constant above `limit` becomes a 32-bit integer. There is none where a
    /// bound is too large to be written.
    pub(super) fn of(
        func: GPUFuncOp<'_>,
        signature: &KernelSignature,
        cx: &Context,
        body: &Body,
        limit: i64,
    ) -> Option<Self> {
        let ranges = Ranges::of(func, signature, cx, body);
        let mut planner = Planner { cx, body, ranges, limit: limit.into(), plan: Self::default(), fits: true };
        for op in body.preorder() {
            planner.visit(OpRef::new(cx, body, op));
        }
        planner.fits.then_some(planner.plan)
    }

    /// What must be at least zero for the plan to be right, over the kernel's sizes.
    pub(super) fn room(&self, signature: &KernelSignature, limit: i64) -> Option<Poly> {
        let mut room = Poly::constant(limit);
        for (sizes, coefficient) in self.bound.rounded() {
            let factors: Vec<Poly> = sizes.iter().map(|size| Poly::symbol(&signature.dims[*size as usize].0)).collect();
            room = room.sub(&Poly::product(&factors).scale(i64::try_from(coefficient).ok()?));
        }
        Some(room)
    }
}

struct Planner<'a> {
    cx: &'a Context,
    body: &'a Body,
    ranges: Ranges<'a>,
    limit: i128,
    plan: Plan,
    /// No bound was too large to be written.
    fits: bool,
}

impl Planner<'_> {
    /// A bound of the magnitude over the kernel's sizes.
    fn bound(&self, value: Value) -> Option<Upper> {
        let bound = self.ranges.over_sizes(&self.ranges.range(value).magnitude()?)?;
        let small = bound.rounded().all(|(_, coefficient)| coefficient <= self.limit);
        small.then_some(bound)
    }

    /// Makes sure of a bound, and says whether there is one.
    fn demand(&mut self, bound: Option<Upper>) -> bool {
        let Some(bound) = bound else { return false };
        // Constants were compared when the bound was asked for.
        if bound.is_constant() {
            return true;
        }
        match self.plan.bound.join(&bound) {
            Some(all) => self.plan.bound = all,
            None => self.fits = false,
        }
        true
    }

    fn is_wide(&self, value: Value) -> bool {
        self.body.ty(value) == Type::I64
    }

    /// All 64-bit integers among the values, if they can be 32-bit ones.
    fn all_bounded(&self, values: impl Iterator<Item = Value>) -> Option<Vec<Upper>> {
        let wide: Vec<Value> = values.filter(|value| self.is_wide(*value)).collect();
        wide.into_iter().map(|value| self.bound(value)).collect()
    }

    fn visit(&mut self, op: OpRef<'_>) {
        match op.name_str() {
            "scf.for" => self.visit_loop(op),
            "scf.if" => {
                for result in op.results().filter(|result| self.is_wide(*result)).collect::<Vec<_>>() {
                    let bound = self.bound(result);
                    if self.demand(bound) {
                        self.plan.narrow.insert(result);
                    }
                }
            }
            "arith.cmpi" => self.visit_comparison(op),
            "arith.trunci" | "arith.sitofp" | "llvm.getelementptr" => {
                self.take(op);
            }
            "arith.extui" | "arith.extsi" => self.make(op),
            name if ARITHMETIC.contains(&name) => self.make(op),
            _ => {}
        }
    }

    /// The operation takes 32-bit integers, if it can.
    fn take(&mut self, op: OpRef<'_>) -> bool {
        let Some(bounds) = self.all_bounded(op.operands()).filter(|bounds| !bounds.is_empty()) else { return false };
        bounds.into_iter().for_each(|bound| {
            self.demand(Some(bound));
        });
        self.plan.takes.insert(op.op)
    }

    /// The operation's result becomes a 32-bit integer, if it and all operands can.
    fn make(&mut self, op: OpRef<'_>) {
        let result = op.result(0);
        if !self.is_wide(result) {
            // A cast to `index`. An unsigned one of 32 bits would make another number of what is below 0.
            if op.name_str() != "arith.index_castui" || self.ranges.range(op.operand(0)).is_not_negative() {
                self.take(op);
            }
            return;
        }
        let (Some(operands), Some(bound)) = (self.all_bounded(op.operands()), self.bound(result)) else { return };
        operands.into_iter().chain([bound]).for_each(|bound| {
            self.demand(Some(bound));
        });
        self.plan.takes.insert(op.op);
        self.plan.narrow.insert(result);
        let slow = ["arith.mul", "arith.div", "arith.rem"].iter().any(|name| op.name_str().starts_with(name));
        self.plan.worth |= slow || self.in_loop(op);
        let not_negative = |value: Value| self.ranges.range(value).is_not_negative();
        if op.operands().chain([result]).all(not_negative) {
            self.plan.unsigned.insert(op.op);
        }
    }

    fn visit_comparison(&mut self, op: OpRef<'_>) {
        if let Some(known) = self.ranges.known(op.result(0)) {
            self.plan.known.insert(op.op, known);
        }
        let predicate = op.prop("predicate").and_then(|a| self.cx.as_int(a)).unwrap_or(i64::MAX);
        // Those above are of unsigned integers.
        const SIGNED: i64 = 5;
        if predicate <= SIGNED || op.operands().all(|value| self.ranges.range(value).is_not_negative()) {
            self.take(op);
        }
    }

    /// A loop counts in 32 bits where also what comes after the last index fits.
    fn visit_loop(&mut self, op: OpRef<'_>) {
        let Some(for_op) = op.as_::<ForOp<'_>>() else { return };
        let Some(index) = self.index_of(op).filter(|index| self.is_wide(*index)) else { return };
        let ends = [for_op.lower_bound(), for_op.upper_bound(), for_op.step()];
        let (Some(bounds), false) = (self.all_bounded(ends.into_iter()), for_op.unsigned_cmp()) else { return };
        let Some(next) = bounds[1].add(&bounds[2]) else { return };
        bounds.into_iter().chain([next]).for_each(|bound| {
            self.demand(Some(bound));
        });
        self.plan.takes.insert(op.op);
        self.plan.narrow.insert(index);
        self.plan.worth = true;
    }

    fn in_loop(&self, op: OpRef<'_>) -> bool {
        let parents = std::iter::successors(self.body.parent_op(op.op), |parent| self.body.parent_op(*parent));
        parents.into_iter().any(|parent| self.body.name(parent).as_str(self.cx) == "scf.for")
    }

    fn index_of(&self, op: OpRef<'_>) -> Option<Value> {
        let block = self.body.region_entry(self.body.regions(op.op).next()?)?;
        self.body.block_args(block).first().copied()
    }
}

/// Changes a kernel's body by the plan that was made for it.
pub(super) fn apply(cx: &Context, body: &mut Body, plan: &Plan) {
    let ops: Vec<Op> = body.preorder().collect();
    let mut rewriter = Rewriter::new(cx, body);
    let (narrowed, widened, made) = (FxHashMap::default(), FxHashMap::default(), FxHashSet::default());
    let mut change = Change { rw: &mut rewriter, plan, narrowed, widened, made };
    for op in &ops {
        change.op(*op);
    }
    // Last, as users of the casts want what they had.
    for op in ops.into_iter().filter(|op| plan.takes.contains(op)) {
        drop_cast(&mut rewriter, op);
    }
}

/// Removes a cast of what has 32 bits by now.
fn drop_cast(rewriter: &mut Rewriter<'_>, op: Op) {
    if !rewriter.body().is_live(op) || rewriter.op_ref(op).name_str() != "arith.trunci" {
        return;
    }
    let view = rewriter.op_ref(op);
    let (operand, result) = (view.operand(0), view.result(0));
    if view.ty(operand) == view.ty(result) {
        rewriter.replace_op(op, &[operand]);
    }
}

struct Change<'c, 'b> {
    rw: &'c mut Rewriter<'b>,
    plan: &'c Plan,
    /// 32-bit integers made of 64-bit ones, and the other way round.
    narrowed: FxHashMap<Value, Value>,
    widened: FxHashMap<Value, Value>,
    /// What was a 64-bit integer.
    made: FxHashSet<Value>,
}

impl Change<'_, '_> {
    fn op(&mut self, op: Op) {
        let name = self.rw.body().name(op).as_str(self.rw.cx());
        let operands: Vec<Value> = self.rw.op_ref(op).operands().collect();
        for (at, value) in operands.into_iter().enumerate() {
            let wanted = if self.takes(op, name, at) { self.narrow(value) } else { self.widen(value) };
            if wanted != value {
                self.rw.set_operand(op, at, wanted);
            }
        }
        let results: Vec<Value> = self.rw.op_ref(op).results().collect();
        for result in results.into_iter().filter(|result| self.plan.narrow.contains(result)) {
            self.becomes_narrow(result);
        }
        match name {
            "scf.for" => {
                let region = self.rw.body().regions(op).next();
                let block = region.and_then(|region| self.rw.body().region_entry(region));
                let index = block.and_then(|block| self.rw.body().block_args(block).first().copied());
                if let Some(index) = index.filter(|index| self.plan.narrow.contains(index)) {
                    self.becomes_narrow(index);
                }
            }
            "arith.cmpi" => self.decide(op),
            _ if self.plan.takes.contains(&op) => self.promise(op, name),
            _ => {}
        }
    }

    fn becomes_narrow(&mut self, value: Value) {
        self.rw.set_type(value, Type::I32);
        self.made.insert(value);
    }

    /// Whether this operand is to be a 32-bit integer if it was a 64-bit one.
    fn takes(&self, op: Op, name: &str, at: usize) -> bool {
        const BOUNDS: usize = 3;
        match name {
            "scf.for" => at < BOUNDS && self.plan.takes.contains(&op),
            "scf.yield" => {
                let parent = self.rw.body().parent_op(op).map(|parent| self.rw.op_ref(parent));
                let result = parent.filter(|parent| parent.name_str() == "scf.if").map(|parent| parent.result(at));
                result.is_some_and(|result| self.plan.narrow.contains(&result))
            }
            _ => self.plan.takes.contains(&op),
        }
    }

    fn create(&mut self, name: &str, like: Value, operands: &[Value], ty: Type, props: &[(&str, Attr)]) -> Value {
        let cx = self.rw.cx();
        let loc = self.rw.body().value_loc(like);
        let state = OpState::new(cx.op_name(name), loc).operands(operands.iter().copied()).results([ty]);
        let state = props.iter().fold(state, |state, (name, value)| state.prop(cx.ident(name), *value));
        self.rw.set_after_value(like);
        let op = self.rw.create(state);
        self.rw.body().result(op, 0)
    }

    fn narrow(&mut self, value: Value) -> Value {
        if self.rw.body().ty(value) != Type::I64 {
            return value;
        }
        if let Some(known) = self.narrowed.get(&value) {
            return *known;
        }
        let constant = self.rw.body().defining_op(value).map(|op| self.rw.op_ref(op)).and_then(|op| {
            (op.name_str() == "arith.constant").then(|| op.prop("value").and_then(|a| op.cx.as_int(a))).flatten()
        });
        let narrowed = match constant {
            Some(number) => {
                let number = self.rw.cx().int_attr(number, Type::I32);
                self.create("arith.constant", value, &[], Type::I32, &[("value", number)])
            }
            None => self.create("arith.trunci", value, &[value], Type::I32, &[]),
        };
        self.narrowed.insert(value, narrowed);
        narrowed
    }

    fn widen(&mut self, value: Value) -> Value {
        if !self.made.contains(&value) {
            return value;
        }
        if let Some(known) = self.widened.get(&value) {
            return *known;
        }
        let widened = self.create("arith.extsi", value, &[value], Type::I64, &[]);
        self.widened.insert(value, widened);
        widened
    }

    /// A comparison whose outcome is known.
    fn decide(&mut self, op: Op) {
        let Some(known) = self.plan.known.get(&op) else { return };
        let result = self.rw.op_ref(op).result(0);
        let value = self.rw.cx().bool_attr(*known);
        let constant = self.create("arith.constant", result, &[], Type::I1, &[("value", value)]);
        self.rw.replace_op(op, &[constant]);
    }

    /// Says of arithmetic what is known of it.
    fn promise(&mut self, op: Op, name: &str) {
        let cx = self.rw.cx();
        let unsigned = self.plan.unsigned.contains(&op);
        match name {
            "arith.addi" | "arith.subi" | "arith.muli" => {
                let flags = if unsigned { IntegerOverflowFlags::ALL } else { IntegerOverflowFlags::NSW };
                self.rw.set_prop(op, "overflowFlags", Some(cx.ext_attr(flags)));
            }
            "arith.divsi" | "arith.remsi" if unsigned => {
                let other = if name == "arith.divsi" { "arith.divui" } else { "arith.remui" };
                let view = self.rw.op_ref(op);
                let state = OpState::new(cx.op_name(other), view.loc()).operands(view.operands()).results([Type::I32]);
                let new = self.rw.replace_with(op, state);
                let result = self.rw.body().result(new, 0);
                self.made.insert(result);
            }
            _ => {}
        }
    }
}
