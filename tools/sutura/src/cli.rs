//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use sutura_import::onnx::GivenShape;
use sutura_input::whole_number;
use sutura_ir::diagnostics::exit::{self, Exit};
use sutura_run::args::{BenchArgs, InspectArgs, RunArgs, Running, Talking, VerifyArgs, size as parse_size, threads};
use sutura_run::shell::{CompletionsArgs, ManualArgs};

use crate::dims::Dims;
use crate::kernels::{Choices, Fusion, Given, Kernels};
use crate::library::parse_prefix;
use crate::pipeline::Emit;

/// Said below the help of the tool and of its commands.
fn exit_codes() -> String {
    exit::help(&[
        Exit::Ok,
        Exit::Input,
        Exit::Usage,
        Exit::Unsupported,
        Exit::Corrupt,
        Exit::System,
        Exit::Mismatch,
        Exit::Internal,
        Exit::Verification,
        Exit::Interrupted,
    ])
}

/// Said below the help of `sutura fmt`.
fn formatted() -> String {
    format!("{FORMATTED}\n\n{}", exit::help(&sutura_fmt::EXITS))
}

/// Said below the help of `sutura extract`.
fn extracted() -> String {
    format!("{EXTRACTED}\n\n{}", exit_codes())
}

/// Said below the help of `sutura target`.
const TARGETS: &str = "\
Machines are described by files `NAME.mlir` with one `target.machine` each. They are looked for in --target-file, the folders \
of $SUTURA_TARGET_PATH, `sutura/targets` in the user's configuration, and those built in; the first one found counts.";

/// Said below the help of `sutura devices`.
const DEVICES: &str = "\
`cpu` is always there. Other devices have the name in front, as `cuda:0` (NVIDIA), `rocm:0` (AMD), `vulkan:0`; `cuda` is the first one \
of NVIDIA, `lavapipe` the one of Vulkan that is the processor, and a part of the name behind it will do. There are those whose drivers \
are installed; SUTURA_CUDA_LIBRARY and SUTURA_HIP_LIBRARY name the drivers' libraries where they are elsewhere, VK_DRIVER_FILES \
restricts Vulkan's. `cpu-fibers` runs kernels for GPUs on the processor, and checks what they access. A device that is missing is \
no error.";

/// Said below the help of `sutura extract`.
const EXTRACTED: &str = "\
Names are those of the model: of values of an ONNX model's outermost graph, of values in IR text with or without `%`. A list is separated \
by commas; a name that holds a comma is given by an option of its own. What is kept of an ONNX model is kept byte for byte: nodes, \
weights, functions. External data stay where they are if the part lies in the model's folder, and are copied into PART.onnx.data if not.";

/// Said below the help of `sutura fmt`.
const FORMATTED: &str = "\
Of a folder all `*.mlir` files are formatted. Files that `// -----` splits are formatted part by part; parts with \
`expected-error` that are no valid program stay as they are. Line numbers in comments, such as `@+2`, are not changed. A file is \
written only if it still holds the same program and the same comments.";

/// Compiles tensor programs with dynamic shapes to native code, and runs them.
#[derive(Debug, Parser)]
#[command(name = "sutura", version, after_help = exit_codes(), max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) talking: Talking,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compiles a model to an artifact, or to any stage before it
    #[command(after_help = exit_codes())]
    Compile(Box<CompileArgs>),
    /// Runs an artifact, or a model that it compiles for that, on tensors from files or on made ones
    #[command(after_help = exit_codes())]
    Run(Box<ModelRunArgs>),
    /// Times an artifact or a model at many shapes, beside onnxruntime where Python has it
    #[command(after_help = exit_codes())]
    Bench(Box<ModelBenchArgs>),
    /// Shows what an artifact says about itself
    #[command(after_help = exit_codes())]
    Inspect(InspectArgs),
    /// Says whether artifacts are as they were written, and run on this machine
    #[command(after_help = exit_codes())]
    Verify(VerifyArgs),
    /// Says whether a model can be compiled, and everything in it that cannot: goes through every stage but code generation
    #[command(after_help = exit_codes())]
    Check(CheckArgs),
    /// Looks for errors of the compiler in a model
    Debug {
        #[command(subcommand)]
        command: DebugCommand,
    },
    /// Makes a model of the part of a model that lies between values
    #[command(after_help = extracted())]
    Extract(ExtractArgs),
    /// Formats IR as text in place, with all comments and names
    #[command(after_help = formatted())]
    Fmt(FmtArgs),
    /// Shows the machines that code can be generated for
    #[command(after_help = TARGETS)]
    Target(TargetArgs),
    /// Shows the processor and the GPUs of this machine, with their limits; with `--message-format=json` a JSON object per line
    #[command(after_help = DEVICES)]
    Devices,
    /// Looks whether what compiling and running need is there, and says what is absent
    Doctor,
    /// Writes a script with which a shell completes commands and flags
    Completions(CompletionsArgs),
    /// Writes pages for `man`
    Manual(ManualArgs),
    /// Explains a code of a message, such as E0003, with an example that fails and one that does not
    Explain {
        /// The code
        code: String,
    },
}

