//! Runs that were captured, for the next one that launches the same.

use crate::device::Graph;

/// What the launches of a run depend on. Constants and kernels are the model's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Which model it is, of all that this process has loaded.
    pub(super) model: u64,
    pub(super) symbols: Vec<i64>,
    /// Of the inputs, the outputs and the workspace.
    pub(super) addresses: Vec<u64>,
}

/// What is known of runs with a key.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// It ran, and would be captured if it came again.
    Seen,
    /// Capturing gains nothing, or failed.
    Plain,
    /// A graph of so many launches.
    Captured { graph: Graph, launches: usize },
}

/// The runs that came last. Few, because a graph keeps memory of the driver, and a search goes through all.
#[derive(Default)]
pub(super) struct Graphs {
    /// The one that came last at the end.
    entries: Vec<(Key, Entry)>,
}

/// Runs that are known.
pub(super) const KNOWN: usize = 32;

impl Graphs {
    /// What is known of a key, which counts as the one that came last.
    pub(super) fn find(&mut self, key: &Key) -> Option<&mut Entry> {
        let at = self.entries.iter().rposition(|(own, _)| own == key)?;
        self.entries[at..].rotate_left(1);
        self.entries.last_mut().map(|(_, entry)| entry)
    }

    /// Adds a key that is not known. Where there are too many, the one that did not come for longest is forgotten.
    pub(super) fn add(&mut self, key: Key, entry: Entry) {
        if self.entries.len() == KNOWN {
            self.entries.remove(0);
        }
        self.entries.push((key, entry));
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(model: u64, symbol: i64, address: u64) -> Key {
        Key { model, symbols: vec![symbol], addresses: vec![address] }
    }

    #[test]
    fn every_part_of_a_key_counts() {
        let mut graphs = Graphs::default();
        graphs.add(key(1, 2, 3), Entry::Plain);
        assert!(matches!(graphs.find(&key(1, 2, 3)), Some(Entry::Plain)));
        for other in [key(0, 2, 3), key(1, 0, 3), key(1, 2, 0)] {
            assert!(graphs.find(&other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn what_came_last_is_kept() {
        let mut graphs = Graphs::default();
        for address in 0..KNOWN as u64 {
            graphs.add(key(0, 0, address), Entry::Seen);
        }
        assert!(graphs.find(&key(0, 0, 0)).is_some());
        graphs.add(key(1, 0, 0), Entry::Seen);
        assert!(graphs.find(&key(0, 0, 0)).is_some(), "it came again");
        assert!(graphs.find(&key(0, 0, 1)).is_none(), "it did not");
        assert_eq!(graphs.entries.len(), KNOWN);
        graphs.clear();
        assert!(graphs.find(&key(1, 0, 0)).is_none());
    }
}
