//! `cat`, `mkdir`, `rm`, `touch` and `test`.

use std::fs;
use std::io;
use std::path::Path;

use super::{fail, options, usage};
use crate::tool::Call;

/// `cat [files]`; `-` is standard input
pub(super) fn cat(call: &mut Call<'_>) -> i32 {
    let (options, files) = options(call.args);
    if let Some(option) = options.first() {
        return usage(call, "cat", format!("unknown option '{option}'"));
    }
    if files.is_empty() {
        let _ = call.stdout.write_all(call.stdin);
        return 0;
    }
    let mut status = 0;
    for file in files {
        if file == "-" {
            let _ = call.stdout.write_all(call.stdin);
            continue;
        }
        match sutura_input::bytes(&call.cwd.join(file), sutura_input::TEXT_LIMIT) {
            Ok(text) => {
                let _ = call.stdout.write_all(&text);
            }
            Err(error) => status = fail(call, "cat", format!("{file}: {error}")),
        }
    }
    status
}

/// `mkdir [-p] folders`
pub(super) fn mkdir(call: &mut Call<'_>) -> i32 {
    let (options, folders) = options(call.args);
    if let Some(option) = options.iter().find(|option| *option != "p") {
        return usage(call, "mkdir", format!("unknown option '{option}'"));
    }
    if folders.is_empty() {
        return usage(call, "mkdir", "no folder given");
    }
    let mut status = 0;
    for folder in folders {
        let path = call.cwd.join(folder);
        let made = match options.is_empty() {
            true => fs::create_dir(path),
            false => fs::create_dir_all(path),
        };
        if let Err(error) = made {
            status = fail(call, "mkdir", format!("{folder}: {error}"));
        }
    }
    status
}

/// `rm [-r] [-f] files`
pub(super) fn rm(call: &mut Call<'_>) -> i32 {
    let (options, files) = options(call.args);
    let (mut recursive, mut force) = (false, false);
    for option in &options {
        match option.as_str() {
            "r" | "R" => recursive = true,
            "f" => force = true,
            _ => return usage(call, "rm", format!("unknown option '{option}'")),
        }
    }
    if files.is_empty() && !force {
        return usage(call, "rm", "no file given");
    }
    let mut status = 0;
    for file in files {
        match remove(&call.cwd.join(file), recursive) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && force => {}
            Err(error) => status = fail(call, "rm", format!("{file}: {error}")),
            Ok(()) => {}
        }
    }
    status
}

fn remove(path: &Path, recursive: bool) -> io::Result<()> {
    let is_folder = fs::symlink_metadata(path)?.is_dir();
    match (is_folder, recursive) {
        (true, true) => fs::remove_dir_all(path),
        (true, false) => Err(io::Error::other("is a folder (use -r)")),
        (false, _) => fs::remove_file(path),
    }
}

/// `touch files`: makes empty files; existing ones stay as they are
pub(super) fn touch(call: &mut Call<'_>) -> i32 {
    let (options, files) = options(call.args);
    if let Some(option) = options.first() {
        return usage(call, "touch", format!("unknown option '{option}'"));
    }
    let mut status = 0;
    for file in files {
        let opened = fs::OpenOptions::new().create(true).append(true).open(call.cwd.join(file));
        if let Err(error) = opened {
            status = fail(call, "touch", format!("{file}: {error}"));
        }
    }
    status
}

/// `test [!] expression` with `-e -f -d -s -x -n -z`, `=`, `!=` and
/// `-eq -ne -lt -le -gt -ge`
pub(super) fn test(call: &mut Call<'_>) -> i32 {
    let words: Vec<&str> = call.args.iter().map(String::as_str).collect();
    let (negated, words) = match words.split_first() {
        Some((&"!", rest)) => (true, rest),
        _ => (false, words.as_slice()),
    };
    match condition(words, call.cwd) {
        Ok(holds) => i32::from(holds == negated),
        Err(message) => usage(call, "test", message),
    }
}

fn condition(words: &[&str], cwd: &Path) -> Result<bool, String> {
    let number = |text: &str| text.parse::<i64>().map_err(|_| format!("'{text}' is not a number"));
    Ok(match *words {
        [] => false,
        ["-n", text] => !text.is_empty(),
        ["-z", text] => text.is_empty(),
        ["-e", file] => cwd.join(file).exists(),
        ["-f", file] => cwd.join(file).is_file(),
        ["-d", file] => cwd.join(file).is_dir(),
        ["-s", file] => cwd.join(file).metadata().is_ok_and(|metadata| metadata.len() > 0),
        ["-x", file] => crate::shell::is_executable(&cwd.join(file)),
        [text] => !text.is_empty(),
        [left, "=" | "==", right] => left == right,
        [left, "!=", right] => left != right,
        [left, "-eq", right] => number(left)? == number(right)?,
        [left, "-ne", right] => number(left)? != number(right)?,
        [left, "-lt", right] => number(left)? < number(right)?,
        [left, "-le", right] => number(left)? <= number(right)?,
        [left, "-gt", right] => number(left)? > number(right)?,
        [left, "-ge", right] => number(left)? >= number(right)?,
        _ => return Err(format!("cannot read '{}'", words.join(" "))),
    })
}
