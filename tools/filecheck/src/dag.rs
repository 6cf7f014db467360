//! What a group of `-DAG` checks has taken, and how far each of its patterns has come.
//!
//! A check of such a group goes from match to match until one overlaps nothing that others took. Where many checks look for the
//! same, each would go over the matches of all before it again; a [`Cursor`] lets it go on behind them instead, and takes it
//! exactly where it would come by itself.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::regex::Node;

/// What a pattern looks for, whatever it calls what it finds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Sought {
    Literal(Vec<u8>),
    Regex(Node),
}

/// The places that the checks of a group have matched.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Ranges do not overlap, so they are sorted by their ends too.
    ranges: BTreeSet<(usize, usize)>,
    /// In the order in which they were taken.
    log: Vec<Range<usize>>,
    cursors: HashMap<Sought, Cursor>,
}

/// How far the search for one thing has come.
#[derive(Debug, Clone, Default)]
struct Cursor {
    /// Where the next search begins.
    from: usize,
    /// Parts of matches before what they overlap, ascending: the way here would have been another if something had been taken
    /// there.
    gaps: Vec<Range<usize>>,
    /// What had been taken when the way was last found to be right.
    seen: usize,
}

/// A search that goes from match to match.
#[derive(Debug)]
pub(crate) struct Way {
    cursor: Cursor,
}

impl Way {
    pub(crate) fn from(&self) -> usize {
        self.cursor.from
    }

    /// Goes on behind `range`, which `found` overlaps.
    pub(crate) fn pass(&mut self, found: &Range<usize>, range: &Range<usize>) {
        if found.start < range.start {
            self.cursor.gaps.push(found.start..range.start);
        }
        self.cursor.from = range.end;
    }
}

impl Taken {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Where the first range starts.
    pub(crate) fn start(&self) -> Option<usize> {
        self.ranges.first().map(|range| range.0)
    }

    /// Where the last range ends.
    pub(crate) fn end(&self) -> Option<usize> {
        self.ranges.last().map(|range| range.1)
    }

    /// The way of a search from `start` on; further on where such a search came before.
    pub(crate) fn way(&mut self, sought: Option<&Sought>, start: usize) -> Way {
        let begin = || Cursor { from: start, gaps: Vec::new(), seen: self.log.len() };
        let Some(cursor) = sought.and_then(|sought| self.cursors.get(sought)) else { return Way { cursor: begin() } };
        let new = self.log[cursor.seen..].iter();
        let is_right = cursor.gaps.is_empty() || !new.clone().any(|range| touches(&cursor.gaps, range));
        let cursor = if is_right { Cursor { seen: self.log.len(), ..cursor.clone() } } else { begin() };
        Way { cursor }
    }

    /// The first range that `found` overlaps.
    pub(crate) fn overlapped(&self, found: &Range<usize>) -> Option<Range<usize>> {
        let before = self.ranges.range(..=(found.start, usize::MAX)).next_back().filter(|range| range.1 > found.start);
        let behind = || self.ranges.range((found.start + 1, 0)..).next();
        let first = before.or_else(behind).filter(|range| range.0 < found.end)?;
        Some(first.0..first.1)
    }

    /// Takes what a search found at the end of its way.
    pub(crate) fn take(&mut self, sought: Option<Sought>, way: Way, found: Range<usize>) {
        let mut cursor = way.cursor;
        // The next such search would find this, and pass it; an empty match is in nobody's way.
        if found.start < found.end {
            cursor.from = found.end;
        }
        if let Some(sought) = sought {
            self.cursors.insert(sought, cursor);
        }
        self.ranges.insert((found.start, found.end));
        self.log.push(found);
    }

    /// Makes one range of all and `found`: where matches may overlap, only their extent counts.
    pub(crate) fn cover(&mut self, found: &Range<usize>) {
        let start = self.start().map_or(found.start, |start| start.min(found.start));
        let end = self.end().map_or(found.end, |end| end.max(found.end));
        self.ranges = BTreeSet::from([(start, end)]);
    }
}

