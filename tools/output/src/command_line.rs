//! What is said of a command line: help, the version, and what is wrong with it.

use std::error::Error as _;
use std::io::{self, Write};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use sutura_visible::{line, message};

/// Whether `--help` or `--version` was asked for, which is no error.
#[must_use]
pub fn is_wanted(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

/// Writes help and version to stdout, and what is wrong to stderr.
///
/// # Errors
/// When that cannot be written.
pub fn print(error: clap::Error) -> io::Result<()> {
    let error = shown(error);
    if error.source().is_some_and(|inner| message(&inner.to_string()) != inner.to_string()) {
        return writeln!(io::stderr(), "{}", plain(&error).trim_end());
    }
    error.print()?;
    // What is buffered is not written.
    io::stdout().flush()
}

/// What is wrong, without colours.
#[must_use]
pub fn text(error: clap::Error) -> String {
    plain(&shown(error))
}

fn plain(error: &clap::Error) -> String {
    let text = error.render().to_string();
    sutura_visible::visible(&text).into_owned()
}

/// The same error with arguments as they may be shown.
fn shown(mut error: clap::Error) -> clap::Error {
    let context: Vec<(ContextKind, ContextValue)> =
        error.context().map(|(kind, value)| (kind, value.clone())).collect();
    let hides = |value: &ContextValue| matches!(value, ContextValue::String(text) if line(text) != text.as_str());
    let hides = context.iter().any(|(_, value)| hides(value));
    for (kind, value) in context {
        let value = match value {
            ContextValue::String(text) => ContextValue::String(line(&text).into_owned()),
            ContextValue::Strings(texts) => ContextValue::Strings(texts.iter().map(|t| line(t).into_owned()).collect()),
            // Hints repeat arguments, whose colours nobody can tell from those of a hint: all go.
            ContextValue::StyledStrs(texts) if hides => {
                let plain = |text: StyledStr| StyledStr::from(line(&text.to_string()).into_owned());
                ContextValue::StyledStrs(texts.into_iter().map(plain).collect())
            }
            _ => continue,
        };
        error.insert(kind, value);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(args: &[&str]) -> clap::Error {
        let number = clap::Arg::new("n").long("number").value_parser(|text: &str| match text.parse::<u8>() {
            Ok(number) => Ok(number),
            Err(_) => Err(format!("no number: {text}")),
        });
        let command = clap::Command::new("tool").subcommand(clap::Command::new("work").arg(number));
        command.try_get_matches_from(args).unwrap_err()
    }

    #[test]
    fn nothing_hides_in_what_is_wrong() {
        let evil = "\u{1b}[31m\u{9b}\u{202e}\u{7}";
        for args in [
            ["tool", evil, ""],
            ["tool", "work", evil],
            ["tool", "work", &format!("--{evil}\n")],
            ["tool", "work", &format!("--number={evil}")],
        ] {
            let text = text(error(&args));
            assert!(!text.contains(|c| c != '\n' && sutura_visible::is_hidden(c)), "{text:?}");
            assert!(text.contains("\\u{9b}"), "{text:?}");
        }
    }

    #[test]
    fn help_is_wanted_and_errors_are_not() {
        assert!(is_wanted(&error(&["tool", "--help"])));
        assert!(!is_wanted(&error(&["tool", "--hel"])));
    }
}
