//! Sizes of dynamic dimensions to try.

use std::collections::BTreeMap;

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::facts::MAX_DIM;
use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_interp::random::{Dims, Random};
use sutura_ir::types::DYNAMIC;
use sutura_ir::{Context, OpRef, Type};

use crate::function::argument_types;

/// One choice of all sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// Symbols that nothing else determines.
    pub(crate) symbols: BTreeMap<String, i64>,
    /// Size of dimensions without a name: one for all, because most programs want equal ones somewhere.
    pub(crate) unnamed: usize,
    facts: Facts,
}

impl Sizes {
    fn size(&self, size: &Poly) -> Option<usize> {
        let value_of = |name: &str| self.symbols.get(name).copied();
        usize::try_from(self.facts.eval(size, &value_of)?).ok()
    }

    /// Whether all symbols, those that follow from others too, are as the program says.
    fn allowed(&self) -> bool {
        self.facts.symbols().all(|(name, info)| {
            let value = self.size(&Poly::symbol(name)).and_then(|v| i64::try_from(v).ok());
            value.is_some_and(|v| v >= info.min && v <= info.max && v % info.div.max(1) == 0)
        })
    }
}

impl Dims for Sizes {
    fn dims(&self, cx: &Context, _: usize, ty: Type) -> Option<Vec<usize>> {
        let declared = cx.shape(ty)?;
        let named = symbolic_shape(cx, ty);
        let dims = declared.iter().enumerate().map(|(i, &dim)| {
            if dim != DYNAMIC {
                return usize::try_from(dim).ok();
            }
            match named.as_ref().and_then(|n| n[i].as_ref()) {
                Some(size) => self.size(size),
                None => Some(self.unnamed),
            }
        });
        dims.collect()
    }
}

impl std::fmt::Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let symbols = self.symbols.iter().map(|(name, value)| format!("{name} = {value}"));
        write!(f, "{}", symbols.collect::<Vec<_>>().join(", "))
    }
}

/// What sizes a function leaves open.
pub(crate) struct Open {
    facts: Facts,
    free: Vec<String>,
    unnamed: bool,
}

impl Open {
    /// Reads the argument types of a function and what it states of its symbols.
    ///
    /// # Errors
    /// When what it states is contradictory.
    pub(crate) fn of(function: OpRef<'_>) -> Result<Self, String> {
        let cx = function.cx;
        let facts = Facts::of_function(function).map_err(|(_, contradiction)| contradiction.to_string())?;
        let mut names: Vec<String> = facts.symbols().map(|(name, _)| name.to_string()).collect();
        let mut unnamed = false;
        for ty in argument_types(function) {
            let Some(declared) = cx.shape(ty) else { continue };
            let named = symbolic_shape(cx, ty);
            for (i, _) in declared.iter().enumerate().filter(|(_, d)| **d == DYNAMIC) {
                match named.as_ref().and_then(|n| n[i].as_ref()) {
                    Some(size) => names.extend(facts.canonical(size).symbols().iter().map(ToString::to_string)),
                    None => unnamed = true,
                }
            }
        }
        let solved: Vec<&str> = facts.solved().map(|(name, _)| &**name).collect();
        let mut free = Vec::new();
        for name in names {
            if !solved.contains(&&*name) && !free.contains(&name) {
                free.push(name);
            }
        }
        Ok(Self { facts, free, unnamed })
    }

    /// True without dynamic dimensions.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.is_empty() && !self.unnamed
    }

    fn sizes(&self, value: impl Fn(&str) -> i64, unnamed: usize) -> Option<Sizes> {
        let symbols = self.free.iter().map(|name| (name.clone(), value(name))).collect();
        let sizes = Sizes { symbols, unnamed, facts: self.facts.clone() };
        sizes.allowed().then_some(sizes)
    }

    /// A size in the range of a symbol that is a multiple of its divisor, `wanted` or near it.
    fn near(&self, name: &str, wanted: i64) -> i64 {
        let info = self.facts.info(name);
        let div = info.div.max(1);
        let up = |v: i64| v.saturating_add(div - 1) / div * div;
        up(wanted.max(info.min)).min(info.max / div * div)
    }

    /// Random sizes, small unless the program says otherwise.
    pub(crate) fn random(&self, random: &mut Random) -> Option<Sizes> {
        let mut drawn = BTreeMap::new();
        for name in &self.free {
            let div = self.facts.info(name).div.max(1);
            drawn.insert(name.as_str(), self.near(name, random.range(1, 6).saturating_mul(div)));
        }
        let unnamed = random.range(1, 6) as usize;
        self.sizes(|name| drawn[name], unnamed)
    }

    /// Sizes at the edges of what is allowed: all smallest, all 1, and each symbol alone at its smallest, likely and
    /// largest size.
    pub(crate) fn edges(&self) -> Vec<Sizes> {
        let mut all = Vec::new();
        let middle = |name: &str| self.near(name, 3);
        all.extend(self.sizes(|name| self.near(name, 0), 0));
        all.extend(self.sizes(|name| self.near(name, 1), 1));
        for name in &self.free {
            let info = self.facts.info(name);
            // Without a stated maximum there is none to try.
            let max = Some(info.max).filter(|max| *max < MAX_DIM);
            for value in [info.min].into_iter().chain(max).chain(info.likely) {
                let value = self.near(name, value);
                all.extend(self.sizes(|other| if other == name { value } else { middle(other) }, 3));
            }
        }
        let mut seen: Vec<Sizes> = Vec::new();
        for sizes in all {
            if !seen.contains(&sizes) {
                seen.push(sizes);
            }
        }
        seen
    }
}
