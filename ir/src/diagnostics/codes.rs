//! Stable codes of diagnostics. A code is never given to something else; what each means is said, with an example
//! that fails and one that does not, in a page of `docs/errors`, which `--explain` prints.

macro_rules! codes {
    ($($name:ident = $code:literal, $what:literal;)*) => {
        $(#[doc = $what] pub const $name: &str = $code;)*

        /// All codes in order, each with its page.
        const PAGES: &[(&str, &str)] =
            &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),*];
    };
}

codes! {
    SYNTAX = "E0001", "The text is not what the grammar or a custom form expects.";
    UNKNOWN_OP = "E0002", "No dialect declares the operation.";
    UNDEFINED_VALUE = "E0003", "A value is used and never defined.";
    REDEFINED = "E0004", "A value, a block or an alias is defined twice.";
    TYPE_OF_USE = "E0005", "A value is used with another type than it has.";
    UNDEFINED_BLOCK = "E0006", "A block is named and never defined.";
    UNKNOWN_ENTITY = "E0007", "No dialect declares the type or attribute.";
    UNDEFINED_ALIAS = "E0008", "An alias is used and never defined.";
    LITERAL = "E0009", "A number or a list of elements does not fit its type.";
    RESULT_NAMES = "E0010", "The names on the left are not as many as the results.";
    NESTING = "E0011", "Brackets are nested too deep.";
    UNCLOSED_REGION = "E0012", "The text ends within a region.";
    UNKNOWN_WORD = "E0013", "A word is none of those that may stand there.";
    OPERAND_TYPES = "E0014", "Operands and their types are not equally many.";
    INFERENCE = "E0015", "The types of results do not follow from operands and attributes.";
    COUNT = "E0101", "An operation has a wrong number of operands, results, regions or successors.";
    SEGMENTS = "E0102", "The sizes of operand or result groups do not add up.";
    MISSING_ATTR = "E0103", "An attribute that the operation needs is missing.";
    ATTR_CONSTRAINT = "E0104", "An attribute is not of the declared kind.";
    UNKNOWN_ATTR = "E0105", "The operation declares no such inherent attribute.";
    TYPE_CONSTRAINT = "E0106", "An operand or a result is not of the declared kind.";
    TYPES_AGREE = "E0107", "Types that must agree differ.";
    PARENT = "E0108", "The operation stands in one that it may not stand in.";
    TERMINATOR = "E0109", "A block does not end as it must.";
    REGION_SHAPE = "E0110", "A region has blocks or arguments that it may not have.";
    BRANCH = "E0111", "What a branch passes is not what the block takes.";
    DOMINANCE = "E0112", "A value is used where its definition may not have run.";
    OP_RULE = "E0113", "A rule of the operation's own is broken.";
    PARAMS = "E0114", "Parameters of a type or attribute do not fit each other.";
    SYMBOL_USE = "E0201", "A reference to a symbol finds nothing, or not what it needs.";
    REDEFINED_SYMBOL = "E0202", "A symbol is defined twice.";
    SYMBOL_FORM = "E0203", "A symbol or a symbol table is malformed.";
    PASS_FAILED = "E0301", "A pass refuses the input.";
    UNSUPPORTED = "E0302", "The input is right, but beyond what a pass does.";
    PASS_BROKE_IR = "E0303", "A pass left IR that does not verify.";
    ANCHOR = "E0304", "A pipeline is anchored on another operation than the input's.";
    ELIDED = "E0305", "The elements of a constant were left out when it was printed.";
    INTERNAL = "E0306", "An error of the tool.";
    CHANGED = "E0307", "A pass changed what a function does.";
    UNKNOWN_FLAG = "E0401", "There is no such flag or pass.";
    FLAG_VALUE = "E0402", "A flag does not take this value.";
    FLAG_CLASH = "E0403", "Flags or arguments do not go together.";
    PIPELINE = "E0404", "The text of a pipeline is malformed.";
    UNKNOWN_PASS = "E0405", "A pipeline names a pass that there is not.";
    PASS_OPTION = "E0406", "A pass has no such option, or does not take this value.";
    CANNOT_READ = "E0407", "The input cannot be read.";
    CANNOT_WRITE = "E0408", "An output cannot be written.";
    STRICT = "E0409", "There were warnings, which `--strict` does not let pass.";
    ROUND_TRIP = "E0410", "What is printed does not parse back to the same.";
    EXPECTATION = "E0411", "Diagnostics differ from those that comments expect.";
    REPRODUCER = "E0412", "The input holds no reproducer that can be run.";
    NOT_LEGAL = "E0413", "Operations are left that `--expect-legal` does not allow.";
    INPUT_TOO_LARGE = "E0425", "An input has more bytes than the limit.";
    NUL_BYTE = "E0426", "A text holds a NUL byte.";
    NO_FILE = "E0427", "An input is not a regular file, or no text comes from it.";
    INVALID_MODEL = "E0428", "An ONNX model breaks ONNX's rules.";
    NO_MACHINE_CODE = "E0430", "An operation has no machine code on the machine that is compiled for.";
    SIZE_NUMBER = "E0435", "A coefficient of a symbolic size does not fit 64 bits.";
    SIZE_TERMS = "E0436", "A symbolic size has too many terms and factors.";
    SIZE_DEPTH = "E0437", "A symbolic size nests too many divisions and lessers of two.";
    RANK = "E0438", "A type has too many dimensions.";
    SIZE_BEYOND = "E0439", "A pass computed a size that is beyond what a size may be.";
    IDLE_PASS = "W0101", "A pass ran on no operation.";
    NOT_CONVERGED = "W0102", "Canonicalization stopped before nothing was left to do.";
    CASTS_LEFT = "W0103", "Conversion casts are left after conversion passes.";
    IDLE_FLAG = "W0104", "A flag does nothing here.";
    SPLIT_MARKER = "W0105", "A line is close to the marker between parts of a file.";
    COMMENTS_GONE = "W0106", "Comments are not printed: what they stood beside is gone.";
    NOTHING_CHECKED = "W0110", "`--check-passes` compared nothing.";
    NOT_CHECKED = "W0111", "`--check-passes` cannot run a function.";
    CHECK_BROKEN_OFF = "W0112", "`--check-passes` cannot compare a function across a pass.";
}

/// All codes, in order.
pub fn all() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|(code, _)| *code)
}

/// The page on a code, Markdown: its first line is `# E0003: title`. Case does not matter.
pub fn explain(code: &str) -> Option<&'static str> {
    PAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code)).map(|(_, page)| *page)
}

/// The title of a code.
pub fn title(code: &str) -> Option<&'static str> {
    let (_, title) = explain(code)?.lines().next()?.split_once(": ")?;
    Some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_a_page_of_its_own() {
        let mut last = "";
        for code in all() {
            assert!(code.len() == 5 && (code.starts_with('W') != last.starts_with('W') || last < code), "{code}");
            let page = explain(code).expect("listed");
            assert!(page.starts_with(&format!("# {code}: ")), "{code}");
            assert!(title(code).is_some_and(|t| !t.is_empty() && !t.ends_with('.')), "{code}");
            last = code;
        }
        assert_eq!(title("e0003"), title("E0003"));
        assert_eq!(explain("E9999"), None);
    }
}
