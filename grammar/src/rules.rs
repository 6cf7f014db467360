//! The rules of `ir.pest`, and their results with positions in the whole text.

// The derive makes an enum with a variant for every rule; the rules are documented in the grammar.
#![allow(missing_docs, unreachable_pub)]

use pest::iterators::{Pair, Pairs};

#[derive(pest_derive::Parser)]
#[grammar = "../ir.pest"]
pub struct Grammar;

/// Bytes `start..end` of the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    pub fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }
}

/// What a rule matched. The rule ran on a part of the text that begins at `at`.
#[derive(Clone)]
pub struct Node<'t> {
    pair: Pair<'t, Rule>,
    at: usize,
}

impl<'t> Node<'t> {
    pub fn new(pair: Pair<'t, Rule>, at: usize) -> Self {
        Self { pair, at }
    }

    pub fn rule(&self) -> Rule {
        self.pair.as_rule()
    }

    pub fn text(&self) -> &'t str {
        self.pair.as_str()
    }

    pub fn span(&self) -> Span {
        let span = self.pair.as_span();
        Span::new(self.at + span.start(), self.at + span.end())
    }

    pub fn start(&self) -> usize {
        self.span().start
    }

    pub fn children(self) -> Nodes<'t> {
        Nodes { pairs: self.pair.into_inner(), at: self.at }
    }

    /// The only child.
    pub fn child(self) -> Option<Node<'t>> {
        self.children().next()
    }
}

/// Children of a node.
#[derive(Clone)]
pub struct Nodes<'t> {
    pairs: Pairs<'t, Rule>,
    at: usize,
}

impl<'t> Nodes<'t> {
    pub fn peek_rule(&self) -> Option<Rule> {
        self.pairs.peek().map(|p| p.as_rule())
    }

    /// The next child if it was matched by `rule`.
    pub fn take_rule(&mut self, rule: Rule) -> Option<Node<'t>> {
        if self.peek_rule() == Some(rule) { self.next() } else { None }
    }
}

impl<'t> Iterator for Nodes<'t> {
    type Item = Node<'t>;

    fn next(&mut self) -> Option<Node<'t>> {
        self.pairs.next().map(|pair| Node { pair, at: self.at })
    }
}
