//! Files with one `TensorProto`, as ONNX keeps the data of its tests.

use bytes::Bytes;
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};

use super::decode;
use super::proto::TensorProto;
use super::sniff;
use super::tensor::{ElementType, Tensor};

/// The field of `TensorProto` that holds bytes as they are.
const RAW_DATA: u32 = 9;

/// What a file with one tensor holds, checked as a model's tensors are. It stands alone: data in other files are refused.
///
/// # Errors
/// A sentence about the file.
pub fn tensor_from_file(bytes: Bytes) -> Result<Tensor, String> {
    if bytes.is_empty() {
        return Err("it is empty".to_owned());
    }
    let other = |reason: String| match sniff::file_kind(&bytes) {
        Some(kind) => format!("it looks like {kind}"),
        None => reason,
    };
    let message = TensorProto::decode(bytes.clone()).map_err(|e| other(format!("it is no TensorProto: {e}")))?;
    if message.data_type.is_none() {
        return Err(other("it is no TensorProto: it says no element type".to_owned()));
    }
    decode::lone_tensor(message).map_err(|reason| format!("its tensor {reason}"))
}

/// The file of a tensor, up to its `len` bytes of data, which are to follow as [`Tensor::bytes`] has them.
pub fn tensor_file_head(name: &str, element: ElementType, dims: &[i64], len: u64) -> Vec<u8> {
    let message = TensorProto {
        dims: dims.to_vec(),
        data_type: Some(element.code()),
        name: (!name.is_empty()).then(|| name.to_owned()),
        ..TensorProto::default()
    };
    let mut head = message.encode_to_vec();
    encode_key(RAW_DATA, WireType::LengthDelimited, &mut head);
    encode_varint(len, &mut head);
    head
}
