//! Sizes as a user writes them: `seq=1..512:8`.

use std::fmt;
use std::str::FromStr;

use super::SymbolInfo;
use super::facts::MAX_DIM;
use super::ops::is_symbol_name;

/// What is declared of a size: `seq=1..512:8`, `seq=1..512`, `seq=8..`, `batch=4`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DimSpec {
    /// The size.
    pub name: String,
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Every value is a multiple of it.
    pub div: i64,
}

impl FromStr for DimSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("expected NAME=MIN..MAX:DIVISOR or NAME=VALUE, as `seq=1..512:8` or `batch=4`, found `{text}`");
        let (name, spec) = text.split_once('=').ok_or_else(wrong)?;
        if !is_symbol_name(name) {
            return Err(format!(
                "`{name}` is no name of a size: a letter or `_`, then letters, digits, `_`, `.` and `$`"
            ));
        }
        let number = |digits: &str| match digits.bytes().all(|b| b.is_ascii_digit()) {
            true => digits.parse::<i64>().ok().filter(|number| *number <= MAX_DIM).ok_or_else(wrong),
            false => Err(wrong()),
        };
        let (range, div) = match spec.split_once(':') {
            Some((range, div)) => (range, number(div)?),
            None => (spec, 1),
        };
        let (min, max) = match range.split_once("..") {
            Some((min, "")) => (number(min)?, MAX_DIM),
            Some((min, max)) => (number(min)?, number(max)?),
            None => (number(range)?, number(range)?),
        };
        if div < 1 || min > max {
            return Err(format!("`{text}` allows no value"));
        }
        Ok(Self { name: name.to_owned(), min, max, div })
    }
}

impl fmt::Display for DimSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}..{}:{}", self.name, self.min, self.max, self.div)
    }
}

impl DimSpec {
    /// What is known of a size of which `info` is known already; `None` where no value is left.
    pub fn narrow(&self, mut info: SymbolInfo) -> Option<SymbolInfo> {
        info.divide_by(self.div);
        info.min = next_multiple(info.min.max(self.min), info.div);
        info.max = info.max.min(self.max).div_euclid(info.div) * info.div;
        info.forget_impossible();
        (info.min <= info.max).then_some(info)
    }
}

/// The least multiple of `div` that is at least `number`.
fn next_multiple(number: i64, div: i64) -> i64 {
    number.saturating_add(div - 1).div_euclid(div).saturating_mul(div)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read() {
        let read = |text: &str| text.parse::<DimSpec>().map(|dim| dim.to_string());
        assert_eq!(read("seq=1..512:8").as_deref(), Ok("seq=1..512:8"));
        assert_eq!(read("seq=1..512").as_deref(), Ok("seq=1..512:1"));
        assert_eq!(read("seq=8..").as_deref(), Ok("seq=8..2147483647:1"));
        assert_eq!(read("batch=4").as_deref(), Ok("batch=4..4:1"));
        for wrong in [
            "",
            "seq",
            "=4",
            "2x=4",
            "seq=",
            "seq=-1",
            "seq=+1",
            "seq=..",
            "seq=..8",
            "seq=4:",
            "seq=1..2:0",
            "seq=5..4",
            "seq=a..b",
            "seq=1..512:8:8",
            "seq=99999999999",
            "seq=1 ..2",
            "sëq=1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
