//! `run`: a model on tensors from files, from the command line, or made.

mod expected;
mod inputs;
mod latency;
mod outputs;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value as Json, json};
use sutura_dialects::r#dyn::DimSpec;
use sutura_dialects::target::TargetDesc;
use sutura_runtime::manifest::Value;
use sutura_runtime::{Model, Options, Tensor, TensorView};

use crate::args::{RunArgs, Running};
use crate::artifacts::is_artifact;
use crate::failure::{Failure, Kind};
use crate::files::{TemporaryFolder, say};
use crate::profile::Profile;
use crate::sizes::Sizes;
use crate::talk::Talk;
use crate::tensors::Files;
pub use inputs::Inputs;
use latency::Latency;
use outputs::OutputFile;

/// Where models come from: `sutura` compiles them, `sutura-run` takes artifacts alone.
pub trait Models {
    /// Makes an artifact of what `path` leads to. Of sizes that are given a model that is compiled knows.
    ///
    /// # Errors
    /// When there is no model, or it cannot be compiled.
    fn artifact(&self, path: &Path, dims: &[DimSpec], talk: &Talk) -> Result<Ready, Failure>;

    /// The machine that a profile of a model is compared with: that of `file`, or that at hand.
    ///
    /// # Errors
    /// When there is no description of it.
    fn machine(&self, model: &Model, file: Option<&Path>, talk: &Talk) -> Result<TargetDesc, Failure>;
}

/// An artifact, which is gone with this if it was made for it.
pub struct Ready {
    path: PathBuf,
    _made: Option<TemporaryFolder>,
}

impl Ready {
    /// An artifact of the user.
    pub fn given(path: &Path) -> Self {
        Self { path: path.to_owned(), _made: None }
    }

    /// One that lies in a folder that nobody keeps.
    pub fn made(path: PathBuf, folder: TemporaryFolder) -> Self {
        Self { path, _made: Some(folder) }
    }

    /// Loads it.
    ///
    /// # Errors
    /// When it is no artifact, damaged, or cannot run here.
    pub fn load(&self, options: Options) -> Result<Model, Failure> {
        let loaded = Model::load_with(&self.path, options).map_err(Failure::from);
        loaded.map_err(|failure| match failure.kind {
            // One that is called an artifact is a damaged one.
            Kind::Corrupt if self.path.extension().is_none_or(|end| end != "sutura") && !is_artifact(&self.path) => {
                failure.hint("`sutura compile MODEL -o MODEL.sutura` makes artifacts of models")
            }
            _ => failure,
        })
    }
}

/// Runs `--profile` looks at where `--repeat` does not say.
const PROFILED: u32 = 10;

/// Does the command.
///
/// # Errors
/// When the model, the call or the data are wrong, or a result is not what was expected.
pub fn run(args: &RunArgs, models: &dyn Models, talk: &Talk) -> Result<(), Failure> {
    for (name, tolerance) in [("--atol", args.atol), ("--rtol", args.rtol)] {
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(Failure::usage(format!("{name} is {tolerance}, but must be 0 or more")));
        }
    }
    let options = options(&args.model, &args.running, args.threads, args.profile, talk);
    let model = models.artifact(&args.model, &args.running.dim, talk)?.load(options)?;
    let machine = args.profile.then(|| models.machine(&model, args.target_file.as_deref(), talk)).transpose()?;
    introduce(&model, talk);
    // What can be wrong about the call is found before the run.
    let outputs = outputs::outputs(args, model.outputs())?;
    let mut files = Files::new(args.running.max_input);
    let expected = expected::read(args, &model, &mut files)?;
    let whole = !expected.is_empty();
    let inputs = Inputs::new(&model, &args.inputs, &args.input_files, &args.running, &mut files, whole)?;
    if inputs.sizes.len() > 1 && (whole || !outputs.is_empty()) {
        let failure = Failure::usage("--dim has a range, and each of its runs would write the same files");
        return Err(failure.hint("give each size one value"));
    }
    let given = inputs.load(&mut files)?;
    drop(files);
    let job = Job { args, model: &model, machine, outputs: &outputs, expected: &expected, talk };
    inputs.sizes.iter().try_for_each(|sizes| {
        let made = inputs.make(sizes, talk)?;
        let tensors: Vec<&Tensor> = given.iter().zip(&made).filter_map(|(a, b)| a.as_ref().or(b.as_ref())).collect();
        let done = job.run(&tensors, sizes, inputs.sizes.len() > 1);
        done.map_err(|failure| if inputs.are_made() { of_made(failure) } else { failure })
    })
}

