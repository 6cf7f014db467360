//! The stages of a compilation, in one list, and the program on its way through them.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use clap::ValueEnum;
use sutura_dialects::func::FuncOp;
use sutura_dialects::rt::{GROUPS_ATTR, KERNEL_ATTR, ProgramOp};
use sutura_dialects::target::ops::MachineOp;
use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::diagnostics::{Diagnostic, Diagnostics, Severity};
use sutura_ir::pass::{Event, PassError, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Module, Op, OpRef, Rewriter, Type};
use sutura_passes::channels_last::CHANNELS_LAST;
use sutura_passes::fold_into_weights::FOLD_INTO_WEIGHTS;
use sutura_passes::gpu_narrow_indices::GPU_NARROW_INDICES;
use sutura_passes::graph_operator_rewrite::GRAPH_OPERATOR_REWRITE;
use sutura_passes::graph_property_rewrite::GRAPH_PROPERTY_REWRITE;
use sutura_passes::graph_to_gir::{CONVERT_GRAPH_TO_GIR, SCHEDULE_REGIONS};
use sutura_passes::integer_products::INTEGER_PRODUCTS;
use sutura_passes::narrow_products::NARROW_PRODUCTS;
use sutura_passes::refine_fusion_plan::REFINE_FUSION_PLAN;
use sutura_passes::rt_to_upstream::HOST_ATTR;
use sutura_passes::stages;
use sutura_passes::stitch::STITCH;

use crate::cache::Cache;
use crate::cli::Search;
use crate::failure::{Failure, Kind};
use crate::kernels::Choices;
use crate::machine::{Machine, Vendor, Wanted};
use crate::remarks::Heard;
use crate::storage::{self, ModelFiles};
use crate::talk::Talk;

/// A product before the artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Emit {
    /// The model as tensor operators
    Graph,
    /// With symbolic shapes everywhere
    Dyn,
    /// With fused regions
    Fusion,
    /// The schedules of regions, which `--schedule` takes
    Schedule,
    /// Kernels as tile programs, and the host program
    Gir,
    /// Upstream dialects, generic form
    Mlir,
    /// The LLVM dialect
    Llvm,
    /// LLVM IR, optimised
    LlvmIr,
    /// Assembly
    Asm,
    /// An object
    Obj,
    /// The shared object of an artifact
    So,
    /// Device code for NVIDIA, as text
    Ptx,
    /// Device code for NVIDIA, assembled by `ptxas` of the CUDA toolkit
    Cubin,
    /// Device code for AMD, a code object
    Hsaco,
    /// Device code for Vulkan
    Spirv,
    /// The model as a static library for C and C++, which needs no runtime
    StaticLib,
    /// The header of that library
    CHeader,
}

impl Emit {
    /// Whether it is a library or a part of one.
    pub(crate) fn of_library(self) -> bool {
        matches!(self, Self::StaticLib | Self::CHeader)
    }

    /// Whether only a device beside the processor has it.
    pub(crate) fn of_device(self) -> bool {
        matches!(self, Self::Ptx | Self::Cubin | Self::Hsaco | Self::Spirv)
    }
}

/// How far down a program is. A stage runs on programs of its level and above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Tensor operators.
    Graph,
    /// Fused regions.
    Fusion,
    /// Kernels and a host program.
    Kernels,
    /// Only upstream operations.
    Upstream,
}

impl Level {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Fusion => "fusion",
            Self::Kernels => "gir",
            Self::Upstream => "mlir",
        }
    }
}

/// One step down.
pub(crate) struct Stage {
    /// Name, shown to the user.
    pub(crate) name: &'static str,
    /// Programs of this level and above go through it.
    pub(crate) level: Level,
    /// The passes, as a pipeline on `builtin.module`.
    pub(crate) passes: &'static str,
    /// What its result is called with `--emit`.
    pub(crate) emit: Option<Emit>,
}

/// The stage that makes kernels of regions.
pub(crate) const TILE: &str = "tile";

/// The stage that makes upstream operations of kernels.
pub(crate) const LOWER: &str = "lower";

