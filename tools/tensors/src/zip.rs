//! Zip files as archives of arrays: what stands in their directory, compared with what is there; entries stored or deflated.
//!
//! Of a zip file only the directory at its end counts, and only one that ends with the file and begins where it says. Entries
//! may not overlap, may not have one name, and may not claim more bytes than deflate can make of theirs.

use std::collections::HashSet;
use std::io::{BufReader, Read, Seek, SeekFrom, Take, Write};

use flate2::bufread::DeflateDecoder;

use crate::error::{Problem, short};

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;

/// Bytes of the records without what follows them.
const LOCAL_SIZE: u64 = 30;
const CENTRAL_SIZE: usize = 46;
const END_SIZE: u64 = 22;
const LOCATOR_SIZE: u64 = 20;
const END_64_SIZE: u64 = 56;

/// The longest comment behind the last record.
const MAX_COMMENT: u64 = 0xffff;

/// Number of the extra field that holds what 32 bits do not.
const EXTRA_64: u16 = 1;

const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
const SIZES_FOLLOW: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Bytes that deflate can make of one.
const MOST_OF_ONE: u64 = 1032;

/// An entry, as the directory has it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    method: u16,
    crc: u32,
    packed: u64,
    /// Bytes of what it holds.
    pub(crate) size: u64,
    /// Where its record begins.
    at: u64,
    /// Where the next one begins, or the directory.
    end: u64,
}

/// Reads the directory of a file of `length` bytes.
pub(crate) fn entries(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<Entry>, Problem> {
    let place = find_directory(file, length)?;
    file.seek(SeekFrom::Start(place.begin))?;
    let mut bytes = vec![0; usize::try_from(place.size).map_err(|_| "its directory is too large")?];
    file.read_exact(&mut bytes)?;
    let mut fields = Fields { rest: &bytes };
    let (mut entries, mut seen) = (Vec::new(), HashSet::new());
    while !fields.rest.is_empty() {
        let entry = central(&mut fields)?;
        if !seen.insert(entry.name.clone()) {
            return Err(format!("two entries are called `{}`", short(&entry.name)).into());
        }
        entries.push(entry);
    }
    if entries.len() as u64 != place.entries {
        return Err(format!("its directory has {} entries, not {}", entries.len(), place.entries).into());
    }
    check_places(&mut entries, place.begin)?;
    Ok(entries)
}

struct Directory {
    begin: u64,
    size: u64,
    entries: u64,
}

fn find_directory(file: &mut (impl Read + Seek), length: u64) -> Result<Directory, Problem> {
    let tail = length.min(END_SIZE + MAX_COMMENT);
    file.seek(SeekFrom::Start(length - tail))?;
    let mut bytes = vec![0; tail as usize];
    file.read_exact(&mut bytes)?;
    let ends = (0..=bytes.len().saturating_sub(END_SIZE as usize)).rev().find(|&at| is_end(&bytes[at..]));
    let Some(at) = ends else {
        return Err("it is no zip file, or it is truncated: no directory ends it".into());
    };
    let mut fields = Fields { rest: &bytes[at + 4..] };
    let disks = [fields.u16()?, fields.u16()?];
    let counts = [fields.u16()?, fields.u16()?];
    let (size, begin) = (fields.u32()?, fields.u32()?);
    let mut end = length - tail + at as u64;
    let is_64 = counts.contains(&u16::MAX) || [size, begin].contains(&u32::MAX) || disks.contains(&u16::MAX);
    let directory = match is_64 && end >= LOCATOR_SIZE {
        true => match directory_64(file, end)? {
            Some((directory, at)) => {
                end = at;
                directory
            }
            None => plain(disks, counts, size, begin)?,
        },
        false => plain(disks, counts, size, begin)?,
    };
    if directory.begin.checked_add(directory.size) != Some(end) {
        let Directory { begin, size, .. } = directory;
        return Err(format!("its directory is to have {size} bytes from byte {begin}, and ends at byte {end}").into());
    }
    Ok(directory)
}

/// Whether a record is the last one, whose comment ends the file.
fn is_end(bytes: &[u8]) -> bool {
    let comment = bytes.get(20..22).map(|b| usize::from(u16::from_le_bytes([b[0], b[1]])));
    bytes.starts_with(&END.to_le_bytes()) && comment == Some(bytes.len() - END_SIZE as usize)
}

fn plain(disks: [u16; 2], counts: [u16; 2], size: u32, begin: u32) -> Result<Directory, Problem> {
    if disks != [0, 0] || counts[0] != counts[1] {
        return Err("it is a part of a zip file of several".into());
    }
    Ok(Directory { begin: begin.into(), size: size.into(), entries: counts[0].into() })
}

/// The directory of a large file, and where its last record begins; none where no such record is there.
fn directory_64(file: &mut (impl Read + Seek), end: u64) -> Result<Option<(Directory, u64)>, Problem> {
    let mut locator = [0; LOCATOR_SIZE as usize];
    file.seek(SeekFrom::Start(end - LOCATOR_SIZE))?;
    file.read_exact(&mut locator)?;
    let mut fields = Fields { rest: &locator };
    if fields.u32()? != LOCATOR_64 {
        return Ok(None);
    }
    let (disk, at, disks) = (fields.u32()?, fields.u64()?, fields.u32()?);
    if at.checked_add(END_64_SIZE).is_none_or(|last| last > end - LOCATOR_SIZE) {
        return Err("the record of its 64-bit directory is not where it says".into());
    }
    file.seek(SeekFrom::Start(at))?;
    let mut record = [0; END_64_SIZE as usize];
    file.read_exact(&mut record)?;
    let mut fields = Fields { rest: &record };
    if fields.u32()? != END_64 {
        return Err("the record of its 64-bit directory is not where it says".into());
    }
    let (size_of_record, _versions, of_disks) = (fields.u64()?, fields.u32()?, [fields.u32()?, fields.u32()?]);
    let counts = [fields.u64()?, fields.u64()?];
    if size_of_record.checked_add(at + 12) != Some(end - LOCATOR_SIZE) {
        return Err("the record of its 64-bit directory has another size than it says".into());
    }
    if disk != 0 || disks != 1 || of_disks != [0, 0] || counts[0] != counts[1] {
        return Err("it is a part of a zip file of several".into());
    }
    Ok(Some((Directory { entries: counts[0], size: fields.u64()?, begin: fields.u64()? }, at)))
}

/// The next entry of the directory.
fn central(fields: &mut Fields<'_>) -> Result<Entry, Problem> {
    if fields.rest.len() < CENTRAL_SIZE || fields.u32()? != CENTRAL {
        return Err("its directory is damaged".into());
    }
    let _versions = fields.u32()?;
    let (flags, method, _time, crc) = (fields.u16()?, fields.u16()?, fields.u32()?, fields.u32()?);
    let (packed, size) = (fields.u32()?, fields.u32()?);
    let (name, extra, comment) = (fields.u16()?, fields.u16()?, fields.u16()?);
    let (disk, _attributes, _more, at) = (fields.u16()?, fields.u16()?, fields.u32()?, fields.u32()?);
    let name = text(fields.take(name.into())?, flags)?;
    let extra = fields.take(extra.into())?;
    fields.take(comment.into())?;
    let [size, packed, at] = wide(extra, [size, packed, at], &name)?;
    if disk != 0 && disk != u16::MAX {
        return Err(format!("`{}` is on another disk", short(&name)).into());
    }
    let entry = Entry { name, method, crc, packed, size, at, end: 0 };
    entry.check(flags)?;
    Ok(entry)
}

fn text(bytes: &[u8], flags: u16) -> Result<String, Problem> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| flags & UTF8 != 0 || text.is_ascii());
    let shown = || format!("the name of an entry is no text: `{}`", bytes.escape_ascii());
    text.map(str::to_owned).ok_or_else(|| short(&shown()).into())
}

