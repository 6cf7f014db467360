//! `decide_size`: the host looks whether the number is a size, and whether there is place for as many.

use super::call::Call;

pub(super) fn run(call: &Call<'_>) -> Result<(), String> {
    let number = call.inputs.get(1).and_then(|number| number.bytes.try_into().ok()).map(i64::from_ne_bytes);
    call.decide(&[number.ok_or("takes one number")?]);
    Ok(())
}