/// All stages, in order. Before the first one the description of the machine is put into the module: what `attach-target`
/// does with those that are built in.
pub(crate) const STAGES: &[Stage] = &[
    Stage { name: "shapes", level: Level::Graph, passes: stages::SHAPES, emit: Some(Emit::Dyn) },
    Stage { name: "stitch", level: Level::Graph, passes: stages::STITCH, emit: Some(Emit::Fusion) },
    Stage { name: TILE, level: Level::Fusion, passes: stages::TILE, emit: None },
    Stage { name: "tensorize", level: Level::Fusion, passes: stages::TENSORIZE, emit: Some(Emit::Gir) },
    Stage { name: LOWER, level: Level::Kernels, passes: stages::LOWER, emit: Some(Emit::Mlir) },
];

/// Writes schedules to regions, for those who want to read them.
pub(crate) const SCHEDULE: Stage =
    Stage { name: "schedule", level: Level::Fusion, passes: stages::SCHEDULE, emit: Some(Emit::Schedule) };

/// The last stage of the host program for devices beside the processor; kernels are modules of device code then.
pub(crate) const LOWER_FOR_DEVICE: Stage =
    Stage { name: LOWER, level: Level::Kernels, passes: stages::LOWER_FOR_DEVICE, emit: None };

/// The same of a program that is kernels alone, which is good for device code and nothing else.
pub(crate) const LOWER_KERNELS_FOR_DEVICE: Stage =
    Stage { passes: stages::LOWER_KERNELS_FOR_DEVICE, ..LOWER_FOR_DEVICE };

/// The stage of device code alone.
pub(crate) fn device_stage(vendor: Vendor) -> Stage {
    let passes = match vendor {
        Vendor::Nvidia => "convert-gpu-to-nvvm",
        Vendor::Amd => "convert-gpu-to-rocdl",
        Vendor::Khronos => "convert-gpu-to-spirv",
        Vendor::Fibers => "convert-gpu-to-fibers",
    };
    Stage { name: "device", level: Level::Upstream, passes, emit: Some(Emit::Mlir) }
}

/// Percent of the usual mapping's time that another one must be predicted to save: predictions are off by a factor of 1.6, and
/// a choice by less would be a guess (docs/rationale/schedule-search.md).
const LEAST_SAVING: u32 = 40;

/// The word of `--fast-math` for products of quantized numbers as integers, which is no flag of floats and not one of `fast`.
pub(crate) const INTEGERS: &str = "integers";

/// The word of `--fast-math` for convolutions by Winograd's algorithm, of the same kind.
pub(crate) const WINOGRAD: &str = "winograd";

/// Everything that programs are read and changed with.
pub(crate) struct Compilation {
    pub(crate) cx: Context,
    passes: PassRegistry,
    /// What passes remark.
    pub(crate) heard: Heard,
    /// What passes may and are to do.
    pub(crate) choices: Choices,
    /// Option of `--index-limit`.
    pub(crate) index_limit: Option<i64>,
    /// How mappings are chosen.
    pub(crate) search: Search,
    /// Keeps what the stage that runs has begun with, for a reproducer, if anything.
    pub(crate) begun: Option<RefCell<Option<Begun>>>,
    /// Looks at the program that was read, and at that after each stage.
    pub(crate) watch: Option<Watch>,
    /// What it found.
    pub(crate) watched: RefCell<Vec<String>>,
    /// What the model was read from.
    pub(crate) files: ModelFiles,
    /// What was compiled before, if that counts.
    pub(crate) cache: Option<Cache>,
}

/// What somebody who watches finds in a program after a stage, or after `read`.
pub type Watch = fn(&str, &Context, &Module) -> Vec<String>;

/// What can be done again.
#[derive(Clone, Debug)]
pub(crate) enum Begun {
    /// A pipeline, with the program that it gets.
    Passes { program: String, pipeline: String },
    /// Code generation, with the text that MLIR gets.
    Code(String),
}

#[cfg(test)]
thread_local! {
    /// A pass that compilations of this thread begin the stage [`TILE`] with.
    pub(crate) static PLANTED: std::cell::Cell<Option<&'static sutura_ir::pass::PassInfo>> =
        const { std::cell::Cell::new(None) };
}

