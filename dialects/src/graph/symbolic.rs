//! Evaluates structured ops on small tensors of integers whose elements are polynomials: shape arithmetic.

use sutura_ir::{Attr, Context, OpRef, Type, Value};

use super::combine::Combiner;
use super::ops::{IndexOp, SizeOp, YieldOp};
use super::shape_fn::{Contents, MAX_CONTENTS, Requirement, ShapeEnv, dense_integers, has_integers, static_len};
use super::structured::ComputeForm;
use crate::r#dyn::{Facts, Poly};

/// Points of an iteration space that are evaluated one by one.
const MAX_POINTS: usize = 256;

/// The elements of a small constant of integers.
pub(super) fn constant_contents(cx: &Context, value: Attr) -> Option<Contents> {
    Some(dense_integers(cx, value)?.into_iter().map(|v| Some(Poly::constant(v))).collect())
}

/// Contents of the results, `None` for those that are not small tensors of integers; what they need goes to `required`.
pub(super) fn eval_compute(
    form: &ComputeForm<'_>,
    extents: &[Option<Poly>],
    env: &ShapeEnv,
    required: &mut Vec<Requirement>,
) -> Vec<Option<Contents>> {
    let op = form.op;
    let none = || vec![None; op.num_results()];
    if form.joint.is_some() || !op.results().all(|v| has_integers(op, v)) {
        return none();
    }
    let Some(points) = static_len(extents).filter(|n| *n <= MAX_POINTS) else { return none() };
    let extents: Vec<i64> = extents.iter().flatten().filter_map(Poly::as_const).collect();
    let inputs: Vec<Option<(Contents, Vec<i64>)>> = op.operands().map(|v| input(op, v, env)).collect();
    let mut results: Vec<Contents> = Vec::new();
    for (i, map) in form.result_maps.iter().enumerate() {
        // No points do not mean few elements: a reduction over none has as many as its other extents say.
        let sizes = op.cx.map_results(*map).iter().map(|e| super::maps::plain_dim(op.cx, *e).map_or(1, |d| extents[d]));
        let len = sizes.map(i64::unsigned_abs).try_fold(1_u64, u64::checked_mul);
        let Some(len) = len.and_then(|len| usize::try_from(len).ok()).filter(|len| *len <= MAX_CONTENTS) else {
            return none();
        };
        let start = form.combiners.get(i).and_then(|c| identity(op.cx, *c, op.cx.element_type(op.ty(op.result(i)))));
        results.push(vec![start; len]);
    }
    let mut index = vec![0; extents.len()];
    for _ in 0..points {
        let args = form.inputs().enumerate().map(|(i, _)| read(form, i, inputs[i].as_ref(), &index));
        let yielded = Body { form, index: &index, facts: &env.facts, required }.eval(args.collect());
        for (i, value) in yielded.into_iter().enumerate() {
            let at = position(op.cx, form.result_maps[i], &index, |d| extents[d]);
            let slot = &mut results[i][at];
            *slot = match form.combiners.get(i) {
                Some(combiner) => combine(*combiner, slot.take(), value, &env.facts),
                None => value,
            };
        }
        advance(&mut index, &extents);
    }
    for (i, _) in form.combiners.iter().enumerate() {
        let elem = op.cx.element_type(op.ty(op.result(i)));
        let mut combined = results[i].iter().flatten();
        if !combined.all(|value| require_fit(op.cx, value, elem, &env.facts, required)) {
            results[i].fill(None);
        }
    }
    results.into_iter().map(Some).collect()
}

/// Sizes that are larger may overflow where they are computed.
const SURE_BITS: u32 = 62;
/// Where a number of 64 bits may overflow it must stay within so many, so that what looks at it does not overflow.
const CHECKED_BITS: u32 = 60;

