//! Which operator an op stood in before it was expanded, and which node of the model that was: as locations say it.

use indexmap::IndexSet;
use sutura_ir::location::LocData;
use sutura_ir::{Context, Loc};

use super::super::gather::name_in;

/// `loc`, of an op that an operator of this name became.
pub fn from_operator(cx: &Context, loc: Loc, operator: &str) -> Loc {
    cx.fused_loc(&[loc], Some(cx.string_attr(operator)))
}

/// Where an op comes from, in words: `softmax '/layer/Softmax'`, or `'/layer/Add'` for what was no operator.
pub fn origins(cx: &Context, loc: Loc) -> Vec<String> {
    match cx.loc_data(loc) {
        LocData::Fused { metadata, .. } if metadata.and_then(|m| cx.as_str(m)).is_some() => {
            let operator = metadata.and_then(|m| cx.as_str(m)).unwrap_or_default();
            let node = name_in(cx, loc).map(|name| format!(" '{name}'")).unwrap_or_default();
            vec![format!("{operator}{node}")]
        }
        LocData::Fused { locs, .. } => cx.fused_locs(locs).flat_map(|loc| origins(cx, loc)).collect(),
        LocData::Name { name, .. } => vec![format!("'{}'", cx.str(name))],
        _ => Vec::new(),
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
