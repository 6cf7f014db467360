//! The files that are to be formatted: found, read, and replaced as a whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sutura_input::{InputError, regular_bytes, utf8, without_nul};
use sutura_output::Pending;

use crate::Status;

/// What a folder is searched for.
const EXTENSION: &str = "mlir";

/// All files that `names` stand for, relative to `cwd`, in order and each once; a name that stands for none is an error.
pub(crate) fn find(cwd: &Path, names: &[PathBuf]) -> Vec<Result<PathBuf, String>> {
    let (mut found, mut seen) = (Vec::new(), rustc_hash::FxHashSet::default());
    for name in names {
        let path = cwd.join(name);
        let files = if path.is_dir() { in_folder(cwd, name) } else { vec![Ok(name.clone())] };
        for file in files {
            // A file that is not there is told when it is read.
            let is_new = file.as_ref().map_or(true, |f| seen.insert(cwd.join(f).canonicalize().unwrap_or(f.clone())));
            if is_new {
                found.push(file);
            }
        }
    }
    found
}

fn in_folder(cwd: &Path, folder: &Path) -> Vec<Result<PathBuf, String>> {
    let (mut files, mut pending) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = pending.pop() {
        match entries(&cwd.join(&folder)) {
            Ok(names) => {
                for (name, is_folder) in names {
                    let path = folder.join(&name);
                    match is_folder {
                        true => pending.push(path),
                        false => files.push(Ok(path)),
                    }
                }
            }
            Err(error) => files.push(Err(format!("cannot read folder `{}`: {error}", folder.display()))),
        }
    }
    if files.is_empty() {
        return vec![Err(format!("there is no `*.{EXTENSION}` file in `{}`", folder.display()))];
    }
    files.sort();
    files
}

/// Files of our kind and folders in a folder; hidden folders, and links to folders, which may lead anywhere, are left out.
fn entries(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        let is_folder = entry.file_type()?.is_dir();
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let is_ours = name.extension().is_some_and(|e| e == EXTENSION) && !entry.path().is_dir();
        if is_folder && !is_hidden || !is_folder && is_ours {
            found.push((name, is_folder));
        }
    }
    Ok(found)
}

/// The text of a file that can be replaced: a regular one.
///
/// # Errors
/// One sentence, and whether the system refuses, the call is wrong, or the text.
pub(crate) fn read(path: &Path, name: &str, limit: u64) -> Result<String, (Status, String)> {
    let text = regular_bytes(path, limit).and_then(|bytes| without_nul(&bytes).and_then(|()| utf8(bytes)));
    text.map_err(|error| match error {
        InputError::NotAFile { .. } => {
            let message = format!("`{name}` is neither a file nor a folder, so it cannot be replaced");
            (Status::Usage, format!("{message}; give `-` to format stdin to stdout"))
        }
        error => (status(&error), refusal(name, &error)),
    })
}

/// Who is to blame for what is not read.
pub(crate) fn status(error: &InputError) -> Status {
    if error.is_system() { Status::System } else { Status::Input }
}

/// Why `name` is not read.
pub(crate) fn refusal(name: &str, error: &InputError) -> String {
    format!("cannot read `{name}`: {}", error.told())
}

/// Replaces the text of a file, which keeps its permissions: at any time it is there with the old text or with the new.
///
/// # Errors
/// When the file or its folder may not be written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays; what it leads to is replaced.
    let path = path.canonicalize()?;
    let permissions = fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file may not be written"));
    }
    let mut pending = Pending::new(&path)?;
    pending.write_all(text.as_bytes())?;
    pending.set_permissions(permissions)?;
    pending.commit()
}
