//! What of an ELF file has to be known to find kernels in it: sections, segments, symbols and notes, of 64 bits and little
//! endian. Whatever the bytes are, nothing outside them is read.
//!
//! Drivers trust the sizes in what they load, so [`Elf::parse`] also checks that everything the file speaks of is there.

const MAGIC: &[u8] = b"\x7fELF";
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 56;
const SYMBOL_BYTES: usize = 24;
/// `SHT_SYMTAB`, `SHT_NOBITS` and `PT_NOTE` of the ELF specification.
const SYMBOL_TABLE: u32 = 2;
const NO_BITS: u32 = 8;
const NOTE: u32 = 4;

/// A file whose headers are whole.
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    pub(crate) machine: u16,
    pub(crate) sections: Vec<Section<'a>>,
    segments: Vec<(u32, &'a [u8])>,
}

pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    kind: u32,
    link: u32,
    /// None of a section that has no bytes in the file.
    pub(crate) content: &'a [u8],
}

pub(crate) struct Symbol<'a> {
    pub(crate) name: &'a str,
    /// `st_other`, whose upper bits machines use.
    pub(crate) other: u8,
    pub(crate) section: u16,
}

/// A note: its owner's name, its type, its bytes.
pub(crate) struct Note<'a> {
    pub(crate) owner: &'a [u8],
    pub(crate) kind: u32,
    pub(crate) content: &'a [u8],
}

pub(crate) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The integer at a place. Of places outside there is none.
pub(crate) fn integer<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let found = bytes.get(at..at.checked_add(BYTES)?)?;
    Some(found.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    integer::<2>(bytes, at).and_then(|value| u16::try_from(value).ok())
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    integer::<4>(bytes, at).and_then(|value| u32::try_from(value).ok())
}

fn usize_at(bytes: &[u8], at: usize) -> Option<usize> {
    integer::<8>(bytes, at).and_then(|value| usize::try_from(value).ok())
}

/// So many bytes from a place on.
fn range(bytes: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(length)?)
}

/// The text up to the zero byte.
fn text(bytes: &[u8], at: usize) -> Option<&str> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    str::from_utf8(&rest[..end]).ok()
}

impl<'a> Elf<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        if bytes.len() < HEADER_BYTES {
            return Err("it ends within the header of ELF; is it cut off?".to_owned());
        }
        if bytes[4..6] != [2, 1] {
            return Err("it is no ELF of 64 bits in little endian".to_owned());
        }
        if usize_at(bytes, 40) != Some(0) && u16_at(bytes, 60) == Some(0) {
            return Err("it has more than 65279 sections; put its kernels into several files".to_owned());
        }
        Self::headers(bytes).ok_or_else(|| "its sections or segments reach beyond its end; is it cut off?".to_owned())
    }

    fn headers(bytes: &'a [u8]) -> Option<Self> {
        let segments = table(bytes, usize_at(bytes, 32)?, u16_at(bytes, 54)?, u16_at(bytes, 56)?, SEGMENT_BYTES)?;
        let headers = table(bytes, usize_at(bytes, 40)?, u16_at(bytes, 58)?, u16_at(bytes, 60)?, SECTION_BYTES)?;
        let names = headers.get(usize::from(u16_at(bytes, 62)?)).copied();
        let names = match names {
            Some(header) => content(bytes, header)?,
            None if headers.is_empty() => &[],
            None => return None,
        };
        let section = |header: &&'a [u8]| {
            Some(Section {
                name: text(names, u32_at(header, 0)? as usize)?,
                kind: u32_at(header, 4)?,
                link: u32_at(header, 40)?,
                content: content(bytes, header)?,
            })
        };
        let segment =
            |header: &&'a [u8]| Some((u32_at(header, 0)?, range(bytes, usize_at(header, 8)?, usize_at(header, 32)?)?));
        Some(Self {
            bytes,
            machine: u16_at(bytes, 18)?,
            sections: headers.iter().map(section).collect::<Option<_>>()?,
            segments: segments.iter().map(segment).collect::<Option<_>>()?,
        })
    }

    /// `e_flags`.
    pub(crate) fn flags(&self) -> u32 {
        u32_at(self.bytes, 48).unwrap_or(0)
    }

    /// The symbols of the symbol table. None if it is damaged.
    pub(crate) fn symbols(&self) -> Option<Vec<Symbol<'a>>> {
        let Some(table) = self.sections.iter().find(|section| section.kind == SYMBOL_TABLE) else {
            return Some(Vec::new());
        };
        let names = self.sections.get(table.link as usize)?.content;
        let symbol = |symbol: &'a [u8]| {
            Some(Symbol {
                name: text(names, u32_at(symbol, 0)? as usize)?,
                other: *symbol.get(5)?,
                section: u16_at(symbol, 6)?,
            })
        };
        let symbols = table.content.chunks_exact(SYMBOL_BYTES);
        if symbols.remainder().is_empty() { symbols.map(symbol).collect() } else { None }
    }

    /// The notes of all segments. None if one is damaged.
    pub(crate) fn notes(&self) -> Option<Vec<Note<'a>>> {
        let mut notes = Vec::new();
        for (_, content) in self.segments.iter().filter(|(kind, _)| *kind == NOTE) {
            let mut at = 0;
            while at < content.len() {
                let (owner, length) = (u32_at(content, at)? as usize, u32_at(content, at.checked_add(4)?)? as usize);
                let kind = u32_at(content, at + 8)?;
                let start = at + 12;
                let body = start.checked_add(owner)?.checked_next_multiple_of(4)?;
                let owner = range(content, start, owner)?;
                notes.push(Note { owner, kind, content: range(content, body, length)? });
                at = body.checked_add(length)?.checked_next_multiple_of(4)?;
            }
        }
        Some(notes)
    }
}

/// The entries of a table of headers. None if it is not whole.
fn table(bytes: &[u8], at: usize, size: u16, count: u16, least: usize) -> Option<Vec<&[u8]>> {
    if count == 0 {
        return Some(Vec::new());
    }
    let size = usize::from(size);
    if size < least {
        return None;
    }
    let all = range(bytes, at, size.checked_mul(usize::from(count))?)?;
    Some(all.chunks_exact(size).collect())
}

fn content<'a>(bytes: &'a [u8], header: &[u8]) -> Option<&'a [u8]> {
    // The first section's header says nothing, or has numbers that found no place elsewhere.
    if matches!(u32_at(header, 4)?, 0 | NO_BITS) {
        return Some(&[]);
    }
    range(bytes, usize_at(header, 24)?, usize_at(header, 32)?)
}
