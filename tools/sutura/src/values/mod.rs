//! The values inside a model, by its names: a program whose outputs they are is compiled and run.
//!
//! Regions are fused as ever, or not at all with `--no-fusion`; what is asked for is written out beside what the model returns.

mod dump;

use std::path::Path;

use sutura_dialects::graph::ConstantOp;
use sutura_import::onnx::{OnnxModel, Outline, import_with};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::{Context, Module, OpRef, Value};
use sutura_run::args::Running;
use sutura_run::artifacts::is_artifact;
use sutura_run::run::Inputs;
use sutura_run::tensors::Files;
use sutura_runtime::{Model, Options, Tensor, TensorView};

use crate::cli::{CompileArgs, ModelRunArgs, Reading, ValuesArgs};
use crate::compile;
use crate::extract::cut_failure;
use crate::failure::{Failure, of_operators};
use crate::files::TemporaryFolder;
use crate::graph_function::{GraphFunction, Named};
use crate::input::{Input, Source};
use crate::kernels::Choices;
use crate::model::Compiled;
use crate::pipeline::Compilation;
use crate::talk::Talk;

pub(crate) use dump::{dump, file_names, write_tensor};

/// `sutura run`, with the values inside the model where they are wanted: a second program is compiled for them.
pub(crate) fn run_and_dump(args: &ModelRunArgs, talk: &Talk) -> Result<(), Failure> {
    let run = &args.run;
    let wanted = args.dump_values.as_ref();
    if wanted.is_some() && (is_artifact(&run.model) || run.running.device.is_some()) {
        let failure = Failure::usage("--dump-values compiles a model for the processor, with the values as outputs");
        return Err(failure.hint("give the model and not an artifact, and no --device"));
    }
    if wanted.is_some() && args.kernels.options.schedule.is_some() {
        let why = "--dump-values makes regions of its own, which the schedules of a file are not for";
        return Err(Failure::usage(why).hint("leave out one of --dump-values and --schedule"));
    }
    if let Some(names) = wanted {
        // First, as a run may end with a result that is not what was expected: then the values are of use.
        let reading = Reading { max_input: run.running.max_input, ..Reading::default() };
        let names: Vec<String> = names.iter().cloned().collect();
        let given = (&run.inputs[..], &run.input_files[..]);
        dump((&run.model, &reading, &args.kernels.options.choices), &names, given, &run.running, &args.dump_dir, talk)?;
    }
    sutura_run::run::run(run, &Compiled { kernels: args.kernels.clone() }, talk)
}

/// `sutura debug values`
pub(crate) fn command(args: &ValuesArgs, talk: &Talk) -> Result<(), Failure> {
    let given = (&args.inputs[..], &args.input_files[..]);
    dump(
        (&args.model, &args.reading, &args.choices),
        &args.names,
        given,
        &args.running.running(&args.reading),
        &args.output,
        talk,
    )
}

/// A model, read, with its values by name.
pub(crate) struct Valued {
    pub(crate) compilation: Compilation,
    pub(crate) args: CompileArgs,
    pub(crate) source: Source,
    pub(crate) module: Module,
    pub(crate) function: GraphFunction,
    /// What the model itself returns, as far as operations make it.
    pub(crate) outputs: Vec<Named>,
    /// Every tensor that an operation makes and that has a name, in order; several names may be one value.
    pub(crate) values: Vec<Named>,
}

impl Valued {
    /// Reads a model.
    pub(crate) fn read(model: &Path, reading: &Reading, choices: &Choices, talk: &Talk) -> Result<Self, Failure> {
        let mut compilation = Compilation::new();
        compilation.choices.clone_from(choices);
        let args = CompileArgs { model: model.to_owned(), reading: reading.clone(), ..CompileArgs::default() };
        let source = compile::source(&args, &compilation, talk)?;
        let (module, function) = match &source.input {
            Input::Onnx(model) => imported(&compilation, model, talk)?,
            Input::Text(text) => GraphFunction::parsed(&compilation, text, model, talk)?,
        };
        let values = values(&compilation.cx, &module, &function, &source);
        let outputs = outputs(&compilation.cx, &module, &function, (&source, &values));
        Ok(Self { compilation, args, source, module, function, outputs, values })
    }

    pub(crate) fn cx(&self) -> &Context {
        &self.compilation.cx
    }

    /// The values that are called `names`, or all.
    pub(crate) fn chosen(&self, names: &[String]) -> Result<Vec<Named>, Failure> {
        if names.is_empty() {
            return Ok(self.values.clone());
        }
        let weights = self.values.iter().map(|(name, _)| name.clone()).collect();
        let outline = Outline { weights, ..self.function.outline(self.cx(), &self.module) };
        let found = outline.resolve(names).map_err(|error| cut_failure(&error))?;
        let value = |name: String| {
            let found = self.values.iter().find(|(known, _)| *known == name).cloned();
            found.ok_or_else(|| Failure::usage(format!("`{name}` is no tensor that an operation makes")))
        };
        found.into_iter().map(value).collect()
    }

