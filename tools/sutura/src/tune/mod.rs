//! `--tune`: register tiles of products are chosen by measuring them on this machine, once per region and machine.
//!
//! Each region with a choice is taken out of the program; the tiles that are predicted to be fastest, and the usual one, are
//! compiled and run in turns, and the region's attribute `graph.tile` names the one to take. Choices are kept in a file.

mod cache;
mod measure;
mod problem;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use cache::{Cache, Entry, Identity};
use problem::Problem;
use sutura_codegen::Target;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::{Loc, OpRef, Rewriter};
use sutura_passes::graph_to_gir::{Candidate, Choice, TILE_ATTR, choices};

use crate::cli::CompileArgs;
use crate::failure::{Failure, Kind};
use crate::machine::Machine;
use crate::pipeline::{Compilation, Emit, Program};
use crate::talk::Talk;

/// Tiles of a region that are measured: the usual one, and those that are predicted to be fastest.
const MEASURED: usize = 3;
/// How much of the time another tile than the usual one must save to be taken: medians differ by less from run to run.
const MARGIN: f64 = 0.95;
/// What remarks say that they are from.
const NAME: &str = "tune";

/// What `--tune` works with.
#[derive(Debug)]
pub(crate) struct Tuner {
    cache: RefCell<Cache>,
}

/// What was decided for a region.
struct Decision {
    tile: String,
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
        if let Some(name) = args.target.as_deref().filter(|name| *name != sutura_dialects::target::HOST) {
            let failure = Failure::usage(format!("--tune measures on this machine, and --target asks for `{name}`"));
            return Err(failure.hint("tune on the machine itself, with `--target host` or without the flag"));
        }
        if args.emit.is_some_and(|emit| emit < Emit::Gir) {
            return Err(Failure::usage("--tune chooses how kernels are made, and --emit stops before that"));
        }
        Ok(Some(Self { cache: Cache::open(args.tune_cache.as_deref())?.into() }))
    }

    /// Fails where what is compiled for this machine could not run here, and says what of the cache is for others.
    pub(crate) fn start(&self, machine: &Machine, talk: &Talk) -> Result<(), Failure> {
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
        for words in self.cache.borrow().foreign(&Identity::of(machine)) {
            talk.note(&format!("tune       the cache holds {words}: not used"));
        }
        Ok(())
    }

    /// Names the tiles of all regions that have a choice.
    pub(crate) fn tune(
        &self,
        compilation: &Compilation,
        mut program: Program,
        machine: &Machine,
        talk: &Talk,
    ) -> Result<Program, Failure> {
        let start = Instant::now();
        let (cx, identity) = (&compilation.cx, Identity::of(machine));
        let choices = choices(cx, program.module.body()).map_err(Failure::input)?;
        let (mut measured, mut known) = (0, 0);
        for choice in choices {
            let Some(region) = region(compilation, &program, &choice) else { continue };
            if region.attr(TILE_ATTR).is_some() {
                remark(compilation, region.loc(), RemarkKind::Missed, "keeps the tile that its attribute names", talk);
                continue;
            }
            let loc = region.loc();
            let decision = match Problem::of(cx, region) {
                Ok(problem) => {
                    self.decide(compilation, &program, problem, &choice.candidates, (machine, &identity), talk)
                }
                Err(why) => Err(Failure::internal(why)),
            };
            match decision {
                Ok(Decision { tile, words, measured: now }) => {
                    (measured, known) = if now { (measured + 1, known) } else { (measured, known + 1) };
                    remark(compilation, loc, RemarkKind::Passed, &words, talk);
                    let inside = program.module.body_mut().nested_mut(choice.function);
                    let inside = inside.ok_or_else(|| Failure::internal("a function has lost its body"))?;
                    Rewriter::new(cx, inside).set_attr(choice.fusion, TILE_ATTR, Some(cx.string_attr(&tile)));
                }
                // A file that cannot be written is no reason to measure the other regions.
                Err(failure) if failure.kind == Kind::System => return Err(failure),
                Err(failure) => {
                    let words = format!("keeps its usual tile, since it cannot be measured: {}", failure.message);
                    talk.warning(&format!("a region {words}"));
                    remark(compilation, loc, RemarkKind::Missed, &words, talk);
                }
            }
        }
        talk.stage(NAME, &format!("{measured} measured, {known} known before"), start.elapsed());
        Ok(program)
    }

    fn decide(
        &self,
        compilation: &Compilation,
        program: &Program,
        mut problem: Problem,
        candidates: &[Candidate],
        (machine, identity): (&Machine, &Identity),
        talk: &Talk,
    ) -> Result<Decision, Failure> {
        let key = problem.key.clone();
        if let Some(entry) = self.cache.borrow().get(identity, &key) {
            if candidates.iter().any(|c| c.tile == entry.tile) {
                let words = format!("{}; known from before", words(entry, candidates));
                return Ok(Decision { tile: entry.tile.clone(), words, measured: false });
            }
            let (tile, known) =
                (&entry.tile, candidates.iter().map(|c| c.tile.as_str()).collect::<Vec<_>>().join(", "));
            talk.warning(&format!(
                "the cache says \"{tile}\" of the kernel {key}, which has only {known}: it is measured anew"
            ));
        }
        let tiles = promising(candidates);
        let times = measure::measure(&compilation.cx, &program.module, &mut problem, &tiles, machine)?;
        let entry = Entry {
            tile: fastest(&tiles, &times).to_owned(),
            sizes: problem.sizes,
            nanoseconds: tiles.iter().map(|t| (*t).to_owned()).zip(times).collect::<BTreeMap<_, _>>(),
        };
        let words = format!("{}; measured now", words(&entry, candidates));
        let tile = entry.tile.clone();
        self.cache.borrow_mut().put(identity, &key, entry)?;
        Ok(Decision { tile, words, measured: true })
    }
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

