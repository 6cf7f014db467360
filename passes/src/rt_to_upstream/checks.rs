//! Checks that the host needs beyond those of the model: sizes that make sense, that fit, that kernels were made for.

use sutura_dialects::r#dyn::facts::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::rt::{AllocOp, BufferType, Check, Condition, Phases, Quantity, Words};
use sutura_ir::OpView;

use super::program::{Action, Call, Launch, Program, buffer_type};
use super::sizes::Sizes;

/// A guard of a version, and whether it holds.
pub(super) type Known = (Vec<Poly>, bool);

/// A check, and when it is needed: only where all of `when` is so.
pub(super) struct SizeCheck {
    pub(super) check: Check,
    pub(super) when: Vec<Known>,
    /// After how many decisions it can be made.
    pub(super) phase: usize,
}

/// All that is not proven.
pub(super) fn size_checks(program: &Program<'_>) -> Vec<SizeCheck> {
    let mut checks = Checks { facts: &program.facts, phases: program.phases(), when: Vec::new(), found: Vec::new() };
    let mut planned = program.planned_dims.iter();
    for port in &program.info.outputs {
        let dims: Vec<Poly> = planned.by_ref().take(port.ty.dims.len()).cloned().collect();
        let whole = BufferType::new(port.ty.elem, dims);
        checks.fits(&whole.bytes(program.info.op.cx), || format!("the size in bytes of output `{}`", port.name));
        // Nothing is large beside a dimension of size 0.
        for (axis, size) in whole.dims.iter().enumerate() {
            checks.fits(size, || format!("output `{}` dimension {axis}", port.name));
        }
    }
    for op in program.info.block.ops().filter_map(|op| op.as_::<AllocOp<'_>>()) {
        buffer_type(op.op_ref(), op.buffer()).dims.iter().for_each(|dim| checks.not_negative(dim));
    }
    let total = program.temporaries.iter().fold(Poly::default(), |sum, t| sum.add(&t.bytes));
    checks.fits(&total, || "the size in bytes of the temporaries".to_owned());
    checks.actions(&program.actions);
    checks.found
}

struct Checks<'f> {
    facts: &'f Facts,
    phases: &'f Phases,
    /// What holds where the actions stand that are looked at.
    when: Vec<Known>,
    found: Vec<SizeCheck>,
}

impl Checks<'_> {
    fn add(&mut self, check: Check) {
        let same = |c: &SizeCheck| c.check.quantity == check.quantity && c.check.condition == check.condition;
        if self.found.iter().any(|c| same(c) && (c.when.is_empty() || c.when == self.when)) {
            return;
        }
        if self.when.is_empty() {
            // What is always needed stands for what is needed at times.
            self.found.retain(|c| !same(c));
        }
        let guards = self.when.iter().flat_map(|(guard, _)| guard).map(|size| self.phases.of_size(size));
        let phase = guards.fold(self.phases.of_check(&check), usize::max);
        self.found.push(SizeCheck { check, when: self.when.clone(), phase });
    }

    /// True when a size is at least 0 wherever the version is selected that is looked at.
    fn proven(&self, size: &Poly) -> bool {
        let proven = |p: &Poly| self.facts.range(p).0 >= 0;
        let guards = self.when.iter().filter(|(_, holds)| *holds).flat_map(|(sizes, _)| sizes);
        proven(size) || guards.into_iter().any(|g| proven(&size.sub(g)))
    }

    fn fits(&mut self, size: &Poly, words: impl FnOnce() -> String) {
        if !Sizes::new(self.facts).always_fits(size) {
            self.add(Check::fits(size, words()));
        }
    }

    fn not_negative(&mut self, size: &Poly) {
        if !self.proven(size) {
            self.add(Check::not_negative(size, format!("the size `{}` of a temporary", size.brief())));
        }
    }

    fn actions(&mut self, actions: &[Action<'_>]) {
        for action in actions {
            match action {
                Action::Launch(launch) => self.launch(launch),
                Action::Packed(launches) => {
                    launches.iter().for_each(|launch| self.launch(launch));
                    let groups = launches.iter().fold(Poly::default(), |sum, launch| sum.add(&launch.groups));
                    self.fits(&groups, || "the number of groups of kernels that run together".to_owned());
                }
                Action::Call(call) => self.call(call),
                Action::Invoke(invoke) => {
                    let op = invoke.op.op_ref();
                    let sizes = op.operands().flat_map(|value| &buffer_type(op, value).dims);
                    sizes.for_each(|size| self.fits(size, || format!("the size `{}`", size.brief())));
                }
                Action::Copy(_) | Action::Exchange(_) | Action::Expect(..) | Action::ReadSizes(_) => {}
                Action::WriteSizes(write) => {
                    write.sizes().iter().for_each(|size| self.fits(size, || format!("the size `{}`", size.brief())));
                }
                Action::Compare(view, _) => {
                    let op = view.op_ref();
                    let sizes = [view.buffer(), view.result()].map(|value| &buffer_type(op, value).dims);
                    sizes
                        .into_iter()
                        .flatten()
                        .for_each(|size| self.fits(size, || format!("the size `{}`", size.brief())));
                }
                Action::If(_, sides) | Action::While(_, sides) => sides.iter().for_each(|inside| self.actions(inside)),
                Action::Select(versions) => self.select(versions),
            }
        }
    }

    fn select(&mut self, versions: &[(Vec<Poly>, Vec<Action<'_>>)]) {
        for size in versions.iter().flat_map(|(guard, _)| guard) {
            self.fits(size, || format!("the size `{}`", size.brief()));
        }
        let outside = self.when.len();
        for (guard, inside) in versions {
            // The last version has no guard of its own.
            self.when.push((guard.clone(), true));
            self.actions(inside);
            // A version after it runs only where its guard does not hold.
            self.when.pop();
            self.when.push((guard.clone(), false));
        }
        self.when.truncate(outside);
    }

    /// All numbers that a routine is given are what they say.
    fn call(&mut self, call: &Call<'_>) {
        let (op, name) = (call.op.op_ref(), call.routine.name);
        for value in op.operands() {
            buffer_type(op, value)
                .dims
                .iter()
                .for_each(|size| self.fits(size, || format!("the size `{}`", size.brief())));
        }
        for (param, size) in
            call.routine.params.iter().zip(&call.params).flat_map(|(p, sizes)| sizes.iter().map(move |s| (p, s)))
        {
            let words = || format!("the parameter `{}` of the routine `{name}`", param.name);
            self.fits(size, words);
            if !self.proven(size) {
                self.add(Check::not_negative(size, words()));
            }
        }
    }

    fn launch(&mut self, launch: &Launch<'_>) {
        let kernel = launch.op.callee();
        self.fits(&launch.groups, || format!("the number of groups of kernel `{kernel}`"));
        for (size, (name, info)) in launch.dims.iter().zip(&launch.signature.dims) {
            self.fits(size, || format!("the size `{name}` of kernel `{kernel}`"));
            let low = size.sub(&Poly::constant(info.min));
            let high = Poly::constant(info.max).sub(size);
            if !self.proven(&low) || !self.proven(&high) {
                let left = format!("the size `{}`", size.brief());
                let right = format!("[{}, {}]", info.min, info.max);
                let words = Words { dim: size.as_symbol().map(str::to_owned), left, right };
                let condition = Condition::Within(info.min, info.max);
                self.add(Check { quantity: Quantity::size(size.clone()), condition, words });
            }
        }
    }
}
