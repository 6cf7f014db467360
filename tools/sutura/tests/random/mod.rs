//! What the tests of random programs share: which seeds and which target they take, compilation, and what they say at the end.
//!
//! `NAME=FROM..TO` runs the programs of these seeds, where `NAME` is the variable of the test; `NAME_KEEP=FOLDER` keeps those that
//! differ or are refused; `NAME_TARGET=cuda:sm_90` compiles them for a device and runs them there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sutura_grammar::ParseOptions;
use sutura_ir::diagnostics::{Diagnostics, Exit};
use sutura_ir::{Context, Module};
use sutura_runtime::{Model, Options};

/// Seeds after which a long run says how far it is.
const STEP: u64 = 20;

/// What became of one program.
pub(crate) enum Outcome {
    /// What is compiled computes what the interpreter does.
    Same,
    /// The compiler refuses the program with these words.
    Refused(String),
    /// Something differs or fails.
    Wrong(String),
}

/// A program that was drawn at random.
pub(crate) trait Drawn {
    fn text(&self) -> &str;
    /// Names of what it is made of, for the summary.
    fn forms(&self) -> &[&'static str];
}

/// A compiled program.
pub(crate) enum Compiled {
    Model(Model),
    Refused(String),
}

pub(crate) fn module(cx: &Context, text: &str) -> Module {
    let source = cx.sources().add("random.mlir".to_owned(), text.to_owned()).expect("it is small");
    let mut diags = Diagnostics::default();
    sutura_grammar::parse_module(cx, &source, &ParseOptions::default(), &mut diags)
        .unwrap_or_else(|_| panic!("{:?}\n{text}", diags.iter().map(|d| d.message.clone()).collect::<Vec<_>>()))
}

/// Compiles a program for a target and loads it.
///
/// # Errors
/// What `sutura compile` or the load says of a program that the compiler does not refuse.
pub(crate) fn compile(folder: &Path, text: &str, target: Option<&str>) -> Result<Compiled, String> {
    let (model, artifact) = (folder.join("random.mlir"), folder.join("random.sutura"));
    std::fs::write(&model, text).expect("a temporary file");
    let mut args: Vec<PathBuf> = ["sutura", "compile", "-q"].map(Into::into).to_vec();
    args.extend(target.into_iter().flat_map(|target| ["--target".into(), target.into()]));
    args.extend([model, "-o".into(), artifact.clone()]);
    match sutura_cli::run(&args) {
        (Exit::Ok, _) => {}
        (Exit::Unsupported, said) => return Ok(Compiled::Refused(first_error(&said))),
        (exit, said) => return Err(format!("exit {exit:?}: {said}")),
    }
    Model::load_with(&artifact, Options::new().threads(2)).map(Compiled::Model).map_err(|e| e.to_string())
}

/// The first error without its place, so that the same ones can be counted.
fn first_error(said: &str) -> String {
    let line = said.lines().find(|line| line.contains("error: ")).unwrap_or(said);
    line.split_once("error: ").map_or(line, |(_, error)| error).to_owned()
}

/// A test of random programs.
pub(crate) struct Soak {
    /// The variable of the environment that names its seeds.
    variable: &'static str,
    seeds: Range<u64>,
    /// For the processor if none is named.
    pub(crate) target: Option<String>,
    keep: Option<PathBuf>,
}

impl Soak {
    /// What the environment asks for, or these seeds for the processor.
    pub(crate) fn new(variable: &'static str, usual: Range<u64>) -> Self {
        let seeds = std::env::var(variable).ok().map_or(usual, |text| {
            let (from, to) = text.split_once("..").unwrap_or_else(|| panic!("{variable} is FROM..TO"));
            from.parse().expect("a number")..to.parse().expect("a number")
        });
        let named = |suffix: &str| std::env::var(format!("{variable}_{suffix}")).ok();
        Self { variable, seeds, target: named("TARGET"), keep: named("KEEP").map(PathBuf::from) }
    }

    /// Checks the program of every seed. A processor must take all of them; a device may refuse some, which are counted.
    ///
    /// # Panics
    /// If one is wrong.
    pub(crate) fn run<P: Drawn>(
        &self,
        program: impl Fn(u64) -> P,
        check: impl Fn(u64, &Path, &P, Option<&str>) -> Outcome,
    ) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (mut wrong, mut refused, mut drawn) = (Vec::new(), BTreeMap::<String, usize>::new(), BTreeMap::new());
        for seed in self.seeds.clone() {
            let program = program(seed);
            program.forms().iter().for_each(|form| *drawn.entry(*form).or_insert(0) += 1);
            let outcome = check(seed, folder.path(), &program, self.target.as_deref());
            if let (Outcome::Refused(_) | Outcome::Wrong(_), Some(folder)) = (&outcome, &self.keep) {
                std::fs::write(folder.join(format!("{seed}.mlir")), program.text()).expect("a folder");
            }
            match outcome {
                Outcome::Same => {}
                Outcome::Refused(said) => *refused.entry(said).or_insert(0) += 1,
                Outcome::Wrong(what) => {
                    say(&format!("seed {seed}: {what}"));
                    wrong.push(seed);
                }
            }
            if (seed + 1).is_multiple_of(STEP) {
                let few = refused.values().sum::<usize>();
                say(&format!(
                    "{}: {}..{} done, {} wrong, {few} refused",
                    self.variable,
                    self.seeds.start,
                    seed + 1,
                    wrong.len()
                ));
            }
        }
        let mut text = format!("{}={:?}: forms {drawn:?}, wrong {wrong:?}", self.variable, self.seeds);
        for (said, count) in &refused {
            let _ = write!(text, "\nrefused {count}: {said}");
        }
        say(&text);
        assert!(wrong.is_empty() && (refused.is_empty() || self.target.is_some()), "{text}");
    }
}

/// Says something at once, also while the harness holds back what tests print.
fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("it can be written");
}
