//! Names of dims as symbols, and of values as SSA names.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use sutura_dialects::r#dyn::ops::is_symbol_name;
use sutura_ir::{Context, Ident};

/// The symbols of a model's dims.
#[derive(Default)]
pub(super) struct Symbols {
    /// Symbol of each of the model's names.
    by_name: IndexMap<String, String>,
    taken: FxHashSet<String>,
    /// Symbols that inputs use, in order.
    used: Vec<String>,
}

impl Symbols {
    /// Gives a name of the model its symbol.
    pub(super) fn reserve(&mut self, name: &str) {
        if !self.by_name.contains_key(name) {
            let symbol = self.unique(name);
            self.by_name.insert(name.to_string(), symbol);
        }
    }

    /// The symbol of one of the model's names, used by an input.
    pub(super) fn named(&mut self, name: &str) -> &str {
        self.reserve(name);
        let symbol = &self.by_name[name];
        if !self.used.contains(symbol) {
            self.used.push(symbol.clone());
        }
        symbol
    }

    /// A symbol for a dim without a name.
    pub(super) fn fresh(&mut self, hint: &str) -> String {
        let symbol = self.unique(hint);
        self.used.push(symbol.clone());
        symbol
    }

    /// The symbol of one of the model's names, if an input uses it.
    pub(super) fn of_input(&self, name: &str) -> Option<&str> {
        let symbol = self.by_name.get(name)?;
        self.used.contains(symbol).then_some(symbol)
    }

    /// Symbols that inputs use, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.used.iter().map(String::as_str)
    }

    /// A symbol like `name` that is not taken.
    fn unique(&mut self, name: &str) -> String {
        let clean = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = if is_symbol_name(name) { name.to_string() } else { name.chars().map(clean).collect() };
        if !is_symbol_name(&base) {
            base = format!("d_{base}");
        }
        let mut symbol = base.clone();
        let mut number = 1;
        while !self.taken.insert(symbol.clone()) {
            number += 1;
            symbol = format!("{base}_{number}");
        }
        symbol
    }
}

/// The names, where one that was there before gets a number behind it.
pub(super) fn distinct<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let given: FxHashSet<&str> = names.clone().collect();
    let mut result = Vec::new();
    for name in names {
        let (mut own, mut number) = (name.to_owned(), 1);
        while taken.contains(&own) || number > 1 && given.contains(own.as_str()) {
            number += 1;
            own = format!("{name}_{number}");
        }
        taken.insert(own.clone());
        result.push(own);
    }
    result
}

/// A value's name with what the text does not allow replaced; `None` where nothing is left.
pub(super) fn value_name(cx: &Context, name: &str) -> Option<Ident> {
    let clean = |c: char| if c.is_ascii_alphanumeric() || "_.$-".contains(c) { c } else { '_' };
    let mut text: String = name.chars().map(clean).collect();
    // A name that begins with a digit would have to be a number.
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    (!text.is_empty()).then(|| cx.ident(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_there_twice_get_a_number() {
        let names = ["y", "y", "z", "y_2", "y"];
        assert_eq!(distinct(names.into_iter()), ["y", "y_3", "z", "y_2", "y_4"]);
        assert_eq!(distinct(["y", "z"].into_iter()), ["y", "z"]);
    }

    #[test]
    fn symbols_are_valid_and_distinct() {
        let mut symbols = Symbols::default();
        assert_eq!(symbols.named("batch"), "batch");
        assert_eq!(symbols.named("past + 1"), "past___1");
        assert_eq!(symbols.named("past * 1"), "past___1_2");
        assert_eq!(symbols.named("mod"), "d_mod");
        assert_eq!(symbols.named("1x"), "d_1x");
        assert_eq!(symbols.fresh("batch"), "batch_2");
        assert_eq!(symbols.named("batch"), "batch");
        symbols.reserve("out");
        assert_eq!((symbols.of_input("out"), symbols.of_input("batch")), (None, Some("batch")));
        assert_eq!(symbols.names().count(), 6);
    }
}
