//! `weights.safetensors`: the constants of a model, in the order of the manifest.
//!
//! The file is an ordinary safetensors file. That format packs tensors without gaps, while generated code wants every
//! constant at an aligned address in the mapped file; so the header is padded with spaces, and a tensor whose size is
//! no multiple of the alignment is followed by a small tensor of zeros, named [`PADDING`] and a number.

use std::collections::HashSet;
use std::io::{self, Write};
use std::ops::Range;

use safetensors::tensor::{Dtype, Metadata, TensorInfo};

use crate::abi::ALIGNMENT;
use crate::element::ElementType;
use crate::manifest::{Constant, byte_size};

/// Prefix of the names of padding tensors.
const PADDING: &str = "__padding__";

/// Bytes before the header: its length.
const LENGTH_BYTES: usize = 8;

/// The layout of a weights file to be written.
pub(crate) struct Layout {
    header: Vec<u8>,
}

impl Layout {
    /// Lays out constants; fails on a name that the format or this file cannot hold.
    pub(crate) fn new(constants: &[Constant]) -> Result<Self, String> {
        let mut tensors = Vec::with_capacity(constants.len());
        let mut offset = 0usize;
        for (i, constant) in constants.iter().enumerate() {
            if constant.name.starts_with(PADDING) || constant.name == "__metadata__" {
                return Err(format!("the constant name `{}` is reserved", constant.name));
            }
            let bytes = byte_size(constant.element_type, &constant.dims)
                .map_err(|e| format!("constant `{}` {e}", constant.name))?;
            let shape = constant.dims.iter().map(|&d| d as usize).collect();
            push(&mut tensors, &mut offset, constant.name.clone(), dtype(constant.element_type)?, shape, bytes)?;
            let padding = padding_after(bytes);
            if padding > 0 {
                push(&mut tensors, &mut offset, format!("{PADDING}{i}"), Dtype::U8, vec![padding], padding)?;
            }
        }
        let metadata = Metadata::new(None, tensors).map_err(|e| e.to_string())?;
        let mut header = serde_json::to_vec(&metadata).map_err(|e| e.to_string())?;
        let length = (LENGTH_BYTES + header.len()).next_multiple_of(ALIGNMENT) - LENGTH_BYTES;
        header.resize(length, b' ');
        Ok(Self { header })
    }

    /// Writes the file; `data` in the order of the constants, of the sizes that they imply.
    pub(crate) fn write(&self, data: &[&[u8]], out: &mut impl Write) -> io::Result<()> {
        out.write_all(&(self.header.len() as u64).to_le_bytes())?;
        out.write_all(&self.header)?;
        for bytes in data {
            out.write_all(bytes)?;
            out.write_all(&[0; ALIGNMENT][..padding_after(bytes.len())])?;
        }
        Ok(())
    }
}

/// Finds each constant of the manifest in a weights file: its range of bytes in `file`, aligned if `file` is.
pub(crate) fn locate(file: &[u8], constants: &[Constant]) -> Result<Vec<Range<usize>>, String> {
    let (header, metadata) = safetensors::SafeTensors::read_metadata(file).map_err(|e| e.to_string())?;
    let start = LENGTH_BYTES + header;
    let mut expected = HashSet::with_capacity(constants.len());
    let mut ranges = Vec::with_capacity(constants.len());
    for constant in constants {
        let name = &constant.name;
        let info = metadata.info(name).ok_or_else(|| format!("constant `{name}` is missing"))?;
        let same_dims = info.shape.iter().map(|&d| d as i64).eq(constant.dims.iter().copied());
        if info.dtype != dtype(constant.element_type)? || !same_dims {
            return Err(format!(
                "constant `{name}` is {}{:?}, but the manifest says {}{:?}",
                info.dtype, info.shape, constant.element_type, constant.dims
            ));
        }
        let range = start + info.data_offsets.0..start + info.data_offsets.1;
        if range.start % ALIGNMENT != 0 {
            return Err(format!("constant `{name}` is not aligned to {ALIGNMENT} bytes"));
        }
        if file.get(range.clone()).map(<[u8]>::len) != byte_size(constant.element_type, &constant.dims).ok() {
            return Err(format!("constant `{name}` has not the size that its dimensions imply"));
        }
        expected.insert(name.as_str());
        ranges.push(range);
    }
    match metadata.offset_keys().iter().find(|n| !expected.contains(n.as_str()) && !n.starts_with(PADDING)) {
        Some(extra) => Err(format!("the manifest does not know the constant `{extra}`")),
        None => Ok(ranges),
    }
}