/// Numbers of an integer type wrap around, sizes do not: where `value` may leave the type it must not. False where it always
/// does, or may and cannot be checked: then nothing is known of it.
pub(super) fn require_fit(
    cx: &Context,
    value: &Poly,
    ty: Type,
    facts: &Facts,
    required: &mut Vec<Requirement>,
) -> bool {
    // What is beyond the limits of sizes gets a name elsewhere.
    let computed = value.as_const().is_none() && value.excess().is_none();
    let Some(bits) = cx.bit_width(ty).filter(|_| computed) else { return true };
    // A truth value, or none, is no number of elements.
    if bits <= 1 {
        return false;
    }
    let (sure, kept) = if bits < 64 { (bits - 1, bits - 1) } else { (SURE_BITS, CHECKED_BITS) };
    let (low, high) = facts.range(value);
    if high < 1 << sure && low >= -(1 << sure) {
        return true;
    }
    let most = Poly::constant((1 << kept) - 1);
    let negated = Poly::default().sub(value);
    let checkable = value.lesser(&most).excess().is_none() && negated.lesser(&most).excess().is_none();
    if low >= 1 << kept || high <= -(1 << kept) || !checkable {
        return false;
    }
    let mut require = |beyond: bool, value: Poly| {
        let what = format!("a number that is computed and the same number within {kept} bits");
        let needed = Requirement { lhs: value.lesser(&most), rhs: value, what };
        if beyond && !required.contains(&needed) {
            required.push(needed);
        }
    };
    require(high >= 1 << sure, value.clone());
    require(low < -(1 << sure), negated);
    true
}

fn advance(index: &mut [i64], extents: &[i64]) {
    for (i, extent) in index.iter_mut().zip(extents).rev() {
        *i += 1;
        if *i < *extent {
            return;
        }
        *i = 0;
    }
}

/// Contents and sizes of an input.
fn input(op: OpRef<'_>, value: Value, env: &ShapeEnv) -> Option<(Contents, Vec<i64>)> {
    let contents = env.contents(op, value)?;
    let shape = env.shape(op, value)?;
    let sizes: Option<Vec<i64>> = shape.iter().map(|d| d.as_ref().and_then(Poly::as_const)).collect();
    Some((contents, sizes?))
}

fn read(form: &ComputeForm<'_>, input: usize, source: Option<&(Contents, Vec<i64>)>, index: &[i64]) -> Option<Poly> {
    let (cx, (contents, sizes)) = (form.op.cx, source?);
    // A size that is not needed may be any number; one that is must be known.
    let map = form.input_maps[input];
    let symbols: Option<Vec<i64>> = form.sizes.iter().map(Poly::as_const).collect();
    let symbols = symbols.or_else(|| (!super::maps::mentions_sizes(cx, map)).then(|| vec![0; form.sizes.len()]))?;
    let mut at = 0;
    for (expr, size) in cx.map_results(map).iter().zip(sizes) {
        let i = cx.affine_eval(*expr, index, &symbols)?;
        if i < 0 || i >= *size {
            return form.oob[input].and_then(|a| cx.as_int(a)).map(Poly::constant);
        }
        at = at * size + i;
    }
    contents.get(at as usize).cloned().flatten()
}

/// Row-major position that a result map names.
fn position(cx: &Context, map: sutura_ir::affine::AffineMap, index: &[i64], extent: impl Fn(usize) -> i64) -> usize {
    let step = |at: i64, expr: &_| match super::maps::plain_dim(cx, *expr) {
        Some(d) => at * extent(d) + index[d],
        None => at,
    };
    cx.map_results(map).iter().fold(0, step) as usize
}

fn identity(cx: &Context, combiner: Combiner, elem: Type) -> Option<Poly> {
    cx.as_int(combiner.identity(cx, elem)).map(Poly::constant)
}

fn combine(combiner: Combiner, a: Option<Poly>, b: Option<Poly>, facts: &Facts) -> Option<Poly> {
    let (a, b) = (a?, b?);
    match combiner {
        Combiner::Add => Some(a.add(&b)),
        Combiner::Mul => Some(a.mul(&b)),
        Combiner::Max => Some(facts.canonical(&a.greater(&b))),
        Combiner::Min => Some(facts.canonical(&a.lesser(&b))),
        Combiner::And | Combiner::Or => None,
    }
}

