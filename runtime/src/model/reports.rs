//! What kernels of a device report of wrong data: three words of its memory, as [`SuturaRt::reports`] says.
//!
//! [`SuturaRt::reports`]: crate::abi::SuturaRt::reports

use super::run::WrongData;
use crate::abi::{REPORT_POSITION_BITS, REPORT_WORDS};
use crate::device::{Buffer, Device, DeviceError, Stream};

/// The words on the device.
pub(super) struct Reports {
    words: Buffer,
}

impl Reports {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self { words: device.allocate(REPORT_WORDS as u64 * 8)? })
    }

    pub(super) fn address(&self) -> u64 {
        self.words.address()
    }

    /// Nothing is reported from here on.
    pub(super) fn clear(&self, stream: &mut Stream) -> Result<(), DeviceError> {
        let words = [u64::MAX, 0, 0].map(u64::to_le_bytes);
        stream.upload(&self.words, 0, words.as_flattened())
    }

    /// Waits for the stream: what comes first of what was reported. Index and size mean something only after the repeated run.
    pub(super) fn read(&self, stream: &mut Stream) -> Result<Option<WrongData>, DeviceError> {
        let mut words = [[0; 8]; REPORT_WORDS];
        stream.download(&self.words, 0, words.as_flattened_mut())?;
        Ok(wrong_data(words.map(u64::from_le_bytes)))
    }
}

fn wrong_data([key, index, size]: [u64; REPORT_WORDS]) -> Option<WrongData> {
    let position = (key & ((1 << REPORT_POSITION_BITS) - 1)).cast_signed() - 1;
    let check = (key >> REPORT_POSITION_BITS).cast_signed();
    let (index, size) = (index.cast_signed(), size.cast_signed());
    (key != u64::MAX).then_some(WrongData { check, position, index, size })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_holds_check_and_position() {
        let wrong = wrong_data([7 << 48 | 5, (-3_i64).cast_unsigned(), 9]).expect("something was reported");
        assert_eq!((wrong.check, wrong.position, wrong.index, wrong.size), (7, 4, -3, 9));
        assert_eq!(wrong_data([2 << 48, 0, 0]).expect("something was reported").position, -1);
        assert!(wrong_data([u64::MAX, 0, 0]).is_none());
    }
}
