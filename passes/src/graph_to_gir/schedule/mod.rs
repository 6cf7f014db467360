//! Schedules become kernels: the one emitter, which asks what node it has and nothing else.
//!
//! A tree says where stages of a region are computed. What kernels take, which temporaries stand between them, where sums begin
//! and end and what bounds loops have follows from that: see [`flow`] for what passes between kernels, [`kernel`] for one of
//! them and [`nodes`] for its inside.

mod flow;
mod kernel;
mod near;
mod nodes;
mod ranges;

use std::cell::RefCell;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Kernel, Launch as LaunchTree, Version};

use self::flow::{Flow, Temporaries};
use super::kernel::Built;
use super::region::{FusedRegion, Launch, Lowered, Step};
use super::stages::Walk;
use crate::region::Nest;

/// A region, or a part of one between which and the others nothing flows, in normal form.
pub(super) type Part<'r, 'a> = (&'r FusedRegion<'a>, &'r Nest<'a>);

/// A part whose kernels are emitted.
#[derive(Clone, Copy)]
struct Region<'r, 'a> {
    walk: Walk<'r, 'a>,
    /// Its number.
    part: usize,
    temporaries: &'r RefCell<Temporaries>,
}

impl<'r, 'a> std::ops::Deref for Region<'r, 'a> {
    type Target = Walk<'r, 'a>;

    fn deref(&self) -> &Walk<'r, 'a> {
        &self.walk
    }
}

/// The parts of a region; dims and stages of a part are counted on from those of the parts before.
struct Program<'r, 'a> {
    parts: &'r [Part<'r, 'a>],
    temporaries: RefCell<Temporaries>,
}

/// The kernels of a region's schedule. What all versions begin with is launched in any case.
pub(super) fn emit(parts: &[Part<'_, '_>], versions: &[Version]) -> Built<Lowered> {
    let program = Program { parts, temporaries: RefCell::default() };
    let mut lowered = Lowered::default();
    let mut first = vec![Flow::default(); parts.len()];
    let shared = begin_alike(versions);
    for at in 0..shared {
        let launch = &versions[0].launches[at];
        let launches = program.launch(launch, &versions[0].launches[at + 1..], &[], &mut first)?;
        lowered.steps.push(Step { versions: vec![(vec![], launches)], packed: launch.kernels.len() > 1 });
    }
    let mut rest = Vec::with_capacity(versions.len());
    for version in versions {
        let (mut flow, mut launches) = (first.clone(), Vec::new());
        for at in shared..version.launches.len() {
            let (launch, later) = (&version.launches[at], &version.launches[at + 1..]);
            launches.extend(program.launch(launch, later, &version.guard, &mut flow)?);
        }
        rest.push((version.guard.clone(), launches));
    }
    let together = |version: &Version| version.launches[shared..].iter().any(|launch| launch.kernels.len() > 1);
    lowered.steps.push(Step { versions: rest, packed: versions.iter().any(together) });
    lowered.temporaries = program.temporaries.into_inner().views();
    Ok(lowered)
}

/// The numbers at which dims and stages of a part begin.
pub(super) fn begin_of(parts: &[Part<'_, '_>], part: usize) -> (usize, usize) {
    let before = parts[..part].iter().map(|(_, nest)| (nest.extents.len(), nest.stages.len()));
    before.fold((0, 0), |(dims, stages), (more_dims, more_stages)| (dims + more_dims, stages + more_stages))
}

/// How many launches all versions begin with, of those that are not the last one.
fn begin_alike(versions: &[Version]) -> usize {
    let Some((first, others)) = versions.split_first() else { return 0 };
    let alike = |(at, launch): &(usize, &LaunchTree)| {
        others.iter().all(|other| other.launches.len() > at + 1 && other.launches[*at] == **launch)
    };
    // Launches of one version stay together, but for those of several kernels at once.
    let together = first.launches.iter().any(|launch| launch.kernels.len() > 1);
    let most = if others.is_empty() && !together { 0 } else { first.launches.len().saturating_sub(1) };
    first.launches[..most].iter().enumerate().take_while(alike).count()
}

impl<'a> Program<'_, 'a> {
    /// The kernels of a launch, behind which `later` ones come.
    fn launch(&self, tree: &LaunchTree, later: &[LaunchTree], guard: &[Poly], flow: &mut [Flow]) -> Built<Vec<Launch>> {
        let later: Vec<(usize, Kernel)> =
            later.iter().flat_map(|l| &l.kernels).map(|kernel| self.own(kernel)).collect();
        let (mut launches, before) = (Vec::with_capacity(tree.kernels.len()), flow.to_vec());
        for kernel in &tree.kernels {
            let (part, kernel) = self.own(kernel);
            let later: Vec<&Kernel> = later.iter().filter(|(other, _)| *other == part).map(|(_, l)| l).collect();
            let (region, nest) = self.parts[part];
            let of = Region { walk: Walk { region, nest }, part, temporaries: &self.temporaries };
            launches.push(of.launch(&kernel, &later, guard, (&before[part], &mut flow[part]))?);
        }
        Ok(launches)
    }

    /// The part that a kernel is of, and the kernel with the part's own numbers.
    fn own(&self, kernel: &Kernel) -> (usize, Kernel) {
        let stage = kernel.first_stage().unwrap_or_default();
        let begins = |part: &usize| begin_of(self.parts, *part).1 <= stage;
        let part = (0..self.parts.len()).rev().find(begins).unwrap_or_default();
        let (dims, stages) = begin_of(self.parts, part);
        (part, kernel.renumbered(-(dims as isize), -(stages as isize)))
    }
}
