//! Arguments of the commands, which `sutura` and `sutura-run` share.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use sutura_dialects::r#dyn::DimSpec;
use sutura_input::whole_number;

/// How a tool talks, whatever the command.
#[derive(Args, Clone, Debug)]
pub struct Talking {
    /// Says more; twice: remarks of passes as well
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Says nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// How to write messages to stderr and results to stdout
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub message_format: MessageFormat,
    /// Whether messages have colours, and progress is shown; `auto` asks whether stderr is a terminal and NO_COLOR is unset
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

/// How messages are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// For people
    #[default]
    Human,
    /// One JSON object per line
    Json,
}

/// When messages have colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A number of threads.
///
/// # Errors
/// Says what is expected.
pub fn threads(text: &str) -> Result<u16, String> {
    whole_number(text).filter(|n| *n >= 1).ok_or_else(|| "expected a whole number from 1 to 65535".to_owned())
}

/// A size that is given, as `batch=8`.
///
/// # Errors
/// Says what is expected.
pub fn size(text: &str) -> Result<(String, i64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as `batch=8`")?;
    match whole_number(value) {
        Some(number) if !name.is_empty() => Ok((name.to_owned(), number)),
        _ => Err("expected NAME=VALUE with a value of 0 or more, such as `batch=8`".to_owned()),
    }
}

fn dim(text: &str) -> Result<DimSpec, String> {
    text.parse()
}

/// What a run is on.
#[derive(Args, Clone, Debug, Default)]
pub struct Running {
    /// Sizes of inputs that are made, as `batch=4,seq=128`; of a range, as `seq=1..512:8`, every value (here the multiples of 8)
    /// has its turn. What is not given has the value that the model declares likely, or the least but 0
    #[arg(long, value_name = "NAME=VALUES", value_delimiter = ',', value_parser = dim)]
    pub dim: Vec<DimSpec>,
    /// Where the elements of inputs that are not given begin: the same number makes the same elements
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = sutura_input::parse_number::<u64>)]
    pub seed: u64,
    /// Refuses a tensor's file of more bytes, as `4G`; without it only what the model takes is a limit. The artifact, which is
    /// mapped, may have any size
    #[arg(long, value_name = "SIZE", value_parser = sutura_input::parse_size)]
    pub max_input: Option<u64>,
    /// Does not compare what the artifact holds with its hashes, and says so: for large files that something else vouches
    /// for. Of a damaged one results may be wrong
    #[arg(long)]
    pub trust_artifact: bool,
    /// The device to run on, of an artifact that was compiled for one: a name that `sutura devices` shows; by default the
    /// first of its kind
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
}

/// `run`
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// An artifact; `sutura run` takes a model as well, which it compiles for this machine, and keeps nothing of it
    pub model: PathBuf,
    /// An input: `name=@x.npy` (or .pb), `name=@x.npz:tensor` (or .safetensors), `name=@x.png:nchw` (or .jpeg, with what is to be
    /// done: docs/inputs.md), or `name=2x3xf32=1,2,3,4,5,6` (one value fills the tensor); without `name=` in order. What is not
    /// given is made: floats from -1 to 1, integers of 8 bits of any value, others 0 or 1
    #[arg(short, long = "input", value_name = "SPEC")]
    pub inputs: Vec<String>,
    /// A file with inputs, by their names: .npz, .safetensors, or a .pb that says its name. May be given several times
    #[arg(long = "inputs", value_name = "FILE")]
    pub input_files: Vec<PathBuf>,
    /// A folder for all outputs as .npy, or `name=@y.npy` (or .npz, .safetensors, .pb)
    #[arg(short, long = "output", value_name = "SPEC")]
    pub outputs: Vec<String>,
    /// A file for all outputs, by their names: .npz or .safetensors
    #[arg(long = "outputs", value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// An output that is expected: `name=@y.npy` or as for an input. Where a result differs by more than --atol and --rtol allow,
    /// the command says where, and ends with status 8
    #[arg(long = "expected", value_name = "SPEC")]
    pub expected: Vec<String>,
    /// A file with outputs that are expected, as for `--inputs`
    #[arg(long = "expected-outputs", value_name = "FILE")]
    pub expected_files: Vec<PathBuf>,
    /// Largest absolute difference from what is expected
    #[arg(long, default_value_t = 1e-5, value_name = "X")]
    pub atol: f64,
    /// Largest difference relative to the expected value
    #[arg(long, default_value_t = 1e-5, value_name = "X")]
    pub rtol: f64,
    /// Threads of a run; all cores by default
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<u16>,
    /// Runs this often after a first run, and shows the latency
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = sutura_input::parse_number::<u32>)]
    pub repeat: u32,
    /// Shows for each kernel how long it takes, how much of the run that is, and how close to what the machine can do; of
    /// the runs of `--repeat`, or of 10
    #[arg(long)]
    pub profile: bool,
    /// A file that describes the machine whose numbers `--profile` compares with, such as `sutura target probe` writes; by
    /// default the description that fits this machine, or for `sutura-run` that which the artifact was compiled for
    #[arg(long, value_name = "FILE", requires = "profile")]
    pub target_file: Option<PathBuf>,
    #[command(flatten)]
    pub running: Running,
}

/// `inspect`
#[derive(Args, Clone, Debug)]
pub struct InspectArgs {
    /// The artifact
    pub artifact: PathBuf,
    /// Writes the manifest as it is; so does `--message-format=json`
    #[arg(long)]
    pub json: bool,
    /// Shows the memory of a run at these sizes, which must be all that the model has
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = size, conflicts_with = "json")]
    pub sizes: Vec<(String, i64)>,
}

/// `verify`
#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// Artifacts
    #[arg(required = true)]
    pub artifacts: Vec<PathBuf>,
}

/// `bench`
#[derive(Args, Clone, Debug)]
pub struct BenchArgs {
    /// An artifact; `sutura bench` takes a model as well
    pub model: PathBuf,
    /// An input, as for `run`; what is not given is made
    #[arg(short, long = "input", value_name = "SPEC")]
    pub inputs: Vec<String>,
    /// A file with inputs, as for `run`
    #[arg(long = "inputs", value_name = "FILE")]
    pub input_files: Vec<PathBuf>,
    /// Threads of a run; of several numbers each has its turn; all cores by default
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = threads)]
    pub threads: Vec<u16>,
    /// Seconds of runs at each shape, with each number of threads
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS", value_parser = seconds)]
    pub seconds: f64,
    /// What is timed in turns with it: onnxruntime, where the model is ONNX and Python has it, or nothing
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub beside: Beside,
    /// The ONNX model of an artifact, for --beside
    #[arg(long, value_name = "FILE")]
    pub onnx: Option<PathBuf>,
    /// The Python that is asked for onnxruntime
    #[arg(long, default_value = "python3", value_name = "COMMAND")]
    pub python: PathBuf,
    /// Also writes the results as a JSON object into a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also draws the medians over the shapes, as an SVG picture
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub running: Running,
}

/// What is timed beside a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Beside {
    /// onnxruntime, if it is there
    #[default]
    Auto,
    /// onnxruntime; an error where it is not there
    Onnxruntime,
    /// Nothing
    None,
}

fn seconds(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|s| s.is_finite() && (0.001..=3600.0).contains(s));
    value.ok_or_else(|| "expected seconds from 0.001 to 3600".to_owned())
}
