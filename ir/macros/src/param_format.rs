//! The format string of a type's or attribute's parameters.
//!
//! Literals in back quotes, `$name`, `params`, `struct(params)`, `struct($a, $b)`, and groups `( … $name^ … )?`.

use syn::{Error, LitStr, Result};

use crate::param::{Absence, Param, is_word};

pub(crate) enum Element {
    Literal {
        text: String,
        blank: bool,
    },
    Param {
        index: usize,
        blank: bool,
    },
    /// Present when the parameter `anchor` is.
    Group {
        elements: Vec<Element>,
        anchor: usize,
    },
    /// `name = value`, in any order.
    Struct {
        params: Vec<usize>,
        blank: bool,
    },
}

pub(crate) struct Format {
    pub(crate) elements: Vec<Element>,
}

struct Reader<'f> {
    literal: &'f LitStr,
    text: String,
    at: usize,
    params: &'f [Param],
    written: Vec<bool>,
    /// A blank is wanted before the next element; the last one was punctuation.
    wanted: bool,
    after_punctuation: bool,
}

const PUNCTUATION: &[&str] =
    &["->", "::", "...", ":", ",", "=", "<", ">", "(", ")", "{", "}", "[", "]", "?", "+", "*", "|", "/", "-"];

impl Format {
    pub(crate) fn parse(literal: &LitStr, params: &[Param]) -> Result<Self> {
        let mut reader = Reader {
            literal,
            text: literal.value(),
            at: 0,
            params,
            written: vec![false; params.len()],
            wanted: true,
            after_punctuation: false,
        };
        let (elements, _) = reader.elements(false)?;
        if let Some(i) = reader.written.iter().position(|w| !w) {
            return Err(Error::new(literal.span(), format!("parameter `${}` is not written", params[i].name)));
        }
        Ok(Self { elements })
    }
}

impl Reader<'_> {
    fn error(&self, message: &str) -> Error {
        let column = self.text[..self.at].chars().count() + 1;
        Error::new(self.literal.span(), format!("{message} at column {column} of the format"))
    }

    fn rest(&mut self) -> &str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.take(text) { Ok(()) } else { Err(self.error(&format!("expected `{text}`"))) }
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = rest[..end].to_string();
        self.at += end;
        word
    }

    /// Elements up to `)` or the end, with the parameter marked `^`.
    fn elements(&mut self, grouped: bool) -> Result<(Vec<Element>, Option<usize>)> {
        let (mut elements, mut anchor) = (Vec::new(), None);
        while !self.rest().is_empty() && !self.rest().starts_with(')') {
            if self.take("(") {
                if grouped {
                    return Err(self.error("groups do not nest"));
                }
                elements.push(self.group()?);
                continue;
            }
            self.element(grouped, &mut elements)?;
            if self.take("^") {
                match elements.last() {
                    Some(Element::Param { index, .. }) if grouped && anchor.is_none() => anchor = Some(*index),
                    _ => return Err(self.error("one parameter of a group has an anchor `^`")),
                }
            }
        }
        if !grouped && !self.rest().is_empty() {
            return Err(self.error("unbalanced parenthesis"));
        }
        Ok((elements, anchor))
    }

    fn group(&mut self) -> Result<Element> {
        let (elements, anchor) = self.elements(true)?;
        self.expect(")")?;
        self.expect("?")?;
        let anchor = anchor.ok_or_else(|| self.error("expected an anchor `^` in the optional group"))?;
        let shows = match elements.first() {
            Some(Element::Literal { .. }) => true,
            Some(Element::Param { index, .. }) => *index == anchor,
            _ => false,
        };
        if !shows {
            return Err(self.error("an optional group begins with a literal or with its anchor"));
        }
        Ok(Element::Group { elements, anchor })
    }

    fn element(&mut self, grouped: bool, out: &mut Vec<Element>) -> Result<()> {
        if self.take("`") {
            let end = self.text[self.at..].find('`').ok_or_else(|| self.error("unterminated literal"))?;
            let text = self.text[self.at..self.at + end].to_string();
            self.at += end + 1;
            return self.literal(text, out);
        }
        if self.take("$") {
            let element = self.param(grouped)?;
            out.push(element);
            return Ok(());
        }
        match self.word().as_str() {
            "params" => {
                for index in 0..self.params.len() {
                    if index > 0 {
                        self.literal(",".to_string(), out)?;
                    }
                    let element = self.use_param(index, grouped)?;
                    out.push(element);
                }
                Ok(())
            }
            "struct" => {
                let blank = self.blank_before_value();
                let params = self.struct_params()?;
                out.push(Element::Struct { params, blank });
                Ok(())
            }
            _ => Err(self.error("expected a literal in back quotes, `$name`, `params`, `struct(…)` or a group")),
        }
    }

    fn literal(&mut self, text: String, out: &mut Vec<Element>) -> Result<()> {
        if text.is_empty() {
            (self.wanted, self.after_punctuation) = (false, true);
            return Ok(());
        }
        let known = PUNCTUATION.contains(&text.as_str())
            || (is_word(&text)
                && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-')));
        if !known {
            return Err(self.error(&format!("`{text}` is neither a keyword nor punctuation")));
        }
        let blank = self.wanted
            && match text.as_str() {
                ">" | ")" | "}" | "]" | "," => false,
                "<" | "(" | "{" | "[" => self.after_punctuation,
                _ => true,
            };
        self.wanted = !matches!(text.as_str(), "<" | "(" | "{" | "[");
        self.after_punctuation = !is_word(&text);
        out.push(Element::Literal { text, blank });
        Ok(())
    }

    fn blank_before_value(&mut self) -> bool {
        let blank = self.wanted || !self.after_punctuation;
        (self.wanted, self.after_punctuation) = (true, false);
        blank
    }

    fn param(&mut self, grouped: bool) -> Result<Element> {
        let name = self.word();
        match self.params.iter().position(|p| p.name == name) {
            Some(index) => self.use_param(index, grouped),
            None => Err(self.error(&format!("there is no parameter `${name}`"))),
        }
    }

    fn use_param(&mut self, index: usize, grouped: bool) -> Result<Element> {
        let param = &self.params[index];
        let may_be_absent = !matches!(param.absence, Absence::No);
        if may_be_absent && !grouped && !matches!(param.absence, Absence::Empty) {
            let message = format!("parameter `${}` may be absent: put it into a group, `(… ${0}^ …)?`", param.name);
            return Err(self.error(&message));
        }
        if !may_be_absent && grouped {
            return Err(self.error(&format!("parameter `${}` cannot be absent, as a group can", param.name)));
        }
        self.mark(index)?;
        let blank = self.blank_before_value();
        Ok(Element::Param { index, blank })
    }

    fn mark(&mut self, index: usize) -> Result<()> {
        if std::mem::replace(&mut self.written[index], true) {
            return Err(self.error(&format!("parameter `${}` is written twice", self.params[index].name)));
        }
        Ok(())
    }

    fn struct_params(&mut self) -> Result<Vec<usize>> {
        self.expect("(")?;
        let mut list = Vec::new();
        if self.take("params") {
            list.extend(0..self.params.len());
        } else {
            loop {
                self.expect("$")?;
                let name = self.word();
                let index = self.params.iter().position(|p| p.name == name);
                list.push(index.ok_or_else(|| self.error(&format!("there is no parameter `${name}`")))?);
                if !self.take(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        for &index in &list {
            self.mark(index)?;
        }
        Ok(list)
    }
}
