//! Operators that the body of an operator applies.
//!
//! They are applied at the collapsed rank: a group of the outer declaration is one dimension. So the inner one is bound to sizes of
//! the outer declaration, and what it is bound to is replaced by what those stand for where the outer one is applied.

use rustc_hash::FxHashSet;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, Context, NamedAttr, OpRef, Type};

use super::super::build::{BuildError, Built, fail};
use super::bind::{Binding, Number};
use super::{Actual, ApplyOp, Attribute, Group, Operator, OperatorOp, bind};
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::{Facts, Poly};
use crate::scf::ForOp;

/// Finds a declaration and its body by name.
pub type Find<'f, 'l> = &'f dyn Fn(&str) -> Option<(&'l Operator, BlockRef<'l>)>;

/// Most operators that stand in each other.
pub(super) const DEEPEST: usize = 32;

/// An operator applied in the body of another.
pub(super) struct Inner {
    /// It, with sizes that stand for groups of the outer declaration as groups.
    pub operator: Operator,
    /// What its symbols stand for, in sizes of the outer declaration.
    pub binding: Binding,
}

impl Inner {
    /// Binds `inner`, which `op` in the body of `outer` applies, where the outer element type is `elem`. Attributes that name one
    /// of the outer operator have its value.
    ///
    /// # Errors
    /// Says in which way it cannot be applied.
    pub(super) fn bind(
        op: OpRef<'_>,
        outer: &Operator,
        values: &[Number],
        elem: Type,
        inner: &Operator,
    ) -> Built<Self> {
        let actual = |ty: Type| Actual {
            elem: outer.retyped(op.cx, op.cx.element_type(ty), elem),
            shape: symbolic_shape(op.cx, ty).unwrap_or_default(),
        };
        let inputs: Vec<Actual> = op.operand_types().map(actual).collect();
        let attributes = attributes(op, outer, values, inner)?;
        let binding = bind(op.cx, inner, &inputs, &attributes, &mut Facts::new())?;
        if let Some(needed) = binding.required.first() {
            let (lhs, rhs, what) = (&needed.lhs, &needed.rhs, &needed.what);
            return fail(format!("{what} must be equal, and the declaration does not say that {lhs} is {rhs}"));
        }
        let mut inner = Self { operator: inner.clone(), binding };
        inner.promote(outer);
        Ok(inner)
    }

    /// A size of the inner operator that is a group of the outer one is a group.
    fn promote(&mut self, outer: &Operator) {
        let is_group = |size: &Option<Poly>| size.as_ref().is_some_and(|size| outer.group_of(size).is_some());
        let mut names: Vec<String> =
            self.binding.sizes.iter().filter(|(_, size)| is_group(size)).map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        for name in names {
            let size = self.binding.sizes.remove(&name).flatten();
            self.binding.groups.insert(name.clone(), vec![size]);
            self.operator.groups.push((name, Group::Rest));
        }
    }

    /// The binding where the outer operator is bound to `outside`.
    pub(super) fn within(&self, outer: &Operator, outside: &Binding) -> Binding {
        let shape = |size: &Option<Poly>| match size {
            Some(size) => outside.shape(outer, std::slice::from_ref(size)),
            None => vec![None],
        };
        let mut binding = self.binding.clone();
        binding.groups.values_mut().for_each(|dims| *dims = dims.iter().flat_map(shape).collect());
        binding.sizes.values_mut().for_each(|size| *size = size.as_ref().and_then(|size| outside.poly(size)));
        binding
    }
}

