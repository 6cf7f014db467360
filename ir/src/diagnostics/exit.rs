//! The exit codes of all tools, in one table.
//!
//! A code says of what kind the outcome is, and means the same in every tool. `docs/exit-codes.md` is the table for users;
//! texts of `--help` are made by [`help`]. The runtime, which depends on no other crate, has the same numbers in its
//! `ErrorKind`; a test of the `sutura` tool compares them.

/// How a tool ended. A larger one weighs more where several things went wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Ok = 0,
    /// The input is wrong: a model, a program, data.
    Input = 1,
    /// The call is wrong.
    Usage = 2,
    /// The input is right, and needs what this version does not support.
    Unsupported = 3,
    /// An artifact is damaged.
    Corrupt = 4,
    /// The system refused: a file that cannot be read or written, memory, a thread.
    System = 5,
    /// Operations are left that `--expect-legal` does not allow.
    NotLegal = 6,
    /// A pass changed what a function does, as `--check-passes` found.
    Changed = 7,
    /// A result is not what was expected.
    Mismatch = 8,
    /// An error of the tool itself.
    Internal = 70,
    /// A pass left IR that does not verify: an error of that pass.
    Verification = 71,
    /// An interrupt ended it.
    Interrupted = 130,
}

impl Exit {
    /// Every code with what it means, in order.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Ok, "done"),
        (Self::Input, "the input is wrong (a model, a program, data)"),
        (Self::Usage, "wrong usage"),
        (Self::Unsupported, "the input is right, and needs what is not supported"),
        (Self::Corrupt, "a damaged artifact"),
        (Self::System, "the system refused (a file that cannot be read or written, memory, a thread)"),
        (Self::NotLegal, "operations are left that --expect-legal does not allow"),
        (Self::Changed, "a pass changed what a function does (--check-passes)"),
        (Self::Mismatch, "a result is not what was expected"),
        (Self::Internal, "an error of the tool itself"),
        (Self::Verification, "a pass left IR that does not verify, which is an error of the pass"),
        (Self::Interrupted, "interrupted"),
    ];

    /// The number that the process ends with.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What it means, in a few words.
    pub fn meaning(self) -> &'static str {
        let found = Self::ALL.iter().find(|(exit, _)| *exit == self);
        found.map_or("", |(_, meaning)| meaning)
    }

    /// Whether the tool is to blame, and not its input or the call: what deserves a reproducer and a report.
    pub fn is_internal(self) -> bool {
        matches!(self, Self::Internal | Self::Verification)
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Widest line of [`help`].
const WIDTH: usize = 100;

/// The paragraph of a tool's `--help` about the codes that it ends with, without a line break at its end.
pub fn help(exits: &[Exit]) -> String {
    let parts: Vec<String> = exits.iter().map(|exit| format!("{} {}", exit.code(), exit.meaning())).collect();
    let mut out = String::from("Exit codes:");
    let mut column = out.len();
    for word in parts.join("; ").split(' ') {
        let length = word.chars().count();
        if column + 1 + length > WIDTH {
            out.push('\n');
            column = 0;
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('.');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_in_order() {
        assert!(Exit::ALL.windows(2).all(|pair| pair[0].0.code() < pair[1].0.code()));
        assert_eq!(Exit::Verification.meaning(), Exit::ALL[10].1);
    }

    #[test]
    fn the_documentation_has_the_same_table() {
        let page = include_str!("../../../docs/exit-codes.md");
        let rows: Vec<(u8, &str)> = page
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| ")?.split(" | ");
                Some((cells.next()?.trim().parse().ok()?, cells.next()?.trim_end_matches(" |")))
            })
            .collect();
        let table: Vec<(u8, &str)> = Exit::ALL.iter().map(|(exit, meaning)| (exit.code(), *meaning)).collect();
        assert_eq!(rows, table);
    }

    #[test]
    fn help_is_wrapped_and_says_what_is_asked_for() {
        let text = help(&[Exit::Ok, Exit::Input, Exit::Internal]);
        assert!(text.starts_with("Exit codes: 0 done; 1 the input is wrong"), "{text}");
        assert!(text.ends_with("70 an error of the tool itself."), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH + 1), "{text}");
        assert!(!text.contains("damaged"));
    }
}