/// A program somewhere on its way.
pub(crate) struct Program {
    pub(crate) module: Module,
    ops: usize,
    kernels: usize,
    fusions: usize,
    level: Level,
}

impl Compilation {
    pub(crate) fn new() -> Self {
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        #[cfg(test)]
        if let Some(pass) = PLANTED.get() {
            passes.add(pass);
        }
        let mut cx = Context::new(sutura_dialects::all());
        cx.keep_large(storage::beside(None));
        Self {
            cx,
            passes,
            heard: Heard::default(),
            choices: Choices::default(),
            index_limit: None,
            search: Search::Off,
            begun: None,
            watch: None,
            watched: RefCell::default(),
            files: ModelFiles::default(),
            cache: None,
        }
    }

    /// The same; large constants lie beside `output`, where there must be place for them anyway.
    pub(crate) fn storing_beside(mut self, output: &Path) -> Self {
        if output.as_os_str() != "-" {
            self.cx.keep_large(storage::beside(Some(output)));
        }
        self
    }

    /// The same, and remarks are kept.
    pub(crate) fn listening() -> Self {
        Self { heard: Heard::listening(), ..Self::new() }
    }

    /// Tells a diagnostic to whoever listens.
    pub(crate) fn tell(&self, diagnostic: &Diagnostic, talk: &Talk) {
        self.heard.hear(diagnostic);
        talk.diagnostic(&self.cx, diagnostic);
    }

    /// Reads and verifies IR of any level.
    pub(crate) fn parse(&self, text: &str, path: &Path, talk: &Talk) -> Result<Program, Failure> {
        let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
        self.parse_with(text, path, &options, talk)
    }

    /// The same, read in a way of one's own.
    pub(crate) fn parse_with(
        &self,
        text: &str,
        path: &Path,
        options: &ParseOptions,
        talk: &Talk,
    ) -> Result<Program, Failure> {
        self.cx.sources().set_input(path.display().to_string());
        self.parsed(text, path, options, talk)
    }

    /// Reads and verifies IR that comes with a program.
    pub(crate) fn parse_beside(&self, text: &str, path: &Path, talk: &Talk) -> Result<Program, Failure> {
        self.parsed(text, path, &ParseOptions::default(), talk)
    }

    fn parsed(&self, text: &str, path: &Path, options: &ParseOptions, talk: &Talk) -> Result<Program, Failure> {
        let name = path.display().to_string();
        let source =
            self.cx.sources().add(name.as_str(), text).map_err(|e| Failure::input(format!("`{name}`: {e}")))?;
        let mut diags = Diagnostics::default();
        let parsed = parse_module(&self.cx, &source, options, &mut diags);
        let verified = parsed.and_then(|module| {
            let options = VerifyOptions { allow_unregistered: true };
            verify(module.op_ref(&self.cx), options, &mut diags).map(|()| module)
        });
        diags.iter().for_each(|d| talk.diagnostic(&self.cx, d));
        match verified {
            Ok(module) => Ok(self.program(module)),
            Err(_) => {
                let errors = diags.errors();
                let noun = if errors == 1 { "error" } else { "errors" };
                Err(Failure::input(format!("`{name}` has {errors} {noun}")))
            }
        }
    }

    /// Puts the description of the machine into the module.
    pub(crate) fn attach(
        &self,
        mut program: Program,
        wanted: Wanted<'_>,
        talk: &Talk,
    ) -> Result<(Program, Machine), Failure> {
        let machine = wanted.attach(&self.cx, &mut program.module, talk)?;
        // Kernels may use what this machine does not have.
        let mut diags = Diagnostics::default();
        let options = VerifyOptions { allow_unregistered: true };
        let verified = verify(program.module.op_ref(&self.cx), options, &mut diags);
        diags.iter().for_each(|d| talk.diagnostic(&self.cx, d));
        match verified {
            Ok(()) => Ok((self.program(program.module), machine)),
            Err(_) => Err(Failure::input(format!("the program does not fit the machine `{}`", machine.desc.name))),
        }
    }

