//! Symbols: names that ops define in the symbol table around them, looked up across bodies by name.
//!
//! [`SymbolTables`] is a read-only snapshot of a program: made once, then shared by everything that resolves names.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::attrs::{Attr, AttrData};
use crate::body::{Body, Op};
use crate::context::{Context, Ident};
use crate::diagnostics::did_you_mean;
use crate::op_def::Traits;
use crate::op_ref::OpRef;

/// Name of the attribute that defines a symbol.
pub const SYMBOL_NAME: &str = "sym_name";
/// Name of the attribute that says who may see a symbol.
pub const SYMBOL_VISIBILITY: &str = "sym_visibility";

/// Who may refer to a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Visibility {
    /// Anyone, also outside the program.
    Public,
    /// Ops of the same symbol table.
    Private,
    /// Ops of the same symbol table and those nested in it.
    Nested,
}

impl Visibility {
    /// What `sym_visibility` of an op says; public where it says nothing.
    pub fn of(op: OpRef<'_>) -> Self {
        match op.attr(SYMBOL_VISIBILITY).and_then(|a| op.cx.as_str(a)) {
            Some("private") => Self::Private,
            Some("nested") => Self::Nested,
            _ => Self::Public,
        }
    }
}

/// A body of the program, with the op that owns it.
#[derive(Clone, Copy)]
pub struct BodyNode<'a> {
    /// The owner, in the body around it.
    pub owner: OpRef<'a>,
    /// Index of the node of the body around it; `None` for the top-level op's.
    pub parent: Option<usize>,
}

impl<'a> BodyNode<'a> {
    /// The body.
    pub fn body(&self) -> &'a Body {
        self.owner.inside()
    }
}

type SymbolMap = FxHashMap<Ident, Op>;

/// All bodies of a program in pre-order, with the symbols of each that belongs to a symbol table.
pub struct SymbolTables<'a> {
    nodes: Vec<BodyNode<'a>>,
    /// Symbols of the table that owns the body of the same index; made at the first look-up.
    maps: Vec<OnceLock<SymbolMap>>,
}

impl<'a> SymbolTables<'a> {
    /// The snapshot below `root`, which owns a body.
    pub fn new(root: OpRef<'a>) -> Self {
        let mut nodes = vec![BodyNode { owner: root, parent: None }];
        let mut at = 0;
        while at < nodes.len() {
            let owner = nodes[at].owner;
            let body = owner.inside();
            let isolated = body.preorder().filter(|op| body.nested(*op).is_some());
            let children: Vec<_> =
                isolated.map(|op| BodyNode { owner: OpRef::new(owner.cx, body, op), parent: Some(at) }).collect();
            nodes.extend(children);
            at += 1;
        }
        Self::from_nodes(nodes)
    }

    /// The snapshot of bodies that are known already; a node's parent stands before it.
    pub fn from_nodes(nodes: Vec<BodyNode<'a>>) -> Self {
        let maps = nodes.iter().map(|_| OnceLock::new()).collect();
        Self { nodes, maps }
    }

    /// All bodies; a node's parent stands before it.
    pub fn nodes(&self) -> &[BodyNode<'a>] {
        &self.nodes
    }

    /// The names that an op in the body `node` can refer to.
    pub fn scope(&self, node: usize) -> SymbolScope<'_, 'a> {
        SymbolScope { tables: self, node }
    }

    fn map(&self, node: usize) -> &SymbolMap {
        self.maps[node].get_or_init(|| symbols_of(self.nodes[node].owner))
    }
}

fn symbols_of(table: OpRef<'_>) -> SymbolMap {
    let mut map = SymbolMap::default();
    for op in table.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops()) {
        if let Some(name) = symbol_ident(op) {
            // The verifier reports a second definition; the first one counts.
            map.entry(name).or_insert(op.op);
        }
    }
    map
}

/// The interned name of the symbol that an op defines.
pub fn symbol_ident(op: OpRef<'_>) -> Option<Ident> {
    match op.cx.attr_data(op.attr(SYMBOL_NAME)?) {
        AttrData::String { value, .. } => Some(value),
        _ => None,
    }
}

/// The names that ops of one body can refer to.
#[derive(Clone, Copy)]
pub struct SymbolScope<'s, 'a> {
    tables: &'s SymbolTables<'a>,
    node: usize,
}

