//! Symbols as a pass on a nested op may see them: copies made before siblings start to change in parallel.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::body::{Body, OpHeader};
use crate::context::{Context, Ident};
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::registry::OpName;
use crate::symbols::symbol_ident;

/// What is known of a symbol: the header of the op that defines it, with its attributes.
#[derive(Clone, Copy, Debug)]
pub struct SymbolEntry {
    /// Name, location and attributes.
    pub header: OpHeader,
    /// True when the op has a region that is not empty: a definition, not a declaration.
    pub has_body: bool,
}

/// The symbols of the nearest symbol table around an op.
#[derive(Clone, Debug, Default)]
pub struct SymbolSnapshot {
    symbols: Arc<FxHashMap<Ident, SymbolEntry>>,
}

impl SymbolSnapshot {
    /// The symbol called `name`.
    pub fn get(&self, name: Ident) -> Option<&SymbolEntry> {
        self.symbols.get(&name)
    }

    /// The symbols that ops see which lie directly in an op called `owner`: its own if it is a symbol table, else
    /// those that it sees itself.
    pub(super) fn inside(&self, cx: &Context, owner: OpName, body: &Body) -> Self {
        if !owner.traits(cx).has(Traits::SymbolTable) {
            return self.clone();
        }
        let ops = body.owner_regions().flat_map(|r| body.blocks(r)).flat_map(|b| body.ops(b));
        let entries = ops.filter_map(|op| {
            let op = OpRef::new(cx, body, op);
            let name = symbol_ident(op)?;
            let header =
                OpHeader { name: op.name(), loc: op.loc(), props: body.props(op.op), attrs: body.attrs(op.op) };
            Some((name, SymbolEntry { header, has_body: op.regions().any(|r| !r.is_empty()) }))
        });
        Self { symbols: Arc::new(entries.collect()) }
    }
}
