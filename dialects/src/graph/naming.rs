//! Symbols that stand for large sizes, so that what is made of them stays small.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::r#dyn::{Facts, Poly};

/// What a named number is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    /// A size of a tensor, which is never negative, whatever ranges tell.
    Size,
    /// An element of a tensor.
    Element,
}

/// Names of sizes; none where none may be given.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The name of each size, in the order in which they were given.
    known: Option<IndexMap<Poly, String>>,
    /// How many of them were taken.
    taken: usize,
}

impl Names {
    pub(super) fn some() -> Self {
        Self { known: Some(IndexMap::new()), taken: 0 }
    }

    /// The symbol for a number, or the difference of two where it may be negative; the number itself where that is a symbol or
    /// a constant. `None` for one that is beyond the limits.
    pub(super) fn name(&mut self, value: &Poly, number: Number, facts: &mut Facts) -> Option<Poly> {
        if value.excess().is_some() {
            return None;
        }
        if value.as_const().is_some() || value.as_symbol().is_some() {
            return Some(value.clone());
        }
        let value = facts.canonical(value);
        if number == Number::Size || facts.range(&value).0 >= 0 {
            return self.symbol(value, facts);
        }
        // A symbol is never negative. Both parts are as small as the number is in a run.
        let zero = Poly::constant(0);
        let [above, below] = [value.clone(), value.scale(-1)].map(|part| facts.canonical(&part.greater(&zero)));
        Some(self.symbol(above, facts)?.sub(&self.symbol(below, facts)?))
    }

    /// The symbol for a number that is not negative.
    fn symbol(&mut self, value: Poly, facts: &mut Facts) -> Option<Poly> {
        let known = self.known.as_mut()?;
        if value.as_const().is_some() || value.as_symbol().is_some() {
            return Some(value);
        }
        if value.excess().is_some() {
            return None;
        }
        let name = match known.get(&value) {
            Some(name) => name.clone(),
            None => {
                let free = |number: &usize| !facts.is_defined(&format!("size_{number}"));
                let name = format!("size_{}", (known.len() + 1..).find(free)?);
                facts.define_as(&name, &value);
                known.insert(value, name.clone());
                name
            }
        };
        Some(Poly::symbol(&name))
    }

    pub(super) fn take(&mut self) -> Vec<(String, Poly)> {
        let Some(known) = &self.known else { return Vec::new() };
        let new = known.iter().skip(self.taken).map(|(size, name)| (name.clone(), size.clone())).collect();
        self.taken = known.len();
        new
    }
}

/// Those of some definitions, in order, that are needed where these symbols are used.
pub fn needed(definitions: &[(String, Poly)], mut used: BTreeSet<Arc<str>>) -> Vec<(String, Poly)> {
    let mut needed = Vec::new();
    // Each is made of symbols that were there before.
    for (name, size) in definitions.iter().rev() {
        if used.contains(name.as_str()) {
            used.extend(size.symbols());
            needed.push((name.clone(), size.clone()));
        }
    }
    needed.reverse();
    needed
}
