//! Rule 2: every element of an `out` view is written exactly once.
//!
//! A store writes a box if, along each dimension of its view, its index variables count in a mixed radix: the fastest
//! one advances by the extent of the slice, each further one by as much as the one before runs through. A variable
//! that counts along two dimensions, or along none, writes elements never or several times. The boxes of several
//! stores to one view must follow one another along one dimension.

use std::sync::Arc;

use sutura_ir::{OpRef, Value};

use super::{Prover, Root, SliceFacts};
use crate::r#dyn::poly::{Atom, Poly};
use crate::gir::bounds::Variable;
use crate::gir::hints::check_stream;
use crate::gir::kernel::Mode;
use crate::gir::ops::StoreOp;

/// True for what depends on an index variable.
fn depends(poly: &Poly) -> bool {
    poly.symbols().iter().any(|s| s.starts_with('%'))
}

/// An access, for the checks that need all of them.
#[derive(Clone)]
pub(super) struct Store<'a> {
    pub(super) op: OpRef<'a>,
    pub(super) slice: SliceFacts,
    /// Index variables of the loops around.
    pub(super) loops: Vec<Value>,
}

/// From where to where a store writes along a dimension, before the view's end cuts it off.
#[derive(Clone, PartialEq, Debug)]
struct Range {
    from: Poly,
    to: Poly,
    /// Where the writes end if that is before `to`.
    cuts: Vec<Poly>,
}

impl<'a> Prover<'a> {
    pub(super) fn store(&mut self, op: OpRef<'a>, this: StoreOp<'a>) -> Result<(), String> {
        let slice = self.slice_of(op, this.slice())?.clone();
        let tile = self.tiles.get(&this.tile()).cloned();
        if let Some(tile) = tile {
            let written = slice.window.and(&tile.window);
            tile.need(&written, "stores")?;
            if matches!(self.root(slice.view), Root::Param(_, Mode::Out)) && written != slice.window {
                return Err(format!(
                    "leaves elements of {} unwritten: the slice has ({}), the tile only ({})",
                    self.show(op, slice.view),
                    slice.window,
                    tile.window
                ));
            }
        }
        self.has_landed(op, slice.view, "writes")?;
        let (mode, name) = self.parameter(op, slice.view);
        if slice.clipped && mode != Some(Mode::InOut) {
            return Err(format!("may leave {name} as it was, since its slice has clips, and it is no 'inout' view"));
        }
        match self.root(slice.view) {
            Root::Param(view, Mode::In) => {
                return Err(format!("writes {}, which is an 'in' view", self.show(op, view)));
            }
            Root::Group(view) => self.shared_write(op, view, &slice)?,
            Root::Param(..) if !self.probing => self.stores.push(Store { op, slice, loops: self.loops.clone() }),
            Root::Param(..) | Root::Own(_) => {}
        }
        check_stream(self.info, this, (mode, &name))
    }

    /// What the kernel may do to the view behind `view` if that is its parameter, and how messages name it.
    pub(super) fn parameter(&self, op: OpRef<'a>, view: Value) -> (Option<Mode>, String) {
        match self.root(view) {
            Root::Param(view, mode) => (Some(mode), self.show(op, view)),
            _ => (None, self.show(op, view)),
        }
    }

    pub(super) fn note_load(&mut self, op: OpRef<'a>, slice: Value) -> Result<(), String> {
        let slice = self.slice_of(op, slice)?.clone();
        self.has_landed(op, slice.view, "reads")?;
        match self.root(slice.view) {
            Root::Param(view, Mode::Out) => Err(format!("reads {}, which is an 'out' view", self.show(op, view))),
            Root::Param(_, Mode::InOut) => {
                if !self.probing {
                    self.loads.push(Store { op, slice, loops: self.loops.clone() });
                }
                Ok(())
            }
            Root::Group(view) => self.shared_read(op, view, &slice),
            Root::Param(_, Mode::In) | Root::Own(_) => Ok(()),
        }
    }

    pub(super) fn note_gather(&mut self, op: OpRef<'a>, view: Value) -> Result<(), String> {
        self.has_landed(op, view, "gathers rows of")?;
        match self.root(view) {
            Root::Param(_, Mode::In) | Root::Own(_) => Ok(()),
            _ => Err(format!("gathers rows of {}, which the kernel writes", self.show(op, view))),
        }
    }

