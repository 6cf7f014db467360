//! From tokens to commands.

use super::ShellError;
use super::lex::{Redirect, Token, TokenKind, Word, lex};

/// A program or built-in with its arguments and redirections.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Command {
    pub(crate) words: Vec<Word>,
    /// In the order written; no word for a duplication.
    pub(crate) redirects: Vec<(Redirect, Option<Word>)>,
}

/// Commands joined by pipes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pipeline {
    /// Whether `!` turns its status around.
    pub(crate) negated: bool,
    pub(crate) commands: Vec<Command>,
}

/// When a pipeline runs, by the status of what ran before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    AfterSuccess,
    AfterFailure,
}

/// A line: pipelines from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) pipelines: Vec<(When, Pipeline)>,
}

/// Parses a line; it has at least one command.
pub(crate) fn parse(line: &str) -> Result<Line, ShellError> {
    let tokens = lex(line)?;
    let mut parser = Parser { tokens: &tokens, at: 0, end: line.len() };
    let mut pipelines = vec![(When::Always, parser.pipeline()?)];
    while let Some(token) = parser.next() {
        let when = match &token.kind {
            TokenKind::And => When::AfterSuccess,
            TokenKind::Or => When::AfterFailure,
            TokenKind::Semicolon if parser.at == tokens.len() => break,
            TokenKind::Semicolon => When::Always,
            _ => return Err(ShellError::new(token.at, "expected '|', '&&', '||' or ';'")),
        };
        pipelines.push((when, parser.pipeline()?));
    }
    Ok(Line { pipelines })
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    end: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn place(&self) -> usize {
        self.peek().map_or(self.end, |token| token.at)
    }

    fn pipeline(&mut self) -> Result<Pipeline, ShellError> {
        let negated = self.peek().is_some_and(|token| token.kind == TokenKind::Not);
        self.at += usize::from(negated);
        let mut commands = vec![self.command()?];
        while self.peek().is_some_and(|token| token.kind == TokenKind::Pipe) {
            self.at += 1;
            commands.push(self.command()?);
        }
        Ok(Pipeline { negated, commands })
    }

    fn command(&mut self) -> Result<Command, ShellError> {
        let start = self.place();
        let mut command = Command::default();
        while let Some(token) = self.peek() {
            match &token.kind {
                TokenKind::Word(word) => command.words.push(word.clone()),
                TokenKind::Redirect(redirect) => {
                    let file = match redirect {
                        Redirect::Duplicate { .. } => None,
                        _ => Some(self.file_name(token)?),
                    };
                    command.redirects.push((*redirect, file));
                }
                _ => break,
            }
            self.at += 1;
        }
        match command.words.first() {
            None => Err(ShellError::new(start, "expected a command")),
            Some(word) if is_assignment(word) => Err(ShellError::new(
                start,
                format!("'{}' in front of a command is not supported; write 'env {0} command'", word.text()),
            )),
            Some(_) => Ok(command),
        }
    }

    /// The word after a redirection; the cursor moves on to it.
    fn file_name(&mut self, operator: &Token) -> Result<Word, ShellError> {
        self.at += 1;
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Word(word)) => Ok(word.clone()),
            _ => Err(ShellError::new(operator.at, "redirection without a file name")),
        }
    }
}

fn is_assignment(word: &Word) -> bool {
    let text = word.text();
    text.split_once('=').is_some_and(|(name, _)| {
        let mut chars = name.chars();
        chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
            && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Vec<String>> {
        let line = parse(line).expect(line);
        line.pipelines
            .iter()
            .flat_map(|(_, pipeline)| &pipeline.commands)
            .map(|command| command.words.iter().map(Word::text).collect())
            .collect()
    }

    fn error(line: &str) -> (usize, String) {
        let error = parse(line).expect_err(line);
        (error.at, error.message)
    }

    #[test]
    fn quotes_and_backslashes() {
        assert_eq!(words(r#"a 'b c' "d \" \n $" e\ f g'h'"i""#), [["a", "b c", "d \" \\n $", "e f", "ghi"]]);
        assert_eq!(words("a '' \"\""), [["a", "", ""]]);
        assert_eq!(words("--opt=any(a,b{x=1}) %0"), [["--opt=any(a,b{x=1})", "%0"]]);
    }

    #[test]
    fn operators_need_no_blanks() {
        assert_eq!(words("a|b&&c||d;e"), [["a"], ["b"], ["c"], ["d"], ["e"]]);
        let line = parse("a && b || c ; d").expect("a line");
        let when: Vec<When> = line.pipelines.iter().map(|(when, _)| *when).collect();
        assert_eq!(when, [When::Always, When::AfterSuccess, When::AfterFailure, When::Always]);
    }

    #[test]
    fn redirections() {
        let line = parse("a < in > out 2>&1 2>> log b2>x").expect("a line");
        let command = &line.pipelines[0].1.commands[0];
        let redirects: Vec<Redirect> = command.redirects.iter().map(|(redirect, _)| *redirect).collect();
        assert_eq!(
            redirects,
            [
                Redirect::Input,
                Redirect::Output { descriptor: 1, append: false },
                Redirect::Duplicate { descriptor: 2, to: 1 },
                Redirect::Output { descriptor: 2, append: true },
                Redirect::Output { descriptor: 1, append: false },
            ]
        );
        assert_eq!(command.words.iter().map(Word::text).collect::<Vec<_>>(), ["a", "b2"]);
    }

    #[test]
    fn patterns_are_unquoted() {
        let line = parse("a *.x '*.y' \\*").expect("a line");
        let command = &line.pipelines[0].1.commands[0];
        let patterns: Vec<bool> = command.words.iter().map(Word::is_pattern).collect();
        assert_eq!(patterns, [false, true, false, false]);
    }

    #[test]
    fn errors_say_where() {
        assert_eq!(error("a 'b").0, 2);
        assert_eq!(error("a \"b").0, 2);
        assert_eq!(error("a \\").0, 2);
        assert_eq!(error("a | ").0, 4);
        assert_eq!(error("| a").0, 0);
        assert_eq!(error("a && && b").0, 5);
        assert_eq!(error("a >").0, 2);
        assert_eq!(error("").1, "expected a command");
        for (line, word) in [
            ("a $X", "variables"),
            ("a \"${X}\"", "variables"),
            ("a $(b)", "command substitution"),
            ("a `b`", "command substitution"),
            ("a & b", "background"),
            ("a <<E", "'<<'"),
            ("a |& b", "'|&'"),
            ("a 3> x", "descriptors"),
            ("a # b", "comments"),
            ("X=1 a", "env X=1"),
        ] {
            assert!(error(line).1.contains(word), "{line}: {}", error(line).1);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_panics(line in "[a-z \"'\\\\|&;<>0-9$`#!*é]{0,30}") {
            let _ = parse(&line);
        }

        #[test]
        fn quoted_text_is_one_word(text in "[^']{0,20}") {
            proptest::prop_assert_eq!(words(&format!("a '{text}'")), [["a".to_owned(), text]]);
        }
    }
}
