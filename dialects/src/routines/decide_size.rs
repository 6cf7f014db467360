//! What `decide_size` does.

use sutura_interp::{Fault, Tensor};

use super::{Run, integers};

pub(super) fn run(call: &Run<'_>) -> Result<Vec<Tensor>, Fault> {
    let (places, number) = (&call.inputs[0], &call.inputs[1]);
    if number.len() != 1 {
        return Err(Fault::shape(format!("takes one number as a size, not {}", number.len())));
    }
    let number = number.data().read(0)?.as_i64().unwrap_or(-1);
    let place = places.shape()[0];
    match usize::try_from(number) {
        Ok(size) if size <= place => Ok(vec![Tensor::zeros(places.dtype(), &[size, 0])?, integers(&[number])?]),
        Ok(_) => Err(Fault::shape(format!("data ask for a size of {number}, and there is place for {place}"))),
        Err(_) => Err(Fault::shape(format!("data ask for a size of {number}"))),
    }
}
