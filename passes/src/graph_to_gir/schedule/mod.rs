//! Schedules become kernels: the one emitter, which asks what node it has and nothing else.
//!
//! A tree says where stages of a region are computed. What kernels take, which temporaries stand between them, where sums begin
//! and end and what bounds loops have follows from that: see [`flow`] for what passes between kernels, [`kernel`] for one of
//! them and [`nodes`] for its inside.

mod bring;
mod caches;
mod check;
mod copies;
mod describe;
mod flow;
mod follow;
mod inside;
mod kernel;
mod near;
mod nodes;
mod online;
mod panels;
mod parts;
mod products;
mod ranges;
mod reach;
mod roles;
mod scatter;
mod shared;
mod sums;
mod windows;

use std::cell::RefCell;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Kernel, Launch as LaunchTree, Rewrite, StageName, TreeAttr, Version};
use sutura_ir::Diagnostic;

pub(super) use self::describe::{algorithm, describe};
use self::flow::{Flow, Temporaries};
pub(super) use self::follow::follow;
pub(super) use self::reach::Reach;
pub(super) use self::roles::roles;
pub(super) use self::scatter::Written;
use super::kernel::{Built, Emit};
use super::region::{Arg, FusedRegion, Launch, Lowered, Step};
use super::rules::lengths::by_length;
use super::stages::Walk;
use crate::region::Nest;

/// What is said of a schedule that is not followed, before the reason.
pub(super) const REFUSED: &str = "has a schedule that is refused";

/// A region, or a part of one between which and the others nothing flows, in normal form.
pub(super) type Part<'r, 'a> = (&'r FusedRegion<'a>, &'r Nest<'a>);

/// A part whose kernels are emitted.
#[derive(Clone, Copy)]
struct Region<'r, 'a> {
    walk: Walk<'r, 'a>,
    /// Its number, behind that of the group that it is a part in.
    part: (usize, usize),
    temporaries: &'r RefCell<Temporaries>,
    /// Sizes that are not negative where its kernels run.
    guard: &'r [Poly],
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
    /// The number of the group.
    group: usize,
    /// A text gave the schedule.
    given: bool,
    temporaries: &'r RefCell<Temporaries>,
}

/// Versions whose dims and stages are those of the same parts.
pub(super) struct Group<'r, 'a> {
    pub(super) parts: &'r [Part<'r, 'a>],
    /// Without the rewrites, which the parts have.
    pub(super) versions: Vec<Version>,
    /// A text gave them, and not a rule.
    pub(super) given: bool,
}

impl<'r, 'a> Group<'r, 'a> {
    /// Versions that a rule wrote.
    pub(super) fn by_rule(parts: &'r [Part<'r, 'a>], versions: Vec<Version>) -> Self {
        Self { parts, versions: by_length(parts, versions), given: false }
    }
}

/// The kernels of a region's schedule. What all versions begin with is launched in any case.
pub(super) fn emit(groups: &[Group<'_, '_>]) -> Built<Lowered> {
    let mut lowered = Lowered::default();
    let temporaries = RefCell::default();
    let mut all = Vec::new();
    for (number, Group { parts, given, .. }) in groups.iter().enumerate() {
        let program = Program { parts, group: number, given: *given, temporaries: &temporaries };
        let copies = program.copies().into_iter().filter(|copy| !lowered.copies.contains(copy));
        lowered.copies.extend(copies.collect::<Vec<_>>());
    }
    // What is the same in text is something else where sizes are known.
    let shared = if let [only] = groups { begin_alike(&only.versions) } else { 0 };
    for (number, Group { parts, versions, given }) in groups.iter().enumerate() {
        let program = Program { parts, group: number, given: *given, temporaries: &temporaries };
        let (mut first, before) = (vec![Flow::default(); parts.len()], all.len());
        for at in 0..shared {
            let launch = &versions[0].launches[at];
            let later = &versions[0].launches[at + 1..];
            let launches = program.launch((launch, later), &[], &mut first).map_err(|e| place(e, (before, at)))?;
            lowered.steps.push(Step { versions: vec![(vec![], launches)] });
        }
        for (i, version) in versions.iter().enumerate() {
            let (mut flow, mut launches) = (first.clone(), Vec::new());
            for at in shared..version.launches.len() {
                let (launch, later) = (&version.launches[at], &version.launches[at + 1..]);
                let made = program.launch((launch, later), &version.guard, &mut flow);
                launches.extend(made.map_err(|e| place(e, (before + i, at)))?);
            }
            program.check_outputs(&flow)?;
            all.push((version.guard.clone(), launches));
        }
    }
    lowered.steps.push(Step { versions: all });
    lowered.temporaries = temporaries.into_inner().views();
    lowered.schedule = Some(tree(groups));
    Ok(lowered)
}

/// A refusal with the version and the launch that it is of.
fn place(mut error: Box<Diagnostic>, (version, launch): (usize, usize)) -> Box<Diagnostic> {
    let (refused, here) = (format!("{REFUSED}: "), format!("{REFUSED}: version {version}, launch {launch}: "));
    error.message = error.message.replacen(&refused, &here, 1);
    error
}

