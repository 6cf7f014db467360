//! The symbols of one function: those that the model names, and fresh ones for sizes about which nothing is known.

use indexmap::IndexMap;
use rustc_hash::FxHashSet;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::ops::is_symbol_name;
use sutura_dialects::r#dyn::{EqualOp, Facts, SymbolInfo, SymbolOp};
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, OpRef, Value};

/// Where a symbol comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// An argument's type, or an equality.
    Named,
    /// A size of an argument that has no name.
    Argument,
    /// A size inside the function that follows from nothing: no argument tells it, though a `dyn.symbol` op may name it.
    Inner,
    /// A size that an op decides by its data.
    Decided,
    /// It stands for a large size, which an equality states.
    Defined,
}

/// All symbols of a function.
#[derive(Default)]
pub(super) struct Symbols {
    origins: IndexMap<String, Origin>,
    /// Those that have a `dyn.symbol` op.
    pub(super) declared: FxHashSet<String>,
}

impl Symbols {
    /// The symbols that ops and argument types of the entry block name; defined in `facts` in that order, so that
    /// equalities are solved for the fresh ones.
    pub(super) fn collect(entry: BlockRef<'_>, facts: &mut Facts) -> Self {
        let mut symbols = Self::default();
        let at = |op| OpRef::new(entry.cx, entry.body, op);
        for symbol in entry.body.ops(entry.block).filter_map(|o| at(o).as_::<SymbolOp<'_>>()) {
            facts.define(symbol.name(), symbol.info());
            symbols.declared.insert(symbol.name().to_string());
            symbols.origins.insert(symbol.name().to_string(), Origin::Inner);
        }
        // What an equality names may follow from it.
        for equal in entry.body.ops(entry.block).filter_map(|o| at(o).as_::<EqualOp<'_>>()) {
            for name in equal.lhs().symbols().into_iter().chain(equal.rhs().symbols()) {
                symbols.named(&name, facts);
            }
        }
        for arg in entry.args() {
            let shape = symbolic_shape(entry.cx, entry.body.ty(*arg)).unwrap_or_default();
            for name in shape.iter().flatten().flat_map(|size| size.symbols()) {
                symbols.named(&name, facts);
            }
        }
        symbols
    }

    /// Ops that decide sizes tell these of the symbols that no argument tells.
    pub(super) fn decided(&mut self, told: impl IntoIterator<Item = impl AsRef<str>>) {
        for name in told {
            if let Some(origin @ Origin::Inner) = self.origins.get_mut(name.as_ref()) {
                *origin = Origin::Decided;
            }
        }
    }

    /// Arguments tell the symbol.
    fn named(&mut self, name: &str, facts: &mut Facts) {
        self.define(name, Origin::Named, facts);
        self.origins.insert(name.to_string(), Origin::Named);
    }

    fn define(&mut self, name: &str, origin: Origin, facts: &mut Facts) {
        if !self.origins.contains_key(name) {
            self.origins.insert(name.to_string(), origin);
            facts.define(name, SymbolInfo::default());
        }
    }

    /// A symbol that does not exist yet, called like `hint`.
    pub(super) fn fresh(&mut self, hint: &str, origin: Origin, facts: &mut Facts) -> String {
        let clean: String = hint.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let base = if is_symbol_name(&clean) { clean } else { format!("d_{clean}") };
        let mut name = base.clone();
        let mut number = 1;
        while self.origins.contains_key(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.define(&name, origin, facts);
        name
    }

    /// A symbol that stands for a large size, of which `facts` know.
    pub(super) fn defined(&mut self, name: &str) {
        self.origins.insert(name.to_string(), Origin::Defined);
    }

    pub(super) fn origin(&self, name: &str) -> Option<Origin> {
        self.origins.get(name).copied()
    }

    /// Names in the order of definition.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, Origin)> {
        self.origins.iter().map(|(name, origin)| (name.as_str(), *origin))
    }
}

/// What an argument is called: by the model, by the text, or by its number.
pub(super) fn argument_name(entry: BlockRef<'_>, arg_attrs: Option<Attr>, index: usize, arg: Value) -> String {
    let cx = entry.cx;
    let dict = arg_attrs.and_then(|a| cx.array(a)).and_then(|list| list.get(index).copied());
    let name = dict.and_then(|d| cx.entry(d, cx.ident("graph.name"))).and_then(|a| cx.as_str(a));
    match (name, entry.body.value_name(arg)) {
        (Some(name), _) => name.to_string(),
        (None, Some(ident)) => cx.str(ident).to_string(),
        (None, None) => format!("arg{index}"),
    }
}
