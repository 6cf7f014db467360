//! Primitives of loops: how they divide their dims, in which order they lie, how their trips run.

use super::Scope;
use super::find::{self, Found, Path, View};
use super::names::{Count, DimLoop, LoopName, LoopNames, Spot};
use super::pieces::Piece;
use crate::schedule::{Dim, Loop, Node, Runs, Split};

/// Two loops for one.
pub(super) fn split(scope: &mut Scope<'_>, name: &LoopName, part: &Split) -> Found<()> {
    let view = scope.view();
    let (path, over) = view.over(&name.spot, name.own.dim)?;
    let Some(depth) = over.get(name.own.number).copied() else {
        return match over.len() {
            0 if name.own.number == 0 => split_tile(scope, name, *part),
            count => Err(view.no_loop(name.own, &name.spot, count)),
        };
    };
    let l = view.loop_at(&path, depth).ok_or("it is no loop")?;
    let (outer, inner) = parts_of(l, *part)?;
    let Node::Loop(l) = find::node_mut(scope.version(), &path, depth) else { return Ok(()) };
    l.split = outer;
    let dim = l.dim;
    // Loops of the grid and over units come first.
    let body = inside_groups(l.runs, &mut l.body);
    let inside = std::mem::take(body);
    body.push(Node::Loop(Loop::new(dim, inner, Runs::InTurn, inside)));
    Ok(())
}

/// The body of a loop, or of the last loop of the grid or over units in it.
fn inside_groups(runs: Runs, body: &mut Vec<Node>) -> &mut Vec<Node> {
    if runs != Runs::InTurn && matches!(&body[..], [Node::Loop(inner)] if inner.runs != Runs::InTurn) {
        let Node::Loop(inner) = &mut body[0] else { unreachable!("it was one") };
        return inside_groups(inner.runs, &mut inner.body);
    }
    body
}

/// What the outer and the inner loop have for one.
fn parts_of(l: &Loop, part: Split) -> Found<(Split, Split)> {
    match (l.split, part) {
        (_, Split::One) => Err(format!("nothing says by what the loop over {} is split", l.dim)),
        (Split::One, part) => Ok((part, Split::One)),
        (Split::By(own), Split::By(by)) if by == own => {
            Err(format!("the loop over {} has {own} indices a trip already", l.dim))
        }
        (Split::By(own), Split::By(by)) if own > 0 && by > own && by % own == 0 => Ok((part, l.split)),
        (Split::By(own), Split::By(by)) if by > 0 && own > by && own % by == 0 => Ok((l.split, part)),
        (Split::By(own), Split::By(by)) => {
            Err(format!("the loop over {} has {own} indices a trip: {by} is no multiple and no part of that", l.dim))
        }
        (Split::By(own), Split::Even(_)) => {
            Err(format!("the loop over {} has {own} indices a trip, and even parts are of single ones", l.dim))
        }
        (Split::Even(own), _) => {
            Err(format!("the loop over {} has {own} even parts, which are not divided again", l.dim))
        }
    }
}

/// A loop over what a tile has of a dim.
fn split_tile(scope: &mut Scope<'_>, name: &LoopName, part: Split) -> Found<()> {
    let (view, dim) = (scope.view(), name.own.dim);
    let path = view.find(&name.spot)?;
    let tile = find::tile_of(view.end(&path));
    if tile.is_none_or(|tile| ![tile.rows, tile.cols].contains(&Some(dim))) {
        return Err(view.no_loop(name.own, &name.spot, 0));
    }
    let end = path.nodes.len() - 1;
    let (body, at) = (find::body_mut(scope.version(), &path, end), path.nodes[end]);
    let node = body.remove(at);
    body.insert(at, Node::Loop(Loop::new(dim, part, Runs::InTurn, vec![node])));
    Ok(())
}

/// Another number of indices, or of parts, for a loop.
pub(super) fn retile(scope: &mut Scope<'_>, name: &LoopName, part: &Split) -> Found<()> {
    change(scope, name, |l| l.split = *part)
}

/// Another way in which trips run.
pub(super) fn bind(scope: &mut Scope<'_>, name: &LoopName, runs: &Runs) -> Found<()> {
    change(scope, name, |l| l.runs = *runs)
}

/// Trips that code has side by side.
pub(super) fn unroll(scope: &mut Scope<'_>, name: &LoopName, trips: &Count) -> Found<()> {
    change(scope, name, |l| l.unroll = Some(trips.0))
}

/// What lies outside is left out.
pub(super) fn inside(scope: &mut Scope<'_>, name: &LoopName) -> Found<()> {
    change(scope, name, |l| l.inside = true)
}

/// What is hidden is left out.
pub(super) fn reach(scope: &mut Scope<'_>, name: &LoopName) -> Found<()> {
    change(scope, name, |l| l.reach = true)
}

fn change(scope: &mut Scope<'_>, name: &LoopName, to: impl FnOnce(&mut Loop)) -> Found<()> {
    let (path, depth) = scope.view().named_loop(name)?;
    if let Node::Loop(l) = find::node_mut(scope.version(), &path, depth) {
        to(l);
    }
    Ok(())
}

