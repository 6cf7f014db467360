//! Sizes as code: polynomials become arithmetic on 64-bit integers, common parts once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::facts::Facts;
use sutura_dialects::r#dyn::poly::{Atom, Poly};
use sutura_ir::{Type, Value};

use super::emit::{Emit, Pred};

/// Sizes above this are refused at run time: no memory holds them, and up to it no arithmetic here wraps.
pub(super) const LIMIT: f64 = (1u64 << 62) as f64;

/// Symbols, or buffers, above which their values are read where they are used: registers would not hold them, and LLVM takes more
/// than twice the time for twice as many.
pub(super) const MANY: usize = 64;

/// Where the value of a symbol is.
#[derive(Clone, Copy)]
enum Held {
    Value(Value),
    /// An element of an array in memory.
    Element(Value, i32),
}

/// Emits sizes over symbols whose values are known. Everything that was emitted must dominate the builder's place.
#[derive(Clone)]
pub(super) struct Sizes<'f> {
    facts: &'f Facts,
    symbols: FxHashMap<Arc<str>, Held>,
    constants: FxHashMap<i64, Value>,
    products: FxHashMap<Vec<Atom>, Value>,
    sums: FxHashMap<Poly, Value>,
    magnitudes: FxHashMap<Vec<Atom>, Value>,
}

impl<'f> Sizes<'f> {
    pub(super) fn new(facts: &'f Facts) -> Self {
        Self {
            facts,
            symbols: FxHashMap::default(),
            constants: FxHashMap::default(),
            products: FxHashMap::default(),
            sums: FxHashMap::default(),
            magnitudes: FxHashMap::default(),
        }
    }

    /// From here on the symbol has this value.
    pub(super) fn define(&mut self, symbol: &str, value: Value) {
        self.symbols.insert(symbol.into(), Held::Value(value));
    }

    /// From here on the symbol has the value `array[index]`.
    pub(super) fn define_in(&mut self, symbol: &str, array: Value, index: i32) {
        self.symbols.insert(symbol.into(), Held::Element(array, index));
    }

    /// The value of a symbol that is in memory.
    fn read(&self, e: &mut Emit<'_, '_>, symbol: &str) -> Option<Value> {
        match self.symbols.get(symbol)? {
            Held::Value(_) => None,
            Held::Element(array, index) => Some(e.load_here(*array, Type::I64, *index)),
        }
    }

    pub(super) fn constant(&mut self, e: &mut Emit<'_, '_>, value: i64) -> Value {
        *self.constants.entry(value).or_insert_with(|| e.i64(value))
    }

    /// The value of a size. Wraps where it does not fit; see [`Self::bound`].
    ///
    /// # Errors
    /// When a coefficient does not fit 64 bits or a symbol has no value.
    pub(super) fn value(&mut self, e: &mut Emit<'_, '_>, size: &Poly) -> Result<Value, String> {
        if let Some(value) = size.as_const() {
            return Ok(self.constant(e, value));
        }
        if let Some(value) = size.as_symbol().and_then(|symbol| self.read(e, symbol)) {
            return Ok(value);
        }
        if let Some(value) = self.sums.get(size) {
            return Ok(*value);
        }
        if let Some(excess) = size.excess() {
            return Err(format!("a size is too large to be computed: {excess}"));
        }
        let mut sum: Option<Value> = None;
        for (atoms, coefficient) in size.terms() {
            let term = self.term(e, atoms, coefficient, size)?;
            sum = Some(match sum {
                Some(sum) => e.int("arith.addi", sum, term),
                None => term,
            });
        }
        let value = sum.expect("zero is a constant");
        self.sums.insert(size.clone(), value);
        Ok(value)
    }

    fn term(&mut self, e: &mut Emit<'_, '_>, atoms: &[Atom], coefficient: i128, size: &Poly) -> Result<Value, String> {
        let c = i64::try_from(coefficient).map_err(|_| format!("a coefficient of {size} does not fit 64 bits"))?;
        if atoms.is_empty() {
            return Ok(self.constant(e, c));
        }
        let product = self.product(e, atoms)?;
        if c == 1 {
            return Ok(product);
        }
        let c = self.constant(e, c);
        Ok(e.int("arith.muli", product, c))
    }

