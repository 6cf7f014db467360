//! Primitives of caches: which stores go past them, which wait, which tiles live in an output, what is asked for ahead.

use super::Scope;
use super::find::{self, Found};
use super::names::{Input, Spot, What, When};
use crate::schedule::{Bring, Node, Operand, Place, Prefetch, StageName, Stored};

/// A store goes past the caches.
pub(super) fn stream(scope: &mut Scope<'_>, spot: &Spot, when: &When) -> Found<()> {
    let defer = matches!(stored(scope, spot)?, Some(Stored::Stream { defer: true, .. }));
    *stored(scope, spot)? = Some(Stored::Stream { when: when.0.clone(), defer });
    Ok(())
}

/// A store that goes past the caches may wait for the next group.
pub(super) fn defer(scope: &mut Scope<'_>, spot: &Spot) -> Found<()> {
    match stored(scope, spot)? {
        Some(Stored::Stream { defer, .. }) => *defer = true,
        _ => {
            return Err(format!(
                "the store of {} does not go past the caches: only what does can wait",
                spot.title(scope.cx)
            ));
        }
    }
    Ok(())
}

/// A store stays in the caches.
pub(super) fn keep(scope: &mut Scope<'_>, spot: &Spot) -> Found<()> {
    *stored(scope, spot)? = Some(Stored::Kept);
    Ok(())
}

/// What the store of a place or a join says.
fn stored<'s>(scope: &'s mut Scope<'_>, spot: &Spot) -> Found<&'s mut Option<Stored>> {
    let title = spot.title(scope.cx);
    let path = scope.view().find(spot)?;
    match find::end_mut(scope.version(), &path) {
        Node::Place(place) | Node::Join(place) => Ok(&mut place.store),
        _ => Err(format!("{title} is not stored to an output: a place or a join is")),
    }
}

/// A tile lives where a stage is stored.
pub(super) fn home(scope: &mut Scope<'_>, spot: &Spot, output: &StageName) -> Found<()> {
    let title = spot.title(scope.cx);
    let path = scope.view().find(spot)?;
    match find::end_mut(scope.version(), &path) {
        Node::Place(place) => place.home = Some(output.clone()),
        _ => return Err(format!("{title} is no place, and only the tile of a place has a home")),
    }
    Ok(())
}

/// An input is asked for ahead of what is read; where nothing brings it into a tile, the place that reads it does.
pub(super) fn prefetch(scope: &mut Scope<'_>, input: &Input, prefetch: &Prefetch) -> Found<()> {
    let (spot, prefetch) = (input.spot(), Some(prefetch.clone()));
    let title = spot.title(scope.cx);
    if let Ok(path) = scope.view().find(&spot) {
        return match find::end_mut(scope.version(), &path) {
            Node::Operand(operand) if operand.to == Bring::Tile => {
                operand.prefetch = prefetch;
                Ok(())
            }
            _ => Err(format!("{title} is kept near or packed: only what is brought into a tile is asked for ahead")),
        };
    }
    let path = scope.view().find(&Spot { what: What::Place, ..spot })?;
    let Node::Place(Place { stage, tile, .. }) = scope.view().end(&path) else { return Ok(()) };
    let operand = Operand::new((stage.clone(), input.input), tile.clone(), Bring::Tile);
    let (end, node) = (path.nodes.len() - 1, Node::Operand(Operand { prefetch, ..operand }));
    find::body_mut(scope.version(), &path, end).insert(path.nodes[end], node);
    Ok(())
}
