//! Aliases: which types, attributes and locations are written once at the top (`#map = …`), and in which order.
//!
//! The order is the one of MLIR's printer: by depth of nesting, types before attributes, by name, and then as met when
//! regions are visited before the op that holds them. Locations that only ops use are defined at the end.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{PrintOptions, Printer};
use crate::asm::{Aliased, TextInfo};
use crate::attrs::{Attr, AttrData, NamedAttr};
use crate::body::{Block, Body, Op};
use crate::context::Context;
use crate::location::{Loc, LocData};
use crate::op_ref::OpRef;
use crate::types::{Type, TypeData};

/// The aliases of what is being printed.
#[derive(Default)]
pub(super) struct Aliases {
    names: FxHashMap<Key, Box<str>>,
    /// Definitions, in order.
    order: Vec<(Key, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Type(Type),
    Attr(Attr),
    Loc(Loc),
}

impl Key {
    pub(super) fn of(cx: &Context, target: Aliased) -> Self {
        match target {
            Aliased::Type(ty) => Self::Type(ty),
            Aliased::Attr(attr) => match cx.attr_data(attr) {
                AttrData::Location(loc) => Self::Loc(loc),
                _ => Self::Attr(attr),
            },
        }
    }
}

/// True for what never gets an alias: it is not longer than one.
fn is_short(cx: &Context, key: Key) -> bool {
    match key {
        Key::Loc(_) => false,
        Key::Type(ty) => {
            matches!(cx.type_data(ty), TypeData::None | TypeData::Index | TypeData::Integer { .. } | TypeData::Float(_))
        }
        Key::Attr(attr) => matches!(
            cx.attr_data(attr),
            AttrData::Unit
                | AttrData::Integer { .. }
                | AttrData::BigInteger { .. }
                | AttrData::Float { .. }
                | AttrData::BigFloat { .. }
                | AttrData::DenseArray { .. }
                | AttrData::SymbolRef { .. }
                | AttrData::String { ty: Type::NONE, .. }
                | AttrData::Strided { .. }
                | AttrData::Type(_)
        ),
    }
}

impl Aliases {
    fn find(&self, key: Key) -> Option<&str> {
        if self.names.is_empty() { None } else { self.names.get(&key).map(|n| &**n) }
    }

    /// Gives what a text defined its name, unless it has one already or is short enough to be written everywhere.
    pub(super) fn add(&mut self, cx: &Context, target: Aliased, name: &str) {
        let key = Key::of(cx, target);
        if !is_short(cx, key) {
            self.names.entry(key).or_insert_with(|| name.into());
        }
    }

    pub(super) fn of_type(&self, ty: Type) -> Option<&str> {
        self.find(Key::Type(ty))
    }

    pub(super) fn of_attr(&self, attr: Attr) -> Option<&str> {
        self.find(Key::Attr(attr))
    }

    pub(super) fn of_loc(&self, loc: Loc) -> Option<&str> {
        self.find(Key::Loc(loc))
    }
}

/// Tuples longer than this get an alias.
const LONG_TUPLE: usize = 16;

struct Info<'p> {
    key: Key,
    depth: u32,
    name: Option<&'p str>,
    /// True for a name of the text, which stays as it is.
    exact: bool,
    deferrable: bool,
    children: Vec<usize>,
}

/// Finds what of a text would be written by an alias.
pub(super) struct Collector<'p> {
    cx: &'p Context,
    locations: bool,
    hints: FxHashMap<Key, (&'p str, bool)>,
    seen: FxHashMap<Key, usize>,
    infos: Vec<Info<'p>>,
    /// Ops that hold something with an alias, by the address of their body and their index.
    holders: FxHashSet<(usize, usize)>,
    /// What the op that is being visited holds; kept for its memory.
    held: Vec<usize>,
}

/// What is told of types, attributes and locations while a text is written for its aliases alone.
pub(super) struct Noting<'p> {
    collector: Collector<'p>,
    /// All others have nothing to tell; `None` where locations are printed, which every op has.
    holders: Option<FxHashSet<(usize, usize)>>,
}

impl<'p> Noting<'p> {
    /// True for an op without regions that has nothing to tell.
    pub(super) fn may_skip(&self, op: OpRef<'_>) -> bool {
        self.holders.as_ref().is_some_and(|holders| op.regions().len() == 0 && !holders.contains(&holder(op)))
    }

    pub(super) fn name_all(self) -> Aliases {
        self.collector.name_all()
    }
}

fn holder(op: OpRef<'_>) -> (usize, usize) {
    (std::ptr::from_ref(op.body).addr(), op.op.index())
}

