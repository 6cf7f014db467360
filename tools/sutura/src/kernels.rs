//! What kernels a model becomes, whichever command compiles it: `compile`, `check`, `run` or `bench`.
//!
//! An option that is declared here is one of all these commands. The cache tells artifacts apart by it, and a command that gets an
//! artifact refuses it by its name.

use std::fmt::Debug;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use sutura_passes::graph_property_rewrite::FAST_MATH;
use sutura_runtime::manifest::Math;

use crate::failure::Failure;
use crate::pipeline::{INTEGERS, Level, WINOGRAD};

/// What kernels a model becomes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Kernels {
    /// Runs regions as the plan and the schedules of a file say, which `sutura compile --emit=schedule` has written
    #[arg(long, value_name = "FILE")]
    pub(crate) schedule: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) choices: Choices,
}

/// What of it is for any program: also for one that returns the values inside a model.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Choices {
    /// Allows to compute what is equal for real numbers but not for floats, to save operations and memory; results differ
    /// by rounding. `reassoc`: sums and products in another order; `nsz`: the sign of a zero may change (factoring out,
    /// merging constant factors and exponentials need both); `arcp`: `x / c` as a multiplication; `nnan`: there are no NaN.
    /// `integers`: products of dequantized numbers as products of the stored integers, with the scales behind the sum.
    /// `winograd`: 3x3 convolutions with 16 products for 36, whose results differ by more (docs/passes.md).
    /// Alone it means `fast`, all flags but `integers` and `winograd`. Without it every rewrite keeps every bit. An artifact records it
    #[arg(long, value_name = "FLAGS", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    #[arg(default_missing_value = "fast", value_parser = fast_math())]
    pub(crate) fast_math: Vec<String>,
    /// `bf16` rounds both factors of products of f32 matrices to bf16 where the machine multiplies these, and sums in f32: results
    /// are right to some thousandths of the sum of the magnitudes of their terms. Products with a dim that both factors and the result
    /// have, as those of attention, stay. An artifact records it
    #[arg(long, value_enum, default_value_t, value_name = "PRECISION", hide_default_value = true)]
    pub(crate) precision: Precision,
    #[command(flatten)]
    pub(crate) fusion: Fusion,
}

/// To what factors of products are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    /// Factors stay as they are
    #[default]
    Full,
    /// Factors are rounded to bf16
    Bf16,
}

/// Whether operations are fused.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Fusion {
    /// Makes a kernel of each operation, which is slow: to see what fusion saves, or whether it is to blame
    #[arg(long)]
    pub(crate) no_fusion: bool,
}

/// What `--fast-math` takes.
fn fast_math() -> PossibleValuesParser {
    PossibleValuesParser::new(FAST_MATH.iter().map(|(name, _)| *name).chain([INTEGERS, WINOGRAD]))
}

impl Precision {
    /// What factors are rounded to, as passes and artifacts have it.
    pub(crate) fn rounds_to(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Bf16 => Some("bf16"),
        }
    }
}

impl Choices {
    /// # Errors
    /// When one is asked for that only a graph can follow, and the program is past that level.
    pub(crate) fn refuse_below_graph(&self, level: Level) -> Result<(), Failure> {
        let asked = [
            ("--fast-math", !self.fast_math.is_empty()),
            ("--precision", self.precision != Precision::Full),
            ("--no-fusion", self.fusion.no_fusion),
        ];
        match asked.iter().find(|(_, asked)| *asked && level > Level::Graph) {
            Some((flag, _)) => {
                let is = format!("the program is at the {} level already", level.name());
                Err(Failure::usage(format!("{flag} is for operations of a graph, and {is}")))
            }
            None => Ok(()),
        }
    }

    /// Writes into an artifact's manifest how its results may differ from what the model says.
    pub(crate) fn record(&self, math: &mut Math) {
        math.fast_math.clone_from(&self.fast_math);
        math.precision = self.precision.rounds_to().map(str::to_owned);
    }
}

/// Options, with the names of those that the command line has: one may have its default value and be given all the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Given<T> {
    pub(crate) options: T,
    flags: Vec<String>,
}

impl<T> Given<T> {
    /// # Errors
    /// When an option is given: they are for what is compiled, and an artifact is compiled already.
    pub(crate) fn refuse_for_artifact(&self) -> Result<(), Failure> {
        let Some(flag) = self.flags.first() else { return Ok(()) };
        let failure = Failure::usage(format!("{flag} is for a model that is compiled, and this is an artifact"));
        Err(failure.hint(format!("give the model, or compile the artifact with {flag}")))
    }
}

impl<T: Args> Given<T> {
    fn flags(matches: &ArgMatches) -> Vec<String> {
        let declared = T::augment_args(Command::new("declared"));
        let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let given = declared.get_arguments().filter(|arg| is_given(arg.get_id().as_str()));
        given.filter_map(|arg| arg.get_long()).map(|long| format!("--{long}")).collect()
    }
}

impl<T: Args> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { flags: Self::flags(matches), options: T::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.flags.extend(Self::flags(matches));
        self.options.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Given<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, Parser};

    use super::{Given, Kernels};
    use crate::cli::{Cli, Command};

    /// The options of kernels that a command line has.
    fn given(command: &str) -> Given<Kernels> {
        let words = ["sutura", "run", "m"].into_iter().chain(command.split_whitespace());
        match Cli::try_parse_from(words).expect("it is right").command {
            Command::Run(args) => args.kernels,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_given_is_known_by_name() {
        assert!(given("").refuse_for_artifact().is_ok());
        // Whatever a further option takes: its least words are those of its first value.
        for arg in Kernels::augment_args(clap::Command::new("all")).get_arguments() {
            let long = arg.get_long().expect("an option");
            let value = arg.get_possible_values().first().map_or("x".to_owned(), |value| value.get_name().to_owned());
            let words = if arg.get_action().takes_values() { format!("--{long}={value}") } else { format!("--{long}") };
            let failure = given(&words).refuse_for_artifact().expect_err(&words);
            assert!(failure.message.starts_with(&format!("--{long} is for a model")), "{}", failure.message);
        }
    }
}
