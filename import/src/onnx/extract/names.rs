//! Where the names of a graph come from, and which of them a node needs.

use rustc_hash::FxHashSet;

use super::super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};
use super::plan::{Outline, OutlineNode};

/// The graph as far as names tell.
pub(super) fn outline(graph: &GraphProto) -> Outline {
    let weights: Vec<String> = constants(graph).map(str::to_owned).collect();
    let own: FxHashSet<&str> = constants(graph).collect();
    let inputs = graph.input.iter().map(|info| info.name()).filter(|name| !own.contains(name)).map(str::to_owned);
    let strings = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    let nodes = graph.node.iter().map(|node| {
        let mut inside = Vec::new();
        graphs(node).for_each(|graph| all(graph, &mut inside));
        let gives = node.output.iter().filter(|name| !name.is_empty()).cloned().collect();
        OutlineNode { label: label(node), needs: strings(needs(node)), gives, inside: strings(inside) }
    });
    let outputs = graph.output.iter().map(|info| info.name().to_owned()).collect();
    Outline { inputs: inputs.collect(), weights, outputs, nodes: nodes.collect() }
}

/// A node as messages name it.
fn label(node: &NodeProto) -> String {
    match (node.name(), node.output.iter().find(|name| !name.is_empty())) {
        ("", Some(output)) => format!("the node that makes `{output}` ({})", node.op_type()),
        (name, _) => format!("node `{name}` ({})", node.op_type()),
    }
}

/// Every name of a graph in a node, and of the graphs in its nodes.
fn all<'g>(graph: &'g GraphProto, names: &mut Vec<&'g str>) {
    names.extend(graph.input.iter().map(|info| info.name()).chain(constants(graph)));
    for node in &graph.node {
        names.extend(node.output.iter().map(String::as_str).filter(|name| !name.is_empty()));
        graphs(node).for_each(|inner| all(inner, names));
    }
}

/// Names of the graph's initializers.
fn constants(graph: &GraphProto) -> impl Iterator<Item = &str> {
    let sparse = graph.sparse_initializer.iter().filter_map(|tensor| tensor.values.as_ref());
    graph.initializer.iter().chain(sparse).map(|tensor| tensor.name())
}

/// The names that a node reads: its inputs, and what the graphs in it take from outside.
fn needs(node: &NodeProto) -> Vec<&str> {
    let mut needed: Vec<&str> = node.input.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    for graph in graphs(node) {
        needed.extend(captured(graph));
    }
    needed
}

/// The graphs in a node.
fn graphs(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute.iter().flat_map(|attribute: &AttributeProto| attribute.g.iter().chain(&attribute.graphs))
}

/// What a graph in a node takes from outside.
fn captured(graph: &GraphProto) -> Vec<&str> {
    let mut own: FxHashSet<&str> = graph.input.iter().map(|info| info.name()).chain(constants(graph)).collect();
    own.extend(graph.node.iter().flat_map(|node| node.output.iter().map(String::as_str)));
    let read = graph.node.iter().flat_map(needs).chain(graph.output.iter().map(|info| info.name()));
    read.filter(|name| !own.contains(name)).collect()
}

/// The functions of the model that nodes call, also through each other: by domain, name and overload.
pub(super) fn called<'p>(nodes: impl Iterator<Item = &'p NodeProto>, functions: &'p [FunctionProto]) -> Vec<bool> {
    let mut wanted = vec![false; functions.len()];
    let mut pending: Vec<&NodeProto> = nodes.collect();
    while let Some(node) = pending.pop() {
        pending.extend(graphs(node).flat_map(|graph| &graph.node));
        let is_called = |f: &FunctionProto| {
            f.name() == node.op_type() && f.domain() == node.domain() && f.overload() == node.overload()
        };
        for (i, function) in functions.iter().enumerate().filter(|(_, function)| is_called(function)) {
            if !std::mem::replace(&mut wanted[i], true) {
                pending.extend(&function.node);
            }
        }
    }
    wanted
}