    /// Checks all stores to the kernel's views together.
    pub(super) fn check_writes(&mut self) {
        for &(view, _, mode) in &self.info.views {
            let of_view = |s: &&Store<'a>| matches!(self.root(s.slice.view), Root::Param(v, _) if v == view);
            let stores: Vec<Store<'a>> = self.stores.iter().filter(of_view).cloned().collect();
            let loads: Vec<Store<'a>> = self.loads.iter().filter(of_view).cloned().collect();
            match mode {
                Mode::In => {}
                Mode::Out => self.check_out(view, &stores),
                Mode::InOut => self.check_inout(view, &stores, &loads),
            }
        }
    }

    fn check_out(&mut self, view: Value, stores: &[Store<'a>]) {
        let name = self.show_inside(view);
        let Some(first) = stores.first() else {
            if self.errors.errors() == 0 {
                let op = self.info.op;
                self.report(op, format!("never writes {name}, which is an 'out' view"));
            }
            return;
        };
        if let Some(other) = stores.iter().find(|s| s.slice.view != first.slice.view) {
            self.report(other.op, format!("writes {name} under other dimensions than another store does"));
            return;
        }
        let mut boxes = Vec::new();
        for store in stores {
            match self.written_box(store) {
                Ok(written) => boxes.push((store, written)),
                Err(message) => return self.report(store.op, format!("is not proven to write {name} once: {message}")),
            }
        }
        if let Err((op, message)) = self.cover(first, boxes) {
            self.report(op, format!("is not proven to write all of {name}: {message}"));
        }
    }

    /// A value of the kernel's body as messages name it.
    fn show_inside(&self, value: Value) -> String {
        let body = self.info.op.inside();
        match body.value_name(value) {
            Some(name) => format!("%{}", self.info.op.cx.str(name)),
            None => format!("view {}", self.info.views.iter().position(|(v, ..)| *v == value).unwrap_or(0)),
        }
    }

    /// What a store writes over all trips and groups, each element once.
    fn written_box(&self, store: &Store<'a>) -> Result<Vec<Range>, String> {
        let SliceFacts { offsets, extents, steps, .. } = &store.slice;
        let mut used: Vec<Value> = Vec::new();
        let mut ranges = Vec::new();
        for (dim, (offset, (extent, step))) in offsets.iter().zip(extents.iter().zip(steps)).enumerate() {
            let in_dim = |message: String| format!("along dimension {dim}, {message}");
            if *step != 1 {
                return Err(in_dim(format!("its positions are {step} apart")));
            }
            let range = self.range_along(offset, extent, &mut used).map_err(in_dim)?;
            ranges.push(range);
        }
        for value in self.variables_around(store) {
            let name = self.bounds_name(value);
            match used.iter().filter(|v| **v == value).count() {
                0 if !self.runs_once(value) => return Err(format!("{name} counts along no dimension")),
                0 | 1 => {}
                _ => return Err(format!("{name} counts along more than one dimension")),
            }
        }
        Ok(ranges)
    }

    /// Index variables on which a store may depend.
    fn variables_around(&self, store: &Store<'a>) -> Vec<Value> {
        let grid = self.info.grid.iter().map(|(v, _)| *v);
        grid.chain(self.info.unit).chain(store.loops.iter().copied()).collect()
    }

    fn bounds_name(&self, value: Value) -> String {
        self.bounds.known(value).map_or_else(|| "an index".to_string(), |p| p.to_string())
    }

    fn runs_once(&self, value: Value) -> bool {
        let name = self.bounds.known(value);
        name.as_ref().and_then(Poly::as_symbol).is_some_and(|name| self.has_one_trip(name))
    }

    /// True for an index variable that takes one value.
    fn has_one_trip(&self, name: &str) -> bool {
        let variable = self.bounds.variable_named(name);
        variable.is_some_and(|v| v.caps.is_empty() && self.bounds.equal(&v.trips(), &1.into()))
    }

    /// The range that `offset + [0, extent)` runs through, element by element.
    fn range_along(&self, offset: &Poly, extent: &Poly, used: &mut Vec<Value>) -> Result<Range, String> {
        let (mut base, mut digits) = (Poly::default(), Vec::new());
        for (atoms, c) in offset.terms() {
            let variables: Vec<usize> = (0..atoms.len()).filter(|i| self.is_variable(&atoms[*i])).collect();
            match variables[..] {
                [] => base = base.add(&Poly::of_term(atoms.to_vec(), c)),
                [at] => {
                    let Atom::Symbol(name) = &atoms[at] else {
                        return Err(format!("the index {offset} divides an index variable"));
                    };
                    let mut rest = atoms.to_vec();
                    rest.remove(at);
                    digits.push((name.clone(), Poly::of_term(rest, c)));
                }
                _ => return Err(format!("the index {offset} multiplies index variables")),
            }
        }
        self.turn_backward(&mut base, &mut digits);
        let (mut weight, mut from, mut cuts) = (extent.clone(), base.clone(), Vec::new());
        while !digits.is_empty() {
            let next = |at: &usize| self.bounds.equal(&digits[*at].1, &weight);
            // Of two that advance as far one runs once, and covers no more.
            let at = (0..digits.len()).filter(next).min_by_key(|at| !self.has_one_trip(&digits[*at].0));
            let Some(at) = at else {
                let (name, factor) = &digits[0];
                return Err(format!("{name} advances by {factor} where {weight} elements are written"));
            };
            let (name, factor) = digits.remove(at);
            let variable = self.bounds.variable_named(&name).ok_or("an index variable is unknown")?;
            if !variable.caps.is_empty() {
                let alone = digits.is_empty() && !variable.caps.iter().any(depends);
                if !alone {
                    return Err(format!("the trips of {name} end early, and other positions follow"));
                }
                cuts = variable.caps.iter().map(|cap| base.add(&factor.mul(&cap.add(&1.into())))).collect();
            }
            if let Some((part, low, end)) = self.parts(variable) {
                used.extend([variable.value, part]);
                from = from.add(&factor.mul(&low));
                weight = weight.mul(&end.sub(&low));
                continue;
            }
            if [&variable.low, &variable.high].into_iter().any(depends) {
                return Err(format!("the trips of {name} depend on another index"));
            }
            used.push(variable.value);
            from = from.add(&factor.mul(&variable.low));
            weight = weight.mul(&variable.trips());
        }
        Ok(Range { to: from.add(&weight), from, cuts })
    }

    /// Indices that run backward write what they would forward: `c - i` is `c - low - high + j`, where `j` runs through the
    /// same trips as `i` from the last one on.
    fn turn_backward(&self, base: &mut Poly, digits: &mut [(Arc<str>, Poly)]) {
        for (name, factor) in digits {
            let Some(variable) = self.bounds.variable_named(name) else { continue };
            let plain = variable.caps.is_empty() && ![&variable.low, &variable.high].into_iter().any(depends);
            if plain && self.bounds.facts.range(factor).1 < 0 {
                *base = base.add(&factor.mul(&variable.low.add(&variable.high)));
                *factor = factor.scale(-1);
            }
        }
    }

    /// A variable whose trips depend on one other, such that they begin where those for the index before end: the other
    /// variable, and the range that they run through together.
    fn parts(&self, variable: &Variable) -> Option<(Value, Poly, Poly)> {
        let ends = [&variable.low, &variable.high];
        let mut names: Vec<_> = ends.iter().flat_map(|p| p.symbols()).filter(|s| s.starts_with('%')).collect();
        names.dedup();
        let [name] = &names[..] else { return None };
        let part = self.bounds.variable_named(name)?;
        if part.bounds().any(depends) || !part.caps.is_empty() {
            return None;
        }
        let at = |poly: &Poly, index: &Poly| poly.substitute(&|n| (*n == **name).then(|| index.clone()));
        let (low, end) = (&variable.low, variable.high.add(&1.into()));
        let next = Poly::symbol(name).add(&1.into());
        let follow = self.bounds.equal(&at(low, &next), &end);
        follow.then(|| (part.value, at(low, &part.low), at(&end, &part.high)))
    }

    fn is_variable(&self, atom: &Atom) -> bool {
        match atom {
            Atom::Symbol(name) => name.starts_with('%'),
            _ => atom.parts().any(|part| part.symbols().iter().any(|s| s.starts_with('%'))),
        }
    }

    /// True where the index of a group and of its unit tells, along some dimensions, to which elements alone it comes in all that
    /// it reads and writes. Along the others it may come to any, in its own order.
    fn groups_are_apart(&self, stores: &[Store<'a>], loads: &[Store<'a>]) -> bool {
        let mut all = stores.iter().chain(loads);
        let Some(first) = all.next().map(|store| &store.slice) else { return true };
        let others: Vec<&SliceFacts> = all.map(|store| &store.slice).collect();
        // Views of one memory under the same dimensions are the same.
        let body = self.info.op.inside();
        if others.iter().any(|slice| body.ty(slice.view) != body.ty(first.view)) {
            return false;
        }
        let groups: Vec<Value> = self.info.grid.iter().map(|(v, _)| *v).chain(self.info.unit).collect();
        let mut told: Vec<Value> = Vec::new();
        for (dim, (offset, extent)) in first.offsets.iter().zip(&first.extents).enumerate() {
            let same = |s: &&SliceFacts| s.offsets[dim] == *offset && s.extents[dim] == *extent && s.steps[dim] == 1;
            let mut used = Vec::new();
            if first.steps[dim] != 1 || !others.iter().all(same) || self.range_along(offset, extent, &mut used).is_err()
            {
                continue;
            }
            if used.iter().all(|v| groups.contains(v)) {
                told.extend(used);
            }
        }
        groups.into_iter().all(|v| self.runs_once(v) || told.contains(&v))
    }

    /// Checks that the boxes follow one another from the start of the view to its end.
    fn cover(&self, first: &Store<'a>, mut boxes: Vec<(&Store<'a>, Vec<Range>)>) -> Result<(), (OpRef<'a>, String)> {
        let view = self.view_type(first.op, first.slice.view).map_err(|m| (first.op, m))?;
        let whole = |range: &Range, size: &Poly| {
            let mut ends = [&range.to].into_iter().chain(&range.cuts);
            range.from.is_zero() && ends.all(|end| self.bounds.never_negative(&end.sub(size)))
        };
        let split = (0..view.dims.len()).find(|d| boxes.len() > 1 && !whole(&boxes[0].1[*d], &view.dims[*d]));
        for (dim, size) in view.dims.iter().enumerate().filter(|(d, _)| Some(*d) != split) {
            for (store, ranges) in &boxes {
                let Range { from, to, cuts } = &ranges[dim];
                if !whole(&ranges[dim], size) {
                    let to: Vec<String> = [to].into_iter().chain(cuts).map(Poly::to_string).collect();
                    let to = to.join(" or ");
                    return Err((store.op, format!("dimension {dim} of size {size} is written from {from} to {to}")));
                }
            }
        }
        let Some(dim) = split else {
            return match boxes.get(1) {
                Some((store, _)) => Err((store.op, "another store writes all of it".to_string())),
                None => Ok(()),
            };
        };
        let (mut at, size) = (Poly::default(), &view.dims[dim]);
        while !boxes.is_empty() {
            let next = boxes.iter().position(|(_, ranges)| self.bounds.equal(&ranges[dim].from, &at));
            let Some(next) = next else {
                let message = format!("no store writes dimension {dim} from {at} on");
                return Err((boxes[0].0.op, message));
            };
            let (store, ranges) = boxes.remove(next);
            if !ranges[dim].cuts.is_empty() {
                return Err((
                    store.op,
                    format!("dimension {dim} is written by several stores, of which one ends early"),
                ));
            }
            at = ranges[dim].to.clone();
            if !boxes.is_empty() && !self.bounds.never_negative(&size.sub(&at)) {
                return Err((store.op, format!("dimension {dim} may end before {at}, where another store begins")));
            }
        }
        if self.bounds.never_negative(&at.sub(size)) {
            return Ok(());
        }
        Err((first.op, format!("dimension {dim} of size {size} is written up to {at}")))
    }

    /// Groups write different elements of an `inout` view, and read none that another one writes.
    fn check_inout(&mut self, view: Value, stores: &[Store<'a>], loads: &[Store<'a>]) {
        if self.groups_are_apart(stores, loads) {
            return;
        }
        let name = self.show_inside(view);
        for store in stores {
            if let Err(message) = self.written_box(store) {
                return self.report(store.op, format!("is not proven to write {name} once: {message}"));
            }
        }
        for access in loads.iter().chain(stores.iter().skip(1)) {
            let same = |s: &Store<'a>| {
                let (a, b) = (&s.slice, &access.slice);
                a.view == b.view && a.offsets == b.offsets && a.extents == b.extents && a.steps == b.steps
            };
            if !stores.iter().take(1).all(same) {
                let message = format!("accesses elements of {name} that another group may write");
                return self.report(access.op, message);
            }
        }
    }
}