/// The tiles to measure, the usual one first, then by predicted time.
fn promising(candidates: &[Candidate]) -> Vec<&str> {
    let (usual, others) = candidates.split_at(1.min(candidates.len()));
    let mut others: Vec<&Candidate> = others.iter().collect();
    let time = |c: &Candidate| c.predicted_ns.unwrap_or(f64::INFINITY);
    others.sort_by(|a, b| time(a).total_cmp(&time(b)));
    usual.iter().chain(others).take(MEASURED).map(|c| c.tile.as_str()).collect()
}

/// The tile of the shortest time, or the first one where none is clearly better.
fn fastest<'a>(tiles: &[&'a str], times: &[u64]) -> &'a str {
    let mut best = (tiles[0], times[0] as f64 * MARGIN);
    for (tile, time) in tiles.iter().zip(times).skip(1) {
        if (*time as f64) < best.1 {
            best = (tile, *time as f64);
        }
    }
    best.0
}

/// What was measured and predicted, and what is taken.
fn words(entry: &Entry, candidates: &[Candidate]) -> String {
    let predicted: HashMap<&str, f64> = candidates.iter().filter_map(|c| Some((&*c.tile, c.predicted_ns?))).collect();
    let micros = |ns: f64| format!("{:.2} us", ns / 1000.0);
    let mut times: Vec<(&String, &u64)> = entry.nanoseconds.iter().collect();
    times.sort_by_key(|(tile, ns)| (**ns, *tile));
    let words = |(tile, ns): (&String, &u64)| {
        let predicted = predicted.get(tile.as_str()).map_or_else(|| "nothing".to_owned(), |ns| micros(*ns));
        format!("{tile} {} (predicted {predicted})", micros(*ns as f64))
    };
    let times: Vec<String> = times.into_iter().map(words).collect();
    let (tile, sizes, number) = (&entry.tile, &entry.sizes, candidates.len());
    format!("takes register tiles of {tile}, of {number} candidates; one thread at {sizes}: {}", times.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(tile: &str, predicted_ns: Option<f64>) -> Candidate {
        Candidate { tile: tile.to_owned(), predicted_ns }
    }

    #[test]
    fn the_usual_tile_and_the_best_predictions_are_measured() {
        let all = [("a", Some(9.0)), ("b", None), ("c", Some(3.0)), ("d", Some(2.0)), ("e", Some(5.0))];
        let all: Vec<Candidate> = all.map(|(tile, ns)| candidate(tile, ns)).into();
        assert_eq!(promising(&all), ["a", "d", "c"]);
        assert_eq!(promising(&all[..2]), ["a", "b"]);
    }

    #[test]
    fn the_usual_tile_stays_where_nothing_is_clearly_better() {
        assert_eq!(fastest(&["a", "b"], &[1000, 960]), "a");
        assert_eq!(fastest(&["a", "b", "c"], &[1000, 910, 900]), "c");
        assert_eq!(fastest(&["a", "b", "c"], &[1000, 900, 910]), "b");
        assert_eq!(fastest(&["a"], &[1]), "a");
    }
}