/// How the schedules of regions are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Search {
    /// The usual ones
    Off,
    /// All are priced, and another than the usual one is taken where it is predicted to save 40 %
    #[default]
    Predict,
}

#[derive(Args, Debug, Default)]
pub(crate) struct CompileArgs {
    /// An ONNX model, or IR of any level as text; told apart by content
    pub(crate) model: PathBuf,
    /// Where the product goes; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The machine that code is generated for: `host` (this one, the default), or a name that `sutura target list` shows.
    /// Several make one artifact for all of them, of which a load takes what fits: `cuda:sm_80,cuda:sm_90,host`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// A file that describes a machine, one `target.machine`; without `--target` code is generated for it
    #[arg(long, value_name = "FILE")]
    pub(crate) target_file: Option<PathBuf>,
    /// Values that sizes of the model likely have: kernels over so many columns have versions of their own, which know it,
    /// beside those for any number. The most likely first, as `seq=128,seq=512`
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse_size)]
    pub(crate) likely: Vec<(String, i64)>,
    #[command(flatten)]
    pub(crate) dims: Dims,
    /// Stops at a stage and writes its product instead of an artifact
    #[arg(long, value_enum, value_name = "STAGE")]
    pub(crate) emit: Option<Emit>,
    /// What the names of a library begin with; the model's name by default. The header and the library must have the same
    #[arg(long, value_name = "NAME", value_parser = parse_prefix)]
    pub(crate) prefix: Option<String>,
    /// Also writes the text of every stage into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) emit_dir: Option<PathBuf>,
    /// Says what every pass did, left undone and found out, and where; on stderr, or with `=FILE` in a file: a JSON object
    /// per line if it is called `*.json`, text otherwise
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[allow(clippy::option_option, reason = "clap's way to say that a flag may have a value")]
    pub(crate) remarks: Option<Option<PathBuf>>,
    /// Also writes a page about the compilation: every level, the plan, what kernels move, compute and should take
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Values of the model's sizes that the report's figures are for; those that the model declares likely by default, or
    /// 128 where it declares none
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse_size, requires = "report")]
    pub(crate) report_sizes: Vec<(String, i64)>,
    /// Runs the artifact at the report's sizes on one thread of this machine, and shows measured times beside predictions
    #[arg(long, requires = "report")]
    pub(crate) report_measure: bool,
    /// Shows assembly and optimised LLVM IR in the report as well
    #[arg(long, requires = "report")]
    pub(crate) report_asm: bool,
    /// How the schedules of fused regions are chosen, for the sizes that the model declares likely
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    pub(crate) search: Search,
    /// Measures, on this machine or a device of it, which operations are best one kernel, among what is predicted to be near the
    /// best; then every fused region by the schedules that are predicted to be fastest: register tiles of products, columns of a
    /// tile, rows that stay in a cache, parts of sums, and others. Takes the fastest
    #[arg(long)]
    pub(crate) tune: bool,
    /// Keeps what `--tune` chose, by kernels and machine: what the file holds is not measured again
    #[arg(long, value_name = "FILE", requires = "tune")]
    pub(crate) tune_cache: Option<PathBuf>,
    /// Values of the model's sizes that `--tune` measures at; those that the model declares likely by default, or 128 where it
    /// declares none
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse_size, requires = "tune")]
    pub(crate) tune_sizes: Vec<(String, i64)>,
    /// Threads that run what `--tune` measures
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024), requires = "tune")]
    pub(crate) tune_threads: u16,
    #[command(flatten)]
    pub(crate) kernels: Kernels,
    /// What indices of kernels for GPUs may be in 32 bits: less than they could makes small sizes take the kernels with 64
    /// bits, for tests
    #[arg(long, value_name = "N", hide = true, value_parser = index_limit)]
    pub(crate) index_limit: Option<i64>,
    /// Where a reproducer goes if sutura itself fails; a new file among the temporary ones by default
    #[arg(long, value_name = "FILE")]
    pub(crate) reproducer: Option<PathBuf>,
    /// Threads for compiling; all cores by default
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<u16>,
    /// Compiles everything anew, and keeps nothing for the next time. Without it, what was compiled before is taken from
    /// `$SUTURA_CACHE_DIR`, by default `$XDG_CACHE_HOME/sutura` or `~/.cache/sutura`, which holds up to `$SUTURA_CACHE_SIZE`
    /// (2G)
    #[arg(long)]
    pub(crate) no_cache: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

