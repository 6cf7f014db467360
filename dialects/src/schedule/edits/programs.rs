//! Primitives of programs: versions, launches, and kernels that are made of one.

use super::Scope;
use super::find::{self, Found, Path, View};
use super::names::{Count, Guard, Parts, Spot, What};
use crate::schedule::{Dim, Kernel, Launch, Loop, Node, Place, Runs, Split, Tile, stage_text};

/// The kernels of two stages are launched at once, where the first one of the two is.
pub(super) fn together(scope: &mut Scope<'_>, first: &Spot, second: &Spot) -> Found<()> {
    let (cx, view) = (scope.cx, scope.view());
    let (a, b) = (view.find(first)?.kernel, view.find(second)?.kernel);
    if a == b {
        return Err(format!("{} and {} are in one kernel", first.title(cx), second.title(cx)));
    }
    let (to, from) = (a.min(b), a.max(b));
    if to.0 == from.0 {
        return Ok(());
    }
    let launches = &mut scope.version().launches;
    let kernel = launches[from.0].kernels.remove(from.1);
    launches[to.0].kernels.push(kernel);
    launches.retain(|launch| !launch.kernels.is_empty());
    Ok(())
}

/// Threads of a device for the units of a kernel.
pub(super) fn threads(scope: &mut Scope<'_>, spot: &Spot, threads: &Count) -> Found<()> {
    let (launch, kernel) = scope.view().find(spot)?.kernel;
    scope.version().launches[launch].kernels[kernel].threads = Some(threads.0);
    Ok(())
}

/// A copy of a version under a guard, in front of it.
pub(super) fn version(scope: &mut Scope<'_>, guard: &Guard) -> Found<()> {
    if guard.0.is_empty() {
        return Err("the guard has no size, so that no version after it would ever run".to_owned());
    }
    let number = scope.number;
    let mut copy = scope.version().clone();
    copy.guard.extend(guard.0.iter().cloned());
    scope.tree.versions.insert(number, copy);
    Ok(())
}

/// A stage is combined in parts.
pub(super) fn split_reduction(scope: &mut Scope<'_>, spot: &Spot, parts: &Parts) -> Found<()> {
    let path = scope.view().find(spot)?;
    let Node::Place(place) = scope.view().end(&path) else {
        return Err(format!("{} is no place: only a place is combined in parts", spot.title(scope.cx)));
    };
    let place = place.clone();
    match *parts {
        Parts::Columnwise => {
            if let Node::Place(place) = find::end_mut(scope.version(), &path) {
                place.columnwise = true;
            }
            Ok(())
        }
        Parts::Along(dim, split) => by_groups(scope, (&path, &place), (dim, split)),
    }
}

/// Three kernels for one: the first one makes parts, the second one joins them, the third one does what comes behind.
fn by_groups(scope: &mut Scope<'_>, (path, place): (&Path, &Place), (dim, split): (Dim, Split)) -> Found<()> {
    let view = scope.view();
    let stage = stage_text(scope.cx, &place.stage);
    let joined = Spot { what: What::Join, stage: place.stage.clone(), kernel: None };
    let is_joined = |node: &Node| matches!(node, Node::Join(other) if other.stage.number == joined.stage.number);
    let mut found = false;
    view.version.launches.iter().flat_map(|launch| &launch.kernels).for_each(|kernel| {
        crate::schedule::walk(&kernel.body, &mut |node| found |= is_joined(node));
    });
    if found {
        return Err(format!("stage '{stage}' is combined in parts already, which a join combines"));
    }
    let groups = groups_of(view, path);
    if groups.iter().any(|l| l.dim == dim) {
        return Err(format!("a loop of the grid over {dim} lies around stage '{stage}', which has parts by that"));
    }
    if groups.iter().any(|l| l.runs == Runs::Units) {
        return Err(format!("units share what lies around stage '{stage}', and parts are made by groups of one"));
    }
    let (body, at) = (view.body(path, groups.len()), path.nodes[groups.len()]);
    let parts = vec![Node::Loop(Loop::new(dim, split, Runs::Grid, body[..=at].to_vec()))];
    let mut kernels = vec![inside(&groups, parts), inside(&groups, vec![join_of(place, dim)])];
    if at + 1 < body.len() {
        // What stands in front may be needed once more, and the sum is there.
        let again = body[..at].iter().chain(&body[at + 1..]).cloned().collect();
        kernels.push(inside(&groups, again));
    }
    let (launch, kernel) = path.kernel;
    let launches = &mut scope.version().launches;
    if launches[launch].kernels.len() > 1 {
        return Err(format!("the kernel of stage '{stage}' is launched together with others"));
    }
    launches[launch].kernels.remove(kernel);
    launches.splice(launch..=launch, kernels.into_iter().map(|kernel| Launch { kernels: vec![kernel] }));
    Ok(())
}

/// The loops of the grid, and over units, around a node, without what they have in them.
fn groups_of(view: View<'_>, path: &Path) -> Vec<Loop> {
    let loops = (0..path.nodes.len()).map_while(|depth| view.loop_at(path, depth));
    let groups = loops.take_while(|l| l.runs != Runs::InTurn);
    groups.map(|l| Loop::new(l.dim, l.split, l.runs, Vec::new())).collect()
}

/// A kernel of nodes in loops.
fn inside(loops: &[Loop], nodes: Vec<Node>) -> Kernel {
    let body = loops.iter().rev().fold(nodes, |body, l| vec![Node::Loop(Loop { body, ..l.clone() })]);
    Kernel::new(body)
}

/// The join of a place's parts: row by row, and without what is combined.
fn join_of(place: &Place, along: Dim) -> Node {
    let Tile { rows, cols, space, padded } = place.tile.clone();
    let cols = cols.filter(|dim| *dim != along);
    let tile = Tile { rows: None, cols, space, padded: padded && cols.is_some() };
    let join = Node::Join(Place::new(place.stage.clone(), tile));
    match rows.filter(|dim| *dim != along) {
        Some(rows) => Node::Loop(Loop::new(rows, Split::One, Runs::InTurn, vec![join])),
        None => join,
    }
}
