//! `--tune`: the plan and the schedules of its regions are chosen by measuring on this machine, or on a device of it, once per
//! region, sizes and machine.
//!
//! Each region with a choice is taken out of the program; the schedules that are predicted to be fastest, and the usual one, are
//! compiled and run in turns, and the region gets the fastest one as its attribute. Before that the same is done with other plans:
//! regions whose ops could be other regions. Choices are kept in a file.

mod cache;
mod measure;
mod plans;
mod problem;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use cache::{Cache, Entry, Identity};
use measure::Place;
use problem::{Make, Problem};
use sutura_codegen::Target;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::{Loc, OpRef, Rewriter};
use sutura_passes::graph_to_gir::plan_file::Step;
use sutura_passes::graph_to_gir::{Candidate, Choice, choices};
use sutura_runtime::device::Devices;

use crate::cli::CompileArgs;
use crate::failure::{Failure, Kind};
use crate::machine::{Machine, Vendor};
use crate::pipeline::{Compilation, Emit, Program};
use crate::sizes;
use crate::talk::Talk;

/// Ways of a region that are measured: the usual one, and those that are predicted to be fastest.
const MEASURED: usize = 4;
/// How much of the time another way than the usual one must save to be taken: medians differ by less from run to run.
const MARGIN: f64 = 0.95;
/// What remarks say that they are from.
const NAME: &str = "tune";

/// What `--tune` works with.
#[derive(Debug)]
pub(crate) struct Tuner {
    cache: RefCell<Cache>,
    /// Sizes to measure at, in place of likely ones.
    sizes: Vec<(String, i64)>,
    /// Threads that run kernels of the processor.
    threads: u16,
}

/// What measurements are for.
struct On<'m> {
    machine: &'m Machine,
    identity: Identity,
    place: Place,
}

/// A way to make regions kernels.
struct Way<'a> {
    name: String,
    predicted_ns: Option<f64>,
    make: Make<'a>,
}

/// What was decided for regions.
struct Decision {
    /// The way that is taken, by its number.
    taken: usize,
    words: String,
    measured: bool,
}

impl Tuner {
    /// For `--tune`, with what its cache holds.
    ///
    /// # Errors
    /// When the flags contradict each other, or the cache cannot be used.
    pub(crate) fn of(args: &CompileArgs) -> Result<Option<Self>, Failure> {
        if !args.tune {
            return Ok(None);
        }
        if args.emit.is_some_and(|emit| emit < Emit::Schedule) {
            return Err(Failure::usage("--tune chooses schedules of regions, and --emit stops before that"));
        }
        let sizes = args.tune_sizes.clone();
        Ok(Some(Self { cache: Cache::open(args.tune_cache.as_deref())?.into(), sizes, threads: args.tune_threads }))
    }

    /// Fails where what is compiled for this machine could not run here, and says what of the cache is for others.
    pub(crate) fn start(&self, machine: &Machine, talk: &Talk) -> Result<(), Failure> {
        let identity = self.on(machine)?.identity;
        for words in self.cache.borrow().foreign(&identity) {
            talk.note(&format!("tune       the cache holds {words}: not used"));
        }
        Ok(())
    }

