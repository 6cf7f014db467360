//! What a compilation begins with: the model's file, and the program in it.

use sutura_dialects::graph::operator::LibraryError;
use sutura_import::onnx::{Extension, ExtensionError, import};
use sutura_ir::diagnostics::Diagnostics;

use crate::cli::{CompileArgs, Reading};
use crate::failure::{Failure, of_operators};
use crate::input::{self, Input, Source};
use crate::pipeline::{Compilation, Level, Program};
use crate::talk::Talk;

/// The model file, read, with the shapes that are given of its inputs, and the operators of a user that it may have.
pub(crate) fn source(args: &CompileArgs, compilation: &Compilation, talk: &Talk) -> Result<Source, Failure> {
    let mut source = input::read(&args.model, &args.reading, &compilation.files)?;
    give_shapes(&mut source, &args.reading)?;
    let files = &args.reading.operators;
    if files.is_empty() {
        return Ok(source);
    }
    let Input::Onnx(model) = &mut source.input else {
        let failure = Failure::usage("--operators is for ONNX models, and the model is a program in text");
        return Err(failure.hint("declare the operators in the program"));
    };
    let extension = Extension::read(&compilation.cx, files).map_err(|error| {
        if let ExtensionError::Library(LibraryError::Malformed { diagnostics, .. }) = &error {
            diagnostics.iter().for_each(|diagnostic| compilation.tell(diagnostic, talk));
        }
        match error {
            ExtensionError::Library(LibraryError::Unreadable { path, error }) => Failure::reading(&path, &error),
            ExtensionError::Library(LibraryError::Malformed { origin, .. }) => {
                Failure::input(format!("`{origin}` does not declare operators that can be used"))
            }
            other => Failure::input(other),
        }
    })?;
    model.extension = Some(extension);
    Ok(source)
}

/// Gives inputs the shapes that the command says.
fn give_shapes(source: &mut Source, reading: &Reading) -> Result<(), Failure> {
    match &mut source.input {
        _ if reading.shape.is_empty() => Ok(()),
        Input::Onnx(model) => {
            model.give_shapes(&reading.shape).map_err(|why| Failure::usage(format!("--shape: {why}")))
        }
        Input::Text(_) => {
            let failure = Failure::usage("--shape is for ONNX models, and the model is a program in text");
            Err(failure.hint("its types say the shapes"))
        }
    }
}

/// The program that the input holds.
pub(super) fn read(
    compilation: &Compilation,
    source: &Source,
    args: &CompileArgs,
    talk: &Talk,
) -> Result<Program, Failure> {
    match &source.input {
        Input::Text(text) => compilation.parse(text, &args.model, talk),
        Input::Onnx(model) => {
            model.warnings.iter().for_each(|w| talk.warning(&w.to_string()));
            let mut diags = Diagnostics::default();
            let module = import(&compilation.cx, model, &mut diags);
            diags.iter().for_each(|d| compilation.tell(d, talk));
            module.map(|m| compilation.program(m).at(Level::Graph)).map_err(of_operators)
        }
    }
}
