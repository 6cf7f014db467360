//! `.pb`: one `TensorProto`, as the data of ONNX's tests are kept.

use sutura_import::onnx::{self, tensor_from_file};
use sutura_runtime::{ElementType, Tensor};

use crate::error::{Problem, short};
use crate::{check_booleans, little_endian};

/// A file that was decoded.
#[derive(Debug)]
pub(crate) struct Message {
    tensor: onnx::Tensor,
}

impl Message {
    pub(crate) fn new(bytes: Vec<u8>) -> Result<Self, Problem> {
        let tensor = tensor_from_file(bytes.into())?;
        Ok(Self { tensor })
    }

    pub(crate) fn name(&self) -> &str {
        &self.tensor.name
    }

    pub(crate) fn signature(&self) -> Result<(ElementType, Vec<i64>), Problem> {
        let name = self.tensor.element.name();
        let element_type = ElementType::from_name(name).ok_or_else(|| no_such_type(name))?;
        let dims: Result<Vec<i64>, _> = self.tensor.dims.iter().map(|&dim| i64::try_from(dim)).collect();
        Ok((element_type, dims.map_err(|_| format!("its shape {:?} is too large", self.tensor.dims))?))
    }

    pub(crate) fn tensor(&self) -> Result<Tensor, Problem> {
        let (element_type, dims) = self.signature()?;
        let no_type = || no_such_type(self.tensor.element.name());
        let mut tensor = match element_type.bits() < 8 {
            true => Tensor::from_bytes(
                element_type,
                &dims,
                &self.tensor.unpacked().ok_or_else(no_type)?.collect::<Vec<_>>(),
            )?,
            false => Tensor::from_bytes(element_type, &dims, self.tensor.bytes().ok_or_else(no_type)?)?,
        };
        little_endian(tensor.bytes_mut(), element_type.word_bytes());
        check_booleans(&tensor)?;
        Ok(tensor)
    }
}

/// What is said of an element type that tensors of models have not.
pub(crate) fn no_such_type(name: &str) -> String {
    format!("its element type `{}` is none that inputs and outputs of models have", short(name))
}
