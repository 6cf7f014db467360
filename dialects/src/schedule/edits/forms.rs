//! Primitives that make the normal form another one: the loops and places of a version become those of the new dims and stages.

use super::Scope;
use super::find::{self, Found};
use super::names::{Fused, Spot, What};
use crate::schedule::tree::walk_mut;
use crate::schedule::{Dim, Loop, Node, Place, Rewrite, Runs, Split, StageName, Version, stage_text};

/// Two dims or two loops become one.
pub(super) fn fuse(scope: &mut Scope<'_>, fused: &Fused) -> Found<()> {
    match fused {
        Fused::Loops(loops, spot) => super::loops::fuse(scope, *loops, spot),
        Fused::Dims(outer, inner) => fuse_dims(scope, *outer, *inner),
    }
}

fn fuse_dims(scope: &mut Scope<'_>, outer: Dim, inner: Dim) -> Found<()> {
    differ(outer, inner)?;
    let view = scope.view();
    for kernel in view.version.launches.iter().flat_map(|launch| &launch.kernels) {
        let mut fits = Ok(());
        crate::schedule::walk(&kernel.body, &mut |node| {
            let tiled = find::tile_of(node).is_some_and(|tile| [tile.rows, tile.cols].contains(&Some(outer)));
            let divided = matches!(node, Node::Loop(l) if l.dim == outer && l.split != Split::One);
            let online = matches!(node, Node::Loop(l) if l.dim == outer && l.online.is_some());
            let why = match () {
                () if tiled => Some(format!("the tile of {} has several indices of {outer}", view.title(node))),
                () if divided => Some(format!("a loop over {outer} has more than one index a trip")),
                () if online => Some(format!("a loop over {outer} has a stage online")),
                () => None,
            };
            if let Some(why) = why.filter(|_| fits.is_ok()) {
                fits = Err(format!("{why}, and {outer} would be gone"));
            }
        });
        fits?;
    }
    let version = scope.version();
    each_body(version, &mut |body| unwrap_loops(body, outer, inner));
    renumber(version, &|dim| gone(dim, outer));
    version.rewrites.push(Rewrite::Fuse(outer, inner));
    Ok(())
}

fn differ(a: Dim, b: Dim) -> Found<()> {
    if a == b { Err(format!("{a} is named twice")) } else { Ok(()) }
}

/// The number of a dim behind one that is gone.
fn gone(dim: Dim, gone: Dim) -> Dim {
    if dim.0 > gone.0 { Dim(dim.0 - 1) } else { dim }
}

/// What loops over the outer dim have in them takes their place; a loop over the inner dim runs as the one around it did.
fn unwrap_loops(body: &mut Vec<Node>, outer: Dim, inner: Dim) {
    let mut nodes = Vec::with_capacity(body.len());
    for node in std::mem::take(body) {
        match node {
            Node::Loop(mut l) if l.dim == outer => {
                if let [Node::Loop(only)] = &mut l.body[..]
                    && only.dim == inner
                    && only.runs == Runs::InTurn
                {
                    only.runs = l.runs;
                }
                unwrap_loops(&mut l.body, outer, inner);
                nodes.append(&mut l.body);
            }
            other => nodes.push(other),
        }
    }
    *body = nodes;
}

/// Visits the lists of nodes of all kernels, the outer ones first.
fn each_body(version: &mut Version, visit: &mut dyn FnMut(&mut Vec<Node>)) {
    for kernel in version.launches.iter_mut().flat_map(|launch| &mut launch.kernels) {
        visit(&mut kernel.body);
        walk_mut(&mut kernel.body, &mut |node| match node {
            Node::Loop(l) => visit(&mut l.body),
            Node::Operand(operand) => visit(&mut operand.body),
            Node::Place(_) | Node::Join(_) => {}
        });
    }
}

/// Gives all dims of a version other numbers.
fn renumber(version: &mut Version, number: &dyn Fn(Dim) -> Dim) {
    let all = version.launches.iter_mut().flat_map(|launch| &mut launch.kernels);
    for kernel in all {
        walk_mut(&mut kernel.body, &mut |node| {
            if let Node::Loop(l) = node {
                l.dim = number(l.dim);
            }
            for dim in find::tile_mut(node).into_iter().flat_map(|tile| tile.rows.iter_mut().chain(&mut tile.cols)) {
                *dim = number(*dim);
            }
        });
    }
}

/// Two dims that no stage runs through both become one, the second one is gone.
pub(super) fn join(scope: &mut Scope<'_>, first: &Dim, second: &Dim) -> Found<()> {
    let (kept, lost) = (*first, *second);
    differ(kept, lost)?;
    let version = scope.version();
    renumber(version, &|dim| gone(if dim == lost { kept } else { dim }, lost));
    version.rewrites.push(Rewrite::Join(kept, lost));
    Ok(())
}

/// A stage that scales what a sum adds up scales the sum instead; the two trade places and numbers.
pub(super) fn hoist(scope: &mut Scope<'_>, scale: &StageName, sum: &StageName) -> Found<()> {
    if scale.number == sum.number {
        return Err(format!("stage '{}' is named twice", stage_text(scope.cx, sum)));
    }
    let (cx, view) = (scope.cx, scope.view());
    let spot = |stage: &StageName| Spot { what: What::Place, stage: stage.clone(), kernel: None };
    let (from, to) = (view.find(&spot(scale))?, view.find(&spot(sum))?);
    let Node::Place(place) = view.end(&to) else { return Ok(()) };
    let scaled = Place::new(sum.clone(), place.tile.clone());
    let version = scope.version();
    // What is told by the number of the sum is told by that of the stage now, and the other way round.
    each_body(version, &mut |body| body.iter_mut().for_each(|node| trade(node, scale, sum)));
    let end = to.nodes.len() - 1;
    find::body_mut(version, &to, end).insert(to.nodes[end] + 1, Node::Place(scaled));
    let mut from = from;
    super::places::moved(&mut from, &to, end, to.nodes[end] + 1);
    find::remove(cx, version, &from)?;
    version.rewrites.push(Rewrite::Hoist(scale.clone(), sum.clone()));
    Ok(())
}

/// A node of one of two stages becomes one of the other.
fn trade(node: &mut Node, scale: &StageName, sum: &StageName) {
    let stages = match node {
        Node::Place(place) | Node::Join(place) => [Some(&mut place.stage), place.home.as_mut()],
        Node::Operand(operand) => [Some(&mut operand.stage), None],
        Node::Loop(Loop { online, .. }) => [online.as_mut(), None],
    };
    for stage in stages.into_iter().flatten() {
        if stage.number == scale.number {
            stage.clone_from(sum);
        } else if stage.number == sum.number {
            stage.clone_from(scale);
        }
    }
}
