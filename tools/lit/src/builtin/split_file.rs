//! `split-file`: several files in one test.
//!
//! A line `//--- name` (or any one character before `--- name`, as in
//! `#--- name`) starts the file `name`.

use std::fs;
use std::path::{Component, Path};

use super::{fail, options, usage};
use crate::tool::Call;

struct Part<'a> {
    name: &'a str,
    /// The line on which its text starts, from 0.
    line: usize,
    text: &'a str,
}

/// `split-file [--leading-lines] file folder`
pub(super) fn run(call: &mut Call<'_>) -> i32 {
    let (options, operands) = options(call.args);
    let mut leading = false;
    for option in &options {
        match option.as_str() {
            "leading-lines" => leading = true,
            "no-leading-lines" => leading = false,
            _ => return usage(call, "split-file", format!("unknown option '{option}'")),
        }
    }
    let [file, folder] = operands[..] else {
        return usage(call, "split-file", "takes a file and a folder");
    };
    let text = match file.as_str() {
        "-" => String::from_utf8(call.stdin.to_vec()).map_err(|error| error.to_string()),
        _ => sutura_input::text(&call.cwd.join(file), sutura_input::TEXT_LIMIT)
            .and_then(sutura_input::utf8)
            .map_err(|error| error.to_string()),
    };
    let outcome = text.and_then(|text| {
        let parts = split(&text)?;
        write(&parts, &call.cwd.join(folder), leading)
    });
    match outcome {
        Ok(()) => 0,
        Err(message) => fail(call, "split-file", format!("{file}: {message}")),
    }
}

/// The name of the part that a line starts.
fn separator(line: &str) -> Option<&str> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    if let Some(rest) = line.strip_prefix("//") {
        return rest.strip_prefix("--- ");
    }
    let mut chars = line.chars();
    chars.next()?;
    chars.as_str().strip_prefix("--- ")
}

fn split(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        if let Some(name) = separator(line) {
            if let Some(last) = parts.last_mut() {
                last.text = &text[start..at];
            }
            check_name(name, &parts).map_err(|problem| format!("line {}: {problem}", number + 1))?;
            parts.push(Part { name, line: number + 1, text: "" });
            start = end;
        }
        at = end;
    }
    match parts.last_mut() {
        Some(last) => last.text = &text[start..],
        None => return Err("no line '//--- name' was found".into()),
    }
    Ok(parts)
}

fn check_name(name: &str, parts: &[Part<'_>]) -> Result<(), String> {
    if name.is_empty() {
        return Err("empty part name".into());
    }
    if name.trim() != name {
        return Err("part name cannot have leading or trailing blanks".into());
    }
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(plain) {
        return Err(format!("part name '{name}' leaves the folder"));
    }
    match parts.iter().any(|part| part.name == name) {
        true => Err(format!("part name '{name}' is used twice")),
        false => Ok(()),
    }
}

fn write(parts: &[Part<'_>], folder: &Path, leading: bool) -> Result<(), String> {
    if folder.is_file() {
        fs::remove_file(folder).map_err(|error| error.to_string())?;
    }
    for part in parts {
        let path = folder.join(part.name);
        let parent = path.parent().unwrap_or(folder);
        let skipped = if leading { part.line } else { 0 };
        let text = "\n".repeat(skipped) + part.text;
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
