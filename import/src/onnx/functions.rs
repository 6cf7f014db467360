//! Functions that a model defines: the nodes of a function take the place of each call, before anything is decoded.
//!
//! Names of values in the function get the name of the call before theirs, so do its nodes; attributes that refer to those of the
//! function become what the call gives, or the default.

use std::rc::Rc;

use indexmap::IndexMap;
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};

use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto};

/// Functions that call each other.
const MOST_DEPTH: usize = 100;
/// Nodes that all calls together may make.
const MOST_NODES: usize = 200_000;
/// Bytes that these may take, without weights that are shared.
const MOST_BYTES: usize = 1 << 30;

/// Domain, name and overload.
type Key = (String, String, String);

/// Why a call has no nodes.
pub(super) enum Refusal {
    /// The call is wrong.
    Call(String),
    /// The function is wrong, which is said once.
    Function { name: String, problems: Vec<String> },
    /// There is more of it than is read here.
    Limit(String),
    /// It was said before.
    Before,
}

#[derive(Default)]
pub(super) struct Functions {
    table: IndexMap<Key, Rc<FunctionProto>>,
    /// Functions that are wrong.
    broken: FxHashSet<usize>,
    /// Functions whose calls are being replaced, the outermost first.
    active: Vec<usize>,
    names: Names,
    nodes: usize,
    bytes: usize,
}

impl Functions {
    /// Functions by their names. Also returns those that are there twice.
    pub(super) fn new(list: Vec<FunctionProto>, graph: Option<&GraphProto>) -> (Self, Vec<String>) {
        let (mut functions, mut twice) = (Self::default(), Vec::new());
        if let (Some(graph), false) = (graph, list.is_empty()) {
            functions.names.take_all(graph);
        }
        for function in list {
            let key = key(function.domain(), function.name(), function.overload());
            let label = label(&key);
            if functions.table.insert(key, Rc::new(function)).is_some() {
                twice.push(label);
            }
        }
        (functions, twice)
    }

    /// Domain, name and overload of each.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.table.keys()
    }

    /// The function that a node calls; it goes before an operator of that name.
    pub(super) fn called_by(&self, node: &NodeProto) -> Option<usize> {
        if self.table.is_empty() {
            return None;
        }
        self.table.get_index_of(&key(node.domain(), node.op_type(), node.overload()))
    }

    pub(super) fn function(&self, index: usize) -> Rc<FunctionProto> {
        self.table[index].clone()
    }

    /// As messages name it.
    pub(super) fn label(&self, index: usize) -> String {
        self.table.get_index(index).map(|(key, _)| label(key)).unwrap_or_default()
    }

    /// The function is wrong, which was said.
    pub(super) fn is_broken(&mut self, index: usize) {
        self.broken.insert(index);
    }

    /// The nodes of function `index` for a call, the one with number `number` in its graph. [`Self::leave`] follows when they
    /// are decoded.
    pub(super) fn enter(&mut self, index: usize, call: &NodeProto, number: usize) -> Result<Vec<NodeProto>, Refusal> {
        if self.broken.contains(&index) {
            return Err(Refusal::Before);
        }
        if let Some(first) = self.active.iter().position(|active| *active == index) {
            let way: Vec<String> = self.active[first..].iter().chain([&index]).map(|i| self.label(*i)).collect();
            let problems = vec![format!("calls itself: {}", way.join(", which calls "))];
            self.broken.insert(index);
            return Err(Refusal::Function { name: self.label(index), problems });
        }
        if self.active.len() >= MOST_DEPTH {
            return Err(Refusal::Limit(format!("calls functions in each other, more than {MOST_DEPTH}")));
        }
        let function = self.table[index].clone();
        check_call(&function, call).map_err(Refusal::Call)?;
        let prefix = match call.name() {
            "" => format!("{}_{number}", call.op_type()),
            name => name.to_owned(),
        };
        let prefix = self.names.fresh(&prefix);
        let attributes = function.attribute_proto.iter().chain(&call.attribute).map(|a| (a.name(), a)).collect();
        let mut copy =
            Copy { names: &mut self.names, prefix, attributes, function: &function, scopes: vec![], problems: vec![] };
        let nodes = copy.nodes(call);
        let problems = copy.problems;
        if !problems.is_empty() {
            self.broken.insert(index);
            return Err(Refusal::Function { name: self.label(index), problems });
        }
        self.nodes += nodes.len();
        self.bytes += nodes.iter().map(cost_of).sum::<usize>();
        if self.nodes > MOST_NODES || self.bytes > MOST_BYTES {
            let most = format!("{MOST_NODES} nodes or {} MiB", MOST_BYTES >> 20);
            self.broken.insert(index);
            return Err(Refusal::Limit(format!("calls a function; all calls together make more than {most}")));
        }
        self.active.push(index);
        Ok(nodes)
    }

    pub(super) fn leave(&mut self) {
        self.active.pop();
    }
}

