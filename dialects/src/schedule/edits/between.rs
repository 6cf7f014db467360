//! The edits that make one tree of another.

use sutura_ir::Context;

use super::find::{Path, View};
use super::names::{Count, DimLoop, LoopName, Spot, What};
use super::{Edit, Primitive, TraceAttr};
use crate::schedule::{Kernel, Loop, Node, Split, StageName, TreeAttr, Version};

impl TraceAttr {
    /// Edits of `from` that make `to` of it, where the two differ in numbers of loops and of threads alone; nothing where they differ in
    /// something else, or not at all.
    pub fn between(cx: &Context, from: &TreeAttr, to: &TreeAttr) -> Option<Self> {
        let last = from.versions.len().checked_sub(1)?;
        let mut edits = Vec::new();
        for (number, (old, new)) in from.versions.iter().zip(&to.versions).enumerate() {
            let version = (number != last).then_some(number);
            let primitives = Differences { cx, version: old, found: Vec::new() }.of(new)?;
            edits.extend(primitives.into_iter().map(|primitive| Edit { version, primitive }));
        }
        let trace = Self { edits };
        (!trace.edits.is_empty() && trace.apply(cx, from).as_ref() == Ok(to)).then_some(trace)
    }
}

/// What makes another version of one.
struct Differences<'v> {
    cx: &'v Context,
    version: &'v Version,
    found: Vec<Primitive>,
}

impl Differences<'_> {
    fn of(mut self, new: &Version) -> Option<Vec<Primitive>> {
        for (number, (old, new)) in kernels(self.version).zip(kernels(new)).enumerate() {
            if let Some(threads) = new.threads.filter(|_| old.threads != new.threads) {
                let spot = self.spot(&old.body, number)?;
                self.found.push(Primitive::Threads(spot, Count(threads)));
            }
            self.nodes(&old.body, &new.body, number)?;
        }
        Some(self.found)
    }

    fn nodes(&mut self, old: &[Node], new: &[Node], kernel: usize) -> Option<()> {
        for (old, new) in old.iter().zip(new) {
            match (old, new) {
                (Node::Loop(old), Node::Loop(new)) => {
                    self.of_loop(old, new, kernel)?;
                    self.nodes(&old.body, &new.body, kernel)?;
                }
                (Node::Operand(old), Node::Operand(new)) => self.nodes(&old.body, &new.body, kernel)?,
                _ => {}
            }
        }
        Some(())
    }

    fn of_loop(&mut self, old: &Loop, new: &Loop, kernel: usize) -> Option<()> {
        let unroll = new.unroll.filter(|_| old.unroll != new.unroll);
        let (inside, reach) = (new.inside && !old.inside, new.reach && !old.reach);
        if old.inside && !new.inside || old.reach && !new.reach {
            return None;
        }
        if old.split == new.split && unroll.is_none() && !inside && !reach {
            return Some(());
        }
        let spot = self.spot(&old.body, kernel)?;
        let view = View { cx: self.cx, version: self.version };
        let (path, over) = view.over(&spot, old.dim).ok()?;
        let number = over.iter().position(|depth| is_loop(view, &path, *depth, old))?;
        let name = LoopName { own: DimLoop { dim: old.dim, number }, spot };
        if old.split != new.split {
            // No edit takes a number away.
            if new.split == Split::One {
                return None;
            }
            self.found.push(Primitive::Retile(name.clone(), new.split));
        }
        self.found.extend(unroll.map(|trips| Primitive::Unroll(name.clone(), Count(trips))));
        self.found.extend(inside.then(|| Primitive::Inside(name.clone())));
        self.found.extend(reach.then_some(Primitive::Reach(name)));
        Some(())
    }

    /// What tells a kernel, or a loop of it, by something in it.
    fn spot(&self, nodes: &[Node], kernel: usize) -> Option<Spot> {
        let (what, stage) = nodes.iter().find_map(first)?;
        let view = View { cx: self.cx, version: self.version };
        let alone = Spot { what, stage, kernel: None };
        let spots = [Some(kernel)].map(|kernel| Spot { kernel, ..alone.clone() });
        std::iter::once(alone).chain(spots).find(|spot| view.find(spot).is_ok())
    }
}

fn kernels(version: &Version) -> impl Iterator<Item = &Kernel> {
    version.launches.iter().flat_map(|launch| &launch.kernels)
}

fn is_loop(view: View<'_>, path: &Path, depth: usize, wanted: &Loop) -> bool {
    view.loop_at(path, depth).is_some_and(|found| std::ptr::eq(found, wanted))
}

/// What lies first in a node and is no loop.
fn first(node: &Node) -> Option<(What, StageName)> {
    match node {
        Node::Loop(inner) => inner.body.iter().find_map(first),
        Node::Place(place) => Some((What::Place, place.stage.clone())),
        Node::Join(place) => Some((What::Join, place.stage.clone())),
        Node::Operand(operand) => Some((What::Input(operand.input), operand.stage.clone())),
    }
}