    /// Looks at what a module holds.
    pub(crate) fn program(&self, module: Module) -> Program {
        let entry = module.op_ref(&self.cx).region(0).and_then(|r| r.entry());
        let mut program = Counts::default();
        // Neither the module itself nor the description of the machine is part of the program.
        for op in entry.into_iter().flat_map(|e| e.ops()).filter(|op| !op.is::<MachineOp<'_>>()) {
            program.tensors += usize::from(takes_tensors(op));
            op.walk(&mut |op| program.see(op.name_str(), op.attr(KERNEL_ATTR).is_some()));
        }
        let ops = program.ops;
        let level = match (program.graph, program.fusions, program.gir + program.rt) {
            (_, 1.., _) => Level::Fusion,
            (1.., ..) => Level::Graph,
            (0, 0, 1..) => Level::Kernels,
            // Such as one that only passes on what it is given.
            _ if program.tensors > 0 => Level::Graph,
            _ => Level::Upstream,
        };
        Program { module, ops, kernels: program.kernels, fusions: program.fusions, level }
    }

    /// The passes of a stage, with the options that the user gave.
    fn passes_of(&self, stage: &Stage) -> String {
        let with = |passes: String, pass: &str, options: String| passes.replace(pass, &format!("{pass}{{{options}}}"));
        let mut passes = stage.passes.to_string();
        #[cfg(test)]
        if let Some(pass) = PLANTED.get().filter(|_| stage.name == TILE) {
            passes = format!("{},{passes}", pass.argument);
        }
        let Choices { fast_math, precision, fusion } = &self.choices;
        let asked = |word: &str| fast_math.iter().any(|flag| flag == word);
        let of_floats = |flag: &&str| ![INTEGERS, WINOGRAD].contains(flag);
        let flags: Vec<&str> = fast_math.iter().map(String::as_str).filter(of_floats).collect();
        if asked(WINOGRAD) {
            let layouts = CHANNELS_LAST.argument;
            passes = passes.replace(layouts, &format!("{layouts},{}", sutura_passes::winograd::WINOGRAD.argument));
        }
        if asked(INTEGERS) {
            let rewrite = GRAPH_PROPERTY_REWRITE.argument;
            let before = format!("{}{{allow-rounding=true}},{rewrite}", INTEGER_PRODUCTS.argument);
            passes = passes.replace(rewrite, &before);
        }
        if !flags.is_empty() {
            let options = format!("fast-math={}", flags.join(","));
            passes = with(passes, GRAPH_PROPERTY_REWRITE.argument, options.clone());
            passes = with(passes, FOLD_INTO_WEIGHTS.argument, options.clone());
            passes = with(passes, GRAPH_OPERATOR_REWRITE.argument, options);
        }
        if let Some(element) = precision.rounds_to() {
            passes = with(passes, NARROW_PRODUCTS.argument, format!("precision={element}"));
        }
        if fusion.no_fusion && stage.name == "stitch" {
            passes = passes.replace(&format!(",{}", REFINE_FUSION_PLAN.argument), "");
            passes = with(passes, STITCH.argument, "max-ops=1".to_owned());
        }
        if let Some(limit) = self.index_limit {
            passes = with(passes, GPU_NARROW_INDICES.argument, format!("limit={limit}"));
        }
        if self.search == Search::Predict {
            for pass in [CONVERT_GRAPH_TO_GIR.argument, SCHEDULE_REGIONS.argument] {
                passes = with(passes, pass, format!("search=predict least-saving={LEAST_SAVING}"));
            }
        }
        passes
    }

