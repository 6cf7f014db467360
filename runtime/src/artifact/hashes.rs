//! Hashes of what an artifact holds: of each entry's blocks, and one of the index that has these.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};

/// Bytes of a block. An entry's last block may be shorter.
pub(super) const BLOCK: usize = 1 << 20;

/// Blocks that are worth a thread.
const BLOCKS_OF_THREAD: usize = 4;

/// BLAKE3 of some bytes. As text it is in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Digest(blake3::Hash);

impl Digest {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes))
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let lower = !text.bytes().any(|b| b.is_ascii_uppercase());
        let hash = blake3::Hash::from_hex(&text).ok().filter(|_| lower);
        hash.map(Self).ok_or_else(|| format!("`{text}` is no hash of 64 lower-case hexadecimal digits"))
    }
}

/// What is written to it is summed up: size, checksum of the zip format, hashes of blocks.
pub(super) struct Summary {
    pub(super) bytes: u64,
    pub(super) crc: crc32fast::Hasher,
    blocks: Vec<Digest>,
    /// Of the block that is not full yet, and how much of it there is.
    hasher: blake3::Hasher,
    filled: usize,
}

impl Summary {
    pub(super) fn new() -> Self {
        let (crc, hasher) = (crc32fast::Hasher::new(), blake3::Hasher::new());
        Self { bytes: 0, crc, blocks: Vec::new(), hasher, filled: 0 }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(BLOCK - self.filled));
            self.hasher.update(now);
            self.filled += now.len();
            rest = later;
            if self.filled == BLOCK {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        self.blocks.push(Digest(self.hasher.finalize()));
        self.hasher.reset();
        self.filled = 0;
    }

    /// The hashes of all blocks.
    pub(super) fn into_blocks(mut self) -> Vec<Digest> {
        if self.filled > 0 {
            self.end_block();
        }
        self.blocks
    }
}

impl Write for Summary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes, and the hashes that their blocks should have, as many as there are blocks.
pub(super) struct Expected<'a> {
    pub(super) data: &'a [u8],
    pub(super) blocks: &'a [Digest],
}

/// The first block that has another hash: its number in `all`, and where it is in the data. Takes at most `threads` threads,
/// the caller's included.
pub(super) fn first_wrong(all: &[Expected<'_>], threads: usize) -> Option<(usize, Range<usize>)> {
    let blocks: Vec<(usize, usize)> =
        all.iter().enumerate().flat_map(|(i, expected)| (0..expected.blocks.len()).map(move |k| (i, k))).collect();
    let (next, wrong) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            // Blocks are taken in their order, so that behind a wrong one nothing is looked at that matters.
            if at >= blocks.len() || at > wrong.load(Ordering::Relaxed) {
                return;
            }
            let (i, k) = blocks[at];
            if Digest::of(&all[i].data[block(all[i].data, k)]) != all[i].blocks[k] {
                wrong.fetch_min(at, Ordering::Relaxed);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(blocks.len() / BLOCKS_OF_THREAD) {
            // A thread that the system refuses only makes it slower.
            let _ = thread::Builder::new().name("sutura-check".into()).spawn_scoped(scope, work);
        }
        work();
    });
    let (i, k) = *blocks.get(wrong.into_inner())?;
    Some((i, block(all[i].data, k)))
}

fn block(data: &[u8], number: usize) -> Range<usize> {
    number * BLOCK..data.len().min((number + 1) * BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_depend_on_how_they_were_written() {
        let data: Vec<u8> = (0..2 * BLOCK + 17).map(|i| (i / 3) as u8).collect();
        let mut pieces = Summary::new();
        data.chunks(77_777).for_each(|piece| pieces.add(piece));
        assert_eq!((pieces.bytes, pieces.crc.clone().finalize()), (data.len() as u64, crc32fast::hash(&data)));
        let whole: Vec<Digest> = data.chunks(BLOCK).map(Digest::of).collect();
        assert_eq!(pieces.into_blocks(), whole);
        assert_eq!(Summary::new().into_blocks(), []);
    }

    #[test]
    fn the_first_wrong_block_is_found_by_any_number_of_threads() {
        let mut data = vec![3u8; 40 * BLOCK + 5];
        let blocks: Vec<Digest> = data.chunks(BLOCK).map(Digest::of).collect();
        let small = [1u8, 2, 3];
        let hash = [Digest::of(&small)];
        let find = |data: &[u8], threads| {
            let small = Expected { data: &small, blocks: &hash };
            first_wrong(&[small, Expected { data, blocks: &blocks }], threads)
        };
        assert_eq!(find(&data, 3), None);
        *data.last_mut().unwrap() = 0;
        for threads in 1..6 {
            assert_eq!(find(&data, threads), Some((1, 40 * BLOCK..40 * BLOCK + 5)));
        }
        data[7 * BLOCK] ^= 1;
        for threads in 1..6 {
            assert_eq!(find(&data, threads), Some((1, 7 * BLOCK..8 * BLOCK)));
        }
        assert_eq!(first_wrong(&[], 4), None);
    }

    #[test]
    fn hashes_are_told_as_lower_case_hexadecimal() {
        let digest = Digest::of(b"");
        let text = digest.to_string();
        assert_eq!(text, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
        assert_eq!(Digest::try_from(text.clone()), Ok(digest));
        for wrong in ["", "af", &text.to_uppercase(), &text.replace('a', "g"), &format!("{text}0")] {
            assert!(Digest::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
