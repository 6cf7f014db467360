//! What symbols are at run time: solved from the sizes of a region's arguments, and checked.

use std::sync::Arc;

use indexmap::IndexMap;
use sutura_interp::{Fault, FaultKind, Flow, Frame, InterpError, Interpret, Value};
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Context, OpRef, Type};

use super::attr::{encoded_sizes, symbolic_shape};
use super::ops::{EqualOp, SymbolOp};
use super::poly::{Atom, Poly};

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<SymbolOp<'_>, dyn Interpret>(&SymbolHook);
    d.op_interface::<EqualOp<'_>, dyn Interpret>(&EqualHook);
}

/// Values of symbols in one run of a function or region.
#[derive(Clone, Debug, Default)]
pub struct SymbolValues {
    values: IndexMap<Arc<str>, i64>,
}

impl SymbolValues {
    /// The symbols that the arguments of the innermost isolated region determine.
    ///
    /// # Errors
    /// When arguments contradict each other: the message names the symbol and both values.
    pub fn of_frame(frame: &Frame<'_>) -> Result<Self, Fault> {
        let (mut symbols, op) = (Self::default(), frame.op());
        let Some(entry) = op.body.entry_block() else { return Ok(symbols) };
        let mut tensors = Vec::new();
        for &arg in op.body.block_args(entry) {
            // An argument that was moved out says nothing; `dyn.symbol` ops have kept what it said.
            if let Ok(Value::Tensor(tensor)) = frame.get(arg) {
                tensors.push((op.body.ty(arg), tensor.shape()));
            }
        }
        for declared in op.body.ops(entry).map(|o| op.at(o)).filter_map(|o| o.as_::<SymbolOp<'_>>()) {
            if let Ok(value) = frame.get(declared.result()).and_then(Value::as_int) {
                symbols.values.insert(declared.name().into(), value);
            }
        }
        symbols.bind_all(op.cx, &tensors)?;
        symbols.bind_regions(frame, &fixed_by(op.cx, &tensors));
        let ops = op.body.ops(entry).map(|o| op.at(o));
        symbols.bind_equal(ops.filter_map(|o| o.as_::<EqualOp<'_>>()).collect())?;
        Ok(symbols)
    }

    /// Sizes of what the regions around the op get, as a loop that carries a size that it changes: the innermost says what counts.
    fn bind_regions(&mut self, frame: &Frame<'_>, fixed: &[Arc<str>]) {
        let (op, mut around) = (frame.op(), Vec::new());
        let mut inner = Some(op);
        while let Some(op) = inner {
            around.extend(op.body.op_block(op.op));
            inner = op.parent().filter(|parent| std::ptr::eq(parent.body, op.body));
        }
        for block in around.into_iter().rev().filter(|block| Some(*block) != op.body.entry_block()) {
            for &arg in op.body.block_args(block) {
                let Ok(Value::Tensor(tensor)) = frame.get(arg) else { continue };
                let dims = encoded_sizes(op.cx, op.body.ty(arg)).map(|e| &e.dims[..]).unwrap_or_default();
                for (poly, size) in dims.iter().zip(tensor.shape()) {
                    let Some(name) = poly.as_ref().and_then(Poly::as_symbol) else { continue };
                    if !fixed.iter().any(|fixed| **fixed == *name) {
                        self.values.insert(name.into(), *size as i64);
                    }
                }
            }
        }
    }

    /// Forgets what these sizes were, where they are symbols that are not fixed.
    fn forget(&mut self, cx: &Context, results: &[(Type, &[usize])], fixed: &[Arc<str>]) {
        for name in fixed_by(cx, results).iter().filter(|name| !fixed.contains(name)) {
            self.values.shift_remove(name);
        }
    }

    /// Learns from equalities in which one symbol is not known.
    fn bind_equal(&mut self, mut open: Vec<EqualOp<'_>>) -> Result<(), Fault> {
        loop {
            let (before, mut wrong) = (self.values.len(), None);
            open.retain(|equal| self.eval(equal.lhs()).is_none() || self.eval(equal.rhs()).is_none());
            for equal in &open {
                let quotient = self.solve(&equal.lhs().sub(equal.rhs()), 0);
                wrong = wrong.or_else(|| quotient.err().map(|quotient| (*equal, quotient)));
            }
            match wrong {
                Some((equal, (dividend, divisor))) => {
                    let from = equal.source().map(|s| format!(" ({s})")).unwrap_or_default();
                    let (lhs, rhs) = (equal.lhs(), equal.rhs());
                    let message = format!(
                        "sizes `{lhs}` and `{rhs}` must be equal{from}, and {dividend} is no multiple of {divisor}"
                    );
                    return Err(Fault::new(FaultKind::ShapeMismatch, message));
                }
                None if self.values.len() == before => return Ok(()),
                None => {}
            }
        }
    }

    /// Learns from tensors of known types, first from sizes that are a symbol, then from those that are linear in one.
    ///
    /// # Errors
    /// When a size contradicts what is known.
    pub fn bind_all(&mut self, cx: &Context, tensors: &[(Type, &[usize])]) -> Result<(), Fault> {
        let sizes = || {
            tensors.iter().flat_map(|(ty, shape)| {
                let dims = encoded_sizes(cx, *ty).map(|e| &e.dims[..]).unwrap_or_default();
                dims.iter().zip(*shape).filter_map(|(poly, size)| Some((poly.as_ref()?, *size as i64)))
            })
        };
        for (poly, size) in sizes() {
            if let Some(name) = poly.as_symbol() {
                self.bind(name, size)?;
            }
        }
        for (poly, size) in sizes() {
            match self.eval(poly) {
                Some(value) if value != size => {
                    let message = format!("size `{poly}` is {value} by other dimensions and {size} here");
                    return Err(Fault::new(FaultKind::ShapeMismatch, message));
                }
                Some(_) => {}
                // What is no multiple determines nothing here; who needs the symbol says so.
                None => drop(self.solve(poly, size)),
            }
        }
        Ok(())
    }

    fn bind(&mut self, name: &str, value: i64) -> Result<(), Fault> {
        match self.values.get(name) {
            Some(&known) if known != value => {
                let message = format!("dimension `{name}` is {known} in one place and {value} in another");
                Err(Fault::new(FaultKind::ShapeMismatch, message))
            }
            Some(_) => Ok(()),
            None => {
                self.values.insert(name.into(), value);
                Ok(())
            }
        }
    }

    /// `c * S + k = size` for a symbol `S` that is not known yet. The error is what `c` does not divide, and `c`.
    fn solve(&mut self, poly: &Poly, size: i64) -> Result<(), (i128, i128)> {
        let rest = poly.substitute(&|name| self.values.get(name).map(|v| Poly::constant(*v)));
        let (mut factor, mut constant, mut symbol) = (0, 0, None);
        for (atoms, c) in rest.terms() {
            match atoms {
                [] => constant = c,
                [Atom::Symbol(name)] if symbol.is_none() => (factor, symbol) = (c, Some(name.clone())),
                _ => return Ok(()),
            }
        }
        let Some(name) = symbol else {
            // A symbol that is multiplied by 0 is not determined, and its product can be nothing else.
            let wrong = poly.symbols().iter().any(|n| !self.values.contains_key(n)) && constant != i128::from(size);
            return if wrong { Err((i128::from(size) - constant, 0)) } else { Ok(()) };
        };
        let difference = i128::from(size) - constant;
        if difference % factor != 0 {
            return Err((difference, factor));
        }
        if let Ok(value) = i64::try_from(difference / factor) {
            self.values.insert(name, value);
        }
        Ok(())
    }

    /// Value of a size; `None` when a symbol is not known.
    pub fn eval(&self, poly: &Poly) -> Option<i64> {
        poly.eval(&|name| self.values.get(name).copied())
    }

    /// Value of a symbol.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.values.get(name).copied()
    }

    /// Sizes of a ranked tensor type, `None` where the symbols do not tell.
    pub fn shape(&self, cx: &Context, ty: Type) -> Option<Vec<Option<i64>>> {
        Some(symbolic_shape(cx, ty)?.iter().map(|dim| dim.as_ref().and_then(|d| self.eval(d))).collect())
    }
}

/// What an op decides: its results have these types and sizes. The symbols that follow get their values, and what is stated of
/// them is checked.
///
/// # Errors
/// When the sizes contradict what is known.
pub fn decide(frame: &mut Frame<'_>, results: &[(Type, &[usize])]) -> Result<SymbolValues, Fault> {
    let op = frame.op();
    let mut symbols = SymbolValues::of_frame(frame)?;
    // In a region the op may have decided before.
    let again = op.body.op_block(op.op) != op.body.entry_block();
    if again {
        let args = op.body.entry_block().map(|entry| op.body.block_args(entry)).unwrap_or_default();
        let args: Vec<(Type, &[usize])> = args.iter().map(|arg| (op.body.ty(*arg), &[][..])).collect();
        symbols.forget(op.cx, results, &fixed_by(op.cx, &args));
    }
    symbols.bind_all(op.cx, results)?;
    let Some(entry) = op.body.entry_block() else { return Ok(symbols) };
    let ops = || op.body.ops(entry).map(|o| op.at(o));
    symbols.bind_equal(ops().filter_map(|o| o.as_::<EqualOp<'_>>()).collect())?;
    ops().filter_map(|o| o.as_::<EqualOp<'_>>()).try_for_each(|equal| holds(&symbols, equal))?;
    for declared in ops().filter_map(|o| o.as_::<SymbolOp<'_>>()) {
        let known = frame.get(declared.result()).and_then(Value::as_int).ok();
        let value = symbols.get(declared.name()).filter(|value| known.is_none() || again && known != Some(*value));
        if let Some(value) = value {
            allowed(declared, value)?;
            frame.retell(declared.result(), Value::index(value))?;
        }
    }
    Ok(symbols)
}

/// Symbols that sizes of these types are.
fn fixed_by(cx: &Context, tensors: &[(Type, &[usize])]) -> Vec<Arc<str>> {
    let dims = tensors.iter().flat_map(|(ty, _)| encoded_sizes(cx, *ty).map(|e| &e.dims[..]).unwrap_or_default());
    dims.filter_map(|dim| Some(dim.as_ref()?.as_symbol()?.into())).collect()
}

/// What a symbol states of its values holds.
fn allowed(symbol: SymbolOp<'_>, value: i64) -> Result<(), Fault> {
    let (name, info) = (symbol.name(), symbol.info());
    if value < info.min || value > info.max {
        let message = format!("dimension `{name}` is {value}, outside its range [{}, {}]", info.min, info.max);
        return Err(Fault::new(FaultKind::ShapeMismatch, message));
    }
    if value % info.div != 0 {
        let message = format!("dimension `{name}` is {value}, which is no multiple of {}", info.div);
        return Err(Fault::new(FaultKind::ShapeMismatch, message));
    }
    Ok(())
}

/// What an equality states holds, as far as its sizes are known.
fn holds(symbols: &SymbolValues, equal: EqualOp<'_>) -> Result<(), Fault> {
    match (symbols.eval(equal.lhs()), symbols.eval(equal.rhs())) {
        (Some(a), Some(b)) if a != b => {
            let from = equal.source().map(|s| format!(" ({s})")).unwrap_or_default();
            let message =
                format!("sizes `{}` and `{}` must be equal, they are {a} and {b}{from}", equal.lhs(), equal.rhs());
            Err(Fault::new(FaultKind::ShapeMismatch, message))
        }
        _ => Ok(()),
    }
}

struct SymbolHook;

impl Interpret for SymbolHook {
    /// The value follows from the arguments; a symbol that they do not determine (it stands for a size that depends
    /// on data) has none, which is a fault only where it is asked for.
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        let Some(symbol) = op.as_::<SymbolOp<'_>>() else { return Ok(Flow::Next) };
        let name = symbol.name();
        let Some(value) = SymbolValues::of_frame(frame)?.get(name) else {
            if !op.body.is_unused(symbol.result()) {
                return Err(Fault::unsupported(format!("no argument determines the size `{name}`")).into());
            }
            return Ok(Flow::Next);
        };
        allowed(symbol, value)?;
        frame.set(0, Value::index(value))?;
        Ok(Flow::Next)
    }
}

struct EqualHook;

impl Interpret for EqualHook {
    /// Sizes that depend on data are compared by the ops that meet them.
    fn interpret(&self, op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
        let Some(equal) = op.as_::<EqualOp<'_>>() else { return Ok(Flow::Next) };
        holds(&SymbolValues::of_frame(frame)?, equal)?;
        Ok(Flow::Next)
    }
}