    /// Where what is compiled for a machine runs here.
    fn on<'m>(&self, machine: &'m Machine) -> Result<On<'m>, Failure> {
        let place = match machine.vendor {
            None => self.processor(machine)?,
            Some(vendor) => device(machine, vendor)?,
        };
        let identity = Identity::of(machine);
        let identity = match &place {
            Place::Threads(_) => identity,
            Place::Device(device) => identity.on(&device.info().name),
        };
        Ok(On { machine, identity, place })
    }

    /// The threads of this machine, if it is the one.
    fn processor(&self, machine: &Machine) -> Result<Place, Failure> {
        let host = Target::host();
        let has = |feature: &&str| host.features.split(',').any(|own| own == *feature);
        let lacks: Vec<&str> = machine.target.features.split(',').filter(|f| f.starts_with('+') && !has(f)).collect();
        // What comes after the architecture names vendors in many ways.
        let architecture = |triple: &str| triple.split('-').next().unwrap_or_default().to_owned();
        let (wanted, own) = (architecture(&machine.target.triple), architecture(&host.triple));
        if wanted != own || !lacks.is_empty() {
            let why = match wanted == own {
                true => format!("which lacks {}", lacks.join(", ").replace('+', "")),
                false => format!("whose architecture is {own}"),
            };
            let name = &machine.desc.name;
            return Err(Failure::usage(format!("--tune measures on this machine, {why}, and the target is `{name}`")));
        }
        Ok(Place::Threads(self.threads.into()))
    }

    /// Gives a program the fastest plan, and all regions that have a choice their schedules; the steps that led to that plan are
    /// added to `steps`.
    pub(crate) fn tune(
        &self,
        compilation: &Compilation,
        mut program: Program,
        (machine, steps): (&Machine, &mut Vec<Step>),
        talk: &Talk,
    ) -> Result<Program, Failure> {
        let (cx, on) = (&compilation.cx, self.on(machine)?);
        sizes::of(&sizes::declared(cx, &program.module), ("--tune-sizes", &self.sizes))?;
        let sizes = self.sizes.iter().cloned().collect();
        if !compilation.choices.fusion.no_fusion {
            program = plans::Search::new(self, compilation, (&on, &sizes), talk).run(program, steps)?;
        }
        let start = Instant::now();
        let choices = choices(cx, program.module.body(), &sizes).map_err(Failure::input)?;
        let (mut measured, mut known) = (0, 0);
        for choice in choices {
            let Some(region) = region(compilation, &program, &choice) else { continue };
            let loc = region.loc();
            let ways: Vec<Way<'_>> = choice.candidates.iter().map(Way::of_schedule).collect();
            let decision = Problem::of(cx, &[region], &sizes).map_err(Failure::internal).and_then(|problem| {
                self.decide((compilation, &program), &problem, ("schedule", &problem.key), &ways, &on, talk)
            });
            match decision {
                Ok(Decision { taken, words, measured: now }) => {
                    (measured, known) = if now { (measured + 1, known) } else { (measured, known + 1) };
                    remark(compilation, loc, RemarkKind::Passed, &words, talk);
                    let inside = program.module.body_mut().nested_mut(choice.function);
                    let inside = inside.ok_or_else(|| Failure::internal("a function has lost its body"))?;
                    let schedule = cx.ext_attr(choice.candidates[taken].schedule.clone());
                    Rewriter::new(cx, inside).set_prop(choice.fusion, "schedule", Some(schedule));
                }
                // A file that cannot be written is no reason to measure the other regions.
                Err(failure) if failure.kind == Kind::System => return Err(failure),
                Err(failure) => {
                    let words = format!("keeps its usual schedule, since it cannot be measured: {}", failure.message);
                    talk.warning(&format!("a region {words}"));
                    remark(compilation, loc, RemarkKind::Missed, &words, talk);
                }
            }
        }
        talk.stage(NAME, &format!("{measured} measured, {known} known before"), start.elapsed());
        Ok(program)
    }

    /// Which of some ways to make the regions of a problem is fastest. `what` is said of the ways, and `key` what the choice is
    /// kept under. A plan stays where it is not sure that another one is better: it is the same for all sizes.
    fn decide(
        &self,
        (compilation, program): (&Compilation, &Program),
        problem: &Problem,
        (what, key): (&str, &str),
        ways: &[Way<'_>],
        on: &On<'_>,
        talk: &Talk,
    ) -> Result<Decision, Failure> {
        let (key, again) = (on.place.key(key), what == "plan");
        if let Some(entry) = self.cache.borrow().get(&on.identity, &key) {
            if let Some(taken) = ways.iter().position(|way| way.name == entry.taken) {
                let words = format!("{}; known from before", words(entry, what, ways, &on.place));
                return Ok(Decision { taken, words, measured: false });
            }
            let known: Vec<String> = ways.iter().map(|way| format!("\"{}\"", way.name)).collect();
            let subject = if what == "schedule" { "the kernel" } else { "the" };
            talk.warning(&format!(
                "the cache says \"{}\" of {subject} {key}, which has only {}: it is measured anew",
                entry.taken,
                known.join(", ")
            ));
        }
        let promising = promising(ways);
        let made: Vec<Make<'_>> = promising.iter().map(|way| ways[*way].make).collect();
        let measure = |made: &[Make<'_>]| measure::measure((&compilation.cx, &program.module), problem, made, on);
        let times = measure(&made)?;
        let mut taken = *fastest(&promising.iter().collect::<Vec<_>>(), &times);
        let name = |way: &usize| ways[*way].name.clone();
        let mut nanoseconds: BTreeMap<String, u64> = promising.iter().map(name).zip(times).collect();
        if again && taken > 0 {
            // Of several that are close the luckiest one seems fastest: it must be faster once more, beside the usual one alone.
            let both = [0, taken];
            let times = measure(&both.map(|way| ways[way].make))?;
            taken = *fastest(&both.each_ref(), &times);
            nanoseconds.extend(both.iter().map(name).zip(times));
        }
        let entry = Entry { taken: ways[taken].name.clone(), sizes: problem.sizes.clone(), nanoseconds };
        let words = format!("{}; measured now", words(&entry, what, ways, &on.place));
        self.cache.borrow_mut().put(&on.identity, &key, entry)?;
        Ok(Decision { taken, words, measured: true })
    }
}

impl<'a> Way<'a> {
    fn of_schedule(candidate: &'a Candidate) -> Self {
        let Candidate { name, schedule, predicted_ns } = candidate;
        Self { name: name.clone(), predicted_ns: *predicted_ns, make: Make::Schedule(schedule) }
    }
}

/// The first device that runs what is compiled for a machine.
fn device(machine: &Machine, vendor: Vendor) -> Result<Place, Failure> {
    let name = &machine.desc.name;
    Devices::find().open(vendor.backend()).map(Place::Device).map_err(|error| {
        let failure = Failure::usage(format!("--tune measures on a device that runs `{name}`: {error}"));
        failure.hint("tune on a machine that has one; `sutura devices` lists those that are here")
    })
}

fn region<'a>(compilation: &'a Compilation, program: &'a Program, choice: &Choice) -> Option<OpRef<'a>> {
    let inside = program.module.body().nested(choice.function)?;
    Some(OpRef::new(&compilation.cx, inside, choice.fusion))
}

fn remark(compilation: &Compilation, loc: Loc, kind: RemarkKind, words: &str, talk: &Talk) {
    let mut diagnostic = Diagnostic::remark(loc, words).kind(kind);
    diagnostic.pass = Some(NAME);
    compilation.tell(&diagnostic, talk);
}

/// The ways to measure, the usual one first, then by predicted time.
fn promising(ways: &[Way<'_>]) -> Vec<usize> {
    let mut others: Vec<usize> = (1..ways.len()).collect();
    let time = |way: usize| ways[way].predicted_ns.unwrap_or(f64::INFINITY);
    others.sort_by(|a, b| time(*a).total_cmp(&time(*b)));
    (0..ways.len().min(1)).chain(others).take(MEASURED).collect()
}

/// The one of the shortest time, or the first one where none is clearly better.
fn fastest<'a, T: ?Sized>(measured: &[&'a T], times: &[u64]) -> &'a T {
    let mut best = (measured[0], times[0] as f64 * MARGIN);
    for (one, time) in measured.iter().zip(times).skip(1) {
        if (*time as f64) < best.1 {
            best = (one, *time as f64);
        }
    }
    best.0
}

