//! How numeric variables are written: `%u`, `%d`, `%x`, `%X`, `%#x`, `%.4u`.

use num_bigint::{BigInt, Sign};

/// The notation of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Radix {
    Unsigned,
    Signed,
    HexLower,
    HexUpper,
}

/// A notation with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) radix: Radix,
    /// The least number of digits; 0 means no padding.
    pub(crate) precision: u32,
    /// Whether `0x` comes first.
    pub(crate) alternate: bool,
}

impl Format {
    pub(crate) const UNSIGNED: Self = Self { radix: Radix::Unsigned, precision: 0, alternate: false };

    fn is_hex(self) -> bool {
        matches!(self.radix, Radix::HexLower | Radix::HexUpper)
    }

    /// A regular expression for any number in this format.
    pub(crate) fn wildcard(self) -> String {
        let (digits, nonzero) = match self.radix {
            Radix::Unsigned | Radix::Signed => ("0-9", "1-9"),
            Radix::HexLower => ("0-9a-f", "1-9a-f"),
            Radix::HexUpper => ("0-9A-F", "1-9A-F"),
        };
        let sign = if self.radix == Radix::Signed { "-?" } else { "" };
        let prefix = if self.alternate { "0x" } else { "" };
        match self.precision {
            0 => format!("{sign}{prefix}[{digits}]+"),
            n => format!("{sign}{prefix}([{nonzero}][{digits}]*)?[{digits}]{{{n}}}"),
        }
    }

    /// The value written in this format, or `None` if the format has no sign
    /// and the value is negative.
    pub(crate) fn write(self, value: &BigInt) -> Option<String> {
        let negative = value.sign() == Sign::Minus;
        if negative && self.radix != Radix::Signed {
            return None;
        }
        let magnitude = value.magnitude();
        let digits = match self.radix {
            Radix::Unsigned | Radix::Signed => magnitude.to_str_radix(10),
            Radix::HexLower => magnitude.to_str_radix(16),
            Radix::HexUpper => magnitude.to_str_radix(16).to_uppercase(),
        };
        let sign = if negative { "-" } else { "" };
        let prefix = if self.alternate { "0x" } else { "" };
        let width = self.precision as usize;
        Some(format!("{sign}{prefix}{digits:0>width$}"))
    }

    /// The value of a text that [`Self::wildcard`] matched.
    pub(crate) fn read(self, text: &[u8]) -> Option<BigInt> {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = match self.alternate {
            true => text.strip_prefix(b"0x")?,
            false => text,
        };
        let radix = if self.is_hex() { 16 } else { 10 };
        let value = BigInt::parse_bytes(text, radix)?;
        Some(if negative { -value } else { value })
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.radix {
            Radix::Unsigned => "%u",
            Radix::Signed => "%d",
            Radix::HexLower => "%x",
            Radix::HexUpper => "%X",
        })
    }
}