fn index_limit(text: &str) -> Result<i64, String> {
    let number = whole_number(text).filter(|n| (1..=i64::from(i32::MAX)).contains(n));
    number.ok_or_else(|| "expected a whole number from 1 to 2147483647".to_owned())
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// An ONNX model, or IR of any level as text
    pub(crate) model: PathBuf,
    /// The machines that the model is to be compiled for, as for `compile`; `host` (this one) by default
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) target: Vec<String>,
    /// A file that describes a machine, one `target.machine`
    #[arg(long, value_name = "FILE")]
    pub(crate) target_file: Option<PathBuf>,
    /// Writes what the model uses as a JSON object: operators, sizes, routines
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) dims: Dims,
    #[command(flatten)]
    pub(crate) kernels: Kernels,
    /// Where a reproducer goes if sutura itself fails; a new file among the temporary ones by default
    #[arg(long, value_name = "FILE")]
    pub(crate) reproducer: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// `run`, which has the compiler at hand.
#[derive(Args, Debug)]
pub(crate) struct ModelRunArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Also writes values inside the model, by its names: those of the list, or all that operations make
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true)]
    #[allow(clippy::option_option, reason = "clap's way to say that a flag may have a value")]
    pub(crate) dump_values: Option<Option<String>>,
    /// The folder that `--dump-values` writes to: a .npy for each value, and index.json
    #[arg(long, value_name = "DIR", default_value = "values", requires = "dump_values")]
    pub(crate) dump_dir: PathBuf,
    #[command(flatten)]
    pub(crate) kernels: Given<Kernels>,
}

/// `bench`, which has the compiler at hand.
#[derive(Args, Debug)]
pub(crate) struct ModelBenchArgs {
    #[command(flatten)]
    pub(crate) bench: BenchArgs,
    #[command(flatten)]
    pub(crate) kernels: Given<Kernels>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DebugCommand {
    /// Finds the first operation whose compiled form computes something else than it means: each is interpreted on what the compiled
    /// program computed before it, and compared within a bound of rounding errors
    #[command(after_help = numerics())]
    Numerics(NumericsArgs),
    /// Writes values inside a model, by its names, as .npy with an index
    #[command(after_help = exit_codes())]
    Values(ValuesArgs),
}

/// Said below the help of `sutura debug numerics`.
fn numerics() -> String {
    format!("{NUMERICS}\n\n{}", exit_codes())
}

/// See [`numerics`].
const NUMERICS: &str = "\
Where an operation is wrong the command names it, its node and the worst element, and ends with status 8. How far results may be apart \
without a report follows from the operation's own inputs: docs/debugging.md.";

#[derive(Args, Debug)]
pub(crate) struct NumericsArgs {
    /// An ONNX model, or IR at the graph level as text
    pub(crate) model: PathBuf,
    /// An input, as for `run`; what is not given is made
    #[arg(short, long = "input", value_name = "SPEC")]
    pub(crate) inputs: Vec<String>,
    /// A file with inputs, by their names: .npz, .safetensors, or a .pb that says its name. May be given several times
    #[arg(long = "inputs", value_name = "FILE")]
    pub(crate) input_files: Vec<PathBuf>,
    /// A folder for the first wrong operation: as a model, its inputs, what it made and what was expected
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// What says what an operation means
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub(crate) against: Against,
    /// The Python that is asked for onnxruntime
    #[arg(long, default_value = "python3", value_name = "COMMAND")]
    pub(crate) python: PathBuf,
    /// Changes what the operation of a node or value makes in the compiled program alone, to see that it is found; for developers
    #[arg(long, value_name = "NAME")]
    pub(crate) plant_error: Option<String>,
    #[command(flatten)]
    pub(crate) running: NumericsRunning,
    #[command(flatten)]
    pub(crate) fusion: Fusion,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What operations are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// Sutura's interpreter
    #[default]
    Interpreter,
    /// onnxruntime in Python, which knows nothing of Sutura's importer
    Onnxruntime,
}

#[derive(Args, Debug)]
pub(crate) struct ValuesArgs {
    /// An ONNX model, or IR at the graph level as text
    pub(crate) model: PathBuf,
    /// The values, as for `extract`; by default all that operations make
    #[arg(long, value_name = "NAMES")]
    pub(crate) names: Vec<String>,
    /// An input, as for `run`; what is not given is made
    #[arg(short, long = "input", value_name = "SPEC")]
    pub(crate) inputs: Vec<String>,
    /// A file with inputs, by their names: .npz, .safetensors, or a .pb that says its name. May be given several times
    #[arg(long = "inputs", value_name = "FILE")]
    pub(crate) input_files: Vec<PathBuf>,
    /// The folder that values go to
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) running: NumericsRunning,
    #[command(flatten)]
    pub(crate) choices: Choices,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What a model runs on that is compiled for one look. Its files are limited as the model's are.
#[derive(Args, Clone, Debug)]
pub(crate) struct NumericsRunning {
    /// Sizes of inputs that are made, as `batch=4,seq=128`
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = sutura_run::args::dim)]
    pub(crate) dim: Vec<sutura_dialects::r#dyn::DimSpec>,
    /// Where the elements of inputs that are not given begin: the same number makes the same elements
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = sutura_input::parse_number::<u64>)]
    pub(crate) seed: u64,
}

