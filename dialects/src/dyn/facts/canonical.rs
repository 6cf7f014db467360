//! Canonical forms: solved symbols replaced, and the lesser of two where it is known which that is. What was derived is
//! remembered, so that a part that many sizes share costs once.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::Facts;
use crate::r#dyn::poly::Poly;
use crate::r#dyn::poly::limits::count_derived;

/// Most forms and ranges that are remembered.
const MOST_REMEMBERED: usize = 1 << 14;

/// What was derived from facts. It is no part of them: copies begin without it, and equal facts may remember different things.
#[derive(Default)]
pub(super) struct Memo(Mutex<Tables>);

#[derive(Default)]
struct Tables {
    canonical: FxHashMap<Poly, Poly>,
    ranges: FxHashMap<Poly, (i128, i128)>,
    /// What equalities say, in today's symbols.
    equalities: Option<Arc<Equalities>>,
    /// What solved symbols are, with symbols that were solved later replaced, perhaps not all.
    resolved: FxHashMap<Arc<str>, Poly>,
}

/// What equalities say beyond solved symbols, with those replaced.
struct Equalities {
    solved_mins: FxHashMap<Poly, Poly>,
    ordered: FxHashSet<Poly>,
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}

impl std::fmt::Debug for Memo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("_")
    }
}

impl Memo {
    fn tables<T>(&self, with: impl FnOnce(&mut Tables) -> T) -> T {
        with(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets forms and ranges, because something new is known. What symbols were resolved to stays true.
    pub(super) fn clear(&mut self) {
        let tables = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        tables.canonical.clear();
        tables.ranges.clear();
        tables.equalities = None;
    }

    /// The range of a size, derived unless it is known.
    pub(super) fn range(&self, size: &Poly, derive: impl FnOnce() -> (i128, i128)) -> (i128, i128) {
        if let Some(known) = self.tables(|t| t.ranges.get(size).copied()) {
            return known;
        }
        count_derived();
        let range = derive();
        self.tables(|t| remember(&mut t.ranges, size, range));
        range
    }

    fn canonical(&self, size: &Poly, derive: impl FnOnce() -> Poly) -> Poly {
        if let Some(known) = self.tables(|t| t.canonical.get(size).cloned()) {
            return known;
        }
        count_derived();
        let form = derive();
        self.tables(|t| remember(&mut t.canonical, size, form.clone()));
        form
    }
}

fn remember<T>(table: &mut FxHashMap<Poly, T>, size: &Poly, value: T) {
    if table.len() >= MOST_REMEMBERED {
        table.clear();
    }
    table.insert(size.clone(), value);
}

impl Facts {
    /// The size with every solved symbol replaced, and the lesser of two by the one that is known to be it.
    pub fn canonical(&self, poly: &Poly) -> Poly {
        let plain = self.residues.is_empty() || poly.depth() == 0;
        if plain && !poly.has_min() && !self.mentions_solved(poly) {
            return poly.clone();
        }
        self.memo.canonical(poly, || {
            let form = self.resolve(poly).substitute_min(&|a, b| self.known_lesser(a, b));
            let form = self.without_known_floors(&form);
            // The size as it is says more than one beyond the limits.
            if form.excess().is_some() { poly.clone() } else { form }
        })
    }

    /// What the lesser of two is, where that is known.
    fn known_lesser(&self, a: &Poly, b: &Poly) -> Option<Poly> {
        let room = b.sub(a);
        let (low, high) = self.range(&room);
        let equalities = self.equalities();
        if !equalities.solved_mins.is_empty()
            && let Some(value) = equalities.solved_mins.get(&a.lesser(b))
        {
            return Some(value.clone());
        }
        let ordered = |room: &Poly| !equalities.ordered.is_empty() && equalities.ordered.contains(room);
        // Floors alone: what holds lessers of two may hold what is asked for here.
        let by_floors = |room: &Poly| room.depth() > 0 && !room.has_min() && self.not_negative_by_floors(room.clone());
        let back = room.scale(-1);
        match () {
            () if low >= 0 || ordered(&room) || by_floors(&room) => Some(a.clone()),
            () if high <= 0 || ordered(&back) || by_floors(&back) => Some(b.clone()),
            () => self.known_least(a.spread(b)?),
        }
    }

    fn equalities(&self) -> Arc<Equalities> {
        if let Some(known) = self.memo.tables(|t| t.equalities.clone()) {
            return known;
        }
        let mut solved_mins = FxHashMap::default();
        for (least, value) in &self.solved_mins {
            // The first one counts.
            solved_mins.entry(self.resolve(least)).or_insert_with(|| self.resolve(value));
        }
        let ordered = self.ordered.iter().map(|known| self.resolve(known)).collect();
        let made = Arc::new(Equalities { solved_mins, ordered });
        self.memo.tables(|t| t.equalities = Some(made.clone()));
        made
    }

    /// The least of sizes, where some are known to be no less than another.
    fn known_least(&self, sizes: Vec<Poly>) -> Option<Poly> {
        let count = sizes.len();
        let mut kept: Vec<Poly> = Vec::with_capacity(count);
        for size in sizes {
            if kept.iter().any(|known| self.range(&size.sub(known)).0 >= 0) {
                continue;
            }
            kept.retain(|known| self.range(&known.sub(&size)).0 < 0);
            kept.push(size);
        }
        let least = (kept.len() < count).then(|| kept.into_iter().reduce(|a, b| a.lesser(&b))).flatten();
        least.filter(|least| least.excess().is_none())
    }

    fn mentions_solved(&self, poly: &Poly) -> bool {
        let mut found = false;
        if self.solved_set.may_share(poly.symbol_set()) {
            poly.each_symbol(&mut |name| found |= self.solved.contains_key(name));
        }
        found
    }

    /// The size with every solved symbol replaced.
    fn resolve(&self, poly: &Poly) -> Poly {
        if !self.mentions_solved(poly) {
            return poly.clone();
        }
        let mut done: FxHashMap<Arc<str>, Poly> = FxHashMap::default();
        poly.each_symbol(&mut |name| self.resolve_symbol(name, &mut done));
        poly.substitute(&|name| done.get(name).cloned())
    }

    /// Puts what a solved symbol is in the end into `done`. Chains of symbols may be long: no recursion.
    fn resolve_symbol(&self, name: &Arc<str>, done: &mut FxHashMap<Arc<str>, Poly>) {
        let mut pending = vec![name.clone()];
        while let Some(name) = pending.last().cloned() {
            let Some(solved) = self.solved.get(&name).filter(|_| !done.contains_key(&name)) else {
                pending.pop();
                continue;
            };
            let value = self.memo.tables(|t| t.resolved.get(&name).cloned()).unwrap_or_else(|| solved.clone());
            let mut open = None;
            value.each_symbol(&mut |inner| {
                if self.solved.contains_key(inner) && !done.contains_key(inner) {
                    open = Some(inner.clone());
                }
            });
            match open {
                Some(inner) => pending.push(inner),
                None => {
                    let value = value.substitute(&|inner| done.get(inner).cloned());
                    self.memo.tables(|t| t.resolved.insert(name.clone(), value.clone()));
                    done.insert(name, value);
                }
            }
        }
    }
}