    /// A product of at least one atom; its leading parts are shared with other products.
    fn product(&mut self, e: &mut Emit<'_, '_>, atoms: &[Atom]) -> Result<Value, String> {
        if let Some(value) = self.products.get(atoms) {
            return Ok(*value);
        }
        if let [Atom::Symbol(name)] = atoms
            && let Some(value) = self.read(e, name)
        {
            return Ok(value);
        }
        let mut product: Option<Value> = None;
        for (i, atom) in atoms.iter().enumerate() {
            let prefix = &atoms[..=i];
            let value = match (self.products.get(prefix), product) {
                (Some(value), _) => *value,
                (None, None) if prefix.len() < atoms.len() => self.product(e, prefix)?,
                (None, None) => self.atom(e, atom)?,
                (None, Some(before)) => {
                    let atom = self.product(e, std::slice::from_ref(atom))?;
                    e.int("arith.muli", before, atom)
                }
            };
            let in_memory =
                matches!(prefix, [Atom::Symbol(name)] if matches!(self.symbols.get(name), Some(Held::Element(..))));
            if !in_memory {
                self.products.insert(prefix.to_vec(), value);
            }
            product = Some(value);
        }
        Ok(product.expect("at least one atom"))
    }

    fn atom(&mut self, e: &mut Emit<'_, '_>, atom: &Atom) -> Result<Value, String> {
        match atom {
            Atom::Symbol(name) => {
                let unknown = || format!("nothing determines '{name}' here");
                match self.symbols.get(name).ok_or_else(unknown)? {
                    Held::Value(value) => Ok(*value),
                    Held::Element(array, index) => Ok(e.load_here(*array, Type::I64, *index)),
                }
            }
            Atom::FloorDiv(inner, divisor) => {
                let inner = self.value(e, inner)?;
                Ok(e.floordiv(inner, *divisor))
            }
            Atom::Min(a, b) => {
                let (a, b) = (self.value(e, a)?, self.value(e, b)?);
                Ok(e.int("arith.minsi", a, b))
            }
        }
    }

    /// True where every size of a guard is at least 0.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub(super) fn guard(&mut self, e: &mut Emit<'_, '_>, guard: &[Poly]) -> Result<Value, String> {
        let zero = self.constant(e, 0);
        let mut all: Option<Value> = None;
        for size in guard {
            let value = self.value(e, size)?;
            let holds = e.compare(Pred::Sge, value, zero);
            all = Some(all.map_or(holds, |all| e.and(all, holds)));
        }
        Ok(all.unwrap_or_else(|| e.truth(true)))
    }

    /// True when no value of the symbols makes a size, or a part of it, exceed 64 bits.
    pub(super) fn always_fits(&self, size: &Poly) -> bool {
        let mut sum: i128 = 0;
        for (atoms, coefficient) in size.terms() {
            let mut product = coefficient.saturating_abs();
            for atom in atoms {
                if !atom.parts().all(|part| self.always_fits(part)) {
                    return false;
                }
                let (low, high) = self.facts.range(&Poly::product([&single(atom)]));
                product = product.saturating_mul(low.saturating_abs().max(high.saturating_abs()).max(1));
            }
            sum = sum.saturating_add(product);
        }
        sum < 1 << 62
    }

    /// An upper bound of all that is computed for a size, as a float, which does not wrap.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub(super) fn bound(&mut self, e: &mut Emit<'_, '_>, size: &Poly) -> Result<Value, String> {
        let mut bound = e.f64(0.0);
        for (atoms, coefficient) in size.terms() {
            let mut term = e.f64(coefficient.unsigned_abs() as f64);
            if !atoms.is_empty() {
                let magnitude = self.magnitude(e, atoms)?;
                term = e.float("arith.mulf", magnitude, term);
            }
            bound = e.float("arith.addf", bound, term);
            for atom in atoms {
                for part in atom.parts() {
                    let part = self.bound(e, part)?;
                    bound = e.float("arith.addf", bound, part);
                }
            }
        }
        Ok(bound)
    }

    /// The product of the atoms' magnitudes.
    fn magnitude(&mut self, e: &mut Emit<'_, '_>, atoms: &[Atom]) -> Result<Value, String> {
        if let Some(value) = self.magnitudes.get(atoms) {
            return Ok(*value);
        }
        let Some((last, before)) = atoms.split_last() else { return Ok(e.f64(1.0)) };
        let value = if before.is_empty() {
            let value = self.product(e, atoms)?;
            let zero = self.constant(e, 0);
            let negated = e.int("arith.subi", zero, value);
            let magnitude = e.int("arith.maxsi", value, negated);
            e.value("arith.sitofp", &[magnitude], Type::F64, &[])
        } else {
            let before = self.magnitude(e, before)?;
            let last = self.magnitude(e, std::slice::from_ref(last))?;
            e.float("arith.mulf", before, last)
        };
        self.magnitudes.insert(atoms.to_vec(), value);
        Ok(value)
    }
}

fn single(atom: &Atom) -> Poly {
    match atom {
        Atom::Symbol(name) => Poly::symbol(name),
        Atom::FloorDiv(inner, divisor) => inner.floordiv(*divisor),
        Atom::Min(a, b) => a.lesser(b),
    }
}
