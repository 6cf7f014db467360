//! The zip archive around an artifact's entries, which has one form only.
//!
//! All that is not an entry's data, the *records*, follows from names, sizes and checksums of the entries. So the writer and
//! the reader make the same records; the reader compares them with those of the file, and reads nothing in them. A record
//! that another zip tool would take for something else (a second entry of a name, one inside another, a size that the
//! directory says and the entry does not) is not what the index implies, and is refused.
//!
//! The records are those of PKWARE's APPNOTE 6.3, without compression, flags, comments of entries, or times; sizes from
//! 2^32 - 1 on stand in fields of zip64.

use std::ops::Range;

use crate::abi::ALIGNMENT;

/// How every archive with at least one entry begins.
pub(super) const ENTRY_MAGIC: &[u8] = b"PK\x03\x04";
/// Where the name of the first entry is.
pub(super) const FIRST_NAME: usize = LOCAL_BYTES;

/// How the last record begins, and its size without the comment.
pub(super) const END_MAGIC: &[u8] = b"PK\x05\x06";
pub(super) const END_BYTES: usize = 22;

const CENTRAL_MAGIC: &[u8] = b"PK\x01\x02";
const END64_MAGIC: &[u8] = b"PK\x06\x06";
const LOCATOR_MAGIC: &[u8] = b"PK\x06\x07";

/// Size of an entry's header without name and extra fields.
const LOCAL_BYTES: usize = 30;
/// Where it has the checksum, and behind that the size twice.
const CRC_AT: usize = 14;

/// The extra field with sizes of 64 bits.
const ZIP64_FIELD: u16 = 1;
/// The extra field that aligns data, as Android's tools write it: the alignment, and padding.
const ALIGNMENT_FIELD: u16 = 0xd935;
const ALIGNMENT_FIELD_BYTES: u64 = 6;

/// 1 January 1980: the first day that the format knows.
const DATE: u16 = 0x21;
/// A file that all may read.
const ATTRIBUTES: u32 = 0o100_644 << 16;
/// Unix, and the version of the format that has 64 bits.
const MADE_BY: u16 = 3 << 8 | 45;

/// An entry, as far as the archive's records tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stored<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: u64,
    pub(super) crc: u32,
}

/// Bytes of the archive that are no entry's data.
pub(super) struct Record {
    pub(super) at: u64,
    pub(super) bytes: Vec<u8>,
    /// The entry whose header it is; none for the directory at the end.
    pub(super) entry: Option<usize>,
}

/// Where everything is in an archive with these entries in this order.
pub(super) struct Layout {
    /// By place.
    pub(super) records: Vec<Record>,
    /// By entry.
    pub(super) data: Vec<Range<u64>>,
    /// Size of the file.
    pub(super) bytes: u64,
}

impl Layout {
    /// `None` where no file can hold it.
    pub(super) fn new(entries: &[Stored<'_>], comment: &str) -> Option<Self> {
        let (mut records, mut data, mut directory, mut at) = (Vec::new(), Vec::new(), Vec::new(), 0u64);
        for (number, entry) in entries.iter().enumerate() {
            let header = local_header(entry, at)?;
            directory.extend(central_header(entry, at)?);
            let start = at.checked_add(header.len() as u64)?;
            records.push(Record { at, bytes: header, entry: Some(number) });
            at = start.checked_add(entry.bytes)?;
            data.push(start..at);
        }
        directory.extend(end(entries.len(), directory.len() as u64, at, comment)?);
        let bytes = at.checked_add(directory.len() as u64)?;
        records.push(Record { at, bytes: directory, entry: None });
        i64::try_from(bytes).ok()?;
        Some(Self { records, data, bytes })
    }
}

/// What the header of the first entry says of it; `None` where the archive is too short. Only what a layout made of it
/// agrees with is true.
pub(super) fn first<'a>(archive: &[u8], name: &'a str) -> Option<Stored<'a>> {
    let word = |at: usize| archive.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    Some(Stored { name, crc: word(CRC_AT)?, bytes: u64::from(word(CRC_AT + 4)?) })
}

/// The header before an entry's data, which is aligned with it.
pub(super) fn local_header(entry: &Stored<'_>, at: u64) -> Option<Vec<u8>> {
    let mut extra = Vec::new();
    if narrow(entry.bytes) == u32::MAX {
        field(&mut extra, ZIP64_FIELD, &[entry.bytes, entry.bytes]);
    }
    let unaligned =
        at.checked_add((LOCAL_BYTES + entry.name.len() + extra.len()) as u64)?.checked_add(ALIGNMENT_FIELD_BYTES)?;
    let padding = unaligned.wrapping_neg() as usize % ALIGNMENT;
    extra.extend(ALIGNMENT_FIELD.to_le_bytes());
    extra.extend((2 + padding as u16).to_le_bytes());
    extra.extend((ALIGNMENT as u16).to_le_bytes());
    extra.resize(extra.len() + padding, 0);
    let mut header = ENTRY_MAGIC.to_vec();
    common(&mut header, entry, extra.len())?;
    header.extend(entry.name.as_bytes());
    header.extend(extra);
    Some(header)
}

