use std::io::Cursor;

use super::*;

fn archive(entries: &[(&str, &[u8])], wide_from: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::with_wide(&mut bytes, wide_from);
    entries.iter().for_each(|(name, content)| writer.add(name, &[content]).unwrap());
    writer.finish().unwrap();
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    let says = |problem: Problem| match problem {
        Problem::Format(reason) => reason,
        other => format!("{other:?}"),
    };
    let mut file = Cursor::new(bytes);
    let entries = entries(&mut file, bytes.len() as u64).map_err(says)?;
    let mut all = Vec::new();
    for entry in &entries {
        let mut content = entry.open(&mut file).map_err(says)?;
        let mut bytes = Vec::new();
        let read = content.read_to_end(&mut bytes);
        content.check_stream().map_err(says)?;
        read.map_err(|e| e.to_string())?;
        content.finish().map_err(says)?;
        all.push((entry.name.clone(), bytes));
    }
    Ok(all)
}

/// An archive of one entry, as its fields say.
#[derive(Clone)]
struct Made {
    flags: u16,
    method: u16,
    name: &'static [u8],
    crc: u32,
    size: u32,
    data: Vec<u8>,
    /// What the record before the data says in place of the name.
    local_name: Option<&'static [u8]>,
    local_size: Option<u32>,
}

impl Made {
    fn stored(data: &[u8]) -> Self {
        let (crc, size) = (crc32fast::hash(data), data.len() as u32);
        Self { flags: 0, method: 0, name: b"x", crc, size, data: data.to_vec(), local_name: None, local_size: None }
    }

    fn deflated(data: &[u8]) -> Self {
        let mut packer = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(data).unwrap();
        Self { method: 8, data: packer.finish().unwrap(), ..Self::stored(data) }
    }

    fn common(&self, name: &[u8], size: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend([20, self.flags, self.method].map(u16::to_le_bytes).concat());
        bytes.extend([0, self.crc, self.data.len() as u32, size].map(u32::to_le_bytes).concat());
        bytes.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        bytes
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = LOCAL.to_le_bytes().to_vec();
        let local = self.local_name.unwrap_or(self.name);
        bytes.extend(self.common(local, self.local_size.unwrap_or(self.size)));
        bytes.extend(local);
        bytes.extend(&self.data);
        self.with_directory(bytes, 1)
    }

    /// Behind the entries a directory that has this one so often.
    fn with_directory(&self, mut bytes: Vec<u8>, times: u16) -> Vec<u8> {
        let begin = bytes.len();
        for i in 0..times {
            bytes.extend(CENTRAL.to_le_bytes());
            bytes.extend(20u16.to_le_bytes());
            bytes.extend(self.common(self.name, self.size));
            bytes.extend([0; 14]);
            bytes.extend(self.name);
            if i > 0 {
                // Another name of as many bytes.
                let last = bytes.len() - 1;
                bytes[last] = b'a' + i as u8;
            }
        }
        let size = bytes.len() - begin;
        bytes.extend(END.to_le_bytes());
        bytes.extend([0, 0, times, times].map(u16::to_le_bytes).concat());
        bytes.extend([size as u32, begin as u32].map(u32::to_le_bytes).concat());
        bytes.extend([0; 2]);
        bytes
    }

    fn refused(&self, words: &str) {
        let reason = read(&self.bytes()).unwrap_err();
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn entries_of_both_kinds_and_both_widths_are_read() {
    let entries: [(&str, &[u8]); 3] = [("a", b"one"), ("b", b""), ("ü/../c", b"three")];
    for wide_from in [u64::from(u32::MAX), 0, 4] {
        let read = read(&archive(&entries, wide_from)).unwrap();
        assert!(read.iter().map(|(n, c)| (n.as_str(), c.as_slice())).eq(entries), "{wide_from}");
    }
    assert_eq!(read(&archive(&[], 0)).unwrap(), []);
    let zeros = vec![0; 100_000];
    assert_eq!(read(&Made::deflated(&zeros).bytes()).unwrap()[0].1, zeros);
    assert_eq!(read(&Made::stored(b"abc").bytes()).unwrap()[0].1, b"abc");
    let follow = Made { flags: SIZES_FOLLOW, local_size: Some(0), ..Made::deflated(b"abc") };
    assert_eq!(read(&follow.bytes()).unwrap()[0].1, b"abc");
}

#[test]
fn what_a_directory_says_is_compared_with_what_is_there() {
    Made { flags: 1, ..Made::stored(b"abc") }.refused("`x` is encrypted");
    Made { method: 12, ..Made::stored(b"abc") }.refused("compressed by method 12");
    Made { size: 4, ..Made::stored(b"abc") }.refused("stored in 3 bytes and claims 4");
    Made { size: 1 << 30, ..Made::deflated(b"abc") }.refused("claims 1073741824 bytes, which no");
    Made { size: 4, ..Made::deflated(b"abc") }.refused("checksum");
    Made { size: 2, ..Made::deflated(b"abc") }.refused("end elsewhere");
    Made { crc: 1, ..Made::stored(b"abc") }.refused("checksum");
    Made { crc: 1, ..Made::deflated(b"abc") }.refused("checksum");
    Made { name: b"\xff", ..Made::stored(b"abc") }.refused("the name of an entry is no text: `\\xff`");
    Made { local_name: Some(b"y"), ..Made::stored(b"abc") }.refused("say different things");
    Made { local_size: Some(9), ..Made::stored(b"abc") }.refused("say different things");
    Made { local_name: Some(b"xx"), ..Made::stored(b"abc") }.refused("say different things");
    let mut packed = Made::deflated(b"abcabcabc");
    packed.data[0] = 0xff;
    packed.refused("damaged");
    let mut longer = Made::deflated(b"abc");
    longer.data.push(0);
    longer.refused("end elsewhere");
}

#[test]
fn entries_do_not_share_bytes_or_names() {
    let one = Made::deflated(&[7; 1000]);
    let mut bytes = LOCAL.to_le_bytes().to_vec();
    bytes.extend(one.common(one.name, one.size));
    bytes.extend(one.name);
    bytes.extend(&one.data);
    let reason = read(&one.with_directory(bytes, 9)).unwrap_err();
    assert!(reason.contains("overlaps what follows"), "{reason}");
    let reason = read(&archive(&[("a", b"1"), ("a", b"2")], 9)).unwrap_err();
    assert_eq!(reason, "two entries are called `a`");
}

#[test]
fn the_directory_is_where_it_says() {
    let good = archive(&[("a", b"1")], 99);
    let mut before = vec![0];
    before.extend(&good);
    assert!(read(&before).unwrap_err().contains("its directory is to have"));
    let mut behind = good.clone();
    behind.push(0);
    assert!(read(&behind).unwrap_err().contains("no directory ends it"));
    let mut several = good.clone();
    let at = several.len() - 22;
    several[at + 4] = 1;
    assert!(read(&several).unwrap_err().contains("a part of a zip file"));
    let mut fewer = good;
    fewer[at + 8] = 2;
    fewer[at + 10] = 2;
    assert!(read(&fewer).unwrap_err().contains("its directory has 1 entries, not 2"));
    let mut comment = archive(&[("a", b"1")], 99);
    let at = comment.len() - 2;
    comment[at] = 3;
    comment.extend(b"hey");
    assert_eq!(read(&comment).unwrap().len(), 1);
}