/// The schedule as an attribute says it.
fn tree(groups: &[Group<'_, '_>]) -> TreeAttr {
    let of_group = |group: &Group<'_, '_>| {
        let own = |part: usize| {
            let (dims, stages) = begin_of(group.parts, part);
            let rewrites = group.parts[part].1.rewrites.iter();
            rewrites.map(move |rewrite| rewrite.renumbered(dims as isize, stages as isize))
        };
        let rewrites: Vec<Rewrite> = (0..group.parts.len()).flat_map(own).collect();
        let with = |version: &Version| Version { rewrites: rewrites.clone(), ..version.clone() };
        group.versions.iter().map(with).collect::<Vec<_>>()
    };
    TreeAttr { versions: groups.iter().flat_map(of_group).collect() }
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
    fn launch(
        &self,
        (tree, later): (&LaunchTree, &[LaunchTree]),
        guard: &[Poly],
        flow: &mut [Flow],
    ) -> Built<Vec<Launch>> {
        let later: Vec<(usize, Kernel)> =
            later.iter().flat_map(|l| &l.kernels).map(|kernel| self.own(kernel)).collect();
        let mut launches: Vec<(Launch, Vec<Arg>)> = Vec::with_capacity(tree.kernels.len());
        let before = flow.to_vec();
        for kernel in &tree.kernels {
            let (part, kernel) = self.own(kernel);
            let later: Vec<&Kernel> = later.iter().filter(|(other, _)| *other == part).map(|(_, l)| l).collect();
            let (of, region) = (self.region(part, guard), self.parts[part].0);
            // What rules write is looked at where the compiler itself is tested.
            if self.given || cfg!(debug_assertions) {
                let checked = check::kernel(&of, &kernel, &before[part]);
                debug_assert!(
                    self.given || checked.is_ok(),
                    "a rule wrote what is refused: {checked:?} in {kernel:#?}"
                );
                checked.or_else(|why| Emit::unsupported(region.op, &format!("{REFUSED}: {why}")))?;
            }
            let (launch, written) = of.launch(&kernel, &later, (&before[part], &mut flow[part]))?;
            let meet = |(other, of_other): &(Launch, Vec<Arg>)| {
                written.iter().any(|arg| other.args.contains(arg))
                    || of_other.iter().any(|arg| launch.args.contains(arg))
            };
            if launches.iter().any(meet) {
                let message =
                    format!("{REFUSED}: two kernels are launched together, and one writes what the other uses");
                return Emit::unsupported(region.op, &message);
            }
            launches.push((Launch { beside: !launches.is_empty(), ..launch }, written));
        }
        Ok(launches.into_iter().map(|(launch, _)| launch).collect())
    }

    /// What stages write over is there before the first kernel.
    fn copies(&self) -> Vec<(Arg, Arg)> {
        let mut copies = Vec::new();
        for part in 0..self.parts.len() {
            let of = self.region(part, &[]);
            for stage in &of.nest.stages {
                let data = stage.scatter.iter().flat_map(|scatter| scatter.data.iter().copied());
                copies.extend(
                    data.zip(&stage.results).map(|(data, write)| (Arg::Tensor(data), of.tensor(write.value).0)),
                );
            }
        }
        copies
    }

    fn region<'s>(&'s self, part: usize, guard: &'s [Poly]) -> Region<'s, 'a> {
        let (region, nest) = self.parts[part];
        Region { walk: Walk { region, nest }, part: (self.group, part), temporaries: self.temporaries, guard }
    }

    /// Every version writes all that the region yields.
    fn check_outputs(&self, flow: &[Flow]) -> Built<()> {
        for ((region, nest), flow) in self.parts.iter().zip(flow) {
            if let Some(value) = check::unwritten(nest, flow) {
                let name = describe::called(nest, value);
                return Emit::unsupported(region.op, &format!("{REFUSED}: a version does not make {name}"));
            }
        }
        Ok(())
    }

    /// The part that a kernel is of, and the kernel with the part's own numbers.
    fn own(&self, kernel: &Kernel) -> (usize, Kernel) {
        let (part, (dims, stages)) = part_of(self.parts, kernel);
        (part, kernel.renumbered(-(dims as isize), -(stages as isize)))
    }
}

/// The part that a kernel is of, and the numbers at which its dims and stages begin.
pub(super) fn part_of(parts: &[Part<'_, '_>], kernel: &Kernel) -> (usize, (usize, usize)) {
    let stage = kernel.first_stage().unwrap_or_default();
    let begins = |part: &usize| begin_of(parts, *part).1 <= stage;
    let part = (0..parts.len()).rev().find(begins).unwrap_or_default();
    (part, begin_of(parts, part))
}

/// What trees call a stage.
pub(super) fn stage_name(nest: &Nest<'_>, number: usize) -> StageName {
    let first = nest.stages[number].results.first().and_then(|result| nest.body.value_name(result.value));
    let name = first.map_or_else(|| "s".to_owned(), |name| nest.cx.str(name).to_owned());
    StageName { number, name }
}
