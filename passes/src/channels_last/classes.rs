//! Tensors that lie alike: those of one kernel, and what windows read and make.

use std::collections::HashMap;

use indexmap::IndexMap;
use sutura_ir::Value;

use super::links::Links;

/// What becomes of tensors that have channels, in order.
pub(super) struct Layouts {
    /// Those that change, each with the dimension that becomes the last.
    pub(super) turned: Vec<(Value, usize)>,
    /// Those that would have to, and stay, with the reason.
    pub(super) kept: Vec<(Value, String)>,
    /// Those of the first that are turned back for who needs them as they were.
    pub(super) leaving: Vec<Value>,
}

/// Tensors by what lies alike.
pub(super) struct Classes {
    /// The class of each tensor that may change.
    of: IndexMap<Value, usize>,
    /// A class that is one with another.
    parent: Vec<usize>,
    /// Tensors that a window reads and makes.
    windows: Vec<(Value, Value)>,
    /// Tensors that stay since they are one kernel with a tensor that has no channels, or whose channels do not move.
    fixed: Vec<Value>,
}

impl Classes {
    pub(super) fn of(links: &Links<'_>, moves: &[(Value, usize)]) -> Self {
        let of: IndexMap<Value, usize> =
            moves.iter().enumerate().map(|(number, (value, _))| (*value, number)).collect();
        let windows = links.windows().filter(|(_, made)| of.contains_key(made)).collect();
        let mut classes = Self { of, parent: (0..moves.len()).collect(), windows, fixed: Vec::new() };
        for (a, b, reshaped) in links.together() {
            match (classes.of.get(&a).copied(), classes.of.get(&b).copied()) {
                (Some(a), Some(b)) => {
                    let (a, b) = (classes.root(a), classes.root(b));
                    classes.parent[a.max(b)] = a.min(b);
                }
                (Some(_), None) if reshaped => classes.fixed.push(a),
                (None, Some(_)) if reshaped => classes.fixed.push(b),
                _ => {}
            }
        }
        classes
    }

    fn root(&self, mut class: usize) -> usize {
        while self.parent[class] != class {
            class = self.parent[class];
        }
        class
    }

    fn class(&self, value: Value) -> Option<usize> {
        self.of.get(&value).map(|class| self.root(*class))
    }

    /// Whether a window makes a tensor that lies as this one does.
    pub(super) fn has_window(&self, value: Value) -> bool {
        let class = self.class(value);
        class.is_some() && self.windows.iter().any(|(_, made)| self.class(*made) == class)
    }

    /// Spreads what stays: to all tensors of a class, and from what a window reads to what it makes.
    pub(super) fn settle(&self, held: &mut HashMap<Value, String>) {
        let reshaped = "a reshape is between it and a tensor that stays";
        for value in &self.fixed {
            held.entry(*value).or_insert_with(|| reshaped.to_owned());
        }
        loop {
            let mut spread: Vec<(Value, String)> = Vec::new();
            let mut stays: HashMap<usize, &String> = HashMap::new();
            for (value, class) in &self.of {
                if let Some(why) = held.get(value) {
                    stays.entry(self.root(*class)).or_insert(why);
                }
            }
            for (value, class) in self.of.iter().filter(|(value, _)| !held.contains_key(*value)) {
                spread.extend(stays.get(&self.root(*class)).map(|why| (*value, (*why).clone())));
            }
            for (read, made) in &self.windows {
                let turns = self.of.contains_key(read) && !held.contains_key(read);
                if !turns && !held.contains_key(made) {
                    spread.push((*made, "a window reads a tensor that stays, and makes it".to_owned()));
                }
            }
            if spread.is_empty() {
                return;
            }
            held.extend(spread);
        }
    }
}