    /// Runs one stage.
    pub(crate) fn run(&self, stage: &Stage, program: Program, talk: &Talk) -> Result<Program, Failure> {
        let start = Instant::now();
        let text = format!("builtin.module({})", self.passes_of(stage));
        talk.detail(&format!("passes: {text}"));
        let mut diags = Diagnostics::default();
        let Ok(mut manager) = parse_pipeline(&self.cx, &self.passes, stage.name, &text, &mut diags) else {
            diags.iter().for_each(|d| talk.diagnostic(&self.cx, d));
            return Err(Failure::internal(format!(
                "this build of sutura lacks the stage `{}` or a part of it",
                stage.name
            )));
        };
        let mut module = program.module;
        self.begin(|| Begun::Passes {
            program: module_text(&self.cx, &module, &PrintOptions::default()),
            pipeline: text.clone(),
        });
        // Operations that nobody declares may come with the program; a stage makes none.
        let verify = VerifyOptions { allow_unregistered: has_unregistered(module.op_ref(&self.cx)) };
        let config = RunConfig {
            verify_each: true,
            verify,
            no_remarks: !self.heard.listening && !talk.shows_remarks(),
            ..RunConfig::default()
        };
        let mut errors = 0;
        talk.begin(stage.name);
        let (_, result) = run_pipeline(&self.cx, &mut module, &mut manager, &config, &mut |event| match event {
            Event::Diagnostic(diagnostic) => {
                errors += usize::from(diagnostic.severity == Severity::Error);
                self.tell(&diagnostic, talk);
            }
            Event::Dump(dump) => talk.note(&dump.text),
            Event::Text(text) => talk.note(&text),
        });
        if let Err(error) = result {
            return Err(stage_failure(stage.name, error, errors));
        }
        self.look(stage.name, &module);
        let program = self.program(module);
        talk.stage(stage.name, &program.summary(), start.elapsed());
        Ok(program)
    }

    /// Whether somebody wants to know more than the result.
    pub(crate) fn is_watched(&self) -> bool {
        self.watch.is_some() || self.begun.is_some() || self.heard.listening
    }

    /// Lets whoever watches look at a program.
    pub(crate) fn look(&self, stage: &str, module: &Module) {
        if let Some(watch) = self.watch {
            self.watched.borrow_mut().extend(watch(stage, &self.cx, module));
        }
    }

    /// Keeps what begins now, if that is wanted.
    pub(crate) fn begin(&self, what: impl FnOnce() -> Begun) {
        if let Some(begun) = &self.begun {
            begun.replace(Some(what()));
        }
    }

    /// The program as text: generic form for upstream operations, so that mlir-opt takes it as it is.
    pub(crate) fn text(&self, program: &mut Program, emit: Emit) -> String {
        if emit < Emit::Mlir {
            return module_text(&self.cx, &program.module, &PrintOptions::default());
        }
        self.strip(&mut program.module);
        self.stripped_text(program)
    }

    /// The text of a program in upstream operations from which [`strip`](Self::strip) has taken the rest.
    pub(crate) fn stripped_text(&self, program: &Program) -> String {
        module_text(&self.cx, &program.module, &PrintOptions::generic())
    }

    /// A program that [`text`](Self::text) has printed, with the places of its operations.
    pub(crate) fn text_with_places(&self, program: &Program) -> String {
        module_text(&self.cx, &program.module, &PrintOptions { debug_info: true, ..PrintOptions::generic() })
    }

