//! Checks and times kernels on a GPU, from a bundle that `cargo xtask gpu-bundle` made: the artifacts of a few
//! workloads for several targets. It needs the runtime and nothing else, so it is what runs on a machine without a
//! compiler.
//!
//! Every artifact is compiled once, and run at all sizes. What it computes is compared with a reference in f64; times
//! are those of the device's events, beside those of copies on the same device.

#![forbid(unsafe_code)]

mod args;
mod check;
mod encoder;
mod models;
mod numbers;
mod report;
mod results;
mod rows;
mod time;
mod workloads;

use std::io::Write;

use sutura_runtime::device::{Device, Devices};
use sutura_runtime::{Model, Options};

use args::{Args, Command};

/// Why a command ended early.
#[derive(Debug)]
enum Failure {
    /// The command line.
    Usage(String),
    /// No device, or nothing for it.
    NoDevice(String),
    /// A file.
    File(String),
    /// A result.
    Wrong(String),
    /// The device, or what runs on it.
    Runtime(sutura_runtime::Error),
    /// Output that nobody reads.
    Output(std::io::Error),
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::NoDevice(_) => 3,
            Self::File(_) | Self::Output(_) => 5,
            Self::Runtime(_) | Self::Wrong(_) => 1,
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(text) | Self::NoDevice(text) | Self::File(text) | Self::Wrong(text) => f.write_str(text),
            Self::Runtime(error) => error.fmt(f),
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl From<sutura_runtime::Error> for Failure {
    fn from(error: sutura_runtime::Error) -> Self {
        Self::Runtime(error)
    }
}

impl From<sutura_runtime::device::DeviceError> for Failure {
    fn from(error: sutura_runtime::device::DeviceError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

type Result<T, E = Failure> = std::result::Result<T, E>;

/// Runs a command line. The exit code: 0 done, 1 a result is wrong, the device failed or no artifact fits it, 2 wrong
/// usage, 3 no device, 5 a file.
pub fn main(arguments: &[String], out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let done = Args::parse(arguments).and_then(|args| run(&args, out));
    match done {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(failure) => {
            // Nobody is left to hear of an error of stderr.
            let _ = writeln!(err, "error: {failure}");
            failure.code()
        }
    }
}

/// Whether everything was right.
fn run(args: &Args, out: &mut dyn Write) -> Result<bool> {
    match args.command {
        Command::Help => {
            write!(out, "{}", args::USAGE)?;
            Ok(true)
        }
        Command::List => {
            for name in args.names() {
                writeln!(out, "{name}")?;
            }
            Ok(true)
        }
        Command::Shapes => {
            let encoder = args.names() == [workloads::ENCODER];
            let shapes = if encoder { encoder::shapes(args) } else { time::shapes(args) };
            shapes.iter().try_for_each(|[rows, cols]| writeln!(out, "{rows} {cols}"))?;
            Ok(true)
        }
        Command::Devices => devices(out),
        Command::Check => check::run(args, &open(args, out)?, out),
        Command::Models => models::run(args, &open(args, out)?, out),
        Command::Time => time::run(args, &open(args, out)?, out),
        Command::Report => report::run(args, out),
    }
}

/// Loads a workload; of its artifact the variant that fits the device. Returns also what that was compiled for.
fn load(args: &Args, name: &str, device: &Device, options: Options) -> Result<(Model, String)> {
    let path = args.bundle.join("artifacts").join(format!("{name}.sutura"));
    let model = Model::load_with(path, options.on(device))?;
    let target = model.manifest().target.description.clone();
    Ok((model, target))
}

/// Shows the devices, and why there are not more.
fn devices(out: &mut dyn Write) -> Result<bool> {
    let devices = Devices::find();
    for found in devices.all() {
        let (info, problem) = (found.info(), found.problem().map_or_else(String::new, |p| format!("; unusable: {p}")));
        let gib = info.limits.memory_bytes as f64 / f64::from(1 << 30);
        writeln!(
            out,
            "{found}: {} {} {}, {}, {gib:.1} GiB{problem}",
            info.target,
            info.api,
            info.driver,
            info.kind.name()
        )?;
    }
    devices.absent().iter().try_for_each(|reason| writeln!(out, "{reason}"))?;
    Ok(true)
}

/// Opens the device that is meant, and says what it is.
fn open(args: &Args, out: &mut dyn Write) -> Result<Device> {
    let devices = Devices::find();
    let device = match &args.device {
        Some(name) => devices.open(name).map_err(|error| Failure::NoDevice(error.to_string()))?,
        None => {
            let gpu = ["cuda", "rocm"].into_iter().find(|name| devices.select(name).is_ok());
            let Some(name) = gpu else {
                let reasons = devices.absent().join("; ");
                let text = format!("there is no GPU of NVIDIA or AMD: {reasons}; `--device` names another device");
                return Err(Failure::NoDevice(text));
            };
            devices.open(name)?
        }
    };
    let info = device.info();
    writeln!(out, "device  {} ({}), {}, {}", info.name, info.target, info.driver, info.api)?;
    let units = info.limits.units.map_or_else(String::new, |units| format!(", {units} multiprocessors"));
    let features = info.features.iter().copied().collect::<Vec<_>>().join(" ");
    writeln!(
        out,
        "        {:.1} GiB{units}, groups of up to {} threads, {} bytes of shared memory; {features}",
        info.limits.memory_bytes as f64 / f64::from(1 << 30),
        info.limits.threads_per_group,
        info.limits.shared_bytes_per_group
    )?;
    Ok(device)
}
