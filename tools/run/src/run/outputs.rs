//! The files that outputs go to.

use std::path::{Path, PathBuf};

use sutura_runtime::ElementType;
use sutura_runtime::manifest::Value;

use super::known;
use crate::args::RunArgs;
use crate::failure::Failure;

/// A file, and the outputs that go there.
pub(super) type OutputFile<'a> = (PathBuf, Vec<&'a str>);

/// The files that outputs go to, each of which can hold them: `name=@path` for one, a folder or a file for all.
pub(super) fn outputs<'a>(args: &RunArgs, outputs: &'a [Value]) -> Result<Vec<OutputFile<'a>>, Failure> {
    let mut files: Vec<OutputFile<'a>> = Vec::new();
    for spec in &args.outputs {
        if let Some((name, path)) = spec.split_once("=@") {
            if path.is_empty() {
                return Err(Failure::usage(format!("`{spec}` names no file")));
            }
            files.push((path.into(), vec![known(outputs, name, "output")?]));
            continue;
        }
        let folder = Path::new(spec);
        if !folder.is_dir() {
            let failure = Failure::usage(format!("`{spec}` is neither a folder nor `name=@file.npy`"));
            return Err(match sutura_tensors::Format::of(folder) {
                Some(_) => failure.hint(format!("`--outputs {spec}` writes all outputs into one file")),
                None => failure,
            });
        }
        let in_folder = |v: &'a Value| (folder.join(format!("{}.npy", file_name(&v.name))), vec![v.name.as_str()]);
        files.extend(outputs.iter().map(in_folder));
    }
    if let Some(path) = &args.output_file {
        files.push((path.clone(), outputs.iter().map(|v| v.name.as_str()).collect()));
    }
    let mut seen: Vec<&Path> = Vec::new();
    for (path, names) in &files {
        if seen.contains(&path.as_path()) {
            return Err(Failure::usage(format!("two outputs go to `{}`", path.display())));
        }
        seen.push(path);
        let of_file = outputs.iter().filter(|v| names.contains(&v.name.as_str()));
        let tensors: Vec<(&str, ElementType)> = of_file.map(|v| (v.name.as_str(), v.element_type)).collect();
        sutura_tensors::check_writable(path, &tensors)?;
    }
    Ok(files)
}

/// A model's name for a tensor as the name of a file.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}