/// How a model is loaded.
pub fn options(path: &Path, running: &Running, threads: Option<u16>, profile: bool, talk: &Talk) -> Options {
    let options = threads.map_or_else(Options::new, |n| Options::new().threads(n.into())).profile(profile);
    let options = running.device.iter().fold(options, |options, name| options.device(name));
    if running.trust_artifact {
        let artifact = path.display();
        talk.warning(&format!("`{artifact}` is trusted: what it holds is not compared with its hashes"));
    }
    options.trust_artifact(running.trust_artifact)
}

/// Says what runs, and where.
pub(crate) fn introduce(model: &Model, talk: &Talk) {
    if let Some(device) = model.device() {
        talk.note(&format!("device     {} ({})", device.name, device.backend.name()));
    }
    talk.detail(&model.manifest().signature());
}

/// A failure of a run whose data are made may be theirs.
fn of_made(failure: Failure) -> Failure {
    match failure.hint {
        None if failure.kind == Kind::Input => {
            failure.hint("inputs that were not given are made; give those whose elements must fit with `-i NAME=@FILE`")
        }
        _ => failure,
    }
}

struct Job<'j> {
    args: &'j RunArgs,
    model: &'j Model,
    machine: Option<TargetDesc>,
    outputs: &'j [OutputFile<'j>],
    expected: &'j [(usize, Tensor)],
    talk: &'j Talk,
}

impl Job<'_> {
    fn run(&self, inputs: &[&Tensor], sizes: &Sizes, several: bool) -> Result<(), Failure> {
        let (args, model) = (self.args, self.model);
        let views: Vec<TensorView<'_>> = inputs.iter().map(|tensor| tensor.view()).collect();
        let start = Instant::now();
        let results = model.run_views(&views)?;
        let first = start.elapsed();
        let repeat = if args.profile && args.repeat == 0 { PROFILED } else { args.repeat };
        let latency = Latency::of(model, &views, first, repeat)?;
        let profile = self.machine.as_ref().map(|desc| Profile::new(model, &views, latency.counted(), desc));
        let profile = profile.transpose()?;
        for (path, of_file) in self.outputs {
            let tensor = |name: &&str| results.iter().zip(model.outputs()).find(|(_, v)| v.name == **name);
            let tensors: Vec<_> = of_file.iter().filter_map(tensor).map(|(t, v)| (v.name.as_str(), t)).collect();
            sutura_tensors::write(path, &tensors)?;
        }
        let compared = expected::compared(args, model.outputs(), &results, self.expected)?;
        if self.talk.is_json() {
            let mut object = Map::new();
            object.insert("sizes".into(), sizes.json());
            object.insert("latency_ns".into(), latency.json());
            object.insert("outputs".into(), self.outputs_json(&results));
            object.insert("compared".into(), compared.iter().map(expected::Compared::json).collect());
            object.insert("profile".into(), profile.map_or(Json::Null, |profile| profile.json()));
            self.talk.result("run", object)?;
            return expected::judge(args, &compared);
        }
        if several {
            say(&format!("at {}", sizes.text()))?;
        }
        // Nobody asked for the time of a single run.
        if repeat > 0 || !self.talk.is_quiet() {
            say(&latency.line())?;
        }
        profile.iter().flat_map(Profile::lines).try_for_each(|line| say(&line))?;
        if self.expected.is_empty() && self.outputs.is_empty() {
            let named = model.outputs().iter().zip(&results);
            named.map(|(value, result)| summary::summary(&value.name, result)).try_for_each(|line| say(&line))?;
        }
        compared.iter().try_for_each(|one| say(&one.line()))?;
        expected::judge(args, &compared)
    }

    fn outputs_json(&self, results: &[Tensor]) -> Json {
        let one = |(value, result): (&Value, &Tensor)| {
            let files = self.outputs.iter().filter(|(_, names)| names.contains(&value.name.as_str()));
            json!({
                "name": value.name,
                "type": result.element_type().name(),
                "dims": result.dims(),
                "files": files.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>(),
                "summary": summary::summary(&value.name, result),
            })
        };
        self.model.outputs().iter().zip(results).map(one).collect()
    }
}

/// The number of a value of the model, if it has the value.
fn known_index(values: &[Value], name: &str, what: &str) -> Result<usize, Failure> {
    if let Some(found) = values.iter().position(|value| value.name == name) {
        return Ok(found);
    }
    let names = || values.iter().map(|v| v.name.as_str());
    let failure = Failure::usage(format!("the model has no {what} `{name}`"));
    Err(match sutura_ir::diagnostics::did_you_mean(name, names()) {
        Some(close) => failure.hint(format!("did you mean `{close}`?")),
        None => failure.hint(format!("it has {}", names().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))),
    })
}

/// The model's name for a value, if it has the value.
fn known<'a>(values: &'a [Value], name: &str, what: &str) -> Result<&'a str, Failure> {
    Ok(&values[known_index(values, name, what)?].name)
}
