//! What can be said of a tree without its region.

use rustc_hash::FxHashSet;
use sutura_ir::Context;
use sutura_ir::ext::VerifyParams;

use super::TreeAttr;
use super::text::{MAX_LOOPS, rewrite_text, stage_text};
use super::tree::{Bring, Dim, Loop, Node, Operand, Place, Rewrite, Runs, Split, Tile, Version};
use crate::r#dyn::facts::MAX_DIM;
use crate::gir::kernel::{MOST_UNROLLED, is_threads_of_unit};
use crate::gpu::MOST_THREADS;

type Checked = Result<(), String>;

impl VerifyParams for TreeAttr {
    fn verify_params(&self, cx: &Context) -> Checked {
        let Some(last) = self.versions.len().checked_sub(1) else {
            return Err("#schedule.tree has no version".to_owned());
        };
        for (i, version) in self.versions.iter().enumerate() {
            check_version(cx, version, i, i == last)?;
        }
        Ok(())
    }
}

fn check_version(cx: &Context, version: &Version, number: usize, last: bool) -> Checked {
    match version.guard.is_empty() {
        false if last => {
            return Err("the last version has a guard; it must have none, so that one always runs".to_owned());
        }
        true if !last => return Err(format!("version {number} has no guard, so that no version after it ever runs")),
        _ => {}
    }
    if let Some(excess) = version.guard.iter().find_map(|size| size.excess()) {
        return Err(format!("the guard of version {number}: {excess}"));
    }
    for rewrite in &version.rewrites {
        let (alike, what) = match rewrite {
            Rewrite::Join(first, second) | Rewrite::Fuse(first, second) => (first == second, "dims"),
            Rewrite::Hoist(scale, sum) => (scale.number == sum.number, "stages"),
        };
        if alike {
            return Err(format!("'{}' needs two {what} that differ", rewrite_text(cx, rewrite)));
        }
    }
    if version.launches.is_empty() {
        return Err(format!("version {number} launches nothing"));
    }
    for launch in &version.launches {
        if launch.kernels.is_empty() {
            return Err(format!("version {number} has a launch without kernels"));
        }
        for kernel in &launch.kernels {
            if let Some(threads) = kernel.threads.filter(|threads| !is_threads_of_unit(*threads)) {
                return Err(format!(
                    "version {number} has a kernel with units of {threads} threads; it must be a power of two, {MOST_THREADS} at most"
                ));
            }
            Around { cx, loops: Vec::new(), bodies: 0 }.check_body(&kernel.body)?;
        }
    }
    Ok(())
}

/// What is around a node.
struct Around<'t> {
    cx: &'t Context,
    /// Outermost first.
    loops: Vec<&'t Loop>,
    /// Bodies of operands.
    bodies: usize,
}

impl<'t> Around<'t> {
    fn check_body(&mut self, nodes: &'t [Node]) -> Checked {
        // Of a body with many nodes, each is looked at once.
        let (mut placed, mut joined) = (FxHashSet::default(), FxHashSet::default());
        for node in nodes {
            if let Some(excess) = node.sizes().iter().find_map(|size| size.excess()) {
                return Err(format!("a size of a clause: {excess}"));
            }
            match node {
                Node::Loop(inner) => {
                    self.check_grid(inner, nodes.len() == 1)?;
                    self.check_loop(inner)?;
                }
                Node::Place(place) => {
                    if !placed.insert(place.stage.number) {
                        return Err(self.twice(place, "placed"));
                    }
                    self.check_place(place)?;
                }
                Node::Join(place) => {
                    if !joined.insert(place.stage.number) {
                        return Err(self.twice(place, "joined"));
                    }
                    if place.contract {
                        let stage = stage_text(self.cx, &place.stage);
                        return Err(format!("stage '{stage}' is joined as a contraction, which only a place can be"));
                    }
                    if place.columnwise {
                        let stage = stage_text(self.cx, &place.stage);
                        return Err(format!("stage '{stage}' is joined columnwise, which only a place can be"));
                    }
                    if place.home.is_some() {
                        let stage = stage_text(self.cx, &place.stage);
                        return Err(format!("stage '{stage}' is joined with a home, which only a place has"));
                    }
                    self.check_place(place)?;
                }
                Node::Operand(operand) => self.check_operand(operand)?,
            }
        }
        Ok(())
    }