    /// Takes off what only sutura understands: attributes for later stages, the description of the machine.
    pub(crate) fn strip(&self, module: &mut Module) {
        let top = module.op();
        let block = module.body().entry_block();
        let ops: Vec<_> = block.into_iter().flat_map(|b| module.body().ops(b)).collect();
        Rewriter::new(&self.cx, module.root_mut()).set_attr(top, HOST_ATTR, None);
        let mut rewriter = Rewriter::new(&self.cx, module.body_mut());
        for op in ops {
            if rewriter.op_ref(op).is::<MachineOp<'_>>() {
                rewriter.erase_op(op);
            } else {
                rewriter.set_attr(op, KERNEL_ATTR, None);
                self.strip_device(&mut rewriter, op);
            }
        }
    }

    /// The same for the kernels in a module of device code.
    fn strip_device(&self, rewriter: &mut Rewriter<'_>, module: Op) {
        if !matches!(rewriter.op_ref(module).name_str(), "gpu.module" | "spirv.module") {
            return;
        }
        rewriter.edit_nested(module, |inside| {
            let functions: Vec<Op> = inside.preorder().collect();
            let mut rewriter = Rewriter::new(&self.cx, inside);
            for function in functions {
                for attr in [KERNEL_ATTR, GROUPS_ATTR] {
                    rewriter.set_attr(function, attr, None);
                }
            }
        });
    }

    /// Takes modules of device code out of a program, with the description of the machine; how many there are.
    pub(crate) fn take_device(&self, program: Program) -> (Program, Program, usize) {
        let is_device = |op: OpRef<'_>| matches!(op.name_str(), "gpu.module" | "spirv.module");
        let (mut host, mut device) = (program.module.clone(), program.module);
        let modules = self.keep(&mut host, |op| !is_device(op));
        self.keep(&mut device, |op| is_device(op) || op.is::<MachineOp<'_>>());
        let top = device.op();
        Rewriter::new(&self.cx, device.root_mut()).set_attr(top, HOST_ATTR, None);
        (self.program(host), self.program(device), modules)
    }

    /// Erases what is not wanted; how much that was.
    fn keep(&self, module: &mut Module, wanted: impl Fn(OpRef<'_>) -> bool) -> usize {
        let body = module.body_mut();
        let ops: Vec<Op> = body.entry_block().into_iter().flat_map(|block| body.ops(block)).collect();
        let mut rewriter = Rewriter::new(&self.cx, body);
        let unwanted: Vec<Op> = ops.into_iter().filter(|op| !wanted(rewriter.op_ref(*op))).collect();
        unwanted.iter().for_each(|op| rewriter.erase_op(*op));
        unwanted.len()
    }
}

/// Whether an operation is a function with tensors among its arguments or results.
fn takes_tensors(op: OpRef<'_>) -> bool {
    let Some(function) = op.as_::<FuncOp<'_>>() else { return false };
    let is_tensor = |ty: &Type| ty.is_tensor(op.cx);
    let signature = op.cx.signature(function.function_type());
    signature.is_some_and(|(inputs, results)| inputs.iter().chain(results).any(is_tensor))
}

pub(crate) fn has_unregistered(root: OpRef<'_>) -> bool {
    let mut found = false;
    root.walk(&mut |op| found |= op.def().is_none());
    found
}

fn stage_failure(stage: &str, error: PassError, errors: usize) -> Failure {
    let noun = if errors == 1 { "error" } else { "errors" };
    let message = format!("the stage `{stage}` failed with {errors} {noun}");
    match error {
        PassError::Failed => Failure::input(message),
        PassError::Unsupported => Failure::new(Kind::Unsupported, message),
        PassError::Verification => Failure::new(Kind::Verification, message),
        PassError::Internal => Failure::internal(message),
    }
}

#[derive(Default)]
struct Counts {
    ops: usize,
    graph: usize,
    fusions: usize,
    gir: usize,
    rt: usize,
    kernels: usize,
    /// Functions of tensors.
    tensors: usize,
}

impl Counts {
    fn see(&mut self, name: &str, annotated: bool) {
        self.ops += 1;
        self.graph += usize::from(name.starts_with("graph."));
        self.fusions += usize::from(name == "graph.fusion");
        self.gir += usize::from(name.starts_with("gir."));
        self.rt += usize::from(name.starts_with("rt."));
        self.kernels += usize::from(annotated || name == "gir.kernel");
    }
}

impl Program {
    /// The same, of a level that is known.
    pub(crate) fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Number of fused regions.
    pub(crate) fn fusions(&self) -> usize {
        self.fusions
    }

    /// Whether there is a host program.
    pub(crate) fn has_host(&self, cx: &Context) -> bool {
        let body = self.module.body();
        body.preorder().any(|op| OpRef::new(cx, body, op).is::<ProgramOp<'_>>())
    }

    pub(crate) fn count_ops(&self) -> usize {
        self.ops
    }

    /// Number of operations, and of what they are grouped in.
    pub(crate) fn summary(&self) -> String {
        let count = |n: usize, what: &str| match n {
            0 => String::new(),
            1 => format!(", 1 {what}"),
            n => format!(", {n} {what}s"),
        };
        format!("{} ops{}{}", self.ops, count(self.fusions, "fused region"), count(self.kernels, "kernel"))
    }
}
