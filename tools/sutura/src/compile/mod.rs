//! `sutura compile`: from a model to an artifact, or to any stage before it.

mod device;
mod host;
mod library;
mod programs;
mod reading;
mod write;

use std::cell::{OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use sutura_codegen as codegen;
use sutura_ir::Context;
use sutura_passes::graph_to_gir::plan_file::Step;
use sutura_passes::machine_code::{self, Processor};
use sutura_passes::rt_to_upstream::HostInterface;
use sutura_runtime::Manifest;

use crate::artifact;
use crate::cache::Cache;
use crate::check::ModelSurvey;
use crate::cli::{CompileArgs, Search};
use crate::costs::{self, Costs};
use crate::failure::{Failure, Kind, of_codegen};
use crate::files;
use crate::input::{Input, Source};
use crate::library::Library;
use crate::likely;
use crate::machine::{Machine, Vendor, Wanted};
use crate::pipeline::{
    Begun, Compilation, Emit, LOWER, LOWER_FOR_DEVICE, LOWER_KERNELS_FOR_DEVICE, Level, Program, STAGES, Stage, TILE,
    Watch, has_unregistered,
};
use crate::remarks::Sink;
use crate::report::Report;
use crate::resources::DeviceKernel;
use crate::schedules;
use crate::talk::Talk;
use crate::tune::Tuner;
use host::Code;
pub(crate) use programs::{compile_module, compile_text};
use reading::read;
pub(crate) use reading::source;
use write::{Before, write};

pub(crate) fn compile(args: &CompileArgs, talk: &Talk) -> Result<(), Failure> {
    let output = output(args)?;
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
        pool.map_err(|e| Failure::new(Kind::System, format!("cannot start {threads} threads: {e}")))?;
    }
    let remarks = Sink::of(args.remarks.as_ref());
    let report = args.report.clone().map(|path| Report::new(path, args.report_sizes.clone(), args.report_asm));
    check_files(args, &output, remarks.as_ref())?;
    if args.report_measure && args.emit.is_some() {
        return Err(Failure::usage("--report-measure runs the artifact, and --emit stops before there is one"));
    }
    if args.prefix.is_some() && !args.emit.is_some_and(Emit::of_library) {
        return Err(Failure::usage("--prefix is for `--emit=static-lib` and `--emit=c-header`"));
    }
    let tuner = Tuner::of(args)?;
    let listening = remarks.is_some() || report.is_some();
    let compilation = if listening { Compilation::listening() } else { Compilation::new() };
    let mut compilation = compilation.storing_beside(&output);
    as_asked(&mut compilation, args);
    compilation.cache = (!args.no_cache).then(|| Cache::of_user(talk)).flatten();
    let result = product(args, &output, &compilation, (report.as_ref(), tuner.as_ref()), talk);
    if let Some(cache) = &compilation.cache {
        cache.tell(talk);
        cache.sweep();
    }
    // What was remarked before a failure helps to understand it.
    let written = remarks.map_or(Ok(()), |sink| sink.write(&compilation.cx, &compilation.heard.all(), talk));
    result.and(written)
}

/// Gives passes the options that the user gave.
fn as_asked(compilation: &mut Compilation, args: &CompileArgs) {
    compilation.choices.clone_from(&args.kernels.choices);
    compilation.index_limit = args.index_limit;
    // What is measured decides, not what is predicted.
    compilation.search = if args.tune { Search::Off } else { args.search };
}