    /// Loops of the grid come first, each alone in the one before, then one over a group's units.
    fn check_grid(&self, inner: &Loop, alone: bool) -> Checked {
        let dim = inner.dim;
        let of = match inner.runs {
            Runs::InTurn => return Ok(()),
            Runs::Grid => "of the grid",
            Runs::Units => "over units",
        };
        match self.loops.last() {
            _ if self.bodies > 0 => Err(format!("the loop over {dim} is {of}, and lies in the body of an operand")),
            Some(outer) if !outer.is_grid() => Err(format!(
                "the loop over {dim} is {of}, but the loop over {} around it is not of the grid",
                outer.dim
            )),
            Some(outer) if !alone => {
                Err(format!("the loop over {dim} {of} is not alone in the loop over {} around it", outer.dim))
            }
            None if !alone => Err(format!("the loop over {dim} {of} is not alone in its kernel")),
            _ => Ok(()),
        }
    }

    fn check_loop(&mut self, inner: &'t Loop) -> Checked {
        let dim = inner.dim;
        if let Some(online) = inner.online.as_ref().filter(|_| inner.runs != Runs::InTurn) {
            let stage = stage_text(self.cx, online);
            return Err(format!("stage '{stage}' is online in the loop over {dim}, whose trips do not run in turn"));
        }
        if self.loops.len() + self.bodies >= MAX_LOOPS {
            return Err(format!("the loop over {dim} is nested too deep: at most {MAX_LOOPS} loops lie in each other"));
        }
        match inner.split {
            Split::By(number @ ..1) => {
                return Err(format!("the loop over {dim} is split by {number}; it must be at least 1"));
            }
            Split::Even(number @ ..1) => {
                return Err(format!("the loop over {dim} has {number} even parts; it must be at least 1"));
            }
            Split::By(number) | Split::Even(number) if number > MAX_DIM => {
                return Err(format!("the loop over {dim} has the number {number}; no dim is longer than {MAX_DIM}"));
            }
            _ => {}
        }
        if inner.inside && (inner.runs != Runs::InTurn || inner.split != Split::One) {
            return Err(format!(
                "the loop over {dim} leaves out what lies outside, and does not run through it one by one"
            ));
        }
        if inner.reach && (inner.online.is_none() || !matches!(inner.split, Split::By(_))) {
            return Err(format!(
                "the loop over {dim} leaves out what is hidden, and has nothing online or does not run through it in tiles"
            ));
        }
        if let Some(trips) = inner.unroll {
            if inner.runs != Runs::InTurn {
                return Err(format!("the loop over {dim} is unrolled, and its trips do not run one after another"));
            }
            if !(2..=MOST_UNROLLED).contains(&trips) {
                return Err(format!("the loop over {dim} unrolls {trips} trips; it must be from 2 to {MOST_UNROLLED}"));
            }
        }
        if self.is_single(dim) {
            return Err(format!("the loop over {dim} lies in a loop that gives one index of {dim}"));
        }
        self.loops.push(inner);
        self.check_body(&inner.body)?;
        self.loops.pop();
        Ok(())
    }

    fn twice(&self, place: &Place, done: &str) -> String {
        format!("stage '{}' is {done} twice in one body", stage_text(self.cx, &place.stage))
    }

    fn check_place(&self, place: &Place) -> Checked {
        let stage = stage_text(self.cx, &place.stage);
        if place.contract && place.tile.cols.is_none() {
            return Err(format!("the contraction of stage '{stage}' has no columns"));
        }
        if place.columnwise && (place.contract || place.tile.cols.is_none()) {
            let why = if place.contract { "is a contraction" } else { "has no columns" };
            return Err(format!("stage '{stage}' is placed columnwise, and {why}"));
        }
        if let Some(home) = &place.home {
            let home_text = stage_text(self.cx, home);
            let why = match (home.number == place.stage.number, place.contract) {
                (true, _) => Some("which is itself"),
                (_, true) => Some("and a contraction lies in registers"),
                _ if place.tile.cols.is_none() => Some("and it has no columns"),
                _ => None,
            };
            if let Some(why) = why {
                return Err(format!("stage '{stage}' has its home in stage '{home_text}', {why}"));
            }
        }
        self.check_tile(&format!("stage '{stage}'"), &place.tile)
    }

