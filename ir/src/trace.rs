//! What drivers and passes write down while they work, for those who ask to see it: which pattern was tried on which op,
//! why it did not apply, what one that did changed.
//!
//! Off, a trace costs a look at an empty list per driver. On, it is text that belongs to one pass on one op, and is shown
//! when the pass is done, or has panicked: so the output is the same at any number of threads.

use std::fmt::{Display, Write};

/// A part of the program that can write down what it does.
#[derive(Debug)]
pub struct Component {
    /// Name on the command line, kebab-case.
    pub name: &'static str,
    /// What it writes down, on one line.
    pub summary: &'static str,
}

/// The greedy pattern driver.
pub static GREEDY_REWRITER: Component = Component {
    name: "greedy-rewriter",
    summary: "patterns tried on each operation and why they do not apply; what is folded, rewritten and erased",
};

/// Dialect conversion.
pub static DIALECT_CONVERSION: Component = Component {
    name: "dialect-conversion",
    summary: "which operations are legal, patterns tried on the others and why they do not apply, casts materialized",
};

/// The components of this crate.
pub static COMPONENTS: [&Component; 2] = [&DIALECT_CONVERSION, &GREEDY_REWRITER];

/// What the components that are asked for write down.
#[derive(Clone, Default, Debug)]
pub struct Trace {
    wanted: Vec<&'static Component>,
    lines: Lines,
    /// Names of the components that wrote something down.
    written: Vec<&'static str>,
}

impl Trace {
    /// Nothing is asked for.
    pub fn off() -> Self {
        Self::default()
    }

    /// A trace of these components.
    pub fn of(wanted: &[&'static Component]) -> Self {
        Self { wanted: wanted.to_vec(), ..Self::default() }
    }

    /// An empty trace of the same components: for work beside this one's, to be given back by [`Trace::append`].
    #[must_use]
    pub fn another(&self) -> Self {
        Self::of(&self.wanted)
    }

    /// Where `component` writes, if it is asked for.
    pub fn lines(&mut self, component: &'static Component) -> Option<&mut Lines> {
        if !self.wanted.iter().any(|wanted| wanted.name == component.name) {
            return None;
        }
        self.wrote(component.name);
        Some(&mut self.lines)
    }

    /// Adds what `other` holds.
    pub fn append(&mut self, other: Self) {
        self.lines.text.push_str(&other.lines.text);
        other.written.into_iter().for_each(|name| self.wrote(name));
    }

    /// Adds what `other` holds as a group, unless that is nothing.
    pub(crate) fn append_group<H: Display>(&mut self, heading: impl FnOnce() -> H, other: Self) {
        if !other.lines.text.is_empty() {
            let group = self.lines.open(format_args!("in {}", heading()));
            self.lines.line(&other.lines.text);
            self.lines.close_unless_empty(group);
        }
        other.written.into_iter().for_each(|name| self.wrote(name));
    }

    fn wrote(&mut self, name: &'static str) {
        if !self.written.contains(&name) {
            self.written.push(name);
        }
    }

    /// The components that are asked for.
    pub fn components(&self) -> &[&'static Component] {
        &self.wanted
    }

    /// Says that these components wrote something down in a trace of its own.
    pub(crate) fn written_elsewhere(&mut self, names: &[&'static str]) {
        names.iter().for_each(|name| self.wrote(name));
    }

    /// The lines so far.
    pub fn text(&self) -> &str {
        &self.lines.text
    }

    /// Names of the components that wrote something down.
    pub fn written(&self) -> &[&'static str] {
        &self.written
    }
}

/// Lines, in groups that are indented.
#[derive(Clone, Default, Debug)]
pub struct Lines {
    text: String,
    depth: usize,
}

/// A group that is open.
#[derive(Debug)]
#[must_use = "a group has to be closed"]
pub struct Group {
    /// Where its heading begins and ends.
    start: usize,
    end: usize,
}

impl Lines {
    /// Adds a line; text of several lines is indented as a whole.
    pub fn line(&mut self, text: impl Display) {
        for line in text.to_string().lines() {
            let _ = writeln!(self.text, "{:indent$}{line}", "", indent = 2 * self.depth);
        }
    }

    /// Begins a group: `heading {`. The heading is there even if the group is never closed because the program panics.
    pub fn open(&mut self, heading: impl Display) -> Group {
        let start = self.text.len();
        self.line(format_args!("{heading} {{"));
        self.depth += 1;
        Group { start, end: self.text.len() }
    }

    /// Ends a group: `} -> verdict`, or `heading -> verdict` if nothing is in it.
    pub fn close(&mut self, group: Group, verdict: impl Display) {
        self.depth -= 1;
        if self.is_empty(&group) {
            self.text.truncate(group.end - " {\n".len());
            let _ = writeln!(self.text, " -> {verdict}");
        } else {
            self.line(format_args!("}} -> {verdict}"));
        }
    }

    /// Ends a group that says nothing if nothing is in it.
    pub fn close_unless_empty(&mut self, group: Group) {
        self.depth -= 1;
        if self.is_empty(&group) {
            self.text.truncate(group.start);
        } else {
            self.line("}");
        }
    }

    fn is_empty(&self, group: &Group) -> bool {
        self.text.len() == group.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static MINE: Component = Component { name: "mine", summary: "what I do" };

    #[test]
    fn a_component_writes_only_if_it_is_asked_for() {
        let mut trace = Trace::of(&[&MINE]);
        assert!(trace.lines(&GREEDY_REWRITER).is_none() && Trace::off().lines(&MINE).is_none());
        assert!(trace.written().is_empty());
        let mut other = trace.another();
        trace.lines(&MINE).expect("asked for").line("one");
        other.lines(&MINE).expect("asked for").line("two");
        trace.append(other);
        assert_eq!(trace.text(), "one\ntwo\n");
        assert_eq!(trace.written(), ["mine"]);
    }

    #[test]
    fn groups_are_indented_and_empty_ones_are_one_line() {
        let mut lines = Lines::default();
        let outer = lines.open("outer");
        let inner = lines.open("inner");
        lines.close(inner, "nothing");
        let silent = lines.open("silent");
        lines.close_unless_empty(silent);
        let inner = lines.open("inner");
        lines.line("a\nb");
        lines.close(inner, "done");
        let _open = lines.open("never closed");
        assert_eq!(lines.text, "outer {\n  inner -> nothing\n  inner {\n    a\n    b\n  } -> done\n  never closed {\n");
        lines.depth -= 1;
        lines.close_unless_empty(outer);
        assert!(lines.text.ends_with("\n}\n"));
    }
}
