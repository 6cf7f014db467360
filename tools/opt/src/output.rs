//! Where the output goes: stdout, or a file that appears only when it is complete.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sutura_output::{Pending, folder_of};

/// An output that is not there until [`Output::commit`].
pub(crate) enum Output<'o> {
    /// Standard output, as it comes.
    Stdout(BufWriter<&'o mut (dyn Write + Send)>),
    /// A device or a pipe, which is written to and not replaced.
    Special { writer: BufWriter<std::fs::File>, path: PathBuf },
    /// A temporary file beside the final one.
    File(BufWriter<Pending>),
}

impl<'o> Output<'o> {
    /// Opens the output called `name`; `-` and nothing stand for stdout.
    ///
    /// # Errors
    /// One sentence.
    pub(crate) fn open(name: Option<&str>, cwd: &Path, stdout: &'o mut (dyn Write + Send)) -> Result<Self, String> {
        let Some(name) = name.filter(|n| *n != "-") else { return Ok(Self::Stdout(BufWriter::new(stdout))) };
        let path = cwd.join(name);
        if path.is_dir() {
            return Err(format!("cannot write `{name}`: it is a directory"));
        }
        if std::fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
            let file = std::fs::OpenOptions::new().write(true).open(&path);
            let file = file.map_err(|e| format!("cannot write `{name}`: {e}"))?;
            return Ok(Self::Special { writer: BufWriter::new(file), path });
        }
        if !folder_of(&path).is_dir() {
            return Err(format!("cannot write `{name}`: its folder does not exist"));
        }
        let file = Pending::new(&path).map_err(|e| format!("cannot write `{name}`: {e}"))?;
        Ok(Self::File(BufWriter::new(file)))
    }

    /// Makes what was written visible under its name.
    ///
    /// # Errors
    /// One sentence.
    pub(crate) fn commit(self) -> Result<(), String> {
        match self {
            Self::Stdout(mut writer) => writer.flush().map_err(|e| format!("cannot write the output: {e}")),
            Self::Special { mut writer, path } => {
                writer.flush().map_err(|e| format!("cannot write `{}`: {e}", path.display()))
            }
            Self::File(writer) => {
                let path = writer.get_ref().path().to_owned();
                let fail = |e: &dyn std::fmt::Display| format!("cannot write `{}`: {e}", path.display());
                writer.into_inner().map_err(|e| fail(&e))?.commit().map_err(|e| fail(&e))
            }
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(writer) => writer.write(bytes),
            Self::Special { writer, .. } => writer.write(bytes),
            Self::File(writer) => writer.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(writer) => writer.flush(),
            Self::Special { writer, .. } => writer.flush(),
            Self::File(writer) => writer.flush(),
        }
    }
}

/// Writes a file as a whole: it is there with all of `bytes`, or as it was.
///
/// # Errors
/// One sentence.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let name = path.to_str().ok_or_else(|| format!("cannot write `{}`: its name is not UTF-8", path.display()))?;
    let mut nowhere = io::sink();
    let mut output = Output::open(Some(name), Path::new(""), &mut nowhere)?;
    output.write_all(bytes).map_err(|e| format!("cannot write `{name}`: {e}"))?;
    output.commit()
}