impl NumericsRunning {
    /// As a run has it.
    pub(crate) fn running(&self, reading: &Reading) -> Running {
        Running { dim: self.dim.clone(), seed: self.seed, max_input: reading.max_input, ..Running::default() }
    }
}

#[derive(Args, Debug)]
pub(crate) struct ExtractArgs {
    /// An ONNX model, or IR at the graph level as text
    pub(crate) model: PathBuf,
    /// Values that become the inputs of the part, in this order; by default the model's inputs, as far as the outputs need them
    #[arg(long, value_name = "NAMES")]
    pub(crate) from: Vec<String>,
    /// Values that become the outputs of the part, in this order; by default the model's outputs
    #[arg(long, value_name = "NAMES")]
    pub(crate) to: Vec<String>,
    /// Where the part goes: ONNX of ONNX, text of text; `-` is stdout, for text
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How a model is read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Lets the model's external data lie below this folder too; it must lie below the model's own folder, or below that of the
    /// file that the model's path leads to. May be given several times
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_data_from: Vec<PathBuf>,
    /// Refuses models, and files with their external data, of more bytes, as `4G`; by default text of more than 512M and ONNX
    /// of more than 2G, while external data may have any size
    #[arg(long, value_name = "SIZE", value_parser = sutura_input::parse_size)]
    pub(crate) max_input: Option<u64>,
    /// Operators of your own: a file of `graph.operator` declarations, which nodes of an ONNX model name by `onnx`. May be given
    /// several times
    #[arg(long, value_name = "FILE")]
    pub(crate) operators: Vec<PathBuf>,
    /// Shape of an input of an ONNX model, as `x=[N,3]`: dims are numbers, names, or `?`. For a sequence a shape for each of its
    /// tensors, as `x=[[N,3],[4,3]]`, each of which is an input `x.0`, `x.1`; for an optional its shape, or `none`. May be given
    /// several times
    #[arg(long, value_name = "NAME=SHAPE")]
    pub(crate) shape: Vec<GivenShape>,
}

#[derive(Args, Debug)]
pub(crate) struct FmtArgs {
    /// Files and folders; without one, and for `-`, stdin is formatted to stdout
    pub(crate) files: Vec<PathBuf>,
    /// Writes nothing; lists files that are not formatted, and ends with status 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Writes nothing; shows what would change
    #[arg(long)]
    pub(crate) diff: bool,
    /// Refuses texts of more bytes, as `2G`; 512M by default
    #[arg(long, value_name = "SIZE", value_parser = sutura_input::parse_size)]
    pub(crate) max_input: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct TargetArgs {
    #[command(subcommand)]
    pub(crate) command: TargetCommand,
    /// A file that describes a machine
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) target_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum TargetCommand {
    /// Lists the machines by name
    List,
    /// Shows what this machine is and has
    Host,
    /// Measures this machine, and writes a description with what it finds: sizes of caches, bandwidths, arithmetic, cost of
    /// launches; for `sutura compile --target-file`
    Probe {
        /// Where the description goes; `-` is stdout
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: PathBuf,
        /// What the machine is to be called
        #[arg(long, default_value = "measured")]
        name: String,
    },
    /// Prints a description, as a file may hold it
    Show {
        /// Its name, or `host`; that of the file by default
        name: Option<String>,
    },
}
