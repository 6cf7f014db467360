//! Which operators a model uses.

use indexmap::IndexMap;

use super::model::{Graph, Node, OnnxModel};
use super::schema;

/// An operator of a model, with the nodes that are one, those of graphs in nodes too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedOperator {
    /// Empty for ONNX's own.
    pub domain: String,
    pub name: String,
    /// The opset that brought the interface that the nodes have, if the operator is known.
    pub version: Option<i64>,
    /// What the nodes are called in the imported program and in messages.
    pub nodes: Vec<String>,
}

/// The operators of a model, in the order in which they are first used.
pub fn used_operators(model: &OnnxModel) -> Vec<UsedOperator> {
    let mut used = IndexMap::new();
    collect(model, &model.graph, &mut used);
    used.into_values().collect()
}

type Used<'m> = IndexMap<(&'m str, &'m str, Option<i64>), UsedOperator>;

fn collect<'m>(model: &OnnxModel, graph: &'m Graph, used: &mut Used<'m>) {
    for node in &graph.nodes {
        let version = version(model, node);
        let operator = used.entry((&node.domain, &node.op_type, version)).or_insert_with(|| UsedOperator {
            domain: node.domain.clone(),
            name: node.op_type.clone(),
            version,
            nodes: Vec::new(),
        });
        operator.nodes.push(node.place());
        node.attributes.values().flat_map(|attribute| attribute.graphs()).for_each(|inner| collect(model, inner, used));
    }
}

fn version(model: &OnnxModel, node: &Node) -> Option<i64> {
    let opset = node.opset.or_else(|| model.opsets.get(&node.domain).copied())?;
    let own = || model.extension?.operator(&node.domain, &node.op_type);
    Some(schema::operator(&node.domain, &node.op_type).or_else(own)?.at(opset)?.since)
}