/// `ai.onnx` is another name of the default domain.
fn key(domain: &str, name: &str, overload: &str) -> Key {
    let domain = if domain == "ai.onnx" { "" } else { domain };
    (domain.to_owned(), name.to_owned(), overload.to_owned())
}

fn label((domain, name, overload): &Key) -> String {
    let dot = if domain.is_empty() { "" } else { "." };
    let colon = if overload.is_empty() { "" } else { ":" };
    format!("function `{domain}{dot}{name}{colon}{overload}`")
}

/// The bytes of a node that its copies do not share.
fn cost_of(node: &NodeProto) -> usize {
    fn shared(node: &NodeProto) -> usize {
        let raw = |t: &TensorProto| t.raw_data.as_ref().map_or(0, |raw| raw.len());
        let graph = |g: &GraphProto| -> usize {
            g.initializer.iter().map(raw).sum::<usize>() + g.node.iter().map(shared).sum::<usize>()
        };
        let attribute = |a: &AttributeProto| -> usize {
            let tensors = a.t.iter().chain(&a.tensors).map(raw).sum::<usize>();
            tensors + a.g.iter().chain(&a.graphs).map(graph).sum::<usize>()
        };
        node.attribute.iter().map(attribute).sum()
    }
    node.encoded_len().saturating_sub(shared(node))
}

/// That a call fits its function.
fn check_call(function: &FunctionProto, call: &NodeProto) -> Result<(), String> {
    for (what, given, most) in
        [("inputs", call.input.len(), function.input.len()), ("outputs", call.output.len(), function.output.len())]
    {
        if given > most {
            return Err(format!("has {given} {what}, the function has {most}"));
        }
    }
    let mut seen = FxHashSet::default();
    let known = |name: &str| {
        function.attribute.iter().any(|known| known == name)
            || function.attribute_proto.iter().any(|known| known.name() == name)
    };
    for attribute in &call.attribute {
        if !known(attribute.name()) {
            return Err(format!("has attribute `{}`, which the function does not have", attribute.name()));
        }
        if !seen.insert(attribute.name()) {
            return Err(format!("has attribute `{}` twice", attribute.name()));
        }
    }
    Ok(())
}

/// Names of values of the whole model.
#[derive(Default)]
struct Names {
    taken: FxHashSet<String>,
    /// The number to try next, by names that were taken.
    numbers: FxHashMap<String, usize>,
}

impl Names {
    fn take_all(&mut self, graph: &GraphProto) {
        let inputs = graph.input.iter().map(|info| info.name());
        let weights = graph.initializer.iter().map(|tensor| tensor.name());
        let sparse = graph.sparse_initializer.iter().filter_map(|tensor| Some(tensor.values.as_ref()?.name()));
        self.taken.extend(inputs.chain(weights).chain(sparse).map(str::to_owned));
        for node in &graph.node {
            self.taken.extend(node.output.iter().cloned());
            node.attribute.iter().flat_map(|a| a.g.iter().chain(&a.graphs)).for_each(|graph| self.take_all(graph));
        }
    }

    /// A name like `wanted` that no value has.
    fn fresh(&mut self, wanted: &str) -> String {
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{wanted}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// A copy of a function's nodes for one call.
struct Copy<'f> {
    names: &'f mut Names,
    /// Name of the call.
    prefix: String,
    /// What attributes of the function are.
    attributes: FxHashMap<&'f str, &'f AttributeProto>,
    function: &'f FunctionProto,
    /// New names of values, by names in the function; in the function first, then in each graph around what is copied.
    scopes: Vec<FxHashMap<String, String>>,
    problems: Vec<String>,
}

impl Copy<'_> {
    fn nodes(&mut self, call: &NodeProto) -> Vec<NodeProto> {
        let function = self.function;
        let mut inputs = FxHashMap::default();
        for (i, formal) in function.input.iter().enumerate() {
            if inputs.insert(formal.clone(), call.input.get(i).cloned().unwrap_or_default()).is_some() {
                self.problems.push(format!("has input `{formal}` twice"));
            }
        }
        let actual = |i: usize| call.output.get(i).map_or("", String::as_str);
        // The first output of that name is made by the node; others are copies.
        let mut made: FxHashMap<&str, &str> = FxHashMap::default();
        let mut copied = Vec::new();
        for (i, formal) in function.output.iter().enumerate().filter(|(i, _)| !actual(*i).is_empty()) {
            if inputs.contains_key(formal) || made.contains_key(formal.as_str()) {
                copied.push((formal, actual(i)));
            } else {
                made.insert(formal, actual(i));
            }
        }
        self.scopes.push(inputs);
        let mut nodes = Vec::with_capacity(function.node.len());
        for (number, node) in function.node.iter().enumerate() {
            nodes.push(self.node(node, number, &made));
        }
        for formal in &function.output {
            if self.known(formal).is_none() {
                self.problems.push(format!("has output `{formal}`, which nothing makes"));
            }
        }
        for (formal, actual) in copied {
            let source = self.known(formal).unwrap_or_default().to_owned();
            if source.is_empty() && self.problems.is_empty() {
                self.problems.push(format!("hands on input `{formal}`, which a call leaves out"));
            }
            nodes.push(NodeProto {
                input: vec![source],
                output: vec![actual.to_owned()],
                name: Some(format!("{}/{formal}", self.prefix)),
                op_type: Some("Identity".into()),
                ..NodeProto::default()
            });
        }
        nodes
    }

