//! Rule 7: nobody touches memory to which an asynchronous copy is on its way, on any path, and none is left when a kernel ends.
//!
//! One copy at a time is on its way into an allocation. A loop ends each trip with those that it begins one with, so that what is
//! known before it is known in each trip and behind it.

use std::fmt;

use sutura_ir::{OpRef, Value};

use super::sync::Place;
use super::{Prover, Root, SliceFacts};
use crate::gir::kernel::Mode;
use crate::gir::ops::{AsyncCopyOp, AsyncWaitOp};

/// A copy on its way.
#[derive(Clone)]
struct Copy<'a> {
    op: OpRef<'a>,
    /// The allocation, and what messages call it.
    root: Value,
    name: String,
    to: SliceFacts,
    /// Of memory that units share.
    place: Option<Place>,
}

impl PartialEq for Copy<'_> {
    fn eq(&self, other: &Self) -> bool {
        let place = |copy: &Self| (copy.root, copy.to.view, copy.place.clone());
        let (a, b) = (&self.to, &other.to);
        place(self) == place(other) && a.offsets == b.offsets && a.extents == b.extents && a.steps == b.steps
    }
}

/// The copies of a unit that are on their way.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Flight<'a> {
    /// Batches, the oldest one first.
    batches: Vec<Vec<Copy<'a>>>,
    /// Those that are in no batch yet.
    open: Vec<Copy<'a>>,
}

impl<'a> Flight<'a> {
    fn copies(&self) -> impl Iterator<Item = &Copy<'a>> {
        self.batches.iter().flatten().chain(&self.open)
    }
}

impl fmt::Display for Flight<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |batch: &Vec<Copy<'_>>| batch.iter().map(|copy| copy.name.clone()).collect::<Vec<_>>().join(", ");
        let mut words: Vec<String> =
            self.batches.iter().map(|batch| format!("a batch into ({})", names(batch))).collect();
        if !self.open.is_empty() {
            words.push(format!("what is in no batch, into ({})", names(&self.open)));
        }
        f.write_str(&if words.is_empty() { "nothing".to_owned() } else { words.join(", ") })
    }
}

impl<'a> Prover<'a> {
    /// No copy is on its way to the memory behind a view, which an operation `does` something to.
    pub(super) fn has_landed(&self, op: OpRef<'a>, view: Value, does: &str) -> Result<(), String> {
        let (Root::Own(root) | Root::Group(root)) = self.root(view) else { return Ok(()) };
        if self.flight.copies().all(|copy| copy.root != root) {
            return Ok(());
        }
        let name = self.show(op, view);
        Err(format!("{does} {name}, to which a copy is on its way: a gir.async_wait must stand between"))
    }

    pub(super) fn async_copy(&mut self, op: OpRef<'a>, this: AsyncCopyOp<'a>) -> Result<(), String> {
        let (from, to) = (self.slice_of(op, this.from())?.clone(), self.slice_of(op, this.to())?.clone());
        if from.clipped || to.clipped {
            return Err("copies asynchronously between slices of which one has clips".to_string());
        }
        let from = from.view;
        if !matches!(self.root(from), Root::Param(_, Mode::In)) {
            return Err(format!("copies from {}, which is no 'in' view of the kernel", self.show(op, from)));
        }
        let (Root::Own(root) | Root::Group(root)) = self.root(to.view) else {
            return Err(format!("copies to {}, which is no memory of a unit or a group", self.show(op, to.view)));
        };
        self.has_landed(op, to.view, "copies to")?;
        let place = match self.root(to.view) {
            Root::Group(root) => Some(self.place_of_unit(op, root, &to)?),
            _ => None,
        };
        self.flight.open.push(Copy { op, root, name: self.show(op, to.view), to, place: place.clone() });
        place.map_or(Ok(()), |place| self.shared_write_at(op, root, place))
    }

    pub(super) fn async_commit(&mut self) -> Result<(), String> {
        let batch = std::mem::take(&mut self.flight.open);
        self.flight.batches.push(batch);
        Ok(())
    }

    /// What others must wait for is written now. Nobody has touched it since the copy began.
    pub(super) fn async_wait(&mut self, this: AsyncWaitOp<'a>) -> Result<(), String> {
        let pending = usize::try_from(this.pending()).unwrap_or(0);
        let landed = self.flight.batches.len().saturating_sub(pending);
        let copies: Vec<Copy<'a>> = self.flight.batches.drain(..landed).flatten().collect();
        for Copy { root, place, .. } in copies {
            place.into_iter().for_each(|place| self.shared_landed(root, place));
        }
        Ok(())
    }

    /// A trip of a loop has ended, before the first of which `before` was on its way.
    pub(super) fn check_trip(&mut self, before: Flight<'a>) -> Result<(), String> {
        let after = std::mem::replace(&mut self.flight, before);
        if after == self.flight {
            return Ok(());
        }
        let before = &self.flight;
        Err(format!("has on the way {before} before its first trip, and {after} behind a trip: it must be the same"))
    }

    /// Nothing is on its way where the kernel ends.
    pub(super) fn check_landed(&mut self) {
        let Flight { batches, open } = std::mem::take(&mut self.flight);
        let left = batches.into_iter().flatten().map(|copy| (copy, "gir.async_wait 0"));
        let left: Vec<_> = left.chain(open.into_iter().map(|copy| (copy, "gir.async_commit"))).collect();
        for (copy, needs) in left {
            let message =
                format!("is on its way to {} when the kernel ends: a {needs} must stand behind it", copy.name);
            self.report(copy.op, message);
        }
    }
}
