//! Which operator an op stood in before it was expanded, and which node of the model that was: as locations say it.

use indexmap::IndexSet;
use sutura_ir::location::LocData;
use sutura_ir::{Context, Loc};

/// `loc`, of an op that an operator of this name became.
pub fn from_operator(cx: &Context, loc: Loc, operator: &str) -> Loc {
    cx.fused_loc(&[loc], Some(cx.string_attr(operator)))
}

/// Where an op comes from, in words: `softmax '/layer/Softmax'`, `attention ('/MatMul', '/Softmax')` for what was raised from
/// several nodes, or `'/layer/Add'` for what was no operator.
pub fn origins(cx: &Context, loc: Loc) -> Vec<String> {
    match cx.loc_data(loc) {
        LocData::Fused { metadata, .. } if metadata.and_then(|m| cx.as_str(m)).is_some() => {
            let operator = metadata.and_then(|m| cx.as_str(m)).unwrap_or_default();
            let mut nodes = IndexSet::new();
            names(cx, loc, &mut nodes);
            vec![format!("{operator}{}", in_words(&nodes))]
        }
        LocData::Fused { locs, .. } => cx.fused_locs(locs).flat_map(|loc| origins(cx, loc)).collect(),
        LocData::Name { name, .. } => vec![format!("'{}'", cx.str(name))],
        _ => Vec::new(),
    }
}

/// The nodes that a location names, in order.
fn names(cx: &Context, loc: Loc, found: &mut IndexSet<String>) {
    match cx.loc_data(loc) {
        LocData::Name { name, .. } => {
            found.insert(cx.str(name).to_owned());
        }
        LocData::Fused { locs, .. } => cx.fused_locs(locs).for_each(|loc| names(cx, loc, found)),
        _ => {}
    }
}

/// ` 'a'`, or ` ('a', 'b')` where an operator was written as several nodes; nothing without a name.
fn in_words(nodes: &IndexSet<String>) -> String {
    let quoted: Vec<String> = nodes.iter().map(|name| format!("'{name}'")).collect();
    match &quoted[..] {
        [] => String::new(),
        [name] => format!(" {name}"),
        names => format!(" ({})", names.join(", ")),
    }
}

/// Most origins that a list names.
const NAMED: usize = 6;

/// Where ops come from, each place once; `None` where nothing is known.
pub fn list_of_origins(cx: &Context, locs: impl Iterator<Item = Loc>) -> Option<String> {
    let all: IndexSet<String> = locs.flat_map(|loc| origins(cx, loc)).collect();
    let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    match all.len().saturating_sub(NAMED) {
        _ if all.is_empty() => None,
        0 => Some(named.join(", ")),
        more => Some(format!("{} and {more} more", named.join(", "))),
    }
}