/// One loop for two that lie directly in each other.
pub(super) fn fuse(scope: &mut Scope<'_>, [outer, inner]: [DimLoop; 2], spot: &Spot) -> Found<()> {
    let view = scope.view();
    if outer.dim != inner.dim {
        let (outer, inner) = (outer.dim, inner.dim);
        return Err(format!("{outer} and {inner} are two dims, which 'fuse {outer} {inner}' makes one"));
    }
    let ((path, first), (_, second)) = (view.find_loop(outer, spot)?, view.find_loop(inner, spot)?);
    if second != first + 1 || view.body(&path, second).len() != 1 {
        let [outer, inner] = [outer, inner].map(|own| own.text(view.cx));
        return Err(format!("the loop '{inner}' around {} is not all that '{outer}' has in it", spot.title(view.cx)));
    }
    let Node::Loop(l) = find::node_mut(scope.version(), &path, first) else { return Ok(()) };
    if let Some(Node::Loop(inner)) = l.body.pop() {
        *l = Loop {
            split: inner.split,
            body: inner.body,
            online: l.online.take().or(inner.online),
            unroll: l.unroll.or(inner.unroll),
            inside: l.inside || inner.inside,
            reach: l.reach || inner.reach,
            ..l.clone()
        };
    }
    Ok(())
}

/// Loops in another order, the outermost one first.
pub(super) fn reorder(scope: &mut Scope<'_>, names: &LoopNames) -> Found<()> {
    let view = scope.view();
    let (path, order) = depths(view, names)?;
    let mut places = order.clone();
    places.sort_unstable();
    let headers: Vec<Loop> = order.iter().filter_map(|depth| Some(header(view.loop_at(&path, *depth)?))).collect();
    for (depth, header) in places.into_iter().zip(headers) {
        if let Node::Loop(l) = find::node_mut(scope.version(), &path, depth) {
            let body = std::mem::take(&mut l.body);
            *l = Loop { body, ..header };
        }
    }
    Ok(())
}

/// A loop runs around the one that it lies in. What lies in front of it there and behind it gets loops of its own.
pub(super) fn accumulate(scope: &mut Scope<'_>, name: &LoopName) -> Found<()> {
    let view = scope.view();
    let (path, depth) = view.named_loop(name)?;
    let loops = depth.checked_sub(1).and_then(|out| Some((view.loop_at(&path, out)?, view.loop_at(&path, depth)?)));
    let Some((outer, inner)) = loops else {
        return Err(format!("the loop over {} lies in no loop", name.own.dim));
    };
    if let Some(l) = [outer, inner].into_iter().find(|l| l.runs != Runs::InTurn) {
        return Err(format!(
            "the trips of the loop over {} do not run in turn, and nothing is kept from one to the next",
            l.dim
        ));
    }
    if let Some(l) = [outer, inner].into_iter().find(|l| l.online.is_some()) {
        return Err(format!("the loop over {} has a stage online, and would change places", l.dim));
    }
    if outer.dim == inner.dim {
        return Err(format!("loops over {} would change places: each divides what the outer has", inner.dim));
    }
    let again = |body: Vec<Node>| (!body.is_empty()).then(|| Node::Loop(Loop { body, ..header(outer) }));
    let (front, behind) = (outer.body[..path.nodes[depth]].to_vec(), outer.body[path.nodes[depth] + 1..].to_vec());
    let moved = Loop { body: again(inner.body.clone()).into_iter().collect(), ..header(inner) };
    let nodes: Vec<Node> = again(front).into_iter().chain([Node::Loop(moved)]).chain(again(behind)).collect();
    let (body, at) = (find::body_mut(scope.version(), &path, depth - 1), path.nodes[depth - 1]);
    body.splice(at..=at, nodes);
    Ok(())
}

/// A loop without what it has in it.
fn header(l: &Loop) -> Loop {
    Loop { body: Vec::new(), online: l.online.clone(), ..*l }
}

/// Where the loops of an order are. They may change places: nothing else lies between them, and those over one dim stay in order.
fn depths(view: View<'_>, names: &LoopNames) -> Found<(Path, Vec<usize>)> {
    let (mut order, mut found) = (Vec::new(), None);
    for own in &names.own {
        let (path, depth) = view.find_loop(*own, &names.spot)?;
        if order.contains(&depth) {
            return Err(format!("'{}' is named twice", own.text(view.cx)));
        }
        order.push(depth);
        found = Some(path);
    }
    let (Some(path), Some(first), Some(last)) = (found, order.iter().min(), order.iter().max()) else {
        return Err("no loop is named".to_owned());
    };
    let title = names.spot.title(view.cx);
    for depth in *first..*last {
        let around = view.title(view.node(&path, depth));
        if view.loop_at(&path, depth + 1).is_none() || view.body(&path, depth + 1).len() != 1 {
            return Err(format!("{around} has more in it than the next loop around {title}, and would change places"));
        }
    }
    let dim = |depth: usize| view.loop_at(&path, depth).map(|l| l.dim);
    match order.iter().enumerate().find_map(|(i, depth)| swapped(&order[..i], *depth, &dim)) {
        Some(dim) => {
            Err(format!("loops over {dim} around {title} would change places: each divides what the outer has"))
        }
        None => Ok((path, order)),
    }
}

/// The dim of a loop that was further in than one over the same dim, and comes before it.
fn swapped(before: &[usize], depth: usize, dim: &dyn Fn(usize) -> Option<Dim>) -> Option<Dim> {
    dim(depth).filter(|own| before.iter().any(|other| *other > depth && dim(*other) == Some(*own)))
}
