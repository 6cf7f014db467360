//! `sutura run`: an artifact on tensors from files or the command line.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sutura_dialects::target::TargetDesc;
use sutura_ir::{Context, float};
use sutura_runtime::compare::{Comparison, all_close, compare};
use sutura_runtime::manifest::Value;
use sutura_runtime::{ElementType, Model, Options, Tensor, TensorView};

use crate::cli::RunArgs;
use crate::failure::Failure;
use crate::files::say;
use crate::machine::Wanted;
use crate::profile;
use crate::talk::Talk;
use crate::tensors::{self, Files, Source};

pub(crate) fn run(args: &RunArgs, talk: &Talk) -> Result<(), Failure> {
    for (name, tolerance) in [("--atol", args.atol), ("--rtol", args.rtol)] {
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(Failure::usage(format!("{name} is {tolerance}, but must be 0 or more")));
        }
    }
    let options = args.threads.map_or_else(Options::new, |n| Options::new().threads(n.into())).profile(args.profile);
    let options = args.device.iter().fold(options, |options, name| options.device(name));
    if args.trust_artifact {
        let artifact = args.artifact.display();
        talk.warning(&format!("`{artifact}` is trusted: what it holds is not compared with its hashes"));
    }
    let model = Model::load_with(&args.artifact, options.trust_artifact(args.trust_artifact))?;
    let desc = args.profile.then(|| machine(&model, args.target_file.as_deref(), talk)).transpose()?;
    if let Some(device) = model.device() {
        talk.note(&format!("device     {} ({})", device.name, device.backend.name()));
    }
    talk.detail(&model.manifest().signature());
    // What can be wrong about the call is found before the run.
    let outputs = outputs(args, model.outputs())?;
    let mut files = Files::new(args.max_input);
    let expected = named_tensors(&args.expected, model.outputs(), "expected output")?;
    let expected = with_files(expected, &args.expected_files, &mut files, model.outputs(), "expected output")?;
    let expected = load(&expected, &mut files)?;
    let inputs = named_tensors(&args.inputs, model.inputs(), "input")?;
    let inputs = with_files(inputs, &args.input_files, &mut files, model.inputs(), "input")?;
    // Also before the data are read, which may be many.
    let signatures =
        inputs.iter().map(|(name, source)| files.signature(name, source)).collect::<Result<Vec<_>, _>>()?;
    let given = inputs.iter().zip(&signatures).map(|((name, _), (ty, dims))| (name.as_str(), *ty, &dims[..]));
    model.accept(&given.collect::<Vec<_>>())?;
    let inputs = load(&inputs, &mut files)?;
    drop(files);
    let views: Vec<(&str, TensorView<'_>)> = inputs.iter().map(|(name, t)| (name.as_str(), t.view())).collect();
    let views = model.bind(&views)?;

    let start = Instant::now();
    let results = model.run_views(&views)?;
    let first = start.elapsed();
    let repeat = if args.profile && args.repeat == 0 { PROFILED } else { args.repeat };
    let total = match repeat {
        0 => report_first(first, talk)?,
        _ => report_latency(&model, &views, first, repeat)?,
    };
    if let Some(desc) = desc {
        profile::show(&model, &views, (repeat, total), &desc)?;
    }

    let names: Vec<&str> = model.outputs().iter().map(|v| v.name.as_str()).collect();
    for (path, of_file) in &outputs {
        let tensors: Vec<_> = of_file.iter().map(|name| (*name, &results[position(&names, name)])).collect();
        sutura_tensors::write(path, &tensors)?;
    }
    if expected.is_empty() && outputs.is_empty() {
        names.iter().zip(&results).try_for_each(|(name, result)| say(&summary(name, result)))?;
    }
    check_expected(args, &names, &results, &expected)
}

fn position(names: &[&str], name: &str) -> usize {
    names.iter().position(|n| *n == name).expect("checked to be an output")
}

/// A file, and the outputs that go there.
type OutputFile<'a> = (PathBuf, Vec<&'a str>);

