//! Rule 4: what another unit wrote is read, and what another unit read is written, only after a sync.

use std::collections::HashMap;

use sutura_ir::{OpRef, Value};

use super::{Prover, SliceFacts};
use crate::r#dyn::poly::{Atom, Poly};

/// Accesses to the group's memory since the last sync, on some path.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    written: HashMap<Value, Vec<Place>>,
    read: HashMap<Value, Vec<Place>>,
}

/// A slice as a function of the unit and the loops.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Place {
    view: Value,
    offsets: Vec<Poly>,
    extents: Vec<Poly>,
    steps: Vec<i64>,
    /// Dimensions along which any two units have other elements.
    apart: Vec<usize>,
}

impl Place {
    fn of(slice: &SliceFacts, apart: Vec<usize>) -> Self {
        let SliceFacts { view, offsets, extents, steps, .. } = slice.clone();
        Self { view, offsets, extents, steps, apart }
    }

    /// True where what one unit writes here no other unit accesses there.
    fn is_own(&self, other: &Self) -> bool {
        let alike = |d: &usize| {
            (&self.offsets[*d], &self.extents[*d], self.steps[*d])
                == (&other.offsets[*d], &other.extents[*d], other.steps[*d])
        };
        self == other || self.view == other.view && self.apart.iter().any(alike)
    }
}

impl Shared {
    /// Adds what may have happened on another path.
    pub(super) fn add(&mut self, other: &Self) {
        for (to, from) in [(&mut self.written, &other.written), (&mut self.read, &other.read)] {
            for (root, places) in from {
                places.iter().for_each(|place| note(to, *root, place.clone()));
            }
        }
    }
}

impl<'a> Prover<'a> {
    /// A sync, or what implies one.
    pub(super) fn sync(&mut self) -> Result<(), String> {
        self.shared = Shared::default();
        let Some(unit) = self.info.unit.and_then(|u| self.bounds.known(u)) else { return Ok(()) };
        for index in self.loops.clone() {
            let name = self.bounds.known(index).unwrap_or_default();
            if self.bounds.differs_by_unit(&name, &unit) {
                return Err(format!("stands in a loop whose trips may differ from unit to unit: that of {name}"));
            }
        }
        Ok(())
    }

    pub(super) fn shared_write(&mut self, op: OpRef<'a>, root: Value, slice: &SliceFacts) -> Result<(), String> {
        let place = self.place_of_unit(op, root, slice)?;
        self.shared_write_at(op, root, place)
    }

    /// What a unit writes, which no other one does.
    pub(super) fn place_of_unit(&self, op: OpRef<'a>, root: Value, slice: &SliceFacts) -> Result<Place, String> {
        let apart = self.apart_by_unit(slice).ok_or_else(|| {
            format!("is not proven to write other elements of {} than other units do", self.show(op, root))
        })?;
        Ok(Place::of(slice, apart))
    }

    /// What was on its way is written.
    pub(super) fn shared_landed(&mut self, root: Value, place: Place) {
        note(&mut self.shared.written, root, place);
    }

    pub(super) fn shared_write_at(&mut self, op: OpRef<'a>, root: Value, place: Place) -> Result<(), String> {
        let clashes = |list: Option<&Vec<Place>>| list.is_some_and(|l| l.iter().any(|p| !place.is_own(p)));
        let clash = clashes(self.shared.written.get(&root)) || clashes(self.shared.read.get(&root));
        note(&mut self.shared.written, root, place);
        if clash {
            return Err(self.needs_sync(op, root, "writes"));
        }
        Ok(())
    }

    pub(super) fn shared_read(&mut self, op: OpRef<'a>, root: Value, slice: &SliceFacts) -> Result<(), String> {
        let place = Place::of(slice, self.apart_by_unit(slice).unwrap_or_default());
        let clash = self.shared.written.get(&root).is_some_and(|l| l.iter().any(|p| !p.is_own(&place)));
        note(&mut self.shared.read, root, place);
        if clash {
            return Err(self.needs_sync(op, root, "reads"));
        }
        Ok(())
    }

    fn needs_sync(&self, op: OpRef<'a>, root: Value, what: &str) -> String {
        let name = self.show(op, root);
        format!("{what} elements of {name} that another unit may have accessed: a gir.sync must stand between")
    }

    /// The dimensions along which units have different elements, if there is one: the unit's index advances at least as far as
    /// everything else in the offset and the slice reach. All of them where a group has one unit.
    fn apart_by_unit(&self, slice: &SliceFacts) -> Option<Vec<usize>> {
        let unit = self.info.unit.and_then(|u| self.bounds.known(u));
        let all = 0..slice.offsets.len();
        let Some(unit) = unit.as_ref().and_then(Poly::as_symbol) else { return Some(all.collect()) };
        let apart = all.filter(|d| {
            let d = *d;
            let (mut stride, mut rest) = (Poly::default(), Poly::default());
            for (atoms, c) in slice.offsets[d].terms() {
                match atoms {
                    [Atom::Symbol(name)] if &**name == unit => stride = stride.add(&Poly::of_term(vec![], c)),
                    _ => rest = rest.add(&Poly::of_term(atoms.to_vec(), c)),
                }
            }
            if rest.symbols().contains(unit) {
                return false;
            }
            let reach = slice.extents[d].sub(&1.into()).scale(slice.steps[d]).add(&1.into());
            let inner = self.loops.iter().filter_map(|l| self.bounds.known(*l));
            // What data decides may be something else for each unit, as what loops count may be at one time.
            let varies = self.bounds.is_picked(&rest);
            let varies = varies || inner.into_iter().any(|l| l.as_symbol().is_some_and(|n| rest.symbols().contains(n)));
            let (low, high) = (self.bounds.lower(&rest), self.bounds.upper(&rest));
            let spread = match (varies, low, high) {
                (false, ..) => Poly::default(),
                (true, Some(low), Some(high)) => high.sub(&low),
                _ => return false,
            };
            !stride.is_zero() && self.bounds.never_negative(&stride.sub(&reach).sub(&spread))
        });
        Some(apart.collect()).filter(|apart: &Vec<usize>| !apart.is_empty())
    }
}

fn note(list: &mut HashMap<Value, Vec<Place>>, root: Value, place: Place) {
    let places = list.entry(root).or_default();
    if !places.contains(&place) {
        places.push(place);
    }
}
