//! Kernels of PTX text: names, sizes of blocks and of parameters, by the directives that the PTX ISA has for them.

use super::super::simt::module::Entry;

/// What a PTX text says of itself.
#[derive(Debug)]
pub(super) struct Ptx {
    /// Of `.target`: the least hardware, such as `sm_80` or `sm_90a`.
    pub(super) target: Option<String>,
    pub(super) kernels: Vec<Entry>,
}

/// Whether bytes that are no ELF file can be PTX: text without zeros, other than at its end.
pub(super) fn text(binary: &[u8]) -> Option<&str> {
    let length = binary.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let text = str::from_utf8(&binary[..length]).ok()?;
    (!text.contains('\0')).then_some(text)
}

pub(super) fn read(text: &str) -> Result<Ptx, String> {
    let mut tokens = Tokens { rest: text };
    let (mut ptx, mut versioned, mut depth) = (Ptx { target: None, kernels: Vec::new() }, false, 0usize);
    while let Some(token) = tokens.next()? {
        match token {
            "{" => depth += 1,
            "}" => depth = depth.checked_sub(1).ok_or("it has more `}` than `{`")?,
            ".version" => versioned = true,
            ".target" => ptx.target = ptx.target.or(tokens.next()?.map(str::to_owned)),
            ".entry" if depth == 0 => {
                let name = tokens.next()?.filter(|name| !name.starts_with('.'));
                let mut entry = Entry::new(name.ok_or("an `.entry` has no name")?);
                // Of the brace that `header` ends with nothing is left.
                let body = header(&mut tokens, &mut entry)
                    .map_err(|reason| format!("what it says of kernel `{}` is damaged: {reason}", entry.name))?;
                if body {
                    depth = 1;
                    ptx.kernels.push(entry);
                }
            }
            _ => {}
        }
    }
    if !versioned {
        return Err("it is neither an ELF file nor PTX: it has no `.version`".to_owned());
    }
    if depth != 0 {
        return Err("it ends within `{`; is it cut off?".to_owned());
    }
    Ok(ptx)
}

/// What is between a kernel's name and its body. False if there is no body.
fn header(tokens: &mut Tokens<'_>, entry: &mut Entry) -> Result<bool, String> {
    let mut parameters = Vec::new();
    let (mut demanded, mut most) = (None, None);
    let body = loop {
        match tokens.some()? {
            "{" => break true,
            ";" => break false,
            "(" => parameters = list(tokens)?,
            ".reqntid" => demanded = Some(three(tokens)?),
            ".maxntid" => most = Some(three(tokens)?),
            ".pragma" => while tokens.some()? != ";" {},
            _ => {}
        }
    };
    entry.parameters = Some(parameters);
    entry.threads = demanded.or(most);
    Ok(body)
}

/// The bytes of each parameter.
fn list(tokens: &mut Tokens<'_>) -> Result<Vec<u32>, String> {
    let (mut sizes, mut size, mut array) = (Vec::new(), None, None);
    loop {
        let token = tokens.some()?;
        match token {
            "," | ")" => {
                if let Some(size) = size.take() {
                    let elements = array.take().unwrap_or(1);
                    sizes.push(u32::checked_mul(size, elements).ok_or("a parameter is too large")?);
                } else if token == "," {
                    return Err("a parameter has no type".to_owned());
                }
                if token == ")" {
                    return Ok(sizes);
                }
            }
            "[" => array = Some(number(tokens.some()?)?),
            // The pointer's alignment.
            ".align" => drop(tokens.some()?),
            "{" | "}" | ";" => return Err(format!("`{token}` among its parameters")),
            _ => size = size.or_else(|| bytes_of(token)),
        }
    }
}

/// Bytes of a value of a type such as `.u64`; none if it is no type.
fn bytes_of(token: &str) -> Option<u32> {
    if matches!(token, ".texref" | ".samplerref" | ".surfref") {
        return Some(8);
    }
    let bits = token.strip_prefix(['.']).and_then(|name| name.strip_prefix(['u', 's', 'b', 'f']))?;
    match bits {
        "16x2" => Some(4),
        "8" | "16" | "32" | "64" | "128" => bits.parse::<u32>().ok().map(|bits| bits / 8),
        _ => None,
    }
}

fn number(token: &str) -> Result<u32, String> {
    let parsed = match token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits.trim_end_matches('U'), 16),
        None => token.trim_end_matches('U').parse(),
    };
    parsed.map_err(|_| format!("`{token}` is no number"))
}