/// The files that outputs go to, each of which can hold them: `name=@path` for one, a folder or a file for all.
fn outputs<'a>(args: &RunArgs, outputs: &'a [Value]) -> Result<Vec<OutputFile<'a>>, Failure> {
    let mut files: Vec<OutputFile<'a>> = Vec::new();
    for spec in &args.outputs {
        if let Some((name, path)) = spec.split_once("=@") {
            if path.is_empty() {
                return Err(Failure::usage(format!("`{spec}` names no file")));
            }
            files.push((path.into(), vec![known(outputs, name, "output")?]));
            continue;
        }
        let folder = Path::new(spec);
        if !folder.is_dir() {
            let failure = Failure::usage(format!("`{spec}` is neither a folder nor `name=@file.npy`"));
            return Err(match sutura_tensors::Format::of(folder) {
                Some(_) => failure.hint(format!("`--outputs {spec}` writes all outputs into one file")),
                None => failure,
            });
        }
        let in_folder = |v: &'a Value| (folder.join(format!("{}.npy", file_name(&v.name))), vec![v.name.as_str()]);
        files.extend(outputs.iter().map(in_folder));
    }
    if let Some(path) = &args.output_file {
        files.push((path.clone(), outputs.iter().map(|v| v.name.as_str()).collect()));
    }
    let mut seen: Vec<&Path> = Vec::new();
    for (path, names) in &files {
        if seen.contains(&path.as_path()) {
            return Err(Failure::usage(format!("two outputs go to `{}`", path.display())));
        }
        seen.push(path);
        let of_file = outputs.iter().filter(|v| names.contains(&v.name.as_str()));
        let tensors: Vec<(&str, ElementType)> = of_file.map(|v| (v.name.as_str(), v.element_type)).collect();
        sutura_tensors::check_writable(path, &tensors)?;
    }
    Ok(files)
}

/// A model's name for a tensor as the name of a file.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// The model's name for a value, if it has the value.
fn known<'a>(values: &'a [Value], name: &str, what: &str) -> Result<&'a str, Failure> {
    let names = values.iter().map(|v| v.name.as_str());
    if let Some(found) = names.clone().find(|n| *n == name) {
        return Ok(found);
    }
    let failure = Failure::usage(format!("the model has no {what} `{name}`"));
    Err(match sutura_ir::diagnostics::did_you_mean(name, names.clone()) {
        Some(close) => failure.hint(format!("did you mean `{close}`?")),
        None => failure.hint(format!("it has {}", names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", "))),
    })
}

fn load(sources: &[(String, Source)], files: &mut Files) -> Result<Vec<(String, Tensor)>, Failure> {
    sources.iter().map(|(name, source)| Ok((name.clone(), files.load(name, source)?))).collect()
}

/// The same tensors and all of some files, whose names must be those of `values`.
fn with_files(
    mut tensors: Vec<(String, Source)>,
    paths: &[PathBuf],
    files: &mut Files,
    values: &[Value],
    what: &str,
) -> Result<Vec<(String, Source)>, Failure> {
    for path in paths {
        for (name, source) in files.all(path)? {
            known(values, &name, what).map_err(|failure| Failure {
                message: format!("`{}`: {}", path.display(), failure.message),
                ..failure
            })?;
            if tensors.iter().any(|(given, _)| *given == name) {
                return Err(Failure::usage(format!("{what} `{name}` is given twice, also in `{}`", path.display())));
            }
            tensors.push((name, source));
        }
    }
    Ok(tensors)
}

/// Where tensors come from, by the names of `values`; one without a name is the next in order.
fn named_tensors(specs: &[String], values: &[Value], what: &str) -> Result<Vec<(String, Source)>, Failure> {
    let mut tensors = Vec::with_capacity(specs.len());
    for (i, text) in specs.iter().enumerate() {
        let spec = tensors::parse(text)?;
        let name = match spec.name {
            Some(name) => name,
            None => match values.get(i) {
                Some(value) => value.name.clone(),
                None => return Err(Failure::usage(format!("there is no {what} number {}: `{text}`", i + 1))),
            },
        };
        if what != "input" {
            known(values, &name, what)?;
        }
        tensors.push((name, spec.source));
    }
    Ok(tensors)
}

/// Runs `--profile` looks at where `--repeat` does not say.
const PROFILED: u32 = 10;

/// What `--profile` compares with: the machine of the file, or that at hand; of a device the one that the model was compiled
/// for.
fn machine(model: &Model, file: Option<&Path>, talk: &Talk) -> Result<TargetDesc, Failure> {
    let cx = Context::new(sutura_dialects::all());
    let compiled_for = model.manifest().target.description.as_str();
    let name = model.device().and(file.is_none().then_some(compiled_for));
    Ok(Wanted { name, file }.find(&cx, talk)?.0.desc)
}

/// Shows how long the only run took, unless nobody wants to hear what was not asked for.
fn report_first(first: Duration, talk: &Talk) -> Result<Duration, Failure> {
    if !talk.is_quiet() {
        say(&format!("latency: {:.3} ms (first run)", first.as_secs_f64() * 1e3))?;
    }
    Ok(first)
}

