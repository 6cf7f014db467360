//! The pass manager tree: passes on one op, and managers for the ops nested in it.

use std::fmt;

use super::{Anchor, PassInstance};

/// One step of a pass manager.
pub enum Item {
    /// A pass on the manager's op.
    Pass(PassInstance),
    /// Passes on the ops directly in it.
    Nested(OpPassManager),
}

/// Passes to be run, in order, on ops of one name.
pub struct OpPassManager {
    anchor: String,
    items: Vec<Item>,
}

/// Name of the anchor that stands for every op that owns a body.
pub(super) const ANY: &str = "any";

impl OpPassManager {
    /// No passes yet, on ops called `anchor`, or on `any`.
    pub fn new(anchor: impl Into<String>) -> Self {
        Self { anchor: anchor.into(), items: Vec::new() }
    }

    /// Name of the ops that it works on, or `any`.
    pub fn anchor(&self) -> &str {
        &self.anchor
    }

    /// The steps, in order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// True without steps.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// True when ops called `name` are worked on.
    pub fn matches(&self, name: &str) -> bool {
        self.anchor == ANY || self.anchor == name
    }

    /// Appends a pass.
    ///
    /// # Errors
    /// When the pass does not run on the manager's ops; says where it does.
    pub fn add(&mut self, pass: PassInstance) -> Result<(), String> {
        if let Anchor::Op(op) = pass.info().anchor
            && op != self.anchor
        {
            let argument = pass.info().argument;
            return Err(format!(
                "pass '{argument}' runs on '{op}', not on '{}'; write `{op}({argument})`",
                self.anchor
            ));
        }
        self.items.push(Item::Pass(pass));
        Ok(())
    }

    /// Appends passes on nested ops; they join those of a manager for the same ops that stands last.
    pub fn add_nested(&mut self, nested: Self) {
        match self.items.last_mut() {
            Some(Item::Nested(last)) if last.anchor == nested.anchor => {
                for item in nested.items {
                    match item {
                        Item::Nested(inner) => last.add_nested(inner),
                        pass @ Item::Pass(_) => last.items.push(pass),
                    }
                }
            }
            _ => self.items.push(Item::Nested(nested)),
        }
    }

    /// All passes of the tree in the order in which they are written, each with the anchors around it.
    pub fn passes(&self) -> Vec<(Vec<&str>, &PassInstance)> {
        let mut found = Vec::new();
        self.collect(&mut Vec::new(), &mut found);
        found
    }

    fn collect<'s>(&'s self, path: &mut Vec<&'s str>, found: &mut Vec<(Vec<&'s str>, &'s PassInstance)>) {
        path.push(&self.anchor);
        for item in &self.items {
            match item {
                Item::Pass(pass) => found.push((path.clone(), pass)),
                Item::Nested(nested) => nested.collect(path, found),
            }
        }
        path.pop();
    }

    /// Numbers the passes of the tree, and returns how many there are.
    pub(super) fn number(&mut self) -> usize {
        let mut next = 0;
        self.number_from(&mut next);
        next
    }

    fn number_from(&mut self, next: &mut usize) {
        for item in &mut self.items {
            match item {
                Item::Pass(pass) => {
                    pass.id = *next;
                    *next += 1;
                }
                Item::Nested(nested) => nested.number_from(next),
            }
        }
    }
}

impl fmt::Display for OpPassManager {
    /// The pipeline as text that parses back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.anchor)?;
        for (i, item) in self.items.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match item {
                Item::Pass(pass) => write!(f, "{comma}{pass}")?,
                Item::Nested(nested) => write!(f, "{comma}{nested}")?,
            }
        }
        f.write_str(")")
    }
}