/// Where a look-up of the nearest symbol table ended.
enum Nearest<'a> {
    /// The table that owns the body of this node.
    Owner(usize),
    /// A table that lives in the body of its parent, because it is not isolated.
    Inline(OpRef<'a>),
    /// None, or one that cannot be told because an op around is not registered.
    Unknown,
}

impl<'s, 'a> SymbolScope<'s, 'a> {
    /// Context.
    pub fn cx(&self) -> &'a Context {
        self.tables.nodes[self.node].owner.cx
    }

    /// The op whose body this is.
    pub fn owner(&self) -> OpRef<'a> {
        self.tables.nodes[self.node].owner
    }

    /// The outermost op of the program, or of the part of it that is being looked at.
    pub fn root(&self) -> OpRef<'a> {
        self.tables.nodes[0].owner
    }

    /// True when the symbol table of `op` can be told: no unregistered op between could be one.
    pub fn is_known(&self, op: Op) -> bool {
        !matches!(self.nearest(op), Nearest::Unknown)
    }

    /// The op that `reference`, a symbol reference used by the op `from` of this body, names.
    ///
    /// The first name is looked up in the nearest symbol table around `from`, each further one in the table that the
    /// name before it found.
    pub fn lookup(&self, from: Op, reference: Attr) -> Option<OpRef<'a>> {
        let AttrData::SymbolRef { root, nested } = self.cx().attr_data(reference) else { return None };
        let mut found = self.lookup_name(from, root)?;
        for &name in self.cx().idents(nested) {
            if !found.has_trait(Traits::SymbolTable) {
                return None;
            }
            found = find_in(found, name)?;
        }
        Some(found)
    }

    /// The op that defines `name` in the nearest symbol table around the op `from` of this body.
    pub fn lookup_name(&self, from: Op, name: Ident) -> Option<OpRef<'a>> {
        match self.nearest(from) {
            Nearest::Owner(node) => {
                let op = *self.tables.map(node).get(&name)?;
                Some(OpRef::new(self.cx(), self.tables.nodes[node].body(), op))
            }
            Nearest::Inline(table) => find_in(table, name),
            Nearest::Unknown => None,
        }
    }

    /// What a reference by the op `from` that finds nothing may be meant to be, as text.
    pub fn suggest(&self, from: Op, reference: Attr) -> Option<String> {
        let cx = self.cx();
        let AttrData::SymbolRef { root, nested } = cx.attr_data(reference) else { return None };
        let closest = |table: OpRef<'a>, name: Ident| {
            let ops = table.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops());
            let mut names: Vec<&str> = ops.filter_map(symbol_ident).map(|n| cx.str(n)).collect();
            names.retain(|n| *n != cx.str(name));
            did_you_mean(cx.str(name), names)
        };
        let Some(mut found) = self.lookup_name(from, root) else {
            let table = match self.nearest(from) {
                Nearest::Owner(node) => self.tables.nodes[node].owner,
                Nearest::Inline(table) => table,
                Nearest::Unknown => return None,
            };
            return closest(table, root).map(|name| format!("@{name}"));
        };
        let mut path = format!("@{}", cx.str(root));
        for &name in cx.idents(nested) {
            let Some(next) = find_in(found, name) else {
                return closest(found, name).map(|name| format!("{path}::@{name}"));
            };
            path.push_str(&format!("::@{}", cx.str(name)));
            found = next;
        }
        None
    }

    /// The symbol table around `from`; an op that is a table without a body of its own resolves names in itself.
    fn nearest(&self, from: Op) -> Nearest<'a> {
        let mut node = self.node;
        let body = self.tables.nodes[node].body();
        let mut at = Some(OpRef::new(self.cx(), body, from));
        loop {
            while let Some(op) = at {
                if op.has_trait(Traits::SymbolTable) && op.body.nested(op.op).is_none() {
                    return Nearest::Inline(op);
                }
                let may_be_table = op.def().is_none() && op.regions().len() == 1;
                if may_be_table && op.op != from {
                    return Nearest::Unknown;
                }
                at = op.parent();
            }
            let owner = self.tables.nodes[node].owner;
            if owner.has_trait(Traits::SymbolTable) {
                return Nearest::Owner(node);
            }
            match self.tables.nodes[node].parent {
                Some(parent) => node = parent,
                None => return Nearest::Unknown,
            }
            at = owner.parent();
        }
    }
}

fn find_in<'a>(table: OpRef<'a>, name: Ident) -> Option<OpRef<'a>> {
    table.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops()).find(|op| symbol_ident(*op) == Some(name))
}
