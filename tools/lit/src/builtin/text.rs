//! `echo` and `count`.

use super::{fail, usage};
use crate::tool::Call;

/// `echo [-n] [-e] words`
pub(super) fn echo(call: &mut Call<'_>) -> i32 {
    let (mut newline, mut escapes) = (true, false);
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        match first.as_str() {
            "-n" => newline = false,
            "-e" => escapes = true,
            _ => break,
        }
        args = rest;
    }
    let mut text = args.join(" ");
    if escapes {
        text = unescape(&text);
    }
    if newline {
        text.push('\n');
    }
    let _ = call.stdout.write_all(text.as_bytes());
    0
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('\\') | None => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
        }
    }
    out
}

/// `count N`: whether standard input has N lines.
pub(super) fn count(call: &mut Call<'_>) -> i32 {
    let [expected] = call.args else {
        return usage(call, "count", "takes one number");
    };
    let Ok(expected) = expected.parse::<usize>() else {
        let message = format!("'{expected}' is not a number");
        return usage(call, "count", message);
    };
    // As LLVM's, which counts the ends of lines.
    let lines = call.stdin.iter().filter(|&&b| b == b'\n').count();
    match lines == expected {
        true => 0,
        false => fail(call, "count", format!("expected {expected} lines and got {lines}")),
    }
}
