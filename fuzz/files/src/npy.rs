//! Files of NumPy.

use sutura_runtime::npy::{from_bytes, to_bytes};

use crate::{Planted, Verdict};

/// A file is refused with a reason, or is an array that is written as what is read as the same.
///
/// # Errors
/// When a law is broken that is no panic.
pub fn run(input: &[u8], planted: Planted) -> Verdict {
    let tensor = match from_bytes("input.npy", input) {
        Ok(tensor) => tensor,
        Err(error) if error.to_string().is_empty() => return Err("refused without a reason".to_string()),
        Err(_) => return Ok(()),
    };
    if tensor.bytes().len() > input.len() {
        return Err(format!("{} bytes of data in a file of {}", tensor.bytes().len(), input.len()));
    }
    let written = to_bytes(&tensor).map_err(|e| format!("what was read cannot be written: {e}"))?;
    let again = from_bytes("again.npy", &written).map_err(|e| format!("what was written is refused: {e}"))?;
    if (again.element_type(), again.dims(), again.bytes()) != (tensor.element_type(), tensor.dims(), tensor.bytes()) {
        return Err(format!("what was written is read as something else: {:?} {:?}", tensor.dims(), again.dims()));
    }
    if planted == Planted::Yes && tensor.dims().len() > 1 {
        // Rows of the array, which may have no bytes.
        let row = tensor.element_type().bytes() * tensor.dims()[1..].iter().product::<i64>() as usize;
        std::hint::black_box(tensor.bytes().chunks(row).count());
    }
    Ok(())
}
