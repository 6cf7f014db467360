//! The words of a library's errors: those of the runtime, with places for the numbers that are known when it runs.
//!
//! `words.ll` puts the numbers in: byte 1 stands for a number, 2 for a string, 3 for a list, each with the number of its argument
//! behind it.

use sutura_runtime::manifest::{Check, CheckKind, DataCheck, DataCheckKind};
use sutura_visible::line;

/// Bytes of a text of others that a message has at most.
const LONGEST: usize = 160;

/// Words that do not depend on the model, by the names that `runtime.ll` has for them.
pub(super) const FIXED: &[(&str, &str)] = &[
    ("says.null.dims", "null pointer: dims of \u{2}\u{1}"),
    ("says.null.data", "null pointer: data of \u{2}\u{1}"),
    ("says.null.bytes", "null pointer: bytes"),
    ("says.null.workspace", "null pointer: workspace"),
    ("says.negative", "invalid tensor: \u{2}\u{1} has the negative dimension \u{1}\u{2}"),
    ("says.huge", "invalid tensor: \u{2}\u{1} has dimensions \u{3}\u{2}, which no memory can hold"),
    ("says.shape", "\u{2}\u{1} needs dims \u{3}\u{2}, but its buffer has \u{3}\u{4}"),
    ("says.aligned", "the buffer of \u{2}\u{1} is not aligned to \u{1}\u{2} bytes"),
    ("says.overlap", "the buffers of \u{2}\u{1} and \u{2}\u{2} overlap"),
    ("says.workspace", "the workspace has \u{1}\u{1} bytes, but the run needs \u{1}\u{2}"),
    ("says.memory", "out of memory: \u{1}\u{1} bytes for the workspace"),
    ("says.machine", "the model was compiled for `\u{2}\u{1}`, but this machine has no `\u{2}\u{2}`"),
    ("says.code", "the model's code failed with code \u{1}\u{1}"),
    ("name.workspace", "the workspace"),
];

/// What is said where a check of sizes does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SizeWords {
    /// Usually; of a range, above it.
    pub(super) usual: String,
    /// Below a range.
    pub(super) below: Option<String>,
    /// Where a value leaves 63 bits.
    pub(super) beyond: Option<String>,
    /// Where a size is negative.
    pub(super) negative: Option<String>,
}

const FIRST: &str = "\u{1}\u{1}";
const SECOND: &str = "\u{1}\u{2}";

/// As `ShapeProblem` says it.
pub(super) fn size_words(check: &Check) -> SizeWords {
    let (left, right) = (&shown(&check.left), &shown(&check.right));
    let dim = check.dim.as_deref().map(shown);
    let subject = dim.as_ref().map_or_else(|| "a dimension".to_owned(), |dim| format!("dimension `{dim}`"));
    let two_beyond = format!("a dimension is too large: {left} or {right} does not fit 63 bits");
    let plain = |usual: String| SizeWords { usual, below: None, beyond: Some(two_beyond.clone()), negative: None };
    match check.kind {
        CheckKind::Equal => {
            let begin = match &dim {
                Some(dim) => format!("dimension `{dim}` is inconsistent: "),
                None => "inconsistent dimensions: ".to_owned(),
            };
            // A constant is its own text.
            plain(match check.right.parse::<i64>() {
                Ok(_) => format!("{begin}{left} is {FIRST}, but must be {right}"),
                Err(_) => format!("{begin}{left} is {FIRST}, but {right} is {SECOND}"),
            })
        }
        CheckKind::Constraint => plain(format!("incompatible dimensions: {left} is {FIRST}, {right} is {SECOND}")),
        CheckKind::Divisible => SizeWords {
            usual: format!("{subject} must be a multiple of {SECOND}, but {left} is {FIRST}"),
            below: None,
            beyond: None,
            negative: None,
        },
        CheckKind::Range => {
            let side = |side| {
                format!(
                    "{subject} is out of range: {left} is {FIRST}, {side} {SECOND}; the model was compiled for {right}"
                )
            };
            SizeWords {
                usual: side("above"),
                below: Some(side("below")),
                beyond: Some(format!("a dimension is too large: {left} does not fit 63 bits")),
                negative: dim.is_none().then(|| format!("a size is negative: {left} is {FIRST}")),
            }
        }
    }
}

/// What decides between the two texts of a check of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decides {
    /// The second is for a position that is not known.
    Position = 0,
    /// The second is for a size of 0.
    Size = 1,
    /// There is one.
    Nothing = 2,
}

/// What is said where a check of data does not hold; its numbers are position, index, size and size less one.
pub(super) fn data_words(check: &DataCheck) -> (String, String, Decides) {
    let what = shown(&check.what);
    let (position, index, size, last) = (FIRST, SECOND, "\u{1}\u{3}", "\u{1}\u{4}");
    match check.kind {
        DataCheckKind::Index => {
            let place = format!("{what}: element {position} of its indices is {index}");
            let outside = format!("{place}, which is not in [-{size}, {last}]");
            (outside, format!("{place}, and the dimension that it indexes is empty"), Decides::Size)
        }
        DataCheckKind::Division => {
            let known = format!("{what}: divides by zero at element {position}");
            (known, format!("{what}: divides by zero"), Decides::Position)
        }
        DataCheckKind::Size => {
            let words = format!(
                "{what}: element {position} of its shape asks for {index}, and dimension {position} of the result is {size}"
            );
            (words.clone(), words, Decides::Nothing)
        }
        DataCheckKind::Dim => {
            let words = format!("{what}: dimension {position} is {index}, and must be {size}");
            (words.clone(), words, Decides::Nothing)
        }
    }
}