fn push(
    tensors: &mut Vec<(String, TensorInfo)>,
    offset: &mut usize,
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: usize,
) -> Result<(), String> {
    let end = offset.checked_add(bytes).ok_or("the constants exceed what a file can hold")?;
    tensors.push((name, TensorInfo { dtype, shape, data_offsets: (*offset, end) }));
    *offset = end;
    Ok(())
}

fn padding_after(bytes: usize) -> usize {
    bytes.wrapping_neg() % ALIGNMENT
}

fn dtype(element_type: ElementType) -> Result<Dtype, String> {
    Ok(match element_type {
        ElementType::Bool => Dtype::BOOL,
        ElementType::I8 => Dtype::I8,
        ElementType::U8 => Dtype::U8,
        ElementType::I16 => Dtype::I16,
        ElementType::U16 => Dtype::U16,
        ElementType::I32 => Dtype::I32,
        ElementType::U32 => Dtype::U32,
        ElementType::I64 => Dtype::I64,
        ElementType::U64 => Dtype::U64,
        ElementType::F8E4M3FN => Dtype::F8_E4M3,
        ElementType::F8E5M2 => Dtype::F8_E5M2,
        ElementType::F16 => Dtype::F16,
        ElementType::BF16 => Dtype::BF16,
        ElementType::F32 => Dtype::F32,
        ElementType::F64 => Dtype::F64,
        ElementType::F8E4M3FNUZ => Dtype::F8_E4M3FNUZ,
        ElementType::F8E5M2FNUZ => Dtype::F8_E5M2FNUZ,
        ElementType::F8E8M0FNU => Dtype::F8_E8M0,
        // A byte each, which the format's own type for floats of four bits has not.
        ElementType::F4E2M1FN | ElementType::U2 | ElementType::U4 => Dtype::U8,
        ElementType::I2 | ElementType::I4 => Dtype::I8,
        ElementType::C64 => Dtype::C64,
        ElementType::C128 => return Err("safetensors has no type complex<f64>".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(name: &str, element_type: ElementType, dims: &[i64]) -> Constant {
        Constant { name: name.into(), element_type, dims: dims.to_vec() }
    }

    fn file(constants: &[Constant], data: &[&[u8]]) -> Vec<u8> {
        let layout = Layout::new(constants).unwrap();
        let mut bytes = Vec::new();
        layout.write(data, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn every_constant_is_found_aligned() {
        let constants = [
            constant("b", ElementType::U8, &[3]),
            constant("a", ElementType::F32, &[4, 4]),
            constant("empty", ElementType::F32, &[0]),
            constant("scalar", ElementType::F64, &[]),
        ];
        let data: [&[u8]; 4] = [&[1, 2, 3], &[7; 64], &[], &[9; 8]];
        let bytes = file(&constants, &data);
        let ranges = locate(&bytes, &constants).unwrap();
        for (range, data) in ranges.into_iter().zip(data) {
            assert_eq!(range.start % ALIGNMENT, 0);
            assert_eq!(&bytes[range], data);
        }
        assert!(safetensors::SafeTensors::deserialize(&bytes).is_ok());
    }

    #[test]
    fn no_constants() {
        assert_eq!(locate(&file(&[], &[]), &[]), Ok(vec![]));
    }

    #[test]
    fn disagreement_with_the_manifest_is_named() {
        let written = [constant("w", ElementType::F32, &[2])];
        let bytes = file(&written, &[&[0; 8]]);
        let error = |wanted: Constant| locate(&bytes, &[wanted]).unwrap_err();
        assert!(error(constant("w", ElementType::F32, &[3])).contains("the manifest says f32[3]"));
        assert!(error(constant("w", ElementType::I32, &[2])).contains("the manifest says i32[2]"));
        assert!(error(constant("v", ElementType::F32, &[2])).contains("`v` is missing"));
        assert!(locate(&bytes, &[]).unwrap_err().contains("does not know the constant `w`"));
    }

    #[test]
    fn reserved_names_are_refused() {
        for name in ["__metadata__", "__padding__0"] {
            assert!(Layout::new(&[constant(name, ElementType::F32, &[1])]).is_err());
        }
    }
}
