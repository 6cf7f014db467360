//! Numbers, and numbers of bytes, as people write them.

use std::str::FromStr;

const UNITS: [(&str, u32); 4] = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];

/// A number of bytes: `1000`, `512M`, `2G`, `64KiB`; units are powers of 1024.
///
/// # Errors
/// A sentence.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size; write a number of bytes, or one with K, M, G or T behind it");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = whole_number(digits).ok_or_else(wrong)?;
    let unit = text[digits.len()..].to_ascii_uppercase();
    let shift = match unit.as_str() {
        "" | "B" => 0,
        unit => {
            let named = |(letter, _): &&(&str, u32)| {
                unit.strip_prefix(letter).is_some_and(|rest| ["", "B", "IB"].contains(&rest))
            };
            UNITS.iter().find(named).ok_or_else(wrong)?.1
        }
    };
    let bytes = number.checked_mul(1 << shift).ok_or_else(wrong)?;
    if bytes == 0 { Err(format!("`{text}` lets nothing be read")) } else { Ok(bytes) }
}

/// A whole number in decimal digits and nothing else: Rust's own reading also takes a plus before them.
pub fn whole_number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A whole number of the command line.
///
/// # Errors
/// A sentence.
pub fn parse_number<T: FromStr>(text: &str) -> Result<T, String> {
    whole_number(text).ok_or_else(|| format!("`{text}` is no whole number, or too large"))
}

/// `512 MiB`, or the plain number where that says it better.
pub fn in_words(bytes: u64) -> String {
    let whole = UNITS.iter().rev().find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    match whole {
        Some((letter, shift)) => format!("{} {letter}iB", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let cases = [("1000", 1000), ("1k", 1024), ("512M", 512 << 20), ("2GiB", 2 << 30), ("3TB", 3 << 40), ("7B", 7)];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "1.5G",
            "-1",
            "+1",
            "+1K",
            " 1",
            "1X",
            "1Mx",
            "0",
            "0K",
            "99999999999T",
            "18446744073709551616",
            "1é",
            "é",
        ] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_digits() {
        assert_eq!((whole_number("0"), whole_number("007"), whole_number("255")), (Some(0u8), Some(7), Some(255)));
        for text in ["", "+1", "-1", " 1", "1 ", "0x1", "1.0", "1e1", "1_0", "256", "\u{661}"] {
            assert_eq!(whole_number::<u8>(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_said_in_units_that_fit() {
        assert_eq!(in_words(512 << 20), "512 MiB");
        assert_eq!(in_words(1000), "1000 bytes");
        assert_eq!(in_words(3 << 40), "3 TiB");
    }
}
