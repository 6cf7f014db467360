//! The command line.

use std::path::PathBuf;

use sutura_runtime::Options;

use crate::workloads::{ENCODER, WORKLOADS};
use crate::{Failure, Result};

pub(crate) const USAGE: &str = "\
Usage: gpu-runner COMMAND [OPTIONS]

Commands:
  devices    show the devices of this machine, and why there are not more
  list       show the names of the workloads
  shapes     show the sizes that `time` takes, as rows and columns; with `--only encoder` as batch and sequence
  check      run every workload at many sizes and compare with a reference in f64
  models     run the models of the bundle's folder `models` on their stored inputs and compare with stored outputs
  time       time every workload by the device's events, beside copies; results go to OUT/NAME.sutura.json
  report     make OUT/results.md of what lies in OUT: the runner's results, and peers' beside them

Options:
  --device NAME        cuda, hip (or rocm), cuda:1, vulkan, lavapipe, cpu-fibers, or a part of the device's name; the
                       first GPU of NVIDIA, else of AMD
  --bundle DIR         where artifacts/ and encoder/ are; the folder of the program
  --out DIR            where results go; `results` in the bundle
  --only NAME          only this workload, as `list` names it; may come more than once
  --max-elements N     no matrix has more elements (default 1073741824)
  --totals N,N         elements of the matrices that are timed (default 16777216,134217728,1073741824)
  --seed N             of the inputs (default 1)
  --no-graphs          no run is captured as a graph

Exit codes: 0 all is right; 1 a result is wrong, the device failed or no artifact fits it; 2 wrong usage; 3 no device;
5 a file.
";

/// No device has memory for a larger matrix, and no number of bytes computed from this wraps.
const MOST_ELEMENTS: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Devices,
    List,
    Shapes,
    Check,
    Models,
    Time,
    Report,
}

#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) command: Command,
    pub(crate) device: Option<String>,
    pub(crate) bundle: PathBuf,
    pub(crate) out: PathBuf,
    only: Vec<String>,
    pub(crate) max_elements: u64,
    pub(crate) totals: Vec<u64>,
    pub(crate) seed: u64,
    graphs: bool,
}

impl Args {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let usage = |text: String| Failure::Usage(format!("{text}; `gpu-runner help` shows what there is"));
        let (command, rest) = arguments.split_first().ok_or_else(|| usage("no command is given".to_owned()))?;
        let command = match command.as_str() {
            "help" | "--help" | "-h" => Command::Help,
            "devices" => Command::Devices,
            "list" => Command::List,
            "shapes" => Command::Shapes,
            "check" => Command::Check,
            "models" => Command::Models,
            "time" => Command::Time,
            "report" => Command::Report,
            other => return Err(usage(format!("there is no command `{other}`"))),
        };
        let mut args = Self {
            command,
            device: None,
            bundle: PathBuf::new(),
            out: PathBuf::new(),
            only: Vec::new(),
            max_elements: 1 << 30,
            totals: vec![1 << 24, 1 << 27, 1 << 30],
            seed: 1,
            graphs: true,
        };
        let (mut bundle, mut out) = (None, None);
        let mut words = rest.iter();
        while let Some(option) = words.next() {
            if option == "--no-graphs" {
                args.graphs = false;
                continue;
            }
            let known = ["--device", "--bundle", "--out", "--only", "--max-elements", "--totals", "--seed"];
            if !known.contains(&option.as_str()) {
                return Err(usage(format!("there is no option `{option}`")));
            }
            let value = words.next().ok_or_else(|| usage(format!("`{option}` needs a value")))?;
            let number = |text: &str| {
                // Rust's own reading takes a plus too.
                let digits = Some(text).filter(|text| !text.starts_with('+'));
                let number = digits.and_then(|digits| digits.parse::<u64>().ok());
                number.ok_or_else(|| usage(format!("`{option}` is `{text}`, but must be a whole number")))
            };
            match option.as_str() {
                // What AMD calls its interface.
                "--device" => {
                    args.device =
                        Some(value.strip_prefix("hip").map_or_else(|| value.clone(), |rest| format!("rocm{rest}")))
                }
                "--bundle" => bundle = Some(PathBuf::from(value)),
                "--out" => out = Some(PathBuf::from(value)),
                "--only" if all_names().any(|name| name == *value) => args.only.push(value.clone()),
                "--only" => {
                    let known = all_names().collect::<Vec<_>>().join(", ");
                    return Err(usage(format!("there is no workload `{value}`; there are {known}")));
                }
                "--max-elements" => {
                    args.max_elements = number(value)?;
                    if !(1..=MOST_ELEMENTS).contains(&args.max_elements) {
                        return Err(usage(format!("`{option}` is {value}, but must be from 1 to {MOST_ELEMENTS}")));
                    }
                }
                "--totals" => args.totals = value.split(',').map(number).collect::<Result<_>>()?,
                _ => args.seed = number(value)?,
            }
        }
        args.bundle = bundle.unwrap_or_else(own_folder);
        args.out = out.unwrap_or_else(|| args.bundle.join("results"));
        Ok(args)
    }

    /// How models are loaded.
    pub(crate) fn options(&self) -> Options {
        Options::new().graphs(self.graphs)
    }

    /// The workloads that are wanted.
    pub(crate) fn names(&self) -> Vec<String> {
        all_names().filter(|name| self.only.is_empty() || self.only.contains(name)).collect()
    }
}

/// The name of every workload with its type.
pub(crate) fn all_names() -> impl Iterator<Item = String> {
    let rows = WORKLOADS.iter().flat_map(|workload| ["f32", "bf16"].map(|ty| format!("{}_{ty}", workload.name)));
    rows.chain([ENCODER.to_owned()])
}

fn own_folder() -> PathBuf {
    let program = std::env::current_exe().ok();
    program.and_then(|path| path.parent().map(PathBuf::from)).unwrap_or_else(|| PathBuf::from("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Args> {
        Args::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn commands_and_options() {
        let args = parse("time --device hip:1 --only softmax_bf16 --totals 5,6 --no-graphs --bundle b").unwrap();
        assert_eq!((args.command, args.device.as_deref(), args.graphs), (Command::Time, Some("rocm:1"), false));
        assert_eq!((args.names(), args.totals), (vec!["softmax_bf16".to_owned()], vec![5, 6]));
        assert_eq!(args.out, PathBuf::from("b/results"));
        assert_eq!(parse("list").unwrap().names().len(), 2 * WORKLOADS.len() + 1);
        for (wrong, says) in [
            ("", "no command"),
            ("run", "no command `run`"),
            ("check --fast", "no option `--fast`"),
            ("check --seed", "`--seed` needs a value"),
            ("check --seed x", "`--seed` is `x`"),
            ("check --max-elements 0", "`--max-elements` is 0, but must be from 1 to"),
            (
                "time --max-elements 18446744073709551615",
                "`--max-elements` is 18446744073709551615, but must be from 1 to",
            ),
            ("check --only gelu", "no workload `gelu`; there are softmax_f32"),
        ] {
            let failure = parse(wrong).unwrap_err();
            assert!(failure.to_string().contains(says), "{wrong}: {failure}");
            assert_eq!(failure.code(), 2);
        }
    }
}