    fn check_operand(&mut self, operand: &'t Operand) -> Checked {
        let what = format!("operand '{}.{}'", stage_text(self.cx, &operand.stage), operand.input);
        if operand.to != Bring::Tile && operand.tile.cols.is_none() {
            return Err(format!(
                "the {} {what} has no columns",
                if operand.to == Bring::Pack { "packed" } else { "cached" }
            ));
        }
        self.check_tile(&what, &operand.tile)?;
        let cached = operand.to == Bring::Cache;
        check_brought(operand, cached).map_err(|why| format!("{what} {why}"))?;
        if let Some(prefetch) = &operand.prefetch {
            if operand.to != Bring::Tile {
                return Err(format!("{what} is asked for ahead, which only one that is brought into a tile is"));
            }
            if prefetch.bytes.is_none() && prefetch.next.is_none() {
                return Err(format!("{what} is asked for ahead by no bytes and no row"));
            }
            if let Some(bytes) = prefetch.bytes.filter(|bytes| *bytes < 1) {
                return Err(format!("{what} asks for what lies {bytes} bytes ahead; it must be at least 1"));
            }
        }
        if let Some(pitch) = operand.pitch.filter(|pitch| !(1..=MAX_DIM).contains(pitch)) {
            return Err(format!("{what} has a pitch of {pitch}; it must be from 1 to {MAX_DIM}"));
        }
        if operand.body.is_empty() {
            return Ok(());
        }
        if operand.to != Bring::Cache {
            return Err(format!("{what} has a body, which only a cached one has"));
        }
        if self.loops.len() + self.bodies >= MAX_LOOPS {
            return Err(format!("the body of {what} is nested too deep: at most {MAX_LOOPS} loops lie in each other"));
        }
        self.bodies += 1;
        self.check_body(&operand.body)?;
        self.bodies -= 1;
        Ok(())
    }

    fn check_tile(&self, what: &str, tile: &Tile) -> Checked {
        if let (Some(rows), Some(cols)) = (tile.rows, tile.cols)
            && rows == cols
        {
            return Err(format!("{what} has rows and columns along the same dim, {rows}"));
        }
        for (name, dim) in [("rows", tile.rows), ("columns", tile.cols)] {
            if let Some(dim) = dim.filter(|dim| self.is_single(*dim)) {
                return Err(format!("{what} has {name} along {dim}, of which a loop around it gives one index"));
            }
        }
        Ok(())
    }

    /// True for a dim of which a loop gives one index.
    fn is_single(&self, dim: Dim) -> bool {
        self.loops.iter().any(|outer| outer.dim == dim && outer.split == Split::One)
    }
}

/// How an operand comes to its memory.
fn check_brought(operand: &Operand, cached: bool) -> Checked {
    let (only, computed) = ("which only a cached one is", "and has a body that computes it");
    let has_body = !operand.body.is_empty();
    let why = match (operand.ahead, operand.asynchronous) {
        (true, _) if !cached => format!("is read ahead, {only}"),
        (_, true) if !cached => format!("is copied asynchronously, {only}"),
        _ if !cached && operand.pitch.is_some() => "has a pitch, which only a cached one has".to_owned(),
        (true, true) => "is read ahead, and copied asynchronously: it is either".to_owned(),
        (true, _) if operand.body.iter().any(|node| !matches!(node, Node::Place(_))) => {
            "is read ahead, and its body holds more than places".to_owned()
        }
        (_, true) if has_body => format!("is copied asynchronously, {computed}"),
        _ => return Ok(()),
    };
    Err(why)
}
