//! Asynchronous copies of a unit: carried out when it waits for them, and not before.

use std::collections::VecDeque;
use std::rc::Rc;

use sutura_interp::{Fault, FaultKind, Scalar};

use super::code::{Route, What};
use super::machine::Machine;
use super::memory::Slice;

/// A copy on its way.
#[derive(Debug)]
struct Copy {
    from: Rc<Slice>,
    to: Rc<Slice>,
    zeros: bool,
    route: Route,
}

/// The copies of a unit that are on their way.
#[derive(Default, Debug)]
pub(super) struct Flight {
    /// The oldest one first.
    batches: VecDeque<Vec<Copy>>,
    /// Those that are in no batch yet.
    open: Vec<Copy>,
}

impl Flight {
    /// Fails unless all copies were waited for.
    pub(super) fn check_landed(&self) -> Result<(), Fault> {
        let count = self.batches.iter().flatten().chain(&self.open).count();
        if count == 0 {
            return Ok(());
        }
        let message = format!(
            "a unit ends while asynchronous copies are on their way: {count}, which no gir.async_wait waits for"
        );
        Err(Fault::new(FaultKind::Assertion, message))
    }
}

impl Machine<'_, '_, '_> {
    /// A copy, the end of a batch, or a wait.
    pub(super) fn copies(&mut self, u: usize, what: &What) -> Result<(), Fault> {
        match what {
            What::AsyncCopy { from, to, zeros, route } => {
                let (from, to) = (self.slice(u, *from)?, self.slice(u, *to)?);
                self.memory.begin_copy(&from, &to, *zeros, self.actor(u))?;
                self.units[u].flight.open.push(Copy { from, to, zeros: *zeros, route: *route });
            }
            What::AsyncCommit => {
                let flight = &mut self.units[u].flight;
                flight.batches.push_back(std::mem::take(&mut flight.open));
            }
            What::AsyncWait { pending } => {
                while self.units[u].flight.batches.len() > *pending {
                    let batch = self.units[u].flight.batches.pop_front().unwrap_or_default();
                    batch.iter().try_for_each(|copy| self.land(u, copy))?;
                }
            }
            _ => return Err(Fault::invalid_ir("copies nothing")),
        }
        Ok(())
    }

    fn land(&mut self, u: usize, copy: &Copy) -> Result<(), Fault> {
        let Copy { from, to, zeros, route } = copy;
        self.memory.end_copy(from, to, *zeros);
        let tile = self.memory.load(from, self.actor(u))?;
        let bytes = from.window().and(to.window()).area() as u64 * route.bytes;
        self.traffic[route.from].read += bytes;
        self.traffic[route.to].written += bytes;
        let tile = if *zeros { tile.padded(Scalar::from_bits(tile.dtype, 0))? } else { tile };
        self.memory.store(&tile, to, self.actor(u)).map(|_| ())
    }
}