/// A scalar body at one point.
struct Body<'f, 'a> {
    form: &'f ComputeForm<'a>,
    index: &'f [i64],
    facts: &'f Facts,
    required: &'f mut Vec<Requirement>,
}

impl Body<'_, '_> {
    /// What the body yields for these arguments.
    fn eval(&mut self, args: Vec<Option<Poly>>) -> Vec<Option<Poly>> {
        let block = self.form.body;
        let mut values: Vec<(Value, Option<Poly>)> = block.args().iter().copied().zip(args).collect();
        for op in block.ops() {
            let get = |v: Value| values.iter().rev().find(|(name, _)| *name == v).and_then(|(_, p)| p.clone());
            let operands: Vec<Option<Poly>> = op.operands().map(get).collect();
            if op.is::<YieldOp<'_>>() {
                return operands;
            }
            let value = self.op(op, &operands);
            if let Some(result) = op.results().next() {
                values.push((result, value));
            }
        }
        vec![None; self.form.op.num_results()]
    }

    fn op(&mut self, op: OpRef<'_>, operands: &[Option<Poly>]) -> Option<Poly> {
        if let Some(index) = op.as_::<IndexOp<'_>>() {
            return Some(self.index[index.iterator() as usize].into());
        }
        if let Some(size) = op.as_::<SizeOp<'_>>() {
            return Some(size.size().clone());
        }
        if let Some(value) = op.constant(op.results().next()?) {
            let bits = if op.result_types().next() == Some(Type::I1) { 1 } else { -1 };
            return op.cx.as_int(value).map(|v| (v & bits).into());
        }
        let known: Option<Vec<Poly>> = operands.iter().cloned().collect();
        match (op.name_str(), &known.as_deref(), operands) {
            ("arith.select", _, [Some(condition), a, b]) => {
                if condition.as_const()? != 0 {
                    a.clone()
                } else {
                    b.clone()
                }
            }
            // A product with zero is zero whatever the other factor, and so is what is true of both.
            ("arith.muli" | "arith.andi", None, [a, b]) => [a, b].into_iter().flatten().find(|p| p.is_zero()).cloned(),
            (name, Some(known), _) => {
                let value = self.known(op, name, known)?;
                require_fit(op.cx, &value, op.result_types().next()?, self.facts, self.required).then_some(value)
            }
            _ => None,
        }
    }

    /// An op on operands that are all known.
    fn known(&self, op: OpRef<'_>, name: &str, operands: &[Poly]) -> Option<Poly> {
        let facts = self.facts;
        match (name, operands) {
            ("arith.addi", [a, b]) => Some(a.add(b)),
            ("arith.subi", [a, b]) => Some(a.sub(b)),
            ("arith.muli", [a, b]) => Some(a.mul(b)),
            ("arith.divsi" | "arith.divui" | "arith.floordivsi", [a, b]) => self.quotient(name, a, b),
            ("arith.ceildivsi" | "arith.ceildivui", [a, b]) => {
                let divisor = b.as_const().filter(|d| *d >= 1)?;
                (name == "arith.ceildivsi" || facts.prove_non_negative(a)).then(|| a.ceildiv(divisor))
            }
            ("arith.remsi" | "arith.remui", [a, b]) => {
                let divisor = b.as_const().filter(|d| *d >= 1)?;
                if facts.prove_non_negative(a) {
                    return Some(a.rem(divisor));
                }
                (name == "arith.remsi").then(|| a.sub(&self.cut(a, divisor).scale(divisor)))
            }
            ("arith.maxsi", [a, b]) => Some(facts.canonical(&a.greater(b))),
            ("arith.minsi", [a, b]) => Some(facts.canonical(&a.lesser(b))),
            ("arith.andi" | "arith.ori" | "arith.xori", [a, b]) => bits(name, a.as_const()?, b.as_const()?),
            ("arith.cmpi", [a, b]) => self.compare(op.cx.as_int(op.prop("predicate")?)?, a, b),
            ("arith.extui", [a]) if a.as_const() == Some(0) || a.as_const() == Some(1) => Some(a.clone()),
            ("arith.extsi" | "arith.index_cast" | "arith.trunci", [a]) => {
                let to = op.result_types().next()?;
                let from_bool = op.operand_types().next() == Some(Type::I1);
                let width = op.cx.bit_width(to)?.min(64);
                let limit = 1i128 << width.checked_sub(1)?;
                let fits = a.as_const().is_none_or(|a| (-limit..limit).contains(&a.into()));
                (!from_bool && fits).then(|| a.clone())
            }
            _ => None,
        }
    }

    fn quotient(&self, name: &str, a: &Poly, b: &Poly) -> Option<Poly> {
        if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
            let floor = name == "arith.floordivsi";
            let exact = || if floor { Some(x.checked_div_euclid(y)?) } else { x.checked_div(y) };
            return (y > 0 || !floor).then(exact).flatten().map(Poly::constant);
        }
        let nonzero = |p: &Poly| self.facts.range(p).0 >= 1 || p.as_const().is_some_and(|c| c != 0);
        if let Some(quotient) = a.divide_exact(b).filter(|_| nonzero(b)) {
            return Some(quotient);
        }
        let divisor = b.as_const().filter(|d| *d >= 1)?;
        match name {
            "arith.floordivsi" => Some(a.floordiv(divisor)),
            "arith.divsi" => Some(self.cut(a, divisor)),
            _ => self.facts.prove_non_negative(a).then(|| a.floordiv(divisor)),
        }
    }

    /// A quotient without what is behind its point.
    fn cut(&self, a: &Poly, divisor: i64) -> Poly {
        if self.facts.prove_non_negative(a) {
            return a.floordiv(divisor);
        }
        let negated = a.scale(-1);
        if self.facts.prove_non_negative(&negated) {
            return negated.floordiv(divisor).scale(-1);
        }
        // Of a negative number what is above it, unless that is above 0; else what is below it.
        self.facts.canonical(&a.floordiv(divisor).greater(&a.ceildiv(divisor).lesser(&Poly::default())))
    }

    /// Bounds of a difference around zero, as near as they matter to a comparison.
    fn related(&self, difference: &Poly, (low, high): (i128, i128)) -> (i128, i128) {
        let above = |bound: i64| self.facts.prove_non_negative(&difference.sub(&bound.into()));
        let below = |bound: i64| self.facts.prove_non_negative(&Poly::constant(bound).sub(difference));
        match () {
            () if above(1) => (1, high),
            () if above(0) => (0, high),
            () if below(-1) => (low, -1),
            () if below(0) => (low, 0),
            () => (low, high),
        }
    }

    /// `arith.cmpi` with the predicate of this number.
    fn compare(&self, predicate: i64, a: &Poly, b: &Poly) -> Option<Poly> {
        let (mut low, mut high) = self.facts.range(&b.sub(a));
        // Where ranges alone say nothing, a floor is related to what it divides.
        if low < 0 && high >= 0 {
            (low, high) = self.related(&b.sub(a), (low, high));
        }
        let less = if low > 0 { Some(true) } else { (high <= 0).then_some(false) };
        let less_or_equal = if low >= 0 { Some(true) } else { (high < 0).then_some(false) };
        let equal = match () {
            () if self.facts.prove_equal(a, b) => Some(true),
            () if low > 0 || high < 0 => Some(false),
            () => None,
        };
        let holds = match predicate {
            0 => equal,
            1 => equal.map(|e| !e),
            2 => less,
            3 => less_or_equal,
            4 => less_or_equal.map(|l| !l),
            5 => less.map(|l| !l),
            _ => None,
        }?;
        Some(i64::from(holds).into())
    }
}

fn bits(name: &str, a: i64, b: i64) -> Option<Poly> {
    Some(match name {
        "arith.andi" => (a & b).into(),
        "arith.ori" => (a | b).into(),
        _ => (a ^ b).into(),
    })
}
