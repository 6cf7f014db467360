//! A model as an ordinary library: `--emit=static-lib` and `--emit=c-header`.
//!
//! The library holds the model's code, its constants as read-only data, and what the code needs of a runtime: for one thread, in
//! LLVM IR (`words.ll`, `runtime.ll`, `x86.ll`) with tables of the model (`glue.rs`). It needs a C library and nothing of Sutura's.

mod entry;
mod glue;
mod header;
mod machine;
mod names;
mod words;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use sutura_codegen as codegen;
use sutura_output::folder_of;
use sutura_runtime::manifest::{Dim, Manifest, Value};
use sutura_runtime::mapping::Mapping;

use crate::failure::{Failure, Kind, of_codegen};
use crate::files;
use names::Names;
pub(crate) use names::parse_prefix;

/// Bytes of constants that a library may have: code reaches data within two gigabytes, and the program has data of its own.
const MOST_DATA: usize = 0x7000_0000;

/// A model that can be a library.
pub(crate) struct Library<'m> {
    manifest: &'m Manifest,
    names: Names,
}

impl<'m> Library<'m> {
    /// Refuses what only the runtime can do.
    pub(crate) fn of(manifest: &'m Manifest, prefix: Option<&str>) -> Result<Self, Failure> {
        let hint = "compile it to an artifact, which the runtime runs: leave out --emit";
        let cannot = |why: String| {
            Err(Failure::new(Kind::Unsupported, format!("the model cannot be a static library: {why}")).hint(hint))
        };
        let list = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        if let Some(device) = &manifest.device {
            return cannot(format!("its kernels are for a GPU (`{}`)", device.backend));
        }
        if !manifest.routines.is_empty() {
            return cannot(format!("it calls routines of the runtime: {}", list(&manifest.routines)));
        }
        if let Some(function) = manifest.functions.first() {
            return cannot(format!("its function `{}` is recursive, and takes memory from the runtime", function.name));
        }
        if !manifest.reserves.is_empty() || !manifest.decided.is_empty() {
            let decided = if manifest.decided.is_empty() { "sizes".to_owned() } else { list(&manifest.decided) };
            return cannot(format!("its data decide {decided}"));
        }
        Ok(Self { manifest, names: Names::new(manifest, prefix) })
    }

    /// The header.
    pub(crate) fn header(&self) -> String {
        header::header(self.manifest, &self.names, &self.interface())
    }

    /// The variable by which a program that has another header is known when it is linked.
    fn interface(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        for (values, names) in
            [(&self.manifest.inputs, &self.names.inputs), (&self.manifest.outputs, &self.names.outputs)]
        {
            add(&values.len().to_string());
            for (value, name) in values.iter().zip(names) {
                add(name);
                add(&declared(value));
            }
        }
        let hash: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{}_interface_{hash}", self.names.prefix)
    }

    /// The variable that holds the constants.
    fn data(&self) -> String {
        format!("{}_constants", self.names.prefix)
    }

    /// Compiles the code with what it needs of a runtime.
    pub(crate) fn object(
        &self,
        mut code: codegen::Accepted,
        constants: &[&[u8]],
        warnings: &mut Vec<codegen::Diagnostic>,
    ) -> Result<Vec<u8>, Failure> {
        let (offsets, size) = codegen::data_offsets(constants.iter().map(|bytes| bytes.len()));
        if size > MOST_DATA {
            let message = format!("the model's constants have {size} bytes, and a static library holds {MOST_DATA}");
            let failure = Failure::new(Kind::Unsupported, message);
            return Err(failure.hint("compile it to an artifact, which may have any size: leave out --emit"));
        }
        let (data, interface) = (self.data(), self.interface());
        let glue = glue::glue(self.manifest, &self.names, &interface, (&data, &offsets, size));
        let exported = [self.names.functions(), vec![interface]].concat();
        code.join(&glue, &glue::CODE, &exported).map_err(of_codegen)?;
        let provided = [&glue::PROVIDED[..], &[data.as_str()]].concat();
        code.into_library_object(&provided, warnings).map_err(of_codegen)
    }

    /// Writes the library of `object` and the constants, which may be larger than memory; `unchanged` is asked before it is there.
    pub(crate) fn write(
        &self,
        output: &Path,
        object: &[u8],
        constants: &[&[u8]],
        unchanged: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let data = match constants {
            [] => None,
            constants => Some(self.data_object(output, object, constants)?),
        };
        let (code, constants) = (format!("{}.o", self.names.prefix), format!("{}.o", self.data()));
        let mut objects = vec![(code.as_str(), object)];
        objects.extend(data.as_ref().map(|data| (constants.as_str(), data.bytes())));
        unchanged()?;
        files::write_with(output, |out| codegen::write_archive(&objects, out))
    }

    /// The object of the constants, in a file without a name beside the output.
    fn data_object(&self, output: &Path, like: &[u8], constants: &[&[u8]]) -> Result<Mapping, Failure> {
        let folder = match output.as_os_str() == "-" {
            true => std::env::temp_dir(),
            false => folder_of(output).to_owned(),
        };
        let failed = |error: io::Error| Failure::io("write a temporary file in", &folder, &error);
        let file: File = tempfile::tempfile_in(&folder).map_err(failed)?;
        codegen::write_data_object(like, &self.data(), constants, &file).map_err(of_codegen)?;
        (&file).flush().map_err(failed)?;
        Mapping::new(file).map_err(failed)
    }
}

/// What a header says of a value in code and not in words.
fn declared(value: &Value) -> String {
    let dim = |dim: &Dim| match dim {
        Dim::Const(size) => size.to_string(),
        Dim::Symbol(name) | Dim::Expr(name) => name.clone(),
    };
    let dims: Vec<String> = value.dims.iter().map(dim).collect();
    format!("{}[{}]", value.element_type.name(), dims.join(","))
}

#[cfg(test)]
mod tests;
