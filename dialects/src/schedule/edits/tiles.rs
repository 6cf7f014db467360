//! Primitives of tiles: what they have of dims, where they lie, and by which instruction they are computed.

use super::Scope;
use super::find::{self, Found};
use super::names::{Asynchronous, Input, Layout, LoopName, SpaceName, Spot};
use crate::schedule::{Bring, Dim, Node, Runs, Split, Tile, stage_text};

/// The indices of a loop become columns of the tiles in it.
pub(super) fn vectorize(scope: &mut Scope<'_>, name: &LoopName) -> Found<()> {
    into_tiles(scope, name, ("columns", |tile| &mut tile.cols))
}

/// The indices of a loop become rows of the tiles in it.
pub(super) fn tile_rows(scope: &mut Scope<'_>, name: &LoopName) -> Found<()> {
    into_tiles(scope, name, ("rows", |tile| &mut tile.rows))
}

/// What a tile is to have, and where it says so.
type Side = (&'static str, fn(&mut Tile) -> &mut Option<Dim>);

fn into_tiles(scope: &mut Scope<'_>, name: &LoopName, (what, side): Side) -> Found<()> {
    let view = scope.view();
    let (path, depth) = view.named_loop(name)?;
    let around = view.title(view.node(&path, depth));
    let Some(l) = view.loop_at(&path, depth) else { return Ok(()) };
    if l.split != Split::One {
        return Err(format!("{around} has more than one index a trip: split it, and take the inner loop"));
    }
    if l.runs != Runs::InTurn {
        return Err(format!("the trips of {around} are groups or units"));
    }
    if let Some(online) = &l.online {
        return Err(format!("{around} has stage '{}' online", stage_text(view.cx, online)));
    }
    let mut body = l.body.clone();
    for node in &mut body {
        let title = view.title(node);
        let inside = matches!(node, Node::Operand(operand) if !operand.body.is_empty());
        let Some(tile) = find::tile_mut(node).filter(|_| !inside) else {
            return Err(format!("{around} has {title} in it, which has a body"));
        };
        if let Some(dim) = side(tile) {
            return Err(format!("the tile of {title} has {what} along {dim} already"));
        }
        *side(tile) = Some(name.own.dim);
    }
    let outer = find::body_mut(scope.version(), &path, depth);
    outer.splice(path.nodes[depth]..=path.nodes[depth], body);
    Ok(())
}

/// Another space for a tile.
pub(super) fn set_space(scope: &mut Scope<'_>, spot: &Spot, space: &SpaceName) -> Found<()> {
    let path = scope.view().find(spot)?;
    if let Some(tile) = find::tile_mut(find::end_mut(scope.version(), &path)) {
        tile.space.clone_from(&space.0);
    }
    Ok(())
}

/// Another layout for a tile.
pub(super) fn set_layout(scope: &mut Scope<'_>, spot: &Spot, layout: &Layout) -> Found<()> {
    let title = spot.title(scope.cx);
    let path = scope.view().find(spot)?;
    match (find::end_mut(scope.version(), &path), *layout) {
        (Node::Operand(operand), Layout::Pitch(pitch)) => operand.pitch = Some(pitch),
        (_, Layout::Pitch(_)) => return Err(format!("{title} has no pitch, which a cached operand has")),
        (node, layout) => find::tile_mut(node).into_iter().for_each(|tile| tile.padded = layout == Layout::Padded),
    }
    Ok(())
}

/// A sum of products becomes a contraction of tiles.
pub(super) fn tensorize(scope: &mut Scope<'_>, spot: &Spot) -> Found<()> {
    let title = spot.title(scope.cx);
    let path = scope.view().find(spot)?;
    match find::end_mut(scope.version(), &path) {
        Node::Place(place) => place.contract = true,
        _ => return Err(format!("{title} is no place: only the place of a sum of products becomes a contraction")),
    }
    Ok(())
}

/// A cached operand is read a phase before it is needed, or copied asynchronously.
pub(super) fn pipeline(scope: &mut Scope<'_>, input: &Input, how: &Asynchronous) -> Found<()> {
    let spot = input.spot();
    let title = spot.title(scope.cx);
    let path = scope.view().find(&spot)?;
    match find::end_mut(scope.version(), &path) {
        Node::Operand(operand) if operand.to == Bring::Cache => {
            (operand.ahead, operand.asynchronous) = (!how.0, how.0);
        }
        _ if how.0 => return Err(format!("{title} is not cached, and only what is can be copied asynchronously")),
        _ => return Err(format!("{title} is not cached, and only what is can be read ahead")),
    }
    Ok(())
}