/// What is still to visit.
enum Step<'p> {
    Op(OpRef<'p>),
    Own(OpRef<'p>),
    Blocks(&'p Body, Option<Block>),
    Ops(&'p Body, Option<Op>),
}

pub(super) fn collector<'p>(cx: &'p Context, text: &'p TextInfo, options: &PrintOptions) -> Collector<'p> {
    Collector {
        cx,
        locations: options.debug_info,
        hints: hints(cx, text, options.discard_value_names),
        seen: FxHashMap::default(),
        infos: Vec::new(),
        holders: FxHashSet::default(),
        held: Vec::new(),
    }
}

/// Names from the text. When names are discarded, those of dialect-defined entities are kept without their number: the
/// dialect chose them.
fn hints<'p>(cx: &'p Context, text: &'p TextInfo, discard: bool) -> FxHashMap<Key, (&'p str, bool)> {
    let mut hints = FxHashMap::default();
    for &(target, name) in &text.aliases {
        let name = cx.str(name);
        let (key, foreign) = match target {
            Aliased::Type(ty) => {
                (Key::Type(ty), matches!(cx.type_data(ty), TypeData::Opaque { .. } | TypeData::Ext(_)))
            }
            Aliased::Attr(attr) => match cx.attr_data(attr) {
                AttrData::Location(_) => continue,
                data => (Key::Attr(attr), matches!(data, AttrData::Opaque { .. } | AttrData::Ext(_))),
            },
        };
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_default = !foreign && matches!(base, "map" | "set" | "distinct" | "tuple");
        if discard && foreign {
            let base = if base.len() < name.len() { base.strip_suffix('_').unwrap_or(base) } else { base };
            hints.entry(key).or_insert((if base.is_empty() { name } else { base }, false));
        } else if !discard && !is_default {
            hints.entry(key).or_insert((name, true));
        }
    }
    hints
}

impl<'p> Collector<'p> {
    /// True when anything met has an alias.
    pub(super) fn found_any(&self) -> bool {
        self.infos.iter().any(|info| info.name.is_some())
    }

    /// After a walk: what `again` is told while the ops that the walk found are written.
    pub(super) fn note_with(self, again: Collector<'p>) -> Noting<'p> {
        Noting { holders: (!self.locations).then_some(self.holders), collector: again }
    }

    /// Visits what is about to be written.
    fn note(&mut self, key: Key, deferrable: bool) {
        match key {
            Key::Type(ty) => self.visit_type(ty),
            Key::Attr(attr) => self.visit_attr(attr),
            Key::Loc(loc) => self.visit_loc(loc, deferrable),
        }
    }

    /// Visits everything in `root`, in the order of the generic form.
    pub(super) fn walk(&mut self, root: OpRef<'p>) {
        let mut steps = vec![Step::Op(root)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Op(op) => {
                    if self.locations {
                        self.visit_loc(op.loc(), true);
                    }
                    steps.push(Step::Own(op));
                    let at = steps.len();
                    steps.extend(op.regions().map(|r| Step::Blocks(r.body, r.body.region_entry(r.region))));
                    steps[at..].reverse();
                }
                Step::Own(op) => self.visit_op(op),
                Step::Blocks(_, None) | Step::Ops(_, None) => {}
                Step::Blocks(body, Some(block)) => {
                    for &arg in body.block_args(block) {
                        self.visit_type(body.ty(arg));
                        if self.locations {
                            self.visit_loc(body.value_loc(arg), false);
                        }
                    }
                    steps.push(Step::Blocks(body, body.next_block(block)));
                    steps.push(Step::Ops(body, body.first_op(block)));
                }
                Step::Ops(body, Some(op)) => {
                    steps.push(Step::Ops(body, body.next_op(op)));
                    steps.push(Step::Op(OpRef::new(self.cx, body, op)));
                }
            }
        }
    }

    fn visit_op(&mut self, op: OpRef<'p>) {
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        for ty in op.operand_types().chain(op.result_types()) {
            self.type_child(ty, &mut held);
        }
        let cx = self.cx;
        let (props, attrs) = (cx.entries(op.body.props(op.op)), cx.entries(op.body.attrs(op.op)));
        for entry in merged(cx, props, attrs) {
            self.attr_child(entry.value, &mut held);
        }
        // Properties that are no dictionary.
        if !matches!(cx.attr_data(op.body.props(op.op)), AttrData::Dict(_)) {
            self.attr_child(op.body.props(op.op), &mut held);
        }
        if held.iter().any(|&at| self.infos[at].depth > 0) {
            self.holders.insert(holder(op));
        }
        self.held = held;
    }

    /// Visits an entity and what it holds; returns its index and depth.
    fn visit(&mut self, key: Key, deferrable: bool, inside: impl FnOnce(&mut Self, &mut Vec<usize>)) -> usize {
        if let Some(&at) = self.seen.get(&key) {
            if !deferrable {
                self.forbid_deferring(at);
            }
            return at;
        }
        let at = self.infos.len();
        self.seen.insert(key, at);
        let (name, exact) = self.name_of(key);
        self.infos.push(Info { key, depth: name.is_some().into(), name, exact, deferrable, children: Vec::new() });
        let mut children = Vec::new();
        inside(self, &mut children);
        let deepest = children.iter().map(|&c| self.infos[c].depth).max().unwrap_or(0);
        let info = &mut self.infos[at];
        if deepest > 0 {
            info.depth = deepest + 1;
        }
        info.children = children;
        at
    }

    fn forbid_deferring(&mut self, at: usize) {
        let mut pending = vec![at];
        while let Some(at) = pending.pop() {
            if std::mem::replace(&mut self.infos[at].deferrable, false) {
                pending.extend_from_slice(&self.infos[at].children);
            }
        }
    }

    fn name_of(&self, key: Key) -> (Option<&'p str>, bool) {
        if let Some((name, exact)) = self.hints.get(&key) {
            return (Some(name), *exact);
        }
        let name = match key {
            Key::Loc(_) => Some("loc"),
            Key::Attr(attr) => match self.cx.attr_data(attr) {
                AttrData::AffineMap(_) => Some("map"),
                AttrData::IntegerSet(_) => Some("set"),
                AttrData::Distinct { inner, .. } if inner != Attr::UNIT => Some("distinct"),
                _ => None,
            },
            Key::Type(ty) => match self.cx.type_data(ty) {
                TypeData::Tuple(types) if self.cx.types(types).len() > LONG_TUPLE => Some("tuple"),
                _ => None,
            },
        };
        (name, false)
    }

    fn visit_type(&mut self, ty: Type) {
        self.type_child(ty, &mut Vec::new());
    }

    fn type_child(&mut self, ty: Type, into: &mut Vec<usize>) {
        let cx = self.cx;
        let data = cx.type_data(ty);
        if is_short(cx, Key::Type(ty)) {
            return;
        }
        let at = self.visit(Key::Type(ty), false, |c, children| match data {
            TypeData::None | TypeData::Index | TypeData::Integer { .. } | TypeData::Float(_) | TypeData::Ext(_) => {}
            TypeData::Complex(elem) | TypeData::UnrankedTensor(elem) | TypeData::Vector { elem, .. } => {
                c.type_child(elem, children);
            }
            TypeData::Function { inputs, results } => {
                for &ty in cx.types(inputs).iter().chain(cx.types(results)) {
                    c.type_child(ty, children);
                }
            }
            TypeData::Tuple(types) => cx.types(types).iter().for_each(|ty| c.type_child(*ty, children)),
            TypeData::RankedTensor { elem, encoding, .. } => {
                c.type_child(elem, children);
                encoding.into_iter().for_each(|a| c.attr_child(a, children));
            }
            TypeData::MemRef { elem, layout, space, .. } => {
                c.type_child(elem, children);
                let layout = layout.filter(|l| !super::ty::is_identity(cx, *l));
                layout.into_iter().chain(space).for_each(|a| c.attr_child(a, children));
            }
            TypeData::UnrankedMemRef { elem, space } => {
                c.type_child(elem, children);
                space.into_iter().for_each(|a| c.attr_child(a, children));
            }
            TypeData::Opaque { refs, .. } => cx.list_attrs(refs).iter().for_each(|a| c.attr_child(*a, children)),
        });
        into.push(at);
    }

    fn visit_attr(&mut self, attr: Attr) {
        self.attr_child(attr, &mut Vec::new());
    }

    fn attr_child(&mut self, attr: Attr, into: &mut Vec<usize>) {
        let cx = self.cx;
        let data = cx.attr_data(attr);
        match data {
            AttrData::Type(ty) => return self.type_child(ty, into),
            AttrData::Location(loc) => return self.loc_child(loc, false, into),
            _ if is_short(cx, Key::Attr(attr)) => return,
            _ => {}
        }
        let at = self.visit(Key::Attr(attr), false, |c, children| match data {
            AttrData::Array(list) => cx.list_attrs(list).iter().for_each(|a| c.attr_child(*a, children)),
            AttrData::Dict(_) => cx.entries(attr).iter().for_each(|e| c.attr_child(e.value, children)),
            AttrData::Distinct { inner, .. } => c.attr_child(inner, children),
            AttrData::Opaque { refs, ty, .. } => {
                cx.list_attrs(refs).iter().for_each(|a| c.attr_child(*a, children));
                c.type_child(ty, children);
            }
            _ => cx.attr_type(attr).into_iter().for_each(|ty| c.type_child(ty, children)),
        });
        into.push(at);
    }

    fn visit_loc(&mut self, loc: Loc, deferrable: bool) {
        self.loc_child(loc, deferrable, &mut Vec::new());
    }

    fn loc_child(&mut self, loc: Loc, deferrable: bool, into: &mut Vec<usize>) {
        let cx = self.cx;
        // Two positions may read alike only if they are equal, so the handle is the key.
        let at = self.visit(Key::Loc(loc), deferrable, |c, children| match cx.loc_data(loc) {
            LocData::Unknown | LocData::FileLineCol { .. } => {}
            LocData::Name { child, .. } => {
                if child != Loc::UNKNOWN {
                    c.loc_child(child, deferrable, children);
                }
            }
            LocData::CallSite { callee, caller } => {
                c.loc_child(callee, deferrable, children);
                c.loc_child(caller, deferrable, children);
            }
            LocData::Fused { locs, metadata } => {
                metadata.into_iter().for_each(|a| c.attr_child(a, children));
                cx.fused_locs(locs).for_each(|l| c.loc_child(l, deferrable, children));
            }
        });
        into.push(at);
    }

    pub(super) fn name_all(mut self) -> Aliases {
        self.infos.retain(|info| info.name.is_some());
        self.infos.sort_by_key(|info| (info.depth, !matches!(info.key, Key::Type(_)), info.name));
        let sigil = |key: Key| matches!(key, Key::Type(_));
        let mut taken: FxHashSet<(bool, String)> = FxHashSet::default();
        let exact = self.infos.iter().filter(|info| info.exact);
        taken.extend(exact.map(|info| (sigil(info.key), info.name.unwrap_or_default().to_string())));
        let mut counts: FxHashMap<(bool, &str), usize> = FxHashMap::default();
        let mut aliases = Aliases::default();
        for info in &self.infos {
            let base = info.name.unwrap_or_default();
            let name = if info.exact {
                base.to_string()
            } else {
                let count = counts.entry((false, base)).or_default();
                loop {
                    let name = numbered(base, *count);
                    *count += 1;
                    if !taken.contains(&(sigil(info.key), name.clone())) {
                        break name;
                    }
                }
            };
            aliases.names.insert(info.key, name.into());
            aliases.order.push((info.key, info.deferrable));
        }
        aliases
    }
}

fn numbered(base: &str, count: usize) -> String {
    match count {
        0 => base.to_string(),
        _ if base.ends_with(|c: char| c.is_ascii_digit()) => format!("{base}_{count}"),
        _ => format!("{base}{count}"),
    }
}

/// Entries of two sorted dictionaries as one; an inherent attribute hides a discardable one of the same name.
pub(super) fn merged<'a>(
    cx: &'a Context,
    props: &'a [NamedAttr],
    attrs: &'a [NamedAttr],
) -> impl Iterator<Item = NamedAttr> + 'a {
    let text = |e: &NamedAttr| cx.str(e.name);
    let (mut props, mut attrs) = (props.iter().peekable(), attrs.iter().peekable());
    std::iter::from_fn(move || match (props.peek(), attrs.peek()) {
        (Some(p), Some(a)) if p.name == a.name => {
            attrs.next();
            props.next().copied()
        }
        (Some(p), Some(a)) if text(a) < text(p) => attrs.next().copied(),
        (Some(_), _) => props.next().copied(),
        (None, _) => attrs.next().copied(),
    })
}

impl Printer<'_> {
    /// True when aliases are being looked for: then `key` is noted and nothing is to be written.
    pub(super) fn only_notes(&mut self, key: Key, deferrable: bool) -> bool {
        self.noting.as_mut().map(|noting| noting.collector.note(key, deferrable)).is_some()
    }

    /// Defines the aliases that stand before (or, `deferred`, after) the operations.
    pub(super) fn alias_definitions(&mut self, deferred: bool) {
        let aliases = self.aliases.clone();
        for (key, _) in aliases.order.iter().filter(|(_, d)| *d == deferred) {
            self.alias_definition(*key, aliases.find(*key).unwrap_or_default());
        }
    }

    /// The line that defines an alias.
    pub(super) fn alias_definition(&mut self, key: Key, name: &str) {
        self.record_alias(key, name);
        self.text(if matches!(key, Key::Type(_)) { "!" } else { "#" });
        self.text(name);
        self.text(" = ");
        match key {
            Key::Type(ty) => self.type_in_full(ty),
            Key::Attr(attr) => self.attr_in_full(attr),
            Key::Loc(loc) => self.loc_in_full(loc),
        }
        self.text("\n");
    }
}
