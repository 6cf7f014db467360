//! Checksums made right, so that the fuzzer gets behind them.

const END: &[u8] = b"PK\x05\x06";
const END_BYTES: usize = 22;
const CENTRAL: &[u8] = b"PK\x01\x02";
const CENTRAL_BYTES: usize = 46;
const LOCAL: &[u8] = b"PK\x03\x04";
const LOCAL_BYTES: usize = 30;

/// Writes the checksums of the entries of a zip archive anew, as far as there is an archive; sizes and places stay, right or wrong.
pub(super) fn repair(bytes: &mut [u8]) {
    let Some(end) = bytes.len().checked_sub(END_BYTES).filter(|at| bytes[*at..].starts_with(END)) else { return };
    let mut at = number(bytes, end + 16, 4).unwrap_or(usize::MAX);
    while bytes.get(at..).is_some_and(|rest| rest.starts_with(CENTRAL)) {
        let Some(next) = repair_entry(bytes, at) else { return };
        at = next;
    }
}

/// Repairs the entry whose record in the directory is at `at`; gives the place of the next one.
fn repair_entry(bytes: &mut [u8], at: usize) -> Option<usize> {
    let variable = number(bytes, at + 28, 2)? + number(bytes, at + 30, 2)? + number(bytes, at + 32, 2)?;
    let (size, local) = (number(bytes, at + 20, 4)?, number(bytes, at + 42, 4)?);
    if bytes.get(local..)?.starts_with(LOCAL) {
        let start = local + LOCAL_BYTES + number(bytes, local + 26, 2)? + number(bytes, local + 28, 2)?;
        let sum = crc32fast::hash(bytes.get(start..start.checked_add(size)?)?).to_le_bytes();
        bytes.get_mut(at + 16..at + 20)?.copy_from_slice(&sum);
        bytes.get_mut(local + 14..local + 18)?.copy_from_slice(&sum);
    }
    Some(at + CENTRAL_BYTES + variable)
}

/// A number of a few bytes, the least one first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<usize> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}