/// Whether `range` overlaps one of `gaps`, which ascend.
fn touches(gaps: &[Range<usize>], range: &Range<usize>) -> bool {
    let next = gaps.partition_point(|gap| gap.end <= range.start);
    gaps.get(next).is_some_and(|gap| range.end > gap.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checks, Config, Verbosity};

    fn literal(text: &str) -> Sought {
        Sought::Literal(text.into())
    }

    /// Takes `found` after `passed` (a match and what it overlaps).
    fn search(taken: &mut Taken, what: &str, passed: &[(Range<usize>, Range<usize>)], found: Range<usize>) {
        let mut way = taken.way(Some(&literal(what)), 0);
        passed.iter().for_each(|(found, range)| way.pass(found, range));
        taken.take(Some(literal(what)), way, found);
    }

    #[test]
    fn a_search_goes_on_behind_the_last_such_match() {
        let mut taken = Taken::default();
        search(&mut taken, "a", &[], 10..11);
        search(&mut taken, "b", &[], 2..3);
        assert_eq!(taken.way(Some(&literal("a")), 0).from(), 11);
        assert_eq!(taken.way(Some(&literal("c")), 0).from(), 0);
        assert_eq!(taken.way(None, 0).from(), 0);
        assert_eq!((taken.start(), taken.end()), (Some(2), Some(11)));
        assert_eq!(taken.overlapped(&(5..11)), Some(10..11));
        assert_eq!(taken.overlapped(&(3..10)), None);
        assert_eq!(taken.overlapped(&(0..20)), Some(2..3));
    }

    #[test]
    fn what_is_taken_within_a_match_on_the_way_starts_it_anew() {
        let mut taken = Taken::default();
        search(&mut taken, "b", &[], 20..21);
        // A match from 10 on overlapped what is at 20.
        search(&mut taken, "a", &[(10..25, 20..21)], 30..31);
        assert_eq!(taken.way(Some(&literal("a")), 0).from(), 31);
        search(&mut taken, "c", &[], 21..22);
        search(&mut taken, "c", &[], 9..10);
        assert_eq!(taken.way(Some(&literal("a")), 0).from(), 31);
        search(&mut taken, "c", &[], 12..13);
        assert_eq!(taken.way(Some(&literal("a")), 0).from(), 0);
    }

    /// How often checks looked for a match, and whether they found all.
    fn searches(checks: &str, input: &str, config: &Config) -> (u64, bool) {
        let checks = Checks::parse(checks, "checks", config).expect("checks");
        let report = checks.report(input, "input");
        (report.searches, report.passed())
    }

    #[test]
    fn many_checks_for_the_same_cost_a_search_each_and_one_to_pass_the_last() {
        for check in ["add", "%[[V:.*]] = add", "%{{[0-9]+}} = add"] {
            let cost = |n: usize| {
                let lines: String = (0..n).map(|i| format!("%{i} = add\n")).collect();
                searches(&format!("CHECK-DAG: {check}\n").repeat(n), &lines, &Config::default())
            };
            let (small, large) = (cost(200), cost(400));
            assert!(small.1 && large.1, "{check}");
            assert!(large.0 <= 800 && small.0 * 2 <= large.0 + 2, "{check}: {small:?} {large:?}");
        }
    }

    proptest::proptest! {
        /// What is discarded is looked at one by one where it is shown: the matches are the same.
        #[test]
        fn cursors_find_what_plain_searches_find(
            words in proptest::collection::vec(
                "[ab]{1,3}|\\{\\{a\\+\\}\\}|\\{\\{b\\?a\\*\\}\\}b|\\{\\{a\\.\\*b\\|ab\\}\\}", 1..9),
            input in "[ab\n]{1,40}",
        ) {
            let text: String = words.iter().map(|word| format!("CHECK-DAG: {word}\n")).collect();
            let places = |verbosity| {
                let config = Config { verbosity, ..Config::default() };
                let checks = Checks::parse(&text, "checks", &config).expect("checks");
                let report = checks.report(&input, "input");
                let failed = !report.passed();
                (failed, report.into_result().map(|m| format!("{m:?}")).ok())
            };
            proptest::prop_assert_eq!(places(Verbosity::Quiet), places(Verbosity::Everything));
        }
    }

    #[test]
    fn empty_matches_are_in_nobodys_way() {
        let mut taken = Taken::default();
        search(&mut taken, "", &[], 4..4);
        assert_eq!(taken.way(Some(&literal("")), 0).from(), 0);
        assert_eq!(taken.overlapped(&(4..4)), None);
        assert_eq!(taken.overlapped(&(4..6)), None);
        assert_eq!(taken.overlapped(&(3..6)), Some(4..4));
    }
}
