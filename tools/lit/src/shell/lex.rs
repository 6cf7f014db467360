//! Splitting a line into words and operators.

use super::ShellError;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word(Word),
    And,
    Or,
    Semicolon,
    Pipe,
    Not,
    /// `<`, `>`, `>>`, with the descriptor on its left; `2>&1` is one token.
    Redirect(Redirect),
}

/// A word: text in which `quoted` characters are no file name patterns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    pub(crate) chars: Vec<(char, bool)>,
}

impl Word {
    pub(crate) fn text(&self) -> String {
        self.chars.iter().map(|&(c, _)| c).collect()
    }

    /// Whether it is to be replaced by the names of the files it matches.
    pub(crate) fn is_pattern(&self) -> bool {
        self.chars.iter().any(|&(c, quoted)| !quoted && matches!(c, '*' | '?' | '['))
    }
}

/// What a redirection does; its file name is the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirect {
    Input,
    /// Descriptor 1 or 2 to a file, at its end if `append`.
    Output {
        descriptor: u8,
        append: bool,
    },
    /// `&>`
    Both,
    /// `2>&1`
    Duplicate {
        descriptor: u8,
        to: u8,
    },
}

pub(super) fn lex(line: &str) -> Result<Vec<Token>, ShellError> {
    let mut lexer = Lexer { line, at: 0, tokens: Vec::new() };
    while let Some(c) = lexer.peek() {
        match c {
            ' ' | '\t' | '\n' | '\r' => lexer.at += 1,
            '|' | '&' | ';' | '<' | '>' => lexer.operator(c)?,
            '0'..='9' if lexer.is_descriptor() => lexer.operator(c)?,
            '!' if lexer.at_command() && lexer.rest()[1..].starts_with([' ', '\t']) => lexer.push(1, TokenKind::Not),
            '#' => {
                return Err(ShellError::new(lexer.at, "comments are not supported here; quote '#' if it is meant"));
            }
            _ => lexer.word()?,
        }
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, length: usize, kind: TokenKind) {
        self.tokens.push(Token { at: self.at, kind });
        self.at += length;
    }

    /// Whether a pipeline starts here.
    fn at_command(&self) -> bool {
        let last = self.tokens.last().map(|token| &token.kind);
        matches!(last, None | Some(TokenKind::And | TokenKind::Or | TokenKind::Semicolon))
    }

    /// Whether the cursor is at a number directly before `<` or `>`.
    fn is_descriptor(&self) -> bool {
        self.rest().trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['<', '>'])
    }

    fn operator(&mut self, first: char) -> Result<(), ShellError> {
        let rest = self.rest();
        let output = |descriptor, append| TokenKind::Redirect(Redirect::Output { descriptor, append });
        let duplicate = |descriptor, to| TokenKind::Redirect(Redirect::Duplicate { descriptor, to });
        // Longer ones first.
        let known = [
            ("&&", TokenKind::And),
            ("||", TokenKind::Or),
            ("2>&1", duplicate(2, 1)),
            ("1>&2", duplicate(1, 2)),
            (">&2", duplicate(1, 2)),
            ("2>>", output(2, true)),
            ("1>>", output(1, true)),
            ("&>", TokenKind::Redirect(Redirect::Both)),
            (">>", output(1, true)),
            ("2>", output(2, false)),
            ("1>", output(1, false)),
            ("0<", TokenKind::Redirect(Redirect::Input)),
            (">", output(1, false)),
            ("<", TokenKind::Redirect(Redirect::Input)),
            ("|", TokenKind::Pipe),
            (";", TokenKind::Semicolon),
        ];
        let unsupported = ["|&", "<<", "<&", ">|", ">&", "1>&", "2>&", "<>"];
        let found = known.into_iter().find(|(text, _)| rest.starts_with(text));
        let length = found.as_ref().map_or(0, |(text, _)| text.len());
        let longer = unsupported.iter().find(|text| rest.starts_with(**text) && text.len() > length);
        match (longer, found) {
            (Some(text), _) => Err(ShellError::new(self.at, format!("'{text}' is not supported"))),
            (None, Some((text, kind))) => {
                self.push(text.len(), kind);
                Ok(())
            }
            (None, None) if first == '&' => Err(ShellError::new(self.at, "background jobs ('&') are not supported")),
            (None, None) => Err(ShellError::new(self.at, "only descriptors 0, 1 and 2 can be redirected")),
        }
    }

    fn word(&mut self) -> Result<(), ShellError> {
        let start = self.at;
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '|' | '&' | ';' | '<' | '>' => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.at += 1;
                    let Some(next) = self.peek() else {
                        return Err(ShellError::new(self.at - 1, "backslash at the end of the line"));
                    };
                    word.chars.push((next, true));
                    self.at += next.len_utf8();
                }
                _ => {
                    self.expansion()?;
                    word.chars.push((c, false));
                    self.at += c.len_utf8();
                }
            }
        }
        self.tokens.push(Token { at: start, kind: TokenKind::Word(word) });
        Ok(())
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), ShellError> {
        let open = self.at;
        let body = &self.line[open + 1..];
        let Some(length) = body.find('\'') else {
            return Err(ShellError::new(open, "missing closing '"));
        };
        word.chars.extend(body[..length].chars().map(|c| (c, true)));
        self.at = open + 1 + length + 1;
        Ok(())
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), ShellError> {
        let open = self.at;
        self.at += 1;
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '"' => return Ok(()),
                '\\' => match self.peek() {
                    // Before any other character a backslash is itself.
                    Some(next @ ('"' | '\\' | '$' | '`')) => {
                        word.chars.push((next, true));
                        self.at += 1;
                    }
                    _ => word.chars.push(('\\', true)),
                },
                _ => {
                    self.at -= c.len_utf8();
                    self.expansion()?;
                    self.at += c.len_utf8();
                    word.chars.push((c, true));
                }
            }
        }
        Err(ShellError::new(open, "missing closing \""))
    }

    /// Refuses what a real shell would replace at the cursor.
    fn expansion(&self) -> Result<(), ShellError> {
        let mut chars = self.rest().chars();
        let problem = match (chars.next(), chars.next()) {
            (Some('`'), _) => "command substitution (`) is not supported",
            (Some('$'), Some('(')) => "command substitution ('$(') is not supported",
            (Some('$'), Some('{')) => "variables ('${') are not supported; use %{name} and DEFINE:",
            (Some('$'), Some(c)) if c == '_' || c.is_ascii_alphanumeric() => {
                "variables ('$') are not supported; quote '$' with ' if it is meant"
            }
            _ => return Ok(()),
        };
        Err(ShellError::new(self.at, problem))
    }
}