/// One to three numbers; those that are missing are 1.
fn three(tokens: &mut Tokens<'_>) -> Result<[u32; 3], String> {
    let mut all = [1; 3];
    for (at, value) in all.iter_mut().enumerate() {
        *value = number(tokens.some()?)?;
        let before = tokens.rest;
        if at == 2 || tokens.some()? != "," {
            if at < 2 {
                tokens.rest = before;
            }
            break;
        }
    }
    Ok(all)
}

/// Words with their dots, and single signs. Comments, and what is in quotes, are none.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Result<Option<&'a str>, String> {
        loop {
            self.rest = self.rest.trim_start();
            let Some(first) = self.rest.chars().next() else { return Ok(None) };
            if let Some(comment) = self.rest.strip_prefix("//") {
                self.rest = comment.find('\n').map_or("", |end| &comment[end..]);
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                let end = comment.find("*/").ok_or("it ends within a comment; is it cut off?")?;
                self.rest = &comment[end + 2..];
            } else if let Some(quoted) = self.rest.strip_prefix('"') {
                let end = quoted.find('"').ok_or("it ends within quotes; is it cut off?")?;
                self.rest = &quoted[end + 1..];
            } else {
                let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '$' | '%' | '@');
                let end = self.rest.find(|c| !word(c)).unwrap_or(self.rest.len());
                let (token, rest) = self.rest.split_at(if end == 0 { first.len_utf8() } else { end });
                self.rest = rest;
                return Ok(Some(token));
            }
        }
    }

    fn some(&mut self) -> Result<&'a str, String> {
        self.next()?.ok_or_else(|| "it ends there; is it cut off?".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(header: &str) -> Entry {
        let text = format!(".version 8.0\n.target sm_90a, debug\n.address_size 64\n{header}\n{{ ret; }}");
        let mut ptx = read(&text).unwrap();
        assert_eq!((ptx.kernels.len(), ptx.target.as_deref()), (1, Some("sm_90a")), "{text}");
        ptx.kernels.pop().unwrap()
    }

    #[test]
    fn headers_of_kernels() {
        let entry = one(".visible .entry k(.param .u64 a, .param .u64 .ptr .global .align 16 b, .param .s64 c)");
        assert_eq!((entry.name.as_str(), entry.parameters), ("k", Some(vec![8, 8, 8])));
        assert_eq!(entry.threads, None);
        let entry = one(".entry _Z1k$1 // .entry no(\n .maxntid 128 .minnctapersm 2");
        assert_eq!((entry.name.as_str(), entry.parameters, entry.threads), ("_Z1k$1", Some(vec![]), Some([128, 1, 1])));
        let entry = one(".entry k(.param .align 8 .b8 x[24], .param .b32 y) .maxntid 1024, 1, 1 .reqntid 8, 4");
        assert_eq!((entry.parameters, entry.threads), (Some(vec![24, 4]), Some([8, 4, 1])));
        let entry = one(".entry k() .pragma \"{;}\"; /* { */ .reqntid 0x20, 2, 3");
        assert_eq!((entry.parameters, entry.threads), (Some(vec![]), Some([32, 2, 3])));
    }

    #[test]
    fn what_is_no_kernel() {
        let text =
            ".version 7.0 .func f(.param .b32 x); .entry declared(.param .u64 a); .func (.reg .b32 r) g() { ret; }";
        assert!(read(text).unwrap().kernels.is_empty());
        for (text, words) in [
            ("", "no `.version`"),
            ("hello", "neither an ELF file nor PTX"),
            (".version 7.0 .entry k() {", "cut off"),
            (".version 7.0 }", "more `}`"),
            (".version 7.0 .entry", "no name"),
            (".version 7.0 .entry k(.param a, .param .u64 b) {}", "kernel `k` is damaged: a parameter has no type"),
            (".version 7.0 .entry k() .reqntid many {}", "`many` is no number"),
            (".version 7.0 .entry k(.param .b8 a[4294967295], .param .b64 b[4294967295]) {}", "too large"),
            (".version 7.0 /* ", "within a comment"),
            (".version 7.0 .file 1 \"a", "within quotes"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn text_without_zeros() {
        assert_eq!(text(b".version\0\0"), Some(".version"));
        assert_eq!(text(b"a\0b"), None);
        assert_eq!(text(b"\xff"), None);
        assert_eq!(text(b""), Some(""));
    }
}
