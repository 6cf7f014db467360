//! What holds of an operator, as its declaration says.

use sutura_ir::{Attr, Context, NamedAttr};

use super::bind::{Number, values};
use super::{Group, Operator};

/// A law of an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Law {
    /// What it makes it keeps: `f(f(x)) = f(x)`.
    Idempotent,
    /// Twice is not at all: `f(f(x)) = x`.
    Involution,
    /// `f(x + c) = f(x)`, where `c` does not vary in the dimensions from the axis on.
    ShiftInvariant,
}

/// Laws by their names in a declaration.
const NAMES: [(&str, Law); 3] =
    [("idempotent", Law::Idempotent), ("involution", Law::Involution), ("shift invariant", Law::ShiftInvariant)];

/// The laws that a declaration lists.
pub(super) fn read(cx: &Context, list: &[Attr]) -> Result<Vec<Law>, String> {
    let law = |attr: &Attr| {
        let text = cx.as_str(*attr).unwrap_or_default();
        let found = NAMES.iter().find(|(name, _)| *name == text).map(|(_, law)| *law);
        found.ok_or_else(|| {
            let names = NAMES.map(|(name, _)| format!("\"{name}\"")).join(", ");
            format!("'laws' holds what is no law; there are {names}")
        })
    };
    list.iter().map(law).collect()
}

impl Operator {
    /// A law must mean something.
    pub(super) fn check_laws(&self) -> Result<(), String> {
        for law in &self.laws {
            let (input, result) = (&self.inputs[0], &self.results[0]);
            let alike = self.results.len() == 1 && input.sizes == result.sizes && input.elem == result.elem;
            match law {
                Law::Idempotent | Law::Involution if !alike || self.inputs.len() != 1 => {
                    return Err(
                        "must have one input and one result, of one shape and element type, to be idempotent or an \
                                involution"
                            .into(),
                    );
                }
                Law::ShiftInvariant if self.axis().is_none() => {
                    return Err(
                        "must have a group before an axis as first size of its first input to be shift invariant"
                            .into(),
                    );
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The attribute, by its number, that names the first dimension of the first input behind a group.
    fn axis(&self) -> Option<usize> {
        match self.inputs[0].sizes.first().and_then(|size| self.group_of(size)).and_then(|name| self.group(name)) {
            Some(Group::Before(attribute)) => Some(attribute),
            _ => None,
        }
    }

    /// The dimension from which on a shift invariant operator may be shifted, of a first input of this rank.
    pub fn shifted_from(&self, cx: &Context, attributes: &[NamedAttr], rank: usize) -> Option<usize> {
        let attribute = self.axis().filter(|_| self.laws.contains(&Law::ShiftInvariant))?;
        let Number::Int(axis) = values(cx, self, attributes).ok()?[attribute] else { return None };
        let wrapped = if axis < 0 { axis.checked_add(rank as i64)? } else { axis };
        usize::try_from(wrapped).ok().filter(|axis| *axis < rank)
    }
}