/// Shows how long runs take. Returns the time of all repeated ones.
fn report_latency(model: &Model, views: &[TensorView<'_>], first: Duration, repeat: u32) -> Result<Duration, Failure> {
    let milliseconds = |d: Duration| d.as_secs_f64() * 1e3;
    let mut times = Vec::with_capacity(repeat as usize);
    let dims: Vec<&[i64]> = views.iter().map(TensorView::dims).collect();
    let mut outputs = model.allocate_outputs(&dims)?;
    model.run_into(views, &mut outputs.iter_mut().map(Tensor::view_mut).collect::<Vec<_>>())?;
    model.clear_profile();
    for _ in 0..repeat {
        let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        let start = Instant::now();
        model.run_into(views, &mut targets)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let (least, median) = (times[0], times[times.len() / 2]);
    say(&format!(
        "latency: {:.3} ms median, {:.3} ms least of {repeat} runs, {:.3} ms first; at most {} {}",
        milliseconds(median),
        milliseconds(least),
        milliseconds(first),
        model.threads(),
        if model.threads() == 1 { "thread" } else { "threads" }
    ))?;
    Ok(times.iter().sum())
}

/// What a tensor is, and its elements when they are few.
fn summary(name: &str, tensor: &Tensor) -> String {
    const FEW: usize = 16;
    let dims: Vec<String> = tensor.dims().iter().map(i64::to_string).collect();
    let head = format!("{name}: {}[{}]", tensor.element_type(), dims.join(", "));
    if tensor.len() <= FEW {
        return format!("{head} = {}", elements(tensor));
    }
    let floats: Vec<f64> = match (tensor.as_slice::<f32>(), tensor.as_slice::<f64>()) {
        (Some(values), _) => values.iter().map(|v| f64::from(*v)).collect(),
        (_, Some(values)) => values.to_vec(),
        _ => return head,
    };
    let numbers = || floats.iter().copied().filter(|v| !v.is_nan());
    let (least, most) = numbers().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(v), m.max(v)));
    let (sum, nans) = (numbers().sum::<f64>(), floats.len() - numbers().count());
    let mean = sum / (floats.len() - nans).max(1) as f64;
    let nans = if nans > 0 { format!(", {nans} NaN") } else { String::new() };
    match tensor.element_type() {
        // As short as their own type has them.
        ElementType::F32 => format!("{head}, {} to {}, mean {mean:.6}{nans}", least as f32, most as f32),
        _ => format!("{head}, {least} to {most}, mean {mean:.6}{nans}"),
    }
}

/// The elements as text.
fn elements(tensor: &Tensor) -> String {
    macro_rules! of {
        ($($rust:ty),*) => {
            $(if let Some(values) = tensor.as_slice::<$rust>() {
                return format!("{values:?}");
            })*
        };
    }
    of!(f32, f64, i8, u8, i16, u16, i32, u32, i64, u64);
    if let Some((bits, signed)) = tensors::short_integer(tensor.element_type()) {
        let number = |byte: &u8| match signed {
            true => byte.cast_signed() << (8 - bits) >> (8 - bits),
            false => (byte & ((1 << bits) - 1)).cast_signed(),
        };
        return format!("{:?}", tensor.bytes().iter().map(number).collect::<Vec<_>>());
    }
    let codes = tensor.bytes().chunks_exact(tensor.element_type().bytes());
    match tensors::small_float(tensor.element_type()) {
        Some(kind) => {
            let code = |bytes: &[u8]| match bytes {
                [low, high] => u64::from(u16::from_ne_bytes([*low, *high])),
                other => u64::from(other[0]),
            };
            format!("{:?}", codes.map(|bytes| float::to_f64(kind, code(bytes))).collect::<Vec<_>>())
        }
        // What is left is booleans.
        None => format!("{:?}", codes.map(|bytes| bytes[0] != 0).collect::<Vec<_>>()),
    }
}

fn check_expected(
    args: &RunArgs,
    names: &[&str],
    results: &[Tensor],
    expected: &[(String, Tensor)],
) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    for (name, expected) in expected {
        let result = &results[position(names, name)];
        let comparison = compare(result, expected)?;
        let close = all_close(result, expected, args.atol, args.rtol)?;
        say(&format!("{name}: {}", describe(&comparison)))?;
        if !close {
            wrong.push(format!("`{name}`"));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let limits = format!("atol {:e}, rtol {:e}", args.atol, args.rtol);
    Err(Failure::input(format!("{} differs from what was expected by more than allowed ({limits})", wrong.join(", "))))
}

fn describe(comparison: &Comparison) -> String {
    let worst = &comparison.max_abs;
    let place = worst.index.as_ref().map_or_else(String::new, |index| {
        format!(" at {index:?} ({} where {} was expected)", worst.actual, worst.expected)
    });
    let nans = match comparison.nan_mismatches {
        0 => String::new(),
        n => format!(", NaN against a number in {n}"),
    };
    format!(
        "max abs error {:.3e}{place}, max rel error {:.3e}, {} of {} elements differ{nans}",
        worst.error, comparison.max_rel.error, comparison.different, comparison.elements
    )
}