/// Numbers of an entry, of which those that are all ones stand in its extra field.
fn wide(extra: &[u8], numbers: [u32; 3], name: &str) -> Result<[u64; 3], Problem> {
    let damaged = || Problem::from(format!("the extra field of `{}` is damaged", short(name)));
    let mut fields = Fields { rest: extra };
    let mut numbers_64 = Fields { rest: &[] };
    let mut found = false;
    while !fields.rest.is_empty() {
        let (number, size) = (fields.u16().map_err(|_| damaged())?, fields.u16().map_err(|_| damaged())?);
        let content = fields.take(size.into()).map_err(|_| damaged())?;
        if number == EXTRA_64 {
            if found {
                return Err(damaged());
            }
            (found, numbers_64.rest) = (true, content);
        }
    }
    let mut read = |number: u32| match number {
        u32::MAX if found => numbers_64.u64().map_err(|_| damaged()),
        number => Ok(number.into()),
    };
    Ok([read(numbers[0])?, read(numbers[1])?, read(numbers[2])?])
}

/// Entries lie before the directory, one behind the other.
fn check_places(entries: &mut [Entry], directory: u64) -> Result<(), Problem> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&i| entries[i].at);
    for (k, &i) in order.iter().enumerate() {
        let end = order.get(k + 1).map_or(directory, |&next| entries[next].at.min(directory));
        let entry = &mut entries[i];
        let least = LOCAL_SIZE.checked_add(entry.name.len() as u64).and_then(|n| n.checked_add(entry.packed));
        if least.and_then(|least| entry.at.checked_add(least)).is_none_or(|last| last > end) {
            return Err(format!("`{}` overlaps what follows it", short(&entry.name)).into());
        }
        entry.end = end;
    }
    Ok(())
}