/// What messages call an input or an output.
pub(super) fn value_words(role: &str, name: &str) -> String {
    format!("{role} `{}`", shown(name))
}

/// Text of others in one line without anything hidden, and not too long.
pub(super) fn shown(text: &str) -> String {
    let text = line(text);
    if text.len() <= LONGEST {
        return text.into_owned();
    }
    let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use sutura_runtime::{Error, ShapeProblem};

    use super::*;

    /// What `words.ll` makes of words with numbers.
    fn told(words: &str, numbers: &[i64]) -> String {
        let (mut out, mut chars) = (String::new(), words.chars());
        while let Some(c) = chars.next() {
            match c {
                '\u{1}' => out += &numbers[chars.next().unwrap() as usize - 1].to_string(),
                c => out.push(c),
            }
        }
        out
    }

    #[test]
    fn sizes_are_told_as_the_runtime_tells_them() {
        let (left, right) = ("input `x` dimension 0".to_owned(), "input `y` dimension 1".to_owned());
        for dim in [None, Some("batch".to_owned())] {
            let check = |kind, right: &str| {
                let (dim, left, right) = (dim.clone(), left.clone(), right.to_owned());
                size_words(&Check { kind, dim, left, right, reserve: None })
            };
            let equal = |right: &str, right_value| ShapeProblem::Inconsistent {
                dim: dim.clone(),
                left: left.clone(),
                left_value: 5,
                right: right.to_owned(),
                right_value,
            };
            assert_eq!(told(&check(CheckKind::Equal, &right).usual, &[5, 6]), equal(&right, 6).to_string());
            assert_eq!(told(&check(CheckKind::Equal, "64").usual, &[5, 64]), equal("64", 64).to_string());
            let range = check(CheckKind::Range, "[1, 512]");
            let out = |value, bound| {
                let (dim, left, range) = (dim.clone(), left.clone(), "[1, 512]".to_owned());
                ShapeProblem::OutOfRange { dim, left, value, range, bound }.to_string()
            };
            assert_eq!(told(&range.usual, &[513, 512]), out(513, 512));
            assert_eq!(told(range.below.as_ref().unwrap(), &[0, 1]), out(0, 1));
            assert_eq!(told(range.beyond.as_ref().unwrap(), &[]), out(i64::MAX, i64::MAX - 1));
            assert_eq!(range.negative.map(|words| told(&words, &[-3, 0])), dim.is_none().then(|| out(-3, 0)));
            let (dim, left) = (dim.clone(), left.clone());
            let divisible = ShapeProblem::NotDivisible { dim, left, value: 7, divisor: 8 };
            assert_eq!(told(&check(CheckKind::Divisible, "").usual, &[7, 8]), divisible.to_string());
        }
        let check = Check { kind: CheckKind::Constraint, dim: None, left, right, reserve: None };
        let constraint = |left_value, right_value| {
            let (left, right) = (check.left.clone(), check.right.clone());
            ShapeProblem::Constraint { left, left_value, right, right_value }.to_string()
        };
        assert_eq!(told(&size_words(&check).usual, &[4, 5]), constraint(4, 5));
        assert_eq!(told(&size_words(&check).beyond.unwrap(), &[]), constraint(i64::MAX, i64::MAX - 1));
    }

    #[test]
    fn data_are_told_as_the_runtime_tells_them() {
        let what = "`gather`".to_owned();
        let words = |kind| data_words(&DataCheck { kind, what: what.clone() });
        let index = |size| Error::WrongIndex { what: what.clone(), position: 3, index: -9, size }.to_string();
        let (outside, empty, decides) = words(DataCheckKind::Index);
        assert_eq!(told(&outside, &[3, -9, 5, 4]), index(5));
        assert_eq!((told(&empty, &[3, -9, 0, -1]), decides), (index(0), Decides::Size));
        let division = |position| Error::DivisionByZero { what: what.clone(), position }.to_string();
        let (known, unknown, decides) = words(DataCheckKind::Division);
        assert_eq!(told(&known, &[3]), division(Some(3)));
        assert_eq!((told(&unknown, &[-1]), decides), (division(None), Decides::Position));
        let size = Error::WrongSize { what: what.clone(), position: 1, given: 2, wanted: 3 };
        assert_eq!(told(&words(DataCheckKind::Size).0, &[1, 2, 3, 2]), size.to_string());
        let dim = Error::UnequalSize { what: what.clone(), dim: 1, given: 2, wanted: 3 };
        assert_eq!(told(&words(DataCheckKind::Dim).0, &[1, 2, 3, 2]), dim.to_string());
    }

    #[test]
    fn text_of_others_is_short_and_hides_nothing() {
        assert_eq!(shown("a\u{1}\nb"), "a\\u{1}\\nb");
        let long = shown(&"é".repeat(500));
        assert!(long.len() < LONGEST + 4 && long.ends_with('…'));
        assert!(
            size_words(&Check {
                kind: CheckKind::Equal,
                dim: Some("\u{1}\u{9}".into()),
                left: "\u{2}\u{1}".into(),
                right: "\u{3}".into(),
                reserve: None,
            })
            .usual
            .chars()
            .filter(|c| *c < '\u{4}')
            .eq(['\u{1}', '\u{1}', '\u{1}', '\u{2}'])
        );
    }
}
