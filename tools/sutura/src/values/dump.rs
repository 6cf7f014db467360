//! Values in files: a `.npy` each, or a `.pb` of what NumPy has no type for, and an index that says which file holds which value.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use sutura_run::args::Running;
use sutura_runtime::Tensor;
use sutura_tensors::{check_writable, write};

use super::{Valued, inputs, run};
use crate::cli::Reading;
use crate::failure::Failure;
use crate::files;
use crate::kernels::Choices;
use crate::talk::Talk;

/// The file that says which file holds which value.
const INDEX: &str = "index.json";

/// Most bytes of a value's name that its file's name has.
const LONGEST: usize = 100;

/// Runs a model, and writes the values that are called `names`, or all that operations make, into a folder.
///
/// # Errors
/// When the model, the names or the inputs are wrong, or a file cannot be written.
pub(crate) fn dump(
    (model, reading, choices): (&Path, &Reading, &Choices),
    names: &[String],
    (specs, paths): (&[String], &[PathBuf]),
    running: &Running,
    folder: &Path,
    talk: &Talk,
) -> Result<(), Failure> {
    let valued = Valued::read(model, reading, choices, talk)?;
    let chosen = valued.chosen(names)?;
    std::fs::create_dir_all(folder).map_err(|e| Failure::io("create", folder, &e))?;
    let wanted: Vec<_> = chosen.iter().map(|(_, value)| *value).collect();
    let compiled = valued.compiled(valued.module.clone(), &wanted, &talk.muted())?;
    let inputs = inputs(&compiled, (specs, paths), running, talk)?;
    let tensors = run(&compiled, &inputs)?;
    let names: Vec<&str> = chosen.iter().map(|(name, _)| name.as_str()).collect();
    write_all(folder, &names, &tensors)?;
    let noun = if names.len() == 1 { "value" } else { "values" };
    talk.note(&format!("values     {} {noun} in {}, listed in {INDEX}", names.len(), folder.display()));
    Ok(())
}

/// Writes tensors, and then the index of them.
fn write_all(folder: &Path, names: &[&str], tensors: &[Tensor]) -> Result<(), Failure> {
    let stems = file_names(names);
    let mut entries = Vec::with_capacity(names.len());
    for ((name, stem), tensor) in names.iter().zip(&stems).zip(tensors) {
        let file = write_tensor(folder, stem, name, tensor)?;
        entries.push(json!({
            "name": name, "file": file, "type": tensor.element_type().to_string(), "dims": tensor.dims(),
        }));
    }
    let text = serde_json::to_string_pretty(&json!({ "values": entries }));
    let text = text.map_err(|e| Failure::internal(e.to_string()))? + "\n";
    files::write(&folder.join(INDEX), text.as_bytes())
}

/// Writes a tensor into a folder; the file's name, which begins with `stem`.
pub(crate) fn write_tensor(folder: &Path, stem: &str, name: &str, tensor: &Tensor) -> Result<String, Failure> {
    let npy = format!("{stem}.npy");
    let file = match check_writable(&folder.join(&npy), &[(name, tensor.element_type())]) {
        Ok(()) => npy,
        Err(_) => format!("{stem}.pb"),
    };
    write(&folder.join(&file), &[(name, tensor)])?;
    Ok(file)
}

/// The beginning of a file's name for each name: it leads nowhere, no two are the same on any file system, and none begins as an option does.
pub(crate) fn file_names(names: &[&str]) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut made = Vec::with_capacity(names.len());
    for name in names {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let mut base: String = name.chars().take(LONGEST).map(plain).collect();
        if base.trim_matches(['_', '-']).is_empty() {
            base = "value".to_owned();
        }
        let base = base.trim_start_matches('-');
        let (mut stem, mut number) = (base.to_owned(), 1);
        // Some file systems do not tell small letters from capitals.
        while !taken.insert(stem.to_ascii_lowercase()) {
            number += 1;
            stem = format!("{base}.{number}");
        }
        made.push(stem);
    }
    made
}

#[cfg(test)]
mod tests {
    use super::file_names;

    #[test]
    fn names_of_values_become_safe_and_distinct_names_of_files() {
        let names =
            ["/fc1/Gemm_output_0", "../../etc/passwd", "A", "a", "a", "-rf", "", "\u{202e}\n", "con\0", "..", "a.2"];
        let files = file_names(&names);
        assert_eq!(files[..5], ["_fc1_Gemm_output_0", "______etc_passwd", "A", "a.2", "a.3"]);
        assert_eq!(files[5..], ["rf", "value", "value.2", "con_", "value.3", "a_2"]);
        let long = "x".repeat(5000);
        let files = file_names(&[&long, &long]);
        assert!(files.iter().all(|file| file.len() < 120) && files[0] != files[1], "{files:?}");
    }
}