impl Entry {
    fn check(&self, flags: u16) -> Result<(), Problem> {
        let name = short(&self.name);
        if flags & ENCRYPTED != 0 {
            return Err(format!("`{name}` is encrypted").into());
        }
        match self.method {
            STORED if self.packed != self.size => {
                Err(format!("`{name}` is stored in {} bytes and claims {}", self.packed, self.size).into())
            }
            DEFLATED if self.size > self.packed.saturating_mul(MOST_OF_ONE) => {
                let (packed, size) = (self.packed, self.size);
                Err(format!("`{name}` claims {size} bytes, which no {packed} compressed bytes make").into())
            }
            STORED | DEFLATED => Ok(()),
            other => {
                Err(format!("`{name}` is compressed by method {other}; stored and deflated entries are read").into())
            }
        }
    }

    /// Reads what the entry holds.
    pub(crate) fn open<'a, R: Read + Seek>(&'a self, file: &'a mut R) -> Result<Content<'a, R>, Problem> {
        file.seek(SeekFrom::Start(self.at))?;
        let mut record = [0; LOCAL_SIZE as usize];
        file.read_exact(&mut record)?;
        let mut fields = Fields { rest: &record };
        let differs = || Problem::from(format!("`{}` and the directory say different things", short(&self.name)));
        if fields.u32()? != LOCAL {
            return Err(differs());
        }
        let (_version, flags, method) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let (_time, crc, packed, size) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
        let (name, extra) = (fields.u16()?, fields.u16()?);
        let mut text = vec![0; usize::from(name) + usize::from(extra)];
        file.read_exact(&mut text)?;
        let (name, extra) = text.split_at(name.into());
        let [size, packed, _] = wide(extra, [size, packed, 0], &self.name)?;
        let same = flags & SIZES_FOLLOW != 0 || (crc, packed, size) == (self.crc, self.packed, self.size);
        if flags & ENCRYPTED != 0 || method != self.method || name != self.name.as_bytes() || !same {
            return Err(differs());
        }
        let begin = self.at + LOCAL_SIZE + text.len() as u64;
        if begin.checked_add(self.packed).is_none_or(|end| end > self.end) {
            return Err(format!("`{}` overlaps what follows it", short(&self.name)).into());
        }
        let bytes = BufReader::new(file).take(self.packed);
        let source = match self.method {
            DEFLATED => Source::Deflated(DeflateDecoder::new(bytes)),
            _ => Source::Stored(bytes),
        };
        Ok(Content { entry: self, source, crc: crc32fast::Hasher::new(), read: 0, corrupt: false })
    }
}

enum Source<'a, R> {
    Stored(Take<BufReader<&'a mut R>>),
    Deflated(DeflateDecoder<Take<BufReader<&'a mut R>>>),
}

/// What an entry holds, as a stream of no more bytes than it claims.
pub(crate) struct Content<'a, R> {
    entry: &'a Entry,
    source: Source<'a, R>,
    crc: crc32fast::Hasher,
    read: u64,
    corrupt: bool,
}

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let room = usize::try_from(self.entry.size - self.read).unwrap_or(usize::MAX).min(buffer.len());
        let buffer = &mut buffer[..room];
        if buffer.is_empty() {
            return Ok(0);
        }
        let read = match &mut self.source {
            Source::Stored(bytes) => bytes.read(buffer)?,
            // Errors of the file go through the decoder; its own are of these kinds.
            Source::Deflated(bytes) => bytes.read(buffer).inspect_err(|error| {
                use std::io::ErrorKind;
                self.corrupt = matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData);
            })?,
        };
        self.crc.update(&buffer[..read]);
        self.read += read as u64;
        Ok(read)
    }
}

impl<R: Read> Content<'_, R> {
    /// An error in words if what was compressed is damaged.
    pub(crate) fn check_stream(&self) -> Result<(), Problem> {
        match self.corrupt {
            true => Err(format!("the compressed data of `{}` are damaged", short(&self.entry.name)).into()),
            false => Ok(()),
        }
    }

    /// Compares what was read, which must be all, with what the directory says of it.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        let name = short(&self.entry.name);
        if let Source::Deflated(mut bytes) = self.source {
            // The stream ends where its entry does.
            let more = bytes.read(&mut [0]).unwrap_or(1);
            if more != 0 || bytes.total_in() != self.entry.packed {
                return Err(format!("the compressed data of `{name}` end elsewhere than it says").into());
            }
        }
        match self.read == self.entry.size && self.crc.finalize() == self.entry.crc {
            true => Ok(()),
            false => Err(format!("the checksum of `{name}` does not match").into()),
        }
    }
}

