//! Textual pipelines: `builtin.module(func.func(canonicalize{max-iterations=3},cse),symbol-dce)`.

use super::pipeline::ANY;
use super::{OpPassManager, PassInstance, PassRegistry};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics, Reported, codes, did_you_mean};
use crate::location::{Loc, Source};

/// Managers may be nested this deep.
const MAX_DEPTH: usize = 64;

/// Parses a whole pipeline, anchor included. Errors point into `text`, which becomes a source called `name`.
///
/// # Errors
/// After an error was reported.
pub fn parse_pipeline(
    cx: &Context,
    registry: &PassRegistry,
    name: &str,
    text: &str,
    diags: &mut Diagnostics,
) -> Result<OpPassManager, Reported> {
    let source = match cx.sources().add(name, text) {
        Ok(source) => source,
        Err(error) => return Err(diags.error(Loc::UNKNOWN, error.to_string())),
    };
    let mut parser = Parser { registry, source: &source, text, at: 0, depth: 0 };
    parser.whole(cx).map_err(|error| diags.report(error.or_code(codes::PIPELINE)))
}

/// Checks the pipelines that are options of a pass given otherwise than in a pipeline.
///
/// # Errors
/// After an error was reported.
pub fn check_pass(
    cx: &Context,
    registry: &PassRegistry,
    pass: &PassInstance,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    check_options(cx, registry, pass.options(), 0).map_err(|error| diags.report(error.or_code(codes::PIPELINE)))
}

/// Options that are pipelines: what is wrong with one is found before anything runs.
fn check_options(cx: &Context, registry: &PassRegistry, options: &super::PassOptions, depth: usize) -> Parsed<()> {
    for (name, passes) in options.pipelines().filter(|(_, passes)| !passes.trim().is_empty()) {
        let text = format!("{passes})");
        let added = cx.sources().add(format!("<{name}>"), text.as_str());
        let source = added.map_err(|error| Diagnostic::error(Loc::UNKNOWN, error.to_string()))?;
        let mut inner = Parser { registry, source: &source, text: &text, at: 0, depth: depth + 1 };
        if inner.depth >= MAX_DEPTH {
            return Err(inner.error(format!("pipelines are nested more than {MAX_DEPTH} deep")));
        }
        inner.items(cx, &mut OpPassManager::new(ANY))?;
        inner.skip_blanks();
        if inner.at < inner.text.len() {
            return Err(inner.error("unexpected ')'"));
        }
    }
    Ok(())
}

