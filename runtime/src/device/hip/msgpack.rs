//! As much of MessagePack as the metadata of kernels for AMD is written in. Whatever the bytes are, reading ends: nothing
//! outside them is read, nesting has a limit, and nothing is reserved for what is only announced.

/// How deep arrays and maps may be within each other; LLVM writes five levels.
const DEEPEST: usize = 32;

#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    Integer(i128),
    Text(&'a str),
    Array(Vec<Self>),
    Map(Vec<(Self, Self)>),
    /// Anything else: nothing that is asked for.
    Other,
}

impl<'a> Value<'a> {
    /// The value of a key of a map.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(all) = self else { return None };
        all.iter().find(|(name, _)| name.text() == Some(key)).map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn array(&self) -> Option<&[Self]> {
        if let Self::Array(all) = self { Some(all) } else { None }
    }

    pub(super) fn u32(&self) -> Option<u32> {
        if let Self::Integer(value) = self { u32::try_from(*value).ok() } else { None }
    }
}

/// The value that the bytes begin with.
pub(super) fn read(bytes: &[u8]) -> Option<Value<'_>> {
    Reader { rest: bytes }.value(0)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    /// A big endian number.
    fn unsigned(&mut self, bytes: usize) -> Option<u64> {
        Some(self.take(bytes)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn length(&mut self, bytes: usize) -> Option<usize> {
        self.unsigned(bytes).and_then(|length| usize::try_from(length).ok())
    }

    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        if depth > DEEPEST {
            return None;
        }
        let first = self.take(1)?[0];
        match first {
            0x00..=0x7f => Some(Value::Integer(i128::from(first))),
            0x80..=0x8f => self.map(usize::from(first & 0x0f), depth),
            0x90..=0x9f => self.array(usize::from(first & 0x0f), depth),
            0xa0..=0xbf => self.string(usize::from(first & 0x1f)),
            0xc0..=0xc3 => Some(Value::Other),
            0xc4..=0xc6 => {
                let length = self.length(1 << (first - 0xc4))?;
                self.skip(length)
            }
            0xc7..=0xc9 => {
                let length = self.length(1 << (first - 0xc7))?;
                self.skip(length.checked_add(1)?)
            }
            0xca => self.skip(4),
            0xcb => self.skip(8),
            0xcc..=0xcf => Some(Value::Integer(i128::from(self.unsigned(1 << (first - 0xcc))?))),
            0xd0..=0xd3 => {
                let bytes = 1usize << (first - 0xd0);
                let unused = 64 - 8 * bytes as u32;
                Some(Value::Integer(i128::from((self.unsigned(bytes)? << unused) as i64 >> unused)))
            }
            0xd4..=0xd8 => self.skip((1 << (first - 0xd4)) + 1),
            0xd9..=0xdb => {
                let length = self.length(1 << (first - 0xd9))?;
                self.string(length)
            }
            0xdc | 0xdd => {
                let length = self.length(if first == 0xdc { 2 } else { 4 })?;
                self.array(length, depth)
            }
            0xde | 0xdf => {
                let length = self.length(if first == 0xde { 2 } else { 4 })?;
                self.map(length, depth)
            }
            0xe0..=0xff => Some(Value::Integer(i128::from(first.cast_signed()))),
        }
    }

    fn skip(&mut self, bytes: usize) -> Option<Value<'a>> {
        self.take(bytes).map(|_| Value::Other)
    }

    fn string(&mut self, bytes: usize) -> Option<Value<'a>> {
        str::from_utf8(self.take(bytes)?).ok().map(Value::Text)
    }

    fn array(&mut self, length: usize, depth: usize) -> Option<Value<'a>> {
        let mut all = Vec::new();
        for _ in 0..length {
            all.push(self.value(depth + 1)?);
        }
        Some(Value::Array(all))
    }

    fn map(&mut self, length: usize, depth: usize) -> Option<Value<'a>> {
        let mut all = Vec::new();
        for _ in 0..length {
            let key = self.value(depth + 1)?;
            all.push((key, self.value(depth + 1)?));
        }
        Some(Value::Map(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_kinds() {
        let bytes =
            b"\x86\xa1a\x05\xa1b\xff\xa1c\xcd\x01\x00\xa1d\xd1\xff\x00\xa1e\x92\xc0\xd9\x02hi\xa1f\xcb\0\0\0\0\0\0\0\0";
        let map = read(bytes).unwrap();
        assert_eq!(map.get("a").and_then(Value::u32), Some(5));
        assert_eq!(map.get("b"), Some(&Value::Integer(-1)));
        assert_eq!(map.get("b").and_then(Value::u32), None);
        assert_eq!(map.get("c").and_then(Value::u32), Some(256));
        assert_eq!(map.get("d"), Some(&Value::Integer(-256)));
        assert_eq!(map.get("e").and_then(Value::array), Some(&[Value::Other, Value::Text("hi")][..]));
        assert_eq!(map.get("f"), Some(&Value::Other));
        assert_eq!(map.get("g"), None);
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn depth_and_announced_sizes_are_bounded() {
        assert_eq!(read(&[0x91; 100_000]), None);
        assert_eq!(read(b"\xdd\xff\xff\xff\xff"), None);
        assert_eq!(read(b"\xdb\xff\xff\xff\xffabc"), None);
    }
}
