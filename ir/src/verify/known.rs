//! What was verified before, and has not changed since: it is not looked at again.
//!
//! A body is known by its number and its epoch, which grows with each change, and by the header of the op that owns it. What lies in it may
//! look at that header and into the bodies in it, so an op that owns a body is looked at again when anything inside has changed. Uses of
//! symbols depend on all of a program: they are checked each time.

use rustc_hash::FxHashMap;

use super::Report;
use crate::body::{Body, Op, OpHeader};
use crate::op_ref::OpRef;

/// The bodies that verify.
#[derive(Debug, Default)]
pub struct Verified(FxHashMap<u64, Known>);

/// What verifying a body found, as far as others need it.
#[derive(Debug)]
struct Known {
    epoch: u64,
    owner: OpHeader,
    isolated: Vec<Op>,
    symbol_users: Vec<Op>,
    exits: Vec<Op>,
}

impl Verified {
    fn find(&self, owner: OpRef<'_>) -> Option<&Known> {
        let body = owner.inside();
        self.0.get(&body.id()).filter(|known| known.epoch == body.epoch() && known.owner == header(owner))
    }

    /// What verifying the inside of an op found, if that has not changed. Bodies in it may have.
    pub(super) fn report(&self, owner: OpRef<'_>) -> Option<Report> {
        let known = self.find(owner)?;
        let (isolated, symbol_users, exits) = (known.isolated.clone(), known.symbol_users.clone(), known.exits.clone());
        Some(Report { isolated, symbol_users, exits, ..Report::default() })
    }

    /// True where nothing inside an op has changed, however deep.
    pub(super) fn all_of(&self, owner: OpRef<'_>) -> bool {
        let mut pending = vec![owner];
        while let Some(owner) = pending.pop() {
            let Some(known) = self.find(owner) else { return false };
            let inside: &Body = owner.inside();
            pending.extend(known.isolated.iter().map(|op| OpRef::new(owner.cx, inside, *op)));
        }
        true
    }

    /// Notes that the inside of an op verifies.
    pub(super) fn note(&mut self, owner: OpRef<'_>, report: Report) {
        let (body, owner) = (owner.inside(), header(owner));
        let Report { isolated, symbol_users, exits, .. } = report;
        self.0.insert(body.id(), Known { epoch: body.epoch(), owner, isolated, symbol_users, exits });
    }
}

fn header(op: OpRef<'_>) -> OpHeader {
    *op.body.header(op.op)
}