/// What was measured and predicted, and what is taken.
fn words(entry: &Entry, what: &str, ways: &[Way<'_>], place: &Place) -> String {
    let predicted: HashMap<&str, f64> = ways.iter().filter_map(|w| Some((w.name.as_str(), w.predicted_ns?))).collect();
    let micros = |ns: f64| format!("{:.2} us", ns / 1000.0);
    let mut times: Vec<(&String, &u64)> = entry.nanoseconds.iter().collect();
    times.sort_by_key(|(name, ns)| (**ns, *name));
    let words = |(name, ns): (&String, &u64)| {
        let predicted = predicted.get(name.as_str()).map_or_else(|| "nothing".to_owned(), |ns| micros(*ns));
        format!("{name} {} (predicted {predicted})", micros(*ns as f64))
    };
    let times: Vec<String> = times.into_iter().map(words).collect();
    let (taken, sizes, number) = (&entry.taken, &entry.sizes, ways.len());
    format!("takes the {what} {taken} of {number}; {place} at {sizes}: {}", times.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(columns: i64, predicted_ns: Option<f64>) -> Way<'static> {
        Way { name: format!("columns={columns}"), predicted_ns, make: Make::AsIs }
    }

    #[test]
    fn the_usual_schedule_and_the_best_predictions_are_measured() {
        let all = [(1, Some(9.0)), (2, None), (3, Some(3.0)), (4, Some(2.0)), (5, Some(5.0))];
        let all = all.map(|(columns, ns)| way(columns, ns));
        let names = |all: &[Way<'_>]| promising(all).iter().map(|way| all[*way].name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&all), ["columns=1", "columns=4", "columns=3", "columns=5"]);
        assert_eq!(names(&all[..2]), ["columns=1", "columns=2"]);
    }

    #[test]
    fn the_usual_schedule_stays_where_nothing_is_clearly_better() {
        assert_eq!(fastest(&["a", "b"], &[1000, 960]), "a");
        assert_eq!(fastest(&["a", "b", "c"], &[1000, 910, 900]), "c");
        assert_eq!(fastest(&["a", "b", "c"], &[1000, 900, 910]), "b");
        assert_eq!(fastest(&["a"], &[1]), "a");
    }
}
