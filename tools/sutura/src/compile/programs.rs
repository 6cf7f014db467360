//! Programs that other commands make artifacts of: what is tuned, and what shows the values inside a model.

use std::path::Path;

use sutura_ir::Module;

use super::{Job, read, write};
use crate::cli::CompileArgs;
use crate::failure::Failure;
use crate::input::{self, Input, Source};
use crate::machine::{Machine, Wanted};
use crate::pipeline::{Compilation, Level};
use crate::talk::Talk;

/// Makes an artifact of a program as text that holds the description of `machine`, without a word.
pub(crate) fn compile_text(text: &str, output: &Path, machine: &Machine) -> Result<(), Failure> {
    let (compilation, talk) = (Compilation::new(), &Talk::silent());
    let args = &CompileArgs { model: output.to_owned(), ..CompileArgs::default() };
    let source = Source { input: Input::Text(text.to_owned()), hash: input::hash(text.as_bytes()), onnx: None };
    let program = read(&compilation, &source, args, talk)?;
    let made = Job::new(args, talk, &compilation, machine).run(program, &source)?;
    write(&made.into_iter().collect::<Vec<_>>(), &compilation, output, talk).map(drop)
}

/// Makes an artifact for this machine of a module at the graph level, whose constants are those of `source`.
pub(crate) fn compile_module(
    compilation: &Compilation,
    module: Module,
    (args, source): (&CompileArgs, &Source),
    output: &Path,
    talk: &Talk,
) -> Result<(), Failure> {
    let program = compilation.program(module).at(Level::Graph);
    let (program, machine) = compilation.attach(program, Wanted { name: None, file: None }, talk)?;
    let made = Job::new(args, talk, compilation, &machine).run(program.at(Level::Graph), source)?;
    write(&made.into_iter().collect::<Vec<_>>(), compilation, output, talk).map(drop)
}