    /// A node with new names; `outputs` are those that the call gives to values.
    fn node(&mut self, node: &NodeProto, number: usize, outputs: &FxHashMap<&str, &str>) -> NodeProto {
        let own = match node.name() {
            "" => format!("{}_{number}", node.op_type()),
            name => name.to_owned(),
        };
        let mut copy = NodeProto {
            name: Some(format!("{}/{own}", self.prefix)),
            op_type: node.op_type.clone(),
            domain: node.domain.clone(),
            overload: node.overload.clone(),
            ..NodeProto::default()
        };
        copy.input = node.input.iter().map(|name| self.used(name, &own)).collect();
        copy.attribute = node.attribute.iter().filter_map(|a| self.attribute(a, &own)).collect();
        copy.output = node.output.iter().map(|name| self.defined(name, outputs)).collect();
        copy
    }

    fn known(&self, name: &str) -> Option<&str> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).map(String::as_str)
    }

    fn used(&mut self, name: &str, node: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        match self.known(name) {
            Some(known) => known.to_owned(),
            None => {
                self.problems.push(format!("node `{node}` uses `{name}`, which nothing before it defines"));
                String::new()
            }
        }
    }

    fn defined(&mut self, name: &str, outputs: &FxHashMap<&str, &str>) -> String {
        if name.is_empty() {
            return String::new();
        }
        let new = match outputs.get(name) {
            Some(actual) => (*actual).to_owned(),
            None => self.names.fresh(&format!("{}/{name}", self.prefix)),
        };
        let scope = self.scopes.last_mut().expect("there is one for the function");
        if scope.insert(name.to_owned(), new.clone()).is_some() {
            self.problems.push(format!("defines `{name}` twice"));
        }
        new
    }

    /// None for one that the call leaves to the operator.
    fn attribute(&mut self, attribute: &AttributeProto, node: &str) -> Option<AttributeProto> {
        let reference = attribute.ref_attr_name();
        if !reference.is_empty() {
            let Some(value) = self.attributes.get(reference) else {
                if !self.function.attribute.iter().any(|known| known == reference) {
                    let message =
                        format!("node `{node}` refers to attribute `{reference}`, which the function does not have");
                    self.problems.push(message);
                }
                return None;
            };
            return Some(AttributeProto { name: attribute.name.clone(), ..(*value).clone() });
        }
        let mut copy = attribute.clone();
        copy.g = copy.g.map(|graph| self.graph(graph));
        copy.graphs = copy.graphs.into_iter().map(|graph| self.graph(graph)).collect();
        Some(copy)
    }

    /// A graph in the function. Depth is bounded by the protobuf decoder's limit on nesting.
    fn graph(&mut self, mut graph: GraphProto) -> GraphProto {
        let none = FxHashMap::default();
        self.scopes.push(FxHashMap::default());
        // A weight may be listed as an input, too.
        let inputs: FxHashSet<String> = graph.input.iter().map(|info| info.name().to_owned()).collect();
        for info in &mut graph.input {
            info.name = info.name.as_ref().map(|name| self.defined(name, &none));
        }
        let sparse = graph.sparse_initializer.iter_mut().filter_map(|tensor| tensor.values.as_mut());
        for tensor in graph.initializer.iter_mut().chain(sparse) {
            tensor.name = tensor.name.as_ref().map(|name| match inputs.contains(name) {
                true => self.known(name).unwrap_or_default().to_owned(),
                false => self.defined(name, &none),
            });
        }
        graph.value_info.clear();
        let nodes = std::mem::take(&mut graph.node);
        graph.node = nodes.iter().enumerate().map(|(number, node)| self.node(node, number, &none)).collect();
        for info in &mut graph.output {
            info.name = info.name.as_ref().map(|name| self.used(name, "a graph's output"));
        }
        self.scopes.pop();
        graph
    }
}
