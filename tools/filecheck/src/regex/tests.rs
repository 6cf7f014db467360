//! The engine against a matcher that tries everything.

use proptest::prelude::*;

use super::RegexError;
use super::ast::Node;
use super::parse::{Options, Strictness, parse};
use super::search::{Haystack, Match, Regex, Scratch};

const OPTIONS: Options = Options { strictness: Strictness::Strict, ignore_case: false };

fn tree(pattern: &str) -> Node {
    parse(pattern.as_bytes(), 1, OPTIONS).expect(pattern).node
}

fn find(pattern: &str, text: &str, groups: &[u32]) -> Option<Match> {
    let regex = Regex::new(&tree(pattern), false).expect(pattern);
    regex.find(Haystack::exact(text.as_bytes()), groups, &mut Scratch::default()).expect(pattern)
}

/// All places where a match of `node` that starts at `at` can end.
fn ends(node: &Node, text: &[u8], at: usize) -> Vec<usize> {
    let mut ends = match node {
        Node::Empty => vec![at],
        Node::Bytes(bytes) if text[at..].starts_with(bytes) => vec![at + bytes.len()],
        Node::Set(set) if at < text.len() && set.contains(text[at]) => vec![at + 1],
        Node::Assert(assertion) if assertion.holds(text, at) => vec![at],
        Node::Bytes(_) | Node::Set(_) | Node::Assert(_) => Vec::new(),
        Node::Concat(nodes) => {
            nodes.iter().fold(vec![at], |from, node| from.iter().flat_map(|&at| ends(node, text, at)).collect())
        }
        Node::Alt(nodes) => nodes.iter().flat_map(|n| ends(n, text, at)).collect(),
        Node::Group(_, node) => ends(node, text, at),
        Node::Repeat { node, min, max } => {
            let mut now = vec![at];
            let mut all = if *min == 0 { vec![at] } else { Vec::new() };
            for count in 1..=max.unwrap_or(text.len() as u32 + min + 1) {
                now = now.iter().flat_map(|&at| ends(node, text, at)).collect();
                now.sort_unstable();
                now.dedup();
                if count >= *min {
                    all.extend(&now);
                }
            }
            all
        }
        Node::Backref(_) | Node::Hole(_) => unreachable!("not generated"),
    };
    ends.sort_unstable();
    ends.dedup();
    ends
}

fn leftmost_longest(node: &Node, text: &[u8]) -> Option<(usize, usize)> {
    (0..=text.len()).find_map(|at| Some((at, *ends(node, text, at).last()?)))
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["a", "b", "c", "ab", ".", "[ab]", "[^a]", "()", "[[:space:]]"])
        .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let suffix = prop::sample::select(vec!["*", "+", "?", "{2}", "{1,2}", "{2,}"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join("|"))),
            (inner.clone(), suffix).prop_map(|(part, suffix)| format!("({part}){suffix}")),
            inner.clone().prop_map(|part| format!("^{part}")),
            inner.prop_map(|part| format!("{part}$")),
        ]
    })
}

proptest! {
    #[test]
    fn finds_the_leftmost_longest_match(pattern in pattern(), text in "[abc\n]{0,10}") {
        let found = find(&pattern, &text, &[]).map(|m| (m.start, m.end));
        prop_assert_eq!(found, leftmost_longest(&tree(&pattern), text.as_bytes()));
    }

    /// Each group in turn is as long as a match of the whole allows.
    #[test]
    fn captures_are_longest_from_the_left(
        first in pattern(),
        second in pattern(),
        text in "[abc]{0,8}",
    ) {
        let first_groups = parse(first.as_bytes(), 1, OPTIONS).expect("it parses").groups;
        let whole = format!("({first})({second})");
        let groups = [1, first_groups + 2];
        if let Some(found) = find(&whole, &text, &groups) {
            let bytes = text.as_bytes();
            let (node, rest) = (tree(&first), tree(&second));
            let split = ends(&node, bytes, found.start)
                .into_iter()
                .filter(|&at| ends(&rest, bytes, at).contains(&found.end))
                .max()
                .expect("a way to split the match");
            prop_assert_eq!(found.groups, vec![(found.start, split), (split, found.end)]);
        }
    }

    /// Both engines agree where there is nothing to refer back to.
    #[test]
    fn backtracking_finds_the_same(pattern in pattern(), text in "[ab]{0,8}") {
        // The group that is referred to is empty, so it changes nothing.
        let groups = parse(pattern.as_bytes(), 1, OPTIONS).expect("it parses").groups;
        prop_assume!(groups < 8);
        let whole = format!("({pattern})()\\{}", groups + 2);
        let found = find(&whole, &text, &[1]);
        let plain = find(&format!("({pattern})"), &text, &[1]);
        prop_assert_eq!(found, plain);
    }

    #[test]
    fn no_text_panics_the_parser(text in prop::collection::vec(any::<u8>(), 0..40)) {
        let _ = parse(&text, 1, OPTIONS);
    }

    #[test]
    fn no_syntax_panics(text in "[ab(){}|*+?.^$0-9,\\\\\\[\\]:-]{0,20}", input in "[ab{}]{0,10}") {
        if let Ok(parsed) = parse(text.as_bytes(), 1, OPTIONS)
            && let Ok(regex) = Regex::new(&parsed.node, true)
        {
            let folded = input.to_ascii_lowercase();
            let hay = Haystack { text: input.as_bytes(), folded: folded.as_bytes() };
            let _ = regex.find(hay, &[], &mut Scratch::default());
        }
    }
}

#[test]
fn back_references() {
    let place = |pattern, text| find(pattern, text, &[]).map(|m| (m.start, m.end));
    assert_eq!(place("(a*)b\\1", "aabaaa"), Some((0, 5)));
    assert_eq!(place("(a|ab)(c|bcd)\\1", "abcda"), Some((0, 5)));
    assert_eq!(place("(..)-\\1", "ab-cd cd-cd"), Some((6, 11)));
    assert_eq!(place("((a)|b)*\\2c", "abac"), Some((0, 4)));
    assert_eq!(place("(a*)*\\1", "aaa"), Some((0, 3)));
}

#[test]
fn a_group_must_be_complete_where_it_is_referred_to() {
    let inside = Node::Group(1, Box::new(Node::Concat(vec![Node::Bytes(b"a".into()), Node::Backref(1)])));
    let error = Regex::new(&inside, false).err();
    assert_eq!(error, Some(RegexError::BadBackreference(1)));
}

#[test]
fn a_required_literal_is_looked_for_on_its_line_only() {
    let text = "ab\nxx needle\nayy needle\n";
    let found = find("a[^ ]* needle", text, &[]).map(|m| (m.start, m.end));
    assert_eq!(found, Some((13, 23)));
}

#[test]
fn errors_say_where() {
    let error = |pattern: &str| {
        let error = parse(pattern.as_bytes(), 1, OPTIONS).expect_err(pattern);
        (error.at, error.message)
    };
    assert_eq!(error("ab(c").0, 2);
    assert_eq!(error("ab[c").0, 2);
    assert_eq!(error("ab)c").0, 2);
    assert_eq!(error("a|").0, 2);
    assert_eq!(error("ab\\d").0, 2);
    assert_eq!(error("a{3,2}").0, 2);
    assert!(error("a{256}").1.contains("at most 255"));
}
