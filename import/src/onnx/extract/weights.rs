//! Weights in files beside a model: left there, or copied into one file beside the part.

use bytes::Bytes;
use prost::Message;

use super::super::external::{ExternalData, Origin};
use super::super::proto::{StringStringEntryProto, TensorProto, tensor_proto};
use super::super::tensor::{ElementType, element_count};
use super::ExtractError;
use super::wire::{fields, push};

/// Where data begin in the file that they are copied to: a multiple of this, so that they can be mapped.
const ALIGNMENT: u64 = 4096;

/// Data that are copied.
pub(super) struct Weights<'w> {
    external: ExternalData<'w>,
    /// The file that they go to; none where they stay.
    file: Option<&'w str>,
    data: Vec<Bytes>,
    length: u64,
}

impl<'w> Weights<'w> {
    pub(super) fn new(origin: &'w Origin, file: Option<&'w str>) -> Self {
        Self { external: ExternalData::new(Some(origin)), file, data: Vec::new(), length: 0 }
    }

    pub(super) fn into_data(self) -> Vec<Bytes> {
        self.data
    }

    /// A tensor, which points to the copy of its data if they are copied.
    pub(super) fn tensor(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        let Some(file) = self.file else { return Ok(message.to_vec()) };
        // The data of most tensors lie in them and may be many; only the location is looked at.
        let location = fields(message)?.into_iter().any(|field| field.number == 13);
        if !location {
            return Ok(message.to_vec());
        }
        let tensor = TensorProto::decode(message)?;
        if tensor.data_location() != tensor_proto::DataLocation::External as i32 {
            return Ok(message.to_vec());
        }
        let (offset, size) = self.copy(&tensor)?;
        let entries = [("location", file.to_owned()), ("offset", offset.to_string()), ("length", size.to_string())];
        let mut made = Vec::new();
        for field in fields(message)?.into_iter().filter(|field| field.number != 13) {
            made.extend_from_slice(field.whole);
        }
        for (key, value) in entries {
            let entry = StringStringEntryProto { key: Some(key.to_owned()), value: Some(value) };
            push(&mut made, 13, &entry.encode_to_vec());
        }
        Ok(made)
    }

    /// Copies the data of a tensor; where they begin, and how many bytes they are.
    fn copy(&mut self, tensor: &TensorProto) -> Result<(u64, u64), ExtractError> {
        let wrong = |why: String| ExtractError::Data(format!("tensor `{}`: {why}", tensor.name()));
        let dims: Option<Vec<u64>> = tensor.dims.iter().map(|dim| u64::try_from(*dim).ok()).collect();
        let element = ElementType::from_code(tensor.data_type().into());
        let size = element.zip(dims.and_then(|dims| element_count(&dims))).and_then(|(e, count)| e.byte_len(count));
        let size = size.ok_or_else(|| wrong("its type tells no size".to_owned()))?;
        let bytes = self.external.read(&tensor.external_data, size).map_err(wrong)?;
        let padding = self.length.next_multiple_of(ALIGNMENT) - self.length;
        self.data.push(vec![0; padding as usize].into());
        let offset = self.length + padding;
        self.data.push(bytes);
        self.length = offset + size;
        Ok((offset, size))
    }

    /// A node, with tensors in its attributes and in the graphs there.
    pub(super) fn node(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        self.each(message, |this, number, content| match number {
            5 => this.attribute(content).map(Some),
            _ => Ok(None),
        })
    }

    /// A function of the model, the same.
    pub(super) fn function(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        self.each(message, |this, number, content| match number {
            7 => this.node(content).map(Some),
            _ => Ok(None),
        })
    }

    fn attribute(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        self.each(message, |this, number, content| match number {
            5 | 10 => this.tensor(content).map(Some),
            6 | 11 => this.graph(content).map(Some),
            _ => Ok(None),
        })
    }

    fn graph(&mut self, message: &[u8]) -> Result<Vec<u8>, ExtractError> {
        self.each(message, |this, number, content| match number {
            1 => this.node(content).map(Some),
            5 => this.tensor(content).map(Some),
            _ => Ok(None),
        })
    }

    /// A message of which some fields are replaced.
    fn each(
        &mut self,
        message: &[u8],
        replaced: impl Fn(&mut Self, u32, &[u8]) -> Result<Option<Vec<u8>>, ExtractError>,
    ) -> Result<Vec<u8>, ExtractError> {
        let mut made = Vec::with_capacity(message.len());
        for field in fields(message)? {
            match replaced(self, field.number, field.content)? {
                Some(content) => push(&mut made, field.number, &content),
                None => made.extend_from_slice(field.whole),
            }
        }
        Ok(made)
    }
}