/// Compiles, and writes what is asked for.
fn product(
    args: &CompileArgs,
    output: &Path,
    compilation: &Compilation,
    (report, tuner): (Option<&Report>, Option<&Tuner>),
    talk: &Talk,
) -> Result<(), Failure> {
    let source = &source(args, compilation, talk)?;
    let before = Before::of(args, compilation, source, talk);
    if before.write(compilation, output, talk)? {
        return Ok(());
    }
    let mut made: Vec<Made> = Vec::new();
    each_machine(args, compilation, source, talk, |job, program| {
        if let Some(tuner) = tuner {
            tuner.start(job.machine, talk)?;
        }
        let job = Job { output, report, tuner, ..job };
        made.extend(job.run(program, source)?);
        let Some(report) = report else { return Ok(()) };
        if args.report_measure {
            write(&made, compilation, output, talk)?;
            job.measure(report)?;
            made.clear();
        }
        let heard = compilation.heard.all();
        report.write(&compilation.cx, (&args.model, &source.hash), job.machine, args.emit, &heard)
    })?;
    if made.is_empty() {
        return Ok(());
    }
    let written = write(&made, compilation, output, talk)?;
    before.keep((args, source), (&made, written), compilation, talk);
    Ok(())
}

/// Reads the model anew for every machine that is asked for, and does with it what `work` says.
fn each_machine(
    args: &CompileArgs,
    compilation: &Compilation,
    source: &Source,
    talk: &Talk,
    mut work: impl FnMut(Job<'_>, Program) -> Result<(), Failure>,
) -> Result<(), Failure> {
    check_targets(args, &compilation.cx, talk)?;
    let targets: Vec<Option<&str>> = match &args.target[..] {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    for name in targets {
        let start = Instant::now();
        talk.begin("read");
        let program = read(compilation, source, args, talk)?;
        talk.stage("read", &program.summary(), start.elapsed());
        compilation.look("read", &program.module);
        let level = program.level();
        let (program, machine) =
            compilation.attach(program, Wanted { name, file: args.target_file.as_deref() }, talk)?;
        talk.progress(&format!("target     {}", machine.summary()));
        device::check(args, &machine)?;
        work(Job::new(args, talk, compilation, &machine), program.at(level))?;
    }
    Ok(())
}

/// Refuses for several targets what there is one of, and what is no machine or one of them again.
fn check_targets(args: &CompileArgs, cx: &Context, talk: &Talk) -> Result<(), Failure> {
    if args.target.len() < 2 {
        return Ok(());
    }
    let one = [
        (args.emit.is_some(), "--emit writes one product"),
        (args.emit_dir.is_some(), "--emit-dir keeps one product of each stage"),
        (args.report.is_some(), "--report shows one machine's code"),
        (args.tune, "--tune measures on this machine"),
    ];
    if let Some((_, why)) = one.iter().find(|(given, _)| *given) {
        return Err(Failure::usage(format!("{why}, and several targets are given")).hint("name one"));
    }
    let mut found: Vec<String> = Vec::new();
    for name in &args.target {
        let (machine, _) = Wanted { name: Some(name), file: args.target_file.as_deref() }.find(cx, talk)?;
        if found.contains(&machine.desc.name) {
            return Err(Failure::usage(format!("two targets are the machine `{}`", machine.desc.name)));
        }
        found.push(machine.desc.name.clone());
    }
    Ok(())
}

/// Fails now where what is written beside the product could not be: not after minutes of work.
fn check_files(args: &CompileArgs, output: &Path, remarks: Option<&Sink>) -> Result<(), Failure> {
    let said = match remarks {
        Some(Sink::File(path)) => Some(path),
        _ => None,
    };
    let mut taken = vec![output];
    for path in args.report.iter().chain(said).chain(&args.tune_cache) {
        if path.as_os_str() == "-" {
            return Err(Failure::usage("the report, remarks and the cache of --tune go to files, not to stdout"));
        }
        if taken.contains(&path.as_path()) {
            return Err(Failure::usage(format!("two things would be written to `{}`", path.display())));
        }
        files::writable(path)?;
        taken.push(path);
    }
    Ok(())
}

/// Where the product goes.
fn output(args: &CompileArgs) -> Result<PathBuf, Failure> {
    let binary = matches!(
        args.emit,
        None | Some(Emit::Obj | Emit::So | Emit::Cubin | Emit::Hsaco | Emit::Spirv | Emit::StaticLib)
    );
    let output = match &args.output {
        Some(path) => path.clone(),
        None if binary => {
            let example = args.model.with_extension(match args.emit {
                Some(Emit::StaticLib) => "a",
                Some(Emit::Obj) => "o",
                Some(Emit::So) => "so",
                Some(Emit::Cubin) => "cubin",
                Some(Emit::Hsaco) => "hsaco",
                Some(Emit::Spirv) => "spv",
                _ => "sutura",
            });
            let failure = Failure::usage("the output is missing");
            return Err(failure.hint(format!("give it with `-o {}`", example.display())));
        }
        None => PathBuf::from("-"),
    };
    if output.as_os_str() == "-" {
        return if args.emit.is_none() { Err(Failure::usage("an artifact cannot go to stdout")) } else { Ok(output) };
    }
    // Known now and not after minutes of work.
    files::writable(&output)?;
    Ok(output)
}

/// What a model uses.
pub(crate) fn surveyed(args: &CompileArgs, talk: &Talk) -> Result<ModelSurvey, Failure> {
    let compilation = Compilation::new();
    let source = source(args, &compilation, talk)?;
    Ok(match &source.input {
        Input::Onnx(model) => ModelSurvey::of_model(&compilation.cx, model),
        Input::Text(_) => {
            let (quiet, _) = Talk::kept_silent();
            // What is wrong with a text is said by who checks it.
            match read(&compilation, &source, args, &quiet) {
                Ok(program) => ModelSurvey::of_program(&compilation.cx, &program.module),
                Err(_) => ModelSurvey::default(),
            }
        }
    })
}

/// Goes through every stage but code generation, for each machine, and says nothing of what went well. [`compile`] does the
/// same before it generates code: what this refuses it refuses, in the same words. How many operations there were to begin with.
pub(crate) fn check(args: &CompileArgs, talk: &Talk) -> Result<usize, Failure> {
    check_watched(args, talk, None).0
}

/// The same, with what somebody who watches the stages finds.
pub(crate) fn check_watched(
    args: &CompileArgs,
    talk: &Talk,
    watch: Option<Watch>,
) -> (Result<usize, Failure>, Vec<String>) {
    let mut compilation = Compilation::new();
    as_asked(&mut compilation, args);
    compilation.watch = watch;
    let mut ops = 0;
    let done = source(args, &compilation, talk).and_then(|source| {
        each_machine(args, &compilation, &source, talk, |job, program| {
            ops = program.count_ops();
            job.front(program, &source).map(drop)
        })
    });
    (done.map(|()| ops), compilation.watched.into_inner())
}

/// Makes the artifact `output` of a model, with what somebody who watches the stages before code finds.
pub(crate) fn compile_watched(
    args: &CompileArgs,
    output: &Path,
    talk: &Talk,
    watch: Watch,
) -> (Result<(), Failure>, Vec<String>) {
    let mut compilation = Compilation::new();
    as_asked(&mut compilation, args);
    compilation.watch = Some(watch);
    let made = product(args, output, &compilation, (None, None), talk);
    (made, compilation.watched.into_inner())
}

/// Does what [`check`] does once more, until it fails; what the step that fails begins with.
pub(crate) fn until_failure(args: &CompileArgs) -> Option<Begun> {
    let (talk, _) = Talk::kept_silent();
    let mut compilation = Compilation::new();
    as_asked(&mut compilation, args);
    compilation.begun = Some(RefCell::default());
    let work = || {
        let source = source(args, &compilation, &talk)?;
        each_machine(args, &compilation, &source, &talk, |job, program| job.front(program, &source).map(drop))
    };
    let ended = catch_unwind(AssertUnwindSafe(work));
    match ended {
        Ok(Ok(())) => None,
        _ => compilation.begun?.into_inner(),
    }
}

struct Job<'j> {
    args: &'j CompileArgs,
    talk: &'j Talk,
    compilation: &'j Compilation,
    machine: &'j Machine,
    output: &'j Path,
    report: Option<&'j Report>,
    tuner: Option<&'j Tuner>,
    /// Of the program's kernels, once it has some.
    costs: RefCell<Costs>,
}

/// A program in upstream operations.
struct Lowered {
    /// Generic form, for MLIR, once somebody has asked.
    text: OnceCell<String>,
    /// The device code, where kernels are not the processor's.
    device: Option<DeviceCode>,
    /// The kernels of the device code, if somebody wants to know what they take.
    device_kernels: Vec<DeviceKernel>,
    interface: Result<HostInterface, String>,
    program: Program,
}

impl Lowered {
    fn text(&self, compilation: &Compilation) -> &str {
        self.text.get_or_init(|| compilation.stripped_text(&self.program))
    }
}

/// Kernels for a device in upstream operations.
struct DeviceCode {
    /// Generic form, for MLIR.
    text: String,
    program: Program,
}

/// A program of which all is known but its machine code.
struct Ready {
    lowered: Lowered,
    /// What the artifact says of itself; none where something else is asked for.
    artifact: Option<(HostInterface, Manifest)>,
    /// The host's code, or all code of the processor; none where it is not asked for.
    host: Option<Code>,
    /// Whether the input itself has operations that MLIR may refuse.
    theirs: bool,
}

/// What an artifact has for one machine.
struct Made {
    /// The machine's name.
    name: String,
    manifest: Manifest,
    host: Vec<u8>,
    device: Option<Vec<u8>>,
    interface: HostInterface,
    /// Holds the constants.
    program: Program,
}

impl<'j> Job<'j> {
    fn new(args: &'j CompileArgs, talk: &'j Talk, compilation: &'j Compilation, machine: &'j Machine) -> Self {
        let output = Path::new("");
        Self { args, talk, compilation, machine, output, report: None, tuner: None, costs: RefCell::default() }
    }
}

impl Job<'_> {
    /// Goes down to what is asked for; the artifact's part is left to be written.
    fn run(&self, program: Program, source: &Source) -> Result<Option<Made>, Failure> {
        match self.front(program, source)? {
            None => Ok(None),
            Some(ready) => {
                let theirs = ready.theirs;
                self.back_end(ready).map_err(|failure| blamed(failure, theirs))
            }
        }
    }

    /// Everything but code generation: whatever can be refused is refused here. None is left when the product was a stage's.
    fn front(&self, program: Program, source: &Source) -> Result<Option<Ready>, Failure> {
        // Operations that MLIR refuses are an error of whoever wrote them.
        let theirs =
            program.level() == Level::Upstream || has_unregistered(program.module.op_ref(&self.compilation.cx));
        let lowered = match self.stages(program)? {
            None => return Ok(None),
            Some(lowered) => lowered,
        };
        let ready = self.ready(lowered, source).map_err(|failure| blamed(failure, theirs))?;
        Ok(Some(Ready { theirs, ..ready }))
    }

    fn ready(&self, lowered: Lowered, source: &Source) -> Result<Ready, Failure> {
        let text = || lowered.device.as_ref().map_or_else(|| lowered.text(self.compilation), |device| &device.text);
        self.compilation.begin(|| Begun::Code(text().to_owned()));
        let mut warnings = Vec::new();
        self.check_machine_code(&lowered)?;
        let artifact = match self.args.emit.filter(|emit| !emit.of_library()) {
            None => Some(self.manifest(&lowered, source)?),
            Some(_) => None,
        };
        if let (true, Some((_, manifest))) = (self.makes_library(), &artifact) {
            Library::of(manifest, self.args.prefix.as_deref())?;
        }
        if let (Some(vendor), Some(device), None) = (self.machine.vendor, &lowered.device, self.args.emit) {
            self.accept_device(vendor, device)?;
        }
        let whole = lowered.device.is_none() && matches!(self.args.emit, Some(Emit::Obj | Emit::So | Emit::StaticLib));
        let wanted = self.args.emit.is_none() || whole;
        let host = wanted.then(|| self.accept_host(&lowered, &mut warnings)).transpose()?;
        self.warn(&warnings);
        Ok(Ready { lowered, artifact, host, theirs: false })
    }

    /// What `compile` makes of a program's text. MLIR's places are lines of that text, which nobody sees: a program that it
    /// refuses it gets once more with the places and names that the operations have.
    fn with_places<T>(
        &self,
        text: &str,
        program: &Program,
        mut compile: impl FnMut(&str) -> Result<T, codegen::Error>,
    ) -> Result<T, Failure> {
        compile(text).map_err(|error| match error {
            codegen::Error::Rejected { .. } => {
                of_codegen(compile(&self.compilation.text_with_places(program)).err().unwrap_or(error))
            }
            error => of_codegen(error),
        })
    }

    /// Refuses what the processor has no instructions for, with the places of all of it.
    fn check_machine_code(&self, lowered: &Lowered) -> Result<(), Failure> {
        if lowered.device.is_some() && self.machine.vendor != Some(Vendor::Fibers) {
            return Ok(());
        }
        let target = self.host_target(lowered);
        let processor = Processor::new(&target.triple, &target.features);
        self.refuse_missing(&lowered.program, processor)
    }

    fn refuse_missing(&self, program: &Program, processor: Processor) -> Result<(), Failure> {
        let missing = machine_code::missing(program.module.op_ref(&self.compilation.cx), processor);
        missing.iter().for_each(|diagnostic| self.compilation.tell(diagnostic, self.talk));
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("`{}` has no machine code for what the program needs", self.machine.desc.name);
        Err(Failure::new(Kind::Unsupported, message))
    }

    /// What the host program is compiled for.
    fn host_target(&self, lowered: &Lowered) -> codegen::Target {
        match self.machine.vendor.filter(|_| lowered.device.is_some()) {
            None => self.machine.target.clone(),
            // The kernels are the processor's code too.
            Some(Vendor::Fibers) => codegen::Target::host(),
            // It needs no more than any processor of this kind has.
            Some(_) => codegen::Target::new(codegen::host_triple(), ""),
        }
    }

    /// What the artifact says of itself. Without a host program there is nothing to make an artifact of.
    fn manifest(&self, lowered: &Lowered, source: &Source) -> Result<(HostInterface, Manifest), Failure> {
        let name = self.args.model.display();
        let cannot = |message: &String| Failure::input(format!("`{name}` cannot become an artifact: {message}"));
        let mut interface = lowered.interface.as_ref().map_err(cannot)?.clone();
        if let (Input::Onnx(_), Some(stem)) = (&source.input, self.args.model.file_stem()) {
            // In the IR every imported model is called `main`.
            interface.model = stem.to_string_lossy().into_owned();
        }
        let (cx, costs) = (&self.compilation.cx, self.costs.borrow());
        let target = self.host_target(lowered);
        let mut manifest = artifact::manifest(cx, &interface, (self.machine, &target), &source.hash, &costs)?;
        self.compilation.choices.record(&mut manifest.math);
        artifact::check_constants(cx, &lowered.program.module, &interface)?;
        if let Some(report) = self.report {
            report.memory(&manifest);
        }
        Ok((interface, manifest))
    }

    /// Goes through the stages; none is left when the product was one of theirs.
    fn stages(&self, mut program: Program) -> Result<Option<Lowered>, Failure> {
        let start = program.level();
        self.check_reachable(&program)?;
        self.compilation.choices.refuse_below_graph(start)?;
        // Models in ONNX have names for their sizes once these are propagated.
        if start > Level::Graph {
            likely::declare(&self.compilation.cx, &mut program, &self.args.likely)?;
        }
        if start == Level::Graph && self.product(&mut program, Emit::Graph)? {
            return Ok(None);
        }
        program = self.args.dims.declare(self.compilation, program, self.talk)?;
        match start {
            Level::Fusion => self.report_level(&program, Emit::Fusion)?,
            Level::Kernels => self.report_level(&program, Emit::Gir)?,
            Level::Graph | Level::Upstream => {}
        }
        if let (Some(_), Level::Kernels | Level::Upstream) = (&self.args.kernels.schedule, start) {
            return Err(Failure::usage("--schedule is for fused regions, and the program is made of kernels already"));
        }
        if let (Some(_), Level::Kernels | Level::Upstream) = (self.tuner, start) {
            self.talk.warning("there is nothing to tune: the program is made of kernels already");
        }
        let for_device = |stage: &&'static Stage| self.machine.vendor.is_some() && stage.name == LOWER;
        let own = STAGES.iter().map(|stage| if for_device(&stage) { &LOWER_FOR_DEVICE } else { stage });
        for stage in own.filter(|stage| stage.level >= start) {
            if stage.name == TILE {
                let mut steps = Vec::new();
                if let Some(path) = &self.args.kernels.schedule {
                    steps = schedules::attach(self.compilation, &mut program, path, self.talk)?;
                }
                if let Some(tuner) = self.tuner {
                    program = tuner.tune(self.compilation, program, (self.machine, &mut steps), self.talk)?;
                }
                if self.schedules(&program, &steps)? {
                    return Ok(None);
                }
                self.report_schedules(&program, &steps)?;
            }
            let kernels_alone = for_device(&stage) && !program.has_host(&self.compilation.cx);
            let stage = if kernels_alone { &LOWER_KERNELS_FOR_DEVICE } else { stage };
            program = self.compilation.run(stage, program, self.talk)?;
            if stage.emit == Some(Emit::Gir) {
                self.costs.replace(costs::formulas(&self.compilation.cx, &program.module));
            }
            if stage.emit == Some(Emit::Dyn) {
                likely::declare(&self.compilation.cx, &mut program, &self.args.likely)?;
            }
            if let (Some(vendor), LOWER) = (self.machine.vendor, stage.name) {
                return self.device_stages(vendor, program);
            }
            let interface = self.interface_before_text(stage, &program);
            if let Some(emit) = stage.emit
                && self.product(&mut program, emit)?
            {
                return Ok(None);
            }
            if let Some(interface) = interface {
                return Ok(Some(self.lowered(program, interface)));
            }
        }
        // Upstream operations from the start.
        if let Some(vendor) = self.machine.vendor {
            return self.device_stages(vendor, program);
        }
        let interface = HostInterface::of_module(&self.compilation.cx, &program.module);
        if self.product(&mut program, Emit::Mlir)? {
            return Ok(None);
        }
        Ok(Some(self.lowered(program, interface)))
    }

    /// Printing upstream operations takes the interface off; the last stage's is read before.
    fn interface_before_text(&self, stage: &Stage, program: &Program) -> Option<Result<HostInterface, String>> {
        (stage.emit == Some(Emit::Mlir)).then(|| HostInterface::of_module(&self.compilation.cx, &program.module))
    }

    fn lowered(&self, mut program: Program, interface: Result<HostInterface, String>) -> Lowered {
        self.compilation.strip(&mut program.module);
        Lowered { text: OnceCell::new(), device: None, device_kernels: Vec::new(), interface, program }
    }

    /// A product that lies before what the input is cannot be made.
    fn check_reachable(&self, program: &Program) -> Result<(), Failure> {
        let first = STAGES.iter().filter(|s| s.level >= program.level()).find_map(|s| s.emit).unwrap_or(Emit::Mlir);
        let reached = [(Emit::Graph, Emit::Dyn), (Emit::Schedule, Emit::Gir)];
        let earlier = |emit: Emit| emit < first && !reached.contains(&(emit, first));
        match self.args.emit.filter(|emit| earlier(*emit)) {
            Some(_) => Err(Failure::usage(format!(
                "`{}` is at the {} level already, which comes after the stage asked for",
                self.args.model.display(),
                program.level().name()
            ))),
            None => Ok(()),
        }
    }

    /// Writes the text of a stage where it is wanted; true when it is the product.
    fn product(&self, program: &mut Program, emit: Emit) -> Result<bool, Failure> {
        let wanted = self.args.emit == Some(emit);
        if emit < Emit::Mlir {
            self.report_level(program, emit)?;
        }
        if !wanted && self.args.emit_dir.is_none() && (self.report.is_none() || emit < Emit::Mlir) {
            return Ok(false);
        }
        let text = self.compilation.text(program, emit);
        self.keep(emit, text.as_bytes())?;
        if let Some(report) = self.report.filter(|_| emit == Emit::Mlir) {
            report.text(emit, text.clone());
        }
        if wanted {
            files::write(self.output, text.as_bytes())?;
        }
        Ok(wanted)
    }

    /// Writes the schedules of regions where they are wanted; true when they are the product.
    fn schedules(&self, program: &Program, steps: &[Step]) -> Result<bool, Failure> {
        let wanted = self.args.emit == Some(Emit::Schedule);
        if !wanted && self.args.emit_dir.is_none() {
            return Ok(false);
        }
        let text = schedules::text(self.compilation, program, steps, self.talk)?;
        self.keep(Emit::Schedule, text.as_bytes())?;
        if wanted {
            files::write(self.output, text.as_bytes())?;
        }
        Ok(wanted)
    }

    /// Keeps a level above upstream operations for the report, if there is one.
    fn report_level(&self, program: &Program, emit: Emit) -> Result<(), Failure> {
        let (Some(report), Compilation { cx, heard, .. }) = (self.report, self.compilation) else { return Ok(()) };
        report.level(cx, &program.module, emit, self.machine, &heard.all())
    }

    fn report_schedules(&self, program: &Program, steps: &[Step]) -> Result<(), Failure> {
        let Some(report) = self.report else { return Ok(()) };
        if !steps.is_empty() {
            // What the planner said is of regions that are gone.
            report.level(&self.compilation.cx, &program.module, Emit::Fusion, self.machine, &[])?;
        }
        let scheduled = schedules::written(self.compilation, program, self.talk)?;
        report.schedules(&self.compilation.cx, &program.module, &scheduled.module)
    }

    /// Writes a stage's product into the folder for all of them, if there is one.
    fn keep(&self, emit: Emit, bytes: &[u8]) -> Result<(), Failure> {
        let Some(folder) = &self.args.emit_dir else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|e| Failure::io("create", folder, &e))?;
        let (name, extension) = match emit {
            Emit::Graph => ("graph", "mlir"),
            Emit::Dyn => ("dyn", "mlir"),
            Emit::Fusion => ("fusion", "mlir"),
            Emit::Schedule => ("schedule", "mlir"),
            Emit::Gir => ("gir", "mlir"),
            Emit::Mlir => ("mlir", "mlir"),
            Emit::Llvm => ("llvm", "mlir"),
            Emit::LlvmIr => ("llvm-ir", "ll"),
            Emit::Asm => ("asm", "s"),
            Emit::Obj => ("obj", "o"),
            Emit::So => ("host", "so"),
            Emit::Ptx => ("ptx", "ptx"),
            Emit::Cubin => ("cubin", "cubin"),
            Emit::Hsaco => ("hsaco", "hsaco"),
            Emit::Spirv => ("spirv", "spv"),
            Emit::StaticLib => ("static-lib", "a"),
            Emit::CHeader => ("c-header", "h"),
        };
        files::write(&folder.join(format!("{}-{name}.{extension}", emit as usize + 1)), bytes)
    }

    /// From upstream operations to machine code, and the artifact.
    fn back_end(&self, mut ready: Ready) -> Result<Option<Made>, Failure> {
        if let Some(vendor) = self.machine.vendor.filter(|_| ready.lowered.device.is_some()) {
            return self.device_back_end(vendor, ready);
        }
        if self.texts(&ready.lowered)? {
            return Ok(None);
        }
        if self.makes_library() {
            return self.library(ready).map(|()| None);
        }
        match self.shared_object(&mut ready)? {
            None => Ok(None),
            Some(host) => self.part(ready.artifact, ready.lowered.program, (host, None)).map(Some),
        }
    }

    /// Writes the levels below upstream operations that are wanted as text; true when one is the product.
    fn texts(&self, lowered: &Lowered) -> Result<bool, Failure> {
        let name = self.args.model.display().to_string();
        let target = &self.machine.target;
        let mut warnings = Vec::new();
        let keep_all = self.args.emit_dir.is_some();
        let reported = |emit: Emit| self.report.is_some_and(|r| r.with_assembly || emit == Emit::Llvm);
        let wanted = |emit: Emit| keep_all || self.args.emit == Some(emit) || reported(emit);
        for emit in [Emit::Llvm, Emit::LlvmIr, Emit::Asm] {
            if wanted(emit) {
                let product =
                    self.with_places(lowered.text(self.compilation), &lowered.program, |text| match emit {
                        Emit::Llvm => codegen::emit_llvm_dialect(text, &name, &mut warnings),
                        Emit::LlvmIr => codegen::emit_llvm_ir(text, &name, target, &mut warnings),
                        _ => codegen::emit_assembly(text, &name, target, &mut warnings),
                    })?;
                self.keep(emit, product.as_bytes())?;
                if let Some(report) = self.report.filter(|_| reported(emit)) {
                    report.text(emit, product.clone());
                }
                if self.args.emit == Some(emit) {
                    self.warn(&warnings);
                    return files::write(self.output, product.as_bytes()).map(|()| true);
                }
            }
        }
        Ok(false)
    }

    /// The artifact's part for the machine: the host's code, and a device's.
    fn part(
        &self,
        artifact: Option<(HostInterface, Manifest)>,
        program: Program,
        (host, device): (Vec<u8>, Option<Vec<u8>>),
    ) -> Result<Made, Failure> {
        let artifact = artifact.ok_or_else(|| Failure::internal("the interface was checked and is gone"))?;
        let (interface, manifest) = artifact;
        Ok(Made { name: self.machine.desc.name.clone(), manifest, host, device, interface, program })
    }

    /// Runs the artifact for the report.
    fn measure(&self, report: &Report) -> Result<(), Failure> {
        let start = Instant::now();
        let said = report.measure(self.output)?;
        said.iter().for_each(|diagnostic| self.compilation.tell(diagnostic, self.talk));
        self.talk.stage("measure", &format!("{} launches", said.len()), start.elapsed());
        Ok(())
    }

    fn warn(&self, warnings: &[codegen::Diagnostic]) {
        for warning in warnings {
            match warning.severity {
                codegen::Severity::Warning => self.talk.warning(&warning.to_string()),
                _ => self.talk.detail(&warning.to_string()),
            }
        }
    }
}

/// What MLIR refuses is an error of the input where that has such operations, else of sutura.
fn blamed(failure: Failure, theirs: bool) -> Failure {
    match failure.kind {
        Kind::Rejected if theirs => Failure { kind: Kind::Input, ..failure },
        Kind::Rejected => {
            let message = format!("sutura made code that it cannot compile: {}", failure.message);
            Failure { kind: Kind::Internal, message, ..failure }
        }
        _ => failure,
    }
}
