//! The checks of a program and the solution of its symbols as code: before the run, and where data have decided sizes.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::rt::{Check, Condition, Quantity, Step};
use sutura_ir::{Block, Type, Value};

use super::checks::Known;
use super::emit::{Emit, Pred};
use super::program::Program;
use super::sizes::{LIMIT, MANY, Sizes};

/// Where dims are found.
pub(super) enum Dims<'d> {
    /// Those of all inputs, concatenated.
    Inputs(Value),
    /// Those that the call of this number has decided.
    Decided(usize, &'d [Value]),
}

/// Emits the steps of one phase.
pub(super) struct Checker<'p, 'a, 's, 'e, 'x, 'b> {
    pub(super) program: &'p Program<'a>,
    pub(super) sizes: &'s mut Sizes<'p>,
    pub(super) e: &'e mut Emit<'x, 'b>,
    /// Where the symbols' values are written.
    pub(super) symbols: Value,
    pub(super) dims: Dims<'s>,
    /// Where a failed check goes, with its code and two values.
    pub(super) fail: Block,
    /// Checks so far.
    pub(super) checks: i64,
    /// Whether the check that is emitted is needed; always, without it.
    pub(super) applies: Option<Value>,
}

impl Checker<'_, '_, '_, '_, '_, '_> {
    /// All that is solved and checked in a phase.
    pub(super) fn phase(&mut self, phase: usize) -> Result<(), String> {
        let program = self.program;
        self.checks = program.first_check(phase);
        for step in program.steps(phase) {
            self.step(step)?;
        }
        for check in program.size_checks.iter().filter(|check| check.phase == phase) {
            self.applies = self.selected(&check.when)?;
            self.check(&check.check)?;
        }
        self.applies = None;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Check(check) => self.check(check),
            Step::Solve { symbol, quantity, factor } => {
                let value = self.quantity(quantity)?;
                let value = match factor.as_const() {
                    Some(factor) => self.e.floordiv(value, factor),
                    None => {
                        let factor = self.sizes.value(self.e, factor)?;
                        self.e.int("arith.divsi", value, factor)
                    }
                };
                let (symbols, name) = (&self.program.info.symbols, &self.program.info.symbols[*symbol].name);
                self.e.store(value, self.symbols, *symbol as i32);
                if symbols.len() > MANY {
                    self.sizes.define_in(name, self.symbols, *symbol as i32);
                } else {
                    self.sizes.define(name, value);
                }
                Ok(())
            }
        }
    }

    fn quantity(&mut self, quantity: &Quantity) -> Result<Value, String> {
        let Some((input, axis)) = quantity.dim else { return self.sizes.value(self.e, &quantity.plus) };
        let inputs = &self.program.info.inputs;
        let dim = match self.dims {
            Dims::Inputs(dims) if input < inputs.len() => {
                let before: usize = inputs[..input].iter().map(|port| port.ty.dims.len()).sum();
                let index = i32::try_from(before + axis).map_err(|_| "the inputs have too many dims".to_owned())?;
                self.e.load(dims, Type::I64, index)
            }
            Dims::Decided(call, sizes) if input == inputs.len() + call => sizes[axis],
            _ => return Err("a check looks at a size that is not known there".to_owned()),
        };
        if quantity.plus.is_zero() {
            return Ok(dim);
        }
        let plus = self.sizes.value(self.e, &quantity.plus)?;
        Ok(self.e.int("arith.addi", dim, plus))
    }

    fn check(&mut self, check: &Check) -> Result<(), String> {
        self.checks += 1;
        if check.condition == Condition::Fits {
            return self.must_fit(&check.quantity.plus);
        }
        self.fits(&check.quantity.plus)?;
        let left = self.quantity(&check.quantity)?;
        match &check.condition {
            Condition::Equal(other) | Condition::Compatible(other) => {
                self.fits(&other.plus)?;
                let right = self.quantity(other)?;
                let holds = self.e.compare(Pred::Eq, left, right);
                self.require(holds, left, right);
            }
            Condition::AtLeast(other) => {
                self.fits(&other.plus)?;
                let right = self.quantity(other)?;
                let holds = self.e.compare(Pred::Sge, left, right);
                self.require(holds, left, right);
            }
            Condition::Within(min, max) => {
                let low = self.sizes.constant(self.e, *min);
                let holds = self.e.compare(Pred::Sge, left, low);
                self.require(holds, left, low);
                if *max < i64::MAX {
                    let high = self.sizes.constant(self.e, *max);
                    let holds = self.e.compare(Pred::Sle, left, high);
                    self.require(holds, left, high);
                }
            }
            Condition::MultipleOf(divisor) => {
                let (by, zero) = (self.sizes.value(self.e, divisor)?, self.sizes.constant(self.e, 0));
                let rest = self.e.int("arith.remsi", left, by);
                let holds = self.e.compare(Pred::Eq, rest, zero);
                self.require(holds, left, by);
            }
            Condition::Fits => {}
        }
        Ok(())
    }

    /// Numbers that wrapped compare as nothing does: a size that a check looks at is no larger than what it computes with.
    fn fits(&mut self, size: &Poly) -> Result<(), String> {
        if self.sizes.always_fits(size) { Ok(()) } else { self.must_fit(size) }
    }

    fn must_fit(&mut self, size: &Poly) -> Result<(), String> {
        let (first, second) = (self.sizes.constant(self.e, i64::MAX), self.sizes.constant(self.e, i64::MAX - 1));
        let bound = self.sizes.bound(self.e, size)?;
        let limit = self.e.f64(LIMIT);
        let fits = self.e.float_below(bound, limit);
        self.require(fits, first, second);
        Ok(())
    }

    /// True where the guards hold or do not hold as said.
    fn selected(&mut self, when: &[Known]) -> Result<Option<Value>, String> {
        let mut all: Option<Value> = None;
        for (guard, holds) in when.iter().filter(|(guard, _)| !guard.is_empty()) {
            let found = self.sizes.guard(self.e, guard)?;
            let said = self.e.truth(*holds);
            let so = self.e.same(found, said);
            all = Some(all.map_or(so, |all| self.e.and(all, so)));
        }
        Ok(all)
    }

    fn require(&mut self, holds: Value, first: Value, second: Value) {
        let holds = self.applies.map_or(holds, |applies| self.e.or_not(holds, applies));
        let code = self.e.i32(self.checks);
        self.e.branch_unless(holds, self.fail, &[code, first, second]);
    }
}
