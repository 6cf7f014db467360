//! Primitives of places: in which loops stages are computed, and where what they read is brought.

use super::Scope;
use super::find::{self, Found, Path};
use super::names::{Again, Input, LoopName, LoopNames, Spot, What};
use crate::schedule::{Bring, Kernel, Launch, Loop, Node, Operand, Runs, StageName, Tile, stage_text, walk};

/// What is at a spot goes into a loop around another one: in front of what the other one lies in, or behind it.
pub(super) fn compute_at(scope: &mut Scope<'_>, spot: &Spot, name: &LoopName, again: &Again) -> Found<()> {
    let (cx, view) = (scope.cx, scope.view());
    let mut path = view.find(spot)?;
    let (target, depth) = view.named_loop(name)?;
    if target.kernel == path.kernel && target.nodes[..=depth].starts_with(&path.nodes) {
        return Err(format!("the loop over {} lies in {}", name.own.dim, spot.title(cx)));
    }
    let itself = target.kernel == path.kernel && target.nodes.starts_with(&path.nodes);
    let behind = match itself {
        // Where it was first, it stays in front.
        true => path.nodes.get(depth + 1..).is_some_and(|nodes| nodes.iter().skip(1).any(|at| *at > 0)),
        false => spot.stage.number > name.spot.stage.number,
    };
    let at = target.nodes[depth + 1] + usize::from(behind);
    let node = view.end(&path).clone();
    find::body_mut(scope.version(), &target, depth + 1).insert(at, node);
    if again.0 {
        return Ok(());
    }
    moved(&mut path, &target, depth + 1, at);
    find::remove(cx, scope.version(), &path)
}

/// The path of a node behind an insertion into the body that holds node `depth` of another path.
pub(super) fn moved(path: &mut Path, other: &Path, depth: usize, at: usize) {
    let same = path.kernel == other.kernel && path.nodes.get(..depth) == Some(&other.nodes[..depth]);
    if let Some(own) = path.nodes.get_mut(depth).filter(|own| same && **own >= at) {
        *own += 1;
    }
}

/// An extreme is used in a loop before all trips have added to it.
pub(super) fn online(scope: &mut Scope<'_>, stage: &StageName, name: &LoopName) -> Found<()> {
    let (cx, view) = (scope.cx, scope.view());
    let (path, depth) = view.named_loop(name)?;
    let Some(l) = view.loop_at(&path, depth) else { return Ok(()) };
    let (dim, title) = (l.dim, stage_text(cx, stage));
    if l.runs != Runs::InTurn {
        return Err(format!(
            "the trips of the loop over {dim} do not run in turn, so that stage '{title}' has no order"
        ));
    }
    if let Some(other) = l.online.as_ref().filter(|other| other.number != stage.number) {
        return Err(format!("the loop over {dim} has stage '{}' online already", stage_text(cx, other)));
    }
    let mut placed = false;
    l.walk(&mut |node| placed |= matches!(node, Node::Place(place) if place.stage.number == stage.number));
    if !placed {
        return Err(format!("stage '{title}' is not placed in the loop over {dim}"));
    }
    if let Node::Loop(l) = find::node_mut(scope.version(), &path, depth) {
        l.online = Some(stage.clone());
    }
    Ok(())
}

/// What a stage reads is kept near, at the loop that it is read in.
pub(super) fn cache_read(scope: &mut Scope<'_>, input: &Input, tile: &Tile, name: &LoopName) -> Found<()> {
    let (cx, view) = (scope.cx, scope.view());
    let (path, depth) = view.named_loop(name)?;
    let brings = |node: &Node| {
        let own = |operand: &Operand| (operand.stage.number, operand.input) == (input.stage.number, input.input);
        matches!(node, Node::Operand(operand) if operand.to == Bring::Cache && own(operand))
    };
    let body = view.body(&path, depth + 1);
    let (mut read, mut near) = (false, false);
    walk(body, &mut |node| {
        read |= matches!(node, Node::Place(place) if place.stage.number == input.stage.number);
        near |= brings(node);
    });
    let title = input.spot().title(cx);
    if !read {
        return Err(format!("{title} is not read in the loop over {}", name.own.dim));
    }
    if near || (0..=depth).any(|at| view.body(&path, at).iter().any(brings)) {
        return Err(format!("{title} is cached already"));
    }
    let operand = Operand::new((input.stage.clone(), input.input), tile.clone(), Bring::Cache);
    find::body_mut(scope.version(), &path, depth + 1).insert(path.nodes[depth + 1], Node::Operand(operand));
    Ok(())
}

/// What a stage reads is packed by a kernel of its own, which comes before. The loops are like those that read it.
pub(super) fn pack(scope: &mut Scope<'_>, input: &Input, tile: &Tile, names: &LoopNames) -> Found<()> {
    let view = scope.view();
    let title = input.spot().title(scope.cx);
    let is_packed = |kernel: &Kernel| {
        let mut packed = false;
        walk(&kernel.body, &mut |node| {
            packed |= matches!(node, Node::Operand(o) if o.to == Bring::Pack
                && (o.stage.number, o.input) == (input.stage.number, input.input));
        });
        packed
    };
    if view.version.launches.iter().flat_map(|launch| &launch.kernels).any(is_packed) {
        return Err(format!("{title} is packed already"));
    }
    if names.spot.what != What::Place || names.spot.stage.number != input.stage.number {
        let stage = stage_text(scope.cx, &input.stage);
        return Err(format!("{title} is read in loops around stage '{stage}', and others are named"));
    }
    let mut loops = Vec::new();
    let mut launch = 0;
    for own in &names.own {
        let (path, depth) = view.find_loop(*own, &names.spot)?;
        loops.extend(view.loop_at(&path, depth).map(|l| (l.dim, l.split, l.runs)));
        launch = path.kernel.0;
    }
    let node = Node::Operand(Operand::new((input.stage.clone(), input.input), tile.clone(), Bring::Pack));
    // Its first loop makes groups, and so do those that do where it is read, as far as they come first.
    let groups = 1.max(loops.iter().take_while(|(.., runs)| *runs == Runs::Grid).count());
    let body = loops.into_iter().enumerate().rev().fold(vec![node], |body, (i, (dim, split, _))| {
        let runs = if i < groups { Runs::Grid } else { Runs::InTurn };
        vec![Node::Loop(Loop::new(dim, split, runs, body))]
    });
    scope.version().launches.insert(launch, Launch { kernels: vec![Kernel::new(body)] });
    Ok(())
}