/// An entry's part of the directory.
fn central_header(entry: &Stored<'_>, at: u64) -> Option<Vec<u8>> {
    let wide: Vec<u64> = [entry.bytes, entry.bytes, at].into_iter().filter(|n| narrow(*n) == u32::MAX).collect();
    let mut extra = Vec::new();
    if !wide.is_empty() {
        field(&mut extra, ZIP64_FIELD, &wide);
    }
    let mut header = CENTRAL_MAGIC.to_vec();
    header.extend(MADE_BY.to_le_bytes());
    common(&mut header, entry, extra.len())?;
    // No comment, the first disk, binary data.
    header.extend([0; 6]);
    header.extend(ATTRIBUTES.to_le_bytes());
    header.extend(narrow(at).to_le_bytes());
    header.extend(entry.name.as_bytes());
    header.extend(extra);
    Some(header)
}

/// What the two headers of an entry have in common.
fn common(header: &mut Vec<u8>, entry: &Stored<'_>, extra: usize) -> Option<()> {
    let version: u16 = if narrow(entry.bytes) == u32::MAX { 45 } else { 10 };
    // Neither flags nor compression nor a time.
    for word in [version, 0, 0, 0, DATE] {
        header.extend(word.to_le_bytes());
    }
    for word in [entry.crc, narrow(entry.bytes), narrow(entry.bytes)] {
        header.extend(word.to_le_bytes());
    }
    header.extend(u16::try_from(entry.name.len()).ok()?.to_le_bytes());
    header.extend(u16::try_from(extra).ok()?.to_le_bytes());
    Some(())
}

/// What stands behind the directory, which has `bytes` bytes from `at` on.
fn end(entries: usize, bytes: u64, at: u64, comment: &str) -> Option<Vec<u8>> {
    let entries = u16::try_from(entries).ok().filter(|n| *n < u16::MAX)?;
    let narrow_bytes = u32::try_from(bytes).ok()?;
    let mut end = Vec::new();
    if narrow(at) == u32::MAX {
        end.extend(END64_MAGIC);
        end.extend(44u64.to_le_bytes());
        end.extend(MADE_BY.to_le_bytes());
        end.extend(45u16.to_le_bytes());
        end.extend([0; 8]);
        for word in [u64::from(entries), u64::from(entries), bytes, at] {
            end.extend(word.to_le_bytes());
        }
        end.extend(LOCATOR_MAGIC);
        end.extend(0u32.to_le_bytes());
        end.extend(at.checked_add(bytes)?.to_le_bytes());
        end.extend(1u32.to_le_bytes());
    }
    end.extend(END_MAGIC);
    end.extend([0; 4]);
    for word in [entries, entries] {
        end.extend(word.to_le_bytes());
    }
    end.extend(narrow_bytes.to_le_bytes());
    end.extend(narrow(at).to_le_bytes());
    end.extend(u16::try_from(comment.len()).ok()?.to_le_bytes());
    end.extend(comment.as_bytes());
    Some(end)
}

/// A number in a field of 32 bits; all ones where it stands in one of 64.
fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn field(extra: &mut Vec<u8>, id: u16, numbers: &[u64]) {
    extra.extend(id.to_le_bytes());
    extra.extend((8 * numbers.len() as u16).to_le_bytes());
    extra.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    /// Another reader of zip files finds what the records say, also behind 4 GiB. The data are holes of the file.
    #[test]
    fn others_read_the_records() {
        let wide = u64::from(u32::MAX);
        for sizes in [&[5, 0, 70][..], &[5, wide - 1, 9], &[5, wide, 9], &[5, 3 * wide, 1]] {
            let names: Vec<String> = (0..sizes.len()).map(|n| format!("folder/{n}")).collect();
            let entries: Vec<Stored<'_>> =
                names.iter().zip(sizes).map(|(name, &bytes)| Stored { name, bytes, crc: 7 }).collect();
            let layout = Layout::new(&entries, "a comment").unwrap();
            let file = tempfile::tempfile().unwrap();
            file.set_len(layout.bytes).unwrap();
            for record in &layout.records {
                file.write_all_at(&record.bytes, record.at).unwrap();
            }
            let mut archive = zip::ZipArchive::new(file).unwrap();
            assert_eq!((archive.len(), archive.offset(), archive.comment()), (sizes.len(), 0, &b"a comment"[..]));
            assert!(!archive.has_duplicate_names() && !archive.has_overlapping_entries().unwrap());
            for (number, entry) in entries.iter().enumerate() {
                let found = archive.by_index_raw(number).unwrap();
                let start = layout.data[number].start;
                assert_eq!((found.name().unwrap().as_ref(), found.size()), (entry.name, entry.bytes));
                assert_eq!((found.compressed_size(), found.crc32()), (entry.bytes, 7));
                assert_eq!((found.data_start(), start % ALIGNMENT as u64), (Some(start), 0));
            }
        }
    }

    #[test]
    fn what_no_file_can_hold_has_no_layout() {
        let entry = |bytes| Stored { name: "a", bytes, crc: 0 };
        assert!(Layout::new(&[entry(u64::MAX)], "").is_none());
        assert!(Layout::new(&[entry(1 << 62), entry(1 << 62)], "").is_none());
        assert!(Layout::new(&[entry(u64::MAX - 10), entry(u64::MAX)], "").is_none());
        assert!(Layout::new(&vec![entry(0); 70_000], "").is_none());
        let long = "n".repeat(70_000);
        assert!(Layout::new(&[Stored { name: &long, bytes: 0, crc: 0 }], "").is_none());
    }
}