struct Parser<'p> {
    registry: &'p PassRegistry,
    source: &'p Source,
    text: &'p str,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'p> Parser<'p> {
    fn error_at(&self, at: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.source.loc(at), message)
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.error_at(self.at, message)
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        self.skip_blanks();
        let found = self.peek() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    /// A name of an op, a pass or an option, with its place; empty when none is next.
    fn name(&mut self) -> (usize, &'p str) {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text[start..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "._-$".contains(c))).unwrap_or(rest.len());
        self.at += end;
        (start, &rest[..end])
    }

    fn whole(&mut self, cx: &Context) -> Parsed<OpPassManager> {
        let (start, anchor) = self.name();
        if anchor.is_empty() || !self.take('(') {
            let inside = self.text.trim();
            return Err(self
                .error_at(
                    start,
                    "expected pass pipeline to be wrapped with the anchor operation type, e.g. 'builtin.module(...)'",
                )
                .help(format!("write `builtin.module({inside})`")));
        }
        self.check_anchor(cx, start, anchor)?;
        let mut manager = OpPassManager::new(anchor);
        self.items(cx, &mut manager)?;
        self.skip_blanks();
        if self.at < self.text.len() {
            return Err(self.error("expected the end of the pipeline after the closing `)` of its anchor"));
        }
        Ok(manager)
    }

    fn check_anchor(&self, cx: &Context, at: usize, anchor: &str) -> Parsed<()> {
        if anchor == ANY {
            return Ok(());
        }
        if anchor.contains('.') {
            // Nothing can be said of an op that is not registered, unless it looks like a misspelt one.
            let known = cx.registry().op_def(anchor).is_some();
            let meant = if known { None } else { did_you_mean(anchor, cx.registry().op_defs().map(|d| d.name)) };
            return match meant {
                None => Ok(()),
                Some(meant) => {
                    let error = self.error_at(at, format!("'{anchor}' is not the name of an operation"));
                    Err(error.help(format!("did you mean `{meant}`?")))
                }
            };
        }
        let error = self.error_at(at, format!("'{anchor}' is not the name of an operation"));
        Err(match self.registry.pass(anchor) {
            Some(_) => error.help("options of a pass are written in braces: `name{option=value}`"),
            None => error.help(format!("operations are called `dialect.name`; `{ANY}` stands for all of them")),
        })
    }

    /// Items up to the `)` that closes their manager.
    fn items(&mut self, cx: &Context, manager: &mut OpPassManager) -> Parsed<()> {
        let open = self.at.saturating_sub(1);
        if self.take(')') {
            return Ok(());
        }
        loop {
            self.item(cx, manager)?;
            if self.take(')') {
                return Ok(());
            }
            if !self.take(',') {
                self.skip_blanks();
                return Err(match self.peek() {
                    None => self.error_at(open, "missing ')' for this '('"),
                    Some(_) => self.error("expected ',' or ')'"),
                });
            }
        }
    }

    fn item(&mut self, cx: &Context, manager: &mut OpPassManager) -> Parsed<()> {
        let (start, name) = self.name();
        if name.is_empty() {
            return Err(self.error_at(start, "expected the name of a pass, a pipeline or an operation"));
        }
        if self.take('(') {
            return self.nested(cx, start, name, manager);
        }
        if let Some(pipeline) = self.registry.pipeline(name) {
            return self.named_pipeline(cx, name, &pipeline.text, manager);
        }
        let Some(info) = self.registry.pass(name) else { return Err(self.unknown(start, name)) };
        let mut options = super::PassOptions::new(info.options);
        if self.take('{') {
            self.options(name, &mut options)?;
        }
        check_options(cx, self.registry, &options, self.depth)?;
        let pass = super::PassInstance::new(info, options)
            .map_err(|reason| self.error_at(start, format!("pass '{name}': {reason}")).code(codes::PASS_OPTION))?;
        manager.add(pass).map_err(|reason| self.error_at(start, reason))
    }

    fn nested(&mut self, cx: &Context, start: usize, name: &str, manager: &mut OpPassManager) -> Parsed<()> {
        self.check_anchor(cx, start, name)?;
        self.depth += 1;
        if self.depth >= MAX_DEPTH {
            return Err(self.error_at(start, format!("pass managers are nested more than {MAX_DEPTH} deep")));
        }
        let mut nested = OpPassManager::new(name);
        self.items(cx, &mut nested)?;
        self.depth -= 1;
        manager.add_nested(nested);
        Ok(())
    }

    fn named_pipeline(&mut self, cx: &Context, name: &str, text: &str, manager: &mut OpPassManager) -> Parsed<()> {
        // The closing parenthesis lets the items be read as those of any manager.
        let text = format!("{text})");
        let source = cx.sources().add(format!("<pipeline {name}>"), text.as_str());
        let source = source.map_err(|e| self.error(e.to_string()))?;
        if self.depth + 1 >= MAX_DEPTH {
            return Err(self.error(format!("pipeline '{name}' contains itself or is nested too deep")));
        }
        let mut inner = Parser { registry: self.registry, source: &source, text: &text, at: 0, depth: self.depth + 1 };
        inner.items(cx, manager)
    }

    fn unknown(&self, at: usize, name: &str) -> Diagnostic {
        let error = self.error_at(at, format!("'{name}' does not refer to a registered pass or pass pipeline"));
        let error = error.code(codes::UNKNOWN_PASS);
        match self.registry.suggest(name) {
            Some(close) => error.help(format!("did you mean `{close}`?")),
            None => error.help("`--list-passes` lists them all"),
        }
    }

    /// Options up to the `}` that closes them.
    fn options(&mut self, pass: &str, options: &mut super::PassOptions) -> Parsed<()> {
        let open = self.at.saturating_sub(1);
        while !self.take('}') {
            if self.peek().is_none() {
                return Err(self.error_at(open, format!("missing '}}' after the options of pass '{pass}'")));
            }
            let (start, name) = self.name();
            if name.is_empty() {
                return Err(self.error_at(start, "expected the name of an option"));
            }
            let value = if self.take('=') { self.value()? } else { "true".to_string() };
            options
                .set(name, &value)
                .map_err(|reason| self.error_at(start, format!("pass '{pass}': {reason}")).code(codes::PASS_OPTION))?;
        }
        Ok(())
    }

    /// A value: quoted, in braces, or up to the next blank or `}`.
    fn value(&mut self) -> Parsed<String> {
        let start = self.at;
        let rest = &self.text[start..];
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let mut value = String::new();
                let mut chars = rest.char_indices().skip(1);
                while let Some((i, c)) = chars.next() {
                    match c {
                        '\\' => value.extend(chars.next().map(|(_, c)| c)),
                        c if c == quote => {
                            self.at = start + i + 1;
                            return Ok(value);
                        }
                        c => value.push(c),
                    }
                }
                Err(self.error_at(start, "missing closing quote"))
            }
            Some('{') => {
                let end = rest.find('}').ok_or_else(|| self.error_at(start, "missing '}'"))?;
                self.at = start + end + 1;
                Ok(rest[1..end].to_string())
            }
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || c == '}').unwrap_or(rest.len());
                self.at = start + end;
                Ok(rest[..end].to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun};
    use super::*;
    use crate::analysis::PreservedAnalyses;
    use crate::registry::Registry;

    struct Nothing;
    impl Pass for Nothing {
        fn run(&self, _: &mut PassRun<'_>) -> PassResult {
            Ok(PreservedAnalyses::all())
        }
    }
    const OPTIONS: &[OptionInfo] = &[
        OptionInfo { name: "max-iterations", kind: OptionKind::Int(1, 100), default: "10", help: "" },
        OptionInfo { name: "label", kind: OptionKind::Text, default: "", help: "" },
        OptionInfo { name: "top-down", kind: OptionKind::Bool, default: "false", help: "" },
    ];
    fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
        Ok(Box::new(Nothing))
    }
    const fn info(argument: &'static str, anchor: Anchor) -> PassInfo {
        PassInfo {
            name: "Nothing",
            argument,
            summary: "",
            description: "",
            anchor,
            options: OPTIONS,
            statistics: &[],
            create,
        }
    }
    static CANONICALIZE: PassInfo = info("canonicalize", Anchor::Any);
    static CSE: PassInfo = info("cse", Anchor::Any);
    static ON_FUNC: PassInfo = info("on-func", Anchor::Op("func.func"));

    fn parse(text: &str) -> Result<String, String> {
        let cx = Context::new(Registry::default());
        let mut registry = PassRegistry::new().with(&CANONICALIZE).with(&CSE).with(&ON_FUNC);
        registry.add_pipeline("both", "", "canonicalize,cse");
        let mut diags = Diagnostics::default();
        match parse_pipeline(&cx, &registry, "<pass-pipeline>", text, &mut diags) {
            Ok(manager) => Ok(manager.to_string()),
            Err(Reported) => {
                let d = diags.take().remove(0);
                let column = cx.file_line_col(d.loc).map_or(0, |(_, _, col)| col);
                Err(format!("{column}: {}; {}", d.message, d.help.unwrap_or_default()))
            }
        }
    }

    #[test]
    fn prints_as_it_parses() {
        for text in [
            "builtin.module()",
            "builtin.module(cse)",
            "builtin.module(func.func(canonicalize{max-iterations=3},cse),canonicalize)",
            "any(cse{label=\"a b\" top-down=true})",
        ] {
            assert_eq!(parse(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn blanks_defaults_and_bare_flags() {
        let text = " builtin.module ( canonicalize { max-iterations=10 top-down } , both )";
        assert_eq!(parse(text).as_deref(), Ok("builtin.module(canonicalize{top-down=true},canonicalize,cse)"));
    }

    #[test]
    fn neighbours_for_the_same_op_are_merged() {
        let text = "builtin.module(func.func(cse),func.func(canonicalize),cse,func.func(cse))";
        assert_eq!(parse(text).as_deref(), Ok("builtin.module(func.func(cse,canonicalize),cse,func.func(cse))"));
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        let cases = [
            ("cse", "1: expected pass pipeline to be wrapped", "write `builtin.module(cse)`"),
            ("builtin.module(func.func(canonicalise))", "26: 'canonicalise' does not", "did you mean `canonicalize`?"),
            ("builtin.module(cse", "15: missing ')'", ""),
            ("builtin.module(cse))", "20: expected the end", ""),
            ("builtin.module(cse{max-iteration=3})", "20: pass 'cse': no option", "did you mean `max-iterations`?"),
            ("builtin.module(cse{max-iterations=x})", "20: ", "a whole number from 1 to 100, not `x`"),
            ("builtin.module(cse{label=\"x})", "26: missing closing quote", ""),
            ("builtin.module(on-func)", "16: pass 'on-func' runs on 'func.func'", "write `func.func(on-func)`"),
            ("builtin.module(cse(cse))", "16: 'cse' is not the name of an operation", "in braces"),
            ("builtin.module(,)", "16: expected the name", ""),
        ];
        for (text, start, part) in cases {
            let error = parse(text).expect_err(text);
            assert!(error.starts_with(start) && error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn depth_is_limited() {
        let text = "any(".repeat(100_000);
        assert!(parse(&text).expect_err("too deep").contains("nested more than"));
    }
}