    /// Compiles a program that returns these values, and loads it.
    pub(crate) fn compiled(&self, mut module: Module, wanted: &[Value], talk: &Talk) -> Result<Model, Failure> {
        if wanted.is_empty() {
            return Err(Failure::usage("the model has no operation that makes a tensor"));
        }
        let named: Vec<Named> = wanted.iter().enumerate().map(|(i, value)| (format!("value{i}"), *value)).collect();
        self.function.set_results(self.cx(), &mut module, &named);
        let folder = TemporaryFolder::new()?;
        let output = folder.path().join("values.sutura");
        compile::compile_module(&self.compilation, module, (&self.args, &self.source), &output, talk)?;
        Ok(Model::load_with(&output, Options::new())?)
    }
}

/// What a model runs on: those given, and those that are made.
pub(crate) fn inputs(
    model: &Model,
    (specs, paths): (&[String], &[std::path::PathBuf]),
    running: &Running,
    talk: &Talk,
) -> Result<Vec<Tensor>, Failure> {
    let mut files = Files::new(running.max_input);
    let inputs = Inputs::new(model, specs, paths, running, &mut files, false)?;
    let [sizes] = &inputs.sizes[..] else {
        return Err(Failure::usage("--dim has a range, and one run is looked at").hint("give each size one value"));
    };
    let (given, made) = (inputs.load(&mut files)?, inputs.make(sizes, talk)?);
    Ok(given.into_iter().zip(made).filter_map(|(given, made)| given.or(made)).collect())
}

/// Runs a model.
pub(crate) fn run(model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, Failure> {
    let views: Vec<TensorView<'_>> = inputs.iter().map(Tensor::view).collect();
    Ok(model.run_views(&views)?)
}

/// An ONNX model with every tensor that its outermost graph names as an output.
fn imported(compilation: &Compilation, model: &OnnxModel, talk: &Talk) -> Result<(Module, GraphFunction), Failure> {
    model.warnings.iter().for_each(|w| talk.warning(&w.to_string()));
    let names: Vec<String> = model.graph.nodes.iter().flat_map(|node| node.outputs.iter().flatten().cloned()).collect();
    let mut diags = Diagnostics::default();
    let module = import_with(&compilation.cx, model, &names, &mut diags);
    diags.iter().for_each(|d| compilation.tell(d, talk));
    let module = module.map_err(of_operators)?;
    let function = GraphFunction::of(&compilation.cx, &module)?;
    Ok((module, function))
}

/// Of the values those that the model returns.
fn outputs(cx: &Context, module: &Module, function: &GraphFunction, of: (&Source, &[Named])) -> Vec<Named> {
    let (source, values) = of;
    let is_output = |name: &str| match &source.input {
        Input::Onnx(model) => model.graph.outputs.iter().any(|output| {
            // Each tensor of a sequence is an output of its own.
            let rest = name.strip_prefix(&*output.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }),
        Input::Text(_) => function.named_results(cx, module).iter().any(|(own, _)| own == name),
    };
    values.iter().filter(|(name, _)| is_output(name)).cloned().collect()
}

/// Names and values of tensors that operations make.
fn values(cx: &Context, module: &Module, function: &GraphFunction, source: &Source) -> Vec<Named> {
    let body = function.body(module);
    let is_made = |value: &Value| {
        let op = body.defining_op(*value).map(|op| OpRef::new(cx, body, op));
        op.is_some_and(|op| !op.is::<ConstantOp<'_>>()) && body.ty(*value).is_tensor(cx)
    };
    let mut values: Vec<Named> =
        function.named_results(cx, module).into_iter().filter(|(_, value)| is_made(value)).collect();
    if matches!(source.input, Input::Text(_)) {
        let made = body.ops(function.block).flat_map(|op| body.results(op).collect::<Vec<_>>()).filter(is_made);
        let inner = made.filter(|value| values.iter().all(|(_, known)| known != value)).collect::<Vec<_>>();
        values.extend(inner.into_iter().map(|value| (function.name(cx, module, value), value)));
    }
    // In the order of operations, which is the order in which errors arise.
    let ops: Vec<_> = body.ops(function.block).collect();
    let place = |value: Value| body.defining_op(value).and_then(|op| ops.iter().position(|other| *other == op));
    values.sort_by_cached_key(|(_, value)| place(*value));
    values
}