/// Numbers of a record, little endian.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Problem> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or("a record is truncated")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("as many bytes as were taken"))
    }

    fn u16(&mut self) -> Result<u16, Problem> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Problem> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Problem> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Writes a zip file entry by entry, stored. Same entries, same bytes: the time of all is the first that zip files have.
pub(crate) struct Writer<'a> {
    out: &'a mut dyn Write,
    /// From which number on fields of 64 bits are used.
    wide_from: u64,
    at: u64,
    directory: Vec<u8>,
    entries: u64,
}

/// 1 January 1980, 0:00.
const TIME: u32 = 0x0021_0000;

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self::with_wide(out, u32::MAX.into())
    }

    fn with_wide(out: &'a mut dyn Write, wide_from: u64) -> Self {
        Self { out, wide_from, at: 0, directory: Vec::new(), entries: 0 }
    }

    /// Adds an entry that holds the parts one behind the other.
    pub(crate) fn add(&mut self, name: &str, parts: &[&[u8]]) -> std::io::Result<()> {
        let mut crc = crc32fast::Hasher::new();
        parts.iter().for_each(|part| crc.update(part));
        let crc = crc.finalize();
        let size: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let name_size = u16::try_from(name.len()).map_err(|_| std::io::Error::other("a name is too long"))?;
        let is_wide = size >= self.wide_from || self.at >= self.wide_from;
        let narrow = |number: u64| if is_wide { u32::MAX } else { number as u32 };
        let version: u16 = if is_wide { 45 } else { 20 };
        let common = |record: &mut Vec<u8>, extra: u16| {
            record.extend(version.to_le_bytes());
            record.extend(UTF8.to_le_bytes());
            record.extend(STORED.to_le_bytes());
            for number in [TIME, crc, narrow(size), narrow(size)] {
                record.extend(number.to_le_bytes());
            }
            record.extend(name_size.to_le_bytes());
            record.extend(extra.to_le_bytes());
        };
        let extra = |numbers: &[u64]| -> Vec<u8> {
            let head = [EXTRA_64, numbers.len() as u16 * 8].map(u16::to_le_bytes).concat();
            let fields = if is_wide { numbers } else { &[] };
            let head = if is_wide { head } else { Vec::new() };
            head.into_iter().chain(fields.iter().flat_map(|n| n.to_le_bytes())).collect()
        };
        let (near, far) = (extra(&[size, size]), extra(&[size, size, self.at]));
        let mut local = LOCAL.to_le_bytes().to_vec();
        common(&mut local, near.len() as u16);
        local.extend(name.as_bytes());
        local.extend(&near);
        self.directory.extend(CENTRAL.to_le_bytes());
        self.directory.extend(version.to_le_bytes());
        common(&mut self.directory, far.len() as u16);
        // No comment, the first disk, no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(narrow(self.at).to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.directory.extend(&far);
        self.out.write_all(&local)?;
        parts.iter().try_for_each(|part| self.out.write_all(part))?;
        self.at += local.len() as u64 + size;
        self.entries += 1;
        Ok(())
    }

    /// Writes the directory.
    pub(crate) fn finish(self) -> std::io::Result<()> {
        let Self { out, wide_from, at, directory, entries } = self;
        out.write_all(&directory)?;
        let size = directory.len() as u64;
        let is_wide = at >= wide_from || size >= wide_from || entries >= u64::from(u16::MAX).min(wide_from);
        if is_wide {
            let mut record = END_64.to_le_bytes().to_vec();
            record.extend((END_64_SIZE - 12).to_le_bytes());
            record.extend([45u16, 45].map(u16::to_le_bytes).concat());
            record.extend([0; 8]);
            record.extend([entries, entries, size, at].map(u64::to_le_bytes).concat());
            record.extend(LOCATOR_64.to_le_bytes());
            record.extend(0u32.to_le_bytes());
            record.extend((at + size).to_le_bytes());
            record.extend(1u32.to_le_bytes());
            out.write_all(&record)?;
        }
        let mut record = END.to_le_bytes().to_vec();
        record.extend([0; 4]);
        let count = if is_wide { u16::MAX } else { entries as u16 };
        record.extend([count, count].map(u16::to_le_bytes).concat());
        let narrow = |number: u64| if is_wide { u32::MAX } else { number as u32 };
        record.extend([narrow(size), narrow(at)].map(u32::to_le_bytes).concat());
        record.extend([0; 2]);
        out.write_all(&record)
    }
}

#[cfg(test)]
#[path = "zip_tests.rs"]
mod tests;
