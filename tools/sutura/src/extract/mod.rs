//! `sutura extract`: the part of a model that lies between names, as a model of its own.

pub(crate) mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sutura_import::onnx::{Cut, CutError, ExtractError, Extracted};
use sutura_output::{Pending, folder_of};

use crate::cli::{CompileArgs, ExtractArgs};
use crate::compile;
use crate::failure::{Failure, Kind, of_onnx};
use crate::files;
use crate::input::Input;
use crate::pipeline::Compilation;
use crate::talk::Talk;

pub(crate) fn extract(args: &ExtractArgs, talk: &Talk) -> Result<(), Failure> {
    let cut = Cut { from: args.from.clone(), to: args.to.clone() };
    let compilation = Compilation::new();
    let given = CompileArgs { model: args.model.clone(), reading: args.reading.clone(), ..CompileArgs::default() };
    let source = compile::source(&given, &compilation, talk)?;
    let output = output(args, matches!(source.input, Input::Onnx(_)))?;
    let (model, file) = match (source.input, source.onnx) {
        (Input::Text(text), _) => {
            let made = text::extract(&compilation, &text, &args.model, &cut, talk)?;
            return files::write(&output, made.as_bytes());
        }
        (Input::Onnx(model), Some(file)) => (model, file),
        (Input::Onnx(_), None) => return Err(Failure::internal("the model's file is gone")),
    };
    model.warnings.iter().for_each(|warning| talk.warning(&warning.to_string()));
    let data = copied_data(&args.model, &output)?;
    let (bytes, origin) = &file;
    let name = data.as_ref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
    let part = sutura_import::onnx::extract(&compilation.cx, (bytes, &model, origin), &cut, name).map_err(failure)?;
    write(&output, data.as_deref(), &part)?;
    compilation.files.check().map_err(|what| Failure::new(Kind::System, what).hint("extract it again"))?;
    let nodes = if part.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", part.nodes) };
    let (from, to) = (part.inputs.join("`, `"), part.outputs.join("`, `"));
    talk.note(&format!("extracted  {nodes} from `{from}` to `{to}`: {}", output.display()));
    Ok(())
}

/// Where the part goes.
fn output(args: &ExtractArgs, is_onnx: bool) -> Result<PathBuf, Failure> {
    let output = match (&args.output, is_onnx) {
        (Some(path), true) if path.as_os_str() == "-" => {
            return Err(Failure::usage("an ONNX model does not go to stdout").hint("name a file with `-o`"));
        }
        (Some(path), _) => path.clone(),
        (None, false) => PathBuf::from("-"),
        (None, true) => return Err(Failure::usage("the output is missing").hint("give it with `-o PART.onnx`")),
    };
    if output.as_os_str() != "-" {
        files::writable(&output)?;
        if std::fs::canonicalize(&output).is_ok_and(|path| std::fs::canonicalize(&args.model).ok() == Some(path)) {
            return Err(Failure::usage(format!("the part would replace the model `{}`", args.model.display())));
        }
    }
    Ok(output)
}

/// The file that external data are copied to; none where the part lies beside the model and they can stay.
fn copied_data(model: &Path, output: &Path) -> Result<Option<PathBuf>, Failure> {
    let real = |path: &Path| std::fs::canonicalize(path).map_err(|e| Failure::io("find", path, &e));
    if real(folder_of(model))? == real(folder_of(output))? {
        return Ok(None);
    }
    let name = output
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| Failure::usage(format!("`{}` is no name that a model can point to", output.display())))?;
    Ok(Some(output.with_file_name(format!("{name}.data"))))
}

/// Writes the data, and then the model that points to them.
pub(crate) fn write(output: &Path, data: Option<&Path>, part: &Extracted) -> Result<(), Failure> {
    let failed = |path: &Path, e: &std::io::Error| Failure::io("write", path, e);
    if let Some(path) = data.filter(|_| !part.data.is_empty()) {
        let mut pending = Pending::new(path).map_err(|e| failed(path, &e))?;
        let written = part.data.iter().try_for_each(|bytes: &Bytes| pending.write_all(bytes));
        written.and_then(|()| pending.commit()).map_err(|e| failed(path, &e))?;
    }
    sutura_output::replace(output, &part.model).map_err(|e| failed(output, &e))
}

/// What was wrong with the names or the model.
pub(crate) fn failure(error: ExtractError) -> Failure {
    match error {
        ExtractError::Cut(error) => cut_failure(&error),
        ExtractError::Model(error) => of_onnx(error),
        error @ ExtractError::Data(_) => Failure::input(error),
    }
}

/// Wrong names are wrong usage; a type that nothing tells is a matter of the model.
pub(crate) fn cut_failure(error: &CutError) -> Failure {
    let failure = match error {
        CutError::NoType { .. } => Failure::input(error),
        _ => Failure::usage(error),
    };
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
