//! Writing tensors: a file is there when it is complete.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use sutura_import::onnx::{self, tensor_file_head};
use sutura_input::PROTOBUF_LIMIT;
use sutura_output::Pending;
use sutura_runtime::{ElementType, Tensor, npy};

use crate::error::{Error, Result};
use crate::{Format, little_endian, npz, packed, safetensors};

/// The longest name that a zip file has, with its ending.
const MAX_NAME: usize = 0xffff - 4;

/// Refuses tensors that a file cannot hold: types that its format has not, names, or too many. What is there already is not
/// looked at. A file without a known ending is a `.npy` file.
///
/// # Errors
/// Which tensor, and why.
pub fn check_writable(path: &Path, tensors: &[(&str, ElementType)]) -> Result<()> {
    let format = Format::of(path).unwrap_or(Format::Npy);
    let refuse =
        |name: &str, reason: String| Err(Error::Unwritable { path: path.to_owned(), name: name.to_owned(), reason });
    if let [_, (second, _), ..] = tensors
        && !format.holds_many()
    {
        return refuse(
            second,
            format!("a {} file holds one tensor; .npz and .safetensors hold several", format.name()),
        );
    }
    for (name, element_type) in tensors {
        let no_type = matches!(format, Format::Npy | Format::Npz) && !npy::has(*element_type);
        if no_type {
            let other = if safetensors::has(*element_type) { ".safetensors or .pb" } else { ".pb" };
            return refuse(name, format!("NumPy has no type {element_type}; write {other}"));
        }
        if format == Format::Safetensors && !safetensors::has(*element_type) {
            let other = if npy::has(*element_type) { ".npy or .pb" } else { ".pb" };
            return refuse(name, format!("safetensors has no type {element_type}; write {other}"));
        }
        if format == Format::Npz && name.len() > MAX_NAME {
            return refuse(name, "its name is too long".to_owned());
        }
        if format == Format::Safetensors
            && let Err(reason) = safetensors::allows(name)
        {
            return refuse(name, reason);
        }
    }
    Ok(())
}

/// Writes tensors into a file of the format that its name tells, which is replaced when all is written. A device or a pipe gets the
/// bytes instead of being replaced.
///
/// # Errors
/// As of [`check_writable`], and when the system refuses.
pub fn write(path: &Path, tensors: &[(&str, &Tensor)]) -> Result<()> {
    let types: Vec<(&str, ElementType)> = tensors.iter().map(|(name, tensor)| (*name, tensor.element_type())).collect();
    check_writable(path, &types)?;
    let pour = |out: &mut dyn Write| {
        let mut out = BufWriter::new(out);
        contents(Format::of(path).unwrap_or(Format::Npy), tensors, &mut out)?;
        out.flush()
    };
    let written = match fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        true => OpenOptions::new().write(true).open(path).and_then(|mut file| pour(&mut file)),
        false => Pending::new(path).and_then(|mut pending| {
            pour(&mut pending)?;
            pending.commit()
        }),
    };
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// The bytes of a file.
pub(crate) fn contents(format: Format, tensors: &[(&str, &Tensor)], out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Npz => npz::write(tensors, out),
        Format::Safetensors => safetensors::write(tensors, out),
        Format::Npy => tensors.iter().try_for_each(|(_, tensor)| {
            let (head, data) = npy::parts(tensor).map_err(io::Error::other)?;
            out.write_all(&head)?;
            out.write_all(&data)
        }),
        Format::Pb => tensors.iter().try_for_each(|(name, tensor)| pb(name, tensor, out)),
    }
}

fn pb(name: &str, tensor: &Tensor, out: &mut dyn Write) -> io::Result<()> {
    let element = onnx::ElementType::from_name(tensor.element_type().name());
    let element = element.ok_or_else(|| io::Error::other("ONNX has no such element type"))?;
    let mut bytes = packed::of(tensor);
    if cfg!(target_endian = "big") {
        little_endian(bytes.to_mut(), tensor.element_type().word_bytes());
    }
    let head = tensor_file_head(name, element, tensor.dims(), bytes.len() as u64);
    if (head.len() + bytes.len()) as u64 >= PROTOBUF_LIMIT {
        return Err(io::Error::other("the tensor has more bytes than a protobuf can hold; write .npy or .safetensors"));
    }
    out.write_all(&head)?;
    out.write_all(&bytes)
}
