//! Where passes run that were named without a pipeline: each goes to the ops that it is made for.

use indexmap::IndexSet;

use super::{Anchor, OpPassManager, PassInstance};
use crate::op_ref::OpRef;
use crate::symbols::SymbolTables;

/// A pipeline on `root` in which each pass of `passes`, in order, is nested where the ops are that it runs on.
///
/// # Errors
/// When a pass that is needed at several places cannot be made again.
pub fn place_passes(root: OpRef<'_>, passes: Vec<PassInstance>) -> Result<OpPassManager, String> {
    let root_name = root.name_str();
    let mut manager = OpPassManager::new(root_name);
    for pass in passes {
        let anchor = match pass.info().anchor {
            Anchor::Op(anchor) if anchor != root_name => anchor,
            _ => {
                manager.add(pass)?;
                continue;
            }
        };
        let mut paths = paths_to(root, anchor);
        if paths.is_empty() {
            // No such op: the run will say so.
            paths.push(vec![root_name.to_string(), anchor.to_string()]);
        }
        for path in &paths {
            manager.add_nested(nest(&path[1..], pass.again()?)?);
        }
    }
    Ok(manager)
}

fn nest(path: &[String], pass: PassInstance) -> Result<OpPassManager, String> {
    let (innermost, around) = path.split_last().expect("the pass is not on the root");
    let mut manager = OpPassManager::new(innermost);
    manager.add(pass)?;
    for anchor in around.iter().rev() {
        let mut outer = OpPassManager::new(anchor);
        outer.add_nested(manager);
        manager = outer;
    }
    Ok(manager)
}

/// The different ways, as names from `root` down, to isolated ops called `name`, in the order of the text.
pub(super) fn paths_to(root: OpRef<'_>, name: &str) -> Vec<Vec<String>> {
    let tables = SymbolTables::new(root);
    let nodes = tables.nodes();
    let mut found = IndexSet::new();
    for (index, node) in nodes.iter().enumerate() {
        if node.owner.name_str() == name && index > 0 {
            let up = std::iter::successors(Some(index), |i| nodes[*i].parent);
            let mut path: Vec<String> = up.map(|i| nodes[i].owner.name_str().to_string()).collect();
            path.reverse();
            found.insert(path);
        }
    }
    found.into_iter().collect()
}
