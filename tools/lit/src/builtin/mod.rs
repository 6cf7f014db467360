//! Commands that tests use and that behave alike everywhere.
//!
//! Only the options that tests need exist; another option is an error, so that
//! nothing is silently ignored.

mod diff;
mod filecheck;
mod files;
mod split_file;
mod text;

use std::sync::Arc;

use crate::tool::{Call, Tools};

/// The status of a command that was called wrongly.
const USAGE: i32 = 2;

type Command = fn(&mut Call<'_>) -> i32;

pub(crate) fn register(tools: &mut Tools) {
    let commands: [(&str, Command); 14] = [
        (":", |_| 0),
        ("FileCheck", filecheck::run),
        ("cat", files::cat),
        ("count", text::count),
        ("diff", diff::run),
        ("echo", text::echo),
        ("false", |_| 1),
        ("mkdir", files::mkdir),
        ("rm", files::rm),
        ("split-file", split_file::run),
        ("sutura-filecheck", filecheck::run),
        ("test", files::test),
        ("touch", files::touch),
        ("true", |_| 0),
    ];
    for (name, command) in commands {
        tools.add(name, Arc::new(command));
    }
}

/// Reports a failure; the streams of a call cannot fail.
fn fail(call: &mut Call<'_>, command: &str, message: impl std::fmt::Display) -> i32 {
    let _ = writeln!(call.stderr, "{command}: {message}");
    1
}

fn usage(call: &mut Call<'_>, command: &str, message: impl std::fmt::Display) -> i32 {
    let _ = writeln!(call.stderr, "{command}: {message}");
    USAGE
}

/// Splits arguments into short options (`-rf` is `r` and `f`), long options and
/// operands. `--` ends options.
fn options(args: &[String]) -> (Vec<String>, Vec<&String>) {
    let mut found = Vec::new();
    let mut operands = Vec::new();
    let mut ended = false;
    for arg in args {
        match arg.strip_prefix('-') {
            Some("-") if !ended => ended = true,
            Some(rest) if !ended && !rest.is_empty() => match rest.strip_prefix('-') {
                Some(long) => found.push(long.to_owned()),
                None => found.extend(rest.chars().map(String::from)),
            },
            _ => operands.push(arg),
        }
    }
    (found, operands)
}
