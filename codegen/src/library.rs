//! A static library: an archive of objects, one of which may hold data of any size, which is never in memory as a whole.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream};
use object::Endianness;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _};
use object::write::StreamingBuffer;
use object::write::elf::{FileHeader, SectionHeader, Sym, Writer};

use crate::error::Error;

/// Where each part of the data lies: at a multiple of this.
pub const DATA_ALIGNMENT: usize = 64;

/// The offset of each part in the data, and where all end.
pub fn data_offsets(lengths: impl IntoIterator<Item = usize>) -> (Vec<usize>, usize) {
    let mut end = 0_usize;
    let offsets = lengths.into_iter().map(|length| {
        let offset = end.next_multiple_of(DATA_ALIGNMENT);
        end = offset + length;
        offset
    });
    let offsets = offsets.collect();
    (offsets, end)
}

/// Writes an object whose hidden `symbol` is read-only data: `parts`, where [`data_offsets`] says. It can be linked with `like`, an
/// object for the same processor.
///
/// # Errors
/// `Object` where `like` is none, `Io` with what the system says.
pub fn write_data_object(like: &[u8], symbol: &str, parts: &[&[u8]], out: impl Write) -> Result<(), Error> {
    let malformed = |error: &dyn std::fmt::Display| Error::Object { message: error.to_string() };
    let header = *ElfFile64::<Endianness>::parse(like).map_err(|error| malformed(&error))?.elf_header();
    let endian = header.endian().map_err(|error| malformed(&error))?;
    let mut buffer = StreamingBuffer::new(BufWriter::new(out));
    let written = write_sections(&header, endian, symbol, parts, &mut buffer);
    written.map_err(|error| malformed(&error))?;
    let failed = |source| Error::Io { what: "cannot write", path: "the constants".into(), source };
    buffer.flush().map_err(failed)
}

fn write_sections(
    like: &elf::FileHeader64<Endianness>,
    endian: Endianness,
    symbol: &str,
    parts: &[&[u8]],
    buffer: &mut StreamingBuffer<BufWriter<impl Write>>,
) -> object::write::Result<()> {
    let (offsets, size) = data_offsets(parts.iter().map(|part| part.len()));
    let mut writer = Writer::new(endian, true, buffer);
    writer.reserve_null_section_index();
    let data_name = writer.add_section_name(b".rodata");
    let data_index = writer.reserve_section_index();
    // Without it linkers take the object for one that wants to execute the stack.
    let stack_name = writer.add_section_name(b".note.GNU-stack");
    writer.reserve_section_index();
    writer.reserve_symtab_section_index();
    writer.reserve_strtab_section_index();
    writer.reserve_shstrtab_section_index();
    writer.reserve_null_symbol_index();
    writer.reserve_symbol_index(Some(data_index));
    let name = writer.add_string(symbol.as_bytes());
    writer.reserve_file_header();
    let begin = writer.reserve(size, DATA_ALIGNMENT);
    writer.reserve_symtab();
    writer.reserve_strtab();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    writer.write_file_header(&FileHeader {
        os_abi: like.e_ident.os_abi,
        abi_version: like.e_ident.abi_version,
        e_type: elf::ET_REL,
        e_machine: like.e_machine.get(endian),
        e_entry: 0,
        // They say how floats are passed, which must be the same in all that is linked.
        e_flags: like.e_flags.get(endian),
    })?;
    writer.write_align(DATA_ALIGNMENT);
    for (part, offset) in parts.iter().zip(offsets) {
        writer.pad_until(begin + offset);
        writer.write(part);
    }
    writer.write_null_symbol();
    writer.write_symbol(&Sym {
        name: Some(name),
        section: Some(data_index),
        st_info: elf::STB_GLOBAL << 4 | elf::STT_OBJECT,
        st_other: elf::STV_HIDDEN,
        st_shndx: 0,
        st_value: 0,
        st_size: size as u64,
    });
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    let data = SectionHeader {
        name: Some(data_name),
        sh_type: elf::SHT_PROGBITS,
        sh_flags: u64::from(elf::SHF_ALLOC),
        sh_addr: 0,
        sh_offset: begin as u64,
        sh_size: size as u64,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: DATA_ALIGNMENT as u64,
        sh_entsize: 0,
    };
    writer.write_section_header(&data);
    writer.write_section_header(&SectionHeader {
        name: Some(stack_name),
        sh_flags: 0,
        sh_size: 0,
        sh_addralign: 1,
        ..data
    });
    writer.write_symtab_section_header(1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    Ok(())
}

/// Writes objects, by the names of their files, as a static library. The same objects give the same bytes.
///
/// # Errors
/// What writing gives.
pub fn write_archive(objects: &[(&str, &[u8])], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let members = objects.iter().map(|(name, bytes)| {
        let bytes: &[u8] = bytes;
        NewArchiveMember::new(bytes, &DEFAULT_OBJECT_READER, (*name).to_owned())
    });
    let members: Vec<NewArchiveMember<'_>> = members.collect();
    write_archive_to_stream(&mut Counted { out, at: 0 }, &members, ArchiveKind::Gnu, false, None)
}

/// Says how much was written, which is all that an archive's writer seeks for.
struct Counted<'w, W: ?Sized> {
    out: &'w mut W,
    at: u64,
}

impl<W: Write + ?Sized> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: ?Sized> Seek for Counted<'_, W> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        match position {
            SeekFrom::Current(0) => Ok(self.at),
            _ => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }
}
