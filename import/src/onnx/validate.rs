//! Names of a graph: each defined once, before it is used.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    error::Problem,
    model::{Graph, Node},
};

/// Adds what is wrong with the names of `graph` and its subgraphs; `known`
/// names are taken as defined.
pub(super) fn graph(graph: &Graph, known: &FxHashSet<String>, problems: &mut Vec<Problem>) {
    Checker { scopes: vec![known.iter().map(String::as_str).collect()], problems }.graph(graph);
}

struct Checker<'m, 'p> {
    /// Names defined so far, of the outermost graph first; a subgraph sees
    /// those of the graphs around it.
    scopes: Vec<FxHashSet<&'m str>>,
    problems: &'p mut Vec<Problem>,
}

impl<'m> Checker<'m, '_> {
    fn graph(&mut self, graph: &'m Graph) {
        let defined = self.definitions(graph);
        let inputs = graph.inputs.iter().map(|i| i.name.as_str());
        let weights = graph.initializers.keys().map(String::as_str);
        let sparse = graph.sparse_initializers.iter().map(String::as_str);
        self.scopes.push(inputs.chain(weights).chain(sparse).collect());
        for node in &graph.nodes {
            self.inputs(node, &defined);
            for subgraph in node.attributes.values().flat_map(|a| a.graphs()) {
                self.graph(subgraph);
            }
            let scope = self.scopes.last_mut().expect("pushed above");
            scope.extend(node.outputs.iter().flatten().map(String::as_str));
        }
        // One may be listed twice: the graph has two results then that are the same.
        let mut seen = FxHashSet::default();
        for output in &graph.outputs {
            if seen.insert(output.name.as_str()) && !self.is_visible(&output.name) {
                let place = format!("output `{}`", output.name);
                self.problems.push(Problem::new(place, "is made by no node"));
            }
        }
        self.scopes.pop();
    }

    fn is_visible(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains(name))
    }

    /// Which node makes each value; reports values that are defined twice.
    fn definitions(&mut self, graph: &'m Graph) -> FxHashMap<&'m str, &'m Node> {
        let mut names = FxHashSet::default();
        for input in &graph.inputs {
            if !names.insert(input.name.as_str()) {
                let place = format!("input `{}`", input.name);
                self.problems.push(Problem::new(place, "is listed twice"));
            }
        }
        names.extend(graph.initializers.keys().map(String::as_str));
        names.extend(graph.sparse_initializers.iter().map(String::as_str));
        let mut makers: FxHashMap<&str, &Node> = FxHashMap::default();
        for node in &graph.nodes {
            for output in node.outputs.iter().flatten() {
                let other = match makers.get(output.as_str()) {
                    Some(other) => other.to_string(),
                    None if names.contains(output.as_str()) => "an input or initializer".into(),
                    None => {
                        makers.insert(output, node);
                        continue;
                    }
                };
                let message = format!("makes `{output}`, which {other} already defines");
                self.problems.push(Problem::new(node.to_string(), message));
            }
        }
        makers
    }

    fn inputs(&mut self, node: &Node, makers: &FxHashMap<&str, &Node>) {
        for input in node.inputs.iter().flatten() {
            if self.is_visible(input) {
                continue;
            }
            let message = match makers.get(input.as_str()) {
                Some(maker) if maker.index == node.index => {
                    format!("uses its own output `{input}`")
                }
                Some(maker) => format!("uses `{input}` before {maker} makes it: nodes must be in topological order"),
                None => format!("uses `{input}`, which nothing defines"),
            };
            self.problems.push(Problem::new(node.to_string(), message));
        }
    }
}
