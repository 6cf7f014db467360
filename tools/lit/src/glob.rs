//! File name patterns: `*`, `?` and `[a-z]` within one part of a path.

use std::path::{Path, PathBuf};

/// The files that a pattern matches, sorted, written as the pattern is (relative
/// to `cwd` or absolute). Characters with the flag set are no pattern.
pub(crate) fn expand(pattern: &[(char, bool)], cwd: &Path) -> Vec<String> {
    let absolute = pattern.first().is_some_and(|&(c, _)| c == '/');
    let parts: Vec<&[(char, bool)]> = pattern.split(|&(c, _)| c == '/').filter(|part| !part.is_empty()).collect();
    // What is found so far: the path as written.
    let mut found = vec![if absolute { "/".to_owned() } else { String::new() }];
    for (i, part) in parts.iter().enumerate() {
        let last = i + 1 == parts.len();
        let mut next = Vec::new();
        for base in &found {
            for name in names(part, &cwd.join(base)) {
                let path = format!("{base}{name}");
                let real: PathBuf = cwd.join(&path);
                match last {
                    true if real.symlink_metadata().is_ok() => next.push(path),
                    false if real.is_dir() => next.push(path + "/"),
                    _ => {}
                }
            }
        }
        found = next;
    }
    found.sort();
    found
}

/// The names in `folder` that one part of a pattern may mean.
fn names(part: &[(char, bool)], folder: &Path) -> Vec<String> {
    let is_pattern = part.iter().any(|&(c, quoted)| !quoted && matches!(c, '*' | '?' | '['));
    if !is_pattern {
        return vec![part.iter().map(|&(c, _)| c).collect()];
    }
    let hidden = part.first().is_some_and(|&(c, _)| c == '.');
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| hidden || !name.starts_with('.'))
        .filter(|name| matches(part, &name.chars().collect::<Vec<_>>()))
        .collect()
}

/// Whether a name matches; on a mismatch the last `*` takes one more character.
fn matches(pattern: &[(char, bool)], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&('*', false)) {
            star = Some((p, n));
            p += 1;
            continue;
        }
        match one(&pattern[p.min(pattern.len())..], name[n]) {
            Some(length) => {
                p += length;
                n += 1;
            }
            None => match &mut star {
                Some((star_p, star_n)) => {
                    *star_n += 1;
                    (p, n) = (*star_p + 1, *star_n);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == ('*', false))
}

/// How much of the front of a pattern matches the character.
fn one(pattern: &[(char, bool)], c: char) -> Option<usize> {
    match *pattern.first()? {
        ('?', false) => Some(1),
        ('[', false) => match class(pattern, c) {
            Some((true, length)) => Some(length),
            Some((false, _)) => None,
            None => (c == '[').then_some(1),
        },
        (literal, _) => (literal == c).then_some(1),
    }
}

/// Whether the class at the front of a pattern has the character, and the
/// length of the class; `None` if it is not closed.
fn class(pattern: &[(char, bool)], c: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some(('!' | '^', false)));
    let start = if negated { 2 } else { 1 };
    let close = start + 1 + pattern.get(start + 1..)?.iter().position(|&c| c == (']', false))?;
    let members: Vec<char> = pattern[start..close].iter().map(|&(c, _)| c).collect();
    let mut found = false;
    let mut at = 0;
    while at < members.len() {
        match members.get(at..at + 3) {
            Some(&[first, '-', last]) => {
                found |= (first..=last).contains(&c);
                at += 3;
            }
            _ => {
                found |= members[at] == c;
                at += 1;
            }
        }
    }
    Some((found != negated, close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, name: &str) -> bool {
        let pattern: Vec<(char, bool)> = pattern.chars().map(|c| (c, false)).collect();
        matches(&pattern, &name.chars().collect::<Vec<_>>())
    }

    #[test]
    fn patterns() {
        for (pattern, name) in [
            ("*", ""),
            ("*", "abc"),
            ("a*c", "abbc"),
            ("a*c", "ac"),
            ("*.x", "a.b.x"),
            ("a?c", "abc"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "dx"),
            ("[]]", "]"),
            ("[a", "[a"),
            ("**a**", "bab"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a*c", "abcd"), ("?", ""), ("[a-c]", "d"), ("[!a-c]", "a"), ("*.x", "x"), ("", "a"), ("a", "")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!fits(&("a*".repeat(30) + "c"), &"a".repeat(500)));
    }

    #[test]
    fn files() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b.x", "a.x", "c.y", ".h.x"] {
            std::fs::write(folder.path().join(name), "").expect("a file");
        }
        std::fs::create_dir(folder.path().join("d")).expect("a folder");
        std::fs::write(folder.path().join("d/e.x"), "").expect("a file");
        let run = |pattern: &str| {
            let pattern: Vec<(char, bool)> = pattern.chars().map(|c| (c, false)).collect();
            expand(&pattern, folder.path())
        };
        assert_eq!(run("*.x"), ["a.x", "b.x"]);
        assert_eq!(run("*/*.x"), ["d/e.x"]);
        assert_eq!(run("d/*"), ["d/e.x"]);
        assert_eq!(run("*.z"), [""; 0]);
        let absolute = format!("{}/[ab].x", folder.path().display());
        assert_eq!(run(&absolute).len(), 2);
    }
}
