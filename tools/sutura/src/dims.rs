//! `--dim` and `--dims`: what the user knows of the model's sizes, declared in the program as if the model had.

use std::path::{Path, PathBuf};

use clap::Args;
use sutura_dialects::r#dyn::DimSpec;
use sutura_passes::shape::declare_dims;

use crate::failure::Failure;
use crate::pipeline::{Compilation, Level, Program, Stage};
use crate::sizes;
use crate::talk::Talk;

/// Sizes that the user declares.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Dims {
    /// What a size of the model may be: a range, a range of multiples, or one value, as `seq=1..512`, `seq=8..512:8`, `batch=4`.
    /// Each run checks it. May be given several times
    #[arg(long, value_name = "NAME=RANGE", value_parser = parse)]
    pub(crate) dim: Vec<DimSpec>,
    /// A file with one such size per line; empty lines and those that begin with `#` say nothing. What `--dim` says of a size
    /// goes before
    #[arg(long, value_name = "FILE")]
    pub(crate) dims: Option<PathBuf>,
}

fn parse(text: &str) -> Result<DimSpec, String> {
    text.parse()
}

/// Gives every size a name.
const NAMES: Stage = Stage { name: "sizes", level: Level::Graph, passes: "propagate-shapes", emit: None };

impl Dims {
    fn is_empty(&self) -> bool {
        self.dim.is_empty() && self.dims.is_none()
    }

    /// Declares the sizes in a program of tensor operators.
    ///
    /// # Errors
    /// When the program has no such size or does not allow a value, when its sizes are settled already, or when the file is wrong.
    pub(crate) fn declare(&self, compilation: &Compilation, program: Program, talk: &Talk) -> Result<Program, Failure> {
        if self.is_empty() {
            return Ok(program);
        }
        if program.level() > Level::Graph {
            let failure = Failure::usage("--dim comes too late: the program is made of regions or kernels already");
            return Err(failure.hint("give it when the model is compiled"));
        }
        let dims = self.all()?;
        let mut program = compilation.run(&NAMES, program, talk)?;
        let symbols = sizes::declared(&compilation.cx, &program.module);
        for dim in &dims {
            let info = &sizes::known(&symbols, "--dim", &dim.name)?.info;
            if dim.narrow(info.clone()).is_none() {
                let allowed = DimSpec { name: dim.name.clone(), min: info.min, max: info.max, div: info.div };
                return Err(Failure::usage(format!("--dim {dim} leaves no value: the model says {allowed}")));
            }
        }
        declare_dims(&compilation.cx, program.module.body_mut(), &dims)
            .map_err(|error| Failure::usage(format!("--dim: {}", error.message)))?;
        Ok(program)
    }

    /// Each size once.
    fn all(&self) -> Result<Vec<DimSpec>, Failure> {
        let mut dims = self.dim.clone();
        once(&dims).map_err(|name| Failure::usage(format!("--dim gives `{name}` twice")))?;
        for dim in self.dims.as_deref().map(read).transpose()?.into_iter().flatten() {
            if dims.iter().all(|own| own.name != dim.name) {
                dims.push(dim);
            }
        }
        Ok(dims)
    }
}

/// `Err` with the name that is there twice.
fn once(dims: &[DimSpec]) -> Result<(), &str> {
    let twice = dims.iter().enumerate().find(|(i, dim)| dims[..*i].iter().any(|other| other.name == dim.name));
    twice.map_or(Ok(()), |(_, dim)| Err(&dim.name))
}

/// The sizes that a file declares.
fn read(path: &Path) -> Result<Vec<DimSpec>, Failure> {
    let text = sutura_input::text(path, sutura_input::TEXT_LIMIT).and_then(sutura_input::utf8);
    let text = text.map_err(|error| Failure::reading(path, &error))?;
    let mut dims = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |message: String| Failure::input(format!("{}:{}: {message}", path.display(), i + 1));
        dims.push(line.parse().map_err(wrong)?);
        once(&dims).map_err(|name| wrong(format!("`{name}` is given twice")))?;
    }
    Ok(dims)
}
