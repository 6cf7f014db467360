//! `sutura_shapes`: solves the symbols from the inputs' dims, checks them, gives the outputs' dims and the workspace.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::rt::{Check, Condition, Quantity, Step};
use sutura_ir::{Block, Type, Value};

use super::checks::Known;
use super::emit::{Emit, Pred};
use super::program::{Program, Temporary};
use super::sizes::{LIMIT, MANY, Sizes};

/// The arguments, in the order of the interface.
struct Args {
    input_dims: Value,
    symbols: Value,
    output_dims: Value,
    workspace_bytes: Value,
}

struct Shapes<'p, 'a, 'e, 'x, 'b> {
    program: &'p Program<'a>,
    sizes: Sizes<'p>,
    e: &'e mut Emit<'x, 'b>,
    args: Args,
    /// Where a failed check goes, with its code and two values.
    fail: Block,
    checks: i64,
    /// Whether the check that is emitted is needed; always, without it.
    applies: Option<Value>,
}

/// Fills the function, whose arguments are `args`.
pub(super) fn emit(program: &Program<'_>, e: &mut Emit<'_, '_>, args: &[Value]) -> Result<(), String> {
    let &[input_dims, symbols, output_dims, workspace_bytes, detail] = args else {
        return Err("the interface has five arguments".to_owned());
    };
    let entry = e.b.body().value_block(detail).expect("an argument is of a block");
    let fail = failure_block(e, detail);
    e.b.set_to_end(entry);
    let args = Args { input_dims, symbols, output_dims, workspace_bytes };
    let sizes = Sizes::new(&program.facts);
    let mut shapes = Shapes { program, sizes, e, args, fail, checks: 0, applies: None };
    for step in &program.steps {
        shapes.step(step)?;
    }
    for check in &program.size_checks {
        shapes.applies = shapes.selected(&check.when)?;
        shapes.check(&check.check)?;
    }
    shapes.results()
}

/// `^fail(code, first, second)`: stores the values and returns the code.
fn failure_block(e: &mut Emit<'_, '_>, detail: Value) -> Block {
    let (region, loc) = (e.b.body().region(), e.loc);
    let block = e.b.create_block(region, &[(Type::I32, loc), (Type::I64, loc), (Type::I64, loc)]);
    let args = e.b.body().block_args(block).to_vec();
    e.b.set_to_end(block);
    e.store(args[1], detail, 0);
    e.store(args[2], detail, 1);
    e.ret(&args[..1]);
    block
}

impl Shapes<'_, '_, '_, '_, '_> {
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
                self.e.store(value, self.args.symbols, *symbol as i32);
                if symbols.len() > MANY {
                    self.sizes.define_in(name, self.args.symbols, *symbol as i32);
                } else {
                    self.sizes.define(name, value);
                }
                Ok(())
            }
        }
    }

    fn quantity(&mut self, quantity: &Quantity) -> Result<Value, String> {
        let Some((input, axis)) = quantity.dim else { return self.sizes.value(self.e, &quantity.plus) };
        let before: usize = self.program.info.inputs[..input].iter().map(|port| port.ty.dims.len()).sum();
        let index = i32::try_from(before + axis).map_err(|_| "the inputs have too many dims".to_owned())?;
        let dim = self.e.load(self.args.input_dims, Type::I64, index);
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

    fn results(mut self) -> Result<(), String> {
        let dims: Vec<Poly> = self.program.info.outputs.iter().flat_map(|port| port.ty.dims.clone()).collect();
        for (i, dim) in dims.iter().enumerate() {
            let value = self.sizes.value(self.e, dim)?;
            self.e.store(value, self.args.output_dims, i as i32);
        }
        let (_, total) = workspace(self.e, &mut self.sizes, &self.program.temporaries)?;
        self.e.store(total, self.args.workspace_bytes, 0);
        let ok = self.e.i32(0);
        self.e.ret(&[ok]);
        Ok(())
    }
}

/// The offset in bytes of each temporary, and the size of the workspace: where each ends is where the next may begin.
pub(super) fn workspace(
    e: &mut Emit<'_, '_>,
    sizes: &mut Sizes<'_>,
    temporaries: &[Temporary],
) -> Result<(Vec<Value>, Value), String> {
    let zero = sizes.constant(e, 0);
    let (mut offsets, mut ends) = (Vec::with_capacity(temporaries.len()), Vec::with_capacity(temporaries.len()));
    let mut last = vec![true; temporaries.len()];
    for temporary in temporaries {
        let mut offset: Option<Value> = None;
        for &before in &temporary.after {
            last[before] = false;
            offset = Some(offset.map_or(ends[before], |o| e.int("arith.maxsi", o, ends[before])));
        }
        let bytes = sizes.value(e, &temporary.bytes)?;
        let end = offset.map_or(bytes, |o| e.int("arith.addi", o, bytes));
        offsets.push(offset.unwrap_or(zero));
        ends.push(end);
    }
    let mut total = zero;
    for (end, _) in ends.iter().zip(&last).filter(|(_, last)| **last) {
        total = if total == zero { *end } else { e.int("arith.maxsi", total, *end) };
    }
    Ok((offsets, total))
}