/// The attributes of an inner operator as numbers.
fn attributes(op: OpRef<'_>, outer: &Operator, values: &[Number], inner: &Operator) -> Built<Vec<NamedAttr>> {
    let cx = op.cx;
    let number = |entry: &NamedAttr| {
        let name = cx.str(entry.name);
        let Some(of) = cx.as_str(entry.value) else { return Ok(*entry) };
        let Some(at) = outer.attributes.iter().position(|a| a.name == of) else {
            let close = sutura_ir::diagnostics::did_you_mean(of, outer.attributes.iter().map(|a| a.name.as_str()));
            let close = close.map(|close| format!("; did you mean '{close}'?")).unwrap_or_default();
            return fail(format!(
                "attribute '{name}' is that of an attribute '{of}', which @{} does not have{close}",
                outer.name
            ));
        };
        let declared = inner.attributes.iter().position(|a| a.name == name);
        let Some(declared) = declared else { return Ok(*entry) };
        if inner.shapes(declared) {
            return fail(format!("attribute '{name}' says which dimensions are meant, so it must be a number"));
        }
        let ty = inner.attributes[declared].ty;
        if ty != outer.attributes[at].ty {
            return fail(format!("attribute '{name}' is not of the type that '{of}' has"));
        }
        Ok(NamedAttr { name: entry.name, value: attr(cx, values[at], ty) })
    };
    let given = cx.entries(op.body.attrs(op.op)).iter().filter(|entry| !cx.str(entry.name).contains('.'));
    given.map(number).collect()
}

fn attr(cx: &Context, number: Number, ty: Type) -> Attr {
    match (number, ty) {
        (Number::Int(value), _) => cx.int_attr(value, ty),
        (Number::Float(value), _) => cx.float_attr(value, ty),
    }
}

impl Operator {
    /// Whether an attribute, by its number, says which dimensions are meant.
    fn shapes(&self, attribute: usize) -> bool {
        self.groups.iter().any(|(_, group)| *group == Group::Before(attribute))
            || self.values.iter().any(|(_, value, by)| *value == attribute || *by == Some(attribute))
    }

    /// Numbers that stand for the attributes where their values are not known.
    pub(super) fn any_values(&self, cx: &Context) -> Vec<Number> {
        let value = |a: &Attribute| {
            let any = if a.ty == Type::I64 { Number::Int(1) } else { Number::Float(1.0) };
            a.default.and_then(|value| Number::of(cx, value)).unwrap_or(any)
        };
        self.attributes.iter().map(value).collect()
    }
}

/// The operators that the body of `declared` applies, each once.
pub(super) fn applied(declared: OpRef<'_>) -> Vec<ApplyOp<'_>> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    // Loops may apply some.
    let mut open: Vec<BlockRef<'_>> = declared.region(0).and_then(|r| r.entry()).into_iter().collect();
    while let Some(block) = open.pop() {
        for op in block.ops() {
            found.extend(op.as_::<ApplyOp<'_>>().filter(|apply| seen.insert(apply.callee().to_string())));
            open.extend(op.as_::<ForOp<'_>>().and_then(|this| this.region().entry()));
        }
    }
    found
}

/// How the operator `declared` comes to apply itself, if it does: names, from its own to its own.
pub(super) fn cycle<'a>(declared: OpRef<'a>, find: &dyn Fn(Attr) -> Option<OpRef<'a>>) -> Option<Vec<String>> {
    let name = |op: OpRef<'_>| op.symbol_name().unwrap_or_default().to_string();
    let own = name(declared);
    // Operators that are reached, from which of them, and over how many. Longer ways are refused where operators are lifted.
    let mut reached: Vec<(OpRef<'a>, usize, usize)> = vec![(declared, 0, 0)];
    let mut seen = FxHashSet::default();
    let mut at = 0;
    while at < reached.len() {
        let (from, _, steps) = reached[at];
        let next_ones = if steps < DEEPEST { applied(from) } else { Vec::new() };
        for apply in next_ones {
            let next = find(apply.callee_attr()).filter(|op| op.is::<OperatorOp<'_>>());
            let Some(next) = next else { continue };
            if name(next) == own {
                let mut path = vec![own.clone()];
                let mut from = at;
                while from != 0 {
                    path.push(name(reached[from].0));
                    from = reached[from].1;
                }
                path.push(own);
                path.reverse();
                return Some(path);
            }
            if seen.insert(name(next)) {
                reached.push((next, at, steps + 1));
            }
        }
        at += 1;
    }
    None
}

/// # Errors
/// When operators that stand in each other are too many.
pub(super) fn check_depth(within: &[&str], name: &str) -> Built<()> {
    if within.contains(&name) {
        return fail(format!("applies itself in @{}", within.last().unwrap_or(&name)));
    }
    if within.len() >= DEEPEST {
        let message = format!("holds operators in each other, more than {DEEPEST} deep, the last of them @{name}");
        return Err(BuildError::Unsupported(message));
    }
    Ok(())
}
